/* Tables of the page. */
#include "publish/paint/html.h"

#include "document/escape.h"
#include <string.h>

enum {
    LONG_TEXT = 40,  /* bytes: a sentence, which needs room beside its numbers */
    MANY_COLUMNS = 9 /* more are set closer, so that they fit the widest page */
};

const char *ifm_html_tone(enum ifm_tone tone)
{
    static const char *const classes[] = {"", "strong", "dim", "good", "bad", "warn"};
    return classes[tone];
}

void ifm_html_note(struct ifm_html *html, unsigned note)
{
    if (note > 0)
        ifm_text_printf(html->out, "<sup><a href=\"#note-%u\">%u</a></sup>", note, note);
}

/* A metric's words, linked to its definition where they first stand; of IFM_M_NONE the words alone. */
static void add_metric(struct ifm_html *html, enum ifm_metric_id metric, const char *words)
{
    if (html->linked[metric])
        metric = IFM_M_NONE;
    html->linked[metric] = metric != IFM_M_NONE;
    if (metric != IFM_M_NONE)
        ifm_text_printf(html->out, "<a href=\"#metric-%s\">", ifm_metrics[metric].id);
    ifm_escape_html(words, html->out);
    ifm_text_add(html->out, metric != IFM_M_NONE ? "</a>" : "");
}

static void add_field(struct ifm_html *html, const struct ifm_field *field)
{
    struct ifm_text *out = html->out;
    bool plain = field->tone == IFM_TONE_PLAIN, marked = plain && field->note > 0;
    if (field->text[0] == '\0')
        return;
    if (plain) /* on a phone a field is a row of boxes: a mark beside its text would stand on the line */
        ifm_escape_print(ifm_escape_html, out, marked ? "<span>%s" : "%s", field->text);
    else
        ifm_escape_print(ifm_escape_html, out, "<span class=\"value %s\">%s", ifm_html_tone(field->tone), field->text);
    ifm_html_note(html, field->note);
    ifm_text_add(out, plain && !marked ? "" : "</span>");
    if (field->interval[0] != '\0')
        ifm_escape_print(ifm_escape_html, out, " <span class=\"interval\">%s</span>", field->interval);
}

/* HTML ends a cell where the next one begins: a page has thousands. On a narrow screen the heading stands in front of
 * the value; a first column is a name and needs none. */
static void add_cell(struct ifm_html *html, const struct ifm_heading *heading, const struct ifm_field *field,
                     bool first)
{
    struct ifm_text *out = html->out;
    ifm_text_add(out, first ? "<th scope=\"row\"" : "<td");
    if (heading->left)
        ifm_text_add(out, strlen(field->text) > LONG_TEXT ? " class=\"left long\"" : " class=\"left\"");
    if (!first && field->text[0] != '\0')
        ifm_escape_print(ifm_escape_html, out, " data-label=\"%s\"", heading->text);
    ifm_text_add(out, ">");
    if (first && field->tone == IFM_TONE_STRONG && field->note == 0) /* as every heading of a row */
        ifm_escape_html(field->text, out);
    else
        add_field(html, field);
}

static void add_cards(struct ifm_html *html, const struct ifm_grid *grid)
{
    static const char *const classes[] = {"", " small", "", "", " checks"}; /* by look */
    struct ifm_text *out = html->out;
    ifm_text_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"cards%s%s\">", classes[grid->look],
                    grid->n_columns > MANY_COLUMNS ? " wide" : "");
    if (grid->caption != NULL)
        ifm_escape_print(ifm_escape_html, out, "<caption class=\"sr\">%s</caption>", grid->caption);
    ifm_text_add(out, "<thead><tr>");
    for (size_t c = 0; c < grid->n_columns; c++) {
        ifm_text_printf(out, "<th scope=\"col\"%s>", grid->headings[c].left ? " class=\"left\"" : "");
        add_metric(html, grid->headings[c].metric, grid->headings[c].text);
    }
    ifm_text_add(out, "<tbody>\n");
    for (size_t r = 0; r < grid->n_rows; r++) {
        ifm_text_add(out, "<tr>");
        for (size_t c = 0; c < grid->n_columns; c++)
            add_cell(html, &grid->headings[c], ifm_grid_at(grid, r, c),
                     c == 0 && ifm_grid_at(grid, r, 0)->text[0] != '\0'); /* an empty one heads no row */
        ifm_text_add(out, "</tr>\n");
    }
    ifm_text_add(out, "</tbody></table></div>\n");
}

static void add_facts(struct ifm_html *html, const struct ifm_grid *grid)
{
    ifm_text_add(html->out, "<table class=\"facts\"><tbody>\n");
    for (size_t r = 0; r < grid->n_rows; r++) {
        const struct ifm_field *fact = ifm_grid_at(grid, r, 1);
        ifm_escape_print(ifm_escape_html, html->out, "<tr><th scope=\"row\">%s</th>", ifm_grid_at(grid, r, 0)->text);
        ifm_text_add(html->out, fact->tone == IFM_TONE_DIM ? "<td class=\"dim\">" : "<td>");
        ifm_escape_print(ifm_escape_html, html->out, "%s</td></tr>\n", fact->text);
    }
    ifm_text_add(html->out, "</tbody></table>\n");
}

/* Written to be small: a sweep has tens of thousands of numbers. */
static void add_dense(struct ifm_html *html, const struct ifm_grid *grid)
{
    struct ifm_text *out = html->out;
    ifm_escape_print(ifm_escape_html, out,
                     "<div class=\"scroll\" tabindex=\"0\"><table class=\"all\"><caption>%s</caption><thead><tr>",
                     grid->caption);
    for (size_t c = 0; c < grid->n_columns; c++)
        ifm_escape_print(ifm_escape_html, out, "<th scope=\"col\">%s", grid->headings[c].text);
    ifm_text_add(out, "<tbody>\n");
    for (size_t r = 0; r < grid->n_rows; r++) {
        const char *name = ifm_grid_at(grid, r, 0)->text;
        ifm_text_add(out, "<tr><th>");
        add_metric(html, ifm_metric_of(name), name);
        for (size_t c = 1; c < grid->n_columns; c++) {
            const struct ifm_field *field = ifm_grid_at(grid, r, c);
            ifm_escape_print(ifm_escape_html, out, "<td>%s", field->text);
            if (field->note > 0)
                ifm_text_printf(out, " <a href=\"#%s-%u\">%u</a>", grid->note_prefix, field->note, field->note);
        }
        ifm_text_add(out, "\n");
    }
    ifm_text_add(out, "</table></div>\n");
}

void ifm_html_grid(struct ifm_html *html, const struct ifm_grid *grid)
{
    if (grid->n_rows == 0)
        return;
    if (grid->look == IFM_GRID_DENSE)
        add_dense(html, grid);
    else if (grid->look == IFM_GRID_FACTS)
        add_facts(html, grid);
    else
        add_cards(html, grid);
}
