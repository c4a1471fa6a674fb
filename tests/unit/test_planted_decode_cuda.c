/* Every fault planted into decode on the device cuda is refused, of each kernel: outputs spoiled after a step,
 * arguments that are others during it, caches that change, work that is left out.
 *
 * Memory is reached through the device alone, so that this program runs on a GPU too: tools/portable.sh carries it
 * there. In a build's tests the driver is the one of tests/fake_cuda. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "workload/decode/run_cuda.h"

#include <math.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { SETTINGS_MOST = 16 };

/* ---- outputs: rows of head_dim, read, changed and written back ---- */

struct view {
    float *out;
    size_t rows, row;
};

static struct view read_outputs(const struct ifm_decode_cuda_run *run)
{
    struct ifm_error error = {0};
    struct view v = {malloc(run->outputs * sizeof(float)), run->outputs / run->settings->head_dim,
                     run->settings->head_dim};
    assert_non_null(v.out);
    if (ifm_cuda_read(run->device, v.out, run->arguments.out, run->outputs * sizeof(float), &error) != IFM_OK)
        fail_msg("%s", error.message);
    return v;
}

static void write_outputs(const struct ifm_decode_cuda_run *run, const struct view *v)
{
    struct ifm_error error = {0};
    if (ifm_cuda_write(run->device, run->arguments.out, v->out, run->outputs * sizeof(float), &error) != IFM_OK)
        fail_msg("%s", error.message);
    free(v->out);
}

/* Rows [from, to): times `factor`, plus `term`. */
static void change(const struct view *v, size_t from, size_t to, float factor, float term)
{
    for (size_t i = from * v->row; i < to * v->row; i++)
        v->out[i] = v->out[i] * factor + term;
}

static void swap_rows(const struct view *v, size_t a, size_t b)
{
    for (size_t i = 0; i < v->row; i++) {
        const float kept = v->out[a * v->row + i];
        v->out[a * v->row + i] = v->out[b * v->row + i];
        v->out[b * v->row + i] = kept;
    }
}

/* The largest element of a row. */
static float *largest(const struct view *v, size_t row)
{
    float *best = v->out + row * v->row;
    for (size_t i = 0; i < v->row; i++)
        best = fabsf(v->out[row * v->row + i]) > fabsf(*best) ? v->out + row * v->row + i : best;
    return best;
}

#define ON_OUTPUTS(name, ...)                                                                                          \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_decode_cuda_run *run = state;                                                                 \
        const struct view view = read_outputs(run), *v = &view;                                                        \
        const size_t middle = v->rows / 2;                                                                             \
        (void)middle;                                                                                                  \
        __VA_ARGS__;                                                                                                   \
        write_outputs(run, v);                                                                                         \
    }
ON_OUTPUTS(all_zero, change(v, 0, v->rows, 0, 0))
ON_OUTPUTS(row_zero, change(v, middle, middle + 1, 0, 0))
ON_OUTPUTS(first_row_zero, change(v, 0, 1, 0, 0))
ON_OUTPUTS(last_row_zero, change(v, v->rows - 1, v->rows, 0, 0))
ON_OUTPUTS(half_zero, change(v, middle, v->rows, 0, 0))
ON_OUTPUTS(half_a_row_zero, for (size_t i = v->row / 2; i < v->row; i++) v->out[middle * v->row + i] = 0)
ON_OUTPUTS(value_zero, *largest(v, middle) = 0)
ON_OUTPUTS(value_negative, *largest(v, middle) *= -1)
ON_OUTPUTS(value_three_percent, *largest(v, middle) *= 1.03f)
ON_OUTPUTS(row_negative, change(v, middle, middle + 1, -1, 0))
ON_OUTPUTS(one_percent_more, change(v, 0, v->rows, 1.01f, 0))
ON_OUTPUTS(one_percent_less, change(v, 0, v->rows, 0.99f, 0))
ON_OUTPUTS(a_constant_more, change(v, 0, v->rows, 1, 0.02f * fabsf(*largest(v, 0))))
ON_OUTPUTS(twice_as_much, change(v, 0, v->rows, 2, 0))
ON_OUTPUTS(row_half_as_much_again, change(v, middle, middle + 1, 1.5f, 0))
ON_OUTPUTS(rows_swapped, swap_rows(v, middle - 1, middle))
ON_OUTPUTS(far_rows_swapped, swap_rows(v, 0, v->rows - 1))
ON_OUTPUTS(row_twice, memcpy(v->out + middle * v->row, v->out + (middle - 1) * v->row, v->row * sizeof(float)))
ON_OUTPUTS(row_moved_by_one,
           memmove(v->out + middle * v->row + 1, v->out + middle * v->row, (v->row - 1) * sizeof(float)))
ON_OUTPUTS(not_a_number, v->out[middle * v->row] = NAN)
ON_OUTPUTS(infinite, v->out[v->rows * v->row - 1] = INFINITY)

/* ---- arguments and caches during a step ---- */

static struct ifm_decode_cuda_run kept;

static void undo(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    const unsigned turn = run->turn;
    *run = kept;
    run->turn = turn;
}

