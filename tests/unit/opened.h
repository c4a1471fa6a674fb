/* An arm opened by its implementation, as run opens it: by the row that it names, with its values bound once. */
#ifndef IFM_TESTS_OPENED_H
#define IFM_TESTS_OPENED_H

#include "workload/workload.h"
#include <string.h>

struct opened {
    struct ifm_opening opening;
    const struct ifm_implementation *by;
    void *state; /* NULL where opening failed */
};

/* What plan does with the arms of a description. */
static inline void give_settings(struct ifm_arm_list *arms, const struct ifm_setting *settings, size_t n)
{
    for (size_t i = 0; i < arms->n; i++) {
        arms->items[i].settings = settings;
        arms->items[i].n_settings = n;
    }
}

/* What the arm is bound to; `device` is "cpu", "cuda" or "fake". The arena outlives the state. */
static inline enum ifm_status bind_arm(const struct ifm_workload *workload, const struct ifm_arm *arm,
                                       const char *device, struct ifm_arena *arena, struct opened *out,
                                       struct ifm_error *error)
{
    struct ifm_arm *own = IFM_ARENA_NEW(arena, struct ifm_arm);
    *own = *arm;
    own->workload = workload->name;
    if (strcmp(device, "fake") == 0)
        own->implementation = ifm_implementation_script.name; /* what plan does */
    *out = (struct opened){0};
    IFM_TRY(ifm_implementation_bind(own, device, arena, &out->opening, error));
    out->by = out->opening.implementation;
    return IFM_OK;
}

static inline enum ifm_status open_arm_on(const struct ifm_workload *workload, const struct ifm_arm *arm,
                                          const char *kind, struct ifm_device *device, unsigned threads, uint64_t seed,
                                          struct ifm_arena *arena, struct opened *out, struct ifm_error *error)
{
    IFM_TRY(bind_arm(workload, arm, kind, arena, out, error));
    out->opening.device = device;
    out->opening.threads = threads;
    out->opening.seed = seed;
    return ifm_implementation_open(&out->opening, &out->state, error);
}

/* The state of an arm that must open, on the processor with seed 7. */
static inline void *opened_state(const struct ifm_workload *workload, const struct ifm_arm *arm,
                                 struct ifm_device *device, unsigned threads, struct ifm_arena *arena)
{
    struct ifm_error error = {0};
    struct opened opened;
    if (open_arm_on(workload, arm, "cpu", device, threads, 7, arena, &opened, &error) != IFM_OK)
        fail_msg("%s: %s", arm->name, error.message);
    return opened.state;
}

/* What `ready` of the arm's implementation says before a run. */
static inline enum ifm_status ready_arm(const struct ifm_workload *workload, const struct ifm_arm *arm,
                                        struct ifm_arena *arena, struct ifm_error *error)
{
    struct opened opened;
    IFM_TRY(bind_arm(workload, arm, "cpu", arena, &opened, error));
    return opened.by->ready(&opened.opening, error);
}

#endif
