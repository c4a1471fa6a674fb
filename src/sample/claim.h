/* Claims on a run folder: one command that writes, or any number that read.
 *
 * A claim is a flock on the folder itself. It leaves no file behind and ends with its process. Where a file system
 * cannot lock a folder (NFS), a claim succeeds and protects nothing; a run's lock on run.log (journal.h) still does. It
 * must never change what was measured. Thread rule: no shared state. */
#ifndef IFM_SAMPLE_CLAIM_H
#define IFM_SAMPLE_CLAIM_H

#include "base/error.h"
#include <stdbool.h>

/* Claim the folder `dir`, `alone` to write. `*fd` holds the claim until it is closed. Whoever is alone first removes
 * the temporary files that a killed command has left. When another process holds a claim: IFM_USAGE, with its name. */
IFM_CHECKED enum ifm_status ifm_claim_take(const char *dir, bool alone, int *fd, struct ifm_error *error);

/* Create `dir` and its missing parents, and claim it alone. It must be empty, or hold only what a start leaves that
 * ended before its plan was written (an empty run.log and files beside it); that is removed. Creates an empty
 * run.log. */
IFM_CHECKED enum ifm_status ifm_claim_new(const char *dir, int *fd, struct ifm_error *error);

/* Remove what a failed start has written before its plan; a folder with a plan is left as it is. */
void ifm_claim_undo(const char *dir);
/* A new run was refused before it measured anything: its files go, and the folder too that was `made` for it. A folder
 * with a sample stays as it is. */
void ifm_claim_refuse(const char *dir, bool made);

#endif
