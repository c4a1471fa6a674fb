/* The thread that reads the sensors, and the two banks that it and the driving thread change places with.
 *
 * Every sensor has a pace of its own. A counter that is refreshed slowly is read seldom between its ticks and often
 * when the next one is due, so that each tick is known to a few milliseconds. Readings are stored and nothing else. */
#include "power/sampler.h"
#include "base/arena.h"
#include "power/source.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_ROOM = 1024,
    BATCH = 512, /* readings of one call */
    GAP_PERIODS = 3,
    SLOW_MS = 20, /* counters that are refreshed more seldom have ticks to wait for */
    LEARNT_TICKS = 5,
    LOST_TICKS = 3
};
#define MS INT64_C(1000000)
#define FAST_PACE (50 * MS)  /* of counters that always bring something new */
#define RING_PACE (400 * MS) /* the ring holds 2.4 s */
#define METER_PACE (100 * MS)
#define TICK_PACE (2 * MS) /* between readings while a tick is due */

struct bank {
    struct ifm_power_series series[IFM_POWER_MOST];
    size_t room[IFM_POWER_MOST];
};

struct pace {
    int64_t next_ns;
    /* of a counter with ticks */
    int64_t tick_ns;   /* where its last one was, as far as all readings tell */
    int64_t known_ns;  /* the last that was known well */
    int64_t period_ns; /* between ticks, as learnt */
    int64_t call_ns;   /* what a call takes lately, at worst */
    int known, missed; /* ticks known well since the last time that several in a row were not; those in a row */
    int64_t seen_ns;   /* time of the last reading given; of a sensor that gave none, the start */
    int64_t came_ns;   /* when a reading last came, whatever its stamp: a meter's clock may be off */
    bool in_gap, lost;
    char lost_reason[200];
};

struct ifm_sampler {
    struct ifm_power *power;
    int64_t base_ns, watts_ns; /* watts_ns: between readings of watts; 0 = their own pace */
    size_t n;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t wake;
    bool stop;
    int active; /* the bank that the thread fills */
    struct bank banks[2];
    struct pace paces[IFM_POWER_MOST]; /* the thread's own */
    struct ifm_power_point points[BATCH];
};

/* ---- where it runs ---- */

struct ifm_cpu_mask ifm_sampler_cpus(const struct ifm_cpu_mask *allowed, const struct ifm_cpu_mask *taken)
{
    struct ifm_cpu_mask left = *allowed;
    for (size_t i = 0; i < sizeof left.sets / sizeof *left.sets; i++)
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &taken->sets[i]))
                CPU_CLR(cpu, &left.sets[i]);
    return CPU_COUNT_S(sizeof left.sets, left.sets) > 0 ? left : *allowed;
}

/* CPUs that a thread of this process is pinned to alone, and the one that the caller is on. */
static struct ifm_cpu_mask taken_cpus(void)
{
    struct ifm_cpu_mask taken = ifm_cpu_mask_pinned();
    int here = sched_getcpu();
    if (here >= 0)
        CPU_SET_S((size_t)here, sizeof taken.sets, taken.sets);
    return taken;
}

/* ---- pace ---- */

static bool has_ticks(const struct ifm_power_sensor *sensor)
{
    return sensor->kind == IFM_POWER_COUNTER && sensor->every_ms >= SLOW_MS;
}

static int64_t even_pace(const struct ifm_power_sensor *sensor, int64_t watts_ns)
{
    int64_t every = (int64_t)sensor->every_ms * MS;
    bool watts =
        sensor->kind == IFM_POWER_AVERAGE || sensor->kind == IFM_POWER_INSTANT || sensor->kind == IFM_POWER_ESTIMATE;
    if (watts && watts_ns > 0)
        return watts_ns;
    switch (sensor->kind) {
    case IFM_POWER_COUNTER:
        return every > FAST_PACE ? every : FAST_PACE;
    case IFM_POWER_SAMPLES:
        return RING_PACE;
    case IFM_POWER_METER:
        return METER_PACE;
    case IFM_POWER_AVERAGE:
    case IFM_POWER_INSTANT:
        return every / 5 > 5 * MS ? every / 5 : 5 * MS; /* each costs a microsecond, and is new once in five */
    case IFM_POWER_ESTIMATE:
        break;
    }
    return every > 0 ? every : METER_PACE;
}

/* Ticks come at even distances, so that a reading that says little of when its tick was is helped by those before. The
 * distance is learnt: a calibration of a second may be a tenth off where calls are slow. */
static void follow_tick(struct pace *pace, const struct ifm_power_point *point, int64_t every)
{
    int64_t low = point->t_ns - point->half_ns, high = point->t_ns + point->half_ns;
    int64_t period = pace->period_ns > 0 ? pace->period_ns : every;
    bool well = point->half_ns < period / 5;
    int64_t due = pace->tick_ns + (point->t_ns - pace->tick_ns + period / 2) / period * period;
    pace->tick_ns = pace->tick_ns == 0 ? point->t_ns : due < low ? low : due > high ? high : due;
    pace->missed = well ? 0 : pace->missed + 1;
    pace->known = well ? pace->known + 1 : pace->missed >= LOST_TICKS ? 0 : pace->known;
    if (!well)
        return;
    int64_t n = pace->known_ns == 0 ? 0 : (point->t_ns - pace->known_ns + period / 2) / period;
    if (n > 0)
        pace->period_ns = period + ((point->t_ns - pace->known_ns) / n - period) / 4;
    pace->known_ns = point->t_ns;
}

