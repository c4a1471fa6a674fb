/* A plugin that uses every member of the ABI: all types, hooks, counters, a feature, refusals and failures on demand.
 *
 * A step writes `add` into a place of each worker and sums the places; the oracle is a multiplication. */
#include <inferometer/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ADD, SCALE, TWICE, LABEL, FAULT, BLOCK, PAUSE, SEED, PARAMS };
enum { NO_FAULT, AT_DESCRIBE, SILENT, WHY_NOT, AT_OPEN, AT_CHECK, AT_AFTER, NAN_OUTPUT, NAN_ERROR, CRASH };
enum { MOST = 64, LINE = 8 };

#define ANY (INFEROMETER_PLUGIN_SWEEP | INFEROMETER_PLUGIN_PER_ARM)
static const struct inferometer_plugin_param params[PARAMS] = {
    [ADD] = {"add", INFEROMETER_PLUGIN_U64, ANY, "count", "3", 0, 0, NULL, "what each worker adds"},
    [SCALE] = {"scale", INFEROMETER_PLUGIN_F64, ANY, "1", "1.5", 0, INFINITY, NULL, "tolerance"},
    [TWICE] = {"twice", INFEROMETER_PLUGIN_BOOL, ANY, NULL, "false", 0, 0, NULL, "add twice, the feature"},
    [LABEL] = {"label", INFEROMETER_PLUGIN_TEXT, INFEROMETER_PLUGIN_PER_ARM, "", "a b", 0, 0, NULL, "any text"},
    [FAULT] = {"fault", INFEROMETER_PLUGIN_CHOICE, ANY, "", "none", 0, 0,
               "none|describe|silent|why_not|open|check|after|nan_output|nan_error|crash", "what goes wrong"},
    [BLOCK] = {"block_size", INFEROMETER_PLUGIN_BYTES, ANY, "B", "4KiB", 1, 1e9, NULL, "bytes of the shared input"},
    [PAUSE] = {"pause", INFEROMETER_PLUGIN_SECONDS, 0, "s", "1ms", 0, 1, NULL, "not used"},
    [SEED] = {"seed", INFEROMETER_PLUGIN_U64, 0, "", "5", 0, 9, NULL, "its flag belongs to every command"},
};

static const struct inferometer_plugin_counter counters[] = {{"steps_done", "count"}, {"never_read", NULL}};

struct state {
    const struct inferometer_plugin_host *host;
    uint64_t add, fault, steps, befores, afters, runs, counted;
    uint64_t *sums; /* one line for each worker */
    double *out;
};

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    if (values[FAULT].u64 == AT_DESCRIBE)
        return host->fail(host, "full.fault says describe\n\xff", "choose another fault");
    if (values[FAULT].u64 == SILENT)
        return 1;
    if (values[FAULT].u64 == WHY_NOT)
        ledger->why_not = "full.fault says why_not";
    if (strcmp(values[BLOCK].text, values[BLOCK].u64 == 4096 ? "4096" : values[BLOCK].text) != 0 ||
        values[PAUSE].f64 != 0.001 || strcmp(values[LABEL].text, "a b") != 0)
        return host->fail(host, "values did not arrive", NULL);
    ledger->rows = 1;
    ledger->tokens_generated = 2;
    ledger->memory = values[BLOCK].u64;
    ledger->tolerance = values[SCALE].f64;
    ledger->feature = values[TWICE].u64 != 0 ? "twice" : NULL;
    return 0;
}

