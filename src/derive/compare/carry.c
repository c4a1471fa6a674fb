/* Does an arm's time depend on which arm ran before it?
 *
 * A block holds the arms in an order and its mirror image, so that some slots of an arm follow one of its own and
 * others one of another arm. Where what the other left behind (a warm file, an emptied cache) makes a difference, half
 * of it lies in the comparison, and the arms are charged or paid for one another. So it may be with the slot before the
 * last one, as of programs that write two files in turn: that is seen in slots whose last one was another arm's. */
#include "derive/internal.h"

#include "model/longer.h"
#include "stats/stats.h"
#include <math.h>

/* A dependence is taken for real at this level, all questions of a comparison together (two arms, two lags:
 * Bonferroni), from so many pairs on. */
static const double SURELY = 1 - 0.003 / 4;
enum { FEWEST_PAIRS = 4, FEWEST_OWN = 2 };
/* Where slots were disturbed, so many that were not, and half of all, tell the order of slots from the load: fewer are
 * no fair choice, as the slots of either place that the load spared. */
enum { FEWEST_QUIET = 12 };
/* ... and where the medians differ by this share of it. */
static const double TYPICAL = 0.25;
/* Said as a factor that is printed as 1, it says nothing. */
static const double VISIBLE = 0.0005;
/* A warning where it may move the comparison by so much, else a note. */
static const double WORTH_WARNING = 0.01;

/* Of the arm's slots those behind another arm against the nearest behind its own. */
struct carry {
    size_t own, other; /* slots behind its own and behind another arm's */
    double own_ns, other_ns;
    struct {
        size_t n;
        double mean, squares;
    } pairs;        /* of ln(time behind another / time behind its own) */
    double mean[2]; /* of ln(time) behind its own and behind another */
    double squares; /* about these, of both */
};

/* The slot `lag` ones before `k` says whether another arm ran; false where it does not tell of that alone. */
static bool follows(const struct ifm_record *r, size_t k, size_t lag, bool *other)
{
    for (size_t i = 1; i <= lag; i++) {
        if (k < i || r->slots[k - i].phase != IFM_PHASE_MEASURE)
            return false;
        *other = r->slots[k - i].arm != r->slots[k].arm;
        if (i < lag && !*other)
            return false;
    }
    return true;
}

/* Of the slots of an arm that count: `other` says what ran `lag` slots before. */
struct counting {
    const struct ifm_arm_work *arm;
    struct ifm_cause_columns columns;
    bool disturbed_too;
    size_t lag;
    const struct ifm_places *places; /* whose part is taken off; NULL = none is */
};

static bool counts(const struct counting *c, size_t k, bool *other)
{
    const struct ifm_record *r = c->arm->work->record;
    double lost;
    return r->slots[k].arm == c->arm->index && r->slots[k].phase == IFM_PHASE_MEASURE && follows(r, k, c->lag, other) &&
           (c->disturbed_too || ifm_slot_cause(&r->slots[k], &c->columns, &lost) == IFM_CAUSE_NONE);
}

/* ln(time), of a CPU like the others. */
static double value_of(const struct counting *c, size_t k)
{
    const struct ifm_record *r = c->arm->work->record;
    return log(ifm_derive_slot_step_ns(r, k)) - (c->places == NULL ? 0 : ifm_derive_place_part(c->places, r, k));
}

/* How much ln(time) grows from slot to slot: in a block the slot behind another arm is always the later one, or always
 * the earlier, and a drift is no carry-over. */
static double drift_of(const struct counting *c)
{
    const struct ifm_record *r = c->arm->work->record;
    double n = 0, mean_k = 0, mean_log = 0, squares = 0, products = 0;
    bool other;
    for (size_t k = 1; k < r->n_slots; k++) {
        if (!counts(c, k, &other))
            continue;
        const double value = value_of(c, k), off = (double)k - mean_k;
        n += 1;
        mean_k += off / n;
        mean_log += (value - mean_log) / n;
        products += off * (value - mean_log);
        squares += off * ((double)k - mean_k);
    }
    return squares > 0 ? products / squares : 0;
}

/* Are two groups apart by their ranks too (Mann and Whitney 1947, normal approximation)? Where they are so few that
 * nothing is sure by ranks, they must not overlap at all. */
