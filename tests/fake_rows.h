/* When something happens in a script of the fake libraries: once the run that opened them has recorded so many rows.
 *
 * A number of calls or of milliseconds would mean another moment on each machine. Thread rule: none is needed. */
#ifndef IFM_TESTS_FAKE_ROWS_H
#define IFM_TESTS_FAKE_ROWS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* "FILE:N", up to a blank or a semicolon: has FILE N lines? Without a text it has. */
static inline bool fake_rows_are_there(const char *text)
{
    char path[256];
    unsigned long wanted = 0, lines = 0;
    if (text == NULL)
        return true;
    if (sscanf(text, "%255[^:; ]:%lu", path, &wanted) != 2)
        return false;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    for (int c = getc(file); c != EOF; c = getc(file))
        lines += c == '\n';
    fclose(file);
    return lines >= wanted;
}

#endif
