/* Text, numbers, arena, files, hashes, JSON and random numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/random.h"
#include "base/text.h"
#include "facts.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void numbers_parse_whole_strings_only(void **state)
{
    (void)state;
    int64_t i = 0;
    uint64_t u = 0;
    double f = 0;
    assert_true(ifm_parse_i64("-9223372036854775808", &i) && i == INT64_MIN);
    assert_false(ifm_parse_i64("9223372036854775808", &i));
    assert_true(ifm_parse_u64("18446744073709551615", &u) && u == UINT64_MAX);
    static const char *const bad[] = {"", " 1", "1 ", "+1", "-1", "0x10", "1e", "nan", "inf", "1.5.2", "one"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        assert_false(ifm_parse_u64(bad[k], &u));
    assert_true(ifm_parse_f64("-2.5e-3", &f) && f == -2.5e-3);
    assert_false(ifm_parse_f64("1e999", &f));
    assert_false(ifm_parse_f64("0x1p3", &f));
}

static void bytes_and_seconds_take_suffixes(void **state)
{
    (void)state;
    uint64_t bytes = 0;
    double seconds = 0;
    assert_true(ifm_parse_bytes("1.5KiB", &bytes) && bytes == 1536);
    assert_true(ifm_parse_bytes("2GB", &bytes) && bytes == 2000000000);
    assert_true(ifm_parse_bytes("256M", &bytes) && bytes == (uint64_t)256 << 20);
    assert_false(ifm_parse_bytes("1.5", &bytes));
    assert_false(ifm_parse_bytes("3 apples", &bytes));
    assert_false(ifm_parse_bytes("-1K", &bytes));
    assert_true(ifm_parse_seconds("250ms", &seconds) && fabs(seconds - 0.25) < 1e-15);
    assert_true(ifm_parse_seconds("2min", &seconds) && seconds == 120);
    assert_true(ifm_parse_seconds("2 h", &seconds) && seconds == 7200);
    assert_true(ifm_parse_seconds("10 s", &seconds) && seconds == 10);
    assert_false(ifm_parse_seconds("10 ", &seconds));
    assert_false(ifm_parse_seconds("10  s", &seconds));
    assert_false(ifm_parse_seconds("10 m", &seconds));     /* minutes or milliseconds */
    assert_false(ifm_parse_seconds("1e308min", &seconds)); /* finite until it is scaled */
    assert_false(ifm_parse_seconds("-0", &seconds));
}

static void reals_print_short_and_read_back(void **state)
{
    (void)state;
    char buffer[32];
    assert_string_equal(ifm_format_real(0.1, buffer), "0.1");
    static const double hard[] = {1.0 / 3, DBL_MIN, DBL_MAX, 5e-324, 123456789.123456789, -0.1 - 0.2};
    for (size_t k = 0; k < sizeof hard / sizeof *hard; k++)
        assert_true(strtod(ifm_format_real(hard[k], buffer), NULL) == hard[k]);
}

static void people_read_three_digits(void **state)
{
    (void)state;
    char buffer[48];
    assert_string_equal(ifm_format_human(12345678, "ns", buffer), "12.3 ms");
    assert_string_equal(ifm_format_human(21.34e9, "B/s", buffer), "21.3 GB/s");
    assert_string_equal(ifm_format_human(1610612736, "B", buffer), "1.50 GiB");
    assert_string_equal(ifm_format_human(0.0124, "s", buffer), "12.4 ms");
    assert_string_equal(ifm_format_human(20800, "ns", buffer), "20.8 µs"); /* as tables spell it */
    assert_string_equal(ifm_format_human(0, "ns", buffer), "0 ns");
}

/* A word is never broken, nor a command that is to be copied; a lone ` is a letter. */
static void lines_break_between_words(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"one two three", "one two\n  three"},
        {"type `a b c d` now", "type\n  `a b c d`\n  now"},
        {"lone ` of many", "lone ` of\n  many"},
        {"x-`a b c d`, y", "x-`a b c d`,\n  y"},
        {"within 12 % of", "within\n  12 % of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ifm_text out = {0};
        ifm_text_wrap(&out, cases[i][0], 10, 0, 2);
        assert_string_equal(out.data, cases[i][1]);
        ifm_text_free(&out);
    }
}

