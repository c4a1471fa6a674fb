/* Every fault planted into a probe of stream on the device cuda is refused, of each kernel and of the driver's copy and
 * fill: words spoiled in a target or in the sums, arguments of a step that are others, work that is left out. */
#include <cmocka.h>

#include "kernel/cuda/matrix.h"
#include "kernel/cuda/stream.h"
#include "opened.h"
#include "planted.h"
#include "planted_cuda.h"
#include "workload/stream/run_cuda.h"

enum { PAGE = 4096, LINE = 64 };

/* ---- device memory, a word or a stretch of it at a time ---- */

static void fill(const struct ifm_stream_cuda_run *run, void *base, uint64_t byte, uint32_t word, uint64_t bytes)
{
    ifm_cuda_fill(run->device, (char *)base + byte, word, bytes / 4);
}

static void get(const struct ifm_stream_cuda_run *run, const void *base, uint64_t byte, void *out, size_t bytes)
{
    planted_read(run->device, out, (const char *)base + byte, bytes);
}

static void put(const struct ifm_stream_cuda_run *run, void *base, uint64_t byte, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 4) {
        uint32_t word;
        memcpy(&word, (const char *)from + at, sizeof word);
        fill(run, base, byte + at, word, sizeof word);
    }
}

static void flip(const struct ifm_stream_cuda_run *run, void *base, uint64_t byte, uint32_t bits)
{
    uint32_t word;
    get(run, base, byte, &word, sizeof word);
    fill(run, base, byte, word ^ bits, sizeof word);
}

#define ON_RUN(name, ...)                                                                                              \
    static void name(void *state)                                                                                      \
    {                                                                                                                  \
        struct ifm_stream_cuda_run *run = state;                                                                       \
        __VA_ARGS__;                                                                                                   \
    }

/* ---- other arguments during a step; `undo` puts them back ---- */

static struct ifm_stream_cuda_run kept;

#define DURING(name, ...) ON_RUN(name, kept = *run; __VA_ARGS__)

static void undo(void *state)
{
    *(struct ifm_stream_cuda_run *)state = kept;
}

DURING(a_line_less, run->bytes -= LINE)
DURING(a_vector_less, run->bytes -= 16)
DURING(half_the_bytes, run->bytes /= 2)
DURING(only_a_line, run->bytes = LINE)
DURING(other_pattern, run->pattern = 0x5b5b5b5b5b5b5b5b)
DURING(no_pattern, run->pattern = 0)
DURING(source_a_line_on, run->from = (char *)run->from + LINE; run->bytes -= LINE)
DURING(target_a_line_on, run->to = (char *)run->to + LINE; run->bytes -= LINE)
DURING(fewer_rounds, run->rounds -= 8)
DURING(more_rounds, run->rounds += 8)
DURING(half_the_rounds, run->rounds /= 2)
DURING(a_quarter_of_the_rounds, run->rounds /= 4)
DURING(seven_eighths_of_the_rounds, run->rounds -= run->rounds / 8)
DURING(twice_the_rounds, run->rounds *= 2)
DURING(eight_rounds, run->rounds = 8)
DURING(a_percent_more_rounds, run->rounds += run->rounds / 100 / 8 * 8 + 8)
DURING(other_factors, run->seed++)
DURING(fewer_blocks, run->blocks /= 2)

/* ---- targets ---- */

ON_RUN(flip_first, flip(run, run->to, 0, 1))
ON_RUN(flip_last, flip(run, run->to, run->bytes - 4, 0x80000000))
ON_RUN(flip_middle, flip(run, run->to, run->bytes / 8 * 4, 1 << 10))
ON_RUN(spoil_a_word, fill(run, run->to, PAGE, 0xa5a5a5a5, 4))
ON_RUN(zero_a_line, fill(run, run->to, run->bytes / 4 / LINE * LINE, 0, LINE))
ON_RUN(zero_a_page, fill(run, run->to, 2 * PAGE, 0, PAGE))
ON_RUN(zero_target, fill(run, run->to, 0, 0, run->bytes))
ON_RUN(spoil_second_half, fill(run, run->to, run->bytes / 8 * 4, 0xa5a5a5a5, run->bytes - run->bytes / 8 * 4))
ON_RUN(spoil_tail, fill(run, run->to, run->bytes - 8, 0xa5a5a5a5, 8))
ON_RUN(one_more, flip(run, run->to, 776, 0x100))
ON_RUN(every_other_page,
       for (uint64_t at = PAGE; at + PAGE <= run->bytes; at += 2 * PAGE) fill(run, run->to, at, 0xa5a5a5a5, PAGE))
