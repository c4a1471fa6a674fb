/* compare: arms of one run, or whole runs. It exits 0 whatever it finds in runs that are as they were recorded; `gate`
 * is for pipelines. */
#include "cli/cli.h"

#include "base/file.h"
#include "model/machine_facts.h"
#include "model/plan_json.h"
#include "publish/changed.h"
#include "sample/journal.h"
#include "story/folder.h"
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 4 * IFM_MOST_ARMS, MOST_SETTINGS = 512 };

static bool is_run_folder(const char *dir, struct ifm_arena *arena)
{
    return ifm_file_exists(ifm_path_join(arena, dir, "config.lock.json"));
}

static void print_listing(struct ifm_listing *listing, enum ifm_format format, const char *nothing)
{
    struct ifm_text text = {0};
    ifm_cli_listing(listing, format, &text);
    if (text.size == 0 && (format == IFM_FORMAT_TABLE || format == IFM_FORMAT_MD))
        printf("nothing to compare: %s\n", nothing);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(listing);
}

/* ---- names ---- */

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Distinct names of the arms; ceilings are limits of the machine, compared only when named. */
static size_t list_arms(const struct ifm_plan *plan, bool ceilings, const char **names)
{
    size_t n = 0;
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms && n < MOST_NAMES; a++) {
            const struct ifm_arm *arm = &plan->cells[c].arms[a];
            if ((ceilings || arm->role != IFM_ROLE_CEILING) && !is_among(arm->name, names, n))
                names[n++] = arm->name;
        }
    return n;
}

/* --cell names a cell of the plan. */
static enum ifm_status check_cell(const struct ifm_plan *plan, const struct ifm_given *given, struct ifm_error *error)
{
    const char **names = IFM_ARENA_ARRAY(given->arena, const char *, plan->n_cells + 1);
    const char *cell = ifm_given_text(given, "cell");
    for (size_t c = 0; c < plan->n_cells; c++)
        names[c] = plan->cells[c].name;
    if (cell == NULL || is_among(cell, names, plan->n_cells))
        return IFM_OK;
    return ifm_arguments_unknown("cell", cell, names, plan->n_cells, error);
}

/* What looks like a folder, where an arm could stand too. */
static enum ifm_status no_folder(const char *word, struct ifm_error *error)
{
    ifm_fail(error, IFM_USAGE, word, "",
             ifm_file_exists(word) ? "it is no folder, and the run has no arm of that name"
                                   : "there is no such folder, and the run has no arm of that name");
    return ifm_folder_hint(word, error);
}

static enum ifm_status check_arms(const struct ifm_plan *plan, const char *const *arms, size_t n,
                                  struct ifm_arena *arena, struct ifm_error *error)
{
    const char **known = IFM_ARENA_ARRAY(arena, const char *, MOST_NAMES);
    size_t n_known = list_arms(plan, true, known);
    for (size_t i = 0; i < n; i++) {
        if (is_among(arms[i], arms, i))
            return ifm_fail(error, IFM_USAGE, "", "name each arm once", "arm \"%s\" is named twice", arms[i]);
        if (is_among(arms[i], known, n_known))
            continue;
        enum ifm_status status = ifm_arguments_unknown("arm", arms[i], known, n_known, error);
        if (ifm_dir_exists(arms[i]))
            ifm_error_hint(error, "it is a folder, but no run folder: it has no config.lock.json");
        else if (strchr(arms[i], '/') != NULL)
            status = no_folder(arms[i], error);
        return status;
    }
    return IFM_OK;
}

/* ---- inside a run ---- */

static bool has_arm(const struct ifm_cell *cell, const char *name)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (strcmp(cell->arms[a].name, name) == 0)
            return true;
    return false;
}

static void add_absent(struct ifm_listing *listing, const struct ifm_derived *derived, const char *cell,
                       const char *arm, const char *reference, const char *reason)
{
    struct ifm_value absent = {.state = IFM_STATE_ABSENT, .reason = reason, .remedy = "", .text = "", .n_of = ""};
    ifm_comparison_add(listing, &(struct ifm_comparison_row){.run = derived->run_id,
                                                             .reference_run = derived->run_id,
                                                             .cell = cell,
                                                             .arm = arm,
                                                             .reference = reference,
                                                             .metric = IFM_M_STEP_NS,
                                                             .change = absent,
                                                             .speedup = absent,
                                                             .mde = absent,
                                                             .word = "",
                                                             .not_comparable = "",
                                                             .label = "",
                                                             .reference_label = ""});
}

