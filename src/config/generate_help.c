/* Help text and the tables of the documentation; and the pieces that every generator shares. */
#include "config/internal.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 100, COLUMN = 28 };

void ifm_words(const char *choices, const char *between, struct ifm_text *out)
{
    for (const char *at = choices; *at != '\0'; at++)
        if (*at == '|')
            ifm_text_add(out, between);
        else
            ifm_text_append(out, at, 1);
}

void ifm_escape(const char *text, const char *special, const char *const *by, struct ifm_text *out)
{
    for (const char *at = text; *at != '\0'; at++) {
        const char *found = strchr(special, *at);
        if (found != NULL)
            ifm_text_add(out, by[found - special]);
        else
            ifm_text_append(out, at, 1);
    }
}

void ifm_wrap(const char *text, size_t column, size_t indent, size_t width, struct ifm_text *out)
{
    bool first = true;
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (!first && column + 1 + length > width) {
            ifm_text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            ifm_text_add(out, " ");
            column++;
        }
        for (size_t i = 0; i < length; i++)
            ifm_text_append(out, at[i] == '\x1f' ? " " : &at[i], 1);
        column += length;
        at += length + strspn(at + length, " ");
        first = false;
    }
}

void ifm_row_value(const struct ifm_param *row, struct ifm_text *out)
{
    static const char *const names[] = {
        [IFM_TYPE_U64] = "N",       [IFM_TYPE_F64] = "X",       [IFM_TYPE_BOOL] = "",       [IFM_TYPE_TEXT] = "TEXT",
        [IFM_TYPE_CHOICE] = "WORD", [IFM_TYPE_BYTES] = "BYTES", [IFM_TYPE_SECONDS] = "TIME"};
    ifm_text_add(out, ifm_param_is_choice(row) ? row->choices : names[row->type]);
    if ((row->flags & (IFM_SWEEP | IFM_LIST)) != 0)
        ifm_text_add(out, "[,..]");
}

static bool has_unit(const struct ifm_param *row)
{
    return row->unit[0] != '\0' && strcmp(row->unit, "1") != 0 && strcmp(row->unit, "count") != 0 &&
           row->type != IFM_TYPE_SECONDS && row->type != IFM_TYPE_BYTES;
}

void ifm_row_sentence(const struct ifm_param *row, const char *more, struct ifm_arena *arena, struct ifm_text *out)
{
    static const char *const fixed[] = {"\x1f"};
    struct ifm_text details = {0};
    if (has_unit(row))
        ifm_text_add(&details, row->unit);
    if (row->fallback == NULL)
        ifm_text_printf(&details, "%smust be given", details.size > 0 ? "; " : "");
    else if (row->fallback[0] != '\0')
        ifm_text_printf(&details, "%sdefault %s", details.size > 0 ? "; " : "", row->fallback);
    /* The value lists choices already, and "any text" limits nothing. */
    if (row->choices == NULL && row->type != IFM_TYPE_TEXT && row->type != IFM_TYPE_BOOL) {
        ifm_text_add(&details, details.size > 0 ? "; " : "");
        ifm_escape(ifm_param_range(row, arena), " ", fixed, &details);
    }
    if (more != NULL)
        ifm_text_printf(&details, "%s%s", details.size > 0 ? "; " : "", more);
    ifm_text_printf(out, "%c%s", toupper((unsigned char)row->help[0]), row->help + 1);
    if (details.size > 0)
        ifm_text_printf(out, " (%s)", details.data);
    ifm_text_free(&details);
}

const char *ifm_row_words(const struct ifm_param *row, const struct ifm_section *const *sections,
                          struct ifm_arena *arena)
{
    struct ifm_text words = {0};
    if (ifm_param_is_choice(row))
        ifm_words(row->choices, " ", &words);
    else if (row->type == IFM_TYPE_BOOL)
        ifm_text_add(&words, "true false");
    else if (strcmp(row->path, "workload") == 0)
        for (size_t i = 0; sections != NULL && sections[i] != NULL; i++)
            if (!ifm_config_is_common(sections[i]))
                ifm_text_printf(&words, "%s%s", words.size > 0 ? " " : "", sections[i]->name);
    return ifm_text_keep(&words, arena);
}

/* "  --kv-len N[,..]" and its text in the second column. */
static void entry(const char *head, const char *text, struct ifm_text *out)
{
    size_t length = 2 + strlen(head);
    ifm_text_printf(out, "  %s", head);
    if (length + 2 > COLUMN)
        ifm_text_printf(out, "\n%*s", COLUMN, "");
    else
        ifm_text_printf(out, "%*s", (int)(COLUMN - length), "");
    ifm_wrap(text, COLUMN, COLUMN, WIDTH, out);
    ifm_text_add(out, "\n");
}

static void row_entry(const struct ifm_param *row, struct ifm_arena *arena, struct ifm_text *out)
{
    struct ifm_text head = {0}, text = {0};
    if (row->flag == NULL)
        ifm_text_printf(&head, "%s=", row->path);
    else if (row->type == IFM_TYPE_BOOL)
        ifm_text_printf(&head, "--[no-]%s", row->flag);
    else
        ifm_text_printf(&head, "--%s ", row->flag);
    ifm_row_value(row, &head);
    ifm_row_sentence(row, NULL, arena, &text);
    entry(head.data, text.data, out);
    ifm_text_free(&head);
    ifm_text_free(&text);
}

