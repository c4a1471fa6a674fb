/* What decode says of itself: the check against kernels and caches that leave something out, the ledger against what
 * kernels are given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/cpu/isa.h"
#include "opened.h"
#include "serial_device.h"
#include "workload/decode/run.h"

struct bench {
    struct ifm_arena *arena;
    struct serial serial;
    struct ifm_error error;
    struct ifm_arm_list arms;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
    bench->arena = ifm_arena_create();
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

static void describe(struct bench *bench, const struct ifm_setting *settings, size_t n)
{
    const char *why_not;
    struct ifm_machine machine = {.device = "cpu",
                                  .threads = 2,
                                  .memory_available = (uint64_t)1 << 30,
                                  .cache_reported = {32768, 1 << 20, 1 << 20}};
    ifm_isas(&machine.isas, &machine.n_isas);
    assert_int_equal(
        ifm_workload_decode.describe(settings, n, &machine, bench->arena, &bench->arms, &why_not, &bench->error),
        IFM_OK);
    assert_int_equal(bench->arms.n, 4);
    for (size_t i = 0; i < bench->arms.n; i++) {
        bench->arms.items[i].settings = settings;
        bench->arms.items[i].n_settings = n;
    }
}

static struct ifm_decode_run *open_arm(struct bench *bench, size_t arm)
{
    return opened_state(&ifm_workload_decode, &bench->arms.items[arm], &bench->serial.device, 2, bench->arena);
}

static struct ifm_check checked_step(struct bench *bench, struct ifm_decode_run *state)
{
    struct ifm_check check;
    ifm_decode_cpu.step(state, 1);
    assert_int_equal(ifm_decode_cpu.check(state, &check, &bench->error), IFM_OK);
    assert_true(check.done && check.finite && check.has_part);
    return check;
}

/* What is left out is less than the tolerance of the error. */
static ifm_kv_attend_fn *f16_page, *body_page;
static unsigned left_out;   /* slots of the page that is left out */
static const void *instead; /* of another page */

static void without_a_side(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                           const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    if (layout->tokens != left_out)
        f16_page(layout, page, tokens, group, query, sums, scratch, next);
}

static void another_page(const struct ifm_kv_layout *layout, const void *page, unsigned tokens, unsigned group,
                         const float *query, const struct ifm_kv_piece_sums *sums, void *scratch, const void *next)
{
    body_page(layout, page == instead ? next : page, tokens, group, query, sums, scratch, next);
}

static void a_part_that_is_forgotten_is_seen(void **context)
{
    struct bench *bench = *context;
    static const struct ifm_setting settings[] = {
        {"decode.batch", "1"},     {"decode.q_heads", "8"}, {"decode.kv_heads", "2"}, {"decode.kv_len", "3000"},
        {"decode.head_dim", "64"}, {"decode.layers", "1"},  {"decode.sink", "64"}};
    describe(bench, settings, sizeof settings / sizeof settings[0]);
    for (size_t a = 1; a < bench->arms.n; a++) {
        struct ifm_decode_run *state = open_arm(bench, a);
        struct ifm_kv_job *job = &state->jobs[0];
        const struct ifm_kv_view view = ifm_kv_view_of(job->cache, 0);
        assert_true(checked_step(bench, state).error_part < 0.25);
        f16_page = job->f16;
        body_page = job->body;
        job->f16 = without_a_side;
        job->body = another_page;
        for (int what = 0; what < 3; what++) { /* the sink, the ring, a page that is another */
            left_out = what == 0 ? IFM_KV_WIDE : what == 1 ? IFM_KV_PAGE : 0;
            instead = what < 2 ? NULL : view.pool + view.table[5] * ifm_kv_body_layout(job->cache)->page_bytes;
            const struct ifm_check check = checked_step(bench, state);
            const bool faint = what == 0 && state->form->ratio == 8; /* rounding in int2 is more than this sink */
            if (!faint && !(check.error_part > 0.5))
                fail_msg("%s, %d: error %g, part %g", state->arm, what, check.error_max_rel, check.error_part);
        }
        ifm_implementation_close(&ifm_decode_cpu, state);
    }
}

