/* config.json of a model into its shape. Keys are those of Hugging Face; GPT-2 has older ones. */
#include "config/model.h"

#include "base/file.h"
#include "base/json.h"
#include "base/param.h"
#include "model/embedded.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, MODELS_MOST = 64, MOST = 1 << 24 /* of any size in a shape */ };

static const char TAKES[] = "--model takes the config.json of a Hugging Face model, or a known name";

/* What a message says of where the numbers stand. */
struct model_reading {
    const json_t *object;
    const char *where;
    struct ifm_error *error;
};

/* The first of the keys that is there; a size of a model is a whole number. 0 = none of them. */
static enum ifm_status size_of(const struct model_reading *in, const char *const keys[3], uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < 3 && keys[i] != NULL; i++) {
        const json_t *value = json_object_get(in->object, keys[i]);
        if (value == NULL || json_is_null(value))
            continue;
        if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > MOST)
            return ifm_fail(in->error, IFM_USAGE, in->where, "give the shape itself: --q-heads, --kv-heads, --head-dim",
                            "\"%s\" of the model is no whole number from 1 to %d", keys[i], MOST);
        *out = (uint64_t)json_integer_value(value);
        return IFM_OK;
    }
    return IFM_OK;
}

static enum ifm_status needed(const struct model_reading *in, const char *const keys[3], uint64_t *out)
{
    IFM_TRY(size_of(in, keys, out));
    return *out > 0
               ? IFM_OK
               : ifm_fail(in->error, IFM_USAGE, in->where, TAKES, "no config of a model: it has no \"%s\"", keys[0]);
}

/* Bits of a weight: of the quantization, or of the type that the weights are stored in. Of a quantization that does not
 * say, the fewest that are in use: what follows from it is a lower bound. */
static uint64_t weight_bits(const json_t *object)
{
    const json_t *quantization = json_object_get(object, "quantization_config");
    const json_t *bits = json_object_get(quantization, "bits");
    const char *type = json_string_value(json_object_get(object, "torch_dtype"));
    const char *method = json_string_value(json_object_get(quantization, "quant_method"));
    if (json_integer_value(bits) >= 1 && json_integer_value(bits) <= 32)
        return (uint64_t)json_integer_value(bits);
    if (json_is_object(quantization))
        return (method != NULL && strstr(method, "fp8") != NULL) ||
                       json_is_true(json_object_get(quantization, "load_in_8bit"))
                   ? 8
                   : 4;
    type = type == NULL ? json_string_value(json_object_get(object, "dtype")) : type;
    if (type == NULL)
        return 16;
    return strstr(type, "32") != NULL ? 32 : strstr(type, "float8") != NULL || strstr(type, "int8") != NULL ? 8 : 16;
}

/* Gated feed-forward layers have a third matrix; those that are not known to have one are counted without it. */
static uint64_t matrices(const json_t *object)
{
    const char *act = json_string_value(json_object_get(object, "hidden_act"));
    return act != NULL && (strcmp(act, "silu") == 0 || strcmp(act, "swiglu") == 0) ? 3 : 2;
}

/* Each factor is below 2^24, and what a token reads below 2^63: sums of three factors and a small number. */
static enum ifm_status weigh(const struct model_reading *in, uint64_t hidden, struct ifm_model *model)
{
    uint64_t inner, vocabulary, active;
    IFM_TRY(size_of(in, (const char *const[3]){"moe_intermediate_size", "intermediate_size", "n_inner"}, &inner));
    IFM_TRY(size_of(in, (const char *const[3]){"vocab_size"}, &vocabulary));
    IFM_TRY(size_of(in, (const char *const[3]){"num_experts_per_tok"}, &active));
    inner = inner == 0 ? 4 * hidden : inner;
    active = active == 0 ? 1 : active;
    const double attention = (double)hidden * (double)(2 * (model->q_heads + model->kv_heads) * model->head_dim);
    const double forward = (double)(matrices(in->object) * active) * (double)hidden * (double)inner;
    const double weights = (double)model->layers * (attention + forward) + (double)vocabulary * (double)hidden;
    const double bytes = weights * (double)weight_bits(in->object) / 8;
    if (bytes >= 0x1p53)
        return ifm_fail(in->error, IFM_USAGE, in->where, "give the shape itself: --q-heads, --kv-heads, --head-dim",
                        "the weights of this model would take more than 9 PB");
    model->weight_bytes = (uint64_t)bytes;
    return IFM_OK;
}

/* Do all layers attend to the whole cache? Where some have a window, or no attention, layers times the cache of one is
 * no bound of anything. */
static bool attends_to_all(const json_t *object)
{
    const json_t *types = json_object_get(object, "layer_types"), *type;
    size_t i;
    bool all = true;
    json_array_foreach(types, i, type) all &=
        json_is_string(type) && strcmp(json_string_value(type), "full_attention") == 0;
    const bool windows = json_is_number(json_object_get(object, "sliding_window")) &&
                         !json_is_false(json_object_get(object, "use_sliding_window"));
    return all && (types != NULL || !windows) && json_object_get(object, "full_attention_interval") == NULL;
}

