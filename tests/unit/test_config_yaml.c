/* Configuration files: what binds, and the one clear error for each way to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_sample.h"
#include "facts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct ifm_axis *axis(const struct ifm_config *config, const char *path)
{
    const struct ifm_study *study = ifm_config_study(config);
    for (size_t i = 0; i < study->n_axes; i++)
        if (strcmp(study->axes[i].path, path) == 0)
            return &study->axes[i];
    return NULL;
}

/* A configuration of this YAML text, resolved. */
static struct ifm_config *good(const char *yaml)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    if (ifm_config_yaml(config, yaml, strlen(yaml), "c.yaml", &error) != IFM_OK ||
        ifm_config_resolve(config, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    return config;
}

static void bad_bytes(const char *yaml, size_t size, const char *where, const char *message, const char *hint)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    enum ifm_status status = ifm_config_yaml(config, yaml, size, "c.yaml", &error);
    if (status == IFM_OK)
        status = ifm_config_resolve(config, &error);
    assert_int_equal(status, IFM_USAGE);
    assert_int_equal(error.code, IFM_USAGE);
    assert_facts(error.message, message);
    assert_string_equal(error.where, where);
    if (hint != NULL)
        assert_facts(error.hint, hint);
    ifm_config_destroy(config);
}

static void bad(const char *yaml, const char *where, const char *message, const char *hint)
{
    bad_bytes(yaml, strlen(yaml), where, message, hint);
}

/* Editors of other systems put a byte order mark in front. */
static void a_byte_order_mark_is_no_part_of_the_text(void **state)
{
    (void)state;
    struct ifm_config *config = good("\xef\xbb\xbfworkload: decode\nmeasure:\n  warmup: 7\n");
    assert_int_equal(ifm_config_study(config)->measure.warmup, 7);
    ifm_config_destroy(config);
    bad("\xef\xbb\xbfworklod: decode\n", "c.yaml:1:1", "worklod", "workload");
    bad_bytes("\xff\xfew\0", 4, "c.yaml:1:1", "UTF-16|0xff", "UTF-8");
    bad_bytes("\xfe\xff\0w", 4, "c.yaml:1:1", "UTF-16|0xfe", "UTF-8");
}

static void nested_and_dotted_keys_are_one(void **state)
{
    (void)state;
    struct ifm_config *config = good("workload: decode\n"
                                     "decode:\n  kv_len: 512\n  batch: 2\n"
                                     "decode.layout: paged\n"
                                     "measure.mde: 0.02\n"
                                     "measure: {cap: 250ms}\n");
    assert_string_equal(axis(config, "decode.kv_len")->texts[0], "512");
    assert_string_equal(axis(config, "decode.batch")->texts[0], "2");
    assert_string_equal(axis(config, "decode.layout")->texts[0], "paged");
    assert_true(ifm_config_study(config)->measure.mde == 0.02);
    assert_true(ifm_config_study(config)->measure.cap_s == 0.25);
    ifm_config_destroy(config);
}

/* No change inside the margin has a word: a wide one alone takes the effect that is looked for with it. */
static void a_wide_margin_takes_the_wanted_effect_with_it(void **state)
{
    (void)state;
    struct ifm_config *wide = good("workload: decode\nmeasure.margin: 0.05\n");
    assert_true(ifm_config_study(wide)->measure.mde == 0.05);
    ifm_config_destroy(wide);
    struct ifm_config *narrow = good("workload: decode\nmeasure.margin: 0.005\n");
    assert_true(ifm_config_study(narrow)->measure.mde == 0.01);
    ifm_config_destroy(narrow);
}

static void lists_make_axes(void **state)
{
    (void)state;
    struct ifm_config *config = good("workload: decode\n"
                                     "decode: {kv_len: [512, 1024], batch: \"1, 2,4\", shapes: [4, 8]}\n"
                                     "device.threads: 1,2\nmeasure.cache: [hot, cold]\nceilings: [none]\n");
    const struct ifm_axis *kv_len = axis(config, "decode.kv_len");
    assert_int_equal(kv_len->n, 2);
    assert_string_equal(kv_len->texts[1], "1024");
    assert_int_equal(axis(config, "decode.batch")->n, 3);
    assert_int_equal(axis(config, "device.threads")->n, 2);
    assert_int_equal(axis(config, "measure.cache")->n, 2);
    assert_int_equal(ifm_config_study(config)->measure.cache, IFM_CACHE_HOT);
    assert_int_equal(axis(config, "decode.shapes")->n, 1);
    assert_string_equal(axis(config, "decode.shapes")->texts[0], "4,8");
    assert_int_equal(ifm_config_study(config)->n_ceilings, 0);
    ifm_config_destroy(config);
}

