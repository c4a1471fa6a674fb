/* The f64 products that gemm is compared with. */
#include "workload/gemm/oracle.h"

#include "base/order.h"
#include <math.h>
#include <stdlib.h>

enum { ROWS_LEAST = 8 };
static const uint64_t MULTIPLICATIONS_MOST = 200000000; /* of one check: a few tenths of a second */

uint64_t ifm_gemm_rows(const struct ifm_gemm_shape *s)
{
    const uint64_t affordable = MULTIPLICATIONS_MOST / (2 * s->m * s->k);
    const uint64_t wanted = affordable > ROWS_LEAST ? affordable : ROWS_LEAST;
    return wanted < s->n ? wanted : s->n;
}

uint64_t ifm_gemm_row(const struct ifm_gemm_shape *s, uint64_t i)
{
    const uint64_t stride = s->n / ifm_gemm_rows(s);
    return i * stride + i % stride; /* the second term walks through the places within a panel */
}

struct gemm_comparison {
    const struct ifm_gemm_outputs *o;
    uint64_t rows;
    float *weights;         /* per worker: k stored, k original */
    double *stored, *exact; /* [rows][m] */
};

static void compare_part(void *arg, unsigned index, unsigned count)
{
    const struct gemm_comparison *c = arg;
    const struct ifm_gemm_shape *s = &c->o->shape;
    float *stored = c->weights + (size_t)index * 2 * s->k, *original = stored + s->k;
    for (uint64_t i = index; i < c->rows; i += count) {
        const uint64_t row = ifm_gemm_row(s, i);
        ifm_gemm_decode(s, c->o->w, row, stored);
        if (c->o->lossy)
            ifm_model_weights(&c->o->data, 0, row, 1, (unsigned)s->k, original);
        for (uint64_t m = 0; m < s->m; m++) {
            const float *x = c->o->x + m * s->k;
            double sum = 0, exact = 0;
            for (uint64_t k = 0; k < s->k; k++)
                sum += (double)stored[k] * (double)x[k];
            for (uint64_t k = 0; c->o->lossy && k < s->k; k++)
                exact += (double)original[k] * (double)x[k];
            c->stored[i * s->m + m] = sum;
            c->exact[i * s->m + m] = exact;
        }
    }
}

static void sum_errors(const struct gemm_comparison *c, struct ifm_check *out)
{
    const struct ifm_gemm_shape *s = &c->o->shape;
    double error2 = 0, reference2 = 0, error_max = 0, reference_max = 0;
    for (uint64_t i = 0; i < c->rows * s->m; i++) {
        const double reference = c->stored[i];
        const double value = (double)c->o->out[i % s->m * s->n + ifm_gemm_row(s, i / s->m)];
        const double error = fabs(value - reference);
        error2 += error * error;
        reference2 += reference * reference;
        error_max = error > error_max || isnan(error) ? error : error_max;
        reference_max = fmax(reference_max, fabs(reference));
    }
    out->error_rms_rel = sqrt(error2 / reference2);
    out->error_max_rel = error_max / reference_max;
    out->values = c->rows * s->m;
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
    c.weights = malloc((size_t)threads * 2 * s->k * sizeof *c.weights);
    c.stored = malloc(c.rows * s->m * sizeof *c.stored);
    c.exact = malloc(c.rows * s->m * sizeof *c.exact);
    enum ifm_status status = IFM_OK;
    if (c.weights == NULL || c.stored == NULL || c.exact == NULL) {
        status = ifm_fail(error, IFM_INTERNAL, "gemm", NULL, "out of memory for the oracle");
    } else {
        device->ops->parallel(device, threads, compare_part, &c);
        sum_errors(&c, out);
        if (outputs->lossy)
            sum_losses(&c, out);
    }
    free(c.weights);
    free(c.stored);
    free(c.exact);
    return status;
}
