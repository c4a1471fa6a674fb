/* What the kernels of src/kernel/cuda do, in C on the host: the same words from the same arguments. */
#include "fake_cuda/kernels.h"
#include "fake_cuda/internal.h"
#include "fake_cudnn/fake_cudnn.h"

#include "kernel/cuda/flash.h"
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/kv_append.h"
#include "kernel/cuda/kv_pack.h"
#include "kernel/cuda/matrix.h"
#include "kernel/cuda/null.h"
#include "kernel/cuda/packed.h"
#include "kernel/cuda/stamp.h"
#include "kernel/cuda/stream.h"
#include <math.h>
#include <string.h>

static bool owns(const void *address, uint64_t bytes)
{
    return fake_cuda_owns((uint64_t)(uintptr_t)address, bytes);
}

static bool run_null(const struct fake_launch *launch, bool wrong)
{
    (void)launch;
    (void)wrong;
    return true;
}

static bool run_null_spin(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_null_spin_arguments *a = (const void *)launch->arguments;
    if (!owns(a->value, sizeof *a->value))
        return false;
    *a->value += a->n * (a->n - 1) / 2 + wrong;
    return true;
}

static bool run_fill_source(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_stream_fill *a = (const void *)launch->arguments;
    if (!owns(a->to, a->words * sizeof *a->to))
        return false;
    for (uint64_t i = 0; i < a->words; i++)
        a->to[i] = (a->seed + i) * IFM_STREAM_GOLDEN;
    a->to[0] ^= wrong;
    return true;
}

static bool run_spoil(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_stream_spoil *a = (const void *)launch->arguments;
    if (!owns(a->to, a->words * sizeof *a->to))
        return false;
    for (uint64_t i = 0; i < a->words + a->stride - 1; i += a->stride) {
        const uint64_t at = i < a->words ? i : a->words - 1;
        a->to[at] = ~(a->pattern != 0 ? a->pattern : (a->seed + at) * IFM_STREAM_GOLDEN);
    }
    a->to[0] ^= wrong;
    return true;
}

static bool run_count_wrong(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_stream_count *a = (const void *)launch->arguments;
    if (!owns(a->at, a->words * sizeof *a->at) || !owns(a->wrong, sizeof *a->wrong))
        return false;
    for (uint64_t i = 0; i < a->words; i++)
        *a->wrong += a->at[i] != (a->pattern != 0 ? a->pattern : (a->seed + i) * IFM_STREAM_GOLDEN);
    *a->wrong += wrong;
    return true;
}

/* One partial sum a warp; which words a warp adds does not matter to the sum of all. */
static bool run_read(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_stream_read *a = (const void *)launch->arguments;
    const uint64_t warps = (uint64_t)launch->blocks * launch->threads / 32, *at = a->from;
    if (warps == 0 || !owns(a->from, a->bytes) || !owns(a->sums, warps * sizeof *a->sums))
        return false;
    memset(a->sums, 0, warps * sizeof *a->sums);
    for (uint64_t i = 0; i < a->bytes / sizeof *at; i++)
        a->sums[i % warps] += at[i];
    a->sums[0] ^= wrong;
    return true;
}

static bool run_write_store(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_stream_write *a = (const void *)launch->arguments;
    uint64_t *to = a->to;
    if (!owns(to, a->bytes))
        return false;
    for (uint64_t i = 0; i < a->bytes / sizeof *to; i++)
        to[i] = a->pattern;
    to[0] ^= wrong;
    return true;
}

static bool copy_bytes(const struct ifm_stream_copy *a, uint64_t bytes, bool wrong)
{
    if (!owns(a->to, bytes) || !owns(a->from, bytes))
        return false;
    memcpy(a->to, a->from, bytes);
    *(unsigned char *)a->to ^= wrong;
    return true;
}

/* A thread a vector of 16 bytes: what lies beyond the grid is not copied, as on a device. */
static bool run_copy_flat(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_stream_copy *a = (const void *)launch->arguments;
    const uint64_t reach = 16 * (uint64_t)launch->blocks * launch->threads;
    return copy_bytes(a, a->bytes < reach ? a->bytes : reach, wrong);
}

static bool run_copy_bulk(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_stream_copy *a = (const void *)launch->arguments;
    return copy_bytes(a, a->bytes, wrong);
}

/* What a thread of lane `lane` leaves. */
static float flops_of(const struct ifm_stream_flops *a, unsigned lane)
{
    float sum = 0;
    for (int i = 0; i < IFM_STREAM_FLOPS_CHAINS; i++) {
        float x = (float)lane + 0.125f * (float)i;
        for (uint64_t r = 0; r < a->rounds; r++)
            x = fmaf(x, a->factor, a->term);
        sum += x;
    }
    return sum;
}

