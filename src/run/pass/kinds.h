/* What each kind of pass does at the joints of the block loop. Private to src/run. */
#ifndef IFM_RUN_PASS_KINDS_H
#define IFM_RUN_PASS_KINDS_H

#include "run/pass/pass.h"

extern const struct ifm_pass_hooks ifm_pass_latency;  /* latency.c */
extern const struct ifm_pass_hooks ifm_pass_observed; /* observed.c: counters and trace */
extern const struct ifm_pass_hooks ifm_pass_energy;   /* run/energy/energy.c */

#endif
