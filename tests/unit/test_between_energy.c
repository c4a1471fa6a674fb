/* Energy between runs: the formulas by hand-computed numbers, and what keeps joules apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/between_sample.h"
#include "unit/facts.h"

static void add_number(struct side *side, const char *arm, enum ifm_metric_id metric, struct ifm_value value)
{
    value.n_of = "windows";
    side->numbers[side->derived.n_numbers++] = (struct ifm_number){"null", arm, metric, value};
}

/* The fingerprint of the journal: a processor and one GPU. */
static void set_machine(struct side *side, const char *cpu, const char *gpu, const char *uuid)
{
    json_t *environment = json_array_get(side->events, 1);
    json_t *fingerprint = json_object_get(json_object_get(environment, "meta"), "fingerprint");
    assert_non_null(fingerprint);
    json_object_set_new(fingerprint, "cpu", json_pack("{s:s}", "model", cpu));
    json_object_set_new(fingerprint, "gpu",
                        json_pack("{s:[{s:i, s:s, s:s}]}", "devices", "index", 0, "name", gpu, "uuid_sha256", uuid));
}

/* Four windows of 80 mJ a step and 40 mJ a token, `times` as many; 3 % more than the baseline, `times` the ratio. */
static void add_energy(struct side *side, double times)
{
    static const char *const arms[] = {"plain", "quick"};
    const double e = exp(0.02), ratio = 1.03 * times;
    side->cell.measure.energy_window_s = 10;
    side->cell.measure.energy_idle_s = 5;
    side->cell.measure.pre_roll_s = 1;
    set_machine(side, "EPYC", "NVIDIA H200", "aa");
    for (int i = 0; i < 2; i++) {
        side->energies[i] = (struct ifm_device_energy){.cell = "null",
                                                       .arm = arms[i],
                                                       .device = "gpu0",
                                                       .source = "nvml_energy",
                                                       .role = "primary",
                                                       .refused = ""};
    }
    side->energies[2] = side->energies[1]; /* a second source of the same joules: which one is of no account */
    side->energies[2].source = "nvml_samples";
    side->energies[2].role = "witness";
    side->derived.energies = side->energies;
    side->derived.n_energies = 3;
    const double step = 0.08 * times, token = 0.04 * times;
    add_number(side, "quick", IFM_M_ENERGY_PER_STEP_J, bracketed(step, step / e, step * e, 4, ""));
    add_number(side, "quick", IFM_M_ENERGY_PER_TOKEN_J, bracketed(token, token / e, token * e, 4, ""));
    add_number(side, "quick", IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT,
               bracketed(100 * (ratio - 1), 100 * (ratio / e - 1), 100 * (ratio * e - 1), 4, ""));
}

static void energy_start(struct pair *p, double times)
{
    pair_start(p);
    add_energy(&p->a, 1);
    add_energy(&p->b, times);
}

static bool has_row(const struct pair *p, const char *arm, const char *metric)
{
    for (size_t i = 0; i < p->between.n; i++)
        if (strcmp(p->between.rows[i].arm, arm) == 0 && p->between.rows[i].metric == ifm_metric_of(metric))
            return true;
    return false;
}

/* Four windows of 2 % each: half-widths in squares where they are the sensors', 1.96 of them; t(0.975, 3) = 3.1824
 * would make 0.0292 of it. Two step times and one energy are decided: the level is 1 - 0.05 / 3, z = 2.393980. */
