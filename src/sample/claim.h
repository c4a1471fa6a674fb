/* Who is at work in a run folder: one command that writes, or any number that read.
 *
 * A claim is a lock of the system on the folder itself. It leaves no file behind and ends with its process, however
 * that ends. Where a file system cannot lock a folder (NFS), a claim succeeds and protects nothing; a run's lock on
 * run.log (journal.h) still does. It must never change what was measured. Thread rule: no shared state. */
#ifndef IFM_SAMPLE_CLAIM_H
#define IFM_SAMPLE_CLAIM_H

#include "base/error.h"
#include <stdbool.h>

/* Claim the folder `dir`, `alone` to write. `*fd` holds the claim until it is closed. Whoever is alone first removes
 * the temporary files that a killed command has left. Another claim in the way is IFM_USAGE and names its process. */
IFM_CHECKED enum ifm_status ifm_claim_take(const char *dir, bool alone, int *fd, struct ifm_error *error);

/* Create `dir` and its missing parents, and claim it alone. It must hold nothing but what a start leaves that ended
 * before its plan stood (an empty run.log and files beside it): that is removed. Then run.log is there, empty. */
IFM_CHECKED enum ifm_status ifm_claim_new(const char *dir, int *fd, struct ifm_error *error);

/* Remove what a start has written that failed before its plan stood; a folder with a plan is left as it is. */
void ifm_claim_undo(const char *dir);

#endif
