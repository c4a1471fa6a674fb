/* Kernels of gemm against the f64 product of the weights as they are stored: every format, instruction set, number of
 * activations and odd shape; the stored bytes against a reading written out here; scales, NaN and infinity. */
#include "base/half.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct problem {
    struct ifm_gemm_job job;
    float *x, *w;    /* w: before it was stored */
    double *exact;   /* [m][n], of the stored weights */
    double *allowed; /* [m][n]: the largest error that rounding explains */
};

static void *lines(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);
    assert_non_null(memory);
    memset(memory, 0xff, (bytes + 64) / 64 * 64); /* NaN in every floating format */
    return memory;
}

static float *normals(size_t n, uint32_t stream, double scale)
{
    float *memory = lines(n * sizeof(float));
    struct ifm_random random = ifm_random_start(43, stream);
    for (size_t i = 0; i < n; i++)
        memory[i] = (float)(scale * ifm_random_normal(&random) * (i % 61 == 7 ? 12 : 1));
    return memory;
}

static bool grouped(enum ifm_gemm_format format)
{
    return format == IFM_GEMM_INT8 || format == IFM_GEMM_INT4;
}

/* Half a step of the activations' codes in every product of a group, with the weights as they are. */
static double half_steps(const struct ifm_gemm_shape *s, const float *x, const float *w)
{
    double sum = 0;
    for (uint64_t g = 0; grouped(s->format) && g < s->k; g += s->group) {
        double largest = 0, weights = 0;
        for (uint64_t k = g; k < s->k && k < g + s->group; k++) {
            largest = fmax(largest, fabs((double)x[k]));
            weights += fabs((double)w[k]);
        }
        sum += largest / 32639 / 2 * weights;
    }
    return sum;
}

static void solve(struct problem *p)
{
    const struct ifm_gemm_shape *s = &p->job.shape;
    float *row = lines(s->k * sizeof(float));
    for (uint64_t n = 0; n < s->n; n++) {
        ifm_gemm_decode(s, p->job.w, n, row);
        for (uint64_t m = 0; m < s->m; m++) {
            double sum = 0, squares = 0;
            for (uint64_t k = 0; k < s->k; k++) {
                const double product = (double)row[k] * (double)p->x[m * s->k + k];
                sum += product;
                squares += product * product;
            }
            p->exact[m * s->n + n] = sum;
            /* Sums of f32 add their errors like random steps; a whole group's scale has two roundings more. */
            p->allowed[m * s->n + n] = 0x1p-24 * (4 * sqrt((double)s->k) * sqrt(squares) + 4 * fabs(sum)) +
                                       1.001 * half_steps(s, p->x + m * s->k, row);
        }
    }
    free(row);
}

static struct problem make(struct ifm_gemm_shape s, double x_scale, double w_scale)
{
    struct problem p = {.job.shape = s, .x = normals(s.m * s.k, 1, x_scale), .w = normals(s.n * s.k, 2, w_scale)};
    void *stored = lines(ifm_gemm_bytes(&s));
    p.exact = lines(s.m * s.n * sizeof(double));
    p.allowed = lines(s.m * s.n * sizeof(double));
    for (uint64_t row = 0; row < s.n; row += 32) /* in pieces, as workers do it */
        ifm_gemm_encode(&s, row, s.n - row < 32 ? s.n - row : 32, p.w + row * s.k, stored);
    p.job.x = p.x;
    p.job.w = stored;
    p.job.out = lines(s.m * s.n * sizeof(float));
    p.job.scratch = lines(ifm_gemm_scratch_bytes(&s, 8));
    solve(&p);
    return p;
}

static void drop(struct problem *p)
{
    free(p->x);
    free(p->w);
    free((void *)(uintptr_t)p->job.w);
    free(p->job.out);
    free(p->job.scratch);
    free(p->exact);
    free(p->allowed);
}

static const struct ifm_kernel *kernel_of(enum ifm_gemm_format format, const char *isa)
{
    char op[16];
    snprintf(op, sizeof op, "gemm.%s", ifm_gemm_format_name(format));
    return ifm_kernel_find(op, isa);
}

static void run(struct problem *p, const struct ifm_kernel *kernel, unsigned workers)
{
    const struct ifm_gemm_shape *s = &p->job.shape;
    for (size_t i = 0; i < s->m * s->n; i++)
        p->job.out[i] = NAN;
    memset(p->job.scratch, 0xff, ifm_gemm_scratch_bytes(s, workers));
    for (unsigned i = workers; i-- > 0;) /* any order */
        kernel->fn.gemm(&p->job, i, workers);
}

