/* Attention forward over whole sequences, softmax(Q K^T / sqrt(D)) V, tiled, with an online softmax.
 *
 * After Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018), and Dao et al., "FlashAttention"
 * (2022): a unit of work is one head of one sequence and a block of its queries; it walks over the keys in tiles of
 * IFM_ATTENTION_KEYS and keeps, per query, the running maximum, the running sum of weights and the weighted sum of V.
 * Lanes of a vector are queries: scores lie as [key][query] and sums as [dimension][query], so that maximum,
 * exponential and rescaling need no shuffle, and K and V are read as they lie, one element broadcast to all lanes. Q is
 * transposed once for a block, the output once at its end.
 *
 * A query sees the keys of its own sequence, `lengths` of them, and under `causal` none behind its own position. Keys
 * that it does not see have weight 0, whatever their contents. A query that sees no key (beyond the length of its
 * sequence) gets zeros. NaN in visible keys or values, and scores that overflow f32, give NaN.
 *
 * Thread rule: workers take units from a shared counter and write disjoint memory. A query's result depends neither on
 * the worker that computed it nor on the number of workers nor on the size of blocks. */
#ifndef IFM_KERNEL_CPU_ATTENTION_H
#define IFM_KERNEL_CPU_ATTENTION_H

#include "kernel/cuda/strides.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IFM_ATTENTION_KEYS 128      /* in a tile */
#define IFM_ATTENTION_BLOCK 192     /* queries in a unit, at most: whole panels of every instruction set */
#define IFM_ATTENTION_PANEL_MOST 64 /* queries that an instruction set takes at once, at most */

enum ifm_attention_storage { IFM_STORE_F32 = 1, IFM_STORE_BF16, IFM_STORE_F16 };

struct ifm_attention_shape {
    uint64_t batch, q_heads, kv_heads, seq_len, head_dim; /* q_heads a multiple of kv_heads, head_dim of 32 */
    bool causal;
    enum ifm_attention_storage storage; /* of q, k, v and out; sums and weights are f32 */
};

/* In order of memory, from the outside in. Of packed views gaps between the rows of one tensor hold the others. */
enum ifm_attention_layout {
    IFM_CONTIGUOUS, /* a tensor each: [batch][heads][seq_len][head_dim] */
    IFM_QKV_PACKED  /* Q, K and V of one: [batch][seq_len][q_heads + 2 kv_heads][head_dim]; the output [batch][seq_len]
                     * [q_heads][head_dim] */
};

/* Of Q, of K and V, and of the output. */
struct ifm_attention_views {
    struct ifm_strides q, kv, out;
};

/* Queries [first, first + IFM_ATTENTION_BLOCK or as many as there are) of a head of a sequence. */
struct ifm_attention_unit {
    uint32_t sequence, head, first;
};

struct ifm_attention_job {
    struct ifm_attention_shape shape;
    const void *q, *k, *v; /* the first value of each */
    void *out;
    struct ifm_attention_views at;
    const uint32_t *lengths; /* [batch], each at most seq_len; rows behind it are not read */
    const struct ifm_attention_unit *units;
    size_t n_units;
    uint32_t block; /* queries in a unit */
    uint64_t *next; /* the next free unit: 0 before every step */
    float *scratch; /* workers x ifm_attention_scratch_floats, 64-byte aligned */
};

/* Take units until none is left. */
typedef void ifm_attention_fn(const struct ifm_attention_job *job, unsigned index);

/* The parts of a step that a library's matrix products do not cover. */

/* In each of `rows` rows of scores in units of log2, `stride` floats apart: the first seen(r) of `keys` become
 * 2^(score - the row's maximum), the others 0, where seen(r) = keys, or min(keys, first + r + 1) under `causal`;
 * totals[r] is their sum. */
typedef void ifm_attention_softmax_fn(float *scores, size_t stride, size_t rows, size_t keys, bool causal, size_t first,
                                      float *totals);
/* n values of `storage` (not f32) to f32; n a multiple of 32. */
typedef void ifm_attention_widen_fn(const void *from, enum ifm_attention_storage storage, float *to, size_t n);
/* to[i] = from[i] / total in `storage`, rounded to nearest even; 0 where total is 0. n a multiple of 32. */
typedef void ifm_attention_store_fn(const float *from, float total, enum ifm_attention_storage storage, void *to,
                                    size_t n);

static inline size_t ifm_attention_size(enum ifm_attention_storage storage)
{
    return storage == IFM_STORE_F32 ? sizeof(float) : sizeof(uint16_t);
}

/* Multiply-adds of queries [first, first + rows) of a sequence with keys: pairs of a query and a key that it sees. */
uint64_t ifm_attention_pairs(uint64_t length, bool causal, uint64_t first, uint64_t rows);
/* Queries in a unit such that `workers` have some units each: IFM_ATTENTION_BLOCK, or a part of it. */
uint32_t ifm_attention_block(const struct ifm_attention_shape *shape, unsigned workers);
size_t ifm_attention_units(const struct ifm_attention_shape *shape, uint32_t block);
/* All units, ifm_attention_units of them: those with most to do first, else in the order of memory. */
void ifm_attention_plan(const struct ifm_attention_shape *shape, const uint32_t *lengths, uint32_t block,
                        struct ifm_attention_unit *units);
struct ifm_attention_views ifm_attention_views_of(const struct ifm_attention_shape *shape,
                                                  enum ifm_attention_layout layout);
/* Where the rows of a head begin, in values from the tensor's first. */
static inline size_t ifm_strides_head(const struct ifm_strides *strides, uint64_t sequence, uint64_t head)
{
    return sequence * strides->sequence + head * strides->head;
}
/* Of one worker. */
size_t ifm_attention_scratch_floats(const struct ifm_attention_shape *shape);

#endif
