/* Where commands read from and write to: that it can be opened, and that no output empties a file that is read.
 *
 * Asked before a run folder exists; opens nothing. Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_COMMAND_ENDS_H
#define IFM_WORKLOAD_COMMAND_ENDS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/subprocess.h"
#include <stdbool.h>
#include <stddef.h>

/* Throws writes away as /dev/null does, at the same cost, and no program takes it for /dev/null: GNU grep, which does,
 * stops at its first match. */
extern const char ifm_command_sink[];
/* With a file, for what the program says beside it. */
bool ifm_command_needs_sink(const char *output);
/* The output is kept in a file of this name. */
bool ifm_command_keeps(const char *output);

/* The ends of an arm can be opened. */
IFM_CHECKED enum ifm_status ifm_command_check_ends(const char *arm, const char *input, const char *output,
                                                   struct ifm_arena *arena, struct ifm_error *error);

/* The files that arms read and run. Texts are not copied. */
struct ifm_command_reads {
    struct ifm_command_read *items;
    size_t n, capacity;
};
/* "the input", "prepare command"; an empty path is none. */
void ifm_command_reads_add(struct ifm_command_reads *reads, const char *arm, const char *what, const char *path,
                           struct ifm_arena *arena);
/* The files of a program: of the hook of this name; NULL = of the measured command, whose words may name files too. */
void ifm_command_reads_program(struct ifm_command_reads *reads, const char *arm, const char *hook,
                               const struct ifm_subprocess *program, bool shell, struct ifm_arena *arena);
/* IFM_USAGE: the output of this arm would empty one of them, by whatever name. */
IFM_CHECKED enum ifm_status ifm_command_check_kept(const char *arm, const char *output,
                                                   const struct ifm_command_reads *reads, struct ifm_arena *arena,
                                                   struct ifm_error *error);

#endif
