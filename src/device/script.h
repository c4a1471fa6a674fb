/* The fake device's script: text into numbers. Private to src/device. Format: device/fake.h. */
#ifndef IFM_DEVICE_SCRIPT_H
#define IFM_DEVICE_SCRIPT_H

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

/* What the durations of one arm follow. */
struct ifm_curve {
    double step_ns, noise, slot_noise, drift, ar, warmup, slow, slow_times;
    /* What the instrument "fake" and the checks read; below zero = not scripted. */
    double l2_hit, energy_j, cpu_khz, steal, quality, error;
    double steal_slots; /* share of slots that lose it; 1 = all */
};

struct ifm_script_arm {
    char *name;
    struct ifm_curve curve;
    double steps_done;
    unsigned set; /* which keys the script has set, one bit each */
};

struct ifm_script {
    struct ifm_curve curve;                   /* of arms that the script does not name */
    double idle_w, limit_w, energy_period_ns; /* of the sensor behind energy_j; below zero = not scripted */
    double mark_ns, die_after_slots;
    struct ifm_script_arm *arms;
    size_t n_arms;
};

/* `text` NULL or "" gives the defaults. On failure `out` is empty. */
IFM_CHECKED enum ifm_status ifm_script_parse(const char *text, struct ifm_script *out, struct ifm_error *error);
void ifm_script_free(struct ifm_script *script);
/* The arm of this name; made from the common curve when the script does not name it. NULL when memory runs out. */
struct ifm_script_arm *ifm_script_arm(struct ifm_script *script, const char *name, size_t length);

#endif
