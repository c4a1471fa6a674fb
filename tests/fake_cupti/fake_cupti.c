/* A CUPTI for tests, built as libcupti.so.13 and opened as one: its range profiler counts the kernels that the fake
 * driver (tests/fake_cuda) ran between push and pop, and gives so much of everything for each. It insists on the order
 * of calls that the real one insists on, and on the sizes of structs.
 *
 * The script is the environment variable FAKE_CUPTI, "key=value" separated by ';':
 *   chip=GH100           the name of the chip
 *   version=130001       cuptiGetVersion
 *   fails=FUNCTION:35    this function gives this result
 *   level=wsl            DeviceSupported says that this is not supported: wsl, confidential, virtual
 *   disabled=1           the same, but as "disabled by the system"
 *   passes=2             how many passes a configuration needs; with ranges that are then not complete
 *   incomplete=1         Stop says that not all passes were submitted
 *   dropped=1            so many ranges are dropped
 *   ranges=0             so many ranges are in the image
 *   nan=METRIC           this metric is not a number; negative=METRIC: it is below 0;
 *                        huge=METRIC: it overflowed
 *   slows=40000          so many ns pass behind each kernel while it is counted or recorded
 *   stale=METRIC         nothing is written for it
 *   varies=10            every other range has so many per cent more of what its kernels count
 *   read=1048576, write=0, requests=1000, hits=250, misses=750, sectors=4000, sectorhits=3000, sectormisses=1000,
 *   writes=100, fabric=0, warps=8, f16=0, bf16=0, fp8=0    for each kernel
 *   occupancy=25, issue=40, tensor=10, active=95, conflicts=2, l2=30, link=20    in per cent
 *   there=16, eligible=4, long_scoreboard=6, wait=2, gmma=1, barrier=1, short_scoreboard=0, math_pipe=0    warps in
 *                        each cycle
 * Thread rule: one thread. */
#include "fake_cupti.h"
#include "dyn/cupti.h"
#include "fake_script.h"

#include <dlfcn.h>
#include <math.h>

enum { INVALID_PARAMETER = 1, INVALID_OPERATION = 7, MOST_METRICS = 32, IMAGE = 256 };

#define DECLARE(name, type, last) FAKE_EXPORT int name(struct ifm_cupti_##type *);
IFM_CUPTI_FUNCTIONS(DECLARE)
FAKE_EXPORT int cuptiGetVersion(uint32_t *version);
FAKE_EXPORT int cuptiGetResultString(int result, const char **words);

struct ifm_cupti_host_object {
    char metrics[MOST_METRICS][96];
    size_t n;
};

/* The one profiler, in the order in which its calls must come. */
static struct ifm_cupti_range_object {
    bool initialized, enabled, configured, started, pushed, stopped, decoded;
    const uint8_t *laid_out;
    unsigned long long kernels, ns; /* at the push; then in the range */
    unsigned popped;                /* ranges */
} profiler;

static const char *value_of(const char *key)
{
    return fake_script_value(getenv("FAKE_CUPTI"), key);
}

static double number(const char *key, double fallback)
{
    const char *value = value_of(key);
    return value == NULL ? fallback : strtod(value, NULL);
}

/* The result that the script wants of the function; 0 = it works. */
static int scripted(const char *function)
{
    const char *value = value_of("fails"), *colon = value == NULL ? NULL : strchr(value, ':');
    const bool is =
        colon != NULL && strncmp(value, function, (size_t)(colon - value)) == 0 && function[colon - value] == '\0';
    return is ? atoi(colon + 1) : 0;
}

