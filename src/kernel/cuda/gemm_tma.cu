/* 65 to 256 activations times a weight matrix of f16 or bf16, on the matrix units of compute capability 9.0 (wgmma),
 * with tiles that the copy engine brings (TMA): other images of this file are empty. Device code only.
 *
 * A block has 128 rows of the weights and all activations, and goes over k in steps of 64. Two warpgroups multiply; one
 * more warp, the producer, asks for the tiles of a step, into a ring of stages, whose barriers say when a stage is full
 * and when it is empty again. So nobody waits for everybody, and one warpgroup multiplies while the other waits for its
 * products. Sums are in one order: the same bits in every run.
 *
 * Where such blocks would fill half of the GPU or less, up to four have parts of k. Each leaves its sums in the
 * device's memory, waits for the others', as all blocks run at the same time, and adds up a share of the activations:
 * clusters find no room on all multiprocessors, and one block that joins alone reads four times as much while the
 * others idle. */
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/gemm_ptx.cuh"
#include "kernel/cuda/gemm_sums.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

enum { DEPTH = IFM_CUDA_GEMM_DEPTH, ROWS = IFM_CUDA_GEMM_TMA_ROWS };
enum {
    WARPS = ROWS / 16, /* that multiply, beside the producer */
    LINE = 2 * DEPTH   /* bytes of a row of a tile */
};

/* The tile of `map` that begins at value `k` of row `row`. */
__device__ __forceinline__ void fetch_tile(uint32_t to, const unsigned char *map, uint32_t k, uint32_t row,
                                           uint32_t barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
                 "%3}], [%4];" ::"r"(to),
                 "l"(map), "r"(k), "r"(row), "r"(barrier)
                 : "memory");
}

/* What other blocks of this launch have left: not by the first-level cache. */
__device__ __forceinline__ float4 load_part(const float4 *from)
{
    float4 x;
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "l"(from)
                 : "memory");
    return x;
}

__device__ __forceinline__ uint32_t load_acquired(const uint32_t *from)
{
    uint32_t x;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(from) : "memory");
    return x;
}

__device__ __forceinline__ void add(float4 &to, const float4 &x)
{
    to.x += x.x;
    to.y += x.y;
    to.z += x.z;
    to.w += x.w;
}

