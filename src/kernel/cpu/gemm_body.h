/* Few activations times rows of f32 or bf16; compiled once per instruction set (see lanes.h), which also says how many
 * activations the registers hold at once, IFM_TILE. One row at a time for one or two activations, so that memory is
 * read in one line; two rows for more, so that each vector of activations is loaded half as often. */
#include "base/half.h"
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"
#include "kernel/cpu/lanes_sum.h"

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

/* out[i][r] = row `row` + r times activation i, for `rows` x `m` of them with `chains` sums each. */
IFM_INLINE void tile(const struct ifm_gemm_job *job, uint64_t row, const float *x, float *out, const int rows,
                     const int m, const int chains, const bool narrow)
{
    enum { SUMS = 16 };
    const size_t k = job->shape.k, step = (size_t)chains * IFM_LANES;
    const char *w = (const char *)job->w + row * k * (narrow ? sizeof(uint16_t) : sizeof(float));
    floats sum[SUMS];
    for (int i = 0; i < rows * m * chains; i++)
        sum[i] = (floats){0};
    size_t at = 0;
    for (; at + step <= k; at += step)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < chains; c++) {
                const size_t here = at + (size_t)c * IFM_LANES;
                const floats weights = load_weights(w, (size_t)r * k + here, narrow);
                for (int i = 0; i < m; i++)
                    sum[(i * rows + r) * chains + c] += weights * load_floats(x + (size_t)i * k + here);
            }
    for (int i = 0; i < rows * m; i++)
        for (int c = 1; c < chains; c++)
            sum[i * chains] += sum[i * chains + c];
    for (int i = 0; i < rows * m; i++) {
        float dot;
        sum_each(&sum[i * chains], 1, &dot);
        for (size_t left = at; left < k; left++)
            dot += one_weight(w, (size_t)(i % rows) * k + left, narrow) * x[(size_t)(i / rows) * k + left];
        out[(size_t)(i / rows) * job->shape.n + row + (size_t)(i % rows)] = dot;
    }
}

/* All rows of a share for `m` activations. */
IFM_INLINE void rows_of(const struct ifm_gemm_job *job, struct ifm_gemm_share share, const float *x, float *out,
                        const int m, const bool narrow)
{
    const int rows = m > 2 ? 2 : 1, chains = m == 1 ? 8 : m == 2 ? 4 : 1;
    uint64_t row = share.from;
    for (; row + (uint64_t)rows <= share.to; row += (uint64_t)rows)
        tile(job, row, x, out, rows, m, chains, narrow);
    for (; row < share.to; row++)
        tile(job, row, x, out, 1, m, chains, narrow);
}

/* Where registers hold fewer than all activations, a second pass over a few rows finds them in the cache. */
IFM_INLINE void some_rows(const struct ifm_gemm_job *job, struct ifm_gemm_share share, const bool narrow)
{
    const size_t k = job->shape.k, n = job->shape.n;
    size_t left = job->shape.m;
    for (size_t i = 0; left > 0;) {
        const float *x = job->x + i * k;
        float *out = job->out + i * n;
        const size_t m = left < IFM_TILE ? left : IFM_TILE;
        switch (m) {
        case 1:
            rows_of(job, share, x, out, 1, narrow);
            break;
        case 2:
            rows_of(job, share, x, out, 2, narrow);
            break;
        case 3:
            rows_of(job, share, x, out, 3, narrow);
            break;
#if IFM_TILE == 4
        default:
            rows_of(job, share, x, out, 4, narrow);
            break;
#else
        case 4:
            rows_of(job, share, x, out, 4, narrow);
            break;
        case 5:
            rows_of(job, share, x, out, 5, narrow);
            break;
        case 6:
            rows_of(job, share, x, out, 6, narrow);
            break;
        case 7:
            rows_of(job, share, x, out, 7, narrow);
            break;
        default:
            rows_of(job, share, x, out, 8, narrow);
            break;
#endif
        }
        i += m;
        left -= m;
    }
}

IFM_INLINE void share_rows(const struct ifm_gemm_job *job, unsigned index, unsigned count, const bool narrow)
{
    const struct ifm_gemm_share share = ifm_gemm_share_of(job->shape.n, index, count);
    const uint64_t step = job->shape.m > IFM_TILE ? 2 : share.to - share.from;
    for (uint64_t row = share.from; row < share.to; row += step) {
        const uint64_t end = share.to - row < step ? share.to : row + step;
        some_rows(job, (struct ifm_gemm_share){row, end}, narrow);
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
