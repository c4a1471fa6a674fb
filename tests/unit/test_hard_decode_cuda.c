/* Hard inputs of decode on the device cuda, of each kernel of ours: lengths at the borders of pages and tiles, empty
 * sequences, extreme and subnormal values, outlier channels, tokens whose scores are minus infinity, and NaN, which
 * reaches exactly the outputs that read it. An empty sequence has outputs of zero; one whose scores are all minus
 * infinity has NaN, 0 / 0. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"

#include "hard_cuda.h"
#include "workload/decode/run_cuda.h"
#include "workload/decode/split.h"

enum plant { NOTHING, NAN_KEY, NAN_VALUE, NAN_QUERY, MASKED_TOKENS, ALL_MASKED, PLANTS };
static const char *const plant_names[PLANTS] = {
    "", "NaN in a key", "NaN in a value", "NaN in a query", "tokens of minus infinity", "a sequence of minus infinity"};

enum { CHOICES = 8 };
struct asked {
    enum hard_size size;
    enum plant plant;
    uint32_t lengths[CHOICES]; /* of the sequences, as far as their pages go; all 0 = as they are */
    bool own_lengths;
};

/* The cache of the one layer, rows as the device has them: K, then V, slots of no token zero. */
struct cache {
    uint16_t *bits;
    float *values, *q;
    uint32_t *lengths; /* of each pair */
};

static size_t row_of(const struct ifm_decode_cuda_run *run, size_t pair, size_t token)
{
    const uint32_t page = run->table[run->first[pair] + token / IFM_DECODE_PAGE];
    return ((size_t)page * IFM_DECODE_PAGE + token % IFM_DECODE_PAGE) * run->settings->head_dim;
}

static void choose_lengths(const struct ifm_decode_cuda_run *run, const struct asked *asked, struct cache *c)
{
    c->lengths = malloc(run->pairs * sizeof *c->lengths);
    assert_non_null(c->lengths);
    for (size_t pair = 0; pair < run->pairs; pair++) {
        const size_t sequence = pair / run->settings->kv_heads;
        const uint64_t most = (run->first[pair + 1] - run->first[pair]) * IFM_DECODE_PAGE;
        const uint32_t wanted = asked->lengths[sequence % CHOICES];
        c->lengths[pair] = !asked->own_lengths ? (uint32_t)ifm_decode_cuda_length(run, sequence)
                           : wanted < most     ? wanted
                                               : (uint32_t)most;
    }
}

/* Units and, where blocks share all tiles, the first unit of each block, as decode/cuda_cache.c and cuda.c make them.
 */
static void write_units(const struct ifm_decode_cuda_run *run, const struct cache *c)
{
    const struct ifm_decode_attend *a = &run->arguments;
    struct ifm_decode_unit *units = calloc(a->n_units + 1, sizeof *units);
    uint32_t *first = calloc(run->launch.blocks, sizeof *first), tiles = 0, unit = 0;
    assert_true(units != NULL && first != NULL && a->tokens == 0);
    for (uint32_t i = 0; i < a->n_units; i++) {
        units[i] = (struct ifm_decode_unit){c->lengths[i / a->parts], (uint32_t)run->first[i / a->parts], tiles};
        tiles += (units[i].tokens + IFM_DECODE_TILE - 1) / IFM_DECODE_TILE;
    }
    units[a->n_units].tile = tiles;
    planted_write(run->device, (void *)(uintptr_t)a->units, units, (a->n_units + 1) * sizeof *units);
    for (unsigned block = 0; a->first != NULL && block < run->launch.blocks; block++) {
        while (unit < a->n_units && ifm_decode_share(tiles, run->launch.blocks, block) >= units[unit + 1].tile)
            unit++;
        first[block] = unit;
    }
    if (a->first != NULL)
        planted_write(run->device, (void *)(uintptr_t)a->first, first, run->launch.blocks * sizeof *first);
    free(units);
    free(first);
}

static void set(struct cache *c, size_t i, float x)
{
    c->values[i] = x;
    c->bits[i] = ifm_f32_to_f16(x);
}

static void plant_values(const struct ifm_decode_cuda_run *run, enum plant plant, struct cache *c)
{
    const size_t dim = run->settings->head_dim, half = run->half / sizeof(uint16_t);
    const size_t pair = run->pairs - 1, last = c->lengths[pair] - 1U;
    if (plant == NAN_KEY)
        set(c, row_of(run, pair, last) + 5, NAN);
    if (plant == NAN_VALUE)
        set(c, half + row_of(run, pair, last / 2) + dim - 1, NAN);
    if (plant == NAN_QUERY)
        c->q[run->arguments.group * pair * dim + 2] = NAN;
    for (size_t i = 0; plant >= MASKED_TOKENS && i < run->outputs / dim; i++)
        c->q[i * dim] = 1;
    for (size_t token = 0; plant >= MASKED_TOKENS && token <= last; token++)
        if (plant == ALL_MASKED || token % 3 == 1)
            set(c, row_of(run, pair, token), -INFINITY);
}

