/* Parts of a cache, against the error of a kernel. */
#include "workload/decode/parts.h"

#include "kv/format.h"

#include <math.h>
#include <string.h>

/* A part that adds less of an output than this tells nothing: the error that others bring is not quite independent of
 * it, least of all where a few tokens have nearly all the weight. */
static const double FAINT = 0.006;

size_t ifm_decode_parts_room(unsigned heads, unsigned dim)
{
    return (IFM_DECODE_PARTS_MOST + 1) * heads * ((size_t)dim + 1);
}

void ifm_decode_parts_start(struct ifm_decode_parts *parts, unsigned heads, unsigned dim, double *room)
{
    const size_t values = (size_t)heads * dim;
    *parts = (struct ifm_decode_parts){.sum = room, .top = room + IFM_DECODE_PARTS_MOST * values};
    parts->before_sum = parts->top + (size_t)IFM_DECODE_PARTS_MOST * heads;
    parts->before_top = parts->before_sum + values;
}

void ifm_decode_part_begin(struct ifm_decode_parts *parts, const struct ifm_decode_oracle *o)
{
    memcpy(parts->before_sum, o->sum, (size_t)o->heads * o->dim * sizeof *o->sum);
    memcpy(parts->before_top, o->top, o->heads * sizeof *o->top);
}

void ifm_decode_part_end(struct ifm_decode_parts *parts, const struct ifm_decode_oracle *o)
{
    double *sum = parts->sum + (size_t)parts->n * o->heads * o->dim, *top = parts->top + (size_t)parts->n * o->heads;
    for (unsigned h = 0; h < o->heads; h++) {
        const double factor = exp(parts->before_top[h] - o->top[h]); /* 0 before the first token */
        for (unsigned d = 0; d < o->dim; d++) {
            const size_t at = (size_t)h * o->dim + d;
            sum[at] = o->sum[at] - parts->before_sum[at] * factor;
        }
        top[h] = o->top[h];
    }
    parts->n++;
}

/* What is left of x beside the direction of y. */
static void set_beside(const double *x, const double *y, unsigned n, double *out)
{
    double product = 0, square = 0;
    for (unsigned d = 0; d < n; d++) {
        product += x[d] * y[d];
        square += y[d] * y[d];
    }
    for (unsigned d = 0; d < n; d++)
        out[d] = square > 0 ? x[d] - product / square * y[d] : x[d];
}

/* Adds a head's products of the error and of part `p` with each other, both beside the output. */
static void add_head(const struct ifm_decode_parts *parts, const struct ifm_decode_oracle *o, unsigned p, unsigned h,
                     const double *error, double *product, double *part2)
{
    const size_t at = (size_t)h * o->dim;
    const double share = exp(parts->top[(size_t)p * o->heads + h] - o->top[h]) / o->total[h];
    double part[IFM_KV_DIM_MOST];
    set_beside(parts->sum + (size_t)p * o->heads * o->dim + at, o->sum + at, o->dim, part);
    for (unsigned d = 0; d < o->dim; d++) {
        *product += error[at + d] * part[d] * share;
        *part2 += part[d] * part[d] * share * share;
    }
}

double ifm_decode_parts_wrong(const struct ifm_decode_parts *parts, const struct ifm_decode_oracle *o,
                              const float *outputs)
{
    const size_t values = (size_t)o->heads * o->dim;
    double *error = parts->before_sum, error2 = 0, output2 = 0, worst = 0;
    for (size_t i = 0; i < values; i++) {
        error[i] = (double)outputs[i] - o->sum[i];
        output2 += o->sum[i] * o->sum[i];
    }
    for (size_t at = 0; at < values; at += o->dim)
        set_beside(error + at, o->sum + at, o->dim, error + at);
    for (size_t i = 0; i < values; i++)
        error2 += error[i] * error[i];
    for (unsigned p = 0; p < parts->n; p++) {
        double product = 0, part2 = 0;
        for (unsigned h = 0; h < o->heads; h++)
            add_head(parts, o, p, h, error, &product, &part2);
        const double rest2 = fmax(0, error2 - product * product / part2); /* of the error, that is not along the part */
        const double certain =
            part2 > FAINT * FAINT * output2 ? fabs(product) / part2 - 4 * sqrt(rest2 / part2 / (double)values) : 0;
        worst = certain > worst ? certain : worst;
    }
    return worst;
}
