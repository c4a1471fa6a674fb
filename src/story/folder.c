/* An existing run folder: claimed, checked, loaded; derived and judged in memory. */
#include "story/folder.h"

#include "base/file.h"
#include "model/plan_json.h"
#include "run/facts/inputs.h"
#include "sample/claim.h"
#include "sample/journal.h"
#include "sample/manifest.h"
#include "story/story.h"
#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

static bool has_file(const char *dir, const char *name)
{
    struct ifm_arena *arena = ifm_arena_create();
    bool has = ifm_file_exists(ifm_path_join(arena, dir, name));
    ifm_arena_destroy(arena);
    return has;
}

enum ifm_status ifm_folder_is_run(const char *dir, struct ifm_error *error)
{
    if (has_file(dir, "config.lock.json"))
        return IFM_OK;
    ifm_fail(error, IFM_USAGE, dir, "",
             ifm_dir_exists(dir)    ? "not a run folder: it has no config.lock.json"
             : ifm_file_exists(dir) ? "not a run folder: it is no folder"
                                    : "there is no such folder");
    return ifm_folder_hint(dir, error);
}

enum ifm_status ifm_folder_is_busy(const char *dir, bool *busy, struct ifm_error *error)
{
    struct ifm_arena *arena = ifm_arena_create();
    const char *log = ifm_path_join(arena, dir, "run.log");
    int fd = -1;
    enum ifm_status status = ifm_file_exists(log) ? ifm_file_open(log, &fd, NULL, error) : IFM_OK;
    ifm_arena_destroy(arena);
    *busy = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd); /* releases the lock too */
    return status;
}

/* No run may be at work: files that still grow would never match a manifest. */
static enum ifm_status check_at_rest(const char *dir, struct ifm_error *error)
{
    bool busy;
    IFM_TRY(ifm_folder_is_busy(dir, &busy, error));
    return busy ? ifm_fail(error, IFM_USAGE, dir, "wait for the run to end", "a run is at work in this folder")
                : IFM_OK;
}

enum ifm_status ifm_folder_claim(const char *dir, bool alone, struct ifm_error *error)
{
    int claim; /* ends with this process */
    /* A session of the library, and a run on a file system without folder locks, lock run.log alone. */
    IFM_TRY(check_at_rest(dir, error));
    return ifm_claim_take(dir, alone, &claim, error);
}

/* Without a manifest it may be cut short, at any moment. */
static enum ifm_status check_begun(const char *dir, struct ifm_error *error)
{
    static const char *const needed[] = {"plan.json", "run.log"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!has_file(dir, needed[i]))
            return ifm_fail(error, IFM_INVALID, dir,
                            "measure again; or bring the file back from a copy, if it was removed",
                            "the run was cut short before it measured anything: it has no %s", needed[i]);
    return IFM_OK;
}

enum ifm_status ifm_folder_check(const char *dir, bool alone, struct ifm_error *error)
{
    IFM_TRY(ifm_folder_is_run(dir, error));
    IFM_TRY(ifm_folder_claim(dir, alone, error));
    if (has_file(dir, "manifest.sha256"))
        return ifm_manifest_check(dir, true, error);
    return check_begun(dir, error);
}

static enum ifm_status load(const char *dir, struct ifm_folder *folder, struct ifm_error *error)
{
    char *lock = ifm_path_join(folder->arena, dir, "config.lock.json");
    IFM_TRY(ifm_json_read(lock, &folder->lock, error));
    IFM_TRY(ifm_facts_open(dir, NULL, 0, folder->arena, &folder->facts, error));
    folder->plan = folder->facts.plan;
    folder->events = folder->facts.events;
    ifm_story_review(dir, folder->lock, folder->plan, folder->events, folder->arena, &folder->review,
                     &folder->lock_error);
    folder->facts.view.review = &folder->review;
    IFM_TRY(ifm_derive(&folder->facts.view, folder->arena, &folder->derived, error));
    folder->verdict = ifm_judge(folder->plan, folder->derived, folder->arena);
    return IFM_OK;
}

enum ifm_status ifm_folder_open(const char *dir, struct ifm_folder *out, struct ifm_error *error)
{
    *out = (struct ifm_folder){.arena = ifm_arena_create()};
    IFM_TRY(load(dir, out, error));
    out->publication = (struct ifm_publication){
        dir,         out->plan,        out->derived, out->verdict,       out->lock,
        out->events, &out->facts.view, false,        ifm_story_tables(), false,
        0,
    };
    return IFM_OK;
}

