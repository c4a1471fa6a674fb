/* The workload attention on a private serial device: shapes by name, ledgers, arms, inputs, checks that can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config.h"
#include "dyn/openblas.h"
#include "kernel/cpu/isa.h"
#include "opened.h"
#include "workload/attention/attention.h"
#include "workload/attention/data.h"
#include "workload/attention/host.h"
#include "workload/attention/oracle.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "Workers" one after the other, buffers in a list. */
struct serial {
    struct ifm_device device;
    struct slot {
        char name[160];
        size_t bytes;
        void *memory;
    } slots[16];
    size_t n;
};

static void serial_parallel(struct ifm_device *device, unsigned threads, ifm_work_fn *work, void *arg)
{
    (void)device;
    for (unsigned i = threads; i-- > 0;)
        work(arg, i, threads);
}

static enum ifm_status serial_buffer(struct ifm_device *device, const char *name, size_t bytes, void **out, bool *fresh,
                                     struct ifm_error *error)
{
    struct serial *serial = (struct serial *)device;
    size_t i = 0;
    while (i < serial->n && (strcmp(serial->slots[i].name, name) != 0 || serial->slots[i].bytes != bytes))
        i++;
    *fresh = i == serial->n;
    if (i == sizeof serial->slots / sizeof serial->slots[0])
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "too many buffers");
    struct slot *slot = &serial->slots[i];
    if (*fresh) {
        snprintf(slot->name, sizeof slot->name, "%s", name);
        slot->bytes = bytes;
        slot->memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
        assert_non_null(slot->memory);
        memset(slot->memory, 0, bytes);
        serial->n++;
    }
    *out = slot->memory;
    return IFM_OK;
}

static const struct ifm_device_ops serial_ops = {
    .name = "serial", .parallel = serial_parallel, .buffer = serial_buffer};

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
    for (size_t i = 0; i < bench->serial.n; i++)
        free(bench->serial.slots[i].memory);
    ifm_arena_destroy(bench->arena);
    free(bench);
    return 0;
}

static enum ifm_status describe(struct bench *bench, const struct ifm_setting *settings, size_t n)
{
    bench->why_not = NULL;
    enum ifm_status status = ifm_workload_attention.describe(settings, n, &bench->machine, bench->arena, &bench->arms,
                                                             &bench->why_not, &bench->error);
    for (size_t i = 0; i < bench->arms.n; i++) { /* what plan does */
        bench->arms.items[i].settings = settings;
        bench->arms.items[i].n_settings = n;
    }
    return status;
}

static struct ifm_check run_arm(struct bench *bench, size_t arm, unsigned threads, uint64_t steps)
{
    struct opened opened;
    struct ifm_check check;
    if (open_arm_on(&ifm_workload_attention, &bench->arms.items[arm], "cpu", &bench->serial.device, threads, 7,
                    bench->arena, &opened, &bench->error) != IFM_OK)
        fail_msg("%s", bench->error.message);
    opened.by->step(opened.state, steps);
    assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
    ifm_implementation_close(opened.by, opened.state);
    return check;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct ifm_setting small[] = {
    {"attention.batch", "3"},     {"attention.q_heads", "4"},   {"attention.kv_heads", "2"},
    {"attention.seq_len", "101"}, {"attention.head_dim", "32"}, {"attention.ragged", "1"},
    {"attention.storage", "f16"}, {"attention.isa", "auto"},    {"attention.causal", "true"},
    {"attention.layers", "1"},    {"attention.arms", "auto"},
};

/* Three sequences of 101, 50 and 0 tokens, whatever the seed. */
static void ledger_counts_pairs_and_bytes_once(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, small, COUNT(small)), IFM_OK);
    assert_int_equal(bench->arms.n, 1);
    assert_true(bench->arms.rivals);
    const struct ifm_arm *arm = &bench->arms.items[0];
    const uint64_t tokens = 101 + 50, pairs = 101 * 102 / 2 + 50 * 51 / 2;
    assert_int_equal(ifm_attention_length(101, 1, 3, 1), 50);
    assert_int_equal(arm->ledger.flops, 4 * 4 * 32 * pairs);
    assert_int_equal(arm->ledger.bytes_read, 2 * 32 * (4 + 2 + 2) * tokens);
    assert_int_equal(arm->ledger.bytes_written, 2 * 32 * 4 * tokens);
    assert_int_equal(arm->ledger.rows, tokens);
    assert_int_equal(arm->ledger.tokens_prompt, tokens);
    assert_int_equal(arm->ledger.tokens_generated, 0);
    assert_true(arm->scratch > 0 && arm->scratch % (bench->machine.threads * sizeof(float)) == 0);
    assert_int_equal(arm->memory - arm->scratch, 2 * 32 * (2 * 4 + 2 * 2) * 3 * 101);
    assert_true(arm->has_oracle && !arm->lossy);
    assert_true(arm->tolerance > 0x1p-11 && arm->tolerance < 1e-3);
}

