/* Hard inputs of decode over a compressed cache on the device cuda, of each format and kernel of ours: caches without a
 * body page and with several, ragged, shuffled; outlier channels, large and small keys and values, tokens of sink and
 * ring whose scores are minus infinity, infinity in a key, and NaN, which reaches exactly the outputs that read it.
 * What is encoded is what the reference reads of it: a channel of K or a token of V that holds NaN or infinity is NaN.
 * Where V is rotated, NaN in a value of sink or ring may reach all channels of its heads, as in a body page: their sums
 * are turned. A sequence whose scores are all minus infinity has NaN, 0 / 0; none is empty (ifm_decode_length). */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"

#include "hard_cuda.h"
#include "kernel/cpu/dispatch.h"
#include "workload/decode/run_cuda.h"

enum plant { NO_PLANT, NAN_KEY, INFINITE_KEY, NAN_VALUE, NAN_IN_RING, NAN_QUERY, MASKED_TOKENS, ALL_MASKED, PLANTS };
static const char *const plant_names[PLANTS] = {"",
                                                "NaN in a key",
                                                "infinity in a key",
                                                "NaN in a value",
                                                "NaN in a value of the ring",
                                                "NaN in a query",
                                                "tokens of minus infinity",
                                                "sink and ring of minus infinity"};

struct size {
    const char *name;
    float q, k, v, outliers; /* times normal values; of every 16th channel of K */
};
static const struct size plain = {"plain", 1, 1, 1, 1};
struct asked {
    struct size size;
    enum plant plant;
};

/* A cache as it is read: rows of a pair, one behind the other. */
struct reading {
    float *k, *v;
    size_t tokens;
};

static void fill_rows(struct ifm_random *random, size_t dim, size_t tokens, float size, float outliers, float *rows)
{
    for (size_t i = 0; i < tokens * dim; i++) {
        const float x = (float)ifm_random_normal(random) * size * (i % 16 == 3 ? outliers : 1);
        rows[i] = ifm_f16_to_f32(ifm_f32_to_f16(x));
    }
}

/* ---- what is planted, into the last pair ---- */

static void plant_in_body(enum plant plant, size_t dim, size_t page, float *k, float *v)
{
    if (page != 0)
        return;
    if (plant == NAN_KEY)
        k[IFM_KV_PAGE / 2 * dim + 5] = NAN;
    if (plant == INFINITE_KEY)
        k[3 * dim + 7] = -INFINITY;
    if (plant == NAN_VALUE)
        v[(IFM_KV_PAGE - 1) * dim + dim - 1] = NAN;
}

static void plant_in_side(enum plant plant, size_t dim, unsigned part, unsigned tokens, float *k, float *v)
{
    if (plant == NAN_IN_RING && part == 1)
        v[(tokens - 1) * dim] = NAN;
    for (unsigned token = 0; token < tokens; token++)
        if (plant == ALL_MASKED || (plant == MASKED_TOKENS && token % 3 == 1))
            k[token * dim] = -INFINITY;
}

/* ---- the cache, on both sides ---- */

static unsigned char *at(const void *page)
{
    return (unsigned char *)(uintptr_t)page; /* of the pool of the run */
}

static void encode_body(const struct ifm_decode_cuda_run *run, const struct asked *asked, uint64_t pair,
                        struct ifm_random *random)
{
    const struct ifm_kv_view view = ifm_kv_view_of(run->packed.cache, pair);
    const struct ifm_kv_layout *l = ifm_kv_body_layout(run->packed.cache);
    const size_t dim = run->settings->head_dim;
    float *k = malloc(2 * sizeof *k * IFM_KV_PAGE * dim), *v = k + IFM_KV_PAGE * dim;
    char name[32];
    snprintf(name, sizeof name, "kv_encode.%s", ifm_kv_format_name(l->format));
    const struct ifm_kernel *encode = ifm_kernel_find(name, "auto");
    assert_true(k != NULL && encode != NULL);
    for (uint64_t i = 0; i < view.n_body; i++) {
        fill_rows(random, dim, IFM_KV_PAGE, asked->size.k, asked->size.outliers, k);
        fill_rows(random, dim, IFM_KV_PAGE, asked->size.v, 1, v);
        if (pair + 1 == run->pairs)
            plant_in_body(asked->plant, dim, i, k, v);
        encode->fn.kv_encode(l, k, v, IFM_KV_PAGE, at(view.pool) + view.table[i] * l->page_bytes);
    }
    free(k);
}

