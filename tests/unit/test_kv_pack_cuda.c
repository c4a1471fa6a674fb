/* Pages that a GPU packs are those of the processor, byte by byte: of every format and head dimension, full and ragged,
 * and of a cache that grew token by token, or at once. Runs on a GPU too: tools/portable.sh carries it there. */
#include <cmocka.h>

#include "device/cuda.h"
#include "kernel/cpu/dispatch.h"
#include "kv/cache.h"
#include "kv_pack_rows.h"
#include "workload/decode/cuda_grow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 96, VALUES = IFM_KV_PAGE * IFM_KV_DIM_MOST, SINK = 64 };

static const enum ifm_kv_format formats[] = {IFM_KV_INT8, IFM_KV_E4M3, IFM_KV_INT4, IFM_KV_INT2};
static const unsigned ragged[] = {128, 127, 65, 64, 63, 17, 16, 15, 2, 1, 0};

/* On the device, as large as any test needs. */
struct packing {
    struct ifm_device *device;
    uint16_t *rows;
    unsigned char *pages;
    struct ifm_kv_pack_job *jobs;
};

static struct ifm_error error;

static void *buffer(struct ifm_device *device, const char *name, size_t bytes)
{
    void *at;
    bool fresh;
    if (device->ops->buffer(device, name, bytes, &at, &fresh, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return at;
}

static int setup(void **context)
{
    static struct packing p;
    const struct ifm_device_options options = {.threads = 1};
    if (ifm_device_cuda.open(&options, &p.device, &error) != IFM_OK) {
        print_error("%s\n", error.message);
        return -1;
    }
    p.rows = buffer(p.device, "rows", (size_t)JOBS * 2 * VALUES * sizeof *p.rows);
    p.pages = buffer(p.device, "pages", (size_t)(JOBS + 1) * (2 * VALUES + 4096));
    p.jobs = buffer(p.device, "jobs", JOBS * sizeof *p.jobs);
    *context = &p;
    return 0;
}

static int teardown(void **context)
{
    struct packing *p = *context;
    p->device->ops->close(p->device);
    return 0;
}

static ifm_kv_encode_fn *encoder(enum ifm_kv_format format)
{
    char op[32];
    snprintf(op, sizeof op, "kv_encode.%s", ifm_kv_format_name(format));
    return ifm_kernel_find(op, "auto")->fn.kv_encode;
}

static void *room(size_t bytes)
{
    void *at = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(at);
    return at;
}

static void widen(const uint16_t *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = ifm_f16_to_f32(from[i]);
}

/* What the device makes of `n` jobs, read into `out` with a page that nobody writes behind the last one. */
static void pack(const struct packing *p, const struct ifm_kv_layout *l, const uint16_t *rows, size_t values,
                 const struct ifm_kv_pack_job *jobs, unsigned n, unsigned pages, unsigned char *out)
{
    struct ifm_decode_pack pack;
    const size_t bytes = (pages + 1) * l->page_bytes;
    if (ifm_decode_pack_open(p->device, l, &pack, &error) != IFM_OK ||
        ifm_cuda_write(p->device, p->rows, rows, values * sizeof *rows, &error) != IFM_OK ||
        ifm_cuda_write(p->device, p->jobs, jobs, n * sizeof *jobs, &error) != IFM_OK)
        fail_msg("%s", error.message);
    ifm_cuda_fill(p->device, p->pages, 0x55555555, bytes / 4);
    ifm_decode_pack_launch(p->device, &pack, p->rows, p->pages, p->jobs, n, 1);
    if (ifm_cuda_read(p->device, out, p->pages, bytes, &error) != IFM_OK)
        fail_msg("%s", error.message);
}

static void same_bytes(const struct ifm_kv_layout *l, const unsigned char *got, const unsigned char *expected,
                       unsigned page, const char *what)
{
    for (size_t i = 0; i < l->page_bytes; i++)
        if (got[i] != expected[i])
            fail_msg("%s, head_dim %u, page %u, %s: byte %zu is %02x, not %02x", ifm_kv_format_name(l->format),
                     l->head_dim, page, what, i, got[i], expected[i]);
}

/* Every kind of rows, full and ragged, each a page. Pages come in another order than their rows. */
static void pages_of(const struct packing *p, enum ifm_kv_format format, unsigned dim)
{
    const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
    const size_t values = (size_t)IFM_KV_PAGE * dim;
    uint16_t *rows = room(JOBS * 2 * values * sizeof *rows);
    unsigned char *got = room((JOBS + 1) * l.page_bytes), *expected = room(l.page_bytes);
    float *wide = room(2 * values * sizeof *wide);
    struct ifm_kv_pack_job jobs[JOBS];
    char what[48];
    memset(rows, 0x7e, JOBS * 2 * values * sizeof *rows); /* NaN, where a job has no rows */
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct ifm_kv_pack_job){i * 2 * values, i * 35 % JOBS, i < ROWS_KINDS ? 128 : ragged[i % 11]};
        rows_fill((int)(i % ROWS_KINDS), dim, jobs[i].tokens, i + dim, rows + jobs[i].from,
                  rows + jobs[i].from + values);
    }
    pack(p, &l, rows, JOBS * 2 * values, jobs, JOBS, JOBS, got);
    for (unsigned i = 0; i < JOBS; i++) {
        widen(rows + jobs[i].from, 2 * values, wide);
        memset(expected, 0xaa, l.page_bytes);
        encoder(format)(&l, wide, wide + values, jobs[i].tokens, expected);
        snprintf(what, sizeof what, "kind %u, %u tokens", i % ROWS_KINDS, jobs[i].tokens);
        same_bytes(&l, got + jobs[i].to * l.page_bytes, expected, i, what);
    }
    memset(expected, 0x55, l.page_bytes);
    same_bytes(&l, got + JOBS * l.page_bytes, expected, JOBS, "behind the last one");
    free(rows);
    free(got);
    free(expected);
    free(wide);
}

