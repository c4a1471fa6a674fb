/* Sizes of a model in its config.json. */
#include "transformer/sizes.h"

#include <stddef.h>

const json_t *ifm_sizes_object(const json_t *root)
{
    const json_t *inside = json_object_get(root, "text_config");
    return json_is_object(inside) ? inside : root;
}

enum ifm_status ifm_sizes_read(const struct ifm_sizes *in, const char *const keys[3], uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < 3 && keys[i] != NULL; i++) {
        const json_t *value = json_object_get(in->object, keys[i]);
        if (value == NULL || json_is_null(value))
            continue;
        if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > IFM_SIZE_MOST)
            return ifm_fail(in->error, IFM_USAGE, in->where, in->instead,
                            "\"%s\" of the model is no whole number from 1 to %d", keys[i], IFM_SIZE_MOST);
        *out = (uint64_t)json_integer_value(value);
        return IFM_OK;
    }
    return IFM_OK;
}

enum ifm_status ifm_sizes_need(const struct ifm_sizes *in, const char *const keys[3], uint64_t *out)
{
    IFM_TRY(ifm_sizes_read(in, keys, out));
    return *out > 0 ? IFM_OK
                    : ifm_fail(in->error, IFM_USAGE, in->where, in->takes, "no config of a model: it has no \"%s\"",
                               keys[0]);
}

enum ifm_status ifm_sizes_attention(const struct ifm_sizes *in, struct ifm_attention_sizes *out)
{
    IFM_TRY(ifm_sizes_need(in, (const char *const[3]){"num_hidden_layers", "n_layer"}, &out->layers));
    IFM_TRY(ifm_sizes_need(in, (const char *const[3]){"num_attention_heads", "n_head"}, &out->q_heads));
    IFM_TRY(ifm_sizes_need(in, (const char *const[3]){"hidden_size", "n_embd"}, &out->hidden));
    IFM_TRY(ifm_sizes_read(in, (const char *const[3]){"num_key_value_heads", "num_kv_heads"}, &out->kv_heads));
    IFM_TRY(ifm_sizes_read(in, (const char *const[3]){"head_dim"}, &out->head_dim));
    /* Each query head has its own, unless all share one; Falcon names the number for its newer models alone. */
    if (json_is_true(json_object_get(in->object, "multi_query")) &&
        !json_is_true(json_object_get(in->object, "new_decoder_architecture")))
        out->kv_heads = 1;
    else if (out->kv_heads == 0)
        out->kv_heads = out->q_heads;
    if (out->head_dim == 0)
        out->head_dim = out->hidden / out->q_heads;
    if (out->head_dim > 0)
        return IFM_OK;
    return ifm_fail(in->error, IFM_USAGE, in->where, in->instead,
                    "the hidden size of the model is %llu, less than one for each of its %llu heads",
                    (unsigned long long)out->hidden, (unsigned long long)out->q_heads);
}
