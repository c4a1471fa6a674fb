/* The gate of power and temperature, and pre-rolls. */
#include "run/pass/converge.h"

#include "device/fake.h"
#include "run/cell/arm.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_POINTS = 4096, MOST_TEMPERATURES = 512, FEWEST_POINTS = 5 };
static const double CHUNK_S = 0.05;     /* between readings: 20 a second at most */
static const double BATCH_S = 0.01;     /* of steps that are put on a device without waiting */
static const double TURN_S = 1;         /* of an arm, where there is no pre-roll */
static const double LEAST_TURN_S = 0.3; /* below it no level can be told */
static const double LEAST_ROLL_S = 0.3; /* a clock settles in 0.2 to 0.5 s (docs/maintain/energy.md) */
static const double TEMPERATURES_S = 5; /* that the slope is of */
static const double SENSOR_STEP_K = 1;

struct temperature {
    double at_s, celsius;
};

struct gate {
    struct ifm_cell_run *cell;
    const struct ifm_gauge *gauge;
    struct ifm_instant start;
    double budget_s, turn_s;
    /* of one turn */
    struct ifm_power_point points[MOST_POINTS];
    size_t n_points;
    struct temperature temperatures[MOST_TEMPERATURES]; /* of the whole gate, the last ones */
    size_t n_temperatures;
};

struct level {
    double watts, sd_w, celsius, slope, seconds, mhz;
    size_t readings;
    bool steady;
};

static double seconds_since(const struct ifm_cell_run *cell, struct ifm_instant start)
{
    return (double)(cell->device->ops->mark(cell->device).ns - start.ns) * 1e-9;
}

/* The steps of a slot, for `seconds`, which nothing records. */
static enum ifm_status run_unrecorded(struct ifm_cell_run *cell, size_t index, double seconds, struct ifm_error *error)
{
    const struct ifm_arm_run *arm = &cell->arms[index];
    double samples = ceil(BATCH_S / fmax(arm->step_ns * arm->inner * 1e-9, 1e-9));
    const struct ifm_roll roll = {.steps = arm->inner, .times = (uint64_t)samples, .seconds = seconds, .cold = true};
    return ifm_arm_roll(cell, index, &roll, NULL, error);
}

/* ---- readings ---- */

static void read_all(struct gate *gate)
{
    if (gate->n_points > MOST_POINTS / 2) { /* the older half is behind every window */
        gate->n_points -= MOST_POINTS / 4;
        memmove(gate->points, gate->points + MOST_POINTS / 4, gate->n_points * sizeof *gate->points);
    }
    gate->n_points +=
        gate->gauge->watts(gate->gauge->context, gate->points + gate->n_points, MOST_POINTS - gate->n_points);
    int64_t mc = gate->gauge->temperature_mc(gate->gauge->context);
    if (mc == IFM_ABSENT)
        return;
    if (gate->n_temperatures == MOST_TEMPERATURES)
        memmove(gate->temperatures, gate->temperatures + 1, --gate->n_temperatures * sizeof *gate->temperatures);
    gate->temperatures[gate->n_temperatures++] =
        (struct temperature){seconds_since(gate->cell, gate->start), (double)mc * 1e-3};
}

/* Mean and standard deviation of the readings since `from_ns`. */
static void judge_power(const struct gate *gate, int64_t from_ns, struct level *level)
{
    double mean = 0, m2 = 0;
    size_t n = 0;
    for (size_t i = 0; i < gate->n_points; i++) {
        if (gate->points[i].t_ns < from_ns)
            continue;
        double delta = gate->points[i].value - mean;
        mean += delta / (double)++n;
        m2 += delta * (gate->points[i].value - mean);
    }
    level->readings = n;
    level->watts = n > 0 ? mean : NAN;
    level->sd_w = n > 1 ? sqrt(m2 / (double)(n - 1)) : NAN;
}

/* Slope of the last seconds of the gate by least squares; true when it is small, or nothing can be read. */
static bool judge_temperature(const struct gate *gate, struct level *level)
{
    double n = 0, t = 0, c = 0, tt = 0, tc = 0, low = INFINITY, high = -INFINITY;
    level->celsius = level->slope = NAN;
    if (gate->n_temperatures == 0)
        return true;
    double last = gate->temperatures[gate->n_temperatures - 1].at_s;
    for (size_t i = 0; i < gate->n_temperatures; i++) {
        const struct temperature *at = &gate->temperatures[i];
        if (at->at_s < last - TEMPERATURES_S)
            continue;
        double x = at->at_s - last;
        n += 1;
        t += x;
        c += at->celsius;
        tt += x * x;
        tc += x * at->celsius;
        low = fmin(low, at->celsius);
        high = fmax(high, at->celsius);
    }
    double spread = n * tt - t * t;
    level->celsius = gate->temperatures[gate->n_temperatures - 1].celsius;
    level->slope = spread > 0 ? (n * tc - t * c) / spread : 0;
    return high - low <= SENSOR_STEP_K || fabs(level->slope) <= IFM_CONVERGE_K_PER_S;
}

