/* RAPL through powercap: counters of joules of processor packages in sysfs.
 *
 * Zones are known by their names; the mmio tree, a second way to the same registers, is left out. A counter is as wide
 * as its file says and wraps: every 164 s at 400 W where a unit is 2^-16 J. Reads only. */
#include "base/arena.h"
#include "base/text.h"
#include "host/probe.h"
#include "power/rapl.h"
#include "power/source.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/sys/class/powercap"
enum { MOST_ZONES = 64, NAME = 48 };

const struct ifm_rapl_domain ifm_rapl_domains[IFM_RAPL_DOMAINS] = {
    {"package-", "energy-pkg", "rapl_package", "perf_package", false, true},
    {"dram", "energy-ram", "rapl_dram", "perf_dram", false, true},
    {"core", "energy-cores", "rapl_core", "perf_core", true, false},
    {"uncore", "energy-gpu", "rapl_uncore", "perf_uncore", true, false},
    {"psys", "energy-psys", "rapl_psys", "perf_psys", true, false},
};

struct zone {
    char folder[NAME]; /* "intel-rapl:0:1"; of AMD too */
    const struct ifm_rapl_domain *domain;
    char device[IFM_POWER_NAME];
};

void ifm_rapl_close(void *state)
{
    struct ifm_rapl_meter *meter = state;
    close(meter->fd);
    free(meter);
}

void ifm_rapl_add(struct ifm_power *power, const struct ifm_rapl_domain *domain, struct ifm_power_sensor sensor,
                  const struct ifm_power_reader *reader, int fd, double unit_j, double range)
{
    struct ifm_rapl_meter *meter = ifm_zeros(1, sizeof *meter);
    meter->fd = fd;
    meter->counter = (struct ifm_power_counter){.range = range,
                                                .unit_j = unit_j,
                                                .most_w = IFM_RAPL_MOST_W,
                                                .refresh_ns = 1000000,
                                                .restless = domain->restless};
    sensor.kind = IFM_POWER_COUNTER;
    sensor.part = domain->part;
    sensor.every_ms = 1;
    ifm_power_add(power, &sensor, reader, meter);
}

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

static enum ifm_status read_meter(void *state, const struct ifm_power_sensor *sensor, struct ifm_power_point *points,
                                  size_t room, size_t *n, struct ifm_error *error)
{
    struct ifm_rapl_meter *meter = state;
    uint64_t microjoules;
    (void)sensor;
    (void)room;
    int64_t begin = ifm_clock_now().ns;
    if (!read_number(meter->fd, &microjoules))
        return ifm_fail(error, IFM_MISSING, NULL, "", "energy_uj cannot be read any more");
    return ifm_power_count(&meter->counter, microjoules, begin, ifm_clock_now().ns, points, n, error);
}

/* ---- finding ---- */

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
        zone->domain = &ifm_rapl_domains[IFM_RAPL_PACKAGE];
        return true;
    }
    for (size_t i = IFM_RAPL_DRAM; i < IFM_RAPL_DOMAINS; i++)
        if (strcmp(name, ifm_rapl_domains[i].zone) == 0)
            zone->domain = &ifm_rapl_domains[i];
    if (zone->domain == NULL)
        return false;
    if (zone->domain == &ifm_rapl_domains[IFM_RAPL_PSYS]) {
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
    char path[4096];
    size_t n = 0;
    int length = snprintf(path, sizeof path, "%s" FOLDER, root);
    DIR *folder = length < 0 || (size_t)length >= sizeof path ? NULL : opendir(path);
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
        ifm_power_lack(power, zone->domain->rapl_source, "chmod a+r " FOLDER "/intel-rapl:*/energy_uj as root",
                       "%s: energy_uj is for root alone (Linux since 2020, because of CVE-2020-8694)", zone->device);
    else
        ifm_power_lack(power, zone->domain->rapl_source, "look at `dmesg`", "%s: energy_uj: %s", zone->device,
                       strerror(code));
}

static void add_zone(struct ifm_power *power, const char *root, const struct zone *zone)
{
    static const struct ifm_power_reader reader = {read_meter, ifm_rapl_close};
    char path[4096], line[32];
    uint64_t range, microjoules;
    if (!ifm_probe_line(root, line, sizeof line, FOLDER "/%s/max_energy_range_uj", zone->folder) ||
        !ifm_parse_u64(line, &range) || range == 0) {
        ifm_power_lack(power, zone->domain->rapl_source, "use a newer kernel",
                       "%s: max_energy_range_uj does not say where the counter wraps", zone->device);
        return;
    }
    int length = snprintf(path, sizeof path, "%s" FOLDER "/%s/energy_uj", root, zone->folder);
    errno = ENAMETOOLONG;
    int fd = length < 0 || (size_t)length >= sizeof path ? -1 : open(path, O_RDONLY | O_CLOEXEC);
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
    ifm_rapl_add(power, zone->domain, sensor, &reader, fd, 1e-6, turn_uj);
}

void ifm_power_find_powercap(const struct ifm_power_options *options, struct ifm_power *power)
{
    struct zone zones[MOST_ZONES];
    bool package = false, dram = false;
    size_t n = list_zones(options->root, zones);
    for (size_t i = 0; i < n; i++) {
        add_zone(power, options->root, &zones[i]);
        package |= zones[i].domain == &ifm_rapl_domains[IFM_RAPL_PACKAGE];
        dram |= zones[i].domain == &ifm_rapl_domains[IFM_RAPL_DRAM];
    }
    if (!package)
        ifm_power_lack(power, "rapl_package",
                       "modprobe intel_rapl_msr (of AMD too); a virtual machine seldom has it: measure on the host",
                       "powercap has no zone of a processor package");
    else if (!dram)
        ifm_power_lack(power, "rapl_dram", "none: joules of memory are missing in those of the processor",
                       "powercap has no zone of DRAM; AMD's processors have none");
}
