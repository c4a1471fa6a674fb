/* The range profiler over a driver and a CUPTI of host memory: what is counted, that sets take turns, that no failure
 * of a call leaves a value, and that every call is made in the order that CUPTI wants (tests/fake_cupti insists on it).
 */
#include <cmocka.h>

#include "device/device.h"
#include "facts.h"
#include "instrument/instrument.h"
#include "instrument/range_profiler.h"
#include "model/facts.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ifm_device *device;
static void (*set_script)(const char *script);

static int open_device(void **state)
{
    (void)state;
    struct ifm_error error = {0};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *symbol = driver == NULL ? NULL : dlsym(driver, "fake_cuda_script");
    if (symbol == NULL) {
        print_message("this is a test over the driver of host memory, tests/fake_cuda\n");
        return -1;
    }
    memcpy(&set_script, &symbol, sizeof symbol);
    set_script("kernel_ns=500000");
    const struct ifm_device_options options = {.threads = 1};
    return ifm_device_cuda.open(&options, &device, &error) == IFM_OK ? 0 : -1;
}

static int close_device(void **state)
{
    (void)state;
    if (device != NULL)
        device->ops->close(device);
    return 0;
}

static int64_t column(const int64_t *values, const char *id)
{
    for (size_t c = 0; c < IFM_COUNTER_COLUMNS; c++)
        if (strcmp(ifm_counter_columns[c].id, id) == 0)
            return values[c];
    fail_msg("no column %s", id);
    return IFM_ABSENT;
}

/* A range around a fill of the GPU's memory, under the script. */
static void count(struct ifm_instrument_state *state, const char *script, int64_t *values)
{
    struct ifm_error error = {0};
    setenv("FAKE_CUPTI", script, 1);
    ifm_instrument_gpu_counters.start(state);
    assert_int_equal(device->ops->flush(device, &error), IFM_OK);
    ifm_instrument_gpu_counters.stop(state);
    ifm_instrument_gpu_counters.collect(state, values);
}

static struct ifm_instrument_state *open_instrument(void)
{
    struct ifm_instrument_state *state = NULL;
    struct ifm_error error = {0};
    setenv("FAKE_CUPTI", "", 1);
    assert_int_equal(ifm_instrument_gpu_counters.open(&state, &error), IFM_OK);
    assert_int_equal(ifm_instrument_gpu_counters.groups(state), 7);
    return state;
}

static void sets_take_turns(void **unused)
{
    (void)unused;
    struct ifm_instrument_state *state = open_instrument();
    int64_t values[IFM_COUNTER_COLUMNS];
    for (int turn = 0; turn < 2; turn++)
        for (unsigned group = 0; group < 7; group++) {
            ifm_instrument_gpu_counters.choose(state, group);
            for (int again = 0; again < 2; again++) {
                count(state, "", values);
                assert_true(column(values, "counters_range_ns") > 0);
                assert_true(column(values, "counters_cost_ns") > 0);
                assert_int_equal(column(values, "dram_read_bytes") == IFM_ABSENT, group != 0);
                assert_int_equal(column(values, "tensor_f16_ops") == IFM_ABSENT, group != 1);
                assert_int_equal(column(values, "tensor_bf16_ops") == IFM_ABSENT, group != 2);
                assert_int_equal(column(values, "tensor_tf32_ops") == IFM_ABSENT, group != 3);
                assert_int_equal(column(values, "tensor_int8_ops") == IFM_ABSENT, group != 0);
                assert_int_equal(column(values, "limits_eligible") == IFM_ABSENT, group != 4);
                assert_int_equal(column(values, "limits_occupancy"), group == 4 ? 250000 : IFM_ABSENT); /* 25 % */
                assert_int_equal(column(values, "waits_memory") == IFM_ABSENT, group != 5);
                assert_int_equal(column(values, "waits_barrier") == IFM_ABSENT, group != 6);
            }
        }
    struct ifm_instrument_told told;
    ifm_instrument_gpu_counters.tell(state, &told);
    assert_string_equal(told.source, "CUPTI 13.0, chip GH100");
    assert_int_equal(told.slots, 28);
    assert_int_equal(told.read, 28);
    ifm_instrument_gpu_counters.close(state);
}

/* Each failure leaves every column but the cost absent, with its words; the next range is as good as ever. */
static void no_failure_leaves_a_value(void **unused)
{
    (void)unused;
    static const struct {
        const char *script, *words;
    } rows[] = {
        {"dropped=1", "dropped the range"},
        {"incomplete=1", "wants another pass"},
        {"ranges=0", "0 ranges"},
        {"ranges=2", "2 ranges"},
        {"nan=dram__bytes_read.sum", "nan for dram__bytes_read.sum"},
        {"negative=lts__t_sectors.sum", "-1 for lts__t_sectors.sum"},
        {"stale=sm__warps_launched.sum", "nan for sm__warps_launched.sum"},
        {"fails=cuptiRangeProfilerCounterDataImageInitialize:7", "laying out counters failed with 7"},
        {"fails=cuptiRangeProfilerSetConfig:7", "setting counters failed with 7"},
        {"fails=cuptiRangeProfilerStart:26", "another program holds"},
        {"fails=cuptiRangeProfilerPushRange:7", "beginning a range failed"},
        {"fails=cuptiRangeProfilerDecodeData:7", "decoding counters failed"},
        {"fails=cuptiRangeProfilerGetCounterDataInfo:7", "finding the range failed"},
        {"fails=cuptiProfilerHostEvaluateToGpuValues:39", "another profiler is attached"},
    };
    struct ifm_instrument_state *state = open_instrument();
    int64_t values[IFM_COUNTER_COLUMNS];
    struct ifm_instrument_told told;
    ifm_instrument_gpu_counters.choose(state, 0);
    count(state, "", values);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        count(state, rows[i].script, values);
        for (size_t c = 0; c < IFM_COUNTER_COST; c++)
            if (values[c] != IFM_ABSENT)
                fail_msg("%s: %s is %lld", rows[i].script, ifm_counter_columns[c].id, (long long)values[c]);
        ifm_instrument_gpu_counters.tell(state, &told);
        if (strstr(told.why, rows[i].words) == NULL)
            fail_msg("%s: \"%s\"", rows[i].script, told.why);
        assert_int_equal(told.read, 1 + i);
        setenv("FAKE_CUPTI", "", 1);
        count(state, "", values);
        if (column(values, "dram_read_bytes") == IFM_ABSENT)
            fail_msg("after %s nothing is counted", rows[i].script);
    }
    ifm_instrument_gpu_counters.close(state);
}

static void a_set_of_two_passes_is_refused(void **unused)
{
    (void)unused;
    struct ifm_instrument_state *state = open_instrument();
    struct ifm_instrument_told told;
    int64_t values[IFM_COUNTER_COLUMNS];
    setenv("FAKE_CUPTI", "passes=2", 1);
    ifm_instrument_gpu_counters.choose(state, 0);
    count(state, "", values);
    assert_true(column(values, "counters_range_ns") == IFM_ABSENT);
    ifm_instrument_gpu_counters.tell(state, &told);
    assert_non_null(strstr(told.why, "memory need 2 passes"));
    assert_int_equal(told.read, 0);
    ifm_instrument_gpu_counters.close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sets_take_turns), cmocka_unit_test(no_failure_leaves_a_value),
                                       cmocka_unit_test(a_set_of_two_passes_is_refused)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
