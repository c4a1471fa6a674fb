/* What held the clock of a GPU down while the run went on: differences of the accumulators that the events gpu_state
 * hold. Pure; thread rule: no shared state. */
#ifndef IFM_DERIVE_GPU_HELD_H
#define IFM_DERIVE_GPU_HELD_H

#include "model/event.h"

struct ifm_gpu_held {
    int64_t gpu;      /* NVML's index */
    const char *name; /* "power_cap_ns", as in the event */
    int64_t ns;       /* between the first and the last reading of the run */
};

/* Every accumulator that both readings have; one that ran backwards (the driver was loaded again) is left out. In the
 * order of the events. The names are the events' own strings. */
size_t ifm_derive_gpu_held(const struct ifm_events *events, struct ifm_arena *arena, struct ifm_gpu_held **out);

#endif