static void section_entries(const struct ifm_section *section, struct ifm_arena *arena, struct ifm_text *out)
{
    size_t without_flag = 0;
    ifm_text_printf(out, "%s (%s):\n", section->help, section->name);
    for (size_t i = 0; i < section->n; i++) {
        if (section->rows[i].flag != NULL)
            row_entry(&section->rows[i], arena, out);
        else
            without_flag++;
    }
    if (without_flag > 0)
        ifm_text_add(out, " in a file or with --override:\n");
    for (size_t i = 0; i < section->n; i++)
        if (section->rows[i].flag == NULL)
            row_entry(&section->rows[i], arena, out);
}

void ifm_generate_help(const struct ifm_section *const *sections, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; sections[i] != NULL; i++) {
        ifm_text_add(out, i > 0 ? "\n" : "");
        section_entries(sections[i], arena, out);
    }
    ifm_arena_destroy(arena);
}

void ifm_generate_options(const struct ifm_option *options, size_t n, struct ifm_text *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct ifm_option *option = &options[i];
        struct ifm_text head = {0};
        if (option->letter != '\0')
            ifm_text_printf(&head, "-%c, ", option->letter);
        ifm_text_printf(&head, "--%s", option->flag);
        if (option->argument != NULL)
            ifm_text_printf(&head, " %s", option->choices != NULL ? option->choices : option->argument);
        entry(head.data, option->help, out);
        ifm_text_free(&head);
    }
}

static const char *type_name(enum ifm_type type)
{
    static const char *const names[] = {
        [IFM_TYPE_U64] = "whole number", [IFM_TYPE_F64] = "number",    [IFM_TYPE_BOOL] = "boolean",
        [IFM_TYPE_TEXT] = "text",        [IFM_TYPE_CHOICE] = "choice", [IFM_TYPE_BYTES] = "bytes",
        [IFM_TYPE_SECONDS] = "seconds"};
    return names[type];
}

static void markdown_row(const struct ifm_param *row, struct ifm_arena *arena, struct ifm_text *out)
{
    static const char *const bars[] = {"\\|"};
    bool unit = has_unit(row);
    ifm_text_printf(out, "| `%s` | ", row->path);
    if (row->flag != NULL)
        ifm_text_printf(out, "`--%s%s`", row->type == IFM_TYPE_BOOL ? "[no-]" : "", row->flag);
    ifm_text_printf(out, " | %s%s%s", type_name(row->type), unit ? ", " : "", unit ? row->unit : "");
    ifm_text_add(out, (row->flags & IFM_LIST) != 0 ? "; list" : "");
    ifm_text_add(out, (row->flags & IFM_SWEEP) != 0 ? "; sweepable" : "");
    ifm_text_add(out, (row->flags & IFM_PER_ARM) != 0 ? "; per arm" : "");
    if (row->fallback == NULL)
        ifm_text_add(out, " | required");
    else if (row->fallback[0] == '\0')
        ifm_text_add(out, " | none");
    else
        ifm_text_printf(out, " | `%s`", row->fallback);
    ifm_text_printf(out, " | %s | ", ifm_param_range(row, arena));
    ifm_text_printf(out, "%c", toupper((unsigned char)row->help[0]));
    ifm_escape(row->help + 1, "|", bars, out);
    ifm_text_add(out, " |\n");
}

static void markdown_section(const struct ifm_section *section, struct ifm_arena *arena, struct ifm_text *out)
{
    ifm_text_printf(out, "\n## `%s`: %c%s\n\n", section->name, tolower((unsigned char)section->help[0]),
                    section->help + 1);
    ifm_text_add(out, "| key | flag | type | default | allowed | meaning |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < section->n; i++)
        markdown_row(&section->rows[i], arena, out);
}

/* The introduction of docs/configuration.md. */
static const char markdown_head[] =
    "# Configuration\n\n"
    "This page is generated from the parameter tables; edit the tables, not this page.\n\n"
    "A study is a YAML file (`-c FILE`), flags, or both. Keys nest or are dotted: `decode: {kv_len: 4096}` and\n"
    "`decode.kv_len: 4096` are the same. Any key can be set with `--override key=value`. From lowest to highest rank:\n"
    "default, preset, file, `--override`, flag.\n\n"
    "A list on a *sweepable* key (`[512, 1024]`, or `512,1024`) is an axis: every combination of axes is a cell. An\n"
    "axis has at most 256 distinct values. Sizes take `KiB`, `MB` and the like, durations `ns` to `min`. Whether a\n"
    "value is a number or a word is decided by its key, so booleans are `true` and `false` only.\n\n"
    "A file is UTF-8 text of at most 1 MiB and 16 levels, and one document. Anchors, aliases and tags are refused, "
    "and\n"
    "so is every key that is unknown, given twice, or meant for a workload that the study does not run.\n\n"
    "Each run writes `config.lock.json`: every parameter spelled out, and a hash. It can be given with `-c` in place "
    "of\n"
    "a YAML file. An edited lock is refused; change it with `--override`.\n";

void ifm_generate_markdown(const struct ifm_section *const *sections, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    ifm_text_add(out, markdown_head);
    for (size_t i = 0; sections[i] != NULL; i++)
        markdown_section(sections[i], arena, out);
    markdown_section(&ifm_section_arm, arena, out);
    markdown_section(&ifm_section_gate, arena, out);
    ifm_arena_destroy(arena);
}
