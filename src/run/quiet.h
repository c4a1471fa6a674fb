/* Waiting for a quiet machine before a run: --wait-quiet.
 *
 * Quiet is a second in which other programs, and the hypervisor, took no more of the allowed CPUs than the run is
 * tagged for. Two in a row are needed, since a load that comes and goes leaves single ones. It changes nothing that is
 * measured, and no number comes from it. */
#ifndef IFM_RUN_QUIET_H
#define IFM_RUN_QUIET_H

#include "base/error.h"
#include "host/host.h"
#include <stdbool.h>

/* Reads the machine over a while, and how long that took; tests read another one. */
typedef bool ifm_quiet_read(void *context, struct ifm_host_noise *out, double *seconds);

/* Returns when the machine is quiet, or after `most_s`, which it says: then `*in_vain_s` is how long it waited, else 0.
 * IFM_INTERRUPTED after a signal. `read` NULL = this machine. */
IFM_CHECKED enum ifm_status ifm_wait_quiet(double most_s, ifm_quiet_read *read, void *context, double *in_vain_s,
                                           struct ifm_error *error);

#endif
