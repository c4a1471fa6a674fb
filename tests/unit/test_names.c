/* Names and their numbers; and that a finding is found by its cell without a walk. */
#include "base/names.h"
#include "derive/derive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_name_keeps_the_number_of_its_first_place(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_names *names = ifm_names_create(arena);
    enum { MANY = 20000 };
    assert_int_equal(ifm_names_find(names, "cell 0"), IFM_NO_NAME);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < MANY; i++)
            assert_int_equal(ifm_names_add(names, ifm_arena_printf(arena, "cell %zu", i)), i);
    assert_int_equal(ifm_names_count(names), MANY);
    assert_int_equal(ifm_names_add(names, ""), MANY);
    assert_int_equal(ifm_names_add(names, "\xff not UTF-8"), MANY + 1);
    assert_int_equal(ifm_names_find(names, "\xff not UTF-8"), MANY + 1);
    ifm_arena_destroy(arena);
}

static void findings_of_a_cell_come_in_the_order_of_the_list(void **state)
{
    (void)state;
    static struct ifm_finding findings[] = {
        {IFM_SEVERITY_NOTE, "", "z", "", "0", .kind = 0},    {IFM_SEVERITY_NOTE, "", "", "", "1", .kind = 0},
        {IFM_SEVERITY_INVALID, "", "a", "", "2", .kind = 0}, {IFM_SEVERITY_NOTE, "", "z", "", "3", .kind = 0},
        {IFM_SEVERITY_NOTE, "", "z", "", "4", .kind = 0},
    };
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_derived derived = {.findings = findings, .n_findings = 5};
    for (int sorted = 0; sorted < 2; sorted++) {
        const struct ifm_finding *at = NULL;
        static const size_t of_z[] = {0, 3, 4};
        for (size_t i = 0; i < 3; i++)
            assert_ptr_equal(at = ifm_derived_finding(&derived, "z", at), &findings[of_z[i]]);
        assert_null(ifm_derived_finding(&derived, "z", at));
        assert_ptr_equal(ifm_derived_finding(&derived, "", NULL), &findings[1]);
        assert_null(ifm_derived_finding(&derived, "b", NULL));
        ifm_derived_sort(&derived, arena);
    }
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_keeps_the_number_of_its_first_place),
        cmocka_unit_test(findings_of_a_cell_come_in_the_order_of_the_list),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
