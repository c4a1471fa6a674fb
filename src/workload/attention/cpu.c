/* attention by our tiled kernels, one for each instruction set. */
#include "kernel/cpu/dispatch.h"
#include "workload/attention/host.h"
#include "workload/data/data.h"

#include <stdlib.h>

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
    return NULL;
}

static void close_attention(void *opened)
{
    struct attention_cpu *state = opened;
    if (state != NULL)
        ifm_attention_host_close(&state->host);
    free(state);
}

static size_t scratch_floats(const struct ifm_attention_shape *shape, uint32_t block)
{
    (void)block;
    return ifm_attention_scratch_floats(shape);
}

static enum ifm_status open_attention(const struct ifm_opening *opening, void **out, struct ifm_error *error)
{
    static const struct ifm_attention_cut cut = {ifm_attention_block, scratch_floats};
    const struct ifm_attention_chosen *chosen = opening->chosen;
    struct attention_cpu *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ifm_fail(error, IFM_INTERNAL, opening->arm->name, NULL, "out of memory");
    state->kernel = ifm_kernel_find(operation, chosen->isa);
    enum ifm_status status = state->kernel == NULL
                                 ? ifm_fail(error, IFM_MISSING, opening->arm->name, "choose attention.isa=auto",
                                            "this build has no attention kernel for %s", chosen->isa)
                                 : ifm_attention_host_open(&state->host, opening, &cut, error);
    if (status != IFM_OK)
        close_attention(state);
    else
        *out = state;
    return status;
}

static void work(void *arg, unsigned index, unsigned count)
{
    const struct attention_cpu *state = arg;
    (void)count;
    state->kernel->fn.attention(&state->host.job, index);
}

static void step(void *opened, uint64_t n)
{
    struct attention_cpu *state = opened;
    ifm_attention_host_step(&state->host, n, work, state);
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct attention_cpu *state = opened;
    return ifm_attention_host_check(&state->host, state->kernel->isa, out, error);
}

const struct ifm_implementation ifm_attention_cpu = {
    .name = "ours",
    .title = "ours",
    .device = "cpu",
    .purpose = "tiled kernels of each instruction set",
    .supports = supports,
    .ready = ifm_attention_host_ready,
    .open = open_attention,
    .step = step,
    .check = check,
    .close = close_attention,
};
