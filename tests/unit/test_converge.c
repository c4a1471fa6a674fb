/* The gate of power and temperature, and pre-rolls, on the scripted device with a scripted gauge: levels that settle,
 * swing or are missing, heat, the cap on the time, and which slots are preceded by what. */
#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "run/cell/calibrate.h"
#include "run/pass/converge.h"
#include "run/pass/pass.h"
#include "sample/journal.h"
#include "unit/events.h"
#include "unit/facts.h"
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READING_NS = 20000000, ARMS = 3 };
static const char *const names[ARMS] = {"quick", "slow", "like"};

struct fixture {
    char dir[32];
    struct ifm_arm arms[ARMS];
    struct ifm_pass pass;
    struct ifm_cell plan;
    struct ifm_device_options options;
    struct ifm_device *device;
    struct ifm_session session;
    struct ifm_cell_run cell;
    struct ifm_gauge gauge;
    struct ifm_converge converge;
    struct ifm_error error;
    json_t *events;
    /* the gauge's script */
    double watts[ARMS], mhz[ARMS], tau_s, swing, kelvin_per_s;
    bool silent;
    unsigned read_of; /* the arm that drew power at the last reading */
    double now_w;
    int64_t read_ns;
};

/* One reading every 20 ms of the device's clock: towards the level of the arm at work, with a time constant. */
static size_t scripted_watts(void *context, struct ifm_power_point *points, size_t room)
{
    struct fixture *f = context;
    int64_t now_ns = f->device->ops->mark(f->device).ns;
    size_t n = 0;
    unsigned arm = 0;
    while (arm < ARMS - 1 && (f->session.at_work == NULL || strcmp(names[arm], f->session.at_work) != 0))
        arm++;
    f->read_of = arm;
    for (; !f->silent && f->read_ns + READING_NS <= now_ns && n < room; n++) {
        f->read_ns += READING_NS;
        f->now_w += (f->watts[arm] - f->now_w) * (f->tau_s > 0 ? 1 - exp(-READING_NS * 1e-9 / f->tau_s) : 1);
        double swing = (f->read_ns / READING_NS) % 2 == 0 ? f->swing : -f->swing;
        points[n] = (struct ifm_power_point){f->read_ns, 1000, f->now_w * (1 + swing)};
    }
    return n;
}

static int64_t scripted_temperature(void *context)
{
    const struct fixture *f = context;
    if (f->kelvin_per_s < 0)
        return IFM_ABSENT;
    double seconds = (double)f->device->ops->mark(f->device).ns * 1e-9;
    return 1000 * (int64_t)(40 + f->kelvin_per_s * seconds); /* whole degrees */
}

/* Of the arm that the gate asks about: it reads power of that one last. */
static double scripted_mhz(void *context)
{
    const struct fixture *f = context;
    return f->mhz[f->read_of];
}

