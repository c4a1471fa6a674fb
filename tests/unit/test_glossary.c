/* data/words.txt as it is built into the command: every record is whole, no name stands for two things, what it sends
 * readers to exists, and docs/glossary.md is what it gives. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/file.h"
#include "document/glossary.h"
#include "model/metric.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ifm_arena *arena;
static struct ifm_glossary words;

static int setup(void **state)
{
    (void)state;
    arena = ifm_arena_create();
    words = ifm_glossary_read(arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ifm_arena_destroy(arena);
    return 0;
}

static bool is_there(const char *see)
{
    const char *page = strstr(see, " in ");
    page = page == NULL ? see : page + 4;
    if (strstr(page, ".md") == NULL)
        return ifm_metric_of(page) != IFM_M_NONE || ifm_glossary_find(&words, page) != NULL;
    FILE *file = fopen(ifm_arena_printf(arena, "docs/%s", page), "r");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

static void every_record_is_whole(void **state)
{
    (void)state;
    assert_true(words.n > 80);
    for (size_t i = 0; i < words.n; i++) {
        const struct ifm_entry *entry = &words.items[i];
        const char last = entry->says[0] == '\0' ? ' ' : entry->says[strlen(entry->says) - 1];
        if (last != '.')
            fail_msg("%s: says \"%s\"", entry->word, entry->says);
        if (entry->see[0] != '\0' && !is_there(entry->see))
            fail_msg("%s: %s is neither a page nor a metric", entry->word, entry->see);
    }
}

/* When the last line says that an arm pays in time, and when only unless, stands where its word sends the reader. */
static void the_page_of_pays_says_when_it_does(void **state)
{
    (void)state;
    static const char *const said[] = {"*in memory and time*", "*in time unless a better f16 is as fast*"};
    const struct ifm_entry *pays = ifm_glossary_find(&words, "unless a better f16 is as fast");
    struct ifm_error error = {0};
    char *data;
    size_t size;
    assert_non_null(pays);
    assert_string_equal(pays->word, "pays");
    assert_int_equal(ifm_file_read(ifm_arena_printf(arena, "docs/%s", pays->see), 1 << 24, &data, &size, &error),
                     IFM_OK);
    for (char *at = data; *at != '\0'; at++)
        *at = *at == '\n' ? ' ' : *at; /* a sentence may go on in the next line */
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (strstr(data, said[i]) == NULL)
            fail_msg("docs/%s does not say %s", pays->see, said[i]);
    free(data);
}

/* The first record with a name would hide the others. */
static void no_name_stands_for_two_things(void **state)
{
    (void)state;
    for (size_t i = 0; i < words.n; i++) {
        char *rest = ifm_arena_printf(arena, "%s, %s", words.items[i].word, words.items[i].also);
        for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
            name += strspn(name, " ");
            if (name[0] != '\0' && ifm_glossary_find(&words, name) != &words.items[i])
                fail_msg("\"%s\" of %s is %s too", name, words.items[i].word, ifm_glossary_find(&words, name)->word);
        }
    }
}

static void names_are_found_however_they_are_written(void **state)
{
    (void)state;
    assert_string_equal(ifm_glossary_find(&words, "Undecided")->word, "undecided");
    assert_string_equal(ifm_glossary_find(&words, "rule 12")->word, "rule-12");
    assert_string_equal(ifm_glossary_find(&words, "RULE_12")->word, "rule-12");
    assert_string_equal(ifm_glossary_find(&words, "close to target")->word, "golden ticket");
    assert_null(ifm_glossary_find(&words, ""));
    assert_null(ifm_glossary_find(&words, "undecide"));
    assert_null(ifm_glossary_find(&words, "undecided, tie"));
    assert_null(ifm_glossary_find(&words, "rule 99")); /* a number is any other where the list says so */
    assert_null(ifm_glossary_find(&words, "1 in 20x"));
    assert_string_equal(ifm_glossary_nearest(&words, "undecide", arena), "undecided");
    assert_string_equal(ifm_glossary_nearest(&words, "step_n", arena), "step_ns");
    assert_string_equal(ifm_glossary_nearest(&words, "Paying", arena), "pays");
    assert_string_equal(ifm_glossary_nearest(&words, "touched", arena), "touches");
    assert_string_equal(ifm_glossary_nearest(&words, "weaker", arena), "weak baseline");
    assert_null(ifm_glossary_nearest(&words, "zigzagging", arena));
}

