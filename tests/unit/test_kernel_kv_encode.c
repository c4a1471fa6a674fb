/* The writers of KV pages: the same bytes from every instruction set and compiler, errors within the format's steps,
 * NaN and infinity kept, and a search that is never worse than the plain range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/hash.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "kernel/cpu/kv_encode.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = IFM_KV_PAGE * IFM_KV_DIM_MOST };

static const unsigned token_counts[] = {0, 1, 2, 15, 16, 17, 61, 63, 64, 65, 127, 128};
enum { N_COUNTS = sizeof token_counts / sizeof token_counts[0] };

enum data { NORMAL, OUTLIERS, TINY, HUGE_VALUES, CONSTANT, SHIFTED, BEYOND, SPOILED, KINDS };

static float k[VALUES], v[VALUES], got_k[VALUES], got_v[VALUES];
static _Alignas(64) unsigned char page[4 * VALUES + 64], other[4 * VALUES + 64];

/* Nearly normal, from integers alone, so that every libm gives the same. */
static float draw(struct ifm_random *random)
{
    const uint32_t word = ifm_random_u32(random);
    const int sum = (int)(word & 0xff) + (int)(word >> 8 & 0xff) + (int)(word >> 16 & 0xff) + (int)(word >> 24);
    return (float)(sum - 510) * 0x1p-7f;
}

static void fill(enum data kind, unsigned dim, unsigned tokens, uint32_t stream)
{
    struct ifm_random random = ifm_random_start(77, stream);
    for (unsigned t = 0; t < tokens; t++)
        for (unsigned d = 0; d < dim; d++) {
            const size_t i = (size_t)t * dim + d;
            float a = draw(&random), b = draw(&random);
            if (kind == OUTLIERS || kind == SPOILED)
                a *= d % 32 == 5 ? 12.0f : 1.0f;
            if (kind == TINY || kind == HUGE_VALUES) {
                a *= kind == TINY ? 1e-7f : 1.5e4f;
                b *= kind == TINY ? 1e-7f : 1.5e4f;
            }
            if (kind == CONSTANT && d % 3 == 0)
                a = (float)d;
            if (kind == CONSTANT && t % 3 == 0)
                b = (float)t;
            if (kind == SHIFTED)
                a += (float)(d % 7) * 50.0f;
            if (kind == BEYOND) { /* more than f16 holds */
                a *= 1e30f;
                b *= 1e36f;
            }
            k[i] = a;
            v[i] = b;
        }
    if (kind == SPOILED && tokens > 0) {
        const float bad[] = {ifm_f32_of_bits(0x7fd12345), INFINITY, -INFINITY, -NAN}; /* a payload that goes */
        for (unsigned i = 0; i < 4; i++) {
            k[(size_t)(i * 5 % tokens) * dim + i * 7] = bad[i];
            v[(size_t)(i * 5 % tokens) * dim + i * 7] = bad[i];
        }
    }
}

static ifm_kv_encode_fn *encoder(enum ifm_kv_format format, const char *isa)
{
    char op[32];
    snprintf(op, sizeof op, "kv_encode.%s", ifm_kv_format_name(format));
    const struct ifm_kernel *kernel = ifm_kernel_find(op, isa);
    return kernel == NULL ? NULL : kernel->fn.kv_encode;
}

/* Every byte of the page is written: the two are poisoned differently. */
static void same_from_every_set(const struct ifm_kv_layout *l, unsigned tokens)
{
    memset(page, 0x55, l->page_bytes);
    encoder(l->format, "scalar")(l, k, v, tokens, page);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    for (size_t i = 0; i < n; i++) {
        ifm_kv_encode_fn *encode = encoder(l->format, isas[i]);
        if (encode == NULL)
            continue;
        memset(other, 0xaa, l->page_bytes + 64);
        encode(l, k, v, tokens, other);
        assert_memory_equal(page, other, l->page_bytes);
        for (int j = 0; j < 64; j++)
            assert_int_equal(other[l->page_bytes + j], 0xaa);
    }
}

