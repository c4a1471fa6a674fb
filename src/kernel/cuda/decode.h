/* Arguments and tiles of the kernels of decode.cu: C and CUDA.
 *
 * A cache is pages of 128 tokens: k[page][128][head_dim] and v likewise, in f16, slots that no token fills zero. A unit
 * is what a block works on at a time: one (sequence, KV head) pair with at most 8 of the query heads that share it; a
 * pair whose group is larger has several units. Units are cut into tiles of 16 tokens, the last one partial.
 *
 * A unit without a token has outputs of zero; one whose scores are all minus infinity has NaN, 0 / 0. */
#ifndef IFM_KERNEL_CUDA_DECODE_H
#define IFM_KERNEL_CUDA_DECODE_H

#include <stdint.h>

enum {
    IFM_DECODE_PAGE = 128,    /* tokens */
    IFM_DECODE_TILE = 16,     /* tokens */
    IFM_DECODE_HEADS = 8,     /* query heads of a unit, at most */
    IFM_DECODE_WARPS = 8,     /* of a block of the split kernels */
    IFM_DECODE_STAGES_64 = 4, /* tiles on their way to a warp */
    IFM_DECODE_STAGES_128 = 2,
    IFM_DECODE_STAGES_PAIR = 2,      /* of clusters of two blocks */
    IFM_DECODE_STAGES_CLUSTER = 3,   /* of larger ones */
    IFM_DECODE_HALVES = 6,           /* K or V of a tile, on their way to a warp of ifm_decode_parts_128 */
    IFM_DECODE_THROTTLE = 2,         /* ... and before the step in front has ended */
    IFM_DECODE_CLUSTER = 8,          /* blocks of a unit that are a cluster, at most; 2 and 4 too */
    IFM_DECODE_NAIVE_WARPS = 16,     /* of a block of the naive one */
    IFM_DECODE_PAD = 4,              /* floats between rows of sums in shared memory */
    IFM_DECODE_HEAD = 16,            /* floats before the rows of a partial: 8 maxima, 8 totals */
    IFM_DECODE_DIGEST_THREADS = 256, /* of a block of ifm_decode_digest */
    IFM_DECODE_ADVANCE_WARPS = 4,    /* of a block of ifm_decode_advance; each has one task */
    IFM_DECODE_REWIND_THREADS = 256, /* of a block of ifm_decode_rewind */
    IFM_DECODE_NO_ROW = 0x7bff /* f16, the largest: rows that are not appended yet; no NaN, as a weight of 0 counts */
};

struct ifm_decode_unit {
    uint32_t tokens;
    uint32_t page; /* the first of its pages, as an index of the table */
    uint32_t tile; /* the first of its tiles, among those of all units */
};

struct ifm_decode_attend { /* all kernels that attend */
    uint16_t *k, *v;       /* of a layer */
    const uint32_t *table; /* where the pages of all pairs lie, one pair's behind another's; NULL = in that order */
    const struct ifm_decode_unit *units; /* [units + 1], the last one only with its `tile` */
    const uint32_t *first; /* flat split: the unit of each block's first tile; NULL where `tokens` is set */
    const float *q;        /* [pair][group][head_dim] */
    float *out;            /* the same */
    float *partials;       /* [2 * blocks][IFM_DECODE_HEAD + 8 * head_dim]: of units that several blocks share; of
                              ifm_decode_parts_128 all bits are set between launches */
    uint32_t *tickets;     /* [units], zero between launches: blocks that are done with a unit */
    uint32_t n_units, group, parts; /* parts: units of a pair */
    uint32_t head_dim, tokens;      /* tokens: of every unit; 0 = they differ */
    uint32_t pages;                 /* of every pair, where `tokens` is set */
    uint32_t splits;                /* blocks of a unit; 0 = flat: blocks share the tiles of all units equally */
    float scale;                    /* log2(e) / sqrt(head_dim) */
    /* Of an inference cycle, by the split kernels alone: what ifm_decode_advance does, without a launch of its own. */
    const float *fresh;  /* queries are made of these and of `output`, and stored in `made`; NULL = `q` has them */
    const float *output; /* of the attention in front; NULL = there is none */
    float *made;
    const float *rows; /* become K and V of each pair's newest token; NULL = it is there */
};

/* ifm_decode_advance: what a token does in front of the attention of a layer. A pair's row goes into the cache, as its
 * newest token; each query head's next query is made of a fresh one and the last output. */
struct ifm_decode_advance_of {
    uint16_t *k, *v;                     /* of the layer */
    const uint32_t *table;               /* this and the next, with `parts`, `tokens` and `pages`: as in attend; the */
    const struct ifm_decode_unit *units; /* new token counts already */
    const float *rows;                   /* of the token: [pair][2][head_dim], K and V; NULL = nothing is appended */
    const float *fresh;                  /* of the token: [pair][group][head_dim], as the next two */
    const float *output;                 /* of the attention in front; NULL = there is none */
    float *q;                            /* becomes the query, rounded to f16 */
    uint32_t pairs, group, parts, head_dim, tokens, pages;
};

/* ifm_decode_rewind, a block for each pair of each layer: the rows that a cycle appends become IFM_DECODE_NO_ROW. */
struct ifm_decode_rewind_of {
    uint16_t *k, *v;       /* of layer 0 */
    uint64_t layer;        /* values from one layer to the next */
    const uint32_t *table; /* these as in attend, when the first token is appended */
    const struct ifm_decode_unit *units;
    uint32_t pairs, parts, head_dim, tokens, pages;
    uint32_t rows; /* that a cycle appends to each pair */
};

struct ifm_decode_digest_of { /* ifm_decode_digest */
    const uint64_t *words;
    uint64_t n;
    unsigned long long *sum; /* grows by what tells the words and their places */
};

#endif
