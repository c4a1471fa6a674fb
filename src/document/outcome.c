/* The sentence about an arm: its speed against the baseline with what it costs; else the time of its step. */
#include "document/build.h"
#include "document/quantity.h"
#include "stats/tail.h"
#include <math.h>
#include <string.h>

bool ifm_is_compared(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    return arm->role == IFM_ROLE_VARIANT && ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP) != NULL;
}

/* ---- what it costs ---- */

/* "moves 3.71x fewer bytes"; "" where no ratio is known. Stored bytes are another number. */
static const char *bytes_words(const struct ifm_value *ratio, struct ifm_arena *arena)
{
    if (!ifm_is_ok(ratio))
        return "";
    if (ratio->number == 1)
        return "moves the same bytes";
    return ifm_arena_printf(arena, "moves %s bytes", ifm_quantity_bytes_words(IFM_M_BYTES_RATIO, ratio->number, arena));
}

/* "output error 7.9 %"; of an arm without a loss its error against the oracle; "" of one that owes none. */
static const char *error_words(const struct ifm_value *loss, const struct ifm_value *error, bool owes,
                               struct ifm_arena *arena)
{
    if (ifm_is_ok(loss))
        return ifm_arena_printf(arena, "output error %s",
                                ifm_quantity_number(ifm_quantity_for_people(IFM_M_LOSS_RMS_REL, loss, arena), arena));
    if (loss == NULL && ifm_is_ok(error))
        return ifm_arena_printf(arena, "kernel error %s", ifm_quantity_number(error, arena));
    return loss != NULL || owes ? "output error not recorded" : "";
}

/* "attention KL 0.021" beside a loss. */
static const char *spread_words(const struct ifm_value *kl, const struct ifm_value *tv, struct ifm_arena *arena)
{
    if (ifm_is_ok(kl))
        return ifm_arena_printf(arena, "attention KL %s", ifm_quantity_of(kl, arena).number);
    if (kl != NULL && ifm_is_ok(tv))
        return ifm_arena_printf(arena, "attention KL infinite (tokens dropped), TV %s",
                                ifm_quantity_short(tv->number, arena));
    return "";
}

/* Rule 3: a speed-up that its bytes do not explain is shown only with the baseline's share of its ceiling. */
static const char *share_words(const struct ifm_value *speedup)
{
    return ifm_is_ok(speedup) && !ifm_is_empty(speedup->text) ? speedup->text : "";
}

struct price {
    const char *bytes, *error, *spread, *share;
    bool infinite; /* the spread: tokens are dropped */
};

static struct price price_of(const struct ifm_derived *derived, const char *cell, const char *arm, bool owes,
                             struct ifm_arena *arena)
{
    const struct ifm_value *loss = ifm_derived_value(derived, cell, arm, IFM_M_LOSS_RMS_REL);
    const struct ifm_value *kl = ifm_derived_value(derived, cell, arm, IFM_M_ATTENTION_KL_NATS);
    return (struct price){
        bytes_words(ifm_derived_value(derived, cell, arm, IFM_M_BYTES_RATIO), arena),
        error_words(loss, ifm_derived_value(derived, cell, arm, IFM_M_ERROR_RMS_REL), owes, arena),
        ifm_is_ok(loss) ? spread_words(kl, ifm_derived_value(derived, cell, arm, IFM_M_ATTENTION_TV), arena) : "",
        share_words(ifm_derived_value(derived, cell, arm, IFM_M_SPEEDUP)),
        kl != NULL && !ifm_is_ok(kl),
    };
}

const char *ifm_outcome_price(const struct ifm_derived *derived, const char *cell, const char *arm,
                              struct ifm_arena *arena)
{
    struct price price = price_of(derived, cell, arm, false, arena);
    bool loses = ifm_derived_value(derived, cell, arm, IFM_M_LOSS_RMS_REL) != NULL;
    const char *parts[] = {loses ? price.error : "", price.spread, price.share}, *text = price.bytes;
    for (size_t i = 0; text[0] != '\0' && i < sizeof parts / sizeof *parts; i++)
        if (parts[i][0] != '\0')
            text = ifm_arena_printf(arena, "%s, %s", text, parts[i]);
    return text;
}

