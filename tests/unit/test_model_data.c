/* Data like a model's: the distribution that docs/model-data.md promises, and that values depend on nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/hash.h"
#include "unit/vectors.h"
#include "workload/data/model_data.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { D = 128, HALF = D / 2, BLOCKS = 512, TOKENS = BLOCKS * IFM_MODEL_BLOCK };

static const struct ifm_model_data plain = {.seed = 7, .head_dim = D, .kv_heads = 4, .outlier = 1};
static const struct ifm_model_data amplified = {.seed = 7, .head_dim = D, .kv_heads = 4, .outlier = IFM_MODEL_OUTLIER};

/* All NaN, so that what is not written shows. */
static float *rows_of(size_t n)
{
    float *x = malloc(n * sizeof *x);
    assert_non_null(x);
    memset(x, 0xff, n * sizeof *x);
    return x;
}

struct moments {
    double mean, variance, kurtosis, lag; /* lag: correlation of neighbours inside a block */
};

/* Of channel c of rows [tokens][D]. */
static struct moments moments_of(const float *x, unsigned tokens, unsigned c)
{
    double sum = 0, square = 0, fourth = 0, product = 0;
    for (unsigned t = 0; t < tokens; t++)
        sum += (double)x[(size_t)t * D + c];
    const double mean = sum / tokens;
    unsigned pairs = 0;
    for (unsigned t = 0; t < tokens; t++) {
        const double d = (double)x[(size_t)t * D + c] - mean;
        square += d * d;
        fourth += d * d * d * d;
        if (t % IFM_MODEL_BLOCK != 0) {
            product += d * ((double)x[(size_t)(t - 1) * D + c] - mean);
            pairs++;
        }
    }
    const double variance = square / tokens;
    return (struct moments){mean, variance, fourth / tokens / (variance * variance), product / pairs / variance};
}

/* Turn the rows back by RoPE's definition in f64: the channels as they were before it. */
static void turn_back(float *k, uint64_t first, unsigned tokens)
{
    for (unsigned t = 0; t < tokens; t++)
        for (unsigned c = 0; c < HALF; c++) {
            const double angle = (double)(first + t) * pow(10000, -2.0 * c / D);
            float *row = k + (size_t)t * D;
            const double low = (double)row[c], high = (double)row[c + HALF];
            row[c] = (float)(low * cos(angle) + high * sin(angle));
            row[c + HALF] = (float)(high * cos(angle) - low * sin(angle));
        }
}

static bool is_large(const uint32_t *channels, unsigned n, uint32_t c)
{
    for (unsigned i = 0; i < n; i++)
        if (channels[i] == c)
            return true;
    return false;
}

/* The standard error of a mean of an autoregression of N values is sqrt((1 + rho) / (1 - rho) / N); 5 of them. */
static void keys_have_the_stated_distribution(void **state)
{
    (void)state;
    float *k = rows_of((size_t)TOKENS * D);
    uint32_t large[D];
    const unsigned n = ifm_model_key_outliers(&amplified, 3, 9, large);
    assert_int_equal(n, D / 32);
    ifm_model_kv(&amplified, 3, 9, 0, TOKENS, k, NULL);
    turn_back(k, 0, TOKENS);
    unsigned found = 0;
    for (unsigned c = 0; c < D; c++) {
        const struct moments m = moments_of(k, TOKENS, c);
        const double size = is_large(large, n, c) ? 12 : 1;
        found += m.variance > 36;
        near_to(m.mean / size, 0, 5 * sqrt(3.0 / TOKENS));
        near_to(m.variance / (size * size), 1, 0.04);
        near_to(m.lag, 0.5, 0.025);
        near_to(m.kurtosis, 2.8, 0.12); /* 3 - 0.3, nearer to 3 by the sum of successive ones */
    }
    assert_int_equal(found, n);
    free(k);
}

static void values_have_the_stated_distribution(void **state)
{
    (void)state;
    float *v = rows_of((size_t)TOKENS * D);
    ifm_model_kv(&amplified, 3, 9, 0, TOKENS, NULL, v);
    double least = 9, most = 0, sum = 0;
    for (unsigned c = 0; c < D; c++) {
        const struct moments m = moments_of(v, TOKENS, c);
        const double size = sqrt(m.variance);
        near_to(m.mean, 0, 1.25 * 5 * sqrt(3.0 / TOKENS));
        near_to(m.lag, 0.5, 0.025);
        least = fmin(least, size);
        most = fmax(most, size);
        sum += size;
    }
    near_to(least, 0.75, 0.04);
    near_to(most, 1.25, 0.04);
    near_to(sum / D, 1, 0.06); /* 4.5 standard errors of a uniform spread of 0.5 */
    /* Blocks start afresh. */
    double product = 0, square = 0;
    for (unsigned b = 1; b < BLOCKS; b++)
        for (unsigned c = 0; c < D; c++) {
            const float *start = v + (size_t)b * IFM_MODEL_BLOCK * D;
            product += (double)start[c] * (double)(start - D)[c];
            square += (double)start[c] * (double)start[c];
        }
    near_to(product / square, 0, 5 / sqrt((double)BLOCKS * D));
    free(v);
}

