/* Quotients of one window: J a step, and how far the two sources are apart. */
#include "derive/power_window.h"

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

static double a_step(const struct ifm_power_window *window, double joules)
{
    return ifm_power_is_used(window) && window->steps > 0 ? joules / window->steps : NAN;
}

double ifm_power_step_j(const struct ifm_power_window *window)
{
    return a_step(window, window->by_primary.joules);
}

double ifm_power_step_random_j(const struct ifm_power_window *window)
{
    return a_step(window, window->by_primary.random_j);
}

double ifm_power_differ_percent(const struct ifm_power_window *window)
{
    const struct ifm_joules *own = &window->by_primary, *other = &window->by_witness;
    if (own->why != NULL || other->why != NULL || !(own->watts > 0))
        return NAN;
    return 100 * (other->watts / own->watts - 1);
}
