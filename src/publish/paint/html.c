/* report.html: one page, no network, the same without script, readable on a phone, in the dark and on paper.
 *
 * Of very many cells a browser would spend seconds on drawings that nobody has scrolled to: there they lie in the page
 * as text, and the script makes each when it comes into sight. */
#include "publish/paint/html.h"

#include "document/escape.h"
#include "publish/compose.h"
#include "report/figure.h"
#include <string.h>

enum {
    MANY_CELLS = 32,      /* of more a browser lays out only what is in sight (report.css) */
    VERY_MANY_CELLS = 256 /* of more it makes only the drawings in sight (report.js) */
};

/* ---- lines and lists ---- */

/* Text in which no option breaks at its hyphens: "--wait-quiet" is one word. */
static void add_words(struct ifm_text *out, const char *text)
{
    struct ifm_text piece = {0};
    for (const char *at; (at = strstr(text, "--")) != NULL;) {
        const size_t word = strspn(at, "abcdefghijklmnopqrstuvwxyz-");
        ifm_text_clear(&piece);
        ifm_text_append(&piece, text, (size_t)(at - text));
        ifm_escape_html(piece.data == NULL ? "" : piece.data, out);
        ifm_text_printf(out, "<span class=\"o\">%.*s</span>", (int)word, at);
        text = at + word;
    }
    ifm_escape_html(text, out);
    ifm_text_free(&piece);
}

static void add_span(struct ifm_html *html, const struct ifm_span *span)
{
    struct ifm_text *out = html->out;
    const char *element = span->code ? "code" : span->tone == IFM_TONE_STRONG ? "strong" : "";
    if (span->target != NULL)
        ifm_text_printf(out, "<a href=\"#%s\">", span->target);
    if (element[0] != '\0')
        ifm_escape_print(ifm_escape_html, out, "<%s>%s</%s>", element, span->text, element);
    else if (span->tone != IFM_TONE_PLAIN)
        ifm_escape_print(ifm_escape_html, out, "<span class=\"%s\">%s</span>", ifm_html_tone(span->tone), span->text);
    else
        add_words(out, span->text);
    ifm_text_add(out, span->target != NULL ? "</a>" : "");
    ifm_html_note(html, span->note);
}

static void add_spans(struct ifm_html *html, const struct ifm_line *line)
{
    for (size_t i = 0; i < line->n; i++)
        add_span(html, &line->spans[i]);
}

static void add_line(struct ifm_html *html, const struct ifm_block *block)
{
    static const char *const classes[] = {
        [IFM_AS_ASIDE] = "dim", [IFM_AS_DOUBTS] = "doubts", [IFM_AS_WORDS] = "words",
        [IFM_AS_OF] = "of",     [IFM_AS_STRONG] = "strong", [IFM_AS_SCOPE] = "scope",
    };
    if (block->purpose < sizeof classes / sizeof *classes && classes[block->purpose] != NULL)
        ifm_text_printf(html->out, "<p class=\"%s\">", classes[block->purpose]);
    else
        ifm_text_add(html->out, "<p>");
    add_spans(html, &block->line);
    ifm_text_add(html->out, "</p>\n");
}

static void add_item(struct ifm_html *html, const struct ifm_block *list, const struct ifm_item *item)
{
    struct ifm_text *out = html->out;
    bool told = list->purpose == IFM_AS_OUTCOMES && item->place[0] != '\0';
    if (told)
        ifm_text_printf(out, "<li class=\"said %s\">", ifm_html_tone(item->tone));
    else if (item->number > 0 && list->id[0] != '\0')
        ifm_text_printf(out, "<li id=\"%s-%zu\">", list->id, item->number);
    else if (item->number > 0)
        ifm_text_printf(out, "<li value=\"%zu\">", item->number);
    else
        ifm_text_add(out, item->again ? "<li class=\"again\">" : "<li>");
    if (item->label[0] != '\0' && !item->again)
        ifm_text_printf(out, "<span class=\"tag %s\">%s</span>", ifm_html_tone(item->tone), item->label);
    if (item->place[0] != '\0')
        ifm_escape_print(ifm_escape_html, out, "<b>%s</b>%s", item->place, told ? "" : ": ");
    add_spans(html, &item->line);
    if (item->rule[0] != '\0')
        ifm_escape_print(ifm_escape_html, out, " <span class=\"dim\">(%s)</span>", item->rule);
    ifm_text_add(out, "</li>\n");
}

