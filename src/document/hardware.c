/* What the hardware counted in a cell: a grid of arms, or why there is none. Computes no number. */
#include "document/build.h"
#include "document/quantity.h"

#include "model/operations.h"

/* Has a row the number; `ok`: in its right state. */
static bool shows(const struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_metric_id metric, bool ok)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *value = ifm_value_of(builder, cell, &cell->arms[a], metric);
        if (ifm_is_row(builder, cell, &cell->arms[a]) && value != NULL && (!ok || ifm_is_ok(value)))
            return true;
    }
    return false;
}

/* The first reason that a row has for a column of the table. */
static const struct ifm_value *first_absent(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                            const struct ifm_metric_columns *table)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        for (size_t c = 0; c < table->n; c++) {
            const struct ifm_value *value = ifm_value_of(builder, cell, &cell->arms[a], table->items[c].metric);
            if (ifm_is_row(builder, cell, &cell->arms[a]) && value != NULL && !ifm_is_ok(value))
                return value;
        }
    return NULL;
}

/* Columns with a number in some row; a brief grid has those of part 1. */
static size_t choose(const struct ifm_builder *builder, const struct ifm_cell *cell, bool brief,
                     const struct ifm_metric_columns *table, const struct ifm_metric_column **out)
{
    size_t n = 0;
    for (size_t c = 0; c < table->n; c++) {
        const struct ifm_metric_column *column = &table->items[c];
        if ((!brief || column->part == 1) && shows(builder, cell, column->metric, true))
            out[n++] = column;
    }
    return n;
}

/* The standard deviations of what stands in the row above. False where the arm has none. */
static bool fill_spread(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                        const struct ifm_metric_column **shown, size_t n, struct ifm_field *fields)
{
    bool any = false;
    for (size_t c = 0; c < n; c++) {
        const struct ifm_value *value = ifm_value_of(builder, cell, arm, shown[c]->metric);
        const bool has = value != NULL && ifm_is_ok(value) && value->has_sd;
        fields[c + 1] =
            ifm_field_text(has ? ifm_quantity_bare(value->sd, value->unit, builder->arena) : "", IFM_TONE_DIM);
        any |= has;
    }
    fields[0] = ifm_field_text(ifm_arena_printf(builder->arena, "%s, sd", arm->name), IFM_TONE_DIM);
    return any;
}

static void add_grid(struct ifm_builder *builder, const struct ifm_cell *cell, const char *caption,
                     const struct ifm_metric_column **shown, size_t n, bool spread, struct ifm_block *section)
{
    size_t rows = 0, row = 0;
    struct ifm_field *spreads = IFM_ARENA_ARRAY(builder->arena, struct ifm_field, n + 1);
    for (size_t a = 0; a < cell->n_arms; a++)
        if (ifm_is_row(builder, cell, &cell->arms[a]))
            rows += 1 + (spread && fill_spread(builder, cell, &cell->arms[a], shown, n, spreads));
    struct ifm_grid grid = ifm_grid_make(builder->arena, n + 1, rows);
    grid.caption = ifm_arena_printf(builder->arena, "%s in %s", caption, cell->name);
    grid.headings[0] = (struct ifm_heading){"arm", IFM_M_NONE, true, 0};
    for (size_t c = 0; c < n; c++)
        grid.headings[c + 1] = (struct ifm_heading){shown[c]->heading, shown[c]->metric, false, shown[c]->part};
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        if (!ifm_is_row(builder, cell, arm))
            continue;
        *ifm_grid_at(&grid, row, 0) = ifm_field_text(arm->name, IFM_TONE_STRONG);
        for (size_t c = 0; c < n; c++)
            *ifm_grid_at(&grid, row, c + 1) =
                ifm_field_value(builder, ifm_value_of(builder, cell, arm, shown[c]->metric));
        row++;
        if (!spread || !fill_spread(builder, cell, arm, shown, n, spreads))
            continue;
        for (size_t c = 0; c <= n; c++)
            *ifm_grid_at(&grid, row, c) = spreads[c];
        row++;
    }
    ifm_add_grid(builder, section, &grid);
}

