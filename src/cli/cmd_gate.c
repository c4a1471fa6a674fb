/* gate: one exit code for a pipeline, from the run's own gates or from a reference run. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/text.h"
#include "document/escape.h"
#include "document/trust.h"
#include "publish/junit.h"
#include "story/folder.h"
#include <stdio.h>
#include <string.h>

struct gate_request {
    const char *dir, *against, *varies, *gates, *junit, *markdown;
    enum ifm_format format;
    struct ifm_arena *arena;
    struct ifm_folder folder, reference; /* both stay open: lines borrow their texts */
    struct ifm_config *presets;          /* so does this */
};

/* The gates of the presets, as a configuration would hold them; they live in request->presets. */
static enum ifm_status expand_presets(struct gate_request *request, const struct ifm_study **out,
                                      struct ifm_error *error)
{
    bool known = false;
    request->presets = ifm_story_config();
    IFM_TRY(ifm_config_flag(request->presets, NULL, "gates", request->gates, &known, error));
    IFM_TRY(ifm_config_override(request->presets, "workload=null", error)); /* any workload: only the gates are used */
    IFM_TRY(ifm_config_resolve(request->presets, error));
    *out = ifm_config_study(request->presets);
    return IFM_OK;
}

/* The gates of the presets that the run does not have already. */
static enum ifm_status add_presets(struct gate_request *request, struct ifm_gate **extra, size_t *n,
                                   struct ifm_error *error)
{
    const struct ifm_study *study;
    const struct ifm_plan *plan = request->folder.plan;
    IFM_TRY(expand_presets(request, &study, error));
    *extra = IFM_ARENA_ARRAY(request->arena, struct ifm_gate, study->n_gates + 1);
    for (size_t i = 0; i < study->n_gates; i++) {
        const struct ifm_gate *gate = &study->gates[i];
        size_t own = 0;
        while (own < plan->n_gates && strcmp(plan->gates[own].name, gate->name) != 0)
            own++;
        if (own == plan->n_gates)
            (*extra)[(*n)++] = *gate;
        else if (!ifm_gate_asks_the_same(&plan->gates[own], gate))
            return ifm_fail(error, IFM_USAGE, "--gates", "leave the preset out; the run is judged by its own gate",
                            "the run has another gate named '%s'", gate->name);
    }
    return IFM_OK;
}

/* The run's own gates and those of the presets, judged together. The run is derived again, because some numbers are
 * derived only when a gate needs them. */
static enum ifm_status judge_all(struct gate_request *request, struct ifm_verdict **out, struct ifm_error *error)
{
    struct ifm_plan *plan;
    struct ifm_derived *derived;
    struct ifm_gate *extra = NULL;
    size_t n = 0;
    if (request->gates == NULL) {
        *out = request->folder.verdict;
        return IFM_OK;
    }
    IFM_TRY(add_presets(request, &extra, &n, error));
    const struct ifm_wish wish = {.gates = extra, .n_gates = n};
    IFM_TRY(ifm_folder_derive(request->dir, &wish, request->arena, &plan, &derived, error));
    *out = ifm_judge(plan, derived, request->arena);
    return IFM_OK;
}

/* A preset that a number of the run answers, where there is one. */
static enum ifm_status without_gates(const struct gate_request *request, struct ifm_error *error)
{
    const struct ifm_derived *derived = request->folder.derived;
    size_t i = 0;
    while (i < derived->n_numbers && derived->numbers[i].metric != IFM_M_CHANGE_PERCENT)
        i++;
    ifm_fail(error, IFM_USAGE, request->dir,
             "it compares nothing either: measure a baseline beside the arm, and add --gates no-regression=3%",
             "the run has no gates: nothing can pass");
    if (i < derived->n_numbers)
        ifm_error_hint(
            error,
            "`inferometer gate %s --gates no-regression=3%%` judges it; --against OTHER-RUN compares it with "
            "another run",
            request->dir);
    return IFM_USAGE;
}

static enum ifm_status own_lines(struct gate_request *request, struct ifm_gate_lines *lines,
                                 struct ifm_verdict **verdict, struct ifm_error *error)
{
    IFM_TRY(judge_all(request, verdict, error));
    if ((*verdict)->n_gates == 0 && (*verdict)->exit_code == IFM_OK)
        return without_gates(request, error);
    const struct ifm_run_view run = {request->folder.plan, request->folder.derived, request->folder.events};
    ifm_gate_lines_run(&run, *verdict, request->arena, lines);
    return IFM_OK;
}

