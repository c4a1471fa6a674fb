/* Which settings two runs may differ in: several, and a model as one of them. */
#include "unit/between_sample.h"
#include "unit/facts.h"
#include <cmocka.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* What a refusal tells to type is then enough. */
static void several_settings_may_differ(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.b.settings[0].text = "8";
    p.a.settings[2] = (struct ifm_setting){"decode.isa", "avx2"};
    p.b.settings[2] = (struct ifm_setting){"decode.isa", "neon"};
    pair_compare(&p, "null.spin");
    assert_facts(row_of(&p, "quick", "step_ns")->change.remedy, "--varies null.spin,decode.isa");
    pair_compare(&p, "null.spin,decode.isa");
    assert_int_equal(row_of(&p, "quick", "step_ns")->change.state, IFM_STATE_OK);
    p.b.plan.seed++;
    pair_compare(&p, NULL);
    assert_null(strstr(row_of(&p, "quick", "step_ns")->change.remedy, "null.spin"));
    pair_stop(&p);
}

/* A model and the shape that it fills are one setting, in the reason and in what is typed. */
static void a_model_is_one_setting(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.a.settings[0] = (struct ifm_setting){"decode.model", "llama-3-8b"};
    p.b.settings[0] = (struct ifm_setting){"decode.model", "mistral-7b"};
    p.a.settings[2] = (struct ifm_setting){"decode.kv_heads", "8"};
    p.b.settings[2] = (struct ifm_setting){"decode.kv_heads", "4"};
    pair_compare(&p, NULL);
    const struct ifm_value *change = &row_of(&p, "quick", "step_ns")->change;
    assert_string_equal(change->reason, "rule-12: decode.model is llama-3-8b in the reference and mistral-7b here");
    assert_facts(change->remedy, "--varies decode.model");
    pair_compare(&p, "decode.model");
    assert_int_equal(row_of(&p, "quick", "step_ns")->change.state, IFM_STATE_OK);
    p.b.settings[0].text = "llama-3-8b"; /* another shape under one name is a setting of its own */
    pair_compare(&p, NULL);
    assert_facts(row_of(&p, "quick", "step_ns")->change.reason, "decode.kv_heads is 8");
    pair_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_settings_may_differ),
        cmocka_unit_test(a_model_is_one_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
