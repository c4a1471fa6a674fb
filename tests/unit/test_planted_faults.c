/* Every planted fault is refused: outputs spoiled after the step, inputs spoiled during it, work that is left out, of
 * each workload and instruction set of this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "dyn/openblas.h"
#include "kernel/cpu/isa.h"
#include "model/value.h"
#include "opened.h"
#include "planted.h"
#include "serial_device.h"
#include "workload/attention/data.h"
#include "workload/attention/host.h"
#include "workload/decode/run.h"
#include "workload/gemm/host.h"

#include <limits.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- outputs as rows of numbers, whatever their format ---- */

struct view {
    void *out;
    size_t rows, row;
    enum ifm_attention_storage storage;
};

static struct view (*view_of)(void *state); /* of the workload under test */

static float get(const struct view *v, size_t row, size_t i)
{
    return ifm_attention_value(v->out, v->storage, row * v->row + i);
}

static void put(const struct view *v, size_t row, size_t i, float value)
{
    const size_t at = row * v->row + i;
    if (v->storage == IFM_STORE_F32)
        ((float *)v->out)[at] = value;
    else
        ((uint16_t *)v->out)[at] = v->storage == IFM_STORE_BF16 ? ifm_f32_to_bf16(value) : ifm_f32_to_f16(value);
}

static size_t largest(const struct view *v, size_t row)
{
    size_t best = 0;
    for (size_t i = 1; i < v->row; i++)
        best = fabsf(get(v, row, i)) > fabsf(get(v, row, best)) ? i : best;
    return best;
}

/* Rows [from, to): times `factor`, plus `term`. */
static void change(const struct view *v, size_t from, size_t to, float factor, float term)
{
    for (size_t row = from; row < to; row++)
        for (size_t i = 0; i < v->row; i++)
            put(v, row, i, get(v, row, i) * factor + term);
}

static void swap(const struct view *v, size_t row, size_t i, size_t other, size_t j)
{
    const float a = get(v, row, i), b = get(v, other, j);
    put(v, row, i, b);
    put(v, other, j, a);
}

static void swap_rows(const struct view *v, size_t row, size_t other)
{
    for (size_t i = 0; i < v->row; i++)
        swap(v, row, i, other, i);
}

static float rms(const struct view *v)
{
    double sum = 0;
    for (size_t row = 0; row < v->rows; row++)
        for (size_t i = 0; i < v->row; i++)
            sum += (double)get(v, row, i) * (double)get(v, row, i);
    return (float)sqrt(sum / (double)(v->rows * v->row));
}

#define ON_OUTPUTS(name, ...)                                                                                          \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct view view = view_of(state), *v = &view;                                                           \
        const size_t middle = v->rows / 2;                                                                             \
        (void)middle;                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }

ON_OUTPUTS(zero_all_but_three, change(v, 3, v->rows, 0, 0))
ON_OUTPUTS(zero_all, change(v, 0, v->rows, 0, 0))
ON_OUTPUTS(zero_a_row, change(v, middle, middle + 1, 0, 0))
ON_OUTPUTS(zero_the_first, change(v, 0, 1, 0, 0))
ON_OUTPUTS(zero_the_last, change(v, v->rows - 1, v->rows, 0, 0))
ON_OUTPUTS(zero_an_element, put(v, middle, largest(v, middle), 0))
ON_OUTPUTS(negate_an_element, put(v, middle, largest(v, middle), -get(v, middle, largest(v, middle))))
ON_OUTPUTS(negate_a_row, change(v, middle, middle + 1, -1, 0))
ON_OUTPUTS(one_percent_more, change(v, 0, v->rows, 1.01f, 0))
ON_OUTPUTS(one_percent_less, change(v, 0, v->rows, 0.99f, 0))
ON_OUTPUTS(a_constant_more, change(v, 0, v->rows, 1, 0.02f * rms(v)))
ON_OUTPUTS(a_constant_less, change(v, 0, v->rows, 1, -0.02f * rms(v)))
ON_OUTPUTS(twice_as_much, change(v, 0, v->rows, 2, 0))
ON_OUTPUTS(a_row_half_as_much_again, change(v, middle, middle + 1, 1.5f, 0))
ON_OUTPUTS(half_of_the_rows_more, change(v, 0, middle, 1.05f, 0))
ON_OUTPUTS(rows_swapped, swap_rows(v, middle - 1, middle))
ON_OUTPUTS(far_rows_swapped, swap_rows(v, 0, v->rows - 1))
ON_OUTPUTS(elements_swapped, size_t i = largest(v, middle); swap(v, middle, i, middle, i == 0 ? 1 : 0))
ON_OUTPUTS(a_row_twice, for (size_t i = 0; i < v->row; i++) put(v, middle, i, get(v, middle - 1, i)))
ON_OUTPUTS(rows_moved_by_one, for (size_t r = v->rows - 1; r > 0; r--) swap_rows(v, r, r - 1))
ON_OUTPUTS(rows_in_reverse, for (size_t r = 0; r < middle; r++) swap_rows(v, r, v->rows - 1 - r))
ON_OUTPUTS(a_row_moved_by_one, for (size_t i = v->row - 1; i > 0; i--) swap(v, middle, i, middle, i - 1))
ON_OUTPUTS(not_a_number, put(v, middle, 0, NAN))
ON_OUTPUTS(infinite, put(v, v->rows - 1, v->row - 1, INFINITY))
ON_OUTPUTS(half_not_written, change(v, middle, v->rows, 1, NAN))

