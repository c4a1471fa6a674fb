/* GGUF: the mapping, and the checks that come before anything of a header is handed out.
 *
 * Owns the mapping and the lists of metadata and tensors. Reads nothing beyond `size`. */
#include "tensor/gguf.h"

#include "base/file.h"
#include "base/names.h"
#include "base/param.h"
#include "tensor/map.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MOST = 65535, NAME_MOST = 1024, DEEPEST = 4 };
enum gguf_type { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, GGUF_TYPES };
static const unsigned sizes[GGUF_TYPES] = {[U8] = 1,  [I8] = 1,   [U16] = 2, [I16] = 2, [U32] = 4, [I32] = 4,
                                           [F32] = 4, [BOOL] = 1, [U64] = 8, [I64] = 8, [F64] = 8};
static const char again[] = "copy the file again, or convert the model again";

struct gguf_value {
    uint32_t type;
    uint64_t n;                 /* of an array its elements, of a string its bytes */
    uint32_t items;             /* of an array the type of its elements */
    const unsigned char *bytes; /* of what it holds */
};

struct ifm_gguf {
    struct ifm_arena *arena;
    const char *name;
    const unsigned char *bytes;
    size_t size, map_size; /* map_size 0: the bytes are the caller's */
    struct ifm_names *keys, *names;
    struct gguf_value *values; /* by the number of their key */
    struct ifm_gguf_tensor *tensors;
    size_t n_values, n;
};

/* Where the reading of a file stands. */
struct gguf_reading {
    struct ifm_gguf *file;
    size_t at;
    struct ifm_error *error;
};

#define FAIL(reading, ...) ifm_fail((reading)->error, IFM_USAGE, (reading)->file->name, again, __VA_ARGS__)

/* ---- bytes ---- */

