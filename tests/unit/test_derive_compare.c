/* Comparisons: levels of several arms at once, what the margin does, robust companions, effect sizes, and the numbers
 * from counters, each by hand. */
#include "unit/judge_sample.h"

#include "derive/internal.h"
#include "stats/looks.h"
#include "unit/facts.h"

static double t_of(double p, double df)
{
    double t = 0;
    assert_int_equal(ifm_stats_t_quantile(p, df, &t), IFM_STAT_OK);
    return t;
}

static bool near(double a, double b, double relative)
{
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

static void start(struct fixture *fx, unsigned variants)
{
    static const char *const names[] = {"b", "c", "d"};
    fx_start(fx);
    for (unsigned i = 1; i < variants; i++)
        fx_add_arm(fx, 0, names[i - 1], IFM_ROLE_VARIANT, 100000);
    fx_generate(fx);
    fx_end_events(fx);
    fx_derive(fx);
}

/* With m variants each interval has the level 1 - 0.05 / m, and a note says so. */
static void intervals_hold_for_all_arms_at_once(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 1);
    assert_true(fx_value(&fx, "other", "change_percent")->level == 0.95);
    assert_null(fx_finding(&fx, "", "Bonferroni"));
    fx_stop(&fx);
    start(&fx, 4);
    const struct ifm_value *v = fx_value(&fx, "other", "change_percent");
    assert_true(near(v->level, 0.9875, 1e-12));
    assert_true(near(fx_value(&fx, "other", "speedup")->level, 0.9875, 1e-12));
    assert_non_null(fx_finding(&fx, "", "4 arms|base|98.75 %"));
    /* The half-width is that of t at 1 - 0.05/8: mde shares its standard error, so the two can be held together. */
    double half = 0.5 * (log1p(v->high / 100) - log1p(v->low / 100)), t = t_of(1 - 0.05 / 8, 11);
    double error = half / t;
    double mde = log1p(fx_value(&fx, "other", "mde_percent")->number / 100);
    assert_true(near(mde, log1p(0.003) + (t + t_of(0.8, 11)) * error, 1e-9));
    fx_stop(&fx);
}

/* A decision is made against the margin, so the smallest effect that can be found lies beyond it. */
static void the_margin_is_in_the_mde(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 1);
    double narrow = log1p(fx_value(&fx, "other", "mde_percent")->number / 100);
    fx_stop(&fx);
    fx_start(&fx);
    fx.cells[0].measure.margin = 0.05;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    double wide = log1p(fx_value(&fx, "other", "mde_percent")->number / 100);
    assert_true(near(wide - narrow, log1p(0.05) - log1p(0.003), 1e-9));
    fx_stop(&fx);
}

/* The remedy of too few is what ended the cell. */
static void too_few_blocks_ask_for_what_ended_the_cell(void **state)
{
    (void)state;
    for (int repeats = 0; repeats < 2; repeats++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 2;
        fx.cells[0].measure.stop = repeats ? IFM_STOP_REPEATS : IFM_STOP_MDE;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_string_equal(fx_value(&fx, "other", "mde_percent")->remedy,
                            repeats ? "more blocks: a larger --repeats" : "more blocks: a longer --cap");
        assert_string_equal(fx_value(&fx, "other", "latency_ns_p99")->remedy,
                            repeats ? "more samples: a larger --repeats" : "more samples: a longer --cap");
        fx_stop(&fx);
    }
}

