/* What a plan was made for, and two plans compared leaf by leaf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "model/plan_json.h"
#include "model/plan_same.h"
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct ifm_setting settings[] = {
    {"decode.kv_len", "4096"}, {"decode.batch", "1"}, {"decode.note", "a \"quoted\" text"}};
static const struct ifm_arm arms[] = {
    {.name = "base",
     .workload = "decode",
     .variant = "",
     .settings = settings,
     .n_settings = COUNT(settings),
     .feature = "",
     .equals = ""},
    {.name = "fast",
     .role = IFM_ROLE_VARIANT,
     .workload = "decode",
     .variant = "avx2",
     .ledger = {.flops = UINT64_MAX},
     .tolerance = 1e-5,
     .feature = "elastic",
     .equals = "base"},
    {.name = "ceiling:read",
     .role = IFM_ROLE_CEILING,
     .workload = "stream",
     .variant = "x8",
     .feature = "",
     .equals = ""},
};
static const char *const columns[] = {"steal_ns", "switches"}, *const units[] = {"ns", "count"};
static const struct ifm_pass passes[] = {{.columns = columns, .column_units = units, .n_columns = COUNT(columns)}};
static struct ifm_cell cells[] = {
    {.index = 0,
     .name = "decode kv_len=4096",
     .workload = "decode",
     .arms = arms,
     .n_arms = COUNT(arms),
     .passes = passes,
     .n_passes = COUNT(passes),
     .unsupported = ""},
    {.index = 1, .name = "decode kv_len=1e9", .workload = "decode", .unsupported = "needs 4 TiB; 8 GiB are free"},
};
static const struct ifm_gate gates[] = {
    {.name = "fast enough", .metric = "latency_ns_p95", .arm = "fast", .cell = "", .classes = ""},
    {.name = "", .metric = "speedup", .arm = "", .cell = "", .classes = ""},
};
static const struct ifm_plan plan = {"0123456789ab", "cafe",       9,     "cpu",
                                     .cells = cells, COUNT(cells), gates, COUNT(gates)};

static const struct ifm_gpu gpu = {.name = "NVIDIA H200",
                                   .multiprocessors = 132,
                                   .major = 9,
                                   .l2_bytes = 60ull << 20,
                                   .memory_bytes = 140ull << 30,
                                   .clock_khz = 1980000,
                                   .memory_clock_khz = 3201000};
static const char *const isas[] = {"avx2", "scalar"};
static const struct ifm_machine machine = {.device = "cuda",
                                           .gpu = &gpu,
                                           .cpus_allowed = 8,
                                           .threads = 4,
                                           .memory_available = UINT64_MAX,
                                           .cache_reported = {32768, 1 << 20, 0, 7},
                                           .llc_instances = 2,
                                           .arch = "x86_64",
                                           .isas = isas,
                                           .n_isas = COUNT(isas),
                                           .blas = "OpenBLAS 0.3.21 Zen"};

static void the_machine_that_was_planned_for_comes_back(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    struct ifm_plan with = plan, *back;
    with.machine = &machine;
    with.rules = 3;
    json_t *json = ifm_plan_to_json(&with);
    if (ifm_plan_from_json(json, "plan.json", arena, &back, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    const struct ifm_machine *is = back->machine;
    assert_int_equal(back->rules, 3);
    assert_string_equal(is->device, "cuda");
    assert_false(is->scripted);
    assert_true(is->cpus_allowed == 8 && is->threads == 4 && is->llc_instances == 2);
    assert_true(is->memory_available == UINT64_MAX);
    assert_memory_equal(is->cache_reported, machine.cache_reported, sizeof is->cache_reported);
    assert_string_equal(is->arch, "x86_64");
    assert_int_equal(is->n_isas, COUNT(isas));
    for (size_t i = 0; i < COUNT(isas); i++)
        assert_string_equal(is->isas[i], isas[i]);
    assert_string_equal(is->blas, "OpenBLAS 0.3.21 Zen");
    assert_null(is->blas_why_not);
    assert_memory_equal(is->gpu, &gpu, sizeof gpu);
    json_array_clear(json_object_get(json_object_get(json, "machine"), "cache_reported"));
    assert_int_equal(ifm_plan_from_json(json, "plan.json", arena, &back, &error), IFM_INVALID);
    assert_string_equal(error.where, "plan.json: machine.cache_reported");
    json_decref(json);
    ifm_arena_destroy(arena);
}

/* ---- two plans, leaf by leaf ---- */