static bool is_apart(double *own, size_t n, double *other, size_t m, double *room)
{
    double above = 0, z; /* pairs in which the other is above, half of those that are equal */
    ifm_stats_sort(own, room, n);
    ifm_stats_sort(other, room, m);
    for (size_t k = 0, below = 0, upto = 0; k < m; k++) {
        while (below < n && own[below] < other[k])
            below++;
        while (upto < n && own[upto] <= other[k])
            upto++;
        above += 0.5 * (double)(below + upto);
    }
    const double pairs = (double)n * (double)m, off = fabs(above - pairs / 2);
    if (above == 0 || above == pairs)
        return true;
    return ifm_stats_normal_quantile(0.5 + 0.5 * SURELY, &z) == IFM_STAT_OK &&
           off - 0.5 > z * sqrt(pairs * (double)(n + m + 1) / 12);
}

/* Whether the typical slot behind another arm is later or earlier by a quarter of the effect too, and the ranks say so:
 * a few slots that a busy machine made long, or slow runs that come by chance, are no carry-over. */
static bool is_typical(const struct counting *c, double effect)
{
    const struct ifm_record *r = c->arm->work->record;
    struct ifm_arena *scratch = ifm_arena_create();
    double *logs[2] = {IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1),
                       IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1)};
    double *room = IFM_ARENA_ARRAY(scratch, double, r->n_slots + 1), middle[2] = {0, 0};
    size_t n[2] = {0, 0};
    bool other, made = true;
    const double drift = drift_of(c);
    for (size_t k = 1; k < r->n_slots; k++)
        if (counts(c, k, &other))
            logs[other][n[other]++] = value_of(c, k) - drift * (double)k;
    const bool apart = is_apart(logs[0], n[0], logs[1], n[1], room);
    for (size_t i = 0; i < 2; i++)
        made = made && ifm_stats_median(logs[i], n[i], room, &middle[i]) == IFM_STAT_OK;
    ifm_arena_destroy(scratch);
    return apart && made && (middle[1] - middle[0]) / effect >= TYPICAL;
}

static struct carry carry_of(const struct counting *counting)
{
    const struct ifm_record *r = counting->arm->work->record;
    const double drift = drift_of(counting);
    struct carry c = {0};
    double last[2] = {NAN, NAN}; /* ln(time) behind its own and behind another that no pair has yet */
    bool other;
    for (size_t k = 1; k < r->n_slots; k++) {
        if (!counts(counting, k, &other))
            continue;
        const double ns = ifm_derive_slot_step_ns(r, k);
        last[other] = value_of(counting, k) - drift * (double)k;
        *(other ? &c.other : &c.own) += 1;
        *(other ? &c.other_ns : &c.own_ns) += ns;
        const double off = last[other] - c.mean[other];
        c.mean[other] += off / (double)(other ? c.other : c.own);
        c.squares += off * (last[other] - c.mean[other]);
        const double log_ratio = last[1] - last[0];
        if (isnan(log_ratio))
            continue;
        const double delta = log_ratio - c.pairs.mean;
        c.pairs.mean += delta / (double)++c.pairs.n;
        c.pairs.squares += delta * (log_ratio - c.pairs.mean);
        last[0] = last[1] = NAN;
    }
    return c;
}

/* ln(time behind another / time behind its own), with its half-width at SURELY. */
struct effect {
    double mean, half;
};

/* Of few pairs all slots behind another arm stand against the few behind their own, with one variance. */
static bool measure_few(const struct carry *c, struct effect *out)
{
    const double own = (double)c->own, other = (double)c->other;
    double t;
    if (c->own < FEWEST_OWN || c->other < FEWEST_PAIRS ||
        ifm_stats_t_quantile(0.5 + 0.5 * SURELY, own + other - 2, &t) != IFM_STAT_OK)
        return false;
    out->mean = c->mean[1] - c->mean[0];
    out->half = t * sqrt(c->squares / (own + other - 2) * (1 / own + 1 / other));
    return true;
}

static bool measure(const struct carry *c, struct effect *out)
{
    double t, n = (double)c->pairs.n;
    if (c->pairs.n < FEWEST_PAIRS)
        return measure_few(c, out);
    if (ifm_stats_t_quantile(0.5 + 0.5 * SURELY, n - 1, &t) != IFM_STAT_OK)
        return false;
    out->mean = c->pairs.mean;
    out->half = t * sqrt(c->pairs.squares / (n - 1) / n);
    return true;
}

/* What a comparison would lose of the arm's logarithm were each slot behind one of its own: by the share of slots that
 * are not, and at most, were all that count behind another arm and the effect at its far end. */
struct carried_part {
    double usual, most;
    const char *words;
};

/* ---- a machine that alternates ---- */

