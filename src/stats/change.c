/* Change points of a series: outliers masked, values turned into normal scores, PELT on mean and variance. */
#include "stats/steady.h"
#include <math.h>

enum { WINDOW = 200, KNOTS = 500 };
#define LEAST_VARIANCE 1e-6

/* Local outliers of one window become its median. `sorted` holds 2 n. Returns how many. */
static size_t mask_window(double *x, size_t n, double *sorted)
{
    double middle, low, high;
    size_t masked = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = x[i];
    ifm_stats_sort(sorted, sorted + n, n);
    if (ifm_stats_quantile_sorted(sorted, n, 0.5, &middle) != IFM_STAT_OK ||
        ifm_stats_quantile_sorted(sorted, n, 0.1, &low) != IFM_STAT_OK ||
        ifm_stats_quantile_sorted(sorted, n, 0.9, &high) != IFM_STAT_OK)
        return 0; /* not reached: n > 0 and every value is finite */
    double reach = 3.0 * (high - low);
    if (!(reach > 0.0)) /* most values are equal: a different value is another level, not an outlier */
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (fabs(x[i] - middle) <= reach)
            continue;
        x[i] = middle;
        masked++;
    }
    return masked;
}

/* The first of `n` ascending values that is not below `x` (`after` false) or above it (`after` true). */
static size_t bound(const double *sorted, size_t n, double x, bool after)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < x || (after && sorted[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Running sums of normal scores and of their squares: sum[i] over the first i values. */
struct scores {
    double *sum, *square;
    size_t n;
};

/* `work` holds 4 (n + 1); its first n values are the series, and are overwritten. */
static void score(double *work, size_t n, struct scores *s)
{
    double *x = work, *sorted = work + n + 1, *sum = sorted + n + 1, *square = sum + n + 1;
    for (size_t i = 0; i < n; i++)
        sorted[i] = x[i];
    ifm_stats_sort(sorted, sum, n);
    sum[0] = square[0] = 0.0; /* over ranks */
    for (size_t i = 0; i < n; i++) {
        double z = 0.0;
        if (ifm_stats_normal_quantile(((double)i + 0.5) / (double)n, &z) != IFM_STAT_OK)
            z = 0.0; /* not reached */
        sum[i + 1] = sum[i] + z;
        square[i + 1] = square[i] + z * z;
    }
    s->n = n;
    s->sum[0] = s->square[0] = 0.0; /* over time */
    for (size_t i = 0; i < n; i++) {
        size_t first = bound(sorted, n, x[i], false), end = bound(sorted, n, x[i], true);
        double share = (double)(end - first);
        s->sum[i + 1] = s->sum[i] + (sum[end] - sum[first]) / share;
        s->square[i + 1] = s->square[i] + (square[end] - square[first]) / share;
    }
}

static double cost(const struct scores *s, size_t from, size_t to)
{
    double n = (double)(to - from), mean = (s->sum[to] - s->sum[from]) / n;
    double variance = (s->square[to] - s->square[from]) / n - mean * mean;
    return n * log(variance > LEAST_VARIANCE ? variance : LEAST_VARIANCE);
}

/* (1 + r) / (1 - r): how much dependence between neighbours inflates a gain. */
static double inflation(const struct scores *s)
{
    double one = 0.0, two = 0.0;
    for (size_t i = 0; i + 2 < s->n; i++) {
        double a = s->sum[i + 1] - s->sum[i], b = s->sum[i + 2] - s->sum[i + 1], c = s->sum[i + 3] - s->sum[i + 2];
        one += (b - a) * (b - a);
        two += (c - a) * (c - a);
    }
    double r = one > 0.0 ? two / one - 1.0 : 0.0;
    r = r > 0.95 ? 0.95 : r;
    return r > 0.0 ? (1.0 + r) / (1.0 - r) : 1.0;
}

struct candidate_grid {
    size_t step, knots, least;      /* values between knots, index of the last knot, knots in the shortest segment */
    double best[KNOTS + 1];         /* cost of the best segmentation of the values before a knot */
    size_t before[KNOTS + 1];       /* the knot of its last change */
    size_t open[KNOTS + 1], n_open; /* knots that may still be a last change */
    size_t closes[KNOTS + 1];       /* for each knot: from which one on it is not; 0 = still open */
};

static size_t place(const struct candidate_grid *g, size_t knot, size_t n)
{
    return knot == g->knots ? n : knot * g->step;
}

/* A knot that costs more than the best segmentation up to `t` loses to a change at `t`, once that is far enough away to
 * have one. */
static void search(struct candidate_grid *g, const struct scores *s, double penalty)
{
    g->best[0] = -penalty;
    g->closes[0] = 0;
    g->open[0] = 0;
    g->n_open = 1;
    for (size_t t = 1; t <= g->knots; t++) {
        double best = INFINITY, costs[KNOTS + 1];
        size_t kept = 0, before = 0;
        for (size_t k = 0; k < g->n_open; k++) {
            size_t from = g->open[k];
            if (g->closes[from] != 0 && t >= g->closes[from])
                continue;
            g->open[kept] = from;
            costs[kept] = INFINITY;
            if (t - from >= g->least && place(g, t, s->n) - place(g, from, s->n) >= IFM_CHANGE_SEGMENT)
                costs[kept] = g->best[from] + cost(s, place(g, from, s->n), place(g, t, s->n));
            if (costs[kept] + penalty < best) {
                best = costs[kept] + penalty;
                before = from;
            }
            kept++;
        }
        for (size_t k = 0; k < kept; k++)
            if (costs[k] < INFINITY && costs[k] >= best && g->closes[g->open[k]] == 0)
                g->closes[g->open[k]] = t + g->least + 1;
        g->best[t] = best;
        g->before[t] = before;
        g->n_open = kept;
        if (best < INFINITY) {
            g->closes[t] = 0;
            g->open[g->n_open++] = t;
        }
    }
}

/* Moves a change between its neighbours `from` and `to` to the best place within a knot of `at`. */
static size_t refine(const struct scores *s, size_t from, size_t at, size_t to, size_t step)
{
    size_t best = at;
    double least = cost(s, from, at) + cost(s, at, to);
    size_t low = at > from + step + IFM_CHANGE_SEGMENT ? at - step + 1 : from + IFM_CHANGE_SEGMENT;
    for (size_t i = low; i < at + step && i + IFM_CHANGE_SEGMENT <= to; i++) {
        double here = cost(s, from, i) + cost(s, i, to);
        if (here < least) {
            least = here;
            best = i;
        }
    }
    return best;
}

static void gather(const struct candidate_grid *g, const struct scores *s, size_t *at, size_t limit,
                   struct ifm_changes *out)
{
    size_t chain[KNOTS + 1], count = 0;
    for (size_t t = g->before[g->knots]; t > 0; t = g->before[t])
        chain[count++] = t; /* from the last to the first */
    out->count = count;
    size_t last = 0;
    for (size_t k = 0; k < count && k < limit; k++) {
        size_t next = k + 1 < count ? place(g, chain[count - 2 - k], s->n) : s->n;
        at[k] = place(g, chain[count - 1 - k], s->n);
        if (g->step > 1)
            at[k] = refine(s, last, at[k], next, g->step);
        last = at[k];
    }
}

enum ifm_stat ifm_stats_changes(const double *x, size_t n, double dependence, double *scratch, size_t *at, size_t limit,
                                struct ifm_changes *out)
{
    struct ifm_moments m;
    enum ifm_stat stat = ifm_stats_moments(x, n, &m);
    if (stat != IFM_STAT_OK)
        return stat;
    if (n < 2 * (size_t)IFM_CHANGE_SEGMENT)
        return IFM_STAT_TOO_FEW;
    if (!(dependence >= 1.0) || !isfinite(dependence))
        return IFM_STAT_DOMAIN;
    if (m.sd == 0.0)
        return IFM_STAT_CONSTANT;
    struct scores s = {scratch + 4 * (n + 1), scratch + 5 * (n + 1), 0};
    struct ifm_changes found = {0, 0, 0.0};
    for (size_t i = 0; i < n; i++)
        scratch[i] = x[i];
    for (size_t i = 0; i < n;) { /* the last window takes a rest shorter than half of one */
        size_t length = n - i < WINDOW + WINDOW / 2 ? n - i : WINDOW;
        found.masked += mask_window(scratch + i, length, scratch + n + 1);
        i += length;
    }
    score(scratch, n, &s);
    double own = inflation(&s);
    found.penalty = IFM_CHANGE_PENALTY * log((double)n) * (own > dependence ? own : dependence);
    struct candidate_grid g = {.step = (n + KNOTS - 1) / KNOTS};
    g.knots = (n + g.step - 1) / g.step;
    g.least = (IFM_CHANGE_SEGMENT + g.step - 1) / g.step;
    search(&g, &s, found.penalty);
    gather(&g, &s, at, limit, &found);
    *out = found;
    return IFM_STAT_OK;
}
