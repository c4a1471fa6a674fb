/* The passes of one cell, and the place of every instrument. Pure. */
#ifndef IFM_PLAN_PASSES_H
#define IFM_PLAN_PASSES_H

#include "model/catalog.h"

/* Fill the passes of `cell`, whose arms are known. IFM_USAGE names an instrument that has no place in the cell, why,
 * and what to do: none is left out in silence. */
IFM_CHECKED enum ifm_status ifm_plan_passes(const struct ifm_catalog *catalog,
                                            const struct ifm_workload_entry *workload, struct ifm_arena *arena,
                                            struct ifm_cell *cell, struct ifm_error *error);

#endif
