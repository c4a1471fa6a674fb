/* Pages of the compressed KV cache out of rows of f16. Device code only.
 *
 * The same arithmetic in the same order as kernel/cpu/kv_encode_body.h, so every byte is the same. A column (channel of
 * K, token of V) has two lanes of a warp, 16 apart: each has a sum of squares of a range of its own, whose order does
 * not matter before the best one is taken, and half of what may be done in any order. */
#include "kernel/cuda/kv_pack.h"
#include "kernel/cuda/kv_pack_e4m3.cuh"
#include "kernel/cuda/kv_pack_math.cuh"

namespace
{

enum { COLUMNS = IFM_KV_PACK_COLUMNS, DIM_MOST = 256 };
enum { WEIGHTS = TOKENS * COLUMNS /* floats of shared memory in front of the weights of K */ };
enum { CUTS_K = 3, CUTS_V = 4, ROUNDS = 2 }; /* as in kernel/cpu/kv_encode.h */
#define HALF_MOST 65504.0f
#define HALF_LEAST 5.9604644775390625e-8f /* 2^-24 */
#define MOVE 0.06f

struct pack_range {
    float scale, zero, inverse;
};

/* Of NaN, or of equals, the second one. */
__device__ __forceinline__ float lower(float a, float b)
{
    return a < b ? a : b;
}

__device__ __forceinline__ float higher(float a, float b)
{
    return a > b ? a : b;
}

__device__ __forceinline__ float half_of(float x)
{
    return of_f16(to_f16(x));
}

__device__ __forceinline__ float scale_of(float width, float steps)
{
    const float scale = half_of(lower(divide(width, steps), HALF_MOST));
    return 0.0f < width ? higher(scale, HALF_LEAST) : 0.0f;
}

__device__ __forceinline__ float inverse_of(float scale)
{
    return 0.0f < scale ? divide(1.0f, scale) : 0.0f;
}

__device__ __forceinline__ pack_range range_of(float low, float high, float steps, bool symmetric)
{
    pack_range r;
    r.scale = scale_of(subtract(high, low), steps);
    r.zero = symmetric ? times(r.scale, -0.5f * steps) : half_of(higher(lower(low, HALF_MOST), -HALF_MOST));
    r.inverse = inverse_of(r.scale);
    return r;
}

/* To an integer, ties to even; of a magnitude below 2^22. */
__device__ __forceinline__ float to_integer(float x)
{
    return subtract(add(x, 12582912.0f), 12582912.0f);
}

__device__ __forceinline__ int32_t code_of(float x, const pack_range &r, float least, float most)
{
    return static_cast<int32_t>(to_integer(clamp(times(subtract(x, r.zero), r.inverse), least, most)));
}

/* ---- columns ---- */

/* The thread's column of its block, and which of the two that have it. */
__device__ __forceinline__ uint32_t my_column()
{
    return threadIdx.x / 32 * 16 + threadIdx.x % 16;
}

__device__ __forceinline__ uint32_t my_half()
{
    return threadIdx.x / 16 % 2;
}

/* What the column's other lane has. */
__device__ __forceinline__ float of_other(float x)
{
    return of_bits(static_cast<int32_t>(__shfl_xor_sync(0xffffffffu, static_cast<uint32_t>(bits_of(x)), 16)));
}

/* A channel of K: weighted, see kernel/cpu/kv_encode.h. */
struct pack_channel {
    float *at;
    uint32_t n;
    __device__ __forceinline__ float value(uint32_t i) const
    {
        return at[i * COLUMNS];
    }
    __device__ __forceinline__ float weighted(uint32_t i, float error) const
    {
        return times(error, at[WEIGHTS + i * COLUMNS]);
    }
};

/* A token of V. */
struct pack_token {
    const float *at;
    uint32_t n;
    __device__ __forceinline__ float value(uint32_t i) const
    {
        return at[i * (COLUMNS + 1)];
    }
    __device__ __forceinline__ float weighted(uint32_t, float error) const
    {
        return error;
    }
};

/* Sums of squared errors of N ranges. */
template <int N, typename COLUMN>
__device__ __forceinline__ void errors(const COLUMN &c, const pack_range *r, float steps, float *sum)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        sum[k] = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < c.n; i++) {
        const float x = c.value(i);
#pragma unroll
        for (int k = 0; k < N; k++) {
            const float from_zero = subtract(x, r[k].zero);
            const float code = to_integer(clamp(times(from_zero, r[k].inverse), 0.0f, steps));
            const float off = less_product(from_zero, code, r[k].scale); /* 4 bits times 11 */
            sum[k] = add(sum[k], c.weighted(i, times(off, off)));
        }
    }
}

