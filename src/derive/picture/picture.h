/* Pictures: what a chart draws of a record, thinned out so that a million samples fit a page.
 *
 * A pure function of the same facts as ifm_derive. Pictures are drawings, not results: no number that may be quoted
 * stands only here, and none is written to a file. An arm whose step time a rule withholds has no picture either: the
 * reason stands in its place. Everything lives in the arena; texts are the plan's own, or the arena's. */
#ifndef IFM_DERIVE_PICTURE_PICTURE_H
#define IFM_DERIVE_PICTURE_PICTURE_H

#include "derive/derive.h"

/* Most items of one arm. A picture of fewer samples shows each of them. */
enum { IFM_PICTURE_BUCKETS = 80, IFM_PICTURE_OUTLIERS = 40, IFM_PICTURE_BINS = 64 };

/* Samples that lie together in time: `n` of them, the first starts at start_ns, the last ends at end_ns. Times of a
 * step, in ns: a spread that hides no sample, and the median. n == 1: low == median == high. */
struct ifm_picture_bucket {
    int64_t start_ns, end_ns;
    double low, median, high;
    size_t n;
};
struct ifm_picture_outlier {
    int64_t start_ns;
    double step_ns;
};

struct ifm_picture_arm {
    const struct ifm_arm *arm;
    const char *withheld; /* why nothing is drawn; "" when it is */
    /* samples over time: warm-up first, no bucket holds samples of both phases */
    struct ifm_picture_bucket *buckets;
    size_t n_buckets, n_warmup_buckets;
    size_t n_samples;                     /* measured ones */
    struct ifm_picture_outlier *outliers; /* the furthest of those that outliers_count counts */
    size_t n_outliers;
    int64_t *changes; /* ns: where the level changed, as change_points counts them */
    size_t n_changes;
    double drift_start, drift_end; /* ns: the trend line at the first and the last measured sample; 0 and 0 = none */
    /* distribution of the measured samples: bin k covers [edge[k], edge[k + 1]), ns; the last one its upper edge too */
    double *edges;
    size_t *bins;
    size_t n_bins;
    size_t below, above; /* samples outside of the edges, which leave far outliers out */
    /* the arm against its baseline, block by block: time of the baseline / time of the arm; empty for other arms, and
     * where change_percent is not given */
    double *ratios;       /* [n_ratios] */
    size_t *ratio_blocks; /* which of `blocks` each is of */
    size_t n_ratios;
};

struct ifm_picture_block {
    uint32_t block; /* from 1 on; the record counts warm-up and rounds of ceilings too */
    int64_t start_ns, end_ns;
    bool marked;       /* rule 2: a machine cause was recorded beside it */
    const char *cause; /* "stolen time 12 % of a slot", "" when it is not marked */
};

struct ifm_picture_span {
    int64_t start_ns, end_ns;
};

struct ifm_picture {
    const struct ifm_cell *cell;
    struct ifm_picture_arm *arms; /* as in the cell */
    struct ifm_picture_block *blocks;
    size_t n_blocks;
    int64_t start_ns, end_ns;         /* of everything that was recorded; 0 and 0 = nothing was */
    struct ifm_picture_span *warmups; /* a run that was resumed warmed up more than once */
    size_t n_warmups;
};

/* One picture a cell, in the order of the plan. `derived` is what ifm_derive gave for the same facts. */
IFM_CHECKED enum ifm_status ifm_derive_pictures(const struct ifm_facts_view *facts, const struct ifm_derived *derived,
                                                struct ifm_arena *arena, struct ifm_picture **out,
                                                struct ifm_error *error);

#endif
