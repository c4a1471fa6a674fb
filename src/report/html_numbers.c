/* The report's table of every number: a cell's arms beside each other, a line a metric, reasons told once.
 *
 * Written to be small: a sweep has tens of thousands of numbers. Rounds for people; the exact values are elsewhere. */
#include "publish/quantity.h"
#include "report/html.h"
#include <string.h>

enum { MOST_COLUMNS = 8 }; /* arms beside each other in one table */

/* Reasons, each once in the page. */
struct reasons {
    const char **texts;
    size_t n, capacity;
};

/* Numbers of one cell that stand in one table: those of `arms`, in the order of derive. */
struct block {
    const char *cell;
    const char *arms[MOST_COLUMNS];
    size_t n_arms;
    enum ifm_metric_id *metrics;
    size_t n_metrics;
    const struct ifm_value **values; /* [metric * MOST_COLUMNS + arm] */
    size_t n_values;
};

static void add_reason(struct ifm_page *page, struct reasons *reasons, const char *text)
{
    size_t i = 0;
    while (i < reasons->n && strcmp(reasons->texts[i], text) != 0)
        i++;
    if (i == reasons->n) {
        IFM_ARENA_GROW(page->arena, reasons->texts, reasons->n, reasons->capacity);
        reasons->texts[reasons->n++] = text;
    }
    ifm_text_printf(page->out, " <a href=\"#why-%zu\">%zu</a>", i + 1, i + 1);
}

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static void add_value(struct ifm_page *page, const struct ifm_value *value, struct reasons *reasons)
{
    struct ifm_text *out = page->out;
    ifm_text_add(out, "<td>");
    if (value == NULL)
        return;
    bool ok = value->state == IFM_STATE_OK;
    ifm_html_escape(ok ? ifm_quantity_full(value, page->arena) : ifm_state_label(value->state), out);
    /* A word stands beside the number, a sentence among the reasons. */
    bool sentence = ok && is_set(value->text) && strchr(value->text, ' ') != NULL;
    if (ok && is_set(value->text) && !sentence) {
        ifm_text_add(out, " ");
        ifm_html_escape(value->text, out);
    }
    if (sentence)
        add_reason(page, reasons, value->text);
    if (is_set(value->reason))
        add_reason(page, reasons,
                   is_set(value->remedy) ? ifm_arena_printf(page->arena, "%s. Remedy: %s", value->reason, value->remedy)
                                         : value->reason);
}

/* "60 samples" where all arms have as many; "60, 720 samples" in the order of the arms where they have not. */
static const char *count_text(struct ifm_page *page, const struct block *block, size_t metric)
{
    const struct ifm_value *first = NULL;
    bool same = true, same_kind = true;
    const struct ifm_value *const *values = &block->values[metric * MOST_COLUMNS];
    for (size_t a = 0; a < block->n_arms; a++) {
        if (values[a] == NULL || values[a]->n <= 0)
            continue;
        if (first == NULL)
            first = values[a];
        same &= values[a]->n == first->n;
        same_kind &= strcmp(values[a]->n_of, first->n_of) == 0;
    }
    if (first == NULL)
        return "";
    if (same && same_kind)
        return ifm_arena_printf(page->arena, "%lld %s", (long long)first->n, first->n_of);
    const char *text = "";
    for (size_t a = 0; a < block->n_arms; a++) {
        bool any = values[a] != NULL && values[a]->n > 0;
        const char *count = any ? ifm_arena_printf(page->arena, "%lld", (long long)values[a]->n) : "–";
        text = ifm_arena_printf(page->arena, "%s%s%s%s%s", text, a == 0 ? "" : ", ", count,
                                any && !same_kind ? " " : "", any && !same_kind ? values[a]->n_of : "");
    }
    return same_kind ? ifm_arena_printf(page->arena, "%s %s", text, first->n_of) : text;
}

static void add_block(struct ifm_page *page, const struct block *block, struct reasons *reasons)
{
    struct ifm_text *out = page->out;
    ifm_text_add(out, "<div class=\"scroll\" tabindex=\"0\"><table class=\"all\"><caption>");
    ifm_html_escape(block->cell[0] == '\0' ? "the whole run" : block->cell, out);
    ifm_text_add(out, "</caption><thead><tr><th scope=\"col\">metric<th scope=\"col\">n");
    for (size_t a = 0; a < block->n_arms; a++) {
        ifm_text_add(out, "<th scope=\"col\">");
        ifm_html_escape(block->arms[a][0] == '\0' ? "value" : block->arms[a], out);
    }
    ifm_text_add(out, "<tbody>\n");
    for (size_t m = 0; m < block->n_metrics; m++) {
        ifm_text_add(out, "<tr><th scope=\"row\">");
        ifm_html_metric(page, block->metrics[m], ifm_metrics[block->metrics[m]].id);
        ifm_text_add(out, "<td>");
        ifm_html_escape(count_text(page, block, m), out);
        for (size_t a = 0; a < block->n_arms; a++)
            add_value(page, block->values[m * MOST_COLUMNS + a], reasons);
        ifm_text_add(out, "\n");
    }
    ifm_text_add(out, "</table></div>\n");
}

