/* gemm by cuBLASLt: the library arm on the device cuda, f16 and bf16, f32 sums and no TF32.
 *
 * Its matrices are stored by columns: out[m][n] = x w^T is its D (n x m) = A^T B, with A (k x n) the weights and B (k x
 * m) the activations as they lie there. The first algorithm of its heuristic runs, as in what is built on it. */
#include "dyn/cublaslt.h"
#include "workload/gemm/cuda.h"

enum { WORKSPACE = 64 << 20 }; /* bytes, of every arm together; of a GPU like Hopper 32 MiB are recommended */

struct gemm_cublaslt {
    struct ifm_gemm_cuda gemm;
    const struct ifm_cublaslt *library;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
    cublasLtMatmulAlgo_t algorithm;
    void *workspace;
    int failed; /* the first status that is not success; a step cannot say it */
};

static const char *supports(const struct ifm_machine *machine, void *asked, struct ifm_arena *arena)
{
    struct ifm_gemm_ask *ask = asked;
    (void)arena;
    if (ask->shape.format != IFM_GEMM_F16 && ask->shape.format != IFM_GEMM_BF16)
        return "cuBLASLt multiplies f16 and bf16 weights; add f16 to gemm.weights";
    if (machine->blas == NULL)
        return machine->blas_why_not != NULL ? machine->blas_why_not : "nothing looked for cuBLASLt";
    const char *why_not = ifm_gemm_cuda_supports(ask);
    ask->scratch += WORKSPACE;
    ask->matrix = true;
    return why_not;
}

static bool note(struct gemm_cublaslt *state, int status)
{
    if (state->failed == CUBLAS_STATUS_SUCCESS)
        state->failed = status;
    return state->failed == CUBLAS_STATUS_SUCCESS;
}

static enum ifm_status report(const struct gemm_cublaslt *state, const char *what, struct ifm_error *error)
{
    return state->failed == CUBLAS_STATUS_SUCCESS
               ? IFM_OK
               : ifm_fail(error, IFM_MISSING, state->gemm.arm, "leave cublaslt out of gemm.arms", "%s %s: %s",
                          state->library->name, what, state->library->p_cublasLtGetStatusString(state->failed));
}

static void enqueue(void *opened)
{
    struct gemm_cublaslt *state = opened;
    const struct ifm_cuda_gemm *a = &state->gemm.arguments;
    const float one = 1, zero = 0;
    note(state, state->library->p_cublasLtMatmul(state->handle, state->desc, &one, ifm_gemm_cuda_matrix(&state->gemm),
                                                 state->a, a->x, state->b, &zero, a->out, state->d, a->out, state->d,
                                                 &state->algorithm, state->workspace, WORKSPACE,
                                                 ifm_cuda_stream(state->gemm.device)));
}

static void describe_product(struct gemm_cublaslt *state)
{
    const struct ifm_cublaslt *l = state->library;
    const struct ifm_gemm_shape *s = &state->gemm.shape;
    const int transposed = CUBLAS_OP_T, type = s->format == IFM_GEMM_BF16 ? CUDA_R_16BF : CUDA_R_16F;
    (void)(note(state, l->p_cublasLtCreate(&state->handle)) &&
           note(state, l->p_cublasLtMatmulDescCreate(&state->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F)) &&
           note(state, l->p_cublasLtMatmulDescSetAttribute(state->desc, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                                           sizeof transposed)) &&
           note(state, l->p_cublasLtMatrixLayoutCreate(&state->a, type, s->k, s->n, (int64_t)s->k)) &&
           note(state, l->p_cublasLtMatrixLayoutCreate(&state->b, type, s->k, s->m,
                                                       (int64_t)state->gemm.arguments.x_stride)) &&
           note(state, l->p_cublasLtMatrixLayoutCreate(&state->d, type, s->n, s->m, (int64_t)s->n)));
}

static enum ifm_status choose_algorithm(struct gemm_cublaslt *state, struct ifm_error *error)
{
    const struct ifm_cublaslt *l = state->library;
    const size_t most = WORKSPACE;
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t found = {.state = 1};
    int n = 0;
    (void)(note(state, l->p_cublasLtMatmulPreferenceCreate(&preference)) &&
           note(state, l->p_cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                                 &most, sizeof most)) &&
           note(state, l->p_cublasLtMatmulAlgoGetHeuristic(state->handle, state->desc, state->a, state->b, state->d,
                                                           state->d, preference, 1, &found, &n)));
    if (preference != NULL)
        (void)l->p_cublasLtMatmulPreferenceDestroy(preference);
    IFM_TRY(report(state, "has no algorithm", error));
    if (n < 1)
        return ifm_fail(error, IFM_MISSING, state->gemm.arm, "leave cublaslt out of gemm.arms",
                        "%s has no algorithm for this shape", l->name);
    note(state, (int)found.state);
    state->algorithm = found.algo;
    return report(state, "has no algorithm", error);
}

/* The first product loads kernels, which no capture allows. */
static enum ifm_status multiply_once(struct gemm_cublaslt *state, struct ifm_error *error)
{
    enqueue(state);
    IFM_TRY(report(state, "does not multiply", error));
    IFM_TRY(ifm_cuda_wait(state->gemm.device, error));
    ifm_gemm_cuda_spoil(state, true);
    return IFM_OK;
}

static enum ifm_status open_gemm(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    struct gemm_cublaslt *state = opened;
    struct ifm_cuda_absence absence;
    bool fresh;
    state->library = ifm_cublaslt_load(&absence);
    if (state->library == NULL)
        return ifm_fail(error, IFM_MISSING, opening->arm->name, absence.remedy, "%s", absence.reason);
    state->gemm.code = state->library->name;
    IFM_TRY(ifm_gemm_cuda_open(&state->gemm, opening, enqueue, error));
    IFM_TRY(
        opening->device->ops->buffer(opening->device, "gemm.workspace", WORKSPACE, &state->workspace, &fresh, error));
    describe_product(state);
    IFM_TRY(report(state, "cannot be set up", error));
    IFM_TRY(choose_algorithm(state, error));
    return multiply_once(state, error);
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    const struct gemm_cublaslt *state = opened;
    IFM_TRY(report(state, "failed in a step", error));
    return ifm_gemm_cuda_check(opened, out, error);
}

static void close_gemm(void *opened)
{
    const struct gemm_cublaslt *state = opened;
    const struct ifm_cublaslt *l = state->library;
    ifm_gemm_cuda_close(opened);
    const cublasLtMatrixLayout_t layouts[] = {state->a, state->b, state->d};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i] != NULL)
            (void)l->p_cublasLtMatrixLayoutDestroy(layouts[i]);
    if (state->desc != NULL)
        (void)l->p_cublasLtMatmulDescDestroy(state->desc);
    if (state->handle != NULL)
        (void)l->p_cublasLtDestroy(state->handle);
}

const struct ifm_implementation ifm_gemm_cuda_cublaslt = {
    .name = "cublaslt",
    .title = "cuBLASLt",
    .device = "cuda",
    .purpose = "f16 and bf16 products of the installed library",
    .supports = supports,
    .state_bytes = sizeof(struct gemm_cublaslt),
    .open = open_gemm,
    .step = ifm_gemm_cuda_step,
    .spoil = ifm_gemm_cuda_spoil,
    .check = check,
    .close = close_gemm,
};
