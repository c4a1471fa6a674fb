/* Decode attention over the elastic cache: how pages are shared out and pieces joined, over a cache that this file
 * makes up (its own definition of what kernels read of one), with pages of random codes. The page functions are the
 * scalar ones, which round least. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "kv_pages.h"

#include <stdbool.h>
#include <stdio.h>

enum { PAIRS_MOST = 12, PAGES_MOST = 64 };

/* Only what ifm_kv_view_of gives out. */
struct ifm_kv_cache {
    struct ifm_kv_layout body, sink, ring;
    unsigned char *pool, *sides;
    uint32_t table[PAIRS_MOST][PAGES_MOST];
    struct ifm_kv_view view[PAIRS_MOST];
};

struct ifm_kv_view ifm_kv_view_of(const struct ifm_kv_cache *cache, uint64_t pair)
{
    return cache->view[pair];
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

/* What a pair holds: full body pages but for the last one, and tokens of sink and ring. */
struct pair {
    unsigned pages, last, sink, ring[2];
};

static unsigned char *side_page(struct ifm_kv_cache *cache, size_t pair, size_t which)
{
    return cache->sides + (pair * 3 + which) * cache->ring.page_bytes;
}

static struct ifm_kv_cache *cache_of(enum ifm_kv_format format, unsigned dim, const struct pair *pairs, size_t n)
{
    struct ifm_kv_cache *cache = calloc(1, sizeof *cache);
    assert_non_null(cache);
    struct ifm_random random = ifm_random_start(7, format * 1000 + dim);
    *cache = (struct ifm_kv_cache){.body = ifm_kv_layout_of(format, dim),
                                   .sink = ifm_kv_sink_layout(dim),
                                   .ring = ifm_kv_layout_of(IFM_KV_F16, dim)};
    cache->pool = lines_of(n * PAGES_MOST * cache->body.page_bytes);
    cache->sides = lines_of(n * 3 * cache->ring.page_bytes);
    for (size_t p = 0; p < n; p++) {
        for (uint32_t i = 0; i < pairs[p].pages; i++) { /* scattered over the pool */
            cache->table[p][i] = (uint32_t)((i * 5 % PAGES_MOST) * n + p);
            fill_page(&cache->body, cache->pool + cache->table[p][i] * cache->body.page_bytes, &random, 1, 1);
        }
        fill_page(&cache->sink, side_page(cache, p, 0), &random, 1, 1);
        fill_page(&cache->ring, side_page(cache, p, 1), &random, 1, 1);
        fill_page(&cache->ring, side_page(cache, p, 2), &random, 1, 1);
        cache->view[p] = (struct ifm_kv_view){
            .pool = cache->pool,
            .table = cache->table[p],
            .n_body = pairs[p].pages,
            .last_tokens = pairs[p].last,
            .sink = {side_page(cache, p, 0), pairs[p].sink},
            .ring = {{side_page(cache, p, 1), pairs[p].ring[0]}, {side_page(cache, p, 2), pairs[p].ring[1]}}};
    }
    return cache;
}

static void cache_free(struct ifm_kv_cache *cache)
{
    free(cache->pool);
    free(cache->sides);
    free(cache);
}

/* All rows of a pair. */
static size_t read_pair(const struct ifm_kv_cache *cache, size_t pair, float *k, float *v)
{
    const struct ifm_kv_view *view = &cache->view[pair];
    const size_t dim = cache->body.head_dim;
    size_t n = 0;
    for (size_t i = 0; i < view->n_body; i++) {
        const unsigned tokens = i + 1 == view->n_body ? view->last_tokens : IFM_KV_PAGE;
        ifm_kv_page_read(&cache->body, view->pool + view->table[i] * cache->body.page_bytes, tokens, k + n * dim,
                         v + n * dim);
        n += tokens;
    }
    const struct ifm_kv_piece pieces[3] = {view->sink, view->ring[0], view->ring[1]};
    for (int i = 0; i < 3; i++) {
        ifm_kv_page_read(i == 0 ? &cache->sink : &cache->ring, pieces[i].page, pieces[i].tokens, k + n * dim,
                         v + n * dim);
        n += pieces[i].tokens;
    }
    return n;
}

struct problem {
    struct ifm_kv_cache *cache;
    struct ifm_kv_job job;
    size_t values;
    double *reference;
    size_t scratch_bytes;
};

static struct problem make(enum ifm_kv_format format, unsigned dim, unsigned group, const struct pair *pairs,
                           size_t batch, size_t kv_heads, unsigned workers)
{
    struct problem p = {.cache = cache_of(format, dim, pairs, batch * kv_heads)};
    char op[32];
    snprintf(op, sizeof op, "kv_attend.%s", ifm_kv_format_name(format));
    p.values = batch * kv_heads * group * dim;
    float *q = lines_of(p.values * sizeof *q);
    struct ifm_random random = ifm_random_start(8, dim);
    for (size_t i = 0; i < p.values; i++)
        q[i] = (float)ifm_random_normal(&random);
    p.job = (struct ifm_kv_job){.cache = p.cache,
                                .body = ifm_kernel_find(op, "scalar")->fn.kv_attend,
                                .f16 = ifm_kernel_find("kv_attend.f16", "scalar")->fn.kv_attend,
                                .batch = batch,
                                .q_heads = kv_heads * group,
                                .kv_heads = kv_heads,
                                .head_dim = dim,
                                .q = q,
                                .out = lines_of(p.values * sizeof(float))};
    p.scratch_bytes = ifm_kv_job_scratch_bytes(&p.job, workers);
    p.job.scratch = lines_of(p.scratch_bytes);
    p.reference = lines_of(p.values * sizeof(double));
    float *k = lines_of((size_t)(PAGES_MOST + 3) * IFM_KV_PAGE * dim * sizeof *k);
    float *v = lines_of((size_t)(PAGES_MOST + 3) * IFM_KV_PAGE * dim * sizeof *v), scaled[IFM_KV_DIM_MOST];
    for (size_t head = 0; head < batch * kv_heads * group; head++) {
        const size_t n = read_pair(p.cache, head / group, k, v);
        for (size_t d = 0; d < dim; d++)
            scaled[d] = q[head * dim + d] * (float)(1 / log(2) / sqrt(dim));
        attend_rows(scaled, k, v, n, dim, p.reference + head * dim);
    }
    free(k);
    free(v);
    return p;
}

static void drop(struct problem *p)
{
    cache_free(p->cache);
    free((void *)p->job.q);
    free(p->job.out);
    free(p->job.scratch);
    free(p->reference);
}

static void run(struct problem *p, unsigned workers)
{
    memset(p->job.scratch, 0xff, p->scratch_bytes);
    memset(p->job.out, 0xff, p->values * sizeof(float));
    for (unsigned i = workers; i-- > 0;) /* any order */
        ifm_kv_decode_work(&p->job, i, workers);
    ifm_kv_decode_merge(&p->job, workers);
}

static void compare(const struct problem *p, unsigned workers, double tolerance)
{
    double error2 = 0, reference2 = 0;
    for (size_t i = 0; i < p->values; i++) {
        error2 += pow((double)p->job.out[i] - p->reference[i], 2);
        reference2 += pow(p->reference[i], 2);
    }
    if (!(sqrt(error2) <= tolerance * sqrt(reference2)))
        fail_msg("%s, %u workers: error %.3g above %.3g", ifm_kv_format_name(p->cache->body.format), workers,
                 sqrt(error2 / reference2), tolerance);
}

/* Pages of f16 may be partial; a pair may have any part, or none. */
static const struct pair ragged[] = {
    {5, 128, 64, {128, 3}}, {0, 0, 0, {0, 0}},    {1, 128, 64, {128, 128}}, {0, 0, 17, {0, 0}},
    {0, 0, 64, {12, 0}},    {30, 128, 0, {0, 1}}, {2, 128, 0, {0, 0}},      {0, 0, 0, {0, 0}},
};
static const struct pair plain[] = {
    {5, 127, 0, {0, 0}}, {0, 0, 0, {0, 0}},   {1, 1, 0, {0, 0}},   {3, 128, 0, {0, 0}},
    {1, 64, 0, {0, 0}},  {30, 65, 0, {0, 0}}, {2, 128, 0, {0, 0}}, {0, 0, 0, {0, 0}},
};

static void every_worker_count_agrees_with_the_oracle(void **unused)
{
    (void)unused;
    enum { WORKERS = 19 };
    for (enum ifm_kv_format format = 0; format < IFM_KV_FORMATS; format++)
        for (unsigned dim = 64; dim <= 96; dim += 32) {
            struct problem p = make(format, dim, 3, format == IFM_KV_F16 ? plain : ragged, 2, 4, WORKERS);
            for (unsigned workers = 1; workers <= WORKERS; workers += workers < 5 ? 1 : 7) {
                run(&p, workers);
                compare(&p, workers, 2e-5);
            }
            drop(&p);
        }
}

static void a_pair_without_tokens_gives_zeros(void **unused)
{
    (void)unused;
    static const struct pair none[2] = {{0, 0, 0, {0, 0}}, {0, 0, 0, {0, 0}}};
    struct problem p = make(IFM_KV_INT4, 64, 2, none, 1, 2, 3);
    for (unsigned workers = 1; workers <= 3; workers++) {
        run(&p, workers);
        for (size_t i = 0; i < p.values; i++)
            assert_true(p.job.out[i] == 0);
    }
    drop(&p);
}

/* The same worker count gives the same bits, and more workers than units is no matter. */
static void is_the_same_every_time(void **unused)
{
    (void)unused;
    enum { WORKERS = 200 };
    struct problem p = make(IFM_KV_INT2, 128, 4, ragged, 2, 4, WORKERS);
    float *first = lines_of(p.values * sizeof *first);
    for (unsigned workers = 1; workers <= WORKERS; workers += 99) {
        run(&p, workers);
        memcpy(first, p.job.out, p.values * sizeof *first);
        run(&p, workers);
        assert_memory_equal(first, p.job.out, p.values * sizeof *first);
        compare(&p, workers, 2e-5);
    }
    free(first);
    drop(&p);
}

/* A driver that skipped a side page, or a comparison that could not see it, would pass everything above. */
static void one_changed_token_shows(void **unused)
{
    (void)unused;
    for (size_t which = 0; which < 3; which++) {
        static const struct pair one = {2, 128, 64, {128, 3}};
        struct problem p = make(IFM_KV_INT4, 64, 2, &one, 1, 1, 2);
        const struct ifm_kv_layout *l = which == 0 ? &p.cache->sink : &p.cache->ring;
        unsigned char *page = side_page(p.cache, 0, which);
        for (size_t d = 0; d < 64; d++)
            put_half(page, l->v_codes, d, 100);
        run(&p, 2);
        double difference = 0;
        for (size_t i = 0; i < p.values; i++)
            difference = fmax(difference, fabs((double)p.job.out[i] - p.reference[i]));
        assert_true(difference > 1e-3);
        drop(&p);
    }
}

static uint64_t bytes_read, pages_read;

static void count_page(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                       const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    (void)page, (void)group, (void)query, (void)sums, (void)scratch, (void)next;
    bytes_read += layout->page_bytes * tokens / layout->tokens;
    pages_read++;
}

/* Every worker reads its part of the bytes, give or take a page, and every page is read once. */
static void shares_are_even_in_bytes(void **unused)
{
    (void)unused;
    enum { WORKERS = 7 };
    struct problem p = make(IFM_KV_INT8, 64, 1, ragged, 2, 4, WORKERS);
    p.job.body = p.job.f16 = count_page;
    uint64_t all = 0;
    for (unsigned workers = 1; workers <= WORKERS; workers += WORKERS - 1) {
        pages_read = 0;
        for (unsigned i = 0; i < workers; i++) {
            bytes_read = 0;
            ifm_kv_decode_work(&p.job, i, workers);
            if (workers == 1)
                all = bytes_read;
            const double even = (double)all / workers, most = (double)p.cache->ring.page_bytes;
            assert_true(fabs((double)bytes_read - even) <= most);
        }
        assert_int_equal(pages_read, 5 + 3 + 1 + 3 + 1 + 2 + 30 + 1 + 2);
    }
    drop(&p);
}

static const void *announced;
static unsigned surprises;

static void follow_pages(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                         const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    (void)layout, (void)tokens, (void)group, (void)query, (void)sums, (void)scratch;
    surprises += page != announced;
    announced = next;
}

/* What a page function is told to read ahead is what the worker reads next, over pairs without tokens too. */
static void pages_are_announced(void **unused)
{
    (void)unused;
    enum { WORKERS = 5 };
    struct problem p = make(IFM_KV_F16, 64, 1, plain, 2, 4, WORKERS);
    p.job.body = follow_pages;
    for (unsigned workers = 1; workers <= WORKERS; workers++)
        for (unsigned i = 0; i < workers; i++) {
            announced = NULL;
            surprises = 0;
            ifm_kv_decode_work(&p.job, i, workers);
            assert_int_equal(surprises, 1); /* its first one */
            assert_null(announced);
        }
    drop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_worker_count_agrees_with_the_oracle),
        cmocka_unit_test(a_pair_without_tokens_gives_zeros),
        cmocka_unit_test(is_the_same_every_time),
        cmocka_unit_test(one_changed_token_shows),
        cmocka_unit_test(shares_are_even_in_bytes),
        cmocka_unit_test(pages_are_announced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
