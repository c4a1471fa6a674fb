/* Attention of one new token over a compressed cache (kv/fragment.h). Device code only.
 *
 * ifm_packed_plain is the readable form, of every format and head dimension: a block for each query head, f32
 * throughout. ifm_packed_<format>_<head_dim> shares the items of all units among blocks that fill the GPU. Their warps
 * take items in turn out of one ring, each of one bulk copy or two; who is done with a stage fills it for another. */
#include "kernel/cuda/decode_feed.cuh"
#include "kernel/cuda/early.cuh"
#include "kernel/cuda/packed_join.cuh"
#include "kernel/cuda/packed_left.cuh"
#include "kernel/cuda/packed_plain.cuh"
#include "kernel/cuda/packed_ptx.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

namespace
{

/* The items that a warp loads. */
struct walker {
    uint32_t at, unit, item; /* the next one, among those of all units; its unit, and which of that */
    uint32_t items;          /* of that unit */
    ifm_packed_unit of;
};

/* Units from a block's first one on, in shared memory: a load from memory waits behind all copies on their way. */
struct near_units {
    enum { N = 16 };
    ifm_packed_unit units[N + 1];
    uint32_t first;
};

__device__ __forceinline__ ifm_packed_unit unit_at(const ifm_packed_attend &a, const near_units &near, uint32_t unit)
{
    return unit - near.first <= near_units::N ? near.units[unit - near.first] : a.units[unit];
}

/* The first item behind a unit. */
__device__ __forceinline__ uint32_t behind(const ifm_packed_attend &a, const near_units &near, uint32_t unit)
{
    return unit + 1 - near.first <= near_units::N ? near.units[unit + 1 - near.first].item : a.units[unit + 1].item;
}

__device__ __forceinline__ void find_items(const ifm_packed_attend &a, const near_units &near, walker &w, uint32_t end)
{
    if (w.at >= end || w.item < w.items)
        return;
    while (w.item >= w.items && w.unit + 1 < a.n_units) {
        w.item -= w.items;
        w.of = unit_at(a, near, ++w.unit);
        w.items = behind(a, near, w.unit) - w.of.item;
    }
}

/* Items of a unit. */
template <int CHUNKS> __device__ __forceinline__ uint32_t items_of(const ifm_packed_unit &u)
{
    return u.pages * CHUNKS + (u.sink + TILE - 1) / TILE + (u.ring + TILE - 1) / TILE;
}

/* From item `at` on, of a block's. Of its first unit alone nothing of `near` is read. */
template <int CHUNKS>
__device__ __forceinline__ walker walk_from(const ifm_packed_attend &a, const near_units &near,
                                            const ifm_packed_share &s, uint32_t at)
{
    walker w = {at, s.unit, at - s.first.item, items_of<CHUNKS>(s.first), s.first};
    find_items(a, near, w, s.end);
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
    const uint64_t pair = a.parts == 1 ? w.unit : w.unit / a.parts;
    uint32_t half;
    const uint32_t row = side_tile<D>(w.of, w.item - w.of.pages * p::CHUNKS, half);
    const uint16_t *from = a.sides + pair * 2 * IFM_KV_SIDE * D + row;
    expect(barrier, sizes<D>::STAGE);
    bulk_copy(stage, from, sizes<D>::HALF, barrier);
    bulk_copy(stage + sizes<D>::HALF, from + half, sizes<D>::HALF, barrier);
}

template <typename C, int D, int FORMAT>
__device__ __forceinline__ void fetch_next(const ifm_packed_attend &a, const near_units &near, walker &w, uint32_t end,
                                           uint32_t stage, uint32_t barrier, uint32_t lane)
{
    if (w.at >= end)
        return;
    if (lane == 0)
        fetch<D, FORMAT>(a, w, stage, barrier);
    w.at += C::CREW;
    w.item += C::CREW;
    find_items(a, near, w, end);
}

/* What give_queries gives, of a cycle, by the whole block: a warp a head. `p`: of the warp's first one. */
template <typename C, int D>
__device__ __forceinline__ void make_queries(const ifm_packed_attend &a, const heads &h, const query_parts &p, uint4 *q,
                                             bool keep)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (uint32_t g = warp; g < HEADS; g += C::CREW) {
        query_parts other = p;
        if (static_cast<int>(C::CREW) < HEADS && g != warp) {
            other.fresh = with_length(fresh_of<D>(a, h, g));
            other.left = output_in_front<D>(a, h, g, other.fresh);
        }
        const float4 x = next_query<D>(a, h, g, other.fresh, other.left, keep);
        if (lane < D / 4)
            reinterpret_cast<uint2 *>(q + 32 * (lane / 8) + 4 * g + lane % 8 / 2)[lane % 2] =
                make_uint2(pack(x.x, x.y), pack(x.z, x.w));
    }
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
        store_shared(stage + of_v * sizes<D>::HALF + (row * D + d) * 2, both);
    }
    fence_copies(); /* a bulk copy will overwrite it */
    __syncwarp();
}

