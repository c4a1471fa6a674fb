/* What a source of power gives. */
#ifndef IFM_MODEL_POWER_KIND_H
#define IFM_MODEL_POWER_KIND_H

#include <stdbool.h>

enum ifm_power_kind {
    IFM_POWER_COUNTER = 0, /* joules since some start, ascending */
    IFM_POWER_SAMPLES,     /* watts with the sensor's own time stamps; it does not tile time */
    IFM_POWER_AVERAGE,     /* watts, mean over the sensor's window */
    IFM_POWER_INSTANT,     /* watts of an unknown moment: recorded, never integrated */
    IFM_POWER_METER,       /* watts with time stamps, of an external meter */
    IFM_POWER_ESTIMATE     /* watts that nothing measured */
};
enum { IFM_POWER_KINDS = IFM_POWER_ESTIMATE + 1 };

/* As the journal has them: "counter". */
extern const char *const ifm_power_kinds[IFM_POWER_KINDS];
/* False: no kind is called so. */
bool ifm_power_kind_of(const char *name, enum ifm_power_kind *out);

#endif
