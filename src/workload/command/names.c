/* Names for commands of one program: the variable, script or option that differs in all of them, or the nearest folder
 * of such scripts and programs. Of the very same command, or where nothing may be told, which one it is. */
#include "workload/command/names.h"

#include "base/text.h"
#include "workload/command/command.h"
#include "workload/command/files.h"
#include "workload/command/words.h"
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LONGEST_PIECE = 24,   /* a longer one makes a table wide */
    LONGEST_PROGRAM = 18, /* in front of a piece: a name has 48 characters at most, "-10th" behind it */
};

/* Lines of one program; the first word of each is what sets the program up. */
struct kin {
    struct ifm_words *words;
    const char **pieces;
    size_t n, first, last; /* words before `first`, and `last` at the end, are the same in all */
};

/* To a shell a line is more than words, but those without a special character mean the same to it. */
static struct ifm_words split(const char *line, bool shell, struct ifm_arena *arena)
{
    if (!shell)
        return ifm_words_split(line, arena);
    struct ifm_words words = {.items = IFM_ARENA_ARRAY(arena, char *, strlen(line) / 2 + 2)};
    char *text = ifm_arena_strdup(arena, line), *rest = text;
    for (char *word = strsep(&rest, " \t\n"); word != NULL; word = strsep(&rest, " \t\n"))
        if (word[0] != '\0')
            words.items[words.n++] = word;
    return words;
}

/* The words in front of the program that a line measures: "env A=1", and to a shell "A=1". */
static size_t count_set_up(const struct ifm_words *words, bool shell, struct ifm_arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:%@";
    size_t at = 0;
    while (shell && at < words->n && strchr(words->items[at], '=') != NULL)
        at++;
    if (at == words->n)
        return 0;
    char *const *argv = words->items + at;
    if (ifm_command_wrapped(argv[0], &argv, arena) != NULL)
        at = (size_t)(argv - words->items);
    for (size_t i = 0; shell && at > 0 && i <= at; i++) /* of quotes and expansions nothing is known */
        at = words->items[i][strspn(words->items[i], plain)] == '\0' ? at : 0;
    return at;
}

/* "-A_B" of `env A=1 B=2`, "-nice" of `nice -n 5`: never a value. */
static const char *set_up_by(const struct ifm_words *words, size_t n, struct ifm_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++) {
        const char *word = words->items[i], *equals = strchr(word, '=');
        if (equals != NULL && word[0] != '-')
            text = ifm_arena_printf(arena, "%s%s%.*s", text, text[0] == '\0' ? "-" : "_", (int)(equals - word), word);
    }
    return n == 0 || text[0] != '\0' ? text : ifm_arena_printf(arena, "-%s", ifm_command_base(words->items[0], arena));
}

/* Its program, and what it is given, behind one word for what sets it up, or an empty one. */
static struct ifm_words words_of(const char *line, bool shell, struct ifm_arena *arena)
{
    const struct ifm_words all = split(line, shell, arena);
    struct ifm_words words = {.items = IFM_ARENA_ARRAY(arena, char *, all.n + 2)};
    const size_t n = count_set_up(&all, shell, arena);
    words.items[words.n++] = ifm_arena_strdup(arena, set_up_by(&all, n, arena));
    for (size_t i = n; i < all.n; i++)
        words.items[words.n++] = all.items[i];
    return words;
}

static const char *word_at(const struct kin *kin, size_t line, size_t at)
{
    const struct ifm_words *words = &kin->words[line];
    return kin->first + at + kin->last < words->n ? words->items[kin->first + at] : "";
}

/* How many words differ, in the line that has most of them. */
static size_t count_differing(struct kin *kin)
{
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < kin->n; i++) {
        least = kin->words[i].n < least ? kin->words[i].n : least;
        most = kin->words[i].n > most ? kin->words[i].n : most;
    }
    bool same = true;
    while (same && kin->first < least) {
        for (size_t i = 1; i < kin->n; i++)
            same &= strcmp(kin->words[i].items[kin->first], kin->words[0].items[kin->first]) == 0;
        kin->first += same;
    }
    for (same = true; same && kin->first + kin->last < least;) {
        for (size_t i = 1; i < kin->n; i++)
            same &= strcmp(kin->words[i].items[kin->words[i].n - 1 - kin->last],
                           kin->words[0].items[kin->words[0].n - 1 - kin->last]) == 0;
        kin->last += same;
    }
    return most - kin->first - kin->last;
}

static bool all_differ(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return false;
    return true;
}

