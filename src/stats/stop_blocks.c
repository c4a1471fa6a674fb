/* The arithmetic of the stop rule. */
#include "stats/stop_blocks.h"

#include "stats/questions.h"
#include "stats/sequential.h"
#include "stats/tail.h"
#include <math.h>
#include <string.h>

/* A speed-up is an answer when it is known to a tenth of itself: 1.48x [1.42, 1.54]. */
static const double PRECISE = 0.1;
/* Two rounds of all probes take some 0.2 s (run/cell/calibrate.c). */
static const double BESIDE_ROUNDS_NS = 1.8e9, CAP_SHARE = 0.8;

struct ifm_stop_blocks ifm_stop_blocks_of(const struct ifm_cell *cell, const struct ifm_plan *plan)
{
    struct ifm_stop_blocks blocks = {.cell = cell, .plan = plan, .rule = (enum ifm_stop_rule)cell->measure.stop};
    for (size_t a = 0; a < cell->n_arms; a++) {
        blocks.variants += cell->arms[a].role == IFM_ROLE_VARIANT;
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            blocks.baseline = a;
    }
    blocks.level = 1 - 0.05 / (blocks.variants > 1 ? (double)blocks.variants : 1);
    if (blocks.rule == IFM_STOP_DECIDED && blocks.variants == 0)
        blocks.rule = IFM_STOP_MDE;
    if (blocks.rule == IFM_STOP_MDE)
        blocks.level = ifm_stats_fixed_width_level(blocks.level);
    return blocks;
}

size_t ifm_stop_blocks_first_look(const struct ifm_cell *cell)
{
    uint64_t least = cell->measure.blocks_min;
    return least > IFM_BLOCKS_NEEDED ? (size_t)least : IFM_BLOCKS_NEEDED;
}

size_t ifm_stop_blocks_room(const struct ifm_stop_blocks *blocks)
{
    size_t last = ifm_stats_look(ifm_stop_blocks_first_look(blocks->cell), IFM_LOOKS_MOST);
    uint64_t most = blocks->cell->measure.blocks_max;
    return blocks->rule != IFM_STOP_DECIDED ? 0 : most < last ? (size_t)most : last;
}

double ifm_stop_blocks_margin(const struct ifm_stop_blocks *blocks)
{
    return blocks->variants > 0 ? log1p(blocks->cell->measure.margin) : 0;
}

void ifm_stop_blocks_begin(struct ifm_stop_blocks *blocks)
{
    for (size_t i = 0; i < blocks->cell->n_arms; i++)
        blocks->block[i] = blocks->done[i] = 0;
}

/* The fewest steps of the open block that an arm did which is compared. */
static double fewest_steps(const struct ifm_stop_blocks *blocks)
{
    double fewest = INFINITY;
    for (size_t i = 0; i < blocks->cell->n_arms; i++)
        if (blocks->cell->arms[i].role != IFM_ROLE_CEILING)
            fewest = fmin(fewest, blocks->done[i]);
    return isinf(fewest) ? 0 : fewest;
}

double ifm_stop_blocks_least_ns(const struct ifm_stop_blocks *blocks)
{
    const struct ifm_cell *cell = blocks->cell;
    bool rounds = false;
    for (size_t i = 0; i < cell->n_arms && cell->ceilings_apart; i++)
        rounds |= cell->arms[i].role == IFM_ROLE_CEILING;
    if (!rounds || (blocks->plan != NULL && blocks->plan->rules < IFM_PLAN_RULES_LEAST))
        return 0;
    return fmin(BESIDE_ROUNDS_NS, CAP_SHARE * 1e9 * cell->measure.cap_s);
}

static bool has_least(const struct ifm_stop_blocks *blocks)
{
    return blocks->spent_ns >= ifm_stop_blocks_least_ns(blocks);
}

bool ifm_stop_blocks_may_end(const struct ifm_stop_blocks *blocks)
{
    return has_least(blocks) && (blocks->variants == 0 || blocks->steps >= IFM_TAIL_RUNS);
}