/* The kernel and the reference reading are both right about a cache that holds another token, or lacks one. */
static void a_token_that_the_cache_lost_is_seen(void **context)
{
    struct bench *bench = *context;
    static const struct ifm_setting settings[] = {{"decode.batch", "1"},     {"decode.q_heads", "4"},
                                                  {"decode.kv_heads", "2"},  {"decode.kv_len", "777"},
                                                  {"decode.head_dim", "64"}, {"decode.layers", "1"}};
    describe(bench, settings, sizeof settings / sizeof settings[0]);
    for (size_t a = 0; a < bench->arms.n; a++) {
        struct ifm_decode_run *state = open_arm(bench, a);
        assert_true(checked_step(bench, state).error_part < 0.25);
        const float other[64] = {1};
        ifm_kv_adopt(state->caches[0], 0, 776);
        ifm_kv_append(state->caches[0], 0, other, other);
        assert_true(checked_step(bench, state).error_part == 1);
        ifm_implementation_close(&ifm_decode_cpu, state);
        serial_free(&bench->serial);
    }
}

/* Bytes of every page and piece that a kernel is given, counted from the views. */
static uint64_t bytes_of_views(const struct ifm_decode_run *state)
{
    const struct ifm_kv_cache *cache = state->caches[0];
    const struct ifm_kv_layout *body = ifm_kv_body_layout(cache);
    const uint64_t plain = 2 * sizeof(uint16_t) * body->head_dim;
    uint64_t bytes = 0;
    for (uint64_t pair = 0; pair < state->pairs; pair++) {
        const struct ifm_kv_view view = ifm_kv_view_of(cache, pair);
        bytes += (view.sink.tokens + view.ring[0].tokens + view.ring[1].tokens) * plain;
        for (uint64_t i = 0; i < view.n_body; i++)
            bytes += body->format != IFM_KV_F16 ? body->page_bytes
                     : i + 1 < view.n_body      ? IFM_KV_PAGE * plain
                                                : view.last_tokens * plain;
    }
    return bytes;
}

static void a_ledger_is_what_the_views_hold(void **context)
{
    struct bench *bench = *context;
    static const char *const lengths[] = {"256", "417", "1000"}, *const sinks[] = {"0", "32", "64"};
    for (size_t i = 0; i < 9; i++) {
        const struct ifm_setting settings[] = {{"decode.batch", "3"},
                                               {"decode.q_heads", "4"},
                                               {"decode.kv_heads", "2"},
                                               {"decode.head_dim", "96"},
                                               {"decode.layers", "1"},
                                               {"decode.kv_len", lengths[i / 3]},
                                               {"decode.sink", sinks[i % 3]},
                                               {"decode.layout", "paged"},
                                               {"decode.ragged", i % 2 == 0 ? "0.5" : "0"},
                                               {"decode.format", i % 2 == 0 ? "auto" : "half4"}};
        describe(bench, settings, sizeof settings / sizeof settings[0]);
        for (size_t a = 0; a < bench->arms.n; a++) {
            const struct ifm_arm *arm = &bench->arms.items[a];
            struct ifm_decode_run *state = open_arm(bench, a);
            const uint64_t query = 3 * 4 * 96 * sizeof(float), held = bytes_of_views(state);
            assert_int_equal(arm->ledger.bytes_read, held + query);
            assert_int_equal(arm->working_set, held + 2 * query);
            assert_true(arm->stored >= held && arm->memory >= arm->stored);
            ifm_implementation_close(&ifm_decode_cpu, state);
        }
        serial_free(&bench->serial);
    }
}

/* Arms of a study that differ in appending only: another number of layers would be another amount of work. */
static void appending_changes_no_number_of_layers(void **context)
{
    struct bench *bench = *context;
    struct ifm_setting settings[] = {{"decode.kv_len", "800"},     {"decode.batch", "1"},
                                     {"decode.inference", "true"}, {"decode.decode_tokens", "4096"},
                                     {"decode.kv_heads", "1"},     {"decode.q_heads", "1"},
                                     {"decode.append", "compress"}};
    uint64_t attended[2];
    for (size_t i = 0; i < 2; i++) {
        settings[6].text = i == 0 ? "compress" : "none";
        describe(bench, settings, 7);
        attended[i] = bench->arms.items[1].ledger.flops;
    }
    /* 4096 tokens grow the cache by 2048.5 on average, `none` finds 2048 more. */
    assert_true(attended[0] > attended[1] && (attended[0] - attended[1]) * 1000 < attended[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_part_that_is_forgotten_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ledger_is_what_the_views_hold, setup, teardown),
        cmocka_unit_test_setup_teardown(a_token_that_the_cache_lost_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(appending_changes_no_number_of_layers, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
