/* Attention of one new token over a compressed cache (kv/fragment.h). Device code only.
 *
 * ifm_packed_plain is the readable form, of every format and head dimension: a block for each query head, f32
 * throughout. ifm_packed_<format>_<head_dim> shares the items of all units among blocks that fill the GPU. Their warps
 * take items in turn out of one ring, each of one bulk copy or two; who is done with a stage fills it for another. */
#include "kernel/cuda/decode_feed.cuh"
#include "kernel/cuda/early.cuh"
#include "kernel/cuda/packed_tile.cuh"

/* ---- plain ---- */

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
        for (int i = 0; 32 * i < dim; i++)
            score += q[i] * plain_k(a.layout, page, token, 32 * i + lane, low[i]);
        const float weight = plain_weight(to, score);
        for (int i = 0; 32 * i < dim; i++)
            to.body[i] += weight * plain_v(a.layout, page, token, 32 * i + lane);
    }
}

__device__ void plain_side(const ifm_packed_attend &a, const uint16_t *k, const uint16_t *v, const float *q,
                           plain_sums &to)
{
    const uint32_t lane = threadIdx.x % 32;
    float score = 0;
    for (int i = 0; 32 * i < a.head_dim; i++)
        score += q[i] * from_f16(k[32 * i + lane]);
    const float weight = plain_weight(to, score);
    for (int i = 0; 32 * i < a.head_dim; i++)
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
    for (int i = 0; i < CHANNELS; i++)
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
    for (int i = 0; 32 * i < dim; i++) {
        sums[warp][0][32 * i + lane] = mine.body[i];
        sums[warp][1][32 * i + lane] = mine.side[i];
    }
    __syncthreads();
    plain_join(a, stats, sums);
}

/* ---- split ---- */

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace
{

enum { CREW = IFM_PACKED_WARPS /* warps of a block */ };

__device__ __forceinline__ void bulk_copy(uint32_t shared, const void *from, uint32_t bytes, uint32_t barrier)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

__device__ __forceinline__ void expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void await(uint32_t barrier, uint32_t phase)
{
    uint32_t done;
    do
        asm volatile("{.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(barrier), "r"(phase)
                     : "memory");
    while (done == 0);
}

/* The items that a warp loads. */
struct walker {
    uint32_t at, unit, item; /* the next one, among those of all units; its unit, and which of that */
    uint32_t items;          /* of that unit */
    ifm_packed_unit of;
};

__device__ __forceinline__ void find_items(const ifm_packed_attend &a, walker &w, uint32_t end)
{
    if (w.at >= end || w.item < w.items)
        return;
    while (w.item >= w.items) {
        w.item -= w.items;
        w.items = tiles_of(a, ++w.unit);
    }
    w.of = a.units[w.unit];
}

/* From item `at` on, which is of unit `unit` or behind it. */
__device__ __forceinline__ walker walk_from(const ifm_packed_attend &a, uint32_t unit, uint32_t at, uint32_t end)
{
    walker w = {at, unit, at - tile_of(a, unit), tiles_of(a, unit), a.units[unit]};
    find_items(a, w, end);
    return w;
}

/* The first value of tile `tile` of a pair's sink and ring, of K; `half` values on begins that of V. */
template <int D> __device__ __forceinline__ uint32_t side_tile(const ifm_packed_unit &u, uint32_t tile, uint32_t &half)
{
    const uint32_t sink = (u.sink + TILE - 1) / TILE, r = (tile - sink) * TILE;
    const uint32_t part = tile < sink ? 0 : 1 + (u.pages + r / IFM_KV_SIDE_RING) % 2;
    half = (part == 0 ? IFM_KV_SIDE_SINK : IFM_KV_SIDE_RING) * D;
    return ifm_kv_side_row(D, part, tile < sink ? tile * TILE : r % IFM_KV_SIDE_RING, 0);
}

/* Copies an item to a stage, and goes on by a round of the warps. One lane. */
template <int D, int FORMAT>
__device__ __forceinline__ void fetch(const ifm_packed_attend &a, const walker &w, uint32_t stage, uint32_t barrier)
{
    typedef packs<D, FORMAT> p;
    if (w.item < w.of.pages * p::CHUNKS) {
        const uint32_t chunk = w.item % p::CHUNKS;
        const unsigned char *page = a.body + page_at(a, w.of.page + w.item / p::CHUNKS) * a.layout.page_bytes;
        expect(barrier, p::HEAD_BYTES + p::BYTES);
        if (chunk == 0) {
            bulk_copy(stage, page, p::HEAD_BYTES + p::BYTES, barrier);
            return;
        }
        bulk_copy(stage, page, p::HEAD_BYTES, barrier);
        bulk_copy(stage + p::HEAD_BYTES, page + p::HEAD_BYTES + chunk * p::BYTES, p::BYTES, barrier);
        return;
    }
    const uint64_t pair = w.unit / a.parts;
    uint32_t half;
    const uint32_t row = side_tile<D>(w.of, w.item - w.of.pages * p::CHUNKS, half);
    const uint16_t *from = a.sides + pair * 2 * IFM_KV_SIDE * D + row;
    expect(barrier, sizes<D>::STAGE);
    bulk_copy(stage, from, sizes<D>::HALF, barrier);
    bulk_copy(stage + sizes<D>::HALF, from + half, sizes<D>::HALF, barrier);
}

template <int D, int FORMAT>
__device__ __forceinline__ void fetch_next(const ifm_packed_attend &a, walker &w, uint32_t end, uint32_t stage,
                                           uint32_t barrier, uint32_t lane)
{
    if (w.at >= end)
        return;
    if (lane == 0)
        fetch<D, FORMAT>(a, w, stage, barrier);
    w.at += CREW;
    w.item += CREW;
    find_items(a, w, end);
}

/* A cycle's queries of a unit, a head a warp at a time. `keep`: they are stored in `made` too. */
template <int D>
__device__ __forceinline__ void make_queries(const ifm_packed_attend &a, const heads &h, uint4 *q, bool keep)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t g = threadIdx.x / 32; g < HEADS; g += CREW) {
        const float4 x = next_query<D>(a, h, g, keep);
        if (lane < D / 4)
            reinterpret_cast<uint2 *>(q + 32 * (lane / 8) + 4 * g + lane % 8 / 2)[lane % 2] =
                make_uint2(pack(x.x, x.y), pack(x.z, x.w));
    }
}

