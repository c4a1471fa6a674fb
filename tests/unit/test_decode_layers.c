/* How many layers each arm of decode turns through, and in how much memory; which arms a GPU has unasked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "kernel/cpu/isa.h"
#include "workload/workload.h"
#include <stdlib.h>
#include <string.h>

/* Of all shapes here: a layer's keys and values in f16, and queries with outputs. */
static const uint64_t PLAIN = 4ULL * 8 * 4096 * 512, ROWS = 2 * 4ULL * 32 * 128 * 4;
static const uint64_t BEYOND = 4ULL * 2 * (32 << 20);
enum { ARMS = 4 };

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct ifm_arm_list arms;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    bench->arena = ifm_arena_create();
    bench->machine = (struct ifm_machine){.device = "cpu",
                                          .cpus_allowed = 2,
                                          .threads = 2,
                                          .memory_available = (uint64_t)64 << 30,
                                          .cache_reported = {32768, 1 << 20, 32 << 20},
                                          .llc_instances = 2};
    ifm_isas(&bench->machine.isas, &bench->machine.n_isas);
    *context = bench;
    return 0;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

/* The usual shape at 4096 tokens, with two more settings. */
static enum ifm_status describe(struct bench *bench, const char *layers, const char *cycle)
{
    const struct ifm_setting settings[] = {{"decode.kv_len", "4096"},
                                           {"decode.layers", layers},
                                           {"decode.inference", cycle},
                                           {"decode.decode_tokens", "1"}};
    const char *why_not = NULL;
    struct ifm_error error;
    enum ifm_status status = ifm_workload_decode.describe(settings, sizeof settings / sizeof *settings, &bench->machine,
                                                          bench->arena, &bench->arms, &why_not, &error);
    assert_null(why_not);
    assert_true(status != IFM_OK || bench->arms.n == ARMS);
    return status;
}

static uint64_t layers_of(const struct ifm_arm *arm)
{
    uint64_t layers = 0;
    for (size_t i = 0; i < arm->n_chosen; i++)
        if (strcmp(arm->chosen[i].path, "layers") == 0)
            assert_true(ifm_parse_u64(arm->chosen[i].text, &layers));
    assert_true(layers > 0);
    return layers;
}

static uint64_t memory_of_all(const struct bench *bench)
{
    uint64_t memory = 0;
    for (size_t i = 0; i < bench->arms.n; i++)
        memory += bench->arms.items[i].memory;
    return memory;
}

/* Of what an arm turns through, caches keep a part that is smaller the larger the whole is. So no arm has less than 4
 * times the caches, or int4 would read its caches and f16 memory; and none has more than a layer beyond that, or the
 * compressed arm would have the larger part kept, and win by it. */
static void each_arm_turns_through_as_much_beyond_the_caches_as_the_others(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    for (size_t i = 0; i < ARMS; i++) {
        const struct ifm_arm *arm = &bench->arms.items[i];
        assert_true(arm->working_set - ROWS >= BEYOND);
        assert_true(arm->working_set - ROWS < BEYOND + arm->stored);
        assert_int_equal(arm->stored_plain, PLAIN); /* of one layer, which a step reads */
        assert_true(layers_of(arm) >= BEYOND / arm->stored);
    }
    assert_true(layers_of(&bench->arms.items[ARMS - 1]) > 5 * layers_of(&bench->arms.items[0]));
    assert_int_equal(describe(bench, "2", "false"), IFM_OK);
    assert_int_equal(bench->arms.items[0].working_set - ROWS, 2 * PLAIN);
}

/* Where memory is short no arm is left in the caches by the others: their parts of it stay equal. */
static void short_memory_shrinks_all_arms_alike(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    const uint64_t needed = memory_of_all(bench);
    bench->machine.memory_available = 2 * needed; /* half of it for all arms' caches */
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    assert_int_equal(memory_of_all(bench), needed);
    bench->machine.memory_available = needed;
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    assert_true(memory_of_all(bench) <= needed / 2 + needed / 100);
    for (size_t i = 0; i < ARMS; i++) {
        const struct ifm_arm *arm = &bench->arms.items[i];
        assert_true(arm->working_set - ROWS <= BEYOND / 2 + arm->stored);
        assert_true(arm->working_set + 2 * arm->stored > BEYOND / 2);
    }
    bench->machine.memory_available = 1;
    assert_int_equal(describe(bench, "0", "false"), IFM_USAGE); /* the fewest are one layer each */
}

/* They are its work. */
static void a_cycle_has_as_many_layers_in_every_arm(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, "0", "true"), IFM_OK);
    const struct ifm_arm smallest = bench->arms.items[ARMS - 1];
    const uint64_t layers = layers_of(&smallest);
    assert_true(smallest.working_set >= BEYOND && layers > 10);
    for (size_t i = 0; i < ARMS; i++) {
        assert_int_equal(layers_of(&bench->arms.items[i]), layers);
        assert_true(bench->arms.items[i].stored_plain >= layers * PLAIN);
    }
    bench->machine.memory_available = memory_of_all(bench);
    assert_int_equal(describe(bench, "0", "true"), IFM_OK);
    const uint64_t fewer = layers_of(&bench->arms.items[0]);
    assert_true(fewer == layers / 2 || fewer == layers / 2 - 1);
    assert_int_equal(layers_of(&bench->arms.items[ARMS - 1]), fewer);
}