static uint64_t little(const unsigned char *bytes, unsigned n)
{
    uint64_t number = 0;
    for (unsigned i = n; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

/* The next `n` bytes, which must be there. */
static enum ifm_status take(struct gguf_reading *r, uint64_t n, const unsigned char **out)
{
    if (n > r->file->size - r->at)
        return FAIL(r, "the file ends inside its header, at byte %zu: it was cut", r->file->size);
    *out = r->file->bytes + r->at;
    r->at += (size_t)n;
    return IFM_OK;
}

static enum ifm_status take_u32(struct gguf_reading *r, uint32_t *out)
{
    const unsigned char *bytes = NULL;
    IFM_TRY(take(r, 4, &bytes));
    *out = (uint32_t)little(bytes, 4);
    return IFM_OK;
}

static enum ifm_status take_u64(struct gguf_reading *r, uint64_t *out)
{
    const unsigned char *bytes = NULL;
    IFM_TRY(take(r, 8, &bytes));
    *out = little(bytes, 8);
    return IFM_OK;
}

/* A text of at most `most` bytes, none of them NUL, copied. */
static enum ifm_status take_name(struct gguf_reading *r, uint64_t most, const char *what, const char **out)
{
    uint64_t length;
    const unsigned char *bytes = NULL;
    IFM_TRY(take_u64(r, &length));
    if (length == 0 || length > most)
        return FAIL(r, "%s has %" PRIu64 " bytes; from 1 to %" PRIu64 " are read", what, length, most);
    IFM_TRY(take(r, length, &bytes));
    if (memchr(bytes, 0, (size_t)length) != NULL)
        return FAIL(r, "%s holds a byte of value 0", what);
    *out = ifm_arena_printf(r->file->arena, "%.*s", (int)length, (const char *)bytes);
    return IFM_OK;
}

/* ---- metadata ---- */

static enum ifm_status take_items(struct gguf_reading *r, struct gguf_value *value, unsigned depth);

static enum ifm_status take_value(struct gguf_reading *r, struct gguf_value *value, unsigned depth)
{
    if (value->type >= GGUF_TYPES)
        return FAIL(r, "metadata has a value of type %" PRIu32 "; known are 0 to %d", value->type, GGUF_TYPES - 1);
    if (value->type == ARRAY)
        return take_items(r, value, depth + 1);
    if (value->type == STRING)
        IFM_TRY(take_u64(r, &value->n));
    return take(r, value->type == STRING ? value->n : sizes[value->type], &value->bytes);
}

/* Items of one size are passed in one step, others one by one: each takes 8 bytes of the file at least. */
static enum ifm_status take_items(struct gguf_reading *r, struct gguf_value *value, unsigned depth)
{
    uint64_t bytes;
    IFM_TRY(take_u32(r, &value->items));
    IFM_TRY(take_u64(r, &value->n));
    value->bytes = r->file->bytes + r->at;
    if (depth > DEEPEST)
        return FAIL(r, "metadata has lists in lists, more than %d deep", DEEPEST);
    if (value->items < GGUF_TYPES && sizes[value->items] > 0) {
        const bool beyond = __builtin_mul_overflow(value->n, sizes[value->items], &bytes);
        return take(r, beyond ? UINT64_MAX : bytes, &value->bytes);
    }
    for (uint64_t i = 0; i < value->n; i++) {
        struct gguf_value item = {.type = value->items};
        IFM_TRY(take_value(r, &item, depth));
    }
    return IFM_OK;
}

static enum ifm_status take_metadata(struct gguf_reading *r)
{
    struct ifm_gguf *file = r->file;
    for (size_t i = 0; i < file->n_values; i++) {
        const char *key;
        char shown[72];
        struct gguf_value *value = &file->values[i];
        IFM_TRY(take_name(r, KEY_MOST, "a key of the metadata", &key));
        IFM_TRY(take_u32(r, &value->type));
        IFM_TRY(take_value(r, value, 0));
        if (ifm_names_add(file->keys, key) != i)
            return FAIL(r, "metadata has the key \"%s\" twice", ifm_param_shown(key, shown));
    }
    return IFM_OK;
}

/* ---- tensors ---- */

static enum ifm_status take_tensor(struct gguf_reading *r, struct ifm_gguf_tensor *tensor)
{
    char shown[72];
    uint32_t rank;
    uint64_t offset;
    IFM_TRY(take_name(r, NAME_MOST, "the name of a tensor", &tensor->name));
    IFM_TRY(take_u32(r, &rank));
    if (rank == 0 || rank > IFM_GGUF_RANK_MOST)
        return FAIL(r, "tensor \"%s\" has %" PRIu32 " dimensions; from 1 to %d are read",
                    ifm_param_shown(tensor->name, shown), rank, IFM_GGUF_RANK_MOST);
    tensor->rank = rank;
    tensor->elements = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        IFM_TRY(take_u64(r, &tensor->shape[i]));
        if (__builtin_mul_overflow(tensor->elements, tensor->shape[i], &tensor->elements) ||
            tensor->elements > INT64_MAX)
            return FAIL(r, "the shape of tensor \"%s\" has more than 2^63 elements",
                        ifm_param_shown(tensor->name, shown));
    }
    IFM_TRY(take_u32(r, &tensor->type));
    return take_u64(r, &offset); /* the data are not read */
}

static enum ifm_status take_tensors(struct gguf_reading *r)
{
    struct ifm_gguf *file = r->file;
    for (size_t i = 0; i < file->n; i++) {
        char shown[72];
        IFM_TRY(take_tensor(r, &file->tensors[i]));
        if (ifm_names_add(file->names, file->tensors[i].name) != i)
            return FAIL(r, "two tensors are called \"%s\"", ifm_param_shown(file->tensors[i].name, shown));
    }
    return IFM_OK;
}

/* ---- the file ---- */

static enum ifm_status check_version(struct gguf_reading *r)
{
    uint32_t version;
    const unsigned char *magic;
    if (r->file->size < 4 || memcmp(r->file->bytes, "GGUF", 4) != 0)
        return ifm_fail(r->error, IFM_USAGE, r->file->name, "give a GGUF file, or the model's config.json",
                        "not a GGUF file: it does not begin with \"GGUF\"");
    IFM_TRY(take(r, 4, &magic));
    IFM_TRY(take_u32(r, &version));
    if (version == 2 || version == 3)
        return IFM_OK;
    return ifm_fail(r->error, IFM_USAGE, r->file->name, "convert the model again; version 3 is current",
                    "the file has version %" PRIu32 " of GGUF%s; 2 and 3 are read", version,
                    (version & 0xffff) == 0 && version != 0 ? ", or the byte order of another machine" : "");
}

/* The smallest tensor takes 33 bytes, and the smallest of the metadata 14: numbers are held against the file before
 * there is memory for so many. */
static enum ifm_status read_bytes(struct ifm_gguf *file, struct ifm_error *error)
{
    struct gguf_reading r = {.file = file, .error = error};
    uint64_t tensors, values;
    IFM_TRY(check_version(&r));
    IFM_TRY(take_u64(&r, &tensors));
    IFM_TRY(take_u64(&r, &values));
    if (tensors > IFM_GGUF_MOST || values > IFM_GGUF_MOST || tensors * 33 + values * 14 > file->size)
        return FAIL(
            &r, "a file of %zu bytes cannot hold %" PRIu64 " tensors and %" PRIu64 " metadata, or these are too many",
            file->size, tensors, values);
    file->n = (size_t)tensors;
    file->n_values = (size_t)values;
    file->values = IFM_ARENA_ARRAY(file->arena, struct gguf_value, file->n_values + 1);
    file->tensors = IFM_ARENA_ARRAY(file->arena, struct ifm_gguf_tensor, file->n + 1);
    IFM_TRY(take_metadata(&r));
    return take_tensors(&r);
}

static struct ifm_gguf *file_create(const char *name)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_gguf *file = IFM_ARENA_NEW(arena, struct ifm_gguf);
    file->arena = arena;
    file->name = ifm_arena_strdup(arena, ifm_path_base(name));
    file->keys = ifm_names_create(arena);
    file->names = ifm_names_create(arena);
    return file;
}

static enum ifm_status finish(struct ifm_gguf *file, enum ifm_status status, struct ifm_gguf **out)
{
    *out = NULL;
    if (status == IFM_OK)
        *out = file;
    else
        ifm_gguf_close(file);
    return status;
}

