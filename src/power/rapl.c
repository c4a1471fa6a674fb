/* RAPL: counters of joules of processor packages, through powercap in sysfs and through perf events. Reads only.
 *
 * Zones of powercap are known by their names; the mmio tree, a second way to the same registers, is left out. Its
 * counters are as wide as a file says and wrap: every 164 s at 400 W where a unit is 2^-16 J. The kernel's PMU "power"
 * has one event on each CPU that it names, one a package or die, for the whole system; its counters are 64 bits wide
 * and never wrap here. */
#include "base/text.h"
#include "host/probe.h"
#include "power/source.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_W 5000.0 /* no socket takes that */
#define FOLDER "/sys/class/powercap"
#define PMU "/sys/bus/event_source/devices/power"
enum { MOST_ZONES = 64, NAME = 48, MOST_CPUS = 64 };

struct rapl_domain {
    const char *zone;  /* its name in powercap; the package's ends with a number */
    const char *event; /* of perf's PMU */
    const char *rapl_source, *perf_source;
    bool part;     /* within the package, or over everything: never added */
    bool restless; /* its counter always moves */
};
/* Package and dram add up to what a socket takes; core and uncore are within the package; psys overlaps all. */
enum { PACKAGE, DRAM, CORE, UNCORE, PSYS, DOMAINS };

static const struct rapl_domain domains[DOMAINS] = {
    {"package-", "energy-pkg", "rapl_package", "perf_package", false, true},
    {"dram", "energy-ram", "rapl_dram", "perf_dram", false, true},
    {"core", "energy-cores", "rapl_core", "perf_core", true, false},
    {"uncore", "energy-gpu", "rapl_uncore", "perf_uncore", true, false},
    {"psys", "energy-psys", "rapl_psys", "perf_psys", true, false},
};

/* A counter of one domain, whose readings come from a descriptor. */
struct rapl_meter {
    int fd;
    struct ifm_power_counter counter;
};

static void close_meter(void *state)
{
    struct rapl_meter *meter = state;
    close(meter->fd);
    free(meter);
}

static void add_meter(struct ifm_power *power, const struct rapl_domain *domain, struct ifm_power_sensor sensor,
                      const struct ifm_power_reader *reader, int fd, double unit_j, double range)
{
    struct rapl_meter *meter = ifm_zeros(1, sizeof *meter);
    meter->fd = fd;
    meter->counter = (struct ifm_power_counter){
        .range = range, .unit_j = unit_j, .most_w = MOST_W, .refresh_ns = 1000000, .restless = domain->restless};
    sensor.kind = IFM_POWER_COUNTER;
    sensor.part = domain->part;
    sensor.every_ms = 1;
    ifm_power_add(power, &sensor, reader, meter);
}

/* ---- powercap ---- */

struct zone {
    char folder[NAME]; /* "intel-rapl:0:1"; of AMD too */
    const struct rapl_domain *domain;
    char device[IFM_POWER_NAME];
};

static bool read_number(int fd, uint64_t *out)
{
    char text[32];
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    if (got <= 0)
        return false;
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return ifm_parse_u64(text, out);
}

static enum ifm_status read_meter(void *state, struct ifm_power_take *out, struct ifm_error *error)
{
    struct rapl_meter *meter = state;
    uint64_t microjoules;
    int64_t begin = ifm_clock_now().ns;
    if (!read_number(meter->fd, &microjoules))
        return ifm_fail(error, IFM_MISSING, NULL, "", "energy_uj cannot be read any more");
    return ifm_power_count(&meter->counter, microjoules, begin, ifm_clock_now().ns, out->points, &out->n, error);
}

/* Only intel-rapl:N and intel-rapl:N:M. */
static bool is_zone(const char *name)
{
    static const char head[] = "intel-rapl:";
    return strncmp(name, head, sizeof head - 1) == 0 && strlen(name) < NAME;
}

