/* The device cuda over a driver of host memory (tests/fake_cuda): marks, buffers, failures and their words. */
#include <cmocka.h>

#include "fake_gpu.h"
#include "kernel/cuda/null.h"
#include "kernel/cuda/stream.h"
#include "model/facts.h"
#include "workload/stream/stream.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>


/* ---- the driver that is not there, or not enough ---- */

static void refuse(const char *file, const char *script, const char *reason, const char *remedy)
{
    struct ifm_cuda cuda;
    struct ifm_cuda_absence absence = {"", ""};
    set_script(script);
    assert_false(ifm_cuda_open(file, &cuda, &absence));
    assert_facts(absence.reason, reason);
    assert_facts(absence.remedy, remedy);
}

static void says_why_there_is_no_driver(void **state)
{
    (void)state;
    refuse("libcuda-of-nobody.so.1", "", "libcuda-of-nobody.so.1", "NVIDIA driver");
    refuse("libcuda.so.1", "lacks=cuGraphUpload", "too old|cuGraphUpload", "580");
    refuse("libcuda.so.1", "lacks=cuInit", "too old|cuInit", "580");
    refuse("libcuda.so.1", "init=100", "CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES");
    refuse("libcuda.so.1", "init=802", "CUDA_ERROR_SYSTEM_NOT_READY", "nvidia-smi");
    refuse("libcuda.so.1", "init=777", "CUDA error 777", "nvidia-smi");
    refuse("libcuda.so.1", "devices=0", "no GPU", "CUDA_VISIBLE_DEVICES");
    refuse("libcuda.so.1", "version=11080", "CUDA 11.8", "580");
    struct ifm_cuda cuda;
    struct ifm_cuda_absence absence;
    set_script("");
    assert_true(ifm_cuda_open("libcuda.so.1", &cuda, &absence));
    assert_int_equal(cuda.driver_version, 13000);
    assert_int_equal(cuda.devices, 1);
}

static void describes_its_gpu(void **state)
{
    (void)state;
    struct ifm_machine machine;
    struct ifm_error error = {0};
    struct ifm_cuda_card card;
    struct ifm_cuda_absence absence;
    set_script("memory=3000");
    assert_int_equal(ifm_device_cuda.describe(0, &machine, &error), IFM_OK);
    assert_string_equal(machine.gpu->name, "Fake GPU");
    assert_int_equal(machine.gpu->multiprocessors, 2);
    assert_int_equal(machine.gpu->major, 9);
    assert_int_equal(machine.gpu->memory_bytes, 3000ULL << 20);
    assert_int_equal(machine.memory_available, (3000ULL << 20) - (1ULL << 30)); /* the driver's own share */
    assert_int_equal(machine.threads, 1);
    assert_int_equal(ifm_device_cuda.describe(1, &machine, &error), IFM_OK);
    assert_int_equal(ifm_device_cuda.describe(4, &machine, &error), IFM_USAGE);
    assert_facts(error.message, "4 threads|GPU");
    assert_true(ifm_cuda_first(&card, &absence));
    assert_string_equal(card.name, "Fake GPU");
    assert_int_equal(card.memory_bytes, 3000ULL << 20);
    assert_int_equal(count("contexts"), 0);
}

/* ---- marks ---- */

static void marks_are_sums_of_neighbouring_events(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("ns=ifm_null:2950;launch_ns=1600", false);
    struct ifm_cuda_launch launch = {kernel(device, "null", "ifm_null"), 1, 1, 0, NULL};
    struct ifm_instant marks[8];
    struct ifm_error error = {0};
    struct ifm_instant before = device->ops->mark(device);
    device->ops->hold(device, 1);
    for (int i = 0; i < 8; i++) {
        marks[i] = device->ops->mark(device);
        assert_int_equal(marks[i].ns, i + 1); /* a ticket */
        for (int k = 0; k <= i; k++)
            ifm_cuda_launch(device, &launch);
    }
    device->ops->release(device);
    assert_int_equal(device->ops->resolve(device, marks, 8, &error), IFM_OK);
    for (int i = 0; i < 7; i++)
        assert_int_equal(marks[i + 1].ns - marks[i].ns, (i + 1) * 4550);
    assert_true(marks[0].ns >= before.ns);
    assert_true(device->ops->mark(device).ns >= marks[7].ns); /* unheld: waits, and is the host's time */
    close_device(device);
}

