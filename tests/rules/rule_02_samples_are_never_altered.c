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
        int64_t start =
            k > 0 && r->slots[k].start_ns < r->slots[k - 1].end_ns ? r->slots[k - 1].end_ns : r->slots[k].start_ns;
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

/* Of 16 CPUs five of six blocks were disturbed, and the word was undecided whatever the rest said. */
static void start_disturbed(struct fixture *fx, unsigned blocks, unsigned of_each, double other_ns)
{
    fx_start(fx);
    fx->plan.rules = IFM_PLAN_RULES;
    fx->noise = 0.002;
    fx->blocks = blocks;
    fx->parts[0].step_ns[1] = other_ns;
    for (unsigned b = 0; b < blocks; b++)
        fx->stolen[b] = b % of_each != 0;
    fx_generate(fx);
}

/* Multiplies the samples of the arm in disturbed blocks, or in the others. */
static void stretch(struct fixture *fx, unsigned arm, bool disturbed, double times)
{
    struct ifm_record *r = &fx->parts[0].record;
    int64_t now = 1000;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        bool is = slot->phase == IFM_PHASE_MEASURE && fx->stolen[slot->block - fx->warmup_blocks];
        slot->start_ns = now;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            double ns = (double)r->samples[i].duration_ns * (slot->arm == arm && is == disturbed ? times : 1);
            r->samples[i] = (struct ifm_sample){now, llround(ns)};
            now += r->samples[i].duration_ns;
        }
        slot->end_ns = now;
        if (is) /* as much as before, of what may be longer now */
            ((int64_t *)slot->columns)[0] = (slot->end_ns - slot->start_ns) / 10;
        now += 500;
    }
}

/* A word rests on the undisturbed blocks, however wild the others are. */
static void words_rest_on_undisturbed_blocks(void **state)
{
    (void)state;
    struct fixture fx;
    start_disturbed(&fx, 48, 6, 33000);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++) /* noise of 100 % in disturbed blocks, to either side */
        for (size_t i = r->first[k]; r->slots[k].columns[0] > 0 && i < r->first[k + 1]; i++)
            r->samples[i].duration_ns *= 1 + (int64_t)((r->slots[k].block * 7 + k) % 3);
    stretch(&fx, 0, true, 1);
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
    assert_string_equal(change->text, "faster");
    assert_int_equal(change->n, 8);
    assert_true(fabs(change->number + 67) < 0.3);
    assert_int_equal(fx_value(&fx, "other", "change_percent_all_blocks")->n, 48);
    assert_true(fx_value(&fx, "base", "blocks_marked")->number == 40);
    assert_int_equal(fx_invalid(&fx), 0);
    fx_stop(&fx);
}

/* Of the blocks to come as many are disturbed as were: the report and what to do next tell one number. */
static void blocks_needed_are_of_the_run(void **state)
{
    (void)state;
    struct fixture fx;
    start_disturbed(&fx, 72, 6, 100300);
    fx_end_events(&fx);
    fx_derive(&fx);
    fx_judge(&fx);
    const double needed = fx_value(&fx, "other", "blocks_needed")->number;
    assert_true(needed > 72 && fmod(needed, 6) == 0);
    assert_int_equal(ifm_judge_further(fx.derived, fx.verdict, "decode", "other"), (uint64_t)needed - 72);
    fx_stop(&fx);
}

/* With fewer than six undisturbed ones it is undecided; how long it takes is said where most were undisturbed. */
static void too_few_undisturbed_blocks_decide_nothing(void **state)
{
    (void)state;
    struct fixture fx;
    start_disturbed(&fx, 30, 6, 33000);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "undecided");
    assert_int_equal(fx_value(&fx, "other", "change_percent")->n, 30);
    assert_non_null(
        fx_finding(&fx, "rule-02",
                   "25 of 30 blocks (stolen time); at least 6 undisturbed blocks are needed, 5 are there. Remedy: "));
    assert_null(fx_finding(&fx, "rule-02", "--cap"));
    fx_stop(&fx);
    start_disturbed(&fx, 7, 2, 33000);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_non_null(fx_finding(&fx, "rule-02", "3 of 7 blocks|probably --cap|--wait-quiet"));
    assert_non_null(fx_finding(&fx, "rule-02", "faster over all 7 blocks, but too few are undisturbed (4): undecided"));
    fx_stop(&fx);
}

