/* A session that energy_record wrote, read back. */
#ifndef IFM_ENERGY_CAPTURE_H
#define IFM_ENERGY_CAPTURE_H

#include "derive/energy/joules.h"

#include <stddef.h>

struct capture_mark {
    int64_t t_ns;
    uint64_t steps;
};

struct capture_phase {
    char name[64];
    int64_t start_ns, end_ns, on_ns;
    double period_ms, duty, dither_ms; /* dither: the longest random pause behind a burst */
    uint64_t steps;
    struct capture_mark *marks;
    size_t n_marks;
};

struct capture_sensor {
    char device[32], source[32];
    struct ifm_readings readings;
    struct ifm_joules_sensor known; /* of a steady load */
    double limit_w;                 /* 0 = not known */
};

enum { CAPTURE_PHASES = 256, CAPTURE_SENSORS = 64 };
struct capture {
    struct capture_phase phases[CAPTURE_PHASES];
    size_t n_phases;
    struct capture_sensor sensors[CAPTURE_SENSORS];
    size_t n_sensors;
};

/* False with one error line on standard error; free it either way. */
bool capture_load(const char *folder, struct capture *out);
void capture_free(struct capture *capture);
/* The first sensor of this source, or NULL. */
const struct capture_sensor *capture_find(const struct capture *capture, const char *source);
/* Steps done at t_ns: between two marks in proportion; before the first none, after the last all of them. */
double capture_steps(const struct capture_phase *phase, int64_t t_ns);
/* Share of [from_ns, to_ns] in which the load ran. */
double capture_duty(const struct capture_phase *phase, int64_t from_ns, int64_t to_ns);

#endif
