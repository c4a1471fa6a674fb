/* The probes of stream, opened: what runs, on which memory, and whether it did what it says.
 *
 * `stream.c` describes arms; this runs one. Thread rule: the thread that drives the device. */
#ifndef IFM_WORKLOAD_STREAM_PROBE_H
#define IFM_WORKLOAD_STREAM_PROBE_H

#include "kernel/cpu/dispatch.h"
#include "workload/workload.h"

enum ifm_probe {
    IFM_PROBE_READ = 0,
    IFM_PROBE_WRITE,
    IFM_PROBE_COPY,
    IFM_PROBE_FLOPS,
    IFM_PROBE_MATRIX,
    IFM_PROBE_CACHES
};

/* Row "probe.shape" of the dispatch table for the arm; a caches arm's variant is its size, not a shape. NULL when
 * the build has none. */
const struct ifm_kernel *ifm_stream_kernel(enum ifm_probe probe, const char *variant, const char *isa);

IFM_CHECKED enum ifm_status ifm_stream_open(const struct ifm_arm *arm, enum ifm_probe probe, const char *isa,
                                            struct ifm_device *device, unsigned threads, uint64_t seed,
                                            struct ifm_workload_state **out, struct ifm_error *error);
void ifm_stream_step(struct ifm_workload_state *state, uint64_t n);
IFM_CHECKED enum ifm_status ifm_stream_check(struct ifm_workload_state *state, struct ifm_check *out,
                                             struct ifm_error *error);
void ifm_stream_close(struct ifm_workload_state *state);

#endif
