/* Tokens and rows against f16 pages. Loops run over constant counts of 32 so that every compiler vectorises them. */
#include "kv/rows.h"

#include <string.h>

enum { RUN = 32 };

static void halve(const float *from, uint16_t to[RUN])
{
    uint32_t bits[RUN];
    memcpy(bits, from, sizeof bits);
    for (int i = 0; i < RUN; i++)
        to[i] = (uint16_t)ifm_kv_f16_of_bits(bits[i]);
}

static void widen(const uint16_t from[RUN], float *to)
{
    uint32_t bits[RUN];
    for (int i = 0; i < RUN; i++)
        bits[i] = ifm_kv_bits_of_f16(from[i]);
    memcpy(to, bits, sizeof bits);
}

void ifm_kv_round(const float *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i += RUN) {
        uint16_t half[RUN];
        halve(from + i, half);
        widen(half, to + i);
    }
}

static uint16_t *k_of(const struct ifm_kv_layout *l, void *page)
{
    return (uint16_t *)(void *)((unsigned char *)page + l->k_codes);
}

static uint16_t *v_of(const struct ifm_kv_layout *l, void *page)
{
    return (uint16_t *)(void *)((unsigned char *)page + l->v_codes);
}

/* Channels in the block of V that starts at channel d. */
static unsigned width_at(const struct ifm_kv_layout *l, unsigned d)
{
    const unsigned left = l->head_dim - d;
    return left < IFM_KV_WIDE ? left : IFM_KV_WIDE;
}

void ifm_kv_page_put(const struct ifm_kv_layout *l, void *page, unsigned slot, const float *k, const float *v)
{
    uint16_t *to_k = k_of(l, page) + (size_t)(slot / IFM_KV_WIDE) * l->head_dim * IFM_KV_WIDE + slot % IFM_KV_WIDE;
    uint16_t half[RUN];
    for (unsigned d = 0; d < l->head_dim; d += RUN) {
        halve(k + d, half);
        for (unsigned i = 0; i < RUN; i++)
            to_k[(size_t)(d + i) * IFM_KV_WIDE] = half[i];
    }
    uint16_t *to_v = v_of(l, page);
    for (unsigned d = 0; d < l->head_dim; d += RUN) {
        const unsigned block = d / IFM_KV_WIDE * IFM_KV_WIDE, width = width_at(l, block);
        halve(v + d, to_v + (size_t)block * l->tokens + (size_t)slot * width + (d - block));
    }
}

/* Eight tokens of RUN channels of K at a time: reads and writes of whole lines, the exchange in a small tile. */
static void k_rows(const struct ifm_kv_layout *l, const uint16_t *from, unsigned at, float *to)
{
    for (unsigned d = 0; d < l->head_dim; d += RUN)
        for (unsigned t = 0; t < IFM_KV_WIDE; t++) {
            uint16_t half[RUN];
            for (unsigned i = 0; i < RUN; i++)
                half[i] = from[(size_t)(d + i) * IFM_KV_WIDE + t];
            widen(half, to + (size_t)(at + t) * l->head_dim + d);
        }
}

void ifm_kv_page_rows(const struct ifm_kv_layout *l, const void *page, float *k, float *v)
{
    const uint16_t *from_k = (const uint16_t *)(const void *)((const unsigned char *)page + l->k_codes);
    const uint16_t *from_v = (const uint16_t *)(const void *)((const unsigned char *)page + l->v_codes);
    for (unsigned at = 0; at < l->tokens; at += IFM_KV_WIDE)
        k_rows(l, from_k + (size_t)at * l->head_dim, at, k);
    for (unsigned block = 0; block < l->head_dim; block += IFM_KV_WIDE) {
        const unsigned width = width_at(l, block);
        for (unsigned t = 0; t < l->tokens; t++)
            for (unsigned d = 0; d < width; d += RUN)
                widen(from_v + (size_t)block * l->tokens + (size_t)t * width + d,
                      v + (size_t)t * l->head_dim + block + d);
    }
}

void ifm_kv_page_blank(const struct ifm_kv_layout *l, void *page, unsigned from)
{
    if (from == 0) {
        memset(page, 0, l->page_bytes);
        return;
    }
    uint16_t *k = k_of(l, page), *v = v_of(l, page);
    for (unsigned at = from / IFM_KV_WIDE * IFM_KV_WIDE; at < l->tokens; at += IFM_KV_WIDE) {
        const unsigned used = at < from ? from - at : 0;
        for (unsigned d = 0; d < l->head_dim; d++)
            memset(k + ((size_t)at * l->head_dim + (size_t)d * IFM_KV_WIDE + used), 0,
                   (IFM_KV_WIDE - used) * sizeof *k);
    }
    for (unsigned block = 0; block < l->head_dim; block += IFM_KV_WIDE) {
        const unsigned width = width_at(l, block);
        memset(v + (size_t)block * l->tokens + (size_t)from * width, 0, (size_t)(l->tokens - from) * width * sizeof *v);
    }
}