static void instruction_sets_write_the_same_bytes(void **unused)
{
    (void)unused;
    uint64_t hash = 0;
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        for (unsigned dim = 32; dim <= 256; dim += 32)
            for (unsigned kind = 0; kind < KINDS; kind++)
                for (size_t i = 0; i < N_COUNTS; i++) {
                    if (token_counts[i] != 128 && (i + dim / 32 + kind) % 5 != 0)
                        continue;
                    const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
                    fill(kind, dim, token_counts[i], (uint32_t)(dim + kind));
                    same_from_every_set(&l, token_counts[i]);
                    const uint64_t words[] = {hash, ifm_xxh3(page, l.page_bytes)};
                    hash = ifm_xxh3(words, sizeof words);
                }
    for (unsigned dim = 32; dim <= 256; dim += 32) {
        const struct ifm_kv_layout l = ifm_kv_sink_layout(dim);
        fill(SPOILED, dim, 33, dim);
        same_from_every_set(&l, 33);
        const uint64_t words[] = {hash, ifm_xxh3(page, l.page_bytes)};
        hash = ifm_xxh3(words, sizeof words);
    }
    /* The same from every compiler and architecture. Change it together with the format alone. */
    const uint64_t committed = UINT64_C(0x05ce0b025617af2e);
    if (hash != committed)
        print_message("hash of all pages: 0x%016llx\n", (unsigned long long)hash);
    assert_true(hash == committed);
}

static void encode_and_read(const struct ifm_kv_layout *l, unsigned tokens)
{
    encoder(l->format, "auto")(l, k, v, tokens, page);
    for (size_t i = 0; i < VALUES; i++)
        got_k[i] = got_v[i] = NAN;
    ifm_kv_page_read(l, page, tokens, got_k, got_v);
}

static float f16_at(size_t section, size_t i)
{
    uint16_t half;
    memcpy(&half, page + section + 2 * i, sizeof half);
    return ifm_f16_to_f32(half);
}

static void errors_of_eight_bits_and_more_are_half_a_step(void **unused)
{
    (void)unused;
    const enum data kinds[] = {NORMAL, OUTLIERS, TINY, HUGE_VALUES, CONSTANT, SHIFTED};
    for (unsigned format = IFM_KV_F16; format <= IFM_KV_E4M3; format++)
        for (unsigned dim = 32; dim <= 256; dim += 32)
            for (size_t kind = 0; kind < 6; kind++) {
                const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
                const unsigned tokens = kind % 2 == 0 ? 128 : 61;
                fill(kinds[kind], dim, tokens, dim);
                encode_and_read(&l, tokens);
                float scales[2];
                memcpy(&scales[0], page + l.k_scale, sizeof scales[0]);
                memcpy(&scales[1], page + l.v_scale, sizeof scales[1]);
                for (size_t i = 0; i < (size_t)tokens * dim; i++) {
                    const double error_k = fabs((double)got_k[i] - (double)k[i]);
                    const double error_v = fabs((double)got_v[i] - (double)v[i]);
                    double most_k = fabs((double)k[i]) * 0x1p-11 + 0x1p-25,
                           most_v = fabs((double)v[i]) * 0x1p-11 + 0x1p-25;
                    if (format == IFM_KV_E4M3) {
                        most_k = fmax(fabs((double)k[i]) * 0.0626, (double)scales[0] * 0x1p-10);
                        most_v = fmax(fabs((double)v[i]) * 0.0626, (double)scales[1] * 0x1p-10);
                    } else if (format == IFM_KV_INT8) { /* a rounded scale: 127 or 255 steps end a little early */
                        const double scale = (double)f16_at(l.k_scale, i % dim),
                                     zero = (double)f16_at(l.k_zero, i % dim);
                        const double scale_v = (double)f16_at(l.v_scale, i / dim);
                        most_k = 0.501 * scale + fabs(zero) * 0x1p-11 + 255 * (scale * 0x1p-11 + 0x1p-25) + 0x1p-25;
                        most_v = 0.501 * scale_v + 127 * (scale_v * 0x1p-11 + 0x1p-25);
                    }
                    assert_true(error_k <= most_k);
                    assert_true(error_v <= most_v);
                }
            }
}

/* Squared errors of a range that is not searched, scale and zero rounded, with weights; in f64. */
static double plain_error(const double *x, const double *weight, unsigned n, double low, double high, unsigned steps,
                          bool symmetric)
{
    const double scale = (double)ifm_f16_to_f32(ifm_f32_to_f16((float)((high - low) / steps))); /* none is tiny here */
    const double zero = symmetric ? -0.5 * steps * scale : (double)ifm_f16_to_f32(ifm_f32_to_f16((float)low));
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        const double code = scale > 0 ? fmin(fmax(nearbyint((x[i] - zero) / scale), 0), steps) : 0;
        sum += weight[i] * pow(x[i] - zero - code * scale, 2);
    }
    return sum;
}

