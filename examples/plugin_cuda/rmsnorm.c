/* A plugin for Inferometer with kernels for a GPU: RMS normalisation of rows of f32, in two implementations.
 *
 * What the timed region contains: one kernel over all rows; a block has a row.
 *
 * The kernels are text, which the lab compiles for the GPU that is there: no nvcc, no header and no library of CUDA.
 *
 * Build:  cc -std=c11 -O2 -fPIC -shared -I../../include -o rmsnorm.so rmsnorm.c -lm
 * Run:    inferometer run -c rmsnorm.yaml */
#include <inferometer/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS, WIDTH, BUFFERS, IMPL, PARAMS };            /* places in the table below */
enum { NAIVE, VECTOR };                                 /* places in its choices */
enum { THREADS = 256, MOST_BUFFERS = 64, HELD = 8192 }; /* HELD: values of a row that a block holds in registers */
static const float EPSILON = 1e-5f;

static const struct inferometer_plugin_param params[PARAMS] = {
    [ROWS] = {"rows", INFEROMETER_PLUGIN_U64, INFEROMETER_PLUGIN_SWEEP, "count", "1024", 1, 1048576, NULL,
              "rows that are normalised"},
    [WIDTH] = {"width", INFEROMETER_PLUGIN_U64, INFEROMETER_PLUGIN_SWEEP, "count", "4096", 1, 1048576, NULL,
               "values of a row"},
    [BUFFERS] = {"buffers", INFEROMETER_PLUGIN_U64, 0, "count", "16", 1, MOST_BUFFERS, NULL,
                 "equal inputs that steps take in turn, so that none finds its own in the cache"},
    [IMPL] = {"impl", INFEROMETER_PLUGIN_CHOICE, INFEROMETER_PLUGIN_SWEEP | INFEROMETER_PLUGIN_PER_ARM, "", "naive", 0,
              0, "naive|vector", "loads of one value, or of four that stay in registers"},
};

/* ---- the kernels ---- */

static const char source[] =
    "extern \"C\" __global__ void rmsnorm_naive(const float *x, const float *weight, float *out, unsigned width,\n"
    "                                         float epsilon)\n"
    "{\n"
    "    __shared__ float parts[256];\n"
    "    const float *row = x + (size_t)blockIdx.x * width;\n"
    "    float sum = 0;\n"
    "    for (unsigned i = threadIdx.x; i < width; i += blockDim.x)\n"
    "        sum += row[i] * row[i];\n"
    "    parts[threadIdx.x] = sum;\n"
    "    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {\n"
    "        __syncthreads();\n"
    "        if (threadIdx.x < half)\n"
    "            parts[threadIdx.x] += parts[threadIdx.x + half];\n"
    "    }\n"
    "    __syncthreads();\n"
    "    const float scale = 1 / sqrtf(parts[0] / width + epsilon);\n"
    "    for (unsigned i = threadIdx.x; i < width; i += blockDim.x)\n"
    "        out[(size_t)blockIdx.x * width + i] = row[i] * scale * weight[i];\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void rmsnorm_vector(const float *x, const float *weight, float *out, unsigned width,\n"
    "                                          float epsilon)\n"
    "{\n"
    "    __shared__ float parts[8];\n"
    "    const float4 *row = (const float4 *)(x + (size_t)blockIdx.x * width), *w = (const float4 *)weight;\n"
    "    float4 *to = (float4 *)(out + (size_t)blockIdx.x * width), held[8];\n"
    "    float sum = 0;\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < 8; i++) {\n"
    "        const unsigned at = threadIdx.x + 256 * i;\n"
    "        held[i] = at < width / 4 ? row[at] : make_float4(0, 0, 0, 0);\n"
    "        sum += held[i].x * held[i].x + held[i].y * held[i].y + held[i].z * held[i].z + held[i].w * held[i].w;\n"
    "    }\n"
    "    for (unsigned half = 16; half > 0; half /= 2)\n"
    "        sum += __shfl_xor_sync(0xffffffff, sum, half);\n"
    "    if (threadIdx.x % 32 == 0)\n"
    "        parts[threadIdx.x / 32] = sum;\n"
    "    __syncthreads();\n"
    "    sum = 0;\n"
    "    for (unsigned i = 0; i < 8; i++)\n"
    "        sum += parts[i];\n"
    "    const float scale = 1 / sqrtf(sum / width + epsilon);\n"
    "#pragma unroll\n"
    "    for (unsigned i = 0; i < 8; i++) {\n"
    "        const unsigned at = threadIdx.x + 256 * i;\n"
    "        if (at < width / 4) {\n"
    "            const float4 by = w[at];\n"
    "            to[at] = make_float4(held[i].x * scale * by.x, held[i].y * scale * by.y, held[i].z * scale * by.z,\n"
    "                                 held[i].w * scale * by.w);\n"
    "        }\n"
    "    }\n"
    "}\n";
