/* Clock types: instants and durations cannot be mixed up.
 *
 * All durations use CLOCK_MONOTONIC_RAW: it never steps, NTP does not slew it, and on x86 the vDSO reads it without a
 * system call. */
#ifndef IFM_BASE_CLOCK_H
#define IFM_BASE_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

struct ifm_instant {
    int64_t ns; /* since an arbitrary start; comparable within one boot only */
};
struct ifm_duration {
    int64_t ns;
};

static inline int64_t ifm_clock_read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline struct ifm_instant ifm_clock_now(void)
{
    return (struct ifm_instant){ifm_clock_read_ns(CLOCK_MONOTONIC_RAW)};
}

static inline struct ifm_duration ifm_clock_since(struct ifm_instant start)
{
    return (struct ifm_duration){ifm_clock_now().ns - start.ns};
}

/* Nanoseconds since boot, suspension included, by another clock of the kernel. Used only to check ifm_clock_now, never
 * to measure: NTP slews it. */
static inline int64_t ifm_clock_boot_ns(void)
{
    return ifm_clock_read_ns(CLOCK_BOOTTIME);
}

/* Nanoseconds since the Unix epoch: for labels and for joining sessions, never for durations. */
static inline int64_t ifm_clock_wall_ns(void)
{
    return ifm_clock_read_ns(CLOCK_REALTIME);
}

/* Sleeps that long, whatever signals come. */
static inline void ifm_clock_sleep(struct ifm_duration time)
{
    struct timespec left = {time.ns / 1000000000, time.ns % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

#endif
