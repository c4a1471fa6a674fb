/* Energy: the numbers of an arm from its windows of the energy pass. Each window gives one value; a number is their
 * mean, and its interval the wider one of what the windows show (t, n - 1) and what the sensors' own error bars allow,
 * and in squares with it whatever all windows are off by together: that shrinks with no number of windows. */
#include "derive/energy/energy.h"

#include <math.h>
#include <string.h>

struct made {
    const struct ifm_arm_work *arm;
    struct ifm_energy_window *windows; /* the usable ones */
    size_t n, all;
    double *values, *halves; /* room for n; halves of each window alone, 95 % */
    double common;           /* half-width of the error that all values share, 95 % */
    double seconds;          /* of all usable windows */
};

/* ---- means of windows ---- */

double ifm_energy_tokens_of(const struct ifm_arm *arm)
{
    const struct ifm_ledger *ledger = &arm->ledger;
    return ifm_ledger_whole(ledger, ledger->tokens_generated > 0 ? ledger->tokens_generated : ledger->tokens_prompt);
}

/* Half-width of the mean of the made values. */
static double half_of(const struct made *m, double level)
{
    double model = 0.0, common = m->common, t = 0.0, z = 0.0, z95 = 0.0, shown = 0.0;
    struct ifm_moments moments;
    for (size_t i = 0; i < m->n; i++)
        model = hypot(model, m->halves[i]);
    model /= (double)m->n;
    if (ifm_stats_normal_quantile(0.5 + 0.5 * level, &z) == IFM_STAT_OK &&
        ifm_stats_normal_quantile(0.975, &z95) == IFM_STAT_OK) {
        model *= z / z95;
        common *= z / z95;
    }
    if (ifm_stats_moments(m->values, m->n, &moments) == IFM_STAT_OK &&
        ifm_stats_t_quantile(0.5 + 0.5 * level, (double)(m->n - 1), &t) == IFM_STAT_OK)
        shown = t * moments.sd / sqrt((double)m->n);
    return hypot(fmax(model, shown), common);
}

static struct ifm_value bracketed(const struct made *m, double number, double half)
{
    struct ifm_value value = ifm_value_real(number, (int64_t)m->n, "windows");
    ifm_value_bracket(&value, number - half, number + half, IFM_LEVEL);
    return value;
}

static struct ifm_value mean_of(const struct made *m)
{
    double mean;
    if (ifm_stats_mean(m->values, m->n, &mean) != IFM_STAT_OK)
        return ifm_value_absent("no window can be used", "", 0, "windows");
    return bracketed(m, mean, half_of(m, IFM_LEVEL));
}

/* 1 / value, with its interval turned round. */
static struct ifm_value inverse_of(const struct ifm_value *value, double scale)
{
    struct ifm_value out = *value;
    if (value->state != IFM_STATE_OK)
        return out;
    if (!(value->number > 0))
        return ifm_value_absent("the energy that it is the inverse of is not above 0", "", value->n, value->n_of);
    out.number = scale / value->number;
    out.has_interval = false;
    if (value->has_interval && value->low > 0)
        ifm_value_bracket(&out, scale / value->high, scale / value->low, value->level);
    return out;
}

static void emit(const struct made *m, enum ifm_metric_id metric, struct ifm_value value)
{
    ifm_derive_emit(m->arm, metric, value);
}

static bool is_wanted(const struct made *m, enum ifm_metric_id metric)
{
    return ifm_derive_is_wanted(m->arm->work, metric);
}

/* ---- joules and watts ---- */

enum part { PART_ALL, PART_GPU, PART_CPU };

static void fill_watts(struct made *m, enum part part)
{
    m->common = 0.0;
    for (size_t i = 0; i < m->n; i++) {
        const struct ifm_energy_window *w = &m->windows[i];
        m->common = fmax(m->common, w->lag_j / w->seconds);
        double joules = part == PART_ALL ? w->joules : part == PART_GPU ? w->gpu_j : w->cpu_j;
        double half = part == PART_ALL ? w->half_j : part == PART_GPU ? w->gpu_half_j : w->cpu_half_j;
        m->values[i] = joules / w->seconds;
        m->halves[i] = half / w->seconds;
    }
}

