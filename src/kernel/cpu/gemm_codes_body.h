/* Few activations times panels of int8 or int4 codes; compiled once per instruction set (see lanes.h).
 *
 * Every lane is a row of the panel. IFM_GEMM_BYTES: an instruction multiplies unsigned by signed bytes and adds four
 * products to a lane (VNNI), so an activation is two signed bytes and a group two sums; otherwise pairs of 16-bit
 * products (multiply and add pairs), and plain C where vectors are one word. All three sums are the same integers.
 * IFM_TILE is how many activations the registers hold at once; the codes of a group are in the nearest cache when the
 * next few activations come. */
#include "base/half.h"
#include "kernel/cpu/kernels.h"
#include "kernel/cpu/lanes.h"

#include <math.h>
#include <stdbool.h>

enum { CODE_LINE = 64, CODE_MOST = 127 * 256 + 127, QUAD = 4, QUAD_BYTES = 8, STEPS = 4 };

#if IFM_LANES == 1
/* One row is one lane; plain C computes the same sums. */
typedef int32_t ints;
enum { ROWS_AT_ONCE = 1 };
#elif IFM_LANES == 16
typedef __m512i ints;
enum { ROWS_AT_ONCE = 16 };
#define INTS(op) _mm512_##op
#define BROADCAST(from) _mm512_set1_epi32(from)
#define LOAD_INTS(from) _mm512_loadu_si512((const void *)(from))
#define AND(a, b) _mm512_and_si512(a, b)
#else
typedef __m256i ints;
enum { ROWS_AT_ONCE = 8 };
#define INTS(op) _mm256_##op
#define BROADCAST(from) _mm256_set1_epi32(from)
#define LOAD_INTS(from) _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define AND(a, b) _mm256_and_si256(a, b)
#endif

#if IFM_LANES == 1
static int32_t largest_bits(const float *x, unsigned n)
{
    int32_t top = 0;
    for (unsigned i = 0; i < n; i++) {
        const int32_t bits = (int32_t)(ifm_f32_bits(x[i]) & 0x7fffffff);
        top = bits > top ? bits : top;
    }
    return top;
}

/* Codes of n values and their sum. */
static int32_t put_codes(const float *x, unsigned n, float inverse, unsigned char *to)
{
    static const size_t place[QUAD] = {0, 2, 1, 3};
    int32_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
        const int16_t code = (int16_t)lrintf(x[i] * inverse);
        memcpy(to + (i / QUAD * QUAD + place[i % QUAD]) * sizeof code, &code, sizeof code);
        sum += code;
    }
    return sum;
}
#else
IFM_INLINE int32_t one_of(ints v, const bool most)
{
    int32_t lane[IFM_LANES], out = 0;
    memcpy(lane, &v, sizeof lane);
    for (int i = 0; i < IFM_LANES; i++)
        out = !most ? out + lane[i] : lane[i] > out ? lane[i] : out;
    return out;
}

IFM_INLINE int32_t largest_bits(const float *x, unsigned n)
{
    ints top = INTS(set1_epi32)(0);
    for (unsigned i = 0; i < n; i += IFM_LANES)
        top = INTS(max_epi32)(top, AND(LOAD_INTS(x + i), INTS(set1_epi32)(0x7fffffff)));
    return one_of(top, true);
}

/* One vector of codes in the order of this kernel: two bytes each. */
IFM_INLINE void put_vector(ints code, unsigned char *to)
{
#if defined(IFM_GEMM_BYTES)
    const __m128i high = _mm512_cvtepi32_epi8(_mm512_srai_epi32(_mm512_add_epi32(code, _mm512_set1_epi32(128)), 8));
    const __m128i low = _mm512_cvtepi32_epi8(code); /* the code less 256 x high, in one byte */
    _mm_storeu_si128((__m128i *)(void *)to, _mm_unpacklo_epi32(high, low));
    _mm_storeu_si128((__m128i *)(void *)(to + 16), _mm_unpackhi_epi32(high, low));
#elif IFM_LANES == 16
    const __m256i packed = _mm512_cvtepi32_epi16(code);
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(packed, 0xd8), 0xd8));
#else
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(code, code), 8);
    _mm_storeu_si128((__m128i *)(void *)to,
                     _mm_shufflehi_epi16(_mm_shufflelo_epi16(_mm256_castsi256_si128(packed), 0xd8), 0xd8));
