/* The time axis and modes: vectors, calibration on simulated series whose truth is known, degenerate input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/random.h"
#include "stats/modes.h"
#include "stats/steady.h"
#include "vectors.h"
#include <math.h>

enum { LONG = 5000, LIMIT = 16 };

static double values[LONG + 1], scratch[6 * (LONG + 1)];

/* NORMAL, LOGNORMAL: independent. AR: autocorrelation 0.3. TICKS: a clock that knows few values. */
enum kind { NORMAL, LOGNORMAL, AR, TICKS, KINDS };

static void fill(double *x, size_t n, enum kind kind, uint32_t stream)
{
    struct ifm_random random = ifm_random_start(600 + kind, stream);
    double last = ifm_random_normal(&random);
    for (size_t i = 0; i < n; i++) {
        double z = ifm_random_normal(&random);
        last = kind == AR ? 0.3 * last + sqrt(1 - 0.09) * z : z;
        x[i] = kind == LOGNORMAL ? exp(0.75 * last) : kind == TICKS ? 1000 + 20 * floor(last) : last;
    }
}

static void vectors_of_the_oracle(void **state)
{
    (void)state;
    json_t *vectors = load("tests/vectors/effect_scipy.json");
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(vectors, "series"), i, row)
    {
        size_t n = numbers(json_object_get(row, "x"), values, LONG);
        struct ifm_warmup_cut cut;
        const json_t *wanted = json_object_get(row, "mser5");
        assert_int_equal(ifm_stats_mser5(values, n, &cut), IFM_STAT_OK);
        assert_int_equal(cut.cut, (int)member(wanted, "cut"));
        assert_int_equal(cut.reached, json_is_true(json_object_get(wanted, "reached")));
    }
    assert_true(i >= 6);
    json_decref(vectors);
}

static size_t changes_of(size_t n, size_t *at)
{
    struct ifm_changes changes;
    assert_int_equal(ifm_stats_changes(values, n, 1, scratch, at, LIMIT, &changes), IFM_STAT_OK);
    return changes.count;
}

static void no_change_is_rarely_told(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        uint32_t runs;
    } sizes[] = {{40, 1000}, {200, 2000}, {1000, 200}};
    size_t at[LIMIT];
    for (size_t s = 0; s < 3; s++)
        for (int kind = 0; kind < KINDS; kind++) {
            uint32_t told = 0;
            for (uint32_t run = 0; run < sizes[s].runs; run++) {
                fill(values, sizes[s].n, (enum kind)kind, run);
                told += changes_of(sizes[s].n, at) > 0;
            }
            if (told > sizes[s].runs / 20)
                fail_msg("n %zu, kind %d: %u of %u", sizes[s].n, kind, told, sizes[s].runs);
        }
}

/* One standard deviation after 100 of 200 values. Dependence costs power: the penalty grows with it. */
static void a_step_is_found(void **state)
{
    (void)state;
    static const int needed[] = {980, 980, 780};
    for (int kind = NORMAL; kind <= AR; kind++) {
        double sd = kind == LOGNORMAL ? exp(0.28125) * sqrt(exp(0.5625) - 1) : 1, off = 0;
        int found = 0;
        for (uint32_t run = 0; run < 1000; run++) {
            size_t at[LIMIT];
            fill(values, 200, (enum kind)kind, 5000 + run);
            for (size_t i = 100; i < 200; i++)
                values[i] += sd;
            if (changes_of(200, at) == 0)
                continue;
            found++;
            off += fabs((double)at[0] - 100);
        }
        if (found < needed[kind] || off / found > 10)
            fail_msg("kind %d: %d of 1000, off by %.1f", kind, found, off / found);
    }
}