/* The price is as loud as the gain. */
static void say_price(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                      const struct ifm_arm *arm, bool spread)
{
    struct price price = price_of(builder->from->derived, cell->name, arm->name, arm->lossy, builder->arena);
    if (price.bytes[0] != '\0')
        ifm_say(builder, line, IFM_TONE_PLAIN, ", %s", price.bytes);
    if (price.error[0] != '\0') {
        ifm_say(builder, line, IFM_TONE_PLAIN, ", ");
        ifm_say(builder, line, IFM_TONE_STRONG, "%s", price.error);
    }
    if (spread && price.spread[0] != '\0' && (builder->most > IFM_LEVEL_BRIEF || price.infinite))
        ifm_say(builder, line, IFM_TONE_PLAIN, ", %s", price.spread);
    const struct ifm_value *speedup = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP);
    const bool bare = ifm_is_ok(speedup) && !speedup->has_interval; /* why it is stands below a brief table already */
    const bool noted = bare && builder->most <= IFM_LEVEL_BRIEF;
    if (price.share[0] != '\0' && !noted)
        ifm_say(builder, line, IFM_TONE_PLAIN, "; %s", price.share);
}

/* ---- the times beside it ---- */

/* The ratio that whoever divides the times of the table finds; NaN where one is missing. */
static double ratio_of_times(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const struct ifm_value *own = ifm_value_of(builder, cell, arm, IFM_M_STEP_NS);
    const struct ifm_value *base = baseline == NULL ? NULL : ifm_value_of(builder, cell, baseline, IFM_M_STEP_NS);
    return ifm_is_ok(own) && ifm_is_ok(base) && own->number > 0 ? base->number / own->number : NAN;
}

/* On the other side of 1, by more than the digits of a table hide. */
static bool points_away(double ratio, double times)
{
    const double seen = 0.002;
    return (ratio > 1 && times < 1 - seen) || (ratio < 1 && times > 1 + seen);
}

static const char of_undisturbed[] = "of undisturbed blocks; ", by_block[] = "block by block";

bool ifm_tells_the_times(const char *text)
{
    return strstr(text, of_undisturbed) != NULL || strstr(text, by_block) != NULL;
}

const char *ifm_unlike_of_several(const char *text)
{
    return strncmp(text, of_undisturbed, sizeof of_undisturbed - 1) == 0 ? "of undisturbed blocks; times are of all"
           : strncmp(text, by_block, sizeof by_block - 1) == 0
               ? "block by block; slow blocks move the ratio of the times more"
               : NULL;
}

/* With as many digits as show how far it lies from `other`: 1.005, not 1.00, beside 0.999. */
static const char *told_apart(const struct ifm_value *ratio, double other, struct ifm_arena *arena)
{
    const char *text = ifm_quantity_of(ratio, arena).number, *point = strchr(text, '.');
    const int decimals = -(int)floor(log10(fmin(fmax(fabs(ratio->number - other), 1e-4), 1))),
              has = point == NULL ? 0 : (int)strlen(point + 1);
    return decimals > has ? ifm_quantity_digits(ratio->number, decimals, arena) : text;
}

/* Whoever divides the times of the table finds another ratio than the one shown where the comparison left blocks out,
 * or where a few slow blocks move a quotient of means more than a mean of quotients. It is said where its interval does
 * not hold that, or the two point in opposite directions; of other blocks, also from 1 % on. "" = they agree. */
const char *ifm_unlike_the_times(const struct ifm_builder *builder, const struct ifm_cell *cell,
                                 const struct ifm_arm *arm, const struct ifm_value *speedup)
{
    const struct ifm_value *all = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT_ALL_BLOCKS);
    struct ifm_value ratio = *speedup;
    ratio.number = ifm_is_ok(all) ? 1 / (1 + all->number / 100) : ratio_of_times(builder, cell, arm);
    const bool shows = ifm_is_ok(all) && fabs(ratio.number / speedup->number - 1) > 0.01;
    const bool outside = speedup->has_interval && !(speedup->low <= ratio.number && ratio.number <= speedup->high);
    if (!isfinite(ratio.number) || !(shows || outside || points_away(speedup->number, ratio.number)))
        return "";
    return ifm_arena_printf(
        builder->arena,
        ifm_is_ok(all) ? "%sof all, as the times are: %sx" : "%s (%sx by the times, which slow blocks move more)",
        ifm_is_ok(all) ? of_undisturbed : by_block, told_apart(&ratio, speedup->number, builder->arena));
}

/* ---- the sentence ---- */

