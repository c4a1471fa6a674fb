/* A plugin for Inferometer: the dot product of two vectors of f32, in two implementations.
 *
 * What the timed region contains: one pass over x and y, split over the workers, and the sum of their parts.
 *
 * Build:  cc -std=c11 -O2 -fPIC -shared -I../../include -o dot.so dot.c -lm
 * Run:    inferometer run -c dot.yaml */
#include <inferometer/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, IMPL, PARAMS };              /* places in the table below */
enum { NAIVE, UNROLLED };              /* places in its choices */
enum { MOST_WORKERS = 64, LINE = 16 }; /* a cache line holds 16 floats: workers must not share one */

static const struct inferometer_plugin_param params[PARAMS] = {
    [N] = {"n", INFEROMETER_PLUGIN_U64, INFEROMETER_PLUGIN_SWEEP | INFEROMETER_PLUGIN_PER_ARM, "count", "1048576", 1,
           1073741824, NULL, "elements of each vector"},
    [IMPL] = {"impl", INFEROMETER_PLUGIN_CHOICE, INFEROMETER_PLUGIN_SWEEP | INFEROMETER_PLUGIN_PER_ARM, "", "naive", 0,
              0, "naive|unrolled", "one running sum, or eight that do not wait for each other"},
};

struct state {
    const struct inferometer_plugin_host *host;
    size_t n;
    float (*dot)(const float *x, const float *y, size_t n);
    const float *x, *y;
    float *parts; /* one line for each worker */
    float *result;
};

/* ---- the two implementations ---- */

static float dot_naive(const float *x, const float *y, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static float dot_unrolled(const float *x, const float *y, size_t n)
{
    float sums[8] = {0}, sum = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            sums[k] += x[i + k] * y[i + k];
    for (size_t k = 0; k < 8; k++)
        sum += sums[k];
    return sum + dot_naive(x + i, y + i, n - i);
}

/* ---- the table's functions ---- */

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    uint64_t n = values[N].u64;
    if (host->workers > MOST_WORKERS) /* cannot happen: the table says most_workers */
        return host->fail(host, "too many workers", NULL);
    ledger->flops = 2 * n;
    ledger->bytes_read = 2 * n * sizeof(float);
    ledger->rows = 1;
    ledger->working_set = ledger->memory = 2 * n * sizeof(float);
    /* A running sum of n rounded terms is off by about sqrt(n) roundings; the data are all positive, so that the sum
     * itself does not cancel. A factor of 8 leaves room, and a lost element of a small vector is far beyond it. */
    ledger->tolerance = 8 * 0x1p-24 * sqrt((double)n);
    return 0;
}

/* Values in [0.5, 1) that depend on seed and index only: splitmix64. */
static float value_of(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return 0.5f + (float)((z ^ z >> 31) >> 41) * 0x1p-24f;
}

static int input(const struct inferometer_plugin_host *host, const char *name, uint64_t seed, size_t n,
                 const float **out)
{
    void *memory;
    int fresh;
    if (host->buffer(host, name, n * sizeof(float), INFEROMETER_PLUGIN_SHARED, &memory, &fresh) != 0)
        return 1;
    for (size_t i = 0; fresh && i < n; i++)
        ((float *)memory)[i] = value_of(seed, i);
    *out = memory;
    return 0;
}

static int open_dot(const struct inferometer_plugin_value *values, uint64_t seed,
                    const struct inferometer_plugin_host *host, void **out)
{
    struct state *state = calloc(1, sizeof *state);
    void *parts, *result;
    if (state == NULL)
        return host->fail(host, "out of memory", NULL);
    state->host = host;
    state->n = values[N].u64;
    state->dot = values[IMPL].u64 == NAIVE ? dot_naive : dot_unrolled;
    if (input(host, "x", seed, state->n, &state->x) != 0 || input(host, "y", ~seed, state->n, &state->y) != 0 ||
        host->buffer(host, "parts", MOST_WORKERS * LINE * sizeof(float), 0, &parts, NULL) != 0 ||
        host->buffer(host, "result", sizeof(float), 0, &result, NULL) != 0) {
        free(state);
        return 1;
    }
    state->parts = parts;
    state->result = result;
    *state->result = NAN; /* a result that no step writes shows; the lab does the same before later steps */
    *out = state;
    return 0;
}

static void work(void *arg, unsigned index, unsigned count)
{
    struct state *state = arg;
    size_t from = state->n * index / count, to = state->n * (index + 1) / count;
    state->parts[index * LINE] = state->dot(state->x + from, state->y + from, to - from);
}

static void step(void *arg, uint64_t n)
{
    struct state *state = arg;
    for (; n > 0; n--) {
        float sum = 0;
        state->host->parallel(state->host, work, state);
        for (unsigned i = 0; i < state->host->workers; i++)
            sum += state->parts[i * LINE];
        *state->result = sum;
    }
}

static int check(void *arg, struct inferometer_plugin_check *out)
{
    struct state *state = arg;
    long double reference = 0;
    for (size_t i = 0; i < state->n; i++)
        reference += (long double)state->x[i] * state->y[i];
    out->error_rms_rel = out->error_max_rel = (double)(fabsl(*state->result - reference) / reference);
    out->values = 1;
    out->finite = isfinite(*state->result) ? 1 : 0;
    out->output = state->result;
    out->output_bytes = sizeof *state->result;
    return 0;
}

static void close_dot(void *state)
{
    free(state); /* the buffers are the lab's */
}

const struct inferometer_plugin *inferometer_plugin(uint32_t abi)
{
    static const struct inferometer_plugin plugin = {
        .struct_size = sizeof plugin,
        .abi = INFEROMETER_PLUGIN_ABI,
        .most_workers = MOST_WORKERS,
        .name = "dot",
        .purpose = "the dot product of two f32 vectors",
        .timed_region = "one pass over both vectors, split over the workers, and the sum of their parts",
        .params = params,
        .n_params = PARAMS,
        .param_size = sizeof *params,
        .describe = describe,
        .open = open_dot,
        .step = step,
        .check = check,
        .close = close_dot,
    };
    return abi == INFEROMETER_PLUGIN_ABI ? &plugin : NULL;
}