/* The specification's formulas: FLOPs 4 B H S^2 D, bytes 4 B H S D size. */
static void ledger_of_the_baseline_is_the_specifications(void **context)
{
    struct bench *bench = *context;
    for (int i = 1; ifm_attention_config(i) != NULL; i++) {
        const struct ifm_attention_config *c = ifm_attention_config(i);
        char expected[32];
        snprintf(expected, sizeof expected, "b%lluh%llus%llu", (unsigned long long)c->batch,
                 (unsigned long long)c->heads, (unsigned long long)c->seq_len);
        assert_string_equal(c->name, expected);
        const struct ifm_setting settings[] = {{"attention.matrix", c->name}};
        assert_int_equal(describe(bench, settings, 1), IFM_OK);
        const struct ifm_ledger *ledger = &bench->arms.items[0].ledger;
        assert_int_equal(ledger->flops, 4 * c->batch * c->heads * c->seq_len * c->seq_len * 64);
        assert_int_equal(ledger->bytes_read + ledger->bytes_written, 4 * c->batch * c->heads * c->seq_len * 64 * 2);
    }
    assert_null(ifm_attention_config(11));
    const struct ifm_setting scaled[] = {{"attention.matrix", "b8h8s512"}, {"attention.scale", "4"}};
    assert_int_equal(describe(bench, scaled, 2), IFM_OK);
    assert_int_equal(bench->arms.items[0].ledger.rows, 2 * 512);
    const struct ifm_setting one[] = {{"attention.matrix", "b8h8s512"}, {"attention.scale", "100"}};
    assert_int_equal(describe(bench, one, 2), IFM_OK);
    assert_int_equal(bench->arms.items[0].ledger.rows, 512);
    const struct ifm_setting both[] = {{"attention.matrix", "b8h8s512"}, {"attention.seq_len", "100"}};
    assert_int_equal(describe(bench, both, 2), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "attention.matrix=b8h8s512"));
}

static void arms_are_what_was_asked_for(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, NULL, 0), IFM_OK);
    assert_int_equal(bench->arms.n, 1);
    assert_string_equal(bench->arms.items[0].name, "ours");
    assert_string_equal(bench->arms.items[0].implementation, "ours");
    assert_non_null(strstr(bench->arms.items[0].title, "ours ("));
    bench->machine.blas = "OpenBLAS 0.3.21 Haswell";
    assert_int_equal(describe(bench, NULL, 0), IFM_OK);
    assert_int_equal(bench->arms.n, 2);
    assert_string_equal(bench->arms.items[0].name, "openblas");
    assert_memory_equal(&bench->arms.items[0].ledger, &bench->arms.items[1].ledger, sizeof(struct ifm_ledger));
    const struct ifm_setting order[] = {{"attention.arms", "scalar,openblas,auto"}};
    assert_int_equal(describe(bench, order, 1), IFM_OK);
    assert_int_equal(bench->arms.n, 3);
    assert_string_equal(bench->arms.items[0].variant, "scalar");
    assert_string_equal(bench->arms.items[2].variant, "ours"); /* auto is another word for it */
}