/* "1.10x fewer bytes". */
static const char *model_bytes(double fewer, struct ifm_arena *arena)
{
    return fewer < 1.005 && fewer > 0.995 ? "as many bytes" : ifm_arena_printf(arena, "%.2fx fewer bytes", fewer);
}

const char *ifm_word_shown(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm,
                           const struct ifm_value *change)
{
    return ifm_judge_word(builder->from->verdict, cell, arm->name, change);
}

/* Does a word of the arm's row go by the margin? Beside a limit that decides alone it is a second one; then where the
 * interval leaves 1 out. */
static bool is_by_margin(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    const char *word = ifm_word_shown(builder, cell, arm, change);
    return arm->role == IFM_ROLE_VARIANT &&
           (!ifm_judge_limits_alone(builder->from->verdict, builder->from->plan) || strcmp(word, "faster") == 0 ||
            strcmp(word, "slower") == 0 || strcmp(word, "equivalent") == 0 ||
            (ifm_is_ok(change) && change->has_interval && (change->low > 0 || change->high < 0)));
}

bool ifm_goes_by_margin(const struct ifm_builder *builder)
{
    const struct ifm_plan *plan = builder->from->plan;
    for (size_t c = 0; c < plan->n_cells; c++)
        for (size_t a = 0; a < plan->cells[c].n_arms; a++)
            if (is_by_margin(builder, &plan->cells[c], &plan->cells[c].arms[a]))
                return true;
    return false;
}

/* "is undecided: no difference to a beyond ±1.3 % of its time", as the ratio beside it is another number: of equal
 * programs the answer, though the margin is narrower. False where a rule took the word, or where so little was seen
 * that it is none. */
static bool say_no_difference(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                              const struct ifm_arm *arm, bool below)
{
    const struct ifm_publication *from = builder->from;
    const struct ifm_undecided of = {from->derived, from->verdict, from->events, cell, arm->name};
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const struct ifm_value *speedup = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP);
    const double percent = ifm_judge_no_difference(&of);
    if (percent <= 0 || percent > IFM_NO_DIFFERENCE_MOST_PERCENT || baseline == NULL || ifm_judge_took(&of) != NULL)
        return false;
    ifm_say(builder, line, IFM_TONE_PLAIN, " is undecided: ");
    ifm_say(builder, line, IFM_TONE_STRONG, "no difference");
    ifm_say(builder, line, IFM_TONE_PLAIN, " to %s beyond ±%.2g %% of its time", baseline->name, percent);
    if (!below)
        ifm_say(builder, line, IFM_TONE_PLAIN, ", %sx %s", ifm_quantity_of(speedup, builder->arena).number,
                ifm_quantity_range(speedup, builder->arena));
    return true;
}

/* " than f16", "equivalent to f16"; the number only where a price follows, which never stands without the gain. */
static void say_word(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                     const struct ifm_arm *arm, const char *word, const char *base)
{
    const struct ifm_value *speedup = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP);
    const struct price price = price_of(builder->from->derived, cell->name, arm->name, arm->lossy, builder->arena);
    const bool paid = price.bytes[0] != '\0' || price.error[0] != '\0', faster = strcmp(word, "faster") == 0;
    const char *number = ifm_quantity_of(speedup, builder->arena).number;
    ifm_say(builder, line, IFM_TONE_STRONG, "%s%s%s", paid && faster ? number : "", paid && faster ? "x " : "", word);
    if (strcmp(word, "undecided") != 0 && paid && !faster)
        ifm_say(builder, line, IFM_TONE_PLAIN, ": %sx the speed of %s", number, base);
    else if (faster || strcmp(word, "slower") == 0)
        ifm_say(builder, line, IFM_TONE_PLAIN, " than %s", base);
    else if (strcmp(word, "equivalent") == 0)
        ifm_say(builder, line, IFM_TONE_PLAIN, " to %s", base);
}

/* What took a word that the interval has, in so few words; the finding, which the run's trust or a note says, has more.
 */
static const char *taken_by(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_publication *from = builder->from;
    const struct ifm_undecided of = {from->derived, from->verdict, from->events, cell, arm->name};
    const struct ifm_finding *took = ifm_judge_took(&of);
    return took != NULL && strcmp(took->rule, "rule-02") == 0  ? " by disturbed blocks"
           : took != NULL && took->kind == IFM_FINDING_TYPICAL ? ", as percentiles and mean disagree"
                                                               : " by a warning";
}

