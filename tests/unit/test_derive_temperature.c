/* The range of the processor's temperature, by hand: means of blocks, not single readings. */
#include "rules/fixture.h"

/* The fixture's fourth column as a temperature: `base` everywhere, `step` mC more in the last block, and the two slots
 * of an arm in one block `apart` mC below and above that. */
static void record(struct fixture *fx, int64_t base, int64_t step, int64_t apart)
{
    static char name[] = "temperature_mc";
    fx_start(fx);
    fx_generate(fx);
    struct ifm_record *r = &fx->parts[0].record;
    unsigned seen[FX_ARMS] = {0}, last = r->slots[r->n_slots - 1].block, block = last + 1;
    r->column_names[3] = name;
    for (size_t k = 0; k < r->n_slots; k++) {
        struct ifm_slot *slot = &r->slots[k];
        if (slot->block != block)
            memset(seen, 0, sizeof seen);
        block = slot->block;
        int64_t sign = seen[slot->arm]++ == 0 ? -1 : 1;
        /* Warm-up is no part of the pass, however cold it was. */
        r->columns[k * FX_COLUMNS + 3] =
            slot->phase == IFM_PHASE_WARMUP ? 1000 : base + (block == last ? step : 0) + sign * apart;
    }
    fx_end_events(fx);
}

static void the_range_is_that_of_block_means(void **state)
{
    (void)state;
    struct fixture fx;
    record(&fx, 60000, 3500, 2000);
    fx_derive(&fx);
    const struct ifm_value *value = fx_value(&fx, "other", "temperature_range_k");
    assert_int_equal(value->state, IFM_STATE_OK);
    assert_true(fabs(value->number - 3.5) < 1e-12);
    assert_int_equal(value->n, 12);
    assert_string_equal(value->unit, "K");
    fx_stop(&fx);
}

static void a_cooling_counts_as_much(void **state)
{
    (void)state;
    struct fixture fx;
    record(&fx, 60000, -7000, 0);
    fx_derive(&fx);
    assert_true(fabs(fx_value(&fx, "base", "temperature_range_k")->number - 7) < 1e-12);
    fx_stop(&fx);
}

static void a_slot_without_a_reading_leaves_it_absent(void **state)
{
    (void)state;
    struct fixture fx;
    record(&fx, 60000, 0, 0);
    struct ifm_record *r = &fx.parts[0].record;
    r->columns[(r->n_slots - 1) * FX_COLUMNS + 3] = IFM_ABSENT;
    const char *arm = fx.cells[0].arms[r->slots[r->n_slots - 1].arm].name;
    fx_derive(&fx);
    fx_expect(&fx, arm, "temperature_range_k", IFM_STATE_ABSENT, "read in 11 of 12 blocks");
    fx_stop(&fx);
}

/* As in most virtual machines: there is a column, and never a reading. */
static void a_column_without_readings_is_not_listed(void **state)
{
    (void)state;
    struct fixture fx;
    record(&fx, 60000, 0, 0);
    struct ifm_record *r = &fx.parts[0].record;
    for (size_t k = 0; k < r->n_slots; k++)
        r->columns[k * FX_COLUMNS + 3] = IFM_ABSENT;
    fx_derive(&fx);
    assert_null(ifm_derived_find(fx.derived, "decode", "other", IFM_M_TEMPERATURE_RANGE_K));
    fx_stop(&fx);
}

/* Nobody reads it and nobody asks: not listed. Nobody reads it and a gate asks: absent, with the reason. */
static void without_a_sensor_only_a_gate_lists_it(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        struct fixture fx;
        fx_start(&fx);
        fx_generate(&fx);
        fx_end_events(&fx);
        if (asked)
            fx_gate(&fx, "temperature_range_k", "other", IFM_GATE_AT_MOST, 5, false);
        fx_derive(&fx);
        if (asked)
            fx_expect(&fx, "other", "temperature_range_k", IFM_STATE_ABSENT, "no instrument");
        else
            assert_null(ifm_derived_find(fx.derived, "decode", "other", IFM_M_TEMPERATURE_RANGE_K));
        fx_stop(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_range_is_that_of_block_means),
        cmocka_unit_test(a_cooling_counts_as_much),
        cmocka_unit_test(a_slot_without_a_reading_leaves_it_absent),
        cmocka_unit_test(a_column_without_readings_is_not_listed),
        cmocka_unit_test(without_a_sensor_only_a_gate_lists_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
