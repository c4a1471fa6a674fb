/* The energy of a cell: what each arm took as a grid, and what must be said beside its bars. */
#include "derive/energy/power_run.h"
#include "document/build.h"
#include "document/quantity.h"
#include <math.h>
#include <string.h>

static bool has_any(const struct ifm_builder *builder, const struct ifm_cell *cell, enum ifm_metric_id metric, bool ok)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *value = ifm_value_of(builder, cell, &cell->arms[a], metric);
        if (ifm_is_row(builder, cell, &cell->arms[a]) && value != NULL && (!ok || value->state == IFM_STATE_OK))
            return true;
    }
    return false;
}

bool ifm_energy_takes_tokens(const struct ifm_builder *builder, const struct ifm_cell *first, size_t n)
{
    bool token = false, step = false, told = false, made = false;
    for (size_t i = 0; i < n; i++) {
        token |= has_any(builder, &first[i], IFM_M_ENERGY_PER_TOKEN_J, true);
        step |= has_any(builder, &first[i], IFM_M_ENERGY_PER_STEP_J, true);
        told |= has_any(builder, &first[i], IFM_M_ENERGY_PER_STEP_J, false);
        for (size_t a = 0; a < first[i].n_arms; a++)
            made |= first[i].arms[a].ledger.tokens_generated > 0;
    }
    return token || !told || (!step && made);
}

/* "less -31.2 %": derive's word, where it has one. */
static struct ifm_field change_field(struct ifm_builder *builder, const struct ifm_arm *arm,
                                     const struct ifm_value *value)
{
    if (value == NULL)
        return ifm_field_text(arm->role == IFM_ROLE_BASELINE ? "baseline" : "", IFM_TONE_DIM);
    struct ifm_field field = ifm_field_value(builder, value);
    if (value->state != IFM_STATE_OK)
        return field;
    bool worded = !ifm_is_empty(value->text);
    field.text = ifm_arena_printf(builder->arena, "%s%s%s%s", worded ? value->text : "", worded ? " " : "",
                                  value->number > 0 ? "+" : "", field.text);
    field.interval = ifm_quantity_range(value, builder->arena);
    if (value->has_interval)
        field.tone = value->high < 0 ? IFM_TONE_GOOD : value->low > 0 ? IFM_TONE_BAD : IFM_TONE_PLAIN;
    return field;
}

static struct ifm_field field_of(struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                                 const struct ifm_metric_column *spec)
{
    const struct ifm_value *value = ifm_value_of(builder, cell, arm, spec->metric);
    if (spec->metric == IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT || spec->metric == IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT)
        return change_field(builder, arm, value);
    struct ifm_field field = ifm_field_value(builder, value);
    if (ifm_metrics[spec->metric].rounding == IFM_ROUNDING_PLAIN) /* its bar is that of the joules */
        field.interval = "";
    return field;
}

/* What an arm took is said in any state, all else where there is some; the power of all devices where it is that of
 * none which has a column of its own. */
static bool is_shown(const struct ifm_builder *builder, const struct ifm_cell *cell,
                     const struct ifm_metric_column *spec, bool first)
{
    bool parts = has_any(builder, cell, IFM_M_GPU_POWER_W, true) || has_any(builder, cell, IFM_M_CPU_POWER_W, true);
    if (spec->metric == IFM_M_POWER_MEAN_W && parts)
        return false;
    return has_any(builder, cell, spec->metric, !first);
}

/* A step of a program is one run of it. */
static const char *heading_of(const struct ifm_cell *cell, const struct ifm_metric_column *column)
{
    bool run = ifm_cell_counts_programs(cell) && column->metric == IFM_M_ENERGY_PER_STEP_J;
    return run ? "energy/run" : column->heading;
}

static void build_grid(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_grid *out)
{
    const struct ifm_metric_columns *columns =
        ifm_energy_takes_tokens(builder, cell, 1) ? &ifm_columns_energy : &ifm_columns_energy_step;
    size_t n_rows = 0, n_shown = 0, row = 0;
    const struct ifm_metric_column **shown =
        IFM_ARENA_ARRAY(builder->arena, const struct ifm_metric_column *, columns->n + 1);
    for (size_t c = 0; c < columns->n; c++)
        if (is_shown(builder, cell, &columns->items[c], c == 0))
            shown[n_shown++] = &columns->items[c];
    for (size_t a = 0; a < cell->n_arms; a++)
        n_rows += ifm_is_row(builder, cell, &cell->arms[a]);
    if (n_shown == 0 || n_rows == 0)
        return;
    *out = ifm_grid_make(builder->arena, n_shown + 1, n_rows);
    out->headings[0] = (struct ifm_heading){"arm", IFM_M_NONE, true, 0};
    for (size_t c = 0; c < n_shown; c++)
        out->headings[c + 1] =
            (struct ifm_heading){heading_of(cell, shown[c]), shown[c]->metric, false, shown[c]->part};
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        if (!ifm_is_row(builder, cell, arm))
            continue;
        *ifm_grid_at(out, row, 0) = ifm_field_text(arm->name, IFM_TONE_STRONG);
        for (size_t c = 0; c < n_shown; c++)
            *ifm_grid_at(out, row, c + 1) = field_of(builder, cell, arm, shown[c]);
        row++;
    }
}

/* ---- beside the bars ---- */

