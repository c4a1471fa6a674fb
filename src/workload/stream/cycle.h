/* A random cycle through all cache lines of a buffer: what the knee sweep follows.
 *
 * Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_STREAM_CYCLE_H
#define IFM_WORKLOAD_STREAM_CYCLE_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

/* Write into the first eight bytes of each 64-byte line of `buffer` the byte offset of the next line of one cycle
 * through all `lines` lines (at most 2^32 - 1), drawn evenly from all such cycles by `seed`; then put into
 * `starts[i]` the offset of the line that is i * (lines / chains) steps after line 0. */
IFM_CHECKED enum ifm_status ifm_cycle_write(void *buffer, size_t lines, uint64_t seed, uint64_t *starts, size_t chains,
                                            struct ifm_error *error);

#endif
