/* Texts in lines of a terminal, and the word of trust in two: its cause, one remedy, and how much more there is. The
 * findings of --verbose and of the report have the whole of it. Computes no number. */
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
    if (ifm_columns_of(text) <= most)
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

/* The first of several remedies. */
static const char *first_remedy(const char *text, struct ifm_arena *arena)
{
    static const char *const others[] = {"; ", ", or ", ", which "};
    size_t end = 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *at = strstr(text, others[i]);
        if (at != NULL && (size_t)(at - text) > end)
            end = (size_t)(at - text);
    }
    return end == 0 ? NULL : ifm_arena_printf(arena, "%.*s", (int)end, text);
}

struct parts {
    const char *label, *cause, *whole, *also, *rule, *remedy, *more, *scope;
};

/* A cause that ends in its word keeps it. */
static const char *joined(const struct parts *p, struct ifm_arena *arena)
{
    const bool lost = strstr(p->whole, "undecided") != NULL && strstr(p->cause, "undecided") == NULL;
    const bool has = p->remedy[0] != '\0';
    return ifm_arena_printf(arena, "%s%s%s%s%s%s%s%s", p->cause, lost ? ": undecided" : "", p->rule, p->also,
                            has ? ". Remedy: " : "", p->remedy, p->more, p->scope);
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

/* Of a single clause that is longer than the lines its first words. */
static const char *cut_words(const struct ifm_builder *builder, struct parts *p)
{
    const struct parts rest = {.cause = "",
                               .whole = p->cause,
                               .also = p->also,
                               .rule = p->rule,
                               .remedy = p->remedy,
                               .more = p->more,
                               .scope = p->scope};
    const size_t taken =
        ifm_columns_of(p->label) + 2 + ifm_columns_of(joined(&rest, builder->arena)) + LINES * INDENT + LOST;
    const size_t room =
        LINES * IFM_USUAL_WIDTH > taken + IFM_USUAL_WIDTH / 2 ? LINES * IFM_USUAL_WIDTH - taken : IFM_USUAL_WIDTH / 2;
    p->cause = ifm_cut(builder, p->cause, room);
    return joined(p, builder->arena);
}

const char *ifm_with_folder(const struct ifm_builder *builder, const char *text)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:@%";
    const char *at = strstr(text, "DIR"), *dir = builder->from->dir;
    if (at == NULL || builder->from->filed || ifm_is_empty(dir) || strchr(dir, '\'') != NULL)
        return text;
    const char *quote = dir[strspn(dir, bare)] == '\0' ? "" : "'";
    return ifm_arena_printf(builder->arena, "%.*s%s%s%s%s", (int)(at - text), text, quote, dir, quote, at + 3);
}

static bool fits(const struct parts *p, const char *text)
{
    return ifm_lines_of(text, strlen(p->label) + 2, INDENT) <= LINES;
}

/* Whose option --verbose is: the whole command or its name, where the lines have room for it. */
static const char *with_command(const struct ifm_builder *builder, struct parts *p, const char *text)
{
    static const char option[] = ": --verbose";
    const char *const whole[] = {ifm_with_folder(builder, ": inferometer report DIR --verbose"),
                                 ": report DIR --verbose"};
    const size_t size = strlen(p->more);
    if (size < sizeof option || strcmp(p->more + size - (sizeof option - 1), option) != 0)
        return text;
    const char *count = ifm_arena_printf(builder->arena, "%.*s", (int)(size - (sizeof option - 1)), p->more);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        p->more = ifm_arena_printf(builder->arena, "%s%s", count, whole[i]);
        const char *longer = joined(p, builder->arena);
        if (fits(p, longer))
            return longer;
    }
    return text;
}

const char *ifm_trust_line(const struct ifm_builder *builder, const struct ifm_trust *trust, const char *scope)
{
    struct ifm_arena *arena = builder->arena;
    const char *own = trust->brief[0] != '\0' ? trust->brief : trust->cause,
               *see = builder->from->filed ? "the report" : "--verbose";
    const char *cause = trust->place[0] == '\0' ? own : ifm_arena_printf(arena, "%s: %s", trust->place, own);
    struct parts p = {.label = ifm_trust_label(trust->word), .cause = cause, .whole = cause};
    p.remedy = remedy_beside(builder, trust->remedy);
    p.rule = trust->rule[0] == '\0' ? "" : ifm_arena_printf(arena, " (%s)", trust->rule);
    p.more = trust->warnings == 0 ? ""
                                  : ifm_arena_printf(arena, "; %zu more warning%s: %s", trust->warnings,
                                                     trust->warnings == 1 ? "" : "s", see);
    p.also = trust->also[0] == '\0' ? "" : ifm_arena_printf(arena, "; also %s", trust->also);
    p.scope = scope[0] == '\0' ? "" : ifm_arena_printf(arena, "; %s", scope);
    for (;;) {
        const char *text = joined(&p, arena), *less;
        const size_t place = trust->place[0] == '\0' ? 0 : strlen(trust->place) + 2;
        if (fits(&p, text))
            return with_command(builder, &p, text);
        if (p.scope[0] != '\0' && !trust->settled)
            p.scope = ""; /* what decides says more */
        else if (p.scope[0] != '\0' && p.rule[0] != '\0')
            p.rule = "";
        else if ((less = shorter(p.cause + place, arena)) != NULL)
            p.cause = ifm_arena_printf(arena, "%.*s%s", (int)place, cause, less);
        else if ((less = first_remedy(p.remedy, arena)) != NULL)
            p.remedy = less;
        else if (p.scope[0] != '\0' && p.remedy[0] != '\0')
            p.remedy = "", p.cause = cause; /* it may come in vain; other runs tell */
        else if (p.scope[0] != '\0' && strstr(p.more, " warning") != NULL)
            p.more = ifm_arena_printf(arena, "; %zu more: %s", trust->warnings, see);
        else
            return cut_words(builder, &p);
    }
}