static void add_items(struct ifm_html *html, const struct ifm_block *list, bool folded, size_t n)
{
    static const char *const begins[] = {
        [IFM_AS_FACTS] = "<ul class=\"ceilings\">\n",
        [IFM_AS_FINDINGS] = "<ul class=\"findings\">\n",
        [IFM_AS_NOTES] = "<ol class=\"notes\">\n",
    };
    bool own = list->purpose < sizeof begins / sizeof *begins && begins[list->purpose] != NULL;
    if (n == 0)
        return;
    ifm_text_add(html->out, own ? begins[list->purpose] : "<ul>\n");
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].folded == folded)
            add_item(html, list, &list->items[i]);
    ifm_text_add(html->out, list->purpose == IFM_AS_NOTES ? "</ol>\n" : "</ul>\n");
}

static void add_list(struct ifm_html *html, const struct ifm_block *list)
{
    size_t folded = 0, kinds = 0; /* as a terminal counts them: without those that say the same again */
    const char *label = "";
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].folded) {
            folded++;
            kinds += !list->items[i].again;
            label = list->items[i].label;
        }
    add_items(html, list, false, list->n_items - folded);
    if (folded == 0)
        return;
    if (label[0] != '\0')
        ifm_text_printf(html->out, "<details class=\"small\"><summary>%zu %s%s</summary>\n", kinds, label,
                        kinds == 1 ? "" : "s");
    else
        ifm_text_printf(html->out, "<details class=\"small\"><summary>%zu more</summary>\n", kinds);
    add_items(html, list, true, folded);
    ifm_text_add(html->out, "</details>\n");
}

static void add_glossary(struct ifm_html *html, const struct ifm_block *glossary)
{
    struct ifm_text *out = html->out;
    ifm_text_add(out, "<dl class=\"metrics\">\n");
    for (size_t i = 0; i < glossary->n_metrics; i++) {
        const struct ifm_metric *metric = glossary->metrics[i];
        ifm_escape_print(ifm_escape_html, out,
                         "<dt id=\"metric-%s\"><code>%s</code> in %s<dd>%s<br><i>Formula</i> %s\n", metric->id,
                         metric->id, metric->unit, metric->prose, metric->formula);
    }
    ifm_text_add(out, "</dl>\n");
}

/* ---- figures ---- */

static void add_table(struct ifm_html *html, const char *summary, const struct ifm_grid *grid, const char *caption)
{
    struct ifm_grid own = *grid;
    if (grid->n_rows == 0)
        return;
    own.caption = caption;
    ifm_escape_print(ifm_escape_html, html->out, "<details class=\"small\"><summary>%s</summary>\n", summary);
    ifm_html_grid(html, &own);
    ifm_text_add(html->out, "</details>\n");
}

/* `level` of its heading: 3 in a section, 2 on the first screen. */
static void add_figure(struct ifm_html *html, const struct ifm_figure *figure, int level)
{
    struct ifm_text *out = html->out;
    ifm_escape_print(ifm_escape_html, out, "<figure id=\"%s\"", figure->id);
    ifm_text_add(out, figure->wide ? " class=\"span\">" : ">");
    ifm_text_printf(out, "<h%d>", level);
    ifm_escape_html(figure->title, out);
    ifm_text_printf(out, "</h%d>\n", level);
    ifm_text_add(out, "<div class=\"drawing\">\n");
    ifm_text_append(out, figure->svg.data, figure->svg.size);
    ifm_text_add(out, "</div>\n");
    ifm_escape_print(ifm_escape_html, out, "<figcaption>%s</figcaption>\n", figure->sentence);
    if (!figure->derived || !html->document->lists_numbers)
        add_table(html, "Its numbers", &figure->numbers, figure->title);
    for (size_t i = 0; i < IFM_FIGURE_TABLES; i++)
        add_table(html, figure->more[i].title, &figure->more[i].grid,
                  ifm_arena_printf(html->document->arena, "%s: %s", figure->title, figure->more[i].title));
    ifm_text_add(out, "</figure>\n");
}

/* Figures that follow each other lie beside each other. Gives the last of them. */
static const struct ifm_block *add_figures(struct ifm_html *html, const struct ifm_block *block)
{
    bool any = false, later = html->document->plan->n_cells > VERY_MANY_CELLS;
    const char *begin = later ? "<div class=\"figures later\"><noscript>In a page of so many cells the drawings need "
                                "scripts.</noscript><script type=\"text/plain\">\n"
                              : "<div class=\"figures\">\n";
    for (;; block = block->next) {
        struct ifm_figure figure;
        if (ifm_figure_draw(html->document, block, &figure)) {
            ifm_text_add(html->out, any ? "" : begin);
            any = true;
            add_figure(html, &figure, 3);
        }
        ifm_figure_free(&figure);
        if (block->next == NULL || block->next->kind != IFM_BLOCK_FIGURE)
            break;
    }
    ifm_text_add(html->out, !any ? "" : later ? "</script></div>\n" : "</div>\n");
    return block;
}

