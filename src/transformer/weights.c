/* What the tensors of a model hold, and the shape that their names and sizes alone give.
 *
 * Names are those of Hugging Face. What no tensor has is not known: how many experts a token goes through, and windows
 * of attention. */
#include "transformer/transformer.h"

#include "base/names.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ROOM = 160 };

/* ---- counting ---- */

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), own = strlen(end);
    return length >= own && strcmp(name + length - own, end) == 0;
}

static bool has_ending(const char *name, const char *const *endings)
{
    for (; *endings != NULL; endings++)
        if (ends_with(name, *endings))
            return true;
    return false;
}

/* Masks, numbers of positions and frequencies are computed, not learnt; some files hold them. GPT-2's mask is called a
 * bias, and has four dimensions. */
static bool is_buffer(const struct ifm_weight *weight)
{
    static const char *const endings[] = {"position_ids",
                                          "inv_freq",
                                          "masked_bias",
                                          "rope_freqs.weight",
                                          "attn.rotary_emb.cos_cached",
                                          "rope_factors_long.weight",
                                          "attn.rotary_emb.sin_cached",
                                          "rope_factors_short.weight",
                                          NULL};
    return has_ending(weight->name, endings) || (weight->rank > 2 && ends_with(weight->name, ".attn.bias"));
}

static bool is_vector(const struct ifm_weight *weight)
{
    static const char *const tables[] = {
        "wpe.weight",           "position_embeddings.weight", "token_type_embeddings.weight",
        "position_embd.weight", "token_types.weight",         NULL};
    return weight->rank < 2 || has_ending(weight->name, tables);
}

struct ifm_weights ifm_weights_count(const struct ifm_weight *weights, size_t n)
{
    struct ifm_weights sum = {0};
    for (size_t i = 0; i < n; i++) {
        if (is_buffer(&weights[i]))
            continue;
        if (weights[i].packed && sum.packed == NULL)
            sum.packed = weights[i].name;
        sum.parameters += (double)weights[i].elements;
        sum.vectors += is_vector(&weights[i]) ? (double)weights[i].elements : 0;
    }
    return sum;
}

/* ---- the shape ---- */

/* How a family calls its tensors; the number of a layer stands behind `layer`. */
static const struct weight_names {
    const char *family, *prefixes[3];
    bool encoder, inner_first; /* GPT-2 stores a matrix with its inputs first */
    const char *table, *layer, *q, *k, *up, *gate, *experts, *head, *transform, *pooler;
} schemes[] = {
    {"llama",
     {"", "model.", NULL},
     false,
     false,
     "embed_tokens.weight",
     "layers.",
     "self_attn.q_proj.weight",
     "self_attn.k_proj.weight",
     "mlp.up_proj.weight",
     "mlp.gate_proj.weight",
     "experts.0.",
     "lm_head.weight",
     NULL,
     NULL},
    {"gpt2",
     {"", "transformer.", NULL},
     false,
     true,
     "wte.weight",
     "h.",
     "attn.c_attn.weight",
     NULL,
     "mlp.c_fc.weight",
     NULL,
     NULL,
     "lm_head.weight",
     NULL,
     NULL},
    {"bert",
     {"", "bert.", NULL},
     true,
     false,
     "embeddings.word_embeddings.weight",
     "encoder.layer.",
     "attention.self.query.weight",
     "attention.self.key.weight",
     "intermediate.dense.weight",
     NULL,
     NULL,
     "cls.predictions.bias",
     "cls.predictions.transform.dense.weight",
     "pooler.dense.weight"},
};

/* What is read, and by which names. */
struct weight_reading {
    const struct ifm_weight *weights;
    size_t n;
    struct ifm_names *index; /* the numbers of weights by their names */
    const struct weight_names *names;
    const char *prefix, *where;
    struct ifm_error *error;
};

static const struct ifm_weight *find(const struct weight_reading *r, const char *prefix, const char *name)
{
    char whole[NAME_ROOM];
    if (name == NULL)
        return NULL;
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    const size_t number = ifm_names_find(r->index, whole);
    return number == IFM_NO_NAME ? NULL : &r->weights[number];
}

static const struct ifm_weight *find_in_layer(const struct weight_reading *r, uint64_t layer, const char *name)
{
    char start[NAME_ROOM];
    snprintf(start, sizeof start, "%s%s%" PRIu64 ".", r->prefix, r->names->layer, layer);
    return find(r, start, name);
}

