/* Instruction sets of this machine, as far as the kernels are compiled for them.
 *
 * "avx512vnni" is avx512 with byte dot products; "avx512" means x86-64-v4, "avx2" means x86-64-v3 (with FMA), "sse2" is
 * the x86-64 baseline and "scalar" is code that the compiler was told not to vectorise; elsewhere than on x86-64 only
 * "scalar" exists. A set counts as supported when the processor has it *and* the operating system saves its registers.
 * Thread rule: any thread; the processor is queried once, by the first caller. */
#ifndef IFM_KERNEL_CPU_ISA_H
#define IFM_KERNEL_CPU_ISA_H

#include <stdbool.h>
#include <stddef.h>

/* Every name that a build may know, best first, "auto" first of all: the choices of the `isa` parameters. */
#define IFM_ISA_CHOICES "auto|avx512vnni|avx512|avx2|sse2|scalar"
#define IFM_ISA_LIMIT 5

/* The name of choice `index` of IFM_ISA_CHOICES. */
const char *ifm_isa_name(int index);
/* The supported sets, best first, static storage; at least "scalar". */
void ifm_isas(const char *const **names, size_t *n);
/* The same into the caller's array; returns how many were stored. */
size_t ifm_isa_supported(const char **names, size_t limit);

#endif
