/* Few activations times a weight matrix at the memory's speed, by mma.m16n8k16. Device code only.
 *
 * The rows of the product are 16 rows of the weights, a panel; its columns are activations, 8, 16 or 32, whether there
 * are so many or not. A block has a share of the panels, and its warps take what lies one behind the other in turn:
 * what is on the way to a block is one piece of memory. Each warp keeps a ring of asynchronous copies: bytes on the way
 * take no registers. The warps leave partial sums of a panel in shared memory, which are added in a fixed order: the
 * same bits in every run.
 *
 * Codes of int8 and int4 become numbers of f16 without arithmetic: bits at the bottom of a half are code x 2^-24, which
 * matrix instructions honour. Codes are stored plus 128 or plus 8, which a second product takes off again: of the same
 * activations with the constant -128 or -8. Scales are applied to the sums of a group, and 2^24 to those of a panel. */
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/gemm_ptx.cuh"

namespace
{

enum { VECTOR = IFM_CUDA_GEMM_VECTOR, LINE = IFM_CUDA_GEMM_LINE, PANEL = IFM_CUDA_GEMM_PANEL };

/* How a warp takes its part: `DEPTH` values of k of a panel at a time, `VECTORS` loads, and a line of scales. */
template <int FORMAT, int GROUP> struct stage
{
    static constexpr bool IS_WIDE = FORMAT <= IFM_CUDA_GEMM_BF16, IS_INT4 = FORMAT == IFM_CUDA_GEMM_INT4;
    static constexpr int OF_GROUP = IS_WIDE ? 1 : IS_INT4 ? GROUP / 64 : GROUP / 32;
    static constexpr int LOADS = IFM_CUDA_GEMM_LOADS;
    static constexpr int PAIR = IS_WIDE ? 4 : IS_INT4 ? GROUP / 32 : GROUP / 16; /* loads of two groups */
    static constexpr int FEW = PAIR < LOADS || IS_WIDE ? PAIR : LOADS, VECTORS = OF_GROUP > FEW ? OF_GROUP : FEW;
    static constexpr int OF_PAIR = PAIR / VECTORS; /* stages of two groups */
    static constexpr int DEPTH = IS_WIDE ? 16 * VECTORS : VECTORS * (IS_INT4 ? 64 : 32);
    static constexpr int BYTES = VECTORS * VECTOR + (IS_WIDE ? 0 : LINE);
    static constexpr float OF_HIGH = IS_INT4 ? 0.0625f : 1.0f; /* what sums of high halves of bytes count for */
};

/* What a lane knows of its place: row g and row g + 8 of a panel, k from 8 t on of every 32. */
struct place
{
    uint32_t lane, g, t;
};

/* Where piece `chunk` of 16 bytes of a row of 128 lies: two rows that are read at once take other banks. */
__device__ __forceinline__ uint32_t swizzled(uint32_t row, uint32_t chunk)
{
    return chunk ^ (row % 2 * 4);
}

/* Start the copies of stage `unit` of `panel` into `slot`. */
template <int FORMAT, int GROUP>
__device__ __forceinline__ void fetch(const ifm_cuda_gemm &a, const place &at, uint32_t panel, uint32_t unit,
                                      unsigned char *slot)
{
    using S = stage<FORMAT, GROUP>;
    const unsigned char *w = static_cast<const unsigned char *>(a.w);
    unsigned char *to = slot + at.lane * 16;
    if (S::IS_WIDE) {
        const uint32_t row = at.lane / 8, chunk = at.lane % 8; /* four rows a load, 128 bytes of each */
        const unsigned char *from =
            w + 2 * ((static_cast<uint64_t>(panel) * PANEL + row) * a.k + unit * S::DEPTH + chunk * 8);
        unsigned char *first = slot + row * 128 + swizzled(row, chunk) * 16;
#pragma unroll
        for (int v = 0; v < S::VECTORS; v++)
            copy_async(first + v * VECTOR, from + static_cast<uint64_t>(v) * 8 * a.k, true);
        return;
    }
    constexpr uint32_t BYTES = GROUP * PANEL / (S::IS_INT4 ? 2 : 1); /* codes of a group */
    const uint32_t groups = (a.k + GROUP - 1) / GROUP, pair = unit / S::OF_PAIR;
    const uint64_t of_panel = static_cast<uint64_t>((groups + 1) / 2) * LINE + static_cast<uint64_t>(groups) * BYTES;
    const unsigned char *line = w + panel * of_panel + static_cast<uint64_t>(pair) * LINE;
    const unsigned char *codes = w + panel * of_panel + static_cast<uint64_t>((groups + 1) / 2) * LINE +
                                 static_cast<uint64_t>(pair) * (2 * BYTES);
    const uint32_t first = unit % S::OF_PAIR * S::VECTORS * VECTOR, end = pair * 2 + 1 < groups ? 2 * BYTES : BYTES;
#pragma unroll
    for (int v = 0; v < S::VECTORS; v++) {
        const bool is_there = first + v * VECTOR < end;
        copy_async(to + v * VECTOR, is_there ? codes + first + v * VECTOR + at.lane * 16 : line, is_there);
    }
    if (at.lane < LINE / 16)
        copy_async(to + S::VECTORS * VECTOR, line + at.lane * 16, true);
}

/* Activations of the lane's columns: x[tile] points at its row, 8 t in. */
template <int TILES> struct activations
{
    const uint16_t *x[TILES];
    __device__ __forceinline__ uint4 at(int tile, uint32_t k) const
    {
        return *reinterpret_cast<const uint4 *>(x[tile] + k);
    }
};

__device__ __forceinline__ uint4 vector_of(const unsigned char *slot, const place &at, int v)
{
    return *reinterpret_cast<const uint4 *>(slot + v * VECTOR + at.lane * 16);
}

template <int FORMAT, int TILES>
__device__ __forceinline__ void add_wide(const unsigned char *slot, const place &at, const activations<TILES> &x,
                                         uint32_t k, float (&total)[TILES][4])
{
    constexpr bool IS_BF16 = FORMAT == IFM_CUDA_GEMM_BF16;
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const unsigned char *row = slot + at.g * 128 + swizzled(at.g, c * 4 + at.t) * 16;
        const uint4 above = *reinterpret_cast<const uint4 *>(row);
        const uint4 below = *reinterpret_cast<const uint4 *>(row + 8 * 128);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++) {
            const uint4 b = x.at(tile, k + 32 * c);
            multiply<IS_BF16>(total[tile], above.x, below.x, above.y, below.y, b.x, b.y);
            multiply<IS_BF16>(total[tile], above.z, below.z, above.w, below.w, b.z, b.w);
        }
    }
}