static void changes_and_their_places(void **state)
{
    (void)state;
    size_t at[LIMIT];
    struct ifm_changes changes;
    fill(values, 3000, NORMAL, 1); /* a grid of 6 values, and a change beside it */
    for (size_t i = 0; i < 3000; i++)
        values[i] = 100 + values[i] * (i < 2003 ? 1 : 3) + (i < 1051 ? 10 : 0);
    assert_int_equal(ifm_stats_changes(values, 3000, 1, scratch, at, LIMIT, &changes), IFM_STAT_OK);
    assert_int_equal(changes.count, 2);
    assert_int_equal(at[0], 1051);
    assert_true(at[1] >= 1985 && at[1] <= 2020); /* of variance alone */
    size_t first;
    assert_int_equal(ifm_stats_changes(values, 3000, 1, scratch, &first, 1, &changes), IFM_STAT_OK);
    assert_true(changes.count == 2 && first == 1051); /* counted beyond the limit, not written */
    assert_int_equal(ifm_stats_changes(values, 3000, 1000, scratch, at, LIMIT, &changes), IFM_STAT_OK);
    assert_int_equal(changes.count, 0); /* what the caller knows of dependence raises the penalty */
    fill(values, 400, NORMAL, 2);
    for (size_t i = 150; i < 154; i++)
        values[i] += 50;
    assert_int_equal(ifm_stats_changes(values, 400, 1, scratch, at, LIMIT, &changes), IFM_STAT_OK);
    assert_true(changes.count == 0 && changes.masked >= 4); /* a burst is masked */
}

static void classes(void **state)
{
    (void)state;
    static const struct {
        double level[3];
        size_t at[2], count;
        enum ifm_steadiness wanted;
        size_t from;
    } cases[] = {
        {{100, 0, 0}, {0, 0}, 0, IFM_STEADY_FLAT, 0},
        {{100, 100.05, 0}, {30, 0}, 1, IFM_STEADY_FLAT, 0}, /* within the margin */
        {{120, 100, 0}, {30, 0}, 1, IFM_STEADY_WARM_UP, 30},
        {{130, 120, 100}, {20, 50}, 2, IFM_STEADY_WARM_UP, 50},
        {{120, 90, 100}, {20, 50}, 2, IFM_STEADY_SLOW_DOWN, 50},
        {{100, 110, 0}, {30, 0}, 1, IFM_STEADY_SLOW_DOWN, 30},
        {{120, 100, 0}, {80, 0}, 1, IFM_STEADY_NONE, 80},
        {{100, 130, 100}, {80, 90}, 2, IFM_STEADY_NONE, 90},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct ifm_steady steady;
        for (size_t i = 0; i < 100; i++) {
            size_t s = 0;
            while (s < cases[k].count && i >= cases[k].at[s])
                s++;
            values[i] = cases[k].level[s];
        }
        assert_int_equal(ifm_stats_steadiness(values, 100, cases[k].at, cases[k].count, 0.001, scratch, &steady),
                         IFM_STAT_OK);
        if (steady.class != cases[k].wanted || steady.from != cases[k].from)
            fail_msg("case %zu: %s from %zu", k, ifm_steadiness_name(steady.class), steady.from);
    }
    assert_string_equal(ifm_steadiness_name(IFM_STEADY_NONE), "no steady state");
}

static void warm_up_is_cut(void **state)
{
    (void)state;
    struct ifm_warmup_cut cut;
    fill(values, 1000, NORMAL, 3);
    for (size_t i = 0; i < 1000; i++)
        values[i] += 30 * exp(-(double)i / 20);
    assert_int_equal(ifm_stats_mser5(values, 1000, &cut), IFM_STAT_OK);
    assert_true(cut.reached && cut.cut >= 40 && cut.cut <= 200);
    for (size_t i = 0; i < 1000; i++)
        values[i] += 0.1 * (double)i; /* never ends */
    assert_int_equal(ifm_stats_mser5(values, 1000, &cut), IFM_STAT_OK);
    assert_false(cut.reached);
}

