/* Rule 2: samples are kept in time order and never altered. Each record here was doctored, as published ones were. */
#include "rules/fixture.h"

static void honest(struct fixture *fx)
{
    fx_start(fx);
    fx_generate(fx);
    fx_end_events(fx);
}

static void refused(struct fixture *fx, const char *words)
{
    fx_gate(fx, "change_percent", "", IFM_GATE_AT_MOST, 50, false);
    fx_derive(fx);
    assert_non_null(fx_finding(fx, "rule-02", words));
    fx_expect(fx, "other", "step_ns", IFM_STATE_REFUSED, "rule-02");
    fx_expect(fx, "other", "change_percent", IFM_STATE_REFUSED, "rule-02");
    fx_expect(fx, "base", "latency_ns_p50", IFM_STATE_REFUSED, "rule-02"); /* neither arm can be trusted */
    fx_judge(fx);
    assert_int_equal(fx->verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx->verdict->exit_code, IFM_INVALID);
    fx_stop(fx);
}

static void an_honest_record_stands(void **state)
{
    (void)state;
    struct fixture fx;
    honest(&fx);
    fx_derive(&fx);
    assert_null(fx_finding(&fx, "rule-02", ""));
    assert_int_equal(fx_invalid(&fx), 0);
    fx_expect(&fx, "other", "change_percent", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* A treatment whose samples were multiplied by 0.98. */
static void scaled_samples_are_refused(void **state)
{
    (void)state;
    struct fixture fx;
    honest(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; r->slots[k].arm == 1 && i < r->first[k + 1]; i++)
            r->samples[i].duration_ns = (int64_t)llround(0.98 * (double)r->samples[i].duration_ns);
    refused(&fx, "do not add up to their slots");
}

static int by_duration(const void *a, const void *b)
{
    const struct ifm_sample *x = a, *y = b;
    return (x->duration_ns > y->duration_ns) - (x->duration_ns < y->duration_ns);
}

/* Puts the samples of slots [from, to) one after the other from the slots' starts on: the time line fits again. */
static void lay_out(struct ifm_record *r, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        int64_t now = r->slots[k].start_ns;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            r->samples[i].start_ns = now;
            now += r->samples[i].duration_ns;
        }
        r->slots[k].end_ns = now;
    }
}

static void slots_that_were_sorted_are_refused(void **state)
{
    (void)state;
    struct fixture fx;
    honest(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        qsort(&r->samples[r->first[k]], fx.samples, sizeof *r->samples, by_duration);
    lay_out(r, 0, r->n_slots);
    refused(&fx, "are sorted");
}

/* Two samples a slot: only the steps between slots tell. */
static void a_pass_that_was_sorted_is_refused(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.samples = 2;
    fx_generate(&fx);
    fx_end_events(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    struct ifm_sample *own = calloc(r->n_samples, sizeof *own);
    size_t n = 0;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; r->slots[k].arm == 1 && i < r->first[k + 1]; i++)
            own[n++] = r->samples[i];
    qsort(own, n, sizeof *own, by_duration);
    n = 0;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k]; r->slots[k].arm == 1 && i < r->first[k + 1]; i++)
            r->samples[i].duration_ns = own[n++].duration_ns;
    free(own);
    for (size_t k = 0; k < r->n_slots; k++) { /* later slots make room */
        int64_t start = k > 0 && r->slots[k].start_ns < r->slots[k - 1].end_ns ? r->slots[k - 1].end_ns
                                                                               : r->slots[k].start_ns;
        r->slots[k].start_ns = start;
        lay_out(r, k, k + 1);
    }
    refused(&fx, "are sorted");
}

/* The first sample of a slot meets the caches that the other arms have filled: it may always be the slowest. */
static void a_slow_first_sample_of_each_slot_stands(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.samples = 2;
    fx_generate(&fx);
    fx_end_events(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_sample *pair = &r->samples[r->first[k]];
        int64_t slow = pair[0].duration_ns > pair[1].duration_ns ? pair[0].duration_ns : pair[1].duration_ns;
        int64_t quick = pair[0].duration_ns + pair[1].duration_ns - slow;
        pair[0].duration_ns = slow;
        pair[1].duration_ns = quick;
        lay_out(r, k, k + 1);
    }
    fx_derive(&fx);
    assert_null(fx_finding(&fx, "rule-02", "are sorted"));
    fx_expect(&fx, "other", "change_percent", IFM_STATE_OK, "");
    fx_stop(&fx);
}

