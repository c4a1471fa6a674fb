/* The elastic KV cache: pages of many (sequence, KV head) pairs of one layer, in one format, with the first and the
 * newest tokens kept in f16.
 *
 * Tokens of a pair, in order: `sink` first ones in f16; body pages of IFM_KV_PAGE tokens in the cache's format; the
 * newest ones in a ring of two f16 pages. A full ring page leaves it, encoded, when the other one is full too: at least
 * `recent` = IFM_KV_PAGE newest tokens are always in f16 once the pair is that long (fewer only while it is shorter). A
 * cache of format f16 has neither sink nor ring: all its pages are body pages, the last one partial. Softmax does not
 * depend on the order of tokens, so a reader takes body, sink and ring one after the other.
 *
 * Owns the block tables and the lengths; memory for the pages comes from the caller (the device's buffers). Nothing
 * here allocates after ifm_kv_cache_create. Thread rule: different pairs may be used by different threads at once. */
#ifndef IFM_KV_CACHE_H
#define IFM_KV_CACHE_H

#include "base/error.h"
#include "kv/format.h"

struct ifm_kv_shape {
    enum ifm_kv_format format;
    unsigned head_dim;
    uint64_t pairs;           /* sequences x KV heads; pair = sequence * kv_heads + head */
    const uint64_t *capacity; /* tokens that each pair may grow to; copied */
    unsigned sink;            /* tokens, 0 .. IFM_KV_WIDE */
    bool paged;               /* body pages of all pairs shuffled over the pool (by `seed`); else in order */
    uint64_t seed;
};

struct ifm_kv_cache; /* opaque, except for the view that kernels read, below */

/* Body pages of a pair of `length` tokens. */
uint64_t ifm_kv_body_pages(const struct ifm_kv_shape *shape, uint64_t length);
/* Bytes that ifm_kv_cache_create will need for its pages: body, sink and ring together, metadata and padding included.
 * UINT64_MAX on overflow. */
uint64_t ifm_kv_pool_bytes(const struct ifm_kv_shape *shape);
/* Where the body pages of the pairs lie: first[pairs + 1] into the table, and table[first[pairs]], a page each; NULL =
 * `first` alone is asked for, and says how long the table is. */
void ifm_kv_deal_out(const struct ifm_kv_shape *shape, uint64_t *first, uint32_t *table);
/* `pool`: ifm_kv_pool_bytes bytes, 64-byte aligned, zeroed, owned by the caller and outliving the cache. `encode`
 * writes body pages ("kv_encode.<format>" in the dispatch table). */
IFM_CHECKED enum ifm_status ifm_kv_cache_create(const struct ifm_kv_shape *shape, ifm_kv_encode_fn *encode, void *pool,
                                                struct ifm_kv_cache **out, struct ifm_error *error);
void ifm_kv_cache_destroy(struct ifm_kv_cache *cache); /* NULL is allowed; not the pool */

/* Put one token's K and V (head_dim values each, rounded to f16 here) behind the others; encodes a page when one leaves
 * the ring, for which it takes up to 400 KiB of stack. The pair must be shorter than its capacity. */
void ifm_kv_append(struct ifm_kv_cache *cache, uint64_t pair, const float *k, const float *v);
/* The same for many tokens, rows of head_dim; the result is bit for bit that of appending one by one. */
void ifm_kv_append_many(struct ifm_kv_cache *cache, uint64_t pair, uint64_t tokens, const float *k, const float *v);
/* Declare that the pool already holds the pages of `tokens` tokens of this pair: another cache of the same shape wrote
 * them, or the caller copied its pool. Used by layers and arms that hold the same tokens. */
void ifm_kv_adopt(struct ifm_kv_cache *cache, uint64_t pair, uint64_t tokens);
/* Save the state of every pair (lengths and ring contents); restore brings it back exactly, so that the same tokens can
 * be appended again. That rewrites the body pages added since. `save` may be called once. */
IFM_CHECKED enum ifm_status ifm_kv_save(struct ifm_kv_cache *cache, struct ifm_error *error);
void ifm_kv_restore(struct ifm_kv_cache *cache, uint64_t pair);
/* The number of tokens that the pair holds. (Eviction is the caller's choice of which tokens to append.) */
uint64_t ifm_kv_length(const struct ifm_kv_cache *cache, uint64_t pair);

/* Compressed pages that were written since the cache was created, of all pairs. */
uint64_t ifm_kv_encoded(const struct ifm_kv_cache *cache);

/* What a kernel reads for a pair. Body pages: pool + table[i] * layout->page_bytes, i < n_body, all full but, in f16,
 * the last one. Then at most three f16 pieces. */
struct ifm_kv_piece {
    const void *page; /* f16, of layout sink or side */
    unsigned tokens;  /* filled slots, from slot 0 on; 0 = skip */
};
struct ifm_kv_view {
    const unsigned char *pool;
    const uint32_t *table;
    uint64_t n_body;
    unsigned last_tokens; /* of the last body page */
    struct ifm_kv_piece sink, ring[2];
};
struct ifm_kv_view ifm_kv_view_of(const struct ifm_kv_cache *cache, uint64_t pair);
const struct ifm_kv_layout *ifm_kv_body_layout(const struct ifm_kv_cache *cache);
const struct ifm_kv_layout *ifm_kv_sink_layout_of(const struct ifm_kv_cache *cache);
const struct ifm_kv_layout *ifm_kv_ring_layout(const struct ifm_kv_cache *cache);

#endif
