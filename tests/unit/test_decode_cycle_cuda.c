/* A cycle on the device cuda: its two kernels alone, row by row and bit by bit, at length 0 and at borders of pages;
 * its ledger, arms and refusals; and that it does what the processor does with the same settings. Runs on a GPU too. */
#include <cmocka.h>

#include "device/cuda.h"
#include "kv/rows.h"
#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "workload/decode/run.h"
#include "workload/decode/run_cuda.h"

/* ---- kernels alone ---- */

enum { PAIRS = 3, GROUP = 3, PAGES = 3 /* of a pair */, ALL_PAGES = PAIRS * PAGES, DIM_MOST = 256 };

/* What a launch is about, on the host and there. */
struct bed {
    struct ifm_device *device;
    uint32_t dim, tokens[PAIRS]; /* with the new one */
    bool equal, shuffled;
    uint32_t table[ALL_PAGES];
    uint16_t *cache;              /* [2][ALL_PAGES][128][dim] */
    float *rows, *fresh, *output; /* as in ifm_decode_advance_of */
    struct ifm_decode_advance_of arguments;
};

static float value(uint32_t i)
{
    return (float)((i * 2654435761U) >> 16 & 4095) / 1024 - 2;
}

static void *there(struct bed *bed, const char *what, const void *from, size_t bytes)
{
    struct ifm_error error = {0};
    bool fresh;
    void *at;
    if (bed->device->ops->buffer(bed->device, what, bytes, &at, &fresh, &error) != IFM_OK)
        fail_msg("%s", error.message);
    planted_write(bed->device, at, from, bytes);
    return at;
}

static size_t cache_values(const struct bed *bed)
{
    return (size_t)ALL_PAGES * IFM_DECODE_PAGE * bed->dim;
}

static void fill_bed(struct bed *bed)
{
    const size_t heads = (size_t)PAIRS * GROUP * bed->dim, n = cache_values(bed);
    bed->cache = malloc(2 * n * sizeof *bed->cache);
    bed->rows = malloc((size_t)PAIRS * 2 * bed->dim * sizeof(float));
    bed->fresh = malloc(heads * sizeof(float));
    bed->output = malloc(heads * sizeof(float));
    for (size_t i = 0; i < 2 * n; i++)
        bed->cache[i] = (uint16_t)(i * 40503U);
    for (uint32_t i = 0; i < PAIRS * 2 * bed->dim; i++)
        bed->rows[i] = value(i) * 1.0001f;
    for (uint32_t i = 0; i < heads; i++) {
        bed->fresh[i] = value(i + 7);
        bed->output[i] = value(3 * i + 11) / 9;
    }
    for (uint32_t i = 0; i < ALL_PAGES; i++)
        bed->table[i] = bed->shuffled ? i * 4 % ALL_PAGES : i; /* 4 and 9 have no factor in common */
}

static void upload_bed(struct bed *bed)
{
    struct ifm_decode_unit units[PAIRS + 1] = {0};
    const size_t heads = (size_t)PAIRS * GROUP * bed->dim * sizeof(float), n = cache_values(bed);
    for (uint32_t i = 0; i < PAIRS; i++)
        units[i] = (struct ifm_decode_unit){bed->tokens[i], i * PAGES, 0};
    uint16_t *k = there(bed, "cache", bed->cache, 2 * n * sizeof *bed->cache);
    bed->arguments = (struct ifm_decode_advance_of){
        .k = k,
        .v = k + n,
        .table = bed->shuffled ? there(bed, "table", bed->table, sizeof bed->table) : NULL,
        .units = there(bed, "units", units, sizeof units),
        .rows = there(bed, "rows", bed->rows, (size_t)PAIRS * 2 * bed->dim * sizeof(float)),
        .fresh = there(bed, "fresh", bed->fresh, heads),
        .output = there(bed, "output", bed->output, heads),
        .q = there(bed, "q", bed->output, heads),
        .pairs = PAIRS,
        .group = GROUP,
        .parts = 1,
        .head_dim = bed->dim,
        .tokens = bed->equal ? bed->tokens[0] : 0,
        .pages = PAGES};
}

static void drop_bed(const struct bed *bed)
{
    free(bed->cache);
    free(bed->rows);
    free(bed->fresh);
    free(bed->output);
    bed->device->ops->drop_buffers(bed->device);
}

