/* The session API on the scripted device: the order that it asks for, the record that it leaves, and every misuse. */
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "facts.h"
#include "inferometer/session.h"
#include "model/plan_json.h"
#include "sample/journal.h"
#include "sample/record.h"
#include "unit/events.h"
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAKE(script, rest) "device:\n  kind: fake\n  script: '" script "'\nmeasure:\n  cap: 3s\n" rest
#define GATED(noise, most)                                                                                             \
    FAKE("step_ns=100000; noise=" noise, "gates: [{metric: step_ns, op: at_most, threshold: " most "}]")
#define TWICE FAKE("step_ns=100000; noise=0.01; arm.b.step_ns=200000", "  mde: 0.02\n  slot_min: 1ms\n")

struct fixture {
    char dir[32], run[64];
    struct inferometer_session *session;
};

static int set_up(void **state)
{
    static struct fixture f;
    memset(&f, 0, sizeof f);
    strcpy(f.dir, "/tmp/ifm-session-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    snprintf(f.run, sizeof f.run, "%s/run", f.dir);
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
    inferometer_close(f->session);
    return nftw(f->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void open_two(struct fixture *f, const char *options)
{
    f->session = inferometer_open(f->run, options);
    if (f->session == NULL)
        fail_msg("%s", inferometer_message(NULL));
    assert_int_equal(inferometer_arm(f->session, "a"), 0);
    assert_int_equal(inferometer_arm(f->session, "b"), 1);
}

static void close_it(struct fixture *f)
{
    assert_int_equal(inferometer_close(f->session), INFEROMETER_OK);
    f->session = NULL;
}

static void window(struct fixture *f, uint64_t tokens)
{
    assert_int_equal(inferometer_begin(f->session), INFEROMETER_OK);
    assert_int_equal(inferometer_end(f->session, tokens), INFEROMETER_OK);
}

/* At most `most` windows; what next said last. */
static int drive(struct fixture *f, int most, uint64_t tokens)
{
    int arm = 0;
    for (int i = 0; i < most && (arm = inferometer_next(f->session)) >= 0; i++)
        window(f, tokens);
    return arm;
}

static void says(struct fixture *f, const char *facts)
{
    if (!facts_stand(inferometer_message(f->session), facts, NULL))
        fail_msg("\"%s\" is not in: %s", facts, inferometer_message(f->session));
}

static json_t *lines_of(struct fixture *f)
{
    return events_read(f->run);
}

static const json_t *last_event(const json_t *events, const char *stage)
{
    for (size_t i = json_array_size(events); i-- > 0;)
        if (strcmp(json_string_value(json_object_get(json_array_get(events, i), "stage")), stage) == 0)
            return json_object_get(json_array_get(events, i), "meta");
    return NULL;
}

static void a_slower_arm_is_found(void **state)
{
    struct fixture *f = *state;
    struct inferometer_result r = {.size = sizeof r};
    struct inferometer_value v = {.size = sizeof v};
    open_two(f, TWICE);
    assert_string_equal(inferometer_dir(f->session), "");
    assert_int_equal(drive(f, 1000000, 7), INFEROMETER_END);
    assert_int_equal(inferometer_next(f->session), INFEROMETER_END);
    assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_OK);
    assert_string_equal(r.word, "slower");
    assert_true(r.has_change && r.has_mde && r.change_low < 100 && r.change_high > 100);
    assert_true(r.change_percent > 97 && r.change_percent < 103);
    assert_int_equal(r.outcome, INFEROMETER_NOT_GATED);
    assert_true(r.blocks >= 6); /* clear at the first look */
    assert_string_equal(r.dir, f->run);
    assert_true(ifm_file_exists(r.report));
    assert_int_equal(inferometer_metric(f->session, 1, "tokens_generated_per_s", &v), INFEROMETER_OK);
    assert_int_equal(v.state, INFEROMETER_STATE_OK);
    assert_true(v.number > 7 / 210e-6 && v.number < 7 / 190e-6);
    assert_int_equal(inferometer_metric(f->session, 0, "change_percent", &v), INFEROMETER_OK);
    assert_int_equal(v.state, INFEROMETER_STATE_ABSENT);
    assert_true(v.reason[0] != '\0');
    /* once more gives the same answer */
    struct inferometer_result again = {.size = sizeof again};
    assert_int_equal(inferometer_judge(f->session, &again), INFEROMETER_OK);
    assert_true(again.change_percent == r.change_percent);
    close_it(f);
}

/* Slots are mirrored in blocks of the plan's order, each begins with an untimed window, and gaps lie between windows.
 */
static void the_record_is_an_ordinary_one(void **state)
{
    struct fixture *f = *state;
    struct ifm_record record;
    struct ifm_error error;
    struct ifm_plan *plan;
    json_t *json;
    unsigned order[4], block = 0;
    open_two(f, TWICE);
    assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
    assert_int_equal(inferometer_judge(f->session, NULL), INFEROMETER_OK);
    assert_int_equal(ifm_record_load(f->run, 0, "latency", &record, &error), IFM_OK);
    struct ifm_arena *arena = ifm_arena_create();
    assert_int_equal(ifm_json_read(ifm_path_join(arena, f->run, "plan.json"), &json, &error), IFM_OK);
    assert_int_equal(ifm_plan_from_json(json, "plan.json", arena, &plan, &error), IFM_OK);
    assert_true(plan->cells[0].arms[1].gaps);
    for (size_t k = 0; k < record.n_slots; k++) {
        assert_true(record.slots[k].samples >= 5);
        assert_int_equal(record.slots[k].inner, 1);
        assert_true(record.slots[k].end_ns - record.slots[k].start_ns >= 900000);
        if (k > 0) /* the untimed window */
            assert_true(record.slots[k].start_ns - record.slots[k - 1].end_ns >= 80000);
        if (record.slots[k].phase != IFM_PHASE_MEASURE)
            continue;
        if (block % 4 == 0)
            ifm_plan_order(&plan->cells[0], block / 4, order);
        assert_int_equal(record.slots[k].arm, order[block++ % 4]);
    }
    assert_true(block >= 24);
    json_decref(json);
    ifm_arena_destroy(arena);
    ifm_record_free(&record);
    close_it(f);
}

/* The outcomes of the public header keep their numbers, whatever those of the lab are. */
static void one_arm_with_a_gate_is_judged(void **state)
{
    struct fixture *f = *state;
    for (int noisy = 0; noisy < 2; noisy++) {
        struct inferometer_result r = {.size = sizeof r};
        snprintf(f->run, sizeof f->run, "%s/%d", f->dir, noisy);
        f->session = inferometer_open(f->run, noisy ? GATED("0.3", "104600") : GATED("0.01", "1"));
        assert_int_equal(inferometer_arm(f->session, "only"), 0);
        assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
        assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_OK);
        assert_int_equal(r.outcome, noisy ? INFEROMETER_INCONCLUSIVE : INFEROMETER_FAIL);
        assert_int_equal(r.exit_code, noisy ? 3 : 1);
        assert_string_equal(r.word, "");
        assert_facts(r.reason, "one arm");
        close_it(f);
    }
}

static void a_lossy_arm_needs_its_error(void **state)
{
    struct fixture *f = *state;
    struct inferometer_result r = {.size = sizeof r};
    struct inferometer_value v = {.size = sizeof v};
    for (int with = 0; with < 2; with++) {
        snprintf(f->run, sizeof f->run, "%s/run%d", f->dir, with);
        open_two(f, TWICE);
        assert_int_equal(inferometer_lossy(f->session, 1, 0.01), INFEROMETER_OK);
        assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
        if (with)
            assert_int_equal(inferometer_error(f->session, 1, 1e-4, 1e-3, 100), INFEROMETER_OK);
        assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_OK);
        assert_int_equal(r.has_change, with);
        assert_int_equal(inferometer_metric(f->session, 1, "error_max_rel", &v), INFEROMETER_OK);
        assert_int_equal(v.state, with ? INFEROMETER_STATE_OK : INFEROMETER_STATE_ABSENT);
        if (!with)
            assert_facts(r.reason, "rule-10");
        close_it(f);
    }
}

