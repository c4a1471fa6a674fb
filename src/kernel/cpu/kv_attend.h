/* Attention of one token over pages of the elastic KV cache, split over workers.
 *
 * A page function attends over one page for all query heads that share its KV head; one per format and instruction set
 * ("kv_attend.f16", "kv_attend.int4", ... in the dispatch table). `ifm_kv_decode_work` shares all pages of all pairs
 * out over the workers, by bytes, and `ifm_kv_decode_merge` joins pairs that several workers touched, in worker order:
 * the same worker count gives the same bits. NaN propagates: a NaN in a query, key or value that has weight makes the
 * outputs of that head NaN. A pair without tokens gives zeros.
 * Thread rule: workers of one job write disjoint memory; merge runs after all of them. */
#ifndef IFM_KERNEL_CPU_KV_ATTEND_H
#define IFM_KERNEL_CPU_KV_ATTEND_H

#include "kv/cache.h"

/* The running softmax of a group of G query heads: maximum (in units of log2), sum of weights, weighted sum of V rows.
 * Over pages whose V is rotated, `sum` is in the rotated domain. */
struct ifm_kv_piece_sums {
    float *top, *total; /* [G] */
    float *sum;         /* [G][head_dim] */
};

/* What a page function may use besides: room of the worker, 64-byte aligned, ifm_kv_attend_scratch_bytes. */
size_t ifm_kv_attend_scratch_bytes(unsigned head_dim, unsigned group);

/* Add slots 0 .. tokens - 1 of `page` to `sums`. `query` [group][head_dim] f32, already times log2(e) / sqrt(head_dim).
 * `next` is the page of this layout that will be read after this one, for prefetching; may be NULL. */
typedef void ifm_kv_attend_fn(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                              const float *query, const struct ifm_kv_piece_sums *sums, void *scratch,
                              const void *next);

struct ifm_kv_job {
    const struct ifm_kv_cache *cache;
    ifm_kv_attend_fn *body, *f16; /* page functions of the cache's format and of f16 */
    uint64_t batch, q_heads, kv_heads;
    unsigned head_dim;
    const float *q; /* [batch][q_heads][head_dim] */
    float *out;     /* like q */
    void *scratch;  /* ifm_kv_job_scratch_bytes, 64-byte aligned */
};

size_t ifm_kv_job_scratch_bytes(const struct ifm_kv_job *job, unsigned workers);
/* Attend over worker `index`'s share, then (after all workers) join. No allocation, no system call. Returns how many
 * body pages the workers gave to the page function, as they counted them. */
void ifm_kv_decode_work(const struct ifm_kv_job *job, unsigned index, unsigned count);
uint64_t ifm_kv_decode_merge(const struct ifm_kv_job *job, unsigned count);

#endif
