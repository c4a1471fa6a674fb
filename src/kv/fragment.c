/* Where the sections of a device's pages lie, and whole pages from one order to the other. */
#include "kv/fragment.h"

#include <string.h>

struct ifm_kv_fragment ifm_kv_fragment_of(const struct ifm_kv_layout *layout)
{
    const uint32_t dim = layout->head_dim, bits = layout->bits, promoted = layout->n_promoted;
    struct ifm_kv_fragment l = {.head_dim = dim,
                                .bits = bits,
                                .chunk = bits == 8   ? 32
                                         : bits == 4 ? 64
                                                     : 128,
                                .floats = layout->format == IFM_KV_E4M3,
                                .page_bytes = (uint32_t)layout->page_bytes,
                                .c_k_scale = (uint32_t)layout->k_scale,
                                .c_k_zero = (uint32_t)layout->k_zero,
                                .c_v_scale = (uint32_t)layout->v_scale,
                                .c_promoted = (uint32_t)layout->promoted,
                                .c_k_codes = (uint32_t)layout->k_codes,
                                .c_k_low = (uint32_t)layout->k_low,
                                .c_v_codes = (uint32_t)layout->v_codes};
    l.k_zero = l.floats ? 0 : 2 * dim;
    l.v_scale = l.floats ? IFM_KV_LINE : 0;
    l.chunks = l.floats ? 2 * IFM_KV_LINE : 4 * dim;
    if (promoted > 0) {
        l.k_low = l.chunks;
        l.promoted = l.k_low + 4 * dim;
        l.chunks = l.promoted + IFM_KV_LINE;
    }
    l.codes = l.chunk * dim * bits / 8;
    l.chunk_bytes = 2 * l.codes + (l.floats ? 0 : 2 * l.chunk);
    l.end = l.chunks + IFM_KV_PAGE / l.chunk * l.chunk_bytes;
    return l;
}

void ifm_kv_pages_to_fragments(const struct ifm_kv_fragment *l, const void *canonical, void *out, uint64_t pages)
{
    for (uint64_t page = 0; page < pages; page++) {
        const unsigned char *from = (const unsigned char *)canonical + page * l->page_bytes;
        unsigned char *to = (unsigned char *)out + page * l->page_bytes;
        for (uint32_t at = 0; at < l->page_bytes; at += 4) {
            const uint32_t word = ifm_kv_to_fragment(l, from, at);
            memcpy(to + at, &word, sizeof word);
        }
    }
}

void ifm_kv_pages_to_canonical(const struct ifm_kv_fragment *l, const void *fragments, void *out, uint64_t pages)
{
    for (uint64_t page = 0; page < pages; page++) {
        const unsigned char *from = (const unsigned char *)fragments + page * l->page_bytes;
        unsigned char *to = (unsigned char *)out + page * l->page_bytes;
        for (uint32_t at = 0; at < l->page_bytes; at += 4) {
            const uint32_t word = ifm_kv_to_canonical(l, from, at);
            memcpy(to + at, &word, sizeof word);
        }
    }
}

/* Where the value of a token and channel lies in a canonical section of f16, in values. */
static size_t place_k(const struct ifm_kv_layout *l, size_t t, size_t d)
{
    return (t / IFM_KV_WIDE * l->head_dim + d) * IFM_KV_WIDE + t % IFM_KV_WIDE;
}

static size_t place_v(const struct ifm_kv_layout *l, size_t t, size_t d)
{
    const size_t left = l->head_dim - d / IFM_KV_WIDE * IFM_KV_WIDE, width = left < IFM_KV_WIDE ? left : IFM_KV_WIDE;
    return d / IFM_KV_WIDE * IFM_KV_WIDE * l->tokens + t * width + d % IFM_KV_WIDE;
}

void ifm_kv_page_to_side(const struct ifm_kv_layout *l, const void *page, uint16_t *k, uint16_t *v)
{
    const unsigned char *from = page;
    for (size_t t = 0; t < l->tokens; t++)
        for (size_t d = 0; d < l->head_dim; d++) {
            memcpy(k + t * l->head_dim + d, from + l->k_codes + 2 * place_k(l, t, d), sizeof *k);
            memcpy(v + t * l->head_dim + d, from + l->v_codes + 2 * place_v(l, t, d), sizeof *v);
        }
}

void ifm_kv_side_to_page(const struct ifm_kv_layout *l, const uint16_t *k, const uint16_t *v, void *page)
{
    unsigned char *to = page;
    for (size_t t = 0; t < l->tokens; t++)
        for (size_t d = 0; d < l->head_dim; d++) {
            memcpy(to + l->k_codes + 2 * place_k(l, t, d), k + t * l->head_dim + d, sizeof *k);
            memcpy(to + l->v_codes + 2 * place_v(l, t, d), v + t * l->head_dim + d, sizeof *v);
        }
}
