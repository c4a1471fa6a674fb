/* Every number: a cell's arms beside each other, a line a metric, reasons told once.
 *
 * Rounds for people; the exact values are elsewhere. */
#include "document/build.h"
#include "document/quantity.h"
#include <string.h>

enum {
    MOST_COLUMNS = 8, /* arms beside each other in one table */
    MOST_NUMBERS =
        10000, /* on a page: nobody reads more there, and a browser would build two thirds of its nodes for them */
};

/* Reasons, each once. */
struct reasons {
    struct ifm_names *numbers;
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

static unsigned number_of(struct ifm_builder *builder, struct reasons *reasons, const char *text)
{
    size_t number = ifm_names_add(reasons->numbers, text);
    if (number == reasons->n) {
        IFM_ARENA_GROW(builder->arena, reasons->texts, reasons->n, reasons->capacity);
        reasons->texts[reasons->n++] = text;
    }
    return (unsigned)number + 1;
}

/* A word stands beside the number, a sentence among the reasons. */
static struct ifm_field field_of(struct ifm_builder *builder, enum ifm_metric_id metric, const struct ifm_value *value,
                                 struct reasons *reasons)
{
    struct ifm_field field = ifm_field_text("", IFM_TONE_PLAIN);
    if (value == NULL)
        return field;
    bool ok = value->state == IFM_STATE_OK, said = ok && !ifm_is_empty(value->text);
    bool sentence = said && strchr(value->text, ' ') != NULL;
    const char *why = sentence ? value->text : "";
    field.text = ok ? ifm_quantity_full(ifm_quantity_for_people(metric, value, builder->arena), builder->arena)
                    : ifm_state_label(value->state);
    if (ok && value->has_sd)
        field.text = ifm_arena_printf(builder->arena, "%s, sd %s", field.text,
                                      ifm_quantity_bare(value->sd, value->unit, builder->arena));
    if (said && !sentence)
        field.text = ifm_arena_printf(builder->arena, "%s %s", field.text, value->text);
    if (!ifm_is_empty(value->reason))
        why = ifm_arena_printf(builder->arena, "%s%s%s", why, why[0] == '\0' ? "" : "; ",
                               ifm_with_remedy(value->reason, value->remedy, builder->arena));
    field.note = why[0] == '\0' ? 0 : number_of(builder, reasons, why);
    return field;
}

/* "60 samples" where all arms have as many; "60, 720 samples" in the order of the arms where they have not. */
static const char *count_text(struct ifm_builder *builder, const struct block *block, size_t metric)
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
        return ifm_arena_printf(builder->arena, "%lld %s", (long long)first->n, first->n_of);
    const char *text = "";
    for (size_t a = 0; a < block->n_arms; a++) {
        bool any = values[a] != NULL && values[a]->n > 0;
        const char *count = any ? ifm_arena_printf(builder->arena, "%lld", (long long)values[a]->n) : "–";
        text = ifm_arena_printf(builder->arena, "%s%s%s%s%s", text, a == 0 ? "" : ", ", count,
                                any && !same_kind ? " " : "", any && !same_kind ? values[a]->n_of : "");
    }
    return same_kind ? ifm_arena_printf(builder->arena, "%s %s", text, first->n_of) : text;
}

static void add_block(struct ifm_builder *builder, struct ifm_block *section, const struct block *block,
                      struct reasons *reasons)
{
    struct ifm_grid grid = ifm_grid_make(builder->arena, block->n_arms + 2, block->n_metrics);
    grid.look = IFM_GRID_DENSE;
    grid.caption = block->cell[0] == '\0' ? "the whole run" : block->cell;
    grid.note_prefix = "why";
    grid.headings[0].text = "metric";
    grid.headings[1].text = "n";
    for (size_t a = 0; a < block->n_arms; a++)
        grid.headings[a + 2].text = block->arms[a][0] == '\0' ? "value" : block->arms[a];
    for (size_t m = 0; m < block->n_metrics; m++) {
        *ifm_grid_at(&grid, m, 0) = ifm_field_text(ifm_metrics[block->metrics[m]].id, IFM_TONE_PLAIN);
        *ifm_grid_at(&grid, m, 1) = ifm_field_text(count_text(builder, block, m), IFM_TONE_PLAIN);
        for (size_t a = 0; a < block->n_arms; a++)
            *ifm_grid_at(&grid, m, a + 2) =
                field_of(builder, block->metrics[m], block->values[m * MOST_COLUMNS + a], reasons);
    }
    ifm_add_grid(builder, section, &grid);
}

