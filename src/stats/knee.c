/* Knees: where the levels of a memory hierarchy end. */
#include "stats/stats.h"
#include <math.h>

#define CLIMB_SLOPE 0.25               /* d ln(ns) / d ln(size) above which a stretch climbs */
#define CLIMB_RISE 0.26236426446749106 /* ln 1.3 */
#define FLAT_SPAN 0.33647223662121289  /* ln 1.4: a plateau spans half an octave, one step of the sweep */
/* Share of the climb, in ln(ns): passed between 1 and 1.4 times the capacity when lines are evicted at random. */
#define KNEE_SHARE 0.4

static bool climbs(const double *sizes, const double *ns, size_t i)
{
    return log(ns[i + 1] / ns[i]) > CLIMB_SLOPE * log(sizes[i + 1] / sizes[i]);
}

/* The end (index of a point) of the climb that starts at point `start`: short flats inside belong to it. */
static size_t climb_end(const double *sizes, const double *ns, size_t n, size_t start)
{
    size_t end = start + 1;
    for (size_t i = end; i + 1 < n; i++) {
        if (climbs(sizes, ns, i))
            end = i + 1;
        else if (log(sizes[i + 1] / sizes[end]) >= FLAT_SPAN)
            break;
    }
    return end;
}

/* The level of a flat stretch: the mean of ln(ns) over its points. */
static double level_of(const double *ns, size_t first, size_t last)
{
    double sum = 0.0;
    for (size_t i = first; i <= last; i++)
        sum += log(ns[i]);
    return sum / (double)(last - first + 1);
}

static enum ifm_stat check(const double *sizes, const double *ns, size_t n)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(sizes[i]) || !isfinite(ns[i]))
            return IFM_STAT_NOT_FINITE;
        if (!(ns[i] > 0) || !(sizes[i] > 0) || (i > 0 && !(sizes[i] > sizes[i - 1])))
            return IFM_STAT_DOMAIN;
    }
    return n < 4 ? IFM_STAT_TOO_FEW : IFM_STAT_OK;
}

enum ifm_stat ifm_stats_knees(const double *sizes, const double *ns, size_t n, size_t *knees, size_t limit,
                              size_t *count)
{
    IFM_STAT_TRY(check(sizes, ns, n));
    size_t found = 0, flat = 0; /* flat = first point of the plateau before the climb */
    for (size_t i = 0; i + 1 < n; i++) {
        if (!climbs(sizes, ns, i))
            continue;
        size_t end = climb_end(sizes, ns, n, i);
        double low = level_of(ns, flat, i), high = log(ns[end]);
        if (high - low >= CLIMB_RISE && found < limit) {
            size_t knee = i;
            while (knee + 1 < end && log(ns[knee + 1]) <= low + KNEE_SHARE * (high - low))
                knee++;
            knees[found++] = knee;
        }
        if (high - low >= CLIMB_RISE)
            flat = end;
        i = end - 1;
    }
    *count = found;
    return IFM_STAT_OK;
}
