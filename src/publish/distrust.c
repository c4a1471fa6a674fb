/* Which cells and arms of two runs are not to be used. */
#include "publish/distrust.h"

#include "document/build.h"
#include <string.h>

/* The first finding about the cell, or of it about one arm and what the arm is compared with. */
static const char *found_in(const struct ifm_run_view *run, const char *cell, const char *arm)
{
    const struct ifm_publication from = {.plan = run->plan, .derived = run->derived};
    const struct ifm_cell *planned = arm == NULL ? NULL : ifm_plan_cell(run->plan, cell);
    const struct ifm_arm *baseline = planned == NULL ? NULL : ifm_cell_baseline(planned);
    for (size_t i = 0; i < run->derived->n_findings; i++) {
        const struct ifm_finding *f = &run->derived->findings[i];
        const bool of_cell = ifm_is_empty(f->cell) || strcmp(f->cell, cell) == 0;
        const bool of_arm = arm == NULL || ifm_is_empty(f->arm) || strcmp(f->arm, arm) == 0 ||
                            (baseline != NULL && strcmp(f->arm, baseline->name) == 0);
        if (of_cell && of_arm && ifm_gravity_of(&from, f) >= IFM_TOUCHES_OUTPUT)
            return f->text;
    }
    return NULL;
}

static const char *refused_in(const struct ifm_run_view *run, const char *cell)
{
    const struct ifm_publication from = {.plan = run->plan, .derived = run->derived};
    for (size_t i = 0; i < run->derived->n_numbers; i++) {
        const struct ifm_number *number = &run->derived->numbers[i];
        if (strcmp(number->cell, cell) == 0 && ifm_is_distrusted(&from, number))
            return ifm_is_empty(number->value.reason) ? "a number is refused" : number->value.reason;
    }
    return NULL;
}

static const char *distrust_in(const struct ifm_run_view *run, const char *cell)
{
    const char *found = found_in(run, cell, NULL);
    return found != NULL ? found : refused_in(run, cell);
}

struct ifm_distrust ifm_distrust_of(const struct ifm_comparison_runs *runs, const char *cell)
{
    const char *here = distrust_in(runs->other, cell);
    return here != NULL ? (struct ifm_distrust){here, runs->other_label}
                        : (struct ifm_distrust){distrust_in(runs->reference, cell), runs->reference_label};
}

struct ifm_distrust ifm_distrust_of_arm(const struct ifm_comparison_runs *runs, const char *cell, const char *arm)
{
    const char *here = found_in(runs->other, cell, arm);
    return here != NULL ? (struct ifm_distrust){here, runs->other_label}
                        : (struct ifm_distrust){found_in(runs->reference, cell, arm), runs->reference_label};
}
