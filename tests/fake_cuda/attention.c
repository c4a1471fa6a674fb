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
    uint64_t q, kv, out, seen;
};

static uint64_t row_at(const struct ifm_strides *strides, uint64_t sequence, uint64_t head, uint64_t row)
{
    return sequence * strides->sequence + head * strides->head + row * strides->row;
}

static struct place place_of(const struct fake_sdpa *s, uint64_t row)
{
    const struct ifm_attention_arguments *a = &s->at.of;
    const uint64_t pair = row / a->seq_len, sequence = pair / a->q_heads, position = row % a->seq_len;
    const uint64_t kv_head = pair % a->q_heads / (a->q_heads / a->kv_heads);
    const uint64_t length = a->lengths != NULL ? a->lengths[sequence] : s->keys;
    const bool is_there = a->lengths == NULL || position < length;
    return (struct place){row_at(&s->at.q_views, sequence, pair % a->q_heads, position),
                          row_at(&s->at.kv_views, sequence, kv_head, 0),
                          row_at(&s->at.out_views, sequence, pair % a->q_heads, position),
                          !is_there   ? 0
                          : a->causal ? position + 1
                                      : length};
}

/* Softmax over what the query sees, and the weighted sum of V, in f64. */
static void attend(const struct fake_sdpa *s, struct place at, double *weights, double *out)
{
    const struct ifm_attention_arguments *a = &s->at.of;
    const unsigned dim = a->head_dim, step = s->at.kv_views.row;
    double top = -INFINITY, total = 0;
    for (uint64_t key = 0; key < at.seen; key++) {
        weights[key] = 0;
        for (unsigned d = 0; d < dim; d++)
            weights[key] += value_of(a->q, a->storage, at.q + d) * value_of(a->k, a->storage, at.kv + key * step + d);
        weights[key] /= sqrt((double)dim);
        top = fmax(top, weights[key]);
    }
    for (unsigned d = 0; d < dim; d++)
        out[d] = 0;
    for (uint64_t key = 0; key < at.seen; key++) {
        weights[key] = exp(weights[key] - top);
        total += weights[key];
        for (unsigned d = 0; d < dim; d++)
            out[d] += weights[key] * value_of(a->v, a->storage, at.kv + key * step + d);
    }
    for (unsigned d = 0; at.seen > 0 && d < dim; d++)
        out[d] /= total;
}

/* From the first value of the first row to the last of the last. */
static bool owns(const void *address, const struct ifm_strides *strides, uint64_t sequences, uint64_t heads,
                 uint64_t rows, uint64_t row_bytes, uint64_t size)
{
    const uint64_t last = row_at(strides, sequences - 1, heads - 1, rows - 1) * size;
    return fake_cuda_owns((uint64_t)(uintptr_t)address, last + row_bytes);
}

/* `rows` queries, of whole sequences. */
static bool run(const struct fake_sdpa *s, uint64_t rows, bool is_f64, bool wrong)
{
    const struct ifm_attention_arguments *a = &s->at.of;
    const uint64_t sequences = rows / a->seq_len / a->q_heads, size = a->storage == IFM_CUDA_F32 ? 4 : 2;
    const uint64_t row = a->head_dim * size, out_size = is_f64 ? sizeof(double) : size;
    double out[IFM_ATTENTION_DIM_MOST], *weights = malloc(s->keys * sizeof *weights);
    if (weights == NULL || sequences == 0 ||
        !owns(a->q, &s->at.q_views, sequences, a->q_heads, a->seq_len, row, size) ||
        !owns(a->k, &s->at.kv_views, sequences, a->kv_heads, s->keys, row, size) ||
        !owns(a->v, &s->at.kv_views, sequences, a->kv_heads, s->keys, row, size) ||
        !owns(a->out, &s->at.out_views, sequences, a->q_heads, a->seq_len, a->head_dim * out_size, out_size) ||
        (a->lengths != NULL && !fake_cuda_owns((uint64_t)(uintptr_t)a->lengths, sequences * sizeof *a->lengths))) {
        free(weights);
        return false;
    }
    for (uint64_t i = 0; i < rows; i++) {
        const struct place at = place_of(s, i);
        attend(s, at, weights, out);
        if (wrong && i == rows / 2)
            out[1] += 1;
        for (unsigned d = 0; d < a->head_dim; d++)
            if (is_f64)
                ((double *)a->out)[at.out + d] = out[d];
            else
                put(a->out, a->storage, at.out + d, (float)out[d]);
    }
    free(weights);
    return true;
}

