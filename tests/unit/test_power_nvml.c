/* Power through NVML, from libraries that this test's script makes misbehave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dyn/nvml.h"
#include "facts.h"
#include "power_tree.h"
#include <math.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)

/* The C library's, with a wall clock that a test sets, for this program and the library that it opens. */
static int64_t clock_set_s;
int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    time->tv_sec += clock == CLOCK_REALTIME ? clock_set_s : 0;
    return result;
}

static struct ifm_power *open_fake(const char *library, const char *script, const char *bus)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s.so", IFM_FAKE_NVML, library);
    assert_int_equal(setenv("FAKE_NVML", script, 1), 0);
    return tree_open(&(struct ifm_power_options){.root = "/nowhere", .nvml = path, .bus = bus});
}

static enum ifm_status read_one(struct ifm_power *power, size_t sensor, struct ifm_power_point *point, size_t *n,
                                struct ifm_error *error)
{
    memset(error, 0, sizeof *error);
    *point = (struct ifm_power_point){.value = NAN};
    return ifm_power_read(power, sensor, point, 1, n, error);
}

static void sleep_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0)
        ;
}

static void no_library_is_a_reason(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("no_such_library", "", NULL);
    const struct ifm_power_absence *absence = tree_absence(power, "nvml");
    assert_non_null(absence);
    assert_non_null(strstr(absence->reason, "no_such_library"));
    assert_non_null(strstr(absence->remedy, "NVIDIA driver"));
    assert_int_equal(tree_sensor(power, "gpu0", "nvml_energy"), IFM_POWER_MOST);
    ifm_power_close(power);

    power = tree_open(&(struct ifm_power_options){.root = "/nowhere"}); /* never this machine's own */
    assert_non_null(strstr(tree_absence(power, "nvml")->reason, "recorded machine"));
    ifm_power_close(power);
}

static void gpus_are_left_alone_where_they_are_not_measured(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%sfake_nvml.so", IFM_FAKE_NVML);
    struct ifm_power *power = tree_open(&(struct ifm_power_options){.root = "/nowhere", .nvml = path, .no_gpu = true});
    assert_int_equal(tree_sensor(power, "gpu0", "nvml_energy"), IFM_POWER_MOST);
    assert_non_null(strstr(tree_absence(power, "nvml")->reason, "left alone"));
    ifm_power_close(power);
}

static void a_library_that_does_not_start_says_why(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("fake_nvml_broken", "", NULL);
    assert_facts(tree_absence(power, "nvml")->reason, "driver|too old|nvmlInit_v2");
    ifm_power_close(power);
    power = open_fake("fake_nvml", "init=9", NULL);
    assert_facts(tree_absence(power, "nvml")->reason, "NVML|start|Driver Not Loaded");
    ifm_power_close(power);
    power = open_fake("fake_nvml", "init=4", NULL);
    assert_non_null(strstr(tree_absence(power, "nvml")->reason, "no permission"));
    assert_non_null(strstr(tree_absence(power, "nvml")->remedy, "/dev/nvidia"));
    ifm_power_close(power);
}

static void an_old_driver_keeps_what_it_has(void **state)
{
    (void)state;
    static const char *const missing[] = {"nvml_samples", "nvml_average", "nvml_instant", "nvml_memory"};
    struct ifm_power *power = open_fake("fake_nvml_old", "", NULL);
    assert_int_not_equal(tree_sensor(power, "gpu0", "nvml_energy"), IFM_POWER_MOST);
    for (size_t i = 0; i < 4; i++) {
        const struct ifm_power_absence *absence = tree_absence(power, missing[i]);
        assert_non_null(absence);
        assert_facts(absence->reason, "gpu0|driver 580.00|reading");
    }
    ifm_power_close(power);
}

static void what_a_gpu_refuses_is_absent_alone(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("fake_nvml", "energy_rc=4 memory_rc=3", NULL);
    assert_facts(tree_absence(power, "nvml_energy")->reason, "gpu0|permission");
    assert_facts(tree_absence(power, "nvml_memory")->reason, "gpu0|support");
    assert_null(tree_absence(power, "nvml_average"));
    size_t average = tree_sensor(power, "gpu0", "nvml_average");
    assert_int_not_equal(average, IFM_POWER_MOST);
    assert_true(ifm_power_list(power)->sensors[average].limit_w == 700);
    ifm_power_close(power);
}

static void one_gpu_of_two_fails(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("fake_nvml", "gpus=2 fail=0", NULL);
    assert_int_equal(tree_sensor(power, "gpu0", "nvml_energy"), IFM_POWER_MOST);
    assert_int_not_equal(tree_sensor(power, "gpu1", "nvml_energy"), IFM_POWER_MOST);
    assert_facts(tree_absence(power, "nvml")->reason, "gpu0|lost");
    ifm_power_close(power);
    power = open_fake("fake_nvml", "gpus=0", NULL);
    assert_facts(tree_absence(power, "nvml")->reason, "NVML|no GPU");
    ifm_power_close(power);
}

