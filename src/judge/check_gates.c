/* Gates against the plan: a gate may name only metrics, cells and arms that exist. Measures nothing. */
#include "judge/internal.h"

#include "base/text.h"
#include <string.h>

enum { MOST_NAMES = 512 };

struct names {
    const char *items[MOST_NAMES];
    size_t n;
};

static void add_name(struct names *names, const char *name)
{
    if (names->n < MOST_NAMES)
        names->items[names->n++] = name;
}

static enum ifm_status unknown(const struct ifm_gate *gate, const char *where, const char *what, const char *name,
                               const char *nearest, const char *otherwise, struct ifm_error *error)
{
    enum ifm_status status = ifm_fail(error, IFM_USAGE, where, otherwise,
                                      "gate '%s' names the %s '%s', which does not exist", gate->name, what, name);
    if (nearest != NULL)
        ifm_error_hint(error, "did you mean '%s'?", nearest);
    return status;
}

/* The arms of the cells that the gate is about, as "a, b, c" in the hint. */
static enum ifm_status check_places(const struct ifm_gate *gate, const char *where, const struct ifm_plan *plan,
                                    struct ifm_arena *arena, struct ifm_error *error)
{
    struct names cells = {.n = 0}, arms = {.n = 0};
    bool cell_found = gate->cell[0] == '\0';
    bool arm_found = gate->arm[0] == '\0' || ifm_judge_form_of_gate(gate) != IFM_FORM_ANY;
    const char *list = "";
    for (size_t i = 0; i < plan->n_cells; i++) {
        const struct ifm_cell *cell = &plan->cells[i];
        add_name(&cells, cell->name);
        if (gate->cell[0] != '\0' && strcmp(gate->cell, cell->name) != 0)
            continue;
        cell_found = true;
        for (size_t j = 0; j < cell->n_arms; j++) {
            arm_found = arm_found || strcmp(cell->arms[j].name, gate->arm) == 0;
            add_name(&arms, cell->arms[j].name);
            if (i == 0 || gate->cell[0] != '\0')
                list = ifm_arena_printf(arena, "%s%s %s", list, list[0] == '\0' ? "" : ",", cell->arms[j].name);
        }
        arm_found = arm_found || cell->unsupported[0] != '\0'; /* nothing is known of its arms */
    }
    if (!cell_found)
        return unknown(gate, where, "cell", gate->cell, ifm_nearest(gate->cell, cells.items, cells.n),
                       "`--dry-run` prints the cells; leave `cell` out for all", error);
    return arm_found ? IFM_OK
                     : unknown(gate, where, "arm", gate->arm, ifm_nearest(gate->arm, arms.items, arms.n),
                               ifm_arena_printf(arena, "the arms are:%s", list), error);
}

enum ifm_status ifm_check_gates(const struct ifm_plan *plan, const char *const *places, struct ifm_arena *arena,
                                struct ifm_error *error)
{
    for (size_t i = 0; i < plan->n_gates; i++) {
        const struct ifm_gate *gate = &plan->gates[i];
        enum ifm_metric_id metric = ifm_metric_of(gate->metric);
        if (metric == IFM_M_NONE)
            return unknown(gate, places[i], "metric", gate->metric, ifm_metric_nearest(gate->metric),
                           "`inferometer explain` lists all metrics", error);
        if (gate->classes[0] != '\0' && !ifm_judge_has_classes(gate->classes))
            return ifm_fail(error, IFM_USAGE, places[i], "docs/gates.md lists the tables",
                            "gate '%s' names the table of classes '%s', which does not exist", gate->name,
                            gate->classes);
        if (ifm_judge_is_inverted(plan->gates, plan->n_gates, gate, metric))
            return ifm_fail(error, IFM_USAGE, places[i], ifm_judge_inverted_hint(arena, gate, metric), "gate '%s': %s",
                            gate->name, ifm_judge_inverted_reason(arena, gate, metric));
        IFM_TRY(check_places(&plan->gates[i], places[i], plan, arena, error));
    }
    return IFM_OK;
}
