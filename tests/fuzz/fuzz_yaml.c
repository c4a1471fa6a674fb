/* Any bytes as a YAML configuration: an error or a study whose lock gives the same study again. */
#include "../unit/config_sample.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What resolves must survive the way through its lock file. */
static void check_lock(const struct ifm_config *config)
{
    struct ifm_config *again = ifm_config_create(sample_sections);
    struct ifm_text text = {0};
    json_t *lock = ifm_config_lock_json(config);
    ifm_json_print(lock, true, &text);
    if (ifm_config_lock(again, text.data, text.size, "lock", NULL) != IFM_OK)
        abort();
    if (ifm_config_resolve(again, NULL) != IFM_OK)
        abort();
    if (strcmp(ifm_config_study(config)->config_hash, ifm_config_study(again)->config_hash) != 0)
        abort();
    json_decref(lock);
    ifm_text_free(&text);
    ifm_config_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    enum ifm_status status = ifm_config_yaml(config, (const char *)data, size, "fuzz.yaml", &error);
    if (status == IFM_OK)
        status = ifm_config_resolve(config, &error);
    if (status == IFM_OK)
        check_lock(config);
    else if (error.code != IFM_USAGE || error.message[0] == '\0')
        abort();
    ifm_config_destroy(config);
    return 0;
}