/* A column of values (a channel of K, a rotated token of V) and what was read of it. */
static void compare(const double *x, const double *got, unsigned n, unsigned head_dim, unsigned steps, bool symmetric,
                    double sums[2])
{
    double weight[IFM_KV_DIM_MOST], low = x[0], high = x[0], mean = 0, squares = 0, error = 0;
    for (unsigned i = 0; i < n; i++) {
        low = fmin(low, x[i]);
        high = fmax(high, x[i]);
        mean += x[i] / n;
        squares += x[i] * x[i] / n;
    }
    for (unsigned i = 0; i < n; i++) {
        const double y = pow(x[i] - mean, 2) / (2 * (head_dim + squares - mean * mean));
        weight[i] = symmetric ? 1 : pow(1 + y / 4, 8);
        error += weight[i] * pow(x[i] - got[i], 2);
    }
    if (symmetric) {
        high = fmax(high, -low);
        low = -high;
    }
    const double plain = plain_error(x, weight, n, low, high, steps, symmetric);
    assert_true(error <= plain * 1.001 + 1e-12);
    sums[0] += error / plain;
    sums[1] += 1;
}

static void search_is_never_worse_than_the_plain_range(void **unused)
{
    (void)unused;
    for (unsigned format = IFM_KV_INT4; format <= IFM_KV_INT2; format++)
        for (unsigned dim = 32; dim <= 256; dim += 32) {
            const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
            const unsigned tokens = dim % 64 == 0 ? 128 : 113;
            double x[IFM_KV_DIM_MOST], y[IFM_KV_DIM_MOST], sums_k[2] = {0}, sums_v[2] = {0};
            fill(OUTLIERS, dim, tokens, 3);
            encode_and_read(&l, tokens);
            ifm_kv_rotate(v, dim, tokens);
            ifm_kv_rotate(got_v, dim, tokens);
            for (unsigned d = 0; d < dim; d++) {
                unsigned steps = (1U << l.bits) - 1;
                for (unsigned i = 0; i < l.n_promoted; i++)
                    if (page[l.promoted + i] == d)
                        steps = 15;
                for (unsigned t = 0; t < tokens; t++) {
                    x[t] = (double)k[t * dim + d];
                    y[t] = (double)got_k[t * dim + d];
                }
                compare(x, y, tokens, dim, steps, false, sums_k);
            }
            for (unsigned t = 0; t < tokens; t++) {
                for (unsigned d = 0; d < dim; d++) {
                    x[d] = (double)v[t * dim + d];
                    y[d] = (double)got_v[t * dim + d];
                }
                compare(x, y, dim, dim, (1U << l.bits) - 1, true, sums_v);
            }
            assert_true(sums_k[0] < (l.bits == 2 ? 0.7 : 0.95) * sums_k[1]);
            assert_true(sums_v[0] < (l.bits == 2 ? 0.7 : 0.95) * sums_v[1]);
        }
}

static void promoted_are_the_widest_ascending(void **unused)
{
    (void)unused;
    const struct ifm_kv_layout l = ifm_kv_layout_of(IFM_KV_INT2, 128);
    fill(OUTLIERS, 128, 128, 4);
    encode_and_read(&l, 128);
    float least = INFINITY, most_other = 0;
    for (unsigned d = 0, i = 0; d < 128; d++) {
        float low = k[d], high = k[d];
        for (unsigned t = 0; t < 128; t++) {
            low = fminf(low, k[t * 128 + d]);
            high = fmaxf(high, k[t * 128 + d]);
        }
        if (i < l.n_promoted && page[l.promoted + i] == d) {
            least = fminf(least, high - low);
            i++;
        } else {
            most_other = fmaxf(most_other, high - low);
        }
        assert_true(d < 127 || i == l.n_promoted);
    }
    assert_true(least >= most_other);
}

