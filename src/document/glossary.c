/* Words and what they mean: lines "key: value", one that begins with a space goes on with the value before it. */
#include "document/glossary.h"

#include "model/embedded.h"
#include "model/metric.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

static void put(struct ifm_glossary *words, const char *key, const char *value, struct ifm_arena *arena)
{
    if (strcmp(key, "word") == 0) {
        IFM_ARENA_GROW(arena, words->items, words->n, words->capacity);
        words->items[words->n++] = (struct ifm_entry){value, "", "", ""};
        return;
    }
    struct ifm_entry *last = &words->items[words->n - 1];
    *(strcmp(key, "also") == 0 ? &last->also : strcmp(key, "says") == 0 ? &last->says : &last->see) = value;
}

/* The text was checked when it was built into the command (tests/unit/test_glossary.c). */
struct ifm_glossary ifm_glossary_read(struct ifm_arena *arena)
{
    struct ifm_glossary words = {0};
    const char *key = "", *value = "";
    char *text = ifm_arena_strdup(arena, ifm_embedded_words[0].data), *rest = text;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        if (line[0] == ' ') {
            value = ifm_arena_printf(arena, "%s%s", value, line);
            put(&words, key, value, arena);
            continue;
        }
        char *colon = line[0] == '#' ? NULL : strstr(line, ": ");
        if (colon == NULL)
            continue;
        *colon = '\0';
        key = line;
        value = colon + 2;
        put(&words, key, value, arena);
    }
    return words;
}

static char plain(char letter)
{
    return letter == '-' || letter == '_' ? ' ' : (char)tolower((unsigned char)letter);
}

/* The digits of a number, a decimal one too. */
static size_t number_at(const char *text)
{
    const size_t n = strspn(text, "0123456789");
    return n > 0 && text[n] == '.' && isdigit((unsigned char)text[n + 1]) ? n + 1 + strspn(text + n + 1, "0123456789")
                                                                          : n;
}

/* Behind the phrase that is `size` letters long, where `text` begins with it; NULL = it does not. "N" stands for any
 * number: "1 in N" is "1 in 20". */
static const char *past(const char *text, const char *phrase, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const bool word = (i == 0 || phrase[i - 1] == ' ') && (i + 1 == size || phrase[i + 1] == ' ');
        const size_t digits = phrase[i] == 'N' && word ? number_at(text) : 0;
        if (digits == 0 && plain(*text) != plain(phrase[i]))
            return NULL;
        text += digits > 0 ? digits : 1;
    }
    return text;
}

/* The piece of `list` between commas that begins at `from` says `text`; `next` is where the next one begins. */
static bool piece_is(const char *from, const char *text, const char **next)
{
    const size_t size = strcspn(from, ",");
    *next = from[size] == '\0' ? NULL : from + size + 1 + strspn(from + size + 1, " ");
    const char *end = size > 0 ? past(text, from, size) : NULL;
    return end != NULL && *end == '\0';
}

static bool list_has(const char *list, const char *text)
{
    for (const char *at = list, *next; at != NULL; at = next)
        if (piece_is(at, text, &next))
            return true;
    return false;
}

const struct ifm_entry *ifm_glossary_find(const struct ifm_glossary *words, const char *text)
{
    for (size_t i = 0; i < words->n; i++)
        if (list_has(words->items[i].word, text) || list_has(words->items[i].also, text))
            return &words->items[i];
    return NULL;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
/* Letters of a single word that says what a sentence is about; of one that an entry begins with, where none does. */
enum { TELLING = 9, TITLE = 5 };

/* Does the sentence hold the phrase that is `size` letters long, as whole words? */
static bool holds(const char *sentence, const char *phrase, size_t size)
{
    for (const char *at = sentence; *at != '\0'; at++) {
        const char *end = at == sentence || !isalnum((unsigned char)at[-1]) ? past(at, phrase, size) : NULL;
        if (end != NULL && !isalnum((unsigned char)*end))
            return true;
    }
    return false;
}

/* The entry of the longest phrase that the sentence holds; `titles`: of what entries begin with alone, as "slower" in
 * "b is slower than a". */
static const struct ifm_entry *longest_within(const struct ifm_glossary *words, const char *sentence, bool titles)
{
    const struct ifm_entry *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < words->n; i++) {
        const char *const lists[] = {words->items[i].word, titles ? "" : words->items[i].also};
        for (size_t l = 0; l < 2; l++)
            for (const char *at = lists[l], *next; at != NULL && at[0] != '\0'; at = next) {
                const size_t size = strcspn(at, ","), least = titles ? TITLE : TELLING;
                next = at[size] == '\0' ? NULL : at + size + 1 + strspn(at + size + 1, " ");
                const bool bare = memchr(at, ' ', size) == NULL || strncmp(at, "N ", 2) == 0; /* "N of N" */
                if (size <= longest || (bare && size < least) || !holds(sentence, at, size))
                    continue;
                best = &words->items[i];
                longest = size;
            }
    }
    return best;
}

