/* A plugin for a GPU with faults on demand: a step adds a term to every value of its input.
 *
 * It works on the processor too. Where a fault needs the driver itself, it opens it as anybody would. */
#include <inferometer/plugin.h>

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N, FAULT, LAUNCHED, TURNS, PARAMS };
enum {
    NO_FAULT,
    UNWRITTEN, /* no step writes */
    SECOND,    /* every second call writes */
    HALF,      /* half of the output */
    LAUNCH,    /* a launch that no GPU takes */
    ADDRESS,   /* an illegal access in a kernel */
    WAITS,     /* a step waits, which no graph can hold */
    STREAM,    /* a step works on a stream of its own */
    NO_CODE,   /* a module that is none */
    NO_KERNEL, /* a kernel that the module lacks */
    CONTEXT,   /* open leaves no context current */
    OUTSIDE,   /* the output is no memory of host->buffer */
    ARGUMENTS, /* the host's functions, asked for what cannot be */
    LATE,      /* from its 30th call on a step is an illegal access */
};

#define ANY (INFEROMETER_PLUGIN_SWEEP | INFEROMETER_PLUGIN_PER_ARM)
static const struct inferometer_plugin_param params[PARAMS] = {
    [N] = {"n", INFEROMETER_PLUGIN_U64, ANY, "count", "1001", 1, 1048576, NULL, "values"},
    [FAULT] =
        {"fault", INFEROMETER_PLUGIN_CHOICE, ANY, "", "none", 0, 0,
         "none|unwritten|second|half|launch|address|waits|stream|no_code|no_kernel|context|outside|arguments|late",
         "what goes wrong"},
    [LAUNCHED] = {"launched", INFEROMETER_PLUGIN_BOOL, ANY, "", "false", 0, 0, NULL, "its steps are not captured"},
    [TURNS] = {"turns", INFEROMETER_PLUGIN_U64, ANY, "count", "3", 1, 64, NULL, "inputs in turn"},
};

static const char source[] =
    "extern \"C\" __global__ void plugin_add(const float *x, float *out, unsigned n, float term)\n"
    "{\n"
    "    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        out[i] = x[i] + term;\n"
    "}\n";

struct state {
    const struct inferometer_plugin_host *host;
    uint32_t n;
    uint64_t fault, calls;
    float term;
    float *x[64], *out, *own; /* of the device; `own` of the host */
    void *kernel;
    const uint32_t *turn;
    int (*wait)(void *stream);
    void *stream; /* its own, a kernel for which it launches by the driver */
    void *function;
    int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *stream,
                  void **parameters, void **extra);
};

static int describe(const struct inferometer_plugin_value *values, const struct inferometer_plugin_host *host,
                    struct inferometer_plugin_ledger *ledger)
{
    if (host->device == INFEROMETER_PLUGIN_CUDA && (host->cuda->multiprocessors == 0 || host->cuda->stream != NULL))
        return host->fail(host, "the GPU is not as documented", NULL);
    ledger->bytes_read = ledger->bytes_written = values[N].u64 * sizeof(float);
    ledger->memory = (values[TURNS].u64 + 1) * ledger->bytes_read;
    ledger->tolerance = 1e-6;
    ledger->no_graph = values[LAUNCHED].u64 != 0;
    return 0;
}

/* ---- the driver itself ---- */

typedef int get_proc_fn(const char *name, void **address, int version, uint64_t flags, int *status);

static int driver(const char *name, void *address)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *found = NULL, *symbol;
    get_proc_fn *get = NULL;
    int status;
    symbol = library == NULL ? NULL : dlsym(library, "cuGetProcAddress_v2");
    if (symbol == NULL)
        return 1;
    memcpy(&get, &symbol, sizeof get);
    if (get(name, &found, 12000, 0, &status) != 0)
        return 1;
    memcpy(address, &found, sizeof found);
    return 0;
}

