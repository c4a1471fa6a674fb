/* What the files in the shapes of the specification share: fields, siblings, settings. */
#include "publish/compat/compat.h"
#include "publish/summary.h"

#include <string.h>

struct ifm_compat ifm_compat_begin(const struct ifm_publication *from, const struct ifm_cell *cell,
                                   const struct ifm_arm *arm)
{
    return (struct ifm_compat){.from = from,
                               .cell = cell,
                               .arm = arm,
                               .object = json_object(),
                               .units = json_object(),
                               .n = json_object(),
                               .ci = json_object(),
                               .sd = json_object(),
                               .absent = json_object()};
}

json_t *ifm_compat_end(const struct ifm_compat *c)
{
    json_object_set_new(c->object, "_units", c->units);
    json_object_set_new(c->object, "_n", c->n);
    json_object_set_new(c->object, "_ci", c->ci);
    if (json_object_size(c->sd) > 0)
        json_object_set(c->object, "_sd", c->sd);
    json_decref(c->sd);
    json_object_set_new(c->object, "_absent", c->absent);
    return c->object;
}

void ifm_compat_absent(const struct ifm_compat *c, const char *path, const char *reason, const char *remedy)
{
    json_object_set_new(
        c->absent, path,
        json_pack("{s:s, s:s}", "reason", reason == NULL ? "" : reason, "remedy", remedy == NULL ? "" : remedy));
}

void ifm_compat_put(const struct ifm_compat *c, const char *path, json_t *value, const char *reason, const char *remedy)
{
    const char *dot = strchr(path, '.');
    json_t *target = c->object;
    if (dot != NULL) {
        char group[64];
        snprintf(group, sizeof group, "%.*s", (int)(dot - path), path);
        if (json_object_get(c->object, group) == NULL)
            json_object_set_new(c->object, group, json_object());
        target = json_object_get(c->object, group);
    }
    json_object_set_new(target, dot == NULL ? path : dot + 1, value == NULL ? json_null() : value);
    if (value == NULL && reason != NULL)
        ifm_compat_absent(c, path, reason, remedy);
}

void ifm_compat_put_text(const struct ifm_compat *c, const char *path, const char *text, const char *reason)
{
    ifm_compat_put(c, path, text[0] == '\0' ? NULL : json_string(text), reason, NULL);
}

void ifm_compat_put_environment(const struct ifm_compat *c, const char *path)
{
    char hex[13];
    ifm_compat_put_text(c, path, ifm_summary_environment(c->from->events, hex), "run.log holds no environment");
}

/* ---- numbers ---- */

const struct ifm_value *ifm_compat_value(const struct ifm_compat *c, enum ifm_metric_id metric)
{
    return c->arm == NULL ? NULL : ifm_derived_value(c->from->derived, c->cell->name, c->arm->name, metric);
}

bool ifm_compat_add_value(const struct ifm_compat *c, const struct ifm_compat_field *field,
                          const struct ifm_value *value)
{
    json_object_set_new(c->units, field->path, json_string(field->unit));
    if (value == NULL || value->state != IFM_STATE_OK) {
        const char *reason = value == NULL ? field->reason : value->reason;
        ifm_compat_put(c, field->path, NULL, reason == NULL ? "" : reason, value == NULL ? c->remedy : value->remedy);
        return false;
    }
    bool whole = value->is_integer && field->divide == 1.0;
    ifm_compat_put(c, field->path,
                   whole ? json_integer((json_int_t)value->number) : json_real(value->number / field->divide), NULL,
                   NULL);
    if (value->n > 0)
        json_object_set_new(c->n, field->path, json_integer(value->n));
    if (value->has_interval)
        json_object_set_new(c->ci, field->path,
                            json_pack("{s:f,s:f,s:f}", "low", value->low / field->divide, "high",
                                      value->high / field->divide, "level", value->level));
    if (value->has_sd)
        json_object_set_new(c->sd, field->path, json_real(value->sd / field->divide));
    return true;
}

bool ifm_compat_add(const struct ifm_compat *c, const struct ifm_compat_field *field)
{
    struct ifm_compat_field own = *field;
    struct ifm_compat at = *c;
    if (c->cell != NULL && c->cell->unsupported != NULL && c->cell->unsupported[0] != '\0') {
        own.reason = c->cell->unsupported;
        at.remedy = NULL;
    }
    return ifm_compat_add_value(&at, &own, ifm_compat_value(c, field->metric));
}

void ifm_compat_add_all(const struct ifm_compat *c, const struct ifm_compat_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ifm_compat_add(c, &fields[i]);
}

/* ---- settings and arms ---- */

const char *ifm_compat_setting(const struct ifm_arm *arm, const char *name)
{
    for (size_t i = 0; arm != NULL && i < arm->n_settings; i++)
        if (strcmp(arm->settings[i].path, name) == 0)
            return arm->settings[i].text;
    return NULL;
}

void ifm_compat_add_setting(const struct ifm_compat *c, const char *path, const char *name)
{
    uint64_t number;
    char reason[128];
    const char *text = ifm_compat_setting(c->arm, name);
    bool known = text != NULL && ifm_parse_u64(text, &number) && number <= INT64_MAX;
    snprintf(reason, sizeof reason, "the arm has no setting %s", name);
    ifm_compat_put(c, path, known ? json_integer((json_int_t)number) : NULL, reason, NULL);
}

const struct ifm_arm *ifm_compat_first_arm(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING)
            return &cell->arms[a];
    return cell->n_arms > 0 ? &cell->arms[0] : NULL;
}