/* Tokens of the unit's sink, or of its ring, from tile `tile` of both on. */
__device__ __forceinline__ uint32_t tokens_left(const ifm_packed_unit &u, uint32_t tile)
{
    const uint32_t sink = (u.sink + TILE - 1) / TILE;
    return tile < sink ? u.sink - tile * TILE : u.ring - (tile - sink) * TILE;
}

/* Where a warp is in the ring: its next item's stage and barrier, and that one's phase, odd or even. */
struct ring_place {
    uint32_t stage, barrier, phase;
};

template <typename C> __device__ __forceinline__ void go_on(ring_place &r)
{
    r.stage += r.stage + C::CREW < C::STAGES ? C::CREW : C::CREW - C::STAGES;
    r.barrier += C::CREW;
    if (r.barrier >= C::BARRIERS) {
        r.barrier -= C::BARRIERS;
        r.phase ^= 1;
    }
}

/* The stage of the warp's last item, of none behind that; without one a stage that no item has. */
template <typename C> __device__ __forceinline__ uint32_t last_stage(const ring_place &r)
{
    return r.stage >= C::CREW ? r.stage - C::CREW : r.stage + C::STAGES - C::CREW;
}

/* That of the item which has the stage next. */
template <typename C> __device__ __forceinline__ uint32_t barrier_behind(const ring_place &r)
{
    const uint32_t barrier = r.barrier + C::STAGES;
    return barrier < C::BARRIERS ? barrier : barrier - C::BARRIERS;
}

/* An item of the unit that lies in a stage; tiles of sink and ring lie behind `body` chunks. `last`: of the unit's. */
template <int D, int FORMAT, bool FEW>
__device__ __forceinline__ void attend_item(const ifm_packed_attend &a, const ifm_packed_unit &u, uint32_t pair,
                                            part_of_unit<D> &part, uint32_t item, bool last, uint32_t stage, uint32_t q,
                                            uint32_t lane)
{
    typedef packs<D, FORMAT> p;
    enum { APART = FEW && p::ROTATED };
    const uint32_t body = u.pages * p::CHUNKS;
    if (item < body) {
        attend_body<D, FORMAT, FEW>(part, stage, q, a.scale, lane);
        return;
    }
    end_body<D, FORMAT, FEW>(part, false, lane);
    const uint32_t left = tokens_left(u, item - body);
    if (last && a.rows != nullptr)
        add_row<D>(a, u, pair, item - body, left - 1, stage, lane);
    attend_side<D, APART>(part, stage, q, a.scale, left, lane);
}

/* What the warps of a block share, beside the ring. Units have the two places of `queries` in turn; those of the next
 * but one are copied to `coming`. */
template <typename C, int D> struct crew_room {
    uint4 queries[2][D];
    float coming[HEADS * D];
    unsigned long long barriers[C::BARRIERS];
    unsigned long long come; /* `coming` is there: a phase a unit, as of those below */
    unsigned long long left; /* half of the warps have left their sums to the others */
    unsigned long long sums; /* which have added them to their own and left these */
    unsigned long long free; /* and have joined them, so that there is room for the next unit's */
    unsigned long long all;  /* all warps have left their sums of the block's last unit, at `rows` */
    float *rows[C::CREW];
    near_units near;
};

__device__ __forceinline__ uint32_t address_of(const void *shared)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/* A warp's barriers of the ring, and by the first thread the others; `first`: those alone that first items have. One
 * arrival completes a phase of the ring's; so many bytes are then there. */
