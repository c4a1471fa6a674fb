/* Names of the kinds of sources of power. */
#include "model/power_kind.h"

#include <string.h>

const char *const ifm_power_kinds[IFM_POWER_KINDS] = {"counter", "samples", "average", "instant", "meter", "estimate"};

bool ifm_power_kind_of(const char *name, enum ifm_power_kind *out)
{
    for (int kind = 0; kind < IFM_POWER_KINDS; kind++)
        if (strcmp(ifm_power_kinds[kind], name) == 0) {
            *out = (enum ifm_power_kind)kind;
            return true;
        }
    return false;
}