/* A kernel over views has strides behind its other arguments. */
static bool run_rows(const struct fake_launch *launch, uint64_t rows, bool is_f64, bool strided, bool wrong)
{
    const struct ifm_attention_arguments *a = (const void *)launch->arguments;
    const uint32_t dim = a->head_dim, head = a->seq_len * dim;
    const struct ifm_strides q = {(uint64_t)a->q_heads * head, head, dim};
    const struct ifm_strides kv = {(uint64_t)a->kv_heads * head, head, dim};
    struct fake_sdpa whole = {{*a, q, kv, q}, a->seq_len};
    if (strided)
        whole.at = *(const struct ifm_attention_strided *)(const void *)launch->arguments;
    return a->lengths != NULL && run(&whole, rows, is_f64, wrong);
}

bool fake_attention_library(const struct fake_launch *launch, bool wrong)
{
    const struct fake_sdpa *s = (const void *)launch->arguments;
    return run(s, launch->blocks, false, wrong);
}

static bool naive(const struct fake_launch *launch, bool strided, bool wrong)
{
    return launch->threads == IFM_ATTENTION_NAIVE_THREADS && run_rows(launch, launch->blocks, false, strided, wrong);
}

static bool reference(const struct fake_launch *launch, bool strided, bool wrong)
{
    return launch->threads == IFM_ATTENTION_NAIVE_THREADS && run_rows(launch, launch->blocks, true, strided, wrong);
}

/* What a block of a kernel has: queries of one head. */
struct tile {
    unsigned dim, rows, threads;
};
#define FLASH(dim, tiles, warps, keys, part, blocks) {dim, 16 * (tiles) * (warps), 32 * (warps)},
#define HOPPER(dim, groups, keys, blocks) {dim, 64 * (groups), 128 * (groups)},
static const struct tile of_flash[] = {IFM_FLASH_KERNELS(FLASH){0}}, of_hopper[] = {IFM_HOPPER_KERNELS(HOPPER){0}};

/* The rows of all heads that the grid covers. */
static bool run_tiles(const struct fake_launch *launch, const struct tile *kernels, bool strided, bool wrong)
{
    const struct ifm_attention_arguments *a = (const void *)launch->arguments;
    while (kernels->dim != 0 && (kernels->dim != a->head_dim || kernels->threads != launch->threads))
        kernels++;
    if (kernels->dim == 0 || a->storage == IFM_CUDA_F32)
        return false;
    const unsigned tiles = (a->seq_len + kernels->rows - 1) / kernels->rows;
    return launch->blocks % tiles == 0 &&
           run_rows(launch, (uint64_t)launch->blocks / tiles * a->seq_len, false, strided, wrong);
}

static bool flash(const struct fake_launch *launch, bool strided, bool wrong)
{
    return run_tiles(launch, of_flash, strided, wrong);
}

static bool hopper(const struct fake_launch *launch, bool strided, bool wrong)
{
    return run_tiles(launch, of_hopper, strided, wrong);
}

#define BOTH(kernel)                                                                                                   \
    bool fake_attention_##kernel(const struct fake_launch *launch, bool wrong)                                         \
    {                                                                                                                  \
        return kernel(launch, false, wrong);                                                                           \
    }                                                                                                                  \
    bool fake_attention_##kernel##_strided(const struct fake_launch *launch, bool wrong)                               \
    {                                                                                                                  \
        return kernel(launch, true, wrong);                                                                            \
    }
BOTH(naive)
BOTH(flash)
BOTH(hopper)
BOTH(reference)