/* What a shape by name leaves without effect, and a divisor of one; the name does not say head_dim. */
static void settings_without_effect_are_said(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, NULL, 0), IFM_OK);
    assert_string_equal(bench->arms.items[0].idle, " attention.matrix attention.scale");
    const struct ifm_setting named[] = {{"attention.matrix", "b32h8s128"}, {"attention.scale", "32"}};
    assert_int_equal(describe(bench, named, 2), IFM_OK);
    assert_string_equal(bench->arms.items[0].idle,
                        " attention.batch attention.q_heads attention.kv_heads attention.seq_len");
    const struct ifm_setting scalar[] = {{"attention.arms", "scalar"}, {"attention.scale", "2"}};
    assert_int_equal(describe(bench, scalar, 2), IFM_OK);
    assert_string_equal(bench->arms.items[0].idle, " attention.matrix attention.isa");
}

static void what_is_missing_is_absent_with_a_reason(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting library[] = {{"attention.arms", "openblas"}};
    bench->machine.blas_why_not = "there is no libopenblas.so.0; install libopenblas0-pthread";
    assert_int_equal(describe(bench, library, 1), IFM_OK);
    assert_int_equal(bench->arms.n, 0);
    assert_string_equal(bench->why_not, bench->machine.blas_why_not);
    bench->machine.blas_why_not = NULL;
    assert_int_equal(describe(bench, library, 1), IFM_OK);
    assert_non_null(strstr(bench->why_not, "OpenBLAS"));
    static const char *const only[] = {"scalar"};
    bench->machine.isas = only;
    bench->machine.n_isas = 1;
    const struct ifm_setting set[] = {{"attention.arms", "auto,avx512"}};
    assert_int_equal(describe(bench, set, 1), IFM_OK);
    assert_int_equal(bench->arms.n, 0);
    assert_non_null(strstr(bench->why_not, "avx512"));
}

static void is_right_on_every_isa_and_thread_count(void **context)
{
    struct bench *bench = *context;
    for (size_t i = 0; i < bench->machine.n_isas; i++) {
        struct ifm_setting settings[COUNT(small)];
        memcpy(settings, small, sizeof settings);
        settings[COUNT(small) - 1].text = bench->machine.isas[i];
        assert_int_equal(describe(bench, settings, COUNT(small)), IFM_OK);
        assert_string_equal(bench->arms.items[0].name, bench->machine.isas[i]);
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct ifm_check check = run_arm(bench, 0, threads, 2);
            assert_true(check.done && check.finite);
            assert_int_equal(check.values, 3 * 4 * 101 * 32);
            assert_true(check.error_rms_rel > 0 && check.error_rms_rel <= bench->arms.items[0].tolerance);
        }
    }
    assert_int_equal(bench->serial.n, 3 + bench->machine.n_isas); /* Q, K and V once, for all arms; outputs */
}

static void every_storage_and_the_library_are_right(void **context)
{
    struct bench *bench = *context;
    const char *why_not = NULL;
    const struct ifm_openblas *library = ifm_openblas_load(&why_not);
    bench->machine.blas = library != NULL ? library->name : NULL;
    static const char *const storages[] = {"f32", "bf16", "f16"};
    for (size_t i = 0; i < COUNT(storages); i++) {
        const struct ifm_setting settings[] = {{"attention.seq_len", "260"},
                                               {"attention.storage", storages[i]},
                                               {"attention.layers", "2"},
                                               {"attention.layout", i == 1 ? "qkv_packed" : "contiguous"}};
        assert_int_equal(describe(bench, settings, COUNT(settings)), IFM_OK);
        assert_int_equal(bench->arms.n, library != NULL ? 2 : 1);
        for (size_t arm = 0; arm < bench->arms.n; arm++) {
            struct ifm_check check = run_arm(bench, arm, 2, 3);
            assert_true(check.done && check.finite && !check.sets_differ);
            assert_true(check.error_rms_rel <= bench->arms.items[arm].tolerance);
        }
    }
}

