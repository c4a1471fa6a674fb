/* Intervals of what cannot be negative: cut at 0 they hold as often as before; on the scale of logarithms (mean times
 * exp(+- t se / mean)), where they would get below 0 and only there, they hold more often. 4,000 sets a row. */
#include "rules/fixture.h"

#include "derive/internal.h"
#include <stdio.h>

enum { SETS = 4000 };

struct held {
    unsigned cut, chosen, below;
};

/* A value of a family: lognormal of that sigma, or normal around 1 of that standard deviation. */
static double draw(struct ifm_random *random, bool lognormal, double sigma)
{
    double z = ifm_random_normal(random);
    return lognormal ? exp(sigma * z) : 1 + sigma * z;
}

static struct held hold(bool lognormal, double sigma, uint32_t n)
{
    struct held held = {0};
    struct ifm_random random = ifm_random_start(42, n);
    double truth = lognormal ? exp(sigma * sigma / 2) : 1, t = 0, x[64];
    assert_int_equal(ifm_stats_t_quantile(0.975, n - 1.0, &t), IFM_STAT_OK);
    for (unsigned set = 0; set < SETS; set++) {
        struct ifm_moments m = {0};
        while (m.mean <= 0) { /* a duration is above 0 */
            for (size_t i = 0; i < n; i++)
                x[i] = draw(&random, lognormal, sigma);
            assert_int_equal(ifm_stats_moments(x, n, &m), IFM_STAT_OK);
        }
        double half = t * m.sd / sqrt(n), low = m.mean - half, high = m.mean + half;
        held.below += low < 0;
        held.cut += low <= truth && truth <= high;
        if (low < 0) {
            low = m.mean * exp(-half / m.mean);
            high = m.mean * exp(half / m.mean);
        }
        held.chosen += low <= truth && truth <= high;
    }
    printf("%s(%.1f), %2u values: below 0 in %.3f; cut it holds %.3f, as chosen %.3f\n",
           lognormal ? "lognormal" : "normal", sigma, n, (double)held.below / SETS, (double)held.cut / SETS,
           (double)held.chosen / SETS);
    return held;
}

/* By as many as chance takes from 4,000 sets at the most, 0.7 %, it holds no less; of skewed values much more. */
static void intervals_above_zero_hold_more_often(void **state)
{
    (void)state;
    unsigned below = 0, gained = 0;
    for (double sigma = 0.3; sigma < 2; sigma += 0.6)
        for (uint32_t n = 3; n <= 24; n *= 2)
            for (int lognormal = 0; lognormal < 2; lognormal++) {
                struct held held = hold(lognormal, sigma, n);
                assert_true(held.chosen + SETS * 7 / 1000 >= held.cut);
                below += held.below;
                gained += held.chosen > held.cut + SETS / 50;
            }
    assert_true(below > SETS && gained >= 4);
}

/* Durations, rates and joules are kept above 0, with the reason; a change and what is above idle are not. */
static void numbers_stay_where_they_can_be(void **state)
{
    (void)state;
    static const struct {
        enum ifm_metric_id metric;
        bool kept;
    } cases[] = {{IFM_M_LATENCY_NS_MEAN, true},      {IFM_M_READ_BYTES_PER_S, true}, {IFM_M_TOTAL_ENERGY_J, true},
                 {IFM_M_ENERGY_ABOVE_IDLE_J, false}, {IFM_M_CHANGE_PERCENT, false},  {IFM_M_DRIFT_PERCENT, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ifm_arena *arena = ifm_arena_create();
        struct ifm_derived out = {0};
        struct ifm_derivation d = {.arena = arena, .out = &out};
        struct ifm_cell cell = {.name = "cell"};
        struct ifm_arm arm = {.name = "arm"};
        struct ifm_cell_work work = {.d = &d, .cell = &cell};
        struct ifm_arm_work arm_work = {.d = &d, .work = &work, .arm = &arm};
        struct ifm_value value = ifm_value_real(2, 5, "values");
        ifm_value_bracket(&value, -1, 5, 0.95);
        ifm_derive_emit(&arm_work, cases[i].metric, value);
        assert_int_equal(out.n_numbers, 1);
        const struct ifm_value *made = &out.numbers[0].value;
        assert_true(cases[i].kept ? fabs(made->low - 2 * exp(-1.5)) < 1e-12 && fabs(made->high - 2 * exp(1.5)) < 1e-12
                                  : made->low == -1 && made->high == 5);
        assert_int_equal(strstr(made->text, "cannot be negative") != NULL, cases[i].kept);
        ifm_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_above_zero_hold_more_often),
                                       cmocka_unit_test(numbers_stay_where_they_can_be)};
    return cmocka_run_group_tests_name("interval_bounds", tests, NULL, NULL);
}
