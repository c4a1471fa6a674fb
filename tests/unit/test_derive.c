/* Derive on simulated records whose truth is known: error rates, coverage, percentiles, round trips, speed. */
#include "rules/fixture.h"

#include "base/file.h"
#include "base/text.h"
#include <stdio.h>
#include <time.h>

/* ABBA blocks of an arm against its twin, with autocorrelated block noise and drift. */
static void same_arm_shows_no_difference(void **state)
{
    (void)state;
    int excluded = 0, decided = 0, moved = 0;
    for (unsigned run = 0; run < 200; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.seed = 1000 + run;
        fx.cells[0].seed = 50 + run;
        fx.block_noise = 0.02;
        fx.ar = 0.6;
        fx.drift = 0.01;
        fx.noise = 0.02;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
        assert_int_equal(change->state, IFM_STATE_OK);
        excluded += change->low > 0 || change->high < 0;
        decided += strcmp(change->text, "faster") == 0 || strcmp(change->text, "slower") == 0;
        moved += change->number != 0;
        fx_stop(&fx);
    }
    assert_true(moved == 200); /* the simulation is not degenerate */
    assert_true(excluded <= 21);
    assert_true(excluded >= 1); /* 200 intervals at 95 % that never miss would be too wide */
    assert_true(decided <= 10);
}

/* The interval of step_ns holds the truth at its stated rate, with and without autocorrelated blocks. */
static void step_interval_covers(void **state)
{
    (void)state;
    for (int correlated = 0; correlated < 2; correlated++) {
        int covered = 0;
        for (unsigned run = 0; run < 300; run++) {
            struct fixture fx;
            fx_start(&fx);
            fx.seed = 9000 + run;
            fx.blocks = 40;
            fx.samples = 5;
            fx.block_noise = 0.02;
            fx.ar = correlated ? 0.5 : 0.0;
            fx_generate(&fx);
            fx_end_events(&fx);
            fx_derive(&fx);
            const struct ifm_value *step = fx_value(&fx, "base", "step_ns");
            assert_true(step->has_interval && step->low < step->number && step->number < step->high);
            covered += step->low <= 100000 && 100000 <= step->high;
            fx_stop(&fx);
        }
        /* nominal .95: at least 275 of 300 in 99.5 % of simulations; corrected AR(1): about .92 */
        assert_true(covered >= (correlated ? 258 : 275));
        assert_true(covered <= 298);
    }
}

/* A step that is one of 32 layers makes a 32nd of its tokens; one that is all of them, all. */
static void a_token_goes_through_every_layer(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[0].ledger = (struct ifm_ledger){.tokens_generated = 8, .tokens_prompt = 16, .layers = 32};
    fx.parts[0].arms[1].ledger = (struct ifm_ledger){.tokens_generated = 8};
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    struct ifm_error error = {0};
    assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_OK);
    const double step_s = 1e-9 * fx_value(&fx, "base", "step_ns")->number;
    assert_true(fabs(fx_value(&fx, "base", "tokens_generated_per_s")->number * step_s / (8.0 / 32) - 1) < 1e-12);
    assert_true(fabs(fx_value(&fx, "base", "tokens_prompt_per_s")->number * step_s / (16.0 / 32) - 1) < 1e-12);
    assert_true(fabs(fx_value(&fx, "base", "layer_tokens_per_s")->number * step_s / 8 - 1) < 1e-12);
    assert_null(ifm_derived_find(fx.derived, "decode", "other", IFM_M_LAYER_TOKENS_PER_S));
    fx_stop(&fx);
}

