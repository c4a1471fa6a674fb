/* Splitting a command line into words. */
#include "workload/command/words.h"

#include <stdbool.h>
#include <string.h>

struct splitter {
    const char *text;
    size_t at;
    char *out; /* as long as the text: a word is never longer than what it was written as */
    struct ifm_words words;
};

static void fault(struct splitter *splitter, enum ifm_words_fault what, size_t at)
{
    splitter->words.fault = what;
    splitter->words.at = at + 1;
    splitter->words.what = splitter->text[at];
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A name and "=" at the very start is an assignment to a shell: the length up to "=", else 0. */
static size_t assignment(const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t length = strspn(word, letters);
    return length > 0 && (word[0] < '0' || word[0] > '9') && word[length] == '=' ? length : 0;
}

/* Inside '...': everything is itself. */
static void single_quoted(struct splitter *splitter)
{
    size_t open = splitter->at++;
    for (; splitter->text[splitter->at] != '\''; splitter->at++) {
        if (splitter->text[splitter->at] == '\0') {
            fault(splitter, IFM_WORDS_UNBALANCED, open);
            return;
        }
        *splitter->out++ = splitter->text[splitter->at];
    }
    splitter->at++;
}

/* Inside "...": a backslash protects only $ ` " \ and the end of a line; $ and ` would be expanded. */
static void double_quoted(struct splitter *splitter)
{
    size_t open = splitter->at++;
    for (; splitter->text[splitter->at] != '"'; splitter->at++) {
        const char *here = splitter->text + splitter->at;
        if (*here == '\0' || (*here == '\\' && here[1] == '\0')) {
            fault(splitter, IFM_WORDS_UNBALANCED, open);
            return;
        }
        if (*here == '$' || *here == '`') {
            fault(splitter, IFM_WORDS_SHELL, splitter->at);
            return;
        }
        bool escape = *here == '\\' && strchr("$`\"\\\n", here[1]) != NULL;
        if (escape)
            splitter->at++;
        if (!escape || here[1] != '\n')
            *splitter->out++ = escape ? here[1] : *here;
    }
    splitter->at++;
}

static void escaped(struct splitter *splitter)
{
    char next = splitter->text[splitter->at + 1];
    if (next == '\0') {
        fault(splitter, IFM_WORDS_UNBALANCED, splitter->at);
        return;
    }
    if (next != '\n') /* a line that goes on */
        *splitter->out++ = next;
    splitter->at += 2;
}

/* One word from `at` on, up to an unquoted blank, the end or a fault. */
static void read_word(struct splitter *splitter)
{
    size_t start = splitter->at;
    while (splitter->words.fault == IFM_WORDS_OK) {
        char c = splitter->text[splitter->at];
        bool first = splitter->at == start;
        if (c == '\0' || is_blank(c))
            return;
        if (c == '\'')
            single_quoted(splitter);
        else if (c == '"')
            double_quoted(splitter);
        else if (c == '\\')
            escaped(splitter);
        else if (strchr("|><&;$`*?()\n", c) != NULL || (first && (c == '~' || c == '#')))
            fault(splitter, IFM_WORDS_SHELL, splitter->at);
        else {
            *splitter->out++ = c;
            splitter->at++;
        }
    }
}

struct ifm_words ifm_words_split(const char *text, struct ifm_arena *arena)
{
    size_t length = strlen(text);
    struct splitter splitter = {.text = text, .out = ifm_arena_alloc(arena, 2 * length + 2)};
    char **items = IFM_ARENA_ARRAY(arena, char *, length / 2 + 2);
    splitter.at = strspn(text, " \t");
    size_t equals = assignment(text + splitter.at);
    if (equals > 0)
        fault(&splitter, IFM_WORDS_SHELL, splitter.at + equals);
    while (text[splitter.at] != '\0' && splitter.words.fault == IFM_WORDS_OK) {
        items[splitter.words.n++] = splitter.out;
        read_word(&splitter);
        *splitter.out++ = '\0';
        splitter.at += strspn(text + splitter.at, " \t");
    }
    if (splitter.words.n == 0 && splitter.words.fault == IFM_WORDS_OK)
        fault(&splitter, IFM_WORDS_EMPTY, length);
    if (splitter.words.fault == IFM_WORDS_OK && items[0][0] == '\0')
        fault(&splitter, IFM_WORDS_EMPTY, 0); /* '' names no program */
    if (splitter.words.fault == IFM_WORDS_OK)
        splitter.words.items = items;
    return splitter.words;
}

enum ifm_status ifm_words_fail(const struct ifm_words *words, const char *where, struct ifm_error *error)
{
    switch (words->fault) {
    case IFM_WORDS_OK:
        return IFM_OK;
    case IFM_WORDS_EMPTY:
        return ifm_fail(error, IFM_USAGE, where, "write the program and its arguments as one argument, such as 'ls -l'",
                        "the command is empty");
    case IFM_WORDS_UNBALANCED:
        return ifm_fail(error, IFM_USAGE, where, "close the quote, or put a backslash before it",
                        words->what == '\\'  ? "the backslash at character %zu stands before nothing"
                        : words->what == '"' ? "the quote \" at character %zu is not closed"
                                             : "the quote ' at character %zu is not closed",
                        words->at);
    case IFM_WORDS_SHELL:
        break;
    }
    static const char hint[] = "quote it if it is meant as it stands, or add --shell to run the command under /bin/sh";
    if (words->what == '=')
        return ifm_fail(error, IFM_USAGE, where, "begin with env, as in 'env NAME=VALUE program', or add --shell",
                        "the assignment with = at character %zu needs a shell", words->at);
    if (words->what == '\n')
        return ifm_fail(error, IFM_USAGE, where, hint, "the line break at character %zu needs a shell", words->at);
    return ifm_fail(error, IFM_USAGE, where, hint, "%c at character %zu needs a shell", words->what, words->at);
}
