/* Many tests at once: p-values adjusted so that a family of them keeps its level.
 *
 * Pure; the rules of stats.h hold. An adjusted p is compared with the level directly. */
#ifndef IFM_STATS_MULTIPLE_H
#define IFM_STATS_MULTIPLE_H

#include "stats/stats.h"

/* Holm's step-down (Holm 1979): the chance of one false rejection or more, under any dependence. adjusted[i] belongs to
 * p[i]; equal p give equal results. With the p ascending: max over j <= i of (n - j) p_j (j from 0), at most 1.
 * Every p in [0, 1]; n >= 1; `order` holds n. `adjusted` may be `p`. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_holm(const double *p, size_t n, size_t *order, double *adjusted);
/* Benjamini and Hochberg 1995: the expected share of false rejections, for independent or positively dependent tests.
 * With the p ascending: min over j >= i of n p_j / (j + 1), at most 1. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_benjamini_hochberg(const double *p, size_t n, size_t *order,
                                                             double *adjusted);

#endif
