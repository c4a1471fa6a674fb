/* Arguments of a command that measures nothing: flags with values, folders and names. */
#ifndef IFM_CLI_ARGUMENTS_H
#define IFM_CLI_ARGUMENTS_H

#include "cli/cli.h"

struct ifm_flag {
    const char *name;
    const char **value; /* receives the text */
};

/* Parse argv[1..]: `flags` take a value ("--cell NAME" or "--cell=NAME"), at most once each; --help and -h set `help`;
 * everything else is a word. `words` holds argc entries. An unknown flag is IFM_USAGE with the nearest one. */
IFM_CHECKED enum ifm_status ifm_arguments_parse(int argc, char **argv, const struct ifm_flag *flags, size_t n_flags,
                                                const char **words, size_t *n_words, bool *help,
                                                struct ifm_error *error);
/* A format's name; NULL gives the table. */
IFM_CHECKED enum ifm_status ifm_arguments_format(const char *text, enum ifm_format *out, struct ifm_error *error);
/* IFM_USAGE: no `what` is called `name`; the nearest known one, or the list. */
enum ifm_status ifm_arguments_unknown(const char *what, const char *name, const char *const *known, size_t n,
                                      struct ifm_error *error);

#endif