static int by_folder(const void *a, const void *b)
{
    return strverscmp(((const struct zone *)a)->folder, ((const struct zone *)b)->folder);
}

/* "package-1" is "cpu1", "package-1-die-0" is "cpu1_die0". */
static bool name_package(const char *name, char device[IFM_POWER_NAME])
{
    unsigned package, die;
    char rest;
    if (sscanf(name, "package-%u-die-%u%c", &package, &die, &rest) == 2)
        snprintf(device, IFM_POWER_NAME, "cpu%u_die%u", package, die);
    else if (sscanf(name, "package-%u%c", &package, &rest) == 1)
        snprintf(device, IFM_POWER_NAME, "cpu%u", package);
    else
        return false;
    return true;
}

/* Its domain, and whose joules they are: a zone within a package has its parent's device. */
static bool know_zone(const char *root, struct zone *zone)
{
    char name[64], parent[NAME];
    if (!ifm_probe_line(root, name, sizeof name, FOLDER "/%s/name", zone->folder))
        return false;
    if (name_package(name, zone->device)) {
        zone->domain = &domains[PACKAGE];
        return true;
    }
    for (size_t i = DRAM; i < DOMAINS; i++)
        if (strcmp(name, domains[i].zone) == 0)
            zone->domain = &domains[i];
    if (zone->domain == NULL)
        return false;
    if (zone->domain == &domains[PSYS]) {
        snprintf(zone->device, sizeof zone->device, "board");
        return true;
    }
    snprintf(parent, sizeof parent, "%s", zone->folder);
    char *colon = strrchr(parent, ':');
    *colon = '\0'; /* every zone's name has one; without a parent the name below is none of a package */
    return ifm_probe_line(root, name, sizeof name, FOLDER "/%s/name", parent) && name_package(name, zone->device);
}

static size_t list_zones(const char *root, struct zone zones[MOST_ZONES])
{
    size_t n = 0;
    DIR *folder = ifm_probe_folder(root, FOLDER);
    for (struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL && n < MOST_ZONES;
         entry = readdir(folder)) {
        struct zone zone = {0};
        if (!is_zone(entry->d_name))
            continue;
        snprintf(zone.folder, sizeof zone.folder, "%.*s", NAME - 1, entry->d_name);
        if (know_zone(root, &zone))
            zones[n++] = zone;
    }
    if (folder != NULL)
        closedir(folder);
    qsort(zones, n, sizeof *zones, by_folder);
    return n;
}

static double limit_of(const char *root, const char *folder)
{
    char line[32];
    uint64_t microwatts;
    bool found = ifm_probe_line(root, line, sizeof line, FOLDER "/%s/constraint_0_power_limit_uw", folder) &&
                 ifm_parse_u64(line, &microwatts);
    return found ? (double)microwatts * 1e-6 : 0;
}

static void lack_zone(struct ifm_power *power, const struct zone *zone, int code)
{
    if (code == EACCES || code == EPERM)
        ifm_power_lack(power, zone->domain->rapl_source, IFM_PROBE_POWERCAP_CLOSED,
                       "%s: energy_uj is for root alone (Linux since 2020, because of CVE-2020-8694)", zone->device);
    else
        ifm_power_lack(power, zone->domain->rapl_source, "look at `dmesg`", "%s: energy_uj: %s", zone->device,
                       strerror(code));
}

