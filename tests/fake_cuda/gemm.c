/* The kernels of gemm.cu, gemm_row.cu, gemm_mma.cu, gemm_wgmma.cu and gemm_tma.cu in C: products in f64 of what the
 * bytes of the weights mean. */
#include "fake_cuda/kernels.h"

#include "base/half.h"
#include "kernel/cuda/gemm.h"
#include <string.h>

/* How the codes of weights lie: as a processor's, or in the fragments of either instruction. */
enum order { PLAIN, OF_MMA, OF_WGMMA };
enum { PANEL = IFM_CUDA_GEMM_PANEL, LINE = IFM_CUDA_GEMM_LINE, VECTOR = IFM_CUDA_GEMM_VECTOR };

static bool owns(const void *address, uint64_t bytes)
{
    return fake_cuda_owns((uint64_t)(uintptr_t)address, bytes);
}

static double value_of(uint32_t format, uint16_t bits)
{
    return (double)(format == IFM_CUDA_GEMM_BF16 ? ifm_bf16_to_f32(bits) : ifm_f16_to_f32(bits));
}

static uint64_t group_bytes(const struct ifm_cuda_gemm *a)
{
    return a->group * PANEL / (a->format == IFM_CUDA_GEMM_INT4 ? 2 : 1);
}

static uint64_t panel_bytes(const struct ifm_cuda_gemm *a)
{
    const uint64_t groups = (a->k + a->group - 1) / a->group;
    return (groups + 1) / 2 * LINE + groups * group_bytes(a);
}

/* A code as it is stored, `in` counted from the start of its pair of groups where they are in fragments. */
static int code_at(const struct ifm_cuda_gemm *a, const unsigned char *codes, uint32_t row, uint32_t in,
                   enum order order)
{
    const uint32_t lane = row % 8 * 4 + (order == OF_MMA ? in % 32 / 8 : in % 8 / 2);
    const uint32_t e = order == OF_MMA ? in % 8 : in % 32 / 8 * 2 + in % 2;
    const bool is_int4 = a->format == IFM_CUDA_GEMM_INT4;
    uint32_t word;
    if (order == PLAIN)
        return is_int4 ? codes[in / 8 * LINE + 4 * row + in % 4] >> (in % 8 < 4 ? 0 : 4) & 15
                       : codes[in / 4 * LINE + 4 * row + in % 4];
    if (!is_int4)
        return codes[in / 32 * VECTOR + lane * 16 + (row / 8 * 2 + e / 4) * 4 + e % 4];
    memcpy(&word, codes + in / 64 * VECTOR + lane * 16 + (in / 32 % 2 * 2 + e / 2 % 2) * 4, sizeof word);
    return (int)(word >> (16 * (e % 2) + 8 * (row / 8) + 4 * (e / 4)) & 15);
}

static double weight_at(const struct ifm_cuda_gemm *a, uint32_t row, uint32_t k, enum order order)
{
    uint16_t scale;
    if (a->format <= IFM_CUDA_GEMM_BF16)
        return value_of(a->format, ((const uint16_t *)a->w)[(uint64_t)row * a->k + k]);
    const uint32_t g = k / a->group, lane = row % PANEL;
    const uint64_t codes_of_pair = 2 * group_bytes(a), lines = ((a->k + a->group - 1) / a->group + 1) / 2 * LINE;
    const unsigned char *panel = (const unsigned char *)a->w + row / PANEL * panel_bytes(a);
    const unsigned char *line = panel + g / 2 * (order != PLAIN ? LINE : LINE + codes_of_pair);
    memcpy(&scale, line + (g % 2 * PANEL + lane) * sizeof scale, sizeof scale);
    const int code = order != PLAIN ? code_at(a, panel + lines + g / 2 * codes_of_pair, lane, k % (2 * a->group), order)
                                    : code_at(a, line + LINE + g % 2 * group_bytes(a), lane, k % a->group, PLAIN);
    return (double)ifm_f16_to_f32(scale) * (code - (a->format == IFM_CUDA_GEMM_INT4 ? 8 : 128));
}

static bool is_fine(const struct ifm_cuda_gemm *a, uint64_t out_bytes)
{
    const uint64_t w =
        a->format <= IFM_CUDA_GEMM_BF16 ? (uint64_t)a->n * a->k * 2 : (a->n + PANEL - 1) / PANEL * panel_bytes(a);
    return a->format >= IFM_CUDA_GEMM_F16 && a->format <= IFM_CUDA_GEMM_INT4 && a->x_stride >= a->k && owns(a->w, w) &&
           owns(a->x, (uint64_t)a->m * a->x_stride * 2) && owns(a->out, (uint64_t)a->m * a->n * out_bytes);
}

static double product(const struct ifm_cuda_gemm *a, uint32_t m, uint32_t row, enum order order)
{
    const uint16_t *x = (const uint16_t *)a->x + (uint64_t)m * a->x_stride;
    double sum = 0;
    for (uint32_t k = 0; k < a->k; k++)
        sum += weight_at(a, row, k, order) * value_of(a->format, x[k]);
    return sum;
}

