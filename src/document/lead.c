/* What comes first: what was measured where, the verdict, the outcomes in sentences; gates; and where cells stand when
 * there are many. Counts sentences, computes no number. */
#include "base/names.h"
#include "document/build.h"
#include "document/quantity.h"
#include "document/trust.h"
#include "model/machine_facts.h"
#include <ctype.h>
#include <string.h>

enum { FEW_SENTENCES = 12, SHORT_SENTENCES = 4, REASONS_SHOWN = 3, PROGRAMS_NAMED = 4 };

/* ---- header ---- */

/* Is the cell the only one of its workload and model? */
static bool is_alone(const struct ifm_builder *builder, size_t at, const char *family)
{
    const struct ifm_plan *plan = builder->from->plan;
    for (size_t i = 0; i < plan->n_cells; i++)
        if (i != at && strcmp(ifm_document_family(&plan->cells[i], builder->arena), family) == 0)
            return false;
    return true;
}

/* "gzip-9, gzip-1": of programs the arms say what was measured. */
static const char *names_of_programs(struct ifm_builder *builder, const struct ifm_cell *cell)
{
    const char *text = "";
    for (size_t a = 0; a < cell->n_arms && a < PROGRAMS_NAMED; a++)
        text = ifm_arena_printf(builder->arena, "%s%s%s", text, a == 0 ? "" : ", ", cell->arms[a].name);
    return cell->n_arms <= PROGRAMS_NAMED
               ? text
               : ifm_arena_printf(builder->arena, "%s and %zu more", text, cell->n_arms - PROGRAMS_NAMED);
}

/* "decode llama-3-8b, batch 4, kv_len 8192 + attention": with its shape what has one. */
static const char *names_of_workloads(struct ifm_builder *builder)
{
    const struct ifm_plan *plan = builder->from->plan;
    const char *text = "";
    struct ifm_names *names = ifm_names_create(builder->arena);
    if (plan->n_cells == 1 && ifm_cell_counts_programs(plan->cells) && plan->cells->n_arms > 0)
        return names_of_programs(builder, plan->cells);
    for (size_t i = 0, n = 0; i < plan->n_cells; i++) {
        const struct ifm_cell *cell = &plan->cells[i];
        const char *family = ifm_document_family(cell, builder->arena);
        if (ifm_names_add(names, family) != n)
            continue;
        n++;
        const char *shape = is_alone(builder, i, family) ? ifm_document_shape(cell, builder->arena) : family;
        text = ifm_arena_printf(builder->arena, "%s%s%s", text, text[0] == '\0' ? "" : " + ",
                                strcmp(shape, cell->name) == 0 ? family : shape);
    }
    return text[0] == '\0' ? "nothing" : text;
}

static void build_header(struct ifm_builder *builder)
{
    const struct ifm_publication *from = builder->from;
    struct ifm_document *document = builder->document;
    struct ifm_line *about = &document->about;
    const char *machine = ifm_machine_measured(from->events, from->plan->device);
    char date[32];
    document->title = ifm_arena_printf(builder->arena, "%s on %s", names_of_workloads(builder),
                                       machine[0] != '\0' ? machine : from->plan->device);
    ifm_say(builder, about, IFM_TONE_PLAIN, "run ");
    ifm_say_code(builder, about, from->derived->run_id);
    ifm_say(builder, about, IFM_TONE_PLAIN, "%s%s, %zu cell%s",
            ifm_events_date(from->events, date)[0] == '\0' ? "" : ", ", date, from->plan->n_cells,
            from->plan->n_cells == 1 ? "" : "s");
}

/* ---- outcomes ---- */

static size_t sentences_most(const struct ifm_builder *builder)
{
    return builder->from->plan->n_cells == 1 ? FEW_SENTENCES : SHORT_SENTENCES;
}

static void add_pays(struct ifm_builder *builder, struct ifm_block *parent, const struct ifm_cell *cell)
{
    const char *pays = ifm_pays_words(builder, cell);
    if (pays[0] == '\0')
        return;
    struct ifm_line *line = ifm_add_line(builder, parent, IFM_LEVEL_PAGE, IFM_AS_TEXT, "");
    ifm_say(builder, line, IFM_TONE_STRONG, "Does it pay?");
    ifm_say(builder, line, IFM_TONE_PLAIN, " %c%s.", toupper((unsigned char)pays[0]), pays + 1);
}

