/* The kinds of passes as the block loop runs them; model/pass.c says what they admit. */
#include "run/pass/pass.h"

const struct ifm_pass_hooks *const ifm_pass_hooks[IFM_PASS_KINDS] = {
    [IFM_PASS_LATENCY] = &ifm_pass_latency,
    [IFM_PASS_ENERGY] = &ifm_pass_energy,
    [IFM_PASS_COUNTERS] = &ifm_pass_observed,
    [IFM_PASS_TRACE] = &ifm_pass_observed,
};
