/* Inputs that are hard for kernels of a GPU, written into the memory of an open arm, and its outputs held against sums
 * in f64 of this program. Include after cmocka, opened.h, planted.h and planted_cuda.h.
 *
 * Memory is reached through the device alone, so that these programs run on a GPU too (tools/portable.sh). In a build's
 * tests the driver is the one of tests/fake_cuda: its kernels are C, and what runs is the test and the launches. */
#ifndef IFM_TESTS_HARD_CUDA_H
#define IFM_TESTS_HARD_CUDA_H

#include "base/random.h"

#define MOST_F16 65504.0f
#define LEAST_F16 0x1p-24f

enum hard_size { HARD_PLAIN, HARD_OUTLIERS, HARD_LARGEST, HARD_SUBNORMAL, HARD_SIZES };
static const char *const hard_names[HARD_SIZES] = {"plain", "outlier channels", "up to the largest", "subnormal"};

/* Rows of `dim` values, each what an f16 or a bf16 near it is. Of outliers every 16th channel is 40 times larger. */
static inline void hard_fill(struct ifm_random *random, enum hard_size size, bool is_bf16, size_t dim, size_t n,
                             uint16_t *bits, float *values)
{
    for (size_t i = 0; i < n; i++) {
        float x = (float)ifm_random_normal(random);
        if (size == HARD_OUTLIERS && i % dim % 16 == 3)
            x *= 40;
        if (size == HARD_LARGEST)
            x = x > 1.5f ? MOST_F16 : x < -1.5f ? -MOST_F16 : x * 0.6f * MOST_F16;
        if (size == HARD_SUBNORMAL)
            x = roundf(x * 200) * LEAST_F16;
        bits[i] = is_bf16 ? ifm_f32_to_bf16(x) : ifm_f32_to_f16(x);
        values[i] = is_bf16 ? ifm_bf16_to_f32(bits[i]) : ifm_f16_to_f32(bits[i]);
    }
}

/* What is said of an arm where it fails. */
struct hard_case {
    const char *workload, *arm, *what;
    double tolerance; /* of the length of a row */
    double floor;     /* of a value: half of what outputs are rounded to */
    float most;       /* outputs beyond it are infinite */
};

static inline bool same_kind(const struct hard_case *c, float got, double want)
{
    if (isnan(want))
        return isnan(got);
    if (fabs(want) > (double)c->most * (1 + 0x1p-11))
        return isinf(got) && (got > 0) == (want > 0);
    return fabs(want) > (double)c->most * (1 - 0x1p-9) ? !isnan(got) : isfinite(got);
}

/* NaN exactly where it belongs, infinity likewise, and the error of all else by rows. */
static inline void hard_compare(const struct hard_case *c, const float *got, const double *want, size_t rows,
                                size_t dim)
{
    for (size_t row = 0; row < rows; row++) {
        double wrong = 0, right = 0;
        for (size_t i = row * dim; i < (row + 1) * dim; i++) {
            if (!same_kind(c, got[i], want[i]))
                fail_msg("%s %s, %s: row %zu, value %zu is %g and not %g", c->workload, c->arm, c->what, row,
                         i - row * dim, (double)got[i], want[i]);
            if (!isfinite(got[i]) || !isfinite(want[i]))
                continue;
            wrong += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
            right += want[i] * want[i];
        }
        if (sqrt(wrong) > c->tolerance * sqrt(right) + c->floor * sqrt((double)dim))
            fail_msg("%s %s, %s: row %zu is off by %g of %g", c->workload, c->arm, c->what, row, sqrt(wrong),
                     sqrt(right));
    }
}

/* What is asked of each arm of a cell: `n` inputs of `bytes` each, one behind the other. */
typedef void hard_fn(const struct opened *opened, const void *asked);
struct hard_list {
    hard_fn *call;
    const void *asked;
    size_t n, bytes;
};
#define HARD_LIST(call, asked)                                                                                         \
    &(const struct hard_list)                                                                                          \
    {                                                                                                                  \
        call, asked, COUNT(asked), sizeof *(asked)                                                                     \
    }

/* A sanitizer sees one input in four of each arm, and others of the next one. */
#ifdef SANITIZED
enum { HARD_EACH = 4 };
#else
enum { HARD_EACH = 1 };
#endif

/* All of the list for each arm, open on the device without graphs. */
static inline void hard_each(struct bench *bench, const struct ifm_workload *workload, const char *text,
                             const struct hard_list *list)
{
    struct ifm_setting settings[PLANTED_SETTINGS];
    const size_t n =
        planted_settings(bench->arena, ifm_arena_printf(bench->arena, "%s.", workload->name), text, settings);
    const struct ifm_device_options options = planted_options(true);
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    if (workload->describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error) != IFM_OK)
        fail_msg("%s: %s", text, error.message);
    if (why_not != NULL)
        fail_msg("%s: %s", text, why_not);
    assert_true(arms.n > 0);
    give_settings(&arms, settings, n);
    struct ifm_device *device; /* one for all arms: opening takes 0.4 s of a GPU */
    if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK)
        fail_msg("%s: %s", text, error.message);
    for (size_t i = 0; i < arms.n; i++) {
        struct opened opened;
        if (open_arm_on(workload, &arms.items[i], "cuda", device, 1, 7, bench->arena, &opened, &error) != IFM_OK)
            fail_msg("%s %s: %s", text, arms.items[i].name, error.message);
        for (size_t j = i % HARD_EACH; j < list->n; j += HARD_EACH)
            list->call(&opened, (const char *)list->asked + j * list->bytes);
        ifm_implementation_close(opened.by, opened.state);
    }
    device->ops->close(device);
}

/* Two steps, each over spoiled outputs: the bytes of the second, which must be those of the first. */
static inline void *hard_steps(const struct opened *opened, const struct hard_case *c, const void *at, size_t bytes)
{
    void *first = malloc(bytes), *second = malloc(bytes);
    assert_true(first != NULL && second != NULL);
    for (int i = 0; i < 2; i++) {
        opened->by->spoil(opened->state, true);
        opened->by->step(opened->state, 1);
        planted_read(opened->opening.device, i == 0 ? first : second, at, bytes);
    }
    if (memcmp(first, second, bytes) != 0)
        fail_msg("%s %s, %s: other bytes in the second step", c->workload, c->arm, c->what);
    free(first);
    return second;
}

static inline float *hard_widen(const uint16_t *bits, size_t n, bool is_bf16)
{
    float *out = malloc(n * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        out[i] = is_bf16 ? ifm_bf16_to_f32(bits[i]) : ifm_f16_to_f32(bits[i]);
    return out;
}

#endif
