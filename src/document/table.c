/* The main table: cells of one shape in one table, of time, one rate, comparison and price. The terminal has it in
 * lines of its width, with p50; the page has p95 too. Computes no number. */
#include "base/plain.h"
#include "derive/energy/power_run.h"
#include "document/build.h"
#include "document/quantity.h"
#include <math.h>
#include <string.h>

enum {
    INTENSE = 4, /* FLOP a byte, from which on the rate that matters is that of computing */
    MOST_COLUMNS = 20
};

/* ---- columns ---- */

struct shown_columns {
    struct ifm_metric_column items[MOST_COLUMNS];
    size_t n;
};

bool ifm_group_has(const struct ifm_builder *builder, const struct ifm_group *group, enum ifm_metric_id metric, bool ok)
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
static bool add_column(const struct ifm_builder *builder, const struct ifm_group *group, enum ifm_metric_id metric,
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

/* The same, but not where all rows would be absent: the table of all numbers has the reason. */
static void add_if_any(const struct ifm_builder *builder, const struct ifm_group *group, enum ifm_metric_id metric,
                       struct shown_columns *out)
{
    bool any = false;
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++) {
            const struct ifm_arm *arm = &group->first[i].arms[a];
            const struct ifm_value *value = ifm_value_of(builder, &group->first[i], arm, metric);
            any |= ifm_is_row(builder, &group->first[i], arm) && value != NULL && value->state != IFM_STATE_ABSENT;
        }
    if (any)
        (void)add_column(builder, group, metric, out);
}

struct kinds {
    bool reads, writes, computes; /* rows that mostly do so */
};

static struct kinds kinds_of(const struct ifm_builder *builder, const struct ifm_group *group)
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
static void add_rates(const struct ifm_builder *builder, const struct ifm_group *group, struct shown_columns *out)
{
    if (add_column(builder, group, IFM_M_TOKENS_GENERATED_PER_S, out) ||
        add_column(builder, group, IFM_M_TOKENS_PROMPT_PER_S, out))
        return;
    struct kinds kinds = kinds_of(builder, group);
    if (kinds.reads && kinds.writes && ifm_group_has(builder, group, IFM_M_BANDWIDTH_BYTES_PER_S, false))
        out->items[out->n++] = (struct ifm_metric_column){"bandwidth", IFM_M_BANDWIDTH_BYTES_PER_S, 0};
    else if (kinds.reads || kinds.writes)
        (void)add_column(builder, group, kinds.reads ? IFM_M_READ_BYTES_PER_S : IFM_M_WRITE_BYTES_PER_S, out);
    if (kinds.computes)
        (void)add_column(builder, group, IFM_M_FLOPS_PER_S, out);
}

/* Energy that a pass of its own measured, or a sensor beside the samples. */
static void add_energy(const struct ifm_builder *builder, const struct ifm_group *group, struct shown_columns *out)
{
    if (!ifm_power_is_planned(group->first)) {
        (void)add_column(builder, group, IFM_M_TOTAL_ENERGY_J, out);
        return;
    }
    bool tokens = ifm_energy_takes_tokens(builder, group->first, group->n);
    enum ifm_metric_id metric = tokens ? IFM_M_ENERGY_PER_TOKEN_J : IFM_M_ENERGY_PER_STEP_J;
    const struct ifm_metric_column *spec = column_in(tokens ? &ifm_columns_energy : &ifm_columns_energy_step, metric);
    if (spec == NULL || !ifm_group_has(builder, group, metric, false))
        return;
    bool run = ifm_cell_counts_programs(group->first) && !tokens;
    out->items[out->n++] = (struct ifm_metric_column){run ? "energy/run" : spec->heading, metric, 0};
}

