/* Attention by tiles on the matrix units of compute capability 9.0 (wgmma, PTX ISA 8.0): other images of this file are
 * empty. Device code only.
 *
 * As flash.cu, with two differences. A warpgroup has 64 queries in registers and multiplies them by a whole tile of
 * keys that lies in shared memory, at 1.6 times the rate of mma.sync; and a tile's weights are multiplied while those
 * of the next are made. Tiles are rows of 128 bytes under the 128-byte swizzle, 64 values of the head each. */
#include "kernel/cuda/early.cuh"
#include "kernel/cuda/flash.h"
#include "kernel/cuda/flash_plain.cuh"
#include "kernel/cuda/flash_ptx.cuh"
#include "kernel/cuda/flash_wgmma.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace
{

enum {
    STAGES = IFM_HOPPER_STAGES,
    ROW = 128 /* bytes of a row of a panel */
};

template <int DIM, bool BF16, int GROUPS, int KEYS> struct hopper {
    enum {
        ROWS = 64 * GROUPS,
        THREADS = 128 * GROUPS,
        PANELS = DIM / 64,
        PIECES = DIM / 8,    /* of 16 bytes, of a row */
        DEPTH = DIM / 16,    /* k16 steps over the head */
        BLOCKS = KEYS / 64,  /* n64 blocks of scores */
        PANEL = KEYS * ROW,  /* bytes */
        STAGE = 2 * PANELS * PANEL
    };

    const ifm_attention_given &a;
    uint32_t kv_at; /* in shared memory */
    int lane, row, first, length; /* the thread's first query, the block's, keys of the sequence */
    const char *k, *v;
    float scale;
    uint32_t queries[DEPTH][4];
    float sums[PANELS][32];
    float top[2], total[2]; /* of rows `row` and `row` + 8 */

    __device__ __forceinline__ explicit hopper(const ifm_attention_given &arguments) : a(arguments) {}

    __device__ __forceinline__ void fetch(uint32_t to, const char *from, int key)
    {
#pragma unroll
        for (int i = 0; i < KEYS * PIECES / THREADS; i++) {
            const int piece = threadIdx.x + i * THREADS, at = piece / PIECES, column = piece % PIECES;
            const bool is_there = key + at < length;
            copy_or_zero(to + column / 8 * PANEL + at * ROW + (column % 8 ^ at % 8) * 16,
                         from + (is_there ? BYTES_OF_PIECES(key, piece, DIM, STEP(a, kv_views, DIM)) : 0), is_there);
        }
    }

    __device__ __forceinline__ void fetch_tile(int tile)
    {
        const uint32_t to = kv_at + tile % STAGES * STAGE;
        fetch(to, k, tile * KEYS);
        fetch(to + PANELS * PANEL, v, tile * KEYS);
    }

    /* The tile that was fetched last is there for everybody's matrix units. */
    __device__ __forceinline__ void arrive()
    {
        wait_for_copies<0>();
        show_matrix_units();
        __syncthreads();
    }

    __device__ __forceinline__ void score(float (*s)[32], int tile)
    {
        const uint32_t keys_at = kv_at + tile % STAGES * STAGE;
        begin();
#pragma unroll
        for (int n = 0; n < BLOCKS; n++)
#pragma unroll
            for (int d = 0; d < DEPTH; d++)
                multiply<BF16, false>(s[n], queries[d],
                                      describe(keys_at + d / 4 * PANEL + n * 64 * ROW) + d % 4 * 2, d > 0);
        commit();
    }

    __device__ __forceinline__ void hide(float (*s)[32], int key)
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int at = row + half * 8, seen = a.causal && at + 1 < length ? at + 1 : length;
#pragma unroll
            for (int n = 0; n < BLOCKS; n++)
#pragma unroll
                for (int i = 0; i < 16; i++)
                    if (key + n * 64 + i / 2 * 8 + lane % 4 * 2 + i % 2 >= seen)
                        s[n][i / 2 * 4 + half * 2 + i % 2] = -infinity();
        }
    }

    /* Where a maximum of the tile is more than 2^8 above the one that stands: new maxima, and what sums are to be
     * multiplied with; false = they stand. */
    __device__ __forceinline__ bool raise(float (*s)[32], float *kept)
    {
        float most[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float m = s[0][half * 2];
#pragma unroll
            for (int n = 0; n < BLOCKS; n++)
#pragma unroll
                for (int i = 0; i < 16; i++)
                    m = fmaxf(m, s[n][i / 2 * 4 + half * 2 + i % 2]);
            most[half] = m * scale;
        }
        if (!__any_sync(0xffffffffu, most[0] > top[0] + 8.0f || most[1] > top[1] + 8.0f))
            return false;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float m = most[half];
            m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
            m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
            m = fmaxf(m, top[half]);
            kept[half] = m == top[half] ? 1.0f : power_of_2(top[half] - m);
            top[half] = m;
            total[half] *= kept[half];
        }
        return true;
    }

    __device__ __forceinline__ void rescale(const float *kept)
    {
#pragma unroll
        for (int p = 0; p < PANELS; p++)
#pragma unroll
            for (int i = 0; i < 32; i++)
                sums[p][i] *= kept[i / 2 % 2];
    }

    /* Scores become weights: of each 16 keys the four registers that the matrix units take. */
    __device__ __forceinline__ void weigh(float (*s)[32], uint32_t (*weights)[4])
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float above = top[half] == -infinity() ? 0.0f : top[half];
#pragma unroll
            for (int n = 0; n < BLOCKS; n++)
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    const float x = power_of_2(fmaf(s[n][i * 4 + half * 2], scale, -above));
                    const float y = power_of_2(fmaf(s[n][i * 4 + half * 2 + 1], scale, -above));
                    total[half] += x + y;
                    weights[n * 4 + i / 2][i % 2 * 2 + half] = pack<BF16>(x, y);
                }
        }
    }

    __device__ __forceinline__ void add(uint32_t (*weights)[4], int tile)
    {
        const uint32_t values_at = kv_at + tile % STAGES * STAGE + PANELS * PANEL;
        begin();
#pragma unroll
        for (int p = 0; p < PANELS; p++)
#pragma unroll
            for (int i = 0; i < KEYS / 16; i++)
                multiply<BF16, true>(sums[p], weights[i], describe(values_at + p * PANEL + i * 16 * ROW), 1);
        commit();
    }

    /* Scores and weights of a tile, while the weights of the one before it are multiplied. */
    template <bool FIRST>
    __device__ __forceinline__ void take(int tile, int tiles, uint32_t (*now)[4], uint32_t (*before)[4])
    {
        float s[BLOCKS][32], kept[2] = {1.0f, 1.0f};
        arrive();
        if (tile + 1 < tiles)
            fetch_tile(tile + 1);
        commit_copies();
        score(s, tile);
        if (FIRST) {
            wait<0>();
        } else {
            add(before, tile - 1);
            wait<1>();
        }
        const int key = tile * KEYS;
        if (key + KEYS > length || (a.causal && key + KEYS > first + 1))
            hide(s, key);
        const bool raised = raise(s, kept);
        weigh(s, now);
        if (!FIRST) {
            wait<0>();
            if (raised)
                rescale(kept);
        }
    }

    __device__ __forceinline__ void start(uint16_t *room)
    {
        const unsigned tiles = (a.seq_len + ROWS - 1) / ROWS, pair = blockIdx.x / tiles, order = blockIdx.x % tiles;
        const unsigned tile = a.causal ? tiles - 1 - order : order; /* those that see most begin first */
        const uint64_t sequence = pair / a.q_heads, kv_head = pair % a.q_heads / (a.q_heads / a.kv_heads);
        const uint64_t kv = PLACE_OF_KV(a, sequence * a.kv_heads + kv_head, sequence, kv_head, DIM) * 2;
        lane = threadIdx.x % 32;
        first = static_cast<int>(tile * ROWS);
        row = first + threadIdx.x / 32 * 16 + lane / 4;
        length = static_cast<int>(a.lengths[sequence]);
        k = static_cast<const char *>(a.k) + kv;
        v = static_cast<const char *>(a.v) + kv;
        scale = 1.4426950408889634f / sqrtf(static_cast<float>(DIM));
        kv_at = (shared_address(room) + 1023) & ~1023u;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            top[half] = -infinity();
            total[half] = 0;
        }
