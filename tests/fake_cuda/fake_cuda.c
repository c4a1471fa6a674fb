/* Memory, work and time of the fake driver. */
#include "fake_cuda/internal.h"
#include "fake_cuda/kernels.h"
#include "fake_rows.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

enum { SOURCE_KERNELS = 256, FATBIN_MAGIC = (int)0xBA55ED50, KERNEL_NS = 1000, COPY_NS = 2000, HIGHEST_KHZ = 1980000 };

/* ---- what exists ---- */

enum kind { MEMORY, MODULE, STREAM, EVENT, GRAPH, EXEC, KINDS };

struct object {
    enum kind kind;
    struct object *next;
    /* memory */
    unsigned char *data;
    size_t bytes;
    /* event */
    bool recorded;
    uint64_t at_ns;
    /* graph, exec */
    struct work *work;
    size_t n_work, n_nodes; /* n_nodes: of children */
};

struct work {
    const struct fake_kernel *kernel; /* NULL: a copy, or a fill where `words` is set */
    struct fake_launch launch;
    uint64_t to, from, bytes, words;
    unsigned word;
};

static struct object *objects;
static unsigned long long alive[KINDS], runs[SOURCE_KERNELS], all_runs, launches, graph_launches, allocations, resets;
static int retained;
static CUresult sticky;
static struct object *captured; /* the graph that a stream is captured into, or NULL */
static CUstream capturing;      /* that stream; work on others is done at once */
static bool capture_broken;     /* something was asked for that no graph can hold */
static CUcontext current;
static uint64_t device_ns, anchor_device_ns;
static double device_cycles; /* the gaps between works have the highest clock */
static unsigned long long stamps;
static struct timespec anchor;
static bool busy;

static struct object *add(enum kind kind)
{
    struct object *object = calloc(1, sizeof *object);
    if (object == NULL)
        abort();
    object->kind = kind;
    object->next = objects;
    objects = object;
    alive[kind]++;
    return object;
}

static bool is(const void *handle, enum kind kind)
{
    for (const struct object *object = objects; object != NULL; object = object->next)
        if (object == handle)
            return object->kind == kind;
    return false;
}

