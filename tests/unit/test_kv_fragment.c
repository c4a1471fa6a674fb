/* The order of a device's pages: nothing is lost, and every code lies where mma.sync takes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/random.h"
#include "kernel/cpu/dispatch.h"
#include "kv/fragment.h"
#include "unit/kv_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum ifm_kv_format formats[] = {IFM_KV_INT8, IFM_KV_E4M3, IFM_KV_INT4, IFM_KV_INT2};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Zero what the canonical order keeps zero: V channels that D does not fill. */
static void clear_padding(const struct ifm_kv_layout *l, unsigned char *page)
{
    const struct ifm_kv_fragment f = ifm_kv_fragment_of(l);
    const size_t block = 128 / l->bits;
    if (l->format == IFM_KV_E4M3)
        return;
    for (size_t d = l->head_dim; d < (l->head_dim + block - 1) / block * block; d++)
        for (size_t t = 0; t < IFM_KV_PAGE; t++) {
            const struct ifm_kv_place place =
                ifm_kv_canonical_code(l->bits, f.c_v_codes, (uint32_t)d, (uint32_t)t, IFM_KV_PAGE);
            page[place.byte] &= (unsigned char)~(((1U << l->bits) - 1) << place.shift);
        }
}

static void there_and_back(const struct ifm_kv_layout *l, const unsigned char *page)
{
    const struct ifm_kv_fragment f = ifm_kv_fragment_of(l);
    unsigned char *there = lines_of(l->page_bytes), *back = lines_of(l->page_bytes);
    memset(there, 0xa5, l->page_bytes);
    memset(back, 0xa5, l->page_bytes);
    assert_int_equal(f.page_bytes, l->page_bytes);
    assert_true(f.end <= f.page_bytes);
    ifm_kv_pages_to_fragments(&f, page, there, 1);
    ifm_kv_pages_to_canonical(&f, there, back, 1);
    for (size_t i = 0; i < l->page_bytes; i++)
        if (page[i] != back[i])
            fail_msg("%s of %u: byte %zu is %02x, was %02x", ifm_kv_format_name(l->format), l->head_dim, i, back[i],
                     page[i]);
    free(there);
    free(back);
}

static void nothing_is_lost(void **unused)
{
    (void)unused;
    struct ifm_random random = ifm_random_start(19, 1);
    for (int i = 0; i < FORMATS; i++)
        for (unsigned dim = 32; dim <= 256; dim += 32) {
            const struct ifm_kv_layout l = ifm_kv_layout_of(formats[i], dim);
            unsigned char *page = lines_of(l.page_bytes);
            for (int round = 0; round < 3; round++) {
                fill_page(&l, page, &random, 1, 1);
                clear_padding(&l, page);
                there_and_back(&l, page);
            }
            free(page);
        }
}

/* As encoders write them, full and partial, with rows of zeros, of large values and with a NaN. */
static void encoded_pages_are_as_they_were(void **unused)
{
    (void)unused;
    static const unsigned tokens[] = {1, 17, 77, IFM_KV_PAGE};
    struct ifm_random random = ifm_random_start(19, 2);
    for (int i = 0; i < FORMATS; i++)
        for (unsigned dim = 32; dim <= 256; dim += 32) {
            char name[32];
            snprintf(name, sizeof name, "kv_encode.%s", ifm_kv_format_name(formats[i]));
            const struct ifm_kernel *kernel = ifm_kernel_find(name, "scalar");
            const struct ifm_kv_layout l = ifm_kv_layout_of(formats[i], dim);
            const size_t n = (size_t)IFM_KV_PAGE * dim;
            unsigned char *page = lines_of(l.page_bytes);
            float *k = malloc(2 * n * sizeof *k), *v = k + n;
            assert_non_null(k);
            assert_non_null(kernel);
            for (size_t t = 0; t < sizeof tokens / sizeof *tokens; t++) {
                for (size_t x = 0; x < 2 * n; x++)
                    k[x] = (float)ifm_random_normal(&random) * (x % dim == 3 ? 3e4f : x % dim == 5 ? 0 : 1);
                k[7] = t == 2 ? NAN : 1;
                memset(page, 0, l.page_bytes);
                kernel->fn.kv_encode(&l, k, v, tokens[t], page);
                there_and_back(&l, page);
            }
            free(k);
            free(page);
        }
}

