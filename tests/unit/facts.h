/* A message is held to what it names (settings, values, files, numbers), not to its wording: goldens hold the wording.
 *
 * `facts` are parts of the text between bars; each must stand in it, in any order, and a number as a whole: 1.5 is not
 * in 11.5. No facts: the text is empty. Include after cmocka.h. */
#ifndef IFM_TEST_FACTS_H
#define IFM_TEST_FACTS_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define assert_facts(text, facts) assert_facts_at(text, facts, __FILE__, __LINE__)

/* Are these two letters of one number? */
static inline bool fact_goes_on(const char *left, const char *right)
{
    bool digit = isdigit((unsigned char)*left) && isdigit((unsigned char)*right);
    return digit || (isdigit((unsigned char)*left) && *right == '.' && isdigit((unsigned char)right[1]));
}

static inline bool fact_stands(const char *text, const char *fact)
{
    size_t n = strlen(fact);
    if (n == 0)
        return true;
    for (const char *at = strstr(text, fact); at != NULL; at = strstr(at + 1, fact)) {
        bool before = at > text && (fact_goes_on(at - 1, at) || (at > text + 1 && fact_goes_on(at - 2, at - 1)));
        if (!(before && isdigit((unsigned char)*at)) && !fact_goes_on(at + n - 1, at + n))
            return true;
    }
    return false;
}

/* Do all of them stand there? `fact` (may be NULL) gets the first that does not. */
static inline bool facts_stand(const char *text, const char *facts, char fact[256])
{
    char own[256];
    fact = fact == NULL ? own : fact;
    for (const char *at = facts; *at != '\0'; at += strspn(at, "|")) {
        size_t n = strcspn(at, "|");
        snprintf(fact, 256, "%.*s", (int)n, at);
        if (!fact_stands(text, fact))
            return false;
        at += n;
    }
    return true;
}

static inline void assert_facts_at(const char *text, const char *facts, const char *file, int line)
{
    char fact[256];
    if (facts[0] == '\0' && text[0] != '\0') {
        print_error("\"%s\" is not empty\n", text);
        _fail(file, line);
    }
    if (!facts_stand(text, facts, fact)) {
        print_error("\"%s\" does not name %s\n", text, fact);
        _fail(file, line);
    }
}

#endif