/* ---- which numbers stand together ---- */

/* Arms that have the same kind of numbers: those that are compared, each kind of ceiling, the cell's own. */
static int kind_of(const struct ifm_cell *cell, const char *name)
{
    for (size_t a = 0; cell != NULL && a < cell->n_arms; a++)
        if (strcmp(cell->arms[a].name, name) == 0)
            return cell->arms[a].role == IFM_ROLE_CEILING ? 2 + (int)cell->arms[a].ceiling : 1;
    return 0;
}

/* The line of a metric: behind that of the arm's number before it, so that each arm's order is kept. */
static size_t line_of(struct block *block, enum ifm_metric_id metric, size_t behind, size_t *capacity,
                      struct ifm_arena *arena)
{
    for (size_t m = 0; m < block->n_metrics; m++)
        if (block->metrics[m] == metric)
            return m;
    size_t values = *capacity;
    IFM_ARENA_GROW(arena, block->metrics, block->n_metrics, *capacity);
    if (*capacity > values) {
        const struct ifm_value **more = IFM_ARENA_ARRAY(arena, const struct ifm_value *, *capacity *MOST_COLUMNS);
        if (block->n_metrics > 0)
            memcpy(more, block->values, block->n_metrics * MOST_COLUMNS * sizeof *more);
        block->values = more;
    }
    size_t tail = block->n_metrics - behind, row = MOST_COLUMNS * sizeof *block->values;
    memmove(&block->metrics[behind + 1], &block->metrics[behind], tail * sizeof *block->metrics);
    memmove(&block->values[(behind + 1) * MOST_COLUMNS], &block->values[behind * MOST_COLUMNS], tail * row);
    memset(&block->values[behind * MOST_COLUMNS], 0, row);
    block->metrics[behind] = metric;
    block->n_metrics++;
    return behind;
}

/* Numbers from `from` on that stand in one table; those of an arm lie together. Returns where the next table begins. */
static size_t collect(struct ifm_page *page, const struct ifm_cell *cell, size_t from, struct block *block)
{
    const struct ifm_derived *derived = page->publication->derived;
    size_t capacity = 0, i = from, behind = 0;
    *block = (struct block){.cell = derived->numbers[from].cell};
    int kind = kind_of(cell, derived->numbers[from].arm);
    for (; i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        bool is_new = block->n_arms == 0 || strcmp(number->arm, block->arms[block->n_arms - 1]) != 0;
        if (strcmp(number->cell, block->cell) != 0)
            break;
        if (is_new && (block->n_arms == MOST_COLUMNS || kind_of(cell, number->arm) != kind))
            break;
        if (is_new) {
            block->arms[block->n_arms++] = number->arm;
            behind = 0;
        }
        size_t line = line_of(block, number->metric, behind, &capacity, page->arena);
        block->values[line * MOST_COLUMNS + block->n_arms - 1] = &number->value;
        block->n_values++;
        behind = line + 1;
    }
    return i;
}

static const struct ifm_cell *cell_named(const struct ifm_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_cells; i++)
        if (strcmp(plan->cells[i].name, name) == 0)
            return &plan->cells[i];
    return NULL;
}

void ifm_html_numbers(struct ifm_page *page)
{
    const struct ifm_derived *derived = page->publication->derived;
    struct reasons reasons = {0};
    ifm_text_printf(page->out, "<section id=\"numbers\"><details><summary><h2>Every number (%zu)</h2></summary>\n",
                    derived->n_numbers);
    ifm_text_add(
        page->out,
        "<p class=\"dim\">Exact values stand in <code>derived.json</code> and "
        "<code>report.csv</code>; here they are rounded. n is what a number was made of; several "
        "are in the order of the arms. A small number behind a value leads to what must be said beside it.</p>\n");
    const struct ifm_cell *cell = NULL;
    for (size_t i = 0; i < derived->n_numbers;) {
        struct block block;
        if (cell == NULL || strcmp(cell->name, derived->numbers[i].cell) != 0)
            cell = cell_named(page->publication->plan, derived->numbers[i].cell);
        i = collect(page, cell, i, &block);
        add_block(page, &block, &reasons);
    }
    if (reasons.n > 0)
        ifm_text_add(page->out, "<h3>Reasons and remarks</h3>\n<ol class=\"notes\">\n");
    for (size_t i = 0; i < reasons.n; i++) {
        ifm_text_printf(page->out, "<li id=\"why-%zu\">", i + 1);
        ifm_html_escape(reasons.texts[i], page->out);
        ifm_text_add(page->out, "\n");
    }
    ifm_text_add(page->out, reasons.n > 0 ? "</ol></details></section>\n" : "</details></section>\n");
}