static void add_zone(struct ifm_power *power, const char *root, const struct zone *zone)
{
    static const struct ifm_power_reader reader = {read_meter, close_meter};
    char path[PATH_MAX], line[32];
    uint64_t range, microjoules;
    if (!ifm_probe_line(root, line, sizeof line, FOLDER "/%s/max_energy_range_uj", zone->folder) ||
        !ifm_parse_u64(line, &range) || range == 0) {
        ifm_power_lack(power, zone->domain->rapl_source, "use a newer kernel",
                       "%s: max_energy_range_uj does not say where the counter wraps", zone->device);
        return;
    }
    errno = ENAMETOOLONG;
    bool fits = ifm_probe_path(path, root, FOLDER "/%s/energy_uj", zone->folder) != NULL;
    int fd = fits ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0 || !read_number(fd, &microjoules)) {
        lack_zone(power, zone, errno);
        if (fd >= 0)
            close(fd);
        return;
    }
    /* The largest reading is one unit below a whole turn of 2^32 units. */
    double unit_uj = (double)range / (double)UINT32_MAX, turn_uj = (double)range + unit_uj;
    struct ifm_power_sensor sensor = {.quantum = fmax(unit_uj, 1) * 1e-6, .limit_w = limit_of(root, zone->folder)};
    snprintf(sensor.device, sizeof sensor.device, "%s", zone->device);
    snprintf(sensor.source, sizeof sensor.source, "%s", zone->domain->rapl_source);
    add_meter(power, zone->domain, sensor, &reader, fd, 1e-6, turn_uj);
}

void ifm_power_find_powercap(const struct ifm_power_options *options, struct ifm_power *power)
{
    struct zone zones[MOST_ZONES];
    bool package = false, dram = false;
    size_t n = list_zones(options->root, zones);
    for (size_t i = 0; i < n; i++) {
        add_zone(power, options->root, &zones[i]);
        package |= zones[i].domain == &domains[PACKAGE];
        dram |= zones[i].domain == &domains[DRAM];
    }
    if (!package)
        ifm_power_lack(power, "rapl_package", ifm_probe_powercap_remedy(options->root),
                       "powercap has no zone of a processor package");
    else if (!dram)
        ifm_power_lack(power, "rapl_dram", "none: joules of memory are missing in those of the processor",
                       "powercap has no zone of DRAM; AMD's processors have none");
}

/* ---- perf events ---- */

static enum ifm_status read_event(void *state, struct ifm_power_take *out, struct ifm_error *error)
{
    struct rapl_meter *event = state;
    uint64_t count;
    int64_t begin = ifm_clock_now().ns;
    ssize_t got = read(event->fd, &count, sizeof count);
    int64_t end = ifm_clock_now().ns;
    if (got != (ssize_t)sizeof count) /* 0 bytes: the CPU it counts on went offline */
        return ifm_fail(error, IFM_MISSING, NULL, "", "the perf event cannot be read any more: %s",
                        got < 0 ? strerror(errno) : "its CPU is offline");
    return ifm_power_count(&event->counter, count, begin, end, out->points, &out->n, error);
}

static int open_event(unsigned type, uint64_t config, int cpu)
{
    struct perf_event_attr attributes = {.type = type, .size = sizeof attributes, .config = config};
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

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

static void add_event(struct ifm_power *power, const struct pmu *pmu, const struct rapl_domain *domain, uint64_t config,
                      double unit_j, size_t which)
{
    static const struct ifm_power_reader reader = {read_event, close_meter};
    char device[IFM_POWER_NAME] = "board";
    if (domain != &domains[PSYS])
        name_device(pmu->root, pmu->cpus, pmu->n_cpus, which, device);
    int fd = pmu->open(pmu->type, config, (int)pmu->cpus[which]);
    if (fd < 0) {
        lack_event(power, pmu->root, domain->perf_source, device, errno);
        return;
    }
    struct ifm_power_sensor sensor = {0};
    snprintf(sensor.device, sizeof sensor.device, "%s", device);
    snprintf(sensor.source, sizeof sensor.source, "%s", domain->perf_source);
    add_meter(power, domain, sensor, &reader, fd, unit_j, 0);
}

/* The kernel gives each event's unit: 2^-32 J, whatever the register's own. */
static void add_domain(struct ifm_power *power, const struct pmu *pmu, const struct rapl_domain *domain)
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
    size_t devices = domain == &domains[PSYS] ? 1 : pmu->n_cpus;
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
    for (size_t i = 0; i < DOMAINS; i++)
        add_domain(power, &pmu, &domains[i]);
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
