/* A plugin's table as a workload: values in, errors and ledgers out.
 *
 * What the timed region contains: what the plugin's own says. The adapter adds one branch and one indirect call to a
 * sample, not to a step. Everything that a plugin hands out is checked here before anybody else sees it. */
#include "base/ambient.h"
#include "base/hash.h"
#include "base/text.h"
#include "workload/plugin/output.h"
#include "workload/plugin/private.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ifm_plugin ifm_plugins[IFM_PLUGINS_MOST];

_Static_assert((int)INFEROMETER_PLUGIN_U64 == IFM_TYPE_U64 && (int)INFEROMETER_PLUGIN_F64 == IFM_TYPE_F64 &&
                   (int)INFEROMETER_PLUGIN_BOOL == IFM_TYPE_BOOL && (int)INFEROMETER_PLUGIN_TEXT == IFM_TYPE_TEXT &&
                   (int)INFEROMETER_PLUGIN_CHOICE == IFM_TYPE_CHOICE &&
                   (int)INFEROMETER_PLUGIN_BYTES == IFM_TYPE_BYTES &&
                   (int)INFEROMETER_PLUGIN_SECONDS == IFM_TYPE_SECONDS,
               "plugin_check.c takes the types over as numbers");

enum { WORDS_MOST = 400 };

/* The host as a plugin sees it, and what stands behind it. */
struct link {
    struct inferometer_plugin_host host;
    const char *plugin, *arm;
    struct ifm_device *device; /* NULL during describe */
    unsigned threads;          /* of the cell: the plugin may use fewer */
    struct ifm_plugin_output output;
    char message[WORDS_MOST + 1], hint[WORDS_MOST + 1];
};

struct plugin_state {
    const struct ifm_plugin *plugin;
    void *inner;
    bool is_open; /* the plugin's own open has made `inner` */
    bool sees;    /* its check has refused an output that the lab had overwritten */
    double tolerance;
    struct link link;
};

/* ---- what is asked, and threads that end inside ---- */

static struct ifm_plugin_call nobody_watches;
struct ifm_plugin_call *ifm_plugin_call = &nobody_watches;

void ifm_plugin_ask(const char *file, const char *function)
{
    snprintf(ifm_plugin_call->function, sizeof ifm_plugin_call->function, "%s", file == NULL ? "" : function);
    snprintf(ifm_plugin_call->file, sizeof ifm_plugin_call->file, "%s", file == NULL ? "" : file);
    ifm_plugin_call->asked++;
}

static pthread_key_t inside; /* set in a thread while a state of a plugin is open; its destructor sees the thread end */
static pthread_once_t inside_once = PTHREAD_ONCE_INIT;

/* pthread_exit in a plugin takes a thread of the lab away: the others would wait for it for ever, or the process would
 * end with status 0. */
static void on_thread_end(void *value)
{
    (void)value;
    snprintf(ifm_plugin_call->thread_end, sizeof ifm_plugin_call->thread_end, "yes");
    kill(getpid(), SIGABRT);
}

static void make_key(void)
{
    pthread_key_create(&inside, on_thread_end);
}

/* On each worker: from now on its end is, or is not, a fault. */
static void mark_thread(void *arg, unsigned index, unsigned count)
{
    (void)index, (void)count;
    pthread_setspecific(inside, arg);
}

/* Until the last open state is closed; then the threads may end as they like. */
static void watch_threads(const struct link *link, bool watch)
{
    static unsigned watching;
    pthread_once(&inside_once, make_key);
    watching += watch ? 1U : -1U;
    if (watch || watching == 0)
        link->device->ops->parallel(link->device, link->threads, mark_thread, watch ? &inside : NULL);
}

/* ---- the host's services ---- */

static void keep_words(char to[WORDS_MOST + 1], const char *words)
{
    snprintf(to, WORDS_MOST + 1, "%s", words == NULL ? "" : words);
    if (ifm_plugin_text_valid(to))
        return;
    for (; *to != '\0'; to++)
        if (*to < 0x20 || *to > 0x7e)
            *to = '?';
}

static int host_fail(const struct inferometer_plugin_host *host, const char *message, const char *hint)
{
    struct link *link = host->context;
    keep_words(link->message, message);
    keep_words(link->hint, hint);
    return 1;
}

