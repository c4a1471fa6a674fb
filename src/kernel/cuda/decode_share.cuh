/* Units, pages and tiles of the kernels of decode.cu and packed.cu, and which block has which. Device code only. */
#ifndef IFM_KERNEL_CUDA_DECODE_SHARE_CUH
#define IFM_KERNEL_CUDA_DECODE_SHARE_CUH

#include "kernel/cuda/decode_ptx.cuh"
#include "kernel/cuda/packed.h"

namespace
{

enum { TILE = IFM_DECODE_TILE, HEADS = IFM_DECODE_HEADS, WARPS = IFM_DECODE_WARPS, PAD = IFM_DECODE_PAD };
enum { HEAD = IFM_DECODE_HEAD, TILES_A_PAGE = IFM_DECODE_PAGE / TILE };
#define EVERY 0xffffffffu
#define NOTHING (-1e30f) /* a maximum of no scores; no infinity, whose difference with itself is none */
#define LAZY 6.0f        /* log2: how far a score may pass the maximum that weights are relative to */

/* These three also of what a cycle does besides: its arguments have fields of the same names. */
template <typename ARGUMENTS> __device__ __forceinline__ uint32_t tokens_of(const ARGUMENTS &a, uint32_t unit)
{
    return a.tokens != 0 ? a.tokens : a.units[unit].tokens;
}

/* The first page of the unit's pair, as an index of the table. */
template <typename ARGUMENTS> __device__ __forceinline__ uint32_t pages_of(const ARGUMENTS &a, uint32_t unit)
{
    if (a.tokens == 0)
        return a.units[unit].page;
    return (a.parts == 1 ? unit : unit / a.parts) * a.pages;
}

/* Where the page of that index lies in `k` and `v`. */
template <typename ARGUMENTS> __device__ __forceinline__ uint64_t page_at(const ARGUMENTS &a, uint32_t index)
{
    return a.table != nullptr ? a.table[index] : index;
}

/* ---- split: which tiles are whose ---- */

__device__ __forceinline__ uint32_t tiles_of(const ifm_decode_attend &a, uint32_t unit)
{
    return (tokens_of(a, unit) + TILE - 1) / TILE;
}

/* The first tile of a unit, among those of all units. */
__device__ __forceinline__ uint32_t tile_of(const ifm_decode_attend &a, uint32_t unit)
{
    return a.tokens != 0 ? unit * tiles_of(a, unit) : a.units[unit].tile;
}

/* A compressed cache has items in their place. */
__device__ __forceinline__ uint32_t tile_of(const ifm_packed_attend &a, uint32_t unit)
{
    return a.units[unit].item;
}

__device__ __forceinline__ uint32_t tiles_of(const ifm_packed_attend &a, uint32_t unit)
{
    return a.units[unit + 1].item - a.units[unit].item;
}

/* The first tile of a block; that of the block behind it is where its own end. */
template <typename ARGUMENTS> __device__ __forceinline__ uint32_t share_of(const ARGUMENTS &a, uint32_t block)
{
    if (a.splits != 0) {
        const uint32_t unit = block / a.splits, part = block % a.splits;
        return part == 0 ? tile_of(a, unit) : tile_of(a, unit) + tiles_of(a, unit) * part / a.splits;
    }
    const uint32_t all = tile_of(a, a.n_units), each = all / gridDim.x, more = all % gridDim.x;
    return block * each + (block < more ? block : more);
}

/* The block that has tile `tile`. */
template <typename ARGUMENTS> __device__ __forceinline__ uint32_t block_of(const ARGUMENTS &a, uint32_t tile)
{
    const uint32_t all = tile_of(a, a.n_units), each = all / gridDim.x, more = all % gridDim.x;
    return tile < more * (each + 1) ? tile / (each + 1) : more + (tile - more * (each + 1)) / each;
}

__device__ __forceinline__ uint32_t unit_of_block(const ifm_decode_attend &a, uint32_t first)
{
    if (a.splits != 0)
        return blockIdx.x / a.splits;
    return a.tokens != 0 ? first / tiles_of(a, 0) : a.first[blockIdx.x];
}

/* Query heads of a unit: those of its pair, at most 8 from `first` on. */
struct heads {
    uint32_t pair, first, n;
};

template <typename ARGUMENTS> __device__ __forceinline__ heads heads_of(const ARGUMENTS &a, uint32_t unit)
{
    if (a.parts == 1)
        return {unit, 0, a.group};
    const uint32_t pair = unit / a.parts, first = (unit - pair * a.parts) * HEADS;
    return {pair, first, a.group - first < HEADS ? a.group - first : static_cast<uint32_t>(HEADS)};
}

/* The first element of the unit's queries, and of its outputs. */
template <typename ARGUMENTS> __device__ __forceinline__ uint64_t row_of(const ARGUMENTS &a, const heads &h)
{
    return (static_cast<uint64_t>(h.pair) * a.group + h.first) * a.head_dim;
}

} // namespace

#endif
