/* The bytes of a cache: everything that its pages hold, metadata and padding included. */
#include "kv/pages.h"

/* Block tables hold 32-bit page numbers. */
static const uint64_t PAGES_MOST = UINT32_MAX;

uint64_t ifm_kv_pool_bytes(const struct ifm_kv_shape *shape)
{
    uint64_t pages = 0, body = 0, side = 0, total = 0;
    for (uint64_t i = 0; i < shape->pairs; i++)
        if (__builtin_add_overflow(pages, ifm_kv_body_pages(shape, shape->capacity[i]), &pages) || pages > PAGES_MOST)
            return UINT64_MAX;
    const uint64_t page_bytes = ifm_kv_layout_of(shape->format, shape->head_dim).page_bytes;
    if (__builtin_mul_overflow(pages, page_bytes, &body) ||
        __builtin_mul_overflow(shape->pairs, (uint64_t)ifm_kv_side_bytes(shape), &side) ||
        __builtin_add_overflow(body, side, &total))
        return UINT64_MAX;
    return total;
}

/* Bytes of the codes of one page: K, V and the lower bits of promoted channels; no fill of blocks. */
static uint64_t code_bytes(const struct ifm_kv_layout *l)
{
    return (uint64_t)l->tokens * (2 * l->head_dim + l->n_promoted) * l->bits / 8;
}

/* Padding of one page: the fill of V's last block, and of every section up to the next. */
static uint64_t idle_bytes(const struct ifm_kv_layout *l)
{
    uint64_t used = code_bytes(l);
    if (l->format == IFM_KV_E4M3)
        used += 2 * sizeof(float);
    else if (l->format != IFM_KV_F16)
        used += (2 * l->head_dim + l->tokens) * sizeof(uint16_t) + l->n_promoted;
    return l->page_bytes - used;
}

struct ifm_kv_bytes ifm_kv_bytes_of(const struct ifm_kv_shape *shape, const uint64_t *lengths)
{
    const struct ifm_kv_layout body = ifm_kv_layout_of(shape->format, shape->head_dim);
    const uint64_t token = 4 * (uint64_t)shape->head_dim, side = ifm_kv_side_bytes(shape);
    struct ifm_kv_bytes sum = {.side = shape->pairs * side};
    for (uint64_t i = 0; i < shape->pairs; i++) {
        const uint64_t pages = ifm_kv_body_pages(shape, lengths[i]);
        sum.codes += pages * code_bytes(&body);
        sum.metadata += pages * (body.page_bytes - code_bytes(&body));
        sum.padding += pages * idle_bytes(&body);
        if (shape->format == IFM_KV_F16)
            sum.padding += (pages * IFM_KV_PAGE - lengths[i]) * token;
        else
            sum.padding += side - (lengths[i] - pages * IFM_KV_PAGE) * token;
        sum.plain += lengths[i] * token;
    }
    sum.total = sum.codes + sum.metadata + sum.side;
    return sum;
}
