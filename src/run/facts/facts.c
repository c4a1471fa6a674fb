/* Facts into run.log. */
#include "run/facts/facts.h"

#include "base/log.h"
#include "base/text.h"
#include "host/host.h"
#include "lock/lock.h"
#include "workload/workload.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

int64_t ifm_session_now(const struct ifm_session *session, struct ifm_device *device)
{
    return session->offset_ns + device->ops->mark(device).ns - session->base.ns;
}

void ifm_session_behind(struct ifm_session *session, struct ifm_device *device, int64_t end_ns)
{
    int64_t now_ns = ifm_session_now(session, device);
    if (now_ns <= end_ns)
        session->offset_ns += end_ns + 1 - now_ns;
}

enum ifm_status ifm_fact_add(struct ifm_session *session, const struct ifm_event *event, struct ifm_error *error)
{
    if (session->journal == NULL)
        return IFM_OK;
    enum ifm_status status = ifm_journal_add(session->journal, event, error);
    session->unwritten |= status != IFM_OK;
    return status;
}

enum ifm_status ifm_fact_device(struct ifm_session *session, struct ifm_device *device, const char *cell,
                                struct ifm_error *error)
{
    if (device->ops->facts == NULL)
        return IFM_OK;
    json_t *facts = device->ops->facts(device);
    enum ifm_status status = IFM_FACT(session, error, device, true, .facts = facts, .cell = cell);
    json_decref(facts);
    return status;
}

static enum ifm_status load_fact(struct ifm_session *session, const char *when, bool is_fake, struct ifm_error *error)
{
    /* Other load does not disturb a scripted clock. */
    double load = is_fake ? -1 : ifm_host_foreign_load(IFM_LOAD_WINDOW_MS);
    if (load > IFM_LOADED && isfinite(load) &&
        strcmp(when, "before") == 0 && /* the report has the reading after the run too */
        !(session->waited_s > 0))      /* in vain, which was said */
        ifm_warn("other programs take %.0f %% of each CPU: expect wide intervals, or no verdict",
                 ifm_load_percent(load));
    load = load >= 0 && isfinite(load) ? load : NAN; /* a clock may stand still */
    const bool before = strcmp(when, "before") == 0, vain = session->waited_s > 0 && before;
    return IFM_FACT(session, error, load, true, .when = when, .foreign_load = load,
                    .waited_s = vain ? session->waited_s : NAN,
                    .asked_s = session->asked_s > 0 && before ? session->asked_s : NAN);
}

/* The names of the knobs that are not locked. */
static void list_open(const struct ifm_knobs *knobs, struct ifm_text *names)
{
    for (size_t i = 0; i < knobs->n; i++)
        if (!knobs->items[i].locked)
            ifm_text_printf(names, "%s%s", names->size > 0 ? ", " : "", knobs->items[i].knob);
}

static enum ifm_status write_locks(struct ifm_session *session, const char *when, const struct ifm_knobs *knobs,
                                   bool required, struct ifm_error *error)
{
    struct ifm_text open = {0};
    enum ifm_status status = IFM_OK;
    list_open(knobs, &open);
    if (required && open.size > 0)
        status = ifm_fail(error, IFM_MISSING, "measure.locks",
                          "lock them (`inferometer doctor` says how), or choose measure.locks=observed",
                          "locks are required, and not locked: %s", open.data);
    ifm_text_free(&open);
    if (status == IFM_OK)
        status = IFM_FACT(session, error, locks, true, .when = when, .knobs = *knobs);
    return status;
}

enum ifm_status ifm_fact_locks(struct ifm_session *session, const char *when, bool required, struct ifm_error *error)
{
    /* Governor, turbo, frequency and affinity are the CPU's; what a GPU runs at is its own. */
    json_t *list = session->on_gpu ? ifm_host_gpu_locks(session->gpu_bus) : ifm_host_locks("");
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_knobs knobs;
    enum ifm_status status = ifm_knobs_decode(list, arena, &knobs, error);
    if (status == IFM_OK)
        status = write_locks(session, when, &knobs, required, error);
    ifm_arena_destroy(arena);
    json_decref(list);
    return status;
}

