/* Between sessions: how far the numbers of one configuration, measured several times over, lie apart.
 *
 * Each session is a run of its own. A number is repeatable when no session is further than epsilon from their geometric
 * mean. What is asked is how well a whole measurement repeats, which the interval inside one run cannot say. Pure. */
#ifndef IFM_DERIVE_COMPARE_SESSIONS_H
#define IFM_DERIVE_COMPARE_SESSIONS_H

#include "derive/compare/likeness.h"

enum ifm_repeatable { IFM_REPEATABLE_UNKNOWN = 0, IFM_REPEATABLE_NO, IFM_REPEATABLE_YES };

/* One number of a cell and arm over all sessions. */
struct ifm_sessions_row {
    const char *cell, *arm;
    enum ifm_metric_id metric; /* step_ns, speedup or energy_per_step_j */
    enum ifm_repeatable answer;
    double mean, least, most; /* geometric mean; where the answer is known */
    double spread;            /* the furthest from the mean, relative */
    double within;            /* the widest half of an interval inside a session, relative; NaN = none has one */
    const char *reason;       /* why it is unknown; "" = it is known */
    const char *outputs;      /* "equal" or "differ"; "" where the last checks recorded none */
};

struct ifm_sessions {
    struct ifm_sessions_row *rows;
    size_t n, capacity;
    enum ifm_repeatable answer; /* of all rows: no outweighs unknown */
};

/* The cells and arms are those of the first session; ceilings are left out. `n` is 2 or more. */
void ifm_sessions(const struct ifm_run_view *views, size_t n, double epsilon, struct ifm_arena *arena,
                  struct ifm_sessions *out);

#endif
