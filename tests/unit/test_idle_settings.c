/* Which settings have no effect on an arm, as decode says of its forms; attention's are in its own test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "kernel/cpu/isa.h"
#include "workload/workload.h"
#include <string.h>

static void expect(const struct ifm_setting *settings, size_t n, const char *name, const char *idle)
{
    struct ifm_machine machine = {.device = "cpu",
                                  .cpus_allowed = 2,
                                  .threads = 2,
                                  .memory_available = (uint64_t)16 << 30,
                                  .cache_reported = {32768, 1 << 20, 32 << 20}};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    struct ifm_arm_list arms;
    const char *why_not = NULL;
    size_t found = 0;
    ifm_isas(&machine.isas, &machine.n_isas);
    assert_int_equal(ifm_workload_decode.describe(settings, n, &machine, arena, &arms, &why_not, &error), IFM_OK);
    for (size_t i = 0; i < arms.n; i++)
        if (strcmp(arms.items[i].name, name) == 0) {
            assert_string_equal(arms.items[i].idle, idle);
            found++;
        }
    assert_int_equal(found, 1);
    ifm_arena_destroy(arena);
}

static void a_cycle_has_settings_of_its_own(void **state)
{
    (void)state;
    const struct ifm_setting still[] = {{"decode.kv_len", "256"}, {"decode.compress", "1,4"}};
    const struct ifm_setting cycle[] = {{"decode.kv_len", "256"}, {"decode.inference", "true"}};
    expect(still, 2, "int4", " decode.decode_tokens decode.append decode.evict");
    expect(cycle, 2, "int4", " decode.evict");
}

static void only_some_forms_keep_sinks_or_evict(void **state)
{
    (void)state;
    const struct ifm_setting forms[] = {
        {"decode.kv_len", "256"}, {"decode.compress", "1,8"}, {"decode.format", "half4"}};
    expect(forms, 3, "f16", " decode.decode_tokens decode.append decode.sink decode.evict");
    expect(forms, 3, "half4", " decode.decode_tokens decode.append");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_has_settings_of_its_own),
        cmocka_unit_test(only_some_forms_keep_sinks_or_evict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
