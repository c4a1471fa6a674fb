/* Which roof limits an arm. */
#include "derive/derive.h"

const char *ifm_derive_regime(const struct ifm_value *ridge, const struct ifm_value *intensity)
{
    double low = ridge->has_interval ? ridge->low : ridge->number;
    double high = ridge->has_interval ? ridge->high : ridge->number;
    return intensity->number > high ? "compute-bound" : intensity->number < low ? "memory-bound" : "";
}
