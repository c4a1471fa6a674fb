/* Workloads on a private serial device: ledgers, data, checks that can fail, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/fake.h"
#include "kernel/cpu/isa.h"
#include "opened.h"
#include "serial_device.h"
#include "workload/data/data.h"
#include "workload/stream/cycle.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
                                          .cache_reported = {32768, 1 << 20, 32 << 20},
                                          .isas = isas,
                                          .n_isas = n};
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

static enum ifm_status describe(struct bench *bench, const struct ifm_workload *workload,
                                const struct ifm_setting *settings, size_t n)
{
    bench->why_not = NULL;
    enum ifm_status status =
        workload->describe(settings, n, &bench->machine, bench->arena, &bench->arms, &bench->why_not, &bench->error);
    for (size_t i = 0; i < bench->arms.n; i++) { /* what plan does */
        bench->arms.items[i].settings = settings;
        bench->arms.items[i].n_settings = n;
    }
    return status;
}

static struct opened open_arm(struct bench *bench, const struct ifm_workload *workload, size_t arm, unsigned threads)
{
    struct opened opened;
    assert_int_equal(open_arm_on(workload, &bench->arms.items[arm], "cpu", &bench->serial.device, threads, 7,
                                 bench->arena, &opened, &bench->error),
                     IFM_OK);
    return opened;
}

static struct ifm_check run_arm(struct bench *bench, const struct ifm_workload *workload, size_t arm, unsigned threads,
                                uint64_t steps)
{
    struct ifm_check check;
    struct opened opened = open_arm(bench, workload, arm, threads);
    opened.by->step(opened.state, steps);
    assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
    ifm_implementation_close(opened.by, opened.state);
    return check;
}

static void registry_finds_every_workload(void **context)
{
    (void)context;
    assert_ptr_equal(ifm_workload_find("null"), &ifm_workload_null);
    assert_ptr_equal(ifm_workload_find("stream"), &ifm_workload_stream);
    assert_ptr_equal(ifm_workload_find("decode"), &ifm_workload_decode);
    assert_null(ifm_workload_find("decod"));
}

static void null_is_one_empty_step(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, &ifm_workload_null, NULL, 0), IFM_OK);
    assert_int_equal(bench->arms.n, 1);
    const struct ifm_ledger expected = {.rows = 1};
    assert_memory_equal(&bench->arms.items[0].ledger, &expected, sizeof expected);
    assert_true(bench->arms.items[0].fixed_inner);
    const struct opened opened = open_arm(bench, &ifm_workload_null, 0, 1);
    opened.by->step(opened.state, 1000000);
    ifm_implementation_close(opened.by, opened.state);
    assert_int_equal(bench->serial.parallels, 0);
    assert_int_equal(bench->serial.n, 0);
}

/* The spin is work of the stated length: ten times the count is several times the time. */
static void null_spin_takes_time_in_proportion(void **context)
{
    struct bench *bench = *context;
    static const struct ifm_setting spins[2][1] = {{{"null.spin", "100000"}}, {{"null.spin", "1000000"}}};
    struct opened opened[2];
    int64_t ns[2] = {INT64_MAX, INT64_MAX};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(describe(bench, &ifm_workload_null, spins[i], 1), IFM_OK);
        opened[i] = open_arm(bench, &ifm_workload_null, 0, 1);
    }
    /* The least of many, taken in turns: a machine that is busy for a while does not slow one of the two alone. */
    for (int turn = 0; turn < 100; turn++) {
        struct ifm_instant start = ifm_clock_now();
        opened[turn % 2].by->step(opened[turn % 2].state, 1);
        int64_t took = ifm_clock_since(start).ns;
        ns[turn % 2] = took < ns[turn % 2] ? took : ns[turn % 2];
    }
    for (int i = 0; i < 2; i++)
        ifm_implementation_close(opened[i].by, opened[i].state);
    assert_true(ns[0] > 5000 && ns[1] > 3 * ns[0]);
}