static void run_kernel(const struct bed *bed, const char *name, unsigned blocks, unsigned threads,
                       const void *arguments)
{
    struct ifm_cuda_launch launch = {.blocks = blocks, .threads = threads, .arguments = arguments};
    struct ifm_error error = {0};
    if (ifm_cuda_find(bed->device, "decode", name, &launch.function, &error) != IFM_OK)
        fail_msg("%s", error.message);
    ifm_cuda_launch(bed->device, &launch);
    if (ifm_cuda_wait(bed->device, &error) != IFM_OK)
        fail_msg("%s", error.message);
}

/* Puts a row where it belongs in the host's cache; `values` NULL: what rows are that are not appended yet. */
static void put_row(struct bed *bed, uint32_t pair, uint32_t token, const float *values)
{
    const size_t page = bed->table[pair * PAGES + token / IFM_DECODE_PAGE];
    uint16_t *k = bed->cache + (page * IFM_DECODE_PAGE + token % IFM_DECODE_PAGE) * bed->dim,
             *v = k + cache_values(bed);
    for (uint32_t d = 0; d < bed->dim; d++) {
        k[d] = values == NULL ? IFM_DECODE_NO_ROW : ifm_f32_to_f16(values[d]);
        v[d] = values == NULL ? IFM_DECODE_NO_ROW : ifm_f32_to_f16(values[bed->dim + d]);
    }
}

static void same_cache(const struct bed *bed, const char *what)
{
    const size_t bytes = 2 * cache_values(bed) * sizeof *bed->cache;
    uint16_t *found = malloc(bytes);
    planted_read(bed->device, found, bed->arguments.k, bytes);
    for (size_t i = 0; i < bytes / sizeof *found; i++)
        if (found[i] != bed->cache[i])
            fail_msg("%s: dim %u, %u %u %u tokens, equal %d, shuffled %d: value %zu is %04x, not %04x", what, bed->dim,
                     bed->tokens[0], bed->tokens[1], bed->tokens[2], bed->equal, bed->shuffled, i, found[i],
                     bed->cache[i]);
    free(found);
}

/* The next query of a head, in f64; NULL: there is no output in front. */
static void same_queries(const struct bed *bed, const float *output)
{
    float q[PAIRS * GROUP * DIM_MOST];
    planted_read(bed->device, q, bed->arguments.q, (size_t)PAIRS * GROUP * bed->dim * sizeof *q);
    for (size_t head = 0; head < PAIRS * GROUP; head++) {
        const float *f = bed->fresh + head * bed->dim, *o = output == NULL ? NULL : output + head * bed->dim;
        double own = 0, other = 0, mixed = 0;
        for (uint32_t d = 0; d < bed->dim; d++) {
            own += (double)f[d] * (double)f[d];
            other += o == NULL ? 0 : (double)o[d] * (double)o[d];
        }
        const double part = other > 0 ? sqrt(own / other) : 0;
        for (uint32_t d = 0; d < bed->dim; d++)
            mixed += pow((double)f[d] + (o == NULL ? 0 : part * (double)o[d]), 2);
        for (uint32_t d = 0; d < bed->dim; d++) {
            const double old = o == NULL ? 0 : part * (double)o[d], x = ((double)f[d] + old) * sqrt(own / mixed);
            const double sums = 0x1p-20 * sqrt(own / mixed) * (fabs((double)f[d]) + fabs(old));
            const float found = q[head * bed->dim + d];
            if (fabs((double)found - x) > 0x1p-10 * fabs(x) + sums + 0x1p-24 ||
                ifm_f16_to_f32(ifm_f32_to_f16(found)) != found)
                fail_msg("head %zu, value %u of the query is %g, not %g in f16", head, d, (double)found, x);
        }
    }
}

static void advance(const struct bed *bed, unsigned tasks)
{
    run_kernel(bed, "ifm_decode_advance", (tasks + IFM_DECODE_ADVANCE_WARPS - 1) / IFM_DECODE_ADVANCE_WARPS,
               32 * IFM_DECODE_ADVANCE_WARPS, &bed->arguments);
}

