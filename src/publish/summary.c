/* The pasteable summary. It only formats; what does not fit is counted, never cut. */
#include "publish/summary.h"

#include "base/hash.h"
#include "document/escape.h"
#include "document/quantity.h"
#include "document/trust.h"
#include "model/machine_facts.h"
#include "publish/comparison.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 40, LINE_BYTES = 200, NAMED_BYTES = 48 };

struct line {
    const char *text, *name;
    int rank; /* lower is more important */
    double size;
    size_t order; /* place in the plan */
};

struct lines {
    struct line *items;
    size_t n, capacity;
};

/* A name or a model as ASCII without what Markdown or a terminal would act on. */
static const char *plain(const char *text, size_t most, struct ifm_arena *arena)
{
    char *copy = ifm_arena_strdup(arena, text);
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f || strchr("`*<>|\\", *c) != NULL)
            *c = '?';
    return strlen(copy) <= most ? copy : ifm_arena_printf(arena, "%.*s...", (int)most - 3, copy);
}

/* "us" and "+-" for what ASCII has not. */
static const char *ascii(const char *text, struct ifm_arena *arena)
{
    struct ifm_text out = {0};
    ifm_escape_terminal(text, false, &out);
    const char *copy = ifm_arena_strdup(arena, out.data == NULL ? "" : out.data);
    ifm_text_free(&out);
    return copy;
}

const char *ifm_summary_environment(const struct ifm_events *events, char *hex)
{
    const json_t *fingerprint = ifm_fingerprint_of(events).all;
    hex[0] = '\0';
    if (fingerprint == NULL)
        return hex;
    struct ifm_arena *arena = ifm_arena_create();
    json_t *steady = json_copy((json_t *)ifm_fingerprint_steady(fingerprint, arena));
    json_object_del(steady, "binary"); /* the machine is the same under another build; the version is said beside it */
    struct ifm_text text = {0};
    ifm_json_print(steady, false, &text);
    memcpy(hex, ifm_sha256_bytes(text.data, text.size).hex, 12);
    hex[12] = '\0';
    ifm_text_free(&text);
    json_decref(steady);
    ifm_arena_destroy(arena);
    return hex;
}

/* ---- the lines of the arms ---- */

static bool names_a_file(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '/' && (c == text || strchr(" \"'(=:", c[-1]) != NULL))
            return true;
    return false;
}

/* Without the marks of a command, which a pasted text takes for its own. */
static const char *without_marks(const char *text, struct ifm_arena *arena)
{
    char *copy = ifm_arena_strdup(arena, text), *to = copy;
    for (const char *c = text; *c != '\0'; c++)
        if (*c != '`')
            *to++ = *c;
    *to = '\0';
    return copy;
}

/* The whole words of at most `most` bytes; that it takes a word from a comparison is never left out. */
static const char *shortened(const char *text, size_t most, struct ifm_arena *arena)
{
    size_t size = 0;
    if (strlen(text) <= most)
        return text;
    for (size_t i = 0; i + 3 <= most; i++)
        size = text[i] == ' ' ? i : size;
    while (size > 0 && strchr(",;:", text[size - 1]) != NULL)
        size--;
    const bool lost = strstr(text + size, "undecided") != NULL && strstr(text, "undecided") >= text + size;
    return ifm_arena_printf(arena, "%.*s ...%s", (int)size, text, lost ? " undecided" : "");
}

/* A reason that names a file of the machine stays in the report. */
static const char *reason_of(const struct ifm_value *value, struct ifm_arena *arena)
{
    return names_a_file(value->reason)
               ? "the report says why"
               : shortened(plain(without_marks(value->reason, arena), SIZE_MAX, arena), LINE_BYTES / 2, arena);
}

static int rank_of(const struct ifm_value *change)
{
    static const char *const words[] = {"slower", "faster", "undecided", "equivalent"};
    if (change->state != IFM_STATE_OK)
        return 4;
    for (int i = 0; i < 4; i++)
        if (change->text != NULL && strcmp(change->text, words[i]) == 0)
            return i;
    return 3;
}