/* 32 values of k: what the codes' 8 or 128 more add to the sums of low and of high halves, taken off. */
template <int FORMAT> __device__ __forceinline__ void subtract(const uint4 &b, float (&low)[4], float (&high)[4])
{
    constexpr uint32_t LESS_128 = 0x80808080, LESS = FORMAT == IFM_CUDA_GEMM_INT4 ? 0x80088008 : LESS_128;
    multiply<false>(low, LESS, LESS, LESS, LESS, b.x, b.y);
    multiply<false>(high, LESS_128, LESS_128, LESS_128, LESS_128, b.z, b.w);
}

/* 32 values of k of int4: low halves of bytes to `low`, high ones, 16 times too large, to `high`. */
template <int TILES, bool LESS>
__device__ __forceinline__ void add_int4(uint32_t first, uint32_t second, const activations<TILES> &x, uint32_t k,
                                         float (&low)[TILES][4], float (&high)[TILES][4])
{
    constexpr uint32_t LOW = 0x000f000f, HIGH = 0x00f000f0;
    const uint32_t f = first >> 8, s = second >> 8;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const uint4 b = x.at(tile, k);
        multiply<false>(low[tile], first & LOW, f & LOW, second & LOW, s & LOW, b.x, b.y);
        multiply<false>(high[tile], first & HIGH, f & HIGH, second & HIGH, s & HIGH, b.z, b.w);
        if (LESS)
            subtract<IFM_CUDA_GEMM_INT4>(b, low[tile], high[tile]);
    }
}

/* Two bytes as two halves. */
__device__ __forceinline__ uint32_t widen(uint32_t word, uint32_t which)
{
    return __byte_perm(word, 0, which);
}

template <int TILES, bool LESS>
__device__ __forceinline__ void add_int8(const uint4 &q, const activations<TILES> &x, uint32_t k,
                                         float (&low)[TILES][4], float (&high)[TILES][4])
{
    constexpr uint32_t FRONT = 0x4140, BACK = 0x4342;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const uint4 b = x.at(tile, k);
        multiply<false>(low[tile], widen(q.x, FRONT), widen(q.z, FRONT), widen(q.x, BACK), widen(q.z, BACK), b.x, b.y);
        multiply<false>(high[tile], widen(q.y, FRONT), widen(q.w, FRONT), widen(q.y, BACK), widen(q.w, BACK), b.z, b.w);
        if (LESS)
            subtract<IFM_CUDA_GEMM_INT8>(b, low[tile], high[tile]);
    }
}

