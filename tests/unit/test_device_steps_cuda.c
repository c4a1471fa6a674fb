/* Steps of the device cuda over a driver of host memory: replayed as graphs, launched one by one, buffers in turn. */
#include <cmocka.h>

#include "fake_gpu.h"
#include "kernel/cuda/null.h"

/* ---- steps ---- */

struct filling {
    struct ifm_device *device;
    struct ifm_cuda_function *function;
    struct ifm_null_spin_arguments arguments;
};

/* One step adds 0 + 1 + 2 to the value. */
static void enqueue(void *arg)
{
    struct filling *filling = arg;
    ifm_cuda_launch(filling->device, &(struct ifm_cuda_launch){filling->function, 1, 1, 0, &filling->arguments});
}

static void exactly_n_steps(bool no_graphs)
{
    static const uint64_t numbers[] = {1, 2, 1023, 1024, 1025, 5000, 1, 5000};
    struct ifm_device *device = open_device("ns=ifm_null_spin:10;launch_ns=0", no_graphs);
    struct ifm_error error = {0};
    struct filling filling = {device, kernel(device, "null", "ifm_null_spin"), {3, buffer(device, "v", 8, true)}};
    struct ifm_cuda_steps *steps;
    uint64_t expected = 0, value;
    assert_int_equal(ifm_cuda_steps_create(device, enqueue, &filling, &steps, &error), IFM_OK);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ifm_cuda_steps_run(steps, numbers[i]);
        expected += numbers[i];
        assert_int_equal(ifm_cuda_read(device, &value, filling.arguments.value, sizeof value, &error), IFM_OK);
        assert_int_equal(value, 3 * expected);
        assert_int_equal(count("ifm_null_spin"), expected);
    }
    /* ceil(n / 1024) graphs each, or none at all */
    assert_int_equal(count("graph launches"), no_graphs ? 0 : 1 + 1 + 1 + 1 + 2 + 5 + 1 + 5);
    ifm_cuda_steps_destroy(steps);
    close_device(device);
}

static void graphs_replay_exactly_n_steps(void **state)
{
    (void)state;
    exactly_n_steps(false);
}

static void without_graphs_the_work_is_the_same(void **state)
{
    (void)state;
    exactly_n_steps(true);
}

/* Steps that do without graphs, beside others that have them, each counted as it is put on the stream. */
static void some_steps_do_without_graphs(void **state)
{
    (void)state;
    for (int no_graphs = 0; no_graphs < 2; no_graphs++) {
        struct ifm_device *device = open_device("ns=ifm_null_spin:10", no_graphs);
        struct ifm_error error = {0};
        struct filling filling = {device, kernel(device, "null", "ifm_null_spin"), {3, buffer(device, "v", 8, true)}};
        struct ifm_cuda_steps *with, *without;
        assert_int_equal(ifm_cuda_steps_create(device, enqueue, &filling, &with, &error), IFM_OK);
        assert_int_equal(ifm_cuda_steps_create(device, enqueue, &filling, &without, &error), IFM_OK);
        ifm_cuda_steps_graphs(with, true);
        ifm_cuda_steps_graphs(without, false);
        for (int i = 0; i < 3; i++) {
            ifm_cuda_steps_run(with, 4);
            ifm_cuda_steps_run(without, 5);
        }
        enqueue(&filling); /* of neither */
        assert_int_equal(ifm_cuda_wait(device, &error), IFM_OK);
        assert_int_equal(count("ifm_null_spin"), 3 * 9 + 1);
        assert_int_equal(count("graph launches"), no_graphs ? 0 : 3);
        const struct ifm_cuda_counts a = ifm_cuda_steps_counts(with), b = ifm_cuda_steps_counts(without);
        assert_int_equal(a.graphs, no_graphs ? 0 : 3);
        assert_int_equal(a.launches, no_graphs ? 12 : 0);
        assert_int_equal(b.graphs, 0);
        assert_int_equal(b.launches, 15);
        ifm_cuda_steps_destroy(with);
        ifm_cuda_steps_destroy(without);
        close_device(device);
    }
}

/* More numbers of steps than graphs are kept: old ones are given up, and made again. */
static void keeps_few_graphs(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("ns=ifm_null_spin:10", false);
    struct ifm_error error = {0};
    struct filling filling = {device, kernel(device, "null", "ifm_null_spin"), {3, buffer(device, "v", 8, true)}};
    struct ifm_cuda_steps *steps;
    assert_int_equal(ifm_cuda_steps_create(device, enqueue, &filling, &steps, &error), IFM_OK);
    for (uint64_t n = 1; n <= 50; n++)
        ifm_cuda_steps_run(steps, n);
    for (uint64_t n = 1; n <= 50; n++)
        ifm_cuda_steps_run(steps, n);
    assert_int_equal(ifm_cuda_wait(device, &error), IFM_OK);
    assert_int_equal(count("ifm_null_spin"), 2 * 50 * 51 / 2);
    assert_int_equal(count("graphs alive"), 32);
    ifm_cuda_steps_destroy(steps);
    close_device(device);
}

enum { TURNS = 6 };
struct turning {
    struct filling filling;
    uint64_t *values; /* one a turn */
    unsigned turn;
};

static void enqueue_turn(void *arg)
{
    struct turning *turning = arg;
    turning->filling.arguments.value = &turning->values[turning->turn];
    enqueue(&turning->filling);
}

/* Steps go round their buffers, run after run; all graphs of a number of steps are there after its first run, whatever
 * ran in between. */
static void turns(bool no_graphs)
{
    static const uint64_t numbers[] = {1, 2, 4, 5, 6, 1022, 1023, 5000, 7};
    struct ifm_device *device = open_device("ns=ifm_null_spin:10;launch_ns=0", no_graphs);
    struct ifm_error error = {0};
    struct turning turning = {{device, kernel(device, "null", "ifm_null_spin"), {3, NULL}},
                              buffer(device, "v", TURNS * sizeof(uint64_t), true),
                              0};
    struct ifm_cuda_steps *steps;
    uint64_t done = 0, values[TURNS];
    assert_int_equal(ifm_cuda_steps_create(device, enqueue_turn, &turning, &steps, &error), IFM_OK);
    ifm_cuda_steps_turns(steps, TURNS, &turning.turn);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        unsigned long long alive = 0;
        for (int again = 0; again <= TURNS; again++) {
            ifm_cuda_steps_run(steps, 1);
            ifm_cuda_steps_run(steps, numbers[i]);
            done += 1 + numbers[i];
            assert_int_equal(turning.turn, (done - 1) % TURNS);
            alive = again == 0 ? count("graphs alive") : alive;
            assert_int_equal(count("graphs alive"), alive);
            assert_int_equal(ifm_cuda_read(device, values, turning.values, sizeof values, &error), IFM_OK);
            for (unsigned t = 0; t < TURNS; t++)
                assert_int_equal(values[t], 3 * (done / TURNS + (t < done % TURNS)));
        }
    }
    ifm_cuda_steps_destroy(steps);
    close_device(device);
}

static void steps_take_buffers_in_turn(void **state)
{
    (void)state;
    turns(false);
    turns(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_replay_exactly_n_steps),
        cmocka_unit_test(without_graphs_the_work_is_the_same),
        cmocka_unit_test(keeps_few_graphs),
        cmocka_unit_test(steps_take_buffers_in_turn),
        cmocka_unit_test(some_steps_do_without_graphs),
    };
    return cmocka_run_group_tests(tests, find_driver, NULL);
}
