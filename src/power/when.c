/* Where a reading lies in time. Reads clocks and nothing else. */
#include "power/source.h"

struct ifm_power_point ifm_power_place(double value, int64_t previous_ns, int64_t begin_ns, int64_t end_ns,
                                       int64_t refresh_ns)
{
    int64_t earliest = begin_ns - refresh_ns * 3 / 2;
    if (previous_ns > earliest)
        earliest = previous_ns;
    int64_t half = (end_ns - earliest + 1) / 2;
    return (struct ifm_power_point){.t_ns = end_ns - half, .half_ns = half, .value = value};
}

struct ifm_power_wall ifm_power_wall(void)
{
    struct ifm_power_wall best = {.half_ns = INT64_MAX};
    for (int i = 0; i < 3; i++) { /* the tightest of three: an interrupt may fall between two readings */
        int64_t before = ifm_clock_now().ns, wall = ifm_clock_wall_ns(), after = ifm_clock_now().ns;
        if ((after - before + 1) / 2 < best.half_ns)
            best = (struct ifm_power_wall){wall - before - (after - before) / 2, (after - before + 1) / 2};
    }
    return best;
}