ON_RUN(a_word_a_page, for (uint64_t at = 8; at < run->bytes; at += PAGE) flip(run, run->to, at, 0x10))
ON_RUN(change_a_bit_of_the_source, flip(run, run->from, 4000, 1))
ON_RUN(change_the_end_of_the_source, flip(run, run->from, run->bytes - 4, 1))
ON_RUN(change_words_of_the_source, for (uint64_t at = 0; at < run->bytes; at += PAGE) flip(run, run->from, at, 2))

static const struct planted_fault target_faults[] = {
    IDLE,
    AFTER("the first byte", flip_first),
    AFTER("the last byte", flip_last),
    AFTER("a bit in the middle", flip_middle),
    AFTER("a word", spoil_a_word),
    AFTER("a line of zeros", zero_a_line),
    AFTER("a page of zeros", zero_a_page),
    AFTER("all zeros", zero_target),
    AFTER("the second half", spoil_second_half),
    AFTER("the tail", spoil_tail),
    AFTER("one more", one_more),
    AFTER("every other page", every_other_page),
    AFTER("a word of each page", a_word_a_page),
};
static const struct planted_fault write_while[] = {
    WHILE("another pattern", other_pattern),
    WHILE("a pattern of zeros", no_pattern),
    WHILE("a line less", a_line_less),
    WHILE("a vector less", a_vector_less),
    WHILE("half of the bytes", half_the_bytes),
    WHILE("a line alone", only_a_line),
    WHILE("the target one line on", target_a_line_on),
};
static const struct planted_fault copy_while[] = {
    WHILE("a line less", a_line_less),
    WHILE("half of the bytes", half_the_bytes),
    WHILE("a line alone", only_a_line),
    WHILE("the target one line on", target_a_line_on),
    WHILE("the source one line on", source_a_line_on),
    ROUND("a bit of another source", change_a_bit_of_the_source),
    ROUND("another end of the source", change_the_end_of_the_source),
    ROUND("other words in the source", change_words_of_the_source),
};

/* ---- sums of read: that of all warps is compared ---- */

static uint64_t sum_at(const struct ifm_stream_cuda_run *run, size_t i)
{
    uint64_t sum;
    get(run, run->sums, i * sizeof sum, &sum, sizeof sum);
    return sum;
}

static void set_sum(const struct ifm_stream_cuda_run *run, size_t i, uint64_t sum)
{
    put(run, run->sums, i * sizeof sum, &sum, sizeof sum);
}

#define ON_SUM(name, i, ...)                                                                                           \
    ON_RUN(name, const uint64_t sum = sum_at(run, i); (void)sum; set_sum(run, i, (__VA_ARGS__)))
ON_SUM(sum_one_more, 0, sum + 1)
ON_SUM(sum_one_less, run->n_sums - 1, sum - 1)
ON_SUM(sum_zero, 0, 0)
ON_SUM(sum_twice, 0, sum * 2)
ON_SUM(sum_negative, 0, -sum)
ON_SUM(sum_a_bit, run->n_sums / 2, sum ^ 1ULL << 63)
ON_SUM(sum_one_percent, 0, sum + sum / 100)
ON_SUM(sum_in_32_bits, 0, (sum & UINT32_MAX) ^ 1)
ON_SUM(sum_missing, 1, 0xa5a5a5a5a5a5a5a5)
ON_SUM(sum_copied, 0, sum_at(run, 1))
ON_SUM(sum_counted_twice, 0, sum + sum_at(run, 1))
ON_RUN(sums_all_zero, fill(run, run->sums, 0, 0, run->n_sums * 8))
ON_RUN(sums_half_zero, fill(run, run->sums, 0, 0, run->n_sums / 2 * 8))

