/* An arm of stream on the processor. Private to cpu.c, and to tests that spoil what it does.
 *
 * Thread rule: one thread drives it; it fans out through the device. */
#ifndef IFM_WORKLOAD_STREAM_RUN_H
#define IFM_WORKLOAD_STREAM_RUN_H

#include "kernel/cpu/dispatch.h"
#include "workload/stream/cycle.h"
#include "workload/stream/lent.h"
#include "workload/stream/stream.h"

struct ifm_stream_result {
    _Alignas(IFM_LINE) uint64_t sum; /* a line each, so that workers do not share one */
};

struct ifm_stream_run {
    struct ifm_device *device;
    const char *arm;
    unsigned threads;
    enum ifm_probe probe;
    const struct ifm_kernel *kernel;
    unsigned char *from, *to;
    struct ifm_stream_lent lent; /* instead of a source of its own: then `from` is the piece of this step, and `at` 0 */
    uint64_t bytes, rounds, loads;
    uint64_t at, now; /* the piece of this step, and its bytes: all, or those up to the end of the buffer */
    uint64_t *next;   /* where the next step over pieces begins, of all arms that share the buffer: what one of them has
                         just left in a cache is no memory to another */
    uint64_t seed, pattern;
    struct ifm_cycle cycle; /* of caches */
    uint64_t position[IFM_CHAINS], start[IFM_CHAINS];
    struct ifm_stream_result *results;
    /* what the check holds against it */
    struct ifm_stream_chosen asked;
    unsigned accumulators;  /* of flops */
    uint64_t steps, spoilt; /* since open, and then */
    uint64_t *wrong;        /* per worker */
};

#endif
