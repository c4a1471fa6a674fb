/* The oracle of decode, straightforward on purpose: scores, maximum, weights, weighted sum, all in f64. */
#include "workload/decode_oracle.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS_LEAST = 8 };
static const uint64_t MULTIPLICATIONS_MOST = 200000000; /* of one check: a few tenths of a second */

void ifm_decode_oracle(const struct ifm_decode_job *job, uint64_t sequence, uint64_t head, double *weights, double *out)
{
    const struct ifm_decode_shape *s = &job->shape;
    const size_t dim = s->head_dim, length = s->kv_len;
    const size_t pair = sequence * s->kv_heads + head / (s->q_heads / s->kv_heads);
    const float *q = job->q + (sequence * s->q_heads + head) * dim;
    const float *k = job->k + pair * length * dim, *v = job->v + pair * length * dim;
    double top = -INFINITY, total = 0;
    for (size_t r = 0; r < length; r++) {
        double dot = 0;
        for (size_t d = 0; d < dim; d++)
            dot += (double)q[d] * (double)k[r * dim + d];
        weights[r] = dot / sqrt((double)dim);
        top = fmax(top, weights[r]);
    }
    for (size_t d = 0; d < dim; d++)
        out[d] = 0;
    for (size_t r = 0; r < length; r++) {
        double weight = exp(weights[r] - top);
        total += weight;
        for (size_t d = 0; d < dim; d++)
            out[d] += weight * (double)v[r * dim + d];
    }
    for (size_t d = 0; d < dim; d++)
        out[d] /= total;
}

uint64_t ifm_decode_pairs(const struct ifm_decode_shape *shape)
{
    uint64_t all = shape->batch * shape->q_heads;
    uint64_t affordable = MULTIPLICATIONS_MOST / (2 * shape->kv_len * shape->head_dim);
    uint64_t wanted = affordable > PAIRS_LEAST ? affordable : PAIRS_LEAST;
    return wanted < all ? wanted : all;
}

uint64_t ifm_decode_pair(const struct ifm_decode_shape *shape, uint64_t i)
{
    uint64_t all = shape->batch * shape->q_heads, n = ifm_decode_pairs(shape), stride = all / n;
    return i * stride + i % stride; /* the second term walks through the heads of a group */
}

struct comparison {
    const struct ifm_decode_job *job;
    double *room; /* per worker: kv_len weights, head_dim outputs */
    struct sums {
        double error2, reference2, error_max, reference_max;
    } * sums; /* per pair, so that their sum does not depend on the workers */
    uint64_t pairs;
};

static struct sums compare_pair(const struct ifm_decode_job *job, uint64_t pair, double *weights)
{
    const struct ifm_decode_shape *s = &job->shape;
    double *reference = weights + s->kv_len;
    struct sums sums = {0};
    ifm_decode_oracle(job, pair / s->q_heads, pair % s->q_heads, weights, reference);
    for (size_t d = 0; d < s->head_dim; d++) {
        double error = fabs((double)job->out[pair * s->head_dim + d] - reference[d]);
        sums.error2 += error * error;
        sums.reference2 += reference[d] * reference[d];
        sums.error_max = error > sums.error_max || isnan(error) ? error : sums.error_max;
        sums.reference_max = fmax(sums.reference_max, fabs(reference[d]));
    }
    return sums;
}

static void compare_part(void *arg, unsigned index, unsigned count)
{
    struct comparison *c = arg;
    const struct ifm_decode_shape *s = &c->job->shape;
    for (uint64_t i = index; i < c->pairs; i += count)
        c->sums[i] = compare_pair(c->job, ifm_decode_pair(s, i), c->room + index * (s->kv_len + s->head_dim));
}

enum ifm_status ifm_decode_compare(struct ifm_device *device, unsigned threads, const struct ifm_decode_job *job,
                                   struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_decode_shape *s = &job->shape;
    struct comparison c = {.job = job, .pairs = ifm_decode_pairs(s)};
    c.room = malloc(threads * (s->kv_len + s->head_dim) * sizeof *c.room);
    c.sums = malloc(c.pairs * sizeof *c.sums);
    if (c.room == NULL || c.sums == NULL) {
        free(c.room);
        free(c.sums);
        return ifm_fail(error, IFM_INTERNAL, "decode", NULL, "out of memory for the oracle");
    }
    device->ops->parallel(device, threads, compare_part, &c);
    struct sums all = {0};
    for (uint64_t i = 0; i < c.pairs; i++) {
        all.error2 += c.sums[i].error2;
        all.reference2 += c.sums[i].reference2;
        all.error_max =
            c.sums[i].error_max > all.error_max || isnan(c.sums[i].error_max) ? c.sums[i].error_max : all.error_max;
        all.reference_max = fmax(all.reference_max, c.sums[i].reference_max);
    }
    out->error_rms_rel = sqrt(all.error2 / all.reference2);
    out->error_max_rel = all.error_max / all.reference_max;
    out->values = c.pairs * s->head_dim;
    free(c.room);
    free(c.sums);
    return IFM_OK;
}
