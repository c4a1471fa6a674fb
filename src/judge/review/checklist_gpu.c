/* The checklists' questions about GPUs and energy: locks of the card, and power that was read at a fixed cadence. */
#include "judge/internal.h"

#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

const char *ifm_check_gpu_named(const struct ifm_checking *c)
{
    const json_t *host = json_object_get(ifm_check_event(c->events, "environment", NULL, NULL), "fingerprint");
    const json_t *gpus = json_object_get(host, "gpu"), *devices = json_object_get(gpus, "devices");
    const char *names = "", *driver = text_of(gpus, "driver");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = text_of(json_array_get(devices, i), "name");
        if (name[0] != '\0')
            names = ifm_arena_printf(c->arena, "%s%s%s", names, names[0] == '\0' ? "" : ", ", name);
    }
    return names[0] == '\0' || driver[0] == '\0' ? "" : ifm_arena_printf(c->arena, "%s, driver %s", names, driver);
}

/* What cannot be fixed is called unlocked, in the standard's own word. */
struct ifm_check_item ifm_answer_gpu(const struct ifm_checking *c)
{
    if (!ifm_checks_gpu(c))
        return ifm_check_absent(c, "the next point is its counterpart on a processor",
                                "no GPU was measured: the run was on device %s", c->plan->device);
    struct ifm_check_item item = ifm_check_knobs(c);
    if (item.state != IFM_CHECK_MET)
        item.found = ifm_arena_printf(c->arena, "unlocked: %s", item.found);
    return item;
}

/* ---- energy ---- */

/* "gpu0 nvml_energy every 100 ms" of each sensor of a measured device that speaks at a known period. */
static const char *cadence_of(const struct ifm_checking *c, size_t *n_sensors)
{
    const char *list = "";
    *n_sensors = 0;
    for (size_t i = 0; i < json_array_size(c->events); i++) {
        const json_t *event = json_array_get(c->events, i), *meta = json_object_get(event, "meta");
        const json_t *period = json_object_get(meta, "period_ms");
        if (strcmp(text_of(event, "stage"), "power_sensor") != 0 || json_is_false(json_object_get(meta, "measured")))
            continue;
        ++*n_sensors;
        const char *name = ifm_arena_printf(c->arena, "%s %s every", text_of(meta, "device"), text_of(meta, "source"));
        if (json_is_number(period) && json_number_value(period) > 0 && strstr(list, name) == NULL)
            list = ifm_arena_printf(c->arena, "%s%s%s %.3g ms", list, list[0] == '\0' ? "" : ", ", name,
                                    json_number_value(period));
    }
    return list;
}

/* Why no sensor spoke, as the journal says. */
static struct ifm_check_item no_sensor(const struct ifm_checking *c, struct ifm_check_item otherwise)
{
    for (size_t i = 0; i < json_array_size(c->events); i++) {
        const json_t *event = json_array_get(c->events, i), *meta = json_object_get(event, "meta");
        const char *remedy = text_of(meta, "remedy");
        if (strcmp(text_of(event, "stage"), "power_absent") == 0)
            return ifm_check_absent(c,
                                    remedy[0] == '\0' ? "`inferometer doctor` says which sensors this machine has"
                                                      : ifm_arena_strdup(c->arena, remedy),
                                    "%s: %s", text_of(meta, "source"), text_of(meta, "reason"));
    }
    return otherwise;
}

struct ifm_check_item ifm_answer_energy(const struct ifm_checking *c)
{
    size_t n_sensors;
    const char *cadence = cadence_of(c, &n_sensors);
    struct ifm_check_item item =
        ifm_check_instrument(c, IFM_M_ENERGY_PER_TOKEN_J, "reads an energy counter",
                             "measure with --energy where one does: RAPL on a processor, NVML on a GPU");
    if (item.state != IFM_CHECK_MET)
        return n_sensors == 0 ? no_sensor(c, item) : item;
    if (n_sensors == 0)
        return item; /* an instrument of the slots, which has no cadence of its own */
    if (cadence[0] == '\0')
        return ifm_check_absent(c, "let the calibration at the start of the pass end",
                                "the period of no sensor of power is known");
    return ifm_check_met(c, "%s; read at a fixed cadence: %s", item.found, cadence);
}
