/* What `flops` reads of a model. */
#include "cli/flops_model.h"

#include "base/file.h"
#include "base/names.h"
#include "base/param.h"
#include "base/text.h"
#include "config/model.h"
#include "tensor/gguf.h"
#include "tensor/safetensors.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 4096 };

static const char KNOWN[] = "give a config.json, a .gguf or .safetensors file, a folder with them, or a known name";

/* Tensors of all files of a model. */
struct weight_list {
    struct ifm_arena *arena;
    struct ifm_weight *items;
    size_t n, capacity;
    struct ifm_names *names;
};

/* Files of a folder, by name. */
struct model_folder {
    const char *dir;
    bool config;
    const char **gguf, **tensors;
    size_t n_gguf, n_tensors;
};

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), own = strlen(end);
    return length > own && strcmp(name + length - own, end) == 0;
}

/* ---- a config ---- */

/* What another command says of its flag --model. */
static enum ifm_status reword(enum ifm_status status, struct ifm_error *error)
{
    if (status != IFM_OK && strstr(error->hint, "--model") != NULL)
        ifm_error_hint(error, "%s", KNOWN);
    return status;
}

static enum ifm_status read_config(const char *text, struct ifm_arena *arena, struct ifm_transformer *shape,
                                   struct ifm_error *error)
{
    json_t *root;
    bool of_file;
    IFM_TRY(reword(ifm_model_read(text, "", arena, &root, &of_file, error), error));
    const enum ifm_status status = ifm_transformer_of_config(root, text, arena, shape, error);
    json_decref(root);
    return status;
}

/* ---- tensors ---- */

static enum ifm_status add_weight(struct weight_list *list, const struct ifm_weight *weight, const char *where,
                                  struct ifm_error *error)
{
    char shown[72];
    if (ifm_names_add(list->names, weight->name) != list->n)
        return ifm_fail(error, IFM_USAGE, where, "name the one file or folder that holds the model once",
                        "tensor \"%s\" stands in another file too", ifm_param_shown(weight->name, shown));
    IFM_ARENA_GROW(list->arena, list->items, list->n, list->capacity);
    list->items[list->n++] = *weight;
    return IFM_OK;
}

static const uint64_t *copy_shape(struct ifm_arena *arena, const uint64_t *shape, unsigned rank)
{
    uint64_t *copy = IFM_ARENA_ARRAY(arena, uint64_t, rank + 1);
    memcpy(copy, shape, rank * sizeof *copy);
    return copy;
}

/* Integers but those of 8 bits hold several weights each: quantizers pack them. */
static bool is_packed(const struct ifm_tensor *tensor)
{
    return tensor->rank > 1 && !ifm_dtype_is_float(tensor->dtype) && tensor->dtype != IFM_DTYPE_I8 &&
           tensor->dtype != IFM_DTYPE_BOOL;
}

static enum ifm_status add_file(struct weight_list *list, const char *path, struct ifm_error *error)
{
    struct ifm_safetensors *file;
    enum ifm_status status = ifm_safetensors_open(path, &file, error);
    if (status != IFM_OK)
        return status;
    for (size_t i = 0; status == IFM_OK && i < ifm_safetensors_count(file); i++) {
        const struct ifm_tensor *tensor = ifm_safetensors_at(file, i);
        const struct ifm_weight weight = {
            .name = ifm_arena_strdup(list->arena, tensor->name),
            .shape = copy_shape(list->arena, tensor->shape, tensor->rank),
            .rank = tensor->rank,
            .elements = tensor->elements,
            .packed = is_packed(tensor),
        };
        status = add_weight(list, &weight, ifm_safetensors_name(file), error);
    }
    ifm_safetensors_close(file);
    return status;
}

static struct weight_list begin_list(struct ifm_arena *arena)
{
    return (struct weight_list){.arena = arena, .names = ifm_names_create(arena)};
}