static int open_full(const struct inferometer_plugin_value *values, uint64_t seed,
                     const struct inferometer_plugin_host *host, void **out)
{
    void *input, *again, *sums, *results;
    int fresh, fresh_again = 1;
    if (values[FAULT].u64 == AT_OPEN)
        return host->fail(host, "full.fault says open", NULL);
    if (host->buffer(host, "input", values[BLOCK].u64, INFEROMETER_PLUGIN_SHARED, &input, &fresh) != 0 ||
        host->buffer(host, "input", values[BLOCK].u64, INFEROMETER_PLUGIN_SHARED, &again, &fresh_again) != 0 ||
        host->buffer(host, "sums", MOST * LINE * sizeof(uint64_t), 0, &sums, NULL) != 0 ||
        host->buffer(host, "out", sizeof(double), 0, &results, NULL) != 0)
        return 1;
    if (input != again || fresh_again != 0 || (uintptr_t)input % 64 != 0 || host->workers < 1 || host->workers > MOST ||
        seed == 0)
        return host->fail(host, "the host's buffers are not as documented", NULL);
    if (host->buffer(host, "none", 0, 0, &again, NULL) == 0)
        return host->fail(host, "an empty buffer was given out", NULL);
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return host->fail(host, "out of memory", NULL);
    state->host = host;
    state->add = values[ADD].u64 * (values[TWICE].u64 != 0 ? 2 : 1);
    state->fault = values[FAULT].u64;
    state->sums = sums;
    state->out = results;
    *state->out = NAN;
    *out = state;
    return 0;
}

static void work(void *arg, unsigned index, unsigned count)
{
    struct state *state = arg;
    (void)count;
    state->sums[index * LINE] = state->add;
}

static void step(void *arg, uint64_t n)
{
    struct state *state = arg;
    if (state->fault == CRASH && state->afters > 300)
        abort();
    for (; n > 0; n--) {
        state->host->parallel(state->host, work, state);
        state->steps++;
        state->runs++;
    }
    *state->out = 0;
    for (unsigned i = 0; i < state->host->workers; i++)
        *state->out += (double)state->sums[i * LINE];
}

static int check(void *arg, struct inferometer_plugin_check *out)
{
    struct state *state = arg;
    double reference = (double)(state->add * state->host->workers);
    if (state->fault == AT_CHECK)
        return state->host->fail(state->host, "full.fault says check", NULL);
    if (state->fault == NAN_OUTPUT)
        *state->out = NAN;
    if (state->befores != state->afters || state->befores == 0)
        return state->host->fail(state->host, "the hooks did not run in pairs", NULL);
    out->error_rms_rel = out->error_max_rel =
        state->fault == NAN_ERROR ? NAN : fabs(*state->out - reference) / fmax(reference, 1);
    out->values = 1;
    out->finite = isfinite(*state->out) ? 1 : 0;
    out->output = state->out;
    out->output_bytes = sizeof *state->out;
    return 0;
}

static uint64_t feature_runs(const void *state)
{
    return ((const struct state *)state)->runs;
}

static int before(void *arg)
{
    struct state *state = arg;
    state->befores++;
    return 0;
}

static int after(void *arg)
{
    struct state *state = arg;
    state->afters++;
    return state->fault == AT_AFTER && state->afters > 20
               ? state->host->fail(state->host, "full.fault says after", "nothing helps")
               : 0;
}

static void collect(void *arg, int64_t *values)
{
    struct state *state = arg;
    values[0] = (int64_t)(state->steps - state->counted);
    state->counted = state->steps;
}

static void close_full(void *state)
{
    free(state);
}

const struct inferometer_plugin *inferometer_plugin(uint32_t abi)
{
    static const struct inferometer_plugin plugin = {
        .struct_size = sizeof plugin + 64, /* as a later header would say */
        .abi = INFEROMETER_PLUGIN_ABI,
        .most_workers = MOST,
        .name = "full",
        .purpose = "every member of the ABI",
        .timed_region = "one addition of each worker",
        .params = params,
        .n_params = PARAMS,
        .param_size = sizeof *params,
        .counters = counters,
        .n_counters = 2,
        .counter_size = sizeof *counters,
        .describe = describe,
        .open = open_full,
        .step = step,
        .check = check,
        .feature_runs = feature_runs,
        .close = close_full,
        .before = before,
        .after = after,
        .collect = collect,
    };
    return abi == INFEROMETER_PLUGIN_ABI ? &plugin : NULL;
}
