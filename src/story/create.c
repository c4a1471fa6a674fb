/* A new run folder, and the files that stand in it before anything is measured. */
#include "story/story.h"

#include "base/file.h"
#include "base/private.h"
#include "model/plan_json.h"
#include "sample/claim.h"
#include "story/folder.h"
#include <time.h>
#include <unistd.h>

const char *ifm_story_fresh_dir(const char *below, const struct ifm_plan *plan, struct ifm_arena *arena)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", gmtime_r(&now, &utc));
    const char *name = plan->n_cells == 0 ? "run" : plan->cells[0].workload;
    const char *first = ifm_arena_printf(arena, "%s%sruns/%s-%s", below == NULL ? "" : below, below == NULL ? "" : "/",
                                         name, stamp),
               *dir = first;
    for (int i = 2; ifm_dir_exists(dir); i++) /* two runs in one second */
        dir = ifm_arena_printf(arena, "%s-%d", first, i);
    return dir;
}

static enum ifm_status write_json_new(struct ifm_arena *arena, const char *dir, const char *name, json_t *value,
                                      struct ifm_error *error)
{
    enum ifm_status status = ifm_json_write(ifm_path_join(arena, dir, name), value, error);
    json_decref(value);
    return status;
}

/* The caller's facts, and the texts for which the other files hold tokens. */
static enum ifm_status write_private(struct ifm_arena *arena, const char *dir, const struct ifm_config *config,
                                     json_t *caller, struct ifm_error *error)
{
    json_t *settings = ifm_private_json();
    if (settings != NULL)
        json_object_set_new(caller, "settings", settings);
    ifm_plugins_into_private(caller, config);
    return ifm_json_write_private(ifm_path_join(arena, dir, "private.json"), caller, error);
}

static enum ifm_status fill(const char *dir, const struct ifm_config *config, const struct ifm_plan *plan,
                            json_t *caller, struct ifm_arena *arena, struct ifm_error *error)
{
    IFM_TRY(ifm_dir_create(ifm_path_join(arena, dir, "samples"), error));
    IFM_TRY(write_private(arena, dir, config, caller, error));
    IFM_TRY(write_json_new(arena, dir, "config.lock.json", ifm_plugins_into_lock(ifm_config_lock_json(config), config),
                           error));
    return plan == NULL ? IFM_OK : write_json_new(arena, dir, "plan.json", ifm_plan_to_json(plan), error);
}

enum ifm_status ifm_story_folder(const char *dir, const struct ifm_config *config, const struct ifm_plan *plan,
                                 json_t *caller, int *claim, struct ifm_error *error)
{
    enum ifm_status status = ifm_claim_new(dir, claim, error);
    if (status == IFM_OK) {
        struct ifm_arena *arena = ifm_arena_create();
        status = fill(dir, config, plan, caller, arena, error);
        ifm_arena_destroy(arena);
        if (status != IFM_OK) {
            ifm_claim_undo(dir);
            close(*claim);
            *claim = -1;
        }
    }
    json_decref(caller);
    return status;
}