/* ---- sections ---- */

static void add_block(struct ifm_html *html, const struct ifm_block *block, int depth);
static void add_blocks(struct ifm_html *html, const struct ifm_block *parent, int depth);

/* How far the numbers may be trusted: a badge, its cause and what helps. */
static void add_trust(struct ifm_html *html, const struct ifm_block *list)
{
    const struct ifm_item *item = &list->items[0];
    ifm_text_printf(html->out, "<p class=\"trust %s\"><span class=\"tag %s\">%s</span>", ifm_html_tone(item->tone),
                    ifm_html_tone(item->tone), item->label);
    if (item->place[0] != '\0')
        ifm_escape_print(ifm_escape_html, html->out, "<b>%s</b>: ", item->place);
    add_spans(html, &item->line);
    ifm_text_add(html->out, "</p>\n");
}

static void add_reasons(struct ifm_html *html, const struct ifm_block *list)
{
    for (size_t i = 0; i < list->n_items; i++) {
        ifm_text_add(html->out, i == 0 ? "<p class=\"lead\">" : i == 1 ? "<ul><li>" : "<li>");
        add_spans(html, &list->items[i].line);
        ifm_text_add(html->out, i == 0 ? "</p>\n" : "</li>\n");
    }
    ifm_text_add(html->out, list->n_items > 1 ? "</ul>\n" : "");
}

/* The words of the answer, and its picture beside them. */
static void add_verdict(struct ifm_html *html, const struct ifm_block *section)
{
    struct ifm_figure figure = {0};
    const struct ifm_block *last = section->last;
    bool drawn = last != NULL && last->kind == IFM_BLOCK_FIGURE && ifm_figure_draw(html->document, last, &figure);
    ifm_text_printf(html->out, "<div id=\"%s\" class=\"verdict %s%s\">\n", section->id, ifm_html_tone(section->tone),
                    drawn ? " drawn" : "");
    if (drawn) /* words flow around it on a desk, and stand above it on a phone */
        add_figure(html, &figure, 2);
    ifm_text_add(html->out, "<div>\n");
    if (section->title[0] != '\0')
        ifm_text_printf(html->out, "<div class=\"label\">%s</div>\n", section->title);
    for (const struct ifm_block *block = section->first; block != NULL; block = block->next)
        if (block->kind != IFM_BLOCK_FIGURE && !block->elsewhere)
            add_block(html, block, 1);
    ifm_text_add(html->out, "</div>\n</div>\n");
    ifm_figure_free(&figure);
}

static void add_contents(struct ifm_html *html, const struct ifm_block *section)
{
    ifm_escape_print(ifm_escape_html, html->out, "<section><nav aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n",
                     section->id, section->id, section->title);
    add_blocks(html, section, 1);
    ifm_text_add(html->out, "</nav></section>\n");
}

static void add_heading(struct ifm_html *html, const struct ifm_block *section, int depth)
{
    ifm_text_printf(html->out, "%s<h%d>", section->folded ? "<summary>" : "", depth + 2);
    ifm_escape_html(section->title, html->out);
    ifm_text_printf(html->out, "</h%d>%s\n", depth + 2, section->folded ? "</summary>" : "");
    if (section->subtitle[0] != '\0')
        ifm_escape_print(ifm_escape_html, html->out, "<p class=\"conditions\">%s</p>\n", section->subtitle);
}

/* One of the page is a card; one within another is a heading, or a fold. */
static void add_section(struct ifm_html *html, const struct ifm_block *section, int depth)
{
    struct ifm_text *out = html->out;
    const char *element = depth == 0 ? "section" : section->folded ? "details" : "";
    if (element[0] != '\0')
        ifm_escape_print(ifm_escape_html, out, "<%s id=\"%s\">", element, section->id);
    ifm_text_add(out, depth == 0 && section->folded ? "<details>" : "");
    add_heading(html, section, depth);
    add_blocks(html, section, depth + 1);
    ifm_text_add(out, depth == 0 && section->folded ? "</details>" : "");
    if (element[0] != '\0')
        ifm_text_printf(out, "</%s>\n", element);
}

