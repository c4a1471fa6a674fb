/* Workload gemm on a private serial device: arms and ledgers, outputs against the oracle, what a format loses, checks
 * that can fail, refusals. */
#include "dyn/openblas.h"
#include "kernel/cpu/isa.h"
#include "workload/gemm/oracle.h"
#include "workload/workload.h"

#include <cmocka.h>

#include "facts.h"
#include "opened.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 32, MIB = 1 << 20 };

/* The serial device: "workers" one after the other, buffers in a list. */
struct serial {
    struct ifm_device device;
    struct slot {
        char name[160];
        size_t bytes;
        void *memory;
    } slots[BUFFERS];
    size_t n;
};

static void serial_parallel(struct ifm_device *device, unsigned threads, ifm_work_fn *work, void *arg)
{
    (void)device;
    for (unsigned i = threads; i-- > 0;)
        work(arg, i, threads);
}

static enum ifm_status serial_buffer(struct ifm_device *device, const char *name, size_t bytes, void **out, bool *fresh,
                                     struct ifm_error *error)
{
    struct serial *serial = (struct serial *)device;
    *fresh = false;
    for (size_t i = 0; i < serial->n; i++)
        if (strcmp(serial->slots[i].name, name) == 0 && serial->slots[i].bytes == bytes) {
            *out = serial->slots[i].memory;
            return IFM_OK;
        }
    if (serial->n == BUFFERS)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "too many buffers");
    struct slot *slot = &serial->slots[serial->n++];
    snprintf(slot->name, sizeof slot->name, "%s", name);
    slot->bytes = bytes;
    slot->memory = *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(*out);
    memset(*out, 0xff, bytes);
    *fresh = true;
    return IFM_OK;
}

static const struct ifm_device_ops serial_ops = {
    .name = "serial", .parallel = serial_parallel, .buffer = serial_buffer};

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct serial serial;
    struct ifm_error error;
    struct ifm_arm_list arms;
    const char *why_not;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    bench->arena = ifm_arena_create();
    bench->machine = (struct ifm_machine){.device = "cpu",
                                          .cpus_allowed = 2,
                                          .threads = 2,
                                          .memory_available = (uint64_t)16 << 30,
                                          .cache_reported = {32768, 65536},
                                          .isas = isas,
                                          .n_isas = n};
    const struct ifm_openblas *blas = ifm_openblas_load(&bench->machine.blas_why_not);
    bench->machine.blas = blas != NULL ? blas->name : NULL;
    bench->serial.device.ops = &serial_ops;
    *context = bench;
    return 0;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    for (size_t i = 0; i < bench->serial.n; i++)
        free(bench->serial.slots[i].memory);
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static enum ifm_status describe(struct bench *bench, const struct ifm_setting *settings, size_t n)
{
    bench->why_not = NULL;
    enum ifm_status status = ifm_workload_gemm.describe(settings, n, &bench->machine, bench->arena, &bench->arms,
                                                        &bench->why_not, &bench->error);
    for (size_t i = 0; i < bench->arms.n; i++) { /* what plan does */
        bench->arms.items[i].settings = settings;
        bench->arms.items[i].n_settings = n;
    }
    return status;
}

static struct ifm_check run_arm(struct bench *bench, size_t arm, unsigned threads, uint64_t steps)
{
    struct opened opened;
    struct ifm_check check;
    assert_int_equal(open_arm_on(&ifm_workload_gemm, &bench->arms.items[arm], "cpu", &bench->serial.device, threads, 7,
                                 bench->arena, &opened, &bench->error),
                     IFM_OK);
    opened.by->step(opened.state, steps);
    assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
    ifm_implementation_close(opened.by, opened.state);
    return check;
}

static const struct ifm_arm *arm_called(const struct bench *bench, const char *name)
{
    for (size_t i = 0; i < bench->arms.n; i++)
        if (strcmp(bench->arms.items[i].name, name) == 0)
            return &bench->arms.items[i];
    return NULL;
}

