/* The elastic cache: where tokens lie, one by one or many at once, in order or shuffled, saved and restored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kv/cache.h"
#include "kv_pages.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 700 };

static const uint64_t lengths[] = {0,   1,   31,  32,  33,  63,  64,  65,  127, 128, 129, 159, 160,
                                   255, 256, 257, 288, 383, 384, 385, 416, 417, 512, 521, 544, 672};
enum { N_LENGTHS = sizeof lengths / sizeof lengths[0] };

struct rows {
    float *k, *v;
};

struct made {
    struct ifm_kv_cache *cache;
    void *pool;
    uint64_t pool_bytes;
};

static ifm_kv_encode_fn *encoder(enum ifm_kv_format format)
{
    char op[32];
    snprintf(op, sizeof op, "kv_encode.%s", ifm_kv_format_name(format));
    return ifm_kernel_find(op, "scalar")->fn.kv_encode;
}

static float *floats(size_t n)
{
    float *memory = malloc(n * sizeof(float) + 1);
    assert_non_null(memory);
    for (size_t i = 0; i < n; i++)
        memory[i] = NAN;
    return memory;
}

static struct rows draw(unsigned dim, uint64_t tokens, uint32_t stream)
{
    struct rows rows = {floats(tokens * dim), floats(tokens * dim)};
    struct ifm_random random = ifm_random_start(7, stream);
    for (size_t i = 0; i < tokens * dim; i++) {
        rows.k[i] = (float)ifm_random_normal(&random) * (i % dim == 3 ? 12.0f : 1.0f);
        rows.v[i] = (float)ifm_random_normal(&random);
    }
    return rows;
}

static void drop_rows(struct rows rows)
{
    free(rows.k);
    free(rows.v);
}

static struct made make(const struct ifm_kv_shape *shape)
{
    struct made made = {.pool_bytes = ifm_kv_pool_bytes(shape)};
    made.pool = aligned_alloc(64, made.pool_bytes + 64);
    assert_non_null(made.pool);
    memset(made.pool, 0, made.pool_bytes + 64);
    struct ifm_error error;
    assert_int_equal(ifm_kv_cache_create(shape, encoder(shape->format), made.pool, &made.cache, &error), IFM_OK);
    return made;
}

static void drop(struct made made)
{
    ifm_kv_cache_destroy(made.cache);
    for (int i = 0; i < 64; i++) /* nothing was written behind the pool */
        assert_int_equal(((unsigned char *)made.pool)[made.pool_bytes + (unsigned)i], 0);
    free(made.pool);
}

static void append_each(struct ifm_kv_cache *cache, uint64_t pair, unsigned dim, uint64_t from, uint64_t to,
                        struct rows rows)
{
    for (uint64_t i = from; i < to; i++)
        ifm_kv_append(cache, pair, rows.k + i * dim, rows.v + i * dim);
}

/* Every byte that a reader may touch: pages whole, unused slots too. */
static void same_piece(const struct ifm_kv_layout *layout, struct ifm_kv_piece a, struct ifm_kv_piece b)
{
    assert_int_equal(a.tokens, b.tokens);
    if (a.tokens > 0)
        assert_memory_equal(a.page, b.page, layout->page_bytes);
}

static void same(const struct ifm_kv_cache *a, uint64_t pair_a, const struct ifm_kv_cache *b, uint64_t pair_b)
{
    assert_int_equal(ifm_kv_length(a, pair_a), ifm_kv_length(b, pair_b));
    const struct ifm_kv_view x = ifm_kv_view_of(a, pair_a), y = ifm_kv_view_of(b, pair_b);
    assert_int_equal(x.n_body, y.n_body);
    assert_int_equal(x.last_tokens, y.last_tokens);
    const size_t bytes = ifm_kv_body_layout(a)->page_bytes;
    for (uint64_t i = 0; i < x.n_body; i++)
        assert_memory_equal(x.pool + x.table[i] * bytes, y.pool + y.table[i] * bytes, bytes);
    same_piece(ifm_kv_sink_layout_of(a), x.sink, y.sink);
    same_piece(ifm_kv_ring_layout(a), x.ring[0], y.ring[0]);
    same_piece(ifm_kv_ring_layout(a), x.ring[1], y.ring[1]);
}

