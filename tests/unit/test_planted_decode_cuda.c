/* Every fault planted into decode on the device cuda is refused, of each kernel: outputs spoiled after a step,
 * arguments that are others during it, caches that change, work that is left out. */
#include <cmocka.h>

#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "planted_outputs.h"
#include "workload/decode/run_cuda.h"

static struct view view_of(void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    return (struct view){run->device, run->out_at, run->halves ? VIEW_F16 : VIEW_F32, run->outputs,
                         run->settings->head_dim};
}

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
    const size_t bytes = (run->arguments.n_units + 1) * sizeof(struct ifm_decode_unit);
    struct ifm_decode_unit *units = malloc(bytes);
    struct ifm_error error = {0};
    assert_non_null(units);
    kept = *run;
    planted_read(run->device, units, run->arguments.units, bytes);
    for (uint32_t i = 0; i < run->arguments.n_units; i++)
        units[i].tokens -= IFM_DECODE_PAGE;
    void *other;
    if (ifm_decode_cuda_buffer(run, "other units", units, bytes, &other, &error) != IFM_OK)
        fail_msg("%s", error.message);
    run->arguments.units = other;
    run->arguments.tokens -= run->arguments.tokens > 0 ? IFM_DECODE_PAGE : 0;
    free(units);
}

/* Of the caches of all layers. */
static void flip(const struct ifm_decode_cuda_run *run, size_t byte, size_t n, unsigned char bits)
{
    for (unsigned i = 0; i < run->layers; i++)
        planted_flip(run->device, (const char *)run->pools[i] + byte, n, bits);
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

static const struct planted_fault caches[] = {
    ROUND("another value row", signs_of_a_value_row),
    ROUND("other keys", signs_of_rows_of_keys),
    ROUND("a value row of other size", exponents_of_a_value_row),
};
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

/* The library's arguments are in what it was given at open. */
static bool is_own(const void *state)
{
    return ((const struct ifm_decode_cuda_run *)state)->row != &ifm_decode_cuda_cudnn;
}

static bool has_whole_units(const void *state)
{
    const struct ifm_decode_cuda_run *run = state;
    return is_own(state) && (run->arguments.tokens != 0 || run->arguments.first == NULL);
}

static bool has_equal_units(const void *state)
{
    return is_own(state) && ((const struct ifm_decode_cuda_run *)state)->arguments.tokens != 0;
}

static const struct fault_list lists[] = {
    LIST(output_faults),
    LIST(caches),
    LIST_OF_ARGUMENTS(arguments, is_own),
    LIST_OF_ARGUMENTS(of_whole_units, has_whole_units),
    LIST_OF_ARGUMENTS(of_equal_units, has_equal_units),
    END_OF_LISTS,
};

#define SMALL "compress=1 kv_len=300 layers=3 "
static void equal_lengths(void **context)
{
    refuse_cell(*context, &ifm_workload_decode, SMALL "arms=cudnn,naive,ours batch=2 q_heads=4 kv_heads=1 head_dim=128",
                3, lists);
}

static void one_pair(void **context)
{
    refuse_cell(*context, &ifm_workload_decode, SMALL "arms=cudnn,naive,ours batch=1 q_heads=3 kv_heads=1 head_dim=64",
                3, lists);
}

static void shuffled_pages(void **context)
{
    refuse_cell(*context, &ifm_workload_decode,
                SMALL "arms=naive,ours batch=3 q_heads=2 kv_heads=1 head_dim=64 layout=paged ragged=0.5", 2, lists);
}

static void many_heads(void **context)
{
    refuse_cell(*context, &ifm_workload_decode, SMALL "arms=naive,ours batch=1 q_heads=10 kv_heads=1 head_dim=64", 2,
                lists);
}

static void other_dimensions(void **context)
{
    refuse_cell(*context, &ifm_workload_decode, SMALL "arms=naive batch=1 q_heads=2 kv_heads=1 head_dim=32", 1, lists);
    refuse_cell(*context, &ifm_workload_decode, SMALL "arms=naive batch=1 q_heads=2 kv_heads=1 head_dim=256", 1, lists);
}

/* With one layer that differs, outputs are those of the layer that the check reads. */
static void takes_layers_in_turn(const struct opened *opened)
{
    const struct ifm_decode_cuda_run *run = opened->state;
    struct ifm_check check;
    struct ifm_error error = {0};
    planted_flip(run->device, (const char *)run->pools[1] + run->half, run->settings->head_dim * 2, 0x80);
    planted_flip(run->device, run->pools[1], 512, 0x80);
    for (unsigned i = 0; i < 2 * run->layers; i++) {
        opened->by->step(opened->state, 1);
        if (opened->by->check(opened->state, &check, &error) != IFM_OK)
            fail_msg("%s", error.message);
        if (check.error_max_rel > opened->opening.arm->tolerance) /* that the cache is another is its own error */
            fail_msg("%s: step %u is off by %g", run->arm, i, check.error_max_rel);
    }
}

static void layers(void **context)
{
    struct bench *bench = *context;
    struct ifm_setting settings[PLANTED_SETTINGS];
    const size_t n = planted_settings(bench->arena, "decode.",
                                      SMALL "arms=cudnn,naive,ours batch=2 q_heads=4 kv_heads=2 head_dim=64", settings);
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    if (ifm_workload_decode.describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error) != IFM_OK)
        fail_msg("%s", error.message);
    give_settings(&arms, settings, n);
    for (size_t i = 0; i < arms.n; i++) {
        const struct ifm_device_options options = planted_options(false);
        struct ifm_device *device;
        struct opened opened;
        if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK ||
            open_arm_on(&ifm_workload_decode, &arms.items[i], "cuda", device, 1, 7, bench->arena, &opened, &error) !=
                IFM_OK)
            fail_msg("%s: %s", arms.items[i].name, error.message);
        takes_layers_in_turn(&opened);
        ifm_implementation_close(opened.by, opened.state);
        device->ops->close(device);
    }
    assert_true(arms.n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(layers),
        WITH_BENCH(equal_lengths),
        WITH_BENCH(one_pair),
        WITH_BENCH(shuffled_pages),
        WITH_BENCH(many_heads),
        WITH_BENCH(other_dimensions),
        cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
