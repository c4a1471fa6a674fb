/* Every fault planted into a probe of stream is refused: bytes spoiled in a target, sums, places of chains, work that
 * is left out, of each probe, shape and instruction set of this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/cpu/isa.h"
#include "opened.h"
#include "planted.h"
#include "serial_device.h"
#include "workload/stream/run.h"

enum { FEW_ROUNDS = 1001 /* not all of those that take long enough to be timed */ };
#define COUNT(array) (sizeof(array) / sizeof *(array))

#define ON_RUN(name, ...)                                                                                              \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        struct ifm_stream_run *run = state;                                                                            \
        __VA_ARGS__;                                                                                                   \
    }

/* ---- what is done less, or otherwise, during a step; `undo` puts it back ---- */

static struct ifm_stream_run kept;

#define DURING(name, ...) ON_RUN(name, kept = *run; __VA_ARGS__)

static void undo(void *state)
{
    struct ifm_stream_run *run = state;
    run->bytes = kept.bytes;
    run->now = kept.now;
    run->rounds = kept.rounds;
    run->loads = kept.loads;
    run->pattern = kept.pattern;
    run->threads = kept.threads;
    run->from = kept.from;
    run->to = kept.to;
}

DURING(a_byte_less, run->now -= 1)
DURING(a_line_less, run->now -= 64)
DURING(half_the_bytes, run->now /= 2)
DURING(no_bytes, run->now = 0)
DURING(other_pattern, run->pattern = 0x5b5b5b5b5b5b5b5b)
DURING(no_pattern, run->pattern = 0)
DURING(source_a_line_on, run->from += 64; run->now -= 64)
DURING(target_a_line_on, run->to += 64; run->now -= 64)
DURING(a_round_less, run->rounds -= 1)
DURING(two_rounds_less, run->rounds -= 2)
DURING(a_round_more, run->rounds += 1)
DURING(half_the_rounds, run->rounds /= 2)
DURING(twice_the_rounds, run->rounds *= 2)
DURING(three_quarters_of_the_rounds, run->rounds = run->rounds / 4 * 3)
DURING(no_rounds, run->rounds = 0)
DURING(a_load_less, run->loads -= IFM_CHAINS)
DURING(a_load_more, run->loads += IFM_CHAINS)
DURING(half_the_loads, run->loads /= 2)
DURING(a_quarter_of_the_loads, run->loads /= 4)
DURING(no_loads, run->loads = 0)
DURING(twice_the_loads_and_one, run->loads = run->loads * 2 + IFM_CHAINS)

/* ---- targets ---- */

ON_RUN(flip_first, run->to[0] ^= 1)
ON_RUN(flip_last, run->to[run->bytes - 1] ^= 0x80)
ON_RUN(flip_middle, run->to[run->bytes / 2] ^= 4)
ON_RUN(flip_a_word, memset(run->to + 4096, 0xa5, 8))
ON_RUN(zero_a_line, memset(run->to + run->bytes / 4 / 64 * 64, 0, 64))
ON_RUN(zero_a_page, memset(run->to + 8192, 0, 4096))
ON_RUN(zero_target, memset(run->to, 0, run->bytes))
ON_RUN(spoil_second_half, memset(run->to + run->bytes / 2, 0xa5, run->bytes - run->bytes / 2))
ON_RUN(spoil_tail, memset(run->to + run->bytes - 3, 0xa5, 3))
ON_RUN(add_one, run->to[777]++)
ON_RUN(every_other_line, for (uint64_t at = 64; at + 64 <= run->bytes; at += 128) memset(run->to + at, 0xa5, 64))
ON_RUN(a_byte_a_page, for (uint64_t at = 5; at < run->bytes; at += 4096) run->to[at] ^= 0x10)

static const struct planted_fault target_faults[] = {
    IDLE,
    AFTER("the first byte", flip_first),
    AFTER("the last byte", flip_last),
    AFTER("a byte in the middle", flip_middle),
    AFTER("a word", flip_a_word),
    AFTER("a line of zeros", zero_a_line),
    AFTER("a page of zeros", zero_a_page),
    AFTER("all zeros", zero_target),
    AFTER("the second half", spoil_second_half),
    AFTER("the tail", spoil_tail),
    AFTER("one more", add_one),
    AFTER("every other line", every_other_line),
    AFTER("a byte of each page", a_byte_a_page),
    WHILE("a byte less", a_byte_less),
    WHILE("a line less", a_line_less),
    WHILE("half of the bytes", half_the_bytes),
    WHILE("no byte", no_bytes),
    WHILE("the target one line on", target_a_line_on),
};
static const struct planted_fault write_faults[] = {
    WHILE("another pattern", other_pattern),
    WHILE("a pattern of zeros", no_pattern),
};