/* Of an arm at its level: by a slot of its own, which nothing records. Not of one in another process, whose device is
 * there. */
static enum ifm_status read_clock(const struct gate *gate, size_t index, double *mhz, struct ifm_error *error)
{
    struct ifm_cell_run *cell = gate->cell;
    *mhz = NAN;
    if (gate->gauge->mhz == NULL || cell->arms[index].remote != NULL)
        return IFM_OK;
    const size_t slots = cell->clock_slots, read = cell->clock_read;
    IFM_TRY(ifm_arm_slot(cell, (unsigned)index, cell->slots, cell->samples, cell->columns, error));
    cell->clock_slots = slots; /* the fact clock_unread is of recorded ones */
    cell->clock_read = read;
    *mhz = gate->gauge->mhz(gate->gauge->context);
    return IFM_OK;
}

/* ---- one arm's turn ---- */

static enum ifm_status take_turn(struct gate *gate, size_t index, double most_s, struct level *level,
                                 struct ifm_error *error)
{
    struct ifm_cell_run *cell = gate->cell;
    double least_s = fmin(gate->turn_s + gate->gauge->lag_s, most_s);
    *level = (struct level){.watts = NAN, .sd_w = NAN, .celsius = NAN, .slope = NAN, .mhz = NAN};
    read_all(gate); /* what came before is another arm's */
    gate->n_points = 0;
    struct ifm_instant start = cell->device->ops->mark(cell->device);
    do {
        IFM_TRY(run_unrecorded(cell, index, CHUNK_S, error));
        read_all(gate);
        level->seconds = seconds_since(cell, start);
        if (level->seconds < least_s)
            continue;
        double window_s = fmax(0.5 * gate->turn_s, 0.5 * (level->seconds - gate->gauge->lag_s));
        window_s = fmin(window_s, gate->turn_s);
        int64_t now_ns = start.ns + (int64_t)(level->seconds * 1e9);
        judge_power(gate, now_ns - (int64_t)(window_s * 1e9), level);
        bool cool = judge_temperature(gate, level);
        level->steady =
            cool && level->readings >= FEWEST_POINTS && level->sd_w <= IFM_CONVERGE_SPREAD * fabs(level->watts);
    } while (level->seconds < least_s || (!level->steady && level->seconds < most_s));
    return read_clock(gate, index, &level->mhz, error);
}

static enum ifm_status log_level(const struct gate *gate, size_t index, const struct level *level,
                                 struct ifm_error *error)
{
    const struct ifm_cell_run *cell = gate->cell;
    return IFM_FACT(cell->session, error, converge, level->steady, .cell = cell->plan->name,
                    .arm = cell->arms[index].plan->name, .device = gate->gauge->device, .source = gate->gauge->source,
                    .seconds = level->seconds, .readings = (int64_t)level->readings, .steady = level->steady,
                    .watts = level->watts, .sd_w = level->sd_w, .temperature_c = level->celsius,
                    .slope_k_per_s = level->slope, .limit_w = gate->gauge->limit_w > 0 ? gate->gauge->limit_w : NAN,
                    .clock_mhz = level->mhz);
}

static enum ifm_status log_none(const struct ifm_cell_run *cell, const char *reason, const char *remedy,
                                struct ifm_error *error)
{
    struct ifm_event_converge facts = IFM_BLANK(converge);
    facts.cell = cell->plan->name;
    facts.reason = reason;
    facts.remedy = remedy == NULL ? "" : remedy;
    return ifm_fact_add(cell->session, IFM_EVENT_OF(converge, true, &facts), error);
}

/* ---- pre-rolls ---- */

/* Share of the higher one; 0 where one is not known. */
static double apart(double a, double b)
{
    return isfinite(a) && isfinite(b) && (a != 0 || b != 0) ? fabs(a - b) / fmax(fabs(a), fabs(b)) : 0;
}

static bool differ(const struct ifm_converge *converge, size_t a, size_t b)
{
    return fmax(apart(converge->watts[a], converge->watts[b]), apart(converge->mhz[a], converge->mhz[b])) >
           IFM_CONVERGE_LEVELS;
}

