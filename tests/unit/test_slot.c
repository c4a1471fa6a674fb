/* One slot, and one window of energy, on the scripted device: in which order things happen, what its samples contain,
 * and what becomes of marks and columns. */
#include "unit/run_sample.h"

#include "run/cell/slot.h"
#include "run/energy/private.h"

enum { INNER = 3, SAMPLES = 4, STEP_NS = 10000, MARK_NS = 20, FLUSH_NS = 1000000, FIRST_NS = 5000 };

/* The open cell, and what happened in its slot: a letter for each call. */
static struct {
    struct ifm_device *device;
    struct ifm_session session;
    struct ifm_cell_run cell;
    struct ifm_device_ops ops;
    char log[256];
    size_t resolved;
    struct ifm_slot slot;
    struct ifm_sample samples[SAMPLES];
    int64_t columns[COLUMNS + 1];
} it;

static void note(char what)
{
    size_t n = strlen(it.log);
    assert_true(n + 1 < sizeof it.log);
    it.log[n] = what;
}

static void hold(struct ifm_device *device, unsigned threads)
{
    assert_int_equal(threads, 1);
    note('H');
    ifm_device_fake.hold(device, threads);
}

static void release(struct ifm_device *device)
{
    note('R');
    ifm_device_fake.release(device);
}

static struct ifm_instant mark(struct ifm_device *device)
{
    note('.');
    return ifm_device_fake.mark(device);
}

static enum ifm_status flush(struct ifm_device *device, struct ifm_error *error)
{
    note('f');
    return ifm_device_fake.flush(device, error);
}

static enum ifm_status resolve(struct ifm_device *device, struct ifm_instant *marks, size_t n, struct ifm_error *error)
{
    (void)device;
    (void)marks;
    (void)error;
    note('r');
    it.resolved = n;
    return IFM_OK;
}

static enum ifm_status lose(struct ifm_device *device, struct ifm_instant *marks, size_t n, struct ifm_error *error)
{
    (void)device;
    (void)marks;
    (void)n;
    return ifm_fail(error, IFM_INTERNAL, "device", "", "lost");
}

static void watch_start(struct ifm_instrument_state *state)
{
    note('<');
    ifm_instrument_fake.start(state);
}

static void watch_stop(struct ifm_instrument_state *state)
{
    note('>');
    ifm_instrument_fake.stop(state);
}

static void watch_collect(struct ifm_instrument_state *state, int64_t *values)
{
    note('c');
    ifm_instrument_fake.collect(state, values);
}

static struct ifm_instrument watched;

static void open_cell(struct fixture *f)
{
    static const char *const fake[] = {"fake"};
    memset(&it, 0, sizeof it);
    f->options.device.script = "step_ns=10000; l2_hit=0.5";
    f->passes[0].instruments = fake;
    f->passes[0].n_instruments = 1;
    f->passes[0].n_columns = COLUMNS;
    assert_int_equal(ifm_device_fake.open(&f->options.device, &it.device, &f->error), IFM_OK);
    it.session.device = &f->options.device;
    it.session.base = it.device->ops->mark(it.device);
    it.session.offset_ns = FIRST_NS;
    assert_int_equal(ifm_cell_open(&f->cells[0], it.device, &it.session, &it.cell, &f->error), IFM_OK);
    it.cell.arms[1].inner = INNER;
    it.cell.arms[1].samples = SAMPLES;
    it.cell.arms[1].lead = 1;
    it.cell.marks = calloc(2 * SAMPLES, sizeof *it.cell.marks);
    watched = ifm_instrument_fake;
    watched.start = watch_start;
    watched.stop = watch_stop;
    watched.collect = watch_collect;
    it.cell.instruments[0].instrument = &watched;
    it.ops = ifm_device_fake;
    it.ops.hold = hold;
    it.ops.release = release;
    it.ops.mark = mark;
    it.ops.flush = flush;
    it.device->ops = &it.ops;
}

static int close_cell(void **state)
{
    ifm_cell_close(&it.cell);
    ifm_device_fake.close(it.device);
    return tear_down(state);
}

