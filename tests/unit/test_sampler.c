/* The sampler: one thread over sensors that tick, vanish, pause and freeze, and where it may run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "power/sampler.h"
#include "power/source.h"
#include "power_tree.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define MS INT64_C(1000000)
enum { LOOKS = 300 }; /* at the most: on a busy machine the thread that reads comes late */

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static struct ifm_power *open_fake(const char *script)
{
    static char path[512];
    snprintf(path, sizeof path, "%sfake_nvml.so", IFM_FAKE_NVML);
    assert_int_equal(setenv("FAKE_NVML", script, 1), 0);
    return tree_open(&(struct ifm_power_options){.root = "/nowhere", .nvml = path});
}

static struct ifm_sampler *start(struct ifm_power *power, struct ifm_instant base)
{
    struct ifm_sampler *sampler = NULL;
    struct ifm_error error = {0};
    assert_int_equal(ifm_sampler_start(power, base, 0, &sampler, &error), IFM_OK);
    return sampler;
}

/* Joules over time are those of the load, readings ascend over drains, and none is given twice. */
static void what_is_drained_is_one_series(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("watts=400 refresh_ms=50");
    size_t energy = tree_sensor(power, "gpu0", "nvml_energy"), ring = tree_sensor(power, "gpu0", "nvml_samples");
    struct ifm_instant base = ifm_clock_now();
    struct ifm_sampler *sampler = start(power, base);
    struct ifm_power_point first = {0}, last = {0};
    size_t n = 0, samples = 0;
    int64_t sample_ns = INT64_MIN;
    for (int i = 0; i < 4; i++) {
        sleep_ms(350);
        const struct ifm_power_series *series = ifm_sampler_drain(sampler);
        for (size_t p = 0; p < series[energy].n; p++) {
            const struct ifm_power_point *point = &series[energy].points[p];
            assert_true(n == 0 || (point->t_ns > last.t_ns && point->value > last.value));
            first = n++ == 0 ? *point : first;
            last = *point;
        }
        for (size_t p = 0; p < series[ring].n; p++) {
            assert_true(series[ring].points[p].t_ns > sample_ns);
            assert_true(series[ring].points[p].t_ns >= -MS);
            sample_ns = series[ring].points[p].t_ns;
            samples++;
        }
        assert_false(series[energy].lost);
        assert_int_equal(series[energy].implausible, 0);
    }
    ifm_sampler_stop(sampler);
    int64_t ms = ifm_clock_since(base).ns / MS; /* a busy machine sleeps longer */
    assert_in_range(n, 8, ms / 50 + 3);
    assert_in_range(samples, 30, ms / 20 + 3);
    double watts = (last.value - first.value) / ((double)(last.t_ns - first.t_ns) * 1e-9);
    assert_true(fabs(watts - 400) < 60);
    assert_true(last.t_ns > 900 * MS && last.t_ns <= ifm_clock_since(base).ns);
    ifm_power_close(power);
}

static void a_lost_sensor_keeps_what_it_gave(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("gpus=2 lost=14");
    size_t energy = tree_sensor(power, "gpu0", "nvml_energy"), other = tree_sensor(power, "gpu1", "nvml_energy");
    struct ifm_sampler *sampler = start(power, ifm_clock_now());
    const struct ifm_power_series *series = NULL;
    size_t n = 0, others = 0;
    for (int i = 0; i < LOOKS && (series == NULL || !series[energy].lost); i++) {
        sleep_ms(100);
        series = ifm_sampler_drain(sampler);
        n += series[energy].n;
        others += series[other].n;
    }
    assert_true(series[energy].lost);
    assert_true(n >= 1);
    assert_facts(series[energy].lost_reason, "GPU|lost");
    for (int i = 0; i < LOOKS && others < 5; i++) {
        sleep_ms(100);
        series = ifm_sampler_drain(sampler);
        assert_true(series[energy].lost && series[energy].n == 0); /* said again, not made up */
        others += series[other].n;
    }
    assert_false(series[other].lost);
    assert_true(others >= 5);
    ifm_sampler_stop(sampler);
    ifm_power_close(power);
}

/* What was drained is the caller's, who reads it without a lock: the thread does not touch it any more. */
static void a_series_that_was_given_stays_as_it_is(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("lost_ms=400");
    size_t energy = tree_sensor(power, "gpu0", "nvml_energy");
    struct ifm_sampler *sampler = start(power, ifm_clock_now());
    sleep_ms(100);
    const struct ifm_power_series *early = ifm_sampler_drain(sampler);
    bool lost = early[energy].lost; /* on a machine so busy that 100 ms took 400 */
    sleep_ms(900);
    assert_int_equal(early[energy].lost, lost);
    for (int i = 0; i < LOOKS && !lost; i++) {
        lost = ifm_sampler_drain(sampler)[energy].lost;
        sleep_ms(100);
    }
    assert_true(lost);
    ifm_sampler_stop(sampler);
    ifm_power_close(power);
}

