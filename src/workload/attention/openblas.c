/* attention by OpenBLAS: its matrix products between our own softmax, conversions and blocking (blas.h). */
#include "workload/attention/blas.h"
#include "workload/attention/host.h"
#include "workload/data/data.h"

struct attention_openblas {
    struct ifm_attention_host host;
    struct ifm_attention_blas blas;
};

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_attention_ask *ask = asked;
    if (machine->blas == NULL)
        return machine->blas_why_not != NULL ? machine->blas_why_not
                                             : "the arm openblas needs OpenBLAS, which this device has not";
    const char *why_not = ifm_data_isa_why_not(ask->isa, machine, arena);
    const struct ifm_kernel *softmax = ifm_data_kernel("attention.softmax", ask->isa, machine);
    if (why_not == NULL && softmax == NULL)
        return ifm_arena_printf(arena, "this build has no softmax kernel for %s; choose attention.isa=auto", ask->isa);
    ask->isa = why_not == NULL ? softmax->isa : "";
    const uint32_t block = ifm_attention_blas_block(&ask->shape, machine->threads);
    ask->scratch = machine->threads * ifm_attention_blas_scratch_floats(&ask->shape, block) * sizeof(float);
    return why_not;
}

static void work(void *arg, unsigned index, unsigned count)
{
    const struct attention_openblas *state = arg;
    const struct ifm_attention_job *job = &state->host.job;
    (void)count;
    ifm_attention_blas(&state->blas, job, job->scratch + index * state->host.scratch_floats);
}

static enum ifm_status open_attention(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    static const struct ifm_attention_cut cut = {ifm_attention_blas_block, ifm_attention_blas_scratch_floats, work};
    const struct ifm_attention_chosen *chosen = opening->chosen;
    struct attention_openblas *state = opened;
    const char *why_not = NULL;
    state->blas = (struct ifm_attention_blas){.library = ifm_openblas_load(&why_not),
                                              .softmax = ifm_kernel_find("attention.softmax", chosen->isa),
                                              .widen = ifm_kernel_find("attention.widen", chosen->isa),
                                              .store = ifm_kernel_find("attention.store", chosen->isa)};
    if (state->blas.library == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "leave openblas out of attention.arms", "%s", why_not);
    if (state->blas.softmax == NULL || state->blas.widen == NULL || state->blas.store == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "choose attention.isa=auto",
                        "this build has no softmax kernel for %s", chosen->isa);
    state->host.cut = &cut;
    state->host.code = state->blas.library->core;
    IFM_TRY(ifm_attention_host_open(&state->host, opening, error));
    return ifm_openblas_check_memory(opening->threads, error);
}

const struct ifm_implementation ifm_attention_openblas = {
    .name = "openblas",
    .title = "OpenBLAS",
    .device = "cpu",
    .purpose = "matrix products of the installed library, with our softmax between them",
    .supports = supports,
    .ready = ifm_attention_host_ready,
    .state_bytes = sizeof(struct attention_openblas),
    .open = open_attention,
    .step = ifm_attention_host_step,
    .spoil = ifm_attention_host_spoil,
    .check = ifm_attention_host_check,
    .close = ifm_attention_host_close,
};
