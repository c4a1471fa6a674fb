/* A row of attention in f64, by one warp: what the tiled kernels do with the few rows that their arithmetic cannot do.
 * Device code only.
 *
 * Two kinds of row are such. A weight of zero times a value that is no number is NaN in a product of matrices, though
 * the query does not see that key: only under `causal`, in the tile of its last key. And where scores pass 2^14, half a
 * unit of the last place of f32 is an error of the weights. */
#ifndef IFM_KERNEL_CUDA_FLASH_PLAIN_CUH
#define IFM_KERNEL_CUDA_FLASH_PLAIN_CUH

#include "kernel/cuda/attention_rows.cuh"
#include "kernel/cuda/storage.cuh"

namespace
{

#define F32_MOST 16384.0f /* 2^14 */

/* Of a row, its highest score, times log2(e). Minus infinity is that of scores which are all NaN or all minus infinity:
 * the row is NaN in any arithmetic. */
__device__ __forceinline__ bool is_beyond_f32(float top)
{
    return fabsf(top) > F32_MOST && top != -__int_as_float(0x7f800000);
}

/* Of a row under `causal`, a sum of its sums. */
__device__ __forceinline__ bool is_no_sum(float sums)
{
    return !(fabsf(sums) < __int_as_float(0x7f800000));
}

/* Query `position` of `pair`, which sees `seen` keys. */
template <int STORAGE>
__device__ __forceinline__ void attend_plainly(const ifm_attention_given &a, uint32_t pair, uint32_t position,
                                               uint32_t seen)
{
    enum { DIMS = IFM_ATTENTION_DIM_MOST / 32 };
    const uint32_t lane = threadIdx.x % 32, dim = a.head_dim, step = STEP(a, kv_views, dim);
    const uint64_t head = pair / a.q_heads * a.kv_heads + pair % a.q_heads / (a.q_heads / a.kv_heads);
    const uint64_t all = static_cast<uint64_t>(pair) * a.seq_len + position;
    const uint64_t row = PLACE_OF_ROW(a, q_views, all, pair, position, dim);
    const uint64_t kv = PLACE_OF_KV(a, head, pair / a.q_heads, pair % a.q_heads / (a.q_heads / a.kv_heads), dim);
    const uint64_t out = PLACE_OF_ROW(a, out_views, all, pair, position, dim);
    const double scale = 1 / sqrt(static_cast<double>(dim));
    const auto score = [&](uint32_t key) {
        double sum = 0;
#pragma unroll 1
        for (uint32_t d = 0; d < dim; d++)
            sum += static_cast<double>(ifm_widen<STORAGE>(a.q, row + d)) *
                   ifm_widen<STORAGE>(a.k, kv + static_cast<uint64_t>(key) * step + d);
        return sum * scale;
    };
    double top = -1.0 / 0.0, total = 0, sums[DIMS] = {};
#pragma unroll 1
    for (uint32_t key = lane; key < seen; key += 32)
        top = fmax(top, score(key));
    for (int step = 16; step > 0; step /= 2)
        top = fmax(top, __shfl_xor_sync(0xffffffffu, top, step));
#pragma unroll 1
    for (uint32_t first = 0; first < seen; first += 32) {
        const double mine = first + lane < seen ? exp(score(first + lane) - top) : 0;
#pragma unroll 1
        for (uint32_t i = 0; i < 32 && first + i < seen; i++) {
            const double weight = __shfl_sync(0xffffffffu, mine, i);
            total += weight;
#pragma unroll
            for (int d = 0; d < DIMS; d++)
                if (lane + 32 * d < dim)
                    sums[d] +=
                        weight * ifm_widen<STORAGE>(a.v, kv + static_cast<uint64_t>(first + i) * step + lane + 32 * d);
        }
    }
#pragma unroll
    for (int d = 0; d < DIMS; d++)
        if (lane + 32 * d < dim)
            ifm_narrow<STORAGE>(a.out, out + lane + 32 * d, static_cast<float>(sums[d] / total));
}

} // namespace

#endif