static int host_buffer(const struct inferometer_plugin_host *host, const char *name, size_t bytes, uint32_t flags,
                       void **memory, int *fresh)
{
    struct link *link = host->context;
    struct ifm_error error = {0};
    bool is_new, shared = (flags & INFEROMETER_PLUGIN_SHARED) != 0;
    char whole[256];
    if (memory == NULL || name == NULL || bytes == 0 || (flags & ~(uint32_t)INFEROMETER_PLUGIN_SHARED) != 0)
        return host_fail(host, "host->buffer needs a name, at least 1 byte, known flags and a place for the address",
                         NULL);
    int length = snprintf(whole, sizeof whole, "plugin %s%s%s %s", link->plugin, shared ? "" : " arm ",
                          shared ? "" : link->arm, name);
    if (length < 0 || (size_t)length >= sizeof whole)
        return host_fail(host, "the name of a buffer is too long", "use at most 64 bytes");
    if (link->device->ops->buffer(link->device, whole, bytes, memory, &is_new, &error) != IFM_OK)
        return host_fail(host, error.message, error.hint);
    if (!shared && !ifm_plugin_output_may_lie(&link->output, *memory, bytes))
        return host_fail(host, "out of memory", NULL);
    if (fresh != NULL)
        *fresh = is_new;
    return 0;
}

static void host_parallel(const struct inferometer_plugin_host *host, inferometer_plugin_work_fn *work, void *arg)
{
    struct link *link = host->context;
    link->device->ops->parallel(link->device, host->workers, work, arg);
}

static void link_up(struct link *link, const struct ifm_plugin *plugin, const char *arm, struct ifm_device *device,
                    unsigned workers)
{
    *link = (struct link){
        .host = {.struct_size = sizeof link->host,
                 .abi = INFEROMETER_PLUGIN_ABI,
                 .workers = workers > 0 ? workers : 1,
                 .context = link,
                 .fail = host_fail,
                 .buffer = device == NULL ? NULL : host_buffer,
                 .parallel = device == NULL ? NULL : host_parallel},
        .plugin = plugin->section.name,
        .arm = arm,
        .device = device,
    };
}

/* A function of the plugin's has returned non-zero. */
static enum ifm_status refused(const struct link *link, enum ifm_status code, const char *function,
                               struct ifm_error *error)
{
    if (link->message[0] == '\0')
        return ifm_fail(error, code, link->plugin, "the plugin should say so with host->fail",
                        "%s of the plugin '%s' failed without a reason", function, link->plugin);
    return ifm_fail(error, code, link->plugin, link->hint, "%s", link->message);
}

/* A function of the plugin's handed out what the header forbids. */
static enum ifm_status broken(const struct ifm_plugin *plugin, const char *what, struct ifm_error *error)
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

static struct inferometer_plugin_value *convert_all(const struct ifm_section *section,
                                                    const union ifm_plugin_field *fields, struct ifm_arena *arena)
{
    struct inferometer_plugin_value *values = IFM_ARENA_ARRAY(arena, struct inferometer_plugin_value, section->n + 1);
    for (size_t i = 0; i < section->n; i++)
        convert(&section->rows[i], &fields[i], arena, &values[i]);
    return values;
}

/* ---- describe ---- */

static enum ifm_status check_ledger(const struct ifm_plugin *plugin, const struct inferometer_plugin_ledger *ledger,
                                    struct ifm_error *error)
{
    const char *feature = ledger->feature, *why_not = ledger->why_not;
    if (!isfinite(ledger->tolerance) || ledger->tolerance < 0)
        return broken(plugin, "describe: tolerance is not a finite number of 0 or more", error);
    if (ledger->lossy > 1)
        return broken(plugin, "describe: lossy is neither 0 nor 1", error);
    if (feature != NULL && (strnlen(feature, WORDS_MOST + 1) > WORDS_MOST || !ifm_plugin_text_valid(feature)))
        return broken(plugin, "describe: feature is not at most 400 bytes of UTF-8 in one line", error);
    if (feature != NULL && feature[0] != '\0' && plugin->table.feature_runs == NULL)
        return broken(plugin, "describe names a feature, but feature_runs is NULL: nobody can count its runs", error);
    if (why_not != NULL &&
        (why_not[0] == '\0' || strnlen(why_not, WORDS_MOST + 1) > WORDS_MOST || !ifm_plugin_text_valid(why_not)))
        return broken(plugin, "describe: why_not is not 1 to 400 bytes of UTF-8 in one line", error);
    return IFM_OK;
}

