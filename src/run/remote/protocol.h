/* Messages between a run and its workers: one packet a request, one an answer. Both are the same executable, so plain
 * structs are enough. Private to run/cell/arm.c and src/run/remote. */
#ifndef IFM_RUN_REMOTE_PROTOCOL_H
#define IFM_RUN_REMOTE_PROTOCOL_H

#include "host/cpus.h"
#include "model/facts.h"
#include "run/cell/cell.h"

/* Descriptors that a worker finds open: the socket, the samples' memory, and {"plan": plan.json with its one cell,
 * "private": the texts of private parameters}. */
enum { IFM_REMOTE_SOCKET = 3, IFM_REMOTE_SAMPLES, IFM_REMOTE_PLAN };
/* The samples' memory has room for the longest slot there can be; pages that nobody writes do not exist. */
enum { IFM_REMOTE_MOST_SAMPLES = 1000000 };

enum ifm_remote_op {
    IFM_REMOTE_OPEN,
    IFM_REMOTE_CHECK,
    IFM_REMOTE_ROUGH,
    IFM_REMOTE_ROLL,
    IFM_REMOTE_SLOT,
    IFM_REMOTE_FEATURES
};

struct ifm_remote_request {
    enum ifm_remote_op op;
    uint32_t arm;
    bool first;              /* CHECK */
    struct ifm_roll roll;    /* ROLL */
    uint32_t inner, samples; /* SLOT */
    /* OPEN */
    unsigned threads;
    bool huge_pages;
    uint64_t seed;
    struct ifm_cpu_mask cpus;
};

struct ifm_remote_answer {
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

#endif