/* "1.68x faster [1.04, 2.70] than f16", else the word first: "undecided: 1.12x [0.73, 1.71] the speed of f16"; the word
 * is derive's decision. */
static void say_speed(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                      const struct ifm_arm *arm, enum ifm_telling telling)
{
    const bool below = telling != IFM_TELL_ALL;
    const struct ifm_value *speedup = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP);
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const char *base = baseline == NULL ? "the baseline" : baseline->name;
    if (!ifm_is_ok(speedup)) {
        ifm_say(builder, line, IFM_TONE_PLAIN, ": its speed against %s is %s: %s", base,
                ifm_state_label(speedup->state),
                ifm_is_empty(speedup->reason) ? "no reason is known" : speedup->reason);
        return;
    }
    const char *word = ifm_word_shown(builder, cell, arm, change);
    const bool open =
        ifm_is_ok(change) && strcmp(change->text, "undecided") == 0; /* a bare number would be taken for an answer */
    if (strcmp(word, "undecided") == 0 && say_no_difference(builder, line, cell, arm, below))
        return;
    const double margin = 1 + cell->measure.margin;
    const bool taken = open && word[0] != '\0' && telling != IFM_TELL_SHORT && speedup->has_interval &&
                       (speedup->low > margin || speedup->high < 1 / margin);
    const char *by = taken ? taken_by(builder, cell, arm) : "";
    ifm_say(builder, line, IFM_TONE_PLAIN, " is ");
    const char *number = ifm_quantity_of(speedup, builder->arena).number,
               *range = ifm_quantity_range(speedup, builder->arena), *gap = range[0] == '\0' ? "" : " ";
    if (below && word[0] != '\0')
        say_word(builder, line, cell, arm, word, base);
    else if (strcmp(word, "faster") == 0) {
        ifm_say(builder, line, IFM_TONE_STRONG, "%sx faster", number);
        ifm_say(builder, line, IFM_TONE_PLAIN, "%s%s than %s", gap, range, base);
    } else {
        ifm_say(builder, line, IFM_TONE_STRONG, "%s", word);
        ifm_say(builder, line, IFM_TONE_PLAIN, "%s%s%sx%s%s", by, word[0] == '\0' ? "" : ": ", number, gap, range);
        if (!taken) /* that is long, and the answer of a phone's first screen short */
            ifm_say(builder, line, IFM_TONE_PLAIN, " the speed of %s", base);
    }
    if (below)
        ifm_say(builder, line, IFM_TONE_PLAIN, "%s", by);
}

static void say_rival(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_value *over,
                      const char *what, bool bare)
{
    const char *range = bare ? "" : ifm_quantity_range(over, builder->arena);
    ifm_say(builder, line, IFM_TONE_PLAIN, ", %sx%s%s over %s%s%s", ifm_quantity_of(over, builder->arena).number,
            range[0] == '\0' ? "" : " ", range, over->text, what[0] == '\0' ? "" : ", ", what);
}

static bool is_decided(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    return ifm_is_ok(change) && strcmp(change->text, "undecided") != 0;
}

/* Has the line of an arm before said which arm is the fastest exact one? */
static bool is_told(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    for (const struct ifm_arm *one = cell->arms; one < arm; one++)
        if (is_decided(builder, cell, one) && ifm_is_ok(ifm_value_of(builder, cell, one, IFM_M_SPEEDUP_OVER_FASTEST)))
            return true;
    return false;
}

/* ", 2.38x over f16, the fastest exact arm": beside a baseline that is neither that nor the arm's own exact form. An
 * undecided arm has no numbers that would be taken for an answer. */
static void say_rivals(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                       const struct ifm_arm *arm, bool bare)
{
    const struct ifm_value *best = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP_OVER_FASTEST);
    const struct ifm_value *own = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP_OVER_OWN);
    if (!is_decided(builder, cell, arm))
        return;
    if (ifm_is_ok(best))
        say_rival(builder, line, best, bare && is_told(builder, cell, arm) ? "" : "the fastest exact arm", bare);
    if (ifm_is_ok(own) && (!ifm_is_ok(best) || strcmp(own->text, best->text) != 0))
        say_rival(builder, line, own, "its own exact form", bare);
}

