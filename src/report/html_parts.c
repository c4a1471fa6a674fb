/* The report's results: verdict, cells with their charts, footnotes, findings. */
#include "report/html.h"

#include <string.h>

const char *ifm_html_tone(enum ifm_tone tone)
{
    static const char *const classes[] = {"", "strong", "dim", "good", "bad", "warn"};
    return classes[tone];
}

static void add_note_link(unsigned note, struct ifm_text *out)
{
    if (note > 0)
        ifm_text_printf(out, "<sup><a href=\"#note-%u\">%u</a></sup>", note, note);
}

static void add_field(const struct ifm_field *field, struct ifm_text *out)
{
    if (field->text[0] == '\0')
        return;
    ifm_text_printf(out, "<span class=\"value %s\">", ifm_html_tone(field->tone));
    ifm_html_escape(field->text, out);
    add_note_link(field->note, out);
    ifm_text_add(out, "</span>");
    if (field->interval[0] == '\0')
        return;
    ifm_text_add(out, " <span class=\"interval\">");
    ifm_html_escape(field->interval, out);
    ifm_text_add(out, "</span>");
}

enum { LONG_TEXT = 40 }; /* bytes: a sentence, which needs room beside its numbers */

static void add_cell(const struct ifm_heading *heading, const struct ifm_field *field, bool first, struct ifm_text *out)
{
    /* On a narrow screen the heading stands in front of the value; a first column is a name and needs none. */
    ifm_text_add(out, first ? "<th scope=\"row\"" : "<td");
    if (heading->left)
        ifm_text_add(out, strlen(field->text) > LONG_TEXT ? " class=\"left long\"" : " class=\"left\"");
    if (!first && field->text[0] != '\0') {
        ifm_text_add(out, " data-label=\"");
        ifm_html_escape(heading->text, out);
        ifm_text_add(out, "\"");
    }
    ifm_text_add(out, ">");
    add_field(field, out);
    ifm_text_add(out, first ? "</th>" : "</td>");
}

enum { MANY_COLUMNS = 9 }; /* more are set closer, so that they fit the widest page */

void ifm_html_table(struct ifm_page *page, const struct ifm_grid *grid, const char *class, const char *caption)
{
    struct ifm_text *out = page->out;
    if (grid->n_rows == 0)
        return;
    ifm_text_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"cards%s%s%s\">",
                    class[0] == '\0' ? "" : " ", class, grid->n_columns > MANY_COLUMNS ? " wide" : "");
    if (caption[0] != '\0') {
        ifm_text_add(out, "<caption class=\"sr\">");
        ifm_html_escape(caption, out);
        ifm_text_add(out, "</caption>");
    }
    ifm_text_add(out, "<thead><tr>");
    for (size_t c = 0; c < grid->n_columns; c++) {
        ifm_text_printf(out, "<th scope=\"col\"%s>", grid->headings[c].left ? " class=\"left\"" : "");
        ifm_html_metric(page, grid->headings[c].metric, grid->headings[c].text);
        ifm_text_add(out, "</th>");
    }
    ifm_text_add(out, "</tr></thead><tbody>\n");
    for (size_t r = 0; r < grid->n_rows; r++) {
        ifm_text_add(out, "<tr>");
        for (size_t c = 0; c < grid->n_columns; c++)
            add_cell(&grid->headings[c], &grid->fields[r * grid->n_columns + c], c == 0, out);
        ifm_text_add(out, "</tr>\n");
    }
    ifm_text_add(out, "</tbody></table></div>\n");
}

void ifm_html_grid(struct ifm_page *page, const struct ifm_grid *grid, const char *class)
{
    ifm_html_table(page, grid, class, "");
}

static void add_sentences(const char *title, const struct ifm_view_line *items, size_t n, struct ifm_text *out)
{
    if (n == 0)
        return;
    ifm_text_printf(out, "<section><h2>%s</h2>\n<ul class=\"findings\">\n", title);
    for (size_t i = 0; i < n; i++) {
        ifm_text_add(out, "<li><span class=\"strong\">");
        ifm_html_escape(items[i].place, out);
        ifm_text_add(out, "</span>: ");
        ifm_html_escape(items[i].text, out);
        ifm_text_add(out, "</li>\n");
    }
    ifm_text_add(out, "</ul></section>\n");
}