/* How far x is from a multiple of the generator's step: the least difference of two sums of four bytes. */
static double off_lattice(double x)
{
    const double steps = x / 6.7658752e-3;
    return fabs(steps - nearbyint(steps));
}

/* Turned back by the definition of RoPE, in f64 and far out, where a sum of steps would have drifted, the keys obey the
 * autoregression with innovations on the generator's lattice: within a quarter of a step, which covers f16's rounding
 * of values below 1. An angle off by 0.001 leaves the lattice. */
static void far_keys_are_those_of_the_definition(void **state)
{
    (void)state;
    enum { FAR = 1 << 20 };
    float *k = rows_of((size_t)IFM_MODEL_BLOCK * D);
    unsigned seen = 0;
    ifm_model_kv(&plain, 0, 0, FAR, IFM_MODEL_BLOCK, k, NULL);
    turn_back(k, FAR, IFM_MODEL_BLOCK);
    for (unsigned t = 0; t < IFM_MODEL_BLOCK; t++)
        for (unsigned c = 0; c < D; c++) {
            const unsigned partner = (c + HALF) % D;
            const float *now = k + (size_t)t * D, *before = t > 0 ? now - D : now;
            if (fabsf(now[c]) > 1 || fabsf(now[partner]) > 1 || fabsf(before[c]) > 1 || fabsf(before[partner]) > 1)
                continue;
            const double fresh = t == 0 ? (double)now[c] : ((double)now[c] - 0.5 * (double)before[c]) / sqrt(0.75);
            assert_true(off_lattice(fresh) < 0.25);
            seen++;
        }
    assert_true(seen > 3000);
    free(k);
}

static void far_queries_are_those_of_the_definition(void **state)
{
    (void)state;
    unsigned seen = 0;
    for (uint64_t position = 0; position < UINT64_C(1) << 24; position = 3 * position + 1) {
        float q[2 * D];
        memset(q, 0xff, sizeof q);
        ifm_model_queries(&plain, 0, 0, position, 2, q);
        turn_back(q, position, 1);
        for (unsigned c = 0; c < HALF; c++)
            if (fabsf(q[c]) < 1 && fabsf(q[c + HALF]) < 1) {
                assert_true(off_lattice((double)q[c]) < 0.25);
                assert_true(off_lattice((double)q[c + HALF]) < 0.25);
                seen++;
            }
    }
    assert_true(seen > 300);
}

static void queries_are_independent_and_of_variance_one(void **state)
{
    (void)state;
    enum { N = 20000, HEADS = 4 };
    static float q[HEADS * D];
    double sum = 0, square = 0, heads = 0, positions = 0;
    static float last[HEADS * D];
    for (unsigned p = 0; p < N; p++) {
        memset(q, 0xff, sizeof q);
        ifm_model_queries(&amplified, 1, 2, p, HEADS, q);
        for (unsigned i = 0; i < HEADS * D; i++) {
            sum += (double)q[i];
            square += (double)q[i] * (double)q[i];
            heads += i >= D ? (double)q[i] * (double)q[i - D] : 0;
            positions += (double)q[i] * (double)last[i];
        }
        memcpy(last, q, sizeof q);
    }
    const double count = (double)N * HEADS * D, bound = 5 / sqrt(count);
    near_to(sum / count, 0, bound);
    near_to(square / count, 1, 2 * bound);
    near_to(heads / count, 0, bound);
    near_to(positions / count, 0, bound);
}

static double correlation(const float *a, const float *b, size_t n)
{
    double product = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        product += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return product / sqrt(aa * bb);
}

