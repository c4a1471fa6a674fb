/* gemm on the device cuda by our kernels: at most 32 activations by mma.sync, each weight read once, and of one and
 * int4 in bulk, where there is compute capability 9.0; at most 256 by wgmma, which that has, each weight read once for
 * 128 of them, or for all where the copy engine brings tiles. From that on a step begins to read its weights while the
 * one before it ends; its activations and outputs wait for that. */
#include "workload/gemm/cuda.h"

#include <limits.h>
#include <stdio.h>

struct gemm_ours {
    struct ifm_gemm_cuda gemm;
    struct ifm_cuda_launch launch; /* but for the arguments */
    bool by_tiles;                 /* that the copy engine brings: a kernel of gemm_tma.cu */
    struct ifm_cuda_gemm_tma tma;  /* its arguments, but for the matrix and the maps */
};

enum { COLUMNS_MOST = 32, WGMMA_MOST = 256 };

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_gemm_ask *ask = asked;
    const int most = machine->gpu->major == 9 ? WGMMA_MOST : COLUMNS_MOST;
    ask->matrix = true;
    ask->too_many = ask->shape.m > (uint64_t)most;
    if (ask->too_many)
        return ifm_arena_printf(arena, "our kernels take at most %d activations on this GPU, gemm.m is %llu", most,
                                (unsigned long long)ask->shape.m);
    const char *why_not = ifm_gemm_cuda_supports(ask);
    if (ask->shape.m > 64) /* sums of blocks that share k */
        ask->scratch += machine->gpu->multiprocessors * IFM_CUDA_GEMM_TMA_PART(256);
    return why_not;
}

static void enqueue_tiles(const struct gemm_ours *state)
{
    struct ifm_device *device = state->gemm.device;
    struct ifm_cuda_gemm_tma tma = state->tma;
    struct ifm_cuda_launch launch = state->launch;
    struct ifm_cuda_gemm *a = &tma.a;
    *a = state->gemm.arguments;
    a->w = ifm_gemm_cuda_matrix(&state->gemm);
    ifm_cuda_map_tiles(device, &(struct ifm_cuda_tiles){a->w, a->n, a->k, a->k, IFM_CUDA_GEMM_TMA_ROWS}, tma.w_map);
    ifm_cuda_map_tiles(device, &(struct ifm_cuda_tiles){a->x, a->m, a->k, a->x_stride, a->m}, tma.x_map);
    launch.arguments = &tma;
    ifm_cuda_launch_early(device, &launch);
}

static void enqueue(void *opened)
{
    const struct gemm_ours *state = opened;
    if (state->by_tiles) {
        enqueue_tiles(state);
        return;
    }
    struct ifm_cuda_gemm a = state->gemm.arguments;
    struct ifm_cuda_launch launch = state->launch;
    a.w = ifm_gemm_cuda_matrix(&state->gemm);
    launch.arguments = &a;
    ifm_cuda_launch_early(state->gemm.device, &launch);
}

/* Activations of a kernel: as few as hold those that there are. */
static unsigned columns_of(const struct ifm_gemm_shape *s)
{
    return s->m <= 8 ? 8 : s->m <= 16 ? 16 : COLUMNS_MOST;
}

/* Activations that are worth a copy in shared memory, bytes: fewer stay in the first-level cache, and more leave too
 * little of it. At k = 4096 those are two to eight. */
enum { STAGED_LEAST = 16 << 10, STAGED_MOST = 72 << 10 };

/* Room for a block's rings and sums, and for activations where they are to be staged and fit beside that. */
static bool take_shared(struct gemm_ours *state, unsigned shared, struct ifm_error *error)
{
    struct ifm_cuda_gemm *a = &state->gemm.arguments;
    struct ifm_cuda_launch *launch = &state->launch;
    const unsigned staged = ifm_cuda_gemm_staged(a->m, a->x_stride);
    a->staged = staged > STAGED_LEAST && staged <= STAGED_MOST &&
                ifm_cuda_allow_shared(state->gemm.device, launch->function, shared + staged, error) == IFM_OK;
    launch->shared = shared + (a->staged ? staged : 0);
    return a->staged || ifm_cuda_allow_shared(state->gemm.device, launch->function, shared, error) == IFM_OK;
}

