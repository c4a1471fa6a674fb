/* The files that the arms of a plan read (workload.input_files): their contents are facts of a run, their paths are
 * not.
 *
 * The lock file and the plan hold the token of a path, and one path can hold other bytes tomorrow. So run.log says what
 * the bytes were, {"setting", "token", "file": base name, "sha256", "licence"}, and who goes on with a run, or repeats
 * it, is held to them. A scripted device reads no file. Thread rule: no shared state; each call reads the files whole.
 */
#ifndef IFM_RUN_FACTS_INPUTS_H
#define IFM_RUN_FACTS_INPUTS_H

#include "run/facts/facts.h"

/* One fact of stage "input" for each file. */
IFM_CHECKED enum ifm_status ifm_inputs_record(struct ifm_session *session, const struct ifm_plan *plan,
                                              struct ifm_error *error);
/* The files have the contents that the journal `events` of the run folder `dir` holds of them; IFM_USAGE names the one
 * that has not. A file of which the journal says nothing is not asked about. */
IFM_CHECKED enum ifm_status ifm_inputs_unchanged(const struct ifm_plan *plan, const struct ifm_events *events,
                                                 const char *dir, struct ifm_error *error);
/* All sessions of the journal read the same bytes; IFM_INVALID names the file that changed between two. */
IFM_CHECKED enum ifm_status ifm_inputs_agree(const struct ifm_events *events, const char *where,
                                             struct ifm_error *error);

#endif
