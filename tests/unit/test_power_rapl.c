/* RAPL: trees of powercap and of perf's PMU, as Intel's and AMD's processors show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "power/source.h"
#include "power_tree.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <time.h>

#define ZONE "/sys/class/powercap/"
#define PMU "/sys/bus/event_source/devices/power/"

static void put_zone(const char *folder, const char *name, const char *range, const char *energy)
{
    static const char *const files[] = {"name", "max_energy_range_uj", "energy_uj"};
    const char *const texts[] = {name, range, energy};
    for (size_t i = 0; i < 3; i++) {
        char path[128], line[64];
        snprintf(path, sizeof path, ZONE "%s/%s", folder, files[i]);
        snprintf(line, sizeof line, "%s\n", texts[i]);
        tree_put(path, line);
    }
}

static void put_intel(void)
{
    put_zone("intel-rapl:0", "package-0", "262143328850", "262143000000");
    put_zone("intel-rapl:0:0", "core", "262143328850", "5");
    put_zone("intel-rapl:0:1", "dram", "65712999613", "1000");
    put_zone("intel-rapl:1", "package-1", "262143328850", "7000000");
    put_zone("intel-rapl:1:0", "dram", "65712999613", "2000");
    put_zone("intel-rapl:2", "psys", "262143328850", "9");
    put_zone("intel-rapl-mmio:0", "package-0", "262143328850", "1");
    tree_put(ZONE "intel-rapl:0/constraint_0_power_limit_uw", "270000000\n");
    tree_put(ZONE "intel-rapl/enabled", "1\n");
}

static struct ifm_power *open_tree(void)
{
    return tree_open(&(struct ifm_power_options){.root = tree_root});
}

static double read_value(struct ifm_power *power, size_t sensor, enum ifm_status wanted)
{
    struct ifm_power_point point = {.value = NAN};
    struct ifm_error error = {0};
    size_t n;
    assert_int_equal(ifm_power_read(power, sensor, &point, 1, &n, &error), wanted);
    assert_int_equal(n, wanted == IFM_OK ? 1 : 0);
    return point.value;
}

static void intel_with_dram(void **state)
{
    (void)state;
    put_intel();
    struct ifm_power *power = open_tree();
    const struct ifm_power_list *list = ifm_power_list(power);
    static const struct {
        const char *device, *source;
        bool part;
    } wanted[] = {{"cpu0", "rapl_package", false}, {"cpu0", "rapl_core", true},  {"cpu0", "rapl_dram", false},
                  {"cpu1", "rapl_package", false}, {"cpu1", "rapl_dram", false}, {"board", "rapl_psys", true}};
    assert_int_equal(list->n_sensors, 6); /* not the mmio tree's */
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(list->sensors[i].device, wanted[i].device);
        assert_string_equal(list->sensors[i].source, wanted[i].source);
        assert_int_equal(list->sensors[i].part, wanted[i].part);
        assert_int_equal(list->sensors[i].kind, IFM_POWER_COUNTER);
    }
    assert_true(list->sensors[0].limit_w == 270 && list->sensors[3].limit_w == 0);
    assert_null(tree_absence(power, "rapl_dram"));
    ifm_power_close(power);
}