static void fill(const struct ifm_decode_cuda_run *run, const struct asked *asked, struct cache *c)
{
    struct ifm_random random = ifm_random_start(17, (uint32_t)asked->size);
    const size_t half = run->half / sizeof(uint16_t), dim = run->settings->head_dim;
    uint16_t *bits = malloc((run->outputs > dim ? run->outputs : dim) * sizeof *bits);
    c->bits = calloc(2 * half, sizeof *c->bits);
    c->values = calloc(2 * half, sizeof *c->values);
    c->q = malloc(run->outputs * sizeof *c->q);
    assert_true(bits != NULL && c->bits != NULL && c->values != NULL && c->q != NULL);
    for (size_t pair = 0; pair < run->pairs; pair++)
        for (size_t token = 0; token < c->lengths[pair]; token++)
            for (size_t at = row_of(run, pair, token); at < 2 * half; at += half)
                hard_fill(&random, asked->size, false, dim, dim, c->bits + at, c->values + at);
    hard_fill(&random, asked->size, false, dim, run->outputs, bits, c->q);
    plant_values(run, asked->plant, c);
    planted_write(run->device, run->pools[0], c->bits, 2 * run->half);
    planted_write(run->device, run->q_at, c->q, run->outputs * sizeof *c->q);
    free(bits);
}

/* ---- the oracle ---- */

static void attend(const struct ifm_decode_cuda_run *run, const struct cache *c, size_t head, double *weights,
                   double *out)
{
    const size_t dim = run->settings->head_dim, pair = head / run->arguments.group;
    const float *v = c->values + run->half / sizeof(uint16_t);
    double top = -INFINITY, total = 0;
    for (size_t d = 0; d < dim; d++)
        out[d] = 0;
    for (size_t token = 0; token < c->lengths[pair]; token++) {
        weights[token] = 0;
        for (size_t d = 0; d < dim; d++)
            weights[token] += (double)c->q[head * dim + d] * (double)c->values[row_of(run, pair, token) + d];
        weights[token] /= sqrt((double)dim);
        top = fmax(top, weights[token]);
    }
    for (size_t token = 0; token < c->lengths[pair]; token++) {
        const double weight = exp(weights[token] - top);
        total += weight;
        for (size_t d = 0; d < dim; d++)
            out[d] += weight * (double)v[row_of(run, pair, token) + d];
    }
    for (size_t d = 0; c->lengths[pair] > 0 && d < dim; d++)
        out[d] /= total;
}

static void run_arm(const struct opened *opened, const void *wanted)
{
    const struct asked *asked = wanted;
    const struct ifm_decode_cuda_run *run = opened->state;
    const size_t dim = run->settings->head_dim, heads = run->outputs / dim;
    char what[200];
    struct cache c;
    choose_lengths(run, asked, &c);
    snprintf(what, sizeof what, "%zu units of %u heads, %u tokens first, %s %s%s", (size_t)run->arguments.n_units,
             run->arguments.group, c.lengths[0], hard_names[asked->size], plant_names[asked->plant],
             asked->own_lengths ? ", own lengths" : "");
    const struct hard_case said = {"decode", opened->opening.arm->name, what, 2e-3, LEAST_F16, 3.4e38f};
    if (asked->own_lengths)
        write_units(run, &c);
    fill(run, asked, &c);
    float *got = hard_steps(opened, &said, run->out_at, run->outputs * sizeof *got);
    double *want = malloc(run->outputs * sizeof *want);
    double *weights = malloc((run->pages * IFM_DECODE_PAGE + 1) * sizeof *weights);
    assert_true(want != NULL && weights != NULL);
    for (size_t head = 0; head < heads; head++)
        attend(run, &c, head, weights, want + head * dim);
    hard_compare(&said, got, want, heads, dim);
    free(c.bits);
    free(c.values);
    free(c.q);
    free(c.lengths);
    free(got);
    free(want);
    free(weights);
}

