/* The chart of the first screen: of whatever numbers, no label lies on another one or on a dot. */
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
#include <math.h>

enum { CELLS = 4, VARIANTS = 3, PER_ARM = 3, NUMBERS = CELLS * VARIANTS * PER_ARM };

#define PACKED(its)                                                                                                    \
    {                                                                                                                  \
        .name = its, .role = IFM_ROLE_VARIANT, .workload = "decode", .lossy = true                                     \
    }
static struct ifm_arm arms[1 + VARIANTS] = {
    {.name = "f16", .role = IFM_ROLE_BASELINE, .workload = "decode"}, PACKED("int8"), PACKED("int4"), PACKED("int2")};
static struct ifm_cell cells[CELLS];
static struct ifm_number numbers[NUMBERS];

struct label {
    double left, right, y;
    const char *text;
};

static size_t labels_of(const char *svg, struct label *labels, size_t most)
{
    size_t n = 0;
    for (const char *at = svg; n < most && (at = strstr(at, "class=\"halo")) != NULL; at++) {
        const char *text = strchr(at, '>') + 1, *from = at;
        for (; *from != '<'; from--)
            continue;
        const double x = attribute(from, "x"), width = width_of(text);
        const double left = anchor_of(svg, from) == 'e' ? x - width : x;
        labels[n++] = (struct label){left, left + width, attribute(from, "y"), text};
    }
    return n;
}

static void check_labels(const char *svg, size_t expected)
{
    struct label labels[CELLS * VARIANTS];
    const size_t n = labels_of(svg, labels, COUNT(labels));
    assert_int_equal(n, expected);
    for (size_t i = 0; i < n; i++) {
        const struct label *a = &labels[i];
        for (const char *dot = svg; (dot = strstr(dot, "<circle")) != NULL; dot++) {
            const double cx = attribute(dot, "cx"), cy = attribute(dot, "cy");
            if (cx > a->left && cx < a->right && cy > a->y - 12 && cy < a->y + 4)
                fail_msg("\"%.24s\" lies on the dot at %g, %g: %s", a->text, cx, cy, svg);
        }
        for (size_t k = 0; k < i; k++)
            if (labels[k].left < a->right && a->left < labels[k].right && fabs(labels[k].y - a->y) < 12)
                fail_msg("\"%.24s\" lies on \"%.24s\": %s", a->text, labels[k].text, svg);
    }
}

/* Speed, interval, word and error of each compared arm: often near to each other, at times with wide intervals. */
static void draw_numbers(struct ifm_random *random)
{
    const double spread = ifm_random_uniform(random), wide = ifm_random_uniform(random) < 0.3 ? 1.5 : 0.1;
    struct ifm_number *number = numbers;
    for (size_t c = 0; c < CELLS; c++)
        for (size_t a = 1; a <= VARIANTS; a++) {
            const double speed = exp((3 * ifm_random_uniform(random) - 0.5) * spread),
                         low = speed * exp(-wide * ifm_random_uniform(random)),
                         high = speed * exp(wide * ifm_random_uniform(random));
            const double loss = 0.5 * exp(-5 * ifm_random_uniform(random) * ifm_random_uniform(random));
            const char *word = ifm_random_uniform(random) < 0.5 ? "undecided" : "faster";
            const char *cell = cells[c].name, *arm = arms[a].name;
            *number++ = (struct ifm_number){cell, arm, IFM_M_SPEEDUP, RATE(speed, low, high)};
            *number++ = (struct ifm_number){cell, arm, IFM_M_CHANGE_PERCENT, SHARE(-1, -2, 2, word)};
            *number++ = (struct ifm_number){cell, arm, IFM_M_LOSS_RMS_REL, {.number = loss}};
        }
    sample_fill(numbers, NUMBERS);
}

static void check_drawing(size_t n_cells)
{
    static struct ifm_publication publication;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_plan plan = {
        .run_id = "a1b2", .config_hash = "5f70", .device = "cpu", .cells = cells, .n_cells = n_cells};
    const struct ifm_derived derived = {
        .run_id = "a1b2", .config_hash = "5f70", .numbers = numbers, .n_numbers = n_cells * VARIANTS * PER_ARM};
    struct ifm_document *document;
    struct ifm_error error;
    publication = sample_publication(NULL);
    publication.plan = &plan;
    publication.derived = &derived;
    assert_int_equal(ifm_document_build(&publication, IFM_LEVEL_VERBOSE, arena, &document, &error), IFM_OK);
    struct ifm_figure figure = {0};
    assert_true(ifm_figure_answer(&(struct ifm_chart){document, &plan.cells[0], NULL, document->arena}, &figure));
    check_labels(figure.svg.data, n_cells * VARIANTS);
    ifm_figure_free(&figure);
    ifm_arena_destroy(arena);
}

static void no_label_lies_on_another(void **state)
{
    (void)state;
    enum { ROUNDS = 400 };
    static const char *const names[CELLS] = {"decode kv_len=2048", "decode kv_len=8192", "decode kv_len=32768",
                                             "decode kv_len=131072"};
    struct ifm_random random = ifm_random_start(1, 0);
    for (size_t c = 0; c < CELLS; c++)
        cells[c] = (struct ifm_cell){.name = names[c],
                                     .workload = "decode",
                                     .threads = 1,
                                     .unsupported = "",
                                     .n_axes = 1,
                                     .arms = arms,
                                     .n_arms = COUNT(arms),
                                     .measure = {.margin = 0.003}};
    for (size_t round = 0; round < ROUNDS; round++) {
        draw_numbers(&random);
        check_drawing(1 + round % CELLS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_label_lies_on_another)};
    return cmocka_run_group_tests_name("answer_labels", tests, NULL, NULL);
}
