/* Weights of gemm: sizes, encoder and reference reading. The same bytes on every machine; nothing here is timed. */
#include "kernel/cpu/gemm.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

enum { LINE = 64, CODES_PER_QUAD = 8, MOST_GROUP = 128 };

static const float LARGEST_F16 = 65504;

const char *ifm_gemm_format_name(enum ifm_gemm_format format)
{
    static const char *const names[IFM_GEMM_FORMATS] = {"f32", "f16", "bf16", "int8", "int4"};
    return names[format];
}

static bool is_grouped(const struct ifm_gemm_shape *s)
{
    return s->format == IFM_GEMM_INT8 || s->format == IFM_GEMM_INT4;
}

uint64_t ifm_gemm_bytes(const struct ifm_gemm_shape *s)
{
    uint64_t rows = s->n, row = s->k, bytes;
    if (is_grouped(s)) {
        rows = (s->n + IFM_GEMM_PANEL - 1) / IFM_GEMM_PANEL;
        row = ifm_gemm_panel_bytes(s);
    } else {
        row *= s->format == IFM_GEMM_F32 ? sizeof(float) : sizeof(uint16_t);
    }
    return __builtin_mul_overflow(rows, row, &bytes) ? UINT64_MAX : bytes;
}

struct ifm_gemm_share ifm_gemm_share_of(uint64_t n, unsigned index, unsigned count)
{
    const uint64_t panels = (n + IFM_GEMM_PANEL - 1) / IFM_GEMM_PANEL;
    const uint64_t from = panels * index / count * IFM_GEMM_PANEL, to = panels * (index + 1) / count * IFM_GEMM_PANEL;
    return (struct ifm_gemm_share){from, to < n ? to : n};
}

