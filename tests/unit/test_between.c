/* Between runs: the formulas by hand-computed numbers, and each field that forbids or qualifies a comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/random.h"
#include "derive/compare/between.h"
#include "stats/stats.h"
#include "unit/between_sample.h"
#include "unit/facts.h"
#include <math.h>
#include <string.h>

/* Two standard errors of 0.01 and 0.02 with 6 and 3 degrees: df = (1e-4 + 4e-4)^2 / (1e-8/6 + 16e-8/3) = 4.545454. */
static void welch_by_hand(void **state)
{
    (void)state;
    struct ifm_log_estimate a = {.mean = 1.0, .se = 0.01, .df = 6}, b = {.mean = 1.5, .se = 0.02, .df = 3},
                            d = ifm_log_difference(&b, &a);
    assert_true(near(d.mean, 0.5));
    assert_true(near(d.se, sqrt(5e-4)));
    assert_true(near(d.df, 25e-8 / (1e-8 / 6 + 16e-8 / 3)));
    assert_true(fabs(d.df - 4.545454545) < 1e-6);
}

/* The standard error comes back from an interval, whatever widened it; the wider side counts. */
static void estimate_from_an_interval(void **state)
{
    (void)state;
    struct ifm_log_estimate estimate;
    double e = exp(0.02446911851144969);
    struct ifm_value value = bracketed(1000, 1000 / e, 1000 * e, 7, "");
    assert_true(ifm_log_estimate_of(&value, &estimate));
    assert_true(near(estimate.mean, log(1000)) && fabs(estimate.se - 0.01) < 1e-9 && estimate.df == 6);
    value.high = 1000 * e * e;
    assert_true(ifm_log_estimate_of(&value, &estimate) && fabs(estimate.se - 0.02) < 1e-9);
    value.low = 0;
    assert_false(ifm_log_estimate_of(&value, &estimate));
    value = bracketed(1000, 1000 / e, 1000 * e, 1, "");
    assert_false(ifm_log_estimate_of(&value, &estimate));
    value.n = 7;
    value.has_interval = false;
    assert_false(ifm_log_estimate_of(&value, &estimate));
    value = bracketed(1000, 1000 / e, 1000 * e, 7, "");
    value.state = IFM_STATE_REFUSED;
    assert_false(ifm_log_estimate_of(&value, &estimate));
}

/* A device's own ceiling is what a share is of: another ceiling arm, threads, instruction sets and bytes are the
 * device's; times are not compared, other operations refuse. */
static void across_devices(void **state)
{
    (void)state;
    struct pair p;
    double e = exp(0.02446911851144969);
    pair_start(&p);
    p.across = true;
    p.b.plan.device = "cuda";
    p.b.cell.threads = 1;
    for (int i = 0; i < 3; i++) {
        p.b.arms[i].ledger.bytes_read = 64;
        p.b.settings[0] = (struct ifm_setting){"null.spin", "7"};
        p.b.settings[2] = (struct ifm_setting){"decode.isa", "sm_90"};
    }
    p.b.numbers[3].value = bracketed(80, 80 / e, 80 * e, 7, "read.flat");
    pair_compare(&p, NULL);
    assert_int_equal(p.between.n, 1);
    const struct ifm_between_row *row = row_of(&p, "quick", "ceiling_read_percent");
    assert_string_equal(row->word, "nearer");
    assert_true(near(row->change.number, -37.5) && row->across && row->beside);
    pair_stop(&p);
}

static void across_devices_other_work(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.across = true;
    p.b.arms[1].ledger.flops = 9;
    pair_compare(&p, NULL);
    const struct ifm_between_row *row = row_of(&p, "quick", "ceiling_read_percent");
    assert_int_equal(row->change.state, IFM_STATE_REFUSED);
    assert_non_null(strstr(row->change.reason, "ledger.flops"));
    pair_stop(&p);
    pair_start(&p);
    p.b.plan.device = "cuda";
    pair_compare(&p, NULL);
    assert_non_null(strstr(row_of(&p, "quick", "speedup")->change.remedy, "--across-devices"));
    pair_stop(&p);
}