/* Largest error in units of what is allowed. */
static double worst(const struct problem *p)
{
    double most = 0;
    for (size_t i = 0; i < p->job.shape.m * p->job.shape.n; i++) {
        const double error = fabs((double)p->job.out[i] - p->exact[i]);
        const double share = error > 0 || isnan(error) ? error / p->allowed[i] : 0;
        most = share > most || isnan(share) ? share : most;
    }
    return most;
}

static void check_shape(struct ifm_gemm_shape s, double x_scale, double w_scale)
{
    struct problem p = make(s, x_scale, w_scale);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_kernel *kernel = kernel_of(s.format, isas[i]);
        if (kernel == NULL && s.format != IFM_GEMM_F16)
            assert_string_equal(isas[i], "sse2");
        for (unsigned workers = 1; kernel != NULL && workers <= 5; workers += workers < 3 ? 1 : 2) {
            run(&p, kernel, workers);
            const double error = worst(&p);
            if (!(error <= 1))
                fail_msg("%s %s, %u workers, m %llu n %llu k %llu group %u: error %.3g of what is allowed", kernel->op,
                         isas[i], workers, (unsigned long long)s.m, (unsigned long long)s.n, (unsigned long long)s.k,
                         s.group, error);
        }
    }
    drop(&p);
}

static void agrees_with_the_oracle_on_odd_shapes(void **state)
{
    (void)state;
    static const uint64_t ms[] = {1, 2, 3, 5, 8, 4, 6, 7};
    static const uint64_t shapes[][2] = {{1, 1},    {15, 31},  {16, 32},  {17, 127},
                                         {64, 128}, {33, 129}, {79, 331}, {128, 640}};
    for (int format = 0; format < IFM_GEMM_FORMATS; format++)
        for (size_t m = 0; m < sizeof ms / sizeof *ms; m++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
                for (unsigned group = grouped((enum ifm_gemm_format)format) ? 32 : 128; group <= 128; group *= 2)
                    check_shape(
                        (struct ifm_gemm_shape){ms[m], shapes[i][0], shapes[i][1], group, (enum ifm_gemm_format)format},
                        1, 0.1);
}

static void agrees_at_extreme_scales(void **state)
{
    (void)state;
    static const double scales[][2] = {{1e30, 1e-4}, {1e-30, 1e-4}, {1e-3, 1e3}, {1e30, 1}, {1e-30, 100}};
    for (int format = 0; format < IFM_GEMM_FORMATS; format++)
        for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
            check_shape((struct ifm_gemm_shape){3, 33, 257, 64, (enum ifm_gemm_format)format}, scales[i][0],
                        scales[i][1]);
}

/* The largest sums that 32 bits must hold: every product at its largest, all of one sign. */
static void sums_do_not_overflow(void **state)
{
    (void)state;
    for (int format = IFM_GEMM_INT8; format <= IFM_GEMM_INT4; format++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct ifm_gemm_shape s = {5, 16, 256, 128, (enum ifm_gemm_format)format};
            struct problem p = make(s, 1, 1);
            for (size_t i = 0; i < s.m * s.k; i++)
                p.x[i] = (float)(sign * 3);
            for (size_t i = 0; i < s.n * s.k; i++)
                p.w[i] = 5;
            ifm_gemm_encode(&s, 0, s.n, p.w, (void *)(uintptr_t)p.job.w);
            solve(&p);
            const char *const *isas;
            size_t n;
            ifm_isas(&isas, &n);
            for (size_t i = 0; i < n; i++)
                if (kernel_of(s.format, isas[i]) != NULL) {
                    run(&p, kernel_of(s.format, isas[i]), 1);
                    /* equal codes: nothing is rounded but the scales */
                    for (size_t o = 0; o < s.m * s.n; o++)
                        assert_true(fabs((double)p.job.out[o] / p.exact[o] - 1) < 1e-6);
                }
            drop(&p);
        }
}

/* A number that is none shows in every output of its row of x, or of its row of w, and in no other. */
static void what_is_no_number_shows(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int format = 0; format < IFM_GEMM_FORMATS; format++)
        for (size_t b = 0; b < 3; b++)
            for (int in_w = 0; in_w < 2; in_w++) {
                struct ifm_gemm_shape s = {3, 37, 200, 64, (enum ifm_gemm_format)format};
                struct problem p = make(s, 1, 1);
                (in_w ? p.w : p.x)[1 * s.k + 150] = bad[b];
                ifm_gemm_encode(&s, 0, s.n, p.w, (void *)(uintptr_t)p.job.w);
                const char *const *isas;
                size_t n;
                ifm_isas(&isas, &n);
                for (size_t i = 0; i < n; i++) {
                    if (kernel_of(s.format, isas[i]) == NULL)
                        continue;
                    run(&p, kernel_of(s.format, isas[i]), 2);
                    for (size_t at = 0; at < s.m * s.n; at++) {
                        const bool hit = (in_w ? at % s.n : at / s.n) == 1;
                        assert_int_equal(isfinite(p.job.out[at]) == 0, hit);
                    }
                }
                drop(&p);
            }
}