const struct ifm_entry *ifm_glossary_within(const struct ifm_glossary *words, const char *sentence)
{
    const struct ifm_entry *best = longest_within(words, sentence, false);
    return best != NULL ? best : longest_within(words, sentence, true);
}

/* "1.87x", "+3", "[0.50,", "±<0.001" */
static bool is_number(const char *piece)
{
    const char *at = piece;
    while (*at != '\0' && (strchr("+-.,<>=~([", *at) != NULL || (unsigned char)*at >= 0x80))
        at++;
    return isdigit((unsigned char)*at);
}

const char *ifm_glossary_without_numbers(const char *text, bool units, struct ifm_arena *arena)
{
    const char *left = "";
    bool numbers = false, behind = false;
    char *copy = ifm_arena_strdup(arena, text), *rest = copy;
    for (char *piece = strsep(&rest, " \t\n"); piece != NULL; piece = strsep(&rest, " \t\n")) {
        const bool number = is_number(piece), sign = strpbrk(piece, LETTERS) == NULL;
        numbers |= number;
        piece[strcspn(piece, ",;:)]")] = '\0';
        if (!number && !sign && (units || !behind))
            left = ifm_arena_printf(arena, "%s%s%s", left, left[0] == '\0' ? "" : " ", piece);
        behind = number;
    }
    if (left[0] == '\0' && strstr(text, "±") != NULL)
        left = "±";
    return numbers && left[0] != '\0' ? left : NULL;
}

/* Letters of the word of `size` letters without its ending: "pay" of "pays" and "paying", "measur" of "measure" and
 * "measured", "stop" of "stopped"; 0 = too little is left of it, or it is no word. */
static size_t stem_of(const char *word, size_t size)
{
    static const char *const endings[] = {"ing", "ed", "es", "er", "ly", "s", "e"};
    enum { LEAST = 3 };
    size_t left = size;
    if (strspn(word, LETTERS) < size)
        return 0;
    for (size_t i = 0; left == size && i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i]);
        if (size >= length + LEAST && strncasecmp(word + size - length, endings[i], length) == 0)
            left = size - length;
    }
    if (left < size && left > LEAST && plain(word[left - 1]) == plain(word[left - 2]))
        left--;
    return left >= LEAST ? left : 0;
}

/* The first of `all` that is another form of the word, else the first that begins with one; NULL = none. */
static const char *another_form(const char *word, const char *const *all, size_t n)
{
    const size_t size = stem_of(word, strlen(word));
    const char *begins = NULL;
    for (size_t i = 0; size > 0 && i < n; i++) {
        const size_t first = strcspn(all[i], " ");
        if (stem_of(all[i], first) != size || strncasecmp(all[i], word, size) != 0)
            continue;
        if (all[i][first] == '\0')
            return all[i];
        begins = begins == NULL ? all[i] : begins;
    }
    return begins;
}

const char *ifm_glossary_nearest(const struct ifm_glossary *words, const char *text, struct ifm_arena *arena)
{
    const char **all = NULL;
    size_t n = 0, capacity = 0;
    for (int m = IFM_M_NONE + 1; m < IFM_M_COUNT; m++) {
        IFM_ARENA_GROW(arena, all, n, capacity);
        all[n++] = ifm_metrics[m].id;
    }
    for (size_t i = 0; i < words->n; i++) {
        char *list = ifm_arena_printf(arena, "%s, %s", words->items[i].word, words->items[i].also), *rest = list;
        for (char *piece = strsep(&rest, ","); piece != NULL; piece = strsep(&rest, ",")) {
            IFM_ARENA_GROW(arena, all, n, capacity);
            all[n++] = piece + strspn(piece, " ");
        }
    }
    const char *other = another_form(text, all, n);
    return other != NULL ? other : ifm_nearest(text, all, n);
}

void ifm_glossary_markdown(const struct ifm_glossary *words, struct ifm_text *out)
{
    for (size_t i = 0; i < words->n; i++) {
        const struct ifm_entry *word = &words->items[i];
        ifm_text_printf(out, "- **%s**%s%s%s: %s", word->word, word->also[0] == '\0' ? "" : " (", word->also,
                        word->also[0] == '\0' ? "" : ")", word->says);
        if (strstr(word->see, ".md") != NULL && strchr(word->see, ' ') == NULL)
            ifm_text_printf(out, " [%s](%s)", word->see, word->see);
        else if (word->see[0] != '\0')
            ifm_text_printf(out, " See `%s`.", word->see);
        ifm_text_add(out, "\n");
    }
}
