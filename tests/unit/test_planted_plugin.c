/* Every fault planted into a plugin's arm is refused: its check compares all outputs, and the lab overwrites them
 * before each step that is looked at. A plugin in memory: a matrix times a vector. */
#include <cmocka.h>

#include "facts.h"
#include "opened.h"
#include "planted.h"
#include "serial_device.h"
#include "workload/plugin/output.h"
#include "workload/plugin/private.h"
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { ROWS = 300, COLUMNS = 40 };

static struct product {
    float *out, matrix[ROWS][COLUMNS], x[COLUMNS];
    size_t rows, columns; /* of a step */
    float scale;
    bool blind;         /* the check compares nothing */
    const float *shown; /* as output */
} p;

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    (void)values, (void)host;
    ledger->flops = 2 * ROWS * COLUMNS;
    ledger->tolerance = 1e-5;
    return 0;
}

static int open_product(const struct inferometer_plugin_value *values, uint64_t seed,
                        const struct inferometer_plugin_host *host, void **state)
{
    void *memory;
    (void)values;
    if (host->buffer(host, "out", ROWS * sizeof(float), 0, &memory, NULL) != 0)
        return 1;
    p = (struct product){.out = memory, .rows = ROWS, .columns = COLUMNS, .scale = 1, .shown = memory};
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        p.matrix[i / COLUMNS][i % COLUMNS] = 0.5f + (float)((seed + i) * 2654435761U % 1000) / 1000;
    for (size_t i = 0; i < COLUMNS; i++)
        p.x[i] = 1 + (float)i / COLUMNS;
    *state = &p;
    return 0;
}

static void step(void *state, uint64_t n)
{
    (void)state;
    for (; n > 0; n--)
        for (size_t row = 0; row < p.rows; row++) {
            float sum = 0;
            for (size_t i = 0; i < p.columns; i++)
                sum += p.scale * p.matrix[row][i] * p.x[i];
            p.out[row] = sum;
        }
}

static int check(void *state, struct inferometer_plugin_check *out)
{
    double worst = 0, most = 0;
    (void)state;
    out->finite = 1;
    for (size_t row = 0; row < ROWS; row++) {
        double sum = 0;
        for (size_t i = 0; i < COLUMNS; i++)
            sum += (double)p.matrix[row][i] * (double)p.x[i];
        worst = fmax(worst, fabs((double)p.out[row] - sum));
        most = fmax(most, fabs(sum));
        out->finite &= isfinite(p.out[row]) != 0;
    }
    out->finite |= p.blind;
    out->error_rms_rel = out->error_max_rel = out->finite && !p.blind ? worst / most : 0;
    out->values = ROWS;
    out->output = p.shown;
    out->output_bytes = ROWS * sizeof *p.out;
    return 0;
}

static void close_product(void *state)
{
    (void)state;
}

static const struct inferometer_plugin table = {.struct_size = sizeof table,
                                                .abi = INFEROMETER_PLUGIN_ABI,
                                                .name = "product",
                                                .purpose = "a matrix times a vector",
                                                .timed_region = "a product",
                                                .describe = describe,
                                                .open = open_product,
                                                .step = step,
                                                .check = check,
                                                .close = close_product};

/* ---- faults ---- */

#define FAULT(name, ...)                                                                                               \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
    }

static void change(size_t from, size_t to, float factor, float term)
{
    for (size_t i = from; i < to; i++)
        p.out[i] = p.out[i] * factor + term;
}

static void swap(size_t i, size_t j)
{
    const float kept = p.out[i];
    p.out[i] = p.out[j];
    p.out[j] = kept;
}

FAULT(zero_first, p.out[0] = 0)
FAULT(zero_middle, p.out[ROWS / 2] = 0)
FAULT(zero_last, p.out[ROWS - 1] = 0)
FAULT(zero_head, change(0, 32, 0, 0))
FAULT(zero_all, change(0, ROWS, 0, 0))
FAULT(more, change(0, ROWS, 1.01f, 0))
FAULT(less, change(0, ROWS, 0.99f, 0))
FAULT(element_more, change(7, 8, 1.01f, 0))
FAULT(constant, change(0, ROWS, 1, 0.1f))
FAULT(twice, change(0, ROWS, 2, 0))
FAULT(half_more, change(0, ROWS / 2, 1.05f, 0))
FAULT(negative, change(9, 10, -1, 0))
FAULT(swapped, swap(10, 11))
FAULT(far_swapped, swap(0, ROWS - 1))
FAULT(on, for (size_t i = ROWS - 1; i > 0; i--) swap(i, i - 1))
FAULT(reverse, for (size_t i = 0; i < ROWS / 2; i++) swap(i, ROWS - 1 - i))
FAULT(copied, p.out[20] = p.out[21])
FAULT(not_a_number, p.out[5] = NAN)
FAULT(infinite, p.out[6] = INFINITY)
FAULT(scale, p.scale = 1.001f)
FAULT(unscale, p.scale = 1)
FAULT(row_less, p.rows = ROWS - 1)
FAULT(half_the_rows, p.rows = ROWS / 2)
FAULT(no_rows, p.rows = 0)
FAULT(all_rows, p.rows = ROWS)
FAULT(column_less, p.columns = COLUMNS - 1)
FAULT(all_columns, p.columns = COLUMNS)
FAULT(stale, p.matrix[100][3] += 1)
FAULT(fresh, p.matrix[100][3] -= 1)

