/* The word of trust beside a gate that is left open: what decides it. */
#include "trust_sample.h"

/* What decides an open gate is said under load too, behind what comes first; where nobody asked, that alone. */
static void load_keeps_what_decides_a_gate(void **state)
{
    (void)state;
    struct ifm_gate_result far = on_limit;
    far.further = 100000;
    const struct {
        const struct ifm_gate_result *gate;
        const char *remedy;
    } rows[] = {
        {NULL, ""},
        {&on_limit,
         "; else about 33 more blocks or fewer (15 s) would probably decide the gate, if noise stays as it is: --cap "},
        {&far, ": an hour more may not decide"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sample *s = open_sample(NULL, 0);
        struct ifm_gate_result gate = rows[i].gate == NULL ? on_limit : *rows[i].gate;
        s->derived.busy = true;
        ended(s, "cap", 24, 10);
        s->verdict.gates = &gate;
        s->verdict.n_gates = rows[i].gate != NULL;
        s->verdict.outcome = rows[i].gate != NULL ? IFM_OUTCOME_INCONCLUSIVE : IFM_OUTCOME_NOT_GATED;
        const struct ifm_trust trust = again(s);
        assert_has(trust.remedy, "end other work");
        assert_has(trust.remedy, rows[i].remedy);
        assert_true(rows[i].gate != NULL || (strstr(trust.remedy, "else") == NULL && trust.remedy[0] == 'e'));
    }
}

/* Where gates ask about processor time alone, what disturbed the time is no cause, and a quiet machine no remedy. */
static void a_gate_on_processor_time_is_not_about_the_time(void **state)
{
    (void)state;
    static const struct ifm_gate gate = {
        .name = "cpu", .metric = "change_cpu_percent", .cell = "", .arm = "", .threshold = 3, .interval = true};
    static const struct ifm_finding took = {IFM_SEVERITY_WARNING,
                                            "rule-02",
                                            D,
                                            "half",
                                            "undecided: the machine disturbed 24 of 24 blocks. Remedy: end other work",
                                            .takes_word = true};
    for (int open = 0; open < 2; open++) {
        struct sample *s = open_sample(&took, 1);
        struct ifm_gate_result result = on_limit;
        result.gate = &gate;
        result.outcome = open ? IFM_OUTCOME_INCONCLUSIVE : IFM_OUTCOME_PASS;
        ended(s, "cap", 24, 10);
        s->verdict.gates = &result;
        s->verdict.n_gates = 1;
        s->verdict.outcome = result.outcome;
        const struct ifm_trust trust = again(s);
        assert_lacks(trust.cause, "disturbed");
        assert_lacks(trust.remedy, "other work");
        assert_string_equal(trust.cause, open ? "the gate's limit lies inside the interval"
                                              : "no number was refused, and no warning touches what is compared");
        assert_string_equal(
            trust.remedy,
            open ? "--cap 25s: about 33 more blocks or fewer (15 s) would probably decide the gate" IFM_IF_NOISE_STAYS
                 : "");
    }
}

/* More blocks average times that wander, so they are what a gate waits for; whose gate has its answer, waits for
 * nothing.
 */
static void times_that_wander_leave_a_gate_its_blocks(void **state)
{
    (void)state;
    static const enum ifm_finding_kind kinds[] = {IFM_FINDING_UNSTEADY, IFM_FINDING_TIME_CHANGES,
                                                  IFM_FINDING_TIME_DRIFTS, IFM_FINDING_WARM_UP};
    for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
        const struct ifm_finding found = {IFM_SEVERITY_WARNING, "rule-07",           D, "half",
                                          "the level changes",  .kind = kinds[i / 2]};
        struct sample *s = sample_of(&found, 1);
        struct ifm_gate_result gate = on_limit;
        ended(s, "cap", 24, 10);
        s->verdict.gates = &gate;
        s->verdict.n_gates = 1;
        s->verdict.outcome = gate.outcome = i % 2 == 0 ? IFM_OUTCOME_INCONCLUSIVE : IFM_OUTCOME_PASS;
        const char *remedy = again(s).remedy;
        if (kinds[i / 2] == IFM_FINDING_WARM_UP)
            assert_has(remedy, "warm up for longer");
        else if (i % 2 == 0)
            assert_has(remedy, "--cap 25s: about 33 more blocks or fewer (15 s) would probably decide the gate");
        else
            assert_string_equal(remedy, "");
    }
}

