/* The table of private texts. */
#include "base/private.h"

#include "base/file.h"
#include "base/hash.h"
#include <string.h>

enum { HEX = 64 };
static const char prefix[] = "sha256:", published[] = "public:";

static struct {
    struct ifm_arena *arena; /* lives as long as the process */
    struct kept_text {
        const char *token, *text;
    } * entries;
    size_t n, capacity;
} table;

bool ifm_private_is_token(const char *text)
{
    size_t length = sizeof prefix - 1;
    return strncmp(text, prefix, length) == 0 && strlen(text) == length + HEX &&
           strspn(text + length, "0123456789abcdef") == HEX;
}

const char *ifm_private_shown(const char *text)
{
    size_t length = sizeof published - 1;
    return strncmp(text, published, length) == 0 ? text + length : text;
}

const char *ifm_private_publish(const char *text, struct ifm_arena *arena)
{
    const char *known = ifm_private_text(text);
    bool stays = known == NULL || known[0] == '\0' || ifm_private_shown(text) != text;
    return stays ? text : ifm_arena_printf(arena, "%s%s", published, known);
}

static const char *token_of(const char *text, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%s%s", prefix, ifm_sha256_bytes(text, strlen(text)).hex);
}

const char *ifm_private_keep(const char *text, struct ifm_arena *arena)
{
    if (ifm_private_is_token(text) || ifm_private_shown(text) != text)
        return text;
    const char *token = token_of(text, arena);
    if (ifm_private_text(token) != NULL)
        return token;
    if (table.arena == NULL)
        table.arena = ifm_arena_create();
    IFM_ARENA_GROW(table.arena, table.entries, table.n, table.capacity);
    table.entries[table.n++] =
        (struct kept_text){ifm_arena_strdup(table.arena, token), ifm_arena_strdup(table.arena, text)};
    return token;
}

const char *ifm_private_text(const char *token)
{
    if (!ifm_private_is_token(token))
        return ifm_private_shown(token);
    for (size_t i = 0; i < table.n; i++)
        if (strcmp(table.entries[i].token, token) == 0)
            return table.entries[i].text;
    return NULL;
}

json_t *ifm_private_json(void)
{
    if (table.n == 0)
        return NULL;
    json_t *settings = json_object();
    for (size_t i = 0; i < table.n; i++)
        json_object_set_new(settings, table.entries[i].token, json_string(table.entries[i].text));
    return settings;
}

static void keep_fitting(const json_t *settings, struct ifm_arena *arena)
{
    const char *token;
    json_t *value;
    json_object_foreach((json_t *)settings, token, value)
    {
        const char *text = json_string_value(value);
        if (text != NULL && !ifm_private_is_token(text) && strcmp(token_of(text, arena), token) == 0)
            ifm_private_keep(text, arena);
    }
}

void ifm_private_take(const json_t *texts)
{
    struct ifm_arena *arena = ifm_arena_create();
    keep_fitting(texts, arena);
    ifm_arena_destroy(arena);
}

void ifm_private_load(const char *lock_path)
{
    struct ifm_arena *arena = ifm_arena_create();
    char *path = ifm_arena_strdup(arena, lock_path);
    path[ifm_path_base(lock_path) - lock_path] = '\0';
    path = ifm_arena_printf(arena, "%sprivate.json", path);
    struct ifm_error ignored;
    json_t *facts = NULL;
    if (ifm_file_exists(path) && ifm_json_read(path, &facts, &ignored) == IFM_OK)
        keep_fitting(json_object_get(facts, "settings"), arena);
    json_decref(facts);
    ifm_arena_destroy(arena);
}

static enum ifm_status check_texts(const json_t *settings, struct ifm_arena *arena, struct ifm_error *error)
{
    const char *token;
    json_t *value;
    json_object_foreach((json_t *)settings, token, value)
    {
        const char *text = json_string_value(value);
        if (text == NULL || strcmp(token_of(text, arena), token) != 0)
            return ifm_fail(error, IFM_INVALID, "private.json",
                            "bring the file back from a copy, or remove it: the run then cannot be repeated",
                            "private.json was edited: the text of %.19s is not the one that was measured", token);
    }
    return IFM_OK;
}

enum ifm_status ifm_private_check(const char *dir, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char *path = ifm_path_join(arena, dir, "private.json");
    json_t *facts = NULL;
    enum ifm_status status = ifm_file_exists(path) ? ifm_json_read(path, &facts, error) : IFM_OK;
    if (status == IFM_OK)
        status = check_texts(json_object_get(facts, "settings"), arena, error);
    json_decref(facts);
    ifm_arena_destroy(arena);
    return status;
}
