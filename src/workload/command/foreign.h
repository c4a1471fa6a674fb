/* What other programs take of the CPUs while a program's runs go on.
 *
 * Of a tree of programs, such as a shell script, the kernel tells nobody what it waited for a CPU. Reads counters of
 * the system outside the runs, and touches none. Thread rule: the thread that starts the programs. */
#ifndef IFM_WORKLOAD_COMMAND_FOREIGN_H
#define IFM_WORKLOAD_COMMAND_FOREIGN_H

#include "device/cpu.h"
#include <stdbool.h>
#include <stdint.h>

struct ifm_foreign {
    bool open, told;
    struct ifm_host_busy busy;
    int64_t own_ns; /* processor time of this process and of all that it started and that ended */
};

/* Before each run of a slot: the first of them counts. */
void ifm_foreign_begin(struct ifm_foreign *since, const struct ifm_device *device);
/* Behind the slot, when all that it started has ended: what others took of each CPU, as the same share of `wall_ns`;
 * IFM_ABSENT over a few ticks of the system, which say nothing. */
int64_t ifm_foreign_end(struct ifm_foreign *since, const struct ifm_device *device, int64_t wall_ns);

#endif
