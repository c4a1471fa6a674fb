/* Rule 7: drift, change points and dependence come before intervals; arms are interleaved, in six blocks at least. */
#include "rules/fixture.h"

static void fewer_than_six_blocks_decide_nothing(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.blocks = 5;
    fx.parts[0].step_ns[1] = 50000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "step_ns", "", IFM_GATE_AT_MOST, 90000, true);
    fx_gate(&fx, "change_percent", "", IFM_GATE_AT_MOST, -10, false);
    fx_derive(&fx);
    fx_expect(&fx, "other", "mde_percent", IFM_STATE_ABSENT, "needs 6 blocks, has 5");
    fx_expect(&fx, "other", "change_percent", IFM_STATE_OK, "");
    fx_expect(&fx, "other", "speedup", IFM_STATE_OK, "");
    assert_false(fx_value(&fx, "other", "change_percent")->has_interval);
    assert_false(fx_value(&fx, "other", "speedup")->has_interval);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "undecided");
    assert_false(fx_value(&fx, "other", "step_ns")->has_interval);
    assert_string_equal(fx_value(&fx, "other", "step_ns")->text, "needs 6 blocks, has 5");
    assert_non_null(fx_finding(&fx, "rule-07", "needs 6 blocks, has 5"));
    fx_judge(&fx);
    assert_int_equal(fx.verdict->gates[0].outcome, IFM_OUTCOME_INCONCLUSIVE);
    assert_int_equal(fx.verdict->gates[1].outcome, IFM_OUTCOME_INCONCLUSIVE); /* -50 % would pass it */
    assert_int_equal(fx.verdict->exit_code, IFM_INVALID);
    fx_stop(&fx);
}

/* All of one arm, then all of the other: the design that calls identical code different. */
static void sequential_arms_are_refused(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    fx_end_events(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        r->slots[k].arm = k >= r->n_slots / 2;
    fx_derive(&fx);
    assert_non_null(fx_finding(&fx, "rule-07", "interleaved order"));
    fx_expect(&fx, "other", "change_percent", IFM_STATE_REFUSED, "rule-07");
    fx_expect(&fx, "base", "step_ns", IFM_STATE_REFUSED, "rule-07");
    fx_stop(&fx);
}

/* ABAB is not the plan's mirrored random order either. */
static void fixed_order_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    fx_end_events(&fx);
    for (size_t k = 0; k < fx.parts[0].record.n_slots; k++)
        fx.parts[0].record.slots[k].arm = k % 2;
    fx_derive(&fx);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_REFUSED, "rule-07");
    fx_stop(&fx);
}

static void a_torn_block_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    fx_end_events(&fx);
    fx.parts[0].record.n_slots--;
    fx.parts[0].record.n_samples -= fx.samples;
    fx_derive(&fx);
    assert_non_null(fx_finding(&fx, "rule-07", "slot 3 of 4 differs or is missing"));
    fx_stop(&fx);
}

/* A drift that both arms share widens what is said of each, and leaves their difference alone. */
static void shared_drift_widens_and_cancels(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0.001;
    fx.drift = 0.05;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *step = fx_value(&fx, "base", "step_ns");
    assert_true(step->high / step->low > 1.04); /* both ends of the line */
    assert_true(fabs(fx_value(&fx, "base", "drift_percent")->number - 5) < 1);
    assert_non_null(fx_finding(&fx, "rule-07", "drifts by"));
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "equivalent");
    fx_stop(&fx);
}

/* Whoever makes it: where it is more than a gate on the comparison allows, that is said, and the gate stands. */
static void a_shared_drift_beyond_a_gate_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *metric;
        enum ifm_gate_op op;
        double threshold;
        bool said;
    } gates[] = {{"change_percent", IFM_GATE_AT_MOST, 3, true},
                 {"change_percent", IFM_GATE_AT_MOST, 6, false},
                 {"speedup", IFM_GATE_AT_LEAST, 0.97, true},
                 {"speedup", IFM_GATE_AT_LEAST, 0.94, false},
                 {NULL, IFM_GATE_AT_MOST, 0, false}};
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        struct fixture fx;
        fx_start(&fx);
        fx.noise = 0.001;
        fx.drift = 0.05;
        fx_generate(&fx);
        fx_end_events(&fx);
        if (gates[i].metric != NULL)
            fx_gate(&fx, gates[i].metric, "", gates[i].op, gates[i].threshold, true);
        fx_derive(&fx);
        assert_int_equal(
            fx_finding(&fx, "rule-07", "it drifts together with base (other |by more than a gate's limit") != NULL,
            gates[i].said);
        fx_judge(&fx);
        assert_true(gates[i].metric == NULL || fx.verdict->gates[0].outcome == IFM_OUTCOME_PASS);
        fx_stop(&fx);
    }
}

