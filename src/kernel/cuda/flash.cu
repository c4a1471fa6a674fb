/* Attention by tiles, with mma.sync and asynchronous copies (compute capability 8.0 and newer). Device code only.
 *
 * After Dao, "FlashAttention-2" (2023): a block has a tile of queries of one head and goes over the keys in tiles that
 * cp.async brings while it computes; a warp has 16 or 32 queries, whose scores, weights and sums stay in registers. Two
 * things differ. A tile is taken in parts, and the products of the next part with the queries are issued before the
 * exponentials of this one, which gives the matrix units work meanwhile. And sums are rescaled only when a maximum grew
 * by more than 2^8: until then weights are up to 256, exact enough in both formats, and the last maximum stands.
 *
 * Keys that no query of the sequence sees are filled with zeros on the way, so that NaN behind its end meets no weight.
 * Sums are f32; weights are rounded to the storage format, as the matrix units take them. */
#include "kernel/cuda/early.cuh"
#include "kernel/cuda/flash.h"
#include "kernel/cuda/flash_plain.cuh"
#include "kernel/cuda/flash_ptx.cuh"

namespace
{

enum {
    PAD = IFM_FLASH_PAD, /* values behind a row */
    STAGES = IFM_FLASH_STAGES
};

template <int DIM, bool BF16, int TILES, int WARPS, int KEYS, int PART> struct flash {
    enum {
        ROWS = 16 * TILES * WARPS,
        THREADS = 32 * WARPS,
        STRIDE = DIM + PAD,         /* of a row in shared memory, values */
        PIECES = DIM / 8,           /* of 16 bytes, of a row */
        PARTS = KEYS / PART,        /* of a tile */
        COLUMNS = PART / 8,         /* n8 tiles of scores */
        DEPTH = DIM / 16,           /* k16 steps over the head */
        KEEP_Q = DIM * TILES <= 128 /* queries stay in registers */
    };

    const ifm_attention_given &a;
    uint32_t q_at, kv_at;          /* addresses in shared memory */
    int warp, lane, first, length; /* first query of the block; keys of the sequence */
    const char *k, *v;
    float scale;
    uint32_t queries[KEEP_Q ? TILES : 1][KEEP_Q ? DEPTH : 1][4];
    float sums[TILES][DIM / 8][4];
    float top[TILES][2], total[TILES][2]; /* maximum of scaled scores, sum of weights: rows lane / 4 and + 8 */
    bool is_large;                        /* a maximum of the warp's was more than f32 is exact enough for */

    __device__ __forceinline__ explicit flash(const ifm_attention_given &arguments) : a(arguments)
    {
    }

    /* `step`: of views, from a row to the next. */
    __device__ __forceinline__ void fetch(uint32_t to, const char *from, uint32_t step, int rows, int row, int end)
    {
        (void)step;
        const int pieces = rows * PIECES;
#pragma unroll
        for (int i = 0; i < (pieces + THREADS - 1) / THREADS; i++) {
            const int piece = threadIdx.x + i * THREADS, at = piece / PIECES;
            if (pieces % THREADS == 0 || piece < pieces) {
                const bool is_there = row + at < end;
                copy_or_zero(to + (at * STRIDE + piece % PIECES * 8) * 2,
                             from + (is_there ? BYTES_OF_PIECES(row, piece, DIM, step) : 0), is_there);
            }
        }
    }

    __device__ __forceinline__ void fetch_keys(int tile)
    {
        fetch(kv_at + tile % STAGES * (2 * KEYS * STRIDE * 2), k, STEP(a, kv_views, DIM), KEYS, tile * KEYS, length);
    }

    __device__ __forceinline__ void fetch_values(int tile)
    {
        fetch(kv_at + (tile % STAGES * 2 + 1) * (KEYS * STRIDE * 2), v, STEP(a, kv_views, DIM), KEYS, tile * KEYS,
              length);
    }

    /* All that was committed but the last `LEFT` groups is there for the whole block. */
    template <int LEFT> __device__ __forceinline__ void arrive()
    {
        wait_for_copies<LEFT>();
        __syncthreads();
    }

    __device__ __forceinline__ void take_queries()
    {
#pragma unroll
        for (int t = 0; t < TILES && KEEP_Q; t++)
#pragma unroll
            for (int d = 0; d < DEPTH; d++)
                load4(queries[KEEP_Q ? t : 0][KEEP_Q ? d : 0],
                      q_at + ((warp * 16 * TILES + t * 16 + lane % 16) * STRIDE + d * 16 + lane / 16 * 8) * 2);
    }

    /* Scores of a part of a tile: queries times keys. */
    __device__ __forceinline__ void score(float (*s)[COLUMNS][4], uint32_t keys_at)
    {
        const uint32_t from = keys_at + ((lane / 16 * 8 + lane % 8) * STRIDE + lane / 8 % 2 * 8) * 2;
        const uint32_t q_from = q_at + ((warp * 16 * TILES + lane % 16) * STRIDE + lane / 16 * 8) * 2;
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int n = 0; n < COLUMNS; n++)
                s[t][n][0] = s[t][n][1] = s[t][n][2] = s[t][n][3] = 0;
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            uint32_t loaded[KEEP_Q ? 1 : TILES][4];
#pragma unroll
            for (int t = 0; t < TILES && !KEEP_Q; t++)
                load4(loaded[t], q_from + (t * 16 * STRIDE + d * 16) * 2);
#pragma unroll
            for (int n = 0; n < COLUMNS; n += 2) {
                uint32_t b[4];
                load4(b, from + (n * 8 * STRIDE + d * 16) * 2);
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    const uint32_t *q = KEEP_Q ? queries[KEEP_Q ? t : 0][KEEP_Q ? d : 0] : loaded[KEEP_Q ? 0 : t];
                    multiply<BF16>(s[t][n], q, b[0], b[1]);
                    multiply<BF16>(s[t][n + 1], q, b[2], b[3]);
                }
            }
        }
    }

    __device__ __forceinline__ int row_of(int t, int half) const
    {
        return first + warp * 16 * TILES + t * 16 + half * 8 + lane / 4;
    }

    /* Keys from `key` on: those that a query does not see weigh nothing. */
    __device__ __forceinline__ void hide(float (*s)[COLUMNS][4], int key)
    {
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = row_of(t, i / 2), seen = a.causal && row + 1 < length ? row + 1 : length;
#pragma unroll
                for (int n = 0; n < COLUMNS; n++)
                    if (key + n * 8 + lane % 4 * 2 + i % 2 >= seen)
                        s[t][n][i] = -infinity();
            }
    }

    /* Where a maximum of the part is more than 2^8 above the one that stands: new maxima, and sums in their units. */
    __device__ __forceinline__ void raise(float (*s)[COLUMNS][4])
    {
        float most[TILES][2];
        bool higher = false;
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float m = fmaxf(s[t][0][2 * half], s[t][0][2 * half + 1]);
#pragma unroll
                for (int n = 1; n < COLUMNS; n++)
                    m = fmaxf(m, fmaxf(s[t][n][2 * half], s[t][n][2 * half + 1]));
                most[t][half] = m * scale;
                higher = higher || most[t][half] > top[t][half] + 8.0f;
            }
        if (!__any_sync(0xffffffffu, higher))
            return;
        bool large = false;
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float m = most[t][half];
                m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
                m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
                m = fmaxf(m, top[t][half]);
                const float kept = m == top[t][half] ? 1.0f : power_of_2(top[t][half] - m);
                top[t][half] = m;
                large = large || fabsf(m) > F32_MOST;
                total[t][half] *= kept;
