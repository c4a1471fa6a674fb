/* Warm-up, and whether a series becomes steady. */
#include "stats/steady.h"
#include <math.h>

enum ifm_stat ifm_stats_mser5(const double *x, size_t n, struct ifm_warmup_cut *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = ifm_stats_moments(x, n, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    if (n < 100)
        return IFM_STAT_TOO_FEW;
    if (m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    size_t batches = n / 5, cut = 0, least = batches / 10 > 10 ? batches / 10 : 10;
    double mean = 0.0, squares = 0.0, best = INFINITY;
    for (size_t d = batches; d-- > 0;) { /* Welford, from the end */
        double y = 0.0, left = (double)(batches - d);
        for (size_t i = 0; i < 5; i++)
            y += (x[5 * d + i] - m.mean) / m.sd;
        double off = 0.2 * y - mean;
        mean += off / left;
        squares += off * (0.2 * y - mean);
        double value = squares / (left * left);
        if (batches - d >= least && value <= best) { /* of equal values the earliest cut */
            best = value;
            cut = d;
        }
    }
    *out = (struct ifm_warmup_cut){5 * cut, 2 * cut <= batches};
    return IFM_STAT_OK;
}

const char *ifm_steadiness_name(enum ifm_steadiness class)
{
    static const char *const names[] = {"flat", "warm-up", "slow-down", "no steady state"};
    return names[class];
}

enum ifm_stat ifm_stats_steadiness(const double *x, size_t n, const size_t *at, size_t count, double margin,
                                   double *scratch, struct ifm_steady *out)
{
    if (n == 0)
        return IFM_STAT_EMPTY;
    if (!(margin >= 0.0))
        return IFM_STAT_DOMAIN;
    struct ifm_steady steady = {IFM_STEADY_FLAT, 0};
    bool connected = true, faster = false;
    double last = 0.0;
    for (size_t k = count + 1; k-- > 0;) { /* segments, from the last one */
        size_t from = k == 0 ? 0 : at[k - 1], to = k == count ? n : at[k];
        double middle;
        if (from >= to || to > n)
            return IFM_STAT_DOMAIN;
        enum ifm_stat stat = ifm_stats_median(x + from, to - from, scratch, &middle);
        if (stat != IFM_STAT_OK)
            return stat;
        last = k == count ? middle : last;
        bool same = fabs(middle - last) <= margin * fabs(last);
        connected = connected && same;
        if (connected)
            steady.from = from;
        faster = faster || (!same && middle < last);
    }
    if (steady.from > n - n / 4)
        steady.class = IFM_STEADY_NONE;
    else if (steady.from > 0)
        steady.class = faster ? IFM_STEADY_SLOW_DOWN : IFM_STEADY_WARM_UP;
    *out = steady;
    return IFM_STAT_OK;
}
