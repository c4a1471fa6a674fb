/* Rule 15, the record defends itself: a plan that is not what planning gives is believed in nothing. */
#include "derive/internal.h"

#include <string.h>

static const char rule[] = "rule-15";

void ifm_rules_plan(struct ifm_derivation *d)
{
    const struct ifm_plan_review *review = d->facts->review;
    for (size_t i = 0; review != NULL && i < review->n; i++) {
        const struct ifm_plan_fault *fault = &review->faults[i];
        if (fault->cell >= d->plan->n_cells) {
            ifm_refuse(&d->unplanned, rule, fault->text);
            ifm_derive_say(d, IFM_SEVERITY_INVALID, rule, "%s", fault->text);
        } else {
            struct ifm_cell_work *work = &d->cells[fault->cell];
            ifm_refuse(&work->unplanned, rule, fault->text);
            ifm_derive_say_cell(work, IFM_SEVERITY_INVALID, rule, "%s", fault->text);
        }
    }
}

/* Rows of sensors are no numbers of their own: each says whether it may be believed. */
void ifm_rules_plan_rows(struct ifm_derivation *d)
{
    for (size_t c = 0; c < d->plan->n_cells; c++) {
        const struct ifm_refusal *refusal = d->unplanned.rule != NULL ? &d->unplanned : &d->cells[c].unplanned;
        for (size_t i = 0; refusal->rule != NULL && i < d->out->n_energies; i++)
            if (strcmp(d->out->energies[i].cell, d->plan->cells[c].name) == 0)
                d->out->energies[i].refused = refusal->reason;
        for (size_t i = 0; refusal->rule != NULL && i < d->out->n_windows; i++)
            if (strcmp(d->out->windows[i].cell, d->plan->cells[c].name) == 0)
                d->out->windows[i].refused = refusal->reason;
    }
}
