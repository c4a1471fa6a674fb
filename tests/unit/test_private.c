/* Private texts: tokens in a lock, texts in private.json, and a lock that reads back without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/private.h"
#include "config/config.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sample {
    const char *line, *open;
};
static const struct ifm_param rows[] = {
    {"sample.line", "line", IFM_TYPE_TEXT, IFM_PRIVATE | IFM_PER_ARM, "", "", 0, 0, NULL, "a private text",
     offsetof(struct sample, line)},
    {"sample.open", "open", IFM_TYPE_TEXT, IFM_PER_ARM, "", "", 0, 0, NULL, "a public text",
     offsetof(struct sample, open)},
};
static const struct ifm_section section = {"sample", "A sample", rows, 2, sizeof(struct sample), NULL};
static const struct ifm_section *const sections[] = {&section, NULL};

static const char secret[] = "tool --key 'hunter2', twice";

static json_t *lock_of(const char *yaml)
{
    struct ifm_config *config = ifm_config_create(sections);
    struct ifm_error error = {0};
    if (ifm_config_yaml(config, yaml, strlen(yaml), "c.yaml", &error) != IFM_OK ||
        ifm_config_resolve(config, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    json_t *lock = ifm_config_lock_json(config);
    ifm_config_destroy(config);
    return lock;
}

static void a_lock_holds_the_token_alone(void **state)
{
    (void)state;
    char yaml[512], token[80];
    snprintf(token, sizeof token, "sha256:%s", ifm_sha256_bytes(secret, strlen(secret)).hex);
    snprintf(yaml, sizeof yaml,
             "workload: sample\nsample: {line: \"%s\", open: plain}\n"
             "arms:\n  - {name: a, set: {sample.line: other words}}\n  - {name: b}\n",
             secret);
    json_t *lock = lock_of(yaml), *again = lock_of("workload: sample\nsample.open: plain\n");
    char *text = json_dumps(lock, 0);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "other words"));
    assert_non_null(strstr(text, token));
    assert_non_null(strstr(text, "plain"));
    assert_string_equal(ifm_private_text(token), secret);
    /* What is not set is not hidden. */
    assert_string_equal(json_string_value(json_object_get(json_object_get(again, "parameters"), "sample.line")), "");
    free(text);
    json_decref(lock);
    json_decref(again);
}

static void a_token_stands_for_itself(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    const char *token = ifm_private_keep("some text", arena);
    assert_true(ifm_private_is_token(token));
    assert_string_equal(ifm_private_keep(token, arena), token);
    assert_string_equal(ifm_private_text("not a token"), "not a token");
    assert_null(ifm_private_text("sha256:0000000000000000000000000000000000000000000000000000000000000000"));
    assert_false(ifm_private_is_token("sha256:00"));
    assert_false(ifm_private_is_token("sha256:000000000000000000000000000000000000000000000000000000000000000G"));
    ifm_arena_destroy(arena);
}

