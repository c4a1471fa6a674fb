/* 65 to 256 activations times a weight matrix of f16 or bf16, on the matrix units of compute capability 9.0 (wgmma),
 * with tiles that the copy engine brings (TMA): other images of this file are empty. Device code only.
 *
 * A block has 128 rows of the weights and all activations, and goes over k in steps of 64. Two warpgroups multiply; one
 * more warp, the producer, asks for the tiles of a step, into a ring of stages, whose barriers say when a stage is full
 * and when it is empty again. So nobody waits for everybody, and one warpgroup multiplies while the other waits for its
 * products. Sums are in one order: the same bits in every run. */
#include "kernel/cuda/gemm.h"
#include "kernel/cuda/gemm_ptx.cuh"
#include "kernel/cuda/gemm_sums.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

enum { DEPTH = IFM_CUDA_GEMM_DEPTH, ROWS = IFM_CUDA_GEMM_TMA_ROWS };
enum {
    WARPS = ROWS / 16 /* that multiply, beside the producer */,
    LINE = 2 * DEPTH /* bytes of a row of a tile */
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

template <bool IS_BF16, int COLUMNS> struct product {
    enum {
        STAGE = IFM_CUDA_GEMM_TMA_STAGE(COLUMNS),
        STAGES = IFM_CUDA_GEMM_TMA_STAGES(COLUMNS),
        W_AT = COLUMNS * LINE, /* of the weights in a stage, behind the activations */
        OUT_STRIDE = ROWS + 8  /* halves */
    };

    const ifm_cuda_gemm_tma &all;
    const ifm_cuda_gemm &a;
    uint32_t stages, full, empty; /* in shared memory: the stages, at a multiple of 1024; two barriers for each */
    uint32_t warp, lane, row, steps;

    __device__ __forceinline__ product(const ifm_cuda_gemm_tma &arguments, unsigned char *shared)
        : all(arguments), a(arguments.a)
    {
        stages = (shared_address(shared) + 1023) & ~1023u;
        full = stages + STAGES * STAGE;
        empty = full + STAGES * 8;
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        row = blockIdx.x * ROWS;
        steps = (a.k + DEPTH - 1) / DEPTH;
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
        fetch_tile(stages + s * STAGE + W_AT, all.w_map, step * DEPTH, row, full + 8 * s);
    }

    __device__ __forceinline__ void fetch_activations(uint32_t step) const
    {
        const uint32_t s = step % STAGES;
        fetch_tile(stages + s * STAGE, all.x_map, step * DEPTH, 0, full + 8 * s);
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
        asm volatile("barrier.sync 1, %0;" ::"r"(32u * WARPS) : "memory");
    }

    /* Through shared memory, so that the outputs of an activation are written whole. */
    __device__ __forceinline__ void finish(const float (&total)[COLUMNS / 2]) const
    {
        uint16_t *out = static_cast<uint16_t *>(a.out);
        meet();
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i++) {
            const uint32_t at = i / 4 * 8 + lane % 4 * 2 + i % 2, of = warp * 16 + i % 4 / 2 * 8 + lane / 4;
            store_shared(stages + (at * OUT_STRIDE + of) * 2, IS_BF16 ? to_bf16(total[i]) : to_f16(total[i]));
        }
        meet();
        for (uint32_t piece = threadIdx.x; piece < a.m * ROWS / 8; piece += 32 * WARPS) {
            const uint32_t at = piece / (ROWS / 8), of = piece % (ROWS / 8) * 8;
            *reinterpret_cast<uint4 *>(out + static_cast<uint64_t>(at) * a.n + row + of) =
                load_shared(stages + (at * OUT_STRIDE + of) * 2);
        }
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
            finish(total);
        }
    }
};

} // namespace

#define IFM_GEMM_KERNEL(name, is_bf16, columns)                                                                        \
    extern "C" __global__ void __launch_bounds__(IFM_CUDA_GEMM_TMA_THREADS, 1)                                         \
        ifm_gemm_tma_##name##_##columns(const __grid_constant__ ifm_cuda_gemm_tma a)                                   \
    {                                                                                                                  \
        extern __shared__ __align__(1024) unsigned char shared[];                                                      \
        product<is_bf16, columns>(a, shared).run();                                                                    \
    }
IFM_GEMM_KERNEL(f16, false, 128)
IFM_GEMM_KERNEL(f16, false, 256)
IFM_GEMM_KERNEL(bf16, true, 128)
IFM_GEMM_KERNEL(bf16, true, 256)

#endif
