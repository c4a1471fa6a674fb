/* Looking derived numbers up: the same answers with and without an order, and never from an order of another list. */
#include "derive/derive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* In the order of a report, which is not that of names; one name is there twice. */
static struct ifm_number numbers[] = {
    {"z", "plain", IFM_M_STEP_NS, {.number = 1}}, {"z", "plain", IFM_M_FLOPS_PER_S, {.number = 2}},
    {"z", "", IFM_M_STEP_NS, {.number = 3}},      {"a", "plain", IFM_M_STEP_NS, {.number = 4}},
    {"a", "int4", IFM_M_STEP_NS, {.number = 5}},  {"z", "plain", IFM_M_STEP_NS, {.number = 6}},
};

static void check_every_answer(const struct ifm_derived *derived)
{
    for (size_t i = 0; i + 1 < COUNT(numbers); i++)
        assert_ptr_equal(ifm_derived_find(derived, numbers[i].cell, numbers[i].arm, numbers[i].metric), &numbers[i]);
    assert_ptr_equal(ifm_derived_value(derived, "a", "int4", IFM_M_STEP_NS), &numbers[4].value);
    assert_null(ifm_derived_find(derived, "z", "int4", IFM_M_STEP_NS));
    assert_null(ifm_derived_find(derived, "zz", "plain", IFM_M_STEP_NS));
    assert_null(ifm_derived_find(derived, "", "", IFM_M_NONE));
    assert_null(ifm_derived_value(derived, "a", "plain", IFM_M_FLOPS_PER_S));
}

static void order_or_none_the_answers_are_the_same(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_derived derived = {.numbers = numbers, .n_numbers = COUNT(numbers)};
    check_every_answer(&derived);
    ifm_derived_sort(&derived, arena);
    assert_non_null(derived.order.sorted);
    check_every_answer(&derived);
    assert_ptr_equal(derived.numbers, numbers);
    assert_string_equal(numbers[0].cell, "z"); /* the list itself stays as it was */
    ifm_arena_destroy(arena);
}

static void an_order_of_another_list_is_not_used(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_number other[COUNT(numbers)] = {{"b", "plain", IFM_M_STEP_NS, {.number = 7}}};
    struct ifm_derived derived = {.numbers = numbers, .n_numbers = COUNT(numbers)};
    for (size_t i = 1; i < COUNT(other); i++)
        other[i] = (struct ifm_number){"b", "", IFM_M_NONE, {.number = 0}};
    ifm_derived_sort(&derived, arena);
    derived.numbers = other;
    assert_ptr_equal(ifm_derived_find(&derived, "b", "plain", IFM_M_STEP_NS), &other[0]);
    assert_null(ifm_derived_find(&derived, "a", "int4", IFM_M_STEP_NS));
    derived.numbers = numbers;
    derived.n_numbers = 4; /* shorter than what was put in order */
    assert_null(ifm_derived_find(&derived, "a", "int4", IFM_M_STEP_NS));
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_or_none_the_answers_are_the_same),
        cmocka_unit_test(an_order_of_another_list_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
