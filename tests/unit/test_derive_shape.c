/* The shape of an arm's series, on records whose truth is known: modes, change points, steadiness, and what is said. */
#include "rules/fixture.h"
#include "unit/facts.h"

/* Changes every measured sample of the arm: `factor` from the fraction `from` of its samples on; `every` 2 = every
 * other sample only. The clock is set anew, without gaps. */
static void scale(struct fixture *fx, size_t arm, double from, size_t every, double factor)
{
    struct ifm_record *record = &fx->parts[0].record;
    size_t seen = 0, all = fx->blocks * 2 * fx->samples;
    int64_t now = 1000;
    for (size_t k = 0; k < record->n_slots; k++) {
        struct ifm_slot *slot = &record->slots[k];
        bool mine = slot->phase == IFM_PHASE_MEASURE && slot->arm == arm;
        slot->start_ns = now;
        for (size_t i = record->first[k]; i < record->first[k + 1]; i++) {
            struct ifm_sample *sample = &record->samples[i];
            if (mine && (double)seen >= from * (double)all && seen % every == 0)
                sample->duration_ns = (int64_t)((double)sample->duration_ns * factor);
            seen += mine;
            sample->start_ns = now;
            now += sample->duration_ns;
        }
        slot->end_ns = now;
        now += 500;
    }
    assert_int_equal(seen, all);
}

static void start(struct fixture *fx)
{
    fx_start(fx);
    fx->samples = 40;
    fx_generate(fx);
    fx_end_events(fx);
}

static void a_quiet_arm_is_flat(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    fx_derive(&fx);
    const struct ifm_value *modes = fx_value(&fx, "base", "modes_count");
    assert_true(modes->state == IFM_STATE_OK && modes->number == 1 && modes->n == 960);
    assert_string_equal(modes->text, "");
    const struct ifm_value *changes = fx_value(&fx, "base", "change_points");
    assert_true(changes->state == IFM_STATE_OK && changes->number == 0);
    assert_string_equal(changes->text, "");
    const struct ifm_value *from = fx_value(&fx, "base", "steady_from_percent");
    assert_true(from->state == IFM_STATE_OK && from->number >= 0 && from->number < 30);
    assert_null(fx_finding(&fx, "rule-07", "steady"));
    assert_null(fx_finding(&fx, "rule-07", "modes"));
    fx_stop(&fx);
}

static void a_late_change_is_a_warning(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    scale(&fx, 1, 0.85, 1, 1.1);
    fx_derive(&fx);
    const struct ifm_value *changes = fx_value(&fx, "other", "change_points");
    assert_true(changes->number == 1);
    assert_facts(changes->text, "816 of 960");
    assert_null(strstr(changes->text, "warm-up"));
    const struct ifm_finding *finding = fx_finding(&fx, "rule-07", "steady");
    assert_non_null(finding);
    assert_int_equal(finding->severity, IFM_SEVERITY_WARNING);
    assert_string_equal(finding->arm, "other");
    assert_facts(finding->text, " after 816 of 960 samples)");
    assert_true(fx_value(&fx, "base", "change_points")->number == 0);
    fx_stop(&fx);
}

/* What all arms do together is the machine's, also where the change of one is not reported by itself; what one does
 * alone, later, or the other way is its own. */
static void what_changes_for_all_is_the_machine(void **state)
{
    (void)state;
    enum { EITHER = -1 }; /* as one finding or another */
    static const struct {
        double from[2], factor[2];
        bool all;
        int alone[2];
    } cases[] = {
        {{0.85, 0.85}, {1.1, 1.1}, true, {0, 0}},   {{0.85, 0.85}, {0.9, 0.93}, true, {0, 0}},
        {{0.85, 0.85}, {1.1, 1}, false, {1, 0}},    {{0.85, 0.85}, {1.1, 1.02}, false, {1, 0}},
        {{0.85, 0.85}, {1.1, 0.91}, false, {1, 1}}, {{0.85, 0.4}, {1.1, 1.1}, false, {1, EITHER}},
        {{0.4, 0.4}, {1.1, 1.07}, true, {0, 0}},    {{0.4, 0.4}, {1.1, 0.93}, false, {1, 1}},
    };
    size_t said[2][2] = {{0, 0}, {0, 0}}; /* of all or not; at a block or a drift */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fx;
        start(&fx);
        for (size_t arm = 0; arm < 2; arm++)
            scale(&fx, arm, cases[i].from[arm], 1, cases[i].factor[arm]);
        fx_derive(&fx);
        for (size_t f = 0; f < fx.derived->n_findings; f++) {
            const struct ifm_finding *finding = &fx.derived->findings[f];
            if (finding->kind != IFM_FINDING_UNSTEADY && finding->kind != IFM_FINDING_TIME_CHANGES &&
                finding->kind != IFM_FINDING_TIME_DRIFTS)
                continue;
            said[cases[i].all][finding->kind == IFM_FINDING_TIME_DRIFTS]++;
            const int alone = cases[i].alone[strcmp(finding->arm, "other") == 0];
            if ((alone != EITHER && finding->of_one != alone) ||
                (strstr(finding->text, ", in both arms") != NULL) != cases[i].all ||
                (strstr(finding->text, ", in one arm at least") != NULL) != (!finding->of_one && !cases[i].all))
                fail_msg("case %zu, %s: %s", i, finding->arm, finding->text);
        }
        fx_stop(&fx);
    }
    for (size_t k = 0; k < 4; k++)
        assert_true(said[k / 2][k % 2] > 1);
}

