/* Layers of attention on a private serial device: how many there are, which one a step reads and writes, and that each
 * one that was written is checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dyn/openblas.h"
#include "kernel/cpu/isa.h"
#include "opened.h"
#include "plan/arms.h"
#include "serial_device.h"
#include "workload/attention/host.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct serial serial;
    struct ifm_error error;
    struct ifm_arm_list arms;
    const char *why_not;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL)
        return 1;
    bench->arena = ifm_arena_create();
    bench->machine = (struct ifm_machine){.device = "cpu",
                                          .cpus_allowed = 2,
                                          .threads = 2,
                                          .memory_available = (uint64_t)16 << 30,
                                          .cache_reported = {32768, 1 << 20, 32 << 20}};
    ifm_isas(&bench->machine.isas, &bench->machine.n_isas);
    bench->serial.device.ops = &serial_ops;
    *context = bench;
    return 0;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    serial_free(&bench->serial);
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static enum ifm_status describe(struct bench *bench, const struct ifm_setting *settings, size_t n)
{
    bench->why_not = NULL;
    enum ifm_status status = ifm_workload_attention.describe(settings, n, &bench->machine, bench->arena, &bench->arms,
                                                             &bench->why_not, &bench->error);
    give_settings(&bench->arms, settings, n);
    return status;
}

static uint64_t layers_of(const struct bench *bench)
{
    const struct ifm_arm *arm = &bench->arms.items[0];
    const char *text = ifm_setting_find(arm->chosen, arm->n_chosen, "layers");
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

/* 8 MiB a step: 16 of them are 4 x 32 MiB of cache. Half the memory, a GPU's graphs, the caller and plans of earlier
 * versions ask for fewer. */
static void layers_exceed_the_caches(void **context)
{
    struct bench *bench = *context;
    const uint64_t one = 8 << 20;
    assert_int_equal(describe(bench, NULL, 0), IFM_OK);
    assert_int_equal(layers_of(bench), 16);
    assert_int_equal(bench->arms.items[0].working_set, 16 * one);
    assert_int_equal(bench->arms.items[0].memory - bench->arms.items[0].scratch, 16 * one);
    assert_int_equal(bench->arms.items[0].ledger.bytes_read + bench->arms.items[0].ledger.bytes_written, one);
    bench->machine.llc_instances = 2;
    const struct ifm_setting longer[] = {{"attention.seq_len", "2049"}};
    assert_int_equal(describe(bench, longer, 1), IFM_OK);
    assert_int_equal(layers_of(bench), 32);                    /* one more token is enough for 31.99 */
    bench->machine.memory_available = 2 * 7 * (one + one / 4); /* seven, with the outputs of two arms */
    assert_int_equal(describe(bench, NULL, 0), IFM_OK);
    assert_int_equal(layers_of(bench), 7);
    bench->machine.memory_available = one + one / 4;
    assert_int_equal(describe(bench, NULL, 0), IFM_OK);
    assert_int_equal(layers_of(bench), 1);
    bench->machine.memory_available = (uint64_t)16 << 30;
    const struct ifm_setting three[] = {{"attention.layers", "3"}};
    assert_int_equal(describe(bench, three, 1), IFM_OK);
    assert_int_equal(layers_of(bench), 3);
    const struct ifm_setting most[] = {{"attention.layers", "16777216"}};
    assert_int_equal(describe(bench, most, 1), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "in 16777216 layers needs"));
    assert_string_equal(bench->error.hint, "lower attention.layers");
    bench->machine.rules = 19;
    assert_int_equal(describe(bench, NULL, 0), IFM_OK);
    assert_int_equal(layers_of(bench), 0);
    assert_int_equal(bench->arms.items[0].working_set, one);
}

static void a_gpu_takes_64_layers_in_turn(void **context)
{
    struct bench *bench = *context;
    const struct ifm_gpu gpu = {.major = 9, .multiprocessors = 132};
    bench->machine.device = "cuda";
    bench->machine.gpu = &gpu;
    const struct ifm_setting small_one[] = {{"attention.seq_len", "128"}, {"attention.layers", "0"}};
    assert_int_equal(describe(bench, small_one, 2), IFM_OK);
    assert_null(bench->why_not);
    assert_int_equal(layers_of(bench), 64);
    const struct ifm_setting more[] = {{"attention.layers", "65"}};
    assert_int_equal(describe(bench, more, 1), IFM_OK);
    assert_non_null(strstr(bench->why_not, "at most 64 layers in turn: lower attention.layers"));
}

