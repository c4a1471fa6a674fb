/* The command explain: metrics by id, every word that the product prints, every parameter by its key or
 * flag, and the commands. */
#include "cli/cli.h"

#include "document/glossary.h"
#include "document/metric.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void print_metric(const struct ifm_metric *metric)
{
    struct ifm_text better = {0};
    ifm_metric_better(metric, &better);
    printf("%s\n", metric->id);
    ifm_cli_field("what", metric->prose);
    ifm_cli_field("unit", metric->unit);
    ifm_cli_field("better", better.data);
    ifm_cli_field("of a", ifm_scope_word(metric->scope));
    ifm_cli_field("formula", metric->formula);
    ifm_cli_field("source", metric->source);
    ifm_cli_field("limits", metric->limits);
    ifm_text_free(&better);
}

static void print_word(const struct ifm_entry *word)
{
    printf("%s\n", word->word);
    ifm_cli_field("what", word->says);
    ifm_cli_field("also", word->also);
    ifm_cli_field("see", word->see);
}

/* The metrics of columns with this heading, each once: one word may head a number of energy windows and one of
 * counters. How many. */
static size_t print_columns(const char *text)
{
    bool printed[IFM_M_COUNT] = {false};
    size_t n = 0;
    const struct ifm_metric_columns *tables[] = {&ifm_columns_arms,     &ifm_columns_compression,
                                                 &ifm_columns_energy,   &ifm_columns_energy_step,
                                                 &ifm_columns_counters, &ifm_columns_trace};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t c = 0; c < tables[t]->n; c++)
            if (strcasecmp(tables[t]->items[c].heading, text) == 0 && !printed[tables[t]->items[c].metric]) {
                print_metric(&ifm_metrics[tables[t]->items[c].metric]);
                printed[tables[t]->items[c].metric] = true;
                n++;
            }
    return n;
}

/* ---- parameters ---- */

static char folded(char letter)
{
    return letter == '-' || letter == '_' ? ' ' : (char)tolower((unsigned char)letter);
}

static bool is_called(const char *name, const char *text)
{
    while (name != NULL && *name != '\0' && *text != '\0' && folded(*name) == folded(*text)) {
        name++;
        text++;
    }
    return name != NULL && *name == '\0' && *text == '\0';
}

static void print_param(const struct ifm_section *section, const struct ifm_param *row, struct ifm_arena *arena)
{
    const bool common =
        section == &ifm_section_general || section == &ifm_section_device || section == &ifm_section_measure;
    const char *command = strcmp(section->name, "command") == 0 ? "exec" : section->name;
    const char *fallback = row->fallback == NULL ? "must be given" : row->fallback[0] == '\0' ? "none" : row->fallback;
    printf("%s\n", row->path);
    ifm_cli_field("what", row->help);
    if (row->flag != NULL)
        ifm_cli_field("flag", common ? ifm_arena_printf(arena, "--%s", row->flag)
                                     : ifm_arena_printf(arena, "inferometer %s --%s", command, row->flag));
    ifm_cli_field("unit", strcmp(row->unit, "1") == 0 ? "" : row->unit);
    ifm_cli_field("default", fallback);
    ifm_cli_field("allowed", ifm_param_range(row, arena));
}

/* "run delay" for run_delay_ns. */
static const struct ifm_metric *metric_without_unit(const char *text)
{
    const size_t length = strlen(text);
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++) {
        const char *id = ifm_metrics[m].id, *unit = strrchr(id, '_');
        size_t at = 0;
        while (at < length && id[at] != '\0' && folded(id[at]) == folded(text[at]))
            at++;
        if (unit != NULL && at == length && unit == id + length)
            return &ifm_metrics[m];
    }
    return NULL;
}

/* By its key, the last part of it, or its flag. */
static bool is_param(const struct ifm_param *row, const char *text)
{
    const char *dot = strrchr(row->path, '.');
    return is_called(row->path, text) || is_called(dot == NULL ? row->path : dot + 1, text) ||
           is_called(row->flag, text);
}

/* One of the choices of the row, of one with a parameter by the part up to its '='. */
static bool is_choice(const struct ifm_param *row, const char *text, struct ifm_arena *arena)
{
    char *words = row->choices == NULL ? NULL : ifm_arena_strdup(arena, row->choices), *rest = words;
    for (char *word = strsep(&rest, "|"); word != NULL; word = strsep(&rest, "|")) {
        word[strcspn(word, "=")] = '\0';
        if (is_called(word, text))
            return true;
    }
    return false;
}

/* Each parameter that is called so, or that takes it as one of its choices. Their number. */
static size_t explain_params(const char *text, bool choices, struct ifm_arena *arena)
{
    const struct ifm_section *sections[IFM_WORKLOADS_MOST + 4] = {&ifm_section_general, &ifm_section_device,
                                                                  &ifm_section_measure};
    size_t n = 3, found = 0;
    text += strncmp(text, "--", 2) == 0 ? 2 : 0;
    for (size_t i = 0; ifm_workloads[i] != NULL; i++)
        sections[n++] = ifm_workloads[i]->params;
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < sections[s]->n; i++) {
            const struct ifm_param *row = &sections[s]->rows[i];
            if (choices ? !is_choice(row, text, arena) : !is_param(row, text))
                continue;
            print_param(sections[s], row, arena);
            found++;
        }
    return found;
}

