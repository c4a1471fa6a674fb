/* The elastic KV cache: block tables, lengths, and how tokens move from sink and ring into encoded pages.
 *
 * The pair's length alone determines where a token lies. With r = length less the sink: the token r lies in ring page r
 * / IFM_KV_PAGE % 2; whole pages but the newest one leave the ring, so r / IFM_KV_PAGE - 1 pages are encoded. Unused
 * slots of f16 pages hold zeros: a page is cleared when its slot 0 is written. */
#include "kv/cache.h"

#include "base/random.h"
#include "kv/rows.h"

#include <stdlib.h>
#include <string.h>

struct ifm_kv_cache {
    struct ifm_kv_layout body, sink, ring;
    enum ifm_kv_format format;
    uint64_t pairs;
    unsigned sink_tokens;
    ifm_kv_encode_fn *encode;
    unsigned char *pool, *side; /* side: after the body pages, per pair one sink page (or none) and two ring pages */
    size_t side_bytes;          /* of one pair */
    size_t ring_at;             /* of the first ring page within them */
    uint64_t *first;            /* [pairs + 1] into `table` */
    uint32_t *table;
    uint64_t *length;          /* [pairs] tokens */
    uint64_t *encoded;         /* [pairs] compressed pages written */
    uint64_t *saved;           /* [pairs] tokens; NULL before save */
    unsigned char *saved_ring; /* [pairs] two ring pages */
};

/* Pages that have left the ring after r tokens beyond the sink: all whole pages but the newest. */
static uint64_t left_ring(uint64_t r)
{
    const uint64_t whole = r / IFM_KV_PAGE;
    return whole < 2 ? 0 : whole - 1;
}

/* Tokens in the sink once the pair is long enough: none in f16. */
static unsigned sink_of(const struct ifm_kv_shape *shape)
{
    return shape->format == IFM_KV_F16 ? 0 : shape->sink;
}

uint64_t ifm_kv_body_pages(const struct ifm_kv_shape *shape, uint64_t length)
{
    const unsigned sink = sink_of(shape);
    if (shape->format == IFM_KV_F16)
        return length / IFM_KV_PAGE + (length % IFM_KV_PAGE != 0);
    return length <= sink ? 0 : left_ring(length - sink);
}

/* Bytes of the sink and ring pages of one pair. */
static size_t side_bytes_of(const struct ifm_kv_shape *shape)
{
    if (shape->format == IFM_KV_F16)
        return 0;
    const size_t sink = shape->sink > 0 ? ifm_kv_sink_layout(shape->head_dim).page_bytes : 0;
    return sink + 2 * ifm_kv_layout_of(IFM_KV_F16, shape->head_dim).page_bytes;
}

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
        __builtin_mul_overflow(shape->pairs, (uint64_t)side_bytes_of(shape), &side) ||
        __builtin_add_overflow(body, side, &total))
        return UINT64_MAX;
    return total;
}

static enum ifm_status refuse(struct ifm_error *error, const char *hint, const char *what)
{
    return ifm_fail(error, IFM_USAGE, "cache", hint, "%s", what);
}

static enum ifm_status check(const struct ifm_kv_shape *s, const void *pool, struct ifm_error *error)
{
    if (s->head_dim < 32 || s->head_dim > IFM_KV_DIM_MOST || s->head_dim % 32 != 0)
        return refuse(error, "use 32, 64, 96, ... 256", "the head dimension of a cache is a multiple of 32 up to 256");
    if ((unsigned)s->format >= IFM_KV_FORMATS || s->sink > IFM_KV_WIDE)
        return refuse(error, "use a format of the list and a sink of 0 .. 64",
                      "unknown format, or the sink is too long");
    if (ifm_kv_pool_bytes(s) == UINT64_MAX)
        return refuse(error, "use fewer pairs or a shorter capacity", "the cache has too many pages");
    if (pool == NULL || (uintptr_t)pool % IFM_KV_LINE != 0)
        return ifm_fail(error, IFM_INTERNAL, "cache", NULL, "the pool of a cache must start at a multiple of 64 bytes");
    return IFM_OK;
}