static void places_follow_from_the_length(void **unused)
{
    (void)unused;
    const uint64_t capacity[] = {LONGEST};
    struct rows rows = draw(32, LONGEST, 1);
    for (unsigned sink = 0; sink <= 64; sink += 32) {
        struct ifm_kv_shape shape = {IFM_KV_INT4, 32, 1, capacity, sink, false, 0};
        struct made made = make(&shape);
        for (uint64_t n = 1; n <= LONGEST; n++) {
            append_each(made.cache, 0, 32, n - 1, n, rows);
            const struct ifm_kv_view view = ifm_kv_view_of(made.cache, 0);
            const uint64_t ring = view.ring[0].tokens + view.ring[1].tokens;
            assert_int_equal(ifm_kv_length(made.cache, 0), n);
            assert_int_equal(view.sink.tokens, n < sink ? n : sink);
            assert_int_equal(view.sink.tokens + view.n_body * IFM_KV_PAGE + ring, n);
            assert_true(n < sink + IFM_KV_PAGE || ring >= IFM_KV_PAGE);
            assert_true(ring < 2 * IFM_KV_PAGE);
            assert_true(view.n_body == 0 || view.last_tokens == IFM_KV_PAGE);
            assert_true(view.ring[1].tokens == 0 || view.ring[0].tokens == IFM_KV_PAGE);
        }
        drop(made);
    }
    drop_rows(rows);
}

/* The newest tokens and the sink are the f16 of what was appended; the body is near it, in order. */
static void reads_what_was_appended(enum ifm_kv_format format, unsigned dim, uint64_t n)
{
    const uint64_t capacity[] = {n};
    struct ifm_kv_shape shape = {format, dim, 1, capacity, 32, true, 5};
    struct rows rows = draw(dim, n, 2), got = {floats(n * dim), floats(n * dim)};
    struct made made = make(&shape);
    append_each(made.cache, 0, dim, 0, n, rows);
    read_cache(made.cache, 0, got.k, got.v);
    const struct ifm_kv_view view = ifm_kv_view_of(made.cache, 0);
    const uint64_t body = view.n_body * IFM_KV_PAGE, sink = view.sink.tokens;
    double error = 0, norm = 0;
    for (uint64_t i = 0; i < n * dim; i++) {
        const float k = ifm_f16_to_f32(ifm_f32_to_f16(rows.k[i])), v = ifm_f16_to_f32(ifm_f32_to_f16(rows.v[i]));
        if (format == IFM_KV_F16 || i / dim < sink || i / dim >= sink + body)
            assert_true(got.k[i] == k && got.v[i] == v);
        error += pow((double)(got.k[i] - k), 2) + pow((double)(got.v[i] - v), 2);
        norm += (double)(k * k) + (double)(v * v);
    }
    assert_true(error <= 0.1 * norm);
    drop(made);
    drop_rows(rows);
    drop_rows(got);
}

static void tokens_come_back_in_order(void **unused)
{
    (void)unused;
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        for (unsigned dim = 32; dim <= 256; dim += dim == 160 ? 96 : 32)
            for (size_t i = 0; i < N_LENGTHS; i += dim == 32 || dim == 96 ? 1 : 5)
                reads_what_was_appended(format, dim, lengths[i]);
}

static void many_at_once_are_one_by_one(void **unused)
{
    (void)unused;
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++) {
        const uint64_t capacity[] = {LONGEST, LONGEST};
        struct ifm_kv_shape shape = {format, 64, 2, capacity, 32, true, 3};
        struct rows rows = draw(64, LONGEST, 3);
        struct made made = make(&shape);
        for (size_t i = 0; i < N_LENGTHS; i++)
            for (size_t j = i % 3; j < N_LENGTHS && lengths[i] + lengths[j] <= LONGEST; j += 3) {
                const uint64_t first = lengths[i], n = first + lengths[j];
                ifm_kv_adopt(made.cache, 0, 0);
                ifm_kv_adopt(made.cache, 1, 0);
                append_each(made.cache, 0, 64, 0, n, rows);
                append_each(made.cache, 1, 64, 0, first, rows);
                ifm_kv_append_many(made.cache, 1, n - first, rows.k + first * 64, rows.v + first * 64);
                same(made.cache, 0, made.cache, 1);
            }
        drop(made);
        drop_rows(rows);
    }
}

static void shuffled_pages_hold_the_same(void **unused)
{
    (void)unused;
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++) {
        const uint64_t capacity[] = {521, 0, 700, 128, 1, 385};
        struct ifm_kv_shape shape = {format, 96, 6, capacity, 32, false, 3}, shuffled = shape;
        shuffled.paged = true;
        struct rows rows = draw(96, LONGEST, 4);
        struct made a = make(&shape), b = make(&shuffled);
        uint64_t moved = 0, pages = 0;
        for (uint64_t pair = 0; pair < 6; pair++) {
            ifm_kv_append_many(a.cache, pair, capacity[pair], rows.k, rows.v);
            ifm_kv_append_many(b.cache, pair, capacity[pair], rows.k, rows.v);
        }
        for (uint64_t pair = 0; pair < 6; pair++) { /* after all are full: no page is shared */
            same(a.cache, pair, b.cache, pair);
            const struct ifm_kv_view view = ifm_kv_view_of(b.cache, pair);
            for (uint64_t i = 0; i < view.n_body; i++, pages++)
                moved += view.table[i] != pages;
        }
        assert_true(moved > 0);
        drop(a);
        drop(b);
        drop_rows(rows);
    }
}