/* What was published is no token any more, and reads back from a lock without any private.json. */
static void a_published_text_stands_in_the_lock(void **state)
{
    (void)state;
    static const char yaml[] = "workload: sample\nsample: {line: shared words, open: plain}\n"
                               "arms:\n  - {name: a, set: {sample.line: other words}}\n  - {name: b}\n";
    struct ifm_error error = {0};
    struct ifm_config *config = ifm_config_create(sections), *again = ifm_config_create(sections);
    struct ifm_arena *arena = ifm_arena_create();
    assert_int_equal(ifm_config_yaml(config, yaml, strlen(yaml), "c.yaml", &error), IFM_OK);
    ifm_config_publish(config, "sample.line");
    assert_int_equal(ifm_config_resolve(config, &error), IFM_OK);
    json_t *lock = ifm_config_lock_json(config);
    char *text = json_dumps(lock, 0);
    assert_non_null(strstr(text, "\"public:shared words\""));
    assert_non_null(strstr(text, "\"public:other words\""));
    assert_null(strstr(text, "sha256:"));
    assert_int_equal(ifm_config_lock(again, text, strlen(text), "lock", &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(again, &error), IFM_OK);
    assert_string_equal(ifm_config_study(again)->config_hash, ifm_config_study(config)->config_hash);
    assert_string_equal(ifm_private_text("public:some words"), "some words");
    assert_string_equal(ifm_private_publish("public:some words", arena), "public:some words");
    assert_string_equal(ifm_private_publish("", arena), "");
    const char *unknown = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
    assert_string_equal(ifm_private_publish(unknown, arena), unknown);
    free(text);
    json_decref(lock);
    ifm_arena_destroy(arena);
    ifm_config_destroy(again);
    ifm_config_destroy(config);
}

static void write_text(const char *path, const char *text)
{
    struct ifm_error error;
    assert_int_equal(ifm_file_write_atomic(path, text, strlen(text), &error), IFM_OK);
}

/* Who verifies a folder is told of a text that is not the one that was measured. */
static void an_edited_text_is_found(void **state)
{
    (void)state;
    char folder[] = "/tmp/ifm-private-XXXXXX", path[64], text[256];
    struct ifm_error error = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/private.json", folder);
    assert_int_equal(ifm_private_check(folder, &error), IFM_OK); /* it may be missing */
    for (int edited = 0; edited < 2; edited++) {
        snprintf(text, sizeof text, "{\"host_name\": \"x\", \"settings\": {\"sha256:%s\": \"./new%s\"}}",
                 ifm_sha256_bytes("./new", strlen("./new")).hex, edited ? " --fast" : "");
        write_text(path, text);
        assert_int_equal(ifm_private_check(folder, &error), edited ? IFM_INVALID : IFM_OK);
    }
    assert_non_null(strstr(error.message, "private.json was edited"));
    unlink(path);
    rmdir(folder);
}

/* A lock reads back with and without its private.json, to the same hash; an entry that was edited counts as missing. */
static void a_lock_reads_back_without_its_texts(void **state)
{
    (void)state;
    char folder[] = "/tmp/ifm-private-XXXXXX", lock_path[64], path[64], text[512];
    assert_non_null(mkdtemp(folder));
    snprintf(lock_path, sizeof lock_path, "%s/config.lock.json", folder);
    snprintf(path, sizeof path, "%s/private.json", folder);
    /* Texts that this process has not kept: their tokens come from elsewhere. */
    static const char known[] = "never kept before", edited[] = "nor this one";
    char known_token[80], edited_token[80], changed_token[80];
    snprintf(changed_token, sizeof changed_token, "sha256:%s", ifm_sha256_bytes("changed", strlen("changed")).hex);
    snprintf(known_token, sizeof known_token, "sha256:%s", ifm_sha256_bytes(known, strlen(known)).hex);
    snprintf(edited_token, sizeof edited_token, "sha256:%s", ifm_sha256_bytes(edited, strlen(edited)).hex);
    snprintf(text, sizeof text, "workload: sample\nsample: {line: '%s'}\n", known_token);
    json_t *lock = lock_of(text);
    struct ifm_error error = {0};
    assert_int_equal(ifm_json_write(lock_path, lock, &error), IFM_OK);
    for (int with = 0; with < 2; with++) {
        struct ifm_config *config = ifm_config_create(sections);
        snprintf(text, sizeof text, "{\"settings\": {\"%s\": \"%s\", \"%s\": \"changed\"}}", known_token, known,
                 edited_token);
        if (with == 1)
            write_text(path, text);
        assert_int_equal(ifm_config_file(config, lock_path, &error), IFM_OK);
        assert_int_equal(ifm_config_resolve(config, &error), IFM_OK);
        assert_string_equal(ifm_config_study(config)->config_hash, json_string_value(json_object_get(lock, "hash")));
        if (with == 0)
            assert_null(ifm_private_text(known_token));
        else
            assert_string_equal(ifm_private_text(known_token), known);
        assert_null(ifm_private_text(edited_token));
        assert_null(ifm_private_text(changed_token)); /* nor is the foreign text carried on */
        ifm_config_destroy(config);
    }
    json_decref(lock);
    remove(path);
    remove(lock_path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_holds_the_token_alone),
        cmocka_unit_test(a_token_stands_for_itself),
        cmocka_unit_test(a_published_text_stands_in_the_lock),
        cmocka_unit_test(a_lock_reads_back_without_its_texts),
        cmocka_unit_test(an_edited_text_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
