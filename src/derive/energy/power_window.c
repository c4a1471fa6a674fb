/* What is printed of one window: whether it is used, J a step, and how far the two sources are apart. */
#include "derive/energy/power_window.h"

#include <math.h>

const char *ifm_power_why(const struct ifm_power_window *window)
{
    if (window->fault != NULL && window->fault[0] != '\0')
        return window->fault;
    return window->by_primary.why != NULL ? window->by_primary.why : "";
}

bool ifm_power_is_used(const struct ifm_power_window *window)
{
    return ifm_power_why(window)[0] == '\0';
}

double ifm_power_step_j(const struct ifm_power_window *window)
{
    return ifm_power_is_used(window) && window->steps > 0 ? window->step_j / window->steps : NAN;
}

double ifm_power_step_random_j(const struct ifm_power_window *window)
{
    return ifm_power_is_used(window) && window->steps > 0 ? window->step_half_j / window->steps : NAN;
}

double ifm_power_differ_percent(const struct ifm_power_window *window)
{
    const struct ifm_joules *own = &window->by_primary, *other = &window->by_witness;
    if (own->why != NULL || other->why != NULL || !(own->watts > 0))
        return NAN;
    return 100 * (other->watts / own->watts - 1);
}
