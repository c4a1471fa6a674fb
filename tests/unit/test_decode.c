/* The decode workload on a private serial device: arms and ledgers by hand, steps against the f64 oracle, cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts.h"
#include "kernel/cpu/isa.h"
#include "kv_pages.h"
#include "opened.h"
#include "serial_device.h"
#include "workload/decode/run.h"

#include <unistd.h>

enum { SETTINGS_MOST = 24 };

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct serial serial;
    struct ifm_error error;
    struct ifm_arm_list arms;
    const char *why_not;
    struct ifm_setting settings[SETTINGS_MOST];
    size_t n;
    const char *file; /* to be removed; NULL = none */
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    const char *const *isas;
    size_t n;
    ifm_isas(&isas, &n);
    bench->arena = ifm_arena_create();
    bench->machine = (struct ifm_machine){.device = "cpu",
                                          .cpus_allowed = 2,
                                          .threads = 2,
                                          .memory_available = (uint64_t)16 << 30,
                                          .cache_reported = {32768, 1 << 20, 32 << 20},
                                          .isas = isas,
                                          .n_isas = n};
    bench->serial.device.ops = &serial_ops;
    *context = bench;
    return 0;
}

static int teardown(void **context)
{
    struct bench *bench = *context;
    serial_free(&bench->serial);
    const int left = bench->file == NULL ? 0 : unlink(bench->file);
    ifm_arena_destroy(bench->arena);
    free(bench);
    return left;
}

/* Settings as "path=value path=value", below decode, beside those of the call before. */
static void set(struct bench *bench, const char *text)
{
    for (char *at = strtok(ifm_arena_strdup(bench->arena, text), " "); at != NULL; at = strtok(NULL, " ")) {
        char *equals = strchr(at, '=');
        assert_non_null(equals);
        *equals = '\0';
        const char *path = ifm_arena_printf(bench->arena, "decode.%s", at);
        size_t i = 0;
        while (i < bench->n && strcmp(bench->settings[i].path, path) != 0)
            i++;
        assert_true(i < SETTINGS_MOST);
        bench->settings[i] = (struct ifm_setting){path, equals + 1};
        bench->n = i == bench->n ? bench->n + 1 : bench->n;
    }
}

static enum ifm_status describe(struct bench *bench, const char *text)
{
    set(bench, text);
    bench->why_not = NULL;
    enum ifm_status status = ifm_workload_decode.describe(bench->settings, bench->n, &bench->machine, bench->arena,
                                                          &bench->arms, &bench->why_not, &bench->error);
    give_settings(&bench->arms, bench->settings, bench->n);
    return status;
}

static const struct ifm_arm *arm_named(const struct bench *bench, const char *name)
{
    for (size_t i = 0; i < bench->arms.n; i++)
        if (strcmp(bench->arms.items[i].name, name) == 0)
            return &bench->arms.items[i];
    fail_msg("no arm %s", name);
    return NULL;
}

/* "f16 int4 " of what was described. */
static const char *names(const struct bench *bench)
{
    const char *text = "";
    for (size_t i = 0; i < bench->arms.n; i++)
        text = ifm_arena_printf(bench->arena, "%s%s ", text, bench->arms.items[i].name);
    return text;
}

static struct ifm_decode_run *open_arm(struct bench *bench, const char *arm, unsigned threads)
{
    return opened_state(&ifm_workload_decode, arm_named(bench, arm), &bench->serial.device, threads, bench->arena);
}

static enum ifm_status ready(struct bench *bench, const char *arm)
{
    return ready_arm(&ifm_workload_decode, arm_named(bench, arm), bench->arena, &bench->error);
}

static struct ifm_check check_state(struct bench *bench, struct ifm_decode_run *state)
{
    struct ifm_check check;
    assert_int_equal(ifm_decode_cpu.check(state, &check, &bench->error), IFM_OK);
    return check;
}