/* OF_PART: a block has a part of k. */
template <bool IS_BF16, int COLUMNS, bool OF_PART> struct product {
    enum {
        STAGE = IFM_CUDA_GEMM_TMA_STAGE(COLUMNS),
        STAGES = IFM_CUDA_GEMM_TMA_STAGES(COLUMNS),
        W_AT = COLUMNS * LINE, /* of the weights in a stage, behind the activations */
        OUT_STRIDE = ROWS + 8, /* halves */
        THREADS = 32 * WARPS,
        PLACE = COLUMNS / 8 * THREADS, /* vectors of a block's sums */
        SPLIT = IFM_CUDA_GEMM_TMA_SPLIT,
        AT_ONCE = 4 /* vectors of each part that a thread asks for */
    };

    const ifm_cuda_gemm_tma &all;
    const ifm_cuda_gemm &a;
    uint32_t stages, full, empty; /* in shared memory: the stages, at a multiple of 1024; two barriers for each */
    uint32_t warp, lane, tile, part;
    uint32_t first, steps; /* the block's first step, and how many it has */

    __device__ __forceinline__ product(const ifm_cuda_gemm_tma &arguments, unsigned char *shared)
        : all(arguments), a(arguments.a)
    {
        const uint32_t of_tile = (a.k + DEPTH - 1) / DEPTH, split = OF_PART ? all.split : 1;
        stages = (shared_address(shared) + 1023) & ~1023u;
        full = stages + STAGES * STAGE;
        empty = full + STAGES * 8;
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        tile = blockIdx.x / split; /* blocks of the same weights' rows are neighbours */
        part = blockIdx.x % split;
        first = part * of_tile / split;
        steps = (part + 1) * of_tile / split - first;
    }

    __device__ __forceinline__ void create_barriers() const
    {
        for (uint32_t s = 0; s < STAGES; s++) {
            barrier_create(full + 8 * s, 1);
            barrier_create(empty + 8 * s, WARPS);
        }
        barriers_created();
    }

    /* The stage is full when its activations are there too. They are m rows, as the copy engine is slow where it fills
     * rows that are not there: the columns behind them are multiplied as they lie, and written nowhere. */
    __device__ __forceinline__ void fetch_weights(uint32_t step) const
    {
        const uint32_t s = step % STAGES;
        barrier_expect(full + 8 * s, (ROWS + a.m) * LINE);
        fetch_tile(stages + s * STAGE + W_AT, all.w_map, (first + step) * DEPTH, tile * ROWS, full + 8 * s);
    }

    __device__ __forceinline__ void fetch_activations(uint32_t step) const
    {
        const uint32_t s = step % STAGES;
        fetch_tile(stages + s * STAGE, all.x_map, (first + step) * DEPTH, 0, full + 8 * s);
    }

    __device__ __forceinline__ void fetch_all() const
    {
        for (uint32_t step = 0; step < steps; step++) {
            if (step >= STAGES) {
                barrier_wait(empty + 8 * (step % STAGES), (step / STAGES - 1) % 2);
                fetch_weights(step);
            }
            fetch_activations(step);
        }
    }

    __device__ __forceinline__ void multiply(float (&total)[COLUMNS / 2]) const
    {
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            total[i] = 0;
#pragma unroll 1
        for (uint32_t step = 0; step < steps; step++) {
            const uint32_t s = step % STAGES, x = stages + s * STAGE, w = x + W_AT + warp / 4 * (64 * LINE);
            barrier_wait(full + 8 * s, step / STAGES % 2);
            begin();
#pragma unroll
            for (int i = 0; i < DEPTH / 16; i++)
                multiply_shared<IS_BF16>(total, describe(w) + 2 * i, describe(x) + 2 * i, 1);
            commit();
            wait<0>(); /* with products under way round the loop, ptxas makes each wait for the one before (C7514) */
            if (lane == 0)
                barrier_arrive(empty + 8 * s);
        }
    }

    /* The warps that multiply. */
    __device__ __forceinline__ static void meet()
    {
        asm volatile("barrier.sync 1, %0;" ::"r"(static_cast<uint32_t>(THREADS)) : "memory");
    }

    /* Sum `i` of a vector of eight columns, of which the first is column `from` of those in shared memory. */
    __device__ __forceinline__ void stage_output(uint32_t from, int i, float sum) const
    {
        const uint32_t at = from + lane % 4 * 2 + i % 2, of = warp * 16 + i / 2 * 8 + lane / 4;
        store_shared(stages + (at * OUT_STRIDE + of) * 2, IS_BF16 ? to_bf16(sum) : to_f16(sum));
    }

    /* What all have staged, of `count` columns from `column` on: the outputs of an activation are written whole. */
    __device__ __forceinline__ void write_outputs(uint32_t column, uint32_t count) const
    {
        uint16_t *out = static_cast<uint16_t *>(a.out) + static_cast<uint64_t>(column) * a.n + tile * ROWS;
        meet();
        for (uint32_t piece = threadIdx.x; piece < count * ROWS / 8; piece += THREADS) {
            const uint32_t at = piece / (ROWS / 8), of = piece % (ROWS / 8) * 8;
            *reinterpret_cast<uint4 *>(out + static_cast<uint64_t>(at) * a.n + of) =
                load_shared(stages + (at * OUT_STRIDE + of) * 2);
        }
    }

    __device__ __forceinline__ void finish(const float (&total)[COLUMNS / 2]) const
    {
        meet(); /* nobody multiplies what lies there */
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++)
            stage_output(i / 4 * 8, i % 4, total[i]);
        write_outputs(0, a.m);
    }

    /* The sums of the block of part `of` of this tile, of this thread. */
    __device__ __forceinline__ float4 *place(uint32_t of) const
    {
        return static_cast<float4 *>(all.parts) + static_cast<uint64_t>(tile * all.split + of) * PLACE + threadIdx.x;
    }

    /* Leave the sums of columns that are an activation's, until all blocks of the tile have. */
    __device__ __forceinline__ void exchange(const float (&total)[COLUMNS / 2]) const
    {
        float4 *to = place(part);
#pragma unroll
        for (int i = 0; i < COLUMNS / 8; i++)
            if (i * 8 < a.m)
                to[i * THREADS] = make_float4(total[4 * i], total[4 * i + 1], total[4 * i + 2], total[4 * i + 3]);
        meet();
        if (threadIdx.x == 0) {
            __threadfence(); /* of what all of the block have written */
            atomicAdd(all.tickets + tile, 1u);
            while (load_acquired(all.tickets + tile) < all.split)
                continue;
        }
        meet();
    }

    /* The block's share of the activations, by eights: the sums of all parts in their order. */
    __device__ __forceinline__ void join() const
    {
        const uint32_t eights = (a.m + 7) / 8, from = eights * part / all.split, end = eights * (part + 1) / all.split;
#pragma unroll 1
        for (uint32_t i = from; i < end; i += AT_ONCE) {
            float4 x[AT_ONCE][SPLIT] = {};
#pragma unroll
            for (int v = 0; v < AT_ONCE; v++)
#pragma unroll
                for (int p = 0; p < SPLIT; p++)
                    if (i + v < end && p < all.split)
                        x[v][p] = load_part(place(p) + (i + v) * THREADS);
#pragma unroll
            for (int v = 0; v < AT_ONCE; v++) {
#pragma unroll
                for (int p = 1; p < SPLIT; p++)
                    add(x[v][0], x[v][p]);
                if (i + v < end) {
                    const uint32_t column = (i + v - from) * 8;
                    stage_output(column, 0, x[v][0].x);
                    stage_output(column, 1, x[v][0].y);
                    stage_output(column, 2, x[v][0].z);
                    stage_output(column, 3, x[v][0].w);
                }
            }
        }
        write_outputs(from * 8, (end * 8 < a.m ? end * 8 : a.m) - from * 8);
        /* Every thread has read. */
        if (threadIdx.x == 0 && atomicAdd(all.tickets + tile, 1u) == 2 * all.split - 1)
            all.tickets[tile] = 0;
    }

    __device__ __forceinline__ void run() const
    {
        const bool is_producer = warp == WARPS && lane == 0;
        let_next_begin(); /* it reads weights alone before this grid has ended, which no kernel writes */
        if (is_producer) {
            create_barriers();
            for (uint32_t step = 0; step < STAGES && step < steps; step++)
                fetch_weights(step);
        }
        __syncthreads();
        if (is_producer) {
            wait_for_previous(); /* activations are its outputs; ours wait for them, so for its end too */
            fetch_all();
        } else if (warp < WARPS) {
            float total[COLUMNS / 2];
            multiply(total);
            if (OF_PART) {
                exchange(total);
                join();
            } else {
                finish(total);
            }
        }
    }
};

} // namespace

#define IFM_GEMM_KERNEL(name, is_bf16, columns, of_part)                                                               \
    extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_TMA_THREADS, 1)                                         \
        name(const __grid_constant__ ifm_cuda_gemm_tma a)                                                              \
    {                                                                                                                  \
        extern __shared__ __align__(1024) unsigned char shared[];                                                      \
        product<is_bf16, columns, of_part>(a, shared).run();                                                           \
    }
#define IFM_GEMM_KERNELS(columns)                                                                                      \
    IFM_GEMM_KERNEL(ifm_gemm_tma_f16_##columns, false, columns, false)                                                 \
    IFM_GEMM_KERNEL(ifm_gemm_tma_bf16_##columns, true, columns, false)                                                 \
    IFM_GEMM_KERNEL(ifm_gemm_tma_part_f16_##columns, false, columns, true)                                             \
    IFM_GEMM_KERNEL(ifm_gemm_tma_part_bf16_##columns, true, columns, true)
IFM_GEMM_KERNELS(128)
IFM_GEMM_KERNELS(192)
IFM_GEMM_KERNELS(256)

#endif