static void the_nearest_word_is_near(void **state)
{
    (void)state;
    static const char *const words[] = {"decode.kv_len", "decode.kv_heads", "decode.head_dim", "seed"};
    assert_string_equal(ifm_nearest("decode.kv_length", words, 4), "decode.kv_len");
    assert_string_equal(ifm_nearest("sede", words, 4), "seed");
    assert_null(ifm_nearest("temperature", words, 4));
    static const char *const flags[] = {"threads", "seq-len", "q-heads", "head-dim"};
    assert_string_equal(ifm_nearest("heads", flags, 4), "q-heads"); /* and not threads, two letters away */
    assert_string_equal(ifm_nearest("seq", flags, 4), "seq-len");
    assert_string_equal(ifm_nearest("thread", flags, 4), "threads");
    assert_null(ifm_nearest("ea", flags, 4));
}

static void the_arena_aligns_and_zeroes(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    for (size_t n = 1; n < 300000; n = n * 3 + 1) {
        unsigned char *memory = ifm_arena_alloc(arena, n);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(memory[k], 0);
        memset(memory, 0xff, n);
    }
    assert_string_equal(ifm_arena_printf(arena, "%s-%d", "a", 7), "a-7");
    ifm_arena_destroy(arena);
}

static char released[8];

static void note_release(void *what)
{
    strncat(released, what, 1);
}

static void the_arena_releases_what_is_deferred_last_first(void **state)
{
    (void)state;
    static char a[] = "a", b[] = "b";
    struct ifm_arena *arena = ifm_arena_create();
    ifm_arena_defer(arena, note_release, a);
    ifm_arena_defer(arena, note_release, b);
    assert_string_equal(released, "");
    ifm_arena_destroy(arena);
    assert_string_equal(released, "ba");
}

