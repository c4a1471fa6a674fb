/* Every workload on the device fake: a step advances the scripted clock of the arm, and nothing is computed. */
#include "device/fake.h"
#include "workload/implementation.h"

#include <stdlib.h>

struct scripted {
    struct ifm_device *device;
    const char *arm;
};

static enum ifm_status open_script(const struct ifm_opening *opening, void **state, struct ifm_error *error)
{
    struct scripted *scripted = malloc(sizeof *scripted);
    if (scripted == NULL)
        return ifm_fail(error, IFM_INTERNAL, opening->arm->name, NULL, "out of memory");
    *scripted = (struct scripted){opening->device, opening->arm->name};
    *state = scripted;
    return IFM_OK;
}

static void step(void *state, uint64_t n)
{
    const struct scripted *scripted = state;
    ifm_fake_advance(scripted->device, scripted->arm, n);
}

const struct ifm_implementation ifm_implementation_script = {
    .name = "script",
    .title = "script",
    .device = "fake",
    .purpose = "advances the scripted clock and computes nothing",
    .open = open_script,
    .step = step,
    .close = free,
};
