/* The queries of an inference cycle, each made of the output in front of it. Device code only. */
#ifndef IFM_KERNEL_CUDA_DECODE_FEED_CUH
#define IFM_KERNEL_CUDA_DECODE_FEED_CUH

#include "kernel/cuda/decode_share.cuh"

namespace
{

/* sqrt of the sum of squares over the warp. */
__device__ __forceinline__ float length_of(const float4 x[2])
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        sum += x[i].x * x[i].x + x[i].y * x[i].y + x[i].z * x[i].z + x[i].w * x[i].w;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(EVERY, sum, step);
    return sqrtf(sum);
}

__device__ __forceinline__ float rounded(float x)
{
    return from_f16(static_cast<uint16_t>(pack(x, 0)));
}

/* To nearest even; NaN keeps its sign, and loses its payload. */
__device__ __forceinline__ uint32_t half_of(float x)
{
    const uint32_t bits = __float_as_uint(x), half = pack(x, 0);
    return (bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16 & 0x8000) | 0x7e00 : half;
}

/* A query head's next query in place of the fresh one, by a warp: that and the last output in equal parts, as long as
 * the fresh one (`own`), rounded to f16. `alone`: there is no output. */
__device__ __forceinline__ void mix(float4 q[2], float own, const float4 output[2], bool alone)
{
    const float other = length_of(output), part = other > 0 ? own / other : 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        q[i] = make_float4(q[i].x + part * output[i].x, q[i].y + part * output[i].y, q[i].z + part * output[i].z,
                           q[i].w + part * output[i].w);
    const float mixed = length_of(q), scale = alone ? 1 : mixed > 0 ? own / mixed : 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        q[i] = make_float4(rounded(q[i].x * scale), rounded(q[i].y * scale), rounded(q[i].z * scale),
                           rounded(q[i].w * scale));
}

/* A query head's next query, from where its parts lie to where it belongs. */
__device__ __forceinline__ void feed(const ifm_decode_advance_of &a, uint32_t head, uint32_t lane)
{
    const uint64_t at = static_cast<uint64_t>(head) * a.head_dim / 4;
    const uint32_t columns = a.head_dim / 4;
    float4 q[2], output[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const bool mine = lane + 32 * i < columns;
        q[i] = output[i] = make_float4(0, 0, 0, 0);
        if (mine)
            q[i] = reinterpret_cast<const float4 *>(a.fresh)[at + lane + 32 * i];
        if (mine && a.output != nullptr)
            output[i] = reinterpret_cast<const float4 *>(a.output)[at + lane + 32 * i];
    }
    mix(q, length_of(q), output, a.output == nullptr);
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (lane + 32 * i < columns)
            reinterpret_cast<float4 *>(a.q)[at + lane + 32 * i] = q[i];
}

/* No part of a sum, so that every kernel rounds alike. */
__device__ __forceinline__ float4 times(const float4 &x, float factor)
{
    return make_float4(__fmul_rn(x.x, factor), __fmul_rn(x.y, factor), __fmul_rn(x.z, factor), __fmul_rn(x.w, factor));
}

/* What some blocks left of four outputs of a head. */
struct left_outputs {
    enum { AT_ONCE = 4 };
    float4 x[AT_ONCE];
    float tops[AT_ONCE], totals[AT_ONCE];
};

/* Of blocks `b` on of those that share a unit. */
template <int D>
__device__ __forceinline__ left_outputs left_of(const ifm_packed_attend &a, const heads &h, const float *partials,
                                                uint32_t g, uint32_t b)
{
    enum { EACH = HEAD + HEADS * D };
    const uint32_t unit = a.parts == 1 ? h.pair : h.pair * a.parts + h.first / HEADS;
    const float *from = partials + static_cast<uint64_t>(2 * EACH) * unit * a.splits;
    const uint32_t at = HEAD + g * D + threadIdx.x % (D / 4) * 4;
    left_outputs l;
#pragma unroll
    for (uint32_t j = 0; j < left_outputs::AT_ONCE; j++) {
        const float *left = from + (b + j < a.splits ? b + j : b) * (2 * EACH);
        l.x[j] = __ldcg(reinterpret_cast<const float4 *>(left + at));
        l.tops[j] = b + j < a.splits ? __ldcg(left + g) : NOTHING;
        l.totals[j] = __ldcg(left + HEADS + g);
    }
    return l;
}

