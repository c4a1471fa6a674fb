/* The run engine on the scripted device: facts, counts, the steady-state gate, interruption and resume. */
#include "unit/run_sample.h"

#include "derive/derive.h"
#include "model/plan_json.h"
#include "sample/journal.h"
#include "sample/record.h"
#include "unit/events.h"
#include <signal.h>
#include <stdio.h>

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

static void new_folder(struct fixture *f)
{
    assert_int_equal(nftw(f->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    assert_non_null(mkdtemp(strcpy(f->dir, "/tmp/ifm-run-XXXXXX")));
}

/* ---- counters and trace ---- */

/* Every slot of a pass of counters: its place, and what the script lets it count. */
static void assert_counted(struct fixture *f, const char *pass)
{
    struct ifm_record record;
    assert_int_equal(ifm_record_load(f->dir, 0, pass, &record, &f->error), IFM_OK);
    assert_int_equal(record.n_slots, 4 * BLOCKS);
    assert_int_equal(record.n_columns, COLUMNS);
    assert_string_equal(record.column_names[0], "l2_hits");
    for (size_t k = 0; k < record.n_slots; k++) {
        unsigned order[4];
        const struct ifm_slot *slot = &record.slots[k];
        ifm_plan_order(&f->cells[0], (unsigned)k / 4, order);
        int64_t steps = 1 + (int64_t)slot->samples * slot->inner; /* one is untimed */
        assert_int_equal(slot->block, k / 4);
        assert_int_equal(slot->phase, IFM_PHASE_MEASURE);
        assert_int_equal(slot->arm, order[k % 4]);
        assert_int_equal(slot->columns[1], 1000 * steps);
        assert_int_equal(slot->columns[0], (slot->arm == 0 ? 500 : 250) * steps);
        assert_true(slot->columns[2] == IFM_ABSENT); /* energy, which is not scripted */
    }
    ifm_record_free(&record);
}

/* derived.json of the folder, but for the run that the plan names. */
static char *derive(struct fixture *f)
{
    char path[64];
    struct ifm_facts facts;
    struct ifm_derived *derived;
    struct ifm_arena *arena = ifm_arena_create();
    snprintf(path, sizeof path, "%s/plan.json", f->dir);
    json_t *plan = ifm_plan_to_json(&f->plan);
    assert_int_equal(ifm_json_write(path, plan, &f->error), IFM_OK);
    assert_int_equal(ifm_facts_open(f->dir, NULL, 0, arena, &facts, &f->error), IFM_OK);
    assert_int_equal(ifm_derive(&facts.view, arena, &derived, &f->error), IFM_OK);
    json_t *json = ifm_derived_to_json(derived);
    char *text = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    json_decref(plan);
    ifm_facts_close(&facts);
    ifm_arena_destroy(arena);
    return text;
}

static void passes_of_counters_run_behind_the_latency_pass(void **state)
{
    struct fixture *f = *state;
    struct ifm_record alone, beside;
    json_t *events;
    const json_t *meta = NULL;
    add_passes(f);
    f->cells[0].n_passes = 1;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    load(f, &alone);
    char *without = derive(f);
    new_folder(f);
    f->cells[0].n_passes = 3;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    load(f, &beside);
    assert_int_equal(alone.n_samples, beside.n_samples); /* what comes later changes no time */
    assert_memory_equal(alone.samples, beside.samples, alone.n_samples * sizeof *alone.samples);
    ifm_record_free(&alone);
    ifm_record_free(&beside);
    assert_counted(f, "counters");
    assert_counted(f, "trace");
    char *with = derive(f);
    assert_non_null(strstr(with, "latency_ns_p50"));
    assert_string_equal(without, with); /* every number of time is the same */
    free(without);
    free(with);
    events = events_read(f->dir);
    assert_int_equal(count_stage(events, "stop", &meta), 1);
    assert_int_equal(count_stage(events, "pass_done", &meta), 2);
    assert_string_equal(json_string_value(json_object_get(meta, "pass")), "trace");
    assert_string_equal(json_string_value(json_object_get(meta, "reason")), "blocks_min");
    assert_int_equal(json_integer_value(json_object_get(meta, "blocks")), BLOCKS);
    json_decref(events);
}

/* The signal comes in the last pass: it goes on behind its whole blocks, and what is complete is left alone. */
static void interrupt_later(void *context, const struct ifm_cell *cell, double fraction, double remaining_s)
{
    int *countdown = context;
    (void)cell;
    assert_true(fraction > 0 && fraction <= 1 && remaining_s >= 0);
    if (--*countdown == 0)
        raise(SIGINT);
}

static void an_interrupted_pass_of_counters_goes_on(void **state)
{
    struct fixture *f = *state;
    json_t *events;
    const json_t *meta = NULL;
    struct ifm_record before, after;
    add_passes(f);
    int countdown = 1000000;
    f->options.progress = (struct ifm_progress){interrupt_later, &countdown};
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    countdown = 1000000 - countdown - BLOCKS + 3; /* as many blocks as there were, without the last three */
    new_folder(f);
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_INTERRUPTED);
    assert_int_equal(ifm_record_load(f->dir, 0, "trace", &before, &f->error), IFM_OK);
    assert_int_equal(before.n_slots, 3 * 4);
    f->options.resume = true;
    f->options.progress.report = NULL;
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
    assert_int_equal(ifm_record_load(f->dir, 0, "trace", &after, &f->error), IFM_OK);
    assert_memory_equal(before.samples, after.samples, before.n_samples * sizeof *before.samples);
    ifm_record_free(&before);
    ifm_record_free(&after);
    assert_counted(f, "counters");
    assert_counted(f, "trace");
    events = events_read(f->dir);
    assert_int_equal(count_stage(events, "pass_done", &meta), 2); /* the complete pass was not entered again */
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
        cmocka_unit_test_setup_teardown(passes_of_counters_run_behind_the_latency_pass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupted_pass_of_counters_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupted_run_goes_on_where_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cell_that_cannot_run_is_a_fact, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