static struct ifm_check run_arm(struct bench *bench, const char *arm, unsigned threads, uint64_t steps)
{
    struct ifm_decode_run *state = open_arm(bench, arm, threads);
    assert_int_equal(ifm_decode_cpu.before(state, &bench->error), IFM_OK);
    ifm_decode_cpu.step(state, steps);
    struct ifm_check check = check_state(bench, state);
    ifm_implementation_close(&ifm_decode_cpu, state);
    return check;
}

static void assert_right(const struct bench *bench, const char *arm, const struct ifm_check *check)
{
    const double tolerance = arm_named(bench, arm)->tolerance;
    assert_true(check->done && check->finite && check->has_loss);
    assert_true(check->values >= 4 * 32);
    if (!(check->error_rms_rel > 0 && check->error_rms_rel <= tolerance))
        fail_msg("%s: error %g, tolerance %g", arm, check->error_rms_rel, tolerance);
    assert_true(check->error_max_rel <= 10 * tolerance && check->has_part && check->error_part < 0.25);
}

#define SMALL "batch=2 q_heads=6 kv_heads=2 kv_len=777 head_dim=64 layers=1 "
#define EVERY "compress=1,2,4,8 format=int8,e4m3,int4,int2,half4 "
static const char *const every_arm[] = {"f16", "int8", "e4m3", "int4", "int2", "half4"};
enum { EVERY_ARM = 6 };

/* ---- arms ---- */

static void the_f16_arm_is_always_there_and_first(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, SMALL), IFM_OK);
    assert_true(bench->arms.rivals);
    assert_string_equal(names(bench), "f16 int8 int4 int2 ");
    for (size_t i = 0; i < bench->arms.n; i++) {
        const struct ifm_arm *arm = &bench->arms.items[i];
        assert_string_equal(arm->variant, arm->name);
        assert_string_equal(arm->feature, i == 0 ? "" : arm->name);
        assert_int_equal(arm->lossy, i > 0);
        assert_true(arm->has_oracle && !arm->gaps && !arm->fixed_inner);
        assert_true(arm->ledger.tokens_generated == 2 && arm->ledger.tokens_prompt == 0 && arm->ledger.rows == 2);
        assert_int_equal(arm->ledger.flops, 4ULL * 2 * 6 * 777 * 64);
    }
    assert_int_equal(describe(bench, "compress=1"), IFM_OK);
    assert_string_equal(names(bench), "f16 ");
    assert_int_equal(describe(bench, "compress=4"), IFM_OK);
    assert_string_equal(names(bench), "f16 int4 ");
}

static void formats_stand_for_ratios(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, SMALL "compress=2,8 format=e4m3"), IFM_OK);
    assert_string_equal(names(bench), "f16 e4m3 int2 ");
    assert_int_equal(describe(bench, "format=auto,e4m3,half4"), IFM_OK);
    assert_string_equal(names(bench), "f16 int8 e4m3 int2 half4 ");
    assert_int_equal(describe(bench, EVERY), IFM_OK);
    assert_string_equal(names(bench), "f16 int8 e4m3 int4 int2 half4 ");
    assert_int_equal(describe(bench, "compress=1,4 format=half4"), IFM_USAGE);
    assert_facts(bench->error.message, "decode.format|half4|8|decode.compress");
    assert_facts(bench->error.hint, "8|decode.compress");
    assert_int_equal(describe(bench, "compress=3 format=auto"), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "decode.compress"));
    assert_int_equal(describe(bench, "compress=1 evict=oldest"), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "decode.evict"));
    assert_int_equal(describe(bench, "evict=window kv_len=255"), IFM_USAGE);
    assert_int_equal(describe(bench, "kv_len=1048577"), IFM_USAGE);
}