static void add_line(struct lines *lines, struct ifm_arena *arena, const char *name, const char *text, int rank,
                     double size)
{
    IFM_ARENA_GROW(arena, lines->items, lines->n, lines->capacity);
    lines->items[lines->n] = (struct line){text, name, rank, size, lines->n};
    lines->n++;
}

/* The name that the baselines of all cells share; NULL where they differ. */
static const char *shared_baseline(const struct ifm_plan *plan)
{
    const char *name = NULL;
    for (size_t c = 0; c < plan->n_cells; c++) {
        const struct ifm_arm *baseline = ifm_cell_baseline(&plan->cells[c]);
        if (baseline == NULL)
            continue;
        if (name != NULL && strcmp(name, baseline->name) != 0)
            return NULL;
        name = baseline->name;
    }
    return name;
}

/* Of a comparison with the name of its baseline, where the heading cannot say it for all. */
static const char *place(const struct ifm_publication *p, const struct ifm_cell *cell, const char *arm, bool compares,
                         struct ifm_arena *arena)
{
    const char *base = "";
    if (p->plan->n_cells == 1)
        return plain(arm, NAME_BYTES, arena);
    if (compares && shared_baseline(p->plan) == NULL && ifm_cell_baseline(cell) != NULL)
        base = ifm_arena_printf(arena, " against %s", plain(ifm_cell_baseline(cell)->name, NAME_BYTES, arena));
    return ifm_arena_printf(arena, "%s / %s%s", plain(cell->name, NAME_BYTES, arena), plain(arm, NAME_BYTES, arena),
                            base);
}

/* The processor time of programs, and ", energy -12.3 % [-13.0, -11.6]" against the baseline, of a token where there
 * are any; "" where there is none. */
static const char *energy_of(const struct ifm_publication *p, const struct ifm_cell *cell, const char *arm,
                             struct ifm_arena *arena)
{
    const char *of;
    const struct ifm_value *change = ifm_comparison_energy(p->derived, cell->name, arm, &of);
    const struct ifm_value *cpu = ifm_derived_value(p->derived, cell->name, arm, IFM_M_CHANGE_CPU_PERCENT);
    const char *text = ifm_is_ok(cpu)
                           ? ifm_arena_printf(arena, ", CPU time %s: %s", ifm_comparison_change(cpu, arena), cpu->text)
                           : "";
    return ifm_is_ok(change) ? ifm_arena_printf(arena, "%s, energy %s", text, ifm_comparison_change(change, arena))
                             : text;
}

/* `price` is what a compressed arm pays for its speed, "" of any other: never reported separately (rule 10). */
static const char *compared_line(const struct ifm_value *change, const char *word, const struct ifm_value *mde,
                                 const char *price, const char *energy, const char *where, const char *blocks,
                                 struct ifm_arena *arena)
{
    if (change->state != IFM_STATE_OK)
        return ifm_arena_printf(arena, "- %s: %s, %s%s\n", where, ifm_state_label(change->state),
                                reason_of(change, arena), energy);
    const char *detect = "";
    if (mde != NULL && ifm_is_ok(mde))
        detect = ifm_arena_printf(arena, ", can detect %s", ascii(ifm_comparison_detects(change, mde, arena), arena));
    return ifm_arena_printf(arena, "- %s: %s, time %s, %s%s%s%s%s\n", where, word, ifm_comparison_change(change, arena),
                            blocks, detect, energy, price[0] == '\0' ? "" : "; ", price);
}

static const char *time_line(const struct ifm_value *step, const char *where, struct ifm_arena *arena)
{
    if (step->state != IFM_STATE_OK)
        return ifm_arena_printf(arena, "- %s: %s, %s\n", where, ifm_state_label(step->state), reason_of(step, arena));
    return ifm_arena_printf(arena, "- %s: %s a step, %lld %s\n", where, ascii(ifm_quantity_full(step, arena), arena),
                            (long long)step->n, step->n_of);
}