static int set_up(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    strcpy(f.dir, "/tmp/ifm-converge-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    for (int i = 0; i < ARMS; i++)
        f.arms[i] = (struct ifm_arm){.name = names[i],
                                     .workload = "null",
                                     .implementation = "script",
                                     .variant = "",
                                     .feature = "",
                                     .equals = "",
                                     .role = i == 0 ? IFM_ROLE_BASELINE : IFM_ROLE_VARIANT};
    f.pass = (struct ifm_pass){.kind = IFM_PASS_LATENCY};
    f.plan = (struct ifm_cell){.name = "null",
                               .workload = "null",
                               .threads = 1,
                               .seed = 3,
                               .arms = f.arms,
                               .n_arms = 2,
                               .passes = &f.pass,
                               .n_passes = 1,
                               .unsupported = "",
                               .measure = {.warmup = 5,
                                           .warmup_cap_s = 6,
                                           .steady_tolerance = 0.05,
                                           .stop = IFM_STOP_REPEATS,
                                           .repeats = 100,
                                           .blocks_min = 6,
                                           .blocks_max = 1000,
                                           .slot_steps = 5,
                                           .slot_min_s = 1e-3,
                                           .pre_roll_s = 1}};
    f.options =
        (struct ifm_device_options){.threads = 1, .seed = 9, .script = "step_ns=100000; arm.slow.step_ns=200000"};
    f.watts[0] = 300;
    f.watts[1] = 600;
    f.watts[2] = 310;
    f.kelvin_per_s = 0;
    f.gauge = (struct ifm_gauge){.device = "gpu0",
                                 .source = "script",
                                 .limit_w = 700,
                                 .watts = scripted_watts,
                                 .temperature_mc = scripted_temperature,
                                 .context = &f};
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
    struct fixture *f = *state;
    json_decref(f->events);
    if (f->device != NULL) {
        ifm_cell_close(&f->cell);
        f->device->ops->close(f->device);
    }
    return nftw(f->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void open_cell(struct fixture *f)
{
    assert_int_equal(ifm_device_find("fake")->open(&f->options, &f->device, &f->error), IFM_OK);
    assert_int_equal(ifm_journal_open(f->dir, &f->session.journal, &f->error), IFM_OK);
    f->session.device = &f->options;
    f->session.base = f->device->ops->mark(f->device);
    assert_int_equal(ifm_cell_open(&f->plan, f->device, &f->session, &f->cell, &f->error), IFM_OK);
    assert_int_equal(ifm_cell_calibrate(&f->cell, NULL, &f->error), IFM_OK);
    f->read_ns = f->device->ops->mark(f->device).ns;
}

static double now_s(const struct fixture *f)
{
    return (double)f->device->ops->mark(f->device).ns * 1e-9;
}

/* Run the gate; returns the seconds that it took. */
static double gate(struct fixture *f, bool has_gauge, double used_s)
{
    open_cell(f);
    double start_s = now_s(f);
    assert_int_equal(
        ifm_converge(&f->cell, has_gauge ? &f->gauge : NULL, "nobody says", "ask", used_s, &f->converge, &f->error),
        IFM_OK);
    double took_s = now_s(f) - start_s;
    ifm_journal_close(f->session.journal);
    f->session.journal = NULL;
    f->events = events_read(f->dir);
    return took_s;
}

/* The meta of the n-th event of a stage, or NULL. */
static const json_t *event(const struct fixture *f, const char *stage, size_t n)
{
    for (size_t i = 0; i < json_array_size(f->events); i++) {
        const json_t *one = json_array_get(f->events, i);
        if (strcmp(json_string_value(json_object_get(one, "stage")), stage) == 0 && n-- == 0)
            return json_object_get(one, "meta");
    }
    return NULL;
}

static double real(const json_t *meta, const char *key)
{
    const json_t *value = json_object_get(meta, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static const char *text(const json_t *meta, const char *key)
{
    assert_true(json_is_string(json_object_get(meta, key)));
    return json_string_value(json_object_get(meta, key));
}

/* Seconds that the device spends before a slot of the arm. */
static double rolled(struct fixture *f, unsigned arm)
{
    double start_s = now_s(f);
    assert_int_equal(ifm_converge_pre_roll(&f->converge, arm, &f->error), IFM_OK);
    return now_s(f) - start_s;
}

/* ---- levels, and the order of pre-rolls ---- */

static void two_levels_have_pre_rolls_where_the_arm_changes(void **state)
{
    struct fixture *f = *state;
    double took_s = gate(f, true, 0);
    assert_true(took_s >= 2 && took_s < 2.3);
    for (size_t i = 0; i < 2; i++) {
        const json_t *meta = event(f, "converge", i);
        assert_string_equal(text(meta, "arm"), names[i]);
        assert_string_equal(text(meta, "device"), "gpu0");
        assert_string_equal(text(meta, "source"), "script");
        assert_true(fabs(real(meta, "watts") - f->watts[i]) < 1e-6);
        assert_true(real(meta, "sd_w") < 1e-6);
        assert_true(real(meta, "temperature_c") == 40 && fabs(real(meta, "slope_k_per_s")) < 1e-9);
        assert_true(real(meta, "limit_w") == 700);
        assert_true(real(meta, "seconds") >= 1 && real(meta, "seconds") < 1.15);
        assert_true(json_is_true(json_object_get(meta, "steady")));
    }
    assert_null(event(f, "converge", 2));
    const json_t *roll = event(f, "pre_roll", 0);
    assert_int_equal(json_array_size(json_object_get(roll, "arms")), 2);
    assert_true(real(roll, "seconds") == 1);
    assert_non_null(strstr(text(roll, "reason"), "differ by 50.0 %, more than 5 %"));
    assert_true(rolled(f, 1) < 1e-3); /* it ran last in the gate */
    assert_true(rolled(f, 0) >= 1);
    assert_true(rolled(f, 0) < 1e-3);
    double again_s = rolled(f, 1);
    assert_true(again_s >= 1 && again_s < 1.1);
}

static void arms_of_one_level_have_none(void **state)
{
    struct fixture *f = *state;
    f->watts[1] = 312; /* 3.8 % of the higher one */
    gate(f, true, 0);
    const json_t *roll = event(f, "pre_roll", 0);
    assert_int_equal(json_array_size(json_object_get(roll, "arms")), 0);
    assert_true(real(roll, "seconds") == 0);
    assert_non_null(strstr(text(roll, "reason"), "within 5 % (3.8 %)"));
    assert_true(rolled(f, 0) < 1e-3 && rolled(f, 1) < 1e-3);
}

/* At the limit all draw the same, and the clocks that this leaves them tell the arms apart; far below it, or where no
 * clock is known, nothing does. */
static void clocks_tell_arms_at_the_limit_apart(void **state)
{
    struct fixture *f = *state;
    f->watts[0] = f->watts[1] = 690;
    f->mhz[0] = 1800;
    f->mhz[1] = 1500;
    f->gauge.mhz = scripted_mhz;
    gate(f, true, 0);
    for (size_t i = 0; i < 2; i++)
        assert_true(real(event(f, "converge", i), "clock_mhz") == f->mhz[i]);
    const json_t *roll = event(f, "pre_roll", 0);
    assert_int_equal(json_array_size(json_object_get(roll, "arms")), 2);
    assert_non_null(strstr(text(roll, "reason"), "clocks differ by 16.7 %, more than 5 %"));
    assert_true(rolled(f, 0) >= 1 && rolled(f, 1) >= 1);
}

static void clocks_within_five_percent_are_one_level(void **state)
{
    struct fixture *f = *state;
    f->watts[0] = f->watts[1] = 690;
    f->mhz[0] = 1800;
    f->mhz[1] = 1730;
    f->gauge.mhz = scripted_mhz;
    gate(f, true, 0);
    assert_non_null(strstr(text(event(f, "pre_roll", 0), "reason"), "the arms' clocks are within 5 % (3.9 %)"));
    assert_true(rolled(f, 0) < 1e-3);
}

static void an_unknown_clock_is_no_level(void **state)
{
    struct fixture *f = *state;
    f->watts[0] = f->watts[1] = 690;
    f->mhz[0] = 1800;
    f->mhz[1] = NAN;
    f->gauge.mhz = scripted_mhz;
    gate(f, true, 0);
    assert_null(json_object_get(event(f, "converge", 1), "clock_mhz"));
    assert_non_null(strstr(text(event(f, "pre_roll", 0), "reason"), "levels of power are within 5 %"));
    assert_true(rolled(f, 0) < 1e-3);
}

/* Six blocks end by the cap of six seconds: changes of arms in the first sixteen blocks say how long a roll may be. */
static void a_cap_shortens_them(void **state)
{
    struct fixture *f = *state;
    unsigned order[2 * ARMS], last = 1, rolls = 0;
    for (unsigned block = 0; block < 16; block++) {
        ifm_plan_order(&f->plan, block, order);
        for (unsigned i = 0; i < 4; i++) {
            rolls += order[i] != last;
            last = order[i];
        }
    }
    f->plan.measure.stop = IFM_STOP_MDE;
    f->plan.measure.cap_s = 6;
    gate(f, true, 0);
    const double seconds = real(event(f, "pre_roll", 0), "seconds");
    assert_true(fabs(seconds - 16.0 / rolls) < 1e-9 && seconds > 0.3 && seconds < 1);
    const double took_s = rolled(f, 0);
    assert_true(took_s >= seconds && took_s < seconds + 0.1);
}

static void no_cap_takes_what_a_clock_needs(void **state)
{
    struct fixture *f = *state;
    f->plan.measure.stop = IFM_STOP_MDE;
    f->plan.measure.cap_s = 1;
    gate(f, true, 0);
    assert_true(real(event(f, "pre_roll", 0), "seconds") == 0.3);
    assert_non_null(strstr(text(event(f, "pre_roll", 0), "reason"), "more than 5 %; shortened for measure.cap"));
    assert_true(rolled(f, 0) >= 0.3);
}

static void a_level_just_beyond_five_percent_is_another(void **state)
{
    struct fixture *f = *state;
    f->watts[1] = 317; /* 5.4 % of the higher one */
    f->gauge.limit_w = 370;
    gate(f, true, 0);
    assert_int_equal(json_array_size(json_object_get(event(f, "pre_roll", 0), "arms")), 2);
    assert_true(rolled(f, 0) >= 1);
}

static void levels_far_below_the_limit_need_none(void **state)
{
    struct fixture *f = *state;
    f->gauge.limit_w = 710; /* 600 W are 84.5 % of it */
    gate(f, true, 0);
    const json_t *roll = event(f, "pre_roll", 0);
    assert_int_equal(json_array_size(json_object_get(roll, "arms")), 2);
    assert_true(real(roll, "seconds") == 0);
    assert_non_null(strstr(text(roll, "reason"), "all are below 85 % of the limit"));
    assert_true(rolled(f, 0) < 1e-3 && rolled(f, 1) < 1e-3);
}

/* Three arms: quick and like have one level; slow has another, so all differ from some arm. */
static void only_a_change_of_level_is_rolled(void **state)
{
    struct fixture *f = *state;
    f->plan.n_arms = 3;
    gate(f, true, 0);
    assert_int_equal(json_array_size(json_object_get(event(f, "pre_roll", 0), "arms")), 3);
    assert_true(rolled(f, 0) < 1e-3); /* like -> quick */
    assert_true(rolled(f, 1) >= 1);
    assert_true(rolled(f, 2) >= 1);
    assert_true(rolled(f, 0) < 1e-3);
}

static void a_setting_of_zero_leaves_them_out_and_says_so(void **state)
{
    struct fixture *f = *state;
    f->plan.measure.pre_roll_s = 0;
    double took_s = gate(f, true, 0);
    assert_true(took_s >= 2 && took_s < 2.3); /* the gate itself is not left out */
    const json_t *roll = event(f, "pre_roll", 0);
    assert_int_equal(json_array_size(json_object_get(roll, "arms")), 2);
    assert_true(real(roll, "seconds") == 0);
    assert_facts(text(roll, "reason"), "measure.pre_roll=0");
    assert_true(rolled(f, 0) < 1e-3 && rolled(f, 1) < 1e-3);
}

/* Blocks of the pass itself: as many pre-rolls as the plan's order has changes, and none is in the record. */
static void the_blocks_of_a_pass_are_rolled_in_the_plans_order(void **state)
{
    struct fixture *f = *state;
    struct ifm_pass_run pass;
    gate(f, true, 0);
    ifm_pass_init(&pass, &f->cell, &f->pass);
    pass.converge = f->converge;
    unsigned last = 1, order[2 * ARMS], rolls = 0;
    double start_s = now_s(f);
    for (unsigned block = 0; block < 4; block++) {
        ifm_plan_order(&f->plan, block, order);
        for (unsigned i = 0; i < 4; i++) {
            rolls += order[i] != last;
            last = order[i];
        }
        assert_int_equal(ifm_pass_block(&pass, &f->error), IFM_OK);
        for (unsigned i = 0; i < 4; i++) /* five samples of one step, or the ten that a millisecond takes */
            assert_true(f->cell.slots[i].end_ns - f->cell.slots[i].start_ns < 5000000);
        for (unsigned i = 1; i < 4; i++) {
            int64_t gap = f->cell.slots[i].start_ns - f->cell.slots[i - 1].end_ns;
            assert_int_equal(gap >= 1000000000, order[i] != order[i - 1]);
        }
    }
    double took_s = now_s(f) - start_s;
    assert_true(rolls >= 8);
    assert_true(took_s >= rolls && took_s < rolls * 1.05 + 0.2);
    ifm_pass_close(&pass);
}

/* ---- settling ---- */

static void the_gate_goes_on_until_power_has_settled(void **state)
{
    struct fixture *f = *state;
    f->tau_s = 0.5;
    gate(f, true, 0);
    for (size_t i = 0; i < 2; i++) {
        const json_t *meta = event(f, "converge", i);
        assert_true(json_is_true(json_object_get(meta, "steady")));
        assert_true(real(meta, "seconds") > 1.2 && real(meta, "seconds") < 3);
        assert_true(real(meta, "sd_w") <= IFM_CONVERGE_SPREAD * real(meta, "watts"));
        assert_true(fabs(real(meta, "watts") / f->watts[i] - 1) < 0.1);
    }
}

static void what_never_settles_ends_at_the_cap_and_is_not_steady(void **state)
{
    struct fixture *f = *state;
    f->swing = 0.1;
    double took_s = gate(f, true, 1.5);
    assert_true(took_s >= 4.4 && took_s <= 4.5 + 2 * 0.1); /* 6 s, of which the warm-up took 1.5 */
    for (size_t i = 0; i < 2; i++) {
        const json_t *meta = event(f, "converge", i);
        assert_false(json_is_true(json_object_get(meta, "steady")));
        assert_true(fabs(real(meta, "sd_w") / real(meta, "watts") - 0.1) < 0.01);
        assert_true(real(meta, "seconds") >= 1); /* no arm takes another one's turn */
    }
    assert_non_null(event(f, "pre_roll", 0));
}

static void heat_keeps_the_gate_open(void **state)
{
    struct fixture *f = *state;
    f->kelvin_per_s = 2;
    gate(f, true, 0);
    const json_t *meta = event(f, "converge", 1);
    assert_false(json_is_true(json_object_get(meta, "steady")));
    assert_true(fabs(real(meta, "slope_k_per_s") - 2) < 0.4);
}

/* One step of a sensor of whole degrees is no slope. */
static void a_kelvin_is_no_heat(void **state)
{
    struct fixture *f = *state;
    f->kelvin_per_s = 0.3;
    gate(f, true, 0);
    assert_true(json_is_true(json_object_get(event(f, "converge", 0), "steady")));
    assert_true(json_is_true(json_object_get(event(f, "converge", 1), "steady")));
}

static void without_a_thermometer_power_alone_decides(void **state)
{
    struct fixture *f = *state;
    f->kelvin_per_s = -1;
    f->gauge.limit_w = 0;
    gate(f, true, 0);
    const json_t *meta = event(f, "converge", 0);
    assert_true(json_is_true(json_object_get(meta, "steady")));
    assert_true(json_is_null(json_object_get(meta, "temperature_c")));
    assert_true(json_is_null(json_object_get(meta, "slope_k_per_s")));
    assert_true(json_is_null(json_object_get(meta, "limit_w")));
}

/* ---- what cannot be ---- */

static void without_a_gauge_no_time_is_spent(void **state)
{
    struct fixture *f = *state;
    assert_true(gate(f, false, 0) < 1e-3);
    assert_string_equal(text(event(f, "converge", 0), "reason"), "nobody says");
    assert_string_equal(text(event(f, "converge", 0), "remedy"), "ask");
    assert_null(json_object_get(event(f, "converge", 0), "arm"));
    assert_null(event(f, "converge", 1));
    assert_null(event(f, "pre_roll", 0));
    assert_true(rolled(f, 0) < 1e-3 && rolled(f, 1) < 1e-3);
}

static void a_silent_sensor_is_given_up(void **state)
{
    struct fixture *f = *state;
    f->silent = true;
    gate(f, true, 0);
    assert_facts(text(event(f, "converge", 0), "reason"), "script|gpu0|no reading");
    assert_null(event(f, "converge", 1));
    assert_true(rolled(f, 0) < 1e-3 && rolled(f, 1) < 1e-3);
}

static void too_little_time_is_said_and_not_spent(void **state)
{
    struct fixture *f = *state;
    assert_true(gate(f, true, 5.5) < 1e-3);
    assert_facts(text(event(f, "converge", 0), "reason"), "0.50 s|2 levels");
    assert_null(event(f, "pre_roll", 0));
}

static void short_turns_fit_into_the_cap(void **state)
{
    struct fixture *f = *state;
    double took_s = gate(f, true, 5);
    assert_true(took_s >= 0.9 && took_s < 1.2);
    assert_true(fabs(real(event(f, "converge", 1), "watts") - 600) < 1e-6);
    assert_true(rolled(f, 0) >= 1); /* the levels are known, and the pre-roll is as long as ever */
}

static void a_scripted_device_has_no_gate(void **state)
{
    struct fixture *f = *state;
    double gate_s, block_s;
    open_cell(f);
    double start_s = now_s(f);
    assert_int_equal(ifm_converge_here(&f->cell, 0, &f->converge, &f->error), IFM_OK);
    assert_int_equal(ifm_converge_estimate(&f->cell, 0, &gate_s, &block_s, &f->error), IFM_OK);
    assert_true(gate_s == 0 && block_s == 0);
    assert_true(now_s(f) - start_s < 1e-3);
    assert_true(rolled(f, 0) < 1e-3 && rolled(f, 1) < 1e-3);
    ifm_journal_close(f->session.journal);
    f->events = events_read(f->dir);
    assert_null(event(f, "converge", 0));
}

/* A step that waited for a CPU would give its arm one sample a slot: one of two that did not is enough. */
static void one_slow_step_does_not_size_slots(void **state)
{
    enum { CELLS = 40 };
    unsigned slow = 0;
    for (unsigned i = 0; i < CELLS; i++) {
        struct fixture *f = *state;
        f->options.script = "step_ns=2000000; slow=0.3; slow_times=50";
        f->options.seed = i + 1;
        open_cell(f);
        for (unsigned a = 0; a < f->plan.n_arms; a++)
            slow += f->cell.arms[a].step_ns > 5e7;
        ifm_journal_close(f->session.journal);
        if (i + 1 < CELLS) {
            assert_int_equal(tear_down(state), 0);
            assert_int_equal(set_up(state), 0);
        }
    }
    assert_true(slow > 0 && slow < 0.1 * CELLS * 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_levels_have_pre_rolls_where_the_arm_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arms_of_one_level_have_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_level_just_beyond_five_percent_is_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clocks_tell_arms_at_the_limit_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clocks_within_five_percent_are_one_level, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_clock_is_no_level, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cap_shortens_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_cap_takes_what_a_clock_needs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(levels_far_below_the_limit_need_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_a_change_of_level_is_rolled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_setting_of_zero_leaves_them_out_and_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_blocks_of_a_pass_are_rolled_in_the_plans_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_gate_goes_on_until_power_has_settled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_never_settles_ends_at_the_cap_and_is_not_steady, set_up, tear_down),
        cmocka_unit_test_setup_teardown(heat_keeps_the_gate_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kelvin_is_no_heat, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_thermometer_power_alone_decides, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_gauge_no_time_is_spent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_silent_sensor_is_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_little_time_is_said_and_not_spent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_turns_fit_into_the_cap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_scripted_device_has_no_gate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_slow_step_does_not_size_slots, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
