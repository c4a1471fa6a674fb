/* Arms in processes of their own, seen from the run: start one, ask it, end it. And the worker's side.
 *
 * A worker is this executable with the hidden verb `worker`. It opens the device and one arm, waits in recv and works
 * only while it is asked, so that of all processes of a run at most one works at a time. It measures its slots itself,
 * instruments included; times are of the one clock of the machine. Samples come through shared memory. A worker that
 * dies fails its arm, with the signal named. */
#ifndef IFM_RUN_REMOTE_REMOTE_H
#define IFM_RUN_REMOTE_REMOTE_H

#include "host/cpus.h"
#include "model/facts.h"
#include "run/cell/cell.h"

/* ---- messages: one packet a request, one an answer; both sides are the same executable ---- */

/* Descriptors that a worker finds open: the socket, the samples' memory, and {"plan": plan.json with its one cell,
 * "private": the texts of private parameters, "plugins": their files}. */
enum { IFM_REMOTE_SOCKET = 3, IFM_REMOTE_SAMPLES, IFM_REMOTE_PLAN };
/* The samples' memory has room for the longest slot there can be; pages that nobody writes do not exist. */
enum { IFM_REMOTE_MOST_SAMPLES = 1000000 };

enum ifm_remote_op {
    IFM_REMOTE_OPEN,
    IFM_REMOTE_CHECK,
    IFM_REMOTE_ROUGH,
    IFM_REMOTE_ROLL,
    IFM_REMOTE_SLOT,
    IFM_REMOTE_FEATURES,
    IFM_REMOTE_TELL
};

struct ifm_remote_request {
    enum ifm_remote_op op;
    uint32_t arm;
    bool first;                    /* CHECK */
    double check_s;                /* CHECK */
    struct ifm_roll roll;          /* ROLL */
    uint32_t inner, samples, lead; /* SLOT */
    /* OPEN */
    unsigned threads;
    bool huge_pages;
    uint64_t seed;
    struct ifm_cpu_mask cpus;
    bool no_graphs;
    enum ifm_device_kernels kernels;
    uint32_t pass; /* whose instruments it opens */
    bool records;  /* what its GPU does, from before the device is opened */
};

/* TELL: what an instrument with a process of its own says of its slots, and the rows of the last one: so many bytes of
 * text at the start of the shared memory, a line each. */
struct ifm_remote_told {
    char source[64], why[320];
    uint64_t slots, read;
    uint64_t rows, left_out; /* rows in the text, and others */
    size_t bytes;
};
enum { IFM_TRACE_MOST_ROWS = 50000 }; /* of an arm in the record */

struct ifm_remote_answer {
    struct ifm_remote_told told;
    enum ifm_status status;
    struct ifm_error error;
    struct ifm_check check;
    double ns;
    uint64_t runs;
    int displaced;        /* 1 + a CPU that a thread was moved away from in the slot; 0 = none */
    struct ifm_slot slot; /* its columns and samples are in the shared memory; times are marks of the clock */
};

/* Where things lie in the shared memory: the columns of a slot, then its samples. */
static inline size_t ifm_remote_samples_at(const struct ifm_pass *pass)
{
    return (pass->n_columns + 8) / 8 * 8 * sizeof(int64_t);
}

static inline size_t ifm_remote_bytes(const struct ifm_pass *pass)
{
    return ifm_remote_samples_at(pass) + IFM_REMOTE_MOST_SAMPLES * sizeof(struct ifm_sample);
}

/* ---- the run's side (remote.c) ---- */

/* Start the worker of an arm and let it open the arm. */
IFM_CHECKED enum ifm_status ifm_remote_open(struct ifm_cell_run *cell, unsigned arm, struct ifm_error *error);
/* The same on any device, in a process that records what its GPU does; its slots are those of the open pass. */
IFM_CHECKED enum ifm_status ifm_remote_open_recorded(struct ifm_cell_run *cell, unsigned arm, struct ifm_error *error);
/* What IFM_REMOTE_TELL left in the shared memory. */
const char *ifm_remote_text(const struct ifm_cell_run *cell);
/* End it and wait for its end; nothing happens when there is none. */
void ifm_remote_close(struct ifm_arm_run *arm);
/* What all workers of a cell share; after every ifm_remote_close. NULL is allowed. */
void ifm_remote_free(struct ifm_remote_shared *shared);

/* Ask the arm's worker and wait for its answer; an error of its own is the caller's. */
IFM_CHECKED enum ifm_status ifm_remote_ask(struct ifm_cell_run *cell, unsigned arm, struct ifm_remote_request request,
                                           struct ifm_remote_answer *answer, struct ifm_error *error);
/* As ifm_arm_slot, asked of the arm's worker. */
IFM_CHECKED enum ifm_status ifm_remote_slot(struct ifm_cell_run *cell, unsigned arm, struct ifm_slot *slot,
                                            struct ifm_sample *samples, int64_t *columns, struct ifm_error *error);

/* ---- the worker's side (worker.c) ---- */

/* Serve the requests of the run that started this process, over descriptors 3 to 5, until there are no more. It writes
 * no file and prints nothing. IFM_USAGE when this process was not started by a run. */
IFM_CHECKED enum ifm_status ifm_worker_serve(struct ifm_error *error);

#endif