/* What many outputs have in common, and each of them hardly: the first ones of every list. */
enum { SLIGHT = 4 };
#define OUTPUT_FAULTS                                                                                                  \
    AFTER("all outputs x 1.01", one_percent_more), AFTER("all outputs x 0.99", one_percent_less),                      \
        AFTER("all outputs + 2 % of their rms", a_constant_more),                                                      \
        AFTER("all outputs - 2 % of their rms", a_constant_less),                                                      \
        AFTER("all rows but three are zero", zero_all_but_three), AFTER("all rows are zero", zero_all),                \
        AFTER("a row is zero", zero_a_row), AFTER("the first row is zero", zero_the_first),                            \
        AFTER("the last row is zero", zero_the_last), AFTER("an element is zero", zero_an_element),                    \
        AFTER("an element has the other sign", negate_an_element), AFTER("a row has the other sign", negate_a_row),    \
        AFTER("all outputs x 2", twice_as_much), AFTER("a row x 1.5", a_row_half_as_much_again),                       \
        AFTER("half of the rows x 1.05", half_of_the_rows_more), AFTER("two rows swapped", rows_swapped),              \
        AFTER("the first and the last row swapped", far_rows_swapped),                                                 \
        AFTER("two elements swapped", elements_swapped), AFTER("a row is a copy of another", a_row_twice),             \
        AFTER("all rows one place on", rows_moved_by_one), AFTER("rows in reverse", rows_in_reverse),                  \
        AFTER("a row one element on", a_row_moved_by_one), AFTER("not a number", not_a_number),                        \
        AFTER("infinity", infinite), AFTER("half is not written", half_not_written), IDLE

/* ---- the bench ---- */

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct serial serial;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const char *why_not;
    bench->arena = ifm_arena_create();
    bench->machine = (struct ifm_machine){.device = "cpu",
                                          .cpus_allowed = 2,
                                          .threads = 2,
                                          .memory_available = (uint64_t)16 << 30,
                                          .cache_reported = {32768, 1 << 18, 1 << 18}};
    ifm_isas(&bench->machine.isas, &bench->machine.n_isas);
    bench->machine.blas = ifm_openblas_load(&why_not) != NULL ? "OpenBLAS" : NULL;
    bench->machine.blas_why_not = why_not;
    bench->serial.device.ops = &serial_ops;
    *context = bench;
    return 0;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    serial_free(&bench->serial);
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

/* Every arm of the settings, on an instruction set (or a library), which is refused `others` more elsewhere. How many
 * arms there were. */
static size_t refuse_beside(struct bench *bench, const struct ifm_workload *workload, const char *isa, const char *text,
                            const struct planted_fault *faults, size_t n_faults, size_t others)
{
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    struct ifm_setting *settings = IFM_ARENA_ARRAY(bench->arena, struct ifm_setting, PLANTED_SETTINGS);
    const size_t n = planted_settings(bench->arena, "", text, settings);
    if (workload->describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error) != IFM_OK)
        fail_msg("%s: %s", text, error.message);
    if (why_not != NULL) /* no kernel for the instruction set */
        return 0;
    give_settings(&arms, settings, n);
    for (size_t i = 0; i < arms.n; i++) {
        struct opened opened;
        const char *what = ifm_arena_printf(bench->arena, "%s, arm %s", text, arms.items[i].name);
        if (open_arm_on(workload, &arms.items[i], "cpu", &bench->serial.device, 2, 7, bench->arena, &opened, &error) !=
            IFM_OK)
            fail_msg("%s: %s", what, error.message);
        const bool has_codes = !ifm_is_empty(arms.items[i].feature);
        planted_count(workload->name, "cpu", isa,
                      others + refuses_every_fault(&opened, what, faults, n_faults, has_codes));
        ifm_implementation_close(opened.by, opened.state);
        serial_free(&bench->serial);
    }
    return arms.n;
}

