/* Private to the files power*.c of src/derive: the journal's part of an energy pass, as they hand it on. */
#ifndef IFM_DERIVE_ENERGY_POWER_PRIVATE_H
#define IFM_DERIVE_ENERGY_POWER_PRIVATE_H

#include "derive/energy/power.h"
#include "sample/record.h"

/* Readings of a sensor that are not whole. */
struct ifm_power_span {
    const char *device, *source, *why;
    int64_t start_ns, end_ns;
};
struct ifm_power_idle {
    int64_t start_ns, end_ns; /* without its first part, in which power settles */
};

struct ifm_power_pass {
    const struct ifm_facts_view *facts;
    const struct ifm_cell *cell;
    size_t index; /* of the cell */
    struct ifm_arena *arena;
    const struct ifm_record *record; /* of the pass; NULL = there is none */
    struct ifm_power_cell *out;
    struct ifm_power_span *spans;
    size_t n_spans;
    struct ifm_power_idle *idles;
    size_t n_idles;
    const char *absent, *absent_remedy; /* sources without a sensor: "nvml: no library; rapl: ..."; "" */
    size_t facts_capacity, spans_capacity, idles_capacity, phases_capacity;
};

/* power_events.c: facts, spans, idles and phases; facts with their readings, without a role. */
IFM_CHECKED enum ifm_status ifm_power_read_events(struct ifm_power_pass *pass, struct ifm_error *error);

/* Is the span of this sensor, and does it touch [from_ns, to_ns]? */
bool ifm_power_touches(const struct ifm_power_span *span, const struct ifm_power_fact *fact, int64_t from_ns,
                       int64_t to_ns);

/* A step of load at `at_ns`: one level in [from_ns, before_ns], another one until to_ns. */
struct ifm_power_edge {
    int64_t from_ns, before_ns, at_ns, to_ns;
};
struct ifm_power_follow {
    double lag_s, window_s; /* see struct ifm_power_fact; NaN = the step does not say */
};
/* power_lag.c: how readings follow a step, and that of every sensor of the pass. */
struct ifm_power_follow ifm_power_follow(const struct ifm_readings *readings, double period_s,
                                         const struct ifm_power_edge *edge);
void ifm_power_measure_lags(struct ifm_power_pass *pass);

/* power_meter.c: the range and the lag of every external meter; joules of a window by them. */
void ifm_power_know_meters(struct ifm_power_pass *pass);
/* NULL, or which reading in [from_ns, to_ns], by the meter's own stamps, is out of its range. */
const char *ifm_power_disbelieved(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact, int64_t from_ns,
                                  int64_t to_ns);
struct ifm_joules ifm_power_meter_joules(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact,
                                         const struct ifm_joules_sensor *sensor, int64_t from_ns, int64_t to_ns);
/* Once the devices' joules are known: a board that shows less than they took is not used. */
void ifm_power_compare_boards(struct ifm_power_pass *pass);

/* power_windows.c: joules of every window and idle phase, once roles and devices are known. */
void ifm_power_integrate(struct ifm_power_pass *pass);

#endif
