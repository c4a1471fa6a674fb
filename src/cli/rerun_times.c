/* `rerun --times N`: the same configuration in N sessions, each in a process and a run folder of its own, and how far
 * their numbers lie apart. */
#include "cli/cli.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "publish/sessions.h"
#include "story/folder.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SESSIONS = 100 };
#define EPSILON 0.05 /* the specification's bound of variation */

enum ifm_status ifm_again_take(const char *name, const char *value, struct ifm_again *again, struct ifm_error *error)
{
    uint64_t times;
    double percent;
    char digits[32];
    size_t length = strlen(value);
    if (strcmp(name, "times") == 0) {
        if (!ifm_parse_u64(value, &times) || times < 2 || times > MOST_SESSIONS)
            return ifm_fail(error, IFM_USAGE, "--times", "from 2 to 100", "'%s' is no number of sessions", value);
        again->times = (unsigned)times;
        return IFM_OK;
    }
    if (length > 0 && value[length - 1] == '%')
        length--;
    snprintf(digits, sizeof digits, "%.*s", (int)length, value);
    if (length >= sizeof digits || !ifm_parse_f64(digits, &percent) || !(percent > 0 && percent <= 100))
        return ifm_fail(error, IFM_USAGE, "--epsilon", "such as 5%", "'%s' is no percentage above 0 and at most 100",
                        value);
    again->epsilon = percent / 100;
    return IFM_OK;
}

/* "runs/gzip" of "runs/gzip/"; "../gzip" of "." in it, since what is named after a dot lies in the folder, hidden. */
static const char *stem_of(const char *dir, struct ifm_arena *arena)
{
    size_t length = strlen(dir);
    while (length > 1 && (dir[length - 1] == '/' || (dir[length - 1] == '.' && dir[length - 2] == '/')))
        length--;
    const char *shown = ifm_arena_printf(arena, "%.*s", (int)length, dir), *last = ifm_path_base(shown);
    const bool here = strcmp(last, ".") == 0;
    char *whole = here || strcmp(last, "..") == 0 ? realpath(shown, NULL) : NULL;
    if (whole != NULL && whole[1] != '\0')
        shown =
            ifm_arena_printf(arena, "%s../%s", here ? "" : ifm_arena_printf(arena, "%s/", shown), ifm_path_base(whole));
    free(whole);
    return shown;
}

/* "OUT-1", "OUT-2", ...: without --out behind the folder that is repeated. Numbers that are taken are left out. */
static const char *fresh_dir(const struct ifm_options *options, unsigned *number, struct ifm_arena *arena)
{
    const char *stem = options->out, *dir;
    if (stem == NULL)
        stem = ifm_arena_printf(arena, "%s-again", stem_of(options->dir, arena));
    do
        dir = ifm_arena_printf(arena, "%s-%u", stem, ++*number);
    while (ifm_file_exists(dir) || ifm_dir_exists(dir));
    return dir;
}