template <typename C, int D> __device__ __forceinline__ void begin_barriers(crew_room<C, D> &room, bool first)
{
    static_assert(C::BARRIERS / C::CREW <= 32, "a lane a barrier of its warp");
    enum { FIRST = (C::STAGES + C::CREW - 1) / C::CREW };
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (first ? lane < FIRST : lane >= FIRST && lane < C::BARRIERS / C::CREW)
        begin_barrier(address_of(room.barriers + lane * C::CREW + warp), 1);
    if (threadIdx.x == 0 && !first) {
        begin_barrier(address_of(&room.come), 1);
        begin_barrier(address_of(&room.left), 32 * (C::CREW - C::JOINERS));
        begin_barrier(address_of(&room.sums), 32 * C::JOINERS);
        begin_barrier(address_of(&room.free), 32 * C::JOINERS);
        begin_barrier(address_of(&room.all), 32 * C::CREW);
    }
    fence_barriers();
    __syncwarp();
}

/* The block's units, for all of it where they are more than one. */
__device__ __forceinline__ void find_units(const ifm_packed_attend &a, near_units &near, const ifm_packed_share &s,
                                           uint32_t behind)
{
    if (threadIdx.x == 0)
        near.first = s.unit;
    if (s.end > behind) {
        if (threadIdx.x <= near_units::N && s.unit + threadIdx.x <= a.n_units)
            near.units[threadIdx.x] = a.units[s.unit + threadIdx.x];
        __syncthreads();
    } else if (threadIdx.x == 0) {
        near.units[0] = s.first;
        near.units[1].item = behind;
    }
}

__device__ __forceinline__ ifm_packed_share share_of_block(const ifm_packed_attend &a)
{
    const uint4 *from = reinterpret_cast<const uint4 *>(a.shares + blockIdx.x);
    const uint4 x = from[0], y = from[1];
    /* Arguments come from memory as well: all of their lines, while that is on its way. */
    asm volatile("" ::"r"(a.parts), "r"(a.layout.page_bytes), "l"(a.before));
    return {x.x, x.y, x.z, {x.w, y.x, y.y, y.z, y.w}};
}

template <typename C, int D>
__device__ __forceinline__ bool is_ours(const ifm_packed_attend &a, const crew_room<C, D> &room, uint32_t unit,
                                        uint32_t end)
{
    return unit < a.n_units && unit_at(a, room.near, unit).item < end;
}

/* The queries of a unit, where it is the block's, begin to come. One lane. */
template <typename C, int D>
__device__ __forceinline__ void let_come(const ifm_packed_attend &a, crew_room<C, D> &room, uint32_t unit,
                                         uint32_t end)
{
    if (!is_ours(a, room, unit, end))
        return;
    const heads h = heads_of(a, unit);
    fence_copies(); /* those before them have been read */
    expect(address_of(&room.come), h.n * D * 4);
    bulk_copy(address_of(room.coming), a.q + row_of(a, h), h.n * D * 4, address_of(&room.come));
}

/* Queries of the block's first units. `p`: of a cycle, by warp. */
template <typename C, int D>
__device__ __forceinline__ void begin_queries(const ifm_packed_attend &a, crew_room<C, D> &room,
                                              const ifm_packed_share &s, const query_parts &p)
{
    const uint32_t warp = threadIdx.x / 32, unit = s.unit, end = s.end;
    if (a.fresh != nullptr) {
        make_queries<C, D>(a, heads_of(a, unit), p, room.queries[0], s.first.item >= s.from);
    } else if (warp < C::CREW / 2) {
        const heads h = heads_of(a, unit);
        give_queries<D>(a.q + row_of(a, h), h.n, room.queries[0], warp, C::CREW / 2);
    } else if (is_ours(a, room, unit + 1, end)) {
        const heads h = heads_of(a, unit + 1);
        give_queries<D>(a.q + row_of(a, h), h.n, room.queries[1], warp - C::CREW / 2, C::CREW / 2);
        if (threadIdx.x == 32 * C::CREW - 32)
            let_come(a, room, unit + 2, end);
    }
    __syncthreads();
}

/* The queries of the next unit but one take the place of this one's, which no warp needs any more; those behind them
 * begin to come. One warp. */