static size_t refuse_in(struct bench *bench, const struct ifm_workload *workload, const char *isa, const char *text,
                        const struct planted_fault *faults, size_t n_faults)
{
    return refuse_beside(bench, workload, isa, text, faults, n_faults, 0);
}

/* ---- decode ---- */

static struct view decode_view(void *state)
{
    const struct ifm_decode_run *run = state;
    const size_t dim = run->settings->head_dim;
    return (struct view){run->out, run->outputs / dim, dim, IFM_STORE_F32};
}

/* A page function that leaves something out, of one page in `every`. */
static struct {
    ifm_kv_attend_fn *body, *f16;
    unsigned calls, every;
} page_functions;

static bool is_the_page(void)
{
    return page_functions.calls++ % page_functions.every == 1;
}

static const float *scaled(const float *query, unsigned values)
{
    static float out[64 * 256];
    for (unsigned i = 0; i < values; i++)
        out[i] = 1.25f * query[i];
    return out;
}

static void scale_body(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                       const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    page_functions.body(layout, page, tokens, group, scaled(query, group * layout->head_dim), sums, scratch, next);
}

static void scale_f16(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                      const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    page_functions.f16(layout, page, tokens, group, scaled(query, group * layout->head_dim), sums, scratch, next);
}

static void skip_second_page(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                             const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    if (!is_the_page())
        page_functions.body(layout, page, tokens, group, query, sums, scratch, next);
}

static void second_page_twice(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                              const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    page_functions.body(layout, page, tokens, group, query, sums, scratch, next);
    if (is_the_page())
        page_functions.body(layout, page, tokens, group, query, sums, scratch, next);
}

/* The page that was read before, once more in the place of the second one. */
static void second_page_stale(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                              const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    static const void *before;
    const bool stale = is_the_page();
    page_functions.body(layout, stale ? before : page, tokens, group, query, sums, scratch, next);
    before = page;
}

static void skip_sink(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                      const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    if (layout->tokens != IFM_KV_WIDE)
        page_functions.f16(layout, page, tokens, group, query, sums, scratch, next);
}

static void skip_ring(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                      const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    if (layout->tokens == IFM_KV_WIDE)
        page_functions.f16(layout, page, tokens, group, query, sums, scratch, next);
}

static void take_functions(struct ifm_decode_run *run, ifm_kv_attend_fn *body, ifm_kv_attend_fn *f16)
{
    page_functions.body = run->jobs[0].body;
    page_functions.f16 = run->jobs[0].f16;
    page_functions.calls = 0;
    page_functions.every = run->settings->inference ? 5 : UINT_MAX; /* of a cycle some in each of its steps */
    for (uint64_t layer = 0; layer < run->layers; layer++) {
        run->jobs[layer].body = body != NULL ? body : run->jobs[layer].body;
        run->jobs[layer].f16 = f16 != NULL ? f16 : run->jobs[layer].f16;
    }
}

static void give_functions_back(void *state)
{
    struct ifm_decode_run *run = state;
    for (uint64_t layer = 0; layer < run->layers; layer++) {
        run->jobs[layer].body = page_functions.body;
        run->jobs[layer].f16 = page_functions.f16;
    }
}

#define BY_PAGES(name, body, f16)                                                                                      \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        take_functions(state, body, f16);                                                                              \
    }
BY_PAGES(scales_wrongly, scale_body, scale_f16)
BY_PAGES(skips_a_page, skip_second_page, NULL)
BY_PAGES(reads_a_page_twice, second_page_twice, NULL)
BY_PAGES(reads_a_stale_page, second_page_stale, NULL)
BY_PAGES(skips_the_sink, NULL, skip_sink)
BY_PAGES(skips_the_ring, NULL, skip_ring)

static const struct planted_fault decode_faults[] = {
    OUTPUT_FAULTS,
    {"scores are scaled wrongly", scales_wrongly, give_functions_back, 0, false},
    {"a page is left out", skips_a_page, give_functions_back, 0, false},
    {"a page is read twice", reads_a_page_twice, give_functions_back, 0, false},
    {"a page is stale", reads_a_stale_page, give_functions_back, 0, false},
    {"the sink is left out", skips_the_sink, give_functions_back, 0, true},
    {"the ring is left out", skips_the_ring, give_functions_back, 0, true},
};

