/* YAML text to a tree, with the place of every node. Scalars stay text: only the tables give them types.
 *
 * Refused: anchors, aliases, tags, several documents, deep nesting. */
#include "config/internal.h"

#include <string.h>
#include <yaml.h>

struct builder {
    yaml_parser_t parser;
    struct ifm_arena *arena;
    const char *where; /* name of the file */
    struct ifm_node *root;
    struct ifm_node *stack[IFM_CONFIG_DEPTH_MAX];
    size_t depth;
    struct ifm_node *key; /* a key that waits for its value */
    unsigned documents;
    bool ended;
};

/* The length of the UTF-8 character at `at`, 0 when it is invalid. NUL counts as invalid. */
static size_t utf8_length(const unsigned char *at, size_t left)
{
    size_t n = at[0] == 0 ? 0 : at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (n == 0 || n > left || at[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
    bool beyond = (at[0] == 0xED && at[1] >= 0xA0) || (at[0] == 0xF4 && at[1] >= 0x90);
    return overlong || beyond ? 0 : n;
}

bool ifm_utf8_valid(const char *data, size_t size)
{
    for (size_t at = 0, n; at < size; at += n)
        if ((n = utf8_length((const unsigned char *)data + at, size - at)) == 0)
            return false;
    return true;
}

static enum ifm_status check_text(const struct builder *builder, const char *data, size_t size, struct ifm_error *error)
{
    if (size > IFM_CONFIG_BYTES_MAX)
        return ifm_fail(error, IFM_USAGE, builder->where, "split the study into several files",
                        "the file has %zu bytes; at most %d are read", size, IFM_CONFIG_BYTES_MAX);
    unsigned line = 1, column = 1;
    bool utf16 = size >= 2 && (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0);
    for (size_t at = 0; at < size;) {
        size_t n = utf8_length((const unsigned char *)data + at, size - at);
        if (n == 0) {
            const char *where = ifm_arena_printf(builder->arena, "%s:%u:%u", builder->where, line, column);
            return ifm_fail(error, IFM_USAGE, where, utf16 ? "save it as UTF-8" : "a configuration is UTF-8 text",
                            "the file is %s: byte 0x%02x", utf16 ? "UTF-16" : "binary",
                            (unsigned)(unsigned char)data[at]);
        }
        column = data[at] == '\n' ? 1 : column + 1;
        line += data[at] == '\n';
        at += n;
    }
    return IFM_OK;
}

static enum ifm_status fail_at(const struct builder *builder, yaml_mark_t mark, const char *hint, const char *message,
                               struct ifm_error *error)
{
    const char *where = ifm_arena_printf(builder->arena, "%s:%zu:%zu", builder->where, mark.line + 1, mark.column + 1);
    return ifm_fail(error, IFM_USAGE, where, hint, "%s", message);
}

static enum ifm_status syntax_error(const struct builder *builder, struct ifm_error *error)
{
    const yaml_parser_t *parser = &builder->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "out of memory";
    yaml_mark_t mark = parser->error == YAML_READER_ERROR ? parser->mark : parser->problem_mark;
    const char *message = ifm_arena_printf(builder->arena, "not valid YAML: %s", problem);
    return fail_at(builder, mark, "write 'key: value' lines; nest with spaces, never with tabs", message, error);
}

/* What every node event is checked for: anchors and tags. */
static enum ifm_status check_properties(const struct builder *builder, const yaml_event_t *event,
                                        struct ifm_error *error)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
            return fail_at(builder, event->start_mark, "", "a value holds a NUL character", error);
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        break;
    }
    if (anchor != NULL)
        return fail_at(builder, event->start_mark, "write the value out", "anchors are not allowed", error);
    if (tag != NULL)
        return fail_at(builder, event->start_mark, "write the value without a tag; the parameter gives the type",
                       "tags are not allowed", error);
    return IFM_OK;
}

static struct ifm_node *make_node(struct builder *builder, const yaml_event_t *event)
{
    struct ifm_node *node = IFM_ARENA_NEW(builder->arena, struct ifm_node);
    node->line = (unsigned)event->start_mark.line + 1;
    node->column = (unsigned)event->start_mark.column + 1;
    node->kind = event->type == YAML_SCALAR_EVENT           ? IFM_NODE_SCALAR
                 : event->type == YAML_SEQUENCE_START_EVENT ? IFM_NODE_SEQUENCE
                                                            : IFM_NODE_MAPPING;
    if (node->kind == IFM_NODE_SCALAR) {
        node->text = ifm_arena_strdup(builder->arena, (const char *)event->data.scalar.value);
        node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    }
    return node;
}

