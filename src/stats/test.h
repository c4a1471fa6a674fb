/* The sign-flip test. It says whether chance could explain a difference, not how large it is.
 *
 * Pure; the rules of stats.h hold. Random sign flips come from the seed alone. */
#ifndef IFM_STATS_TEST_H
#define IFM_STATS_TEST_H

#include "stats/stats.h"

/* Sign flips of k block differences: how often a sum with random signs is as far from 0 as the sum seen (Fisher 1935;
 * exact where each block chose its order at random). Up to IFM_FLIP_EXACT differences all 2^k signs are enumerated;
 * above, `rounds` draws give (b + 1) / (rounds + 1) (Phipson and Smyth 2010). Sums are whole numbers of 2^-50 of
 * sum |d|, so that equal sums compare as equal. Five differences can never reach 0.05. All differences 0:
 * IFM_STAT_CONSTANT. k >= 1, rounds >= 1; `scratch` holds k. */
#define IFM_FLIP_EXACT 16
IFM_STATS_CHECKED enum ifm_stat ifm_stats_sign_flip(const double *d, size_t k, size_t rounds, uint64_t seed,
                                                    int64_t *scratch, double *p);

#endif
