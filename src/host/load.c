/* Load: what else runs on this machine. */
#include "base/clock.h"
#include "host/cpus.h"
#include "host/host.h"
#include "host/probe.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *ifm_probe_load(const char *root)
{
    char line[128];
    double one, five, fifteen;
    unsigned running, total;
    if (!ifm_probe_line(root, line, sizeof line, "/proc/loadavg") ||
        sscanf(line, "%lf %lf %lf %u/%u", &one, &five, &fifteen, &running, &total) != 5)
        return ifm_probe_absent("/proc/loadavg cannot be read", NULL);
    return json_pack("{s:f, s:f, s:f, s:i}", "one_minute", one, "five_minutes", five, "fifteen_minutes", fifteen,
                     "runnable", (int)running);
}

/* Ticks of the CPUs of `mask`: busy are user, nice, system, irq, softirq. Idle and I/O wait are not busy, stolen time
 * is the hypervisor's, and guest time is inside user and nice. */
static bool read_ticks(const struct ifm_cpu_mask *mask, uint64_t *ticks, uint64_t *stolen, uint64_t *idle_ticks,
                       unsigned *cpus)
{
    char *text = ifm_probe_text("", "/proc/stat"), *state = NULL;
    *ticks = *stolen = *idle_ticks = 0;
    *cpus = 0;
    for (char *line = text == NULL ? NULL : strtok_r(text, "\n", &state); line != NULL;
         line = strtok_r(NULL, "\n", &state)) {
        unsigned cpu;
        unsigned long long user, nice, system, idle, wait, irq, softirq, steal = 0;
        if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &user, &nice, &system, &idle, &wait,
                   &irq, &softirq, &steal) < 8 ||
            cpu >= IFM_CPUS_MAX || !ifm_cpu_mask_has(mask, cpu))
            continue;
        *ticks += user + nice + system + irq + softirq;
        *stolen += steal;
        *idle_ticks += idle + wait;
        ++*cpus;
    }
    free(text);
    return *cpus > 0;
}

bool ifm_host_busy(const struct ifm_cpu_mask *mask, struct ifm_host_busy *out)
{
    uint64_t busy, stolen, idle;
    const long hz = sysconf(_SC_CLK_TCK);
    if (hz <= 0 || !read_ticks(mask, &busy, &stolen, &idle, &out->cpus))
        return false;
    out->tick_ns = 1000000000 / hz;
    out->busy_ns = (int64_t)busy * out->tick_ns;
    out->all_ns = (int64_t)(busy + stolen + idle) * out->tick_ns;
    return true;
}

static unsigned own_running(void)
{
    DIR *folder = opendir("/proc/self/task");
    unsigned n = 0;
    for (struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL; entry = readdir(folder)) {
        char *stat = entry->d_name[0] == '.' ? NULL : ifm_probe_text("", "/proc/self/task/%s/stat", entry->d_name);
        const char *after = stat == NULL ? NULL : strrchr(stat, ')');
        n += after != NULL && after[1] == ' ' && after[2] == 'R';
        free(stat);
    }
    if (folder != NULL)
        closedir(folder);
    return n;
}

/* From the count of runnable tasks of the whole machine. */
static double quick_load(void)
{
    char line[128];
    unsigned running;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (!ifm_probe_line("", line, sizeof line, "/proc/loadavg") || sscanf(line, "%*f %*f %*f %u/", &running) != 1 ||
        online <= 0)
        return -1;
    unsigned own = own_running();
    return running > own ? (double)(running - own) / (double)online : 0;
}

bool ifm_host_noise(unsigned window_ms, struct ifm_host_noise *out)
{
    struct ifm_cpu_mask mask;
    uint64_t before, after, stolen_before, stolen, idle;
    unsigned cpus;
    long hz = sysconf(_SC_CLK_TCK);
    if (hz <= 0 || !ifm_cpu_mask_process(&mask) || !read_ticks(&mask, &before, &stolen_before, &idle, &cpus))
        return false;
    struct ifm_instant start = ifm_clock_now();
    /* of every thread of this process, dead ones included: utime + stime of /proc/self/stat, unrounded */
    int64_t own_before = ifm_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
    ifm_clock_sleep((struct ifm_duration){window_ms * INT64_C(1000000)});
    if (!read_ticks(&mask, &after, &stolen, &idle, &cpus))
        return false;
    double elapsed = (double)ifm_clock_since(start).ns * cpus, tick_ns = 1e9 / (double)hz,
           own = (double)(ifm_clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - own_before);
    double busy = (double)(after - before) * tick_ns;
    out->foreign = busy > own ? (busy - own) / elapsed : 0;
    out->stolen = stolen > stolen_before ? (double)(stolen - stolen_before) * tick_ns / elapsed : 0;
    return true;
}

double ifm_host_foreign_load(unsigned window_ms)
{
    struct ifm_host_noise noise;
    if (window_ms == 0)
        return quick_load();
    return ifm_host_noise(window_ms, &noise) ? noise.foreign : -1;
}