void ifm_html_verdict(struct ifm_page *page)
{
    const struct ifm_view *view = page->view;
    struct ifm_text *out = page->out;
    ifm_text_printf(out, "<div class=\"verdict %s\"><div class=\"label\">%s</div>\n", ifm_html_tone(view->tone),
                    view->label);
    for (size_t i = 0; i < view->n_reasons; i++) {
        ifm_text_add(out, i == 0 ? "<p class=\"lead\">" : i == 1 ? "<ul><li>" : "<li>");
        ifm_html_escape(view->reasons[i], out);
        ifm_text_add(out, i == 0 ? "</p>\n" : "</li>\n");
    }
    ifm_text_add(out, view->n_reasons > 1 ? "</ul>\n" : "");
    if (view->rollback[0] != '\0') {
        ifm_text_add(out, "<p class=\"strong\">");
        ifm_html_escape(view->rollback, out);
        ifm_text_add(out, "</p>\n");
    }
    ifm_html_outcomes(page);
    ifm_html_doubts(page);
    ifm_html_words(page);
    ifm_text_add(out, "</div>\n");
    if (view->gates.n_rows > 0) {
        ifm_text_add(out, "<section id=\"gates\"><h2>Gates</h2>\n");
        ifm_html_table(page, &view->gates, "", "Gates");
        ifm_text_add(out, "</section>\n");
    }
    add_sentences("Classes", view->classes, view->n_classes, out);
}

void ifm_html_causes(struct ifm_page *page)
{
    add_sentences("What else changed", page->view->triage, page->view->n_triage, page->out);
    if (page->view->n_rca == 0)
        return;
    ifm_text_add(page->out, "<section><h2>Where to look for the cause</h2>\n<ol class=\"notes\">\n");
    for (size_t i = 0; i < page->view->n_rca; i++) {
        if (ifm_view_is_clean(page->view->rca[i]))
            continue;
        ifm_text_printf(page->out, "<li value=\"%zu\">", i + 1);
        ifm_html_escape(page->view->rca[i], page->out);
        ifm_text_add(page->out, "</li>\n");
    }
    ifm_text_add(page->out, "</ol></section>\n");
}

static void add_ceilings(const struct ifm_view_cell *cell, struct ifm_text *out)
{
    if (cell->n_ceilings == 0)
        return;
    ifm_text_add(out, "<ul class=\"ceilings\">\n");
    for (size_t i = 0; i < cell->n_ceilings; i++) {
        const struct ifm_view_ceiling *ceiling = &cell->ceilings[i];
        ifm_text_printf(out, "<li>Measured ceiling, %s: <b>", ceiling->kind);
        ifm_html_escape(ceiling->field.text, out);
        ifm_text_add(out, "</b>");
        add_note_link(ceiling->field.note, out);
        ifm_text_add(out, ceiling->field.interval[0] == '\0' ? "" : " ");
        ifm_html_escape(ceiling->field.interval, out);
        if (ceiling->source[0] != '\0') {
            ifm_text_add(out, " (");
            ifm_html_escape(ceiling->source, out);
            ifm_text_add(out, ")");
        }
        ifm_text_add(out, "</li>\n");
    }
    ifm_text_add(out, "</ul>\n");
}

/* What an arm gives up beside what it gains: first in its cell, so that no speed-up is read without its price; unless
 * the first screen, or the list of cells, has said all of it. */
static void add_prices(const struct ifm_page *page, const struct ifm_view_cell *cell)
{
    struct ifm_text *out = page->out;
    if (cell->n_compressed <= ifm_html_sentences_most(page))
        return;
    for (size_t i = 0; i < cell->n_compressed; i++) {
        ifm_text_add(out, i == 0 ? "<ul>\n<li><span class=\"strong\">" : "<li><span class=\"strong\">");
        ifm_html_escape(cell->compressed[i].place, out);
        ifm_text_add(out, "</span>: ");
        ifm_html_escape(cell->compressed[i].text, out);
        ifm_text_add(out, i + 1 == cell->n_compressed ? "</li>\n</ul>\n" : "</li>\n");
    }
}

static void add_compression(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    if (cell->compression.n_rows == 0)
        return;
    ifm_text_add(page->out, "<h3>Compression: bytes, loss, speed</h3>\n");
    ifm_html_table(page, &cell->compression, "", ifm_arena_printf(page->arena, "Compression in %s", cell->title));
}

