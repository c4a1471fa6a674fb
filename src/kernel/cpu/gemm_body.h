/* Few activations times rows of f32 or bf16; compiled once per instruction set (see lanes.h), which also says how many
 * activations the registers hold at once, IFM_TILE.
 *
 * Four or two rows at a time, so that a vector of activations is loaded once for all of them. Weights are fetched
 * ahead by the rows of one step: measured on a Zen 4 guest, the hardware alone does not keep memory busy as soon as
 * the sums take some time (m = 4, k = 4096: 13 GB/s without, 25 GB/s with it). */
#include "base/half.h"
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"
#include "kernel/cpu/lanes_sum.h"

enum {
    NEAR_FLOATS = 4096, /* half of a small first-level cache */
    AHEAD_LEAST = 8192, /* bytes that weights are fetched into the second-level cache before they are needed */
    TALL = 4,
    SUMS = 16
};

/* IFM_LANES weights as f32. */
IFM_INLINE floats load_weights(const void *from, size_t at, const bool narrow)
{
    if (!narrow)
        return load_floats((const float *)from + at);
    const uint16_t *half = (const uint16_t *)from + at;
#if IFM_LANES == 16
    return (floats)_mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)half)), 16));
#elif IFM_LANES == 8
    return (floats)_mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)half)), 16));
#else
    return ifm_bf16_to_f32(*half);
#endif
}

IFM_INLINE float one_weight(const void *from, size_t at, const bool narrow)
{
    return narrow ? ifm_bf16_to_f32(((const uint16_t *)from)[at]) : ((const float *)from)[at];
}

/* What one call of `tile` multiplies: `n` values of some rows, which lie `w_stride` values apart. */
struct piece {
    const char *w;
    const float *x;
    size_t n, w_stride, x_stride;
};

/* total[i][r] += row r times activation i, for `rows` x `m` of them with `chains` sums each. */
IFM_INLINE void tile(const struct piece *p, float total[][IFM_GEMM_PANEL], const int rows, const int m,
                     const int chains, const bool narrow)
{
    const size_t step = (size_t)chains * IFM_LANES, size = narrow ? sizeof(uint16_t) : sizeof(float);
    const size_t next = (size_t)rows * p->w_stride * size, ahead = next > AHEAD_LEAST ? next : AHEAD_LEAST;
    const int outs = rows * m, whole = outs <= 1 ? 1 : outs <= 2 ? 2 : outs <= 4 ? 4 : outs <= 8 ? 8 : 16;
    floats sum[SUMS];
    for (int i = 0; i < outs * chains; i++)
        sum[i] = (floats){0};
    size_t at = 0;
    for (; at + step <= p->n; at += step)
        for (int c = 0; c < chains; c++) {
            const size_t here = at + (size_t)c * IFM_LANES;
            floats weights[TALL];
            for (int r = 0; r < rows; r++) {
                const size_t place = (size_t)r * p->w_stride + here;
                if (!narrow || c % 2 == 0)
                    __builtin_prefetch(p->w + size * place + ahead, 0, 2);
                weights[r] = load_weights(p->w, place, narrow);
            }
            for (int i = 0; i < m; i++) {
                const floats x = load_floats(p->x + (size_t)i * p->x_stride + here);
                for (int r = 0; r < rows; r++)
                    sum[(i * rows + r) * chains + c] += weights[r] * x;
            }
        }
    float dot[SUMS];
    for (int i = 0; i < outs; i++) {
        sum[i] = sum[i * chains];
        for (int c = 1; c < chains; c++)
            sum[i] += sum[i * chains + c];
    }
    for (int i = outs; i < whole; i++)
        sum[i] = (floats){0};
    sum_each(sum, whole, dot);
    for (int i = 0; i < outs; i++) {
        const size_t row = (size_t)(i % rows), active = (size_t)(i / rows);
        for (size_t left = at; left < p->n; left++)
            dot[i] += one_weight(p->w, row * p->w_stride + left, narrow) * p->x[active * p->x_stride + left];
        total[active][row] += dot[i];
    }
}

