/* A message is held to what it names (settings, values, files, numbers), not to its wording: goldens hold the wording.
 *
 * `facts` are parts of the text between bars; each must stand in it, in any order. No facts: the text is empty. Include
 * after cmocka.h. */
#ifndef IFM_TEST_FACTS_H
#define IFM_TEST_FACTS_H

#include <stdio.h>
#include <string.h>

#define assert_facts(text, facts) assert_facts_at(text, facts, __FILE__, __LINE__)

static inline void assert_facts_at(const char *text, const char *facts, const char *file, int line)
{
    char fact[256];
    if (facts[0] == '\0' && text[0] != '\0') {
        print_error("\"%s\" is not empty\n", text);
        _fail(file, line);
    }
    for (const char *at = facts; *at != '\0'; at += strspn(at, "|")) {
        size_t n = strcspn(at, "|");
        snprintf(fact, sizeof fact, "%.*s", (int)n, at);
        if (strstr(text, fact) == NULL) {
            print_error("\"%s\" does not name %s\n", text, fact);
            _fail(file, line);
        }
        at += n;
    }
}

#endif
