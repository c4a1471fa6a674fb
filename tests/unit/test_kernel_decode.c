/* Decode kernels against the f64 oracle: every instruction set of this machine, odd shapes, worker counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "workload/decode_oracle.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct problem {
    struct ifm_decode_job job;
    size_t outputs;
    float *q, *k, *v;
};

static float *floats(size_t n)
{
    float *memory = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
    assert_non_null(memory);
    return memory;
}

static float *normals(size_t n, uint32_t stream, double scale)
{
    float *memory = floats(n);
    struct ifm_random random = ifm_random_start(42, stream);
    for (size_t i = 0; i < n; i++)
        memory[i] = (float)(scale * ifm_random_normal(&random));
    return memory;
}

static struct problem make(struct ifm_decode_shape shape, double q_scale, unsigned most_workers)
{
    struct problem p = {.outputs = shape.batch * shape.q_heads * shape.head_dim};
    size_t cache = shape.batch * shape.kv_heads * shape.kv_len * shape.head_dim;
    p.q = normals(p.outputs, 1, q_scale);
    p.k = normals(cache, 2, 1);
    p.v = normals(cache, 3, 1);
    p.job = (struct ifm_decode_job){shape, p.q, p.k, p.v, floats(p.outputs), NULL};
    p.job.scratch = floats(ifm_decode_scratch_floats(&shape, most_workers));
    return p;
}

static void drop(struct problem *p)
{
    free(p->q);
    free(p->k);
    free(p->v);
    free(p->job.out);
    free(p->job.scratch);
}

static void run(struct problem *p, const struct ifm_kernel *kernel, unsigned workers)
{
    size_t scratch = ifm_decode_scratch_floats(&p->job.shape, workers);
    for (size_t i = 0; i < scratch; i++)
        p->job.scratch[i] = NAN; /* nothing may be read that was not written */
    for (size_t i = 0; i < p->outputs; i++)
        p->job.out[i] = NAN;
    for (unsigned i = workers; i-- > 0;) /* any order */
        kernel->fn.decode(&p->job, i, workers);
    ifm_decode_merge(&p->job, workers);
}

static double *oracle(const struct problem *p)
{
    const struct ifm_decode_shape *s = &p->job.shape;
    double *reference = malloc(p->outputs * sizeof *reference), *weights = malloc(s->kv_len * sizeof *weights);
    assert_non_null(reference);
    assert_non_null(weights);
    for (uint64_t pair = 0; pair < s->batch * s->q_heads; pair++)
        ifm_decode_oracle(&p->job, pair / s->q_heads, pair % s->q_heads, weights, reference + pair * s->head_dim);
    free(weights);
    return reference;
}

static void compare(const struct problem *p, const double *reference, double tolerance, const char *isa,
                    unsigned workers)
{
    double error2 = 0, reference2 = 0;
    for (size_t i = 0; i < p->outputs; i++) {
        assert_true(isfinite(p->job.out[i]));
        error2 += pow((double)p->job.out[i] - reference[i], 2);
        reference2 += pow(reference[i], 2);
    }
    const struct ifm_decode_shape *s = &p->job.shape;
    if (!(sqrt(error2 / reference2) <= tolerance))
        fail_msg("%s, %u workers, B%llu H%llu/%llu S%llu D%llu: error %.3g above %.3g", isa, workers,
                 (unsigned long long)s->batch, (unsigned long long)s->q_heads, (unsigned long long)s->kv_heads,
                 (unsigned long long)s->kv_len, (unsigned long long)s->head_dim, sqrt(error2 / reference2), tolerance);
}

static void check_shape(struct ifm_decode_shape shape, double q_scale, double tolerance)
{
    enum { WORKERS = 7 };
    struct problem p = make(shape, q_scale, WORKERS);
    double *reference = oracle(&p);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n; i++)
        for (unsigned workers = 1; workers <= WORKERS; workers += workers < 3 ? 1 : 4) {
            run(&p, ifm_kernel_find("decode.online", isas[i]), workers);
            compare(&p, reference, tolerance, isas[i], workers);
        }
    free(reference);
    drop(&p);
}

static void agrees_with_the_oracle_on_odd_shapes(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = {1, 2, 3, 5, 127, 128, 129, 257, 521};
    static const uint64_t groups[] = {1, 3, 4, 8};
    static const uint64_t dims[] = {32, 40, 64, 72, 96, 128, 256};
    for (size_t s = 0; s < sizeof lengths / sizeof lengths[0]; s++)
        for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
            for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++)
                check_shape((struct ifm_decode_shape){1, 2 * groups[g], 2, lengths[s], dims[d]}, 1, 1e-6);
}