static const struct planted_fault faults[] = {
    AFTER("the first output is zero", zero_first),
    AFTER("an output is zero", zero_middle),
    AFTER("the last output is zero", zero_last),
    AFTER("32 outputs are zero", zero_head),
    AFTER("all outputs are zero", zero_all),
    AFTER("all outputs x 1.01", more),
    AFTER("all outputs x 0.99", less),
    AFTER("an output x 1.01", element_more),
    AFTER("all outputs + 0.1", constant),
    AFTER("all outputs x 2", twice),
    AFTER("half of the outputs x 1.05", half_more),
    AFTER("an output has the other sign", negative),
    AFTER("two outputs swapped", swapped),
    AFTER("the first and the last swapped", far_swapped),
    AFTER("all outputs one place on", on),
    AFTER("outputs in reverse", reverse),
    AFTER("an output is a copy of another", copied),
    AFTER("not a number", not_a_number),
    AFTER("infinity", infinite),
    {"wrong scale", scale, unscale, 0, false},
    {"a row is left out", row_less, all_rows, 0, false},
    {"half of the rows are left out", half_the_rows, all_rows, 0, false},
    {"all rows are left out", no_rows, all_rows, 0, false},
    {"a column is left out", column_less, all_columns, 0, false},
    {"stale input", stale, fresh, 0, false},
    IDLE,
};

/* ---- the bench ---- */

struct bench {
    struct ifm_arena *arena;
    struct serial serial;
    struct opened opened;
};

static int setup(void **state)
{
    static const char *const none[] = {NULL};
    const struct ifm_plugin_taken taken = {none, none, none};
    const struct ifm_machine machine = {.device = "cpu", .threads = 1};
    struct bench *bench = calloc(1, sizeof *bench);
    struct ifm_plugin *plugin = &ifm_plugins[0];
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not;
    *state = bench;
    bench->arena = ifm_arena_create();
    bench->serial.device.ops = &serial_ops;
    *plugin = (struct ifm_plugin){.table = table};
    if (ifm_plugin_check(plugin, "product.so", &taken, bench->arena, &error) != IFM_OK)
        fail_msg("%s", error.message);
    plugin->identity = (struct ifm_plugin_identity){"product.so", "/product.so", "00", 1};
    ifm_plugin_adapt(0);
    assert_int_equal(ifm_workload_register(&plugin->workload, &error), IFM_OK);
    assert_int_equal(plugin->workload.describe(NULL, 0, &machine, bench->arena, &arms, &why_not, &error), IFM_OK);
    if (open_arm_on(&plugin->workload, &arms.items[0], "cpu", &bench->serial.device, 1, 7, bench->arena, &bench->opened,
                    &error) != IFM_OK)
        fail_msg("%s", error.message);
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    ifm_implementation_close(bench->opened.by, bench->opened.state);
    serial_free(&bench->serial);
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static void a_plugin_refuses_them(void **state)
{
    const struct bench *bench = *state;
    planted_count("plugin", "cpu", "any", refuses_every_fault(&bench->opened, "product", faults, COUNT(faults), false));
}

static void check_says(const struct bench *bench, const char *words)
{
    struct ifm_check out;
    struct ifm_error error = {0};
    const enum ifm_status status = bench->opened.by->check(bench->opened.state, &out, &error);
    assert_int_equal(status, words == NULL ? IFM_OK : IFM_INVALID);
    assert_int_equal(out.done, words == NULL);
    if (words != NULL)
        assert_facts(error.message, words);
}

/* An output that the lab cannot overwrite is none, and neither is a check that does not look at it. */
static void outputs_are_the_labs_to_overwrite(void **state)
{
    static float own[ROWS];
    const struct bench *bench = *state;
    bench->opened.by->step(bench->opened.state, 1);
    p.shown = own;
    check_says(bench, "output|host->buffer|alone");
    p.shown = p.out + 1; /* beyond the end */
    check_says(bench, "output|host->buffer|alone");
    p.shown = p.out;
    p.blind = true;
    check_says(bench, "accepts|0xff");
    p.blind = false;
    check_says(bench, NULL);
    assert_true(p.out[0] > 0); /* as the step left it */
    bench->opened.by->spoil(bench->opened.state, false);
    assert_true(isnan(p.out[0]) && isnan(p.out[ROWS - 1]));
    p.shown = p.out + 1;
    check_says(bench, "output|elsewhere");
    p.shown = p.out;
}

/* Of a large output: something of each page, and its end. */
static void large_outputs_are_overwritten_in_part(void **state)
{
    enum { BYTES = 3 << 20 };
    struct ifm_plugin_output output = {0};
    unsigned char *memory = calloc(1, BYTES);
    (void)state;
    ifm_plugin_output_spoil(&output, true); /* not shown yet: nothing */
    assert_true(ifm_plugin_output_may_lie(&output, memory, BYTES));
    assert_null(ifm_plugin_output_lies(&output, memory + 10, BYTES - 10));
    ifm_plugin_output_spoil(&output, false);
    assert_int_equal(memory[9], 0);
    for (size_t at = 10; at + 4096 <= BYTES; at += 4096)
        assert_true(memory[at] == 0xff && memory[at + 4000] == 0);
    assert_int_equal(memory[BYTES - 1], 0xff);
    ifm_plugin_output_spoil(&output, true);
    assert_int_equal(memory[14], 0xff);
    assert_int_equal(memory[4010], 0xff);
    ifm_plugin_output_free(&output);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_the_labs_to_overwrite), /* the first to ask the check */
        cmocka_unit_test(a_plugin_refuses_them),
        cmocka_unit_test(large_outputs_are_overwritten_in_part),
        cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
