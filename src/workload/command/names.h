/* Names of arms that run commands: of the program that is measured, which is what `env A=1` or `nice` runs; of several
 * with one program, what differs between their lines ("gzip-9", "gzip-1", "sort-LC_ALL"), and of the very same line
 * which one it is ("a.py-1st", "a.py-2nd").
 *
 * A name is public where a command line is private. So no word of a line becomes one but programs, scripts by their
 * last part, and options and variables without their values; where that part is the same in all, the nearest folder
 * that tells them apart ("old", "new"), of paths that are relative and stay below the working directory. Asks the file
 * system which words are programs. */
#ifndef IFM_WORKLOAD_COMMAND_NAMES_H
#define IFM_WORKLOAD_COMMAND_NAMES_H

#include "base/arena.h"
#include <stdbool.h>

/* The name of each of `n` command lines, all different. `*untold`: some lines that differ have names that do so only by
 * a number, or that name no program. `where` of an error is "command 2". */
IFM_CHECKED enum ifm_status ifm_command_names(const char *const *lines, size_t n, bool shell, struct ifm_arena *arena,
                                              const char **names, bool *untold, struct ifm_error *error);

#endif
