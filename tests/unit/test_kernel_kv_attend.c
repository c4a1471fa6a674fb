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
    double *rounded;   /* the same of values that are off by what the format's rounding makes of them */
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
    if (s->layout.format == IFM_KV_F16 || s->layout.format == IFM_KV_E4M3)
        return;
    struct ifm_random random = ifm_random_start(43, 0);
    for (unsigned i = 0; i < s->n_pages; i++)
        add_format_error(&s->layout, s->pages + i * s->layout.page_bytes,
                         i + 1 == s->n_pages ? s->last_tokens : IFM_KV_PAGE, &random, s->k + i * IFM_KV_PAGE * dim,
                         s->v + i * IFM_KV_PAGE * dim);
    for (size_t h = 0; h < GROUP_MOST; h++)
        attend_rows(s->query + h * dim, s->k, s->v, s->rows, dim, s->rounded + h * dim);
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
    s.rounded = lines_of(GROUP_MOST * dim * sizeof(double));
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
    free(s->rounded);
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

/* Relative to the outputs, over all heads. */
static double error_of(const float *out, const double *reference, size_t n)
{
    double error2 = 0, reference2 = 0;
    for (size_t i = 0; i < n; i++) {
        error2 += pow((double)out[i] - reference[i], 2);
        reference2 += pow(reference[i], 2);
    }
    return sqrt(error2 / reference2);
}

static bool coded(const struct sample *s)
{
    return s->layout.format != IFM_KV_F16 && s->layout.format != IFM_KV_E4M3;
}

/* What a kernel may add in one case. f16, e4m3: sums of 256 products in f32, and weights of f32; more where scores are
 * large (`spread`, in units of log2): the error of a score is relative to it. The others, whose kernels may round
 * queries and weights too: a part of the error that rounding to the format makes in the same outputs. A head whose
 * weight lies on very few tokens leaves that part to chance, hence a third; what is asked on average is far less. */
static double tolerance_of(const struct sample *s, size_t n, double spread)
{
    const double plain = 2e-6 * fmax(spread, 1);
    if (!coded(s))
        return plain;
    double error2 = 0, reference2 = 0;
    for (size_t i = 0; i < n; i++) {
        error2 += pow(s->rounded[i] - s->reference[i], 2);
        reference2 += pow(s->reference[i], 2);
    }
    return plain + sqrt(error2 / reference2) * (s->layout.format == IFM_KV_INT8 ? 1.0 / 30 : 1.0 / 3);
}

/* Over all cases of a format and instruction set: sums of squared errors, of the kernel and of the format. */
static double kernel_error2[IFM_KV_FORMATS][IFM_ISA_LIMIT], format_error2[IFM_KV_FORMATS][IFM_ISA_LIMIT];

/* Each case counts alike: errors are of the kernel relative to the format's, in that case. */
static void add_up(const struct sample *s, size_t isa, const float *out, size_t n)
{
    double kernel2 = 0, format2 = 0;
    for (size_t i = 0; i < n; i++) {
        kernel2 += pow((double)out[i] - s->reference[i], 2);
        format2 += pow(s->rounded[i] - s->reference[i], 2);
    }
    kernel_error2[s->layout.format][isa] += kernel2 / format2;
    format_error2[s->layout.format][isa] += 1;
}

static const struct ifm_kernel *kernel_of(enum ifm_kv_format format, const char *isa)
{
    char op[32];
    snprintf(op, sizeof op, "kv_attend.%s", ifm_kv_format_name(format));
    return ifm_kernel_find(op, isa);
}

static void check(const struct sample *s, unsigned group, double spread)
{
    const size_t n = (size_t)group * s->layout.head_dim;
    const double tolerance = tolerance_of(s, n, spread);
    float *out = lines_of(n * sizeof *out);
    const char *const *isas;
    size_t n_isas;
    ifm_isas(&isas, &n_isas);
    for (size_t i = 0; i < n_isas; i++) {
        const struct ifm_kernel *kernel = kernel_of(s->layout.format, isas[i]);
        if (kernel == NULL)
            continue;
        attend(s, kernel, group, out);
        const double error = error_of(out, s->reference, n);
        if (coded(s))
            add_up(s, i, out, n);
        if (!(error <= tolerance))
            fail_msg("%s %s, D %u, group %u, %zu rows: error %.3g above %.3g", kernel->op, kernel->isa,
                     s->layout.head_dim, group, s->rows, error, tolerance);
    }
    free(out);
}

static void agrees_with_the_oracle_on_odd_shapes(void **unused)
{
    (void)unused;
    static const unsigned tokens[] = {1, 15, 16, 17, 63, 64, 65, 97, 127, 128};
    for (enum ifm_kv_format format = 0; format < IFM_KV_FORMATS; format++)
        for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++)
            for (size_t t = 0; t < sizeof tokens / sizeof tokens[0]; t++) {
                struct sample s = make(format, dims[d], 1 + (unsigned)t % PAGES, tokens[t], 2, 1, 1);
                for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
                    check(&s, groups[g], 2);
                drop(&s);
            }
}

/* Scores of +-300 (in units of log2), and scales from 1e-6 to 1e3: a wrong maximum overflows or loses everything. */
static void survives_extreme_scores_and_scales(void **unused)
{
    (void)unused;
    static const struct {
        double spread, k_scale, v_scale;
    } cases[] = {{300, 1, 1}, {60, 1, 1e3}, {2, 1, 1e-4}, {2, 1e3, 1}, {1e-3, 1, 1}, {2, 1e-3, 1e3}};
    for (enum ifm_kv_format format = 0; format < IFM_KV_FORMATS; format++)
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            for (unsigned dim = 64; dim <= 160; dim += 96) {
                struct sample s = make(format, dim, 2, 128, cases[i].spread, cases[i].k_scale, cases[i].v_scale);
                check(&s, 5, cases[i].spread);
                drop(&s);
            }
}

