/* What measures more blocks, by what ended the cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/longer.h"
#include "unit/events.h"

/* Two arms that take the same, told as calibration tells them. */
struct run {
    const char *reason;
    int blocks, samples, rows;
    double sample_ns, slower; /* how many times as long the second arm's is */
    struct ifm_measure measure;
};

static void add_calibration(json_t *lines, const struct run *run, const char *arm, double ns)
{
    json_array_append_new(lines,
                          json_pack("{s:s, s:{s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:i}}", "stage", "calibrate", "meta",
                                    "cell", "null", "arm", arm, "inner", 1, "samples_per_slot", run->samples, "step_ns",
                                    ns, "clock_ns", 20.0, "clock_tick_ns", 1.0, "rows", run->rows));
}

static void assert_longer(const struct run *run, const char *workload, double times, const char *text)
{
    struct ifm_arena *arena = ifm_arena_create();
    json_t *lines = json_array();
    struct ifm_arm arms[] = {{.name = "base", .role = IFM_ROLE_BASELINE}, {.name = "fast", .role = IFM_ROLE_VARIANT}};
    const struct ifm_cell cell = {
        .name = "null", .workload = workload, .arms = arms, .n_arms = 2, .measure = run->measure};
    add_calibration(lines, run, "base", run->sample_ns);
    add_calibration(lines, run, "fast", run->sample_ns * run->slower);
    json_array_append_new(lines, json_pack("{s:s, s:{s:s, s:s, s:i, s:f, s:f, s:f}}", "stage", "stop", "meta", "cell",
                                           "null", "reason", run->reason, "blocks", run->blocks, "elapsed_s", 4.0,
                                           "mde", 0.01, "wanted_mde", 0.01));
    assert_string_equal(ifm_longer(&cell, events_of(lines, arena), times, arena), text);
    json_decref(lines);
    ifm_arena_destroy(arena);
}

/* A longer cap moves only what the cap has ended. */
static void what_ended_it_is_moved(void **state)
{
    (void)state;
    const struct ifm_measure measure = {
        .repeats = 1000, .cap_s = 10, .blocks_max = 10000, .margin = 0.003, .slot_min_s = 0.002};
    struct run run = {"cap", 100, 1, 2, 1e7, 1.006, measure};
    assert_longer(&run, "command", 2, "--cap 8s");
    assert_longer(&run, "session", 2, "measure.cap=8s");
    run.measure.blocks_max = 150;
    assert_longer(&run, "command", 2, "--cap 8s --override measure.blocks_max=200");
    run.reason = "blocks_max";
    assert_longer(&run, "command", 2, "--override measure.blocks_max=300");
    assert_longer(&run, "command", 4, "--override measure.blocks_max=600 --cap 20s");
    run.reason = "group";
    assert_longer(&run, "session", 2, "measure.blocks_max=300");
    run.reason = "mde"; /* 0.003 of it is the margin */
    assert_longer(&run, "command", 2, "--mde 0.0079");
    run.reason = "decided";
    assert_longer(&run, "command", 2, "--repeats 400 --slot-steps 1");
    run.rows = 1; /* half as many slots of each arm */
    assert_longer(&run, "command", 2, "--repeats 200 --slot-steps 1");
    run.reason = "";
    assert_longer(&run, "command", 2, "");
}

/* Repeats make blocks only where their slots do not grow: measure.slot_min holds more steps than few repeats left. */
static void slots_stay_as_they_were(void **state)
{
    (void)state;
    const struct ifm_measure measure = {.stop = IFM_STOP_REPEATS, .repeats = 100, .slot_min_s = 0.002};
    struct run run = {"repeats", 25, 2, 2, 50000, 1.006, measure};
    assert_longer(&run, "command", 3, "--repeats 300 --slot-steps 2 --override measure.slot_min=0s");
    assert_longer(&run, "session", 3, "measure.repeats=300, measure.slot_steps=2, measure.slot_min=0s");
    run.measure.slot_min_s = 0;
    assert_longer(&run, "command", 3, "--repeats 300 --slot-steps 2");
    run.measure.slot_steps = 2;
    assert_longer(&run, "command", 3, "--repeats 300");
    run = (struct run){"repeats", 6, 50, 2, 10000, 1, measure}; /* 12 were asked for, and few repeats left 50 */
    run.measure.slot_steps = 12;
    assert_longer(&run, "command", 3, "--repeats 2000 --slot-steps 50 --override measure.slot_min=0s");
    run = (struct run){"repeats", 25, 2, 2, 1e7, 2, measure}; /* all slots last as long as the slowest arm's */
    assert_longer(&run, "command", 3, "--repeats 300 --slot-steps 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ended_it_is_moved),
        cmocka_unit_test(slots_stay_as_they_were),
    };
    return cmocka_run_group_tests_name("longer", tests, NULL, NULL);
}
