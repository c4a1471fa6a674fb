/* profile: what limits each arm of a run, the three largest shares first, with what to do. It only orders numbers that
 * the run derived; a share without a recorded source is named as absent, with its remedy. */
#include "cli/ncu_run.h"
#include "cli/profile.h"
#include "publish/listing.h"
#include "story/folder.h"

#include "base/file.h"
#include "base/log.h"
#include "judge/review/checklist.h"
#include "model/machine_facts.h"
#include "model/value.h"
#include <stdio.h>
#include <string.h>

/* Advice from WORTH_PERCENT on: below, all of a limit that is lifted gives less than a third. A unit from
 * LIKELY_PERCENT on stands before all waiting, which follows from it. */
enum { TOP = 3, LIKELY_PERCENT = 60, WORTH_PERCENT = 30 };

static const struct ifm_listing_column columns[] = {
    {"cell", NULL, true},      {"arm", "arm", true},  {"rank", NULL, false},  {"limit", "limit", true},
    {"share", "share", false}, {"of", "of", true},    {"from", "from", true}, {"metric", NULL, true},
    {"do", NULL, true},        {"surer", NULL, true}, {"reason", NULL, true}, {"remedy", NULL, true},
    {"", "notes", true},
};

/* Kinds of limits. OF_CELL: the number is the cell's and not the arm's. GPU: there is one on a GPU alone; INSIDE: of a
 * GPU's multiprocessors, by counters. UNIT: how busy a unit is, and not what is idle. WAIT: at most WAITS_SHOWN of
 * them. */
enum { OF_ARM = 0, OF_CELL = 1, GPU = 2, INSIDE = 4 | GPU, UNIT = 8, WAIT = 16, IS_INSIDE = 4, WAITS_SHOWN = 2 };

