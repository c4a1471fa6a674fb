/* Workload: what is measured. Its parameters, a pure describe, data, an oracle, and the table of who computes it
 * (workload/implementation.h). Registration is one row in registry.c.
 *
 * A workload's file opens with "what the timed region contains". It never sees an instrument and never reads a clock,
 * and knows no device by name but in its table. Thread rule: constant data. */
#ifndef IFM_WORKLOAD_WORKLOAD_H
#define IFM_WORKLOAD_WORKLOAD_H

#include "base/param.h"
#include "workload/implementation.h"

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
    const struct ifm_section *chosen; /* what describe chooses: written into the plan, bound at open; NULL = nothing */
    ifm_describe_fn *describe;        /* pure: settings -> arms with ledgers, chosen values and implementations */
    bool has_oracle;                  /* outputs are compared; the first comparison takes a step of its own */
    /* Who computes it, NULL-terminated; where several serve a device, in the order of the arms. NULL: its caller does.
     */
    const struct ifm_implementation *const *implementations;
    /* Private parameters each of which names a file that open reads, NULL-terminated: the file's base name and SHA-256
     * become facts of the run (run/facts/inputs.h). NULL = none. */
    const char *const *input_files;
    const char *one_process;    /* why its arms cannot run in processes of their own; NULL = they can */
    const char *no_extra_steps; /* why no step runs beside those of warm-up and samples; NULL = some may */
    const struct ifm_ceiling_settings *ceilings; /* how its arms are asked for a ceiling; NULL = they are none */
    /* What only the workload can count, one integer a slot; n_columns may be 0. They stand in the record behind those
     * of the instruments. */
    const struct ifm_column *columns;
    size_t n_columns;
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