static struct ifm_value simulate(struct ifm_random *random, size_t n, double sd)
{
    double logs[32];
    struct ifm_moments moments;
    struct ifm_interval at95;
    for (size_t i = 0; i < n; i++)
        logs[i] = sd * ifm_random_normal(random);
    assert_int_equal(ifm_stats_moments(logs, n, &moments), IFM_STAT_OK);
    assert_int_equal(ifm_stats_t_interval(moments.mean, moments.sd, (double)n, 0.95, &at95), IFM_STAT_OK);
    return bracketed(exp(moments.mean), exp(at95.low), exp(at95.high), (int64_t)n, "");
}

/* Two runs of the same truth, of unequal length and noise: of its two ratios either misses it in 1 of 20, as the family
 * promises, and a gate fails on either in no more than that. */
static void error_rate_is_the_stated_one(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(11, 0);
    struct pair p;
    int missed = 0, regressed = 0, runs = 2000;
    pair_start(&p);
    p.b.cell.measure.margin = 0;
    for (int i = 0; i < runs; i++) {
        p.a.numbers[2].value = simulate(&random, 8, 0.01);
        p.b.numbers[2].value = simulate(&random, 24, 0.02);
        p.a.numbers[3].value = simulate(&random, 8, 0.01);
        p.b.numbers[3].value = simulate(&random, 24, 0.02);
        p.a.numbers[3].value.text = p.b.numbers[3].value.text = "read.linear";
        pair_compare(&p, NULL);
        const struct ifm_between_row *row = row_of(&p, "quick", "speedup");
        const struct ifm_between_row *share = row_of(&p, "quick", "ceiling_read_percent");
        missed += row->change.low > 0 || row->change.high < 0 || share->change.low > 0 || share->change.high < 0;
        regressed += row->standing == IFM_STANDING_REGRESSED || share->standing == IFM_STANDING_REGRESSED;
    }
    pair_stop(&p);
    assert_in_range(missed, 70, 135); /* 100 expected, standard deviation 9.7 */
    assert_in_range(regressed, 28, 75);
}

/* Equal standard errors of 0.01, 6 degrees each: se = 0.0141421, df = 12, and two step times in the family:
 * t(0.9875, 12) = 2.560033. */
static void locked_and_alike_is_decided(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    double e = exp(0.02446911851144969);
    p.b.numbers[0].value = bracketed(1100, 1100 / e, 1100 * e, 7, "");
    pair_compare(&p, NULL);
    const struct ifm_between_row *row = row_of(&p, "plain", "step_ns");
    double half = 2.5600329593015543 * sqrt(2e-4);
    assert_int_equal(row->change.state, IFM_STATE_OK);
    assert_true(near(row->change.number, 10));
    assert_true(fabs(row->change.low - 100 * expm1(log(1.1) - half)) < 1e-6);
    assert_true(fabs(row->change.high - 100 * expm1(log(1.1) + half)) < 1e-6);
    assert_true(near(row->speedup.number, 1 / 1.1));
    double mde = log(1.01) + (2.5600329593015543 + 0.872609) * sqrt(2e-4);
    assert_true(fabs(row->mde.number - 100 * expm1(mde)) < 1e-4);
    assert_string_equal(row->word, "slower");
    assert_string_equal(row->not_comparable, "");
    assert_int_equal(row->change.n, 7);
    assert_true(fabs(row->change.level - 0.975) < 1e-15);
    /* a limit of the machine is no subject */
    for (size_t i = 0; i < p.between.n; i++)
        assert_string_not_equal(p.between.rows[i].arm, "read.linear");
    pair_stop(&p);
}

