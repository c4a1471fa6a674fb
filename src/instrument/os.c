/* Instrument os: what the kernel did to us during a slot.
 *
 * All files are opened once and read with pread into buffers of the state, so that
 * a start or stop costs a few system calls and no allocation, unless threads came or
 * went since the last slot. Steal time comes in ticks of USER_HZ (10 ms as a rule):
 * over short slots it is mostly zero, and its sum over a pass is what counts. */
#include "base/file.h"
#include "host/cpus.h"
#include "instrument/instrument.h"
#include "instrument/thermal.h"
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAT_BYTES_PER_CPU 160 /* ten numbers of /proc/stat */

enum column {
    VOLUNTARY,
    INVOLUNTARY,
    FAULTS_MINOR,
    FAULTS_MAJOR,
    STEAL,
    RUN_DELAY,
    CPU_KHZ,
    THROTTLES,
    TEMPERATURE,
    N_COLUMNS
};

static const struct ifm_column columns[N_COLUMNS] = {
    [VOLUNTARY] = {"context_switches_voluntary", "count"},
    [INVOLUNTARY] = {"context_switches_involuntary", "count"},
    [FAULTS_MINOR] = {"faults_minor", "count"},
    [FAULTS_MAJOR] = {"faults_major", "count"},
    [STEAL] = {"steal_ns", "ns"},
    [RUN_DELAY] = {"run_delay_ns", "ns"},
    [CPU_KHZ] = {"cpu_khz", "kHz"},
    [THROTTLES] = {"throttle_count", "count"},
    [TEMPERATURE] = {"temperature_mc", "mC"},
};

struct thread {
    int fd;
    int64_t start_ns; /* run delay at the slot's start; IFM_ABSENT when it could not be read */
};

struct ifm_instrument_state {
    struct ifm_cpu_mask cpus; /* that this process may use */
    int stat_fd;
    char *stat_buffer;
    size_t stat_size;
    int64_t tick_ns;
    int64_t steal_start, steal;

    int task_fd;
    nlink_t task_links; /* changes with the number of threads */
    bool threads_stale; /* a thread has gone */
    struct thread *threads;
    size_t n_threads, thread_capacity;
    int64_t run_delay;

    int frequency_fd[IFM_CPUS_MAX]; /* 0 = not opened yet, -1 = not there */
    int64_t cpu_khz;

    struct ifm_thermal thermal;
    int64_t throttles_start, throttles, temperature_mc;

    struct rusage usage_start, usage;
};

/* The file into `buffer`, NUL-terminated; false when it cannot be read. */
static bool reread(int fd, char *buffer, size_t size)
{
    ssize_t n = fd < 0 ? -1 : pread(fd, buffer, size - 1, 0);
    if (n <= 0)
        return false;
    buffer[n] = '\0';
    return true;
}