/* Case 0: other bytes; 1: the same; 2: none given. */
static void an_output_that_must_be_equal_is_held_to_it(void **state)
{
    struct fixture *f = *state;
    struct inferometer_result r = {.size = sizeof r};
    for (int which = 0; which < 3; which++) {
        snprintf(f->run, sizeof f->run, "%s/run%d", f->dir, which);
        open_two(f, TWICE);
        assert_int_equal(inferometer_equal(f->session, 1, 0), INFEROMETER_OK);
        assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
        for (int arm = 0; arm < 2; arm++) {
            assert_int_equal(inferometer_error(f->session, arm, 0, 0, 1), INFEROMETER_OK);
            if (which < 2)
                assert_int_equal(inferometer_output(f->session, arm, which == 0 && arm == 1 ? "x" : "y", 1),
                                 INFEROMETER_OK);
        }
        assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_OK);
        assert_int_equal(r.has_change, which == 1);
        if (which != 1)
            assert_non_null(strstr(r.reason, which == 0 ? "differs" : "not checked"));
        close_it(f);
    }
}

static void arms_of_other_amounts_are_not_compared(void **state)
{
    struct fixture *f = *state;
    struct inferometer_result r = {.size = sizeof r};
    int arm;
    open_two(f, TWICE);
    while ((arm = inferometer_next(f->session)) >= 0)
        window(f, arm == 0 ? 4 : 5);
    assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_OK);
    assert_int_equal(r.has_change, 0);
    assert_non_null(strstr(r.reason, "rule-12"));
    close_it(f);
}

