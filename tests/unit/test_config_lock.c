/* config.lock.json: complete, readable again to the same hash, and intolerant of edits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "config_sample.h"
#include "facts.h"
#include <stdio.h>
#include <string.h>

static const char study_yaml[] =
    "workload: [decode, copy_test]\npreset: quick\nseed: 18446744073709551615\n"
    "decode: {kv_len: [512, 1024], scale: 3, pause: 10ms, shapes: [8]}\n"
    "copy_test.size: 1KiB,2KiB\nceilings: none\n"
    "arms:\n  - name: base\n  - {name: b, set: {decode: {kv_heads: 4, label: \"q\\\"x\"}}}\n"
    "gates: [{metric: m, op: at_most, threshold: 0.1, arm: b}]\n";

static struct ifm_config *from_yaml(const char *yaml)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    if (ifm_config_yaml(config, yaml, strlen(yaml), "c.yaml", &error) != IFM_OK ||
        ifm_config_resolve(config, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    return config;
}

static enum ifm_status read_lock(struct ifm_config *config, const json_t *lock, struct ifm_error *error)
{
    struct ifm_text text = {0};
    ifm_json_print(lock, true, &text);
    enum ifm_status status = ifm_config_lock(config, text.data, text.size, "config.lock.json", error);
    ifm_text_free(&text);
    return status;
}

static void refused(json_t *lock, const char *facts)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    assert_int_equal(read_lock(config, lock, &error), IFM_USAGE);
    assert_facts(error.message, facts);
    assert_string_equal(error.where, "config.lock.json");
    ifm_config_destroy(config);
}

static void set_hash(json_t *lock)
{
    json_t *content = json_pack("{s:O, s:O, s:O}", "parameters", json_object_get(lock, "parameters"), "arms",
                                json_object_get(lock, "arms"), "gates", json_object_get(lock, "gates"));
    struct ifm_text text = {0};
    ifm_json_print(content, false, &text);
    json_object_set_new(lock, "hash", json_string(ifm_sha256_bytes(text.data, text.size).hex));
    ifm_text_free(&text);
    json_decref(content);
}

static void the_lock_spells_everything_out(void **state)
{
    (void)state;
    struct ifm_config *config = from_yaml(study_yaml);
    json_t *lock = ifm_config_lock_json(config);
    json_t *parameters = json_object_get(lock, "parameters");
    const struct ifm_study *study = ifm_config_study(config);
    assert_int_equal(json_integer_value(json_object_get(lock, "schema")), 2);
    assert_int_equal(json_object_size(parameters), study->n_axes);
    for (size_t i = 0; i < study->n_axes; i++)
        assert_non_null(json_object_get(parameters, study->axes[i].path));
    assert_int_equal(json_integer_value(json_object_get(parameters, "decode.batch")), 8);
    assert_int_equal(json_integer_value(json_object_get(parameters, "measure.warmup")), 10);
    assert_true(json_real_value(json_object_get(parameters, "decode.pause")) == 0.01);
    assert_true(json_is_true(json_object_get(parameters, "device.huge_pages")));
    assert_int_equal(json_array_size(json_object_get(parameters, "decode.kv_len")), 2);
    assert_string_equal(json_string_value(json_object_get(parameters, "seed")), "18446744073709551615");
    assert_string_equal(json_string_value(json_object_get(lock, "hash")), study->config_hash);
    assert_int_equal(strlen(study->config_hash), 64);
    json_t *again = json_deep_copy(lock);
    set_hash(again); /* the hash is of the compact content, as documented */
    assert_true(json_equal(again, lock));
    json_decref(again);
    json_decref(lock);
    ifm_config_destroy(config);
}

static void a_lock_read_again_has_the_same_hash(void **state)
{
    (void)state;
    static const char *const yamls[] = {study_yaml, "workload: copy_test\n", "workload: decode\nmeasure.repeats: 3\n",
                                        "workload: decode\npreset: sop\ndecode.shapes: [3, 1]\n"
                                        "decode.scale: [0.1, -1e-300, 1e300, 0.30000000000000004]\n"};
    for (size_t i = 0; i < sizeof yamls / sizeof *yamls; i++) {
        struct ifm_config *first = from_yaml(yamls[i]), *second = ifm_config_create(sample_sections);
        struct ifm_error error = {0};
        json_t *lock = ifm_config_lock_json(first);
        if (read_lock(second, lock, &error) != IFM_OK || ifm_config_resolve(second, &error) != IFM_OK)
            fail_msg("%s: %s", error.where, error.message);
        json_t *again = ifm_config_lock_json(second);
        assert_string_equal(ifm_config_study(first)->config_hash, ifm_config_study(second)->config_hash);
        assert_true(json_equal(lock, again));
        json_decref(again);
        json_decref(lock);
        ifm_config_destroy(first);
        ifm_config_destroy(second);
    }
}

static void equal_settings_have_equal_hashes(void **state)
{
    (void)state;
    struct ifm_config *one = from_yaml("workload: decode\ndecode: {chunk: 64KiB, kv_len: 0512}\n");
    struct ifm_config *two = from_yaml("decode.kv_len: \"512\"\nworkload: [decode]\nmeasure.mde: 1e-2\n");
    struct ifm_config *other = from_yaml("workload: decode\ndecode.kv_len: 513\n");
    assert_string_equal(ifm_config_study(one)->config_hash, ifm_config_study(two)->config_hash);
    assert_string_not_equal(ifm_config_study(one)->config_hash, ifm_config_study(other)->config_hash);
    ifm_config_destroy(one);
    ifm_config_destroy(two);
    ifm_config_destroy(other);
}