/* In mirrored blocks of two arms one that runs behind itself does so in slots of even number alone, so that a machine
 * whose every other slot is slow looks like carry-over, of both arms. The first slot of a block, which is even too,
 * has either kind before it, and tells the two apart. */
struct parity {
    size_t n[2][2];             /* by the slot's number, even or odd, and what ran before, its own or another arm */
    double mean[2][2], squares; /* of ln(time); about the four means */
};

static struct parity parity_of(const struct counting *c)
{
    const struct ifm_record *r = c->arm->work->record;
    const double drift = drift_of(c);
    struct parity p = {.squares = 0};
    bool other;
    for (size_t k = 1; k < r->n_slots; k++) {
        if (!counts(c, k, &other))
            continue;
        const double value = value_of(c, k) - drift * (double)k;
        double *mean = &p.mean[k % 2][other];
        const double off = value - *mean;
        *mean += off / (double)++p.n[k % 2][other];
        p.squares += off * (value - *mean);
    }
    return p;
}

/* Of the one of two conditions with the other held: of odd numbers, or of another arm before. False where no pair of
 * groups differs in that alone. */
static bool measure_held(const struct parity *p, bool of_number, struct effect *out)
{
    double sum = 0, weights = 0, t, n = 0, groups = 0;
    for (size_t i = 0; i < 2; i++) {
        const size_t *one = of_number ? &p->n[0][i] : &p->n[i][0], *two = of_number ? &p->n[1][i] : &p->n[i][1];
        const double change = of_number ? p->mean[1][i] - p->mean[0][i] : p->mean[i][1] - p->mean[i][0];
        const double a = (double)*one, b = (double)*two, weight = a + b > 0 ? a * b / (a + b) : 0;
        sum += weight * change;
        weights += weight;
        for (size_t k = 0; k < 2; k++) {
            n += (double)p->n[i][k];
            groups += p->n[i][k] > 0;
        }
    }
    if (weights <= 0 || ifm_stats_t_quantile(0.5 + 0.5 * SURELY, n - groups, &t) != IFM_STAT_OK)
        return false;
    out->mean = sum / weights;
    out->half = t * sqrt(p->squares / (n - groups) / weights);
    return true;
}

/* All of one number against all of the other, where what ran before has no part that could be held. */
static bool measure_numbers(struct parity p, struct effect *out)
{
    if (measure_held(&p, true, out))
        return true;
    for (size_t odd = 0; odd < 2; odd++) {
        p.mean[odd][0] = p.n[odd][0] > 0 ? p.mean[odd][0] : p.mean[odd][1];
        p.n[odd][0] += p.n[odd][1];
        p.n[odd][1] = 0;
    }
    return measure_held(&p, true, out);
}

static struct counting counting_of(const struct ifm_arm_work *arm, bool disturbed_too, size_t lag)
{
    const struct ifm_record *r = arm->work->record;
    return (struct counting){arm, ifm_cause_columns_of((const char *const *)r->column_names, r->n_columns),
                             disturbed_too, lag, NULL};
}

static bool is_enough(size_t quiet, size_t all)
{
    return quiet == all || (quiet >= FEWEST_QUIET && 2 * quiet >= all);
}

/* Are too many slots of the arm disturbed to tell what their order does, in either place? */
static bool is_hidden(const struct ifm_arm_work *arm, size_t lag)
{
    const struct counting quiet = counting_of(arm, false, lag), every = counting_of(arm, true, lag);
    const struct carry some = carry_of(&quiet), all = carry_of(&every);
    return !is_enough(some.own, all.own) || !is_enough(some.other, all.other);
}

bool ifm_derive_hides_order(const struct ifm_arm_work *arm)
{
    return is_hidden(arm, 1) || is_hidden(arm->work->baseline, 1);
}

static struct carried_part part_in(const struct ifm_arm_work *arm, bool disturbed_too, size_t lag,
                                   const struct ifm_places *places)
{
    struct counting counting = counting_of(arm, disturbed_too, lag);
    counting.places = places;
    const struct carry c = carry_of(&counting);
    char other[48], own[48];
    struct effect effect;
    if (!measure(&c, &effect) || fabs(effect.mean) <= effect.half || !is_typical(&counting, effect.mean))
        return (struct carried_part){.words = ""};
    return (struct carried_part){
        .usual = effect.mean * (double)c.other / (double)(c.own + c.other),
        .most = effect.mean + copysign(effect.half, effect.mean),
        .words = ifm_arena_printf(arm->d->arena,
                                  lag == 1 ? "%s takes %s behind another arm and %s behind itself%s"
                                           : "%s takes %s two slots behind another arm and %s two behind itself%s",
                                  arm->arm->name, ifm_format_human(1e-9 * c.other_ns / (double)c.other, "s", other),
                                  ifm_format_human(1e-9 * c.own_ns / (double)c.own, "s", own),
                                  !disturbed_too            ? " in undisturbed slots"
                                  : arm->work->n_marked > 0 ? " in all slots"
                                                            : ""),
    };
}

