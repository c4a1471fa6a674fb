/* Programs of which a few steps are slow: what is paid decides, and no word goes against the sign of the true mean. */
#include "rules/fixture.h"

#include <stdio.h>

#define RUNS 200      /* of an interval */
#define OF_A_WORD 100 /* of each of 40 programs */
#define BASE 100000.0

/* The variant: steps of `typical` of the baseline's time, of which a share `slow` takes `times` as long. */
struct program {
    double typical, slow, times;
};

static double mean_of(const struct program *p)
{
    return p->typical * (1 + p->slow * (p->times - 1));
}

/* New durations for every sample of both arms, back to back. All of a slot are off together by `slots`, a standard
 * deviation of logarithms. */
static void make_both(struct fixture *fx, const struct program *base, const struct program *other, double slots,
                      struct ifm_random *random)
{
    struct ifm_record *r = &fx->parts[0].record;
    int64_t now = 1000;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        const struct program *p = slot->arm == 1 ? other : base;
        const double all = slots > 0 ? exp(slots * ifm_random_normal(random)) : 1;
        slot->start_ns = now;
        for (size_t i = r->first[k]; i < r->first[k + 1]; i++) {
            double ns = BASE * exp(0.01 * ifm_random_normal(random)) * all;
            ns *= p->typical;
            if (p->slow > 0 && ifm_random_uniform(random) < p->slow)
                ns *= p->times;
            r->samples[i] = (struct ifm_sample){now, llround(ns)};
            now += llround(ns);
        }
        slot->end_ns = now;
        now += 500;
    }
}

static void make_tails(struct fixture *fx, const struct program *p, struct ifm_random *random)
{
    make_both(fx, &(struct program){1, 0, 1}, p, 0, random);
}

struct tally {
    int faster, slower, undecided, refused;
};

static void one(const struct program *p, uint64_t seed, struct tally *out)
{
    struct fixture fx;
    struct ifm_random random = ifm_random_start(20261122, (uint32_t)seed);
    fx_start(&fx);
    fx.blocks = 30;
    fx.samples = 5;
    fx.cells[0].seed = seed;
    fx.cells[0].measure.resamples = 199; /* of intervals on which no word rests */
    fx_generate(&fx);
    make_tails(&fx, p, &random);
    fx_end_events(&fx);
    fx_derive(&fx);
    const struct ifm_value *v = fx_value(&fx, "other", "change_percent");
    out->refused += v->state != IFM_STATE_OK;
    out->faster += v->state == IFM_STATE_OK && strcmp(v->text, "faster") == 0;
    out->slower += v->state == IFM_STATE_OK && strcmp(v->text, "slower") == 0;
    out->undecided += v->state == IFM_STATE_OK && strcmp(v->text, "undecided") == 0;
    fx_stop(&fx);
}

/* Runs that may go against the mean, of all: 95 % intervals miss it in 2.5 % on that side, and of n independent steps
 * none is slow in (1 - slow)^n, when the others are all that there is to see. With three standard errors. */
static int most_by_chance(double slow, double n)
{
    const double p = 0.025 + (1 - 0.025) * pow(1 - slow, n);
    return (int)(OF_A_WORD * p + 3 * sqrt(OF_A_WORD * p * (1 - p)));
}

/* All shares and factors. `mean` 0: a typical step of 0.7, and no word against the mean; else a typical step that makes
 * the mean so many times the baseline's. */
static void no_word_goes_against(double mean)
{
    static const double shares[] = {0.01, 0.02, 0.05, 0.1, 0.2}, factors[] = {2, 4, 8, 20};
    int wrong = 0;
    for (size_t s = 0; s < 5; s++)
        for (size_t f = 0; f < 4; f++) {
            struct tally tally = {0};
            struct program p = {0.7, shares[s], factors[f]};
            p.typical *= mean > 0 ? mean / mean_of(&p) : 1;
            for (int run = 0; run < OF_A_WORD; run++)
                one(&p, (uint64_t)run + 1000 * (4 * s + f), &tally);
            int against = mean_of(&p) < 1 ? tally.slower : tally.faster;
            printf("%4.0f %% x %2.0f: typical %.3f, mean %.3f, faster %3d, slower %3d, undecided %3d, refused %3d, "
                   "against %d\n",
                   100 * p.slow, p.times, p.typical, mean_of(&p), tally.faster, tally.slower, tally.undecided,
                   tally.refused, against);
            wrong += against > (mean > 0 ? most_by_chance(p.slow, 300) : 0);
        }
    assert_int_equal(wrong, 0);
}

static void no_word_goes_against_the_true_mean(void **state)
{
    (void)state;
    no_word_goes_against(0);
}

/* Faster in each step but the slow ones, and slower in all: rare slow steps alone make the difference, and 300 steps
 * may hold none. */
