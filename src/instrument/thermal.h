/* Where a processor says how hot it is and how often it slowed itself down. Private to src/instrument.
 *
 * All files are opened once; a reading is a few calls of pread. Thread rule: one thread drives a reader. */
#ifndef IFM_INSTRUMENT_THERMAL_H
#define IFM_INSTRUMENT_THERMAL_H

#include "host/cpus.h"
#include <stddef.h>
#include <stdint.h>

struct ifm_thermal {
    int *throttle_fds; /* one for each of our CPUs that counts */
    size_t n_throttle_fds;
    int temperature_fd; /* of the package; -1 = none */
};

/* `root` stands before /sys: "" on a machine, a folder in tests. What is not there is left out. */
void ifm_thermal_open(const char *root, const struct ifm_cpu_mask *cpus, struct ifm_thermal *out);
void ifm_thermal_close(struct ifm_thermal *thermal);
/* Throttle events of our CPUs since boot; IFM_ABSENT where a CPU does not count or cannot be read. */
int64_t ifm_thermal_throttles(const struct ifm_thermal *thermal);
/* Thousandths of a degree Celsius; IFM_ABSENT where the package has no sensor. */
int64_t ifm_thermal_temperature_mc(const struct ifm_thermal *thermal);

#endif
