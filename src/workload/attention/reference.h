/* The reference of attention: every output in f32, by the textbook's two passes over the stored values.
 *
 * Plain C that shares no code with the kernels: scores of a block of queries, their maximum, weights, weighted sum.
 * Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_ATTENTION_REFERENCE_H
#define IFM_WORKLOAD_ATTENTION_REFERENCE_H

#include "kernel/cpu/attention.h"

enum { IFM_REFERENCE_ROWS = 8 }; /* at once */

/* A KV head of a sequence in f32, and room for a block. All arrays are the caller's. */
struct ifm_attention_reference {
    size_t keys, dim;
    float *k;      /* [dim][keys] */
    float *v;      /* [keys][dim] */
    float *q;      /* [IFM_REFERENCE_ROWS][dim] */
    float *scores; /* [IFM_REFERENCE_ROWS][keys] */
    double *out;   /* [IFM_REFERENCE_ROWS][dim] */
};

/* Floats that k, v, q and scores take together, for sequences of `keys` at most. */
size_t ifm_attention_reference_floats(size_t keys, size_t dim);
/* Take the keys and values of a sequence; `room` has the floats. */
void ifm_attention_reference_load(struct ifm_attention_reference *reference, const struct ifm_attention_job *job,
                                  uint64_t sequence, uint64_t kv_head, float *room);
/* Rows [first, first + rows) of query head `head` into reference->out; a query that sees no key gets zeros. */
void ifm_attention_reference_rows(const struct ifm_attention_reference *reference, const struct ifm_attention_job *job,
                                  uint64_t sequence, uint64_t head, size_t first, size_t rows);

#endif