#endif
}

IFM_INLINE int32_t put_codes(const float *x, unsigned n, float inverse, unsigned char *to)
{
    ints sum = INTS(set1_epi32)(0);
    for (unsigned i = 0; i < n; i += IFM_LANES) {
        const floats scaled = load_floats(x + i) * ((floats){0} + inverse);
#if IFM_LANES == 16
        const ints code = _mm512_cvtps_epi32((__m512)scaled); /* to nearest */
#else
        const ints code = _mm256_cvtps_epi32((__m256)scaled);
#endif
        sum = INTS(add_epi32)(sum, code);
        put_vector(code, to + i * sizeof(int16_t));
    }
    return one_of(sum, false);
}
#endif

/* The codes of a group of n values, filled up to `group`; returns its scale. */
static float round_group(const float *x, unsigned n, unsigned group, unsigned char *to, int32_t *sum)
{
    float whole[128] = {0};
    if (n < group)
        x = memcpy(whole, x, n * sizeof *x);
    const int32_t top = largest_bits(x, group);
    const float largest = ifm_f32_of_bits((uint32_t)top);
    const bool finite = top < 0x7f800000, zero = largest < 1e-34f;
    if (!finite || zero) {
        memset(to, 0, group / QUAD * QUAD_BYTES);
        *sum = 0;
        return finite ? 0 : NAN;
    }
    *sum = put_codes(x, group, (float)CODE_MOST / largest, to);
    return largest / (float)CODE_MOST;
}

static void round_activations(const struct ifm_gemm_job *job, const struct ifm_gemm_codes *codes, int32_t offset)
{
    const struct ifm_gemm_shape *s = &job->shape;
    const size_t groups = ifm_gemm_groups(s);
    for (size_t i = 0; i < s->m; i++)
        for (size_t g = 0; g < groups; g++) {
            const size_t at = g * s->group, n = s->k - at < s->group ? s->k - at : s->group;
            int32_t sum;
            codes->scale[i * groups + g] = round_group(job->x + i * s->k + at, (unsigned)n, s->group,
                                                       codes->x + i * codes->row_bytes + at / QUAD * QUAD_BYTES, &sum);
            codes->bias[i * groups + g] = sum * offset;
        }
}

/* What the two sums of a lane collect: high and low bytes, or even and odd values of k. */
struct two {
    ints a, b;
};

#if IFM_LANES == 1
IFM_INLINE ints load_codes(const unsigned char *from)
{
    ints value;
    memcpy(&value, from, sizeof value);
    return value;
}
IFM_INLINE ints low_halves(ints v)
{
    return v & 0x0f0f0f0f;
}
IFM_INLINE ints high_halves(ints v)
{
    return v >> 4 & 0x0f0f0f0f;
}
IFM_INLINE struct two add_quad(struct two sum, ints v, const unsigned char *x)
{
    int16_t pairs[QUAD];
    memcpy(pairs, x, sizeof pairs);
    sum.a += (v & 255) * pairs[0] + (v >> 16 & 255) * pairs[1];
    sum.b += (v >> 8 & 255) * pairs[2] + (v >> 24 & 255) * pairs[3];
    return sum;
}
IFM_INLINE ints zero_ints(void)
{
    return 0;
}
#else
IFM_INLINE ints load_codes(const unsigned char *from)
{
    return LOAD_INTS(from);
}
IFM_INLINE ints low_halves(ints v)
{
    return AND(v, INTS(set1_epi8)(15));
}
IFM_INLINE ints high_halves(ints v)
{
    return AND(INTS(srli_epi16)(v, 4), INTS(set1_epi8)(15));
}
IFM_INLINE ints broadcast(const unsigned char *from)
{
    int32_t word;
    memcpy(&word, from, sizeof word);
    return BROADCAST(word);
}
IFM_INLINE struct two add_quad(struct two sum, ints v, const unsigned char *x)
{
#if defined(IFM_GEMM_BYTES)
    sum.a = INTS(dpbusd_epi32)(sum.a, v, broadcast(x));
    sum.b = INTS(dpbusd_epi32)(sum.b, v, broadcast(x + 4));
#else
    const ints even = AND(v, INTS(set1_epi16)(255)), odd = INTS(srli_epi16)(v, 8);
    sum.a = INTS(add_epi32)(sum.a, INTS(madd_epi16)(even, broadcast(x)));
    sum.b = INTS(add_epi32)(sum.b, INTS(madd_epi16)(odd, broadcast(x + 4)));
#endif
    return sum;
}
IFM_INLINE ints zero_ints(void)
{
    return INTS(set1_epi32)(0);
}
#endif