/* Five pairs have values and no word; a gate on them is open, and one more would give an interval. */
static void five_blocks_have_no_word(void **state)
{
    (void)state;
    for (unsigned blocks = 5; blocks <= 6; blocks++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = blocks;
        fx.parts[0].step_ns[1] = 50000;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, 1.5, true);
        fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, 1.5, false);
        fx_derive(&fx);
        const struct ifm_value *speedup = fx_value(&fx, "other", "speedup");
        assert_int_equal(speedup->state, IFM_STATE_OK);
        assert_true(fabs(speedup->number - 2) < 0.1);
        assert_int_equal(speedup->has_interval, blocks == 6);
        assert_string_equal(fx_value(&fx, "other", "change_percent")->text, blocks == 6 ? "faster" : "undecided");
        fx_judge(&fx);
        for (size_t g = 0; g < 2; g++) {
            const struct ifm_gate_result *result = &fx.verdict->gates[g];
            assert_int_equal(result->outcome, blocks == 6 ? IFM_OUTCOME_PASS : IFM_OUTCOME_INCONCLUSIVE);
            assert_int_equal(result->further, blocks == 6 ? 0 : 1);
        }
        assert_int_equal(fx.verdict->exit_code, blocks == 6 ? IFM_OK : IFM_INVALID);
        fx_stop(&fx);
    }
}

/* Half the width of the change of a run that ended for this reason. */
static double half_of(struct fixture *fx, enum ifm_stop_rule rule, const char *reason, size_t *n)
{
    fx_start(fx);
    fx->noise = 0.01;
    fx->cells[0].measure.stop = rule;
    fx->cells[0].measure.blocks_min = 6;
    fx->cells[0].measure.blocks_max = 10000;
    fx_generate(fx);
    if (reason != NULL)
        fx_stop_fact(fx, "decode", reason);
    fx_end_events(fx);
    fx_derive(fx);
    const struct ifm_value *v = fx_value(fx, "other", "change_percent");
    assert_int_equal(v->state, IFM_STATE_OK);
    assert_true(v->level == 0.95); /* over all looks */
    *n = (size_t)v->n;
    double half = 0.5 * (log1p(v->high / 100) - log1p(v->low / 100));
    fx_stop(fx);
    return half;
}

/* At a look the interval is as wide as all looks need; at the end it is wider than one look by what they took. */
static void an_interval_is_as_wide_as_its_looks_need(void **state)
{
    (void)state;
    struct fixture fx;
    size_t n;
    double once = half_of(&fx, IFM_STOP_REPEATS, NULL, &n), end = half_of(&fx, IFM_STOP_DECIDED, NULL, &n), level;
    assert_int_equal(ifm_stats_end_level(0.95, 6, n, &level), IFM_STAT_OK);
    assert_true(level > 0.95);
    double look = half_of(&fx, IFM_STOP_DECIDED, "decided", &n);
    assert_true(fabs(look / once - t_of(0.99875, (double)n - 1) / t_of(0.975, (double)n - 1)) < 1e-9);
    assert_true(fabs(end / once - t_of(0.5 + 0.5 * level, (double)n - 1) / t_of(0.975, (double)n - 1)) < 1e-9);
}

/* One wild block moves the mean and not the median. The record stays honest: what follows starts later. */
static void the_median_is_robust(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0.001;
    fx.parts[0].step_ns[1] = 90000;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    int64_t now = r->slots[0].start_ns;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        slot->start_ns = now;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            r->samples[i].start_ns = now;
            if (slot->block == 5 && slot->arm == 1)
                r->samples[i].duration_ns *= 3;
            now += r->samples[i].duration_ns;
        }
        slot->end_ns = now;
        now += 500;
    }
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *median = fx_value(&fx, "other", "change_percent_median");
    assert_int_equal(median->state, IFM_STATE_OK);
    assert_true(fabs(median->number + 10) < 0.2);
    assert_true(median->has_interval && median->low > -10.5 && median->high < -9.5);
    assert_true(fx_value(&fx, "other", "change_percent")->number > -3);
    fx_stop(&fx);
}

