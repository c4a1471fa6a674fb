/* What the files of the plugin loader share: a loaded plugin, as a table and as a workload. Nobody else includes it. */
#ifndef IFM_WORKLOAD_PLUGIN_PRIVATE_H
#define IFM_WORKLOAD_PLUGIN_PRIVATE_H

#include "device/cuda.h"
#include "inferometer/plugin.h"
#include "workload/plugin/output.h"
#include "workload/plugin/plugin.h"

enum { IFM_PLUGIN_PARAMS_MOST = 64, IFM_PLUGIN_COUNTERS_MOST = 16, IFM_PLUGIN_WORDS_MOST = 400 };

/* The host as a plugin sees it, and what stands behind it. */
struct ifm_plugin_link {
    struct inferometer_plugin_host host;
    struct inferometer_plugin_cuda cuda;
    const char *plugin, *arm;
    struct ifm_device *device; /* NULL during describe */
    unsigned threads;          /* of the cell: the plugin may use fewer */
    struct ifm_plugin_output output;
    struct ifm_cuda_steps *steps; /* on a GPU */
    unsigned turn;                /* of the buffers that they take in turn */
    bool launched;                /* each by itself: they cannot be captured */
    char message[IFM_PLUGIN_WORDS_MOST + 1], hint[IFM_PLUGIN_WORDS_MOST + 1];
};

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
    struct ifm_implementation implementation, on_gpu; /* rows of its table, those that it has */
    const struct ifm_implementation *implementations[3];
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

/* ---- host.c ---- */
/* host->fail. */
int ifm_plugin_host_fail(const struct inferometer_plugin_host *host, const char *message, const char *hint);
/* `device`: NULL during describe. */
void ifm_plugin_link_up(struct ifm_plugin_link *link, const struct ifm_plugin *plugin, const char *arm,
                        struct ifm_device *device, unsigned workers);
/* Values of all parameters, from what the section bound. */
struct inferometer_plugin_value *ifm_plugin_values(const struct ifm_section *section,
                                                   const union ifm_plugin_field *fields, struct ifm_arena *arena);
/* A function of the plugin's has returned non-zero; one has handed out what the header forbids. */
enum ifm_status ifm_plugin_refused(const struct ifm_plugin_link *link, enum ifm_status code, const char *function,
                                   struct ifm_error *error);
enum ifm_status ifm_plugin_broken(const struct ifm_plugin *plugin, const char *what, struct ifm_error *error);

/* ---- gpu.c ---- */
/* host->cuda of a link: facts alone, and with a device what `open` and later calls are offered. */
void ifm_plugin_gpu_link(struct ifm_plugin_link *link, const struct ifm_gpu *gpu);
/* Before the plugin's open: steps of `step`, which puts one of `state` on the stream. */
IFM_CHECKED enum ifm_status ifm_plugin_gpu_begin(struct ifm_plugin_link *link, ifm_cuda_enqueue_fn *step, void *state,
                                                 bool launched, struct ifm_error *error);
/* After a call into the plugin: a context that is not the lab's any more is put back, and an error. */
IFM_CHECKED enum ifm_status ifm_plugin_gpu_kept(const struct ifm_plugin_link *link, const char *function,
                                                struct ifm_error *error);
/* That, and work that failed; waits for it. */
IFM_CHECKED enum ifm_status ifm_plugin_gpu_after(const struct ifm_plugin_link *link, const char *function,
                                                 struct ifm_error *error);
/* Before outputs are overwritten for a step that is looked at. A step that is launched may work on another stream: its
 * output then comes before the lab overwrites it, and the check refuses it. A graph leaves such work out. */
void ifm_plugin_gpu_delay(const struct ifm_plugin_link *link);
/* How steps are put on a GPU, as the plan has it: a section of one row. */
extern const struct ifm_section ifm_plugin_chosen;
enum ifm_plugin_launch { IFM_PLUGIN_BY_GRAPH = 0, IFM_PLUGIN_BY_STEP };
struct ifm_plugin_chosen {
    int launch; /* enum ifm_plugin_launch */
};

/* adapt.c: the workload of ifm_plugins[index]; name, texts, section and columns are the caller's. */
void ifm_plugin_adapt(unsigned index);

#endif
