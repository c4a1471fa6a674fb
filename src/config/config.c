/* The configuration under construction: slots, lookup, and ifm_slot_set, through which every value enters. */
#include "config/internal.h"

#include "base/private.h"
#include <stdio.h>
#include <string.h>

static const struct ifm_section *const common[] = {&ifm_section_general, &ifm_section_device, &ifm_section_measure};

bool ifm_config_is_common(const struct ifm_section *section)
{
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (section == common[i])
            return true;
    return false;
}

static void add_section(struct ifm_config *config, const struct ifm_section *section, size_t *capacity)
{
    for (size_t i = 0; i < section->n; i++) {
        IFM_ARENA_GROW(config->arena, config->slots, config->n_slots, *capacity);
        config->slots[config->n_slots++] = (struct ifm_config_slot){
            .section = section, .row = &section->rows[i], .common = ifm_config_is_common(section)};
    }
}

struct ifm_config *ifm_config_create(const struct ifm_section *const *workload_sections)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_config *config = IFM_ARENA_NEW(arena, struct ifm_config);
    size_t capacity = 0;
    config->arena = arena;
    config->workloads = workload_sections;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        add_section(config, common[i], &capacity);
    for (size_t i = 0; workload_sections[i] != NULL; i++)
        add_section(config, workload_sections[i], &capacity);
    return config;
}

void ifm_config_destroy(struct ifm_config *config)
{
    if (config == NULL)
        return;
    json_decref(config->lock);
    ifm_arena_destroy(config->arena);
}

enum ifm_status ifm_config_open(const struct ifm_config *config, const char *where, struct ifm_error *error)
{
    if (!config->resolved)
        return IFM_OK;
    return ifm_fail(error, IFM_INTERNAL, where, "", "the configuration is resolved; it cannot change any more");
}

struct ifm_config_slot *ifm_config_find(const struct ifm_config *config, const char *path)
{
    for (size_t i = 0; i < config->n_slots; i++)
        if (strcmp(config->slots[i].row->path, path) == 0)
            return &config->slots[i];
    return NULL;
}

bool ifm_config_is_section(const struct ifm_config *config, const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < config->n_slots; i++)
        if (strncmp(config->slots[i].row->path, path, length) == 0 && config->slots[i].row->path[length] == '.')
            return true;
    return false;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot == NULL ? path : dot + 1;
}

/* Keys by the names of the specification and of other tools; of several rows for one, the first that the section has.
 */
static const char *path_elsewhere(const struct ifm_config *config, const char *path)
{
    static const char *const names[][2] = {
        {"seq", "kv_len"},         {"seq", "seq_len"},       {"seq_len", "kv_len"},        {"context_length", "kv_len"},
        {"heads", "q_heads"},      {"num_heads", "q_heads"}, {"num_kv_heads", "kv_heads"}, {"dim", "head_dim"},
        {"head_size", "head_dim"}, {"batch_size", "batch"},  {"reps", "repeats"},          {"inner_loops", "inner"},
    };
    const int section = (int)(last_part(path) - path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(last_part(path), names[i][0]) != 0)
            continue;
        const char *ours = ifm_arena_printf(config->arena, "%.*s%s", section, path, names[i][1]);
        if (ifm_config_find(config, ours) != NULL)
            return ours;
    }
    return NULL;
}