/* A scalar, or the start of a sequence or mapping. */
static enum ifm_status add_node(struct builder *builder, const yaml_event_t *event, struct ifm_error *error)
{
    IFM_TRY(check_properties(builder, event, error));
    struct ifm_node *node = make_node(builder, event);
    struct ifm_node *parent = builder->depth > 0 ? builder->stack[builder->depth - 1] : NULL;
    if (parent != NULL && parent->kind == IFM_NODE_MAPPING && builder->key == NULL) {
        if (node->kind != IFM_NODE_SCALAR)
            return fail_at(builder, event->start_mark, "", "a key must be one word", error);
        builder->key = node;
        return IFM_OK;
    }
    if (builder->key != NULL) {
        node->key = builder->key->text;
        node->key_line = builder->key->line;
        node->key_column = builder->key->column;
        builder->key = NULL;
    }
    if (parent == NULL)
        builder->root = node;
    else
        ifm_node_add(parent, node);
    if (node->kind == IFM_NODE_SCALAR)
        return IFM_OK;
    if (builder->depth == IFM_CONFIG_DEPTH_MAX)
        return fail_at(builder, event->start_mark, "", "nested deeper than 16 levels", error);
    builder->stack[builder->depth++] = node;
    return IFM_OK;
}

static enum ifm_status take_event(struct builder *builder, const yaml_event_t *event, struct ifm_error *error)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++builder->documents > 1)
            return fail_at(builder, event->start_mark, "put the second document into a file of its own",
                           "a second document; one file is one study", error);
        return IFM_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(builder, event->start_mark, "write the value out", "aliases are not allowed", error);
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return add_node(builder, event, error);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        builder->depth--;
        return IFM_OK;
    case YAML_STREAM_END_EVENT:
        builder->ended = true;
        return IFM_OK;
    default:
        return IFM_OK;
    }
}

static enum ifm_status build(struct builder *builder, struct ifm_error *error)
{
    while (!builder->ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&builder->parser, &event))
            return syntax_error(builder, error);
        enum ifm_status status = take_event(builder, &event, error);
        yaml_event_delete(&event);
        IFM_TRY(status);
    }
    const struct ifm_node *root = builder->root;
    if (root == NULL || (root->kind == IFM_NODE_SCALAR && root->plain && root->text[0] == '\0'))
        return ifm_fail(error, IFM_USAGE, builder->where, "start with 'workload: NAME'; see examples/first-run.yaml",
                        "the file is empty");
    if (root->kind != IFM_NODE_MAPPING)
        return fail_at(builder, (yaml_mark_t){0, root->line - 1, root->column - 1}, "write 'key: value' lines",
                       "the file is not a mapping of keys to values", error);
    return IFM_OK;
}

enum ifm_status ifm_yaml_tree(const char *data, size_t size, const char *where, struct ifm_arena *arena,
                              struct ifm_node **out, struct ifm_error *error)
{
    struct builder builder = {.arena = arena, .where = where};
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) { /* libyaml takes it for the first column of a key */
        data += 3;
        size -= 3;
    }
    IFM_TRY(check_text(&builder, data, size, error));
    if (!yaml_parser_initialize(&builder.parser))
        return ifm_fail(error, IFM_INTERNAL, where, "", "out of memory: the YAML parser");
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)data, size);
    enum ifm_status status = build(&builder, error);
    yaml_parser_delete(&builder.parser);
    *out = builder.root;
    return status;
}

/* ---- nodes: where each stands, and the value of a scalar ---- */

void ifm_node_add(struct ifm_node *parent, struct ifm_node *child)
{
    if (parent->last == NULL)
        parent->first = child;
    else
        parent->last->next = child;
    parent->last = child;
    parent->n++;
}

static const char *place(const struct ifm_source *source, unsigned line, unsigned column)
{
    if (line == 0)
        return source->name;
    return ifm_arena_printf(source->config->arena, "%s:%u:%u", source->name, line, column);
}

const char *ifm_node_where(const struct ifm_source *source, const struct ifm_node *node)
{
    return place(source, node->line, node->column);
}

const char *ifm_node_key_where(const struct ifm_source *source, const struct ifm_node *node)
{
    return place(source, node->key_line, node->key_column);
}

enum ifm_status ifm_node_scalar(const struct ifm_source *source, const struct ifm_node *node, const char *path,
                                struct ifm_raw *out, struct ifm_error *error)
{
    *out = (struct ifm_raw){node->text, ifm_node_where(source, node)};
    if (node->kind != IFM_NODE_SCALAR)
        return ifm_fail(error, IFM_USAGE, out->where, "give one value", "%s takes a value, not a %s", path,
                        node->kind == IFM_NODE_MAPPING ? "mapping" : "list");
    if (node->plain && node->text[0] == '\0')
        return ifm_fail(error, IFM_USAGE, out->where, "write a value after the colon, or leave the key out",
                        "%s has no value", path);
    return IFM_OK;
}

struct ifm_node *ifm_node_new(struct ifm_arena *arena, enum ifm_node_kind kind, const char *key, const char *text)
{
    struct ifm_node *node = IFM_ARENA_NEW(arena, struct ifm_node);
    *node = (struct ifm_node){.kind = kind, .key = ifm_arena_strdup(arena, key), .text = text};
    return node;
}