/* The words of the source, moved or changed while the step reads them. */
ON_RUN(change_source, run->from[4000] ^= 1)
ON_RUN(change_source_end, run->from[run->bytes - 1] ^= 1)
ON_RUN(change_source_words, for (uint64_t at = 0; at + 8 <= run->bytes; at += 512) run->from[at] ^= 2)

static const struct planted_fault copy_faults[] = {
    WHILE("the source one line on", source_a_line_on),
    ROUND("another source", change_source),
    ROUND("another end of the source", change_source_end),
    ROUND("other words in the source", change_source_words),
};
/* ---- sums ---- */

ON_RUN(sum_one_more, run->results[0].sum++)
ON_RUN(sum_one_less, run->results[run->threads - 1].sum--)
ON_RUN(sum_zero, run->results[0].sum = 0)
ON_RUN(sum_twice, run->results[0].sum *= 2)
ON_RUN(sum_negative, run->results[0].sum = -run->results[0].sum)
ON_RUN(sum_a_bit, run->results[0].sum ^= 1ULL << 63)
ON_RUN(sum_copied, run->results[0].sum = run->results[1].sum + 1)
ON_RUN(sums_joined, run->results[0].sum += run->results[1].sum; run->results[1].sum = 0)
ON_RUN(sum_moved, run->results[0].sum++; run->results[1].sum--)
ON_RUN(sum_one_percent, run->results[0].sum += run->results[0].sum / 100)
ON_RUN(sum_of_the_last_missing, run->results[run->threads - 1].sum = 0xa5a5a5a5a5a5a5a5)
ON_RUN(sums_all_zero, for (unsigned i = 0; i < run->threads; i++) run->results[i].sum = 0)
ON_RUN(sum_in_32_bits, run->results[0].sum &= UINT32_MAX; run->results[0].sum ^= 1)

static const struct planted_fault sum_faults[] = {
    IDLE,
    AFTER("one more", sum_one_more),
    AFTER("one less", sum_one_less),
    AFTER("zero", sum_zero),
    AFTER("twice", sum_twice),
    AFTER("negative", sum_negative),
    AFTER("one bit", sum_a_bit),
    AFTER("another worker's", sum_copied),
    AFTER("of two workers in one", sums_joined),
    AFTER("moved to another worker", sum_moved),
    AFTER("x 1.01", sum_one_percent),
    AFTER("the last one is missing", sum_of_the_last_missing),
    AFTER("all are zero", sums_all_zero),
    AFTER("32 bits", sum_in_32_bits),
};
static const struct planted_fault read_faults[] = {
    WHILE("a line less", a_line_less),
    WHILE("half of the bytes", half_the_bytes),
    WHILE("no byte", no_bytes),
    WHILE("the source one line on", source_a_line_on),
    ROUND("another source", change_source),
};
static const struct planted_fault flops_faults[] = {
    WHILE("a round less", a_round_less),
    WHILE("two rounds less", two_rounds_less),
    WHILE("a round more", a_round_more),
    WHILE("half of the rounds", half_the_rounds),
    WHILE("twice the rounds", twice_the_rounds),
    WHILE("three quarters of the rounds", three_quarters_of_the_rounds),
    WHILE("no rounds", no_rounds),
};
/* ---- chains ---- */