/* The layout in gemm.h, read anew. */
static float read_weight(const struct ifm_gemm_shape *s, const unsigned char *bytes, uint64_t row, uint64_t k)
{
    const uint64_t groups = (s->k + s->group - 1) / s->group, g = k / s->group, in = k % s->group;
    const uint64_t codes = s->format == IFM_GEMM_INT4 ? s->group * 8 : s->group * 16;
    const unsigned char *panel = bytes + row / 16 * ((groups + 1) / 2 * 64 + groups * codes);
    const unsigned char *pair = panel + g / 2 * (64 + 2 * codes);
    uint16_t scale;
    memcpy(&scale, pair + g % 2 * 32 + row % 16 * 2, 2);
    const unsigned char *line = pair + 64 + g % 2 * codes;
    if (s->format == IFM_GEMM_INT8)
        return ifm_f16_to_f32(scale) * (float)(line[in / 4 * 64 + row % 16 * 4 + in % 4] - 128);
    const unsigned byte = line[in / 8 * 64 + row % 16 * 4 + in % 4];
    return ifm_f16_to_f32(scale) * (float)((int)(in % 8 < 4 ? byte & 15 : byte >> 4) - 8);
}

static void stores_what_the_header_says(void **state)
{
    (void)state;
    for (int format = IFM_GEMM_INT8; format <= IFM_GEMM_INT4; format++) {
        struct ifm_gemm_shape s = {1, 35, 211, 32, (enum ifm_gemm_format)format};
        struct problem p = make(s, 1, 0.3);
        float row[211];
        double error = 0, total = 0;
        for (uint64_t n = 0; n < s.n; n++) {
            ifm_gemm_decode(&s, p.job.w, n, row);
            for (uint64_t k = 0; k < s.k; k++) {
                assert_true(row[k] == read_weight(&s, p.job.w, n, k));
                error += pow((double)row[k] - (double)p.w[n * s.k + k], 2);
                total += pow((double)p.w[n * s.k + k], 2);
            }
        }
        /* Uniform steps of 2 largest / 254 or 14; the largest of 32 is some 12 times a usual one here. */
        assert_true(sqrt(error / total) < (format == IFM_GEMM_INT8 ? 0.012 : 0.2));
        assert_true(sqrt(error / total) > (format == IFM_GEMM_INT8 ? 0.001 : 0.02));
        drop(&p);
    }
}

static void sizes(void **state)
{
    (void)state;
    struct ifm_gemm_shape s = {1, 4096, 4096, 128, IFM_GEMM_F32};
    assert_int_equal(ifm_gemm_bytes(&s), 4096ULL * 4096 * 4);
    s.format = IFM_GEMM_BF16;
    assert_int_equal(ifm_gemm_bytes(&s), 4096ULL * 4096 * 2);
    s.format = IFM_GEMM_INT8; /* 2 bytes of scale for 128 weights */
    assert_int_equal(ifm_gemm_bytes(&s), 4096ULL * 4096 + 4096 * 32 * 2);
    s.format = IFM_GEMM_INT4;
    assert_int_equal(ifm_gemm_bytes(&s), 4096ULL * 4096 / 2 + 4096 * 32 * 2);
    s.n = UINT64_MAX / 8;
    assert_true(ifm_gemm_bytes(&s) == UINT64_MAX);
    uint64_t next = 0;
    for (unsigned i = 0; i < 7; i++) {
        const struct ifm_gemm_share share = ifm_gemm_share_of(333, i, 7);
        assert_int_equal(share.from, next);
        assert_true(i == 6 || share.to % IFM_GEMM_PANEL == 0);
        next = share.to;
    }
    assert_int_equal(next, 333);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle_on_odd_shapes),
        cmocka_unit_test(agrees_at_extreme_scales),
        cmocka_unit_test(sums_do_not_overflow),
        cmocka_unit_test(what_is_no_number_shows),
        cmocka_unit_test(stores_what_the_header_says),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