template <typename C, int D>
__device__ __forceinline__ void take_queries(const ifm_packed_attend &a, crew_room<C, D> &room, uint32_t unit,
                                             uint32_t turn, uint32_t end)
{
    if (!is_ours(a, room, unit + 2, end))
        return;
    await(address_of(&room.come), turn % 2);
    give_queries<D>(room.coming, heads_of(a, unit + 2).n, room.queries[turn % 2], 0, 1);
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        let_come(a, room, unit + 3, end);
}

/* All warps leave their sums of the block's last unit, each in a stage that no item has any more; so many as have
 * outputs join them. */
template <typename C, int D, int FORMAT, bool APART>
__device__ __forceinline__ void join_last(const ifm_packed_attend &a, crew_room<C, D> &room,
                                          const part_of_unit<D> &part, const heads &h, float *partial, char *stage)
{
    typedef packs<D, FORMAT> p;
    static_assert(HEADS * sizes<D>::ROW * 4 <= p::STAGE, "rows of all heads, or of 4 heads twice");
    float *rows = reinterpret_cast<float *>(stage);
    leave_sums<D, APART>(part.work, rows, h.n, 0, part.settled);
    if (threadIdx.x % 32 == 0)
        room.rows[threadIdx.x / 32] = rows;
    arrive(address_of(&room.all));
    if (threadIdx.x / 32 * 32 >= h.n * D / 4)
        return;
    await(address_of(&room.all), 0);
    join_left<C::CREW, D, p::ROTATED, APART>(a, h, partial, [&](int w) { return room.rows[w]; });
}

/* Half of the warps leave their sums of a unit and go on with the next one; each of the others adds those of one to its
 * own, and they join what they then have. `partial`: where that goes; NULL: it is the unit's outputs. */
template <typename C, int D, int FORMAT, bool FEW>
__device__ __forceinline__ void join_warps(const ifm_packed_attend &a, crew_room<C, D> &room, float *rows,
                                           part_of_unit<D> &part, const heads &h, uint32_t unit, uint32_t turn,
                                           float *partial, bool last, uint32_t end, char *stage)
{
    typedef packs<D, FORMAT> p;
    enum { APART = FEW && p::ROTATED };
    const uint32_t warp = threadIdx.x / 32;
    end_body<D, FORMAT, FEW>(part, true, threadIdx.x % 32);
    total_up<D>(part.work);
    if (FEW && last) {
        join_last<C, D, FORMAT, APART>(a, room, part, h, partial, stage);
        return;
    }
    if (warp >= C::JOINERS) {
        if (turn > 0)
            await(address_of(&room.free), (turn - 1) % 2);
        leave_sums<D, APART>(part.work, rows, h.n, warp - C::JOINERS, part.settled);
        arrive(address_of(&room.left));
        return;
    }
    await(address_of(&room.left), turn % 2);
    take_sums<D, p::ROTATED, APART>(part.work, rows, h.n, warp, part.settled);
    leave_sums<D, APART>(part.work, rows, h.n, warp, part.settled);
    arrive(address_of(&room.sums));
    await(address_of(&room.sums), turn % 2);
    join_left<C::JOINERS, D, p::ROTATED, APART>(
        a, h, partial, [&](int w) { return left_row<D>(rows, APART ? 2 * h.n : h.n, w, 0); });
    if (last)
        return;
    if (a.fresh == nullptr && warp == C::JOINERS - 1)
        take_queries(a, room, unit, turn, end); /* all warps are done with the unit's */
    arrive(address_of(&room.free));
}

/* The end of a unit; where the block has not all of it, it is joined with other blocks' too. */
template <typename C, int D, int FORMAT, bool FEW>
__device__ __forceinline__ void end_unit(const ifm_packed_attend &a, crew_room<C, D> &room, float *rows,
                                         part_of_unit<D> &part, uint32_t unit, uint32_t turn, bool whole, bool last,
                                         uint32_t end, char *stage)
{
    const heads h = heads_of(a, unit);
    float *partial = a.partials + (2 * blockIdx.x + (turn != 0)) * static_cast<uint64_t>(HEAD + HEADS * D);
    join_warps<C, D, FORMAT, FEW>(a, room, rows, part, h, unit, turn, whole ? nullptr : partial, last, end, stage);
    if (!whole && a.later == 0) {
        const sharers s = sharers_of(a, unit);
        if (is_last(a, unit, s.n))
            join_blocks<D, C::CREW>(a, h, s, rows);
        if (!last)
            __syncthreads(); /* in the rows of the next unit's sums */
    }
    if (!last && a.fresh != nullptr) {
        const heads next = heads_of(a, unit + 1);
        query_parts p;
        p.fresh = with_length(fresh_of<D>(a, next, threadIdx.x / 32));
        p.left = output_in_front<D>(a, next, threadIdx.x / 32, p.fresh);
        make_queries<C, D>(a, next, p, room.queries[(turn + 1) % 2], true);
        __syncthreads();
    }
}