static void gaps_are_counted_once_each(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("gap=300,600");
    size_t ring = tree_sensor(power, "gpu0", "nvml_samples"), gaps = 0, n = 0;
    struct ifm_instant base = ifm_clock_now();
    struct ifm_sampler *sampler = start(power, base);
    for (int i = 0; i < 6; i++) {
        sleep_ms(250);
        const struct ifm_power_series *series = ifm_sampler_drain(sampler);
        gaps += series[ring].gaps;
        n += series[ring].n;
    }
    ifm_sampler_stop(sampler);
    assert_int_equal(gaps, 1);
    assert_in_range(n, 25, (ifm_clock_since(base).ns / MS - 300) / 20 + 3);
    ifm_power_close(power);
}

/* A driver that keeps a call for seconds: who drains does not wait for it, and the silence is a gap of that sensor.
 * What the ring kept meanwhile is not lost. */
static void a_call_that_blocks_is_a_gap(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("block=300,1500");
    size_t energy = tree_sensor(power, "gpu0", "nvml_energy"), ring = tree_sensor(power, "gpu0", "nvml_samples");
    size_t gaps[2] = {0, 0};
    struct ifm_sampler *sampler = start(power, ifm_clock_now());
    int64_t longest_ns = 0, widest_ns = 0;
    for (int i = 0; i < 5; i++) {
        sleep_ms(500);
        struct ifm_instant before = ifm_clock_now();
        const struct ifm_power_series *series = ifm_sampler_drain(sampler);
        int64_t took_ns = ifm_clock_since(before).ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
        gaps[0] += series[energy].gaps;
        gaps[1] += series[ring].gaps;
        for (size_t p = 0; p < series[energy].n; p++)
            widest_ns = series[energy].points[p].half_ns > widest_ns ? series[energy].points[p].half_ns : widest_ns;
    }
    ifm_sampler_stop(sampler);
    ifm_power_close(power);
    assert_true(longest_ns < 700 * MS);
    assert_true(gaps[0] >= 1);
    assert_int_equal(gaps[1], 0);
    assert_true(widest_ns >= 50 * MS); /* nobody knows when in the call the value came to be */
}

static void a_frozen_counter_is_seen(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("refresh_ms=20 freeze_ms=200");
    size_t energy = tree_sensor(power, "gpu0", "nvml_energy");
    struct ifm_power_sensor *sensor = ifm_power_sensor_at(power, energy);
    sensor->every_ms = 20; /* as calibration would find */
    struct ifm_sampler *sampler = start(power, ifm_clock_now());
    sleep_ms(700);
    const struct ifm_power_series *series = ifm_sampler_drain(sampler);
    assert_true(series[energy].gaps >= 1); /* more where a busy machine starves the reader */
    assert_int_equal(series[energy].implausible, 0);
    sleep_ms(2200); /* twenty nominal periods */
    series = ifm_sampler_drain(sampler);
    assert_int_equal(series[energy].n, 0);
    assert_int_equal(series[energy].gaps, 0); /* the same gap still */
    assert_int_equal(series[energy].implausible, 1);
    ifm_sampler_stop(sampler);
    ifm_power_close(power);
}

/* Watts are read as often as the caller wants; a counter keeps its own pace. */
static void watts_are_read_at_the_rate_asked_for(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("refresh_ms=10");
    size_t instant = tree_sensor(power, "gpu0", "nvml_instant"), energy = tree_sensor(power, "gpu0", "nvml_energy");
    struct ifm_sampler *sampler = NULL;
    struct ifm_error error = {0};
    struct ifm_instant base = ifm_clock_now();
    assert_int_equal(ifm_sampler_start(power, base, 4, &sampler, &error), IFM_OK);
    sleep_ms(1600);
    const struct ifm_power_series *series = ifm_sampler_drain(sampler);
    assert_in_range(series[instant].n, 3, ifm_clock_since(base).ns / (250 * MS) + 1);
    assert_true(series[energy].n >= 8);
    assert_int_equal(series[instant].gaps, 0);
    ifm_sampler_stop(sampler);
    ifm_power_close(power);
}

static void nothing_to_read_is_no_hang(void **state)
{
    (void)state;
    struct ifm_power *power = tree_open(&(struct ifm_power_options){.root = "/nowhere"});
    struct ifm_sampler *sampler = start(power, ifm_clock_now());
    assert_non_null(ifm_sampler_drain(sampler));
    ifm_sampler_stop(sampler);
    ifm_sampler_stop(NULL);
    ifm_power_close(power);
}

static struct ifm_cpu_mask mask_of(const unsigned *cpus, size_t n)
{
    struct ifm_cpu_mask mask;
    memset(&mask, 0, sizeof mask);
    for (size_t i = 0; i < n; i++)
        CPU_SET_S(cpus[i], sizeof mask.sets, mask.sets);
    return mask;
}

static void it_leaves_the_cpus_of_others_alone(void **state)
{
    (void)state;
    struct ifm_cpu_mask allowed = mask_of((unsigned[]){0, 3, 1500}, 3), taken = mask_of((unsigned[]){0, 1500, 7}, 3);
    struct ifm_cpu_mask left = ifm_sampler_cpus(&allowed, &taken), wanted = mask_of((unsigned[]){3}, 1);
    assert_memory_equal(&left, &wanted, sizeof left);
    taken = mask_of((unsigned[]){0, 3, 1500}, 3);
    left = ifm_sampler_cpus(&allowed, &taken); /* no other: better there than not at all */
    assert_memory_equal(&left, &allowed, sizeof left);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, tree_set_up, tree_tear_down)