void ifm_kv_deal_out(const struct ifm_kv_shape *shape, uint64_t *first, uint32_t *table)
{
    first[0] = 0;
    for (uint64_t i = 0; i < shape->pairs; i++)
        first[i + 1] = first[i] + ifm_kv_body_pages(shape, shape->capacity[i]);
    const uint64_t n = first[shape->pairs];
    for (uint64_t i = 0; i < n && table != NULL; i++)
        table[i] = (uint32_t)i;
    struct ifm_random random = ifm_random_start(shape->seed, 0x6b76);
    for (uint64_t i = n; shape->paged && table != NULL && i > 1; i--) { /* Fisher and Yates */
        const uint32_t j = ifm_random_below(&random, (uint32_t)i), page = table[i - 1];
        table[i - 1] = table[j];
        table[j] = page;
    }
}

enum ifm_status ifm_kv_cache_create(const struct ifm_kv_shape *shape, ifm_kv_encode_fn *encode, void *pool,
                                    struct ifm_kv_cache **out, struct ifm_error *error)
{
    *out = NULL;
    IFM_TRY(check(shape, pool, error));
    struct ifm_kv_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL)
        return ifm_fail(error, IFM_INTERNAL, "cache", NULL, "out of memory");
    cache->format = shape->format;
    cache->pairs = shape->pairs;
    cache->body = ifm_kv_layout_of(shape->format, shape->head_dim);
    cache->sink = ifm_kv_sink_layout(shape->head_dim);
    cache->ring = ifm_kv_layout_of(IFM_KV_F16, shape->head_dim);
    cache->sink_tokens = sink_of(shape);
    cache->side_bytes = side_bytes_of(shape);
    cache->ring_at = cache->sink_tokens > 0 ? cache->sink.page_bytes : 0;
    cache->encode = encode;
    cache->pool = pool;
    cache->first = calloc(shape->pairs + 1, sizeof *cache->first);
    cache->length = calloc(shape->pairs + 1, sizeof *cache->length);
    cache->encoded = calloc(shape->pairs + 1, sizeof *cache->encoded);
    if (cache->first == NULL || cache->length == NULL || cache->encoded == NULL) {
        ifm_kv_cache_destroy(cache);
        return ifm_fail(error, IFM_INTERNAL, "cache", NULL, "out of memory");
    }
    ifm_kv_deal_out(shape, cache->first, NULL);
    cache->side = cache->pool + cache->first[shape->pairs] * cache->body.page_bytes;
    cache->table = calloc(cache->first[shape->pairs] + 1, sizeof *cache->table);
    if (cache->table == NULL) {
        ifm_kv_cache_destroy(cache);
        return ifm_fail(error, IFM_INTERNAL, "cache", NULL, "out of memory");
    }
    ifm_kv_deal_out(shape, cache->first, cache->table);
    *out = cache;
    return IFM_OK;
}

void ifm_kv_cache_destroy(struct ifm_kv_cache *cache)
{
    if (cache == NULL)
        return;
    free(cache->first);
    free(cache->table);
    free(cache->length);
    free(cache->encoded);
    free(cache->saved);
    free(cache->saved_ring);
    free(cache);
}

static unsigned char *sink_page(const struct ifm_kv_cache *cache, uint64_t pair)
{
    return cache->side + pair * cache->side_bytes;
}

/* The ring page of the pair that holds page `number`. */
static unsigned char *ring_page(const struct ifm_kv_cache *cache, uint64_t pair, uint64_t number)
{
    return cache->side + pair * cache->side_bytes + cache->ring_at + number % 2 * cache->ring.page_bytes;
}

static unsigned char *body_page(const struct ifm_kv_cache *cache, uint64_t pair, uint64_t number)
{
    return cache->pool + cache->table[cache->first[pair] + number] * cache->body.page_bytes;
}

static void put(const struct ifm_kv_layout *layout, void *page, unsigned slot, const float *k, const float *v)
{
    if (slot == 0)
        ifm_kv_page_blank(layout, page, 0);
    ifm_kv_page_put(layout, page, slot, k, v);
}

/* Encode the full page `number` of the ring. The rows lie on the stack, because many threads may use different
 * pairs. */
