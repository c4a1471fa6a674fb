/* Arms in sets of buffers: which state runs in which block, and what is taken for all of them together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/cell/arm.h"
#include <math.h>
#include <string.h>

enum { ARMS = 3, BLOCKS = 40 };

struct fixture {
    struct ifm_arm arms[ARMS];
    struct ifm_pass pass;
    struct ifm_cell plan;
    struct ifm_session session;
    struct ifm_device *device;
    struct ifm_cell_run cell;
    struct ifm_error error;
};

static int set_up(void **state)
{
    static struct fixture f;
    static const char *const names[ARMS] = {"a", "b", "probe"};
    static const enum ifm_role roles[ARMS] = {IFM_ROLE_BASELINE, IFM_ROLE_VARIANT, IFM_ROLE_CEILING};
    memset(&f, 0, sizeof f);
    for (int i = 0; i < ARMS; i++)
        f.arms[i] = (struct ifm_arm){.name = names[i],
                                     .workload = "null",
                                     .implementation = "script",
                                     .variant = "",
                                     .feature = "",
                                     .equals = "",
                                     .memory = 100,
                                     .role = roles[i]};
    f.plan = (struct ifm_cell){.name = "null",
                               .workload = "null",
                               .threads = 1,
                               .seed = 3,
                               .arms = f.arms,
                               .n_arms = ARMS,
                               .passes = &f.pass,
                               .n_passes = 1,
                               .unsupported = ""};
    struct ifm_device_options options = {.threads = 1, .seed = 9, .script = "step_ns=1000"};
    assert_int_equal(ifm_device_fake.open(&options, &f.device, &f.error), IFM_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    ifm_cell_close(&f->cell);
    f->device->ops->close(f->device);
    return 0;
}

static void open_cell(struct fixture *f, int isolation)
{
    f->plan.measure = (struct ifm_measure){.isolation = isolation, .warmup = 5, .warmup_cap_s = 1};
    assert_int_equal(ifm_cell_open(&f->plan, f->device, &f->session, &f->cell, &f->error), IFM_OK);
}

static void shared_arms_have_one_state(void **state)
{
    struct fixture *f = *state;
    open_cell(f, IFM_ISOLATION_SHARED);
    const void *before = f->cell.arms[1].state;
    for (unsigned block = 0; block < BLOCKS; block++) {
        assert_int_equal(ifm_arms_place(&f->cell, block, &f->error), IFM_OK);
        assert_ptr_equal(f->cell.arms[1].state, before);
    }
    assert_null(f->cell.arms[0].sets);
    assert_int_equal(ifm_plan_copies(&f->plan, 0), 1);
}

static void blocks_draw_the_sets(void **state)
{
    struct fixture *f = *state;
    open_cell(f, IFM_ISOLATION_BUFFERS);
    const void *probe = f->cell.arms[2].state;
    unsigned shifted = 0;
    assert_int_equal(f->cell.arms[0].n_sets, 2);
    assert_null(f->cell.arms[2].sets);
    assert_ptr_not_equal(f->cell.arms[0].sets[0], f->cell.arms[0].sets[1]);
    for (unsigned block = 0; block < BLOCKS; block++) {
        unsigned sets[ARMS];
        ifm_plan_sets(&f->plan, block, sets);
        assert_int_equal(ifm_arms_place(&f->cell, block, &f->error), IFM_OK);
        for (int i = 0; i < 2; i++)
            assert_ptr_equal(f->cell.arms[i].state, f->cell.arms[i].sets[sets[i]]);
        assert_ptr_equal(f->cell.arms[2].state, probe);
        shifted += sets[0] == 1;
    }
    assert_in_range(shifted, 8, 32); /* of 40 tosses */
    assert_int_equal(ifm_plan_copies(&f->plan, 0), 2);
    assert_int_equal(ifm_plan_copies(&f->plan, 2), 1);
}

static unsigned asked;

/* Each set of buffers gives another output: a step that reads what nobody wrote. */
static enum ifm_status check_by_turns(void *state, struct ifm_check *out, struct ifm_error *error)
{
    (void)state, (void)error;
    *out = (struct ifm_check){.done = true, .finite = true, .output_xxh3 = 7 + asked++};
    return IFM_OK;
}

static enum ifm_status check_alike(void *state, struct ifm_check *out, struct ifm_error *error)
{
    (void)state, (void)error;
    *out = (struct ifm_check){.done = true, .finite = true, .output_xxh3 = 7};
    return IFM_OK;
}

/* The row of the first arm with another check. */
static struct ifm_implementation with_check(const struct fixture *f,
                                            enum ifm_status (*check)(void *, struct ifm_check *, struct ifm_error *))
{
    struct ifm_implementation implementation = *f->cell.arms[0].implementation;
    implementation.check = check;
    return implementation;
}

