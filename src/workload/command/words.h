/* Words: one command line split as a POSIX shell splits it, without a shell.
 *
 * Quotes and backslashes mean what they mean to a shell (POSIX.1-2017, Shell Command Language, 2.2 and 2.6.7); nothing
 * is expanded. Text that needs a shell to be understood is refused, never passed on with another meaning. Pure but for
 * allocation. */
#ifndef IFM_WORKLOAD_COMMAND_WORDS_H
#define IFM_WORKLOAD_COMMAND_WORDS_H

#include "base/arena.h"
#include <stddef.h>

enum ifm_words_fault {
    IFM_WORDS_OK = 0,
    IFM_WORDS_EMPTY,      /* no word at all */
    IFM_WORDS_UNBALANCED, /* a quote is not closed, or a backslash ends the text; `what` is that character */
    IFM_WORDS_SHELL,      /* an unquoted character that only a shell understands: `what` */
};

struct ifm_words {
    char **items; /* `n` words and a NULL, in the arena; NULL when there is a fault */
    size_t n;
    enum ifm_words_fault fault;
    size_t at; /* of the offending byte, from 1 */
    char what;
};

struct ifm_words ifm_words_split(const char *text, struct ifm_arena *arena);
/* An error for the fault, with `where` and the way out. */
enum ifm_status ifm_words_fail(const struct ifm_words *words, const char *where, struct ifm_error *error);

#endif