static void an_unsupported_isa_is_absent_with_a_reason(void **context)
{
    struct bench *bench = *context;
    static const char *const only[] = {"scalar"};
    bench->machine.isas = only;
    bench->machine.n_isas = 1;
    const struct ifm_setting decode[] = {{"decode.isa", "avx512"}},
                             stream[] = {{"stream.isa", "avx2"}, {"stream.probe", "read"}};
    assert_int_equal(describe(bench, &ifm_workload_decode, decode, 1), IFM_OK);
    assert_int_equal(bench->arms.n, 0);
    assert_non_null(strstr(bench->why_not, "avx512"));
    assert_int_equal(describe(bench, &ifm_workload_stream, stream, 2), IFM_OK);
    assert_int_equal(bench->arms.n, 0);
    assert_non_null(strstr(bench->why_not, "it has: scalar"));
}

static void stream_probes_do_what_their_ledger_says(void **context)
{
    struct bench *bench = *context;
    static const char *const probes[] = {"read", "write", "copy"};
    static const int ceilings[] = {IFM_CEILING_READ, IFM_CEILING_WRITE, IFM_CEILING_COPY};
    static const uint64_t read[] = {1000003, 0, 1000003}, written[] = {0, 1000003, 1000003};
    for (int p = 0; p < 3; p++) {
        const struct ifm_setting settings[] = {{"stream.probe", probes[p]}, {"stream.size", "1000003"}};
        assert_int_equal(describe(bench, &ifm_workload_stream, settings, 2), IFM_OK);
        assert_true(bench->arms.n >= 2);
        for (size_t i = 0; i < bench->arms.n; i++) {
            const struct ifm_arm *arm = &bench->arms.items[i];
            assert_int_equal(arm->ceiling, ceilings[p]);
            assert_int_equal(arm->ledger.bytes_read, read[p]);
            assert_int_equal(arm->ledger.bytes_written, written[p]);
            assert_int_equal(arm->working_set, read[p] + written[p]);
            for (unsigned threads = 1; threads <= 3; threads++) {
                struct ifm_check check = run_arm(bench, &ifm_workload_stream, i, threads, 2);
                assert_true(check.done && check.finite && check.values > 0);
                assert_true(check.error_rms_rel == 0);
            }
        }
    }
}

static void stream_check_catches_a_source_that_changed(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting settings[] = {{"stream.probe", "read"}, {"stream.size", "100000"}};
    assert_int_equal(describe(bench, &ifm_workload_stream, settings, 2), IFM_OK);
    assert_true(run_arm(bench, &ifm_workload_stream, 0, 2, 1).error_rms_rel == 0);
    ((unsigned char *)bench->serial.slots[0].memory)[99999] ^= 1;
    assert_true(run_arm(bench, &ifm_workload_stream, 1, 2, 1).error_rms_rel == 0.5); /* one of two workers */
}

static void flops_ledger_is_what_the_kernel_does(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting settings[] = {{"stream.probe", "flops"}};
    assert_int_equal(describe(bench, &ifm_workload_stream, settings, 1), IFM_OK);
    assert_int_equal(bench->arms.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct ifm_ledger *ledger = &bench->arms.items[i].ledger;
        assert_int_equal(bench->arms.items[i].ceiling, IFM_CEILING_FLOPS);
        assert_int_equal(ledger->bytes_read + ledger->bytes_written, 0);
        assert_true(ledger->flops > 2 * 134000000ULL && ledger->flops % ledger->rows == 0);
        assert_true(run_arm(bench, &ifm_workload_stream, i, 2, 1).error_rms_rel == 0);
    }
}

