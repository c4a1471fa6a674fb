/* safetensors: the mapping, and the checks that come before a view is handed out.
 *
 * Owns the mapping and the list of views. Reads nothing beyond `size`; the header is parsed by jansson from the bytes
 * that the length allows. */
#include "tensor/safetensors.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/param.h"
#include "base/text.h"
#include "tensor/map.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };
static const char again[] = "write the file again with a safetensors library, or copy it again if it was cut";

struct ifm_safetensors {
    struct ifm_arena *arena;
    const char *name;
    const unsigned char *bytes;
    size_t size, map_size; /* map_size 0: the bytes are the caller's */
    struct ifm_tensor *tensors;
    size_t n;
};

/* The state of checking a file. */
struct safetensors_check {
    struct ifm_safetensors *file;
    const unsigned char *data; /* after the header */
    uint64_t data_size;
    struct ifm_error *error;
};

#define FAIL(check, ...) ifm_fail((check)->error, IFM_USAGE, (check)->file->name, again, __VA_ARGS__)

static enum ifm_status read_shape(const struct safetensors_check *check, const json_t *shape, const char *shown,
                                  struct ifm_tensor *tensor)
{
    size_t rank = json_array_size(shape);
    if (!json_is_array(shape))
        return FAIL(check, "tensor \"%s\" has no \"shape\", an array of integers", shown);
    if (rank > IFM_TENSOR_RANK_MOST)
        return FAIL(check, "tensor \"%s\" has %zu dimensions; at most %d are read", shown, rank, IFM_TENSOR_RANK_MOST);
    tensor->rank = (unsigned)rank;
    tensor->elements = 1;
    for (size_t i = 0; i < rank; i++) {
        const json_t *item = json_array_get(shape, i);
        if (!json_is_integer(item) || json_integer_value(item) < 0)
            return FAIL(check, "dimension %zu of tensor \"%s\" is not an integer of at least 0", i, shown);
        tensor->shape[i] = (uint64_t)json_integer_value(item);
        if (__builtin_mul_overflow(tensor->elements, tensor->shape[i], &tensor->elements))
            return FAIL(check, "the shape of tensor \"%s\" has more than 2^64 elements", shown);
    }
    if (__builtin_mul_overflow(tensor->elements, ifm_dtype_bytes(tensor->dtype), &tensor->bytes))
        return FAIL(check, "the shape of tensor \"%s\" has more than 2^64 bytes", shown);
    return IFM_OK;
}

static enum ifm_status read_offsets(const struct safetensors_check *check, const json_t *offsets, const char *shown,
                                    struct ifm_tensor *tensor)
{
    const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last) ||
        json_integer_value(first) < 0 || json_integer_value(last) < json_integer_value(first))
        return FAIL(check, "tensor \"%s\" has no \"data_offsets\", two ascending integers", shown);
    const uint64_t begin = (uint64_t)json_integer_value(first), end = (uint64_t)json_integer_value(last);
    if (end > check->data_size)
        return FAIL(check, "tensor \"%s\" ends at byte %" PRIu64 " of the data, which has %" PRIu64, shown, end,
                    check->data_size);
    if (end - begin != tensor->bytes) {
        char buffer[240];
        return FAIL(check, "tensor \"%s\", %s, takes %" PRIu64 " bytes; its offsets give it %" PRIu64, shown,
                    ifm_tensor_shown(tensor, buffer), tensor->bytes, end - begin);
    }
    tensor->data = check->data + begin;
    return IFM_OK;
}

static enum ifm_status read_tensor(const struct safetensors_check *check, const char *name, const json_t *entry,
                                   struct ifm_tensor *tensor)
{
    char buffer[72], other[72];
    const char *shown = ifm_param_shown(name, buffer);
    if (!json_is_object(entry))
        return FAIL(check, "\"%s\" in the header is not an object that describes a tensor", shown);
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (dtype == NULL)
        return FAIL(check, "tensor \"%s\" has no \"dtype\", a text", shown);
    if (!ifm_dtype_find(dtype, &tensor->dtype))
        return ifm_fail(check->error, IFM_USAGE, check->file->name, "convert the tensor to one of them",
                        "tensor \"%s\" has dtype \"%s\"; known: %s", shown, ifm_param_shown(dtype, other),
                        ifm_dtype_names());
    IFM_TRY(read_shape(check, json_object_get(entry, "shape"), shown, tensor));
    IFM_TRY(read_offsets(check, json_object_get(entry, "data_offsets"), shown, tensor));
    tensor->name = ifm_arena_strdup(check->file->arena, name);
    return IFM_OK;
}

static enum ifm_status read_metadata(const struct safetensors_check *check, const json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return FAIL(check, "\"__metadata__\" is not an object");
    json_object_foreach((json_t *)metadata, key, value)
    {
        char buffer[72];
        if (!json_is_string(value))
            return FAIL(check, "\"%s\" in \"__metadata__\" is not a text", ifm_param_shown(key, buffer));
    }
    return IFM_OK;
}