struct choice {
    float low, high, error;
};

__device__ __forceinline__ void prefer(choice &best, float low, float high, float error)
{
    if (error < best.error)
        best = {low, high, error};
}

/* The better of two ranges, if it is better than `best`, in this order; `low` and `high` are their ends. */
template <typename COLUMN>
__device__ __forceinline__ void try_ranges(const COLUMN &c, const float low[2], const float high[2], float steps,
                                           bool symmetric, choice &best)
{
    const bool second = my_half() != 0;
    const pack_range r = range_of(second ? low[1] : low[0], second ? high[1] : high[0], steps, symmetric);
    float sum;
    errors<1>(c, &r, steps, &sum);
    const float other = of_other(sum);
    prefer(best, low[0], high[0], second ? other : sum);
    prefer(best, low[1], high[1], second ? sum : other);
}

/* The best of N ranges about the middle, 3 or 4, each narrower by `cut`; a lane has its half's and the one after next,
 * of 3 ranges the last one too. */
template <int N, typename COLUMN>
__device__ __forceinline__ choice cut_evenly(const COLUMN &c, float low, float high, float steps, bool symmetric,
                                             float cut)
{
    float lows[4], highs[4], sum[2], other[2];
    pack_range r[2];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float move = times(subtract(high, low), times(times(0.5f, cut), static_cast<float>(k < N ? k : N - 1)));
        lows[k] = k == 0 ? low : add(low, move);
        highs[k] = k == 0 ? high : subtract(high, move);
    }
    const bool second = my_half() != 0;
#pragma unroll
    for (int i = 0; i < 2; i++)
        r[i] = range_of(second ? lows[2 * i + 1] : lows[2 * i], second ? highs[2 * i + 1] : highs[2 * i], steps,
                        symmetric);
    errors<2>(c, r, steps, sum);
#pragma unroll
    for (int i = 0; i < 2; i++)
        other[i] = of_other(sum[i]);
    choice best = {low, high, second ? other[0] : sum[0]};
    prefer(best, lows[1], highs[1], second ? sum[0] : other[0]);
    prefer(best, lows[2], highs[2], second ? other[1] : sum[1]);
    if (N == 4)
        prefer(best, lows[3], highs[3], second ? sum[1] : other[1]);
    return best;
}

__device__ __forceinline__ pack_range search_k(const pack_channel &c, float low, float high, float steps, float cut)
{
    choice best = cut_evenly<CUTS_K>(c, low, high, steps, false, cut);
    float move = times(subtract(high, low), MOVE);
    for (int round = 0; round < ROUNDS; round++) {
        const float lows[2] = {subtract(best.low, move), add(best.low, move)}, top[2] = {best.high, best.high};
        try_ranges(c, lows, top, steps, false, best);
        const float highs[2] = {subtract(best.high, move), add(best.high, move)}, bottom[2] = {best.low, best.low};
        try_ranges(c, bottom, highs, steps, false, best);
        move = times(move, 0.5f);
    }
    return range_of(best.low, best.high, steps, false);
}

__device__ __forceinline__ pack_range search_v(const pack_token &c, float peak, float steps, float cut)
{
    choice best = cut_evenly<CUTS_V>(c, -peak, peak, steps, true, cut);
    float move = times(peak, times(0.5f, cut));
    for (int round = 0; round < ROUNDS; round++) {
        const float lows[2] = {subtract(best.low, move), add(best.low, move)};
        const float highs[2] = {add(best.high, move), subtract(best.high, move)};
        try_ranges(c, lows, highs, steps, true, best);
        move = times(move, 0.5f);
    }
    return range_of(best.low, best.high, steps, true);
}

