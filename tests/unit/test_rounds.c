/* Rounds of ceilings between the blocks, slots of one length, and leads: what a run of the scripted device records. */
#include "unit/run_sample.h"

#include "model/event.h"
#include "sample/journal.h"
#include "sample/record.h"
#include <signal.h>

enum { ARMS = 4 };
static struct ifm_arm arms[ARMS];

/* Two arms, of 1 and 4 ms, and two probes of 0.5 ms. */
static void with_ceilings(struct fixture *f)
{
    for (int i = 0; i < ARMS; i++) {
        arms[i] = f->arms[i < 2 ? i : 1];
        if (i >= 2) {
            arms[i].name = i == 2 ? "probe.a" : "probe.b";
            arms[i].role = IFM_ROLE_CEILING;
            arms[i].ceiling = IFM_CEILING_READ;
            arms[i].ledger.bytes_read = 1000000;
        }
    }
    f->options.device.script = "step_ns=1000000; noise=0.001; arm.slow.step_ns=3500000; arm.probe.a.step_ns=500000; "
                               "arm.probe.b.step_ns=500000";
    f->cells[0].arms = arms;
    f->cells[0].n_arms = ARMS;
    f->cells[0].ceilings_apart = true;
    f->cells[0].measure.stop = IFM_STOP_MDE;
    f->cells[0].measure.mde = 1e-6; /* until the cap */
    f->cells[0].measure.cap_s = 8;
    f->cells[0].measure.slot_steps = 0;
    f->cells[0].measure.slot_min_s = 0.02;
}

static void run_it(struct fixture *f, struct ifm_record *record)
{
    if (ifm_run_execute(&f->plan, &f->options, &f->error) != IFM_OK)
        fail_msg("%s", f->error.message);
    assert_int_equal(ifm_record_load(f->dir, 0, "latency", record, &f->error), IFM_OK);
}

static double length_of(const struct ifm_slot *slot)
{
    return 1e-9 * (double)(slot->end_ns - slot->start_ns);
}

static void rounds_stand_first_last_and_seldom_between(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    with_ceilings(f);
    run_it(f, &record);
    double of_arms = 0, of_probes = 0;
    unsigned rounds = 0, order[IFM_MOST_ARMS];
    const struct ifm_slot *first = NULL;
    for (size_t k = 0; k < record.n_slots; k++) {
        const struct ifm_slot *slot = &record.slots[k];
        bool probe = slot->arm >= 2;
        if (slot->phase == IFM_PHASE_WARMUP) {
            assert_false(probe);
            continue;
        }
        first = first == NULL ? slot : first;
        assert_int_equal(slot->phase, probe ? IFM_PHASE_CEILING : IFM_PHASE_MEASURE);
        *(probe ? &of_probes : &of_arms) += length_of(slot);
        if (!probe || (k > 0 && record.slots[k - 1].block == slot->block))
            continue;
        assert_int_equal(ifm_plan_round(&f->cells[0], NULL, rounds++, order), 2);
        assert_int_equal(order[0], slot->arm);
        assert_int_equal(order[1], record.slots[k + 1].arm);
    }
    assert_int_equal(first->phase, IFM_PHASE_CEILING);
    assert_int_equal(record.slots[record.n_slots - 1].phase, IFM_PHASE_CEILING);
    assert_in_range(rounds, 3, 12);
    assert_true(of_probes < 0.1 * (of_probes + of_arms));
    ifm_record_free(&record);
}

static void slots_of_all_arms_last_as_long(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    with_ceilings(f);
    run_it(f, &record);
    for (size_t k = 0; k < record.n_slots; k++) {
        const struct ifm_slot *slot = &record.slots[k];
        double wanted_s = slot->arm < 2 ? 6 * 0.0035 : 0.02; /* six of the slow one's; a probe's own */
        assert_true(length_of(slot) > 0.9 * wanted_s && length_of(slot) < 1.1 * wanted_s);
    }
    ifm_record_free(&record);
}

