/* A document on a terminal: the brief one, or with --verbose what a first look needs of the whole one. What is left out
 * of that is counted; report.md and report.html have it. */
#include "publish/paint/terminal.h"

#include "base/plain.h"
#include "document/escape.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TWO_LINES = 2 * IFM_USUAL_WIDTH - IFM_TERMINAL_INDENT - 12 /* what the first line may lose: a word */ };

/* ---- words ---- */

static void say(struct ifm_terminal *terminal, enum ifm_tone tone, const char *text)
{
    bool paint = terminal->colour && tone != IFM_TONE_PLAIN;
    ifm_text_add(terminal->out, paint ? ifm_terminal_paint(tone) : "");
    ifm_text_add(terminal->out, ifm_terminal_plain(terminal, text));
    ifm_text_add(terminal->out, paint ? "\033[0m" : "");
}

static void indent(struct ifm_terminal *terminal, size_t columns)
{
    ifm_text_printf(terminal->out, "%*s", (int)columns, "");
}

/* Words in lines of the terminal; later lines start at `margin`. The cursor is at `column`. */
static void wrap(struct ifm_terminal *terminal, const char *text, size_t column, size_t margin)
{
    text = ifm_text_typed(ifm_terminal_plain(terminal, text), terminal->arena);
    ifm_text_wrap(terminal->out, text, terminal->width, column, margin);
    ifm_text_add(terminal->out, "\n");
}

/* The whole words of at most `most` bytes; the report holds the rest of a long sentence. */
static const char *cut_short(const struct ifm_terminal *terminal, const char *text, size_t most)
{
    size_t size = strlen(text);
    if (size <= most)
        return text;
    for (size = most - strlen("…"); size > 0 && text[size] != ' ';)
        size--;
    return ifm_arena_printf(terminal->arena, "%.*s …", (int)size, text);
}

static const char *line_of(const struct ifm_terminal *terminal, const struct ifm_line *line)
{
    const char *text = "";
    for (size_t i = 0; i < line->n; i++)
        text = ifm_arena_printf(terminal->arena, "%s%s%s", text, line->spans[i].text,
                                line->spans[i].note > 0 ? ifm_terminal_mark(terminal, line->spans[i].note) : "");
    return text;
}

static void wrap_line(struct ifm_terminal *terminal, const struct ifm_line *line, size_t margin)
{
    const char *text = line_of(terminal, line);
    bool measured = false;
    for (size_t i = 0; i < line->n; i++)
        measured |= line->spans[i].measured;
    if (!measured) {
        wrap(terminal, text, margin, margin);
        return;
    }
    ifm_text_wrap(terminal->out, ifm_terminal_plain(terminal, text), terminal->width, margin, margin);
    ifm_text_add(terminal->out, "\n");
}

/* ---- lists ---- */

static void say_item(struct ifm_terminal *terminal, const struct ifm_block *list, const struct ifm_item *item,
                     size_t margin)
{
    const char *place = item->place, *tail = "", *text = line_of(terminal, &item->line);
    size_t column = margin;
    if (item->n_alike > 0)
        tail = ifm_arena_printf(terminal->arena, " [and %zu alike]", item->n_alike);
    if (item->rule[0] != '\0')
        tail = ifm_arena_printf(terminal->arena, "%s (%s)", tail, item->rule);
    text = ifm_arena_printf(terminal->arena, "%s%s%s", place,
                            place[0] == '\0' || list->purpose == IFM_AS_OUTCOMES ? "" : ": ", text);
    if (item->label[0] != '\0') { /* what is labelled is one of many, and stands at the left edge */
        column = strlen(item->label) + 2;
        say(terminal, item->tone, item->label);
        ifm_text_add(terminal->out, ": ");
        if (item->tone != IFM_TONE_BAD && !item->fits)
            text = cut_short(terminal, text, TWO_LINES - column - strlen(tail));
        margin = 0;
    } else {
        indent(terminal, margin);
    }
    if (item->number > 0) {
        const char *mark = list->id[0] != '\0' ? ifm_terminal_mark(terminal, item->number)
                                               : ifm_arena_printf(terminal->arena, "%zu", item->number);
        mark = ifm_arena_printf(terminal->arena, "%s ", mark);
        ifm_text_add(terminal->out, mark);
        column = margin = column + ifm_plain_columns(mark);
    } else {
        margin += IFM_TERMINAL_INDENT;
    }
    wrap(terminal, ifm_arena_printf(terminal->arena, "%s%s", text, tail), column, margin);
}

