/* Code that is not ours on the device cuda, over a driver of host memory: its steps are alike, its modules are loaded
 * once, and what it does wrong is an error with words. */
#include <cmocka.h>

#include "device/cuda_private.h"
#include "facts.h"
#include "kernel/cuda/null.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 3 };

static unsigned long long (*count)(const char *what);

static int find_driver(void **state)
{
    (void)state;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *symbol;
    symbol = library == NULL ? NULL : dlsym(library, "fake_cuda_count");
    memcpy(&count, &symbol, sizeof symbol);
    return symbol == NULL ? -1 : 0;
}

static struct ifm_device *open_device(bool no_graphs)
{
    struct ifm_device *device = NULL;
    struct ifm_error error = {0};
    const struct ifm_device_options options = {.threads = 1, .no_graphs = no_graphs};
    if (ifm_device_cuda.open(&options, &device, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return device;
}

static void close_device(struct ifm_device *device)
{
    device->ops->close(device);
    assert_int_equal(count("memory alive"), 0);
    assert_int_equal(count("modules alive"), 0);
    assert_int_equal(count("graphs alive"), 0);
}

/* Steps that add 3 into the place of their turn, but for every `rests`-th call, which does nothing; 0 = none. */
struct work {
    struct ifm_device *device;
    struct ifm_cuda_function *kernel;
    uint64_t *values, calls, rests;
    unsigned turn;
    bool waits;
};

static void enqueue(void *arg)
{
    struct work *work = arg;
    const struct ifm_null_spin_arguments arguments = {3, work->values + work->turn};
    work->calls++;
    if (work->waits)
        (void)ifm_cuda_of(work->device)->cuda->p_cuStreamSynchronize(ifm_cuda_stream(work->device));
    if (work->rests == 0 || work->calls % work->rests != 0)
        ifm_cuda_launch(work->device, &(struct ifm_cuda_launch){work->kernel, 1, 1, 0, &arguments});
}

static struct ifm_cuda_steps *steps_of(struct work *work, struct ifm_device *device, bool launched)
{
    struct ifm_cuda_steps *steps;
    struct ifm_error error = {0};
    void *values;
    bool fresh;
    work->device = device;
    assert_int_equal(ifm_cuda_find(device, "null", "ifm_null_spin", &work->kernel, &error), IFM_OK);
    assert_int_equal(device->ops->buffer(device, "v", TURNS * sizeof *work->values, &values, &fresh, &error), IFM_OK);
    work->values = values;
    assert_int_equal(ifm_cuda_steps_create(device, enqueue, work, &steps, &error), IFM_OK);
    ifm_cuda_steps_turns(steps, TURNS, &work->turn);
    ifm_cuda_steps_foreign(steps, launched);
    return steps;
}

static void assert_values(const struct work *work, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t got[TURNS];
    struct ifm_error error = {0};
    assert_int_equal(ifm_cuda_read(work->device, got, work->values, sizeof got, &error), IFM_OK);
    assert_int_equal(got[0], 3 * a);
    assert_int_equal(got[1], 3 * b);
    assert_int_equal(got[2], 3 * c);
}

/* Captured once for each turn, however many steps and graphs of them there are. */
static void captured_steps_are_alike(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {1, 2, 4, 1023, 5000};
    struct work work = {.rests = 0};
    struct ifm_device *device = open_device(false);
    struct ifm_cuda_steps *steps = steps_of(&work, device, false);
    uint64_t done = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ifm_cuda_steps_run(steps, numbers[i]);
        done += numbers[i];
        assert_values(&work, (done + 2) / 3, (done + 1) / 3, done / 3);
    }
    assert_int_equal(work.calls, TURNS);
    ifm_cuda_steps_destroy(steps);
    close_device(device);
}

/* A step that rests at every second call: the turn whose capture met the rest rests always, so that a check sees it. */
static void captured_steps_cannot_rest_now_and_then(void **state)
{
    (void)state;
    struct work work = {.rests = 2};
    struct ifm_device *device = open_device(false);
    struct ifm_cuda_steps *steps = steps_of(&work, device, false);
    ifm_cuda_steps_run(steps, 300);
    assert_values(&work, 100, 0, 100);
    for (int i = 0; i < 6; i++)
        ifm_cuda_steps_run(steps, 1);
    assert_values(&work, 102, 0, 102);
    ifm_cuda_steps_destroy(steps);
    close_device(device);
}

/* Without graphs, by the step's word or by the user's, each is called. */
static void launched_steps_are_called(void **state)
{
    (void)state;
    for (int users = 0; users < 2; users++) {
        struct work work = {.rests = 0};
        struct ifm_device *device = open_device(users == 1);
        struct ifm_cuda_steps *steps = steps_of(&work, device, users == 0);
        const unsigned long long graphs = count("graph launches");
        ifm_cuda_steps_run(steps, 301);
        assert_int_equal(work.calls, 301);
        assert_values(&work, 101, 100, 100);
        assert_int_equal(count("graph launches"), graphs);
        ifm_cuda_steps_destroy(steps);
        close_device(device);
    }
}

static void a_step_that_waits_is_not_captured(void **state)
{
    (void)state;
    struct work work = {.waits = true};
    struct ifm_device *device = open_device(false);
    struct ifm_error error = {0};
    struct ifm_cuda_steps *steps = steps_of(&work, device, false);
    ifm_cuda_steps_run(steps, 5);
    assert_int_equal(device->ops->health(device, &error), IFM_INTERNAL);
    assert_facts(error.message, "capturing a step|no_graph");
    ifm_cuda_steps_destroy(steps);
    close_device(device);
}

/* ---- modules ---- */

static void modules_are_loaded_once(void **state)
{
    (void)state;
    static const char ptx[] = "//\n.version 8.0", other[] = "//\n.version 8.1";
    const struct ifm_cuda_foreign code = {"a.ptx", ptx, sizeof ptx, false}, same = {"b.ptx", ptx, sizeof ptx, false},
                                  second = {"c.ptx", other, sizeof other, false}, none = {"d.cubin", "none", 4, false};
    struct ifm_device *device = open_device(false);
    struct ifm_error error = {0};
    struct ifm_cuda_module *a, *b, *c;
    struct ifm_cuda_function *function;
    assert_int_equal(ifm_cuda_load_module(device, &code, &a, &error), IFM_OK);
    assert_int_equal(ifm_cuda_load_module(device, &same, &b, &error), IFM_OK);
    assert_int_equal(ifm_cuda_load_module(device, &second, &c, &error), IFM_OK);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_int_equal(count("modules alive"), 2);
    assert_int_equal(ifm_cuda_load_module(device, &none, &b, &error), IFM_INTERNAL);
    assert_facts(error.message, "does not load");
    assert_int_equal(ifm_cuda_find_in(device, a, "no such kernel", &function, &error), IFM_MISSING);
    assert_facts(error.message, "no such kernel");
    close_device(device);
}

/* Its name is in the record, with who made it; parameters arrive in their order. */
static void its_kernels_are_launched_and_named(void **state)
{
    (void)state;
    static const char source[] = "extern \"C\" __global__ void plugin_add(...)";
    const struct ifm_cuda_foreign code = {"add.cu", source, sizeof source - 1, true};
    struct ifm_device *device = open_device(false);
    struct ifm_error error = {0};
    struct ifm_cuda_module *module;
    struct ifm_cuda_function *function = NULL;
    float in[4] = {1, 2, 3, 4}, out[4], term = 0.5f;
    void *x, *y;
    uint32_t n = 4;
    bool fresh;
    assert_int_equal(device->ops->buffer(device, "x", sizeof in, &x, &fresh, &error), IFM_OK);
    assert_int_equal(device->ops->buffer(device, "y", sizeof out, &y, &fresh, &error), IFM_OK);
    assert_int_equal(ifm_cuda_write(device, x, in, sizeof in, &error), IFM_OK);
    if (ifm_cuda_load_module(device, &code, &module, &error) != IFM_OK ||
        ifm_cuda_find_in(device, module, "plugin_add", &function, &error) != IFM_OK)
        fail_msg("%s", error.message);
    void *parameters[] = {&x, &y, &n, &term};
    ifm_cuda_launch_grid(device, &(struct ifm_cuda_grid){function, {2, 1, 1}, {64, 1, 1}, 16, parameters});
    assert_int_equal(ifm_cuda_read(device, out, y, sizeof out, &error), IFM_OK);
    for (int i = 0; i < 4; i++)
        assert_true(out[i] == in[i] + term);
    json_t *facts = device->ops->facts(device);
    const json_t *kernel = json_array_get(json_object_get(facts, "kernels"), 0);
    assert_string_equal(json_string_value(json_object_get(kernel, "name")), "plugin_add");
    assert_facts(json_string_value(json_object_get(kernel, "compiler")), "NVRTC 99.0");
    assert_int_equal(json_integer_value(json_object_get(kernel, "threads")), 64);
    json_decref(facts);
    close_device(device);
}

static void a_context_that_was_changed_is_put_back(void **state)
{
    (void)state;
    struct ifm_device *device = open_device(false);
    const struct ifm_cuda *cuda = ifm_cuda_of(device)->cuda;
    assert_true(ifm_cuda_restore_context(device));
    assert_int_equal(cuda->p_cuCtxSetCurrent(NULL), CUDA_SUCCESS);
    assert_false(ifm_cuda_restore_context(device));
    assert_true(ifm_cuda_restore_context(device));
    close_device(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captured_steps_are_alike),
        cmocka_unit_test(captured_steps_cannot_rest_now_and_then),
        cmocka_unit_test(launched_steps_are_called),
        cmocka_unit_test(a_step_that_waits_is_not_captured),
        cmocka_unit_test(modules_are_loaded_once),
        cmocka_unit_test(its_kernels_are_launched_and_named),
        cmocka_unit_test(a_context_that_was_changed_is_put_back),
    };
    return cmocka_run_group_tests(tests, find_driver, NULL);
}
