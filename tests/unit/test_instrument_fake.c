/* The fake device's columns and the instrument that reads them: what is scripted is counted, what is not is absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/fake.h"
#include "facts.h"
#include "instrument/instrument.h"
#include "model/facts.h"
#include <string.h>

static struct ifm_device *open_device(const char *script)
{
    struct ifm_device *device = NULL;
    struct ifm_error error = {0};
    const struct ifm_device_options options = {.threads = 1, .script = script, .seed = 1};
    if (ifm_device_fake.open(&options, &device, &error) != IFM_OK)
        fail_msg("%s", error.message);
    return device;
}

static void what_is_scripted_is_counted(void **state)
{
    (void)state;
    struct ifm_device *device =
        open_device("step_ns=1000; l2_hit=0.5; arm.fast.l2_hit=0.75; energy_j=0.001; cpu_khz=3000000; steal=0.1");
    int64_t values[IFM_FAKE_COLUMNS];
    device->ops->hold(device, 1);
    ifm_fake_advance(device, "fast", 1);
    ifm_fake_advance(device, "fast", 9);
    ifm_fake_columns(device, values);
    assert_int_equal(values[IFM_FAKE_L2_HITS], 7500);
    assert_int_equal(values[IFM_FAKE_L2_ACCESSES], 10000);
    assert_int_equal(values[IFM_FAKE_ENERGY_UJ], 10000);
    assert_int_equal(values[IFM_FAKE_CPU_KHZ], 3000000);
    assert_int_equal(values[IFM_FAKE_STEAL_NS], 1000);
    device->ops->hold(device, 1); /* a new slot starts at nothing */
    ifm_fake_advance(device, "slow", 1);
    ifm_fake_columns(device, values);
    assert_int_equal(values[IFM_FAKE_L2_HITS], 500);
    device->ops->close(device);
}

static void what_is_not_scripted_is_absent(void **state)
{
    (void)state;
    struct ifm_device *device = open_device("step_ns=1000; arm.a.steal=0; arm.a.quality=71; arm.a.error=0.5");
    int64_t values[IFM_FAKE_COLUMNS];
    double quality, error_rel;
    device->ops->hold(device, 1);
    ifm_fake_advance(device, "a", 5);
    ifm_fake_columns(device, values);
    assert_int_equal(values[IFM_FAKE_STEAL_NS], 0); /* scripted as zero is zero */
    assert_true(values[IFM_FAKE_L2_HITS] == IFM_ABSENT && values[IFM_FAKE_L2_ACCESSES] == IFM_ABSENT);
    assert_true(values[IFM_FAKE_ENERGY_UJ] == IFM_ABSENT && values[IFM_FAKE_CPU_KHZ] == IFM_ABSENT);
    ifm_fake_check(device, "a", &quality, &error_rel);
    assert_true(quality == 71 && error_rel == 0.5);
    ifm_fake_check(device, "b", &quality, &error_rel);
    assert_true(quality < 0 && error_rel < 0);
    device->ops->close(device);
}

static void it_is_offered_only_where_a_script_needs_it(void **state)
{
    (void)state;
    assert_false(ifm_fake_script_has_columns(NULL));
    assert_false(ifm_fake_script_has_columns("step_ns=10; noise=0.1; quality=3"));
    assert_false(ifm_fake_script_has_columns("no script"));
    assert_true(ifm_fake_script_has_columns("l2_hit=0.5"));
    assert_true(ifm_fake_script_has_columns("arm.x.steal=0"));
    for (size_t i = 0; ifm_instruments[i] != NULL; i++) /* never on a real device */
        assert_string_not_equal(ifm_instruments[i]->name, "fake");
    const char *remedy = "";
    assert_true(ifm_instrument_fake.probe(0, &remedy)[0] != '\0');
    assert_non_null(strstr(remedy, "device.kind=fake"));
    assert_int_equal(ifm_instrument_fake.n_columns, IFM_FAKE_COLUMNS);
}

static void two_columns(void *context, int64_t *values)
{
    memcpy(values, context, 2 * sizeof *values);
}

static void it_reads_its_source_at_the_stop(void **state)
{
    (void)state;
    struct ifm_instrument_state *own = NULL;
    struct ifm_error error = {0};
    int64_t source[2] = {3, 4}, values[IFM_FAKE_COLUMNS];
    const struct ifm_instrument *fake = ifm_instrument_find("fake");
    assert_non_null(fake);
    assert_int_equal(fake->open(&own, &error), IFM_OK);
    fake->attach(own, two_columns, source);
    fake->start(own);
    fake->stop(own);
    source[0] = 99;
    fake->collect(own, values);
    assert_true(values[0] == 3 && values[1] == 4 && values[2] == IFM_ABSENT);
    fake->close(own);
}

/* The sensor's facts belong to the device: no arm has its own, and what is not scripted is not known. */
static void the_sensor_says_what_is_scripted(void **state)
{
    (void)state;
    double idle_w, limit_w, period_ns;
    struct ifm_error error = {0};
    struct ifm_device *device = open_device("energy_j=0.001; idle_w=12.3; energy_period_ns=1e6");
    assert_true(ifm_fake_energy(device, &idle_w, &limit_w, &period_ns));
    assert_true(idle_w == 12.3 && limit_w < 0 && period_ns == 1e6);
    device->ops->close(device);
    device = open_device("energy_j=0.001");
    assert_false(ifm_fake_energy(device, &idle_w, &limit_w, &period_ns));
    device->ops->close(device);
    const struct ifm_device_options options = {.threads = 1, .script = "arm.fast.idle_w=1", .seed = 1};
    assert_int_equal(ifm_device_fake.open(&options, &device, &error), IFM_USAGE);
    assert_facts(error.message, "idle_w|one arm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sensor_says_what_is_scripted),
        cmocka_unit_test(what_is_scripted_is_counted),
        cmocka_unit_test(what_is_not_scripted_is_absent),
        cmocka_unit_test(it_is_offered_only_where_a_script_needs_it),
        cmocka_unit_test(it_reads_its_source_at_the_stop),
    };
    return cmocka_run_group_tests_name("instrument_fake", tests, NULL, NULL);
}
