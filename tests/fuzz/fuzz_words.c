/* Any text as a command line: words that, quoted, split into themselves again, or one fault at a byte of the text; and
 * the name that its arm would get, with and without a shell. */
#include "base/text.h"
#include "workload/command/command.h"
#include "workload/command/names.h"
#include "workload/command/words.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* 'it'\''s': inside quotes everything is itself, and a quote stands outside of them. */
static void quote(const char *word, struct ifm_text *text)
{
    ifm_text_add(text, "'");
    for (; *word != '\0'; word++)
        if (*word == '\'')
            ifm_text_add(text, "'\\''");
        else
            ifm_text_printf(text, "%c", *word);
    ifm_text_add(text, "' ");
}

static void split_again(const struct ifm_words *words, struct ifm_arena *arena)
{
    struct ifm_text text = {0};
    for (size_t i = 0; i < words->n; i++)
        quote(words->items[i], &text);
    struct ifm_words again = ifm_words_split(text.data, arena);
    if (again.fault != IFM_WORDS_OK || again.n != words->n || words->items[words->n] != NULL)
        abort();
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(again.items[i], words->items[i]) != 0)
            abort();
    ifm_text_free(&text);
}

static void split(const char *text, size_t length, struct ifm_arena *arena)
{
    struct ifm_words words = ifm_words_split(text, arena);
    struct ifm_error error = {0};
    enum ifm_status status = ifm_words_fail(&words, "fuzz", &error);
    if ((status == IFM_OK) != (words.fault == IFM_WORDS_OK))
        abort();
    if (status == IFM_OK)
        split_again(&words, arena);
    else if (words.at < 1 || words.at > length + 1 || error.message[0] == '\0' || error.hint[0] == '\0')
        abort();
}

static void name(const char *text, bool shell, struct ifm_arena *arena)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    const char *name = NULL;
    struct ifm_error error = {0};
    if (ifm_command_name(text, shell, "fuzz", arena, &name, &error) != IFM_OK)
        return;
    if (name[0] == '\0' || name[strspn(name, letters)] != '\0' || strlen(name) > 48)
        abort();
}

/* Two lines, the text and its end, beside a third that is the text again. */
static void names(const char *text, bool shell, struct ifm_arena *arena)
{
    const char *const lines[] = {text, text + strlen(text) / 2, text};
    const char *names[3];
    bool numbered;
    struct ifm_error error = {0};
    if (ifm_command_names(lines, 3, shell, arena, names, &numbered, &error) != IFM_OK)
        return;
    for (size_t i = 0; i < 3; i++)
        if (names[i][0] == '\0' || strlen(names[i]) > 48 || strcmp(names[i], names[(i + 1) % 3]) == 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    char *text = malloc(size + 1); /* exactly as long as it is, so that a read beyond is seen */
    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    split(text, strlen(text), arena);
    name(text, false, arena);
    name(text, true, arena);
    names(text, false, arena);
    names(text, true, arena);
    free(text);
    ifm_arena_destroy(arena);
    return 0;
}