/* Three samples a slot, of which the last two fall each time: 12 slots have done so by chance; hundreds do not. */
static void a_few_falling_slots_stand(void **state)
{
    (void)state;
    for (unsigned many = 0; many < 2; many++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = many ? 200 : 6; /* of two slots an arm */
        fx.samples = 3;
        fx.warmup_blocks = 0;
        fx_generate(&fx);
        fx_end_events(&fx);
        struct ifm_record *r = &fx.parts[0].record;
        for (size_t k = 0; k < r->n_slots; k++) {
            struct ifm_sample *three = &r->samples[r->first[k]];
            if (r->slots[k].arm != 1)
                continue;
            if (three[1].duration_ns < three[2].duration_ns) {
                int64_t slow = three[2].duration_ns;
                three[2].duration_ns = three[1].duration_ns;
                three[1].duration_ns = slow;
            }
            lay_out(r, k, k + 1);
        }
        fx_derive(&fx);
        assert_int_equal(fx_finding(&fx, "rule-02", "are sorted") != NULL, many);
        fx_stop(&fx);
    }
}

static void samples_out_of_time_are_refused(void **state)
{
    (void)state;
    struct fixture fx;
    honest(&fx);
    struct ifm_sample swap = fx.parts[0].record.samples[100];
    fx.parts[0].record.samples[100] = fx.parts[0].record.samples[101];
    fx.parts[0].record.samples[101] = swap;
    refused(&fx, "time order");
}

static void longer_samples_than_slots_are_refused(void **state)
{
    (void)state;
    struct fixture fx;
    honest(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    r->samples[r->first[11] - 1].duration_ns += 1000000;
    refused(&fx, "inside its own time");
}

/* Outliers are counted, and every sample stays in the mean. */
static void outliers_stay(void **state)
{
    (void)state;
    struct fixture fx;
    honest(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    size_t last = r->n_slots - 1; /* the record's last sample, ten times as long */
    int64_t extra = 9 * r->samples[r->n_samples - 1].duration_ns;
    r->samples[r->n_samples - 1].duration_ns += extra;
    r->slots[last].end_ns += extra;
    const char *arm = fx.cells[0].arms[r->slots[last].arm].name;
    double sum = 0;
    for (size_t k = 0; k < r->n_slots; k++)
        for (size_t i = r->first[k];
             r->slots[k].phase == IFM_PHASE_MEASURE && r->slots[k].arm == r->slots[last].arm && i < r->first[k + 1];
             i++)
            sum += (double)r->samples[i].duration_ns;
    fx_derive(&fx);
    assert_true(fx_value(&fx, arm, "outliers_count")->number >= 1);
    assert_true(fabs(fx_value(&fx, arm, "latency_ns_mean")->number / (sum / 480) - 1) < 1e-12);
    assert_true(fx_value(&fx, arm, "samples_count")->number == 480);
    fx_stop(&fx);
}

/* A disturbance marks its block in the pass that it names, and the block of that number in no other. */
static void a_disturbance_marks_its_own_pass(void **state)
{
    (void)state;
    static const char *const passes[] = {"energy", "latency"};
    for (int i = 0; i < 2; i++) {
        struct fixture fx;
        fx_start(&fx);
        fx_generate(&fx);
        fx_event(&fx, "disturbed",
                 json_pack("{s:s, s:s, s:i, s:s}", "cell", "decode", "pass", passes[i], "block",
                           (int)fx.parts[0].record.slots[fx.parts[0].record.n_slots - 1].block, "reason", "a test"));
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_true(fx_value(&fx, "base", "blocks_marked")->number == i);
        fx_stop(&fx);
    }
}

/* Faster over all blocks, equal without those that the machine disturbed: undecided, and no gate passes on it. */
static void a_decision_that_hangs_on_marked_blocks_is_none(void **state)
{
    (void)state;
    struct fixture fx;
    fx_start(&fx);
    fx.noise = 0.0005;
    fx.blocks = 30;
    fx.parts[0].step_ns[1] = 97000;
    fx_generate(&fx);
    struct ifm_record uneven = fx.parts[0].record; /* the disturbed blocks come from a run of unequal arms */
    memset(&fx.parts[0].record, 0, sizeof uneven);
    fx.parts[0].step_ns[1] = 100000;
    fx_generate(&fx);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) {
        if (r->slots[k].block % 4 == 0)
            continue; /* quiet, and equal */
        int64_t now = r->slots[k].start_ns;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            r->samples[i].duration_ns = uneven.samples[i].duration_ns;
            r->samples[i].start_ns = now;
            now += r->samples[i].duration_ns;
        }
        r->slots[k].end_ns = now;
        ((int64_t *)r->slots[k].columns)[0] = r->slots[k].end_ns - r->slots[k].start_ns;
    }
    fx_free_record(&uneven);
    fx_end_events(&fx);
    fx_gate(&fx, "change_percent", "", IFM_GATE_AT_MOST, -1, false);
    fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, 1.01, false);
    fx_derive(&fx);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "undecided");
    assert_true(fx_value(&fx, "other", "change_percent")->number < -1);
    assert_non_null(fx_finding(&fx, "rule-02", "undecided"));
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->gates[0].outcome, IFM_OUTCOME_BLOCKED);
    assert_int_equal(fx.verdict->gates[1].outcome, IFM_OUTCOME_BLOCKED);
    fx_stop(&fx);
}