static void count(const struct weight_list *list, struct ifm_flops_model *out)
{
    const struct ifm_weights sum = ifm_weights_count(list->items, list->n);
    out->packed = sum.packed;
    out->counted = sum.packed == NULL ? sum.parameters : 0;
}

/* ---- GGUF ---- */

static enum ifm_status read_gguf(const char *path, struct ifm_arena *arena, struct ifm_flops_model *out,
                                 struct ifm_error *error)
{
    struct ifm_gguf *file;
    struct weight_list list = begin_list(arena);
    IFM_TRY(ifm_gguf_open(path, &file, error));
    enum ifm_status status = IFM_OK;
    for (size_t i = 0; status == IFM_OK && i < ifm_gguf_count(file); i++) {
        const struct ifm_gguf_tensor *tensor = ifm_gguf_at(file, i);
        const struct ifm_weight weight = {ifm_arena_strdup(arena, tensor->name),
                                          copy_shape(arena, tensor->shape, tensor->rank), tensor->rank,
                                          tensor->elements, false};
        status = add_weight(&list, &weight, ifm_gguf_name(file), error);
    }
    if (status == IFM_OK)
        status = ifm_transformer_of_gguf(file, list.items, list.n, arena, &out->shape, error);
    out->has_shape = status == IFM_OK;
    count(&list, out);
    ifm_gguf_close(file);
    return status;
}

/* ---- a folder ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Files that hold the model once: Hugging Face calls them "model...", and others may lie beside them. */
static void choose(struct model_folder *folder)
{
    size_t own = 0;
    for (size_t i = 0; i < folder->n_tensors; i++)
        if (strncmp(folder->tensors[i], "model", 5) == 0)
            folder->tensors[own++] = folder->tensors[i];
    folder->n_tensors = own > 0 ? own : folder->n_tensors;
}

static enum ifm_status look(const char *dir, struct ifm_arena *arena, struct model_folder *out, struct ifm_error *error)
{
    DIR *open = opendir(dir);
    struct dirent *item;
    *out = (struct model_folder){.dir = dir,
                                 .gguf = IFM_ARENA_ARRAY(arena, const char *, FILES_MOST),
                                 .tensors = IFM_ARENA_ARRAY(arena, const char *, FILES_MOST)};
    while (open != NULL && (item = readdir(open)) != NULL) {
        if (strcmp(item->d_name, "config.json") == 0)
            out->config = true;
        else if (ends_with(item->d_name, ".gguf") && out->n_gguf < FILES_MOST)
            out->gguf[out->n_gguf++] = ifm_arena_strdup(arena, item->d_name);
        else if (ends_with(item->d_name, ".safetensors") && out->n_tensors < FILES_MOST)
            out->tensors[out->n_tensors++] = ifm_arena_strdup(arena, item->d_name);
    }
    if (open == NULL)
        return ifm_fail(error, IFM_USAGE, dir, "check its permissions", "the folder cannot be read");
    closedir(open);
    qsort(out->gguf, out->n_gguf, sizeof *out->gguf, by_name);
    qsort(out->tensors, out->n_tensors, sizeof *out->tensors, by_name);
    choose(out);
    return IFM_OK;
}

/* Of "model-00001-of-00004.safetensors" 4; 0 = the name does not say. */
static uint64_t parts_of(const char *name, struct ifm_arena *arena)
{
    const char *of = strstr(name, "-of-");
    uint64_t parts = 0;
    if (of == NULL ||
        !ifm_parse_u64(ifm_arena_printf(arena, "%.*s", (int)strspn(of + 4, "0123456789"), of + 4), &parts))
        return 0;
    return parts;
}

static enum ifm_status read_tensors(const struct model_folder *folder, struct weight_list *list,
                                    struct ifm_error *error)
{
    for (size_t i = 0; i < folder->n_tensors; i++) {
        const uint64_t parts = parts_of(folder->tensors[i], list->arena);
        if (parts > 0 && parts != folder->n_tensors)
            return ifm_fail(error, IFM_USAGE, folder->dir, "fetch the others too, or name config.json alone",
                            "the folder has %zu of the %llu files that hold the model's tensors", folder->n_tensors,
                            (unsigned long long)parts);
        IFM_TRY(add_file(list, ifm_path_join(list->arena, folder->dir, folder->tensors[i]), error));
    }
    return IFM_OK;
}

