/* Rule 6: prompt and generated tokens are separate, and nothing adds them. */
#include "rules/fixture.h"

static void no_number_is_their_sum(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0;
    fx.parts[0].arms[0].ledger = (struct ifm_ledger){.tokens_prompt = 512, .tokens_generated = 7};
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *prompt = fx_value(&fx, "base", "tokens_prompt_per_s");
    const struct ifm_value *generated = fx_value(&fx, "base", "tokens_generated_per_s");
    assert_true(fabs(prompt->number / generated->number - 512.0 / 7) < 1e-9);
    for (size_t i = 0; i < fx.derived->n_numbers; i++) {
        const struct ifm_number *number = &fx.derived->numbers[i];
        assert_false(fabs(number->value.number - (prompt->number + generated->number)) < 1);
        if (strcmp(number->value.unit, "tokens/s") == 0)
            assert_true(number->metric == IFM_M_TOKENS_PROMPT_PER_S || number->metric == IFM_M_TOKENS_GENERATED_PER_S);
    }
    fx_stop(&fx);
}

/* A gate on the sum has no metric to be about. */
static void a_gate_on_the_sum_is_blocked(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[1].ledger = (struct ifm_ledger){.tokens_prompt = 512, .tokens_generated = 7};
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "tokens_per_s", "", IFM_GATE_AT_LEAST, 1, false);
    fx_derive(&fx);
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_non_null(strstr(fx.verdict->gates[0].reason, "there is no metric \"tokens_per_s\""));
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_number_is_their_sum),
        cmocka_unit_test(a_gate_on_the_sum_is_blocked),
    };
    return cmocka_run_group_tests_name("rule_06", tests, NULL, NULL);
}