/* ---- which numbers stand together ---- */

/* Arms that have the same kind of numbers: those that are compared, each kind of ceiling, the cell's own. */
static int kind_of(const struct ifm_cell *cell, const char *name)
{
    const struct ifm_arm *arm = cell == NULL ? NULL : ifm_cell_arm(cell, name);
    return arm == NULL ? 0 : arm->role == IFM_ROLE_CEILING ? 2 + (int)arm->ceiling : 1;
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
static size_t collect(struct ifm_builder *builder, const struct ifm_cell *cell, size_t from, struct block *block)
{
    const struct ifm_derived *derived = builder->from->derived;
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
        size_t line = line_of(block, number->metric, behind, &capacity, builder->arena);
        block->values[line * MOST_COLUMNS + block->n_arms - 1] = &number->value;
        block->n_values++;
        behind = line + 1;
    }
    return i;
}

static void add_reasons(struct ifm_builder *builder, struct ifm_block *section, const struct reasons *reasons)
{
    struct ifm_block *part = ifm_add_section(builder, section, IFM_LEVEL_PAGE, "", "Reasons and remarks");
    struct ifm_block *list = ifm_add_list(builder, part, IFM_AS_NOTES);
    list->id = "why";
    for (size_t i = 0; i < reasons->n; i++)
        ifm_add_sentence(builder, list, reasons->texts[i])->number = i + 1;
}

/* A cell of ceilings alone is about them. */
static bool has_subject(const struct ifm_cell *cell)
{
    for (size_t a = 0; cell != NULL && a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING)
            return true;
    return false;
}

/* Numbers of probes beside a subject: a reader of the page asks for the ceiling that they gave. */
static size_t count_of_probes(const struct ifm_builder *builder)
{
    const struct ifm_derived *derived = builder->from->derived;
    const struct ifm_cell *cell = NULL;
    size_t n = 0;
    for (size_t i = 0; i < derived->n_numbers; i++) {
        if (cell == NULL || strcmp(cell->name, derived->numbers[i].cell) != 0)
            cell = ifm_plan_cell(builder->from->plan, derived->numbers[i].cell);
        n += kind_of(cell, derived->numbers[i].arm) > 1 && has_subject(cell);
    }
    return n;
}

/* Where the exact values are, and what the tables below, if any, show of them. */
static void add_lead(struct ifm_builder *builder, struct ifm_block *section, bool tables, size_t probes)
{
    struct ifm_line *line = ifm_add_line(builder, section, IFM_LEVEL_PAGE, IFM_AS_ASIDE, "Exact values stand in ");
    ifm_say_code(builder, line, "derived.json");
    ifm_say(builder, line, IFM_TONE_PLAIN, " and ");
    ifm_say_code(builder, line, "report.csv");
    ifm_say(builder, line, IFM_TONE_PLAIN,
            tables ? "; here they are rounded. n is what a number was made of; several are in the order of the arms. A "
                     "small number behind a value leads to what must be said beside it."
                   : ": they are too many for a page.");
    if (tables && probes > 0)
        ifm_say(builder, line, IFM_TONE_PLAIN, " Those of the probes of ceilings (%zu) stand in the files alone.",
                probes);
}

void ifm_build_numbers(struct ifm_builder *builder)
{
    const struct ifm_derived *derived = builder->from->derived;
    struct reasons reasons = {.numbers = ifm_names_create(builder->arena)};
    struct ifm_block *section = ifm_add_part(
        builder, IFM_LEVEL_PAGE, "numbers", ifm_arena_printf(builder->arena, "Every number (%zu)", derived->n_numbers));
    bool tables = derived->n_numbers <= MOST_NUMBERS;
    section->folded = true;
    builder->document->lists_numbers = tables;
    add_lead(builder, section, tables, count_of_probes(builder));
    if (!tables)
        return;
    const struct ifm_cell *cell = NULL;
    for (size_t i = 0; i < derived->n_numbers;) {
        struct block block;
        if (cell == NULL || strcmp(cell->name, derived->numbers[i].cell) != 0)
            cell = ifm_plan_cell(builder->from->plan, derived->numbers[i].cell);
        bool probe = kind_of(cell, derived->numbers[i].arm) > 1;
        i = collect(builder, cell, i, &block);
        if (!probe || !has_subject(cell))
            add_block(builder, section, &block, &reasons);
    }
    if (reasons.n > 0)
        add_reasons(builder, section, &reasons);
}