/* Of 777 tokens, 32 are sinks; of the 745 others four whole pages have left the ring, and 233 tokens are in it. */
static void ledgers_count_each_byte_once(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, SMALL "layers=3"), IFM_OK);
    const uint64_t pairs = 4, query = 2ULL * 6 * 64 * 4, plain = pairs * 777 * 256;
    const struct ifm_arm *f16 = arm_named(bench, "f16"), *int4 = arm_named(bench, "int4");
    assert_int_equal(f16->ledger.bytes_read, plain + query);
    assert_int_equal(f16->ledger.bytes_written, query);
    assert_int_equal(f16->stored, pairs * 7 * 128 * 256); /* seven pages, the last one partial */
    assert_int_equal(f16->stored_plain, plain);
    assert_int_equal(f16->working_set, 3 * plain + 2 * query);
    const uint64_t page = 128 + 128 + 256 + 4096 + 4096, side = (64 + 256) * 256;
    assert_int_equal(int4->ledger.bytes_read, pairs * (4 * page + (777 - 512) * 256) + query);
    assert_int_equal(int4->ledger.bytes_written, query);
    assert_int_equal(int4->stored, pairs * (4 * page + side)); /* of the layer that a step reads */
    assert_int_equal(int4->stored_plain, plain);
    assert_int_equal(int4->working_set, 3 * pairs * (4 * page + (777 - 512) * 256) + 2 * query);
    assert_true(int4->memory > int4->stored && f16->memory > f16->stored);
}

/* Half of 777 tokens, rounded up, is 389: 357 behind the sinks, one page of them compressed. */
static void half_of_the_tokens_is_half_of_the_work(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, SMALL "compress=8 format=half4"), IFM_OK);
    const struct ifm_arm *half = arm_named(bench, "half4");
    const uint64_t page = 128 + 128 + 256 + 4096 + 4096;
    assert_int_equal(half->ledger.flops, 4ULL * 2 * 6 * 389 * 64);
    assert_int_equal(half->ledger.bytes_read, 4 * (page + (389 - 128) * 256) + 2ULL * 6 * 64 * 4);
    assert_int_equal(half->ledger.tokens_generated, 2);
    assert_int_equal(half->stored_plain, 4 * 777 * 256); /* of all tokens: what it stands for */
}

static void a_cycle_counts_the_cache_as_it_grows(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, "batch=1 q_heads=2 kv_heads=1 kv_len=415 head_dim=32 layers=2 compress=2 sink=32 "
                                     "inference=true decode_tokens=3"),
                     IFM_OK);
    const struct ifm_arm *f16 = arm_named(bench, "f16"), *int8 = arm_named(bench, "int8");
    const uint64_t attended = 416 + 417 + 418, query = 2 * 32 * 4, plain = 4 * 32, rows = 3 * 2 * 32 * 4;
    assert_int_equal(f16->ledger.flops, 2 * 4 * 2 * attended * 32);
    assert_int_equal(f16->ledger.bytes_read, 2 * (attended * plain + 3 * query + rows));
    assert_int_equal(f16->ledger.bytes_written, 2 * (3 * query + 3 * plain));
    assert_true(f16->ledger.tokens_generated == 3 && f16->ledger.layers == 0); /* through both */
    assert_int_equal(f16->stored_plain, 2 * 418 * plain);
    assert_true(f16->gaps && f16->fixed_inner);
    /* 416 tokens are 32 sinks and three whole pages: the second one leaves the ring with the first token */
    const uint64_t page = 64 + 64 + 256 + 4096 + 4096;
    assert_int_equal(int8->ledger.bytes_read, 2 * (6 * page + (attended - 6 * 128) * plain + 3 * query + rows));
    assert_int_equal(int8->ledger.bytes_written, 2 * (3 * query + 3 * plain + page));
    assert_int_equal(int8->ledger.tokens_generated, 3);
    /* pages; q, out, fed, fresh, k, v; rings to go back to */
    assert_int_equal(int8->memory, int8->stored + 3 * query + 3 * (query + rows / 3) + 2 * 2 * 128 * plain);
    assert_int_equal(describe(bench, "inference=false"), IFM_OK);
    assert_int_equal(arm_named(bench, "f16")->ledger.layers, 2); /* a pass is one of them */
    assert_int_equal(describe(bench, "inference=true append=none"), IFM_OK); /* 415 + 3 / 2 tokens, three times */
    assert_int_equal(arm_named(bench, "f16")->ledger.bytes_read, 2 * (3 * 416 * plain + 3 * query));
    assert_int_equal(arm_named(bench, "f16")->ledger.bytes_written, 2 * 3 * query);
}

