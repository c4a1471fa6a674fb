/* The table of metrics that data/metrics becomes: ids are found, directions and columns are sound, and the page of the
 * definitions is what the table gives. What the build says of a bad record: metric_records.cmake. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/file.h"
#include "document/metric.h"
#include "model/metric.h"
#include "unit/facts.h"
#include <stdlib.h>
#include <string.h>

static void every_id_is_found(void **state)
{
    (void)state;
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++) {
        assert_int_equal(ifm_metric_of(ifm_metrics[m].id), m);
        assert_true(ifm_metrics[m].unit[0] != '\0' && ifm_metrics[m].prose[0] != '\0');
    }
    assert_int_equal(ifm_metric_of("step_n"), IFM_M_NONE);
    assert_int_equal(ifm_metric_of(""), IFM_M_NONE);
    assert_int_equal(ifm_metric_of("zzz"), IFM_M_NONE);
    assert_string_equal(ifm_metric_nearest("step_n"), "step_ns");
    assert_null(ifm_metric_nearest("something else"));
    assert_string_equal(ifm_metrics[IFM_M_NONE].id, "");
}

/* A record by hand: every key in its place, and a value of several lines in one. */
static void a_record_is_read_whole(void **state)
{
    (void)state;
    const struct ifm_metric *m = &ifm_metrics[IFM_M_CLOCK_SM_MHZ];
    assert_string_equal(m->id, "clock_sm_mhz");
    assert_string_equal(m->unit, "MHz");
    assert_int_equal(m->kind, IFM_CLASS_COUNTER);
    assert_int_equal(m->better, IFM_BETTER_NONE);
    assert_facts(m->undirected, "state");
    assert_int_equal(m->instead, IFM_M_STEP_NS);
    assert_int_equal(m->rounding, IFM_ROUNDING_INTERVAL);
    assert_int_equal(m->scope, IFM_SCOPE_ARM);
    assert_facts(m->formula, "ln(1000 gpu_cycles / gpu_clock_span_ns)");
    assert_facts(m->source, "first sample|the last");
    assert_int_equal(ifm_metrics[IFM_M_COMPRESSION_RATIO].rounding, IFM_ROUNDING_RATIO);
    assert_int_equal(ifm_metrics[IFM_M_RIDGE_POINT].scope, IFM_SCOPE_CELL);
    assert_non_null(strchr(ifm_metrics[IFM_M_TOTAL_ENERGY_J].formula, ';'));
}

static void columns_stand_in_the_order_of_their_places(void **state)
{
    (void)state;
    assert_int_equal(ifm_columns_arms.n, 20);
    assert_string_equal(ifm_columns_arms.items[0].heading, "mean/step");
    assert_int_equal(ifm_columns_arms.items[0].metric, IFM_M_STEP_NS);
    assert_int_equal(ifm_columns_arms.items[3].part, 2);
    assert_int_equal(ifm_columns_arms.items[19].metric, IFM_M_ERROR_RMS_REL);
    assert_string_equal(ifm_columns_compression.items[5].heading, "cosine");
    assert_int_equal(ifm_columns_energy.items[0].metric, IFM_M_ENERGY_PER_TOKEN_J);
    assert_int_equal(ifm_columns_energy_step.items[0].metric, IFM_M_ENERGY_PER_STEP_J);
}

/* docs/definitions.md below its line is what the definitions give. IFM_BLESS=1 writes it anew. */
static void the_page_holds_the_definitions(void **state)
{
    (void)state;
    static const char page[] = "docs/definitions.md", line[] = "<!-- Below this line";
    char *data;
    size_t size;
    struct ifm_error error = {0};
    struct ifm_text body = {0}, wanted = {0};
    ifm_metrics_markdown(&body);
    const char *arm = strstr(body.data, "an arm\n"), *cell = strstr(body.data, "a cell\n");
    assert_true(arm != NULL && cell != NULL && arm < cell);
    assert_non_null(strstr(cell, "- **Unit:** `B/s`; better: higher"));
    assert_int_equal(ifm_file_read(page, 1 << 24, &data, &size, &error), IFM_OK);
    const char *cut = strstr(data, line);
    assert_non_null(cut);
    cut = strchr(cut, '\n');
    assert_non_null(cut);
    ifm_text_append(&wanted, data, (size_t)(cut + 1 - data));
    ifm_text_add(&wanted, "\n");
    ifm_text_append(&wanted, body.data, body.size - 1); /* the page ends with one newline */
    if (getenv("IFM_BLESS") != NULL)
        assert_int_equal(ifm_file_write_atomic(page, wanted.data, wanted.size, &error), IFM_OK);
    else if (size != wanted.size || memcmp(data, wanted.data, size) != 0)
        fail_msg("%s differs from data/metrics: run IFM_BLESS=1 build/tests/test_metric at the root", page);
    free(data);
    ifm_text_free(&body);
    ifm_text_free(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_id_is_found),
        cmocka_unit_test(a_record_is_read_whole),
        cmocka_unit_test(columns_stand_in_the_order_of_their_places),
        cmocka_unit_test(the_page_holds_the_definitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