/* Four outputs of head `g` of a unit, of what `splits` blocks left of it at `partials`; `l`: of the first ones. */
template <int D>
__device__ __forceinline__ float4 joined(const ifm_packed_attend &a, const heads &h, const float *partials, uint32_t g,
                                         left_outputs l)
{
    float4 sum = make_float4(0, 0, 0, 0);
    float top = NOTHING, total = 0;
#pragma unroll 1
    for (uint32_t b = 0;;) {
        const float before = top;
#pragma unroll
        for (int j = 0; j < left_outputs::AT_ONCE; j++)
            top = fmaxf(top, l.tops[j]);
        const float shrink = power_of_2(before - top);
        sum = times(sum, shrink);
        total = __fmul_rn(total, shrink);
#pragma unroll
        for (int j = 0; j < left_outputs::AT_ONCE; j++) {
            const float factor = power_of_2(l.tops[j] - top);
            total = fmaf(factor, l.totals[j], total);
            sum = make_float4(fmaf(factor, l.x[j].x, sum.x), fmaf(factor, l.x[j].y, sum.y),
                              fmaf(factor, l.x[j].z, sum.z), fmaf(factor, l.x[j].w, sum.w));
        }
        b += left_outputs::AT_ONCE;
        if (b >= a.splits)
            break;
        l = left_of<D>(a, h, partials, g, b);
    }
    return times(sum, 1 / total);
}

/* Four values of the last output, of a lane that has them; what is asked for first. */
template <int D>
__device__ __forceinline__ left_outputs output_of(const ifm_decode_attend &a, const heads &, uint64_t at, uint32_t)
{
    left_outputs l;
    l.x[0] = __ldcg(reinterpret_cast<const float4 *>(a.output) + at);
    return l;
}

template <int D>
__device__ __forceinline__ left_outputs output_of(const ifm_packed_attend &a, const heads &h, uint64_t at, uint32_t g)
{
    if (a.before != nullptr)
        return left_of<D>(a, h, a.before, g, 0);
    left_outputs l;
    l.x[0] = __ldcg(reinterpret_cast<const float4 *>(a.output) + at);
    return l;
}

/* `keep`: they are stored, where they are joined here. */
template <int D>
__device__ __forceinline__ float4 whole_output(const ifm_decode_attend &, const heads &, uint64_t, uint32_t,
                                               const left_outputs &l, bool)
{
    return l.x[0];
}

template <int D>
__device__ __forceinline__ float4 whole_output(const ifm_packed_attend &a, const heads &h, uint64_t at, uint32_t g,
                                               const left_outputs &l, bool keep)
{
    if (a.before == nullptr)
        return l.x[0];
    const float4 x = joined<D>(a, h, a.before, g, l);
    if (keep)
        reinterpret_cast<float4 *>(a.output)[at] = x;
    return x;
}

/* What a query head's next query is made of before there is an output, of four channels a lane. */
struct fresh_query {
    float4 x;
    float length;
    uint64_t at;
    bool mine; /* there is such a head, and a channel of the lane */
};

template <int D, typename ARGUMENTS>
__device__ __forceinline__ fresh_query fresh_of(const ARGUMENTS &a, const heads &h, uint32_t g)
{
    const uint32_t lane = threadIdx.x % 32;
    fresh_query f = {make_float4(0, 0, 0, 0), 0, row_of(a, h) / 4 + g * D / 4 + lane, g < h.n && lane < D / 4};
    if (f.mine)
        f.x = reinterpret_cast<const float4 *>(a.fresh)[f.at];
    return f;
}

__device__ __forceinline__ fresh_query with_length(fresh_query f)
{
    const float4 both[2] = {f.x, make_float4(0, 0, 0, 0)};
    f.length = length_of(both);
    return f;
}

/* What it is made of besides. */
template <int D, typename ARGUMENTS>
__device__ __forceinline__ left_outputs output_in_front(const ARGUMENTS &a, const heads &h, uint32_t g,
                                                        const fresh_query &f)
{
    if (f.mine && a.output != nullptr)
        return output_of<D>(a, h, f.at, g);
    return {};
}

/* The next query where attention makes it, zero where there is no such head; `keep`: it is stored in `made` too. */
template <int D, typename ARGUMENTS>
__device__ __forceinline__ float4 next_query(const ARGUMENTS &a, const heads &h, uint32_t g, const fresh_query &f,
                                             const left_outputs &l, bool keep)
{
    const float4 none = make_float4(0, 0, 0, 0);
    float4 x[2] = {f.x, none}, output[2] = {none, none};
    if (f.mine && a.output != nullptr)
        output[0] = whole_output<D>(a, h, f.at, g, l, keep);
    mix(x, f.length, output, a.output == nullptr);
    if (f.mine && keep)
        reinterpret_cast<float4 *>(a.made)[f.at] = x[0];
    return x[0];
}

} // namespace

#endif