/* The known key that was most likely meant: its whole path is near, or its last part is. */
static const char *nearest_path(const struct ifm_config *config, const char *path)
{
    size_t n = config->n_slots + 2;
    const char **words = IFM_ARENA_ARRAY(config->arena, const char *, n);
    words[0] = "arms";
    words[1] = "gates";
    for (size_t i = 0; i < config->n_slots; i++)
        words[2 + i] = config->slots[i].row->path;
    const char *whole = path_elsewhere(config, path);
    whole = whole != NULL ? whole : ifm_nearest(path, words, n);
    if (whole != NULL)
        return whole;
    const char **parts = IFM_ARENA_ARRAY(config->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        parts[i] = last_part(words[i]);
    const char *part = ifm_nearest(last_part(path), parts, n);
    for (size_t i = 0; part != NULL && i < n; i++)
        if (parts[i] == part)
            return words[i];
    return NULL;
}

enum ifm_status ifm_config_unknown_key(const struct ifm_config *config, const char *path, const char *where,
                                       struct ifm_error *error)
{
    char shown[72];
    ifm_fail(error, IFM_USAGE, where, "`inferometer run --help` lists the keys", "unknown key '%s'",
             ifm_param_shown(path, shown));
    return ifm_error_nearest(error, nearest_path(config, path));
}

enum ifm_status ifm_config_canonical(const struct ifm_config *config, const struct ifm_param *row, struct ifm_raw value,
                                     const char **out, struct ifm_error *error)
{
    union {
        uint64_t u64;
        double f64;
        bool truth;
        const char *text;
        int choice;
        struct ifm_list list;
    } field;
    IFM_TRY(ifm_param_parse(row, value.text, value.where, config->arena, &field, error));
    *out = ifm_param_print(row, &field, config->arena);
    if (!ifm_param_is_open(row, *out))
        *out = ifm_private_keep(*out, config->arena); /* from here on only the workload sees the text */
    return IFM_OK;
}

/* The items of a list row, checked one by one so that each error has its place, then joined. */
static enum ifm_status set_list(struct ifm_config *config, struct ifm_config_slot *slot, const struct ifm_raw *values,
                                size_t n, const char **out, struct ifm_error *error)
{
    const char **items = IFM_ARENA_ARRAY(config->arena, const char *, n + 1), *canonical;
    for (size_t i = 0; i < n; i++) {
        items[i] = values[i].text;
        if (n == 1)
            break;
        IFM_TRY(ifm_config_canonical(config, slot->row, values[i], &canonical, error));
        if (strchr(items[i], ',') != NULL)
            return ifm_fail(error, IFM_USAGE, values[i].where, "", "%s: an item may not hold a comma", slot->row->path);
    }
    const char *text = ifm_list_join((struct ifm_list){items, n}, ",", config->arena);
    const char *where = n > 0 ? values[0].where : slot->row->path;
    return ifm_config_canonical(config, slot->row, (struct ifm_raw){text, where}, out, error);
}

/* The values of an axis: each valid, all different. */
static enum ifm_status set_axis(struct ifm_config *config, struct ifm_config_slot *slot, const struct ifm_raw *values,
                                size_t n, const char **texts, struct ifm_error *error)
{
    char shown[72];
    if (n > IFM_CONFIG_AXIS_MAX)
        return ifm_fail(error, IFM_USAGE, values[0].where, "", "%s takes %zu values; an axis has at most %d",
                        slot->row->path, n, IFM_CONFIG_AXIS_MAX);
    for (size_t i = 0; i < n; i++) {
        IFM_TRY(ifm_config_canonical(config, slot->row, values[i], &texts[i], error));
        for (size_t j = 0; j < i; j++)
            if (strcmp(texts[i], texts[j]) == 0)
                return ifm_fail(error, IFM_USAGE, values[i].where, "give each value once",
                                "%s takes the value %s twice", slot->row->path, ifm_param_shown(texts[i], shown));
    }
    return IFM_OK;
}

/* "4,096" of an axis: it cannot be two values, or they are not allowed. Then one number was meant. */
static enum ifm_status set_split(struct ifm_config *config, struct ifm_config_slot *slot, struct ifm_raw whole,
                                 const struct ifm_raw *values, size_t n, const char **texts, struct ifm_error *error)
{
    const char *one = ifm_param_ungrouped(whole.text, config->arena);
    char shown[72];
    enum ifm_status status = set_axis(config, slot, values, n, texts, error);
    bool zero = false;
    for (size_t i = 0; i < n; i++)
        zero |= values[i].text[0] == '0' && values[i].text[1] != '\0';
    if (one == NULL || (status == IFM_OK && !zero))
        return status;
    const struct ifm_raw meant = {one, whole.where};
    const char *ungrouped, *hint = "a comma separates the values of a sweep";
    if (ifm_config_canonical(config, slot->row, meant, &ungrouped, NULL) == IFM_OK)
        hint = ifm_arena_printf(config->arena, "did you mean %s? %s", one, hint);
    return ifm_fail(error, IFM_USAGE, whole.where, hint,
                    "%s: %s is a list of %zu values, and not all of them are allowed: %s", slot->row->path,
                    ifm_param_shown(whole.text, shown), n, ifm_param_range(slot->row, config->arena));
}

enum ifm_status ifm_slot_set(struct ifm_config *config, struct ifm_config_slot *slot, enum ifm_rank rank,
                             const struct ifm_raw *values, size_t n, struct ifm_error *error)
{
    const struct ifm_param *row = slot->row;
    const char *where = n > 0 ? values[0].where : row->path;
    struct ifm_raw *split = NULL, whole;
    if (n == 1) {
        whole = (struct ifm_raw){ifm_param_meant(slot->section, row, values[0].text), values[0].where};
        values = &whole;
    }
    if ((row->flags & IFM_SWEEP) != 0 && n == 1 && strchr(values[0].text, ',') != NULL) {
        struct ifm_list items = ifm_param_split(values[0].text, config->arena);
        split = IFM_ARENA_ARRAY(config->arena, struct ifm_raw, items.n);
        for (size_t i = 0; i < items.n; i++)
            split[i] = (struct ifm_raw){items.items[i], where};
        values = split;
        n = items.n;
    }
    const char **texts = IFM_ARENA_ARRAY(config->arena, const char *, n == 0 ? 1 : n);
    if ((row->flags & IFM_LIST) != 0) {
        IFM_TRY(set_list(config, slot, values, n, &texts[0], error));
        n = 1;
    } else if (n != 1 && (row->flags & IFM_SWEEP) == 0) {
        return ifm_fail(error, IFM_USAGE, where, "give one value", "%s takes one value, not a list; allowed: %s",
                        row->path, ifm_param_range(row, config->arena));
    } else {
        IFM_TRY(split != NULL ? set_split(config, slot, whole, values, n, texts, error)
                              : set_axis(config, slot, values, n, texts, error));
    }
    if (rank < slot->rank)
        return IFM_OK;
    slot->rank = rank;
    slot->where = where;
    slot->texts = texts;
    slot->n = n;
    return IFM_OK;
}

void ifm_config_locate(const struct ifm_config *config, struct ifm_error *error)
{
    const struct ifm_config_slot *slot = ifm_config_find(config, error->where);
    if (slot == NULL || slot->n == 0 ||
        (slot->rank < IFM_RANK_FILE && strncmp(slot->where, IFM_WHERE_MODEL, strlen(IFM_WHERE_MODEL)) != 0))
        return;
    for (size_t i = 0; i < config->n_arms; i++) /* an arm may have set it instead */
        for (size_t j = 0; j < config->arms[i].n_set; j++)
            if (strcmp(config->arms[i].set[j].path, slot->row->path) == 0)
                return;
    snprintf(error->where, sizeof error->where, "%s", slot->where);
}

const struct ifm_study *ifm_config_study(const struct ifm_config *config)
{
    return &config->study;
}

const struct ifm_device_config *ifm_config_device(const struct ifm_config *config)
{
    return &config->device;
}

json_t *ifm_config_lock_json(const struct ifm_config *config)
{
    return json_deep_copy(config->lock);
}