/* A program by itself, or what an interpreter runs. */
static bool is_program(const char *word)
{
    static const char *const endings[] = {".py", ".sh", ".pl", ".rb", ".js", ".lua", ".R", ".jl", ".php"};
    const char *dot = strrchr(word, '.');
    struct stat file;
    if (stat(word, &file) != 0 || !S_ISREG(file.st_mode))
        return false;
    for (size_t i = 0; dot != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return access(word, X_OK) == 0;
}

/* "-9", or the name of a long option. */
static bool is_option(const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    const size_t length = strlen(word);
    return (length == 2 && word[0] == '-' && isalnum((unsigned char)word[1])) ||
           (length > 3 && strncmp(word, "--", 2) == 0 && strspn(word, letters) == length);
}

/* A word as a part of a name; NULL where it should not be one: names are published and commands are not, so that only
 * programs and options are taken, and of "--key=value" the option. */
static const char *piece_of(const char *whole, struct ifm_arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./";
    char *piece = ifm_arena_strdup(arena, whole);
    if (strncmp(piece, "--", 2) == 0)
        piece[strcspn(piece, "=")] = '\0';
    const char *word = piece;
    const size_t length = strlen(piece);
    const bool option = is_option(piece);
    if (word[strspn(word, plain)] != '\0' || (length > 0 && !option && !is_program(word)))
        return NULL;
    const char *slash = strrchr(piece, '/');
    piece = slash == NULL ? piece : piece + (slash + 1 - piece);
    return strlen(piece) > LONGEST_PIECE ? NULL : piece;
}

static const char *set_up_piece(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.";
    return word[strspn(word, plain)] == '\0' && strlen(word) <= LONGEST_PIECE ? word : NULL;
}

/* "-9_c" of "-9" and "-c". */
static const char *joined(const char *name, const char *piece, struct ifm_arena *arena)
{
    if (name[0] == '\0' || piece[0] == '\0')
        return name[0] == '\0' ? piece : name;
    return ifm_arena_printf(arena, "%s_%s", name, piece + strspn(piece, "-"));
}

/* Pieces of the words at one place, or of all that differ; false where they do not tell the lines apart. */
static bool take_pieces(struct kin *kin, size_t from, size_t to, struct ifm_arena *arena)
{
    for (size_t i = 0; i < kin->n; i++) {
        const char *name = "";
        for (size_t at = from; at < to; at++) {
            const char *word = word_at(kin, i, at),
                       *piece = kin->first + at == 0 ? set_up_piece(word) : piece_of(word, arena);
            if (piece == NULL)
                return false;
            name = joined(name, piece, arena);
        }
        if (strlen(name) > LONGEST_PIECE)
            return false;
        kin->pieces[i] = name;
    }
    return all_differ(kin->pieces, kin->n);
}

/* The folder of a program's relative path, `up` levels above it: "old" of "./old/bin/bench" is one up. "" where the
 * path has no such level; NULL where it is no such path: one that is absolute, or leads out of the working directory,
 * says more than its user typed it for. */
static const char *folder_of(const char *word, size_t up, struct ifm_arena *arena)
{
    char *rest = ifm_arena_strdup(arena, word);
    const char **parts = IFM_ARENA_ARRAY(arena, const char *, strlen(word) + 2);
    size_t n = 0;
    if (word[0] == '\0' || word[0] == '/' || piece_of(word, arena) == NULL)
        return NULL;
    for (char *part = strsep(&rest, "/"); part != NULL; part = strsep(&rest, "/")) {
        if (strcmp(part, "..") == 0)
            return NULL;
        if (part[0] != '\0' && strcmp(part, ".") != 0)
            parts[n++] = part;
    }
    return n < up + 2 ? "" : strlen(parts[n - up - 2]) > LONGEST_PIECE ? NULL : parts[n - up - 2];
}

/* The folders of the words at one place: the nearest that all differ in. */
static bool take_folders(struct kin *kin, size_t at, struct ifm_arena *arena)
{
    bool any = true;
    for (size_t up = 0; any; up++) {
        any = false;
        for (size_t i = 0; i < kin->n; i++) {
            kin->pieces[i] = folder_of(word_at(kin, i, at), up, arena);
            if (kin->pieces[i] == NULL)
                return false;
            any |= kin->pieces[i][0] != '\0';
        }
        if (any && all_differ(kin->pieces, kin->n))
            return true;
    }
    return false;
}

static bool differ(struct kin *kin, struct ifm_arena *arena)
{
    size_t n = count_differing(kin);
    for (size_t at = 0; at < n; at++)
        if (take_pieces(kin, at, at + 1, arena) || take_folders(kin, at, arena))
            return true;
    return take_pieces(kin, 0, n, arena);
}

/* "a.py" as it stands; "gzip-9" of what does not begin with a letter, or is the name of a ceiling. */
static const char *full_name(const char *program, const char *piece, struct ifm_arena *arena)
{
    const char *bare = piece + strspn(piece, "-");
    if (bare[0] == '\0')
        return program;
    if (bare == piece && isalpha((unsigned char)piece[0]) && !ifm_command_is_ceiling(piece))
        return piece;
    return ifm_arena_printf(arena, "%.*s-%s", LONGEST_PROGRAM, program, bare);
}

/* What tells one command that is given again from others: its script, or its first option. */
static const char *piece_alone(const struct ifm_words *words, struct ifm_arena *arena)
{
    const char *name = "";
    for (size_t i = 2; i < words->n; i++) {
        const char *word = words->items[i], *piece = piece_of(word, arena);
        if (piece != NULL && piece[0] != '-' && is_program(word))
            return piece;
        if (piece != NULL && is_option(piece))
            name = name[0] == '\0' ? piece : name;
    }
    return strlen(name) > LONGEST_PIECE ? "" : name;
}

static size_t first_like(const char *const *lines, size_t i)
{
    size_t at = 0;
    while (strcmp(lines[at], lines[i]) != 0)
        at++;
    return at;
}

/* The lines whose program is that of line `i`, each once; nothing where it is alone, or was seen before. */
static void name_kin(const char *const *lines, size_t n, size_t i, bool shell, const char *const *programs,
                     struct ifm_arena *arena, const char **names)
{
    struct kin kin = {IFM_ARENA_ARRAY(arena, struct ifm_words, n), IFM_ARENA_ARRAY(arena, const char *, n), 0, 0, 0};
    size_t *at = IFM_ARENA_ARRAY(arena, size_t, n), all = 0;
    for (size_t k = 0; k < n; k++)
        if (strcmp(programs[k], programs[i]) == 0) {
            if (k < i)
                return;
            all++;
            if (first_like(lines, k) < k)
                continue;
            at[kin.n] = k;
            kin.words[kin.n++] = words_of(lines[k], shell, arena);
        }
    if (all < 2 || (kin.n > 1 && !differ(&kin, arena)))
        return;
    if (kin.n == 1)
        kin.pieces[0] = piece_alone(kin.words, arena);
    for (size_t k = 0; k < kin.n; k++)
        for (size_t j = at[k]; j < n; j++)
            if (first_like(lines, j) == at[k])
                names[j] = full_name(programs[i], kin.pieces[k], arena);
}

/* "gzip-6-1st" and "gzip-6-2nd" of two that are called "gzip-6"; a number alone would be taken for an option. */
static const char *ordinal(const char *name, unsigned which, struct ifm_arena *arena)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    const bool teens = which % 100 >= 11 && which % 100 <= 13;
    return ifm_arena_printf(arena, "%s-%u%s", name, which, endings[teens || which % 10 > 3 ? 0 : which % 10]);
}

