/* attention on the device cuda by our tiled kernels (kernel/cuda/flash.cu, flash_sm90.cu). */
#include "kernel/cuda/flash.h"
#include "workload/attention/gpu.h"
#include "workload/attention/host.h"

#include <stdio.h>

/* A kernel: what it takes of a block. */
struct flash {
    const char *image, *family;
    unsigned dim, rows, threads, shared;
};
#define MMA(dim, tiles, warps, keys, part, blocks)                                                                     \
    {"flash", "flash", dim, 16 * (tiles) * (warps), 32 * (warps), IFM_FLASH_SHARED(dim, tiles, warps, keys)},
#define WGMMA(dim, groups, keys, blocks)                                                                               \
    {"flash_sm90", "hopper", dim, 64 * (groups), 128 * (groups), IFM_HOPPER_SHARED(dim, keys)},
static const struct flash mma[] = {IFM_FLASH_KERNELS(MMA){0}}, wgmma[] = {IFM_HOPPER_KERNELS(WGMMA){0}};

static const struct flash *find(const struct flash *kernels, uint64_t dim)
{
    while (kernels->image != NULL && kernels->dim != dim)
        kernels++;
    return kernels->image != NULL ? kernels : NULL;
}

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

static enum ifm_status take(const struct ifm_opening *opening, const struct flash *kernel, struct attention_cuda *state,
                            struct ifm_error *error)
{
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    char name[48];
    snprintf(name, sizeof name, "ifm_%s_%s_%u", kernel->family, s.storage == IFM_STORE_BF16 ? "bf16" : "f16",
             kernel->dim);
    state->of = kernel;
    state->blocks = (unsigned)((s.seq_len + kernel->rows - 1) / kernel->rows * s.q_heads * s.batch);
    return ifm_cuda_find(opening->device, kernel->image, name, &state->kernel, error);
}

static enum ifm_status open_taken(const struct ifm_opening *opening, struct attention_cuda *state,
                                  struct ifm_error *error)
{
    IFM_TRY(ifm_cuda_allow_shared(opening->device, state->kernel, state->of->shared, error));
    return ifm_attention_gpu_open(&state->gpu, opening, enqueue, error);
}

static enum ifm_status open_mma(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const uint64_t dim = ifm_attention_shape_of(opening).head_dim;
    const struct flash *kernel = find(mma, dim);
    if (kernel == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "take the arm naive",
                        "there is no tiled kernel for head_dim %llu", (unsigned long long)dim);
    IFM_TRY(take(opening, kernel, opened, error));
    return open_taken(opening, opened, error);
}

/* A short sequence fills the pipeline of wgmma too little. Measured at 128 tokens: 9.3 us, mma 7.3; at 256 both 19.8;
 * at 512 61 and 69 (bench/results/2026-11-24-h200-attention.txt). */
enum { WGMMA_FROM = 256 };

/* An NVRTC that is older than the GPU makes PTX of an older one, which has no wgmma: then by mma too. */
static enum ifm_status open_best(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    const struct flash *kernel = s.seq_len >= WGMMA_FROM ? find(wgmma, s.head_dim) : NULL;
    if (kernel == NULL || ifm_cuda_gpu(opening->device)->major != 9)
        return open_mma(opening, opened, error);
    const enum ifm_status status = take(opening, kernel, opened, error);
    if (status == IFM_MISSING)
        return open_mma(opening, opened, error);
    return status != IFM_OK ? status : open_taken(opening, opened, error);
}

#define ROW(what, title_, opens, why)                                                                                  \
    {                                                                                                                  \
        .name = what, .title = title_, .device = "cuda", .purpose = why, .supports = supports,                         \
        .ready = ifm_attention_host_ready, .state_bytes = sizeof(struct attention_cuda), .open = opens,                \
        .step = ifm_attention_gpu_step, .spoil = ifm_attention_gpu_spoil, .check = ifm_attention_gpu_check,            \
        .close = ifm_attention_gpu_close                                                                               \
    }
const struct ifm_implementation ifm_attention_cuda =
    ROW("ours", "ours (CUDA)", open_best, "the fastest of our tiled kernels that the GPU has: wgmma, or mma");
const struct ifm_implementation ifm_attention_cuda_mma =
    ROW("mma", "mma (CUDA)", open_mma, "tiles by mma.sync and asynchronous copies, from compute capability 8.0 on");
