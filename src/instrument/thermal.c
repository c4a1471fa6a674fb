/* Throttle counts and package temperature from sysfs. */
#include "instrument/thermal.h"
#include "base/file.h"
#include "model/facts.h"
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SENSORS = 64 };

static int open_at(const char *root, const char *path)
{
    char whole[PATH_MAX];
    int n = snprintf(whole, sizeof whole, "%s%s", root, path);
    return n < 0 || n >= (int)sizeof whole ? -1 : open(whole, O_RDONLY | O_CLOEXEC);
}

static bool word_at(const char *root, const char *path, char *word, size_t size)
{
    char whole[PATH_MAX];
    int n = snprintf(whole, sizeof whole, "%s%s", root, path);
    return n >= 0 && n < (int)sizeof whole && ifm_file_line(whole, word, size);
}

/* The sensor of the processor package: a hwmon of its driver, else a thermal zone of its type. */
static int open_sensor(const char *root)
{
    static const struct {
        const char *folder, *name, *value, *known[4];
    } kinds[] = {{"/sys/class/hwmon/hwmon", "name", "temp1_input", {"coretemp", "k10temp", "zenpower", "cpu_thermal"}},
                 {"/sys/class/thermal/thermal_zone", "type", "temp", {"x86_pkg_temp", "cpu-thermal", "cpu_thermal"}}};
    char path[96], word[64];
    for (int at = 0; at < 2 * MOST_SENSORS; at++) {
        int kind = at / MOST_SENSORS, number = at % MOST_SENSORS;
        snprintf(path, sizeof path, "%s%d/%s", kinds[kind].folder, number, kinds[kind].name);
        bool named = word_at(root, path, word, sizeof word);
        for (size_t i = 0; named && i < 4 && kinds[kind].known[i] != NULL; i++) {
            snprintf(path, sizeof path, "%s%d/%s", kinds[kind].folder, number, kinds[kind].value);
            int fd = strcmp(word, kinds[kind].known[i]) == 0 ? open_at(root, path) : -1;
            if (fd >= 0)
                return fd;
        }
    }
    return -1;
}

void ifm_thermal_open(const char *root, const struct ifm_cpu_mask *cpus, struct ifm_thermal *out)
{
    *out = (struct ifm_thermal){.throttle_fds = calloc(IFM_CPUS_MAX, sizeof(int)), .temperature_fd = open_sensor(root)};
    for (unsigned cpu = 0; out->throttle_fds != NULL && cpu < IFM_CPUS_MAX; cpu++) {
        char path[96];
        if (!ifm_cpu_mask_has(cpus, cpu))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/thermal_throttle/core_throttle_count", cpu);
        int fd = open_at(root, path);
        if (fd < 0) { /* a sum over some of our CPUs would look like the sum over all */
            while (out->n_throttle_fds > 0)
                close(out->throttle_fds[--out->n_throttle_fds]);
            return;
        }
        out->throttle_fds[out->n_throttle_fds++] = fd;
    }
}

void ifm_thermal_close(struct ifm_thermal *thermal)
{
    for (size_t i = 0; i < thermal->n_throttle_fds; i++)
        close(thermal->throttle_fds[i]);
    if (thermal->temperature_fd >= 0)
        close(thermal->temperature_fd);
    free(thermal->throttle_fds);
    *thermal = (struct ifm_thermal){.temperature_fd = -1};
}

static int64_t read_number(int fd)
{
    char text[32], *end;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n <= 0)
        return IFM_ABSENT;
    text[n] = '\0';
    long long number = strtoll(text, &end, 10);
    return end == text ? IFM_ABSENT : number;
}

int64_t ifm_thermal_throttles(const struct ifm_thermal *thermal)
{
    int64_t sum = 0;
    for (size_t i = 0; i < thermal->n_throttle_fds; i++) {
        int64_t one = read_number(thermal->throttle_fds[i]);
        if (one == IFM_ABSENT)
            return IFM_ABSENT;
        sum += one;
    }
    return thermal->n_throttle_fds == 0 ? IFM_ABSENT : sum;
}

int64_t ifm_thermal_temperature_mc(const struct ifm_thermal *thermal)
{
    return thermal->temperature_fd < 0 ? IFM_ABSENT : read_number(thermal->temperature_fd);
}