/* Keys, values, other layers, pairs, blocks and seeds do not resemble each other. */
static void streams_are_independent(void **state)
{
    (void)state;
    enum { N = 16 * IFM_MODEL_BLOCK, STREAMS = 7 };
    struct ifm_model_data other = plain;
    other.seed++;
    float *x[STREAMS];
    for (unsigned i = 0; i < STREAMS; i++)
        x[i] = rows_of((size_t)N * D);
    ifm_model_kv(&plain, 0, 0, 0, N, x[0], x[1]);
    ifm_model_kv(&plain, 1, 0, 0, N, x[2], NULL);
    ifm_model_kv(&plain, 0, 1, 0, N, x[3], NULL);
    ifm_model_kv(&plain, 0, 4, 0, N, x[4], NULL); /* the same head of another sequence */
    ifm_model_kv(&plain, 0, 0, N, N, x[5], NULL);
    ifm_model_kv(&other, 0, 0, 0, N, x[6], NULL);
    /* Neighbours resemble each other, which widens the bound by sqrt((1 + rho^2) / (1 - rho^2)) = 1.3. */
    for (unsigned i = 0; i < STREAMS; i++)
        for (unsigned j = 0; j < i; j++)
            near_to(correlation(x[i], x[j], (size_t)N * D), 0, 1.3 * 5 / sqrt((double)N * D));
    const size_t block = (size_t)IFM_MODEL_BLOCK * D;
    near_to(correlation(x[1], x[1] + block, block), 0, 1.3 * 5 / sqrt((double)block));
    for (unsigned i = 0; i < STREAMS; i++)
        free(x[i]);
}

/* The large channels are those of the head, whatever the sequence; heads, layers and seeds differ. */
static void large_channels_follow_the_head(void **state)
{
    (void)state;
    uint32_t a[D], b[D];
    struct ifm_model_data other = amplified;
    unsigned same = 0, seen[D] = {0};
    other.seed++;
    for (uint64_t pair = 0; pair < 4; pair++) {
        const unsigned n = ifm_model_key_outliers(&amplified, 5, pair, a);
        ifm_model_key_outliers(&amplified, 5, pair + 4 * 11, b);
        assert_memory_equal(a, b, n * sizeof *a);
        ifm_model_key_outliers(&amplified, 5, (pair + 1) % 4, b);
        same += memcmp(a, b, n * sizeof *a) == 0;
        ifm_model_key_outliers(&amplified, 6, pair, b);
        same += memcmp(a, b, n * sizeof *a) == 0;
        ifm_model_key_outliers(&other, 5, pair, b);
        same += memcmp(a, b, n * sizeof *a) == 0;
    }
    assert_int_equal(same, 0);
    /* Every channel has its turn: 4 of 128 in 4096 layers, 128 +- 11.1 each. */
    for (uint64_t layer = 0; layer < 4096; layer++) {
        const unsigned n = ifm_model_key_outliers(&amplified, layer, 0, a);
        for (unsigned i = 0; i < n; i++) {
            assert_false(is_large(a, i, a[i])); /* distinct */
            seen[a[i]]++;
        }
    }
    for (unsigned c = 0; c < D; c++)
        assert_in_range(seen[c], 128 - 56, 128 + 56);
}

/* Any run of tokens, in any order, of any length, holds the same rows. */
static void access_is_random(void **state)
{
    (void)state;
    static const unsigned dims[] = {2, 6, 32, 64, 80, 128, 192, 256, 1024};
    static const unsigned cuts[][2] = {{0, 1},    {1, 1},     {127, 1}, {127, 2}, {128, 1},
                                       {100, 60}, {130, 200}, {383, 1}, {5, 300}, {17, 0}};
    enum { N = 384 };
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        const unsigned dim = dims[i];
        const struct ifm_model_data data = {.seed = 3, .head_dim = dim, .kv_heads = 2, .outlier = 6};
        const uint64_t base = UINT64_C(3) << 32;
        float *k = rows_of((size_t)N * dim), *v = rows_of((size_t)N * dim);
        float *part_k = rows_of((size_t)N * dim), *part_v = rows_of((size_t)N * dim);
        ifm_model_kv(&data, 2, 5, base, N, k, v);
        for (size_t x = 0; x < (size_t)N * dim; x++)
            assert_true(isfinite(k[x]) && isfinite(v[x]));
        for (size_t j = sizeof cuts / sizeof cuts[0]; j-- > 0;) {
            const size_t bytes = (size_t)cuts[j][1] * dim * sizeof *k;
            memset(part_k, 0xff, (size_t)N * dim * sizeof *k);
            memset(part_v, 0xff, (size_t)N * dim * sizeof *k);
            ifm_model_kv(&data, 2, 5, base + cuts[j][0], cuts[j][1], part_k, part_v);
            assert_memory_equal(part_k, k + (size_t)cuts[j][0] * dim, bytes);
            assert_memory_equal(part_v, v + (size_t)cuts[j][0] * dim, bytes);
            assert_true(bytes == (size_t)N * dim * sizeof *k || isnan(part_k[(size_t)cuts[j][1] * dim]));
        }
        free(k);
        free(v);
        free(part_k);
        free(part_v);
    }
}

