/* Inputs of attention. */
#include "workload/attention/data.h"

#include "base/half.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_LENGTHS = 0x6c656e67 };

uint64_t ifm_attention_length(uint64_t seq_len, double ragged, uint64_t batch, uint64_t rank)
{
    if (batch < 2)
        return seq_len;
    const double shorter = ragged * (double)seq_len * (double)rank / (double)(batch - 1);
    return seq_len - (uint64_t)(shorter + 0.5);
}

void ifm_attention_lengths(uint64_t seq_len, double ragged, uint64_t batch, uint64_t seed, uint32_t *lengths)
{
    struct ifm_random random = ifm_random_start(seed, STREAM_LENGTHS);
    for (uint64_t i = 0; i < batch; i++)
        lengths[i] = (uint32_t)ifm_attention_length(seq_len, ragged, batch, i);
    for (uint32_t i = (uint32_t)batch; i > 1; i--) {
        const uint32_t other = ifm_random_below(&random, i), kept = lengths[i - 1];
        lengths[i - 1] = lengths[other];
        lengths[other] = kept;
    }
}

float ifm_attention_value(const void *from, enum ifm_attention_storage storage, size_t i)
{
    if (storage == IFM_STORE_F32)
        return ((const float *)from)[i];
    const uint16_t half = ((const uint16_t *)from)[i];
    return storage == IFM_STORE_BF16 ? ifm_bf16_to_f32(half) : ifm_f16_to_f32(half);
}

/* A row that begins at value `at`. */
static void put(void *to, enum ifm_attention_storage storage, size_t at, const float *values, size_t dim)
{
    for (size_t d = 0; d < dim; d++)
        if (storage == IFM_STORE_F32)
            ((float *)to)[at + d] = values[d];
        else
            ((uint16_t *)to)[at + d] =
                storage == IFM_STORE_BF16 ? ifm_f32_to_bf16(values[d]) : ifm_f32_to_f16(values[d]);
}

struct generation {
    const struct ifm_attention_shape *shape;
    const struct ifm_attention_inputs *to;
    const uint32_t *lengths;
    float *room; /* per worker: the rows of a block of K and of V, and of the queries of a group */
    size_t room_floats;
    struct outcome {
        enum ifm_status status;
        struct ifm_error error;
    } * outcomes; /* per worker */
};

static enum ifm_status generate_queries(const struct generation *g, uint64_t sequence, uint64_t kv_head,
                                        uint64_t position, float *rows, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = g->shape;
    const uint64_t group = s->q_heads / s->kv_heads;
    IFM_TRY(ifm_data_source_queries(g->to->source, sequence * s->kv_heads + kv_head, position, rows, error));
    for (uint64_t h = 0; h < group; h++) {
        const struct ifm_strides *to = &g->to->at.q;
        const size_t at = ifm_strides_head(to, sequence, kv_head * group + h) + position * to->row;
        for (size_t d = 0; position >= g->lengths[sequence] && d < s->head_dim; d++)
            rows[h * s->head_dim + d] = NAN;
        put(g->to->q, s->storage, at, rows + h * s->head_dim, s->head_dim);
    }
    return IFM_OK;
}

/* Positions [first, first + n) of a sequence and KV head, with the queries of its group. */
static enum ifm_status generate_block(const struct generation *g, uint64_t pair, uint64_t first, unsigned n,
                                      float *room, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = g->shape;
    const uint64_t sequence = pair / s->kv_heads;
    const struct ifm_strides *to = &g->to->at.kv;
    const size_t dim = s->head_dim, at = ifm_strides_head(to, sequence, pair % s->kv_heads) + first * to->row;
    float *k = room, *v = k + IFM_MODEL_BLOCK * dim, *q = v + IFM_MODEL_BLOCK * dim;
    IFM_TRY(ifm_data_source_kv(g->to->source, pair, first, n, k, v, error));
    for (size_t t = 0; t < n; t++)
        for (size_t d = 0; first + t >= g->lengths[sequence] && d < dim; d++)
            k[t * dim + d] = v[t * dim + d] = NAN;
    for (size_t t = 0; g->to->k != NULL && t < n; t++)
        put(g->to->k, s->storage, at + t * to->row, k + t * dim, dim);
    for (size_t t = 0; g->to->v != NULL && t < n; t++)
        put(g->to->v, s->storage, at + t * to->row, v + t * dim, dim);
    for (unsigned t = 0; g->to->q != NULL && t < n; t++)
        IFM_TRY(generate_queries(g, sequence, pair % s->kv_heads, first + t, q, error));
    return IFM_OK;
}

static void generate_part(void *arg, unsigned index, unsigned count)
{
    const struct generation *g = arg;
    const struct ifm_attention_shape *s = g->shape;
    const uint64_t blocks = (s->seq_len + IFM_MODEL_BLOCK - 1) / IFM_MODEL_BLOCK;
    struct outcome *outcome = &g->outcomes[index];
    for (uint64_t i = index; i < s->batch * s->kv_heads * blocks && outcome->status == IFM_OK; i += count) {
        const uint64_t first = i % blocks * IFM_MODEL_BLOCK, left = s->seq_len - first;
        const unsigned n = left < IFM_MODEL_BLOCK ? (unsigned)left : IFM_MODEL_BLOCK;
        outcome->status = generate_block(g, i / blocks, first, n, g->room + index * g->room_floats, &outcome->error);
    }
}

enum ifm_status ifm_attention_generate(struct ifm_device *device, unsigned threads,
                                       const struct ifm_attention_shape *shape, const uint32_t *lengths,
                                       const struct ifm_attention_inputs *inputs, struct ifm_error *error)
{
    struct generation g = {.shape = shape, .to = inputs, .lengths = lengths};
    g.room_floats = shape->head_dim * (2 * IFM_MODEL_BLOCK + shape->q_heads / shape->kv_heads);
    g.room = malloc(threads * g.room_floats * sizeof *g.room);
    g.outcomes = calloc(threads, sizeof *g.outcomes);
    enum ifm_status status = IFM_OK;
    if (g.room == NULL || g.outcomes == NULL)
        status = ifm_fail(error, IFM_INTERNAL, "attention", NULL, "out of memory for the inputs");
    else
        device->ops->parallel(device, threads, generate_part, &g);
    for (unsigned i = 0; i < threads && status == IFM_OK; i++) {
        status = g.outcomes[i].status;
        if (status != IFM_OK && error != NULL)
            *error = g.outcomes[i].error;
    }
    free(g.room);
    free(g.outcomes);
    return status;
}

enum ifm_status ifm_attention_source(const char *kv_file, const struct ifm_attention_shape *shape, uint64_t seed,
                                     struct ifm_data_source *out, struct ifm_error *error)
{
    const struct ifm_kv_file_shape asked = {.sequences = shape->batch,
                                            .kv_heads = shape->kv_heads,
                                            .tokens = shape->seq_len,
                                            .head_dim = shape->head_dim,
                                            .query_heads = shape->q_heads,
                                            .query_tokens = shape->seq_len};
    return ifm_data_source_open(kv_file, &asked, seed, IFM_MODEL_OUTLIER, out, error);
}