/* A named arm that cannot be compared gets a row with the reason. */
static void add_missing(struct ifm_listing *listing, const struct ifm_plan *plan, const struct ifm_derived *derived,
                        const char *only, const char *const *arms, size_t n)
{
    for (size_t c = 0; c < plan->n_cells; c++) {
        const struct ifm_cell *cell = &plan->cells[c];
        if (only != NULL && strcmp(only, cell->name) != 0)
            continue;
        if (cell->n_arms == 0)
            add_absent(listing, derived, cell->name, "", n > 0 ? arms[0] : "", cell->unsupported);
        for (size_t i = 1; i < n && cell->n_arms > 0; i++) {
            const char *reason = !has_arm(cell, arms[0]) ? "the cell has no such reference"
                                 : !has_arm(cell, arms[i])
                                     ? "the cell has no such arm"
                                     : "a ceiling (a limit of the machine) and an arm are not compared";
            if (ifm_derived_find(derived, cell->name, arms[i], IFM_M_CHANGE_PERCENT) == NULL)
                add_absent(listing, derived, cell->name, arms[i], arms[0], reason);
        }
    }
}

static enum ifm_status compare_arms(const struct ifm_given *given, struct ifm_error *error)
{
    const char *dir = given->words[0], *cell = ifm_given_text(given, "cell");
    struct ifm_plan *plan;
    struct ifm_derived *derived;
    const char **arms = IFM_ARENA_ARRAY(given->arena, const char *, MOST_NAMES);
    size_t n = given->n_words - 1;
    if (ifm_given_text(given, "varies") != NULL)
        return ifm_fail(error, IFM_USAGE, "--varies", "the arms of one run state their differences themselves",
                        "only for comparisons between runs");
    if (ifm_given_text(given, "across-devices") != NULL)
        return ifm_fail(error, IFM_USAGE, "--across-devices", "name two run folders, one of each device",
                        "the arms of one run are all on one device");
    IFM_TRY(ifm_folder_check(dir, false, error));
    IFM_TRY(ifm_plan_read(dir, given->arena, &plan, error));
    IFM_TRY(check_cell(plan, given, error));
    IFM_TRY(check_arms(plan, given->words + 1, n, given->arena, error));
    for (size_t i = 0; i < n && i < MOST_NAMES; i++)
        arms[i] = given->words[1 + i];
    if (n == 1) { /* a reference alone: every other arm against it */
        const char *all[MOST_NAMES];
        size_t n_all = list_arms(plan, false, all);
        for (size_t i = 0; i < n_all && n < MOST_NAMES; i++)
            if (strcmp(all[i], arms[0]) != 0)
                arms[n++] = all[i];
    }
    const struct ifm_wish wish = {.compared = n > 0 ? arms : NULL, .n_compared = n};
    IFM_TRY(ifm_folder_derive(dir, &wish, given->arena, &plan, &derived, error));
    struct ifm_listing listing = ifm_comparison_begin(given->arena);
    ifm_comparison_add_run(&listing, plan, derived, ifm_judge(plan, derived, given->arena), cell,
                           n > 0 ? arms[0] : NULL);
    add_missing(&listing, plan, derived, cell, arms, n);
    const bool is_empty = listing.n_rows == 0;
    if (is_empty)
        ifm_listing_end(&listing);
    else
        print_listing(&listing, given->format, "");
    return !is_empty ? IFM_OK
                     : ifm_fail(error, IFM_USAGE, dir,
                                "name a second run folder, or measure a variant beside it, such as --formats f16,int8",
                                "no cell has an arm beside its baseline: there is nothing to compare");
}

/* ---- between runs ---- */

/* --varies with a setting that no run has is an error: otherwise the comparison would look as if the setting had no
 * effect. */
