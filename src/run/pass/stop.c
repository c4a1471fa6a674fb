/* The stop rule. */
#include "run/pass/stop.h"

#include "base/arena.h"
#include "stats/sequential.h"
#include "stats/tail.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_FOR_WIDTH = 10 }; /* a fixed-width rule covers as promised from about ten on (research: .93 to .95) */

void ifm_stop_init(struct ifm_stop *stop, const struct ifm_cell_run *cell)
{
    size_t n = cell->plan->n_arms;
    unsigned variants = 0;
    for (size_t i = 0; i < n; i++)
        variants += cell->plan->arms[i].role == IFM_ROLE_VARIANT;
    *stop = (struct ifm_stop){.cell = cell->plan,
                              .mean = ifm_zeros(n, sizeof(double)),
                              .m2 = ifm_zeros(n, sizeof(double)),
                              .cross = ifm_zeros(n, sizeof(double)),
                              .block = ifm_zeros(n, sizeof(double)),
                              .tick = ifm_zeros(n, sizeof(double)),
                              .samples_per_slot = cell->arms[0].samples,
                              .tick_ns = cell->tick_ns,
                              .level = 1 - 0.05 / (variants > 1 ? variants : 1),
                              .variants = variants};
    if (cell->plan->measure.stop == IFM_STOP_MDE)
        stop->level = ifm_stats_fixed_width_level(stop->level);
    /* Inside the margin is found by two one-sided tests, whose interval may err twice as often. */
    if (cell->plan->measure.stop == IFM_STOP_GROUP &&
        (ifm_stats_sequential_constant(1 - stop->level, IFM_SEQUENTIAL_LOOKS, &stop->outside) != IFM_STAT_OK ||
         ifm_stats_sequential_constant(2 * (1 - stop->level), IFM_SEQUENTIAL_LOOKS, &stop->inside) != IFM_STAT_OK))
        stop->outside = stop->inside = 0;
}

void ifm_stop_free(struct ifm_stop *stop)
{
    free(stop->mean);
    free(stop->m2);
    free(stop->cross);
    free(stop->block);
    free(stop->tick);
    *stop = (struct ifm_stop){0};
}

static double sample_mean_ns(const struct ifm_slot *slot, const struct ifm_sample *samples)
{
    double sum = 0;
    for (uint32_t i = 0; i < slot->samples; i++)
        sum += (double)samples[i].duration_ns;
    /* The clock of a step may read the same twice; a mean below a nanosecond is only ever that. */
    return sum < slot->samples ? 1 : sum / slot->samples;
}

static size_t baseline_of(const struct ifm_cell *cell)
{
    size_t baseline = 0;
    for (size_t i = 0; i < cell->n_arms; i++)
        if (cell->arms[i].role == IFM_ROLE_BASELINE)
            baseline = i;
    return baseline;
}

/* The fewest steps that an arm did which is compared. */
static uint64_t steps_of(const struct ifm_cell *cell, const struct ifm_slot *slots)
{
    uint64_t fewest = UINT64_MAX;
    for (size_t arm = 0; arm < cell->n_arms; arm++) {
        uint64_t steps = 0;
        for (size_t i = 0; i < 2 * cell->n_arms; i++)
            steps += slots[i].arm == arm ? (uint64_t)slots[i].samples * slots[i].inner : 0;
        if (cell->arms[arm].role != IFM_ROLE_CEILING && steps < fewest)
            fewest = steps;
    }
    return fewest == UINT64_MAX ? 0 : fewest;
}

void ifm_stop_add(struct ifm_stop *stop, const struct ifm_slot *slots, const struct ifm_sample *samples)
{
    const struct ifm_cell *cell = stop->cell;
    memset(stop->block, 0, cell->n_arms * sizeof *stop->block);
    for (size_t i = 0; i < 2 * cell->n_arms; i++) {
        double mean = sample_mean_ns(&slots[i], samples);
        stop->block[slots[i].arm] += mean / slots[i].inner / 2;
        stop->tick[slots[i].arm] = fmax(stop->tick[slots[i].arm], stop->tick_ns / mean);
        samples += slots[i].samples;
    }
    size_t baseline = baseline_of(cell);
    double base = stop->block[baseline] - stop->mean[baseline]; /* before its mean moves */
    stop->blocks++;
    stop->steps += steps_of(cell, slots);
    for (size_t i = 0; i < cell->n_arms; i++) {
        double delta = stop->block[i] - stop->mean[i];
        stop->mean[i] += delta / stop->blocks;
        stop->m2[i] += delta * (stop->block[i] - stop->mean[i]);
        stop->cross[i] += base * (stop->block[i] - stop->mean[i]);
    }
}