static void leave_ring(struct ifm_kv_cache *cache, uint64_t pair, uint64_t number)
{
    _Alignas(IFM_KV_LINE) float k[IFM_KV_PAGE * IFM_KV_DIM_MOST], v[IFM_KV_PAGE * IFM_KV_DIM_MOST];
    ifm_kv_page_rows(&cache->ring, ring_page(cache, pair, number), k, v);
    cache->encode(&cache->body, k, v, IFM_KV_PAGE, body_page(cache, pair, number));
    cache->encoded[pair]++;
}

void ifm_kv_append(struct ifm_kv_cache *cache, uint64_t pair, const float *k, const float *v)
{
    const uint64_t at = cache->length[pair]++;
    if (cache->format == IFM_KV_F16) {
        put(&cache->body, body_page(cache, pair, at / IFM_KV_PAGE), at % IFM_KV_PAGE, k, v);
        return;
    }
    if (at < cache->sink_tokens) {
        put(&cache->sink, sink_page(cache, pair), (unsigned)at, k, v);
        return;
    }
    const uint64_t r = at - cache->sink_tokens, page = r / IFM_KV_PAGE;
    put(&cache->ring, ring_page(cache, pair, page), r % IFM_KV_PAGE, k, v);
    if ((r + 1) % IFM_KV_PAGE == 0 && page > 0)
        leave_ring(cache, pair, page - 1);
}

/* A whole page of rows straight into page `number` of the body. */
static void append_page(struct ifm_kv_cache *cache, uint64_t pair, uint64_t number, const float *k, const float *v)
{
    const size_t values = (size_t)IFM_KV_PAGE * cache->body.head_dim;
    if (cache->format == IFM_KV_F16) { /* the encoder rounds */
        cache->encode(&cache->body, k, v, IFM_KV_PAGE, body_page(cache, pair, number));
        return;
    }
    _Alignas(IFM_KV_LINE) float rows_k[IFM_KV_PAGE * IFM_KV_DIM_MOST], rows_v[IFM_KV_PAGE * IFM_KV_DIM_MOST];
    ifm_kv_round(k, values, rows_k);
    ifm_kv_round(v, values, rows_v);
    cache->encode(&cache->body, rows_k, rows_v, IFM_KV_PAGE, body_page(cache, pair, number));
    cache->encoded[pair]++;
}

/* Whether page `number`, whose first token is the next one, will be in the body when `left` tokens have been appended.
 * Its predecessor leaves the ring before it. */
static bool goes_through(const struct ifm_kv_cache *cache, uint64_t left)
{
    return left >= (cache->format == IFM_KV_F16 ? 1 : 2) * (uint64_t)IFM_KV_PAGE;
}

void ifm_kv_append_many(struct ifm_kv_cache *cache, uint64_t pair, uint64_t tokens, const float *k, const float *v)
{
    const size_t dim = cache->body.head_dim;
    bool in_ring = true; /* is the page before the next one? */
    for (uint64_t i = 0; i < tokens;) {
        const uint64_t at = cache->length[pair];
        const uint64_t r = at - cache->sink_tokens;
        if (at >= cache->sink_tokens && r % IFM_KV_PAGE == 0 && goes_through(cache, tokens - i)) {
            const uint64_t page = r / IFM_KV_PAGE;
            if (cache->format != IFM_KV_F16 && in_ring && page > 0)
                leave_ring(cache, pair, page - 1);
            append_page(cache, pair, page, k + i * dim, v + i * dim);
            cache->length[pair] += IFM_KV_PAGE;
            in_ring = cache->format == IFM_KV_F16;
            i += IFM_KV_PAGE;
        } else if (!in_ring && (r + 1) % IFM_KV_PAGE == 0) { /* the page before it is in the body already */
            put(&cache->ring, ring_page(cache, pair, r / IFM_KV_PAGE), r % IFM_KV_PAGE, k + i * dim, v + i * dim);
            cache->length[pair]++;
            in_ring = true;
            i++;
        } else {
            ifm_kv_append(cache, pair, k + i * dim, v + i * dim);
            i++;
        }
    }
}

