/* Plugin: a workload from a shared object, behind the C ABI of include/inferometer/plugin.h.
 *
 * Owns the loaded objects, which stay loaded until the process ends. It trusts nothing that crosses the boundary but
 * the code itself. Thread rule: loading happens on the main thread, before the first configuration is made. */
#ifndef IFM_WORKLOAD_PLUGIN_PLUGIN_H
#define IFM_WORKLOAD_PLUGIN_PLUGIN_H

#include "workload/workload.h"

enum { IFM_PLUGINS_MOST = 8 };

/* Words that a plugin may not use, each list NULL-terminated. */
struct ifm_plugin_taken {
    const char *const *names;   /* of commands and of keys: not for a workload */
    const char *const *flags;   /* of every command: a parameter with such a flag keeps its key alone */
    const char *const *columns; /* of the record: not for a counter */
};

/* Load the shared object at `path`, check its table and register its workload; a file that is loaded already is left
 * as it is. `*out` (may be NULL) is the workload. IFM_USAGE names the file and the member that is wrong. */
IFM_CHECKED enum ifm_status ifm_plugin_load(const char *path, const struct ifm_plugin_taken *taken,
                                            const struct ifm_workload **out, struct ifm_error *error);

#endif
