/* An index of derived numbers: a sweep of hundreds of cells is looked up thousands of times. */
#ifndef IFM_PUBLISH_INDEX_H
#define IFM_PUBLISH_INDEX_H

#include "base/arena.h"
#include "derive/derive.h"

struct ifm_index {
    const struct ifm_number **sorted; /* by cell, arm, metric */
    size_t n;
};

/* Lives in the arena; `derived` must not change while it is used. */
struct ifm_index ifm_index_build(const struct ifm_derived *derived, struct ifm_arena *arena);
/* NULL when there is none. Arm "" is a number of the cell. */
const struct ifm_value *ifm_index_find(const struct ifm_index *index, const char *cell, const char *arm,
                                       const char *metric);

#endif
