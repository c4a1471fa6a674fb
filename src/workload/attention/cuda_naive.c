/* attention on the device cuda, plainly: a block for each query, the readable first rung. */
#include "workload/attention/gpu.h"
#include "workload/attention/host.h"

struct attention_naive {
    struct ifm_attention_gpu gpu;
    struct ifm_cuda_function *kernel;
};

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    (void)machine;
    return ifm_attention_gpu_supports(asked, arena);
}

static void enqueue(void *opened)
{
    const struct attention_naive *state = opened;
    const struct ifm_attention_shape *s = &state->gpu.shape;
    const struct ifm_attention_strided a = ifm_attention_gpu_layer(&state->gpu, state->gpu.turn);
    ifm_cuda_launch(state->gpu.device,
                    &(struct ifm_cuda_launch){state->kernel, (unsigned)(s->batch * s->q_heads * s->seq_len),
                                              IFM_ATTENTION_NAIVE_THREADS, 0, &a});
}

static enum ifm_status open_attention(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    static const char *const names[] = {"ifm_attention_naive_f32", "ifm_attention_naive_bf16",
                                        "ifm_attention_naive_f16"};
    const struct ifm_attention_settings *settings = opening->settings;
    struct attention_naive *state = opened;
    IFM_TRY(ifm_attention_gpu_find(opening, "attention", names[settings->storage], &state->kernel, error));
    return ifm_attention_gpu_open(&state->gpu, opening, enqueue, error);
}

const struct ifm_implementation ifm_attention_cuda_naive = {
    .name = "naive",
    .title = "naive (CUDA)",
    .device = "cuda",
    .purpose = "a block for each query, no matrix instructions: the readable first rung",
    .supports = supports,
    .ready = ifm_attention_host_ready,
    .state_bytes = sizeof(struct attention_naive),
    .open = open_attention,
    .step = ifm_attention_gpu_step,
    .spoil = ifm_attention_gpu_spoil,
    .check = ifm_attention_gpu_check,
    .close = ifm_attention_gpu_close,
};