/* Does an arm execute more matrix operations than its ledger has? */
static bool is_padded(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    bool padded = false;
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *over = ifm_value_of(builder, cell, &cell->arms[a], IFM_M_TENSOR_FLOPS_OVER_LEDGER);
        padded |= ifm_is_row(builder, cell, &cell->arms[a]) && over != NULL && ifm_is_ok(over) &&
                  over->number > 1 + IFM_OPERATIONS_SLACK;
    }
    return padded;
}

void ifm_build_counters(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_level level,
                        struct ifm_block *parent)
{
    const bool brief = level == IFM_LEVEL_BRIEF;
    const struct ifm_metric_column **shown =
        IFM_ARENA_ARRAY(builder->arena, const struct ifm_metric_column *, ifm_columns_counters.n + 1);
    const struct ifm_value *missing = first_absent(builder, cell, &ifm_columns_counters);
    if (!cell->measure.counters)
        return;
    struct ifm_block *section = brief ? parent : ifm_add_section(builder, parent, level, "", "Counters");
    const size_t n = choose(builder, cell, brief, &ifm_columns_counters, shown);
    const bool counted =
        shows(builder, cell, IFM_M_DRAM_BYTES_READ, true) || shows(builder, cell, IFM_M_L2_HIT_PERCENT, true) ||
        shows(builder, cell, IFM_M_TENSOR_FLOPS, true) || shows(builder, cell, IFM_M_INSTRUCTIONS_PER_STEP, true) ||
        shows(builder, cell, IFM_M_CPU_CYCLES_PER_STEP, true);
    if (counted)
        add_grid(builder, cell, "Counters", shown, n, !brief, section);
    else if (missing != NULL)
        ifm_add_line(builder, section, level, IFM_AS_ASIDE,
                     ifm_arena_printf(builder->arena, "counters absent: %s",
                                      ifm_with_remedy(missing->reason, missing->remedy, builder->arena)));
    if (counted && !brief)
        ifm_add_line(
            builder, section, level, IFM_AS_ASIDE,
            "Per step, counted live in a pass of its own; times are of the pass without counters. ± is the interval "
            "of the mean, sd how much repetitions differ.");
    if (counted && !brief && is_padded(builder, cell))
        ifm_add_line(builder, section, level, IFM_AS_ASIDE,
                     "Matrix operations of the ledger: above 1 is padding of tiles, which a few rows do not fill.");
}

void ifm_build_trace(struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_level level,
                     struct ifm_block *parent)
{
    const bool brief = level == IFM_LEVEL_BRIEF;
    const struct ifm_metric_column **shown =
        IFM_ARENA_ARRAY(builder->arena, const struct ifm_metric_column *, ifm_columns_trace.n + 1);
    const struct ifm_value *missing = first_absent(builder, cell, &ifm_columns_trace);
    if (!cell->measure.trace)
        return;
    struct ifm_block *section = brief ? parent : ifm_add_section(builder, parent, level, "", "Trace");
    const size_t n = choose(builder, cell, brief, &ifm_columns_trace, shown);
    if (n > 0)
        add_grid(builder, cell, "Trace", shown, n, false, section);
    if (missing != NULL)
        ifm_add_line(builder, section, level, IFM_AS_ASIDE,
                     ifm_arena_printf(builder->arena, "trace absent: %s",
                                      ifm_with_remedy(missing->reason, missing->remedy, builder->arena)));
    if (n > 0 && !brief)
        ifm_add_line(builder, section, level, IFM_AS_ASIDE,
                     "Per step, recorded in a process of its own; trace.json has the last slot of each arm, for "
                     "ui.perfetto.dev. Latency is measured without recording.");
}