static void restored_is_as_if_never_left(void **unused)
{
    (void)unused;
    struct rows rows = draw(32, LONGEST, 5), others = draw(32, LONGEST, 6);
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        for (size_t i = 0; i < N_LENGTHS; i++) {
            const uint64_t n = lengths[i], capacity[] = {n + 300, n + 300};
            if (n + 300 > LONGEST)
                continue;
            struct ifm_kv_shape shape = {format, 32, 2, capacity, 32, true, 3};
            struct made a = make(&shape), b = make(&shape);
            struct ifm_error error;
            append_each(a.cache, 1, 32, 0, n, rows);
            assert_int_equal(ifm_kv_save(a.cache, &error), IFM_OK);
            assert_int_equal(ifm_kv_save(a.cache, &error), IFM_INTERNAL);
            append_each(b.cache, 1, 32, 0, n, rows);
            for (uint64_t more = 0; more <= 300; more += 60) {
                append_each(a.cache, 1, 32, n, n + more, others);
                ifm_kv_restore(a.cache, 1);
                same(a.cache, 1, b.cache, 1);
            }
            append_each(a.cache, 1, 32, n, n + 300, rows);
            append_each(b.cache, 1, 32, n, n + 300, rows);
            same(a.cache, 1, b.cache, 1);
            drop(a);
            drop(b);
        }
    drop_rows(rows);
    drop_rows(others);
}

struct task {
    struct ifm_kv_cache *cache;
    uint64_t pair;
    struct rows rows;
};

static void *fill(void *argument)
{
    const struct task *task = argument;
    append_each(task->cache, task->pair, 64, 0, LONGEST, task->rows);
    ifm_kv_restore(task->cache, task->pair);
    append_each(task->cache, task->pair, 64, 0, LONGEST, task->rows);
    return NULL;
}

static void pairs_are_independent_of_each_other(void **unused)
{
    (void)unused;
    const uint64_t capacity[] = {LONGEST, LONGEST, LONGEST, LONGEST};
    struct ifm_kv_shape shape = {IFM_KV_INT2, 64, 4, capacity, 32, true, 3};
    struct made a = make(&shape), b = make(&shape);
    struct ifm_error error;
    struct task tasks[4];
    pthread_t threads[4];
    assert_int_equal(ifm_kv_save(a.cache, &error), IFM_OK);
    for (unsigned i = 0; i < 4; i++) {
        tasks[i] = (struct task){a.cache, i, draw(64, LONGEST, 10 + i)};
        assert_int_equal(pthread_create(&threads[i], NULL, fill, &tasks[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        append_each(b.cache, i, 64, 0, LONGEST, tasks[i].rows);
    }
    for (unsigned i = 0; i < 4; i++) {
        same(a.cache, i, b.cache, i);
        drop_rows(tasks[i].rows);
    }
    drop(a);
    drop(b);
}

static void bad_shapes_are_refused(void **unused)
{
    (void)unused;
    const uint64_t capacity[] = {1000}, endless[] = {UINT64_MAX};
    const struct ifm_kv_shape good = {IFM_KV_INT4, 64, 1, capacity, 32, false, 0};
    struct ifm_kv_shape bad[] = {good, good, good, good, good, good};
    bad[0].head_dim = 48;
    bad[1].head_dim = 288;
    bad[2].head_dim = 0;
    bad[3].format = IFM_KV_FORMATS;
    bad[4].sink = 65;
    bad[5].capacity = endless;
    _Alignas(64) char pool[64];
    for (int i = 0; i < 6; i++) {
        struct ifm_kv_cache *cache;
        struct ifm_error error;
        assert_int_equal(ifm_kv_cache_create(&bad[i], encoder(IFM_KV_INT4), pool, &cache, &error), IFM_USAGE);
        assert_null(cache);
    }
    struct ifm_kv_cache *cache;
    struct ifm_error error;
    assert_int_equal(ifm_kv_cache_create(&good, encoder(IFM_KV_INT4), pool + 4, &cache, &error), IFM_INTERNAL);
    ifm_kv_cache_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_follow_from_the_length), cmocka_unit_test(tokens_come_back_in_order),
        cmocka_unit_test(many_at_once_are_one_by_one),   cmocka_unit_test(shuffled_pages_hold_the_same),
        cmocka_unit_test(restored_is_as_if_never_left),  cmocka_unit_test(pairs_are_independent_of_each_other),
        cmocka_unit_test(bad_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