static enum ifm_status run_slot(struct fixture *f)
{
    memset(it.columns, 0x55, sizeof it.columns);
    return ifm_slot_run(&it.cell, 1, &it.slot, it.samples, it.columns, &f->error);
}

/* One reading ends a sample and starts the next, and lies in the sample that it ends. */
static void samples_of_a_hot_slot_meet(void **state)
{
    struct fixture *f = *state;
    open_cell(f);
    int64_t before_ns = ifm_device_fake.mark(it.device).ns;
    assert_int_equal(run_slot(f), IFM_OK);
    assert_string_equal(it.log, "H<.....>Rc");
    assert_int_equal(it.slot.arm, 1);
    assert_int_equal(it.slot.samples, SAMPLES);
    assert_int_equal(it.slot.inner, INNER);
    assert_ptr_equal(it.slot.columns, it.columns);
    assert_int_equal(it.slot.start_ns, FIRST_NS + before_ns - it.session.base.ns + STEP_NS + MARK_NS);
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(it.samples[i].duration_ns, INNER * STEP_NS + MARK_NS);
        assert_int_equal(it.samples[i].start_ns, it.slot.start_ns + i * (INNER * STEP_NS + MARK_NS));
    }
    assert_int_equal(it.slot.end_ns, it.samples[SAMPLES - 1].start_ns + it.samples[SAMPLES - 1].duration_ns);
    assert_int_equal(it.columns[1], 1000 * (1 + INNER * SAMPLES)); /* one step is untimed */
}

static void caches_are_evicted_before_each_cold_sample(void **state)
{
    struct fixture *f = *state;
    f->cells[0].measure.cache = IFM_CACHE_COLD;
    open_cell(f);
    assert_int_equal(run_slot(f), IFM_OK);
    assert_string_equal(it.log, "H<f..f..f..f..>Rc");
    for (int i = 0; i < SAMPLES; i++) {
        assert_int_equal(it.samples[i].duration_ns, INNER * STEP_NS + MARK_NS);
        assert_int_equal(it.samples[i].start_ns - it.slot.start_ns,
                         i * (INNER * STEP_NS + 2 * MARK_NS + (int64_t)FLUSH_NS));
    }
    assert_int_equal(it.slot.end_ns, it.samples[SAMPLES - 1].start_ns + it.samples[SAMPLES - 1].duration_ns);
    assert_int_equal(it.columns[1], 1000 * INNER * SAMPLES);
}

static void samples_with_gaps_stand_apart_in_warm_caches(void **state)
{
    struct fixture *f = *state;
    f->arms[1].gaps = true;
    open_cell(f);
    assert_int_equal(run_slot(f), IFM_OK);
    assert_string_equal(it.log, "H<........>Rc");
    for (int i = 0; i < SAMPLES; i++)
        assert_int_equal(it.samples[i].start_ns - it.slot.start_ns, i * (INNER * STEP_NS + 2 * MARK_NS));
}

/* What counts the last sample alone begins behind what runs before it. */
static void the_last_sample_apart_may_be_the_only_one_that_is_counted(void **state)
{
    struct fixture *f = *state;
    f->cells[0].measure.cache = IFM_CACHE_COLD;
    open_cell(f);
    watched.last_sample = true;
    assert_int_equal(run_slot(f), IFM_OK);
    assert_string_equal(it.log, "Hf..f..f..f<..>Rc");
    memset(it.log, 0, sizeof it.log);
    f->cells[0].measure.cache = IFM_CACHE_HOT;
    assert_int_equal(run_slot(f), IFM_OK);
    assert_string_equal(it.log, "H<.....>Rc");
}

/* Of a device that works apart: every mark that was taken, while it is held. */
static void tickets_become_times_before_the_release(void **state)
{
    struct fixture *f = *state;
    open_cell(f);
    it.ops.resolve = resolve;
    assert_int_equal(run_slot(f), IFM_OK);
    assert_string_equal(it.log, "H<.....r>Rc");
    assert_int_equal(it.resolved, SAMPLES + 1);
    memset(it.log, 0, sizeof it.log);
    f->arms[1].gaps = true;
    assert_int_equal(run_slot(f), IFM_OK);
    assert_string_equal(it.log, "H<........r>Rc");
    assert_int_equal(it.resolved, 2 * SAMPLES);
}

