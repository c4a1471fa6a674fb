/* Compressed arms: their bytes, the worst of their losses, the frontier; each number by hand. */
#include "rules/fixture.h"

#include "derive/picture/frontier.h"

/* "f16" of 4000 bytes, "int4" of 1075, "int2" of 700; all three move what they store, and are as fast as that. */
static void start(struct fixture *fx)
{
    fx_start(fx);
    fx->parts[0].arms[0].name = "f16";
    fx->parts[0].arms[1].name = "int4";
    fx_add_arm(fx, 0, "int2", IFM_ROLE_VARIANT, 17500);
    fx->parts[0].step_ns[1] = 28000;
    for (int a = 0; a < 3; a++)
        fx->parts[0].arms[a].has_oracle = true;
    fx_store(fx, 0, 4000, 4000, 4000);
    fx_store(fx, 1, 1075, 4000, 1100);
    fx_store(fx, 2, 700, 4000, 750);
    fx_generate(fx);
    fx_check(fx, "f16", "before", 1e-7, "aa");
}

static json_t *loss(double rms, double p99, double cosine, double kl, double tv)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "rms_rel", rms, "p99_rel", p99, "cosine", cosine, "kl", kl, "tv", tv);
}

static void finish(struct fixture *fx)
{
    fx_end_events(fx);
    fx_derive(fx);
    struct ifm_error error = {0};
    if (ifm_derived_agree(&fx->plan, fx->derived, &error) != IFM_OK)
        fail_msg("%s", error.message);
}

static void expect(const struct fixture *fx, const char *arm, const char *metric, double number)
{
    fx_expect(fx, arm, metric, IFM_STATE_OK, "");
    double seen = fx_value(fx, arm, metric)->number;
    if (fabs(seen - number) > 1e-14 * fabs(number))
        fail_msg("%s of %s is %.17g, not %.17g", metric, arm, seen, number);
}

static void bytes_are_the_true_ones(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_check_loss(&fx, "int4", "before", loss(0.05, 0.2, 0.99, 0.02, 0.1));
    fx_check_loss(&fx, "int2", "before", loss(0.2, 0.6, 0.95, 0.1, 0.3));
    finish(&fx);
    expect(&fx, "f16", "compression_ratio", 1.0);
    expect(&fx, "f16", "bits_per_value", 16.0);
    expect(&fx, "int4", "stored_bytes", 1075);
    assert_true(fx_value(&fx, "int4", "stored_bytes")->is_integer);
    expect(&fx, "int4", "compression_ratio", 4000.0 / 1075.0);
    expect(&fx, "int4", "bits_per_value", 4.3);
    expect(&fx, "int4", "bytes_ratio", 4000.0 / 1100.0);
    expect(&fx, "int2", "bits_per_value", 2.8);
    assert_null(ifm_derived_find(fx.derived, "decode", "f16", IFM_M_BYTES_RATIO));
    fx_judge(&fx); /* triage knows them too: 1100 of 4000 bytes */
    assert_string_equal(fx.verdict->triage[0].arm, "int4");
    assert_facts(fx.verdict->triage[0].text, "bytes moved|-72.5 %");
    assert_null(ifm_derived_find(fx.derived, "decode", "f16", IFM_M_LOSS_RMS_REL));
    fx_stop(&fx);
}

/* Beside the baseline f16 two exact arms, one faster and one of int4's maker: int4 is held against both, by the ratios
 * of their times; exact arms against none, and where the baseline is both there is nothing to say. */
