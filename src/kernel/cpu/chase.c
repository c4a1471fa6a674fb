/* Dependent loads: each 64-byte line holds the byte offset of the next, so that the latency of the memory level limits
 * the chain. */
#include "kernel/cpu/kernels.h"

static uint64_t next(const unsigned char *lines, uint64_t offset)
{
    return *(const uint64_t *)(const void *)(lines + offset);
}

void ifm_caches_chase(const void *lines, uint64_t position[IFM_CHAINS], uint64_t loads)
{
    uint64_t at[IFM_CHAINS];
    for (int i = 0; i < IFM_CHAINS; i++)
        at[i] = position[i];
    for (uint64_t load = 0; load < loads; load++)
        for (int i = 0; i < IFM_CHAINS; i++)
            at[i] = next(lines, at[i]);
    for (int i = 0; i < IFM_CHAINS; i++)
        position[i] = at[i];
}
