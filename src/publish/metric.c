/* Metric definitions: parser, lookup and the generated part of docs/definitions.md. */
#include "publish/metric.h"
#include "publish/embedded.h"
#include <stdio.h>
#include <string.h>

enum { KEYS = 8, KEY_ID = 0, KEY_BETTER = 2, KEY_SCOPE = 3 };
static const char *const keys[KEYS] = {"id", "unit", "better", "scope", "formula", "source", "limits", "prose"};

/* A record under construction: the values in the order of `keys`. */
struct draft {
    struct ifm_text values[KEYS];
    bool seen[KEYS];
    bool open;
    size_t line; /* of its first key */
    int last;    /* key that a continuation line extends */
};

struct parser {
    const char *where;
    size_t line;
    struct ifm_arena *arena;
    struct ifm_metric *metrics;
    size_t n, capacity;
    struct draft draft;
};

static enum ifm_status fail_at(const struct parser *parser, size_t line, const char *hint, const char *message,
                               const char *detail, struct ifm_error *error)
{
    char where[256];
    snprintf(where, sizeof where, "%s:%zu", parser->where, line);
    return ifm_fail(error, IFM_INVALID, where, hint, "%s \"%s\"", message, detail);
}

static void draft_clear(struct draft *draft)
{
    for (int k = 0; k < KEYS; k++) {
        ifm_text_clear(&draft->values[k]);
        draft->seen[k] = false;
    }
    draft->open = false;
    draft->last = -1;
}

static bool is_one_of(const char *word, const char *const *choices, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, choices[i]) == 0)
            return true;
    return false;
}

static enum ifm_status draft_check(const struct parser *parser, struct ifm_error *error)
{
    static const char *const better[] = {"lower", "higher", "none"};
    static const char *const scope[] = {"arm", "cell", "run"};
    const struct draft *draft = &parser->draft;
    for (int k = 0; k < KEYS; k++)
        if (!draft->seen[k] || draft->values[k].size == 0)
            return fail_at(parser, draft->line,
                           "a definition needs id, unit, better, scope, formula, source, limits "
                           "and prose",
                           "the definition has no value for the key", keys[k], error);
    if (!is_one_of(draft->values[KEY_BETTER].data, better, 3))
        return fail_at(parser, draft->line, "one of lower, higher, none", "unknown word for better",
                       draft->values[KEY_BETTER].data, error);
    if (!is_one_of(draft->values[KEY_SCOPE].data, scope, 3))
        return fail_at(parser, draft->line, "one of arm, cell, run", "unknown word for scope",
                       draft->values[KEY_SCOPE].data, error);
    if (ifm_metric_find(parser->metrics, parser->n, draft->values[KEY_ID].data) != NULL)
        return fail_at(parser, draft->line, "an id is defined once", "repeated id", draft->values[KEY_ID].data, error);
    return IFM_OK;
}

static enum ifm_status draft_close(struct parser *parser, struct ifm_error *error)
{
    struct draft *draft = &parser->draft;
    if (!draft->open)
        return IFM_OK;
    IFM_TRY(draft_check(parser, error));
    IFM_ARENA_GROW(parser->arena, parser->metrics, parser->n, parser->capacity);
    const char *text[KEYS];
    for (int k = 0; k < KEYS; k++)
        text[k] = ifm_arena_strdup(parser->arena, draft->values[k].data);
    parser->metrics[parser->n++] =
        (struct ifm_metric){text[0], text[1], text[2], text[3], text[4], text[5], text[6], text[7]};
    draft_clear(draft);
    return IFM_OK;
}

static enum ifm_status take_continuation(struct parser *parser, const char *text, size_t size, struct ifm_error *error)
{
    struct draft *draft = &parser->draft;
    if (draft->last < 0)
        return fail_at(parser, parser->line, "write key: value first", "a continuation without a key", "", error);
    while (size > 0 && *text == ' ') {
        text++;
        size--;
    }
    struct ifm_text *value = &draft->values[draft->last];
    if (value->size > 0)
        ifm_text_add(value, " ");
    ifm_text_append(value, text, size);
    return IFM_OK;
}

