/* What the columns of other programs say of an arm whose steps they are: processor time, memory and mishaps. A run that
 * failed, or whose work was cut short, is no sample: an arm with one has no time and is not compared. */
#include "derive/internal.h"
#include "model/failure.h"
#include "stats/tail.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* As of the time of the same runs, too few of them to have seen a slow one refuse no interval: a remark beside the arm
 * says so of both. Where few of those that were seen carry the mean there is none. `each`: runs of a block, as those
 * are what people count. */
static void bracket_cpu(const struct ifm_arm_work *arm, const double *means, size_t n, double each,
                        struct ifm_value *value)
{
    struct ifm_log_mean level; /* of plain values here */
    struct ifm_interval interval;
    enum ifm_tail tail = IFM_TAIL_HOLDS;
    size_t needs = n;
    const double runs = fmax(IFM_TAIL_RUNS, (double)n);
    if (n < IFM_BLOCKS_NEEDED)
        value->text = ifm_needs_blocks(arm->d->arena, n);
    else if (ifm_stats_tail(means, n, (double)n, runs, &tail, &needs) != IFM_STAT_OK || tail != IFM_TAIL_HOLDS)
        value->text = ifm_arena_printf(arm->d->arena, "needs %.0f runs: %s", ceil((double)needs * each),
                                       tail == IFM_TAIL_SKEWED ? "CPU times are skewed" : ifm_tail_reason(tail));
    else if (ifm_log_level_of(means, n, 0.0, &level) && ifm_log_mean_interval(&level, IFM_LEVEL, &interval))
        ifm_value_bracket(value, interval.low > 0 ? interval.low : 0, interval.high, IFM_LEVEL);
}

/* Mean of the block means with its t interval: blocks are the unit, guarded like a step time against what one shares
 * with the next. */
static struct ifm_value cpu_of(const struct ifm_arm_work *arm)
{
    const struct ifm_cell_work *work = arm->work;
    int column = ifm_derive_column(work->record, "child_cpu_ns");
    size_t n = 0, read;
    const struct ifm_column_block *blocks = ifm_derive_column_blocks(arm, column, arm->d->arena, &read);
    double *means = IFM_ARENA_ARRAY(arm->d->arena, double, work->n_blocks + 1), mean;
    double runs = 0;
    for (size_t b = 0; b < work->n_blocks; b++)
        if (blocks[b].read) {
            means[n++] = blocks[b].total / blocks[b].steps; /* a step is one run: programs have gaps between them */
            runs += blocks[b].steps;
        }
    if (ifm_stats_mean(means, n, &mean) != IFM_STAT_OK)
        return ifm_value_absent("the processor time of the programs was not read", "", 0, "blocks");
    struct ifm_value value = ifm_value_real(mean, (int64_t)n, "blocks");
    bracket_cpu(arm, means, n, runs / (double)n, &value);
    return value;
}

static struct ifm_value rss_of(const struct ifm_arm_work *arm)
{
    struct ifm_column_total slots = ifm_derive_column_total(arm, "child_rss_bytes");
    if (slots.read == 0 && ifm_derive_column_total(arm, "child_cpu_ns").read == 0)
        return ifm_value_absent("the memory of the programs was not read", "", 0, "slots");
    if (slots.read == 0)
        return ifm_value_absent("no program's peak was seen above inferometer's own, which the kernel counts with it",
                                "", 0, "slots");
    return ifm_value_count_of(slots.largest, slots.read, "slots");
}

/* ---- runs that do not count ---- */

static const char *setting_of(const struct ifm_arm *arm, const char *path)
{
    for (size_t i = 0; i < arm->n_settings; i++)
        if (strcmp(arm->settings[i].path, path) == 0)
            return arm->settings[i].text;
    return NULL;
}

static void say_failure(char *to, size_t size, int64_t code)
{
    if (code == IFM_FAILURE_STRAY)
        snprintf(to, size, "a process outlived it");
    else if (code == IFM_FAILURE_TIMEOUT)
        snprintf(to, size, "time limit");
    else if (code > IFM_FAILURE_SIGNAL)
        snprintf(to, size, "signal %d", (int)(code - IFM_FAILURE_SIGNAL));
    else
        snprintf(to, size, "exit status %d", (int)code);
}

/* The distinct ways in which runs failed, in the order of the record, as words: one a slot is known. */
static const char *failures_in_words(const struct ifm_arm_work *arm)
{
    enum { NAMED = 4 };
    int column = ifm_derive_column(arm->work->record, "child_failure");
    int64_t seen[NAMED];
    size_t n = 0;
    const char *words = "";
    const struct ifm_slot *slot;
    for (size_t k = 0; column >= 0 && n < NAMED && (slot = ifm_next_slot(arm, &k)) != NULL; k++) {
        char one[64];
        int64_t code = slot->columns[column];
        bool known = code <= 0 || code > IFM_FAILURE_STRAY;
        for (size_t i = 0; i < n; i++)
            known |= seen[i] == code;
        if (known)
            continue;
        seen[n++] = code;
        say_failure(one, sizeof one, code);
        words = ifm_arena_printf(arm->d->arena, "%s%s%s", words, n > 1 ? ", " : "", one);
    }
    return words[0] == '\0' ? "with a status that was not recorded" : words;
}