static CUresult drop(const void *handle, enum kind kind)
{
    for (struct object **at = &objects; *at != NULL; at = &(*at)->next) {
        struct object *object = *at;
        if (object != handle || object->kind != kind)
            continue;
        *at = object->next;
        alive[kind]--;
        free(object->data);
        free(object->work);
        free(object);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

static void drop_all(void)
{
    while (objects != NULL)
        (void)drop(objects, objects->kind);
    captured = NULL;
    busy = false;
}

static struct object *memory_at(uint64_t address)
{
    for (struct object *object = objects; object != NULL; object = object->next)
        if (object->kind == MEMORY && address - (uint64_t)(uintptr_t)object->data < object->bytes)
            return object;
    return NULL;
}

bool fake_cuda_owns(uint64_t address, uint64_t n)
{
    const struct object *object = memory_at(address);
    return object != NULL && n <= object->bytes - (address - (uint64_t)(uintptr_t)object->data);
}

/* ---- time ---- */

static void pass(uint64_t ns, uint64_t khz)
{
    device_ns += ns;
    device_cycles += (double)ns * (double)khz * 1e-6;
}

uint64_t fake_cuda_now_ns(void)
{
    return device_ns;
}

static unsigned long long observed_ns; /* behind each kernel, while a profiler looks on */

uint64_t fake_cuda_cycles(void)
{
    return (uint64_t)device_cycles;
}

static void begin_work(void)
{
    if (!busy) {
        clock_gettime(CLOCK_MONOTONIC_RAW, &anchor);
        anchor_device_ns = device_ns;
        busy = true;
    }
}

static void wait_for_work(void) /* spinning, or, by the word `sleeps`, leaving the processor to others */
{
    for (struct timespec now, nap = {0, fake_number("sleeps", 0) != 0 ? 1000000 : 0}; busy;) {
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        const int64_t passed = (now.tv_sec - anchor.tv_sec) * 1000000000LL + (now.tv_nsec - anchor.tv_nsec);
        const int64_t left = (int64_t)(device_ns - anchor_device_ns) - passed;
        busy = left > 0 && (nap.tv_nsec == 0 || left < 2 * nap.tv_nsec || nanosleep(&nap, NULL) <= 0);
    }
}

/* ---- work ---- */

static CUresult run(const struct work *work)
{
    if (sticky != CUDA_SUCCESS)
        return sticky;
    begin_work();
    const uint64_t start = fake_returns();
    bool fine = true;
    if (work->kernel != NULL) {
        const char *name = work->kernel->name, *wrong = fake_value("wrong");
        bool spoil = wrong != NULL && strcmp(wrong, name) == 0;
        size_t index = (size_t)(work->kernel - fake_kernels);
        runs[index]++;
        all_runs++;
        bool is_stamp = strcmp(name, "ifm_stamp") == 0;
        pass(fake_number_in("ns", name, is_stamp ? KERNEL_NS : fake_number("kernel_ns", KERNEL_NS)),
             fake_number_in("khz", name, HIGHEST_KHZ));
        if (is_stamp && ++stamps == fake_number("reset_at", UINT64_MAX))
            device_cycles = 0;
        bool is_due = runs[index] >= fake_number_in("fails", name, UINT64_MAX) ||
                      all_runs >= fake_number_in("fails", "any", UINT64_MAX);
        if (is_due && fake_rows_are_there(fake_value("fails_rows")))
            fine = false;
        else
            fine = work->kernel->run(&work->launch, spoil);
    } else {
        pass(fake_number("kernel_ns", COPY_NS), HIGHEST_KHZ);
        fine = fake_cuda_owns(work->to, work->bytes) && (work->words > 0 || fake_cuda_owns(work->from, work->bytes));
        if (fine && work->words == 0)
            memmove((void *)(uintptr_t)work->to, (const void *)(uintptr_t)work->from, work->bytes);
        for (uint64_t i = 0; fine && i < work->words; i++)
            memcpy((unsigned char *)(uintptr_t)work->to + 4 * i, &work->word, sizeof work->word);
    }
    if (work->kernel != NULL)
        fake_tell("kernel", work->kernel->name, start, 0);
    if (work->kernel != NULL && strcmp(work->kernel->name, "ifm_stamp") != 0)
        pass(observed_ns, HIGHEST_KHZ);
    if (work->kernel == NULL)
        fake_tell(work->words > 0 ? "fill" : "copy", "", start, work->bytes);
    if (!fine) /* a device says so later, at the next call */
        sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
    return CUDA_SUCCESS;
}

static CUresult put(const struct work *work, CUstream stream)
{
    if (sticky != CUDA_SUCCESS)
        return sticky;
    if (captured == NULL || stream != capturing) {
        pass(fake_number("launch_ns", 1600), HIGHEST_KHZ);
        launches++;
        return run(work);
    }
    struct work *more = realloc(captured->work, (captured->n_work + 1) * sizeof *more);
    if (more == NULL)
        abort();
    captured->work = more;
    captured->work[captured->n_work++] = *work;
    return CUDA_SUCCESS;
}

static size_t card_bytes(void)
{
    return (size_t)fake_number("memory", 2048) * MIB;
}

CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = card_bytes();
    return CUDA_SUCCESS;
}

/* ---- context ---- */

CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    if (sticky != CUDA_SUCCESS)
        return sticky;
    retained++;
    *context = (CUcontext)(void *)&retained;
    return CUDA_SUCCESS;
}

CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)device;
    if (retained > 0 && --retained == 0)
        drop_all();
    return CUDA_SUCCESS;
}

CUresult fake_cuDevicePrimaryCtxReset(CUdevice device)
{
    (void)device;
    drop_all();
    resets++;
    if (fake_number("stuck", 0) == 0)
        sticky = CUDA_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult fake_cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

CUresult fake_cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

/* ---- modules ---- */

CUresult fake_cuModuleLoadData(CUmodule *module, const void *image)
{
    int magic;
    memcpy(&magic, image, sizeof magic);
    if (sticky != CUDA_SUCCESS)
        return sticky;
    if (magic != FATBIN_MAGIC && memcmp(image, "\177ELF", 4) != 0 && strncmp(image, "//\n.version", 11) != 0)
        return CUDA_ERROR_INVALID_IMAGE;
    *module = (CUmodule)(void *)add(MODULE);
    return CUDA_SUCCESS;
}

CUresult fake_cuModuleUnload(CUmodule module)
{
    return drop(module, MODULE);
}

CUresult fake_cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    if (!is(module, MODULE))
        return CUDA_ERROR_INVALID_HANDLE;
    const char *missing = fake_value("missing");
    for (const struct fake_kernel *kernel = fake_kernels; kernel->name != NULL; kernel++)
        if (strcmp(kernel->name, name) == 0 && (missing == NULL || strcmp(missing, name) != 0)) {
            *function = (CUfunction)(uintptr_t)kernel;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- memory ---- */

static size_t used_bytes(void)
{
    size_t used = 0;
    for (const struct object *object = objects; object != NULL; object = object->next)
        used += object->bytes;
    return used;
}

CUresult fake_cuMemGetInfo(size_t *available, size_t *total)
{
    *total = card_bytes();
    *available = *total - used_bytes();
    return CUDA_SUCCESS;
}

/* Poisoned: what nobody has written is no zero. */
CUresult fake_cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    if (sticky != CUDA_SUCCESS)
        return sticky;
    if (++allocations >= fake_number("oom_at", UINT64_MAX) || bytes > fake_number("oom_over", SIZE_MAX) ||
        bytes > card_bytes() - used_bytes())
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct object *object = add(MEMORY);
    object->data = malloc(bytes);
    object->bytes = bytes;
    if (object->data == NULL)
        abort();
    memset(object->data, 0xcd, bytes);
    *pointer = (CUdeviceptr)(uintptr_t)object->data;
    return CUDA_SUCCESS;
}

CUresult fake_cuMemFree(CUdeviceptr pointer)
{
    struct object *object = memory_at(pointer);
    if (object == NULL || (uint64_t)(uintptr_t)object->data != pointer)
        return CUDA_ERROR_INVALID_VALUE;
    return drop(object, MEMORY);
}

CUresult fake_may_copy(CUdeviceptr own, size_t bytes)
{
    fake_let_arrive();
    return sticky == CUDA_SUCCESS && !fake_cuda_owns(own, bytes) ? CUDA_ERROR_INVALID_VALUE : sticky;
}

CUresult fake_cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    const uint64_t start = fake_begun();
    return is(stream, STREAM) ? fake_ended("cuMemcpyDtoDAsync_v2", start,
                                           put(&(struct work){.to = to, .from = from, .bytes = bytes}, stream))
                              : CUDA_ERROR_INVALID_HANDLE;
}