static void pages_are_the_processors(void **context)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned dim = 32; dim <= IFM_KV_DIM_MOST; dim += 32)
            pages_of(*context, formats[i], dim);
}

/* ---- caches ---- */

static const uint64_t lengths[] = {SINK + 256, SINK + 255, SINK + 5 * 128 + 37, 40, SINK + 3 * 128 + 1, SINK + 1024};
enum { PAIRS = sizeof lengths / sizeof *lengths };

struct grown {
    unsigned char *one_by_one, *at_once;
    struct ifm_kv_cache *cache;
    size_t pages;
};

/* The same tokens, appended to two caches of the processor. */
static struct grown grow(const struct ifm_kv_layout *l, float *const *k, float *const *v)
{
    const struct ifm_kv_shape shape = {l->format, l->head_dim, PAIRS, lengths, SINK, true, 7};
    const size_t bytes = ifm_kv_pool_bytes(&shape);
    struct grown g = {room(bytes), room(bytes), NULL, 0};
    struct ifm_kv_cache *other;
    memset(g.one_by_one, 0, bytes);
    memset(g.at_once, 0, bytes);
    assert_int_equal(ifm_kv_cache_create(&shape, encoder(l->format), g.one_by_one, &g.cache, &error), IFM_OK);
    assert_int_equal(ifm_kv_cache_create(&shape, encoder(l->format), g.at_once, &other, &error), IFM_OK);
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        for (uint64_t t = 0; t < lengths[pair]; t++)
            ifm_kv_append(g.cache, pair, k[pair] + t * l->head_dim, v[pair] + t * l->head_dim);
        ifm_kv_append_many(other, pair, lengths[pair], k[pair], v[pair]);
        g.pages += ifm_kv_body_pages(&shape, lengths[pair]);
    }
    assert_memory_equal(g.one_by_one, g.at_once, g.pages * l->page_bytes); /* rings hold more than is read */
    ifm_kv_cache_destroy(other);
    return g;
}

