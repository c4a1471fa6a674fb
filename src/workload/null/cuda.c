/* null on the device cuda, where a step is a kernel of one thread. */
#include "device/cuda.h"
#include "kernel/cuda/null.h"
#include "workload/null/null.h"

struct null_cuda {
    struct ifm_device *device;
    struct ifm_cuda_steps *steps;
    struct ifm_cuda_function *kernel;
    struct ifm_null_spin_arguments arguments;
};

static void enqueue(void *opened)
{
    const struct null_cuda *state = opened;
    ifm_cuda_launch(state->device, &(struct ifm_cuda_launch){state->kernel, 1, 1, 0, &state->arguments});
}

static void close_null(void *opened)
{
    const struct null_cuda *state = opened;
    ifm_cuda_steps_destroy(state->steps);
}

static enum ifm_status open_null(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_null_settings *settings = opening->settings;
    struct null_cuda *state = opened;
    bool fresh;
    void *left;
    *state = (struct null_cuda){.device = opening->device, .arguments.n = settings->spin};
    const char *name = state->arguments.n > 0 ? "ifm_null_spin" : "ifm_null";
    IFM_TRY(ifm_cuda_find(state->device, "null", name, &state->kernel, error));
    IFM_TRY(state->device->ops->buffer(state->device, "null", sizeof(uint64_t), &left, &fresh, error));
    state->arguments.value = left;
    enqueue(state); /* what is made on first use is made here, and the facts of the device know the kernel */
    return ifm_cuda_steps_create(state->device, enqueue, state, &state->steps, error);
}

static void step(void *opened, uint64_t n)
{
    const struct null_cuda *state = opened;
    ifm_cuda_steps_run(state->steps, n);
}

const struct ifm_implementation ifm_null_cuda = {
    .name = "ours",
    .title = "ours (CUDA)",
    .device = "cuda",
    .purpose = "a kernel of one thread",
    .state_bytes = sizeof(struct null_cuda),
    .open = open_null,
    .step = step,
    .close = close_null,
};