/* Arms whose level is another than some other arm's; the most that two differ by, in power and in the clock. */
static json_t *list_apart(const struct ifm_converge *converge, double *watts, double *mhz)
{
    size_t n = converge->cell->plan->n_arms;
    json_t *arms = json_array();
    *watts = *mhz = 0;
    for (size_t i = 0; i < n; i++) {
        bool any = false;
        for (size_t k = 0; k < n; k++) {
            any |= differ(converge, i, k);
            *watts = fmax(*watts, apart(converge->watts[i], converge->watts[k]));
            *mhz = fmax(*mhz, apart(converge->mhz[i], converge->mhz[k]));
        }
        if (any)
            json_array_append_new(arms, json_string(converge->cell->arms[i].plan->name));
    }
    return arms;
}

static bool is_near_limit(const struct ifm_converge *converge)
{
    bool near = converge->limit_w <= 0;
    for (size_t i = 0; i < converge->cell->plan->n_arms; i++)
        near |= converge->watts[i] > IFM_CONVERGE_NEAR_LIMIT * converge->limit_w;
    return near;
}

/* Note that the arm is next; does it follow one of another level? */
static bool follows_another(struct ifm_converge *converge, unsigned arm)
{
    int last = converge->last;
    converge->last = (int)arm;
    return converge->pre_roll_s > 0 && last >= 0 && differ(converge, (size_t)last, arm);
}

/* Pre-rolls of an average block, by the orders of the first ones. */
static double rolls_of_block(struct ifm_converge *converge)
{
    enum { BLOCKS = 16 };
    const struct ifm_cell *plan = converge->cell->plan;
    unsigned order[2 * IFM_MOST_ARMS], rolls = 0;
    bool without[IFM_MOST_ARMS];
    for (size_t i = 0; i < plan->n_arms; i++)
        without[i] = !ifm_plan_in_blocks(plan, i);
    for (unsigned block = 0; block < BLOCKS; block++) {
        size_t n = ifm_plan_order_without(plan, without, block, order);
        for (size_t i = 0; i < n; i++)
            rolls += follows_another(converge, order[i]);
    }
    return (double)rolls / BLOCKS;
}

/* All of what was asked for, where there is no cap; else as much as lets the fewest blocks end by it, but no less than
 * a clock needs to settle. */
static double shortened(struct ifm_converge *converge)
{
    const struct ifm_measure *measure = &converge->cell->plan->measure;
    const int last = converge->last;
    const double rolls = (double)measure->blocks_min * rolls_of_block(converge);
    converge->last = last;
    return measure->stop == IFM_STOP_REPEATS || rolls <= 0
               ? converge->pre_roll_s
               : fmin(converge->pre_roll_s, fmax(LEAST_ROLL_S, measure->cap_s / rolls));
}

static enum ifm_status decide(struct ifm_converge *converge, struct ifm_error *error)
{
    const struct ifm_cell_run *cell = converge->cell;
    char reason[200];
    double watts, mhz, wanted_s = cell->plan->measure.pre_roll_s;
    json_t *arms = list_apart(converge, &watts, &mhz);
    const bool other = json_array_size(arms) > 0, capped = is_near_limit(converge), by_clock = mhz > watts;
    const char *what = by_clock ? "clocks" : "levels of power";
    const double most = 100 * (by_clock ? mhz : watts), level = 100 * IFM_CONVERGE_LEVELS;
    if (other && !capped)
        snprintf(reason, sizeof reason, "%s differ by %.1f %%, and all are below %.0f %% of the limit of power", what,
                 most, 100 * IFM_CONVERGE_NEAR_LIMIT);
    else if (!other)
        snprintf(reason, sizeof reason, "the arms' %s are within %.0f %% (%.1f %%)", what, level, most);
    else if (wanted_s <= 0)
        snprintf(reason, sizeof reason, "left out by measure.pre_roll=0, though %s differ by %.1f %%", what, most);
    else
        snprintf(reason, sizeof reason, "%s differ by %.1f %%, more than %.0f %%", what, most, level);
    converge->pre_roll_s = other && capped ? wanted_s : 0;
    converge->pre_roll_s = shortened(converge);
    if (other && capped && converge->pre_roll_s < wanted_s)
        snprintf(reason, sizeof reason, "%s differ by %.1f %%, more than %.0f %%; shortened for measure.cap", what,
                 most, level);
    enum ifm_status status = IFM_FACT(cell->session, error, pre_roll, true, .cell = cell->plan->name, .arms = arms,
                                      .seconds = converge->pre_roll_s, .reason = reason);
    json_decref(arms);
    return status;
}