enum ifm_status ifm_check_varies(const char *varies, const struct ifm_folder *const *folders, size_t n_folders,
                                 struct ifm_arena *arena, struct ifm_error *error)
{
    const char **known = IFM_ARENA_ARRAY(arena, const char *, MOST_SETTINGS), *key;
    char *save = NULL, *list = varies == NULL ? NULL : ifm_arena_strdup(arena, varies);
    size_t n = 0;
    json_t *value;
    if (varies == NULL)
        return IFM_OK;
    for (size_t i = 0; i < n_folders; i++)
        json_object_foreach(json_object_get(folders[i]->lock, "parameters"), key, value)
        {
            if (n < MOST_SETTINGS && !is_among(key, known, n))
                known[n++] = key;
        }
    for (char *item = strtok_r(list, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save)) {
        if (is_among(item, known, n))
            continue;
        enum ifm_status status = ifm_arguments_unknown("setting", item, known, n, error);
        for (size_t i = 0; i < n && strchr(item, '.') == NULL; i++) {
            const char *dot = strrchr(known[i], '.');
            if (dot != NULL && strcmp(dot + 1, item) == 0)
                ifm_error_hint(error, "type --varies %s", known[i]);
        }
        return status;
    }
    return IFM_OK;
}

static enum ifm_status check_varies(const struct ifm_given *given, const struct ifm_folder *folders,
                                    struct ifm_error *error)
{
    const struct ifm_folder **all = IFM_ARENA_ARRAY(given->arena, const struct ifm_folder *, given->n_words);
    for (size_t i = 0; i < given->n_words; i++)
        all[i] = &folders[i];
    return ifm_check_varies(ifm_given_text(given, "varies"), all, given->n_words, given->arena, error);
}

/* "a, b, c and 2 more" */
static const char *list_names(const char *const *names, size_t n, struct ifm_arena *arena)
{
    enum { SHOWN = 3 };
    const char *text = "";
    for (size_t i = 0; i < n && i < SHOWN; i++)
        text = ifm_arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ", names[i]);
    return n <= SHOWN ? text : ifm_arena_printf(arena, "%s and %zu more", text, n - SHOWN);
}

static const char *list_cells(const struct ifm_plan *plan, struct ifm_arena *arena)
{
    const char **names = IFM_ARENA_ARRAY(arena, const char *, plan->n_cells + 1);
    for (size_t i = 0; i < plan->n_cells; i++)
        names[i] = plan->cells[i].name;
    return list_names(names, plan->n_cells, arena);
}

static const char *list_of_arms(const struct ifm_plan *plan, struct ifm_arena *arena)
{
    const char **names = IFM_ARENA_ARRAY(arena, const char *, MOST_NAMES);
    return list_names(names, list_arms(plan, false, names), arena);
}

/* An arm that both cells have; ceilings are limits of the machine. */
static bool has_common_arm(const struct ifm_cell *one, const struct ifm_cell *other)
{
    for (size_t a = 0; a < one->n_arms; a++)
        if (one->arms[a].role != IFM_ROLE_CEILING && has_arm(other, one->arms[a].name))
            return true;
    return one->n_arms == 0 || other->n_arms == 0; /* a device that cannot run it: its row says so */
}

/* Runs of different work have no row to show, however long the table of what is absent. */
static enum ifm_status check_common(const struct ifm_given *given, const struct ifm_folder *folders, size_t other,
                                    struct ifm_error *error)
{
    const struct ifm_plan *first = folders[0].plan, *second = folders[other].plan;
    const char *only = ifm_given_text(given, "cell"), *shared = NULL;
    for (size_t i = 0; i < second->n_cells; i++) {
        const struct ifm_cell *cell = &second->cells[i], *its = ifm_plan_cell(first, cell->name);
        if (its == NULL || (only != NULL && strcmp(only, cell->name) != 0))
            continue;
        if (has_common_arm(its, cell))
            return IFM_OK;
        shared = cell->workload;
    }
    if (shared == NULL)
        return ifm_fail(
            error, IFM_USAGE, given->words[other],
            "runs are compared cell by cell: measure the same again (inferometer rerun DIR), or put both into one "
            "study and compare its arms",
            "it measured %s, and %s measured %s: no cell is in both", list_cells(second, given->arena), given->words[0],
            list_cells(first, given->arena));
    return ifm_fail(error, IFM_USAGE, given->words[other],
                    strcmp(shared, "command") == 0
                        ? "arms are compared by name: `inferometer exec OLD NEW` measures both in one run, which "
                          "decides best; or give both runs the same names with --name"
                        : "arms are compared by name: measure both in one run, or the same arms again (inferometer "
                          "rerun DIR)",
                    "it has the arms %s, and %s has %s: no arm is in both", list_of_arms(second, given->arena),
                    given->words[0], list_of_arms(first, given->arena));
}