static enum ifm_status describe(const struct ifm_plugin *plugin, const struct ifm_setting *settings, size_t n,
                                const struct ifm_machine *machine, struct ifm_arena *arena, struct ifm_arm_list *arms,
                                const char **why_not, struct ifm_error *error)
{
    const struct ifm_section *section = &plugin->section;
    union ifm_plugin_field *fields = IFM_ARENA_ARRAY(arena, union ifm_plugin_field, section->n + 1);
    struct inferometer_plugin_ledger ledger = {.struct_size = sizeof ledger};
    const struct inferometer_plugin *table = &plugin->table;
    struct link link;
    *arms = (struct ifm_arm_list){0};
    *why_not = NULL;
    IFM_TRY(ifm_section_bind(section, settings, n, arena, fields, error));
    unsigned workers = machine->threads;
    if (table->most_workers != 0 && workers > table->most_workers)
        workers = table->most_workers;
    link_up(&link, plugin, "", NULL, workers);
    const struct inferometer_plugin_value *values = convert_all(section, fields, arena);
    struct ifm_ambient before;
    ifm_ambient_save(&before);
    ifm_plugin_ask(plugin->identity.file, "describe");
    int failed = table->describe(values, &link.host, &ledger);
    ifm_plugin_ask(NULL, NULL);
    const char *changed = ifm_ambient_restore(&before);
    if (failed != 0)
        return refused(&link, IFM_USAGE, "describe", error);
    if (changed != NULL)
        return ifm_fail(error, IFM_USAGE, plugin->identity.file, "put it back before the call returns",
                        "describe changed %s", changed);
    enum ifm_status status = check_ledger(plugin, &ledger, error);
    if (status != IFM_OK) /* nothing has run: a plugin that cannot be used */
        return status = error->code = IFM_USAGE;
    *why_not = ifm_arena_strdup(arena, ledger.why_not);
    if (*why_not != NULL)
        return IFM_OK;
    struct ifm_arm *arm = IFM_ARENA_NEW(arena, struct ifm_arm);
    *arm = (struct ifm_arm){
        .name = plugin->section.name,
        .implementation = plugin->implementation.name,
        .title = plugin->implementation.title,
        .feature = ledger.feature == NULL ? "" : ifm_arena_strdup(arena, ledger.feature),
        .ledger = {.flops = ledger.flops,
                   .bytes_read = ledger.bytes_read,
                   .bytes_written = ledger.bytes_written,
                   .tokens_prompt = ledger.tokens_prompt,
                   .tokens_generated = ledger.tokens_generated,
                   .rows = ledger.rows},
        .working_set = ledger.working_set,
        .memory = ledger.memory,
        .lossy = ledger.lossy != 0,
        .has_oracle = table->check != NULL,
        .tolerance = ledger.tolerance,
        .gaps = table->before != NULL || table->after != NULL,
    };
    *arms = (struct ifm_arm_list){.items = arm, .n = 1};
    return IFM_OK;
}

/* ifm_describe_fn knows no workload, so each place in the list of plugins has a function of its own. */
#define DESCRIBE(index)                                                                                                \
    static enum ifm_status describe_##index(const struct ifm_setting *settings, size_t n,                              \
                                            const struct ifm_machine *machine, struct ifm_arena *arena,                \
                                            struct ifm_arm_list *arms, const char **why_not, struct ifm_error *error)  \
    {                                                                                                                  \
        return describe(&ifm_plugins[index], settings, n, machine, arena, arms, why_not, error);                       \
    }
DESCRIBE(0)
DESCRIBE(1)
DESCRIBE(2)
DESCRIBE(3)
DESCRIBE(4)
DESCRIBE(5)
DESCRIBE(6)
DESCRIBE(7)
static ifm_describe_fn *const describers[IFM_PLUGINS_MOST] = {describe_0, describe_1, describe_2, describe_3,
                                                              describe_4, describe_5, describe_6, describe_7};

/* ---- the state ---- */

static const struct ifm_plugin *plugin_of(const struct ifm_workload *workload)
{
    for (size_t i = 0; i < IFM_PLUGINS_MOST; i++)
        if (workload == &ifm_plugins[i].workload)
            return &ifm_plugins[i];
    return NULL;
}

