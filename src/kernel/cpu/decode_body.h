/* Decode attention in one pass (online softmax); compiled once per instruction set, plain C on the compiler's
 * vector types.
 *
 * Per block of IFM_DECODE_BLOCK rows: scores of every query head that shares the KV head, the softmax's running
 * maximum and total, then the weighted sum of V rows. A row of K or V comes from memory once for the whole group.
 * Tiles of rows, heads and vectors are as large as the registers hold: IFM_TILE_HEADS heads at a time, then the
 * heads left over one by one.
 *
 * Floating point is relaxed in this file (sums are reassociated, NaN and infinity are not expected). */
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"
#include "kernel/cpu/lanes_sum.h"

#include <math.h>
#include <stdbool.h>

enum { ROWS = 4, VALUE_ROWS = 16, WIDE = 4, LINE_FLOATS = IFM_LINE / sizeof(float) };

static const float VERY_LOW = -1e30f; /* a score that no data reach */

/* 2^x for x <= 0, relative error below 1e-7; below 2^-126 it stays there. x - n is exact, and the polynomial is the
 * Taylor series of 2^f on [-1/2, 1/2]. */
IFM_INLINE float exp2_negative(float x)
{
    x = x < -126.0f ? -126.0f : x;
    int32_t n = (int32_t)(x - 0.5f);
    float f = x - (float)n;
    float p = 1.52527338e-5f;
    p = p * f + 1.54035304e-4f;
    p = p * f + 1.33335581e-3f;
    p = p * f + 9.61812911e-3f;
    p = p * f + 5.55041087e-2f;
    p = p * f + 2.40226507e-1f;
    p = p * f + 6.93147181e-1f;
    p = p * f + 1.0f;
    union {
        int32_t bits;
        float value;
    } power = {.bits = (n + 127) * (1 << 23)};
    return p * power.value;
}

/* Read `n` floats front to back, a line at a time, and drop them, before a tile takes several of these rows at once.
 * Measured on a Zen 4 guest: loads that interleave four rows reach about 60 % of the linear rate, and prefetch
 * instructions in this place were slower than this. Likely cause, not shown: the hardware prefetchers follow only
 * the linear order. */
IFM_INLINE void touch(const float *from, size_t n)
{
    for (size_t i = 0; i < n; i += LINE_FLOATS)
        (void)*(const volatile float *)(from + i);
}

/* scores[h][r] = query[h] . k[r] for a tile of rows and heads. */
IFM_INLINE void score_tile(const float *k, const float *query, size_t dim, const int rows, const int heads,
                           float *scores)
{
    const size_t whole = dim / IFM_LANES * IFM_LANES;
    floats sum[ROWS * IFM_TILE_HEADS];
    for (int i = 0; i < rows * heads; i++)
        sum[i] = (floats){0};
    for (size_t d = 0; d < whole; d += IFM_LANES)
        for (int h = 0; h < heads; h++) {
            const floats q = load_floats(query + (size_t)h * dim + d);
            for (int r = 0; r < rows; r++)
                sum[h * rows + r] += load_floats(k + (size_t)r * dim + d) * q;
        }
    float dot[ROWS * IFM_TILE_HEADS];
    sum_each(sum, rows * heads, dot);
    for (size_t d = whole; d < dim; d++)
        for (int i = 0; i < rows * heads; i++)
            dot[i] += k[(size_t)(i % rows) * dim + d] * query[(size_t)(i / rows) * dim + d];
    for (int h = 0; h < heads; h++)
        memcpy(scores + h * IFM_DECODE_BLOCK, dot + h * rows, (size_t)rows * sizeof(float));
}