static const struct planted_fault read_faults[] = {
    IDLE,
    AFTER("one more", sum_one_more),
    AFTER("one less", sum_one_less),
    AFTER("zero", sum_zero),
    AFTER("twice", sum_twice),
    AFTER("negative", sum_negative),
    AFTER("one bit", sum_a_bit),
    AFTER("x 1.01", sum_one_percent),
    AFTER("32 bits", sum_in_32_bits),
    AFTER("a warp is missing", sum_missing),
    AFTER("another warp's", sum_copied),
    AFTER("a warp's twice", sum_counted_twice),
    AFTER("all are zero", sums_all_zero),
    AFTER("half are zero", sums_half_zero),
};
static const struct planted_fault read_while[] = {
    WHILE("a line less", a_line_less),
    WHILE("half of the bytes", half_the_bytes),
    WHILE("a line alone", only_a_line),
    WHILE("the source one line on", source_a_line_on),
    ROUND("a bit of another source", change_a_bit_of_the_source),
    ROUND("another end of the source", change_the_end_of_the_source),
};

/* ---- values of flops, one a thread, and the tile of matrix ---- */

enum { COLUMNS = IFM_MATRIX_COLUMNS, ROWS = IFM_MATRIX_ROWS };

static float value_at(const struct ifm_stream_cuda_run *run, size_t i)
{
    float value;
    get(run, run->sums, i * sizeof value, &value, sizeof value);
    return value;
}

static void set_value(const struct ifm_stream_cuda_run *run, size_t i, float value)
{
    put(run, run->sums, i * sizeof value, &value, sizeof value);
}

/* Values that are compared, and the largest of some of them. */
static size_t n_values(const struct ifm_stream_cuda_run *run)
{
    return run->probe == IFM_PROBE_MATRIX ? (size_t)ROWS * COLUMNS : run->n_sums;
}

static size_t largest(const struct ifm_stream_cuda_run *run, size_t from)
{
    size_t best = from;
    for (size_t i = from; i < from + 64; i++)
        best = fabsf(value_at(run, i)) > fabsf(value_at(run, best)) ? i : best;
    return best;
}

static void change(const struct ifm_stream_cuda_run *run, size_t from, size_t n, float factor, float term)
{
    for (size_t i = from; i < from + n; i++)
        set_value(run, i, value_at(run, i) * factor + term);
}

static void swap(const struct ifm_stream_cuda_run *run, size_t i, size_t j)
{
    const float a = value_at(run, i), b = value_at(run, j);
    set_value(run, i, b);
    set_value(run, j, a);
}

ON_RUN(value_zero, set_value(run, largest(run, 0), 0))
ON_RUN(value_zero_at_the_end, set_value(run, largest(run, n_values(run) - 64), 0))
ON_RUN(value_negative, size_t i = largest(run, 0); set_value(run, i, -value_at(run, i)))
ON_RUN(value_one_percent, size_t i = largest(run, n_values(run) / 2); set_value(run, i, 1.01f * value_at(run, i)))
ON_RUN(value_twice, size_t i = largest(run, n_values(run) / 2); set_value(run, i, 2 * value_at(run, i)))
ON_RUN(value_not_a_number, set_value(run, n_values(run) / 2, NAN))
ON_RUN(value_infinite, set_value(run, n_values(run) - 1, INFINITY))
ON_RUN(values_swapped, size_t i = largest(run, 0); swap(run, i, i == 0 ? 1 : 0))
ON_RUN(values_a_place_on, for (size_t i = 31; i > 0; i--) swap(run, i, i - 1))
ON_RUN(values_in_reverse, for (size_t i = 0; i < 16; i++) swap(run, i, 31 - i))
ON_RUN(row_zero, fill(run, run->sums, n_values(run) / 2 * 4, 0, COLUMNS * 4))
ON_RUN(first_row_zero, fill(run, run->sums, 0, 0, COLUMNS * 4))
ON_RUN(last_row_zero, fill(run, run->sums, (n_values(run) - COLUMNS) * 4, 0, COLUMNS * 4))
ON_RUN(row_one_percent, change(run, n_values(run) / 2, COLUMNS, 1.01f, 0))
ON_RUN(row_negative, change(run, n_values(run) / 2, COLUMNS, -1, 0))
ON_RUN(row_more, change(run, 0, COLUMNS, 1, 0.02f * fabsf(value_at(run, largest(run, 0)))))
ON_RUN(half_zero, fill(run, run->sums, 0, 0, n_values(run) * 2))
ON_RUN(half_not_written, fill(run, run->sums, n_values(run) * 2, UINT32_MAX, n_values(run) * 2))
ON_RUN(all_zero, fill(run, run->sums, 0, 0, n_values(run) * 4))
ON_RUN(all_one, fill(run, run->sums, 0, 0x3f800000, n_values(run) * 4))