/* sum[i] of `m` activations over one group of ROWS_AT_ONCE rows; two chains of sums where registers allow. */
IFM_INLINE void sum_group(const unsigned char *codes, unsigned group, const int bits, const int m,
                          const unsigned char *x, size_t row_bytes, struct two *out)
{
    const int chains = m <= 4 ? 2 : 1;
    const size_t ahead = m == 1 ? 2048 : 4096; /* bytes; see docs/performance.md */
    struct two sum[2 * IFM_TILE];
    for (int i = 0; i < chains * m; i++)
        sum[i] = (struct two){zero_ints(), zero_ints()};
    for (unsigned k = 0; k < group; k += STEPS * 2 * QUAD)
        for (int step = 0; step < STEPS; step++, x += 2 * QUAD_BYTES) { /* unrolled: every group has whole ones */
            const ints first = load_codes(codes), second = bits == 4 ? first : load_codes(codes + CODE_LINE);
            const ints a = bits == 4 ? low_halves(first) : first, b = bits == 4 ? high_halves(first) : second;
            __builtin_prefetch(codes + ahead, 0, 3);
            if (bits == 8)
                __builtin_prefetch(codes + ahead + CODE_LINE, 0, 3);
            codes += bits == 4 ? CODE_LINE : 2 * CODE_LINE;
            for (int i = 0; i < m; i++) {
                const unsigned char *at = x + (size_t)i * row_bytes;
                sum[i] = add_quad(sum[i], a, at);
                sum[(chains - 1) * m + i] = add_quad(sum[(chains - 1) * m + i], b, at + QUAD_BYTES);
            }
        }
    for (int i = 0; i < m; i++) {
        out[i] = sum[i];
#if IFM_LANES == 1
        if (chains == 2) {
            out[i].a += sum[m + i].a;
            out[i].b += sum[m + i].b;
        }
#else
        if (chains == 2) {
            out[i].a = INTS(add_epi32)(out[i].a, sum[m + i].a);
            out[i].b = INTS(add_epi32)(out[i].b, sum[m + i].b);
        }
#endif
    }
}

/* total += (sum - bias) x scale of the weights x scale of the activation. */
IFM_INLINE void add_group(struct two sum, int32_t bias, const uint16_t *scales, float x_scale, float *total)
{
#if IFM_LANES == 1
    *total += (float)(sum.a + sum.b - bias) * (ifm_f16_to_f32(*scales) * x_scale);
#else
#if defined(IFM_GEMM_BYTES)
    sum.a = INTS(slli_epi32)(sum.a, 8);
#endif
    const ints whole = INTS(sub_epi32)(INTS(add_epi32)(sum.a, sum.b), BROADCAST(bias));
#if IFM_LANES == 16
    const floats scale = (floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)scales));
#else
    const floats scale = (floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)scales));
#endif
    store_floats(total, load_floats(total) + (floats)INTS(cvtepi32_ps)(whole) * (scale * ((floats){0} + x_scale)));
#endif
}

