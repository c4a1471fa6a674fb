/* Steps of the device cuda: put on its stream one by one, or captured and replayed as graphs. */
#include "device/cuda_private.h"

#include <stdlib.h>

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
    bool foreign, launched; /* `launched`: no graphs, though the device has them */
    struct ifm_cuda_counts counts;
    CUgraph once[IFM_CUDA_TURNS]; /* foreign: the work of each turn; NULL = not captured */
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

void ifm_cuda_steps_foreign(struct ifm_cuda_steps *steps, bool launched)
{
    steps->foreign = true;
    steps->launched = launched;
}

void ifm_cuda_steps_graphs(struct ifm_cuda_steps *steps, bool graphs)
{
    steps->launched = !graphs;
}

struct ifm_cuda_counts ifm_cuda_steps_counts(const struct ifm_cuda_steps *steps)
{
    return steps->counts;
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

/* The work of `n` steps as a graph, which is the caller's, also after a failure. */
static bool capture(struct ifm_cuda_steps *steps, unsigned at, uint64_t n, CUgraph *out)
{
    struct ifm_cuda_device *device = steps->device;
    if (!ifm_cuda_note(device, device->cuda->p_cuStreamBeginCapture(device->stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
                       "cuStreamBeginCapture"))
        return false;
    device->capturing = true;
    enqueue(steps, at, n);
    device->capturing = false;
    return ifm_cuda_note(device, device->cuda->p_cuStreamEndCapture(device->stream, out),
                         steps->foreign ? "capturing a step, which may neither wait nor allocate (a plugin's can say "
                                          "no_graph)"
                                        : "cuStreamEndCapture");
}

/* The same of captured turns, one behind the other. */
static bool join(struct ifm_cuda_steps *steps, unsigned at, uint64_t n, CUgraph *out)
{
    const struct ifm_cuda *cuda = steps->device->cuda;
    CUgraphNode node = NULL, before;
    bool fine = ifm_cuda_note(steps->device, cuda->p_cuGraphCreate(out, 0), "cuGraphCreate");
    for (uint64_t i = 0; fine && i < n; i++) {
        const unsigned turn = turn_after(steps, at, i);
        before = node;
        fine = steps->once[turn] != NULL || capture(steps, turn, 1, &steps->once[turn]);
        fine = fine && ifm_cuda_note(steps->device,
                                     cuda->p_cuGraphAddChildGraphNode(&node, *out, i == 0 ? NULL : &before, i > 0,
                                                                      steps->once[turn]),
                                     "cuGraphAddChildGraphNode");
    }
    return fine;
}

static bool instantiate(struct ifm_cuda_steps *steps, unsigned at, uint64_t n, CUgraphExec *out)
{
    struct ifm_cuda_device *device = steps->device;
    CUgraph graph = NULL;
    if (steps->foreign ? join(steps, at, n, &graph) : capture(steps, at, n, &graph))
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
    return *exec != NULL || instantiate(steps, at, n, exec) ? *exec : NULL;
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
        if (exec != NULL && ifm_cuda_note(device, device->cuda->p_cuGraphLaunch(exec, device->stream), "cuGraphLaunch"))
            steps->counts.graphs++;
    }
}

void ifm_cuda_steps_run(struct ifm_cuda_steps *steps, uint64_t n)
{
    if (n == 0)
        return;
    const uint64_t before = steps->device->launches;
    if (steps->device->no_graphs || steps->launched)
        enqueue(steps, steps->at, n);
    else
        replay(steps, n);
    steps->counts.launches += steps->device->launches - before;
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
    for (unsigned turn = 0; turn < IFM_CUDA_TURNS; turn++)
        if (steps->once[turn] != NULL)
            (void)steps->device->cuda->p_cuGraphDestroy(steps->once[turn]);
    free(steps);
}