static void assert_leaf(const struct ifm_plan *has, size_t cell, const char *path, const char *stands,
                        const char *gives)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_plan_leaves leaves = {0};
    ifm_plan_differences(has, &plan, arena, &leaves);
    assert_int_equal(leaves.n, 1);
    assert_int_equal(leaves.items[0].cell, cell);
    assert_string_equal(leaves.items[0].path, path);
    assert_string_equal(leaves.items[0].has, stands);
    assert_string_equal(leaves.items[0].gives, gives);
    ifm_arena_destroy(arena);
}

static void each_leaf_that_differs_is_named(void **state)
{
    (void)state;
    struct ifm_plan other = plan;
    struct ifm_cell own[COUNT(cells)];
    struct ifm_arm own_arms[COUNT(arms)];
    struct ifm_setting own_settings[COUNT(settings)];
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_plan_leaves none = {0};
    other.run_id = "another";
    other.rules = 9;
    other.machine = &machine;
    ifm_plan_differences(&other, &plan, arena, &none);
    assert_int_equal(none.n, 0);
    memcpy(own, cells, sizeof own);
    memcpy(own_arms, arms, sizeof own_arms);
    memcpy(own_settings, settings, sizeof own_settings);
    other.cells = own;
    own[0].arms = own_arms;
    own_arms[1].tolerance = 2e-5;
    assert_leaf(&other, 0, "cells[0].arms[1].tolerance", "2e-05", "1e-05");
    own_arms[1].tolerance = arms[1].tolerance * (1 + 1e-13); /* a logarithm's last bit */
    own_arms[1].ledger.flops--;
    assert_leaf(&other, 0, "cells[0].arms[1].ledger.flops", "\"18446744073709551614\"", "\"18446744073709551615\"");
    own_arms[1].ledger.flops++;
    own_arms[2].role = IFM_ROLE_BASELINE;
    assert_leaf(&other, 0, "cells[0].arms[2].role", "\"baseline\"", "\"ceiling\"");
    own_arms[2].role = arms[2].role;
    own_arms[0].settings = own_settings;
    own_settings[0] = settings[1]; /* in another order: the same */
    own_settings[1] = settings[0];
    own_settings[2].text = "8192";
    own_settings[2].path = "decode.note";
    assert_leaf(&other, 0, "cells[0].arms[0].settings.decode.note", "\"8192\"", "\"a \"quoted\" text\"");
    own_settings[2] = settings[2];
    own[0].n_arms--;
    assert_leaf(&other, 0, "cells[0].arms[2]", "nothing", "\"ceiling:read\"");
    own[0].n_arms++;
    static const char *const renamed[] = {"steal_ns", "energy_uj"};
    struct ifm_pass pass = passes[0];
    pass.columns = renamed;
    own[0].passes = &pass;
    assert_leaf(&other, 0, "cells[0].passes[0].columns[1]", "\"energy_uj\"", "\"switches\"");
    own[0].passes = passes;
    own[1].measure.margin = 0.5;
    assert_leaf(&other, 1, "cells[1].measure.margin", "0.5", "0.0");
    other.n_cells = 1; /* nothing else is compared then */
    assert_leaf(&other, IFM_WHOLE_PLAN, "cells[1]", "nothing", "\"decode kv_len=1e9\"");
    other = plan;
    other.n_gates = 1;
    assert_leaf(&other, IFM_WHOLE_PLAN, "gates[1]", "nothing", "\"\"");
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_that_was_planned_for_comes_back),
        cmocka_unit_test(each_leaf_that_differs_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
