/* Attention over a compressed cache in its readable form, of every format and head dimension. Device code only. */
#ifndef IFM_KERNEL_CUDA_PACKED_PLAIN_CUH
#define IFM_KERNEL_CUDA_PACKED_PLAIN_CUH

#include "kernel/cuda/decode_share.cuh"

namespace
{

enum { PLAIN_WARPS = IFM_PACKED_PLAIN_WARPS, CHANNELS = 8 /* of a lane, at most */, PLAIN_DIM = 32 * CHANNELS };

/* A warp's share of a head: sums of body pages, whose V may be rotated, and of sink and ring. */
struct plain_sums {
    float top, total, body[CHANNELS], side[CHANNELS];
};

__device__ float plain_e4m3(uint32_t x)
{
    const uint32_t bits = (x & 0x80) << 8 | (x & 0x7f) << 7;
    return (x & 0x7f) == 0x7f ? __int_as_float(0x7fc00000) : from_f16(static_cast<uint16_t>(bits)) * 256.0f;
}

__device__ float half_at(const unsigned char *page, uint32_t at)
{
    return from_f16(*reinterpret_cast<const uint16_t *>(page + at));
}

/* The scores of a warp's lanes make one; the weights before are taken down to the new maximum. */
__device__ float plain_weight(plain_sums &to, float score)
{
    for (int step = 16; step > 0; step /= 2)
        score += __shfl_xor_sync(EVERY, score, step);
    const float next = score > to.top ? score : to.top, shrink = exp2f(to.top - next), weight = exp2f(score - next);
    to.total = to.total * shrink + weight;
    for (int i = 0; i < CHANNELS; i++) {
        to.body[i] *= shrink;
        to.side[i] *= shrink;
    }
    to.top = next;
    return weight;
}

/* Channel `d` of a token's K. `low`: its place in the list of promoted ones, or more than that has. */
__device__ float plain_k(const ifm_kv_fragment &l, const unsigned char *page, uint32_t token, uint32_t d, uint32_t low)
{
    const uint32_t code = ifm_kv_code(page, ifm_kv_fragment_k(&l, token, d), l.bits);
    if (l.floats)
        return plain_e4m3(code) * *reinterpret_cast<const float *>(page + l.k_scale);
    float steps = static_cast<float>(code);
    if (l.promoted != 0 && low < l.head_dim / 8)
        steps += 0.25f * static_cast<float>(ifm_kv_code(page, ifm_kv_fragment_low(&l, token, low), 2));
    return half_at(page, l.k_zero + 2 * d) + half_at(page, l.k_scale + 2 * d) * steps;
}

__device__ float plain_v(const ifm_kv_fragment &l, const unsigned char *page, uint32_t token, uint32_t d)
{
    const uint32_t code = ifm_kv_code(page, ifm_kv_fragment_v(&l, token, d), l.bits);
    if (l.floats)
        return plain_e4m3(code) * *reinterpret_cast<const float *>(page + l.v_scale);
    const float middle = l.bits == 8 ? 128.0f : 0.5f * static_cast<float>((1u << l.bits) - 1);
    return (static_cast<float>(code) - middle) * half_at(page, ifm_kv_fragment_v_scale(&l, token));
}

__device__ void plain_page(const ifm_packed_attend &a, const unsigned char *page, const float *q, plain_sums &to)
{
    const uint32_t lane = threadIdx.x % 32, dim = a.head_dim;
    uint32_t low[CHANNELS];
    for (int i = 0; i < CHANNELS; i++) {
        low[i] = dim;
        for (uint32_t n = 0; a.layout.promoted != 0 && n < dim / 8; n++)
            low[i] = page[a.layout.promoted + n] == 32 * i + lane ? n : low[i];
    }
    for (uint32_t token = 0; token < IFM_DECODE_PAGE; token++) {
        float score = 0;
        for (uint32_t i = 0; 32 * i < dim; i++)
            score += q[i] * plain_k(a.layout, page, token, 32 * i + lane, low[i]);
        const float weight = plain_weight(to, score);
        for (uint32_t i = 0; 32 * i < dim; i++)
            to.body[i] += weight * plain_v(a.layout, page, token, 32 * i + lane);
    }
}

__device__ void plain_side(const ifm_packed_attend &a, const uint16_t *k, const uint16_t *v, const float *q,
                           plain_sums &to)
{
    const uint32_t lane = threadIdx.x % 32;
    float score = 0;
    for (uint32_t i = 0; 32 * i < a.head_dim; i++)
        score += q[i] * from_f16(k[32 * i + lane]);
    const float weight = plain_weight(to, score);
    for (uint32_t i = 0; 32 * i < a.head_dim; i++)
        to.side[i] += weight * from_f16(v[32 * i + lane]);
}

/* Sums of all warps in `sums`, [warps][2][PLAIN_DIM]; the outputs of the head. */
__device__ void plain_join(const ifm_packed_attend &a, const float (*stats)[2], float (*sums)[2][PLAIN_DIM])
{
    const uint32_t dim = a.head_dim, size = a.rotated ? dim & (0 - dim) : 1, d = threadIdx.x;
    float top = stats[0][0], total = 0, part[2] = {0, 0};
    for (int w = 1; w < PLAIN_WARPS; w++)
        top = stats[w][0] > top ? stats[w][0] : top;
    for (int w = 0; w < PLAIN_WARPS; w++) {
        const float factor = exp2f(stats[w][0] - top);
        total += factor * stats[w][1];
        for (int i = 0; i < 2 && d < dim; i++)
            part[i] += factor * sums[w][i][d];
    }
    float *turning = &sums[0][0][0];
    for (uint32_t step = 1; step < size; step *= 2) {
        __syncthreads();
        if (d < dim)
            turning[d] = part[0];
        __syncthreads();
        if (d < dim)
            part[0] = (d & step) == 0 ? part[0] + turning[d ^ step] : turning[d ^ step] - part[0];
    }
    if (d < dim)
        a.out[static_cast<uint64_t>(blockIdx.x) * dim + d] =
            (part[0] / sqrtf(static_cast<float>(size)) + part[1]) / total;
}

} // namespace

