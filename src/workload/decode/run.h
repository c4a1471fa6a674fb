/* An arm of decode on the processor: its caches, its jobs, and one step of them. Private to cpu.c and step.c.
 *
 * Thread rule: one thread drives it; it fans out through the device. */
#ifndef IFM_WORKLOAD_DECODE_RUN_H
#define IFM_WORKLOAD_DECODE_RUN_H

#include "kernel/cpu/kv_attend.h"
#include "workload/data/data.h"
#include "workload/decode/source.h"
#include "workload/workload.h"

/* What an inference cycle has besides. */
struct ifm_decode_cycle {
    float *k, *v;   /* [pair][decode_tokens][head_dim]: what is appended; NULL when nothing is */
    float *fresh;   /* [decode_tokens][batch][q_heads][head_dim]: queries of their own */
    float *fed;     /* [batch][q_heads][head_dim]: the query of the step */
    uint64_t token; /* that is decoded now, in layer `layer` */
    uint64_t layer;
};

struct ifm_decode_run {
    struct ifm_device *device;
    const char *arm;
    unsigned threads;
    const struct ifm_decode_settings *settings;
    const struct ifm_decode_chosen *chosen;
    const struct ifm_decode_form *form;
    struct ifm_data_source source;
    uint64_t pairs, layers;
    uint64_t *capacity;           /* [pairs] tokens */
    uint64_t pool_bytes;          /* of a layer */
    struct ifm_kv_cache **caches; /* [layers] */
    struct ifm_kv_job *jobs;      /* [layers] */
    size_t outputs;               /* floats */
    float *q, *out;
    void *scratch;
    struct ifm_decode_cycle cycle;
    uint64_t next, last;   /* layers: of the next step, of the last one */
    uint64_t pages;        /* body pages read since open, as the workers counted them */
    uint64_t pages_a_step; /* by the ledger's shape */
    uint64_t pages_owed;   /* by the steps since outputs were spoiled: read, and in a cycle written */
    uint64_t pages_spoil;  /* ifm_decode_pages then */
    uint64_t pages_open;   /* that filling the caches wrote */
    uint64_t draws;        /* of what is looked at within a cycle */
    struct ifm_data_known known;
};

void ifm_decode_step(void *opened, uint64_t n);
/* The first `n` times of a cycle that attention runs. */
void ifm_decode_run_part(struct ifm_decode_run *state, uint64_t n);
/* Pages that were read, and pages that were written in cycles, since open. */
uint64_t ifm_decode_pages(const struct ifm_decode_run *state);
/* Bring the caches of a cycle back to where a sample begins. */
void ifm_decode_rewind(struct ifm_decode_run *state);

#endif
