/* A cell in short, for a title: "decode llama-3-8b, batch 4, kv_len 8192", where its name says neither model nor shape.
 */
#include "document/document.h"

#include <string.h>

static const char *setting_of(const struct ifm_cell *cell, const char *key, struct ifm_arena *arena)
{
    const char *path = ifm_arena_printf(arena, "%s.%s", cell->workload, key);
    const struct ifm_arm *arm = ifm_cell_baseline(cell) != NULL ? ifm_cell_baseline(cell) : &cell->arms[0];
    const char *text = ifm_arm_setting(arm, path);
    return text == NULL ? "" : text;
}

static const char *model_of(const struct ifm_cell *cell, struct ifm_arena *arena)
{
    return cell->n_arms == 0 ? "" : setting_of(cell, "model", arena);
}

/* "batch 4, kv_len 8192": sequences and their length; "" of a workload without these. */
static const char *size_of(const struct ifm_cell *cell, struct ifm_arena *arena)
{
    const char *batch = setting_of(cell, "batch", arena), *length = setting_of(cell, "kv_len", arena);
    const struct ifm_arm *arm = ifm_cell_baseline(cell) != NULL ? ifm_cell_baseline(cell) : &cell->arms[0];
    for (size_t i = 0; i < arm->n_chosen; i++) /* that of attention.scale */
        if (strcmp(arm->chosen[i].path, "batch") == 0)
            batch = arm->chosen[i].text;
    const char *matrix = setting_of(cell, "matrix", arena);
    if (matrix[0] != '\0' && strcmp(matrix, "none") != 0)
        return matrix;
    const bool kv = length[0] != '\0';
    length = !kv ? setting_of(cell, "seq_len", arena) : length;
    return batch[0] == '\0' || length[0] == '\0'
               ? ""
               : ifm_arena_printf(arena, "batch %s, %s %s", batch, kv ? "kv_len" : "seq_len", length);
}

/* A model's name says them, unless it is another one now. */
static const char *heads_of(const struct ifm_cell *cell, const char *model, struct ifm_arena *arena)
{
    const char *q = setting_of(cell, "q_heads", arena), *kv = setting_of(cell, "kv_heads", arena);
    if (q[0] == '\0' || kv[0] == '\0' || (model[0] != '\0' && strstr(model, "(changed)") == NULL))
        return "";
    return strcmp(q, kv) == 0 ? ifm_arena_printf(arena, ", %s heads", q)
                              : ifm_arena_printf(arena, ", %s query heads, %s KV heads", q, kv);
}

const char *ifm_document_shape(const struct ifm_cell *cell, struct ifm_arena *arena)
{
    const char *model = model_of(cell, arena), *size = cell->n_arms == 0 ? "" : size_of(cell, arena);
    const char *title = ifm_document_family(cell, arena);
    if (size[0] == '\0')
        return model[0] == '\0' ? cell->name : title;
    return ifm_arena_printf(arena, "%s, %s%s", title, size, heads_of(cell, model, arena));
}

const char *ifm_document_family(const struct ifm_cell *cell, struct ifm_arena *arena)
{
    const char *model = model_of(cell, arena);
    return model[0] == '\0' ? cell->workload : ifm_arena_printf(arena, "%s %s", cell->workload, model);
}
