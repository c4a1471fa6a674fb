/* Plugins on the command line and in run folders: which are loaded, and how a folder remembers them. */
#ifndef IFM_CLI_PLUGINS_H
#define IFM_CLI_PLUGINS_H

#include "cli/cli.h"

/* Load every `--plugin FILE` of the command line and take it out of `argv`, wherever it stands; then what the key
 * `plugin` of each `-c FILE` names. A command that takes no plugin keeps its arguments, and refuses them. */
IFM_CHECKED enum ifm_status ifm_plugins_take(int *argc, char **argv, struct ifm_error *error);

/* Load again what the run in `dir` used, from the path in its private.json unless --plugin gave another: the file must
 * be the same by its SHA-256. IFM_MISSING says what is not there, IFM_USAGE what has changed. */
IFM_CHECKED enum ifm_status ifm_plugins_of_folder(const char *dir, struct ifm_error *error);

/* The member "plugins" of config.lock.json and of private.json, where the study runs any. Both return `json`. */
json_t *ifm_plugins_into_lock(json_t *json, const struct ifm_config *config);
json_t *ifm_plugins_into_private(json_t *json, const struct ifm_config *config);

/* The first workload of a lock file that is of a plugin and not loaded; NULL = none. Borrowed from `lock`, which may be
 * NULL. */
const char *ifm_plugins_missing(const json_t *lock);

#endif
