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

/* The unit's rows and where the first of them lies in each array, in values. */
struct unit_place {
    size_t q, kv, out, rows, live, keys;
};

static struct unit_place place_of(const struct ifm_attention_job *job, const struct ifm_attention_unit *unit)
{
    const struct ifm_attention_shape *s = &job->shape;
    const size_t length = job->lengths[unit->sequence], left = s->seq_len - unit->first;
    const size_t kv_head = unit->head / (s->q_heads / s->kv_heads), first = unit->first;
    struct unit_place place = {.rows = left < job->block ? left : job->block};
    place.q = ifm_strides_head(&job->at.q, unit->sequence, unit->head) + first * job->at.q.row;
    place.kv = ifm_strides_head(&job->at.kv, unit->sequence, kv_head);
    place.out = ifm_strides_head(&job->at.out, unit->sequence, unit->head) + first * job->at.out.row;
    if (length > unit->first)
        place.live = length - unit->first < place.rows ? length - unit->first : place.rows;
    place.keys = s->causal ? unit->first + place.live : length;
    return place;
}

/* Rows in f32 and values from one to the next: as they lie, or in `room`. */
struct unit_rows {
    const float *at;
    int stride;
};

static struct unit_rows rows_of(const struct ifm_attention_blas *arm, const struct ifm_attention_shape *s,
                                const void *from, size_t stride, size_t rows, float *room)
{
    const char *at = from;
    if (s->storage == IFM_STORE_F32)
        return (struct unit_rows){from, (int)stride};
    if (stride == s->head_dim)
        arm->widen->fn.widen(at, s->storage, room, rows * s->head_dim);
    for (size_t r = 0; stride != s->head_dim && r < rows; r++)
        arm->widen->fn.widen(at + r * stride * sizeof(uint16_t), s->storage, room + r * s->head_dim, s->head_dim);
    return (struct unit_rows){room, (int)s->head_dim};
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
    char *out = (char *)job->out + place->out * size;
    const size_t sums_row = s->storage == IFM_STORE_F32 ? job->at.out.row : s->head_dim;
    const struct unit_rows q =
        rows_of(arm, s, (const char *)job->q + place->q * size, job->at.q.row, place->live, query);
    const struct unit_rows k =
        rows_of(arm, s, (const char *)job->k + place->kv * size, job->at.kv.row, place->keys, keys);
    const struct unit_rows v =
        rows_of(arm, s, (const char *)job->v + place->kv * size, job->at.kv.row, place->keys, values);
    if (s->storage == IFM_STORE_F32)
        sums = (float *)(void *)out;
    arm->library->sgemm(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, IFM_BLAS_TRANSPOSED, (int)place->live, (int)place->keys,
                        dim, scale, q.at, q.stride, k.at, k.stride, 0, scratch, stride);
    arm->softmax->fn.softmax(scratch, (size_t)stride, place->live, place->keys, s->causal, first, totals);
    arm->library->sgemm(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, IFM_BLAS_AS_IS, (int)place->live, dim, (int)place->keys, 1,
                        scratch, stride, v.at, v.stride, 0, sums, (int)sums_row);
    for (size_t r = 0; r < place->live; r++)
        arm->store->fn.store(sums + r * sums_row, totals[r], s->storage, out + r * job->at.out.row * size, s->head_dim);
}

void ifm_attention_blas(const struct ifm_attention_blas *arm, const struct ifm_attention_job *job, float *scratch)
{
    const size_t size = ifm_attention_size(job->shape.storage), row = job->at.out.row * size;
    for (;;) {
        const uint64_t at = __atomic_fetch_add(job->next, 1, __ATOMIC_RELAXED);
        if (at >= job->n_units)
            return;
        const struct ifm_attention_unit *unit = &job->units[at];
        const struct unit_place place = place_of(job, unit);
        char *out = (char *)job->out + place.out * size;
        if (place.live > 0)
            attend(arm, job, &place, unit->first, scratch);
        for (size_t r = place.live; r < place.rows; r++)
            memset(out + r * row, 0, job->shape.head_dim * size);
    }
}
