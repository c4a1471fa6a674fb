/* Tests: rank sum, sign flips, and the tail probabilities that they need. They say whether chance could explain a
 * difference, not how large it is.
 *
 * Pure; the rules of stats.h hold. Random sign flips come from the seed alone. */
#ifndef IFM_STATS_TEST_H
#define IFM_STATS_TEST_H

#include "stats/stats.h"

/* P(X > x) for chi-square with df > 0, x >= 0: the incomplete gamma function by series or Lentz's continued fraction
 * (Abramowitz and Stegun 6.5.29 and 6.5.31). */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_chi2_tail(double x, double df, double *out);
/* Two-sided p of a standard normal z, from erfc. */
double ifm_stats_normal_p(double z);

/* Mann-Whitney U of `a` (n values) against `b` (m values): pairs with a > b plus half of the equal ones; delta of
 * Cliff = 2 U / (nm) - 1. p is two-sided. Without ties and with n, m <= IFM_RANK_EXACT it is exact, from the number of
 * orders that give each U (Mann and Whitney 1947); otherwise normal with the variance corrected for ties (Lehmann 1975,
 * eq. 1.38) and, on request, the continuity correction. All values equal: IFM_STAT_CONSTANT. n, m >= 1; `scratch` holds
 * 2 (n + m). */
#define IFM_RANK_EXACT 20
struct ifm_rank_test {
    double u, z, p; /* z is 0 where p is exact */
    bool exact, ties;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_mann_whitney(const double *a, size_t n, const double *b, size_t m,
                                                       bool continuity, double *scratch, struct ifm_rank_test *out);

/* Sign flips of k block differences: how often a sum with random signs is as far from 0 as the sum seen (Fisher 1935;
 * exact where each block chose its order at random). Up to IFM_FLIP_EXACT differences all 2^k signs are enumerated;
 * above, `rounds` draws give (b + 1) / (rounds + 1) (Phipson and Smyth 2010). Sums are whole numbers of 2^-50 of
 * sum |d|, so that equal sums compare as equal. `smallest` is the least p that this many differences can give: five
 * can never reach 0.05. All differences 0: IFM_STAT_CONSTANT. k >= 1, rounds >= 1; `scratch` holds k. */
#define IFM_FLIP_EXACT 16
struct ifm_flip_test {
    double p, smallest;
    size_t rounds; /* sign patterns that were looked at */
    bool exact;
};
IFM_STATS_CHECKED enum ifm_stat ifm_stats_sign_flip(const double *d, size_t k, size_t rounds, uint64_t seed,
                                                    int64_t *scratch, struct ifm_flip_test *out);

#endif
