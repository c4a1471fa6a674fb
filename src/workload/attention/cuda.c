/* attention on the device cuda by our tiled kernels (kernel/cuda/flash.cu). */
#include "kernel/cuda/flash.h"
#include "workload/attention/gpu.h"
#include "workload/attention/host.h"

#include <stdio.h>

/* A kernel of the table: what it takes of a block. */
struct flash {
    unsigned dim, rows, threads, shared;
};
#define KERNEL(dim, tiles, warps, keys, part, blocks)                                                                  \
    {dim, 16 * (tiles) * (warps), 32 * (warps), IFM_FLASH_SHARED(dim, tiles, warps, keys)},
static const struct flash kernels[] = {IFM_FLASH_KERNELS(KERNEL)};

struct attention_cuda {
    struct ifm_attention_gpu gpu;
    struct ifm_cuda_function *kernel;
    const struct flash *of;
    unsigned blocks;
};

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_attention_ask *ask = asked;
    if (ask->shape.storage == IFM_STORE_F32)
        return "our kernels for a GPU take f16 and bf16: set attention.storage=f16, or take the arm naive";
    if (machine->gpu->major < 8)
        return ifm_arena_printf(arena,
                                "our tiled kernels need compute capability 8.0, and this GPU has %u.%u; take the arm "
                                "naive",
                                machine->gpu->major, machine->gpu->minor);
    ask->matrix = true;
    return ifm_attention_gpu_supports(ask, arena);
}

static void enqueue(void *opened)
{
    const struct attention_cuda *state = opened;
    ifm_cuda_launch(state->gpu.device, &(struct ifm_cuda_launch){state->kernel, state->blocks, state->of->threads,
                                                                 state->of->shared, &state->gpu.arguments});
}

static enum ifm_status open_attention(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    struct attention_cuda *state = opened;
    char name[48];
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i].dim == s.head_dim)
            state->of = &kernels[i];
    if (state->of == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "take the arm naive",
                        "there is no tiled kernel for head_dim %llu", (unsigned long long)s.head_dim);
    snprintf(name, sizeof name, "ifm_flash_%s_%u", s.storage == IFM_STORE_BF16 ? "bf16" : "f16", state->of->dim);
    state->blocks = (unsigned)((s.seq_len + state->of->rows - 1) / state->of->rows * s.q_heads * s.batch);
    IFM_TRY(ifm_cuda_find(opening->device, "flash", name, &state->kernel, error));
    IFM_TRY(ifm_cuda_allow_shared(opening->device, state->kernel, state->of->shared, error));
    return ifm_attention_gpu_open(&state->gpu, opening, enqueue, error);
}

const struct ifm_implementation ifm_attention_cuda = {
    .name = "ours",
    .title = "ours (CUDA)",
    .device = "cuda",
    .purpose = "tiles in registers and shared memory, matrix instructions, asynchronous copies",
    .supports = supports,
    .ready = ifm_attention_host_ready,
    .state_bytes = sizeof(struct attention_cuda),
    .open = open_attention,
    .step = ifm_attention_gpu_step,
    .spoil = ifm_attention_gpu_spoil,
    .check = ifm_attention_gpu_check,
    .close = ifm_attention_gpu_close,
};
