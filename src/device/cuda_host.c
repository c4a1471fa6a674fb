/* Threads of the host beside a GPU: what a workload generates and compares there, never while a sample is timed.
 *
 * They live as long as a call. Thread rule: the calling thread has the first part. */
#include "device/cuda_private.h"

#include "host/cpus.h"
#include <pthread.h>

enum { MOST = 32 };

struct host_part {
    ifm_work_fn *work;
    void *arg;
    unsigned index, count;
    pthread_t thread;
    bool started;
};

static void *run_part(void *arg)
{
    const struct host_part *part = arg;
    part->work(part->arg, part->index, part->count);
    return NULL;
}

unsigned ifm_cuda_host_threads(void)
{
    const unsigned cpus = ifm_host_cpus_allowed();
    return cpus < MOST ? cpus : MOST;
}

void ifm_cuda_parallel(struct ifm_device *base, unsigned threads, ifm_work_fn *work, void *arg)
{
    struct host_part parts[MOST];
    const unsigned n = threads < 1 ? 1 : threads < MOST ? threads : MOST;
    (void)base;
    for (unsigned i = 1; i < n; i++) {
        parts[i] = (struct host_part){.work = work, .arg = arg, .index = i, .count = n};
        parts[i].started = pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) == 0;
    }
    work(arg, 0, n);
    for (unsigned i = 1; i < n; i++)
        if (parts[i].started)
            (void)pthread_join(parts[i].thread, NULL);
        else
            work(arg, i, n);
}
