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

/* Whose code a workload is that did not come with this build. */
struct ifm_plugin_identity {
    const char *file;   /* its base name; may be published */
    const char *path;   /* absolute; private */
    const char *sha256; /* of the file, 64 hex digits */
    unsigned abi;
};

struct ifm_workload {
    const char *name;
    const char *purpose;      /* one sentence for `inferometer workloads` */
    const char *timed_region; /* one sentence: what a sample contains */
    unsigned most_threads;    /* 0 = as many as the cell has */
    const struct ifm_section *params;
    ifm_describe_fn *describe; /* pure: settings -> arms with ledgers */
    /* What open would need of this machine is there: asked before a run folder exists. NULL = nothing can be missing.
     */
    IFM_CHECKED enum ifm_status (*ready)(const struct ifm_arm *arm, bool fake, struct ifm_error *error);
    /* Private parameters each of which names a file that open reads, NULL-terminated: the file's base name and SHA-256
     * become facts of the run (run/facts/inputs.h). NULL = none. */
    const char *const *input_files;
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

    const char *one_process; /* why its arms cannot run in processes of their own; NULL = they can */
    bool on_gpu;             /* it has kernels for the device cuda; where it has none, its cells are absent there */

    /* ---- of arms with gaps (arm->gaps); NULL elsewhere ---- */
    /* Untimed, before each sample; they may allocate, do I/O and fail. */
    IFM_CHECKED enum ifm_status (*before)(struct ifm_workload_state *state, struct ifm_error *error);
    /* Untimed, after each sample: also where a step that failed inside the timed region is reported. */
    IFM_CHECKED enum ifm_status (*after)(struct ifm_workload_state *state, struct ifm_error *error);

    /* ---- what only the workload can count, one integer a slot; n_columns may be 0 ---- */
    const struct ifm_column *columns; /* they stand in the record behind those of the instruments */
    size_t n_columns;
    /* What was counted since the last call, warm-up step of the slot included; IFM_ABSENT where it was not read. */
    void (*collect)(struct ifm_workload_state *state, int64_t *columns);

    const struct ifm_plugin_identity *plugin; /* NULL: built in */
};

extern const struct ifm_workload ifm_workload_null, ifm_workload_stream, ifm_workload_decode, ifm_workload_attention,
    ifm_workload_gemm, ifm_workload_command, ifm_workload_session;
/* The built-in ones, then those that were registered; NULL-terminated. */
enum { IFM_WORKLOADS_MOST = 32 };
extern const struct ifm_workload *ifm_workloads[IFM_WORKLOADS_MOST + 1];
/* Add a workload that lives as long as the process, before the first configuration is made: tables come first. */
IFM_CHECKED enum ifm_status ifm_workload_register(const struct ifm_workload *workload, struct ifm_error *error);
const struct ifm_workload *ifm_workload_find(const char *name);

#endif
