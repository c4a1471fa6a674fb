/* The script of a fake library: an environment variable of "key=value" separated by ';'.
 *
 * Thread rule: one thread. */
#ifndef IFM_TESTS_FAKE_SCRIPT_H
#define IFM_TESTS_FAKE_SCRIPT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

/* The value of `key`, in static storage until the next call; NULL where the script has none. */
static inline const char *fake_script_value(const char *script, const char *key)
{
    static char value[512];
    const size_t length = strlen(key);
    for (const char *at = script; at != NULL && at[0] != '\0'; at += strcspn(at, ";"), at += at[0] == ';') {
        at += strspn(at, " ");
        if (strncmp(at, key, length) != 0 || at[length] != '=')
            continue;
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at + length + 1, ";"), at + length + 1);
        return value;
    }
    return NULL;
}

static inline bool fake_script_says(const char *script, const char *key, const char *wanted)
{
    const char *value = fake_script_value(script, key);
    return value != NULL && strcmp(value, wanted) == 0;
}

#endif
