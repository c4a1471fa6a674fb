/* One activation times a weight matrix of int4, whose codes come by bulk copies: compute capability 9.0, other images
 * of this file are empty. Device code only.
 *
 * A block has a share of the panels. One thread, the producer, asks for chunks: of one panel, a unit of 256 values of k
 * for each of 16 warps, one piece of memory of 33 to 36 KB; those of the same k of all panels follow one another, so a
 * warp keeps its activations in registers. Few chunks are on their way at a time, as what is asked for behind them
 * comes behind them; each warp copies its activations by itself when the step in front has ended, past the engine of
 * bulk copies. The last chunk comes in halves, so that half of the warps multiply while the other half's codes are on
 * their way. Sums are in one order: the same bits in every run.
 *
 * A multiprocessor has room for one block. Between two of them nothing is on its way, so the producer asks for its
 * first chunk before all else, and divides by nothing to find it.
 *
 * The arithmetic is that of gemm_mma.cu: mma.m16n8k16 of codes as f16 bits, of one column where it has eight. */
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/gemm_ptx.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

__device__ __forceinline__ uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* What the producer asks for next: chunk `i` of the block, of `panel` and the c-th of that. */
struct next_chunk {
    uint32_t i, panel, c;
};

template <int GROUP, int SLOTS, int DEPTH> struct row_product {
    enum {
        PANEL = IFM_CUDA_GEMM_PANEL,
        LINE = IFM_CUDA_GEMM_LINE,
        VECTOR = IFM_CUDA_GEMM_VECTOR,
        WARPS = IFM_CUDA_GEMM_WARPS, /* that multiply, beside the producer */
        UNIT = IFM_CUDA_GEMM_ROW_UNIT,
        GROUPS = UNIT / GROUP,
        CODES = UNIT * PANEL / 2, /* bytes of a unit */
        LINES = GROUPS / 2 * LINE,
        CHUNK = IFM_CUDA_GEMM_ROW_CHUNK(GROUP),
        IS_KEPT = GROUPS <= 4 /* what is taken off each group's sums: registers are left for no more */
    };

    const ifm_cuda_gemm &a;
    uint32_t ring, x, full, empty, late;   /* in shared memory; late: the second half of the last chunk */
    float *parts;                          /* [panels of the block][PANEL][WARPS + 1] */
    uint32_t warp, lane, begin, panels;    /* the block's first panel, and how many it has */
    uint32_t groups, pairs, units, across; /* of a panel; across: chunks */

    __device__ __forceinline__ row_product(const ifm_cuda_gemm &arguments, unsigned char *shared) : a(arguments)
    {
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        const uint32_t more = a.n / PANEL - a.panels * gridDim.x;
        begin = a.panels * blockIdx.x + least(blockIdx.x, more);
        panels = a.panels + (blockIdx.x < more);
        groups = (a.k + GROUP - 1) / GROUP;
        pairs = (groups + 1) / 2;
        units = (groups + GROUPS - 1) / GROUPS;
        across = (units + WARPS - 1) / WARPS;
        ring = shared_address(shared);
        x = ring + SLOTS * CHUNK;
        full = x + 2 * a.x_stride;
        empty = full + 8 * SLOTS;
        late = empty + 8 * SLOTS;
        parts = reinterpret_cast<float *>(shared + (late + 8 - ring));
    }

    /* Those of the first chunk, and all others. */
    __device__ __forceinline__ void create_first_barriers() const
    {
        barrier_create(full, 1);
        barrier_create(late, 1);
        barriers_created();
    }
    __device__ __forceinline__ void create_barriers() const
    {
        for (uint32_t s = 0; s < SLOTS; s++) {
            if (s > 0)
                barrier_create(full + 8 * s, 1);
            barrier_create(empty + 8 * s, 32 * WARPS);
        }
        barriers_created();
    }

    /* Units of chunk `c`, and those of them that come first where it is the block's last. */
    __device__ __forceinline__ uint32_t of_chunk(uint32_t c) const
    {
        return least(units - c * WARPS, WARPS);
    }
    __device__ __forceinline__ static uint32_t first_half(uint32_t count)
    {
        return (count + 1) / 2;
    }

    /* `count` units from `first` on, of the panel at `from`, to a slot at `to`, where unit `first` is the warp's
     * `place`. */
    __device__ __forceinline__ void fetch(const unsigned char *from, uint32_t first, uint32_t count, uint32_t to,
                                          uint32_t place, uint32_t barrier) const
    {
        const uint32_t lines = least(count * LINES, pairs * LINE - first * LINES);
        const uint32_t codes = least(count * CODES, groups * (GROUP * PANEL / 2) - first * CODES);
        barrier_expect(barrier, lines + codes);
        copy_bulk(to + place * LINES, from + first * LINES, lines, barrier);
        copy_bulk(to + WARPS * LINES + place * CODES, from + pairs * LINE + first * CODES, codes, barrier);
    }

    /* Chunks up to `end`, at most DEPTH of them on their way, each into a slot that all warps have left. */
    __device__ __forceinline__ void fetch_until(uint32_t end, next_chunk &next) const
    {
        const uint64_t of_panel = pairs * LINE + groups * (GROUP * PANEL / 2);
        const unsigned char *first = static_cast<const unsigned char *>(a.w) + begin * of_panel;
        for (; next.i < end; next.i++) {
            const uint32_t i = next.i, slot = i % SLOTS, to = ring + slot * CHUNK, count = of_chunk(next.c);
            const unsigned char *from = first + next.panel * of_panel;
            if (i >= SLOTS)
                barrier_wait(empty + 8 * slot, (i / SLOTS - 1) & 1);
            if (i >= DEPTH)
                barrier_wait(full + 8 * ((i - DEPTH) % SLOTS), (i - DEPTH) / SLOTS & 1);
            const bool in_halves = i + 1 == panels * across && count > 1;
            const uint32_t now = in_halves ? first_half(count) : count;
            fetch(from, next.c * WARPS, now, to, 0, full + 8 * slot);
            if (in_halves)
                fetch(from, next.c * WARPS + now, count - now, to, now, late);
            next.panel = next.panel + 1 == panels ? 0 : next.panel + 1;
            next.c += next.panel == 0;
        }
    }

    /* By a warp: what its units are multiplied by. */
    __device__ __forceinline__ void copy_activations() const
    {
        for (uint32_t unit = warp; unit < units; unit += WARPS) {
            const uint32_t at = unit * (2 * UNIT) + 16 * lane;
            copy_async(x + at, static_cast<const unsigned char *>(a.x) + at, true);
        }
        commit_copies();
        wait_for_copies<0>();
        __syncwarp();
    }

    /* 32 values of k: what the codes' 8 more adds to the sums, taken off. */
    __device__ __forceinline__ static void subtract(const uint4 &b, float (&low)[4], float (&high)[4])
    {
        constexpr uint32_t LOW = 0x80088008, HIGH = 0x80808080;
        multiply<false>(low, LOW, LOW, LOW, LOW, b.x, b.y);
        multiply<false>(high, HIGH, HIGH, HIGH, HIGH, b.z, b.w);
    }

    /* The same of each group, once for all panels. */
    __device__ __forceinline__ static void find_excess(const uint4 (&b)[8], float (&less)[GROUPS])
    {
#pragma unroll
        for (int group = 0; group < GROUPS; group++) {
            float low[4] = {}, high[4] = {};
#pragma unroll
            for (int j = group * GROUP / 32; j < (group + 1) * GROUP / 32; j++)
                subtract(b[j], low, high);
            less[group] = IS_KEPT ? low[0] + 0.0625f * high[0] : 0.0f;
        }
    }

    /* 32 values of k: low halves of bytes to `low`, high ones, 16 times too large, to `high`. */
    __device__ __forceinline__ static void add(uint32_t first, uint32_t second, const uint4 &b, float (&low)[4],
                                               float (&high)[4])
    {
        constexpr uint32_t LOW = 0x000f000f, HIGH = 0x00f000f0;
        const uint32_t f = first >> 8, s = second >> 8;
        multiply<false>(low, first & LOW, f & LOW, second & LOW, s & LOW, b.x, b.y);
        multiply<false>(high, first & HIGH, f & HIGH, second & HIGH, s & HIGH, b.z, b.w);
    }

    /* The unit of this warp in a slot, of which `here` groups are there, or ALL: rows lane / 4 and 8 more, scaled. */
    template <bool ALL>
    __device__ __forceinline__ void multiply_unit(uint32_t slot, uint32_t here, const uint4 (&b)[8],
                                                  const float (&less)[GROUPS], float &above, float &below) const
    {
        const uint32_t scales = ring + slot * CHUNK + warp * LINES + lane / 4 * 2;
        const uint32_t codes = ring + slot * CHUNK + WARPS * LINES + warp * CODES + 16 * lane;
        uint4 q = {0, 0, 0, 0};
#pragma unroll
        for (int group = 0; group < GROUPS; group++) {
            if (!ALL && static_cast<uint32_t>(group) >= here)
                break;
            float low[4] = {}, high[4] = {};
            const uint16_t s = load_half(scales + 32 * group), t = load_half(scales + 32 * group + 16);
#pragma unroll
            for (int j = group * GROUP / 32; j < (group + 1) * GROUP / 32; j++) {
                if (j % 2 == 0)
                    q = load_shared(codes + j / 2 * VECTOR);
                add(j % 2 == 0 ? q.x : q.z, j % 2 == 0 ? q.y : q.w, b[j], low, high);
                if (!IS_KEPT)
                    subtract(b[j], low, high);
            }
            above += of_f16(s) * (low[0] + 0.0625f * high[0] + less[group]);
            below += of_f16(t) * (low[2] + 0.0625f * high[2] + less[group]);
        }
    }

    /* Column 0 of the sums, which lanes 4 g have, is the activation's. */
    __device__ __forceinline__ void leave(uint32_t panel, bool adds, float above, float below) const
    {
        float *to = parts + (panel * PANEL + lane / 4) * (WARPS + 1) + warp;
        if (lane % 4 != 0)
            return;
        to[0] = adds ? to[0] + above : above;
        to[8 * (WARPS + 1)] = adds ? to[8 * (WARPS + 1)] + below : below;
    }

    __device__ __forceinline__ void multiply_all() const
    {
        const uint32_t all = panels * across, split = first_half(of_chunk(across - 1));
        uint32_t i = 0;
        for (uint32_t c = 0; c < across; c++) {
            const uint32_t unit = c * WARPS + warp, here = unit < units ? least(groups - unit * GROUPS, GROUPS) : 0;
            uint4 b[8];
            float less[GROUPS];
            if (here > 0) { /* no other warp's activations are there for this one */
#pragma unroll
                for (int j = 0; j < 8; j++)
                    b[j] = load_shared(x + unit * (2 * UNIT) + 64 * j + lane % 4 * 16);
                find_excess(b, less);
            }
            for (uint32_t panel = 0; panel < panels; panel++, i++) {
                float above = 0, below = 0;
                const uint32_t slot = i % SLOTS;
                const bool is_late = i + 1 == all && warp >= split && here > 0;
                /* Those that have no unit wait too: who is ahead of the others may not leave a slot twice. */
                barrier_wait(is_late ? late : full + 8 * slot, is_late ? 0 : i / SLOTS & 1);
                if (IS_KEPT && here == GROUPS) /* no branch among its loads, which take registers */
                    multiply_unit<true>(slot, here, b, less, above, below);
                else if (here > 0)
                    multiply_unit<false>(slot, here, b, less, above, below);
                if (i + SLOTS < all) /* by each lane: racecheck sees no __syncwarp that the compiler leaves out */
                    barrier_arrive(empty + 8 * slot);
                leave(panel, c > 0, above, below);
            }
        }
    }

    __device__ __forceinline__ void sum_panels() const
    {
        for (uint32_t row = threadIdx.x; row < panels * PANEL; row += blockDim.x) {
            float sum = 0;
#pragma unroll
            for (int w = 0; w < WARPS; w++)
                sum += parts[row * (WARPS + 1) + w];
            static_cast<uint16_t *>(a.out)[begin * PANEL + row] = to_f16(sum * 16777216.0f); /* 2^24 */
        }
    }

    __device__ __forceinline__ void run() const
    {
        const bool is_producer = threadIdx.x == 32 * WARPS;
        next_chunk next = {0, 0, 0};
        if (is_producer) {
            create_first_barriers();
            fetch_until(1, next);
            create_barriers();
        }
        let_next_begin(); /* it reads weights alone before this grid has ended, which no kernel writes */
        __syncthreads();
        if (is_producer)
            fetch_until(panels * across, next);
        if (warp < WARPS) {
            wait_for_previous(); /* activations are its outputs */
            copy_activations();
            multiply_all();
        }
        __syncthreads();
        sum_panels();
    }
};

template <int GROUP> __device__ __forceinline__ void row(const ifm_cuda_gemm &a)
{
    extern __shared__ __align__(128) unsigned char shared[];
    row_product<GROUP, IFM_CUDA_GEMM_ROW_SLOTS, IFM_CUDA_GEMM_ROW_DEPTH>(a, shared).run();
}

} // namespace

#define IFM_GEMM_KERNEL(group)                                                                                         \
    extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_ROW_THREADS, 1)                                         \
        ifm_gemm_row_int4_##group(ifm_cuda_gemm a)                                                                     \
    {                                                                                                                  \
        row<group>(a);                                                                                                 \
    }
IFM_GEMM_KERNEL(128)
IFM_GEMM_KERNEL(64)
IFM_GEMM_KERNEL(32)

#endif
