/* The stop rule. */
#include "run/pass/stop.h"

#include "base/arena.h"
#include "base/text.h"
#include "stats/sequential.h"
#include "stats/tail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ifm_stop_init(struct ifm_stop *stop, const struct ifm_cell_run *cell)
{
    size_t n = cell->plan->n_arms;
    *stop = (struct ifm_stop){.all = ifm_stop_blocks_of(cell->plan, cell->session == NULL ? NULL : cell->session->plan),
                              .samples_per_slot = cell->arms[0].samples,
                              .rows = cell->rows == 1 ? 1 : 2,
                              .tick_ns = cell->tick_ns};
    double **const arrays[] = {&stop->all.mean,  &stop->all.m2,   &stop->all.cross,
                               &stop->all.block, &stop->all.done, &stop->all.tick};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ifm_zeros(n, sizeof(double));
    stop->all.room = ifm_stop_blocks_room(&stop->all);
    if (stop->all.room > 0) { /* pages that no block is put into are never touched */
        stop->all.past = ifm_zeros(stop->all.room * n, sizeof(double));
        stop->all.scratch = ifm_zeros(3 * stop->all.room, sizeof(double));
    }
    /* Inside the margin is found by two one-sided tests, whose interval may err twice as often. */
    double error = 1 - stop->all.level;
    if (cell->plan->measure.stop == IFM_STOP_GROUP &&
        (ifm_stats_sequential_constant(error, IFM_SEQUENTIAL_LOOKS, &stop->outside) != IFM_STAT_OK ||
         ifm_stats_sequential_constant(2 * error, IFM_SEQUENTIAL_LOOKS, &stop->inside) != IFM_STAT_OK))
        stop->outside = stop->inside = 0;
}

