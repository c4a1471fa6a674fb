/* Work on the stream of the device cuda: kernels, copies, and steps as graphs. */
#include "device/cuda_private.h"

#include "kernel/cuda/images.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ifm_cuda_note(struct ifm_cuda_device *device, CUresult result, const char *what)
{
    if (result != CUDA_SUCCESS && device->failed == CUDA_SUCCESS) {
        device->failed = result;
        device->failed_at = what;
    }
    return device->failed == CUDA_SUCCESS;
}

enum ifm_status ifm_cuda_report(const struct ifm_cuda_device *device, struct ifm_error *error)
{
    return device->failed == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(device->cuda, device->failed, device->gpu.name, device->failed_at, error);
}

/* ---- kernels ---- */

static CUdeviceptr address_of(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static enum ifm_status load_image(struct ifm_cuda_device *device, size_t i, struct ifm_error *error)
{
    const char *image = ifm_cuda_images[i].name;
    if (device->code[i].data == NULL)
        IFM_TRY(ifm_cuda_code_get(device, i, &device->code[i], error));
    CUresult result = device->cuda->p_cuModuleLoadData(&device->modules[i], device->code[i].data);
    return result == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(device->cuda, result, image, "this GPU does not load the device code", error);
}

static enum ifm_status load(struct ifm_cuda_device *device, const char *image, size_t *out, struct ifm_error *error)
{
    for (size_t i = 0; i < IFM_CUDA_IMAGES && ifm_cuda_images[i].name != NULL; i++) {
        if (strcmp(ifm_cuda_images[i].name, image) != 0)
            continue;
        if (device->modules[i] == NULL)
            IFM_TRY(load_image(device, i, error));
        *out = i;
        return IFM_OK;
    }
    return ifm_fail(error, IFM_MISSING, image, NULL, "this build has no device code '%s'", image);
}

/* Its code has griddepcontrol: what a driver compiles from an older GPU's PTX waits for nothing. */
static bool waits_itself(const struct ifm_cuda_device *device, CUfunction function)
{
    enum { SM_90 = 90 };
    int ptx = 0;
    return device->gpu.major >= 9 &&
           device->cuda->p_cuFuncGetAttribute(&ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, function) == CUDA_SUCCESS &&
           ptx >= SM_90;
}

enum ifm_status ifm_cuda_find(struct ifm_device *base, const char *image, const char *name,
                              struct ifm_cuda_function **out, struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    size_t number = 0;
    CUfunction function;
    IFM_TRY(load(device, image, &number, error));
    CUresult result = device->cuda->p_cuModuleGetFunction(&function, device->modules[number], name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return ifm_fail(error, IFM_MISSING, name, NULL, "there is no kernel %s for compute capability %u.%u", name,
                        device->gpu.major, device->gpu.minor);
    if (result != CUDA_SUCCESS)
        return ifm_cuda_fail(device->cuda, result, name, "the kernel cannot be had", error);
    for (*out = device->functions; *out != NULL; *out = (*out)->next)
        if ((*out)->handle == function)
            return IFM_OK;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return ifm_fail(error, IFM_INTERNAL, name, NULL, "out of memory");
    **out = (struct ifm_cuda_function){.handle = function,
                                       .image = (unsigned)number,
                                       .waits = waits_itself(device, function),
                                       .next = device->functions};
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    device->functions = *out;
    return IFM_OK;
}

enum ifm_status ifm_cuda_allow_shared(struct ifm_device *base, struct ifm_cuda_function *function, unsigned bytes,
                                      struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    CUresult result = device->cuda->p_cuFuncSetAttribute(function->handle,
                                                         CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    return result == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(device->cuda, result, device->gpu.name, "a block cannot have the shared memory", error);
}

unsigned ifm_cuda_blocks(struct ifm_device *base, struct ifm_cuda_function *function, unsigned threads, unsigned shared)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    int blocks = 0;
    if (device->cuda->p_cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function->handle, (int)threads, shared) !=
        CUDA_SUCCESS)
        return 0;
    return (unsigned)blocks * device->gpu.multiprocessors;
}

void ifm_cuda_launch(struct ifm_device *base, const struct ifm_cuda_launch *launch)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    void *parameters[] = {(void *)(uintptr_t)launch->arguments};
    launch->function->threads = launch->threads;
    launch->function->shared = launch->shared;
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device,
                      device->cuda->p_cuLaunchKernel(launch->function->handle, launch->blocks, 1, 1, launch->threads, 1,
                                                     1, launch->shared, device->stream, parameters, NULL),
                      "cuLaunchKernel");
}

