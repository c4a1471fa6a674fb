/* The manifest: what is listed, what a check finds, and that sha256sum agrees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "sample/manifest.h"
#include "sample_folder.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" /* of "abc", FIPS 180-4 */
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void write_text(struct folder *folder, const char *name, const char *text)
{
    folder_write(folder, name, text, strlen(text));
}

static struct folder make_run(void)
{
    struct folder folder = folder_make();
    assert_int_equal(mkdir(folder_name(&folder, "samples"), 0755), 0);
    assert_int_equal(mkdir(folder_name(&folder, ".hidden"), 0755), 0);
    write_text(&folder, "run.log", "abc");
    write_text(&folder, "samples/0-latency.csv", "");
    write_text(&folder, "samples/0-latency-slots.csv", "abc");
    write_text(&folder, "plan.json", "abc");
    write_text(&folder, "private.json", "secret");
    write_text(&folder, "derived.json.123.tmp", "half");
    write_text(&folder, ".swp", "x");
    write_text(&folder, ".hidden/file", "x");
    return folder;
}

static void write_manifest(struct folder *folder)
{
    struct ifm_error error = {0};
    if (ifm_manifest_write(folder->path, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
}

static void assert_check(struct folder *folder, const char *where, const char *facts)
{
    struct ifm_error error = {0};
    enum ifm_status status = ifm_manifest_check(folder->path, false, &error);
    if (where == NULL) {
        if (status != IFM_OK)
            fail_msg("%s: %s", error.where, error.message);
        return;
    }
    assert_int_equal(status, IFM_INVALID);
    assert_facts(error.where, where);
    assert_facts(error.message, facts);
    if (strcmp(facts, "changed") == 0) /* what follows from the record needs no copy */
        assert_facts(error.hint, strcmp(where, "derived.json") == 0 ? "inferometer derive" : "a copy|rerun");
}

static void test_lists_every_file_but_private_ones(void **state)
{
    (void)state;
    struct folder folder = make_run();
    write_manifest(&folder);
    struct ifm_text text = folder_read(&folder, "manifest.sha256");
    assert_string_equal(text.data, ABC "  plan.json\n" ABC "  run.log\n" ABC "  samples/0-latency-slots.csv\n" EMPTY
                                       "  samples/0-latency.csv\n");
    assert_check(&folder, NULL, NULL);
    write_manifest(&folder); /* it does not list itself */
    folder_assert_holds(&folder, "manifest.sha256", &text);
    ifm_text_free(&text);
    char command[256];
    snprintf(command, sizeof command, "cd %s && sha256sum --check --strict --quiet manifest.sha256", folder.path);
    assert_int_equal(system(command), 0);
    folder_remove(&folder);
}

static void test_names_what_is_wrong(void **state)
{
    (void)state;
    struct folder folder = make_run();
    write_manifest(&folder);
    write_text(&folder, "private.json", "another secret"); /* not listed, so it may change */
    write_text(&folder, "x.tmp", "half");
    assert_check(&folder, NULL, NULL);
    write_text(&folder, "samples/0-latency.csv", "1");
    assert_check(&folder, "samples/0-latency.csv", "changed");
    write_text(&folder, "run.log", "abd"); /* same size; the first in order of names is reported */
    assert_check(&folder, "run.log", "changed");
    write_text(&folder, "run.log", "abc");
    unlink(folder_name(&folder, "samples/0-latency.csv"));
    assert_check(&folder, "samples/0-latency.csv", "missing");
    write_text(&folder, "samples/0-latency.csv", "");
    assert_check(&folder, NULL, NULL);
    write_text(&folder, "a.csv", "");
    assert_check(&folder, "a.csv", "not list");
    unlink(folder_name(&folder, "a.csv"));
    write_text(&folder, "samples/z.csv", "");
    assert_check(&folder, "samples/z.csv", "not list");
    unlink(folder_name(&folder, "samples/z.csv"));
    unlink(folder_name(&folder, "manifest.sha256"));
    assert_check(&folder, "manifest.sha256", "no manifest");
    folder_remove(&folder);
}

/* Before a folder is derived from again, only what `run` wrote has to fit. */
static void test_record_alone(void **state)
{
    (void)state;
    struct folder folder = make_run();
    struct ifm_error error = {0};
    write_text(&folder, "derived.json", "abc");
    write_manifest(&folder);
    write_text(&folder, "derived.json", "edited");
    write_text(&folder, "report.csv", "new");
    assert_check(&folder, "derived.json", "changed");
    assert_int_equal(ifm_manifest_check(folder.path, true, &error), IFM_OK);
    static const char *const names[] = {"plan.json", "run.log", "samples/0-latency-slots.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_text(&folder, names[i], "edited");
        assert_int_equal(ifm_manifest_check(folder.path, true, &error), IFM_INVALID);
        assert_non_null(strstr(error.where, names[i]));
        write_text(&folder, names[i], "abc");
    }
    write_text(&folder, "samples/1-latency.csv", "");
    assert_int_equal(ifm_manifest_check(folder.path, true, &error), IFM_INVALID);
    assert_non_null(strstr(error.message, "not list"));
    folder_remove(&folder);
}

static void test_links_are_refused(void **state)
{
    (void)state;
    struct folder folder = make_run();
    struct ifm_error error = {0};
    write_manifest(&folder);
    unlink(folder_name(&folder, "run.log"));
    assert_int_equal(symlink("plan.json", folder_name(&folder, "run.log")), 0); /* the very same bytes */
    assert_check(&folder, "run.log", "neither");
    assert_int_equal(ifm_manifest_write(folder.path, &error), IFM_INVALID);
    folder_remove(&folder);
}

/* One file is held to its line, and what changed beside it is not asked. */
static void test_one_file(void **state)
{
    (void)state;
    struct folder folder = make_run();
    struct ifm_error error = {0};
    assert_int_equal(ifm_manifest_check_file(folder.path, "plan.json", &error), IFM_INVALID); /* no manifest */
    write_manifest(&folder);
    write_text(&folder, "run.log", "other");
    assert_int_equal(ifm_manifest_check_file(folder.path, "plan.json", &error), IFM_OK);
    assert_int_equal(ifm_manifest_check_file(folder.path, "run.log", &error), IFM_INVALID);
    assert_facts(error.message, "has changed");
    assert_int_equal(ifm_manifest_check_file(folder.path, "none.json", &error), IFM_INVALID);
    assert_facts(error.message, "does not list");
    write_text(&folder, "manifest.sha256", "");
    assert_int_equal(ifm_manifest_check_file(folder.path, "plan.json", &error), IFM_INVALID);
    assert_facts(error.message, "is empty");
    folder_remove(&folder);
}

static void test_names_that_cannot_be_listed(void **state)
{
    (void)state;
    static const char *const names[] = {"a\nb", "a\\b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct folder folder = make_run();
        struct ifm_error error = {0};
        write_text(&folder, names[i], "");
        assert_int_equal(ifm_manifest_write(folder.path, &error), IFM_INVALID);
        assert_facts(error.message, "line break|backslash");
        assert_int_equal(access(folder_name(&folder, "manifest.sha256"), F_OK), -1);
        folder_remove(&folder);
    }
}

static void test_bad_manifests(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *facts;
    } cases[] = {
        {"nonsense\n", ":1", "sha256sum"},
        {ABC " plan.json\n", ":1", "sha256sum"},
        {ABC "  \n", ":1", "sha256sum"},
        {"B" ABC "  plan.json\n", ":1", "sha256sum"},
        {ABC "  plan.json\n" ABC "  run.log", ":2", "newline"},
        {ABC "  /etc/passwd\n", ":1", "\"/etc/passwd\"|may not"},
        {ABC "  ../plan.json\n", ":1", "\"../plan.json\"|may not"},
        {ABC "  samples/../plan.json\n", ":1", "\"samples/../plan.json\"|may not"},
        {ABC "  samples//0-latency.csv\n", ":1", "\"samples//0-latency.csv\"|may not"},
        {ABC "  samples/\n", ":1", "\"samples/\"|may not"},
        {ABC "  private.json\n", ":1", "\"private.json\"|may not"},
        {ABC "  run.log\n" ABC "  plan.json\n", ":2", "\"plan.json\"|twice"},
        {ABC "  plan.json\n" ABC "  plan.json\n", ":2", "\"plan.json\"|twice"},
        {"", "plan.json", "not list"},
    };
    struct folder folder = make_run();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(&folder, "manifest.sha256", cases[i].text);
        assert_check(&folder, cases[i].where, cases[i].facts);
    }
    folder_remove(&folder);
}