/* The thread itself, seen from outside: pinned where we are, it runs elsewhere. */
static void the_thread_is_not_where_the_driver_is_pinned(void **state)
{
    (void)state;
    struct ifm_cpu_mask before, mine, seen;
    assert_true(ifm_cpu_mask_get(&before));
    if (CPU_COUNT_S(sizeof before.sets, before.sets) < 2)
        skip(); /* one CPU: there is no other */
    tree_put("/proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\n");
    struct ifm_power *power = tree_open(&(struct ifm_power_options){.root = tree_root, .rated_w = 10});
    unsigned here = 0;
    while (!ifm_cpu_mask_has(&before, here))
        here++;
    mine = ifm_cpu_mask_of(here);
    assert_true(ifm_cpu_mask_set(&mine));
    struct ifm_sampler *sampler = start(power, ifm_clock_now());
    assert_true(ifm_cpu_mask_process(&seen)); /* the union over our threads: ours is one CPU */
    assert_true(CPU_COUNT_S(sizeof seen.sets, seen.sets) == CPU_COUNT_S(sizeof before.sets, before.sets));
    ifm_sampler_stop(sampler);
    ifm_power_close(power);
    assert_true(ifm_cpu_mask_set(&before));
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Calls of 17 ms, as an H200 with a busy memory answers: a reader that only wakes when the tick is due then sees it in
 * its first call, each time, and knows of each tick no more than that it came since the one before (58 ms each way). */
static void slow_calls_do_not_hide_when_ticks_are(void **state)
{
    (void)state;
    int64_t halves[64];
    size_t n = 0;
    struct ifm_power *power = open_fake("watts=400 refresh_ms=100 call_ms=17");
    size_t energy = tree_sensor(power, "gpu0", "nvml_energy");
    struct ifm_sampler *sampler = start(power, ifm_clock_now());
    sleep_ms(2500);
    const struct ifm_power_series *series = ifm_sampler_drain(sampler);
    for (size_t i = 5; i < series[energy].n && n < 64; i++)
        halves[n++] = series[energy].points[i].half_ns;
    assert_true(n >= 10);
    qsort(halves, n, sizeof *halves, by_size);
    assert_true(halves[n / 2] < 35 * MS);
    ifm_sampler_stop(sampler);
    ifm_power_close(power);
}

/* A meter whose clock is 3 s behind and that speaks in time is not silent: its lag is no gap. */
static void a_clock_that_is_behind_is_no_gap(void **state)
{
    (void)state;
    char path[128], line[64];
    size_t gaps = 0, n = 0;
    double now = 1e-9 * (double)ifm_clock_wall_ns();
    snprintf(path, sizeof path, "%s/m.csv", tree_root);
    snprintf(line, sizeof line, "%.6f,100\n%.6f,100\n", now - 8, now - 7); /* a period of a second */
    tree_put("/m.csv", line);
    struct ifm_power *power = tree_open(&(struct ifm_power_options){.root = "/nowhere", .meter = path});
    size_t meter = tree_sensor(power, "board", "meter");
    struct ifm_instant base = {ifm_clock_now().ns - 10000 * MS};
    struct ifm_sampler *sampler = start(power, base);
    for (int i = 0; i < 8; i++) {
        snprintf(line, sizeof line, "%.6f,100\n", 1e-9 * (double)ifm_clock_wall_ns() - 4);
        tree_append("/m.csv", line);
        sleep_ms(250);
        const struct ifm_power_series *series = ifm_sampler_drain(sampler);
        gaps += series[meter].gaps;
        n += series[meter].n;
    }
    for (int i = 0; i < LOOKS && n < 7; i++) { /* what was not read yet */
        sleep_ms(50);
        n += ifm_sampler_drain(sampler)[meter].n;
    }
    ifm_sampler_stop(sampler);
    assert_int_equal(gaps, 0);
    assert_in_range(n, 7, 8);
    ifm_power_close(power);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_drained_is_one_series),
        cmocka_unit_test(a_lost_sensor_keeps_what_it_gave),
        cmocka_unit_test(a_series_that_was_given_stays_as_it_is),
        cmocka_unit_test(gaps_are_counted_once_each),
        cmocka_unit_test(a_call_that_blocks_is_a_gap),
        cmocka_unit_test(a_frozen_counter_is_seen),
        cmocka_unit_test(slow_calls_do_not_hide_when_ticks_are),
        cmocka_unit_test(watts_are_read_at_the_rate_asked_for),
        cmocka_unit_test(nothing_to_read_is_no_hang),
        cmocka_unit_test(it_leaves_the_cpus_of_others_alone),
        TREE_TEST(a_clock_that_is_behind_is_no_gap),
        TREE_TEST(the_thread_is_not_where_the_driver_is_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
