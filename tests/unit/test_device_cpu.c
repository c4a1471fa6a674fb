/* Device cpu: threads and their limits, affinity and its restoration, buffers, flush, facts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/cpu.h"
#include "facts.h"
#include "host/cpus.h"
#include "host/host.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>

static struct ifm_device *open_device(unsigned threads, bool huge_pages)
{
    struct ifm_device_options options = {.threads = threads, .huge_pages = huge_pages};
    struct ifm_device *device = NULL;
    struct ifm_error error = {0};
    if (ifm_device_cpu.open(&options, &device, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return device;
}

static void is_registered(void **state)
{
    (void)state;
    assert_ptr_equal(ifm_device_find("cpu"), &ifm_device_cpu);
    assert_ptr_equal(ifm_device_find("fake"), &ifm_device_fake);
    assert_null(ifm_device_find("abacus"));
}

static void describes_this_machine(void **state)
{
    (void)state;
    struct ifm_machine all, one;
    struct ifm_error error = {0};
    assert_int_equal(ifm_device_cpu.describe(0, &all, &error), IFM_OK);
    assert_int_equal(ifm_device_cpu.describe(1, &one, &error), IFM_OK);
    assert_string_equal(all.device, "cpu");
    assert_int_equal(all.threads, all.cpus_allowed);
    assert_int_equal(one.threads, 1);
    assert_int_equal(one.cpus_allowed, all.cpus_allowed);
    assert_true(all.memory_available > 0);
    assert_string_equal(all.isas[all.n_isas - 1], "scalar");
}

static void refuses_more_threads_than_cpus(void **state)
{
    (void)state;
    unsigned allowed = ifm_host_cpus_allowed();
    struct ifm_device_options options = {.threads = allowed + 1};
    struct ifm_device *device = NULL;
    struct ifm_machine machine;
    struct ifm_error error = {0};
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%u threads|%u CPU", allowed + 1, allowed);
    assert_int_equal(ifm_device_cpu.describe(allowed + 1, &machine, &error), IFM_USAGE);
    assert_facts(error.message, wanted);
    assert_non_null(strstr(error.hint, "taskset"));
    error = (struct ifm_error){0};
    assert_int_equal(ifm_device_cpu.open(&options, &device, &error), IFM_USAGE);
    assert_facts(error.message, wanted);
    assert_null(device);
}

static void counts_the_affinity_mask(void **state)
{
    (void)state;
    unsigned cpu;
    struct ifm_cpu_mask before, one;
    struct ifm_machine machine;
    struct ifm_error error = {0};
    assert_int_equal(ifm_host_cpus(&cpu, 1), 1);
    assert_true(ifm_cpu_mask_get(&before));
    one = ifm_cpu_mask_of(cpu);
    assert_true(ifm_cpu_mask_set(&one));
    enum ifm_status all = ifm_device_cpu.describe(0, &machine, &error),
                    two = ifm_device_cpu.describe(2, &machine, &error);
    assert_true(ifm_cpu_mask_set(&before));
    assert_int_equal(all, IFM_OK);
    assert_int_equal(two, IFM_USAGE);
    assert_facts(error.message, "2 threads|1 CPU");
}

static void where_am_i(void *arg, unsigned index, unsigned count)
{
    (void)count;
    ((int *)arg)[index * 32] = sched_getcpu();
}

static void pins_and_restores_affinity(void **state)
{
    (void)state;
    struct ifm_cpu_mask before, during, after;
    assert_true(ifm_cpu_mask_get(&before));
    struct ifm_device *device = open_device(0, false);
    assert_true(ifm_cpu_mask_get(&during));
    assert_int_equal(CPU_COUNT_S(sizeof during.sets, during.sets), 1);
    json_t *facts = device->ops->facts(device), *cpus = json_object_get(facts, "cpus");
    int seen[64 * 32] = {0};
    unsigned n = (unsigned)json_array_size(cpus) < 64 ? (unsigned)json_array_size(cpus) : 64;
    device->ops->parallel(device, n, where_am_i, seen);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(seen[i * 32], json_integer_value(json_array_get(cpus, i)));
    json_decref(facts);
    device->ops->close(device);
    assert_true(ifm_cpu_mask_get(&after));
    assert_memory_equal(&before, &after, sizeof before);
}

/* While arms start programs, the driving thread may be anywhere; two of them let it go twice. */
static void the_driver_roams_for_programs(void **state)
{
    (void)state;
    struct ifm_cpu_mask before, pinned, now;
    bool back;
    assert_true(ifm_cpu_mask_get(&before));
    struct ifm_device *device = open_device(1, false);
    assert_true(ifm_cpu_mask_get(&pinned));
    for (int arms = 1; arms <= 2; arms++) {
        ifm_cpu_roam(device, true);
        assert_true(ifm_cpu_mask_get(&now));
        assert_memory_equal(&before, &now, sizeof now);
        assert_int_equal(ifm_cpu_displaced(device, &back), -1);
    }
    ifm_cpu_roam(device, false);
    assert_true(ifm_cpu_mask_set(&pinned)); /* somebody else's doing */
    assert_int_equal(ifm_cpu_displaced(device, &back) >= 0, memcmp(&before, &pinned, sizeof before) != 0);
    assert_true(ifm_cpu_mask_get(&now));
    assert_memory_equal(&before, &now, sizeof now);
    ifm_cpu_roam(device, false);
    assert_true(ifm_cpu_mask_get(&now));
    assert_memory_equal(&pinned, &now, sizeof now);
    device->ops->close(device);
    assert_true(ifm_cpu_mask_get(&now));
    assert_memory_equal(&before, &now, sizeof now);
}

