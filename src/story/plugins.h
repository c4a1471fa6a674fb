/* Plugins of a run folder: how it remembers them, and how they are loaded again. */
#ifndef IFM_STORY_PLUGINS_H
#define IFM_STORY_PLUGINS_H

#include "config/config.h"
#include "workload/plugin/plugin.h"

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