static enum ifm_status open_plugin(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_plugin *plugin = plugin_of(opening->workload);
    const char *arm = opening->arm->name;
    if (plugin == NULL)
        return ifm_fail(error, IFM_INTERNAL, arm, NULL, "no plugin '%s' is loaded", opening->workload->name);
    struct plugin_state *state = opened;
    state->plugin = plugin;
    const unsigned most = plugin->table.most_workers, threads = opening->threads;
    link_up(&state->link, plugin, arm, opening->device, most != 0 && threads > most ? most : threads);
    state->link.threads = threads > 0 ? threads : 1;
    state->tolerance = opening->arm->tolerance;
    watch_threads(&state->link, true);
    struct ifm_arena *arena = ifm_arena_create();
    const struct inferometer_plugin_value *values = convert_all(&plugin->section, opening->settings, arena);
    ifm_plugin_ask(plugin->identity.file, "open");
    state->is_open = plugin->table.open(values, opening->seed, &state->link.host, &state->inner) == 0;
    ifm_plugin_ask(NULL, NULL);
    ifm_arena_destroy(arena);
    return state->is_open ? IFM_OK : refused(&state->link, IFM_INVALID, "open", error);
}

/* One step a call: what is asked for several at once can compute one of them. A call takes about 2 ns, of every arm. */
static void step(void *opened, uint64_t n)
{
    const struct plugin_state *state = opened;
    for (; n > 0; n--)
        state->plugin->table.step(state->inner, 1);
}

static enum ifm_status take_check(const struct ifm_plugin *plugin, const struct inferometer_plugin_check *theirs,
                                  struct ifm_check *out, struct ifm_error *error)
{
    if (theirs->finite > 1)
        return broken(plugin, "check: finite is neither 0 nor 1", error);
    if (theirs->values == 0 || theirs->values > INT64_MAX)
        return broken(plugin, "check: values is 0, so nothing was compared", error);
    if (theirs->output == NULL || theirs->output_bytes == 0)
        return broken(plugin, "check: output is NULL or empty; the lab hashes the outputs", error);
    bool sound = isfinite(theirs->error_rms_rel) && theirs->error_rms_rel >= 0 && isfinite(theirs->error_max_rel) &&
                 theirs->error_max_rel >= 0;
    if (theirs->finite == 1 && !sound)
        return broken(plugin, "check: an error of finite outputs is not a finite number of 0 or more", error);
    *out = (struct ifm_check){
        .done = true,
        .error_rms_rel = sound ? theirs->error_rms_rel : 0, /* read by nobody where the outputs are not finite */
        .error_max_rel = sound ? theirs->error_max_rel : 0,
        .values = theirs->values,
        .finite = theirs->finite == 1,
        .output_xxh3 = ifm_xxh3(theirs->output, theirs->output_bytes),
    };
    return IFM_OK;
}

static enum ifm_status ask_check(struct plugin_state *state, struct ifm_check *out, struct ifm_error *error)
{
    struct inferometer_plugin_check theirs = {.struct_size = sizeof theirs};
    struct ifm_check taken;
    state->link.message[0] = '\0';
    ifm_plugin_ask(state->plugin->identity.file, "check");
    int failed = state->plugin->table.check(state->inner, &theirs);
    ifm_plugin_ask(NULL, NULL);
    if (failed != 0)
        return refused(&state->link, IFM_INVALID, "check", error);
    IFM_TRY(take_check(state->plugin, &theirs, &taken, error));
    const char *why = ifm_plugin_output_lies(&state->link.output, theirs.output, theirs.output_bytes);
    if (why != NULL) {
        char text[WORDS_MOST];
        snprintf(text, sizeof text, "check: output %s", why);
        return broken(state->plugin, text, error);
    }
    *out = taken;
    return IFM_OK;
}

static bool is_right(const struct plugin_state *state, const struct ifm_check *check)
{
    return check->finite && check->error_rms_rel <= state->tolerance && check->error_max_rel <= state->tolerance;
}

