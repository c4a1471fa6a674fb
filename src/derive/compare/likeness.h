/* Likeness: may a number of one run stand beside the same number of another? Field by field, from plan and journal.
 *
 * Owns nothing and decides nothing about times: it lists in what two runs differ, and which of those differences forbid
 * a comparison. Pure; no clock, no files. Everything lives in the caller's arena or is the runs' own text. */
#ifndef IFM_DERIVE_COMPARE_LIKENESS_H
#define IFM_DERIVE_COMPARE_LIKENESS_H

#include "derive/derive.h"

/* A run in memory, as far as another one is compared with it. */
struct ifm_run_view {
    const struct ifm_plan *plan;
    const struct ifm_derived *derived;
    const struct ifm_events *events; /* run.log; NULL = unknown, which is a difference */
};

/* Another amount or kind of work forbids a comparison. Other conditions qualify it: a number may be shown, and no time
 * decided. */
enum ifm_difference_kind { IFM_DIFFERENCE_QUALIFIES = 0, IFM_DIFFERENCE_REFUSES };
struct ifm_difference {
    const char *field;             /* "seed", "decode.kv_len", "ledger.flops", "environment.kernel" */
    const char *reference, *other; /* both values as text; "" = not there */
};

struct ifm_likeness {
    struct ifm_difference *items; /* what forbids first */
    size_t n, capacity, n_refusing;
    bool across; /* devices are compared: they, and what names them, may differ, and with them the bytes of a layout */
    struct ifm_arena *arena;
};

/* One arm of one cell in two runs. */
struct ifm_like_pair {
    const struct ifm_cell *reference_cell, *other_cell;
    const struct ifm_arm *reference_arm, *other_arm;
};

/* What two runs have in common whatever the arm: device, environment, locks, version, time. `out` starts empty, with
 * its arena and `across`. */
void ifm_likeness_runs(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                       struct ifm_likeness *out);
/* What concerns the arm: workload, seed, threads, cache mode, settings, ledger, measure settings, outputs. `varies` is
 * the path of the setting under comparison, which may differ, or several with commas between them; NULL = none. A key
 * `model` stands for the shape that it fills. Adds to `out`. */
void ifm_likeness_arms(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                       const struct ifm_like_pair *pair, const char *varies, struct ifm_likeness *out);
/* Is the path of a setting among those of `varies`? */
bool ifm_varies_holds(const char *varies, const char *path, struct ifm_arena *arena);
/* "decode.model,decode.kv_len": what `varies` would have to say so that nothing forbids the comparison, where settings
 * of the arms and what follows from them are all that does; else "". */
const char *ifm_likeness_varies(const struct ifm_likeness *likeness, const struct ifm_like_pair *pair,
                                const char *varies, struct ifm_arena *arena);
/* "seed is 1 in the reference and 2 here; ..." of those that forbid; "" when none does. */
const char *ifm_likeness_refusal(const struct ifm_likeness *likeness, struct ifm_arena *arena);
/* "locks, version, environment.kernel and 3 more": the fields that qualify, at most four; "" when none does. */
const char *ifm_likeness_fields(const struct ifm_likeness *likeness, struct ifm_arena *arena);

/* An energy pass was made of the arm, whatever came of it. */
bool ifm_has_energy_pass(const struct ifm_run_view *run, const char *cell, const char *arm);
/* Why the energies of an arm do not stand for the same joules, as an absent value with reason and remedy: no pass in
 * one run, other windows, other sensors; unless they are ratios of interleaved arms (a gain error cancels in them)
 * another processor or GPU. OK where they do. */
struct ifm_value ifm_likeness_energy(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                                     const struct ifm_like_pair *pair, bool interleaved, struct ifm_arena *arena);

#endif
