/* All that CPUs did, without what we and our children did: both since the first run of a slot, hooks included. */
#include "workload/command/foreign.h"

#include "model/facts.h"
#include <sys/resource.h>

enum { TICKS_TOLD = 5 }; /* of each CPU: over less nothing is told */

static int64_t own_cpu_ns(void)
{
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    int64_t us = 0;
    for (size_t i = 0; i < 2; i++) {
        struct rusage usage;
        if (getrusage(whose[i], &usage) == 0)
            us += (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
                  usage.ru_stime.tv_usec;
    }
    return us * 1000;
}

void ifm_foreign_begin(struct ifm_foreign *since, const struct ifm_device *device)
{
    if (since->open)
        return;
    since->open = true;
    since->told = ifm_cpu_busy(device, &since->busy);
    since->own_ns = own_cpu_ns();
}

int64_t ifm_foreign_end(struct ifm_foreign *since, const struct ifm_device *device, int64_t wall_ns)
{
    struct ifm_host_busy now;
    const struct ifm_host_busy *then = &since->busy;
    const bool told = since->open && since->told && ifm_cpu_busy(device, &now);
    since->open = false;
    if (!told || now.cpus != then->cpus || now.all_ns - then->all_ns < TICKS_TOLD * now.cpus * now.tick_ns)
        return IFM_ABSENT;
    /* A count may be off by a tick of each CPU, in our favour as little as in theirs. */
    const int64_t busy_ns = now.busy_ns - then->busy_ns - (int64_t)now.cpus * now.tick_ns;
    const int64_t others_ns = busy_ns - (own_cpu_ns() - since->own_ns);
    return others_ns <= 0 ? 0 : (int64_t)((double)others_ns / (double)(now.all_ns - then->all_ns) * (double)wall_ns);
}
