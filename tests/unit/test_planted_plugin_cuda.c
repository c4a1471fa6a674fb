/* Every fault planted into the arms of a plugin on the device cuda is refused, captured and launched each: the plugin
 * of examples/plugin_cuda, with its outputs changed behind a step, or its launch changed before one. */
#include <cmocka.h>

#include "facts.h"
#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "workload/plugin/private.h"

#pragma push_macro("fail") /* of cmocka: the host has a member of that name */
#undef fail
#include "../../examples/plugin_cuda/rmsnorm.c"
#pragma pop_macro("fail")

static struct state *at_work; /* of the plugin that is open */
static struct ifm_device *device_at_work;

static const struct inferometer_plugin *real_table(void)
{
    return inferometer_plugin(INFEROMETER_PLUGIN_ABI);
}

static int open_kept(const struct inferometer_plugin_value *values, uint64_t seed,
                     const struct inferometer_plugin_host *host, void **out)
{
    const int failed = real_table()->open(values, seed, host, out);
    at_work = failed == 0 ? *out : NULL;
    device_at_work = ((struct ifm_plugin_link *)host->context)->device;
    return failed;
}

/* ---- faults ---- */

#include "planted_outputs.h"

static struct view view_of(void *opened)
{
    (void)opened;
    return (struct view){device_at_work, at_work->out, VIEW_F32, at_work->rows * at_work->width, at_work->width};
}

#define FAULT(name, ...)                                                                                               \
    static void name(void *opened)                                                                                     \
    {                                                                                                                  \
        (void)opened;                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
FAULT(row_less, at_work->rows--)
FAULT(row_more, at_work->rows++)
FAULT(half_the_rows, at_work->rows /= 2)
FAULT(all_rows, at_work->rows *= 2)
FAULT(narrow, at_work->width -= 4)
FAULT(wide, at_work->width += 4)
FAULT(large_epsilon, at_work->epsilon = 1e-2f)
FAULT(small_epsilon, at_work->epsilon = EPSILON)
FAULT(inputs_on, for (int i = 0; i < 3; i++) at_work->inputs[i] = (float *)at_work->inputs[i] + 4; at_work->rows--)
FAULT(inputs_back, for (int i = 0; i < 3; i++) at_work->inputs[i] = (float *)at_work->inputs[i] - 4; at_work->rows++)

static const struct planted_fault launch_faults[] = {
    {"a row is left out", row_less, row_more, 0, false},
    {"half of the rows are left out", half_the_rows, all_rows, 0, false},
    {"rows too narrow", narrow, wide, 0, false},
    {"a large epsilon", large_epsilon, small_epsilon, 0, false},
    {"inputs one vector on", inputs_on, inputs_back, 0, false},
};

static const struct fault_list lists[] = {LIST(output_faults), LIST_OF_ARGUMENTS(launch_faults, NULL), END_OF_LISTS};

/* ---- the plugin, loaded once ---- */

static struct ifm_plugin *load(struct ifm_arena *arena)
{
    static const char *const none[] = {NULL};
    const struct ifm_plugin_taken taken = {none, none, none};
    struct ifm_plugin *plugin = &ifm_plugins[0];
    struct ifm_error error = {0};
    *plugin = (struct ifm_plugin){.table = *real_table()};
    plugin->table.open = open_kept;
    if (ifm_plugin_check(plugin, "rmsnorm.so", &taken, arena, &error) != IFM_OK)
        fail_msg("%s", error.message);
    plugin->identity = (struct ifm_plugin_identity){"rmsnorm.so", "/rmsnorm.so", "00", 1};
    ifm_plugin_adapt(0);
    assert_int_equal(ifm_workload_register(&plugin->workload, &error), IFM_OK);
    return plugin;
}

static int load_once(void **context)
{
    struct ifm_arena *arena = ifm_arena_create();
    load(arena);
    *context = arena;
    return 0;
}

static int unload(void **context)
{
    ifm_arena_destroy(*context);
    return 0;
}

/* ---- tests ---- */

static void naive_refuses_them(void **context)
{
    refuse_cell(*context, &ifm_plugins[0].workload, "rows=10 width=36 buffers=3 impl=naive", 1, lists);
}

static void vector_refuses_them(void **context)
{
    refuse_cell(*context, &ifm_plugins[0].workload, "rows=10 width=1024 buffers=3 impl=vector", 1, lists);
}

/* A step takes the input of its turn and no other: one that is spoiled shows in every third step. */
static void inputs_come_in_turn(void **context)
{
    struct bench *bench = *context;
    const struct ifm_workload *workload = &ifm_plugins[0].workload;
    struct ifm_setting settings[PLANTED_SETTINGS];
    const size_t n = planted_settings(bench->arena, "rmsnorm.", "rows=2 width=8 buffers=3", settings);
    for (int no_graphs = 0; no_graphs < 2; no_graphs++) {
        const struct ifm_device_options options = {.threads = 1, .no_graphs = no_graphs != 0};
        struct ifm_arm_list arms;
        struct ifm_device *device;
        struct opened opened;
        struct ifm_check check;
        struct ifm_error error = {0};
        const char *why_not;
        assert_int_equal(workload->describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error),
                         IFM_OK);
        give_settings(&arms, settings, n);
        assert_int_equal(ifm_device_cuda.open(&options, &device, &error), IFM_OK);
        if (open_arm_on(workload, &arms.items[0], "cuda", device, 1, 7, bench->arena, &opened, &error) != IFM_OK)
            fail_msg("%s", error.message);
        opened.by->step(opened.state, 3);
        ifm_cuda_fill(device, at_work->inputs[1], UINT32_MAX, 8);
        for (uint32_t i = 0; i < 6; i++) {
            opened.by->step(opened.state, 1);
            assert_int_equal(*at_work->turn, i % 3);
            assert_int_equal(opened.by->check(opened.state, &check, &error), IFM_OK);
            assert_int_equal(check.finite, i % 3 != 1);
        }
        ifm_implementation_close(opened.by, opened.state);
        device->ops->close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(inputs_come_in_turn),
        WITH_BENCH(naive_refuses_them),
        WITH_BENCH(vector_refuses_them),
        cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, load_once, unload);
}
