/* gemm by OpenBLAS: f32 weights, the product of a worker's rows by each worker for itself. */
#include "dyn/openblas.h"
#include "workload/data/data.h"
#include "workload/gemm/host.h"

#include <stdlib.h>

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

static void close_gemm(void *opened)
{
    struct gemm_openblas *state = opened;
    if (state != NULL)
        ifm_gemm_host_close(&state->host);
    free(state);
}

static enum ifm_status prepare(struct gemm_openblas *state, const struct ifm_opening *opening, struct ifm_error *error)
{
    const char *why_not;
    state->blas = ifm_openblas_load(&why_not);
    if (state->blas == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, "install it, or set gemm.arms=ours", "%s", why_not);
    IFM_TRY(ifm_gemm_host_open(&state->host, opening, error));
    return ifm_openblas_check_memory(opening->threads, error);
}

static enum ifm_status open_gemm(const struct ifm_opening *opening, void **out, struct ifm_error *error)
{
    struct gemm_openblas *state = calloc(1, sizeof *state);
    if (state == NULL)
        return ifm_fail(error, IFM_INTERNAL, opening->arm->name, NULL, "out of memory");
    enum ifm_status status = prepare(state, opening, error);
    if (status != IFM_OK)
        close_gemm(state);
    else
        *out = state;
    return status;
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

static void step(void *opened, uint64_t n)
{
    struct gemm_openblas *state = opened;
    ifm_gemm_host_step(&state->host, n, work, state);
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct gemm_openblas *state = opened;
    return ifm_gemm_host_check(&state->host, state->blas->core, out, error);
}

const struct ifm_implementation ifm_gemm_openblas = {
    .name = "openblas",
    .title = "OpenBLAS",
    .device = "cpu",
    .purpose = "f32 products of the installed library",
    .supports = supports,
    .open = open_gemm,
    .step = step,
    .check = check,
    .close = close_gemm,
};