template <typename C, int D, int FORMAT, bool FEW>
__device__ __forceinline__ void attend_packed(const ifm_packed_attend &a, char *shared, crew_room<C, D> &room)
{
    typedef packs<D, FORMAT> p;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool chained = is_chained(a);
    const uint32_t ring = address_of(shared), bars = address_of(room.barriers);
    float *rows = reinterpret_cast<float *>(shared + C::STAGES * p::STAGE);
    const ifm_packed_share s = share_of_block(a);
    const uint32_t first = s.from, end = s.end, to_first = s.first.item + items_of<p::CHUNKS>(s.first);
    uint32_t unit = s.unit, at = first + warp;
    query_parts parts; /* asked for before the items: a load waits behind all copies on their way */
    if (chained && warp < HEADS)
        parts.left = ask_left<D>(a);
    begin_left<C::CREW, D>(a);
    const heads h = heads_of(a, unit);
    begin_barriers(room, true);
    find_units(a, room.near, s, to_first);
    if (a.fresh != nullptr)
        parts.fresh = fresh_of<D>(a, h, warp);
    walker next = walk_from<p::CHUNKS>(a, room.near, s, at);
    uint32_t i = warp;
    for (; (chained || a.before == nullptr) && i < C::STAGES; i += C::CREW)
        fetch_next<C, D, FORMAT>(a, room.near, next, end, ring + i * p::STAGE, bars + 8 * i, lane);
    if (a.fresh == nullptr)
        let_next_begin();
    begin_parts<D>(a, h, chained, parts);
    for (; i < C::STAGES; i += C::CREW)
        fetch_next<C, D, FORMAT>(a, room.near, next, end, ring + i * p::STAGE, bars + 8 * i, lane);
    /* What takes a stage again, by the warp that empties it. */
    next = walk_from<p::CHUNKS>(a, room.near, s, at + C::STAGES);
    begin_barriers(room, false);
    ring_place here = {warp, warp, 0};
    ifm_packed_unit u = s.first;
    part_of_unit<D> part;
    begin_part<D>(part);
    __syncthreads(); /* barriers of all, and units */
    begin_queries(a, room, s, parts);
    if (a.fresh != nullptr)
        let_next_place_begin<C::CREW>(a);
    for (uint32_t turn = 0, ends = to_first; first < end; turn++) {
        const uint32_t q = address_of(room.queries[turn % 2]), pair = heads_of(a, unit).pair;
        for (const uint32_t to = ends < end ? ends : end; at < to; at += C::CREW) {
            const uint32_t stage = ring + here.stage * p::STAGE;
            await(bars + 8 * here.barrier, here.phase);
            attend_item<D, FORMAT, FEW>(a, u, pair, part, at - u.item, at + 1 == ends, stage, q, lane);
            __syncwarp();
            fetch_next<C, D, FORMAT>(a, room.near, next, end, stage, bars + 8 * barrier_behind<C>(here), lane);
            go_on<C>(here);
        }
        if (chained && warp == C::CREW - 1) /* who sees what we leave may read what that place wrote */
            wait_for_previous();
        end_unit<C, D, FORMAT, FEW>(a, room, rows, part, unit, turn, u.item >= first && ends <= end, ends >= end, end,
                                    shared + last_stage<C>(here) * p::STAGE);
        if (ends >= end)
            return;
        u = unit_at(a, room.near, ++unit);
        ends = behind(a, room.near, unit);
        begin_part<D>(part);
    }
}

} // namespace

/* Groups of at most 4 heads, and more. In one kernel registers of the latter are spilled, and int2 of the former took
 * 94 us for 82: a seventh of its waits were for instructions. */