struct part {
    float *k, *v;
    unsigned from, to;
};

static void *fill_part(void *arg)
{
    const struct part *part = arg;
    for (unsigned pair = part->to; pair-- > part->from;)
        ifm_model_kv(&amplified, 0, pair, 0, IFM_MODEL_BLOCK, part->k + (size_t)pair * IFM_MODEL_BLOCK * D,
                     part->v + (size_t)pair * IFM_MODEL_BLOCK * D);
    return NULL;
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    enum { PAIRS = 12, N = PAIRS * IFM_MODEL_BLOCK * D, MOST = 5 };
    float *k = rows_of(N), *v = rows_of(N), *k2 = rows_of(N), *v2 = rows_of(N);
    struct part all = {k, v, 0, PAIRS};
    fill_part(&all);
    for (unsigned threads = 2; threads <= MOST; threads++) {
        pthread_t thread[MOST];
        struct part part[MOST];
        memset(k2, 0xff, N * sizeof *k2);
        memset(v2, 0xff, N * sizeof *v2);
        for (unsigned i = 0; i < threads; i++) {
            part[i] = (struct part){k2, v2, PAIRS * i / threads, PAIRS * (i + 1) / threads};
            assert_int_equal(pthread_create(&thread[i], NULL, fill_part, &part[i]), 0);
        }
        for (unsigned i = 0; i < threads; i++)
            pthread_join(thread[i], NULL);
        assert_memory_equal(k, k2, N * sizeof *k);
        assert_memory_equal(v, v2, N * sizeof *v);
    }
    free(k);
    free(v);
    free(k2);
    free(v2);
}

static void matrices_share_their_large_columns(void **state)
{
    (void)state;
    enum { ROWS = 4096, COLUMNS = 513 };
    uint32_t large[COLUMNS];
    float *w = rows_of((size_t)ROWS * COLUMNS), *x = rows_of((size_t)ROWS * COLUMNS), part[3 * COLUMNS];
    ifm_model_weights(&amplified, 8, 0, ROWS, COLUMNS, w);
    ifm_model_activations(&amplified, 8, 0, ROWS, COLUMNS, x);
    const unsigned n = ifm_model_column_outliers(&amplified, 8, COLUMNS, large);
    assert_int_equal(n, COLUMNS / 128);
    for (unsigned c = 0; c < COLUMNS; c++) {
        double ww = 0, xx = 0, wx = 0, mean = 0;
        for (size_t r = 0; r < ROWS; r++) {
            const double a = (double)w[r * COLUMNS + c] * sqrt(COLUMNS), b = (double)x[r * COLUMNS + c];
            ww += a * a / ROWS;
            xx += b * b / ROWS;
            wx += a * b / ROWS;
            mean += b / ROWS;
        }
        const double size = is_large(large, n, c) ? 12 : 1;
        near_to(ww / size, 1, 0.11); /* sqrt(12) squared; a variance of 4096 rows to 5 standard errors */
        near_to(xx / (size * size), 1, 0.11);
        near_to(wx / sqrt(size * size * size), 0, 5 / sqrt(ROWS));
        near_to(mean / size, 0, 5 / sqrt(ROWS));
    }
    ifm_model_weights(&amplified, 8, 1000, 3, COLUMNS, part);
    assert_memory_equal(part, w + (size_t)1000 * COLUMNS, sizeof part);
    ifm_model_activations(&amplified, 8, 77, 3, COLUMNS, part);
    assert_memory_equal(part, x + (size_t)77 * COLUMNS, sizeof part);
    free(w);
    free(x);
}

static void every_value_is_an_f16(void **state)
{
    (void)state;
    enum { N = 2048 };
    float *x = rows_of((size_t)N * D * 2);
    ifm_model_kv(&amplified, 0, 1, 77, N, x, x + (size_t)N * D);
    for (size_t i = 0; i < (size_t)N * D * 2; i++)
        assert_true(x[i] == ifm_f16_to_f32(ifm_f32_to_f16(x[i])));
    /* Small ones as well: the weights of a very wide matrix are below the normal numbers of f16. */
    const unsigned columns = IFM_MODEL_COLUMNS_MOST;
    float *w = rows_of(columns);
    unsigned tiny = 0;
    ifm_model_weights(&plain, 0, 0, 1, columns, w);
    for (unsigned i = 0; i < columns; i++) {
        assert_true(w[i] == ifm_f16_to_f32(ifm_f32_to_f16(w[i])));
        tiny += w[i] != 0 && fabsf(w[i]) < 0x1p-14f;
    }
    assert_true(tiny > columns / 100);
    free(x);
    free(w);
}

