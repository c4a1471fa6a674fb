/* A difference that drifts, through the whole way from a record to a word: how often its interval holds the mean and
 * both ends of the truth, and which words stand. 2,000 records each; at a true rate of
 * 95 % fewer than 1,870 of them hold in one of a thousand such tests (binomial). */
#include "rules/fixture.h"

#include <stdio.h>

#define RUNS 2000
#define FEWEST 1870
#define SD 0.01 /* of a slot's logarithm */

struct truth {
    unsigned blocks;
    double change, drift; /* logarithm of the ratio in the middle of the pass, and its change over the pass */
};

/* One sample a slot; the variant's time follows the line, and both arms share a drift of 5 %. */
static void make(struct fixture *fx, const struct truth *truth, struct ifm_random *random)
{
    struct ifm_record *r = &fx->parts[0].record;
    int64_t now = 1000;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        double block = slot->block < fx->warmup_blocks ? 0 : slot->block - fx->warmup_blocks;
        double at = block / (fx->blocks - 1) - 0.5;
        double log_ns = log(1e7) + 0.05 * at + SD * ifm_random_normal(random);
        int64_t ns = llround(exp(log_ns + (slot->arm == 1 ? truth->change + truth->drift * at : 0)));
        slot->start_ns = now;
        r->samples[r->first[k]] = (struct ifm_sample){now, ns};
        slot->end_ns = now + ns;
        now += ns + 500;
    }
}

struct seen {
    unsigned mean, both, firm, wrong, drifts;
};

static struct seen run_all(const struct truth *truth)
{
    struct seen seen = {0};
    struct ifm_random random = ifm_random_start(20261123, truth->blocks);
    for (unsigned run = 0; run < RUNS; run++) {
        struct fixture fx;
        fx_start(&fx);
        fx.samples = 1;
        fx.blocks = truth->blocks;
        fx_generate(&fx);
        make(&fx, truth, &random);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
        assert_int_equal(change->state, IFM_STATE_OK);
        double low = log1p(change->low / 100), high = log1p(change->high / 100), half = fabs(truth->drift) / 2;
        seen.mean += low <= truth->change && truth->change <= high;
        seen.both += low <= truth->change - half && truth->change + half <= high;
        seen.firm += strcmp(change->text, "undecided") != 0;
        seen.wrong += truth->change != 0 && strcmp(change->text, truth->change > 0 ? "faster" : "slower") == 0;
        seen.drifts += fx_finding(&fx, "rule-07", "the difference to the baseline itself drifts") != NULL;
        fx_stop(&fx);
    }
    printf("%2u blocks, change %+.3f, drift %+.3f: holds the mean %.3f, both ends %.3f; drift seen %.3f, firm %.3f\n",
           truth->blocks, truth->change, truth->drift, (double)seen.mean / RUNS, (double)seen.both / RUNS,
           (double)seen.drifts / RUNS, (double)seen.firm / RUNS);
    return seen;
}

/* Whatever the drift, the interval holds the mean; where the drift is seen, both ends too. */
static void intervals_hold_the_mean_and_both_ends(void **state)
{
    (void)state;
    static const struct truth truths[] = {{10, 0, 0},       {10, 0, 0.03},      {10, -0.2, 0.08}, {45, 0, 0},
                                          {45, 0.1, 0.005}, {45, -0.42, -0.05}, {45, -0.42, 0.05}};
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        struct seen seen = run_all(&truths[i]);
        assert_true(seen.mean >= FEWEST);
        assert_int_equal(seen.wrong, 0);
        if (truths[i].drift == 0)
            assert_true(seen.drifts <= 35); /* 1 %: more in one of a thousand such tests */
        if (fabs(truths[i].drift) >= 0.05) {
            assert_true(seen.drifts >= RUNS - 10);
            assert_true(seen.both >= FEWEST);
        }
    }
}

/* 1.53x of 45 blocks whose ratio drifts by 5 % is faster from end to end; a change of 2 % that turns round is nothing.
 */
static void words_stand_where_both_ends_say_them(void **state)
{
    (void)state;
    struct seen clear = run_all(&(struct truth){45, -0.425, 0.05});
    assert_int_equal(clear.firm, RUNS);
    struct seen turning = run_all(&(struct truth){45, -0.02, 0.06});
    assert_int_equal(turning.firm, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_hold_the_mean_and_both_ends),
                                       cmocka_unit_test(words_stand_where_both_ends_say_them)};
    return cmocka_run_group_tests_name("ratio_drift", tests, NULL, NULL);
}
