/* The pinned pool.
 *
 * The driver gives worker w a command by filling its mailbox and then advancing
 * the mailbox's ticket; the worker answers by copying the ticket to `done`. Each
 * of the two words has one writer and its own cache lines, so a command costs one
 * line transfer each way.
 *
 * No wake-up is missed: the worker sets `parked` and then reads the ticket, the
 * driver advances the ticket and then reads `parked`. All four are sequentially
 * consistent, so at least one of the two sees the other; and the kernel compares
 * the ticket once more before it lets the worker sleep. */
#include "device/pool.h"
#include "host/cpus.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE 128 /* two cache lines: the adjacent-line prefetcher pairs them */
#define SPIN_NS 50000
#define MOST_SPINS (1u << 20) /* where the clock has stopped: some 20 ms */
#define SPIN_BATCH 64         /* pauses between two looks at the clock */

enum command { COMMAND_IDLE, COMMAND_WORK, COMMAND_QUIT };

struct worker {
    /* Written by the driver. */
    alignas(LINE) _Atomic uint32_t ticket;
    enum command command;
    bool held;
    unsigned count;
    ifm_work_fn *work;
    void *arg;
    /* Written by the worker. */
    alignas(LINE) _Atomic uint32_t done;
    _Atomic uint32_t parked;
    /* Constant after creation. */
    alignas(LINE) unsigned index;
    pthread_t thread;
};

struct ifm_pool {
    struct worker *workers; /* [0] is the driver's place and stays unused */
    unsigned n, held;
};

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, (uint32_t *)word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void park(struct worker *worker, uint32_t seen)
{
    atomic_store(&worker->parked, 1);
    while (atomic_load(&worker->ticket) == seen)
        futex(&worker->ticket, FUTEX_WAIT, seen);
    atomic_store_explicit(&worker->parked, 0, memory_order_relaxed);
}

/* Wait until the ticket differs from `seen`: a new command. */
static void await_command(struct worker *worker, uint32_t seen, bool held)
{
    struct ifm_instant start = {0};
    for (unsigned spins = 0;; spins++) {
        if (atomic_load_explicit(&worker->ticket, memory_order_acquire) != seen)
            return;
        relax();
        if (held || spins % SPIN_BATCH != SPIN_BATCH - 1)
            continue;
        if (start.ns == 0) {
            start = ifm_clock_now();
        } else if (ifm_clock_since(start).ns > SPIN_NS || spins > MOST_SPINS) {
            park(worker, seen);
            return;
        }
    }
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    uint32_t seen = 0;
    bool held = false;
    for (;;) {
        await_command(worker, seen, held);
        seen++;
        enum command command = worker->command;
        held = worker->held;
        if (command == COMMAND_WORK)
            worker->work(worker->arg, worker->index, worker->count);
        atomic_store_explicit(&worker->done, seen, memory_order_release);
        if (command == COMMAND_QUIT)
            return NULL;
    }
}

/* `awake`: the worker is known not to be parked, because it is held. */
static void send(struct worker *worker, bool awake)
{
    uint32_t next = atomic_load_explicit(&worker->ticket, memory_order_relaxed) + 1;
    if (awake) {
        atomic_store_explicit(&worker->ticket, next, memory_order_release);
        return;
    }
    atomic_store(&worker->ticket, next);
    if (atomic_load(&worker->parked))
        futex(&worker->ticket, FUTEX_WAKE, 1);
}

static void await_done(const struct worker *worker)
{
    uint32_t ticket = atomic_load_explicit(&worker->ticket, memory_order_relaxed);
    while (atomic_load_explicit(&worker->done, memory_order_acquire) != ticket)
        relax();
}

void ifm_pool_run(struct ifm_pool *pool, unsigned threads, ifm_work_fn *work, void *arg)
{
    for (unsigned i = 1; i < threads; i++) {
        struct worker *worker = &pool->workers[i];
        worker->command = COMMAND_WORK;
        worker->held = i < pool->held;
        worker->count = threads;
        worker->work = work;
        worker->arg = arg;
        send(worker, worker->held);
    }
    work(arg, 0, threads);
    for (unsigned i = 1; i < threads; i++)
        await_done(&pool->workers[i]);
}