const char *ifm_outcome_refused_rate(const struct ifm_derived *derived, const char *cell, const char *arm)
{
    static const enum ifm_metric_id rates[] = {IFM_M_BANDWIDTH_BYTES_PER_S, IFM_M_FLOPS_PER_S};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const struct ifm_value *rate = ifm_derived_value(derived, cell, arm, rates[i]);
        if (rate != NULL && rate->state == IFM_STATE_REFUSED)
            return rate->reason;
    }
    return NULL;
}

/* If an arm's rates were refused, that stands beside its speed-up. */
static void say_refused_rate(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                             const struct ifm_arm *arm)
{
    const char *reason = ifm_outcome_refused_rate(builder->from->derived, cell->name, arm->name);
    if (reason == NULL)
        return;
    ifm_say(builder, line, IFM_TONE_PLAIN, "; ");
    ifm_say(builder, line, IFM_TONE_BAD, "its rates are refused");
    ifm_say(builder, line, IFM_TONE_PLAIN, ": %s", reason);
}

/* The change of energy of a compared arm: loud where its interval leaves zero out. */
static void say_energy_change(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                              const struct ifm_arm *arm)
{
    const struct ifm_value *token = ifm_value_of(builder, cell, arm, IFM_M_ENERGY_PER_TOKEN_CHANGE_PERCENT);
    const struct ifm_value *step = ifm_value_of(builder, cell, arm, IFM_M_ENERGY_PER_STEP_CHANGE_PERCENT);
    const struct ifm_value *change = ifm_is_ok(token) ? token : step;
    if (!ifm_is_ok(change))
        return;
    const char *range = ifm_quantity_range(change, builder->arena);
    bool told = change->has_interval && (change->high < 0 || change->low > 0);
    ifm_say(builder, line, IFM_TONE_PLAIN, "; energy per %s ",
            change == token                  ? "token"
            : ifm_cell_counts_programs(cell) ? "run"
                                             : "step");
    ifm_say(builder, line, told ? IFM_TONE_STRONG : IFM_TONE_PLAIN, "%s%s", change->number > 0 ? "+" : "",
            ifm_quantity_number(change, builder->arena));
    if (range[0] != '\0')
        ifm_say(builder, line, IFM_TONE_PLAIN, " %s", range);
}

/* Disturbed blocks took the word of the time: what they did lies in the processor time too, by what programs share. */
static bool is_disturbed(const struct ifm_builder *builder, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    const struct ifm_finding *took =
        ifm_derived_dispute(builder->from->derived, cell->name, arm->name, IFM_M_CHANGE_PERCENT);
    return took != NULL && strcmp(took->rule, "rule-02") == 0;
}

/* Of programs, where a gate asks for it, or where it is decided, by the gate's limit or the margin, and the time is not
 * for want of a difference. */
static void say_cpu_change(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                           const struct ifm_arm *arm, bool bare)
{
    const struct ifm_value *cpu = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_CPU_PERCENT);
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    if (!ifm_is_ok(cpu))
        return;
    bool wanted = ifm_is_ok(change) && strcmp(change->text, "undecided") == 0 && strcmp(cpu->text, "undecided") != 0 &&
                  !is_disturbed(builder, cell, arm);
    const struct ifm_publication *from = builder->from;
    const struct ifm_undecided of = {from->derived, from->verdict, from->events, cell, arm->name};
    const char *side = ifm_judge_cpu_side(&of, builder->arena), *word = side[0] != '\0' ? side : cpu->text;
    wanted |= side[0] != '\0';
    const char *number = ifm_quantity_number(cpu, builder->arena), *range = ifm_quantity_range(cpu, builder->arena);
    for (size_t g = 0; g < builder->from->plan->n_gates; g++)
        if (ifm_metric_of(builder->from->plan->gates[g].metric) == IFM_M_CHANGE_CPU_PERCENT) {
            const struct ifm_gate *gate = &builder->from->plan->gates[g];
            const bool limits = gate->op == IFM_GATE_AT_MOST && cpu->has_interval;
            word = limits && cpu->high <= gate->threshold ? IFM_WITHIN_LIMIT
                   : limits && cpu->low > gate->threshold ? "above the limit"
                                                          : word;
            ifm_judge_seen(&builder->from->plan->gates[g], cpu, builder->arena, &number,
                           &range); /* as its reason has it */
            wanted = true;
        }
    if (!wanted)
        return;
    range = bare ? "" : range;
    ifm_say(builder, line, IFM_TONE_PLAIN, "; CPU time per run ");
    ifm_say(builder, line, IFM_TONE_STRONG, "%s%s", cpu->number > 0 ? "+" : "", number);
    ifm_say(builder, line, IFM_TONE_PLAIN, "%s%s: %s", range[0] == '\0' ? "" : " ", range, word);
}