static void axes_list_every_row_in_table_order(void **state)
{
    (void)state;
    struct ifm_config *config = good("workload: copy_test\n");
    const struct ifm_study *study = ifm_config_study(config);
    size_t common = ifm_section_general.n + ifm_section_device.n + ifm_section_measure.n;
    common -= 3; /* device.kernels, measure.counters, measure.trace: younger than locks that are kept, with defaults */
    assert_int_equal(study->n_axes, common + 2);
    assert_string_equal(study->axes[0].path, "workload");
    assert_string_equal(study->axes[common].path, "copy_test.size");
    assert_string_equal(study->axes[common].texts[0], "1048576");
    assert_int_equal(axis(config, "copy_test.kind")->n, 2); /* its default is an axis */
    assert_string_equal(axis(config, "copy_test.kind")->texts[1], "read");
    assert_null(axis(config, "decode.kv_len"));
    assert_int_equal(study->seed, 42);
    assert_int_equal(study->n_ceilings, 2);
    assert_string_equal(study->ceilings[1], "flops");
    assert_int_equal(study->measure.warmup, 50);
    assert_int_equal(study->measure.stop, IFM_STOP_DECIDED);
    assert_true(study->measure.slot_min_s == 0.002);
    assert_true(ifm_config_device(config)->huge_pages);
    assert_int_equal(ifm_config_device(config)->kind, 0);
    ifm_config_destroy(config);
}

static void unknown_keys_name_the_nearest(void **state)
{
    (void)state;
    bad("workload: decode\ndecode:\n  kv_lenn: 4\n", "c.yaml:3:3", "'decode.kv_lenn'", "'decode.kv_len'");
    bad("kv_len: 4\n", "c.yaml:1:1", "'kv_len'", "'decode.kv_len'");
    bad("sed: 4\n", "c.yaml:1:1", "'sed'", "'seed'");
    bad("xyzzyplugh: 4\n", "c.yaml:1:1", "'xyzzyplugh'", "`inferometer run --help`");
    bad("measure:\n  cap:\n    x: 1\n", "c.yaml:3:5", "measure.cap", "give|value");
    bad("<<: {seed: 4}\n", "c.yaml:1:1", "'<<'", NULL);
    bad("\"\": 4\n", "c.yaml:1:1", "''", NULL);
}

static void duplicate_keys_name_the_first(void **state)
{
    (void)state;
    bad("seed: 1\nworkload: decode\nseed: 2\n", "c.yaml:3:1", "'seed'|1", "keep");
    bad("decode:\n  kv_len: 1\ndecode.kv_len: 2\n", "c.yaml:3:1", "'decode.kv_len'|2", "keep");
    bad("decode: {kv_len: 1}\ndecode: {batch: 2}\n", "c.yaml:2:1", "'decode'|1", "keep");
}

static void wrong_values(void **state)
{
    (void)state;
    bad("workload: decode\ndecode.kv_len: abc\n", "c.yaml:2:16", "decode.kv_len|'abc'|1048576", "such|4096");
    bad("decode:\n  kv_len: [512, 0]\n", "c.yaml:2:17", "decode.kv_len|1048576", "");
    bad("decode.check: no\n", "c.yaml:1:15", "decode.check|'no'", "write|false");
    bad("measure.cache: colt\n", "c.yaml:1:16", "measure.cache|'colt'", "'cold'");
    bad("measure.mde: [0.1, 0.2]\n", "c.yaml:1:14", "measure.mde|06|1", "give|value");
    bad("seed:\n", "c.yaml:1:6", "seed|value", "write|value");
    bad("device.script:\n", "c.yaml:1:15", "device.script", NULL);
    bad("decode: 5\n", "c.yaml:1:9", "'decode'", "indent|below");
    bad("decode.kv_len: [[1]]\n", "c.yaml:1:17", "decode.kv_len", "give|value");
    bad("decode.kv_len: []\n", "c.yaml:1:16", "decode.kv_len", "least|value");
    bad("decode.kv_len: [512, 0512]\n", "c.yaml:1:22", "decode.kv_len|512", "give|value");
    bad("decode.kv_len: 512,,1024\n", "c.yaml:1:16", "decode.kv_len|1048576", "such|4096");
    bad("workload: []\n", "c.yaml:1:11", "workload|empty", NULL);
    bad("workload: [decode, \"a,b\"]\n", "c.yaml:1:20", "workload|comma", NULL);
    bad("workload: [decode, decode]\n", "c.yaml:1:12", "'decode'", "name|item");
}

