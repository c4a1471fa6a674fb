/* A cell under execution: its arms opened on the device, its instruments, its buffers.
 *
 * Everything that a timed slot touches is allocated and touched here, before the first sample. */
#ifndef IFM_RUN_CELL_CELL_H
#define IFM_RUN_CELL_CELL_H

#include "device/device.h"
#include "instrument/instrument.h"
#include "model/plan.h"
#include "run/facts/facts.h"
#include "sample/record.h"
#include "workload/workload.h"

struct ifm_remote;        /* run/remote/remote.h */
struct ifm_remote_shared; /* what the processes of a cell share */

/* Untimed steps in rounds, until `rounds` are done or `seconds` have passed. */
struct ifm_roll {
    uint64_t steps, times; /* in a round: so many calls of step, for so many steps each */
    uint64_t rounds;       /* 0 = no limit */
    double seconds;
    bool cold; /* under measure.cache=cold evict every cache before a round, as before a sample */
};

struct ifm_arm_run {
    const struct ifm_arm *plan;
    const struct ifm_workload *workload;
    const struct ifm_implementation *implementation;
    struct ifm_arena *arena;    /* of the values that its states were opened with */
    struct ifm_opening opening; /* for each of them */
    void *state;                /* that the next slot runs; NULL in a process of its own */
    void **sets;                /* one for each set of buffers, under IFM_ISOLATION_BUFFERS; else NULL */
    unsigned n_sets;
    struct ifm_remote *remote;  /* its process, under IFM_ISOLATION_PROCESSES; else NULL */
    uint64_t feature_runs_gone; /* in its processes that have ended */
    uint64_t processes;         /* that were started for it */
    double step_ns;             /* rough, by calibration: a control input, never published */
    uint32_t inner;             /* steps in a sample */
    uint32_t samples;           /* in a slot */
    uint32_t lead;              /* untimed steps before them */
};

struct ifm_instrument_run {
    const struct ifm_instrument *instrument;
    struct ifm_instrument_state *state;
    size_t first_column;
};

/* Windows of energy: a pass of their own takes them, the slots of the latency pass are them, or these were all. */
enum ifm_windows { IFM_WINDOWS_APART = 0, IFM_WINDOWS_ALONG, IFM_WINDOWS_DONE };

struct ifm_cell_run {
    const struct ifm_cell *plan;
    const struct ifm_pass *pass;
    struct ifm_device *device;
    struct ifm_session *session; /* journal and time base */
    struct ifm_arm_run *arms;    /* plan->n_arms */
    struct ifm_remote_shared *shared;
    struct ifm_instrument_run *instruments;
    size_t n_instruments;
    enum ifm_windows windows;
    int64_t opened_ns;       /* by the clock that counts suspended time */
    double check_s;          /* that the rounds of an arm's check after the blocks may take */
    bool ran_each;           /* calibration has run a step of each arm in this session */
    const unsigned *planned; /* number in the plan of each arm, where arms are left out; NULL = its own */
    size_t own_columns;      /* index of the first column that the cell's workload fills itself */
    /* one block */
    struct ifm_slot *slots;         /* 2 * n_arms */
    struct ifm_sample *samples;     /* of all slots of a block */
    int64_t *columns;               /* slots x columns */
    struct ifm_instant *marks;      /* of one slot: samples + 1, or 2 x samples in cold mode */
    size_t most_samples;            /* in a slot */
    int displaced;                  /* 1 + a CPU that a thread of a worker process was moved away from; 0 = none */
    unsigned rows;                  /* in a measured block: 1, or a row of slots and its mirror image */
    double bounds_ns;               /* what the begin and the end of a slot take beside its steps */
    double flush_ns;                /* an eviction of the caches; 0 where they stay hot */
    double tick_ns;                 /* smallest step of the device's clock that was seen */
    size_t clock_slots, clock_read; /* slots whose own clock was asked for, and those that had cycles */
    const char *clock_why;          /* of the last one that had none; NULL = each had */
};

/* Open every arm, check it against its oracle, open the instruments. On failure everything is closed again. */
IFM_CHECKED enum ifm_status ifm_cell_open(const struct ifm_cell *plan, struct ifm_device *device,
                                          struct ifm_session *session, struct ifm_cell_run *out,
                                          struct ifm_error *error);
/* One arm and the instruments of pass number `pass`, without checks: what a process of its own needs. Close it also
 * after a failure. */
IFM_CHECKED enum ifm_status ifm_cell_open_one(const struct ifm_cell *plan, struct ifm_device *device,
                                              struct ifm_session *session, size_t arm, size_t pass,
                                              struct ifm_cell_run *out, struct ifm_error *error);
/* Compare each arm with its oracle and write the fact: of a step of its own ("before"), or of what the last timed step
 * left and of steps behind it ("after"). */
IFM_CHECKED enum ifm_status ifm_cell_check(struct ifm_cell_run *cell, const char *when, struct ifm_error *error);
void ifm_cell_close(struct ifm_cell_run *cell);

#endif