static void ragged_lengths_lie_in_their_range_and_are_summed(void **context)
{
    struct bench *bench = *context;
    struct ifm_decode_settings s = {.kv_len = 1000, .ragged = 0.25};
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    for (uint64_t i = 0; i < 64; i++) {
        const uint64_t length = ifm_decode_length(&s, i);
        least = length < least ? length : least;
        most = length > most ? length : most;
        sum += length;
    }
    assert_true(least >= 750 && least < 790 && most > 960 && most <= 1000);
    assert_int_equal(describe(bench, "batch=64 q_heads=2 kv_heads=1 kv_len=1000 head_dim=32 ragged=0.25 compress=1"),
                     IFM_OK);
    assert_int_equal(arm_named(bench, "f16")->ledger.flops, 4 * 2 * 32 * sum);
    assert_int_equal(arm_named(bench, "f16")->ledger.bytes_read, 4 * 32 * sum + 64ULL * 2 * 32 * 4);
    s.ragged = 1;
    for (uint64_t i = 0; i < 10000; i++)
        assert_in_range(ifm_decode_length(&s, i), 1, 1000);
    s.ragged = 0;
    assert_int_equal(ifm_decode_length(&s, 3), 1000);
}

static void impossible_settings_are_refused(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, "q_heads=7 kv_heads=2"), IFM_USAGE);
    assert_facts(bench->error.message, "decode.q_heads 7|decode.kv_heads 2");
    assert_int_equal(describe(bench, "q_heads=8 head_dim=48"), IFM_USAGE);
    assert_facts(bench->error.message, "decode.head_dim 48|32");
    assert_int_equal(describe(bench, "head_dim=256 batch=65536 kv_len=1048576 q_heads=4096 kv_heads=4096"), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "memory"));
    assert_int_equal(describe(bench, "head_dim=128 batch=8 kv_len=1048576 q_heads=8 kv_heads=8 compress=1"), IFM_USAGE);
    assert_facts(bench->error.message, "needs 32.0 GiB|16.0 GiB");
    assert_int_equal(bench->serial.n, 0);
    static const char *const only[] = {"sse2", "scalar"};
    bench->machine.isas = only;
    bench->machine.n_isas = 2;
    assert_int_equal(describe(bench, SMALL "isa=sse2"), IFM_OK);
    assert_int_equal(bench->arms.n, 0);
    assert_facts(bench->why_not, "f16|sse2|decode.isa=auto");
    assert_int_equal(describe(bench, "isa=avx512"), IFM_OK);
    assert_facts(bench->why_not, "avx512|sse2, scalar");
}

/* ---- steps ---- */

static void every_form_is_right_on_every_isa_and_worker_count(void **context)
{
    struct bench *bench = *context;
    for (size_t i = 0; i < bench->machine.n_isas; i++) {
        assert_int_equal(describe(bench, ifm_arena_printf(bench->arena, SMALL EVERY "isa=%s", bench->machine.isas[i])),
                         IFM_OK);
        if (bench->why_not != NULL) { /* sets that have no kernels for codes */
            assert_true(strcmp(bench->machine.isas[i], "sse2") == 0 || strcmp(bench->machine.isas[i], "avx512") == 0);
            continue;
        }
        for (size_t a = 0; a < EVERY_ARM; a++)
            for (unsigned threads = 1; threads <= 3; threads++) {
                struct ifm_check check = run_arm(bench, every_arm[a], threads, 2);
                assert_right(bench, every_arm[a], &check);
                assert_int_equal(check.values, 2 * 6 * 64);
            }
    }
    assert_int_equal(bench->serial.n, EVERY_ARM); /* every pool once, for all instruction sets */
}

