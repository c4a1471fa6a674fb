/* Attention, plainly: the readable first rung, and the reference in f64 that every arm's output is held against. Device
 * code only.
 *
 * A block has one query. A query sees the keys of its own sequence, under `causal` none behind its own position; one
 * that sees none gets zeros. */
#include "kernel/cuda/attention_rows.cuh"
#include "kernel/cuda/storage.cuh"

namespace
{

enum { THREADS = IFM_ATTENTION_NAIVE_THREADS, WARPS = THREADS / 32 };
enum { DIMS = IFM_ATTENTION_DIM_MOST / THREADS }; /* of an output row that a thread has */

/* Where a block's query is, and what it sees. */
struct seen_query {
    uint64_t q, kv, out; /* index of the first value of each */
    uint32_t seen;       /* keys */
};

__device__ seen_query place_of(const ifm_attention_given &a)
{
    uint64_t row = blockIdx.x, pair = row / a.seq_len, sequence = pair / a.q_heads;
    uint64_t kv_head = pair % a.q_heads / (a.q_heads / a.kv_heads);
    uint32_t position = static_cast<uint32_t>(row % a.seq_len), length = a.lengths[sequence];
    return {PLACE_OF_ROW(a, q_views, row, pair, position, a.head_dim),
            PLACE_OF_KV(a, sequence * a.kv_heads + kv_head, sequence, kv_head, a.head_dim),
            PLACE_OF_ROW(a, out_views, row, pair, position, a.head_dim),
            position >= length ? 0
            : a.causal         ? position + 1
                               : length};
}

template <typename T> __device__ T larger(T x, T y)
{
    return x > y ? x : y;
}

template <typename T> struct of_block {
    T part[WARPS];

    __device__ T max(T value)
    {
        for (int step = 16; step > 0; step /= 2)
            value = larger(value, __shfl_xor_sync(0xffffffffu, value, step));
        share(value);
        for (int w = 0; w < WARPS; w++)
            value = larger(value, part[w]);
        return value;
    }

    __device__ T sum(T value)
    {
        for (int step = 16; step > 0; step /= 2)
            value += __shfl_xor_sync(0xffffffffu, value, step);
        share(value);
        T all = 0;
        for (int w = 0; w < WARPS; w++)
            all += part[w];
        return all;
    }

    __device__ void share(T value)
    {
        __syncthreads();
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = value;
        __syncthreads();
    }
};

/* Online: a tile of keys at a time, one key a thread; maximum, total and sums are kept and rescaled. */
template <int STORAGE> __device__ void naive(const ifm_attention_given &a)
{
    __shared__ float query[IFM_ATTENTION_DIM_MOST], weights[THREADS];
    __shared__ of_block<float> block;
    const seen_query at = place_of(a);
    const unsigned t = threadIdx.x, dim = a.head_dim;
    const float scale = 1.0f / sqrtf(static_cast<float>(dim));
    float top = __int_as_float(0xff800000), total = 0, sums[DIMS] = {};
    for (unsigned d = t; d < dim; d += THREADS)
        query[d] = scale * ifm_widen<STORAGE>(a.q, at.q + d);
    for (uint32_t first = 0; first < at.seen; first += THREADS) {
        float score = __int_as_float(0xff800000);
        __syncthreads();
        if (first + t < at.seen) {
            score = 0;
            for (unsigned d = 0; d < dim; d++)
                score += query[d] *
                         ifm_widen<STORAGE>(a.k, at.kv + static_cast<uint64_t>(first + t) * STEP(a, kv_views, dim) + d);
        }
        const float now = larger(top, block.max(score)), kept = expf(top - now), weight = expf(score - now);
        weights[t] = weight;
        total = total * kept + block.sum(weight);
        top = now;
        const unsigned keys = at.seen - first < THREADS ? at.seen - first : THREADS;
#pragma unroll
        for (int i = 0; i < DIMS; i++) {
            const unsigned d = t + i * THREADS;
            sums[i] *= kept;
            for (unsigned key = 0; d < dim && key < keys; key++)
                sums[i] +=
                    weights[key] *
                    ifm_widen<STORAGE>(a.v, at.kv + static_cast<uint64_t>(first + key) * STEP(a, kv_views, dim) + d);
        }
    }
#pragma unroll
    for (int i = 0; i < DIMS; i++)
        if (t + i * THREADS < dim)
            ifm_narrow<STORAGE>(a.out, at.out + t + i * THREADS, at.seen > 0 ? sums[i] / total : 0);
}

__device__ double value_of(const ifm_attention_arguments &a, const void *from, uint64_t i)
{
    return a.storage == IFM_CUDA_F32    ? ifm_widen<IFM_CUDA_F32>(from, i)
           : a.storage == IFM_CUDA_BF16 ? ifm_widen<IFM_CUDA_BF16>(from, i)
                                        : ifm_widen<IFM_CUDA_F16>(from, i);
}

__device__ double score_of(const ifm_attention_arguments &a, const double *query, uint64_t key)
{
    double score = 0;
    for (unsigned d = 0; d < a.head_dim; d++)
        score += query[d] * value_of(a, a.k, key + d);
    return score / sqrt(static_cast<double>(a.head_dim));
}

} // namespace