void ifm_kv_adopt(struct ifm_kv_cache *cache, uint64_t pair, uint64_t tokens)
{
    cache->length[pair] = tokens; /* it determines where a token lies */
}

enum ifm_status ifm_kv_save(struct ifm_kv_cache *cache, struct ifm_error *error)
{
    if (cache->saved != NULL)
        return ifm_fail(error, IFM_INTERNAL, "cache", NULL, "the state of a cache is saved once");
    const size_t ring = cache->format == IFM_KV_F16 ? 0 : 2 * cache->ring.page_bytes;
    cache->saved = calloc(cache->pairs + 1, sizeof *cache->saved);
    cache->saved_ring = calloc(cache->pairs + 1, ring + 1);
    if (cache->saved == NULL || cache->saved_ring == NULL)
        return ifm_fail(error, IFM_INTERNAL, "cache", NULL, "out of memory");
    memcpy(cache->saved, cache->length, cache->pairs * sizeof *cache->saved);
    for (uint64_t pair = 0; pair < cache->pairs; pair++)
        memcpy(cache->saved_ring + pair * ring, ring_page(cache, pair, 0), ring);
    return IFM_OK;
}

/* Tokens of body and sink stay in place; those appended after them are dropped. */
void ifm_kv_restore(struct ifm_kv_cache *cache, uint64_t pair)
{
    const uint64_t length = cache->saved[pair];
    cache->length[pair] = length;
    if (cache->format == IFM_KV_F16) {
        if (length % IFM_KV_PAGE != 0)
            ifm_kv_page_blank(&cache->body, body_page(cache, pair, length / IFM_KV_PAGE), length % IFM_KV_PAGE);
        return;
    }
    if (length < cache->sink_tokens)
        ifm_kv_page_blank(&cache->sink, sink_page(cache, pair), (unsigned)length);
    const size_t ring = 2 * cache->ring.page_bytes;
    memcpy(ring_page(cache, pair, 0), cache->saved_ring + pair * ring, ring);
}

uint64_t ifm_kv_encoded(const struct ifm_kv_cache *cache)
{
    uint64_t pages = 0;
    for (uint64_t pair = 0; pair < cache->pairs; pair++)
        pages += cache->encoded[pair];
    return pages;
}

uint64_t ifm_kv_length(const struct ifm_kv_cache *cache, uint64_t pair)
{
    return cache->length[pair];
}

struct ifm_kv_view ifm_kv_view_of(const struct ifm_kv_cache *cache, uint64_t pair)
{
    const uint64_t length = cache->length[pair];
    struct ifm_kv_view view = {.pool = cache->pool, .table = cache->table + cache->first[pair]};
    if (cache->format == IFM_KV_F16) {
        view.n_body = (length + IFM_KV_PAGE - 1) / IFM_KV_PAGE;
        view.last_tokens = length == 0 ? 0 : (unsigned)((length - 1) % IFM_KV_PAGE + 1);
        return view;
    }
    const uint64_t sink = length < cache->sink_tokens ? length : cache->sink_tokens, r = length - sink;
    view.n_body = left_ring(r);
    view.last_tokens = view.n_body == 0 ? 0 : IFM_KV_PAGE;
    if (sink > 0)
        view.sink = (struct ifm_kv_piece){sink_page(cache, pair), (unsigned)sink};
    uint64_t left = r - view.n_body * IFM_KV_PAGE;
    for (unsigned i = 0; i < 2 && left > 0; i++) {
        const unsigned tokens = left < IFM_KV_PAGE ? (unsigned)left : IFM_KV_PAGE;
        view.ring[i] = (struct ifm_kv_piece){ring_page(cache, pair, view.n_body + i), tokens};
        left -= tokens;
    }
    return view;
}

const struct ifm_kv_layout *ifm_kv_body_layout(const struct ifm_kv_cache *cache)
{
    return &cache->body;
}

const struct ifm_kv_layout *ifm_kv_sink_layout_of(const struct ifm_kv_cache *cache)
{
    return &cache->sink;
}

const struct ifm_kv_layout *ifm_kv_ring_layout(const struct ifm_kv_cache *cache)
{
    return &cache->ring;
}