/* What can limit a step: the metric that tells, and one that tells when it is absent. */
static const struct profile_limit {
    const char *name;
    unsigned kind;
    struct profile_source {
        enum ifm_metric_id metric; /* IFM_M_NONE = there is no second one */
        const char *of, *from, *surer;
    } sources[2];
    const char *advice;
} limits[] = {
    {"memory",
     OF_ARM | UNIT,
     {{IFM_M_DRAM_THROUGHPUT_PERCENT, "the memory's peak", "counters", ""},
      {IFM_M_CEILING_READ_PERCENT, "the read ceiling measured here", "ledger and time",
       "--counters on a GPU counts the bytes"}},
     "move fewer bytes: smaller formats, larger batches that share weights, data that stays in a cache"},
    {"arithmetic",
     OF_ARM | UNIT,
     {{IFM_M_CEILING_FLOPS_PERCENT, "the FLOP ceiling measured here", "ledger and time",
       "tensor_flops over ledger, by --counters, shows operations beyond the ledger's"},
      {IFM_M_NONE, "", "", ""}},
     "do fewer operations, or use units that do more of them: matrix units, a lower precision"},
    {"launch gaps",
     GPU,
     {{IFM_M_GPU_GAP_PERCENT, "the time of a step", "trace and time",
       "recorded kernels run up to some per cent longer, so that it is the least"},
      {IFM_M_GPU_IDLE_PERCENT, "the time of a recorded slot", "trace",
       "recording widens gaps: see trace_slower_percent"}},
     "launch less often: CUDA graphs over more steps, fused kernels, longer steps"},
    {"power cap",
     OF_CELL | GPU,
     {{IFM_M_GPU_POWER_CAPPED_PERCENT, "the cell's time", "driver", ""}, {IFM_M_NONE, "", "", ""}},
     "the power limit lowers the clock: spend fewer joules (bytes, operations), or compare at a fixed clock"},
    {"L2",
     INSIDE | UNIT,
     {{IFM_M_L2_BUSY_PERCENT, "the L2's peak of sectors", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "ask the L2 less often: tiles in shared memory, full sectors, multicast"},
    {"the L2's link",
     INSIDE | UNIT,
     {{IFM_M_L2_LINK_PERCENT, "the cycles of the link between its halves", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "ask the L2 less often, as for the L2; a stream at the memory's peak keeps it this busy"},
    {"matrix units",
     INSIDE | UNIT,
     {{IFM_M_TENSOR_ACTIVE_PERCENT, "their cycles", "counters", ""},
      {IFM_M_GPM_TENSOR_PERCENT, "the time of the windows of energy", "the GPU's monitor",
       "--counters counts their cycles"}},
     "fewer operations: no padding, a lower precision"},
    {"instructions",
     INSIDE | UNIT,
     {{IFM_M_ISSUE_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "fewer instructions: wider accesses, less index arithmetic, matrix units"},
    {"bank conflicts",
     INSIDE | UNIT,
     {{IFM_M_BANK_CONFLICT_PERCENT, "the time of the shared memory's pipe", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "pad or swizzle tiles, so that the threads of a warp take different banks"},
    {"idle multiprocessors",
     INSIDE,
     {{IFM_M_SM_IDLE_PERCENT, "the time of a range", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "more blocks, or blocks of equal length; fewer gaps between kernels"},
    {"occupancy",
     INSIDE,
     {{IFM_M_OCCUPANCY_LIMIT_PERCENT, "the slots of the schedulers, at most", "counters", ""},
      {IFM_M_NONE, "", "", ""}},
     "more warps: fewer registers a thread, less shared memory a block, more blocks"},
    {"waits for L2 or memory",
     INSIDE | WAIT,
     {{IFM_M_WAIT_MEMORY_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "more bytes in flight: wider loads, prefetching (cp.async, TMA), more warps"},
    {"waits between dependent instructions",
     INSIDE | WAIT,
     {{IFM_M_WAIT_DEPENDENCY_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "more independent instructions a thread, or more warps"},
    {"waits for wgmma",
     INSIDE | WAIT,
     {{IFM_M_WAIT_WGMMA_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "more wgmma in flight; where the matrix units are busy this is as it should be"},
    {"waits at a barrier",
     INSIDE | WAIT,
     {{IFM_M_WAIT_BARRIER_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "give the warps of a block equal work; smaller blocks; fewer barriers"},
    {"waits for shared memory or special functions",
     INSIDE | WAIT,
     {{IFM_M_WAIT_SHARED_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "fewer trips through shared memory, no bank conflicts, fewer exp and divisions"},
    {"waits for an arithmetic unit",
     INSIDE | WAIT,
     {{IFM_M_WAIT_ARITHMETIC_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "fewer operations on the busiest unit, or another unit"},
    {"waits for other reasons",
     INSIDE | WAIT,
     {{IFM_M_WAIT_OTHER_PERCENT, "the slots of the schedulers", "counters", ""}, {IFM_M_NONE, "", "", ""}},
     "`inferometer profile -- PROGRAM` names ten reasons more, by ncu"},
};
enum { LIMITS = sizeof limits / sizeof *limits };

struct profile_share {
    const struct profile_limit *limit;
    const struct profile_source *source;
    const struct ifm_value *value;
};

static const struct ifm_value *value_in(const struct ifm_folder *folder, const struct ifm_cell *cell,
                                        const struct ifm_arm *arm, const struct profile_limit *limit,
                                        const struct profile_source *source)
{
    const struct ifm_number *number =
        source->metric == IFM_M_NONE ? NULL
                                     : ifm_derived_find(folder->derived, cell->name,
                                                        (limit->kind & OF_CELL) != 0 ? "" : arm->name, source->metric);
    return number == NULL ? NULL : &number->value;
}

/* The share of a limit by its first source that has one; false: `out->value` says why there is none, or is NULL. */
static bool find_share(const struct ifm_folder *folder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                       const struct profile_limit *limit, struct profile_share *out)
{
    *out = (struct profile_share){limit, NULL, NULL};
    for (size_t i = 0; i < 2; i++) {
        const struct ifm_value *value = value_in(folder, cell, arm, limit, &limit->sources[i]);
        if (value == NULL)
            continue;
        if (value->state == IFM_STATE_OK) {
            *out = (struct profile_share){limit, &limit->sources[i], value};
            return true;
        }
        out->value = out->value == NULL ? value : out->value;
    }
    return false;
}

static void begin_row(struct ifm_listing *listing, const struct ifm_cell *cell, const struct ifm_arm *arm,
                      const struct profile_limit *limit)
{
    ifm_listing_row(listing);
    ifm_listing_set_text(listing, "cell", cell->name);
    ifm_listing_set(listing, "arm", json_string(arm->name), ifm_arm_label(arm));
    ifm_listing_set_text(listing, "limit", limit->name);
}

/* "the read ceiling measured here (read.L2)": of a ceiling the value names its probe. Products of bytes have a ceiling
 * of their own. */
static const char *share_of(const struct ifm_arm *arm, const struct profile_share *share, struct ifm_arena *arena)
{
    const bool flops = share->source->metric == IFM_M_CEILING_FLOPS_PERCENT,
               ceiling = flops || share->source->metric == IFM_M_CEILING_READ_PERCENT;
    const char *of = flops && arm->integer ? "the int8 ceiling measured here" : share->source->of;
    return ceiling && !ifm_is_empty(share->value->text) ? ifm_arena_printf(arena, "%s (%s)", of, share->value->text)
                                                        : of;
}

/* Of a rate that leaves much of the read ceiling the report has a remedy, which is this one's too. */
static const char *advice_on(const struct ifm_folder *folder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                             const struct profile_share *share, struct ifm_arena *arena)
{
    const char *remedy = share->source->metric != IFM_M_CEILING_READ_PERCENT
                             ? NULL
                             : ifm_advise_memory(folder->plan, folder->derived, folder->events, cell, arm, arena);
    return remedy == NULL ? share->limit->advice : remedy;
}

static void add_share(struct ifm_listing *listing, const struct ifm_folder *folder, const struct ifm_cell *cell,
                      const struct ifm_arm *arm, const struct profile_share *share, size_t rank, bool on_gpu)
{
    const struct profile_source *source = share->source;
    const char *surer = on_gpu ? source->surer : ""; /* what makes a share surer is a GPU's */
    begin_row(listing, cell, arm, share->limit);
    ifm_listing_set(listing, "rank", json_integer((json_int_t)rank), NULL);
    ifm_listing_set_value(listing, "share", share->value,
                          ifm_arena_printf(listing->arena, "%.1f %%", share->value->number));
    ifm_listing_set_text(listing, "of", share_of(arm, share, listing->arena));
    ifm_listing_set_text(listing, "from", source->from);
    ifm_listing_set_text(listing, "metric", ifm_metrics[source->metric].id);
    ifm_listing_set_text(listing, "surer", surer);
    if (share->value->number < WORTH_PERCENT)
        return;
    const char *advice = advice_on(folder, cell, arm, share, listing->arena);
    ifm_listing_set_text(listing, "do", advice);
    ifm_listing_show_note(listing,
                          ifm_arena_printf(listing->arena, "%s: %s.%s%s%s", share->limit->name, advice,
                                           surer[0] == '\0' ? "" : " Surer: ", surer, surer[0] == '\0' ? "" : "."));
}

static void add_missing(struct ifm_listing *listing, const struct ifm_folder *folder, const struct ifm_cell *cell,
                        const struct ifm_arm *arm, const struct profile_share *share)
{
    const bool inside = (share->limit->kind & IS_INSIDE) != 0;
    begin_row(listing, cell, arm, share->limit);
    ifm_listing_set(listing, "share", json_null(), "absent");
    if (share->value == NULL && arm->ledger.flops == 0 && arm->ledger.bytes_read == 0 &&
        (share->limit->kind & GPU) == 0)
        ifm_listing_absent(listing, "nobody says how many bytes and operations it takes", "");
    else if (share->value == NULL && inside && cell->measure.counters && folder->plan->rules < IFM_PLAN_RULES_LIMITS)
        ifm_listing_absent(listing, "the version that measured this run counted other sets",
                           "measure again with --counters");
    else if (share->value == NULL)
        ifm_listing_absent(listing, "this run has no number of it",
                           inside                            ? "measure with --counters, on a GPU"
                           : (share->limit->kind & GPU) != 0 ? "measure with --trace, on a GPU"
                                                             : "measure with --ceilings read,flops");
    else
        ifm_listing_absent(listing, share->value->reason, share->value->remedy);
}

/* Of a program nobody says what a step moves and computes: what looks into one does. */
static bool is_of_programs(const struct ifm_plan *plan)
{
    return plan->n_cells > 0 && strcmp(plan->cells[0].workload, "command") == 0;
}

/* Units near their peak come first, then the largest shares. */
static double rank_of(const struct profile_share *share)
{
    const bool near = (share->limit->kind & UNIT) != 0 && share->value->number >= LIKELY_PERCENT;
    return share->value->number + (near ? 100 : 0);
}

/* The shares of an arm in order; `inside`: how many of them are of the multiprocessors. */
static size_t find_shares(const struct ifm_folder *folder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                          bool on_gpu, struct profile_share found[static LIMITS], size_t *inside)
{
    struct profile_share share;
    size_t n = 0;
    *inside = 0;
    for (size_t i = 0; i < LIMITS; i++) {
        if ((!on_gpu && (limits[i].kind & GPU) != 0) || !find_share(folder, cell, arm, &limits[i], &share))
            continue;
        size_t at = n++;
        for (; at > 0 && rank_of(&found[at - 1]) < rank_of(&share); at--)
            found[at] = found[at - 1];
        found[at] = share;
        *inside += (limits[i].kind & IS_INSIDE) != 0;
    }
    return n;
}

/* What could not be told. Of the multiprocessors one row speaks for all, where nothing of them is known. */
static void add_all_missing(struct ifm_listing *listing, const struct ifm_folder *folder, const struct ifm_cell *cell,
                            const struct ifm_arm *arm, bool on_gpu, bool inside)
{
    static const struct profile_limit all = {"inside the kernels", INSIDE, {{IFM_M_OCCUPANCY_PERCENT, "", "", ""}}, ""};
    struct profile_share share;
    for (size_t i = 0; i < LIMITS; i++)
        if ((limits[i].kind & IS_INSIDE) == 0 && (on_gpu || (limits[i].kind & GPU) == 0) &&
            !find_share(folder, cell, arm, &limits[i], &share))
            add_missing(listing, folder, cell, arm, &share);
    if (on_gpu && !inside && !find_share(folder, cell, arm, &all, &share))
        add_missing(listing, folder, cell, arm, &share);
}

static void add_arm(struct ifm_listing *listing, const struct ifm_folder *folder, const struct ifm_cell *cell,
                    const struct ifm_arm *arm)
{
    struct profile_share found[LIMITS];
    const bool on_gpu = folder->plan->device != NULL && strcmp(folder->plan->device, "cuda") == 0;
    size_t inside, shown = 0, waits = 0;
    const size_t n = find_shares(folder, cell, arm, on_gpu, found, &inside);
    for (size_t i = 0; i < n && shown < TOP; i++) {
        const bool wait = (found[i].limit->kind & WAIT) != 0;
        if (wait && waits == WAITS_SHOWN)
            continue;
        waits += wait;
        add_share(listing, folder, cell, arm, &found[i], ++shown, on_gpu);
    }
    add_all_missing(listing, folder, cell, arm, on_gpu, inside > 1);
    if (!is_of_programs(folder->plan) && (n == 0 || found[0].value->number < LIKELY_PERCENT) &&
        (!on_gpu || inside == 0))
        ifm_listing_remark(listing,
                           on_gpu ? "Where no share is large, what a step waits for is not measured here: --counters "
                                    "counts occupancy, waits and bank conflicts, and so does `inferometer profile "
                                    "--nvtx latency/ARM/ --launch-count 10 -- COMMAND` by ncu, with the command of "
                                    "this run."
                                  : "Where no share is large, what a step waits for is not measured here. Surer: "
                                    "`inferometer cachegrind` for its accesses, perf for its instructions.");
}

/* Shares of a disturbed run are too small: that comes before them. */
static void warn_of_load(const struct ifm_folder *folder)
{
    if (folder->plan->n_cells > 0 && ifm_was_loaded(folder->events))
        ifm_warn("other work ran beside this run, so that its shares are too small: measure again on a machine without "
                 "other work");
}

static void print_folder(const struct ifm_folder *folder, const struct ifm_given *given)
{
    struct ifm_text text = {0};
    struct ifm_listing_column shown[sizeof columns / sizeof columns[0]];
    memcpy(shown, columns, sizeof columns);
    shown[0].heading = folder->plan->n_cells > 1 ? "cell" : NULL;
    struct ifm_listing listing = ifm_listing_begin(shown, sizeof columns / sizeof columns[0], given->arena);
    const bool programs = is_of_programs(folder->plan);
    if (!programs)
        warn_of_load(folder);
    for (size_t c = 0; c < folder->plan->n_cells; c++)
        for (size_t a = 0; a < folder->plan->cells[c].n_arms; a++)
            if (folder->plan->cells[c].arms[a].role != IFM_ROLE_CEILING)
                add_arm(&listing, folder, &folder->plan->cells[c], &folder->plan->cells[c].arms[a]);
    if (programs)
        ifm_listing_remark(&listing, "What a program moves and computes is not known. `inferometer trace -- COMMAND` "
                                     "shows what it does on a GPU, `inferometer profile -- COMMAND` what limits its "
                                     "kernels; on a processor, `perf stat -- COMMAND`.");
    else if (listing.n_rows == 0)
        ifm_listing_remark(&listing, "This run measured ceilings alone: nothing else is limited.");
    if (!programs)
        ifm_listing_remark(&listing, ifm_arena_printf(given->arena,
                                                      "Shares overlap: each says how near the step is to one limit; "
                                                      "advice is given from %d %% on.",
                                                      WORTH_PERCENT));
    ifm_cli_listing(&listing, given->format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
}

/* One run folder, and nothing that stands for a program or a report of ncu alone. */
static enum ifm_status check_words(const struct ifm_given *given, struct ifm_error *error)
{
    if (given->n_words == 0)
        return ifm_fail(error, IFM_USAGE, "",
                        "such as `inferometer profile runs/DIR`, or `inferometer profile -- ./program`",
                        "profile needs a run folder, or a program");
    IFM_TRY(ifm_given_words(given, 1, "name one run folder", error));
    if (ifm_file_exists(given->words[0]) && !ifm_dir_exists(given->words[0]))
        return ifm_fail(error, IFM_USAGE, given->words[0], "inferometer profile --import FILE reads a report of ncu",
                        "not a run folder: it is no folder");
    IFM_TRY(ifm_ncu_refuse_choice(given, "a run folder", error));
    if (ifm_given_text(given, "all") != NULL || ifm_given_text(given, "csv") != NULL)
        return ifm_fail(error, IFM_USAGE, ifm_given_text(given, "all") != NULL ? "--all" : "--csv", "leave it out",
                        "it is of what ncu counts; a run folder has numbers of its own");
    return ifm_folder_check(given->words[0], false, error);
}

enum ifm_status ifm_cmd_profile(const struct ifm_given *given, struct ifm_error *error)
{
    struct ifm_folder folder;
    if (ifm_profile_is_of_program(given))
        return ifm_profile_program(given, error);
    IFM_TRY(check_words(given, error));
    enum ifm_status status = ifm_folder_open(given->words[0], &folder, error);
    if (status == IFM_OK)
        status = ifm_folder_check_plan(&folder, error);
    if (status == IFM_OK)
        print_folder(&folder, given);
    ifm_folder_close(&folder);
    return status;
}
