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

enum ifm_status ifm_fact_new(struct ifm_session *session, const char *stage, bool ok, json_t *meta,
                             struct ifm_error *error)
{
    if (session->journal == NULL) {
        json_decref(meta);
        return IFM_OK;
    }
    enum ifm_status status = IFM_OK;
    if (meta == NULL) /* an event without members would read as one that has none */
        status = ifm_fail(error, IFM_INTERNAL, "run.log", "free some memory, then go on with run --resume",
                          "out of memory for the facts of stage \"%s\"", stage);
    else
        status = ifm_journal_add_new(session->journal, stage, ok, meta, error);
    session->unwritten |= status != IFM_OK;
    return status;
}

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

const json_t *ifm_fact_last(const json_t *events, const char *stage, const char *cell, const char *arm)
{
    const json_t *found = NULL;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *meta = json_object_get(event, "meta");
        if (is_text(json_object_get(event, "stage"), stage) && is_text(json_object_get(meta, "cell"), cell) &&
            is_text(json_object_get(meta, "arm"), arm))
            found = meta;
    }
    return found;
}

static enum ifm_status load_fact(struct ifm_session *session, const char *when, bool is_fake, struct ifm_error *error)
{
    /* Other load does not disturb a scripted clock. */
    double load = is_fake ? -1 : ifm_host_foreign_load(IFM_LOAD_WINDOW_MS);
    if (load > IFM_LOADED && isfinite(load) &&
        strcmp(when, "before") == 0) /* the report has the reading after the run too */
        ifm_warn(
            "this machine is busy with other work (%.0f %% of each allowed CPU): expect wider intervals; the run is "
            "tagged",
            100 * load);
    json_t *value = load >= 0 && isfinite(load) ? json_real(load) : json_null(); /* a clock may stand still */
    return ifm_fact_new(session, "load", true, json_pack("{s:s, s:o}", "when", when, "foreign_load", value), error);
}

/* The names of the knobs that are not locked. */
static void list_open(const json_t *knobs, struct ifm_text *names)
{
    for (size_t i = 0; i < json_array_size(knobs); i++) {
        const json_t *knob = json_array_get(knobs, i);
        if (!json_is_true(json_object_get(knob, "locked")))
            ifm_text_printf(names, "%s%s", names->size > 0 ? ", " : "",
                            json_string_value(json_object_get(knob, "knob")));
    }
}

enum ifm_status ifm_fact_locks(struct ifm_session *session, const char *when, bool required, struct ifm_error *error)
{
    /* Governor, turbo, frequency and affinity are the CPU's; what a GPU runs at is its own. */
    json_t *knobs = session->on_gpu ? ifm_host_gpu_locks(session->gpu_bus) : ifm_host_locks();
    struct ifm_text open = {0};
    enum ifm_status status = IFM_OK;
    list_open(knobs, &open);
    if (required && open.size > 0)
        status = ifm_fail(error, IFM_MISSING, "measure.locks",
                          "lock them (`inferometer doctor` says how), or choose measure.locks=observed",
                          "locks are required, and not locked: %s", open.data);
    ifm_text_free(&open);
    if (status == IFM_OK)
        return ifm_fact_new(session, "locks", true, json_pack("{s:s, s:o}", "when", when, "knobs", knobs), error);
    json_decref(knobs);
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
        json_t *meta = json_pack("{s:s, s:s, s:s, s:I}", "name", ifm_workloads[i]->name, "file", plugin->file, "sha256",
                                 plugin->sha256, "abi", (json_int_t)plugin->abi);
        IFM_TRY(ifm_fact_new(session, "plugin", true, meta, error));
    }
    return IFM_OK;
}

enum ifm_status ifm_fact_environment(struct ifm_session *session, const char *when, bool is_fake,
                                     struct ifm_error *error)
{
    if (session->journal == NULL)
        return IFM_OK;
    if (strcmp(when, "before") == 0)
        IFM_TRY(ifm_fact_new(session, "environment", true, json_pack("{s:o}", "fingerprint", ifm_host_fingerprint()),
                             error));
    return load_fact(session, when, is_fake, error);
}