static void add_energy(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    if (cell->energy.n_rows == 0 && cell->n_energy_said == 0)
        return;
    ifm_text_add(page->out, "<h3>Energy</h3>\n");
    ifm_html_table(page, &cell->energy, "", ifm_arena_printf(page->arena, "Energy in %s", cell->title));
    for (size_t i = 0; i < cell->n_energy_said; i++) {
        ifm_text_add(page->out, "<p class=\"dim\">");
        ifm_html_escape(cell->energy_said[i], page->out);
        ifm_text_add(page->out, "</p>\n");
    }
}

void ifm_html_cell(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    struct ifm_text *out = page->out;
    ifm_text_printf(out, "<section id=\"cell-%zu\"><h2>", (size_t)(cell - page->view->cells) + 1);
    ifm_html_escape(cell->title, out);
    ifm_text_add(out, "</h2>\n<p class=\"conditions\">");
    ifm_html_escape(cell->unsupported[0] != '\0' ? "absent: " : cell->conditions, out);
    ifm_html_escape(cell->unsupported, out);
    ifm_text_add(out, "</p>\n");
    if (cell->unsupported[0] == '\0') {
        add_prices(page, cell);
        ifm_html_table(page, &cell->arms, "", ifm_arena_printf(page->arena, "Arms of %s", cell->title));
        add_compression(page, cell);
        add_energy(page, cell);
        add_ceilings(cell, out);
        ifm_html_grid(page, &cell->caches, "small");
        ifm_html_figures(page, cell);
    }
    ifm_text_add(out, "</section>\n");
}

void ifm_html_notes(struct ifm_page *page)
{
    if (page->view->n_notes == 0)
        return;
    ifm_text_add(page->out, "<section id=\"notes\"><h2>Absent, refused and undecided</h2>\n<ol class=\"notes\">\n");
    for (size_t i = 0; i < page->view->n_notes; i++) {
        ifm_text_printf(page->out, "<li id=\"note-%u\">", page->view->notes[i].number);
        ifm_html_escape(page->view->notes[i].text, page->out);
        ifm_text_add(page->out, "</li>\n");
    }
    ifm_text_add(page->out, "</ol></section>\n");
}

static void add_finding(const struct ifm_view_finding *view, struct ifm_text *out)
{
    const struct ifm_finding *finding = view->first;
    ifm_text_printf(out, "<li><span class=\"tag %s\">%s</span>", ifm_html_tone(ifm_severity_tone(finding->severity)),
                    ifm_severity_label(finding->severity));
    if (view->place[0] != '\0') {
        ifm_text_add(out, "<span class=\"strong\">");
        ifm_html_escape(view->place, out);
        ifm_text_add(out, "</span>: ");
    }
    ifm_html_escape(finding->text, out);
    if (finding->rule != NULL && finding->rule[0] != '\0') {
        ifm_text_add(out, " <span class=\"dim\">(");
        ifm_html_escape(finding->rule, out);
        ifm_text_add(out, ")</span>");
    }
    ifm_text_add(out, "</li>\n");
}

/* Worst first; many notes are folded, so that what follows is not pages away. */
void ifm_html_findings(struct ifm_page *page)
{
    enum { FEW_NOTES = 5 };
    struct ifm_text *out = page->out;
    size_t n = page->view->n_findings, grave = 0;
    if (n == 0)
        return;
    while (grave < n && page->view->findings[grave].first->severity != IFM_SEVERITY_NOTE)
        grave++;
    size_t open = n - grave > FEW_NOTES ? grave : n;
    ifm_text_add(out, "<section id=\"findings\"><h2>Findings</h2>\n");
    ifm_text_add(out, open > 0 ? "<ul class=\"findings\">\n" : "");
    for (size_t i = 0; i < open; i++)
        add_finding(&page->view->findings[i], out);
    ifm_text_add(out, open > 0 ? "</ul>\n" : "");
    if (open < n) {
        ifm_text_printf(out, "<details class=\"small\"><summary>%zu notes</summary>\n<ul class=\"findings\">\n",
                        n - open);
        for (size_t i = open; i < n; i++)
            add_finding(&page->view->findings[i], out);
        ifm_text_add(out, "</ul></details>\n");
    }
    ifm_text_add(out, "</section>\n");
}
