/* What counted.c and limits.c share: the ranges of an arm in the pass of counters, and numbers made of their columns.
 *
 * Private to src/derive. Pure; thread rule: any. */
#ifndef IFM_DERIVE_COUNTED_H
#define IFM_DERIVE_COUNTED_H

#include "derive/internal.h"
#include "model/counter_sets.h"

/* The columns of one range, in the order of ifm_counter_columns. */
enum {
    HITS,
    ACCESSES,
    MISSES,
    SECTORS,
    WRITE_SECTORS,
    FABRIC,
    READ,
    WRITE,
    RANGE_NS,
    CYCLES,
    WARPS,
    F16,
    BF16,
    TF32,
    INT8,
    SECTOR_HITS,
    SECTOR_MISSES,
    OCCUPANCY,
    ISSUE,
    TENSOR,
    ACTIVE,
    CONFLICTS,
    L2,
    LINK,
    WARPS_ACTIVE,
    ELIGIBLE,
    WAITS_MEMORY,
    WAITS_DEPENDENCY,
    WAITS_WGMMA,
    WAITS_BARRIER,
    WAITS_SHARED,
    WAITS_ARITHMETIC,
    COST,
    N,
    ALONE /* in the place of a divisor: none */
};
_Static_assert((int)COST == (int)IFM_COUNTER_COST && (int)N == (int)IFM_COUNTER_COLUMNS, "one for each column");

struct counted_range {
    int64_t values[N]; /* IFM_ABSENT where it was not read */
    double steps;
};

struct counted_ranges {
    struct counted_range *items;
    size_t n;
    bool has[N];      /* columns of the record */
    bool last_sample; /* something runs between the samples of a slot, and the range is around the last one */
};

struct counted {
    const struct ifm_arm_work *arm;
    struct counted_ranges ranges;
    double *values; /* room for one of each range */
    bool asked;     /* the run was asked to count */
    struct ifm_value slower;
};

/* `scale` times the sum of `over`, over the value of `under`; under N: over the steps, under ALONE: over nothing. */
struct quotient {
    unsigned over[2]; /* N = none */
    unsigned under;
    double scale;
};

/* Does the record have the column, and does the chip count it? */
bool ifm_counted_has(const struct counted *c, unsigned column);
/* Of the ranges that have it; NaN and `*n` 0 where none has. */
double ifm_counted_mean(const struct counted *c, const struct quotient *q, size_t *n);
/* True where `out` says why there is no number of the column. */
bool ifm_counted_is_withheld(const struct counted *c, unsigned column, struct ifm_value *out);
/* Emits the mean over ranges, where it was asked for; `most`: above it the number is impossible. True when it is one.
 */
bool ifm_counted_emit(const struct counted *c, enum ifm_metric_id metric, const struct quotient *q, double most);
/* The arm's ranges, in the arena. */
struct counted ifm_counted_begin(const struct ifm_arm_work *arm, struct ifm_arena *arena);

#endif
