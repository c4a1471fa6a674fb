/* Plugins on the command line: which are loaded, and under which words. */
#ifndef IFM_CLI_PLUGINS_H
#define IFM_CLI_PLUGINS_H

#include "cli/cli.h"

/* Load every `--plugin FILE` of the command line and take it out of `argv`, wherever it stands; then what the key
 * `plugin` of each `-c FILE` names. A command that takes no plugins keeps its arguments and refuses --plugin. */
IFM_CHECKED enum ifm_status ifm_plugins_take(int *argc, char **argv, struct ifm_error *error);

/* Load the plugins of the run in `dir` again (story/plugins.h); they may not use the command line's words. */
IFM_CHECKED enum ifm_status ifm_plugins_again(const char *dir, struct ifm_error *error);

#endif
