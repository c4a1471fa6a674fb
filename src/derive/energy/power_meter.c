/* What an external meter may be believed: how late its time stamps are, from the steps of load that the pass makes, and
 * between which powers its readings lie. Nothing is dropped and nothing altered here: joules are taken by this lag, and
 * a window or an idle phase with a reading that is out of range is not used, with that reading named. */
#include "derive/energy/power_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lags are looked for within this, and within this share of the pass. */
#define LONGEST_LAG_S 10.0
#define LONGEST_SHARE 0.25
enum { MOST_LAGS = 2000, LAGS_A_PERIOD = 8, FEWEST = 3, SHIFTS = 9 };
/* Of the variance of the readings: more than this unexplained at the best lag, and the load's steps do not show. */
#define UNEXPLAINED 0.3
/* Of the shortest idle phase: a load that swings is looked at through means of this length. */
#define SMOOTH_SHARE 0.25
/* Lags are possible that leave (1 + this / phases) times of what the best one leaves unexplained, or this little. */
#define WORSE 4.0
#define EXACT 1e-3
/* Of mean power: less variation than that shows no step. */
#define STEADY 1e-3
/* A lag that may move the joules of a window by more than this share is not known well enough. */
#define MOVES 0.10
/* Readings at either end of the range that may be wrong: this share of all, two at least. */
#define ODD_SHARE 0.01
enum { ODD_LEAST = 2 };
/* From idle to this many times the rated power of what is measured: supplies and fans lose some of it. */
#define RATED_TIMES 4.0
/* What a board takes includes what its devices do, but for the gain errors of both. */
#define HOLDS 0.90

/* ---- the range of its readings ---- */

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Rated power of what the cell measures, as far as it is known. */
static double rated_of(const struct ifm_power_pass *pass)
{
    const struct ifm_power_cell *cell = pass->out;
    double sum = pass->cell->measure.rated_w > 0 ? pass->cell->measure.rated_w : 0.0;
    for (size_t i = 0; i < cell->n_facts; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= strcmp(cell->facts[k].device, cell->facts[i].device) == 0 && cell->facts[k].limit_w > 0;
        sum += !again && cell->facts[i].limit_w > 0 ? cell->facts[i].limit_w : 0.0;
    }
    return sum;
}

/* From the readings themselves, but for the few that lie farthest out: half their least power, and once more the way
 * from their least to their greatest, or half of that; and no more than the rated power allows. */
static void find_range(const struct ifm_power_pass *pass, struct ifm_power_fact *fact)
{
    const struct ifm_readings *r = fact->readings;
    size_t odd = (size_t)(ODD_SHARE * (double)r->n);
    odd = odd < ODD_LEAST ? ODD_LEAST : odd;
    fact->least_w = fact->lowest_w = 0.0;
    fact->most_w = fact->highest_w = INFINITY;
    if (r->n <= 2 * odd + 1)
        return;
    int64_t *sorted = IFM_ARENA_ARRAY(pass->arena, int64_t, r->n);
    for (size_t i = 0; i < r->n; i++)
        sorted[i] = r->list[i].micro;
    qsort(sorted, r->n, sizeof *sorted, by_size);
    double low = 1e-6 * (double)sorted[odd], high = 1e-6 * (double)sorted[r->n - 1 - odd], rated = rated_of(pass);
    fact->least_w = 0.5 * low;
    fact->most_w = high + fmax(high - low, 0.5 * high);
    if (rated > 0)
        fact->most_w = fmin(fact->most_w, low + RATED_TIMES * rated);
    fact->lowest_w = INFINITY;
    fact->highest_w = 0.0;
    for (size_t i = 0; i < r->n; i++) {
        double watts = 1e-6 * (double)sorted[i];
        if (watts < fact->least_w || watts > fact->most_w)
            continue;
        fact->lowest_w = fmin(fact->lowest_w, watts);
        fact->highest_w = fmax(fact->highest_w, watts);
    }
}

static bool is_believed(const struct ifm_power_fact *fact, const struct ifm_reading *reading)
{
    double watts = 1e-6 * (double)reading->micro;
    return watts >= fact->least_w && watts <= fact->most_w;
}

