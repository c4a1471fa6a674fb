/* gemm by our kernels, one for each format and instruction set. */
#include "kernel/cpu/dispatch.h"
#include "kernel/cpu/isa.h"
#include "workload/data/data.h"
#include "workload/gemm/host.h"

#include <stdio.h>

struct gemm_cpu {
    struct ifm_gemm_host host;
    const struct ifm_kernel *kernel;
};

static const char *operation(enum ifm_gemm_format format, char op[32])
{
    snprintf(op, 32, "gemm.%s", ifm_gemm_format_name(format));
    return op;
}

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_gemm_ask *ask = asked;
    char op[32];
    const char *isa = ifm_isa_name(ask->settings->isa);
    ask->too_many = ask->shape.m > IFM_GEMM_M_MOST;
    if (ask->too_many)
        return ifm_arena_printf(arena, "our kernels take at most %d activations, gemm.m is %llu", IFM_GEMM_M_MOST,
                                (unsigned long long)ask->shape.m);
    if (ask->shape.format == IFM_GEMM_F16)
        return "our kernels for a processor take f32, bf16, int8 and int4 weights; f16 is for the device cuda";
    const char *why_not = ifm_data_isa_why_not(isa, machine, arena);
    if (why_not != NULL)
        return why_not;
    const struct ifm_kernel *kernel = ifm_data_kernel(operation(ask->shape.format, op), isa, machine);
    if (kernel == NULL)
        return ifm_arena_printf(arena, "there is no kernel of gemm for %s (choose avx2 or scalar)", isa);
    ask->isa = kernel->isa;
    ask->scratch = ifm_gemm_scratch_bytes(&ask->shape, machine->threads);
    return NULL;
}

static void work(void *arg, unsigned index, unsigned count)
{
    const struct gemm_cpu *state = arg;
    state->kernel->fn.gemm(&state->host.job, index, count);
}

static enum ifm_status open_gemm(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_gemm_chosen *chosen = opening->chosen;
    struct gemm_cpu *state = opened;
    char op[32];
    state->kernel = ifm_kernel_find(operation((enum ifm_gemm_format)chosen->format, op), chosen->isa);
    if (state->kernel == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "choose gemm.isa=auto",
                        "this build has no kernel %s for %s", op, chosen->isa);
    state->host.work = work;
    state->host.code = state->kernel->isa;
    return ifm_gemm_host_open(&state->host, opening, error);
}

const struct ifm_implementation ifm_gemm_cpu = {
    .name = "ours",
    .title = "ours",
    .device = "cpu",
    .purpose = "kernels of each format and instruction set, up to 8 activations",
    .supports = supports,
    .state_bytes = sizeof(struct gemm_cpu),
    .open = open_gemm,
    .step = ifm_gemm_host_step,
    .spoil = ifm_gemm_host_spoil,
    .check = ifm_gemm_host_check,
    .close = ifm_gemm_host_close,
};
