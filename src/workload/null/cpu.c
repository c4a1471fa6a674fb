/* null on the processor. */
#include "workload/null/null.h"

struct null_cpu {
    uint64_t spin, value;
};

static enum ifm_status open_null(const struct ifm_opening *opening, void *state, struct ifm_error *error)
{
    const struct ifm_null_settings *settings = opening->settings;
    (void)error;
    *(struct null_cpu *)state = (struct null_cpu){settings->spin, opening->seed};
    return IFM_OK;
}

/* Each addition needs the one before it, and the compiler may not assume what it left. */
static __attribute__((noinline)) void spin(struct null_cpu *state)
{
    uint64_t value = state->value;
    for (uint64_t i = 0; i < state->spin; i++) {
        value += i;
        __asm__ volatile("" : "+r"(value));
    }
    state->value = value;
}

static __attribute__((noinline)) void step(void *opened, uint64_t n)
{
    struct null_cpu *state = opened;
    for (; n > 0; n--) {
        if (state->spin > 0)
            spin(state);
        __asm__ volatile("" ::: "memory"); /* the step exists */
    }
}

const struct ifm_implementation ifm_null_cpu = {
    .name = "ours",
    .title = "ours",
    .device = "cpu",
    .purpose = "an empty function on one thread",
    .state_bytes = sizeof(struct null_cpu),
    .open = open_null,
    .step = step,
};
