/* The checklists' questions about GPUs and energy: locks of the card, and power that was read at a fixed cadence. */
#include "judge/internal.h"

#include <string.h>

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
    IFM_EACH(event, c->events, power_sensor, NULL, NULL) {
        const struct ifm_event_power_sensor *sensor = IFM_FACTS(event, power_sensor);
        if (!sensor->measured)
            continue;
        ++*n_sensors;
        const char *name = ifm_arena_printf(c->arena, "%s %s every", sensor->device, sensor->source);
        if (sensor->period_ms > 0 && strstr(list, name) == NULL)
            list = ifm_arena_printf(c->arena, "%s%s%s %.3g ms", list, list[0] == '\0' ? "" : ", ", name,
                                    sensor->period_ms);
    }
    return list;
}

/* Why no sensor spoke, as the journal says. */
static struct ifm_check_item no_sensor(const struct ifm_checking *c, struct ifm_check_item otherwise)
{
    const struct ifm_event_power_absent *absent = IFM_FIRST(c->events, power_absent);
    if (absent == NULL)
        return otherwise;
    return ifm_check_absent(
        c, absent->remedy[0] == '\0' ? "`inferometer doctor` says which sensors this machine has" : absent->remedy,
        "%s: %s", absent->source, absent->reason);
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
