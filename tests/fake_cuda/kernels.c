/* What the kernels of src/kernel/cuda do, in C on the host: the same words from the same arguments. */
#include "fake_cuda/fake_cuda.h"

#include <math.h>
#include <string.h>

#define GOLDEN 0x9E3779B97F4A7C15ULL

static float float_of(uint64_t argument)
{
    float value;
    memcpy(&value, &argument, sizeof value);
    return value;
}

static void *pointer_of(uint64_t argument)
{
    return (void *)(uintptr_t)argument;
}

static bool run_null(const struct fake_launch *launch, bool wrong)
{
    (void)launch;
    (void)wrong;
    return true;
}

static bool run_null_spin(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    if (!fake_cuda_owns(a[1], sizeof(uint64_t)))
        return false;
    uint64_t *value = pointer_of(a[1]);
    *value += a[0] * (a[0] - 1) / 2 + wrong;
    return true;
}

static bool run_fill_source(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    if (!fake_cuda_owns(a[0], a[1] * sizeof(uint64_t)))
        return false;
    uint64_t *to = pointer_of(a[0]);
    for (uint64_t i = 0; i < a[1]; i++)
        to[i] = (a[2] + i) * GOLDEN;
    to[0] ^= wrong;
    return true;
}

static bool run_fill_pattern(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    if (!fake_cuda_owns(a[0], a[1] * sizeof(uint64_t)))
        return false;
    uint64_t *to = pointer_of(a[0]);
    for (uint64_t i = 0; i < a[1]; i++)
        to[i] = a[2];
    to[0] ^= wrong;
    return true;
}

static bool run_count_wrong(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    if (!fake_cuda_owns(a[0], a[1] * sizeof(uint64_t)) || !fake_cuda_owns(a[4], sizeof(uint64_t)))
        return false;
    const uint64_t *at = pointer_of(a[0]);
    uint64_t *count = pointer_of(a[4]);
    for (uint64_t i = 0; i < a[1]; i++)
        *count += at[i] != (a[3] != 0 ? a[3] : (a[2] + i) * GOLDEN);
    *count += wrong;
    return true;
}

/* One partial sum a warp; which words a warp adds does not matter to the sum of all. */
static bool read_words(const struct fake_launch *launch, uint64_t from, uint64_t words, uint64_t to, bool wrong)
{
    uint64_t warps = (uint64_t)launch->blocks * launch->threads / 32;
    if (warps == 0 || !fake_cuda_owns(from, words * sizeof(uint64_t)) || !fake_cuda_owns(to, warps * sizeof(uint64_t)))
        return false;
    const uint64_t *at = pointer_of(from);
    uint64_t *sums = pointer_of(to);
    memset(sums, 0, warps * sizeof *sums);
    for (uint64_t i = 0; i < words; i++)
        sums[i % warps] += at[i];
    sums[0] ^= wrong;
    return true;
}

static bool run_read_linear(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    return read_words(launch, a[0], 2 * a[1], a[2], wrong);
}

static bool run_read_bulk(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    return read_words(launch, a[0], a[1] / sizeof(uint64_t), a[2], wrong);
}

static bool run_write_store(const struct fake_launch *launch, bool wrong)
{
    struct fake_launch words = *launch;
    words.arguments[1] *= 2;
    return run_fill_pattern(&words, wrong);
}

static bool copy_bytes(uint64_t to, uint64_t from, uint64_t bytes, bool wrong)
{
    if (!fake_cuda_owns(to, bytes) || !fake_cuda_owns(from, bytes))
        return false;
    memcpy(pointer_of(to), pointer_of(from), bytes);
    *(unsigned char *)pointer_of(to) ^= wrong;
    return true;
}

/* A thread a vector: what lies beyond the grid is not copied, as on a device. */
static bool run_copy_flat(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    uint64_t threads = (uint64_t)launch->blocks * launch->threads;
    return copy_bytes(a[0], a[1], 16 * (a[2] < threads ? a[2] : threads), wrong);
}

static bool run_copy_bulk(const struct fake_launch *launch, bool wrong)
{
    const uint64_t *a = launch->arguments;
    return copy_bytes(a[0], a[1], a[2], wrong);
}