static void a_list_in_the_arena_grows(void **state)
{
    (void)state;
    enum { ITEMS = 1000 };
    struct ifm_arena *arena = ifm_arena_create();
    size_t n = 0, capacity = 0, moves = 0;
    unsigned *list = NULL, *before = NULL;
    for (; n < ITEMS; moves += list != before, before = list) {
        IFM_ARENA_GROW(arena, list, n, capacity);
        assert_true(n < capacity);
        list[n] = (unsigned)n;
        n++;
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(list[i], i);
    assert_true(moves <= 8); /* by doubling, not one by one */
    ifm_arena_destroy(arena);
}

static void text_appends_extreme_integers(void **state)
{
    (void)state;
    struct ifm_text text = {0};
    ifm_text_add_i64(&text, INT64_MIN);
    ifm_text_add(&text, ",");
    ifm_text_add_i64(&text, 0);
    assert_string_equal(text.data, "-9223372036854775808,0");
    ifm_text_free(&text);
}

static void philox_gives_its_known_answers(void **state)
{
    (void)state;
    /* Random123's kat_vectors, philox4x32 10 rounds, zero key and counter. */
    uint32_t word[4];
    ifm_philox(0, 0, 0, word);
    assert_int_equal(word[0], 0x6627e8d5u);
    assert_int_equal(word[1], 0xe169c58du);
    assert_int_equal(word[2], 0xbc57ac4cu);
    assert_int_equal(word[3], 0x9b00dbd8u);
    struct ifm_random random = ifm_random_start(1, 2);
    double sum = 0, squares = 0;
    for (int k = 0; k < 100000; k++) {
        double x = ifm_random_normal(&random);
        sum += x;
        squares += x * x;
        assert_true(ifm_random_below(&random, 7) < 7);
    }
    assert_true(fabs(sum / 1e5) < 0.015 && fabs(squares / 1e5 - 1) < 0.02);
}

static void json_prints_what_it_reads(void **state)
{
    (void)state;
    static const char source[] = "{\"a\":0.1,\"b\":[1,2.0,null,true],\"c\":{\"d\":\"x\\\"\\n\\u0001\"}}";
    json_t *json = NULL;
    struct ifm_error error;
    assert_int_equal(ifm_json_parse(source, sizeof source - 1, "test", &json, &error), IFM_OK);
    struct ifm_text text = {0};
    ifm_json_print(json, false, &text);
    assert_string_equal(text.data, source);
    ifm_text_free(&text);
    uint64_t number;
    assert_int_equal(ifm_json_get_u64(json, "a", "test.json", &number, &error), IFM_INVALID);
    assert_facts(error.message, "\"a\"|real|integer|0");
    json_decref(json);
    assert_int_equal(ifm_json_parse("{\"a\":1,\"a\":2}", 13, "test", &json, &error), IFM_INVALID);
}

static void files_are_written_whole(void **state)
{
    (void)state;
    char dir[] = "/tmp/ifm-test-XXXXXX", path[64], *data = NULL;
    size_t size = 0;
    struct ifm_error error;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/a", dir);
    assert_int_equal(ifm_file_write_atomic(path, "abc", 3, &error), IFM_OK);
    assert_int_equal(ifm_file_read(path, 100, &data, &size, &error), IFM_OK);
    assert_string_equal(data, "abc");
    free(data);
    assert_int_equal(ifm_file_read(path, 2, &data, &size, &error), IFM_USAGE);
    assert_int_equal(ifm_dir_create_all(dir, &error), IFM_OK);     /* it exists */
    assert_int_equal(ifm_dir_create_all(path, &error), IFM_USAGE); /* as a file */
    struct ifm_sha256 hash;
    assert_int_equal(ifm_sha256_file(path, &hash, &error), IFM_OK);
    assert_string_equal(hash.hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(hash.hex, ifm_sha256_bytes("abc", 3).hex);
    unlink(path);
    rmdir(dir);
}

/* One piece of a file after the other: the same as all of it at once. */
static void large_files_hash_whole(void **state)
{
    (void)state;
    enum { SIZE = 200001 };
    char path[] = "/tmp/ifm-test-XXXXXX", *data = malloc(SIZE);
    struct ifm_error error;
    struct ifm_sha256 hash;
    int fd = mkstemp(path);
    assert_true(fd >= 0 && data != NULL);
    for (int i = 0; i < SIZE; i++)
        data[i] = (char)(i / 251);
    assert_int_equal(write(fd, data, SIZE), SIZE);
    close(fd);
    assert_int_equal(ifm_sha256_file(path, &hash, &error), IFM_OK);
    assert_string_equal(hash.hex, ifm_sha256_bytes(data, SIZE).hex);
    unlink(path);
    free(data);
}

/* Around the end of what is allocated, where a text is formatted a second time. */
static void text_prints_at_the_end_of_its_room(void **state)
{
    (void)state;
    for (int before = 0; before < 600; before++) {
        struct ifm_text text = {0};
        ifm_text_printf(&text, "%*s", before, "");
        ifm_text_printf(&text, "%s-%d", "word", 12);
        assert_int_equal(text.size, before + 7);
        assert_true(text.capacity > text.size);
        assert_string_equal(text.data + before, "word-12");
        ifm_text_free(&text);
    }
}

/* A name that is a part of another one stands in no list for that. */
static void a_list_holds_whole_items(void **state)
{
    (void)state;
    static const char *const added[] = {"frequency_min", "frequency", "frequency_min", "min", "frequency"};
    struct ifm_text list = {0};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        ifm_text_add_once(&list, added[i]);
    assert_string_equal(list.data, "frequency_min, frequency, min");
    assert_true(ifm_text_lists(list.data, list.size, "min") && ifm_text_lists("a, b]", 4, "b"));
    assert_false(ifm_text_lists(list.data, list.size, "freq") || ifm_text_lists("", 0, "a"));
    ifm_text_free(&list);
}

/* A finding is cut behind a clause, never inside a bracket. */
static void a_clause_ends_outside_brackets(void **state)
{
    (void)state;
    static const char text[] = "moved (51 to 66, 10th to 90th; taken as 74 [of 3; best]): cannot be told; left";
    assert_string_equal(ifm_text_clause_end(text, "; "), "; left");
    assert_string_equal(ifm_text_clause_end(text, ": "), ": cannot be told; left");
    assert_null(ifm_text_clause_end("moved (51; 66", "; "));
    assert_true(ifm_text_is_bracketed(text, strstr(text, "taken")) && ifm_text_is_bracketed(text, strstr(text, "]")));
    assert_false(ifm_text_is_bracketed(text, text) || ifm_text_is_bracketed(text, strstr(text, ": ")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_holds_whole_items),
        cmocka_unit_test(a_clause_ends_outside_brackets),
        cmocka_unit_test(numbers_parse_whole_strings_only),
        cmocka_unit_test(bytes_and_seconds_take_suffixes),
        cmocka_unit_test(reals_print_short_and_read_back),
        cmocka_unit_test(people_read_three_digits),
        cmocka_unit_test(lines_break_between_words),
        cmocka_unit_test(the_nearest_word_is_near),
        cmocka_unit_test(the_arena_aligns_and_zeroes),
        cmocka_unit_test(the_arena_releases_what_is_deferred_last_first),
        cmocka_unit_test(a_list_in_the_arena_grows),
        cmocka_unit_test(text_appends_extreme_integers),
        cmocka_unit_test(philox_gives_its_known_answers),
        cmocka_unit_test(json_prints_what_it_reads),
        cmocka_unit_test(files_are_written_whole),
        cmocka_unit_test(large_files_hash_whole),
        cmocka_unit_test(text_prints_at_the_end_of_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
