/* Accumulators of a GPU before and after. */
#include "derive/gpu_held.h"

#include <string.h>

/* The readings of one moment: an array of GPUs, or NULL. */
static const json_t *gpus_of(const json_t *event)
{
    const char *stage = json_string_value(json_object_get(event, "stage"));
    const json_t *gpus = json_object_get(json_object_get(event, "meta"), "gpus");
    return stage != NULL && strcmp(stage, "gpu_state") == 0 && json_is_array(gpus) ? gpus : NULL;
}

static const json_t *gpu_at(const json_t *gpus, json_int_t index)
{
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *gpu = json_array_get(gpus, i), *own = json_object_get(gpu, "index");
        if (json_is_integer(own) && json_integer_value(own) == index)
            return gpu;
    }
    return NULL;
}

size_t ifm_derive_gpu_held(const json_t *events, struct ifm_arena *arena, struct ifm_gpu_held **out)
{
    const json_t *first = NULL, *last = NULL, *gpu;
    size_t n = 0, capacity = 0, index;
    const char *name;
    json_t *value;
    *out = NULL;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *gpus = gpus_of(json_array_get(events, i));
        first = first == NULL ? gpus : first;
        last = gpus != NULL ? gpus : last;
    }
    json_array_foreach((json_t *)last, index, value)
    {
        json_int_t which = json_integer_value(json_object_get(value, "index"));
        const json_t *before = json_object_get(gpu_at(first, which), "accumulators");
        gpu = json_object_get(value, "accumulators");
        json_object_foreach((json_t *)gpu, name, value)
        {
            const json_t *was = json_object_get(before, name);
            if (first == last || !json_is_integer(value) || !json_is_integer(was) || json_integer_value(was) < 0 ||
                json_integer_value(value) < json_integer_value(was))
                continue;
            IFM_ARENA_GROW(arena, *out, n, capacity);
            (*out)[n++] = (struct ifm_gpu_held){which, name, json_integer_value(value) - json_integer_value(was)};
        }
    }
    return n;
}