/* Disturbed blocks that are wholly unlike the others: their word is said, and no tail is hidden with them. */
static void what_all_blocks_cost_may_not_say_another_word(void **state)
{
    (void)state;
    struct fixture fx;
    start_disturbed(&fx, 40, 2, 98000);
    stretch(&fx, 1, true, 1.3);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_string_equal(fx_value(&fx, "other", "change_percent_all_blocks")->text, "slower");
    assert_true(fx_value(&fx, "other", "change_percent")->number < -1);
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "undecided");
    assert_non_null(fx_finding(&fx, "rule-02", "over the 20 undisturbed blocks|slower over all 40"));
    /* "faster" is said only where the interval beside it does not hold 1x */
    assert_int_equal(fx_finding(&fx, "rule-02", "faster over") != NULL, fx_value(&fx, "other", "speedup")->low > 1);
    fx_stop(&fx);
}

/* The others may be too wild for any word of their own: a mean that points the other way is enough against one. */
static void a_mean_of_the_other_sign_leaves_no_word(void **state)
{
    (void)state;
    for (int other_way = 0; other_way < 2; other_way++) {
        struct fixture fx;
        start_disturbed(&fx, 40, 2, 98000);
        struct ifm_record *r = &fx.parts[0].record;
        for (size_t k = 0; k < r->n_slots; k++) /* times 2 and 0.6 in turn: dearer in the mean; or 1.4 and 0.5 */
            for (size_t i = r->first[k]; r->slots[k].columns[0] > 0 && r->slots[k].arm == 1 && i < r->first[k + 1]; i++)
                r->samples[i].duration_ns =
                    llround((double)r->samples[i].duration_ns * ((r->slots[k].block - fx.warmup_blocks) / 2 % 2 == 0
                                                                     ? (other_way ? 2 : 1.4)
                                                                     : (other_way ? 0.6 : 0.5)));
        stretch(&fx, 0, true, 1);
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_string_equal(fx_value(&fx, "other", "change_percent_all_blocks")->text, "undecided");
        assert_true(fx_value(&fx, "other", "change_percent")->number < -1);
        assert_string_equal(fx_value(&fx, "other", "change_percent")->text, other_way ? "undecided" : "faster");
        fx_stop(&fx);
    }
}

/* Every second block is disturbed in the slots of `other` alone (of `in_a_row` blocks, the first 18 together), and the
 * baseline's are counted as the caller says. */
static void start_one_sided(struct fixture *fx, const char *column, double other_ns, bool base_too, bool in_a_row)
{
    fx_start(fx);
    fx->plan.rules = IFM_PLAN_RULES;
    fx->noise = 0.002;
    fx->blocks = 40;
    fx->parts[0].step_ns[1] = other_ns;
    for (unsigned b = 0; b < 40; b++)
        fx->stolen[b] = in_a_row ? b < 18 : b % 2 != 0;
    fx_generate(fx);
    struct ifm_record *r = &fx->parts[0].record;
    ((char **)(uintptr_t)r->column_names)[0] = (char *)(uintptr_t)column;
    for (size_t k = 0; k < r->n_slots; k++)
        if (r->slots[k].arm == 0 && !(base_too && r->slots[k].block % 10 == 1))
            ((int64_t *)r->slots[k].columns)[0] = 0;
    fx_end_events(fx);
    fx_derive(fx);
}

/* An arm that is disturbed much more often than the other disturbs itself: its blocks count, and no line says else. */
static void disturbances_that_follow_an_arm_are_its_own(void **state)
{
    (void)state;
    struct fixture fx;
    start_one_sided(&fx, "run_delay_ns", 98000, false, false);
    assert_int_equal(fx_value(&fx, "other", "change_percent")->n, 40);
    assert_non_null(fx_finding(&fx, "rule-02", "follows other"));
    assert_non_null(fx_finding(&fx, "rule-02", "20 of 40 blocks|rest on all blocks"));
    assert_null(fx_finding(&fx, "rule-02", "rest on the others"));
    fx_stop(&fx);
}

/* Nor does that take a word: an interval below a threshold passes, whatever else it leaves open. */
static void an_arm_that_disturbs_itself_may_be_judged(void **state)
{
    (void)state;
    struct fixture fx;
    start_one_sided(&fx, "run_delay_ns", 100000, false, false);
    fx.cells[0].measure.margin = 1e-5;
    fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 5, true);
    fx_derive(&fx);
    assert_non_null(fx_finding(&fx, "rule-02", "follows other"));
    assert_string_equal(fx_value(&fx, "other", "change_percent")->text, "undecided");
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_PASS);
    fx_stop(&fx);
}

/* The hypervisor's doing is no arm's, however it falls; a slot that lasts nine times as long meets nine times as much
 * of what others do; and neighbouring blocks are one event. */