/* What a thread of lane `lane` leaves; its rounds are done once for each set of arguments. */
static float flops_of(uint64_t rounds, float factor, float term, unsigned lane)
{
    float sum = 0;
    for (int i = 0; i < 8; i++) {
        float x = (float)lane + 0.125f * (float)i;
        for (uint64_t r = 0; r < rounds; r++)
            x = fmaf(x, factor, term);
        sum += x;
    }
    return sum;
}

static bool run_flops_fma(const struct fake_launch *launch, bool wrong)
{
    static uint64_t known[3];
    static float lanes[32];
    const uint64_t *a = launch->arguments;
    uint64_t threads = (uint64_t)launch->blocks * launch->threads;
    if (!fake_cuda_owns(a[3], threads * sizeof(float)))
        return false;
    for (unsigned lane = 0; lane < 32 && memcmp(known, a, sizeof known) != 0; lane++)
        lanes[lane] = flops_of(a[0], float_of(a[1]), float_of(a[2]), lane);
    memcpy(known, a, sizeof known);
    float *out = pointer_of(a[3]);
    for (uint64_t i = 0; i < threads; i++)
        out[i] = lanes[i % 32];
    out[0] += wrong ? 1.0f : 0.0f;
    return true;
}

/* A factor of the matrix probe: +-[0.5, 1) in bf16. */
static float factor_of(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed + i) * GOLDEN;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    uint32_t bits = (uint32_t)((x & 0x807f) | 0x3f00) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The tile of block 0, [64][256]; products of one round times the rounds, which f32 sums come to but for rounding. */
static bool run_matrix_bf16(const struct fake_launch *launch, bool wrong)
{
    enum { ROWS = 64, COLUMNS = 256, DEPTH = 64 };
    const uint64_t *a = launch->arguments;
    if (!fake_cuda_owns(a[2], sizeof(float) * ROWS * COLUMNS))
        return false;
    float *out = pointer_of(a[2]);
    for (uint64_t row = 0; row < ROWS; row++)
        for (uint64_t column = 0; column < COLUMNS; column++) {
            float sum = 0;
            for (uint64_t k = 0; k < DEPTH; k++)
                sum += factor_of(a[1], row * DEPTH + k) * factor_of(a[1], (ROWS + column) * DEPTH + k);
            out[row * COLUMNS + column] = sum * (float)a[0];
        }
    out[0] *= wrong ? 1.5f : 1.0f;
    return true;
}

/* A block a multiprocessor, in turn: two blocks of one leave the same. */
static bool run_stamp(const struct fake_launch *launch, bool wrong)
{
    enum { MULTIPROCESSORS = 2 };
    struct stamp {
        uint32_t multiprocessor, unused;
        uint64_t cycles, ns;
    };
    const uint64_t *a = launch->arguments;
    if (!fake_cuda_owns(a[0], launch->blocks * sizeof(struct stamp)))
        return false;
    struct stamp *out = pointer_of(a[0]);
    for (unsigned i = 0; i < launch->blocks; i++)
        out[i] = (struct stamp){(i + wrong) % MULTIPROCESSORS, 0, fake_cuda_cycles() + 1000 * i, fake_cuda_now_ns()};
    return true;
}

const struct fake_kernel fake_kernels[] = {
    {"ifm_null", {0}, run_null},
    {"ifm_null_spin", {8, 8}, run_null_spin},
    {"ifm_fill_source", {8, 8, 8}, run_fill_source},
    {"ifm_fill_pattern", {8, 8, 8}, run_fill_pattern},
    {"ifm_count_wrong", {8, 8, 8, 8, 8}, run_count_wrong},
    {"ifm_read_linear", {8, 8, 8}, run_read_linear},
    {"ifm_read_bulk", {8, 8, 8}, run_read_bulk},
    {"ifm_write_store", {8, 8, 8}, run_write_store},
    {"ifm_copy_flat", {8, 8, 8}, run_copy_flat},
    {"ifm_copy_bulk", {8, 8, 8}, run_copy_bulk},
    {"ifm_flops_fma", {8, 4, 4, 8}, run_flops_fma},
    {"ifm_matrix_bf16", {8, 8, 8}, run_matrix_bf16},
    {"ifm_stamp", {8}, run_stamp},
    {NULL, {0}, NULL},
};