static void a_device_that_fails_is_let_go_and_nothing_is_collected(void **state)
{
    struct fixture *f = *state;
    open_cell(f);
    it.ops.resolve = lose;
    assert_int_equal(run_slot(f), IFM_INTERNAL);
    assert_string_equal(it.log, "H<.....>R");
    assert_string_equal(f->error.message, "lost");
    assert_int_equal(it.slot.samples, 0);
}

/* A column of a workload's own is absent for an arm that does not count it. */
static void own_columns_of_another_workload_are_absent(void **state)
{
    struct fixture *f = *state;
    open_cell(f);
    f->passes[0].n_columns = COLUMNS + 1;
    assert_int_equal(run_slot(f), IFM_OK);
    assert_true(it.columns[COLUMNS] == IFM_ABSENT);
    assert_int_equal(it.columns[1], 1000 * (1 + INNER * SAMPLES)); /* and those of the instruments are not */
}

static int64_t counted; /* steps since the last collect */

static void count_steps(void *opened, uint64_t n)
{
    (void)opened;
    counted += (int64_t)n;
}

static void collect_steps(void *opened, int64_t *columns)
{
    (void)opened;
    columns[0] = counted;
    counted = 0;
}

/* An arm counts its own steps, also those of checks, calibration and warm-up, which no slot and no window holds. */
static void what_was_counted_before_a_slot_is_not_in_it(void **state)
{
    static const struct ifm_column own[] = {{"steps_counted", "count"}};
    struct fixture *f = *state;
    open_cell(f);
    struct ifm_arm_run *arm = &it.cell.arms[1];
    const struct ifm_implementation counting = {.step = count_steps, .collect = collect_steps};
    struct ifm_workload workload = *arm->workload;
    const struct ifm_workload *opened = arm->workload;
    const struct ifm_implementation *by = arm->implementation;
    struct ifm_instant marks[2 * SAMPLES + 1];
    struct ifm_energy_windows windows = {.cell = &it.cell, .marks = marks};
    windows.arms[1] = (struct ifm_energy_arm){.inner = INNER, .samples = SAMPLES};
    workload.columns = own;
    workload.n_columns = 1;
    arm->workload = &workload;
    arm->implementation = &counting;
    f->passes[0].n_columns = COLUMNS + 1;
    counted = 1000;
    assert_int_equal(run_slot(f), IFM_OK);
    assert_int_equal(it.columns[COLUMNS], 1 + INNER * SAMPLES); /* the slot's own untimed step is its */
    counted = 1000;
    assert_int_equal(ifm_energy_window(&windows, 1, &it.slot, it.samples, it.columns, &f->error), IFM_OK);
    assert_in_range(it.columns[COLUMNS], INNER * SAMPLES, INNER * SAMPLES + 1);
    arm->workload = opened;
    arm->implementation = by;
}