static int own_stream(struct state *state)
{
    int (*load)(void **, const void *), (*find)(void **, void *, const char *), (*create)(void **, unsigned);
    static const char ptx[] = "//\n.version 7.0\n.target sm_80\n.address_size 64\n"
                              ".visible .entry plugin_add(.param .u64 x, .param .u64 out, .param .u32 n, "
                              ".param .f32 term)\n"
                              "{\n.reg .b64 %a<6>;\n.reg .b32 %r<4>;\n.reg .f32 %f<3>;\n.reg .pred %p;\n"
                              "ld.param.u64 %a0, [x];\nld.param.u64 %a1, [out];\nld.param.u32 %r0, [n];\n"
                              "ld.param.f32 %f0, [term];\nmov.u32 %r1, 0;\n"
                              "again:\nmul.wide.u32 %a2, %r1, 4;\nadd.u64 %a3, %a0, %a2;\nadd.u64 %a4, %a1, %a2;\n"
                              "ld.global.f32 %f1, [%a3];\nadd.f32 %f1, %f1, %f0;\nst.global.f32 [%a4], %f1;\n"
                              "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p, %r1, %r0;\n@%p bra again;\nret;\n}\n";
    void *module;
    return driver("cuModuleLoadData", &load) != 0 || driver("cuModuleGetFunction", &find) != 0 ||
           driver("cuStreamCreate", &create) != 0 || driver("cuLaunchKernel", &state->launch) != 0 ||
           load(&module, ptx) != 0 || find(&state->function, module, "plugin_add") != 0 ||
           create(&state->stream, 1) != 0;
}

static int lose_context(void)
{
    int (*set)(void *) = NULL;
    return driver("cuCtxSetCurrent", &set) != 0 || set(NULL) != 0;
}

/* ---- open ---- */

/* Each must be refused, with words. */
static int wrong_arguments(const struct inferometer_plugin_host *host)
{
    const struct inferometer_plugin_code empty = {"none", INFEROMETER_PLUGIN_CUDA_SOURCE, 0, source, 0},
                                         unknown = {"none", 7, 0, source, sizeof source - 1};
    const struct inferometer_plugin_launch nothing = {0};
    const uint32_t *turn;
    void *any;
    host->cuda->launch(host, &nothing); /* a kernel that was not found: nothing is launched */
    if (host->cuda->module(host, &empty, &any) == 0 || host->cuda->module(host, &unknown, &any) == 0 ||
        host->cuda->module(host, NULL, &any) == 0 || host->cuda->kernel(host, NULL, "plugin_add", 0, &any) == 0 ||
        host->cuda->turns(host, 0, &turn) == 0 || host->cuda->turns(host, 65, &turn) == 0 ||
        host->cuda->blocks(host, NULL, 32, 0) != 0)
        return host->fail(host, "what cannot be was given", NULL);
    return host->fail(host, "wrong arguments are refused", NULL);
}

static int prepare_gpu(struct state *state)
{
    const struct inferometer_plugin_host *host = state->host;
    const struct inferometer_plugin_code code = {"gpu.cu", INFEROMETER_PLUGIN_CUDA_SOURCE, 0, source,
                                                 sizeof source - 1},
                                         none = {"none.cubin", INFEROMETER_PLUGIN_CUDA_BINARY, 0, "none", 5};
    void *module, *again;
    if (state->fault == ARGUMENTS)
        return wrong_arguments(host);
    if (host->cuda->module(host, state->fault == NO_CODE ? &none : &code, &module) != 0 ||
        host->cuda->module(host, &code, &again) != 0 ||
        host->cuda->kernel(host, module, state->fault == NO_KERNEL ? "plugin_none" : "plugin_add", 0, &state->kernel) !=
            0)
        return 1;
    if (again != module || host->cuda->blocks(host, state->kernel, 256, 0) == 0 || host->cuda->context == NULL)
        return host->fail(host, "the host's modules are not as documented", NULL);
    if (state->fault == STREAM && own_stream(state) != 0)
        return host->fail(host, "no stream of its own", NULL);
    if (state->fault == WAITS && driver("cuStreamSynchronize", &state->wait) != 0)
        return host->fail(host, "no way to wait", NULL);
    if (state->fault == CONTEXT && lose_context() != 0)
        return host->fail(host, "no way to lose the context", NULL);
    return 0;
}

static int fill(const struct state *state, float *to)
{
    float *all = calloc(state->n, sizeof *all);
    int failed = 0;
    for (uint32_t i = 0; all != NULL && i < state->n; i++)
        all[i] = (float)(i % 97) / 8;
    if (all != NULL && state->host->cuda != NULL)
        failed = state->host->cuda->write(state->host, to, all, state->n * sizeof *all);
    else if (all != NULL)
        memcpy(to, all, state->n * sizeof *all);
    free(all);
    return all == NULL || failed != 0;
}

