/* What is drawn anew in each block: the order of its slots, and the set of buffers that each arm works in.
 *
 * Pure functions of the cell's seed and the block's number, so that a resumed run goes on as it would have, and a
 * reader of the record can draw again. */
#include "base/random.h"
#include "model/plan.h"

/* Streams far from the small numbers that data streams use; odd factors keep the draws of one purpose apart. */
static uint32_t draw_stream(uint32_t purpose, unsigned draw)
{
    return purpose ^ (draw * 0x9e3779b9u);
}

static const uint32_t ORDER = 0x6f726472, SETS = 0x73657473; /* "ordr", "sets" */

static void permutation(struct ifm_random *random, unsigned n, unsigned *out)
{
    for (unsigned i = 0; i < n; i++)
        out[i] = i;
    for (unsigned i = n; i > 1; i--) { /* Fisher and Yates */
        unsigned j = ifm_random_below(random, i), last = out[i - 1];
        out[i - 1] = out[j];
        out[j] = last;
    }
}

/* Row `row` of the Williams square of n: 0, 1, n-1, 2, n-2, ... shifted by `row`. Over its n rows each number stands
 * once at each place. In an even square each pair of neighbours stands there once in either direction; in an odd one
 * the rows and their mirror images together hold each pair twice.
 * Source: Williams, "Experimental designs balanced for the estimation of residual effects of treatments",
 * Aust. J. Sci. Res. A 2 (1949). */
static unsigned williams(unsigned n, unsigned row, unsigned place)
{
    unsigned first = place % 2 == 1 ? (place + 1) / 2 : (n - place / 2) % n;
    return (first + row) % n;
}

void ifm_plan_order(const struct ifm_cell *cell, unsigned block, unsigned *order)
{
    unsigned n = (unsigned)cell->n_arms, rows[IFM_MOST_ARMS], labels[IFM_MOST_ARMS];
    if (n <= 2) { /* a square of two rows is no more than the toss of a coin */
        struct ifm_random random = ifm_random_start(cell->seed, draw_stream(ORDER, block));
        permutation(&random, n, order);
    } else {
        struct ifm_random random = ifm_random_start(cell->seed, draw_stream(ORDER, block / n));
        permutation(&random, n, labels);
        permutation(&random, n, rows);
        for (unsigned i = 0; i < n; i++)
            order[i] = labels[williams(n, rows[block % n], i)];
    }
    for (unsigned i = 0; i < n; i++)
        order[2 * n - 1 - i] = order[i];
}

size_t ifm_plan_order_without(const struct ifm_cell *cell, const bool *without, unsigned block, unsigned *order)
{
    unsigned planned[IFM_MOST_ARMS];
    struct ifm_cell left = *cell;
    left.n_arms = 0;
    for (unsigned i = 0; i < cell->n_arms; i++)
        if (!without[i])
            planned[left.n_arms++] = i;
    ifm_plan_order(&left, block, order);
    for (size_t i = 0; i < 2 * left.n_arms; i++)
        order[i] = planned[order[i]];
    return 2 * left.n_arms;
}

unsigned ifm_plan_rows(const struct ifm_cell *cell, enum ifm_pass_kind kind, unsigned rows)
{
    bool same = kind == IFM_PASS_LATENCY || (kind == IFM_PASS_ENERGY && ifm_cell_runs_programs(cell));
    return rows == 1 && same ? 1 : 2;
}

size_t ifm_plan_order_rows(const struct ifm_cell *cell, const bool *without, unsigned rows, unsigned block,
                           unsigned *order)
{
    if (rows != 1)
        return ifm_plan_order_without(cell, without, block, order);
    size_t n = ifm_plan_order_without(cell, without, block / 2, order) / 2;
    for (size_t i = 0; block % 2 == 1 && i < n; i++)
        order[i] = order[n + i];
    return n;
}

bool ifm_plan_in_blocks(const struct ifm_cell *cell, size_t arm)
{
    return !cell->ceilings_apart || cell->arms[arm].role != IFM_ROLE_CEILING;
}

size_t ifm_plan_count_in_blocks(const struct ifm_cell *cell)
{
    size_t n = 0;
    for (size_t i = 0; i < cell->n_arms; i++)
        n += ifm_plan_in_blocks(cell, i);
    return n;
}

size_t ifm_plan_round(const struct ifm_cell *cell, const bool *without, unsigned round, unsigned *order)
{
    unsigned probes[IFM_MOST_ARMS], n = 0;
    for (unsigned i = 0; i < cell->n_arms; i++)
        if (!ifm_plan_in_blocks(cell, i) && (without == NULL || !without[i]))
            probes[n++] = i;
    for (unsigned i = 0; i < n; i++)
        order[i] = probes[(i + round) % n];
    return n;
}

bool ifm_plan_isolates(const struct ifm_cell *cell, size_t arm)
{
    bool probes_alone = true;
    for (size_t i = 0; i < cell->n_arms; i++)
        probes_alone = probes_alone && cell->arms[i].role == IFM_ROLE_CEILING;
    return probes_alone || cell->arms[arm].role != IFM_ROLE_CEILING;
}

static unsigned isolated_arms(const struct ifm_cell *cell)
{
    unsigned n = 0;
    for (size_t i = 0; i < cell->n_arms; i++)
        n += ifm_plan_isolates(cell, i);
    return n;
}

unsigned ifm_plan_copies(const struct ifm_cell *cell, size_t arm)
{
    bool sets = cell->measure.isolation == IFM_ISOLATION_BUFFERS && ifm_plan_isolates(cell, arm);
    return sets ? isolated_arms(cell) : 1;
}

static bool same_data(const struct ifm_arm *a, const struct ifm_arm *b)
{
    return strcmp(a->workload, b->workload) == 0 && a->working_set == b->working_set && a->memory == b->memory &&
           memcmp(&a->ledger, &b->ledger, sizeof a->ledger) == 0;
}

uint64_t ifm_plan_memory(const struct ifm_cell *cell)
{
    int isolation = cell->measure.isolation;
    uint64_t total = 0, bytes;
    for (size_t i = 0; i < cell->n_arms; i++) {
        bool shared = false, apart = isolation != IFM_ISOLATION_SHARED && ifm_plan_isolates(cell, i);
        for (size_t j = 0; j < i && !shared && !(apart && isolation == IFM_ISOLATION_PROCESSES); j++)
            shared = same_data(&cell->arms[i], &cell->arms[j]) &&
                     apart == (isolation != IFM_ISOLATION_SHARED && ifm_plan_isolates(cell, j));
        if (!shared && (__builtin_mul_overflow(cell->arms[i].memory, ifm_plan_copies(cell, i), &bytes) ||
                        __builtin_add_overflow(total, bytes, &total)))
            return UINT64_MAX;
    }
    return total;
}

unsigned ifm_plan_sets(const struct ifm_cell *cell, unsigned block, unsigned *sets)
{
    unsigned n = isolated_arms(cell), placed = 0;
    struct ifm_random random = ifm_random_start(cell->seed, draw_stream(SETS, block));
    unsigned shift = n == 0 ? 0 : ifm_random_below(&random, n);
    for (size_t i = 0; i < cell->n_arms; i++)
        sets[i] = ifm_plan_isolates(cell, i) ? (placed++ + shift) % n : n;
    return n;
}