void ifm_stop_blocks_add(struct ifm_stop_blocks *blocks)
{
    blocks->open = false;
    blocks->steps += fewest_steps(blocks);
    double base = blocks->block[blocks->baseline] - blocks->mean[blocks->baseline]; /* before its mean moves */
    size_t before = (size_t)blocks->n, arms = blocks->cell->n_arms;
    if (before < blocks->room)
        memcpy(blocks->past + before * arms, blocks->block, arms * sizeof *blocks->past);
    blocks->n++;
    for (size_t a = 0; a < blocks->cell->n_arms; a++) {
        double delta = blocks->block[a] - blocks->mean[a];
        blocks->spent_ns += blocks->block[a] * blocks->done[a];
        blocks->mean[a] += delta / blocks->n;
        blocks->m2[a] += delta * (blocks->block[a] - blocks->mean[a]);
        blocks->cross[a] += base * (blocks->block[a] - blocks->mean[a]);
    }
}

bool ifm_stop_blocks_decides(const struct ifm_stop_blocks *blocks, size_t arm)
{
    const struct ifm_cell *cell = blocks->cell;
    if (blocks->variants > 0)
        return cell->arms[arm].role == IFM_ROLE_VARIANT;
    return cell->arms[blocks->baseline].role != IFM_ROLE_BASELINE || arm == blocks->baseline;
}

double ifm_stop_blocks_sd(const struct ifm_stop_blocks *blocks, size_t arm)
{
    double own = blocks->logarithms ? 1 : blocks->mean[arm];
    double base = blocks->logarithms ? 1 : blocks->mean[blocks->baseline];
    double squares = blocks->m2[arm] / (own * own);
    if (blocks->variants > 0)
        squares += blocks->m2[blocks->baseline] / (base * base) - 2 * blocks->cross[arm] / (own * base);
    return sqrt(fmax(squares, 0) / (blocks->n - 1));
}

double ifm_stop_blocks_worst_sd(const struct ifm_stop_blocks *blocks)
{
    double worst = 0;
    for (size_t a = 0; a < blocks->cell->n_arms; a++)
        if (ifm_stop_blocks_decides(blocks, a))
            worst = fmax(worst, ifm_stop_blocks_sd(blocks, a));
    return worst;
}

/* What the blocks say of ln(time of the arm / time of the baseline): their influences on it (derive/estimate.c). */
static bool compare(const struct ifm_stop_blocks *blocks, size_t arm, struct ifm_log_mean *out)
{
    size_t n = (size_t)blocks->n, arms = blocks->cell->n_arms, base = blocks->baseline;
    double own = blocks->mean[arm], other = blocks->mean[base];
    for (size_t k = 0; k < n; k++)
        blocks->scratch[k] =
            log(own / other) + blocks->past[k * arms + arm] / own - blocks->past[k * arms + base] / other;
    return ifm_stats_log_mean(blocks->scratch, n, hypot(blocks->tick[arm], blocks->tick[base]), blocks->scratch + n,
                              out);
}

double ifm_stop_blocks_unseen(const struct ifm_stop_blocks *blocks)
{
    return blocks->steps >= IFM_TAIL_RUNS ? 0 : ifm_stats_tail_unseen(blocks->steps);
}

static bool is_answered(const struct ifm_stop_blocks *blocks, size_t arm)
{
    const struct ifm_cell *cell = blocks->cell;
    struct ifm_log_mean mean;
    struct ifm_interval change, equal;
    double edge = ifm_stop_blocks_margin(blocks), error = 1 - blocks->level;
    if (!compare(blocks, arm, &mean) || !ifm_log_mean_interval(&mean, ifm_stats_look_level(blocks->level), &change) ||
        !ifm_log_mean_interval(&mean, ifm_stats_look_level(1 - 2 * error), &equal))
        return false;
    const double hidden = ifm_stop_blocks_unseen(blocks);
    const struct ifm_interval wide = {change.low - hidden, change.high + hidden};
    struct ifm_questions asked = ifm_questions_of(blocks->plan, cell, &cell->arms[arm], &wide);
    if (asked.blocks > (uint64_t)blocks->n ||
        (asked.wants_width && ifm_stop_blocks_mde(blocks) > ifm_stop_blocks_wanted(blocks)))
        return false;
    if (asked.any || hidden > 0)
        return asked.any && !asked.open;
    bool outside = change.low > edge || change.high<-edge, inside = equal.low> - edge && equal.high < edge;
    return inside || (outside && mean.mean - change.low <= fmax(log1p(cell->measure.mde), PRECISE * fabs(mean.mean)));
}