static bool runs(const struct ifm_plan *plan, const char *workload)
{
    for (size_t i = 0; i < plan->n_cells; i++)
        if (strcmp(plan->cells[i].workload, workload) == 0)
            return true;
    return false;
}

enum ifm_status ifm_fact_plugins(struct ifm_session *session, const struct ifm_plan *plan, struct ifm_error *error)
{
    for (size_t i = 0; ifm_workloads[i] != NULL; i++) {
        const struct ifm_plugin_identity *plugin = ifm_workloads[i]->plugin;
        if (plugin == NULL || !runs(plan, ifm_workloads[i]->name))
            continue;
        IFM_TRY(IFM_FACT(session, error, plugin, true, .name = ifm_workloads[i]->name, .file = plugin->file,
                         .sha256 = plugin->sha256, .abi = plugin->abi));
    }
    return IFM_OK;
}

enum ifm_status ifm_fact_environment(struct ifm_session *session, const char *when, bool is_fake,
                                     struct ifm_error *error)
{
    if (session->journal == NULL)
        return IFM_OK;
    if (strcmp(when, "before") == 0) {
        json_t *fingerprint = ifm_host_fingerprint("");
        enum ifm_status status = IFM_FACT(session, error, environment, true, .fingerprint = fingerprint);
        json_decref(fingerprint);
        IFM_TRY(status);
    }
    return load_fact(session, when, is_fake, error);
}

enum ifm_status ifm_fact_gpu_state(struct ifm_session *session, const char *when, const char *cell, const char *at,
                                   struct ifm_error *error)
{
    if (!session->watches_gpu || session->journal == NULL)
        return IFM_OK;
    /* Before the device is open there is no time axis yet: the reading then stands on that of the clock itself. */
    json_t *gpus = ifm_host_gpu_state(session->on_gpu, session->base.ns - session->offset_ns);
    enum ifm_status status = IFM_OK;
    if (session->on_gpu || json_is_array(gpus)) /* not of a machine without a GPU */
        status = IFM_FACT(session, error, gpu_state, true, .when = when, .gpus = gpus, .cell = cell, .at = at);
    json_decref(gpus);
    return status;
}

static double known(bool is, double number)
{
    return is ? number : NAN;
}

enum ifm_status ifm_fact_check(struct ifm_session *session, const char *cell, const char *arm, const char *when,
                               const struct ifm_check *check, struct ifm_error *error)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)check->output_xxh3);
    /* What does not apply is NaN; a divergence without a bound is a fact. */
    const struct ifm_event_loss loss = {check->loss_rms_rel, check->loss_p99_rel, check->loss_cosine,
                                        isinf(check->loss_kl) ? -1.0 : check->loss_kl, check->loss_tv};
    const struct ifm_event_check facts = {
        .cell = cell,
        .arm = arm,
        .when = when,
        .done = check->done,
        .error_rms_rel = known(check->done, check->error_rms_rel),
        .error_max_rel = known(check->done, check->error_max_rel),
        .error_part = known(check->done && check->has_part, check->error_part),
        .error_row = known(check->done && check->has_rows, check->error_row),
        .error_bias = known(check->done && check->has_rows, check->error_bias),
        .values = check->done ? (int64_t)check->values : IFM_ABSENT,
        .finite = check->done && check->finite,
        .output_xxh3 = check->done ? hash : NULL,
        .sets_differ = check->done && check->sets_differ,
        .isa = check->isa[0] != '\0' ? check->isa : NULL,
        .loss = check->has_loss ? &loss : NULL,
        .quality_percent = known(check->has_quality, check->quality_percent),
    };
    return ifm_fact_add(session, IFM_EVENT_OF(check, !check->done || check->finite, &facts), error);
}