/* The sum of the windows' joules, and the watts that it is over their time; the half-width of the watts. */
static double emit_sum(struct made *m, enum part part, enum ifm_metric_id joules, enum ifm_metric_id watts)
{
    double sum = 0.0;
    for (size_t i = 0; i < m->n; i++)
        sum += part == PART_ALL ? m->windows[i].joules : part == PART_GPU ? m->windows[i].gpu_j : m->windows[i].cpu_j;
    fill_watts(m, part);
    double half = m->n > 0 ? half_of(m, IFM_LEVEL) : 0.0;
    emit(m, joules, bracketed(m, sum, half * m->seconds));
    emit(m, watts, bracketed(m, sum / m->seconds, half));
    return half;
}

static bool has_device(const struct ifm_cell_work *work, bool (*is_of)(const char *))
{
    for (size_t i = 0; i < work->power.n_devices; i++)
        if (is_of(work->power.devices[i].device))
            return true;
    return false;
}

/* What the journal says of sources whose names begin so; "" = nothing. */
static const char *said_absent(const struct made *m, const char *const *sources, bool remedy)
{
    const char *out = "";
    IFM_EACH_TOLD(event, m->arm->work, power_absent, NULL) {
        const struct ifm_event_power_absent *absent = IFM_FACTS(event, power_absent);
        const char *text = remedy ? absent->remedy : absent->reason;
        bool hit = false;
        for (size_t k = 0; sources[k] != NULL; k++)
            hit |= strncmp(absent->source, sources[k], strlen(sources[k])) == 0;
        if (hit && text[0] != '\0' && strstr(out, text) == NULL)
            out =
                ifm_arena_printf(m->arm->d->arena, "%s%s%s: %s", out, out[0] == '\0' ? "" : "; ", absent->source, text);
    }
    return out;
}

static void emit_absent_part(const struct made *m, enum part part, enum ifm_metric_id joules, enum ifm_metric_id watts)
{
    static const char *const of_gpu[] = {"nvml", NULL}, *const of_cpu[] = {"rapl", "perf", NULL};
    const char *const *sources = part == PART_GPU ? of_gpu : of_cpu;
    const char *said = said_absent(m, sources, false), *remedy = said_absent(m, sources, true);
    const char *what = part == PART_GPU ? "no energy of a GPU was measured" : "no energy of a processor was measured";
    struct ifm_value absent = ifm_value_absent(
        said[0] == '\0' ? what : ifm_arena_printf(m->arm->d->arena, "%s: %s", what, said), remedy, 0, "windows");
    emit(m, joules, absent);
    emit(m, watts, absent);
}

static void emit_part(struct made *m, enum part part, enum ifm_metric_id joules, enum ifm_metric_id watts)
{
    bool here = has_device(m->arm->work, part == PART_GPU ? ifm_power_is_gpu : ifm_power_is_processor);
    if (here)
        (void)emit_sum(m, part, joules, watts);
    else if (part == PART_CPU || strcmp(m->arm->d->plan->device, "cuda") == 0 || is_wanted(m, joules) ||
             is_wanted(m, watts))
        emit_absent_part(m, part, joules, watts);
}

struct idle {
    double watts, half; /* of all devices; NaN = of one it was not measured */
};

static struct idle idle_of(const struct ifm_cell_work *work)
{
    struct idle out = {0};
    for (size_t i = 0; i < work->power.n_devices; i++) {
        out.watts += work->power.devices[i].idle_w;
        out.half = hypot(out.half, work->power.devices[i].idle_half_w);
    }
    return out;
}

static struct ifm_value no_idle(void)
{
    return ifm_value_absent("the idle power was not measured: the idle phases are too short for the sensor, or its "
                            "readings of them are not whole",
                            "let it idle longer: --energy-idle 10s", 0, "windows");
}

/* Nothing draws less than it idles at: surely below that, the idle power is of another state of the machine, or one of
 * the two is no measurement. */
static struct ifm_value held_against_idle(const struct made *m, struct ifm_value above)
{
    struct idle idle = idle_of(m->arm->work);
    double watts = 0.0;
    if (above.state != IFM_STATE_OK || !above.has_interval ||
        !ifm_energy_is_below_idle(above.number, above.high - above.number))
        return above;
    for (size_t i = 0; i < m->n; i++)
        watts += m->windows[i].joules / m->seconds;
    return ifm_value_refused(m->arm->d->arena, "rule-05",
                             ifm_arena_printf(m->arm->d->arena,
                                              "the arm took %.4g W and the idle device %.4g W: less by more than "
                                              "twice the errors of both. Keep the machine free of other work, and "
                                              "let it idle longer (--energy-idle)",
                                              watts, idle.watts));
}

