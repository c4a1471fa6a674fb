/* Narrow floats: every code there and back, and rounding against a search among all codes in f64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* A narrow format: codes 0 .. n_finite - 1 are its finite values >= 0, ascending. */
struct narrow {
    const char *name;
    uint32_t n_finite, sign, infinity, nan; /* codes; infinity 0: saturates */
    unsigned bias, mantissa;                /* of the exponent; bits */
};

static const struct narrow f16 = {"f16", 0x7c00, 0x8000, 0x7c00, 0x7e00, 15, 10};
static const struct narrow bf16 = {"bf16", 0x7f80, 0x8000, 0x7f80, 0x7fc0, 127, 7};
static const struct narrow e4m3 = {"e4m3", 0x7f, 0x80, 0, 0x7f, 7, 3};

/* By the definition of the format. */
static double value_of(const struct narrow *f, uint32_t code)
{
    const uint32_t mantissa = code & ((1U << f->mantissa) - 1), exponent = code >> f->mantissa;
    if (exponent == 0)
        return ldexp(mantissa, 1 - (int)f->bias - (int)f->mantissa);
    return ldexp((1U << f->mantissa) + mantissa, (int)exponent - (int)f->bias - (int)f->mantissa);
}

/* The nearest code to a magnitude, the even one of two; what lies beyond half a step above the largest is infinite. */
static uint32_t nearest(const struct narrow *f, double x)
{
    uint32_t low = 0, high = f->n_finite; /* value(low) <= x < value(high), as if there were one more code */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (value_of(f, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    const double below = x - value_of(f, low), above = value_of(f, high) - x;
    const uint32_t code = below < above || (below == above && low % 2 == 0) ? low : high;
    if (code < f->n_finite)
        return code;
    return f->infinity != 0 ? f->infinity : f->n_finite - 1;
}

static uint32_t narrow_of(const struct narrow *f, float x)
{
    return f == &f16 ? ifm_f32_to_f16(x) : f == &bf16 ? ifm_f32_to_bf16(x) : ifm_f32_to_e4m3(x);
}

static float wide_of(const struct narrow *f, uint32_t code)
{
    return f == &f16    ? ifm_f16_to_f32((uint16_t)code)
           : f == &bf16 ? ifm_bf16_to_f32((uint16_t)code)
                        : ifm_e4m3_to_f32((uint8_t)code);
}

static void check_codes(const struct narrow *f)
{
    for (uint32_t code = 0; code < f->sign; code++) {
        const float plus = wide_of(f, code), minus = wide_of(f, code | f->sign);
        if (code < f->n_finite) {
            assert_true((double)plus == value_of(f, code));
            assert_int_equal(ifm_f32_bits(minus), ifm_f32_bits(plus) | 0x80000000);
            assert_int_equal(narrow_of(f, plus), code);
            assert_int_equal(narrow_of(f, minus), code | f->sign);
        } else if (code == f->infinity) {
            assert_true(isinf(plus) && plus > 0 && isinf(minus) && minus < 0);
            assert_int_equal(narrow_of(f, plus), code);
            assert_int_equal(narrow_of(f, minus), code | f->sign);
        } else {
            assert_true(isnan(plus) && isnan(minus));
            const uint32_t again = narrow_of(f, minus);
            assert_true((again & f->sign) != 0 && isnan(wide_of(f, again)));
        }
    }
    assert_int_equal(narrow_of(f, NAN), f->nan);
}

/* Every middle between two neighbours, with the floats beside it; and any bits. */
static void check_rounding(const struct narrow *f)
{
    for (uint32_t code = 0; code + 1 < f->n_finite; code++) {
        const float middle = (float)((value_of(f, code) + value_of(f, code + 1)) / 2);
        const float beside[] = {nextafterf(middle, 0), middle, nextafterf(middle, INFINITY)};
        for (int i = 0; i < 3; i++) {
            assert_int_equal(narrow_of(f, beside[i]), nearest(f, (double)beside[i]));
            assert_int_equal(narrow_of(f, -beside[i]), nearest(f, (double)beside[i]) | f->sign);
        }
    }
    struct ifm_random random = ifm_random_start(9, 1);
    for (int i = 0; i < 300000; i++) {
        const float x = ifm_f32_of_bits(ifm_random_u32(&random) & 0x7fffffff);
        if (isfinite(x))
            assert_int_equal(narrow_of(f, x), nearest(f, (double)x));
    }
}

static void every_code_comes_back(void **unused)
{
    (void)unused;
    check_codes(&f16);
    check_codes(&bf16);
    check_codes(&e4m3);
}

static void rounding_is_to_nearest_even(void **unused)
{
    (void)unused;
    check_rounding(&f16);
    check_rounding(&bf16);
    check_rounding(&e4m3);
}

static void ends_are_where_the_headers_say(void **unused)
{
    (void)unused;
    assert_int_equal(ifm_f32_to_f16(65519.996f), 0x7bff);
    assert_int_equal(ifm_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(ifm_f32_to_f16(0x1p-25f), 0);
    assert_int_equal(ifm_f32_to_f16(nextafterf(0x1p-25f, 1)), 1);
    assert_int_equal(ifm_f32_to_e4m3(1e30f), 0x7e);
    assert_int_equal(ifm_f32_to_e4m3(-INFINITY), 0xfe);
    assert_true(ifm_e4m3_to_f32(0x7e) == 448.0f);
    assert_int_equal(ifm_f32_to_bf16(3.4e38f), 0x7f80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_comes_back),
        cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(ends_are_where_the_headers_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
