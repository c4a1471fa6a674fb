/* The oracle of decode, straightforward on purpose. */
#include "workload/decode/oracle.h"

#include <math.h>

void ifm_decode_oracle_begin(struct ifm_decode_oracle *o)
{
    o->tokens = 0;
    for (unsigned h = 0; h < o->heads; h++) {
        o->top[h] = -INFINITY;
        o->total[h] = 0;
        for (unsigned d = 0; d < o->dim; d++)
            o->sum[(size_t)h * o->dim + d] = 0;
    }
}

enum { LANES = 8 }; /* partial sums, which make vector code */

/* n is a multiple of 32, as every head dimension is. */
static double dot(const float *a, const float *b, unsigned n)
{
    double sum[LANES] = {0}, all = 0;
    for (unsigned i = 0; i < n; i += LANES)
        for (unsigned lane = 0; lane < LANES; lane++)
            sum[lane] += (double)a[i + lane] * (double)b[i + lane];
    for (unsigned lane = 0; lane < LANES; lane++)
        all += sum[lane];
    return all;
}

/* A higher maximum: what was summed before counts for less. */
static void raise_top(struct ifm_decode_oracle *o, unsigned h, double top)
{
    const double factor = exp(o->top[h] - top);
    o->top[h] = top;
    o->total[h] *= factor;
    for (unsigned d = 0; d < o->dim; d++)
        o->sum[(size_t)h * o->dim + d] *= factor;
}

void ifm_decode_oracle_add(struct ifm_decode_oracle *o, unsigned tokens, const float *k, const float *v)
{
    for (unsigned h = 0; h < o->heads; h++) {
        double *scores = o->scores + h * o->room + (o->passing ? 0 : o->tokens), *sum = o->sum + (size_t)h * o->dim;
        double top = o->top[h];
        for (unsigned t = 0; t < tokens; t++) {
            scores[t] = dot(o->q + (size_t)h * o->dim, k + (size_t)t * o->dim, o->dim) / sqrt((double)o->dim);
            top = scores[t] > top || isnan(scores[t]) ? scores[t] : top;
        }
        if (top > o->top[h] || isnan(top))
            raise_top(o, h, top);
        for (unsigned t = 0; t < tokens; t++) {
            const double weight = exp(scores[t] - o->top[h]);
            o->total[h] += weight;
            for (unsigned d = 0; d < o->dim; d++)
                sum[d] += weight * (double)v[(size_t)t * o->dim + d];
        }
    }
    o->tokens += tokens;
}

void ifm_decode_oracle_end(struct ifm_decode_oracle *o)
{
    for (unsigned h = 0; h < o->heads && o->tokens > 0; h++)
        for (unsigned d = 0; d < o->dim; d++)
            o->sum[(size_t)h * o->dim + d] /= o->total[h];
}

struct ifm_decode_divergence ifm_decode_divergence_of(const struct ifm_decode_oracle *exact,
                                                      const struct ifm_decode_oracle *other, unsigned head,
                                                      const uint8_t *keep)
{
    const double *scores = exact->scores + head * exact->room, *others = other->scores + head * other->room;
    const double scale = exact->top[head] + log(exact->total[head]);
    const double other_scale = other->top[head] + log(other->total[head]);
    struct ifm_decode_divergence sum = {0, 0};
    uint64_t next = 0;
    for (uint64_t t = 0; t < exact->tokens; t++) {
        const double p_log = scores[t] - scale, p = exp(p_log);
        if (keep != NULL && keep[t] == 0) {
            sum.kl = INFINITY;
            sum.tv += p / 2;
            continue;
        }
        const double other_log = others[next++] - other_scale;
        sum.kl += p > 0 ? p * (p_log - other_log) : 0;
        sum.tv += fabs(p - exp(other_log)) / 2;
    }
    return sum;
}
