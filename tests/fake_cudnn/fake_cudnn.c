/* A cuDNN for tests, built as libcudnn.so.9 and opened as one. It takes the one graph of operations that its engines
 * know as attention, reads the shape out of its tensors, and runs it as a kernel of the fake driver (tests/fake_cuda)
 * on the stream that it is given.
 *
 * The script is the environment variable FAKE_CUDNN, "key=value" separated by ';':
 *   fails=FUNCTION   this function gives a status, 3000
 *   none=1           the heuristic succeeds and finds nothing
 *   no_plan=1        the first engine makes no plan, the second does */
#include "fake_cudnn/fake_cudnn.h"
#include "dyn/cudnn.h"
#include "fake_library.h"

#include <math.h>

#define DECLARE(name, parameters) FAKE_EXPORT int name parameters;
IFM_CUDNN_FUNCTIONS(DECLARE)
FAKE_EXPORT const char *cudnnGetErrorString(int status);
FAKE_EXPORT void cudnnGetLastErrorString(char *words, size_t room);
FAKE_EXPORT size_t cudnnGetVersion(void);

enum { BAD_PARAM = 2000, NOT_SUPPORTED = 3000, MOST = 32, CONFIGURATIONS = 2, WORKSPACE = 256 };

struct cudnnContext {
    struct fake_library library;
    CUstream stream;
};

/* Every attribute of a descriptor as it was set. */
struct attribute {
    int name;
    int64_t n;
    int64_t values[MOST];
};
struct descriptor {
    int type;
    bool finished;
    size_t n;
    struct attribute attributes[8];
    int number; /* of a configuration */
};

static const char *words = "";

static bool fails(const char *function)
{
    words = "the script says so";
    return fake_script_says(getenv("FAKE_CUDNN"), "fails", function);
}

static const struct attribute *attribute_of(const struct descriptor *d, int name)
{
    for (size_t i = 0; d != NULL && i < d->n; i++)
        if (d->attributes[i].name == name)
            return &d->attributes[i];
    return NULL;
}

static int64_t value_of(const struct descriptor *d, int name)
{
    const struct attribute *found = attribute_of(d, name);
    return found == NULL ? -1 : found->values[0];
}

static const struct descriptor *member(const struct descriptor *d, int name)
{
    const struct attribute *found = attribute_of(d, name);
    return found == NULL ? NULL : (const struct descriptor *)(intptr_t)found->values[0];
}

int cudnnCreate(cudnnHandle_t *out)
{
    *out = fails(__func__) ? NULL : calloc(1, sizeof **out);
    return *out != NULL && fake_library_open("fake_cudnn", &(*out)->library) ? CUDNN_STATUS_SUCCESS : NOT_SUPPORTED;
}

