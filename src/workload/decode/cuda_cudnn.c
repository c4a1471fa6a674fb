/* decode on the device cuda by cuDNN: the library's attention of one query a head (device/cuda_sdpa.h), from the caches
 * of the other arms. Its queries and outputs are f16. */
#include "device/cuda_sdpa.h"
#include "workload/decode/run_cuda.h"

struct decode_cudnn {
    struct ifm_decode_cuda_run run;
    struct ifm_cuda_sdpa *sdpa;
    size_t layers[IFM_CUDA_TURNS]; /* tensors of each */
};
_Static_assert((int)IFM_CUDA_TURNS <= (int)IFM_CUDA_SDPA_SETS, "each layer has tensors of its own");

/* Beside that of weights: an output is rounded to f16. */
static const double OUTPUT_ROUNDING = 0x1p-11;

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_decode_ask *ask = asked;
    const char *why_not = ifm_decode_cuda_supports(machine, asked, arena);
    if (why_not != NULL)
        return why_not;
    if (ask->format != IFM_KV_F16)
        return "the arm cudnn takes f16 caches alone: leave it out of decode.arms, or set decode.compress=1";
    if (ask->settings->inference)
        return "the arm cudnn has a plan for caches of one length, and those of a cycle grow: leave it out of "
               "decode.arms, or decode.inference out";
    if (machine->dnn == NULL)
        return machine->dnn_why_not != NULL ? machine->dnn_why_not : "the arm cudnn needs cuDNN, which is not here";
    if (ask->settings->layout == IFM_DECODE_PAGED)
        return "the arm cudnn takes caches whose tokens lie in a row: leave it out of decode.arms, or set "
               "decode.layout=contiguous";
    if (ask->settings->ragged > 0)
        return "the arm cudnn takes caches of one length, which lie at equal distances: leave it out of decode.arms, "
               "or set decode.ragged=0";
    ask->rounding = IFM_DECODE_CUDA_ROUNDING + OUTPUT_ROUNDING;
    ask->halves = true;
    ask->matrix = true;
    return NULL;
}

static void enqueue(void *opened)
{
    const struct decode_cudnn *state = opened;
    ifm_cuda_sdpa_run(state->sdpa, state->layers[state->run.turn]);
}

static enum ifm_status bind_layers(struct decode_cudnn *state, struct ifm_error *error)
{
    const struct ifm_decode_cuda_run *run = &state->run;
    for (unsigned layer = 0; layer < run->layers; layer++) {
        const char *k = run->pools[layer];
        IFM_TRY(ifm_cuda_sdpa_bind(state->sdpa,
                                   &(struct ifm_cuda_sdpa_tensors){run->q_at, k, k + run->half, run->out_at},
                                   &state->layers[layer], error));
    }
    return IFM_OK;
}

static enum ifm_status open_decode(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct decode_cudnn *state = opened;
    struct ifm_decode_cuda_run *run = &state->run;
    IFM_TRY(ifm_decode_cuda_open(run, opening, true, enqueue, error));
    const struct ifm_decode_settings *s = run->settings;
    const struct ifm_cuda_sdpa_shape shape = {.batch = s->batch,
                                              .q_heads = s->q_heads,
                                              .kv_heads = s->kv_heads,
                                              .q_len = 1,
                                              .kv_len = s->kv_len,
                                              .head_dim = s->head_dim,
                                              .kv_room = run->pages / run->pairs * IFM_KV_PAGE};
    IFM_TRY(ifm_cuda_sdpa_open(opening->device, &shape, &state->sdpa, error));
    IFM_TRY(bind_layers(state, error));
    run->code = ifm_cuda_sdpa_library(state->sdpa);
    enqueue(state); /* what the library makes on first use is made here, outside any capture */
    ifm_decode_cuda_spoil(state, true);
    return ifm_cuda_wait(opening->device, error);
}

static void close_decode(void *opened)
{
    const struct decode_cudnn *state = opened;
    ifm_decode_cuda_close(opened);
    ifm_cuda_sdpa_close(state->sdpa);
}

const struct ifm_implementation ifm_decode_cuda_cudnn = {
    .name = "cudnn",
    .title = "cuDNN",
    .device = "cuda",
    .purpose = "the library's fused attention of one query, planned before anything is timed",
    .supports = supports,
    .ready = ifm_decode_ready,
    .state_bytes = sizeof(struct decode_cudnn),
    .open = open_decode,
    .step = ifm_decode_cuda_step,
    .spoil = ifm_decode_cuda_spoil,
    .check = ifm_decode_cuda_check,
    .feature_runs = ifm_decode_cuda_feature_runs,
    .close = close_decode,
};
