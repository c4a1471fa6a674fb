/* Which maker draws which figure. */
#include "report/figure.h"

bool ifm_figure_draw(const struct ifm_document *doc, const struct ifm_block *block, struct ifm_figure *out)
{
    static ifm_figure_maker *const makers[IFM_FIGURE_KINDS] = {
        [IFM_FIGURE_ANSWER] = ifm_figure_answer,
        [IFM_FIGURE_RATIO] = ifm_figure_ratio,
        [IFM_FIGURE_FRONTIER] = ifm_figure_frontier,
        [IFM_FIGURE_ROOFLINE] = ifm_figure_roofline,
        [IFM_FIGURE_RATES] = ifm_figure_rates,
        [IFM_FIGURE_TIMELINE] = ifm_figure_timeline,
        [IFM_FIGURE_DISTRIBUTION] = ifm_figure_distribution,
        [IFM_FIGURE_POWER] = ifm_figure_power,
        [IFM_FIGURE_CACHES] = ifm_figure_caches,
    };
    struct ifm_chart chart = {doc, block->cell, NULL, doc->arena};
    if (block->cell->index < doc->n_pictures) /* one a cell */
        chart.picture = &doc->pictures[block->cell->index];
    *out = (struct ifm_figure){0};
    return makers[block->figure](&chart, out);
}

void ifm_figure_free(struct ifm_figure *figure)
{
    ifm_text_free(&figure->svg);
    *figure = (struct ifm_figure){0};
}