static void try_bed(struct bed *bed)
{
    enum { ROWS = 5 };
    fill_bed(bed);
    upload_bed(bed);
    advance(bed, PAIRS * GROUP + PAIRS);
    for (uint32_t pair = 0; pair < PAIRS; pair++)
        put_row(bed, pair, bed->tokens[pair] - 1, bed->rows + (size_t)pair * 2 * bed->dim);
    same_cache(bed, "append");
    same_queries(bed, bed->output);
    bed->arguments.rows = NULL;
    bed->arguments.output = NULL;
    advance(bed, PAIRS * GROUP);
    same_cache(bed, "nothing to append");
    same_queries(bed, NULL);
    const struct ifm_decode_advance_of *a = &bed->arguments;
    const struct ifm_decode_rewind_of back = {.k = a->k,
                                              .v = a->v,
                                              .table = a->table,
                                              .units = a->units,
                                              .pairs = PAIRS,
                                              .parts = 1,
                                              .head_dim = bed->dim,
                                              .tokens = a->tokens,
                                              .pages = PAGES,
                                              .rows = ROWS};
    run_kernel(bed, "ifm_decode_rewind", PAIRS, IFM_DECODE_REWIND_THREADS, &back);
    for (uint32_t pair = 0; pair < PAIRS; pair++)
        for (uint32_t i = 0; i < ROWS; i++)
            put_row(bed, pair, bed->tokens[pair] - 1 + i, NULL);
    same_cache(bed, "going back");
    drop_bed(bed);
}

/* Lengths before the row: none at all, around the borders of pages, and different ones. */
static void rows_go_where_they_belong(void **state)
{
    static const uint32_t dims[] = {32, 64, 96, 128, 256}, lengths[] = {0, 1, 126, 127, 128, 129, 255, 256, 300};
    struct ifm_error error = {0};
    (void)state;
    for (size_t d = 0; d < COUNT(dims); d++) {
        const struct ifm_device_options options = planted_options(false);
        struct bed bed = {.dim = dims[d]};
        if (ifm_device_cuda.open(&options, &bed.device, &error) != IFM_OK)
            fail_msg("%s", error.message);
        for (size_t i = 0; i < COUNT(lengths); i++)
            for (int kind = 0; kind < 4; kind++) {
                bed.equal = kind % 2 == 0;
                bed.shuffled = kind / 2 == 0;
                for (size_t pair = 0; pair < PAIRS; pair++)
                    bed.tokens[pair] = 1 + lengths[bed.equal ? i : (i + 4 * pair) % COUNT(lengths)];
                try_bed(&bed);
            }
        bed.device->ops->close(bed.device);
    }
}

/* ---- what is described ---- */

static struct ifm_arm_list described(struct bench *bench, const char *text, const char **why_not)
{
    struct ifm_setting settings[PLANTED_SETTINGS];
    struct ifm_setting *kept;
    const size_t n = planted_settings(bench->arena, "decode.", text, settings);
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    kept = IFM_ARENA_ARRAY(bench->arena, struct ifm_setting, n);
    memcpy(kept, settings, n * sizeof *kept);
    *why_not = NULL;
    if (ifm_workload_decode.describe(kept, n, &bench->machine, bench->arena, &arms, why_not, &error) != IFM_OK)
        fail_msg("%s", error.message);
    give_settings(&arms, kept, n);
    return arms;
}

/* Of a cycle of 3 tokens in 2 layers, by hand: caches of 301, 302, 303 tokens. */
static void ledger_grows_with_the_tokens(void **state)
{
    const char *why_not;
    const struct ifm_arm_list arms =
        described(*state,
                  "compress=1 arms=ours batch=2 q_heads=4 kv_heads=2 head_dim=64 kv_len=300 inference=true "
                  "decode_tokens=3 layers=2 graphs=true,false",
                  &why_not);
    assert_int_equal(arms.n, 2);
    const uint64_t attended = 2 * (301 + 302 + 303), row = 2 * 2 * 64, query = 4 * 2 * 4 * 64;
    for (size_t i = 0; i < arms.n; i++) {
        const struct ifm_ledger *l = &arms.items[i].ledger;
        assert_int_equal(l->bytes_read, 2 * (attended * 2 * row + 3 * query + 3 * 2 * 2 * row * 2));
        assert_int_equal(l->bytes_written, 2 * (3 * 2 * 2 * row + 3 * query));
        assert_int_equal(l->flops, 2 * 4 * 4 * 64 * attended);
        assert_int_equal(l->tokens_generated, 6);
        assert_int_equal(l->layers, 0);
    }
}

