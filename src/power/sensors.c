/* The sensors that the sources found: added, listed, read and closed. */
#include "base/arena.h"
#include "power/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct power_entry {
    const struct ifm_power_reader *reader;
    void *state;
    bool lost;
    char reason[200];
};

struct ifm_power {
    struct ifm_power_list list;
    struct power_entry entries[IFM_POWER_MOST];
    struct ifm_cpu_mask cpus;
};

struct ifm_power *ifm_power_create(void)
{
    struct ifm_power *power = ifm_zeros(1, sizeof *power);
    if (!ifm_cpu_mask_process(&power->cpus))
        power->cpus = (struct ifm_cpu_mask){0};
    return power;
}

void ifm_power_add(struct ifm_power *power, const struct ifm_power_sensor *sensor,
                   const struct ifm_power_reader *reader, void *state)
{
    if (power->list.n_sensors == IFM_POWER_MOST) {
        reader->close(state);
        ifm_power_lack(power, "", "measure fewer devices at once", "more than %d sensors: %s of %s is left out",
                       IFM_POWER_MOST, sensor->source, sensor->device);
        return;
    }
    power->entries[power->list.n_sensors] = (struct power_entry){.reader = reader, .state = state};
    power->list.sensors[power->list.n_sensors++] = *sensor;
}

void ifm_power_lack(struct ifm_power *power, const char *source, const char *remedy, const char *format, ...)
{
    va_list arguments;
    if (power->list.n_absences == IFM_POWER_MOST)
        return;
    struct ifm_power_absence *absence = &power->list.absences[power->list.n_absences++];
    absence->source = source;
    va_start(arguments, format);
    vsnprintf(absence->reason, sizeof absence->reason, format, arguments);
    va_end(arguments);
    snprintf(absence->remedy, sizeof absence->remedy, "%s", remedy);
}

const struct ifm_power_list *ifm_power_list(const struct ifm_power *power)
{
    return &power->list;
}

const struct ifm_cpu_mask *ifm_power_cpus(const struct ifm_power *power)
{
    return &power->cpus;
}

struct ifm_power_sensor *ifm_power_sensor_at(struct ifm_power *power, size_t sensor)
{
    return &power->list.sensors[sensor];
}

enum ifm_status ifm_power_read(struct ifm_power *power, size_t sensor, struct ifm_power_point *points, size_t room,
                               size_t *n, struct ifm_error *error)
{
    char where[2 * IFM_POWER_NAME + 2];
    struct ifm_error own = {0};
    struct ifm_power_take take = {.points = points, .room = room};
    *n = 0;
    if (sensor >= power->list.n_sensors || room == 0)
        return ifm_fail(error, IFM_INTERNAL, "power", "", "no sensor %zu, or no room for a reading", sensor);
    const struct ifm_power_sensor *which = take.sensor = &power->list.sensors[sensor];
    struct power_entry *entry = &power->entries[sensor];
    snprintf(where, sizeof where, "%s %s", which->device, which->source);
    if (entry->lost)
        return ifm_fail(error, IFM_MISSING, where, "", "%s", entry->reason);
    enum ifm_status status = entry->reader->read(entry->state, &take, &own);
    *n = status == IFM_OK ? take.n : 0;
    if (status == IFM_OK)
        return IFM_OK;
    if (status == IFM_MISSING) {
        entry->lost = true;
        snprintf(entry->reason, sizeof entry->reason, "%.*s", (int)sizeof entry->reason - 1, own.message);
    }
    return ifm_fail(error, status, own.where[0] == '\0' ? where : own.where, own.hint, "%s", own.message);
}

void ifm_power_close(struct ifm_power *power)
{
    if (power == NULL)
        return;
    for (size_t i = 0; i < power->list.n_sensors; i++)
        power->entries[i].reader->close(power->entries[i].state);
    free(power);
}
