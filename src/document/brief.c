/* The brief document: what a terminal shows unless it is asked for more. Cells of one shape are one table, of time, one
 * rate, comparison and price; then a sentence a comparison, why a number of the tables is missing, and the word of
 * trust. What it leaves out is in report.md. Computes no number. */
#include "derive/energy/power_run.h"
#include "document/build.h"
#include "document/quantity.h"
#include "document/trust.h"
#include <math.h>
#include <string.h>

enum {
    WIDTH = 100,      /* of a terminal's line */
    SENTENCES = 6,    /* of more comparisons only how many there are of each kind: the tables have them */
    NOTES = 3,        /* footnotes below the tables */
    ABSENT_CELLS = 3, /* cells that this machine cannot run, each with its reason */
    INTENSE = 4,      /* FLOP a byte, from which on the rate that matters is that of computing */
    MOST_COLUMNS = 16
};

/* Bytes that UTF-8 text takes on the screen, one a character. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* The whole words of at most `most` columns. */
static const char *cut(const struct ifm_builder *builder, const char *text, size_t most)
{
    size_t size = 0, width = 0;
    if (width_of(text) <= most)
        return text;
    for (size_t i = 0; text[i] != '\0' && width + 2 <= most; i++) {
        if (text[i] == ' ')
            size = i;
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return ifm_arena_printf(builder->arena, "%.*s …", (int)size, text);
}

/* ---- columns ---- */

struct shown_columns {
    struct ifm_metric_column items[MOST_COLUMNS];
    size_t n;
};

/* Cells that stand in one table, from `first` on. */
struct group {
    const struct ifm_cell *first;
    size_t n;
    const char *conditions;
};

static bool has_any(const struct ifm_builder *builder, const struct group *group, enum ifm_metric_id metric, bool ok)
{
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++) {
            const struct ifm_arm *arm = &group->first[i].arms[a];
            const struct ifm_value *value = ifm_value_of(builder, &group->first[i], arm, metric);
            if (ifm_is_row(builder, &group->first[i], arm) && (ok ? ifm_is_ok(value) : value != NULL))
                return true;
        }
    return false;
}

/* The column of a metric in one of the document's tables; NULL: it has none. */
static const struct ifm_metric_column *column_in(const struct ifm_metric_columns *columns, enum ifm_metric_id metric)
{
    for (size_t i = 0; i < columns->n; i++)
        if (columns->items[i].metric == metric)
            return &columns->items[i];
    return NULL;
}

/* As the tables of the report show it, where they do. */
static bool add_column(const struct ifm_builder *builder, const struct group *group, enum ifm_metric_id metric,
                       struct shown_columns *out)
{
    const struct ifm_metric_column *spec = column_in(&ifm_columns_arms, metric);
    bool shown = false;
    for (size_t i = 0; spec != NULL && i < group->n && !shown; i++)
        shown = ifm_cell_shows(builder, &group->first[i], spec);
    if (shown)
        out->items[out->n++] = (struct ifm_metric_column){spec->heading, metric, 0};
    return shown;
}

struct kinds {
    bool reads, writes, computes; /* rows that mostly do so */
};

static struct kinds kinds_of(const struct ifm_builder *builder, const struct group *group)
{
    struct kinds kinds = {false, false, false};
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++) {
            const struct ifm_arm *arm = &group->first[i].arms[a];
            double bytes = (double)arm->ledger.bytes_read + (double)arm->ledger.bytes_written;
            if (!ifm_is_row(builder, &group->first[i], arm))
                continue;
            bool computes = (double)arm->ledger.flops >= INTENSE * bytes && arm->ledger.flops > 0;
            kinds.computes |= computes;
            kinds.reads |= !computes && arm->ledger.bytes_read > 0;
            kinds.writes |= !computes && arm->ledger.bytes_written > 0;
        }
    return kinds;
}