/* A window of the energy pass, its samples meeting or with pauses: instruments of its pass stand round all of it. */
static void instruments_stand_round_a_window(void **state)
{
    struct fixture *f = *state;
    open_cell(f);
    struct ifm_instant marks[2 * SAMPLES + 1];
    struct ifm_energy_windows windows = {.cell = &it.cell, .marks = marks, .before = 0};
    windows.arms[1] = (struct ifm_energy_arm){.inner = INNER, .samples = SAMPLES};
    assert_int_equal(ifm_energy_window(&windows, 1, &it.slot, it.samples, it.columns, &f->error), IFM_OK);
    assert_string_equal(it.log, "<H.....R>c");
    assert_int_equal(windows.before, 1);
    assert_int_equal(it.columns[1], 1000 * (1 + INNER * SAMPLES));
    assert_int_equal(it.slot.arm, 1);
    assert_int_equal(it.slot.samples, SAMPLES);
    assert_int_equal(it.slot.inner, INNER);
    assert_int_equal(it.slot.phase, IFM_PHASE_MEASURE);
    assert_ptr_equal(it.slot.columns, it.columns);
    for (int i = 0; i < SAMPLES; i++)
        assert_int_equal(it.samples[i].start_ns - it.slot.start_ns, i * (INNER * STEP_NS + MARK_NS));
    assert_int_equal(it.slot.end_ns - it.slot.start_ns, SAMPLES * (INNER * STEP_NS + MARK_NS));
    memset(it.log, 0, sizeof it.log);
    windows.arms[1].pause_s = 1e-4;
    assert_int_equal(ifm_energy_window(&windows, 1, &it.slot, it.samples, it.columns, &f->error), IFM_OK);
    assert_string_equal(it.log, "<H..RH..RH..RH..R>c"); /* let go in each pause, so that the device idles */
    for (int i = 0; i < SAMPLES; i++)
        assert_int_equal(it.samples[i].start_ns - it.slot.start_ns, i * (INNER * STEP_NS + 2 * MARK_NS));
    it.ops.resolve = lose;
    memset(it.log, 0, sizeof it.log);
    assert_int_equal(ifm_energy_window(&windows, 1, &it.slot, it.samples, it.columns, &f->error), IFM_INTERNAL);
    assert_string_equal(it.log, "<H..R>");
}

/* In a cold cell a ceiling that caches could serve is evicted for as an arm is; one that reads more than they hold, or
 * nothing, need not be. */
static void only_ceilings_beyond_the_caches_stay_warm(void **state)
{
    (void)state;
    const uint64_t llc = 32 << 20;
    const struct ifm_machine machine = {.cache_reported = {32 << 10, 1 << 20, llc}, .llc_instances = 1};
    const struct ifm_plan plan = {.machine = &machine};
    const struct ifm_session session = {.plan = &plan};
    struct ifm_arm arms[] = {{.role = IFM_ROLE_BASELINE, .working_set = 64 * llc},
                             {.role = IFM_ROLE_CEILING, .working_set = llc / 2},
                             {.role = IFM_ROLE_CEILING, .working_set = 4 * llc},
                             {.role = IFM_ROLE_CEILING, .working_set = 0}};
    static const bool cold[] = {true, true, false, false};
    struct ifm_cell cell = {.arms = arms, .n_arms = 4, .ceilings_apart = true, .measure = {.cache = IFM_CACHE_COLD}};
    struct ifm_arm_run runs[4] = {0};
    struct ifm_cell_run run = {.plan = &cell, .arms = runs, .session = (struct ifm_session *)(uintptr_t)&session};
    for (size_t i = 0; i < 4; i++) {
        runs[i].plan = &arms[i];
        assert_int_equal(ifm_slot_is_cold(&run, &runs[i]), cold[i]);
    }
    cell.measure.cache = IFM_CACHE_HOT;
    assert_false(ifm_slot_is_cold(&run, &runs[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_of_a_hot_slot_meet, set_up, close_cell),
        cmocka_unit_test_setup_teardown(caches_are_evicted_before_each_cold_sample, set_up, close_cell),
        cmocka_unit_test_setup_teardown(samples_with_gaps_stand_apart_in_warm_caches, set_up, close_cell),
        cmocka_unit_test_setup_teardown(the_last_sample_apart_may_be_the_only_one_that_is_counted, set_up, close_cell),
        cmocka_unit_test_setup_teardown(tickets_become_times_before_the_release, set_up, close_cell),
        cmocka_unit_test_setup_teardown(a_device_that_fails_is_let_go_and_nothing_is_collected, set_up, close_cell),
        cmocka_unit_test_setup_teardown(what_was_counted_before_a_slot_is_not_in_it, set_up, close_cell),
        cmocka_unit_test_setup_teardown(instruments_stand_round_a_window, set_up, close_cell),
        cmocka_unit_test_setup_teardown(own_columns_of_another_workload_are_absent, set_up, close_cell),
        cmocka_unit_test(only_ceilings_beyond_the_caches_stay_warm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
