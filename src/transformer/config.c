/* The shape of a model from its config.json. Each family is a row: what its code does and its config does not say. */
#include "transformer/sizes.h"
#include "transformer/transformer.h"

#include "base/param.h"
#include "base/text.h"
#include <string.h>

static const char INSTEAD[] = "a size of a model is a whole number above 0";
static const char TAKES[] = "give the config.json of a Hugging Face model";

struct config_family {
    const char *name;   /* model_type */
    bool encoder, tied; /* tied unless the config says otherwise */
    bool layer_norm;    /* with a bias; else the root of the mean square, without one */
    uint64_t matrices;
    bool qkv_bias, all_biases; /* always; else as the config says */
    bool head_norms;           /* of each head of queries and keys */
    const char *experts;       /* key of their number; NULL = none */
    const char *expert_inner;  /* key of their size */
};

static const struct config_family families[] = {
    {.name = "llama", .matrices = 3},
    {.name = "mistral", .matrices = 3},
    {.name = "mixtral", .matrices = 3, .experts = "num_local_experts", .expert_inner = "intermediate_size"},
    {.name = "qwen2", .matrices = 3, .qkv_bias = true},
    {.name = "qwen2_moe",
     .matrices = 3,
     .qkv_bias = true,
     .experts = "num_experts",
     .expert_inner = "moe_intermediate_size"},
    {.name = "qwen3", .matrices = 3, .head_norms = true},
    {.name = "qwen3_moe",
     .matrices = 3,
     .head_norms = true,
     .experts = "num_experts",
     .expert_inner = "moe_intermediate_size"},
    {.name = "gpt2", .matrices = 2, .tied = true, .layer_norm = true, .all_biases = true},
    {.name = "bert", .matrices = 2, .encoder = true, .tied = true, .layer_norm = true, .all_biases = true},
};
enum { FAMILIES = sizeof families / sizeof *families };

/* What is read, and of which family. */
struct config_reading {
    struct ifm_sizes in;
    const struct config_family *family;
    struct ifm_attention_sizes sizes;
    struct ifm_transformer *out;
};

#define KEYS(...) ((const char *const[3]){__VA_ARGS__})

const char *ifm_transformer_families(struct ifm_arena *arena)
{
    const char *names[FAMILIES];
    for (size_t i = 0; i < FAMILIES; i++)
        names[i] = families[i].name;
    return ifm_list_join((struct ifm_list){names, FAMILIES}, ", ", arena);
}