static void nor_where_the_tail_turns_it(void **state)
{
    (void)state;
    no_word_goes_against(1.05);
}

/* The program: 30 % faster, but one run in ten takes eight times as long. It is undecided, and says why. */
static void what_is_typical_and_what_is_paid_disagree(void **state)
{
    (void)state;
    struct fixture fx;
    struct ifm_random random = ifm_random_start(20261122, 1);
    fx_start(&fx);
    fx.blocks = 40;
    fx.samples = 5;
    fx_generate(&fx);
    make_tails(&fx, &(struct program){0.7, 0.1, 12}, &random);
    fx_end_events(&fx);
    fx_gate(&fx, "speedup", "", IFM_GATE_AT_LEAST, 1.1, false);
    fx_derive(&fx);
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
    assert_string_equal(change->text, "undecided");
    assert_true(change->low > 0); /* slower on average, for certain */
    assert_true(fx_value(&fx, "other", "change_percent_median")->high < -25);
    assert_true(fx_value(&fx, "other", "speedup")->number < 1);
    assert_non_null(fx_finding(&fx, "rule-07", "faster in the median block|average|samples of other"));
    const struct ifm_value *step = fx_value(&fx, "other", "step_ns"), *mean = fx_value(&fx, "other", "latency_ns_mean");
    assert_true(fabs(step->number / mean->number - 1) < 1e-12); /* what is paid, whoever adds it up */
    fx_judge(&fx);
    assert_int_not_equal(fx.verdict->outcome, IFM_OUTCOME_PASS);
    fx_stop(&fx);
}

/* One run in four of the old program takes 70 ms and the others 15, the new one always 22: with a run or two in a block
 * medians of blocks go with the means, and medians of all runs say the opposite. */
static void medians_of_all_samples_disagree_too(void **state)
{
    (void)state;
    struct fixture fx;
    struct ifm_random random = ifm_random_start(20261123, 1);
    fx_start(&fx);
    fx.blocks = 200;
    fx.samples = 1;
    fx_generate(&fx);
    make_both(&fx, &(struct program){1, 0.25, 4.7}, &(struct program){1.47, 0, 1}, 0, &random);
    fx_end_events(&fx);
    fx_gate(&fx, "change_percent", "other", IFM_GATE_AT_MOST, 3, true); /* its interval alone would pass */
    fx_derive(&fx);
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
    assert_true(change->high < 0); /* faster on average, for certain */
    assert_string_equal(change->text, "undecided");
    assert_non_null(fx_finding(&fx, "rule-07", "slower at the median|faster on average"));
    fx_judge(&fx);
    assert_int_equal(fx.verdict->outcome, IFM_OUTCOME_BLOCKED);
    fx_stop(&fx);
}

static bool holds(const struct fixture *fx, const char *arm, const char *metric, double truth)
{
    const struct ifm_value *v = fx_value((struct fixture *)fx, arm, metric);
    return !v->has_interval || (v->low <= truth && truth <= v->high);
}

/* Samples of a slot go up and down together, and rare slow ones, each by itself, carry the variance: intervals of
 * median, of the mean of the middle, and of the change of the tail hold the truth all the same. */
static void slots_that_move_together_behind_a_tail(void **state)
{
    (void)state;
    static const struct program same = {1, 0.02, 5};
    static const double slots = 0.01;
    const double median = BASE * exp(hypot(0.01, slots) * 0.025581); /* the quantile 0.5 / 0.98 of the others */
    struct ifm_random random = ifm_random_start(20261124, 5);
    unsigned missed[2] = {0}, tails = 0;
    for (unsigned run = 0; run < RUNS; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.blocks = 100;
        fx_generate(&fx);
        make_both(&fx, &same, &same, slots, &random);
        fx_end_events(&fx);
        fx_derive(&fx);
        missed[0] += !holds(&fx, "base", "latency_ns_p50", median);
        missed[1] += !holds(&fx, "other", "change_percent_p95", 0);
        tails += fx_value(&fx, "other", "change_percent_p95")->has_interval;
        fx_stop(&fx);
    }
    print_message("of %d intervals %u of the median and of %u %u of the tail's change miss the truth\n", RUNS,
                  missed[0], tails, missed[1]);
    assert_true(tails > RUNS / 2);
    assert_true(missed[0] <= 20 && missed[1] <= 20); /* 10 of 200 are wanted; 21 and more in 1 of 1,000 then */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_that_move_together_behind_a_tail),
        cmocka_unit_test(no_word_goes_against_the_true_mean),
        cmocka_unit_test(nor_where_the_tail_turns_it),
        cmocka_unit_test(what_is_typical_and_what_is_paid_disagree),
        cmocka_unit_test(medians_of_all_samples_disagree_too),
    };
    return cmocka_run_group_tests_name("tails", tests, NULL, NULL);
}