/* The larger of two: disturbed slots scatter and can hide it; without them it may be gone, as the same wait is a larger
 * share of a short slot, so that the short ones behind their own arm are left out and the long ones stand. */
static struct carried_part part_of(const struct ifm_arm_work *arm, size_t lag, const struct ifm_places *places)
{
    const struct carried_part quiet = part_in(arm, false, lag, places), all = part_in(arm, true, lag, places);
    return fabs(all.usual) > fabs(quiet.usual) ? all : quiet;
}

/* May the number of the slot explain what was taken for carry-over of the arm, and by how much are odd ones longer? */
enum explained { UNEXPLAINED = 0, BY_EITHER, BY_NUMBER };
static enum explained explained_in(const struct ifm_arm_work *arm, size_t lag, struct effect *odd)
{
    const struct counting quiet = counting_of(arm, false, lag), all = counting_of(arm, true, lag);
    const struct counting *counting = is_hidden(arm, lag) ? &all : &quiet;
    const struct carry c = carry_of(counting);
    struct effect carry, before;
    const struct parity p = parity_of(counting);
    if (!measure(&c, &carry) || !measure_numbers(p, odd))
        return UNEXPLAINED;
    if (!measure_held(&p, false, &before))
        return BY_EITHER;
    if (fabs(before.mean) > before.half && fabs(before.mean) >= TYPICAL * fabs(carry.mean))
        return UNEXPLAINED;
    return fabs(before.mean) + before.half < fabs(carry.mean) / 2 ? BY_NUMBER : BY_EITHER;
}

/* Both arms alike, in a machine that alternates; where one alone does, it is that arm's doing. */
static enum explained alternates(const struct ifm_arm_work *arm, const char **words)
{
    const struct ifm_arm_work *const arms[] = {arm, arm->work->baseline};
    enum explained least = BY_NUMBER;
    struct effect odd[2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < 2; i++) {
        const enum explained its = explained_in(arms[i], 1, &odd[i]);
        least = its < least ? its : least;
    }
    const bool sure = fabs(odd[0].mean + odd[1].mean) > hypot(odd[0].half, odd[1].half);
    if (least == UNEXPLAINED || !sure || odd[0].mean * odd[1].mean < 0 ||
        2 * fmin(fabs(odd[0].mean), fabs(odd[1].mean)) < fmax(fabs(odd[0].mean), fabs(odd[1].mean)))
        return UNEXPLAINED;
    /* A share, which both arms have: a time would be taken for that of the row. */
    *words = ifm_arena_printf(arm->d->arena, "by about %.2g %%", 100 * expm1(fabs(odd[0].mean + odd[1].mean) / 2));
    return least;
}

/* What comes of which arm ran before, were the machine the same in every slot but for its CPUs. */
static struct ifm_carried carried_of(const struct ifm_arm_work *arm)
{
    const struct ifm_arm_work *const arms[] = {arm, arm->work->baseline};
    struct ifm_carried carried = {.words = "", .alternates = "", .places = ifm_derive_places(arm), .hidden = false};
    for (size_t i = 0; i < 2; i++)
        for (size_t lag = 1; lag <= 2; lag++) {
            const struct carried_part part = part_of(arms[i], lag, &carried.places);
            const double sign = i == 0 ? 1 : -1;
            if (part.words[0] == '\0')
                continue;
            carried.low += fmin(sign * part.most, 0);
            carried.high += fmax(sign * part.most, 0);
            if (is_hidden(arms[i], lag)) {
                carried.hidden = true;
                continue;
            }
            carried.usual += sign * part.usual;
            carried.words = ifm_arena_printf(arm->d->arena, "%s%s%s", carried.words,
                                             carried.words[0] != '\0' ? ", " : "", part.words);
        }
    return carried;
}

