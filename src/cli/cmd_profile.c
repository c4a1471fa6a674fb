/* profile: what limits each arm of a run, the three largest shares first, with what to do. It only orders numbers that
 * the run derived; a share without a recorded source is named as absent, with its remedy. */
#include "cli/cli.h"
#include "cli/profile.h"
#include "publish/listing.h"
#include "story/folder.h"

#include "base/file.h"
#include "base/log.h"
#include "model/machine_facts.h"
#include "model/value.h"
#include <stdio.h>
#include <string.h>

/* Advice from WORTH_PERCENT on: below, all of a limit that is lifted gives less than a third. */
enum { TOP = 3, MOST = 4, LIKELY_PERCENT = 60, WORTH_PERCENT = 30 };

static const struct ifm_listing_column columns[] = {
    {"cell", NULL, true},      {"arm", "arm", true},  {"rank", NULL, false},  {"limit", "limit", true},
    {"share", "share", false}, {"of", "of", true},    {"from", "from", true}, {"metric", NULL, true},
    {"do", NULL, true},        {"surer", NULL, true}, {"reason", NULL, true}, {"remedy", NULL, true},
    {"", "notes", true},
};

/* What can limit a step: the metric that tells, and one that tells when it is absent. */
static const struct profile_limit {
    const char *name;
    bool of_cell, gpu; /* the number is the cell's; it is there on a GPU alone */
    const struct profile_source {
        enum ifm_metric_id metric; /* IFM_M_NONE = there is no second one */
        const char *of, *from, *surer;
    } sources[2];
    const char *advice;
} limits[] = {
    {"memory",
     false,
     false,
     {{IFM_M_DRAM_THROUGHPUT_PERCENT, "the memory's peak", "counters", ""},
      {IFM_M_CEILING_READ_PERCENT, "the read ceiling measured here", "ledger and time",
       "--counters on a GPU counts the bytes"}},
     "move fewer bytes: smaller formats, larger batches that share weights, data that stays in a cache"},
    {"arithmetic",
     false,
     false,
     {{IFM_M_CEILING_FLOPS_PERCENT, "the FLOP ceiling measured here", "ledger and time",
       "tensor_flops over ledger, by --counters, shows operations beyond the ledger's"},
      {IFM_M_NONE, "", "", ""}},
     "do fewer operations, or use units that do more of them: matrix units, a lower precision"},
    {"launch gaps",
     false,
     true,
     {{IFM_M_GPU_GAP_PERCENT, "the time of a step", "trace and time",
       "recorded kernels run up to some per cent longer, so that it is the least"},
      {IFM_M_GPU_IDLE_PERCENT, "the time of a recorded slot", "trace",
       "recording widens gaps: see trace_slower_percent"}},
     "launch less often: CUDA graphs over more steps, fused kernels, longer steps"},
    {"power cap",
     true,
     true,
     {{IFM_M_GPU_POWER_CAPPED_PERCENT, "the cell's time", "driver", ""}, {IFM_M_NONE, "", "", ""}},
     "the power limit lowers the clock: spend fewer joules (bytes, operations), or compare at a fixed clock"},
};
enum { LIMITS = sizeof limits / sizeof *limits };
_Static_assert((int)LIMITS == (int)MOST, "room for each limit");

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
        source->metric == IFM_M_NONE
            ? NULL
            : ifm_derived_find(folder->derived, cell->name, limit->of_cell ? "" : arm->name, source->metric);
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

/* "the read ceiling measured here (read.L2)": of a ceiling the value names its probe. */
static const char *share_of(const struct profile_share *share, struct ifm_arena *arena)
{
    const bool ceiling =
        share->source->metric == IFM_M_CEILING_READ_PERCENT || share->source->metric == IFM_M_CEILING_FLOPS_PERCENT;
    return ceiling && !ifm_is_empty(share->value->text)
               ? ifm_arena_printf(arena, "%s (%s)", share->source->of, share->value->text)
               : share->source->of;
}

static void add_share(struct ifm_listing *listing, const struct ifm_cell *cell, const struct ifm_arm *arm,
                      const struct profile_share *share, size_t rank, bool on_gpu)
{
    const struct profile_source *source = share->source;
    const char *surer = on_gpu ? source->surer : ""; /* what makes a share surer is a GPU's */
    begin_row(listing, cell, arm, share->limit);
    ifm_listing_set(listing, "rank", json_integer((json_int_t)rank), NULL);
    ifm_listing_set_value(listing, "share", share->value,
                          ifm_arena_printf(listing->arena, "%.1f %%", share->value->number));
    ifm_listing_set_text(listing, "of", share_of(share, listing->arena));
    ifm_listing_set_text(listing, "from", source->from);
    ifm_listing_set_text(listing, "metric", ifm_metrics[source->metric].id);
    ifm_listing_set_text(listing, "surer", surer);
    if (share->value->number < WORTH_PERCENT)
        return;
    ifm_listing_set_text(listing, "do", share->limit->advice);
    ifm_listing_show(
        listing, "notes",
        ifm_arena_printf(
            listing->arena, "[%zu]",
            ifm_listing_note(listing, ifm_arena_printf(listing->arena, "%s: %s.%s%s%s", share->limit->name,
                                                       share->limit->advice, surer[0] == '\0' ? "" : " Surer: ", surer,
                                                       surer[0] == '\0' ? "" : "."))));
}