enum ifm_status ifm_gguf_parse(const void *bytes, size_t size, const char *name, struct ifm_gguf **out,
                               struct ifm_error *error)
{
    struct ifm_gguf *file = file_create(name);
    file->bytes = bytes;
    file->size = size;
    return finish(file, read_bytes(file, error), out);
}

enum ifm_status ifm_gguf_open(const char *path, struct ifm_gguf **out, struct ifm_error *error)
{
    struct ifm_gguf *file = file_create(path);
    *out = NULL;
    enum ifm_status status = ifm_tensor_map(path, &file->bytes, &file->size, error);
    file->map_size = status == IFM_OK ? file->size : 0;
    if (status == IFM_OK)
        status = read_bytes(file, error);
    return finish(file, status, out);
}

void ifm_gguf_close(struct ifm_gguf *file)
{
    if (file == NULL)
        return;
    ifm_tensor_unmap(file->bytes, file->map_size);
    ifm_arena_destroy(file->arena);
}

const char *ifm_gguf_name(const struct ifm_gguf *file)
{
    return file->name;
}

size_t ifm_gguf_count(const struct ifm_gguf *file)
{
    return file->n;
}

const struct ifm_gguf_tensor *ifm_gguf_at(const struct ifm_gguf *file, size_t index)
{
    return &file->tensors[index];
}

const struct ifm_gguf_tensor *ifm_gguf_find(const struct ifm_gguf *file, const char *name)
{
    const size_t number = ifm_names_find(file->names, name);
    return number == IFM_NO_NAME ? NULL : &file->tensors[number];
}

/* ---- values ---- */

static const struct gguf_value *value_of(const struct ifm_gguf *file, const char *key)
{
    const size_t number = ifm_names_find(file->keys, key);
    return number == IFM_NO_NAME ? NULL : &file->values[number];
}

const char *ifm_gguf_text(const struct ifm_gguf *file, const char *key, struct ifm_arena *arena)
{
    enum { TEXT_MOST = 4096 };
    const struct gguf_value *value = value_of(file, key);
    if (value == NULL || value->type != STRING || value->n > TEXT_MOST)
        return NULL;
    return ifm_arena_printf(arena, "%.*s", (int)value->n, (const char *)value->bytes);
}

/* False: no integer of at least 0. */
static bool integer_of(uint32_t type, const unsigned char *bytes, uint64_t *out)
{
    const bool is_signed = type == I8 || type == I16 || type == I32 || type == I64;
    if (!is_signed && type != U8 && type != U16 && type != U32 && type != U64)
        return false;
    *out = little(bytes, sizes[type]);
    return !is_signed || *out >> (8 * sizes[type] - 1) == 0;
}

enum ifm_status ifm_gguf_number(const struct ifm_gguf *file, const char *key, bool *there, uint64_t *out,
                                struct ifm_error *error)
{
    const struct gguf_value *value = value_of(file, key);
    char shown[72];
    *out = 0;
    *there = value != NULL;
    if (value == NULL)
        return IFM_OK;
    const bool list = value->type == ARRAY;
    const uint32_t type = list ? value->items : value->type;
    bool good = (!list || value->n > 0) && type < GGUF_TYPES && integer_of(type, value->bytes, out), equal = true;
    for (uint64_t i = 1; good && list && i < value->n; i++) {
        uint64_t other;
        good = integer_of(type, value->bytes + i * sizes[type], &other);
        equal = equal && good && other == *out;
    }
    if (!good)
        return ifm_fail(error, IFM_USAGE, file->name, again, "\"%s\" in the metadata is no integer of at least 0",
                        ifm_param_shown(key, shown));
    if (equal)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, file->name, "take a model whose layers are all alike",
                    "\"%s\" in the metadata differs from layer to layer", ifm_param_shown(key, shown));
}

/* ---- types of tensors ---- */

static const char *const types[] = {
    "F32",    "F16",   "Q4_0",  "Q4_1",   NULL,    NULL,    "Q5_0",    "Q5_1",   "Q8_0",    "Q8_1",
    "Q2_K",   "Q3_K",  "Q4_K",  "Q5_K",   "Q6_K",  "Q8_K",  "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S",
    "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8",    "I16",   "I32",     "I64",    "F64",     "IQ1_M",
    "BF16",   NULL,    NULL,    NULL,     "TQ1_0", "TQ2_0", NULL,      NULL,     NULL,      "MXFP4",
};

const char *ifm_gguf_type_name(uint32_t type, char buffer[24])
{
    if (type < sizeof types / sizeof *types && types[type] != NULL)
        return types[type];
    snprintf(buffer, 24, "type %" PRIu32, type);
    return buffer;
}

bool ifm_gguf_is_quantized(uint32_t type)
{
    char buffer[24];
    const char *name = ifm_gguf_type_name(type, buffer);
    static const char *const plain[] = {"F32", "F16", "BF16", "F64", "I16", "I32", "I64"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(plain[i], name) == 0)
            return false;
    return true;
}
