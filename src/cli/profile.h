/* profile without a run folder: of a program under ncu, or of a report that ncu has written. */
#ifndef IFM_CLI_PROFILE_H
#define IFM_CLI_PROFILE_H

#include "cli/cli.h"

/* A program stands behind --, or --import names a report. */
bool ifm_profile_is_of_program(const struct ifm_given *given);
IFM_CHECKED enum ifm_status ifm_profile_program(const struct ifm_given *given, struct ifm_error *error);

#endif