/* When to read next. After a tick nothing comes for most of a period; then it is looked for until it is there: a call
 * that still sees the old value must end before the tick, also where calls have become slow (17 ms on an H200 whose
 * memory is busy), or nothing says when the tick was. Until the ticks are known, and when they are lost, one call
 * follows the other. */
static int64_t next_time(const struct ifm_sampler *sampler, const struct ifm_power_sensor *sensor,
                         const struct pace *pace, bool fresh, int64_t now)
{
    int64_t every = (int64_t)sensor->every_ms * MS, next = now + TICK_PACE;
    if (!has_ticks(sensor))
        return now + even_pace(sensor, sampler->watts_ns);
    if (fresh && pace->known >= LEARNT_TICKS)
        next = pace->tick_ns + pace->period_ns - pace->period_ns / 10 - pace->call_ns;
    else if (now - pace->seen_ns > 2 * every) /* late: it may never come */
        next = now + every / 4;
    return next > now + TICK_PACE ? next : now + TICK_PACE;
}

/* Longest time between readings that is no gap. */
static int64_t gap_ns(const struct ifm_sampler *sampler, const struct ifm_power_sensor *sensor)
{
    int64_t every = (int64_t)sensor->every_ms * MS, pace = even_pace(sensor, sampler->watts_ns);
    bool stamped = sensor->kind == IFM_POWER_SAMPLES || sensor->kind == IFM_POWER_METER;
    return GAP_PERIODS * (stamped || every > pace ? every : pace);
}

/* ---- storing; the lock is held ---- */

static bool grow(struct bank *bank, size_t sensor)
{
    size_t room = bank->room[sensor] == 0 ? FIRST_ROOM : 2 * bank->room[sensor];
    struct ifm_power_point *points = realloc(bank->series[sensor].points, room * sizeof *points);
    if (points == NULL)
        return false;
    bank->series[sensor].points = points;
    bank->room[sensor] = room;
    return true;
}

static void store(struct ifm_sampler *sampler, size_t sensor, const struct ifm_power_point *point, int64_t most_ns)
{
    struct bank *bank = &sampler->banks[sampler->active];
    struct ifm_power_series *series = &bank->series[sensor];
    struct pace *pace = &sampler->paces[sensor];
    if (point->t_ns + point->half_ns < sampler->base_ns) /* from before the start */
        return;
    if (point->t_ns - pace->seen_ns > most_ns && !pace->in_gap)
        series->gaps++;
    pace->in_gap = false;
    pace->seen_ns = point->t_ns;
    if (series->n == bank->room[sensor] && !grow(bank, sensor)) {
        series->gaps++;
        return;
    }
    series->points[series->n] = *point;
    series->points[series->n++].t_ns -= sampler->base_ns;
}

static void take(struct ifm_sampler *sampler, size_t sensor, enum ifm_status status, size_t n,
                 const struct ifm_error *error)
{
    const struct ifm_power_sensor *which = &ifm_power_list(sampler->power)->sensors[sensor];
    struct ifm_power_series *series = &sampler->banks[sampler->active].series[sensor];
    struct pace *pace = &sampler->paces[sensor];
    int64_t now = ifm_clock_now().ns, most = gap_ns(sampler, which);
    for (size_t i = 0; status == IFM_OK && i < n; i++)
        store(sampler, sensor, &sampler->points[i], most);
    if (status == IFM_OK && n > 0)
        follow_tick(pace, &sampler->points[n - 1], (int64_t)which->every_ms * MS);
    /* A sensor with stamps is read more seldom than it measures: its newest reading is a pace old. */
    int64_t silence = now - pace->seen_ns - (which->kind == IFM_POWER_SAMPLES ? RING_PACE : 0);
    if (which->kind == IFM_POWER_METER)
        silence = now - pace->came_ns - METER_PACE;
    pace->came_ns = n > 0 ? now : pace->came_ns;
    if (n == 0 && silence > most && !pace->in_gap) {
        pace->in_gap = true;
        series->gaps++;
    }
    series->implausible += status != IFM_OK && status != IFM_MISSING;
    if (status == IFM_MISSING) {
        pace->lost = true;
        snprintf(pace->lost_reason, sizeof pace->lost_reason, "%.*s", (int)sizeof pace->lost_reason - 1,
                 error->message);
    }
    pace->next_ns = next_time(sampler, which, pace, n > 0, now);
}

/* ---- the thread ---- */

static size_t next_sensor(const struct ifm_sampler *sampler)
{
    size_t next = sampler->n;
    for (size_t i = 0; i < sampler->n; i++)
        if (!sampler->paces[i].lost && (next == sampler->n || sampler->paces[i].next_ns < sampler->paces[next].next_ns))
            next = i;
    return next;
}

