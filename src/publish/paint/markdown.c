/* report.md, and what `--format md` prints: all but figures and the list of every number, for pull requests, issues and
 * wikis. */
#include "document/escape.h"
#include "publish/compose.h"
#include <string.h>

static void add_toned(const char *text, enum ifm_tone tone, struct ifm_text *out)
{
    const char *mark = tone == IFM_TONE_STRONG ? "**" : "";
    ifm_text_add(out, mark);
    ifm_escape_markdown(text, out);
    ifm_text_add(out, mark);
}

static void add_note(unsigned note, struct ifm_text *out)
{
    if (note > 0)
        ifm_text_printf(out, "<sup>%u</sup>", note);
}

static void add_line(const struct ifm_line *line, struct ifm_text *out)
{
    for (size_t i = 0; i < line->n; i++) {
        const struct ifm_span *span = &line->spans[i];
        if (span->code)
            ifm_escape_markdown_code(span->text, out);
        else
            add_toned(span->text, span->tone, out);
        add_note(span->note, out);
    }
}

static void add_field(const struct ifm_field *field, struct ifm_text *out)
{
    add_toned(field->text, field->tone, out);
    add_note(field->note, out);
    if (field->interval[0] != '\0')
        ifm_text_add(out, " ");
    ifm_escape_markdown(field->interval, out);
}

void ifm_paint_markdown_grid(const struct ifm_grid *grid, struct ifm_text *out)
{
    for (size_t c = 0; c < grid->n_columns; c++) {
        ifm_text_add(out, "| ");
        ifm_escape_markdown(grid->headings[c].text, out);
        ifm_text_add(out, grid->headings[c].text[0] == '\0' ? "" : " ");
    }
    ifm_text_add(out, "|\n");
    for (size_t c = 0; c < grid->n_columns; c++)
        ifm_text_add(out, grid->headings[c].left ? "|---" : "|---:");
    ifm_text_add(out, "|\n");
    for (size_t r = 0; r < grid->n_rows; r++) {
        for (size_t c = 0; c < grid->n_columns; c++) {
            ifm_text_add(out, "| ");
            add_field(ifm_grid_at(grid, r, c), out);
            ifm_text_add(out, " ");
        }
        ifm_text_add(out, "|\n");
    }
}

static void add_item(const struct ifm_block *list, const struct ifm_item *item, struct ifm_text *out)
{
    if (item->number > 0)
        ifm_text_printf(out, "%zu. ", item->number);
    else
        ifm_text_add(out, item->again ? "  - " : "- ");
    if (item->label[0] != '\0' && !item->again)
        ifm_text_printf(out, "**%s** ", item->label);
    bool told = list->purpose == IFM_AS_OUTCOMES;
    if (item->place[0] != '\0')
        add_toned(item->place, told ? IFM_TONE_STRONG : IFM_TONE_PLAIN, out);
    ifm_text_add(out, item->place[0] == '\0' || told ? "" : ": ");
    add_line(&item->line, out);
    if (item->rule[0] != '\0')
        ifm_escape_print(ifm_escape_markdown, out, " (%s)", item->rule);
    ifm_text_add(out, "\n");
}

/* What is folded comes behind the rest, under how many they are. */
static void add_list(const struct ifm_block *list, struct ifm_text *out)
{
    size_t folded = 0, kinds = 0, open = 0; /* as a terminal counts them: without those that say the same again */
    const char *label = "";
    for (size_t i = 0; i < list->n_items; i++) {
        folded += list->items[i].folded;
        kinds += list->items[i].folded && !list->items[i].again;
        label = list->items[i].folded ? list->items[i].label : label;
        if (!list->items[i].folded)
            add_item(list, &list->items[i], out);
    }
    open = list->n_items - folded;
    ifm_text_add(out, open > 0 ? "\n" : "");
    if (folded == 0)
        return;
    ifm_text_printf(out, "<details><summary>%zu %s%s</summary>\n\n", kinds, label, kinds == 1 ? "" : "s");
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].folded)
            add_item(list, &list->items[i], out);
    ifm_text_add(out, "\n</details>\n\n");
}

static void add_curve(const struct ifm_block *curve, struct ifm_text *out)
{
    ifm_text_printf(out, "| | %s |\n|---:|---:|\n", curve->title);
    for (size_t i = 0; i < curve->n_points; i++)
        ifm_text_printf(out, "| %s | %s |\n", curve->points[i].size, curve->points[i].text);
    ifm_text_add(out, "\n");
}

static void add_block(const struct ifm_block *block, int depth, struct ifm_text *out);
static void add_blocks(const struct ifm_block *parent, int depth, struct ifm_text *out);