static void a_wrap_of_the_package_uses_its_own_range(void **state)
{
    (void)state;
    put_intel();
    struct ifm_power *power = open_tree();
    size_t package = tree_sensor(power, "cpu0", "rapl_package"), dram = tree_sensor(power, "cpu0", "rapl_dram");
    assert_true(read_value(power, package, IFM_OK) == 0);
    assert_true(read_value(power, dram, IFM_OK) == 0);
    tree_put(ZONE "intel-rapl:0/energy_uj", "2000\n");
    tree_put(ZONE "intel-rapl:0:1/energy_uj", "31000\n");
    assert_true(fabs(read_value(power, package, IFM_OK) - 0.330911) < 2e-6); /* 328850 + 61 + 2000 uJ */
    assert_true(fabs(read_value(power, dram, IFM_OK) - 0.03) < 1e-9);
    tree_put(ZONE "intel-rapl:0/energy_uj", "1000\n");
    read_value(power, package, IFM_INVALID);
    tree_put(ZONE "intel-rapl:0/energy_uj", "not a number\n");
    read_value(power, package, IFM_MISSING);
    tree_put(ZONE "intel-rapl:0/energy_uj", "9000\n");
    read_value(power, package, IFM_MISSING); /* it stays lost; the others go on */
    tree_put(ZONE "intel-rapl:0:1/energy_uj", "41000\n");
    assert_true(fabs(read_value(power, dram, IFM_OK) - 0.04) < 1e-9);
    ifm_power_close(power);
}

static void amd_has_the_package_alone(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0-die-0", "65532610987", "12");
    put_zone("intel-rapl:1", "package-0-die-1", "65532610987", "12");
    struct ifm_power *power = open_tree();
    assert_int_equal(ifm_power_list(power)->n_sensors, 2);
    assert_int_equal(tree_sensor(power, "cpu0_die0", "rapl_package"), 0);
    assert_int_equal(tree_sensor(power, "cpu0_die1", "rapl_package"), 1);
    assert_facts(tree_absence(power, "rapl_dram")->reason, "zone|DRAM");
    ifm_power_close(power);
}

/* As a user who is not root, since root may read everything. */
static void what_only_root_may_read_is_absent_with_a_remedy(void **state)
{
    (void)state;
    char path[256];
    put_intel();
    snprintf(path, sizeof path, "%s" ZONE "intel-rapl:0/energy_uj", tree_root);
    assert_int_equal(chmod(path, 0400), 0);
    bool root = geteuid() == 0;
    if (!root)
        assert_int_equal(chmod(path, 0), 0);
    else
        assert_int_equal(seteuid(65534), 0);
    struct ifm_power *power = open_tree();
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(tree_sensor(power, "cpu0", "rapl_package"), IFM_POWER_MOST);
    assert_int_not_equal(tree_sensor(power, "cpu1", "rapl_package"), IFM_POWER_MOST);
    const struct ifm_power_absence *absence = tree_absence(power, "rapl_package");
    assert_non_null(absence);
    assert_facts(absence->reason, "cpu0|energy_uj|root");
    assert_facts(absence->remedy, "chmod a+r");
    ifm_power_close(power);
}

static void broken_zones_are_absent(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0", "0", "12");
    put_zone("intel-rapl:1", "package-1", "65532610987", "");
    put_zone("intel-rapl:2", "package-x", "65532610987", "1");
    put_zone("intel-rapl:3:0", "dram", "65532610987", "1"); /* without a parent */
    struct ifm_power *power = open_tree();
    assert_int_equal(ifm_power_list(power)->n_sensors, 0);
    assert_non_null(strstr(tree_absence(power, "rapl_package")->reason, "max_energy_range_uj"));
    ifm_power_close(power);
}

static void no_zone_and_no_pmu_are_reasons(void **state)
{
    (void)state;
    struct ifm_power *power = open_tree();
    assert_int_equal(ifm_power_list(power)->n_sensors, 0);
    assert_facts(tree_absence(power, "rapl_package")->reason, "zone|package");
    assert_non_null(strstr(tree_absence(power, "perf_package")->reason, "no PMU"));
    ifm_power_close(power);
}

/* ---- perf ---- */

static int writer = -1; /* what the event that was opened last counts */
static int refusal;     /* errno of every attempt; 0 = they succeed */
static char asked[64];  /* "type config cpu;" of each attempt */

static int open_pipe(unsigned type, uint64_t config, int cpu)
{
    int ends[2];
    char one[32];
    snprintf(one, sizeof one, "%u %llu %d;", type, (unsigned long long)config, cpu);
    strncat(asked, one, sizeof asked - strlen(asked) - 1);
    errno = refusal;
    if (refusal != 0)
        return -1;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    if (writer >= 0)
        close(writer);
    writer = ends[1];
    return ends[0];
}