static void pools_of(const struct packing *p, enum ifm_kv_format format, unsigned dim)
{
    const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
    const size_t page = (size_t)IFM_KV_PAGE * dim;
    uint16_t *rows = room(JOBS * 2 * page * sizeof *rows);
    float *k[PAIRS], *v[PAIRS];
    struct ifm_kv_pack_job jobs[JOBS];
    unsigned n = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        const size_t values = lengths[pair] * dim;
        uint16_t *k16 = room(values * 2), *v16 = room(values * 2);
        rows_fill(pair % 2 == 0 ? ROWS_OUTLIERS : ROWS_SPOILED, dim, (uint32_t)lengths[pair], pair, k16, v16);
        k[pair] = room(values * sizeof(float));
        v[pair] = room(values * sizeof(float));
        widen(k16, values, k[pair]);
        widen(v16, values, v[pair]);
        for (uint64_t at = SINK; at + 2 * IFM_KV_PAGE <= lengths[pair]; at += IFM_KV_PAGE) {
            jobs[n] = (struct ifm_kv_pack_job){n * 2 * page, 0, IFM_KV_PAGE};
            memcpy(rows + jobs[n].from, k16 + at * dim, page * 2);
            memcpy(rows + jobs[n++].from + page, v16 + at * dim, page * 2);
        }
        free(k16);
        free(v16);
    }
    const struct grown g = grow(&l, k, v);
    assert_int_equal(n, g.pages);
    unsigned char *got = room((n + 1) * l.page_bytes);
    for (unsigned pair = 0, i = 0; pair < PAIRS; pair++) {
        const struct ifm_kv_view view = ifm_kv_view_of(g.cache, pair);
        for (uint64_t j = 0; j < view.n_body; j++)
            jobs[i++].to = view.table[j];
    }
    pack(p, &l, rows, n * 2 * page, jobs, n, n, got);
    for (unsigned i = 0; i < n; i++)
        same_bytes(&l, got + i * l.page_bytes, g.one_by_one + i * l.page_bytes, i, "of a pool");
    ifm_kv_cache_destroy(g.cache);
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        free(k[pair]);
        free(v[pair]);
    }
    free(g.one_by_one);
    free(g.at_once);
    free(rows);
    free(got);
}

static void body_pages_are_those_of_a_cache_that_grew(void **context)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned dim = 64; dim <= 256; dim += dim == 64 ? 32 : dim == 96 ? 32 : 128)
            pools_of(*context, formats[i], dim);
}

/* ---- growing ---- */

/* Rows of a token, those of each pair; NaN where the pair has grown enough is not read. */
static void token_rows(unsigned dim, unsigned pair, uint64_t token, float *rows)
{
    uint16_t half[2 * IFM_KV_DIM_MOST];
    rows_fill(token % 97 == 3 ? ROWS_BITS : ROWS_OUTLIERS, dim, 1, (uint32_t)(token * PAIRS + pair), half, half + dim);
    widen(half, 2 * (size_t)dim, rows);
    if (token % 89 == 7)
        rows[3] = -NAN;
    rows[1] *= 1.0001f; /* is rounded */
}

/* A pool of the device as a cache of the processor has it: body pages, then what is read of sides. */
static void same_pool(const struct ifm_kv_cache *cache, const unsigned char *pool, const unsigned char *there,
                      uint64_t pages)
{
    const struct ifm_kv_layout *l = ifm_kv_body_layout(cache);
    const struct ifm_kv_fragment order = ifm_kv_fragment_of(l);
    const unsigned dim = l->head_dim;
    unsigned char *page = room(l->page_bytes + 4 * VALUES);
    uint16_t *rows = room(4 * VALUES);
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        const struct ifm_kv_view view = ifm_kv_view_of(cache, pair);
        for (uint64_t i = 0; i < view.n_body; i++) {
            const size_t at = view.table[i] * l->page_bytes;
            ifm_kv_pages_to_canonical(&order, there + at, page, 1);
            same_bytes(l, page, pool + at, view.table[i], "grown");
        }
        for (unsigned part = 0; part < 3; part++) {
            const struct ifm_kv_layout *f16 = part == 0 ? ifm_kv_sink_layout_of(cache) : ifm_kv_ring_layout(cache);
            const struct ifm_kv_piece piece = part == 0 ? view.sink : view.ring[(part - 1 + view.n_body) % 2];
            const uint16_t *side = (const uint16_t *)(const void *)(there + pages * l->page_bytes) +
                                   (size_t)pair * 2 * IFM_KV_SIDE * dim + ifm_kv_side_row(dim, part, 0, 0);
            if (piece.tokens == 0)
                continue;
            ifm_kv_page_to_side(f16, piece.page, rows, rows + (size_t)f16->tokens * dim);
            assert_memory_equal(side, rows, (size_t)piece.tokens * dim * 2);
            assert_memory_equal(side + (size_t)f16->tokens * dim, rows + (size_t)f16->tokens * dim,
                                (size_t)piece.tokens * dim * 2);
        }
    }
    free(page);
    free(rows);
}

