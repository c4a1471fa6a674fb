/* The energy passes of a run as the published files need them: derive's own results, asked for in this one place.
 *
 * Computes nothing. Thread rule: no shared state. */
#ifndef IFM_PUBLISH_POWER_H
#define IFM_PUBLISH_POWER_H

#include "derive/energy/power.h"
#include "publish/publish.h"

struct ifm_power_shown {
    const struct ifm_cell *cell;
    struct ifm_power_cell power;
    struct ifm_power_trace *traces; /* the sum first, when there is any */
    size_t n_traces;
};

/* Was an energy pass of the cell planned? */
bool ifm_power_is_planned(const struct ifm_cell *cell);

/* One for each cell of the plan that has readings, in the order of the plan; none where the record is not at hand.
 * Everything lives in the arena. */
IFM_CHECKED enum ifm_status ifm_power_gather(const struct ifm_publication *publication, struct ifm_arena *arena,
                                             struct ifm_power_shown **out, size_t *n, struct ifm_error *error);

/* Why a source of power is absent, told once with the names of all sources that lack it. Texts live in the arena. */
struct ifm_power_cause {
    const char *reason, *remedy, *sources; /* never NULL; remedy "" = none */
};
size_t ifm_power_causes(const struct ifm_publication *publication, const struct ifm_cell *cell, struct ifm_arena *arena,
                        struct ifm_power_cause **out);

/* Why there is no energy, and what would help. Texts live in the arena. */
struct ifm_power_reason {
    const char *reason, *remedy; /* never NULL; "" = none */
};
/* Of a cell (NULL: of all cells): that no pass was asked for, else what the journal says of the sources. */
struct ifm_power_reason ifm_power_missing(const struct ifm_publication *publication, const struct ifm_cell *cell,
                                          struct ifm_arena *arena);

#endif