static bool is_set(const struct config_reading *r, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(r->in.object, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* ---- what is known of it ---- */

static enum ifm_status find_family(struct config_reading *r, struct ifm_arena *arena)
{
    const char *type = json_string_value(json_object_get(r->in.object, "model_type"));
    char shown[72];
    if (json_object_get(r->in.object, "kv_lora_rank") != NULL)
        return ifm_fail(r->in.error, IFM_USAGE, r->in.where, "take a model with grouped-query attention",
                        "the model has latent attention (kv_lora_rank), whose products are not known here");
    if (type == NULL)
        return ifm_fail(r->in.error, IFM_USAGE, r->in.where, TAKES, "no config of a model: it has no \"model_type\"");
    for (size_t i = 0; i < FAMILIES; i++)
        if (strcmp(families[i].name, type) == 0) {
            r->family = &families[i];
            return IFM_OK;
        }
    return ifm_fail(r->in.error, IFM_USAGE, r->in.where,
                    "name the folder with its safetensors, whose parameters can be counted",
                    "the products of a model of type \"%s\" are not known; known: %s", ifm_param_shown(type, shown),
                    ifm_transformer_families(arena));
}

/* "4-bit gptq"; NULL where weights are plain numbers. Numbers of 8 bits are quantized too. */
static const char *quantized(const json_t *object, struct ifm_arena *arena)
{
    const json_t *quantization = json_object_get(object, "quantization_config");
    const json_t *bits = json_object_get(quantization, "bits");
    const char *method = json_string_value(json_object_get(quantization, "quant_method"));
    char shown[72];
    if (!json_is_object(quantization))
        return NULL;
    method = method == NULL ? "quantized" : ifm_param_shown(method, shown);
    if (json_integer_value(bits) >= 1 && json_integer_value(bits) <= 32)
        return ifm_arena_printf(arena, "%d-bit %s", (int)json_integer_value(bits), method);
    return ifm_arena_strdup(arena, method);
}

/* ---- attention ---- */

static bool has_window(const struct config_reading *r)
{
    return r->out->window > 0 && is_set(r, "use_sliding_window", strncmp(r->family->name, "qwen", 4) != 0);
}

/* Layers whose attention has the window: those that a list names, else of Qwen those from a certain one on, else all.
 */
static enum ifm_status read_windows(struct config_reading *r)
{
    const json_t *types = json_object_get(r->in.object, "layer_types"), *type;
    uint64_t first = 0;
    size_t i;
    IFM_TRY(ifm_sizes_read(&r->in, KEYS("sliding_window"), &r->out->window));
    IFM_TRY(ifm_sizes_read(&r->in, KEYS("max_window_layers"), &first));
    json_array_foreach(types, i, type)
    {
        const char *word = json_string_value(type);
        if (word == NULL || (strcmp(word, "full_attention") != 0 && strcmp(word, "sliding_attention") != 0))
            return ifm_fail(r->in.error, IFM_USAGE, r->in.where, "take a model whose layers all have attention",
                            "layer %zu of the model has no attention over its tokens or the last of them", i);
        r->out->windowed += strcmp(word, "sliding_attention") == 0;
    }
    if (types != NULL && json_array_size(types) != r->out->layers)
        return ifm_fail(r->in.error, IFM_USAGE, r->in.where, TAKES, "\"layer_types\" lists %zu layers of %llu",
                        json_array_size(types), (unsigned long long)r->out->layers);
    if (types == NULL && has_window(r))
        r->out->windowed = first < r->out->layers ? r->out->layers - first : 0;
    if (r->out->windowed > 0 && r->out->window == 0)
        return ifm_fail(r->in.error, IFM_USAGE, r->in.where, TAKES, "layers have a sliding window, of no size");
    return IFM_OK;
}

static enum ifm_status read_attention(struct config_reading *r)
{
    struct ifm_transformer *out = r->out;
    IFM_TRY(ifm_sizes_attention(&r->in, &r->sizes));
    IFM_TRY(ifm_sizes_need(&r->in, KEYS("vocab_size"), &out->vocabulary));
    out->layers = r->sizes.layers;
    out->hidden = r->sizes.hidden;
    out->q_width = r->sizes.q_heads * r->sizes.head_dim;
    out->kv_width = r->sizes.kv_heads * r->sizes.head_dim;
    return r->family->encoder ? IFM_OK : read_windows(r);
}

/* ---- feed-forward ---- */

/* Layers without experts, where only some have them. */
static enum ifm_status read_moe_layers(struct config_reading *r)
{
    const json_t *dense = json_object_get(r->in.object, "mlp_only_layers"), *item;
    uint64_t step = 1;
    size_t at;
    IFM_TRY(ifm_sizes_read(&r->in, KEYS("decoder_sparse_step"), &step));
    step = step == 0 ? 1 : step;
    r->out->moe_layers = r->out->layers / step;
    json_array_foreach(dense, at, item)
    {
        const json_int_t layer = json_integer_value(item);
        if (!json_is_integer(item) || layer < 0 || (uint64_t)layer >= r->out->layers)
            return ifm_fail(r->in.error, IFM_USAGE, r->in.where, TAKES,
                            "\"mlp_only_layers\" names no layer of the model");
        r->out->moe_layers -= ((uint64_t)layer + 1) % step == 0 && r->out->moe_layers > 0;
    }
    return IFM_OK;
}

static enum ifm_status read_forward(struct config_reading *r)
{
    struct ifm_transformer *out = r->out;
    const bool old = strcmp(r->family->name, "gpt2") == 0;
    out->matrices = r->family->matrices;
    if (old)
        IFM_TRY(ifm_sizes_read(&r->in, KEYS("n_inner", "intermediate_size"), &out->inner));
    else
        IFM_TRY(ifm_sizes_need(&r->in, KEYS("intermediate_size"), &out->inner));
    out->inner = out->inner == 0 ? 4 * out->hidden : out->inner;
    if (r->family->experts == NULL)
        return IFM_OK;
    IFM_TRY(ifm_sizes_need(&r->in, KEYS(r->family->experts), &out->experts));
    IFM_TRY(ifm_sizes_need(&r->in, KEYS("num_experts_per_tok"), &out->active));
    IFM_TRY(ifm_sizes_need(&r->in, KEYS(r->family->expert_inner), &out->expert_inner));
    IFM_TRY(ifm_sizes_read(&r->in, KEYS("shared_expert_intermediate_size"), &out->shared_inner));
    if (out->active > out->experts)
        return ifm_fail(r->in.error, IFM_USAGE, r->in.where, TAKES, "a token goes through %llu of %llu experts",
                        (unsigned long long)out->active, (unsigned long long)out->experts);
    out->router = out->hidden * (out->experts + (out->shared_inner > 0 ? 1 : 0));
    return read_moe_layers(r);
}

/* ---- what is in no product, and the head ---- */

static double biases_of(const struct config_reading *r)
{
    const struct ifm_transformer *m = r->out;
    const bool attention = r->family->all_biases || is_set(r, "attention_bias", false);
    const bool forward = r->family->all_biases || is_set(r, "mlp_bias", false);
    double each = 0;
    if (attention || r->family->qkv_bias)
        each += (double)m->q_width + 2 * (double)m->kv_width;
    each += attention ? (double)m->hidden : 0;
    if (forward)
        each += (double)(m->matrices - 1) * (double)m->inner + (double)m->hidden;
    return (double)m->layers * each;
}

static double norms_of(const struct config_reading *r)
{
    const struct ifm_transformer *m = r->out;
    const double norm = (r->family->layer_norm ? 2 : 1) * (double)m->hidden;
    const double heads = r->family->head_norms ? 2 * (double)r->sizes.head_dim : 0;
    return (double)m->layers * (2 * norm + heads) + norm;
}

/* BERT's checkpoints have the head that its config names; the bare model has a pooler instead. */
static void read_encoder_head(struct config_reading *r)
{
    struct ifm_transformer *m = r->out;
    const char *class = json_string_value(json_array_get(json_object_get(r->in.object, "architectures"), 0));
    const double hidden = (double)m->hidden;
    if (class != NULL && strstr(class, "MaskedLM") != NULL) {
        m->head = m->vocabulary * m->hidden;
        m->transform = m->hidden * m->hidden;
        m->vectors += 3 * hidden + (double)m->vocabulary; /* a bias, a norm, and the bias of each word */
    } else {
        m->pooler = m->hidden * m->hidden;
        m->vectors += hidden;
    }
}

static enum ifm_status read_rest(struct config_reading *r)
{
    struct ifm_transformer *m = r->out;
    uint64_t positions = 0, types = 0;
    IFM_TRY(ifm_sizes_read(&r->in, KEYS("n_positions", "n_ctx", "max_position_embeddings"), &positions));
    IFM_TRY(ifm_sizes_read(&r->in, KEYS("type_vocab_size"), &types));
    m->vectors = norms_of(r) + biases_of(r);
    m->tied = is_set(r, "tie_word_embeddings", r->family->tied);
    if (r->family->encoder) {
        positions = positions == 0 ? 512 : positions;
        types = types == 0 ? 2 : types;
        m->vectors += (double)(positions + types) * (double)m->hidden;
        read_encoder_head(r);
        return IFM_OK;
    }
    if (r->family->layer_norm) /* GPT-2 learns its positions, of which its config may say nothing */
        m->vectors += (double)(positions == 0 ? 1024 : positions) * (double)m->hidden;
    m->head = m->vocabulary * m->hidden;
    return IFM_OK;
}

enum ifm_status ifm_transformer_of_config(const json_t *root, const char *where, struct ifm_arena *arena,
                                          struct ifm_transformer *out, struct ifm_error *error)
{
    struct config_reading r = {.in = {ifm_sizes_object(root), where, INSTEAD, TAKES, error}, .out = out};
    *out = (struct ifm_transformer){.text_part = r.in.object != root};
    IFM_TRY(find_family(&r, arena));
    out->family = r.family->name;
    out->encoder = r.family->encoder;
    out->quantized = quantized(r.in.object, arena);
    IFM_TRY(read_attention(&r));
    IFM_TRY(read_forward(&r));
    IFM_TRY(read_rest(&r));
    if (ifm_transformer_parameters(out) < 0x1p53)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, where, INSTEAD, "the model would have more than 9e15 parameters");
}
