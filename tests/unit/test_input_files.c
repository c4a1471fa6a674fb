/* Files that arms read: attention over a user's K, V and q; what a run records of a file, and holds a later one to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/half.h"
#include "base/hash.h"
#include "base/private.h"
#include "facts.h"
#include "kernel/cpu/isa.h"
#include "opened.h"
#include "run/facts/inputs.h"
#include "serial_device.h"
#include "tensor_file.h"
#include "workload/attention/data.h"
#include "workload/workload.h"

#include <math.h>

enum { B = 2, H = 4, G = 2, S = 150, D = 32, K = B * G * S * D, Q = B * H * S * D, SETTINGS = 10 };

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct serial serial;
    struct ifm_error error;
    char path[64], dir[32];
    const char *layout;
    struct ifm_setting settings[SETTINGS];
    struct ifm_arm arm;
};

static float value_at(char which, size_t i)
{
    return (float)((i * 37 + (unsigned char)which * 101) % 257) / 64 - 2; /* f16 holds it */
}

/* k and v, and q where `queries` is its shape; element `bad` of v is infinite. */
static void write_file(struct bench *bench, const char *queries, size_t n_queries, size_t bad)
{
    char header[400];
    const size_t q = 8 * (size_t)K, n = 2 * (size_t)K + n_queries;
    float *values = malloc(n * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < n; i++)
        values[i] = value_at(i < K ? 'k' : i < 2 * K ? 'v' : 'q', i < K ? i : i < 2 * K ? i - K : i - 2 * K);
    if (bad < K)
        values[K + bad] = INFINITY;
    int length = snprintf(header, sizeof header,
                          "{\"k\":{\"dtype\":\"F32\",\"shape\":[2,2,150,32],\"data_offsets\":[0,%d]},"
                          "\"v\":{\"dtype\":\"F32\",\"shape\":[2,2,150,32],\"data_offsets\":[%d,%zu]}",
                          4 * K, 4 * K, q);
    if (queries != NULL)
        length += snprintf(header + length, sizeof header - (size_t)length,
                           ",\"q\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}", queries, q,
                           q + 4 * n_queries);
    snprintf(header + length, sizeof header - (size_t)length, "}");
    size_t size;
    unsigned char *bytes = tensor_bytes(header, values, 4 * n, &size);
    if (bench->path[0] != '\0')
        unlink(bench->path);
    tensor_write(bench->path, bytes, size);
    free(bytes);
    free(values);
}

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL)
        return 1;
    bench->arena = ifm_arena_create();
    bench->machine =
        (struct ifm_machine){.device = "cpu", .cpus_allowed = 2, .threads = 2, .memory_available = (uint64_t)1 << 30};
    ifm_isas(&bench->machine.isas, &bench->machine.n_isas);
    bench->serial.device.ops = &serial_ops;
    strcpy(bench->dir, "inputs-XXXXXX");
    bench->layout = "contiguous";
    *context = bench;
    return mkdtemp(bench->dir) == NULL;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    char log[64];
    serial_free(&bench->serial);
    if (bench->path[0] != '\0')
        unlink(bench->path);
    snprintf(log, sizeof log, "%s/run.log", bench->dir);
    unlink(log);
    const int left = rmdir(bench->dir);
    ifm_arena_destroy(bench->arena);
    free(bench);
    return left;
}

static void describe(struct bench *bench, const char *storage, const char *seq_len, const char *q_heads)
{
    const struct ifm_setting settings[SETTINGS] = {
        {"attention.layers", "1"},           {"attention.batch", "2"},
        {"attention.q_heads", q_heads},      {"attention.kv_heads", "2"},
        {"attention.arms", "auto"},          {"attention.seq_len", seq_len},
        {"attention.head_dim", "32"},        {"attention.storage", storage},
        {"attention.layout", bench->layout}, {"attention.kv_file", ifm_private_keep(bench->path, bench->arena)}};
    memcpy(bench->settings, settings, sizeof settings);
    struct ifm_arm_list arms;
    const char *why_not = NULL;
    assert_int_equal(ifm_workload_attention.describe(bench->settings, SETTINGS, &bench->machine, bench->arena, &arms,
                                                     &why_not, &bench->error),
                     IFM_OK);
    assert_int_equal(arms.n, 1);
    bench->arm = arms.items[0];
    bench->arm.workload = "attention";
    bench->arm.settings = bench->settings;
    bench->arm.n_settings = SETTINGS;
}

