/* Clocks by hand: a GPU's from cycles over time of slots; what rule 8 makes of clocks that differ, and of a gate that
 * never settled. */
#include "unit/judge_sample.h"

#include "unit/facts.h"

static char cycles_name[] = "gpu_cycles", span_name[] = "gpu_clock_span_ns", reported_name[] = "gpu_clock_reported_mhz";

/* Slots of 2 ms in all blocks: the baseline at `base_mhz`, the other arm at `other_mhz`; 1980 MHz reported. */
static void record(struct fixture *fx, double base_mhz, double other_mhz)
{
    fx_start(fx);
    fx->parts[0].step_ns[1] = 100000 * base_mhz / other_mhz;
    fx_generate(fx);
    struct ifm_record *r = &fx->parts[0].record;
    r->column_names[1] = cycles_name;
    r->column_names[2] = span_name;
    r->column_names[3] = reported_name;
    for (size_t k = 0; k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        bool warm_up = slot->phase == IFM_PHASE_WARMUP; /* no part of any number */
        int64_t span = 2000000 + 1000 * (int64_t)(k % 7);
        double mhz = warm_up ? 100 : slot->arm == 0 ? base_mhz : other_mhz;
        r->columns[k * FX_COLUMNS + 1] = llround(mhz * (double)span * 1e-3);
        r->columns[k * FX_COLUMNS + 2] = span;
        r->columns[k * FX_COLUMNS + 3] = warm_up ? 345 : 1980;
    }
}

static void the_clock_is_cycles_over_time(void **state)
{
    (void)state;
    struct fixture fx;
    record(&fx, 1760, 1755);
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *base = fx_value(&fx, "base", "clock_sm_mhz"),
                           *other = fx_value(&fx, "other", "clock_sm_mhz");
    assert_true(fabs(base->number - 1760) < 1e-3);
    assert_true(fabs(other->number - 1755) < 1e-3);
    assert_int_equal(base->n, 24);
    assert_string_equal(base->unit, "MHz");
    assert_true(base->has_interval && base->low < 1760 && base->high > 1760);
    assert_true(base->high - base->low < 0.003 * 1760);
    const struct ifm_value *reported = fx_value(&fx, "base", "clock_sm_reported_mhz");
    assert_true(fabs(reported->number - 1980) < 1e-6);
    assert_false(reported->has_interval);
    /* What triage looks at is the real clock; the reported one is no cause. */
    size_t clocks = 0;
    for (size_t i = 0; i < fx.derived->n_companions; i++) {
        const struct ifm_companion *c = &fx.derived->companions[i];
        assert_string_not_equal(c->column, "gpu_cycles");
        assert_string_not_equal(c->column, "gpu_clock_span_ns");
        assert_string_not_equal(c->column, "gpu_clock_reported_mhz");
        if (strcmp(c->column, "gpu_clock_khz") != 0)
            continue;
        clocks++;
        assert_int_equal(c->kind, IFM_COMPANION_LEVEL);
        assert_true(fabs(c->own - 1755e3) < 1 && fabs(c->base - 1760e3) < 1);
    }
    assert_int_equal(clocks, 1);
    fx_stop(&fx);
}

/* The driver says 1980 MHz of both; the cycles say that they were three percent apart. */
static void arms_at_different_clocks_are_undecided(void **state)
{
    (void)state;
    struct fixture fx;
    for (int apart = 0; apart < 2; apart++) {
        record(&fx, 1800, apart ? 1746 : 1782);
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_string_equal(fx_value(&fx, "other", "change_percent")->text, apart ? "undecided" : "slower");
        assert_int_equal(fx_finding(&fx, "rule-08", "1746 MHz|1800 MHz") != NULL, apart);
        assert_null(fx_finding(&fx, "rule-08", "read back"));
        fx_stop(&fx);
    }
}

static void a_slot_that_was_not_read_leaves_it_absent(void **state)
{
    (void)state;
    struct fixture fx;
    record(&fx, 1800, 1700);
    struct ifm_record *r = &fx.parts[0].record;
    r->columns[(r->n_slots - 1) * FX_COLUMNS + 1] = r->columns[(r->n_slots - 1) * FX_COLUMNS + 2] = IFM_ABSENT;
    const char *arm = fx.cells[0].arms[r->slots[r->n_slots - 1].arm].name;
    fx_event(&fx, "clock_unread",
             json_pack("{s:s, s:i, s:i, s:s}", "cell", "decode", "slots", 52, "read", 51, "reason", "it slept"));
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, arm, "clock_sm_mhz", IFM_STATE_ABSENT, "23 of 24 slots|it slept");
    /* One block without it is enough not to decide by the clock. */
    assert_non_null(fx_finding(&fx, "rule-08", "read back"));
    fx_stop(&fx);
}

static void without_a_gpu_only_a_gate_lists_it(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        struct fixture fx;
        fx_start(&fx);
        fx_generate(&fx);
        fx_end_events(&fx);
        if (asked)
            fx_gate(&fx, "clock_sm_mhz", "other", IFM_GATE_AT_LEAST, 1000, false);
        fx_derive(&fx);
        if (asked)
            fx_expect(&fx, "other", "clock_sm_mhz", IFM_STATE_ABSENT, "instrument|cycles");
        else
            assert_null(ifm_derived_find(fx.derived, "decode", "other", IFM_M_CLOCK_SM_MHZ));
        fx_stop(&fx);
    }
}