ON_RUN(first_back, run->position[0] = run->start[0] ^ 64)
ON_RUN(all_at_zero, memset(run->position, 0, sizeof run->position))
ON_RUN(all_at_the_first, for (int i = 1; i < IFM_CHAINS; i++) run->position[i] = run->position[0])
ON_RUN(two_swapped, uint64_t at = run->position[0]; run->position[0] = run->position[1]; run->position[1] = at)
ON_RUN(last_at_the_first, run->position[IFM_CHAINS - 1] = run->position[0])
ON_RUN(a_byte_on, run->position[3] += 1)
ON_RUN(a_line_on, run->position[3] = (run->position[3] + 64) % run->bytes)
ON_RUN(one_step_on, memcpy(&run->position[2], run->from + run->position[2], sizeof run->position[2]))
ON_RUN(outside, run->position[5] = run->bytes)
ON_RUN(far_outside, run->position[6] = UINT64_MAX)
ON_RUN(
    in_reverse, for (int i = 0; i < IFM_CHAINS / 2; i++) {
        uint64_t at = run->position[i];
        run->position[i] = run->position[IFM_CHAINS - 1 - i];
        run->position[IFM_CHAINS - 1 - i] = at;
    })

ON_RUN(another_way, run->from[run->bytes / 2 / IFM_LINE * IFM_LINE] ^= 64)

ON_RUN(right_way, ifm_cycle_write(&run->cycle, run->from, (uint32_t)(run->bytes / 2 / IFM_LINE),
                                  (uint32_t)(run->bytes / 2 / IFM_LINE) + 1))

/* A place outside the lines must not be followed by a next step. */
static void restore_places(void *state)
{
    memcpy(((struct ifm_stream_run *)state)->position, kept.position, sizeof kept.position);
}
DURING(keep_places, (void)run)

static const struct planted_fault chain_faults[] = {
    IDLE,
    AFTER("one is at another line", first_back),
    AFTER("all are at the first line", all_at_zero),
    AFTER("all are where the first is", all_at_the_first),
    AFTER("two are swapped", two_swapped),
    AFTER("the last is where the first is", last_at_the_first),
    AFTER("one is a byte on", a_byte_on),
    AFTER("one is a line on", a_line_on),
    AFTER("one is a load on", one_step_on),
    AFTER("one is outside", outside),
    AFTER("one is far outside", far_outside),
    AFTER("in reverse", in_reverse),
    AFTER("a line leads elsewhere", another_way),
    {"a line leads elsewhere between steps", right_way, another_way, 0, false},
    {"no chain moves", keep_places, restore_places, 0, false},
    WHILE("a load less", a_load_less),
    WHILE("a load more", a_load_more),
    WHILE("half of the loads", half_the_loads),
    WHILE("a quarter of the loads", a_quarter_of_the_loads),
    WHILE("no load", no_loads),
    WHILE("twice the loads, and one", twice_the_loads_and_one),
};
/* ---- the bench ---- */

struct bench {
    struct ifm_arena *arena;
    struct ifm_machine machine;
    struct serial serial;
};

static int setup(void **context)
{
    struct bench *bench = calloc(1, sizeof *bench);
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

struct fault_list {
    const struct planted_fault *faults;
    size_t n;
};

/* Each fault in an arm that was opened for it: a fault leaves chains where they should not be. How many there were. */
static size_t refuse_arm(struct bench *bench, const struct ifm_arm *arm, const struct fault_list lists[2])
{
    size_t n = 0;
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < lists[list].n; i++) {
            struct opened opened;
            struct ifm_error error = {0};
            if (open_arm_on(&ifm_workload_stream, arm, "cpu", &bench->serial.device, 2, 7, bench->arena, &opened,
                            &error) != IFM_OK)
                fail_msg("%s: %s", arm->name, error.message);
            struct ifm_stream_run *run = opened.state;
            if (run->asked.rounds > FEW_ROUNDS)
                run->rounds = run->asked.rounds = FEW_ROUNDS;
            n += refuses_every_fault(&opened, ifm_arena_printf(bench->arena, "%s %s", arm->name, arm->title),
                                     &lists[list].faults[i], 1, false);
            ifm_implementation_close(opened.by, opened.state);
            serial_free(&bench->serial);
        }
    return n;
}

static struct ifm_arm_list describe(struct bench *bench, const struct ifm_setting *settings, size_t n)
{
    struct ifm_arm_list arms;
    struct ifm_error error = {0};
    const char *why_not = NULL;
    assert_int_equal(ifm_workload_stream.describe(settings, n, &bench->machine, bench->arena, &arms, &why_not, &error),
                     IFM_OK);
    give_settings(&arms, settings, n);
    return arms;
}

/* Every arm of a probe on every instruction set, at most `arms` of them; of a `level` of the caches where it is not
 * NULL. */