static enum ifm_status read_shape(const struct model_reading *in, struct ifm_model *model)
{
    uint64_t hidden;
    if (json_object_get(in->object, "kv_lora_rank") != NULL)
        return ifm_fail(in->error, IFM_USAGE, in->where, "take a model with grouped-query attention",
                        "the model has latent attention (kv_lora_rank), which is not what is measured here");
    IFM_TRY(needed(in, (const char *const[3]){"num_hidden_layers", "n_layer"}, &model->layers));
    IFM_TRY(needed(in, (const char *const[3]){"num_attention_heads", "n_head"}, &model->q_heads));
    IFM_TRY(needed(in, (const char *const[3]){"hidden_size", "n_embd"}, &hidden));
    IFM_TRY(size_of(in, (const char *const[3]){"num_key_value_heads", "num_kv_heads"}, &model->kv_heads));
    IFM_TRY(size_of(in, (const char *const[3]){"head_dim"}, &model->head_dim));
    /* Each query head has its own, unless all share one; Falcon names the number for its newer models alone. */
    if (json_is_true(json_object_get(in->object, "multi_query")) &&
        !json_is_true(json_object_get(in->object, "new_decoder_architecture")))
        model->kv_heads = 1;
    else if (model->kv_heads == 0)
        model->kv_heads = model->q_heads;
    if (model->head_dim == 0)
        model->head_dim = hidden / model->q_heads;
    if (model->head_dim == 0)
        return ifm_fail(in->error, IFM_USAGE, in->where, "give the shape itself: --q-heads, --kv-heads, --head-dim",
                        "the hidden size of the model is %llu, less than one for each of its %llu heads",
                        (unsigned long long)hidden, (unsigned long long)model->q_heads);
    IFM_TRY(weigh(in, hidden, model));
    if (!attends_to_all(in->object)) /* the shape of a layer alone */
        model->layers = model->weight_bytes = 0;
    return IFM_OK;
}

/* As much of a text as a name holds, in whole letters. */
static int name_size(const char *text)
{
    enum { MOST_OF_NAME = 40 };
    size_t size = strlen(text);
    if (size <= MOST_OF_NAME)
        return (int)size;
    for (size = MOST_OF_NAME; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80;)
        size--;
    return (int)size;
}

/* A model of text and images has its text part inside. */
static enum ifm_status read_model(const char *data, size_t size, const char *where, struct ifm_arena *arena,
                                  struct ifm_model *model, struct ifm_error *error)
{
    json_t *root;
    if (ifm_json_parse(data, size, where, &root, error) != IFM_OK) {
        if (error != NULL) {
            error->code = IFM_USAGE;
            if (error->hint[0] == '\0')
                ifm_error_hint(error, "%s", TAKES);
        }
        return IFM_USAGE;
    }
    const json_t *inside = json_object_get(root, "text_config");
    const struct model_reading in = {json_is_object(inside) ? inside : root, where, error};
    enum ifm_status status = read_shape(&in, model);
    const char *type = json_string_value(json_object_get(in.object, "model_type"));
    type = type == NULL ? "a model" : type;
    model->name = ifm_arena_printf(arena, IFM_MODEL_OF_FILE "%.*s", name_size(type), type);
    json_decref(root);
    return status;
}

static enum ifm_status unknown(const char *text, const char *where, struct ifm_arena *arena, struct ifm_error *error)
{
    const char *names[MODELS_MOST];
    char shown[72];
    size_t n = 0;
    for (; ifm_embedded_models[n].name != NULL && n < MODELS_MOST; n++)
        names[n] =
            ifm_arena_printf(arena, "%.*s", (int)strlen(ifm_embedded_models[n].name) - 5, ifm_embedded_models[n].name);
    (void)!ifm_fail(error, IFM_USAGE, where, "any other model: --model PATH/config.json, as Hugging Face has it",
                    "unknown model '%s'; known: %s", ifm_param_shown(text, shown),
                    ifm_list_join((struct ifm_list){names, n}, ", ", arena));
    const char *slash = strrchr(text, '/'); /* "meta-llama/Meta-Llama-3-8B" of a hub */
    char *bare = ifm_arena_strdup(arena, slash == NULL ? text : slash + 1);
    for (char *at = bare; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    return ifm_error_nearest(error, ifm_nearest(bare, names, n));
}

enum ifm_status ifm_model_find(const char *text, const char *where, struct ifm_arena *arena, struct ifm_model *out,
                               struct ifm_error *error)
{
    const size_t length = strlen(text);
    *out = (struct ifm_model){0};
    for (const struct ifm_embedded_file *at = ifm_embedded_models; at->name != NULL; at++) {
        if (strcmp(at->name, ifm_arena_printf(arena, "%s.json", text)) != 0)
            continue;
        IFM_TRY(read_model(at->data, at->size, at->name, arena, out, error));
        out->name = ifm_arena_strdup(arena, text);
        return IFM_OK;
    }
    if (length <= 5 || strcmp(text + length - 5, ".json") != 0)
        return unknown(text, where, arena, error);
    char *data;
    size_t size;
    IFM_TRY(ifm_file_read(text, BYTES_MAX, &data, &size, error));
    enum ifm_status status = read_model(data, size, text, arena, out, error);
    free(data);
    return status;
}
