/* What a configuration knows of plugins: the key of a study, read before the tables exist, and the lock's list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "config_sample.h"
#include "facts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *lock_of(const char *yaml)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    if (ifm_config_yaml(config, yaml, strlen(yaml), "c.yaml", &error) != IFM_OK ||
        ifm_config_resolve(config, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    json_t *lock = ifm_config_lock_json(config);
    ifm_config_destroy(config);
    return lock;
}

static void the_key_is_no_setting(void **state)
{
    (void)state;
    json_t *plain = lock_of("workload: decode\n");
    static const char *const studies[] = {"plugin: a.so\nworkload: decode\n",
                                          "workload: decode\nplugin: [a.so, b.so]\n"};
    for (size_t i = 0; i < 2; i++) {
        json_t *lock = lock_of(studies[i]);
        assert_true(json_equal(lock, plain));
        json_decref(lock);
    }
    json_decref(plain);
}

static void wrong_forms_of_the_key_have_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *where, *message;
    } cases[] = {
        {"plugin: {a: b}\n", "c.yaml:1:9", "plugin takes a value, not a mapping"},
        {"plugin: [[a]]\n", "c.yaml:1:10", "plugin takes a value, not a list"},
        {"plugin:\n", "c.yaml:1:8", "plugin has no value"},
        {"plugin: a\nplugin: b\n", "c.yaml:2:1", "duplicate key 'plugin'; it is first set on line 1"},
        {"decode:\n  plugin: a\n", "c.yaml:2:3", "unknown key 'decode.plugin'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_config *config = ifm_config_create(sample_sections);
        struct ifm_error error = {0};
        assert_int_equal(ifm_config_yaml(config, cases[i].yaml, strlen(cases[i].yaml), "c.yaml", &error), IFM_USAGE);
        assert_string_equal(error.message, cases[i].message);
        assert_string_equal(error.where, cases[i].where);
        ifm_config_destroy(config);
    }
}

static void paths_are_meant_from_the_file(void **state)
{
    (void)state;
    char dir[] = "/tmp/ifm-plugins-XXXXXX";
    assert_non_null(mkdtemp(dir));
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    char *path = ifm_path_join(arena, dir, "study.yaml");
    static const struct {
        const char *yaml;
        size_t n;
        const char *first; /* below the folder, or absolute */
    } cases[] = {
        {"plugin: a.so\n", 1, "a.so"},   {"workload: x\nplugin: [../b.so, /c.so]\n", 2, "../b.so"},
        {"plugin: /c.so\n", 1, "/c.so"}, {"workload: x\n", 0, NULL},
        {"plugin: {a: b}\n", 0, NULL},   {"plugin:\n", 0, NULL},
        {"plugin: [\n", 0, NULL}, /* not YAML: whoever reads it into a configuration says so */
        {"[plugin, a.so]\n", 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ifm_file_write_atomic(path, cases[i].yaml, strlen(cases[i].yaml), &error), IFM_OK);
        struct ifm_list list = ifm_config_plugins(path, arena);
        assert_int_equal(list.n, cases[i].n);
        if (list.n > 0)
            assert_string_equal(list.items[0],
                                cases[i].first[0] == '/' ? cases[i].first : ifm_path_join(arena, dir, cases[i].first));
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ifm_config_plugins(path, arena).n, 0);
    assert_int_equal(rmdir(dir), 0);
    ifm_arena_destroy(arena);
}

/* Read the lock with this member "plugins"; steals it. */
static enum ifm_status read_with(json_t *plugins, struct ifm_error *error)
{
    json_t *lock = lock_of("workload: decode\n");
    json_object_set_new(lock, "plugins", plugins);
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_text text = {0};
    ifm_json_print(lock, true, &text);
    *error = (struct ifm_error){0};
    enum ifm_status status = ifm_config_lock(config, text.data, text.size, "config.lock.json", error);
    if (status == IFM_OK)
        status = ifm_config_resolve(config, error);
    ifm_text_free(&text);
    ifm_config_destroy(config);
    json_decref(lock);
    return status;
}

static void a_lock_names_the_plugins_that_are_missing(void **state)
{
    (void)state;
    struct ifm_error error;
    json_t *known = json_pack("[{s:s, s:s, s:s, s:i}]", "name", "decode", "file", "d.so", "sha256", "00", "abi", 1);
    assert_int_equal(read_with(known, &error), IFM_OK);
    assert_int_equal(read_with(json_pack("[{s:s, s:s}]", "name", "mine", "file", "my.so"), &error), IFM_USAGE);
    assert_facts(error.message, "'mine'|my.so");
    assert_facts(error.hint, "--plugin|PATH");
    assert_int_equal(read_with(json_pack("[{s:s}]", "name", "decode"), &error), IFM_USAGE);
    assert_facts(error.message, "0");
    assert_int_equal(read_with(json_integer(1), &error), IFM_USAGE);
    assert_facts(error.message, "\"plugins\"");
}

static void an_intact_lock_needs_no_tables(void **state)
{
    (void)state;
    struct ifm_error error = {0};
    json_t *lock = lock_of("workload: decode\n");
    assert_int_equal(ifm_config_lock_intact(lock, "lock", &error), IFM_OK);
    json_object_set_new(json_object_get(lock, "parameters"), "mine.n", json_integer(3)); /* another hash */
    assert_int_equal(ifm_config_lock_intact(lock, "lock", &error), IFM_USAGE);
    assert_facts(error.message, "edited|lock");
    json_object_del(lock, "arms");
    assert_int_equal(ifm_config_lock_intact(lock, "lock", &error), IFM_USAGE);
    assert_facts(error.message, "\"arms\"");
    json_decref(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_is_no_setting),          cmocka_unit_test(wrong_forms_of_the_key_have_a_place),
        cmocka_unit_test(paths_are_meant_from_the_file),  cmocka_unit_test(a_lock_names_the_plugins_that_are_missing),
        cmocka_unit_test(an_intact_lock_needs_no_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
