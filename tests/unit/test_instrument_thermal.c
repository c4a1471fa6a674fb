/* Throttle counts and temperature, from a folder that stands for /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instrument/thermal.h"
#include "model/facts.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Write `text` to a path below the root, with its folders. */
static void put(const char *path, const char *text)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    FILE *file = fopen(whole, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    (void)state;
    const char *folder = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/ifm-thermal-XXXXXX", folder != NULL && strlen(folder) < 32 ? folder : "/tmp");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static struct ifm_cpu_mask two_cpus(void)
{
    struct ifm_cpu_mask mask = {0};
    CPU_SET(1, &mask.sets[0]);
    CPU_SET(3, &mask.sets[0]);
    return mask;
}

static void nothing_there_is_absent(void **state)
{
    (void)state;
    struct ifm_thermal thermal;
    struct ifm_cpu_mask mask = two_cpus();
    ifm_thermal_open(root, &mask, &thermal);
    assert_true(ifm_thermal_throttles(&thermal) == IFM_ABSENT);
    assert_true(ifm_thermal_temperature_mc(&thermal) == IFM_ABSENT);
    ifm_thermal_close(&thermal);
}

static void a_sum_over_some_cpus_is_absent(void **state)
{
    (void)state;
    struct ifm_thermal thermal;
    struct ifm_cpu_mask mask = two_cpus();
    put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5\n");
    ifm_thermal_open(root, &mask, &thermal);
    assert_true(ifm_thermal_throttles(&thermal) == IFM_ABSENT);
    ifm_thermal_close(&thermal);
}

static void our_cpus_are_summed(void **state)
{
    (void)state;
    struct ifm_thermal thermal;
    struct ifm_cpu_mask mask = two_cpus();
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "100\n");
    put("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "5\n");
    put("/sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count", "7\n");
    ifm_thermal_open(root, &mask, &thermal);
    assert_true(ifm_thermal_throttles(&thermal) == 12);
    put("/sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count", "9\n");
    assert_true(ifm_thermal_throttles(&thermal) == 14);
    ifm_thermal_close(&thermal);
}

static void the_sensor_of_the_package(void **state)
{
    (void)state;
    struct ifm_thermal thermal;
    struct ifm_cpu_mask mask = two_cpus();
    put("/sys/class/hwmon/hwmon0/name", "nvme\n");
    put("/sys/class/hwmon/hwmon0/temp1_input", "31000\n");
    put("/sys/class/thermal/thermal_zone2/type", "x86_pkg_temp\n");
    put("/sys/class/thermal/thermal_zone2/temp", "47000\n");
    ifm_thermal_open(root, &mask, &thermal);
    assert_true(ifm_thermal_temperature_mc(&thermal) == 47000); /* not that of a disk */
    ifm_thermal_close(&thermal);
    put("/sys/class/hwmon/hwmon3/name", "k10temp\n");
    put("/sys/class/hwmon/hwmon3/temp1_input", "52125\n");
    ifm_thermal_open(root, &mask, &thermal);
    assert_true(ifm_thermal_temperature_mc(&thermal) == 52125);
    put("/sys/class/hwmon/hwmon3/temp1_input", "hot\n");
    assert_true(ifm_thermal_temperature_mc(&thermal) == IFM_ABSENT);
    ifm_thermal_close(&thermal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_there_is_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sum_over_some_cpus_is_absent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(our_cpus_are_summed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_sensor_of_the_package, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("instrument_thermal", tests, NULL, NULL);
}
