/* The exact keys, values and queries of decode, and which tokens stay when half of them go. */
#include "workload/decode/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OBSERVERS = 8 };

enum ifm_status ifm_decode_source(const struct ifm_decode_settings *s, uint64_t seed, struct ifm_data_source *out,
                                  struct ifm_error *error)
{
    const struct ifm_kv_file_shape asked = {.sequences = s->batch,
                                            .kv_heads = s->kv_heads,
                                            .tokens = s->kv_len + (s->inference ? s->decode_tokens : 0),
                                            .head_dim = s->head_dim,
                                            .query_heads = s->q_heads};
    return ifm_data_source_open(s->kv_file, &asked, seed, ifm_decode_outlier(s), out, error);
}

/* ---- eviction by attention mass ---- */

struct observation {
    double *mass;               /* [length] */
    uint64_t *order;            /* [length] */
    float *scores;              /* [length][OBSERVERS] */
    float (*turned)[OBSERVERS]; /* [dim]: queries side by side, scaled */
    float *k, *queries;         /* [IFM_KV_PAGE][dim], [group][dim] */
};

/* All of them in one piece of memory, which `mass` begins. */
static bool allocate(struct observation *o, const struct ifm_data_source *source, uint64_t length)
{
    const size_t dim = source->data.head_dim, values = (OBSERVERS + IFM_KV_PAGE + source->group) * dim;
    o->mass =
        calloc(1, length * (sizeof *o->mass + sizeof *o->order + OBSERVERS * sizeof(float)) + values * sizeof(float));
    if (o->mass == NULL)
        return false;
    o->order = (uint64_t *)(void *)(o->mass + length);
    o->scores = (float *)(void *)(o->order + length);
    o->turned = (float(*)[OBSERVERS])(void *)(o->scores + length * OBSERVERS);
    o->k = (float *)(o->turned + dim);
    o->queries = o->k + IFM_KV_PAGE * dim;
    return true;
}

/* Observer i is a query of head i of the group, taken in turn, i + 1 positions before the step's. */
static enum ifm_status observers(const struct ifm_data_source *source, uint64_t pair, uint64_t length,
                                 struct observation *o, struct ifm_error *error)
{
    const unsigned dim = source->data.head_dim;
    const float scale = 1.0f / sqrtf((float)dim);
    for (unsigned i = 0; i < OBSERVERS; i++) {
        IFM_TRY(ifm_data_source_queries(source, pair, length > i ? length - 1 - i : 0, o->queries, error));
        for (unsigned d = 0; d < dim; d++)
            o->turned[d][i] = scale * o->queries[(size_t)(i % source->group) * dim + d];
    }
    return IFM_OK;
}

static enum ifm_status score(const struct ifm_data_source *source, uint64_t pair, uint64_t length,
                             struct observation *o, struct ifm_error *error)
{
    const unsigned dim = source->data.head_dim;
    for (uint64_t from = 0; from < length; from += IFM_KV_PAGE) {
        const unsigned n = length - from < IFM_KV_PAGE ? (unsigned)(length - from) : IFM_KV_PAGE;
        IFM_TRY(ifm_data_source_kv(source, pair, from, n, o->k, NULL, error));
        for (unsigned t = 0; t < n; t++) {
            float sum[OBSERVERS] = {0};
            for (unsigned d = 0; d < dim; d++)
                for (unsigned i = 0; i < OBSERVERS; i++)
                    sum[i] += o->k[(size_t)t * dim + d] * o->turned[d][i];
            memcpy(o->scores + (from + t) * OBSERVERS, sum, sizeof sum);
        }
    }
    return IFM_OK;
}

/* The observers' softmax weights, added up per token. */
static void weigh(uint64_t length, struct observation *o)
{
    for (unsigned i = 0; i < OBSERVERS; i++) {
        double top = -INFINITY, total = 0;
        for (uint64_t t = 0; t < length; t++)
            top = fmax(top, (double)o->scores[t * OBSERVERS + i]);
        for (uint64_t t = 0; t < length; t++)
            total += exp((double)o->scores[t * OBSERVERS + i] - top);
        for (uint64_t t = 0; t < length; t++)
            o->mass[t] += exp((double)o->scores[t * OBSERVERS + i] - top) / total;
    }
}

static int heavier_first(const void *a, const void *b, void *context)
{
    const double *mass = context;
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    if (mass[x] != mass[y])
        return mass[x] > mass[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Keep `wanted` of the tokens [from, to). */
static void keep_heaviest(struct observation *o, uint64_t from, uint64_t to, uint64_t wanted, uint8_t *keep)
{
    for (uint64_t t = from; t < to; t++)
        o->order[t - from] = t;
    qsort_r(o->order, to - from, sizeof *o->order, heavier_first, o->mass);
    for (uint64_t i = 0; i < wanted; i++)
        keep[o->order[i]] = 1;
}

enum ifm_status ifm_decode_keep(const struct ifm_data_source *source, const struct ifm_decode_settings *s,
                                const struct ifm_decode_form *form, uint64_t pair, uint64_t length, uint8_t *keep,
                                struct ifm_error *error)
{
    const uint64_t kept = ifm_decode_kept(form, length), sinks = s->sink < kept ? s->sink : kept;
    uint64_t newest = kept - sinks;
    if (s->evict == IFM_DECODE_EVICT_MASS && newest > IFM_KV_PAGE)
        newest = IFM_KV_PAGE;
    memset(keep, 0, length);
    memset(keep, 1, sinks);
    memset(keep + length - newest, 1, newest);
    if (sinks + newest == kept)
        return IFM_OK;
    struct observation o;
    if (!allocate(&o, source, length))
        return ifm_fail(error, IFM_INTERNAL, "decode", NULL, "out of memory for choosing tokens");
    enum ifm_status status = observers(source, pair, length, &o, error);
    if (status == IFM_OK)
        status = score(source, pair, length, &o, error);
    if (status == IFM_OK) {
        weigh(length, &o);
        keep_heaviest(&o, sinks, length - newest, kept - sinks - newest, keep);
    }
    free(o.mass);
    return status;
}

enum ifm_status ifm_decode_ready(const struct ifm_opening *opening, struct ifm_error *error)
{
    struct ifm_data_source source;
    IFM_TRY(ifm_decode_source(opening->settings, 0, &source, error));
    ifm_data_source_close(&source);
    return IFM_OK;
}
