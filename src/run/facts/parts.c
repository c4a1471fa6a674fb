/* The account of a run's time. */
#include "run/facts/parts.h"

#include <stdio.h>
#include <string.h>

const char *const ifm_part_names[IFM_PARTS] = {
    [IFM_PART_MACHINE] = "machine",         [IFM_PART_DATA] = "data",          [IFM_PART_CHECKS] = "checks",
    [IFM_PART_CALIBRATION] = "calibration", [IFM_PART_WARM_UP] = "warm-up",    [IFM_PART_CEILINGS] = "ceilings",
    [IFM_PART_BLOCKS] = "blocks",           [IFM_PART_LATER] = "later passes",
};

static const double LEAST_S = 0.05; /* shown as 0.1 s */

void ifm_parts_turn(struct ifm_parts *parts, enum ifm_part part, const char *arm)
{
    struct ifm_instant now = ifm_clock_now();
    if (parts->since.ns != 0)
        parts->seconds[parts->at] += (double)(now.ns - parts->since.ns) * 1e-9;
    parts->since = now;
    parts->at = part;
    parts->arm = arm;
    if (parts->tell != NULL)
        parts->tell(parts->context, parts);
}

void ifm_parts_open(struct ifm_parts *parts, enum ifm_part part, const char *cell)
{
    memset(parts->seconds, 0, sizeof parts->seconds);
    parts->since.ns = 0;
    parts->cell = cell;
    ifm_parts_turn(parts, part, NULL);
}

const char *ifm_parts_text(const double seconds[IFM_PARTS], char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (int part = 0; part < IFM_PARTS; part++)
        if (seconds[part] >= LEAST_S && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s%s %.1f s", used == 0 ? "" : ", ",
                                     ifm_part_names[part], seconds[part]);
    return out;
}