static void emit_above_idle(struct made *m, struct ifm_value above)
{
    struct ifm_value held = held_against_idle(m, above);
    if (held.state == IFM_STATE_REFUSED)
        ifm_derive_say_arm(m->arm, IFM_SEVERITY_WARNING, "rule-05", "no energy above idle: %s", held.reason);
    emit(m, IFM_M_ENERGY_ABOVE_IDLE_J, held);
}

static void emit_joules(struct made *m)
{
    struct idle idle = idle_of(m->arm->work);
    double half = emit_sum(m, PART_ALL, IFM_M_TOTAL_ENERGY_J, IFM_M_POWER_MEAN_W), sum = 0.0;
    emit(m, IFM_M_DURATION_SEC, ifm_value_real(m->seconds, (int64_t)m->n, "windows"));
    emit_part(m, PART_GPU, IFM_M_GPU_ENERGY_J, IFM_M_GPU_POWER_W);
    emit_part(m, PART_CPU, IFM_M_CPU_ENERGY_J, IFM_M_CPU_POWER_W);
    bool known = !isnan(idle.watts);
    emit(m, IFM_M_IDLE_POWER_W, known ? bracketed(m, idle.watts, idle.half) : no_idle());
    for (size_t i = 0; i < m->n; i++)
        sum += m->windows[i].joules;
    emit_above_idle(m, known ? bracketed(m, sum - idle.watts * m->seconds, hypot(half, idle.half) * m->seconds)
                             : no_idle());
}

/* ---- steps, tokens, operations ---- */

/* The k-th window's value is made of its joules of steps, less `taken_j`, for each `unit`. */
static void set(struct made *m, size_t k, double taken_j, double unit)
{
    const struct ifm_energy_window *w = &m->windows[k];
    m->common = k == 0 ? 0.0 : m->common;
    m->values[k] = (w->step_j - taken_j) / unit;
    m->halves[k] = w->step_random_j / unit;
    m->common = fmax(m->common, w->step_common_j / unit);
}

static struct ifm_value per_step(struct made *m, double parts)
{
    for (size_t i = 0; i < m->n; i++)
        set(m, i, 0.0, m->windows[i].steps * parts);
    return mean_of(m);
}

static struct ifm_value per_token_above_idle(struct made *m, double tokens)
{
    struct idle idle = idle_of(m->arm->work);
    if (isnan(idle.watts))
        return no_idle();
    double most = 0.0;
    for (size_t i = 0; i < m->n; i++) {
        const struct ifm_energy_window *w = &m->windows[i];
        set(m, i, idle.watts * w->busy_s, w->steps * tokens);
        /* One error for all windows: idle power is taken from the pauses and from the steps, all of the time. */
        most = fmax(most, idle.half * w->seconds / (w->steps * tokens));
    }
    m->common = hypot(m->common, most);
    return held_against_idle(m, mean_of(m));
}

/* Watts while steps run, over the tokens a second of the latency pass. */
static struct ifm_value watts_per_rate(struct made *m, double tokens)
{
    struct ifm_value step = ifm_derive_step_value(m->arm, NULL);
    if (step.state != IFM_STATE_OK)
        return step;
    for (size_t i = 0; i < m->n; i++)
        set(m, i, 0.0, m->windows[i].busy_s);
    struct ifm_value value = mean_of(m);
    double scale = 1e-9 * step.number / tokens;
    double own = value.has_interval ? (value.high - value.number) / value.number : 0.0;
    double time = step.has_interval ? 0.5 * (step.high - step.low) / step.number : 0.0;
    bool both = value.has_interval && step.has_interval;
    value.number *= scale;
    value.has_interval = false;
    if (both)
        ifm_value_bracket(&value, value.number * (1.0 - hypot(own, time)), value.number * (1.0 + hypot(own, time)),
                          IFM_LEVEL);
    return value;
}

