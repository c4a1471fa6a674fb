/* Parameter rows: text to field and back, and what every bad text is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_sample.h"
#include "facts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct ifm_param u64_row = {.path = "sec.key", .type = IFM_TYPE_U64, .min = 1, .max = 4096};
static const struct ifm_param free_row = {.path = "sec.key", .type = IFM_TYPE_U64, .min = 1, .max = 0};
static const struct ifm_param f64_row = {.path = "sec.key", .type = IFM_TYPE_F64, .min = 1, .max = 0};
static const struct ifm_param least_row = {.path = "sec.key", .type = IFM_TYPE_F64, .min = 0, .max = INFINITY};
static const struct ifm_param most_row = {.path = "sec.key", .type = IFM_TYPE_F64, .min = -INFINITY, .max = 2.5};
static const struct ifm_param fraction_row = {.path = "sec.key", .type = IFM_TYPE_F64, .unit = "1", .min = 0, .max = 1};
static const struct ifm_param percent_row = {.path = "sec.key", .type = IFM_TYPE_F64, .unit = "%", .min = 0, .max = 45};
static const struct ifm_param bool_row = {.path = "sec.key", .type = IFM_TYPE_BOOL};
static const struct ifm_param text_row = {.path = "sec.key", .type = IFM_TYPE_TEXT};
static const struct ifm_param choice_row = {.path = "sec.key", .type = IFM_TYPE_CHOICE, .choices = "hot|cold"};
static const struct ifm_param bytes_row = {.path = "sec.key", .type = IFM_TYPE_BYTES, .min = 64, .max = 0x1p40};
static const struct ifm_param seconds_row = {.path = "sec.key", .type = IFM_TYPE_SECONDS, .min = 0, .max = 60};
static const struct ifm_param words_row = {
    .path = "sec.key", .type = IFM_TYPE_TEXT, .flags = IFM_LIST, .fallback = "read", .choices = "read|write"};
static const struct ifm_param numbers_row = {
    .path = "sec.key", .type = IFM_TYPE_U64, .flags = IFM_LIST, .fallback = "", .min = 1, .max = 64};

union field {
    uint64_t u64;
    double f64;
    bool truth;
    const char *text;
    int choice;
    struct ifm_list list;
};

/* Parse, print, parse again: the text must be the canonical one and stay. */
static void expect_canonical(const struct ifm_param *row, const char *text, const char *canonical)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    union field field;
    assert_int_equal(ifm_param_parse(row, text, "w", arena, &field, &error), IFM_OK);
    const char *once = ifm_param_print(row, &field, arena);
    assert_string_equal(once, canonical);
    assert_int_equal(ifm_param_parse(row, once, "w", arena, &field, &error), IFM_OK);
    assert_string_equal(ifm_param_print(row, &field, arena), once);
    ifm_arena_destroy(arena);
}

static void expect_error(const struct ifm_param *row, const char *text, const char *facts, const char *hint_facts)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    union field field;
    assert_int_equal(ifm_param_parse(row, text, "file:1:2", arena, &field, &error), IFM_USAGE);
    assert_int_equal(error.code, IFM_USAGE);
    assert_facts(error.message, facts);
    assert_facts(error.message, "sec.key");
    assert_facts(error.hint, hint_facts);
    assert_string_equal(error.where, "file:1:2");
    ifm_arena_destroy(arena);
}

