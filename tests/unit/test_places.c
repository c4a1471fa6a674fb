/* Programs that the kernel starts on CPUs which are unlike: what is said of the machine, of an arm, and of neither. By
 * simulation through derive. */
#include "rules/fixture.h"

#include "base/random.h"
#include "document/build.h"
#include "document/trust.h"

static char place[] = "child_cpu";
static const double STEP = 1e7;

/* Where the kernel starts an arm. */
enum { BY_CHANCE, BEHIND_ITSELF, BASE_ON_0, UNEQUALLY, IN_TURNS, IN_STRETCHES, THEN_ON_0, NOT_TOLD };

/* Equal arms: the machine slows by `drift` from start to end; CPU 1 takes `slow` times as long for the baseline and
 * `other` times for the other arm, both take `behind` times as long behind one another, and all scatter by `sd`. */
struct machine {
    int where;
    double slow, other, behind, sd, drift;
    bool some;   /* runs of less than STEP are not told */
    double turn; /* from this share of the run on CPU 0 is the slow one; 0 = never */
    double odd;  /* this share of slots takes half as long again */
};

static unsigned cpu_of(const struct ifm_record *r, size_t k, int where, struct ifm_random *random)
{
    const bool again = k > 0 && r->slots[k - 1].arm == r->slots[k].arm;
    if (where == BEHIND_ITSELF)
        return again;
    if (where == UNEQUALLY) /* nine of ten of the other arm on CPU 1, and one of the baseline's */
        return (ifm_random_uniform(random) < 0.9) == (r->slots[k].arm == 1);
    if (where == IN_TURNS) /* for eight blocks on one, then for as many on the other, and at last on CPU 1 for long */
        return r->slots[k].block / 8 % 2 == 1 || r->slots[k].block >= 24;
    if (where == THEN_ON_0 && 10 * k >= 7 * r->n_slots)
        return 0;
    if (where == IN_STRETCHES || where == THEN_ON_0) /* of two blocks */
        return r->slots[k].block / 2 % 2;
    return where == BASE_ON_0 && r->slots[k].arm == 0 ? 0 : ifm_random_uniform(random) < 0.5;
}

static void run_on(struct fixture *fx, const struct machine *m, unsigned seed)
{
    struct ifm_random random = ifm_random_start(20261129, seed);
    int64_t now = 1000;
    fx_start(fx);
    fx->blocks = 40;
    fx->samples = 1;
    fx->parts[0].arms[0].gaps = fx->parts[0].arms[1].gaps = true;
    fx_generate(fx);
    struct ifm_record *r = &fx->parts[0].record;
    r->column_names[3] = place;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        const unsigned cpu = cpu_of(r, k, m->where, &random);
        double ns = STEP * exp(m->sd * ifm_random_normal(&random));
        const bool turned = m->turn > 0 && (double)k >= m->turn * (double)r->n_slots;
        ns *= cpu == turned ? 1 : slot->arm == 0 ? m->slow : m->other;
        ns *= m->odd > 0 && ifm_random_uniform(&random) < m->odd ? 1.5 : 1;
        ns *= k > 0 && r->slots[k - 1].arm != slot->arm ? m->behind : 1;
        ns *= 1 + m->drift * (double)k / (double)r->n_slots;
        ((int64_t *)slot->columns)[3] = m->where == NOT_TOLD || (m->some && ns < STEP) ? IFM_ABSENT : cpu;
        slot->start_ns = now;
        r->samples[r->first[k]] = (struct ifm_sample){now, llround(ns)};
        slot->end_ns = now += llround(ns);
        now += 500;
    }
    fx_end_events(fx);
    fx_derive(fx);
}

static void each_is_told_for_what_it_is(void **state)
{
    (void)state;
    static const struct {
        struct machine m;
        bool machine, order;
    } cases[] = {
        {{BY_CHANCE, 1.3, 1.3, 1, 0.01, 0, false, 0, 0}, true, false}, /* two modes of either arm */
        {{BEHIND_ITSELF, 1.3, 1.3, 1, 0.01, 0, false, 0, 0},
         true,
         false}, /* which looks like what one leaves for the other */
        {{BASE_ON_0, 1.3, 1.3, 1, 0.01, 0, false, 0, 0}, false, false},  /* nothing tells the baseline's CPUs apart */
        {{BY_CHANCE, 1, 1, 1.3, 0.01, 0, false, 0, 0}, false, true},     /* what one does leave for the other */
        {{BY_CHANCE, 1.3, 1.3, 1.3, 0.01, 0, false, 0, 0}, true, true},  /* both */
        {{BY_CHANCE, 1, 1.3, 1, 0.01, 0, false, 0, 0}, false, false},    /* one arm's own doing */
        {{BY_CHANCE, 1.3, 0.77, 1, 0.01, 0, false, 0, 0}, false, false}, /* the opposite of the other's */
        {{NOT_TOLD, 1.3, 1.3, 1, 0.01, 0, false, 0, 0}, false, false},
        {{IN_TURNS, 1, 1, 1, 0.01, .drift = 0.3}, false, false}, /* who is late has CPU 1 */
        {{BY_CHANCE, 1.3, 1.3, 1, 0.01, .drift = 0.3}, true, false},
        {{THEN_ON_0, 1.1, 1.1, 1, 0.02, .odd = 0.1}, true, false},    /* a part of the run has one CPU alone */
        {{UNEQUALLY, 1.1, 1.1, 1, 0.02, .some = true}, false, false}, /* of CPU 0 the slow ones alone are told */
        {{BY_CHANCE, 1.004, 1.004, 1, 0.0005, 0, false, 0, 0}, false, false}, /* sure, and of no matter */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fx;
        run_on(&fx, &cases[i].m, 1);
        const struct ifm_finding *found = fx_finding(&fx, "rule-07", IFM_PLACES_WORDS "|whichever arm runs|taskset");
        if ((found != NULL) != cases[i].machine ||
            (fx_finding(&fx, "rule-07", IFM_CARRIED_WORDS) != NULL) != cases[i].order)
            fail_msg("case %zu: %s", i, found == NULL ? "nothing is said of the machine" : found->text);
        if (found != NULL)
            assert_non_null(strstr(found->text, " %, longer on CPU 1 than on CPU 0"));
        fx_stop(&fx);
    }
}