/* Only sinks and newest tokens; a first page; odd, prime and even lengths. */
static void odd_lengths_and_shapes_are_right(void **context)
{
    struct bench *bench = *context;
    static const char *const shapes[] = {
        "kv_len=256 head_dim=32",
        "kv_len=287 sink=0",
        "kv_len=288 sink=32",
        "kv_len=331 head_dim=96",
        "kv_len=1021 head_dim=256",
        "kv_len=512 q_heads=2",
        "kv_len=640 sink=64 batch=5 head_dim=160",
        "kv_len=700 ragged=0.5",
        "ragged=1 kv_len=300 batch=9",
        "ragged=0.9 kv_len=300 batch=1",
    };
    assert_int_equal(describe(bench, SMALL EVERY), IFM_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_int_equal(describe(bench, shapes[i]), IFM_OK);
        for (size_t a = 0; a < EVERY_ARM; a++) {
            struct ifm_check check = run_arm(bench, every_arm[a], 2, 1);
            assert_right(bench, every_arm[a], &check);
        }
        serial_free(&bench->serial);
    }
}

static void loss_grows_with_compression_and_is_none_for_f16(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, SMALL EVERY "kv_len=3000"), IFM_OK);
    struct ifm_check f16 = run_arm(bench, "f16", 2, 1), int8 = run_arm(bench, "int8", 2, 1),
                     int4 = run_arm(bench, "int4", 2, 1), int2 = run_arm(bench, "int2", 2, 1),
                     half = run_arm(bench, "half4", 2, 1);
    assert_true(f16.loss_rms_rel == 0 && f16.loss_p99_rel == 0 && f16.loss_cosine > 1 - 1e-12 && f16.loss_kl == 0);
    const struct ifm_check *rising[] = {&f16, &int8, &int4, &int2};
    for (size_t i = 1; i < 4; i++) {
        assert_true(rising[i]->loss_rms_rel > 1.5 * rising[i - 1]->loss_rms_rel);
        assert_true(rising[i]->loss_p99_rel > 1.5 * rising[i - 1]->loss_p99_rel);
        assert_true(rising[i]->loss_kl > 1.5 * rising[i - 1]->loss_kl);
        assert_true(rising[i]->loss_tv > rising[i - 1]->loss_tv && rising[i]->loss_cosine < rising[i - 1]->loss_cosine);
    }
    assert_true(half.loss_kl == -1); /* infinite: half of the tokens have no weight at all */
    assert_true(half.loss_tv > 0.2 && half.loss_tv < 1);
}

static void block_tables_do_not_change_a_bit(void **context)
{
    struct bench *bench = *context;
    for (size_t a = 0; a < EVERY_ARM; a++) {
        assert_int_equal(describe(bench, SMALL EVERY "kv_len=2100 ragged=0.3 layout=contiguous"), IFM_OK);
        const uint64_t contiguous = run_arm(bench, every_arm[a], 3, 1).output_xxh3;
        assert_int_equal(describe(bench, "layout=paged"), IFM_OK);
        assert_int_equal(run_arm(bench, every_arm[a], 3, 1).output_xxh3, contiguous);
    }
    assert_int_equal(bench->serial.n, 2 * EVERY_ARM);
    assert_memory_not_equal(bench->serial.slots[0].memory, bench->serial.slots[1].memory, bench->serial.slots[0].bytes);
}