/* What stands beside a speed: bytes and error of a compressed arm, and rates that nobody should believe (rule 3). */
static const char *price_of(const struct ifm_derived *derived, const char *cell, const char *arm,
                            struct ifm_arena *arena)
{
    const char *price = ascii(ifm_outcome_price(derived, cell, arm, arena), arena);
    if (ifm_outcome_refused_rate(derived, cell, arm) == NULL)
        return price;
    return ifm_arena_printf(arena, "%s%sits rates are refused (rule 3)", price, price[0] == '\0' ? "" : "; ");
}

/* The comparisons of a cell; where it has none, the time of each arm. */
static void add_cell(const struct ifm_publication *p, const struct ifm_cell *cell, struct ifm_arena *arena,
                     struct lines *lines)
{
    size_t before = lines->n;
    if (cell->n_arms == 0)
        add_line(lines, arena, plain(cell->name, NAME_BYTES, arena),
                 ifm_arena_printf(arena, "- %s: absent, %s\n", plain(cell->name, NAME_BYTES, arena),
                                  plain(cell->unsupported, LINE_BYTES / 2, arena)),
                 4, 0);
    for (size_t a = 0; a < cell->n_arms; a++) {
        const char *arm = cell->arms[a].name;
        const struct ifm_value *change = ifm_derived_value(p->derived, cell->name, arm, IFM_M_CHANGE_PERCENT);
        const struct ifm_value *speedup = ifm_derived_value(p->derived, cell->name, arm, IFM_M_SPEEDUP);
        if (change == NULL)
            continue;
        if (ifm_is_ok(change) && speedup != NULL && speedup->state == IFM_STATE_REFUSED)
            change = speedup; /* rule 3: no word of a change says what a speed-up must not */
        const char *where = place(p, cell, arm, true, arena);
        const char *price = price_of(p->derived, cell->name, arm, arena);
        add_line(lines, arena, where,
                 compared_line(change, ifm_judge_word(p->verdict, cell, arm, change),
                               ifm_derived_value(p->derived, cell->name, arm, IFM_M_MDE_PERCENT), price,
                               energy_of(p, cell, arm, arena), where,
                               ifm_judge_blocks_of_interval(p->derived, cell->name, arm, arena), arena),
                 rank_of(change), change->state == IFM_STATE_OK ? fabs(change->number) : 0);
    }
    for (size_t a = 0; lines->n == before && a < cell->n_arms; a++) {
        const struct ifm_value *step = ifm_derived_value(p->derived, cell->name, cell->arms[a].name, IFM_M_STEP_NS);
        const char *where = place(p, cell, cell->arms[a].name, false, arena);
        if (step != NULL && cell->arms[a].role != IFM_ROLE_CEILING)
            add_line(lines, arena, where, time_line(step, where, arena), 5, 0);
    }
}

/* ---- the frame ---- */

/* " of decode llama-3-8b", where all cells are. */
static const char *family_of(const struct ifm_plan *plan, struct ifm_arena *arena)
{
    const char *family = plan->n_cells == 0 ? "" : ifm_document_family(&plan->cells[0], arena);
    for (size_t c = 1; c < plan->n_cells; c++)
        if (strcmp(family, ifm_document_family(&plan->cells[c], arena)) != 0)
            return "";
    return family[0] == '\0' ? "" : ifm_arena_printf(arena, " of %s", plain(family, 2 * NAME_BYTES, arena));
}

