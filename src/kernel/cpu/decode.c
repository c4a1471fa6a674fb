/* Decode attention: how the cache is shared out, where workers keep their state, and how pieces are joined. */
#include "kernel/cpu/decode.h"

#include <math.h>
#include <stdbool.h>

static size_t round_up(size_t floats)
{
    const size_t line = 64 / sizeof(float);
    return (floats + line - 1) / line * line;
}

static size_t group_of(const struct ifm_decode_shape *shape)
{
    return shape->q_heads / shape->kv_heads;
}

static size_t piece_floats(const struct ifm_decode_shape *shape)
{
    size_t group = group_of(shape);
    return 2 * round_up(group) + round_up(group * shape->head_dim);
}

static size_t worker_floats(const struct ifm_decode_shape *shape)
{
    size_t group = group_of(shape);
    return round_up(group * shape->head_dim) + round_up(group * IFM_DECODE_BLOCK) + 3 * piece_floats(shape);
}

size_t ifm_decode_scratch_floats(const struct ifm_decode_shape *shape, unsigned count)
{
    return worker_floats(shape) * count;
}

static struct ifm_decode_piece piece_at(float *start, const struct ifm_decode_shape *shape)
{
    size_t group = group_of(shape);
    return (struct ifm_decode_piece){start, start + round_up(group), start + 2 * round_up(group)};
}

struct ifm_decode_worker ifm_decode_worker_at(const struct ifm_decode_job *job, unsigned index)
{
    const struct ifm_decode_shape *shape = &job->shape;
    float *query = job->scratch + worker_floats(shape) * index;
    float *scores = query + round_up(group_of(shape) * shape->head_dim);
    float *pieces = scores + round_up(group_of(shape) * IFM_DECODE_BLOCK);
    return (struct ifm_decode_worker){
        .query = query,
        .scores = scores,
        .whole = piece_at(pieces, shape),
        .pieces = {piece_at(pieces + piece_floats(shape), shape), piece_at(pieces + 2 * piece_floats(shape), shape)},
    };
}

struct ifm_decode_share ifm_decode_share_of(const struct ifm_decode_shape *shape, unsigned index, unsigned count)
{
    uint64_t per_pair = (shape->kv_len + IFM_DECODE_BLOCK - 1) / IFM_DECODE_BLOCK;
    uint64_t all = shape->batch * shape->kv_heads * per_pair;
    /* all * index cannot overflow: 2^16 sequences x 2^12 heads x 2^24 blocks x 2^12 workers. */
    return (struct ifm_decode_share){all * index / count, all * (index + 1ULL) / count, per_pair};
}

/* into := into and piece together, as one softmax over both. */
static void join(struct ifm_decode_piece into, struct ifm_decode_piece piece, size_t group, size_t dim)
{
    for (size_t h = 0; h < group; h++) {
        float top = fmaxf(into.top[h], piece.top[h]);
        float keep = exp2f(into.top[h] - top), add = exp2f(piece.top[h] - top);
        into.top[h] = top;
        into.total[h] = into.total[h] * keep + piece.total[h] * add;
        for (size_t d = h * dim; d < (h + 1) * dim; d++)
            into.sum[d] = into.sum[d] * keep + piece.sum[d] * add;
    }
}

static void finish(const struct ifm_decode_job *job, struct ifm_decode_piece piece, uint64_t pair)
{
    size_t group = group_of(&job->shape), dim = job->shape.head_dim;
    float *out = job->out + pair * group * dim;
    for (size_t h = 0; h < group; h++)
        for (size_t d = h * dim; d < (h + 1) * dim; d++)
            out[d] = piece.sum[d] / piece.total[h];
}

void ifm_decode_merge(const struct ifm_decode_job *job, unsigned count)
{
    struct ifm_decode_piece open = {0}; /* the begun pair that later workers continue */
    for (unsigned i = 0; i < count; i++) {
        struct ifm_decode_share share = ifm_decode_share_of(&job->shape, i, count);
        if (share.from == share.to)
            continue;
        struct ifm_decode_worker worker = ifm_decode_worker_at(job, i);
        uint64_t pair = share.from / share.blocks_per_pair;
        if (share.from % share.blocks_per_pair != 0) {
            join(open, worker.pieces[0], group_of(&job->shape), job->shape.head_dim);
            if (share.to >= (pair + 1) * share.blocks_per_pair)
                finish(job, open, pair);
        }
        uint64_t last = (share.to - 1) / share.blocks_per_pair;
        bool begins_last = share.from <= last * share.blocks_per_pair;
        if (begins_last && share.to % share.blocks_per_pair != 0)
            open = worker.pieces[1];
    }
}
