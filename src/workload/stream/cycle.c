/* Sattolo's algorithm over line numbers, a quarter of the size of the lines' own words, then one pass over the lines.
 * Source: Sattolo, "An algorithm to generate a random cyclic permutation", Inf. Process. Lett. 22 (1986). */
#include "workload/stream/cycle.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64, STREAM_CYCLE = 17 };

enum ifm_status ifm_cycle_write(void *buffer, size_t lines, uint64_t seed, uint64_t *starts, size_t chains,
                                struct ifm_error *error)
{
    uint32_t *next = malloc(lines * sizeof *next);
    if (next == NULL)
        return ifm_fail(error, IFM_INTERNAL, "stream.caches", NULL, "out of memory");
    for (size_t i = 0; i < lines; i++)
        next[i] = (uint32_t)i;
    struct ifm_random random = ifm_random_start(seed, STREAM_CYCLE);
    for (size_t i = lines - 1; i > 0; i--) {
        size_t j = ifm_random_below(&random, (uint32_t)i); /* below i, never i itself: that makes it one cycle */
        uint32_t line = next[i];
        next[i] = next[j];
        next[j] = line;
    }
    for (size_t i = 0; i < lines; i++) {
        uint64_t offset = (uint64_t)next[i] * LINE;
        memcpy((unsigned char *)buffer + i * LINE, &offset, sizeof offset);
    }
    size_t each = lines / chains, line = 0;
    for (size_t chain = 0; chain < chains; chain++) {
        starts[chain] = (uint64_t)line * LINE;
        for (size_t i = 0; i < each; i++)
            line = next[line];
    }
    free(next);
    return IFM_OK;
}
