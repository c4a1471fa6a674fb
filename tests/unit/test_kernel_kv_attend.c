/* Page functions of the elastic cache against the f64 oracle over the reference reading of the same bytes: every
 * format, every instruction set of this machine, odd shapes, extreme scores, NaN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "kv_pages.h"

#include <stdbool.h>
#include <stdio.h>

enum { PAGES = 3, GROUP_MOST = 16 };

static const unsigned dims[] = {32, 64, 96, 128, 160, 256};
static const unsigned groups[] = {1, 2, 3, 4, 7, 8, 16};

/* A few pages of one format, what they mean, and queries. */
struct sample {
    struct ifm_kv_layout layout;
    unsigned char *pages;
    unsigned n_pages, last_tokens;
    size_t rows;
    float *k, *v, *query;
    double *reference; /* [GROUP_MOST][dim] */
};

static void read_sample(struct sample *s)
{
    const size_t dim = s->layout.head_dim;
    for (unsigned i = 0; i < s->n_pages; i++)
        ifm_kv_page_read(&s->layout, s->pages + i * s->layout.page_bytes,
                         i + 1 == s->n_pages ? s->last_tokens : IFM_KV_PAGE, s->k + i * IFM_KV_PAGE * dim,
                         s->v + i * IFM_KV_PAGE * dim);
    for (size_t h = 0; h < GROUP_MOST; h++)
        attend_rows(s->query + h * dim, s->k, s->v, s->rows, dim, s->reference + h * dim);
}

/* Queries for which scores spread over about `spread` (in units of log2). */
static struct sample make(enum ifm_kv_format format, unsigned dim, unsigned n_pages, unsigned last_tokens,
                          double spread, double k_scale, double v_scale)
{
    struct sample s = {.layout = ifm_kv_layout_of(format, dim), .n_pages = n_pages, .last_tokens = last_tokens};
    struct ifm_random random = ifm_random_start(42, format * 1000 + dim + last_tokens);
    s.rows = (n_pages - 1) * IFM_KV_PAGE + last_tokens;
    s.pages = lines_of(n_pages * s.layout.page_bytes);
    s.k = lines_of(n_pages * IFM_KV_PAGE * dim * sizeof(float));
    s.v = lines_of(n_pages * IFM_KV_PAGE * dim * sizeof(float));
    s.query = lines_of(GROUP_MOST * dim * sizeof(float));
    s.reference = lines_of(GROUP_MOST * dim * sizeof(double));
    for (unsigned i = 0; i < n_pages; i++)
        fill_page(&s.layout, s.pages + i * s.layout.page_bytes, &random, k_scale, v_scale);
    for (size_t i = 0; i < (size_t)GROUP_MOST * dim; i++)
        s.query[i] = (float)(spread / k_scale / sqrt(dim) * ifm_random_normal(&random));
    read_sample(&s);
    return s;
}

static void drop(struct sample *s)
{
    free(s->pages);
    free(s->k);
    free(s->v);
    free(s->query);
    free(s->reference);
}

/* Outputs of `group` heads by a page function; rotated back. */
static void attend(const struct sample *s, const struct ifm_kernel *kernel, unsigned group, float *out)
{
    const size_t dim = s->layout.head_dim, scratch_bytes = ifm_kv_attend_scratch_bytes((unsigned)dim, group);
    float top[GROUP_MOST], total[GROUP_MOST];
    unsigned char *scratch = lines_of(scratch_bytes);
    memset(scratch, 0xff, scratch_bytes); /* NaN: nothing may be read that was not written */
    for (unsigned h = 0; h < group; h++) {
        top[h] = -1e30f;
        total[h] = 0;
    }
    memset(out, 0, group * dim * sizeof *out);
    const struct ifm_kv_piece_sums sums = {top, total, out};
    for (unsigned i = 0; i < s->n_pages; i++) {
        const unsigned char *page = s->pages + i * s->layout.page_bytes;
        const bool last = i + 1 == s->n_pages;
        kernel->fn.kv_attend(&s->layout, page, last ? s->last_tokens : IFM_KV_PAGE, group, s->query, &sums, scratch,
                             last ? NULL : page + s->layout.page_bytes);
    }
    if (s->layout.rotated)
        ifm_kv_rotate(out, (unsigned)dim, group);
    for (size_t i = 0; i < group * dim; i++)
        out[i] /= total[i / dim];
    free(scratch);
}

/* The error of each head relative to its output. */
static double error_of(const float *out, const double *reference, size_t dim, unsigned group)
{
    double worst = 0;
    for (unsigned h = 0; h < group; h++) {
        double error2 = 0, reference2 = 0;
        for (size_t d = h * dim; d < (h + 1) * dim; d++) {
            error2 += pow((double)out[d] - reference[d], 2);
            reference2 += pow(reference[d], 2);
        }
        const double error = sqrt(error2 / reference2);
        worst = error > worst || isnan(error) ? error : worst;
    }
    return worst;
}

static const struct ifm_kernel *kernel_of(enum ifm_kv_format format, const char *isa)
{
    char op[32];
    snprintf(op, sizeof op, "kv_attend.%s", ifm_kv_format_name(format));
    return ifm_kernel_find(op, isa);
}

/* `scale` widens the tolerance of every format: a score's error grows with the score. */
static void check(const struct sample *s, unsigned group, double tolerance)
{
    const size_t dim = s->layout.head_dim;
    float *out = lines_of(group * dim * sizeof *out);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_kernel *kernel = kernel_of(s->layout.format, isas[i]);
        if (kernel == NULL)
            continue;
        attend(s, kernel, group, out);
        const double error = error_of(out, s->reference, dim, group);
        if (!(error <= tolerance))
            fail_msg("%s %s, D %zu, group %u, %zu rows: error %.3g above %.3g", kernel->op, kernel->isa, dim, group,
                     s->rows, error, tolerance);
    }
    free(out);
}

/* What a kernel may add to the error of its format, in outputs of scores that spread over a few units: f32 sums of 256
 * products and weights of f32 for f16 and e4m3. */
static double tolerance_of(enum ifm_kv_format format)
{
    static const double most[IFM_KV_FORMATS] = {5e-6, 5e-6, 5e-6, 5e-6, 5e-6};
    return most[format];
}

static void agrees_with_the_oracle_on_odd_shapes(void **unused)
{
    (void)unused;
    static const unsigned tokens[] = {1, 63, 64, 65, 127, 128};
    for (enum ifm_kv_format format = 0; format < IFM_KV_FORMATS; format++)
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++)
            for (size_t t = 0; t < sizeof tokens / sizeof tokens[0]; t++) {
                struct sample s = make(format, dims[d], 1 + (unsigned)t % PAGES, tokens[t], 2, 1, 1);
                for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
                    check(&s, groups[g], tolerance_of(format));
                drop(&s);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle_on_odd_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
