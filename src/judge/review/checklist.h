/* Checklists of the specification, answered from the run itself: nobody ticks a box.
 *
 * A pure function of plan, derived numbers, verdict and journal. Texts live in the arena or are static. */
#ifndef IFM_JUDGE_REVIEW_CHECKLIST_H
#define IFM_JUDGE_REVIEW_CHECKLIST_H

#include "judge/judge.h"

/* Met; not met; not to be had here (no such instrument, no such device): said with its reason, and never met. */
enum ifm_check_state { IFM_CHECK_MET = 0, IFM_CHECK_NOT_MET, IFM_CHECK_ABSENT };

struct ifm_check_item {
    const char *asks; /* "coefficient of variation at most 5 %" */
    enum ifm_check_state state;
    const char *found;  /* "at most 3.1 % (int4 of decode)"; never empty */
    const char *remedy; /* what would make it met; "" when it is */
};

struct ifm_checklist {
    const char *id, *title; /* "sop-environment", "Environment lock" */
    const char *arms;       /* "12 arms", "4 arms of decode": which "each arm" means */
    struct ifm_check_item *items;
    size_t n_items;
    size_t n_met;
};

/* "sop-environment" (the measurement standard, section 2), "sop-final" (section 13), and, for a run with decode cells,
 * "elastic-kv" (the validation checklist of the elastic KV benchmark). */
void ifm_checklists(const struct ifm_plan *plan, const struct ifm_derived *derived, const struct ifm_verdict *verdict,
                    const struct ifm_events *events, struct ifm_arena *arena, struct ifm_checklist **out, size_t *n);

/* Troubleshooting advice of the specification whose condition holds in this run: where, and what to do. At most one of
 * a kind in a cell, for the arm that has it worst; kinds in the order "variation", "memory", "fit", "consistency". */
struct ifm_advice {
    const char *kind;
    const char *cell, *arm; /* "" = the whole cell */
    const char *condition;  /* "coefficient of variation 7.2 %, above 5 %" */
    const char *text;       /* "raise --warmup above 50, or --inner above 64 steps" */
};
void ifm_advise(const struct ifm_plan *plan, const struct ifm_derived *derived, const struct ifm_events *events,
                struct ifm_arena *arena, struct ifm_advice **out, size_t *n);
/* The text for an arm that leaves much of the read ceiling, as among those; NULL = it does not, or arithmetic holds it
 * back. */
const char *ifm_advise_memory(const struct ifm_plan *plan, const struct ifm_derived *derived,
                              const struct ifm_events *events, const struct ifm_cell *cell, const struct ifm_arm *arm,
                              struct ifm_arena *arena);

#endif
