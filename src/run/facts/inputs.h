/* Files that arms read (workload.input_files): their contents are facts of a run, their paths are private.
 *
 * Lock file and plan hold a token of the path, but a file can change. So run.log records its contents as
 * {"setting", "token", "file": base name, "sha256", "licence"}; a resumed or repeated run must read the same bytes. A
 * scripted device reads no file. Thread rule: no shared state; each call reads the files whole.
 */
#ifndef IFM_RUN_FACTS_INPUTS_H
#define IFM_RUN_FACTS_INPUTS_H

#include "run/facts/facts.h"

/* One fact of stage "input" for each file. */
IFM_CHECKED enum ifm_status ifm_inputs_record(struct ifm_session *session, const struct ifm_plan *plan,
                                              struct ifm_error *error);
/* Do the files have the contents that `events`, the journal of the run folder `dir`, recorded? IFM_USAGE names one that
 * does not. Files that the journal does not mention are not read. */
IFM_CHECKED enum ifm_status ifm_inputs_unchanged(const struct ifm_plan *plan, const json_t *events, const char *dir,
                                                 struct ifm_error *error);
/* All sessions of the journal read the same bytes; IFM_INVALID names the file that changed between two. */
IFM_CHECKED enum ifm_status ifm_inputs_agree(const json_t *events, const char *where, struct ifm_error *error);

#endif
