/* The key `model` of a workload: its shape goes into the other keys, as a preset's values do. A lock spells all of them
 * out; there the key is a name and nothing is looked up, so that a folder says the same without the model's file. */
#include "config/internal.h"
#include "config/model.h"

#include <string.h>

/* The last one follows from the one before it, and locks of earlier versions lack it. */
enum { BYTES = 4, BITS = 5, FILLED = 6 };

/* What a model says, by the last part of the key. A workload may lack some. */
struct filling {
    struct ifm_config_slot *slots[FILLED];
    uint64_t values[FILLED];
};
static const char *const parts[FILLED] = {"q_heads",      "kv_heads",     "head_dim",
                                          "model_layers", "weight_bytes", "weight_bits"};

static struct filling filling_of(const struct ifm_config *config, const struct ifm_config_slot *model)
{
    struct filling filling = {{NULL}, {0}};
    for (size_t i = 0; i < FILLED; i++)
        filling.slots[i] =
            ifm_config_find(config, ifm_arena_printf(config->arena, "%s.%s", model->section->name, parts[i]));
    return filling;
}

/* The shape is spelled out beside the name. A lock leaves out what has its default, as the layers of a model of which
 * only the shape of one is taken; its name says that there is nothing to look up. */
static bool is_complete(const struct filling *filling, const char *name)
{
    const bool of_lock = strncmp(name, IFM_MODEL_OF_FILE, strlen(IFM_MODEL_OF_FILE)) == 0;
    for (size_t i = 0; i < BITS; i++)
        if (filling->slots[i] != NULL && filling->slots[i]->rank < IFM_RANK_FILE &&
            !(of_lock && (filling->slots[i]->row->flags & IFM_LATER) != 0))
            return false;
    return true;
}

/* Something of the shape was set by what outranks the name. */
static bool is_overridden(const struct filling *filling, const struct ifm_config_slot *model)
{
    for (size_t i = 0; i < BITS; i++)
        if (filling->slots[i] != NULL && filling->slots[i]->rank > model->rank)
            return true;
    return false;
}

static void rename_to(const struct ifm_config *config, struct ifm_config_slot *model, const char *name, bool changed)
{
    static const char mark[] = " (changed)";
    const size_t length = strlen(name), own = sizeof mark - 1;
    const char **texts = IFM_ARENA_ARRAY(config->arena, const char *, 1);
    const bool marked = length >= own && strcmp(name + length - own, mark) == 0;
    texts[0] = changed && !marked ? ifm_arena_printf(config->arena, "%s%s", name, mark) : name;
    model->texts = texts;
}

/* Sets what nobody has set, of the model that was given as `text`. `changed`: somebody has set something else than the
 * model has. */
static enum ifm_status fill_in(struct ifm_config *config, struct filling *filling, const char *text, bool *changed,
                               struct ifm_error *error)
{
    const char *where = ifm_arena_printf(config->arena, IFM_WHERE_MODEL "%s", text);
    *changed = false;
    if (filling->slots[BYTES] != NULL && filling->slots[BYTES]->rank > IFM_RANK_PRESET)
        filling->values[BITS] = 0; /* somebody's own bytes are of a format that nobody named */
    for (size_t i = 0; i < FILLED; i++) {
        struct ifm_config_slot *slot = filling->slots[i];
        if (slot == NULL)
            continue;
        const struct ifm_raw value = {ifm_arena_printf(config->arena, "%llu", (unsigned long long)filling->values[i]),
                                      where};
        IFM_TRY(ifm_slot_set(config, slot, IFM_RANK_PRESET, &value, 1, error));
        const bool weights = i == BYTES || i == BITS; /* another quantization is the same model */
        *changed |= !weights && (slot->n != 1 || strcmp(slot->texts[0], value.text) != 0);
    }
    return IFM_OK;
}

static enum ifm_status apply(struct ifm_config *config, struct ifm_config_slot *slot, struct ifm_error *error)
{
    struct filling filling = filling_of(config, slot);
    struct ifm_model model;
    bool changed;
    if (is_complete(&filling, slot->texts[0])) {
        rename_to(config, slot, slot->texts[0], is_overridden(&filling, slot));
        return IFM_OK;
    }
    IFM_TRY(ifm_model_find(slot->texts[0], slot->where, config->arena, &model, error));
    const uint64_t values[FILLED] = {model.q_heads, model.kv_heads,     model.head_dim,
                                     model.layers,  model.weight_bytes, model.weight_bits};
    memcpy(filling.values, values, sizeof values);
    IFM_TRY(fill_in(config, &filling, slot->texts[0], &changed, error));
    rename_to(config, slot, model.name, changed);
    return IFM_OK;
}

enum ifm_status ifm_config_models(struct ifm_config *config, struct ifm_error *error)
{
    for (size_t i = 0; i < config->n_slots; i++) {
        struct ifm_config_slot *slot = &config->slots[i];
        const char *dot = strrchr(slot->row->path, '.');
        if (!slot->common && dot != NULL && strcmp(dot, ".model") == 0 && slot->n == 1 && slot->texts[0][0] != '\0')
            IFM_TRY(apply(config, slot, error));
    }
    return IFM_OK;
}
