/* What workloads share when they describe their arms and say what ran. Called outside timed regions. */
#ifndef IFM_WORKLOAD_DATA_DATA_H
#define IFM_WORKLOAD_DATA_DATA_H

#include "device/device.h"
#include "dyn/openblas.h"
#include "kernel/cpu/dispatch.h"
#include "model/catalog.h"
#include "model/facts.h"

/* a * b, or UINT64_MAX where that overflows: a size that no machine has. */
uint64_t ifm_data_mul(uint64_t a, uint64_t b);
uint64_t ifm_data_add(uint64_t a, uint64_t b);

/* Whether `machine` runs kernels for `isa` ("auto" always); else a sentence in the arena that says why not. */
const char *ifm_data_isa_why_not(const char *isa, const struct ifm_machine *machine, struct ifm_arena *arena);

/* check->isa: the instruction set of `kernel`, or of an arm without one the core type that `blas` works with. */
void ifm_data_says_code(const struct ifm_kernel *kernel, const struct ifm_openblas *blas, struct ifm_check *check);

/* Whether steps compute anything: a scripted device only advances its clock, so there is no output to check. */
bool ifm_data_computes(const struct ifm_machine *machine);

#endif
