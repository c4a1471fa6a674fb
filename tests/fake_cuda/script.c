/* The script of the fake driver, read. */
#include "fake_cuda/internal.h"

static char script[1024];
static bool script_known;

const char *fake_value(const char *key)
{
    if (!script_known) {
        const char *environment = getenv("FAKE_CUDA");
        snprintf(script, sizeof script, "%s", environment == NULL ? "" : environment);
        script_known = true;
    }
    return fake_script_value(script, key);
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
