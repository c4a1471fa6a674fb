/* Implementation: who computes a workload on a device. One row of its workload's table, in a file of its own.
 *
 * Parameters, data, ledger and oracle are the workload's and shared by its rows; what `open` makes is the row's own.
 * `step` allocates nothing, takes no lock, does no I/O, reads no clock and sees no instrument. Thread rule: one thread
 * drives a state; it fans out through the device. */
#ifndef IFM_WORKLOAD_IMPLEMENTATION_H
#define IFM_WORKLOAD_IMPLEMENTATION_H

#include "device/device.h"
#include "model/catalog.h"
#include "model/facts.h"
#include <string.h>

struct ifm_implementation;
struct ifm_workload;

/* An arm as its implementation gets it. All of it lives at least as long as the state that `open` makes. */
struct ifm_opening {
    const struct ifm_workload *workload;
    const struct ifm_implementation *implementation;
    const struct ifm_arm *arm;
    const void *settings, *chosen; /* the structs that workload->params and workload->chosen bind */
    struct ifm_device *device;     /* NULL while `ready` asks */
    unsigned threads;
    uint64_t seed; /* of the data */
};

/* Members may be NULL, except name, title, device, purpose, open and step. */
struct ifm_implementation {
    const char *name;    /* what selects it and what the plan records: "ours", "openblas"; unique on its device */
    const char *title;   /* for people: "OpenBLAS" */
    const char *device;  /* "cpu", "cuda" */
    const char *purpose; /* half a sentence for `inferometer workloads` */
    /* NULL when it runs what `ask`, a struct of the workload's, describes on this machine; it may add to `ask` how it
     * would. Else why not, with what to do about it, in the arena. Pure. */
    const char *(*supports)(const struct ifm_machine *machine, void *ask, struct ifm_arena *arena);
    /* What open would need of this machine is there: asked before a run folder exists. */
    IFM_CHECKED enum ifm_status (*ready)(const struct ifm_opening *opening, struct ifm_error *error);
    /* None of the plan's arms that it runs spoils another one; each is ready. */
    IFM_CHECKED enum ifm_status (*ready_together)(const struct ifm_opening *openings, size_t n,
                                                  struct ifm_error *error);
    size_t state_bytes;
    /* Fill the state, `state_bytes` zeros: allocate and generate by the seed; touch everything; poison outputs. Nothing
     * is timed. */
    IFM_CHECKED enum ifm_status (*open)(const struct ifm_opening *opening, void *state, struct ifm_error *error);
    /* The timed region: `n` steps. */
    void (*step)(void *state, uint64_t n);
    /* Compare the outputs of the last step, every element, with a computation that shares no code with it. */
    IFM_CHECKED enum ifm_status (*check)(void *state, struct ifm_check *out, struct ifm_error *error);
    /* How often the arm's feature ran since open. */
    uint64_t (*feature_runs)(const void *state);
    /* Fill the columns that the workload names: what was counted since the last call, warm-up step of the slot
     * included; IFM_ABSENT where it was not read. Also called before each slot, which so holds its own steps alone. */
    void (*collect)(void *state, int64_t *columns);
    /* Release what the state holds, not the state; also called after `open` has failed. */
    void (*close)(void *state);

    /* ---- of arms with gaps (arm->gaps) ---- */
    /* Untimed, before each sample; they may allocate, do I/O and fail. */
    IFM_CHECKED enum ifm_status (*before)(void *state, struct ifm_error *error);
    /* Untimed, after each sample: also where a step that failed inside the timed region is reported. */
    IFM_CHECKED enum ifm_status (*after)(void *state, struct ifm_error *error);
    /* Path of the k-th file that its steps run, which nobody may change meanwhile: 0 the program, 1 its script, 2 the
     * program behind a wrapper; NULL = there is none, or its own hooks may change it. */
    const char *(*file)(const void *state, unsigned k);

    /* ---- of arms that are compared with an oracle ---- */
    /* Untimed: overwrite the outputs by what no step computes, so that a step which writes nothing shows. `all` of
     * them, or at least some of what each worker writes, where all would take as long as a step. */
    void (*spoil)(void *state, bool all);
};

/* Whether a row works on the machine's device. A scripted device stands for the processor: it plans what that would. */
static inline bool ifm_implementation_serves(const struct ifm_implementation *row, const struct ifm_machine *machine)
{
    return strcmp(row->device, machine->scripted ? "cpu" : machine->device) == 0;
}
/* The same of any row of a workload; true of one that has none, whose caller computes it. */
bool ifm_workload_serves(const struct ifm_workload *workload, const struct ifm_machine *machine);

/* Find the row that the arm names on `device` and bind its settings and what describe chose, once, in the arena.
 * Device, threads and seed are the caller's to fill in. IFM_INVALID where this build has no such workload or row. */
IFM_CHECKED enum ifm_status ifm_implementation_bind(const struct ifm_arm *arm, const char *device,
                                                    struct ifm_arena *arena, struct ifm_opening *out,
                                                    struct ifm_error *error);

/* A state of the row that `opening` names; NULL after a failure. */
IFM_CHECKED enum ifm_status ifm_implementation_open(const struct ifm_opening *opening, void **state,
                                                    struct ifm_error *error);
void ifm_implementation_close(const struct ifm_implementation *row, void *state); /* NULL is allowed */

/* The row of every workload on a scripted device: steps advance its clock, nothing is computed (fake.c). */
extern const struct ifm_implementation ifm_implementation_script;

#endif
