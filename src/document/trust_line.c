/* Texts in lines of a terminal, and the word of trust: its cause, what to do next, and how much more there is, each in
 * two lines at most. The findings of --verbose and of the report have the whole of it. Computes no number. */
#include "base/plain.h"
#include "document/build.h"
#include "document/quantity.h"
#include "document/trust.h"
#include <math.h>
#include <string.h>

enum {
    LINES = 2,
    LOST = 12,   /* columns at the end of a line, where a word does not fit */
    INDENT = 2,  /* of later lines */
    CLAUSE = 20, /* bytes of the shortest clause that says something alone: "undecided" does not */
};

/* ---- texts ---- */

const char *ifm_cut(const struct ifm_builder *builder, const char *text, size_t most)
{
    size_t size = 0, clause = 0, width = 0;
    if (ifm_plain_columns(text) <= most)
        return text;
    for (size_t i = 0; text[i] != '\0' && width + 3 <= most; i++) {
        if (text[i] == ' ') {
            size = i;
            clause = i > 0 && strchr(",;:", text[i - 1]) != NULL ? i : clause;
        }
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    size = 2 * clause > size ? clause : size;
    if (strstr(text + size, "--") != NULL)
        return text;
    while (size > 0 && strchr(",;:", text[size - 1]) != NULL)
        size--;
    static const char label[] = ". Remedy:"; /* alone it is no sentence */
    const size_t length = sizeof label - 1;
    if (size >= length && strncmp(text + size - length, label, length) == 0)
        return ifm_arena_printf(builder->arena, "%.*s", (int)(size - length), text);
    int open = 0;
    for (size_t i = 0; i < size; i++)
        open += (text[i] == '(') - (text[i] == ')');
    const char *undecided = strstr(text, "undecided"); /* else "faster over all blocks, but not ..." reads as faster */
    return ifm_arena_printf(builder->arena, "%.*s …%s%s", (int)size, text, open > 0 ? ")" : "",
                            undecided != NULL && undecided >= text + size ? ": undecided" : "");
}

size_t ifm_lines_of(const char *text, size_t column, size_t margin)
{
    struct ifm_text wrapped = {0};
    size_t lines = 1;
    ifm_text_wrap(&wrapped, text, IFM_USUAL_WIDTH, column, margin);
    for (size_t i = 0; i < wrapped.size; i++)
        lines += wrapped.data[i] == '\n';
    ifm_text_free(&wrapped);
    return lines;
}

/* ---- the word of trust ---- */

const char *ifm_trust_label(enum ifm_trust_word word)
{
    static const char *const labels[] = {"solid", "undecided", "noisy", "biased", "weak baseline", "do not use"};
    return labels[word];
}

static const char AFTER[] = "after "; /* so many blocks */

const char *ifm_trust_gap(const struct ifm_trust *trust)
{
    const bool goes_on = trust->word == IFM_TRUST_UNDECIDED && strncmp(trust->cause, AFTER, sizeof AFTER - 1) == 0;
    return trust->place[0] == '\0' ? "" : goes_on ? " " : ": ";
}

const char *ifm_trust_words(const struct ifm_trust *trust, struct ifm_arena *arena)
{
    return ifm_arena_printf(arena, "%s: %s%s%s%s%s", ifm_trust_label(trust->word), trust->place, ifm_trust_gap(trust),
                            trust->cause, trust->also[0] == '\0' ? "" : "; also ", trust->also);
}

/* The text without its last clause, outside of brackets: "a, as b (c, d): e" is "a, as b (c, d)", then "a, as b". NULL
 * = it has one alone. */
static const char *shorter(const char *text, struct ifm_arena *arena)
{
    int open = 0;
    size_t end = 0;
    for (size_t i = 1; text[i - 1] != '\0' && text[i] != '\0'; i++) {
        const bool mark = strchr(",;:", text[i]) != NULL && text[i + 1] == ' ';
        const bool bracket = text[i] == ' ' && text[i + 1] == '(';
        if (open == 0 && (mark || bracket) && i >= CLAUSE)
            end = i;
        open += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
    }
    return end == 0 ? NULL : ifm_arena_printf(arena, "%.*s", (int)end, text);
}

/* Without the last of several remedies. */
static const char *fewer_remedies(const char *text, struct ifm_arena *arena)
{
    static const char *const others[] = {"; ", ", or ", ", which ", ", so that "};
    size_t end = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        for (const char *at = text; (at = strstr(at, others[i])) != NULL; at++)
            end = (size_t)(at - text) > end ? (size_t)(at - text) : end;
    }
    return end == 0 ? NULL : ifm_arena_printf(arena, "%.*s", (int)end, text);
}

