/* A worker: the process of one arm, for measure.isolation=processes. It serves the requests of the run that started it
 * (run/remote/remote.h) over descriptors 3 to 5, and ends when there are no more. It writes no file and prints nothing.
 */
#ifndef IFM_RUN_REMOTE_WORKER_H
#define IFM_RUN_REMOTE_WORKER_H

#include "base/error.h"

/* IFM_USAGE when this process was not started by a run. */
IFM_CHECKED enum ifm_status ifm_worker_serve(struct ifm_error *error);

#endif