/* All rows of a panel, `rows` of them, over one piece of k. */
IFM_INLINE void piece_of_panel(struct piece p, float total[][IFM_GEMM_PANEL], size_t rows, const int m,
                               const bool narrow)
{
    const int tall = m > 2 || (m == 1 && narrow) ? 2 : 4, chains = m > 1 ? 1 : narrow ? 4 : 2;
    const size_t row_bytes = p.w_stride * (narrow ? sizeof(uint16_t) : sizeof(float));
    size_t r = 0;
    for (; r + (size_t)tall <= rows; r += (size_t)tall, p.w += (size_t)tall * row_bytes)
        tile(&p, (float(*)[IFM_GEMM_PANEL]) & total[0][r], tall, m, chains, narrow);
    for (; r < rows; r++, p.w += row_bytes)
        tile(&p, (float(*)[IFM_GEMM_PANEL]) & total[0][r], 1, m, chains, narrow);
}

/* Up to IFM_GEMM_PANEL rows for `m` activations from number `first` on, with as many values of k at a time as let the
 * activations stay in the first-level cache. Several activations are stored side by side, because rows of x a large
 * power of two apart would map to the same sets of that cache. */
IFM_INLINE void panel(const struct ifm_gemm_job *job, uint64_t from, size_t rows, size_t first, const int m,
                      const bool narrow)
{
    const size_t k = job->shape.k, most = NEAR_FLOATS / (size_t)m / IFM_GEMM_PANEL * IFM_GEMM_PANEL;
    const char *w = (const char *)job->w + from * k * (narrow ? sizeof(uint16_t) : sizeof(float));
    float total[IFM_TILE][IFM_GEMM_PANEL] = {{0}}, near[NEAR_FLOATS];
    for (size_t at = 0; at < k; at += most) {
        const float *x = job->x + first * k + at;
        const size_t n = k - at < most ? k - at : most;
        struct piece p = {w + at * (narrow ? sizeof(uint16_t) : sizeof(float)), x, n, k, k};
        if (m > 1) {
            for (size_t i = 0; i < (size_t)m; i++)
                memcpy(near + i * most, x + i * k, n * sizeof *x);
            p.x = near;
            p.x_stride = most;
        }
        piece_of_panel(p, total, rows, m, narrow);
    }
    for (size_t i = 0; i < (size_t)m; i++)
        memcpy(job->out + (first + i) * job->shape.n + from, total[i], rows * sizeof(float));
}

IFM_INLINE void panel_tile(const struct ifm_gemm_job *job, uint64_t from, size_t rows, size_t first, size_t m,
                           const bool narrow)
{
    switch (m) {
    case 1:
        panel(job, from, rows, first, 1, narrow);
        break;
    case 2:
        panel(job, from, rows, first, 2, narrow);
        break;
    case 3:
        panel(job, from, rows, first, 3, narrow);
        break;
#if IFM_TILE == 8
    case 4:
        panel(job, from, rows, first, 4, narrow);
        break;
    case 5:
        panel(job, from, rows, first, 5, narrow);
        break;
    case 6:
        panel(job, from, rows, first, 6, narrow);
        break;
    case 7:
        panel(job, from, rows, first, 7, narrow);
        break;
#endif
    default:
        panel(job, from, rows, first, IFM_TILE, narrow);
        break;
    }
}

/* Where registers hold fewer than all activations, a second pass over a panel finds it in a cache. */
IFM_INLINE void share_rows(const struct ifm_gemm_job *job, unsigned index, unsigned count, const bool narrow)
{
    const struct ifm_gemm_share share = ifm_gemm_share_of(job->shape.n, index, count);
    const size_t m = job->shape.m;
    for (uint64_t row = share.from; row < share.to; row += IFM_GEMM_PANEL) {
        const size_t rows = share.to - row < IFM_GEMM_PANEL ? share.to - row : IFM_GEMM_PANEL;
        for (size_t first = 0; first < m; first += IFM_TILE)
            panel_tile(job, row, rows, first, m - first < IFM_TILE ? m - first : IFM_TILE, narrow);
    }
}

void IFM_KERNEL(ifm_gemm_f32)(const struct ifm_gemm_job *job, unsigned index, unsigned count)
{
    share_rows(job, index, count, false);
}

void IFM_KERNEL(ifm_gemm_bf16)(const struct ifm_gemm_job *job, unsigned index, unsigned count)
{
    share_rows(job, index, count, true);
}