static void emit_tokens(struct made *m)
{
    const struct ifm_ledger *ledger = &m->arm->arm->ledger;
    double tokens = ifm_ledger_whole(ledger, ledger->tokens_generated);
    double total = tokens + ifm_ledger_whole(ledger, ledger->tokens_prompt);
    struct ifm_value none = ifm_value_absent(
        total > 0 ? "a step of this arm generates no tokens" : "a step of this arm makes no tokens",
        total > 0 ? "energy_per_total_token_j counts those of the prompt" : "energy_per_step_j is of the whole step", 0,
        "windows");
    static const enum ifm_metric_id made[] = {IFM_M_ENERGY_PER_TOKEN_J, IFM_M_ENERGY_PER_TOKEN_ABOVE_IDLE_J,
                                              IFM_M_TOKENS_PER_JOULE, IFM_M_WATTS_PER_TOKEN_RATE};
    struct ifm_value each = tokens > 0 ? per_step(m, tokens) : none;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        if (tokens <= 0 && made[i] != IFM_M_ENERGY_PER_TOKEN_J && !is_wanted(m, made[i]))
            continue;
        emit(m, made[i],
             tokens <= 0                             ? none
             : made[i] == IFM_M_ENERGY_PER_TOKEN_J   ? each
             : made[i] == IFM_M_TOKENS_PER_JOULE     ? inverse_of(&each, 1.0)
             : made[i] == IFM_M_WATTS_PER_TOKEN_RATE ? watts_per_rate(m, tokens)
                                                     : per_token_above_idle(m, tokens));
    }
    if (total > 0 || is_wanted(m, IFM_M_ENERGY_PER_TOTAL_TOKEN_J))
        emit(m, IFM_M_ENERGY_PER_TOTAL_TOKEN_J, total > 0 ? per_step(m, total) : none);
}

static void emit_operations(const struct made *m, const struct ifm_value *step)
{
    double flops = (double)m->arm->arm->ledger.flops;
    if (flops <= 0 && !is_wanted(m, IFM_M_FLOPS_PER_JOULE))
        return;
    emit(m, IFM_M_FLOPS_PER_JOULE,
         flops <= 0 ? ifm_value_absent("a step of this arm has no operations in its ledger", "", 0, "windows")
         : m->arm->arm->integer ? ifm_value_integer_products(m->arm->work, false)
                                : inverse_of(step, flops));
}

/* ---- how good they are ---- */

/* Gains of several sensors are not known to be independent: their shares of the joules add up. */
static struct ifm_value systematic_of(const struct made *m)
{
    double off = 0.0, all = 0.0;
    for (size_t k = 0; k < m->n; k++)
        for (size_t i = 0; i < m->arm->work->power.n_devices; i++) {
            const struct ifm_power_device *device = &m->arm->work->power.devices[i];
            double joules = device->windows[m->windows[k].at].by_primary.watts * m->windows[k].seconds;
            off += device->primary->gain_error * joules;
            all += joules;
        }
    if (isnan(off) || m->n == 0)
        return ifm_value_absent("how far this kind of sensor is off as a whole is not known", "", 0, "windows");
    return ifm_value_real(100.0 * off / all, (int64_t)m->n, "windows");
}

static struct ifm_value difference_of(const struct made *m)
{
    struct ifm_energy_difference off = ifm_energy_difference_of(m->arm->work, m->windows, m->n);
    if (off.windows == 0)
        return ifm_value_absent("no second source of the same joules was read in these windows", "", 0, "windows");
    struct ifm_value value = ifm_value_real(off.percent, (int64_t)off.windows, "windows");
    value.text =
        ifm_arena_printf(m->arm->d->arena, "%s: %s against %s%s", off.device->device, off.device->witness->source,
                         off.device->primary->source, off.periodic ? "; the load swings" : "");
    return value;
}

static void emit_quality(struct made *m)
{
    double cv = 0.0;
    (void)per_step(m, 1.0);
    enum ifm_stat stat = ifm_stats_cv(m->values, m->n, &cv);
    emit(m, IFM_M_ENERGY_SYSTEMATIC_PERCENT, systematic_of(m));
    emit(m, IFM_M_ENERGY_SOURCES_DIFFER_PERCENT, difference_of(m));
    emit(m, IFM_M_ENERGY_WINDOWS, ifm_value_count_of((int64_t)m->n, (int64_t)m->all, "windows"));
    emit(m, IFM_M_ENERGY_PER_STEP_CV_PERCENT, ifm_value_of_stat(stat, 100.0 * cv, (int64_t)m->n, "windows"));
}