/* Tell workers first .. last-1 whether they are held, without work. */
static void tell(struct ifm_pool *pool, unsigned first, unsigned last, bool held, bool awake)
{
    for (unsigned i = first; i < last; i++) {
        pool->workers[i].command = COMMAND_IDLE;
        pool->workers[i].held = held;
        send(&pool->workers[i], awake);
    }
    for (unsigned i = first; i < last; i++)
        await_done(&pool->workers[i]);
}

void ifm_pool_hold(struct ifm_pool *pool, unsigned threads)
{
    ifm_pool_release(pool);
    tell(pool, 1, threads, true, false);
    pool->held = threads;
    for (unsigned i = threads > 0 ? threads : 1; i < pool->n; i++)
        while (!atomic_load_explicit(&pool->workers[i].parked, memory_order_acquire))
            relax();
}

void ifm_pool_release(struct ifm_pool *pool)
{
    unsigned held = pool->held;
    pool->held = 0;
    tell(pool, 1, held, false, true);
}

bool ifm_pool_mask_get(const struct ifm_pool *pool, unsigned worker, struct ifm_cpu_mask *out)
{
    memset(out, 0, sizeof *out);
    return pthread_getaffinity_np(pool->workers[worker].thread, sizeof out->sets, out->sets) == 0;
}

bool ifm_pool_mask_set(struct ifm_pool *pool, unsigned worker, const struct ifm_cpu_mask *mask)
{
    return pthread_setaffinity_np(pool->workers[worker].thread, sizeof mask->sets, mask->sets) == 0;
}

unsigned ifm_pool_held(const struct ifm_pool *pool)
{
    return pool->held;
}

unsigned ifm_pool_parked(const struct ifm_pool *pool)
{
    unsigned n = 0;
    for (unsigned i = 1; i < pool->n; i++)
        n += atomic_load_explicit(&pool->workers[i].parked, memory_order_acquire) != 0;
    return n;
}

/* A worker is born on its CPU, so that its stack is touched there, and with every signal blocked: signals
 * are the driver's. */
static int start_worker(struct worker *worker, unsigned cpu)
{
    pthread_attr_t attributes;
    int failure = pthread_attr_init(&attributes);
    if (failure != 0)
        return failure;
    struct ifm_cpu_mask mask = ifm_cpu_mask_of(cpu);
    sigset_t all, before;
    sigfillset(&all);
    failure = pthread_attr_setaffinity_np(&attributes, sizeof mask.sets, mask.sets);
    if (failure == 0)
        failure = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (failure == 0) {
        failure = pthread_create(&worker->thread, &attributes, worker_main, worker);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    if (failure == 0) {
        char name[16];
        snprintf(name, sizeof name, "worker-%u", worker->index);
        pthread_setname_np(worker->thread, name);
    }
    return failure;
}

enum ifm_status ifm_pool_create(const unsigned *cpus, unsigned n, struct ifm_pool **out, struct ifm_error *error)
{
    struct ifm_pool *pool = calloc(1, sizeof *pool);
    struct worker *workers = pool == NULL ? NULL : aligned_alloc(LINE, sizeof *workers * n);
    if (workers == NULL) {
        free(pool);
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory for %u worker threads", n);
    }
    memset(workers, 0, sizeof *workers * n);
    pool->workers = workers;
    pool->n = 1;
    for (unsigned i = 1; i < n; i++) {
        workers[i].index = i;
        int failure = start_worker(&workers[i], cpus[i]);
        if (failure != 0) {
            ifm_pool_destroy(pool);
            return ifm_fail(error, IFM_INTERNAL, NULL, "lower --threads, or raise the limit on threads (ulimit -u)",
                            "cannot start worker %u of %u on CPU %u: %s", i, n, cpus[i], strerror(failure));
        }
        pool->n = i + 1;
    }
    *out = pool;
    return IFM_OK;
}

void ifm_pool_destroy(struct ifm_pool *pool)
{
    if (pool == NULL)
        return;
    ifm_pool_release(pool);
    for (unsigned i = 1; i < pool->n; i++) {
        pool->workers[i].command = COMMAND_QUIT;
        send(&pool->workers[i], false);
    }
    for (unsigned i = 1; i < pool->n; i++)
        pthread_join(pool->workers[i].thread, NULL);
    free(pool->workers);
    free(pool);
}
