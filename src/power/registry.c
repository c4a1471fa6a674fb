/* The table of sources of power, best first. */
#include "power/source.h"

static void (*const sources[])(const struct ifm_power_options *, struct ifm_power *) = {
    ifm_power_find_nvml, ifm_power_find_powercap, ifm_power_find_perf, ifm_power_find_meter, ifm_power_find_tdp,
};

struct ifm_power *ifm_power_open(const struct ifm_power_options *options)
{
    struct ifm_power_options given = *options;
    given.root = options->root == NULL ? "" : options->root;
    struct ifm_power *power = ifm_power_create();
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        sources[i](&given, power);
    return power;
}