/* What runs of a program show says nothing of one that is slower than all of them and rarer (stats/tail.h, 1). */
const char *ifm_unseen_words(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n)
{
    const struct ifm_verdict *verdict = builder->from->verdict;
    struct ifm_few_runs fewest = {IFM_TAIL_RUNS, false};
    bool matters = builder->most > IFM_LEVEL_BRIEF; /* a terminal has it where it may change a word */
    for (size_t i = 0; i < n; i++) {
        matters |= ifm_judge_unseen_matters(builder->from->derived, &cells[i]);
        const struct ifm_few_runs runs = ifm_derived_fewest_runs(builder->from->derived, &cells[i], false);
        fewest = runs.n < fewest.n ? runs : fewest;
    }
    for (size_t g = 0; builder->most == IFM_LEVEL_BRIEF && g < verdict->n_gates; g++)
        if (verdict->gates[g].few_runs.n > 0) /* the verdict says it */
            return "";
    return fewest.n >= IFM_TAIL_RUNS || !matters ? "" : ifm_unseen_runs(fewest, builder->arena);
}

/* Of an arm that is compared with nothing: "5.00 µs a step, 0.4 J a token". */
static void say_time(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                     const struct ifm_arm *arm)
{
    const struct ifm_value *time = ifm_value_of(builder, cell, arm, IFM_M_STEP_NS);
    const struct ifm_value *token = ifm_value_of(builder, cell, arm, IFM_M_ENERGY_PER_TOKEN_J);
    const struct ifm_value *step = ifm_value_of(builder, cell, arm, IFM_M_ENERGY_PER_STEP_J);
    if (!ifm_is_ok(time)) {
        ifm_say(builder, line, IFM_TONE_PLAIN, " is %s: %s", ifm_state_label(time->state), time->reason);
        return;
    }
    ifm_say(builder, line, IFM_TONE_PLAIN, ": %s a step", ifm_quantity_full(time, builder->arena));
    if (ifm_is_ok(token) || ifm_is_ok(step))
        ifm_say(builder, line, IFM_TONE_PLAIN, ", %s a %s",
                ifm_quantity_full(ifm_is_ok(token) ? token : step, builder->arena),
                ifm_is_ok(token) ? "token" : "step");
}

/* A price that a table does not show is always said with the speed. */
static enum ifm_level level_of(const struct ifm_builder *builder, const struct ifm_cell *cell,
                               const struct ifm_arm *arm)
{
    const struct ifm_value *bytes = ifm_value_of(builder, cell, arm, IFM_M_BYTES_RATIO);
    return ifm_is_ok(bytes) ? IFM_LEVEL_ALWAYS : IFM_LEVEL_VERBOSE;
}

/* Whoever names a model asks about that, and attention is a part of it: its bytes come first. */
static void say_model(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                      const struct ifm_arm *arm)
{
    const struct ifm_arm *baseline = ifm_cell_baseline(cell);
    const double fewer = baseline == NULL ? 0 : ifm_model_fewer_bytes(baseline, arm);
    if (fewer <= 0)
        return;
    ifm_say(builder, line, IFM_TONE_PLAIN, ": a step of the whole model reads ");
    ifm_say(builder, line, IFM_TONE_STRONG, "%s", model_bytes(fewer, builder->arena));
    ifm_say(builder, line, IFM_TONE_PLAIN, "; its attention alone");
}

void ifm_say_outcome(struct ifm_builder *builder, struct ifm_line *line, const struct ifm_cell *cell,
                     const struct ifm_arm *arm, enum ifm_telling telling)
{
    const bool bare = telling >= IFM_TELL_BARE;
    say_model(builder, line, cell, arm);
    say_speed(builder, line, cell, arm, telling);
    say_rivals(builder, line, cell, arm, bare);
    say_cpu_change(builder, line, cell, arm, bare);
    const struct ifm_value *speedup = ifm_value_of(builder, cell, arm, IFM_M_SPEEDUP);
    if (speedup != NULL && speedup->state == IFM_STATE_INACTIVE) /* it has no price either */
        return;
    say_price(builder, line, cell, arm, telling != IFM_TELL_SHORT);
    say_energy_change(builder, line, cell, arm);
    say_refused_rate(builder, line, cell, arm);
}

