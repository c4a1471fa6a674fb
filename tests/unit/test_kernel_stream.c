/* Stream kernels: every row of the table on this machine's instruction sets, odd sizes included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70000, GUARD = 64 };
static const size_t sizes[] = {0, 1, 7, 8, 63, 64, 65, 511, 512, 513, 1000, 2048, 4096, 4097, 32768, 65537, 69999};

static bool is_supported(const char *isa)
{
    const char *names[IFM_ISA_LIMIT];
    size_t n = ifm_isa_supported(names, IFM_ISA_LIMIT);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], isa) == 0)
            return true;
    return isa[0] == '\0';
}

static bool is_op(const struct ifm_kernel *kernel, const char *probe)
{
    return strncmp(kernel->op, probe, strlen(probe)) == 0 && is_supported(kernel->isa);
}

static unsigned char *noise(void)
{
    unsigned char *bytes = aligned_alloc(64, (MOST + 127) / 64 * 64);
    assert_non_null(bytes);
    uint64_t x = 88172645463325252ULL;
    for (size_t i = 0; i < MOST; i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        bytes[i] = (unsigned char)(x >> 56);
    }
    return bytes;
}

/* The definition: little-endian words, the last one filled up with zeros. */
static uint64_t definition(const unsigned char *bytes, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)bytes[i] << (i % 8 * 8);
    return sum;
}

static void reads_sum_every_byte_once(void **unused)
{
    (void)unused;
    unsigned char *bytes = noise();
    size_t n, run = 0;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++) {
        if (!is_op(&table[i], "read."))
            continue;
        run++;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            assert_int_equal(table[i].fn.read(bytes, sizes[s]), definition(bytes, sizes[s]));
    }
    assert_true(run >= 3);
    free(bytes);
}

static void sums_of_parts_add_up(void **unused)
{
    (void)unused;
    unsigned char *bytes = noise();
    const struct ifm_kernel *kernel = ifm_kernel_find("read.streams4", "auto");
    const size_t cut = 64 * 321;
    assert_int_equal(kernel->fn.read(bytes, cut) + kernel->fn.read(bytes + cut, 69999 - cut),
                     kernel->fn.read(bytes, 69999));
    free(bytes);
}

static void writes_fill_the_span_and_no_more(void **unused)
{
    (void)unused;
    unsigned char *bytes = noise();
    size_t n, run = 0;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++) {
        if (!is_op(&table[i], "write."))
            continue;
        run++;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            memset(bytes, 1, MOST);
            table[i].fn.write(bytes, sizes[s], 0x5a5a5a5a5a5a5a5aULL);
            for (size_t b = 0; b < MOST; b++)
                if (bytes[b] != (b < sizes[s] ? 0x5a : 1))
                    fail_msg("%s@%s size %zu: byte %zu is %u", table[i].op, table[i].isa, sizes[s], b, bytes[b]);
        }
    }
    assert_true(run >= 2);
    free(bytes);
}

static void copies_are_exact_and_stay_in_the_span(void **unused)
{
    (void)unused;
    unsigned char *from = noise(), *to = noise();
    size_t n, run = 0;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++) {
        if (!is_op(&table[i], "copy."))
            continue;
        run++;
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            memset(to, 0, MOST);
            table[i].fn.copy(to, from, sizes[s]);
            assert_memory_equal(to, from, sizes[s]);
            for (size_t b = sizes[s]; b < MOST && b < sizes[s] + GUARD; b++)
                assert_int_equal(to[b], 0);
        }
    }
    assert_true(run >= 2);
    free(from);
    free(to);
}

