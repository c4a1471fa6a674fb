/* Tens to hundreds of activations times a weight matrix, on the matrix units of compute capability 9.0 (wgmma): other
 * images of this file are empty. Device code only.
 *
 * A block has 64 rows of the weights for each of its warpgroups and 64 or 128 activations, and goes over k in steps of
 * 64, which cp.async brings into a ring of stages. Activations lie there as rows of 128 bytes under the 128-byte
 * swizzle, and so do f16 and bf16 weights. The codes of int8 and int4 are in the order of a warp's registers: they
 * become halves there, exactly, and their scales are applied to the sums of a group.
 *
 * Blocks of f16 and bf16 are about as many as multiprocessors (gemm_tma.cu has the shapes of which 128 rows are one
 * wave of blocks): of a large matrix they have 256 rows, as each reads all activations; of a small one two blocks are a
 * cluster, have half of k each and add their sums through their shared memory. Sums are in one order: the same bits in
 * every run. */
#include "kernel/cuda/cluster.cuh"
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/gemm_ptx.cuh"
#include "kernel/cuda/gemm_sums.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

enum { DEPTH = IFM_CUDA_GEMM_DEPTH, VECTOR = IFM_CUDA_GEMM_VECTOR, LINE = IFM_CUDA_GEMM_LINE };
enum { PANEL = IFM_CUDA_GEMM_PANEL, ROW = 2 * DEPTH /* bytes of a row in a stage */ };