/* The rate that matters: tokens where a step makes some, else that of the roof which the work is near to. */
static void add_rates(const struct ifm_builder *builder, const struct group *group, struct shown_columns *out)
{
    if (add_column(builder, group, IFM_M_TOKENS_GENERATED_PER_S, out) ||
        add_column(builder, group, IFM_M_TOKENS_PROMPT_PER_S, out))
        return;
    struct kinds kinds = kinds_of(builder, group);
    if (kinds.reads && kinds.writes && has_any(builder, group, IFM_M_BANDWIDTH_BYTES_PER_S, false))
        out->items[out->n++] = (struct ifm_metric_column){"bandwidth", IFM_M_BANDWIDTH_BYTES_PER_S, 0};
    else if (kinds.reads || kinds.writes)
        (void)add_column(builder, group, kinds.reads ? IFM_M_READ_BYTES_PER_S : IFM_M_WRITE_BYTES_PER_S, out);
    if (kinds.computes)
        (void)add_column(builder, group, IFM_M_FLOPS_PER_S, out);
}

/* Energy that a pass of its own measured, or a sensor beside the samples. */
static void add_energy(const struct ifm_builder *builder, const struct group *group, struct shown_columns *out)
{
    if (!ifm_power_is_planned(group->first)) {
        (void)add_column(builder, group, IFM_M_TOTAL_ENERGY_J, out);
        return;
    }
    bool tokens = has_any(builder, group, IFM_M_ENERGY_PER_TOKEN_J, true) ||
                  !has_any(builder, group, IFM_M_ENERGY_PER_STEP_J, true);
    enum ifm_metric_id metric = tokens ? IFM_M_ENERGY_PER_TOKEN_J : IFM_M_ENERGY_PER_STEP_J;
    const struct ifm_metric_column *spec = column_in(tokens ? &ifm_columns_energy : &ifm_columns_energy_step, metric);
    if (spec == NULL || !has_any(builder, group, metric, false))
        return;
    bool run = ifm_cell_counts_programs(group->first) && !tokens;
    out->items[out->n++] = (struct ifm_metric_column){run ? "energy/run" : spec->heading, metric, 0};
}

static struct shown_columns columns_of(const struct ifm_builder *builder, const struct group *group)
{
    struct shown_columns columns = {.n = 0};
    if (add_column(builder, group, IFM_M_STEP_NS, &columns) && ifm_cell_counts_programs(group->first))
        columns.items[0].heading = "time/run";
    add_rates(builder, group, &columns);
    (void)add_column(builder, group, IFM_M_TPOT_BOUND_NS, &columns);
    (void)add_column(builder, group, IFM_M_COMMAND_CPU_NS, &columns);
    (void)add_column(builder, group, IFM_M_COMMAND_RSS_BYTES, &columns);
    (void)add_column(builder, group, IFM_M_SPEEDUP, &columns);
    add_energy(builder, group, &columns);
    (void)add_column(builder, group, IFM_M_COMPRESSION_RATIO, &columns);
    if (add_column(builder, group, IFM_M_LOSS_RMS_REL, &columns))
        (void)add_column(builder, group, IFM_M_ATTENTION_KL_NATS, &columns);
    else
        (void)add_column(builder, group, IFM_M_ERROR_RMS_REL, &columns);
    return columns;
}

/* ---- rows ---- */

static bool is_rate(enum ifm_metric_id metric)
{
    return ifm_metrics[metric].kind == IFM_CLASS_RATE;
}

/* The level of a column's intervals, where it is not the usual one: "vs baseline (98.3 %)". */
static const char *heading_of(const struct ifm_builder *builder, const struct group *group,
                              const struct ifm_metric_column *spec)
{
    double least = 1, most = 0;
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++) {
            const struct ifm_value *value =
                ifm_value_of(builder, &group->first[i], &group->first[i].arms[a], spec->metric);
            if (!ifm_is_row(builder, &group->first[i], &group->first[i].arms[a]) || !ifm_is_ok(value) ||
                !value->has_interval)
                continue;
            least = fmin(least, value->level);
            most = fmax(most, value->level);
        }
    bool usual = most <= 0 || (fabs(least - 0.95) < 5e-4 && fabs(most - 0.95) < 5e-4);
    if (usual || is_rate(spec->metric))
        return spec->heading;
    return ifm_arena_printf(builder->arena, "%s (%s)", spec->heading, ifm_level_words(least, most, builder->arena));
}