static void graphs_and_none_are_arms(void **state)
{
    const char *why_not;
    struct ifm_arm_list arms = described(*state,
                                         "compress=1 arms=naive,ours kv_len=256 inference=true layers=1 "
                                         "graphs=true,false",
                                         &why_not);
    static const char *const names[] = {"naive-graph", "naive-no-graph", "f16-graph", "f16-no-graph"};
    assert_int_equal(arms.n, COUNT(names));
    for (size_t i = 0; i < arms.n; i++)
        assert_string_equal(arms.items[i].name, names[i]);
    assert_string_equal(arms.items[0].bits, arms.items[1].bits);
    assert_string_equal(arms.items[2].bits, arms.items[3].bits);
    assert_string_not_equal(arms.items[0].bits, arms.items[2].bits);
    assert_string_not_equal(arms.items[0].feature, arms.items[1].feature);
    arms = described(*state, "compress=1 arms=ours kv_len=256 graphs=false", &why_not);
    assert_int_equal(arms.n, 1);
    assert_string_equal(arms.items[0].name, "f16");
    assert_string_equal(arms.items[0].feature, "the launch without a graph");
    arms = described(*state, "compress=1 arms=ours kv_len=256", &why_not);
    assert_null(arms.items[0].bits);
    assert_string_equal(arms.items[0].feature, "");
    assert_int_equal(arms.items[0].n_chosen, ifm_decode_chosen_section.n - 1);
}

static void says_what_no_cycle_takes(void **state)
{
    const char *why_not;
    assert_int_equal(described(*state, "compress=1 arms=cudnn kv_len=256 inference=true", &why_not).n, 0);
    assert_non_null(strstr(why_not, "a plan for caches of one length"));
    assert_int_equal(described(*state, "compress=1 kv_len=256 inference=true layers=129", &why_not).n, 0);
    assert_non_null(strstr(why_not, "at most 128 layers and 16384 tokens x layers"));
    assert_int_equal(described(*state, "compress=1 kv_len=256 inference=true layers=32 decode_tokens=513", &why_not).n,
                     0);
    assert_non_null(why_not);
    assert_int_equal(described(*state, "compress=1 kv_len=256 inference=true layers=32 decode_tokens=512", &why_not).n,
                     1);
    assert_int_equal(described(*state, "compress=1 kv_len=256 inference=true decode_tokens=16385", &why_not).n, 0);
    assert_non_null(why_not);
}

/* ---- graphs, counted ---- */

static void open_cell(struct bench *bench, const struct ifm_arm *arm, bool no_graphs, struct ifm_device **device,
                      struct opened *opened)
{
    const struct ifm_device_options options = planted_options(no_graphs);
    struct ifm_error error = {0};
    if (ifm_device_cuda.open(&options, device, &error) != IFM_OK ||
        open_arm_on(&ifm_workload_decode, arm, "cuda", *device, 1, 7, bench->arena, opened, &error) != IFM_OK)
        fail_msg("%s: %s", arm->name, error.message);
}