static void a_gpu_is_chosen_by_its_bus(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("fake_nvml", "gpus=2 fail=0", "0000:00:07.0");
    assert_int_equal(ifm_power_list(power)->n_sensors, 5);
    assert_int_not_equal(tree_sensor(power, "gpu0", "nvml_energy"), IFM_POWER_MOST);
    ifm_power_close(power);
    power = open_fake("fake_nvml", "", "0000:00:09.0");
    assert_int_equal(ifm_power_list(power)->n_sensors, 0);
    assert_facts(tree_absence(power, "nvml")->reason, "GPU|measured");
    assert_null(strstr(tree_absence(power, "nvml")->reason, "0000:00:09.0")); /* it is published */
    ifm_power_close(power);
}

static void energy_is_joules_since_the_first_reading(void **state)
{
    (void)state;
    /* The first call is the one that finds the sensor. */
    struct ifm_power *power = open_fake("fake_nvml", "energy=1000,1000,1000,1500,1700,900,950", NULL);
    size_t sensor = tree_sensor(power, "gpu0", "nvml_energy"), n;
    struct ifm_power_point point;
    struct ifm_error error;
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_int_equal(n, 1);
    assert_true(point.value == 0);
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_int_equal(n, 0); /* unchanged: nothing new */
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_true(fabs(point.value - 0.5) < 1e-12);
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_true(fabs(point.value - 0.7) < 1e-12);
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_INVALID); /* a driver that was loaded anew */
    assert_string_equal(error.where, "gpu0 nvml_energy");
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_true(fabs(point.value - 0.75) < 1e-12);
    ifm_power_close(power);
}

static void a_lost_gpu_stays_lost_and_a_hiccup_passes(void **state)
{
    (void)state;
    static const enum ifm_status wanted[] = {IFM_OK,      IFM_INVALID, IFM_INVALID, IFM_OK,      IFM_INVALID,
                                             IFM_INVALID, IFM_OK,      IFM_INVALID, IFM_INVALID, IFM_MISSING};
    struct ifm_power *power = open_fake("fake_nvml", "energy=1,2,3,4,5,6,7,8,9,10,11 hiccup=2,5,8,10", NULL);
    size_t sensor = tree_sensor(power, "gpu0", "nvml_energy"), n;
    struct ifm_power_point point;
    struct ifm_error error;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) /* two in a row pass, three do not */
        assert_int_equal(read_one(power, sensor, &point, &n, &error), wanted[i]);
    assert_facts(error.message, "Unknown Error|three");
    ifm_power_close(power);

    power = open_fake("fake_nvml", "energy=1,2,3,4,5,6,7 lost=7", NULL); /* five readings find, two are given */
    sensor = tree_sensor(power, "gpu0", "nvml_energy");
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_MISSING);
        assert_facts(error.message, "GPU|lost");
        assert_int_equal(n, 0);
    }
    ifm_power_close(power);
}

/* The stamps of the ring are of the wall clock. Where it is set, samples of before would lie at other times, and one
 * that was set back would give none until it is where it was. */
static void a_clock_that_is_set_costs_one_ring(void **state)
{
    (void)state;
    static const int64_t steps_s[] = {-3600, 7200};
    struct ifm_power *power = open_fake("fake_nvml", "", NULL);
    size_t sensor = tree_sensor(power, "gpu0", "nvml_samples"), n;
    static struct ifm_power_point points[512];
    struct ifm_error error = {0};
    for (size_t i = 0; i < sizeof steps_s / sizeof *steps_s; i++) {
        sleep_ms(60);
        assert_int_equal(ifm_power_read(power, sensor, points, 512, &n, &error), IFM_OK);
        assert_true(n > 0);
        clock_set_s += steps_s[i];
        assert_int_equal(ifm_power_read(power, sensor, points, 512, &n, &error), IFM_INVALID);
        assert_facts(error.message, "wall clock");
        assert_non_null(strpbrk(error.message, "-0123456789"));
        assert_true(fabs(strtod(strpbrk(error.message, "-0123456789"), NULL) - (double)steps_s[i]) < 1);
        assert_int_equal(ifm_power_read(power, sensor, points, 512, &n, &error), IFM_OK); /* told once */
        assert_int_equal(n, 0);
        for (int naps = 0; naps < 8; naps++) {
            sleep_ms(400);
            assert_int_equal(ifm_power_read(power, sensor, points, 512, &n, &error), IFM_OK);
            int64_t now = ifm_clock_now().ns;
            for (size_t k = 0; k < n; k++) /* what is given is of its time */
                assert_in_range(now - points[k].t_ns + 100 * MS, 0, 3000 * MS);
        }
        assert_true(n > 0);
    }
    clock_set_s = 0;
    ifm_power_close(power);
}