/* Standard deviation of an arm's decision over blocks: of what each says of ln(its time / the baseline's). */
static double sd_of(const struct ifm_stop *stop, size_t arm)
{
    size_t baseline = baseline_of(stop->cell);
    double own = stop->mean[arm], base = stop->mean[baseline], squares = stop->m2[arm] / (own * own);
    if (stop->variants > 0)
        squares += stop->m2[baseline] / (base * base) - 2 * stop->cross[arm] / (own * base);
    return sqrt(fmax(squares, 0) / (stop->blocks - 1));
}

/* Does the arm decide when to stop? Probes only when there is nothing else. */
static bool decides(const struct ifm_stop *stop, size_t arm)
{
    const struct ifm_cell *cell = stop->cell;
    if (stop->variants > 0)
        return cell->arms[arm].role == IFM_ROLE_VARIANT;
    for (size_t i = 0; i < cell->n_arms; i++)
        if (cell->arms[i].role == IFM_ROLE_BASELINE)
            return arm == i;
    return true;
}

static double worst_sd(const struct ifm_stop *stop)
{
    double worst = 0;
    for (size_t i = 0; i < stop->cell->n_arms; i++) {
        double sd = sd_of(stop, i);
        if (decides(stop, i) && sd > worst)
            worst = sd;
    }
    return worst;
}

/* What a decision must clear before anything counts as changed, as a logarithm; where nothing is compared, nothing. */
static double margin_of(const struct ifm_stop *stop)
{
    return stop->variants > 0 ? log1p(stop->cell->measure.margin) : 0;
}

double ifm_stop_wanted(const struct ifm_stop *stop)
{
    double wanted = stop->cell->measure.mde;
    for (size_t i = 0; i < stop->cell->n_arms; i++)
        if (decides(stop, i))
            wanted = fmax(wanted, expm1(margin_of(stop) + log1p(stop->tick[i])));
    return wanted;
}

/* Called with 80 % power at the level of the decisions: t_level + t_.8. */
static double mde_factor(const struct ifm_stop *stop, uint32_t blocks)
{
    double level, power;
    if (ifm_stats_t_quantile(0.5 + stop->level / 2, blocks - 1, &level) != IFM_STAT_OK ||
        ifm_stats_t_quantile(0.8, blocks - 1, &power) != IFM_STAT_OK)
        return INFINITY;
    return level + power;
}

double ifm_stop_mde(const struct ifm_stop *stop)
{
    if (stop->blocks < 2)
        return INFINITY;
    return expm1(margin_of(stop) + mde_factor(stop, stop->blocks) * worst_sd(stop) / sqrt(stop->blocks));
}

/* The look that the blocks so far make, 1 .. 5; 0 between looks. */
static unsigned look_of(const struct ifm_stop *stop)
{
    for (unsigned k = 1; k <= IFM_SEQUENTIAL_LOOKS; k++)
        if (stop->blocks == ifm_stats_sequential_look(stop->cell->measure.blocks_max, k))
            return k;
    return 0;
}

/* Half the width of an arm's interval at this look; infinite where there is none. Equal blocks are equal only to the
 * clock's tick. */
static double half_width(const struct ifm_stop *stop, size_t arm, double constant)
{
    double widened, t, n = stop->blocks, tick = hypot(stop->tick[arm], stop->tick[baseline_of(stop->cell)]) / sqrt(12);
    if (ifm_stats_sequential_widened(constant, stop->blocks, stop->cell->measure.blocks_max, &widened) != IFM_STAT_OK ||
        ifm_stats_t_quantile(0.5 + widened / 2, n - 1, &t) != IFM_STAT_OK)
        return INFINITY;
    return t * fmax(sd_of(stop, arm), tick) / sqrt(n);
}