extern "C" __global__ void __launch_bounds__(32 * IFM_PACKED_PLAIN_WARPS, 1) ifm_packed_plain(ifm_packed_attend a)
{
    __shared__ float stats[PLAIN_WARPS][2], sums[PLAIN_WARPS][2][PLAIN_DIM];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, dim = a.head_dim, pair = blockIdx.x / a.group;
    const ifm_packed_unit u = a.units[pair * a.parts];
    const uint16_t *side = a.sides + static_cast<uint64_t>(pair) * 2 * IFM_KV_SIDE * dim;
    float q[CHANNELS];
    plain_sums mine = {NOTHING, 0, {0}, {0}};
    for (uint32_t i = 0; i < CHANNELS; i++)
        q[i] = 32 * i < dim ? a.q[static_cast<uint64_t>(blockIdx.x) * dim + 32 * i + lane] * a.scale : 0;
    for (uint32_t i = warp; i < u.pages; i += PLAIN_WARPS)
        plain_page(a, a.body + page_at(a, u.page + i) * a.layout.page_bytes, q, mine);
    for (uint32_t i = warp; i < u.sink + u.ring; i += PLAIN_WARPS) {
        const uint32_t r = i - u.sink, part = i < u.sink ? 0 : 1 + (u.pages + r / IFM_KV_SIDE_RING) % 2;
        const uint32_t row = i < u.sink ? i : r % IFM_KV_SIDE_RING;
        plain_side(a, side + ifm_kv_side_row(dim, part, row, 0), side + ifm_kv_side_row(dim, part, row, 1), q, mine);
    }
    stats[warp][0] = mine.top;
    stats[warp][1] = mine.total;
    for (uint32_t i = 0; 32 * i < dim; i++) {
        sums[warp][0][32 * i + lane] = mine.body[i];
        sums[warp][1][32 * i + lane] = mine.side[i];
    }
    __syncthreads();
    plain_join(a, stats, sums);
}

#endif