/* Each of the two numbers names its arm: nobody guesses their order. */
static void each_of_two_drifts_names_its_arm(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0.001;
    fx.drift = 0.05;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_gate(&fx, "change_percent", "", IFM_GATE_AT_MOST, 3, true);
    fx_derive(&fx);
    const struct ifm_finding *said = fx_finding(&fx, "rule-07", "it drifts together with base");
    assert_non_null(said);
    float own = 0, its = 0;
    assert_int_equal(sscanf(said->text, "it drifts together with base (other %f %%, base %f %%), by more", &own, &its),
                     2);
    assert_true(fabs(own - fx_value(&fx, "other", "drift_percent")->number) < 0.01);
    assert_true(fabs(its - fx_value(&fx, "base", "drift_percent")->number) < 0.01);
    fx_stop(&fx);
}

/* So is what is said of its share of a ceiling. */
static void a_drift_widens_the_share_of_a_ceiling(void **state)
{
    (void)state;
    for (int drifts = 0; drifts < 2; drifts++) {
        struct fixture fx;
        fx_start(&fx);
        fx.noise = 0.001;
        fx.drift = drifts ? 0.05 : 0;
        fx_add_arm(&fx, 0, "read", IFM_ROLE_CEILING, 90000)->ceiling = IFM_CEILING_READ;
        for (size_t a = 0; a < fx.cells[0].n_arms; a++)
            fx.parts[0].arms[a].ledger.bytes_read = 1 << 30;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *share = fx_value(&fx, "base", "ceiling_read_percent");
        const struct ifm_value *step = fx_value(&fx, "base", "step_ns");
        assert_true(share->has_interval && (share->high / share->low > 1.04) == drifts);
        assert_true(fabs(share->high / share->low / (step->high / step->low) - 1) < 1e-9);
        fx_stop(&fx);
    }
}

static double line(double part)
{
    return part;
}

static double burst(double part) /* the second fifth */
{
    return part > 0.2 && part < 0.4;
}

static double step_up(double part)
{
    return part > 0.8;
}

/* Every sample of block b of n takes 100 us x exp(by course(b / (n - 1)) -+ swing). The swing goes + - - +, which
 * leaves a fitted line alone and correlates no block with the next. */
static void start_on(struct fixture *fx, double (*course)(double part), unsigned blocks, double by, double swing)
{
    fx_start(fx);
    fx->noise = 0;
    fx->blocks = blocks;
    fx_generate(fx);
    struct ifm_record *r = &fx->parts[0].record;
    int64_t now = 1000;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        double b = slot->phase == IFM_PHASE_MEASURE ? (double)(slot->block - fx->warmup_blocks) : 0;
        double sign = slot->block % 4 == 1 || slot->block % 4 == 0 ? 1 : -1;
        slot->start_ns = now;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            r->samples[i] = (struct ifm_sample){now, llround(1e5 * exp(by * course(b / (blocks - 1)) + sign * swing))};
            now += r->samples[i].duration_ns;
        }
        slot->end_ns = now;
        now += 500;
    }
    fx_end_events(fx);
    fx_gate(fx, "change_percent", "", IFM_GATE_AT_MOST, 3, true);
    fx_derive(fx);
}

static void start_on_a_line(struct fixture *fx, unsigned blocks, double drift, double swing)
{
    start_on(fx, line, blocks, drift, swing);
}

/* A line fits a burst and a step too, and they are said as what they are; the interval holds each fifth of the pass.
 * What moves both arms from start to end by more than a gate allows is said to it, a step as well. */
