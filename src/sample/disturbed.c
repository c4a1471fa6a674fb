/* Causes of a slot, and the budget of repeats. */
#include "sample/disturbed.h"

#include "model/facts.h"
#include <stdio.h>
#include <string.h>

/* Where the kernel does not say how long our threads waited, the scheduler took one off its CPU more often than
 * once, and more often than this per second. */
static const double SWITCHES_PER_S = 50.0;

/* Of a tree of programs the kernel tells no waiting: others took a part of each CPU while it ran, and one of its own
 * was taken off its CPU more often than once, and more often than this per second. Either alone is no disturbance:
 * others may have run beside it, and the ends of a pipe take CPUs from each other. */
static const double TREE_SWITCHES_PER_S = 10.0;

/* A program waits so long for its first CPU on a quiet machine too, where starting it is most of its time. */
static const double START_NS = 1e5;

static int place_of(const char *const *names, size_t n, const char *name)
{
    for (size_t c = 0; c < n; c++)
        if (strcmp(names[c], name) == 0)
            return (int)c;
    return -1;
}

struct ifm_cause_columns ifm_cause_columns_of(const char *const *names, size_t n)
{
    return (struct ifm_cause_columns){place_of(names, n, "steal_ns"),
                                      place_of(names, n, "run_delay_ns"),
                                      place_of(names, n, "context_switches_involuntary"),
                                      place_of(names, n, "throttle_count"),
                                      place_of(names, n, "faults_major"),
                                      place_of(names, n, "child_run_delay_ns"),
                                      place_of(names, n, "child_wall_ns"),
                                      place_of(names, n, "child_foreign_ns"),
                                      place_of(names, n, "child_switches_involuntary")};
}

static bool was_read(const struct ifm_slot *slot, int column)
{
    return column >= 0 && slot->columns[column] != IFM_ABSENT;
}

bool ifm_cause_of_programs(const struct ifm_cause_columns *columns)
{
    return columns->program_delay >= 0;
}

static bool tree_was_read(const struct ifm_slot *slot, const struct ifm_cause_columns *columns)
{
    return was_read(slot, columns->foreign) && was_read(slot, columns->program_switches) &&
           was_read(slot, columns->program_ns) && slot->columns[columns->program_ns] > 0;
}

bool ifm_cause_was_read(const struct ifm_slot *slot, const struct ifm_cause_columns *columns)
{
    if (ifm_cause_of_programs(columns))
        return was_read(slot, columns->program_delay) || tree_was_read(slot, columns);
    return was_read(slot, columns->steal) || was_read(slot, columns->delay) || was_read(slot, columns->switches);
}

/* But for their starts; ns. */
static double program_waited_ns(const struct ifm_slot *slot, const struct ifm_cause_columns *columns)
{
    if (!was_read(slot, columns->program_delay) || !was_read(slot, columns->program_ns) ||
        slot->columns[columns->program_ns] <= 0)
        return 0;
    return (double)slot->columns[columns->program_delay] - START_NS * slot->samples;
}

/* The share of the programs' time that they waited for a CPU. Hooks between them are part of the slot, not of it. */
static double program_waited(const struct ifm_slot *slot, const struct ifm_cause_columns *columns)
{
    const double waited_ns = program_waited_ns(slot, columns);
    return waited_ns == 0 ? 0 : waited_ns / (double)slot->columns[columns->program_ns];
}

double ifm_slot_waited_ns(const struct ifm_slot *slot, const struct ifm_cause_columns *columns)
{
    const double programs = program_waited_ns(slot, columns),
                 own = was_read(slot, columns->delay) ? (double)slot->columns[columns->delay] : 0;
    return programs > own ? programs : own;
}

double ifm_slot_stolen_ns(const struct ifm_slot *slot, const struct ifm_cause_columns *columns)
{
    return was_read(slot, columns->steal) ? (double)slot->columns[columns->steal] : 0;
}