void ifm_stop_free(struct ifm_stop *stop)
{
    free(stop->all.mean);
    free(stop->all.m2);
    free(stop->all.cross);
    free(stop->all.block);
    free(stop->all.done);
    free(stop->all.tick);
    free(stop->all.past);
    free(stop->all.scratch);
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

void ifm_stop_add(struct ifm_stop *stop, const struct ifm_slot *slots, const struct ifm_sample *samples)
{
    struct ifm_stop_blocks *all = &stop->all;
    ifm_stop_blocks_begin(all);
    for (size_t i = 0; i < stop->rows * ifm_plan_count_in_blocks(all->cell); i++) {
        double mean = sample_mean_ns(&slots[i], samples);
        all->block[slots[i].arm] += mean / slots[i].inner / stop->rows;
        all->done[slots[i].arm] += (double)slots[i].samples * slots[i].inner;
        all->tick[slots[i].arm] = fmax(all->tick[slots[i].arm], stop->tick_ns / mean);
        samples += slots[i].samples;
    }
    ifm_stop_blocks_add(all);
    stop->blocks++;
}

void ifm_stop_pass_over(struct ifm_stop *stop)
{
    stop->blocks++;
}

double ifm_stop_wanted(const struct ifm_stop *stop)
{
    return ifm_stop_blocks_wanted(&stop->all);
}

double ifm_stop_mde(const struct ifm_stop *stop)
{
    return ifm_stop_blocks_mde(&stop->all);
}

/* The look that the blocks so far make, 1 .. 5; 0 between looks. */
static unsigned look_of(const struct ifm_stop *stop)
{
    for (unsigned k = 1; k <= IFM_SEQUENTIAL_LOOKS; k++)
        if (stop->blocks == ifm_stats_sequential_look(stop->all.cell->measure.blocks_max, k))
            return k;
    return 0;
}

/* Half the width of an arm's interval at this look; infinite where there is none. Equal blocks are equal only to the
 * clock's tick. */
static double half_width(const struct ifm_stop *stop, size_t arm, double constant)
{
    double widened, t, n = stop->all.n,
                       tick = hypot(stop->all.tick[arm], stop->all.tick[stop->all.baseline]) / sqrt(12);
    if (ifm_stats_sequential_widened(constant, (size_t)n, stop->all.cell->measure.blocks_max, &widened) !=
            IFM_STAT_OK ||
        ifm_stats_t_quantile(0.5 + widened / 2, n - 1, &t) != IFM_STAT_OK)
        return INFINITY;
    return t * fmax(ifm_stop_blocks_sd(&stop->all, arm), tick) / sqrt(n);
}

/* Is every decision made: outside the margin on either side, or inside it? */
static bool all_decided(const struct ifm_stop *stop)
{
    double edge = ifm_stop_blocks_margin(&stop->all);
    for (size_t i = 0; i < stop->all.cell->n_arms; i++) {
        if (!ifm_stop_blocks_decides(&stop->all, i))
            continue;
        double centre = fabs(log(stop->all.mean[i] / stop->all.mean[stop->all.baseline]));
        if (centre - half_width(stop, i, stop->outside) <= edge && centre + half_width(stop, i, stop->inside) >= edge)
            return false;
    }
    return stop->all.variants > 0 && stop->blocks >= 2;
}

struct ifm_event_stop ifm_stop_facts(const struct ifm_stop *stop)
{
    const struct ifm_measure *measure = &stop->all.cell->measure;
    struct ifm_event_stop facts = IFM_BLANK(stop);
    const size_t counted = (size_t)stop->all.n; /* blocks that were passed over widen no interval and make no look */
    double level;
    facts.mde = ifm_stop_mde(stop);
    facts.wanted_mde = ifm_stop_wanted(stop);
    if (stop->all.rule == IFM_STOP_DECIDED) {
        facts.look = ifm_stats_look_of(ifm_stop_blocks_first_look(stop->all.cell), counted);
        facts.looks = IFM_LOOKS_MOST;
        facts.blocks_max = (int64_t)measure->blocks_max;
        facts.level =
            ifm_stop_blocks_level(stop->all.cell, stop->all.level, counted, ifm_stop_blocks_decided(&stop->all));
    }
    if (measure->stop != IFM_STOP_GROUP ||
        ifm_stats_sequential_widened(stop->outside, counted, measure->blocks_max, &level) != IFM_STAT_OK)
        return facts;
    facts.look = look_of(stop); /* planned by all blocks */
    facts.looks = IFM_SEQUENTIAL_LOOKS;
    facts.blocks_max = (int64_t)measure->blocks_max;
    facts.level = level;
    return facts;
}

/* "int4 against f16 1.48x [1.41, 1.55], ..."; without an interval below six blocks that count. */
static void compare_so_far(const struct ifm_stop_blocks *all, struct ifm_text *text)
{
    for (size_t i = 0; i < all->cell->n_arms; i++) {
        double t, ratio = all->mean[all->baseline] / all->mean[i];
        if (!ifm_stop_blocks_decides(all, i))
            continue;
        ifm_text_printf(text, "%s%s against %s %.3gx", text->size > 0 ? ", " : "", all->cell->arms[i].name,
                        all->cell->arms[all->baseline].name, ratio);
        if (all->n < IFM_BLOCKS_NEEDED || ifm_stats_t_quantile(0.5 + all->level / 2, all->n - 1, &t) != IFM_STAT_OK)
            continue;
        double factor = exp(t * ifm_stop_blocks_sd(all, i) / sqrt(all->n));
        ifm_text_printf(text, " [%.3g, %.3g]", ratio / factor, ratio * factor);
    }
}

void ifm_stop_so_far(const struct ifm_stop *stop, struct ifm_so_far *out)
{
    const struct ifm_stop_blocks *all = &stop->all;
    struct ifm_text text = {0};
    *out = (struct ifm_so_far){.blocks = stop->blocks};
    if (all->variants > 0 && all->n > 0)
        compare_so_far(all, &text);
    else if (all->variants > 0 && stop->blocks > 0)
        ifm_text_add(&text, "the machine disturbed all of them");
    snprintf(out->text, sizeof out->text, "%s", text.data == NULL ? "" : text.data);
    ifm_text_free(&text);
}

/* Each block holds two slots of every arm; calibration made their samples divide the repeats. */
static uint64_t blocks_for_repeats(const struct ifm_stop *stop)
{
    uint64_t per_block = 2 * (uint64_t)stop->samples_per_slot;
    return (stop->all.cell->measure.repeats + per_block - 1) / per_block;
}

const char *ifm_stop_reason(const struct ifm_stop *stop, double elapsed_s)
{
    const struct ifm_measure *measure = &stop->all.cell->measure;
    if (measure->stop == IFM_STOP_REPEATS)
        return stop->blocks >= blocks_for_repeats(stop) ? "repeats" : NULL;
    if (stop->blocks < measure->blocks_min)
        return NULL;
    if (stop->blocks >= measure->blocks_max)
        return "blocks_max";
    bool may_end = ifm_stop_blocks_may_end(&stop->all);
    if (measure->stop == IFM_STOP_GROUP && look_of(stop) > 0 && may_end && all_decided(stop))
        return "group";
    if (ifm_stop_blocks_decided(&stop->all))
        return "decided";
    if (stop->all.rule == IFM_STOP_MDE && stop->all.n >= fmax(IFM_BLOCKS_FOR_WIDTH, (double)measure->blocks_min) &&
        may_end && ifm_stop_mde(stop) <= ifm_stop_wanted(stop))
        return "mde";
    return elapsed_s >= measure->cap_s ? "cap" : NULL;
}

double ifm_stop_expected_blocks(const struct ifm_stop *stop, double block_s)
{
    const struct ifm_measure *measure = &stop->all.cell->measure;
    if (measure->stop == IFM_STOP_REPEATS)
        return (double)blocks_for_repeats(stop);
    bool decides = stop->all.rule == IFM_STOP_DECIDED;
    double fewest = decides ? (double)ifm_stop_blocks_first_look(stop->all.cell) : IFM_BLOCKS_FOR_WIDTH;
    double blocks = measure->stop == IFM_STOP_GROUP ? (double)measure->blocks_max
                    : decides                       ? ifm_stop_blocks_foretold(&stop->all)
                                                    : IFM_BLOCKS_FOR_WIDTH;
    if (stop->all.rule == IFM_STOP_MDE && stop->blocks >= 2) {
        double room = log1p(ifm_stop_wanted(stop)) - ifm_stop_blocks_margin(&stop->all);
        double wanted = ifm_stop_blocks_factor(&stop->all, 30) * ifm_stop_blocks_worst_sd(&stop->all) / room;
        blocks = room > 0 ? wanted * wanted : INFINITY;
    }
    double capped = ceil(measure->cap_s / block_s), least = 1e-9 * ifm_stop_blocks_least_ns(&stop->all);
    if (stop->all.rule == IFM_STOP_MDE || decides)
        blocks = fmax(blocks, ceil(least / block_s));
    blocks = fmax(blocks, fewest);
    if (stop->all.variants > 0 && stop->all.steps > 0)
        blocks = fmax(blocks, ceil(IFM_TAIL_RUNS * stop->all.n / stop->all.steps));
    if (blocks > capped)
        blocks = capped;
    if (blocks < (double)measure->blocks_min)
        blocks = (double)measure->blocks_min;
    return blocks > (double)measure->blocks_max ? (double)measure->blocks_max : blocks;
}