/* 2000 steps of 23457 ns: a float of milliseconds since the first mark would round each to 4 ns at their end. */
static void long_slots_lose_nothing(void **state)
{
    (void)state;
    enum { N = 2000 };
    static struct ifm_instant marks[N + 1];
    struct ifm_device *device = open_device("ns=ifm_null:23457;launch_ns=0", false);
    struct ifm_cuda_launch launch = {kernel(device, "null", "ifm_null"), 1, 1, 0, NULL};
    struct ifm_error error = {0};
    device->ops->hold(device, 1);
    for (int i = 0; i <= N; i++) {
        marks[i] = device->ops->mark(device);
        ifm_cuda_launch(device, &launch);
    }
    device->ops->release(device);
    assert_int_equal(device->ops->resolve(device, marks, N + 1, &error), IFM_OK);
    for (int i = 0; i < N; i++)
        assert_in_range(marks[i + 1].ns - marks[i].ns, 23456, 23458);
    assert_in_range(marks[N].ns - marks[0].ns, N * 23457LL - 20, N * 23457LL + 20);
    close_device(device);
}

static void refuses_more_marks_than_it_keeps(void **state)
{
    (void)state;
    static struct ifm_instant marks[IFM_CUDA_MARKS + 1];
    struct ifm_device *device = open_device("", false);
    struct ifm_error error = {0};
    for (size_t n = IFM_CUDA_MARKS - 1; n <= IFM_CUDA_MARKS; n++) {
        device->ops->hold(device, 1);
        for (size_t i = 0; i < n; i++)
            marks[i] = device->ops->mark(device);
        device->ops->release(device);
        assert_int_equal(device->ops->resolve(device, marks, n, &error), n < IFM_CUDA_MARKS ? IFM_OK : IFM_USAGE);
    }
    assert_facts(error.message, "4096 marks|cuda|4095");
    assert_int_equal(device->ops->health(device, &error), IFM_OK);
    close_device(device);
}

/* ---- launches that overlap ---- */

static unsigned long long early_launches(const char *script)
{
    struct ifm_device *device = open_device(script, false);
    struct ifm_error error = {0};
    ifm_cuda_launch_early(device, &(struct ifm_cuda_launch){kernel(device, "null", "ifm_null"), 1, 1, 0, NULL});
    assert_int_equal(ifm_cuda_wait(device, &error), IFM_OK);
    assert_int_equal(count("ifm_null"), 1);
    const unsigned long long early = count("early launches");
    close_device(device);
    return early;
}

static void only_code_that_waits_itself_is_launched_early(void **state)
{
    (void)state;
    assert_int_equal(early_launches(""), 1);
    assert_int_equal(early_launches("ptx=80"), 0); /* what a driver compiled from PTX of an older GPU */
}

/* ---- the clock over a slot ---- */

/* A slot of an untimed step and `n` timed ones of 1 ms each. */
static struct ifm_device_clock timed_slot(struct ifm_device *device, const char *name, int n)
{
    struct ifm_cuda_launch launch = {kernel(device, "null", name), 1, 1, 0, NULL};
    struct ifm_instant marks[8];
    struct ifm_error error = {0};
    struct ifm_device_clock now;
    device->ops->hold(device, 1);
    ifm_cuda_launch(device, &launch);
    for (int i = 0; i <= n; i++) {
        marks[i] = device->ops->mark(device);
        if (i < n)
            ifm_cuda_launch(device, &launch);
    }
    assert_int_equal(device->ops->resolve(device, marks, (size_t)n + 1, &error), IFM_OK);
    device->ops->release(device);
    for (int i = 0; i < n; i++) /* no sample holds a stamp */
        assert_int_equal(marks[i + 1].ns - marks[i].ns, 1000000);
    device->ops->clock(device, &now);
    return now;
}