/* The gap is positive only when the arm's whole interval lies below the baseline's. */
static void the_gap_has_a_direction(void **state)
{
    (void)state;
    static const struct {
        double factor;
        int sign;
    } table[] = {{0.5, 1}, {1.0, -1}, {2.0, -1}};
    for (size_t i = 0; i < 3; i++) {
        struct fixture fx;
        fx_start(&fx);
        fx.parts[0].step_ns[1] = 100000 * table[i].factor;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *own = fx_value(&fx, "other", "step_ns"), *base = fx_value(&fx, "base", "step_ns");
        double gap = fx_value(&fx, "other", "intervals_gap_percent")->number;
        assert_true(near(gap, 100 * (base->low / own->high - 1), 1e-9));
        assert_true(gap * table[i].sign > 0);
        double delta = fx_value(&fx, "other", "cliffs_delta")->number;
        double g = fx_value(&fx, "other", "hedges_g")->number;
        if (table[i].factor < 1)
            assert_true(delta == 1 && g > 0);
        if (table[i].factor > 1)
            assert_true(delta == -1 && g < 0);
        fx_stop(&fx);
    }
}

/* ---- counters ---- */

static void counters_by_hand(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    jd_record(&j);
    jd_judge(&j);
    assert_true(near(fx_value(&j.fx, "other", "l2_hit_percent")->number, 65, 1e-9));
    assert_true(near(fx_value(&j.fx, "base", "l2_hit_percent")->number, 50, 1e-9));
    const struct ifm_value *change = fx_value(&j.fx, "other", "l2_hit_change_pp");
    assert_true(near(change->number, 15, 1e-9) && change->has_interval && change->low < 15 && change->high > 15);
    assert_true(near(fx_value(&j.fx, "other", "energy_per_token_j")->number, 500e-6 / 4, 1e-9));
    const struct ifm_value *energy = fx_value(&j.fx, "other", "energy_per_token_change_percent");
    assert_true(near(energy->number, -50, 1e-9) && energy->has_interval && energy->high < -49);
    assert_true(fx_value(&j.fx, "base", "quality_percent")->number == 80);
    assert_true(fx_value(&j.fx, "other", "quality_loss_pp")->number == 0);
    jd_stop(&j);
}

/* What is evicted between two samples is in the counter, and is no part of a step. */
static void counters_of_more_than_the_steps_are_absent(void **state)
{
    (void)state;
    static const char *const metrics[] = {"l2_hit_percent", "energy_per_token_j", "l2_hit_change_pp",
                                          "energy_per_token_change_percent"};
    for (int gaps = 0; gaps < 2; gaps++) {
        struct judged j;
        jd_start(&j);
        jd_record(&j);
        if (gaps)
            j.fx.parts[0].arms[1].gaps = true;
        else
            j.fx.cells[0].measure.cache = IFM_CACHE_COLD;
        jd_judge(&j);
        for (size_t i = 0; i < 4; i++)
            fx_expect(&j.fx, "other", metrics[i], IFM_STATE_ABSENT, "between");
        jd_stop(&j);
    }
}

/* All 2^12 patterns of twelve differences of one sign: two of them reach the sum. A run that looked has no such p. */
static void sign_flips_by_hand(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].step_ns[1] = 200000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_true(near(fx_value(&fx, "other", "sign_flip_p")->number, 2.0 / 4096, 1e-12));
    fx_gate(&fx, "sign_flip_p", "", IFM_GATE_AT_MOST, 0.05, false);
    fx_judge(&fx);
    assert_int_equal(fx.verdict->gates[0].outcome, IFM_OUTCOME_BLOCKED);
    assert_facts(fx.verdict->gates[0].reason, "size|alone");
    fx.cells[0].measure.stop = IFM_STOP_GROUP;
    fx.cells[0].measure.blocks_max = 50;
    fx_derive(&fx);
    fx_expect(&fx, "other", "sign_flip_p", IFM_STATE_ABSENT, "looks");
    fx_stop(&fx);
}

/* A run that ended because its interval was narrow: the interval of 95 % is computed at 96.25 %. */
static void a_width_that_ends_the_run_costs_a_little(void **state)
{
    (void)state;
    double half[2];
    for (int ended = 0; ended < 2; ended++) {
        struct fixture fx;
        fx_start(&fx);
        fx_generate(&fx);
        fx.cells[0].measure.stop = IFM_STOP_MDE;
        fx.cells[0].measure.blocks_max = 100;
        fx_stop_fact(&fx, "decode", ended ? "mde" : "cap");
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *v = fx_value(&fx, "other", "change_percent");
        assert_true(v->level == 0.95);
        half[ended] = log1p(v->high / 100) - log1p(v->low / 100);
        fx_stop(&fx);
    }
    assert_true(near(half[1] / half[0], t_of(1 - 0.0375 / 2, 11) / t_of(0.975, 11), 1e-9));
}

