/* What a traced program does inside its own NVTX ranges: calls that began in a range on its thread, and the work that
 * these started, whenever it ran. Pure; thread rule: any. */
#ifndef IFM_INSTRUMENT_ACTIVITY_RANGES_H
#define IFM_INSTRUMENT_ACTIVITY_RANGES_H

#include "base/arena.h"
#include "instrument/activity.h"

/* The ranges of a name; one inside another of the same name and thread is a part of that. */
struct ifm_activity_range {
    const char *name;
    size_t times;
    int64_t ns; /* of the host, in all of them */
    struct ifm_activity_counts counts;
};

/* The `most` that took the most time; their number. `*all`: how many names there are. Rows are sorted by their start.
 */
size_t ifm_activity_ranges(const struct ifm_activity_row *rows, size_t n, struct ifm_activity_range *out, size_t most,
                           size_t *all, struct ifm_arena *arena);

#endif
