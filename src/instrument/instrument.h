/* Instrument: what observes a slot. One vtable; registration is one row in registry.c.
 *
 * start and stop bracket the timed part of a slot and lie outside it: they may make
 * system calls, the slot may not. An instrument that cannot work says why and what
 * would help; its columns are then absent, never zero. Its class of intrusion decides which
 * pass takes it along (model/pass.h). */
#ifndef IFM_INSTRUMENT_INSTRUMENT_H
#define IFM_INSTRUMENT_INSTRUMENT_H

#include "base/error.h"
#include "model/catalog.h"
#include "model/facts.h"
#include <stdint.h>

struct ifm_instrument_state;

/* What an instrument has to tell of a pass: where its numbers come from, and how many slots it read. */
struct ifm_instrument_told {
    const char *source; /* "CUPTI 13.0, chip GH100" */
    size_t slots, read;
    const char *why; /* the last slot that it did not read has no numbers; "" = it read all */
};

/* What an instrument with groups takes, as far as it is known before it is opened. */
struct ifm_instrument_expected {
    unsigned groups;
    double group_s, slot_s; /* of its own calls: once a group, and around each slot */
};

typedef void ifm_source_fn(void *context, int64_t *columns);

struct ifm_instrument {
    const char *name;
    const char *device; /* the only one that it works on; NULL = every real one */
    enum ifm_intrusion intrusion;
    /* In a slot that has something between its samples it is started and stopped around the last one alone, with
     * whatever is under way on the device, for which it waits itself. */
    bool last_sample;
    bool own_process; /* it must be there before the device is opened: its pass runs in a process for each arm */
    const struct ifm_column *columns; /* integers per slot, in file order */
    size_t n_columns;
    /* "" when column `c` can be read here; otherwise the reason, with `remedy` filled. */
    const char *(*probe)(size_t column, const char **remedy);
    IFM_CHECKED enum ifm_status (*open)(struct ifm_instrument_state **out, struct ifm_error *error);
    void (*start)(struct ifm_instrument_state *state);
    void (*stop)(struct ifm_instrument_state *state);
    void (*collect)(struct ifm_instrument_state *state, int64_t *columns); /* IFM_ABSENT where not read */
    void (*close)(struct ifm_instrument_state *state);
    /* NULL for an instrument that finds its own source. Else run gives it one after `open`: `read` fills all columns
     * with what happened since the device was last held. */
    void (*attach)(struct ifm_instrument_state *state, ifm_source_fn *read, void *context);
    /* NULL: a slot fills all columns. Else they fall into so many groups, and a slot fills those of the group that was
     * chosen before it; 0 = nothing can be read here. */
    unsigned (*groups)(const struct ifm_instrument_state *state);
    void (*choose)(struct ifm_instrument_state *state, unsigned group);
    void (*expects)(struct ifm_instrument_expected *out); /* of one with groups: opens nothing */
    void (*tell)(const struct ifm_instrument_state *state, struct ifm_instrument_told *told); /* NULL = nothing */
};

extern const struct ifm_instrument ifm_instrument_os;  /* context switches, faults, steal, run delay, clock frequency */
extern const struct ifm_instrument ifm_instrument_gpu; /* cycles of a GPU's multiprocessors, and its reported clock */
extern const struct ifm_instrument ifm_instrument_gpu_counters; /* what a GPU's hardware counts, by CUPTI */
extern const struct ifm_instrument ifm_instrument_cpu_counters; /* what a processor counts, by perf events */
extern const struct ifm_instrument ifm_instrument_gpu_activity; /* kernels, copies and calls of a GPU, by CUPTI */
extern const struct ifm_instrument ifm_instrument_gpu_monitor;  /* how busy a GPU's parts are, by NVML's GPM */
extern const struct ifm_instrument ifm_instrument_fake;         /* what the fake device's script gives */
/* The same instrument in each class of intrusion: [IFM_INTRUSION_PASSIVE] is ifm_instrument_fake. */
extern const struct ifm_instrument *const ifm_fake_instruments[IFM_INTRUSIONS];
/* Those of real devices. */
extern const struct ifm_instrument *const ifm_instruments[]; /* NULL-terminated */
const struct ifm_instrument *ifm_instrument_find(const char *name);
/* What the planner must know of it. */
struct ifm_instrument_entry ifm_instrument_entry(const struct ifm_instrument *instrument);
/* The passive ones: every run on the device takes them along without being asked. Returns how many. */
size_t ifm_instruments_offered(const char *device, struct ifm_instrument_entry *entries, size_t room);
/* Those of a class that must be asked for. */
size_t ifm_instruments_of_class(const char *device, enum ifm_intrusion intrusion, struct ifm_instrument_entry *entries,
                                size_t room);

#endif