static bool is_taken(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Names that several have become names of their own. Whether any of them are of commands that differ. */
static bool number_names(const char *const *lines, const char **names, size_t n, struct ifm_arena *arena)
{
    bool differ = false;
    for (size_t i = 0; i < n; i++) {
        const char *name = names[i];
        unsigned which = 0;
        if (!is_taken(names + i + 1, n - i - 1, name))
            continue;
        for (size_t j = i; j < n; j++) {
            if (strcmp(names[j], name) != 0)
                continue;
            const char *own = ordinal(name, ++which, arena);
            while (is_taken(names, n, own)) /* "true-2nd" may be a program */
                own = ordinal(name, ++which, arena);
            names[j] = own;
            differ |= first_like(lines, j) != first_like(lines, i);
        }
    }
    return differ;
}

enum ifm_status ifm_command_names(const char *const *lines, size_t n, bool shell, struct ifm_arena *arena,
                                  const char **names, bool *untold, struct ifm_error *error)
{
    const char **programs = IFM_ARENA_ARRAY(arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        IFM_TRY(ifm_command_name(lines[i], shell, ifm_arena_printf(arena, "command %zu", i + 1), arena, &programs[i],
                                 error));
        const struct ifm_words words = split(lines[i], shell, arena);
        const size_t set_up = count_set_up(&words, shell, arena);
        names[i] = programs[i] = set_up == 0 ? programs[i] : ifm_command_base(words.items[set_up], arena);
    }
    for (size_t i = 0; i < n; i++)
        name_kin(lines, n, i, shell, programs, arena, names);
    *untold = number_names(lines, names, n, arena);
    for (size_t i = 0; i < n && n > 1; i++)
        *untold |= strcmp(names[i], "env") == 0 || strcmp(names[i], "command") == 0;
    return IFM_OK;
}