static void the_clock_of_a_slot_is_cycles_over_time(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("ns=ifm_null:1000000;khz=ifm_null:1755000;launch_ns=0", false);
    struct ifm_device_clock now = timed_slot(device, "ifm_null", 4);
    assert_string_equal(now.why, "");
    assert_int_equal(now.span_ns, 4001000); /* four steps and the second stamp; the untimed step lies before */
    assert_true(llabs(now.cycles - 4000 * 1755 - 1980) <= 1);
    assert_int_equal(now.reported_mhz, IFM_ABSENT); /* no NVML here */
    close_device(device);
}

static void a_clock_that_cannot_be_is_absent(void **state)
{
    (void)state;
    static const struct {
        const char *script, *why;
    } cases[] = {{"ns=ifm_null:1000000;launch_ns=0;reset_at=2", "counters"},
                 {"ns=ifm_null:1000000;launch_ns=0;khz=ifm_null:2200000", "counters"},
                 {"ns=ifm_null:1000000;launch_ns=0;khz=ifm_null:1000", "counters"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ifm_device *device = open_device(cases[i].script, false);
        struct ifm_device_clock now = timed_slot(device, "ifm_null", 4);
        assert_int_equal(now.cycles, IFM_ABSENT);
        assert_int_equal(now.span_ns, IFM_ABSENT);
        assert_facts(now.why, cases[i].why);
        if (i == 0) /* the next slot is whole again */
            assert_string_equal(timed_slot(device, "ifm_null", 4).why, "");
        close_device(device);
    }
    struct ifm_device *device = open_device("ns=ifm_null:1000000;launch_ns=0;oom_at=1", false);
    assert_facts(timed_slot(device, "ifm_null", 1).why, "memory|stamps");
    close_device(device);
}

/* ---- facts ---- */

static void tells_of_kernels_and_of_what_launching_costs(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("ns=ifm_null:2000;launch_ns=1600", true);
    void *value = NULL;
    bool fresh;
    struct ifm_error error = {0};
    assert_int_equal(device->ops->buffer(device, "v", 8, &value, &fresh, &error), IFM_OK);
    const struct ifm_null_spin_arguments spinning = {3, value};
    ifm_cuda_launch(device, &(struct ifm_cuda_launch){kernel(device, "null", "ifm_null_spin"), 1, 1, 0, &spinning});
    struct ifm_cuda_launch launch = {kernel(device, "stream", "ifm_flops_fma"), 0, 256, 64, NULL};
    launch.function->threads = 256; /* as a launch leaves it */
    launch.function->shared = 64;
    json_t *facts = device->ops->facts(device), *kernels = json_object_get(facts, "kernels");
    assert_int_equal(json_array_size(kernels), 2); /* by name; the stamps are no kernel of the cell */
    const json_t *flops = json_array_get(kernels, 0);
    assert_string_equal(json_string_value(json_object_get(flops, "name")), "ifm_flops_fma");
    assert_int_equal(json_integer_value(json_object_get(flops, "threads")), 256);
    assert_int_equal(json_integer_value(json_object_get(flops, "shared_dynamic_bytes")), 64);
    assert_int_equal(json_integer_value(json_object_get(flops, "shared_static_bytes")), 1024);
    assert_int_equal(json_integer_value(json_object_get(flops, "registers")), 32);
    assert_int_equal(json_integer_value(json_object_get(flops, "blocks_per_multiprocessor")), 8);
    assert_true(json_real_value(json_object_get(flops, "occupancy")) == 1.0);
    const json_t *spin = json_array_get(kernels, 1); /* one thread: a warp in each of 32 blocks */
    assert_true(json_real_value(json_object_get(spin, "occupancy")) == 0.5);
    static const struct {
        const char *key;
        double ns;
    } costs[] = {{"launch_ns", 3600}, {"event_pair_ns", 3600}, {"graph_node_ns", 2000}};
    for (size_t i = 0; i < 3; i++) {
        const json_t *cost = json_object_get(facts, costs[i].key);
        assert_true(fabs(json_real_value(json_object_get(cost, "median")) - costs[i].ns) < 1);
        assert_in_range(json_integer_value(json_object_get(cost, "n")), 5, 25);
    }
    assert_false(json_is_true(json_object_get(facts, "graphs"))); /* how the steps are launched stays */
    json_decref(facts);
    unsigned long long kernels_run = count("ifm_null");
    device->ops->drop_buffers(device);
    facts = device->ops->facts(device); /* the next cell's: no kernels yet, and nothing is measured again */
    assert_int_equal(json_array_size(json_object_get(facts, "kernels")), 0);
    assert_non_null(json_object_get(facts, "launch_ns"));
    assert_int_equal(count("ifm_null"), kernels_run);
    json_decref(facts);
    close_device(device);
}

/* ---- buffers ---- */

static void buffers_are_named_zeroed_and_freed(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("", false);
    struct ifm_error error = {0};
    unsigned char bytes[1003];
    void *a = buffer(device, "a", sizeof bytes, true);
    assert_int_equal(ifm_cuda_read(device, bytes, a, sizeof bytes, &error), IFM_OK);
    for (size_t i = 0; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0);
    assert_ptr_equal(buffer(device, "a", sizeof bytes, false), a);
    assert_ptr_not_equal(buffer(device, "a", 2000, true), a); /* of another size */
    device->set = 1;
    assert_ptr_not_equal(buffer(device, "a", sizeof bytes, true), a); /* of another set */
    device->set = 0;
    json_t *facts = device->ops->facts(device);
    assert_int_equal(json_integer_value(json_object_get(facts, "buffer_bytes")), 3 * 16 + 2 * 1003 + 2000);
    assert_string_equal(json_string_value(json_object_get(facts, "gpu")), "Fake GPU");
    json_decref(facts);
    assert_int_equal(count("memory alive"), 3);
    device->ops->drop_buffers(device);
    assert_int_equal(count("memory alive"), 0);
    close_device(device);
}

static void says_when_memory_does_not_suffice(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("memory=100;oom_at=2", false);
    struct ifm_error error = {0};
    void *data;
    bool fresh;
    assert_int_equal(device->ops->buffer(device, "cache", 200 << 20, &data, &fresh, &error), IFM_MISSING);
    assert_non_null(strstr(error.message, "available"));
    buffer(device, "a", 4096, true);
    assert_int_equal(device->ops->buffer(device, "b", 4096, &data, &fresh, &error), IFM_MISSING);
    assert_facts(error.message, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(device->ops->health(device, &error), IFM_OK); /* a cell may be smaller */
    close_device(device);
}

static void flush_writes_four_caches(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("", false);
    struct ifm_error error = {0};
    assert_int_equal(device->ops->flush(device, &error), IFM_OK);
    json_t *facts = device->ops->facts(device);
    assert_int_equal(json_integer_value(json_object_get(facts, "buffer_bytes")), 4 * 65536 + 16);
    json_decref(facts);
    device->ops->hold(device, 1);
    assert_int_equal(device->ops->flush(device, &error), IFM_OK); /* and does not wait: the work goes on */
    device->ops->release(device);
    assert_int_equal(count("memory alive"), 2); /* one for the flush, one for the stamps of the clock */
    close_device(device);
}

/* ---- failures ---- */

static void a_failed_kernel_is_sticky_until_the_device_is_opened_again(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("ns=ifm_fill_source:10", false);
    struct ifm_error error = {0};
    struct ifm_instant marks[2];
    struct ifm_cuda_function *fill = kernel(device, "stream", "ifm_fill_source");
    struct ifm_stream_fill nowhere = {(uint64_t *)(uintptr_t)4096, 8, 1};
    device->ops->hold(device, 1);
    marks[0] = device->ops->mark(device);
    ifm_cuda_launch(device, &(struct ifm_cuda_launch){fill, 1, 32, 0, &nowhere});
    marks[1] = device->ops->mark(device);
    device->ops->release(device);
    assert_int_equal(device->ops->resolve(device, marks, 2, &error), IFM_INTERNAL);
    assert_facts(error.message, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(device->ops->health(device, &error), IFM_INTERNAL);
    device->ops->close(device);
    assert_int_equal(count("resets"), 1);
    struct ifm_device *again = NULL;
    assert_int_equal(ifm_device_cuda.open(&(struct ifm_device_options){.threads = 1}, &again, &error), IFM_OK);
    assert_int_equal(again->ops->health(again, &error), IFM_OK);
    const struct ifm_stream_fill here = {buffer(again, "words", 64, true), 8, 1};
    ifm_cuda_launch(again, &(struct ifm_cuda_launch){kernel(again, "stream", "ifm_fill_source"), 1, 32, 0, &here});
    assert_int_equal(ifm_cuda_wait(again, &error), IFM_OK);
    close_device(again);
}

/* How many arms the probes of stream make of this one. */
static size_t offers(enum ifm_probe probe, const struct ifm_gpu *gpu)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_machine machine = {.device = "cuda", .gpu = gpu};
    const struct ifm_stream_settings settings = {.probe = (int)probe};
    struct ifm_stream_ask ask = {.settings = &settings};
    assert_null(ifm_stream_cuda.supports(&machine, &ask, arena));
    ifm_arena_destroy(arena);
    return ask.n;
}

static void names_what_it_does_not_have(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("", false);
    struct ifm_cuda_function *function;
    struct ifm_error error = {0};
    assert_int_equal(ifm_cuda_find(device, "stream", "ifm_nothing", &function, &error), IFM_MISSING);
    assert_facts(error.message, "ifm_nothing|9.0");
    assert_int_equal(ifm_cuda_find(device, "nothing", "ifm_null", &function, &error), IFM_MISSING);
    assert_facts(error.message, "'nothing'");
    assert_int_equal(device->ops->health(device, &error), IFM_OK);
    struct ifm_gpu older = *ifm_cuda_gpu(device);
    older.major = 8;
    assert_int_equal(offers(IFM_PROBE_CACHES, ifm_cuda_gpu(device)), 0);
    assert_int_equal(offers(IFM_PROBE_MATRIX, &older), 0);
    assert_int_equal(offers(IFM_PROBE_MATRIX, ifm_cuda_gpu(device)), 1);
    close_device(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_why_there_is_no_driver),
        cmocka_unit_test(describes_its_gpu),
        cmocka_unit_test(marks_are_sums_of_neighbouring_events),
        cmocka_unit_test(long_slots_lose_nothing),
        cmocka_unit_test(refuses_more_marks_than_it_keeps),
        cmocka_unit_test(the_clock_of_a_slot_is_cycles_over_time),
        cmocka_unit_test(a_clock_that_cannot_be_is_absent),
        cmocka_unit_test(tells_of_kernels_and_of_what_launching_costs),
        cmocka_unit_test(buffers_are_named_zeroed_and_freed),
        cmocka_unit_test(says_when_memory_does_not_suffice),
        cmocka_unit_test(only_code_that_waits_itself_is_launched_early),
        cmocka_unit_test(flush_writes_four_caches),
        cmocka_unit_test(a_failed_kernel_is_sticky_until_the_device_is_opened_again),
        cmocka_unit_test(names_what_it_does_not_have),
    };
    return cmocka_run_group_tests(tests, find_driver, NULL);
}