static void canonical_texts(void **state)
{
    (void)state;
    expect_canonical(&u64_row, "007", "7");
    expect_canonical(&free_row, "18446744073709551615", "18446744073709551615");
    expect_canonical(&f64_row, "1e3", "1000");
    expect_canonical(&f64_row, "-0", "0");
    expect_canonical(&f64_row, "0.10", "0.1");
    expect_canonical(&fraction_row, "1%", "0.01");
    expect_canonical(&fraction_row, "0.7 %", "0.007");
    expect_canonical(&percent_row, "5%", "5");
    expect_canonical(&least_row, "0", "0");
    expect_canonical(&most_row, "-7", "-7");
    expect_canonical(&bool_row, "true", "true");
    expect_canonical(&bool_row, "false", "false");
    expect_canonical(&text_row, " any, text ", " any, text ");
    expect_canonical(&choice_row, "cold", "cold");
    expect_canonical(&bytes_row, "64KiB", "65536");
    expect_canonical(&bytes_row, "1.5GB", "1500000000");
    expect_canonical(&seconds_row, "10ms", "0.01");
    expect_canonical(&seconds_row, "1min", "60");
    expect_canonical(&seconds_row, "5 s", "5");
    expect_canonical(&seconds_row, "0.01h", "36");
    expect_canonical(&words_row, "write, read", "write,read");
    expect_canonical(&numbers_row, "08,1", "8,1");
    expect_canonical(&numbers_row, "", "");
}

static void real_texts_are_stable(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        union field in, out;
        memcpy(&in.f64, &bits, sizeof bits);
        if (!isfinite(in.f64) || in.f64 == 0)
            continue;
        const char *text = ifm_param_print(&f64_row, &in, arena);
        assert_int_equal(ifm_param_parse(&f64_row, text, "", arena, &out, NULL), IFM_OK);
        assert_memory_equal(&in.f64, &out.f64, sizeof(double));
    }
    ifm_arena_destroy(arena);
}

static void wrong_types(void **state)
{
    (void)state;
    expect_error(&u64_row, "abc", "'abc'|whole number|1 .. 4096", "");
    expect_error(&u64_row, "1.5", "'1.5'|whole number|1 .. 4096", "");
    expect_error(&u64_row, "0x10", "'0x10'|whole number|1 .. 4096", "");
    expect_error(&u64_row, " 5", "' 5'|whole number|1 .. 4096", "");
    expect_error(&u64_row, "", "no value|1 .. 4096", "");
    expect_error(&u64_row, "1,024", "'1,024'|whole number", "1024?");
    expect_error(&u64_row, "1,02", "'1,02'|whole number", "");
    expect_error(&u64_row, "3k", "'3k'|whole number", "3072|3000");
    expect_error(&u64_row, "4K", "'4K'|whole number", "4096|4000");
    expect_error(&u64_row, "8k", "8k|out of range|1 .. 4096", "");
    expect_error(&u64_row, "1e9", "1e9|out of range|1 .. 4096", "");
    expect_error(&u64_row, "1e3", "'1e3'|whole number", "1000?");
    expect_error(&free_row, "x", "'x'|whole number|0 .. 18446744073709551615", "");
    expect_error(&f64_row, "1%", "'1%'|any number", "");
    expect_error(&fraction_row, "%", "'%'", "");
    expect_error(&fraction_row, "1%%", "'1%%'", "");
    expect_error(&fraction_row, "1e3%", "'1e3%'", "");
    expect_error(&f64_row, "nan", "'nan'|any number", "");
    expect_error(&f64_row, "inf", "'inf'|any number", "");
    expect_error(&f64_row, "1e999", "'1e999'|any number", "");
    expect_error(&f64_row, "1,5", "'1,5'|any number", "");
    expect_error(&bool_row, "no", "'no'", "true|false");
    expect_error(&bool_row, "1", "'1'", "true|false");
    expect_error(&choice_row, "warm", "'warm'|hot, cold", "");
    expect_error(&choice_row, "clod", "'clod'|hot, cold", "'cold'");
    expect_error(&bytes_row, "64k", "'64k'|64 .. 1099511627776", "65536|64KiB|1.5GB");
    expect_error(&seconds_row, "5  s", "'5  s'|0 .. 60 s", "0.01|10ms|45s|seconds");
    expect_error(&seconds_row, "5 sec", "'5 sec'|0 .. 60 s", "5s?");
    expect_error(&u64_row, "1_024", "'1_024'|whole number", "1024?");
    expect_error(&u64_row, "1 024", "'1 024'|whole number", "1024?");
    expect_error(&u64_row, "4x", "'4x'|whole number", "4?");
}