static enum ifm_status open_runs(const struct ifm_given *given, struct ifm_folder *folders, struct ifm_error *error)
{
    for (size_t i = 0; i < given->n_words; i++) {
        if (!is_run_folder(given->words[i], given->arena))
            return ifm_fail(error, IFM_USAGE, given->words[i],
                            "compare DIR A B compares arms of one run, compare DIR1 DIR2 runs; not both",
                            "not a run folder, as the second one is");
        IFM_TRY(ifm_folder_check(given->words[i], false, error));
        IFM_TRY(ifm_folder_open(given->words[i], &folders[i], error));
        IFM_TRY(ifm_folder_check_plan(&folders[i], error));
    }
    for (size_t i = 0; i < given->n_words; i++)
        IFM_TRY(check_cell(folders[i].plan, given, error));
    for (size_t i = 1; i < given->n_words; i++)
        if (strcmp(folders[i].plan->run_id, folders[0].plan->run_id) == 0)
            return ifm_fail(error, IFM_USAGE, given->words[i], "name another run, or compare its arms: compare DIR",
                            "it is the same run as %s", given->words[0]);
    for (size_t i = 1; i < given->n_words; i++)
        IFM_TRY(check_common(given, folders, i, error));
    return check_varies(given, folders, error);
}

static const char *script_of(const struct ifm_plan *plan)
{
    const char *text = plan->n_cells > 0 && plan->cells[0].n_arms > 0
                           ? ifm_arm_setting(&plan->cells[0].arms[0], "device.script")
                           : NULL;
    return text == NULL ? "" : text;
}

/* Of one device every number is compared without the flag, which leaves all but shares of ceilings out. The script is
 * the fake device's machine. */
static void say_same_device(struct ifm_listing *listing, const struct ifm_run_view *a, const struct ifm_run_view *b)
{
    const char *one = ifm_machine_measured(a->events, a->plan->device),
               *other = ifm_machine_measured(b->events, b->plan->device);
    const bool fake = strcmp(a->plan->device, "fake") == 0;
    if (strcmp(a->plan->device, b->plan->device) != 0 || strcmp(one, other) != 0 || (one[0] == '\0' && !fake) ||
        (fake && strcmp(script_of(a->plan), script_of(b->plan)) != 0))
        return;
    ifm_listing_remark(listing, ifm_arena_printf(listing->arena,
                                                 "note: both runs are of %s: without --across-devices they compare "
                                                 "fully",
                                                 fake ? "the fake device" : one));
}

static bool has_more_is_better(const struct ifm_listing *listing)
{
    return ifm_listing_shows(listing, "of", "share of the ") || ifm_listing_shows(listing, "of", "speed-up");
}

static bool has_change(const struct ifm_listing *listing)
{
    return ifm_listing_shows(listing, "change", "+") || ifm_listing_shows(listing, "change", "-");
}

/* What a table of runs leaves out, and why a time without a word has none. */
static void say_where_more_is(struct ifm_listing *listing, const struct ifm_given *given)
{
    for (size_t i = 0; i < listing->n_notes; i++)
        if (strncmp(listing->notes[i], "not comparable: ", 16) == 0) {
            ifm_listing_remark(listing, "not comparable: what is named differs between the runs or was not fixed, and "
                                        "alone may change a time; ratios inside each run are judged all the same");
            break;
        }
    if (has_more_is_better(listing))
        ifm_listing_remark(listing, "more is better of a speed-up and of a share of a ceiling, less of all else; files "
                                    "(--format csv, json) hold every change as one of time: less is better");
    if (listing->n_rows > 0)
        ifm_listing_remark(listing,
                           ifm_arena_printf(listing->arena, "notes of each run: inferometer report %s --verbose",
                                            given->words[given->n_words - 1]));
}