static size_t count_left_out(const struct ifm_block *list, const char *label)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n_items; i++)
        n += list->items[i].level > IFM_LEVEL_ALWAYS && !list->items[i].again &&
             strcmp(list->items[i].label, label) == 0;
    return n;
}

/* Where the rest is, and what was left out before. */
static void say_where(struct ifm_terminal *terminal, const char *words)
{
    const char *both = words[0] == '\0' || terminal->left_out[0] == '\0' ? "" : ", ";
    words = ifm_arena_printf(terminal->arena, "%s%s%s", words, both, terminal->left_out);
    terminal->left_out = "";
    if (words[0] != '\0')
        wrap(terminal, ifm_arena_printf(terminal->arena, "%s: report.md, report.html", words), 0, IFM_TERMINAL_INDENT);
}

/* "29 more warnings, 36 more notes: report.md, report.html" */
static void say_left_out(struct ifm_terminal *terminal, const struct ifm_block *list)
{
    const char *words = "";
    for (size_t i = 0; i < list->n_items; i++) {
        const char *label = list->items[i].label;
        size_t n = count_left_out(list, label);
        if (n == 0 || label[0] == '\0' || (i > 0 && strcmp(list->items[i - 1].label, label) == 0))
            continue;
        words = ifm_arena_printf(terminal->arena, "%s%s%zu more %s%s", words, words[0] == '\0' ? "" : ", ", n, label,
                                 n == 1 ? "" : "s");
    }
    say_where(terminal, words);
}

static void say_list(struct ifm_terminal *terminal, const struct ifm_block *list)
{
    bool any = false;
    for (size_t i = 0; i < list->n_items; i++) {
        if (list->items[i].level > IFM_LEVEL_ALWAYS)
            continue;
        if (!any && (list->purpose == IFM_AS_OUTCOMES || list->purpose == IFM_AS_FACTS))
            ifm_text_add(terminal->out, "\n"); /* below a table */
        any = true;
        say_item(terminal, list, &list->items[i], IFM_TERMINAL_INDENT);
    }
    if (list->n_items > 0 && list->items[0].label[0] != '\0')
        say_left_out(terminal, list);
}

/* ---- curves ---- */

/* One bar a size, on a logarithmic scale from the smallest number to the largest: a picture, not a number. */
static void say_curve(struct ifm_terminal *terminal, const struct ifm_block *curve)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < curve->n_points; i++) {
        low = fmin(low, curve->points[i].number);
        high = fmax(high, curve->points[i].number);
    }
    if (curve->n_points == 0 || low <= 0)
        return;
    double span = high > low ? log(high / low) : 1;
    const struct ifm_point *first = &curve->points[0], *last = &curve->points[curve->n_points - 1];
    const char *line = ifm_arena_printf(terminal->arena, "%s: %s (%s) ", curve->title, first->size, first->text);
    for (size_t i = 0; i < curve->n_points; i++)
        line = ifm_arena_printf(terminal->arena, "%s%s", line,
                                bars[(int)(log(curve->points[i].number / low) / span * 7.999)]);
    ifm_text_add(terminal->out, "\n");
    indent(terminal, IFM_TERMINAL_INDENT);
    wrap(terminal, ifm_arena_printf(terminal->arena, "%s %s (%s)", line, last->size, last->text), IFM_TERMINAL_INDENT,
         2 * IFM_TERMINAL_INDENT);
}

/* ---- sections ---- */

/* "FAIL  the first reason", the others below it. */
static void say_verdict(struct ifm_terminal *terminal, const struct ifm_block *section)
{
    size_t margin = strlen(section->title) + 2, left = 0;
    ifm_text_add(terminal->out, terminal->colour ? ifm_terminal_paint(IFM_TONE_STRONG) : "");
    say(terminal, section->tone, section->title);
    ifm_text_add(terminal->out, "  ");
    for (const struct ifm_block *block = section->first; block != NULL; block = block->next) {
        if (block->level > IFM_LEVEL_ALWAYS)
            continue;
        for (size_t i = 0; i < block->n_items; i++) {
            left += block->items[i].level > IFM_LEVEL_ALWAYS;
            if (block->items[i].level > IFM_LEVEL_ALWAYS)
                continue;
            indent(terminal, i > 0 ? margin : 0);
            wrap_line(terminal, &block->items[i].line, margin);
        }
        if (left > 0)
            ifm_text_printf(terminal->out, "%*sand %zu more reason%s: report.md, report.html\n", (int)margin, "", left,
                            left == 1 ? "" : "s");
        left = 0;
        if (block->kind != IFM_BLOCK_LINE)
            continue;
        indent(terminal, margin);
        wrap_line(terminal, &block->line, margin);
    }
}

