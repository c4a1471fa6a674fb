/* An existing run folder: claims on it, what it must be before anybody works on it, and its contents in memory.
 *
 * Measures nothing. Thread rule: no shared state but the claims, which belong to the process. */
#ifndef IFM_STORY_FOLDER_H
#define IFM_STORY_FOLDER_H

#include "config/config.h"
#include "publish/publish.h"
#include "workload/plugin/plugin.h"

/* `dir` is a run folder at all: it has a config.lock.json. */
IFM_CHECKED enum ifm_status ifm_folder_is_run(const char *dir, struct ifm_error *error);
/* The hint of an error about `given`, which is no run folder: the newest ones in it, beside it, or in runs/. NULL:
 * nothing was given. Returns the error's code. */
IFM_CHECKED enum ifm_status ifm_folder_hint(const char *given, struct ifm_error *error);
/* Whether a run is at work in `dir`: it has run.log locked. */
IFM_CHECKED enum ifm_status ifm_folder_is_busy(const char *dir, bool *busy, struct ifm_error *error);
/* Claim a run folder at rest until this process ends (sample/claim.h), `alone` to write into it. */
IFM_CHECKED enum ifm_status ifm_folder_claim(const char *dir, bool alone, struct ifm_error *error);
/* The same for an existing run folder; its record must match its manifest, if there is one. */
IFM_CHECKED enum ifm_status ifm_folder_check(const char *dir, bool alone, struct ifm_error *error);

/* A run folder in memory: what derive, judge, report and verify work on. */
struct ifm_folder {
    struct ifm_arena *arena;
    json_t *lock;
    struct ifm_facts facts;
    struct ifm_plan_review review;   /* what planning again found */
    struct ifm_error lock_error;     /* IFM_OK: config.lock.json resolves to itself */
    const struct ifm_events *events; /* of facts */
    const struct ifm_plan *plan;     /* of facts */
    struct ifm_derived *derived;
    struct ifm_verdict *verdict;
    struct ifm_publication publication; /* borrows all of these, and `dir` */
};
/* Load, plan again, derive and judge. Close it also after a failure. */
IFM_CHECKED enum ifm_status ifm_folder_open(const char *dir, struct ifm_folder *out, struct ifm_error *error);
void ifm_folder_close(struct ifm_folder *folder);
/* The lock resolves to itself; of a plugin that is not loaded its own hash is checked. That the plan is what it gives
 * is said by the review. */
IFM_CHECKED enum ifm_status ifm_folder_check_lock(const struct ifm_folder *folder, struct ifm_error *error);

/* The same, and plan.json is what the lock gives for the machine that it names: neither file can be edited alone. What
 * prints numbers without publishing them, which would carry the finding, holds to this. */
IFM_CHECKED enum ifm_status ifm_folder_check_plan(const struct ifm_folder *folder, struct ifm_error *error);

/* The arms of a finished run of which two metrics or more regress: what a run that repeats it records (event retry). In
 * the arena; none where the run fails no gate, or cannot be read. */
void ifm_folder_retries(const char *dir, struct ifm_arena *arena, const struct ifm_event_retry **out, size_t *n);

/* Derive the folder otherwise than its own plan asks, where ifm_folder_check_plan holds; `wish` without its review,
 * which is made here. */
IFM_CHECKED enum ifm_status ifm_folder_derive(const char *dir, const struct ifm_wish *wish, struct ifm_arena *arena,
                                              struct ifm_plan **plan, struct ifm_derived **derived,
                                              struct ifm_error *error);

/* ---- replan.c ---- */
/* Plan again from the folder's lock for the machine that its plan was made for, and compare every leaf of plan.json.
 * Every difference is a fault, and so is a lock that is none; what cannot be made again here is named. `lock` is
 * config.lock.json, `events` run.log. Texts live in the arena. `lock_error`
 * is what is wrong with the lock itself, IFM_OK where nothing is. */
void ifm_story_review(const char *dir, const json_t *lock, const struct ifm_plan *plan, const struct ifm_events *events,
                      struct ifm_arena *arena, struct ifm_plan_review *out, struct ifm_error *lock_error);

/* ---- plugins.c: the plugins that it remembers ---- */
/* Load again what the run in `dir` used, from the path in its private.json unless it is loaded already: the file must
 * be the same by its SHA-256. IFM_MISSING: a file is not there; IFM_USAGE: it has changed. */
IFM_CHECKED enum ifm_status ifm_plugins_of_folder(const char *dir, const struct ifm_plugin_taken *taken,
                                                  struct ifm_error *error);

/* The member "plugins" of config.lock.json and of private.json, where the study runs any. Both return `json`. */
json_t *ifm_plugins_into_lock(json_t *json, const struct ifm_config *config);
json_t *ifm_plugins_into_private(json_t *json, const struct ifm_config *config);

/* The first workload of a lock file that is of a plugin and not loaded; NULL = none. Borrowed from `lock`, which may be
 * NULL. */
const char *ifm_plugins_missing(const json_t *lock);

#endif
