/* An arm of decode under execution: its caches, its jobs, and one step of them. Private to decode*.c.
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

struct ifm_workload_state {
    struct ifm_device *device;
    struct ifm_arena *arena; /* of the texts below and in the settings */
    const char *arm;
    bool fake;
    unsigned threads;
    struct ifm_decode_settings settings;
    const struct ifm_decode_form *form;
    const char *isa; /* of the kernel that attends over the pages of the form */
    struct ifm_decode_source source;
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

IFM_CHECKED enum ifm_status ifm_decode_open(const struct ifm_arm *arm, struct ifm_device *device, unsigned threads,
                                            uint64_t seed, struct ifm_workload_state **out, struct ifm_error *error);
void ifm_decode_close(struct ifm_workload_state *state); /* NULL is allowed */
void ifm_decode_step(struct ifm_workload_state *state, uint64_t n);
/* Bring the caches of a cycle back to where a sample begins. */
void ifm_decode_rewind(struct ifm_workload_state *state);
IFM_CHECKED enum ifm_status ifm_decode_check(struct ifm_workload_state *state, struct ifm_check *out,
                                             struct ifm_error *error);

#endif