static void print_command(const struct ifm_verb *verb, struct ifm_arena *arena)
{
    printf("%s\n", verb->name);
    ifm_cli_field("what", verb->help);
    ifm_cli_field("usage", ifm_arena_printf(arena, "inferometer %s %s", verb->name, verb->synopsis));
    ifm_cli_field("see", ifm_arena_printf(arena, "inferometer help %s", verb->name));
}

/* A metric by its id; else what a word means, parameters, and the metrics of columns called so; else a command.
 * False: none. */
static bool explain_name(const struct ifm_glossary *words, const char *text, struct ifm_arena *arena)
{
    const enum ifm_metric_id asked = ifm_metric_of(text);
    const struct ifm_entry *word = ifm_glossary_find(words, text);
    if (asked != IFM_M_NONE) {
        print_metric(&ifm_metrics[asked]);
        return true;
    }
    const struct ifm_metric *metric = metric_without_unit(text);
    if (word != NULL)
        print_word(word);
    size_t found = explain_params(text, false, arena);
    const size_t columns = print_columns(text);
    if (columns == 0 && metric != NULL)
        print_metric(metric);
    else if (found + columns == 0 && word == NULL)
        found = explain_params(text, true, arena);
    found += columns;
    if (word != NULL || metric != NULL || found > 0)
        return true;
    const struct ifm_verb *verb = ifm_invocation.find(text);
    if (verb != NULL)
        print_command(verb, arena);
    return verb != NULL;
}

/* Without the marks of footnotes and those that Markdown sets: "refused¹", "**new** is **slower**". */
static const char *without_marks(const char *text, struct ifm_arena *arena)
{
    static const char *const marks[] = {"¹", "²", "³", "⁰", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "*", "`"};
    char *copy = ifm_arena_strdup(arena, text), *to = copy;
    while (*text != '\0') {
        size_t length = 0;
        for (size_t i = 0; i < sizeof marks / sizeof *marks && length == 0; i++)
            length = strncmp(text, marks[i], strlen(marks[i])) == 0 ? strlen(marks[i]) : 0;
        if (length == 0)
            *to++ = *text;
        text += length > 0 ? length : 1;
    }
    *to = '\0';
    return copy;
}

/* "storage" of "storage f16"; NULL = there are not two words. */
static const char *first_of_two(const char *text, struct ifm_arena *arena)
{
    const size_t length = strcspn(text, " ");
    const bool two =
        length > 0 && text[length] == ' ' && text[length + 1] != '\0' && strchr(text + length + 1, ' ') == NULL;
    return two ? ifm_arena_printf(arena, "%.*s", (int)length, text) : NULL;
}

/* A name; what is left of "1.87x smaller" or "TPOT 12 ms" without numbers; the name that a sentence holds; or a
 * setting with its value. */
static enum ifm_status explain(const char *text, struct ifm_arena *arena, struct ifm_error *error)
{
    const struct ifm_glossary words = ifm_glossary_read(arena);
    text = without_marks(text, arena);
    const char *const names[] = {text, ifm_glossary_without_numbers(text, true, arena),
                                 ifm_glossary_without_numbers(text, false, arena)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] != NULL && explain_name(&words, names[i], arena))
            return IFM_OK;
    const struct ifm_entry *word = ifm_glossary_within(&words, text);
    if (word != NULL) {
        print_word(word);
        return IFM_OK;
    }
    const char *first = first_of_two(text, arena);
    if (first != NULL && explain_name(&words, first, arena))
        return IFM_OK;
    const char *nearest = ifm_glossary_nearest(&words, text, arena);
    const enum ifm_status status = ifm_fail(error, IFM_USAGE, "", "`inferometer explain` lists metrics and words",
                                            "nothing explains \"%s\"", text);
    if (nearest != NULL)
        ifm_error_hint(error, "did you mean %s?", nearest);
    return status;
}

static void print_all(struct ifm_arena *arena)
{
    const struct ifm_glossary words = ifm_glossary_read(arena);
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++)
        printf("%-34s %s\n", ifm_metrics[m].id, ifm_metrics[m].unit);
    printf("\n");
    for (size_t i = 0; i < words.n; i++)
        printf("%s%s", words.items[i].word, i + 1 < words.n ? ", " : "\n");
    printf("\n`%s explain NAME` prints what it means, with formula and limits.\n", ifm_called_as());
}

/* For docs/definitions.md and docs/glossary.md. */
static bool print_page(const char *option, struct ifm_arena *arena)
{
    struct ifm_text text = {0};
    const bool metrics = strcmp(option, "--markdown") == 0, glossary = strcmp(option, "--glossary") == 0;
    const struct ifm_glossary words = ifm_glossary_read(arena);
    if (metrics)
        ifm_metrics_markdown(&text);
    if (glossary)
        ifm_glossary_markdown(&words, &text);
    if (metrics || glossary)
        ifm_cli_print(&text, stdout);
    return metrics || glossary;
}

/* Words of a name may stand apart: `explain vs baseline`. */
enum ifm_status ifm_cmd_explain(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char *text = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i++)
        text = ifm_arena_printf(arena, "%s %s", text, argv[i]);
    enum ifm_status status = IFM_OK;
    if (argc == 1)
        print_all(arena);
    else if (!print_page(text, arena))
        status = explain(text, arena, error);
    ifm_arena_destroy(arena);
    return status;
}
