/* attention by our tiled kernels, one for each instruction set. */
#include "kernel/cpu/dispatch.h"
#include "workload/attention/host.h"
#include "workload/data/data.h"

static const char operation[] = "attention.tiled";

struct attention_cpu {
    struct ifm_attention_host host;
    const struct ifm_kernel *kernel;
};

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_attention_ask *ask = asked;
    const char *why_not = ifm_data_isa_why_not(ask->isa, machine, arena);
    const struct ifm_kernel *kernel = ifm_data_kernel(operation, ask->isa, machine);
    if (why_not != NULL)
        return why_not;
    if (kernel == NULL)
        return ifm_arena_printf(arena, "this build has no attention kernel for %s; choose attention.isa=auto",
                                ask->isa);
    ask->isa = kernel->isa;
    ask->scratch = machine->threads * ifm_attention_scratch_floats(&ask->shape) * sizeof(float);
    return NULL;
}

static size_t scratch_floats(const struct ifm_attention_shape *shape, uint32_t block)
{
    (void)block;
    return ifm_attention_scratch_floats(shape);
}

static void work(void *arg, unsigned index, unsigned count)
{
    const struct attention_cpu *state = arg;
    (void)count;
    state->kernel->fn.attention(&state->host.job, index);
}

static enum ifm_status open_attention(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    static const struct ifm_attention_cut cut = {ifm_attention_block, scratch_floats, work};
    const struct ifm_attention_chosen *chosen = opening->chosen;
    struct attention_cpu *state = opened;
    state->kernel = ifm_kernel_find(operation, chosen->isa);
    if (state->kernel == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "choose attention.isa=auto",
                        "this build has no attention kernel for %s", chosen->isa);
    state->host.cut = &cut;
    state->host.code = state->kernel->isa;
    return ifm_attention_host_open(&state->host, opening, error);
}

const struct ifm_implementation ifm_attention_cpu = {
    .name = "ours",
    .title = "ours",
    .device = "cpu",
    .purpose = "tiled kernels of each instruction set",
    .supports = supports,
    .ready = ifm_attention_host_ready,
    .state_bytes = sizeof(struct attention_cpu),
    .open = open_attention,
    .step = ifm_attention_host_step,
    .spoil = ifm_attention_host_spoil,
    .check = ifm_attention_host_check,
    .close = ifm_attention_host_close,
};