static enum ifm_status reference_lines(struct gate_request *request, struct ifm_gate_lines *lines,
                                       struct ifm_error *error)
{
    IFM_TRY(ifm_folder_check(request->against, false, error));
    IFM_TRY(ifm_folder_open(request->against, &request->reference, error));
    IFM_TRY(ifm_folder_check_plan(&request->reference, error));
    struct ifm_run_view there = {request->reference.plan, request->reference.derived, request->reference.events};
    struct ifm_run_view here = {request->folder.plan, request->folder.derived, request->folder.events};
    if (strcmp(here.plan->run_id, there.plan->run_id) == 0)
        return ifm_fail(error, IFM_USAGE, request->against, "name another run as the reference",
                        "this is the run to be judged itself");
    const struct ifm_folder *const both[] = {&request->reference, &request->folder};
    IFM_TRY(ifm_check_varies(request->varies, both, 2, request->arena, error));
    struct ifm_between between;
    const struct ifm_between_wish wish = {.varies = request->varies};
    ifm_between(&there, &here, &wish, request->arena, &between);
    ifm_gate_lines_between(&between, ifm_path_base(request->against), request->arena, lines);
    const struct ifm_comparison_runs runs = {&there, &here, ifm_path_base(request->against),
                                             ifm_path_base(request->dir)};
    ifm_gate_lines_distrust(lines, &runs, request->arena);
    if (lines->n == 0)
        ifm_gate_lines_block(lines, request->arena, "against the reference",
                             "the runs have no ratio of interleaved arms in common, and absolute times of separate "
                             "runs are not compared: in both, measure a baseline with its variant, or a ceiling, in "
                             "the same cell");
    return IFM_OK;
}

/* A run without gates whose numbers nobody should use has a line that blocks. */
static const char *outcome_of(const struct ifm_verdict *verdict, const struct ifm_gate_lines *lines)
{
    bool own = verdict != NULL && verdict->outcome != IFM_OUTCOME_NOT_GATED;
    return ifm_outcome_name(own ? verdict->outcome : ifm_gate_lines_outcome(lines));
}

/* Beside an answer, what weakens the numbers that it rests on; "" where it is no answer, whose reason says why, or
 * nothing does. */
static const char *doubt_of(const struct ifm_gate_lines *lines, const struct ifm_trust *trust, struct ifm_arena *arena)
{
    const enum ifm_outcome outcome = ifm_gate_lines_outcome(lines);
    const bool answers = outcome == IFM_OUTCOME_PASS || outcome == IFM_OUTCOME_FAIL;
    return !answers || trust->word == IFM_TRUST_SOLID
               ? ""
               : ifm_arena_printf(arena, "trust: %s", ifm_text_plain(ifm_trust_words(trust, arena), arena));
}

/* Write `text` to the file, or to standard output for "-", and free it. */
static enum ifm_status write_text(const char *path, struct ifm_text *text, struct ifm_error *error)
{
    enum ifm_status status = IFM_OK;
    if (strcmp(path, "-") != 0) {
        status = ifm_file_write_named(path, text->data, text->size, error);
        ifm_text_clear(text);
    }
    ifm_cli_print(text, stdout);
    return status;
}

static enum ifm_status write_files(const struct gate_request *request, const struct ifm_gate_lines *lines,
                                   const struct ifm_listing *listing, const char *outcome, const char *doubt,
                                   struct ifm_error *error)
{
    struct ifm_text junit = {0}, markdown = {0};
    if (request->junit != NULL) {
        ifm_gate_lines_junit(lines, request->folder.plan->run_id, &junit);
        IFM_TRY(write_text(request->junit, &junit, error));
    }
    if (request->markdown == NULL)
        return IFM_OK;
    ifm_text_printf(&markdown, "**inferometer gate: %s**\n\n", outcome); /* the outcome first, for a pull request */
    if (doubt[0] != '\0')
        ifm_escape_print(ifm_escape_markdown, &markdown, "%s\n\n", doubt);
    ifm_listing_compose(listing, IFM_FORMAT_MD, &markdown);
    return write_text(request->markdown, &markdown, error);
}

/* Whether a reason of the verdict stands in the table, or below it, already. */
static bool is_of_a_line(const struct ifm_gate_lines *lines, const char *reason)
{
    for (size_t i = 0; i < lines->n; i++) {
        const char *caveat = lines->items[i].caveat;
        if (strstr(reason, lines->items[i].reason) != NULL || (!ifm_is_empty(caveat) && strcmp(reason, caveat) == 0))
            return true;
    }
    return false;
}