static const struct planted_fault value_faults[] = {
    IDLE,
    AFTER("a value is zero", value_zero),
    AFTER("a value at the end is zero", value_zero_at_the_end),
    AFTER("a value has the other sign", value_negative),
    AFTER("a value x 1.01", value_one_percent),
    AFTER("a value x 2", value_twice),
    AFTER("not a number", value_not_a_number),
    AFTER("infinity", value_infinite),
    AFTER("two values swapped", values_swapped),
    AFTER("values one place on", values_a_place_on),
    AFTER("values in reverse", values_in_reverse),
    AFTER("a row is zero", row_zero),
    AFTER("the first row is zero", first_row_zero),
    AFTER("the last row is zero", last_row_zero),
    AFTER("a row x 1.01", row_one_percent),
    AFTER("a row has the other sign", row_negative),
    AFTER("a row + 2 %", row_more),
    AFTER("half is zero", half_zero),
    AFTER("half is not written", half_not_written),
    AFTER("all are zero", all_zero),
    AFTER("all are one", all_one),
};
static const struct planted_fault rounds_while[] = {
    WHILE("eight rounds less", fewer_rounds),
    WHILE("eight rounds more", more_rounds),
    WHILE("half of the rounds", half_the_rounds),
    WHILE("a quarter of the rounds", a_quarter_of_the_rounds),
    WHILE("seven eighths of the rounds", seven_eighths_of_the_rounds),
    WHILE("twice the rounds", twice_the_rounds),
    WHILE("eight rounds", eight_rounds),
    WHILE("1 % more rounds", a_percent_more_rounds),
};
static const struct planted_fault flops_while[] = {WHILE("half of the blocks", fewer_blocks)};
static const struct planted_fault matrix_while[] = {WHILE("other factors", other_factors)};

#define REFUSE(probe, n_arms, ...)                                                                                     \
    static void probe##_refuses_them(void **context)                                                                   \
    {                                                                                                                  \
        static const struct fault_list lists[] = {__VA_ARGS__, END_OF_LISTS};                                          \
        refuse_cell(*context, &ifm_workload_stream, "probe=" #probe " size=200000", n_arms, lists);                    \
    }
REFUSE(read, 2, LIST(read_faults), LIST_OF_ARGUMENTS(read_while, NULL))
REFUSE(write, 2, LIST(target_faults), LIST_OF_ARGUMENTS(write_while, NULL))
REFUSE(copy, 3, LIST(target_faults), LIST_OF_ARGUMENTS(copy_while, NULL))
REFUSE(flops, 1, LIST(value_faults), LIST_OF_ARGUMENTS(rounds_while, NULL), LIST_OF_ARGUMENTS(flops_while, NULL))
REFUSE(matrix, 1, LIST(value_faults), LIST_OF_ARGUMENTS(rounds_while, NULL), LIST_OF_ARGUMENTS(matrix_while, NULL))

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_BENCH(read_refuses_them),  WITH_BENCH(write_refuses_them),  WITH_BENCH(copy_refuses_them),
        WITH_BENCH(flops_refuses_them), WITH_BENCH(matrix_refuses_them), cmocka_unit_test(planted_table_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
