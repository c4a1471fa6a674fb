/* Group-sequential looks: stopping early without flagging more often than promised.
 *
 * O'Brien and Fleming, "A multiple testing procedure for clinical trials", Biometrics 35 (1979): at look k of K the
 * statistic must exceed C sqrt(K/k). Intervals widened by the same factor are repeated confidence intervals: at
 * whichever look the run stops, they hold the true value with the promised level (Jennison and Turnbull, "Group
 * Sequential Methods with Applications to Clinical Trials", 2000, sections 2.4 and 9.2). Pure; the rules of stats.h
 * hold. */
#ifndef IFM_STATS_SEQUENTIAL_H
#define IFM_STATS_SEQUENTIAL_H

#include "stats/stats.h"

enum { IFM_SEQUENTIAL_LOOKS = 5 };

/* C of K equally spaced looks: the constant with P(|B(k/K)| >= C for some k <= K) = alpha, B a Brownian motion (2.040
 * for five looks and alpha = 0.05). By recursive integration (Armitage, McPherson and Rowe, J. R. Stat. Soc. A 132,
 * 1969), to about 1e-5. 1 <= looks <= 100, 1e-9 <= alpha <= 0.5. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_sequential_constant(double alpha, unsigned looks, double *out);

/* The level at which an interval of n blocks must be computed so that, over IFM_SEQUENTIAL_LOOKS equal looks of a
 * maximum, it holds at `level` (0.5 .. 1 - 1e-9): 2 Phi(C sqrt(maximum / n)) - 1. The interval itself takes the t
 * quantile at that level, which corrects for the estimated spread.
 * A run that was cut off between two looks (time cap, interruption) uses the same formula at its n, which is
 * conservative: given that no look stopped the run, B is the less likely to lie beyond C the less time has passed. With
 * n above the maximum the factor is C itself. Factors above 7 count as 7: they differ by less than 3e-12 in level.
 * n >= 1. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_sequential_level(double level, size_t n, size_t maximum, double *out);

/* The same for a constant that is known already. */
IFM_STATS_CHECKED enum ifm_stat ifm_stats_sequential_widened(double constant, size_t n, size_t maximum, double *out);

/* Blocks at look k = 1 .. IFM_SEQUENTIAL_LOOKS: the next whole number above k/K of the maximum. */
size_t ifm_stats_sequential_look(size_t maximum, unsigned k);

/* The level at which t intervals are computed so that they hold at `level` in a run that ends when they are narrow
 * enough, at ten blocks or later: such a run stops early when the spread happens to look small, and plain 95 %
 * intervals then miss in up to 6.4 % of runs (simulation: docs/maintain/method.md). 1 - 0.75 (1 - level). */
double ifm_stats_fixed_width_level(double level);

#endif