static const char *heading(const struct ifm_publication *p, bool compares, struct ifm_arena *arena)
{
    const struct ifm_plan *plan = p->plan;
    const char *what = plan->n_cells == 1
                           ? plain(ifm_document_shape(&plan->cells[0], arena), 2 * NAME_BYTES, arena)
                           : ifm_arena_printf(arena, "%zu cells%s", plan->n_cells, family_of(plan, arena));
    const char *against = "";
    const char *baseline = shared_baseline(plan);
    if (compares && baseline != NULL)
        against = ifm_arena_printf(arena, ", against %s", plain(baseline, NAME_BYTES, arena));
    const char *margin = "";
    if (compares && plan->n_cells > 0 && !ifm_judge_limits_alone(p->verdict, plan))
        margin = ifm_arena_printf(arena, ", margin %.3g %%", 100 * plan->cells[0].measure.margin);
    const char *gate = "";
    if (p->verdict->n_gates == 1)
        gate = ifm_arena_printf(arena, ": gate \"%s\"", plain(p->verdict->gates[0].gate->name, NAME_BYTES, arena));
    return ifm_arena_printf(arena, "inferometer: %s%s%s, %s%s\n", what, against, margin,
                            ifm_outcome_words(p->verdict->outcome), gate);
}

/* Of the cells; 0 where programs or callers of a session run, of which nobody knows it. */
static unsigned most_threads(const struct ifm_plan *plan)
{
    unsigned most = 0;
    for (size_t c = 0; c < plan->n_cells; c++)
        if (strcmp(plan->cells[c].workload, "command") != 0 && strcmp(plan->cells[c].workload, "session") != 0)
            most = plan->cells[c].threads > most ? plan->cells[c].threads : most;
    return most;
}

/* The word of trust with its cause and remedy, as on the terminal: what weakens the numbers is not left out with the
 * details, and what helps never. */
static const char *trust_line(const struct ifm_publication *p, struct ifm_arena *arena)
{
    enum { CAUSE_BYTES = 160 };
    const struct ifm_trust trust = ifm_trust_of(p, arena);
    const bool told = trust.word == IFM_TRUST_UNDECIDED && strncmp(trust.told, "undecided after", 15) == 0 &&
                      trust.remedy[0] != '\0'; /* in its own line */
    const char *cause = without_marks(ascii(trust.cause, arena), arena), *why = "", *more = "";
    const char *remedy = without_marks(ascii(trust.remedy, arena), arena);
    if (trust.word == IFM_TRUST_SOLID && strcmp(p->plan->device, "fake") == 0) /* its cause is no other run's */
        why = ifm_arena_printf(arena, ", %s", cause);
    if (trust.word != IFM_TRUST_SOLID && names_a_file(cause))
        why = ": the report says why";
    else if (trust.word != IFM_TRUST_SOLID && !told)
        why = ifm_arena_printf(arena, ": %s", shortened(plain(cause, SIZE_MAX, arena), CAUSE_BYTES, arena));
    if (trust.also[0] != '\0' && !names_a_file(trust.also))
        why = ifm_arena_printf(arena, "%s%s%s", why, why[0] == '\0' ? ": " : "; also ",
                               plain(without_marks(ascii(trust.also, arena), arena), CAUSE_BYTES, arena));
    if (trust.word != IFM_TRUST_SOLID && remedy[0] != '\0' && !names_a_file(remedy))
        why = ifm_arena_printf(arena, "%s%s%s", why,
                               why[0] == '\0' ? ": remedy: " : "; remedy: ", plain(remedy, SIZE_MAX, arena));
    if (trust.warnings > 0)
        more = ifm_arena_printf(arena, "; %zu more warning%s", trust.warnings, trust.warnings == 1 ? "" : "s");
    return ifm_arena_printf(arena, "trust: %s%s%s\n", ifm_trust_label(trust.word), why, more);
}

/* A run that did not end says so, whatever else is left out. */
static const char *interruption(const struct ifm_publication *p, struct ifm_arena *arena)
{
    size_t done = 0, cells = p->plan->n_cells;
    if (IFM_FIRST(p->events, run_done) != NULL)
        return "";
    for (size_t c = 0; c < cells; c++)
        done += IFM_LAST(p->events, cell_done, p->plan->cells[c].name, NULL) != NULL;
    bool session = cells > 0 && strcmp(p->plan->cells[0].workload, "session") == 0;
    return ifm_arena_printf(arena, "interrupted: %zu of %zu cells complete; %s\n", done, cells,
                            session ? "measure again" : "inferometer run --resume RUN-FOLDER goes on");
}

