/* Pool: pinned worker threads behind a spin-then-park barrier.
 *
 * Owns its threads. Worker 0 is the thread that calls; the others are pinned,
 * one per CPU, for life. A worker spins for its next command and sleeps in the
 * kernel only after about 50 us without one, and never while it is held, so that
 * a held pool makes no system call. Thread rule: one thread drives a pool. */
#ifndef IFM_DEVICE_POOL_H
#define IFM_DEVICE_POOL_H

#include "device/device.h"
#include "host/cpus.h"

struct ifm_pool;

/* One worker per entry of `cpus`; cpus[0] is the caller's and is not pinned here. */
IFM_CHECKED enum ifm_status ifm_pool_create(const unsigned *cpus, unsigned n, struct ifm_pool **out,
                                            struct ifm_error *error);
void ifm_pool_destroy(struct ifm_pool *pool); /* NULL is allowed */

/* Run `work` on workers 0 .. threads-1 and wait; `threads` is at most the pool's size. With one thread
 * no worker is touched. */
void ifm_pool_run(struct ifm_pool *pool, unsigned threads, ifm_work_fn *work, void *arg);

/* On return, workers 1 .. threads-1 spin and will not park before release; the others sleep. */
void ifm_pool_hold(struct ifm_pool *pool, unsigned threads);
void ifm_pool_release(struct ifm_pool *pool);

/* The CPUs that worker 1 .. size-1 may run on now, and those that it shall; false when the system says no. */
bool ifm_pool_mask_get(const struct ifm_pool *pool, unsigned worker, struct ifm_cpu_mask *out);
bool ifm_pool_mask_set(struct ifm_pool *pool, unsigned worker, const struct ifm_cpu_mask *mask);

unsigned ifm_pool_held(const struct ifm_pool *pool);   /* 0 when released */
unsigned ifm_pool_parked(const struct ifm_pool *pool); /* workers asleep, or about to be, now */

#endif