/* What the groups of a stage have too much, by column: the same for all rows. A warp mostly meets the same values of k
 * in panel after panel; of one tile of columns it is computed only when they change. */
template <int FORMAT, int GROUP, int TILES> struct excess
{
    using S = stage<FORMAT, GROUP>;
    static constexpr int GROUPS = S::IS_WIDE ? 1 : S::DEPTH / GROUP;
    static constexpr bool IS_KEPT = TILES == 1 && S::IS_INT4 && GROUPS <= 4; /* registers are left for no more */
    uint32_t unit = 0xffffffffu;
    float of[GROUPS][2];

    __device__ __forceinline__ void find(const activations<TILES> &x, uint32_t at)
    {
        if (unit == at)
            return;
        unit = at;
#pragma unroll
        for (int group = 0; group < GROUPS; group++) {
            float low[4] = {}, high[4] = {};
#pragma unroll
            for (int j = 0; j < GROUP / 32; j++)
                subtract<FORMAT>(x.at(0, unit * S::DEPTH + group * GROUP + j * 32), low, high);
            of[group][0] = low[0] + S::OF_HIGH * high[0];
            of[group][1] = low[1] + S::OF_HIGH * high[1];
        }
    }
};

template <int FORMAT, int GROUP, int TILES>
__device__ __forceinline__ void add_codes(const unsigned char *slot, const place &at, const activations<TILES> &x,
                                          uint32_t unit, excess<FORMAT, GROUP, TILES> &less, float (&total)[TILES][4])
{
    using S = stage<FORMAT, GROUP>;
    constexpr int GROUPS = S::DEPTH / GROUP;
    constexpr bool IS_KEPT = excess<FORMAT, GROUP, TILES>::IS_KEPT;
    if (IS_KEPT)
        less.find(x, unit);
    const uint16_t *scales = reinterpret_cast<const uint16_t *>(slot + S::VECTORS * VECTOR) +
                             unit % S::OF_PAIR * (GROUPS * PANEL) + at.g;
#pragma unroll
    for (int group = 0; group < GROUPS; group++) {
        float low[TILES][4] = {}, high[TILES][4] = {};
#pragma unroll
        for (int j = group * GROUP / 32; j < (group + 1) * GROUP / 32; j++) {
            const uint32_t k = unit * S::DEPTH + j * 32;
            const uint4 q = vector_of(slot, at, S::IS_INT4 ? j / 2 : j);
            if (!S::IS_INT4)
                add_int8<TILES, !IS_KEPT>(q, x, k, low, high);
            else if (j % 2 == 0)
                add_int4<TILES, !IS_KEPT>(q.x, q.y, x, k, low, high);
            else
                add_int4<TILES, !IS_KEPT>(q.z, q.w, x, k, low, high);
        }
        const float above = of_f16(scales[group * PANEL]), below = of_f16(scales[group * PANEL + 8]);
#pragma unroll
        for (int tile = 0; tile < TILES; tile++)
#pragma unroll
            for (int i = 0; i < 4; i++)
            {
                const float off = IS_KEPT ? less.of[group][i % 2] : 0.0f;
                total[tile][i] += (i < 2 ? above : below) * (low[tile][i] + S::OF_HIGH * high[tile][i] + off);
            }
    }
}