/* Views of one tensor: the same work on the same values, and the same outputs at other places. */
static void layouts_give_the_same_outputs(void **context)
{
    struct bench *bench = *context;
    static const char *const layouts[] = {"contiguous", "qkv_packed"};
    struct ifm_setting settings[COUNT(small) + 1];
    struct opened opened[2];
    const struct ifm_attention_job *jobs[2];
    uint16_t *outputs[2]; /* arms of one name share them */
    const size_t bytes = sizeof(uint16_t) * 3 * 4 * 101 * 32;
    struct ifm_check check;
    struct ifm_ledger ledger;
    memcpy(settings, small, sizeof small);
    for (size_t i = 0; i < 2; i++) {
        settings[COUNT(small)] = (struct ifm_setting){"attention.layout", layouts[i]};
        assert_int_equal(describe(bench, settings, COUNT(settings)), IFM_OK);
        if (i == 1)
            assert_memory_equal(&bench->arms.items[0].ledger, &ledger, sizeof ledger);
        ledger = bench->arms.items[0].ledger;
        assert_int_equal(open_arm_on(&ifm_workload_attention, &bench->arms.items[0], "cpu", &bench->serial.device, 2, 7,
                                     bench->arena, &opened[i], &bench->error),
                         IFM_OK);
        opened[i].by->step(opened[i].state, 1);
        assert_int_equal(opened[i].by->check(opened[i].state, &check, &bench->error), IFM_OK);
        assert_true(check.done && check.finite && check.error_rms_rel <= bench->arms.items[0].tolerance);
        jobs[i] = &((const struct ifm_attention_host *)opened[i].state)->job;
        outputs[i] = malloc(bytes);
        assert_non_null(outputs[i]);
        memcpy(outputs[i], jobs[i]->out, bytes);
    }
    const struct slot *packed = &bench->serial.slots[4];
    assert_int_equal(bench->serial.n, 4 + 1);
    assert_int_equal(packed->bytes, 2 * 32 * (4 + 2 + 2) * 3 * 101);
    for (uint64_t row = 0; row < 3 * 4 * 101; row++)
        assert_memory_equal(outputs[0] + ifm_attention_out_at(jobs[0], row),
                            outputs[1] + ifm_attention_out_at(jobs[1], row), 2 * 32);
    for (size_t i = 0; i < 3; i++) /* of V, as are the last of a row; one of the sequences is empty */
        ((uint16_t *)packed->memory)[(i * 101 + 1) * 32 * (4 + 2 + 2) - 1] ^= 0x4000;
    assert_int_equal(opened[1].by->check(opened[1].state, &check, &bench->error), IFM_OK);
    assert_true(check.error_rms_rel > 2 * bench->arms.items[0].tolerance);
    for (size_t i = 0; i < 2; i++) {
        ifm_implementation_close(opened[i].by, opened[i].state);
        free(outputs[i]);
    }
}

/* Without a step the outputs are still poison, and the check says so. */
static void check_catches_outputs_that_nothing_wrote(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, small, COUNT(small)), IFM_OK);
    struct ifm_check check = run_arm(bench, 0, 2, 0);
    assert_true(check.done);
    assert_false(check.finite);
    assert_false(check.error_rms_rel <= 1);
}

