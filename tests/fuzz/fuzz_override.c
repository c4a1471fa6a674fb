/* Lines of bytes as the command line: "path=value" overrides, and "--flag value" of the quick form. */
#include "../unit/config_sample.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void apply(struct ifm_config *config, char *line)
{
    struct ifm_error error = {0};
    enum ifm_status status;
    if (strncmp(line, "--", 2) == 0) {
        char *flag = line + 2, *value = strchr(flag, ' ');
        bool known;
        if (value != NULL)
            *value++ = '\0';
        (void)ifm_config_nearest_flag(config, "decode", flag);
        (void)ifm_config_flag_takes_value(config, "decode", flag);
        status = ifm_config_flag(config, "decode", flag, value, &known, &error);
    } else {
        status = ifm_config_override(config, line, &error);
    }
    if (status != IFM_OK && (error.code != IFM_USAGE || error.message[0] == '\0'))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        apply(config, line);
    if (ifm_config_resolve(config, &error) == IFM_OK)
        json_decref(ifm_config_lock_json(config));
    else if (error.code != IFM_USAGE || error.message[0] == '\0')
        abort();
    free(text);
    ifm_config_destroy(config);
    return 0;
}