static void add_missing(struct ifm_listing *listing, const struct ifm_cell *cell, const struct ifm_arm *arm,
                        const struct profile_share *share)
{
    begin_row(listing, cell, arm, share->limit);
    ifm_listing_set(listing, "share", json_null(), "absent");
    if (share->value == NULL && arm->ledger.flops == 0 && arm->ledger.bytes_read == 0 && !share->limit->gpu)
        ifm_listing_absent(listing, "nobody says how many bytes and operations it takes", "");
    else if (share->value == NULL)
        ifm_listing_absent(listing, "this run has no number of it",
                           share->limit->gpu ? "measure with --trace, on a GPU" : "measure with --ceilings read,flops");
    else
        ifm_listing_absent(listing, share->value->reason, share->value->remedy);
}

/* Of a program nobody says what a step moves and computes: what looks into one does. */
static bool is_of_programs(const struct ifm_plan *plan)
{
    return plan->n_cells > 0 && strcmp(plan->cells[0].workload, "command") == 0;
}

static void add_arm(struct ifm_listing *listing, const struct ifm_folder *folder, const struct ifm_cell *cell,
                    const struct ifm_arm *arm)
{
    struct profile_share found[MOST], share;
    const bool on_gpu = folder->plan->device != NULL && strcmp(folder->plan->device, "cuda") == 0;
    size_t n = 0;
    for (size_t i = 0; i < LIMITS; i++)
        if ((on_gpu || !limits[i].gpu) && find_share(folder, cell, arm, &limits[i], &share)) {
            size_t at = n++;
            for (; at > 0 && found[at - 1].value->number < share.value->number; at--)
                found[at] = found[at - 1];
            found[at] = share;
        }
    for (size_t i = 0; i < n && i < TOP; i++)
        add_share(listing, cell, arm, &found[i], i + 1, on_gpu);
    for (size_t i = 0; i < LIMITS; i++)
        if ((on_gpu || !limits[i].gpu) && !find_share(folder, cell, arm, &limits[i], &share))
            add_missing(listing, cell, arm, &share);
    if (!is_of_programs(folder->plan) && (n == 0 || found[0].value->number < LIKELY_PERCENT))
        ifm_listing_remark(listing,
                           on_gpu ? "Where no share is large, what a step waits for is not measured here. Surer: "
                                    "occupancy, stalls and bank conflicts by `inferometer profile --nvtx latency/ARM/ "
                                    "--launch-count 10 -- COMMAND`, with the command of this run."
                                  : "Where no share is large, what a step waits for is not measured here. Surer: "
                                    "`inferometer cachegrind` for its accesses, perf for its instructions.");
}

/* Shares of a disturbed run are too small: that comes before them. */
static void warn_of_load(const struct ifm_folder *folder, struct ifm_arena *arena)
{
    const struct ifm_cell *cell = folder->plan->n_cells > 0 ? &folder->plan->cells[0] : NULL;
    if (cell != NULL && ifm_was_loaded(folder->events))
        ifm_warn("other work ran beside this run, so that its shares are too small: %s, and measure again",
                 ifm_quiet_remedy(folder->events, cell->workload, cell->threads, arena));
}

enum ifm_status ifm_cmd_profile(const struct ifm_given *given, struct ifm_error *error)
{
    struct ifm_folder folder;
    struct ifm_text text = {0};
    if (ifm_profile_is_of_program(given))
        return ifm_profile_program(given, error);
    if (given->n_words == 0)
        return ifm_fail(error, IFM_USAGE, "",
                        "such as `inferometer profile runs/DIR`, or `inferometer profile -- ./program`",
                        "profile needs a run folder, or a program");
    IFM_TRY(ifm_given_words(given, 1, "name one run folder", error));
    IFM_TRY(ifm_folder_check(given->words[0], false, error));
    enum ifm_status status = ifm_folder_open(given->words[0], &folder, error);
    if (status == IFM_OK)
        status = ifm_folder_check_lock(&folder, error);
    if (status == IFM_OK) {
        struct ifm_listing_column shown[sizeof columns / sizeof columns[0]];
        memcpy(shown, columns, sizeof columns);
        shown[0].heading = folder.plan->n_cells > 1 ? "cell" : NULL;
        struct ifm_listing listing = ifm_listing_begin(shown, sizeof columns / sizeof columns[0], given->arena);
        const bool programs = is_of_programs(folder.plan);
        if (!programs)
            warn_of_load(&folder, given->arena);
        for (size_t c = 0; c < folder.plan->n_cells; c++)
            for (size_t a = 0; a < folder.plan->cells[c].n_arms; a++)
                if (folder.plan->cells[c].arms[a].role != IFM_ROLE_CEILING)
                    add_arm(&listing, &folder, &folder.plan->cells[c], &folder.plan->cells[c].arms[a]);
        if (programs)
            ifm_listing_remark(&listing,
                               "What a program moves and computes is not known. `inferometer trace -- COMMAND` "
                               "shows what it does on a GPU, `inferometer profile -- COMMAND` what limits its "
                               "kernels; on a processor, `perf stat -- COMMAND`.");
        else if (listing.n_rows == 0)
            ifm_listing_remark(&listing, "This run measured ceilings alone: nothing else is limited.");
        if (!programs)
            ifm_listing_remark(&listing, ifm_arena_printf(given->arena,
                                                          "Shares overlap: each says how near the step is to one "
                                                          "limit; advice is given from %d %% on.",
                                                          WORTH_PERCENT));
        ifm_listing_compose(&listing, given->format, &text);
        ifm_cli_print(&text, stdout);
        ifm_listing_end(&listing);
    }
    ifm_folder_close(&folder);
    return status;
}