static void an_arm_measures_one_thing(void **state)
{
    struct fixture *f = *state;
    open_two(f, TWICE);
    assert_int_equal(drive(f, 100, 7) >= 0, 1);
    const char *name = inferometer_next(f->session) == 0 ? "arm 'a'" : "arm 'b'";
    assert_int_equal(inferometer_begin(f->session), INFEROMETER_OK);
    assert_int_equal(inferometer_end(f->session, 8), INFEROMETER_INVALID);
    says(f, name);
    assert_int_equal(inferometer_next(f->session), INFEROMETER_INVALID);
    assert_int_equal(inferometer_judge(f->session, NULL), INFEROMETER_INVALID);
    says(f, name);
    close_it(f);
    json_t *events = lines_of(f);
    assert_non_null(last_event(events, "interrupted"));
    assert_null(last_event(events, "run_done"));
    json_decref(events);
}

static void calls_out_of_order_change_nothing(void **state)
{
    struct fixture *f = *state;
    struct inferometer_result r = {.size = sizeof r};
    struct inferometer_value v = {.size = sizeof v};
    open_two(f, TWICE);
    assert_int_equal(inferometer_begin(f->session), INFEROMETER_MISUSE);
    says(f, "no arm");
    assert_int_equal(inferometer_end(f->session, 0), INFEROMETER_MISUSE);
    assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_MISUSE);
    says(f, "not ended");
    assert_int_equal(inferometer_metric(f->session, 0, "step_ns", &v), INFEROMETER_MISUSE);
    assert_true(inferometer_next(f->session) >= 0);
    assert_int_equal(inferometer_next(f->session), INFEROMETER_MISUSE);
    says(f, "measured");
    assert_int_equal(inferometer_end(f->session, 0), INFEROMETER_MISUSE);
    says(f, "no window");
    assert_int_equal(inferometer_arm(f->session, "late"), INFEROMETER_MISUSE);
    says(f, "arms|fixed");
    assert_int_equal(inferometer_ledger(f->session, 0, 1, 1, 1, 1), INFEROMETER_MISUSE);
    window(f, 0);
    assert_int_equal(inferometer_begin(f->session), INFEROMETER_MISUSE);
    assert_int_equal(inferometer_end(f->session, 0), INFEROMETER_MISUSE);
    assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
    assert_int_equal(inferometer_begin(f->session), INFEROMETER_MISUSE);
    says(f, "has ended");
    r.size = 8;
    assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_USAGE);
    says(f, "sizeof");
    r.size = sizeof r;
    assert_int_equal(inferometer_judge(f->session, &r), INFEROMETER_OK);
    assert_int_equal(inferometer_metric(f->session, 2, "step_ns", &v), INFEROMETER_USAGE);
    assert_int_equal(inferometer_metric(f->session, 0, "step_n", &v), INFEROMETER_USAGE);
    says(f, "'step_ns'");
    assert_int_equal(inferometer_error(f->session, 0, 0, 0, 1), INFEROMETER_MISUSE);
    close_it(f);
}