/* With factor -1 and term 3 a round gives every lane back; with factor 0 and term 1 each lane is 1 after it. */
static void flops_do_the_arithmetic_they_count(void **unused)
{
    (void)unused;
    size_t n, run = 0;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++) {
        if (!is_op(&table[i], "flops."))
            continue;
        run++;
        const uint64_t start = table[i].fn.flops(0, -1.0f, 3.0f);
        const uint64_t lanes = table[i].flops_per_round / 4;
        assert_true(start > lanes * (uint64_t)IFM_FLOPS_SCALE);
        assert_int_equal(table[i].fn.flops(1001, -1.0f, 3.0f), start);
        assert_int_equal(table[i].fn.flops(1, 0.0f, 1.0f), lanes * (uint64_t)IFM_FLOPS_SCALE);
        assert_int_equal(table[i].fn.flops(1, 1.0f, 0.25f), start + lanes * (uint64_t)(0.5f * IFM_FLOPS_SCALE));
    }
    assert_true(run >= 3);
}

/* Each lane grows by four products, twice a round, in 32 bits. */
static void dots_do_the_arithmetic_they_count(void **unused)
{
    (void)unused;
    size_t n, run = 0;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++) {
        if (!is_op(&table[i], "int8."))
            continue;
        run++;
        const uint64_t lanes = table[i].flops_per_round / 16, start = table[i].fn.dots(0, 3, 5);
        assert_int_equal(table[i].fn.dots(1, 1, 1), start + lanes * 8);
        assert_int_equal(table[i].fn.dots(7, 3, 5), start + lanes * 7 * 8 * 15);
        assert_int_equal(table[i].fn.dots(7, 127, 127), start + lanes * 7 * 8 * 127 * 127);
    }
    assert_true(run >= 2);
}

static void clock_adds_once_a_cycle(void **unused)
{
    (void)unused;
    const struct ifm_kernel *kernel = ifm_kernel_find("clock.chain", "auto");
    assert_int_equal(kernel->fn.clock(0, 3), 0);
    assert_int_equal(kernel->fn.clock(1, 1), IFM_CLOCK_CYCLES);
    assert_int_equal(kernel->fn.clock(1001, 7), 7 * 1001 * IFM_CLOCK_CYCLES);
}

static void chase_follows_every_chain(void **unused)
{
    (void)unused;
    enum { LINES = 64 };
    static _Alignas(64) uint64_t lines[LINES][8];
    for (uint64_t i = 0; i < LINES; i++)
        lines[i][0] = (i * 5 + 3) % LINES * 64; /* some permutation */
    uint64_t position[IFM_CHAINS], expected[IFM_CHAINS];
    for (uint64_t c = 0; c < IFM_CHAINS; c++) {
        position[c] = expected[c] = c * 64;
        for (int step = 0; step < 13; step++)
            expected[c] = lines[expected[c] / 64][0];
    }
    ifm_kernel_find("caches.chase", "auto")->fn.chase(lines, position, 13);
    assert_memory_equal(position, expected, sizeof expected);
}

static void find_knows_rows_and_refuses_others(void **unused)
{
    (void)unused;
    const char *const *names;
    size_t n;
    ifm_isas(&names, &n);
    assert_true(n >= 1);
    assert_string_equal(names[n - 1], "scalar");
    assert_ptr_equal(ifm_kernel_find("read.linear", "auto"), ifm_kernel_find("read.linear", names[0]));
    assert_string_equal(ifm_kernel_find("read.linear", "scalar")->isa, "scalar");
    assert_null(ifm_kernel_find("read.linear", "avx9000"));
    assert_null(ifm_kernel_find("read.backwards", "auto"));
    assert_string_equal(ifm_isa_name(0), "auto");
    assert_string_equal(ifm_isa_name(5), "scalar");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sum_every_byte_once),          cmocka_unit_test(sums_of_parts_add_up),
        cmocka_unit_test(writes_fill_the_span_and_no_more),   cmocka_unit_test(copies_are_exact_and_stay_in_the_span),
        cmocka_unit_test(flops_do_the_arithmetic_they_count), cmocka_unit_test(chase_follows_every_chain),
        cmocka_unit_test(dots_do_the_arithmetic_they_count),  cmocka_unit_test(clock_adds_once_a_cycle),
        cmocka_unit_test(find_knows_rows_and_refuses_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
