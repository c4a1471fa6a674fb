/* What limits kernels, from the metrics of ncu: how near they are to each limit, and what their warps wait for.
 *
 * Numbers of several launches are weighted by their time, quotients of counts are of sums. A share outside of 0 to
 * 100 % is none. Pure; thread rule: any. */
#ifndef IFM_INSTRUMENT_NCU_LIMITS_H
#define IFM_INSTRUMENT_NCU_LIMITS_H

#include "instrument/ncu_report.h"

/* A metric that is asked for. `only`, `never`: first characters of the compute capabilities that have it, or lack it;
 * NULL = none. `host`: CUPTI knows it too, so that a test can hold it against the chips. */
struct ifm_ncu_limit_metric {
    const char *name, *only, *never;
    bool host;
};
extern const struct ifm_ncu_limit_metric ifm_ncu_limit_metrics[]; /* the last has no name */
/* Is the metric asked for on this compute capability, such as "9.0"? */
bool ifm_ncu_limit_fits(const struct ifm_ncu_limit_metric *metric, const char *capability);
/* The names for ncu, with commas, in the arena. */
const char *ifm_ncu_limit_names(const char *capability, struct ifm_arena *arena);

/* One limit of a group of launches. Texts are constant or in the arena. */
struct ifm_ncu_limit {
    const char *name;
    bool unit;          /* how busy a unit is, and not what is idle */
    double share;       /* per cent; NAN: `reason` says why there is none */
    const char *of;     /* what the share is of */
    const char *detail; /* other numbers that belong to it; "" = none */
    const char *advice, *reason;
};

#define IFM_NCU_LIMIT_NEAR 60.0 /* from here on a unit is what limits */
enum { IFM_NCU_LIMITS = 10, IFM_NCU_STALLS_SHOWN = 3 };
struct ifm_ncu_limits {
    struct ifm_ncu_limit
        items[IFM_NCU_LIMITS]; /* units near their peak first, then the largest shares; those without one last */
    size_t n, n_known;
    double time_ns; /* of the launches; NAN */
};

/* `launches`: n of the report. */
void ifm_ncu_limits_of(const struct ifm_ncu_report *report, const struct ifm_ncu_launch *const *launches, size_t n,
                       struct ifm_arena *arena, struct ifm_ncu_limits *out);

#endif
