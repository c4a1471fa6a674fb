/* How many windows of energy each arm gets, in blocks of one row and of two; and what helps a meter that gave none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/internal.h"
#include "run/energy/private.h"
#include <string.h>

/* As many windows as asked, rounded up to an even number, whatever a block has: a row and its mirror image are two
 * blocks where each is one. Windows of what is no program are in blocks of two rows. */
static void an_even_number_of_windows_at_least_as_asked(void **state)
{
    (void)state;
    static const char *const workloads[] = {"command", "gemm"};
    for (size_t w = 0; w < 2; w++)
        for (unsigned rows = 0; rows <= 2; rows++)
            for (uint64_t asked = 3; asked <= 9; asked++) {
                const struct ifm_arm arms[] = {{.name = "a", .workload = workloads[w]},
                                               {.name = "b", .workload = workloads[w]}};
                const struct ifm_cell plan = {.arms = arms, .n_arms = 2, .measure = {.energy_windows = asked}};
                const struct ifm_cell_run cell = {.plan = &plan, .rows = rows};
                const unsigned in_block = ifm_plan_rows(&plan, IFM_PASS_ENERGY, rows);
                assert_int_equal(in_block, w == 0 && rows == 1 ? 1 : 2);
                assert_int_equal(in_block * ifm_energy_blocks(&cell), asked + asked % 2);
                assert_int_equal(ifm_energy_windows_each(&cell), asked + asked % 2);
            }
}

/* What stands behind "gave no energy: " for such a reason. */
static void a_remedy_is_of_its_cause(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *has, *lacks;
    } cases[] = {
        {"rule-05: 2 of 2 windows of the arm can be used, and 3 are needed (measure.energy_windows)",
         "; take more windows (--energy-windows)", "its program write"},
        {"rule-05: meter of board in a window of 2 s: it was lost (end of file); 0 of 4 windows of the arm can be "
         "used, "
         "and 3 are needed",
         "; let its program write to the end of the run", "--energy-windows"},
        {"there is no reading of it in the window", "; let its program write to the end of the run", "--energy"},
        {"a window of 0.1 s is too short for meter: it updates every 100 ms, and a window needs 10 updates: set "
         "measure.energy_window to at least 1.3 s",
         "at least 1.3 s", ";"},
        {"the window has fewer than 10 of its periods", "longer windows (--energy-window)", "its program write"},
        {"a run of the program failed in it", "; run the program alone", "its program write"},
        {"rule-05: 900 J in 2 s are 450 W on average, and board is limited to 300 W", "`inferometer power`",
         "its program write"},
    };
    const struct ifm_pass passes[] = {{.kind = IFM_PASS_LATENCY}, {.kind = IFM_PASS_ENERGY}};
    const struct ifm_arm arm = {.name = "a", .workload = "command"};
    struct ifm_cell cell = {.name = "command", .arms = &arm, .n_arms = 1, .passes = passes, .n_passes = 2};
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_device_energy row = {
            .cell = "command", .arm = "a", .device = "board", .source = "meter", .refused = cases[i].reason};
        const struct ifm_derived derived = {.energies = &row, .n_energies = 1};
        cell.measure.power_meter = "meter.csv";
        const char *said = ifm_judge_meter(&derived, &cell, arena);
        assert_non_null(said);
        const char *behind = strstr(said, cases[i].reason);
        assert_non_null(behind);
        if (strstr(said, cases[i].has) == NULL || strstr(behind, cases[i].lacks) != NULL)
            fail_msg("case %zu: %s", i, said);
        row.refused = "";
        assert_null(ifm_judge_meter(&derived, &cell, arena)); /* a window of it is used */
        row.refused = cases[i].reason;
        cell.measure.power_meter = NULL;
        assert_null(ifm_judge_meter(&derived, &cell, arena)); /* nobody asked for it */
    }
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_even_number_of_windows_at_least_as_asked),
        cmocka_unit_test(a_remedy_is_of_its_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