/* No one side and size are said of a run in which they changed. */
static void a_change_within_the_run_is_told(void **state)
{
    (void)state;
    static const double turns[] = {0.5, 1.0 / 3, 0.7};
    unsigned told = 0;
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        for (unsigned seed = 0; seed < 10; seed++) {
            struct fixture fx;
            run_on(&fx, &(struct machine){BY_CHANCE, 1.2, 1.2, 1, 0.02, .turn = turns[i]}, seed);
            const struct ifm_finding *found = fx_finding(&fx, "rule-07", IFM_PLACES_WORDS);
            assert_non_null(found);
            const bool both = strstr(found->text, " %, now longer on CPU 1, now on CPU 0), whichever arm runs") != NULL;
            if (!both && strstr(found->text, "(late in the run by about 20 %, longer on CPU 0 than on CPU 1)") == NULL)
                fail_msg("%s", found->text);
            told += both;
            assert_null(fx_finding(&fx, "rule-07", IFM_CARRIED_WORDS));
            fx_stop(&fx);
        }
    assert_in_range(told, 28, 30); /* of a third there may be too few changes of CPU */
}

/* The part of the CPU that is taken off is that of its time: what one arm leaves for the other is what is left. */
static void what_is_left_behind_is_told_beside_a_change(void **state)
{
    (void)state;
    struct fixture fx;
    run_on(&fx, &(struct machine){BEHIND_ITSELF, 1.3, 1.3, 1, 0.01, .turn = 0.3}, 1);
    assert_non_null(fx_finding(&fx, "rule-07", IFM_PLACES_WORDS "|now longer on CPU"));
    assert_null(fx_finding(&fx, "rule-07", IFM_CARRIED_WORDS));
    fx_stop(&fx);
    run_on(&fx, &(struct machine){BY_CHANCE, 1.3, 1.3, 1.1, 0.01, .turn = 0.3}, 1);
    assert_non_null(fx_finding(&fx, "rule-07", IFM_PLACES_WORDS "|now longer on CPU"));
    assert_non_null(fx_finding(&fx, "rule-07", IFM_CARRIED_WORDS));
    fx_stop(&fx);
}

/* An arm that had the slow CPU more often is not slower for it: the interval holds what that moves, and the truth. */
static void unequal_shares_are_in_the_interval(void **state)
{
    (void)state;
    struct fixture fx;
    run_on(&fx, &(struct machine){UNEQUALLY, 1.3, 1.3, 1, 0.01, 0, false, 0, 0}, 5);
    const struct ifm_value *change = fx_value(&fx, "other", "change_percent");
    assert_true(change->number > 15 && change->low < 2 && change->high > 15);
    assert_string_equal(change->text, "undecided");
    assert_non_null(fx_finding(&fx, "rule-07", IFM_PLACES_WORDS "|moves the comparison by +23 %|undecided"));
    fx_stop(&fx);
}

static void what_keeps_one_cpu_comes_before_longer_runs(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_finding findings[] = {{.text = IFM_ALTERNATES_WORDS IFM_REMEDY "a quieter machine"},
                                     {.text = IFM_PLACES_WORDS " (by about 30 %)" IFM_REMEDY "pin all (`taskset`)"}};
    struct ifm_derived derived = {.findings = findings, .n_findings = 1};
    assert_string_equal(ifm_trust_remedy_of_places(&derived, "--cap 20s", arena), "--cap 20s");
    derived.n_findings = 2;
    assert_string_equal(ifm_trust_remedy_of_places(&derived, "--cap 20s", arena),
                        "pin all (`taskset`); else add --cap 20s");
    ifm_arena_destroy(arena);
}

/* Of equal CPUs nothing is said but once in a hundred runs, however much times scatter. */
static void equal_cpus_are_not_told_apart(void **state)
{
    (void)state;
    static const struct machine machines[] = {
        {BY_CHANCE, 1, 1, 1, 0.02, 0, false, 0, 0}, {BY_CHANCE, 1, 1, 1, 0.2, 0, false, 0, 0},
        {BY_CHANCE, 1, 1, 1, 0.02, .odd = 0.1},     {IN_STRETCHES, 1, 1, 1, 0.02, .odd = 0.1},
        {THEN_ON_0, 1, 1, 1, 0.1, .drift = 0.1},
    };
    enum { MACHINES = sizeof machines / sizeof *machines, RUNS = 200 };
    unsigned said[MACHINES] = {0};
    for (size_t i = 0; i < MACHINES; i++)
        for (unsigned seed = 0; seed < RUNS; seed++) {
            struct fixture fx;
            run_on(&fx, &machines[i], seed);
            said[i] += fx_finding(&fx, "rule-07", IFM_PLACES_WORDS) != NULL;
            fx_stop(&fx);
        }
    for (size_t i = 0; i < MACHINES; i++)
        assert_in_range(said[i], 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told_for_what_it_is),
        cmocka_unit_test(a_change_within_the_run_is_told),
        cmocka_unit_test(what_is_left_behind_is_told_beside_a_change),
        cmocka_unit_test(unequal_shares_are_in_the_interval),
        cmocka_unit_test(what_keeps_one_cpu_comes_before_longer_runs),
        cmocka_unit_test(equal_cpus_are_not_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