/* 240 samples of one step: 24 go at either end. */
static void the_trimmed_mean_by_hand(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx, 1);
    const struct ifm_record *r = &fx.parts[0].record;
    double x[480], room[480], sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
            if (r->slots[k].arm == 0 && r->slots[k].phase == IFM_PHASE_MEASURE)
                x[n++] = (double)r->samples[i].duration_ns;
    ifm_stats_sort(x, room, n);
    for (size_t i = n / 10; i < n - n / 10; i++)
        sum += x[i] / (double)(n - 2 * (n / 10));
    const struct ifm_value *v = fx_value(&fx, "base", "latency_ns_trimmed_mean");
    assert_true(near(v->number, sum, 1e-12) && v->has_interval && v->low < sum && sum < v->high);
    assert_int_equal(v->n, n);
    fx_stop(&fx);
}

/* The interval of an arm's own level, of blocks that resemble the one before by `rho`: 93 to 97 % of 6,000 hold it.
 * With ten blocks no rule has both; there only what is too little counts, up to 0.3. */
static void a_level_covers(void **state)
{
    (void)state;
    enum { SETS = 6000, MOST = 100 };
    static const size_t sizes[] = {10, 15, 20, 40, 100};
    static const double rhos[] = {0, 0.3, 0.5};
    for (size_t s = 0; s < 5; s++)
        for (size_t r = 0; r < 3; r++) {
            struct ifm_random random = ifm_random_start(20261121, (uint32_t)(10 * s + r));
            size_t held = 0;
            for (int set = 0; set < SETS; set++) {
                double x[MOST], at = ifm_random_normal(&random);
                for (size_t i = 0; i < sizes[s]; i++) {
                    x[i] = at;
                    at = rhos[r] * at + sqrt(1 - rhos[r] * rhos[r]) * ifm_random_normal(&random);
                }
                struct ifm_log_mean mean;
                struct ifm_interval interval;
                assert_true(ifm_log_level_of(x, sizes[s], 0, &mean));
                assert_true(ifm_log_mean_interval(&mean, 0.95, &interval));
                held += interval.low <= 0 && 0 <= interval.high;
            }
            print_message("%zu blocks, correlation %.1f: %.3f\n", sizes[s], rhos[r], (double)held / SETS);
            assert_true((double)held >= (sizes[s] == 10 && r == 2 ? 0.90 : 0.93) * SETS);
            assert_true(sizes[s] == 10 || (double)held <= 0.97 * SETS);
        }
}

/* A run with looks decides at its last one at the latest: what it is told to need is not fewer than it has. */
static void looks_need_more_blocks(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.parts[0].step_ns[1] = 100700;
    fx.noise = 0.015;
    fx.cells[0].measure.stop = IFM_STOP_GROUP;
    fx.cells[0].measure.blocks_max = 30;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "undecided");
    double looked = fx_value(&fx, "other", "blocks_needed")->number;
    fx.cells[0].measure.stop = IFM_STOP_REPEATS;
    fx_derive(&fx);
    const struct ifm_number *plain = ifm_derived_find(fx.derived, "decode", "other", IFM_M_BLOCKS_NEEDED);
    assert_true(plain == NULL || plain->value.number < looked);
    fx_stop(&fx);
}

