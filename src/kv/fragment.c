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