/* The first tokens of each pair, which are in sides alone, in both. */
static void begin_with(const struct packing *p, const struct ifm_kv_shape *shape, const uint64_t *tokens,
                       struct ifm_kv_cache *cache, unsigned char *pool)
{
    const unsigned dim = shape->head_dim;
    const uint64_t side = 2 * IFM_KV_SIDE * dim * sizeof(uint16_t);
    unsigned char *sides = pool + ifm_decode_grow_bytes(shape) - shape->pairs * side;
    uint16_t *rows = room(side);
    float wide[2 * IFM_KV_DIM_MOST];
    for (unsigned pair = 0; pair < shape->pairs; pair++) {
        memset(rows, 0x7e, side);
        for (uint64_t token = 0; token < tokens[pair]; token++) {
            const uint32_t in_sink = token < shape->sink, row = (uint32_t)(in_sink ? token : token - shape->sink);
            token_rows(dim, pair, 1000 + token, wide);
            for (unsigned i = 0; i < 2 * dim; i++)
                rows[ifm_kv_side_row(dim, !in_sink, row, i / dim) + i % dim] = ifm_f32_to_f16(wide[i]);
            ifm_kv_append(cache, pair, wide, wide + dim);
        }
        if (ifm_cuda_write(p->device, sides + pair * side, rows, side, &error) != IFM_OK)
            fail_msg("%s", error.message);
    }
    free(rows);
}

/* From nothing, or from where pages are about to leave, up to three pages in the body. */
static void grows(const struct packing *p, enum ifm_kv_format format, unsigned dim, unsigned sink)
{
    enum { TOKENS = 3 * 128 + 200 };
    static const uint64_t begin[PAIRS] = {0, 1, 63, 64, 65, 100};
    uint64_t capacity[PAIRS], pages = 0;
    for (unsigned pair = 0; pair < PAIRS; pair++)
        capacity[pair] = begin[pair] + TOKENS;
    const struct ifm_kv_shape shape = {format, dim, PAIRS, capacity, sink, true, 9};
    const size_t bytes = ifm_kv_pool_bytes(&shape), there_bytes = ifm_decode_grow_bytes(&shape);
    unsigned char *pool = room(bytes), *there = room(there_bytes);
    float *rows = room(PAIRS * 2 * dim * sizeof *rows);
    struct ifm_kv_cache *cache;
    struct ifm_decode_grow grow;
    char name[48];
    snprintf(name, sizeof name, "grow %u %u %u", format, dim, sink);
    unsigned char *at = buffer(p->device, name, there_bytes);
    float *rows_at = buffer(p->device, "grow rows", PAIRS * 2 * IFM_KV_DIM_MOST * sizeof *rows);
    memset(pool, 0, bytes);
    ifm_cuda_fill(p->device, at, 0x7e7e7e7e, there_bytes / 4);
    assert_int_equal(ifm_kv_cache_create(&shape, encoder(format), pool, &cache, &error), IFM_OK);
    if (ifm_decode_grow_open(p->device, &shape, begin, TOKENS, 1, name, &grow, &error) != IFM_OK)
        fail_msg("%s", error.message);
    begin_with(p, &shape, begin, cache, at);
    for (uint64_t token = 0; token < TOKENS; token++) {
        for (unsigned pair = 0; pair < PAIRS; pair++) {
            token_rows(dim, pair, token, rows + (size_t)pair * 2 * dim);
            ifm_kv_append(cache, pair, rows + (size_t)pair * 2 * dim, rows + ((size_t)pair * 2 + 1) * dim);
        }
        if (ifm_cuda_write(p->device, rows_at, rows, PAIRS * 2 * dim * sizeof *rows, &error) != IFM_OK)
            fail_msg("%s", error.message);
        ifm_decode_grow(&grow, token, rows_at, at);
    }
    if (ifm_cuda_read(p->device, there, at, there_bytes, &error) != IFM_OK)
        fail_msg("%s", error.message);
    for (unsigned pair = 0; pair < PAIRS; pair++)
        pages += ifm_kv_body_pages(&shape, capacity[pair]);
    same_pool(cache, pool, there, pages);
    assert_true(ifm_kv_encoded(cache) >= PAIRS * 3);
    ifm_decode_grow_close(&grow);
    ifm_kv_cache_destroy(cache);
    free(pool);
    free(there);
    free(rows);
}

static void caches_grow_as_on_the_processor(void **context)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (unsigned dim = 64; dim <= 256; dim += dim == 64 ? 32 : dim == 96 ? 32 : 128)
            grows(*context, formats[i], dim, dim == 128 ? 4 : SINK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_the_processors),
        cmocka_unit_test(body_pages_are_those_of_a_cache_that_grew),
        cmocka_unit_test(caches_grow_as_on_the_processor),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
