/* What the files of the plugin loader share: a loaded plugin, as a table and as a workload. Nobody else includes it. */
#ifndef IFM_WORKLOAD_PLUGIN_PRIVATE_H
#define IFM_WORKLOAD_PLUGIN_PRIVATE_H

#include "inferometer/plugin.h"
#include "workload/plugin/plugin.h"

enum { IFM_PLUGIN_PARAMS_MOST = 64, IFM_PLUGIN_COUNTERS_MOST = 16 };

/* A parameter's field in the struct that the section binds: as wide as the widest. */
union ifm_plugin_field {
    uint64_t u64;
    double f64;
    bool truth;
    const char *text;
    int choice;
};

struct ifm_plugin {
    struct inferometer_plugin table; /* a copy: members that an older plugin lacks are NULL */
    struct ifm_section section;
    struct ifm_workload workload;
    struct ifm_implementation implementation; /* the one row of its table */
    const struct ifm_implementation *implementations[2];
    struct ifm_plugin_identity identity;
};
extern struct ifm_plugin ifm_plugins[IFM_PLUGINS_MOST];

/* check.c: the table into section and columns, every member checked; texts are copied into the arena.
 * `where` is the file for messages. */
IFM_CHECKED enum ifm_status ifm_plugin_check(struct ifm_plugin *plugin, const char *where,
                                             const struct ifm_plugin_taken *taken, struct ifm_arena *arena,
                                             struct ifm_error *error);
/* UTF-8 without control characters. */
bool ifm_plugin_text_valid(const char *text);

/* adapt.c: note what the plugin of `file` is asked; a NULL file: nothing any more. */
void ifm_plugin_ask(const char *file, const char *function);

/* adapt.c: the workload of ifm_plugins[index]; name, texts, section and columns are the caller's. */
void ifm_plugin_adapt(unsigned index);

#endif
