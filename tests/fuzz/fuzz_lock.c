/* Any bytes as a lock file; and, where they are JSON, the same with a hash that fits and with the parameters that are
 * newer than it, so that the tables are reached. */
#include "../unit/config_sample.h"
#include "base/hash.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_lock(const char *data, size_t size)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    enum ifm_status status = ifm_config_lock(config, data, size, "lock", &error);
    /* A lock that is accepted also resolves, to itself. */
    if (status == IFM_OK && ifm_config_resolve(config, &error) != IFM_OK)
        abort();
    if (status == IFM_OK) {
        json_t *ours = ifm_config_lock_json(config), *theirs = json_loadb(data, size, 0, NULL);
        if (!json_equal(ours, theirs))
            abort();
        json_decref(ours);
        json_decref(theirs);
    } else if (error.code != IFM_USAGE || error.message[0] == '\0') {
        abort();
    }
    ifm_config_destroy(config);
}

/* The parameters of every study that `theirs` lacks, at their defaults. */
static void complete(json_t *theirs)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    const char *key;
    json_t *value;
    if (ifm_config_override(config, "workload=decode", NULL) != IFM_OK || ifm_config_resolve(config, NULL) != IFM_OK)
        abort();
    json_t *lock = ifm_config_lock_json(config), *ours = json_object_get(lock, "parameters");
    json_object_foreach(ours, key, value) if (strncmp(key, "decode.", strlen("decode.")) != 0 &&
                                              json_object_get(theirs, key) == NULL) json_object_set(theirs, key, value);
    json_decref(lock);
    ifm_config_destroy(config);
}

static void read_with_hash(json_t *lock)
{
    json_t *parameters = json_object_get(lock, "parameters"), *arms = json_object_get(lock, "arms");
    json_t *gates = json_object_get(lock, "gates");
    if (parameters == NULL || arms == NULL || gates == NULL)
        return;
    complete(parameters);
    json_t *content = json_pack("{s:O, s:O, s:O}", "parameters", parameters, "arms", arms, "gates", gates);
    struct ifm_text text = {0};
    ifm_json_print(content, false, &text);
    json_object_set_new(lock, "hash", json_string(ifm_sha256_bytes(text.data, text.size).hex));
    ifm_text_clear(&text);
    ifm_json_print(lock, false, &text);
    read_lock(text.data, text.size);
    ifm_text_free(&text);
    json_decref(content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_lock((const char *)data, size);
    json_t *lock = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(lock))
        read_with_hash(lock);
    json_decref(lock);
    return 0;
}