static void numbers_of_an_arm(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    struct ifm_arm *base = &fx.parts[0].arms[0];
    base->ledger = (struct ifm_ledger){.flops = 4000000, .bytes_read = 1000000, .tokens_generated = 8, .rows = 16};
    fx.samples = 40;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *step = fx_value(&fx, "base", "step_ns");
    assert_true(fabs(step->number / 100000 - 1) < 0.01);
    assert_int_equal(step->n, 12);
    assert_string_equal(step->n_of, "blocks");
    assert_string_equal(step->unit, "ns");
    assert_true(fabs(fx_value(&fx, "base", "read_bytes_per_s")->number / 1e10 - 1) < 0.01);
    assert_true(fabs(fx_value(&fx, "base", "flops_per_s")->number / 4e10 - 1) < 0.01);
    assert_true(fabs(fx_value(&fx, "base", "tokens_generated_per_s")->number / 80000 - 1) < 0.01);
    assert_true(fabs(fx_value(&fx, "base", "rows_per_s")->number / 160000 - 1) < 0.01);
    assert_true(fx_value(&fx, "base", "arithmetic_intensity")->number == 4.0);
    assert_true(fx_value(&fx, "base", "samples_count")->number == 12 * 2 * 40);
    assert_true(fx_value(&fx, "base", "slots_count")->number == 24);
    assert_true(fx_value(&fx, "base", "warmup_samples")->number == 80);
    assert_true(fx_value(&fx, "base", "inner_steps")->number == 1);
    assert_true(fx_value(&fx, "base", "blocks_marked")->number == 0);
    assert_true(fx_value(&fx, "base", "steal_ns")->number == 0); /* read, and zero */
    assert_true(fabs(fx_value(&fx, "base", "latency_cv_percent")->number - 1) < 0.1);
    assert_true(fabs(fx_value(&fx, "base", "latency_ns_p95")->number / (100000 * exp(0.0164)) - 1) < 0.005);
    fx_expect(&fx, "base", "latency_ns_p99", IFM_STATE_OK, "");
    fx_expect(&fx, "base", "latency_ns_p999", IFM_STATE_ABSENT, "needs 3688 independent samples");
    /* nothing was promised of writes or of prompts: no number, not a zero */
    assert_null(ifm_derived_find(fx.derived, "decode", "base", IFM_M_WRITE_BYTES_PER_S));
    assert_null(ifm_derived_find(fx.derived, "decode", "base", IFM_M_TOKENS_PROMPT_PER_S));
    assert_null(ifm_derived_find(fx.derived, "decode", "other", IFM_M_READ_BYTES_PER_S));
    assert_null(ifm_derived_find(fx.derived, "decode", "base", IFM_M_CHANGE_PERCENT));
    fx_stop(&fx);
}

/* The mean of several steps has no tail of a step. */
static void inner_loops_have_no_tails(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.inner = 32;
    fx.samples = 50;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "base", "step_ns")->number / 100000 - 1) < 0.01);
    fx_expect(&fx, "base", "latency_ns_p50", IFM_STATE_OK, "");
    fx_expect(&fx, "base", "latency_ns_p95", IFM_STATE_ABSENT, "mean of 32 steps");
    fx_stop(&fx);
}

static void comparisons_decide(void **state)
{
    (void)state;
    static const struct {
        double factor;
        const char *word;
    } cases[] = {{0.5, "faster"}, {2.0, "slower"}, {1.0, "equivalent"}, {0.99, "faster"}, {1.003, "undecided"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fx;
        fx_start(&fx);
        fx.noise = i == 4 ? 0.02 : 0.003;
        fx.parts[0].step_ns[1] = 100000 * cases[i].factor;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
        assert_string_equal(change->text, cases[i].word);
        assert_true(fabs(change->number - 100 * (cases[i].factor - 1)) < 1.0);
        const struct ifm_value *speedup = fx_value(&fx, "other", "speedup");
        assert_true(fabs(speedup->number * (1 + change->number / 100) - 1) < 1e-12);
        assert_true(speedup->low < speedup->number && speedup->number < speedup->high);
        assert_true(fx_value(&fx, "other", "mde_percent")->number > 0);
        struct ifm_error error;
        assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_OK);
        fx_stop(&fx);
    }
}

/* A scripted clock has no noise: the tick keeps the interval open, and the decision stands. */
static void noiseless_clock_is_decided(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0;
    fx.parts[0].step_ns[1] = 50000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
    assert_string_equal(change->text, "faster");
    assert_true(change->low < change->high);
    assert_true(fabs(change->number + 50) < 1e-9);
    fx_expect(&fx, "base", "autocorrelation_lag1", IFM_STATE_ABSENT, "equal");
    fx_stop(&fx);
}