#define PACKED_HEADS(name, D, FORMAT, STAGES, FEW)                                                                     \
    extern "C" __global__ void __launch_bounds__(32 * IFM_PACKED_WARPS, 1) name(ifm_packed_attend a)                   \
    {                                                                                                                  \
        typedef crew<IFM_PACKED_WARPS, STAGES> C;                                                                      \
        extern __shared__ __align__(128) char shared[];                                                                \
        __shared__ __align__(16) crew_room<C, D> room;                                                                 \
        attend_packed<C, D, FORMAT, FEW>(a, shared, room);                                                             \
    }
#define PACKED(name, D, FORMAT, STAGES)                                                                                \
    PACKED_HEADS(ifm_packed_##name, D, FORMAT, STAGES, true)                                                           \
    PACKED_HEADS(ifm_packed_many_##name, D, FORMAT, STAGES, false)
PACKED(int8_64, 64, INT8, IFM_PACKED_STAGES_64)
PACKED(int8_128, 128, INT8, IFM_PACKED_STAGES_128)
PACKED(e4m3_64, 64, E4M3, IFM_PACKED_STAGES_64)
PACKED(e4m3_128, 128, E4M3, IFM_PACKED_STAGES_128)
PACKED(int4_64, 64, INT4, IFM_PACKED_STAGES_64)
PACKED(int4_128, 128, INT4, IFM_PACKED_STAGES_128)
PACKED(int2_64, 64, INT2, IFM_PACKED_STAGES_64)
PACKED(int2_128, 128, INT2, IFM_PACKED_STAGES_INT2_128)

/* Two blocks a multiprocessor, of groups of at most 4: one joins its warps while the other goes on. */
extern "C" __global__ void __launch_bounds__(32 * IFM_PACKED_PAIR_WARPS, 2)
    ifm_packed_pair_int4_128(ifm_packed_attend a)
{
    typedef crew<IFM_PACKED_PAIR_WARPS, IFM_PACKED_PAIR_STAGES> C;
    extern __shared__ __align__(128) char shared[];
    __shared__ __align__(16) crew_room<C, 128> room;
    attend_packed<C, 128, INT4, true>(a, shared, room);
}
#endif

/* ---- outputs that blocks left ---- */

/* Where no attention is behind that joins them. A warp a query head. */
extern "C" __global__ void __launch_bounds__(32 * IFM_PACKED_FINISH_WARPS) ifm_packed_finish(ifm_packed_attend a)
{
    const uint32_t task = blockIdx.x * IFM_PACKED_FINISH_WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t pair = task / a.group, head = task % a.group, g = head % HEADS;
    if (pair >= a.n_units / a.parts || lane >= a.head_dim / 4)
        return;
    const heads h = heads_of(a, pair * a.parts + head / HEADS);
    const float4 x = a.head_dim == 128 ? joined<128>(a, h, a.partials, g, left_of<128>(a, h, a.partials, g, 0))
                                       : joined<64>(a, h, a.partials, g, left_of<64>(a, h, a.partials, g, 0));
    reinterpret_cast<float4 *>(a.out + row_of(a, h))[g * (a.head_dim / 4) + lane] = x;
}

/* ---- probe ---- */

extern "C" __global__ void __launch_bounds__(32) ifm_packed_probe(ifm_packed_probe_of p)
{
    const uint32_t *a = p.a + 4 * threadIdx.x, *b = p.b + 2 * threadIdx.x;
    float c[4] = {0, 0, 0, 0};
    multiply(c, a[0], a[1], a[2], a[3], b[0], b[1]);
    for (int i = 0; i < 4; i++)
        p.c[4 * threadIdx.x + i] = c[i];
}

extern "C" __global__ void __launch_bounds__(32) ifm_packed_probe_bytes(ifm_packed_probe_bytes_of p)
{
    const uint32_t *a = p.a + 4 * threadIdx.x, *b = p.b + 2 * threadIdx.x;
    int32_t c[3][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    multiply_signed(c[0], a[0], a[1], a[2], a[3], b[0], b[1]);
    multiply_unsigned(c[1], a[0], a[1], a[2], a[3], b[0], b[1]);
    multiply_signed(c[2], a[0], a[1], b[0]);
    for (int i = 0; i < 12; i++)
        p.c[i / 4 * 128 + 4 * threadIdx.x + i % 4] = c[i / 4][i % 4];
}
