/* The dispatch table: one row per operation and instruction set. */
#include "kernel/cpu/dispatch.h"

#include "kernel/cpu/isa.h"
#include "kernel/cpu/kernels.h"

#include <string.h>

/* Scalar and SSE2 multiply and add in two instructions; the count of operations is the same. */
#define STREAM_ROWS(set)                                                                                               \
    {"read.linear", #set, {.read = ifm_read_linear_##set}, 0},                                                         \
        {"read.streams4", #set, {.read = ifm_read_streams4_##set}, 0},                                                 \
        {"read.prefetch", #set, {.read = ifm_read_prefetch_##set}, 0},                                                 \
        {"write.store", #set, {.write = ifm_write_store_##set}, 0},                                                    \
        {"copy.load_store", #set, {.copy = ifm_copy_load_store_##set}, 0},
#define NONTEMPORAL_ROWS(set)                                                                                          \
    {"write.nontemporal", #set, {.write = ifm_write_nontemporal_##set}, 0},                                            \
        {"copy.nontemporal", #set, {.copy = ifm_copy_nontemporal_##set}, 0},
#define COMPUTE_ROWS(set, lanes)                                                                                       \
    {"flops.fma8", #set, {.flops = ifm_flops_fma8_##set}, 2 * 2 * 8 * (lanes)},                                        \
        {"flops.fma12", #set, {.flops = ifm_flops_fma12_##set}, 2 * 2 * 12 * (lanes)},                                 \
        {"flops.fma16", #set, {.flops = ifm_flops_fma16_##set}, 2 * 2 * 16 * (lanes)},
/* Two steps a round, four products a lane, each a multiplication and an addition. */
#define DOTS_ROWS(set, lanes) {"int8.dot12", #set, {.dots = ifm_dots_dot12_##set}, 2 * 4 * 2 * 12 * (lanes)},
#define KV_ENCODE_ROWS(set)                                                                                            \
    {"kv_encode.f16", #set, {.kv_encode = ifm_kv_encode_f16_##set}, 0},                                                \
        {"kv_encode.int8", #set, {.kv_encode = ifm_kv_encode_int8_##set}, 0},                                          \
        {"kv_encode.e4m3", #set, {.kv_encode = ifm_kv_encode_e4m3_##set}, 0},                                          \
        {"kv_encode.int4", #set, {.kv_encode = ifm_kv_encode_int4_##set}, 0},                                          \
        {"kv_encode.int2", #set, {.kv_encode = ifm_kv_encode_int2_##set}, 0},
#define ATTENTION_ROWS(set)                                                                                            \
    {"attention.tiled", #set, {.attention = ifm_attention_tiled_##set}, 0},                                            \
        {"attention.softmax", #set, {.softmax = ifm_attention_softmax_##set}, 0},                                      \
        {"attention.widen", #set, {.widen = ifm_attention_widen_##set}, 0},                                            \
        {"attention.store", #set, {.store = ifm_attention_store_##set}, 0},

#define GEMM_CODES_ROWS(set)                                                                                           \
    {"gemm.int8", #set, {.gemm = ifm_gemm_int8_##set}, 0}, {"gemm.int4", #set, {.gemm = ifm_gemm_int4_##set}, 0},
#define GEMM_ROWS(set)                                                                                                 \
    {"gemm.f32", #set, {.gemm = ifm_gemm_f32_##set}, 0}, {"gemm.bf16", #set, {.gemm = ifm_gemm_bf16_##set}, 0},        \
        GEMM_CODES_ROWS(set)

#define KV_PLAIN_ROWS(set)                                                                                             \
    {"kv_attend.f16", #set, {.kv_attend = ifm_kv_attend_f16_##set}, 0},                                                \
        {"kv_attend.e4m3", #set, {.kv_attend = ifm_kv_attend_e4m3_##set}, 0},
#define KV_CODED_ROWS(set)                                                                                             \
    {"kv_attend.int8", #set, {.kv_attend = ifm_kv_attend_int8_##set}, 0},                                              \
        {"kv_attend.int4", #set, {.kv_attend = ifm_kv_attend_int4_##set}, 0},                                          \
        {"kv_attend.int2", #set, {.kv_attend = ifm_kv_attend_int2_##set}, 0},

static void write_memset(void *to, size_t bytes, uint64_t pattern)
{
    memset(to, (int)(pattern & 0xff), bytes);
}

static void copy_memcpy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

/* One line for each instruction set; clang-format would join them. */
/* clang-format off */
static const struct ifm_kernel table[] = {
#if defined(__x86_64__)
    GEMM_CODES_ROWS(avx512vnni) KV_CODED_ROWS(avx512vnni) DOTS_ROWS(avx512vnni, 16)
    STREAM_ROWS(avx512) NONTEMPORAL_ROWS(avx512) COMPUTE_ROWS(avx512, 16) ATTENTION_ROWS(avx512) GEMM_ROWS(avx512)
    KV_ENCODE_ROWS(avx512) KV_PLAIN_ROWS(avx512) DOTS_ROWS(avx512, 16)
    STREAM_ROWS(avx2) NONTEMPORAL_ROWS(avx2) COMPUTE_ROWS(avx2, 8) ATTENTION_ROWS(avx2) GEMM_ROWS(avx2)
    KV_ENCODE_ROWS(avx2) KV_PLAIN_ROWS(avx2) KV_CODED_ROWS(avx2) DOTS_ROWS(avx2, 8)
    STREAM_ROWS(sse2) NONTEMPORAL_ROWS(sse2) COMPUTE_ROWS(sse2, 4) ATTENTION_ROWS(sse2)
    NONTEMPORAL_ROWS(scalar)
#endif
    STREAM_ROWS(scalar) COMPUTE_ROWS(scalar, 1) ATTENTION_ROWS(scalar) GEMM_ROWS(scalar)
    KV_ENCODE_ROWS(scalar) KV_PLAIN_ROWS(scalar) KV_CODED_ROWS(scalar) DOTS_ROWS(scalar, 1)
    {"write.memset", "", {.write = write_memset}, 0},
    {"copy.memcpy", "", {.copy = copy_memcpy}, 0},
    {"caches.chase", "", {.chase = ifm_caches_chase}, 0},
    {"clock.chain", "", {.clock = ifm_clock_chain}, 0},
};
/* clang-format on */

const struct ifm_kernel *ifm_kernels(size_t *n)
{
    *n = sizeof table / sizeof table[0];
    return table;
}

static const struct ifm_kernel *find_exactly(const char *op, const char *isa)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].op, op) == 0 && (table[i].isa[0] == '\0' || strcmp(table[i].isa, isa) == 0))
            return &table[i];
    return NULL;
}

const struct ifm_kernel *ifm_kernel_find(const char *op, const char *isa)
{
    const struct ifm_kernel *found = NULL;
    const char *const *names;
    size_t n;
    ifm_isas(&names, &n);
    if (strcmp(isa, "auto") == 0) {
        for (size_t i = 0; i < n && found == NULL; i++)
            found = find_exactly(op, names[i]);
        return found;
    }
    found = find_exactly(op, isa);
    return found == NULL && strcmp(isa, "avx512vnni") == 0 ? find_exactly(op, "avx512") : found;
}