static const char *footing(const struct ifm_publication *p, struct ifm_arena *arena)
{
    char hex[13];
    const char *model = ifm_machine_cpu(p->events);
    const struct ifm_event_run_start *start = IFM_FIRST(p->events, run_start);
    unsigned threads = most_threads(p->plan);
    const char *environment = ifm_summary_environment(p->events, hex);
    const char *locks = ifm_lock_state(p->events) == IFM_LOCK_HELD ? "locked" : "not locked";
    const char *cores =
        threads == 0 ? "" : ifm_arena_printf(arena, ", %u core%s used", threads, threads == 1 ? "" : "s");
    const char *machine = ifm_arena_printf(arena, "machine: %s%s, %s, environment %s\n",
                                           model[0] == '\0' ? "unknown CPU" : plain(model, NAME_BYTES + 20, arena),
                                           cores, locks, environment[0] == '\0' ? "unknown" : environment);
    if (strcmp(p->plan->device, "cpu") != 0)
        machine = ifm_arena_printf(arena, "device: %s\n%s", plain(p->plan->device, NAME_BYTES, arena), machine);
    return ifm_arena_printf(arena,
                            "%s%s%sconfig %.12s, run %s, inferometer %s\n"
                            "check: inferometer verify RUN-FOLDER\n",
                            interruption(p, arena), trust_line(p, arena), machine,
                            plain(p->plan->config_hash, 64, arena), plain(p->plan->run_id, NAME_BYTES, arena),
                            start == NULL ? "of unknown version" : plain(start->version, NAME_BYTES, arena));
}

/* ---- what fits ---- */

static int by_importance(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank - y->rank;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static int by_order(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* How many of the lines, the most important first, fit into `room` bytes with the line that counts the others. */
static size_t count_fitting(const struct lines *lines, size_t room)
{
    size_t fit = 0, used = 0, all = 0;
    const size_t more = sizeof "- and 18446744073709551615 more\n" - 1 + NAMED_BYTES;
    for (size_t i = 0; i < lines->n; i++)
        all += strlen(lines->items[i].text);
    if (all <= room)
        return lines->n;
    while (fit < lines->n && used + strlen(lines->items[fit].text) + more <= room)
        used += strlen(lines->items[fit++].text);
    return fit;
}

/* "- and 2 more: int8, int4": what was left out has names, where they are short. */
static void add_left_out(const struct lines *lines, size_t fit, struct ifm_arena *arena, struct ifm_text *out)
{
    const char *names = "";
    for (size_t i = fit; i < lines->n; i++)
        names = ifm_arena_printf(arena, "%s%s%s", names, names[0] == '\0' ? ": " : ", ", lines->items[i].name);
    ifm_text_printf(out, "- and %zu more%s\n", lines->n - fit, strlen(names) > NAMED_BYTES ? "" : names);
}

void ifm_summary_compose(const struct ifm_publication *publication, struct ifm_text *out)
{
    struct ifm_arena *arena = ifm_arena_create();
    struct lines lines = {0};
    for (size_t c = 0; c < publication->plan->n_cells; c++)
        add_cell(publication, &publication->plan->cells[c], arena, &lines);
    bool compares = false;
    for (size_t i = 0; i < lines.n; i++)
        compares |= lines.items[i].rank < 5;
    const char *head = heading(publication, compares, arena), *foot = footing(publication, arena);
    if (lines.n > 1)
        qsort(lines.items, lines.n, sizeof *lines.items, by_importance);
    size_t fit = count_fitting(&lines, IFM_SUMMARY_BYTES - strlen(head) - strlen(foot));
    if (fit > 1)
        qsort(lines.items, fit, sizeof *lines.items, by_order);
    ifm_text_add(out, head);
    for (size_t i = 0; i < fit; i++)
        ifm_text_add(out, lines.items[i].text);
    if (fit < lines.n)
        add_left_out(&lines, fit, arena, out);
    ifm_text_add(out, foot);
    ifm_arena_destroy(arena);
}
