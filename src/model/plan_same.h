/* Two plans, leaf by leaf: plan.json as it stands, and what planning again gives. Pure. */
#ifndef IFM_MODEL_PLAN_SAME_H
#define IFM_MODEL_PLAN_SAME_H

#include "base/arena.h"
#include "model/plan.h"

#define IFM_WHOLE_PLAN SIZE_MAX

/* A leaf in which they differ. */
struct ifm_plan_leaf {
    size_t cell;      /* of the plan as it stands; IFM_WHOLE_PLAN = of the plan itself, or a cell too many or few */
    const char *path; /* "cells[0].arms[1].ledger.flops" */
    const char *has, *gives; /* as JSON; "nothing" where one of them has no such leaf */
};
struct ifm_plan_leaves {
    struct ifm_plan_leaf *items;
    size_t n, capacity;
};

/* Every leaf in which `has` differs from `made`, in the order of the file; reals may differ by 1e-12 of their size, as
 * the C library's logarithms do. Not compared is what planning is not a function of: the run's id, and the machine and
 * rules that it was given. Texts live in the arena. */
void ifm_plan_differences(const struct ifm_plan *has, const struct ifm_plan *made, struct ifm_arena *arena,
                          struct ifm_plan_leaves *out);

#endif
