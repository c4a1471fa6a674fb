/* gemm on the device cuda, plainly: a warp for each output, the readable first rung. */
#include "workload/gemm/cuda.h"

#include <stdio.h>

struct gemm_naive {
    struct ifm_gemm_cuda gemm;
    struct ifm_cuda_function *kernel;
};

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    (void)machine;
    (void)arena;
    return ifm_gemm_cuda_supports(asked);
}

static void enqueue(void *opened)
{
    const struct gemm_naive *state = opened;
    const uint64_t outputs = state->gemm.shape.m * state->gemm.shape.n, warps = IFM_CUDA_GEMM_THREADS / 32;
    struct ifm_cuda_gemm a = state->gemm.arguments;
    a.w = ifm_gemm_cuda_matrix(&state->gemm);
    ifm_cuda_launch(state->gemm.device,
                    &(struct ifm_cuda_launch){state->kernel, (unsigned)((outputs + warps - 1) / warps),
                                              IFM_CUDA_GEMM_THREADS, 0, &a});
}

static enum ifm_status open_gemm(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_gemm_chosen *chosen = opening->chosen;
    struct gemm_naive *state = opened;
    char name[40];
    snprintf(name, sizeof name, "ifm_gemm_naive_%s", ifm_gemm_format_name((enum ifm_gemm_format)chosen->format));
    IFM_TRY(ifm_cuda_find(opening->device, "gemm", name, &state->kernel, error));
    return ifm_gemm_cuda_open(&state->gemm, opening, enqueue, error);
}

const struct ifm_implementation ifm_gemm_cuda_naive = {
    .name = "naive",
    .title = "naive (CUDA)",
    .device = "cuda",
    .purpose = "a warp for each output, no matrix instructions: the readable first rung",
    .supports = supports,
    .state_bytes = sizeof(struct gemm_naive),
    .open = open_gemm,
    .step = ifm_gemm_cuda_step,
    .spoil = ifm_gemm_cuda_spoil,
    .check = ifm_gemm_cuda_check,
    .close = ifm_gemm_cuda_close,
};