static void add_block(struct ifm_html *html, const struct ifm_block *block, int depth)
{
    if (block->purpose == IFM_AS_VERDICT)
        add_verdict(html, block);
    else if (block->purpose == IFM_AS_CONTENTS)
        add_contents(html, block);
    else if (block->purpose == IFM_AS_REASONS)
        add_reasons(html, block);
    else if (block->purpose == IFM_AS_TRUST)
        add_trust(html, block);
    else if (block->kind == IFM_BLOCK_SECTION)
        add_section(html, block, depth);
    else if (block->kind == IFM_BLOCK_LINE)
        add_line(html, block);
    else if (block->kind == IFM_BLOCK_LIST)
        add_list(html, block);
    else if (block->kind == IFM_BLOCK_GRID)
        ifm_html_grid(html, &block->grid);
    else if (block->kind == IFM_BLOCK_GLOSSARY)
        add_glossary(html, block);
    else if (block->kind == IFM_BLOCK_CODE)
        ifm_escape_print(ifm_escape_html, html->out, "<pre tabindex=\"0\">%s</pre>\n", block->title);
}

static void add_blocks(struct ifm_html *html, const struct ifm_block *parent, int depth)
{
    for (const struct ifm_block *block = parent->first; block != NULL; block = block->next) {
        if (block->kind == IFM_BLOCK_FIGURE)
            block = add_figures(html, block);
        else if (!block->elsewhere)
            add_block(html, block, depth);
    }
}

/* ---- the page ---- */

static void add_head(struct ifm_html *html)
{
    struct ifm_text *out = html->out;
    ifm_text_printf(out, "<!DOCTYPE html>\n<html lang=\"en\"%s>\n",
                    html->document->plan->n_cells > MANY_CELLS ? " class=\"many\"" : "");
    ifm_text_add(out, "<head>\n<meta charset=\"utf-8\">\n"
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "style-src 'unsafe-inline'; script-src ");
    ifm_html_script_source(out);
    ifm_text_add(out, "; base-uri 'none'; form-action 'none'\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<meta name=\"referrer\" content=\"no-referrer\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n"
                      "<meta name=\"generator\" content=\"inferometer " IFM_VERSION "\">\n");
    const char *verdict = html->document->root.first->title;
    ifm_escape_print(ifm_escape_html, out, "<title>%s: inferometer run %s</title>\n<style>\n",
                     verdict[0] != '\0' ? verdict : html->document->title, html->document->derived->run_id);
    ifm_text_add(out, ifm_html_style());
    ifm_text_add(out, "</style>\n</head>\n");
}

/* Contents that stay in sight: the heading of each section, up to its first mark. Of cells the first fold alone. */
static void add_bar(struct ifm_html *html)
{
    static const char details[] = "Details";
    ifm_text_add(html->out, "<nav class=\"bar scroll\" aria-label=\"Contents\">");
    for (const struct ifm_block *block = html->document->root.first; block != NULL; block = block->next) {
        const char *title = block->purpose == IFM_AS_VERDICT ? "Answer" : block->title;
        const bool cell = strncmp(block->id, "cell-", 5) == 0;
        if (block->id[0] == '\0' || title[0] == '\0' ||
            (cell && (strcmp(block->id, "cell-1") != 0 || strncmp(title, details, sizeof details - 1) != 0)))
            continue;
        size_t length = strcspn(title, ":,(");
        length -= length > 0 && title[length - 1] == ' ';
        ifm_escape_print(ifm_escape_html, html->out, "<a href=\"#%s\">%s</a>\n", block->id,
                         ifm_arena_printf(html->document->arena, "%.*s", (int)length, title));
    }
    ifm_text_add(html->out, "</nav>\n");
}

void ifm_paint_html(const struct ifm_document *document, struct ifm_text *out)
{
    struct ifm_html html = {.out = out, .document = document};
    add_head(&html);
    ifm_escape_print(ifm_escape_html, out, "<body>\n<header class=\"top\"><h1>%s</h1><p>Inferometer report, ",
                     document->title);
    add_spans(&html, &document->about);
    ifm_text_add(out, "</p></header>\n");
    add_bar(&html);
    ifm_text_add(out, "<main>\n");
    add_blocks(&html, &document->root, 0);
    ifm_text_add(out, "</main>\n<footer><p>Made by inferometer " IFM_VERSION "; <code>inferometer verify DIR</code> "
                      "computes this page again.</p><p class=\"paper\">Paper holds what was open: unfold a part before "
                      "printing it.</p></footer>\n<script>");
    ifm_text_add(out, ifm_html_script());
    ifm_text_add(out, "</script>\n</body>\n</html>\n");
}
