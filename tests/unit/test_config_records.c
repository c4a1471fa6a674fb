/* The arrays of records: arms and gates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_sample.h"
#include "facts.h"
#include <stdio.h>
#include <string.h>

static struct ifm_config *good(const char *yaml)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    if (ifm_config_yaml(config, yaml, strlen(yaml), "c.yaml", &error) != IFM_OK ||
        ifm_config_resolve(config, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    return config;
}

/* `records` follows the line "workload: decode". */
static void bad(const char *records, const char *where, const char *message, const char *hint)
{
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    char yaml[8192];
    snprintf(yaml, sizeof yaml, "workload: decode\n%s", records);
    enum ifm_status status = ifm_config_yaml(config, yaml, strlen(yaml), "c.yaml", &error);
    if (status == IFM_OK)
        status = ifm_config_resolve(config, &error);
    assert_int_equal(status, IFM_USAGE);
    assert_facts(error.message, message);
    assert_string_equal(error.where, where);
    if (hint != NULL)
        assert_facts(error.hint, hint);
    ifm_config_destroy(config);
}

static void arms_take_lists_and_mappings(void **state)
{
    (void)state;
    struct ifm_config *config = good("workload: decode\n"
                                     "arms:\n"
                                     "  - name: base\n"
                                     "  - name: few-heads\n"
                                     "    set: [decode.kv_heads=4, \"decode.chunk=4KiB\"]\n"
                                     "  - name: nested\n"
                                     "    set:\n"
                                     "      decode: {kv_heads: 2, layout: paged}\n"
                                     "      decode.label: a=b, c\n"
                                     "      decode.shapes: [3, 5]\n");
    const struct ifm_study *study = ifm_config_study(config);
    assert_int_equal(study->n_arms, 3);
    assert_true(study->arms[0].baseline);
    assert_false(study->arms[1].baseline);
    assert_int_equal(study->arms[0].n_set, 0);
    assert_string_equal(study->arms[0].where, "c.yaml:3:5");
    assert_string_equal(study->arms[1].set[0].path, "decode.kv_heads");
    assert_string_equal(study->arms[1].set[0].text, "4");
    assert_string_equal(study->arms[1].set[1].text, "4096");
    assert_int_equal(study->arms[2].n_set, 4);
    assert_string_equal(study->arms[2].set[1].text, "paged");
    assert_string_equal(study->arms[2].set[2].text, "a=b, c");
    assert_string_equal(study->arms[2].set[3].text, "3,5"); /* as a lock spells it too */
    ifm_config_destroy(config);
}

static void one_arm_is_the_baseline(void **state)
{
    (void)state;
    struct ifm_config *config = good("workload: decode\narms: [{name: a}, {name: b, baseline: true}]\n");
    assert_false(ifm_config_study(config)->arms[0].baseline);
    assert_true(ifm_config_study(config)->arms[1].baseline);
    ifm_config_destroy(config);
    bad("arms: [{name: a, baseline: true}, {name: b, baseline: true}]\n", "c.yaml:2:35", "'a'|'b'", "'baseline: true'");
}

