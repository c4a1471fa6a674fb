/* Run: executes a plan and writes facts. It publishes no number.
 *
 * Owns the run folder while it runs: run.log, samples/. Thread rule: one thread; the device has its own workers. */
#ifndef IFM_RUN_RUN_H
#define IFM_RUN_RUN_H

#include "base/error.h"
#include "device/device.h"
#include "model/event.h"
#include "model/plan.h"
#include "run/facts/facts.h"
#include "run/pass/stop.h"
#include <stdbool.h>

/* Progress between slots; never called inside a timed slot. */
struct ifm_progress {
    void (*report)(void *context, const struct ifm_cell *cell, double fraction_of_run, double remaining_s);
    void *context;
    void (*tell)(void *context, const struct ifm_parts *parts); /* what the run is at; may be NULL */
};

struct ifm_run_options {
    const char *dir;
    struct ifm_device_options device;
    bool resume;
    double wait_quiet_s;                   /* wait at most so long for a quiet machine first; 0 = do not */
    struct ifm_progress progress;          /* report may be NULL */
    struct ifm_so_far *so_far;             /* of the open cell, made anew before each report; may be NULL */
    const struct ifm_event_retry *retries; /* of the run that is repeated; NULL = none */
    size_t n_retries;
    bool *needs_new_process;     /* set when the device failed and only a new process, which resumes, can open it */
    ifm_settled_fn *settled;     /* asked before a look ends a pass (run/facts/facts.h); NULL = nobody is */
    struct ifm_witness *witness; /* of the process that watches this one; NULL = none */
    double look_s;               /* of a dry run: how long it opens cells; 0 = a few seconds */
};

/* Execute every cell that the record does not hold yet. IFM_INTERRUPTED after SIGINT or SIGTERM: the open block is
 * lost, everything before it is on disk. */
IFM_CHECKED enum ifm_status ifm_run_execute(const struct ifm_plan *plan, const struct ifm_run_options *options,
                                            struct ifm_error *error);

/* Time estimate of a plan: opens cells, times a pilot, records nothing. */
struct ifm_estimate {
    double seconds, low, high; /* of the measured part and its set-up */
    double parts[IFM_PARTS];   /* that `seconds` is made of, but for the fixed part of a run */
    double cap_wanted_s;       /* the cap that would hold the fewest blocks; 0 = the configured one does */
    bool scaled;               /* from another cell of the workload, by size: it was not opened */
    uint64_t memory;           /* bytes of the largest cell */
};
IFM_CHECKED enum ifm_status ifm_run_estimate(const struct ifm_plan *plan, const struct ifm_run_options *options,
                                             struct ifm_estimate *cells, struct ifm_estimate *total,
                                             struct ifm_error *error);
#endif
