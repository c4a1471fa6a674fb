/* Private to src/judge. */
#ifndef IFM_JUDGE_INTERNAL_H
#define IFM_JUDGE_INTERNAL_H

#include "judge/judge.h"

/* The root-cause ladder: what the findings say, one sentence a rung, lowest rung first. */
void ifm_judge_ladder(const struct ifm_derived *derived, struct ifm_arena *arena, struct ifm_verdict *verdict);

/* The labels of the class table that a gate names, for the cell and arm of its result. */
void ifm_judge_classes(const struct ifm_gate_result *result, const struct ifm_derived *derived, struct ifm_arena *arena,
                       size_t *capacity, struct ifm_verdict *verdict);

/* One line for each comparison that has a number. */
void ifm_judge_triage(const struct ifm_derived *derived, struct ifm_arena *arena, struct ifm_verdict *verdict);

#endif
