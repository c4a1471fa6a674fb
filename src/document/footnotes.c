/* Footnotes of the brief document: why numbers of its tables are missing or open, in the lines that there are; what the
 * word of trust says is no note beside it. */
#include "base/text.h"
#include "document/build.h"
#include "document/trust.h"
#include <string.h>

enum {
    WIDTH = IFM_USUAL_WIDTH,
    INDENT = 2, /* of the painter's lines */
    NOTES = 3,  /* but for open comparisons */
};

size_t ifm_first_clause(const char *text)
{
    size_t length = strcspn(text, ";:(");
    const char *remedy = strstr(text, IFM_REMEDY);
    if (remedy != NULL && (size_t)(remedy - text) < length)
        length = (size_t)(remedy - text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

static const char nothing[] = "nothing was measured: ";

const char *ifm_nothing_measured(const struct ifm_builder *builder)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    const char *reason = verdict->n_reasons > 0 ? verdict->reasons[0] : "";
    return strncmp(reason, nothing, sizeof nothing - 1) == 0 ? reason + sizeof nothing - 1 : "";
}

/* A reason by a rule of honesty is why a number is refused. */
static bool is_refusal(const struct ifm_note *note)
{
    return strncmp(note->text, "rule-", 5) == 0;
}

/* Marks of notes that stand below get their new number, others none: a mark without its text answers nothing. The
 * numbers `of_open` are those of fields that are so. */
static void mark_again(struct ifm_block *block, const unsigned *numbers, const unsigned *of_open)
{
    for (size_t i = 0; i < block->grid.n_rows * block->grid.n_columns; i++) {
        struct ifm_field *field = &block->grid.fields[i];
        field->note = (field->open ? of_open : numbers)[field->note];
    }
    for (size_t i = 0; i < block->line.n; i++)
        block->line.spans[i].note = numbers[block->line.spans[i].note];
    for (size_t k = 0; k < block->n_items; k++)
        for (size_t i = 0; i < block->items[k].line.n; i++)
            block->items[k].line.spans[i].note = numbers[block->items[k].line.spans[i].note];
    for (struct ifm_block *inner = block->first; inner != NULL; inner = inner->next)
        mark_again(inner, numbers, of_open);
}

/* The next word, which `*text` is moved behind; 0 = none is left. Numbers and what goes with them are no words. */
static size_t next_word(const char **text, const char **word)
{
    static const char *const counts[] = {"s", "min", "about", "less", "than", "was", "were", "block", "blocks"};
    size_t length = 1;
    while (length > 0) {
        *word = *text + strspn(*text, " ,.:;()");
        length = strcspn(*word, " ,.:;()");
        *text = *word + length;
        bool counted = length > 0 && **word >= '0' && **word <= '9';
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            counted |= strlen(counts[i]) == length && strncmp(counts[i], *word, length) == 0;
        if (!counted)
            break;
    }
    return length;
}

/* Do two reasons differ in their numbers alone? */
static bool are_alike(const char *a, const char *b)
{
    for (;;) {
        const char *x, *y;
        const size_t n = next_word(&a, &x), m = next_word(&b, &y);
        if (n != m || strncmp(x, y, n) != 0)
            return false;
        if (n == 0)
            return true;
    }
}

static bool is_told(const struct ifm_note *note, const struct ifm_trust *trust)
{
    return note->open && trust->told[0] != '\0' && are_alike(note->text, trust->told);
}

/* What the word of trust says below is no note beside it, but where the number looks as if it had the other word. */
static bool is_trust(const struct ifm_note *note, const struct ifm_trust *trust)
{
    return is_told(note, trust) && !note->took;
}

/* Of a time of two values: a warning in the report. */
static bool is_alternating(const struct ifm_note *note)
{
    return ifm_is_alternating(note->text);
}

/* Of a time that drifts, as the cause says. */
static bool is_drift(const struct ifm_note *note, const struct ifm_trust *trust)
{
    return strcmp(note->text, IFM_DRIFT_NOTE_WORDS) == 0 && strstr(trust->cause, IFM_HELD_WORDS) != NULL;
}

/* The first note before the one at `at` that says the same of another comparison; `at` = none does. */
static size_t alike_before(const struct ifm_document *document, size_t at)
{
    for (size_t k = 0; k < at; k++)
        if (document->notes[k].open && are_alike(document->notes[k].text, document->notes[at].text))
            return k;
    return at;
}

static bool is_answer(const struct ifm_builder *builder, const struct ifm_note *note)
{
    const char *answer = ifm_nothing_measured(builder);
    return answer[0] != '\0' && strncmp(note->text, answer, strlen(answer)) == 0;
}

/* Without what the word of trust says: all of its text, or a remedy that begins with its own. */
static const char *beside_trust(const struct ifm_builder *builder, const char *text, const struct ifm_trust *trust)
{
    const char *end = strstr(text, IFM_REMEDY);
    if (end != NULL &&
        (trust->remedy[0] == '\0' || strncmp(end + strlen(IFM_REMEDY), trust->remedy, strlen(trust->remedy)) != 0))
        end = NULL;
    for (const char *at = text; trust->told[0] != '\0' && (at = strstr(at, "; ")) != NULL; at += 2)
        if (are_alike(at + 2, trust->told)) {
            end = at;
            break;
        }
    return end == NULL ? text : ifm_arena_printf(builder->arena, "%.*s", (int)(end - text), text);
}

/* Kinds of notes, in the order in which they get the lines that there are: a decided ratio that the times above it do
 * not give comes first. */
enum { TIMES = 0, OPEN, REFUSED, OTHER, KINDS };

static int kind_of(const struct ifm_note *note)
{
    return note->open ? OPEN : ifm_tells_the_times(note->text) ? TIMES : is_refusal(note) ? REFUSED : OTHER;
}

/* A note is said below the table by no line, as the word of trust or another note says it. */
static bool is_again(const struct ifm_builder *builder, size_t at, const struct ifm_trust *trust)
{
    const struct ifm_note *note = &builder->document->notes[at];
    return is_answer(builder, note) || is_drift(note, trust) ||
           (is_alternating(note) && ifm_tells_alternating(trust->cause)) ||
           (note->open && (alike_before(builder->document, at) < at || is_trust(note, trust)));
}

/* "not called faster or slower: the machine disturbed 76 of 78 blocks" */
static const char *took_words(const struct ifm_builder *builder, const char *text)
{
    static const char undecided[] = "undecided: ";
    const char *why = strstr(text, undecided);
    if (why == NULL)
        return text;
    why += sizeof undecided - 1;
    return ifm_arena_printf(builder->arena, "not called faster or slower: %.*s", (int)ifm_first_clause(why), why);
}

/* Of notes that say the same but for figures: the first, and the last one. */
static size_t first_like(const struct ifm_document *document, size_t at)
{
    size_t k = 0;
    while (!are_alike(document->notes[k].text, document->notes[at].text))
        k++;
    return k;
}

static size_t last_like(const struct ifm_document *document, size_t at)
{
    size_t k = document->n_notes - 1;
    while (!are_alike(document->notes[k].text, document->notes[at].text))
        k--;
    return k;
}

/* Of a note that several rows have, whose figures differ: without those of one, which would be taken for each row's;
 * NULL = its figures are said with "other rows too". */
static const char *of_several(const struct ifm_builder *builder, const char *text)
{
    static const char modes[] = " modes: of its ", blocks[] = "undecided after ", more[] = ": about ";
    const char *at = strstr(text, modes), *how_many = strstr(text, more);
    if (strncmp(text, blocks, sizeof blocks - 1) == 0 && how_many != NULL) /* what is next names the nearest */
        return ifm_arena_printf(builder->arena, "%.*s", (int)(how_many - text), text);
    if (at == NULL)
        return ifm_unlike_of_several(text);
    const int what = (int)strcspn(at + sizeof modes - 1, " "), n = (int)(at - text);
    const char *rest = strstr(at, "; ");
    return ifm_arena_printf(builder->arena, "%.*s modes: the %.*s gather at %.*s times%s", n, text, what,
                            at + sizeof modes - 1, n, text, rest == NULL ? "" : rest);
}

static const char others_too[] = "; other rows too";

/* Where a text of `room` bytes ends, by whole clauses: a cut one answers nothing. One that has none stays as it is. */
static size_t whole_clauses(const char *text, size_t room)
{
    enum { CLAUSE = 30 }; /* bytes of the shortest that says something alone: "undecided" does not */
    static const char *const ends[] = {"; ", IFM_REMEDY, ": ", ", and "};
    const size_t length = strlen(text);
    size_t end = 0;
    for (size_t i = CLAUSE; i < length && i <= room && length > room; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (strncmp(text + i, ends[k], strlen(ends[k])) == 0 && !ifm_text_is_bracketed(text, text + i))
                end = i;
    return end > 0 && strstr(text + end, "--") == NULL ? end : length; /* nor one without the flag that it is about */
}

/* In two lines at most, or one, but for one long clause. */
static const char *note_words(const struct ifm_builder *builder, size_t at, const struct ifm_trust *trust, bool two)
{
    const struct ifm_document *document = builder->document;
    const struct ifm_note *note = &document->notes[at];
    const char *others = "";
    for (size_t k = at + 1; note->open && k < document->n_notes; k++)
        if (document->notes[k].open && document->notes[k].took >= note->took && alike_before(document, k) == at)
            others = others_too;
    const char *several = of_several(builder, note->text);
    if (several != NULL && (first_like(document, at) < at || last_like(document, at) > at))
        return several;
    if (is_told(note, trust))
        return ifm_arena_printf(builder->arena, "%s%s", took_words(builder, note->text), others);
    const size_t room = (two ? 2 * WIDTH - 12 : WIDTH - 5) - strlen(others);
    const char *text = beside_trust(builder, note->text, trust);
    return ifm_arena_printf(builder->arena, "%.*s%s", (int)whole_clauses(text, room), text, others);
}

/* The text of another note, which is the same once both are short; NULL = none is. */
static const char *same_as(const char **texts, size_t n, const char *text)
{
    for (size_t k = 0; k < n; k++)
        if (texts[k] != NULL && strcmp(texts[k], text) == 0)
            return texts[k];
    return NULL;
}

/* The first note that has the text of the one at `at`. */
static size_t first_with(const char **texts, size_t at)
{
    size_t k = 0;
    while (texts[k] != texts[at])
        k++;
    return k;
}

/* The texts of notes that have lines of their own, of `room` lines, by kind; why the first comparison is open in two.
 * Alike ones are one, and equal ones share a text. */
static void choose(const struct ifm_builder *builder, const struct ifm_trust *trust, size_t room, const char **texts)
{
    const struct ifm_document *document = builder->document;
    size_t rest = 0, n = 0, open = 0, used = 0;
    for (size_t i = 0; i < document->n_notes; i++)
        rest += !is_again(builder, i, trust);
    /* a line that says that one more is hidden is as long as that one */
    const size_t most = rest == NOTES + 1 ? NOTES + 1 : NOTES;
    for (int kind = TIMES; kind < KINDS; kind++)
        for (size_t i = 0; i < document->n_notes; i++) {
            if (kind_of(&document->notes[i]) != kind || is_again(builder, i, trust))
                continue;
            if (of_several(builder, document->notes[i].text) != NULL && first_like(document, i) < i)
                continue; /* is joined to that */
            for (int two = kind == OPEN && open == 0; two >= 0 && texts[i] == NULL; two--) {
                const char *text = note_words(builder, i, trust, two);
                const size_t lines = ifm_lines_of(text, 2 * INDENT, 2 * INDENT);
                if ((texts[i] = same_as(texts, document->n_notes, text)) != NULL)
                    break;
                if (used + lines > room || (kind != OPEN && n >= most))
                    continue;
                texts[i] = text;
                used += lines;
                n++;
            }
            open += kind == OPEN && texts[i] != NULL;
        }
}

/* A row without the mark that another one has is taken for unlike it: a note that says the same but for its last
 * clauses is worth a line more than there are. */
static void add_unlike(const struct ifm_builder *builder, const struct ifm_trust *trust, const char **texts)
{
    const struct ifm_document *document = builder->document;
    for (size_t i = 0; i < document->n_notes; i++) {
        if (texts[i] != NULL || document->notes[i].open || is_again(builder, i, trust))
            continue;
        const char *own = document->notes[i].text;
        const size_t length = strcspn(own, ";");
        for (size_t k = 0; k < document->n_notes && texts[i] == NULL; k++)
            if (texts[k] != NULL && strncmp(texts[k], own, length) == 0 && texts[k][length] == ';')
                texts[i] = note_words(builder, i, trust, false);
        if (texts[i] != NULL)
            return;
    }
}

/* "undecided after 30 blocks, though a margin of 16 % would call this run equal" of an open comparison, without
 * what more blocks do, which the line of what is next says of the nearest. `*behind`: it says something else before. */
static const char *bare_open(const struct ifm_builder *builder, const struct ifm_note *note, bool *behind)
{
    static const char undecided[] = "undecided after ";
    const char *at = strstr(note->text, undecided);
    const char *end = at == NULL ? NULL : strstr(at, ": "), *remedy = at == NULL ? NULL : strstr(at, IFM_REMEDY);
    end = remedy != NULL && (end == NULL || remedy < end) ? remedy : end;
    *behind = at != note->text;
    if (!note->open || note->took || at == NULL)
        return NULL;
    return end == NULL ? at : ifm_arena_printf(builder->arena, "%.*s", (int)(end - at), at);
}

/* Two open comparisons that are foretold unlike are both open: no row stays without the mark for lack of a line. Those
 * that are marked so share a text that holds for each. Is nothing of the note at `at` left out? */
static bool join_open(const struct ifm_builder *builder, const char **texts, unsigned *numbers, size_t at)
{
    const struct ifm_document *document = builder->document;
    bool more, other;
    const char *own = bare_open(builder, &document->notes[at], &more);
    for (size_t k = 0; own != NULL && k < document->n_notes; k++) {
        const char *its = texts[k] == NULL ? NULL : bare_open(builder, &document->notes[k], &other);
        if (its == NULL || other || !are_alike(its, own))
            continue;
        const char *alone = texts[k], *both = ifm_arena_printf(builder->arena, "%s%s", its, others_too);
        for (size_t t = 0; t < document->n_notes; t++)
            texts[t] = texts[t] == alone ? both : texts[t];
        numbers[document->notes[at].number] = numbers[document->notes[k].number];
        return !more;
    }
    return false;
}

/* A note for which no line is left and that says of another arm what one above does, is that one: a row without the
 * mark is taken for unlike. Returns how many are still left out. */
static size_t join_alike(const struct ifm_builder *builder, const struct ifm_trust *trust, const char **texts,
                         unsigned *numbers)
{
    const struct ifm_document *document = builder->document;
    size_t left_out = 0;
    for (size_t i = 0; i < document->n_notes; i++) {
        if (texts[i] != NULL || is_again(builder, i, trust))
            continue;
        size_t k = 0;
        while (k < document->n_notes &&
               !(texts[k] != NULL && are_alike(document->notes[k].text, document->notes[i].text)))
            k++;
        if (k == document->n_notes) {
            left_out += !join_open(builder, texts, numbers, i);
            continue;
        }
        const unsigned number = numbers[document->notes[k].number];
        if (numbers[document->notes[i].number] != number && strstr(texts[k], others_too) == NULL &&
            of_several(builder, document->notes[k].text) == NULL) {
            const char *alone = texts[k], *too = ifm_arena_printf(builder->arena, "%s%s", alone, others_too);
            for (size_t t = 0; t < document->n_notes; t++)
                texts[t] = texts[t] == alone ? too : texts[t];
        }
        numbers[document->notes[i].number] = number;
    }
    return left_out;
}

size_t ifm_add_footnotes(struct ifm_builder *builder, const struct ifm_trust *trust, struct ifm_block *section,
                         size_t room, size_t *warnings)
{
    struct ifm_document *document = builder->document;
    unsigned *numbers = IFM_ARENA_ARRAY(builder->arena, unsigned, document->n_notes + 1);
    const char **texts = IFM_ARENA_ARRAY(builder->arena, const char *, document->n_notes + 1);
    unsigned shown = 0;
    if (document->n_notes == 0)
        return 0;
    choose(builder, trust, room, texts);
    add_unlike(builder, trust, texts);
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_NOTES);
    list->id = "note";
    for (size_t i = 0; i < document->n_notes; i++) {
        const size_t first = first_with(texts, i);
        if (texts[i] != NULL)
            numbers[document->notes[i].number] = first < i ? numbers[document->notes[first].number] : ++shown;
    }
    const size_t left_out = join_alike(builder, trust, texts, numbers);
    for (size_t i = 0; i < document->n_notes; i++)
        if (texts[i] != NULL && first_with(texts, i) == i)
            ifm_add_sentence(builder, list, texts[i])->number = numbers[document->notes[i].number];
    for (size_t i = 0; i < document->n_notes; i++)
        *warnings += *warnings == 0 && texts[i] != NULL && is_alternating(&document->notes[i]);
    for (size_t i = 0; i < document->n_notes; i++)
        if (document->notes[i].open && texts[i] == NULL && !is_trust(&document->notes[i], trust))
            numbers[document->notes[i].number] = numbers[document->notes[alike_before(document, i)].number];
    unsigned *of_open = IFM_ARENA_ARRAY(builder->arena, unsigned, document->n_notes + 1);
    for (size_t i = 0; i < document->n_notes; i++)
        of_open[i + 1] = is_told(&document->notes[i], trust) ? 0 : numbers[i + 1];
    mark_again(&document->root, numbers, of_open);
    return left_out;
}
