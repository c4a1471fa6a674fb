/* Running Nsight Compute's command for `ncu` and `profile`: the options that both take, and what it printed.
 *
 * Temporary files are removed. Thread rule: the main thread. */
#ifndef IFM_CLI_NCU_RUN_H
#define IFM_CLI_NCU_RUN_H

#include "cli/cli.h"
#include "instrument/ncu.h"
#include "instrument/ncu_report.h"

/* The options that choose what is counted stand for a program alone: `what`, "a report", cannot follow them. */
IFM_CHECKED enum ifm_status ifm_ncu_refuse_choice(const struct ifm_given *given, const char *what,
                                                  struct ifm_error *error);
/* A program behind --, or --import, and nothing else. */
IFM_CHECKED enum ifm_status ifm_ncu_check(const struct ifm_given *given, const char *example, struct ifm_error *error);
/* Which launches are wanted, by --nvtx, --kernel, --launch-skip, --launch-count and --replay; no metrics yet. */
IFM_CHECKED enum ifm_status ifm_ncu_wish_of(const struct ifm_given *given, struct ifm_ncu_wish *out,
                                            struct ifm_error *error);
/* The compute capability of the first GPU ("9.0"), where the program behind -- and a GPU are there. */
IFM_CHECKED enum ifm_status ifm_ncu_capability(const struct ifm_given *given, const char **out,
                                               struct ifm_error *error);
/* What ncu counted, and of what: of the program behind --, started under it as wished, or of the report that --import
 * names, a .ncu-rep or its CSV. Writes the file that --csv names: the table without the lines of ncu and the program,
 * which name files of this machine. */
IFM_CHECKED enum ifm_status ifm_ncu_take(const struct ifm_given *given, const struct ifm_ncu_wish *wish,
                                         struct ifm_ncu_report *report, const char **name, struct ifm_error *error);

#endif