/* The lane's sums of a panel, where `sum_panels` finds them. */
template <int TILES>
__device__ __forceinline__ void leave(float *part, const place &at, uint32_t width, float (&total)[TILES][4])
{
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const uint32_t column = tile * 8 + at.t * 2;
        float *to = part + at.g * width + column;
        if (width == 1 && column == 0) {
            to[0] = total[tile][0];
            to[8] = total[tile][2];
        } else if (column < width) {
            *reinterpret_cast<float2 *>(to) = make_float2(total[tile][0], total[tile][1]);
            *reinterpret_cast<float2 *>(to + 8 * width) = make_float2(total[tile][2], total[tile][3]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            total[tile][i] = 0;
    }
}

/* The outputs of `count` panels from `first` on: the partial sums of all warps that had a stage of each. The block's
 * first panel is `begin`. */
template <int FORMAT>
__device__ __forceinline__ void sum_panels(const ifm_cuda_gemm &a, const float *parts, uint32_t begin, uint32_t first,
                                           uint32_t count, uint32_t of_panel)
{
    const uint32_t warps = blockDim.x / 32, width = IFM_CUDA_GEMM_WIDTH(a.m);
    const uint32_t some = of_panel < warps ? of_panel : warps;
    for (uint32_t i = threadIdx.x; i < count * PANEL * a.m; i += blockDim.x) {
        const uint32_t row = i % PANEL, panel = i / PANEL % count, m = i / PANEL / count;
        float sum = 0;
#pragma unroll 8
        for (uint32_t n = 0, warp = (first - begin + panel) * of_panel % warps; n < some; n++) {
            sum += parts[((warp * count + panel) * PANEL + row) * width + m];
            warp = warp + 1 == warps ? 0 : warp + 1;
        }
        if (FORMAT > IFM_CUDA_GEMM_BF16)
            sum *= 16777216.0f; /* 2^24 */
        static_cast<uint16_t *>(a.out)[static_cast<uint64_t>(m) * a.n + (first + panel) * PANEL + row] =
            FORMAT == IFM_CUDA_GEMM_BF16 ? to_bf16(sum) : to_f16(sum);
    }
}

/* Activations where the lane reads them: in shared memory, when the whole block has copied them, or in the device's. */
template <int TILES>
__device__ __forceinline__ void take_activations(const ifm_cuda_gemm &a, const place &at, uint16_t *staged,
                                                 activations<TILES> &x)
{
    const uint16_t *from = static_cast<const uint16_t *>(a.x);
    uint32_t stride = a.x_stride;
    if (a.staged) {
        for (uint32_t row = 0; row < a.m; row++)
            for (uint32_t i = threadIdx.x * 8; i < a.x_stride; i += blockDim.x * 8)
                copy_async(staged + row * (stride + IFM_CUDA_GEMM_GAP) + i, from + row * stride + i, true);
        commit_copies();
        wait_for_copies<0>();
        __syncthreads();
        from = staged;
        stride += IFM_CUDA_GEMM_GAP;
    }
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const uint32_t column = tile * 8 + at.g, row = column < a.m ? column : a.m - 1;
        x.x[tile] = from + static_cast<uint64_t>(row) * stride + at.t * 8;
    }
}

/* A stage of a block: its number there, and its panel, counted from the block's first. */
struct cursor
{
    uint32_t number, panel, unit;
    __device__ __forceinline__ void forward(uint32_t by, uint32_t of_panel)
    {
        number += by;
        unit += by;
        while (unit >= of_panel) {
            unit -= of_panel;
            panel++;
        }
    }
};

/* A block's share: panels from `begin` on, `of_panel` stages each. */
struct share
{
    uint32_t begin, panels, of_panel;
};

/* The warp's stages, every blockDim.x / 32-th of its block's: those that it computes, and the ring that is ahead. */
template <int FORMAT, int GROUP, int TILES> struct worker
{
    using S = stage<FORMAT, GROUP>;
    static constexpr uint32_t SLOTS = IFM_CUDA_GEMM_SLOTS_OF(FORMAT, 8 * TILES);
    const ifm_cuda_gemm &a;
    const share &of;
    place at;
    unsigned char *ring;
    uint32_t slot;
    cursor now, next;
    activations<TILES> x;
    excess<FORMAT, S::IS_WIDE ? 128 : GROUP, TILES> less;

    __device__ __forceinline__ worker(const ifm_cuda_gemm &arguments, const share &shared_out, unsigned char *room)
        : a(arguments), of(shared_out), ring(room), slot(0), now(), next()
    {
        at.lane = threadIdx.x % 32;
        at.g = at.lane / 4;
        at.t = at.lane % 4;
        now.forward(threadIdx.x / 32, of.of_panel);
        next = now;
    }

    __device__ __forceinline__ void fetch_next(uint32_t to)
    {
        if (next.number < of.panels * of.of_panel) {
            fetch<FORMAT, GROUP>(a, at, of.begin + next.panel, next.unit, ring + to * S::BYTES);
            next.forward(blockDim.x / 32, of.of_panel);
        }
        commit_copies();
    }

    /* Stages of `count` panels from panel `first` of the block on; partial sums of each to `parts`. */
    __device__ __forceinline__ void run(uint32_t first, uint32_t count, float *parts)
    {
        const uint32_t width = IFM_CUDA_GEMM_WIDTH(a.m), end = (first + count) * of.of_panel;
        float total[TILES][4] = {};
        while (now.number < end) {
            wait_for_copies<SLOTS - 1>();
            __syncwarp();
            const unsigned char *bytes = ring + slot * S::BYTES;
            if (S::IS_WIDE)
                add_wide<FORMAT, TILES>(bytes, at, x, now.unit * S::DEPTH, total);
            else
                add_codes<FORMAT, S::IS_WIDE ? 128 : GROUP, TILES>(bytes, at, x, now.unit, less, total);
            __syncwarp();
            fetch_next(slot);
            slot = slot + 1 == SLOTS ? 0 : slot + 1;
            const uint32_t panel = now.panel;
            now.forward(blockDim.x / 32, of.of_panel);
            if (now.panel != panel)
                leave<TILES>(parts + (threadIdx.x / 32 * count + panel - first) * (PANEL * width), at, width, total);
        }
    }
};