#define BEGIN(type, last)                                                                                              \
    if (params->size != IFM_CUPTI_SIZE(struct ifm_cupti_##type, last) || params->reserved != NULL)                     \
        return INVALID_PARAMETER;                                                                                      \
    if (scripted(__func__) != 0)                                                                                       \
    return scripted(__func__)
#define NEED(condition)                                                                                                \
    if (!(condition))                                                                                                  \
    return INVALID_OPERATION

static unsigned long long driver_count(const char *what)
{
    unsigned long long (*count)(const char *);
    void *symbol = dlsym(RTLD_DEFAULT, "fake_cuda_count");
    memcpy(&count, &symbol, sizeof symbol);
    return symbol == NULL ? 0 : count(what);
}

void fake_cupti_slow(bool on)
{
    void (*observe)(unsigned long long);
    void *symbol = dlsym(RTLD_DEFAULT, "fake_cuda_observe");
    memcpy(&observe, &symbol, sizeof symbol);
    if (symbol != NULL)
        observe(on ? (unsigned long long)number("slows", 0) : 0);
}

static unsigned long long kernels_so_far(void)
{
    return driver_count("kernels") - driver_count("ifm_stamp");
}

int cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)number("version", 130001);
    return 0;
}

int cuptiGetResultString(int result, const char **words)
{
    *words = result == INVALID_OPERATION ? "FAKE_INVALID_OPERATION" : "FAKE_ERROR";
    return 0;
}

int cuptiProfilerInitialize(struct ifm_cupti_initialize *params)
{
    BEGIN(initialize, reserved);
    profiler.initialized = true;
    return 0;
}

int cuptiProfilerDeviceSupported(struct ifm_cupti_supported *params)
{
    BEGIN(supported, api);
    const unsigned bad = value_of("disabled") != NULL ? IFM_CUPTI_DISABLED : IFM_CUPTI_UNSUPPORTED;
    const char *level = value_of("level");
    NEED(profiler.initialized);
    params->all = params->architecture = params->sli = params->virtual_gpu = params->confidential = params->mining =
        params->wsl = IFM_CUPTI_SUPPORTED;
    if (level == NULL)
        return 0;
    params->all = bad;
    *(strcmp(level, "wsl") == 0            ? &params->wsl
      : strcmp(level, "confidential") == 0 ? &params->confidential
      : strcmp(level, "virtual") == 0      ? &params->virtual_gpu
                                           : &params->architecture) = bad;
    return 0;
}

int cuptiDeviceGetChipName(struct ifm_cupti_chip *params)
{
    static char chip[32];
    BEGIN(chip, name);
    NEED(profiler.initialized);
    const char *value = value_of("chip");
    snprintf(chip, sizeof chip, "%.31s", value == NULL ? "GH100" : value);
    params->name = chip;
    return 0;
}

int cuptiProfilerGetCounterAvailability(struct ifm_cupti_availability *params)
{
    BEGIN(availability, image);
    NEED(profiler.initialized && params->context != NULL);
    if (params->image != NULL)
        memset(params->image, 1, params->bytes);
    params->bytes = IMAGE;
    return 0;
}

int cuptiProfilerHostInitialize(struct ifm_cupti_host_open *params)
{
    BEGIN(host_open, host);
    NEED(params->availability != NULL && params->availability[0] == 1);
    params->host = calloc(1, sizeof *params->host);
    return params->host == NULL ? INVALID_OPERATION : 0;
}

int cuptiProfilerHostDeinitialize(struct ifm_cupti_host_close *params)
{
    BEGIN(host_close, host);
    free(params->host);
    return 0;
}

int cuptiProfilerHostConfigAddMetrics(struct ifm_cupti_add_metrics *params)
{
    BEGIN(add_metrics, n);
    for (size_t i = 0; i < params->n && params->host->n < MOST_METRICS; i++)
        snprintf(params->host->metrics[params->host->n++], sizeof params->host->metrics[0], "%s", params->names[i]);
    return 0;
}

int cuptiProfilerHostGetConfigImageSize(struct ifm_cupti_config_size *params)
{
    BEGIN(config_size, bytes);
    NEED(params->host->n > 0);
    params->bytes = IMAGE;
    return 0;
}