/* A check that accepts an output which no step has written looks at something else, and no later one is worth more. */
static enum ifm_status try_the_check(struct plugin_state *state, struct ifm_error *error)
{
    const struct ifm_plugin_part out = state->link.output.out;
    struct ifm_check check;
    struct ifm_error why;
    void *kept = malloc(out.bytes);
    if (kept == NULL)
        return ifm_fail(error, IFM_INTERNAL, state->link.arm, NULL, "out of memory");
    memcpy(kept, out.at, out.bytes);
    ifm_plugin_output_spoil(&state->link.output, true);
    state->sees = ask_check(state, &check, &why) != IFM_OK || !is_right(state, &check);
    memcpy(out.at, kept, out.bytes);
    free(kept);
    return state->sees ? IFM_OK
                       : broken(state->plugin,
                                "check: accepts an output that the lab has overwritten by 0xff, so it does not "
                                "compare what a step writes",
                                error);
}

static enum ifm_status check(void *opened, struct ifm_check *out, struct ifm_error *error)
{
    struct plugin_state *state = opened;
    struct ifm_check taken;
    *out = (struct ifm_check){0};
    IFM_TRY(ask_check(state, &taken, error));
    if (!state->sees && is_right(state, &taken))
        IFM_TRY(try_the_check(state, error));
    *out = taken;
    return IFM_OK;
}

static void spoil(void *opened, bool all)
{
    ifm_plugin_output_spoil(&((struct plugin_state *)opened)->link.output, all);
}

static uint64_t feature_runs(const void *opened)
{
    const struct plugin_state *state = opened;
    return state->plugin->table.feature_runs(state->inner);
}

static void close_plugin(void *opened)
{
    struct plugin_state *state = opened;
    if (state->plugin == NULL)
        return;
    ifm_plugin_ask(state->plugin->identity.file, "close");
    if (state->is_open)
        state->plugin->table.close(state->inner);
    ifm_plugin_ask(NULL, NULL);
    ifm_plugin_output_free(&state->link.output);
    watch_threads(&state->link, false);
}

static enum ifm_status hook(struct plugin_state *state, int (*function)(void *), const char *name,
                            struct ifm_error *error)
{
    state->link.message[0] = '\0';
    ifm_plugin_ask(state->plugin->identity.file, name);
    int failed = function(state->inner);
    ifm_plugin_ask(NULL, NULL);
    return failed == 0 ? IFM_OK : refused(&state->link, IFM_INVALID, name, error);
}

static enum ifm_status before(void *opened, struct ifm_error *error)
{
    struct plugin_state *state = opened;
    return hook(state, state->plugin->table.before, "before", error);
}

static enum ifm_status after(void *opened, struct ifm_error *error)
{
    struct plugin_state *state = opened;
    return hook(state, state->plugin->table.after, "after", error);
}

_Static_assert(INFEROMETER_PLUGIN_ABSENT == IFM_ABSENT, "a counter that was not read stays that");

static void collect(void *opened, int64_t *columns)
{
    struct plugin_state *state = opened;
    for (size_t i = 0; i < state->plugin->workload.n_columns; i++)
        columns[i] = IFM_ABSENT;
    state->plugin->table.collect(state->inner, columns);
}

void ifm_plugin_adapt(unsigned index)
{
    struct ifm_plugin *plugin = &ifm_plugins[index];
    const struct inferometer_plugin *table = &plugin->table;
    struct ifm_workload *workload = &plugin->workload;
    workload->name = plugin->section.name;
    workload->purpose = plugin->section.help;
    workload->timed_region = table->timed_region;
    workload->most_threads = table->most_workers;
    workload->params = &plugin->section;
    workload->describe = describers[index];
    workload->has_oracle = table->check != NULL;
    workload->implementations = plugin->implementations;
    workload->plugin = &plugin->identity;
    plugin->implementations[0] = &plugin->implementation;
    plugin->implementation = (struct ifm_implementation){
        .name = IFM_PLUGIN_IMPLEMENTATION,
        .title = plugin->section.name,
        .device = "cpu",
        .purpose = plugin->section.help,
        .state_bytes = sizeof(struct plugin_state),
        .open = open_plugin,
        .step = step,
        .check = table->check == NULL ? NULL : check,
        .spoil = table->check == NULL ? NULL : spoil,
        .feature_runs = table->feature_runs == NULL ? NULL : feature_runs,
        .collect = table->n_counters == 0 ? NULL : collect,
        .close = close_plugin,
        .before = table->before == NULL ? NULL : before,
        .after = table->after == NULL ? NULL : after,
    };
}