static void energy_is_compared(void **state)
{
    (void)state;
    struct pair p;
    energy_start(&p, 1.25);
    pair_compare(&p, NULL);
    const struct ifm_between_row *step = row_of(&p, "quick", "energy_per_step_j");
    const double half = 2.393980 / 1.959964 * 0.02 * sqrt(2);
    assert_int_equal(step->change.state, IFM_STATE_OK);
    assert_true(step->energy && step->beside && !step->interleaved);
    assert_true(near(step->reference.number, 0.08) && near(step->other.number, 0.1));
    assert_true(near(step->change.number, 25));
    assert_true(fabs(step->change.low - 100 * expm1(log(1.25) - half)) < 1e-3);
    assert_true(fabs(step->change.high - 100 * expm1(log(1.25) + half)) < 1e-3);
    assert_true(fabs(step->change.level - (1 - 0.05 / 3)) < 1e-12);
    assert_string_equal(step->word, "more");
    assert_string_equal(step->change.n_of, "windows");
    assert_int_equal(step->change.n, 4);
    const struct ifm_between_row *token = row_of(&p, "quick", "energy_per_token_j");
    assert_true(near(token->change.number, 25) && near(token->other.number, 0.05));
    assert_true(near(token->change.level, step->change.level));
    /* against the baseline: the ratio of the ratios, whatever the sign of the changes */
    const struct ifm_between_row *ratio = row_of(&p, "quick", "energy_per_token_change_percent");
    assert_true(ratio->interleaved && near(ratio->change.number, 25));
    assert_string_equal(ratio->word, "more");
    assert_int_equal(ratio->standing, IFM_STANDING_REGRESSED);
    assert_string_equal(ratio->baseline, "plain");
    assert_false(has_row(&p, "plain", "energy_per_step_j")); /* no pass of it, no row */
    pair_stop(&p);
    energy_start(&p, 0.8);
    pair_compare(&p, NULL);
    assert_string_equal(row_of(&p, "quick", "energy_per_step_j")->word, "less");
    assert_int_equal(row_of(&p, "quick", "energy_per_token_change_percent")->standing, IFM_STANDING_HOLDS);
    pair_stop(&p);
}

/* Clocks that differ inside one of the runs: the time stands at one clock too, and of the energy nothing is decided. */
static void energy_at_other_clocks_decides_nothing(void **state)
{
    (void)state;
    for (int of_reference = 0; of_reference < 2; of_reference++) {
        struct pair p;
        struct ifm_finding finding = {IFM_SEVERITY_NOTE, "rule-08",        "null",
                                      "quick",           IFM_CLOCKS_WORDS, .kind = IFM_FINDING_CLOCKS};
        energy_start(&p, 1.25);
        struct side *side = of_reference ? &p.a : &p.b;
        side->numbers[side->derived.n_numbers++] =
            (struct ifm_number){"null", "quick", IFM_M_CHANGE_PERCENT, bracketed(-50, -51, -49, 7, "faster")};
        side->derived.findings = &finding;
        side->derived.n_findings = 1;
        pair_compare(&p, NULL);
        const struct ifm_between_row *ratio = row_of(&p, "quick", "energy_per_token_change_percent");
        assert_string_equal(ratio->word, "undecided");
        assert_int_equal(ratio->standing, IFM_STANDING_UNDECIDED);
        assert_facts(ratio->speedup.text,
                     of_reference ? "in the reference: " IFM_CLOCKS_WORDS : "in this run: " IFM_CLOCKS_WORDS);
        assert_string_equal(row_of(&p, "quick", "energy_per_step_j")->word, "more");
        pair_stop(&p);
    }
}

static void unlike_pass(struct side *s)
{
    s->derived.n_numbers = 4;
}
static void unlike_window(struct side *s)
{
    s->cell.measure.energy_window_s = 1;
}
static void unlike_idle(struct side *s)
{
    s->cell.measure.energy_idle_s = 1;
}
static void unlike_pre_roll(struct side *s)
{
    s->cell.measure.pre_roll_s = 0;
}
static void unlike_sensor(struct side *s)
{
    s->energies[1].source = "nvml_average";
}
static void unlike_device(struct side *s)
{
    s->energies[1].device = "gpu1";
}
static void unlike_sensors(struct side *s)
{
    s->energies[2] = (struct ifm_device_energy){
        .cell = "null", .arm = "quick", .device = "cpu0", .source = "rapl_package", .role = "primary", .refused = ""};
}
static void unlike_card(struct side *s)
{
    set_machine(s, "EPYC", "NVIDIA H200", "bb");
}
static void unlike_model(struct side *s)
{
    set_machine(s, "EPYC", "NVIDIA H100", "bb");
}
static void unlike_unknown(struct side *s)
{
    set_machine(s, "EPYC", "NVIDIA H200", "");
}
static void unlike_processor(struct side *s)
{
    set_machine(s, "Xeon", "NVIDIA H200", "aa");
}