template <int FORMAT, int GROUP, int TILES> __device__ __forceinline__ void product(const ifm_cuda_gemm &a)
{
    using S = stage<FORMAT, GROUP>;
    static constexpr uint32_t SLOTS = IFM_CUDA_GEMM_SLOTS_OF(FORMAT, 8 * TILES);
    const uint32_t most = IFM_CUDA_GEMM_PASS_OF(FORMAT, 8 * TILES, a.m);
    extern __shared__ __align__(128) unsigned char shared[];
    const uint32_t warps = blockDim.x / 32, panels = a.n / PANEL;
    const uint32_t begin = panels * blockIdx.x / gridDim.x, end = panels * (blockIdx.x + 1) / gridDim.x;
    const share of = {begin, end - begin, (a.k + S::DEPTH - 1) / S::DEPTH};
    const uint32_t passes = (of.panels + most - 1) / most;
    float *parts = reinterpret_cast<float *>(shared + warps * (SLOTS * S::BYTES));
    uint16_t *staged = reinterpret_cast<uint16_t *>(parts + warps * most * (PANEL * IFM_CUDA_GEMM_WIDTH(a.m)));
    worker<FORMAT, GROUP, TILES> work(a, of, shared + threadIdx.x / 32 * (SLOTS * S::BYTES));
    for (uint32_t s = 0; s < SLOTS; s++)
        work.fetch_next(s);
    let_next_begin();
    wait_for_previous(); /* activations are its outputs */
    take_activations<TILES>(a, work.at, staged, work.x);
    for (uint32_t pass = 0; pass < passes; pass++) {
        const uint32_t first = of.panels * pass / passes, count = of.panels * (pass + 1) / passes - first;
        work.run(first, count, parts);
        __syncthreads();
        sum_panels<FORMAT>(a, parts, begin, begin + first, count, of.of_panel);
        __syncthreads();
    }
    wait_for_copies<0>();
}

} // namespace

#define IFM_GEMM_KERNEL(name, format, group, tiles)                                                                    \
    extern "C" __global__ void __launch_bounds__(32 * IFM_CUDA_GEMM_WARPS, tiles == 1 ? 2 : 1) name(ifm_cuda_gemm a)   \
    {                                                                                                                  \
        product<format, group, tiles>(a);                                                                              \
    }
#define IFM_GEMM_KERNELS(name, format, group)                                                                          \
    IFM_GEMM_KERNEL(ifm_gemm_mma_##name##_8, format, group, 1)                                                         \
    IFM_GEMM_KERNEL(ifm_gemm_mma_##name##_16, format, group, 2)                                                        \
    IFM_GEMM_KERNEL(ifm_gemm_mma_##name##_32, format, group, 4)
IFM_GEMM_KERNELS(f16, IFM_CUDA_GEMM_F16, 128)
IFM_GEMM_KERNELS(bf16, IFM_CUDA_GEMM_BF16, 128)
IFM_GEMM_KERNELS(int8_128, IFM_CUDA_GEMM_INT8, 128)
IFM_GEMM_KERNELS(int8_64, IFM_CUDA_GEMM_INT8, 64)
IFM_GEMM_KERNELS(int8_32, IFM_CUDA_GEMM_INT8, 32)
IFM_GEMM_KERNELS(int4_128, IFM_CUDA_GEMM_INT4, 128)
IFM_GEMM_KERNELS(int4_64, IFM_CUDA_GEMM_INT4, 64)
IFM_GEMM_KERNELS(int4_32, IFM_CUDA_GEMM_INT4, 32)