#define DURING(name, ...)                                                                                              \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        struct ifm_decode_cuda_run *run = state;                                                                       \
        struct ifm_decode_attend *a = &run->arguments;                                                                 \
        (void)a;                                                                                                       \
        kept = *run;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
    }
static void move_pools(struct ifm_decode_cuda_run *run, size_t bytes)
{
    for (unsigned i = 0; i < run->layers; i++)
        run->pools[i] = (char *)run->pools[i] + bytes;
}

DURING(other_scale, a->scale *= 1.1f)
DURING(natural_scale, a->scale *= 0.6931472f)
DURING(no_scale, a->scale = 0)
DURING(keys_a_row_on, move_pools(run, run->settings->head_dim * 2); run->half -= run->settings->head_dim * 2)
DURING(values_a_row_back, run->half -= run->settings->head_dim * 2)
DURING(values_are_keys, run->half = 0)
DURING(a_token_less, a->tokens -= a->tokens > 0)
DURING(half_of_the_tokens, a->tokens /= 2)
DURING(queries_a_value_on, a->q += 4)

/* The naive kernel reads lengths from the units: other ones, a page shorter. */
static void shorter_units(void *state)
{
    struct ifm_decode_cuda_run *run = state;
    struct ifm_decode_unit *units = malloc((run->arguments.n_units + 1) * sizeof *units);
    struct ifm_error error = {0};
    assert_non_null(units);
    kept = *run;
    if (ifm_cuda_read(run->device, units, run->arguments.units, (run->arguments.n_units + 1) * sizeof *units, &error) !=
        IFM_OK)
        fail_msg("%s", error.message);
    for (uint32_t i = 0; i < run->arguments.n_units; i++)
        units[i].tokens -= IFM_DECODE_PAGE;
    void *other;
    if (ifm_decode_cuda_buffer(run, "other units", units, (run->arguments.n_units + 1) * sizeof *units, &other,
                               &error) != IFM_OK)
        fail_msg("%s", error.message);
    run->arguments.units = other;
    run->arguments.tokens -= run->arguments.tokens > 0 ? IFM_DECODE_PAGE : 0;
    free(units);
}

/* Bits of a cache flip before a step and back behind it: what the check reads is right again. */
static void flip(const struct ifm_decode_cuda_run *run, size_t byte, size_t n, unsigned char bits)
{
    unsigned char bytes[512];
    struct ifm_error error = {0};
    assert_true(n <= sizeof bytes);
    for (unsigned i = 0; i < run->layers; i++) {
        char *at = (char *)run->pools[i] + byte;
        if (ifm_cuda_read(run->device, bytes, at, n, &error) != IFM_OK)
            fail_msg("%s", error.message);
        for (size_t j = 1; j < n; j += 2) /* the upper byte of each value */
            bytes[j] ^= bits;
        if (ifm_cuda_write(run->device, at, bytes, n, &error) != IFM_OK)
            fail_msg("%s", error.message);
    }
}

#define FLIP(name, byte, n, bits)                                                                                      \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        const struct ifm_decode_cuda_run *run = state;                                                                 \
        flip(run, byte, n, bits);                                                                                      \
    }
FLIP(signs_of_a_value_row, run->half, run->settings->head_dim * 2, 0x80)
FLIP(signs_of_rows_of_keys, 0, 512, 0x80)
FLIP(exponents_of_a_value_row, run->half + 64 * run->settings->head_dim, run->settings->head_dim * 2, 0x20)

#define AFTER(what, fault)                                                                                             \
    {                                                                                                                  \
        what, NULL, fault, 0, false                                                                                    \
    }
#define WHILE(what, fault)                                                                                             \
    {                                                                                                                  \
        what, fault, undo, 0, false                                                                                    \
    }
#define ROUND(what, fault)                                                                                             \
    {                                                                                                                  \
        what, fault, fault, 0, false                                                                                   \
    }