/* Without locks the ratio is shown and no word is said of a time; a ratio of ratios is decided all the same. */
static void conditions_qualify(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    json_decref(p.b.events);
    p.b.events = journal(0, "6.2", 1e18 + 7.2e12);
    double e = exp(0.02446911851144969);
    p.b.numbers[1].value = bracketed(1000, 1000 / e, 1000 * e, 7, "");
    p.b.numbers[2].value = bracketed(1, 1 / e, 1 * e, 7, "");
    pair_compare(&p, NULL);
    const struct ifm_between_row *time = row_of(&p, "quick", "step_ns"), *ratio = row_of(&p, "quick", "speedup");
    assert_true(near(time->change.number, 100));
    assert_string_equal(time->word, "");
    assert_string_equal(fields_of(time->not_comparable), "locks, environment.kernel, time");
    assert_true(near(ratio->change.number, 100)); /* half the speed-up is twice the time */
    assert_string_equal(ratio->word, "slower");
    assert_int_equal(ratio->standing, IFM_STANDING_REGRESSED);
    const struct ifm_between_row *share = row_of(&p, "quick", "ceiling_read_percent");
    assert_true(near(share->change.number, 0));
    assert_string_equal(share->word, "undecided"); /* se 0.014 against a margin of 0.01 */
    assert_int_equal(share->standing, IFM_STANDING_UNDECIDED);
    /* se = 0.0141421 of 7 blocks, so s = 0.0374; the edge is ln 1.01 = 0.00995 away, 0.7036 se, and there are two
     * ratios. Of k = 335: half a width t(0.9875, 334) s / sqrt(k) = 0.3255 se, means that lie around this by 1.0104 se;
     * so 0.6459 of runs lie beyond the edge on its side, and 0.1542 on the other */
    assert_int_equal(share->further, 335 - 7);
    pair_stop(&p);
}

/* What a rule of honesty leaves undecided inside a run decides nothing beside another, whichever run it is; a note, an
 * arm beside it, a doubt that takes no word and one that was never needed do not. */
static void a_word_that_was_taken_away_decides_nothing(void **state)
{
    (void)state;
    static const char taken[] = "undecided", clocks[] = "2800 MHz and 3000 MHz: undecided, as it belongs to the clock";
    static const struct {
        const char *word, *rule, *arm, *text;
        enum ifm_severity severity;
        bool decided;
    } cases[] = {
        {taken, "rule-08", "quick", clocks, IFM_SEVERITY_WARNING, false},
        {taken, "rule-02", "quick", "faster over 810 of 810 blocks: undecided", IFM_SEVERITY_WARNING, false},
        {taken, "rule-02", "quick", "what disturbed the blocks follows it", IFM_SEVERITY_WARNING, true},
        {taken, "rule-07", "quick", "slower at the median: undecided, as", IFM_SEVERITY_WARNING, false},
        {taken, "rule-07", "quick", "it drifts", IFM_SEVERITY_WARNING, true},
        {taken, "rule-08", "quick", "the clocks could not be read back", IFM_SEVERITY_NOTE, true},
        {taken, "rule-08", "plain", clocks, IFM_SEVERITY_WARNING, true},
        {"faster", "rule-02", "quick", "what disturbed the blocks follows it", IFM_SEVERITY_WARNING, true},
    };
    const double e = exp(0.001);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++)
        for (int better = 0; better < 2; better++) {
            struct pair p;
            pair_start(&p);
            struct side *side = i % 2 == 0 ? &p.a : &p.b;
            struct ifm_finding finding = {.severity = cases[i / 2].severity,
                                          .rule = cases[i / 2].rule,
                                          .cell = "null",
                                          .arm = cases[i / 2].arm,
                                          .text = cases[i / 2].text,
                                          .takes_word = strstr(cases[i / 2].text, "undecided") != NULL};
            const double speedup = better ? 3 : 1.5;
            p.a.numbers[2].value = bracketed(2, 2 / e, 2 * e, 7, "");
            p.b.numbers[2].value = bracketed(speedup, speedup / e, speedup * e, 7, "");
            side->numbers[4] = (struct ifm_number){"null", "quick", IFM_M_CHANGE_PERCENT,
                                                   bracketed(-50, -51, -49, 7, cases[i / 2].word)};
            side->derived.n_numbers = 5;
            side->derived.findings = &finding;
            side->derived.n_findings = 1;
            pair_compare(&p, NULL);
            const struct ifm_between_row *row = row_of(&p, "quick", "speedup");
            assert_true(row->change.has_interval && near(row->speedup.number, speedup / 2));
            if (cases[i / 2].decided) {
                assert_string_equal(row->word, better ? "faster" : "slower");
                assert_int_equal(row->standing, better ? IFM_STANDING_HOLDS : IFM_STANDING_REGRESSED);
                assert_string_equal(row->speedup.text, "");
            } else {
                assert_string_equal(row->word, "undecided");
                assert_string_equal(row->change.text, "undecided");
                assert_int_equal(row->standing, IFM_STANDING_UNDECIDED);
                assert_int_equal(row->further, 0);
                assert_facts(row->speedup.text, side == &p.a ? "in the reference: " : "in this run: ");
                assert_facts(row->speedup.text, cases[i / 2].text);
            }
            pair_stop(&p);
        }
}