/* Why the arm's runs are no samples; NULL when they are. */
static const char *runs_refused(const struct ifm_arm_work *arm, enum ifm_finding_kind *kind)
{
    const struct ifm_column_total failures = ifm_derive_column_total(arm, "child_failures"),
                                  strays = ifm_derive_column_total(arm, "child_strays");
    const char *ignored = setting_of(arm->arm, "command.ignore_failure");
    const struct ifm_event_cell_failed *failed = ifm_derive_failure(arm->work);
    struct ifm_arena *arena = arm->d->arena;
    *kind = IFM_FINDING_FAILED_RUNS;
    if (failed != NULL && failed->arm != NULL && strcmp(failed->arm, arm->arm->name) == 0)
        return ifm_arena_printf(arena, "%s, and a run that fails is no sample", failed->reason);
    if (failures.total != 0)
        return ifm_arena_printf(arena, "%lld of %zu runs failed (%s): a run that fails is no sample",
                                (long long)failures.total, arm->n_samples, failures_in_words(arm));
    *kind = IFM_FINDING_OTHER;
    if (failures.read < failures.slots && ignored != NULL && strcmp(ignored, "true") == 0)
        return "failed runs were let pass, and how many there were is not recorded";
    if (strays.total != 0 && ifm_derive_column(arm->work->record, "child_failure") < 0)
        return ifm_arena_printf(arena,
                                "%lld processes outlived their runs and were killed, as earlier versions did: their "
                                "work is not in the time",
                                (long long)strays.total);
    return NULL;
}

const char *ifm_derive_stray_remedy(const struct ifm_arm_work *arm)
{
    const struct ifm_arm_work *const both[] = {arm, arm->work->baseline};
    for (size_t i = 0; i < 2; i++)
        if (both[i] != NULL && ifm_derive_column_total(both[i], "child_strays").total > 0)
            return ifm_arena_printf(arm->d->arena,
                                    ". Remedy: let %s wait for the processes that outlive it, which take CPUs from it",
                                    both[i]->arm->name);
    return "";
}

/* Runs of two programs are no samples of one: its file, or its script, was another one before or after. */
static const char *file_changed(const struct ifm_arm_work *arm)
{
    const char *const cell = arm->work->cell->name;
    IFM_EACH(event, arm->work->journal, program, cell, arm->arm->name) {
        const struct ifm_event_program *later = IFM_FACTS(event, program), *first = NULL;
        IFM_EACH(other, arm->work->journal, program, cell, arm->arm->name)
            if (first == NULL && strcmp(IFM_FACTS(other, program)->what, later->what) == 0)
                first = IFM_FACTS(other, program);
        const bool other_file = first->inode != later->inode, other_size = first->size != later->size;
        if (other_file || other_size || first->mtime_ns != later->mtime_ns || first->ctime_ns != later->ctime_ns)
            return ifm_arena_printf(arm->d->arena,
                                    "the file of its %s was changed while it was measured (%s): its runs "
                                    "are of two programs",
                                    later->what,
                                    later->inode == 0 ? "it is gone"
                                    : other_file      ? "another file has its name"
                                    : other_size      ? "its size is another"
                                                      : "its time is another");
    }
    return NULL;
}

void ifm_rules_command(struct ifm_cell_work *work)
{
    if (work->record == NULL || !ifm_cell_counts_programs(work->cell))
        return;
    for (size_t a = 0; a < work->cell->n_arms; a++) {
        struct ifm_arm_work *arm = &work->arms[a];
        if (arm->failed || ifm_derive_is_probe(arm->arm))
            continue;
        enum ifm_finding_kind kind;
        const char *reason = runs_refused(arm, &kind);
        if (reason != NULL)
            ifm_refuse_arm(arm, &arm->refusal, IFM_SEVERITY_WARNING, "rule-01", reason)->kind = kind;
        const char *changed = file_changed(arm);
        if (changed != NULL)
            ifm_refuse_arm(arm, &arm->refusal, IFM_SEVERITY_WARNING, "rule-04", changed);
        const struct ifm_column_total strays = ifm_derive_column_total(arm, "child_strays");
        if (reason == NULL && strays.total > 0)
            ifm_derive_say_arm(arm, IFM_SEVERITY_NOTE, "rule-01",
                               "%lld processes outlived the program in %zu runs: the time of a run is that to the end "
                               "of the last of them",
                               (long long)strays.total, arm->n_samples);
    }
}

void ifm_derive_command(const struct ifm_arm_work *arm)
{
    static const struct {
        enum ifm_metric_id metric;
        const char *column;
    } totals[] = {
        {IFM_M_COMMAND_FAULTS_MAJOR, "child_faults_major"},
        {IFM_M_COMMAND_SWITCHES_INVOLUNTARY, "child_switches_involuntary"},
        {IFM_M_COMMAND_FAILURES, "child_failures"},
        {IFM_M_COMMAND_STRAYS, "child_strays"},
    };

    if (!ifm_cell_counts_programs(arm->work->cell) || ifm_derive_is_probe(arm->arm))
        return;
    struct ifm_value missing = ifm_value_missing(arm->work, "slots");
    bool recorded = arm->work->record != NULL;
    ifm_derive_emit(arm, IFM_M_COMMAND_CPU_NS, recorded ? cpu_of(arm) : missing);
    ifm_derive_emit(arm, IFM_M_COMMAND_RSS_BYTES, recorded ? rss_of(arm) : missing);
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        ifm_derive_emit(arm, totals[i].metric, ifm_derive_total_value(arm, totals[i].column, NULL, ""));
    if (recorded && ifm_derive_column(arm->work->record, "child_run_delay_ns") >= 0) /* earlier versions did not ask */
        ifm_derive_emit(arm, IFM_M_COMMAND_RUN_DELAY_NS,
                        ifm_derive_total_value(arm, "child_run_delay_ns", IFM_UNTOLD_WORDS, ""));
}