/* The rounds are done once for each set of arguments. */
static bool run_flops_fma(const struct fake_launch *launch, bool wrong)
{
    static struct ifm_stream_flops known;
    static float lanes[32];
    const struct ifm_stream_flops *a = (const void *)launch->arguments;
    uint64_t threads = (uint64_t)launch->blocks * launch->threads;
    if (!owns(a->out, threads * sizeof *a->out))
        return false;
    for (unsigned lane = 0; lane < 32 && memcmp(&known, a, offsetof(struct ifm_stream_flops, out)) != 0; lane++)
        lanes[lane] = flops_of(a, lane);
    known = *a;
    for (uint64_t i = 0; i < threads; i++)
        a->out[i] = lanes[i % 32];
    a->out[0] += wrong ? 1.0f : 0.0f;
    return true;
}

/* A factor of the matrix probe: +-[0.5, 1) in bf16. */
static float factor_of(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + i) * 0x9E3779B97F4A7C15ULL;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    uint32_t bits = (uint32_t)((x & 0x807f) | 0x3f00) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The tile of block 0; products of one round, added up once for a seed, times the rounds: what f32 sums come to but for
 * rounding. */
static bool run_matrix_bf16(const struct fake_launch *launch, bool wrong)
{
    enum { ROWS = IFM_MATRIX_ROWS, COLUMNS = IFM_MATRIX_COLUMNS, DEPTH = IFM_MATRIX_DEPTH };
    const struct ifm_matrix_arguments *a = (const void *)launch->arguments;
    static float products[ROWS * COLUMNS];
    static uint64_t known;
    static bool is_known;
    if (!owns(a->out, sizeof products))
        return false;
    for (uint64_t i = 0; i < ROWS * COLUMNS && !(is_known && known == a->seed); i++) {
        products[i] = 0;
        for (uint64_t k = 0; k < DEPTH; k++)
            products[i] +=
                factor_of(a->seed, i / COLUMNS * DEPTH + k) * factor_of(a->seed, (ROWS + i % COLUMNS) * DEPTH + k);
    }
    is_known = true;
    known = a->seed;
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++)
        a->out[i] = products[i] * (float)a->rounds;
    a->out[0] *= wrong ? 1.5f : 1.0f;
    return true;
}

/* A block a multiprocessor, in turn: two blocks of one leave the same. */
static bool run_stamp(const struct fake_launch *launch, bool wrong)
{
    enum { MULTIPROCESSORS = 2 };
    const struct ifm_stamp_arguments *a = (const void *)launch->arguments;
    if (!owns(a->out, launch->blocks * sizeof *a->out))
        return false;
    for (unsigned i = 0; i < launch->blocks; i++)
        a->out[i] =
            (struct ifm_stamp){(i + wrong) % MULTIPROCESSORS, 0, fake_cuda_cycles() + 1000 * i, fake_cuda_now_ns()};
    return true;
}

/* The kernel, and the one over views. */
#define ATTENTION(name, by)                                                                                            \
    {"ifm_" name, sizeof(struct ifm_attention_arguments), fake_attention_##by},                                        \
        {"ifm_" name "_strided", sizeof(struct ifm_attention_strided), fake_attention_##by##_strided},
#define FLASH_F16(dim, tiles, warps, keys, part, blocks) ATTENTION("flash_f16_" #dim, flash)
#define FLASH_BF16(dim, tiles, warps, keys, part, blocks) ATTENTION("flash_bf16_" #dim, flash)
#define HOPPER(dim, groups, keys, blocks)                                                                              \
    ATTENTION("hopper_f16_" #dim "_" #groups, hopper) ATTENTION("hopper_bf16_" #dim "_" #groups, hopper)

#define GEMM_BY(kernel, name)                                                                                          \
    {                                                                                                                  \
        "ifm_gemm_" name, sizeof(struct ifm_cuda_gemm), kernel                                                         \
    }
/* Groups of at most 4 heads, and more. */
#define PACKED(of)                                                                                                     \
    {"ifm_packed_" of, sizeof(struct ifm_packed_attend), fake_packed_split},                                           \
    {                                                                                                                  \
        "ifm_packed_many_" of, sizeof(struct ifm_packed_attend), fake_packed_split                                     \
    }
#define GEMM(weights)                                                                                                  \
    GEMM_BY(fake_gemm_mma, "mma_" weights "_8"), GEMM_BY(fake_gemm_mma, "mma_" weights "_16"),                         \
        GEMM_BY(fake_gemm_mma, "mma_" weights "_32"), GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_64_1_1"),            \
        GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_64_2_1"), GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_128_1_1"),   \
        GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_128_2_1")
#define GEMM_WIDE(weights)                                                                                             \
    GEMM(weights), GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_64_1_2"),                                               \
        GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_128_1_2"), GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_128_2_2"),  \
        GEMM_BY(fake_gemm_wgmma, "wgmma_" weights "_128_4_1"), GEMM_TMA(weights, "_128"), GEMM_TMA(weights, "_192"),   \
        GEMM_TMA(weights, "_256")
#define GEMM_TMA(weights, columns)                                                                                     \
    {"ifm_gemm_tma_" weights columns, sizeof(struct ifm_cuda_gemm_tma), fake_gemm_tma},                                \
    {                                                                                                                  \
        "ifm_gemm_tma_part_" weights columns, sizeof(struct ifm_cuda_gemm_tma), fake_gemm_tma_part                     \
    }