static void add_outcomes(struct ifm_builder *builder, struct ifm_block *parent, const struct ifm_cell *cell)
{
    add_pays(builder, parent, cell);
    struct ifm_block *list = ifm_add_list(builder, parent, IFM_AS_OUTCOMES);
    if (!ifm_is_empty(cell->unsupported)) {
        ifm_add_sentence(builder, list, ifm_arena_printf(builder->arena, "absent: %s", cell->unsupported));
        return;
    }
    size_t n = ifm_add_outcomes(builder, list, cell, sentences_most(builder), true), shown = list->n_items;
    if (n == 0)
        ifm_add_sentence(builder, list, "nothing was measured");
    if (n > shown)
        ifm_add_sentence(builder, list, ifm_arena_printf(builder->arena, "and %zu more below", n - shown));
}

static bool has_single_outcome(const struct ifm_builder *builder, const struct ifm_cell *cell)
{
    size_t n = 0;
    for (size_t a = 0; a < cell->n_arms; a++)
        n += ifm_is_compared(builder, cell, &cell->arms[a]);
    return n == 1 && ifm_is_empty(cell->unsupported);
}

/* Of one comparison its cell's name stands in the sentence. */
static bool add_single_outcome(struct ifm_builder *builder, struct ifm_block *parent, const struct ifm_cell *cell)
{
    size_t at = 0;
    if (!has_single_outcome(builder, cell))
        return false;
    while (!ifm_is_compared(builder, cell, &cell->arms[at]))
        at++;
    struct ifm_block *list = ifm_add_list(builder, parent, IFM_AS_OUTCOMES);
    (void)ifm_add_outcomes(builder, list, cell, 1, false);
    list->items[0].place = ifm_document_place(cell->name, cell->arms[at].name, builder->arena);
    return true;
}

static void add_linked_outcomes(struct ifm_builder *builder, struct ifm_block *parent)
{
    const struct ifm_plan *plan = builder->from->plan;
    bool alone = true; /* below a head of another cell a sentence would be taken for that cell's */
    for (size_t i = 0; i < plan->n_cells; i++)
        alone &= has_single_outcome(builder, &plan->cells[i]);
    for (size_t i = 0; i < plan->n_cells; i++) {
        if (alone && add_single_outcome(builder, parent, &plan->cells[i]))
            continue;
        struct ifm_line *line = ifm_add_line(builder, parent, parent->level, IFM_AS_OF, "");
        ifm_say_link(builder, line, ifm_arena_printf(builder->arena, "cell-%zu", i + 1), plan->cells[i].name);
        add_outcomes(builder, parent, &plan->cells[i]);
    }
}

/* Of many comparisons only how many there are of each kind. */
const char *ifm_counts_of_comparisons(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n_cells)
{
    static const char *const words[] = {"faster", "slower", "equivalent", "undecided"};
    enum { N_WORDS = sizeof words / sizeof *words };
    size_t counts[N_WORDS] = {0}, n = 0, decided = 0;
    for (size_t i = 0; i < n_cells; i++)
        for (size_t a = 0; a < cells[i].n_arms; a++) {
            const struct ifm_value *change = ifm_value_of(builder, &cells[i], &cells[i].arms[a], IFM_M_CHANGE_PERCENT);
            const struct ifm_value *speedup = ifm_value_of(builder, &cells[i], &cells[i].arms[a], IFM_M_SPEEDUP);
            const bool refused = speedup != NULL && speedup->state == IFM_STATE_REFUSED;
            n += change != NULL;
            for (size_t w = 0; w < N_WORDS; w++)
                counts[w] += ifm_is_ok(change) && !refused && strcmp(change->text, words[w]) == 0;
        }
    if (n == 0)
        return "";
    const char *text = ifm_arena_printf(builder->arena, "%zu comparison%s with a baseline: ", n, n == 1 ? "" : "s");
    for (size_t w = 0; w < N_WORDS; w++) {
        text = ifm_arena_printf(builder->arena, "%s%s%zu %s", text, w == 0 ? "" : ", ", counts[w], words[w]);
        decided += counts[w];
    }
    if (n > decided)
        text = ifm_arena_printf(builder->arena, "%s, %zu absent or refused", text, n - decided);
    return ifm_arena_printf(builder->arena, "%s.", text);
}

static void add_counts(struct ifm_builder *builder, struct ifm_block *parent)
{
    const char *text = ifm_counts_of_comparisons(builder, builder->from->plan->cells, builder->from->plan->n_cells);
    if (text[0] != '\0')
        ifm_add_line(builder, parent, parent->level, IFM_AS_TEXT, text);
}

