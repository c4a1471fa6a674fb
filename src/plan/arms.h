/* The arms of one cell: configured variants, then ceiling probes. Pure. */
#ifndef IFM_PLAN_ARMS_H
#define IFM_PLAN_ARMS_H

#include "model/catalog.h"

struct ifm_arms_request {
    const struct ifm_study *study;
    const struct ifm_catalog *catalog;
    const struct ifm_workload_entry *workload;
    const struct ifm_setting *settings; /* of the cell */
    size_t n_settings;
};

/* Fill the arms of `cell` (and `unsupported`), check names and memory. */
IFM_CHECKED enum ifm_status ifm_plan_arms(const struct ifm_arms_request *request, struct ifm_arena *arena,
                                          struct ifm_cell *cell, struct ifm_error *error);

/* The text of a path, or NULL. */
const char *ifm_setting_find(const struct ifm_setting *settings, size_t n, const char *path);

#endif
