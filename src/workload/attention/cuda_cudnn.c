/* attention on the device cuda by cuDNN: the library's own fused kernel (device/cuda_sdpa.h). */
#include "device/cuda_sdpa.h"
#include "workload/attention/gpu.h"
#include "workload/attention/host.h"

struct attention_cudnn {
    struct ifm_attention_gpu gpu;
    struct ifm_cuda_sdpa *sdpa;
    size_t layers[IFM_CUDA_TURNS]; /* tensors of each */
};
_Static_assert((int)IFM_CUDA_TURNS <= (int)IFM_CUDA_SDPA_SETS, "each layer has tensors of its own");

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_attention_ask *ask = asked;
    if (machine->dnn == NULL)
        return machine->dnn_why_not != NULL ? machine->dnn_why_not : "the arm cudnn needs cuDNN, which is not here";
    if (ask->shape.storage == IFM_STORE_F32)
        return "cuDNN's attention takes f16 and bf16: leave cudnn out of attention.arms, or set attention.storage=f16";
    if (ask->settings->ragged > 0)
        return "the arm cudnn takes sequences of one length: leave it out of attention.arms, or set attention.ragged=0";
    ask->matrix = true;
    return ifm_attention_gpu_supports(ask, arena);
}

static void enqueue(void *opened)
{
    const struct attention_cudnn *state = opened;
    ifm_cuda_sdpa_run(state->sdpa, state->layers[state->gpu.turn]);
}

static enum ifm_status bind_layers(struct attention_cudnn *state, struct ifm_error *error)
{
    for (unsigned layer = 0; layer < state->gpu.layers; layer++) {
        const struct ifm_attention_strided a = ifm_attention_gpu_layer(&state->gpu, layer);
        IFM_TRY(ifm_cuda_sdpa_bind(state->sdpa, &(struct ifm_cuda_sdpa_tensors){a.of.q, a.of.k, a.of.v, a.of.out},
                                   &state->layers[layer], error));
    }
    return IFM_OK;
}

static enum ifm_status open_attention(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct attention_cudnn *state = opened;
    IFM_TRY(ifm_attention_gpu_open(&state->gpu, opening, enqueue, error));
    const struct ifm_attention_shape *s = &state->gpu.shape;
    const struct ifm_cuda_sdpa_shape shape = {.batch = s->batch,
                                              .q_heads = s->q_heads,
                                              .kv_heads = s->kv_heads,
                                              .q_len = s->seq_len,
                                              .kv_len = s->seq_len,
                                              .head_dim = s->head_dim,
                                              .q = state->gpu.at.q,
                                              .kv = state->gpu.at.kv,
                                              .out = state->gpu.at.out,
                                              .causal = s->causal,
                                              .bf16 = s->storage == IFM_STORE_BF16};
    IFM_TRY(ifm_cuda_sdpa_open(opening->device, &shape, &state->sdpa, error));
    IFM_TRY(bind_layers(state, error));
    enqueue(state); /* what the library makes on first use is made here, outside any capture */
    ifm_attention_gpu_spoil(state, true);
    return ifm_cuda_wait(opening->device, error);
}

static void close_attention(void *opened)
{
    const struct attention_cudnn *state = opened;
    ifm_attention_gpu_close(opened);
    ifm_cuda_sdpa_close(state->sdpa);
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct attention_cudnn *state = opened;
    state->gpu.code = ifm_cuda_sdpa_library(state->sdpa);
    return ifm_attention_gpu_check(opened, out, error);
}

const struct ifm_implementation ifm_attention_cuda_cudnn = {
    .name = "cudnn",
    .title = "cuDNN",
    .device = "cuda",
    .purpose = "the library's fused attention, planned before anything is timed",
    .supports = supports,
    .ready = ifm_attention_host_ready,
    .state_bytes = sizeof(struct attention_cudnn),
    .open = open_attention,
    .step = ifm_attention_gpu_step,
    .spoil = ifm_attention_gpu_spoil,
    .check = check,
    .close = close_attention,
};