enum ifm_status ifm_folder_check_lock(const struct ifm_folder *folder, struct ifm_error *error)
{
    if (folder->lock_error.code != IFM_OK)
        *error = folder->lock_error;
    return folder->lock_error.code;
}

static enum ifm_status check_review(const char *dir, const struct ifm_plan_review *review,
                                    const struct ifm_error *lock_error, const struct ifm_events *events,
                                    struct ifm_error *error)
{
    if (lock_error->code != IFM_OK)
        *error = *lock_error;
    IFM_TRY(lock_error->code);
    if (review->n > 0) {
        struct ifm_arena *arena = ifm_arena_create();
        ifm_fail(error, IFM_INVALID, ifm_path_join(arena, dir, "plan.json"),
                 "one of the two was edited; measure again into a new folder", "rule-15: %s", review->faults[0].text);
        ifm_arena_destroy(arena);
        return IFM_INVALID;
    }
    return ifm_inputs_agree(events, dir, error);
}

enum ifm_status ifm_folder_check_plan(const struct ifm_folder *folder, struct ifm_error *error)
{
    return check_review(folder->publication.dir, &folder->review, &folder->lock_error, folder->events, error);
}

enum ifm_status ifm_folder_derive(const char *dir, const struct ifm_wish *wish, struct ifm_arena *arena,
                                  struct ifm_plan **plan, struct ifm_derived **derived, struct ifm_error *error)
{
    json_t *lock = NULL;
    const struct ifm_events *events;
    struct ifm_plan_review review;
    struct ifm_wish wished = *wish;
    struct ifm_error lock_error;
    IFM_TRY(ifm_plan_read(dir, arena, plan, error));
    IFM_TRY(ifm_journal_read(dir, arena, &events, error));
    IFM_TRY(ifm_json_read(ifm_path_join(arena, dir, "config.lock.json"), &lock, error));
    ifm_story_review(dir, lock, *plan, events, arena, &review, &lock_error);
    json_decref(lock);
    IFM_TRY(check_review(dir, &review, &lock_error, events, error));
    wished.review = &review;
    return ifm_derive_folder(dir, &wished, arena, plan, derived, error);
}

void ifm_folder_close(struct ifm_folder *folder)
{
    json_decref(folder->lock);
    ifm_facts_close(&folder->facts);
    ifm_arena_destroy(folder->arena);
    *folder = (struct ifm_folder){0};
}

static void add_retries(const struct ifm_folder *folder, struct ifm_arena *arena, struct ifm_event_retry **out,
                        size_t *n)
{
    size_t capacity = 0;
    for (size_t c = 0; c < folder->plan->n_cells; c++) {
        const struct ifm_cell *cell = &folder->plan->cells[c];
        for (size_t a = 0; a < cell->n_arms; a++) {
            const char *names = ifm_judge_regressions(folder->derived, cell->name, cell->arms[a].name, arena);
            if (cell->arms[a].role != IFM_ROLE_VARIANT || names[0] == '\0')
                continue;
            IFM_ARENA_GROW(arena, *out, *n, capacity);
            (*out)[(*n)++] = (struct ifm_event_retry){.cell = ifm_arena_strdup(arena, cell->name),
                                                      .arm = ifm_arena_strdup(arena, cell->arms[a].name),
                                                      .run_id = ifm_arena_strdup(arena, folder->plan->run_id),
                                                      .regressed = names};
        }
    }
}

void ifm_folder_retries(const char *dir, struct ifm_arena *arena, const struct ifm_event_retry **out, size_t *n)
{
    struct ifm_folder folder;
    struct ifm_error ignored = {0};
    struct ifm_event_retry *made = NULL;
    struct ifm_plan *plan;
    *n = 0;
    *out = NULL;
    if (ifm_plan_read(dir, arena, &plan, &ignored) != IFM_OK || plan->n_gates == 0)
        return; /* nothing can have failed: deriving it would be in vain */
    if (ifm_folder_open(dir, &folder, &ignored) == IFM_OK && folder.verdict->outcome == IFM_OUTCOME_FAIL)
        add_retries(&folder, arena, &made, n);
    *out = made;
    ifm_folder_close(&folder);
}
