/* What powercap and perf events share: the domains of RAPL, and which of them add up. Private to src/power. */
#ifndef IFM_POWER_RAPL_H
#define IFM_POWER_RAPL_H

#include "power/source.h"

struct ifm_rapl_domain {
    const char *zone;  /* its name in powercap; the package's ends with a number */
    const char *event; /* of perf's PMU */
    const char *rapl_source, *perf_source;
    bool part;     /* within the package, or over everything: never added */
    bool restless; /* its counter always moves */
};
/* Package and dram add up to what a socket takes; core and uncore are within the package; psys overlaps all. */
enum { IFM_RAPL_PACKAGE, IFM_RAPL_DRAM, IFM_RAPL_CORE, IFM_RAPL_UNCORE, IFM_RAPL_PSYS, IFM_RAPL_DOMAINS };
extern const struct ifm_rapl_domain ifm_rapl_domains[IFM_RAPL_DOMAINS];

#define IFM_RAPL_MOST_W 5000.0 /* no socket takes that */

/* A counter of one domain, whose readings come from a descriptor. */
struct ifm_rapl_meter {
    int fd;
    struct ifm_power_counter counter;
};
void ifm_rapl_close(void *state);
/* Add the domain's sensor as `sensor` describes it, read from `fd`; a counter of `unit_j` that wraps at `range` units,
 * 0 = never. */
void ifm_rapl_add(struct ifm_power *power, const struct ifm_rapl_domain *domain, struct ifm_power_sensor sensor,
                  const struct ifm_power_reader *reader, int fd, double unit_j, double range);

#endif
