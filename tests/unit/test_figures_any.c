/* Figures of any numbers: none breaks a drawing. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/random.h"
#include "drawing.h"
#include "publish_sample.h"
#include "report/figure.h"
#include <float.h>
#include <math.h>

#define C "decode"

static struct ifm_arena *arena;
static struct ifm_document *document;

static void build(const struct ifm_plan *of_plan, const struct ifm_derived *of_derived)
{
    static struct ifm_publication publication;
    publication = sample_publication(NULL);
    publication.plan = of_plan;
    publication.derived = of_derived;
    struct ifm_error error;
    assert_int_equal(ifm_document_build(&publication, IFM_LEVEL_VERBOSE, arena, &document, &error), IFM_OK);
}

static double any_number(struct ifm_random *random)
{
    const double odd[] = {0, -1, 5e-324, 1e-300, DBL_MAX, 1e300, 1};
    uint32_t kind = ifm_random_below(random, 14);
    if (kind < COUNT(odd))
        return odd[kind];
    return kind == 12 ? pow(10, 40 * ifm_random_uniform(random) - 20) : exp(ifm_random_normal(random));
}

static struct ifm_value any_value(struct ifm_random *random)
{
    struct ifm_value value = {.number = any_number(random), .level = 0.95, .n = 9};
    if (ifm_random_below(random, 5) == 0)
        value.state = (enum ifm_state)ifm_random_below(random, 4);
    value.reason = value.state == IFM_STATE_OK ? "" : "of <a> reason & more";
    value.has_interval = ifm_random_below(random, 3) > 0;
    double half =
        ifm_random_below(random, 4) == 0 ? any_number(random) : fabs(value.number) * ifm_random_uniform(random);
    value.low = value.number - half;
    value.high = value.number + half;
    value.has_interval &= isfinite(value.low) && isfinite(value.high); /* as derive gives them */
    value.text = ifm_random_below(random, 2) ? "faster" : "undecided";
    return value;
}

static const enum ifm_metric_id metrics[] = {IFM_M_STEP_NS,           IFM_M_SPEEDUP,
                                             IFM_M_CHANGE_PERCENT,    IFM_M_BYTES_RATIO,
                                             IFM_M_BITS_PER_VALUE,    IFM_M_LOSS_RMS_REL,
                                             IFM_M_FLOPS_PER_S,       IFM_M_ARITHMETIC_INTENSITY,
                                             IFM_M_READ_BYTES_PER_S,  IFM_M_CEILING_READ_PERCENT,
                                             IFM_M_STORED_BYTES,      IFM_M_CEILING_FLOPS_PERCENT,
                                             IFM_M_COMPRESSION_RATIO, IFM_M_TOKENS_GENERATED_PER_S};

struct random_run {
    struct ifm_arm arms[IFM_MOST_ARMS];
    struct ifm_number numbers[IFM_MOST_ARMS * (COUNT(metrics) + 1) + 2];
    struct ifm_picture_arm pictures[IFM_MOST_ARMS];
    double ratios[IFM_MOST_ARMS][5];
    struct ifm_cell cell;
    struct ifm_plan plan;
    struct ifm_derived derived;
    struct ifm_picture picture;
};

