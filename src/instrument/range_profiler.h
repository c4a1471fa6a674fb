/* CUPTI's range profiler in this process: prepared once, then one set of counters at a time, and one range at a time
 * around work that runs live. Nothing is replayed, serialised or run again. Private to src/instrument.
 *
 * The work of a range is over, and waited for, when the range ends. Thread rule: the driving thread, in whose context
 * the work runs. */
#ifndef IFM_INSTRUMENT_RANGE_PROFILER_H
#define IFM_INSTRUMENT_RANGE_PROFILER_H

#include "dyn/cupti.h"
#include "model/counter_sets.h"

/* What the process has, whatever cell is measured. */
struct ifm_range_profiler {
    const struct ifm_cupti *cupti; /* NULL: `why` says why there is none */
    char why[320], remedy[320];
    struct ifm_counter_sets sets;
    uint8_t *availability;
};

/* One set, enabled on the current context; at most one at a time in a process. */
struct ifm_range_set {
    const struct ifm_counter_set *set;
    ifm_cupti_host host;
    ifm_cupti_range range;
    uint8_t *config, *data;
    size_t config_bytes, data_bytes;
    bool used; /* a range was counted: the image of the counters is laid out again before the next */
};

/* Prepared at the first call, which takes a fifth of a second. */
const struct ifm_range_profiler *ifm_range_profiler_get(void);
/* False: `why` says why not, and the set is closed again. */
bool ifm_range_set_open(const struct ifm_range_profiler *profiler, const struct ifm_counter_set *set,
                        struct ifm_range_set *out, char why[static 320]);
void ifm_range_set_close(const struct ifm_range_profiler *profiler, struct ifm_range_set *set);
/* Around the work. `values` in the order of the set's metrics. False: nothing was counted, and `why` says why. */
bool ifm_range_begin(const struct ifm_range_profiler *profiler, struct ifm_range_set *set, char why[static 320]);
bool ifm_range_end(const struct ifm_range_profiler *profiler, struct ifm_range_set *set, double *values,
                   char why[static 320]);

#endif