/* However soon the width is reached. */
static void blocks_outlast_the_rounds(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    double of_arms = 0, of_probes = 0;
    with_ceilings(f);
    f->plan.rules = IFM_PLAN_RULES;
    f->cells[0].measure.mde = 0.5;
    run_it(f, &record);
    for (size_t k = 0; k < record.n_slots; k++)
        if (record.slots[k].phase != IFM_PHASE_WARMUP)
            *(record.slots[k].arm >= 2 ? &of_probes : &of_arms) += length_of(&record.slots[k]);
    assert_true(of_arms >= 1.8 && of_arms < 2);
    assert_true(of_probes < 0.1 * (of_probes + of_arms));
    ifm_record_free(&record);
}

/* The cap is passed by a part of a block; steps of which a slot takes as many as it likes have slots that fit. */
static void slots_fit_the_cap(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_events *events;
    f->options.device.script = "step_ns=9000000";
    f->cells[0].measure.stop = IFM_STOP_MDE;
    f->cells[0].measure.mde = 1e-6;
    f->cells[0].measure.slot_steps = 0;
    f->cells[0].measure.slot_min_s = 0.02;
    f->cells[0].measure.cap_s = 1; /* slots of twelve steps: 0.43 s a block */
    run_it(f, &record);
    assert_int_equal(ifm_journal_read(f->dir, arena, &events, &f->error), IFM_OK);
    const struct ifm_event_stop *stop = IFM_LAST(events, stop, "null", NULL);
    assert_string_equal(stop->reason, "cap");
    if (stop->blocks < 10 || stop->elapsed_s > 1.11)
        fail_msg("%lld blocks in %g s", (long long)stop->blocks, stop->elapsed_s);
    ifm_record_free(&record);
    ifm_arena_destroy(arena);
}

/* Twelve steps and more carry an untimed one before them; long ones of which fewer make a slot do not. */
static void long_steps_have_no_lead(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *script;
        int64_t samples, lead;
    } rows[] = {{"step_ns=1000000", 20, 1},
                {"step_ns=1600000", 13, 0},
                {"step_ns=9000000", 3, 0},
                {"step_ns=30000000", 1, 0},
                {"step_ns=2000000000", 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_arena *arena = ifm_arena_create();
        const struct ifm_events *events;
        char dir[64], samples[80];
        snprintf(dir, sizeof dir, "%s/%zu", f->dir, i);
        snprintf(samples, sizeof samples, "%s/samples", dir);
        assert_int_equal(ifm_dir_create(dir, &f->error), IFM_OK);
        assert_int_equal(ifm_dir_create(samples, &f->error), IFM_OK);
        f->options.dir = dir;
        f->options.device.script = rows[i].script;
        f->cells[0].measure.stop = IFM_STOP_MDE;
        f->cells[0].measure.slot_steps = 0;
        f->cells[0].measure.slot_min_s = 0.02;
        assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_OK);
        assert_int_equal(ifm_journal_read(dir, arena, &events, &f->error), IFM_OK);
        for (int arm = 0; arm < 2; arm++) {
            const struct ifm_event_calibrate *told = IFM_LAST(events, calibrate, "null", f->arms[arm].name);
            assert_int_equal(told->samples_per_slot, rows[i].samples);
            assert_int_equal(told->lead, rows[i].lead);
        }
        ifm_arena_destroy(arena);
    }
}

static void samples_apart_have_no_lead(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_events *events;
    f->cells[0].measure.cache = IFM_CACHE_COLD;
    run_it(f, &record);
    assert_int_equal(ifm_journal_read(f->dir, arena, &events, &f->error), IFM_OK);
    IFM_EACH(event, events, calibrate, "null", NULL)
        assert_int_equal(IFM_FACTS(event, calibrate)->lead, 0);
    ifm_record_free(&record);
    ifm_arena_destroy(arena);
}

/* Steps in a sample that are asked for are asked for of the arms. */
static void inner_does_not_multiply_ceilings(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    with_ceilings(f);
    f->cells[0].measure.inner = 7;
    f->cells[0].measure.cap_s = 2;
    run_it(f, &record);
    for (size_t k = 0; k < record.n_slots; k++)
        assert_int_equal(record.slots[k].inner, record.slots[k].arm < 2 ? 7 : 1);
    ifm_record_free(&record);
}

