/* The run engine on the scripted device: facts, counts, the steady-state gate, interruption and resume. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "run/run.h"
#include "sample/journal.h"
#include "sample/record.h"
#include "unit/events.h"
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    char dir[32];
    struct ifm_arm arms[2];
    struct ifm_pass pass;
    struct ifm_cell cells[2];
    struct ifm_plan plan;
    struct ifm_run_options options;
    struct ifm_error error;
};

static int set_up(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    strcpy(f.dir, "/tmp/ifm-run-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    char samples[64];
    snprintf(samples, sizeof samples, "%s/samples", f.dir);
    assert_int_equal(ifm_dir_create(samples, &f.error), IFM_OK);
    for (int i = 0; i < 2; i++)
        f.arms[i] = (struct ifm_arm){.name = i == 0 ? "quick" : "slow",
                                     .workload = "null",
                                     .variant = "",
                                     .feature = "",
                                     .equals = "",
                                     .role = i == 0 ? IFM_ROLE_BASELINE : IFM_ROLE_VARIANT};
    f.pass = (struct ifm_pass){.name = "latency"};
    f.cells[0] = (struct ifm_cell){.name = "null",
                                   .workload = "null",
                                   .threads = 1,
                                   .seed = 3,
                                   .arms = f.arms,
                                   .n_arms = 2,
                                   .passes = &f.pass,
                                   .n_passes = 1,
                                   .unsupported = ""};
    f.cells[0].measure = (struct ifm_measure){.warmup = 50,
                                              .warmup_cap_s = 5,
                                              .steady_tolerance = 0.05,
                                              .stop = IFM_STOP_REPEATS,
                                              .repeats = 1000,
                                              .mde = 0.01,
                                              .cap_s = 10,
                                              .blocks_min = 6,
                                              .blocks_max = 1000,
                                              .slot_steps = 5,
                                              .slot_min_s = 1e-3};
    f.plan =
        (struct ifm_plan){.run_id = "run", .config_hash = "hash", .device = "fake", .cells = f.cells, .n_cells = 1};
    f.options = (struct ifm_run_options){
        .dir = f.dir,
        .device = {.threads = 1, .seed = 9, .script = "step_ns=10000; noise=0.01; arm.slow.step_ns=20000"}};
    ifm_log_quiet(1);
    *state = &f;
    return 0;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int tear_down(void **state)
{
    return nftw(((struct fixture *)*state)->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void load(struct fixture *f, struct ifm_record *record)
{
    assert_int_equal(ifm_record_load(f->dir, 0, "latency", record, &f->error), IFM_OK);
}

static size_t measured_samples(const struct ifm_record *record, unsigned arm)
{
    size_t n = 0;
    for (size_t k = 0; k < record->n_slots; k++)
        if (record->slots[k].phase == IFM_PHASE_MEASURE && record->slots[k].arm == arm)
            n += record->slots[k].samples;
    return n;
}

/* Events of a stage; the last one's meta into `last` (borrowed from `events`). */
static size_t count_stage(const json_t *events, const char *stage, const json_t **last)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (strcmp(json_string_value(json_object_get(event, "stage")), stage) == 0) {
            n++;
            *last = json_object_get(event, "meta");
        }
    }
    return n;
}

static void fixed_repeats_are_exact_and_slots_alike(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    load(f, &record);
    assert_int_equal(measured_samples(&record, 0), 1000);
    assert_int_equal(measured_samples(&record, 1), 1000);
    unsigned order[4], block = 0;
    for (size_t k = 0; k < record.n_slots; k++) {
        if (record.slots[k].phase != IFM_PHASE_MEASURE)
            continue;
        if (block % 4 == 0)
            ifm_plan_order(&f->cells[0], block / 4, order);
        assert_int_equal(record.slots[k].arm, order[block++ % 4]);
    }
    ifm_record_free(&record);
}

/* 1006 = 2 x 503, and 503 is prime: no useful slot divides it. The slots stay whole, and the repeats are rounded up. */
static void repeats_that_divide_badly_keep_their_slots(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    f->cells[0].measure.repeats = 1006;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    load(f, &record);
    assert_int_equal(measured_samples(&record, 0), 1010); /* 101 blocks of two slots of five */
    for (size_t k = 0; k < record.n_slots; k++)
        assert_true(record.slots[k].samples >= f->cells[0].measure.slot_steps);
    ifm_record_free(&record);
}

