/* ncu.json of the command ncu: plain numbers or null, and siblings that say unit, launches, spread and reason, as in
 * the file of a run (publish/compat/ncu.c). Totals stand under ncu's own names; what a launch took, under ours. */
#include "cli/ncu_numbers.h"

#include <math.h>
#include <string.h>

/* An object in the making, and its siblings. */
struct ncu_object {
    json_t *object, *metrics, *units, *n, *sd, *absent;
};

static json_t *number(double value)
{
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static void put_field(const struct ncu_object *to, const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group,
                      const struct ifm_ncu_field *field)
{
    double sd, total;
    char key[96];
    const struct ifm_value value = ifm_ncu_value_in(c, group, field, &sd, &total);
    const bool ok = value.state == IFM_STATE_OK;
    json_object_set_new(to->object, field->field, ok ? number(value.number) : json_null());
    json_object_set_new(to->units, field->field, json_string(field->unit));
    if (ok)
        json_object_set_new(to->n, field->field, json_integer(value.n));
    else
        json_object_set_new(to->absent, field->field,
                            json_pack("{s:s,s:s,s:s}", "state", ifm_state_label(value.state), "reason", value.reason,
                                      "remedy", value.remedy));
    if (isfinite(sd))
        json_object_set_new(to->sd, field->field, json_real(sd));
    if (field->key == NULL)
        return;
    snprintf(key, sizeof key, "ncu_metrics.%s", field->key);
    json_object_set_new(to->metrics, field->key, ok ? number(total) : json_null());
    json_object_set_new(to->units, key, json_string(field->unit));
    if (!ok)
        json_object_set_new(to->absent, key, json_pack("{s:s,s:s}", "reason", value.reason, "remedy", value.remedy));
}

static bool ends(const char *text, const char *end)
{
    const size_t length = strlen(text), own = strlen(end);
    return length >= own && strcmp(text + length - own, end) == 0;
}

/* What else the report has: sums as totals. */
static void put_sums(const struct ncu_object *to, const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group)
{
    for (size_t m = 0; m < c->report->n_metrics; m++) {
        const char *name = c->report->metrics[m];
        double total = 0;
        if (!ends(name, ".sum") || json_object_get(to->metrics, name) != NULL)
            continue;
        for (size_t i = 0; i < group->n; i++)
            total += ifm_ncu_value_of(c->report, group->launches[i], name).number;
        if (isfinite(total))
            json_object_set_new(to->metrics, name, number(total));
    }
}

static json_t *group_json(const struct ifm_ncu_counted *c, const struct ifm_ncu_group *group)
{
    const struct ncu_object to = {json_object(), json_object(), json_object(),
                                  json_object(), json_object(), json_object()};
    json_object_set_new(to.object, "mode", json_string(group->name));
    json_object_set_new(to.object, "launches", json_integer((json_int_t)group->n));
    for (size_t f = 0; f < IFM_NCU_FIELDS; f++)
        put_field(&to, c, group, &ifm_ncu_fields[f]);
    put_sums(&to, c, group);
    json_object_set_new(to.object, "ncu_metrics", to.metrics);
    json_object_set_new(to.object, "_units", to.units);
    json_object_set_new(to.object, "_n", to.n);
    json_object_set_new(to.object, "_sd", to.sd);
    json_object_set_new(to.object, "_absent", to.absent);
    return to.object;
}

json_t *ifm_ncu_json(const struct ifm_ncu_counted *c, const char *program)
{
    json_t *whole = group_json(c, &c->groups[0]), *modes = json_array();
    for (size_t g = 0; g < c->n_groups; g++)
        json_array_append_new(modes, group_json(c, &c->groups[g]));
    json_object_set_new(whole, "source", json_string("ncu --cache-control none --clock-control none"));
    json_object_set_new(whole, "program", json_string(program));
    json_object_set_new(whole, "passes", c->passes > 0 ? number(c->passes) : json_null());
    json_object_set_new(whole, "summary", json_pack("{s:o}", "per_mode", modes));
    return whole;
}