static void converge(struct fixture *fx, const char *arm, int steady)
{
    fx_event(fx, "converge",
             json_pack("{s:s, s:s, s:s, s:s, s:f, s:i, s:f, s:f, s:f, s:n, s:b}", "cell", "decode", "arm", arm,
                       "device", "gpu0", "source", "nvml", "seconds", 9.0, "readings", 90, "watts", 400.0, "sd_w", 21.5,
                       "slope_k_per_s", 0.75, "limit_w", "steady", steady));
}

static void a_gate_that_never_settled_is_a_finding(void **state)
{
    (void)state;
    for (int steady = 0; steady < 2; steady++) {
        struct fixture fx;
        fx_start(&fx);
        fx_generate(&fx);
        converge(&fx, "base", 1);
        converge(&fx, "other", 0);
        if (steady) /* of a later session: the last word counts */
            converge(&fx, "other", 1);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_finding *finding = fx_finding(&fx, "rule-07", "settled");
        assert_int_equal(finding == NULL, steady);
        if (!steady) {
            assert_int_equal(finding->severity, IFM_SEVERITY_WARNING);
            assert_facts(finding->text, "1 of 2 arms|other (400 W|21.5 W|+0.8 K/s");
        }
        fx_stop(&fx);
    }
}

/* Where nothing could be read the fact has no arm: nothing is found wrong. */
static void a_gate_without_a_sensor_is_no_finding(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    fx_event(&fx, "converge", json_pack("{s:s, s:s, s:s}", "cell", "decode", "reason", "no sensor", "remedy", ""));
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_null(fx_finding(&fx, "rule-07", "settled"));
    fx_stop(&fx);
}

/* A clock that differs belongs to the energy more than to the time, whatever the time's word is. */
static void what_a_clock_disputes_decides_nothing(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    j.khz[0] = 3e6;
    j.khz[1] = 2e6;
    jd_record(&j);
    fx_gate(&j.fx, "energy_per_token_change_percent", "", IFM_GATE_AT_MOST, -15, true);
    jd_judge(&j);
    assert_int_equal(j.fx.verdict->gates[0].outcome, IFM_OUTCOME_BLOCKED);
    assert_facts(j.fx.verdict->gates[0].reason, "clock|energy");
    jd_stop(&j);
}

/* Means over the pass agree, the blocks do not: the arms are compared inside them. */
static void clocks_are_compared_inside_the_blocks(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    j.khz[0] = j.khz[1] = 3000000;
    jd_record(&j);
    struct ifm_record *r = &j.fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) /* 2 GHz and 4 GHz take turns, and the arm is 5 % ahead in each block */
        r->columns[k * r->n_columns + 4] =
            (int64_t)((r->slots[k].block % 2 == 0 ? 2e6 : 4e6) * (r->slots[k].arm == 1 ? 1.05 : 1.0));
    jd_judge(&j);
    assert_non_null(fx_finding(&j.fx, "rule-08", "5.0 %|inside"));
    jd_stop(&j);
}

/* An arm at half its baseline's time and 10 % more clock: faster at one clock too, and the intervals of mean and median
 * hold both; a gate in between is blocked, as more blocks do not tell. At 3 % less time it is the clock's, and the
 * interval is that of the times. */
static void a_word_that_stands_at_one_clock_holds(void **state)
{
    (void)state;
    static const char *const metrics[] = {"change_percent", "change_percent_median"};
    static const double step_ns[] = {200000, 388000}, base_ns = 400000;
    for (size_t stands = 2; stands-- > 0;) {
        struct judged j;
        jd_start(&j);
        j.khz[0] = 3000000;
        j.khz[1] = 3300000;
        j.fx.parts[0].step_ns[0] = base_ns;
        j.fx.parts[0].step_ns[1] = step_ns[!stands];
        jd_record(&j);
        fx_gate(&j.fx, "change_percent", "other", IFM_GATE_AT_MOST, -48, true);
        jd_judge(&j);
        for (size_t m = 0; m < 2; m++) {
            const struct ifm_value *v = fx_value(&j.fx, "other", metrics[m]);
            const double times = 100.0 * (step_ns[!stands] / base_ns - 1),
                         clocks = stands ? 1.1 * (100 + times) - 100 : times;
            assert_true(fabs(v->low - times) < 2 && fabs(v->high - clocks) < 2);
            assert_true(v->low < times && v->high > clocks);
        }
        assert_string_equal(fx_value(&j.fx, "other", "change_percent")->text, stands ? "faster" : "undecided");
        assert_non_null(fx_finding(&j.fx, "rule-08", stands ? "at one clock too" : "undecided"));
        assert_int_equal(j.fx.verdict->gates[0].outcome, IFM_OUTCOME_BLOCKED);
        jd_stop(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_is_cycles_over_time),
        cmocka_unit_test(arms_at_different_clocks_are_undecided),
        cmocka_unit_test(a_slot_that_was_not_read_leaves_it_absent),
        cmocka_unit_test(without_a_gpu_only_a_gate_lists_it),
        cmocka_unit_test(a_gate_that_never_settled_is_a_finding),
        cmocka_unit_test(a_gate_without_a_sensor_is_no_finding),
        cmocka_unit_test(what_a_clock_disputes_decides_nothing),
        cmocka_unit_test(clocks_are_compared_inside_the_blocks),
        cmocka_unit_test(a_word_that_stands_at_one_clock_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