/* What others took of each CPU while programs ran that were taken off theirs; 0 where that is told by their waiting. */
static double took_from_tree(const struct ifm_slot *slot, const struct ifm_cause_columns *columns)
{
    if (was_read(slot, columns->program_delay) || !tree_was_read(slot, columns))
        return 0;
    const double ran_ns = (double)slot->columns[columns->program_ns];
    const int64_t switches = slot->columns[columns->program_switches];
    const bool often = switches > 1 && (double)switches > TREE_SWITCHES_PER_S * 1e-9 * ran_ns;
    return often ? (double)slot->columns[columns->foreign] / ran_ns : 0;
}

enum ifm_cause ifm_slot_cause(const struct ifm_slot *slot, const struct ifm_cause_columns *columns, double *amount)
{
    double length = (double)(slot->end_ns - slot->start_ns);
    *amount = 0;
    if (was_read(slot, columns->throttles) && slot->columns[columns->throttles] > 0) {
        *amount = (double)slot->columns[columns->throttles];
        return IFM_CAUSE_THROTTLED;
    }
    if (was_read(slot, columns->faults) && slot->columns[columns->faults] > 0) {
        *amount = (double)slot->columns[columns->faults];
        return IFM_CAUSE_FAULTED;
    }
    if (was_read(slot, columns->steal) && (double)slot->columns[columns->steal] > IFM_LOST_SHARE * length) {
        *amount = (double)slot->columns[columns->steal] / length;
        return IFM_CAUSE_STOLEN;
    }
    if (program_waited(slot, columns) > IFM_LOST_SHARE) {
        *amount = program_waited(slot, columns);
        return IFM_CAUSE_PROGRAM;
    }
    if (took_from_tree(slot, columns) > IFM_LOADED) {
        *amount = took_from_tree(slot, columns);
        return IFM_CAUSE_FOREIGN;
    }
    if (was_read(slot, columns->delay)) {
        *amount = (double)slot->columns[columns->delay] / length;
        return (double)slot->columns[columns->delay] > IFM_LOST_SHARE * length ? IFM_CAUSE_WAITED : IFM_CAUSE_NONE;
    }
    if (!was_read(slot, columns->switches))
        return IFM_CAUSE_NONE;
    *amount = (double)slot->columns[columns->switches];
    return slot->columns[columns->switches] > 1 && *amount > SWITCHES_PER_S * 1e-9 * length ? IFM_CAUSE_SWITCHED
                                                                                            : IFM_CAUSE_NONE;
}

double ifm_cause_weight(const struct ifm_slot *slot, const struct ifm_cause_columns *columns, enum ifm_cause cause)
{
    switch (cause) {
    case IFM_CAUSE_PROGRAM:
    case IFM_CAUSE_FOREIGN:
        return (double)slot->columns[columns->program_ns];
    case IFM_CAUSE_STOLEN:
    case IFM_CAUSE_WAITED:
        return (double)(slot->end_ns - slot->start_ns);
    default:
        return 1;
    }
}

enum ifm_cause ifm_slots_cause(const struct ifm_slot *slots, size_t n, const struct ifm_cause_columns *columns,
                               double *amount)
{
    enum ifm_cause worst = IFM_CAUSE_NONE;
    double here;
    *amount = 0;
    for (size_t k = 0; k < n; k++) {
        enum ifm_cause cause = ifm_slot_cause(&slots[k], columns, &here);
        if (cause == IFM_CAUSE_NONE ||
            (worst != IFM_CAUSE_NONE && (cause > worst || (cause == worst && here <= *amount))))
            continue;
        worst = cause;
        *amount = here;
    }
    return worst;
}