/* A column with NaN or infinity has the code of NaN, the least one, or that of 0. */
__device__ __forceinline__ void spoil(pack_range &r, float nothing)
{
    r.inverse = nothing < 1.0f ? r.inverse : 0.0f;
    r.zero = nothing < 1.0f ? r.zero : 0.0f;
}

__device__ __forceinline__ uint16_t stored_scale(const pack_range &r, float nothing)
{
    return nothing == 0.0f ? to_f16(r.scale) : 0x7e00;
}

/* ---- codes ---- */

/* Byte q of each lane of four, in lane q. */
__device__ __forceinline__ uint32_t turn(uint32_t word)
{
    uint32_t other = __shfl_xor_sync(0xffffffffu, word, 1);
    word = __byte_perm(word, other, threadIdx.x % 2 == 0 ? 0x6240 : 0x3715);
    other = __shfl_xor_sync(0xffffffffu, word, 2);
    return __byte_perm(word, other, threadIdx.x % 4 < 2 ? 0x5410 : 0x3276);
}

/* Where codes go: the thread's column is `outer`; `rank`: of a promoted channel, whose lower bits go to `low`. */
struct target {
    unsigned char *to, *low;
    uint32_t outer, n_outer, n_inner, rank, n_ranks;
    bool promoted;
};

/* All lanes of a warp; each of a column's has half of its words. */
template <int BITS, typename COLUMN>
__device__ __forceinline__ void put_codes(const COLUMN &c, uint32_t n, const pack_range &r, float least, float most,
                                          const target &t)
{
    enum { FIELDS = 8 / BITS, BLOCK = 16 * FIELDS };
    const uint32_t mask = (1u << BITS) - 1, shift = t.promoted ? 2 : 0;
    for (uint32_t block = 0; block < t.n_inner / BLOCK; block++)
        for (uint32_t quarter = 2 * my_half(), end = quarter + 2; quarter < end; quarter++) {
            uint32_t word = 0, low = 0;
#pragma unroll
            for (uint32_t k = 0; k < 4 * FIELDS; k++) {
                const uint32_t inner = block * BLOCK + k / 4 * 16 + quarter * 4 + k % 4;
                const uint32_t code = inner < n ? code_of(c.value(inner), r, least, most) : 0;
                word |= (code >> shift & mask) << (k % 4 * 8 + k / 4 * BITS);
                low |= (code & 3) << (k % 4 * 8 + k / 4 * 2);
            }
            const uint32_t line = ((block * (t.n_outer / 4) + t.outer / 4) * 16 + quarter * 4 + t.outer % 4) * 4;
            *reinterpret_cast<uint32_t *>(t.to + line) = turn(word);
            for (uint32_t k = 0; k < 4 && t.promoted; k++)
                t.low[((block * (t.n_ranks / 4) + t.rank / 4) * 16 + quarter * 4 + k) * 4 + t.rank % 4] =
                    static_cast<unsigned char>(low >> (8 * k));
        }
}

/* ---- K ---- */

struct extent {
    float low, high, nothing; /* nothing: 0, or NaN */
};

/* The other lane has the other half of the tokens; of equals the first one counts, as in order. */
__device__ __forceinline__ extent extent_of(const pack_channel &c)
{
    const uint32_t half = my_half(), from = half * (c.n / 2), to = half != 0 ? c.n : c.n / 2;
    extent e = {c.value(from), c.value(from), 0};
#pragma unroll 8
    for (uint32_t i = from; i < to; i++) {
        const float x = c.value(i);
        e.low = lower(x, e.low);
        e.high = higher(x, e.high);
        e.nothing = add(e.nothing, times(x, 0.0f));
    }
    const extent o = {of_other(e.low), of_other(e.high), of_other(e.nothing)};
    e.low = half != 0 ? lower(e.low, o.low) : lower(o.low, e.low);
    e.high = half != 0 ? higher(e.high, o.high) : higher(o.high, e.high);
    e.nothing = add(e.nothing, o.nothing);
    return e;
}

