/* Two texts are the same but for how their reals are written: property tests over drawn pairs. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/random.h"
#include "publish/same.h"
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { PAIRS = 50000, MOST = 48, AT_MOST_S = 30 };

static struct ifm_error error;

static bool same(const char *a, const char *b)
{
    const struct ifm_same how = {.file = "report.md", .words = true};
    const struct ifm_text record = {.data = (char *)b, .size = strlen(b)};
    return ifm_same_texts(&how, a, strlen(a), &record, &error) == IFM_OK;
}

/* The function ends, and the order of its texts changes nothing. */
static bool both_ways(const char *a, const char *b)
{
    bool answer = same(a, b);
    if (answer != same(b, a))
        fail_msg("'%s' against '%s' is not symmetric", a, b);
    return answer;
}

static void a_difference_after_an_equal_number_is_found(void **state)
{
    (void)state;
    assert_false(both_ways("a 1.5 b", "a 1.5,b"));
    assert_false(both_ways("1.5ms", "1.5us"));
    assert_false(both_ways("1.5", "1.5 "));
    assert_false(both_ways("1.5 and 2.5", "1.50 und 2.5"));
    assert_false(both_ways("", "1.5"));
    assert_true(both_ways("a 1.5 b", "a 1.50 b"));
    assert_true(both_ways("0.1,x", "0.10000000000000001,x"));
    assert_true(both_ways("1.5e3 s", "1500.0 s"));
    assert_false(both_ways("1.5", "1.6"));
    assert_false(both_ways("15", "15.0")); /* an integer is compared exactly */
    assert_false(both_ways("1.2.3", "1.2.30"));
}

static bool same_trees(const char *a, const char *b, bool words)
{
    struct ifm_arena *arena = ifm_arena_create();
    const struct ifm_same how = {.file = "derived.json", .words = words, .arena = arena};
    json_t *file = json_loads(a, 0, NULL), *record = json_loads(b, 0, NULL);
    assert_true(file != NULL && record != NULL);
    const bool answer = ifm_same_trees(&how, file, record, &error) == IFM_OK;
    json_decref(file);
    json_decref(record);
    ifm_arena_destroy(arena);
    return answer;
}

/* A folder of before spreads were written is whole without them; what one has of them is held to the record. */
static void an_earlier_version_has_no_spread(void **state)
{
    (void)state;
    static const char without[] = "{\"value\": 1}", with[] = "{\"value\": 1, \"sd\": 0.5}";
    assert_true(same_trees(without, with, false));
    assert_true(same_trees(with, with, false));
    assert_false(same_trees(without, with, true)); /* of this very version */
    assert_false(same_trees("{\"value\": 1, \"sd\": 0.4}", with, false));
    assert_false(same_trees(with, without, false));
    assert_false(same_trees("{\"sd\": 0.5}", with, false));
}

/* Few different characters, so that numbers and equal beginnings are common. */
static void draw(struct ifm_random *random, char text[MOST + 1])
{
    static const char characters[] = "0115.e-+ x\n";
    size_t n = ifm_random_below(random, MOST);
    for (size_t i = 0; i < n; i++)
        text[i] = characters[ifm_random_below(random, sizeof characters - 1)];
    text[n] = '\0';
}

static void any_pair_ends_and_is_symmetric(void **state)
{
    (void)state;
    struct ifm_random random = ifm_random_start(12, 0);
    char a[MOST + 1], b[MOST + 1];
    for (int i = 0; i < PAIRS; i++) {
        draw(&random, a);
        draw(&random, b);
        if (both_ways(a, b) != (strcmp(a, b) == 0) && strpbrk(a, ".") == NULL)
            fail_msg("without a real, '%s' and '%s' are the same only when they are equal", a, b);
        assert_true(both_ways(a, a));
        memcpy(b, a, sizeof b); /* one character of the same text changes */
        size_t n = strlen(a);
        if (n > 0)
            b[ifm_random_below(&random, (uint32_t)n)] = "07.x"[ifm_random_below(&random, 4)];
        (void)both_ways(a, b);
    }
}

/* The same words and reals, each real written in another way. Then one thing changes, and they differ. */
static void equal_means_equal_but_for_how_reals_are_written(void **state)
{
    (void)state;
    static const int digits[] = {17, 16, 20};
    static const char *const between[] = {" ", ",", "x ", "\n| ", " 7 "};
    struct ifm_random random = ifm_random_start(12, 1);
    for (int i = 0; i < PAIRS / 10; i++) {
        char a[512] = "", b[512] = "", c[512] = "";
        uint32_t n = 1 + ifm_random_below(&random, 5), other = ifm_random_below(&random, n);
        bool word = ifm_random_below(&random, 2) == 0;
        for (uint32_t k = 0; k < n; k++) {
            double number = ifm_random_normal(&random) * 1e6;
            char *texts[] = {a, b, c};
            const char *space = between[ifm_random_below(&random, 5)];
            for (size_t t = 0; t < 3; t++) {
                size_t size = strlen(texts[t]);
                bool changes = t == 2 && k == other;
                size += (size_t)snprintf(texts[t] + size, 512 - size, "%.*e", digits[ifm_random_below(&random, 3)],
                                         number * (changes && !word ? 1 + 1e-9 : 1));
                snprintf(texts[t] + size, 512 - size, "%s", changes && word ? "!" : space);
            }
        }
        if (!both_ways(a, b))
            fail_msg("'%s' and '%s' differ only in how their reals are written", a, b);
        if (both_ways(a, c))
            fail_msg("'%s' and '%s' differ", a, c);
    }
}

int main(void)
{
    /* Of processor time: a busy machine is no endless loop. */
    const struct itimerval limit = {.it_value.tv_sec = AT_MOST_S};
    setitimer(ITIMER_PROF, &limit, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_earlier_version_has_no_spread),
        cmocka_unit_test(a_difference_after_an_equal_number_is_found),
        cmocka_unit_test(any_pair_ends_and_is_symmetric),
        cmocka_unit_test(equal_means_equal_but_for_how_reals_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
