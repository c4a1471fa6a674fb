/* Decode attention: one query token per sequence over an f32 KV cache, split over workers.
 *
 * The cache is cut into blocks of IFM_DECODE_BLOCK rows; worker i of n takes an equal, contiguous share of all
 * blocks of all (sequence, KV head) pairs, so every worker is busy whatever the batch. A pair that several
 * workers share is merged afterwards, in worker order: the result is the same for the same worker count.
 * Thread rule: workers of one job write disjoint memory; `ifm_decode_merge` runs after all of them. */
#ifndef IFM_KERNEL_CPU_DECODE_H
#define IFM_KERNEL_CPU_DECODE_H

#include <stddef.h>
#include <stdint.h>

#define IFM_DECODE_BLOCK 128

struct ifm_decode_shape {
    uint64_t batch, q_heads, kv_heads, kv_len, head_dim; /* q_heads a multiple of kv_heads, head_dim of 8 */
};

struct ifm_decode_job {
    struct ifm_decode_shape shape;
    const float *q;     /* [batch][q_heads][head_dim] */
    const float *k, *v; /* [batch][kv_heads][kv_len][head_dim] */
    float *out;         /* like q */
    float *scratch;     /* ifm_decode_scratch_floats, 64-byte aligned */
};

/* Attend over worker `index`'s share. */
typedef void ifm_decode_fn(const struct ifm_decode_job *job, unsigned index, unsigned count);

size_t ifm_decode_scratch_floats(const struct ifm_decode_shape *shape, unsigned count);
/* Join the pieces of the pairs that several of the `count` workers shared. */
void ifm_decode_merge(const struct ifm_decode_job *job, unsigned count);

/* A piece: running maximum (in units of log2), running sum of weights, and weighted sum of V rows, per query head
 * of the group. */
struct ifm_decode_piece {
    float *top, *total, *sum;
};
/* A worker's part of the scratch: pieces[0] continues a pair that an earlier worker began, pieces[1] begins a pair
 * that a later worker ends, `whole` is for pairs of its own. */
struct ifm_decode_worker {
    float *query;  /* [group][head_dim], scaled */
    float *scores; /* [group][IFM_DECODE_BLOCK] */
    struct ifm_decode_piece whole, pieces[2];
};
struct ifm_decode_worker ifm_decode_worker_at(const struct ifm_decode_job *job, unsigned index);

/* The blocks [from, to) of worker `index`, counted over all pairs; a pair has ceil(kv_len / IFM_DECODE_BLOCK). */
struct ifm_decode_share {
    uint64_t from, to, blocks_per_pair;
};
struct ifm_decode_share ifm_decode_share_of(const struct ifm_decode_shape *shape, unsigned index, unsigned count);

#endif