/* Folders of before are planned again as they were: in all arms as many layers as the smallest needs, and as their
 * content that of all layers. */
static void earlier_rules_plan_as_they_did(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    const struct ifm_arm smallest = bench->arms.items[ARMS - 1], f16 = bench->arms.items[0];
    const uint64_t layers = layers_of(&smallest);
    bench->machine.rules = 7;
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    for (size_t i = 0; i < ARMS; i++) {
        assert_int_equal(layers_of(&bench->arms.items[i]), layers);
        assert_int_equal(bench->arms.items[i].stored_plain, layers * PLAIN);
    }
    assert_int_equal(bench->arms.items[ARMS - 1].stored, layers * smallest.stored);
    assert_int_equal(bench->arms.items[ARMS - 1].memory, smallest.memory);
    assert_int_equal(bench->arms.items[0].ledger.bytes_read, f16.ledger.bytes_read);
    bench->machine.memory_available = memory_of_all(bench);
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    const uint64_t fewer = layers_of(&bench->arms.items[0]);
    assert_true(fewer == layers / 2 || fewer == layers / 2 - 1);
    assert_int_equal(layers_of(&bench->arms.items[ARMS - 1]), fewer);
    bench->machine.memory_available = (uint64_t)64 << 30;
    bench->machine.rules = 8;
    assert_int_equal(describe(bench, "0", "false"), IFM_OK);
    assert_int_equal(bench->arms.items[0].memory, f16.memory);
}

/* Names of the arms of one choice of decode.compress on a GPU, "a b ". */
static const char *arms_of(struct bench *bench, const char *compress, const struct ifm_setting *more)
{
    const struct ifm_setting settings[] = {{"decode.compress", compress}, *more};
    const char *why_not = NULL, *names = "";
    struct ifm_error error;
    assert_int_equal(ifm_workload_decode.describe(settings, sizeof settings / sizeof *settings, &bench->machine,
                                                  bench->arena, &bench->arms, &why_not, &error),
                     IFM_OK);
    assert_null(why_not);
    for (size_t i = 0; i < bench->arms.n; i++)
        names = ifm_arena_printf(bench->arena, "%s%s ", names, bench->arms.items[i].name);
    return names;
}

static void a_library_is_the_baseline_of_a_gpu_since_rules_10(void **context)
{
    struct bench *bench = *context;
    static const struct ifm_gpu gpu = {.major = 9, .multiprocessors = 132};
    static const struct ifm_setting plain = {"decode.layout", "contiguous"}, paged = {"decode.layout", "paged"},
                                    wide = {"decode.head_dim", "256"}, all = {"decode.arms", "ours,naive,cudnn"};
    bench->machine.device = "cuda";
    bench->machine.gpu = &gpu;
    assert_string_equal(arms_of(bench, "1", &plain), "f16 ");
    assert_string_equal(arms_of(bench, "1", &wide), "naive ");
    bench->machine.dnn = "cuDNN 9.19.0";
    assert_string_equal(arms_of(bench, "1", &plain), "cudnn f16 ");
    assert_string_equal(arms_of(bench, "1", &paged), "f16 ");
    assert_string_equal(arms_of(bench, "1", &wide), "cudnn ");
    assert_string_equal(arms_of(bench, "1", &all), "cudnn naive f16 ");
    bench->machine.rules = 9;
    assert_string_equal(arms_of(bench, "1", &plain), "naive f16 ");
    assert_string_equal(arms_of(bench, "1", &wide), "naive ");
    bench->machine.rules = 10;
    assert_string_equal(arms_of(bench, "1", &plain), "cudnn f16 ");
}

/* Codes of a cache are numbers of matrix units there, and integers on the processor alone. */
static void a_gpu_multiplies_no_integers_since_rules_13(void **context)
{
    struct bench *bench = *context;
    static const struct ifm_gpu gpu = {.major = 9, .multiprocessors = 132};
    static const struct ifm_setting both = {"decode.arms", "ours,naive"};
    bench->machine.device = "cuda";
    bench->machine.gpu = &gpu;
    (void)arms_of(bench, "4", &both);
    assert_true(bench->arms.n >= 2);
    for (size_t i = 0; i < bench->arms.n; i++) {
        assert_false(bench->arms.items[i].integer);
        assert_int_equal(bench->arms.items[i].matrix, strcmp(bench->arms.items[i].implementation, "ours") == 0);
    }
    bench->machine.rules = 12;
    (void)arms_of(bench, "4", &both);
    for (size_t i = 0; i < bench->arms.n; i++) {
        assert_false(bench->arms.items[i].matrix);
        assert_int_equal(bench->arms.items[i].integer, strcmp(bench->arms.items[i].variant, "f16") != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_arm_turns_through_as_much_beyond_the_caches_as_the_others, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(short_memory_shrinks_all_arms_alike, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cycle_has_as_many_layers_in_every_arm, setup, teardown),
        cmocka_unit_test_setup_teardown(earlier_rules_plan_as_they_did, setup, teardown),
        cmocka_unit_test_setup_teardown(a_library_is_the_baseline_of_a_gpu_since_rules_10, setup, teardown),
        cmocka_unit_test_setup_teardown(a_gpu_multiplies_no_integers_since_rules_13, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