static void stolen_time_long_slots_and_neighbours_are_no_arms_doing(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        double other_ns;
        bool base_too, in_a_row;
        int left;
    } rows[] = {{"steal_ns", 98000, false, false, 20},
                {"run_delay_ns", 900000, true, false, 20},
                {"run_delay_ns", 98000, false, true, 22}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture fx;
        start_one_sided(&fx, rows[i].column, rows[i].other_ns, rows[i].base_too, rows[i].in_a_row);
        assert_int_equal(fx_value(&fx, "other", "change_percent")->n, rows[i].left);
        assert_null(fx_finding(&fx, "rule-02", "follows"));
        assert_non_null(fx_finding(&fx, "rule-02", "of 40 blocks|rest on the others"));
        fx_stop(&fx);
    }
}

/* Disturbed blocks that are put in make no word firmer than the others give without them: the word is theirs, or none.
 */
static void more_disturbed_blocks_make_no_firmer_word(void **state)
{
    (void)state;
    static const double other[] = {97000, 99400, 103000, 100000};
    size_t firm = 0;
    for (unsigned i = 0; i < 24; i++) {
        struct fixture fx;
        start_disturbed(&fx, 32, 2 + i % 3, other[i % 4]);
        stretch(&fx, i % 2, true, 1 + 0.01 * (i % 5));
        fx_end_events(&fx);
        fx_derive(&fx);
        char word[16], without[16];
        snprintf(word, sizeof word, "%s", fx_value(&fx, "other", "change_percent")->text);
        fx.plan.rules = 3; /* as before: the change without the marked blocks stands beside that of all */
        for (size_t e = json_array_size(fx.events); e-- > 0;)
            if (strcmp(json_string_value(json_object_get(json_array_get(fx.events, e), "stage")), "repeated") == 0)
                json_array_remove(fx.events, e);
        fx_derive(&fx);
        const struct ifm_number *rest =
            ifm_derived_find(fx.derived, fx.cells[0].name, "other", ifm_metric_of("change_percent_without_marked"));
        snprintf(without, sizeof without, "%s", rest == NULL ? "undecided" : rest->value.text);
        if (strcmp(word, "undecided") != 0 && rest != NULL && rest->value.state == IFM_STATE_OK)
            assert_string_equal(word, without);
        firm += strcmp(word, "undecided") != 0;
        fx_stop(&fx);
    }
    assert_true(firm > 6);
}

/* What run.log tells of repeats is what the slots' counters say: a block that is called disturbed without a cause, one
 * whose repeat is kept silent, and one whose cause was taken away. */
static void repeats_follow_from_what_was_counted(void **state)
{
    (void)state;
    for (int edit = 0; edit < 4; edit++) {
        struct fixture fx;
        start_disturbed(&fx, 24, 2, 98000);
        size_t last = json_array_size(fx.events) - 1;
        struct ifm_record *r = &fx.parts[0].record;
        if (edit == 1)
            fx_event(&fx, "repeated",
                     json_pack("{s:s, s:s, s:i, s:s}", "cell", "decode", "pass", "latency", "block", 1, "reason", "x"));
        else if (edit == 2)
            json_array_remove(fx.events, last);
        for (size_t k = 0; edit == 3 && k < r->n_slots; k++)
            if (r->slots[k].block == 2)
                ((int64_t *)r->slots[k].columns)[0] = 0;
        fx_end_events(&fx);
        fx_derive(&fx);
        assert_int_equal(fx_value(&fx, "other", "change_percent")->state == IFM_STATE_OK, edit == 0);
        fx_stop(&fx);
    }
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
        cmocka_unit_test(words_rest_on_undisturbed_blocks),
        cmocka_unit_test(too_few_undisturbed_blocks_decide_nothing),
        cmocka_unit_test(blocks_needed_are_of_the_run),
        cmocka_unit_test(what_all_blocks_cost_may_not_say_another_word),
        cmocka_unit_test(a_mean_of_the_other_sign_leaves_no_word),
        cmocka_unit_test(disturbances_that_follow_an_arm_are_its_own),
        cmocka_unit_test(an_arm_that_disturbs_itself_may_be_judged),
        cmocka_unit_test(stolen_time_long_slots_and_neighbours_are_no_arms_doing),
        cmocka_unit_test(more_disturbed_blocks_make_no_firmer_word),
        cmocka_unit_test(repeats_follow_from_what_was_counted),
    };
    return cmocka_run_group_tests_name("rule_02", tests, NULL, NULL);
}
