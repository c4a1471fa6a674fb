/* The kernels of the cpu device: one table of {operation, instruction set, function}.
 *
 * An operation is named "probe.shape" ("read.linear", "kv_attend.int4"). A kernel computes; it never allocates,
 * never reads a clock and knows no thread but its own. Thread rule: kernels are reentrant. */
#ifndef IFM_KERNEL_CPU_DISPATCH_H
#define IFM_KERNEL_CPU_DISPATCH_H

#include "kernel/cpu/attention.h"
#include "kernel/cpu/gemm.h"
#include "kernel/cpu/kv_attend.h"
#include "kv/format.h"
#include <stddef.h>
#include <stdint.h>

#define IFM_LINE 64                /* bytes; spans of the stream kernels start at a multiple */
#define IFM_CHAINS 8               /* independent chains of dependent loads in "caches.chase" */
#define IFM_FLOPS_SCALE 4194304.0f /* 2^22: what "flops" kernels multiply their lanes by before summing as integers */
#define IFM_CLOCK_CYCLES 128       /* cycles of a round of "clock.chain" */

/* Sum modulo 2^64 of the span as little-endian 64-bit words, the last one filled up with zero bytes. The value
 * does not depend on shape or instruction set, and spans that start at multiples of 8 add up. */
typedef uint64_t ifm_read_fn(const void *from, size_t bytes);
/* Fill the span with `pattern`, whose eight bytes are equal. */
typedef void ifm_write_fn(void *to, size_t bytes, uint64_t pattern);
typedef void ifm_copy_fn(void *to, const void *from, size_t bytes);
/* `rounds` x 2 fused steps x = x * factor + term on every lane of every accumulator; with factor -1 and term 3 each
 * lane is back at its start after a round, exactly. Returns the sum over lanes of x * IFM_FLOPS_SCALE. */
typedef uint64_t ifm_flops_fn(uint64_t rounds, float factor, float term);
/* `rounds` x 2 times, on every lane of every accumulator: lane += 4 x left x right, modulo 2^32. Lane j of accumulator
 * i starts at 17 i + j. Returns the sum over lanes. The factors are below 128, as byte products saturate. */
typedef uint64_t ifm_dots_fn(uint64_t rounds, uint8_t left, uint8_t right);
/* `rounds` x IFM_CLOCK_CYCLES additions of `step` from 0 on, each of which waits for the one before it. */
typedef uint64_t ifm_clock_fn(uint64_t rounds, uint64_t step);
/* Follow IFM_CHAINS chains of byte offsets, `loads` dependent loads each; `position` is read and updated. */
typedef void ifm_chase_fn(const void *lines, uint64_t position[IFM_CHAINS], uint64_t loads);

struct ifm_kernel {
    const char *op;
    const char *isa; /* "" = the same code on every instruction set */
    union {
        ifm_read_fn *read;
        ifm_write_fn *write;
        ifm_copy_fn *copy;
        ifm_flops_fn *flops;
        ifm_dots_fn *dots;
        ifm_clock_fn *clock;
        ifm_chase_fn *chase;
        ifm_gemm_fn *gemm;
        ifm_kv_encode_fn *kv_encode;
        ifm_attention_fn *attention;
        ifm_attention_softmax_fn *softmax;
        ifm_attention_widen_fn *widen;
        ifm_attention_store_fn *store;
        ifm_kv_attend_fn *kv_attend;
    } fn;
    unsigned flops_per_round; /* of "flops" and "int8" kernels: operations; else 0 */
};

/* The table, `*n` rows. */
const struct ifm_kernel *ifm_kernels(size_t *n);
/* The row of `op` ("read.linear") for `isa`; for "auto", that of the best supported set which has one; for
 * "avx512vnni", that of "avx512" where the byte dot products are of no use. NULL when the build has none. It does not
 * check whether the machine supports a named `isa`. */
const struct ifm_kernel *ifm_kernel_find(const char *op, const char *isa);

#endif