#pragma unroll
        for (int p = 0; p < PANELS; p++)
#pragma unroll
            for (int i = 0; i < 32; i++)
                sums[p][i] = 0;
    }

    /* Of Q; of the output. */
    template <bool IS_OUT> __device__ __forceinline__ uint64_t place_of(int half, int column) const
    {
        const unsigned tiles = (a.seq_len + ROWS - 1) / ROWS, pair = blockIdx.x / tiles;
        const uint64_t all = static_cast<uint64_t>(pair) * a.seq_len + row + half * 8;
        const uint64_t at = IS_OUT ? PLACE_OF_ROW(a, out_views, all, pair, row + half * 8, DIM)
                                   : PLACE_OF_ROW(a, q_views, all, pair, row + half * 8, DIM);
        return (at + column) * 2;
    }

    __device__ __forceinline__ void load_queries()
    {
#pragma unroll
        for (int d = 0; d < DEPTH; d++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                queries[d][i] =
                    row + i % 2 * 8 < static_cast<int>(a.seq_len)
                        ? *reinterpret_cast<const uint32_t *>(static_cast<const char *>(a.q) +
                                                              place_of<false>(i % 2, d * 16 + i / 2 * 8 + lane % 4 * 2))
                        : 0;
    }

    /* The warp's rows that are to be done again, behind their outputs: bit `half` of `again` is of the lane's. */
    __device__ __forceinline__ void mend(uint32_t again)
    {
        const unsigned tiles = (a.seq_len + ROWS - 1) / ROWS;
        __syncwarp();
#pragma unroll 1
        for (uint32_t i = 0; i < 16; i++) {
            if ((__ballot_sync(0xffffffffu, again >> i / 8 & 1) >> i % 8 * 4 & 15) == 0)
                continue;
            const uint32_t position = row - lane / 4 + i, sees = length;
            attend_plainly<BF16 ? IFM_CUDA_BF16 : IFM_CUDA_F16>(
                a, blockIdx.x / tiles, position, a.causal && position + 1 < sees ? position + 1 : sees);
        }
    }

    __device__ __forceinline__ void finish()
    {
        uint32_t again = 0;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float all = total[half];
            all += __shfl_xor_sync(0xffffffffu, all, 1);
            all += __shfl_xor_sync(0xffffffffu, all, 2);
            const bool sees = row + half * 8 < length;
            const float part = 1.0f / all;
            float sum = 0;
            if (a.causal)
#pragma unroll
                for (int p = 0; p < PANELS; p++)
#pragma unroll
                    for (int i = 0; i < 16; i++)
                        sum += sums[p][i / 2 * 4 + half * 2 + i % 2];
            again |= static_cast<uint32_t>(sees && (is_beyond_f32(top[half]) || (a.causal && is_no_sum(sum)))) << half;
            if (row + half * 8 < static_cast<int>(a.seq_len))
#pragma unroll
                for (int p = 0; p < PANELS; p++)
#pragma unroll
                    for (int i = 0; i < 8; i++)
                        *reinterpret_cast<uint32_t *>(static_cast<char *>(a.out) +
                                                      place_of<true>(half, p * 64 + i * 8 + lane % 4 * 2)) =
                            sees ? pack<BF16>(sums[p][i * 4 + half * 2] * part, sums[p][i * 4 + half * 2 + 1] * part)
                                 : 0;
        }
        if (__any_sync(0xffffffffu, again != 0))
            mend(again);
    }

    __device__ __forceinline__ void run(uint16_t *room)
    {
        let_next_begin();
        start(room);
        wait_for_previous(); /* queries, keys and values are its outputs */
        const int end = a.causal && first + ROWS < length ? first + ROWS : length;
        const int tiles = first < length ? (end + KEYS - 1) / KEYS : 0;
        uint32_t even[KEYS / 16][4], odd[KEYS / 16][4];
        if (tiles > 0) {
            fetch_tile(0);
            commit_copies();
            load_queries();
            take<true>(0, tiles, even, odd);
            for (int tile = 1; tile < tiles; tile += 2) {
                take<false>(tile, tiles, odd, even);
                if (tile + 1 < tiles)
                    take<false>(tile + 1, tiles, even, odd);
            }
            if (tiles % 2 == 1)
                add(even, tiles - 1);
            else
                add(odd, tiles - 1);
            wait<0>();
        }
        finish();
    }
};

} // namespace

/* Dynamic shared memory: IFM_HOPPER_SHARED of the same numbers. */
#define HOPPER(format, bf16, dim, groups, keys, blocks)                                                                \
    extern "C" __global__ void __launch_bounds__(128 * groups, blocks)                                                 \
        ATTENTION_KERNEL(ifm_hopper_##format##_##dim##_##groups)(ifm_attention_given arguments)                        \
    {                                                                                                                  \
        extern __shared__ __align__(1024) uint16_t room[];                                                             \
        hopper<dim, bf16, groups, keys> block(arguments);                                                              \
        block.run(room);                                                                                               \
    }
#define HOPPER_F16(dim, groups, keys, blocks) HOPPER(f16, false, dim, groups, keys, blocks)
#define HOPPER_BF16(dim, groups, keys, blocks) HOPPER(bf16, true, dim, groups, keys, blocks)
IFM_HOPPER_KERNELS(HOPPER_F16)
IFM_HOPPER_KERNELS(HOPPER_BF16)

#endif