static void put_pmu(void)
{
    tree_put(PMU "type", "32\n");
    tree_put(PMU "cpumask", "0,8\n");
    tree_put(PMU "events/energy-pkg", "event=0x02\n");
    tree_put(PMU "events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
    tree_put(PMU "events/energy-pkg.unit", "Joules\n");
    tree_put("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
    tree_put("/sys/devices/system/cpu/cpu8/topology/physical_package_id", "1\n");
    tree_put("/proc/sys/kernel/perf_event_paranoid", "4\n");
}

/* A list that holds nothing but what perf gives. */
static struct ifm_power *open_perf(int code)
{
    struct ifm_power *power = tree_open(&(struct ifm_power_options){.root = "/nowhere"});
    refusal = code;
    asked[0] = '\0';
    ifm_power_find_perf_by(&(struct ifm_power_options){.root = tree_root}, open_pipe, power);
    return power;
}

static void perf_counts_on_each_cpu_of_its_mask(void **state)
{
    (void)state;
    put_pmu();
    struct ifm_power *power = open_perf(0);
    assert_string_equal(asked, "32 2 0;32 2 8;");
    assert_int_equal(tree_sensor(power, "cpu0", "perf_package"), 0);
    assert_int_equal(tree_sensor(power, "cpu1", "perf_package"), 1);
    uint64_t counts[2] = {UINT64_C(1) << 40, (UINT64_C(1) << 40) + (UINT64_C(1) << 31)};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(write(writer, &counts[i], 8), 8);
        assert_true(fabs(read_value(power, 1, IFM_OK) - 0.5 * i) < 1e-9);
    }
    close(writer);
    writer = -1;
    read_value(power, 1, IFM_MISSING); /* no bytes: its CPU went offline */
    ifm_power_close(power);
}

static void perf_that_is_not_permitted_says_what_to_set(void **state)
{
    (void)state;
    put_pmu();
    struct ifm_power *power = open_perf(EACCES);
    const struct ifm_power_list *list = ifm_power_list(power);
    const struct ifm_power_absence *last = &list->absences[list->n_absences - 1];
    assert_int_equal(list->n_sensors, 0);
    assert_string_equal(last->source, "perf_package");
    assert_facts(last->reason, "perf_event_paranoid|4");
    assert_non_null(strstr(last->remedy, "kernel.perf_event_paranoid=0"));
    ifm_power_close(power);
    power = open_perf(ENOENT);
    list = ifm_power_list(power);
    assert_facts(list->absences[list->n_absences - 1].reason, strerror(ENOENT));
    ifm_power_close(power);
}

static void perf_with_another_unit_is_refused(void **state)
{
    (void)state;
    put_pmu();
    tree_put(PMU "events/energy-pkg.unit", "Wh\n");
    struct ifm_power *power = open_perf(0);
    const struct ifm_power_list *list = ifm_power_list(power);
    assert_int_equal(list->n_sensors, 0);
    assert_facts(list->absences[list->n_absences - 1].reason, "unit");
    ifm_power_close(power);
}

#define TREE_TEST(name) cmocka_unit_test_setup_teardown(name, tree_set_up, tree_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(intel_with_dram),
        TREE_TEST(a_wrap_of_the_package_uses_its_own_range),
        TREE_TEST(amd_has_the_package_alone),
        TREE_TEST(what_only_root_may_read_is_absent_with_a_remedy),
        TREE_TEST(broken_zones_are_absent),
        TREE_TEST(no_zone_and_no_pmu_are_reasons),
        TREE_TEST(perf_counts_on_each_cpu_of_its_mask),
        TREE_TEST(perf_that_is_not_permitted_says_what_to_set),
        TREE_TEST(perf_with_another_unit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
