/* What ncu counted, as our numbers: of each kernel over its launches, and of all. A number that cannot be is withheld.
 */
#ifndef IFM_CLI_NCU_NUMBERS_H
#define IFM_CLI_NCU_NUMBERS_H

#include "base/json.h"
#include "instrument/ncu_report.h"
#include "model/counter_sets.h"
#include "model/value.h"

enum { IFM_NCU_FIELDS = 11 };

/* One number: where it stands in files and tables, and what it is made of. */
struct ifm_ncu_field {
    const char *field, *heading, *unit;
    const char *columns[6]; /* of ifm_counter_columns, added up for a launch; [0] over [1] where `share` */
    const char *metric;     /* in place of columns: a metric of ncu, as it is */
    const char *key;        /* of the specification, for the total, or the share; NULL = none */
    bool share;
    bool busy; /* the columns, as bytes, over the time and what the memory's bus can carry in it */
};
extern const struct ifm_ncu_field ifm_ncu_fields[IFM_NCU_FIELDS];

/* Launches whose numbers are told together: those of a kernel, or all. */
struct ifm_ncu_group {
    const char *name;
    const struct ifm_ncu_launch **launches;
    size_t n, capacity;
};

struct ifm_ncu_counted {
    const struct ifm_ncu_report *report;
    const struct ifm_counter_sets *sets; /* NULL: of a chip that no list names */
    struct ifm_arena *arena;
    struct ifm_ncu_group *groups; /* the first holds all */
    size_t n_groups;
    double passes; /* the most times that a launch was run */
};

void ifm_ncu_count(const struct ifm_ncu_report *report, const struct ifm_counter_sets *sets, struct ifm_arena *arena,
                   struct ifm_ncu_counted *out);
/* Of one launch: the mean; a share is a ratio of sums. `sd`, `total` (what the key has): NAN where there is none. */
struct ifm_value ifm_ncu_value_in(const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group,
                                  const struct ifm_ncu_field *field, double *sd, double *total);
/* ncu.json, in the shapes of the specification. New reference. */
json_t *ifm_ncu_json(const struct ifm_ncu_counted *c, const char *program);

#endif
