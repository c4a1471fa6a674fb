/* What the files in the shapes of the specification share: plain numbers or null, and siblings that say the rest.
 *
 * Private to compat_*.c. Sibling objects map a path below their object to what a plain number cannot say: _units, _n,
 * _ci (low, high, level) and _absent (reason, remedy). No formula: a number changes its unit and nothing else. */
#ifndef IFM_PUBLISH_COMPAT_COMPAT_H
#define IFM_PUBLISH_COMPAT_COMPAT_H

#include "publish/compose.h"

struct ifm_siblings {
    json_t *units, *n, *ci, *absent;
};
struct ifm_siblings ifm_siblings_new(void);
/* Puts them into `object`, which then owns them. */
void ifm_siblings_attach(json_t *object, struct ifm_siblings *siblings);
/* `remedy` NULL = there is none. */
void ifm_siblings_absent(struct ifm_siblings *siblings, const char *path, const char *reason, const char *remedy);

/* One field of the specification: where it stands, which of our numbers it is, and its unit there. */
struct ifm_compat_field {
    const char *group, *name; /* "latency_ms", "mean"; group "" for the object itself; the group is made when missing */
    enum ifm_metric_id metric;
    double divide; /* our unit -> the specification's; by division, so that 801000 ns are 0.801 ms to the last bit */
    const char *unit;
    const char *reason, *remedy; /* when derive has no such number at all */
};
/* The number under its path, or null with the reason. `number` NULL: derive has none. True when it is there. */
bool ifm_compat_add(json_t *object, const struct ifm_compat_field *field, const struct ifm_number *number,
                    struct ifm_siblings *siblings);
/* The number of an arm; with `arm` NULL, or in a cell that this device cannot run, null with the reason. */
bool ifm_compat_add_arm(json_t *object, const struct ifm_compat_field *field, const struct ifm_publication *publication,
                        const struct ifm_cell *cell, const struct ifm_arm *arm, struct ifm_siblings *siblings);

/* The arm's setting as text; NULL when there is none (or no arm). */
const char *ifm_compat_setting(const struct ifm_arm *arm, const char *path);
/* Puts a setting into `object` as an integer, or null with the reason. */
void ifm_compat_add_setting(json_t *object, const char *group, const char *name, const struct ifm_arm *arm,
                            const char *path, struct ifm_siblings *siblings);
/* The arm that stands for a cell: its first that is no ceiling; in a cell of ceilings the first. NULL: it has none. */
const struct ifm_arm *ifm_compat_first_arm(const struct ifm_cell *cell);
/* The baseline of the cell, or NULL. */
const struct ifm_arm *ifm_compat_baseline_arm(const struct ifm_cell *cell);

#endif
