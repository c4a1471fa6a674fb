/* config.lock.json: every parameter spelled out, and a hash that detects edits.
 *
 * A lock is read through the same tables as a YAML file, but strictly: after it is resolved it must produce the lock
 * that was read. */
#include "config/internal.h"

#include <string.h>

/* The scalar's text; NULL for null, arrays and objects. */
static const char *scalar_text(const json_t *json, struct ifm_arena *arena)
{
    char number[32];
    switch (json_typeof(json)) {
    case JSON_STRING:
        return ifm_arena_strdup(arena, json_string_value(json));
    case JSON_INTEGER:
        return ifm_arena_printf(arena, "%lld", (long long)json_integer_value(json));
    case JSON_REAL:
        return ifm_arena_strdup(arena, ifm_format_real(json_real_value(json), number));
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return NULL;
    }
}

/* JSON as a tree of nodes; NULL when it holds null or is nested too deep. */
static struct ifm_node *json_to_node(const json_t *json, const char *key, unsigned depth, struct ifm_arena *arena)
{
    if (depth > IFM_CONFIG_DEPTH_MAX || json_is_null(json))
        return NULL;
    if (!json_is_object(json) && !json_is_array(json))
        return ifm_node_new(arena, IFM_NODE_SCALAR, key, scalar_text(json, arena));
    struct ifm_node *node = ifm_node_new(arena, json_is_object(json) ? IFM_NODE_MAPPING : IFM_NODE_SEQUENCE, key, NULL);
    const char *name;
    json_t *member;
    size_t index;
    json_object_foreach((json_t *)json, name, member)
    {
        struct ifm_node *child = json_to_node(member, name, depth + 1, arena);
        if (child == NULL)
            return NULL;
        ifm_node_add(node, child);
    }
    json_array_foreach((json_t *)json, index, member)
    {
        struct ifm_node *child = json_to_node(member, NULL, depth + 1, arena);
        if (child == NULL)
            return NULL;
        ifm_node_add(node, child);
    }
    return node;
}

static const char edited_hint[] = "take the lock of a run as it is, and change settings with --override";

/* The lock has the members that we write, each of its type. */
static enum ifm_status check_members(const json_t *lock, const char *where, struct ifm_error *error)
{
    static const struct {
        const char *name;
        json_type type;
        const char *noun;
    } members[] = {{"schema", JSON_INTEGER, "an integer"},
                   {"parameters", JSON_OBJECT, "an object"},
                   {"arms", JSON_ARRAY, "an array"},
                   {"gates", JSON_ARRAY, "an array"},
                   {"hash", JSON_STRING, "a string"}};
    enum { N = sizeof members / sizeof *members };
    const json_t *plugins = json_object_get(lock, "plugins");
    char shown[72];
    const char *key;
    json_t *value;
    if (!json_is_object(lock))
        return ifm_fail(error, IFM_USAGE, where, edited_hint, "not a lock file: it holds no JSON object");
    for (size_t i = 0; i < N; i++) {
        value = json_object_get(lock, members[i].name);
        if (value == NULL)
            return ifm_fail(error, IFM_USAGE, where, edited_hint, "edited lock: \"%s\" is missing", members[i].name);
        if (json_typeof(value) != members[i].type)
            return ifm_fail(error, IFM_USAGE, where, edited_hint, "edited lock: \"%s\" is not %s", members[i].name,
                            members[i].noun);
    }
    json_object_foreach((json_t *)lock, key, value)
    {
        size_t i = 0;
        while (i < N && strcmp(members[i].name, key) != 0)
            i++;
        if (i == N && value != plugins)
            return ifm_fail(error, IFM_USAGE, where, edited_hint, "edited lock: unknown key '%s'",
                            ifm_param_shown(key, shown));
    }
    if (plugins != NULL && !json_is_array(plugins))
        return ifm_fail(error, IFM_USAGE, where, edited_hint, "edited lock: \"plugins\" is not an array");
    if (ifm_json_check_schema(lock, IFM_LOCK_SCHEMA, where,
                              "use the version that made it, or write its settings into a YAML study", error) != IFM_OK)
        return error->code = IFM_USAGE;
    return IFM_OK;
}

static enum ifm_status check_hash(const json_t *lock, const char *where, struct ifm_error *error)
{
    char shown[72];
    json_t *content = json_pack("{s:O, s:O, s:O}", "parameters", json_object_get(lock, "parameters"), "arms",
                                json_object_get(lock, "arms"), "gates", json_object_get(lock, "gates"));
    struct ifm_sha256 hash = ifm_config_hash(content);
    json_decref(content);
    const char *stated = json_string_value(json_object_get(lock, "hash"));
    if (strcmp(stated, hash.hex) == 0)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, where, edited_hint, "edited lock: its hash is '%s', its contents have %s",
                    ifm_param_shown(stated, shown), hash.hex);
}

