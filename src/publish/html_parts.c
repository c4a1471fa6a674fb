/* The report's results: verdict, cells with their charts, footnotes, findings. */
#include "model/plan_json.h"
#include "publish/columns.h"
#include "publish/html.h"
#include "publish/quantity.h"
#include "publish/svg.h"
#include <math.h>
#include <string.h>

static const char *class_of(enum ifm_tone tone)
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
    ifm_text_printf(out, "<span class=\"value %s\">", class_of(field->tone));
    ifm_html_escape(field->text, out);
    add_note_link(field->note, out);
    ifm_text_add(out, "</span>");
    if (field->interval[0] == '\0')
        return;
    ifm_text_add(out, " <span class=\"interval\">");
    ifm_html_escape(field->interval, out);
    ifm_text_add(out, "</span>");
}

static void add_grid(struct ifm_page *page, const struct ifm_grid *grid, const char *class)
{
    struct ifm_text *out = page->out;
    if (grid->n_rows == 0)
        return;
    ifm_text_printf(out, "<div class=\"scroll\"><table class=\"cards %s\"><thead><tr>",
                    class); /* ten columns are wide */
    for (size_t c = 0; c < grid->n_columns; c++) {
        ifm_text_printf(out, "<th scope=\"col\"%s>", grid->headings[c].left ? " class=\"left\"" : "");
        ifm_html_metric(page, grid->headings[c].metric, grid->headings[c].text);
        ifm_text_add(out, "</th>");
    }
    ifm_text_add(out, "</tr></thead><tbody>\n");
    for (size_t r = 0; r < grid->n_rows; r++) {
        ifm_text_add(out, "<tr>");
        for (size_t c = 0; c < grid->n_columns; c++) {
            ifm_text_printf(out, "<td class=\"%s\" data-label=\"", grid->headings[c].left ? "left" : "num");
            ifm_html_escape(grid->headings[c].text, out);
            ifm_text_add(out, "\">");
            add_field(&grid->fields[r * grid->n_columns + c], out);
            ifm_text_add(out, "</td>");
        }
        ifm_text_add(out, "</tr>\n");
    }
    ifm_text_add(out, "</tbody></table></div>\n");
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
    ifm_text_printf(out, "<div class=\"verdict %s\"><div class=\"label\">%s</div>\n", class_of(view->tone),
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
    ifm_text_add(out, "</div>\n");
    if (view->gates.n_rows > 0) {
        ifm_text_add(out, "<section><h2>Gates</h2>\n");
        add_grid(page, &view->gates, "");
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

/* ---- charts ---- */

static void add_figure(const char *caption, const struct ifm_text *svg, struct ifm_text *out)
{
    if (svg->size == 0)
        return;
    ifm_text_add(out, "<figure><figcaption>");
    ifm_html_escape(caption, out);
    ifm_text_add(out, "</figcaption>\n");
    ifm_text_append(out, svg->data, svg->size);
    ifm_text_add(out, "</figure>\n");
}

static const struct ifm_value *shown_value(const struct ifm_page *page, const char *cell, const char *arm,
                                           const char *metric)
{
    const struct ifm_value *value = ifm_index_find(&page->view->index, cell, arm, metric);
    return value != NULL && value->state == IFM_STATE_OK ? value : NULL;
}

/* A ceiling is drawn unless derive holds every arm's share of it back: cache rates are not held against memory. */
static bool is_held_against(const struct ifm_page *page, const struct ifm_cell *cell, const char *share)
{
    bool any = false;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *value = ifm_index_find(&page->view->index, cell->name, cell->arms[a].name, share);
        if (value != NULL && value->state == IFM_STATE_OK)
            return true;
        any |= value != NULL;
    }
    return !any;
}

/* The arms' rate of one kind against the measured ceiling of that kind. */
static void add_bars(struct ifm_page *page, const struct ifm_cell *cell, const char *metric, const char *share,
                     enum ifm_ceiling kind, const char *caption)
{
    struct ifm_arena *arena = page->arena;
    struct ifm_bar *bars = IFM_ARENA_ARRAY(arena, struct ifm_bar, cell->n_arms + 1);
    struct ifm_svg_limit limit;
    size_t n_bars = 0, n_limits = 0;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *value = shown_value(page, cell->name, cell->arms[a].name, metric);
        if (value == NULL || !ifm_view_is_row(page->view, cell, &cell->arms[a]))
            continue;
        bars[n_bars++] = (struct ifm_bar){cell->arms[a].name, ifm_quantity_full(value, arena),
                                          value->number,      value->low,
                                          value->high,        value->has_interval};
    }
    const struct ifm_value *ceiling = shown_value(page, cell->name, "", ifm_column_ceiling_metric(kind));
    if (ceiling != NULL && is_held_against(page, cell, share)) {
        const char *text = ifm_arena_printf(arena, "measured %s ceiling %s", ifm_ceiling_name(kind),
                                            ifm_quantity_number(ceiling, arena));
        limit = (struct ifm_svg_limit){text, ceiling->number};
        n_limits = 1;
    }
    if (n_bars + n_limits < 2)
        return;
    struct ifm_text svg = {0};
    ifm_svg_bars(bars, n_bars, &limit, n_limits, ifm_arena_printf(arena, "%s: %s", cell->name, caption), &svg);
    add_figure(caption, &svg, page->out);
    ifm_text_free(&svg);
}

/* Powers of ten of a nanosecond, as lines to read the curve by. */
static struct ifm_svg_mark *decades(struct ifm_arena *arena, size_t *n)
{
    enum { FIRST = -1, LAST = 7 };
    struct ifm_svg_mark *marks = IFM_ARENA_ARRAY(arena, struct ifm_svg_mark, LAST - FIRST + 1);
    *n = 0;
    for (int power = FIRST; power <= LAST; power++) {
        double ns = pow(10, power);
        marks[(*n)++] = (struct ifm_svg_mark){ns, ifm_quantity_bare(ns, "ns", arena)};
    }
    return marks;
}

static void add_curve(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    struct ifm_svg_point *points = IFM_ARENA_ARRAY(page->arena, struct ifm_svg_point, cell->n_curve + 1);
    struct ifm_svg_mark *marks = IFM_ARENA_ARRAY(page->arena, struct ifm_svg_mark, cell->n_marks + 1);
    for (size_t i = 0; i < cell->n_curve; i++) {
        const struct ifm_view_point *point = &cell->curve[i];
        const char *text = ifm_arena_printf(page->arena, "%s: %s", point->size, point->time);
        points[i] = (struct ifm_svg_point){point->bytes, point->number, text};
    }
    for (size_t i = 0; i < cell->n_marks; i++)
        marks[i] = (struct ifm_svg_mark){cell->marks[i].bytes, cell->marks[i].name};
    struct ifm_svg_curve curve = {
        .points = points, .n_points = cell->n_curve, .marks_x = marks, .n_marks_x = cell->n_marks};
    curve.marks_y = decades(page->arena, &curve.n_marks_y);
    curve.title = ifm_arena_printf(page->arena, "%s: time of a load by working set", cell->title);
    struct ifm_text svg = {0};
    ifm_svg_curve(&curve, &svg);
    add_figure("Time of one load by working set (logarithmic axes); dotted: cache sizes found", &svg, page->out);
    ifm_text_free(&svg);
}

/* What an arm gives up beside what it gains, so that no speed-up is read without its price. */
static void add_compression(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    struct ifm_text *out = page->out;
    if (cell->compression.n_rows == 0)
        return;
    ifm_text_add(out, "<h3>Compression: bytes, loss, speed</h3>\n");
    for (size_t i = 0; i < cell->n_compressed; i++) {
        ifm_text_add(out, i == 0 ? "<ul>\n<li><span class=\"strong\">" : "<li><span class=\"strong\">");
        ifm_html_escape(cell->compressed[i].place, out);
        ifm_text_add(out, "</span>: ");
        ifm_html_escape(cell->compressed[i].text, out);
        ifm_text_add(out, i + 1 == cell->n_compressed ? "</li>\n</ul>\n" : "</li>\n");
    }
    add_grid(page, &cell->compression, "");
}

void ifm_html_cell(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    struct ifm_text *out = page->out;
    ifm_text_add(out, "<section><h2>");
    ifm_html_escape(cell->title, out);
    ifm_text_add(out, "</h2>\n<p class=\"conditions\">");
    ifm_html_escape(cell->unsupported[0] != '\0' ? "absent: " : cell->conditions, out);
    ifm_html_escape(cell->unsupported, out);
    ifm_text_add(out, "</p>\n");
    if (cell->unsupported[0] == '\0') {
        add_grid(page, &cell->arms, "");
        add_compression(page, cell);
        add_ceilings(cell, out);
        ifm_text_add(out, "<div class=\"charts\">\n");
        add_bars(page, cell->cell, "read_bytes_per_s", "ceiling_read_percent", IFM_CEILING_READ, "Read bandwidth");
        add_bars(page, cell->cell, "flops_per_s", "ceiling_flops_percent", IFM_CEILING_FLOPS, "Arithmetic");
        ifm_text_add(out, "</div>\n");
        add_grid(page, &cell->caches, "small");
        add_curve(page, cell);
    }
    ifm_text_add(out, "</section>\n");
}

void ifm_html_notes(struct ifm_page *page)
{
    if (page->view->n_notes == 0)
        return;
    ifm_text_add(page->out, "<section><h2>Absent, refused and undecided</h2>\n<ol class=\"notes\">\n");
    for (size_t i = 0; i < page->view->n_notes; i++) {
        ifm_text_printf(page->out, "<li id=\"note-%u\">", page->view->notes[i].number);
        ifm_html_escape(page->view->notes[i].text, page->out);
        ifm_text_add(page->out, "</li>\n");
    }
    ifm_text_add(page->out, "</ol></section>\n");
}

void ifm_html_findings(struct ifm_page *page)
{
    struct ifm_text *out = page->out;
    if (page->view->n_findings == 0)
        return;
    ifm_text_add(out, "<section><h2>Findings</h2>\n<ul class=\"findings\">\n");
    for (size_t i = 0; i < page->view->n_findings; i++) {
        const struct ifm_finding *finding = page->view->findings[i].first;
        const char *place = page->view->findings[i].place;
        ifm_text_printf(out, "<li><span class=\"tag %s\">%s</span>", class_of(ifm_severity_tone(finding->severity)),
                        ifm_severity_label(finding->severity));
        if (place[0] != '\0') {
            ifm_text_add(out, "<span class=\"strong\">");
            ifm_html_escape(place, out);
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
    ifm_text_add(out, "</ul></section>\n");
}
