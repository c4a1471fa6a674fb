/* The oracle of attention, straightforward on purpose: scores, maximum, weights, weighted sum, all in f64. It computes
 * the rows that the seed draws; all others are compared with the reference in f32. */
#include "workload/attention/oracle.h"

#include "base/hash.h"
#include "workload/attention/data.h"
#include "workload/attention/reference.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_LEAST = 64, DIM_MOST = 256 };
static const uint64_t MULTIPLICATIONS_MOST = 50000000; /* in f64, of one check */

static size_t place_of(const struct ifm_attention_shape *s, const struct ifm_strides *at, uint64_t row)
{
    const uint64_t pair = row / s->seq_len;
    return ifm_strides_head(at, pair / s->q_heads, pair % s->q_heads) + row % s->seq_len * at->row;
}

size_t ifm_attention_out_at(const struct ifm_attention_job *job, uint64_t row)
{
    return place_of(&job->shape, &job->at.out, row);
}

void ifm_attention_oracle(const struct ifm_attention_job *job, uint64_t row, double *weights, double *out)
{
    const struct ifm_attention_shape *s = &job->shape;
    const uint64_t position = row % s->seq_len, pair = row / s->seq_len, sequence = pair / s->q_heads;
    const uint64_t head = pair % s->q_heads, length = job->lengths[sequence];
    const size_t dim = s->head_dim, step = job->at.kv.row, q = place_of(s, &job->at.q, row);
    const size_t kv = ifm_strides_head(&job->at.kv, sequence, head / (s->q_heads / s->kv_heads));
    const size_t seen = position >= length ? 0 : s->causal ? position + 1 : length;
    double top = -INFINITY, total = 0;
    for (size_t r = 0; r < seen; r++) {
        double dot = 0;
        for (size_t d = 0; d < dim; d++)
            dot += (double)ifm_attention_value(job->q, s->storage, q + d) *
                   (double)ifm_attention_value(job->k, s->storage, kv + r * step + d);
        weights[r] = dot / sqrt((double)dim);
        top = fmax(top, weights[r]);
    }
    for (size_t d = 0; d < dim; d++)
        out[d] = 0;
    for (size_t r = 0; r < seen; r++) {
        const double weight = exp(weights[r] - top);
        total += weight;
        for (size_t d = 0; d < dim; d++)
            out[d] += weight * (double)ifm_attention_value(job->v, s->storage, kv + r * step + d);
    }
    for (size_t d = 0; seen > 0 && d < dim; d++)
        out[d] /= total;
}

uint64_t ifm_attention_period(const struct ifm_attention_shape *shape)
{
    const uint64_t all = shape->batch * shape->q_heads * shape->seq_len;
    const uint64_t affordable = MULTIPLICATIONS_MOST / (2 * shape->seq_len * shape->head_dim);
    const uint64_t wanted = affordable > ROWS_LEAST ? affordable : ROWS_LEAST;
    return wanted < all ? all / wanted : 1;
}

/* Blocks of rows, each drawn for itself, so that no kernel could know which. */
bool ifm_attention_drawn(const struct ifm_attention_shape *shape, uint64_t seed, uint64_t row)
{
    const uint64_t period = ifm_attention_period(shape), words[2] = {seed, row / period};
    return row % period == ifm_xxh3(words, sizeof words) % period;
}

struct attention_comparison {
    const struct ifm_attention_job *job;
    uint64_t seed;
    float *room;     /* per worker: the reference */
    double *doubles; /* per worker: rows of the reference, weights of the oracle */
    size_t floats, n_doubles;
    struct ifm_data_errors *errors; /* per query head of a sequence, so that their sum does not depend on the workers */
};

void ifm_attention_compare_rows(const struct ifm_attention_job *job, uint64_t seed, uint64_t first, uint64_t n,
                                double *reference, double *weights, struct ifm_data_errors *errors)
{
    const struct ifm_attention_shape *s = &job->shape;
    for (uint64_t row = first; row < first + n; row++, reference += s->head_dim) {
        float values[DIM_MOST];
        const size_t at = ifm_attention_out_at(job, row);
        if (ifm_attention_drawn(s, seed, row))
            ifm_attention_oracle(job, row, weights, reference);
        for (size_t d = 0; d < s->head_dim; d++)
            values[d] = ifm_attention_value(job->out, s->storage, at + d);
        ifm_data_errors_add(errors, values, reference, s->head_dim);
    }
}

static void compare_part(void *arg, unsigned index, unsigned count)
{
    const struct attention_comparison *c = arg;
    const struct ifm_attention_shape *s = &c->job->shape;
    float *room = c->room + index * c->floats;
    struct ifm_attention_reference reference = {.out = c->doubles + index * c->n_doubles};
    double *weights = reference.out + IFM_REFERENCE_ROWS * s->head_dim;
    for (uint64_t head = index; head < s->batch * s->q_heads; head += count) {
        const uint64_t sequence = head / s->q_heads, of_sequence = head % s->q_heads;
        ifm_attention_reference_load(&reference, c->job, sequence, of_sequence / (s->q_heads / s->kv_heads), room);
        for (size_t first = 0; first < s->seq_len; first += IFM_REFERENCE_ROWS) {
            const size_t left = s->seq_len - first, rows = left < IFM_REFERENCE_ROWS ? left : IFM_REFERENCE_ROWS;
            ifm_attention_reference_rows(&reference, c->job, sequence, of_sequence, first, rows);
            ifm_attention_compare_rows(c->job, c->seed, head * s->seq_len + first, rows, reference.out, weights,
                                       &c->errors[head]);
        }
    }
}

enum ifm_status ifm_attention_compare(struct ifm_device *device, unsigned threads, const struct ifm_attention_job *job,
                                      uint64_t seed, struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_attention_shape *s = &job->shape;
    struct attention_comparison c = {.job = job, .seed = seed};
    c.floats = ifm_attention_reference_floats(s->seq_len, s->head_dim);
    c.n_doubles = IFM_REFERENCE_ROWS * s->head_dim + s->seq_len;
    c.room = malloc(threads * c.floats * sizeof *c.room);
    c.doubles = malloc(threads * c.n_doubles * sizeof *c.doubles);
    c.errors = calloc(s->batch * s->q_heads, sizeof *c.errors);
    enum ifm_status status = IFM_OK;
    if (c.room == NULL || c.doubles == NULL || c.errors == NULL) {
        status = ifm_fail(error, IFM_INTERNAL, "attention", NULL, "out of memory for the oracle");
    } else {
        device->ops->parallel(device, threads, compare_part, &c);
        struct ifm_data_errors all = {0};
        for (uint64_t i = 0; i < s->batch * s->q_heads; i++)
            ifm_data_errors_join(&all, &c.errors[i]);
        ifm_data_errors_tell(&all, out);
    }
    free(c.room);
    free(c.doubles);
    free(c.errors);
    return status;
}
