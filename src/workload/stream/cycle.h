/* A random cycle through all cache lines of a buffer: what the knee sweep follows.
 *
 * A formula says which line comes behind which, so that any part of a buffer is written and checked by itself, front to
 * back, and the end of a walk is known without walking. Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_STREAM_CYCLE_H
#define IFM_WORKLOAD_STREAM_CYCLE_H

#include <stddef.h>
#include <stdint.h>

enum { IFM_CYCLE_ROUNDS = 8, IFM_CYCLE_LINE = 64 };

struct ifm_cycle {
    uint32_t lines;
    unsigned low; /* bits of the lower half of a number */
    uint32_t masks[2];
    uint64_t factors[IFM_CYCLE_ROUNDS], terms[IFM_CYCLE_ROUNDS];
};

/* Of `lines` lines, 2 to 2^31. Every seed has another one. */
struct ifm_cycle ifm_cycle_of(uint64_t seed, uint32_t lines);
/* The byte offset of the line that is `place` steps after the first one; `place` is below `lines`. */
uint64_t ifm_cycle_at(const struct ifm_cycle *cycle, uint32_t place);
/* Writes into the first eight bytes of each line from `first` up to `end` the byte offset of the line behind it. */
void ifm_cycle_write(const struct ifm_cycle *cycle, void *buffer, uint32_t first, uint32_t end);
/* How many of these lines lead elsewhere. */
uint64_t ifm_cycle_wrong(const struct ifm_cycle *cycle, const void *buffer, uint32_t first, uint32_t end);

#endif