/* Ticks stolen from our CPUs since boot; IFM_ABSENT when the kernel does not count them. */
static int64_t read_steal(struct ifm_instrument_state *state)
{
    if (!reread(state->stat_fd, state->stat_buffer, state->stat_size))
        return IFM_ABSENT;
    int64_t sum = 0;
    unsigned found = 0;
    for (const char *line = state->stat_buffer; line != NULL && strncmp(line, "cpu", 3) == 0;) {
        char *at;
        if (line[3] != ' ') { /* the first line is the sum over all CPUs */
            unsigned long cpu = strtoul(line + 3, &at, 10);
            long long steal = 0;
            int fields = 0;
            while (fields < 8 && *at == ' ') {
                steal = strtoll(at, &at, 10);
                fields++;
            }
            if (cpu < IFM_CPUS_MAX && ifm_cpu_mask_has(&state->cpus, (unsigned)cpu) && fields == 8) {
                sum += steal;
                found++;
            }
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return found > 0 ? sum : IFM_ABSENT;
}

/* Nanoseconds that a thread has waited, ready to run; false for a thread that has gone. */
static bool read_delay(int fd, int64_t *delay)
{
    char line[96], *at;
    if (!reread(fd, line, sizeof line))
        return false;
    strtoll(line, &at, 10); /* time on a CPU */
    *delay = strtoll(at, NULL, 10);
    return true;
}

static void forget_threads(struct ifm_instrument_state *state)
{
    for (size_t i = 0; i < state->n_threads; i++)
        close(state->threads[i].fd);
    state->n_threads = 0;
}

static void add_thread(struct ifm_instrument_state *state, const char *name)
{
    char path[300];
    if (name[0] == '.')
        return;
    if (state->n_threads == state->thread_capacity) {
        size_t capacity = state->thread_capacity * 2 + 16;
        struct thread *larger = realloc(state->threads, sizeof *larger * capacity);
        if (larger == NULL)
            return;
        state->threads = larger;
        state->thread_capacity = capacity;
    }
    snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        state->threads[state->n_threads++] = (struct thread){fd, IFM_ABSENT};
}

/* The link count of the task folder is the number of threads plus two, so one fstat tells whether to look again. */
static void find_threads(struct ifm_instrument_state *state)
{
    struct stat now;
    if (state->task_fd < 0 || fstat(state->task_fd, &now) != 0)
        return;
    if (now.st_nlink == state->task_links && !state->threads_stale)
        return;
    state->task_links = now.st_nlink;
    state->threads_stale = false;
    forget_threads(state);
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL; entry = readdir(folder))
        add_thread(state, entry->d_name);
    if (folder != NULL)
        closedir(folder);
}

static int64_t read_frequency(struct ifm_instrument_state *state)
{
    int cpu = sched_getcpu();
    char line[64];
    int64_t khz;
    if (cpu < 0 || cpu >= IFM_CPUS_MAX)
        return IFM_ABSENT;
    if (state->frequency_fd[cpu] == 0) {
        snprintf(line, sizeof line, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
        state->frequency_fd[cpu] = open(line, O_RDONLY | O_CLOEXEC);
    }
    if (!reread(state->frequency_fd[cpu], line, sizeof line))
        return IFM_ABSENT;
    khz = strtoll(line, NULL, 10);
    return khz > 0 ? khz : IFM_ABSENT;
}

static void os_close(struct ifm_instrument_state *state)
{
    if (state == NULL)
        return;
    forget_threads(state);
    free(state->threads);
    if (state->stat_fd >= 0)
        close(state->stat_fd);
    if (state->task_fd >= 0)
        close(state->task_fd);
    for (unsigned cpu = 0; cpu < IFM_CPUS_MAX; cpu++)
        if (state->frequency_fd[cpu] > 0)
            close(state->frequency_fd[cpu]);
    ifm_thermal_close(&state->thermal);
    free(state->stat_buffer);
    free(state);
}

/* The counters of this process come last at the start and first at the stop, so that they do not count the reading of
 * the others. */
static void os_start(struct ifm_instrument_state *state)
{
    state->throttles_start = ifm_thermal_throttles(&state->thermal);
    state->steal_start = read_steal(state);
    find_threads(state);
    for (size_t i = 0; i < state->n_threads; i++) {
        struct thread *thread = &state->threads[i];
        if (!read_delay(thread->fd, &thread->start_ns)) {
            thread->start_ns = IFM_ABSENT;
            state->threads_stale = true;
        }
    }
    getrusage(RUSAGE_SELF, &state->usage_start);
}

static void os_stop(struct ifm_instrument_state *state)
{
    getrusage(RUSAGE_SELF, &state->usage);
    int64_t sum = 0, now;
    size_t read = 0;
    for (size_t i = 0; i < state->n_threads; i++) {
        const struct thread *thread = &state->threads[i];
        if (thread->start_ns == IFM_ABSENT)
            continue;
        if (!read_delay(thread->fd, &now)) {
            state->threads_stale = true;
            continue;
        }
        sum += now - thread->start_ns;
        read++;
    }
    state->run_delay = read > 0 ? sum : IFM_ABSENT;
    int64_t steal = read_steal(state);
    state->steal = steal == IFM_ABSENT || state->steal_start == IFM_ABSENT ? IFM_ABSENT : steal - state->steal_start;
    state->cpu_khz = read_frequency(state);
    int64_t throttles = ifm_thermal_throttles(&state->thermal);
    bool counted = throttles != IFM_ABSENT && state->throttles_start != IFM_ABSENT;
    state->throttles = counted ? throttles - state->throttles_start : IFM_ABSENT;
    state->temperature_mc = ifm_thermal_temperature_mc(&state->thermal);
}

static void os_collect(struct ifm_instrument_state *state, int64_t *values)
{
    const struct rusage *from = &state->usage_start, *to = &state->usage;
    values[VOLUNTARY] = to->ru_nvcsw - from->ru_nvcsw;
    values[INVOLUNTARY] = to->ru_nivcsw - from->ru_nivcsw;
    values[FAULTS_MINOR] = to->ru_minflt - from->ru_minflt;
    values[FAULTS_MAJOR] = to->ru_majflt - from->ru_majflt;
    /* Some hypervisors let it run backwards: that is no reading. */
    values[STEAL] = state->steal < 0 ? IFM_ABSENT : state->steal * state->tick_ns;
    values[RUN_DELAY] = state->run_delay;
    values[CPU_KHZ] = state->cpu_khz;
    values[THROTTLES] = state->throttles;
    values[TEMPERATURE] = state->temperature_mc;
}

static const char *probe_steal(const char **remedy)
{
    char line[256];
    int fields = 0;
    if (!ifm_file_line("/proc/stat", line, sizeof line)) {
        *remedy = "mount procfs";
        return "/proc/stat cannot be read";
    }
    for (const char *at = line; (at = strchr(at, ' ')) != NULL; at += strspn(at, " "))
        fields++;
    *remedy = fields >= 8 ? "" : "use a kernel that counts stolen time (2.6.11 or later)";
    return fields >= 8 ? "" : "the kernel does not count stolen time";
}

static const char *probe_delay(const char **remedy)
{
    char line[96];
    *remedy = "use a kernel with CONFIG_SCHED_INFO";
    if (!ifm_file_line("/proc/thread-self/schedstat", line, sizeof line))
        return "the kernel has no schedstat";
    if (strcmp(line, "0 0 0") == 0)
        return "the kernel does not count the time that threads wait for a CPU";
    *remedy = "";
    return "";
}

static const char *probe_frequency(const char **remedy)
{
    int cpu = sched_getcpu();
    char path[96], line[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu < 0 ? 0 : cpu);
    if (ifm_file_line(path, line, sizeof line)) {
        *remedy = "";
        return "";
    }
    *remedy = "measure on bare metal, with a cpufreq driver loaded";
    return "the kernel reports no clock frequency for this CPU (as a rule in a virtual machine)";
}

static const char *probe_thermal(bool throttles, const char **remedy)
{
    struct ifm_cpu_mask cpus;
    struct ifm_thermal thermal;
    *remedy = "measure on bare metal, with the thermal driver of the processor loaded";
    if (!ifm_cpu_mask_process(&cpus))
        return "the CPUs of this process cannot be read";
    ifm_thermal_open("", &cpus, &thermal);
    int64_t value = throttles ? ifm_thermal_throttles(&thermal) : ifm_thermal_temperature_mc(&thermal);
    ifm_thermal_close(&thermal);
    if (value != IFM_ABSENT) {
        *remedy = "";
        return "";
    }
    return throttles ? "the kernel does not count how often these CPUs throttle (as a rule in a virtual machine)"
                     : "no temperature sensor of the processor is visible (as a rule in a virtual machine)";
}

static const char *os_probe(size_t column, const char **remedy)
{
    *remedy = "";
    switch ((enum column)column) {
    case STEAL:
        return probe_steal(remedy);
    case RUN_DELAY:
        return probe_delay(remedy);
    case CPU_KHZ:
        return probe_frequency(remedy);
    case THROTTLES:
    case TEMPERATURE:
        return probe_thermal(column == THROTTLES, remedy);
    default:
        return ""; /* getrusage is always there */
    }
}

static enum ifm_status os_open(struct ifm_instrument_state **out, struct ifm_error *error)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF), hz = sysconf(_SC_CLK_TCK);
    struct ifm_instrument_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory for the instrument os");
    state->stat_fd = state->task_fd = state->thermal.temperature_fd = -1;
    state->stat_size = (size_t)((cpus > 0 ? cpus : 1) + 1) * STAT_BYTES_PER_CPU;
    state->stat_buffer = malloc(state->stat_size);
    if (state->stat_buffer == NULL) {
        os_close(state);
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory for the instrument os");
    }
    memset(state->stat_buffer, 0, state->stat_size); /* touched now, not in a slot */
    bool masked = ifm_cpu_mask_process(&state->cpus);
    if (masked)
        ifm_thermal_open("", &state->cpus, &state->thermal);
    if (masked && hz > 0)
        state->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    state->tick_ns = hz > 0 ? 1000000000 / hz : 0;
    const char *remedy;
    if (probe_delay(&remedy)[0] == '\0') /* else the files hold zeros, which are not measurements */
        state->task_fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    find_threads(state);
    (void)read_frequency(state); /* opens the file of this CPU */
    *out = state;
    return IFM_OK;
}

const struct ifm_instrument ifm_instrument_os = {
    .name = "os",
    .intrusion = IFM_INTRUSION_PASSIVE,
    .columns = columns,
    .n_columns = N_COLUMNS,
    .probe = os_probe,
    .open = os_open,
    .start = os_start,
    .stop = os_stop,
    .collect = os_collect,
    .close = os_close,
};
