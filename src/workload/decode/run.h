/* An arm of decode on the processor: its caches, its jobs, and one step of them. Private to cpu.c and step.c.
 *
 * Thread rule: one thread drives it; it fans out through the device. */
#ifndef IFM_WORKLOAD_DECODE_RUN_H
#define IFM_WORKLOAD_DECODE_RUN_H

#include "kernel/cpu/kv_attend.h"
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
    struct ifm_kv_cache **caches; /* [layers] */
    struct ifm_kv_job *jobs;      /* [layers] */
    size_t outputs;               /* floats */
    float *q, *out;
    void *scratch;
    struct ifm_decode_cycle cycle;
    uint64_t next, last;          /* layers: of the next step, of the last one */
    uint64_t pages, pages_a_step; /* compressed pages: handled since open, and in one step */
};

void ifm_decode_step(void *opened, uint64_t n);
/* Bring the caches of a cycle back to where a sample begins. */
void ifm_decode_rewind(struct ifm_decode_run *state);

#endif