/* One lane sums values, the other squares; then each makes the weights of half of the tokens. */
__device__ __forceinline__ void weigh(const pack_channel &c, uint32_t head_dim)
{
    const float share = divide(1.0f, static_cast<float>(c.n));
    const bool second = my_half() != 0;
    float own = 0;
#pragma unroll 8
    for (uint32_t i = 0; i < c.n; i++) {
        const float x = c.value(i);
        own = add(own, second ? times(x, x) : x);
    }
    const float other = of_other(own), sum = second ? other : own, squares = second ? own : other;
    const float mean = times(sum, share);
    const float variance = higher(subtract(times(squares, share), times(mean, mean)), 0.0f);
    const float factor = divide(0.125f, add(variance, static_cast<float>(head_dim)));
#pragma unroll 4
    for (uint32_t i = my_half(); i < c.n; i += 2) {
        const float off = subtract(c.value(i), mean), base = add(times(times(off, off), factor), 1.0f);
        const float square = times(base, base), fourth = times(square, square);
        c.at[WEIGHTS + i * COLUMNS] = times(fourth, fourth);
    }
    __syncwarp();
}

__device__ __forceinline__ uint32_t bits_at(const uint4 &x, uint32_t k)
{
    return static_cast<uint32_t>(bits_of(of_f16(static_cast<uint16_t>((&x.x)[k / 2] >> (k % 2 * 16)))));
}

/* The channels from `at` on as columns, [TOKENS][COLUMNS]; zeros behind the rows. */
__device__ __forceinline__ void load_channels(const uint16_t *from, uint32_t at, uint32_t tokens, uint32_t head_dim)
{
    const uint32_t nothing = 0;
    uint4 *to = reinterpret_cast<uint4 *>(shared);
#pragma unroll
    for (uint32_t i = threadIdx.x; i < TOKENS * COLUMNS / 8; i += THREADS) {
        const uint32_t row = i / (COLUMNS / 8), d = at + i % (COLUMNS / 8) * 8;
        uint4 x = {nothing, nothing, nothing, nothing};
        if (row < tokens && d < head_dim)
            x = *reinterpret_cast<const uint4 *>(from + row * head_dim + d);
        to[2 * i] = {bits_at(x, 0), bits_at(x, 1), bits_at(x, 2), bits_at(x, 3)};
        to[2 * i + 1] = {bits_at(x, 4), bits_at(x, 5), bits_at(x, 6), bits_at(x, 7)};
    }
    __syncthreads();
}

/* Which channels are promoted: the widest, of equal ones the lower number. */
struct promotion {
    float worth[DIM_MOST];
    uint8_t taken[DIM_MOST];
};

/* Of all channels, whose rows lie in shared memory as they come. */
__device__ __forceinline__ void promote(const ifm_kv_pack &a, const ifm_kv_pack_job &job, promotion *p)
{
    for (uint32_t d = threadIdx.x; d < a.head_dim; d += THREADS) {
        const uint16_t *x = reinterpret_cast<const uint16_t *>(shared) + d;
        extent e = {of_f16(x[0]), of_f16(x[0]), 0};
#pragma unroll 8
        for (uint32_t i = 0; i < job.tokens; i++) {
            const float value = of_f16(x[i * a.head_dim]);
            e.low = lower(value, e.low);
            e.high = higher(value, e.high);
            e.nothing = add(e.nothing, times(value, 0.0f));
        }
        p->worth[d] = higher(add(subtract(e.high, e.low), e.nothing), 0.0f);
    }
    __syncthreads();
    for (uint32_t d = threadIdx.x; d < a.head_dim; d += THREADS) {
        uint32_t before = 0;
        for (uint32_t i = 0; i < a.head_dim; i++)
            before += p->worth[i] > p->worth[d] || (p->worth[i] == p->worth[d] && i < d);
        p->taken[d] = before < a.head_dim / 8;
    }
    __syncthreads();
}

