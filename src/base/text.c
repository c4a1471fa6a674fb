/* The growing string and the nearest word. */
#include "base/text.h"

#include "base/called.h"
#include "base/log.h"
#include "base/plain.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make room for `n` more bytes and the terminator. */
static void reserve(struct ifm_text *text, size_t n)
{
    if (n >= SIZE_MAX / 2 - text->size)
        ifm_die("a text of more than %zu bytes", SIZE_MAX / 2);
    size_t needed = text->size + n + 1;
    if (needed <= text->capacity)
        return;
    size_t capacity = text->capacity == 0 ? 256 : text->capacity * 2;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (data == NULL)
        ifm_die("out of memory: a text of %zu bytes", capacity);
    text->data = data;
    text->capacity = capacity;
}

void ifm_text_append(struct ifm_text *text, const char *bytes, size_t n)
{
    reserve(text, n);
    if (n > 0)
        memcpy(text->data + text->size, bytes, n);
    text->size += n;
    text->data[text->size] = '\0';
}

void ifm_text_add(struct ifm_text *text, const char *string)
{
    ifm_text_append(text, string, strlen(string));
}

void ifm_text_printf(struct ifm_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    reserve(text, 0);
    size_t room = text->capacity - text->size;
    int length = vsnprintf(text->data + text->size, room, format, arguments);
    va_end(arguments);
    if (length < 0)
        ifm_die("cannot format a text");
    if ((size_t)length >= room) { /* mostly there is room, and it is formatted once */
        reserve(text, (size_t)length);
        vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
    }
    va_end(again);
    text->size += (size_t)length;
}

void ifm_text_add_i64(struct ifm_text *text, int64_t number)
{
    char digits[24];
    char *end = digits + sizeof digits, *at = end;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0)
        *--at = '-';
    ifm_text_append(text, at, (size_t)(end - at));
}

void ifm_text_clear(struct ifm_text *text)
{
    text->size = 0;
    if (text->data != NULL)
        text->data[0] = '\0';
}

void ifm_text_free(struct ifm_text *text)
{
    free(text->data);
    *text = (struct ifm_text){0};
}

/* Bytes up to the next blank; those between `...` are a command to copy, and its blanks are none, nor is that before a
 * sign of percent. */
static size_t word_bytes(const char *text)
{
    size_t length = 0;
    while ((text[length] != ' ' || text[length + 1] == '%') && text[length] != '\0') {
        const char *end = text[length] == '`' ? strchr(text + length + 1, '`') : NULL;
        length = end == NULL ? length + 1 : (size_t)(end + 1 - text);
    }
    return length;
}

size_t ifm_text_wrap(struct ifm_text *out, const char *text, size_t width, size_t column, size_t margin)
{
    for (bool first = true; *text != '\0'; first = false) {
        size_t length = word_bytes(text), columns = 0, blank = first ? 0 : 1;
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (column > margin && column + blank + columns > width) {
            while (out->size > 0 && out->data[out->size - 1] == ' ')
                out->data[--out->size] = '\0';
            ifm_text_printf(out, "\n%*s", (int)margin, "");
            column = margin;
        } else if (!first) {
            ifm_text_add(out, " ");
            column++;
        }
        ifm_text_append(out, text, length);
        column += columns;
        text += length;
        text += strspn(text, " ");
    }
    return column;
}

const char *ifm_text_keep(struct ifm_text *text, struct ifm_arena *arena)
{
    const char *kept = text->size == 0 ? "" : ifm_arena_strdup(arena, text->data);
    ifm_text_free(text);
    return kept;
}

const char *ifm_text_plain(const char *text, struct ifm_arena *arena)
{
    char *line = ifm_arena_strdup(arena, text);
    ifm_plain_make(line);
    return line;
}

const char *ifm_text_typed(const char *text, struct ifm_arena *arena)
{
    struct ifm_text out = {0};
    size_t before = ifm_called_before(text);
    if (text[before] == '\0')
        return text;
    for (; text[before] != '\0'; before = ifm_called_before(text)) {
        ifm_text_append(&out, text, before);
        ifm_text_add(&out, ifm_called_as());
        text += before + IFM_CALLED_BYTES;
    }
    ifm_text_add(&out, text);
    return ifm_text_keep(&out, arena);
}

enum { LONGEST_WORD = 64 };

/* Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours each cost one. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_WORD || m > LONGEST_WORD)
        return SIZE_MAX;
    size_t row[3][LONGEST_WORD + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *before = row[(i - 1) % 3], *twice = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && twice[j - 2] + 1 < best)
                best = twice[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

/* Whether `word` is the first or last part of `name`: "heads" of "q-heads", "seq" of "seq-len". */
static bool is_part(const char *word, const char *name)
{
    size_t length = strlen(word), size = strlen(name);
    if (length < 3 || length >= size)
        return false;
    bool first = strncmp(name, word, length) == 0 && strchr("-_.", name[length]) != NULL;
    const char *tail = name + size - length;
    return first || (strcmp(tail, word) == 0 && strchr("-_.", tail[-1]) != NULL);
}

const char *ifm_nearest(const char *word, const char *const *words, size_t n)
{
    size_t length = strlen(word), limit = length / 3;
    if (limit < 2)
        limit = length < 4 ? 1 : 2;
    const char *nearest = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t distance = edit_distance(word, words[i]);
        /* A distance as long as the word matches anything. */
        if (distance <= limit && distance < strlen(words[i])) {
            nearest = words[i];
            limit = distance == 0 ? 0 : distance - 1;
            if (distance == 0)
                break;
        }
    }
    /* A typing error of one letter counts as nearer than a matching part; two or more do not. */
    bool is_slip = nearest != NULL && edit_distance(word, nearest) <= 1;
    for (size_t i = 0; !is_slip && i < n; i++)
        if (is_part(word, words[i]))
            return words[i];
    return nearest;
}

bool ifm_text_lists(const char *list, size_t n, const char *item)
{
    const char *const end = list + n;
    const size_t length = strlen(item);
    for (;;) {
        const char *comma = memmem(list, (size_t)(end - list), ", ", 2), *stop = comma == NULL ? end : comma;
        if ((size_t)(stop - list) == length && memcmp(list, item, length) == 0)
            return true;
        if (comma == NULL)
            return false;
        list = comma + 2;
    }
}

void ifm_text_add_once(struct ifm_text *list, const char *item)
{
    if (list->size == 0)
        ifm_text_add(list, item);
    else if (!ifm_text_lists(list->data, list->size, item))
        ifm_text_printf(list, ", %s", item);
}

bool ifm_text_is_bracketed(const char *text, const char *at)
{
    int open = 0;
    for (; text < at; text++)
        open += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
    return open > 0;
}

const char *ifm_text_clause_end(const char *text, const char *end)
{
    const char *at = strstr(text, end);
    while (at != NULL && ifm_text_is_bracketed(text, at))
        at = strstr(at + 1, end);
    return at;
}

const char *ifm_text_alike(const char *text, const char *like)
{
    static const char figures[] = "0123456789.";
    for (;; text++, like++) {
        text += strspn(text, figures);
        like += strspn(like, figures);
        if (*like == '\0' || *text != *like)
            return *like == '\0' ? text : NULL;
    }
}