/* The f16 whose bits are those of a word under a mask, in units of 2^-24. */
static unsigned units(uint32_t bits16)
{
    assert_true(bits16 < 0x400); /* subnormal */
    return bits16;
}

/* Of 2 bits: a register of mma.sync.m16n8k32 by a mask, of which column 16 c + 4 t + b is byte b. */
static unsigned taken_two(const unsigned char *fragments, unsigned f, unsigned row, unsigned column)
{
    const unsigned lane = row % 8 * 4 + column % 16 / 4;
    uint32_t w[4];
    memcpy(w, fragments + f / 4 * 512 + lane * 16, sizeof w);
    const uint32_t a = w[row / 8 + column / 16 * 2] & 0x03030303U << 2 * (f % 4);
    return a >> 2 * (f % 4) >> 8 * (column % 4) & 0xff;
}

/* Code of row, column of fragment f, as a kernel takes it: from a lane's word, by a mask or as bytes. 8 and 4 bits. */
static unsigned taken(unsigned bits, const unsigned char *fragments, unsigned f, unsigned row, unsigned column)
{
    const unsigned lane = row % 8 * 4 + column % 8 / 2, r = row / 8, c = column / 8, e = column % 2;
    uint32_t w[4];
    const unsigned each = bits == 8 ? 2 : 4;
    memcpy(w, fragments + f / each * 512 + lane * 16, sizeof w);
    if (bits == 8) {
        const uint32_t word = w[f % 2 * 2 + c] >> 16 * r;
        return e == 0 ? word & 0xff : word >> 8 & 0xff;
    }
    const unsigned low = 4 * c;
    const uint32_t word = w[f % 4] >> 8 * r & 0x000f000fU << low;
    const unsigned x = units(e == 0 ? word & 0xffff : word >> 16);
    assert_int_equal(x & ((1U << low) - 1), 0);
    return x >> low;
}

static unsigned canonical_of(const struct ifm_kv_layout *l, const unsigned char *page, struct ifm_kv_place place)
{
    return page[place.byte] >> place.shift & ((1U << l->bits) - 1);
}

static void check_chunks(const struct ifm_kv_layout *l, const unsigned char *page, const unsigned char *there)
{
    const struct ifm_kv_fragment f = ifm_kv_fragment_of(l);
    const unsigned n = l->head_dim / 16, flip = l->format == IFM_KV_INT8 ? 0x80 : 0, dim = l->head_dim;
    for (unsigned token = 0; token < IFM_KV_PAGE; token++) {
        const unsigned char *chunk = there + f.chunks + token / f.chunk * f.chunk_bytes, *v = chunk + f.codes;
        const unsigned in = token % f.chunk, tile = in / 16 * n;
        for (unsigned d = 0; d < dim; d++) {
            /* columns of products along K: 8 t and on are the channels of lane t in each 32 */
            const unsigned i = d / 32 * 2 + d / 4 % 2, column = d / 8 % 4 * 2 + d % 2 + d / 2 % 2 * 8;
            const unsigned k = l->bits == 2 ? taken_two(chunk, (token / 64 * (dim / 32) + d / 32) * 4 + token / 16 % 4,
                                                        token % 16, d / 4 % 2 * 16 + d / 8 % 4 * 4 + d % 4)
                                            : taken(l->bits, chunk, tile + i, in % 16, column);
            if (k != canonical_of(l, page, ifm_kv_canonical_k(&f, token, d)))
                fail_msg("%s of %u: K of token %u, channel %u", ifm_kv_format_name(l->format), dim, token, d);
            const unsigned part = dim == 128 ? d % 8 : dim == 64 ? d % 4 : d / 16;
            const unsigned row = dim == 128 ? d / 8 : dim == 64 ? d / 8 + (d & 4) * 2 : d % 16;
            /* of 32 tokens lane t has 2 t, 2 t + 1, and those 8 on: columns of bytes of one register */
            const unsigned of_lane = token / 2 % 4 * 4 + token % 2 + token / 8 % 2 * 2;
            const unsigned code = l->bits == 2 ? taken_two(v, token / 32 * n + part, row, token / 16 % 2 * 16 + of_lane)
                                               : taken(l->bits, v, tile + part, row, in % 16);
            if (code != (canonical_of(l, page, ifm_kv_canonical_v(&f, token, d)) ^ flip))
                fail_msg("%s of %u: V of token %u, channel %u", ifm_kv_format_name(l->format), dim, token, d);
        }
        if (l->format != IFM_KV_E4M3)
            assert_memory_equal(page + l->v_scale + 2 * token, there + ifm_kv_fragment_v_scale(&f, token), 2);
    }
}