/* Is every decision made: outside the margin on either side, or inside it? */
static bool all_decided(const struct ifm_stop *stop)
{
    double edge = margin_of(stop);
    for (size_t i = 0; i < stop->cell->n_arms; i++) {
        if (!decides(stop, i))
            continue;
        double centre = fabs(log(stop->mean[i] / stop->mean[baseline_of(stop->cell)]));
        if (centre - half_width(stop, i, stop->outside) <= edge && centre + half_width(stop, i, stop->inside) >= edge)
            return false;
    }
    return stop->variants > 0 && stop->blocks >= 2;
}

struct ifm_event_stop ifm_stop_facts(const struct ifm_stop *stop)
{
    const struct ifm_measure *measure = &stop->cell->measure;
    struct ifm_event_stop facts = IFM_BLANK(stop);
    double level;
    facts.mde = ifm_stop_mde(stop);
    facts.wanted_mde = ifm_stop_wanted(stop);
    if (measure->stop != IFM_STOP_GROUP ||
        ifm_stats_sequential_widened(stop->outside, stop->blocks, measure->blocks_max, &level) != IFM_STAT_OK)
        return facts;
    facts.look = look_of(stop);
    facts.looks = IFM_SEQUENTIAL_LOOKS;
    facts.blocks_max = (int64_t)measure->blocks_max;
    facts.level = level;
    return facts;
}

/* Each block holds two slots of every arm; calibration made their samples divide the repeats. */
static uint64_t blocks_for_repeats(const struct ifm_stop *stop)
{
    uint64_t per_block = 2 * (uint64_t)stop->samples_per_slot;
    return (stop->cell->measure.repeats + per_block - 1) / per_block;
}

/* A comparison of fewer steps says nothing of slow ones, however narrow its interval. */
static bool has_seen_the_tail(const struct ifm_stop *stop)
{
    return stop->variants == 0 || stop->steps >= IFM_TAIL_RUNS;
}

const char *ifm_stop_reason(const struct ifm_stop *stop, double elapsed_s)
{
    const struct ifm_measure *measure = &stop->cell->measure;
    if (measure->stop == IFM_STOP_REPEATS)
        return stop->blocks >= blocks_for_repeats(stop) ? "repeats" : NULL;
    if (stop->blocks < measure->blocks_min)
        return NULL;
    if (stop->blocks >= measure->blocks_max)
        return "blocks_max";
    if (measure->stop == IFM_STOP_GROUP && look_of(stop) > 0 && has_seen_the_tail(stop) && all_decided(stop))
        return "group";
    if (measure->stop == IFM_STOP_MDE && stop->blocks >= BLOCKS_FOR_WIDTH && has_seen_the_tail(stop) &&
        ifm_stop_mde(stop) <= ifm_stop_wanted(stop))
        return "mde";
    return elapsed_s >= measure->cap_s ? "cap" : NULL;
}

double ifm_stop_expected_blocks(const struct ifm_stop *stop, double block_s)
{
    const struct ifm_measure *measure = &stop->cell->measure;
    if (measure->stop == IFM_STOP_REPEATS)
        return (double)blocks_for_repeats(stop);
    double blocks = measure->stop == IFM_STOP_GROUP ? (double)measure->blocks_max : BLOCKS_FOR_WIDTH;
    if (measure->stop == IFM_STOP_MDE && stop->blocks >= 2) {
        double room = log1p(ifm_stop_wanted(stop)) - margin_of(stop);
        double wanted = mde_factor(stop, 30) * worst_sd(stop) / room;
        blocks = room > 0 ? wanted * wanted : INFINITY;
    }
    double capped = ceil(measure->cap_s / block_s);
    if (blocks < BLOCKS_FOR_WIDTH)
        blocks = BLOCKS_FOR_WIDTH;
    if (stop->variants > 0 && stop->steps > 0)
        blocks = fmax(blocks, ceil((double)IFM_TAIL_RUNS * stop->blocks / (double)stop->steps));
    if (blocks > capped)
        blocks = capped;
    if (blocks < (double)measure->blocks_min)
        blocks = (double)measure->blocks_min;
    return blocks > (double)measure->blocks_max ? (double)measure->blocks_max : blocks;
}