void ifm_build_contents(struct ifm_builder *builder)
{
    size_t n = builder->from->plan->n_cells;
    if (n <= IFM_FEW_CELLS || builder->most < IFM_LEVEL_PAGE)
        return;
    struct ifm_block *section =
        ifm_add_part(builder, IFM_LEVEL_PAGE, "cells", ifm_arena_printf(builder->arena, "Cells (%zu)", n));
    section->purpose = IFM_AS_CONTENTS;
    add_linked_outcomes(builder, section);
}

/* ---- verdict ---- */

struct outcome_look {
    const char *label, *word;
    enum ifm_tone tone;
};

static struct outcome_look look_of(enum ifm_outcome outcome)
{
    static const struct outcome_look looks[] = {
        {"PASS", "pass", IFM_TONE_GOOD},
        {"FAIL", "fail", IFM_TONE_BAD},
        {"INCONCLUSIVE", "inconclusive", IFM_TONE_WARN},
        {"BLOCKED", "blocked", IFM_TONE_WARN},
        {"", "not gated", IFM_TONE_STRONG}, /* that nothing was asked is no news */
    };
    return looks[outcome];
}

/* Without gates nothing is accepted or rejected, but a record that nobody should use is not just "measured". */
static struct outcome_look verdict_look(const struct ifm_builder *builder)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    const struct ifm_derived *derived = builder->from->derived;
    struct outcome_look look = look_of(verdict->outcome);
    if (verdict->outcome != IFM_OUTCOME_NOT_GATED)
        return look;
    if (verdict->exit_code != IFM_OK)
        return (struct outcome_look){"INVALID", "invalid", IFM_TONE_BAD};
    for (size_t i = 0; i < derived->n_findings; i++)
        if (derived->findings[i].severity == IFM_SEVERITY_INVALID)
            look.tone = IFM_TONE_WARN;
    return look;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), own = strlen(end);
    return own <= n && strcmp(text + n - own, end) == 0;
}

/* What the blocks take that a sentence foretells of an open gate; "" where `next`, what helps first, tells it. */
static const char *takes(const struct ifm_builder *builder, const char *sentence, const char *next)
{
    const struct ifm_publication *from = builder->from;
    for (size_t i = 0; i < from->verdict->n_gates && strstr(next, " more block") == NULL; i++) {
        const struct ifm_gate_result *gate = &from->verdict->gates[i];
        const struct ifm_undecided of = {from->derived, from->verdict, from->events,
                                         ifm_plan_cell(from->plan, gate->cell), gate->arm};
        if (!ifm_is_empty(gate->reason) && ends_with(sentence, gate->reason))
            return ifm_judge_takes(&of, gate, builder->arena);
    }
    return "";
}

void ifm_build_lead(struct ifm_builder *builder)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    size_t n_cells = builder->from->plan->n_cells;
    struct outcome_look look = verdict_look(builder);
    if (builder->most > IFM_LEVEL_BRIEF) /* that one names no machine */
        build_header(builder);
    bool asked = verdict->outcome != IFM_OUTCOME_NOT_GATED || verdict->exit_code != IFM_OK;
    struct ifm_block *section = ifm_add_part(builder, asked ? IFM_LEVEL_ALWAYS : IFM_LEVEL_VERBOSE, "", look.label);
    section->purpose = IFM_AS_VERDICT;
    section->id = "answer";
    section->tone = look.tone;
    struct ifm_block *reasons = ifm_add_list(builder, section, IFM_AS_REASONS);
    const struct ifm_trust trust = ifm_trust_of(builder->from, builder->arena);
    const char *next = verdict->outcome == IFM_OUTCOME_INCONCLUSIVE ? ifm_trust_lines(builder, &trust).next : "";
    for (size_t i = 0; asked && i < verdict->n_reasons; i++)
        ifm_add_sentence(
            builder, reasons,
            ifm_arena_printf(builder->arena, "%s%s", verdict->reasons[i], takes(builder, verdict->reasons[i], next)))
            ->level = i < REASONS_SHOWN ? IFM_LEVEL_ALWAYS : IFM_LEVEL_VERBOSE;
    if (!ifm_is_empty(verdict->rollback_advice))
        ifm_add_line(builder, section, IFM_LEVEL_ALWAYS, IFM_AS_STRONG, verdict->rollback_advice);
    if (builder->most < IFM_LEVEL_FOLDED) /* a terminal has its sentences below the tables */
        return;
    if (n_cells == 1)
        add_outcomes(builder, section, &builder->from->plan->cells[0]);
    else if (n_cells > IFM_FEW_CELLS)
        add_counts(builder, section);
    else
        add_linked_outcomes(builder, section);
}