static struct shown_columns columns_of(const struct ifm_builder *builder, const struct ifm_group *group, bool whole)
{
    static const struct ifm_metric_column quantiles[] = {{"p50", IFM_M_LATENCY_NS_P50, 0},
                                                         {"p95", IFM_M_LATENCY_NS_P95, 0}};
    struct shown_columns columns = {.n = 0};
    if (add_column(builder, group, IFM_M_STEP_NS, &columns))
        columns.items[0].heading = ifm_cell_time_heading(group->first, columns.items[0].heading);
    for (size_t i = 0; i < (whole ? sizeof quantiles / sizeof *quantiles : 1); i++)
        if (ifm_group_has(builder, group, quantiles[i].metric, !whole))
            columns.items[columns.n++] = quantiles[i];
    add_rates(builder, group, &columns);
    add_if_any(builder, group, IFM_M_TPOT_BOUND_NS, &columns);
    add_if_any(builder, group, IFM_M_COMMAND_CPU_NS, &columns);
    add_if_any(builder, group, IFM_M_COMMAND_RSS_BYTES, &columns);
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

/* The batch of all rows; NULL where they differ, and name their own. */
static const char *batch_of(const struct ifm_group *group)
{
    const char *batch = NULL;
    for (size_t i = 0; i < group->n; i++) {
        const struct ifm_cell *cell = &group->first[i];
        const char *its = cell->n_arms == 0 ? NULL : ifm_arm_setting(&cell->arms[0], "decode.batch");
        if (its == NULL || (batch != NULL && strcmp(batch, its) != 0))
            return NULL;
        batch = its;
    }
    return batch;
}

/* The read ceiling of all rows; "" where they differ. */
static const char *read_ceiling_of(const struct ifm_builder *builder, const struct ifm_group *group)
{
    const char *rate = "";
    for (size_t i = 0; i < group->n; i++) {
        const struct ifm_value *its = ifm_value_of(builder, &group->first[i], NULL, IFM_M_CEILING_READ);
        char text[48];
        if (!ifm_is_ok(its) || (i > 0 && strcmp(rate, ifm_format_human(its->number, "B/s", text)) != 0))
            return "";
        rate = ifm_arena_strdup(builder->arena, ifm_format_human(its->number, "B/s", text));
    }
    return rate;
}

/* A bound holds for a number of sequences, which the conditions do not say where it is the usual one, and for the rate
 * at which this run read at most: another run may read faster. */
static const char *of_bound(const struct ifm_builder *builder, const struct ifm_group *group, const char *heading)
{
    const char *batch = batch_of(group), *rate = read_ceiling_of(builder, group);
    if (batch == NULL)
        return rate[0] == '\0' ? heading : ifm_arena_printf(builder->arena, "%s (%s)", heading, rate);
    return ifm_arena_printf(builder->arena, "%s (batch %s%s%s)", heading, batch, rate[0] == '\0' ? "" : ", ", rate);
}

/* The level of a column's intervals, in their brackets, where it is not the usual one: "vs baseline [98.3 %]", on a
 * terminal always. A time says its own always, "mean/layer ±95 %": a bare "±0.12" is read as a standard deviation. */
static const char *heading_of(const struct ifm_builder *builder, const struct ifm_group *group,
                              const struct ifm_metric_column *spec)
{
    double least = 1, most = 0;
    if (spec->metric == IFM_M_TPOT_BOUND_NS)
        return of_bound(builder, group, spec->heading);
    if (spec->metric == IFM_M_TOKENS_GENERATED_PER_S)
        return ifm_cell_tokens_heading(group->first, spec->heading);
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
    const char *level = most <= 0 ? "" : ifm_quantity_levels(least, most, builder->arena);
    if (spec->metric == IFM_M_STEP_NS && most > 0)
        return ifm_arena_printf(builder->arena, "%s ±%s", spec->heading, level);
    const bool brief = builder->most <= IFM_LEVEL_BRIEF && spec->metric == IFM_M_SPEEDUP; /* alone in its line */
    bool usual = most <= 0 || (!brief && fabs(least - 0.95) < 5e-4 && fabs(most - 0.95) < 5e-4);
    if (usual || is_rate(spec->metric))
        return spec->heading;
    return ifm_arena_printf(builder->arena, "%s [%s]", spec->heading, level);
}

/* What tells a cell from the others of its group: the values of its axes. */
const char *ifm_cell_label(const struct ifm_cell *cell)
{
    size_t length = strlen(cell->workload);
    if (strncmp(cell->name, cell->workload, length) != 0 || cell->name[length] != ' ')
        return cell->name;
    const char *label = cell->name + length + 1, *value = strchr(label, '=');
    return cell->n_axes == 1 && value != NULL ? value + 1 : label;
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

/* A sentence does not begin with a bare number. */
const char *ifm_cell_at(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const char *label = ifm_cell_label(cell);
    if (label == cell->name)
        return label;
    if (cell->n_axes != 1)
        return ifm_arena_printf(builder->arena, "at %s", label);
    return ifm_arena_printf(builder->arena, "at %s %s", label_heading(builder, cell), label);
}

static struct ifm_field field_of(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                                 enum ifm_metric_id metric, bool told)
{
    struct ifm_field field = ifm_cell_field(builder, cell, arm, metric, told);
    const struct ifm_value *value = ifm_value_of(builder, cell, arm, metric);
    if (is_rate(metric) && ifm_is_ok(value)) { /* its interval stands among all numbers */
        struct ifm_value bare = *value;
        bare.has_interval = false;
        field.text = ifm_quantity_number(&bare, builder->arena);
        field.interval = "";
    }
    return field;
}

static size_t count_rows(const struct ifm_builder *builder, const struct ifm_group *group)
{
    size_t n = 0;
    for (size_t i = 0; i < group->n; i++)
        for (size_t a = 0; a < group->first[i].n_arms; a++)
            n += ifm_is_row(builder, &group->first[i], &group->first[i].arms[a]);
    return n;
}

static bool is_scaled_alike(struct ifm_builder *builder, const struct ifm_group *group)
{
    const char *scaled = ifm_cell_scaled(builder, group->first);
    for (size_t i = 1; i < group->n; i++)
        if (strcmp(scaled, ifm_cell_scaled(builder, &group->first[i])) != 0)
            return false;
    return true;
}

const char *ifm_group_scaled(struct ifm_builder *builder, const struct ifm_group *group)
{
    return ifm_cell_scaled_words(builder, group->first, is_scaled_alike(builder, group));
}

/* With the batch that was measured, where attention.scale made another of the one in the name. */
static const char *scaled_label(struct ifm_builder *builder, const struct ifm_group *group, const struct ifm_cell *cell)
{
    const char *scaled = ifm_cell_scaled(builder, cell), *axes = ifm_cell_label(cell);
    if (scaled[0] == '\0' || is_scaled_alike(builder, group))
        return axes;
    return ifm_arena_printf(builder->arena, "%s (%s)", axes, scaled);
}

static struct ifm_grid grid_of(struct ifm_builder *builder, const struct ifm_group *group,
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
                *ifm_grid_at(&grid, row, 0) = ifm_field_text(scaled_label(builder, group, cell), IFM_TONE_STRONG);
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
        size_t text = 0, interval = 0, heading = ifm_plain_columns(grid->headings[c].text);
        for (size_t r = 0; r < grid->n_rows; r++) {
            const struct ifm_field *field = ifm_grid_at(grid, r, c);
            size_t its = ifm_plain_columns(field->text) + (field->note > 9 ? 2 : field->note > 0);
            text = its > text ? its : text;
            its = ifm_plain_columns(field->interval);
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
 * the error of a sentence, the rate that is the inverse of the time. The painter sets others in a table below. */
void ifm_group_table(struct ifm_builder *builder, const struct ifm_group *group, bool told, bool whole,
                     struct ifm_block *section)
{
    static const enum ifm_metric_id spare[] = {IFM_M_ATTENTION_KL_NATS, IFM_M_ERROR_RMS_REL, IFM_M_TOKENS_PROMPT_PER_S,
                                               IFM_M_TOKENS_GENERATED_PER_S};
    enum { N_SPARE = sizeof spare / sizeof *spare };
    struct shown_columns columns = columns_of(builder, group, whole);
    size_t notes = builder->document->n_notes;
    struct ifm_grid grid = grid_of(builder, group, &columns, told);
    for (size_t i = 0; i < N_SPARE && !whole && grid_width(&grid) > builder->document->width; i++) {
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

/* The cells from `first` on that differ in nothing but the values of their axes. */
struct ifm_group ifm_group_at(struct ifm_builder *builder, size_t first)
{
    const struct ifm_plan *plan = builder->from->plan;
    const struct ifm_cell *cell = &plan->cells[first];
    struct ifm_group group = {cell, 1, ifm_cell_conditions(builder, cell, SIZE_MAX)};
    const struct ifm_group alone = group;
    bool rows = count_rows(builder, &alone) > 0;
    for (size_t i = first + 1; rows && cell->n_axes > 0 && i < plan->n_cells; i++) {
        const struct ifm_cell *next = &plan->cells[i];
        const struct ifm_group its = {next, 1, ""};
        if (!ifm_is_empty(next->unsupported) || strcmp(next->workload, cell->workload) != 0 ||
            next->n_axes != cell->n_axes || strcmp(label_heading(builder, next), label_heading(builder, cell)) != 0 ||
            ifm_power_is_planned(next) != ifm_power_is_planned(cell) || count_rows(builder, &its) == 0 ||
            strcmp(ifm_cell_conditions(builder, next, SIZE_MAX), group.conditions) != 0)
            break;
        group.n++;
    }
    return group;
}

const char *ifm_group_title(const struct ifm_group *group)
{
    return group->n > 1 ? group->first->workload : group->first->name;
}
