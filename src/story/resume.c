/* An interrupted run: configuration and plan read back and checked. */
#include "story/story.h"

#include "base/file.h"
#include "model/plan_json.h"
#include "sample/journal.h"
#include "sample/manifest.h"
#include "sample/record.h"
#include "story/folder.h"
#include "workload/session/session.h"
#include <errno.h>
#include <string.h>

/* The manifest that a `derive` wrote covers the record up to now. It must fit; then it is removed, for the record will
 * grow. */
static enum ifm_status retire_manifest(const char *dir, struct ifm_arena *arena, struct ifm_error *error)
{
    const char *path = ifm_path_join(arena, dir, "manifest.sha256");
    if (!ifm_file_exists(path))
        return IFM_OK;
    IFM_TRY(ifm_manifest_check(dir, true, error));
    return remove(path) == 0 ? IFM_OK
                             : ifm_fail(error, IFM_INTERNAL, path, "make the folder writable", "cannot be removed: %s",
                                        strerror(errno));
}

/* A session's windows are its caller's code: nothing can continue it. A block that a kill tore in the middle of a write
 * is cut off, so that the whole blocks before it can be derived. */
static enum ifm_status refuse_session(const char *dir, const struct ifm_plan *plan, struct ifm_error *error)
{
    const struct ifm_cell *cell = &plan->cells[0];
    struct ifm_journal *journal;
    struct ifm_recorder *recorder;
    uint32_t next_block;
    int64_t end_ns;
    if (ifm_session_refuse(plan, dir, error) == IFM_OK)
        return IFM_OK;
    struct ifm_error refusal = *error;
    if (plan->n_cells != 1 || cell->n_passes == 0) /* an edited plan: there is no record to cut */
        return error->code;
    IFM_TRY(ifm_journal_open(dir, &journal, error)); /* takes the lock: a session may be at work */
    enum ifm_status status = ifm_recorder_resume(dir, cell->index, ifm_pass_name(&cell->passes[0]),
                                                 cell->passes[0].columns, cell->passes[0].n_columns, 2 * cell->n_arms,
                                                 cell->n_arms, 0, &recorder, &next_block, &end_ns, error);
    if (status == IFM_OK)
        ifm_recorder_close(recorder);
    ifm_journal_close(journal);
    IFM_TRY(status);
    *error = refusal;
    ifm_error_hint(error, "`inferometer derive %s` shows its whole blocks; to go on, measure again", dir);
    return error->code;
}

enum ifm_status ifm_story_read_back(const char *dir, struct ifm_config *config, struct ifm_arena *arena,
                                    struct ifm_plan **plan, struct ifm_error *error)
{
    if (!ifm_file_exists(ifm_path_join(arena, dir, "plan.json"))) {
        IFM_TRY(ifm_folder_is_run(dir, error));
        ifm_fail(error, IFM_USAGE, dir, "", "not a run folder: it has no plan.json");
        return ifm_folder_hint(dir, error);
    }
    IFM_TRY(ifm_folder_claim(dir, true, error));
    IFM_TRY(ifm_config_file(config, ifm_path_join(arena, dir, "config.lock.json"), error));
    IFM_TRY(ifm_config_resolve(config, error));
    IFM_TRY(ifm_plan_read(dir, arena, plan, error));
    if (strcmp((*plan)->config_hash, ifm_config_study(config)->config_hash) != 0)
        return ifm_fail(error, IFM_INVALID, dir, "measure again into a new folder",
                        "plan.json and config.lock.json belong to different configurations");
    IFM_TRY(refuse_session(dir, *plan, error));
    IFM_TRY(ifm_story_ready(*plan, error));
    IFM_TRY(ifm_story_same_inputs(dir, *plan, error));
    return retire_manifest(dir, arena, error);
}