/* sum[h] += scores[h][r] * v[r] over all rows, for `wide` vectors of columns and a tile of heads. */
IFM_INLINE void value_tile(const float *v, const float *scores, size_t dim, size_t rows, const int wide,
                           const int heads, float *sum)
{
    floats total[WIDE * IFM_TILE_HEADS];
    for (int i = 0; i < wide * heads; i++)
        total[i] = load_floats(sum + (size_t)(i / wide) * dim + (size_t)(i % wide) * IFM_LANES);
    for (size_t r = 0; r < rows; r++, v += dim) {
        floats row[WIDE];
        for (int w = 0; w < wide; w++)
            row[w] = load_floats(v + (size_t)w * IFM_LANES);
        for (int h = 0; h < heads; h++) {
            const floats weight = (floats){0} + scores[(size_t)h * IFM_DECODE_BLOCK + r];
            for (int w = 0; w < wide; w++)
                total[h * wide + w] += row[w] * weight;
        }
    }
    for (int i = 0; i < wide * heads; i++)
        store_floats(sum + (size_t)(i / wide) * dim + (size_t)(i % wide) * IFM_LANES, total[i]);
}

/* The same for all columns. */
IFM_INLINE void value_rows(const float *v, const float *scores, size_t dim, size_t rows, const int heads, float *sum)
{
    size_t d = 0;
    for (; d + WIDE * IFM_LANES <= dim; d += WIDE * IFM_LANES)
        value_tile(v + d, scores, dim, rows, WIDE, heads, sum + d);
    for (; d + IFM_LANES <= dim; d += IFM_LANES)
        value_tile(v + d, scores, dim, rows, 1, heads, sum + d);
    for (; d < dim; d++)
        for (int h = 0; h < heads; h++)
            for (size_t r = 0; r < rows; r++)
                sum[(size_t)h * dim + d] += scores[(size_t)h * IFM_DECODE_BLOCK + r] * v[r * dim + d];
}

/* All heads of the group for `rows` rows. */
IFM_INLINE void score_rows(const float *k, const float *query, size_t dim, const int rows, size_t group, float *scores)
{
    size_t h = 0;
    for (; h + IFM_TILE_HEADS <= group; h += IFM_TILE_HEADS)
        score_tile(k, query + h * dim, dim, rows, IFM_TILE_HEADS, scores + h * IFM_DECODE_BLOCK);
    for (; h < group; h++)
        score_tile(k, query + h * dim, dim, rows, 1, scores + h * IFM_DECODE_BLOCK);
}

/* Scores of one head become weights relative to the running maximum; what was summed before is scaled to it. The
 * scores beyond a short block's rows are very low, so that every loop has a fixed length. */
static void weigh(float *restrict scores, size_t dim, float *top, float *total, float *restrict sum)
{
    float high = *top;
    for (size_t r = 0; r < IFM_DECODE_BLOCK; r++)
        high = scores[r] > high ? scores[r] : high;
    if (high > *top) {
        const float scale = exp2_negative(*top - high);
        *top = high;
        *total *= scale;
        for (size_t d = 0; d < dim; d++)
            sum[d] *= scale;
    }
    float added = 0;
    for (size_t r = 0; r < IFM_DECODE_BLOCK; r++) {
        scores[r] = exp2_negative(scores[r] - high);
        added += scores[r];
    }
    *total += added;
}

struct block {
    const float *k, *v;
    size_t rows, dim, group;
};

static void score_block(const struct block *block, const struct ifm_decode_worker *worker)
{
    size_t r = 0;
    for (; r + ROWS <= block->rows; r += ROWS) {
        touch(block->k + r * block->dim, ROWS * block->dim);
        score_rows(block->k + r * block->dim, worker->query, block->dim, ROWS, block->group, worker->scores + r);
    }
    for (; r < block->rows; r++)
        score_rows(block->k + r * block->dim, worker->query, block->dim, 1, block->group, worker->scores + r);
    for (size_t h = 0; h < block->group; h++)
        for (size_t beyond = block->rows; beyond < IFM_DECODE_BLOCK; beyond++)
            worker->scores[h * IFM_DECODE_BLOCK + beyond] = VERY_LOW;
}

