/* The facts of a run: what goes into run.log, stage by stage. docs/maintain/journal.md lists the stages. */
#ifndef IFM_RUN_FACTS_FACTS_H
#define IFM_RUN_FACTS_FACTS_H

#include "device/device.h"
#include "model/facts.h"
#include "model/plan.h"
#include "run/facts/parts.h"
#include "sample/journal.h"

struct ifm_stop_blocks;
/* Of plans whose rules ask for it, where a look answers: are the answers settled by the record up to its block
 * `last` with all that may lie in a comparison (derive/compare/settled.h)? A look that ends nothing widens no interval.
 */
typedef enum ifm_status ifm_settled_fn(const char *dir, const struct ifm_stop_blocks *blocks, uint32_t last,
                                       bool *settled, struct ifm_error *error);

/* How long the load of others is watched, before and after a run. */
enum { IFM_LOAD_WINDOW_MS = 200 };

/* Which arm is at work, in memory that outlives this process: for another one that watches it. "" = none. */
struct ifm_witness {
    char cell[1024], arm[256];
    unsigned turns; /* that have begun or ended */
    double most_s;  /* what the turn that is under way may take; 0 = none is */
};

/* One invocation that writes into a run folder. A dry run has no journal: its facts go nowhere. */
struct ifm_session {
    struct ifm_journal *journal;             /* NULL in a dry run */
    const struct ifm_plan *plan;             /* whose gates the stop rule answers; NULL = none */
    const char *dir;                         /* of the run */
    ifm_settled_fn *settled;                 /* asked before a look ends a pass; NULL = nobody is */
    struct ifm_instant base;                 /* device mark at the start of the session */
    int64_t offset_ns;                       /* of that mark from the start of the run */
    const struct ifm_device_options *device; /* to open it again, in a process of its own */
    const char *at_work;                     /* the arm whose turn it is, or was last; NULL = none yet */
    char gpu_bus[32];                        /* PCI bus id of that GPU; "" = not known, then it is the only one */
    bool on_gpu;                             /* the device is a GPU: what is locked of the CPU says nothing */
    bool watches_gpu;                        /* the state of the GPUs is a fact of this run */
    double waited_s;                         /* for a quiet machine, in vain; 0 = it was quiet, or nobody asked */
    double asked_s;                          /* how long to wait for it at most; 0 = not at all */
    bool unwritten;                          /* a fact could not be written: the folder is at fault, not a cell */
    bool arm_at_fault;                       /* the arm at work failed by itself: others can still be measured */
    struct ifm_parts parts;                  /* what the time goes to */
    struct ifm_witness *witness;             /* is told of the arm at work too; NULL = nobody watches */
};

/* Time of the run now, when the device's work is done. The second moves the session's time behind `end_ns`: after a
 * clock was set back, a record must not run backwards. */
int64_t ifm_session_now(const struct ifm_session *session, struct ifm_device *device);
void ifm_session_behind(struct ifm_session *session, struct ifm_device *device, int64_t end_ns);
IFM_CHECKED enum ifm_status ifm_fact_add(struct ifm_session *session, const struct ifm_event *event,
                                         struct ifm_error *error);
/* Write one fact: IFM_FACT(session, error, cell_done, true, .cell = name). */
#define IFM_FACT(session, error, row, good, ...) ifm_fact_add((session), IFM_EVENT(row, good, __VA_ARGS__), (error))
/* Pinned threads and the pages that really back the buffers, where the device tells of them. */
IFM_CHECKED enum ifm_status ifm_fact_device(struct ifm_session *session, struct ifm_device *device, const char *cell,
                                            struct ifm_error *error);
/* The state of every lock as read back, `when` = "before" or "after"; a device that is open has pinned its threads.
 * When all are `required` and one is not locked, IFM_MISSING names it and nothing is written. */
IFM_CHECKED enum ifm_status ifm_fact_locks(struct ifm_session *session, const char *when, bool required,
                                           struct ifm_error *error);
/* Which plugins' code the cells of the plan run, one fact each. */
IFM_CHECKED enum ifm_status ifm_fact_plugins(struct ifm_session *session, const struct ifm_plan *plan,
                                             struct ifm_error *error);
/* The environment (before) and the foreign load, `when` = "before" or "after". */
IFM_CHECKED enum ifm_status ifm_fact_environment(struct ifm_session *session, const char *when, bool is_fake,
                                                 struct ifm_error *error);
/* The state of the GPUs, where the session watches them; never between the marks of a slot. `when` = "before", "after"
 * (the run), with `cell` and `at` NULL, or "cell", with `at` = "start" or "end". */
IFM_CHECKED enum ifm_status ifm_fact_gpu_state(struct ifm_session *session, const char *when, const char *cell,
                                               const char *at, struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_fact_check(struct ifm_session *session, const char *cell, const char *arm,
                                           const char *when, const struct ifm_check *check, struct ifm_error *error);

#endif