static void buffers_are_shared_by_name_and_size(void **state)
{
    (void)state;
    struct ifm_device *device = open_device(0, false);
    struct ifm_error error = {0};
    void *a, *b, *c, *d;
    bool fresh;
    size_t bytes = ((size_t)1 << 20) + 3;
    assert_int_equal(device->ops->buffer(device, "keys", bytes, &a, &fresh, &error), IFM_OK);
    assert_true(fresh);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(((char *)a)[i], 0);
    memset(a, 7, bytes);
    assert_int_equal(device->ops->buffer(device, "keys", bytes, &b, &fresh, &error), IFM_OK);
    assert_false(fresh);
    assert_ptr_equal(a, b);
    assert_int_equal(((char *)b)[bytes - 1], 7);
    assert_int_equal(device->ops->buffer(device, "keys", bytes + 1, &c, &fresh, &error), IFM_OK);
    assert_true(fresh);
    assert_int_equal(device->ops->buffer(device, "values", bytes, &d, &fresh, &error), IFM_OK);
    assert_true(fresh);
    assert_ptr_not_equal(a, c);
    assert_ptr_not_equal(a, d);
    assert_int_equal((uintptr_t)a % ((size_t)2 << 20), 0);
    assert_int_equal((uintptr_t)d % ((size_t)2 << 20), 0);
    device->ops->drop_buffers(device);
    assert_int_equal(device->ops->buffer(device, "keys", bytes, &a, &fresh, &error), IFM_OK);
    assert_true(fresh);
    assert_int_equal(((char *)a)[0], 0);
    assert_int_equal(device->ops->buffer(device, "empty", 0, &a, &fresh, &error), IFM_OK);
    assert_non_null(a);
    device->ops->close(device);
}

static void refuses_more_memory_than_there_is(void **state)
{
    (void)state;
    struct ifm_device *device = open_device(1, false);
    struct ifm_error error = {0};
    void *data = NULL;
    bool fresh;
    assert_int_equal(device->ops->buffer(device, "cache", (size_t)1 << 46, &data, &fresh, &error), IFM_MISSING);
    assert_non_null(strstr(error.message, "buffer 'cache' needs 64.0 TiB (70368744177664 B), "));
    assert_non_null(strstr(error.message, " available"));
    assert_null(data);
    assert_int_equal(device->ops->buffer(device, "cache", SIZE_MAX, &data, &fresh, &error), IFM_MISSING);
    json_t *facts = device->ops->facts(device);
    assert_int_equal(json_integer_value(json_object_get(facts, "buffer_bytes")), 0);
    json_decref(facts);
    device->ops->close(device);
}

static void facts_count_huge_pages(void **state)
{
    (void)state;
    struct ifm_device *device = open_device(1, true);
    struct ifm_error error = {0};
    void *data;
    bool fresh;
    size_t bytes = (size_t)8 << 20;
    json_t *host = ifm_host_fingerprint("");
    const char *mode = json_string_value(json_object_get(json_object_get(host, "huge_pages"), "transparent"));
    bool possible = mode != NULL && strcmp(mode, "never") != 0;
    assert_int_equal(device->ops->buffer(device, "x", bytes, &data, &fresh, &error), IFM_OK);
    json_t *facts = device->ops->facts(device), *backing = json_object_get(facts, "huge_page_bytes");
    assert_true(json_is_true(json_object_get(facts, "huge_pages_asked")));
    assert_int_equal(json_integer_value(json_object_get(facts, "buffer_bytes")), bytes);
    assert_true(json_is_integer(backing) || json_object_get(backing, "absent") != NULL);
    if (json_is_integer(backing) && !possible)
        assert_int_equal(json_integer_value(backing), 0);
    json_decref(facts);
    json_decref(host);
    device->ops->close(device);
}

/* After a flush the first pass over a small buffer is slower than the second: it really left the caches. The least of
 * many rounds is compared, since a busy machine makes any single pass slow. */
static void flush_evicts(void **state)
{
    (void)state;
    struct ifm_device *device = open_device(0, false);
    struct ifm_error error = {0};
    enum { LINES = 4096, ROUNDS = 20 };
    void *data;
    bool fresh;
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    assert_int_equal(device->ops->buffer(device, "probe", LINES * 64, &data, &fresh, &error), IFM_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        assert_int_equal(device->ops->flush(device, &error), IFM_OK);
        for (unsigned pass = 0; pass < 2; pass++) {
            struct ifm_instant start = device->ops->mark(device);
            for (size_t i = 0; i < LINES; i++)
                (void)*((volatile char *)data + i * 2654435761u % LINES * 64);
            int64_t ns = device->ops->mark(device).ns - start.ns;
            least[pass] = ns < least[pass] ? ns : least[pass];
        }
    }
    if (2 * least[0] < 3 * least[1])
        fail_msg("%lld ns after a flush, %lld ns again", (long long)least[0], (long long)least[1]);
    device->ops->close(device);
}

static void flush_works_while_held(void **state)
{
    (void)state;
    struct ifm_device *device = open_device(0, false);
    struct ifm_error error = {0};
    device->ops->hold(device, 1);
    assert_int_equal(device->ops->flush(device, &error), IFM_OK);
    device->ops->release(device);
    device->ops->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_registered),
        cmocka_unit_test(describes_this_machine),
        cmocka_unit_test(refuses_more_threads_than_cpus),
        cmocka_unit_test(counts_the_affinity_mask),
        cmocka_unit_test(pins_and_restores_affinity),
        cmocka_unit_test(the_driver_roams_for_programs),
        cmocka_unit_test(buffers_are_shared_by_name_and_size),
        cmocka_unit_test(refuses_more_memory_than_there_is),
        cmocka_unit_test(facts_count_huge_pages),
        cmocka_unit_test(flush_evicts),
        cmocka_unit_test(flush_works_while_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
