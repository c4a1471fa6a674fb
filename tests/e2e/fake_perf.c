/* Preloaded by cpu_counters.sh: a processor that counts. Events are opened and read as the kernel would have it; counts
 * follow from the number of readings of their thread's group: 3 000 000 cycles a slot, 6 000 000 instructions, 5000
 * misses of the cache and 700 of branches. FAKE_PERF, words with commas:
 *   denied, none, lacks (no misses of the cache), multiplexed (from the ninth reading on), short, overflow, still
 * Thread rule: one thread. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_FDS = 4096, MOST_EVENTS = 8 };

static struct event {
    bool is_open;
    int leader, n;
    uint64_t configs[MOST_EVENTS]; /* of a group, by its leader */
    uint64_t readings;
} events[MOST_FDS];

static bool says(const char *word)
{
    const char *script = getenv("FAKE_PERF");
    return script != NULL && strstr(script, word) != NULL;
}

static long open_event(const struct perf_event_attr *attr, int leader)
{
    if (says("denied") || says("none") || (says("lacks") && attr->config == PERF_COUNT_HW_CACHE_MISSES)) {
        errno = says("denied") ? EACCES : ENOENT;
        return -1;
    }
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), at = leader < 0 ? fd : leader;
    if (fd < 0 || fd >= MOST_FDS || attr->type != PERF_TYPE_HARDWARE || attr->exclude_kernel == 0)
        abort();
    if (leader < 0)
        events[fd] = (struct event){.is_open = true, .leader = fd};
    events[at].configs[events[at].n++] = attr->config;
    return fd;
}

long syscall(long number, ...)
{
    long a[6];
    long (*next)(long, ...);
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_perf_event_open)
        return open_event((const struct perf_event_attr *)a[0], (int)a[3]); /* NOLINT */
    *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uint64_t count_of(uint64_t config, uint64_t readings)
{
    const uint64_t each = config == PERF_COUNT_HW_CPU_CYCLES     ? 3000000
                          : config == PERF_COUNT_HW_INSTRUCTIONS ? 6000000
                          : config == PERF_COUNT_HW_CACHE_MISSES ? 5000
                                                                 : 700;
    return each * ((readings + 1) / 2); /* the second reading of a slot finds a slot's counts more */
}

ssize_t read(int fd, void *buffer, size_t size)
{
    ssize_t (*next)(int, void *, size_t);
    uint64_t words[3 + MOST_EVENTS];
    if (fd < 0 || fd >= MOST_FDS || !events[fd].is_open || events[fd].n == 0) {
        *(void **)&next = dlsym(RTLD_NEXT, "read");
        return next(fd, buffer, size);
    }
    struct event *group = &events[fd];
    const uint64_t readings = group->readings++;
    words[0] = (uint64_t)group->n;
    words[1] = words[2] = 1000000 * (readings + 1);
    if (says("multiplexed") && readings >= 8)
        words[2] -= 400000 * (readings - 7);
    for (int i = 0; i < group->n; i++)
        words[3 + i] = says("still") ? 0 : count_of(group->configs[i], readings);
    if (says("overflow") && readings % 2 == 1)
        words[3] = 17;
    size_t n = (3 + (size_t)group->n) * sizeof *words;
    n = says("short") ? 8 : n;
    if (n > size)
        abort();
    memcpy(buffer, words, n);
    return (ssize_t)n;
}

int close(int fd)
{
    int (*next)(int);
    if (fd >= 0 && fd < MOST_FDS)
        events[fd].is_open = false;
    *(void **)&next = dlsym(RTLD_NEXT, "close");
    return next(fd);
}
