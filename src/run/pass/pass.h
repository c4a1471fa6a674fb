/* A pass: open its record or resume it, then run blocks of slots, each appended whole, until there are enough.
 *
 * One loop for every kind of pass; their differences are hooks, a row of ifm_pass_kinds each. */
#ifndef IFM_RUN_PASS_PASS_H
#define IFM_RUN_PASS_PASS_H

#include "run/cell/cell.h"
#include "run/pass/converge.h"
#include "run/pass/stop.h"
#include "sample/disturbed.h"

struct ifm_energy_run;

/* Progress of one cell: seconds of the open pass that are done, and seconds of all passes that are left. */
typedef void ifm_pass_progress_fn(void *context, double done_s, double left_s);

/* What the passes of a run share. */
struct ifm_passes {
    const char *dir;
    bool resume;
    const struct ifm_events *events; /* the journal when a run is resumed, as this session found it; else NULL */
    struct ifm_energy_run *energy;   /* its sensors; NULL = no cell has an energy pass */
    ifm_pass_progress_fn *progress;  /* may be NULL */
    struct ifm_so_far *so_far;       /* the same */
    void *context;
};

/* Rounds of ceilings apart take no more than about this share of the time, but for the first and the last. */
#define IFM_ROUNDS_SHARE 0.05

struct ifm_rounds {
    size_t n;       /* slots in a round; 0 = the pass has none */
    uint32_t taken; /* rounds that the record holds */
    double last_s;  /* how long the last one took */
    double at_s;    /* the elapsed time behind it; negative = none in this session */
};

struct ifm_pass_run {
    struct ifm_cell_run *cell;
    const struct ifm_pass_hooks *hooks;
    const struct ifm_passes *shared; /* NULL in a dry run */
    const struct ifm_events *events; /* journal of the run that is resumed, where the kind reads it; else NULL */
    struct ifm_recorder *recorder;   /* NULL in a dry run: nothing is recorded */
    bool without[IFM_MOST_ARMS];     /* arms that have no slots in the blocks of this pass */
    struct ifm_slot *slots;          /* of one block; its samples and columns: the cell's, or the kind's own */
    struct ifm_sample *samples;
    size_t place, places; /* of the open slot in its block, and slots in a block */
    unsigned rows;        /* that they are: 1 or 2 */
    uint32_t next_block;  /* number of the next block in the record */
    int64_t end_ns;       /* of the last slot */
    uint32_t measured;    /* measured blocks that the record holds */
    struct ifm_repeats repeats;
    struct ifm_rounds rounds;
    double earlier_s; /* time that the blocks of interrupted runs took */
    double elapsed_s; /* the same, with the blocks of this one */
    double later_s;   /* that the passes behind this one are expected to take */
    bool unrecorded;  /* the record could not be opened: the folder is at fault */
    /* latency */
    struct ifm_stop stop;
    struct ifm_converge converge; /* what ran last, and which slots have a pre-roll; {0} = none has */
    char outputs[IFM_MOST_ARMS][20]; /* trace: hash of each arm's first output under recording; "" = none */
    void *own;                    /* of another kind; of latency: what is done along with it, or NULL */
};

/* What a kind does at the joints of the loop. Those that say so may be NULL. */
struct ifm_pass_hooks {
    /* Stage of the event that ends a complete pass; unknown = the record alone says that it is complete. */
    enum ifm_stage done;
    bool repeats; /* blocks that the machine disturbed are run again */
    bool sync;    /* each block is on disk before the next one begins */
    /* Before the record is opened: the kind's state. May be NULL. */
    void (*init)(struct ifm_pass_run *pass);
    /* The record is open: everything before the first block of this session. */
    enum ifm_status (*begin)(struct ifm_pass_run *pass, struct ifm_error *error);
    /* One slot of `arm`, with what precedes it untimed; NULL = ifm_arm_slot. */
    enum ifm_status (*slot)(struct ifm_pass_run *pass, unsigned arm, struct ifm_slot *slot, struct ifm_sample *samples,
                            int64_t *columns, struct ifm_error *error);
    /* The slots of a block have run; it is not in the record yet. May be NULL. */
    enum ifm_status (*settle)(struct ifm_pass_run *pass, struct ifm_error *error);
    /* A block is in the record, of this session or of an interrupted one, and is not run again. May be NULL. */
    void (*add)(struct ifm_pass_run *pass, const struct ifm_slot *slots, const struct ifm_sample *samples);
    /* Why the pass ends now; NULL = another block is wanted. */
    const char *(*reason)(const struct ifm_pass_run *pass);
    /* Seconds that are left, when a block takes `block_s`. */
    double (*left_s)(const struct ifm_pass_run *pass, double block_s);
    /* What the blocks say so far. NULL = nothing that a reader waits for. */
    void (*so_far)(const struct ifm_pass_run *pass, struct ifm_so_far *out);
    /* After the last block: the facts that end the pass. */
    enum ifm_status (*end)(struct ifm_pass_run *pass, const char *reason, struct ifm_error *error);
    /* Seconds that the pass of an open cell will take; NULL = it is the first, and its blocks show. */
    double (*expected_s)(const struct ifm_cell_run *cell, const struct ifm_pass *plan);
    /* It failed with `status`; IFM_OK = the run goes on without it. May be NULL. */
    enum ifm_status (*failed)(struct ifm_pass_run *pass, enum ifm_status status, struct ifm_error *error);
    void (*close)(struct ifm_pass_run *pass); /* also after a failure. May be NULL */
};

