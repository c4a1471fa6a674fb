/* How many observations would settle a question that this many leave open. Pure. */
#ifndef IFM_STATS_FORETELL_H
#define IFM_STATS_FORETELL_H

#include "stats/stats.h"

/* More than this many times the observations at hand is no advice: nobody measures for a hundred times as long. */
#define IFM_FORETELL_FACTOR 100

/* The fewest observations in all after which a t interval of `level` probably (80 %) excludes a bound at the distance
 * `room` from the estimate, when `n` observations have the standard error `se` and the noise stays as it is; 0 = more
 * than IFM_FORETELL_FACTOR x n, or n < 2. */
uint64_t ifm_stats_foretell(double room, double se, uint64_t n, double level);
/* The same from the half-width of the t interval of the n observations. */
uint64_t ifm_stats_foretell_half(double room, double half, uint64_t n, double level);

#endif