static void out_of_range(void **state)
{
    (void)state;
    expect_error(&u64_row, "0", "0|range|1 .. 4096", "");
    expect_error(&u64_row, "4097", "4097|range|1 .. 4096", "");
    expect_error(&u64_row, "-1", "-1|range|1 .. 4096", "");
    expect_error(&free_row, "18446744073709551616", "18446744073709551616|range|0 .. 18446744073709551615", "");
    expect_error(&fraction_row, "5", "5|range|0 .. 1", "0.05|5%");
    expect_error(&fraction_row, "150%", "150%|range|0 .. 1", "");
    expect_error(&least_row, "-0.1", "-0.1|range|at least 0", "");
    expect_error(&most_row, "2.6", "2.6|range|at most 2.5", "");
    expect_error(&bytes_row, "63", "63|range|64 .. 1099511627776", "");
    expect_error(&seconds_row, "2min", "2min|range|0 .. 60 s", "");
    expect_error(&seconds_row, "-1", "-1|range|0 .. 60 s", "");
}

static void lists(void **state)
{
    (void)state;
    expect_error(&words_row, "", "empty|read, write", "");
    expect_error(&words_row, "read,", "'read,'|empty", "");
    expect_error(&words_row, "read,raed", "'raed'|read, write", "'read'");
    expect_error(&words_row, "read,read", "'read'|twice", "once");
    expect_error(&numbers_row, "1,01", "'1'|twice", "once");
    char many[257 * 3 + 1];
    for (int i = 0; i < 257; i++)
        memcpy(many + (size_t)i * 3, "10,", 4);
    expect_error(&numbers_row, many, "258 items|256", "");
}

static void long_and_hostile_texts_are_shown_short(void **state)
{
    (void)state;
    char shown[72];
    assert_string_equal(ifm_param_shown("a\tb\033[1m", shown), "a?b?[1m");
    char text[101];
    memset(text, 'x', 100);
    text[100] = '\0';
    text[59] = '\xc3'; /* a character of two bytes across the cut */
    text[60] = '\xa9';
    ifm_param_shown(text, shown);
    assert_int_equal(strlen(shown), 59 + 3);
    assert_string_equal(shown + 58, "x...");
}

static void section_binds_defaults_and_settings(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    struct sample_decode decode;
    const struct ifm_setting settings[] = {
        {"decode.kv_len", "512"}, {"other.path", "x"}, {"decode.shapes", "4,2"}, {"decode.chunk", "1KiB"}};
    assert_int_equal(ifm_section_bind(&sample_decode, settings, 4, arena, &decode, &error), IFM_OK);
    assert_int_equal(decode.kv_len, 512);
    assert_int_equal(decode.batch, 8);
    assert_int_equal(decode.chunk, 1024);
    assert_int_equal(decode.shapes.n, 2);
    assert_string_equal(decode.shapes.items[1], "2");
    assert_true(decode.check);
    assert_true(decode.scale == 0.125);
    struct sample_copy copy;
    assert_int_equal(ifm_section_bind(&sample_copy, NULL, 0, arena, &copy, &error), IFM_OK);
    assert_int_equal(copy.kind, 1); /* the first value of a default that is an axis */
    const struct ifm_setting bad = {"decode.kv_len", "0"};
    assert_int_equal(ifm_section_bind(&sample_decode, &bad, 1, arena, &decode, &error), IFM_USAGE);
    assert_facts(error.message, "decode.kv_len|1048576");
    ifm_arena_destroy(arena);
}

static void row_without_default_must_be_given(void **state)
{
    (void)state;
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    struct ifm_gate gate;
    assert_int_equal(ifm_section_bind(&ifm_section_gate, NULL, 0, arena, &gate, &error), IFM_USAGE);
    assert_facts(error.message, "metric|allowed");
    ifm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_texts),
        cmocka_unit_test(real_texts_are_stable),
        cmocka_unit_test(wrong_types),
        cmocka_unit_test(out_of_range),
        cmocka_unit_test(lists),
        cmocka_unit_test(long_and_hostile_texts_are_shown_short),
        cmocka_unit_test(section_binds_defaults_and_settings),
        cmocka_unit_test(row_without_default_must_be_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