/* What tells a cell from the others of its group: the values of its axes. */
static const char *axes_of(const struct ifm_cell *cell)
{
    size_t length = strlen(cell->workload);
    if (strncmp(cell->name, cell->workload, length) != 0 || cell->name[length] != ' ')
        return cell->name;
    const char *label = cell->name + length + 1, *value = strchr(label, '=');
    return cell->n_axes == 1 && value != NULL ? value + 1 : label;
}

/* With the batch that was measured, where attention.scale made another of the one in the name. */
static const char *label_of(struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const char *scaled = ifm_cell_scaled(builder, cell), *axes = axes_of(cell);
    return scaled[0] == '\0' ? axes : ifm_arena_printf(builder->arena, "%s (%s)", axes, scaled);
}

/* "kv_len" above the values of a single axis. */
static const char *label_heading(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    size_t length = strlen(cell->workload);
    const char *value = strchr(cell->name, '=');
    if (cell->n_axes != 1 || value == NULL || strncmp(cell->name, cell->workload, length) != 0)
        return "cell";
    return ifm_arena_printf(builder->arena, "%.*s", (int)(value - cell->name - (ptrdiff_t)length - 1),
                            cell->name + length + 1);
}

static struct ifm_field field_of(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                                 enum ifm_metric_id metric, bool told)
{
    struct ifm_field field = ifm_cell_field(builder, cell, arm, metric, told);
    if (is_rate(metric)) /* its interval is that of the time */
        field.interval = "";
    return field;
}

static size_t count_rows(const struct ifm_builder *builder, const struct group *group)
{
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++)
            n += ifm_is_row(builder, &group->first[i], &group->first[i].arms[a]);
    return n;
}

static struct ifm_grid grid_of(struct ifm_builder *builder, const struct group *group,
                               const struct shown_columns *columns, bool told)
{
    size_t labels = group->n > 1 ? 2 : 1, row = 0;
    struct ifm_grid grid = ifm_grid_make(builder->arena, labels + columns->n, count_rows(builder, group));
    if (labels == 2)
        grid.headings[0] = (struct ifm_heading){label_heading(builder, group->first), IFM_M_NONE, true, 0};
    grid.headings[labels - 1] = (struct ifm_heading){"arm", IFM_M_NONE, true, 0};
    for (size_t c = 0; c < columns->n; c++)
        grid.headings[labels + c] =
            (struct ifm_heading){heading_of(builder, group, &columns->items[c]), columns->items[c].metric,
                                 ifm_metrics[columns->items[c].metric].rounding == IFM_ROUNDING_COMPARISON, 0};
    for (size_t i = 0; i < group->n; i++) {
        const struct ifm_cell *cell = &group->first[i];
        bool named = labels == 1;
        for (size_t a = 0; a < cell->n_arms; a++) {
            if (!ifm_is_row(builder, cell, &cell->arms[a]))
                continue;
            if (!named)
                *ifm_grid_at(&grid, row, 0) = ifm_field_text(label_of(builder, cell), IFM_TONE_STRONG);
            named = true;
            *ifm_grid_at(&grid, row, labels - 1) = ifm_field_text(ifm_arm_label(&cell->arms[a]), IFM_TONE_STRONG);
            for (size_t c = 0; c < columns->n; c++)
                *ifm_grid_at(&grid, row, labels + c) =
                    field_of(builder, cell, &cell->arms[a], columns->items[c].metric, told);
            row++;
        }
    }
    return grid;
}

/* Columns that a row takes, as the painter sets it: two blanks between columns, one before an interval. */
static size_t grid_width(const struct ifm_grid *grid)
{
    size_t total = 0;
    for (size_t c = 0; c < grid->n_columns; c++) {
        size_t text = 0, interval = 0, heading = width_of(grid->headings[c].text);
        for (size_t r = 0; r < grid->n_rows; r++) {
            const struct ifm_field *field = ifm_grid_at(grid, r, c);
            size_t its = width_of(field->text) + (field->note > 9 ? 2 : field->note > 0);
            text = its > text ? its : text;
            its = width_of(field->interval);
            interval = its > interval ? its : interval;
        }
        size_t both = text + (interval > 0 ? interval + 1 : 0);
        total += 2 + (both > heading ? both : heading);
    }
    return total;
}

