/* The library arm of attention. */
#include "workload/attention/blas.h"

#include <math.h>
#include <string.h>

enum {
    LINE_FLOATS = 16,
    BLOCK_FULL = 256,   /* without a mask: long products */
    BLOCK_CAUSAL = 128, /* with it half of a block's last square is computed in vain */
    BLOCK_SHORT = 64,   /* of causal sequences below TOKENS_SHORT */
    TOKENS_SHORT = 1024,
    BLOCK_LEAST = 16,
    UNITS_PER_WORKER = 4,
    SCORES_MOST = 8 << 20, /* bytes of a block's scores */
};

uint32_t ifm_attention_blas_block(const struct ifm_attention_shape *shape, unsigned workers)
{
    uint32_t block = !shape->causal ? BLOCK_FULL : shape->seq_len < TOKENS_SHORT ? BLOCK_SHORT : BLOCK_CAUSAL;
    while (block > BLOCK_SHORT && ifm_attention_units(shape, block) < (size_t)UNITS_PER_WORKER * workers)
        block /= 2;
    while (block > BLOCK_LEAST && block * shape->seq_len * sizeof(float) > SCORES_MOST)
        block /= 2;
    return block;
}

/* Floats from one row of scores to the next: whole lines, and no power of two, whose rows would share cache sets. */
static size_t stride_of(const struct ifm_attention_shape *shape)
{
    return (shape->seq_len + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS + LINE_FLOATS;
}

static size_t rows_floats(const struct ifm_attention_shape *shape, size_t rows)
{
    return shape->storage == IFM_STORE_F32 ? 0 : rows * shape->head_dim;
}

size_t ifm_attention_blas_scratch_floats(const struct ifm_attention_shape *shape, uint32_t block)
{
    const size_t totals = (block + LINE_FLOATS - 1) / LINE_FLOATS * LINE_FLOATS;
    return block * stride_of(shape) + totals + 2 * rows_floats(shape, block) + 2 * rows_floats(shape, shape->seq_len);
}

/* The unit's rows and where they lie in the arrays, in values. */
struct unit_place {
    size_t q, kv, rows, live, keys;
};

static struct unit_place place_of(const struct ifm_attention_job *job, const struct ifm_attention_unit *unit)
{
    const struct ifm_attention_shape *s = &job->shape;
    const size_t length = job->lengths[unit->sequence], left = s->seq_len - unit->first;
    const size_t head = s->seq_len * s->head_dim;
    struct unit_place place = {.rows = left < job->block ? left : job->block};
    place.q = (unit->sequence * s->q_heads + unit->head) * head + unit->first * s->head_dim;
    place.kv = (unit->sequence * s->kv_heads + unit->head / (s->q_heads / s->kv_heads)) * head;
    if (length > unit->first)
        place.live = length - unit->first < place.rows ? length - unit->first : place.rows;
    place.keys = s->causal ? unit->first + place.live : length;
    return place;
}

static const float *rows_of(const struct ifm_attention_blas *arm, const struct ifm_attention_shape *s, const void *base,
                            size_t at, size_t rows, float *room)
{
    const char *from = (const char *)base + at * ifm_attention_size(s->storage);
    if (s->storage == IFM_STORE_F32)
        return (const float *)(const void *)from;
    arm->widen->fn.widen(from, s->storage, room, rows * s->head_dim);
    return room;
}

static void attend(const struct ifm_attention_blas *arm, const struct ifm_attention_job *job,
                   const struct unit_place *place, size_t first, float *scratch)
{
    const struct ifm_attention_shape *s = &job->shape;
    const float scale = 1.44269504f / sqrtf((float)s->head_dim);
    const int dim = (int)s->head_dim, stride = (int)stride_of(s);
    const size_t size = ifm_attention_size(s->storage), line = LINE_FLOATS;
    float *totals = scratch + job->block * (size_t)stride;
    float *query = totals + (job->block + line - 1) / line * line, *sums = query + rows_floats(s, job->block);
    float *keys = sums + rows_floats(s, job->block), *values = keys + rows_floats(s, s->seq_len);
    char *out = (char *)job->out + place->q * size;
    const float *q = rows_of(arm, s, job->q, place->q, place->live, query);
    const float *k = rows_of(arm, s, job->k, place->kv, place->keys, keys);
    const float *v = rows_of(arm, s, job->v, place->kv, place->keys, values);
    if (s->storage == IFM_STORE_F32)
        sums = (float *)(void *)out;
    arm->library->sgemm(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, IFM_BLAS_TRANSPOSED, (int)place->live, (int)place->keys,
                        dim, scale, q, dim, k, dim, 0, scratch, stride);
    arm->softmax->fn.softmax(scratch, (size_t)stride, place->live, place->keys, s->causal, first, totals);
    arm->library->sgemm(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, IFM_BLAS_AS_IS, (int)place->live, dim, (int)place->keys, 1,
                        scratch, stride, v, dim, 0, sums, dim);
    for (size_t r = 0; r < place->live; r++)
        arm->store->fn.store(sums + r * s->head_dim, totals[r], s->storage, out + r * s->head_dim * size, s->head_dim);
}

void ifm_attention_blas(const struct ifm_attention_blas *arm, const struct ifm_attention_job *job, float *scratch)
{
    const size_t row = job->shape.head_dim * ifm_attention_size(job->shape.storage);
    for (;;) {
        const uint64_t at = __atomic_fetch_add(job->next, 1, __ATOMIC_RELAXED);
        if (at >= job->n_units)
            return;
        const struct ifm_attention_unit *unit = &job->units[at];
        const struct unit_place place = place_of(job, unit);
        char *out = (char *)job->out + place.q * ifm_attention_size(job->shape.storage);
        if (place.live > 0)
            attend(arm, job, &place, unit->first, scratch);
        memset(out + place.live * row, 0, (place.rows - place.live) * row);
    }
}