static void all(struct bench *bench, const char *text)
{
    struct asked asked[HARD_SIZES + PLANTS - 1] = {{.size = HARD_PLAIN}};
    for (int i = 0; i < HARD_SIZES; i++)
        asked[i].size = (enum hard_size)i;
    for (int i = NOTHING + 1; i < PLANTS; i++)
        asked[HARD_SIZES + i - 1].plant = (enum plant)i;
    hard_each(bench, &ifm_workload_decode, text, HARD_LIST(run_arm, asked));
}

#define ARMS "compress=1 layers=1 arms=ours,naive "

/* Lengths of whole tiles and pages, of one token more or less, and a prime: 256 is the least that the workload takes,
 * and shorter ones are in ragged batches. */
static void page_borders(void **context)
{
    static const unsigned lengths[] = {256, 257, 263, 271, 383, 384, 385};
    struct bench *bench = *context;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        all(bench,
            ifm_arena_printf(bench->arena, ARMS "batch=2 q_heads=4 kv_heads=2 head_dim=128 kv_len=%u", lengths[i]));
        all(bench,
            ifm_arena_printf(bench->arena, ARMS "batch=1 q_heads=9 kv_heads=1 head_dim=64 kv_len=%u layout=paged",
                             lengths[i]));
    }
}

/* So long that blocks are a cluster where the GPU has them. */
static void clusters(void **context)
{
    all(*context, ARMS "batch=1 q_heads=4 kv_heads=1 head_dim=128 kv_len=2053");
    all(*context, ARMS "batch=1 q_heads=8 kv_heads=8 head_dim=64 kv_len=1031");
}

/* So long that its parts meet by ticket from compute capability 9.0 on: 32 MB a step. */
static void long_parts(void **context)
{
    all(*context, "compress=1 layers=1 arms=ours batch=1 q_heads=16 kv_heads=8 head_dim=128 kv_len=7823 layout=paged");
}

static const char ragged_contiguous[] = ARMS "batch=6 q_heads=4 kv_heads=2 head_dim=64 kv_len=300 ragged=0.5",
                  ragged_paged[] = ARMS "batch=6 q_heads=9 kv_heads=1 head_dim=128 kv_len=300 ragged=0.5 layout=paged";

static void ragged(void **context)
{
    all(*context, ragged_contiguous);
    all(*context, ragged_paged);
}

/* At the start, in the middle, at the end, side by side, and all of them. */
static void empty_sequences(void **context)
{
    static const struct asked asked[] = {
#define OWN(...) {.size = HARD_OUTLIERS, .lengths = {__VA_ARGS__}, .own_lengths = true}
        OWN(0, 127, 129, 131, 16, 1), OWN(127, 0, 0, 128, 1, 97), OWN(129, 17, 131, 0, 128, 0),
        OWN(0, 0, 200, 0, 0, 0),      OWN(0, 0, 0, 0, 0, 1),      OWN(0),
#undef OWN
    };
    hard_each(*context, &ifm_workload_decode, ragged_contiguous, HARD_LIST(run_arm, asked));
    hard_each(*context, &ifm_workload_decode, ragged_paged, HARD_LIST(run_arm, asked));
}

/* A cycle whose tokens are the last of a page and the first of the next: the run's own check walks it. */
static void check_cycle(const struct opened *opened, const void *wanted)
{
    struct ifm_error error = {0};
    struct ifm_check check;
    (void)wanted;
    for (int i = 0; i < 2; i++) {
        if (opened->by->before(opened->state, &error) != IFM_OK)
            fail_msg("%s", error.message);
        opened->by->step(opened->state, 1);
        if (opened->by->check(opened->state, &check, &error) != IFM_OK)
            fail_msg("%s", error.message);
        if (!accepted(&check, opened->opening.arm->tolerance))
            fail_msg("decode %s: a cycle is off by %g", opened->opening.arm->name, check.error_max_rel);
    }
}

static void cycles(void **context)
{
    static const unsigned lengths[] = {256, 263, 382, 383, 384};
    struct bench *bench = *context;
    for (size_t i = 0; i < COUNT(lengths); i++)
        hard_each(bench, &ifm_workload_decode,
                  ifm_arena_printf(bench->arena,
                                   "compress=1 layers=2 batch=2 q_heads=4 kv_heads=2 head_dim=64 inference=true "
                                   "decode_tokens=3 kv_len=%u",
                                   lengths[i]),
                  &(const struct hard_list){check_cycle, lengths, 1, sizeof *lengths});
}

int main(void)
{
    const struct CMUnitTest tests[] = {WITH_BENCH(page_borders), WITH_BENCH(clusters),        WITH_BENCH(long_parts),
                                       WITH_BENCH(ragged),       WITH_BENCH(empty_sequences), WITH_BENCH(cycles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
