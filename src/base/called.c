/* The name that main was given, and where it is told of in a text. It must never print. */
#include "base/called.h"

#include <stdio.h>
#include <string.h>

static const char usual[] = "inferometer";
_Static_assert(sizeof usual - 1 == IFM_CALLED_BYTES, "the length is that of the name");
static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:@%";
static char as[4096] = "inferometer";
static const char *name = usual;
static bool (*is_known)(const char *word);

void ifm_called_set(const char *called, bool (*is_command)(const char *word))
{
    const size_t length = called == NULL ? 0 : strlen(called);
    const char *quote = length > 0 && called[strspn(called, bare)] == '\0' ? "" : "'";
    if (length == 0 || length + 3 > sizeof as || strchr(called, '\'') != NULL)
        return;
    snprintf(as, sizeof as, "%s%s%s", quote, called, quote);
    name = called;
    is_known = is_command;
}

const char *ifm_called_name(void)
{
    return name;
}

const char *ifm_called_as(void)
{
    return as;
}

/* "report" of "report runs/x". */
static bool begins_command(const char *text)
{
    char word[32];
    const size_t length = strspn(text, letters);
    if (is_known == NULL || length == 0 || length >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    return is_known(word);
}

/* What stands in double quotes, or behind an apostrophe, somebody else typed. */
size_t ifm_called_before(const char *text)
{
    bool quoted = false;
    const char *at = text;
    for (; *at != '\0'; at++) {
        quoted ^= *at == '"';
        const bool apart = !quoted && (at == text || strchr(" `(", at[-1]) != NULL);
        if (apart && strncmp(at, usual, IFM_CALLED_BYTES) == 0 && at[IFM_CALLED_BYTES] == ' ' &&
            begins_command(at + IFM_CALLED_BYTES + 1))
            break;
    }
    return (size_t)(at - text);
}