#pragma unroll
                for (int n = 0; n < DIM / 8; n++) {
                    sums[t][n][2 * half] *= kept;
                    sums[t][n][2 * half + 1] *= kept;
                }
            }
        is_large = is_large || __any_sync(0xffffffffu, large);
    }

    /* Scores become weights, and the sums get what they weigh. */
    __device__ __forceinline__ void weigh(float (*s)[COLUMNS][4], uint32_t values_at)
    {
        raise(s);
        uint32_t weights[TILES][COLUMNS][2];
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const float above = top[t][half] == -infinity() ? 0.0f : top[t][half];
#pragma unroll
                for (int n = 0; n < COLUMNS; n++) {
                    const float x = power_of_2(fmaf(s[t][n][2 * half], scale, -above));
                    const float y = power_of_2(fmaf(s[t][n][2 * half + 1], scale, -above));
                    total[t][half] += x + y;
                    weights[t][n][half] = pack<BF16>(x, y);
                }
            }
        const uint32_t from = values_at + (lane % 16 * STRIDE + lane / 16 * 8) * 2;
#pragma unroll
        for (int key = 0; key < PART / 16; key++)
#pragma unroll
            for (int n = 0; n < DIM / 8; n += 2) {
                uint32_t b[4];
                load4_transposed(b, from + (key * 16 * STRIDE + n * 8) * 2);
#pragma unroll
                for (int t = 0; t < TILES; t++) {
                    multiply<BF16>(sums[t][n], weights[t][2 * key], b[0], b[1]);
                    multiply<BF16>(sums[t][n + 1], weights[t][2 * key], b[2], b[3]);
                }
            }
    }

    __device__ __forceinline__ void take_tile(int tile)
    {
        const uint32_t keys_at = kv_at + tile % STAGES * (2 * KEYS * STRIDE * 2),
                       values_at = keys_at + KEYS * STRIDE * 2;
        const int last = first + warp * 16 * TILES; /* the warp's first query: it sees least */
        float s[PARTS > 1 ? 2 : 1][TILES][COLUMNS][4];
        score(s[0], keys_at);
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            float(*now)[COLUMNS][4] = s[PARTS > 1 ? part % 2 : 0];
            const int key = tile * KEYS + part * PART;
            if (part + 1 < PARTS)
                score(s[(part + 1) % 2], keys_at + (part + 1) * PART * STRIDE * 2);
            if (key + PART > length || (a.causal && key + PART > last + 1))
                hide(now, key);
            if (tile == 0 && part == 0)
                arrive<1>(); /* its values: the next tile is on its way */
            weigh(now, values_at + part * PART * STRIDE * 2);
        }
    }

    __device__ __forceinline__ void start(uint16_t *room)
    {
        const unsigned tiles = (a.seq_len + ROWS - 1) / ROWS, pair = blockIdx.x / tiles, order = blockIdx.x % tiles;
        const unsigned tile = a.causal ? tiles - 1 - order : order; /* those that see most begin first */
        const uint64_t sequence = pair / a.q_heads, kv_head = pair % a.q_heads / (a.q_heads / a.kv_heads);
        const uint64_t kv = PLACE_OF_KV(a, sequence * a.kv_heads + kv_head, sequence, kv_head, DIM) * 2;
        warp = threadIdx.x / 32;
        lane = threadIdx.x % 32;
        first = static_cast<int>(tile * ROWS);
        length = static_cast<int>(a.lengths[sequence]);
        k = static_cast<const char *>(a.k) + kv;
        v = static_cast<const char *>(a.v) + kv;
        scale = 1.4426950408889634f / sqrtf(static_cast<float>(DIM));
        q_at = shared_address(room);
        is_large = false;
        kv_at = q_at + ROWS * STRIDE * 2;
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                top[t][half] = -infinity();
                total[t][half] = 0;
#pragma unroll
                for (int n = 0; n < DIM / 8; n++)
                    sums[t][n][2 * half] = sums[t][n][2 * half + 1] = 0;
            }
    }

    __device__ __forceinline__ void fetch_queries()
    {
        const unsigned tiles = (a.seq_len + ROWS - 1) / ROWS, pair = blockIdx.x / tiles;
        const uint64_t row = static_cast<uint64_t>(pair) * a.seq_len;
        fetch(q_at, static_cast<const char *>(a.q) + PLACE_OF_ROW(a, q_views, row, pair, 0, DIM) * 2,
              STEP(a, q_views, DIM), ROWS, first, static_cast<int>(a.seq_len));
    }

    /* The warp's rows that are to be done again, behind their outputs: bit 2 t + half of `again` is of the lane's, and
     * those of large scores are too. */
    __device__ __forceinline__ void mend(uint32_t again)
    {
        const unsigned tiles = (a.seq_len + ROWS - 1) / ROWS;
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                again |= static_cast<uint32_t>(row_of(t, half) < length && is_beyond_f32(top[t][half]))
                         << (2 * t + half);
        __syncwarp();
#pragma unroll 1
        for (uint32_t i = 0; i < TILES * 16; i++) {
            if ((__ballot_sync(0xffffffffu, again >> i / 8 & 1) >> i % 8 * 4 & 15) == 0)
                continue;
            const uint32_t position = first + warp * 16 * TILES + i, sees = length;
            attend_plainly<BF16 ? IFM_CUDA_BF16 : IFM_CUDA_F16>(
                a, blockIdx.x / tiles, position, a.causal && position + 1 < sees ? position + 1 : sees);
        }
    }

    /* Through the room of the warp's own queries, so that rows are written whole. */
    __device__ __forceinline__ void finish(uint16_t *room)
    {
        uint32_t *to = reinterpret_cast<uint32_t *>(room + warp * 16 * TILES * STRIDE);
        /* An index halved with its constant part takes NVRTC three instructions a store. */
        uint32_t *mine = to + lane / 4 * (STRIDE / 2) + lane % 4;
        const unsigned tiles = (a.seq_len + ROWS - 1) / ROWS, pair = blockIdx.x / tiles;
        const uint64_t first_row = static_cast<uint64_t>(pair) * a.seq_len;
        char *out = static_cast<char *>(a.out) + PLACE_OF_ROW(a, out_views, first_row, pair, 0, DIM) * 2;
        uint32_t again = 0;
        __syncwarp();
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float all = total[t][half];
                all += __shfl_xor_sync(0xffffffffu, all, 1);
                all += __shfl_xor_sync(0xffffffffu, all, 2);
                const bool sees = row_of(t, half) < length;
                const float part = 1.0f / all;
                if (a.causal) {
                    float sum = 0;
#pragma unroll
                    for (int n = 0; n < DIM / 8; n++)
                        sum += sums[t][n][2 * half] + sums[t][n][2 * half + 1];
                    again |= static_cast<uint32_t>(sees && is_no_sum(sum)) << (2 * t + half);
                }
#pragma unroll
                for (int n = 0; n < DIM / 8; n++)
                    mine[(t * 16 + half * 8) * (STRIDE / 2) + n * 4] =
                        sees ? pack<BF16>(sums[t][n][2 * half] * part, sums[t][n][2 * half + 1] * part) : 0;
            }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < TILES * 16 * PIECES / 32; i++) {
            const int piece = lane + i * 32, row = piece / PIECES, at = first + warp * 16 * TILES + row;
            if (at < static_cast<int>(a.seq_len))
                *reinterpret_cast<uint4 *>(out + BYTES_OF_PIECE(at, piece % PIECES, PIECES, STEP(a, out_views, DIM))) =
                    *reinterpret_cast<const uint4 *>(to + row * (STRIDE / 2) + piece % PIECES * 4);
        }
        if (is_large || (a.causal && __any_sync(0xffffffffu, again != 0)))
            mend(again);
    }

    __device__ __forceinline__ void run(uint16_t *room)
    {
        let_next_begin();
        start(room);
        wait_for_previous(); /* queries, keys and values are its outputs */
        fetch_queries();
        const int end = a.causal && first + ROWS < length ? first + ROWS : length;
        const int tiles = first < length ? (end + KEYS - 1) / KEYS : 0;
        if (tiles > 0)
            fetch_keys(0);
        commit_copies();
        if (tiles > 0)
            fetch_values(0);
        commit_copies();
        for (int tile = 0; tile < tiles; tile++) {
            if (tile == 0) {
                arrive<1>();
                take_queries();
            } else {
                arrive<0>(); /* this tile is there, and nobody reads the one before it */
            }
            if (tile + 1 < tiles) {
                fetch_keys(tile + 1);
                fetch_values(tile + 1);
            }
            commit_copies();
            take_tile(tile);
        }
        arrive<0>();
        finish(room);
    }
};

} // namespace

/* Dynamic shared memory: IFM_FLASH_SHARED of the same numbers. */
#define FLASH(format, bf16, dim, tiles, warps, keys, part, blocks)                                                     \
    extern "C" __global__ void __launch_bounds__(32 * warps, blocks)                                                   \
        ATTENTION_KERNEL(ifm_flash_##format##_##dim)(ifm_attention_given arguments)                                    \
    {                                                                                                                  \
        extern __shared__ __align__(16) uint16_t room[];                                                               \
        flash<dim, bf16, tiles, warps, keys, part> block(arguments);                                                   \
        block.run(room);                                                                                               \
    }
#define FLASH_F16(dim, tiles, warps, keys, part, blocks) FLASH(f16, false, dim, tiles, warps, keys, part, blocks)
#define FLASH_BF16(dim, tiles, warps, keys, part, blocks) FLASH(bf16, true, dim, tiles, warps, keys, part, blocks)
IFM_FLASH_KERNELS(FLASH_F16)
IFM_FLASH_KERNELS(FLASH_BF16)