static void add_outcome(struct ifm_builder *builder, struct ifm_block *list, const struct ifm_cell *cell,
                        const struct ifm_arm *arm, bool compares)
{
    const struct ifm_value *change = ifm_value_of(builder, cell, arm, IFM_M_CHANGE_PERCENT);
    struct ifm_item *item = ifm_add_item(builder, list);
    enum ifm_tone tone = ifm_tone_of_word(ifm_word_shown(builder, cell, arm, change));
    item->level = level_of(builder, cell, arm);
    item->place = arm->name;
    item->tone = !compares || tone != IFM_TONE_PLAIN ? tone : IFM_TONE_DIM;
    if (!compares) {
        say_time(builder, &item->line, cell, arm);
        return;
    }
    ifm_say_outcome(builder, &item->line, cell, arm, IFM_TELL_ALL);
}

size_t ifm_add_outcomes(struct ifm_builder *builder, struct ifm_block *list, const struct ifm_cell *cell, size_t most,
                        bool times)
{
    size_t n = 0;
    bool compares = false;
    for (size_t a = 0; a < cell->n_arms; a++)
        compares |= ifm_is_compared(builder, cell, &cell->arms[a]);
    for (size_t a = 0; (compares || times) && a < cell->n_arms; a++) {
        const struct ifm_arm *arm = &cell->arms[a];
        bool timed = ifm_is_row(builder, cell, arm) && ifm_value_of(builder, cell, arm, IFM_M_STEP_NS) != NULL;
        if ((compares ? ifm_is_compared(builder, cell, arm) : timed) && ++n <= most)
            add_outcome(builder, list, cell, arm, compares);
    }
    return n;
}

/* "1.01x to 1.10x": of one arm, by its name, in all cells where a model is named; "" where none is. */
static const char *model_range(const struct ifm_builder *builder, const struct ifm_cell *cells, size_t n,
                               const char *name)
{
    double least = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ifm_arm *baseline = ifm_cell_baseline(&cells[i]), *arm = ifm_cell_arm(&cells[i], name);
        const double fewer = baseline == NULL || arm == NULL || !ifm_is_compared(builder, &cells[i], arm)
                                 ? 0
                                 : ifm_model_fewer_bytes(baseline, arm);
        least = fewer > 0 && (least == 0 || fewer < least) ? fewer : least;
        most = fewer > most ? fewer : most;
    }
    if (most == 0)
        return "";
    return most - least < 0.005 ? ifm_arena_printf(builder->arena, "%.2fx", most)
                                : ifm_arena_printf(builder->arena, "%.2fx to %.2fx", least, most);
}

const char *ifm_model_words(struct ifm_builder *builder, const struct ifm_cell *cells, size_t n, bool told)
{
    const struct ifm_arm *baseline = n == 0 ? NULL : ifm_cell_baseline(cells);
    const char *list = "";
    for (size_t a = 0; baseline != NULL && a < cells->n_arms; a++) {
        const char *range = model_range(builder, cells, n, cells->arms[a].name);
        if (range[0] != '\0')
            list = ifm_arena_printf(builder->arena, "%s%s%s%s in %s", list, list[0] == '\0' ? ", together " : ", ",
                                    range, list[0] == '\0' ? " fewer bytes" : "", cells->arms[a].name);
    }
    if (list[0] == '\0')
        return "";
    char bytes[48];
    const char *weights = ifm_arm_setting(baseline, "decode.weight_bytes");
    uint64_t number = 0;
    (void)!ifm_parse_u64(weights == NULL ? "0" : weights, &number);
    const char *bits = ifm_arm_setting(baseline, "decode.weight_bits");
    const char *format =
        ifm_is_empty(bits) || strcmp(bits, "0") == 0 ? "" : ifm_arena_printf(builder->arena, "%s-bit, ", bits);
    const char *batch = ifm_arm_setting(baseline, "decode.batch");
    return ifm_arena_printf(
        builder->arena,
        "whole model, computed: a decode step of %s%s reads the weights once (%s, %sno embedding table; others: "
        "--weight-bytes) and the KV caches of all layers%s; fewer bytes are about its gain where memory is the limit",
        n > 1 ? "a batch" : "batch ",
        n > 1           ? ""
        : batch == NULL ? "1"
                        : batch,
        ifm_format_human((double)number, "B", bytes), format, told ? "" : list);
}
