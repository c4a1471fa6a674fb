/* Accumulators of a GPU before and after. */
#include "derive/gpu_held.h"

#include "model/machine_facts.h"

size_t ifm_derive_gpu_held(const struct ifm_events *events, struct ifm_arena *arena, struct ifm_gpu_held **out)
{
    const json_t *first = NULL, *last = NULL;
    const char *name;
    size_t n = 0, capacity = 0;
    *out = NULL;
    /* The first and the last moment of the run, whatever became of the cells in between. */
    for (size_t i = 0; events != NULL && i < events->n; i++) {
        const struct ifm_event_gpu_state *state = events->items[i].facts;
        if (events->items[i].stage != IFM_STAGE_gpu_state || !json_is_array(state->gpus))
            continue;
        first = first == NULL ? state->gpus : first;
        last = state->gpus;
    }
    for (size_t i = 0; first != last && i < json_array_size(last); i++) {
        const json_t *gpu = json_array_get(last, i), *before = ifm_gpu_at(first, ifm_gpu_index(gpu));
        for (size_t k = 0; (name = ifm_gpu_accumulator(gpu, k)) != NULL; k++) {
            struct ifm_gpu_fact now = ifm_gpu_fact(gpu, "accumulators", name);
            struct ifm_gpu_fact was = ifm_gpu_fact(before, "accumulators", name);
            if (!now.whole || !was.whole || was.integer < 0 || now.integer < was.integer)
                continue;
            IFM_ARENA_GROW(arena, *out, n, capacity);
            (*out)[n++] = (struct ifm_gpu_held){ifm_gpu_index(gpu), name, now.integer - was.integer};
        }
    }
    return n;
}