static void caches_arms_go_up_in_half_octaves(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting settings[] = {{"stream.probe", "caches"}};
    assert_int_equal(describe(bench, &ifm_workload_stream, settings, 1), IFM_OK);
    assert_int_equal(bench->arms.n, 31); /* 2^12, ..., 2^27 and what lies between */
    assert_string_equal(bench->arms.items[0].name, "caches.4096");
    assert_string_equal(bench->arms.items[30].name, "caches.134217728");
    for (size_t i = 0; i < bench->arms.n; i++) {
        const struct ifm_arm *arm = &bench->arms.items[i];
        assert_int_equal(arm->ledger.bytes_read, arm->ledger.rows * 64);
        assert_int_equal(arm->ledger.rows, arm->working_set / 64); /* a walk leaves out no line that a cache may hold */
        assert_int_equal(arm->ledger.rows % 8, 0);
        if (i > 0)
            assert_true(fabs((double)arm->working_set / (double)arm[-1].working_set - sqrt(2)) < 0.06);
    }
    for (size_t i = 0; i < 12; i++)
        assert_true(run_arm(bench, &ifm_workload_stream, i, 1, 3).error_rms_rel == 0);
    bench->machine.rules = 7;
    assert_int_equal(describe(bench, &ifm_workload_stream, settings, 1), IFM_OK);
    assert_int_equal(bench->arms.items[30].ledger.rows, 1 << 20);
    bench->machine.rules = 0;
    bench->machine.cache_reported[2] = (uint64_t)256 << 20;
    assert_int_equal(describe(bench, &ifm_workload_stream, settings, 1), IFM_OK);
    assert_int_equal(bench->arms.items[34].ledger.rows, bench->arms.items[34].working_set / 64); /* 512 MiB */
    assert_int_equal(bench->arms.items[35].ledger.rows, 1 << 20);
}

/* Of any number of lines, powers of two and others; the same however many write it. */
static void a_cycle_is_one_cycle(void **context)
{
    static const uint32_t sizes[] = {2, 3, 8, 64, 88, 1000, 4096, 65000};
    enum { MOST = 65000, WORDS = IFM_CYCLE_LINE / 8 };
    uint64_t *lines = calloc(MOST, IFM_CYCLE_LINE), *parts = calloc(MOST, IFM_CYCLE_LINE);
    bool *seen = malloc(MOST);
    (void)context;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint32_t n = sizes[i];
        const struct ifm_cycle cycle = ifm_cycle_of(5, n), other = ifm_cycle_of(6, n);
        ifm_cycle_write(&cycle, lines, 0, n);
        for (uint32_t part = 0; part < 7; part++)
            ifm_cycle_write(&cycle, parts, n * part / 7, n * (part + 1) / 7);
        assert_memory_equal(lines, parts, (size_t)n * IFM_CYCLE_LINE);
        memset(seen, 0, MOST);
        uint64_t at = ifm_cycle_at(&cycle, 0);
        for (uint32_t place = 0; place < n; place++) {
            assert_int_equal(at, ifm_cycle_at(&cycle, place));
            assert_true(at % IFM_CYCLE_LINE == 0 && at / IFM_CYCLE_LINE < n && !seen[at / IFM_CYCLE_LINE]);
            seen[at / IFM_CYCLE_LINE] = true;
            at = lines[at / 8];
        }
        assert_int_equal(at, ifm_cycle_at(&cycle, 0));
        assert_int_equal(ifm_cycle_wrong(&cycle, lines, 0, n), 0);
        assert_true(n < 64 || ifm_cycle_wrong(&other, lines, 0, n) > n * 9 / 10);
        lines[(size_t)(n - 1) * WORDS] ^= IFM_CYCLE_LINE;
        assert_int_equal(ifm_cycle_wrong(&cycle, lines, 0, n), 1);
        assert_int_equal(ifm_cycle_wrong(&cycle, lines, 0, n - 1), 0);
    }
    free(seen);
    free(parts);
    free(lines);
}

