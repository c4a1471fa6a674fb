/* The numbers that the specification's files ask for, on records whose truth is known. */
#include "rules/fixture.h"

#include "stats/stats.h"

/* Baseline and variant of 1 MB and 2 MFLOP; a read probe of 10 GB/s and a FLOP probe of 100 GFLOP/s. */
static void start(struct fixture *fx)
{
    fx_start(fx);
    fx->blocks = 24;
    fx->parts[0].arms[0].ledger = fx->parts[0].arms[1].ledger =
        (struct ifm_ledger){.bytes_read = 1000000, .flops = 2000000, .tokens_generated = 1};
    fx->parts[0].arms[0].working_set = fx->parts[0].arms[1].working_set = 1000000;
    fx->parts[0].step_ns[0] = 200000;
    fx->parts[0].step_ns[1] = 125000;
    struct ifm_arm *read = fx_add_arm(fx, 0, "read.sum", IFM_ROLE_CEILING, 100000);
    struct ifm_arm *flops = fx_add_arm(fx, 0, "flops.fma", IFM_ROLE_CEILING, 100000);
    read->ceiling = IFM_CEILING_READ;
    read->ledger.bytes_read = 1000000;
    flops->ceiling = IFM_CEILING_FLOPS;
    flops->ledger.flops = 10000000;
}

static void finish(struct fixture *fx)
{
    fx_generate(fx);
    fx_end_events(fx);
    fx_derive(fx);
}

static size_t times_of(const struct fixture *fx, size_t arm, size_t most, double *out)
{
    const struct ifm_record *records[] = {&fx->parts[0].record};
    const struct ifm_facts_view facts = {.plan = &fx->plan, .records = records, .max_passes = 1};
    return ifm_derive_times(&facts, 0, arm, most, out);
}

