/* Load of one of two runs: what it keeps from being foretold, and from being decided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "derive/compare/between.h"
#include "publish/comparison.h"
#include "unit/between_sample.h"
#include <math.h>

/* Few blocks foretell nothing, in either run: the rule of gates. A share of a ceiling decides nothing at all. */
static void few_blocks_foretell_nothing(void **state)
{
    (void)state;
    static const char here[] =
        "in this run the machine was under load" IFM_LOAD_LOWERS ". Remedy: end other work, and measure both",
                      in_reference[] = "in the reference the machine was under load" IFM_LOAD_LOWERS
                                       ". Remedy: end other work, and measure both";
    for (int i = 0; i < 8; i++) {
        const bool busy = i & 1, enough = i & 4, few = busy && !enough;
        const double e = exp(0.02446911851144969);
        struct pair p;
        pair_start(&p);
        struct side *side = i & 2 ? &p.a : &p.b;
        p.b.numbers[2].value = bracketed(1.97, 1.97 / e, 1.97 * e, 7, "");
        side->numbers[4] = (struct ifm_number){"null", "quick", IFM_M_CHANGE_PERCENT,
                                               bracketed(-50, -51, -49, enough ? 12 : 7, "faster")};
        side->derived.n_numbers = 5;
        side->derived.busy = busy;
        pair_compare(&p, NULL);
        assert_int_equal(row_of(&p, "quick", "speedup")->further > 0, !few);
        assert_string_equal(row_of(&p, "quick", "ceiling_read_percent")->disputed, !busy   ? ""
                                                                                   : i & 2 ? in_reference
                                                                                           : here);
        pair_stop(&p);
    }
}

/* Blocks may resemble each other, and some be disturbed: as the gates of a run foretell, in either run. */
static void two_runs_foretell_as_one_does(void **state)
{
    (void)state;
    const double e = exp(0.02446911851144969);
    uint64_t further[4];
    for (int i = 0; i < 4; i++) {
        struct pair p;
        pair_start(&p);
        struct side *side = i == 3 ? &p.a : &p.b;
        p.b.numbers[2].value = bracketed(1.94, 1.94 / e, 1.94 * e, 7, "");
        side->numbers[2].value.caution = i == 1 ? 2 : 0;
        side->numbers[4] =
            (struct ifm_number){"null", "quick", IFM_M_CHANGE_PERCENT, bracketed(-50, -51, -49, 10, "faster")};
        side->numbers[5] = (struct ifm_number){"null", "quick", IFM_M_CHANGE_PERCENT_ALL_BLOCKS,
                                               bracketed(-50, -51, -49, i < 2 ? 10 : 15, "")};
        side->derived.n_numbers = 6;
        pair_compare(&p, NULL);
        further[i] = row_of(&p, "quick", "speedup")->further;
        pair_stop(&p);
    }
    assert_in_range(further[1], 4 * further[0], 6 * further[0]); /* of 7 at hand */
    assert_int_equal(further[2], (uint64_t)ceil(1.5 * (double)further[0]));
    assert_int_equal(further[3], further[2]);
}

/* An interval over more than a hundredfold is no answer, whatever lies in it. */
static void an_interval_of_everything_is_absent(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct pair p;
        const double e = exp(wide ? 2.5 : 0.5);
        pair_start(&p);
        p.b.numbers[2].value = bracketed(2, 2 / e, 2 * e, 7, "");
        pair_compare(&p, NULL);
        assert_int_equal(row_of(&p, "quick", "speedup")->change.state, wide ? IFM_STATE_ABSENT : IFM_STATE_OK);
        pair_stop(&p);
    }
}

/* A finding of both runs names both, also where the name of one is a part of the other's. */
static void a_finding_of_both_names_both(void **state)
{
    (void)state;
    struct ifm_finding load = {IFM_SEVERITY_WARNING,    "rule-07", "", "", "the machine is under load: ...",
                               .kind = IFM_FINDING_LOAD};
    struct pair p;
    pair_start(&p);
    p.a.derived.findings = p.b.derived.findings = &load;
    p.a.derived.n_findings = p.b.derived.n_findings = 1;
    pair_compare(&p, NULL);
    struct ifm_listing listing = ifm_comparison_begin_runs(p.arena);
    const struct ifm_comparison_runs runs = {&p.a.view, &p.b.view, "main", "main-2"};
    ifm_comparison_add_between(&listing, &runs, &p.between);
    assert_int_equal(listing.n_remarks, 1);
    assert_string_equal(listing.remarks[0], "warning: the machine is under load: ... (rule-07) [main-2, main]");
    ifm_listing_end(&listing);
    pair_stop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_blocks_foretell_nothing),
        cmocka_unit_test(two_runs_foretell_as_one_does),
        cmocka_unit_test(an_interval_of_everything_is_absent),
        cmocka_unit_test(a_finding_of_both_names_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