/* Half of all blocks disturbed are the main cause, whatever else was found, which stands beside it. */
static void most_blocks_disturbed_come_first(void **state)
{
    (void)state;
    static const struct ifm_finding found = {
        IFM_SEVERITY_WARNING, "rule-03", D, "", "whether it is weak cannot be told: no", .kind = IFM_FINDING_OTHER};
    for (int most = 0; most < 2; most++) {
        struct sample *s = sample_of(&found, 1);
        add_number(s, "half", IFM_M_BLOCKS_MARKED, (struct ifm_value){.number = most ? 16 : 4, .n = 30});
        add_number(s, "half", IFM_M_BLOCKS_COUNT, (struct ifm_value){.number = 30, .n = 30});
        sample_fill(s->derived.numbers, s->derived.n_numbers);
        const struct ifm_trust trust = again(s);
        assert_string_equal(trust.cause, most ? "the machine disturbed 16 of 30 blocks" : found.text);
        assert_string_equal(trust.also, most ? D ": whether it is weak cannot be told" : "");
        assert_int_equal(strstr(trust.remedy, "end other work") != NULL, most);
        assert_int_equal(trust.warnings, 0);
    }
}

/* A bias is none of the machine's noise: it keeps its word. */
static void a_bias_keeps_its_word_beside_disturbed_blocks(void **state)
{
    (void)state;
    static const enum ifm_finding_kind kinds[] = {IFM_FINDING_CACHES, IFM_FINDING_ORDER, IFM_FINDING_CLOCKS,
                                                  IFM_FINDING_WEAK_BASELINE};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const struct ifm_finding found = {IFM_SEVERITY_WARNING, "rule-08", D, "half", "one-sided", .kind = kinds[i]};
        struct sample *s = sample_of(&found, 1);
        add_number(s, "half", IFM_M_BLOCKS_MARKED, (struct ifm_value){.number = 16, .n = 30});
        add_number(s, "half", IFM_M_BLOCKS_COUNT, (struct ifm_value){.number = 30, .n = 30});
        sample_fill(s->derived.numbers, s->derived.n_numbers);
        const struct ifm_trust trust = again(s);
        assert_int_equal(trust.word, kinds[i] == IFM_FINDING_WEAK_BASELINE ? IFM_TRUST_WEAK : IFM_TRUST_BIASED);
        assert_string_equal(trust.cause, "one-sided");
    }
}

/* What two arms have each is not "in one arm at least". */
static void what_others_have_too_is_not_one_arms(void **state)
{
    (void)state;
    static const struct ifm_finding both[] = {{IFM_SEVERITY_WARNING, "rule-07", D, "half",
                                               "it drifts" IFM_ONE_ARM_WORDS "; so", .kind = IFM_FINDING_TIME_DRIFTS},
                                              {IFM_SEVERITY_WARNING, "rule-07", D, "plain",
                                               "it drifts" IFM_ONE_ARM_WORDS "; so", .kind = IFM_FINDING_TIME_DRIFTS}};
    assert_string_equal(trust_of(both, 1).cause, "it drifts, in one arm at least; so");
    const struct ifm_trust trust = trust_of(both, 2);
    assert_string_equal(trust.cause, "it drifts; so");
    assert_has(trust.place, " too)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_keeps_what_decides_a_gate),
        cmocka_unit_test(a_gate_on_processor_time_is_not_about_the_time),
        cmocka_unit_test(times_that_wander_leave_a_gate_its_blocks),
        cmocka_unit_test(most_blocks_disturbed_come_first),
        cmocka_unit_test(a_bias_keeps_its_word_beside_disturbed_blocks),
        cmocka_unit_test(what_others_have_too_is_not_one_arms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