/* Notes that were added since there were `n` of them are taken back. */
static void forget_notes(struct ifm_builder *builder, size_t n)
{
    if (builder->document->n_notes == n)
        return;
    builder->notes = ifm_names_create(builder->arena);
    builder->document->n_notes = n;
    for (size_t i = 0; i < n; i++)
        ifm_names_add(builder->notes, builder->document->notes[i].text);
}

static bool drop(struct shown_columns *columns, enum ifm_metric_id metric)
{
    for (size_t c = 0; c < columns->n; c++)
        if (columns->items[c].metric == metric) {
            columns->n--;
            memmove(&columns->items[c], &columns->items[c + 1], (columns->n - c) * sizeof *columns->items);
            return true;
        }
    return false;
}

/* Where a line is too short for all columns, those go whose numbers a sentence or another column gives: the divergence,
 * the error of a sentence, the rate that is the inverse of the time. */
static void add_table(struct ifm_builder *builder, const struct group *group, bool told, struct ifm_block *section)
{
    static const enum ifm_metric_id spare[] = {IFM_M_ATTENTION_KL_NATS, IFM_M_ERROR_RMS_REL, IFM_M_TOKENS_PROMPT_PER_S,
                                               IFM_M_TOKENS_GENERATED_PER_S};
    enum { N_SPARE = sizeof spare / sizeof *spare };
    struct shown_columns columns = columns_of(builder, group);
    size_t notes = builder->document->n_notes;
    struct ifm_grid grid = grid_of(builder, group, &columns, told);
    for (size_t i = 0; i < N_SPARE && grid_width(&grid) > WIDTH; i++) {
        if ((spare[i] == IFM_M_ERROR_RMS_REL && !told) || !drop(&columns, spare[i]))
            continue;
        forget_notes(builder, notes);
        grid = grid_of(builder, group, &columns, told);
    }
    if (columns.n > 0)
        ifm_add_grid(builder, section, &grid);
    if (columns.n == 0 || grid.n_rows == 0)
        ifm_cell_caches(builder, group->first, section);
}

/* ---- sentences ---- */

static size_t count_compared(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n_cells)
{
    size_t n = 0;
    for (size_t i = 0; i < n_cells; i++)
        for (size_t a = 0; a < cells[i].n_arms; a++)
            n += ifm_is_compared(builder, &cells[i], &cells[i].arms[a]);
    return n;
}

/* Of cells beside each other whose arms differ in nothing but time, the table says all; a price needs its sentence. */
static bool has_sentences(const struct ifm_builder *builder, const struct group *group)
{
    return group->n == 1 || has_any(builder, group, IFM_M_BYTES_RATIO, true);
}

static size_t line_width(const struct ifm_line *line)
{
    size_t width = 0;
    for (size_t i = 0; i < line->n; i++)
        width += width_of(line->spans[i].text);
    return width;
}

/* With the interval where a line has room; the table above has it. */
static void add_sentence(struct ifm_builder *builder, struct ifm_block *list, const struct ifm_cell *cell,
                         const struct ifm_arm *arm, bool names_cell)
{
    struct ifm_item *item = ifm_add_item(builder, list);
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    item->place = names_cell ? ifm_document_place(axes_of(cell), arm->name, builder->arena) : arm->name;
    item->tone = ifm_tone_of_word(ifm_is_ok(change) ? change->text : "");
    ifm_say_outcome(builder, &item->line, cell, arm, false);
    if (2 + width_of(item->place) + line_width(&item->line) <= WIDTH)
        return;
    item->line = (struct ifm_line){.n = 0};
    ifm_say_outcome(builder, &item->line, cell, arm, true);
}