enum { LAYERS = 3 };

/* An arm of three layers, over outputs that are spoiled. */
static struct ifm_attention_host *open_layers(struct bench *bench, const char *arm, struct opened *opened)
{
    static struct ifm_setting settings[] = {{"attention.seq_len", "70"},
                                            {"attention.head_dim", "32"},
                                            {"attention.layers", "3"},
                                            {"attention.storage", "f32"},
                                            {"attention.arms", ""}};
    settings[COUNT(settings) - 1].text = arm;
    assert_int_equal(describe(bench, settings, COUNT(settings)), IFM_OK);
    assert_int_equal(open_arm_on(&ifm_workload_attention, &bench->arms.items[0], "cpu", &bench->serial.device, 2, 7,
                                 bench->arena, opened, &bench->error),
                     IFM_OK);
    opened->by->spoil(opened->state, true);
    return opened->state;
}

static bool accepts(struct bench *bench, const struct opened *opened)
{
    struct ifm_check check;
    assert_int_equal(opened->by->check(opened->state, &check, &bench->error), IFM_OK);
    return check.done && check.finite && check.error_max_rel <= bench->arms.items[0].tolerance && !check.sets_differ;
}

static const char *const layered[] = {"ours", "openblas"};

static bool has_arm(struct bench *bench, const char *arm)
{
    const char *why_not = NULL;
    const struct ifm_openblas *library = ifm_openblas_load(&why_not);
    bench->machine.blas = library != NULL ? library->name : NULL;
    return strcmp(arm, "ours") == 0 || library != NULL;
}

/* A NaN in the keys of one layer, as large as its outputs, is in those of that layer alone, whichever step a run begins
 * with. */
static void each_step_reads_its_own_layer(void **context)
{
    struct bench *bench = *context;
    for (size_t i = 0; i < COUNT(layered) && has_arm(bench, layered[i]); i++)
        for (uint64_t planted = 0, skipped = 0; planted < LAYERS; planted++, skipped++) {
            struct opened opened;
            const struct ifm_attention_host *host = open_layers(bench, layered[i], &opened);
            float *key = (float *)(void *)(uintptr_t)(host->k + planted * host->out_bytes), kept = *key;
            opened.by->step(opened.state, skipped);
            *key = NAN;
            opened.by->step(opened.state, LAYERS);
            *key = kept;
            for (uint64_t layer = 0; layer < LAYERS; layer++) {
                const float *out = (const float *)(const void *)(host->out + layer * host->out_bytes);
                assert_true(isnan(out[0]) == (layer == planted));
            }
            ifm_implementation_close(opened.by, opened.state);
        }
}

/* What was written since outputs were spoiled, and nothing else. */
static void each_written_layer_is_checked(void **context)
{
    struct bench *bench = *context;
    for (size_t i = 0; i < COUNT(layered) && has_arm(bench, layered[i]); i++)
        for (uint64_t written = 0; written <= LAYERS + 1; written++)
            for (uint64_t planted = 0; planted < LAYERS; planted++) {
                struct opened opened;
                struct ifm_attention_host *host = open_layers(bench, layered[i], &opened);
                opened.by->step(opened.state, written);
                assert_true(accepts(bench, &opened) == (written > 0));
                float *last = (float *)(void *)(host->out + (planted + 1) * host->out_bytes) - 1;
                *last += 1;
                assert_true(accepts(bench, &opened) == (written > 0 && planted >= written));
                opened.by->spoil(opened.state, false);
                assert_false(accepts(bench, &opened));
                ifm_implementation_close(opened.by, opened.state);
            }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(layers_exceed_the_caches), TEST(a_gpu_takes_64_layers_in_turn),
                                       TEST(each_step_reads_its_own_layer), TEST(each_written_layer_is_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