static void refuse_of(struct bench *bench, const char *probe, const char *level, size_t most,
                      const struct fault_list lists[2])
{
    for (size_t i = 0; i < bench->machine.n_isas; i++) {
        const struct ifm_setting settings[] = {{"stream.probe", probe},
                                               {"stream.size", "100003"},
                                               {"stream.isa", bench->machine.isas[i]},
                                               {"stream.level", level}};
        const struct ifm_arm_list arms = describe(bench, settings, COUNT(settings) - (level == NULL));
        for (size_t arm = 0; arm < arms.n && arm < most; arm++) {
            const size_t refused = refuse_arm(bench, &arms.items[arm], lists);
            planted_count("stream", "cpu", bench->machine.isas[i], refused);
        }
    }
}

static void refuse_in(struct bench *bench, const char *probe, size_t most, const struct fault_list lists[2])
{
    refuse_of(bench, probe, NULL, most, lists);
}

#define LISTS(a, b)                                                                                                    \
    (const struct fault_list[2])                                                                                       \
    {                                                                                                                  \
        {a, COUNT(a)},                                                                                                 \
        {                                                                                                              \
            b, COUNT(b)                                                                                                \
        }                                                                                                              \
    }

static void write_refuses_them(void **context)
{
    refuse_in(*context, "write", 3, LISTS(target_faults, write_faults));
}

static void copy_refuses_them(void **context)
{
    refuse_in(*context, "copy", 3, LISTS(target_faults, copy_faults));
}

static void read_refuses_them(void **context)
{
    refuse_in(*context, "read", 3, LISTS(sum_faults, read_faults));
}

static void flops_refuses_them(void **context)
{
    refuse_in(*context, "flops", 3, LISTS(sum_faults, flops_faults));
}

static void int8_refuses_them(void **context)
{
    refuse_in(*context, "int8", 2, LISTS(sum_faults, flops_faults));
}

static void clock_refuses_them(void **context)
{
    refuse_in(*context, "clock", 1, LISTS(sum_faults, flops_faults));
}

/* Passes over a cache are counted too: with one less the sum is another. */
static void reads_of_caches_refuse_them(void **context)
{
    struct bench *bench = *context;
    bench->machine.cache_reported[0] = 4096;
    bench->machine.cache_reported[1] = 1 << 18;
    refuse_of(bench, "read", "1", 1, LISTS(sum_faults, flops_faults));
    refuse_of(bench, "read", "2", 1, LISTS(sum_faults, read_faults));
}

/* What one shape has just left in a cache is no memory to the next: no piece comes again before all others have. */
static void shapes_take_the_pieces_of_a_buffer_in_turn(void **context)
{
    enum { PIECES = 4, ARMS = 3 };
    static const struct ifm_setting settings[] = {
        {"stream.probe", "read"}, {"stream.size", "34603008"}, {"stream.pieces", "true"}}; /* 33 MiB */
    struct bench *bench = *context;
    bench->machine.threads = 1;
    const struct ifm_arm_list arms = describe(bench, settings, COUNT(settings));
    struct opened opened[ARMS];
    struct ifm_error error = {0};
    assert_int_equal(arms.n, ARMS);
    for (size_t i = 0; i < ARMS; i++)
        assert_int_equal(open_arm_on(&ifm_workload_stream, &arms.items[i], "cpu", &bench->serial.device, 1, 7,
                                     bench->arena, &opened[i], &error),
                         IFM_OK);
    for (uint64_t turn = 0; turn < 5 * ARMS; turn++) {
        struct ifm_stream_run *run = opened[turn % ARMS].state;
        struct ifm_check check;
        opened[0].by->spoil(run, true);
        opened[0].by->step(run, 1);
        assert_int_equal(run->at, turn % PIECES * (8 << 20));
        assert_int_equal(opened[0].by->check(run, &check, &error), IFM_OK);
        assert_true(check.error_max_rel == 0);
    }
    for (size_t i = 0; i < ARMS; i++)
        ifm_implementation_close(opened[i].by, opened[i].state);
}

