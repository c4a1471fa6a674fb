/* RAPL through perf events: the kernel's PMU "power", whose counters are 64 bits wide and never wrap here.
 *
 * One event on each CPU that the PMU names, one a package or die, for the whole system. Reads only. */
#include "base/text.h"
#include "host/probe.h"
#include "power/rapl.h"
#include "power/source.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PMU "/sys/bus/event_source/devices/power"
enum { MOST_CPUS = 64 };

static enum ifm_status read_event(void *state, const struct ifm_power_sensor *sensor, struct ifm_power_point *points,
                                  size_t room, size_t *n, struct ifm_error *error)
{
    struct ifm_rapl_meter *event = state;
    uint64_t count;
    (void)sensor;
    (void)room;
    int64_t begin = ifm_clock_now().ns;
    ssize_t got = read(event->fd, &count, sizeof count);
    int64_t end = ifm_clock_now().ns;
    if (got != (ssize_t)sizeof count) /* 0 bytes: the CPU it counts on went offline */
        return ifm_fail(error, IFM_MISSING, NULL, "", "the perf event cannot be read any more: %s",
                        got < 0 ? strerror(errno) : "its CPU is offline");
    return ifm_power_count(&event->counter, count, begin, end, points, n, error);
}

static int open_event(unsigned type, uint64_t config, int cpu)
{
    struct perf_event_attr attributes = {.type = type, .size = sizeof attributes, .config = config};
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- finding ---- */

/* "event=0x02" */
static bool parse_config(const char *text, uint64_t *config)
{
    static const char head[] = "event=0x";
    char *end;
    if (strncmp(text, head, sizeof head - 1) != 0)
        return false;
    errno = 0;
    *config = strtoull(text + sizeof head - 1, &end, 16);
    return errno == 0 && end != text + sizeof head - 1 && *end == '\0';
}

static uint64_t topology(const char *root, unsigned cpu, const char *file, bool *known)
{
    char line[32];
    uint64_t id = 0;
    *known = ifm_probe_line(root, line, sizeof line, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file) &&
             ifm_parse_u64(line, &id);
    return id;
}

/* As powercap names it: the die where a package has several. */
static void name_device(const char *root, const unsigned *cpus, size_t n, size_t which, char device[IFM_POWER_NAME])
{
    bool known, die_known, other_known;
    uint64_t package = topology(root, cpus[which], "physical_package_id", &known);
    uint64_t die = topology(root, cpus[which], "die_id", &die_known);
    bool several = false;
    for (size_t i = 0; i < n; i++)
        several |= i != which && topology(root, cpus[i], "physical_package_id", &other_known) == package && other_known;
    if (!known)
        snprintf(device, IFM_POWER_NAME, "cpu%zu", which);
    else if (several && die_known)
        snprintf(device, IFM_POWER_NAME, "cpu%llu_die%llu", (unsigned long long)package, (unsigned long long)die);
    else
        snprintf(device, IFM_POWER_NAME, "cpu%llu", (unsigned long long)package);
}

static void lack_event(struct ifm_power *power, const char *root, const char *source, const char *device, int code)
{
    char paranoid[16] = "not readable";
    if (code != EACCES && code != EPERM) {
        ifm_power_lack(power, source,
                       code == ENOENT || code == ENODEV || code == EOPNOTSUPP
                           ? "none: this processor or its hypervisor does not count it"
                           : "look at `dmesg`",
                       "%s: perf_event_open: %s", device, strerror(code));
        return;
    }
    if (!ifm_probe_line(root, paranoid, sizeof paranoid, "/proc/sys/kernel/perf_event_paranoid"))
        snprintf(paranoid, sizeof paranoid, "not readable");
    ifm_power_lack(power, source, "sysctl kernel.perf_event_paranoid=0, or grant CAP_PERFMON",
                   "%s: events of the whole system are not permitted (perf_event_paranoid is %s)", device, paranoid);
}

struct pmu {
    const char *root;
    ifm_perf_open *open;
    unsigned type;
    unsigned cpus[MOST_CPUS]; /* each stands for its package */
    size_t n_cpus;
};

static void add_event(struct ifm_power *power, const struct pmu *pmu, const struct ifm_rapl_domain *domain,
                      uint64_t config, double unit_j, size_t which)
{
    static const struct ifm_power_reader reader = {read_event, ifm_rapl_close};
    char device[IFM_POWER_NAME] = "board";
    if (domain != &ifm_rapl_domains[IFM_RAPL_PSYS])
        name_device(pmu->root, pmu->cpus, pmu->n_cpus, which, device);
    int fd = pmu->open(pmu->type, config, (int)pmu->cpus[which]);
    if (fd < 0) {
        lack_event(power, pmu->root, domain->perf_source, device, errno);
        return;
    }
    struct ifm_power_sensor sensor = {0};
    snprintf(sensor.device, sizeof sensor.device, "%s", device);
    snprintf(sensor.source, sizeof sensor.source, "%s", domain->perf_source);
    ifm_rapl_add(power, domain, sensor, &reader, fd, unit_j, 0);
}

/* The kernel gives each event's unit: 2^-32 J, whatever the register's own. */
static void add_domain(struct ifm_power *power, const struct pmu *pmu, const struct ifm_rapl_domain *domain)
{
    char line[64], unit[16];
    uint64_t config;
    double unit_j;
    const char *root = pmu->root;
    if (!ifm_probe_line(root, line, sizeof line, PMU "/events/%s", domain->event))
        return; /* this processor has no such domain */
    if (!parse_config(line, &config) ||
        !ifm_probe_line(root, line, sizeof line, PMU "/events/%s.scale", domain->event) ||
        !ifm_parse_f64(line, &unit_j) || !(unit_j > 0) ||
        !ifm_probe_line(root, unit, sizeof unit, PMU "/events/%s.unit", domain->event) || strcmp(unit, "Joules") != 0) {
        ifm_power_lack(power, domain->perf_source, "use a newer kernel", "its event, scale or unit cannot be read");
        return;
    }
    size_t devices = domain == &ifm_rapl_domains[IFM_RAPL_PSYS] ? 1 : pmu->n_cpus;
    for (size_t i = 0; i < devices; i++)
        add_event(power, pmu, domain, config, unit_j, i);
}

void ifm_power_find_perf_by(const struct ifm_power_options *options, ifm_perf_open *open, struct ifm_power *power)
{
    char line[256];
    uint64_t type;
    struct pmu pmu = {.root = options->root, .open = open};
    if (!ifm_probe_line(options->root, line, sizeof line, PMU "/type") || !ifm_parse_u64(line, &type)) {
        ifm_power_lack(
            power, "perf_package", "use a kernel with CONFIG_PERF_EVENTS_INTEL_RAPL (of AMD too), on bare metal",
            "the kernel has no PMU \"power\": the processor, its hypervisor or this build of Linux lacks it");
        return;
    }
    pmu.type = (unsigned)type;
    if (ifm_probe_line(options->root, line, sizeof line, PMU "/cpumask"))
        pmu.n_cpus = ifm_probe_cpu_list(line, pmu.cpus, MOST_CPUS);
    if (pmu.n_cpus == 0) {
        ifm_power_lack(power, "perf_package", "mount -t sysfs sysfs /sys", "the PMU \"power\" names no CPU");
        return;
    }
    for (size_t i = 0; i < IFM_RAPL_DOMAINS; i++)
        add_domain(power, &pmu, &ifm_rapl_domains[i]);
}

/* Of a recorded machine there are files, and no events: those would be this machine's. */
static int open_none(unsigned type, uint64_t config, int cpu)
{
    (void)type;
    (void)config;
    (void)cpu;
    errno = ENODEV;
    return -1;
}

void ifm_power_find_perf(const struct ifm_power_options *options, struct ifm_power *power)
{
    ifm_power_find_perf_by(options, options->root[0] == '\0' ? open_event : open_none, power);
}