enum ifm_status ifm_fact_gpu_state(struct ifm_session *session, const char *when, const char *cell, const char *at,
                                   struct ifm_error *error)
{
    if (!session->watches_gpu || session->journal == NULL)
        return IFM_OK;
    /* Before the device is open there is no time axis yet: the reading then stands on that of the clock itself. */
    json_t *gpus = ifm_host_gpu_state(session->on_gpu, session->base.ns - session->offset_ns);
    if (!session->on_gpu && !json_is_array(gpus)) { /* a machine without a GPU */
        json_decref(gpus);
        return IFM_OK;
    }
    json_t *meta = json_pack("{s:s, s:o}", "when", when, "gpus", gpus);
    if (cell != NULL)
        json_object_update_new(meta, json_pack("{s:s, s:s}", "cell", cell, "at", at));
    return ifm_fact_new(session, "gpu_state", true, meta, error);
}

/* Without memory for a member the whole event fails: it must not be missing in silence. */
static void set(json_t *object, const char *key, json_t *value, bool *made)
{
    *made = json_object_set_new(object, key, value) == 0 && *made;
}

/* NaN means that a member does not apply: it is left out. */
static json_t *loss_json(const struct ifm_check *check, bool *made)
{
    const struct {
        const char *key;
        double number;
    } members[] = {{"rms_rel", check->loss_rms_rel},
                   {"p99_rel", check->loss_p99_rel},
                   {"cosine", check->loss_cosine},
                   {"kl", isinf(check->loss_kl) ? -1.0 : check->loss_kl}, /* a divergence without a bound is a fact */
                   {"tv", check->loss_tv}};
    json_t *loss = json_object();
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (isfinite(members[i].number))
            set(loss, members[i].key, json_real(members[i].number), made);
    return loss;
}

enum ifm_status ifm_fact_check(struct ifm_session *session, const char *cell, const char *arm, const char *when,
                               const struct ifm_check *check, struct ifm_error *error)
{
    char hash[20];
    bool made = true;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)check->output_xxh3);
    json_t *meta = json_pack("{s:s, s:s, s:s, s:b}", "cell", cell, "arm", arm, "when", when, "done", check->done);
    if (check->done) {
        set(meta, "error_rms_rel", json_real(check->error_rms_rel), &made);
        set(meta, "error_max_rel", json_real(check->error_max_rel), &made);
        if (check->has_part)
            set(meta, "error_part", json_real(check->error_part), &made);
        set(meta, "values", json_integer((json_int_t)check->values), &made);
        set(meta, "finite", json_boolean(check->finite), &made);
        set(meta, "output_xxh3", json_string(hash), &made);
        if (check->sets_differ)
            set(meta, "sets_differ", json_true(), &made);
    }
    if (check->isa[0] != '\0')
        set(meta, "isa", json_string(check->isa), &made);
    if (check->has_loss)
        set(meta, "loss", loss_json(check, &made), &made);
    if (check->has_quality)
        set(meta, "quality_percent", json_real(check->quality_percent), &made);
    if (!made) {
        json_decref(meta);
        meta = NULL;
    }
    return ifm_fact_new(session, "check", !check->done || check->finite, meta, error);
}

enum ifm_status ifm_fact_energy_sensor(struct ifm_session *session, const char *cell, const char *device,
                                       const char *source, double idle_w, double limit_w, double period_ns,
                                       struct ifm_error *error)
{
    json_t *meta = json_pack("{s:s, s:s, s:s}", "cell", cell, "device", device, "source", source);
    if (idle_w >= 0)
        json_object_set_new(meta, "idle_w", json_real(idle_w));
    if (limit_w >= 0)
        json_object_set_new(meta, "limit_w", json_real(limit_w));
    if (period_ns >= 0)
        json_object_set_new(meta, "period_ns", json_real(period_ns));
    return ifm_fact_new(session, "energy", true, meta, error);
}