const char *ifm_cause_text(enum ifm_cause cause, double amount, char text[IFM_CAUSE_TEXT])
{
    text[0] = '\0';
    if (cause == IFM_CAUSE_THROTTLED)
        snprintf(text, IFM_CAUSE_TEXT, "the processor slowed itself down %.0f times in a slot", amount);
    else if (cause == IFM_CAUSE_FAULTED)
        snprintf(text, IFM_CAUSE_TEXT, "%.0f pages of a slot were read from a disk", amount);
    else if (cause == IFM_CAUSE_STOLEN && amount > 1)
        snprintf(text, IFM_CAUSE_TEXT, "stolen time of all CPUs, together longer than the slot itself");
    else if (cause == IFM_CAUSE_STOLEN)
        snprintf(text, IFM_CAUSE_TEXT, "stolen time %.3g %% of a slot", 100.0 * amount);
    else if (cause == IFM_CAUSE_WAITED && amount > 1)
        snprintf(text, IFM_CAUSE_TEXT, "threads waited for a CPU, together longer than the slot itself");
    else if (cause == IFM_CAUSE_WAITED)
        snprintf(text, IFM_CAUSE_TEXT, "threads waited for a CPU %.*f %% of a slot", amount < 0.1 ? 1 : 0,
                 100.0 * amount);
    else if (cause == IFM_CAUSE_PROGRAM)
        snprintf(text, IFM_CAUSE_TEXT, "the program waited for a CPU %.*f %% of its time", amount < 0.1 ? 1 : 0,
                 100.0 * amount);
    else if (cause == IFM_CAUSE_FOREIGN)
        snprintf(text, IFM_CAUSE_TEXT, "other programs took %.0f %% of each CPU", ifm_load_percent(amount));
    else if (cause == IFM_CAUSE_SWITCHED)
        snprintf(text, IFM_CAUSE_TEXT, "taken off its CPU %.0f times in a slot", amount);
    return text;
}

struct ifm_repeats ifm_repeats_of(const char *const *columns, size_t n, unsigned rules, unsigned rows,
                                  const struct ifm_cell *cell)
{
    const bool metered = ifm_cell_runs_programs(cell) && ifm_plan_pass(cell, IFM_PASS_ENERGY) != NULL;
    const bool none = cell->measure.stop == IFM_STOP_REPEATS || metered;
    return (struct ifm_repeats){.columns = ifm_cause_columns_of(columns, n),
                                .wanted = rules >= IFM_PLAN_RULES_REPEATS,
                                .mirrors = rows == 1 && rules >= IFM_PLAN_RULES_MIRROR,
                                .cap_ns = none ? 0 : 1e9 * cell->measure.cap_s,
                                .fewest = rules >= IFM_PLAN_RULES_REPEATS_FIT ? cell->measure.blocks_min : 0};
}

uint32_t ifm_repeats_turn(const struct ifm_repeats *repeats, uint32_t measured)
{
    return measured - (repeats->mirrors ? 0 : repeats->repeated);
}

/* Is there time for one more block in the place of the last, and for what is then left of the fewest? */
static bool fits(const struct ifm_repeats *repeats)
{
    const uint32_t counting = repeats->blocks - 1 - repeats->repeated;
    const double left = repeats->fewest > counting ? (double)(repeats->fewest - counting) : 0;
    return repeats->used_ns * (1 + left / repeats->blocks) < repeats->cap_ns;
}

enum ifm_block_fate ifm_repeats_take(struct ifm_repeats *repeats, const struct ifm_slot *slots, size_t n)
{
    double amount;
    repeats->blocks++;
    repeats->used_ns += n > 0 ? (double)(slots[n - 1].end_ns - slots[0].start_ns) : 0;
    if (!repeats->wanted || ifm_slots_cause(slots, n, &repeats->columns, &amount) == IFM_CAUSE_NONE)
        return IFM_BLOCK_STANDS;
    if (2 * repeats->repeated >= repeats->blocks || !fits(repeats))
        return IFM_BLOCK_DISTURBED;
    repeats->repeated++;
    return IFM_BLOCK_REPEATED;
}