const struct fake_kernel fake_kernels[] = {
    {"ifm_null", 0, run_null},
    {"ifm_null_spin", sizeof(struct ifm_null_spin_arguments), run_null_spin},
    {"ifm_fill_source", sizeof(struct ifm_stream_fill), run_fill_source},
    {"ifm_spoil", sizeof(struct ifm_stream_spoil), run_spoil},
    {"ifm_count_wrong", sizeof(struct ifm_stream_count), run_count_wrong},
    {"ifm_read_linear", sizeof(struct ifm_stream_read), run_read},
    {"ifm_read_bulk", sizeof(struct ifm_stream_read), run_read},
    {"ifm_write_store", sizeof(struct ifm_stream_write), run_write_store},
    {"ifm_copy_flat", sizeof(struct ifm_stream_copy), run_copy_flat},
    {"ifm_copy_bulk", sizeof(struct ifm_stream_copy), run_copy_bulk},
    {"ifm_flops_fma", sizeof(struct ifm_stream_flops), run_flops_fma},
    {"ifm_matrix_bf16", sizeof(struct ifm_matrix_arguments), run_matrix_bf16},
    {"ifm_gemm_naive_f16", sizeof(struct ifm_cuda_gemm), fake_gemm_naive},
    {"ifm_gemm_naive_bf16", sizeof(struct ifm_cuda_gemm), fake_gemm_naive},
    {"ifm_gemm_naive_int8", sizeof(struct ifm_cuda_gemm), fake_gemm_naive},
    {"ifm_gemm_naive_int4", sizeof(struct ifm_cuda_gemm), fake_gemm_naive},
    {"ifm_gemm_reference", sizeof(struct ifm_cuda_gemm), fake_gemm_reference},
    GEMM_WIDE("f16"),
    GEMM_WIDE("bf16"),
    GEMM("int8_128"),
    GEMM("int8_64"),
    GEMM("int8_32"),
    GEMM("int4_128"),
    GEMM("int4_64"),
    GEMM("int4_32"),
    GEMM_BY(fake_gemm_row, "row_int4_128"),
    GEMM_BY(fake_gemm_row, "row_int4_64"),
    GEMM_BY(fake_gemm_row, "row_int4_32"),
    {"fake_cublaslt", sizeof(struct ifm_cuda_gemm), fake_gemm_library},
    ATTENTION("attention_naive_f32", naive) ATTENTION("attention_naive_bf16", naive)
        ATTENTION("attention_naive_f16", naive) ATTENTION("attention_reference", reference) IFM_FLASH_KERNELS(FLASH_F16)
            IFM_FLASH_KERNELS(FLASH_BF16)
                IFM_HOPPER_KERNELS(HOPPER){"fake_cudnn", sizeof(struct fake_sdpa), fake_attention_library},
    {"ifm_stamp", sizeof(struct ifm_stamp_arguments), run_stamp},
    {"ifm_decode_naive", sizeof(struct ifm_decode_attend), fake_decode_naive},
    {"ifm_decode_split_64", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_split_128", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_parts_128", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_cluster_64_2", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_cluster_64_4", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_cluster_64_8", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_cluster_128_2", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_cluster_128_4", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_cluster_128_8", sizeof(struct ifm_decode_attend), fake_decode_split},
    {"ifm_decode_digest", sizeof(struct ifm_decode_digest_of), fake_decode_digest},
    {"ifm_decode_advance", sizeof(struct ifm_decode_advance_of), fake_decode_advance},
    {"ifm_decode_rewind", sizeof(struct ifm_decode_rewind_of), fake_decode_rewind},
    {"ifm_kv_pack_int8", sizeof(struct ifm_kv_pack), fake_kv_pack_int8},
    {"ifm_kv_pack_e4m3", sizeof(struct ifm_kv_pack), fake_kv_pack_e4m3},
    {"ifm_kv_pack_int4", sizeof(struct ifm_kv_pack), fake_kv_pack_int4},
    {"ifm_kv_pack_int2", sizeof(struct ifm_kv_pack), fake_kv_pack_int2},
    {"ifm_kv_advance", sizeof(struct ifm_kv_advance_of), fake_kv_advance},
    {"ifm_kv_arrange", sizeof(struct ifm_kv_arrange_of), fake_kv_arrange},
    {"ifm_packed_plain", sizeof(struct ifm_packed_attend), fake_packed_plain},
    PACKED("int8_64"),
    PACKED("int8_128"),
    PACKED("e4m3_64"),
    PACKED("e4m3_128"),
    PACKED("int4_64"),
    PACKED("int4_128"),
    PACKED("int2_64"),
    PACKED("int2_128"),
    {"ifm_packed_pair_int4_128", sizeof(struct ifm_packed_attend), fake_packed_pair},
    {"ifm_packed_finish", sizeof(struct ifm_packed_attend), fake_packed_finish},
    {"ifm_packed_probe", sizeof(struct ifm_packed_probe_of), fake_packed_probe},
    {"ifm_packed_probe_bytes", sizeof(struct ifm_packed_probe_bytes_of), fake_packed_probe_bytes},
    FAKE_PLUGIN_KERNELS{NULL, 0, NULL},
};
