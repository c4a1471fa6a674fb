/* A libnvidia-ml for tests: opened like the real one, and scripted by the environment when it is initialised.
 *
 * FAKE_NVML holds "key=value" words between blanks:
 *   gpus=2 fail=1       GPUs, and the index of one whose handle is refused
 *   card=1234           in the UUID of every GPU: other cards
 *   init=9              result of nvmlInit_v2
 *   energy_rc=4 samples_rc=3 average_rc=3 instant_rc=3 memory_rc=3   results of the readings
 *   lost=5              from the sixth reading of gpu0 on, it is lost
 *   lost_ms=500         from then on gpu0 is lost; lost_rows=FILE:3 once FILE has three lines
 *   hiccup=2,5          two calls for energy fail with 999 (unknown error), from each of these on
 *   energy=100,200,50   millijoules, one a call, the last one again and again; else watts x time since init
 *   watts=300 refresh_ms=100 limit=700   of what runs by the clock
 *   call_ms=17          what a call for energy takes; it tells what the counter is when it returns
 *   block=500,2000      the first call for energy from then on takes so many milliseconds
 *   freeze_ms=500       from then on the energy counter stands still
 *   field=300000,0      milliwatts of the fields, one a call
 *   loads=FILE idle_w=80 tail_ms=0   power is `watts` while programs say in FILE that they work, else idle_w, to which
 * it falls in a straight line over tail_ms. FILE has a time a line, in microseconds since the epoch: when the counter
 * was 0, then a load's begin, its end,
 * ... gap=100,300         no power samples between these milliseconds after init and of its state (state.c), each list
 * one value a call, the last one again and again: f74=0,500           values of a field by its id, such as an
 * accumulator in ns, the temperature of memory (82) or the number of links (91); 0 where nothing is said no=74,82
 * fields that this GPU lacks; no=-1 all of them policy=0,500        violation times, ns, of every policy celsius=33,61
 * sm=345,1980 uncorrected=0,2 corrected=0 reasons=4 ours=1 foreign=2    compute processes: this one, and others that
 * /proc knows; stranger=1: ids of another namespace ecc=0 persistence=0 mig=1 cap=500   otherwise ECC and persistence
 * are on, MIG off, and the cap is `limit` bus=0000:01:00.0    PCI bus id of gpu0 mhz=1980 idle=345   SM clock that
 * nothing locks; with idle, the clock now, and the reason "idle" capped=1200         SM clock now, held by the power
 * cap deny=power_limit    a setting that takes root: persistence, power_limit, memory_clock, gpu_clock; deny_gpu=1 on
 *                       this GPU alone
 *   ignore=gpu_clock    a setting that is accepted and not applied; ignore_reset=gpu_clock: its reset
 *   clamp=600           a power limit above it is accepted, and becomes this many watts
 *   one_memory_clock=1 applications=1755
 * FAKE_NVML_STATE names a file that keeps what was set, for other processes to see. Without it nothing can be set.
 * FAKE_OLD leaves out what came with later drivers; FAKE_BROKEN leaves out nvmlInit_v2. */
#ifndef IFM_TESTS_FAKE_NVML_INTERNAL_H
#define IFM_TESTS_FAKE_NVML_INTERNAL_H

#include "dyn/nvml.h"

#include <stddef.h>
#include <stdint.h>

enum { FAKE_GPUS = 4, FAKE_SCRIPT = 64 };

struct ifm_nvml_device_opaque {
    int index;
};

/* Hidden: several of these libraries may be open in one process. */
#pragma GCC visibility push(hidden)
/* The text of a key up to the next blank, or NULL. */
const char *fake_value_of(const char *key);
long fake_number_of(const char *key, long otherwise);
size_t fake_list_of(const char *key, unsigned long long *list);
/* The value of a list for this call of its key. Of the first GPU; the others give the first value always. */
unsigned long long fake_next_of(ifm_nvml_device device, const char *key, unsigned long long otherwise);
void fake_script_begin(void); /* all lists from their first value */
/* What the file of `loads` says now; false = there is none. */
enum { FAKE_EDGES = 2000 };
struct fake_loads {
    long long edges_us[FAKE_EDGES];
    size_t n;
};
bool fake_loads(struct fake_loads *out);
double fake_loads_joules(const struct fake_loads *loads, long long t_us); /* until then */
long fake_watts_at(long long t_us);
/* Is it a field of the state? Then it is filled. */
bool fake_state_field(ifm_nvml_device device, struct ifm_nvml_field *field);
#pragma GCC visibility pop

#define FAKE(name, ...)                                                                                                \
    int name(ifm_nvml_device device, __VA_ARGS__);                                                                     \
    int name(ifm_nvml_device device, __VA_ARGS__)

#endif