static bool find_names(struct weight_reading *r)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        for (size_t p = 0; schemes[i].prefixes[p] != NULL; p++) {
            r->names = &schemes[i];
            r->prefix = schemes[i].prefixes[p];
            if (find(r, r->prefix, r->names->table) != NULL && find_in_layer(r, 0, r->names->q) != NULL)
                return true;
        }
    return false;
}

static enum ifm_status missing(const struct weight_reading *r, const char *reason)
{
    return ifm_fail(r->error, IFM_USAGE, r->where, "name the folder that holds the model's config.json too",
                    "the tensors do not tell the shape of the model: %s", reason);
}

/* A matrix of layer 0, its outputs and inputs; false: there is none, or no size of a shape. */
static bool matrix_of(const struct weight_reading *r, const struct ifm_weight *weight, uint64_t *outputs,
                      uint64_t *inputs)
{
    if (weight == NULL || weight->rank != 2 || weight->packed)
        return false;
    *outputs = weight->shape[r->names->inner_first ? 1 : 0];
    *inputs = weight->shape[r->names->inner_first ? 0 : 1];
    return *outputs > 0 && *inputs > 0 && *outputs <= 1 << 24 && *inputs <= 1 << 24;
}

static bool any_experts(const struct weight_reading *r)
{
    for (size_t i = 0; r->names->experts != NULL && i < r->n; i++)
        if (strstr(r->weights[i].name, r->names->experts) != NULL)
            return true;
    return false;
}

static void read_head(const struct weight_reading *r, struct ifm_transformer *out)
{
    const struct weight_names *names = r->names;
    out->tied = out->encoder || find(r, "", names->head) == NULL;
    if (!out->encoder || find(r, "", names->head) != NULL)
        out->head = out->vocabulary * out->hidden;
    if (find(r, "", names->transform) != NULL)
        out->transform = out->hidden * out->hidden;
    if (find(r, r->prefix, names->pooler) != NULL)
        out->pooler = out->hidden * out->hidden;
}

static enum ifm_status read_layer(const struct weight_reading *r, struct ifm_transformer *out)
{
    const struct weight_names *names = r->names;
    const struct ifm_weight *table = find(r, r->prefix, names->table);
    uint64_t inputs;
    if (table->rank != 2 || table->shape[0] == 0 || table->shape[0] > 1 << 24)
        return missing(r, "the table of embeddings is no table");
    out->vocabulary = table->shape[0];
    if (!matrix_of(r, find_in_layer(r, 0, names->q), &out->q_width, &out->hidden) || table->shape[1] != out->hidden)
        return missing(r, "its queries have no matrix of numbers that fits the embeddings");
    out->kv_width = out->q_width;
    if (names->k == NULL) /* queries, keys and values in one */
        out->q_width = out->kv_width = out->q_width / 3;
    else if (!matrix_of(r, find_in_layer(r, 0, names->k), &out->kv_width, &inputs) || inputs != out->hidden)
        return missing(r, "its keys have no matrix that fits the embeddings");
    if (!matrix_of(r, find_in_layer(r, 0, names->up), &out->inner, &inputs) || inputs != out->hidden)
        return missing(r, "its feed-forward layers have no matrix that fits the embeddings");
    out->matrices = find_in_layer(r, 0, names->gate) != NULL ? 3 : 2;
    while (out->layers < r->n && find_in_layer(r, out->layers, names->q) != NULL)
        out->layers++;
    return IFM_OK;
}

static enum ifm_status read_weights(struct weight_reading *r, struct ifm_transformer *out)
{
    if (!find_names(r))
        return missing(r, "they are not called as those of Llama, GPT-2 or BERT");
    if (any_experts(r))
        return missing(r, "no tensor says how many experts a token goes through");
    out->family = r->names->family;
    out->encoder = r->names->encoder;
    IFM_TRY(read_layer(r, out));
    read_head(r, out);
    out->vectors = ifm_weights_count(r->weights, r->n).vectors;
    return IFM_OK;
}

enum ifm_status ifm_transformer_of_weights(const struct ifm_weight *weights, size_t n, const char *where,
                                           struct ifm_transformer *out, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct weight_reading r = {
        .weights = weights, .n = n, .index = ifm_names_create(arena), .where = where, .error = error};
    *out = (struct ifm_transformer){0};
    size_t added = 0;
    while (added < n && ifm_names_add(r.index, weights[added].name) == added)
        added++;
    const enum ifm_status status = added < n ? missing(&r, "two of them have one name") : read_weights(&r, out);
    ifm_arena_destroy(arena);
    return status;
}