/* The caches of layer `i` of three, which lie in `n` buffers. */
static void spoil_layer(struct bench *bench, size_t i, size_t n)
{
    const size_t slot = n == 1 ? 0 : i, bytes = bench->serial.slots[slot].bytes / (n == 1 ? 3 : 1);
    memset((char *)bench->serial.slots[slot].memory + (n == 1 ? i * bytes : 0), 0x55, bytes);
}

/* Steps take the layers in turn; each has memory of its own with the same tokens, so every one gives one output. Small
 * ones share a buffer: a tiny shape has thousands. */
static void check_turns(struct bench *bench, const char *shape, size_t buffers)
{
    assert_int_equal(describe(bench, shape), IFM_OK);
    struct ifm_decode_run *state = open_arm(bench, "int4", 2);
    assert_int_equal(bench->serial.n, buffers);
    const uint64_t pages = state->pages_a_step;
    uint64_t first = 0;
    for (uint64_t step = 0; step < 8; step++) {
        assert_int_equal(ifm_decode_cpu.feature_runs(state), step * pages);
        ifm_decode_cpu.step(state, 1);
        assert_int_equal(state->last, step % 3);
        struct ifm_check check = check_state(bench, state);
        assert_right(bench, "int4", &check);
        first = step == 0 ? check.output_xxh3 : first;
        assert_int_equal(check.output_xxh3, first);
    }
    /* the check looks at the layer that was last: spoiling another one goes unseen, spoiling this one does not */
    spoil_layer(bench, 0, buffers);
    spoil_layer(bench, 2, buffers);
    struct ifm_check check = check_state(bench, state);
    assert_right(bench, "int4", &check);
    spoil_layer(bench, 1, buffers);
    check = check_state(bench, state);
    assert_false(check.error_rms_rel <= 10 * arm_named(bench, "int4")->tolerance);
    assert_true(check.error_part == 1);
    ifm_implementation_close(&ifm_decode_cpu, state);
}

static void layers_are_taken_in_turn(void **context)
{
    check_turns(*context, SMALL "compress=4 layers=3", 1);
}

static void large_layers_have_buffers_of_their_own(void **context)
{
    check_turns(*context, SMALL "kv_len=4777 compress=4 layers=3", 3);
}

/* Without a step the outputs are still poison; a cache without a compressed page has an inactive feature. */
static void nothing_done_is_seen(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, SMALL), IFM_OK);
    struct ifm_check check = run_arm(bench, "int8", 2, 0);
    assert_true(check.done && !check.finite);
    assert_false(check.error_rms_rel <= 1);
    assert_int_equal(describe(bench, "kv_len=256"), IFM_OK);
    struct ifm_decode_run *state = open_arm(bench, "int8", 2);
    ifm_decode_cpu.step(state, 5);
    assert_int_equal(ifm_decode_cpu.feature_runs(state), 0);
    ifm_implementation_close(&ifm_decode_cpu, state);
}

/* ---- the inference cycle ---- */

static void cycles_are_right_and_repeat(void **context)
{
    struct bench *bench = *context;
    for (int variant = 0; variant < 4; variant++) {
        assert_int_equal(describe(bench, SMALL EVERY "layers=2 inference=true decode_tokens=140"), IFM_OK);
        assert_int_equal(describe(bench, variant % 2 == 0 ? "layout=contiguous" : "layout=paged ragged=0.4"), IFM_OK);
        assert_int_equal(describe(bench, variant < 2 ? "append=compress" : "append=none"), IFM_OK);
        for (size_t a = 0; a < EVERY_ARM; a++) {
            struct ifm_decode_run *state = open_arm(bench, every_arm[a], 2);
            struct ifm_check checks[2];
            for (int turn = 0; turn < 2; turn++) {
                assert_int_equal(ifm_decode_cpu.before(state, &bench->error), IFM_OK);
                ifm_decode_cpu.step(state, 1);
                const uint64_t length = ifm_decode_kept(state->form, ifm_decode_length(state->settings, 1));
                assert_int_equal(ifm_kv_length(state->caches[1], 3), length + (variant < 2 ? 140 : 70));
                checks[turn] = check_state(bench, state);
                assert_right(bench, every_arm[a], &checks[turn]);
            }
            assert_int_equal(checks[0].output_xxh3, checks[1].output_xxh3);
            ifm_implementation_close(&ifm_decode_cpu, state);
        }
        serial_free(&bench->serial);
    }
}