/* Nobody asked and nothing was recorded: not listed. A gate asks: absent, and what would help. */
static void absent_only_where_asked_for(void **state)
{
    (void)state;
    static const char *const metrics[] = {"l2_hit_percent",     "l2_hit_change_pp",
                                          "energy_per_token_j", "energy_per_token_change_percent",
                                          "quality_percent",    "quality_loss_pp"};
    struct fixture fx;
    start(&fx, 1);
    for (size_t i = 0; i < 6; i++)
        assert_null(ifm_derived_find(fx.derived, "decode", "other", ifm_metric_of(metrics[i])));
    for (size_t i = 0; i < 6; i++)
        fx_gate(&fx, metrics[i], "",
                ifm_metrics[ifm_metric_of(metrics[i])].better == IFM_BETTER_HIGHER ? IFM_GATE_AT_LEAST
                                                                                   : IFM_GATE_AT_MOST,
                1, false);
    fx_derive(&fx);
    fx_judge(&fx);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(fx_value(&fx, "other", metrics[i])->state, IFM_STATE_ABSENT);
        assert_true(fx_value(&fx, "other", metrics[i])->remedy[0] != '\0');
        assert_int_equal(fx.verdict->gates[i].outcome, IFM_OUTCOME_BLOCKED);
    }
    assert_int_equal(fx.verdict->exit_code, IFM_MISSING);
    fx_stop(&fx);
}

/* Where nothing can be compared, every number of the comparison is there, absent, so that a gate on it says why. */
static void nothing_to_compare_is_absent(void **state)
{
    (void)state;
    static const char *const metrics[] = {"mde_percent", "change_percent_median", "cliffs_delta",
                                          "hedges_g",    "intervals_gap_percent", "l2_hit_change_pp",
                                          "speedup",     "change_percent"};
    struct fixture fx;
    fx_start(&fx);
    fx.blocks = 3;
    fx_gate(&fx, "l2_hit_change_pp", "", IFM_GATE_AT_LEAST, 1, false);
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    for (size_t i = 0; i < 6; i++)
        fx_expect(&fx, "other", metrics[i], IFM_STATE_ABSENT, i < 5 ? "6 blocks|has 3" : "no instrument");
    fx.parts[0].has_record = false;
    fx_derive(&fx);
    for (size_t i = 0; i < 8; i++)
        fx_expect(&fx, "other", metrics[i], IFM_STATE_ABSENT, "ended");
    fx_stop(&fx);
}

/* One slot that was not read: a part of the sum is no sum. */
static void a_gap_in_a_column_is_absent(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    jd_record(&j);
    struct ifm_record *r = &j.fx.parts[0].record;
    size_t k = r->n_slots - 1;
    for (size_t c = 0; c < 3; c++)
        r->columns[k * r->n_columns + c] = IFM_ABSENT;
    jd_judge(&j);
    const char *arm = r->slots[k].arm == 1 ? "other" : "base";
    fx_expect(&j.fx, arm, "l2_hit_percent", IFM_STATE_ABSENT, "read in 11 of 12 blocks");
    fx_expect(&j.fx, arm, "energy_per_token_j", IFM_STATE_ABSENT, "read in 11 of 12 blocks");
    assert_int_equal(fx_value(&j.fx, "other", "l2_hit_change_pp")->n, 11);
    jd_stop(&j);
}

/* A processor that throttled marks the block, for both arms. */
static void a_throttle_event_marks_its_block(void **state)
{
    (void)state;
    static char name[] = "throttle_count";
    struct judged j;
    jd_start(&j);
    jd_record(&j);
    struct ifm_record *r = &j.fx.parts[0].record;
    r->column_names[4] = name;
    for (size_t k = 0; k < r->n_slots; k++)
        r->columns[k * r->n_columns + 4] = r->slots[k].block == 3 && r->slots[k].arm == 0;
    jd_judge(&j);
    const struct ifm_number *marked =
        ifm_derived_find(j.fx.derived, "decode", "other", IFM_M_CHANGE_PERCENT_WITHOUT_MARKED);
    assert_non_null(marked);
    assert_int_equal(marked->value.n, 11);
    jd_stop(&j);
}

