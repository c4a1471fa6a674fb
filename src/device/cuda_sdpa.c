/* Attention by cuDNN: a graph of its backend's operations, which one of its engines takes whole. */
#include "device/cuda_sdpa.h"

#include "device/cuda_private.h"
#include "dyn/cudnn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { MOST_DESCRIPTORS = 128, MOST_OPERATIONS = 16, MOST_CONFIGURATIONS = 8 };
enum { ID_Q = 1, ID_K, ID_V, ID_OUT, ID_SCALE, ID_HIDDEN, ID_VIRTUAL = 100 };

struct ifm_cuda_sdpa {
    struct ifm_cuda_device *device;
    const struct ifm_cudnn *cudnn;
    struct ifm_cuda_sdpa_shape shape;
    cudnnHandle_t handle;
    descriptor all[MOST_DESCRIPTORS]; /* to be destroyed */
    size_t n;
    descriptor operations[MOST_OPERATIONS];
    int64_t n_operations, next_id;
    int failed; /* the first status that was none of success; then nothing more is asked */
    char at[64];
    descriptor plan, packs[IFM_CUDA_SDPA_SETS];
    size_t n_packs;
    CUdeviceptr workspace;
    float scale, hidden;
};

/* ---- descriptors ---- */

static void note(struct ifm_cuda_sdpa *s, int status, const char *what)
{
    if (status == CUDNN_STATUS_SUCCESS || s->failed != CUDNN_STATUS_SUCCESS)
        return;
    s->failed = status;
    snprintf(s->at, sizeof s->at, "%s", what);
}

static descriptor make(struct ifm_cuda_sdpa *s, int type)
{
    descriptor made = NULL;
    if (s->failed == CUDNN_STATUS_SUCCESS && s->n < MOST_DESCRIPTORS) {
        note(s, s->cudnn->p_cudnnBackendCreateDescriptor(type, &made), "a descriptor");
        s->all[s->n++] = made;
    }
    return made;
}

static void set(struct ifm_cuda_sdpa *s, descriptor of, int name, int type, int64_t n, const void *values)
{
    if (s->failed == CUDNN_STATUS_SUCCESS)
        note(s, s->cudnn->p_cudnnBackendSetAttribute(of, name, type, n, values), "an attribute");
}

static void set_number(struct ifm_cuda_sdpa *s, descriptor of, int name, int type, int value)
{
    set(s, of, name, type, 1, &value);
}

