/* Nsight Compute's command `ncu`: counters of any program, a kernel at a time.
 *
 * It runs the program itself, so no pass of a run can take it along (the command `ncu` starts it). Caches and clocks
 * are left alone. Here: where ncu is, its arguments, and what its failures mean. Thread rule: no shared state. */
#ifndef IFM_INSTRUMENT_NCU_H
#define IFM_INSTRUMENT_NCU_H

#include "base/arena.h"
#include "base/error.h"
#include <stddef.h>

/* What to profile. Texts may be NULL, but for `metrics`. */
struct ifm_ncu_wish {
    const char *metrics; /* names with commas */
    const char *nvtx;    /* a range */
    const char *kernel;  /* a regular expression of names */
    const char *skip, *count, *replay;
};

/* The file that running ncu executes: IFM_NCU, PATH, a toolkit. IFM_MISSING, with how to install it. */
IFM_CHECKED enum ifm_status ifm_ncu_find(char *path, size_t size, struct ifm_error *error);
/* ncu's own words and then the program's, ended by NULL, in the arena. `log`: the file that it writes. */
char *const *ifm_ncu_arguments(const char *ncu, const struct ifm_ncu_wish *wish, const char *log, char *const *program,
                               struct ifm_arena *arena);
/* The words that print the table of a report (.ncu-rep) to standard output. */
char *const *ifm_ncu_import_arguments(const char *ncu, const char *report, struct ifm_arena *arena);
/* Whether ncu has profiled: IFM_OK where its log says nothing else and `exit_code` is 0. IFM_MISSING: counters are not
 * permitted. IFM_INVALID: in its own words. */
IFM_CHECKED enum ifm_status ifm_ncu_judge(const char *log, int exit_code, struct ifm_arena *arena,
                                          struct ifm_error *error);

#endif