/* Unimodal samples show one mode in 95 % or more; equal mixtures of normals 4 sd apart two, from n = 200 on. */
static void modes_are_counted(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        int runs;
    } sizes[] = {{100, 500}, {200, 500}, {1000, 300}, {5000, 60}};
    for (size_t s = 0; s < 4; s++)
        for (int kind = 0; kind <= KINDS; kind++) { /* KINDS: the mixture */
            int ones = 0, twos = 0, n = (int)sizes[s].n;
            for (int run = 0; run < sizes[s].runs; run++) {
                struct ifm_modes modes;
                fill(values, sizes[s].n, kind == KINDS ? NORMAL : (enum kind)kind, (uint32_t)run + 90000);
                for (int i = 0; i < n / 2 && kind == KINDS; i++)
                    values[i] += 4;
                ifm_stats_sort(values, scratch, sizes[s].n);
                assert_int_equal(ifm_stats_modes(values, sizes[s].n, &modes), IFM_STAT_OK);
                ones += modes.count == 1;
                twos += modes.count == 2;
                if (kind == KINDS && modes.count == 2) {
                    close_to(modes.mode[0].share + modes.mode[1].share, 1, 1e-9);
                    assert_true(fabs(modes.mode[0].share - 0.5) < 0.2);
                    assert_true(fabs(modes.mode[0].at) < 1.5 && fabs(modes.mode[1].at - 4) < 1.5);
                }
            }
            int right = kind == KINDS ? twos : ones;
            int needed = kind == KINDS && sizes[s].n == 100 ? sizes[s].runs * 6 / 10 : sizes[s].runs * 95 / 100;
            if (right < needed)
                fail_msg("n %d, kind %d: %d of %d", n, kind, right, sizes[s].runs);
        }
}

/* Two modes are told on the first screen: of the shape of one hardly ever, however skewed or long its tail. */
static void plain_modes_are_no_chance(void **state)
{
    (void)state;
    enum { NORMAL_1, LOGNORMAL_1, HEAVY_LOGNORMAL, EXPONENTIAL, UNIFORM, PARETO, TICKING, SHAPES };
    static const struct {
        size_t n;
        uint32_t runs;
    } sizes[] = {{30, 2000}, {60, 2000}, {120, 1000}, {400, 400}, {5000, 20}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int shape = 0; shape < SHAPES; shape++) {
            uint32_t told = 0;
            for (uint32_t run = 0; run < sizes[s].runs; run++) {
                struct ifm_random random = ifm_random_start(700 + (uint64_t)shape, run);
                struct ifm_modes modes;
                for (size_t i = 0; i < sizes[s].n; i++) {
                    const double z = ifm_random_normal(&random), u = ifm_random_uniform(&random);
                    values[i] = shape == NORMAL_1          ? 10 + z
                                : shape == LOGNORMAL_1     ? exp(0.3 * z)
                                : shape == HEAVY_LOGNORMAL ? exp(1.5 * z)
                                : shape == EXPONENTIAL     ? 1 - log(1 - u)
                                : shape == UNIFORM         ? 1 + u
                                : shape == PARETO          ? pow(1 - u, -1 / 1.5)
                                                           : 1000 + 20 * floor(z);
                }
                ifm_stats_sort(values, scratch, sizes[s].n);
                assert_int_equal(ifm_stats_modes(values, sizes[s].n, &modes), IFM_STAT_OK);
                told += modes.plain;
            }
            if (told * 1000 > sizes[s].runs)
                fail_msg("n %zu, shape %d: %u of %u", sizes[s].n, shape, told, sizes[s].runs);
        }
}

/* A program that takes 10 or 20 ms at random, as often as not or in one run of five. */
static void plain_modes_are_found(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double share, least; /* of 500 samples */
    } cases[] = {{40, 0.5, 0.85}, {80, 0.5, 0.99}, {80, 0.2, 0.8}, {200, 0.2, 0.99}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint32_t told = 0;
        for (uint32_t run = 0; run < 500; run++) {
            struct ifm_random random = ifm_random_start(800, run);
            struct ifm_modes modes;
            for (size_t i = 0; i < cases[c].n; i++) {
                const bool slow = ifm_random_uniform(&random) < cases[c].share;
                values[i] = (slow ? 22 : 12) * exp(0.05 * ifm_random_normal(&random));
            }
            ifm_stats_sort(values, scratch, cases[c].n);
            assert_int_equal(ifm_stats_modes(values, cases[c].n, &modes), IFM_STAT_OK);
            told += modes.plain && modes.count == 2 && modes.mode[0].until > 13.5 && modes.mode[0].until < 20;
        }
        if (told < cases[c].least * 500)
            fail_msg("n %zu, share %g: %u of 500", cases[c].n, cases[c].share, told);
    }
}