static void an_early_change_is_told_without_a_warning(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    scale(&fx, 1, 0.25, 1, 0.9); /* slow at first */
    fx_derive(&fx);
    const char *text = fx_value(&fx, "other", "change_points")->text;
    assert_facts(text, "warm-up| of 960");
    assert_in_range(strtol(text + strcspn(text, "0123456789"), NULL, 10), 240, 249);
    assert_null(fx_finding(&fx, "rule-07", "steady"));
    const struct ifm_value *from = fx_value(&fx, "other", "steady_from_percent");
    assert_true(from->state == IFM_STATE_OK && fabs(from->number - 25) < 3);
    fx_stop(&fx);
}

static void two_modes_are_a_note(void **state)
{
    (void)state;
    struct fixture fx;
    start(&fx);
    scale(&fx, 1, 0, 2, 1.2);
    fx_derive(&fx);
    const struct ifm_value *modes = fx_value(&fx, "other", "modes_count");
    if (modes->number != 2)
        fail_msg("%g modes, state %d: %s%s", modes->number, modes->state, modes->reason, modes->text);
    assert_non_null(strstr(modes->text, "50 % at "));
    const struct ifm_finding *finding = fx_finding(&fx, "rule-07", "2 modes");
    assert_non_null(finding);
    assert_int_equal(finding->severity, IFM_SEVERITY_NOTE);
    assert_int_equal(finding->kind, IFM_FINDING_MODES);
    fx_stop(&fx);
}

/* On the first screen are told modes that lie apart and take turns: a level that changes once is a drift. */
static void modes_that_mislead_nobody(void **state)
{
    (void)state;
    static const struct {
        double from, factor;
        size_t every;
    } cases[] = {{0, 1.05, 2}, {0.5, 1.2, 1}};
    for (size_t c = 0; c < 2; c++) {
        struct fixture fx;
        start(&fx);
        scale(&fx, 1, cases[c].from, cases[c].every, cases[c].factor);
        fx_derive(&fx);
        const struct ifm_finding *finding = fx_finding(&fx, "rule-07", "2 modes");
        assert_non_null(finding);
        assert_int_equal(finding->kind, IFM_FINDING_OTHER);
        fx_stop(&fx);
    }
}

/* Above 5,000 samples: positions stay in samples, modes stay visible. */
static void long_series_are_thinned(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.samples = 700; /* 16,800 */
    fx_generate(&fx);
    fx_end_events(&fx);
    scale(&fx, 1, 0.5, 1, 1.1);
    fx_derive(&fx);
    const struct ifm_value *changes = fx_value(&fx, "other", "change_points");
    assert_true(changes->number == 1 && changes->n == 16800);
    assert_string_equal(changes->text, "slow-down: after 8400 of 16800 samples");
    assert_true(fx_value(&fx, "other", "modes_count")->number == 2);
    assert_true(fx_value(&fx, "other", "modes_count")->n == 4200);
    fx_stop(&fx);
}

static void few_or_equal_samples(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.samples = 1;
    fx.blocks = 8; /* 16 samples */
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_expect(&fx, "base", "modes_count", IFM_STATE_ABSENT, "needs 30 samples, has 16");
    fx_expect(&fx, "base", "change_points", IFM_STATE_ABSENT, "needs 20 samples, has 16");
    fx_expect(&fx, "base", "steady_from_percent", IFM_STATE_ABSENT, "needs 100 samples, has 16");
    fx_stop(&fx);
    fx_start(&fx);
    fx.noise = 0;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_true(fx_value(&fx, "base", "modes_count")->number == 1);
    assert_true(fx_value(&fx, "base", "change_points")->number == 0);
    fx_expect(&fx, "base", "steady_from_percent", IFM_STATE_ABSENT, "equal");
    fx_stop(&fx);
}

/* Noise that lasts a block is dependence, not change: it is told as no steady state in few runs. */
static void noise_of_blocks_is_not_change(void **state)
{
    (void)state;
    int told = 0, changed = 0;
    for (unsigned run = 0; run < 100; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.seed = 300 + run;
        fx.blocks = 30;
        fx.block_noise = 0.01; /* as large as that of samples */
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        told += fx_finding(&fx, "rule-07", "steady") != NULL;
        changed += fx_value(&fx, "base", "change_points")->number > 0;
        fx_stop(&fx);
    }
    if (told > 10 || changed > 15)
        fail_msg("told %d, changed %d of 100", told, changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quiet_arm_is_flat),
        cmocka_unit_test(a_late_change_is_a_warning),
        cmocka_unit_test(what_changes_for_all_is_the_machine),
        cmocka_unit_test(an_early_change_is_told_without_a_warning),
        cmocka_unit_test(two_modes_are_a_note),
        cmocka_unit_test(modes_that_mislead_nobody),
        cmocka_unit_test(long_series_are_thinned),
        cmocka_unit_test(few_or_equal_samples),
        cmocka_unit_test(noise_of_blocks_is_not_change),
    };
    return cmocka_run_group_tests_name("derive_shape", tests, NULL, NULL);
}