static void codes_are_operands(void **unused)
{
    (void)unused;
    struct ifm_random random = ifm_random_start(19, 3);
    for (int i = 0; i < FORMATS; i++)
        for (unsigned dim = 32; dim <= 256; dim += 32) {
            const struct ifm_kv_layout l = ifm_kv_layout_of(formats[i], dim);
            const struct ifm_kv_fragment f = ifm_kv_fragment_of(&l);
            unsigned char *page = lines_of(l.page_bytes), *there = lines_of(l.page_bytes);
            fill_page(&l, page, &random, 1, 1);
            ifm_kv_pages_to_fragments(&f, page, there, 1);
            check_chunks(&l, page, there);
            free(page);
            free(there);
        }
}

/* Promoted channels: their lower bits under the mask of their tile, their scales times 4. */
static void lower_bits_are_operands(void **unused)
{
    (void)unused;
    struct ifm_random random = ifm_random_start(19, 4);
    for (unsigned dim = 64; dim <= 128; dim += 64) {
        const struct ifm_kv_layout l = ifm_kv_layout_of(IFM_KV_INT2, dim);
        const struct ifm_kv_fragment f = ifm_kv_fragment_of(&l);
        unsigned char *page = lines_of(l.page_bytes), *there = lines_of(l.page_bytes);
        fill_page(&l, page, &random, 1, 1);
        ifm_kv_pages_to_fragments(&f, page, there, 1);
        for (unsigned token = 0; token < IFM_KV_PAGE; token++)
            for (unsigned i = 0; i < l.n_promoted; i++) {
                const unsigned tile = token / 16, row = token % 16;
                uint32_t w[4] = {0};
                unsigned code;
                if (dim == 128) {
                    code = taken_two(there + f.k_low, tile % 4, row, tile / 4 * 16 + i);
                } else {
                    memcpy(w, there + f.k_low + (row % 8 * 4 + i / 2) * 8, 8);
                    code = w[tile / 4] >> (8 * (i % 2) + 16 * (row / 8) + 2 * (tile % 4)) & 3;
                }
                assert_int_equal(code,
                                 canonical_of(&l, page, ifm_kv_canonical_code(2, f.c_k_low, token, i, l.n_promoted)));
            }
        for (unsigned i = 0; i < l.n_promoted; i++) {
            uint16_t was, is;
            memcpy(&was, page + l.k_scale + 2 * page[l.promoted + i], 2);
            memcpy(&is, there + f.k_scale + 2 * there[f.promoted + i], 2);
            assert_true(ifm_f16_to_f32(is) == 4 * ifm_f16_to_f32(was));
        }
        free(page);
        free(there);
    }
}

static void times_4_is_exact(void **unused)
{
    (void)unused;
    for (uint32_t x = 0; x < 0x10000; x++) {
        const uint32_t exponent = x >> 10 & 31;
        if (exponent > 28 && exponent < 31)
            continue;
        const uint32_t y = ifm_kv_times_4(x);
        assert_int_equal(ifm_kv_over_4(y), x);
        if (exponent < 31)
            assert_true(ifm_f16_to_f32((uint16_t)y) == 4 * ifm_f16_to_f32((uint16_t)x));
    }
}

static void sides_fill_a_pair(void **unused)
{
    (void)unused;
    unsigned char used[2 * IFM_KV_SIDE] = {0};
    for (uint32_t part = 0; part < 3; part++)
        for (uint32_t row = 0; row < (part == 0 ? IFM_KV_SIDE_SINK : IFM_KV_SIDE_RING); row++)
            for (uint32_t of_v = 0; of_v < 2; of_v++)
                used[ifm_kv_side_row(96, part, row, of_v) / 96]++;
    for (size_t i = 0; i < sizeof used; i++)
        assert_int_equal(used[i], 1);
    assert_int_equal(ifm_kv_side_row(128, 2, 5, 1), (128 + 256 + 128 + 5) * 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),    cmocka_unit_test(encoded_pages_are_as_they_were),
        cmocka_unit_test(codes_are_operands), cmocka_unit_test(lower_bits_are_operands),
        cmocka_unit_test(times_4_is_exact),   cmocka_unit_test(sides_fill_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