static void nan_and_infinity_are_kept(void **unused)
{
    (void)unused;
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        for (unsigned dim = 32; dim <= 256; dim += 32)
            for (unsigned tokens = 16; tokens <= 128; tokens += 56) {
                const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
                const bool whole = format != IFM_KV_F16 && format != IFM_KV_E4M3;
                bool bad_k[IFM_KV_DIM_MOST] = {false}, bad_v[IFM_KV_PAGE] = {false};
                fill(SPOILED, dim, tokens, dim);
                for (size_t i = 0; i < (size_t)tokens * dim; i++) {
                    bad_k[i % dim] |= !isfinite(k[i]);
                    bad_v[i / dim] |= !isfinite(v[i]);
                }
                encode_and_read(&l, tokens);
                for (size_t i = 0; i < (size_t)tokens * dim; i++) {
                    assert_int_equal(!isfinite(got_k[i]), whole ? bad_k[i % dim] : !isfinite(k[i]));
                    assert_int_equal(!isfinite(got_v[i]), whole ? bad_v[i / dim] : !isfinite(v[i]));
                    if (format == IFM_KV_F16 && isinf(k[i]))
                        assert_true(got_k[i] == k[i]);
                    else if (!isfinite(k[i]))
                        assert_true(isnan(got_k[i]));
                }
            }
}

static void finite_stays_finite(void **unused)
{
    (void)unused;
    const enum data kinds[] = {TINY, HUGE_VALUES, CONSTANT, BEYOND};
    for (unsigned format = IFM_KV_INT8; format < IFM_KV_FORMATS; format++)
        for (size_t kind = 0; kind < 4; kind++) {
            const struct ifm_kv_layout l = ifm_kv_layout_of(format, 96);
            fill(kinds[kind], 96, 128, 6);
            encode_and_read(&l, 128);
            double error = 0, norm = 0, most = 0;
            for (size_t i = 0; i < (size_t)128 * 96; i++) {
                assert_true(isfinite(got_k[i]) && isfinite(got_v[i]));
                error += pow((double)(got_k[i] - k[i]), 2) + pow((double)(got_v[i] - v[i]), 2);
                norm += pow((double)k[i], 2) + pow((double)v[i], 2);
                most = fmax(most, fabs((double)(got_k[i] - k[i])));
            }
            if (kinds[kind] == TINY && format == IFM_KV_INT8) /* in steps of the least f16 */
                assert_true(most <= 0x1.01p-25 * 3);
            else if (kinds[kind] != BEYOND) /* a constant token is a spike when it is rotated: two bits halve it */
                assert_true(error <= (format != IFM_KV_INT2 ? 0.1 : kinds[kind] == CONSTANT ? 0.7 : 0.2) * norm);
        }
}

static void constant_channels_are_exact(void **unused)
{
    (void)unused;
    for (unsigned format = IFM_KV_INT8; format < IFM_KV_FORMATS; format++) {
        const struct ifm_kv_layout l = ifm_kv_layout_of(format, 64);
        if (format == IFM_KV_E4M3)
            continue;
        for (size_t i = 0; i < (size_t)100 * 64; i++) {
            k[i] = (float)(i % 64) * 0.37f - 9.0f;
            v[i] = 0;
        }
        encode_and_read(&l, 100);
        for (size_t i = 0; i < (size_t)100 * 64; i++) {
            assert_true(got_k[i] == ifm_f16_to_f32(ifm_f32_to_f16(k[i])));
            assert_true(got_v[i] == 0);
        }
        for (size_t i = 0; i < 64; i++)
            assert_true(f16_at(l.k_scale, i) == 0);
    }
}

/* What a reader must mask is finite, and its V is zero. */
static void unused_slots_are_harmless(void **unused)
{
    (void)unused;
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        for (size_t c = 0; c < N_COUNTS; c++) {
            const struct ifm_kv_layout l = ifm_kv_layout_of(format, 96);
            const size_t used = (size_t)token_counts[c] * 96;
            fill(SHIFTED, 96, token_counts[c], 8);
            encoder(l.format, "auto")(&l, k, v, token_counts[c], page);
            ifm_kv_page_read(&l, page, IFM_KV_PAGE, got_k, got_v);
            for (size_t i = used; i < (size_t)IFM_KV_PAGE * 96; i++) {
                assert_true(got_v[i] == 0);
                assert_true(isfinite(got_k[i]) && fabsf(got_k[i]) < 320.0f);
                assert_true((format != IFM_KV_F16 && format != IFM_KV_E4M3) || got_k[i] == 0);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_sets_write_the_same_bytes),
        cmocka_unit_test(errors_of_eight_bits_and_more_are_half_a_step),
        cmocka_unit_test(search_is_never_worse_than_the_plain_range),
        cmocka_unit_test(promoted_are_the_widest_ascending),
        cmocka_unit_test(nan_and_infinity_are_kept),
        cmocka_unit_test(finite_stays_finite),
        cmocka_unit_test(constant_channels_are_exact),
        cmocka_unit_test(unused_slots_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