/* A cycle is one graph, however many tokens and layers it has; without one ours is a launch a place. */
static void launches_are_counted(void **state)
{
    struct bench *bench = *state;
    const char *why_not;
    const struct ifm_arm_list arms = described(bench,
                                               "compress=1 arms=ours kv_len=256 batch=1 q_heads=2 kv_heads=1 "
                                               "inference=true decode_tokens=3 layers=2 graphs=true,false",
                                               &why_not);
    static const uint64_t graphs[] = {5, 0}, launches[] = {0, 30}, without_graphs[] = {0, 30};
    for (size_t i = 0; i < 2 * arms.n; i++) {
        const size_t arm = i % arms.n;
        const bool no_graphs = i >= arms.n;
        struct ifm_device *device;
        struct opened opened;
        struct ifm_check check;
        struct ifm_error error = {0};
        open_cell(bench, &arms.items[arm], no_graphs, &device, &opened);
        for (int n = 0; n < 5; n++) {
            assert_int_equal(opened.by->before(opened.state, &error), IFM_OK);
            opened.by->step(opened.state, 1);
        }
        assert_int_equal(opened.by->check(opened.state, &check, &error), IFM_OK); /* its own launches do not count */
        assert_true(accepted(&check, arms.items[arm].tolerance));
        const struct ifm_cuda_counts counts =
            ifm_cuda_steps_counts(((const struct ifm_decode_cuda_run *)opened.state)->steps);
        assert_int_equal(counts.graphs, no_graphs ? 0 : graphs[arm]);
        assert_int_equal(counts.launches, no_graphs ? 30 : launches[arm]);
        assert_int_equal(opened.by->feature_runs(opened.state),
                         no_graphs ? without_graphs[arm] : graphs[arm] + launches[arm]);
        ifm_implementation_close(opened.by, opened.state);
        device->ops->close(device);
    }
}

/* ---- in one launch a place, or two ---- */

/* Queries, outputs and what layer 0 holds behind a cycle; the caller frees them. */
static unsigned char *left_by(struct ifm_decode_cuda_run *run, size_t *bytes)
{
    const size_t values = run->tokens * run->outputs * sizeof(float);
    unsigned char *left = malloc(*bytes = 2 * values + 2 * run->half);
    assert_non_null(left);
    ifm_decode_cuda_rewind(run);
    ifm_decode_cuda_cycle(run);
    planted_read(run->device, left, run->q_at, values);
    planted_read(run->device, left + values, run->out_at, values);
    planted_read(run->device, left + 2 * values, run->pools[0], 2 * run->half);
    return left;
}

static void one_launch_leaves_what_two_do(void **state)
{
    static const char *const cells[] = {
        "compress=1 arms=ours kv_len=300 batch=2 q_heads=4 kv_heads=2 head_dim=64 inference=true decode_tokens=4 "
        "layers=3",
        "compress=1 arms=ours kv_len=382 batch=3 q_heads=18 kv_heads=2 head_dim=128 inference=true decode_tokens=3 "
        "layers=2 layout=paged ragged=0.5",
        "compress=4 arms=ours kv_len=318 batch=2 q_heads=4 kv_heads=2 head_dim=128 inference=true decode_tokens=4 "
        "layers=3",
    };
    for (size_t i = 0; i < COUNT(cells); i++) {
        struct bench *bench = *state;
        const char *why_not;
        const struct ifm_arm_list arms = described(bench, cells[i], &why_not);
        struct ifm_device *device;
        struct opened opened;
        size_t bytes;
        open_cell(bench, &arms.items[arms.n - 1], false, &device,
                  &opened); /* the compressed one, where there are two */
        struct ifm_decode_cuda_run *run = opened.state;
        assert_true(run->cycle.feeds && (run->packed.cache != NULL) == (i == 2));
        unsigned char *one = left_by(run, &bytes);
        run->cycle.feeds = false;
        unsigned char *two = left_by(run, &bytes);
        assert_memory_equal(one, two, bytes);
        free(one);
        free(two);
        ifm_implementation_close(opened.by, opened.state);
        device->ops->close(device);
    }
}

/* ---- as the processor does ---- */

/* The processor's outputs of the last token in the last layer. The caller frees them. */
static float *outputs_of_the_processor(struct bench *bench, const char *text)
{
    struct ifm_machine machine;
    struct ifm_setting settings[PLANTED_SETTINGS];
    const size_t n = planted_settings(bench->arena, "decode.", text, settings);
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    struct ifm_device *device = NULL;
    const struct ifm_device_options options = {.threads = 1};
    if (ifm_device_cpu.describe(1, &machine, &error) != IFM_OK ||
        ifm_workload_decode.describe(settings, n, &machine, bench->arena, &arms, &why_not, &error) != IFM_OK ||
        ifm_device_cpu.open(&options, &device, &error) != IFM_OK)
        fail_msg("%s", error.message);
    assert_null(why_not);
    give_settings(&arms, settings, n);
    struct ifm_decode_run *run = opened_state(&ifm_workload_decode, &arms.items[0], device, 1, bench->arena);
    ifm_decode_step(run, 1);
    float *out = malloc(run->outputs * sizeof *out);
    memcpy(out, run->out, run->outputs * sizeof *out);
    ifm_implementation_close(&ifm_decode_cpu, run);
    device->ops->close(device);
    return out;
}