/* A call inside a window has cost time in it: the window cannot count. */
static void a_call_inside_a_window_ends_the_session(void **state)
{
    struct fixture *f = *state;
    for (int which = 0; which < 3; which++) {
        snprintf(f->run, sizeof f->run, "%s/run%d", f->dir, which);
        open_two(f, TWICE);
        assert_true(inferometer_next(f->session) >= 0);
        assert_int_equal(inferometer_begin(f->session), INFEROMETER_OK);
        int code = which == 0   ? inferometer_begin(f->session)
                   : which == 1 ? inferometer_next(f->session)
                                : inferometer_error(f->session, 0, 0, 0, 1);
        assert_int_equal(code, INFEROMETER_MISUSE);
        says(f, "session ends");
        assert_int_equal(inferometer_end(f->session, 0), INFEROMETER_MISUSE);
        assert_int_equal(inferometer_next(f->session), INFEROMETER_MISUSE);
        says(f, "session ends");
        close_it(f);
    }
}

static void bad_arms_are_refused(void **state)
{
    struct fixture *f = *state;
    open_two(f, NULL);
    assert_int_equal(inferometer_arm(f->session, "a"), INFEROMETER_USAGE);
    says(f, "'a'|already");
    assert_int_equal(inferometer_arm(f->session, "a b\""), INFEROMETER_USAGE);
    assert_int_equal(inferometer_arm(f->session, NULL), INFEROMETER_USAGE);
    assert_int_equal(inferometer_arm(f->session, "read"), INFEROMETER_USAGE);
    says(f, "ceiling");
    assert_int_equal(inferometer_lossy(f->session, 2, 1), INFEROMETER_USAGE);
    says(f, "arm 2");
    assert_int_equal(inferometer_lossy(f->session, -1, 1), INFEROMETER_USAGE);
    assert_int_equal(inferometer_lossy(f->session, 1, -1), INFEROMETER_USAGE);
    assert_int_equal(inferometer_equal(f->session, 0, 0), INFEROMETER_USAGE);
    assert_int_equal(inferometer_error(f->session, 0, -1, 0, 1), INFEROMETER_USAGE);
    assert_int_equal(inferometer_output(f->session, 0, NULL, 1), INFEROMETER_USAGE);
    assert_int_equal(inferometer_ledger(f->session, 0, UINT64_MAX, 0, 0, 0), INFEROMETER_USAGE);
    assert_int_equal(inferometer_arm(f->session, "c"), 2); /* and none of it has done harm */
    close_it(f);
    assert_false(ifm_dir_exists(f->run)); /* nothing was measured, nothing written */
}