/* Its table is not printed: what the sessions say together is. */
static enum ifm_status start(const char *const *words, pid_t *child, struct ifm_error *error)
{
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure == 0) {
        failure = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        if (failure == 0)
            failure = posix_spawn(child, "/proc/self/exe", &actions, NULL, (char *const *)(uintptr_t)words, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    return failure == 0
               ? IFM_OK
               : ifm_fail(error, IFM_INTERNAL, "rerun", NULL, "a session cannot be started: %s", strerror(failure));
}

/* A session may fail its gates, or find them inconclusive, and has its numbers all the same. */
static enum ifm_status session(const struct ifm_options *options, const char *dir, struct ifm_arena *arena,
                               struct ifm_error *error)
{
    const char *words[12] = {ifm_called_name(), "rerun", options->dir, "--out", dir};
    size_t n = 5;
    pid_t child;
    int how;
    if (options->quiet)
        words[n++] = "--quiet";
    if (options->key != NULL) {
        words[n++] = "--sign";
        words[n++] = options->key;
    }
    if (options->wait_quiet_s > 0) {
        words[n++] = "--wait-quiet";
        words[n++] = ifm_arena_printf(arena, "%.17gs", options->wait_quiet_s);
    }
    IFM_TRY(start(words, &child, error));
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return ifm_fail(error, IFM_INTERNAL, "rerun", NULL, "a session was lost: %s", strerror(errno));
    int code = WIFEXITED(how) ? WEXITSTATUS(how) : IFM_INTERRUPTED;
    if (code == IFM_OK || code == IFM_REJECTED || code == IFM_INVALID || code == IFM_MISSING)
        return IFM_OK;
    return ifm_fail(error, (enum ifm_status)code, dir, "it says why above",
                    "this session ended with %d, and no further one was started", code);
}

/* Why the original is not held against its sessions; "" = it is. */
static const char *left_out(const struct ifm_run_view *original, const struct ifm_run_view *session,
                            struct ifm_arena *arena)
{
    if (original->plan == NULL)
        return "the original has no whole record: it is not held against its repeats";
    const char *unlike = ifm_sessions_unlike(original, session, arena);
    return unlike == NULL
               ? ""
               : ifm_arena_printf(arena, "the original has another %s: it is not held against its repeats", unlike);
}

static const char *caveat_of(const struct ifm_sessions *sessions, const struct ifm_folder *folders,
                             const char *const *dirs, struct ifm_arena *arena)
{
    const size_t n = sessions->n_runs;
    enum ifm_trust_word *words = IFM_ARENA_ARRAY(arena, enum ifm_trust_word, n);
    for (size_t i = 0; i < n; i++)
        words[i] = ifm_trust_of(&folders[i].publication, arena).word;
    return ifm_sessions_caveat(sessions, words, dirs, n, arena);
}

/* The original's folder stands behind those of its sessions. */
static enum ifm_status tell(const struct ifm_options *options, const struct ifm_again *again,
                            const struct ifm_folder *folders, const char *const *dirs, struct ifm_arena *arena)
{
    struct ifm_run_view *views = IFM_ARENA_ARRAY(arena, struct ifm_run_view, again->times);
    const struct ifm_folder *first = &folders[again->times];
    const struct ifm_run_view original = {first->plan, first->derived, first->events};
    struct ifm_sessions sessions;
    struct ifm_text text = {0};
    for (unsigned i = 0; i < again->times; i++)
        views[i] = (struct ifm_run_view){folders[i].plan, folders[i].derived, folders[i].events};
    const char *why = left_out(&original, &views[0], arena);
    const struct ifm_run_view *beside = why[0] == '\0' ? &original : NULL;
    ifm_sessions(views, again->times, beside, again->epsilon, arena, &sessions);
    struct ifm_listing listing =
        ifm_sessions_listing(&sessions, views, dirs, again->times, beside, again->epsilon, arena);
    if (why[0] != '\0')
        ifm_listing_remark(&listing, why);
    ifm_listing_remark(&listing, ifm_sessions_answer(&sessions, again->times, again->epsilon,
                                                     caveat_of(&sessions, folders, dirs, arena), arena));
    listing.folds = true; /* long names, and nobody cuts columns of it: files have them all */
    ifm_cli_listing(&listing, options->format, &text);
    ifm_cli_print(&text, stdout);
    ifm_listing_end(&listing);
    return sessions.quotable == IFM_REPEATABLE_YES  ? IFM_OK
           : sessions.quotable == IFM_REPEATABLE_NO ? IFM_REJECTED
                                                    : IFM_INVALID;
}

/* Sessions of two programs repeat neither. */
static enum ifm_status same_programs(const struct ifm_folder *folders, unsigned opened, const char *const *dirs,
                                     struct ifm_arena *arena, struct ifm_error *error)
{
    const char *unlike = ifm_programs_unlike(folders[0].events, folders[opened - 1].events, arena);
    return unlike == NULL
               ? IFM_OK
               : ifm_fail(error, IFM_INVALID, dirs[opened - 1], "measure again while nobody replaces it",
                          "the %s is another file than in %s: its sessions are of two programs", unlike, dirs[0]);
}

/* What can be repeated need not be whole: a run that broke off, or a configuration alone. */
static void open_original(const char *dir, struct ifm_folder *out)
{
    struct ifm_error unreadable = {0};
    if (ifm_folder_check(dir, false, &unreadable) == IFM_OK && ifm_folder_open(dir, out, &unreadable) != IFM_OK)
        ifm_folder_close(out);
}

enum ifm_status ifm_rerun_times(const struct ifm_options *options, const struct ifm_again *again,
                                struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_again asked = *again;
    struct ifm_folder *folders = IFM_ARENA_ARRAY(arena, struct ifm_folder, again->times + 1),
                      *original = &folders[again->times];
    const char **dirs = IFM_ARENA_ARRAY(arena, const char *, again->times + 1);
    enum ifm_status status = IFM_OK;
    unsigned number = 0, opened = 0;
    asked.epsilon = asked.epsilon > 0 ? asked.epsilon : EPSILON;
    ifm_log_quiet(options->quiet);
    for (unsigned i = 0; i < asked.times && status == IFM_OK; i++) {
        const char *dir = dirs[i] = fresh_dir(options, &number, arena);
        /* "begins": what is said until the next such line is of this session */
        ifm_note("session %u of %u begins: %s", i + 1, asked.times, dir);
        status = session(options, dir, arena, error);
        if (status == IFM_OK)
            status = ifm_folder_check(dir, false, error);
        if (status == IFM_OK) {
            opened++;
            status = ifm_folder_open(dir, &folders[i], error);
        }
        if (status == IFM_OK)
            status = same_programs(folders, opened, dirs, arena, error);
    }
    if (status == IFM_OK) {
        dirs[again->times] = options->dir;
        open_original(options->dir, original);
        status = tell(options, &asked, folders, dirs, arena);
    }
    ifm_folder_close(original);
    for (unsigned i = 0; i < opened; i++)
        ifm_folder_close(&folders[i]);
    ifm_arena_destroy(arena);
    return status;
}
