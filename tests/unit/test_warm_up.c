/* What the warm-up may take of the time that lies outside the blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/fake.h"
#include "run/pass/warm_up.h"
#include <math.h>

/* Of a cap of 10 s half a second is for rounds of ceilings at the start, and another for those at the end; checks come
 * twice. */
static void it_has_what_is_left_of_the_cap(void **state)
{
    static const struct {
        double cap_s, warmup_cap_s, data_s, checks_s, calibration_s;
        int stop;
        double most_s;
    } rows[] = {
        {10, 2.5, 0, 0, 0, IFM_STOP_MDE, 2.5},     {10, 2.5, 4, 1, 0.5, IFM_STOP_MDE, 2.5},
        {10, 2.5, 5, 1, 0.5, IFM_STOP_MDE, 1.5},   {10, 2.5, 4, 2, 0.5, IFM_STOP_DECIDED, 0.5},
        {10, 2.5, 9, 1, 0, IFM_STOP_MDE, 0},       {10, 0.2, 5, 1, 0.5, IFM_STOP_MDE, 0.2}, /* less was asked for */
        {10, 3, 9, 1, 0, IFM_STOP_MDE, 3},                                                  /* more was */
        {10, 2.5, 9, 1, 0, IFM_STOP_REPEATS, 2.5},
    };
    (void)state;
    const struct ifm_device_ops ops = {.name = "cpu"};
    struct ifm_device device = {.ops = &ops};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ifm_cell plan = {
            .name = "cell",
            .measure = {.cap_s = rows[i].cap_s, .warmup_cap_s = rows[i].warmup_cap_s, .stop = rows[i].stop}};
        struct ifm_session session = {0};
        session.parts.seconds[IFM_PART_MACHINE] = 100; /* of no cell */
        session.parts.seconds[IFM_PART_DATA] = rows[i].data_s;
        session.parts.seconds[IFM_PART_CHECKS] = rows[i].checks_s;
        session.parts.seconds[IFM_PART_CALIBRATION] = rows[i].calibration_s;
        struct ifm_cell_run cell = {.plan = &plan, .device = &device, .session = &session};
        if (fabs(ifm_warm_up_most_s(&cell) - rows[i].most_s) > 1e-9)
            fail_msg("row %zu: %g s, not %g s", i, ifm_warm_up_most_s(&cell), rows[i].most_s);
        device.ops = &ifm_device_fake; /* runs alike, however long this machine takes */
        assert_true(ifm_warm_up_most_s(&cell) == rows[i].warmup_cap_s);
        device.ops = &ops;
    }
}

/* Steps so long that two of them spend all the time: what the first one still pays is no lack of steadiness. */
static void long_steps_have_a_pair_behind_the_first(void **state)
{
    (void)state;
    struct ifm_cell plan = {.name = "cell", .measure = {.warmup = 50}};
    struct ifm_cell_run cell = {.plan = &plan};
    struct ifm_warm_up warm = {.cell = &cell, .seconds = 9, .most_s = 1};
    for (warm.windows = 0; warm.windows < 4; warm.windows++) {
        warm.steady = false;
        assert_true(ifm_warm_up_wanted(&warm) == (warm.windows < 3));
        warm.steady = true;
        assert_true(ifm_warm_up_wanted(&warm) == (warm.windows < 2));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_has_what_is_left_of_the_cap),
                                       cmocka_unit_test(long_steps_have_a_pair_behind_the_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
