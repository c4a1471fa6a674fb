/* The table of knobs that can be locked. */
#include "lock/private.h"

#include <string.h>

static const struct ifm_lock_kind *const kinds[] = {
    &ifm_lock_persistence,   &ifm_lock_power_limit,   &ifm_lock_memory_clock, &ifm_lock_gpu_clock,
    &ifm_lock_frequency_min, &ifm_lock_frequency_max, &ifm_lock_governor,     &ifm_lock_turbo,
};

const struct ifm_lock_kind *ifm_lock_kind_find(const char *knob)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i]->knob, knob) == 0)
            return kinds[i];
    return NULL;
}