/* A file written to standard output replaces the table. */
static void print_lines(const struct gate_request *request, const struct ifm_gate_lines *lines,
                        struct ifm_listing *listing, const struct ifm_verdict *verdict, const char *outcome,
                        const char *doubt)
{
    bool taken = (request->junit != NULL && strcmp(request->junit, "-") == 0) ||
                 (request->markdown != NULL && strcmp(request->markdown, "-") == 0);
    if (taken)
        return;
    struct ifm_text text = {0};
    if (request->format == IFM_FORMAT_TABLE)
        ifm_text_printf(&text, "%s\n", outcome);
    for (size_t i = 0; request->format == IFM_FORMAT_TABLE && verdict != NULL && i < verdict->n_reasons; i++)
        if (!is_of_a_line(lines, verdict->reasons[i])) {
            ifm_text_add(&text, "  ");
            ifm_text_wrap(&text, ifm_cli_typed(verdict->reasons[i], request->arena), ifm_cli_width(), 2, 2);
            ifm_text_add(&text, "\n");
        }
    if (request->format == IFM_FORMAT_TABLE && doubt[0] != '\0') {
        ifm_text_add(&text, "  ");
        ifm_text_wrap(&text, doubt, ifm_cli_width(), 2, 2);
        ifm_text_add(&text, "\n");
    }
    if (request->format == IFM_FORMAT_TABLE && listing->n_rows > 0)
        ifm_text_add(&text, "\n");
    ifm_cli_listing(listing, request->format, &text);
    ifm_cli_print(&text, stdout);
}

static enum ifm_status gate(struct gate_request *request, struct ifm_error *error)
{
    struct ifm_gate_lines lines = {0};
    struct ifm_verdict *verdict = NULL;
    IFM_TRY(ifm_folder_check(request->dir, false, error));
    IFM_TRY(ifm_folder_open(request->dir, &request->folder, error));
    IFM_TRY(ifm_folder_check_plan(&request->folder, error));
    if (request->against != NULL)
        IFM_TRY(reference_lines(request, &lines, error));
    else
        IFM_TRY(own_lines(request, &lines, &verdict, error));
    struct ifm_publication judged_by = request->folder.publication;
    judged_by.verdict = verdict != NULL ? verdict : judged_by.verdict;
    const struct ifm_trust trust = ifm_trust_of(&judged_by, request->arena);
    lines.trust = ifm_trust_words(&trust, request->arena);
    const char *doubt = doubt_of(&lines, &trust, request->arena);
    enum ifm_status judged = verdict != NULL ? verdict->exit_code : ifm_gate_lines_status(&lines);
    const char *outcome = outcome_of(verdict, &lines);
    struct ifm_listing listing = ifm_gate_lines_listing(&lines, request->arena);
    listing.members = json_pack("{s:s, s:i, s:s}", "outcome", outcome, "exit_code", (int)judged, "trust",
                                ifm_trust_label(trust.word));
    enum ifm_status status = write_files(request, &lines, &listing, outcome, doubt, error);
    if (status == IFM_OK)
        print_lines(request, &lines, &listing, verdict, outcome, doubt);
    ifm_listing_end(&listing);
    return status == IFM_OK ? judged : status;
}

static enum ifm_status check_request(const struct ifm_given *given, const struct gate_request *request,
                                     struct ifm_error *error)
{
    if (given->n_words == 0) {
        ifm_fail(error, IFM_USAGE, "", "", "gate needs a run folder");
        return ifm_folder_hint(NULL, error);
    }
    IFM_TRY(ifm_given_words(given, 1, "a reference run is named with --against", error));
    if (request->gates != NULL && request->against != NULL)
        return ifm_fail(error, IFM_USAGE, "--gates", "call gate twice, once with each",
                        "--against compares with another run and uses no gates");
    if (request->varies != NULL && request->against == NULL)
        return ifm_fail(error, IFM_USAGE, "--varies", "name the reference run with --against",
                        "a run by itself has nothing that varies between runs");
    bool both = request->junit != NULL && request->markdown != NULL;
    if (both && strcmp(request->junit, request->markdown) == 0)
        return ifm_fail(error, IFM_USAGE, "--markdown", "give each a file of its own",
                        "--junit and --markdown would both write to %s",
                        strcmp(request->junit, "-") == 0 ? "standard output" : request->junit);
    return IFM_OK;
}

enum ifm_status ifm_cmd_gate(const struct ifm_given *given, struct ifm_error *error)
{
    struct gate_request request = {
        .dir = given->words[0],
        .against = ifm_given_text(given, "against"),
        .varies = ifm_given_text(given, "varies"),
        .gates = ifm_given_text(given, "gates"),
        .junit = ifm_given_text(given, "junit"),
        .markdown = ifm_given_text(given, "markdown"),
        .format = given->format,
        .arena = given->arena,
    };
    IFM_TRY(check_request(given, &request, error));
    enum ifm_status status = gate(&request, error);
    ifm_folder_close(&request.folder);
    ifm_folder_close(&request.reference);
    ifm_config_destroy(request.presets);
    return status;
}
