/* Footnotes of the brief document. */
#include "trust_sample.h"

#include <locale.h>

/* A machine that is slow in every other slot gives both arms two times: that stands below the table, of both alike, and
 * not only among the warnings that the report has. */
static void what_alternates_is_said_of_both_arms(void **state)
{
    (void)state;
    static const struct ifm_finding found[] = {
        {IFM_SEVERITY_WARNING, "rule-07", "", "", "other programs took up to 100 % of each CPU as the run began",
         .kind = IFM_FINDING_LOAD},
        {IFM_SEVERITY_WARNING, "rule-07", D, "half",
         IFM_ALTERNATES_WORDS " (83.0 ms, 52.9 ms)" IFM_ALTERNATES_END ". Remedy: a quieter machine",
         .kind = IFM_FINDING_ALTERNATES},
        {IFM_SEVERITY_NOTE, "rule-07", D, "half", "the step time has 2 modes", .kind = IFM_FINDING_MODES}};
    char *text = brief(sample_of(found, COUNT(found)));
    assert_has(text, "  ¹ the time alternates from slot to slot (83.0 ms, 52.9 ms), whichever arm runs\n");
    assert_int_equal(count_of(text, "¹"), 3);
    assert_lacks(text, "rest: ");
    free(text);
    text = brief(sample_of(&found[1], 1)); /* the word of trust has it */
    assert_int_equal(count_of(text, "alternates"), 1);
    assert_lacks(text, "¹");
    free(text);
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8"); /* as tables are drawn */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_alternates_is_said_of_both_arms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