extern const struct ifm_pass_hooks ifm_pass_latency;  /* latency.c */
extern const struct ifm_pass_hooks ifm_pass_observed; /* observed.c: counters and trace */
extern const struct ifm_pass_hooks ifm_pass_energy;   /* run/energy/energy.c */
/* A pass that is done along with the latency pass, in its slots. */
struct ifm_pass_companion {
    /* Before the first block. NULL `out` where it is done by itself, later. To be closed also after a failure. */
    enum ifm_status (*begin)(struct ifm_pass_run *latency, void **out, struct ifm_error *error);
    /* Before a slot of the arm. */
    enum ifm_status (*pause)(void *opened, unsigned arm, struct ifm_error *error);
    /* The slots of a block have run. */
    enum ifm_status (*take)(void *opened, struct ifm_error *error);
    /* After the last block. */
    enum ifm_status (*end)(void *opened, struct ifm_error *error);
    void (*close)(void *opened);
};
extern const struct ifm_pass_companion ifm_pass_energy_along; /* run/energy/along.c */
/* By enum ifm_pass_kind. */
extern const struct ifm_pass_hooks *const ifm_pass_kinds[IFM_PASS_KINDS];

/* A pass of the cell without a record, as a dry run has it. Close it. */
void ifm_pass_init(struct ifm_pass_run *pass, struct ifm_cell_run *cell, const struct ifm_pass *plan);
void ifm_pass_set_up(struct ifm_pass_run *pass, struct ifm_cell_run *cell, const struct ifm_pass *plan,
                     const struct ifm_pass_hooks *hooks); /* the same, of a kind that the caller names */
void ifm_pass_close(struct ifm_pass_run *pass);
/* Create the record, or reopen it where the interruption cut it, and take in its blocks. */
IFM_CHECKED enum ifm_status ifm_pass_open_record(struct ifm_pass_run *pass, struct ifm_error *error);
/* Windows of warm-up until every arm is warm and steady, as blocks of the record; then the gate of power. */
IFM_CHECKED enum ifm_status ifm_pass_warm_up(struct ifm_pass_run *pass, struct ifm_error *error);
/* The slots in `slots`, which hold `samples`, as the record's next block; a fact of it. */
IFM_CHECKED enum ifm_status ifm_pass_append(struct ifm_pass_run *pass, size_t n_slots, struct ifm_error *error);
/* Long runs that calibration has made once already: no warm-up is left. */
bool ifm_pass_is_warm(const struct ifm_cell_run *cell);
/* One measured block: run its slots in the plan's order and append it. */
IFM_CHECKED enum ifm_status ifm_pass_block(struct ifm_pass_run *pass, struct ifm_error *error);
/* Blocks that the plan's order and the stop rule count: but for those that were run again. */
uint32_t ifm_pass_position(const struct ifm_pass_run *pass);
/* Repeats of a latency pass with such columns; none for a plan of earlier rules, or of no session. */
struct ifm_repeats ifm_pass_repeats(const struct ifm_cell_run *cell, const struct ifm_pass *plan);
/* The block that was appended last: the stop rule takes it in, or the journal tells that it is run again. */
IFM_CHECKED enum ifm_status ifm_pass_take_block(struct ifm_pass_run *pass, const struct ifm_slot *slots, size_t n,
                                                const struct ifm_sample *samples, struct ifm_error *error);
/* A round of the ceilings apart, where one is due: first, last, and as often between as keeps them to a small share of
 * the time. */
IFM_CHECKED enum ifm_status ifm_pass_round(struct ifm_pass_run *pass, bool last, struct ifm_error *error);
/* The fact about the block that was appended last, of so many samples. */
IFM_CHECKED enum ifm_status ifm_pass_log_block(const struct ifm_pass_run *pass, size_t samples,
                                               struct ifm_error *error);
/* The fact that ends a latency pass: the stop rule with its inputs. */
IFM_CHECKED enum ifm_status ifm_pass_log_stop(struct ifm_pass_run *pass, const char *reason, struct ifm_error *error);
/* Tell the progress: `left_s` of this pass, and what later ones are expected to take. */
void ifm_pass_report(const struct ifm_pass_run *pass, double left_s);
/* The whole pass of an open cell; nothing to do where it is complete. `unrecorded` as above. */
IFM_CHECKED enum ifm_status ifm_pass_execute(struct ifm_cell_run *cell, const struct ifm_pass *plan,
                                             const struct ifm_passes *shared, bool *unrecorded,
                                             struct ifm_error *error);

#endif