#define DECODE                                                                                                         \
    "decode.q_heads=64 decode.kv_heads=4 decode.kv_len=700 decode.head_dim=128 decode.layers=1 "                       \
    "decode.compress=1,2,4,8 decode.format=int8,e4m3,half4,int4,int2 decode.batch=%d decode.isa=%s"

/* Where queries are rounded to integers too (VNNI), an element's error is large, and 1 % of bias shows in the mean of
 * more of them. */
static void decode_refuses_them(void **context)
{
    struct bench *bench = *context;
    view_of = decode_view;
    for (size_t i = 0; i < bench->machine.n_isas; i++) {
        const char *isa = bench->machine.isas[i], *one = ifm_arena_printf(bench->arena, DECODE, 1, isa);
        const size_t slight = strcmp(isa, "avx512vnni") == 0 ? SLIGHT : 0, others = COUNT(decode_faults) - slight;
        (void)refuse_beside(bench, &ifm_workload_decode, isa, one, decode_faults + slight, others, slight);
        if (slight > 0)
            (void)refuse_beside(bench, &ifm_workload_decode, isa, ifm_arena_printf(bench->arena, DECODE, 12, isa),
                                decode_faults, slight, others);
    }
}

static void a_cycle_refuses_them(void **context)
{
    struct bench *bench = *context;
    view_of = decode_view;
    assert_true(refuse_in(bench, &ifm_workload_decode, "best",
                          "decode.batch=1 decode.q_heads=32 decode.kv_heads=2 decode.kv_len=700 decode.head_dim=64 "
                          "decode.layers=2 decode.inference=true decode.decode_tokens=4 decode.compress=1,4",
                          decode_faults, COUNT(decode_faults)) == 2);
}

/* ---- attention ---- */

static struct view attention_view(void *state)
{
    const struct ifm_attention_job *job = &((struct ifm_attention_host *)state)->job;
    const struct ifm_attention_shape *s = &job->shape;
    return (struct view){job->out, s->batch * s->q_heads * s->seq_len, s->head_dim, s->storage};
}

static uint32_t kept_length;

static void drop_a_key(void *state)
{
    struct ifm_attention_host *host = state;
    kept_length = host->lengths[0];
    host->lengths[0]--;
}

static void restore_key(void *state)
{
    ((struct ifm_attention_host *)state)->lengths[0] = kept_length;
}

static void other_mask(void *state)
{
    struct ifm_attention_shape *s = &((struct ifm_attention_host *)state)->job.shape;
    s->causal = !s->causal;
}

/* K and V of another place for the first head: stale memory. What the check reads is right again. */
static const char *kept_k, *kept_v;

static void other_keys(void *state)
{
    struct ifm_attention_host *host = state;
    kept_k = host->k;
    host->k = host->v;
}

static void other_values(void *state)
{
    struct ifm_attention_host *host = state;
    kept_v = host->v;
    host->v = host->k;
}

static void restore_keys(void *state)
{
    struct ifm_attention_host *host = state;
    host->job.k = kept_k + ((const char *)host->job.k - host->k);
    host->k = kept_k;
}

static void restore_values(void *state)
{
    struct ifm_attention_host *host = state;
    host->job.v = kept_v + ((const char *)host->job.v - host->v);
    host->v = kept_v;
}

/* A stride of K and V that is another tensor's. */
static void other_stride(void *state)
{
    struct ifm_attention_job *job = &((struct ifm_attention_host *)state)->job;
    job->at.kv.row -= (uint32_t)job->shape.head_dim;
}

static void restore_stride(void *state)
{
    struct ifm_attention_job *job = &((struct ifm_attention_host *)state)->job;
    job->at.kv.row += (uint32_t)job->shape.head_dim;
}

static size_t kept_units;

static void skip_a_unit(void *state)
{
    struct ifm_attention_job *job = &((struct ifm_attention_host *)state)->job;
    kept_units = job->n_units--;
}

static void restore_unit(void *state)
{
    ((struct ifm_attention_host *)state)->job.n_units = kept_units;
}

static const struct planted_fault attention_faults[] = {
    OUTPUT_FAULTS,
    {"a key is left out", drop_a_key, restore_key, 0, false},
    ROUND("the other mask", other_mask),
    {"stale keys", other_keys, restore_keys, 0, false},
    {"stale values", other_values, restore_values, 0, false},
    {"a unit is left out", skip_a_unit, restore_unit, 0, false},
    {"another stride", other_stride, restore_stride, 0, false},
};