/* The data changed under the kernel's feet after the step: the oracle, which reads them now, disagrees. */
static void check_catches_a_wrong_result(void **context)
{
    struct bench *bench = *context;
    struct opened opened;
    struct ifm_check check;
    const struct ifm_setting settings[] = {
        {"attention.seq_len", "200"}, {"attention.storage", "f32"}, {"attention.layers", "1"}};
    assert_int_equal(describe(bench, settings, COUNT(settings)), IFM_OK);
    assert_int_equal(open_arm_on(&ifm_workload_attention, &bench->arms.items[0], "cpu", &bench->serial.device, 2, 7,
                                 bench->arena, &opened, &bench->error),
                     IFM_OK);
    opened.by->step(opened.state, 1);
    ((float *)bench->serial.slots[2].memory)[0] += 1;
    assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
    assert_true(check.error_rms_rel > 2 * bench->arms.items[0].tolerance);
    ifm_implementation_close(opened.by, opened.state);
}

static void refuses_impossible_shapes(void **context)
{
    struct bench *bench = *context;
    const struct ifm_setting heads[] = {{"attention.q_heads", "7"}, {"attention.kv_heads", "2"}};
    assert_int_equal(describe(bench, heads, 2), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "attention.q_heads 7"));
    const struct ifm_setting dim[] = {{"attention.head_dim", "72"}};
    assert_int_equal(describe(bench, dim, 1), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "attention.head_dim 72"));
    const struct ifm_setting huge[] = {{"attention.batch", "65536"},
                                       {"attention.seq_len", "1048576"},
                                       {"attention.q_heads", "4096"},
                                       {"attention.kv_heads", "4096"},
                                       {"attention.head_dim", "256"}};
    assert_int_equal(describe(bench, huge, 5), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "memory"));
    assert_int_equal(bench->serial.n, 0);
}

/* The same values for any number of threads; another seed, other values; rows behind a length are NaN. */
static void inputs_depend_on_seed_and_place_alone(void **context)
{
    struct bench *bench = *context;
    const struct ifm_attention_shape s = {2, 2, 1, 200, 32, false, IFM_STORE_F32};
    const uint32_t lengths[] = {150, 200};
    enum { KV = 2 * 200 * 32 };
    float *values = malloc(7 * KV * sizeof *values);
    assert_non_null(values);
    struct ifm_data_source source, reseeded;
    assert_int_equal(ifm_attention_source("", &s, 5, &source, &bench->error), IFM_OK);
    assert_int_equal(ifm_attention_source("", &s, 6, &reseeded, &bench->error), IFM_OK);
    const struct ifm_attention_views at = ifm_attention_views_of(&s, IFM_CONTIGUOUS);
    struct ifm_attention_inputs one = {values, values + 2 * KV, values + 3 * KV, at, &source},
                                other = {values + 4 * KV, NULL, values + 6 * KV, at, &source};
    assert_int_equal(ifm_attention_generate(&bench->serial.device, 1, &s, lengths, &one, &bench->error), IFM_OK);
    assert_int_equal(ifm_attention_generate(&bench->serial.device, 3, &s, lengths, &other, &bench->error), IFM_OK);
    assert_memory_equal(one.q, other.q, 2 * KV * sizeof *values);
    assert_memory_equal(one.v, other.v, KV * sizeof *values);
    for (size_t i = 0; i < KV; i++)
        assert_true(isnan(((float *)one.k)[i]) == (i / 32 >= 150 && i / 32 < 200));
    other.source = &reseeded;
    assert_int_equal(ifm_attention_generate(&bench->serial.device, 3, &s, lengths, &other, &bench->error), IFM_OK);
    assert_memory_not_equal(one.q, other.q, 2 * KV * sizeof *values);
    free(values);
}

static void lengths_are_spread_and_drawn(void **context)
{
    (void)context;
    uint32_t a[9], b[9];
    uint64_t sum = 0, sum_b = 0;
    ifm_attention_lengths(1000, 0.4, 9, 1, a);
    ifm_attention_lengths(1000, 0.4, 9, 2, b);
    assert_memory_not_equal(a, b, sizeof a);
    for (size_t i = 0; i < 9; i++) {
        sum += a[i];
        sum_b += b[i];
        assert_true(a[i] >= 600 && a[i] <= 1000 && a[i] % 50 == 0);
    }
    assert_int_equal(sum, 9 * 800);
    assert_int_equal(sum_b, sum);
    ifm_attention_lengths(1000, 0, 9, 1, a);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(a[i], 1000);
    ifm_attention_lengths(1000, 1, 1, 1, a);
    assert_int_equal(a[0], 1000);
}

