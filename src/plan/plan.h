/* Plan: study x catalog -> cells x arms x passes x order. Pure: no clock, no device, no file. */
#ifndef IFM_PLAN_PLAN_H
#define IFM_PLAN_PLAN_H

#include "model/catalog.h"

IFM_CHECKED enum ifm_status ifm_plan_build(const struct ifm_study *study, const struct ifm_catalog *catalog,
                                           const char *run_id, struct ifm_arena *arena, struct ifm_plan **out,
                                           struct ifm_error *error);
#endif
