/* Private to src/judge. */
#ifndef IFM_JUDGE_INTERNAL_H
#define IFM_JUDGE_INTERNAL_H

#include "judge/judge.h"

/* The root-cause ladder: what the findings say, one sentence a rung, lowest rung first. */
void ifm_judge_ladder(const struct ifm_derived *derived, struct ifm_arena *arena, struct ifm_verdict *verdict);

#endif