static void every_stage_leaves_its_fact(void **state)
{
    struct fixture *f = *state;
    json_t *events;
    const json_t *meta = NULL;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    events = events_read(f->dir);
    static const struct {
        const char *stage;
        size_t n;
    } expected[] = {{"run_start", 1},  {"environment", 1}, {"locks", 2},     {"load", 2},
                    {"cell_start", 1}, {"check", 4},       {"calibrate", 2}, {"warmup", 2},
                    {"stop", 1},       {"cell_done", 1},   {"run_done", 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(count_stage(events, expected[i].stage, &meta), expected[i].n);
    count_stage(events, "stop", &meta);
    assert_string_equal(json_string_value(json_object_get(meta, "reason")), "repeats");
    json_decref(events);
}

static void the_gate_sees_an_arm_that_is_not_steady(void **state)
{
    struct fixture *f = *state;
    json_t *events;
    f->options.device.script = "step_ns=10000; arm.slow.drift=500"; /* slower by a quarter from window to window */
    f->cells[0].measure.warmup_cap_s = 0.1;
    f->cells[0].measure.slot_steps = 50;
    f->cells[0].measure.repeats = 600;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    events = events_read(f->dir);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *meta = json_object_get(event, "meta");
        if (strcmp(json_string_value(json_object_get(event, "stage")), "warmup") != 0)
            continue;
        bool is_slow = strcmp(json_string_value(json_object_get(meta, "arm")), "slow") == 0;
        assert_int_equal(json_is_true(json_object_get(meta, "steady")), !is_slow);
    }
    json_decref(events);
}

/* The signal comes while the second cell runs: the first is complete, and --resume does the rest. */
static void interrupt_on_progress(void *context, const struct ifm_cell *cell, double fraction, double remaining_s)
{
    (void)fraction;
    (void)remaining_s;
    int *countdown = context;
    if (cell->index == 1 && --*countdown == 0)
        raise(SIGINT);
}

static void an_interrupted_run_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    int countdown = 3;
    f->cells[1] = f->cells[0];
    f->cells[1].index = 1;
    f->cells[1].name = "null again";
    f->plan.n_cells = 2;
    f->options.progress = (struct ifm_progress){interrupt_on_progress, &countdown};
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_INTERRUPTED);
    struct ifm_record before, after;
    assert_int_equal(ifm_record_load(f->dir, 1, "latency", &before, &f->error), IFM_OK);
    assert_true(measured_samples(&before, 0) > 0 && measured_samples(&before, 0) < 1000);
    f->options.resume = true;
    f->options.progress.report = NULL;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    assert_int_equal(ifm_record_load(f->dir, 1, "latency", &after, &f->error), IFM_OK);
    assert_int_equal(measured_samples(&after, 0), 1000);
    assert_memory_equal(before.samples, after.samples, before.n_samples * sizeof *before.samples);
    ifm_record_free(&before);
    ifm_record_free(&after);
    load(f, &after);
    assert_int_equal(measured_samples(&after, 0), 1000); /* the finished cell was not touched again */
    ifm_record_free(&after);
}

static void a_cell_that_cannot_run_is_a_fact(void **state)
{
    struct fixture *f = *state;
    json_t *events;
    const json_t *meta = NULL;
    f->cells[1] =
        (struct ifm_cell){.index = 1, .name = "other", .workload = "other", .unsupported = "no such unit here"};
    f->plan.n_cells = 2;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    events = events_read(f->dir);
    assert_int_equal(count_stage(events, "cell_skipped", &meta), 1);
    assert_string_equal(json_string_value(json_object_get(meta, "reason")), "no such unit here");
    assert_int_equal(count_stage(events, "run_done", &meta), 1);
    json_decref(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fixed_repeats_are_exact_and_slots_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeats_that_divide_badly_keep_their_slots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_stage_leaves_its_fact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_gate_sees_an_arm_that_is_not_steady, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupted_run_goes_on_where_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cell_that_cannot_run_is_a_fact, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