/* Blocks are marked one after the other, in an order of its own each time: once a word is undecided, it stays so; and
 * with fewer than six blocks left it is. The records are firm without a mark: faster, slower, or equal. */
static void more_disturbance_makes_no_firmer_word(void **state)
{
    (void)state;
    static const double other[] = {97000, 99400, 103000, 100000};
    size_t firm = 0;
    for (unsigned i = 0; i < 12; i++) {
        struct fixture fx;
        fx_start(&fx);
        fx.noise = i % 3 == 0 ? 0.0005 : 0.004;
        fx.blocks = 16;
        fx.parts[0].step_ns[1] = other[i % 4];
        fx_generate(&fx);
        bool undecided = false;
        for (unsigned marked = 0; marked <= 16; marked++) {
            if (marked > 0)
                fx_event(&fx, "disturbed",
                         json_pack("{s:s, s:s, s:i, s:s}", "cell", "decode", "pass", "latency", "block",
                                   (int)((marked * (2 * (i % 4) + 3) + i) % 16), "reason", "a test"));
            fx_derive(&fx);
            const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
            if (change->state != IFM_STATE_OK)
                break; /* refused by another rule */
            bool now = strcmp(change->text, "undecided") == 0;
            firm += !now;
            assert_false(undecided && !now);
            assert_true(now || fx_value(&fx, "other", "blocks_marked")->number <= fx.blocks - 6);
            undecided = now;
        }
        fx_stop(&fx);
    }
    assert_true(firm > 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_record_stands),
        cmocka_unit_test(scaled_samples_are_refused),
        cmocka_unit_test(slots_that_were_sorted_are_refused),
        cmocka_unit_test(a_pass_that_was_sorted_is_refused),
        cmocka_unit_test(a_slow_first_sample_of_each_slot_stands),
        cmocka_unit_test(a_few_falling_slots_stand),
        cmocka_unit_test(samples_out_of_time_are_refused),
        cmocka_unit_test(longer_samples_than_slots_are_refused),
        cmocka_unit_test(outliers_stay),
        cmocka_unit_test(a_disturbance_marks_its_own_pass),
        cmocka_unit_test(a_decision_that_hangs_on_marked_blocks_is_none),
        cmocka_unit_test(more_disturbance_makes_no_firmer_word),
    };
    return cmocka_run_group_tests_name("rule_02", tests, NULL, NULL);
}