static bool is_primary(const struct ifm_device_energy *energy, const struct ifm_cell *cell)
{
    return strcmp(energy->cell, cell->name) == 0 && strcmp(energy->role, "primary") == 0;
}

/* "gpu0 ±5 % (nvml_energy)", each device once. */
static const char *systematic_of(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const struct ifm_derived *derived = builder->from->derived;
    const char *list = "";
    for (size_t i = 0; i < derived->n_energies; i++) {
        const struct ifm_device_energy *energy = &derived->energies[i];
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told |= is_primary(&derived->energies[k], cell) && strcmp(derived->energies[k].device, energy->device) == 0;
        if (!is_primary(energy, cell) || told)
            continue;
        const char *gain = isfinite(energy->systematic)
                               ? ifm_arena_printf(builder->arena, "±%s",
                                                  ifm_quantity_bare(100 * energy->systematic, "%", builder->arena))
                               : "not known";
        list = ifm_arena_printf(builder->arena, "%s%s%s %s (%s)", list, list[0] == '\0' ? "" : ", ", energy->device,
                                gain, energy->source);
    }
    return list;
}

static void say(struct ifm_builder *builder, struct ifm_block *section, const char *text)
{
    ifm_add_line(builder, section, IFM_LEVEL_ALWAYS, IFM_AS_ASIDE, text);
}

static bool is_told(const struct ifm_builder *builder, const struct ifm_device_energy *energy)
{
    static const enum ifm_metric_id metrics[] = {IFM_M_ENERGY_PER_TOKEN_J, IFM_M_ENERGY_PER_STEP_J,
                                                 IFM_M_TOTAL_ENERGY_J};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct ifm_value *value =
            ifm_derived_value(builder->from->derived, energy->cell, energy->arm, metrics[i]);
        if (value != NULL && value->state != IFM_STATE_OK)
            return true;
    }
    return false;
}

/* Rows that are in no number of an arm, where no number of it says so. */
static void say_refused(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    const struct ifm_derived *derived = builder->from->derived;
    for (size_t i = 0; i < derived->n_energies; i++) {
        const struct ifm_device_energy *energy = &derived->energies[i];
        if (strcmp(energy->cell, cell->name) == 0 && !ifm_is_empty(energy->refused) && !is_told(builder, energy))
            say(builder, section,
                ifm_arena_printf(builder->arena, "%s by %s, %s: refused: %s", energy->device, energy->source,
                                 energy->arm, energy->refused));
    }
}

static struct ifm_power_reason missing_in(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const struct ifm_publication *from = builder->from;
    return ifm_power_missing(from->plan, from->events, from->facts, cell, builder->arena);
}

/* Was the same said of a cell before this one? Its title, or NULL. */
static const char *said_before(const struct ifm_builder *builder, const struct ifm_cell *cell,
                               const struct ifm_power_reason *why)
{
    const struct ifm_plan *plan = builder->from->plan;
    for (const struct ifm_cell *other = plan->cells; other < cell; other++) {
        if (!ifm_power_is_planned(other) || has_any(builder, other, IFM_M_TOTAL_ENERGY_J, true))
            continue;
        struct ifm_power_reason its = missing_in(builder, other);
        if (strcmp(its.reason, why->reason) == 0 && strcmp(its.remedy, why->remedy) == 0)
            return other->name;
    }
    return NULL;
}

/* Each source with its own reason and remedy, in a line of its own; of a later cell, where they stand. */
static void say_absent(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *section)
{
    struct ifm_arena *arena = builder->arena;
    struct ifm_power_reason why = missing_in(builder, cell);
    const char *before = said_before(builder, cell, &why);
    struct ifm_power_cause *causes;
    size_t n = ifm_power_causes(builder->from->events, cell, arena, &causes);
    if (before != NULL) {
        say(builder, section, ifm_arena_printf(arena, "absent, as in %s", before));
        return;
    }
    if (n == 0) {
        say(builder, section, ifm_arena_printf(arena, "absent: %s", ifm_with_remedy(why.reason, why.remedy, arena)));
        return;
    }
    say(builder, section, "absent: no sensor reported how many joules were used");
    for (size_t i = 0; i < n; i++)
        say(builder, section,
            ifm_arena_printf(arena, "%s: %s", causes[i].sources,
                             ifm_with_remedy(causes[i].reason, causes[i].remedy, arena)));
}

void ifm_build_energy(struct ifm_builder *builder, const struct ifm_cell *cell, struct ifm_block *parent)
{
    struct ifm_grid grid = {.n_rows = 0};
    if (!ifm_power_is_planned(cell))
        return;
    build_grid(builder, cell, &grid);
    struct ifm_block *section = ifm_add_section(builder, parent, IFM_LEVEL_ALWAYS, "", "Energy");
    if (!has_any(builder, cell, IFM_M_TOTAL_ENERGY_J, true) && grid.n_rows == 0) {
        say_absent(builder, cell, section);
        return;
    }
    grid.caption = ifm_arena_printf(builder->arena, "Energy in %s", cell->name);
    ifm_add_grid(builder, section, &grid);
    const char *systematic = systematic_of(builder, cell);
    if (systematic[0] != '\0')
        say(builder, section,
            ifm_arena_printf(builder->arena,
                             "Intervals are random error. Systematic error, not included: %s. It is the gain of a "
                             "sensor and cancels in ratios on one card.",
                             systematic));
    say_refused(builder, cell, section);
}
