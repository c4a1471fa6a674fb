/* Implementations: an arm is bound to the row that its plan names, and its values become their types once; what opens
 * is what describe chose, whatever the ledger counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "kernel/cpu/isa.h"
#include "model/plan_json.h"
#include "opened.h"
#include "serial_device.h"
#include "workload/gemm/host.h"
#include <stdlib.h>

struct bench {
    struct ifm_arena *arena;
    struct serial serial;
    struct ifm_arm arm; /* int8 of gemm */
    struct ifm_error error;
};

static const struct ifm_setting settings[] = {
    {"gemm.n", "128"}, {"gemm.k", "64"}, {"gemm.layers", "3"}, {"gemm.weights", "int8"}, {"gemm.arms", "ours"}};
enum { SETTINGS = sizeof settings / sizeof *settings };

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct ifm_machine machine = {.device = "cpu", .threads = 1, .memory_available = (uint64_t)1 << 30};
    struct ifm_arm_list arms;
    const char *why_not;
    bench->arena = ifm_arena_create();
    bench->serial.device.ops = &serial_ops;
    ifm_isas(&machine.isas, &machine.n_isas);
    *context = bench;
    if (ifm_workload_gemm.describe(settings, SETTINGS, &machine, bench->arena, &arms, &why_not, &bench->error) !=
            IFM_OK ||
        arms.n != 1)
        return 1;
    bench->arm = arms.items[0];
    bench->arm.settings = settings;
    bench->arm.n_settings = SETTINGS;
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

static enum ifm_status bind(struct bench *bench, const char *device, struct ifm_opening *out)
{
    bench->arm.workload = "gemm";
    return ifm_implementation_bind(&bench->arm, device, bench->arena, out, &bench->error);
}

static void values_are_bound_as_their_types(void **context)
{
    struct bench *bench = *context;
    struct ifm_opening opening;
    assert_int_equal(bind(bench, "cpu", &opening), IFM_OK);
    assert_ptr_equal(opening.implementation, &ifm_gemm_cpu);
    assert_ptr_equal(opening.workload, &ifm_workload_gemm);
    const struct ifm_gemm_settings *s = opening.settings;
    const struct ifm_gemm_chosen *chosen = opening.chosen;
    assert_int_equal(s->n, 128);
    assert_int_equal(chosen->layers, 3);
    assert_int_equal(chosen->format, IFM_GEMM_INT8);
    assert_string_not_equal(chosen->isa, "auto");
    assert_true(chosen->isa[0] != '\0');
}

/* Three matrices, though the ledger and the working set say nothing of the kind. */
static void what_was_chosen_opens_and_not_the_ledger(void **context)
{
    struct bench *bench = *context;
    struct opened opened;
    bench->arm.ledger = (struct ifm_ledger){.flops = 1};
    bench->arm.working_set = bench->arm.stored = 7;
    assert_int_equal(open_arm_on(&ifm_workload_gemm, &bench->arm, "cpu", &bench->serial.device, 1, 7, bench->arena,
                                 &opened, &bench->error),
                     IFM_OK);
    const struct ifm_gemm_host *host = opened.state; /* the first member of the state */
    assert_int_equal(host->layers, 3);
    assert_int_equal(bench->serial.slots[0].bytes, 3 * ifm_gemm_bytes(&host->job.shape));
    ifm_implementation_close(opened.by, opened.state);
}

static void a_row_that_is_not_there_is_refused(void **context)
{
    struct bench *bench = *context;
    struct ifm_opening opening;
    bench->arm.implementation = "theirs";
    assert_int_equal(bind(bench, "cpu", &opening), IFM_INVALID);
    assert_facts(bench->error.message, "\"theirs\"|gemm|cpu");
    bench->arm.implementation = "ours";
    assert_int_equal(bind(bench, "abacus", &opening), IFM_INVALID);
    bench->arm.implementation = NULL; /* a plan of before there were rows */
    assert_int_equal(bind(bench, "cpu", &opening), IFM_INVALID);
    assert_facts(bench->error.message, "gemm|which implementation");
    bench->arm.implementation = "script";
    assert_int_equal(bind(bench, "cpu", &opening), IFM_INVALID);
    assert_int_equal(bind(bench, "fake", &opening), IFM_OK);
    assert_ptr_equal(opening.implementation, &ifm_implementation_script);
}

