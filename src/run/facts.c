/* Facts into run.log. */
#include "run/facts.h"

#include "base/log.h"
#include "base/text.h"
#include "host/host.h"
#include "workload/workload.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Above this many foreign running tasks per CPU a timing is visibly disturbed: said, and tagged by derive. */
static const double LOADED = 0.10;

enum ifm_status ifm_fact_new(struct ifm_session *session, const char *stage, bool ok, json_t *meta,
                             struct ifm_error *error)
{
    if (session->journal == NULL) {
        json_decref(meta);
        return IFM_OK;
    }
    return ifm_journal_add_new(session->journal, stage, ok, meta, error);
}

static enum ifm_status load_fact(struct ifm_session *session, const char *when, bool is_fake, struct ifm_error *error)
{
    /* A scripted clock does not care who else is running. */
    double load = is_fake ? -1 : ifm_host_foreign_load(IFM_LOAD_WINDOW_MS);
    if (load > LOADED && strcmp(when, "before") == 0) /* the report has the reading after the run too */
        ifm_warn(
            "this machine is busy with other work (%.0f %% of each allowed CPU): expect wider intervals; the run is "
            "tagged",
            100 * load);
    json_t *value = load < 0 ? json_null() : json_real(load);
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
    json_t *knobs = ifm_host_locks();
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

/* What does not apply is NaN and left out: JSON has no NaN, and derive takes nothing for a number. */
static json_t *loss_json(const struct ifm_check *check)
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
            json_object_set_new(loss, members[i].key, json_real(members[i].number));
    return loss;
}

enum ifm_status ifm_fact_check(struct ifm_session *session, const char *cell, const char *arm, const char *when,
                               const struct ifm_check *check, struct ifm_error *error)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)check->output_xxh3);
    json_t *meta = json_pack("{s:s, s:s, s:s, s:b}", "cell", cell, "arm", arm, "when", when, "done", check->done);
    if (check->done) {
        json_object_set_new(meta, "error_rms_rel", json_real(check->error_rms_rel));
        json_object_set_new(meta, "error_max_rel", json_real(check->error_max_rel));
        if (check->has_part)
            json_object_set_new(meta, "error_part", json_real(check->error_part));
        json_object_set_new(meta, "values", json_integer((json_int_t)check->values));
        json_object_set_new(meta, "finite", json_boolean(check->finite));
        json_object_set_new(meta, "output_xxh3", json_string(hash));
        if (check->sets_differ)
            json_object_set_new(meta, "sets_differ", json_true());
    }
    if (check->isa[0] != '\0')
        json_object_set_new(meta, "isa", json_string(check->isa));
    if (check->has_loss)
        json_object_set_new(meta, "loss", loss_json(check));
    if (check->has_quality)
        json_object_set_new(meta, "quality_percent", json_real(check->quality_percent));
    return ifm_fact_new(session, "check", !check->done || check->finite, meta, error);
}
