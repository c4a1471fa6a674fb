/* What the files in the shapes of the specification share: plain numbers or null, and siblings that say the rest.
 *
 * Sibling objects map a path below their object to what a plain number cannot say: _units, _n, _ci (low, high, level),
 * _absent (reason, remedy), and _sd where a mean of repetitions has one. No formula: a number changes its unit and
 * nothing else. A path is "name", or "group.name" for a member of an object inside; the group is made when missing. */
#ifndef IFM_PUBLISH_COMPAT_COMPAT_H
#define IFM_PUBLISH_COMPAT_COMPAT_H

#include "publish/compose.h"

/* An object in the making. A copy with another cell or arm writes into the same object. */
struct ifm_compat {
    const struct ifm_publication *from;
    const struct ifm_cell *cell; /* whose numbers; NULL = there are none */
    const struct ifm_arm *arm;
    json_t *object, *units, *n, *ci, *sd, *absent;
    const char *remedy; /* of numbers that derive does not have at all; NULL = none */
};
/* A folder that an earlier version published: fields that mean something else since keep what they had, so that it
 * can be verified. */
static inline bool ifm_compat_is_older(const struct ifm_publication *from)
{
    return from->plan->rules < 4;
}

struct ifm_compat ifm_compat_begin(const struct ifm_publication *from, const struct ifm_cell *cell,
                                   const struct ifm_arm *arm);
/* Attaches the siblings. New reference to the object. */
json_t *ifm_compat_end(const struct ifm_compat *c);

/* `value` is stolen. NULL gives null with the reason; with `reason` NULL too, null alone. `remedy` NULL = none. */
void ifm_compat_put(const struct ifm_compat *c, const char *path, json_t *value, const char *reason,
                    const char *remedy);
/* The same of a text; "" gives null. */
void ifm_compat_put_text(const struct ifm_compat *c, const char *path, const char *text, const char *reason);
/* The hash of what was measured on, as `summary` prints it. */
void ifm_compat_put_environment(const struct ifm_compat *c, const char *path);
/* The reason alone, beside what stands at `path`. */
void ifm_compat_absent(const struct ifm_compat *c, const char *path, const char *reason, const char *remedy);

/* One field of the specification: where it stands, which of our numbers it is, and its unit there. */
struct ifm_compat_field {
    const char *path;
    enum ifm_metric_id metric;
    double divide; /* our unit -> the specification's; by division, so that 801000 ns are 0.801 ms to the last bit */
    const char *unit;
    const char *reason; /* when derive has no such number at all */
};
/* The arm's number, in any state; NULL when derive has none. */
const struct ifm_value *ifm_compat_value(const struct ifm_compat *c, enum ifm_metric_id metric);
/* The number under its path, or null with the reason. `value` NULL: derive has none. True when it is there. */
bool ifm_compat_add_value(const struct ifm_compat *c, const struct ifm_compat_field *field,
                          const struct ifm_value *value);
/* The arm's number; without an arm, or in a cell that this device cannot run, null with the reason. */
bool ifm_compat_add(const struct ifm_compat *c, const struct ifm_compat_field *field);
void ifm_compat_add_all(const struct ifm_compat *c, const struct ifm_compat_field *fields, size_t n);

/* The arm's setting as text; NULL when there is none (or no arm). */
const char *ifm_compat_setting(const struct ifm_arm *arm, const char *name);
/* The arm's setting `name` as an integer, or null with the reason. */
void ifm_compat_add_setting(const struct ifm_compat *c, const char *path, const char *name);
/* The arm that stands for a cell: its first that is no ceiling; in a cell of ceilings the first. NULL: it has none. */
const struct ifm_arm *ifm_compat_first_arm(const struct ifm_cell *cell);

#endif
