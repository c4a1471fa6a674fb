/* A power meter that was asked for by name and gave nothing: the reason, and what helps against it. Pure. */
#include "judge/internal.h"

#include <string.h>

static const char *why_no_energy(const struct ifm_derived *derived, const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++) {
        const struct ifm_value *value =
            ifm_derived_value(derived, cell->name, cell->arms[a].name, IFM_M_TOTAL_ENERGY_J);
        if (value != NULL && !ifm_is_empty(value->reason))
            return value->reason;
    }
    return "it gave no reading";
}

/* What helps, by what the reason says; "" where that says it itself. */
static const char *remedy_of(const char *why)
{
    static const char silent[] = "; let its program write to the end of the run, without gaps, and measure again";
    static const struct {
        const char *part, *remedy;
    } remedies[] = {
        {"measure.energy_window to", ""},
        {"set its clock", ""},
        {"(measure.energy_windows)", "; take more windows (--energy-windows), and measure again"},
        {"10 of its periods", "; take longer windows (--energy-window), and measure again"},
        {"a run of the program failed", "; run the program alone, and see why it fails"},
        {"lost", silent},
        {"no reading", silent},
        {"not whole", silent},
        {" gap ", silent},
        {"spoke once", silent},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strstr(why, remedies[i].part) != NULL)
            return remedies[i].remedy;
    return "; `inferometer power` says what each sensor can do";
}

const char *ifm_judge_meter(const struct ifm_derived *derived, const struct ifm_cell *cell, struct ifm_arena *arena)
{
    if (ifm_plan_pass(cell, IFM_PASS_ENERGY) == NULL || ifm_is_empty(cell->measure.power_meter))
        return NULL;
    const char *why = why_no_energy(derived, cell);
    for (size_t i = 0; i < derived->n_energies; i++) {
        const struct ifm_device_energy *row = &derived->energies[i];
        if (strcmp(row->cell, cell->name) != 0 || strcmp(row->source, "meter") != 0)
            continue;
        if (row->refused[0] == '\0')
            return NULL;
        why = row->refused;
    }
    return ifm_arena_printf(arena, "cell %s: the power meter that was asked for gave no energy: %s%s", cell->name, why,
                            remedy_of(why));
}
