/* What `plan` must know of workloads and instruments, filled in by src/story. */
#ifndef IFM_MODEL_CATALOG_H
#define IFM_MODEL_CATALOG_H

#include "model/machine.h"
#include "model/plan.h"

/* The arms that a workload makes of one set of settings, ledgers included. */
struct ifm_arm_list {
    struct ifm_arm *items; /* in the arena */
    size_t n;
    bool rivals; /* the first is the baseline and the others are compared with it; false: several are probes. An arm of
                    the configuration is the last of two: the one rival that it selects. */
    const char *one; /* of rivals: a line of the configuration that keeps one of them, such as "decode.compress: 1";
                        NULL = there is no such line */
};

/* Describe is pure: same settings and machine, same arms. It sets name, implementation, title, ceiling, variant,
 * chosen, ledger, working_set, memory, lossy, has_oracle, tolerance, feature, idle, remark, bits and fixed_inner; plan
 * sets the rest, and takes back what a scripted device cannot have: an oracle, a loss, a feature that runs. `why_not`
 * is set to a sentence, and the list left empty, when the device cannot run these settings. */
typedef enum ifm_status ifm_describe_fn(const struct ifm_setting *settings, size_t n, const struct ifm_machine *machine,
                                        struct ifm_arena *arena, struct ifm_arm_list *arms, const char **why_not,
                                        struct ifm_error *error);

struct ifm_column {
    const char *id;
    const char *unit;
};

/* The settings of a workload whose arms measure a ceiling: which one, over how many bytes, in pieces, so that a slot of
 * them lasts no longer than another, and in which level of the caches. */
struct ifm_ceiling_settings {
    const char *probe, *size, *pieces, *level; /* "stream.probe", "stream.size", "stream.pieces", "stream.level" */
};

struct ifm_workload_entry {
    const char *name;
    ifm_describe_fn *describe;
    unsigned most_threads;            /* that it can use; 0 = as many as there are */
    const struct ifm_column *columns; /* that it counts itself, behind those of the instruments */
    size_t n_columns;
    const char *one_process; /* why its arms cannot run in processes of their own; NULL = they can */
    const struct ifm_ceiling_settings *ceilings; /* NULL = its arms are no ceilings of others */
    bool serves;                                 /* it has an implementation for the device of this catalog */
};

struct ifm_instrument_entry {
    const char *name;
    enum ifm_intrusion intrusion; /* decides which pass takes it along */
    const struct ifm_column *columns;
    size_t n_columns;
};

struct ifm_catalog {
    const struct ifm_workload_entry *workloads;
    size_t n_workloads;
    const struct ifm_instrument_entry *instruments;
    size_t n_instruments;
    struct ifm_machine machine;
    const struct ifm_section *measure; /* the rows of struct ifm_measure: a cell may sweep some of them */
};

#endif