static enum ifm_status take_key(struct parser *parser, const char *text, size_t size, struct ifm_error *error)
{
    char key[32];
    const char *colon = memchr(text, ':', size);
    size_t length = colon == NULL ? size : (size_t)(colon - text);
    snprintf(key, sizeof key, "%.*s", length < sizeof key ? (int)length : (int)sizeof key - 1, text);
    if (colon == NULL)
        return fail_at(parser, parser->line, "write key: value", "a line without a colon:", key, error);
    int found = -1;
    for (int k = 0; k < KEYS; k++)
        if (strcmp(key, keys[k]) == 0)
            found = k;
    if (found < 0) {
        const char *nearest = ifm_nearest(key, keys, KEYS);
        char hint[64];
        snprintf(hint, sizeof hint, "nearest key: %s", nearest != NULL ? nearest : "none");
        return fail_at(parser, parser->line, hint, "unknown key", key, error);
    }
    struct draft *draft = &parser->draft;
    if (draft->seen[found])
        return fail_at(parser, parser->line, "separate two definitions by a blank line", "repeated key", key, error);
    if (!draft->open)
        draft->line = parser->line;
    draft->open = draft->seen[found] = true;
    draft->last = found;
    const char *value = colon + 1, *end = text + size;
    while (value < end && *value == ' ')
        value++;
    ifm_text_append(&draft->values[found], value, (size_t)(end - value));
    return IFM_OK;
}

static enum ifm_status take_line(struct parser *parser, const char *text, size_t size, struct ifm_error *error)
{
    while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t' || text[size - 1] == '\r'))
        size--;
    if (size == 0)
        return draft_close(parser, error);
    if (*text == '#')
        return IFM_OK;
    if (*text == ' ' || *text == '\t')
        return take_continuation(parser, text, size, error);
    return take_key(parser, text, size, error);
}

static enum ifm_status parse_lines(struct parser *parser, const char *text, size_t size, struct ifm_error *error)
{
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end == NULL ? size - at : (size_t)(end - (text + at));
        parser->line++;
        IFM_TRY(take_line(parser, text + at, length, error));
        at += length + 1;
    }
    return draft_close(parser, error);
}

enum ifm_status ifm_metrics_parse(const char *text, size_t size, const char *where, struct ifm_arena *arena,
                                  const struct ifm_metric **out, size_t *n, struct ifm_error *error)
{
    struct parser parser = {.where = where, .arena = arena};
    draft_clear(&parser.draft);
    enum ifm_status status = parse_lines(&parser, text, size, error);
    for (int k = 0; k < KEYS; k++)
        ifm_text_free(&parser.draft.values[k]);
    *out = parser.metrics;
    *n = parser.n;
    return status;
}

enum ifm_status ifm_metrics_load(struct ifm_arena *arena, const struct ifm_metric **out, size_t *n,
                                 struct ifm_error *error)
{
    return ifm_metrics_parse(ifm_embedded_metrics, ifm_embedded_metrics_size, "data/metrics", arena, out, n, error);
}

const struct ifm_metric *ifm_metric_find(const struct ifm_metric *metrics, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(metrics[i].id, id) == 0)
            return &metrics[i];
    return NULL;
}

void ifm_metrics_markdown_of(const struct ifm_metric *metrics, size_t n, struct ifm_text *out)
{
    static const char *const scopes[] = {"arm", "cell", "run"};
    static const char *const titles[] = {"Numbers of an arm", "Numbers of a cell", "Numbers of a run"};
    for (size_t s = 0; s < 3; s++) {
        bool open = false;
        for (size_t i = 0; i < n; i++) {
            const struct ifm_metric *m = &metrics[i];
            if (strcmp(m->scope, scopes[s]) != 0)
                continue;
            if (!open)
                ifm_text_printf(out, "## %s\n\n", titles[s]);
            open = true;
            ifm_text_printf(out, "### `%s`\n\n%s\n\n", m->id, m->prose);
            ifm_text_printf(out, "- **Unit:** `%s`; better: %s\n- **Formula:** `%s`\n", m->unit, m->better, m->formula);
            ifm_text_printf(out, "- **Source:** %s\n- **Limits:** %s\n\n", m->source, m->limits);
        }
    }
}

enum ifm_status ifm_metrics_markdown(struct ifm_text *out, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_metric *metrics;
    size_t n;
    enum ifm_status status = ifm_metrics_load(arena, &metrics, &n, error);
    if (status == IFM_OK)
        ifm_metrics_markdown_of(metrics, n, out);
    ifm_arena_destroy(arena);
    return status;
}
