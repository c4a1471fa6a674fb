/* Commands on a run folder: derive, judge, report, verify. They measure nothing. */
#include "cli/cli.h"

#include "base/file.h"
#include "cli/plugins.h"
#include "run/facts/inputs.h"
#include "sample/claim.h"
#include "sample/manifest.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum ifm_status ifm_folder_is_run(const char *dir, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    bool is_run = ifm_file_exists(ifm_path_join(arena, dir, "config.lock.json"));
    ifm_arena_destroy(arena);
    return is_run ? IFM_OK
                  : ifm_fail(error, IFM_USAGE, dir, "name a run folder, such as runs/decode-20260101-120000",
                             "not a run folder: it has no config.lock.json");
}

/* Whoever derives from a folder again vouches for its record anew: first see that it is still the one that was hashed.
 */
static enum ifm_status check_record(const char *dir, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    bool hashed = ifm_file_exists(ifm_path_join(arena, dir, "manifest.sha256"));
    ifm_arena_destroy(arena);
    return hashed ? ifm_manifest_check_record(dir, error) : IFM_OK;
}

/* A manifest over files that still grow would condemn them: the folder must be at rest. */
static enum ifm_status check_at_rest(const char *dir, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    int fd = open(ifm_path_join(arena, dir, "run.log"), O_RDONLY | O_CLOEXEC);
    int code = errno;
    ifm_arena_destroy(arena);
    if (fd < 0 && code != ENOENT)
        return ifm_fail(error, IFM_INTERNAL, dir, "see whether you may read it, and what the system's log (dmesg) says",
                        "cannot open run.log: %s", strerror(code));
    bool busy = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd); /* and with it the lock */
    return busy ? ifm_fail(error, IFM_USAGE, dir, "wait for the run to end", "a run is at work in this folder")
                : IFM_OK;
}

enum ifm_status ifm_folder_claim(const char *dir, bool alone, struct ifm_error *error)
{
    int claim;                          /* ends with this process */
    IFM_TRY(check_at_rest(dir, error)); /* a session of the library, or a run on a file system without such locks */
    return ifm_claim_take(dir, alone, &claim, error);
}

enum ifm_status ifm_folder_check(const char *dir, struct ifm_error *error)
{
    IFM_TRY(ifm_folder_is_run(dir, error));
    IFM_TRY(ifm_folder_claim(dir, false, error));
    return check_record(dir, error);
}

static enum ifm_status open_options(int argc, char **argv, struct ifm_options *options, struct ifm_error *error)
{
    IFM_TRY(ifm_options_parse(argc, argv, true, NULL, options, error));
    if (options->help)
        return ifm_cmd_help(2, (char *[]){(char *)"help", argv[0], NULL}, error);
    if (options->out != NULL)
        return ifm_fail(error, IFM_USAGE, "--out", "the files go into the run folder itself",
                        "--out does not belong to this command");
    IFM_TRY(ifm_folder_is_run(options->dir, error));
    IFM_TRY(ifm_folder_claim(options->dir, true, error));
    return check_record(options->dir, error);
}

enum ifm_status ifm_cmd_derive(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_options options = {0};
    enum ifm_status judged;
    IFM_TRY(open_options(argc, argv, &options, error));
    return options.help ? IFM_OK : ifm_story_finish(options.dir, &options, &judged, error);
}

enum ifm_status ifm_cmd_report(int argc, char **argv, struct ifm_error *error)
{
    return ifm_cmd_derive(argc, argv, error);
}

static void print_verdict(const struct ifm_verdict *verdict)
{
    printf("%s\n", ifm_outcome_words(verdict->outcome));
    for (size_t i = 0; i < verdict->n_reasons; i++)
        printf("  %s\n", verdict->reasons[i]);
}

enum ifm_status ifm_cmd_judge(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_options options = {0};
    IFM_TRY(open_options(argc, argv, &options, error));
    if (options.help)
        return IFM_OK;
    struct ifm_folder folder;
    enum ifm_status status = ifm_folder_open(options.dir, &folder, error);
    if (status == IFM_OK)
        status = ifm_publish_files(&folder.publication, error);
    if (status == IFM_OK) {
        if (options.format == IFM_FORMAT_TABLE)
            print_verdict(folder.verdict);
        else
            status = ifm_publish_table(&folder.publication, options.format, options.colour, stdout, error);
    }
    if (status == IFM_OK)
        status = folder.verdict->exit_code;
    ifm_folder_close(&folder);
    return status;
}

/* The lock resolves to itself, and its gates, settings and seed are the plan's: neither file can be edited alone. */
static enum ifm_status verify_lock(const char *dir, const struct ifm_plan *plan, const json_t *lock,
                                   const char *missing, struct ifm_error *error)
{
    if (missing != NULL) { /* what can be seen without its tables */
        enum ifm_status intact = ifm_config_lock_intact(lock, "config.lock.json", error);
        return intact == IFM_USAGE ? error->code = IFM_INVALID : intact;
    }
    struct ifm_config *config = ifm_story_config();
    struct ifm_arena *arena = ifm_arena_create();
    enum ifm_status status = ifm_config_file(config, ifm_path_join(arena, dir, "config.lock.json"), error);
    if (status == IFM_OK)
        status = ifm_config_resolve(config, error);
    if (status == IFM_OK)
        status = ifm_story_check_plan(ifm_path_join(arena, dir, "plan.json"), config, plan, error);
    if (status == IFM_USAGE) /* of a lock that is given with -c it is a usage error; here the record is what is wrong */
        status = error->code = IFM_INVALID;
    ifm_arena_destroy(arena);
    ifm_config_destroy(config);
    return status;
}

static void print_verified(const struct ifm_folder *folder, const struct ifm_verified *verified, const char *missing)
{
    printf("verified: every hash fits, and all %zu numbers follow from the record\n"
           "(hashes show integrity, not authorship)\n",
           folder->derived->n_numbers);
    if (!verified->words)
        printf("(published by %s, whose wording differs: numbers and states\n"
               "were compared; sentences, report.md and report.html were not; `inferometer report` writes them anew)\n",
               verified->publisher);
    if (missing != NULL)
        printf("(the configuration was not resolved again: the workload '%s' is of a plugin, and --plugin does not "
               "load it)\n",
               missing);
}

enum ifm_status ifm_cmd_verify(int argc, char **argv, struct ifm_error *error)
{
    struct ifm_options options = {0};
    IFM_TRY(ifm_options_parse(argc, argv, true, NULL, &options, error));
    if (options.help)
        return ifm_cmd_help(2, (char *[]){(char *)"help", argv[0], NULL}, error);
    IFM_TRY(ifm_folder_is_run(options.dir, error));
    IFM_TRY(ifm_folder_claim(options.dir, false, error));
    IFM_TRY(ifm_manifest_check(options.dir, error));
    struct ifm_folder folder;
    struct ifm_verified verified = {0};
    enum ifm_status status = ifm_folder_open(options.dir, &folder, error);
    const char *missing = ifm_plugins_missing(folder.lock);
    if (status == IFM_OK)
        status = verify_lock(options.dir, folder.plan, folder.lock, missing, error);
    if (status == IFM_OK)
        status = ifm_inputs_agree(folder.events, options.dir, error);
    if (status == IFM_OK)
        status = ifm_publish_verify(&folder.publication, &verified, error);
    if (status == IFM_OK)
        print_verified(&folder, &verified, missing);
    ifm_folder_close(&folder);
    return status;
}
