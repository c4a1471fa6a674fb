/* Joules of a window, with their error bar: pure functions of a sensor's readings.
 *
 * A counter is read only at its ticks. The window of energy is therefore the longest stretch between two ticks inside
 * the load (research on H200: edges between ticks cost up to 5 % of a window of 2 s, edges on ticks 0.1 %), and whoever
 * divides by steps counts those of that stretch. Readings of watts are integrated by the trapezoid rule over the same
 * stretch. Instantaneous power is never integrated.
 *
 * A window of whole runs of a program begins and ends with them instead, since nobody knows which part of a run a tick
 * cuts off; the device idles beyond its ends, so that little is between them and the ticks.
 *
 * The error bar is random: what another window of the same load might have said. It is the half-width of a 95 %
 * interval, combined in quadrature from
 *   edge      each end's time is known to half_ns: the power there x that, evenly spread within it; the root of power's
 *             mean square at least
 *   quantum   the counter's smallest step; half a step of a sensor of watts, all the time
 *   coverage  the sensor samples power and does not tile time: see coverage.h; of watts also the error of a
 *             mean of so many readings, and a quarter of the standard deviation where the load is periodic: samples
 *             lock to it; of a meter what readings of single moments may miss
 * Gain error is systematic and not included; it cancels in ratios on one card. */
#ifndef IFM_DERIVE_ENERGY_JOULES_H
#define IFM_DERIVE_ENERGY_JOULES_H

#include "sample/readings.h"
#include <stdbool.h>

struct ifm_joules {
    const char *why;          /* NULL = made; else why not, a sentence's end: "the counter ticked 3 times" */
    int64_t start_ns, end_ns; /* between the ticks, or the readings, that it is of */
    double joules, seconds, watts;
    size_t readings;                      /* in it, both ends counted */
    double edge_j, quantum_j, coverage_j; /* half-widths; edge_j holds the grain */
    double random_j;                      /* all of them in quadrature */
    double lag_j;                         /* half-width; what all windows are off by together, since the lag of a
                                             meter is known so well: no part of random_j */
    double longest_gap_s;                 /* between readings in it */
};

/* What is known of the sensor. */
struct ifm_joules_sensor {
    double period_s; /* between its readings, as calibrated; 0 = not known */
    double quantum;  /* J or W; 0 = not known */
    double spread_w; /* standard deviation of power inside the window as the finest sensor of the device saw it; a
                        negative one = not known: then the readings' own */
    /* Of a load whose steps are so long that a sensor which samples may lock to them (coverage.h). All zeros: none. */
    double load_period_s, load_dither_s;
    double low_w, high_w; /* what the device idles at, and its limit: how far its power may swing unseen */
    bool whole;           /* the window is of whole runs: it begins and ends where power may step */
    bool points;          /* a meter: what it does between its readings is not known, and low_w and high_w are the
                             lowest and the highest power that it saw, or the limit */
};

/* Of a counter: readings within [from_ns, to_ns]. At least IFM_JOULES_TICKS periods between its ends. */
enum { IFM_JOULES_TICKS = 10 };
/* The ends are those ticks surely inside whose times are known best, for the length between them. A counter that stood
 * still in between and did not catch up is a reason; one that did has its joules. */
void ifm_joules_counter(const struct ifm_readings *readings, const struct ifm_joules_sensor *sensor, int64_t from_ns,
                        int64_t to_ns, struct ifm_joules *out);
/* The same of whole runs, exactly from from_ns to to_ns: between the ticks round an end power is what it was in the
 * tick beyond, and unsure by the range of power near the end. An end without two ticks beyond it is a reason. */
void ifm_joules_whole(const struct ifm_readings *readings, const struct ifm_joules_sensor *sensor, int64_t from_ns,
                      int64_t to_ns, struct ifm_joules *out);
/* Of watts, by the trapezoid rule from exactly from_ns to exactly to_ns, both ends interpolated between readings. A gap
 * longer than three periods, ends without a reading beyond or within one period of them, or fewer than
 * IFM_JOULES_TICKS periods, is a reason. `spread_w` is used where it is above the readings' own. */
void ifm_joules_integral(const struct ifm_readings *readings, const struct ifm_joules_sensor *sensor, int64_t from_ns,
                         int64_t to_ns, struct ifm_joules *out);
/* The first reading at or after `t_ns`; how many there are where none is. */
size_t ifm_joules_first(const struct ifm_readings *readings, int64_t t_ns);
/* A reading of a counter is a tick when it differs from the one before; the first of all says nothing of when its value
 * came. */
bool ifm_joules_is_tick(const struct ifm_readings *readings, size_t i);
/* Seconds that a window needs at least: IFM_JOULES_TICKS periods of the sensor. */
double ifm_joules_least_s(double period_s);
/* Standard deviation of the watts within [from_ns, to_ns]; negative = fewer than IFM_JOULES_TICKS readings. */
double ifm_joules_spread(const struct ifm_readings *readings, int64_t from_ns, int64_t to_ns);
/* Is a load of this standard deviation one that swings? Then sources may differ without one of them being wrong. */
bool ifm_joules_periodic(double spread_w, double mean_w);

#endif