static enum ifm_status open_arm(struct bench *bench, struct opened *opened)
{
    return open_arm_on(&ifm_workload_attention, &bench->arm, "cpu", &bench->serial.device, 3, 7, bench->arena, opened,
                       &bench->error);
}

static enum ifm_status ready(struct bench *bench)
{
    return ready_arm(&ifm_workload_attention, &bench->arm, bench->arena, &bench->error);
}

/* ---- attention ---- */

/* What the file says is what is computed with, at its place, in each storage; and it comes out right. */
static void attention_reads_the_file_in_every_storage(void **context)
{
    struct bench *bench = *context;
    static const struct {
        const char *name;
        enum ifm_attention_storage storage;
    } storages[] = {{"f32", IFM_STORE_F32}, {"bf16", IFM_STORE_BF16}, {"f16", IFM_STORE_F16}};
    write_file(bench, "[2,4,150,32]", Q, K);
    for (size_t i = 0; i < 3; i++) {
        struct opened opened;
        struct ifm_check check;
        describe(bench, storages[i].name, "150", "4");
        assert_int_equal(ready(bench), IFM_OK);
        assert_int_equal(open_arm(bench, &opened), IFM_OK);
        assert_int_equal(bench->serial.n, 3 * (i + 1) + (i == 0 ? 1 : 2)); /* outputs of two sizes */
        for (size_t n = 0; n < 3; n++)
            for (size_t at = 0; at < (n == 0 ? Q : K); at++) {
                const float exact = value_at("qkv"[n], at);
                const float held = ifm_attention_value(bench->serial.slots[4 * i + n].memory, storages[i].storage, at);
                const bool brain = storages[i].storage == IFM_STORE_BF16;
                assert_true(held == (brain ? ifm_bf16_to_f32(ifm_f32_to_bf16(exact)) : exact));
            }
        opened.by->step(opened.state, 1);
        assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
        assert_true(check.done && check.finite && check.error_rms_rel <= bench->arm.tolerance);
        ifm_implementation_close(opened.by, opened.state);
    }
}

/* A layout of views has the file's values too, each at its place. */
static void attention_reads_the_file_into_views(void **context)
{
    struct bench *bench = *context;
    struct opened opened;
    struct ifm_check check;
    write_file(bench, "[2,4,150,32]", Q, K);
    bench->layout = "qkv_packed";
    describe(bench, "f16", "150", "4");
    assert_int_equal(open_arm(bench, &opened), IFM_OK);
    assert_int_equal(bench->serial.n, 1 + 1); /* and the outputs */
    const uint16_t *tensor = bench->serial.slots[0].memory;
    for (size_t token = 0; token < (size_t)B * S; token++)
        for (size_t i = 0; i < (H + 2 * G) * D; i++, tensor++) {
            const size_t head = i / D, n = head < H ? 0 : head < H + G ? 1 : 2, heads = n == 0 ? H : G;
            const size_t of = n == 0 ? head : (head - H) % G;
            const size_t at = ((token / S * heads + of) * S + token % S) * D + i % D;
            assert_true(ifm_f16_to_f32(*tensor) == value_at("qkv"[n], at));
        }
    opened.by->step(opened.state, 1);
    assert_int_equal(opened.by->check(opened.state, &check, &bench->error), IFM_OK);
    assert_true(check.done && check.finite && check.error_rms_rel <= bench->arm.tolerance);
    ifm_implementation_close(opened.by, opened.state);
}

/* Without queries in the file they are generated, as ever by seed. */
static void attention_generates_queries_that_the_file_lacks(void **context)
{
    struct bench *bench = *context;
    struct opened opened;
    write_file(bench, NULL, 0, K);
    describe(bench, "f32", "150", "4");
    assert_int_equal(open_arm(bench, &opened), IFM_OK);
    ifm_implementation_close(opened.by, opened.state);
    const struct ifm_attention_shape shape = {B, H, G, S, D, false, IFM_STORE_F32};
    const uint32_t lengths[B] = {S, S};
    float *q = malloc(Q * sizeof *q);
    assert_non_null(q);
    struct ifm_data_source source;
    assert_int_equal(ifm_attention_source("", &shape, 7, &source, &bench->error), IFM_OK);
    const struct ifm_attention_inputs wanted = {
        .q = q, .at = ifm_attention_views_of(&shape, IFM_CONTIGUOUS), .source = &source};
    assert_int_equal(ifm_attention_generate(&bench->serial.device, 1, &shape, lengths, &wanted, &bench->error), IFM_OK);
    assert_memory_equal(q, bench->serial.slots[0].memory, Q * sizeof *q);
    free(q);
    assert_true(((const float *)bench->serial.slots[1].memory)[5] == value_at('k', 5));
}

