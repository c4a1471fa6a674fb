/* How many pages a length takes: shared by the cache and the count of its bytes. Pure functions. */
#ifndef IFM_KV_PAGES_H
#define IFM_KV_PAGES_H

#include "kv/cache.h"

/* Pages that have left the ring after r tokens beyond the sink: all whole pages but the newest. */
static inline uint64_t ifm_kv_left_ring(uint64_t r)
{
    const uint64_t whole = r / IFM_KV_PAGE;
    return whole < 2 ? 0 : whole - 1;
}

/* Tokens in the sink once the pair is long enough: none in f16. */
static inline unsigned ifm_kv_sink_of(const struct ifm_kv_shape *shape)
{
    return shape->format == IFM_KV_F16 ? 0 : shape->sink;
}

/* Body pages of a pair of `length` tokens. */
static inline uint64_t ifm_kv_body_pages(const struct ifm_kv_shape *shape, uint64_t length)
{
    const unsigned sink = ifm_kv_sink_of(shape);
    if (shape->format == IFM_KV_F16)
        return length / IFM_KV_PAGE + (length % IFM_KV_PAGE != 0);
    return length <= sink ? 0 : ifm_kv_left_ring(length - sink);
}

/* Bytes of the sink and ring pages of one pair. */
static inline size_t ifm_kv_side_bytes(const struct ifm_kv_shape *shape)
{
    if (shape->format == IFM_KV_F16)
        return 0;
    const size_t sink = shape->sink > 0 ? ifm_kv_sink_layout(shape->head_dim).page_bytes : 0;
    return sink + 2 * ifm_kv_layout_of(IFM_KV_F16, shape->head_dim).page_bytes;
}

#endif
