/* How busy a GPU's parts were over a stretch of seconds, by its own monitor (GPM of NVML, since Hopper): it works
 * beside a profiler, without privileges, and counts every program on the GPU.
 *
 * Its share of memory is of the monitor's own full scale, and not of what the bus can carry: readings of 100 % were
 * seen where bytes over time were 88 to 92 % of the bus. So it is never compared with dram_throughput_percent.
 * Thread rule: one thread. */
#ifndef IFM_INSTRUMENT_GPM_H
#define IFM_INSTRUMENT_GPM_H

#include "dyn/nvml.h"
#include <stdint.h>

struct ifm_gpm {
    const struct ifm_nvml *nvml;
    ifm_nvml_device device;
    ifm_nvml_gpm_sample from, to;
    int64_t start_ns;
    const char *why; /* "" = it can be sampled */
    int failed;      /* why the last start gave no sample */
};

/* Per cent; a part that the GPU did not tell of has NAN. `why` not NULL: nothing of it is a number. */
struct ifm_gpm_use {
    double seconds, memory, sm, occupancy, tensor;
    const char *why;
};

/* Begins; `nvml` NULL gives a use that is absent for `reason`. */
void ifm_gpm_begin(struct ifm_gpm *gpm, const struct ifm_nvml *nvml, const char *reason, unsigned gpu);
/* What happened since; frees what begin took. */
struct ifm_gpm_use ifm_gpm_end(struct ifm_gpm *gpm);

/* The same for several stretches, of the GPU at a PCI bus id. */
void ifm_gpm_open(struct ifm_gpm *gpm, const struct ifm_nvml *nvml, const char *reason, const char *bus);
void ifm_gpm_start(struct ifm_gpm *gpm);
struct ifm_gpm_use ifm_gpm_read(const struct ifm_gpm *gpm);
void ifm_gpm_close(struct ifm_gpm *gpm);

#endif
