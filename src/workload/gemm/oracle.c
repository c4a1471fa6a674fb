/* The f64 products that gemm is compared with. */
#include "workload/gemm/oracle.h"

#include "base/hash.h"
#include "base/order.h"
#include "workload/data/errors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LEAST = 8, LANES = 8, PIECE = 64 };
static const uint64_t MULTIPLICATIONS_MOST = 200000000; /* of the loss: a few tenths of a second */

uint64_t ifm_gemm_rows(const struct ifm_gemm_shape *s)
{
    const uint64_t affordable = MULTIPLICATIONS_MOST / (2 * s->m * s->k);
    const uint64_t wanted = affordable > ROWS_LEAST ? affordable : ROWS_LEAST;
    return wanted < s->n ? wanted : s->n;
}

uint64_t ifm_gemm_row(const struct ifm_gemm_shape *s, uint64_t draw, uint64_t i)
{
    const uint64_t stride = s->n / ifm_gemm_rows(s);
    return i * stride + (draw + i) % stride; /* the second term walks through the places within a panel */
}

struct gemm_comparison {
    const struct ifm_gemm_outputs *o;
    float *weights; /* per worker: k stored or original */
    double *sums;   /* [m][n]: of the weights as they are stored */
    uint64_t rows, draw;
    double *stored, *exact; /* [rows][m]: of rows whose loss is taken */
};

/* Partial sums make vector code; k is a multiple of 64. */
static double dot(const float *w, const float *x, uint64_t k)
{
    double sum[LANES] = {0}, all = 0;
    uint64_t i = 0;
    for (; i + LANES <= k; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] += (double)w[i + (uint64_t)lane] * (double)x[i + (uint64_t)lane];
    for (; i < k; i++)
        all += (double)w[i] * (double)x[i];
    for (int lane = 0; lane < LANES; lane++)
        all += sum[lane];
    return all;
}

static void multiply_stored(void *arg, unsigned index, unsigned count)
{
    const struct gemm_comparison *c = arg;
    const struct ifm_gemm_shape *s = &c->o->shape;
    float *weights = c->weights + (size_t)index * s->k;
    const bool all = c->o->sums == NULL;
    for (uint64_t i = index; i < (all ? s->n : c->rows); i += count) {
        const uint64_t row = all ? i : ifm_gemm_row(s, c->draw, i);
        ifm_gemm_decode(s, c->o->w, row, weights);
        for (uint64_t m = 0; m < s->m; m++)
            c->sums[m * s->n + row] = dot(weights, c->o->x + m * s->k, s->k);
    }
}

static void multiply_exact(void *arg, unsigned index, unsigned count)
{
    const struct gemm_comparison *c = arg;
    const struct ifm_gemm_shape *s = &c->o->shape;
    float *weights = c->weights + (size_t)index * s->k;
    for (uint64_t i = index; i < c->rows; i += count) {
        const uint64_t row = ifm_gemm_row(s, c->draw, i);
        ifm_model_weights(&c->o->data, 0, row, 1, (unsigned)s->k, weights);
        for (uint64_t m = 0; m < s->m; m++) {
            c->exact[i * s->m + m] = dot(weights, c->o->x + m * s->k, s->k);
            c->stored[i * s->m + m] = c->sums[m * s->n + row];
        }
    }
}

/* All outputs. Pieces of a row count as rows: of one activation there is but one. */
static void sum_errors(const struct gemm_comparison *c, struct ifm_check *out)
{
    const struct ifm_gemm_shape *s = &c->o->shape;
    struct ifm_data_errors all = {0};
    for (uint64_t m = 0; m < s->m; m++)
        for (uint64_t at = 0; at < s->n; at += PIECE)
            ifm_data_errors_add(&all, c->o->out + m * s->n + at, c->sums + m * s->n + at,
                                s->n - at < PIECE ? s->n - at : PIECE);
    ifm_data_errors_tell(&all, out);
}

static double least_cosine(const struct gemm_comparison *c)
{
    const uint64_t m = c->o->shape.m;
    double least = 1;
    for (uint64_t row = 0; row < m; row++) {
        double product = 0, stored2 = 0, exact2 = 0;
        for (uint64_t i = row; i < c->rows * m; i += m) {
            product += c->stored[i] * c->exact[i];
            stored2 += c->stored[i] * c->stored[i];
            exact2 += c->exact[i] * c->exact[i];
        }
        least = fmin(least, product / sqrt(stored2 * exact2));
    }
    return least;
}

/* Changes `stored`: it becomes the errors in order. */
static void sum_losses(const struct gemm_comparison *c, struct ifm_check *out)
{
    const uint64_t n = c->rows * c->o->shape.m;
    double loss2 = 0, exact2 = 0;
    out->has_loss = true;
    out->loss_kl = out->loss_tv = NAN;
    out->loss_cosine = least_cosine(c);
    for (uint64_t i = 0; i < n; i++) {
        c->stored[i] = fabs(c->stored[i] - c->exact[i]);
        loss2 += c->stored[i] * c->stored[i];
        exact2 += c->exact[i] * c->exact[i];
    }
    qsort(c->stored, n, sizeof *c->stored, ifm_by_f64);
    out->loss_rms_rel = sqrt(loss2 / exact2);
    out->loss_p99_rel = c->stored[(n - 1) * 99 / 100] / sqrt(exact2 / (double)n);
}

enum ifm_status ifm_gemm_compare(struct ifm_device *device, unsigned threads, const struct ifm_gemm_outputs *outputs,
                                 struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_gemm_shape *s = &outputs->shape;
    struct gemm_comparison c = {.o = outputs, .rows = ifm_gemm_rows(s)};
    c.draw = ifm_xxh3(&outputs->data.seed, sizeof outputs->data.seed) >> 32;
    c.weights = malloc((size_t)threads * s->k * sizeof *c.weights);
    c.sums = malloc(s->n * s->m * sizeof *c.sums);
    c.stored = malloc(c.rows * s->m * sizeof *c.stored);
    c.exact = malloc(c.rows * s->m * sizeof *c.exact);
    enum ifm_status status = IFM_OK;
    if (c.weights == NULL || c.sums == NULL || c.stored == NULL || c.exact == NULL) {
        status = ifm_fail(error, IFM_INTERNAL, "gemm", NULL, "out of memory for the oracle");
    } else {
        if (outputs->sums != NULL)
            memcpy(c.sums, outputs->sums, s->n * s->m * sizeof *c.sums);
        device->ops->parallel(device, threads, multiply_stored, &c);
        sum_errors(&c, out);
        if (outputs->lossy) {
            device->ops->parallel(device, threads, multiply_exact, &c);
            sum_losses(&c, out);
        }
    }
    free(c.weights);
    free(c.sums);
    free(c.stored);
    free(c.exact);
    return status;
}
