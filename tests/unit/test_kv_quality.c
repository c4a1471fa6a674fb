/* What the formats do to attention, in f64: KL divergence of the attention of exact keys from that of the cache.
 *
 * One head, D = 128, keys of unit normals with 4 channels at 12 times that, or at 6, normal queries. Sink and ring are
 * part of the cache, as in use; the plain ranges that the search is compared with replace the cache's body pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kv/cache.h"
#include "kv_pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { S = 4096, D = 128, QUERIES = 32, SEEDS = 3, SINK = 32 };

static float *k, *v, *got_k, *got_v, *plain_k;
static double *exact, *other;

static int set_up(void **unused)
{
    (void)unused;
    const size_t n = (size_t)S * D;
    k = malloc(5 * n * sizeof *k);
    exact = malloc(2 * S * sizeof *exact);
    if (k == NULL || exact == NULL)
        return -1;
    v = k + n;
    got_k = v + n;
    got_v = got_k + n;
    plain_k = got_v + n;
    other = exact + S;
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    free(k);
    free(exact);
    return 0;
}

static void draw(uint32_t seed, float outliers)
{
    struct ifm_random random = ifm_random_start(seed, 1);
    for (size_t i = 0; i < (size_t)S * D; i++) {
        k[i] = (float)ifm_random_normal(&random) * (i % D % 32 == 5 ? outliers : 1.0f);
        v[i] = (float)ifm_random_normal(&random);
    }
}

static void attend(const float *keys, const double q[D], double *p)
{
    double top = -INFINITY, total = 0;
    for (size_t s = 0; s < S; s++) {
        double part[8] = {0}; /* a fixed order that vectors can follow */
        for (size_t d = 0; d < D; d++)
            part[d % 8] += q[d] * (double)keys[s * D + d];
        p[s] = (part[0] + part[1] + part[2] + part[3] + (part[4] + part[5] + part[6] + part[7])) / sqrt(D);
        top = fmax(top, p[s]);
    }
    for (size_t s = 0; s < S; s++)
        total += p[s] = exp(p[s] - top);
    for (size_t s = 0; s < S; s++)
        p[s] /= total;
}

static double divergence(const double *p, const double *q)
{
    double sum = 0;
    for (size_t s = 0; s < S; s++)
        sum += p[s] > 0 ? p[s] * log(p[s] / q[s]) : 0;
    return sum;
}

/* Keys of the body as the plain range (lowest to highest value) of the same bits would hold them. */
static void hold_plainly(const struct ifm_kv_layout *l, const struct ifm_kv_view *view)
{
    memcpy(plain_k, got_k, (size_t)S * D * sizeof *plain_k);
    for (size_t page = 0; page < view->n_body; page++)
        for (size_t d = 0; d < D; d++) {
            const unsigned char *list =
                view->pool + view->table[page] * l->page_bytes + l->promoted; /* the same channels promoted */
            float steps = (float)((1U << l->bits) - 1);
            for (size_t i = 0; i < l->n_promoted; i++)
                steps = list[i] == d ? 15.0f : steps;
            const size_t at = (view->sink.tokens + page * IFM_KV_PAGE) * D + d;
            float low = k[at], high = k[at];
            for (size_t t = 0; t < IFM_KV_PAGE; t++) {
                low = fminf(low, k[at + t * D]);
                high = fmaxf(high, k[at + t * D]);
            }
            const float scale = ifm_f16_to_f32(ifm_f32_to_f16((high - low) / steps));
            const float zero = ifm_f16_to_f32(ifm_f32_to_f16(low));
            for (size_t t = 0; t < IFM_KV_PAGE; t++)
                plain_k[at + t * D] = zero + scale * fminf(fmaxf(nearbyintf((k[at + t * D] - zero) / scale), 0), steps);
        }
}

struct quality {
    double kl, plain;        /* means over queries and seeds */
    double error_k, error_v; /* squares over squares */
};