static void attention_refuses_another_shape(void **context)
{
    struct bench *bench = *context;
    write_file(bench, "[2,4,150,32]", Q, K);
    describe(bench, "f16", "151", "4");
    assert_int_equal(ready(bench), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "151 tokens"));
    describe(bench, "f16", "150", "8");
    assert_int_equal(ready(bench), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "8 query heads"));
    write_file(bench, "[2,4,32]", (size_t)B * H * D, K); /* one query a head is for decode */
    describe(bench, "f16", "150", "4");
    assert_int_equal(ready(bench), IFM_USAGE);
    assert_facts(bench->error.message, "150 tokens|queries");
    assert_null(strstr(bench->error.message, "/tmp"));
}

static void attention_names_a_value_that_is_no_number(void **context)
{
    struct bench *bench = *context;
    struct opened opened;
    write_file(bench, "[2,4,150,32]", Q, (size_t)G * S * D + 3 * D + 9);
    describe(bench, "f32", "150", "4");
    assert_int_equal(open_arm(bench, &opened), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "(sequence 1, head 0, token 3, channel 9)"));
}

/* ---- facts ---- */

/* Two cells of one file: one fact, without the path; another content is seen, and nothing is asked of a script. */
static void a_file_is_recorded_once_and_held_to(void **context)
{
    struct bench *bench = *context;
    write_file(bench, NULL, 0, K);
    describe(bench, "f32", "150", "4");
    struct ifm_cell cells[2] = {{.name = "a", .arms = &bench->arm, .n_arms = 1},
                                {.name = "b", .arms = &bench->arm, .n_arms = 1}};
    struct ifm_plan plan = {.device = "cpu", .cells = cells, .n_cells = 2};
    struct ifm_session session = {0};
    const struct ifm_events *events;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_sha256 sha256;
    assert_int_equal(ifm_sha256_file(bench->path, &sha256, NULL), IFM_OK);
    assert_int_equal(ifm_journal_open(bench->dir, &session.journal, &bench->error), IFM_OK);
    assert_int_equal(ifm_inputs_record(&session, &plan, &bench->error), IFM_OK);
    assert_int_equal(ifm_journal_read(bench->dir, arena, &events, &bench->error), IFM_OK);
    assert_int_equal(events->n, 1);
    const struct ifm_event_input *input = IFM_FIRST(events, input);
    assert_non_null(input);
    assert_string_equal(input->setting, "attention.kv_file");
    assert_string_equal(input->file, strrchr(bench->path, '/') + 1);
    assert_string_equal(input->sha256, sha256.hex);
    assert_string_equal(input->token, bench->settings[SETTINGS - 1].text);
    assert_non_null(json_object_get(input->licence, "absent"));
    assert_non_null(json_object_get(input->licence, "remedy"));
    assert_int_equal(ifm_inputs_unchanged(&plan, events, "out", &bench->error), IFM_OK);
    assert_int_equal(ifm_inputs_agree(events, "out", &bench->error), IFM_OK);

    FILE *file = fopen(bench->path, "ab");
    assert_non_null(file);
    assert_int_equal(fputc('x', file), 'x');
    assert_int_equal(fclose(file), 0);
    assert_int_equal(ifm_inputs_unchanged(&plan, events, "out", &bench->error), IFM_USAGE);
    assert_facts(bench->error.message, "SHA-256");
    assert_null(strstr(bench->error.message, "/tmp"));
    plan.device = "fake";
    assert_int_equal(ifm_inputs_record(&session, &plan, &bench->error), IFM_OK);
    plan.device = "cpu";
    assert_int_equal(ifm_inputs_record(&session, &plan, &bench->error), IFM_OK);
    assert_int_equal(ifm_journal_read(bench->dir, arena, &events, &bench->error), IFM_OK);
    assert_int_equal(events->n, 2);
    assert_int_equal(ifm_inputs_agree(events, "out", &bench->error), IFM_INVALID);
    ifm_arena_destroy(arena);
    ifm_journal_close(session.journal);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(attention_reads_the_file_in_every_storage), TEST(attention_generates_queries_that_the_file_lacks),
        TEST(attention_reads_the_file_into_views),       TEST(attention_refuses_another_shape),
        TEST(attention_names_a_value_that_is_no_number), TEST(a_file_is_recorded_once_and_held_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