/* Beside several cells no line says what is left: the least of it, where the remedy asks for it. */
static const char *remedy_beside(const struct ifm_builder *builder, const char *remedy)
{
    static const char asked[] = " left at its ceiling";
    const struct ifm_plan *plan = builder->from->plan;
    const struct ifm_derived *derived = builder->from->derived;
    const char *at = strstr(remedy, asked), *worst = "";
    double least = INFINITY;
    for (size_t i = 0; at != NULL && plan->n_cells > 1 && i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        const struct ifm_cell *cell = ifm_plan_cell(plan, number->cell);
        if (number->metric != IFM_M_SPEEDUP_AT_CEILING || !ifm_is_ok(&number->value) || number->value.number >= least ||
            cell == NULL || ifm_left_words(builder, cell)[0] == '\0')
            continue;
        least = number->value.number;
        worst = ifm_arena_printf(builder->arena, " (at worst %sx: %s)",
                                 ifm_quantity_of(&number->value, builder->arena).number,
                                 ifm_document_place(number->cell, number->arm, builder->arena));
    }
    if (worst[0] == '\0')
        return remedy;
    const size_t before = (size_t)(at - remedy) + sizeof asked - 1;
    return ifm_arena_printf(builder->arena, "%.*s%s%s", (int)before, remedy, worst, remedy + before);
}

const char *ifm_with_folder(const struct ifm_builder *builder, const char *text)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:@%";
    static const char *const places[] = {"RUN-FOLDER", "DIR"};
    const size_t which = strstr(text, places[0]) == NULL;
    const char *at = strstr(text, places[which]), *dir = builder->from->dir;
    if (at == NULL || builder->from->filed || ifm_is_empty(dir) || strchr(dir, '\'') != NULL)
        return text;
    const char *quote = dir[strspn(dir, bare)] == '\0' ? "" : "'";
    return ifm_arena_printf(builder->arena, "%.*s%s%s%s%s", (int)(at - text), text, quote, dir, quote,
                            at + strlen(places[which]));
}

/* A text behind its label. */
static bool fits(const char *label, const char *text)
{
    return ifm_lines_of(text, strlen(label) + 2, INDENT) <= LINES;
}

/* A rule took a word that was not asked for: what a gate decided is not undecided. */
static const char *without_word(const char *cause, struct ifm_arena *arena)
{
    static const char first[] = "undecided: ", last[] = ": undecided";
    cause += strncmp(cause, first, sizeof first - 1) == 0 ? sizeof first - 1 : 0;
    const size_t length = strlen(cause), tail = sizeof last - 1;
    return length > tail && strcmp(cause + length - tail, last) == 0
               ? ifm_arena_printf(arena, "%.*s", (int)(length - tail), cause)
               : cause;
}

