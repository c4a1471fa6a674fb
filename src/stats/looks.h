/* Planned looks of a run that may end at each of them, and whose last block nobody knows beforehand: a cap of time ends
 * it. Whoever ends such a run, an interval holds at its promised level.
 *
 * Haybittle, "Repeated assessment of results in clinical trials of cancer treatment", Brit. J. Radiology 44 (1971), and
 * Peto et al., "Design and analysis of randomized clinical trials", Brit. J. Cancer 34 (1976): every look on the way
 * has the same strict bound, and the last one nearly that of a single look. A look may err by 1 / IFM_LOOK_SHARE of all
 * error a; the end has what the looks made on the way have left of a: its bound z solves
 *     P(|Z_k| >= z_look at some look before n, or |Z_n| >= z) = a,
 * Z_k the statistic of a Brownian motion at its number of blocks, by recursive integration (Armitage, McPherson and
 * Rowe, J. R. Stat. Soc. A 132, 1969). Intervals by these bounds are repeated confidence intervals (Jennison and
 * Turnbull, "Group Sequential Methods with Applications to Clinical Trials", 2000, chapter 9): any rule may end the run
 * at a look, and anything that does not know the values in between. Error a = 0.05: z_look = 3.02; the end 1.96 at 7
 * blocks, 2.02 at 60, 2.10 at 500. Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_LOOKS_H
#define IFM_STATS_LOOKS_H

#include "stats/stats.h"

/* With one look less than shares, the end is never stricter than a look (Bonferroni). */
enum { IFM_LOOK_SHARE = 20, IFM_LOOKS_MOST = IFM_LOOK_SHARE - 1 };

/* Blocks at look k = 1 .. IFM_LOOKS_MOST: `first`, and from look to look half as many more (6, 9, 14, 21, 32, ...). */
size_t ifm_stats_look(size_t first, unsigned k);
/* The look that n blocks make; 0 = none. */
unsigned ifm_stats_look_of(size_t first, size_t n);
/* The levels at which a t interval is computed so that it holds at `level` (0.5 .. 1 - 1e-9): at a look, and at the end
 * of a run that no look has ended, at n blocks. */
double ifm_stats_look_level(double level);
IFM_STATS_CHECKED enum ifm_stat ifm_stats_end_level(double level, size_t first, size_t n, double *out);

#endif