/* Of a sweep no arm waits for the largest one; what caches may hold has a step before its samples, few as they are. */
static void probes_alone_have_slots_of_their_own(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name;
        uint64_t bytes;
        int64_t samples, lead;
    } rows[] = {{"small", 4096, 20, 1}, {"middle", 64 << 20, 1, 1}, {"large", 1 << 30, 1, 0}};
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_events *events;
    struct ifm_record record;
    for (size_t i = 0; i < 3; i++) {
        arms[i] = f->arms[1];
        arms[i].name = rows[i].name;
        arms[i].role = IFM_ROLE_CEILING;
        arms[i].working_set = rows[i].bytes;
    }
    f->cells[0].arms = arms;
    f->cells[0].n_arms = 3;
    f->options.device.script = "step_ns=102000; noise=0.001; arm.middle.step_ns=8000000; arm.large.step_ns=30000000";
    f->cells[0].measure.stop = IFM_STOP_MDE;
    f->cells[0].measure.mde = 1e-9;
    f->cells[0].measure.slot_steps = 0;
    f->cells[0].measure.slot_min_s = 0.002;
    f->cells[0].measure.cap_s = 0.8; /* of 48 ms a row and 8 more */
    run_it(f, &record);
    assert_int_equal(ifm_journal_read(f->dir, arena, &events, &f->error), IFM_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct ifm_event_calibrate *told = IFM_LAST(events, calibrate, "null", rows[i].name);
        assert_int_equal(told->samples_per_slot, rows[i].samples);
        assert_int_equal(told->lead, rows[i].lead);
        assert_int_equal(told->rows, 1);
    }
    const struct ifm_event_stop *stop = IFM_LAST(events, stop, "null", NULL);
    assert_in_range(stop->blocks, 14, 17);
    assert_true(stop->elapsed_s < 0.8 + 0.06);
    ifm_record_free(&record);
    ifm_arena_destroy(arena);
}

static void interrupt(void *countdown, const struct ifm_cell *cell, double fraction, double remaining_s)
{
    (void)cell;
    (void)fraction;
    (void)remaining_s;
    if (--*(int *)countdown == 0)
        raise(SIGINT);
}

/* An interrupted run goes on in the order of rounds and blocks that it had, and takes a round of its own first. */
static void a_resumed_run_goes_on_with_its_rounds(void **state)
{
    struct fixture *f = *state;
    struct ifm_record before, after;
    int countdown = 10;
    with_ceilings(f);
    f->options.progress = (struct ifm_progress){.report = interrupt, .context = &countdown};
    assert_int_equal(ifm_run_execute(&f->plan, &f->options, &f->error), IFM_INTERRUPTED);
    assert_int_equal(ifm_record_load(f->dir, 0, "latency", &before, &f->error), IFM_OK);
    f->options.progress.report = NULL;
    f->options.resume = true;
    run_it(f, &after);
    assert_true(after.n_slots > before.n_slots);
    unsigned rounds = 0, order[IFM_MOST_ARMS];
    for (size_t k = 0; k < after.n_slots; k++) {
        const struct ifm_slot *slot = &after.slots[k];
        if (k < before.n_slots)
            assert_int_equal(slot->start_ns, before.slots[k].start_ns);
        if (slot->phase != IFM_PHASE_CEILING || after.slots[k - 1].block == slot->block)
            continue;
        ifm_plan_round(&f->cells[0], NULL, rounds++, order);
        assert_int_equal(order[0], slot->arm);
    }
    assert_true(rounds >= 4);
    ifm_record_free(&before);
    ifm_record_free(&after);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(rounds_stand_first_last_and_seldom_between),
        CASE(slots_of_all_arms_last_as_long),
        CASE(blocks_outlast_the_rounds),
        CASE(slots_fit_the_cap),
        CASE(long_steps_have_no_lead),
        CASE(samples_apart_have_no_lead),
        CASE(inner_does_not_multiply_ceilings),
        CASE(probes_alone_have_slots_of_their_own),
        CASE(a_resumed_run_goes_on_with_its_rounds),
    };
    return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
