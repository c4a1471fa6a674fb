/* A plugin's table as a workload: values in, errors and ledgers out.
 *
 * What the timed region contains: what the plugin's own says. The adapter adds one branch and one indirect call to a
 * sample, not to a step. Everything that a plugin hands out is checked here before anybody else sees it. */
#include "base/ambient.h"
#include "base/hash.h"
#include "base/text.h"
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
               "check.c takes the types over as numbers");

struct plugin_state {
    const struct ifm_plugin *plugin;
    void *inner;
    bool on_gpu;
    bool is_open; /* the plugin's own open has made `inner` */
    bool sees;    /* its check has refused an output that the lab had overwritten */
    double tolerance;
    struct ifm_plugin_link link;
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
static void watch_threads(const struct ifm_plugin_link *link, bool watch)
{
    static unsigned watching;
    pthread_once(&inside_once, make_key);
    watching += watch ? 1U : -1U;
    if (watch || watching == 0)
        link->device->ops->parallel(link->device, link->threads, mark_thread, watch ? &inside : NULL);
}

/* ---- describe ---- */

static enum ifm_status check_ledger(const struct ifm_plugin *plugin, const struct inferometer_plugin_ledger *ledger,
                                    struct ifm_error *error)
{
    const char *feature = ledger->feature, *why_not = ledger->why_not;
    if (!isfinite(ledger->tolerance) || ledger->tolerance < 0)
        return ifm_plugin_broken(plugin, "describe: tolerance is not a finite number of 0 or more", error);
    if (ledger->lossy > 1)
        return ifm_plugin_broken(plugin, "describe: lossy is neither 0 nor 1", error);
    if (ledger->no_graph > 1)
        return ifm_plugin_broken(plugin, "describe: no_graph is neither 0 nor 1", error);
    if (feature != NULL &&
        (strnlen(feature, IFM_PLUGIN_WORDS_MOST + 1) > IFM_PLUGIN_WORDS_MOST || !ifm_plugin_text_valid(feature)))
        return ifm_plugin_broken(plugin, "describe: feature is not at most 400 bytes of UTF-8 in one line", error);
    if (feature != NULL && feature[0] != '\0' && plugin->table.feature_runs == NULL)
        return ifm_plugin_broken(
            plugin, "describe names a feature, but feature_runs is NULL: nobody can count its runs", error);
    if (why_not != NULL && (why_not[0] == '\0' || strnlen(why_not, IFM_PLUGIN_WORDS_MOST + 1) > IFM_PLUGIN_WORDS_MOST ||
                            !ifm_plugin_text_valid(why_not)))
        return ifm_plugin_broken(plugin, "describe: why_not is not 1 to 400 bytes of UTF-8 in one line", error);
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
    struct ifm_plugin_link link;
    *arms = (struct ifm_arm_list){0};
    *why_not = NULL;
    IFM_TRY(ifm_section_bind(section, settings, n, arena, fields, error));
    unsigned workers = machine->threads;
    if (table->most_workers != 0 && workers > table->most_workers)
        workers = table->most_workers;
    ifm_plugin_link_up(&link, plugin, "", NULL, workers);
    if (machine->gpu != NULL)
        ifm_plugin_gpu_link(&link, machine->gpu);
    const struct inferometer_plugin_value *values = ifm_plugin_values(section, fields, arena);
    struct ifm_ambient before;
    ifm_ambient_save(&before);
    ifm_plugin_ask(plugin->identity.file, "describe");
    int failed = table->describe(values, &link.host, &ledger);
    ifm_plugin_ask(NULL, NULL);
    const char *changed = ifm_ambient_restore(&before);
    if (failed != 0)
        return ifm_plugin_refused(&link, IFM_USAGE, "describe", error);
    if (changed != NULL)
        return ifm_fail(error, IFM_USAGE, plugin->identity.file, "put it back before the call returns",
                        "describe changed %s", changed);
    enum ifm_status status = check_ledger(plugin, &ledger, error);
    if (status != IFM_OK) /* nothing has run: a plugin that cannot be used */
        return status = error->code = IFM_USAGE;
    *why_not = ifm_arena_strdup(arena, ledger.why_not);
    if (*why_not != NULL)
        return IFM_OK;
    const struct ifm_plugin_chosen chosen = {ledger.no_graph != 0 ? IFM_PLUGIN_BY_STEP : IFM_PLUGIN_BY_GRAPH};
    struct ifm_arm *arm = IFM_ARENA_NEW(arena, struct ifm_arm);
    *arm = (struct ifm_arm){
        .chosen = machine->gpu == NULL ? NULL : ifm_section_print(&ifm_plugin_chosen, &chosen, arena),
        .n_chosen = machine->gpu == NULL ? 0 : ifm_plugin_chosen.n,
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

/* ---- calls into the plugin ---- */

/* What a call has left behind, once it has succeeded. */
static enum ifm_status after_call(const struct plugin_state *state, const char *function, struct ifm_error *error)
{
    return state->on_gpu ? ifm_plugin_gpu_after(&state->link, function, error) : IFM_OK;
}

static enum ifm_status hook(struct plugin_state *state, int (*function)(void *), const char *name,
                            struct ifm_error *error)
{
    state->link.message[0] = '\0';
    ifm_plugin_ask(state->plugin->identity.file, name);
    int failed = function(state->inner);
    ifm_plugin_ask(NULL, NULL);
    if (failed != 0)
        return ifm_plugin_refused(&state->link, IFM_INVALID, name, error);
    return state->on_gpu ? ifm_plugin_gpu_kept(&state->link, name, error) : IFM_OK;
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

/* One step a call: what is asked for several at once can compute one of them. A call takes about 2 ns, of every arm. */
static void step(void *opened, uint64_t n)
{
    const struct plugin_state *state = opened;
    for (; n > 0; n--)
        state->plugin->table.step(state->inner, 1);
}

static void enqueue(void *opened)
{
    step(opened, 1);
}

static void step_gpu(void *opened, uint64_t n)
{
    const struct plugin_state *state = opened;
    ifm_cuda_steps_run(state->link.steps, n);
}

/* A first step on a GPU that is not captured: what is made on first use is made in it, and it says what fails. */
static enum ifm_status first_step(struct plugin_state *state, struct ifm_error *error)
{
    const struct inferometer_plugin *table = &state->plugin->table;
    IFM_TRY(after_call(state, "open", error));
    if (table->before != NULL)
        IFM_TRY(before(state, error));
    ifm_plugin_ask(state->plugin->identity.file, "step");
    step(state, 1);
    ifm_plugin_ask(NULL, NULL);
    IFM_TRY(after_call(state, "step", error));
    return table->after == NULL ? IFM_OK : after(state, error);
}

/* ---- open ---- */

static enum ifm_status open_plugin(const struct ifm_opening *opening, void *opened, struct ifm_error *error)
{
    const struct ifm_plugin *plugin = plugin_of(opening->workload);
    const char *arm = opening->arm->name;
    if (plugin == NULL)
        return ifm_fail(error, IFM_INTERNAL, arm, NULL, "no plugin '%s' is loaded", opening->workload->name);
    struct plugin_state *state = opened;
    state->plugin = plugin;
    const unsigned most = plugin->table.most_workers, threads = opening->threads;
    ifm_plugin_link_up(&state->link, plugin, arm, opening->device, most != 0 && threads > most ? most : threads);
    state->link.threads = threads > 0 ? threads : 1;
    state->tolerance = opening->arm->tolerance;
    state->on_gpu = opening->implementation == &plugin->on_gpu;
    watch_threads(&state->link, true);
    if (state->on_gpu) {
        const struct ifm_plugin_chosen *chosen = opening->chosen;
        ifm_plugin_gpu_link(&state->link, ifm_cuda_gpu(opening->device));
        IFM_TRY(ifm_plugin_gpu_begin(&state->link, enqueue, state, chosen->launch == IFM_PLUGIN_BY_STEP, error));
    }
    struct ifm_arena *arena = ifm_arena_create();
    const struct inferometer_plugin_value *values = ifm_plugin_values(&plugin->section, opening->settings, arena);
    ifm_plugin_ask(plugin->identity.file, "open");
    state->is_open = plugin->table.open(values, opening->seed, &state->link.host, &state->inner) == 0;
    ifm_plugin_ask(NULL, NULL);
    ifm_arena_destroy(arena);
    if (!state->is_open)
        return ifm_plugin_refused(&state->link, IFM_INVALID, "open", error);
    return state->on_gpu ? first_step(state, error) : IFM_OK;
}

/* ---- check ---- */

static enum ifm_status take_check(const struct ifm_plugin *plugin, const struct inferometer_plugin_check *theirs,
                                  struct ifm_check *out, struct ifm_error *error)
{
    if (theirs->finite > 1)
        return ifm_plugin_broken(plugin, "check: finite is neither 0 nor 1", error);
    if (theirs->values == 0 || theirs->values > INT64_MAX)
        return ifm_plugin_broken(plugin, "check: values is 0, so nothing was compared", error);
    if (theirs->output == NULL || theirs->output_bytes == 0)
        return ifm_plugin_broken(plugin, "check: output is NULL or empty; the lab hashes the outputs", error);
    bool sound = isfinite(theirs->error_rms_rel) && theirs->error_rms_rel >= 0 && isfinite(theirs->error_max_rel) &&
                 theirs->error_max_rel >= 0;
    if (theirs->finite == 1 && !sound)
        return ifm_plugin_broken(plugin, "check: an error of finite outputs is not a finite number of 0 or more",
                                 error);
    *out = (struct ifm_check){
        .done = true,
        .error_rms_rel = sound ? theirs->error_rms_rel : 0, /* read by nobody where the outputs are not finite */
        .error_max_rel = sound ? theirs->error_max_rel : 0,
        .values = theirs->values,
        .finite = theirs->finite == 1,
    };
    return IFM_OK;
}

static enum ifm_status hash_output(const struct plugin_state *state, struct ifm_check *out, struct ifm_error *error)
{
    const struct ifm_plugin_part *part = &state->link.output.out;
    void *copy = NULL;
    if (state->on_gpu) {
        copy = malloc(part->bytes);
        if (copy == NULL)
            return ifm_fail(error, IFM_INTERNAL, state->link.arm, NULL, "out of memory");
        const enum ifm_status status = ifm_plugin_output_read(&state->link.output, copy, error);
        if (status != IFM_OK) {
            free(copy);
            return status;
        }
    }
    out->output_xxh3 = ifm_xxh3(copy == NULL ? part->at : copy, part->bytes);
    free(copy);
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
        return ifm_plugin_refused(&state->link, IFM_INVALID, "check", error);
    IFM_TRY(after_call(state, "check", error));
    IFM_TRY(take_check(state->plugin, &theirs, &taken, error));
    const char *why = ifm_plugin_output_lies(&state->link.output, theirs.output, theirs.output_bytes);
    if (why != NULL) {
        char text[IFM_PLUGIN_WORDS_MOST];
        snprintf(text, sizeof text, "check: output %s", why);
        return ifm_plugin_broken(state->plugin, text, error);
    }
    IFM_TRY(hash_output(state, &taken, error));
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
    enum ifm_status status = ifm_plugin_output_read(&state->link.output, kept, error);
    if (status == IFM_OK) {
        ifm_plugin_output_spoil(&state->link.output, true);
        state->sees = ask_check(state, &check, &why) != IFM_OK || !is_right(state, &check);
        status = ifm_plugin_output_write(&state->link.output, kept, error);
    }
    free(kept);
    if (status != IFM_OK)
        return status;
    return state->sees
               ? IFM_OK
               : ifm_plugin_broken(state->plugin,
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
    const struct plugin_state *state = opened;
    if (all)
        ifm_plugin_gpu_delay(&state->link);
    ifm_plugin_output_spoil(&state->link.output, all);
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
    ifm_cuda_steps_destroy(state->link.steps); /* their graphs hold the plugin's kernels */
    ifm_plugin_ask(state->plugin->identity.file, "close");
    if (state->is_open)
        state->plugin->table.close(state->inner);
    ifm_plugin_ask(NULL, NULL);
    if (state->on_gpu)
        (void)ifm_cuda_restore_context(state->link.device);
    ifm_plugin_output_free(&state->link.output);
    watch_threads(&state->link, false);
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
    const struct ifm_implementation row = {
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
    size_t n = 0;
    plugin->implementation = plugin->on_gpu = row;
    plugin->on_gpu.device = "cuda";
    plugin->on_gpu.step = step_gpu;
    if (table->devices == 0 || (table->devices & INFEROMETER_PLUGIN_CPU) != 0)
        plugin->implementations[n++] = &plugin->implementation;
    if ((table->devices & INFEROMETER_PLUGIN_CUDA) != 0) {
        plugin->implementations[n++] = &plugin->on_gpu;
        workload->chosen = &ifm_plugin_chosen;
    }
}
