/* Footnotes of the brief document, and its sentence about an open gate. */
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
         IFM_ALTERNATES_WORDS " (by 57 %)" IFM_ALTERNATES_END ". Remedy: a quieter machine",
         .kind = IFM_FINDING_ALTERNATES},
        {IFM_SEVERITY_NOTE, "rule-07", D, "half", "the step time has 2 modes", .kind = IFM_FINDING_MODES}};
    char *text = brief(sample_of(found, COUNT(found)));
    assert_has(text, "  ¹ the time alternates from slot to slot (by 57 %), whichever arm runs\n");
    assert_int_equal(count_of(text, "¹"), 3);
    assert_lacks(text, "rest: ");
    free(text);
    text = brief(sample_of(&found[1], 1)); /* the word of trust has it */
    assert_int_equal(count_of(text, "alternates"), 1);
    assert_lacks(text, "¹");
    free(text);
}

/* A cache larger than its tokens says what it is larger than. */
static void larger_than_its_tokens_is_explained(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    add_number(s, "plain", IFM_M_COMPRESSION_RATIO, (struct ifm_value){.number = 0.75});
    add_number(s, "half", IFM_M_COMPRESSION_RATIO, (struct ifm_value){.number = 1.5});
    char *text = brief(s);
    assert_has(text, "1.33x larger¹");
    assert_has(text, "¹ than its tokens as 16-bit values: pages are stored whole, and so few tokens do not fill them");
    free(text);
    s = sample_of(NULL, 0); /* and beside a baseline that is no 16-bit one what it is smaller than */
    add_number(s, "plain", IFM_M_COMPRESSION_RATIO, (struct ifm_value){.number = 1.93});
    add_number(s, "half", IFM_M_COMPRESSION_RATIO, (struct ifm_value){.number = 3.71});
    text = brief(s);
    assert_has(text, "1.93x smaller¹");
    assert_has(text, "3.71x smaller¹");
    assert_has(text, "¹ than its tokens as 16-bit values\n");
    free(text);
    s = sample_of(NULL, 0);
    add_number(s, "plain", IFM_M_COMPRESSION_RATIO, (struct ifm_value){.number = 1});
    add_number(s, "half", IFM_M_COMPRESSION_RATIO, (struct ifm_value){.number = 1.9});
    text = brief(s);
    assert_lacks(text, "16-bit values");
    free(text);
}

/* A time alone may have no interval where the change of it has one, which stands elsewhere. */
static void a_change_of_processor_time_is_known_beside_times_that_are_not(void **state)
{
    (void)state;
    static const struct ifm_value cpu = {.number = 8.2e7, .n = 29, .n_of = "blocks", .text = "needs 772 runs"};
    for (int known = 0; known < 2; known++) {
        struct sample *s = sample_of(NULL, 0);
        add_number(s, "plain", IFM_M_COMMAND_CPU_NS, cpu);
        add_number(s, "half", IFM_M_CHANGE_CPU_PERCENT,
                   (struct ifm_value){.number = 9, .has_interval = known, .low = 7.3, .high = 10.8, .text = "more"});
        char *text = page(s);
        assert_has(text, known ? "no interval of this time alone, its change has one: needs 772 runs"
                               : "no interval: needs 772 runs");
        free(text);
    }
}

/* Notes that differ in what is cut off are one. */
static void equal_notes_are_one(void **state)
{
    (void)state;
    struct sample *s = sample_of(NULL, 0);
    s->numbers[PLAIN_TIME].value.has_interval = s->numbers[HALF_TIME].value.has_interval = false;
    s->numbers[PLAIN_TIME].value.text =
        "left by 10 of its values, each of which lies beyond; so far away; that these words take a line of their own";
    s->numbers[HALF_TIME].value.text =
        "left by 10 of its values, each of which lies beyond; so far away; and others that take a line of their own";
    char *text = brief(s);
    assert_int_equal(count_of(text, "left by 10 of its values, each of which lies beyond; so far away\n"), 1);
    assert_int_equal(count_of(text, "¹"), 3); /* of both rows, and the note */
    assert_lacks(text, "²");
    free(text);
}

/* What the blocks of an open gate take stands once: with the gate where what helps first is another thing. */
static void the_blocks_of_an_open_gate_have_their_time_and_option(void **state)
{
    (void)state;
    static const struct ifm_finding unlike = {IFM_SEVERITY_WARNING,       "rule-12",          D, "half",
                                              "its output depends on it", .takes_word = false};
    static const char *reasons[] = {"gate \"margin\" (arm half): 33 more blocks would do"};
    for (size_t found = 0; found < 2; found++) {
        struct sample *s = sample_of(&unlike, found);
        struct ifm_gate_result result = on_limit;
        result.reason = "33 more blocks would do";
        result.further_of = "blocks";
        result.observed = s->numbers[CHANGE].value;
        ended(s, "cap", 24, 10);
        s->verdict.gates = &result;
        s->verdict.n_gates = s->verdict.n_reasons = 1;
        s->verdict.reasons = reasons;
        s->verdict.outcome = result.outcome = IFM_OUTCOME_INCONCLUSIVE;
        char *text = brief(s);
        assert_int_equal(strstr(text, "would do, in 15 s: --cap 25s") != NULL, found);
        assert_int_equal(count_of(text, "--cap 25s"), 1);
        free(text);
    }
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8"); /* as tables are drawn */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_alternates_is_said_of_both_arms),
        cmocka_unit_test(larger_than_its_tokens_is_explained),
        cmocka_unit_test(a_change_of_processor_time_is_known_beside_times_that_are_not),
        cmocka_unit_test(equal_notes_are_one),
        cmocka_unit_test(the_blocks_of_an_open_gate_have_their_time_and_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
