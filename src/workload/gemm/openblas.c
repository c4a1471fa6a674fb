/* gemm by OpenBLAS: f32 weights, the product of a worker's rows by each worker for itself. */
#include "dyn/openblas.h"
#include "workload/data/data.h"
#include "workload/gemm/host.h"

struct gemm_openblas {
    struct ifm_gemm_host host;
    const struct ifm_openblas *blas;
};

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_gemm_ask *ask = asked;
    (void)arena;
    if (machine->blas == NULL)
        return machine->blas_why_not != NULL ? machine->blas_why_not : "this device runs no BLAS library";
    ask->scratch = ifm_gemm_scratch_bytes(&ask->shape, machine->threads);
    return ask->shape.format == IFM_GEMM_F32 ? NULL : "OpenBLAS multiplies f32 weights; add f32 to gemm.weights";
}

static void work(void *arg, unsigned index, unsigned count)
{
    const struct gemm_openblas *state = arg;
    const struct ifm_gemm_job *job = &state->host.job;
    const struct ifm_gemm_share share = ifm_gemm_share_of(job->shape.n, index, count);
    const int m = (int)job->shape.m, n = (int)job->shape.n, k = (int)job->shape.k, own = (int)(share.to - share.from);
    const float *w = (const float *)job->w + share.from * job->shape.k;
    if (own > 0 && m == 1)
        state->blas->sgemv(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, own, k, 1, w, k, job->x, 1, 0, job->out + share.from, 1);
    else if (own > 0)
        state->blas->sgemm(IFM_BLAS_ROW_MAJOR, IFM_BLAS_AS_IS, IFM_BLAS_TRANSPOSED, m, own, k, 1, job->x, k, w, k, 0,
                           job->out + share.from, n);
}

static enum ifm_status open_gemm(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct gemm_openblas *state = opened;
    const char *why_not;
    state->blas = ifm_openblas_load(&why_not);
    if (state->blas == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "install it, or set gemm.arms=ours", "%s", why_not);
    state->host.work = work;
    state->host.code = state->blas->core;
    IFM_TRY(ifm_gemm_host_open(&state->host, opening, error));
    return ifm_openblas_check_memory(opening->threads, error);
}

const struct ifm_implementation ifm_gemm_openblas = {
    .name = "openblas",
    .title = "OpenBLAS",
    .device = "cpu",
    .purpose = "f32 products of the installed library",
    .supports = supports,
    .state_bytes = sizeof(struct gemm_openblas),
    .open = open_gemm,
    .step = ifm_gemm_host_step,
    .spoil = ifm_gemm_host_spoil,
    .check = ifm_gemm_host_check,
    .close = ifm_gemm_host_close,
};