/* Each output feeds the next query: the last query of a cycle is not the one that was drawn for it, but as long. */
static void a_cycle_feeds_its_outputs_back(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, SMALL "compress=1 inference=true decode_tokens=5 append=none"), IFM_OK);
    struct ifm_decode_run *state = open_arm(bench, "f16", 1);
    ifm_decode_cpu.step(state, 1);
    const float *fresh = state->cycle.fresh + 4 * state->outputs, *fed = state->cycle.fed;
    for (size_t row = 0; row < 12; row++) {
        double own = 0, other = 0, product = 0;
        for (size_t d = 0; d < 64; d++) {
            own += (double)fresh[row * 64 + d] * fresh[row * 64 + d];
            other += (double)fed[row * 64 + d] * fed[row * 64 + d];
            product += (double)fresh[row * 64 + d] * fed[row * 64 + d];
        }
        assert_true(fabs(own / other - 1) < 1e-5);
        assert_true(product / own > 0.3 && product / own < 0.99); /* at 45 degrees to it, if the output is at 90 */
    }
    ifm_implementation_close(&ifm_decode_cpu, state);
}

/* ---- accuracy ---- */

/* The gate of the formats: attention weights on the generator with channels 12 times as large as the others. */
static void formats_pass_the_accuracy_gate(void **context)
{
    struct bench *bench = *context;
    assert_int_equal(describe(bench, "batch=1 q_heads=8 kv_heads=4 head_dim=128 kv_len=4096 outliers=12 layers=1"),
                     IFM_OK);
    static const struct {
        const char *arm;
        double most;
    } gates[] = {{"int8", 0.001}, {"int4", 0.03}, {"int2", 0.2}};
    for (size_t i = 0; i < 3; i++) {
        const struct ifm_check check = run_arm(bench, gates[i].arm, 2, 1);
        if (!(check.loss_kl > 0 && check.loss_kl <= gates[i].most))
            fail_msg("%s: KL %g, at most %g", gates[i].arm, check.loss_kl, gates[i].most);
        assert_true(check.values >= 8 * 128);
    }
}

/* ---- a user's file, and what mass keeps ---- */

/* One sequence of `tokens`, one KV head of 32 channels: keys are zero but for tokens 100 and 200, which lie along the
 * query; F32. */
static void write_file(struct bench *bench, uint64_t tokens)
{
    char *path = ifm_arena_strdup(bench->arena, "kv-XXXXXX");
    FILE *file = fdopen(mkstemp(path), "wb");
    assert_non_null(file);
    bench->file = path;
    const unsigned long long bytes = tokens * 32 * sizeof(float);
    char header[400];
    const int n = snprintf(header, sizeof header,
                           "{\"k\":{\"dtype\":\"F32\",\"shape\":[1,%llu,32],\"data_offsets\":[0,%llu]},"
                           "\"v\":{\"dtype\":\"F32\",\"shape\":[1,%llu,32],\"data_offsets\":[%llu,%llu]},"
                           "\"q\":{\"dtype\":\"F32\",\"shape\":[2,32],\"data_offsets\":[%llu,%llu]}}",
                           (unsigned long long)tokens, bytes, (unsigned long long)tokens, bytes, 2 * bytes, 2 * bytes,
                           2 * bytes + 2 * 32 * sizeof(float));
    const uint64_t length = (uint64_t)n;
    assert_int_equal(fwrite(&length, sizeof length, 1, file), 1);
    assert_int_equal(fwrite(header, (size_t)n, 1, file), 1);
    for (uint64_t row = 0; row < 2 * tokens + 2; row++)
        for (uint64_t d = 0; d < 32; d++) {
            const bool is_v = row >= tokens && row < 2 * tokens;
            const float key = row == 100 || row == 200 || row >= 2 * tokens ? 1.0f : 0.0f;
            const float value = is_v ? (float)((row * 31 + d * 7) % 17) - 8 : key;
            assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
        }
    assert_int_equal(fclose(file), 0);
}