bool ifm_lead_holds(const struct ifm_builder *builder, size_t n_outcomes)
{
    return n_outcomes <= sentences_most(builder);
}

/* ---- gates ---- */

void ifm_build_gate_table(struct ifm_builder *builder)
{
    static const char *const headings[] = {"gate", "where", "wanted", "observed", "outcome"};
    const struct ifm_verdict *verdict = builder->from->verdict;
    const struct ifm_plan *plan = builder->from->plan;
    const bool alone = plan->n_cells == 1 && ifm_cell_counts_programs(plan->cells); /* then the program says where */
    struct ifm_arena *arena = builder->arena;
    struct ifm_grid grid = ifm_grid_make(arena, 5, verdict->n_gates);
    grid.caption = "Gates";
    for (size_t c = 0; c < 5; c++)
        grid.headings[c] = (struct ifm_heading){headings[c], IFM_M_NONE, true, 0};
    for (size_t i = 0; i < verdict->n_gates; i++) {
        const struct ifm_gate_result *result = &verdict->gates[i];
        const struct ifm_gate *gate = result->gate;
        struct outcome_look look = look_of(result->outcome);
        const char *bound = gate->op == IFM_GATE_AT_MOST ? "at most" : "at least";
        const enum ifm_metric_id metric = ifm_metric_of(gate->metric);
        const struct ifm_value *observed = ifm_quantity_for_people(metric, &result->observed, arena);
        const char *threshold = ifm_quantity_limit(gate, arena);
        *ifm_grid_at(&grid, i, 0) = ifm_field_text(ifm_judge_gate_name(gate), IFM_TONE_PLAIN);
        *ifm_grid_at(&grid, i, 1) = ifm_field_text(
            alone && result->arm[0] != '\0' ? result->arm : ifm_document_place(result->cell, result->arm, arena),
            IFM_TONE_PLAIN);
        *ifm_grid_at(&grid, i, 2) =
            ifm_field_text(ifm_arena_printf(arena, "%s %s%s", bound, threshold,
                                            ifm_judge_by_interval(gate, &result->observed) ? ", interval" : ""),
                           IFM_TONE_PLAIN);
        struct ifm_field seen = ifm_field_value(builder, observed);
        if (ifm_is_ok(observed)) /* the ends themselves, as it is they that are held against the limit */
            seen.interval = ifm_quantity_range(observed, arena);
        if (ifm_is_ok(observed) && strcmp(observed->unit, "%") == 0)
            ifm_judge_seen(gate, &result->observed, arena, &seen.text, &seen.interval);
        if (result->few_runs.n > 0) /* what the interval is of, which is not all runs where blocks are set aside */
            seen.interval = ifm_arena_printf(arena, "%s, %lld %s", seen.interval, (long long)result->observed.n,
                                             result->observed.n_of);
        *ifm_grid_at(&grid, i, 3) = seen;
        *ifm_grid_at(&grid, i, 4) = ifm_field_text(look.word, look.tone); /* the verdict's reasons say why */
    }
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "gates", "Gates");
    ifm_add_grid(builder, section, &grid);
}

/* One line an arm: "speed-up: Excellent; memory efficiency: Good". */
static void add_classes(struct ifm_builder *builder)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    struct ifm_block *section = ifm_add_part(builder, IFM_LEVEL_ALWAYS, "classes", "Classes");
    struct ifm_block *list = ifm_add_list(builder, section, IFM_AS_FINDINGS);
    for (size_t i = 0; i < verdict->n_classes; i++) {
        const struct ifm_class_label *label = &verdict->classes[i];
        const char *place = ifm_document_place(label->cell, label->arm, builder->arena);
        size_t at = 0;
        while (at < list->n_items && strcmp(list->items[at].place, place) != 0)
            at++;
        struct ifm_item *item = at < list->n_items ? &list->items[at] : ifm_add_item(builder, list);
        item->place = place;
        ifm_say(builder, &item->line, IFM_TONE_PLAIN, "%s%s: %s", item->line.n == 0 ? "" : "; ", label->title,
                label->label);
    }
}

void ifm_build_gates(struct ifm_builder *builder)
{
    if (builder->from->verdict->n_gates > 0)
        ifm_build_gate_table(builder);
    if (builder->from->verdict->n_classes > 0)
        add_classes(builder);
}
