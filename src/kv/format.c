/* Where the sections of a page lie, and the reference reading of its bytes. */
#include "kv/format.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

static const char *const names[IFM_KV_FORMATS] = {"f16", "int8", "e4m3", "int4", "int2"};
static const unsigned bits_of[IFM_KV_FORMATS] = {16, 8, 8, 4, 2};

const char *ifm_kv_format_name(enum ifm_kv_format format)
{
    return names[format];
}

static size_t up(size_t n, size_t grain)
{
    return (n + grain - 1) / grain * grain;
}

/* Append a section of `bytes` to the page. */
static size_t add(struct ifm_kv_layout *layout, size_t bytes)
{
    size_t at = layout->page_bytes;
    layout->page_bytes = up(at + bytes, IFM_KV_LINE);
    return at;
}

static void lay_out_plain(struct ifm_kv_layout *l, size_t value_bytes)
{
    if (l->format == IFM_KV_E4M3) {
        l->k_scale = add(l, sizeof(float));
        l->v_scale = add(l, sizeof(float));
    }
    l->k_codes = add(l, (size_t)l->tokens * l->head_dim * value_bytes);
    l->v_codes = add(l, (size_t)l->tokens * l->head_dim * value_bytes);
}

static void lay_out_codes(struct ifm_kv_layout *l)
{
    const size_t dim = l->head_dim, block = 16 * 8 / l->bits;
    l->k_scale = add(l, dim * sizeof(uint16_t));
    l->k_zero = add(l, dim * sizeof(uint16_t));
    l->v_scale = add(l, l->tokens * sizeof(uint16_t));
    if (l->n_promoted > 0)
        l->promoted = add(l, l->n_promoted);
    l->k_codes = add(l, l->tokens * dim * l->bits / 8);
    if (l->n_promoted > 0)
        l->k_low = add(l, (size_t)l->tokens * l->n_promoted * l->bits / 8);
    l->v_codes = add(l, l->tokens * up(dim, block) * l->bits / 8);
}

struct ifm_kv_layout ifm_kv_layout_of(enum ifm_kv_format format, unsigned head_dim)
{
    struct ifm_kv_layout l = {.format = format, .head_dim = head_dim, .tokens = IFM_KV_PAGE, .bits = bits_of[format]};
    l.rotated = format == IFM_KV_INT4 || format == IFM_KV_INT2;
    l.n_promoted = format == IFM_KV_INT2 ? head_dim / 8 : 0;
    if (format == IFM_KV_F16 || format == IFM_KV_E4M3)
        lay_out_plain(&l, l.bits / 8);
    else
        lay_out_codes(&l);
    return l;
}

struct ifm_kv_layout ifm_kv_sink_layout(unsigned head_dim)
{
    struct ifm_kv_layout l = {.format = IFM_KV_F16, .head_dim = head_dim, .tokens = IFM_KV_WIDE, .bits = 16};
    lay_out_plain(&l, sizeof(uint16_t));
    return l;
}

void ifm_kv_rotate(float *x, unsigned head_dim, size_t n)
{
    const size_t size = head_dim & -head_dim; /* the largest power of two that divides it */
    const double scale = 1.0 / sqrt((double)size);
    double y[IFM_KV_DIM_MOST];
    for (size_t at = 0; at < n * head_dim; at += size) {
        for (size_t i = 0; i < size; i++)
            y[i] = (double)x[at + i];
        for (size_t half = 1; half < size; half *= 2)
            for (size_t i = 0; i < size; i++)
                if ((i & half) == 0) {
                    const double a = y[i], b = y[i + half];
                    y[i] = a + b;
                    y[i + half] = a - b;
                }
        for (size_t i = 0; i < size; i++)
            x[at + i] = (float)(y[i] * scale);
    }
}

static uint16_t u16_at(const unsigned char *page, size_t section, size_t i)
{
    uint16_t value;
    memcpy(&value, page + section + i * sizeof value, sizeof value);
    return value;
}

static float f32_at(const unsigned char *page, size_t section)
{
    float value;
    memcpy(&value, page + section, sizeof value);
    return value;
}

/* The code of `inner` (token of K, channel of V) and `outer` (channel of K, token of V), of which there are `n_outer`;
 * see "Order of the codes". */
static unsigned code_at(const unsigned char *codes, unsigned bits, size_t inner, size_t outer, size_t n_outer)
{
    const size_t block = 16 * 8 / bits, in_block = inner % block, field = in_block / 16, lane = in_block % 16;
    const size_t byte = (inner / block * (n_outer / 4) + outer / 4) * 64 + lane * 4 + outer % 4;
    return (unsigned)codes[byte] >> field * bits & ((1U << bits) - 1);
}

/* The place of a value in the f16 and e4m3 sections: token t, channel d. */
static size_t plain_k(const struct ifm_kv_layout *l, size_t t, size_t d)
{
    return (t / IFM_KV_WIDE * l->head_dim + d) * IFM_KV_WIDE + t % IFM_KV_WIDE;
}

static size_t plain_v(const struct ifm_kv_layout *l, size_t t, size_t d)
{
    const size_t block = d / IFM_KV_WIDE, left = l->head_dim - block * IFM_KV_WIDE;
    const size_t width = left < IFM_KV_WIDE ? left : IFM_KV_WIDE;
    return block * IFM_KV_WIDE * l->tokens + t * width + d % IFM_KV_WIDE;
}

static float plain_at(const struct ifm_kv_layout *l, const unsigned char *page, size_t section, size_t scale, size_t i)
{
    if (l->format == IFM_KV_F16)
        return ifm_f16_to_f32(u16_at(page, section, i));
    return ifm_e4m3_to_f32(page[section + i]) * f32_at(page, scale);
}

static float coded_k(const struct ifm_kv_layout *l, const unsigned char *page, size_t t, size_t d)
{
    float code = (float)code_at(page + l->k_codes, l->bits, t, d, l->head_dim);
    for (size_t i = 0; i < l->n_promoted; i++)
        if (page[l->promoted + i] == d)
            code = 4.0f * code + (float)code_at(page + l->k_low, l->bits, t, i, l->n_promoted);
    return ifm_f16_to_f32(u16_at(page, l->k_zero, d)) + code * ifm_f16_to_f32(u16_at(page, l->k_scale, d));
}

static float coded_v(const struct ifm_kv_layout *l, const unsigned char *page, size_t t, size_t d)
{
    const unsigned code = code_at(page + l->v_codes, l->bits, d, t, l->tokens);
    const float scale = ifm_f16_to_f32(u16_at(page, l->v_scale, t));
    if (l->bits == 8)
        return (float)(int8_t)code * scale;
    return ((float)code - 0.5f * (float)((1U << l->bits) - 1)) * scale;
}

void ifm_kv_page_read(const struct ifm_kv_layout *l, const void *page, unsigned tokens, float *k, float *v)
{
    const bool plain = l->format == IFM_KV_F16 || l->format == IFM_KV_E4M3;
    for (size_t t = 0; t < tokens; t++)
        for (size_t d = 0; d < l->head_dim; d++) {
            const size_t at = t * l->head_dim + d;
            k[at] = plain ? plain_at(l, page, l->k_codes, l->k_scale, plain_k(l, t, d)) : coded_k(l, page, t, d);
            v[at] = plain ? plain_at(l, page, l->v_codes, l->v_scale, plain_v(l, t, d)) : coded_v(l, page, t, d);
        }
    if (l->rotated)
        ifm_kv_rotate(v, l->head_dim, tokens);
}