/* Both differ by how queries and weights are rounded, to f16 there; each output makes the next query, so that this adds
 * up over the places of the cycle. */
static void agrees(struct bench *bench, const char *text, double most)
{
    const char *why_not;
    float *expected = outputs_of_the_processor(bench, text);
    const struct ifm_arm_list arms =
        described(bench, ifm_arena_printf(bench->arena, "%s arms=naive,ours", text), &why_not);
    assert_true(arms.n > 0);
    for (size_t i = 0; i < arms.n; i++) {
        struct ifm_device *device;
        struct opened opened;
        double sum = 0, all = 0;
        open_cell(bench, &arms.items[i], false, &device, &opened);
        const struct ifm_decode_cuda_run *run = opened.state;
        opened.by->step(opened.state, 1);
        float *out = malloc(run->outputs * sizeof *out);
        planted_read(device, out, (const float *)run->out_at + (run->tokens - 1) * run->outputs,
                     run->outputs * sizeof *out);
        for (size_t j = 0; j < run->outputs; j++) {
            sum += pow((double)out[j] - (double)expected[j], 2);
            all += pow((double)expected[j], 2);
        }
        print_message("%s: off the processor's outputs by %.2g of their size\n", arms.items[i].name, sqrt(sum / all));
        if (!(sqrt(sum / all) <= most))
            fail_msg("%s: off the processor's outputs by %g of their size", arms.items[i].name, sqrt(sum / all));
        free(out);
        ifm_implementation_close(opened.by, opened.state);
        device->ops->close(device);
    }
    free(expected);
}

#define SHAPE "compress=1 kv_len=300 batch=2 q_heads=4 kv_heads=2 head_dim=64 inference=true "
static void does_what_the_processor_does(void **state)
{
    agrees(*state, SHAPE "decode_tokens=1 layers=1", 1e-3);
    agrees(*state, SHAPE "decode_tokens=4 layers=3", 4e-3);
    agrees(*state, SHAPE "decode_tokens=4 layers=3 append=none", 4e-3);
    agrees(*state, SHAPE "decode_tokens=4 layers=3 layout=paged ragged=1", 4e-3);
    agrees(*state,
           "compress=1 kv_len=1279 batch=1 q_heads=8 kv_heads=2 head_dim=128 inference=true decode_tokens=3 layers=2",
           4e-3);
}

/* Pages leave their rings on the way: of all pairs at one token, of each at its own, of a window, of none. */
static void compressed_caches_do_too(void **state)
{
#define GROWS "batch=2 q_heads=4 kv_heads=2 inference=true sink=32 "
    agrees(*state, GROWS "formats=int4 kv_len=285 head_dim=64 decode_tokens=1 layers=1", 1e-3);
    agrees(*state, GROWS "formats=int4 kv_len=285 head_dim=64 decode_tokens=5 layers=3", 1e-1);
    agrees(*state, GROWS "formats=int8 kv_len=286 head_dim=128 decode_tokens=4 layers=2 layout=paged ragged=1", 4e-3);
    agrees(*state, GROWS "formats=e4m3 kv_len=287 head_dim=64 decode_tokens=3 layers=2 append=none", 2e-3);
    agrees(*state, GROWS "formats=int2 kv_len=414 head_dim=128 decode_tokens=4 layers=2 layout=paged", 3e-1);
    agrees(*state, GROWS "formats=half4 kv_len=573 head_dim=64 decode_tokens=4 layers=2 evict=window", 5e-2);
    agrees(*state, GROWS "formats=int8 kv_len=256 head_dim=64 decode_tokens=300 layers=1", 1e-2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_where_they_belong),
        WITH_BENCH(ledger_grows_with_the_tokens),
        WITH_BENCH(graphs_and_none_are_arms),
        WITH_BENCH(says_what_no_cycle_takes),
        WITH_BENCH(launches_are_counted),
        WITH_BENCH(one_launch_leaves_what_two_do),
        WITH_BENCH(does_what_the_processor_does),
        WITH_BENCH(compressed_caches_do_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
