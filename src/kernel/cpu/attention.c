/* Attention forward: how the work is divided into units, and the order in which workers take them. */
#include "kernel/cpu/attention.h"

#include <stdlib.h>

enum { UNITS_PER_WORKER = 4, BLOCK_LEAST = IFM_ATTENTION_BLOCK / 4 };

uint64_t ifm_attention_pairs(uint64_t length, bool causal, uint64_t first, uint64_t rows)
{
    if (first >= length)
        return 0;
    rows = rows < length - first ? rows : length - first;
    return causal ? rows * first + rows * (rows + 1) / 2 : rows * length;
}

size_t ifm_attention_units(const struct ifm_attention_shape *shape, uint32_t block)
{
    return shape->batch * shape->q_heads * ((shape->seq_len + block - 1) / block);
}

uint32_t ifm_attention_block(const struct ifm_attention_shape *shape, unsigned workers)
{
    uint32_t block = IFM_ATTENTION_BLOCK;
    while (block > BLOCK_LEAST && ifm_attention_units(shape, block) < (size_t)UNITS_PER_WORKER * workers)
        block /= 2;
    return block;
}

struct ifm_attention_views ifm_attention_views_of(const struct ifm_attention_shape *shape,
                                                  enum ifm_attention_layout layout)
{
    const uint64_t heads = shape->q_heads, kv_heads = shape->kv_heads, tokens = shape->seq_len;
    const uint32_t dim = (uint32_t)shape->head_dim, row = (uint32_t)(heads + 2 * kv_heads) * dim;
    const struct ifm_strides packed = {tokens * row, dim, row};
    if (layout == IFM_QKV_PACKED)
        return (struct ifm_attention_views){packed, packed, {tokens * heads * dim, dim, (uint32_t)heads * dim}};
    const uint32_t head = (uint32_t)tokens * dim;
    const struct ifm_strides q = {heads * head, head, dim};
    return (struct ifm_attention_views){q, {kv_heads * head, head, dim}, q};
}

struct weighed {
    struct ifm_attention_unit unit;
    uint64_t pairs, place;
};

static int heavier(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->pairs != y->pairs)
        return x->pairs > y->pairs ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

void ifm_attention_plan(const struct ifm_attention_shape *shape, const uint32_t *lengths, uint32_t block,
                        struct ifm_attention_unit *units)
{
    size_t n = 0;
    for (uint32_t b = 0; b < shape->batch; b++)
        for (uint32_t h = 0; h < shape->q_heads; h++)
            for (uint32_t first = 0; first < shape->seq_len; first += block)
                units[n++] = (struct ifm_attention_unit){b, h, first};
    struct weighed *all = malloc(n * sizeof *all);
    if (all == NULL) /* the order affects only the time */
        return;
    for (size_t i = 0; i < n; i++)
        all[i] = (struct weighed){
            units[i], ifm_attention_pairs(lengths[units[i].sequence], shape->causal, units[i].first, block), i};
    qsort(all, n, sizeof *all, heavier);
    for (size_t i = 0; i < n; i++)
        units[i] = all[i].unit;
    free(all);
}

/* Per worker: transposed queries and sums of a block, maxima and totals, scores of a tile, and a tile of K and of
 * V in f32. */
size_t ifm_attention_scratch_floats(const struct ifm_attention_shape *shape)
{
    const size_t dim = shape->head_dim;
    return 2 * IFM_ATTENTION_BLOCK * dim + 2 * IFM_ATTENTION_BLOCK + IFM_ATTENTION_KEYS * IFM_ATTENTION_PANEL_MOST +
           2 * IFM_ATTENTION_KEYS * dim;
}