static void encode_side(const struct ifm_decode_cuda_run *run, const struct asked *asked, uint64_t pair, unsigned part,
                        struct ifm_random *random)
{
    const struct ifm_kv_layout *l =
        part == 0 ? ifm_kv_sink_layout_of(run->packed.cache) : ifm_kv_ring_layout(run->packed.cache);
    const size_t dim = run->settings->head_dim, n = l->tokens * dim;
    struct ifm_kv_piece piece;
    uint64_t there;
    ifm_decode_cuda_packed_side(run, pair, part, &there, &piece);
    if (piece.tokens == 0)
        return;
    float *rows = calloc(2 * n, sizeof *rows);
    uint16_t *bits = calloc(2 * n, sizeof *bits);
    assert_true(rows != NULL && bits != NULL);
    fill_rows(random, dim, piece.tokens, asked->size.k, asked->size.outliers, rows);
    fill_rows(random, dim, piece.tokens, asked->size.v, 1, rows + n);
    if (pair + 1 == run->pairs)
        plant_in_side(asked->plant, dim, part, piece.tokens, rows, rows + n);
    for (size_t i = 0; i < 2 * n; i++)
        bits[i] = ifm_f32_to_f16(rows[i]);
    ifm_kv_side_to_page(l, bits, bits + n, at(piece.page));
    free(rows);
    free(bits);
}

static float *fill(const struct ifm_decode_cuda_run *run, const struct asked *asked)
{
    struct ifm_random random = ifm_random_start(23, 1);
    const size_t dim = run->settings->head_dim;
    unsigned char *pool = calloc(1, 2 * run->half);
    float *q = malloc(run->outputs * sizeof *q);
    assert_true(pool != NULL && q != NULL);
    for (uint64_t pair = 0; pair < run->pairs; pair++) {
        encode_body(run, asked, pair, &random);
        for (unsigned part = 0; part < 3; part++)
            encode_side(run, asked, pair, part, &random);
    }
    ifm_decode_cuda_packed_give(run, pool);
    planted_write(run->device, run->pools[0], pool, 2 * run->half);
    fill_rows(&random, dim, run->outputs / dim, asked->size.q, 1, q);
    for (size_t i = 0; asked->plant >= MASKED_TOKENS && i < run->outputs; i += dim)
        q[i] = 1;
    if (asked->plant == NAN_QUERY)
        q[run->outputs - dim + 2] = NAN;
    planted_write(run->device, run->q_at, q, run->outputs * sizeof *q);
    free(pool);
    return q;
}

/* ---- the oracle ---- */

static void read_page(struct reading *to, const struct ifm_kv_layout *l, const void *page, unsigned tokens)
{
    const size_t first = to->tokens * l->head_dim;
    if (tokens > 0)
        ifm_kv_page_read(l, page, tokens, to->k + first, to->v + first);
    to->tokens += tokens;
}

static void read_pair(const struct ifm_decode_cuda_run *run, uint64_t pair, struct reading *to)
{
    const struct ifm_kv_cache *cache = run->packed.cache;
    const struct ifm_kv_view view = ifm_kv_view_of(cache, pair);
    const struct ifm_kv_layout *body = ifm_kv_body_layout(cache), *ring = ifm_kv_ring_layout(cache);
    to->tokens = 0;
    read_page(to, ifm_kv_sink_layout_of(cache), view.sink.page, view.sink.tokens);
    for (uint64_t i = 0; i < view.n_body; i++)
        read_page(to, body, view.pool + view.table[i] * body->page_bytes, IFM_KV_PAGE);
    read_page(to, ring, view.ring[0].page, view.ring[0].tokens);
    read_page(to, ring, view.ring[1].page, view.ring[1].tokens);
}

static void attend(const struct reading *of, const float *q, size_t dim, double *weights, double *out)
{
    double top = -INFINITY, total = 0;
    for (size_t token = 0; token < of->tokens; token++) {
        weights[token] = 0;
        for (size_t d = 0; d < dim; d++)
            weights[token] += (double)q[d] * (double)of->k[token * dim + d];
        weights[token] /= sqrt((double)dim);
        top = fmax(top, weights[token]);
    }
    for (size_t d = 0; d < dim; d++)
        out[d] = 0;
    for (size_t token = 0; token < of->tokens; token++) {
        const double weight = exp(weights[token] - top);
        total += weight;
        for (size_t d = 0; d < dim; d++)
            out[d] += weight * (double)of->v[token * dim + d];
    }
    for (size_t d = 0; d < dim; d++)
        out[d] /= total;
}