/* What is found of each run, in lines of the terminal. */
static void print_sentences(struct ifm_text *sentences)
{
    struct ifm_text out = {0};
    char *rest = sentences->data;
    for (char *line = strsep(&rest, "\n"); line != NULL && rest != NULL; line = strsep(&rest, "\n")) {
        ifm_text_wrap(&out, line, ifm_cli_width(), 0, 0);
        ifm_text_add(&out, "\n");
    }
    ifm_text_add(&out, out.size > 0 ? "\n" : "");
    ifm_cli_print(&out, stdout);
    ifm_text_free(sentences);
}

static bool decides(const struct ifm_listing *listing)
{
    static const char *const words[] = {"faster", "slower", "nearer", "farther"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ifm_listing_shows(listing, "result", words[i]))
            return true;
    return false;
}

static void list_runs(const struct ifm_given *given, const struct ifm_folder *folders)
{
    const struct ifm_between_wish wish = {.cell = ifm_given_text(given, "cell"),
                                          .varies = ifm_given_text(given, "varies"),
                                          .across = ifm_given_text(given, "across-devices") != NULL};
    const bool brief = given->format == IFM_FORMAT_TABLE && ifm_given_text(given, "verbose") == NULL;
    struct ifm_listing listing = brief ? ifm_changed_begin(given->arena) : ifm_comparison_begin_runs(given->arena);
    struct ifm_run_view reference = {folders[0].plan, folders[0].derived, folders[0].events};
    struct ifm_text sentences = {0};
    for (size_t i = 1; i < given->n_words; i++) {
        struct ifm_run_view other = {folders[i].plan, folders[i].derived, folders[i].events};
        struct ifm_between between;
        ifm_between(&reference, &other, &wish, given->arena, &between);
        const struct ifm_comparison_runs runs = {&reference, &other, ifm_path_base(given->words[0]),
                                                 ifm_path_base(given->words[i])};
        if (brief)
            ifm_changed_add(&listing, &runs, &between, given->n_words > 2, &sentences);
        else
            ifm_comparison_add_between(&listing, &runs, &between);
        if (wish.across)
            say_same_device(&listing, &reference, &other);
    }
    if (brief)
        print_sentences(&sentences);
    else
        say_where_more_is(&listing, given);
    if (brief && !wish.across && decides(&listing))
        ifm_listing_remark(&listing,
                           "an interval covers its two runs alone, and other runs of the same code may "
                           "differ by more: measure old and new in one run, or each again with rerun --times 5");
    if (brief && listing.n_rows > 0)
        ifm_listing_remark(&listing, has_more_is_better(&listing) && has_change(&listing)
                                         ? "of a speed-up or a share + is better; every number, with notes: --verbose"
                                         : "every number, with notes: --verbose");
    print_listing(&listing, given->format,
                  wish.across ? "no arm of both runs has a share of a measured ceiling: programs have none, and "
                                "kernels have one unless --ceilings none"
                              : "no cell has an arm beside its baseline");
}

static enum ifm_status compare_runs(const struct ifm_given *given, struct ifm_error *error)
{
    struct ifm_folder *folders = IFM_ARENA_ARRAY(given->arena, struct ifm_folder, given->n_words);
    enum ifm_status status = open_runs(given, folders, error);
    if (status == IFM_OK)
        list_runs(given, folders);
    for (size_t i = 0; i < given->n_words; i++)
        ifm_folder_close(&folders[i]);
    return status;
}

enum ifm_status ifm_cmd_compare(const struct ifm_given *given, struct ifm_error *error)
{
    if (given->n_words == 0) {
        ifm_fail(error, IFM_USAGE, "", "", "compare needs a run folder");
        return ifm_folder_hint(NULL, error);
    }
    if (given->n_words > 1 && is_run_folder(given->words[1], given->arena))
        return compare_runs(given, error);
    return compare_arms(given, error);
}