extern "C" __global__ void __launch_bounds__(THREADS) ATTENTION_KERNEL(ifm_attention_naive_f32)(ifm_attention_given a)
{
    naive<IFM_CUDA_F32>(a);
}

extern "C" __global__ void __launch_bounds__(THREADS) ATTENTION_KERNEL(ifm_attention_naive_bf16)(ifm_attention_given a)
{
    naive<IFM_CUDA_BF16>(a);
}

extern "C" __global__ void __launch_bounds__(THREADS) ATTENTION_KERNEL(ifm_attention_naive_f16)(ifm_attention_given a)
{
    naive<IFM_CUDA_F16>(a);
}

/* The textbook's two passes in f64, and f64 comes out. */
extern "C" __global__ void __launch_bounds__(THREADS) ATTENTION_KERNEL(ifm_attention_reference)(ifm_attention_given a)
{
    __shared__ double query[IFM_ATTENTION_DIM_MOST], weights[THREADS];
    __shared__ of_block<double> block;
    const seen_query at = place_of(a);
    const unsigned t = threadIdx.x, dim = a.head_dim, step = STEP(a, kv_views, dim);
    double top = -1.0 / 0.0, total = 0, sums[DIMS] = {};
    for (unsigned d = t; d < dim; d += THREADS)
        query[d] = value_of(a, a.q, at.q + d);
    __syncthreads();
    for (uint32_t key = t; key < at.seen; key += THREADS)
        top = larger(top, score_of(a, query, at.kv + static_cast<uint64_t>(key) * step));
    top = block.max(top);
    for (uint32_t first = 0; first < at.seen; first += THREADS) {
        const unsigned keys = at.seen - first < THREADS ? at.seen - first : THREADS;
        __syncthreads();
        if (t < keys)
            weights[t] = exp(score_of(a, query, at.kv + static_cast<uint64_t>(first + t) * step) - top);
        __syncthreads();
        for (unsigned key = 0; key < keys; key++)
            total += weights[key];
#pragma unroll
        for (int i = 0; i < DIMS; i++)
            for (unsigned key = 0; t + i * THREADS < dim && key < keys; key++)
                sums[i] += weights[key] *
                           value_of(a, a.v, at.kv + static_cast<uint64_t>(first + key) * step + t + i * THREADS);
    }
#pragma unroll
    for (int i = 0; i < DIMS; i++)
        if (t + i * THREADS < dim)
            static_cast<double *>(a.out)[at.out + t + i * THREADS] = at.seen > 0 ? sums[i] / total : 0;
}