int cuptiProfilerHostGetConfigImage(struct ifm_cupti_config_image *params)
{
    BEGIN(config_image, image);
    NEED(params->bytes == IMAGE);
    memset(params->image, 2, params->bytes);
    return 0;
}

int cuptiProfilerHostGetNumOfPasses(struct ifm_cupti_passes *params)
{
    BEGIN(passes, n);
    NEED(params->image[0] == 2);
    params->n = (size_t)number("passes", 1);
    return 0;
}

int cuptiRangeProfilerEnable(struct ifm_cupti_enable *params)
{
    BEGIN(enable, range);
    NEED(!profiler.enabled && params->context != NULL);
    profiler = (struct ifm_cupti_range_object){.initialized = true, .enabled = true};
    params->range = &profiler;
    return 0;
}

int cuptiRangeProfilerDisable(struct ifm_cupti_object *params)
{
    BEGIN(object, range);
    NEED(profiler.enabled && !profiler.started);
    profiler.enabled = false;
    return 0;
}

int cuptiRangeProfilerGetCounterDataSize(struct ifm_cupti_data_size *params)
{
    BEGIN(data_size, bytes);
    NEED(params->range == &profiler && params->most_ranges == 1 && params->most_nodes == 1);
    params->bytes = IMAGE;
    return 0;
}

int cuptiRangeProfilerCounterDataImageInitialize(struct ifm_cupti_data_image *params)
{
    BEGIN(data_image, image);
    NEED(!profiler.started && params->bytes == IMAGE);
    memset(params->image, 3, params->bytes);
    profiler.laid_out = params->image;
    profiler.configured = profiler.decoded = profiler.stopped = false;
    return 0;
}

int cuptiRangeProfilerSetConfig(struct ifm_cupti_config *params)
{
    BEGIN(config, target_level);
    NEED(profiler.laid_out == params->data && params->config[0] == 2 && params->ranges == IFM_CUPTI_USER_RANGE &&
         params->replay == IFM_CUPTI_USER_REPLAY && params->levels == 1 && params->least_level == 1);
    profiler.configured = true;
    return 0;
}

int cuptiRangeProfilerStart(struct ifm_cupti_object *params)
{
    BEGIN(object, range);
    NEED(profiler.configured && !profiler.started && !profiler.stopped);
    profiler.started = true;
    return 0;
}

int cuptiRangeProfilerPushRange(struct ifm_cupti_push *params)
{
    BEGIN(push, name);
    NEED(profiler.started && !profiler.pushed && params->name != NULL);
    profiler.pushed = true;
    profiler.kernels = kernels_so_far();
    profiler.ns = driver_count("device ns");
    fake_cupti_slow(true);
    return 0;
}

int cuptiRangeProfilerPopRange(struct ifm_cupti_object *params)
{
    BEGIN(object, range);
    NEED(profiler.pushed);
    profiler.pushed = false;
    profiler.popped++;
    fake_cupti_slow(false);
    profiler.kernels = kernels_so_far() - profiler.kernels;
    profiler.ns = driver_count("device ns") - profiler.ns;
    return 0;
}

int cuptiRangeProfilerStop(struct ifm_cupti_stop *params)
{
    BEGIN(stop, all_submitted);
    NEED(profiler.started);
    profiler.started = profiler.pushed = false;
    profiler.stopped = true;
    params->all_submitted = number("passes", 1) < 2 && value_of("incomplete") == NULL;
    return 0;
}

int cuptiRangeProfilerDecodeData(struct ifm_cupti_decode *params)
{
    BEGIN(decode, dropped);
    NEED(profiler.stopped);
    profiler.decoded = true;
    params->dropped = (size_t)number("dropped", 0);
    return 0;
}

int cuptiRangeProfilerGetCounterDataInfo(struct ifm_cupti_info *params)
{
    BEGIN(info, ranges);
    NEED(profiler.decoded && params->data == profiler.laid_out);
    params->ranges = (size_t)number("ranges", 1);
    return 0;
}