const char *ifm_power_disbelieved(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact, int64_t from_ns,
                                  int64_t to_ns)
{
    const struct ifm_readings *r = fact->readings;
    for (size_t i = ifm_joules_first(r, from_ns); fact->is_meter && i < r->n && r->list[i].t_ns <= to_ns; i++)
        if (!is_believed(fact, &r->list[i]))
            return ifm_arena_printf(pass->arena,
                                    "its reading %zu, %.6g W at %.3f s, is out of range: all others and the rated "
                                    "power leave %.4g to %.4g W",
                                    i + 1, 1e-6 * (double)r->list[i].micro, 1e-9 * (double)r->list[i].t_ns,
                                    fact->least_w, fact->most_w);
    return NULL;
}

/* ---- its lag ---- */

/* A stretch of one level: idle, or one arm at work. */
struct level_span {
    int64_t start_ns, end_ns;
    size_t level;
};

/* Sums over the readings before each one, of watts less their mean. */
struct fit {
    struct ifm_readings believed;
    double *sums, *squares;
    double mean, period_s;
    struct level_span *stretches;
    size_t n_stretches, n_levels;
    double *level_sums, *level_n; /* scratch, a number for each level */
};

static void add_stretches(const struct ifm_power_pass *pass, struct fit *fit)
{
    const struct ifm_power_cell *cell = pass->out;
    fit->stretches = IFM_ARENA_ARRAY(pass->arena, struct level_span, pass->n_idles + cell->n_phases + 1);
    for (size_t i = 0; i < pass->n_idles; i++)
        fit->stretches[fit->n_stretches++] = (struct level_span){pass->idles[i].start_ns, pass->idles[i].end_ns, 0};
    for (size_t i = 0; i < cell->n_phases; i++)
        if (cell->phases[i].kind != IFM_POWER_IDLE)
            fit->stretches[fit->n_stretches++] =
                (struct level_span){cell->phases[i].start_ns, cell->phases[i].end_ns, 1 + (size_t)cell->phases[i].arm};
    fit->n_levels = 1 + pass->cell->n_arms;
    fit->level_sums = IFM_ARENA_ARRAY(pass->arena, double, fit->n_levels);
    fit->level_n = IFM_ARENA_ARRAY(pass->arena, double, fit->n_levels);
}

static void add_up(struct fit *fit)
{
    const struct ifm_readings *r = &fit->believed;
    fit->mean = 0.0;
    for (size_t i = 0; i < r->n; i++)
        fit->mean += 1e-6 * (double)r->list[i].micro / (double)r->n;
    for (size_t i = 0; i < r->n; i++) {
        double off = 1e-6 * (double)r->list[i].micro - fit->mean;
        fit->sums[i + 1] = fit->sums[i] + off;
        fit->squares[i + 1] = fit->squares[i] + off * off;
    }
}

/* Each reading becomes the mean of those round it, within a share of the shortest idle phase. */
static void smooth(const struct ifm_power_pass *pass, struct fit *fit)
{
    struct ifm_readings *r = &fit->believed;
    struct ifm_reading *means = IFM_ARENA_ARRAY(pass->arena, struct ifm_reading, r->n);
    int64_t half_ns = INT64_MAX;
    for (size_t i = 0; i < pass->n_idles; i++) {
        int64_t half = (int64_t)(0.5 * SMOOTH_SHARE * (double)(pass->idles[i].end_ns - pass->idles[i].start_ns));
        half_ns = half < half_ns ? half : half_ns;
    }
    for (size_t i = 0; i < r->n && pass->n_idles > 0; i++) {
        size_t from = ifm_joules_first(r, r->list[i].t_ns - half_ns);
        size_t to = ifm_joules_first(r, r->list[i].t_ns + half_ns);
        to = to > i ? to : i + 1;
        double mean = fit->mean + (fit->sums[to] - fit->sums[from]) / (double)(to - from);
        means[i] = (struct ifm_reading){r->list[i].t_ns, r->list[i].half_ns, llround(1e6 * mean)};
    }
    if (pass->n_idles > 0)
        r->list = means;
    add_up(fit);
}

