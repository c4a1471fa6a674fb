/* The script of the fake library, read. */
#include "fake_nvml/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fake_value_of(const char *key)
{
    const char *script = getenv("FAKE_NVML");
    size_t length = strlen(key);
    for (const char *at = script; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return at + length + 1;
    }
    return NULL;
}

long fake_number_of(const char *key, long otherwise)
{
    const char *text = fake_value_of(key);
    return text == NULL ? otherwise : strtol(text, NULL, 10);
}

size_t fake_list_of(const char *key, unsigned long long *list)
{
    size_t n = 0;
    for (const char *at = fake_value_of(key); at != NULL && n < FAKE_SCRIPT;) {
        char *end;
        list[n++] = strtoull(at, &end, 10);
        at = *end == ',' ? end + 1 : NULL;
    }
    return n;
}

enum { KEYS = 32 };
static struct {
    char key[16];
    size_t calls;
} asked[KEYS];

void fake_script_begin(void)
{
    memset(asked, 0, sizeof asked);
}

unsigned long long fake_next_of(ifm_nvml_device device, const char *key, unsigned long long otherwise)
{
    unsigned long long list[FAKE_SCRIPT];
    size_t n = fake_list_of(key, list), call = 0;
    if (n == 0)
        return otherwise;
    for (size_t i = 0; i < KEYS && device->index == 0; i++) {
        if (asked[i].key[0] != '\0' && strcmp(asked[i].key, key) != 0)
            continue;
        snprintf(asked[i].key, sizeof asked[i].key, "%s", key);
        call = asked[i].calls++;
        break;
    }
    return list[call < n ? call : n - 1];
}