/* Phrases that the product prints and a stranger asked about. */
static void what_is_printed_is_explained(void **state)
{
    (void)state;
    static const char *const phrases[][2] = {{"mirrored blocks", "block"},
                                             {"slow steps", "what is paid"},
                                             {"the difference itself drifts", "drift"},
                                             {"98.3 %", "Bonferroni"},
                                             {"waiting for a CPU", "the program waited for a CPU"},
                                             {"1 in 20", "slow ones rarer than"},
                                             {"too few to see", "slow ones rarer than"},
                                             {"level changes", "change point"},
                                             {"systematic error", "random error"},
                                             {"count on no more than is left", "weak baseline"},
                                             {"needs 658 blocks", "needs blocks"},
                                             {"not called faster or slower", "undecided"},
                                             {"rerun mean", "range of all runs"},
                                             {"pays", "pays"},
                                             {"of all blocks", "undisturbed blocks"},
                                             {"heads", "head"},
                                             {"no difference", "undecided"},
                                             {"reaches", "weak baseline"},
                                             {"moved by", "ceiling"},
                                             {"wholly", "at least"},
                                             {"read unchecked", "verify"},
                                             {"Touches", "touches"},
                                             {"fastest read", "session"},
                                             {"9 of 20", "undisturbed blocks"},
                                             {"TPOT at least", "TPOT"},
                                             {"whether the order of slots matters", "leaves something behind"}};
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        const struct ifm_entry *found = ifm_glossary_find(&words, phrases[i][0]);
        assert_non_null(found);
        assert_string_equal(found->word, phrases[i][1]);
    }
}

/* The longest phrase of a pasted line says what it is about, and a word that an entry begins with where there is none.
 */
static void a_sentence_is_explained(void **state)
{
    (void)state;
    static const char *const sentences[][2] = {
        {"wholly at or below 3 %", "at least"},
        {"f16 reaches 79.3 to 90.9 % of a read ceiling", "weak baseline"},
        {"of a read ceiling that moved between 42.5 GB/s (10th percentile) and 48.7", "ceiling"},
        {"attention KL infinite (tokens dropped), TV 0.24", "KL"},
        {"nearer: f16 (share of the read ceiling) +25.8 %", "nearer"},
        {"seed is 1 in the reference and 2 here", "not comparable"},
        {"the time of a run drifts by +6.33 % from start to end", "drift"},
        {"new is slower than old", "slower"},
        {"a token goes through 2 of 8 experts", "token"},
        {"an hour more may not decide", "inconclusive"},
    };
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        const struct ifm_entry *found = ifm_glossary_within(&words, sentences[i][0]);
        if (found == NULL || strcmp(found->word, sentences[i][1]) != 0)
            fail_msg("\"%s\": %s", sentences[i][0], found == NULL ? "nothing" : found->word);
    }
    assert_null(ifm_glossary_within(&words, "b is like a"));
}

/* Numbers, signs and units of a line that was pasted. */
static void numbers_are_left_out_of_a_question(void **state)
{
    (void)state;
    static const struct {
        const char *text, *with_units, *without;
    } asked[] = {{"1.87x smaller", "smaller", NULL},
                 {"faster 1.47x", "faster", "faster"},
                 {"±0.13", "±", "±"},
                 {"±<0.001", "±", "±"},
                 {"speed-up ±0.13", "speed-up", "speed-up"},
                 {"TPOT 12.3 ms", "TPOT ms", "TPOT"},
                 {"p50 [0.50, 1.57] %", "p50", "p50"},
                 {"int8 -3 %", "int8", "int8"},
                 {"12.5", NULL, NULL},
                 {"twin", NULL, NULL},
                 {"", NULL, NULL}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const char *const wanted[] = {asked[i].without, asked[i].with_units};
        for (int units = 0; units < 2; units++) {
            const char *got = ifm_glossary_without_numbers(asked[i].text, units, arena);
            if ((got == NULL) != (wanted[units] == NULL) || (got != NULL && strcmp(got, wanted[units]) != 0))
                fail_msg("\"%s\": %s", asked[i].text, got == NULL ? "nothing" : got);
        }
    }
}

/* docs/glossary.md below its line. IFM_BLESS=1 writes it anew. */
static void the_glossary_is_true(void **state)
{
    static const char page[] = "docs/glossary.md", line[] = "<!-- Below this line";
    struct ifm_error error = {0};
    struct ifm_text wanted = {0};
    char *data;
    size_t size;
    (void)state;
    assert_int_equal(ifm_file_read(page, 1 << 24, &data, &size, &error), IFM_OK);
    const char *cut = strstr(data, line);
    assert_non_null(cut);
    cut = strchr(cut, '\n');
    assert_non_null(cut);
    ifm_text_append(&wanted, data, (size_t)(cut + 1 - data));
    ifm_text_add(&wanted, "\n");
    ifm_glossary_markdown(&words, &wanted);
    if (getenv("IFM_BLESS") != NULL)
        assert_int_equal(ifm_file_write_atomic(page, wanted.data, wanted.size, &error), IFM_OK);
    else if (size != wanted.size || memcmp(data, wanted.data, size) != 0)
        fail_msg("%s differs from data/words.txt: run IFM_BLESS=1 build/tests/test_glossary at the root", page);
    ifm_text_free(&wanted);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_whole),
        cmocka_unit_test(the_page_of_pays_says_when_it_does),
        cmocka_unit_test(no_name_stands_for_two_things),
        cmocka_unit_test(names_are_found_however_they_are_written),
        cmocka_unit_test(what_is_printed_is_explained),
        cmocka_unit_test(a_sentence_is_explained),
        cmocka_unit_test(numbers_are_left_out_of_a_question),
        cmocka_unit_test(the_glossary_is_true),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