static void what_is_no_drift_is_not_said_as_one(void **state)
{
    (void)state;
    static const struct {
        double (*course)(double part);
        const char *said, *not_said;
        const char *together; /* NULL = back where it was */
    } cases[] = {{line, "drifts by", "rises and falls", "it drifts together with base (other +5.13 %|base +5.13 %"},
                 {burst, "rises and falls within the run", "drifts by", NULL},
                 {step_up, " % longer after ", "drifts by",
                  "it changes together with base (other +5.13 %|base +5.13 %"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fx;
        start_on(&fx, cases[i].course, 100, 0.05, 0.002);
        assert_non_null(fx_finding(&fx, "rule-07", cases[i].said));
        assert_non_null(fx_finding(&fx, "rule-07", "is widened to hold"));
        assert_null(fx_finding(&fx, "rule-07", cases[i].not_said));
        assert_true(log(fx_value(&fx, "base", "step_ns")->low / 1e5) < 0.003);
        assert_true(log(fx_value(&fx, "base", "step_ns")->high / 1e5) > 0.045);
        assert_int_equal(fx_finding(&fx, "rule-07", " together with ") != NULL, cases[i].together != NULL);
        assert_true(cases[i].together == NULL || fx_finding(&fx, "rule-07", cases[i].together) != NULL);
        fx_stop(&fx);
    }
}

/* The interval of a level that drifts visibly reaches from one end of the line to the other, whichever is lower. */
static void a_visible_drift_widens_to_the_ends_of_its_line(void **state)
{
    (void)state;
    static const double drifts[] = {0.02, -0.02};
    for (size_t i = 0; i < sizeof drifts / sizeof drifts[0]; i++) {
        struct fixture fx;
        start_on_a_line(&fx, 48, drifts[i], 0.01);
        const struct ifm_value *step = fx_value(&fx, "base", "step_ns");
        assert_true(step->has_interval);
        assert_true(fabs(log(step->number / 1e5) - drifts[i] / 2) <
                    1e-4); /* the mean of a curve, not of its logarithm */
        assert_true(fabs(step->number / fx_value(&fx, "base", "latency_ns_mean")->number - 1) < 1e-12);
        assert_true(fabs(log(step->low / 1e5) - fmin(0, drifts[i])) < 2e-4);
        assert_true(fabs(log(step->high / 1e5) - fmax(0, drifts[i])) < 2e-4);
        fx_stop(&fx);
    }
}

/* A drift that is visible and within the margin (0.3 %) is none that matters; neither is one of a few blocks, which
 * have no interval to widen. */
static void a_drift_within_the_margin_widens_nothing(void **state)
{
    (void)state;
    struct fixture fx;
    start_on_a_line(&fx, 48, 0.0025, 0.001);
    const struct ifm_value *step = fx_value(&fx, "base", "step_ns");
    assert_true(step->has_interval);
    assert_true(log(step->low / 1e5) > 0.0003 && log(step->high / 1e5) < 0.0022);
    fx_stop(&fx);
    start_on_a_line(&fx, 4, 0.02, 1e-4);
    step = fx_value(&fx, "base", "step_ns");
    assert_false(step->has_interval);
    assert_true(step->low == 0 && step->high == 0);
    fx_stop(&fx);
}

/* The cap is told where it ended the pass, as what it cost: a group of looks its blocks, another rule its effect. */
static void a_pass_that_was_capped_says_so(void **state)
{
    (void)state;
    static const struct {
        const char *reason;
        enum ifm_stop_rule stop;
        const char *found, *not_found;
    } cases[] = {{"cap", IFM_STOP_GROUP, "before the planned 77 blocks", "before the wanted effect"},
                 {"cap", IFM_STOP_MDE, "before the wanted effect of 0.5 %", "before the planned"},
                 {"repeats", IFM_STOP_REPEATS, NULL, "stopped by the time cap"},
                 {"group", IFM_STOP_GROUP, NULL, "stopped by the time cap"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fx;
        fx_start(&fx);
        fx.cells[0].measure.stop = cases[i].stop;
        fx.cells[0].measure.blocks_max = 77;
        fx_generate(&fx);
        fx_stop_fact(&fx, "decode", cases[i].reason);
        fx_end_events(&fx);
        fx_derive(&fx);
        if (cases[i].found != NULL) {
            const struct ifm_finding *note = fx_finding(&fx, "rule-07", cases[i].found);
            assert_non_null(note);
            assert_int_equal(note->severity, IFM_SEVERITY_NOTE);
        }
        assert_null(fx_finding(&fx, "rule-07", cases[i].not_found));
        fx_stop(&fx);
    }
}

/* A difference that itself drifts is as wide as its ends lie apart, and has the word that both ends say. */
static void drifting_difference_is_widened(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0.001;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    int64_t late = 0;
    for (size_t k = 0; k < r->n_slots; k++) { /* the variant slows down by 10 % over the pass */
        double factor = r->slots[k].arm == 1 ? 1 + 0.1 * (double)k / (double)r->n_slots : 1;
        r->slots[k].start_ns += late;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            int64_t longer = (int64_t)llround((factor - 1) * (double)r->samples[i].duration_ns);
            r->samples[i].start_ns += late;
            r->samples[i].duration_ns += longer;
            late += longer;
        }
        r->slots[k].end_ns += late;
    }
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
    assert_true(change->low < 1.5 && change->high > 8.5);
    assert_string_equal(change->text, "slower");
    assert_non_null(fx_finding(&fx, "rule-07", "itself drifts"));
    fx_expect(&fx, "other", "step_ns", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* A step in the middle of the pass, which both arms share: from so many nanoseconds of 100 microseconds on. */
static void step_in_the_middle(struct fixture *fx, int64_t by)
{
    fx_start(fx);
    fx->noise = 0.0002;
    fx->blocks = 30;
    fx_generate(fx);
    struct ifm_record *r = &fx->parts[0].record;
    int64_t late = 0;
    for (size_t k = 0; k < r->n_slots; k++) {
        r->slots[k].start_ns += late;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            r->samples[i].start_ns += late;
            if (r->slots[k].block > 15) {
                r->samples[i].duration_ns += by;
                late += by;
            }
        }
        r->slots[k].end_ns += late;
    }
    fx_end_events(fx);
    fx_derive(fx);
}

/* One within the margin of 0.3 % changes no answer, however surely it is seen. */
static void a_change_point_is_found(void **state)
{
    (void)state;
    struct fixture fx;
    step_in_the_middle(&fx, 3000);
    assert_non_null(fx_finding(&fx, "rule-07", " % longer after 15 of 30 blocks than before"));
    fx_stop(&fx);
    step_in_the_middle(&fx, 150);
    assert_null(fx_finding(&fx, "rule-07", " % longer after 15 of 30 blocks than before"));
    fx_stop(&fx);
}

static void an_unsteady_warmup_and_a_loaded_machine_are_said(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx_generate(&fx);
    fx_warmup(&fx, "other", 0);
    fx_event(&fx, "load", json_pack("{s:s, s:f}", "when", "after", "foreign_load", 0.8));
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_true(fx.derived->busy);
    assert_non_null(fx_finding(&fx, "rule-07", "1 of 2 arms were not steady when the warm-up ended: other"));
    assert_non_null(fx_finding(&fx, "rule-07", "other programs took up to 80 % of each CPU as the run ended"));
    assert_null(fx_finding(&fx, "rule-07", "blocks disturbed"));
    fx_stop(&fx);
}

/* How many blocks other programs disturbed, and whether the comparison does without them: no column of samples may be
 * taken for a minority. Where nothing was read that marks one, none is said to be. */
static void marks_that_were_not_read_are_not_told(void **state)
{
    (void)state;
    for (int read = 0; read < 3; read++) {
        struct fixture fx;
        fx_start(&fx);
        fx.plan.rules = IFM_PLAN_RULES_REPEATS;
        for (unsigned b = 0; b < (read == 2 ? 12 : 5); b++)
            fx.stolen[b] = true;
        fx_generate(&fx);
        struct ifm_record *r = &fx.parts[0].record;
        for (size_t i = 0; i < r->n_slots * r->n_columns && !read; i++)
            r->columns[i] = IFM_ABSENT;
        fx_event(&fx, "load", json_pack("{s:s, s:f}", "when", "before", "foreign_load", 0.8));
        fx_event(&fx, "load", json_pack("{s:s, s:f}", "when", "after", "foreign_load", 0.7));
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_non_null(fx_finding(&fx, "rule-07", "took up to 80 % of each CPU as the run began and ended"));
        assert_int_equal(fx_finding(&fx, "rule-07", "; 5 of 12 blocks disturbed, set aside in ratios of time") != NULL,
                         read == 1);
        assert_int_equal(fx_finding(&fx, "rule-07", "; 12 of 12 blocks disturbed") != NULL, read == 2);
        assert_int_equal(fx_finding(&fx, "rule-07", "blocks disturbed, set aside") != NULL, read == 1);
        fx_stop(&fx);
    }
}

/* With 100 blocks of AR(1) noise, the interval of the step is wider than that of independent blocks. */
static void dependent_blocks_widen_the_interval(void **state)
{
    (void)state;
    double width[2];
    for (int k = 0; k < 2; k++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 100;
        fx.samples = 5;
        fx.noise = 0.001;
        fx.block_noise = 0.01;
        fx.ar = k == 0 ? 0.0 : 0.8;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *step = fx_value(&fx, "base", "step_ns");
        width[k] = step->high - step->low;
        fx_stop(&fx);
    }
    assert_true(width[1] > 1.5 * width[0]);
}

/* Make arm 1 wander: AR(1) with coefficient 0.9 from block to block, which pairing cannot remove. */
static void wander(struct fixture *fx, double size)
{
    struct ifm_record *r = &fx->parts[0].record;
    struct ifm_random random = ifm_random_start(fx->seed, 99);
    double memory = 0;
    uint32_t block = UINT32_MAX;
    int64_t late = 0;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        if (slot->block != block)
            memory = 0.9 * memory + sqrt(1 - 0.81) * size * ifm_random_normal(&random);
        block = slot->block;
        slot->start_ns += late;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            int64_t more = slot->arm == 1 ? (int64_t)llround(expm1(memory) * (double)r->samples[i].duration_ns) : 0;
            r->samples[i].start_ns += late;
            r->samples[i].duration_ns += more;
            late += more;
        }
        slot->end_ns += late;
    }
}