static void bad_options_are_refused_at_once(void **state)
{
    static const char *const bad[][2] = {
        {"measure.mdx=1", "'measure.mde'"},
        {"measure.mde", "write path=value"},
        {"measure.mde=7", "1e-06 .. 1"},
        {"workload=null", "setting"},
        {"measure.cache=cold", "measure.cache"},
        {"measure.cache=hot,cold", "several"},
        {"measure.inner=3", "one sample"},
        {"device.threads=2", "session.pin"},
        {"ceilings=read", "ceilings"},
        {"measure.isolation=processes", "one process"},
        {"measure:\n  mde: much\n", "options:2:8"},
        {"arms:\n  - name: x\n", "inferometer_arm"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_null(inferometer_open(f->run, bad[i][0]));
        if (!facts_stand(inferometer_message(NULL), bad[i][1], NULL))
            fail_msg("%s: \"%s\" is not in: %s", bad[i][0], bad[i][1], inferometer_message(NULL));
    }
    f->session = inferometer_open(f->run, " measure.mde = 0.5 ;\n; measure.cap=1s\n");
    assert_null(f->session); /* no spaces around '=' */
    f->session = inferometer_open(f->run, " measure.mde=0.5 ;\n; measure.cap=1s\n");
    assert_non_null(f->session);
    assert_string_equal(inferometer_message(NULL), "");
}

static void what_only_the_plan_can_see_is_found_by_next(void **state)
{
    struct fixture *f = *state;
    f->session = inferometer_open(f->run, NULL);
    assert_int_equal(inferometer_next(f->session), INFEROMETER_USAGE);
    says(f, "no arm");
    close_it(f);
    open_two(f, "gates:\n  - {metric: step_ns, arm: c, op: at_most, threshold: 1}\n");
    assert_int_equal(inferometer_next(f->session), INFEROMETER_USAGE);
    says(f, "'c'|not exist");
    close_it(f);
    assert_false(ifm_dir_exists(f->run));
    struct ifm_error error;
    assert_int_equal(ifm_dir_create(f->run, &error), IFM_OK);
    char path[80];
    snprintf(path, sizeof path, "%s/there", f->run);
    assert_int_equal(ifm_dir_create(path, &error), IFM_OK);
    open_two(f, NULL);
    assert_int_equal(inferometer_next(f->session), INFEROMETER_USAGE);
    assert_string_equal(inferometer_dir(f->session), "");
    close_it(f);
}

static void a_process_has_one_session(void **state)
{
    struct fixture *f = *state;
    f->session = inferometer_open(f->run, NULL);
    assert_null(inferometer_open(NULL, NULL));
    assert_facts(inferometer_message(NULL), "session|already");
    close_it(f);
    f->session = inferometer_open(f->run, NULL);
    assert_non_null(f->session);
}

static void *from_elsewhere(void *arg)
{
    struct fixture *f = arg;
    assert_int_equal(inferometer_next(f->session), INFEROMETER_THREAD);
    assert_int_equal(inferometer_begin(f->session), INFEROMETER_THREAD);
    assert_int_equal(inferometer_end(f->session, 0), INFEROMETER_THREAD);
    assert_int_equal(inferometer_arm(f->session, "x"), INFEROMETER_THREAD);
    assert_int_equal(inferometer_close(f->session), INFEROMETER_THREAD);
    says(f, "thread|process");
    return NULL;
}

static void another_thread_is_refused(void **state)
{
    struct fixture *f = *state;
    pthread_t thread;
    open_two(f, TWICE);
    for (int i = 0; i < 4; i++) { /* before the run, named, inside a window, and between two */
        if (i == 1)
            assert_true(inferometer_next(f->session) >= 0);
        if (i == 2)
            assert_int_equal(inferometer_begin(f->session), INFEROMETER_OK);
        if (i == 3)
            assert_int_equal(inferometer_end(f->session, 0), INFEROMETER_OK);
        assert_int_equal(pthread_create(&thread, NULL, from_elsewhere, f), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
    close_it(f);
}

static void a_forked_child_leaves_the_session_alone(void **state)
{
    struct fixture *f = *state;
    int status;
    open_two(f, TWICE);
    assert_true(drive(f, 200, 0) >= 0);
    pid_t child = fork();
    if (child == 0)
        _exit(inferometer_judge(f->session, NULL) == INFEROMETER_THREAD &&
                      inferometer_close(f->session) == INFEROMETER_THREAD
                  ? 0
                  : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
    assert_int_equal(inferometer_judge(f->session, NULL), INFEROMETER_OK);
}

/* Closed early: in the pilot there is a plan and no record, later every whole block stands. */
static void an_early_close_says_so(void **state)
{
    struct fixture *f = *state;
    static const int early[] = {1, 5, 100, 250}; /* the pilot has six windows */
    for (size_t i = 0; i < sizeof early / sizeof early[0]; i++) {
        int windows = early[i];
        snprintf(f->run, sizeof f->run, "%s/run%d", f->dir, windows);
        struct ifm_record record = {0};
        struct ifm_error error;
        char path[96];
        open_two(f, TWICE);
        assert_true(drive(f, windows, 0) >= 0);
        assert_string_equal(inferometer_dir(f->session), f->run);
        close_it(f);
        json_t *events = lines_of(f);
        const json_t *last = last_event(events, "interrupted");
        assert_non_null(strstr(json_string_value(json_object_get(last, "reason")), "closed before"));
        assert_null(last_event(events, "run_done"));
        json_decref(events);
        snprintf(path, sizeof path, "%s/plan.json", f->run);
        assert_true(ifm_file_exists(path));
        if (windows < 6)
            continue;
        assert_int_equal(ifm_record_load(f->run, 0, "latency", &record, &error), IFM_OK);
        assert_true(record.n_slots >= 4);
        ifm_record_free(&record);
    }
}

/* Measured to the end and closed without judging: the record is complete, the numbers can be derived later. */
static void an_unjudged_session_is_complete(void **state)
{
    struct fixture *f = *state;
    open_two(f, TWICE);
    assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
    close_it(f);
    static const char *const stages[] = {"run_start", "environment", "load",  "locks",     "cell_start", "calibrate",
                                         "warmup",    "stop",        "check", "cell_done", "run_done"};
    json_t *events = lines_of(f);
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
        if (last_event(events, stages[i]) == NULL)
            fail_msg("run.log has no %s", stages[i]);
    assert_string_equal(json_string_value(json_object_get(last_event(events, "stop"), "reason")), "decided");
    assert_string_equal(json_string_value(json_object_get(last_event(events, "locks"), "when")), "after");
    assert_string_equal(json_string_value(json_object_get(last_event(events, "load"), "when")), "after");
    assert_null(last_event(events, "interrupted"));
    json_decref(events);
}

/* The host's clock: nothing about this thread or its signals changes, and the instruments see every slot. */
static void the_host_is_left_as_it_is(void **state)
{
    struct fixture *f = *state;
    struct sigaction before, after;
    struct ifm_record record;
    struct ifm_error error;
    cpu_set_t mine, now;
    sigaction(SIGINT, NULL, &before);
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    open_two(f, "measure.repeats=60;measure.warmup=1;measure.slot_min=0s;measure.warmup_cap=10ms");
    assert_true(drive(f, 40, 0) >= 0);
    sigaction(SIGINT, NULL, &after);
    assert_true(before.sa_handler == after.sa_handler);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&mine, &now));
    assert_int_equal(drive(f, 1000000, 0), INFEROMETER_END);
    assert_int_equal(inferometer_judge(f->session, NULL), INFEROMETER_OK);
    assert_int_equal(ifm_record_load(f->run, 0, "latency", &record, &error), IFM_OK);
    assert_true(record.n_columns > 0);
    size_t samples[2] = {0};
    for (size_t k = 0; k < record.n_slots; k++)
        if (record.slots[k].phase == IFM_PHASE_MEASURE)
            samples[record.slots[k].arm] += record.slots[k].samples;
    assert_int_equal(samples[0], 60);
    assert_int_equal(samples[1], 60);
    ifm_record_free(&record);
}

static void a_pinned_session_gives_the_thread_back(void **state)
{
    struct fixture *f = *state;
    cpu_set_t mine, now;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    open_two(f, "measure.repeats=60;measure.warmup=1;measure.slot_min=0s;session.pin=true");
    assert_true(drive(f, 3, 0) >= 0);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_int_equal(CPU_COUNT(&now), 1);
    close_it(f); /* early */
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&mine, &now));
}

