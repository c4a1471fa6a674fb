/* What the command line needs of the workload `command` before there is a configuration. */
#ifndef IFM_WORKLOAD_COMMAND_COMMAND_H
#define IFM_WORKLOAD_COMMAND_COMMAND_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>

/* A ceiling of every cell is called so; no arm may be. */
bool ifm_command_is_ceiling(const char *name);
/* The last part of a program's path, in the letters that a name may have. In the arena. */
const char *ifm_command_base(const char *program, struct ifm_arena *arena);
/* A name for the arm that runs `line`: that of its first word. The text is split as it will be run; `where` names it in
 * an error. In the arena. */
IFM_CHECKED enum ifm_status ifm_command_name(const char *line, bool shell, const char *where, struct ifm_arena *arena,
                                             const char **name, struct ifm_error *error);

#endif