static const char *const kernels[] = {[NAIVE] = "rmsnorm_naive", [VECTOR] = "rmsnorm_vector"};

struct state {
    const struct inferometer_plugin_host *host;
    uint64_t seed, rows;
    uint32_t width;
    float epsilon;
    void *kernel;
    const uint32_t *turn;                      /* which input this step takes */
    void *inputs[MOST_BUFFERS], *weight, *out; /* on the GPU */
};

/* ---- the table's functions ---- */

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    const uint64_t rows = values[ROWS].u64, width = values[WIDTH].u64, bytes = rows * width * sizeof(float);
    (void)host;
    if (values[IMPL].u64 == VECTOR && (width % 4 != 0 || width > HELD))
        ledger->why_not = "rmsnorm.impl=vector has rows of up to 8192 values, a multiple of 4";
    ledger->flops = 4 * rows * width;
    ledger->bytes_read = bytes + width * sizeof(float);
    ledger->bytes_written = bytes;
    ledger->rows = rows;
    ledger->working_set = ledger->memory = (values[BUFFERS].u64 + 1) * bytes + width * sizeof(float);
    /* A thread adds up width / 256 squares, a block what its threads have: roundings of some 20 additions, a root and
     * three products. A lost value of a row of 8192 is off by 6e-5. */
    ledger->tolerance = 32 * 0x1p-24 + 0x1p-24 * sqrt((double)width);
    return 0;
}

/* Values in [-1, 1) that depend on seed and index only: splitmix64. */
static float value_of(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (float)((z ^ z >> 31) >> 40) * 0x1p-23f - 1;
}

/* Memory of the GPU that all arms share, filled once. */
static int input(const struct inferometer_plugin_host *host, const char *name, uint64_t seed, size_t n, void **out)
{
    int fresh, failed = 1;
    if (host->buffer(host, name, n * sizeof(float), INFEROMETER_PLUGIN_SHARED, out, &fresh) != 0)
        return 1;
    if (!fresh)
        return 0;
    float *all = malloc(n * sizeof *all);
    if (all == NULL)
        return host->fail(host, "out of memory", NULL);
    for (size_t i = 0; i < n; i++)
        all[i] = value_of(seed, i);
    failed = host->cuda->write(host, *out, all, n * sizeof *all);
    free(all);
    return failed;
}

static int prepare(struct state *state, const struct inferometer_plugin_value *values,
                   const struct inferometer_plugin_host *host)
{
    const struct inferometer_plugin_code code = {"rmsnorm.cu", INFEROMETER_PLUGIN_CUDA_SOURCE, 0, source,
                                                 sizeof source - 1};
    const uint32_t buffers = (uint32_t)values[BUFFERS].u64;
    const size_t all = state->rows * state->width;
    void *module;
    if (host->cuda->module(host, &code, &module) != 0 ||
        host->cuda->kernel(host, module, kernels[values[IMPL].u64], 0, &state->kernel) != 0 ||
        host->cuda->turns(host, buffers, &state->turn) != 0 ||
        input(host, "weight", ~state->seed, state->width, &state->weight) != 0 ||
        host->buffer(host, "out", all * sizeof(float), 0, &state->out, NULL) != 0)
        return 1;
    for (uint32_t i = 0; i < buffers; i++) {
        char name[] = "x00"; /* equal values in each: a step's output does not depend on its turn */
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        if (input(host, name, state->seed, all, &state->inputs[i]) != 0)
            return 1;
    }
    host->cuda->fill(host, state->out, 0xffffffff, all); /* NaN: an output that no step writes shows */
    return 0;
}