static void agrees_on_batches_and_groups_of_any_size(void **unused)
{
    (void)unused;
    check_shape((struct ifm_decode_shape){3, 5, 5, 300, 64}, 1, 1e-6);
    check_shape((struct ifm_decode_shape){2, 21, 3, 1031, 128}, 1, 1e-6);
    check_shape((struct ifm_decode_shape){5, 71, 1, 140, 40}, 1, 1e-6);
}

/* Scores of +-80: weights from 1 to e^-160, where a wrong maximum overflows or loses everything. A score's rounding
 * error is relative to the score, so the bound is wider. */
static void survives_extreme_scores(void **unused)
{
    (void)unused;
    check_shape((struct ifm_decode_shape){1, 8, 2, 1031, 128}, 25, 2e-5);
    check_shape((struct ifm_decode_shape){1, 2, 2, 130, 64}, 60, 5e-5);
    check_shape((struct ifm_decode_shape){1, 2, 2, 130, 64}, 1e-6, 1e-6);
}

static void is_the_same_every_time(void **unused)
{
    (void)unused;
    struct problem p = make((struct ifm_decode_shape){1, 8, 2, 1000, 128}, 1, 3);
    float *first = floats(p.outputs);
    for (unsigned workers = 1; workers <= 3; workers++) {
        run(&p, ifm_kernel_find("decode.online", "auto"), workers);
        memcpy(first, p.job.out, p.outputs * sizeof *first);
        run(&p, ifm_kernel_find("decode.online", "auto"), workers);
        assert_memory_equal(first, p.job.out, p.outputs * sizeof *first);
    }
    free(first);
    drop(&p);
}

/* A kernel that skipped a row, or a comparison that could not see it, would pass everything above. */
static void one_changed_row_shows(void **unused)
{
    (void)unused;
    struct problem p = make((struct ifm_decode_shape){1, 4, 1, 257, 64}, 1, 2);
    double *before = oracle(&p);
    for (size_t d = 0; d < 64; d++)
        p.v[256 * 64 + d] += 1;
    run(&p, ifm_kernel_find("decode.online", "auto"), 2);
    double difference = 0;
    for (size_t i = 0; i < p.outputs; i++)
        difference = fmax(difference, fabs((double)p.job.out[i] - before[i]));
    assert_true(difference > 1e-4);
    free(before);
    drop(&p);
}

static void shares_cover_every_block_once(void **unused)
{
    (void)unused;
    struct ifm_decode_shape shape = {3, 10, 5, 1000, 64};
    for (unsigned workers = 1; workers <= 200; workers++) {
        uint64_t at = 0, most = 0, least = UINT64_MAX;
        for (unsigned i = 0; i < workers; i++) {
            struct ifm_decode_share share = ifm_decode_share_of(&shape, i, workers);
            assert_int_equal(share.from, at);
            at = share.to;
            most = share.to - share.from > most ? share.to - share.from : most;
            least = share.to - share.from < least ? share.to - share.from : least;
        }
        assert_int_equal(at, 3 * 5 * ((1000 + IFM_DECODE_BLOCK - 1) / IFM_DECODE_BLOCK));
        assert_true(most - least <= 1);
    }
}

static void checked_pairs_visit_every_head_of_a_group(void **unused)
{
    (void)unused;
    struct ifm_decode_shape shape = {1, 32, 8, 1 << 20, 128};
    bool seen[4] = {false};
    uint64_t n = ifm_decode_pairs(&shape);
    assert_int_equal(n, 8);
    for (uint64_t i = 0; i < n; i++) {
        assert_true(ifm_decode_pair(&shape, i) < 32);
        assert_true(i == 0 || ifm_decode_pair(&shape, i) > ifm_decode_pair(&shape, i - 1));
        seen[ifm_decode_pair(&shape, i) % 4] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    shape.kv_len = 100;
    assert_int_equal(ifm_decode_pairs(&shape), 32);
    for (uint64_t i = 0; i < 32; i++)
        assert_int_equal(ifm_decode_pair(&shape, i), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_oracle_on_odd_shapes),
        cmocka_unit_test(agrees_on_batches_and_groups_of_any_size),
        cmocka_unit_test(survives_extreme_scores),
        cmocka_unit_test(is_the_same_every_time),
        cmocka_unit_test(one_changed_row_shows),
        cmocka_unit_test(shares_cover_every_block_once),
        cmocka_unit_test(checked_pairs_visit_every_head_of_a_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