int cudnnDestroy(cudnnHandle_t handle)
{
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

int cudnnSetStream(cudnnHandle_t handle, CUstream stream)
{
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnBackendCreateDescriptor(int type, cudnnBackendDescriptor_t *out)
{
    struct descriptor *made = calloc(1, sizeof *made);
    *out = made;
    if (made == NULL)
        return NOT_SUPPORTED;
    made->type = type;
    return CUDNN_STATUS_SUCCESS;
}

int cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
    free(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

static size_t size_of(int type)
{
    return type == CUDNN_TYPE_BOOLEAN ? sizeof(bool)
           : type == CUDNN_TYPE_INT64 || type == CUDNN_TYPE_HANDLE || type == CUDNN_TYPE_VOID_PTR ||
                   type == CUDNN_TYPE_BACKEND_DESCRIPTOR
               ? sizeof(int64_t)
               : sizeof(int);
}

int cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, int name, int type, int64_t n, const void *values)
{
    struct descriptor *d = descriptor;
    words = "an attribute that this descriptor does not take now";
    if (d == NULL || d->finished || n < 1 || n > MOST || d->n == sizeof d->attributes / sizeof *d->attributes)
        return BAD_PARAM;
    struct attribute *to = &d->attributes[d->n++];
    to->name = name;
    to->n = n;
    for (int64_t i = 0; i < n; i++)
        memcpy(&to->values[i], (const char *)values + (size_t)i * size_of(type), size_of(type));
    return CUDNN_STATUS_SUCCESS;
}

int cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
    struct descriptor *d = descriptor;
    const struct descriptor *of = member(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    if (d == NULL || d->finished || fails(__func__))
        return BAD_PARAM;
    if (d->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR && of->number == 0 &&
        fake_script_says(getenv("FAKE_CUDNN"), "no_plan", "1"))
        return NOT_SUPPORTED;
    d->finished = true;
    return CUDNN_STATUS_SUCCESS;
}

/* The modes of the operations in their order, as engines know attention: products -1, reductions 1000 on. */
static bool is_attention(const struct descriptor *graph, bool *causal)
{
    static const int plain[] = {-1,
                                CUDNN_POINTWISE_MUL,
                                1000 + CUDNN_REDUCE_TENSOR_MAX,
                                CUDNN_POINTWISE_SUB,
                                CUDNN_POINTWISE_EXP,
                                1000 + CUDNN_REDUCE_TENSOR_ADD,
                                CUDNN_POINTWISE_LOG,
                                CUDNN_POINTWISE_ADD,
                                CUDNN_POINTWISE_DIV,
                                -1};
    static const int hidden[] = {CUDNN_POINTWISE_GEN_INDEX, CUDNN_POINTWISE_GEN_INDEX, CUDNN_POINTWISE_CMP_GE,
                                 CUDNN_POINTWISE_BINARY_SELECT};
    const struct attribute *all = attribute_of(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    *causal = all->n == 14;
    if (all->n != 10 && all->n != 14)
        return false;
    for (int64_t i = 0; i < all->n; i++) {
        const struct descriptor *op = (const struct descriptor *)(intptr_t)all->values[i];
        const int wanted = !*causal || i < 2 ? plain[i] : i < 6 ? hidden[i - 2] : plain[i - 4];
        const struct descriptor *reduction = member(op, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
        const struct descriptor *pointwise = member(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
        const int64_t mode = reduction != NULL   ? 1000 + value_of(reduction, CUDNN_ATTR_REDUCTION_OPERATOR)
                             : pointwise != NULL ? value_of(pointwise, CUDNN_ATTR_POINTWISE_MODE)
                                                 : -1;
        if (!op->finished || mode != wanted)
            return false;
    }
    return true;
}

int cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor, int name, int type, int64_t room, int64_t *n,
                             void *values)
{
    const struct descriptor *d = descriptor;
    bool causal;
    (void)type;
    if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
        const int64_t bytes = WORKSPACE;
        memcpy(values, &bytes, sizeof bytes);
        *n = 1;
        return CUDNN_STATUS_SUCCESS;
    }
    const struct descriptor *graph = member(d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    if (name != CUDNN_ATTR_ENGINEHEUR_RESULTS || room < CONFIGURATIONS || graph == NULL)
        return BAD_PARAM;
    *n = fake_script_says(getenv("FAKE_CUDNN"), "none", "1") || !is_attention(graph, &causal) ? 0 : CONFIGURATIONS;
    for (int i = 0; i < *n; i++) { /* they keep what they are of */
        struct descriptor *to;
        memcpy(&to, (char *)values + (size_t)i * sizeof to, sizeof to);
        to->number = i;
        to->attributes[to->n++] = (struct attribute){CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, 1, {(intptr_t)graph}};
    }
    return CUDNN_STATUS_SUCCESS;
}

static const int64_t *dims_of(const struct descriptor *tensor)
{
    return attribute_of(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS)->values;
}

/* What the pack has under an id of a tensor. */
static void *pointer_of(const struct descriptor *pack, int64_t id)
{
    const struct attribute *ids = attribute_of(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const struct attribute *pointers = attribute_of(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    for (int64_t i = 0; i < ids->n; i++)
        if (ids->values[i] == id)
            return (void *)(intptr_t)pointers->values[i];
    return NULL;
}

/* Where the rows of a tensor lie; row 0 where its values are not side by side. */
static struct ifm_strides strides_of(const struct descriptor *tensor)
{
    const int64_t *at = attribute_of(tensor, CUDNN_ATTR_TENSOR_STRIDES)->values;
    const bool known = at[3] == 1 && at[2] >= dims_of(tensor)[3];
    return (struct ifm_strides){(uint64_t)at[0], (uint32_t)at[1], known ? (uint32_t)at[2] : 0};
}

/* Whether K is V's like, transposed, and all rows can be read. */
static bool is_readable(const struct descriptor *q, const struct descriptor *k, const struct descriptor *v,
                        const struct descriptor *out)
{
    const int64_t *of_k = attribute_of(k, CUDNN_ATTR_TENSOR_STRIDES)->values,
                  *of_v = attribute_of(v, CUDNN_ATTR_TENSOR_STRIDES)->values, *rows = dims_of(v);
    const bool same = of_k[0] == of_v[0] && of_k[1] == of_v[1] && of_k[2] == of_v[3] && of_k[3] == of_v[2] &&
                      dims_of(k)[1] == rows[1] && dims_of(k)[2] == rows[3] && dims_of(k)[3] == rows[2];
    return same && strides_of(q).row != 0 && strides_of(v).row != 0 && strides_of(out).row != 0;
}

/* All keys, not lengths: every sequence is whole. */
int cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    const struct descriptor *graph =
        member(member(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG), CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    const struct attribute *all = attribute_of(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
    const struct descriptor *first = (const struct descriptor *)(intptr_t)all->values[0];
    const struct descriptor *scaled = (const struct descriptor *)(intptr_t)all->values[1];
    const struct descriptor *last = (const struct descriptor *)(intptr_t)all->values[all->n - 1];
    const struct descriptor *q = member(first, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
    const struct descriptor *k = member(first, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
    const struct descriptor *v = member(last, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
    const struct descriptor *out = member(last, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
    const struct descriptor *scale = member(scaled, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
    const int64_t *dims = dims_of(q), keys = dims_of(v)[2];
    bool causal;
    if (fails(__func__) || !is_attention(graph, &causal) || !is_readable(q, k, v, out) || (causal && keys != dims[2]))
        return NOT_SUPPORTED;
    const float *factor = pointer_of(pack, value_of(scale, CUDNN_ATTR_TENSOR_UNIQUE_ID));
    if (fabsf(*factor * sqrtf((float)dims[3]) - 1) > 1e-6f || value_of(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE) == 0)
        return NOT_SUPPORTED;
    struct fake_sdpa arguments = {
        .at = {.of = {.q = pointer_of(pack, value_of(q, CUDNN_ATTR_TENSOR_UNIQUE_ID)),
                      .k = pointer_of(pack, value_of(k, CUDNN_ATTR_TENSOR_UNIQUE_ID)),
                      .v = pointer_of(pack, value_of(v, CUDNN_ATTR_TENSOR_UNIQUE_ID)),
                      .out = pointer_of(pack, value_of(out, CUDNN_ATTR_TENSOR_UNIQUE_ID)),
                      .q_heads = (uint32_t)dims[1],
                      .kv_heads = (uint32_t)dims_of(k)[1],
                      .seq_len = (uint32_t)dims[2],
                      .head_dim = (uint16_t)dims[3],
                      .causal = causal,
                      .storage = value_of(q, CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_BFLOAT16 ? IFM_CUDA_BF16
                                                                                                 : IFM_CUDA_F16},
               .q_views = strides_of(q),
               .kv_views = strides_of(v),
               .out_views = strides_of(out)},
        .keys = (uint32_t)keys,
    };
    return fake_library_launch(&handle->library, (unsigned)(dims[0] * dims[1] * dims[2]), 1, handle->stream, &arguments)
               ? CUDNN_STATUS_SUCCESS
               : NOT_SUPPORTED;
}

const char *cudnnGetErrorString(int status)
{
    return status == NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}

void cudnnGetLastErrorString(char *to, size_t room)
{
    snprintf(to, room, "%s", words);
}

/* A version that none has. */
size_t cudnnGetVersion(void)
{
    return 990000;
}
