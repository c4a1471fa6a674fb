/* Workload: what is measured. One vtable; registration is one row in registry.c.
 *
 * A workload's file opens with "what the timed region contains". It never sees an
 * instrument and never reads a clock; `step` allocates nothing, takes no lock,
 * does no I/O. Thread rule: one thread drives it; it fans out through the device. */
#ifndef IFM_WORKLOAD_WORKLOAD_H
#define IFM_WORKLOAD_WORKLOAD_H

#include "base/param.h"
#include "device/device.h"
#include "model/catalog.h"
#include "model/facts.h"

struct ifm_workload_state;

struct ifm_workload {
    const char *name;
    const char *purpose;      /* one sentence for `inferometer workloads` */
    const char *timed_region; /* one sentence: what a sample contains */
    unsigned most_threads;    /* 0 = as many as the cell has */
    const struct ifm_section *params;
    ifm_describe_fn *describe; /* pure: settings -> arms with ledgers */
    /* Allocate and generate by `seed`; touch everything; poison outputs. Nothing is timed. */
    IFM_CHECKED enum ifm_status (*open)(const struct ifm_arm *arm, struct ifm_device *device, unsigned threads,
                                        uint64_t seed, struct ifm_workload_state **out, struct ifm_error *error);
    /* The timed region: `n` steps. */
    void (*step)(struct ifm_workload_state *state, uint64_t n);
    /* Compare the outputs of the last step with an oracle in higher precision; NULL = has none. */
    IFM_CHECKED enum ifm_status (*check)(struct ifm_workload_state *state, struct ifm_check *out,
                                         struct ifm_error *error);
    /* How often the arm's feature ran since open; NULL = no feature. */
    uint64_t (*feature_runs)(const struct ifm_workload_state *state);
    void (*close)(struct ifm_workload_state *state); /* NULL state is allowed */
};

extern const struct ifm_workload ifm_workload_null, ifm_workload_stream, ifm_workload_decode;
extern const struct ifm_workload *const ifm_workloads[]; /* NULL-terminated */
const struct ifm_workload *ifm_workload_find(const char *name);

#endif
