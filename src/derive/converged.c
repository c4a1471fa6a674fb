/* What the gate of power and temperature said before the measured blocks: rule 7. Control inputs; no number is made of
 * them. */
#include "derive/internal.h"

#include "base/text.h"
#include <math.h>

/* "mma (410 W, standard deviation 22 W, +0.8 K/s)" */
static void name_arm(struct ifm_text *names, const struct ifm_event_converge *gate)
{
    char watts[48], spread[48];
    ifm_text_printf(names, "%s%s", names->size > 0 ? ", " : "", gate->arm);
    if (isnan(gate->watts) || isnan(gate->sd_w))
        return;
    ifm_text_printf(names, " (%s, standard deviation %s", ifm_format_human(gate->watts, "W", watts),
                    ifm_format_human(gate->sd_w, "W", spread));
    if (!isnan(gate->slope_k_per_s))
        ifm_text_printf(names, ", %+.1f K/s", gate->slope_k_per_s);
    ifm_text_add(names, ")");
}

/* One finding a cell, from the last gate that each arm went through. */
void ifm_rules_converged(const struct ifm_cell_work *work)
{
    enum { NAMED = 4 };
    struct ifm_text names = {0};
    size_t unsteady = 0;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        const struct ifm_event_converge *gate = IFM_TOLD(work, converge, work->cell->arms[a].name);
        if (gate == NULL || gate->steady)
            continue;
        if (unsteady++ < NAMED)
            name_arm(&names, gate);
    }
    if (unsteady > 0)
        ifm_derive_say_cell(work, IFM_SEVERITY_WARNING, "rule-07",
                            "power or temperature of %zu of %zu arms had not settled when the time for the warm-up "
                            "was spent: %s%s; a longer --warmup-cap lets them",
                            unsteady, work->cell->n_arms, names.data, unsteady > NAMED ? ", ..." : "");
    ifm_text_free(&names);
}