static int open_rmsnorm(const struct inferometer_plugin_value *values, uint64_t seed,
                        const struct inferometer_plugin_host *host, void **out)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return host->fail(host, "out of memory", NULL);
    state->host = host;
    state->seed = seed;
    state->rows = values[ROWS].u64;
    state->width = (uint32_t)values[WIDTH].u64;
    state->epsilon = EPSILON;
    if (prepare(state, values, host) != 0) {
        free(state);
        return 1;
    }
    *out = state;
    return 0;
}

/* Puts steps on the stream; they are captured, and replayed. */
static void step(void *arg, uint64_t n)
{
    struct state *state = arg;
    void *parameters[] = {&state->inputs[*state->turn], &state->weight, &state->out, &state->width, &state->epsilon};
    const struct inferometer_plugin_launch launch = {
        state->kernel, {(uint32_t)state->rows, 1, 1}, {THREADS, 1, 1}, 0, 0, parameters};
    for (; n > 0; n--)
        state->host->cuda->launch(state->host, &launch);
}

/* Every output against f64, from the seed alone. */
static void compare(const struct state *state, const float *got, struct inferometer_plugin_check *out)
{
    double squares = 0, errors = 0, most = 0, worst = 0;
    out->finite = 1;
    for (uint64_t row = 0; row < state->rows; row++) {
        double sum = 0;
        for (uint64_t i = 0; i < state->width; i++) {
            const double x = (double)value_of(state->seed, row * state->width + i);
            sum += x * x;
        }
        const double scale = 1 / sqrt(sum / state->width + (double)EPSILON);
        for (uint64_t i = 0; i < state->width; i++) {
            const uint64_t at = row * state->width + i;
            const double wanted = (double)value_of(state->seed, at) * scale * (double)value_of(~state->seed, i);
            const double error = fabs((double)got[at] - wanted);
            squares += wanted * wanted;
            errors += error * error;
            most = fmax(most, fabs(wanted));
            worst = fmax(worst, error);
            out->finite &= isfinite(got[at]) != 0;
        }
    }
    out->error_rms_rel = out->finite ? sqrt(errors / squares) : 0;
    out->error_max_rel = out->finite ? worst / most : 0;
}

static int check(void *arg, struct inferometer_plugin_check *out)
{
    struct state *state = arg;
    const size_t values = state->rows * state->width;
    float *got = malloc(values * sizeof *got);
    if (got == NULL)
        return state->host->fail(state->host, "out of memory", NULL);
    const int failed = state->host->cuda->read(state->host, got, state->out, values * sizeof *got);
    if (failed == 0)
        compare(state, got, out);
    out->values = values;
    out->output = state->out; /* where it lies on the GPU */
    out->output_bytes = values * sizeof *got;
    free(got);
    return failed;
}

static void close_rmsnorm(void *state)
{
    free(state); /* memory, module and kernel are the lab's */
}

const struct inferometer_plugin *inferometer_plugin(uint32_t abi)
{
    static const struct inferometer_plugin plugin = {
        .struct_size = sizeof plugin,
        .abi = INFEROMETER_PLUGIN_ABI,
        .name = "rmsnorm",
        .purpose = "RMS normalisation of rows of f32",
        .timed_region = "one kernel over all rows",
        .params = params,
        .n_params = PARAMS,
        .param_size = sizeof *params,
        .describe = describe,
        .open = open_rmsnorm,
        .step = step,
        .check = check,
        .close = close_rmsnorm,
        .devices = INFEROMETER_PLUGIN_CUDA,
    };
    return abi == INFEROMETER_PLUGIN_ABI ? &plugin : NULL;
}