/* Who computes an arm and what was chosen for it come back from plan.json; a plan of an older version has neither. */
static void the_plan_holds_them(void **context)
{
    struct bench *bench = *context;
    static const struct ifm_pass pass = {.kind = IFM_PASS_LATENCY};
    struct ifm_cell cell = {.name = "gemm", .workload = "gemm", .unsupported = "", .arms = &bench->arm, .n_arms = 1};
    struct ifm_plan plan = {"run", "hash", 1, "cpu", .cells = &cell, .n_cells = 1}, *back;
    cell.passes = &pass;
    cell.n_passes = 1;
    bench->arm.workload = "gemm";
    bench->arm.feature = bench->arm.equals = "";
    json_t *json = ifm_plan_to_json(&plan), *cells = json_object_get(json, "cells");
    json_t *arm = json_array_get(json_object_get(json_array_get(cells, 0), "arms"), 0);
    if (ifm_plan_from_json(json, "plan.json", bench->arena, &back, &bench->error) != IFM_OK)
        fail_msg("%s: %s", bench->error.where, bench->error.message);
    const struct ifm_arm *read = &back->cells[0].arms[0];
    assert_string_equal(read->implementation, "ours");
    assert_string_equal(read->title, bench->arm.title);
    assert_int_equal(read->n_chosen, bench->arm.n_chosen);
    for (size_t i = 0; i < read->n_chosen; i++) {
        assert_string_equal(read->chosen[i].path, bench->arm.chosen[i].path);
        assert_string_equal(read->chosen[i].text, bench->arm.chosen[i].text);
    }
    json_object_del(arm, "implementation");
    json_object_del(arm, "chosen");
    assert_int_equal(ifm_plan_from_json(json, "plan.json", bench->arena, &back, &bench->error), IFM_OK);
    assert_string_equal(back->cells[0].arms[0].implementation, "");
    assert_int_equal(back->cells[0].arms[0].n_chosen, 0);
    json_object_set_new(arm, "chosen", json_pack("{s:i}", "layers", 3));
    assert_int_equal(ifm_plan_from_json(json, "plan.json", bench->arena, &back, &bench->error), IFM_INVALID);
    assert_string_equal(bench->error.where, "plan.json: cells[0].arms[0].chosen.layers");
    json_decref(json);
}

/* Rows of a workload are told apart by name and device, and each says what it is. */
static void rows_are_complete(void **context)
{
    (void)context;
    for (size_t w = 0; ifm_workloads[w] != NULL; w++) {
        const struct ifm_implementation *const *rows = ifm_workloads[w]->implementations;
        for (size_t i = 0; rows != NULL && rows[i] != NULL; i++) {
            const struct ifm_implementation *row = rows[i];
            assert_true(row->name[0] != '\0' && row->title[0] != '\0' && row->purpose[0] != '\0');
            assert_true(row->open != NULL && row->step != NULL && row->state_bytes > 0);
            assert_int_equal(row->check != NULL, ifm_workloads[w]->has_oracle);
            ifm_implementation_close(row, NULL);
            for (size_t j = 0; j < i; j++)
                if (strcmp(rows[j]->name, row->name) == 0 && strcmp(rows[j]->device, row->device) == 0)
                    fail_msg("%s has two rows %s for %s", ifm_workloads[w]->name, row->name, row->device);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_are_bound_as_their_types, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_chosen_opens_and_not_the_ledger, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_that_is_not_there_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_plan_holds_them, setup, teardown),
        cmocka_unit_test(rows_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
