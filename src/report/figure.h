/* Figures of the report: a drawing, a sentence that says what to see, and the numbers behind it as a table.
 *
 * Each maker looks at one cell, and gives false when that cell has nothing to draw (no such arms, or every number
 * withheld); `out` is then empty. It formats derived values and draws pictures of the record; it computes no number
 * that a reader may quote. Free the drawing with ifm_figure_free. */
#ifndef IFM_REPORT_FIGURE_H
#define IFM_REPORT_FIGURE_H

#include "base/text.h"
#include "derive/energy/power_run.h"
#include "derive/picture/picture.h"
#include "document/document.h"

struct ifm_figure_table {
    const char *title; /* what unfolds it */
    struct ifm_grid grid;
};

enum { IFM_FIGURE_TABLES = 2 };
struct ifm_figure {
    const char *id;       /* unique in the page: "decode-kv_len-4096-timeline" */
    const char *title;    /* "Samples over time" */
    const char *sentence; /* what to see: "int4 is slower in the last fifth: 3 of 12 blocks are marked as disturbed." */
    bool wide;            /* takes the whole row, for the sake of its tables */
    bool derived;         /* its numbers are derived ones: a page that lists every number need not repeat them */
    struct ifm_text svg;
    struct ifm_grid numbers;                         /* what the drawing shows, as text */
    struct ifm_figure_table more[IFM_FIGURE_TABLES]; /* what it is made of; without rows: not there */
};

/* What a maker looks at; texts live in the document's arena. */
struct ifm_chart {
    const struct ifm_document *doc;
    const struct ifm_cell *cell;
    const struct ifm_picture *picture; /* of the cell; NULL when the record is not at hand: only figures of derived
                                          numbers are drawn then */
    struct ifm_arena *arena;
};
typedef bool ifm_figure_maker(const struct ifm_chart *chart, struct ifm_figure *out);

/* figure_answer.c: of the whole run, speed with its interval against output error; bytes as labels. */
ifm_figure_maker ifm_figure_answer;
/* figure_ratio.c: speed against the baseline with its interval, each block's own ratio, and the margin as a band. */
ifm_figure_maker ifm_figure_ratio;
/* figure_frontier.c: bytes against error of compressed arms, speed beside the name; which are dominated. */
ifm_figure_maker ifm_figure_frontier;
/* figure_roofline.c: work per byte against FLOP/s below the measured ceilings, on two logarithmic axes. */
ifm_figure_maker ifm_figure_roofline;
/* figure_timeline.c: one strip an arm, samples over time: warm-up, trend, change points, outliers, marked blocks. */
ifm_figure_maker ifm_figure_timeline;
/* figure_distribution.c: one density an arm on a common axis, with median, p95 and p99. */
ifm_figure_maker ifm_figure_distribution;
/* figure_bars.c: rates against their measured ceilings. */
ifm_figure_maker ifm_figure_rates;
/* figure_caches.c: time of a load by working set, with the cache sizes that were found. */
ifm_figure_maker ifm_figure_caches;

/* figure_power.c: power over time with what ran, and as tables what each window took and which sensors said so. */
ifm_figure_maker ifm_figure_power;
/* The figure of a block; also after false, free it. */
bool ifm_figure_draw(const struct ifm_document *doc, const struct ifm_block *block, struct ifm_figure *out);
void ifm_figure_free(struct ifm_figure *figure);

#endif