/* Joules of another kind give no change, with the reason and the remedy; times do not care. On another card the change
 * against the baseline inside each run stands. */
static void other_joules_are_absent(void **state)
{
    (void)state;
    static const struct {
        void (*unlike)(struct side *side);
        const char *facts, *remedy;
        bool ratio_stands;
    } cases[] = {{unlike_pass, "this run|no energy pass", "--energy", false},
                 {unlike_window, "measure.energy_window|10 s in|1 s here", "same settings", false},
                 {unlike_idle, "measure.energy_idle|5 s in|1 s here", "same settings", false},
                 {unlike_pre_roll, "measure.pre_roll|1 s in|0 s here", "same settings", false},
                 {unlike_sensor, "gpu0 by nvml_energy in|gpu0 by nvml_average here", "inferometer power", false},
                 {unlike_device, "gpu0 by nvml_energy in|gpu1 by nvml_energy here", "inferometer power", false},
                 {unlike_sensors, "gpu0 by nvml_energy in|gpu0 by nvml_energy, cpu0 by rapl_package here",
                  "inferometer power", false},
                 {unlike_card, "gpu0 is another NVIDIA H200", "same machine", true},
                 {unlike_model, "gpu0 is NVIDIA H200 in|NVIDIA H100 here", "same machine", true},
                 {unlike_unknown, "which card gpu0 is|this run", "same machine", true},
                 {unlike_processor, "processor|EPYC in|Xeon here", "same machine", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pair p;
        energy_start(&p, 1.25);
        cases[i].unlike(&p.b);
        pair_compare(&p, NULL);
        static const char *const metrics[] = {"energy_per_step_j", "energy_per_token_j",
                                              "energy_per_token_change_percent"};
        for (size_t m = 0; m < 3; m++) {
            const struct ifm_between_row *row = row_of(&p, "quick", metrics[m]);
            bool stands = m == 2 && cases[i].ratio_stands;
            assert_int_equal(row->change.state, stands ? IFM_STATE_OK : IFM_STATE_ABSENT);
            assert_int_equal(row->beside, stands);
            if (stands)
                continue;
            assert_facts(row->change.reason, cases[i].facts);
            assert_non_null(strstr(row->change.remedy, cases[i].remedy));
            assert_string_equal(row->word, "");
            assert_false(row->has_estimate);
        }
        assert_int_equal(row_of(&p, "quick", "step_ns")->change.state, IFM_STATE_OK);
        pair_stop(&p);
    }
}

/* The rules of times hold: other work is refused, other conditions take the word, more windows change nothing, and what
 * a run refuses stays refused. */
static void energy_follows_the_rules_of_times(void **state)
{
    (void)state;
    struct pair p;
    energy_start(&p, 1.25);
    p.b.cell.measure.energy_windows = 40;
    json_array_remove(p.b.events, 2); /* locks are not known */
    pair_compare(&p, NULL);
    const struct ifm_between_row *row = row_of(&p, "quick", "energy_per_step_j");
    assert_string_equal(row->word, "");
    assert_true(near(row->change.number, 25) && row->change.has_interval);
    assert_non_null(strstr(row->not_comparable, "locks"));
    assert_string_equal(row_of(&p, "quick", "energy_per_token_change_percent")->word, "more");
    p.b.numbers[4].value.state = IFM_STATE_REFUSED;
    p.b.numbers[4].value.reason = "rule-05: two windows";
    pair_compare(&p, NULL);
    row = row_of(&p, "quick", "energy_per_step_j");
    assert_int_equal(row->change.state, IFM_STATE_REFUSED);
    assert_facts(row->change.reason, "energy per step|this run|rule-05: two windows");
    p.b.plan.seed = 2;
    pair_compare(&p, NULL);
    row = row_of(&p, "quick", "energy_per_token_change_percent");
    assert_int_equal(row->change.state, IFM_STATE_REFUSED);
    assert_facts(row->change.reason, "seed|1 in|2 here");
    assert_false(row->beside);
    pair_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_at_other_clocks_decides_nothing),
        cmocka_unit_test(energy_is_compared),
        cmocka_unit_test(other_joules_are_absent),
        cmocka_unit_test(energy_follows_the_rules_of_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
