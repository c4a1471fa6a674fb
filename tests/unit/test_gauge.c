/* What the gate of power reads of processors: a tree of powercap and of sensors of temperature. (NVML: e2e/cuda_fake.)
 */
#include <cmocka.h>

#include "power_tree.h"
#include "run/pass/converge.h"
#include <time.h>

#define ZONE "/sys/class/powercap/"

static char reason[200], remedy[200];
static struct ifm_device device = {.ops = &ifm_device_cpu};

static void put_energy(const char *folder, double joules)
{
    char path[128], line[64];
    snprintf(path, sizeof path, ZONE "%s/energy_uj", folder);
    snprintf(line, sizeof line, "%.0f\n", 1e6 * joules);
    tree_put(path, line);
}

static void put_package(int n)
{
    char folder[64], path[128], line[32];
    snprintf(folder, sizeof folder, "intel-rapl:%d", n);
    snprintf(path, sizeof path, ZONE "%s/name", folder);
    snprintf(line, sizeof line, "package-%d\n", n);
    tree_put(path, line);
    snprintf(path, sizeof path, ZONE "%s/max_energy_range_uj", folder);
    tree_put(path, "262143328850\n");
    put_energy(folder, 1000);
}

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static struct ifm_gauge *open_here(void)
{
    return ifm_gauge_open(&device, &(struct ifm_power_options){.root = tree_root}, reason, remedy);
}

static void the_packages_are_one_power(void **state)
{
    (void)state;
    struct ifm_power_point point[4];
    put_package(0);
    put_package(1);
    tree_put("/sys/class/hwmon/hwmon0/name", "coretemp\n");
    tree_put("/sys/class/hwmon/hwmon0/temp1_input", "61000\n");
    struct ifm_gauge *gauge = open_here();
    assert_non_null(gauge);
    assert_string_equal(gauge->source, "rapl_package");
    assert_int_equal(gauge->temperature_mc(gauge->context), 61000);
    int64_t begin = ifm_clock_now().ns;
    while (gauge->watts(gauge->context, point, 4) > 0) /* the first readings are no difference yet */
        ;
    assert_int_equal(gauge->watts(gauge->context, point, 4), 0); /* nothing moved */
    wait_ms(60);
    put_energy("intel-rapl:0", 1006);
    put_energy("intel-rapl:1", 1003);
    assert_int_equal(gauge->watts(gauge->context, point, 4), 1);
    int64_t end = ifm_clock_now().ns;
    /* 9 J in no more than the time since before the first reading, and no less than what was waited. */
    assert_true(point[0].value >= 9 / ((double)(end - begin) * 1e-9 + 0.01) && point[0].value <= 9 / 0.055);
    assert_true(point[0].t_ns >= begin && point[0].t_ns <= end);
    wait_ms(60);
    put_energy("intel-rapl:0", 1012); /* one package alone is not the power of both */
    assert_int_equal(gauge->watts(gauge->context, point, 4), 0);
    ifm_gauge_close(gauge);
}

static void without_a_counter_the_reason_is_the_sources_own(void **state)
{
    (void)state;
    assert_null(open_here());
    assert_true(reason[0] != '\0' && remedy[0] != '\0');
    assert_null(strstr(reason, "no memory"));
    ifm_gauge_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_packages_are_one_power, tree_set_up, tree_tear_down),
        cmocka_unit_test_setup_teardown(without_a_counter_the_reason_is_the_sources_own, tree_set_up, tree_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
