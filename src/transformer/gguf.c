/* The shape of a model from the header of its GGUF file. */
#include "transformer/transformer.h"

#include "base/param.h"
#include <stdio.h>
#include <string.h>

enum { KEY_ROOM = 128, SIZE_MOST = 1 << 24 };

/* Families by general.architecture. Files of Mistral and Mixtral call themselves llama. */
static const struct gguf_family {
    const char *name;
    bool encoder;
    uint64_t matrices;
} families[] = {
    {"llama", false, 3},    {"qwen2", false, 3}, {"qwen3", false, 3}, {"qwen2moe", false, 3},
    {"qwen3moe", false, 3}, {"gpt2", false, 2},  {"bert", true, 2},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* What is read, and of which family. */
struct header_reading {
    const struct ifm_gguf *file;
    const struct gguf_family *family;
    struct ifm_error *error;
};

static enum ifm_status find_family(struct header_reading *r, struct ifm_arena *arena)
{
    const char *type = ifm_gguf_text(r->file, "general.architecture", arena), *names[FAMILIES];
    char shown[72];
    for (size_t i = 0; i < FAMILIES; i++) {
        names[i] = families[i].name;
        if (type != NULL && strcmp(type, families[i].name) == 0)
            r->family = &families[i];
    }
    if (r->family != NULL)
        return IFM_OK;
    if (type == NULL)
        return ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file), "give the GGUF file of a model",
                        "the file has no \"general.architecture\" in its metadata");
    return ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file),
                    "name the model's config.json, if its family is known there",
                    "the products of a model of architecture \"%s\" are not known; known: %s",
                    ifm_param_shown(type, shown), ifm_list_join((struct ifm_list){names, FAMILIES}, ", ", arena));
}

/* The number under "<family>.<key>"; `fallback` where there is none. */
static enum ifm_status size_of(const struct header_reading *r, const char *key, uint64_t fallback, uint64_t *out)
{
    char name[KEY_ROOM];
    bool there;
    snprintf(name, sizeof name, "%s.%s", r->family->name, key);
    IFM_TRY(ifm_gguf_number(r->file, name, &there, out, r->error));
    *out = there ? *out : fallback;
    if (*out <= SIZE_MOST)
        return IFM_OK;
    return ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file), "convert the model again",
                    "\"%s\" of the model is above %d", name, SIZE_MOST);
}

static enum ifm_status need(const struct header_reading *r, const char *key, uint64_t *out)
{
    IFM_TRY(size_of(r, key, 0, out));
    return *out > 0 ? IFM_OK
                    : ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file), "convert the model again",
                               "no header of a model: it has no \"%s.%s\"", r->family->name, key);
}

static enum ifm_status read_attention(const struct header_reading *r, struct ifm_transformer *out)
{
    uint64_t heads, kv_heads, key, value;
    IFM_TRY(need(r, "block_count", &out->layers));
    IFM_TRY(need(r, "embedding_length", &out->hidden));
    IFM_TRY(need(r, "attention.head_count", &heads));
    IFM_TRY(size_of(r, "attention.head_count_kv", heads, &kv_heads));
    IFM_TRY(size_of(r, "attention.key_length", out->hidden / heads, &key));
    IFM_TRY(size_of(r, "attention.value_length", key, &value));
    IFM_TRY(size_of(r, "attention.sliding_window", 0, &out->window));
    if (key == 0 || key != value || kv_heads == 0)
        return ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file), "take a model with grouped-query attention",
                        "heads of keys have the size %llu and those of values %llu", (unsigned long long)key,
                        (unsigned long long)value);
    out->windowed = out->window > 0 ? out->layers : 0;
    out->q_width = heads * key;
    out->kv_width = kv_heads * key;
    return IFM_OK;
}

static enum ifm_status read_forward(const struct header_reading *r, struct ifm_transformer *out)
{
    out->matrices = r->family->matrices;
    IFM_TRY(size_of(r, "feed_forward_length", 0, &out->inner));
    IFM_TRY(size_of(r, "expert_count", 0, &out->experts));
    if (out->experts == 0)
        return need(r, "feed_forward_length", &out->inner);
    IFM_TRY(need(r, "expert_used_count", &out->active));
    IFM_TRY(size_of(r, "expert_feed_forward_length", out->inner, &out->expert_inner));
    IFM_TRY(size_of(r, "expert_shared_feed_forward_length", 0, &out->shared_inner));
    if (out->active > out->experts || out->expert_inner == 0)
        return ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file), "convert the model again",
                        "a token goes through %llu of %llu experts of size %llu", (unsigned long long)out->active,
                        (unsigned long long)out->experts, (unsigned long long)out->expert_inner);
    out->moe_layers = out->layers;
    out->router = out->hidden * (out->experts + (out->shared_inner > 0 ? 1 : 0));
    return IFM_OK;
}

static enum ifm_status read_vocabulary(const struct header_reading *r, struct ifm_transformer *out)
{
    const struct ifm_gguf_tensor *table = ifm_gguf_find(r->file, "token_embd.weight");
    if (table == NULL || table->rank != 2 || table->shape[1] == 0 || table->shape[1] > SIZE_MOST ||
        table->shape[0] != out->hidden)
        return ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file), "give the GGUF file of a whole model",
                        "the file has no \"token_embd.weight\", a table of rows of %llu",
                        (unsigned long long)out->hidden);
    out->vocabulary = table->shape[1];
    out->tied = ifm_gguf_find(r->file, "output.weight") == NULL;
    out->head = r->family->encoder && out->tied ? 0 : out->vocabulary * out->hidden;
    return IFM_OK;
}

/* How feed-forward layers are stored, which hold most of the weights. */
static const char *quantized(const struct ifm_gguf *file, struct ifm_arena *arena)
{
    static const char *const names[] = {"blk.0.ffn_up.weight", "blk.0.ffn_up_exps.weight"};
    char buffer[24];
    for (size_t i = 0; i < 2; i++) {
        const struct ifm_gguf_tensor *up = ifm_gguf_find(file, names[i]);
        if (up != NULL && ifm_gguf_is_quantized(up->type))
            return ifm_arena_strdup(arena, ifm_gguf_type_name(up->type, buffer));
    }
    return NULL;
}

static enum ifm_status check_whole(const struct header_reading *r)
{
    bool there;
    uint64_t parts;
    IFM_TRY(ifm_gguf_number(r->file, "split.count", &there, &parts, r->error));
    if (!there || parts <= 1)
        return IFM_OK;
    return ifm_fail(r->error, IFM_USAGE, ifm_gguf_name(r->file),
                    "join them (llama-gguf-split --merge), or name the model's config.json",
                    "the file is one of %llu that hold the model together", (unsigned long long)parts);
}

enum ifm_status ifm_transformer_of_gguf(const struct ifm_gguf *file, const struct ifm_weight *weights, size_t n,
                                        struct ifm_arena *arena, struct ifm_transformer *out, struct ifm_error *error)
{
    struct header_reading r = {.file = file, .error = error};
    *out = (struct ifm_transformer){0};
    IFM_TRY(check_whole(&r));
    IFM_TRY(find_family(&r, arena));
    out->family = r.family->name;
    out->encoder = r.family->encoder;
    out->quantized = quantized(file, arena);
    IFM_TRY(read_attention(&r, out));
    IFM_TRY(read_forward(&r, out));
    IFM_TRY(read_vocabulary(&r, out));
    out->vectors = ifm_weights_count(weights, n).vectors;
    return IFM_OK;
}
