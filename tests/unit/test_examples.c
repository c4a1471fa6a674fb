/* The examples resolve against the tables of this build, and the tables of the workloads are sound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "workload/workload.h"
#include <string.h>

enum { MOST_WORKLOADS = 64 };

static const struct ifm_section *sections[MOST_WORKLOADS + 1];

static int collect(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST_WORKLOADS && ifm_workloads[i] != NULL; i++)
        sections[i] = ifm_workloads[i]->params;
    return 0;
}

static void examples_resolve(void **state)
{
    (void)state;
    static const char *const files[] = {"examples/first-run.yaml",      "examples/stream.yaml",
                                        "examples/sweep.yaml",          "examples/gates.yaml",
                                        "examples/elastic_decode.yaml", "examples/append_cost.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct ifm_config *config = ifm_config_create(sections);
        struct ifm_error error = {0};
        if (ifm_config_file(config, files[i], &error) != IFM_OK || ifm_config_resolve(config, &error) != IFM_OK)
            fail_msg("%s: %s", error.where, error.message);
        ifm_config_destroy(config);
    }
}

/* Every workload runs on its defaults; its rows belong to it; the quick form's flags do not hide common ones. */
static void workload_tables_are_sound(void **state)
{
    (void)state;
    for (size_t i = 0; sections[i] != NULL; i++) {
        struct ifm_config *config = ifm_config_create(sections);
        struct ifm_error error = {0};
        bool known;
        size_t length = strlen(sections[i]->name);
        assert_int_equal(ifm_config_flag(config, NULL, "workload", sections[i]->name, &known, &error), IFM_OK);
        if (ifm_config_resolve(config, &error) != IFM_OK)
            fail_msg("%s: %s", error.where, error.message);
        ifm_config_destroy(config);
        config = ifm_config_create(sections);
        for (size_t j = 0; j < sections[i]->n; j++) {
            const struct ifm_param *row = &sections[i]->rows[j];
            assert_memory_equal(row->path, sections[i]->name, length);
            assert_int_equal(row->path[length], '.');
            assert_true(row->offset < sections[i]->size);
            assert_true(row->help[0] != '\0' && row->help[strlen(row->help) - 1] != '.');
            if (row->flag == NULL)
                continue;
            assert_int_equal(ifm_config_flag(config, NULL, row->flag, NULL, &known, &error), IFM_OK);
            assert_false(known);
        }
        ifm_config_destroy(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_resolve),
        cmocka_unit_test(workload_tables_are_sound),
    };
    return cmocka_run_group_tests(tests, collect, NULL);
}
