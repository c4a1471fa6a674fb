/* The manifest: SHA-256 of every file of a run folder, in sha256sum's format.
 *
 * Hashes show integrity, not authorship: whoever can write the folder can write
 * a fitting manifest. private.json and a signature are never listed. */
#ifndef IFM_SAMPLE_MANIFEST_H
#define IFM_SAMPLE_MANIFEST_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>

#define IFM_MANIFEST_NAME "manifest.sha256"
/* Its signature, where there is one (sample/signature.h). */
#define IFM_SIGNATURE_NAME "manifest.sig"

/* Hash every regular file below `dir` (run.log, samples/..., derived files; not manifest.sha256, private.json,
 * temporary files) and write manifest.sha256 atomically, sorted by name. */
IFM_CHECKED enum ifm_status ifm_manifest_write(const char *dir, struct ifm_error *error);
/* Check it: a changed, missing or unlisted file is IFM_INVALID and named. With `record_only` of what `run` wrote alone
 * (config.lock.json, plan.json, run.log, samples/): before the folder is derived again and hashed again. */
IFM_CHECKED enum ifm_status ifm_manifest_check(const char *dir, bool record_only, struct ifm_error *error);

/* Check one file of it, such as "verdict.json", and read no other. */
IFM_CHECKED enum ifm_status ifm_manifest_check_file(const char *dir, const char *name, struct ifm_error *error);

/* The names of the files that a manifest of `dir` holds, sorted; they live in `arena`. */
IFM_CHECKED enum ifm_status ifm_manifest_names(const char *dir, struct ifm_arena *arena, const char *const **names,
                                               size_t *n, struct ifm_error *error);

#endif