static void fill(struct random_run *run, struct ifm_random *random)
{
    size_t n = 1 + ifm_random_below(random, ifm_random_below(random, 8) == 0 ? IFM_MOST_ARMS : 8), count = 0;
    bool probes = ifm_random_below(random, 6) == 0, tokens = ifm_random_below(random, 2);
    for (size_t a = 0; a < n; a++) {
        const char *name =
            ifm_arena_printf(arena, ifm_random_below(random, 4) ? "arm%zu" : "µ-%zu-%s", a,
                             "a name that is rather longer than any drawing is wide, by far & <more> of it");
        run->arms[a] = (struct ifm_arm){.name = name,
                                        .role = a == 0 ? IFM_ROLE_BASELINE : IFM_ROLE_VARIANT,
                                        .workload = "decode",
                                        .lossy = a % 3 > 0,
                                        .stored = ifm_random_u32(random),
                                        .working_set = probes ? (uint64_t)1 << ifm_random_below(random, 60) : 0};
        run->pictures[a] = (struct ifm_picture_arm){.arm = &run->arms[a], .ratios = run->ratios[a], .n_ratios = 5};
        for (size_t k = 0; k < 5; k++)
            run->ratios[a][k] = ifm_random_below(random, 20) ? any_number(random) : NAN;
        for (size_t m = 0; m < COUNT(metrics); m++)
            if (ifm_random_below(random, 6) > 0 && (tokens || m + 1 < COUNT(metrics)))
                run->numbers[count++] = (struct ifm_number){C, name, metrics[m], any_value(random)};
        if (probes)
            run->numbers[count++] = (struct ifm_number){C, name, IFM_M_LOAD_NS, any_value(random)};
    }
    run->numbers[count++] = (struct ifm_number){C, "", IFM_M_CEILING_READ, any_value(random)};
    run->numbers[count++] = (struct ifm_number){C, "", IFM_M_CEILING_FLOPS, any_value(random)};
    sample_fill(run->numbers, count);
    run->cell = (struct ifm_cell){
        .name = C, .workload = "decode", .threads = 1, .unsupported = "", .arms = run->arms, .n_arms = n};
    run->cell.measure.margin = ifm_random_below(random, 4) ? 0.003 : ifm_random_uniform(random);
    run->plan =
        (struct ifm_plan){.run_id = "a1b2", .config_hash = "5f70", .device = "cpu", .cells = &run->cell, .n_cells = 1};
    run->derived =
        (struct ifm_derived){.run_id = "a1b2", .config_hash = "5f70", .numbers = run->numbers, .n_numbers = count};
    run->picture = (struct ifm_picture){.cell = &run->cell, .arms = run->pictures};
}

static void any_numbers_give_a_whole_drawing(void **state)
{
    (void)state;
    static struct random_run run;
    static const char *const names[] = {"answer", "ratio", "frontier", "roofline", "rates", "caches"};
    ifm_figure_maker *const makers[] = {ifm_figure_answer,   ifm_figure_ratio, ifm_figure_frontier,
                                        ifm_figure_roofline, ifm_figure_rates, ifm_figure_caches};
    struct ifm_random random = ifm_random_start(5, 0);
    arena = ifm_arena_create();
    size_t drawn[COUNT(makers)] = {0};
    for (int i = 0; i < 1500; i++) {
        fill(&run, &random);
        ifm_derived_sort(&run.derived, arena); /* as ifm_derive leaves it: thousands are looked up */
        build(&run.plan, &run.derived);
        for (size_t m = 0; m < COUNT(makers); m++) {
            struct ifm_figure figure = {0};
            const struct ifm_picture *picture = i % 2 && m > 0 ? &run.picture : NULL;
            bool any = makers[m](&(struct ifm_chart){document, &document->plan->cells[0], picture, arena}, &figure);
            assert_int_equal(any, figure.svg.size > 0);
            drawn[m] += any;
            if (any) {
                check_svg(figure.svg.data);
                assert_true(figure.sentence[0] != '\0' && (figure.numbers.n_rows > 0 || m == 0));
                assert_true(count_of(figure.svg.data, "<circle") <= 24 || m == 0 || makers[m] == ifm_figure_caches);
            }
            ifm_figure_free(&figure);
        }
        if (i % 100 == 99) {
            ifm_arena_destroy(arena);
            arena = ifm_arena_create();
        }
    }
    for (size_t m = 0; m < COUNT(makers); m++)
        if (drawn[m] < 50)
            fail_msg("%s was drawn %zu times only", names[m], drawn[m]);
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_numbers_give_a_whole_drawing)};
    return cmocka_run_group_tests_name("figures of any numbers", tests, NULL, NULL);
}