/* Channels COLUMNS * `part` on. */
template <int BITS>
__device__ __forceinline__ void pack_k(const ifm_kv_pack &a, const ifm_kv_pack_job &job, uint32_t part,
                                       unsigned char *page)
{
    promotion *p = reinterpret_cast<promotion *>(shared + 2 * WEIGHTS * sizeof(float));
    if (BITS == 2) {
        load_rows(a.from + job.from, job.tokens, a.head_dim);
        promote(a, job, p);
        for (uint32_t i = a.head_dim / 8 + threadIdx.x; part == 0 && i < (a.head_dim / 8 + 63) / 64 * 64; i += THREADS)
            page[a.promoted + i] = 0;
    }
    load_channels(a.from + job.from, part * COLUMNS, job.tokens, a.head_dim);
    const uint32_t d = part * COLUMNS + my_column();
    if (d >= a.head_dim) /* whole warps */
        return;
    const pack_channel c = {reinterpret_cast<float *>(shared) + my_column(), job.tokens};
    target t = {page + a.k_codes, page + a.k_low, d, a.head_dim, TOKENS, 0, a.head_dim / 8, false};
    if (BITS == 2 && p->taken[d] != 0) {
        for (uint32_t i = 0; i < d; i++)
            t.rank += p->taken[i];
        t.promoted = true;
        page[a.promoted + t.rank] = static_cast<unsigned char>(d);
    }
    const float steps = t.promoted ? 15.0f : static_cast<float>((1u << BITS) - 1);
    const extent e = extent_of(c);
    pack_range r;
    if (BITS == 8 || job.tokens == 0) {
        r = range_of(e.low, e.high, steps, false);
    } else {
        weigh(c, a.head_dim);
        r = search_k(c, e.low, e.high, steps, BITS == 2 && !t.promoted ? 0.20f : 0.06f);
    }
    spoil(r, e.nothing);
    if (my_half() == 0) {
        reinterpret_cast<uint16_t *>(page + a.k_scale)[d] = stored_scale(r, e.nothing);
        reinterpret_cast<uint16_t *>(page + a.k_zero)[d] = to_f16(r.zero);
    }
    put_codes<BITS>(c, TOKENS, r, 0.0f, steps, t);
}

/* ---- V ---- */

/* The tokens from `at` on as columns, [head_dim][COLUMNS + 1]; zeros where there is none. */
__device__ __forceinline__ void load_tokens(const uint16_t *from, uint32_t at, uint32_t tokens, uint32_t head_dim)
{
    uint32_t *to = reinterpret_cast<uint32_t *>(shared);
    const uint32_t nothing = 0;
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < COLUMNS * head_dim / 8; i += THREADS) {
        const uint32_t row = i % COLUMNS, d = i / COLUMNS * 8;
        uint4 x = {nothing, nothing, nothing, nothing};
        if (at + row < tokens)
            x = *reinterpret_cast<const uint4 *>(from + (at + row) * head_dim + d);
#pragma unroll
        for (uint32_t k = 0; k < 8; k++)
            to[(d + k) * (COLUMNS + 1) + row] = bits_at(x, k);
    }
    __syncthreads();
}

__device__ __forceinline__ void rotate_four(float *x, uint32_t half, float scale)
{
    enum { STRIDE = COLUMNS + 1 };
    const float s = x[0], t = x[half * STRIDE], u = x[2 * half * STRIDE], v = x[3 * half * STRIDE];
    const float a = add(s, t), b = subtract(s, t), c = add(u, v), d = subtract(u, v);
    x[0] = times(add(a, c), scale);
    x[half * STRIDE] = times(add(b, d), scale);
    x[2 * half * STRIDE] = times(subtract(a, c), scale);
    x[3 * half * STRIDE] = times(subtract(b, d), scale);
}

/* The rotation of kv/format.h, each second sum by the column's other lane. */
__device__ __forceinline__ void rotate(float *x, uint32_t head_dim)
{
    enum { STRIDE = COLUMNS + 1 };
    const uint32_t size = head_dim & (0u - head_dim);
    const float scale = size == 32    ? 0.17677669227123260498046875f
                        : size == 64  ? 0.125f
                        : size == 128 ? 0.088388346135616302490234375f
                                      : 0.0625f;
    uint32_t half = 1;
    if (size == 32 || size == 128) {
#pragma unroll 4
        for (uint32_t i = 2 * my_half(); i < head_dim; i += 4) {
            const float a = x[i * STRIDE], b = x[(i + 1) * STRIDE];
            x[i * STRIDE] = add(a, b);
            x[(i + 1) * STRIDE] = subtract(a, b);
        }
        half = 2;
        __syncwarp();
    }
    for (; half < size; half *= 4) {
#pragma unroll 4
        for (uint32_t n = my_half(); n < head_dim / 4; n += 2)
            rotate_four(x + (n / half * 4 * half + n % half) * STRIDE, half, 4 * half < size ? 1.0f : scale);
        __syncwarp();
    }
}