/* Two equal arms, one of which wanders: blocks that resemble their neighbours are not so many witnesses. Taken as
 * independent, they would call it faster or slower in every second run. */
static void a_wandering_arm_is_rarely_called_different(void **state)
{
    (void)state;
    unsigned different = 0, runs = 60;
    for (unsigned run = 0; run < runs; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 100;
        fx.samples = 3;
        fx.noise = 0.001;
        fx.seed = 1000 + run;
        fx_generate(&fx);
        wander(&fx, 0.05);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
        different += change->state == IFM_STATE_OK && (change->low > 0 || change->high < 0);
        fx_stop(&fx);
    }
    if (different > runs / 5)
        fail_msg("%u of %u A/A runs exclude a change of zero", different, runs);
}

/* Above 10000 samples, mean and median are bracketed by slots, and slots remember as blocks do. */
static void dependent_slots_widen_mean_and_median(void **state)
{
    (void)state;
    double mean[2], median[2];
    for (int k = 0; k < 2; k++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 1200; /* worth 150 independent samples, below which a mean has no interval */
        fx.samples = 20;
        fx.noise = 0.001;
        fx.block_noise = 0.01;
        fx.ar = k == 0 ? 0.0 : 0.9;
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *m = fx_value(&fx, "base", "latency_ns_mean");
        const struct ifm_value *p = fx_value(&fx, "base", "latency_ns_p50");
        assert_string_equal(m->n_of, "slots");
        assert_true(m->has_interval && p->has_interval);
        assert_string_equal(m->text, "Student's t at the effective size");
        mean[k] = m->high - m->low;
        median[k] = p->high - p->low;
        fx_stop(&fx);
    }
    /* Two slots of a block share its noise in both; only what blocks remember of each other differs. */
    assert_true(mean[1] > 1.5 * mean[0]);
    assert_true(median[1] > 1.5 * median[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_than_six_blocks_decide_nothing),
        cmocka_unit_test(sequential_arms_are_refused),
        cmocka_unit_test(fixed_order_is_refused),
        cmocka_unit_test(a_torn_block_is_refused),
        cmocka_unit_test(shared_drift_widens_and_cancels),
        cmocka_unit_test(a_shared_drift_beyond_a_gate_is_said),
        cmocka_unit_test(each_of_two_drifts_names_its_arm),
        cmocka_unit_test(a_drift_widens_the_share_of_a_ceiling),
        cmocka_unit_test(what_is_no_drift_is_not_said_as_one),
        cmocka_unit_test(a_visible_drift_widens_to_the_ends_of_its_line),
        cmocka_unit_test(a_drift_within_the_margin_widens_nothing),
        cmocka_unit_test(a_pass_that_was_capped_says_so),
        cmocka_unit_test(drifting_difference_is_widened),
        cmocka_unit_test(a_change_point_is_found),
        cmocka_unit_test(an_unsteady_warmup_and_a_loaded_machine_are_said),
        cmocka_unit_test(marks_that_were_not_read_are_not_told),
        cmocka_unit_test(dependent_blocks_widen_the_interval),
        cmocka_unit_test(a_wandering_arm_is_rarely_called_different),
        cmocka_unit_test(dependent_slots_widen_mean_and_median),
    };
    return cmocka_run_group_tests_name("rule_07", tests, NULL, NULL);
}