static void set_descriptor(struct ifm_cuda_sdpa *s, descriptor of, int name, descriptor value)
{
    set(s, of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static void finish(struct ifm_cuda_sdpa *s, descriptor of, const char *what)
{
    if (s->failed == CUDNN_STATUS_SUCCESS)
        note(s, s->cudnn->p_cudnnBackendFinalize(of), what);
}

enum kind { IN_MEMORY, BY_VALUE, VIRTUAL };

static descriptor tensor(struct ifm_cuda_sdpa *s, int64_t id, int type, const int64_t dims[4], const int64_t strides[4],
                         enum kind kind)
{
    const int64_t alignment = 16;
    const bool yes = true;
    descriptor made = make(s, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set_number(s, made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    set(s, made, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims);
    set(s, made, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    set(s, made, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
    set(s, made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    if (kind == VIRTUAL)
        set(s, made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (kind == BY_VALUE)
        set(s, made, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    finish(s, made, "a tensor");
    return made;
}

/* A scalar of f32; cuDNN refuses one of a single dimension. */
static descriptor scalar(struct ifm_cuda_sdpa *s, int64_t id)
{
    static const int64_t one[4] = {1, 1, 1, 1};
    return tensor(s, id, CUDNN_DATA_FLOAT, one, one, BY_VALUE);
}

/* What lies between two operations: a value for each query and key, or, with `keys` 1, for each query. */
static descriptor between(struct ifm_cuda_sdpa *s, int type, uint64_t keys)
{
    const int64_t heads = (int64_t)s->shape.q_heads, rows = (int64_t)s->shape.q_len, n = (int64_t)keys;
    const int64_t dims[4] = {(int64_t)s->shape.batch, heads, rows, n};
    const int64_t strides[4] = {heads * rows * n, rows * n, n, 1};
    return tensor(s, s->next_id++, type, dims, strides, VIRTUAL);
}

/* ---- operations ---- */

static void add(struct ifm_cuda_sdpa *s, descriptor operation, const char *what)
{
    finish(s, operation, what);
    if (s->n_operations < MOST_OPERATIONS)
        s->operations[s->n_operations++] = operation;
}

static void multiply(struct ifm_cuda_sdpa *s, descriptor a, descriptor b, descriptor to)
{
    descriptor how = make(s, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    set_number(s, how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    finish(s, how, "a matrix product");
    descriptor made = make(s, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_MATMUL_CDESC, to);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
    add(s, made, "a matrix product of tensors");
}

/* to = mode(x, b), under a mask of t; b, t NULL where the mode takes none, axis -1. */
struct pointwise {
    int mode, type;
    int64_t axis;
    descriptor x, b, t, to;
};

static descriptor pointwise(struct ifm_cuda_sdpa *s, const struct pointwise *p)
{
    descriptor how = make(s, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set_number(s, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, p->mode);
    set_number(s, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, p->type);
    if (p->axis >= 0)
        set(s, how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &p->axis);
    finish(s, how, "a pointwise operation");
    descriptor made = make(s, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, p->x);
    if (p->b != NULL)
        set_descriptor(s, made, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, p->b);
    if (p->t != NULL)
        set_descriptor(s, made, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, p->t);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, p->to);
    add(s, made, "a pointwise operation on tensors");
    return p->to;
}

/* A new tensor of f32, as wide as `keys`. */
static descriptor apply(struct ifm_cuda_sdpa *s, int mode, descriptor x, descriptor b, uint64_t keys)
{
    return pointwise(s,
                     &(struct pointwise){mode, CUDNN_DATA_FLOAT, -1, x, b, NULL, between(s, CUDNN_DATA_FLOAT, keys)});
}

static descriptor reduce(struct ifm_cuda_sdpa *s, int mode, descriptor x)
{
    descriptor to = between(s, CUDNN_DATA_FLOAT, 1), how = make(s, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    set_number(s, how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, mode);
    set_number(s, how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    finish(s, how, "a reduction");
    descriptor made = make(s, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to);
    set_descriptor(s, made, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
    add(s, made, "a reduction of tensors");
    return to;
}

/* Scores of keys behind the query's position become -infinity. */
static descriptor hide(struct ifm_cuda_sdpa *s, descriptor scores)
{
    const uint64_t keys = s->shape.kv_len;
    descriptor rows = pointwise(s, &(struct pointwise){CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, 2, scores, NULL,
                                                       NULL, between(s, CUDNN_DATA_INT32, keys)});
    descriptor columns = pointwise(s, &(struct pointwise){CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, 3, scores, NULL,
                                                          NULL, between(s, CUDNN_DATA_INT32, keys)});
    descriptor seen = pointwise(s, &(struct pointwise){CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, -1, rows, columns,
                                                       NULL, between(s, CUDNN_DATA_BOOLEAN, keys)});
    return pointwise(s, &(struct pointwise){CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, -1, scores,
                                            scalar(s, ID_HIDDEN), seen, between(s, CUDNN_DATA_FLOAT, keys)});
}

static struct ifm_strides strides_of(const struct ifm_strides *given, int64_t heads, int64_t rows, int64_t dim)
{
    const struct ifm_strides adjacent = {(uint64_t)(heads * rows * dim), (uint32_t)(rows * dim), (uint32_t)dim};
    return given->row != 0 ? *given : adjacent;
}

#define HEADS(strides) (int64_t)(strides).sequence, (strides).head
#define ROWS(strides) HEADS(strides), (strides).row

/* The pattern that engines know as attention. The logarithm of the sum is what training would keep: nobody wants it
 * here, but without it no engine takes the graph. */
static void build(struct ifm_cuda_sdpa *s)
{
    const struct ifm_cuda_sdpa_shape *a = &s->shape;
    const int64_t b = (int64_t)a->batch, dim = (int64_t)a->head_dim, keys = (int64_t)a->kv_len;
    const int64_t room = (int64_t)(a->kv_room > 0 ? a->kv_room : a->kv_len), kv = (int64_t)a->kv_heads;
    const int64_t heads = (int64_t)a->q_heads, rows = (int64_t)a->q_len;
    const int type = a->bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
    const int64_t q_dims[4] = {b, heads, rows, dim}, k_dims[4] = {b, kv, dim, keys}, v_dims[4] = {b, kv, keys, dim};
    const struct ifm_strides of_q = strides_of(&a->q, heads, rows, dim), of_kv = strides_of(&a->kv, kv, room, dim);
    const struct ifm_strides of_out = strides_of(&a->out, heads, rows, dim);
    descriptor q = tensor(s, ID_Q, type, q_dims, (const int64_t[]){ROWS(of_q), 1}, IN_MEMORY);
    descriptor k = tensor(s, ID_K, type, k_dims, (const int64_t[]){HEADS(of_kv), 1, of_kv.row}, IN_MEMORY);
    descriptor v = tensor(s, ID_V, type, v_dims, (const int64_t[]){ROWS(of_kv), 1}, IN_MEMORY);
    descriptor out = tensor(s, ID_OUT, type, q_dims, (const int64_t[]){ROWS(of_out), 1}, IN_MEMORY);
    descriptor products = between(s, CUDNN_DATA_FLOAT, a->kv_len), weights = between(s, type, a->kv_len);
    multiply(s, q, k, products);
    descriptor scores = apply(s, CUDNN_POINTWISE_MUL, products, scalar(s, ID_SCALE), a->kv_len);
    if (a->causal)
        scores = hide(s, scores);
    descriptor top = reduce(s, CUDNN_REDUCE_TENSOR_MAX, scores);
    descriptor below = apply(s, CUDNN_POINTWISE_SUB, scores, top, a->kv_len);
    descriptor powers = apply(s, CUDNN_POINTWISE_EXP, below, NULL, a->kv_len);
    descriptor sum = reduce(s, CUDNN_REDUCE_TENSOR_ADD, powers);
    (void)apply(s, CUDNN_POINTWISE_ADD, top, apply(s, CUDNN_POINTWISE_LOG, sum, NULL, 1), 1);
    pointwise(s, &(struct pointwise){CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, -1, powers, sum, NULL, weights});
    multiply(s, weights, v, out);
}

/* ---- the plan ---- */

static enum ifm_status refused(const struct ifm_cuda_sdpa *s, struct ifm_error *error)
{
    char words[256] = "";
    s->cudnn->p_cudnnGetLastErrorString(words, sizeof words);
    words[strcspn(words, "\n")] = '\0';
    return ifm_fail(error, IFM_MISSING, "cudnn", "leave cudnn out of the arms, or take another shape",
                    "%s refuses this attention (%s: %s) %.160s", s->cudnn->name, s->at,
                    s->cudnn->p_cudnnGetErrorString(s->failed), words);
}

/* Engines that the heuristic names, best first; their number. */
static int64_t ask(struct ifm_cuda_sdpa *s, descriptor found[static MOST_CONFIGURATIONS])
{
    int64_t n = 0;
    descriptor graph = make(s, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(s, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &s->handle);
    set(s, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, s->n_operations, s->operations);
    finish(s, graph, "the graph of operations");
    descriptor heuristic = make(s, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set_descriptor(s, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set_number(s, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
    finish(s, heuristic, "the choice of an engine");
    for (int i = 0; i < MOST_CONFIGURATIONS; i++)
        found[i] = make(s, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (s->failed == CUDNN_STATUS_SUCCESS)
        note(s,
             s->cudnn->p_cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                  CUDNN_TYPE_BACKEND_DESCRIPTOR, MOST_CONFIGURATIONS, &n, found),
             "the choice of an engine");
    return s->failed == CUDNN_STATUS_SUCCESS ? n : 0;
}

/* The first of them that makes a plan. */
static enum ifm_status choose(struct ifm_cuda_sdpa *s, struct ifm_error *error)
{
    descriptor found[MOST_CONFIGURATIONS];
    const int64_t n = ask(s, found);
    if (s->failed != CUDNN_STATUS_SUCCESS)
        return refused(s, error);
    for (int64_t i = 0; i < n && s->plan == NULL; i++) {
        s->failed = CUDNN_STATUS_SUCCESS; /* of the engine before */
        descriptor plan = make(s, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        set(s, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &s->handle);
        set_descriptor(s, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, found[i]);
        finish(s, plan, "a plan");
        if (s->failed == CUDNN_STATUS_SUCCESS)
            s->plan = plan;
    }
    if (s->plan != NULL)
        return IFM_OK;
    if (s->failed != CUDNN_STATUS_SUCCESS)
        return refused(s, error);
    return ifm_fail(error, IFM_MISSING, "cudnn", "leave cudnn out of the arms, or take another shape",
                    "%s has no engine for this attention", s->cudnn->name);
}

static enum ifm_status allocate(struct ifm_cuda_sdpa *s, struct ifm_error *error)
{
    int64_t bytes = 0, n = 0;
    note(s,
         s->cudnn->p_cudnnBackendGetAttribute(s->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                                              &n, &bytes),
         "the plan's workspace");
    if (s->failed != CUDNN_STATUS_SUCCESS)
        return refused(s, error);
    if (bytes <= 0)
        return IFM_OK;
    CUresult result = s->device->cuda->p_cuMemAlloc(&s->workspace, (size_t)bytes);
    return result == CUDA_SUCCESS
               ? IFM_OK
               : ifm_cuda_fail(s->device->cuda, result, "cudnn", "its workspace cannot be had", error);
}

enum ifm_status ifm_cuda_sdpa_open(struct ifm_device *base, const struct ifm_cuda_sdpa_shape *shape,
                                   struct ifm_cuda_sdpa **out, struct ifm_error *error)
{
    struct ifm_cuda_absence absence;
    const struct ifm_cudnn *cudnn = ifm_cudnn_load(&absence);
    if (cudnn == NULL)
        return ifm_fail(error, IFM_MISSING, "cudnn", absence.remedy, "%s", absence.reason);
    struct ifm_cuda_sdpa *s = calloc(1, sizeof *s);
    *out = s;
    if (s == NULL)
        return ifm_fail(error, IFM_INTERNAL, "cudnn", NULL, "out of memory");
    s->device = ifm_cuda_of(base);
    s->cudnn = cudnn;
    s->shape = *shape;
    s->next_id = ID_VIRTUAL;
    s->scale = 1.0f / sqrtf((float)shape->head_dim);
    s->hidden = -INFINITY;
    note(s, cudnn->p_cudnnCreate(&s->handle), "cudnnCreate");
    if (s->failed == CUDNN_STATUS_SUCCESS)
        note(s, cudnn->p_cudnnSetStream(s->handle, s->device->stream), "cudnnSetStream");
    build(s);
    IFM_TRY(choose(s, error));
    return allocate(s, error);
}

enum ifm_status ifm_cuda_sdpa_bind(struct ifm_cuda_sdpa *s, const struct ifm_cuda_sdpa_tensors *tensors, size_t *index,
                                   struct ifm_error *error)
{
    static const int64_t ids[] = {ID_Q, ID_K, ID_V, ID_OUT, ID_SCALE, ID_HIDDEN};
    const void *const pointers[] = {tensors->q, tensors->k, tensors->v, tensors->out, &s->scale, &s->hidden};
    const void *workspace = (const void *)(uintptr_t)s->workspace;
    const int64_t n = s->shape.causal ? 6 : 5;
    if (s->n_packs == IFM_CUDA_SDPA_SETS)
        return ifm_fail(error, IFM_INTERNAL, "cudnn", NULL, "more than %d sets of tensors", IFM_CUDA_SDPA_SETS);
    descriptor pack = NULL;
    note(s, s->cudnn->p_cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack), "a variant pack");
    *index = s->n_packs;
    s->packs[s->n_packs++] = pack;
    set(s, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, n, ids);
    set(s, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, n, pointers);
    set(s, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    finish(s, pack, "a variant pack");
    return s->failed == CUDNN_STATUS_SUCCESS ? IFM_OK : refused(s, error);
}

void ifm_cuda_sdpa_run(struct ifm_cuda_sdpa *s, size_t index)
{
    if (s->device->failed != CUDA_SUCCESS)
        return;
    const bool done = s->cudnn->p_cudnnBackendExecute(s->handle, s->plan, s->packs[index]) == CUDNN_STATUS_SUCCESS;
    ifm_cuda_launched(s->device, done ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "cudnnBackendExecute");
}

const char *ifm_cuda_sdpa_library(const struct ifm_cuda_sdpa *s)
{
    return s->cudnn->name;
}

void ifm_cuda_sdpa_close(struct ifm_cuda_sdpa *s)
{
    if (s == NULL)
        return;
    (void)s->device->cuda->p_cuStreamSynchronize(s->device->stream);
    for (size_t i = 0; i < s->n_packs; i++)
        if (s->packs[i] != NULL)
            (void)s->cudnn->p_cudnnBackendDestroyDescriptor(s->packs[i]);
    for (size_t i = s->n; i-- > 0;)
        if (s->all[i] != NULL)
            (void)s->cudnn->p_cudnnBackendDestroyDescriptor(s->all[i]);
    if (s->workspace != 0)
        (void)s->device->cuda->p_cuMemFree(s->workspace);
    if (s->handle != NULL)
        (void)s->cudnn->p_cudnnDestroy(s->handle);
    free(s);
}
