/* The arithmetic of the stop rule. */
#include "stats/stop_blocks.h"

#include "stats/sequential.h"
#include "stats/tail.h"
#include <math.h>

struct ifm_stop_blocks ifm_stop_blocks_of(const struct ifm_cell *cell)
{
    struct ifm_stop_blocks blocks = {.cell = cell};
    for (size_t a = 0; a < cell->n_arms; a++) {
        blocks.variants += cell->arms[a].role == IFM_ROLE_VARIANT;
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            blocks.baseline = a;
    }
    blocks.level = 1 - 0.05 / (blocks.variants > 1 ? (double)blocks.variants : 1);
    if (cell->measure.stop == IFM_STOP_MDE)
        blocks.level = ifm_stats_fixed_width_level(blocks.level);
    return blocks;
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

bool ifm_stop_blocks_has_seen_the_tail(const struct ifm_stop_blocks *blocks)
{
    return blocks->variants == 0 || blocks->steps >= IFM_TAIL_RUNS;
}

void ifm_stop_blocks_add(struct ifm_stop_blocks *blocks)
{
    blocks->steps += fewest_steps(blocks);
    double base = blocks->block[blocks->baseline] - blocks->mean[blocks->baseline]; /* before its mean moves */
    blocks->n++;
    for (size_t a = 0; a < blocks->cell->n_arms; a++) {
        double delta = blocks->block[a] - blocks->mean[a];
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