/* What one arm left behind for another makes an interval wide that more blocks do not narrow: none are foretold. What
 * is decided all the same stands. */
static void more_blocks_narrow_no_carry_over(void **state)
{
    (void)state;
    for (int open = 0; open < 2; open++) {
        struct pair p;
        struct ifm_finding finding = {IFM_SEVERITY_WARNING,     "rule-07", "null", "quick", IFM_CARRIED_WORDS " (...)",
                                      .kind = IFM_FINDING_ORDER};
        const double e = exp(0.02446911851144969), speedup = open ? 1.97 : 3;
        pair_start(&p);
        p.b.numbers[2].value = bracketed(speedup, speedup / e, speedup * e, 7, "");
        pair_compare(&p, NULL);
        assert_true((row_of(&p, "quick", "speedup")->further > 0) == open);
        p.b.numbers[4] =
            (struct ifm_number){"null", "quick", IFM_M_CHANGE_PERCENT, bracketed(-50, -51, -49, 7, "faster")};
        p.b.derived.n_numbers = 5;
        p.b.derived.findings = &finding;
        p.b.derived.n_findings = 1;
        pair_compare(&p, NULL);
        const struct ifm_between_row *row = row_of(&p, "quick", "speedup");
        assert_int_equal(row->further, 0);
        assert_string_equal(row->word, open ? "undecided" : "faster");
        assert_int_equal(row->standing, open ? IFM_STANDING_UNDECIDED : IFM_STANDING_HOLDS);
        assert_facts(row->speedup.text, open ? "in this run: " IFM_CARRIED_WORDS : "");
        pair_stop(&p);
    }
}

/* A ceiling apart moves on its own: 10 % of a share are none where it differs by 5 % from round to round. Which probe
 * reached it is of no account. */
static void a_share_holds_what_its_ceiling_varies_by(void **state)
{
    (void)state;
    static const struct {
        double spread;
        int64_t rounds; /* 0: ceilings in the arm's own blocks */
        const char *word;
    } cases[] = {{0, 0, "nearer"}, {0.1, 2, "nearer"}, {5, 2, "undecided"}, {5, 1, NULL}};
    const double e = exp(0.02446911851144969);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair p;
        pair_start(&p);
        p.b.numbers[3].value = bracketed(55, 55 / e, 55 * e, 7, cases[i].rounds > 0 ? "read.blocks" : "read.linear");
        struct side *const sides[] = {&p.a, &p.b};
        for (int s = 0; s < 2 && cases[i].rounds > 0; s++) {
            struct ifm_value spread = {.number = cases[i].spread, .n = cases[i].rounds, .unit = "%", .reason = ""};
            if (cases[i].rounds < 2)
                spread.state = IFM_STATE_ABSENT;
            sides[s]->cell.ceilings_apart = true;
            sides[s]->numbers[sides[s]->derived.n_numbers++] =
                (struct ifm_number){"null", "quick", IFM_M_CEILING_READ_SPREAD_PERCENT, spread};
        }
        pair_compare(&p, NULL);
        const struct ifm_between_row *share = row_of(&p, "quick", "ceiling_read_percent");
        if (cases[i].word != NULL)
            assert_string_equal(share->word, cases[i].word);
        else
            assert_facts(share->change.reason, "one round of ceilings");
        pair_stop(&p);
    }
}