/* No step says where the next one leads: lengths and directions of steps are those of numbers drawn evenly. */
static void a_cycle_has_no_pattern(void **context)
{
    enum { LINES = 92672 /* between two powers of two, as every other size of the sweep */, PARTS = 16 };
    (void)context;
    for (uint64_t seed = 0; seed < 5; seed++) {
        const struct ifm_cycle cycle = ifm_cycle_of(seed, LINES);
        double pairs[PARTS][PARTS] = {{0}}, steps[PARTS] = {0}, lengths = 0, square = 0;
        unsigned near = 0, repeated = 0;
        uint64_t at = ifm_cycle_at(&cycle, 0) / IFM_CYCLE_LINE, before = 0;
        for (uint32_t place = 1; place < LINES; place++) {
            const uint64_t next = ifm_cycle_at(&cycle, place) / IFM_CYCLE_LINE;
            const uint64_t forward = (next + LINES - at) % LINES;
            pairs[at * PARTS / LINES][next * PARTS / LINES]++;
            steps[forward * PARTS / LINES]++;
            lengths += fabs((double)next - (double)at) / LINES;
            near += forward <= 4 || forward >= LINES - 4;
            repeated += forward == before;
            before = forward;
            at = next;
        }
        for (size_t i = 0; i < PARTS * PARTS; i++)
            square += pow(pairs[i / PARTS][i % PARTS] * PARTS * PARTS / LINES - 1, 2) * LINES / PARTS / PARTS;
        for (size_t i = 0; i < PARTS; i++)
            assert_true(fabs(steps[i] * PARTS / LINES - 1) < 6 / sqrt((double)LINES / PARTS));
        assert_true(square < 256 + 6 * sqrt(2.0 * 256)); /* chi-square of as many pairs */
        assert_true(fabs(lengths / LINES - 1.0 / 3) < 0.01);
        assert_true(near < 30 && repeated < 10); /* 8 and 1 are expected */
    }
}

/* On the fake device a step only advances the scripted clock, and nothing claims to have been checked. */
static void the_fake_device_runs_no_kernel(void **context)
{
    struct bench *bench = *context;
    const struct ifm_device_options options = {.threads = 1, .script = "step_ns=1000; noise=0", .seed = 1};
    struct ifm_device *fake;
    assert_int_equal(ifm_device_fake.open(&options, &fake, &bench->error), IFM_OK);
    static const struct ifm_setting read[] = {{"stream.probe", "read"}};
    const struct {
        const struct ifm_workload *workload;
        const struct ifm_setting *settings;
        size_t n;
    } cases[] = {{&ifm_workload_null, NULL, 0},
                 {&ifm_workload_stream, read, 1},
                 {&ifm_workload_decode, NULL, 0},
                 {&ifm_workload_attention, NULL, 0},
                 {&ifm_workload_gemm, NULL, 0}};
    bench->machine.device = "fake";
    bench->machine.scripted = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct opened opened;
        assert_int_equal(describe(bench, cases[i].workload, cases[i].settings, cases[i].n), IFM_OK);
        assert_true(bench->arms.n >= 1);
        if (open_arm_on(cases[i].workload, &bench->arms.items[0], "fake", fake, 1, 1, bench->arena, &opened,
                        &bench->error) != IFM_OK)
            fail_msg("%s: %s", cases[i].workload->name, bench->error.message);
        int64_t before = fake->ops->mark(fake).ns;
        opened.by->step(opened.state, 100);
        assert_true(fake->ops->mark(fake).ns - before >= 50000);
        assert_null(opened.by->check);
        ifm_implementation_close(opened.by, opened.state);
    }
    fake->ops->close(fake);
}

/* A probe of memory exceeds all the caches that the threads fill together, not one of them. */
static void the_default_probe_exceeds_every_cache(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting settings[] = {{"stream.probe", "read"}, {"stream.size", "0"}, {"stream.isa", "auto"}};
    bench->machine.llc_instances = 8; /* of 32 MiB each */
    assert_int_equal(describe(bench, &ifm_workload_stream, settings, 3), IFM_OK);
    for (size_t i = 0; i < bench->arms.n; i++)
        assert_int_equal(bench->arms.items[i].working_set, (uint64_t)1 << 30);
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(registry_finds_every_workload),
        WITH_BENCH(null_is_one_empty_step),
        WITH_BENCH(null_spin_takes_time_in_proportion),
        WITH_BENCH(an_unsupported_isa_is_absent_with_a_reason),
        WITH_BENCH(stream_probes_do_what_their_ledger_says),
        WITH_BENCH(stream_check_catches_a_source_that_changed),
        WITH_BENCH(flops_ledger_is_what_the_kernel_does),
        WITH_BENCH(caches_arms_go_up_in_half_octaves),
        WITH_BENCH(a_cycle_is_one_cycle),
        WITH_BENCH(a_cycle_has_no_pattern),
        WITH_BENCH(the_fake_device_runs_no_kernel),
        WITH_BENCH(the_default_probe_exceeds_every_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
