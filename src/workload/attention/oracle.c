/* The oracle of attention, straightforward on purpose: scores, maximum, weights, weighted sum, all in f64. */
#include "workload/attention/oracle.h"

#include "workload/attention/data.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_LEAST = 64 };
static const uint64_t MULTIPLICATIONS_MOST = 200000000; /* of one check: a few tenths of a second */

void ifm_attention_oracle(const struct ifm_attention_job *job, uint64_t row, double *weights, double *out)
{
    const struct ifm_attention_shape *s = &job->shape;
    const uint64_t position = row % s->seq_len, pair = row / s->seq_len, sequence = pair / s->q_heads;
    const uint64_t head = pair % s->q_heads, length = job->lengths[sequence];
    const size_t dim = s->head_dim;
    const size_t kv = (sequence * s->kv_heads + head / (s->q_heads / s->kv_heads)) * s->seq_len * dim;
    const size_t seen = position >= length ? 0 : s->causal ? position + 1 : length;
    double top = -INFINITY, total = 0;
    for (size_t r = 0; r < seen; r++) {
        double dot = 0;
        for (size_t d = 0; d < dim; d++)
            dot += (double)ifm_attention_value(job->q, s->storage, row * dim + d) *
                   (double)ifm_attention_value(job->k, s->storage, kv + r * dim + d);
        weights[r] = dot / sqrt((double)dim);
        top = fmax(top, weights[r]);
    }
    for (size_t d = 0; d < dim; d++)
        out[d] = 0;
    for (size_t r = 0; r < seen; r++) {
        const double weight = exp(weights[r] - top);
        total += weight;
        for (size_t d = 0; d < dim; d++)
            out[d] += weight * (double)ifm_attention_value(job->v, s->storage, kv + r * dim + d);
    }
    for (size_t d = 0; seen > 0 && d < dim; d++)
        out[d] /= total;
}

uint64_t ifm_attention_rows(const struct ifm_attention_shape *shape)
{
    const uint64_t all = shape->batch * shape->q_heads * shape->seq_len;
    const uint64_t affordable = MULTIPLICATIONS_MOST / (2 * shape->seq_len * shape->head_dim);
    const uint64_t wanted = affordable > ROWS_LEAST ? affordable : ROWS_LEAST;
    return wanted < all ? wanted : all;
}

/* Steps of equal size, made odd so that they visit every place of blocks whose size is a power of two. The last row of
 * all is always among them. */
uint64_t ifm_attention_row(const struct ifm_attention_shape *shape, uint64_t i)
{
    const uint64_t all = shape->batch * shape->q_heads * shape->seq_len, n = ifm_attention_rows(shape);
    const uint64_t stride = all / n, step = stride > 1 && stride % 2 == 0 ? stride - 1 : stride;
    return i + 1 == n ? all - 1 : i * step;
}

struct attention_comparison {
    const struct ifm_attention_job *job;
    double *room; /* per worker: seq_len weights, head_dim outputs */
    struct sums {
        double error2, reference2, error_max, reference_max;
    } * sums; /* per row, so that their sum does not depend on the workers */
    uint64_t rows;
};

static double worse(double a, double b)
{
    return b > a || isnan(b) ? b : a;
}

static struct sums compare_row(const struct ifm_attention_job *job, uint64_t row, double *weights)
{
    const struct ifm_attention_shape *s = &job->shape;
    double *reference = weights + s->seq_len;
    struct sums sums = {0};
    ifm_attention_oracle(job, row, weights, reference);
    for (size_t d = 0; d < s->head_dim; d++) {
        const double value = (double)ifm_attention_value(job->out, s->storage, row * s->head_dim + d);
        const double error = fabs(value - reference[d]);
        sums.error2 += error * error;
        sums.reference2 += reference[d] * reference[d];
        sums.error_max = worse(sums.error_max, error);
        sums.reference_max = fmax(sums.reference_max, fabs(reference[d]));
    }
    return sums;
}

static void compare_part(void *arg, unsigned index, unsigned count)
{
    struct attention_comparison *c = arg;
    const struct ifm_attention_shape *s = &c->job->shape;
    for (uint64_t i = index; i < c->rows; i += count)
        c->sums[i] = compare_row(c->job, ifm_attention_row(s, i), c->room + index * (s->seq_len + s->head_dim));
}

enum ifm_status ifm_attention_compare(struct ifm_device *device, unsigned threads, const struct ifm_attention_job *job,
                                      struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &job->shape;
    struct attention_comparison c = {.job = job, .rows = ifm_attention_rows(s)};
    c.room = malloc(threads * (s->seq_len + s->head_dim) * sizeof *c.room);
    c.sums = malloc(c.rows * sizeof *c.sums);
    if (c.room == NULL || c.sums == NULL) {
        free(c.room);
        free(c.sums);
        return ifm_fail(error, IFM_INTERNAL, "attention", NULL, "out of memory for the oracle");
    }
    device->ops->parallel(device, threads, compare_part, &c);
    struct sums all = {0};
    for (uint64_t i = 0; i < c.rows; i++) {
        all.error2 += c.sums[i].error2;
        all.reference2 += c.sums[i].reference2;
        all.error_max = worse(all.error_max, c.sums[i].error_max);
        all.reference_max = fmax(all.reference_max, c.sums[i].reference_max);
    }
    out->error_rms_rel = sqrt(all.error2 / all.reference2);
    out->error_max_rel = all.error_max / all.reference_max;
    out->values = c.rows * s->head_dim;
    free(c.room);
    free(c.sums);
    return IFM_OK;
}
