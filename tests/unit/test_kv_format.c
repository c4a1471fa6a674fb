/* Pages of the elastic cache: sections, the order of codes, the rotation, and the true count of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"
#include "kv/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void sections_are_aligned_and_apart(void **unused)
{
    (void)unused;
    for (unsigned format = 0; format < IFM_KV_FORMATS; format++)
        for (unsigned dim = 32; dim <= 256; dim += 32) {
            const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
            const size_t at[] = {l.k_scale, l.k_zero, l.v_scale, l.promoted, l.k_codes, l.k_low, l.v_codes};
            size_t last = 0;
            for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
                assert_int_equal(at[i] % IFM_KV_LINE, 0);
                assert_true(at[i] == 0 || at[i] > last);
                last = at[i] > last ? at[i] : last;
            }
            assert_int_equal(l.page_bytes % IFM_KV_LINE, 0);
            assert_true(l.page_bytes > last);
            assert_int_equal(l.tokens, IFM_KV_PAGE);
        }
    assert_int_equal(ifm_kv_layout_of(IFM_KV_F16, 128).page_bytes, 65536);
    assert_int_equal(ifm_kv_layout_of(IFM_KV_INT8, 128).page_bytes, 768 + 32768);
    assert_int_equal(ifm_kv_layout_of(IFM_KV_INT4, 128).page_bytes, 768 + 16384);
    assert_int_equal(ifm_kv_layout_of(IFM_KV_INT2, 128).page_bytes, 768 + 64 + 8192 + 512);
    assert_int_equal(ifm_kv_sink_layout(128).page_bytes, 32768);
}

/* Set one field of one byte; exactly the token and channel that the header names must change. */
static void codes_lie_where_the_header_says(void **unused)
{
    (void)unused;
    struct ifm_random random = ifm_random_start(5, 5);
    for (unsigned format = IFM_KV_INT8; format < IFM_KV_FORMATS; format++)
        for (unsigned dim = 32; dim <= 256; dim += 32) {
            const struct ifm_kv_layout l = ifm_kv_layout_of(format, dim);
            if (format == IFM_KV_E4M3)
                continue;
            const unsigned block = 16 * 8 / l.bits;
            float *k = malloc(2 * sizeof *k * IFM_KV_PAGE * dim), *v = k + IFM_KV_PAGE * dim;
            uint16_t *page = aligned_alloc(64, l.page_bytes);
            assert_non_null(k);
            assert_non_null(page);
            for (int round = 0; round < 20; round++) {
                memset(page, 0, l.page_bytes);
                for (size_t i = 0; i < dim; i++)
                    page[l.k_scale / 2 + i] = ifm_f32_to_f16(1);
                for (size_t i = 0; i < l.n_promoted; i++)
                    ((unsigned char *)page)[l.promoted + i] = (unsigned char)(dim - l.n_promoted + i);
                const unsigned token = ifm_random_below(&random, IFM_KV_PAGE);
                const unsigned channel = ifm_random_below(&random, dim - l.n_promoted);
                const unsigned in_block = token % block;
                const size_t byte = (token / block * (dim / 4) + channel / 4) * 64 + in_block % 16 * 4 + channel % 4;
                ((unsigned char *)page)[l.k_codes + byte] = (unsigned char)(1U << in_block / 16 * l.bits);
                ifm_kv_page_read(&l, page, IFM_KV_PAGE, k, v);
                for (unsigned t = 0; t < IFM_KV_PAGE; t++)
                    for (unsigned d = 0; d < dim; d++)
                        assert_true(k[t * dim + d] == (t == token && d == channel ? 1.0f : 0.0f));
            }
            free(page);
            free(k);
        }
}

/* Promoted channels: 4 x the field among the codes + the field in k_low. */
static void promoted_channels_have_four_bits(void **unused)
{
    (void)unused;
    const struct ifm_kv_layout l = ifm_kv_layout_of(IFM_KV_INT2, 64);
    static _Alignas(64) unsigned char page[8192];
    static float k[IFM_KV_PAGE * 64], v[IFM_KV_PAGE * 64];
    assert_true(l.page_bytes <= sizeof page);
    for (unsigned i = 0; i < 8; i++)
        page[l.promoted + i] = (unsigned char)(8 * i + 3);
    const uint16_t one = ifm_f32_to_f16(1), three = ifm_f32_to_f16(-3);
    memcpy(page + l.k_scale + 2 * 43, &one, sizeof one); /* channel 43 is the sixth of the list: 5 = 4 + 1 */
    memcpy(page + l.k_zero + 2 * 43, &three, sizeof three);
    page[l.k_codes + 43 / 4 * 64 + 7 * 4 + 43 % 4] = 2 << 2; /* token 16 + 7 */
    page[l.k_low + 1 * 64 + 7 * 4 + 1] = 3 << 2;
    ifm_kv_page_read(&l, page, IFM_KV_PAGE, k, v);
    assert_true(k[23 * 64 + 43] == -3.0f + 11.0f);
    assert_true(k[22 * 64 + 43] == -3.0f);
}

static void rotation_is_orthonormal_and_its_own_inverse(void **unused)
{
    (void)unused;
    struct ifm_random random = ifm_random_start(5, 6);
    for (unsigned dim = 32; dim <= 256; dim += 32) {
        float x[2 * IFM_KV_DIM_MOST], y[2 * IFM_KV_DIM_MOST];
        double before = 0, after = 0;
        for (unsigned i = 0; i < 2 * dim; i++)
            y[i] = x[i] = (float)ifm_random_normal(&random);
        ifm_kv_rotate(y, dim, 2);
        const unsigned size = dim & -dim; /* against H[i][j] = (-1)^popcount(i & j) / sqrt(size) */
        for (unsigned i = 0; i < 2 * dim; i++) {
            double sum = 0;
            for (unsigned j = 0; j < size; j++)
                sum += (double)x[i / size * size + j] * (__builtin_popcount(i % size & j) % 2 == 0 ? 1 : -1);
            assert_true(fabs(sum / sqrt(size) - (double)y[i]) < 1e-6);
            before += pow((double)x[i], 2);
            after += pow((double)y[i], 2);
        }
        assert_true(fabs(before - after) < 1e-4);
        ifm_kv_rotate(y, dim, 2);
        for (unsigned i = 0; i < 2 * dim; i++)
            assert_true(fabsf(x[i] - y[i]) < 1e-6f);
    }
}

static void bytes_are_counted_whole(void **unused)
{
    (void)unused;
    /* By hand: int4, D = 128, 4096 tokens, sink 32: 4064 behind the sink, 31 whole pages, 30 of them encoded. */
    const uint64_t length[] = {4096};
    struct ifm_kv_shape shape = {IFM_KV_INT4, 128, 1, length, 32, false, 0};
    const uint64_t codes = 30 * 16384, metadata = 30 * 768, side = 32768 + 2 * 65536;
    assert_int_equal(ifm_kv_pool_bytes(&shape), codes + metadata + side);
    shape.format = IFM_KV_F16;
    assert_int_equal(ifm_kv_pool_bytes(&shape), 4096 * 4 * 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_aligned_and_apart),
        cmocka_unit_test(codes_lie_where_the_header_says),
        cmocka_unit_test(promoted_channels_have_four_bits),
        cmocka_unit_test(rotation_is_orthonormal_and_its_own_inverse),
        cmocka_unit_test(bytes_are_counted_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
