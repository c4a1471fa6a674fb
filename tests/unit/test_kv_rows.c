/* The fast conversions between rows and f16 pages against base/half.h and the reference reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"
#include "kv/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bits near every border of f16, and any bits at all. */
static uint32_t bits_at(struct ifm_random *random, size_t i)
{
    static const uint32_t borders[] = {0,          1,          0x33000000, 0x33800000, 0x387fe000, 0x38800000,
                                       0x477fe000, 0x477ff000, 0x47800000, 0x7f800000, 0x7fc00000, 0x3f801000};
    const uint32_t word = ifm_random_u32(random), sign = word & 0x80000000;
    switch (i % 4) {
    case 0:
        return word;
    case 1:
        return (borders[word % 12] + ((word >> 8) % 5) - 2) ^ sign;
    case 2: /* halfway between two f16, or next to it */
        return ((ifm_f32_bits(ifm_f16_to_f32((uint16_t)(word >> 8))) | 0x1000) + word % 3 - 1) ^ sign;
    default:
        return ifm_f32_bits((float)ifm_random_normal(random));
    }
}

static void rounding_is_that_of_half(void **unused)
{
    (void)unused;
    struct ifm_random random = ifm_random_start(3, 1);
    for (int round = 0; round < 200; round++) {
        float from[1024], to[1024];
        for (size_t i = 0; i < 1024; i++)
            from[i] = ifm_f32_of_bits(bits_at(&random, i));
        ifm_kv_round(from, 1024, to);
        for (size_t i = 0; i < 1024; i++)
            assert_int_equal(ifm_f32_bits(to[i]), ifm_f32_bits(ifm_f16_to_f32(ifm_f32_to_f16(from[i]))));
    }
}

static void *page_of(const struct ifm_kv_layout *layout)
{
    void *page = aligned_alloc(64, layout->page_bytes);
    assert_non_null(page);
    memset(page, 0xaa, layout->page_bytes);
    return page;
}

/* Put tokens in any order; read them both ways; blank from a slot on. */
static void check_pages(const struct ifm_kv_layout *layout, uint32_t stream)
{
    const size_t dim = layout->head_dim, n = (size_t)layout->tokens * dim;
    float *k = malloc(4 * n * sizeof *k), *v = k + n, *got_k = v + n, *got_v = got_k + n;
    assert_non_null(k);
    struct ifm_random random = ifm_random_start(4, stream);
    for (size_t i = 0; i < 2 * n; i++)
        k[i] = ifm_f32_of_bits(bits_at(&random, i));
    void *page = page_of(layout);
    for (unsigned i = 0; i < layout->tokens; i++) {
        const unsigned slot = i * 37 % layout->tokens;
        ifm_kv_page_put(layout, page, slot, k + slot * dim, v + slot * dim);
    }
    for (unsigned blank = layout->tokens; blank <= layout->tokens; blank -= blank > 65 || blank < 3 ? 1 : 31) {
        ifm_kv_page_blank(layout, page, blank);
        ifm_kv_page_read(layout, page, layout->tokens, got_k, got_v);
        for (size_t i = 0; i < 2 * n; i++) {
            const float want = i % n / dim < blank ? ifm_f16_to_f32(ifm_f32_to_f16(k[i])) : 0.0f;
            assert_int_equal(ifm_f32_bits(got_k[i]), ifm_f32_bits(want));
        }
        memset(got_k, 0xff, 2 * n * sizeof *got_k);
        ifm_kv_page_rows(layout, page, got_k, got_v);
        for (size_t i = 0; i < 2 * n; i++) {
            const float want = i % n / dim < blank ? ifm_f16_to_f32(ifm_f32_to_f16(k[i])) : 0.0f;
            assert_int_equal(ifm_f32_bits(got_k[i]), ifm_f32_bits(want));
        }
        if (blank == 0)
            break;
    }
    free(page);
    free(k);
}

static void pages_read_back(void **unused)
{
    (void)unused;
    for (unsigned dim = 32; dim <= 256; dim += 32) {
        const struct ifm_kv_layout ring = ifm_kv_layout_of(IFM_KV_F16, dim), sink = ifm_kv_sink_layout(dim);
        check_pages(&ring, dim);
        check_pages(&sink, dim + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_that_of_half),
        cmocka_unit_test(pages_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