static void value_block(const struct block *block, const float *scores, float *sum)
{
    const size_t dim = block->dim;
    for (size_t r = 0; r < block->rows; r += VALUE_ROWS) {
        const size_t rows = block->rows - r < VALUE_ROWS ? block->rows - r : VALUE_ROWS;
        const float *v = block->v + r * dim;
        touch(v, rows * dim);
        size_t h = 0;
        for (; h + IFM_TILE_HEADS <= block->group; h += IFM_TILE_HEADS)
            value_rows(v, scores + h * IFM_DECODE_BLOCK + r, dim, rows, IFM_TILE_HEADS, sum + h * dim);
        for (; h < block->group; h++)
            value_rows(v, scores + h * IFM_DECODE_BLOCK + r, dim, rows, 1, sum + h * dim);
    }
}

static void attend_block(const struct block *block, const struct ifm_decode_worker *worker,
                         struct ifm_decode_piece piece)
{
    score_block(block, worker);
    for (size_t h = 0; h < block->group; h++)
        weigh(worker->scores + h * IFM_DECODE_BLOCK, block->dim, &piece.top[h], &piece.total[h],
              piece.sum + h * block->dim);
    value_block(block, worker->scores, piece.sum);
}

static void begin(const struct ifm_decode_job *job, uint64_t pair, const struct ifm_decode_worker *worker,
                  struct ifm_decode_piece piece)
{
    const size_t dim = job->shape.head_dim, group = job->shape.q_heads / job->shape.kv_heads;
    const float log2_e = 1.44269504f, scale = log2_e / sqrtf((float)dim);
    const float *query = job->q + pair * group * dim;
    for (size_t i = 0; i < group * dim; i++) {
        worker->query[i] = query[i] * scale;
        piece.sum[i] = 0;
    }
    for (size_t h = 0; h < group; h++) {
        piece.top[h] = VERY_LOW;
        piece.total[h] = 0;
    }
}

static void finish(const struct ifm_decode_job *job, uint64_t pair, struct ifm_decode_piece piece)
{
    const size_t dim = job->shape.head_dim, group = job->shape.q_heads / job->shape.kv_heads;
    float *out = job->out + pair * group * dim;
    for (size_t h = 0; h < group; h++)
        for (size_t d = 0; d < dim; d++)
            out[h * dim + d] = piece.sum[h * dim + d] / piece.total[h];
}

/* Blocks [from, to) of a pair. */
static void attend(const struct ifm_decode_job *job, uint64_t pair, uint64_t from, uint64_t to,
                   const struct ifm_decode_worker *worker, struct ifm_decode_piece piece)
{
    const size_t dim = job->shape.head_dim, length = job->shape.kv_len;
    const float *k = job->k + pair * length * dim, *v = job->v + pair * length * dim;
    begin(job, pair, worker, piece);
    for (uint64_t b = from; b < to; b++) {
        const size_t first = b * IFM_DECODE_BLOCK, left = length - first;
        const size_t rows = left < IFM_DECODE_BLOCK ? left : IFM_DECODE_BLOCK;
        const struct block block = {k + first * dim, v + first * dim, rows, dim,
                                    job->shape.q_heads / job->shape.kv_heads};
        attend_block(&block, worker, piece);
    }
}

void IFM_KERNEL(ifm_decode_online)(const struct ifm_decode_job *job, unsigned index, unsigned count)
{
    const struct ifm_decode_worker worker = ifm_decode_worker_at(job, index);
    const struct ifm_decode_share share = ifm_decode_share_of(&job->shape, index, count);
    const uint64_t per_pair = share.blocks_per_pair;
    for (uint64_t at = share.from; at < share.to;) {
        const uint64_t pair = at / per_pair, start = pair * per_pair, end = start + per_pair;
        const uint64_t stop = share.to < end ? share.to : end;
        const bool begins = at == start, ends = stop == end;
        const struct ifm_decode_piece piece = begins && ends ? worker.whole : worker.pieces[begins ? 1 : 0];
        attend(job, pair, at - start, stop - start, &worker, piece);
        if (begins && ends)
            finish(job, pair, piece);
        at = stop;
    }
}