static void expect_nans(const struct sample *s, const char *what)
{
    enum { GROUP = 5 };
    const size_t dim = s->layout.head_dim;
    const char *const *isas;
    size_t n;
    float *out = lines_of(GROUP * dim * sizeof *out);
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_kernel *kernel = kernel_of(s->layout.format, isas[i]);
        if (kernel == NULL)
            continue;
        attend(s, kernel, GROUP, out);
        for (size_t j = 0; j < GROUP * dim; j++)
            if (!isnan(s->reference[j]) != !isnan(out[j]))
                fail_msg("%s %s: NaN in %s, output %zu is %g, wanted %g", kernel->op, kernel->isa, what, j,
                         (double)out[j], s->reference[j]);
    }
    free(out);
}

static void put_nan(struct sample *s, size_t section, size_t i)
{
    unsigned char *page = s->pages + s->layout.page_bytes; /* the second of three */
    if (s->layout.format == IFM_KV_E4M3 && (section == s->layout.k_scale || section == s->layout.v_scale))
        put_float(page, section, NAN);
    else if (s->layout.format == IFM_KV_E4M3)
        page[section + i] = i % 2 == 0 ? 0x7f : 0xff;
    else
        put_half(page, section, i, NAN);
}

/* What is NaN by the oracle is NaN, and nothing else. */
static void a_nan_comes_through(void **unused)
{
    (void)unused;
    for (enum ifm_kv_format format = 0; format < IFM_KV_FORMATS; format++) {
        struct sample s = make(format, 96, 3, 100, 2, 1, 1);
        s.query[2 * 96 + 7] = NAN;
        read_sample(&s);
        assert_true(isnan(s.reference[2 * 96]) && !isnan(s.reference[96]));
        expect_nans(&s, "a query");
        drop(&s);
        for (int which = 0; which < 5; which++) {
            static const char *const names[] = {"a scale of K", "a zero of K", "a scale of V", "K", "V"};
            const struct ifm_kv_layout l = ifm_kv_layout_of(format, 96);
            const size_t sections[] = {l.k_scale, l.k_zero, l.v_scale, l.k_codes, l.v_codes};
            if (which < 3 ? format == IFM_KV_F16 || (format == IFM_KV_E4M3 && which == 1)
                          : format != IFM_KV_F16 && format != IFM_KV_E4M3)
                continue;
            s = make(format, 96, 3, 100, 2, 1, 1);
            put_nan(&s, sections[which], 70);
            read_sample(&s);
            assert_true(isnan(s.reference[0]) || isnan(s.reference[64 + 70 % 32]) || isnan(s.reference[70 % 64]));
            expect_nans(&s, names[which]);
            drop(&s);
        }
    }
}

/* Tokens whose score is -inf weigh nothing; a page of such tokens changes nothing. */
static void minus_infinity_weighs_nothing(void **unused)
{
    (void)unused;
    enum { DIM = 64 };
    struct sample s = make(IFM_KV_F16, DIM, 3, 128, 2, 1, 1);
    for (size_t h = 0; h < GROUP_MOST; h++)
        s.query[h * DIM] = 0.1f;
    for (size_t t = 0; t < IFM_KV_WIDE; t++) /* the first page, and the first half of the third one */
        for (size_t block = 0; block < 2; block++) {
            put_half(s.pages, s.layout.k_codes, block * DIM * IFM_KV_WIDE + t, -INFINITY);
            if (block == 0)
                put_half(s.pages + 2 * s.layout.page_bytes, s.layout.k_codes, t, -INFINITY);
        }
    read_sample(&s);
    assert_true(isfinite(s.reference[0]));
    check(&s, 5, 2);
    drop(&s);
}

/* A kernel that skipped a token, or a comparison that could not see it, would pass everything above. */
static void one_changed_code_shows(void **unused)
{
    (void)unused;
    for (enum ifm_kv_format format = 0; format < IFM_KV_FORMATS; format++) {
        struct sample s = make(format, 64, 1, 2, 1, 1, 1);
        float before[64], after[64];
        const struct ifm_kernel *kernel = kernel_of(format, "auto");
        attend(&s, kernel, 1, before);
        s.pages[s.layout.v_codes + (format == IFM_KV_F16 ? 129 : format == IFM_KV_E4M3 ? 64 : 1)] ^= 0x02;
        attend(&s, kernel, 1, after);
        assert_memory_not_equal(before, after, sizeof before);
        drop(&s);
    }
}

/* A tenth of the format's error for int4 and int2, a hundredth for int8. Runs after the cases. */
static void adds_little_to_the_error_of_the_format(void **unused)
{
    (void)unused;
    static const double most[IFM_KV_FORMATS] = {0, 0.01, 0, 0.1, 0.1};
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t f = 0; f < IFM_KV_FORMATS; f++)
        for (size_t i = 0; i < n && most[f] > 0; i++) {
            if (kernel_of((enum ifm_kv_format)f, isas[i]) == NULL)
                continue;
            const double part = sqrt(kernel_error2[f][i] / format_error2[f][i]);
            print_message("%s %s: %.3g of the format's error\n", ifm_kv_format_name((enum ifm_kv_format)f), isas[i],
                          part);
            assert_true(part <= most[f]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle_on_odd_shapes),
        cmocka_unit_test(survives_extreme_scores_and_scales),
        cmocka_unit_test(a_nan_comes_through),
        cmocka_unit_test(minus_infinity_weighs_nothing),
        cmocka_unit_test(one_changed_code_shows),
        cmocka_unit_test(adds_little_to_the_error_of_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
