/* Names of arms that run commands: the program's; of several with one program, what differs between their lines.
 *
 * A name is public where a command line is private. So no word of a line becomes one but programs, scripts by their
 * last part, and options of one character; where that part is the same in all, the nearest folder that tells them apart
 * ("old", "new"), of paths that are relative and stay below the working directory. Asks the file system which words are
 * programs. */
#ifndef IFM_WORKLOAD_COMMAND_NAMES_H
#define IFM_WORKLOAD_COMMAND_NAMES_H

#include "base/arena.h"
#include <stdbool.h>

/* The name of each of `n` command lines, all different. `*numbered`: some of them only by a number. `where` of an error
 * is "command 2". */
IFM_CHECKED enum ifm_status ifm_command_names(const char *const *lines, size_t n, bool shell, struct ifm_arena *arena,
                                              const char **names, bool *numbered, struct ifm_error *error);

#endif