bool ifm_stop_blocks_decided(const struct ifm_stop_blocks *blocks)
{
    size_t n = (size_t)blocks->n;
    const bool early = blocks->plan != NULL && blocks->plan->rules >= IFM_PLAN_RULES_EARLY;
    if (blocks->rule != IFM_STOP_DECIDED || blocks->open || n > blocks->room ||
        !(early ? has_least(blocks) : ifm_stop_blocks_may_end(blocks)) ||
        ifm_stats_look_of(ifm_stop_blocks_first_look(blocks->cell), n) == 0)
        return false;
    for (size_t a = 0; a < blocks->cell->n_arms; a++)
        if (ifm_stop_blocks_decides(blocks, a) && !is_answered(blocks, a))
            return false;
    return true;
}

bool ifm_stop_blocks_asks(const struct ifm_stop_blocks *blocks)
{
    return blocks->plan != NULL && blocks->plan->rules >= IFM_PLAN_RULES_SETTLED && ifm_stop_blocks_decided(blocks);
}

double ifm_stop_blocks_level(const struct ifm_cell *cell, double level, size_t n, bool decided)
{
    double end;
    if (decided || ifm_stats_end_level(level, ifm_stop_blocks_first_look(cell), n, &end) != IFM_STAT_OK)
        return ifm_stats_look_level(level);
    return end;
}

double ifm_stop_blocks_foretold(const struct ifm_stop_blocks *blocks)
{
    const struct ifm_cell *cell = blocks->cell;
    double edge = ifm_stop_blocks_margin(blocks), t, most = 0;
    size_t first = ifm_stop_blocks_first_look(cell);
    if (blocks->n < 2 || ifm_stats_t_quantile(0.5 + 0.5 * ifm_stats_look_level(blocks->level), 30, &t) != IFM_STAT_OK)
        return (double)first;
    for (size_t a = 0; a < cell->n_arms; a++) {
        if (!ifm_stop_blocks_decides(blocks, a))
            continue;
        double change = fabs(log(blocks->mean[a] / blocks->mean[blocks->baseline])), half = fabs(change - edge);
        if (change > edge)
            half = fmin(half, fmax(log1p(cell->measure.mde), PRECISE * change));
        most = fmax(most, half > 0 ? pow(t * ifm_stop_blocks_sd(blocks, a) / half, 2) : INFINITY);
    }
    if (blocks->open)
        most = fmax(most, blocks->n + 1);
    for (unsigned k = 1; k <= IFM_LOOKS_MOST; k++)
        if ((double)ifm_stats_look(first, k) >= most)
            return (double)ifm_stats_look(first, k);
    return INFINITY;
}

double ifm_stop_blocks_factor(const struct ifm_stop_blocks *blocks, double n)
{
    double level, power;
    if (ifm_stats_t_quantile(0.5 + blocks->level / 2, n - 1, &level) != IFM_STAT_OK ||
        ifm_stats_t_quantile(0.8, n - 1, &power) != IFM_STAT_OK)
        return INFINITY;
    return level + power;
}

double ifm_stop_blocks_mde(const struct ifm_stop_blocks *blocks)
{
    if (blocks->n < 2)
        return INFINITY;
    return expm1(ifm_stop_blocks_margin(blocks) +
                 ifm_stop_blocks_factor(blocks, blocks->n) * ifm_stop_blocks_worst_sd(blocks) / sqrt(blocks->n));
}

double ifm_stop_blocks_wanted(const struct ifm_stop_blocks *blocks)
{
    double wanted = blocks->cell->measure.mde;
    for (size_t a = 0; a < blocks->cell->n_arms; a++)
        if (ifm_stop_blocks_decides(blocks, a))
            wanted = fmax(wanted, expm1(ifm_stop_blocks_margin(blocks) + log1p(blocks->tick[a])));
    return wanted;
}