static bool multiply(const struct fake_launch *launch, bool wrong, enum order order)
{
    const struct ifm_cuda_gemm *a = (const void *)launch->arguments;
    if (!is_fine(a, sizeof(uint16_t)))
        return false;
    uint16_t *out = a->out;
    for (uint32_t m = 0; m < a->m; m++)
        for (uint32_t row = 0; row < a->n; row++) {
            const float sum = (float)product(a, m, row, order);
            out[(uint64_t)m * a->n + row] =
                a->format == IFM_CUDA_GEMM_BF16 ? ifm_f32_to_bf16(sum) : ifm_f32_to_f16(sum);
        }
    out[(uint64_t)a->m * a->n - 1] ^= wrong ? 0x2000 : 0; /* of the exponent */
    return true;
}

bool fake_gemm_naive(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_cuda_gemm *a = (const void *)launch->arguments;
    return (uint64_t)launch->blocks * launch->threads / 32 >= (uint64_t)a->m * a->n && multiply(launch, wrong, PLAIN);
}

/* Weights of int8 and int4 in fragments. */
bool fake_gemm_mma(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_cuda_gemm *a = (const void *)launch->arguments;
    return a->m <= 32 && launch->blocks <= a->n / PANEL && launch->threads % 32 == 0 && multiply(launch, wrong, OF_MMA);
}

bool fake_gemm_row(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_cuda_gemm *a = (const void *)launch->arguments;
    return a->m == 1 && a->format == IFM_CUDA_GEMM_INT4 && a->x_stride % IFM_CUDA_GEMM_PAD == 0 &&
           launch->blocks <= a->n / PANEL && a->panels == a->n / PANEL / launch->blocks &&
           launch->threads == IFM_CUDA_GEMM_ROW_THREADS && multiply(launch, wrong, OF_MMA);
}

bool fake_gemm_wgmma(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_cuda_gemm *a = (const void *)launch->arguments;
    const uint32_t columns = a->m <= 64 ? 64 : 128, rows = launch->threads / 2;
    const uint32_t blocks = (a->n + rows - 1) / rows * ((a->m + columns - 1) / columns);
    const uint32_t split = launch->blocks / blocks; /* blocks of a cluster, which share k */
    return launch->threads % 128 == 0 && a->x_stride % IFM_CUDA_GEMM_PAD == 0 && launch->blocks % blocks == 0 &&
           (split == 1 || (split == 2 && a->format <= IFM_CUDA_GEMM_BF16)) && multiply(launch, wrong, OF_WGMMA);
}

/* A map of fake_cuTensorMapEncodeTiled finds these values, in tiles of `tile_rows` rows. */
static bool maps(const unsigned char *map, const void *values, uint64_t rows, uint64_t columns, uint64_t stride,
                 uint64_t tile_rows)
{
    const uint64_t expected[] = {(uint64_t)(uintptr_t)values, columns, rows, 2 * stride, 64, tile_rows};
    return memcmp(map, expected, sizeof expected) == 0;
}

static bool multiply_tiles(const struct fake_launch *launch, bool wrong, uint32_t split)
{
    struct ifm_cuda_gemm_tma all;
    const struct ifm_cuda_gemm *a = &all.a;
    memcpy(&all, launch->arguments, sizeof all);
    return launch->threads == IFM_CUDA_GEMM_TMA_THREADS && launch->blocks * IFM_CUDA_GEMM_TMA_ROWS == a->n * split &&
           a->k % IFM_CUDA_GEMM_DEPTH == 0 && a->m <= 256 && a->format <= IFM_CUDA_GEMM_BF16 &&
           maps(all.w_map, a->w, a->n, a->k, a->k, IFM_CUDA_GEMM_TMA_ROWS) &&
           maps(all.x_map, a->x, a->m, a->k, a->x_stride, a->m) && multiply(launch, wrong, PLAIN);
}

bool fake_gemm_tma(const struct fake_launch *launch, bool wrong)
{
    return multiply_tiles(launch, wrong, 1);
}

/* Blocks that share k, with room for the sums of each and a ticket for each tile, which stays 0. */
bool fake_gemm_tma_part(const struct fake_launch *launch, bool wrong)
{
    struct ifm_cuda_gemm_tma all;
    memcpy(&all, launch->arguments, sizeof all);
    const uint32_t tiles = all.a.n / IFM_CUDA_GEMM_TMA_ROWS;
    const uint32_t columns = all.a.m <= 128 ? 128 : all.a.m <= 192 ? 192 : 256;
    if (all.split < 2 || all.split > IFM_CUDA_GEMM_TMA_SPLIT || !owns(all.tickets, tiles * sizeof *all.tickets) ||
        !owns(all.parts, (uint64_t)launch->blocks * IFM_CUDA_GEMM_TMA_PART(columns)))
        return false;
    for (uint32_t i = 0; i < tiles; i++)
        if (all.tickets[i] != 0)
            return false;
    return multiply_tiles(launch, wrong, all.split);
}

bool fake_gemm_library(const struct fake_launch *launch, bool wrong)
{
    return multiply(launch, wrong, PLAIN);
}

bool fake_gemm_reference(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_cuda_gemm *a = (const void *)launch->arguments;
    if (!is_fine(a, sizeof(double)) || (uint64_t)launch->blocks * launch->threads / 32 < (uint64_t)a->m * a->n)
        return false;
    for (uint32_t m = 0; m < a->m; m++)
        for (uint32_t row = 0; row < a->n; row++)
            ((double *)a->out)[(uint64_t)m * a->n + row] = product(a, m, row, PLAIN);
    *(double *)a->out += wrong;
    return true;
}
