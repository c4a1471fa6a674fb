/* Arguments of the kernels of packed.cu, attention over a compressed cache: C and CUDA.
 *
 * The cache is a pool as kv/fragment.h has it. A unit is as in kernel/cuda/decode.h: a pair with at most 8 query heads.
 * Its items are the chunks of its body pages, then tiles of 16 tokens of its sink, then those of its ring. Items have
 * about as many bytes each, and blocks share those of all units equally. */
#ifndef IFM_KERNEL_CUDA_PACKED_H
#define IFM_KERNEL_CUDA_PACKED_H

#include "kernel/cuda/decode.h"
#include "kv/fragment.h"

#include <stdint.h>

enum {
    IFM_PACKED_WARPS = 12,     /* of a block of the split kernels: registers for 168 a lane */
    IFM_PACKED_STAGES_64 = 40, /* items on their way to a block */
    IFM_PACKED_STAGES_128 = 22,
    IFM_PACKED_STAGES_INT2_128 = 20,
    IFM_PACKED_PAIR_WARPS = 6, /* of a block of ifm_packed_pair_int4_128 */
    IFM_PACKED_PAIR_STAGES = 10,
    IFM_PACKED_PLAIN_WARPS = 16, /* of the plain kernel */
    IFM_PACKED_FINISH_WARPS = 4, /* of ifm_packed_finish; each has a query head */
};

/* Of so many warps, those which join what all have of a unit. */
#define IFM_PACKED_JOINERS(warps) ((warps) / 2)

struct ifm_packed_unit {
    uint32_t page, pages; /* the first of its body pages, as an index of the table; how many */
    uint32_t item;        /* the first of its items, among those of all units */
    uint32_t sink, ring;  /* tokens; those of the ring begin with the first row of ring page `pages` % 2 */
};

/* What a block has of the items of all units, and its first unit: all that it needs to ask for them, in one load. */
struct ifm_packed_share {
    uint32_t unit, from, end;
    struct ifm_packed_unit first; /* units[unit] */
};

struct ifm_packed_attend {
    const unsigned char *body;           /* of a layer */
    uint16_t *sides;                     /* behind it */
    const uint32_t *table;               /* as in ifm_decode_attend, and all that has a name of there */
    const struct ifm_packed_unit *units; /* [units + 1], the last one only with its `item` */
    const struct ifm_packed_share *shares; /* [blocks] */
    const float *q;
    float *out;
    float *partials;
    uint32_t *tickets;
    uint32_t n_units, group, parts;
    uint32_t head_dim;
    uint32_t splits;
    uint32_t later;   /* blocks that share a unit leave it at `partials`: who reads its outputs joins them */
    uint32_t rotated; /* V of the body is */
    float scale;
    struct ifm_kv_fragment layout;
    /* Of an inference cycle, by the split kernels alone: what ifm_kv_advance does, without a launch of its own. */
    const float *fresh;  /* as q: queries are made of these and of `output`, as ifm_decode_advance makes them; NULL = q
                          * has them */
    float *output;       /* of the attention in front; NULL = there is none */
    const float *before; /* `partials` of that, whose outputs become `output` here; NULL = they are there */
    float *made;         /* [pair][group][head_dim]: become the queries */
    const float *rows;   /* [pair][2][head_dim]: become K and V of each pair's newest token; NULL = it is there */
};

/* ifm_packed_probe, a warp: c = a b of one mma.sync.m16n8k16 of f16, operands and results as registers of lanes. */
struct ifm_packed_probe_of {
    const uint32_t *a, *b; /* [32][4], [32][2] */
    float *c;              /* [32][4] */
};

/* ifm_packed_probe_bytes, a warp: the same of unsigned bytes by signed ones, m16n8k32; by unsigned ones; and by signed
 * ones of m16n8k16, whose registers are the first two of A and the first one of B. */
struct ifm_packed_probe_bytes_of {
    const uint32_t *a, *b; /* [32][4], [32][2] */
    int32_t *c;            /* [3][32][4] */
};

#endif
