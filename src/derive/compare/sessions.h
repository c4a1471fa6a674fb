/* Between sessions: how far the numbers of one configuration, measured several times over, lie apart.
 *
 * Each session is a run of its own; so is the original, the run that they repeat. A number is repeatable when no run,
 * the original among them, is further than epsilon from the geometric mean of the sessions. What is asked is how well a
 * whole measurement repeats, which the interval inside one run cannot say. Pure. */
#ifndef IFM_DERIVE_COMPARE_SESSIONS_H
#define IFM_DERIVE_COMPARE_SESSIONS_H

#include "derive/compare/likeness.h"

enum ifm_repeatable { IFM_REPEATABLE_UNKNOWN = 0, IFM_REPEATABLE_NO, IFM_REPEATABLE_YES };

/* One number of a cell and arm over all sessions. */
struct ifm_sessions_row {
    const char *cell, *arm;
    enum ifm_metric_id metric; /* step_ns, speedup, energy_per_step_j; speedup_at_ceiling, ceiling_read (arm "") */
    enum ifm_repeatable answer;
    double original;          /* of the run that they repeat; NaN = it has none */
    double mean, least, most; /* geometric mean; of the `with` sessions that have the number; NaN = fewer than 2 do */
    double spread;            /* the furthest run from the mean, the original among them, relative */
    double within;            /* the widest half of an interval inside a session or the original; NaN = none has one */
    size_t with, lacks;       /* how many sessions have it; the first that does not, or their number */
    const char *reason;       /* why that one does not; "" = all have it */
    const char *outputs;      /* "equal" or "differ"; "" where the last checks recorded none, or a library sums */
    const char *word;         /* of a speed-up: what its runs decide, "faster"; "" = nothing, or not one thing */
    size_t undecided;         /* of a speed-up: sessions that have it and do not decide it */
    size_t open;              /* the same of all runs, the original among them */
    bool contradicts;         /* one run decides "faster" and one "slower" */
    enum ifm_repeatable quotable;
    const struct ifm_value *modes; /* of a time: those of the first run that says that they mislead; NULL = none */
    size_t modal, drifting;        /* runs that say so; runs in which it drifts from start to end */
    const struct ifm_sessions_row *memory; /* the read ceiling of a speed-up that it bounds, if it does not repeat */
    size_t unclear, first_unclear; /* runs that cannot tell how weak the baseline is; the first, `n` is the original */
};

struct ifm_sessions {
    struct ifm_sessions_row *rows;
    size_t n, capacity;
    bool scripted; /* of the device fake: nothing is quotable */
    size_t n_runs; /* sessions, and the original where there is one */
    double span_s; /* by the wall clock, from the first start to the last end of runs with numbers; NaN = unknown */
    enum ifm_repeatable answer; /* of all rows but those of ceilings: no outweighs unknown */
    enum ifm_repeatable ratios; /* of the speed-ups alone, which a change of the whole machine leaves alone */
    enum ifm_repeatable others; /* of times and energy */
    /* Of all speed-ups, or where there are none of times and energy: repeatable, by equal outputs, and of a speed-up
     * decided by two sessions or more and by most runs, against none, and on one side of 1 (inside the margin) in every
     * run. No: outputs or directions contradict each other, or a time does not repeat. */
    enum ifm_repeatable quotable;
};

/* Speed-ups first. Where some sessions lack a number, the others show its range, and may lie too far apart by
 * themselves. The cells and arms are those of the first session; of ceilings that of reads and what is left at it
 * stand last. `n` is 2 or more;
 * `original` is NULL where it has no numbers. */
void ifm_sessions(const struct ifm_run_view *views, size_t n, const struct ifm_run_view *original, double epsilon,
                  struct ifm_arena *arena, struct ifm_sessions *out);
/* The ends of all runs, the original among them. */
double ifm_sessions_low(const struct ifm_sessions_row *row);
double ifm_sessions_high(const struct ifm_sessions_row *row);
size_t ifm_sessions_runs(const struct ifm_sessions_row *row); /* that have the number, the original among them */
/* "program of gzip-9" (or "script of"): in the second run the file of that arm had other content. NULL: no file is
 * known to have had, as in runs of versions that took no hash. */
const char *ifm_programs_unlike(const struct ifm_events *first, const struct ifm_events *second,
                                struct ifm_arena *arena);
/* What keeps the original from standing beside its sessions, as "environment.cpu.model": it was measured on another
 * machine or device, read other files, or ran another program. NULL: nothing does. */
const char *ifm_sessions_unlike(const struct ifm_run_view *original, const struct ifm_run_view *session,
                                struct ifm_arena *arena);

#endif
