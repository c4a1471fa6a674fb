/* The passes of one cell. */
#include "plan/passes.h"

static bool admits(enum ifm_pass_kind kind, const struct ifm_instrument_entry *instrument)
{
    return (ifm_pass_rows[kind].admits >> instrument->intrusion & 1) != 0;
}

/* Time is always measured, and whether energy is asked for is a setting; other kinds are for their instruments. */
static bool is_wanted(enum ifm_pass_kind kind, const struct ifm_catalog *catalog)
{
    bool wanted = kind == IFM_PASS_LATENCY || kind == IFM_PASS_ENERGY;
    for (size_t i = 0; i < catalog->n_instruments; i++)
        wanted |= ifm_pass_for(catalog->instruments[i].intrusion) == kind;
    return wanted;
}

enum { SINCE_PROGRAMS = 3 }; /* of IFM_PLAN_RULES: what has gaps between its steps may have a pass of energy */

static bool may_have(enum ifm_pass_kind kind, const struct ifm_catalog *catalog, const struct ifm_cell *cell)
{
    const char *remedy;
    bool gaps = false;
    for (size_t i = 0; i < cell->n_arms; i++)
        gaps |= cell->arms[i].gaps;
    if (kind == IFM_PASS_ENERGY && gaps && !ifm_machine_plans_by(&catalog->machine, SINCE_PROGRAMS))
        return false;
    return ifm_pass_rows[kind].why_not(cell, catalog->machine.device, &remedy) == NULL;
}

/* The columns of one pass while they are listed. */
struct columns {
    const char **names, **units;
    size_t n;
};

/* Columns that passes of earlier rules did not have. */
static bool is_planned(const struct ifm_machine *machine, const char *column)
{
    static const struct {
        const char *begins;
        unsigned since;
    } rows[] = {{"tensor_tf32_ops", IFM_PLAN_RULES_TF32_INT8},
                {"tensor_int8_ops", IFM_PLAN_RULES_TF32_INT8},
                {"limits_", IFM_PLAN_RULES_LIMITS},
                {"waits_", IFM_PLAN_RULES_LIMITS},
                {"trace_launch_ns", IFM_PLAN_RULES_LAUNCH_TIME},
                {"trace_wait_ns", IFM_PLAN_RULES_LAUNCH_TIME},
                {"trace_graph_kernel_ns", IFM_PLAN_RULES_LAUNCH_TIME}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(column, rows[i].begins, strlen(rows[i].begins)) == 0)
            return ifm_machine_plans_by(machine, rows[i].since);
    return true;
}

static void add_columns(struct columns *list, const struct ifm_machine *machine, const struct ifm_column *columns,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_planned(machine, columns[i].id))
            continue;
        list->names[list->n] = columns[i].id;
        list->units[list->n++] = columns[i].unit;
    }
}

/* A workload's own columns stand in the latency pass, behind those of the instruments; those of programs also in their
 * windows of energy, which no failed run may be part of. */
static struct ifm_pass make_pass(enum ifm_pass_kind kind, const struct ifm_catalog *catalog,
                                 const struct ifm_cell *cell, const struct ifm_workload_entry *workload,
                                 struct ifm_arena *arena)
{
    bool own = kind == IFM_PASS_LATENCY || (kind == IFM_PASS_ENERGY && ifm_cell_runs_programs(cell));
    size_t most = workload->n_columns;
    for (size_t i = 0; i < catalog->n_instruments; i++)
        most += catalog->instruments[i].n_columns;
    const char **instruments = IFM_ARENA_ARRAY(arena, const char *, catalog->n_instruments + 1);
    struct columns columns = {IFM_ARENA_ARRAY(arena, const char *, most + 1),
                              IFM_ARENA_ARRAY(arena, const char *, most + 1), 0};
    struct ifm_pass pass = {.kind = kind, .instruments = instruments};
    for (size_t i = 0; i < catalog->n_instruments; i++) {
        const struct ifm_instrument_entry *instrument = &catalog->instruments[i];
        if (!admits(kind, instrument))
            continue;
        instruments[pass.n_instruments++] = instrument->name;
        add_columns(&columns, &catalog->machine, instrument->columns, instrument->n_columns);
    }
    if (own)
        add_columns(&columns, &catalog->machine, workload->columns, workload->n_columns);
    pass.columns = columns.names;
    pass.column_units = columns.units;
    pass.n_columns = columns.n;
    return pass;
}

static enum ifm_status refuse(const struct ifm_cell *cell, const struct ifm_instrument_entry *instrument,
                              const char *device, struct ifm_error *error)
{
    const char *remedy, *name = ifm_pass_names[ifm_pass_for(instrument->intrusion)];
    const struct ifm_pass_row *row = &ifm_pass_rows[ifm_pass_for(instrument->intrusion)];
    const char *why = row->why_not(cell, device, &remedy);
    return ifm_fail(error, IFM_USAGE, cell->name, remedy,
                    "the instrument %s needs the pass %s (%s), which this cell cannot have: %s", instrument->name, name,
                    row->purpose, why);
}

enum ifm_status ifm_plan_passes(const struct ifm_catalog *catalog, const struct ifm_workload_entry *workload,
                                struct ifm_arena *arena, struct ifm_cell *cell, struct ifm_error *error)
{
    struct ifm_pass *passes = IFM_ARENA_ARRAY(arena, struct ifm_pass, IFM_PASS_KINDS);
    cell->passes = passes;
    cell->n_passes = 0;
    for (unsigned kind = 0; kind < IFM_PASS_KINDS; kind++)
        if (is_wanted(kind, catalog) && may_have(kind, catalog, cell))
            passes[cell->n_passes++] = make_pass(kind, catalog, cell, workload, arena);
    for (size_t i = 0; i < catalog->n_instruments && cell->unsupported[0] == '\0'; i++)
        if (ifm_plan_pass(cell, ifm_pass_for(catalog->instruments[i].intrusion)) == NULL)
            return refuse(cell, &catalog->instruments[i], catalog->machine.device, error);
    return IFM_OK;
}