static void times_and_their_spread_by_hand(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.inner = 3;
    finish(&fx);
    enum { MOST = 2 * 24 * 20 };
    double x[MOST], mean = 0, squares = 0;
    const struct ifm_record *r = &fx.parts[0].record;
    assert_int_equal(times_of(&fx, 1, MOST, x), MOST);
    assert_int_equal(times_of(&fx, 1, MOST - 1, x), 0); /* all of them or none */
    size_t at = 0;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
            if (r->slots[k].arm == 1 && r->slots[k].phase == IFM_PHASE_MEASURE)
                assert_true(x[at++] == (double)r->samples[i].duration_ns / 3);
    assert_int_equal(at, MOST);
    for (size_t i = 0; i < MOST; i++)
        mean += x[i] / MOST;
    for (size_t i = 0; i < MOST; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    const struct ifm_value *sd = fx_value(&fx, "other", "latency_ns_sd");
    assert_true(fabs(sd->number / sqrt(squares / (MOST - 1)) - 1) < 1e-12);
    assert_int_equal(sd->n, MOST);
    assert_true(fabs(fx_value(&fx, "other", "latency_cv_percent")->number - 100 * sd->number / mean) < 1e-9);
    fx_stop(&fx);
}

/* What is trimmed follows measure.truncate, and nothing else does. */
static void the_trim_is_a_setting(void **state)
{
    (void)state;
    enum { MOST = 2 * 24 * 20 };
    double x[MOST], room[MOST], p95 = 0, mean = 0;
    static const double settings[] = {0, 10, 25, 45};
    for (size_t t = 0; t < 4; t++) {
        struct fixture fx;
        start(&fx);
        fx.noise = 0.2;
        fx.cells[0].measure.truncate = settings[t];
        finish(&fx);
        assert_int_equal(times_of(&fx, 0, MOST, x), MOST);
        ifm_stats_sort(x, room, MOST);
        size_t cut = (size_t)(MOST * (settings[t] > 0 ? settings[t] : 10) / 100);
        double sum = 0;
        for (size_t i = cut; i < MOST - cut; i++)
            sum += x[i] / (double)(MOST - 2 * cut);
        assert_true(fabs(fx_value(&fx, "base", "latency_ns_trimmed_mean")->number / sum - 1) < 1e-12);
        double own_p95 = fx_value(&fx, "base", "latency_ns_p95")->number,
               own_mean = fx_value(&fx, "base", "latency_ns_mean")->number;
        assert_true(t == 0 || (own_p95 == p95 && own_mean == mean));
        p95 = own_p95;
        mean = own_mean;
        fx_stop(&fx);
    }
}

static void a_resampled_median_is_asked_for(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    finish(&fx);
    assert_null(ifm_derived_find(fx.derived, "decode", "base", IFM_M_LATENCY_NS_P50_BOOTSTRAP));
    fx_stop(&fx);
    start(&fx);
    fx.cells[0].measure.resamples = 10000;
    finish(&fx);
    const struct ifm_value *median = fx_value(&fx, "base", "latency_ns_p50_bootstrap"),
                           *ranks = fx_value(&fx, "base", "latency_ns_p50");
    assert_true(median->number == ranks->number && median->has_interval);
    assert_non_null(strstr(median->text, "10000 resamples of "));
    double width = (median->high - median->low) / (ranks->high - ranks->low);
    assert_true(width > 0.7 && width < 1.3);
    fx_stop(&fx);
    start(&fx);
    fx.cells[0].measure.resamples = 10000;
    fx.blocks = 400;
    fx.samples = 1;
    fx.noise = 0;
    fx.block_noise = 0.05;
    fx.ar = 0.99; /* 800 samples that are worth a few */
    finish(&fx);
    median = fx_value(&fx, "base", "latency_ns_p50_bootstrap");
    assert_true(median->state == IFM_STATE_OK && !median->has_interval);
    assert_non_null(strstr(median->text, "no interval: needs 39 independent samples, has "));
    fx_stop(&fx);
}

/* base reads 5 GB/s of 10 and computes 10 GFLOP/s of 100: half of what its intensity of 2 lets it attain. */
static void the_score_is_of_the_lower_roof(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    finish(&fx);
    const struct ifm_value *score = fx_value(&fx, "base", "roofline_score");
    assert_true(fabs(score->number - 0.5) < 0.01 && score->low < score->number && score->number < score->high);
    assert_string_equal(score->text, "read");
    assert_true(fabs(fx_value(&fx, "other", "roofline_score")->number - 0.8) < 0.01);
    const struct ifm_number *ridge = ifm_derived_find(fx.derived, "decode", "", IFM_M_RIDGE_POINT);
    assert_non_null(ridge);
    assert_true(fabs(ridge->value.number / 10 - 1) < 0.01); /* 100 GFLOP/s over 10 GB/s */
    assert_false(ridge->value.has_interval);                /* limits have no spread of their own */
    fx_stop(&fx);
    start(&fx); /* of many operations, the other roof is the lower one */
    fx.parts[0].arms[0].ledger.flops = 16000000;
    finish(&fx);
    score = fx_value(&fx, "base", "roofline_score");
    assert_true(fabs(score->number - 0.8) < 0.01);
    assert_string_equal(score->text, "flops");
    fx_stop(&fx);
    start(&fx); /* an arm of integer products has the memory roof alone */
    fx.parts[0].arms[0].ledger.flops = 16000000;
    fx.parts[0].arms[0].integer = true;
    finish(&fx);
    score = fx_value(&fx, "base", "roofline_score");
    assert_true(fabs(score->number - 0.5) < 0.01);
    assert_string_equal(score->text, "read");
    fx_stop(&fx);
}

static void without_both_ceilings_there_is_neither(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx.cells[0].n_arms = 3; /* no FLOP probe */
    finish(&fx);
    assert_null(ifm_derived_find(fx.derived, "decode", "base", IFM_M_ROOFLINE_SCORE));
    assert_null(ifm_derived_find(fx.derived, "decode", "", IFM_M_RIDGE_POINT));
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_and_their_spread_by_hand),         cmocka_unit_test(the_trim_is_a_setting),
        cmocka_unit_test(a_resampled_median_is_asked_for),        cmocka_unit_test(the_score_is_of_the_lower_roof),
        cmocka_unit_test(without_both_ceilings_there_is_neither),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