/* One word on the command line or in a file is ten cells; beside other values it is none. */
static void the_word_baseline_is_an_axis_of_ten(void **context)
{
    (void)context;
    static const char yaml[] = "workload: attention\nattention.matrix: baseline\n",
                      mixed[] = "workload: attention\nattention.matrix: [none, baseline]\n";
    const struct ifm_section *sections[] = {ifm_workload_attention.params, NULL};
    struct ifm_error error = {0};
    struct ifm_config *config = ifm_config_create(sections);
    assert_int_equal(ifm_config_yaml(config, yaml, sizeof yaml - 1, "a.yaml", &error), IFM_OK);
    assert_int_equal(ifm_config_resolve(config, &error), IFM_OK);
    const struct ifm_study *study = ifm_config_study(config);
    size_t found = 0;
    for (size_t i = 0; i < study->n_axes; i++)
        if (strcmp(study->axes[i].path, "attention.matrix") == 0)
            for (size_t j = 0; j < study->axes[i].n; j++, found++)
                assert_string_equal(study->axes[i].texts[j], ifm_attention_config((int)j + 1)->name);
    assert_int_equal(found, 10);
    ifm_config_destroy(config);
    config = ifm_config_create(sections);
    assert_int_equal(ifm_config_yaml(config, mixed, sizeof mixed - 1, "a.yaml", &error), IFM_USAGE);
    assert_non_null(strstr(error.message, "baseline"));
    ifm_config_destroy(config);
}

/* One of each `period` rows, another for another seed, and the places of a panel have their turns. */
static void rows_of_the_oracle_are_drawn_by_the_seed(void **context)
{
    (void)context;
    const struct ifm_attention_shape s = {32, 8, 8, 2048, 64, false, IFM_STORE_F16};
    const struct ifm_attention_shape few = {1, 1, 1, 64, 32, false, IFM_STORE_F16};
    const uint64_t all = 32 * 8 * 2048, period = ifm_attention_period(&s);
    bool seen[64] = {false};
    size_t other = 0;
    assert_true(all / period >= 64 && all / period < 2000);
    for (uint64_t from = 0; from + period <= all; from += period) {
        uint64_t n = 0;
        for (uint64_t row = from; row < from + period; row++) {
            const bool drawn = ifm_attention_drawn(&s, 7, row);
            n += drawn;
            seen[row % 64] |= drawn;
            other += drawn && !ifm_attention_drawn(&s, 8, row);
        }
        assert_int_equal(n, 1);
    }
    size_t places = 0;
    for (size_t i = 0; i < 64; i++)
        places += seen[i];
    assert_true(places > 40);
    assert_true(other > all / period / 2);
    assert_true(ifm_attention_period(&few) == 1 && ifm_attention_drawn(&few, 7, 5));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ledger_counts_pairs_and_bytes_once),
        TEST(ledger_of_the_baseline_is_the_specifications),
        TEST(arms_are_what_was_asked_for),
        TEST(settings_without_effect_are_said),
        TEST(what_is_missing_is_absent_with_a_reason),
        TEST(is_right_on_every_isa_and_thread_count),
        TEST(every_storage_and_the_library_are_right),
        TEST(layouts_give_the_same_outputs),
        TEST(check_catches_outputs_that_nothing_wrote),
        TEST(check_catches_a_wrong_result),
        TEST(refuses_impossible_shapes),
        TEST(inputs_depend_on_seed_and_place_alone),
        TEST(lengths_are_spread_and_drawn),
        TEST(the_word_baseline_is_an_axis_of_ten),
        TEST(rows_of_the_oracle_are_drawn_by_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