static void watts_that_cannot_be_are_refused(void **state)
{
    (void)state;
    /* Three calls find average, instant and memory; then nought, five times the limit, and a fair one. */
    struct ifm_power *power = open_fake("fake_nvml", "field=1,1,1,0,3500000,250500", NULL);
    size_t sensor = tree_sensor(power, "gpu0", "nvml_average"), n;
    struct ifm_power_point point;
    struct ifm_error error;
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_INVALID);
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_INVALID);
    assert_facts(error.message, "3500.000 W");
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_int_equal(n, 1);
    assert_true(point.value == 250.5);
    assert_int_equal(read_one(power, sensor, &point, &n, &error), IFM_OK);
    assert_int_equal(n, 0); /* the same within a period */
    ifm_power_close(power);
}

/* Stamps of the wall clock land on the lab's axis; what is older than the opening is not given. */
static void the_ring_is_placed_in_time_and_given_once(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("fake_nvml", "watts=321", NULL);
    size_t sensor = tree_sensor(power, "gpu0", "nvml_samples"), total = 0, n;
    int64_t opened = ifm_clock_now().ns, last = 0, last_half = 0;
    sleep_ms(300);
    do {
        struct ifm_power_point points[4]; /* less room than there are samples */
        struct ifm_error error;
        assert_int_equal(ifm_power_read(power, sensor, points, 4, &n, &error), IFM_OK);
        for (size_t i = 0; i < n; i++) {
            assert_true(points[i].value == 321);
            assert_true(points[i].t_ns > opened - 25 * MS && points[i].t_ns <= ifm_clock_now().ns + points[i].half_ns);
            assert_true(last == 0 || llabs(points[i].t_ns - last - 20 * MS) < MS + last_half + points[i].half_ns);
            assert_true(points[i].half_ns > 0 && points[i].half_ns < 10 * MS);
            last = points[i].t_ns;
            last_half = points[i].half_ns;
        }
        total += n;
    } while (n == 4);
    assert_in_range(total, 14, (ifm_clock_now().ns - opened) / MS / 20 + 2);
    ifm_power_close(power);
}

static void calibration_finds_the_period(void **state)
{
    (void)state;
    struct ifm_power *power = open_fake("fake_nvml", "watts=250 refresh_ms=40", NULL);
    size_t sensor = tree_sensor(power, "gpu0", "nvml_energy");
    assert_int_equal(ifm_power_list(power)->sensors[sensor].every_ms, 100);
    json_t *seen = ifm_power_calibrate(power, sensor, 1.0);
    assert_true(fabs(json_number_value(json_object_get(seen, "refresh_ms")) - 40) < 8);
    assert_true(fabs(json_number_value(json_object_get(seen, "mean_w")) - 250) < 40);
    assert_true(json_is_number(json_object_get(seen, "call_us")));
    assert_true(json_number_value(json_object_get(seen, "quantum")) == 1e-3);
    assert_in_range(ifm_power_list(power)->sensors[sensor].every_ms, 32, 48);
    json_decref(seen);
    ifm_power_close(power);

    power = open_fake("fake_nvml", "freeze_ms=0", NULL);
    seen = ifm_power_calibrate(power, tree_sensor(power, "gpu0", "nvml_energy"), 0.3);
    assert_non_null(json_object_get(json_object_get(seen, "refresh_ms"), "absent"));
    assert_non_null(json_object_get(json_object_get(seen, "mean_w"), "absent"));
    json_decref(seen);
    ifm_power_close(power);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_library_is_a_reason),
        cmocka_unit_test(gpus_are_left_alone_where_they_are_not_measured),
        cmocka_unit_test(a_library_that_does_not_start_says_why),
        cmocka_unit_test(an_old_driver_keeps_what_it_has),
        cmocka_unit_test(what_a_gpu_refuses_is_absent_alone),
        cmocka_unit_test(one_gpu_of_two_fails),
        cmocka_unit_test(a_gpu_is_chosen_by_its_bus),
        cmocka_unit_test(energy_is_joules_since_the_first_reading),
        cmocka_unit_test(a_lost_gpu_stays_lost_and_a_hiccup_passes),
        cmocka_unit_test(a_clock_that_is_set_costs_one_ring),
        cmocka_unit_test(watts_that_cannot_be_are_refused),
        cmocka_unit_test(the_ring_is_placed_in_time_and_given_once),
        cmocka_unit_test(calibration_finds_the_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