/* Name the first parameter in which the lock and its own resolution differ. */
static enum ifm_status not_canonical(const json_t *lock, const struct ifm_config *resolved, const char *where,
                                     struct ifm_error *error)
{
    const json_t *ours = json_object_get(resolved->lock, "parameters");
    const json_t *theirs = json_object_get(lock, "parameters");
    static const char hint[] = "use the version of inferometer that wrote it, or write the settings into a YAML file";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)ours, key, value)
    {
        const json_t *other = json_object_get(theirs, key);
        if (other == NULL)
            return ifm_fail(error, IFM_USAGE, where, hint, "the lock does not spell out %s", key);
        if (!json_equal(value, other))
            return ifm_fail(error, IFM_USAGE, where, hint, "the lock's %s is not in canonical form", key);
    }
    return ifm_fail(error, IFM_USAGE, where, hint, "the lock is not in canonical form");
}

/* Resolve the lock alone: the result must be the lock itself. */
static enum ifm_status check_round_trip(const struct ifm_config *config, const struct ifm_node *root,
                                        const json_t *lock, const char *where, struct ifm_error *error)
{
    struct ifm_config *alone = ifm_config_create(config->workloads);
    enum ifm_status status = ifm_config_bind(alone, root, where, true, error);
    if (status == IFM_OK)
        status = ifm_config_resolve(alone, error);
    if (status == IFM_OK && strcmp(alone->study.config_hash, json_string_value(json_object_get(lock, "hash"))) != 0)
        status = not_canonical(lock, alone, where, error);
    ifm_config_destroy(alone);
    return status;
}

enum ifm_status ifm_config_lock_intact(const json_t *lock, const char *where, struct ifm_error *error)
{
    IFM_TRY(check_members(lock, where, error));
    return check_hash(lock, where, error);
}

/* Plugins were loaded before the configuration was read, so the only possible error here is a missing one. Another
 * build of the plugin is accepted: the new lock names it. */
static enum ifm_status check_plugins(const struct ifm_config *config, const json_t *plugins, const char *where,
                                     struct ifm_error *error)
{
    for (size_t i = 0; i < json_array_size(plugins); i++) {
        char shown[72], file[72];
        const char *name = json_string_value(json_object_get(json_array_get(plugins, i), "name"));
        const char *base = json_string_value(json_object_get(json_array_get(plugins, i), "file"));
        if (name == NULL || base == NULL)
            return ifm_fail(error, IFM_USAGE, where, edited_hint, "edited lock: plugins[%zu] has no name or no file",
                            i);
        size_t w = 0;
        while (config->workloads[w] != NULL && strcmp(config->workloads[w]->name, name) != 0)
            w++;
        if (config->workloads[w] == NULL)
            return ifm_fail(error, IFM_USAGE, where, "load it: --plugin PATH",
                            "the workload '%s' is of the plugin %s, which is not loaded", ifm_param_shown(name, shown),
                            ifm_param_shown(base, file));
    }
    return IFM_OK;
}

static enum ifm_status bind_lock(struct ifm_config *config, const json_t *lock, const char *where,
                                 struct ifm_error *error)
{
    IFM_TRY(ifm_config_lock_intact(lock, where, error));
    IFM_TRY(check_plugins(config, json_object_get(lock, "plugins"), where, error));
    struct ifm_node *root = json_to_node(json_object_get(lock, "parameters"), NULL, 1, config->arena);
    struct ifm_node *arms = json_to_node(json_object_get(lock, "arms"), "arms", 2, config->arena);
    struct ifm_node *gates = json_to_node(json_object_get(lock, "gates"), "gates", 2, config->arena);
    if (root == NULL || arms == NULL || gates == NULL)
        return ifm_fail(error, IFM_USAGE, where, edited_hint, "edited lock: it holds null or is nested too deep");
    ifm_node_add(root, arms);
    ifm_node_add(root, gates);
    IFM_TRY(check_round_trip(config, root, lock, where, error));
    config->locked = true;
    return ifm_config_bind(config, root, where, true, error);
}

enum ifm_status ifm_config_lock(struct ifm_config *config, const char *data, size_t size, const char *where,
                                struct ifm_error *error)
{
    json_t *lock;
    IFM_TRY(ifm_config_open(config, where, error));
    if (size > IFM_CONFIG_BYTES_MAX)
        return ifm_fail(error, IFM_USAGE, where, "", "the file has %zu bytes; at most %d are read", size,
                        IFM_CONFIG_BYTES_MAX);
    enum ifm_status status = ifm_json_parse(data, size, where, &lock, error);
    if (status != IFM_OK) {
        if (error != NULL)
            error->code = IFM_USAGE;
        return IFM_USAGE;
    }
    status = bind_lock(config, lock, where, error);
    json_decref(lock);
    return status;
}
