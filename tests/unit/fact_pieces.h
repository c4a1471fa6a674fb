/* Facts of a part of a long text: of one line, one row of a table. As in facts.h the text is held to what it names, not
 * to its wording. Include after cmocka.h. */
#ifndef IFM_TEST_FACT_PIECES_H
#define IFM_TEST_FACT_PIECES_H

#include "unit/facts.h"
#include <stdlib.h>
#include <string.h>

/* Does one of the pieces that `between` ends ("\n", "</tr>") hold all of the facts? */
static inline bool a_piece_holds(const char *text, const char *between, const char *facts)
{
    bool found = false;
    while (*text != '\0' && !found) {
        const char *end = strstr(text, between);
        char *piece = end == NULL ? strdup(text) : strndup(text, (size_t)(end - text));
        found = piece != NULL && facts_stand(piece, facts, NULL);
        free(piece);
        text = end == NULL ? "" : end + strlen(between);
    }
    return found;
}

static inline void assert_piece_at(const char *text, const char *between, const char *facts, const char *file, int line)
{
    if (a_piece_holds(text, between, facts))
        return;
    print_error("\"%.6000s\" has no part with %s\n", text, facts);
    _fail(file, line);
}

#define assert_line(text, facts) assert_piece_at(text, "\n", facts, __FILE__, __LINE__)
#define assert_row(text, facts) assert_piece_at(text, "</tr>", facts, __FILE__, __LINE__)

#endif