static void a_lock_takes_overrides(void **state)
{
    (void)state;
    struct ifm_config *first = from_yaml("workload: decode\n"), *second = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    bool known;
    json_t *lock = ifm_config_lock_json(first);
    assert_int_equal(ifm_config_override(second, "decode.kv_len=7", &error), IFM_OK);
    assert_int_equal(read_lock(second, lock, &error), IFM_OK);
    assert_int_equal(ifm_config_flag(second, NULL, "repeats", "9", &known, &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(second, &error), IFM_OK);
    assert_int_equal(ifm_config_study(second)->measure.stop, IFM_STOP_REPEATS);
    ifm_config_destroy(second);

    second = ifm_config_create(sample_sections);
    assert_int_equal(read_lock(second, lock, &error), IFM_OK);
    assert_int_equal(ifm_config_flag(second, NULL, "preset", "quick", &known, &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(second, &error), IFM_USAGE);
    assert_facts(error.message, "changes|nothing");
    assert_string_equal(error.where, "--preset");
    ifm_config_destroy(second);
    json_decref(lock);
    ifm_config_destroy(first);
}

static void an_edited_lock_is_refused(void **state)
{
    (void)state;
    struct ifm_config *config = from_yaml(study_yaml);
    json_t *lock = ifm_config_lock_json(config), *edited = json_deep_copy(lock);
    json_object_set_new(json_object_get(edited, "parameters"), "decode.batch", json_integer(9));
    refused(edited, "edited|hash");
    json_decref(edited);

    edited = json_deep_copy(lock);
    json_object_set_new(edited, "hash", json_string("0000"));
    char facts[160];
    snprintf(facts, sizeof facts, "edited|hash|'0000'|%s", ifm_config_study(config)->config_hash);
    refused(edited, facts);
    json_object_del(edited, "hash");
    refused(edited, "edited|\"hash\"|missing");
    json_decref(edited);

    edited = json_deep_copy(lock);
    json_object_set_new(edited, "note", json_string("x"));
    refused(edited, "edited|unknown|'note'");
    json_decref(edited);

    edited = json_deep_copy(lock);
    json_object_set_new(edited, "schema", json_integer(1));
    refused(edited, "another version|schema 1|2");
    json_object_set_new(edited, "schema", json_string("1"));
    refused(edited, "edited|\"schema\"|integer");
    json_decref(edited);
    json_decref(lock);
    ifm_config_destroy(config);
}

/* Whoever also fixes the hash still meets the tables. */
static void a_lock_is_bound_strictly(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value, *facts;
    } edits[] = {
        {"decode.kv_lenn", "5", "unknown|'decode.kv_lenn'"},
        {"decode.batch", "0", "decode.batch|0|1 .. 4096"},
        {"decode.batch", "null", "edited|null"},
        {"decode.batch", "\"8\"", "decode.batch|canonical"},
        {"decode.batch", "[8]", "decode.batch|canonical"},
        {"decode.batch", "{\"x\": 8}", "decode.batch|mapping"},
        {"decode.check", "1", "decode.check|'1'|true|false"},
        {"decode.batch", NULL, "spell out|decode.batch"},
        {"arms", "[]", "duplicate|'arms'"},
    };
    struct ifm_config *config = from_yaml(study_yaml);
    json_t *lock = ifm_config_lock_json(config);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        json_t *edited = json_deep_copy(lock), *parameters = json_object_get(edited, "parameters");
        if (edits[i].value == NULL)
            json_object_del(parameters, edits[i].key);
        else
            json_object_set_new(parameters, edits[i].key, json_loads(edits[i].value, JSON_DECODE_ANY, NULL));
        set_hash(edited);
        refused(edited, edits[i].facts);
        json_decref(edited);
    }
    json_decref(lock);
    ifm_config_destroy(config);
}

static void other_files_are_no_locks(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *facts;
    } files[] = {
        {"", "l:1:0", "JSON"},
        {"{\"a\": 1, \"a\": 2}", "l:1:12", "JSON|duplicate"},
        {"[]", "l", "JSON object"},
        {"{}", "l", "edited|\"schema\"|missing"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct ifm_config *config = ifm_config_create(sample_sections);
        struct ifm_error error = {0};
        assert_int_equal(ifm_config_lock(config, files[i].text, strlen(files[i].text), "l", &error), IFM_USAGE);
        assert_int_equal(error.code, IFM_USAGE);
        assert_facts(error.message, files[i].facts);
        assert_string_equal(error.where, files[i].where);
        ifm_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lock_spells_everything_out),   cmocka_unit_test(a_lock_read_again_has_the_same_hash),
        cmocka_unit_test(equal_settings_have_equal_hashes), cmocka_unit_test(a_lock_takes_overrides),
        cmocka_unit_test(an_edited_lock_is_refused),        cmocka_unit_test(a_lock_is_bound_strictly),
        cmocka_unit_test(other_files_are_no_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
