/* Plugin: a workload from a shared object, behind the C ABI of include/inferometer/plugin.h.
 *
 * Owns the loaded objects, which stay loaded until the process ends. It trusts nothing that crosses the boundary but
 * the code itself. Thread rule: loading happens on the main thread, before the first configuration is made. */
#ifndef IFM_WORKLOAD_PLUGIN_PLUGIN_H
#define IFM_WORKLOAD_PLUGIN_PLUGIN_H

#include "workload/workload.h"

enum { IFM_PLUGINS_MOST = 8 };

/* What a plugin is being asked outside the timed region, for whoever finds the process gone. */
struct ifm_plugin_call {
    char file[256];     /* its base name; "" = nothing is asked */
    char function[32];  /* "describe", "open", ...; "" while it is loaded */
    unsigned asked;     /* how often it was asked something, or answered */
    char thread_end[8]; /* "yes" once a thread of the lab was ended inside its code, which ends the process */
};
/* Never NULL. A process that is watched points it at memory that outlives it, before it loads the first plugin. */
extern struct ifm_plugin_call *ifm_plugin_call;

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
