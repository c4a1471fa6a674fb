/* Clock frequency: governor, driver, turbo, limits; and the state of every lock as read back. */
#include "host/cpus.h"
#include "host/host.h"
#include "host/probe.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSFS_CPU "/sys/devices/system/cpu"

/* The reason and remedy for a guest of a hypervisor, and for a kernel without cpufreq. */
static json_t *no_cpufreq(const char *root)
{
    if (ifm_probe_virtual(root))
        return ifm_probe_absent("the hypervisor does not expose cpufreq to this guest",
                                "measure on the host or on bare metal");
    return ifm_probe_absent("the kernel has no cpufreq driver for this CPU",
                            "load a cpufreq driver such as acpi-cpufreq");
}

/* The value that `file` has on every allowed CPU: false when none can be read; `mixed` when they differ. */
static bool common_value(const char *root, const char *file, char *value, size_t size, bool *mixed)
{
    unsigned *cpus = ifm_zeros(IFM_CPUS_MAX, sizeof *cpus);
    unsigned n = ifm_probe_allowed(root, cpus, IFM_CPUS_MAX);
    bool found = false;
    *mixed = false;
    for (unsigned i = 0; i < n; i++) {
        char here[64];
        if (!ifm_probe_line(root, here, sizeof here, SYSFS_CPU "/cpu%u/cpufreq/%s", cpus[i], file))
            continue;
        if (found && strcmp(here, value) != 0)
            *mixed = true;
        if (!found)
            snprintf(value, size, "%s", here);
        found = true;
    }
    free(cpus);
    if (*mixed)
        snprintf(value, size, "mixed");
    return found;
}

/* 1 = on, 0 = off, -1 = unknown. */
static int turbo_state(const char *root)
{
    int64_t value;
    if (ifm_probe_i64(root, &value, SYSFS_CPU "/intel_pstate/no_turbo"))
        return value == 0;
    if (ifm_probe_i64(root, &value, SYSFS_CPU "/cpufreq/boost"))
        return value != 0;
    return -1;
}

static json_t *text_or_absent(const char *root, const char *file)
{
    char value[64];
    bool mixed;
    return common_value(root, file, value, sizeof value, &mixed) ? json_string(value) : no_cpufreq(root);
}

static json_t *khz_or_absent(const char *root, const char *file)
{
    char value[64];
    bool mixed;
    int64_t khz;
    if (!common_value(root, file, value, sizeof value, &mixed))
        return no_cpufreq(root);
    return !mixed && ifm_parse_i64(value, &khz) ? json_integer(khz) : json_string(value);
}

json_t *ifm_probe_frequency(const char *root)
{
    json_t *frequency = json_object();
    int turbo = turbo_state(root);
    json_object_set_new(frequency, "governor", text_or_absent(root, "scaling_governor"));
    json_object_set_new(frequency, "driver", text_or_absent(root, "scaling_driver"));
    json_object_set_new(frequency, "turbo", turbo >= 0 ? json_string(turbo ? "on" : "off") : no_cpufreq(root));
    json_object_set_new(frequency, "min_khz", khz_or_absent(root, "scaling_min_freq"));
    json_object_set_new(frequency, "max_khz", khz_or_absent(root, "scaling_max_freq"));
    json_object_set_new(frequency, "hardware_min_khz", khz_or_absent(root, "cpuinfo_min_freq"));
    json_object_set_new(frequency, "hardware_max_khz", khz_or_absent(root, "cpuinfo_max_freq"));
    return frequency;
}

void ifm_probe_add_lock(json_t *locks, const char *knob, json_t *value, const char *reason, const char *remedy)
{
    json_t *lock = json_pack("{s:s, s:o, s:b, s:s}", "knob", knob, "value", value != NULL ? value : json_null(),
                             "locked", reason[0] == '\0', "reason", reason);
    if (remedy[0] != '\0')
        json_object_set_new(lock, "remedy", json_string(remedy));
    json_array_append_new(locks, lock);
}

/* Steals `value`. What is not locked says why. */
static void add_lock(json_t *locks, const char *knob, json_t *value, bool locked, const char *reason,
                     const char *remedy)
{
    ifm_probe_add_lock(locks, knob, value, locked ? "" : reason, locked ? "" : remedy);
}

static void add_unreadable(const char *root, json_t *locks, const char *knob)
{
    json_t *absent = no_cpufreq(root);
    ifm_probe_add_lock(locks, knob, NULL, json_string_value(json_object_get(absent, "absent")),
                       json_string_value(json_object_get(absent, "remedy")));
    json_decref(absent);
}

static void add_governor(const char *root, json_t *locks)
{
    char value[64];
    bool mixed;
    if (common_value(root, "scaling_governor", value, sizeof value, &mixed))
        add_lock(locks, "governor", json_string(value), strcmp(value, "performance") == 0,
                 "the governor may change the clock with the load",
                 "inferometer lock --governor performance -- COMMAND");
    else
        add_unreadable(root, locks, "governor");
}

static void add_turbo(const char *root, json_t *locks)
{
    int turbo = turbo_state(root);
    if (turbo >= 0)
        add_lock(locks, "turbo", json_string(turbo ? "on" : "off"), turbo == 0,
                 "the clock depends on temperature and on how many cores are busy",
                 "inferometer lock --turbo off -- COMMAND");
    else
        add_unreadable(root, locks, "turbo");
}

static void add_frequency(const char *root, json_t *locks)
{
    char low[64], high[64];
    bool low_mixed, high_mixed;
    if (common_value(root, "scaling_min_freq", low, sizeof low, &low_mixed) &&
        common_value(root, "scaling_max_freq", high, sizeof high, &high_mixed))
        add_lock(locks, "frequency", json_sprintf("%s-%s kHz", low, high),
                 !low_mixed && !high_mixed && strcmp(low, high) == 0, "the lowest and the highest allowed clock differ",
                 "inferometer lock --frequency MHZ -- COMMAND");
    else
        add_unreadable(root, locks, "frequency");
}

static void add_affinity(const char *root, json_t *locks)
{
    char list[4096];
    unsigned cpus[2];
    char *status = ifm_probe_text(root, ifm_probe_live(root) ? "/proc/thread-self/status" : "/proc/self/status");
    bool found = status != NULL && ifm_probe_field(status, "Cpus_allowed_list", list, sizeof list);
    free(status);
    if (found)
        add_lock(locks, "affinity", json_string(list), ifm_probe_cpu_list(list, cpus, 2) == 1,
                 "this thread may move between CPUs; an open cpu device pins it and its workers", "");
    else
        ifm_probe_add_lock(locks, "affinity", NULL, "/proc/self/status lists no allowed CPUs", "");
}

json_t *ifm_host_locks(const char *root)
{
    json_t *locks = json_array();
    add_governor(root, locks);
    add_turbo(root, locks);
    add_frequency(root, locks);
    add_affinity(root, locks);
    return locks;
}