/* A title inside of a sentence: "what else changed". */
static const char *within(const struct ifm_terminal *terminal, const char *title)
{
    char *words = ifm_arena_strdup(terminal->arena, title);
    words[0] = (char)(words[0] >= 'A' && words[0] <= 'Z' ? words[0] - 'A' + 'a' : words[0]);
    return words;
}

/* The titles of what a section holds behind folds, in one line; "" where something of it stands open. */
static const char *folds_of(const struct ifm_terminal *terminal, const struct ifm_block *section)
{
    const char *titles = "";
    for (const struct ifm_block *block = section->first; block != NULL; block = block->next) {
        if (block->level == IFM_LEVEL_ALWAYS)
            return "";
        if (block->folded)
            titles = ifm_arena_printf(terminal->arena, "%s%s%s", titles, titles[0] == '\0' ? "" : ", ", block->title);
    }
    return titles;
}

/* Labels say what a list of findings is. */
static bool is_labelled(const struct ifm_block *section)
{
    const struct ifm_block *first = section->first;
    return first != NULL && first->n_items > 0 && first->items[0].label[0] != '\0';
}

static void say_heading(struct ifm_terminal *terminal, const struct ifm_block *section, int depth)
{
    const char *folds = folds_of(terminal, section), *beside = section->subtitle[0] != '\0' ? section->subtitle : folds;
    size_t margin = depth == 0 ? 0 : IFM_TERMINAL_INDENT;
    ifm_text_add(terminal->out, terminal->out->size > 0 ? "\n" : "");
    if (is_labelled(section) || section->title[0] == '\0')
        return;
    indent(terminal, margin);
    const char *title = ifm_terminal_plain(terminal, section->title);
    ifm_text_add(terminal->out, terminal->colour ? ifm_terminal_paint(IFM_TONE_STRONG) : "");
    size_t column = ifm_text_wrap(terminal->out, title, terminal->width, margin, margin + IFM_TERMINAL_INDENT);
    ifm_text_add(terminal->out, terminal->colour ? "\033[0m" : "");
    if (beside[0] == '\0') {
        ifm_text_add(terminal->out, "\n");
        return;
    }
    ifm_text_add(terminal->out, "  ");
    ifm_text_add(terminal->out, terminal->colour && folds[0] == '\0' ? ifm_terminal_paint(IFM_TONE_DIM) : "");
    wrap(terminal, beside, column + 2, IFM_TERMINAL_INDENT);
    ifm_text_add(terminal->out, terminal->colour && folds[0] == '\0' ? "\033[0m" : "");
}

static enum ifm_status say_blocks(struct ifm_terminal *terminal, const struct ifm_block *parent, int depth,
                                  struct ifm_error *error)
{
    bool any_grid = false;
    for (const struct ifm_block *block = parent->first; block != NULL; block = block->next) {
        if (block->level > IFM_LEVEL_ALWAYS && block->purpose == IFM_AS_NEWS)
            terminal->left_out = within(terminal, block->title);
        if (block->level > IFM_LEVEL_ALWAYS)
            continue;
        if (block->purpose == IFM_AS_VERDICT) {
            say_verdict(terminal, block);
        } else if (block->kind == IFM_BLOCK_SECTION) {
            say_heading(terminal, block, depth);
            IFM_TRY(say_blocks(terminal, block, depth + 1, error));
        } else if (block->kind == IFM_BLOCK_LINE) {
            indent(terminal, IFM_TERMINAL_INDENT);
            wrap_line(terminal, &block->line, IFM_TERMINAL_INDENT);
        } else if (block->kind == IFM_BLOCK_LIST) {
            say_list(terminal, block);
        } else if (block->kind == IFM_BLOCK_GRID) {
            ifm_text_add(terminal->out, any_grid ? "\n" : "");
            any_grid = true;
            IFM_TRY(ifm_terminal_grid(terminal, &block->grid, error));
        } else if (block->kind == IFM_BLOCK_CURVE) {
            say_curve(terminal, block);
        }
    }
    return IFM_OK;
}

enum ifm_status ifm_paint_terminal(const struct ifm_document *document, bool colour, bool utf8, struct ifm_text *out,
                                   struct ifm_error *error)
{
    struct ifm_terminal terminal = {.out = out,
                                    .arena = document->arena,
                                    .colour = colour,
                                    .utf8 = utf8,
                                    .width = document->width,
                                    .margin = IFM_TERMINAL_INDENT,
                                    .left_out = ""};
    IFM_TRY(say_blocks(&terminal, &document->root, 0, error));
    say_where(&terminal, "");
    return IFM_OK;
}