/* A level in place of the clock, `own` for the variant. */
static void with_level(struct judged *j, char *column, int64_t base, int64_t own)
{
    jd_start(j);
    jd_record(j);
    struct ifm_record *r = &j->fx.parts[0].record;
    r->column_names[4] = column;
    for (size_t k = 0; k < r->n_slots; k++)
        r->columns[k * r->n_columns + 4] = r->slots[k].arm == 1 ? own : base;
    jd_judge(j);
    assert_string_equal(fx_value(&j->fx, "other", "change_percent")->text, "faster"); /* said, and decides nothing */
}

static void warmth_and_power_are_said(void **state)
{
    (void)state;
    static char temperature[] = "temperature_mc", power[] = "power_mw";
    struct judged j;
    with_level(&j, temperature, 50000, 56000);
    const struct ifm_finding *found = fx_finding(&j.fx, "rule-08", "6.0 K hotter");
    assert_non_null(found);
    assert_int_equal(found->severity, IFM_SEVERITY_NOTE);
    assert_non_null(strstr(j.fx.verdict->triage[0].text, "temperature +6.0 K"));
    jd_stop(&j);
    with_level(&j, temperature, 50000, 54000);
    assert_null(fx_finding(&j.fx, "rule-08", "hotter"));
    jd_stop(&j);
    with_level(&j, power, 100000, 80000);
    assert_non_null(fx_finding(&j.fx, "rule-08", "20.0 %|less power"));
    jd_stop(&j);
    with_level(&j, power, 100000, 95000);
    assert_null(fx_finding(&j.fx, "rule-08", "less power"));
    jd_stop(&j);
}

static void companions_are_in_the_file(void **state)
{
    (void)state;
    struct judged j;
    jd_start(&j);
    jd_record(&j);
    jd_judge(&j);
    assert_int_equal(j.fx.derived->n_companions, 3); /* the scripted columns; steal and clock were not read */
    const struct ifm_companion *hits = &j.fx.derived->companions[0];
    assert_string_equal(hits->column, "l2_hits");
    assert_true(near(hits->own, 650, 1e-9) && near(hits->base, 500, 1e-9) && hits->n == 12);
    json_t *written = ifm_derived_to_json(j.fx.derived);
    const json_t *row = json_array_get(json_object_get(written, "companions"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "column")), "l2_hits");
    assert_string_equal(json_string_value(json_object_get(row, "kind")), "amount");
    assert_true(json_real_value(json_object_get(row, "own")) == hits->own);
    assert_true(json_real_value(json_object_get(row, "base")) == hits->base);
    assert_true(json_real_value(json_object_get(row, "step_ns")) == hits->step_ns);
    assert_int_equal(json_integer_value(json_object_get(row, "n")), 12);
    json_decref(written);
    jd_stop(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_hold_for_all_arms_at_once),
        cmocka_unit_test(the_margin_is_in_the_mde),
        cmocka_unit_test(too_few_blocks_ask_for_what_ended_the_cell),
        cmocka_unit_test(five_blocks_have_no_word),
        cmocka_unit_test(an_interval_is_as_wide_as_its_looks_need),
        cmocka_unit_test(the_median_is_robust),
        cmocka_unit_test(the_gap_has_a_direction),
        cmocka_unit_test(counters_by_hand),
        cmocka_unit_test(counters_of_more_than_the_steps_are_absent),
        cmocka_unit_test(sign_flips_by_hand),
        cmocka_unit_test(a_width_that_ends_the_run_costs_a_little),
        cmocka_unit_test(the_trimmed_mean_by_hand),
        cmocka_unit_test(a_level_covers),
        cmocka_unit_test(looks_need_more_blocks),
        cmocka_unit_test(absent_only_where_asked_for),
        cmocka_unit_test(nothing_to_compare_is_absent),
        cmocka_unit_test(a_gap_in_a_column_is_absent),
        cmocka_unit_test(a_throttle_event_marks_its_block),
        cmocka_unit_test(warmth_and_power_are_said),
        cmocka_unit_test(companions_are_in_the_file),
    };
    return cmocka_run_group_tests_name("derive_compare", tests, NULL, NULL);
}