/* The queries of a unit as f16, channels 32 i + 8 t on of head g at [i][4 g + t]. */
template <int D>
__device__ __forceinline__ void begin_unit(const ifm_packed_attend &a, const heads &h, uint4 *q, bool first)
{
    if (a.fresh != nullptr) {
        make_queries<D>(a, h, q, first);
        __syncthreads();
        return;
    }
    const uint32_t lane = threadIdx.x % 32, i = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    if (i < D / 32) {
        const float4 *from =
            reinterpret_cast<const float4 *>(a.q + row_of(a, h) + (g < h.n ? g : 0) * D) + 8 * i + 2 * t;
        const float4 x = from[0], y = from[1];
        const uint4 packed = make_uint4(pack(x.x, x.y), pack(x.z, x.w), pack(y.x, y.y), pack(y.z, y.w));
        q[32 * i + lane] = g < h.n ? packed : make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
}

/* A tile of the sink or the ring, f16. */
template <int D>
__device__ __forceinline__ void attend_side(attention<D> &work, uint32_t stage, uint32_t q, float scale, uint32_t left,
                                            uint32_t lane)
{
    float c[4];
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS / 2; i++) {
        const uint4 x = load_shared(q + (32 * i + lane) * 16);
        work.q[2 * i][0] = x.x;
        work.q[2 * i][1] = x.y;
        work.q[2 * i + 1][0] = x.z;
        work.q[2 * i + 1][1] = x.w;
    }
    score<D, ROWS>(scale, work, stage, left, lane, c);
    raise<D>(work, c);
    add_values<D, ROWS>(work, stage, c, lane);
}

/* The newest token of a pair, the last one of tile `tile` of its sink and ring: into the cache, and into the stage. */
template <int D>
__device__ __forceinline__ void add_row(const ifm_packed_attend &a, const ifm_packed_unit &u, uint64_t pair,
                                        uint32_t tile, uint32_t row, uint32_t stage, uint32_t lane)
{
    uint32_t half;
    uint16_t *side = a.sides + pair * 2 * IFM_KV_SIDE * D + side_tile<D>(u, tile, half) + row * D;
    const float2 *from = reinterpret_cast<const float2 *>(a.rows + pair * 2 * D);
#pragma unroll
    for (int i = 0; i < 2 * D / 64; i++) {
        const uint32_t of_v = 64 * i >= D, d = 64 * i + 2 * lane - of_v * D;
        const float2 x = from[32 * i + lane];
        const uint32_t both = half_of(x.x) | half_of(x.y) << 16;
        *reinterpret_cast<uint32_t *>(side + of_v * half + d) = both;
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(stage + of_v * sizes<D>::HALF + (row * D + d) * 2), "r"(both)
                     : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); /* a bulk copy will overwrite it */
    __syncwarp();
}

/* Tokens of the unit's sink, or of its ring, from tile `tile` of both on. */
__device__ __forceinline__ uint32_t tokens_left(const ifm_packed_unit &u, uint32_t tile)
{
    const uint32_t sink = (u.sink + TILE - 1) / TILE;
    return tile < sink ? u.sink - tile * TILE : u.ring - (tile - sink) * TILE;
}