static size_t round_up(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* One line more than the codes need: rows a large power of two apart would map to the same sets of the first-level
 * cache. */
static size_t row_bytes(const struct ifm_gemm_shape *s)
{
    return ifm_gemm_groups(s) * s->group / 4 * CODES_PER_QUAD + LINE;
}

/* Of one worker. */
static size_t scratch_bytes(const struct ifm_gemm_shape *s)
{
    const size_t numbers = round_up(s->m * ifm_gemm_groups(s) * sizeof(float));
    return round_up(s->m * row_bytes(s)) + 2 * numbers;
}

size_t ifm_gemm_scratch_bytes(const struct ifm_gemm_shape *s, unsigned count)
{
    return is_grouped(s) ? scratch_bytes(s) * count : 0;
}

struct ifm_gemm_codes ifm_gemm_codes_at(const struct ifm_gemm_job *job, unsigned index)
{
    const struct ifm_gemm_shape *s = &job->shape;
    unsigned char *at = (unsigned char *)job->scratch + scratch_bytes(s) * index;
    const size_t numbers = round_up(s->m * ifm_gemm_groups(s) * sizeof(float));
    struct ifm_gemm_codes codes = {.x = at, .row_bytes = row_bytes(s)};
    at += round_up(s->m * codes.row_bytes);
    codes.scale = (float *)(void *)at;
    codes.bias = (int32_t *)(void *)(at + numbers);
    return codes;
}

/* Where group `g` of the panel of `row` has its scale and its codes. */
struct gemm_place {
    uint64_t scale, codes; /* byte offsets; the scale is that of the row, the codes those of the panel */
};

static struct gemm_place place_of(const struct ifm_gemm_shape *s, uint64_t row, uint64_t g)
{
    const uint64_t panel = row / IFM_GEMM_PANEL * ifm_gemm_panel_bytes(s), group = ifm_gemm_group_bytes(s);
    const uint64_t pair = panel + g / 2 * (LINE + 2 * group);
    const uint64_t lane = row % IFM_GEMM_PANEL;
    return (struct gemm_place){pair + (g % 2 * IFM_GEMM_PANEL + lane) * sizeof(uint16_t), pair + LINE + g % 2 * group};
}

static void put_code(enum ifm_gemm_format format, unsigned char *codes, uint64_t lane, unsigned k, int code)
{
    if (format == IFM_GEMM_INT8) {
        codes[k / 4 * LINE + 4 * lane + k % 4] = (unsigned char)(code + 128);
        return;
    }
    unsigned char *byte = &codes[k / 8 * LINE + 4 * lane + k % 4];
    const unsigned shift = k % 8 < 4 ? 0 : 4;
    *byte = (unsigned char)((*byte & (0xf0 >> shift)) | (unsigned)(code + 8) << shift);
}

static int get_code(enum ifm_gemm_format format, const unsigned char *codes, uint64_t lane, unsigned k)
{
    if (format == IFM_GEMM_INT8)
        return codes[k / 4 * LINE + 4 * lane + k % 4] - 128;
    return (codes[k / 8 * LINE + 4 * lane + k % 4] >> (k % 8 < 4 ? 0 : 4) & 15) - 8;
}

static int code_of(float w, float inverse, int low, int high)
{
    const float code = rintf(w * inverse);
    return code < (float)low ? low : code > (float)high ? high : (int)code;
}

/* The codes of one group; returns its scale as it is stored. The largest weights are not clipped: clipping reduces the
 * mean error of the weights but increases that of the product, because they meet the largest activations. */
static uint16_t round_group(enum ifm_gemm_format format, const float *w, unsigned n, int *codes)
{
    const int low = format == IFM_GEMM_INT4 ? -8 : -127, high = format == IFM_GEMM_INT4 ? 7 : 127;
    float largest = 0;
    bool finite = true;
    for (unsigned i = 0; i < n; i++) {
        largest = fabsf(w[i]) > largest ? fabsf(w[i]) : largest;
        finite = finite && isfinite(w[i]);
    }
    const float wanted = largest / (float)high;
    const uint16_t stored = ifm_f32_to_f16(wanted < LARGEST_F16 ? wanted : LARGEST_F16);
    const float scale = ifm_f16_to_f32(stored), inverse = scale > 0 ? 1 / scale : 0;
    for (unsigned i = 0; i < n; i++)
        codes[i] = finite ? code_of(w[i], inverse, low, high) : 0;
    return finite ? stored : 0x7e00; /* NaN */
}

static void encode_group(const struct ifm_gemm_shape *s, uint64_t row, uint64_t g, const float *w, unsigned n,
                         unsigned char *out)
{
    const struct gemm_place place = place_of(s, row, g);
    int codes[MOST_GROUP];
    const uint16_t scale = round_group(s->format, w, n, codes);
    memcpy(out + place.scale, &scale, sizeof scale);
    for (unsigned k = 0; k < s->group; k++)
        put_code(s->format, out + place.codes, row % IFM_GEMM_PANEL, k, k < n ? codes[k] : 0);
}

/* Rows that only fill up the last panel, and the second half of a last line of scales. */
static void fill_up(const struct ifm_gemm_shape *s, uint64_t row, unsigned char *out)
{
    const uint64_t groups = ifm_gemm_groups(s);
    for (uint64_t g = 0; row >= s->n && g < groups; g++)
        encode_group(s, row, g, NULL, 0, out);
    const uint16_t none = 0;
    if (groups % 2 != 0)
        memcpy(out + place_of(s, row, groups - 1).scale + IFM_GEMM_PANEL * sizeof none, &none, sizeof none);
}

static void encode_grouped(const struct ifm_gemm_shape *s, uint64_t first, uint64_t rows, const float *w,
                           unsigned char *out)
{
    for (uint64_t row = first; row < first + rows; row++) {
        const float *from = w + (row - first) * s->k;
        for (uint64_t k = 0; k < s->k; k += s->group)
            encode_group(s, row, k / s->group, from + k, (unsigned)(s->k - k < s->group ? s->k - k : s->group), out);
        fill_up(s, row, out);
    }
    for (uint64_t row = first + rows; row % IFM_GEMM_PANEL != 0; row++)
        fill_up(s, row, out);
}

void ifm_gemm_encode(const struct ifm_gemm_shape *s, uint64_t first, uint64_t rows, const float *w, void *out)
{
    if (s->format == IFM_GEMM_F32) {
        memcpy((float *)out + first * s->k, w, rows * s->k * sizeof *w);
    } else if (!is_grouped(s)) {
        uint16_t *to = (uint16_t *)out + first * s->k;
        for (uint64_t i = 0; i < rows * s->k; i++)
            to[i] = s->format == IFM_GEMM_F16 ? ifm_f32_to_f16(w[i]) : ifm_f32_to_bf16(w[i]);
    } else {
        encode_grouped(s, first, rows, w, out);
    }
}

void ifm_gemm_decode(const struct ifm_gemm_shape *s, const void *w, uint64_t row, float *to)
{
    for (uint64_t k = 0; k < s->k; k++) {
        if (s->format == IFM_GEMM_F32) {
            to[k] = ((const float *)w)[row * s->k + k];
        } else if (!is_grouped(s)) {
            const uint16_t bits = ((const uint16_t *)w)[row * s->k + k];
            to[k] = s->format == IFM_GEMM_F16 ? ifm_f16_to_f32(bits) : ifm_bf16_to_f32(bits);
        } else {
            const unsigned char *bytes = w;
            const struct gemm_place place = place_of(s, row, k / s->group);
            uint16_t scale;
            memcpy(&scale, bytes + place.scale, sizeof scale);
            to[k] = ifm_f16_to_f32(scale) *
                    (float)get_code(s->format, bytes + place.codes, row % IFM_GEMM_PANEL, (unsigned)(k % s->group));
        }
    }
}
