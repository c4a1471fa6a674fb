/* What every workload says of its arms alike: nothing is computed on a scripted device, so nothing is lost, counted or
 * checked there; elsewhere a lossy arm has an oracle, and a check names the code that ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dyn/openblas.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "opened.h"
#include "plan/plan.h"
#include "serial_device.h"
#include "workload/workload.h"

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct serial serial;
    struct ifm_error error;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL)
        return 1;
    bench->arena = ifm_arena_create();
    bench->machine =
        (struct ifm_machine){.device = "cpu", .cpus_allowed = 1, .threads = 1, .memory_available = (uint64_t)16 << 30};
    ifm_isas(&bench->machine.isas, &bench->machine.n_isas);
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

static struct ifm_arm_list describe(struct bench *bench, const struct ifm_workload *workload,
                                    const struct ifm_setting *settings, size_t n)
{
    struct ifm_arm_list arms;
    const char *why_not = NULL;
    if (workload->describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &bench->error) != IFM_OK)
        fail_msg("%s: %s", workload->name, bench->error.message);
    if (why_not != NULL)
        fail_msg("%s: %s", workload->name, why_not);
    for (size_t i = 0; i < arms.n; i++) {
        arms.items[i].settings = settings;
        arms.items[i].n_settings = n;
    }
    return arms;
}

/* The arms of the plan that has one cell of each workload. */
static const struct ifm_plan *plan_of(struct bench *bench, const struct ifm_workload *const *workloads, size_t n)
{
    const char **names = IFM_ARENA_ARRAY(bench->arena, const char *, n);
    struct ifm_workload_entry *entries = IFM_ARENA_ARRAY(bench->arena, struct ifm_workload_entry, n);
    for (size_t i = 0; i < n; i++) {
        names[i] = workloads[i]->name;
        entries[i] = (struct ifm_workload_entry){.name = names[i],
                                                 .describe = workloads[i]->describe,
                                                 .serves = ifm_workload_serves(workloads[i], &bench->machine)};
    }
    const struct ifm_study study = {.workloads = names, .n_workloads = n};
    const struct ifm_catalog catalog = {.workloads = entries, .n_workloads = n, .machine = bench->machine};
    struct ifm_plan *plan;
    if (ifm_plan_build(&study, &catalog, "run", bench->arena, &plan, &bench->error) != IFM_OK)
        fail_msg("%s", bench->error.message);
    return plan;
}

static void a_scripted_device_loses_nothing(void **context)
{
    struct bench *bench = *context;
    static const struct ifm_workload *const workloads[] = {&ifm_workload_decode, &ifm_workload_gemm,
                                                           &ifm_workload_attention, &ifm_workload_stream};
    size_t lossy = 0;
    for (int scripted = 0; scripted < 2; scripted++) {
        bench->machine.device = scripted ? "fake" : "cpu";
        bench->machine.scripted = scripted;
        const struct ifm_plan *plan = plan_of(bench, workloads, sizeof workloads / sizeof workloads[0]);
        for (size_t c = 0; c < plan->n_cells; c++) {
            assert_true(plan->cells[c].n_arms > 0);
            for (size_t i = 0; i < plan->cells[c].n_arms; i++) {
                const struct ifm_arm *arm = &plan->cells[c].arms[i];
                if (scripted && (arm->lossy || arm->has_oracle || arm->feature[0] != '\0'))
                    fail_msg("%s, %s: a script is taken for a computation", arm->workload, arm->name);
                if (arm->lossy && !arm->has_oracle)
                    fail_msg("%s, %s: lossy, and nothing checks it", arm->workload, arm->name);
                assert_string_equal(arm->implementation, scripted ? "script" : "ours");
                lossy += arm->lossy;
            }
        }
    }
    assert_int_equal(lossy, 3 + 3); /* int8, int4, int2; bf16, int8, int4 */
}

static const char *isa_of(struct bench *bench, const struct ifm_workload *workload, const struct ifm_arm *arm)
{
    struct opened opened;
    struct ifm_check check;
    if (open_arm_on(workload, arm, "cpu", &bench->serial.device, 1, 7, bench->arena, &opened, &bench->error) != IFM_OK)
        fail_msg("%s, %s: %s", workload->name, arm->name, bench->error.message);
    opened.by->step(opened.state, 1);
    assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
    ifm_implementation_close(opened.by, opened.state);
    assert_true(check.done);
    return ifm_arena_strdup(bench->arena, check.isa);
}

/* The row of the table that is found, which for "avx512vnni" can be that of avx512; of OpenBLAS its core type. */
static void a_check_names_the_code_that_ran(void **context)
{
    struct bench *bench = *context;
    const char *why_not;
    const struct ifm_openblas *library = ifm_openblas_load(&why_not);
    bench->machine.blas = library != NULL ? library->name : NULL;
    for (size_t i = 0; i < bench->machine.n_isas; i++) {
        const char *isa = bench->machine.isas[i];
        const bool codes = strcmp(isa, "avx512") != 0; /* decode's kernels of codes begin with byte dot products */
        const struct ifm_setting decode[] = {{"decode.isa", isa},
                                             {"decode.kv_len", "600"},
                                             {"decode.batch", "1"},
                                             {"decode.layers", "1"},
                                             {"decode.kv_heads", "1"},
                                             {"decode.q_heads", "2"},
                                             {"decode.compress", codes ? "1,2" : "1"}},
                                 gemm[] = {{"gemm.isa", isa},
                                           {"gemm.n", "64"},
                                           {"gemm.k", "128"},
                                           {"gemm.layers", "1"}},
                                 attention[] = {
                                     {"attention.isa", isa}, {"attention.seq_len", "64"}, {"attention.layers", "1"}};
        const struct {
            const struct ifm_workload *workload;
            const char *op; /* followed by the arm's variant, if it ends so */
            const struct ifm_setting *settings;
            size_t n;
        } cases[] = {{&ifm_workload_decode, "kv_attend.", decode, 7},
                     {&ifm_workload_gemm, "gemm.", gemm, 4},
                     {&ifm_workload_attention, "attention.tiled", attention, 3}};
        for (size_t c = 0; c < 3; c++) {
            if (strcmp(isa, "sse2") == 0 && c < 2) /* has no kernels of its own */
                continue;
            const struct ifm_arm_list arms = describe(bench, cases[c].workload, cases[c].settings, cases[c].n);
            for (size_t a = 0; a < arms.n; a++) {
                const struct ifm_arm *arm = &arms.items[a];
                const bool theirs = strcmp(arm->variant, "openblas") == 0;
                const char *op = ifm_arena_printf(bench->arena, "%s%s", cases[c].op, c < 2 ? arm->variant : "");
                const char *wanted = theirs ? library->core : ifm_kernel_find(op, isa)->isa;
                assert_string_equal(isa_of(bench, cases[c].workload, arm), wanted);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_scripted_device_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_check_names_the_code_that_ran, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