/* The heading has "gate so and so fails", and a paragraph the numbers behind its colon. */
static void add_first_reason(const struct ifm_line *line, struct ifm_text *out)
{
    const char *text = line->n == 1 ? line->spans[0].text : "", *behind = strstr(text, ": ");
    if (behind == NULL) {
        add_line(line, out);
        return;
    }
    struct ifm_text lead = {0};
    ifm_text_printf(&lead, "%.*s", (int)(behind - text), text);
    ifm_escape_markdown(lead.data, out);
    ifm_text_free(&lead);
    ifm_text_add(out, "\n\n");
    ifm_escape_markdown(behind + 2, out);
}

/* "## FAIL: the first reason", then the others. */
static void add_reasons(const struct ifm_block *list, struct ifm_text *out)
{
    for (size_t i = 0; i < list->n_items; i++) {
        ifm_text_add(out, i == 0 ? ": " : "\n- ");
        if (i == 0)
            add_first_reason(&list->items[i].line, out);
        else
            add_line(&list->items[i].line, out);
        ifm_text_add(out, i == 0 ? "\n" : "");
    }
    ifm_text_add(out, list->n_items == 1 ? "\n" : "\n\n");
}

/* What was found, and how far to trust it: under the verdict where gates asked for one, else under what was measured.
 */
static void add_answer(const struct ifm_document *document, const struct ifm_block *section, struct ifm_text *out)
{
    const bool gated = section->title[0] != '\0';
    ifm_escape_print(ifm_escape_markdown, out, "## %s", gated ? section->title : document->title);
    for (const struct ifm_block *block = section->first; block != NULL; block = block->next) {
        if (block->level > IFM_LEVEL_FOLDED)
            continue;
        if (block->purpose != IFM_AS_REASONS) {
            add_block(block, 0, out);
            continue;
        }
        add_reasons(block, out);
        if (gated && document->title[0] != '\0')
            ifm_escape_print(ifm_escape_markdown, out, "%s\n\n", document->title);
    }
}

/* Inside a line of HTML, which an empty line would end. */
static void escape_html_line(const char *text, struct ifm_text *out)
{
    size_t from = out->size;
    ifm_escape_html(text, out);
    for (size_t i = from; i < out->size; i++)
        if (out->data[i] == '\n' || out->data[i] == '\t')
            out->data[i] = ' ';
}

static void add_section(const struct ifm_block *section, int depth, struct ifm_text *out)
{
    if (section->folded) {
        ifm_escape_print(escape_html_line, out, "<details><summary>%s</summary>\n\n", section->title);
        add_blocks(section, depth + 1, out);
        ifm_text_add(out, "</details>\n\n");
        return;
    }
    if (section->title[0] != '\0') {
        ifm_text_printf(out, "%.*s ", depth + 3, "######");
        ifm_escape_print(ifm_escape_markdown, out, "%s\n\n", section->title);
    }
    if (section->subtitle[0] != '\0')
        ifm_escape_print(ifm_escape_markdown, out, "%s\n\n", section->subtitle);
    add_blocks(section, depth + 1, out);
}

static void add_block(const struct ifm_block *block, int depth, struct ifm_text *out)
{
    switch (block->kind) {
    case IFM_BLOCK_SECTION:
        add_section(block, depth, out);
        break;
    case IFM_BLOCK_LINE:
        add_line(&block->line, out);
        ifm_text_add(out, "\n\n");
        break;
    case IFM_BLOCK_LIST:
        if (!block->elsewhere)
            add_list(block, out);
        break;
    case IFM_BLOCK_GRID:
        ifm_paint_markdown_grid(&block->grid, out);
        ifm_text_add(out, "\n");
        break;
    case IFM_BLOCK_CODE:
        ifm_text_printf(out, "```sh\n%s\n```\n\n", block->title);
        break;
    case IFM_BLOCK_CURVE:
        add_curve(block, out);
        break;
    case IFM_BLOCK_FIGURE: /* of the page */
    case IFM_BLOCK_GLOSSARY:
        break;
    }
}

static void add_blocks(const struct ifm_block *parent, int depth, struct ifm_text *out)
{
    for (const struct ifm_block *block = parent->first; block != NULL; block = block->next)
        if (block->level <= IFM_LEVEL_FOLDED && block->purpose != IFM_AS_VERDICT)
            add_block(block, depth, out);
}

void ifm_paint_markdown(const struct ifm_document *document, struct ifm_text *out)
{
    for (const struct ifm_block *block = document->root.first; block != NULL; block = block->next)
        if (block->purpose == IFM_AS_VERDICT)
            add_answer(document, block, out);
    add_blocks(&document->root, 0, out);
}