/* As many warps a block as its shared memory allows on this GPU, and a block for each multiprocessor. */
static enum ifm_status size_launch(struct gemm_ours *state, const struct ifm_gemm_shape *s, struct ifm_error *error)
{
    struct ifm_cuda_launch *launch = &state->launch;
    struct ifm_device *device = state->gemm.device;
    const unsigned columns = columns_of(s);
    unsigned blocks = 0;
    for (unsigned warps = IFM_CUDA_GEMM_WARPS; warps >= 4 && blocks == 0; warps /= 2) {
        const unsigned shared = ifm_cuda_gemm_shared((uint32_t)s->format, s->group, (uint32_t)s->m, columns, warps);
        launch->threads = warps * 32;
        if (take_shared(state, shared, error))
            blocks = ifm_cuda_blocks(device, launch->function, launch->threads, launch->shared);
    }
    if (blocks == 0)
        return ifm_fail(error, IFM_MISSING, state->gemm.arm, "leave ours out of gemm.arms",
                        "no block of the kernel fits this GPU");
    const unsigned panels = (unsigned)(s->n / IFM_CUDA_GEMM_PANEL), each = ifm_cuda_gpu(device)->multiprocessors;
    launch->blocks = each < panels ? each : panels;
    return IFM_OK;
}

/* A block for each multiprocessor and a share of the panels for each, as many for one as `panels`. */
static unsigned blocks_of_row(struct ifm_device *device, const struct ifm_gemm_shape *s, unsigned *panels)
{
    const unsigned all = (unsigned)(s->n / IFM_CUDA_GEMM_PANEL), each = ifm_cuda_gpu(device)->multiprocessors;
    const unsigned blocks = each < all ? each : all;
    *panels = (all + blocks - 1) / blocks;
    return blocks;
}

enum { ROW_SHARED_MOST = 227 << 10 };

static unsigned row_shared(struct ifm_device *device, const struct ifm_gemm_shape *s)
{
    const uint64_t stride = (s->k + IFM_CUDA_GEMM_PAD - 1) / IFM_CUDA_GEMM_PAD * IFM_CUDA_GEMM_PAD;
    unsigned panels;
    blocks_of_row(device, s, &panels);
    return stride > ROW_SHARED_MOST ? UINT_MAX : ifm_cuda_gemm_row_shared(s->group, (uint32_t)stride, panels);
}

/* One activation and int4: chunks that one thread asks for come at 3.73 TB/s, the warps' own copies at 3.05. */
static bool suits_row(struct ifm_device *device, const struct ifm_gemm_shape *s)
{
    return ifm_cuda_gpu(device)->major == 9 && s->m == 1 && s->format == IFM_GEMM_INT4 &&
           row_shared(device, s) <= ROW_SHARED_MOST;
}

static enum ifm_status find_row(struct gemm_ours *state, struct ifm_device *device, const struct ifm_gemm_shape *s,
                                struct ifm_error *error)
{
    struct ifm_cuda_launch *launch = &state->launch;
    char name[48];
    unsigned panels;
    snprintf(name, sizeof name, "ifm_gemm_row_int4_%u", s->group);
    launch->blocks = blocks_of_row(device, s, &panels);
    launch->threads = IFM_CUDA_GEMM_ROW_THREADS;
    launch->shared = row_shared(device, s);
    IFM_TRY(ifm_cuda_find(device, "gemm_row", name, &launch->function, error));
    return ifm_cuda_allow_shared(device, launch->function, launch->shared, error);
}

/* Of f16 and bf16 wgmma is faster than mma.sync from 9 activations on, where its blocks fill the GPU: with 14336 x 4096
 * 30 us and not 37. */
static bool suits_wgmma(struct ifm_device *device, const struct ifm_gemm_shape *s)
{
    const struct ifm_gpu *gpu = ifm_cuda_gpu(device);
    return s->m > COLUMNS_MOST || (gpu->major == 9 && s->m > 8 && s->n / 64 > gpu->multiprocessors &&
                                   (s->format == IFM_GEMM_F16 || s->format == IFM_GEMM_BF16));
}

