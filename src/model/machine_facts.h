/* What run.log says of the machine: the fingerprint, a cell's device and the state of its GPUs, which are free JSON,
 * and its locks. Everybody reads these through here.
 *
 * NULL, "" of a text that is to be printed, and 0 of a size: the journal does not say. Texts are the journal's own. */
#ifndef IFM_MODEL_MACHINE_FACTS_H
#define IFM_MODEL_MACHINE_FACTS_H

#include "base/text.h"
#include "model/event.h"
#include "model/plan.h"

/* ---- the fingerprint of the machine at the start of the run ---- */

struct ifm_fingerprint {
    const json_t *all; /* NULL: there is none */
    const json_t *gpus, *packages, *frameworks;
    const char *cpu_model, *kernel;
    int64_t cpus_allowed;
    const char *version, *compiler, *revision; /* of the program that measured */
    bool dirty;                                /* the revision had changes */
};
struct ifm_fingerprint ifm_fingerprint_of(const struct ifm_events *events);

/* The processor by the numbers of its maker: "AuthenticAMD", 25, 1; "", 0 and 0. */
struct ifm_processor_facts {
    const char *vendor;
    int family, model;
    double most_hz;            /* as the system reports it */
    double memory_bytes_per_s; /* of all modules of memory together, by the firmware; 0 = not known */
};
struct ifm_processor_facts ifm_processor_facts_of(const struct ifm_events *events);
/* The data or unified cache of `level` as the system reports it, bytes. */
double ifm_fingerprint_cache(const struct ifm_fingerprint *fingerprint, int level);
/* "NVIDIA H200, driver 580.95", every GPU once; "" when one of both could not be read. */
const char *ifm_fingerprint_gpu_words(const struct ifm_fingerprint *fingerprint, struct ifm_arena *arena);
/* ", OpenBLAS 0.3.21" of each package that is there. */
void ifm_fingerprint_add_versions(const json_t *packages, struct ifm_text *out);
/* Without what changes from minute to minute or from build to build, and says nothing about which machine it is. */
const json_t *ifm_fingerprint_steady(const json_t *fingerprint, struct ifm_arena *arena);
/* The first fact by which `now` is another machine or another build than `was`: "cpu.model"; NULL = none. */
const char *ifm_fingerprint_moved(const json_t *was, const json_t *now, bool on_gpu);

/* What a run on `device` measured: the GPU of a run on "cuda", else the processor; "" when the journal does not say. */
const char *ifm_machine_measured(const struct ifm_events *events, const char *device);
/* The first GPU of the run's machine, by the device that was opened or by the fingerprint, and its driver's version. */
const char *ifm_machine_gpu(const struct ifm_events *events);
const char *ifm_machine_driver(const struct ifm_events *events);
/* The processor's model. */
const char *ifm_machine_cpu(const struct ifm_events *events);

/* ---- the locks of the machine, over the whole run ---- */

enum ifm_lock_state { IFM_LOCK_UNKNOWN = 0, IFM_LOCK_OPEN, IFM_LOCK_HELD };

/* Held when every knob of every reading was locked; open when one was not; unknown without a reading. */
enum ifm_lock_state ifm_lock_state(const struct ifm_events *events);
/* "locked", "not locked", "unknown" */
const char *ifm_lock_state_words(enum ifm_lock_state state);

/* Did the repeats that were asked for end the cell? Then a longer cap measures no more of it. */
bool ifm_repeats_ended(const struct ifm_cell *cell, const struct ifm_events *events);
/* Other programs had a part of the CPUs, before or after the run. */
bool ifm_was_loaded(const struct ifm_events *events);
/* The CPUs that these left free; 0 = none, or not known. */
unsigned ifm_cpus_beside_load(const struct ifm_events *events);
/* Those where they are fewer than `threads`, which then wait for one another's CPUs, and most of them: whoever gives up
 * more has a baseline that is too slow for the memory, and is told to take more threads. 0 = no such number. */
unsigned ifm_fewer_threads(const struct ifm_events *events, unsigned threads);

/* Is a knob open that `inferometer lock` would hold? False where none can be read, as behind a hypervisor. */
bool ifm_lock_is_possible(const struct ifm_events *events);
/* Did the last session wait for a quiet machine (--wait-quiet) in vain, for as long as is told to wait? */
bool ifm_waited_in_vain(const struct ifm_events *events);
/* What to do after a wait that was shorter, or after which other work came back; NULL = there was none. */
const char *ifm_remedy_after_wait(const struct ifm_events *events, struct ifm_arena *arena);
/* What to do first where other work is the cause; `events` may be NULL. */
const char *ifm_quiet_remedy(const struct ifm_events *events, const char *workload, unsigned threads,
                             struct ifm_arena *arena);

/* ---- the device of a cell ---- */

struct ifm_device_facts {
    const char *gpu;
    double l2_bytes;
    int64_t huge_page_bytes, buffer_bytes;
};
/* As the last session found it. */
struct ifm_device_facts ifm_device_facts_of(const struct ifm_events *events, const char *cell);

/* ---- the state of GPUs ---- */

/* The GPU that was measured; NULL, and why. A machine of one GPU needs no mark. */
const json_t *ifm_gpu_measured(const json_t *gpus, const char **missing, const char **remedy);
const json_t *ifm_gpu_at(const json_t *gpus, int64_t index); /* NULL = none has it */
int64_t ifm_gpu_index(const json_t *gpu);                    /* IFM_ABSENT without one */

/* A number of a GPU's state, of a group such as "accumulators" or of itself (NULL). */
struct ifm_gpu_fact {
    bool known, whole; /* whole: an integer */
    double number;
    int64_t integer;
    const char *missing, *remedy; /* why it is not known; NULL when the journal does not say */
};
struct ifm_gpu_fact ifm_gpu_fact(const json_t *gpu, const char *group, const char *name);

/* The accumulators of a GPU in their order: the name at `i`; NULL behind the last. */
const char *ifm_gpu_accumulator(const json_t *gpu, size_t i);

#endif