/* "faster or slower all the same, by how much is not settled; ": what noise leaves standing is the direction. */
static const char *held_words(const struct ifm_builder *builder, const struct ifm_trust *trust)
{
    static const char *const words[] = {"faster", "slower", "equivalent"};
    enum { WORDS = 3, SIZED = 2 /* the first of them are of a size */ };
    const struct ifm_derived *derived = builder->from->derived;
    bool has[WORDS] = {false};
    const char *text = "";
    for (size_t i = 0; i < derived->n_numbers; i++) {
        const struct ifm_number *number = &derived->numbers[i];
        for (size_t k = 0; k < WORDS && number->metric == IFM_M_CHANGE_PERCENT && ifm_is_ok(&number->value); k++)
            has[k] |=
                !ifm_is_left_out(builder->from, number->cell, number->arm) && strcmp(number->value.text, words[k]) == 0;
    }
    bool sized = false;
    for (size_t k = 0; k < WORDS; k++) {
        sized |= has[k] && k < SIZED;
        if (has[k])
            text = ifm_arena_printf(builder->arena, "%s%s%s", text, text[0] == '\0' ? "" : " or ", words[k]);
    }
    return ifm_arena_printf(builder->arena, "%s all the same%s; ", text[0] == '\0' ? "decided" : text,
                            sized && !trust->of_times ? ", by how much is not settled" : "");
}

/* Whole clauses of the cause, else its first words; a cause that ends in its word keeps it. */
static const char *cause_line(const struct ifm_builder *builder, const struct ifm_trust *trust)
{
    struct ifm_arena *arena = builder->arena;
    const bool settled = trust->word == IFM_TRUST_NOISY && trust->settled;
    const char *label = ifm_trust_label(trust->word), *own = trust->brief[0] != '\0' ? trust->brief : trust->cause;
    own = settled ? without_word(own, arena) : own;
    const char *gap = ifm_trust_gap(trust), *whole = ifm_arena_printf(arena, "%s%s%s", trust->place, gap, own);
    const size_t place = strlen(trust->place) + strlen(gap);
    const char *also = trust->also[0] == '\0' ? "" : ifm_arena_printf(arena, "; also %s", trust->also);
    const bool gated = builder->from->verdict->n_gates > 0;
    const char *held = !settled ? "" : gated ? "the gate decides all the same; " : held_words(builder, trust);
    for (const char *cause = whole, *less;; cause = ifm_arena_printf(arena, "%.*s%s", (int)place, whole, less)) {
        const bool lost = strstr(whole, "undecided") != NULL && strstr(cause, "undecided") == NULL;
        const char *tail = ifm_arena_printf(arena, "%s%s", lost ? ": undecided" : "", also),
                   *text = ifm_arena_printf(arena, "%s%s%s", held, cause, tail);
        less = shorter(cause + place, arena);
        if (fits(label, text))
            return text;
        if (less != NULL)
            continue;
        const size_t taken = strlen(label) + 2 + strlen(held) + ifm_plain_columns(tail) + LINES * INDENT + LOST;
        const size_t half = IFM_USUAL_WIDTH / 2,
                     room = LINES * IFM_USUAL_WIDTH > taken + half ? LINES * IFM_USUAL_WIDTH - taken : half;
        return ifm_arena_printf(arena, "%s%s%s", held, ifm_cut(builder, cause, room), tail);
    }
}

const char *ifm_trust_remedy_typed(const char *remedy, struct ifm_arena *arena)
{
    return strncmp(remedy, "--", 2) == 0 ? ifm_arena_printf(arena, "add %s", remedy) : remedy;
}

static const char *next_line(const struct ifm_builder *builder, const struct ifm_trust *trust)
{
    const char *remedy = ifm_trust_remedy_typed(remedy_beside(builder, trust->remedy), builder->arena), *less;
    const char *hedge = strstr(remedy, IFM_IF_NOISE_STAYS);
    if (!fits("next", remedy) && hedge != NULL)
        remedy = ifm_arena_printf(builder->arena, "%.*s%s", (int)(hedge - remedy), remedy,
                                  hedge + strlen(IFM_IF_NOISE_STAYS));
    while (!fits("next", remedy) && (less = fewer_remedies(remedy, builder->arena)) != NULL)
        remedy = less;
    return remedy;
}

struct ifm_trust_lines ifm_trust_lines(const struct ifm_builder *builder, const struct ifm_trust *trust)
{
    return (struct ifm_trust_lines){ifm_with_folder(builder, cause_line(builder, trust)), next_line(builder, trust),
                                    ifm_with_folder(builder, trust->scope)};
}
