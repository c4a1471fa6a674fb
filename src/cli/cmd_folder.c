/* Commands on a run folder: derive, judge, report, verify, summary. They measure nothing. */
#include "cli/cli.h"

#include "base/text.h"
#include "publish/summary.h"
#include "sample/signature.h"
#include "story/folder.h"
#include <stdio.h>

static enum ifm_status open_options(int argc, char **argv, struct ifm_options *options, struct ifm_error *error)
{
    IFM_TRY(ifm_options_parse(argc, argv, true, NULL, options, error));
    if (options->out != NULL)
        return ifm_fail(error, IFM_USAGE, "--out", "the files go into the run folder itself",
                        "--out does not belong to this command");
    return ifm_folder_check(options->dir, true, error);
}

enum ifm_status ifm_cmd_derive(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_options options = {0};
    enum ifm_status judged;
    IFM_TRY(open_options(argc, argv, &options, error));
    const struct ifm_story_printing how = ifm_cli_printing(&options);
    return ifm_story_finish(options.dir, &how, &judged, error);
}

static void print_verdict(const struct ifm_verdict *verdict, struct ifm_arena *arena)
{
    printf("%s\n", ifm_outcome_words(verdict->outcome));
    for (size_t i = 0; i < verdict->n_reasons; i++)
        printf("  %s\n", ifm_cli_typed(verdict->reasons[i], arena));
}

enum ifm_status ifm_cmd_judge(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_options options = {0};
    IFM_TRY(open_options(argc, argv, &options, error));
    struct ifm_folder folder;
    enum ifm_status status = ifm_folder_open(options.dir, &folder, error);
    if (status == IFM_OK)
        status = ifm_folder_check_lock(&folder, error);
    if (status == IFM_OK)
        status = ifm_publish_files(&folder.publication, error);
    if (status == IFM_OK) {
        const struct ifm_table_look look = ifm_cli_look(&options);
        if (options.format == IFM_FORMAT_TABLE && !options.verbose)
            print_verdict(folder.verdict, folder.arena);
        else
            status = ifm_publish_table(&folder.publication, &look, stdout, error);
    }
    if (status == IFM_OK)
        status = folder.verdict->exit_code;
    ifm_folder_close(&folder);
    return status;
}

/* What rests on leaves of the plan that nothing made again does not follow from the record alone. */
static void print_count(const struct ifm_story_verified *verified)
{
    const size_t n = verified->n_numbers, resting = verified->n_resting;
    if (resting == 0)
        printf("verified: every hash fits, and all %zu numbers follow from the record, absent ones too\n", n);
    else if (resting == n)
        printf("verified: every hash fits, and all %zu numbers follow from the record and from what plan.json says\n",
               n);
    else
        printf("verified: every hash fits, and %zu of %zu numbers follow from the record, the others from it and "
               "plan.json\n",
               n - resting, n);
}

static void print_verified(const char *dir, const struct ifm_story_verified *verified, const char *signer,
                           const struct ifm_sha256 *key, struct ifm_arena *arena)
{
    const struct ifm_verified *published = &verified->published;
    print_count(verified);
    if (signer == NULL)
        printf("(hashes show integrity, not authorship)\n");
    if (signer != NULL)
        printf("signed by the key %s (SHA-256 of it in DER: %s)\n", ifm_text_plain(signer, arena), key->hex);
    else if (ifm_signature_exists(dir))
        printf("(it is signed: --signer KEY checks by whom)\n");
    if (!verified->chained)
        printf("(an older version recorded it: the journal has no chain of hashes over blocks and lines)\n");
    if (!published->words)
        printf("(published by %s, whose wording differs: numbers, states\n"
               "and gates were compared; sentences, notes%s were not; `%s report`\nwrites them anew)\n",
               published->publisher, published->left_out, ifm_called_as());
    else if (!published->own)
        printf("(published by %s, in the words of this version)\n", published->publisher);
    if (published->others[0] != '\0')
        printf("(this version writes no such file, and nothing says that it is of this run: %s)\n", published->others);
    if (verified->rules < IFM_PLAN_RULES)
        printf("(planned by an earlier version, rules %u of %d: checks that came later were not made)\n",
               verified->rules, IFM_PLAN_RULES);
    if (verified->not_rebuilt != NULL)
        printf("(not rebuilt from config.lock.json, and believed as plan.json has it: %s)\n",
               ifm_text_plain(verified->not_rebuilt, arena));
}

enum ifm_status ifm_cmd_verify(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_options options = {0};
    struct ifm_story_verified verified = {0};
    struct ifm_sha256 key = {0};
    IFM_TRY(ifm_options_parse(argc, argv, true, NULL, &options, error));
    IFM_TRY(ifm_folder_is_run(options.dir, error));
    IFM_TRY(ifm_folder_claim(options.dir, false, error));
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_story_verify(options.dir, arena, &verified, error);
    if (status == IFM_OK && options.key != NULL)
        status = ifm_signature_check(options.dir, options.key, &key, error);
    if (status == IFM_OK)
        print_verified(options.dir, &verified, options.key, &key, arena);
    ifm_arena_destroy(arena);
    return status;
}

enum ifm_status ifm_cmd_summary(const struct ifm_given *given, struct ifm_error *error)
{
    struct ifm_folder folder;
    if (given->n_words > 1)
        return ifm_fail(error, IFM_USAGE, "", "`inferometer compare A B` holds two runs beside one another",
                        "summary takes one run folder");
    if (given->n_words == 0) {
        ifm_fail(error, IFM_USAGE, "", "", "summary needs a run folder");
        return ifm_folder_hint(NULL, error);
    }
    IFM_TRY(ifm_folder_check(given->words[0], false, error));
    enum ifm_status status = ifm_folder_open(given->words[0], &folder, error);
    if (status == IFM_OK)
        status = ifm_folder_check_plan(&folder, error);
    if (status == IFM_OK) {
        struct ifm_text text = {0};
        ifm_summary_compose(&folder.publication, &text);
        ifm_cli_print(&text, stdout);
    }
    ifm_folder_close(&folder);
    return status;
}