void ifm_cuda_launch_early(struct ifm_device *base, const struct ifm_cuda_launch *launch)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (!launch->function->waits) {
        ifm_cuda_launch(base, launch);
        return;
    }
    void *parameters[] = {(void *)(uintptr_t)launch->arguments};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    attribute.value.programmaticStreamSerializationAllowed = 1;
    const CUlaunchConfig config = {launch->blocks, 1,          1, launch->threads, 1, 1, launch->shared,
                                   device->stream, &attribute, 1};
    launch->function->threads = launch->threads;
    launch->function->shared = launch->shared;
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device, device->cuda->p_cuLaunchKernelEx(&config, launch->function->handle, parameters, NULL),
                      "cuLaunchKernelEx");
}

void ifm_cuda_copy(struct ifm_device *base, void *to, const void *from, size_t bytes)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device,
                      device->cuda->p_cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes, device->stream),
                      "cuMemcpyDtoDAsync");
}

void ifm_cuda_fill(struct ifm_device *base, void *to, uint32_t word, size_t words)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device, device->cuda->p_cuMemsetD32Async(address_of(to), word, words, device->stream),
                      "cuMemsetD32Async");
}

CUstream ifm_cuda_stream(struct ifm_device *base)
{
    return ifm_cuda_of(base)->stream;
}

enum ifm_status ifm_cuda_wait(struct ifm_device *base, struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    ifm_cuda_note(device, device->cuda->p_cuStreamSynchronize(device->stream), "work on the GPU");
    return ifm_cuda_report(device, error);
}

enum ifm_status ifm_cuda_write(struct ifm_device *base, void *to, const void *from, size_t bytes,
                               struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    IFM_TRY(ifm_cuda_wait(base, error));
    ifm_cuda_note(device, device->cuda->p_cuMemcpyHtoD(address_of(to), from, bytes), "a copy from the host");
    return ifm_cuda_wait(base, error);
}

enum ifm_status ifm_cuda_read(struct ifm_device *base, void *to, const void *from, size_t bytes,
                              struct ifm_error *error)
{
    struct ifm_cuda_device *device = ifm_cuda_of(base);
    IFM_TRY(ifm_cuda_wait(base, error));
    ifm_cuda_note(device, device->cuda->p_cuMemcpyDtoH(to, address_of(from), bytes), "a copy to the host");
    return ifm_cuda_wait(base, error);
}

/* ---- steps ---- */

enum { GRAPHS_KEPT = 32 }; /* numbers of steps that are remembered: calibration tries some, slots use two */

/* The graphs of one number of steps, one for each turn that these may begin with; NULL = not captured. */
struct graphs {
    uint64_t n;
    CUgraphExec execs[IFM_CUDA_TURNS];
};

struct ifm_cuda_steps {
    struct ifm_cuda_device *device;
    ifm_cuda_enqueue_fn *enqueue;
    void *arg;
    unsigned turns, at; /* buffers; that of the next step */
    unsigned *turn, own;
    struct graphs graphs[GRAPHS_KEPT];
    size_t n_graphs, next; /* `next`: those that are given up when there is no room */
};

enum ifm_status ifm_cuda_steps_create(struct ifm_device *base, ifm_cuda_enqueue_fn *enqueue, void *arg,
                                      struct ifm_cuda_steps **out, struct ifm_error *error)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return ifm_fail(error, IFM_INTERNAL, "cuda", NULL, "out of memory");
    **out = (struct ifm_cuda_steps){.device = ifm_cuda_of(base), .enqueue = enqueue, .arg = arg, .turns = 1};
    (*out)->turn = &(*out)->own;
    return IFM_OK;
}

void ifm_cuda_steps_turns(struct ifm_cuda_steps *steps, unsigned n, unsigned *turn)
{
    steps->turns = n;
    steps->turn = turn;
}

static unsigned turn_after(const struct ifm_cuda_steps *steps, unsigned at, uint64_t n)
{
    return (unsigned)((at + n) % steps->turns);
}

static void enqueue(struct ifm_cuda_steps *steps, unsigned at, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        *steps->turn = turn_after(steps, at, i);
        steps->enqueue(steps->arg);
    }
}

