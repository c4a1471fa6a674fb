/* Data and machinery that workloads share: reproducible values, independent of the number of threads.
 *
 * Thread rule: called by the thread that drives the device, outside timed regions. */
#ifndef IFM_WORKLOAD_DATA_DATA_H
#define IFM_WORKLOAD_DATA_DATA_H

#include "device/device.h"
#include "kernel/cpu/dispatch.h"
#include "model/catalog.h"
#include "model/facts.h"

/* Fill `to` with `n` values of nearly normal distribution, mean 0 and variance 1, that depend on (seed, stream) and
 * their index only. Each is the scaled sum of four random bytes: 1021 levels, range +-3.45, excess kurtosis -0.3. */
void ifm_data_normal(struct ifm_device *device, unsigned threads, uint64_t seed, uint32_t stream, float *to, size_t n);

/* a * b, or UINT64_MAX where that overflows: a size that no machine has. */
uint64_t ifm_data_mul(uint64_t a, uint64_t b);
uint64_t ifm_data_add(uint64_t a, uint64_t b);

/* Whether `machine` runs kernels for `isa` ("auto" always); else a sentence in the arena that says why not. */
const char *ifm_data_isa_why_not(const char *isa, const struct ifm_machine *machine, struct ifm_arena *arena);

/* The kernel that `isa` stands for on `machine`: "auto" takes the best set that has one. NULL when there is none. */
const struct ifm_kernel *ifm_data_kernel(const char *op, const char *isa, const struct ifm_machine *machine);
/* "ours (AVX-512)": who computes, with the instruction set that was chosen ("" = none was). In the arena. */
const char *ifm_data_title(const char *who, const char *isa, struct ifm_arena *arena);

/* check->isa: the code that made the outputs, unless its name is too long: half a name is another name. */
void ifm_data_says_code(const char *name, struct ifm_check *check);

#endif