static void a_lossy_arm_is_held_against_exact_ones(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    struct ifm_arm *fast = fx_add_arm(&fx, 0, "fast", IFM_ROLE_VARIANT, 35000);
    struct ifm_arm *own = fx_add_arm(&fx, 0, "own", IFM_ROLE_VARIANT, 42000);
    fast->implementation = "library";
    own->implementation = fx.parts[0].arms[1].implementation = "ours";
    fx.parts[0].arms[1].lossy = true;
    fx_store(&fx, 3, 4000, 4000, 4000);
    fx_store(&fx, 4, 4000, 4000, 4000);
    fx_generate(&fx);
    fx_check_loss(&fx, "int4", "before", loss(0.05, 0.2, 0.99, 0.02, 0.1));
    finish(&fx);
    const struct ifm_value *best = fx_value(&fx, "int4", "speedup_over_fastest"),
                           *form = fx_value(&fx, "int4", "speedup_over_own");
    assert_true(ifm_is_ok(best) && best->has_interval && best->low <= 1.25 && 1.25 <= best->high);
    assert_true(ifm_is_ok(form) && form->has_interval && form->low <= 1.5 && 1.5 <= form->high);
    assert_string_equal(best->text, "fast");
    assert_string_equal(form->text, "own");
    assert_null(ifm_derived_find(fx.derived, "decode", "fast", IFM_M_SPEEDUP_OVER_FASTEST));
    assert_null(ifm_derived_find(fx.derived, "decode", "own", IFM_M_SPEEDUP_OVER_OWN));
    fx_stop(&fx);
}

/* A rival far from its ceiling makes more than the bytes explain: refused where no ceiling shows how far. */
static void a_gain_over_a_weak_exact_arm_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    struct ifm_arm *own = fx_add_arm(&fx, 0, "own", IFM_ROLE_VARIANT, 280000);
    own->implementation = fx.parts[0].arms[1].implementation = "ours";
    fx.parts[0].arms[1].lossy = true;
    fx_store(&fx, 3, 4000, 4000, 4000);
    fx_generate(&fx);
    fx_check_loss(&fx, "int4", "before", loss(0.05, 0.2, 0.99, 0.02, 0.1));
    finish(&fx);
    fx_expect(&fx, "int4", "speedup_over_own", IFM_STATE_REFUSED,
              "rule-03|byte and FLOP ratio|no ceiling shows how weak own is");
    assert_null(ifm_derived_find(fx.derived, "decode", "int4", IFM_M_SPEEDUP_OVER_FASTEST)); /* the baseline is */
    fx_stop(&fx);
}

/* Each member by itself: the largest loss of all checks, the least cosine; not the last, and not of one check alone. */
static void the_worst_check_counts(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_check_loss(&fx, "int4", "before", loss(0.05, 0.2, 0.99, 0.02, 0.1));
    fx_check_loss(&fx, "int4", "after", loss(0.04, 0.3, 0.98, 0.01, 0.2));
    fx_check_loss(&fx, "int2", "before", loss(0.2, 0.6, 0.95, 0.1, 0.3));
    finish(&fx);
    expect(&fx, "int4", "loss_rms_rel", 0.05);
    expect(&fx, "int4", "loss_p99_rel", 0.3);
    expect(&fx, "int4", "loss_cosine", 0.98);
    expect(&fx, "int4", "attention_kl_nats", 0.02);
    expect(&fx, "int4", "attention_tv", 0.2);
    assert_int_equal(fx_value(&fx, "int4", "loss_rms_rel")->n, 64);
    assert_string_equal(fx_value(&fx, "int4", "attention_kl_nats")->unit, "nats");
    expect(&fx, "int4", "error_rms_rel", 5e-8); /* the kernel's, apart */
    expect(&fx, "int4", "total_error_rms_rel", 5e-8 * 1.05 + 0.05);
    fx_stop(&fx);
}

static void dropped_tokens_have_no_divergence(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_check_loss(&fx, "int4", "before", loss(0.05, 0.2, 0.99, -1, 0.1));
    fx_check_loss(&fx, "int4", "after", loss(0.05, 0.2, 0.99, 0.02, 0.1)); /* one infinite check is enough */
    fx_check_loss(&fx, "int2", "before", loss(0.2, 0.6, 0.95, 0.1, 0.3));
    fx_gate(&fx, "attention_kl_nats", "int4", IFM_GATE_AT_MOST, 0.03, false);
    fx_gate(&fx, "attention_kl_nats", "int2", IFM_GATE_AT_MOST, 0.03, false);
    fx_gate(&fx, "loss_cosine", "int2", IFM_GATE_AT_LEAST, 0.9, false);
    finish(&fx);
    fx_expect(&fx, "int4", "attention_kl_nats", IFM_STATE_ABSENT, "tokens|dropped|infinite");
    expect(&fx, "int4", "attention_tv", 0.1);
    fx_judge(&fx);
    assert_int_equal(fx.verdict->gates[0].outcome, IFM_OUTCOME_BLOCKED);
    assert_false(fx.verdict->gates[0].missing_capability);
    assert_int_equal(fx.verdict->gates[1].outcome, IFM_OUTCOME_FAIL);
    assert_int_equal(fx.verdict->gates[2].outcome, IFM_OUTCOME_PASS);
    fx_stop(&fx);
}

