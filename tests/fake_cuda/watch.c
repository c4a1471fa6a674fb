/* Whoever watches the fake driver, a fake CUPTI; and launches that are told more. */
#include "fake_cuda/internal.h"

static fake_cuda_watcher *watcher;
static uint64_t returned;                  /* when the open call returned, where its work goes on; 0 = it has not */
static uint32_t call_number, graph_number; /* of the open call, and of the graph that it runs */

FAKE_EXPORT void fake_cuda_watch(fake_cuda_watcher *told)
{
    watcher = told;
}

void fake_tell(const char *what, const char *name, uint64_t start, uint64_t bytes)
{
    if (watcher != NULL)
        watcher(what, name, start, fake_cuda_now_ns(), call_number, graph_number, bytes);
}

CUresult fake_ended(const char *name, uint64_t start, CUresult result)
{
    graph_number = 0;
    if (watcher != NULL)
        watcher("call", name, start, returned > 0 ? returned : fake_cuda_now_ns(), call_number, 0, 0);
    return result;
}

uint64_t fake_returns(void)
{
    const uint64_t now = fake_cuda_now_ns();
    returned = returned == 0 ? now : returned;
    return now;
}

void fake_graph_begins(void)
{
    graph_number = 1;
}

uint64_t fake_begun(void)
{
    call_number++;
    returned = 0;
    return fake_cuda_now_ns();
}

/* ---- launches with attributes ---- */

unsigned long long fake_early_launches;

CUresult fake_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments, void **extra)
{
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return CUDA_ERROR_INVALID_VALUE;
    fake_early_launches += config->numAttrs;
    return fake_cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                               config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, arguments,
                               extra);
}
