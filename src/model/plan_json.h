/* plan.json: the plan as a file. Reading checks every field and names the one that is wrong. */
#ifndef IFM_MODEL_PLAN_JSON_H
#define IFM_MODEL_PLAN_JSON_H

#include "base/json.h"
#include "model/plan.h"

/* Of the files that this version writes, and the only one that it reads. Whoever adds a required member counts up. */
#define IFM_PLAN_SCHEMA 3

/* New reference; NULL when a text is not UTF-8 or a real is not finite. Seeds stand as decimal text, because readers
 * in doubles would round them. */
json_t *ifm_plan_to_json(const struct ifm_plan *plan);
/* Every member is required, no other is allowed, and the plan must agree with itself: indices, unique names of cells,
 * arms, passes and columns, `equals` names another arm, as many units as columns, arms and passes unless the cell is
 * unsupported. IFM_INVALID with "<where>: cells[0].arms[1].ledger.flops". The plan lives in `arena`. */
IFM_CHECKED enum ifm_status ifm_plan_from_json(const json_t *json, const char *where, struct ifm_arena *arena,
                                               struct ifm_plan **out, struct ifm_error *error);
/* The plan.json of a run folder. */
IFM_CHECKED enum ifm_status ifm_plan_read(const char *dir, struct ifm_arena *arena, struct ifm_plan **out,
                                          struct ifm_error *error);

/* The SHA-256 of the plan.json of a run folder, in the arena; NULL where there is none yet. */
const char *ifm_plan_sha256(const char *dir, struct ifm_arena *arena);

/* Names of the enums as they stand in files. */
const char *ifm_role_name(enum ifm_role role);
const char *ifm_ceiling_name(enum ifm_ceiling ceiling); /* "", "read", "flops", "L2", ... */

#endif
