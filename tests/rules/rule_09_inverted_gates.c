/* Rule 9: a gate that asks for the wrong direction, so that worse arms pass and better ones fail, is refused. */
#include "rules/fixture.h"

static void judge(struct fixture *fx, double factor, const char *metric, int op, double threshold)
{
    fx_start(fx);
    fx->parts[0].step_ns[1] = 1e5 * factor;
    fx_generate(fx);
    fx_end_events(fx);
    fx_gate(fx, metric, "other", op, threshold, false);
}

/* The published one: "regression" fired when the candidate was faster, "improvement" when it was slower. */
static void a_regression_does_not_pass_an_inverted_gate(void **state)
{
    (void)state;
    static const struct {
        const char *metric, *words;
        int op;
        double threshold;
    } gates[] = {{"change_percent", "lower, and the gate asks for at least 10", IFM_GATE_AT_LEAST, 10},
                 {"latency_ns_p50", "lower, and the gate asks for at least 100", IFM_GATE_AT_LEAST, 100},
                 {"speedup", "higher, and the gate asks for at most 1", IFM_GATE_AT_MOST, 1}};
    for (size_t i = 0; i < 3; i++) {
        for (int slow = 0; slow < 2; slow++) {
            struct fixture fx;
            judge(&fx, slow ? 2.0 : 0.5, gates[i].metric, gates[i].op, gates[i].threshold);
            fx_derive(&fx);
            fx_judge(&fx);
            assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
            assert_int_equal(fx.verdict->exit_code, IFM_INVALID);
            assert_non_null(strstr(fx.verdict->gates[0].reason, "rule-09: the gate is inverted"));
            assert_non_null(strstr(fx.verdict->gates[0].reason, gates[i].words));
            fx_stop(&fx);
        }
    }
}

/* Found before anything has run, with the place and what to write instead. */
static void it_is_refused_before_the_run(void **state)
{
    (void)state;
    struct fixture fx;
    struct ifm_error error = {0};
    const char *const places[] = {"study.yaml:9:5", "study.yaml:10:5"};
    judge(&fx, 1.0, "change_percent", IFM_GATE_AT_LEAST, 10);
    assert_int_equal(ifm_check_gates(&fx.plan, places, fx.arena, &error), IFM_USAGE);
    assert_string_equal(error.where, "study.yaml:9:5");
    assert_non_null(strstr(error.message, "the gate is inverted"));
    assert_non_null(strstr(error.hint, "write op: at_most"));
    fx.gates[0].op = IFM_GATE_AT_MOST;
    assert_int_equal(ifm_check_gates(&fx.plan, places, fx.arena, &error), IFM_OK);
    fx_stop(&fx);
}

/* "Neither faster nor slower by more than 3 %" has two ends, and one of them looks the wrong way. */
static void a_band_has_two_ends(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct fixture fx;
        struct ifm_error error = {0};
        const char *const places[] = {"a", "b"};
        judge(&fx, slow ? 2.0 : 1.0, "change_percent", IFM_GATE_AT_LEAST, -3);
        fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 3, false);
        assert_int_equal(ifm_check_gates(&fx.plan, places, fx.arena, &error), IFM_OK);
        fx_derive(&fx);
        fx_judge(&fx);
        assert_int_equal(fx.verdict->outcome, slow ? IFM_OUTCOME_FAIL : IFM_OUTCOME_PASS);
        fx_stop(&fx);
    }
    struct fixture fx;
    struct ifm_error error = {0};
    const char *const places[] = {"a", "b"};
    judge(&fx, 1.0, "change_percent", IFM_GATE_AT_LEAST, -3);
    fx_gate(&fx, "change_percent", "base", IFM_GATE_AT_MOST, 3, false); /* of another arm: no band */
    assert_int_equal(ifm_check_gates(&fx.plan, places, fx.arena, &error), IFM_USAGE);
    fx_stop(&fx);
}

/* Of every metric: one bound alone stands on the better side only, and where there is none, on neither; the refusal
 * says what to write instead, which would stand. Both ends of a band stand for each, but
 * for what is only estimated. */
static void one_bound_stands_on_the_better_side_only(void **state)
{
    (void)state;
    struct fixture fx;
    const char *const places[] = {"a", "b"};
    fx_start(&fx);
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++) {
        const struct ifm_metric *metric = &ifm_metrics[m];
        for (int op = IFM_GATE_AT_MOST; op <= IFM_GATE_AT_LEAST; op++) {
            struct ifm_error error = {0};
            fx.plan.n_gates = 0;
            fx_gate(&fx, metric->id, "", op, 1, false);
            bool better = metric->better == (op == IFM_GATE_AT_MOST ? IFM_BETTER_LOWER : IFM_BETTER_HIGHER);
            if (ifm_check_gates(&fx.plan, places, fx.arena, &error) != (better ? IFM_OK : IFM_USAGE))
                fail_msg("%s, op %d: %s", metric->id, op, error.message);
            if (metric->better == IFM_BETTER_NONE) {
                assert_non_null(strstr(error.message, metric->undirected));
                assert_non_null(strstr(error.hint, metric->instead == IFM_M_NONE ? "both ends of a band"
                                                                                 : ifm_metrics[metric->instead].id));
                assert_true(metric->instead == IFM_M_NONE || ifm_metrics[metric->instead].better != IFM_BETTER_NONE);
            } else if (!better) {
                assert_non_null(strstr(error.hint, op == IFM_GATE_AT_MOST ? "op: at_least" : "op: at_most"));
            }
        }
        struct ifm_error error = {0};
        fx_gate(&fx, metric->id, "", IFM_GATE_AT_MOST, 2, false); /* beside at_least 1 */
        assert_int_equal(ifm_check_gates(&fx.plan, places, fx.arena, &error),
                         metric->kind == IFM_CLASS_ESTIMATE ? IFM_USAGE : IFM_OK);
    }
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regression_does_not_pass_an_inverted_gate),
        cmocka_unit_test(it_is_refused_before_the_run),
        cmocka_unit_test(a_band_has_two_ends),
        cmocka_unit_test(one_bound_stands_on_the_better_side_only),
    };
    return cmocka_run_group_tests_name("rule_09_inverted", tests, NULL, NULL);
}