/* A buffer of the bench, of bytes that no formula gives. */
static unsigned char *some_buffer(struct bench *bench, const char *name, size_t bytes, bool lent)
{
    struct ifm_error error = {0};
    void *memory;
    bool fresh;
    assert_int_equal(serial_buffer(&bench->serial.device, name, bytes, &memory, &fresh, &error), IFM_OK);
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)memory)[i] = (unsigned char)(i * i >> 7);
    if (lent)
        serial_lend(&bench->serial.device, memory);
    return memory;
}

/* Pieces of what other arms have lent are read instead of a source of its own, in turn, and checked as that is. */
static void lent_memory_is_read_in_its_pieces(void **context)
{
    enum { PIECE = 8 << 20, PIECES = 4 };
    static const struct ifm_setting settings[] = {
        {"stream.probe", "read"}, {"stream.size", "33554432"}, {"stream.pieces", "true"}};
    struct bench *bench = *context;
    bench->machine.threads = 1;
    const struct ifm_arm_list arms = describe(bench, settings, COUNT(settings));
    unsigned char *first = some_buffer(bench, "kv", 2 * PIECE + 4096, true);
    some_buffer(bench, "written", 8 * PIECE, false);
    unsigned char *second = some_buffer(bench, "more kv", 3 * PIECE, true);
    unsigned char *const pieces[PIECES] = {first, first + PIECE, second, second + PIECE};
    struct opened opened;
    struct ifm_error error = {0};
    struct ifm_check check;
    assert_int_equal(open_arm_on(&ifm_workload_stream, &arms.items[0], "cpu", &bench->serial.device, 1, 7, bench->arena,
                                 &opened, &error),
                     IFM_OK);
    struct ifm_stream_run *run = opened.state;
    for (size_t i = 0; i < bench->serial.n; i++)
        assert_null(strstr(bench->serial.slots[i].name, "stream.source"));
    for (uint64_t turn = 0; turn < 3 * PIECES; turn++) {
        opened.by->spoil(run, true);
        if (turn % 3 == 2) /* a step that leaves out the end of its piece */
            a_line_less(run);
        opened.by->step(run, 1);
        assert_ptr_equal(run->from, pieces[turn % PIECES]);
        if (turn % 3 == 2)
            run->now += 64;
        if (turn % 3 == 1)
            run->results[0].sum++;
        assert_int_equal(opened.by->check(run, &check, &error), IFM_OK);
        assert_int_equal(check.error_max_rel == 0, turn % 3 == 0);
    }
    ifm_implementation_close(opened.by, opened.state);
}

/* Too little of it, or memory that is written, is left alone. */
static void too_little_lent_memory_is_not_read(void **context)
{
    static const struct ifm_setting settings[] = {
        {"stream.probe", "read"}, {"stream.size", "33554432"}, {"stream.pieces", "true"}};
    struct bench *bench = *context;
    bench->machine.threads = 1;
    const struct ifm_arm_list arms = describe(bench, settings, COUNT(settings));
    some_buffer(bench, "kv", 24 << 20, true);
    some_buffer(bench, "written", 64 << 20, false);
    struct opened opened;
    struct ifm_error error = {0};
    assert_int_equal(open_arm_on(&ifm_workload_stream, &arms.items[0], "cpu", &bench->serial.device, 1, 7, bench->arena,
                                 &opened, &error),
                     IFM_OK);
    assert_non_null(strstr(bench->serial.slots[2].name, "stream.source"));
    assert_ptr_equal(((struct ifm_stream_run *)opened.state)->from, bench->serial.slots[2].memory);
    ifm_implementation_close(opened.by, opened.state);
}

static void caches_refuses_them(void **context)
{
    refuse_in(*context, "caches", 3, (const struct fault_list[2]){{chain_faults, COUNT(chain_faults)}, {NULL, 0}});
}

int main(void)
{
#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_BENCH(write_refuses_them),
        WITH_BENCH(copy_refuses_them),
        WITH_BENCH(read_refuses_them),
        WITH_BENCH(flops_refuses_them),
        WITH_BENCH(caches_refuses_them),
        WITH_BENCH(int8_refuses_them),
        WITH_BENCH(clock_refuses_them),
        WITH_BENCH(reads_of_caches_refuse_them),
        WITH_BENCH(shapes_take_the_pieces_of_a_buffer_in_turn),
        WITH_BENCH(lent_memory_is_read_in_its_pieces),
        WITH_BENCH(too_little_lent_memory_is_not_read),
        cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