struct ifm_carried ifm_derive_carried(const struct ifm_arm_work *arm)
{
    struct ifm_carried carried = carried_of(arm);
    const char *words;
    const bool told = carried.places.words[0] != '\0'; /* where slots alternate, CPUs do */
    const enum explained explained = carried.words[0] == '\0' || told ? UNEXPLAINED : alternates(arm, &words);
    carried.low += fmin(carried.places.moves, 0);
    carried.high += fmax(carried.places.moves, 0);
    if (explained == BY_NUMBER) /* each arm has as many slots of either in a block and its mirror image */
        return (struct ifm_carried){.words = "", .alternates = words, .places = carried.places};
    if (explained == BY_EITHER) {
        carried.words = "";
        carried.alternates = words;
        carried.hidden = true;
    }
    return carried;
}

bool ifm_derive_is_carried(const struct ifm_carried *carried)
{
    return carried->words[0] != '\0' && fabs(carried->usual) >= VISIBLE;
}

/* Slots of the arm that were disturbed, of all. */
static size_t count_disturbed(const struct ifm_arm_work *arm, size_t *all)
{
    const struct counting every = counting_of(arm, true, 1);
    const struct ifm_record *r = arm->work->record;
    size_t n = *all = 0;
    double lost;
    for (size_t k = 0; k < r->n_slots; k++) {
        const bool own = r->slots[k].arm == arm->index && r->slots[k].phase == IFM_PHASE_MEASURE;
        *all += own;
        n += own && ifm_slot_cause(&r->slots[k], &every.columns, &lost) != IFM_CAUSE_NONE;
    }
    return n;
}

/* `taken`: another finding takes the word. */
static void say_hidden(const struct ifm_arm_work *arm, bool changes_the_word, bool taken)
{
    size_t own_all, base_all;
    const size_t own = count_disturbed(arm, &own_all), base = count_disturbed(arm->work->baseline, &base_all);
    const bool warns = changes_the_word && !taken;
    struct ifm_finding *said =
        ifm_derive_say_arm(arm, warns ? IFM_SEVERITY_WARNING : IFM_SEVERITY_NOTE, "rule-07",
                           "%zu of %zu slots were disturbed, too many to tell " IFM_ORDER_HIDDEN_WORDS
                           ": the interval holds the change either way%s",
                           own + base, own_all + base_all, warns ? ": undecided" : "");
    said->kind = IFM_FINDING_ORDER_HIDDEN;
    said->takes_word = warns;
}

/* Samples in the baseline's slots. */
static double held_of(const struct ifm_cell_work *work)
{
    const struct ifm_record *r = work->record;
    for (size_t k = r->n_slots; k-- > 0;)
        if (r->slots[k].phase == IFM_PHASE_MEASURE && r->slots[k].arm == work->baseline->index)
            return r->slots[k].samples;
    return 0;
}

enum { STEPS = 12 };

const char *ifm_derive_more_slots(const struct ifm_cell_work *work)
{
    const char *longer = held_of(work) < STEPS ? "" : ifm_longer(work->cell, work->d->facts->events, 2, work->d->arena);
    return longer[0] != '\0' ? longer : ifm_derive_longer_slots(work);
}

/* Twelve samples, or twice what they hold. What ended the run would end one of longer slots after fewer blocks. */
const char *ifm_derive_longer_slots(const struct ifm_cell_work *work)
{
    static const char *const names[][3] = {{"--slot-steps ", " --repeats ", " --cap "},
                                           {"measure.slot_steps=", ", measure.repeats=", ", measure.cap="}};
    const char *const *name = names[strcmp(work->cell->workload, "session") == 0];
    const struct ifm_measure *measure = &work->cell->measure;
    const struct ifm_record *r = work->record;
    const struct ifm_slot *first = NULL, *last = NULL;
    size_t blocks = work->n_measured > IFM_MANY_BLOCKS ? IFM_MANY_BLOCKS : work->n_measured;
    blocks = blocks < IFM_BLOCKS_NEEDED ? IFM_BLOCKS_NEEDED : blocks;
    const double held = held_of(work), steps = held < STEPS ? STEPS : 2 * held;
    const char *slots = ifm_arena_printf(work->d->arena, "%s%.0f", name[0], steps);
    const double repeats = 2 * steps * (double)blocks;
    const char *least = measure->stop == IFM_STOP_REPEATS
                            ? ifm_longer_slot_min(work->cell, work->d->facts->events, steps, work->d->arena)
                            : "";
    if (least[0] != '\0')
        least = ifm_arena_printf(work->d->arena, "%s%s", name[0][0] == '-' ? " " : ", ", least);
    if (measure->stop == IFM_STOP_REPEATS)
        return repeats <= (double)measure->repeats
                   ? slots
                   : ifm_arena_printf(work->d->arena, "%s%s%.0f%s", slots, name[1], repeats, least);
    for (size_t k = 0; k < r->n_slots; k++) {
        const struct ifm_slot *slot = &r->slots[k];
        if (slot->phase != IFM_PHASE_MEASURE)
            continue;
        first = first == NULL ? slot : first;
        last = slot;
    }
    const double seconds = last == NULL ? 0 : 1e-9 * (double)(last->end_ns - first->start_ns),
                 each = seconds / fmax((double)work->n_measured, 1) * (held > 0 ? fmax(steps / held, 1) : 1),
                 cap_s = ceil(each * (double)blocks);
    return cap_s <= measure->cap_s ? slots : ifm_arena_printf(work->d->arena, "%s%s%.0fs", slots, name[2], cap_s);
}

