/* Keys, values and queries from a file. Owns the open file; never caches a value. */
#include "workload/data/kv_file.h"

#include "base/arena.h"
#include "base/half.h"
#include "base/param.h"
#include "base/private.h"
#include "base/text.h"
#include "tensor/safetensors.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char recipe[] = "docs/model-data.md says which tensors the file holds, and how to write it";

struct ifm_kv_file {
    struct ifm_arena *arena;
    struct ifm_safetensors *tensors;
    const struct ifm_tensor *k, *v, *q; /* q: NULL when there are no queries */
    struct ifm_kv_file_shape shape;
};

#define FAIL(file, error, ...) ifm_fail((error), IFM_USAGE, ifm_kv_file_name(file), recipe, __VA_ARGS__)

static enum ifm_status fail_missing(const struct ifm_kv_file *file, const char *name, const char *other,
                                    struct ifm_error *error)
{
    enum { MOST = 5 };
    struct ifm_text found = {0};
    const size_t n = ifm_safetensors_count(file->tensors);
    for (size_t i = 0; i < n && i < MOST; i++) {
        char buffer[72];
        ifm_text_printf(&found, "%s%s", i > 0 ? ", " : "",
                        ifm_param_shown(ifm_safetensors_at(file->tensors, i)->name, buffer));
    }
    if (n > MOST)
        ifm_text_printf(&found, " and %zu more", n - MOST);
    const enum ifm_status status =
        FAIL(file, error, "no tensor \"%s\" or \"%s\" (the file has: %s)", name, other, n > 0 ? found.data : "none");
    ifm_text_free(&found);
    return status;
}

/* The tensor of either name, of a floating-point type; NULL when there is none. */
static enum ifm_status find(const struct ifm_kv_file *file, const char *name, const char *other,
                            const struct ifm_tensor **out, struct ifm_error *error)
{
    const struct ifm_tensor *first = ifm_safetensors_find(file->tensors, name);
    const struct ifm_tensor *second = ifm_safetensors_find(file->tensors, other);
    if (first != NULL && second != NULL)
        return FAIL(file, error, "there are two tensors \"%s\" and \"%s\"; one of them is needed", name, other);
    *out = first != NULL ? first : second;
    if (*out != NULL && !ifm_dtype_is_float((*out)->dtype))
        return FAIL(file, error, "tensor \"%s\" is of %s; a floating-point type is needed", (*out)->name,
                    ifm_dtype_name((*out)->dtype));
    return IFM_OK;
}

static enum ifm_status check_kv(struct ifm_kv_file *file, struct ifm_error *error)
{
    const struct ifm_tensor *k = file->k, *v = file->v;
    char shown[240], other[240];
    if (k->rank != 3 && k->rank != 4)
        return FAIL(file, error,
                    "tensor \"%s\" is %s; [kv_heads, tokens, head_dim] or one more axis, sequences, before "
                    "them is needed",
                    k->name, ifm_tensor_shown(k, shown));
    if (k->rank != v->rank || memcmp(k->shape, v->shape, k->rank * sizeof k->shape[0]) != 0)
        return FAIL(file, error, "tensor \"%s\" is %s and \"%s\" is %s; their shapes must be the same", k->name,
                    ifm_tensor_shown(k, shown), v->name, ifm_tensor_shown(v, other));
    if (k->elements == 0)
        return FAIL(file, error, "tensor \"%s\" is %s: it holds nothing", k->name, ifm_tensor_shown(k, shown));
    const uint64_t *axis = k->shape + (k->rank - 3);
    file->shape = (struct ifm_kv_file_shape){
        .sequences = k->rank == 4 ? k->shape[0] : 0, .kv_heads = axis[0], .tokens = axis[1], .head_dim = axis[2]};
    return IFM_OK;
}

static enum ifm_status check_q(struct ifm_kv_file *file, struct ifm_error *error)
{
    const struct ifm_tensor *k = file->k, *q = file->q;
    struct ifm_kv_file_shape *shape = &file->shape;
    char shown[240], other[240];
    if (q->rank != k->rank && q->rank != k->rank - 1)
        return FAIL(file, error, "tensor \"%s\" is %s, which does not go with \"%s\", %s", q->name,
                    ifm_tensor_shown(q, shown), k->name, ifm_tensor_shown(k, other));
    const unsigned heads_at = k->rank - 3;
    shape->query_heads = q->shape[heads_at];
    shape->query_tokens = q->rank == k->rank ? q->shape[heads_at + 1] : 1;
    if ((heads_at > 0 && q->shape[0] != k->shape[0]) || q->shape[q->rank - 1] != shape->head_dim || q->elements == 0)
        return FAIL(file, error,
                    "tensor \"%s\" is %s, which does not go with \"%s\", %s: sequences and head_dim must be "
                    "the same",
                    q->name, ifm_tensor_shown(q, shown), k->name, ifm_tensor_shown(k, other));
    if (shape->query_heads % shape->kv_heads != 0)
        return FAIL(file, error,
                    "tensor \"%s\" has %" PRIu64 " heads, no multiple of the %" PRIu64 " KV heads of \"%s\"", q->name,
                    shape->query_heads, shape->kv_heads, k->name);
    return IFM_OK;
}

static enum ifm_status read_tensors(struct ifm_kv_file *file, struct ifm_error *error)
{
    IFM_TRY(find(file, "k", "keys", &file->k, error));
    IFM_TRY(find(file, "v", "values", &file->v, error));
    IFM_TRY(find(file, "q", "queries", &file->q, error));
    if (file->k == NULL)
        return fail_missing(file, "k", "keys", error);
    if (file->v == NULL)
        return fail_missing(file, "v", "values", error);
    IFM_TRY(check_kv(file, error));
    return file->q == NULL ? IFM_OK : check_q(file, error);
}