static struct quality measure_at(float outliers, enum ifm_kv_format format)
{
    struct quality sum = {0, 0, 0, 0};
    const uint64_t capacity[] = {S};
    const struct ifm_kv_shape shape = {format, D, 1, capacity, SINK, true, 1};
    char op[32];
    snprintf(op, sizeof op, "kv_encode.%s", ifm_kv_format_name(format));
    void *pool = aligned_alloc(64, ifm_kv_pool_bytes(&shape));
    assert_non_null(pool);
    memset(pool, 0, ifm_kv_pool_bytes(&shape));
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct ifm_kv_cache *cache;
        struct ifm_error error;
        draw(100 + seed, outliers);
        assert_int_equal(ifm_kv_cache_create(&shape, ifm_kernel_find(op, "auto")->fn.kv_encode, pool, &cache, &error),
                         IFM_OK);
        ifm_kv_append_many(cache, 0, S, k, v);
        read_cache(cache, 0, got_k, got_v);
        const struct ifm_kv_view view = ifm_kv_view_of(cache, 0);
        hold_plainly(ifm_kv_body_layout(cache), &view);
        double squares[4] = {0};
        for (size_t i = 0; i < (size_t)S * D; i++) {
            squares[0] += pow((double)(got_k[i] - k[i]), 2);
            squares[1] += pow((double)k[i], 2);
            squares[2] += pow((double)(got_v[i] - v[i]), 2);
            squares[3] += pow((double)v[i], 2);
        }
        sum.error_k += squares[0] / squares[1] / SEEDS;
        sum.error_v += squares[2] / squares[3] / SEEDS;
        struct ifm_random random = ifm_random_start(200 + seed, 1);
        for (int i = 0; i < QUERIES; i++) {
            double q[D];
            for (int d = 0; d < D; d++)
                q[d] = ifm_random_normal(&random);
            attend(k, q, exact);
            attend(got_k, q, other);
            sum.kl += divergence(exact, other) / (SEEDS * QUERIES);
            attend(plain_k, q, other);
            sum.plain += divergence(exact, other) / (SEEDS * QUERIES);
        }
        ifm_kv_cache_destroy(cache);
    }
    free(pool);
    print_message("%-5s at %gx: KL %.6f, relative RMS of K %.4f, of V %.4f", ifm_kv_format_name(format),
                  (double)outliers, sum.kl, sqrt(sum.error_k), sqrt(sum.error_v));
    if (format == IFM_KV_INT4 || format == IFM_KV_INT2)
        print_message("; KL of the plain range %.6f", sum.plain);
    print_message("\n");
    return sum;
}

static struct quality measure(enum ifm_kv_format format)
{
    return measure_at(12, format);
}

static void f16_hardly_shows(void **unused)
{
    (void)unused;
    assert_true(measure(IFM_KV_F16).kl <= 1e-6);
}

static void int8_holds_its_bar(void **unused)
{
    (void)unused;
    assert_true(measure(IFM_KV_INT8).kl <= 0.001);
}

static void int4_holds_its_bar_and_beats_the_plain_range(void **unused)
{
    (void)unused;
    const struct quality q = measure(IFM_KV_INT4);
    assert_true(q.kl <= 0.03);
    assert_true(q.kl < q.plain);
}

static void int2_holds_its_bar_and_beats_the_plain_range(void **unused)
{
    (void)unused;
    const struct quality q = measure(IFM_KV_INT2);
    assert_true(q.kl <= 0.2);
    assert_true(q.kl < 0.7 * q.plain);
}

/* One scale for a page with outlier channels: the reason why int8 is the 8-bit default. */
static void e4m3_is_worse_than_int8(void **unused)
{
    (void)unused;
    const struct quality q = measure(IFM_KV_E4M3);
    assert_true(q.kl <= 0.02);
    assert_true(q.kl > 5 * measure(IFM_KV_INT8).kl);
}

static void smaller_outliers_hold_their_bars(void **unused)
{
    (void)unused;
    assert_true(measure_at(6, IFM_KV_INT8).kl <= 0.001);
    assert_true(measure_at(6, IFM_KV_E4M3).kl <= 0.005);
    assert_true(measure_at(6, IFM_KV_INT4).kl <= 0.022);
    assert_true(measure_at(6, IFM_KV_INT2).kl <= 0.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(f16_hardly_shows),
        cmocka_unit_test(int8_holds_its_bar),
        cmocka_unit_test(int4_holds_its_bar_and_beats_the_plain_range),
        cmocka_unit_test(int2_holds_its_bar_and_beats_the_plain_range),
        cmocka_unit_test(e4m3_is_worse_than_int8),
        cmocka_unit_test(smaller_outliers_hold_their_bars),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