static void ledgers_count_each_weight_once(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting settings[] = {{"gemm.m", "3"}, {"gemm.n", "192"}, {"gemm.k", "320"}, {"gemm.group", "64"}};
    const uint64_t weights = 192 * 320, x = 3 * 320 * 4;
    const struct {
        const char *name;
        uint64_t bytes;
    } wanted[] = {{"f32", 4 * weights},
                  {"bf16", 2 * weights},
                  {"int8", weights + 192 * 5 * 2 + 12 * 32}, /* five groups: the last line of scales is half full */
                  {"int4", weights / 2 + 192 * 5 * 2 + 12 * 32}};
    bench->machine.blas = "OpenBLAS 0.0 Test";
    assert_int_equal(describe(bench, settings, 4), IFM_OK);
    assert_true(bench->arms.rivals);
    assert_int_equal(bench->arms.n, 5);
    assert_string_equal(bench->arms.items[0].name, "openblas"); /* the baseline */
    assert_int_equal(memcmp(&bench->arms.items[0].ledger, &bench->arms.items[1].ledger, sizeof(struct ifm_ledger)), 0);
    for (size_t i = 0; i < 4; i++) {
        const struct ifm_arm *arm = arm_called(bench, wanted[i].name);
        assert_non_null(arm);
        assert_int_equal(arm->ledger.flops, 2 * 3 * weights);
        assert_int_equal(arm->ledger.bytes_read, wanted[i].bytes + x);
        assert_int_equal(arm->ledger.bytes_written, 3 * 192 * 4);
        assert_int_equal(arm->ledger.tokens_generated, 0); /* a row of one product is no token */
        assert_int_equal(arm->ledger.rows, 3);
        assert_int_equal(arm->stored, wanted[i].bytes);
        assert_int_equal(arm->stored_plain, 2 * weights);
        assert_true(arm->working_set >= 4 * 65536); /* each arm reads memory, and holds no more than that takes */
        assert_true(arm->working_set < 4 * 65536 + wanted[i].bytes);
        assert_int_equal(arm->working_set % wanted[i].bytes, 0);
        assert_int_equal(arm->lossy, i > 0);
    }
    bench->machine.blas = NULL; /* without it our f32 is the baseline */
    assert_int_equal(describe(bench, settings, 4), IFM_OK);
    assert_int_equal(bench->arms.n, 4);
    assert_string_equal(bench->arms.items[0].name, "f32");
}

static void every_arm_is_right_on_every_isa(void **context)
{
    struct bench *bench = *context;
    static const char *const ms[] = {"1", "2", "3", "5", "8"};
    for (size_t i = 0; i < bench->machine.n_isas; i++)
        for (size_t m = 0; m < sizeof ms / sizeof *ms; m++) {
            const char *isa = bench->machine.isas[i];
            const struct ifm_setting settings[] = {
                {"gemm.m", ms[m]}, {"gemm.n", "192"}, {"gemm.k", "448"}, {"gemm.isa", isa}, {"gemm.layers", "3"}};
            assert_int_equal(describe(bench, settings, 5), IFM_OK);
            if (strcmp(isa, "sse2") == 0) {
                assert_int_equal(bench->arms.n, 0);
                assert_non_null(strstr(bench->why_not, "sse2"));
                continue;
            }
            assert_null(bench->why_not);
            for (size_t a = 0; a < bench->arms.n; a++)
                for (unsigned threads = 1; threads <= 3; threads++) {
                    const struct ifm_arm *arm = &bench->arms.items[a];
                    const struct ifm_check check = run_arm(bench, a, threads, 4);
                    assert_true(check.done && check.finite);
                    assert_int_equal(check.values, strtoul(ms[m], NULL, 10) * 192);
                    assert_true(check.error_rms_rel <= arm->tolerance && check.error_max_rel <= arm->tolerance);
                    assert_int_equal(check.has_loss, arm->lossy);
                }
        }
}

/* Formats lose what their bits say, and our arithmetic adds at least ten times less. */
static void losses_are_those_of_the_formats(void **context)
{
    struct bench *bench = *context;
    static const struct {
        const char *name;
        double low, high;
    } wanted[] = {{"bf16", 3e-4, 3e-3}, {"int8", 1e-3, 1e-2}, {"int4", 0.02, 0.2}};
    const struct ifm_setting settings[] = {
        {"gemm.m", "4"}, {"gemm.n", "512"}, {"gemm.k", "1024"}, {"gemm.layers", "1"}};
    assert_int_equal(describe(bench, settings, 4), IFM_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct ifm_arm *arm = arm_called(bench, wanted[i].name);
        const struct ifm_check check = run_arm(bench, (size_t)(arm - bench->arms.items), 2, 1);
        if (!(check.loss_rms_rel > wanted[i].low && check.loss_rms_rel < wanted[i].high))
            fail_msg("%s loses %g", wanted[i].name, check.loss_rms_rel);
        assert_true(check.error_rms_rel < check.loss_rms_rel / 10);
        assert_true(check.loss_p99_rel > check.loss_rms_rel && check.loss_p99_rel < 10 * check.loss_rms_rel);
        assert_true(check.loss_cosine < 1 && check.loss_cosine > 1 - wanted[i].high);
        assert_true(isnan(check.loss_kl) && isnan(check.loss_tv));
    }
}