static void expect(const struct ifm_decode_cuda_run *run, const float *q, double *want)
{
    const size_t dim = run->settings->head_dim, group = run->outputs / dim / run->pairs;
    const size_t most = run->settings->kv_len + IFM_KV_PAGE; /* a page is read whole */
    struct reading of = {malloc(most * dim * sizeof(float)), malloc(most * dim * sizeof(float)), 0};
    double *weights = malloc(most * sizeof *weights);
    assert_true(of.k != NULL && of.v != NULL && weights != NULL);
    for (uint64_t pair = 0; pair < run->pairs; pair++) {
        read_pair(run, pair, &of);
        assert_true(of.tokens == ifm_kv_length(run->packed.cache, pair) && of.tokens > 0);
        for (size_t head = pair * group; head < (pair + 1) * group; head++)
            attend(&of, q + head * dim, dim, weights, want + head * dim);
    }
    free(of.k);
    free(of.v);
    free(weights);
}

/* What NaN in the ring may reach besides, if it did. */
static void allow_turned(const struct ifm_decode_cuda_run *run, const float *got, double *want)
{
    const size_t dim = run->settings->head_dim;
    for (size_t i = 0; i < run->outputs; i++)
        want[i] = isnan(want[i / dim * dim]) && isnan(got[i]) ? (double)NAN : want[i];
}

static void run_arm(const struct opened *opened, const void *wanted)
{
    const struct asked *asked = wanted;
    const struct ifm_decode_cuda_run *run = opened->state;
    const size_t dim = run->settings->head_dim;
    char what[160];
    snprintf(what, sizeof what, "%s, %zu units of %u heads, %s %s", run->form->name,
             (size_t)run->packed.arguments.n_units, run->packed.arguments.group, asked->size.name,
             plant_names[asked->plant]);
    const struct hard_case said = {"decode", opened->opening.arm->name, what, 4e-3, LEAST_F16, 3.4e38f};
    float *q = fill(run, asked);
    float *got = hard_steps(opened, &said, run->out_at, run->outputs * sizeof *got);
    double *want = malloc(run->outputs * sizeof *want);
    assert_non_null(want);
    expect(run, q, want);
    if (asked->plant == NAN_IN_RING && run->packed.arguments.rotated)
        allow_turned(run, got, want);
    hard_compare(&said, got, want, run->outputs / dim, dim);
    free(q);
    free(got);
    free(want);
}

static void all(struct bench *bench, const char *text)
{
    static const struct size sizes[] = {{"outlier channels", 1, 1, 1, 12},
                                        {"large keys", 0.01f, 100, 1, 1},
                                        {"small keys", 1, 1e-3f, 1, 1},
                                        {"small keys, large queries", 100, 0.01f, 1, 1},
                                        {"large queries, outliers", 10, 1, 1, 12},
                                        {"large values", 1, 1, 1e4f, 1},
                                        {"small values", 1, 1, 1e-3f, 1}};
    struct asked asked[COUNT(sizes) + PLANTS];
    for (size_t i = 0; i < COUNT(sizes); i++)
        asked[i] = (struct asked){sizes[i], NO_PLANT};
    for (int i = 0; i < PLANTS; i++)
        asked[COUNT(sizes) + (size_t)i] = (struct asked){plain, (enum plant)i};
    hard_each(bench, &ifm_workload_decode, text, HARD_LIST(run_arm, asked));
}

#define ARMS "layers=1 formats=int8,e4m3,int4,int2 "

/* 300 tokens are a sink and a ring; 330 have a body page, 585 three. */
static void lengths(void **context)
{
    all(*context, ARMS "arms=ours,naive batch=1 q_heads=4 kv_heads=2 head_dim=128 sink=64 kv_len=300");
    all(*context, ARMS "arms=ours,naive batch=1 q_heads=5 kv_heads=1 head_dim=64 sink=64 kv_len=330");
    all(*context, ARMS "arms=ours batch=1 q_heads=9 kv_heads=1 head_dim=128 sink=32 kv_len=585");
    all(*context, ARMS "arms=naive batch=1 q_heads=2 kv_heads=1 head_dim=96 sink=32 kv_len=585");
}

static void ragged(void **context)
{
    all(*context, ARMS "arms=ours batch=6 q_heads=4 kv_heads=2 head_dim=64 sink=32 kv_len=500 ragged=1");
    all(*context, ARMS "arms=ours batch=5 q_heads=6 kv_heads=1 head_dim=128 sink=32 kv_len=500 ragged=1 layout=paged");
}

/* Two blocks a multiprocessor, each with two whole units. */
static void pairs_of_blocks(void **context)
{
    struct bench *bench = *context;
    all(bench, ifm_arena_printf(bench->arena,
                                "layers=1 formats=int4 arms=ours batch=%u q_heads=3 kv_heads=1 head_dim=128 sink=32 "
                                "kv_len=330",
                                4 * bench->machine.gpu->multiprocessors));
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_BENCH(lengths), WITH_BENCH(ragged), WITH_BENCH(pairs_of_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
