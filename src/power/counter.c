/* Counters of joules: wraps, and what cannot be; and where a reading lies in time. Reads clocks and nothing else. */
#include "power/source.h"

enum { STILL_PERIODS = 20 };

static enum ifm_status unmoved(struct ifm_power_counter *counter, int64_t end_ns, struct ifm_error *error)
{
    int64_t still_ns = end_ns - counter->moved_ns;
    if (!counter->restless || counter->told || still_ns < STILL_PERIODS * counter->refresh_ns)
        return IFM_OK;
    counter->told = true;
    return ifm_fail(error, IFM_INVALID, NULL, "look at what else reads this device, and at `dmesg`",
                    "the energy counter has stood still for %.1f s", (double)still_ns * 1e-9);
}

/* Why this step cannot be; NULL when it can. `step` is in raw units, `wrapped` when a turn was added. */
static const char *implausible(const struct ifm_power_counter *counter, double step, bool wrapped, double seconds,
                               double unread_s)
{
    if (wrapped && counter->range <= 0)
        return "went back";
    if (wrapped && step > counter->range / 2)
        return "went back without a wrap";
    if (counter->range > 0 && unread_s * counter->most_w > counter->range * counter->unit_j)
        return "was not read for so long that it may have wrapped unseen";
    if (step * counter->unit_j > counter->most_w * (seconds + (double)counter->refresh_ns * 3e-9))
        return "jumped by more than the device can take";
    return NULL;
}

enum ifm_status ifm_power_count(struct ifm_power_counter *counter, uint64_t raw, int64_t begin_ns, int64_t end_ns,
                                struct ifm_power_point *point, size_t *n, struct ifm_error *error)
{
    int64_t previous_ns = counter->previous_ns;
    uint64_t last = counter->last;
    counter->previous_ns = begin_ns;
    *n = 0;
    if (!counter->started) {
        counter->started = true;
        counter->first = counter->last = raw;
        counter->moved_ns = end_ns;
        *point = ifm_power_place(0, 0, begin_ns, end_ns, counter->refresh_ns);
        *n = 1;
        return IFM_OK;
    }
    if (raw == last)
        return unmoved(counter, end_ns, error);
    bool wrapped = raw < last;
    /* Unsigned differences are exact where both readings are beyond what a double holds. */
    double step = wrapped ? counter->range - (double)(last - raw) : (double)(raw - last);
    double seconds = (double)(end_ns - counter->moved_ns) * 1e-9;
    const char *what = implausible(counter, step, wrapped, seconds, (double)(end_ns - previous_ns) * 1e-9);
    counter->last = raw;
    counter->moved_ns = end_ns;
    counter->told = false;
    if (what != NULL) { /* this step is lost */
        counter->turns += wrapped ? (double)(last - raw) : -(double)(raw - last);
        return ifm_fail(error, IFM_INVALID, NULL, "joules of a window that holds this moment are not to be used",
                        "the energy counter %s: from %.6f J to %.6f J within %.3f s", what,
                        (double)last * counter->unit_j, (double)raw * counter->unit_j, seconds);
    }
    counter->turns += wrapped ? counter->range : 0;
    double since = raw >= counter->first ? (double)(raw - counter->first) : -(double)(counter->first - raw);
    *point =
        ifm_power_place((since + counter->turns) * counter->unit_j, previous_ns, begin_ns, end_ns, counter->refresh_ns);
    *n = 1;
    return IFM_OK;
}

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
