/* What Nsight Compute's command `ncu` printed as CSV: launches of kernels, and values of metrics.
 *
 * It is a file of another program: any bytes are one error or a report. A value that is no count is none, with the
 * reason; nothing is guessed. Units are brought to bytes, ns and counts. Pure; thread rule: any. */
#ifndef IFM_INSTRUMENT_NCU_REPORT_H
#define IFM_INSTRUMENT_NCU_REPORT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include <stdbool.h>
#include <stddef.h>

/* The facts of the card that are kept beside the metrics: of a table with a row a launch. */
#define IFM_NCU_MEMORY_KHZ "device__attribute_memory_clock_rate"
#define IFM_NCU_MEMORY_BITS "device__attribute_global_memory_bus_width"

struct ifm_ncu_value {
    double number;      /* of metrics that are no percentage: at least 0 */
    const char *reason; /* why there is none; NULL = there is one */
};

struct ifm_ncu_launch {
    const char *kernel;
    const char *capability; /* "9.0" */
    size_t n_values;
    struct ifm_ncu_value *values; /* of the report's metrics, by their place; those behind n_values are not there */
};

struct ifm_ncu_report {
    const char **metrics; /* names */
    const char **units;   /* after the conversion: "B", "ns", "%", "sector" and the like; "" = none */
    size_t n_metrics;
    struct ifm_ncu_launch *launches;
    size_t n_launches;
    struct ifm_names *names; /* of metrics, to their places */
};

/* `--page raw --csv` (a row a launch) and `--csv` alone (a row a metric). IFM_INVALID: it is neither. All in the arena.
 */
IFM_CHECKED enum ifm_status ifm_ncu_read(const char *text, size_t size, const char *where, struct ifm_arena *arena,
                                         struct ifm_ncu_report *out, struct ifm_error *error);
/* The value of a launch; one that the report does not have says so. */
struct ifm_ncu_value ifm_ncu_value_of(const struct ifm_ncu_report *report, const struct ifm_ncu_launch *launch,
                                      const char *metric);
/* One cell of such a table, in the unit beside it, brought to its base; `unit` may be NULL. `base`: the base. */
struct ifm_ncu_value ifm_ncu_number(const char *text, const char *unit, const char **base, struct ifm_arena *arena);

#endif