/* Every single bit of the manifest counts. */
static void test_any_flipped_byte_is_found(void **state)
{
    (void)state;
    struct folder folder = make_run();
    struct ifm_error error = {0};
    write_manifest(&folder);
    struct ifm_text text = folder_read(&folder, "manifest.sha256");
    for (size_t i = 0; i < text.size; i++) {
        text.data[i] ^= 1;
        folder_write(&folder, "manifest.sha256", text.data, text.size);
        assert_int_equal(ifm_manifest_check(folder.path, false, &error), IFM_INVALID);
        text.data[i] ^= 1;
    }
    ifm_text_free(&text);
    folder_remove(&folder);
}

static void test_missing_folder(void **state)
{
    (void)state;
    struct ifm_error error = {0};
    assert_int_equal(ifm_manifest_write("/nowhere/at/all", &error), IFM_USAGE);
    assert_int_equal(ifm_manifest_check("/nowhere/at/all", false, &error), IFM_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_every_file_but_private_ones),
        cmocka_unit_test(test_names_what_is_wrong),
        cmocka_unit_test(test_record_alone),
        cmocka_unit_test(test_links_are_refused),
        cmocka_unit_test(test_names_that_cannot_be_listed),
        cmocka_unit_test(test_one_file),
        cmocka_unit_test(test_bad_manifests),
        cmocka_unit_test(test_any_flipped_byte_is_found),
        cmocka_unit_test(test_missing_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