/* What the warps of a block have of a unit, joined, and with other blocks' where they share it. */
template <int D, bool TURNED>
__device__ __forceinline__ void end_unit(const ifm_packed_attend &a, const heads &h, attention<D> &work, float *rows,
                                         warp_stats (*stats)[HEADS], uint32_t unit, bool whole, bool first)
{
    leave<D, CREW>(work, rows, stats, h.n, threadIdx.x / 32, threadIdx.x % 32);
    if (whole) {
        join_warps<D, TURNED, CREW>(a, h, rows, stats, nullptr);
    } else {
        const sharers s = sharers_of(a, unit);
        join_warps<D, TURNED, CREW>(a, h, rows, stats,
                                    a.partials + (2 * blockIdx.x + !first) * static_cast<uint64_t>(HEAD + HEADS * D));
        if (is_last(a, unit, s.n))
            join_blocks<D, TURNED, CREW>(a, h, s, rows);
    }
    __syncthreads();
}

__device__ constexpr int common_factor(int a, int b)
{
    return b == 0 ? a : common_factor(b, a % b);
}

/* Items have stages in turn, and barriers in turn: so many that a barrier is of one warp, which waits for all of its
 * phases. With a barrier a stage warps would take turns at it, and a wait tells a phase only from the next. */
template <int STAGES> struct ring_of {
    enum { BARRIERS = STAGES / common_factor(STAGES, CREW) * CREW };
};

/* Where a warp is in the ring: its next item's stage and barrier, and that one's phase, odd or even. */
struct ring_place {
    uint32_t stage, barrier, phase;
};

template <int STAGES> __device__ __forceinline__ void go_on(ring_place &r)
{
    r.stage += r.stage + CREW < STAGES ? CREW : CREW - STAGES;
    r.barrier += CREW;
    if (r.barrier >= ring_of<STAGES>::BARRIERS) {
        r.barrier -= ring_of<STAGES>::BARRIERS;
        r.phase ^= 1;
    }
}

/* That of the item which has the stage next. */
template <int STAGES> __device__ __forceinline__ uint32_t barrier_behind(const ring_place &r)
{
    const uint32_t barrier = r.barrier + STAGES;
    return barrier < ring_of<STAGES>::BARRIERS ? barrier : barrier - ring_of<STAGES>::BARRIERS;
}

/* What a warp has of a unit so far. */
template <int D> struct part_of_unit {
    attention<D> work;
    float sums[4];
    bool settled; /* body pages are done with: sums are those of values as sink and ring have them */
};

template <int D> __device__ __forceinline__ void begin_part(part_of_unit<D> &part)
{
#pragma unroll
    for (int i = 0; i < sizes<D>::STEPS; i++)
        part.work.out[i][0] = part.work.out[i][1] = part.work.out[i][2] = part.work.out[i][3] = 0;
    part.work.top[0] = part.work.top[1] = NOTHING;
    part.work.total[0] = part.work.total[1] = 0;
    part.sums[0] = part.sums[1] = part.sums[2] = part.sums[3] = 0;
    part.settled = false;
}

/* Sums become those of values, rotated again where body pages are: blocks and warps join such. */
template <int D, int FORMAT, bool FEW> __device__ __forceinline__ void end_part(part_of_unit<D> &part, uint32_t lane)
{
    if (!part.settled)
        settle<D, FORMAT, FEW>(part.work, part.sums);
    else if (packs<D, FORMAT>::ROTATED)
        turn<D>(part.work, lane);
}

/* An item of the unit that lies in a stage; tiles of sink and ring lie behind `body` chunks. `last`: of the unit's. */
template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void attend_item(const ifm_packed_attend &a, const ifm_packed_unit &u, uint32_t pair,
                                            part_of_unit<D> &part, uint32_t item, bool last, uint32_t stage, uint32_t q,
                                            uint32_t lane)
{
    const uint32_t body = u.pages * packs<D, FORMAT>::CHUNKS;
    if (item < body) {
        attend_chunk<D, FORMAT, FEW>(part.work, stage, q, a.scale, part.sums, lane);
        return;
    }
    if (!part.settled) {
        settle<D, FORMAT, FEW>(part.work, part.sums);
        if (packs<D, FORMAT>::ROTATED)
            turn<D>(part.work, lane);
        part.settled = true;
    }
    const uint32_t left = tokens_left(u, item - body);
    if (last && a.rows != nullptr)
        add_row<D>(a, u, pair, item - body, left - 1, stage, lane);
    attend_side<D>(part.work, stage, q, a.scale, left, lane);
}

/* One arrival completes a phase; so many bytes are then there. */
template <int STAGES> __device__ __forceinline__ void begin_barriers(uint32_t bars)
{
    if (threadIdx.x < ring_of<STAGES>::BARRIERS)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bars + 8 * threadIdx.x));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