static void cache_sizes_come_from_the_sweep(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_add_cell(&fx, "stream", "stream");
    char names[20][32];
    static const double level[] = {1, 4, 16, 90};
    for (unsigned i = 0; i < 20; i++) { /* 4 KiB to 2 GiB: levels of 32 KiB, 1 MiB and 32 MiB */
        uint64_t size = UINT64_C(4096) << i;
        snprintf(names[i], sizeof names[i], "caches.%llu", (unsigned long long)size);
        double ns = level[size <= 32 << 10 ? 0 : size <= 1 << 20 ? 1 : size <= 32 << 20 ? 2 : 3];
        struct ifm_arm *arm = fx_add_arm(&fx, 1, names[i], IFM_ROLE_CEILING, ns * 10000);
        arm->ledger.rows = 10000;
        arm->working_set = size;
    }
    fx.parts[0].arms[0].working_set = 100 << 20; /* below 4 x 32 MiB */
    fx.parts[0].arms[0].ledger.bytes_read = 1000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    static const double sizes[] = {32 << 10, 1 << 20, 32 << 20};
    for (int c = 0; c < 3; c++) {
        const struct ifm_number *number = ifm_derived_find(fx.derived, "stream", "", ifm_cache_metrics[c]);
        assert_non_null(number);
        assert_int_equal(number->value.state, IFM_STATE_OK);
        assert_true(number->value.number == sizes[c]);
        assert_true(number->value.low == sizes[c] && number->value.high == 2 * sizes[c]);
    }
    const struct ifm_number *load = ifm_derived_find(fx.derived, "stream", "caches.4096", IFM_M_LOAD_NS);
    assert_non_null(load);
    assert_true(fabs(load->value.number - 1) < 0.02);
    assert_non_null(fx_finding(&fx, "rule-03", "4 x|last-level cache|32.0 MiB"));
    fx_stop(&fx);
}

static void says(const json_t *row, const char *key, const char *wanted)
{
    assert_string_equal(json_string_value(json_object_get(row, key)), wanted);
}

static void is_written(const json_t *row, const struct ifm_number *number)
{
    const struct ifm_value *v = &number->value;
    static const char *const states[] = {"ok", "absent", "refused", "inactive"};
    const json_t *value = json_object_get(row, "value"), *interval = json_object_get(row, "interval");
    says(row, "cell", number->cell);
    says(row, "arm", number->arm);
    says(row, "metric", ifm_metrics[number->metric].id);
    says(row, "state", states[v->state]);
    says(row, "unit", v->unit);
    says(row, "n_of", v->n_of);
    says(row, "reason", v->reason);
    says(row, "remedy", v->remedy);
    says(row, "text", v->text);
    assert_int_equal(json_integer_value(json_object_get(row, "n")), v->n);
    if (v->state != IFM_STATE_OK) {
        assert_true(json_is_null(value) && json_is_null(interval)); /* absent is never zero */
        return;
    }
    assert_true(json_is_integer(value) == v->is_integer && json_number_value(value) == v->number);
    if (!v->has_interval) {
        assert_true(json_is_null(interval));
        return;
    }
    assert_true(json_number_value(json_array_get(interval, 0)) == v->low);
    assert_true(json_number_value(json_array_get(interval, 1)) == v->high);
    assert_true(json_number_value(json_object_get(row, "level")) == v->level);
}

static void json_holds_every_number(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].arms[0].ledger.bytes_read = 12345;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    json_t *json = ifm_derived_to_json(fx.derived);
    struct ifm_text text = {0};
    ifm_json_print(json, true, &text); /* every digit goes through the text */
    json_decref(json);
    struct ifm_error error = {0};
    assert_int_equal(ifm_json_parse(text.data, text.size, "derived.json", &json, &error), IFM_OK);
    ifm_text_free(&text);
    const json_t *numbers = json_object_get(json, "numbers"), *findings = json_object_get(json, "findings");
    assert_int_equal(json_array_size(numbers), fx.derived->n_numbers);
    assert_int_equal(json_array_size(findings), fx.derived->n_findings);
    assert_true(fx.derived->n_numbers > 20 && fx.derived->n_findings > 0);
    for (size_t i = 0; i < fx.derived->n_numbers; i++)
        is_written(json_array_get(numbers, i), &fx.derived->numbers[i]);
    for (size_t i = 0; i < fx.derived->n_findings; i++) {
        says(json_array_get(findings, i), "text", fx.derived->findings[i].text);
        says(json_array_get(findings, i), "kind", ifm_finding_name(fx.derived->findings[i].kind));
    }
    json_decref(json);
    fx_stop(&fx);
}