static bool start(struct made *m, const struct ifm_arm_work *arm)
{
    struct ifm_energy_window *all;
    *m = (struct made){.arm = arm};
    m->all = ifm_energy_windows_of(arm, arm->d->arena, &all, &m->n);
    m->windows = IFM_ARENA_ARRAY(arm->d->arena, struct ifm_energy_window, m->n + 1);
    m->values = IFM_ARENA_ARRAY(arm->d->arena, double, m->n + 1);
    m->halves = IFM_ARENA_ARRAY(arm->d->arena, double, m->n + 1);
    m->n = 0;
    for (size_t i = 0; i < m->all; i++)
        if (all[i].fault[0] == '\0') {
            m->seconds += all[i].seconds;
            m->windows[m->n++] = all[i];
        }
    return m->all > 0;
}

bool ifm_derive_energy_pass(const struct ifm_arm_work *arm)
{
    struct made m;
    if (!ifm_derive_has_energy_pass(arm->work) || !start(&m, arm))
        return false;
    /* With fewer than three usable windows rule 5 has refused the arm's energy, and withholds what is made here. */
    emit_joules(&m);
    struct ifm_value step = per_step(&m, 1.0);
    emit(&m, IFM_M_ENERGY_PER_STEP_J, step);
    emit_tokens(&m);
    emit_operations(&m, &step);
    emit_quality(&m);
    return true;
}

/* ---- changes ---- */

/* The k-th window of the arm in a block against the k-th of the baseline in it: a gain error of
 * the sensor is in both, and cancels. */
static size_t pair(const struct made *own, const struct made *base, double scale, struct made *out)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < own->n && k < base->n;) {
        const struct ifm_energy_window *a = &own->windows[i], *b = &base->windows[k];
        if (a->block != b->block) {
            i += a->block < b->block;
            k += a->block > b->block;
            continue;
        }
        out->values[n] = log(scale * (a->step_j / a->steps) / (b->step_j / b->steps));
        out->halves[n] = hypot(a->step_random_j / a->step_j, b->step_random_j / b->step_j);
        /* The power in pauses is off the same way in both arms: as if it were not is too wide, and never too narrow. */
        out->common = fmax(out->common, hypot(a->step_common_j / a->step_j, b->step_common_j / b->step_j));
        n++, i++, k++;
    }
    return n;
}

struct ifm_value ifm_derive_energy_pass_change(const struct ifm_arm_work *arm, bool per_step)
{
    struct ifm_cell_work *work = arm->work;
    struct made own, base, pairs = {0};
    bool has_own = start(&own, arm), has_base = start(&base, work->baseline);
    double tokens = ifm_energy_tokens_of(arm->arm), base_tokens = ifm_energy_tokens_of(work->baseline->arm), mean;
    if (!has_own || !has_base)
        return ifm_value_absent("one of the two arms has no window of energy", "", 0, "windows");
    struct ifm_value refused;
    if (ifm_energy_is_refused(arm, &refused))
        return refused;
    if (!per_step && (tokens <= 0 || base_tokens <= 0))
        return ifm_value_absent("a step of one of the two arms makes no tokens",
                                "energy_per_step_change_percent is of whole steps", 0, "windows");
    pairs.values = IFM_ARENA_ARRAY(arm->d->arena, double, own.n + 1);
    pairs.halves = IFM_ARENA_ARRAY(arm->d->arena, double, own.n + 1);
    pairs.n = pair(&own, &base, per_step ? 1.0 : base_tokens / tokens, &pairs);
    if (pairs.n < IFM_POWER_WINDOWS_NEEDED || ifm_stats_mean(pairs.values, pairs.n, &mean) != IFM_STAT_OK)
        return ifm_value_absent(ifm_arena_printf(arm->d->arena, "needs %d pairs of windows in common blocks, has %zu",
                                                 IFM_POWER_WINDOWS_NEEDED, pairs.n),
                                "more windows: --energy-windows", (int64_t)pairs.n, "windows");
    double level = ifm_derive_compare_level(work), half = half_of(&pairs, level);
    return ifm_value_of_change(mean, (struct ifm_interval){mean - half, mean + half}, level, pairs.n, "windows");
}