/* A speed-up that is refused is so in the table, with its reason below. */
static void add_sentences(struct ifm_builder *builder, const struct group *group, struct ifm_block *section)
{
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_OUTCOMES);
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++)
            if (ifm_is_ok(ifm_value_of(builder, &group->first[i], &group->first[i].arms[a], IFM_M_SPEEDUP)))
                add_sentence(builder, list, &group->first[i], &group->first[i].arms[a], group->n > 1);
}

/* ---- cells ---- */

/* Asked for, and nothing came: the reason of the first cell. */
static void add_energy_absent(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    const struct ifm_publication *from = builder->from;
    const struct group alone = {cell, 1, ""};
    if (!ifm_power_is_planned(cell) || has_any(builder, &alone, IFM_M_ENERGY_PER_TOKEN_J, false) ||
        has_any(builder, &alone, IFM_M_ENERGY_PER_STEP_J, false))
        return;
    struct ifm_power_reason why = ifm_power_missing(from->plan, from->events, from->facts, cell, builder->arena);
    const char *text =
        ifm_arena_printf(builder->arena, "energy absent: %s", ifm_with_remedy(why.reason, why.remedy, builder->arena));
    ifm_add_line(builder, section, IFM_LEVEL_BRIEF, IFM_AS_ASIDE, cut(builder, text, WIDTH - 2));
}

static const char *title_of(const struct group *group)
{
    return group->n > 1 ? group->first->workload : group->first->name;
}

/* `few`: so few comparisons in all that each can have its sentence. */
static void add_group(struct ifm_builder *builder, const struct group *group, bool few)
{
    const char *title = title_of(group);
    bool sentences = few && has_sentences(builder, group);
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_BRIEF, "", title);
    const char *scaled = group->n > 1 ? "" : ifm_cell_scaled(builder, group->first);
    scaled = scaled[0] == '\0' ? "" : ifm_arena_printf(builder->arena, "%s after scale, ", scaled);
    const size_t taken = width_of(title) + 2 + width_of(scaled), room = taken < WIDTH ? WIDTH - taken : 0;
    section->subtitle =
        ifm_arena_printf(builder->arena, "%s%s", scaled, ifm_cell_conditions(builder, group->first, room));
    add_table(builder, group, sentences, section);
    ifm_add_commands(builder, group->first, IFM_LEVEL_BRIEF, section);
    add_energy_absent(builder, group->first, section);
    if (sentences)
        add_sentences(builder, group, section);
    else if (count_compared(builder, group->first, group->n) > 0)
        ifm_add_sentence(builder, ifm_add_list(builder, section, IFM_AS_OUTCOMES),
                         ifm_counts_of_comparisons(builder, group->first, group->n));
}

/* The cells from `first` on that differ in nothing but the values of their axes. */
static struct group group_at(struct ifm_builder *builder, size_t first)
{
    const struct ifm_plan *plan = builder->from->plan;
    const struct ifm_cell *cell = &plan->cells[first];
    struct group group = {cell, 1, ifm_cell_conditions(builder, cell, SIZE_MAX)};
    const struct group alone = group;
    bool rows = count_rows(builder, &alone) > 0;
    for (size_t i = first + 1; rows && cell->n_axes > 0 && i < plan->n_cells; i++) {
        const struct ifm_cell *next = &plan->cells[i];
        const struct group its = {next, 1, ""};
        if (!ifm_is_empty(next->unsupported) || strcmp(next->workload, cell->workload) != 0 ||
            next->n_axes != cell->n_axes || strcmp(label_heading(builder, next), label_heading(builder, cell)) != 0 ||
            ifm_power_is_planned(next) != ifm_power_is_planned(cell) || count_rows(builder, &its) == 0 ||
            strcmp(ifm_cell_conditions(builder, next, SIZE_MAX), group.conditions) != 0)
            break;
        group.n++;
    }
    return group;
}

static void add_absent(struct ifm_builder *builder, const struct ifm_cell *cell, size_t before)
{
    if (before > ABSENT_CELLS)
        return;
    bool last = before == ABSENT_CELLS;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_BRIEF, "", last ? "more cells are absent" : cell->name);
    section->subtitle =
        last ? "--verbose or the report" : ifm_arena_printf(builder->arena, "absent: %s", cell->unsupported);
}

