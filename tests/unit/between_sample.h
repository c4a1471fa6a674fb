/* Two runs to compare: one cell of a baseline, a variant and a probe, locked and alike but for what a test changes.
 * Include after cmocka.h. */
#ifndef IFM_TEST_BETWEEN_SAMPLE_H
#define IFM_TEST_BETWEEN_SAMPLE_H

#include "base/json.h"
#include "derive/compare/between.h"
#include "unit/events.h"
#include <math.h>
#include <string.h>

struct side {
    struct ifm_setting settings[3];
    struct ifm_arm arms[3];
    struct ifm_cell cell;
    struct ifm_plan plan;
    struct ifm_number numbers[16];
    struct ifm_device_energy energies[3];
    struct ifm_derived derived;
    json_t *events;
    struct ifm_run_view view;
};

struct pair {
    struct side a, b;
    struct ifm_arena *arena;
    struct ifm_between between;
    bool across;
};

static inline struct ifm_value bracketed(double number, double low, double high, int64_t n, const char *text)
{
    return (struct ifm_value){.number = number,
                              .has_interval = true,
                              .low = low,
                              .high = high,
                              .level = 0.95,
                              .n = n,
                              .n_of = "blocks",
                              .unit = "",
                              .reason = "",
                              .remedy = "",
                              .text = text};
}

static inline json_t *journal(int locked, const char *kernel, double t_ns)
{
    return json_pack("[{s:I, s:s, s:{s:s, s:s, s:s}}, {s:s, s:{s:{s:s, s:{s:f}}}},"
                     " {s:s, s:{s:s, s:[{s:s, s:s, s:b, s:s}]}}]",
                     "t_ns", (json_int_t)t_ns, "stage", "run_start", "meta", "run_id", "r", "config_hash", "h",
                     "version", "1.0", "stage", "environment", "meta", "fingerprint", "kernel", kernel, "load",
                     "one_minute", t_ns / 1e12, "stage", "locks", "meta", "when", "before", "knobs", "knob", "governor",
                     "value", "performance", "locked", locked, "reason", "");
}

static inline void side_start(struct side *side)
{
    memset(side, 0, sizeof *side);
    side->settings[0] = (struct ifm_setting){"null.spin", "7"};
    side->settings[1] = (struct ifm_setting){"device.script", "step_ns=1000"};
    side->settings[2] = (struct ifm_setting){"measure.blocks_min", "6"};
    const struct ifm_arm arm = {.role = IFM_ROLE_BASELINE,
                                .workload = "null",
                                .variant = "",
                                .feature = "",
                                .equals = "",
                                .settings = side->settings,
                                .n_settings = 3};
    for (int i = 0; i < 3; i++)
        side->arms[i] = arm;
    side->arms[0].name = "plain";
    side->arms[1].name = "quick";
    side->arms[1].role = IFM_ROLE_VARIANT;
    side->arms[2].name = "read.linear";
    side->arms[2].role = IFM_ROLE_CEILING;
    side->cell = (struct ifm_cell){.name = "null",
                                   .workload = "null",
                                   .threads = 2,
                                   .seed = 5,
                                   .arms = side->arms,
                                   .n_arms = 3,
                                   .unsupported = "",
                                   .measure = {.margin = 0.01}};
    side->plan = (struct ifm_plan){
        .run_id = "r", .config_hash = "h", .seed = 1, .device = "cpu", .cells = &side->cell, .n_cells = 1};
    /* ln: half-width 0.02447 of 7 blocks, t(0.975, 6) = 2.446912, so se = 0.01 */
    double e = exp(0.02446911851144969);
    side->numbers[0] = (struct ifm_number){"null", "plain", IFM_M_STEP_NS, bracketed(1000, 1000 / e, 1000 * e, 7, "")};
    side->numbers[1] = (struct ifm_number){"null", "quick", IFM_M_STEP_NS, bracketed(500, 500 / e, 500 * e, 7, "")};
    side->numbers[2] = (struct ifm_number){"null", "quick", IFM_M_SPEEDUP, bracketed(2, 2 / e, 2 * e, 7, "")};
    side->numbers[3] = (struct ifm_number){"null", "quick", IFM_M_CEILING_READ_PERCENT,
                                           bracketed(50, 50 / e, 50 * e, 7, "read.linear")};
    side->derived = (struct ifm_derived){.run_id = "r", .config_hash = "h", .numbers = side->numbers, .n_numbers = 4};
    side->events = journal(1, "6.1", 1e18);
    assert_non_null(side->events);
}

static inline void pair_start(struct pair *p)
{
    p->across = false;
    side_start(&p->a);
    side_start(&p->b);
    p->arena = ifm_arena_create();
}

static inline void pair_compare(struct pair *p, const char *varies)
{
    p->a.view = (struct ifm_run_view){&p->a.plan, &p->a.derived, events_of(p->a.events, p->arena)};
    p->b.view = (struct ifm_run_view){&p->b.plan, &p->b.derived, events_of(p->b.events, p->arena)};
    const struct ifm_between_wish wish = {.varies = varies, .across = p->across};
    ifm_between(&p->a.view, &p->b.view, &wish, p->arena, &p->between);
}

static inline void pair_stop(struct pair *p)
{
    json_decref(p->a.events);
    json_decref(p->b.events);
    ifm_arena_destroy(p->arena);
}

/* What a note lists behind its words: the fields that differ. */
static inline const char *fields_of(const char *note)
{
    const char *colon = strstr(note, ": ");
    return colon == NULL ? "" : colon + 2;
}

static inline const struct ifm_between_row *row_of(const struct pair *p, const char *arm, const char *metric)
{
    for (size_t i = 0; i < p->between.n; i++)
        if (strcmp(p->between.rows[i].arm, arm) == 0 && p->between.rows[i].metric == ifm_metric_of(metric))
            return &p->between.rows[i];
    fail_msg("no row for %s %s", arm, metric);
    return NULL;
}

static inline bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

#endif