static void sets_must_give_one_output(void **state)
{
    struct fixture *f = *state;
    struct ifm_check check;
    open_cell(f, IFM_ISOLATION_BUFFERS);
    struct ifm_implementation implementation = with_check(f, check_by_turns);
    struct ifm_workload workload = *f->cell.arms[0].workload;
    workload.has_oracle = true;
    f->cell.arms[0].workload = &workload;
    f->cell.arms[0].implementation = &implementation;
    asked = 0;
    assert_int_equal(ifm_arm_check(&f->cell, 0, false, &check, &f->error), IFM_OK);
    assert_true(check.sets_differ);
    assert_int_equal(check.output_xxh3, 7);
    implementation.check = check_alike;
    assert_int_equal(ifm_arm_check(&f->cell, 0, false, &check, &f->error), IFM_OK);
    assert_false(check.sets_differ);
    f->cell.arms[0].workload = f->cell.arms[1].workload;
    f->cell.arms[0].implementation = f->cell.arms[1].implementation;
}

/* An arm that leaves out every fifth step: what an earlier one wrote is there, but for steps over a spoiled output. */
static unsigned stepped, checked;
static bool there;

static void step_but_the_fifth(void *state, uint64_t n)
{
    (void)state;
    assert_int_equal(n, 1);
    there |= stepped++ % 5 != 0;
}

static void take_away(void *state, bool all)
{
    (void)state;
    assert_true(all);
    there = false;
}

static enum ifm_status check_there(void *state, struct ifm_check *out, struct ifm_error *error)
{
    (void)state, (void)error;
    checked++;
    *out = (struct ifm_check){.done = true, .finite = there};
    return IFM_OK;
}

static void steps_left_out_now_and_then_show(void **state)
{
    struct fixture *f = *state;
    struct ifm_check check;
    open_cell(f, IFM_ISOLATION_SHARED);
    struct ifm_implementation implementation = with_check(f, check_there);
    implementation.step = step_but_the_fifth;
    implementation.spoil = take_away;
    struct ifm_workload workload = *f->cell.arms[0].workload;
    workload.has_oracle = true;
    f->cell.arms[0].workload = &workload;
    f->cell.arms[0].implementation = &implementation;
    for (unsigned phase = 0; phase < 5; phase++) {
        stepped = phase;
        checked = 0;
        there = true;
        f->cell.check_s = 60;
        assert_int_equal(ifm_arm_check(&f->cell, 0, false, &check, &f->error), IFM_OK);
        assert_false(check.finite);
        assert_int_equal(checked, 65);              /* what was left, and 64 rounds */
        assert_in_range(stepped - phase, 128, 192); /* that begin at no fixed distance: 160 on average */
    }
    stepped = 1, checked = 0, there = true;
    f->cell.check_s = 0; /* a step of seconds: one round, of the step alone */
    assert_int_equal(ifm_arm_check(&f->cell, 0, false, &check, &f->error), IFM_OK);
    assert_true(check.finite);
    assert_int_equal(checked, 2);
    assert_int_equal(stepped, 2);
    f->cell.arms[0].workload = f->cell.arms[1].workload;
    f->cell.arms[0].implementation = f->cell.arms[1].implementation;
}

/* What the second set lost more of, and that it dropped tokens. */
static enum ifm_status check_with_loss(void *state, struct ifm_check *out, struct ifm_error *error)
{
    (void)state, (void)error;
    bool second = asked++ > 0;
    *out = (struct ifm_check){.done = true, .finite = true, .has_loss = true};
    out->loss_rms_rel = second ? 0.2 : 0.1;
    out->loss_p99_rel = second ? 0.3 : 0.4;
    out->loss_cosine = second ? 0.8 : 0.9;
    out->loss_kl = second ? -1 : 0.05;
    out->loss_tv = NAN;
    return IFM_OK;
}

static void the_worst_set_is_the_loss(void **state)
{
    struct fixture *f = *state;
    struct ifm_check check;
    open_cell(f, IFM_ISOLATION_BUFFERS);
    struct ifm_implementation implementation = with_check(f, check_with_loss);
    struct ifm_workload workload = *f->cell.arms[0].workload;
    workload.has_oracle = true;
    f->cell.arms[0].workload = &workload;
    f->cell.arms[0].implementation = &implementation;
    asked = 0;
    assert_int_equal(ifm_arm_check(&f->cell, 0, false, &check, &f->error), IFM_OK);
    assert_true(check.has_loss);
    assert_true(check.loss_rms_rel == 0.2 && check.loss_p99_rel == 0.4 && check.loss_cosine == 0.8);
    assert_true(check.loss_kl < 0);
    assert_true(isnan(check.loss_tv));
    f->cell.arms[0].workload = f->cell.arms[1].workload;
    f->cell.arms[0].implementation = f->cell.arms[1].implementation;
}

static void a_process_needs_a_clock_that_is_shared(void **state)
{
    struct fixture *f = *state;
    f->plan.measure = (struct ifm_measure){.isolation = IFM_ISOLATION_PROCESSES};
    struct ifm_device_options options = {.threads = 1};
    f->session.device = &options;
    assert_int_equal(ifm_cell_open(&f->plan, f->device, &f->session, &f->cell, &f->error), IFM_USAGE);
    assert_non_null(strstr(f->error.message, "device cpu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shared_arms_have_one_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(blocks_draw_the_sets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sets_must_give_one_output, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_left_out_now_and_then_show, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_worst_set_is_the_loss, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_process_needs_a_clock_that_is_shared, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
