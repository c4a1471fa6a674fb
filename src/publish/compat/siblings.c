/* What the files in the shapes of the specification share: fields, siblings, settings. */
#include "publish/compat/compat.h"

#include "base/text.h"
#include <stdio.h>
#include <string.h>

struct ifm_siblings ifm_siblings_new(void)
{
    return (struct ifm_siblings){json_object(), json_object(), json_object(), json_object()};
}

void ifm_siblings_attach(json_t *object, struct ifm_siblings *siblings)
{
    json_object_set_new(object, "_units", siblings->units);
    json_object_set_new(object, "_n", siblings->n);
    json_object_set_new(object, "_ci", siblings->ci);
    json_object_set_new(object, "_absent", siblings->absent);
    *siblings = (struct ifm_siblings){0};
}

void ifm_siblings_absent(struct ifm_siblings *siblings, const char *path, const char *reason, const char *remedy)
{
    json_t *entry = json_object();
    json_object_set_new(entry, "reason", json_string(reason == NULL ? "" : reason));
    json_object_set_new(entry, "remedy", json_string(remedy == NULL ? "" : remedy));
    json_object_set_new(siblings->absent, path, entry);
}

/* Borrowed: the object itself, or its member `group`. */
static json_t *group_of(json_t *object, const char *group)
{
    if (group[0] == '\0')
        return object;
    json_t *target = json_object_get(object, group);
    if (target == NULL) {
        target = json_object();
        json_object_set_new(object, group, target);
    }
    return target;
}

static void path_of(const char *group, const char *name, char path[96])
{
    snprintf(path, 96, "%s%s%s", group, group[0] == '\0' ? "" : ".", name);
}

bool ifm_compat_add(json_t *object, const struct ifm_compat_field *field, const struct ifm_number *number,
                    struct ifm_siblings *siblings)
{
    char path[96];
    json_t *target = group_of(object, field->group);
    path_of(field->group, field->name, path);
    json_object_set_new(siblings->units, path, json_string(field->unit));
    const struct ifm_value *value = number == NULL ? NULL : &number->value;
    if (value == NULL || value->state != IFM_STATE_OK) {
        json_object_set_new(target, field->name, json_null());
        ifm_siblings_absent(siblings, path, value == NULL ? field->reason : value->reason,
                            value == NULL ? field->remedy : value->remedy);
        return false;
    }
    json_object_set_new(target, field->name,
                        value->is_integer && field->divide == 1.0 ? json_integer((json_int_t)value->number)
                                                                  : json_real(value->number / field->divide));
    if (value->n > 0)
        json_object_set_new(siblings->n, path, json_integer(value->n));
    if (value->has_interval)
        json_object_set_new(siblings->ci, path,
                            json_pack("{s:f,s:f,s:f}", "low", value->low / field->divide, "high",
                                      value->high / field->divide, "level", value->level));
    return true;
}

bool ifm_compat_add_arm(json_t *object, const struct ifm_compat_field *field, const struct ifm_publication *publication,
                        const struct ifm_cell *cell, const struct ifm_arm *arm, struct ifm_siblings *siblings)
{
    struct ifm_compat_field own = *field;
    if (cell != NULL && cell->unsupported != NULL && cell->unsupported[0] != '\0') {
        own.reason = cell->unsupported;
        own.remedy = "";
    }
    const struct ifm_number *number =
        arm == NULL ? NULL : ifm_derived_find(publication->derived, cell->name, arm->name, field->metric);
    return ifm_compat_add(object, &own, number, siblings);
}

const char *ifm_compat_setting(const struct ifm_arm *arm, const char *path)
{
    for (size_t i = 0; arm != NULL && i < arm->n_settings; i++)
        if (strcmp(arm->settings[i].path, path) == 0)
            return arm->settings[i].text;
    return NULL;
}

void ifm_compat_add_setting(json_t *object, const char *group, const char *name, const struct ifm_arm *arm,
                            const char *path, struct ifm_siblings *siblings)
{
    uint64_t number;
    const char *text = ifm_compat_setting(arm, path);
    json_t *target = group_of(object, group);
    if (text != NULL && ifm_parse_u64(text, &number) && number <= INT64_MAX) {
        json_object_set_new(target, name, json_integer((json_int_t)number));
        return;
    }
    char where[96], reason[128];
    path_of(group, name, where);
    snprintf(reason, sizeof reason, "the arm has no setting %s", path);
    json_object_set_new(target, name, json_null());
    ifm_siblings_absent(siblings, where, reason, NULL);
}

const struct ifm_arm *ifm_compat_first_arm(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role != IFM_ROLE_CEILING)
            return &cell->arms[a];
    return cell->n_arms > 0 ? &cell->arms[0] : NULL;
}

const struct ifm_arm *ifm_compat_baseline_arm(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            return &cell->arms[a];
    return NULL;
}