static void an_axis_has_at_most_256_values(void **state)
{
    (void)state;
    char yaml[4096] = "workload: decode\ndecode.kv_len: 1";
    for (int i = 2; i <= 257; i++)
        snprintf(yaml + strlen(yaml), sizeof yaml - strlen(yaml), ",%d", i);
    bad(yaml, "c.yaml:2:16", "decode.kv_len|257|256", "");
    *strrchr(yaml, ',') = '\0';
    struct ifm_config *config = good(yaml);
    assert_int_equal(axis(config, "decode.kv_len")->n, 256);
    ifm_config_destroy(config);
}

static void files_that_are_no_configuration(void **state)
{
    (void)state;
    bad("", "c.yaml", "file|empty", "'workload: NAME'|examples/first-run.yaml");
    bad("# only a comment\n", "c.yaml", "file|empty", NULL);
    bad("---\n...\n", "c.yaml", "file|empty", NULL);
    bad("just text\n", "c.yaml:1:1", "mapping|values", "'key: value'");
    bad("- a\n", "c.yaml:1:1", "mapping|values", "'key: value'");
    bad_bytes("seed: 1\nx\0y: 2\n", 15, "c.yaml:2:2", "file|binary", "UTF-8");
    bad("seed: \xff\xfe\n", "c.yaml:1:7", "file|binary", NULL);
    bad("seed: \xc0\xaf\n", "c.yaml:1:7", "file|binary", NULL);
    bad("seed: \xed\xa0\x80\n", "c.yaml:1:7", "file|binary", NULL);
    bad("device.script: \"a\\0b\"\n", "c.yaml:1:16", "NUL", NULL);
    bad("seed: 1\n\tx: 2\n", "c.yaml:2:1", "YAML", "'key: value'");
    bad("seed: @1\n", "c.yaml:1:7", "YAML", NULL);
    bad("seed: [1\n", "c.yaml:2:1", "YAML|','|']'", NULL);
    size_t size = (1 << 20) + 1;
    char *huge = malloc(size);
    memset(huge, '#', size);
    bad_bytes(huge, size, "c.yaml", "1048577 bytes|1048576", NULL);
    free(huge);
}

static void yaml_that_means_more_than_it_shows(void **state)
{
    (void)state;
    bad("seed: &a 1\n", "c.yaml:1:7", "anchors|allowed", "write|value");
    bad("decode: &a {kv_len: 1}\n", "c.yaml:1:9", "anchors|allowed", "write|value");
    bad("seed: *a\n", "c.yaml:1:7", "aliases|allowed", "write|value");
    bad("seed: !!int 1\n", "c.yaml:1:7", "tags|allowed", "without|parameter");
    bad("workload: !!seq [decode]\n", "c.yaml:1:11", "tags|allowed", NULL);
    bad("seed: 1\n---\nseed: 2\n", "c.yaml:2:1", "second|document", "second|document");
    bad("? [a, b]\n: 1\n", "c.yaml:1:3", "word", NULL);
    bad("a: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n", "c.yaml:1:19", "16", "");
}

static void long_file_names_keep_line_and_column(void **state)
{
    (void)state;
    char name[400];
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    assert_int_equal(ifm_config_yaml(config, "sed: 1\n", 7, name, &error), IFM_USAGE);
    assert_string_equal(error.where + strlen(error.where) - 7, "ddd:1:1");
    ifm_config_destroy(config);
}

static void files_are_read(void **state)
{
    (void)state;
    char name[] = "/tmp/ifm_config_XXXXXX.yaml";
    int fd = mkstemps(name, 5);
    static const char yaml[] = "workload: decode\nseed: 9\n";
    assert_true(fd >= 0);
    assert_int_equal(write(fd, yaml, sizeof yaml - 1), sizeof yaml - 1);
    close(fd);
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    assert_int_equal(ifm_config_file(config, name, &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(config, &error), IFM_OK);
    assert_int_equal(ifm_config_study(config)->seed, 9);
    unlink(name);
    ifm_config_destroy(config);
    config = ifm_config_create(sample_sections);
    assert_int_equal(ifm_config_file(config, name, &error), IFM_USAGE);
    assert_facts(error.message, "cannot|directory");
    ifm_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_order_mark_is_no_part_of_the_text),
        cmocka_unit_test(nested_and_dotted_keys_are_one),
        cmocka_unit_test(lists_make_axes),
        cmocka_unit_test(axes_list_every_row_in_table_order),
        cmocka_unit_test(unknown_keys_name_the_nearest),
        cmocka_unit_test(duplicate_keys_name_the_first),
        cmocka_unit_test(wrong_values),
        cmocka_unit_test(an_axis_has_at_most_256_values),
        cmocka_unit_test(files_that_are_no_configuration),
        cmocka_unit_test(yaml_that_means_more_than_it_shows),
        cmocka_unit_test(long_file_names_keep_line_and_column),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(a_wide_margin_takes_the_wanted_effect_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
