/* The table of sources of power, best first. */
#include "power/source.h"

#include <string.h>
#include <sys/stat.h>

static void (*const sources[])(const struct ifm_power_options *, struct ifm_power *) = {
    ifm_power_find_nvml, ifm_power_find_powercap, ifm_power_find_perf, ifm_power_find_meter, ifm_power_find_tdp,
};

enum ifm_status ifm_power_open(const struct ifm_power_options *options, struct ifm_power **out, struct ifm_error *error)
{
    struct ifm_power_options given = *options;
    given.root = options->root == NULL ? "" : options->root;
    struct ifm_power *power = ifm_power_create();
    (void)error; /* sources say what they lack */
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        sources[i](&given, power);
    *out = power;
    return IFM_OK;
}

enum ifm_status ifm_power_meter_ready(const char *path, struct ifm_error *error)
{
    struct stat info;
    const struct ifm_power_options options = {.no_gpu = true, .meter = path};
    struct ifm_power *power;
    enum ifm_status status = IFM_OK;
    if (stat(path, &info) == 0 && S_ISFIFO(info.st_mode))
        return IFM_OK;
    IFM_TRY(ifm_power_open(&options, &power, error));
    const struct ifm_power_list *list = ifm_power_list(power);
    for (size_t i = 0; i < list->n_absences && status == IFM_OK; i++)
        if (strcmp(list->absences[i].source, "meter") == 0)
            status = ifm_fail(error, IFM_MISSING, "measure.power_meter", list->absences[i].remedy, "%s",
                              list->absences[i].reason);
    ifm_power_close(power);
    return status;
}
