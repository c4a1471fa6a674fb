/* The reference of attention. Inner loops run over keys, or over dimensions, so that no sum is reordered. */
#include "workload/attention/reference.h"

#include "workload/attention/data.h"

#include <math.h>

enum { TILE = 256 /* keys */ };

size_t ifm_attention_reference_floats(size_t keys, size_t dim)
{
    return 2 * keys * dim + IFM_REFERENCE_ROWS * (dim + keys);
}

void ifm_attention_reference_load(struct ifm_attention_reference *r, const struct ifm_attention_job *job,
                                  uint64_t sequence, uint64_t kv_head, float *room)
{
    const struct ifm_attention_shape *s = &job->shape;
    const size_t at = ifm_strides_head(&job->at.kv, sequence, kv_head), step = job->at.kv.row;
    r->keys = job->lengths[sequence];
    r->dim = s->head_dim;
    r->k = room;
    r->v = r->k + r->keys * r->dim;
    r->q = r->v + r->keys * r->dim;
    r->scores = r->q + IFM_REFERENCE_ROWS * r->dim;
    for (size_t t = 0; t < r->keys; t++)
        for (size_t d = 0; d < r->dim; d++) {
            r->k[d * r->keys + t] = ifm_attention_value(job->k, s->storage, at + t * step + d);
            r->v[t * r->dim + d] = ifm_attention_value(job->v, s->storage, at + t * step + d);
        }
}

/* scores[t] = sum over d of q[d] k[d][t], four dimensions at a time. */
static void score(const float *restrict q, const float *restrict k, size_t stride, size_t dim, size_t n,
                  float *restrict scores)
{
    for (size_t t = 0; t < n; t++)
        scores[t] = 0;
    for (size_t d = 0; d < dim; d += 4) {
        const float *restrict a = k + d * stride, *restrict b = a + stride, *restrict c = b + stride;
        const float *restrict e = c + stride;
        for (size_t t = 0; t < n; t++)
            scores[t] += q[d] * a[t] + q[d + 1] * b[t] + q[d + 2] * c[t] + q[d + 3] * e[t];
    }
}

/* sums[d] += sum over t of weights[t] v[t][d], four keys at a time. */
static void weigh(const float *restrict weights, const float *restrict v, size_t dim, size_t n, float *restrict sums)
{
    size_t t = 0;
    for (; t + 4 <= n; t += 4) {
        const float *restrict a = v + t * dim, *restrict b = a + dim, *restrict c = b + dim, *restrict e = c + dim;
        for (size_t d = 0; d < dim; d++)
            sums[d] += weights[t] * a[d] + weights[t + 1] * b[d] + weights[t + 2] * c[d] + weights[t + 3] * e[d];
    }
    for (; t < n; t++)
        for (size_t d = 0; d < dim; d++)
            sums[d] += weights[t] * v[t * dim + d];
}

/* Scores become weights; returns their sum. */
static double to_weights(float *scores, size_t n)
{
    float top = -INFINITY;
    double total = 0;
    for (size_t t = 0; t < n; t++)
        top = scores[t] > top || isnan(scores[t]) ? scores[t] : top;
    for (size_t t = 0; t < n; t++) {
        scores[t] = expf(scores[t] - top);
        total += (double)scores[t];
    }
    return total;
}

static size_t seen_by(const struct ifm_attention_reference *r, const struct ifm_attention_shape *s, size_t position)
{
    return position >= r->keys ? 0 : s->causal ? position + 1 : r->keys;
}

static void load_queries(const struct ifm_attention_reference *r, const struct ifm_attention_job *job, size_t at,
                         size_t rows)
{
    const float scale = 1.0f / sqrtf((float)r->dim);
    for (size_t i = 0; i < rows; i++, at += job->at.q.row)
        for (size_t d = 0; d < r->dim; d++)
            r->q[i * r->dim + d] = scale * ifm_attention_value(job->q, job->shape.storage, at + d);
}

void ifm_attention_reference_rows(const struct ifm_attention_reference *r, const struct ifm_attention_job *job,
                                  uint64_t sequence, uint64_t head, size_t first, size_t rows)
{
    const struct ifm_attention_shape *s = &job->shape;
    double totals[IFM_REFERENCE_ROWS];
    size_t seen[IFM_REFERENCE_ROWS];
    load_queries(r, job, ifm_strides_head(&job->at.q, sequence, head) + first * job->at.q.row, rows);
    for (size_t i = 0; i < rows * r->dim; i++)
        r->out[i] = 0;
    for (size_t i = 0; i < rows; i++)
        seen[i] = seen_by(r, s, first + i);
    for (size_t at = 0; at < r->keys; at += TILE)
        for (size_t i = 0; i < rows; i++)
            if (seen[i] > at)
                score(r->q + i * r->dim, r->k + at, r->keys, r->dim, seen[i] - at < TILE ? seen[i] - at : TILE,
                      r->scores + i * r->keys + at);
    for (size_t i = 0; i < rows; i++)
        totals[i] = to_weights(r->scores + i * r->keys, seen[i]);
    for (size_t at = 0; at < r->keys; at += TILE)
        for (size_t i = 0; i < rows; i++) {
            float sums[256] = {0};
            if (seen[i] <= at)
                continue;
            weigh(r->scores + i * r->keys + at, r->v + at * r->dim, r->dim, seen[i] - at < TILE ? seen[i] - at : TILE,
                  sums);
            for (size_t d = 0; d < r->dim; d++)
                r->out[i * r->dim + d] += (double)sums[d];
        }
    for (size_t i = 0; i < rows; i++)
        for (size_t d = 0; seen[i] > 0 && d < r->dim; d++)
            r->out[i * r->dim + d] /= totals[i];
}
