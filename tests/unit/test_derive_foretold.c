/* The blocks that an open comparison wants, by hand. */
#include "unit/judge_sample.h"

#include "stats/stats.h"

static double t_of(double p, double df)
{
    double t = 0;
    assert_int_equal(ifm_stats_t_quantile(p, df, &t), IFM_STAT_OK);
    return t;
}

/* The fewest blocks of this spread whose interval leaves `room` with a probability of 80 %. */
static double fewest(double sd, double room, double level)
{
    double k = 3;
    while ((t_of(0.5 + 0.5 * level, k - 1) + t_of(0.8, k - 1)) * sd / sqrt(k) > room)
        k++;
    return k;
}

static double below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* How often a next run of k blocks has a word, whose mean lies around this one's of 12 by the noise of both. */
static double share_with_a_word(double mean, double sd, double edge, double k)
{
    const double apart = sd * sqrt(1.0 / 12 + 1 / k), beyond = edge + t_of(0.975, k - 1) * sd / sqrt(k),
                 within = fmax(0, edge - t_of(0.95, k - 1) * sd / sqrt(k));
    return 1 - (below((beyond - mean) / apart) - below((-beyond - mean) / apart)) +
           (below((within - mean) / apart) - below((-within - mean) / apart));
}

/* To the edge of the margin; of an estimate that may be chance, as many as equal arms need too. */
static void blocks_that_are_wanting(void **state)
{
    (void)state;
    static const double step_ns[] = {100800, 100000};
    struct fixture fx;
    for (size_t i = 0; i < 2; i++) {
        fx_start(&fx);
        fx.noise = 0.05;
        fx.parts[0].step_ns[1] = step_ns[i];
        fx_generate(&fx);
        fx_end_events(&fx);
        fx_derive(&fx);
        const struct ifm_value *v = fx_value(&fx, "other", "change_percent");
        assert_string_equal(v->text, "undecided");
        const bool holds_zero = v->low <= 0 && v->high >= 0;
        assert_int_equal(holds_zero, i == 1);
        double mean = log1p(v->number / 100), n = 12, half = 0.5 * (log1p(v->high / 100) - log1p(v->low / 100));
        double sd = half / t_of(0.975, n - 1) * sqrt(n) * v->caution;
        double edge = log1p(0.003), k = fx_value(&fx, "other", "blocks_needed")->number;
        double wanted = fewest(sd, fabs(fabs(mean) - edge), fabs(mean) > edge ? 0.95 : 0.90);
        assert_true(v->caution >= 1);
        const double least = holds_zero ? fmax(wanted, fewest(sd, edge, 0.95)) : wanted;
        assert_true(k > least); /* which take the estimate for the truth */
        assert_true(share_with_a_word(mean, sd, edge, k) >= 0.8 && share_with_a_word(mean, sd, edge, k - 1) < 0.8);
        fx_judge(&fx);
        assert_int_equal(ifm_judge_further(fx.derived, fx.verdict, "decode", "other"), (uint64_t)(k - n));
        fx_stop(&fx);
    }
    fx_start(&fx); /* decided: there is nothing to wait for */
    fx.parts[0].step_ns[1] = 150000;
    fx_generate(&fx);
    fx_end_events(&fx);
    fx_derive(&fx);
    assert_null(ifm_derived_find(fx.derived, "decode", "other", IFM_M_BLOCKS_NEEDED));
    fx_stop(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_are_wanting),
    };
    return cmocka_run_group_tests_name("derive_foretold", tests, NULL, NULL);
}