/* By offset; at the same offset, empty tensors come first. */
static int by_place(const void *a, const void *b)
{
    const struct ifm_tensor *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Every byte of the data belongs to one tensor. */
static enum ifm_status check_cover(const struct safetensors_check *check)
{
    const struct ifm_safetensors *file = check->file;
    const unsigned char *at = check->data;
    for (size_t i = 0; i < file->n; i++) {
        const struct ifm_tensor *tensor = &file->tensors[i];
        char buffer[72], other[72];
        const char *shown = ifm_param_shown(tensor->name, buffer);
        if (tensor->data < at)
            return FAIL(check, "tensor \"%s\" overlaps tensor \"%s\"", shown,
                        ifm_param_shown(file->tensors[i - 1].name, other));
        if (tensor->data > at)
            return FAIL(check, "%td bytes before tensor \"%s\" belong to no tensor", tensor->data - at, shown);
        at += tensor->bytes;
    }
    const uint64_t covered = (uint64_t)(at - check->data);
    if (covered < check->data_size)
        return FAIL(check, "%" PRIu64 " bytes at the end of the file belong to no tensor", check->data_size - covered);
    return IFM_OK;
}

static enum ifm_status read_header(const struct safetensors_check *check, const json_t *header)
{
    struct ifm_safetensors *file = check->file;
    const char *name;
    json_t *entry;
    if (!json_is_object(header))
        return FAIL(check, "the header is not a JSON object");
    file->tensors = IFM_ARENA_ARRAY(file->arena, struct ifm_tensor, json_object_size(header) + 1);
    json_object_foreach((json_t *)header, name, entry)
    {
        if (strcmp(name, "__metadata__") == 0)
            IFM_TRY(read_metadata(check, entry));
        else
            IFM_TRY(read_tensor(check, name, entry, &file->tensors[file->n++]));
    }
    qsort(file->tensors, file->n, sizeof *file->tensors, by_place);
    return check_cover(check);
}

static enum ifm_status read_bytes(struct ifm_safetensors *file, struct ifm_error *error)
{
    struct safetensors_check check = {.file = file, .error = error};
    uint64_t length = 0;
    if (file->size < LENGTH_BYTES)
        return FAIL(&check,
                    "not a safetensors file: it has %zu bytes, and the first 8 should hold the length of its header",
                    file->size);
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | file->bytes[i];
    if (length > file->size - LENGTH_BYTES)
        return FAIL(&check,
                    "the file has %zu bytes, its header alone would have %" PRIu64
                    ": it is cut, or not a safetensors file",
                    file->size, length);
    if (length > IFM_SAFETENSORS_HEADER_MOST)
        return ifm_fail(error, IFM_USAGE, file->name, "put the tensors that are needed into a file of their own",
                        "the header has %" PRIu64 " bytes; at most %u are read", length, IFM_SAFETENSORS_HEADER_MOST);
    const char *text = (const char *)file->bytes + LENGTH_BYTES;
    if (length == 0 || text[0] != '{')
        return FAIL(&check, "the header does not begin with \"{\": this is not a safetensors file");
    check.data = file->bytes + LENGTH_BYTES + length;
    check.data_size = file->size - LENGTH_BYTES - length;
    json_error_t problem;
    json_t *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &problem);
    if (header == NULL) {
        char buffer[72];
        return FAIL(&check, "the header is not valid JSON at its byte %d: %s", problem.position,
                    ifm_param_shown(problem.text, buffer));
    }
    const enum ifm_status status = read_header(&check, header);
    json_decref(header);
    return status;
}

static struct ifm_safetensors *file_create(const char *name)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_safetensors *file = IFM_ARENA_NEW(arena, struct ifm_safetensors);
    file->arena = arena;
    file->name = ifm_arena_strdup(arena, ifm_path_base(name));
    return file;
}

static enum ifm_status finish(struct ifm_safetensors *file, enum ifm_status status, struct ifm_safetensors **out)
{
    *out = NULL;
    if (status == IFM_OK)
        *out = file;
    else
        ifm_safetensors_close(file);
    return status;
}

enum ifm_status ifm_safetensors_parse(const void *bytes, size_t size, const char *name, struct ifm_safetensors **out,
                                      struct ifm_error *error)
{
    struct ifm_safetensors *file = file_create(name);
    file->bytes = bytes;
    file->size = size;
    return finish(file, read_bytes(file, error), out);
}

enum ifm_status ifm_safetensors_open(const char *path, struct ifm_safetensors **out, struct ifm_error *error)
{
    struct ifm_safetensors *file = file_create(path);
    enum ifm_status status = ifm_tensor_map(path, &file->bytes, &file->size, error);
    file->map_size = status == IFM_OK ? file->size : 0;
    if (status == IFM_OK)
        status = read_bytes(file, error);
    return finish(file, status, out);
}

void ifm_safetensors_close(struct ifm_safetensors *file)
{
    if (file == NULL)
        return;
    ifm_tensor_unmap(file->bytes, file->map_size);
    ifm_arena_destroy(file->arena);
}

const char *ifm_safetensors_name(const struct ifm_safetensors *file)
{
    return file->name;
}

size_t ifm_safetensors_count(const struct ifm_safetensors *file)
{
    return file->n;
}

const struct ifm_tensor *ifm_safetensors_at(const struct ifm_safetensors *file, size_t index)
{
    return &file->tensors[index];
}

const struct ifm_tensor *ifm_safetensors_find(const struct ifm_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->n; i++)
        if (strcmp(file->tensors[i].name, name) == 0)
            return &file->tensors[i];
    return NULL;
}

void ifm_tensor_read(const struct ifm_tensor *tensor, uint64_t first, size_t n, float *out)
{
    ifm_dtype_to_f32(tensor->dtype, tensor->data + first * ifm_dtype_bytes(tensor->dtype), n, out);
}

const char *ifm_tensor_shown(const struct ifm_tensor *tensor, char buffer[240])
{
    size_t used = (size_t)snprintf(buffer, 240, "%s [", ifm_dtype_name(tensor->dtype));
    for (unsigned i = 0; i < tensor->rank; i++)
        used += (size_t)snprintf(buffer + used, 240 - used, "%s%" PRIu64, i > 0 ? ", " : "", tensor->shape[i]);
    snprintf(buffer + used, 240 - used, "]");
    return buffer;
}