static void attention_refuses_them(void **context)
{
    static const char *const storages[] = {"f16 attention.causal=true attention.layers=3",
                                           "bf16 attention.layers=2 attention.layout=qkv_packed",
                                           "f32 attention.layers=2"};
    struct bench *bench = *context;
    view_of = attention_view;
    for (size_t i = 0; i < bench->machine.n_isas + (bench->machine.blas != NULL); i++)
        for (size_t s = 0; s < COUNT(storages); s++) {
            const char *arm = i < bench->machine.n_isas ? bench->machine.isas[i] : "openblas";
            (void)refuse_in(bench, &ifm_workload_attention, arm,
                            ifm_arena_printf(bench->arena,
                                             "attention.batch=2 attention.q_heads=4 attention.kv_heads=2 "
                                             "attention.seq_len=70 attention.head_dim=32 attention.arms=%s "
                                             "attention.storage=%s",
                                             arm, storages[s]),
                            attention_faults, COUNT(attention_faults));
        }
}

/* ---- gemm ---- */

enum { PIECE = 32 };

static struct view gemm_view(void *state)
{
    const struct ifm_gemm_job *job = &((struct ifm_gemm_host *)state)->job;
    return (struct view){job->out, job->shape.m * job->shape.n / PIECE, PIECE, IFM_STORE_F32};
}

static float kept_x[64];
static unsigned char kept_w[256];

static float *tail_of_x(void *state)
{
    const struct ifm_gemm_job *job = &((struct ifm_gemm_host *)state)->job;
    return (float *)(uintptr_t)(job->x + job->shape.k - COUNT(kept_x));
}

static void drop_tail(void *state)
{
    memcpy(kept_x, tail_of_x(state), sizeof kept_x);
    memset(tail_of_x(state), 0, sizeof kept_x);
}

static void restore_tail(void *state)
{
    memcpy(tail_of_x(state), kept_x, sizeof kept_x);
}

/* Of every matrix: some bytes behind the first line, which of codes holds their scales. */
static void stale_weights(void *state)
{
    const struct ifm_gemm_host *host = state;
    for (uint64_t i = 0; i < host->layers; i++) {
        unsigned char *at = (unsigned char *)(uintptr_t)host->first_matrix + i * host->bytes + 64;
        memcpy(kept_w, at, sizeof kept_w);
        memset(at, 0, sizeof kept_w);
    }
}

static void restore_weights(void *state)
{
    const struct ifm_gemm_host *host = state;
    for (uint64_t i = 0; i < host->layers; i++)
        memcpy((unsigned char *)(uintptr_t)host->first_matrix + i * host->bytes + 64, kept_w, sizeof kept_w);
}

static void scale_x(void *state, float factor)
{
    const struct ifm_gemm_job *job = &((struct ifm_gemm_host *)state)->job;
    float *x = (float *)(uintptr_t)job->x;
    for (uint64_t i = 0; i < job->shape.m * job->shape.k; i++)
        x[i] *= factor;
}

static void twice_x(void *state)
{
    scale_x(state, 2);
}

static void half_x(void *state)
{
    scale_x(state, 0.5f);
}

static const struct planted_fault gemm_faults[] = {
    OUTPUT_FAULTS,
    {"the end of x is left out", drop_tail, restore_tail, 0, false},
    {"some weights are stale", stale_weights, restore_weights, 0, false},
    {"x has the wrong scale", twice_x, half_x, 0, false},
};

static void gemm_refuses_them(void **context)
{
    struct bench *bench = *context;
    view_of = gemm_view;
    for (size_t i = 0; i < bench->machine.n_isas; i++)
        (void)refuse_in(bench, &ifm_workload_gemm, bench->machine.isas[i],
                        ifm_arena_printf(bench->arena,
                                         "gemm.m=2 gemm.n=256 gemm.k=256 gemm.layers=2 gemm.arms=ours gemm.isa=%s",
                                         bench->machine.isas[i]),
                        gemm_faults, COUNT(gemm_faults));
    if (bench->machine.blas != NULL)
        assert_int_equal(refuse_in(bench, &ifm_workload_gemm, "openblas",
                                   "gemm.m=2 gemm.n=256 gemm.k=256 gemm.layers=2 gemm.arms=openblas gemm.weights=f32",
                                   gemm_faults, COUNT(gemm_faults)),
                         1);
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(decode_refuses_them), WITH_BENCH(a_cycle_refuses_them),        WITH_BENCH(attention_refuses_them),
        WITH_BENCH(gemm_refuses_them),   cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