/* A matrix product has no attention weights: what does not apply is not listed, and nothing refuses the rest. */
static void what_does_not_apply_is_not_listed(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    for (int a = 1; a < 3; a++)
        fx_check_loss(&fx, fx.parts[0].arms[a].name, "before",
                      json_pack("{s:f, s:f, s:f}", "rms_rel", 0.01, "p99_rel", 0.03, "cosine", 0.999));
    finish(&fx);
    expect(&fx, "int4", "loss_rms_rel", 0.01);
    assert_null(ifm_derived_find(fx.derived, "decode", "int4", IFM_M_ATTENTION_KL_NATS));
    assert_null(ifm_derived_find(fx.derived, "decode", "int4", IFM_M_ATTENTION_TV));
    fx_expect(&fx, "int4", "speedup", IFM_STATE_OK, "");
    fx_stop(&fx);
}

static void a_loss_out_of_range_is_no_fact(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        double number;
    } bad[] = {{"rms_rel", -0.1}, {"p99_rel", -1e-9}, {"cosine", 1.1}, {"tv", 1.5}, {"tv", -0.1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct fixture fx;
        struct ifm_error error = {0};
        start(&fx);
        fx_check_loss(&fx, "int4", "before", json_pack("{s:f}", bad[i].key, bad[i].number));
        fx_end_events(&fx);
        assert_int_equal(fx_try_derive(&fx, &error), IFM_INVALID);
        assert_non_null(strstr(error.message, "\"loss."));
        fx_stop(&fx);
    }
    struct fixture fx;
    struct ifm_error error = {0};
    start(&fx);
    fx_check_loss(&fx, "int4", "before", json_string("small"));
    assert_int_equal(fx_try_derive(&fx, &error), IFM_INVALID);
    fx_stop(&fx);
}

/* Rule 4: whoever edits a ratio must edit the plan too. */
static void numbers_of_storage_agree(void **state)
{
    (void)state;
    static const char *const edited[] = {"stored_bytes", "compression_ratio", "bits_per_value", "total_error_rms_rel"};
    for (size_t i = 0; i < sizeof edited / sizeof edited[0]; i++) {
        struct fixture fx;
        struct ifm_error error = {0};
        start(&fx);
        fx_check_loss(&fx, "int4", "before", loss(0.05, 0.2, 0.99, 0.02, 0.1));
        finish(&fx);
        for (size_t n = 0; n < fx.derived->n_numbers; n++)
            if (fx.derived->numbers[n].metric == ifm_metric_of(edited[i]))
                fx.derived->numbers[n].value.number *= 1.01;
        assert_int_equal(ifm_derived_agree(&fx.plan, fx.derived, &error), IFM_INVALID);
        assert_non_null(strstr(error.message, edited[i]));
        fx_stop(&fx);
    }
}