/* Ticks of 10 with a few values beside them are one mode; two clouds of ticks are two. */
static void a_tick_is_no_mode(void **state)
{
    (void)state;
    struct ifm_modes modes;
    for (int far = 0; far < 2; far++) {
        for (size_t i = 0; i < 1000; i++)
            values[i] = (i % 5 < 2 ? 20 : 30) + (i % 97 == 0 ? 1 : 0) + (far && i >= 600 ? 200 : 0);
        ifm_stats_sort(values, scratch, 1000);
        assert_int_equal(ifm_stats_modes(values, 1000, &modes), IFM_STAT_OK);
        assert_int_equal(modes.count, 1 + far);
    }
    close_to(modes.mode[1].share, 0.4, 1e-9);
}

static void degenerate_input(void **state)
{
    (void)state;
    size_t at[LIMIT];
    struct ifm_warmup_cut cut;
    struct ifm_changes changes;
    struct ifm_steady steady;
    struct ifm_modes modes;
    for (size_t i = 0; i < 200; i++)
        values[i] = 3;
    assert_int_equal(ifm_stats_mser5(values, 200, &cut), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_changes(values, 200, 1, scratch, at, LIMIT, &changes), IFM_STAT_CONSTANT);
    assert_int_equal(ifm_stats_modes(values, 200, &modes), IFM_STAT_OK);
    assert_true(modes.count == 1 && modes.mode[0].at == 3 && modes.mode[0].share == 1);
    fill(values, 200, NORMAL, 9);
    for (size_t n = 0; n < 3; n++) {
        enum ifm_stat few = n == 0 ? IFM_STAT_EMPTY : IFM_STAT_TOO_FEW;
        assert_int_equal(ifm_stats_mser5(values, n, &cut), few);
        assert_int_equal(ifm_stats_changes(values, n, 1, scratch, at, LIMIT, &changes), few);
        assert_int_equal(ifm_stats_modes(values, n, &modes), few);
    }
    assert_int_equal(ifm_stats_changes(values, 200, 0.5, scratch, at, LIMIT, &changes), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_changes(values, 200, NAN, scratch, at, LIMIT, &changes), IFM_STAT_DOMAIN);
    at[0] = 200; /* not inside */
    assert_int_equal(ifm_stats_steadiness(values, 200, at, 1, 0.01, scratch, &steady), IFM_STAT_DOMAIN);
    assert_int_equal(ifm_stats_steadiness(values, 0, at, 0, 0.01, scratch, &steady), IFM_STAT_EMPTY);
    assert_int_equal(ifm_stats_steadiness(values, 200, at, 0, -1, scratch, &steady), IFM_STAT_DOMAIN);
    static const double bad[] = {NAN, INFINITY};
    for (int k = 0; k < 2; k++) {
        values[199] = bad[k];
        assert_int_equal(ifm_stats_mser5(values, 200, &cut), IFM_STAT_NOT_FINITE);
        assert_int_equal(ifm_stats_changes(values, 200, 1, scratch, at, LIMIT, &changes), IFM_STAT_NOT_FINITE);
        assert_int_equal(ifm_stats_modes(values, 200, &modes), IFM_STAT_NOT_FINITE);
        assert_int_equal(ifm_stats_steadiness(values, 200, at, 0, 0.01, scratch, &steady), IFM_STAT_NOT_FINITE);
    }
}

/* Sixty quiet values at the end are less than a tenth of 750: no cut is made for them alone. */
static void a_tenth_of_the_series_stays(void **state)
{
    (void)state;
    struct ifm_warmup_cut cut;
    fill(values, 750, NORMAL, 9);
    for (size_t i = 690; i < 750; i++)
        values[i] = 0;
    assert_int_equal(ifm_stats_mser5(values, 750, &cut), IFM_STAT_OK);
    assert_true(cut.cut <= 675);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_oracle),
        cmocka_unit_test(no_change_is_rarely_told),
        cmocka_unit_test(a_step_is_found),
        cmocka_unit_test(changes_and_their_places),
        cmocka_unit_test(classes),
        cmocka_unit_test(warm_up_is_cut),
        cmocka_unit_test(a_tenth_of_the_series_stays),
        cmocka_unit_test(modes_are_counted),
        cmocka_unit_test(plain_modes_are_no_chance),
        cmocka_unit_test(plain_modes_are_found),
        cmocka_unit_test(a_tick_is_no_mode),
        cmocka_unit_test(degenerate_input),
    };
    return cmocka_run_group_tests_name("stats_steady", tests, NULL, NULL);
}