static void openblas_takes_every_m(void **context)
{
    struct bench *bench = *context;
    static const char *const ms[] = {"1", "7", "64", "256"};
    if (bench->machine.blas == NULL) {
        print_message("skipped: %s\n", bench->machine.blas_why_not);
        skip();
    }
    for (size_t m = 0; m < sizeof ms / sizeof *ms; m++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            const struct ifm_setting settings[] = {{"gemm.m", ms[m]}, {"gemm.n", "192"}, {"gemm.k", "448"}};
            assert_int_equal(describe(bench, settings, 3), IFM_OK);
            assert_int_equal(bench->arms.n, m < 2 ? 5 : 1); /* ours end at 8 */
            const struct ifm_check check = run_arm(bench, 0, threads, 2);
            assert_true(check.done && check.finite && !check.has_loss);
            assert_true(check.error_rms_rel <= bench->arms.items[0].tolerance);
            assert_true(check.error_max_rel <= bench->arms.items[0].tolerance);
        }
}

static void the_check_can_fail(void **context)
{
    struct bench *bench = *context;
    struct opened opened;
    struct ifm_check check;
    const struct ifm_setting settings[] = {{"gemm.n", "128"}, {"gemm.k", "256"}, {"gemm.layers", "1"}};
    assert_int_equal(describe(bench, settings, 3), IFM_OK);
    for (size_t a = 0; a < bench->arms.n; a++) {
        check = run_arm(bench, a, 2, 0); /* outputs that nothing wrote */
        assert_false(check.finite);
        assert_false(check.error_rms_rel <= 1);
    }
    const size_t n = bench->serial.n, last = bench->arms.n - 1; /* int4 in a buffer of its own, then x */
    assert_int_equal(open_arm_on(&ifm_workload_gemm, &bench->arms.items[last], "cpu", &bench->serial.device, 2, 8,
                                 bench->arena, &opened, &bench->error),
                     IFM_OK);
    opened.by->step(opened.state, 1);
    *(unsigned char *)bench->serial.slots[n].memory ^= 0x40; /* a scale */
    assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
    assert_true(check.error_rms_rel > bench->arms.items[last].tolerance);
    ifm_implementation_close(opened.by, opened.state);
}

static void refusals_say_why(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting n[] = {{"gemm.n", "100"}}, k[] = {{"gemm.k", "4095"}}, many[] = {{"gemm.m", "9"}},
                             library[] = {{"gemm.arms", "openblas"}}, ours[] = {{"gemm.m", "9"}, {"gemm.arms", "ours"}};
    assert_int_equal(describe(bench, n, 1), IFM_USAGE);
    assert_facts(bench->error.message, "gemm.n 100|64");
    assert_int_equal(describe(bench, k, 1), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "gemm.k 4095"));
    bench->machine.blas = NULL;
    bench->machine.blas_why_not = "it is not installed (remedy)";
    assert_int_equal(describe(bench, many, 1), IFM_OK);
    assert_int_equal(bench->arms.n, 0);
    assert_facts(bench->why_not, "8 activations|gemm.m|9|it is not installed (remedy)");
    assert_int_equal(describe(bench, library, 1), IFM_OK);
    assert_string_equal(bench->why_not, "it is not installed (remedy)");
    assert_int_equal(describe(bench, ours, 2), IFM_OK);
    assert_facts(bench->why_not, "openblas|gemm.arms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ledgers_count_each_weight_once, setup, teardown),
        cmocka_unit_test_setup_teardown(every_arm_is_right_on_every_isa, setup, teardown),
        cmocka_unit_test_setup_teardown(losses_are_those_of_the_formats, setup, teardown),
        cmocka_unit_test_setup_teardown(openblas_takes_every_m, setup, teardown),
        cmocka_unit_test_setup_teardown(the_check_can_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals_say_why, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
