/* The host as a plugin sees it: memory, workers, words; and what it has answered, as errors of ours. */
#include "base/text.h"
#include "workload/plugin/private.h"

#include <stdio.h>
#include <string.h>

/* ---- the host's services ---- */

static void keep_words(char to[IFM_PLUGIN_WORDS_MOST + 1], const char *words)
{
    snprintf(to, IFM_PLUGIN_WORDS_MOST + 1, "%s", words == NULL ? "" : words);
    if (ifm_plugin_text_valid(to))
        return;
    for (; *to != '\0'; to++)
        if (*to < 0x20 || *to > 0x7e)
            *to = '?';
}

int ifm_plugin_host_fail(const struct inferometer_plugin_host *host, const char *message, const char *hint)
{
    struct ifm_plugin_link *link = host->context;
    keep_words(link->message, message);
    keep_words(link->hint, hint);
    return 1;
}

static int host_buffer(const struct inferometer_plugin_host *host, const char *name, size_t bytes, uint32_t flags,
                       void **memory, int *fresh)
{
    struct ifm_plugin_link *link = host->context;
    struct ifm_error error = {0};
    bool is_new, shared = (flags & INFEROMETER_PLUGIN_SHARED) != 0;
    char whole[256];
    if (memory == NULL || name == NULL || bytes == 0 || (flags & ~(uint32_t)INFEROMETER_PLUGIN_SHARED) != 0)
        return ifm_plugin_host_fail(
            host, "host->buffer needs a name, at least 1 byte, known flags and a place for the address", NULL);
    int length = snprintf(whole, sizeof whole, "plugin %s%s%s %s", link->plugin, shared ? "" : " arm ",
                          shared ? "" : link->arm, name);
    if (length < 0 || (size_t)length >= sizeof whole)
        return ifm_plugin_host_fail(host, "the name of a buffer is too long", "use at most 64 bytes");
    if (link->device->ops->buffer(link->device, whole, bytes, memory, &is_new, &error) != IFM_OK)
        return ifm_plugin_host_fail(host, error.message, error.hint);
    if (!shared && !ifm_plugin_output_may_lie(&link->output, *memory, bytes))
        return ifm_plugin_host_fail(host, "out of memory", NULL);
    if (fresh != NULL)
        *fresh = is_new;
    return 0;
}

static void host_parallel(const struct inferometer_plugin_host *host, inferometer_plugin_work_fn *work, void *arg)
{
    struct ifm_plugin_link *link = host->context;
    link->device->ops->parallel(link->device, host->workers, work, arg);
}

void ifm_plugin_link_up(struct ifm_plugin_link *link, const struct ifm_plugin *plugin, const char *arm,
                        struct ifm_device *device, unsigned workers)
{
    *link = (struct ifm_plugin_link){
        .host = {.struct_size = sizeof link->host,
                 .abi = INFEROMETER_PLUGIN_ABI,
                 .workers = workers > 0 ? workers : 1,
                 .context = link,
                 .fail = ifm_plugin_host_fail,
                 .buffer = device == NULL ? NULL : host_buffer,
                 .parallel = device == NULL ? NULL : host_parallel,
                 .device = INFEROMETER_PLUGIN_CPU},
        .plugin = plugin->section.name,
        .arm = arm,
        .device = device,
    };
}

/* A function of the plugin's has returned non-zero. */
enum ifm_status ifm_plugin_refused(const struct ifm_plugin_link *link, enum ifm_status code, const char *function,
                                   struct ifm_error *error)
{
    if (link->message[0] == '\0')
        return ifm_fail(error, code, link->plugin, "the plugin should say so with host->fail",
                        "%s of the plugin '%s' failed without a reason", function, link->plugin);
    return ifm_fail(error, code, link->plugin, link->hint, "%s", link->message);
}

/* A function of the plugin's handed out what the header forbids. */
enum ifm_status ifm_plugin_broken(const struct ifm_plugin *plugin, const char *what, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INVALID, plugin->identity.file, "inferometer/plugin.h says what each member must hold",
                    "%s", what);
}

/* ---- values ---- */

static void convert(const struct ifm_param *row, const union ifm_plugin_field *field, struct ifm_arena *arena,
                    struct inferometer_plugin_value *out)
{
    *out = (struct inferometer_plugin_value){.text = ifm_param_print(row, field, arena)};
    switch (row->type) {
    case IFM_TYPE_U64:
    case IFM_TYPE_BYTES:
        out->u64 = field->u64;
        break;
    case IFM_TYPE_F64:
    case IFM_TYPE_SECONDS:
        out->f64 = field->f64;
        break;
    case IFM_TYPE_BOOL:
        out->u64 = field->truth;
        break;
    case IFM_TYPE_CHOICE:
        out->u64 = (uint64_t)field->choice;
        break;
    case IFM_TYPE_TEXT:
        break;
    }
}

struct inferometer_plugin_value *ifm_plugin_values(const struct ifm_section *section,
                                                   const union ifm_plugin_field *fields, struct ifm_arena *arena)
{
    struct inferometer_plugin_value *values = IFM_ARENA_ARRAY(arena, struct inferometer_plugin_value, section->n + 1);
    for (size_t i = 0; i < section->n; i++)
        convert(&section->rows[i], &fields[i], arena, &values[i]);
    return values;
}