static void a_later_file_replaces_the_arms(void **state)
{
    (void)state;
    static const char one[] = "workload: decode\narms: [{name: a}, {name: b}]\n", two[] = "arms: [{name: c}]\n";
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    assert_int_equal(ifm_config_yaml(config, one, sizeof one - 1, "1", &error), IFM_OK);
    assert_int_equal(ifm_config_yaml(config, two, sizeof two - 1, "2", &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(config, &error), IFM_OK);
    assert_int_equal(ifm_config_study(config)->n_arms, 1);
    assert_string_equal(ifm_config_study(config)->arms[0].name, "c");
    ifm_config_destroy(config);
}

static void wrong_arms(void **state)
{
    (void)state;
    bad("arms: a\n", "c.yaml:2:7", "'arms'", "'- name: ...'");
    bad("arms: []\n", "c.yaml:2:7", "arms|empty", "least|record");
    bad("arms: [a]\n", "c.yaml:2:8", "record|mapping", "'- name: ...'");
    bad("arms: [{baseline: true}]\n", "c.yaml:2:8", "record|allowed", "");
    bad("arms: [{name: a, nmae: b}]\n", "c.yaml:2:18", "'nmae'", "'name'");
    bad("arms: [{name: a, name: b}]\n", "c.yaml:2:18", "'name'|2", NULL);
    bad("arms: [{name: a}, {name: a}]\n", "c.yaml:2:26", "'a'|c.yaml|:2|:8", NULL);
    bad("arms: [{name: flops}]\n", "c.yaml:2:15", "'flops'", "choose|another");
    bad("arms: [{name: a b}]\n", "c.yaml:2:15", "'a b'", NULL);
    bad("arms: [{name: [a]}]\n", "c.yaml:2:15", "takes|value", NULL);
    bad("arms: [{name: a, baseline: yes}]\n", "c.yaml:2:28", "'yes'", NULL);
    char many[4096] = "arms: [";
    for (int i = 0; i < 65; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "{name: a%d},", i);
    memcpy(many + strlen(many) - 1, "]\n", 3);
    bad(many, "c.yaml:2:7", "65|64", NULL);
}

static void wrong_settings_of_arms(void **state)
{
    (void)state;
    bad("arms: [{name: a, set: 5}]\n", "c.yaml:2:23", "path=value", NULL);
    bad("arms: [{name: a, set: [x]}]\n", "c.yaml:2:24", "'x'|path=value", "path=value");
    bad("arms: [{name: a, set: [decode.kv_head=1]}]\n", "c.yaml:2:24", "'decode.kv_head'", "'decode.kv_heads'");
    bad("arms: [{name: a, set: {decode: {kv_head: 1}}}]\n", "c.yaml:2:33", "'decode.kv_head'", "'decode.kv_heads'");
    bad("arms: [{name: a, set: [decode.kv_heads=0]}]\n", "c.yaml:2:24", "decode.kv_heads|0|1|256", NULL);
    bad("arms: [{name: a, set: {decode.kv_heads: [1, 2]}}]\n", "c.yaml:2:41", "decode.kv_heads", NULL);
    bad("arms: [{name: a, set: [\"decode.kv_heads=1,2\"]}]\n", "c.yaml:2:24", "decode.kv_heads|'1,2'|256", NULL);
    bad("arms: [{name: a, set: [measure.cap=1]}]\n", "c.yaml:2:24", "measure.cap",
        "decode.kv_heads|decode.chunk|decode.layout|decode.label");
    bad("arms: [{name: a, set: [decode.kv_heads=1, decode.kv_heads=2]}]\n", "c.yaml:2:43", "'a'|decode.kv_heads",
        "keep");
    bad("arms: [{name: a, set: {nothing: {}}}]\n", "c.yaml:2:24", "'nothing'", NULL);
    bad("arms: [{name: a, set: {decode: {kv_heads: 1}, decode: {layout: paged}}}]\n", "c.yaml:2:47", "'decode'|2",
        "keep");
    bad("arms: [{name: a, set: {decode: {kv_heads: 1}, decode.kv_heads: 2}}]\n", "c.yaml:2:64", "'a'|decode.kv_heads",
        "keep");
    bad("decode.kv_heads: [1, 2]\narms: [{name: a, set: [decode.kv_heads=4]}]\n", "c.yaml:3:8", "'a'|decode.kv_heads",
        NULL);
}

static void arms_of_other_workloads(void **state)
{
    (void)state;
    static const char yaml[] = "workload: copy_test\narms: [{name: a, set: [decode.kv_heads=4]}]\n";
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    assert_int_equal(ifm_config_yaml(config, yaml, sizeof yaml - 1, "c.yaml", &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(config, &error), IFM_USAGE);
    assert_facts(error.message, "'a'|decode.kv_heads|'decode'");
    assert_string_equal(error.where, "c.yaml:2:8");
    ifm_config_destroy(config);
}

static void gates(void **state)
{
    (void)state;
    struct ifm_config *config =
        good("workload: decode\ngates:\n"
             "  - {metric: latency_ns_p50, op: at_most, threshold: 1e6}\n"
             "  - {name: fast enough, metric: m, arm: x, cell: c, op: at_least, threshold: -2, interval: false}\n");
    const struct ifm_study *study = ifm_config_study(config);
    assert_int_equal(study->n_gates, 2);
    assert_string_equal(study->gates[0].name, "latency_ns_p50");
    assert_string_equal(study->gates[0].arm, "");
    assert_int_equal(study->gates[0].op, IFM_GATE_AT_MOST);
    assert_true(study->gates[0].threshold == 1e6);
    assert_true(study->gates[0].interval);
    assert_string_equal(study->gates[1].name, "fast enough");
    assert_int_equal(study->gates[1].op, IFM_GATE_AT_LEAST);
    assert_true(study->gates[1].threshold == -2);
    assert_false(study->gates[1].interval);
    ifm_config_destroy(config);
}

static void wrong_gates(void **state)
{
    (void)state;
    bad("gates: [{name: g, op: at_most, threshold: 1}]\n", "c.yaml:2:9", "record|allowed", "");
    bad("gates: [{metric: m, threshold: 1}]\n", "c.yaml:2:9", "at_most|at_least", "");
    bad("gates: [{metric: m, op: at_most}]\n", "c.yaml:2:9", "threshold|allowed", "");
    bad("gates: [{metric: m, op: below, threshold: 1}]\n", "c.yaml:2:25", "'below'|at_most|at_least", "");
    bad("gates: [{metric: m, op: at_most, threshold: 10ms}]\n", "c.yaml:2:45", "'10ms'", "");
    bad("gates: [{metric: m, op: at_most, treshold: 1}]\n", "c.yaml:2:34", "'treshold'|least_n", "'threshold'");
    bad("gates: [{metric: m, op: at_most, threshold: 1}, {metric: m, op: at_least, threshold: 1}]\n", "c.yaml:2:49",
        "'m'|c.yaml|:2|:9", "'name'");
    bad("gates: [{metric: \"m\\n\", op: at_most, threshold: 1}]\n", "c.yaml:2:9", "'m?'", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_take_lists_and_mappings),
        cmocka_unit_test(one_arm_is_the_baseline),
        cmocka_unit_test(a_later_file_replaces_the_arms),
        cmocka_unit_test(wrong_arms),
        cmocka_unit_test(wrong_settings_of_arms),
        cmocka_unit_test(arms_of_other_workloads),
        cmocka_unit_test(gates),
        cmocka_unit_test(wrong_gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
