/* The mean of what blocks say, one value a block in time order: differences of logarithms, or influences on them.
 *
 * The stop rule asks it while it measures, derive asks it of the record. Pure; the rules of stats.h hold. */
#ifndef IFM_STATS_PAIRED_H
#define IFM_STATS_PAIRED_H

#include "stats/stats.h"
#include <stdbool.h>

enum { IFM_BLOCKS_NEEDED = 6 }; /* no interval below it, and no comparison has a word */
/* Do `undisturbed` of `all` blocks foretell how many more it takes? Beside other work (most were disturbed, or `busy`)
 * few do not: the next minute may spare none. */
enum { IFM_BLOCKS_FORETELL = 12 };
bool ifm_stats_blocks_foretell(size_t undisturbed, size_t all, bool busy);

struct ifm_log_mean {
    size_t n;
    double mean, sd, n_effective, df;
    double n_cautious; /* what a forecast takes the blocks for: a correlation that does not show yet may be there */
};

/* sd is at least `quantum` / sqrt(12): equal blocks are equal only to the clock's tick. n_effective is corrected for
 * autocorrelation where it is visible (n >= 10): pairing removes what two arms share, not what one of them remembers.
 * df = n_effective - 1. n_cautious is of a correlation one standard error above the one seen. `room` has 2 n places.
 * False when n == 0. */
bool ifm_stats_log_mean(const double *logs, size_t n, double quantum, double *room, struct ifm_log_mean *out);
/* False below IFM_BLOCKS_NEEDED blocks. */
bool ifm_log_mean_interval(const struct ifm_log_mean *mean, double level, struct ifm_interval *out);

#endif