/* False where there is nothing to fit: too few readings, or a power that does not change. */
static bool start_fit(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact, struct fit *fit)
{
    const struct ifm_readings *r = fact->readings;
    struct ifm_reading *kept = IFM_ARENA_ARRAY(pass->arena, struct ifm_reading, r->n + 1);
    *fit = (struct fit){.believed = {false, kept, 0}};
    for (size_t i = 0; i < r->n; i++)
        if (is_believed(fact, &r->list[i]))
            kept[fit->believed.n++] = r->list[i];
    size_t n = fit->believed.n;
    add_stretches(pass, fit);
    if (n < 2 * FEWEST || fit->n_stretches < 2)
        return false;
    fit->sums = IFM_ARENA_ARRAY(pass->arena, double, n + 1);
    fit->squares = IFM_ARENA_ARRAY(pass->arena, double, n + 1);
    add_up(fit);
    double spaced_s = 1e-9 * (double)(kept[n - 1].t_ns - kept[0].t_ns) / (double)(n - 1);
    fit->period_s = fact->period_s > 0 ? fact->period_s : spaced_s;
    return fit->period_s > 0 && fit->squares[n] / (double)n > STEADY * STEADY * fit->mean * fit->mean;
}

/* Share of the variance that is left when every level has one power and readings are `lag_ns` late; 1 where too few
 * readings lie in stretches. */
static double unexplained(const struct fit *fit, int64_t lag_ns)
{
    double n = 0.0, sum = 0.0, squares = 0.0, explained = 0.0;
    for (size_t k = 0; k < fit->n_levels; k++)
        fit->level_sums[k] = fit->level_n[k] = 0.0;
    for (size_t i = 0; i < fit->n_stretches; i++) {
        const struct level_span *s = &fit->stretches[i];
        size_t from = ifm_joules_first(&fit->believed, s->start_ns + lag_ns);
        size_t to = ifm_joules_first(&fit->believed, s->end_ns + lag_ns);
        if (to <= from)
            continue;
        fit->level_n[s->level] += (double)(to - from);
        fit->level_sums[s->level] += fit->sums[to] - fit->sums[from];
        squares += fit->squares[to] - fit->squares[from];
    }
    for (size_t k = 0; k < fit->n_levels; k++) {
        n += fit->level_n[k];
        sum += fit->level_sums[k];
        explained += fit->level_n[k] > 0 ? fit->level_sums[k] * fit->level_sums[k] / fit->level_n[k] : 0.0;
    }
    if (n < 0.5 * (double)fit->believed.n)
        return 1.0;
    double whole = squares - sum * sum / n;
    return whole > 0 ? fmax(0.0, (squares - explained) / whole) : 1.0;
}

static double longest_lag_s(const struct ifm_power_cell *cell)
{
    double pass_s = 1e-9 * (double)(cell->phases[cell->n_phases - 1].end_ns - cell->phases[0].start_ns);
    return fmin(LONGEST_LAG_S, LONGEST_SHARE * pass_s);
}

/* The lags that the readings allow, and the best one: the middle of those that are equally good. False where the load's
 * steps do not show. */
static bool find_lag(const struct ifm_power_pass *pass, const struct fit *fit, struct ifm_power_fact *fact)
{
    double most_s = longest_lag_s(pass->out), step_s = fmax(fit->period_s / LAGS_A_PERIOD, 2 * most_s / MOST_LAGS);
    size_t half = (size_t)(most_s / step_s), n = 2 * half + 1, best = half, end;
    double *left = IFM_ARENA_ARRAY(pass->arena, double, n);
    for (size_t i = 0; i < n; i++)
        left[i] = unexplained(fit, llround(1e9 * step_s * ((double)i - (double)half)));
    for (size_t i = 0; i < n; i++)
        best = left[i] < left[best] ? i : best;
    if (left[best] > UNEXPLAINED || best == 0 || best == n - 1)
        return false;
    double worst = left[best] + WORSE / (double)pass->out->n_phases * fmax(left[best], EXACT);
    size_t low = best, high = best;
    for (size_t i = 0; i < n; i++) {
        low = left[i] <= worst && i < low ? i : low;
        high = left[i] <= worst && i > high ? i : high;
    }
    for (end = best; end + 1 < n && left[end + 1] <= left[best]; end++)
        ;
    fact->late_low_s = step_s * ((double)low - (double)half - 1.0);
    fact->late_high_s = step_s * ((double)high - (double)half + 1.0);
    fact->lag_told = true;
    /* A lag that may be none is none. */
    if (fact->late_low_s > 0.0 || fact->late_high_s < 0.0)
        fact->late_s = step_s * (0.5 * (double)(best + end) - (double)half);
    return true;
}