enum ifm_status ifm_kv_file_open(const char *path, struct ifm_kv_file **out, struct ifm_error *error)
{
    *out = NULL;
    const char *known = ifm_private_text(path);
    if (known == NULL)
        return ifm_fail(error, IFM_USAGE, "", "put the run's private.json beside its lock file, or name the file again",
                        "the path of the file with keys and values is not known here, only its hash");
    struct ifm_safetensors *tensors;
    IFM_TRY(ifm_safetensors_open(known, &tensors, error));
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_kv_file *file = IFM_ARENA_NEW(arena, struct ifm_kv_file);
    file->arena = arena;
    file->tensors = tensors;
    const enum ifm_status status = read_tensors(file, error);
    if (status == IFM_OK)
        *out = file;
    else
        ifm_kv_file_close(file);
    return status;
}

void ifm_kv_file_close(struct ifm_kv_file *file)
{
    if (file == NULL)
        return;
    ifm_safetensors_close(file->tensors);
    ifm_arena_destroy(file->arena);
}

const char *ifm_kv_file_name(const struct ifm_kv_file *file)
{
    return ifm_safetensors_name(file->tensors);
}

struct ifm_kv_file_shape ifm_kv_file_shape(const struct ifm_kv_file *file)
{
    return file->shape;
}

/* One axis: as many as asked for, or at least as many. */
static enum ifm_status require(const struct ifm_kv_file *file, const struct ifm_tensor *tensor, const char *what,
                               uint64_t asked, uint64_t found, bool exactly, struct ifm_error *error)
{
    char shown[240], hint[160];
    if (asked == 0 || found == asked || (found > asked && !exactly))
        return IFM_OK;
    snprintf(hint, sizeof hint, "ask for %s%" PRIu64 ", or write another file: docs/model-data.md",
             exactly ? "" : "at most ", found);
    return ifm_fail(error, IFM_USAGE, ifm_kv_file_name(file), hint,
                    "%" PRIu64 " %s asked for; tensor \"%s\", %s, has %" PRIu64, asked, what, tensor->name,
                    ifm_tensor_shown(tensor, shown), found);
}

enum ifm_status ifm_kv_file_require(const struct ifm_kv_file *file, const struct ifm_kv_file_shape *asked,
                                    struct ifm_error *error)
{
    const struct ifm_kv_file_shape *found = &file->shape;
    if (found->sequences > 0)
        IFM_TRY(require(file, file->k, "sequences are", asked->sequences, found->sequences, false, error));
    IFM_TRY(require(file, file->k, "KV heads are", asked->kv_heads, found->kv_heads, true, error));
    IFM_TRY(require(file, file->k, "tokens are", asked->tokens, found->tokens, false, error));
    IFM_TRY(require(file, file->k, "channels a head are", asked->head_dim, found->head_dim, true, error));
    if (file->q == NULL)
        return IFM_OK;
    IFM_TRY(require(file, file->q, "query heads are", asked->query_heads, found->query_heads, true, error));
    return require(file, file->q, "tokens with queries are", asked->query_tokens, found->query_tokens, false, error);
}

/* Round to f16; the first value that is none, or n. */
static uint64_t round_all(float *x, uint64_t n)
{
    uint64_t bad = n;
    for (uint64_t i = n; i-- > 0;) {
        x[i] = ifm_f16_to_f32(ifm_f32_to_f16(x[i]));
        if (!isfinite(x[i]))
            bad = i;
    }
    return bad;
}

/* Rows of one tensor [sequences][heads][tokens][head_dim]. */
static enum ifm_status read_rows(const struct ifm_kv_file *file, const struct ifm_tensor *tensor, uint64_t heads,
                                 uint64_t tokens_each, uint64_t sequence, uint64_t head, uint64_t first,
                                 uint64_t tokens, float *out, struct ifm_error *error)
{
    const uint64_t dim = file->shape.head_dim, at = file->shape.sequences > 0 ? sequence : 0;
    const uint64_t from = ((at * heads + head) * tokens_each + first) * dim, n = tokens * dim;
    ifm_tensor_read(tensor, from, n, out);
    const uint64_t bad = round_all(out, n);
    if (bad == n)
        return IFM_OK;
    float original;
    ifm_tensor_read(tensor, from + bad, 1, &original);
    return ifm_fail(error, IFM_USAGE, ifm_kv_file_name(file), "scale the tensor, or leave such tokens out",
                    "tensor \"%s\" holds %g (sequence %" PRIu64 ", head %" PRIu64 ", token %" PRIu64
                    ", channel %" PRIu64 "), which is no finite f16: at most 65504 is",
                    tensor->name, (double)original, at, head, first + bad / dim, bad % dim);
}

enum ifm_status ifm_kv_file_rows(const struct ifm_kv_file *file, uint64_t sequence, uint64_t head, uint64_t first,
                                 uint64_t tokens, float *k, float *v, struct ifm_error *error)
{
    const uint64_t heads = file->shape.kv_heads, each = file->shape.tokens;
    if (k != NULL)
        IFM_TRY(read_rows(file, file->k, heads, each, sequence, head, first, tokens, k, error));
    if (v != NULL)
        IFM_TRY(read_rows(file, file->v, heads, each, sequence, head, first, tokens, v, error));
    return IFM_OK;
}

enum ifm_status ifm_kv_file_queries(const struct ifm_kv_file *file, uint64_t sequence, uint64_t head, uint64_t first,
                                    uint64_t tokens, float *q, struct ifm_error *error)
{
    return read_rows(file, file->q, file->shape.query_heads, file->shape.query_tokens, sequence, head, first, tokens, q,
                     error);
}