/* The shape by the config, else by the tensors. Where there are tensors a shape that is not known is no error. */
static enum ifm_status read_shape(const struct model_folder *folder, const struct weight_list *list,
                                  struct ifm_flops_model *out, struct ifm_error *error)
{
    enum ifm_status status;
    if (folder->config)
        status = read_config(ifm_path_join(list->arena, folder->dir, "config.json"), list->arena, &out->shape, error);
    else
        status = ifm_transformer_of_weights(list->items, list->n, folder->dir, &out->shape, error);
    out->has_shape = status == IFM_OK;
    out->tensors_alone = !folder->config;
    if (status == IFM_OK || status != IFM_USAGE || list->n == 0 || out->counted == 0)
        return status;
    out->no_shape = ifm_arena_strdup(list->arena, error->message);
    out->no_shape_remedy = folder->config ? "" : ifm_arena_strdup(list->arena, error->hint);
    *error = (struct ifm_error){0};
    return IFM_OK;
}

static enum ifm_status read_folder(const char *dir, struct ifm_arena *arena, struct ifm_flops_model *out,
                                   struct ifm_error *error)
{
    struct model_folder folder;
    struct weight_list list = begin_list(arena);
    IFM_TRY(look(dir, arena, &folder, error));
    if (folder.n_gguf == 1 && !folder.config && folder.n_tensors == 0)
        return read_gguf(ifm_path_join(arena, dir, folder.gguf[0]), arena, out, error);
    if (folder.n_gguf > 1 && !folder.config && folder.n_tensors == 0)
        return ifm_fail(error, IFM_USAGE, dir, "name the file", "the folder has %zu GGUF files", folder.n_gguf);
    if (!folder.config && folder.n_tensors == 0)
        return ifm_fail(error, IFM_USAGE, dir, KNOWN, "the folder has no config.json, GGUF or safetensors file");
    IFM_TRY(read_tensors(&folder, &list, error));
    count(&list, out);
    return read_shape(&folder, &list, out, error);
}

/* One file of tensors. */
static enum ifm_status read_file(const char *path, struct ifm_arena *arena, struct ifm_flops_model *out,
                                 struct ifm_error *error)
{
    struct weight_list list = begin_list(arena);
    const struct model_folder alone = {.dir = ifm_path_base(path)};
    const uint64_t parts = parts_of(alone.dir, arena);
    if (parts > 1)
        return ifm_fail(error, IFM_USAGE, alone.dir, "name the folder that holds them",
                        "the file is one of %llu that hold the model's tensors", (unsigned long long)parts);
    IFM_TRY(add_file(&list, path, error));
    count(&list, out);
    return read_shape(&alone, &list, out, error);
}

enum ifm_status ifm_flops_model_read(const char *text, struct ifm_arena *arena, struct ifm_flops_model *out,
                                     struct ifm_error *error)
{
    enum ifm_status status = IFM_OK;
    *out = (struct ifm_flops_model){.name = ifm_arena_strdup(arena, ifm_path_base(text))};
    if (ends_with(text, ".gguf"))
        status = read_gguf(text, arena, out, error);
    else if (ends_with(text, ".safetensors"))
        status = read_file(text, arena, out, error);
    else if (ifm_dir_exists(text))
        status = read_folder(text, arena, out, error);
    else {
        status = read_config(text, arena, &out->shape, error);
        out->has_shape = status == IFM_OK;
    }
    IFM_TRY(status);
    out->parameters = out->counted > 0 && !(out->has_shape && out->shape.text_part) ? out->counted
                      : out->has_shape ? ifm_transformer_parameters(&out->shape)
                                       : 0;
    out->has_parameters = out->parameters > 0;
    return IFM_OK;
}