/* A kernel by wgmma: the activations of a block, its warpgroups, which have 64 rows of the weights each, and how many
 * blocks share k. */
struct gemm_wgmma {
    unsigned columns, groups, split, blocks;
};

/* One wave of blocks. Those of more warpgroups read the activations less often, and with activations in two parts each
 * weight is read twice: 4096 x 4096 and m 256 take 21 us by two warpgroups that share k, 25 by one that does not. Two
 * blocks that share k read faster than one where they find room: m 128 then takes 15 us, not 24. */
static struct gemm_wgmma wgmma_of(const struct ifm_gemm_shape *s, unsigned multiprocessors)
{
    const bool is_wide = s->format == IFM_GEMM_F16 || s->format == IFM_GEMM_BF16;
    struct gemm_wgmma of = {.columns = s->m <= 64 ? 64 : 128, .split = 1};
    const unsigned across = ((unsigned)s->m + of.columns - 1) / of.columns, panels = (unsigned)s->n / 64;
    const unsigned most = is_wide && of.columns == 128 ? 4 : 2;
    of.groups = is_wide ? across : 1;
    while (of.groups < most && (panels + of.groups - 1) / of.groups * across > multiprocessors)
        of.groups *= 2;
    of.blocks = (panels + of.groups - 1) / of.groups * across;
    if (is_wide && 2 * of.blocks <= multiprocessors && s->k > IFM_CUDA_GEMM_DEPTH) {
        of.split = 2;
        of.blocks *= 2;
    }
    return of;
}

static enum ifm_status find_wgmma(struct gemm_ours *state, const struct ifm_opening *opening,
                                  const struct ifm_gemm_shape *s, const char *format, struct ifm_error *error)
{
    struct ifm_cuda_launch *launch = &state->launch;
    const struct gemm_wgmma of = wgmma_of(s, ifm_cuda_gpu(opening->device)->multiprocessors);
    char name[80];
    snprintf(name, sizeof name, "ifm_gemm_wgmma_%s_%u_%u_%u", format, of.columns, of.groups, of.split);
    launch->blocks = of.blocks;
    launch->threads = 128 * of.groups;
    launch->shared =
        IFM_CUDA_GEMM_STAGES_OF(of.groups) * IFM_CUDA_GEMM_STAGE((unsigned)s->format, of.columns, of.groups) + 1024;
    IFM_TRY(ifm_cuda_find(opening->device, "gemm_wgmma", name, &launch->function, error));
    return ifm_cuda_allow_shared(opening->device, launch->function, launch->shared, error);
}

enum { LEAST_STEPS = 16 /* of a block that shares k: the exchange of its sums takes as long as some eight */ };

/* How many blocks of gemm_tma.cu share k, where all of them are one wave that takes most of the GPU: m 128 then takes
 * 33.5 us and not 38 to 43. 0: another kernel is faster. */
static unsigned split_of_tiles(struct ifm_device *device, const struct ifm_gemm_shape *s)
{
    const struct ifm_gpu *gpu = ifm_cuda_gpu(device);
    const uint64_t tiles = s->n / IFM_CUDA_GEMM_TMA_ROWS, steps = s->k / IFM_CUDA_GEMM_DEPTH;
    if (gpu->major != 9 || s->m <= 64 || (s->format != IFM_GEMM_F16 && s->format != IFM_GEMM_BF16) ||
        s->n % IFM_CUDA_GEMM_TMA_ROWS != 0 || tiles > gpu->multiprocessors)
        return 0;
    const unsigned fit = (unsigned)(gpu->multiprocessors / tiles);
    const unsigned split = fit < IFM_CUDA_GEMM_TMA_SPLIT ? fit : IFM_CUDA_GEMM_TMA_SPLIT;
    if (split == 1)
        return 1;
    return 5 * split * tiles >= 4 * gpu->multiprocessors && steps >= LEAST_STEPS * split ? split : 0;
}