/* What the warps of a block share, beside the ring. */
template <int D, int STAGES> struct crew_room {
    uint4 queries[D];
    unsigned long long barriers[ring_of<STAGES>::BARRIERS];
    warp_stats stats[CREW][HEADS];
};

template <int D, int FORMAT, int STAGES, bool FEW>
__device__ __forceinline__ void attend_packed(const ifm_packed_attend &a, char *shared, crew_room<D, STAGES> &room)
{
    typedef packs<D, FORMAT> p;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t ring = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    const uint32_t bars = static_cast<uint32_t>(__cvta_generic_to_shared(room.barriers));
    const uint32_t q = static_cast<uint32_t>(__cvta_generic_to_shared(room.queries));
    float *rows = reinterpret_cast<float *>(shared + STAGES * p::STAGE);
    const uint32_t first = share_of(a, blockIdx.x), end = share_of(a, blockIdx.x + 1);
    uint32_t unit = unit_of_block(a, first), at = first + warp;
    begin_barriers<STAGES>(bars);
    walker next = walk_from(a, unit, at, end);
    for (uint32_t i = warp; i < STAGES; i += CREW)
        fetch_next<D, FORMAT>(a, next, end, ring + i * p::STAGE, bars + 8 * i, lane);
    next = walk_from(a, unit, at + STAGES, end); /* what takes a stage again, by the warp that empties it */
    if (a.fresh == nullptr)
        let_next_begin();
    wait_for_previous();
    if (a.fresh != nullptr) /* the next one reads, before it waits, what the one in front of us may have written */
        let_next_begin();
    ring_place here = {warp, warp, 0};
    for (uint32_t from = first; from < end; unit++) {
        const ifm_packed_unit u = a.units[unit];
        const uint32_t begins = u.item, ends = begins + tiles_of(a, unit), to = ends < end ? ends : end;
        const heads h = heads_of(a, unit);
        part_of_unit<D> part;
        begin_part<D>(part);
        begin_unit<D>(a, h, room.queries, from == begins);
        for (; at < to; at += CREW) {
            const uint32_t stage = ring + here.stage * p::STAGE;
            await(bars + 8 * here.barrier, here.phase);
            attend_item<D, FORMAT, FEW>(a, u, h.pair, part, at - begins, at + 1 == ends, stage, q, lane);
            __syncwarp();
            fetch_next<D, FORMAT>(a, next, end, stage, bars + 8 * barrier_behind<STAGES>(here), lane);
            go_on<STAGES>(here);
        }
        end_part<D, FORMAT, FEW>(part, lane);
        end_unit<D, p::ROTATED>(a, h, part.work, rows, room.stats, unit, from == begins && to == ends, from == first);
        from = to;
    }
}

} // namespace

#define PACKED(name, D, FORMAT, STAGES)                                                                                \
    extern "C" __global__ void __launch_bounds__(32 * IFM_PACKED_WARPS, 1) name(ifm_packed_attend a)                   \
    {                                                                                                                  \
        extern __shared__ __align__(128) char shared[];                                                                \
        __shared__ __align__(16) crew_room<D, STAGES> room;                                                            \
        if (a.group <= HEADS / 2)                                                                                      \
            attend_packed<D, FORMAT, STAGES, true>(a, shared, room);                                                   \
        else                                                                                                           \
            attend_packed<D, FORMAT, STAGES, false>(a, shared, room);                                                  \
    }
PACKED(ifm_packed_int8_64, 64, INT8, IFM_PACKED_STAGES_64)
PACKED(ifm_packed_int8_128, 128, INT8, IFM_PACKED_STAGES_128)
PACKED(ifm_packed_e4m3_64, 64, E4M3, IFM_PACKED_STAGES_64)
PACKED(ifm_packed_e4m3_128, 128, E4M3, IFM_PACKED_STAGES_128)
PACKED(ifm_packed_int4_64, 64, INT4, IFM_PACKED_STAGES_64)
PACKED(ifm_packed_int4_128, 128, INT4, IFM_PACKED_STAGES_128)
PACKED(ifm_packed_int2_64, 64, INT2, IFM_PACKED_STAGES_64)
PACKED(ifm_packed_int2_128, 128, INT2, IFM_PACKED_STAGES_INT2_128)
#endif

/* ---- probe ---- */

extern "C" __global__ void __launch_bounds__(32) ifm_packed_probe(ifm_packed_probe_of p)
{
    const uint32_t *a = p.a + 4 * threadIdx.x, *b = p.b + 2 * threadIdx.x;
    float c[4] = {0, 0, 0, 0};
    multiply(c, a[0], a[1], a[2], a[3], b[0], b[1]);
    for (int i = 0; i < 4; i++)
        p.c[4 * threadIdx.x + i] = c[i];
}