static int memory(struct state *state, uint64_t turns)
{
    const struct inferometer_plugin_host *host = state->host;
    void *at;
    for (uint64_t i = 0; i < turns; i++) {
        char name[] = "x00";
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        if (host->buffer(host, name, state->n * sizeof(float), INFEROMETER_PLUGIN_SHARED, &at, NULL) != 0 ||
            fill(state, at) != 0)
            return 1;
        state->x[i] = at;
    }
    if (host->buffer(host, "out", (state->n + 1) * sizeof(float), 0, &at, NULL) != 0)
        return 1;
    state->out = (float *)at + 1; /* a part of it */
    return 0;
}

static void close_gpu(void *arg)
{
    struct state *state = arg;
    free(state->own);
    free(state);
}

static int open_gpu(const struct inferometer_plugin_value *values, uint64_t seed,
                    const struct inferometer_plugin_host *host, void **out)
{
    static const uint32_t only;
    struct state *state = calloc(1, sizeof *state);
    (void)seed;
    if (state == NULL)
        return host->fail(host, "out of memory", NULL);
    state->host = host;
    state->n = (uint32_t)values[N].u64;
    state->fault = values[FAULT].u64;
    state->term = 3;
    state->turn = &only;
    state->own = calloc(state->n, sizeof *state->own);
    const int failed =
        state->own == NULL || memory(state, values[TURNS].u64) != 0 ||
        (host->cuda != NULL &&
         (host->cuda->turns(host, (uint32_t)values[TURNS].u64, &state->turn) != 0 || prepare_gpu(state) != 0));
    if (failed) {
        close_gpu(state);
        return 1;
    }
    *out = state;
    return 0;
}

/* ---- steps ---- */

static void step_gpu(struct state *state)
{
    float *nowhere = (float *)(uintptr_t)64;
    uint32_t n = state->fault == HALF ? state->n / 2 : state->n;
    const int astray = state->fault == ADDRESS || (state->fault == LATE && state->calls > 30);
    void *parameters[] = {&state->x[*state->turn], astray ? (void *)&nowhere : (void *)&state->out, &n, &state->term};
    struct inferometer_plugin_launch launch = {state->kernel, {4, 1, 1}, {256, 1, 1}, 0, 0, parameters};
    if (state->fault == UNWRITTEN || (state->fault == SECOND && state->calls % 2 == 0))
        return;
    if (state->fault == LAUNCH)
        launch.block[0] = 4096;
    if (state->fault == STREAM)
        state->launch(state->function, 1, 1, 1, 1, 1, 1, 0, state->stream, parameters, NULL);
    else
        state->host->cuda->launch(state->host, &launch);
    if (state->fault == WAITS)
        state->wait(state->host->cuda->stream);
}

static void step(void *arg, uint64_t n)
{
    struct state *state = arg;
    for (; n > 0; n--) {
        state->calls++;
        if (state->host->cuda != NULL)
            step_gpu(state);
        else
            for (uint32_t i = 0; i < state->n; i++)
                state->out[i] = state->x[0][i] + state->term;
    }
}

static int check(void *arg, struct inferometer_plugin_check *out)
{
    struct state *state = arg;
    double worst = 0;
    if (state->host->cuda == NULL)
        memcpy(state->own, state->out, state->n * sizeof *state->own);
    else if (state->host->cuda->read(state->host, state->own, state->out, state->n * sizeof *state->own) != 0)
        return 1;
    out->finite = 1;
    for (uint32_t i = 0; i < state->n; i++) {
        worst = fmax(worst, fabs((double)state->own[i] - (double)(i % 97) / 8 - 3));
        out->finite &= isfinite(state->own[i]) != 0;
    }
    out->error_rms_rel = out->error_max_rel = out->finite ? worst / 15 : 0;
    out->values = state->n;
    out->output = state->fault == OUTSIDE ? state->own : state->out;
    out->output_bytes = state->n * sizeof *state->own;
    return 0;
}

const struct inferometer_plugin *inferometer_plugin(uint32_t abi)
{
    static const struct inferometer_plugin plugin = {
        .struct_size = sizeof plugin,
        .abi = INFEROMETER_PLUGIN_ABI,
        .most_workers = 1,
        .name = "gpu",
        .purpose = "faults of a plugin for a GPU",
        .timed_region = "one kernel that adds a term to each value",
        .params = params,
        .n_params = PARAMS,
        .param_size = sizeof *params,
        .describe = describe,
        .open = open_gpu,
        .step = step,
        .check = check,
        .close = close_gpu,
        .devices = INFEROMETER_PLUGIN_CPU + INFEROMETER_PLUGIN_CUDA,
    };
    return abi == INFEROMETER_PLUGIN_ABI ? &plugin : NULL;
}
