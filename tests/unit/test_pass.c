/* Passes of counters and trace behind the latency pass, each with the fake instrument of its class: what is recorded,
 * that no number of time changes, and that an interrupted pass goes on. */
#include "unit/run_sample.h"

#include "derive/derive.h"
#include "model/plan_json.h"
#include "run/facts/facts.h"
#include "sample/journal.h"
#include "sample/record.h"
#include "unit/events.h"
#include <signal.h>

enum { COUNTDOWN = 1000000 };

static void run(struct fixture *f, enum ifm_status expected)
{
    enum ifm_status status = ifm_run_execute(&f->plan, &f->options, &f->error);
    if (status != expected)
        fail_msg("status %d: %s", (int)status, f->error.message);
}

static struct ifm_record load(struct fixture *f, const char *pass)
{
    struct ifm_record record;
    if (ifm_record_load(f->dir, 0, pass, &record, &f->error) != IFM_OK)
        fail_msg("%s: %s", f->error.where, f->error.message);
    return record;
}

static void new_folder(struct fixture *f)
{
    assert_int_equal(nftw(f->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    assert_non_null(mkdtemp(strcpy(f->dir, "/tmp/ifm-run-XXXXXX")));
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

/* Every slot of a pass: its place, and what the script lets it count. Ceilings have none. */
static void assert_counted(struct fixture *f, const char *pass)
{
    bool without[2] = {false, f->arms[1].role == IFM_ROLE_CEILING};
    size_t places = without[1] ? 2 : 4;
    struct ifm_record record = load(f, pass);
    assert_int_equal(record.n_slots, places * BLOCKS);
    assert_int_equal(record.n_columns, COLUMNS);
    assert_string_equal(record.column_names[0], "l2_hits");
    for (size_t k = 0; k < record.n_slots; k++) {
        unsigned order[4];
        const struct ifm_slot *slot = &record.slots[k];
        ifm_plan_order_without(&f->cells[0], without, (unsigned)(k / places), order);
        int64_t steps = 1 + (int64_t)slot->samples * slot->inner; /* one is untimed */
        assert_int_equal(slot->block, k / places);
        assert_int_equal(slot->phase, IFM_PHASE_MEASURE);
        assert_int_equal(slot->arm, order[k % places]);
        assert_int_equal(slot->columns[1], 1000 * steps);
        assert_int_equal(slot->columns[0], (slot->arm == 0 ? 500 : 250) * steps);
        assert_true(slot->columns[2] == IFM_ABSENT); /* energy, which is not scripted */
    }
    ifm_record_free(&record);
}

/* derived.json of the folder. */
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

static void later_passes_change_no_number_of_time(void **state)
{
    struct fixture *f = *state;
    add_passes(f);
    f->cells[0].n_passes = 1;
    run(f, IFM_OK);
    struct ifm_record alone = load(f, "latency");
    char *without = derive(f);
    new_folder(f);
    f->cells[0].n_passes = 3;
    run(f, IFM_OK);
    struct ifm_record beside = load(f, "latency");
    assert_int_equal(alone.n_samples, beside.n_samples);
    assert_memory_equal(alone.samples, beside.samples, alone.n_samples * sizeof *alone.samples);
    char *with = derive(f);
    assert_non_null(strstr(with, "latency_ns_p50"));
    assert_string_equal(without, with);
    free(without);
    free(with);
    ifm_record_free(&alone);
    ifm_record_free(&beside);
}

static void what_instruments_count_is_recorded(void **state)
{
    struct fixture *f = *state;
    json_t *events;
    const json_t *meta = NULL;
    add_passes(f);
    run(f, IFM_OK);
    assert_counted(f, "counters");
    assert_counted(f, "trace");
    struct ifm_record latency = load(f, "latency"), counters = load(f, "counters");
    int64_t idle_ns = counters.slots[0].start_ns - latency.slots[latency.n_slots - 1].end_ns;
    assert_true(idle_ns >= 50 * (10000 + 20000)); /* the arms warm up again, unrecorded */
    ifm_record_free(&latency);
    ifm_record_free(&counters);
    events = events_read(f->dir);
    assert_int_equal(count_stage(events, "stop", &meta), 1);
    assert_int_equal(count_stage(events, "pass_done", &meta), 2);
    assert_string_equal(json_string_value(json_object_get(meta, "pass")), "trace");
    assert_string_equal(json_string_value(json_object_get(meta, "reason")), "blocks_min");
    assert_int_equal(json_integer_value(json_object_get(meta, "blocks")), BLOCKS);
    json_decref(events);
}

struct signal {
    int countdown;
    double fraction;
};

/* Progress goes forward over all passes: steps of one length make it even. */
static void interrupt_later(void *context, const struct ifm_cell *cell, double fraction, double remaining_s)
{
    struct signal *signal = context;
    (void)cell;
    assert_true(fraction > signal->fraction - 0.01 && fraction <= 1 && remaining_s >= 0);
    signal->fraction = fraction;
    if (--signal->countdown == 0)
        raise(SIGINT);
}

/* Interrupted behind three blocks of the last pass. */
static void run_until_the_trace(struct fixture *f)
{
    struct signal signal = {COUNTDOWN, 0};
    f->options.progress = (struct ifm_progress){.report = interrupt_later, .context = &signal};
    run(f, IFM_OK);
    assert_true(signal.fraction > 0.9 && signal.fraction <= 1);
    signal = (struct signal){COUNTDOWN - signal.countdown - BLOCKS + 3, 0};
    new_folder(f);
    run(f, IFM_INTERRUPTED);
    f->options.resume = true;
    f->options.progress.report = NULL;
}

static void assert_it_goes_on(struct fixture *f)
{
    json_t *events;
    const json_t *meta = NULL;
    run_until_the_trace(f);
    struct ifm_record latency = load(f, "latency"), before = load(f, "trace");
    assert_int_equal(before.n_slots, f->arms[1].role == IFM_ROLE_CEILING ? 3 * 2 : 3 * 4);
    run(f, IFM_OK);
    struct ifm_record again = load(f, "latency"), after = load(f, "trace");
    assert_int_equal(again.n_slots, latency.n_slots); /* no warm-up of a complete pass */
    assert_memory_equal(before.samples, after.samples, before.n_samples * sizeof *before.samples);
    assert_counted(f, "counters");
    assert_counted(f, "trace");
    events = events_read(f->dir);
    assert_int_equal(count_stage(events, "pass_done", &meta), 2); /* the complete one was not entered again */
    json_decref(events);
    ifm_record_free(&latency);
    ifm_record_free(&before);
    ifm_record_free(&again);
    ifm_record_free(&after);
}

static void an_interrupted_pass_goes_on(void **state)
{
    struct fixture *f = *state;
    add_passes(f);
    assert_it_goes_on(f);
}

static void ceilings_have_no_slots_in_it(void **state)
{
    struct fixture *f = *state;
    add_passes(f);
    f->arms[1].role = IFM_ROLE_CEILING;
    assert_it_goes_on(f);
    struct ifm_record latency = load(f, "latency");
    assert_int_equal(latency.slots[latency.n_slots - 1].arm + latency.slots[latency.n_slots - 2].arm, 1);
    ifm_record_free(&latency);
}

/* What was complete before a cell was begun anew is about a record that is no longer one. */
static void a_restarted_cell_runs_every_pass_again(void **state)
{
    struct fixture *f = *state;
    struct ifm_journal *journal;
    bool any = false;
    add_passes(f);
    run_until_the_trace(f);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ifm_recorder_set_aside(f->dir, 0, ifm_pass_name(&f->passes[i]), 1, &any, &f->error), IFM_OK);
        assert_true(any);
    }
    assert_int_equal(ifm_journal_open(f->dir, &journal, &f->error), IFM_OK);
    assert_int_equal(ifm_journal_add(journal,
                                     IFM_EVENT(cell_restarted, true, .cell = "null", .arms_left = 2,
                                               .record_set_aside = true, .times = 1),
                                     &f->error),
                     IFM_OK);
    ifm_journal_close(journal);
    run(f, IFM_OK);
    assert_counted(f, "counters");
    assert_counted(f, "trace");
}

/* A record's time goes on where it ended, whatever the clock says. */
static void time_of_a_session_never_meets_the_record(void **state)
{
    struct fixture *f = *state;
    struct ifm_device *device;
    assert_int_equal(ifm_device_fake.open(&f->options.device, &device, &f->error), IFM_OK);
    struct ifm_session session = {.offset_ns = 1000};
    int64_t now_ns = ifm_session_now(&session, device), mark_ns = ifm_session_now(&session, device) - now_ns;
    ifm_session_behind(&session, device, now_ns); /* passed already */
    assert_int_equal(session.offset_ns, 1000);
    int64_t next_ns = now_ns + 3 * mark_ns;
    ifm_session_behind(&session, device, next_ns);
    assert_int_equal(session.offset_ns, 1001);
    ifm_session_behind(&session, device, 1000000);
    assert_int_equal(ifm_session_now(&session, device), 1000001 + mark_ns);
    device->ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(later_passes_change_no_number_of_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_instruments_count_is_recorded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_interrupted_pass_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ceilings_have_no_slots_in_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_restarted_cell_runs_every_pass_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_of_a_session_never_meets_the_record, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
