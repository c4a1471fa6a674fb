/* Gates presets: every file becomes gate records of the lock, once, and each name that the table offers has its file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_sample.h"
#include "derive/derive.h"
#include "facts.h"
#include "judge/judge.h"
#include "model/embedded.h"
#include <string.h>

static enum ifm_status resolve(const char *yaml, struct ifm_config **out, struct ifm_error *error)
{
    memset(error, 0, sizeof *error);
    *out = ifm_config_create(sample_sections);
    IFM_TRY(ifm_config_yaml(*out, yaml, strlen(yaml), "c.yaml", error));
    return ifm_config_resolve(*out, error);
}

/* What the table offers is what data/gates/ holds, and each gate is one that a run could answer. */
static void every_file_is_a_choice(void **state)
{
    (void)state;
    size_t files = 0;
    for (const struct ifm_embedded_file *at = ifm_embedded_gates; at->name != NULL; at++) {
        char yaml[128], name[64];
        size_t length = strlen(at->name);
        struct ifm_config *config;
        struct ifm_error error;
        if (length < 6 || strcmp(at->name + length - 5, ".yaml") != 0)
            continue;
        files++;
        bool percent = strstr(at->data, "PERCENT") != NULL;
        snprintf(name, sizeof name, "%.*s%s", (int)length - 5, at->name, percent ? "=2.5%" : "");
        snprintf(yaml, sizeof yaml, "workload: decode\ngates_preset: %s\n", name);
        if (resolve(yaml, &config, &error) != IFM_OK)
            fail_msg("%s: %s", error.where, error.message);
        const struct ifm_study *study = ifm_config_study(config);
        assert_true(study->n_gates >= (percent ? 1 : 3));
        for (size_t g = 0; g < study->n_gates; g++) {
            assert_true(IFM_M_NONE != ifm_metric_of(study->gates[g].metric));
            assert_non_null(strstr(study->gate_places[g], "gates preset "));
            assert_true(study->gates[g].classes[0] == '\0' || ifm_judge_has_classes(study->gates[g].classes));
        }
        ifm_config_destroy(config);
    }
    const struct ifm_param *row = NULL;
    for (size_t i = 0; i < ifm_section_general.n; i++)
        if (strcmp(ifm_section_general.rows[i].path, "gates_preset") == 0)
            row = &ifm_section_general.rows[i];
    assert_non_null(row);
    size_t choices = 1;
    for (const char *c = row->choices; *c != '\0'; c++)
        choices += *c == '|';
    assert_int_equal(choices, files);
}

static void presets_stand_behind_the_gates_of_the_file(void **state)
{
    (void)state;
    struct ifm_config *config;
    struct ifm_error error;
    assert_int_equal(resolve("workload: decode\ngates_preset: [significant, sop]\n"
                             "gates: [{metric: step_ns, op: at_most, threshold: 1, least_n: 12}]\n",
                             &config, &error),
                     IFM_OK);
    const struct ifm_study *study = ifm_config_study(config);
    assert_int_equal(study->n_gates, 8);
    assert_string_equal(study->gates[0].metric, "step_ns");
    assert_int_equal(study->gates[0].least_n, 12);
    assert_string_equal(study->gates[1].name, "significant: intervals apart");
    assert_string_equal(study->gates[4].name, "sop: latency");
    assert_true(study->gates[4].threshold == -20 && study->gates[4].op == IFM_GATE_AT_MOST);
    ifm_config_destroy(config);
}

/* Two limits are two gates; what is no limit is refused with the form. */
static void a_preset_with_a_limit(void **state)
{
    (void)state;
    static const char *const wrong[] = {"no-regression",
                                        "no-regression=",
                                        "no-regression=3",
                                        "no-regression=0.03",
                                        "no-regression=0%",
                                        "no-regression=-3%",
                                        "no-regression=101%",
                                        "no-regression=%",
                                        "no-regression=3%%",
                                        "no-regression=3 of 5 %",
                                        "sop=3%"};
    struct ifm_config *config;
    struct ifm_error error;
    assert_int_equal(
        resolve("workload: decode\ngates_preset: [no-regression=3%, 'no-regression=0.5 %']\n", &config, &error),
        IFM_OK);
    const struct ifm_study *study = ifm_config_study(config);
    assert_int_equal(study->n_gates, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct ifm_gate *gate = &study->gates[i];
        assert_string_equal(gate->metric, "change_percent");
        assert_true(gate->op == IFM_GATE_AT_MOST && gate->interval && gate->threshold == (i == 0 ? 3 : 0.5));
        assert_string_equal(gate->name, i == 0 ? "no regression beyond 3 %" : "no regression beyond 0.5 %");
    }
    ifm_config_destroy(config);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char yaml[96];
        snprintf(yaml, sizeof yaml, "workload: decode\ngates_preset: ['%s']\n", wrong[i]);
        assert_int_equal(resolve(yaml, &config, &error), IFM_USAGE);
        if (strstr(error.message, "no-regression") == NULL)
            fail_msg("%s: %s", wrong[i], error.message);
        ifm_config_destroy(config);
    }
}

/* The lock spells the gates out; read again it adds none. */
static void a_lock_gives_itself(void **state)
{
    (void)state;
    struct ifm_config *config, *again = ifm_config_create(sample_sections);
    struct ifm_error error;
    assert_int_equal(resolve("workload: decode\ngates_preset: [golden-ticket]\n", &config, &error), IFM_OK);
    json_t *lock = ifm_config_lock_json(config);
    assert_int_equal(json_array_size(json_object_get(lock, "gates")), 6);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(json_object_get(lock, "gates"), 0), "least_n")),
                     30);
    struct ifm_text text = {0};
    ifm_json_print(lock, true, &text);
    if (ifm_config_lock(again, text.data, text.size, "config.lock.json", &error) != IFM_OK ||
        ifm_config_override(again, "seed=7", &error) != IFM_OK || ifm_config_resolve(again, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(ifm_config_study(again)->n_gates, 6);
    ifm_config_destroy(again);
    again = ifm_config_create(sample_sections);
    assert_int_equal(ifm_config_lock(again, text.data, text.size, "config.lock.json", &error), IFM_OK);
    assert_int_equal(ifm_config_override(again, "gates_preset=sop", &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(again, &error), IFM_USAGE);
    assert_facts(error.message, "spells|every");
    ifm_config_destroy(again);
    ifm_text_free(&text);
    json_decref(lock);
    ifm_config_destroy(config);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    struct ifm_config *config;
    struct ifm_error error;
    assert_int_equal(resolve("workload: decode\ngates_preset: golden\n", &config, &error), IFM_USAGE);
    assert_facts(error.message, "golden-ticket|significant");
    ifm_config_destroy(config);
    assert_int_equal(resolve("workload: decode\ngates_preset: sop\n"
                             "gates: [{name: \"sop: latency\", metric: step_ns, op: at_most, threshold: 1}]\n",
                             &config, &error),
                     IFM_USAGE);
    assert_facts(error.message, "'sop: latency'|c.yaml|:3");
    ifm_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_is_a_choice), cmocka_unit_test(presets_stand_behind_the_gates_of_the_file),
        cmocka_unit_test(a_preset_with_a_limit),  cmocka_unit_test(a_lock_gives_itself),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests_name("config_gates", tests, NULL, NULL);
}
