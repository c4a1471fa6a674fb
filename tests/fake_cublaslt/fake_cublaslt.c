/* A cuBLASLt for tests, built as libcublasLt.so.13 and opened as one: its products are a kernel of the fake driver
 * (tests/fake_cuda), launched on the stream that it is given as the library launches its own.
 *
 * The script is the environment variable FAKE_CUBLASLT, "key=value" separated by ';':
 *   fails=FUNCTION   this function gives CUBLAS_STATUS_NOT_SUPPORTED, 15
 *   none=1           the heuristic succeeds and finds nothing */
#include "dyn/cublaslt.h"
#include "fake_library.h"
#include "kernel/cuda/gemm.h"

#define DECLARE(name, parameters) FAKE_EXPORT int name parameters;
IFM_CUBLASLT_FUNCTIONS(DECLARE)
FAKE_EXPORT const char *cublasLtGetStatusString(int status);
FAKE_EXPORT size_t cublasLtGetVersion(void);

enum { NOT_SUPPORTED = 15, INVALID_VALUE = 7, ALGORITHM = 4711, LEAST_WORKSPACE = 1024 };

struct cublasLtContext {
    struct fake_library library;
};
struct ifm_cublaslt_desc {
    int compute, scale, transposed;
};
struct ifm_cublaslt_layout {
    int type;
    uint64_t rows, columns;
    int64_t leading;
};
struct ifm_cublaslt_preference {
    size_t workspace;
};

#define MAY_FAIL()                                                                                                     \
    if (fake_script_says(getenv("FAKE_CUBLASLT"), "fails", __func__))                                                  \
    return NOT_SUPPORTED

int cublasLtCreate(cublasLtHandle_t *out)
{
    MAY_FAIL();
    *out = calloc(1, sizeof **out);
    return *out != NULL && fake_library_open("fake_cublaslt", &(*out)->library) ? CUBLAS_STATUS_SUCCESS : NOT_SUPPORTED;
}

int cublasLtDestroy(cublasLtHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out, int compute, int scale)
{
    MAY_FAIL();
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return NOT_SUPPORTED;
    **out = (struct ifm_cublaslt_desc){.compute = compute, .scale = scale};
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    free(desc);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, int which, const void *value, size_t bytes)
{
    if (which != CUBLASLT_MATMUL_DESC_TRANSA || bytes != sizeof desc->transposed)
        return INVALID_VALUE;
    memcpy(&desc->transposed, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, int type, uint64_t rows, uint64_t columns, int64_t leading)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return NOT_SUPPORTED;
    **out = (struct ifm_cublaslt_layout){type, rows, columns, leading};
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    free(layout);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out)
{
    *out = calloc(1, sizeof **out);
    return *out == NULL ? NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    free(preference);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, int which, const void *value,
                                         size_t bytes)
{
    if (which != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES || bytes != sizeof preference->workspace)
        return INVALID_VALUE;
    memcpy(&preference->workspace, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* A^T B of two 16-bit matrices that are stored by columns. */
static bool fits(const struct ifm_cublaslt_desc *desc, const struct ifm_cublaslt_layout *a,
                 const struct ifm_cublaslt_layout *b, const struct ifm_cublaslt_layout *d)
{
    return desc->compute == CUBLAS_COMPUTE_32F && desc->scale == CUDA_R_32F && desc->transposed == CUBLAS_OP_T &&
           (a->type == CUDA_R_16F || a->type == CUDA_R_16BF) && b->type == a->type && d->type == a->type &&
           a->rows == b->rows && d->rows == a->columns && d->columns == b->columns && a->leading == (int64_t)a->rows &&
           d->leading == (int64_t)d->rows && b->leading >= (int64_t)b->rows;
}

int cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                   cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                   cublasLtMatmulPreference_t preference, int most,
                                   cublasLtMatmulHeuristicResult_t *out, int *n)
{
    MAY_FAIL();
    if (handle == NULL || most < 1 || c != d || !fits(desc, a, b, d) || preference->workspace < LEAST_WORKSPACE)
        return INVALID_VALUE;
    *n = fake_script_says(getenv("FAKE_CUBLASLT"), "none", "1") ? 0 : 1;
    *out = (cublasLtMatmulHeuristicResult_t){.algo = {{ALGORITHM}}, .workspaceSize = LEAST_WORKSPACE};
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,
                   cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                   const void *c, cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
                   const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, CUstream stream)
{
    MAY_FAIL();
    float one, zero;
    memcpy(&one, alpha, sizeof one);
    memcpy(&zero, beta, sizeof zero);
    if (one < 1 || one > 1 || zero < 0 || zero > 0 || c != d || c_layout != d_layout || algo->data[0] != ALGORITHM ||
        workspace == NULL || workspace_bytes < LEAST_WORKSPACE || !fits(desc, a_layout, b_layout, d_layout))
        return INVALID_VALUE;
    struct ifm_cuda_gemm arguments = {
        .w = a,
        .x = b,
        .out = d,
        .m = (uint32_t)d_layout->columns,
        .n = (uint32_t)d_layout->rows,
        .k = (uint32_t)a_layout->rows,
        .x_stride = (uint32_t)b_layout->leading,
        .group = 128,
        .format = a_layout->type == CUDA_R_16BF ? IFM_CUDA_GEMM_BF16 : IFM_CUDA_GEMM_F16,
    };
    return fake_library_launch(&handle->library, 1, 128, stream, &arguments) ? CUBLAS_STATUS_SUCCESS : NOT_SUPPORTED;
}

const char *cublasLtGetStatusString(int status)
{
    return status == NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS";
}

/* A version that none has. */
size_t cublasLtGetVersion(void)
{
    return 990000;
}
