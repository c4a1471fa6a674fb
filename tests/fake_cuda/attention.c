/* What the kernels of attention.cu and flash.cu do, in C on the host: the same outputs from the same arguments, but for
 * the order of sums. */
#include "fake_cuda/kernels.h"

#include "base/half.h"
#include "fake_cudnn/fake_cudnn.h"
#include "kernel/cuda/flash.h"
#include <math.h>
#include <stdlib.h>

static double value_of(const void *from, unsigned storage, uint64_t i)
{
    const uint16_t *bits = from;
    return (double)(storage == IFM_CUDA_F32    ? ((const float *)from)[i]
                    : storage == IFM_CUDA_BF16 ? ifm_bf16_to_f32(bits[i])
                                               : ifm_f16_to_f32(bits[i]));
}

static void put(void *to, unsigned storage, uint64_t i, float value)
{
    if (storage == IFM_CUDA_F32)
        ((float *)to)[i] = value;
    else
        ((uint16_t *)to)[i] = storage == IFM_CUDA_BF16 ? ifm_f32_to_bf16(value) : ifm_f32_to_f16(value);
}

/* A query of the arguments' first sequences: where its values are, and what it sees. */
struct place {
    uint64_t row, kv, seen;
};

static struct place place_of(const struct fake_sdpa *s, uint64_t row)
{
    const struct ifm_attention_arguments *a = &s->of;
    const uint64_t pair = row / a->seq_len, sequence = pair / a->q_heads, position = row % a->seq_len;
    const uint64_t kv_head = pair % a->q_heads / (a->q_heads / a->kv_heads);
    const uint64_t length = a->lengths != NULL ? a->lengths[sequence] : s->keys;
    const bool is_there = a->lengths == NULL || position < length;
    return (struct place){row * a->head_dim, (sequence * a->kv_heads + kv_head) * s->room * a->head_dim,
                          !is_there   ? 0
                          : a->causal ? position + 1
                                      : length};
}

/* Softmax over what the query sees, and the weighted sum of V, in f64. */
static void attend(const struct ifm_attention_arguments *a, struct place at, double *weights, double *out)
{
    const unsigned dim = a->head_dim;
    double top = -INFINITY, total = 0;
    for (uint64_t key = 0; key < at.seen; key++) {
        weights[key] = 0;
        for (unsigned d = 0; d < dim; d++)
            weights[key] += value_of(a->q, a->storage, at.row + d) * value_of(a->k, a->storage, at.kv + key * dim + d);
        weights[key] /= sqrt((double)dim);
        top = fmax(top, weights[key]);
    }
    for (unsigned d = 0; d < dim; d++)
        out[d] = 0;
    for (uint64_t key = 0; key < at.seen; key++) {
        weights[key] = exp(weights[key] - top);
        total += weights[key];
        for (unsigned d = 0; d < dim; d++)
            out[d] += weights[key] * value_of(a->v, a->storage, at.kv + key * dim + d);
    }
    for (unsigned d = 0; at.seen > 0 && d < dim; d++)
        out[d] /= total;
}

static bool owns(const void *address, uint64_t bytes)
{
    return fake_cuda_owns((uint64_t)(uintptr_t)address, bytes);
}

/* `rows` queries, of whole sequences. */
static bool run(const struct fake_sdpa *s, uint64_t rows, bool is_f64, bool wrong)
{
    const struct ifm_attention_arguments *a = &s->of;
    const uint64_t sequences = rows / a->seq_len / a->q_heads, size = a->storage == IFM_CUDA_F32 ? 4 : 2;
    const uint64_t kv_bytes = sequences * a->kv_heads * s->room * a->head_dim * size;
    double out[IFM_ATTENTION_DIM_MOST], *weights = malloc(s->keys * sizeof *weights);
    if (weights == NULL || sequences == 0 || !owns(a->q, rows * a->head_dim * size) || !owns(a->k, kv_bytes) ||
        !owns(a->v, kv_bytes) || !owns(a->out, rows * a->head_dim * (is_f64 ? sizeof(double) : size)) ||
        (a->lengths != NULL && !owns(a->lengths, sequences * sizeof *a->lengths))) {
        free(weights);
        return false;
    }
    for (uint64_t row = 0; row < rows; row++) {
        const struct place at = place_of(s, row);
        attend(a, at, weights, out);
        if (wrong && row == rows / 2)
            out[1] += 1;
        for (unsigned d = 0; d < a->head_dim; d++)
            if (is_f64)
                ((double *)a->out)[at.row + d] = out[d];
            else
                put(a->out, a->storage, at.row + d, (float)out[d]);
    }
    free(weights);
    return true;
}

static bool run_rows(const struct ifm_attention_arguments *a, uint64_t rows, bool is_f64, bool wrong)
{
    const struct fake_sdpa whole = {*a, a->seq_len, a->seq_len};
    return a->lengths != NULL && run(&whole, rows, is_f64, wrong);
}

bool fake_attention_library(const struct fake_launch *launch, bool wrong)
{
    return run((const void *)launch->arguments, launch->blocks, false, wrong);
}

bool fake_attention_naive(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_attention_arguments *a = (const void *)launch->arguments;
    return launch->threads == IFM_ATTENTION_NAIVE_THREADS && run_rows(a, launch->blocks, false, wrong);
}

/* What a block of a kernel has: queries of one head. */
struct tile {
    unsigned dim, rows, threads;
};
#define FLASH(dim, tiles, warps, keys, part, blocks) {dim, 16 * (tiles) * (warps), 32 * (warps)},
#define HOPPER(dim, groups, keys, blocks) {dim, 64 * (groups), 128 * (groups)},
static const struct tile flash[] = {IFM_FLASH_KERNELS(FLASH){0}}, hopper[] = {IFM_HOPPER_KERNELS(HOPPER){0}};

/* The rows of all heads that the grid covers. */
static bool run_tiles(const struct fake_launch *launch, const struct tile *kernels, bool wrong)
{
    const struct ifm_attention_arguments *a = (const void *)launch->arguments;
    while (kernels->dim != 0 && (kernels->dim != a->head_dim || kernels->threads != launch->threads))
        kernels++;
    if (kernels->dim == 0 || a->storage == IFM_CUDA_F32)
        return false;
    const unsigned tiles = (a->seq_len + kernels->rows - 1) / kernels->rows;
    return launch->blocks % tiles == 0 && run_rows(a, (uint64_t)launch->blocks / tiles * a->seq_len, false, wrong);
}

bool fake_attention_flash(const struct fake_launch *launch, bool wrong)
{
    return run_tiles(launch, flash, wrong);
}

bool fake_attention_hopper(const struct fake_launch *launch, bool wrong)
{
    return run_tiles(launch, hopper, wrong);
}

bool fake_attention_reference(const struct fake_launch *launch, bool wrong)
{
    const struct ifm_attention_arguments *a = (const void *)launch->arguments;
    return launch->threads == IFM_ATTENTION_NAIVE_THREADS && run_rows(a, launch->blocks, true, wrong);
}