static bool capture(struct ifm_cuda_steps *steps, unsigned at, uint64_t n, CUgraphExec *out)
{
    struct ifm_cuda_device *device = steps->device;
    CUgraph graph = NULL;
    if (!ifm_cuda_note(device, device->cuda->p_cuStreamBeginCapture(device->stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                       "cuStreamBeginCapture"))
        return false;
    enqueue(steps, at, n);
    ifm_cuda_note(device, device->cuda->p_cuStreamEndCapture(device->stream, &graph), "cuStreamEndCapture");
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device, device->cuda->p_cuGraphInstantiateWithFlags(out, graph, 0),
                      "cuGraphInstantiateWithFlags");
    if (device->failed == CUDA_SUCCESS)
        ifm_cuda_note(device, device->cuda->p_cuGraphUpload(*out, device->stream), "cuGraphUpload");
    if (graph != NULL)
        (void)device->cuda->p_cuGraphDestroy(graph);
    return device->failed == CUDA_SUCCESS;
}

static void drop(const struct ifm_cuda_steps *steps, struct graphs *graphs)
{
    for (unsigned at = 0; at < steps->turns; at++)
        if (graphs->execs[at] != NULL)
            (void)steps->device->cuda->p_cuGraphExecDestroy(graphs->execs[at]);
    *graphs = (struct graphs){0};
}

static struct graphs *graphs_of(struct ifm_cuda_steps *steps, uint64_t n)
{
    for (size_t i = 0; i < steps->n_graphs; i++)
        if (steps->graphs[i].n == n)
            return &steps->graphs[i];
    const size_t at = steps->n_graphs < GRAPHS_KEPT ? steps->n_graphs++ : steps->next++ % GRAPHS_KEPT;
    (void)steps->device->cuda->p_cuStreamSynchronize(steps->device->stream);
    drop(steps, &steps->graphs[at]);
    steps->graphs[at].n = n;
    return &steps->graphs[at];
}

/* Steps of one graph: whole rounds of the turns, so that the next graph begins with the same one. */
static uint64_t most_nodes(const struct ifm_cuda_steps *steps)
{
    return IFM_CUDA_NODES / steps->turns * steps->turns;
}

/* The graph of `n` steps from turn `at` on; NULL when something failed. */
static CUgraphExec graph_of(struct ifm_cuda_steps *steps, unsigned at, uint64_t n)
{
    CUgraphExec *exec = &graphs_of(steps, n)->execs[at];
    return *exec != NULL || capture(steps, at, n, exec) ? *exec : NULL;
}

/* Before the first run of `n` steps of a graph: those of every turn that they may begin with, so that none is captured
 * while a sample is timed. */
static void prepare(struct ifm_cuda_steps *steps, uint64_t n)
{
    if (graphs_of(steps, n)->execs[steps->at] != NULL)
        return;
    for (unsigned at = 0; at < steps->turns && steps->device->failed == CUDA_SUCCESS; at++)
        (void)graph_of(steps, at, n);
}

static void replay(struct ifm_cuda_steps *steps, uint64_t n)
{
    struct ifm_cuda_device *device = steps->device;
    const uint64_t most = most_nodes(steps);
    if (n >= most)
        prepare(steps, most);
    if (n % most > 0)
        prepare(steps, n % most);
    for (uint64_t left = n, now; left > 0 && device->failed == CUDA_SUCCESS; left -= now) {
        now = left < most ? left : most;
        CUgraphExec exec = graph_of(steps, steps->at, now);
        if (exec != NULL)
            ifm_cuda_note(device, device->cuda->p_cuGraphLaunch(exec, device->stream), "cuGraphLaunch");
    }
}

void ifm_cuda_steps_run(struct ifm_cuda_steps *steps, uint64_t n)
{
    if (n == 0)
        return;
    if (steps->device->no_graphs)
        enqueue(steps, steps->at, n);
    else
        replay(steps, n);
    *steps->turn = turn_after(steps, steps->at, n - 1);
    steps->at = turn_after(steps, steps->at, n);
}

void ifm_cuda_steps_destroy(struct ifm_cuda_steps *steps)
{
    if (steps == NULL)
        return;
    (void)steps->device->cuda->p_cuStreamSynchronize(steps->device->stream);
    for (size_t i = 0; i < steps->n_graphs; i++)
        drop(steps, &steps->graphs[i]);
    free(steps);
}