static void mass_keeps_what_the_queries_look_at(void **context)
{
    struct bench *bench = *context;
    write_file(bench, 800);
    const char *shape = "batch=3 q_heads=2 kv_heads=1 head_dim=32 kv_len=800 layers=1 compress=8 format=half4 kv_file=";
    assert_int_equal(describe(bench, ifm_arena_printf(bench->arena, "%s%s", shape, bench->file)), IFM_OK);
    assert_int_equal(ready(bench, "half4"), IFM_OK);
    for (int mass = 0; mass < 2; mass++) {
        assert_int_equal(describe(bench, mass == 0 ? "evict=window" : "evict=mass"), IFM_OK);
        struct ifm_decode_run *state = open_arm(bench, "half4", 2);
        uint8_t keep[800];
        assert_int_equal(ifm_decode_keep(&state->source, state->settings, state->form, 1, 800, keep, &bench->error),
                         IFM_OK);
        unsigned kept = 0;
        for (size_t t = 0; t < 800; t++)
            kept += keep[t];
        assert_int_equal(kept, 400);
        assert_true(keep[0] == 1 && keep[31] == 1 && keep[800 - 128] == 1 && keep[799] == 1);
        assert_int_equal(keep[100] + keep[200], mass == 0 ? 0 : 2);
        float k[400 * 32], v[400 * 32]; /* the last one of those kept is the last one of all, in f16 */
        read_cache(state->caches[0], 1, k, v);
        for (uint64_t d = 0; d < 32; d++)
            assert_true(v[399 * 32 + d] == (float)(((800 + 799) * 31 + d * 7) % 17) - 8);
        ifm_decode_cpu.step(state, 1);
        struct ifm_check check = check_state(bench, state);
        assert_right(bench, "half4", &check);
        ifm_implementation_close(&ifm_decode_cpu, state);
    }
    assert_int_equal(describe(bench, "kv_len=801"), IFM_OK);
    assert_int_equal(ready(bench, "half4"), IFM_USAGE);
    assert_non_null(strstr(bench->error.message, "800"));
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(the_f16_arm_is_always_there_and_first),
        WITH_BENCH(formats_stand_for_ratios),
        WITH_BENCH(ledgers_count_each_byte_once),
        WITH_BENCH(half_of_the_tokens_is_half_of_the_work),
        WITH_BENCH(a_cycle_counts_the_cache_as_it_grows),
        WITH_BENCH(ragged_lengths_lie_in_their_range_and_are_summed),
        WITH_BENCH(impossible_settings_are_refused),
        WITH_BENCH(every_form_is_right_on_every_isa_and_worker_count),
        WITH_BENCH(odd_lengths_and_shapes_are_right),
        WITH_BENCH(loss_grows_with_compression_and_is_none_for_f16),
        WITH_BENCH(block_tables_do_not_change_a_bit),
        WITH_BENCH(layers_are_taken_in_turn),
        WITH_BENCH(large_layers_have_buffers_of_their_own),
        WITH_BENCH(nothing_done_is_seen),
        WITH_BENCH(cycles_are_right_and_repeat),
        WITH_BENCH(a_cycle_feeds_its_outputs_back),
        WITH_BENCH(formats_pass_the_accuracy_gate),
        WITH_BENCH(mass_keeps_what_the_queries_look_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
