/* What our path to the GPU costs beside the bare driver API, in one process and in turns: launches on a stream, and the
 * replay of a graph. Prints microseconds, best of many rounds of each, and their ratios. */
#include "base/clock.h"
#include "device/cuda_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 31, LAUNCHES = 10000, NODES = 100, REPLAYS = 200 };

struct bench {
    struct ifm_device *device;
    struct ifm_cuda_device *inner;
    struct ifm_cuda_function *kernel;
    struct ifm_cuda_steps *steps;
    CUgraphExec graph;
};

static void must(enum ifm_status status, const struct ifm_error *error)
{
    if (status == IFM_OK)
        return;
    fprintf(stderr, "error: %s: %s\n", error->where, error->message);
    exit(status == IFM_MISSING ? 77 : 5);
}

static void must_cuda(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "error: CUDA %d\n", (int)result);
    exit(5);
}

static void launch_ours(void *arg)
{
    struct bench *b = arg;
    ifm_cuda_launch(b->device, &(struct ifm_cuda_launch){b->kernel, 1, 1, 0, NULL});
}

static void launch_bare(struct bench *b)
{
    must_cuda(b->inner->cuda->p_cuLaunchKernel(b->kernel->handle, 1, 1, 1, 1, 1, 1, 0, b->inner->stream,
                                               NULL, NULL));
}

static double wait_us(struct bench *b, struct ifm_instant start, int n)
{
    must_cuda(b->inner->cuda->p_cuStreamSynchronize(b->inner->stream));
    return (double)ifm_clock_since(start).ns * 1e-3 / n;
}

static double ours(struct bench *b, bool graph)
{
    struct ifm_instant start = ifm_clock_now();
    if (graph)
        for (int i = 0; i < REPLAYS; i++)
            ifm_cuda_steps_run(b->steps, NODES);
    else
        for (int i = 0; i < LAUNCHES; i++)
            launch_ours(b);
    return wait_us(b, start, graph ? REPLAYS : LAUNCHES);
}

static double bare(struct bench *b, bool graph)
{
    struct ifm_instant start = ifm_clock_now();
    if (graph)
        for (int i = 0; i < REPLAYS; i++)
            must_cuda(b->inner->cuda->p_cuGraphLaunch(b->graph, b->inner->stream));
    else
        for (int i = 0; i < LAUNCHES; i++)
            launch_bare(b);
    return wait_us(b, start, graph ? REPLAYS : LAUNCHES);
}

/* A graph of empty kernels without our code. */
static void make_graph(struct bench *b)
{
    CUgraph graph;
    must_cuda(b->inner->cuda->p_cuStreamBeginCapture(b->inner->stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < NODES; i++)
        launch_bare(b);
    must_cuda(b->inner->cuda->p_cuStreamEndCapture(b->inner->stream, &graph));
    must_cuda(b->inner->cuda->p_cuGraphInstantiateWithFlags(&b->graph, graph, 0));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct bench *b, bool graph)
{
    double a[ROUNDS], c[ROUNDS], ratio[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) { /* in turns, each first every other time */
        if (i % 2 == 0)
            a[i] = ours(b, graph);
        c[i] = bare(b, graph);
        if (i % 2 == 1)
            a[i] = ours(b, graph);
        ratio[i] = a[i] / c[i];
    }
    qsort(a, ROUNDS, sizeof *a, compare);
    qsort(c, ROUNDS, sizeof *c, compare);
    qsort(ratio, ROUNDS, sizeof *ratio, compare);
    printf("%-34s ours %8.3f us, bare %8.3f us, median ratio %.3f [%.3f, %.3f]\n",
           graph ? "replay of a graph of 100 kernels" : "launch of an empty kernel", a[ROUNDS / 2], c[ROUNDS / 2],
           ratio[ROUNDS / 2], ratio[ROUNDS / 10], ratio[ROUNDS - 1 - ROUNDS / 10]);
}

int main(void)
{
    struct ifm_error error = {0};
    struct bench b = {0};
    must(ifm_device_cuda.open(&(struct ifm_device_options){.threads = 1}, &b.device, &error), &error);
    b.inner = ifm_cuda_of(b.device);
    must(ifm_cuda_find(b.device, "null", "ifm_null", &b.kernel, &error), &error);
    must(ifm_cuda_steps_create(b.device, launch_ours, &b, &b.steps, &error), &error);
    make_graph(&b);
    printf("%s, driver %d\n", b.inner->gpu.name, b.inner->gpu.driver_version);
    ours(&b, false);
    ours(&b, true);
    report(&b, false);
    report(&b, true);
    return 0;
}
