/* What workloads share when they describe their arms and say what ran. Called outside timed regions. */
#ifndef IFM_WORKLOAD_DATA_DATA_H
#define IFM_WORKLOAD_DATA_DATA_H

#include "device/device.h"
#include "kernel/cpu/dispatch.h"
#include "model/catalog.h"
#include "model/facts.h"

/* a * b, or UINT64_MAX where that overflows: a size that no machine has. */
uint64_t ifm_data_mul(uint64_t a, uint64_t b);
uint64_t ifm_data_add(uint64_t a, uint64_t b);

/* Whether `machine` runs kernels for `isa` ("auto" always); else a sentence in the arena that says why not. */
const char *ifm_data_isa_why_not(const char *isa, const struct ifm_machine *machine, struct ifm_arena *arena);

/* The kernel that `isa` stands for on `machine`: "auto" takes the best set that has one. NULL when there is none. */
const struct ifm_kernel *ifm_data_kernel(const char *op, const char *isa, const struct ifm_machine *machine);
/* "ours (AVX-512)": who computes, with the instruction set that was chosen ("" = none was). In the arena. */
const char *ifm_data_title(const char *who, const char *isa, struct ifm_arena *arena);

/* IFM_USAGE where `needed` bytes are more than the machine has: "<what> 3 GiB of memory, but 2 GiB are available",
 * `what` being such as "the buffers need". */
IFM_CHECKED enum ifm_status ifm_data_check_memory(uint64_t needed, const struct ifm_machine *machine, const char *where,
                                                  const char *hint, const char *what, struct ifm_error *error);
/* The largest of what the arms need. */
uint64_t ifm_data_most_memory(const struct ifm_arm_list *arms);

/* `bytes` aligned to 64, as a kernel wants them; freed with free(). NULL without memory. */
void *ifm_data_aligned(size_t bytes);
/* All but the first of `count` pieces of `bytes` become copies of it, by all workers. */
void ifm_data_copy(struct ifm_device *device, unsigned threads, void *first, size_t bytes, uint64_t count);

/* What every check says of its outputs beside their errors: all are `finite`, their hash, and check->isa, the code that
 * made them, unless its name is too long: half a name is another name. */
void ifm_data_checked(const void *outputs, size_t bytes, bool finite, const char *code, struct ifm_check *check);
/* A check that was made. Equal bits of equal inputs have equal errors, so that none is computed twice. Starts as zeros.
 */
struct ifm_data_known {
    struct ifm_check check;
    uint64_t inputs; /* hash */
};
bool ifm_data_is_known(const struct ifm_data_known *known, uint64_t inputs, const void *outputs, size_t bytes);
/* The worse of two checks of the same outputs. */
void ifm_data_take_worse(struct ifm_check *out, const struct ifm_check *check);
/* The same of layers, which hold the same inputs and must give the same bits; the first one begins. */
void ifm_data_take_layer(struct ifm_check *out, const struct ifm_check *check, bool first);
bool ifm_data_finite(const float *values, size_t n);

#endif