/* What a seed stands for must not change with the compiler or the release: figures of different machines are compared
 * by it. A deliberate change of the distribution changes these. */
static void a_seed_stands_for_these_bits(void **state)
{
    (void)state;
    enum { N = 300 };
    float *x = rows_of((size_t)N * 256);
    const struct ifm_model_data data = {.seed = 0x0123456789abcdef, .head_dim = 80, .kv_heads = 8, .outlier = 6};
    ifm_model_kv(&amplified, 1, 2, 1000000, N, x, x + (size_t)N * D);
    const uint64_t kv = ifm_xxh3(x, (size_t)N * D * 2 * sizeof *x);
    ifm_model_kv(&data, 31, 1000, 5, N, x, x + (size_t)N * 80);
    const uint64_t odd = ifm_xxh3(x, (size_t)N * 80 * 2 * sizeof *x);
    ifm_model_queries(&data, 31, 1000, 99999, 32, x);
    const uint64_t q = ifm_xxh3(x, (size_t)32 * 80 * sizeof *x);
    ifm_model_weights(&amplified, 4, 9, 20, 1001, x);
    const uint64_t w = ifm_xxh3(x, (size_t)20 * 1001 * sizeof *x);
    ifm_model_activations(&amplified, 4, 9, 20, 1001, x);
    const uint64_t a = ifm_xxh3(x, (size_t)20 * 1001 * sizeof *x);
    free(x);
    assert_true(kv == 0x79e37e640c8c50b0);
    assert_true(odd == 0x2d2699a58d34c9af);
    assert_true(q == 0xe82376e6b045f95c);
    assert_true(w == 0xf7e571f15c308281);
    assert_true(a == 0xe536fef84061cbcd);
}

/* Relative error of keys in codes of four bits, with one range for `run` successive values of stride `stride`. */
static double four_bits(const float *k, size_t groups, size_t group_stride, size_t run, size_t stride, double *power)
{
    double error = 0;
    for (size_t g = 0; g < groups; g++) {
        const float *x = k + g * group_stride;
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < run; i++) {
            low = fmin(low, (double)x[i * stride]);
            high = fmax(high, (double)x[i * stride]);
        }
        for (size_t i = 0; i < run; i++) {
            const double exact = (double)x[i * stride], step = (high - low) / 15;
            const double off = exact - (low + step * nearbyint((exact - low) / step));
            error += off * off;
            *power += exact * exact;
        }
    }
    return error;
}

/* What the data are for: on independent values, a range for each channel and one for each token are equally good; on
 * keys of a model, the channels win. */
static void data_tell_formats_apart(void **state)
{
    (void)state;
    static const struct {
        double outlier, by_channel, by_token;
    } expected[] = {{1, 0.095, 0.097}, {6, 0.102, 0.175}, {12, 0.105, 0.214}};
    float *k = rows_of((size_t)IFM_MODEL_BLOCK * D);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct ifm_model_data data = plain;
        double by_channel = 0, by_token = 0, power = 0;
        data.outlier = expected[i].outlier;
        for (uint64_t block = 0; block < 16; block++) {
            ifm_model_kv(&data, 0, block % 4, block * IFM_MODEL_BLOCK, IFM_MODEL_BLOCK, k, NULL);
            by_channel += four_bits(k, D, 1, IFM_MODEL_BLOCK, D, &power);
            by_token += four_bits(k, IFM_MODEL_BLOCK, D, D, 1, &power);
        }
        power /= 2; /* both summed it */
        near_to(sqrt(by_channel / power), expected[i].by_channel, 0.005);
        near_to(sqrt(by_token / power), expected[i].by_token, 0.015);
    }
    free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_the_stated_distribution),
        cmocka_unit_test(values_have_the_stated_distribution),
        cmocka_unit_test(far_keys_are_those_of_the_definition),
        cmocka_unit_test(far_queries_are_those_of_the_definition),
        cmocka_unit_test(queries_are_independent_and_of_variance_one),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(large_channels_follow_the_head),
        cmocka_unit_test(access_is_random),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(matrices_share_their_large_columns),
        cmocka_unit_test(every_value_is_an_f16),
        cmocka_unit_test(data_tell_formats_apart),
        cmocka_unit_test(a_seed_stands_for_these_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
