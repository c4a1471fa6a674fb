/* The pseudo-workload `session`: what the registry, the plan and the session API must agree on.
 *
 * Its windows are run by the caller of the library (include/inferometer/session.h), never by the run engine. Thread
 * rule: no shared state. */
#ifndef IFM_WORKLOAD_SESSION_SESSION_H
#define IFM_WORKLOAD_SESSION_SESSION_H

#include "workload/workload.h"

/* The rows of section "session". */
struct ifm_session_settings {
    bool pin; /* the calling thread to one CPU */
};

/* A session's own row of the catalogue: a named arm is a window of nothing known before its caller has said more. The
 * registry's own describe refuses, because no command can run the caller's code. */
struct ifm_workload_entry ifm_session_entry(void);
IFM_CHECKED enum ifm_status ifm_session_describe(const struct ifm_setting *settings, size_t n,
                                                 const struct ifm_machine *machine, struct ifm_arena *arena,
                                                 struct ifm_arm_list *arms, const char **why_not,
                                                 struct ifm_error *error);
IFM_CHECKED enum ifm_status ifm_session_bind(const struct ifm_setting *settings, size_t n, struct ifm_arena *arena,
                                             struct ifm_session_settings *out, struct ifm_error *error);
/* IFM_USAGE when a cell of the plan is a session's: no command can go on with it. `dir` names the run folder. */
IFM_CHECKED enum ifm_status ifm_session_refuse(const struct ifm_plan *plan, const char *dir, struct ifm_error *error);

#endif