/* Of one kernel. */
static double each_of(const char *metric)
{
    static const struct {
        const char *words, *key;
        double fallback;
    } rows[] = {{"dram__bytes_read", "read", 1048576},
                {"dram__bytes_write", "write", 0},
                {"dram_read_bytes", "read", 1048576},
                {"dram_write_bytes", "write", 0},
                {"sectors_lookup_hit", "sectorhits", 3000},
                {"sectors_lookup_miss", "sectormisses", 1000},
                {"lookup_hit", "hits", 250},
                {"lookup_miss", "misses", 750},
                {"requests_srcunit_tex", "requests", 1000},
                {"op_write", "writes", 100},
                {"ltcfabric", "fabric", 0},
                {"lts__t_sectors", "sectors", 4000},
                {"warps", "warps", 8},
                {"igmma", "int8", 0},
                {"int8", "none", 0},
                {"tf32", "tf32", 0},
                {"op_hmma", "none", 0},
                {"bf16", "bf16", 0},
                {"src_fp8", "fp8", 0},
                {"fp16", "f16", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(metric, rows[i].words) != NULL)
            return number(rows[i].key, rows[i].fallback);
    return 0;
}

/* What a range has whatever its kernels are: shares in per cent, and warps for each of its cycles. */
static bool of_range(const char *metric, double cycles, double *out)
{
    static const struct {
        const char *words, *key;
        double fallback;
        bool percent;
    } rows[] = {{"sm__warps_active.avg", "occupancy", 25, true},
                {"issue_active.avg", "issue", 40, true},
                {"pipe_tensor_cycles_active", "tensor", 10, true},
                {"sm__cycles_active.avg", "active", 95, true},
                {"bank_conflicts", "conflicts", 2, true},
                {"lts__t_sectors.avg", "l2", 30, true},
                {"ltcfabric2ltc", "link", 20, true},
                {"sm__warps_active.sum", "there", 16, false},
                {"warps_eligible", "eligible", 4, false},
                {"stalled_long_scoreboard", "long_scoreboard", 6, false},
                {"stalled_wait", "wait", 2, false},
                {"stalled_gmma", "gmma", 1, false},
                {"stalled_barrier", "barrier", 1, false},
                {"stalled_short_scoreboard", "short_scoreboard", 0, false},
                {"stalled_math_pipe_throttle", "math_pipe", 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(metric, rows[i].words) != NULL) {
            *out = (rows[i].percent ? 1 : cycles) * number(rows[i].key, rows[i].fallback);
            return true;
        }
    return false;
}

int cuptiProfilerHostEvaluateToGpuValues(struct ifm_cupti_evaluate *params)
{
    BEGIN(evaluate, values);
    NEED(profiler.decoded && params->data == profiler.laid_out && params->range == 0 && params->n == params->host->n);
    const double more = 1 + 0.01 * number("varies", 0) * (profiler.popped % 2);
    for (size_t i = 0; i < params->n; i++) {
        const char *name = params->names[i];
        if (strcmp(name, params->host->metrics[i]) != 0)
            return IFM_CUPTI_INVALID_METRIC_NAME;
        if (fake_script_says(getenv("FAKE_CUPTI"), "stale", name))
            continue;
        const double ns = (double)profiler.ns + 20000, cycles = 1.755 * ns;
        if (!of_range(name, cycles, &params->values[i]))
            params->values[i] = strstr(name, "duration") != NULL ? ns
                                : strstr(name, "cycles") != NULL ? cycles
                                                                 : each_of(name) * (double)profiler.kernels * more;
        if (fake_script_says(getenv("FAKE_CUPTI"), "nan", name))
            params->values[i] = NAN;
        if (fake_script_says(getenv("FAKE_CUPTI"), "negative", name))
            params->values[i] = -1;
        if (fake_script_says(getenv("FAKE_CUPTI"), "huge", name)) /* a counter of 64 bits that wrapped below 0 */
            params->values[i] = 18446744073709551000.0;
    }
    return 0;
}
