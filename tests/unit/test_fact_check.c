/* The check event: what an oracle and a compression gave, as derive reads it back; what does not apply is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/facts/facts.h"
#include "sample_folder.h"
#include "unit/events.h"
#include <math.h>

/* The `meta` of the event that the check makes; borrowed from *events. */
static const json_t *written(const struct ifm_check *check, json_t **events)
{
    struct folder folder = folder_make();
    struct ifm_error error = {0};
    struct ifm_session session = {0};
    assert_int_equal(ifm_journal_open(folder.path, &session.journal, &error), IFM_OK);
    if (ifm_fact_check(&session, "decode", "int4", "before", check, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    ifm_journal_close(session.journal);
    *events = events_read(folder.path);
    folder_remove(&folder);
    return json_object_get(json_array_get(*events, 0), "meta");
}

static struct ifm_check lossy(void)
{
    return (struct ifm_check){.done = true,
                              .error_rms_rel = 1e-7,
                              .error_max_rel = 2e-7,
                              .values = 64,
                              .finite = true,
                              .has_loss = true,
                              .loss_rms_rel = 0.079,
                              .loss_p99_rel = 0.27,
                              .loss_cosine = 0.99,
                              .loss_kl = 0.021,
                              .loss_tv = 0.08};
}

static double member(const json_t *meta, const char *key)
{
    const json_t *value = json_object_get(json_object_get(meta, "loss"), key);
    assert_true(json_is_real(value));
    return json_real_value(value);
}

static void a_loss_is_written_whole(void **state)
{
    (void)state;
    struct ifm_check check = lossy();
    json_t *events;
    const json_t *meta = written(&check, &events);
    assert_int_equal(json_object_size(json_object_get(meta, "loss")), 5);
    assert_true(member(meta, "rms_rel") == 0.079 && member(meta, "p99_rel") == 0.27);
    assert_true(member(meta, "cosine") == 0.99 && member(meta, "kl") == 0.021 && member(meta, "tv") == 0.08);
    json_decref(events);
}

static void the_part_is_written_where_it_is_known(void **state)
{
    (void)state;
    struct ifm_check check = lossy();
    json_t *events;
    assert_null(json_object_get(written(&check, &events), "error_part"));
    json_decref(events);
    check.has_part = true;
    check.error_part = 0.75;
    assert_true(json_real_value(json_object_get(written(&check, &events), "error_part")) == 0.75);
    json_decref(events);
}

static void rows_and_bias_are_written_where_they_are_known(void **state)
{
    (void)state;
    struct ifm_check check = lossy();
    json_t *events;
    const json_t *meta = written(&check, &events);
    assert_null(json_object_get(meta, "error_row"));
    assert_null(json_object_get(meta, "error_bias"));
    json_decref(events);
    check.has_rows = true;
    check.error_row = 0.25;
    check.error_bias = 0.125;
    meta = written(&check, &events);
    assert_true(json_real_value(json_object_get(meta, "error_row")) == 0.25);
    assert_true(json_real_value(json_object_get(meta, "error_bias")) == 0.125);
    json_decref(events);
}

static void what_does_not_apply_is_left_out(void **state)
{
    (void)state;
    struct ifm_check check = lossy();
    json_t *events;
    check.loss_kl = check.loss_tv = NAN;
    const json_t *meta = written(&check, &events);
    assert_int_equal(json_object_size(json_object_get(meta, "loss")), 3);
    assert_null(json_object_get(json_object_get(meta, "loss"), "kl"));
    assert_true(member(meta, "rms_rel") == 0.079);
    json_decref(events);
    check.loss_rms_rel = check.loss_p99_rel = check.loss_cosine = INFINITY; /* no number either, but it was spoken of */
    meta = written(&check, &events);
    assert_true(json_is_object(json_object_get(meta, "loss")));
    assert_int_equal(json_object_size(json_object_get(meta, "loss")), 0);
    json_decref(events);
}

static void an_infinite_divergence_is_a_fact(void **state)
{
    (void)state;
    struct ifm_check check = lossy();
    json_t *events;
    check.loss_kl = INFINITY;
    assert_true(member(written(&check, &events), "kl") < 0);
    json_decref(events);
    check.loss_kl = -1;
    assert_true(member(written(&check, &events), "kl") < 0);
    json_decref(events);
}

static void no_loss_is_no_member(void **state)
{
    (void)state;
    struct ifm_check check = lossy();
    json_t *events;
    check.has_loss = false;
    assert_null(json_object_get(written(&check, &events), "loss"));
    json_decref(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_is_written_whole),
        cmocka_unit_test(the_part_is_written_where_it_is_known),
        cmocka_unit_test(rows_and_bias_are_written_where_they_are_known),
        cmocka_unit_test(what_does_not_apply_is_left_out),
        cmocka_unit_test(an_infinite_divergence_is_a_fact),
        cmocka_unit_test(no_loss_is_no_member),
    };
    return cmocka_run_group_tests_name("fact_check", tests, NULL, NULL);
}
