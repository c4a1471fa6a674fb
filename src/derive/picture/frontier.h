/* Which of several arms are worth having: bytes, loss and time against each other. Pure; owns nothing. */
#ifndef IFM_DERIVE_PICTURE_FRONTIER_H
#define IFM_DERIVE_PICTURE_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ifm_frontier_point {
    bool known;                 /* false: one of the three is not; the point dominates nothing and is not dominated */
    uint64_t stored;            /* bytes: exact */
    double loss;                /* of the outputs, on the same inputs as those of the other points; 0 = none */
    double step_low, step_high; /* the interval of the step time, ns */
};

/* A point is dominated when another one stores no more, loses no more and is faster beyond noise: its whole interval
 * lies below the point's. Intervals that touch decide nothing, so that noise never takes an arm off the frontier.
 * by[i] = the fastest point that dominates i, n where none does. */
void ifm_frontier_mark(const struct ifm_frontier_point *points, size_t n, size_t *by);

#endif