/* One group of a panel for `m` activations from number `first` on. */
IFM_INLINE void panel_group(const struct ifm_gemm_job *job, const struct ifm_gemm_codes *x, size_t g, size_t first,
                            const unsigned char *scales, const unsigned char *codes, const int bits, const int m,
                            float total[][IFM_GEMM_PANEL])
{
    const size_t groups = ifm_gemm_groups(&job->shape);
    const unsigned group = job->shape.group;
    const unsigned char *at = x->x + first * x->row_bytes + g * group / QUAD * QUAD_BYTES;
    for (int r = 0; r < IFM_GEMM_PANEL; r += ROWS_AT_ONCE) {
        struct two sum[IFM_TILE];
        sum_group(codes + 4 * r, group, bits, m, at, x->row_bytes, sum);
        for (int i = 0; i < m; i++) {
            const size_t row = first + (size_t)i;
            add_group(sum[i], x->bias[row * groups + g], (const uint16_t *)(const void *)scales + r,
                      x->scale[row * groups + g], &total[row][r]);
        }
    }
}

IFM_INLINE void group_all(const struct ifm_gemm_job *job, const struct ifm_gemm_codes *x, size_t g,
                          const unsigned char *scales, const unsigned char *codes, const int bits,
                          float total[][IFM_GEMM_PANEL])
{
    size_t i = 0;
    const size_t m = job->shape.m;
#if IFM_TILE == 8
    for (; i + 8 <= m; i += 8)
        panel_group(job, x, g, i, scales, codes, bits, 8, total);
#endif
    for (; i + 4 <= m; i += 4)
        panel_group(job, x, g, i, scales, codes, bits, 4, total);
    for (; i + 2 <= m; i += 2)
        panel_group(job, x, g, i, scales, codes, bits, 2, total);
    for (; i < m; i++)
        panel_group(job, x, g, i, scales, codes, bits, 1, total);
}

/* The panel that starts with row `row`; `one` says that there is one activation. */
IFM_INLINE void panel_of_codes(const struct ifm_gemm_job *job, const struct ifm_gemm_codes *x, uint64_t row,
                               size_t rows, const int bits, const bool one)
{
    const struct ifm_gemm_shape *s = &job->shape;
    const size_t groups = ifm_gemm_groups(s), group_bytes = ifm_gemm_group_bytes(s);
    const unsigned char *at = (const unsigned char *)job->w + row / IFM_GEMM_PANEL * ifm_gemm_panel_bytes(s);
    const unsigned char *scales = at;
    float total[IFM_GEMM_M_MOST][IFM_GEMM_PANEL] = {{0}};
    for (size_t g = 0; g < groups; g++, at += group_bytes) {
        if (g % 2 == 0) {
            scales = at;
            at += CODE_LINE;
        }
        if (one)
            panel_group(job, x, g, 0, scales + g % 2 * CODE_LINE / 2, at, bits, 1, total);
        else
            group_all(job, x, g, scales + g % 2 * CODE_LINE / 2, at, bits, total);
    }
    for (size_t i = 0; i < s->m; i++)
        memcpy(job->out + i * s->n + row, total[i], rows * sizeof(float));
}

IFM_INLINE void share_panels(const struct ifm_gemm_job *job, unsigned index, unsigned count, const int bits)
{
    const struct ifm_gemm_share share = ifm_gemm_share_of(job->shape.n, index, count);
    const struct ifm_gemm_codes x = ifm_gemm_codes_at(job, index);
    round_activations(job, &x, bits == 4 ? 8 : 128);
    for (uint64_t row = share.from; row < share.to; row += IFM_GEMM_PANEL) {
        const size_t rows = share.to - row < IFM_GEMM_PANEL ? share.to - row : IFM_GEMM_PANEL;
        if (job->shape.m == 1)
            panel_of_codes(job, &x, row, rows, bits, true);
        else
            panel_of_codes(job, &x, row, rows, bits, false);
    }
}

void IFM_KERNEL(ifm_gemm_int8)(const struct ifm_gemm_job *job, unsigned index, unsigned count)
{
    share_panels(job, index, count, 8);
}

void IFM_KERNEL(ifm_gemm_int4)(const struct ifm_gemm_job *job, unsigned index, unsigned count)
{
    share_panels(job, index, count, 4);
}
