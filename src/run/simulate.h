/* Steps of an arm in a process of its own under cachegrind, and what each of them counts there.
 *
 * The process opens the arm as a run does, with one thread, and takes steps; it writes no file and prints nothing. What
 * a step counts is the difference between more steps and fewer, so that opening the arm is no part of it. Thread rule:
 * one thread of the process, as with every subprocess. */
#ifndef IFM_RUN_SIMULATE_H
#define IFM_RUN_SIMULATE_H

#include "instrument/cachegrind.h"
#include "model/plan.h"

/* NULL: the arm can be simulated. Else why not, with `remedy` filled. */
const char *ifm_simulate_why_not(const struct ifm_plan *plan, const struct ifm_cell *cell, const struct ifm_arm *arm,
                                 const char **remedy);
/* Counts of `steps` steps together, after one that warmed the caches. `program` is this executable; `function` as in
 * ifm_cachegrind_read. */
struct ifm_simulation {
    const char *valgrind, *program;
    const struct ifm_cachegrind_geometry *geometry;
    uint64_t steps;
    const char *function;
};
IFM_CHECKED enum ifm_status ifm_simulate_arm(const struct ifm_simulation *how, const struct ifm_plan *plan,
                                             unsigned cell, unsigned arm, struct ifm_cachegrind_counts *out,
                                             struct ifm_error *error);

/* The process itself: the plan on standard input, then number of the cell, number of the arm, steps. */
IFM_CHECKED enum ifm_status ifm_steps_serve(int argc, char **argv, struct ifm_error *error);

#endif