/* The largest magnitude; `nothing` as in extent. */
__device__ __forceinline__ float peak_of(const pack_token &c, float &nothing)
{
    float peak = 0, none = 0;
#pragma unroll 8
    for (uint32_t i = my_half(); i < c.n; i += 2) {
        const float x = c.value(i);
        peak = higher(higher(x, -x), peak);
        none = add(none, times(x, 0.0f));
    }
    nothing = add(none, of_other(none));
    return higher(peak, of_other(peak));
}

/* Tokens COLUMNS * `part` on. */
template <int BITS>
__device__ __forceinline__ void pack_v(const ifm_kv_pack &a, const ifm_kv_pack_job &job, uint32_t part,
                                       unsigned char *page)
{
    enum { BLOCK = 16 * 8 / BITS };
    const uint32_t token = part * COLUMNS + my_column(), filled = (a.head_dim + BLOCK - 1) / BLOCK * BLOCK;
    const float steps = static_cast<float>((1u << BITS) - 1);
    load_tokens(a.from + job.from + TOKENS * a.head_dim, part * COLUMNS, job.tokens, a.head_dim);
    float *column = reinterpret_cast<float *>(shared) + my_column(), nothing;
    if (BITS < 8)
        rotate(column, a.head_dim);
    const pack_token c = {column, a.head_dim};
    const float peak = peak_of(c, nothing);
    pack_range r;
    if (BITS == 8) {
        r.scale = scale_of(peak, 127.0f);
        r.zero = 0;
        r.inverse = inverse_of(r.scale);
    } else {
        r = search_v(c, peak, steps, BITS == 2 ? 0.14f : 0.10f);
    }
    spoil(r, nothing);
    if (my_half() == 0)
        reinterpret_cast<uint16_t *>(page + a.v_scale)[token] = stored_scale(r, nothing);
    const target t = {page + a.v_codes, nullptr, token, TOKENS, filled, 0, 0, false};
    put_codes<BITS>(c, a.head_dim, r, BITS == 8 ? -127.0f : 0.0f, BITS == 8 ? 127.0f : steps, t);
}

template <int BITS> __device__ __forceinline__ void pack(const ifm_kv_pack &a)
{
    const uint32_t blocks = IFM_KV_PACK_BLOCKS(a.head_dim), of_k = blocks - TOKENS / COLUMNS;
    const uint32_t part = blockIdx.x % blocks;
    const ifm_kv_pack_job job = a.jobs[blockIdx.x / blocks];
    unsigned char *page = a.to + static_cast<uint64_t>(job.to) * a.page_bytes;
    if (part < of_k)
        pack_k<BITS>(a, job, part, page);
    else
        pack_v<BITS>(a, job, part - of_k, page);
}

} // namespace

extern "C" __global__ void __launch_bounds__(IFM_KV_PACK_THREADS) ifm_kv_pack_int8(ifm_kv_pack a)
{
    pack<8>(a);
}

extern "C" __global__ void __launch_bounds__(IFM_KV_PACK_THREADS) ifm_kv_pack_int4(ifm_kv_pack a)
{
    pack<4>(a);
}

extern "C" __global__ void __launch_bounds__(IFM_KV_PACK_THREADS) ifm_kv_pack_int2(ifm_kv_pack a)
{
    pack<2>(a);
}

extern "C" __global__ void __launch_bounds__(IFM_KV_PACK_THREADS) ifm_kv_pack_e4m3(ifm_kv_pack a)
{
    const ifm_kv_pack_job job = a.jobs[blockIdx.x / 2];
    pack_e4m3(a, job, a.to + static_cast<uint64_t>(job.to) * a.page_bytes, blockIdx.x % 2 != 0);
}
