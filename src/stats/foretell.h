/* How many observations would settle a question that this many leave open. Pure. */
#ifndef IFM_STATS_FORETELL_H
#define IFM_STATS_FORETELL_H

#include "stats/paired.h"

/* More than this many times the observations at hand is no advice: nobody measures for a hundred times as long. */
#define IFM_FORETELL_FACTOR 100

/* The fewest observations of a next run whose t interval of `level` probably (80 %) excludes a bound at the distance
 * `room` from the estimate, on either side, when `n` observations have the standard error `se` and the noise stays as
 * it is. The estimate is taken to be as uncertain as they make it, and no fewer are told than if it were the truth; 0 =
 * more than IFM_FORETELL_FACTOR x n, or n < 2. */
uint64_t ifm_stats_foretell(double room, double se, uint64_t n, double level);
/* With IFM_FORETELL_FACTOR, from the half-width of the t interval of the n observations. */
uint64_t ifm_stats_foretell_half(double room, double half, uint64_t n, double level);
/* How many more than the `n` at hand, one at least, where each that counts takes `each`; 0 = no sensible number. */
uint64_t ifm_stats_foretell_more(uint64_t all, uint64_t n, double each);
/* Blocks of a next run after which a comparison of this noise probably has a word, the estimate being as uncertain as
 * before: its interval of `level` lies beyond `edge`, or the one of `level_equal` within. `holds_zero`: the estimate
 * may be chance, and the blocks are so many that arms that are equal are found so too. More than mean->n; 0 = no
 * sensible number. */
uint64_t ifm_stats_foretell_word(const struct ifm_log_mean *mean, bool holds_zero, double edge, double level,
                                 double level_equal);
/* How many times the n observations at hand give the next run an even chance of a word, by the same two intervals, were
 * the estimate `at` as uncertain as `half` of `level` says, and if that may be zero, were it zero too: 2, 4, 8, ...; 0
 * = none below IFM_FORETELL_FACTOR. */
uint64_t ifm_stats_foretell_even(double at, double half, uint64_t n, double edge, double level, double level_equal);
/* Within so much of zero the interval of `level_equal` of a next run of as many observations probably lies, where this
 * one's of `level` is `at` and `half` to either side; 0 = not known. */
double ifm_stats_foretell_edge(double at, double half, uint64_t n, double level, double level_equal);

#endif
