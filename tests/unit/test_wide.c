/* Why one time of an arm says too little: what stands below the table. */
#include "trust_sample.h"

/* The table has a mean and a median: that they say opposite things is told, where it is no chance and told nowhere. */
static void a_mean_and_a_median_that_disagree_are_told(void **state)
{
    (void)state;
    static const struct {
        double speedup, low, high, p50;
        bool found;
        int64_t all; /* blocks; the ratio is of 24 */
        const char *says;
    } cases[] = {{2, 1.9, 2.1, 850000, false, 24, "\n  mean and p50 disagree: half 2.00x by the mean, 0.941x by p50\n"},
                 {2, 1.9, 2.1, 850000, true, 24, NULL},           /* said by a finding */
                 {2, 1.9, 2.1, 750000, false, 24, NULL},          /* one side */
                 {2, 1.9, 2.1, 801000, false, 24, NULL},          /* within the margin */
                 {1.001, 0.9995, 1.002, 850000, false, 24, NULL}, /* the mean is */
                 {1.02, 0.9, 1.1, 850000, false, 24, NULL},       /* within what the noise of the mean covers */
                 {2, 0, 0, 850000, false, 24, NULL}};             /* nothing says how much that is */
    const struct ifm_finding typical = {IFM_SEVERITY_WARNING,       "rule-07", D, "half", "they disagree",
                                        .kind = IFM_FINDING_TYPICAL};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sample *s = sample_of(&typical, cases[i].found);
        s->numbers[SPEEDUP].value.number = cases[i].speedup;
        s->numbers[SPEEDUP].value.low = cases[i].low;
        s->numbers[SPEEDUP].value.high = cases[i].high;
        s->numbers[SPEEDUP].value.has_interval = cases[i].high > 0;
        s->numbers[PROBE_RATE] = (struct ifm_number){D, "plain", IFM_M_LATENCY_NS_P50, RATE(800000, 799000, 801000)};
        s->numbers[HALF_RATE] =
            (struct ifm_number){D, "half", IFM_M_LATENCY_NS_P50, RATE(cases[i].p50, 0.9 * cases[i].p50, 880000)};
        s->numbers[HALF_ENERGY] = (struct ifm_number){
            D, "half", IFM_M_CHANGE_PERCENT_ALL_BLOCKS, {.number = -50, .n = cases[i].all, .n_of = "blocks"}};
        sample_fill(s->numbers, COUNT(decided));
        char *text = brief(s);
        struct ifm_text page = {0};
        struct ifm_error error;
        assert_int_equal(ifm_compose_document(&s->publication, IFM_LEVEL_PAGE, false, true, &page, &error), IFM_OK);
        assert_int_equal(strstr(text, "p50 disagree") != NULL, cases[i].says != NULL);
        assert_int_equal(strstr(page.data, "p50 disagree") != NULL, cases[i].says != NULL);
        assert_has(text, cases[i].says == NULL ? "" : cases[i].says);
        free(text);
        ifm_text_free(&page);
    }
}

/* Where disturbed blocks took the word of the time, processor time has none that no gate asks for. */
static void disturbed_blocks_take_the_word_of_cpu_time_too(void **state)
{
    (void)state;
    static const struct ifm_finding found[] = {{IFM_SEVERITY_WARNING, "rule-02", D, "half",
                                                "undecided: the machine disturbed 14 of 14 blocks",
                                                .takes_word = true}};
    for (size_t n = 0; n <= COUNT(found); n++) {
        struct sample *s = sample_of(found, n);
        s->numbers[CHANGE].value.text = "undecided";
        s->numbers[HALF_ENERGY] = (struct ifm_number){D, "half", IFM_M_CHANGE_CPU_PERCENT, RATE(-6.15, -10.86, -1.19)};
        s->numbers[HALF_ENERGY].value.text = "less";
        sample_fill(s->numbers, COUNT(decided));
        char *text = brief(s);
        assert_int_equal(strstr(text, "CPU time per run") != NULL, n == 0);
        free(text);
        struct ifm_gate gate = {.name = "cpu", .metric = "change_cpu_percent", .threshold = 3, .interval = true};
        struct ifm_plan plan = *s->publication.plan;
        plan.gates = &gate;
        plan.n_gates = 1;
        s->publication.plan = &plan;
        s->numbers[HALF_ENERGY].value = (struct ifm_value)RATE(-0.152, -2.83, 2.6);
        s->numbers[HALF_ENERGY].value.unit = "%";
        s->numbers[HALF_ENERGY].value.text = "undecided";
        text = brief(s);
        assert_has(text, "; CPU time per run -0.152 %"); /* the gate's own digits */
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mean_and_a_median_that_disagree_are_told),
        cmocka_unit_test(disturbed_blocks_take_the_word_of_cpu_time_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
