/* Figures on the page: which there are, in which order, and how one is set: two columns on a desk and on
 * paper, one on a phone (html_style.c). */
#include "report/figure.h"

ifm_figure_maker *const ifm_figure_makers[] = {
    ifm_figure_ratio, ifm_figure_frontier, ifm_figure_roofline,
    ifm_figure_rates, ifm_figure_timeline, ifm_figure_distribution,
    ifm_figure_power, ifm_figure_caches,   NULL,
};

void ifm_figure_free(struct ifm_figure *figure)
{
    ifm_text_free(&figure->svg);
    *figure = (struct ifm_figure){0};
}

static void add_table(struct ifm_page *page, const char *summary, const struct ifm_grid *grid, const char *caption)
{
    if (grid->n_rows == 0)
        return;
    ifm_text_add(page->out, "<details class=\"small\"><summary>");
    ifm_html_escape(summary, page->out);
    ifm_text_add(page->out, "</summary>\n");
    ifm_html_table(page, grid, "", caption);
    ifm_text_add(page->out, "</details>\n");
}

static void add_figure(struct ifm_page *page, const struct ifm_figure *figure)
{
    struct ifm_text *out = page->out;
    ifm_text_add(out, "<figure id=\"");
    ifm_html_escape(figure->id, out);
    ifm_text_add(out, figure->wide ? "\" class=\"span\"><h3>" : "\"><h3>");
    ifm_html_escape(figure->title, out);
    ifm_text_add(out, "</h3>\n");
    ifm_text_append(out, figure->svg.data, figure->svg.size);
    ifm_text_add(out, "<figcaption>");
    ifm_html_escape(figure->sentence, out);
    ifm_text_add(out, "</figcaption>\n");
    add_table(page, "Its numbers", &figure->numbers, figure->title);
    for (size_t i = 0; i < IFM_FIGURE_TABLES; i++)
        add_table(page, figure->more[i].title, &figure->more[i].grid,
                  ifm_arena_printf(page->arena, "%s: %s", figure->title, figure->more[i].title));
    ifm_text_add(out, "</figure>\n");
}

void ifm_html_figures(struct ifm_page *page, const struct ifm_view_cell *cell)
{
    const struct ifm_picture *picture = NULL;
    bool any = false;
    for (size_t i = 0; i < page->n_pictures; i++)
        if (page->pictures[i].cell == cell->cell)
            picture = &page->pictures[i];
    for (size_t i = 0; ifm_figure_makers[i] != NULL; i++) {
        struct ifm_figure figure = {0};
        if (ifm_figure_makers[i](page, cell, picture, &figure)) {
            ifm_text_add(page->out, any ? "" : "<div class=\"figures\">\n");
            any = true;
            add_figure(page, &figure);
        }
        ifm_figure_free(&figure);
    }
    ifm_text_add(page->out, any ? "</div>\n" : "");
}
