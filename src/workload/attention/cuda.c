/* attention on the device cuda by our tiled kernels (kernel/cuda/flash.cu, flash_sm90.cu). From compute capability 9.0
 * on a step is launched while the one before it ends; all that it reads waits for that. */
#include "kernel/cuda/flash.h"
#include "workload/attention/gpu.h"
#include "workload/attention/host.h"

#include <stdio.h>

/* A kernel: what it takes of a block. */
struct flash {
    const char *image, *family;
    unsigned dim, groups;                     /* groups: of wgmma, in the name of the kernel; 0 = none */
    unsigned rows, threads, shared, resident; /* resident: blocks of a multiprocessor */
};
#define MMA(dim, tiles, warps, keys, part, blocks)                                                                     \
    {"flash", "flash", dim, 0, 16 * (tiles) * (warps), 32 * (warps), IFM_FLASH_SHARED(dim, tiles, warps, keys), blocks},
#define WGMMA(dim, groups, keys, blocks)                                                                               \
    {"flash_sm90", "hopper", dim, groups, 64 * (groups), 128 * (groups), IFM_HOPPER_SHARED(dim, keys), blocks},
static const struct flash mma[] = {IFM_FLASH_KERNELS(MMA){0}}, wgmma[] = {IFM_HOPPER_KERNELS(WGMMA){0}};

static const struct flash *find(const struct flash *kernels, uint64_t dim)
{
    while (kernels->image != NULL && kernels->dim != dim)
        kernels++;
    return kernels->image != NULL ? kernels : NULL;
}

static uint64_t blocks_of(const struct flash *kernel, const struct ifm_attention_shape *s)
{
    return (s->seq_len + kernel->rows - 1) / kernel->rows * s->q_heads * s->batch;
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
    const struct ifm_attention_strided a = ifm_attention_gpu_layer(&state->gpu, state->gpu.turn);
    ifm_cuda_launch_early(state->gpu.device, &(struct ifm_cuda_launch){state->kernel, state->blocks, state->of->threads,
                                                                       state->of->shared, &a});
}

static enum ifm_status take(const struct ifm_opening *opening, const struct flash *kernel, struct attention_cuda *state,
                            struct ifm_error *error)
{
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    char name[48];
    const int n = snprintf(name, sizeof name, "ifm_%s_%s_%u", kernel->family,
                           s.storage == IFM_STORE_BF16 ? "bf16" : "f16", kernel->dim);
    if (kernel->groups > 0)
        snprintf(name + n, sizeof name - (size_t)n, "_%u", kernel->groups);
    state->of = kernel;
    state->blocks = (unsigned)blocks_of(kernel, &s);
    return ifm_attention_gpu_find(opening, kernel->image, name, &state->kernel, error);
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

/* A short sequence fills the pipeline of wgmma too little, but its blocks have 64 queries and those of mma 128. On an
 * H200 wgmma and mma take, with 32 x 8 heads of 64 values, 4.9 and 4.7 us at 64 tokens, 8.9 and 6.6 at 128, 12.2 and
 * 15.3 at 192, 19.3 and 18.8 at 256, 28 and 33 at 320, 58 and 65 at 512. */
static bool suits_wgmma(const struct ifm_attention_shape *s)
{
    return s->seq_len > 256 || (s->head_dim == 64 ? s->seq_len > 128 && s->seq_len <= 192 : s->seq_len == 256);
}

/* The first kernel of the head dimension; the next one where its blocks run all at once and those of the first do not:
 * 8 x 8 heads of 512 tokens take 15.4 us, not 16.2. */
static const struct flash *find_wgmma(const struct ifm_attention_shape *s, unsigned multiprocessors)
{
    const struct flash *first = find(wgmma, s->head_dim);
    const struct flash *second = first != NULL ? find(first + 1, s->head_dim) : NULL;
    return second != NULL && blocks_of(first, s) > (uint64_t)first->resident * multiprocessors &&
                   blocks_of(second, s) <= (uint64_t)second->resident * multiprocessors
               ? second
               : first;
}

/* An NVRTC that is older than the GPU makes PTX of an older one, which has no wgmma: then by mma too. */
static enum ifm_status open_best(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_attention_shape s = ifm_attention_shape_of(opening);
    const struct ifm_gpu *gpu = ifm_cuda_gpu(opening->device);
    const struct flash *kernel = suits_wgmma(&s) ? find_wgmma(&s, gpu->multiprocessors) : NULL;
    if (kernel == NULL || gpu->major != 9)
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