/* Where blocks that share k leave their sums. */
static enum ifm_status take_parts(struct gemm_ours *state, struct ifm_device *device, const struct ifm_gemm_shape *s,
                                  unsigned columns, struct ifm_error *error)
{
    const size_t tiles = s->n / IFM_CUDA_GEMM_TMA_ROWS, bytes = state->launch.blocks * IFM_CUDA_GEMM_TMA_PART(columns);
    void *tickets;
    bool fresh;
    IFM_TRY(device->ops->buffer(device, "gemm.parts", bytes, &state->tma.parts, &fresh, error));
    IFM_TRY(device->ops->buffer(device, "gemm.tickets", tiles * sizeof(uint32_t), &tickets, &fresh, error));
    ifm_cuda_fill(device, tickets, 0, tiles);
    state->tma.tickets = tickets;
    return IFM_OK;
}

static enum ifm_status find_tiles(struct gemm_ours *state, struct ifm_device *device, const struct ifm_gemm_shape *s,
                                  unsigned split, struct ifm_error *error)
{
    struct ifm_cuda_launch *launch = &state->launch;
    const unsigned columns = s->m <= 128 ? 128 : s->m <= 192 ? 192 : 256;
    char name[48];
    snprintf(name, sizeof name, "ifm_gemm_tma_%s%s_%u", split > 1 ? "part_" : "", ifm_gemm_format_name(s->format),
             columns);
    state->by_tiles = true;
    state->tma.split = split;
    launch->blocks = (unsigned)(s->n / IFM_CUDA_GEMM_TMA_ROWS) * split;
    launch->threads = IFM_CUDA_GEMM_TMA_THREADS;
    launch->shared = IFM_CUDA_GEMM_TMA_SHARED(columns);
    IFM_TRY(ifm_cuda_find(device, "gemm_tma", name, &launch->function, error));
    if (split > 1)
        IFM_TRY(take_parts(state, device, s, columns, error));
    return ifm_cuda_allow_shared(device, launch->function, launch->shared, error);
}

static enum ifm_status open_gemm(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_gemm_chosen *chosen = opening->chosen;
    const struct ifm_gemm_shape s = ifm_gemm_shape_of(opening->settings, (enum ifm_gemm_format)chosen->format);
    const unsigned split = split_of_tiles(opening->device, &s);
    struct gemm_ours *state = opened;
    char format[24], name[48], group[8] = "";
    enum ifm_status status = IFM_MISSING;
    state->gemm.in_fragments = s.format == IFM_GEMM_INT8 || s.format == IFM_GEMM_INT4;
    state->gemm.in_order = s.m > COLUMNS_MOST;
    if (state->gemm.in_fragments)
        snprintf(group, sizeof group, "_%u", s.group);
    snprintf(format, sizeof format, "%s%s", ifm_gemm_format_name(s.format), group);
    snprintf(name, sizeof name, "ifm_gemm_mma_%s_%u", format, columns_of(&s));
    const bool by_row = suits_row(opening->device, &s);
    if (by_row)
        status = find_row(state, opening->device, &s, error);
    else if (split > 0)
        status = find_tiles(state, opening->device, &s, split, error);
    else if (suits_wgmma(opening->device, &s))
        status = find_wgmma(state, opening, &s, format, error);
    const bool by_mma = status == IFM_MISSING && s.m <= COLUMNS_MOST; /* an old NVRTC has neither */
    if (by_mma)
        status = ifm_cuda_find(opening->device, "gemm_mma", name, &state->launch.function, error);
    if (status == IFM_OK)
        status = ifm_gemm_cuda_open(&state->gemm, opening, enqueue, error);
    if (by_row)
        state->gemm.arguments.panels = (uint32_t)(s.n / IFM_CUDA_GEMM_PANEL) / state->launch.blocks;
    return status == IFM_OK && by_mma ? size_launch(state, &s, error) : status;
}

const struct ifm_implementation ifm_gemm_cuda_ours = {
    .name = "ours",
    .title = "ours (CUDA)",
    .device = "cuda",
    .purpose = "kernels of each format by matrix instructions, up to 256 activations (32 before Hopper)",
    .supports = supports,
    .state_bytes = sizeof(struct gemm_ours),
    .open = open_gemm,
    .step = ifm_gemm_cuda_step,
    .spoil = ifm_gemm_cuda_spoil,
    .check = ifm_gemm_cuda_check,
    .close = ifm_gemm_cuda_close,
};
