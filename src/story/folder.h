/* An existing run folder: claims on it, what it must be before anybody works on it, and its contents in memory.
 *
 * Measures nothing. Thread rule: no shared state but the claims, which belong to the process. */
#ifndef IFM_STORY_FOLDER_H
#define IFM_STORY_FOLDER_H

#include "publish/publish.h"

/* `dir` is a run folder at all: it has a config.lock.json. */
IFM_CHECKED enum ifm_status ifm_folder_is_run(const char *dir, struct ifm_error *error);
/* Claim a run folder at rest until this process ends (sample/claim.h), `alone` to write into it. */
IFM_CHECKED enum ifm_status ifm_folder_claim(const char *dir, bool alone, struct ifm_error *error);
/* The same for an existing run folder; its record must match its manifest, if there is one. */
IFM_CHECKED enum ifm_status ifm_folder_check(const char *dir, bool alone, struct ifm_error *error);

/* A run folder in memory: what derive, judge, report and verify work on. */
struct ifm_folder {
    struct ifm_arena *arena;
    json_t *lock;
    struct ifm_facts facts;
    const struct ifm_events *events; /* of facts */
    const struct ifm_plan *plan;     /* of facts */
    struct ifm_derived *derived;
    struct ifm_verdict *verdict;
    struct ifm_publication publication; /* borrows all of these, and `dir` */
};
/* Load, derive and judge. Close it also after a failure. */
IFM_CHECKED enum ifm_status ifm_folder_open(const char *dir, struct ifm_folder *out, struct ifm_error *error);
void ifm_folder_close(struct ifm_folder *folder);

#endif