static const struct planted_fault faults[] = {
    {"no step is done", NULL, NULL, 1, false},
    {"idle after the first step", NULL, NULL, 2, false},
    {"idle before the last measured step", NULL, NULL, 4, false},
    {"idle on the last measured step alone", NULL, NULL, -4, false},
    {"idle after the last measured step", NULL, NULL, 5, false},
    AFTER("all are zero", all_zero),
    AFTER("a row is zero", row_zero),
    AFTER("the first row is zero", first_row_zero),
    AFTER("the last row is zero", last_row_zero),
    AFTER("half of the rows are zero", half_zero),
    AFTER("half a row is zero", half_a_row_zero),
    AFTER("a value is zero", value_zero),
    AFTER("a value has the other sign", value_negative),
    AFTER("a value x 1.03", value_three_percent),
    AFTER("a row has the other sign", row_negative),
    AFTER("all x 1.01", one_percent_more),
    AFTER("all x 0.99", one_percent_less),
    AFTER("a constant more", a_constant_more),
    AFTER("all x 2", twice_as_much),
    AFTER("a row x 1.5", row_half_as_much_again),
    AFTER("neighbouring rows swapped", rows_swapped),
    AFTER("far rows swapped", far_rows_swapped),
    AFTER("a row twice", row_twice),
    AFTER("a row moved by one", row_moved_by_one),
    AFTER("not a number", not_a_number),
    AFTER("infinite", infinite),
    ROUND("another value row", signs_of_a_value_row),
    ROUND("other keys", signs_of_rows_of_keys),
    ROUND("a value row of other size", exponents_of_a_value_row),
};
/* A graph keeps the arguments of its first step: these are planted where each step is launched by itself. */
static const struct planted_fault arguments[] = {
    WHILE("another scale", other_scale),
    WHILE("e in place of 2", natural_scale),
    WHILE("no scale", no_scale),
    WHILE("the keys one row on", keys_a_row_on),
    WHILE("the values one row back", values_a_row_back),
    WHILE("keys in place of values", values_are_keys),
    WHILE("queries a few values on", queries_a_value_on),
};
/* Blocks that share tiles would read beyond units that are other ones. */
static const struct planted_fault of_whole_units[] = {WHILE("a page less", shorter_units)};
static const struct planted_fault of_equal_units[] = {
    WHILE("a token less", a_token_less),
    WHILE("half of the tokens", half_of_the_tokens),
};

/* ---- the bench ---- */

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct ifm_error error = {0};
    bench->arena = ifm_arena_create();
    *context = bench;
    if (ifm_device_cuda.describe(0, &bench->machine, &error) == IFM_OK)
        return 0;
    print_error("%s\n", error.message);
    return -1;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static void refuse_arm(struct bench *bench, const struct ifm_arm *arm, bool no_graphs)
{
    const struct ifm_device_options options = {.threads = 1, .no_graphs = no_graphs};
    struct ifm_device *device;
    struct ifm_error error = {0};
    struct opened opened;
    if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
        open_arm_on(&ifm_workload_decode, arm, "cuda", device, 1, 7, bench->arena, &opened, &error) != IFM_OK)
        fail_msg("%s: %s", arm->name, error.message);
    const struct ifm_decode_cuda_run *run = opened.state;
    const char *what = ifm_arena_printf(bench->arena, "%s, graphs %d", arm->name, !no_graphs);
    refuses_every_fault(&opened, what, faults, COUNT(faults), true);
    if (no_graphs)
        refuses_every_fault(&opened, what, arguments, COUNT(arguments), true);
    if (no_graphs && (run->arguments.tokens != 0 || run->arguments.first == NULL))
        refuses_every_fault(&opened, what, of_whole_units, COUNT(of_whole_units), true);
    if (no_graphs && run->arguments.tokens != 0)
        refuses_every_fault(&opened, what, of_equal_units, COUNT(of_equal_units), true);
    ifm_implementation_close(opened.by, opened.state);
    device->ops->close(device);
}

/* Settings as "path=value path=value", below decode. */
static void refuse_cell(struct bench *bench, const char *text, size_t n_arms)
{
    struct ifm_setting settings[SETTINGS_MOST];
    size_t n = 0;
    for (char *at = strtok(ifm_arena_strdup(bench->arena, text), " "); at != NULL; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');
        assert_true(equals != NULL && n < SETTINGS_MOST);
        *equals = '\0';
        settings[n++] = (struct ifm_setting){ifm_arena_printf(bench->arena, "decode.%s", at), equals + 1};
    }
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    if (ifm_workload_decode.describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error) != IFM_OK)
        fail_msg("%s", error.message);
    if (why_not != NULL)
        fail_msg("%s", why_not);
    assert_int_equal(arms.n, n_arms);
    give_settings(&arms, settings, n);
    for (size_t i = 0; i < arms.n; i++) {
        refuse_arm(bench, &arms.items[i], true);
        refuse_arm(bench, &arms.items[i], false);
        planted_count("decode", "cuda", arms.items[i].name, COUNT(faults));
    }
}

#define SMALL "compress=1 kv_len=300 layers=3 "
static void equal_lengths(void **context)
{
    refuse_cell(*context, SMALL "batch=2 q_heads=4 kv_heads=1 head_dim=128", 2);
}

static void one_pair(void **context)
{
    refuse_cell(*context, SMALL "batch=1 q_heads=3 kv_heads=1 head_dim=64", 2);
}

static void shuffled_pages(void **context)
{
    refuse_cell(*context, SMALL "batch=3 q_heads=2 kv_heads=1 head_dim=64 layout=paged ragged=0.5", 2);
}

static void many_heads(void **context)
{
    refuse_cell(*context, SMALL "batch=1 q_heads=10 kv_heads=1 head_dim=64", 2);
}

static void other_dimensions(void **context)
{
    refuse_cell(*context, SMALL "batch=1 q_heads=2 kv_heads=1 head_dim=32", 1);
    refuse_cell(*context, SMALL "batch=1 q_heads=2 kv_heads=1 head_dim=256", 1);
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(equal_lengths), WITH_BENCH(one_pair),         WITH_BENCH(shuffled_pages),
        WITH_BENCH(many_heads),    WITH_BENCH(other_dimensions), cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