/* Blocks hold each arm in slots of either kind: the comparison stands, but where nobody can tell this from an order. */
static void say_alternates(const struct ifm_arm_work *arm, const struct ifm_carried *carried, bool changes_the_word)
{
    struct ifm_finding *said = ifm_derive_say_arm(
        arm, IFM_SEVERITY_WARNING, "rule-07",
        IFM_ALTERNATES_WORDS " (%s)" IFM_ALTERNATES_END "%s%s" IFM_REMEDY
                             "a quieter machine, or %s, which averages over both",
        carried->alternates,
        carried->hidden ? ", too regularly to tell " IFM_ORDER_HIDDEN_WORDS ": the interval holds the change either way"
                        : "",
        changes_the_word ? ": undecided" : "", ifm_derive_longer_slots(arm->work));
    said->kind = carried->hidden ? IFM_FINDING_ORDER_HIDDEN : IFM_FINDING_ALTERNATES;
    said->takes_word = changes_the_word;
}

/* As alternating: what of it lies in the comparison, the interval holds. */
static void say_places(const struct ifm_arm_work *arm, const struct ifm_places *places, bool changes_the_word)
{
    const char *moves =
        fabs(places->moves) < VISIBLE
            ? ""
            : ifm_arena_printf(arm->d->arena, ": moves the comparison by %+.2g %%, which its interval holds",
                               100 * expm1(places->moves));
    struct ifm_finding *said = ifm_derive_say_arm(
        arm, IFM_SEVERITY_WARNING, "rule-07",
        IFM_PLACES_WORDS " (%s)" IFM_ALTERNATES_END "%s%s" IFM_REMEDY
                         "pin all to any one CPU (`taskset -c %lld inferometer ...`), if one is enough",
        places->words, moves, changes_the_word ? ": undecided" : "", (long long)places->fast);
    said->kind = IFM_FINDING_ALTERNATES;
    said->takes_word = changes_the_word;
}

void ifm_derive_say_carried(const struct ifm_arm_work *arm, const struct ifm_carried *carried, bool changes_the_word,
                            bool taken)
{
    const bool warns = changes_the_word || fmax(-carried->low, carried->high) > WORTH_WARNING;
    if (carried->places.words[0] != '\0')
        say_places(arm, &carried->places, changes_the_word && carried->words[0] == '\0');
    if (carried->alternates[0] != '\0') {
        say_alternates(arm, carried, changes_the_word);
        return;
    }
    if (carried->words[0] == '\0' && carried->hidden)
        say_hidden(arm, changes_the_word, taken);
    if (carried->words[0] == '\0' || !(changes_the_word || ifm_derive_is_carried(carried)))
        return;
    const char *moves =
        ifm_derive_is_carried(carried)
            ? ifm_arena_printf(arm->d->arena, "moves the comparison by %+.2g %%, as its slots are mixed",
                               100 * expm1(carried->usual))
            : ifm_arena_printf(arm->d->arena, "may move the comparison by %+.2g to %+.2g %%", 100 * expm1(carried->low),
                               100 * expm1(carried->high));
    struct ifm_finding *said = ifm_derive_say_arm(
        arm, warns ? IFM_SEVERITY_WARNING : IFM_SEVERITY_NOTE, "rule-07",
        IFM_CARRIED_WORDS
        " (%s), which %s: its interval holds those of both orders, wide as each has fewer slots%s" IFM_REMEDY
        "%s, as the time depends on which arm ran before: twice that if it still does",
        carried->words, moves, changes_the_word ? ": undecided" : "", ifm_derive_longer_slots(arm->work));
    said->kind = IFM_FINDING_ORDER;
    said->takes_word = changes_the_word;
}