/* A sweep that finds a last level of 32 MiB: an arm of 100 MiB is served by it, a baseline of 400 MiB is not. */
static void help_from_caches_is_said(void **state)
{
    (void)state;
    enum { MIB = 1 << 20, SIZES = 20 };
    static const struct {
        uint64_t own, base;
        bool said;
    } cases[] = {{100, 400, true}, {150, 400, false}, {100, 120, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fx;
        char names[SIZES][32];
        fx_start(&fx);
        fx_add_cell(&fx, "stream", "stream");
        for (unsigned k = 0; k < SIZES; k++) { /* 4 KiB to 2 GiB */
            uint64_t size = UINT64_C(4096) << k;
            snprintf(names[k], sizeof names[k], "caches.%llu", (unsigned long long)size);
            struct ifm_arm *arm = fx_add_arm(&fx, 1, names[k], IFM_ROLE_CEILING, size <= 32 * MIB ? 10000 : 90000);
            arm->ledger.rows = 10000;
            arm->working_set = size;
        }
        fx_store(&fx, 0, 4000, 4000, cases[i].base * MIB);
        fx_store(&fx, 1, 1000, 4000, cases[i].own * MIB);
        fx_generate(&fx);
        fx_check_loss(&fx, "other", "before", loss(0.05, 0.2, 0.99, 0.02, 0.1));
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_finding *finding = fx_finding(&fx, "rule-03", "fewer bytes");
        assert_true((finding != NULL) == cases[i].said);
        if (finding != NULL)
            assert_string_equal(finding->arm, "other");
        fx_stop(&fx);
    }
}

/* ---- the frontier ---- */

static void the_frontier_by_hand(void **state)
{
    (void)state;
    enum { N = 7 };
    const struct ifm_frontier_point points[N] = {
        {true, 4000, 0.0, 99, 101},  /* 0: the only one without loss */
        {true, 1000, 0.05, 29, 31},  /* 1 */
        {true, 1100, 0.06, 32, 34},  /* 2: beaten by 1 in all three */
        {true, 1000, 0.05, 31, 33},  /* 3: touches 1 */
        {true, 900, 0.07, 40, 42},   /* 4: slower and worse, but smaller */
        {false, 2000, 0.2, 60, 61},  /* 5: unknown */
        {true, 4000, 0.0, 120, 130}, /* 6: 0 again, slower */
    };
    const size_t expected[N] = {N, N, 1, N, N, N, 0};
    size_t by[N];
    ifm_frontier_mark(points, N, by);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(by[i], expected[i]);
}

/* int2 as slow as f16: int4 is better in nothing but time and loss, and stores more; nobody dominates it. With int4
 * smaller too, it does. */
static void dominated_arms_are_marked(void **state)
{
    (void)state;
    for (int smaller = 0; smaller < 2; smaller++) {
        struct fixture fx;
        start(&fx);
        fx.parts[0].step_ns[2] = 100000;
        fx_generate(&fx);
        if (smaller)
            fx_store(&fx, 1, 650, 4000, 700);
        fx_check_loss(&fx, "int4", "before", loss(0.05, 0.2, 0.99, 0.02, 0.1));
        fx_check_loss(&fx, "int2", "before", loss(0.2, 0.6, 0.95, 0.1, 0.3));
        finish(&fx);
        const struct ifm_finding *finding = fx_finding(&fx, "", "frontier|int4");
        assert_true((finding != NULL) == (smaller == 1));
        if (finding != NULL) {
            assert_string_equal(finding->arm, "int2");
            assert_int_equal(finding->severity, IFM_SEVERITY_NOTE);
        }
        fx_stop(&fx);
    }
}

/* An arm whose loss is not known is refused, and is neither on the frontier nor takes another one off it. */
static void unknown_losses_dominate_nothing(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.parts[0].step_ns[2] = 100000;
    fx_generate(&fx);
    fx_store(&fx, 1, 650, 4000, 700);
    fx_check(&fx, "int4", "before", 1e-7, "cc");
    fx_check_loss(&fx, "int2", "before", loss(0.2, 0.6, 0.95, 0.1, 0.3));
    finish(&fx);
    fx_expect(&fx, "int4", "loss_rms_rel", IFM_STATE_ABSENT, "no check");
    fx_expect(&fx, "int4", "speedup", IFM_STATE_REFUSED, "rule-10");
    assert_null(fx_finding(&fx, "", "frontier"));
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_the_true_ones),
        cmocka_unit_test(a_lossy_arm_is_held_against_exact_ones),
        cmocka_unit_test(a_gain_over_a_weak_exact_arm_is_refused),
        cmocka_unit_test(the_worst_check_counts),
        cmocka_unit_test(dropped_tokens_have_no_divergence),
        cmocka_unit_test(what_does_not_apply_is_not_listed),
        cmocka_unit_test(a_loss_out_of_range_is_no_fact),
        cmocka_unit_test(numbers_of_storage_agree),
        cmocka_unit_test(help_from_caches_is_said),
        cmocka_unit_test(the_frontier_by_hand),
        cmocka_unit_test(dominated_arms_are_marked),
        cmocka_unit_test(unknown_losses_dominate_nothing),
    };
    return cmocka_run_group_tests_name("derive_compression", tests, NULL, NULL);
}