/* Until then, or until stop. The condition's clock is another than the lab's: only the difference is carried over. */
static void wait_until(struct ifm_sampler *sampler, int64_t time_ns)
{
    struct timespec until;
    int64_t left = time_ns - ifm_clock_now().ns;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + (left > 0 ? left : 0);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_cond_timedwait(&sampler->wake, &sampler->lock, &until);
}

static void *sample(void *argument)
{
    struct ifm_sampler *sampler = argument;
    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stop) {
        size_t sensor = next_sensor(sampler), n;
        if (sensor == sampler->n) { /* nothing is left to read */
            pthread_cond_wait(&sampler->wake, &sampler->lock);
            continue;
        }
        if (sampler->paces[sensor].next_ns > ifm_clock_now().ns) {
            wait_until(sampler, sampler->paces[sensor].next_ns);
            continue;
        }
        struct ifm_error error = {0};
        pthread_mutex_unlock(&sampler->lock); /* a reading may take milliseconds: drain must not wait for it */
        int64_t begin = ifm_clock_now().ns;
        enum ifm_status status = ifm_power_read(sampler->power, sensor, sampler->points, BATCH, &n, &error);
        int64_t took = ifm_clock_now().ns - begin;
        pthread_mutex_lock(&sampler->lock);
        struct pace *pace = &sampler->paces[sensor];
        pace->call_ns = took > pace->call_ns ? took : pace->call_ns - pace->call_ns / 16;
        take(sampler, sensor, status, n, &error);
    }
    pthread_mutex_unlock(&sampler->lock);
    return NULL;
}

/* ---- for the driving thread ---- */

static void release(struct ifm_sampler *sampler)
{
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < sampler->n; i++)
            free(sampler->banks[b].series[i].points);
    pthread_cond_destroy(&sampler->wake);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}

static bool prepare(struct ifm_sampler *sampler)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&sampler->lock, NULL);
    pthread_cond_init(&sampler->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    for (size_t i = 0; i < sampler->n; i++) {
        sampler->paces[i] = (struct pace){.next_ns = sampler->base_ns, .seen_ns = ifm_clock_now().ns};
        sampler->paces[i].came_ns = sampler->paces[i].seen_ns;
        if (!grow(&sampler->banks[0], i) || !grow(&sampler->banks[1], i))
            return false;
    }
    return true;
}

/* A new thread has its creator's mask, which may be one CPU that something is measured on. */
static int start_thread(struct ifm_sampler *sampler)
{
    struct ifm_cpu_mask allowed, taken = taken_cpus();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (ifm_cpu_mask_process(&allowed)) {
        CPU_OR_S(sizeof allowed.sets, allowed.sets, allowed.sets, ifm_power_cpus(sampler->power)->sets);
        struct ifm_cpu_mask mine = ifm_sampler_cpus(&allowed, &taken);
        pthread_attr_setaffinity_np(&attributes, sizeof mine.sets, mine.sets);
    }
    int failure = pthread_create(&sampler->thread, &attributes, sample, sampler);
    pthread_attr_destroy(&attributes);
    return failure;
}

enum ifm_status ifm_sampler_start(struct ifm_power *power, struct ifm_instant base, double watts_hz,
                                  struct ifm_sampler **out, struct ifm_error *error)
{
    struct ifm_sampler *sampler = ifm_zeros(1, sizeof *sampler);
    sampler->power = power;
    sampler->base_ns = base.ns;
    sampler->watts_ns = watts_hz > 0 ? (int64_t)(1e9 / watts_hz) : 0;
    sampler->n = ifm_power_list(power)->n_sensors;
    if (!prepare(sampler)) {
        release(sampler);
        return ifm_fail(error, IFM_INTERNAL, "power", "", "out of memory");
    }
    int failure = start_thread(sampler);
    if (failure != 0) {
        release(sampler);
        return ifm_fail(error, IFM_INTERNAL, "power", "raise the limit of processes (ulimit -u)",
                        "the sampler's thread does not start: %s", strerror(failure));
    }
    *out = sampler;
    return IFM_OK;
}

const struct ifm_power_series *ifm_sampler_drain(struct ifm_sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    struct bank *full = &sampler->banks[sampler->active], *other = &sampler->banks[1 - sampler->active];
    for (size_t i = 0; i < sampler->n; i++) {
        other->series[i].n = other->series[i].gaps = other->series[i].implausible = 0;
        /* Here, since the caller reads without the lock what it was given: the thread must not touch it. */
        full->series[i].lost = sampler->paces[i].lost;
        memcpy(full->series[i].lost_reason, sampler->paces[i].lost_reason, sizeof full->series[i].lost_reason);
    }
    sampler->active = 1 - sampler->active;
    pthread_mutex_unlock(&sampler->lock);
    return full->series;
}

void ifm_sampler_stop(struct ifm_sampler *sampler)
{
    if (sampler == NULL)
        return;
    pthread_mutex_lock(&sampler->lock);
    sampler->stop = true;
    pthread_cond_signal(&sampler->wake);
    pthread_mutex_unlock(&sampler->lock);
    pthread_join(sampler->thread, NULL);
    release(sampler);
}