/* Direction: what is better holds, what is worse regresses, and a twin within the margin holds. */
static void standing_has_a_direction(void **state)
{
    (void)state;
    static const struct {
        double speedup, half;
        enum ifm_standing standing;
    } cases[] = {{2.2, 0.02, IFM_STANDING_HOLDS},
                 {1.8, 0.02, IFM_STANDING_REGRESSED},
                 {2.0, 0.001, IFM_STANDING_HOLDS},
                 {1.97, 0.02, IFM_STANDING_UNDECIDED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pair p;
        pair_start(&p);
        double e = exp(cases[i].half), x = cases[i].speedup;
        p.a.numbers[2].value = bracketed(2, 2 / e, 2 * e, 7, "");
        p.b.numbers[2].value = bracketed(x, x / e, x * e, 7, "");
        pair_compare(&p, NULL);
        assert_int_equal(row_of(&p, "quick", "speedup")->standing, cases[i].standing);
        pair_stop(&p);
    }
}

static void breaks_workload(struct side *s)
{
    s->arms[1].workload = "stream";
}
static void breaks_seed(struct side *s)
{
    s->plan.seed = 2;
}
static void breaks_place(struct side *s)
{
    s->cell.seed = 6;
}
static void breaks_device(struct side *s)
{
    s->plan.device = "fake";
}
static void breaks_threads(struct side *s)
{
    s->cell.threads = 1;
}
static void breaks_cache(struct side *s)
{
    s->cell.measure.cache = IFM_CACHE_COLD;
}
static void breaks_flops(struct side *s)
{
    s->arms[1].ledger.flops = 9;
}
static void breaks_rows(struct side *s)
{
    s->arms[1].ledger.rows = 9;
}
static void breaks_setting(struct side *s)
{
    s->settings[0].text = "8";
}

static void another_work_is_refused(void **state)
{
    (void)state;
    static const struct {
        void (*breaks)(struct side *side);
        const char *facts;
    } cases[] = {{breaks_workload, "workload|null in|stream here"}, {breaks_seed, "seed|1 in|2 here"},
                 {breaks_place, "seed|cell|5 in|6 here"},           {breaks_device, "device|cpu in|fake here"},
                 {breaks_threads, "threads|2 in|1 here"},           {breaks_cache, "cache|hot in|cold here"},
                 {breaks_flops, "ledger.flops|0 in|9 here"},        {breaks_rows, "ledger.rows|0 in|9 here"},
                 {breaks_setting, "null.spin|7 in|8 here"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pair p;
        pair_start(&p);
        cases[i].breaks(&p.b);
        pair_compare(&p, NULL);
        static const char *const metrics[] = {"step_ns", "speedup", "ceiling_read_percent"};
        for (size_t m = 0; m < 3; m++) {
            const struct ifm_between_row *row = row_of(&p, "quick", metrics[m]);
            assert_int_equal(row->change.state, IFM_STATE_REFUSED);
            assert_facts(row->change.reason, cases[i].facts);
            assert_string_equal(row->word, "");
            assert_int_equal(row->standing, IFM_STANDING_UNDECIDED);
        }
        pair_stop(&p);
    }
}

static json_t *read_file(const char *token, const char *sha256)
{
    return json_pack("{s:s, s:{s:s, s:s, s:s, s:s}}", "stage", "input", "meta", "setting", "decode.kv_file", "token",
                     token, "file", "a.safetensors", "sha256", sha256);
}

/* One path, and other bytes under it. */
static void another_content_of_a_file_is_refused(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    json_array_append_new(p.a.events, read_file("sha256:p", "1111"));
    json_array_append_new(p.b.events, read_file("sha256:p", "1111"));
    pair_compare(&p, NULL);
    assert_int_equal(row_of(&p, "quick", "speedup")->change.state, IFM_STATE_OK);
    json_array_append_new(p.b.events, read_file("sha256:other", "3333"));
    pair_compare(&p, NULL);
    assert_int_equal(row_of(&p, "quick", "speedup")->change.state, IFM_STATE_OK);
    json_array_append_new(p.a.events, read_file("sha256:other", "2222"));
    pair_compare(&p, NULL);
    const struct ifm_value *change = &row_of(&p, "quick", "speedup")->change;
    assert_int_equal(change->state, IFM_STATE_REFUSED);
    assert_facts(change->reason, "decode.kv_file|2222 in|3333 here");
    pair_stop(&p);
}

/* The one setting under comparison may differ, and with it the bytes; not the result. */
static void the_setting_under_comparison_may_differ(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.b.settings[0].text = "8";
    p.b.arms[1].ledger.flops = 9;
    pair_compare(&p, "null.spin");
    assert_int_equal(row_of(&p, "quick", "step_ns")->change.state, IFM_STATE_OK);
    assert_string_equal(row_of(&p, "quick", "step_ns")->word, "undecided");
    p.b.arms[1].ledger.tokens_generated = 9;
    pair_compare(&p, "null.spin");
    assert_int_equal(row_of(&p, "quick", "step_ns")->change.state, IFM_STATE_REFUSED);
    p.b.plan.rules = IFM_PLAN_RULES; /* the other plan counted them otherwise: their number says nothing */
    pair_compare(&p, "null.spin");
    assert_int_equal(row_of(&p, "quick", "step_ns")->change.state, IFM_STATE_OK);
    pair_stop(&p);
}

/* The same pass of a model of another depth; of one set of buffers, and of as many as no cache holds. */
static void another_depth_or_working_set_qualifies(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.a.arms[1].ledger.layers = 2;
    p.b.arms[1].ledger.layers = 4;
    pair_compare(&p, NULL);
    assert_string_equal(fields_of(row_of(&p, "quick", "step_ns")->not_comparable), "ledger.layers");
    p.b.arms[1].working_set = 128 << 20;
    pair_compare(&p, NULL);
    assert_string_equal(fields_of(row_of(&p, "quick", "step_ns")->not_comparable), "working_set, ledger.layers");
    pair_stop(&p);
}

static void measure_settings_and_the_fake_machine_qualify(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.b.settings[1].text = "step_ns=2000";
    p.b.settings[2].text = "60"; /* when it stopped changes no time */
    p.b.cell.measure.inner = 4;
    p.b.cell.measure.isolation = IFM_ISOLATION_PROCESSES;
    pair_compare(&p, NULL);
    assert_string_equal(fields_of(row_of(&p, "plain", "step_ns")->not_comparable),
                        "device.script, measure.isolation, measure.inner");
    pair_stop(&p);
}

/* What one run withholds stays withheld, in its own words; what it lacks is absent. */
static void withheld_and_missing(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.b.numbers[1].value.state = IFM_STATE_REFUSED;
    p.b.numbers[1].value.reason = "rule-07: drift";
    p.a.numbers[0].value.has_interval = false;
    p.a.numbers[0].value.text = "needs 6 blocks, has 3";
    p.b.numbers[3].value.text = "read.blocks";
    pair_compare(&p, NULL);
    const struct ifm_between_row *refused = row_of(&p, "quick", "step_ns"), *few = row_of(&p, "plain", "step_ns");
    assert_int_equal(refused->change.state, IFM_STATE_REFUSED);
    assert_facts(refused->change.reason, "time per step|this run|rule-07: drift");
    assert_int_equal(few->change.state, IFM_STATE_OK); /* the values without an interval, and why */
    assert_false(few->change.has_interval || few->speedup.has_interval);
    assert_true(few->beside && near(few->change.number, 0) && near(few->speedup.number, 1));
    assert_string_equal(few->word, "undecided");
    assert_facts(few->speedup.text, "no interval|time per step|reference|needs 6 blocks, has 3");
    assert_int_equal(few->mde.state, IFM_STATE_ABSENT);
    assert_int_equal(few->standing, IFM_STANDING_UNDECIDED);
    assert_false(few->has_estimate);
    const struct ifm_between_row *share = row_of(&p, "quick", "ceiling_read_percent");
    assert_facts(share->change.reason, "ceiling|read.linear in|read.blocks here");
    p.b.arms[1].name = "other";
    pair_compare(&p, NULL);
    assert_facts(row_of(&p, "quick", "step_ns")->change.reason, "this run|arm");
    assert_facts(row_of(&p, "other", "step_ns")->change.reason, "reference|arm");
    p.b.cell.name = "elsewhere";
    pair_compare(&p, NULL);
    assert_int_equal(p.between.n, 2);
    assert_facts(p.between.rows[0].change.reason, "this run|cell");
    assert_facts(p.between.rows[1].change.reason, "reference|cell");
    for (size_t i = 0; i < 2; i++)
        assert_null(strstr(p.between.rows[i].change.reason, "arm"));
    pair_stop(&p);
}

/* Speed-ups over different baselines are different ratios. */
static void another_baseline_is_refused(void **state)
{
    (void)state;
    struct pair p;
    pair_start(&p);
    p.b.arms[0].name = "other";
    pair_compare(&p, NULL);
    const struct ifm_between_row *row = row_of(&p, "quick", "speedup");
    assert_int_equal(row->change.state, IFM_STATE_REFUSED);
    assert_facts(row->change.reason, "baseline|plain in|other here");
    assert_int_equal(row_of(&p, "quick", "step_ns")->change.state, IFM_STATE_OK);
    pair_stop(&p);
}

/* Within the margin of 1 % it holds, beyond it has regressed, unrecorded it is undecided; between runs that are not
 * alike it is not asked. */
static void a_loss_is_held_against_the_reference(void **state)
{
    (void)state;
    static const struct {
        double loss; /* of the other run; negative: not recorded */
        enum ifm_standing standing;
    } cases[] = {{0.1, IFM_STANDING_HOLDS},
                 {0.05, IFM_STANDING_HOLDS},
                 {0.1009, IFM_STANDING_HOLDS},
                 {0.102, IFM_STANDING_REGRESSED},
                 {-1, IFM_STANDING_UNDECIDED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int unlike = 0; unlike < 2; unlike++) {
            struct pair p;
            pair_start(&p);
            p.a.numbers[4] = p.b.numbers[4] = (struct ifm_number){
                "null", "quick", IFM_M_LOSS_RMS_REL, {.number = 0.1, .n_of = "values", .unit = "1", .reason = ""}};
            p.b.numbers[4].value.number = cases[i].loss;
            p.a.derived.n_numbers = 5;
            p.b.derived.n_numbers = cases[i].loss < 0 ? 4 : 5;
            p.b.plan.seed += (uint64_t)unlike; /* other data */
            pair_compare(&p, NULL);
            const struct ifm_between_row *row = row_of(&p, "quick", "speedup");
            assert_int_equal(row->lossy, !unlike);
            assert_int_equal(row->loss_standing, unlike ? IFM_STANDING_UNDECIDED : cases[i].standing);
            assert_false(row_of(&p, "quick", "ceiling_read_percent")->lossy); /* once an arm */
            pair_stop(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(welch_by_hand),
        cmocka_unit_test(estimate_from_an_interval),
        cmocka_unit_test(across_devices),
        cmocka_unit_test(across_devices_other_work),
        cmocka_unit_test(error_rate_is_the_stated_one),
        cmocka_unit_test(locked_and_alike_is_decided),
        cmocka_unit_test(a_word_that_was_taken_away_decides_nothing),
        cmocka_unit_test(more_blocks_narrow_no_carry_over),
        cmocka_unit_test(conditions_qualify),
        cmocka_unit_test(a_share_holds_what_its_ceiling_varies_by),
        cmocka_unit_test(standing_has_a_direction),
        cmocka_unit_test(another_content_of_a_file_is_refused),
        cmocka_unit_test(another_work_is_refused),
        cmocka_unit_test(the_setting_under_comparison_may_differ),
        cmocka_unit_test(another_depth_or_working_set_qualifies),
        cmocka_unit_test(measure_settings_and_the_fake_machine_qualify),
        cmocka_unit_test(withheld_and_missing),
        cmocka_unit_test(another_baseline_is_refused),
        cmocka_unit_test(a_loss_is_held_against_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