void ifm_power_know_meters(struct ifm_power_pass *pass)
{
    struct ifm_power_cell *cell = pass->out;
    for (size_t f = 0; f < cell->n_facts; f++) {
        struct ifm_power_fact *fact = &cell->facts[f];
        struct fit fit;
        fact->is_meter = fact->kind == IFM_POWER_METER && fact->readings != NULL && fact->readings->n > 0;
        if (!fact->is_meter || cell->n_phases == 0)
            continue;
        find_range(pass, fact);
        fact->late_high_s = longest_lag_s(cell); /* until the steps of load say more */
        fact->late_low_s = -fact->late_high_s;
        if (!start_fit(pass, fact, &fit) || find_lag(pass, &fit, fact))
            continue;
        smooth(pass, &fit);
        (void)find_lag(pass, &fit, fact);
    }
}

/* ---- joules by that lag ---- */

static struct ifm_joules by_lag(const struct ifm_power_fact *fact, const struct ifm_joules_sensor *sensor,
                                int64_t from_ns, int64_t to_ns, double late_s)
{
    struct ifm_joules out;
    int64_t late_ns = llround(1e9 * late_s);
    ifm_joules_integral(fact->readings, sensor, from_ns + late_ns, to_ns + late_ns, &out);
    out.start_ns = from_ns;
    out.end_ns = to_ns;
    return out;
}

struct ifm_joules ifm_power_meter_joules(const struct ifm_power_pass *pass, const struct ifm_power_fact *fact,
                                         const struct ifm_joules_sensor *sensor, int64_t from_ns, int64_t to_ns)
{
    int64_t late_ns = llround(1e9 * fact->late_s);
    struct ifm_joules out = {.why = ifm_power_disbelieved(pass, fact, from_ns + late_ns, to_ns + late_ns)};
    if (out.why != NULL)
        return out;
    out = by_lag(fact, sensor, from_ns, to_ns, fact->late_s);
    for (int i = 0; out.why == NULL && i < SHIFTS; i++) {
        double late_s = fact->late_low_s + (fact->late_high_s - fact->late_low_s) * i / (SHIFTS - 1);
        struct ifm_joules other = by_lag(fact, sensor, from_ns, to_ns, late_s);
        if (other.why == NULL)
            out.lag_j = fmax(out.lag_j, fabs(other.joules - out.joules));
    }
    if (out.why == NULL && out.lag_j > MOVES * out.joules)
        out.why = ifm_arena_printf(
            pass->arena,
            "%s its time stamps may be %.2g s early to %.2g s late, and its joules differ by %.2g %% over that; set "
            "its clock by NTP, or measure longer windows and idle phases",
            fact->lag_told ? "by the load's steps" : "the load's steps do not show in its readings:", -fact->late_low_s,
            fact->late_high_s, 100.0 * out.lag_j / out.joules);
    return out;
}

/* ---- a board and the devices within it ---- */

static double devices_w(const struct ifm_power_cell *cell, size_t window)
{
    double watts = 0.0;
    for (size_t i = 0; i < cell->n_devices; i++) {
        const struct ifm_joules *own = &cell->devices[i].windows[window].by_primary;
        watts += cell->devices[i].primary != NULL && own->why == NULL ? own->watts : 0.0;
    }
    return watts;
}

void ifm_power_compare_boards(struct ifm_power_pass *pass)
{
    struct ifm_power_cell *cell = pass->out;
    for (size_t f = 0; f < cell->n_facts; f++) {
        struct ifm_power_fact *fact = &cell->facts[f];
        if (!fact->is_meter || fact->role == IFM_POWER_PRIMARY || fact->by_window == NULL)
            continue;
        struct ifm_joules *windows = IFM_ARENA_ARRAY(pass->arena, struct ifm_joules, cell->n_windows + 1);
        for (size_t at = 0; at < cell->n_windows; at++) {
            double within = devices_w(cell, at);
            windows[at] = fact->by_window[at];
            if (windows[at].why == NULL && windows[at].watts < HOLDS * within)
                windows[at].why =
                    ifm_arena_printf(pass->arena,
                                     "it shows %.4g W, and the devices that it includes took %.4g W by their own "
                                     "sensors",
                                     windows[at].watts, within);
        }
        fact->by_window = windows;
    }
}