__device__ __forceinline__ void multiply_registers(float (&sum)[32], const uint32_t (&a)[4], uint64_t b, int adds)
{
    asm volatile("{.reg .pred p; setp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" REGISTERS32
                 "}, {%32,%33,%34,%35}, %36, p, 1, 1, 0;}"
                 : SUM32(0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

__device__ __forceinline__ void multiply_registers(float (&sum)[64], const uint32_t (&a)[4], uint64_t b, int adds)
{
    asm volatile("{.reg .pred p; setp.ne.b32 p, %69, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" REGISTERS64
                 "}, {%64,%65,%66,%67}, %68, p, 1, 1, 0;}"
                 : SUM32(0), SUM32(32)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}

/* ---- codes as halves: the bits of 1024 + code, less what codes are stored with ---- */

__device__ __forceinline__ uint32_t less(uint32_t halves, uint32_t what)
{
    uint32_t out;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(halves), "r"(what));
    return out;
}

/* Two bytes of a word: code + 128. */
__device__ __forceinline__ uint32_t of_int8(uint32_t word, uint32_t which)
{
    return less(__byte_perm(word, 0x64646464, which), 0x64806480);
}

/* The low or the high halves of bytes 0 and 2: code + 8, which high ones have 16 times. */
template <bool HIGH> __device__ __forceinline__ uint32_t of_int4(uint32_t word)
{
    uint32_t out;
    if (!HIGH)
        return less((word & 0x000f000f) | 0x64006400, 0x64086408);
    asm("fma.rn.f16x2 %0, %1, %2, %3;"
        : "=r"(out)
        : "r"((word & 0x00f000f0) | 0x64006400), "r"(0x2c002c00) /* 1/16 */, "r"(0xd480d480) /* -72 */);
    return out;
}

template <int FORMAT, int GROUP, int COLUMNS, int GROUPS, int SPLIT> struct product {
    static constexpr bool IS_WIDE = FORMAT <= IFM_CUDA_GEMM_BF16, IS_INT4 = FORMAT == IFM_CUDA_GEMM_INT4;
    static constexpr bool IS_BF16 = FORMAT == IFM_CUDA_GEMM_BF16;
    enum {
        ROWS = 64 * GROUPS,
        THREADS = 128 * GROUPS,
        STAGES = IFM_CUDA_GEMM_STAGES_OF(GROUPS),
        AHEAD = IS_WIDE ? STAGES - 1 : STAGES - 2, /* stages on their way */
        X_BYTES = COLUMNS * ROW,
        VECTORS = IS_INT4 ? 1 : 2, /* of a warp and a step */
        OF_WARP = VECTORS * VECTOR + LINE,
        STAGE = IFM_CUDA_GEMM_STAGE(FORMAT, COLUMNS, GROUPS),
        OUT_STRIDE = ROWS + 8, /* halves */
        SUM_STRIDE = ROWS + 4  /* floats */
    };

    const ifm_cuda_gemm &a;
    uint32_t room;                    /* in shared memory, at a multiple of 1024 */
    uint32_t warp, lane, row, column; /* row and column: the block's first */
    uint32_t first, steps;            /* the block's first step, and the end of its steps */

    __device__ __forceinline__ product(const ifm_cuda_gemm &arguments, unsigned char *shared) : a(arguments)
    {
        const uint32_t across = (a.m + COLUMNS - 1) / COLUMNS;
        room = (shared_address(shared) + 1023) & ~1023u;
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        row = blockIdx.x / SPLIT / across * ROWS; /* blocks of the same weights are neighbours */
        column = blockIdx.x / SPLIT % across * COLUMNS;
        steps = (a.k + DEPTH - 1) / DEPTH;
        first = blockIdx.x % SPLIT * steps / SPLIT;
        steps = (blockIdx.x % SPLIT + 1) * steps / SPLIT;
    }

    __device__ __forceinline__ uint32_t stage(uint32_t step) const
    {
        return room + step % STAGES * STAGE;
    }

    /* `rows` rows of 128 bytes, swizzled; those from `end` on are zeros. */
    template <int COUNT>
    __device__ __forceinline__ void fetch_rows(uint32_t to, const uint16_t *from, uint64_t stride, uint32_t end)
    {
#pragma unroll
        for (int i = 0; i < COUNT * 8 / THREADS; i++) {
            const uint32_t piece = threadIdx.x + i * THREADS, at = piece / 8, chunk = piece % 8;
            copy_async(to + at * ROW + (chunk ^ at % 8) * 16, from + (at < end ? at * stride : 0) + chunk * 8,
                       at < end);
        }
    }

    __device__ __forceinline__ void fetch_weights(uint32_t step)
    {
        if (step >= steps)
            return;
        if (IS_WIDE) {
            fetch_rows<ROWS>(stage(step) + X_BYTES,
                             static_cast<const uint16_t *>(a.w) + static_cast<uint64_t>(row) * a.k + step * DEPTH, a.k,
                             a.n - row);
            return;
        }
        constexpr uint32_t BYTES = GROUP * PANEL / (IS_INT4 ? 2 : 1); /* codes of a group */
        const uint32_t panel = row / PANEL + warp, groups = (a.k + GROUP - 1) / GROUP, pairs = (groups + 1) / 2;
        const bool is_there = panel < a.n / PANEL;
        const unsigned char *lines =
            static_cast<const unsigned char *>(a.w) +
            (is_there ? panel : 0) * (static_cast<uint64_t>(pairs) * LINE + static_cast<uint64_t>(groups) * BYTES);
        const unsigned char *codes = lines + pairs * LINE + static_cast<uint64_t>(step) * (VECTORS * VECTOR);
        const uint32_t to = stage(step) + X_BYTES + warp * OF_WARP;
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            copy_async(to + v * VECTOR + lane * 16, codes + v * VECTOR + lane * 16, is_there);
        if (lane < LINE / 16)
            copy_async(to + VECTORS * VECTOR + lane * 16, lines + step * DEPTH / (2 * GROUP) * LINE + lane * 16,
                       is_there);
    }

    __device__ __forceinline__ void fetch_activations(uint32_t step)
    {
        if (step < steps)
            fetch_rows<COLUMNS>(stage(step),
                                static_cast<const uint16_t *>(a.x) + static_cast<uint64_t>(column) * a.x_stride +
                                    step * DEPTH,
                                a.x_stride, a.m - column);
        commit_copies();
    }

    /* Step `step` is there for everybody's matrix units, and nobody multiplies the one before it any more. */
    __device__ __forceinline__ void arrive()
    {
        wait_for_copies<AHEAD - 1>();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
    }

    /* Into the room of a step that nobody multiplies any more. */
    __device__ __forceinline__ void fetch(uint32_t step)
    {
        fetch_weights(step);
        fetch_activations(step);
    }

    /* The copies of another step are issued while the matrix units are at this one. */
    __device__ __forceinline__ void multiply_wide(uint32_t step, float (&total)[COLUMNS / 2])
    {
        const uint32_t x = stage(step), w = x + X_BYTES + warp / 4 * (64 * ROW);
        begin();
#pragma unroll
        for (int i = 0; i < DEPTH / 16; i++)
            multiply_shared<IS_BF16>(total, describe(w) + 2 * i, describe(x) + 2 * i, 1);
        commit();
        fetch(step + AHEAD);
        wait<0>(); /* with one under way, sums that go round the loop make ptxas wait behind each product */
    }

    /* Registers of 16 values of k, of the warp's panel. */
    __device__ __forceinline__ static void widen(const uint4 &q, int i, uint32_t (&to)[4])
    {
        if (!IS_INT4) {
            const uint32_t above = i % 2 == 0 ? q.x : q.y, below = i % 2 == 0 ? q.z : q.w;
            to[0] = of_int8(above, 0x4140);
            to[1] = of_int8(below, 0x4140);
            to[2] = of_int8(above, 0x4342);
            to[3] = of_int8(below, 0x4342);
        } else {
            const uint32_t front = i < 2 ? q.x : q.z, back = i < 2 ? q.y : q.w;
            to[0] = i % 2 == 0 ? of_int4<false>(front) : of_int4<true>(front);
            to[1] = i % 2 == 0 ? of_int4<false>(front >> 8) : of_int4<true>(front >> 8);
            to[2] = i % 2 == 0 ? of_int4<false>(back) : of_int4<true>(back);
            to[3] = i % 2 == 0 ? of_int4<false>(back >> 8) : of_int4<true>(back >> 8);
        }
    }

    /* A step of codes, in `part`: the sums of the group so far, or what begins one. */
    __device__ __forceinline__ void multiply_codes(uint32_t step, float (&total)[COLUMNS / 2],
                                                   float (&part)[COLUMNS / 2])
    {
        constexpr int EACH = GROUP < DEPTH ? GROUP / 16 : DEPTH / 16; /* products between scales */
        const uint32_t x = stage(step), from = x + X_BYTES + warp * OF_WARP;
        uint32_t weights[DEPTH / 16][4];
        uint4 codes[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            codes[v] = load_shared(from + v * VECTOR + lane * 16);
#pragma unroll
        for (int i = 0; i < DEPTH / 16; i++)
            widen(codes[IS_INT4 ? 0 : i / 2], i, weights[i]);
#pragma unroll
        for (int first = 0; first < DEPTH / 16; first += EACH) {
            const uint32_t k = step * DEPTH + first * 16;
            begin();
#pragma unroll
            for (int i = first; i < first + EACH; i++)
                multiply_registers(part, weights[i], describe(x) + 2 * i, k % GROUP != 0 || i > first);
            commit();
            wait<0>();
            if ((k + EACH * 16) % GROUP != 0 && step + 1 < steps)
                continue;
            const uint32_t scales = from + VECTORS * VECTOR + (k / GROUP % 2 * PANEL + lane / 4) * 2;
            const float above = of_f16(load_half(scales)), below = of_f16(load_half(scales + 16));
#pragma unroll
            for (int i = 0; i < COLUMNS / 2; i++)
                total[i] = fmaf(i % 4 < 2 ? above : below, part[i], total[i]);
        }
    }

    /* Through shared memory, so that the outputs of an activation are written whole. */
    __device__ __forceinline__ void finish(const float (&total)[COLUMNS / 2])
    {
        uint16_t *out = static_cast<uint16_t *>(a.out);
        wait_for_copies<0>();
        __syncthreads();
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) {
            const uint32_t at = i / 4 * 8 + lane % 4 * 2 + i % 2, of = warp * 16 + i % 4 / 2 * 8 + lane / 4;
            store_shared(room + (at * OUT_STRIDE + of) * 2, IS_BF16 ? to_bf16(total[i]) : to_f16(total[i]));
        }
        __syncthreads();
        for (uint32_t piece = threadIdx.x; piece < COLUMNS * ROWS / 8; piece += THREADS) {
            const uint32_t at = piece / (ROWS / 8), of = piece % (ROWS / 8) * 8;
            if (column + at < a.m && row + of < a.n)
                *reinterpret_cast<uint4 *>(out + static_cast<uint64_t>(column + at) * a.n + row + of) =
                    load_shared(room + (at * OUT_STRIDE + of) * 2);
        }
    }

    /* The same, of a cluster: each block adds up a share of the activations, out of everybody's shared memory. */
    __device__ __forceinline__ void finish_cluster(const float (&total)[COLUMNS / 2])
    {
        enum { MINE = COLUMNS / SPLIT };
        uint16_t *out = static_cast<uint16_t *>(a.out);
        wait_for_copies<0>();
        __syncthreads();
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) {
            const uint32_t at = i / 4 * 8 + lane % 4 * 2 + i % 2, of = warp * 16 + i % 4 / 2 * 8 + lane / 4;
            store_shared(room + (at * SUM_STRIDE + of) * 4, total[i]);
        }
        meet_cluster();
        for (uint32_t piece = threadIdx.x; piece < MINE * ROWS / 8; piece += THREADS) {
            const uint32_t at = blockIdx.x % SPLIT * MINE + piece / (ROWS / 8), of = piece % (ROWS / 8) * 8;
            float4 low = make_float4(0, 0, 0, 0), high = low;
            if (column + at >= a.m || row + of >= a.n)
                continue;
#pragma unroll
            for (int b = 0; b < SPLIT; b++) {
                const uint32_t from = in_block(room + (at * SUM_STRIDE + of) * 4, b);
                add(low, cluster_float4(from));
                add(high, cluster_float4(from + 16));
            }
            *reinterpret_cast<uint4 *>(out + static_cast<uint64_t>(column + at) * a.n + row + of) =
                make_uint4(both(low.x, low.y), both(low.z, low.w), both(high.x, high.y), both(high.z, high.w));
        }
        meet_cluster(); /* nobody leaves while its memory is read */
    }

    __device__ __forceinline__ static void add(float4 &to, const float4 &x)
    {
        to.x += x.x;
        to.y += x.y;
        to.z += x.z;
        to.w += x.w;
    }

    __device__ __forceinline__ static uint32_t both(float low, float high)
    {
        return IS_BF16 ? to_bf16(low) | static_cast<uint32_t>(to_bf16(high)) << 16
                       : to_f16(low) | static_cast<uint32_t>(to_f16(high)) << 16;
    }

    __device__ __forceinline__ void run()
    {
        float total[COLUMNS / 2], part[COLUMNS / 2];
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            total[i] = part[i] = 0;
        for (uint32_t step = first; step < first + AHEAD; step++)
            fetch_weights(step);
        let_next_begin();
        wait_for_previous(); /* activations are its outputs */
        for (uint32_t step = first; step < first + AHEAD; step++)
            fetch_activations(step);
#pragma unroll 1
        for (uint32_t step = first; step < steps; step++) {
            arrive();
            if (IS_WIDE) {
                multiply_wide(step, total);
            } else {
                fetch(step + AHEAD);
                multiply_codes(step, total, part);
            }
        }
        if (SPLIT > 1)
            finish_cluster(total);
        else
            finish(total);
    }
};

} // namespace

#define IFM_GEMM_KERNEL(name, format, group, columns, groups, split)                                                   \
    extern "C" __global__ void __cluster_dims__(split, 1, 1) __launch_bounds__(128 * groups, 1) name(ifm_cuda_gemm a)  \
    {                                                                                                                  \
        extern __shared__ __align__(1024) unsigned char shared[];                                                      \
        product<format, group, columns, groups, split>(a, shared).run();                                               \
    }
#define IFM_GEMM_WIDE(name, format)                                                                                    \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_64_1_1, format, 128, 64, 1, 1)                                             \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_64_1_2, format, 128, 64, 1, 2)                                             \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_64_2_1, format, 128, 64, 2, 1)                                             \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_128_1_1, format, 128, 128, 1, 1)                                           \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_128_1_2, format, 128, 128, 1, 2)                                           \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_128_2_1, format, 128, 128, 2, 1)                                           \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_128_2_2, format, 128, 128, 2, 2)                                           \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_128_4_1, format, 128, 128, 4, 1)
#define IFM_GEMM_CODES(name, format, group)                                                                            \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_64_1_1, format, group, 64, 1, 1)                                           \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_64_2_1, format, group, 64, 2, 1)                                           \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_128_1_1, format, group, 128, 1, 1)                                         \
    IFM_GEMM_KERNEL(ifm_gemm_wgmma_##name##_128_2_1, format, group, 128, 2, 1)
IFM_GEMM_WIDE(f16, IFM_CUDA_GEMM_F16)
IFM_GEMM_WIDE(bf16, IFM_CUDA_GEMM_BF16)
IFM_GEMM_CODES(int8_128, IFM_CUDA_GEMM_INT8, 128)
IFM_GEMM_CODES(int8_64, IFM_CUDA_GEMM_INT8, 64)
IFM_GEMM_CODES(int8_32, IFM_CUDA_GEMM_INT8, 32)
IFM_GEMM_CODES(int4_128, IFM_CUDA_GEMM_INT4, 128)
IFM_GEMM_CODES(int4_64, IFM_CUDA_GEMM_INT4, 64)
IFM_GEMM_CODES(int4_32, IFM_CUDA_GEMM_INT4, 32)

#endif
