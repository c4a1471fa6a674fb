/* The dispatch table: every row is reachable under its own name, holds code of its own, and "auto" and the falling
 * back choose among rows as documented. That the code of a row is of the row's instruction set is shown where it can
 * be: tests/e2e/kernel_code.sh reads the instructions, tests/emulate runs them on processors that have no others. */
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

/* Place in the list of all sets, best first; IFM_ISA_LIMIT when it is none of them. */
static int rank(const char *isa)
{
    for (int i = 0; i < IFM_ISA_LIMIT; i++)
        if (strcmp(ifm_isa_name(i + 1), isa) == 0)
            return i;
    return IFM_ISA_LIMIT;
}

static bool supported(const char *isa)
{
    const char *const *names;
    size_t n;
    ifm_isas(&names, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], isa) == 0)
            return true;
    return false;
}

static void every_row_is_found_under_its_name(void **state)
{
    (void)state;
    size_t n;
    const struct ifm_kernel *table = ifm_kernels(&n);
    assert_true(n > 10);
    for (size_t i = 0; i < n; i++) {
        if (table[i].isa[0] != '\0' && rank(table[i].isa) == IFM_ISA_LIMIT)
            fail_msg("%s: no instruction set is called %s", table[i].op, table[i].isa);
        for (int isa = 1; isa <= IFM_ISA_LIMIT && table[i].isa[0] == '\0'; isa++)
            assert_ptr_equal(ifm_kernel_find(table[i].op, ifm_isa_name(isa)), &table[i]);
        if (table[i].isa[0] != '\0' && ifm_kernel_find(table[i].op, table[i].isa) != &table[i])
            fail_msg("%s for %s is another row", table[i].op, table[i].isa);
    }
}

/* A row that was copied and not edited would run another row's code under its own name. */
static void no_two_rows_hold_the_same_code(void **state)
{
    (void)state;
    size_t n;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(table[i].fn.read);
        for (size_t j = 0; j < i; j++)
            if (memcmp(&table[i].fn, &table[j].fn, sizeof table[i].fn) == 0)
                fail_msg("%s for %s is the code of %s for %s", table[i].op, table[i].isa, table[j].op, table[j].isa);
    }
}

static void auto_is_the_best_supported_row(void **state)
{
    (void)state;
    size_t n;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++) {
        const struct ifm_kernel *chosen = ifm_kernel_find(table[i].op, "auto");
        if (chosen == NULL)
            fail_msg("%s has no row that this machine can run", table[i].op);
        assert_string_equal(chosen->op, table[i].op);
        if (table[i].isa[0] == '\0')
            continue;
        if (!supported(chosen->isa))
            fail_msg("auto takes %s for %s, which this machine lacks", chosen->isa, table[i].op);
        if (supported(table[i].isa) && rank(table[i].isa) < rank(chosen->isa))
            fail_msg("auto takes %s for %s, although there is %s", chosen->isa, table[i].op, table[i].isa);
    }
}

/* avx512vnni is avx512 with more; no other set stands in for one that has no row. */
static void only_byte_dot_products_fall_back(void **state)
{
    (void)state;
    size_t n;
    const struct ifm_kernel *table = ifm_kernels(&n);
    for (size_t i = 0; i < n; i++)
        for (int isa = 1; isa <= IFM_ISA_LIMIT; isa++) {
            const char *name = ifm_isa_name(isa);
            const struct ifm_kernel *found = ifm_kernel_find(table[i].op, name);
            if (found == NULL || found->isa[0] == '\0' || strcmp(found->isa, name) == 0)
                continue;
            assert_string_equal(name, "avx512vnni");
            assert_string_equal(found->isa, "avx512");
        }
    assert_null(ifm_kernel_find("decode.nothing", "auto"));
    assert_null(ifm_kernel_find("decode.online", "neon"));
    assert_null(ifm_kernel_find("decode.online", ""));
}

/* IFM_EXPECT_BEST_ISA: what the one who started this program knows of the processor, for an emulated one. */
static void the_sets_are_those_of_the_processor(void **state)
{
    (void)state;
    const char *const *names, *expected = getenv("IFM_EXPECT_BEST_ISA");
    const char *copy[IFM_ISA_LIMIT];
    size_t n;
    ifm_isas(&names, &n);
    assert_true(n >= 1 && n <= IFM_ISA_LIMIT);
    assert_string_equal(names[n - 1], "scalar");
    for (size_t i = 1; i < n; i++)
        assert_int_equal(rank(names[i]), rank(names[i - 1]) + 1);
    assert_int_equal(ifm_isa_supported(copy, IFM_ISA_LIMIT), n);
    assert_int_equal(ifm_isa_supported(copy, 1), 1);
    assert_string_equal(copy[0], names[0]);
#if defined(__x86_64__)
    assert_true(supported("sse2"));
#else
    assert_int_equal(n, 1);
#endif
    if (expected != NULL)
        assert_string_equal(names[0], expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_found_under_its_name),   cmocka_unit_test(no_two_rows_hold_the_same_code),
        cmocka_unit_test(auto_is_the_best_supported_row),      cmocka_unit_test(only_byte_dot_products_fall_back),
        cmocka_unit_test(the_sets_are_those_of_the_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
