/* A pass: warm-up with its steady-state gate, then blocks until the stop rule says so, each appended whole. */
#ifndef IFM_RUN_PASS_H
#define IFM_RUN_PASS_H

#include "run/cell.h"
#include "run/converge.h"
#include "run/stop.h"

/* Progress of one cell: `done` and `expected` blocks, and how long a block takes. */
typedef void ifm_pass_progress_fn(void *context, double done, double expected, double block_s);

struct ifm_pass_run {
    struct ifm_cell_run *cell;
    struct ifm_recorder *recorder;  /* NULL in a dry run: nothing is recorded */
    uint32_t next_block;            /* number of the next block in the record */
    int64_t end_ns;                 /* of the last slot */
    uint32_t measured;              /* measured blocks that the record already holds */
    double earlier_s;               /* time that those blocks took */
    struct ifm_converge converge;   /* what ran last, and which slots have a pre-roll; {0} = none has */
    ifm_pass_progress_fn *progress; /* may be NULL */
    void *context;
};

IFM_CHECKED enum ifm_status ifm_pass_warm_up(struct ifm_pass_run *pass, struct ifm_error *error);
/* One measured block: run its slots in the plan's order, append it, tell the stop rule. */
IFM_CHECKED enum ifm_status ifm_pass_block(struct ifm_pass_run *pass, struct ifm_stop *stop, struct ifm_error *error);
/* The fact that ends a pass: the stop rule with its inputs. */
IFM_CHECKED enum ifm_status ifm_pass_log_stop(const struct ifm_pass_run *pass, const struct ifm_stop *stop,
                                              const char *reason, double elapsed_s, struct ifm_error *error);
/* Blocks until the stop rule ends the pass. */
IFM_CHECKED enum ifm_status ifm_pass_measure(struct ifm_pass_run *pass, struct ifm_stop *stop, struct ifm_error *error);

#endif
