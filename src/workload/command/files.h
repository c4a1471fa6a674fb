/* The files that a command runs: its program, what a shell's line begins with, and the script of an interpreter. Only
 * asked before and after measuring. Thread rule: no shared state. */
#ifndef IFM_WORKLOAD_COMMAND_FILES_H
#define IFM_WORKLOAD_COMMAND_FILES_H

#include "base/arena.h"
#include "base/error.h"

/* IFM_USAGE: a text that the kernel starts no interpreter for, since its first line names none: a shell runs it, execve
 * does not. `word`: as it was typed. */
IFM_CHECKED enum ifm_status ifm_command_check_file(const char *path, const char *word, struct ifm_error *error);
/* The file of a shell's first word; NULL where that is no program by itself. */
const char *ifm_command_first_program(const char *text, struct ifm_arena *arena);
/* The program that `env FOO=1 nice -n 5 PROGRAM` and its like execute, with `*argv` moved to its words; NULL = the
 * program is no such wrapper, or nothing is known of what it runs. In the arena. */
const char *ifm_command_wrapped(const char *path, char *const **argv, struct ifm_arena *arena);
/* The file that an interpreter runs; NULL = the program is none, or runs no file. */
const char *ifm_command_script(const char *path, char *const *argv);

#endif
