/* Pages of the compressed KV cache out of rows of f16. Device code only.
 *
 * The same arithmetic in the same order as kernel/cpu/kv_encode_body.h, one column (channel of K, token of V) a thread:
 * so every byte is the same. What a thread tries at once (`errors`) are ranges whose order does not matter before the
 * best one is taken. */
#include "kernel/cuda/kv_pack.h"
#include "kernel/cuda/kv_pack_math.cuh"

namespace
{

enum { TOKENS = IFM_KV_PACK_TOKENS, THREADS = IFM_KV_PACK_THREADS, DIM_MOST = 256 };
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

/* A channel of K: weighted, see kernel/cpu/kv_encode.h. */
struct pack_channel {
    const uint16_t *at;
    uint32_t stride, n;
    float mean, factor;
    __device__ __forceinline__ float value(uint32_t i) const { return of_f16(at[i * stride]); }
    __device__ __forceinline__ float weighted(float x, float error) const
    {
        const float off = subtract(x, mean), base = add(times(times(off, off), factor), 1.0f);
        const float square = times(base, base), fourth = times(square, square);
        return times(error, times(fourth, fourth));
    }
};

/* A token of V. */
struct pack_token {
    const float *at;
    uint32_t stride, n;
    __device__ __forceinline__ float value(uint32_t i) const { return at[i * stride]; }
    __device__ __forceinline__ float weighted(float, float error) const { return error; }
};

/* Sums of squared errors of N ranges. */
template <int N, typename COLUMN>
__device__ __forceinline__ void errors(const COLUMN &c, const pack_range *r, float steps, float *sum)
{
#pragma unroll
    for (int k = 0; k < N; k++)
        sum[k] = 0;
#pragma unroll 4
    for (uint32_t i = 0; i < c.n; i++) {
        const float x = c.value(i);
#pragma unroll
        for (int k = 0; k < N; k++) {
            const float from_zero = subtract(x, r[k].zero);
            const float code = to_integer(clamp(times(from_zero, r[k].inverse), 0.0f, steps));
            const float off = subtract(from_zero, times(code, r[k].scale));
            sum[k] = add(sum[k], c.weighted(x, times(off, off)));
        }
    }
}

struct choice {
    float low, high, error;
    pack_range r;
};

/* The best of N ranges and `best`, in this order; `low` and `high` are their ends. FIRST: there is no best yet. */
template <int N, bool FIRST, typename COLUMN>
__device__ __forceinline__ void try_ranges(const COLUMN &c, const float *low, const float *high, float steps,
                                           bool symmetric, choice &best)
{
    pack_range r[N];
    float sum[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        r[k] = range_of(low[k], high[k], steps, symmetric);
    errors<N>(c, r, steps, sum);
#pragma unroll
    for (int k = 0; k < N; k++)
        if ((FIRST && k == 0) || sum[k] < best.error)
            best = {low[k], high[k], sum[k], r[k]};
}

/* Ranges about the middle, each narrower by `cut`. */
template <int N, typename COLUMN>
__device__ __forceinline__ choice cut_evenly(const COLUMN &c, float low, float high, float steps, bool symmetric,
                                             float cut)
{
    float lows[N], highs[N];
    choice best;
#pragma unroll
    for (int k = 0; k < N; k++) {
        const float move = times(subtract(high, low), times(times(0.5f, cut), static_cast<float>(k)));
        lows[k] = k == 0 ? low : add(low, move);
        highs[k] = k == 0 ? high : subtract(high, move);
    }
    try_ranges<N, true>(c, lows, highs, steps, symmetric, best);
    return best;
}

__device__ __forceinline__ pack_range search_k(const pack_channel &c, float low, float high, float steps, float cut)
{
    choice best = cut_evenly<CUTS_K>(c, low, high, steps, false, cut);
    float move = times(subtract(high, low), MOVE);
    for (int round = 0; round < ROUNDS; round++) {
        const float lows[2] = {subtract(best.low, move), add(best.low, move)}, top[2] = {best.high, best.high};
        try_ranges<2, false>(c, lows, top, steps, false, best);
        const float highs[2] = {subtract(best.high, move), add(best.high, move)}, bottom[2] = {best.low, best.low};
        try_ranges<2, false>(c, bottom, highs, steps, false, best);
        move = times(move, 0.5f);
    }
    return best.r;
}

__device__ __forceinline__ pack_range search_v(const pack_token &c, float peak, float steps, float cut)
{
    choice best = cut_evenly<CUTS_V>(c, -peak, peak, steps, true, cut);
    float move = times(peak, times(0.5f, cut));
    for (int round = 0; round < ROUNDS; round++) {
        const float lows[2] = {subtract(best.low, move), add(best.low, move)};
        const float highs[2] = {add(best.high, move), subtract(best.high, move)};
        try_ranges<2, false>(c, lows, highs, steps, true, best);
        move = times(move, 0.5f);
    }
    return best.r;
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

/* All lanes of a warp. */
template <int BITS, typename COLUMN>
__device__ __forceinline__ void put_codes(const COLUMN &c, uint32_t n, const pack_range &r, float least, float most,
                                          const target &t)
{
    enum { FIELDS = 8 / BITS, BLOCK = 16 * FIELDS };
    const uint32_t mask = (1u << BITS) - 1, shift = t.promoted ? 2 : 0;
    for (uint32_t block = 0; block < t.n_inner / BLOCK; block++)
        for (uint32_t quarter = 0; quarter < 4; quarter++) {
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

__device__ __forceinline__ extent extent_of(const pack_channel &c)
{
    extent e = {c.value(0), c.value(0), 0};
    for (uint32_t i = 0; i < c.n; i++) {
        const float x = c.value(i);
        e.low = lower(x, e.low);
        e.high = higher(x, e.high);
        e.nothing = add(e.nothing, times(x, 0.0f));
    }
    return e;
}

__device__ __forceinline__ void weigh(pack_channel &c, uint32_t head_dim)
{
    const float share = divide(1.0f, static_cast<float>(c.n));
    float sum = 0, squares = 0;
    for (uint32_t i = 0; i < c.n; i++) {
        const float x = c.value(i);
        sum = add(sum, x);
        squares = add(squares, times(x, x));
    }
    c.mean = times(sum, share);
    const float variance = higher(subtract(times(squares, share), times(c.mean, c.mean)), 0.0f);
    c.factor = divide(0.125f, add(variance, static_cast<float>(head_dim)));
}

/* The rows, and zeros behind them: [TOKENS][head_dim]. */
__device__ __forceinline__ void load_rows(const uint16_t *from, uint32_t tokens, uint32_t head_dim)
{
    const uint32_t filled = tokens * head_dim / 8, nothing = 0;
    for (uint32_t i = threadIdx.x; i < TOKENS * head_dim / 8; i += THREADS) {
        uint4 x = {nothing, nothing, nothing, nothing};
        if (i < filled)
            x = reinterpret_cast<const uint4 *>(from)[i];
        reinterpret_cast<uint4 *>(shared)[i] = x;
    }
    __syncthreads();
}

__device__ __forceinline__ pack_channel channel_at(const ifm_kv_pack_job &job, uint32_t head_dim, uint32_t d)
{
    return {reinterpret_cast<const uint16_t *>(shared) + d, head_dim, job.tokens, 0, 0};
}

/* Which channels are promoted: the widest, of equal ones the lower number. */
struct promotion {
    float worth[DIM_MOST];
    uint8_t taken[DIM_MOST];
};

__device__ __forceinline__ void promote(const ifm_kv_pack &a, const ifm_kv_pack_job &job, promotion *p,
                                        unsigned char *page)
{
    for (uint32_t d = threadIdx.x; d < a.head_dim; d += THREADS) {
        const extent e = extent_of(channel_at(job, a.head_dim, d));
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
    for (uint32_t i = a.head_dim / 8 + threadIdx.x; i < (a.head_dim / 8 + 63) / 64 * 64; i += THREADS)
        page[a.promoted + i] = 0;
}

template <int BITS>
__device__ __forceinline__ void pack_k(const ifm_kv_pack &a, const ifm_kv_pack_job &job, unsigned char *page)
{
    promotion *p = reinterpret_cast<promotion *>(shared + TOKENS * a.head_dim * 2);
    load_rows(a.from + job.from, job.tokens, a.head_dim);
    if (BITS == 2)
        promote(a, job, p, page);
    for (uint32_t d = threadIdx.x; d < a.head_dim; d += THREADS) {
        pack_channel c = channel_at(job, a.head_dim, d);
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
        reinterpret_cast<uint16_t *>(page + a.k_scale)[d] = stored_scale(r, e.nothing);
        reinterpret_cast<uint16_t *>(page + a.k_zero)[d] = to_f16(r.zero);
        put_codes<BITS>(c, TOKENS, r, 0.0f, steps, t);
    }
}

/* ---- V ---- */

/* The tokens from `at` on as columns, [head_dim][tile + 1]; zeros where there is none. */
__device__ __forceinline__ void load_columns(const uint16_t *from, uint32_t at, uint32_t tokens, uint32_t head_dim,
                                             uint32_t tile)
{
    float *to = reinterpret_cast<float *>(shared);
    const uint32_t nothing = 0;
    for (uint32_t i = threadIdx.x; i < tile * head_dim / 8; i += THREADS) {
        const uint32_t row = i * 8 / head_dim, d = i * 8 % head_dim;
        uint4 x = {nothing, nothing, nothing, nothing};
        if (at + row < tokens)
            x = reinterpret_cast<const uint4 *>(from)[at * head_dim / 8 + i];
        const uint32_t words[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
        for (uint32_t k = 0; k < 8; k++)
            to[(d + k) * (tile + 1) + row] = of_f16(static_cast<uint16_t>(words[k / 2] >> (k % 2 * 16)));
    }
    __syncthreads();
}

__device__ __forceinline__ void rotate_four(float *x, uint32_t stride, uint32_t half, float scale)
{
    const float s = x[0], t = x[half * stride], u = x[2 * half * stride], v = x[3 * half * stride];
    const float a = add(s, t), b = subtract(s, t), c = add(u, v), d = subtract(u, v);
    x[0] = times(add(a, c), scale);
    x[half * stride] = times(add(b, d), scale);
    x[2 * half * stride] = times(subtract(a, c), scale);
    x[3 * half * stride] = times(subtract(b, d), scale);
}

/* The rotation of kv/format.h. */
__device__ __forceinline__ void rotate(float *x, uint32_t stride, uint32_t head_dim)
{
    const uint32_t size = head_dim & (0u - head_dim);
    const float scale = size == 32    ? 0.17677669227123260498046875f
                        : size == 64  ? 0.125f
                        : size == 128 ? 0.088388346135616302490234375f
                                      : 0.0625f;
    uint32_t half = 1;
    if (size == 32 || size == 128) {
        for (uint32_t i = 0; i < head_dim; i += 2) {
            const float a = x[i * stride], b = x[(i + 1) * stride];
            x[i * stride] = add(a, b);
            x[(i + 1) * stride] = subtract(a, b);
        }
        half = 2;
    }
    for (; half < size; half *= 4)
        for (uint32_t at = 0; at < head_dim; at += 4 * half)
            for (uint32_t i = 0; i < half; i++)
                rotate_four(x + (at + i) * stride, stride, half, 4 * half < size ? 1.0f : scale);
}

template <int BITS>
__device__ __forceinline__ void pack_v(const ifm_kv_pack &a, const ifm_kv_pack_job &job, unsigned char *page)
{
    enum { BLOCK = 16 * 8 / BITS };
    const uint32_t tile = IFM_KV_PACK_TILE(a.head_dim), filled = (a.head_dim + BLOCK - 1) / BLOCK * BLOCK;
    const float steps = static_cast<float>((1u << BITS) - 1);
    for (uint32_t at = 0; at < TOKENS; at += tile) {
        load_columns(a.from + job.from + TOKENS * a.head_dim, at, job.tokens, a.head_dim, tile);
        if (threadIdx.x < tile) {
            float *column = reinterpret_cast<float *>(shared) + threadIdx.x, peak = 0, nothing = 0;
            if (BITS < 8)
                rotate(column, tile + 1, a.head_dim);
            const pack_token c = {column, tile + 1, a.head_dim};
            for (uint32_t i = 0; i < a.head_dim; i++) {
                const float x = c.value(i);
                peak = higher(higher(x, -x), peak);
                nothing = add(nothing, times(x, 0.0f));
            }
            pack_range r;
            if (BITS == 8) {
                r.scale = scale_of(peak, 127.0f);
                r.zero = 0;
                r.inverse = inverse_of(r.scale);
            } else {
                r = search_v(c, peak, steps, BITS == 2 ? 0.14f : 0.10f);
            }
            spoil(r, nothing);
            reinterpret_cast<uint16_t *>(page + a.v_scale)[at + threadIdx.x] = stored_scale(r, nothing);
            const target t = {page + a.v_codes, nullptr, at + threadIdx.x, TOKENS, filled, 0, 0, false};
            put_codes<BITS>(c, a.head_dim, r, BITS == 8 ? -127.0f : 0.0f, BITS == 8 ? 127.0f : steps, t);
        }
        __syncthreads();
    }
}

/* ---- e4m3 ---- */

/* Widening keeps no sign of NaN. */
__device__ __forceinline__ uint32_t to_e4m3(uint16_t half, float inverse)
{
    const int32_t rest = bits_of(times(of_f16(half), inverse)) & 0x7fffffff;
    int32_t code = rest < 0x3c800000 ? bits_of(add(of_bits(rest), 16384.0f)) - 0x46800000
                                     : (rest - (120 << 23) + 0x7ffff + (rest >> 20 & 1)) >> 20;
    if (rest >= 0x43e00000)
        code = 0x7e;
    if ((half & 0x7c00) == 0x7c00)
        code = 0x7f;
    return static_cast<uint32_t>(code) | (half >> 8 & 0x80u);
}

/* The scale of the rows in shared memory: their largest finite magnitude / 448. */
__device__ __forceinline__ float e4m3_scale(uint32_t values, uint32_t *parts)
{
    const uint16_t *x = reinterpret_cast<const uint16_t *>(shared);
    uint32_t peak = 0;
    for (uint32_t i = threadIdx.x; i < values; i += THREADS) {
        const uint32_t rest = x[i] & 0x7fff;
        peak = rest < 0x7c00 && rest > peak ? rest : peak;
    }
    parts[threadIdx.x] = peak;
    __syncthreads();
    for (uint32_t i = 0; i < THREADS; i++)
        peak = parts[i] > peak ? parts[i] : peak;
    return peak == 0 ? 0.0f : divide(of_f16(static_cast<uint16_t>(peak)), 448.0f);
}

/* Four values that lie `stride` apart. */
__device__ __forceinline__ uint32_t four_e4m3(const uint16_t *x, uint32_t stride, float inverse)
{
    uint32_t word = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
        word |= to_e4m3(x[k * stride], inverse) << (8 * k);
    return word;
}

/* [token block of 64][channel][64 tokens]: 16 tokens of a channel a thread. */
__device__ __forceinline__ void put_k_e4m3(const uint16_t *x, uint32_t head_dim, float inverse, unsigned char *to)
{
    for (uint32_t i = threadIdx.x; i < TOKENS / 16 * head_dim; i += THREADS) {
        const uint32_t row = i / head_dim * 16, d = i % head_dim;
        const uint16_t *from = x + row * head_dim + d;
        const uint4 word = {four_e4m3(from, head_dim, inverse), four_e4m3(from + 4 * head_dim, head_dim, inverse),
                            four_e4m3(from + 8 * head_dim, head_dim, inverse),
                            four_e4m3(from + 12 * head_dim, head_dim, inverse)};
        *reinterpret_cast<uint4 *>(to + (row / 64 * head_dim + d) * 64 + row % 64) = word;
    }
}

/* [channel block of 64][token][64 channels], the last block narrower: four channels of a token a thread. */
__device__ __forceinline__ void put_v_e4m3(const uint16_t *x, uint32_t head_dim, float inverse, unsigned char *to)
{
    for (uint32_t i = threadIdx.x * 4; i < TOKENS * head_dim; i += 4 * THREADS) {
        const uint32_t block = i / (64 * TOKENS), left = head_dim - block * 64, width = left < 64 ? left : 64;
        const uint32_t rest = i - block * 64 * TOKENS, row = rest / width, d = block * 64 + rest % width;
        *reinterpret_cast<uint32_t *>(to + i) = four_e4m3(x + row * head_dim + d, 1, inverse);
    }
}

__device__ __forceinline__ void pack_e4m3(const ifm_kv_pack &a, const ifm_kv_pack_job &job, unsigned char *page,
                                          bool of_v)
{
    const uint16_t *x = reinterpret_cast<const uint16_t *>(shared);
    load_rows(a.from + job.from + (of_v ? TOKENS * a.head_dim : 0), job.tokens, a.head_dim);
    const float scale = e4m3_scale(job.tokens * a.head_dim,
                                   reinterpret_cast<uint32_t *>(shared + TOKENS * a.head_dim * 2));
    const float inverse = scale > 0.0f ? divide(1.0f, scale) : 0.0f;
    if (threadIdx.x < 16)
        reinterpret_cast<uint32_t *>(page + (of_v ? a.v_scale : a.k_scale))[threadIdx.x] =
            threadIdx.x == 0 ? static_cast<uint32_t>(bits_of(scale)) : 0;
    unsigned char *to = page + (of_v ? a.v_codes : a.k_codes);
    if (of_v)
        put_v_e4m3(x, a.head_dim, inverse, to);
    else
        put_k_e4m3(x, a.head_dim, inverse, to);
}

/* That of the block, in its layer. */
__device__ __forceinline__ ifm_kv_pack_job job_of(const ifm_kv_pack &a)
{
    const uint32_t layer = blockIdx.x / 2 / a.n_jobs;
    ifm_kv_pack_job job = a.jobs[blockIdx.x / 2 % a.n_jobs];
    job.from += layer * a.layer;
    job.to += layer * a.n_jobs;
    return job;
}

template <int BITS> __device__ __forceinline__ void pack(const ifm_kv_pack &a)
{
    const ifm_kv_pack_job job = job_of(a);
    unsigned char *page = a.to + static_cast<uint64_t>(job.to) * a.page_bytes;
    if (blockIdx.x % 2 == 0)
        pack_k<BITS>(a, job, page);
    else
        pack_v<BITS>(a, job, page);
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
    const ifm_kv_pack_job job = job_of(a);
    pack_e4m3(a, job, a.to + static_cast<uint64_t>(job.to) * a.page_bytes, blockIdx.x % 2 != 0);
}