CUresult fake_cuMemsetD32Async(CUdeviceptr to, unsigned word, size_t words, CUstream stream)
{
    const uint64_t start = fake_begun();
    const struct work work = {.to = to, .bytes = 4 * words, .words = words, .word = word};
    return is(stream, STREAM) ? fake_ended("cuMemsetD32Async", start, put(&work, stream)) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- stream, graphs, events ---- */

CUresult fake_cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void)flags;
    if (sticky == CUDA_SUCCESS)
        *stream = (CUstream)(void *)add(STREAM);
    return sticky;
}

CUresult fake_cuStreamDestroy(CUstream stream)
{
    return drop(stream, STREAM);
}

CUresult fake_cuStreamSynchronize(CUstream stream)
{
    if (stream == NULL && captured == NULL) {
        fake_let_arrive();
        return sticky;
    }
    if (!is(stream, STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    if (captured != NULL) {
        capture_broken = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    const uint64_t start = fake_begun();
    wait_for_work();
    fake_tell("wait", "", start, 0);
    return fake_ended("cuStreamSynchronize", start, sticky);
}

CUresult fake_cuCtxSynchronize(CUcontext context)
{
    if (context != current || context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    pass(1000, HIGHEST_KHZ); /* so that it begins after the time that somebody read before */
    const uint64_t start = fake_begun();
    wait_for_work();
    fake_tell("wait", "", start, 0);
    return fake_ended("cuCtxSynchronize", start, sticky);
}

CUresult fake_cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    (void)mode;
    if (!is(stream, STREAM) || captured != NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    if (sticky == CUDA_SUCCESS)
        captured = add(GRAPH);
    capturing = stream;
    capture_broken = false;
    return sticky;
}

CUresult fake_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    if (!is(stream, STREAM) || captured == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    *graph = capture_broken ? NULL : (CUgraph)(void *)captured;
    if (capture_broken)
        (void)drop(captured, GRAPH);
    captured = NULL;
    return sticky != CUDA_SUCCESS ? sticky : capture_broken ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult fake_cuGraphCreate(CUgraph *graph, unsigned flags)
{
    (void)flags;
    if (sticky == CUDA_SUCCESS)
        *graph = (CUgraph)(void *)add(GRAPH);
    return sticky;
}

/* Chains alone: each behind the one before. */
CUresult fake_cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n_after,
                                       CUgraph child)
{
    struct object *to = (struct object *)(void *)graph;
    const struct object *from = (const struct object *)(const void *)child;
    if (!is(graph, GRAPH) || !is(child, GRAPH) || n_after != (to->n_nodes > 0 ? 1 : 0) ||
        (n_after == 1 && *after != (CUgraphNode)(uintptr_t)to->n_nodes))
        return CUDA_ERROR_INVALID_VALUE;
    struct work *all = realloc(to->work, (to->n_work + from->n_work + 1) * sizeof *all);
    if (all == NULL)
        abort();
    to->work = all;
    for (size_t i = 0; i < from->n_work; i++)
        to->work[to->n_work++] = from->work[i];
    *node = (CUgraphNode)(uintptr_t)++to->n_nodes;
    return CUDA_SUCCESS;
}

CUresult fake_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    if (!is(graph, GRAPH))
        return CUDA_ERROR_INVALID_HANDLE;
    const struct object *from = (const struct object *)(const void *)graph;
    struct object *object = add(EXEC);
    object->work = malloc((from->n_work + 1) * sizeof *object->work);
    if (object->work == NULL)
        abort();
    for (size_t i = 0; i < from->n_work; i++)
        object->work[i] = from->work[i];
    object->n_work = from->n_work;
    *exec = (CUgraphExec)(void *)object;
    return sticky;
}

CUresult fake_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    return is(exec, EXEC) && is(stream, STREAM) ? sticky : CUDA_ERROR_INVALID_HANDLE;
}

CUresult fake_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    if (!is(exec, EXEC) || !is(stream, STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    if (captured != NULL)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const struct object *object = (const struct object *)(const void *)exec;
    const uint64_t start = fake_begun();
    CUresult result = sticky;
    graph_launches++;
    fake_graph_begins();
    for (size_t i = 0; i < object->n_work && result == CUDA_SUCCESS; i++)
        result = run(&object->work[i]);
    return fake_ended("cuGraphLaunch", start, result);
}

CUresult fake_cuGraphDestroy(CUgraph graph)
{
    return drop(graph, GRAPH);
}

CUresult fake_cuGraphExecDestroy(CUgraphExec exec)
{
    return drop(exec, EXEC);
}

CUresult fake_cuEventCreate(CUevent *event, unsigned flags)
{
    (void)flags;
    if (sticky == CUDA_SUCCESS)
        *event = (CUevent)(void *)add(EVENT);
    return sticky;
}

CUresult fake_cuEventDestroy(CUevent event)
{
    return drop(event, EVENT);
}

CUresult fake_cuEventRecord(CUevent event, CUstream stream)
{
    if (sticky != CUDA_SUCCESS)
        return sticky;
    if (event == NULL || !is(stream, STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    struct object *object = (struct object *)(void *)event;
    begin_work();
    object->recorded = true;
    object->at_ns = device_ns;
    return fake_ended("cuEventRecord", fake_begun(), CUDA_SUCCESS);
}

CUresult fake_cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    const struct object *a = (const struct object *)(const void *)from, *b = (const struct object *)(const void *)to;
    if (!a->recorded || !b->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    *ms = (float)((double)(b->at_ns - a->at_ns) * 1e-6);
    return sticky;
}

CUresult fake_cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
                             unsigned tz, unsigned shared, CUstream stream, void **arguments, void **extra)
{
    (void)shared;
    (void)extra;
    if (!is(stream, STREAM))
        return CUDA_ERROR_INVALID_HANDLE;
    if (x == 0 || y != 1 || z != 1 || tx == 0 || tx > 1024 || ty != 1 || tz != 1)
        return CUDA_ERROR_INVALID_VALUE;
    struct work work = {.kernel = (const struct fake_kernel *)(const void *)function};
    work.launch.blocks = x;
    work.launch.threads = tx;
    const unsigned char *sizes = fake_plugin_sizes(work.kernel);
    for (size_t at = 0, i = 0; sizes != NULL && sizes[i] > 0; at += sizes[i++])
        memcpy(work.launch.arguments + at, arguments[i], sizes[i]);
    if (work.kernel->size > 0)
        memcpy(work.launch.arguments, arguments[0], work.kernel->size);
    const uint64_t start = fake_begun();
    return fake_ended("cuLaunchKernel", start, put(&work, stream));
}

/* ---- for the tests ---- */

FAKE_EXPORT void fake_cuda_script(const char *text)
{
    fake_script_set(text);
    memset(runs, 0, sizeof runs);
    all_runs = launches = graph_launches = allocations = resets = stamps = fake_early_launches = 0;
    sticky = CUDA_SUCCESS;
}

FAKE_EXPORT void fake_cuda_observe(unsigned long long ns)
{
    observed_ns = ns;
}

FAKE_EXPORT unsigned long long fake_cuda_count(const char *what)
{
    const struct {
        const char *name;
        unsigned long long n;
    } counts[] = {{"kernels", all_runs},
                  {"launches", launches},
                  {"graph launches", graph_launches},
                  {"early launches", fake_early_launches},
                  {"allocations", allocations},
                  {"resets", resets},
                  {"contexts", (unsigned long long)retained},
                  {"device ns", device_ns},
                  {"memory alive", alive[MEMORY]},
                  {"modules alive", alive[MODULE]},
                  {"streams alive", alive[STREAM]},
                  {"events alive", alive[EVENT]},
                  {"graphs alive", alive[GRAPH] + alive[EXEC]}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (strcmp(counts[i].name, what) == 0)
            return counts[i].n;
    for (size_t i = 0; fake_kernels[i].name != NULL; i++)
        if (strcmp(fake_kernels[i].name, what) == 0)
            return runs[i];
    return UINT64_MAX;
}