static void without_a_session_nothing_crashes(void **state)
{
    (void)state;
    struct inferometer_result r = {.size = sizeof r};
    assert_int_equal(inferometer_next(NULL), INFEROMETER_MISUSE);
    assert_int_equal(inferometer_begin(NULL), INFEROMETER_MISUSE);
    assert_int_equal(inferometer_end(NULL, 1), INFEROMETER_MISUSE);
    assert_int_equal(inferometer_arm(NULL, "a"), INFEROMETER_MISUSE);
    assert_int_equal(inferometer_judge(NULL, &r), INFEROMETER_MISUSE);
    assert_int_equal(inferometer_close(NULL), INFEROMETER_OK);
    assert_string_equal(inferometer_dir(NULL), "");
    assert_string_equal(inferometer_version(), IFM_VERSION);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_slower_arm_is_found),
        CASE(the_record_is_an_ordinary_one),
        CASE(one_arm_with_a_gate_is_judged),
        CASE(a_lossy_arm_needs_its_error),
        CASE(an_output_that_must_be_equal_is_held_to_it),
        CASE(arms_of_other_amounts_are_not_compared),
        CASE(an_arm_measures_one_thing),
        CASE(calls_out_of_order_change_nothing),
        CASE(a_call_inside_a_window_ends_the_session),
        CASE(bad_arms_are_refused),
        CASE(bad_options_are_refused_at_once),
        CASE(what_only_the_plan_can_see_is_found_by_next),
        CASE(a_process_has_one_session),
        CASE(another_thread_is_refused),
        CASE(a_forked_child_leaves_the_session_alone),
        CASE(an_early_close_says_so),
        CASE(an_unjudged_session_is_complete),
        CASE(the_host_is_left_as_it_is),
        CASE(a_pinned_session_gives_the_thread_back),
        CASE(without_a_session_nothing_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
