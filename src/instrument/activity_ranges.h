/* What a traced program does inside its own NVTX ranges: calls that began in a range on its thread, and the work that
 * these started, whenever it ran. Pure; thread rule: any. */
#ifndef IFM_INSTRUMENT_ACTIVITY_RANGES_H
#define IFM_INSTRUMENT_ACTIVITY_RANGES_H

#include "instrument/activity.h"

/* The ranges of a name; one inside another of the same name and thread is a part of that. Of those that overlap, what
 * is in two counts once. */
struct ifm_activity_range {
    const char *name; /* a row's */
    size_t times;
    int64_t ns; /* of the host, in any of them */
    bool overlap;
    struct ifm_activity_counts counts;
};

struct ifm_activity_untold {
    size_t names, times; /* that took less time */
    size_t nameless;     /* ranges that came when the recorder had too many names */
};

/* The `most` that took the most time; their number. Rows are sorted by their start. */
size_t ifm_activity_ranges(const struct ifm_activity_row *rows, size_t n, struct ifm_activity_range *out, size_t most,
                           struct ifm_activity_untold *untold);

#endif