static void events_are_read_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *stage, *meta, *words;
    } bad[] = {{"check", "{\"cell\":\"decode\",\"arm\":\"base\",\"when\":\"before\"}", "\"done\" is missing"},
               {"check",
                "{\"cell\":\"decode\",\"arm\":\"base\",\"done\":true,\"finite\":true,\"values\":3,"
                "\"output_xxh3\":\"0\",\"when\":\"before\",\"error_rms_rel\":-1,\"error_max_rel\":0}",
                "\"error_rms_rel\""},
               {"check", "{\"cell\":\"decode\",\"arm\":\"nobody\",\"when\":\"before\",\"done\":false}", "names an arm"},
               {"feature", "{\"cell\":\"decode\",\"arm\":\"base\",\"feature\":\"f\",\"runs\":1.5}", "whole number"},
               {"cell_done", "{\"cell\":\"elsewhere\"}", "names a cell"},
               {"cell_failed", "{\"cell\":\"decode\"}", "\"reason\""}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fixture fx;
        struct ifm_error error = {0};
        fx_start(&fx);
        fx_generate(&fx);
        fx_event(&fx, bad[i].stage, json_loads(bad[i].meta, 0, NULL));
        assert_int_equal(fx_try_derive(&fx, &error), IFM_INVALID);
        assert_non_null(strstr(error.message, bad[i].words));
        assert_non_null(strstr(error.where, "run.log:4"));
        fx_stop(&fx);
    }
}

/* Set-aside blocks stand beside the whole; a decision that hangs on them is undecided. */
static void marked_blocks_are_shown_beside(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0.001;
    fx.blocks = 20;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) /* the hypervisor takes time, while "other" runs, in 8 blocks */
        if (r->slots[k].block >= 5 && r->slots[k].block < 13 && r->slots[k].arm == 1)
            ((int64_t *)r->slots[k].columns)[0] = r->slots[k].end_ns - r->slots[k].start_ns;
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_true(fx_value(&fx, "base", "blocks_marked")->number == 8);
    assert_int_equal(fx_value(&fx, "base", "step_ns")->n, 20);
    assert_int_equal(fx_value(&fx, "base", "step_ns_without_marked")->n, 12);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text,
                        fx_value(&fx, "other", "change_percent_without_marked")->text);
    assert_non_null(fx_finding(&fx, "rule-02", "8 of 20 blocks"));
    fx_stop(&fx);
}

static void a_million_samples_are_derived_in_a_second(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.blocks = 250;
    fx.samples = 1000;
    fx_generate(&fx);
    fx_end_events(&fx);
    clock_t start = clock();
    fx_derive(&fx);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("1,000,000 samples derived in %.3f s\n", seconds);
    assert_true(seconds < 5.0); /* about 0.2 s; sanitizers and busy machines are slower */
    assert_true(fx_value(&fx, "base", "samples_count")->number == 500000);
    assert_string_equal(fx_value(&fx, "base", "latency_ns_p50")->n_of, "slots");
    fx_expect(&fx, "base", "latency_ns_p999", IFM_STATE_OK, "");
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_arm_shows_no_difference),     cmocka_unit_test(step_interval_covers),
        cmocka_unit_test(a_token_goes_through_every_layer), cmocka_unit_test(numbers_of_an_arm),
        cmocka_unit_test(inner_loops_have_no_tails),        cmocka_unit_test(comparisons_decide),
        cmocka_unit_test(noiseless_clock_is_decided),       cmocka_unit_test(cache_sizes_come_from_the_sweep),
        cmocka_unit_test(json_holds_every_number),          cmocka_unit_test(events_are_read_strictly),
        cmocka_unit_test(marked_blocks_are_shown_beside),   cmocka_unit_test(a_million_samples_are_derived_in_a_second),
    };
    return cmocka_run_group_tests_name("derive", tests, NULL, NULL);
}