enum ifm_status ifm_converge_pre_roll(struct ifm_converge *converge, unsigned arm, struct ifm_error *error)
{
    return follows_another(converge, arm) ? run_unrecorded(converge->cell, arm, converge->pre_roll_s, error) : IFM_OK;
}

/* ---- the gate ---- */

static double turn_of(const struct ifm_measure *measure)
{
    return measure->pre_roll_s > 0 ? measure->pre_roll_s : TURN_S;
}

/* Each arm has a turn; time that it does not need is left to the next. */
static enum ifm_status run_gate(struct gate *gate, struct ifm_converge *out, struct ifm_error *error)
{
    size_t n = gate->cell->plan->n_arms;
    gate->turn_s = fmin(gate->turn_s, gate->budget_s / (double)n - gate->gauge->lag_s);
    if (gate->turn_s < LEAST_TURN_S) {
        char reason[200];
        snprintf(reason, sizeof reason, "what is left of measure.warmup_cap, %.2f s, is too short to tell %zu levels",
                 gate->budget_s, n);
        return log_none(gate->cell, reason, "--warmup-cap with a second for each arm", error);
    }
    for (size_t i = 0; i < n; i++) {
        struct level level;
        double others_s = (double)(n - 1 - i) * (gate->turn_s + gate->gauge->lag_s);
        double most_s = gate->budget_s - seconds_since(gate->cell, gate->start) - others_s;
        IFM_TRY(take_turn(gate, i, fmax(most_s, gate->turn_s + gate->gauge->lag_s), &level, error));
        if (level.readings == 0) {
            char reason[200];
            snprintf(reason, sizeof reason, "%s of %s gave no reading in %.1f s", gate->gauge->source,
                     gate->gauge->device, level.seconds);
            return log_none(gate->cell, reason, "look at `inferometer power`", error);
        }
        out->watts[i] = level.watts;
        out->mhz[i] = level.mhz;
        out->last = (int)i;
        IFM_TRY(log_level(gate, i, &level, error));
    }
    return decide(out, error);
}

enum ifm_status ifm_converge(struct ifm_cell_run *cell, const struct ifm_gauge *gauge, const char *reason,
                             const char *remedy, double used_s, struct ifm_converge *out, struct ifm_error *error)
{
    static struct gate gate; /* 100 KB; one cell runs at a time */
    const struct ifm_measure *measure = &cell->plan->measure;
    out->cell = cell;
    out->limit_w = gauge == NULL ? 0 : gauge->limit_w;
    out->pre_roll_s = 0;
    out->last = -1;
    for (size_t i = 0; i < cell->plan->n_arms; i++)
        out->watts[i] = out->mhz[i] = NAN;
    if (gauge == NULL)
        return log_none(cell, reason, remedy, error);
    gate = (struct gate){.cell = cell,
                         .gauge = gauge,
                         .start = cell->device->ops->mark(cell->device),
                         .budget_s = measure->warmup_cap_s - used_s,
                         .turn_s = turn_of(measure)};
    return run_gate(&gate, out, error);
}

enum ifm_status ifm_converge_here(struct ifm_cell_run *cell, double used_s, struct ifm_converge *out,
                                  struct ifm_error *error)
{
    char reason[200], remedy[200];
    if (ifm_device_is_fake(cell->device)) {
        *out = (struct ifm_converge){.cell = cell, .last = -1};
        return IFM_OK;
    }
    const struct ifm_workload *workload = ifm_workload_find(cell->plan->workload);
    if (workload != NULL && workload->no_extra_steps != NULL)
        return ifm_converge(cell, NULL, workload->no_extra_steps, "", used_s, out, error);
    struct ifm_gauge *gauge = ifm_gauge_open(cell->device, &(struct ifm_power_options){.root = ""}, reason, remedy);
    enum ifm_status status = ifm_converge(cell, gauge, reason, remedy, used_s, out, error);
    ifm_gauge_close(gauge);
    return status;
}

enum ifm_status ifm_converge_estimate(struct ifm_cell_run *cell, double used_s, double *gate_s, double *block_s,
                                      struct ifm_error *error)
{
    struct ifm_converge converge;
    struct ifm_instant start = ifm_clock_now();
    *gate_s = *block_s = 0;
    if (ifm_device_is_fake(cell->device))
        return IFM_OK;
    IFM_TRY(ifm_converge_here(cell, used_s, &converge, error));
    *gate_s = (double)ifm_clock_since(start).ns * 1e-9;
    *block_s = rolls_of_block(&converge) * converge.pre_roll_s;
    return IFM_OK;
}
