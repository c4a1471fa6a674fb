/* The script of the fake driver, read. */
#include "fake_cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char script[1024];
static bool script_known;

const char *fake_value(const char *key)
{
    static char value[256];
    if (!script_known) {
        const char *environment = getenv("FAKE_CUDA");
        snprintf(script, sizeof script, "%s", environment == NULL ? "" : environment);
        script_known = true;
    }
    size_t length = strlen(key);
    for (const char *at = script; at[0] != '\0'; at += strcspn(at, ";"), at += at[0] == ';') {
        at += strspn(at, " ");
        if (strncmp(at, key, length) != 0 || at[length] != '=')
            continue;
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at + length + 1, ";"), at + length + 1);
        return value;
    }
    return NULL;
}

unsigned long long fake_number(const char *key, unsigned long long fallback)
{
    const char *value = fake_value(key);
    return value == NULL ? fallback : strtoull(value, NULL, 10);
}

unsigned long long fake_number_in(const char *key, const char *name, unsigned long long fallback)
{
    const char *list = fake_value(key);
    size_t length = strlen(name);
    for (; list != NULL && list[0] != '\0'; list += strcspn(list, ","), list += list[0] == ',')
        if (strncmp(list, name, length) == 0 && list[length] == ':')
            return strtoull(list + length + 1, NULL, 10);
    return fallback;
}

void fake_script_set(const char *text)
{
    snprintf(script, sizeof script, "%s", text);
    script_known = true;
}
