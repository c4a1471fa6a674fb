/* config.json of a model into its shape. Keys are those of Hugging Face; GPT-2 has older ones. */
#include "config/model.h"

#include "base/file.h"
#include "base/json.h"
#include "base/param.h"
#include "model/embedded.h"
#include "transformer/sizes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 1 << 20, MODELS_MOST = 64 };

static const char TAKES[] = "--model takes the config.json of a Hugging Face model, or a known name";
static const char INSTEAD[] = "give the shape itself: --q-heads, --kv-heads, --head-dim";

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
static enum ifm_status weigh(const struct ifm_sizes *in, uint64_t hidden, struct ifm_model *model)
{
    uint64_t inner, vocabulary, active;
    IFM_TRY(
        ifm_sizes_read(in, (const char *const[3]){"moe_intermediate_size", "intermediate_size", "n_inner"}, &inner));
    IFM_TRY(ifm_sizes_read(in, (const char *const[3]){"vocab_size"}, &vocabulary));
    IFM_TRY(ifm_sizes_read(in, (const char *const[3]){"num_experts_per_tok"}, &active));
    inner = inner == 0 ? 4 * hidden : inner;
    active = active == 0 ? 1 : active;
    const double attention = (double)hidden * (double)(2 * (model->q_heads + model->kv_heads) * model->head_dim);
    const double forward = (double)(matrices(in->object) * active) * (double)hidden * (double)inner;
    const double weights = (double)model->layers * (attention + forward) + (double)vocabulary * (double)hidden;
    model->weight_bits = weight_bits(in->object);
    const double bytes = weights * (double)model->weight_bits / 8;
    if (bytes >= 0x1p53)
        return ifm_fail(in->error, IFM_USAGE, in->where, INSTEAD,
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

static enum ifm_status read_shape(const struct ifm_sizes *in, struct ifm_model *model)
{
    struct ifm_attention_sizes sizes;
    if (json_object_get(in->object, "kv_lora_rank") != NULL)
        return ifm_fail(in->error, IFM_USAGE, in->where, "take a model with grouped-query attention",
                        "the model has latent attention (kv_lora_rank), which is not what is measured here");
    IFM_TRY(ifm_sizes_attention(in, &sizes));
    model->layers = sizes.layers;
    model->q_heads = sizes.q_heads;
    model->kv_heads = sizes.kv_heads;
    model->head_dim = sizes.head_dim;
    IFM_TRY(weigh(in, sizes.hidden, model));
    if (!attends_to_all(in->object)) /* the shape of a layer alone */
        model->layers = model->weight_bytes = model->weight_bits = 0;
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

static enum ifm_status parse(const char *data, size_t size, const char *where, json_t **out, struct ifm_error *error)
{
    if (ifm_json_parse(data, size, where, out, error) == IFM_OK)
        return IFM_OK;
    if (error != NULL) {
        error->code = IFM_USAGE;
        if (error->hint[0] == '\0')
            ifm_error_hint(error, "%s", TAKES);
    }
    return IFM_USAGE;
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

enum ifm_status ifm_model_read(const char *text, const char *where, struct ifm_arena *arena, json_t **out,
                               bool *of_file, struct ifm_error *error)
{
    const size_t length = strlen(text);
    *out = NULL;
    *of_file = false;
    for (const struct ifm_embedded_file *at = ifm_embedded_models; at->name != NULL; at++)
        if (strcmp(at->name, ifm_arena_printf(arena, "%s.json", text)) == 0)
            return parse(at->data, at->size, at->name, out, error);
    if (length <= 5 || strcmp(text + length - 5, ".json") != 0)
        return unknown(text, where, arena, error);
    char *data;
    size_t size;
    *of_file = true;
    IFM_TRY(ifm_file_read(text, BYTES_MAX, &data, &size, error));
    enum ifm_status status = parse(data, size, text, out, error);
    free(data);
    return status;
}

enum ifm_status ifm_model_find(const char *text, const char *where, struct ifm_arena *arena, struct ifm_model *out,
                               struct ifm_error *error)
{
    json_t *root;
    bool of_file;
    *out = (struct ifm_model){0};
    IFM_TRY(ifm_model_read(text, where, arena, &root, &of_file, error));
    const struct ifm_sizes in = {ifm_sizes_object(root), text, INSTEAD, TAKES, error};
    const enum ifm_status status = read_shape(&in, out);
    const char *type = json_string_value(json_object_get(in.object, "model_type"));
    type = type == NULL ? "a model" : type;
    out->name = of_file ? ifm_arena_printf(arena, IFM_MODEL_OF_FILE "%.*s", name_size(type), type)
                        : ifm_arena_strdup(arena, text);
    json_decref(root);
    return status;
}
