/* Every workload on the device fake: a step advances the scripted clock of the arm, and nothing is computed. */
#include "device/fake.h"
#include "workload/implementation.h"

struct scripted {
    struct ifm_device *device;
    const char *arm;
};

static enum ifm_status open_script(const struct ifm_opening *opening, void *state, struct ifm_error *error)
{
    (void)error;
    *(struct scripted *)state = (struct scripted){opening->device, opening->arm->name};
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
    .state_bytes = sizeof(struct scripted),
    .open = open_script,
    .step = step,
};