static void add_cells(struct ifm_builder *builder)
{
    const struct ifm_plan *plan = builder->from->plan;
    size_t absent = 0;
    bool few = count_compared(builder, plan->cells, plan->n_cells) <= SENTENCES;
    for (size_t i = 0; i < plan->n_cells;) {
        if (!ifm_is_empty(plan->cells[i].unsupported)) {
            add_absent(builder, &plan->cells[i++], absent++);
            continue;
        }
        struct group group = group_at(builder, i);
        add_group(builder, &group, few);
        i += group.n;
    }
}

/* ---- below the tables ---- */

/* A reason by a rule of honesty is why a number is refused. */
static bool is_refusal(const struct ifm_note *note)
{
    return strncmp(note->text, "rule-", 5) == 0;
}

/* Below the last table; where they are too many, those of refused numbers first. */
static void add_notes(struct ifm_builder *builder)
{
    const struct ifm_document *document = builder->document;
    size_t refusals = 0, shown = 0, refused = 0;
    for (size_t i = 0; i < document->n_notes; i++)
        refusals += is_refusal(&document->notes[i]);
    if (document->n_notes == 0)
        return;
    struct ifm_block *list = ifm_add_list(builder, document->root.last, IFM_AS_NOTES);
    size_t others = refusals < NOTES ? NOTES - refusals : 0;
    list->id = "note";
    for (size_t i = 0; i < document->n_notes; i++) {
        const struct ifm_note *note = &document->notes[i];
        bool chosen = is_refusal(note) ? refused++ < NOTES : others > 0;
        if (!chosen)
            continue;
        others -= !is_refusal(note);
        shown++;
        ifm_add_sentence(builder, list, cut(builder, note->text, WIDTH - 5))->number = note->number;
    }
    if (document->n_notes > shown)
        ifm_add_sentence(
            builder, list,
            ifm_arena_printf(builder->arena, "%zu more: --verbose or the report", document->n_notes - shown));
}

/* "decode, int4: it drifts ... (rule-07). Remedy: ...; 3 more warnings: --verbose" in two lines at most. */
static void add_trust(struct ifm_builder *builder)
{
    static const enum ifm_tone tones[] = {IFM_TONE_GOOD, IFM_TONE_WARN, IFM_TONE_BAD};
    struct ifm_arena *arena = builder->arena;
    struct ifm_trust trust = ifm_trust_of(builder->from, arena);
    const char *rule = trust.rule[0] == '\0' ? "" : ifm_arena_printf(arena, " (%s)", trust.rule);
    const char *remedy = trust.remedy[0] == '\0' ? "" : ifm_arena_printf(arena, ". Remedy: %s", trust.remedy);
    const char *more = trust.warnings == 0 ? ""
                                           : ifm_arena_printf(arena, "; %zu more warning%s: --verbose", trust.warnings,
                                                              trust.warnings == 1 ? "" : "s");
    const char *cause = ifm_arena_printf(arena, "%s%s%s", trust.place, trust.place[0] == '\0' ? "" : ": ", trust.cause);
    size_t taken = width_of(ifm_trust_label(trust.word)) + width_of(rule) + width_of(remedy) + width_of(more) + 16;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_BRIEF, "", "");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    const char *text = ifm_arena_printf(
        arena, "%s%s%s%s", cut(builder, cause, 2 * WIDTH > taken + WIDTH / 2 ? 2 * WIDTH - taken : WIDTH / 2), rule,
        remedy, more);
    struct ifm_item *item = ifm_add_sentence(builder, list, text);
    item->label = ifm_trust_label(trust.word);
    item->tone = tones[trust.word];
}

void ifm_build_brief(struct ifm_builder *builder)
{
    ifm_build_lead(builder);
    if (builder->from->verdict->n_gates > 0)
        ifm_build_gate_table(builder);
    add_cells(builder);
    add_notes(builder);
    add_trust(builder);
}
