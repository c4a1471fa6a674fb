/* The checklists' questions to the journal: locks, versions, seeds, load, inputs, sensors of power, and whether the
 * record is whole. What it does not say is not known, and never met. */
#include "judge/internal.h"

#include "model/facts.h"
#include "model/machine_facts.h"
#include <math.h>
#include <string.h>

#define MEASURE_AGAIN "measure again with this version"
#define FIND_NVML "let NVML be found: `inferometer doctor` says how"

/* What the journal says of an arm. */
struct told {
    size_t outputs; /* how many are known */
    bool changed;   /* they are not all the same */
};

static struct told told_of(const struct ifm_checking *c, const char *cell, const char *arm)
{
    struct told told = {0};
    const char *before = NULL;
    IFM_EACH(event, c->events, check, cell, arm) {
        const struct ifm_event_check *check = IFM_FACTS(event, check);
        if (check->output_xxh3 == NULL)
            continue;
        told.changed |= (before != NULL && strcmp(before, check->output_xxh3) != 0) || check->sets_differ;
        before = check->output_xxh3;
        told.outputs++;
    }
    return told;
}

/* ---- locks ---- */

/* The open knobs, once each, and one of them that could be locked: its value was read. */
static const struct ifm_event_knob *open_knobs(const struct ifm_events *events, struct ifm_text *names,
                                               const struct ifm_event_knob **first)
{
    const struct ifm_event_knob *readable = NULL;
    IFM_EACH(event, events, locks, NULL, NULL) {
        const struct ifm_knobs *knobs = &IFM_FACTS(event, locks)->knobs;
        for (size_t k = 0; k < knobs->n; k++) {
            const struct ifm_event_knob *knob = &knobs->items[k];
            if (knob->locked)
                continue;
            ifm_text_add_once(names, knob->knob);
            *first = *first == NULL ? knob : *first;
            readable = readable == NULL && knob->value != NULL ? knob : readable;
        }
    }
    return readable;
}

static bool were_read(const struct ifm_checking *c, const char *when)
{
    IFM_EACH(event, c->events, locks, NULL, NULL)
        if (strcmp(IFM_FACTS(event, locks)->when, when) == 0)
            return true;
    return false;
}

static bool on_gpu(const struct ifm_checking *c)
{
    return strcmp(c->plan->device, "cuda") == 0;
}

/* The state of all knobs that the journal holds. */
static struct ifm_check_item knobs_of(const struct ifm_checking *c)
{
    const struct ifm_event_knob *first = NULL;
    enum ifm_lock_state state = ifm_lock_state(c->events);
    if (state == IFM_LOCK_UNKNOWN || !were_read(c, "before") || !were_read(c, "after"))
        return ifm_check_absent(c, "let the run finish", "the locks were not read back before and after the run");
    if (state == IFM_LOCK_HELD)
        return ifm_check_met(c, "every knob that was read back was locked, before and after");
    struct ifm_text names = {0};
    const struct ifm_event_knob *readable = open_knobs(c->events, &names, &first);
    const struct ifm_event_knob *told = readable != NULL ? readable : first;
    struct ifm_check_item item =
        ifm_check_found(c, readable != NULL ? IFM_CHECK_NOT_MET : IFM_CHECK_ABSENT,
                        told->remedy == NULL ? "`inferometer doctor` says how" : told->remedy, "not locked: %s%s%s",
                        names.data, told->reason[0] == '\0' ? "" : "; ", told->reason);
    ifm_text_free(&names);
    return item;
}

struct ifm_check_item ifm_answer_locks(const struct ifm_checking *c)
{
    if (on_gpu(c))
        return ifm_check_absent(c, "the point before is its counterpart on a GPU",
                                "the run was on a GPU: its locks are the GPU's");
    return knobs_of(c);
}

/* What cannot be fixed is called unlocked, in the standard's own word. */
struct ifm_check_item ifm_answer_gpu(const struct ifm_checking *c)
{
    if (!on_gpu(c))
        return ifm_check_absent(c, "the next point is its counterpart on a processor",
                                "no GPU was measured: the run was on device %s", c->plan->device);
    struct ifm_check_item item = knobs_of(c);
    if (item.state != IFM_CHECK_MET)
        item.found = ifm_arena_printf(c->arena, "unlocked: %s", item.found);
    return item;
}

/* ---- the machine ---- */

/* "NVIDIA H200, driver 580.95" of a run on a GPU that could be read; "" else. */
static const char *gpu_of(const struct ifm_checking *c, const struct ifm_fingerprint *host)
{
    return on_gpu(c) ? ifm_fingerprint_gpu_words(host, c->arena) : "";
}

struct ifm_check_item ifm_answer_versions(const struct ifm_checking *c)
{
    struct ifm_fingerprint host = ifm_fingerprint_of(c->events);
    const char *gpu = gpu_of(c, &host);
    if (on_gpu(c) && gpu[0] == '\0')
        return ifm_check_unmet(c, FIND_NVML, "not recorded: the GPU and its driver");
    if (host.all == NULL)
        return ifm_check_unmet(c, MEASURE_AGAIN, "the journal holds no fingerprint of the machine");
    if (host.kernel == NULL || host.compiler == NULL || host.version == NULL)
        return ifm_check_unmet(c, MEASURE_AGAIN, "not recorded: %s",
                               host.kernel == NULL     ? "the kernel"
                               : host.compiler == NULL ? "the compiler"
                                                       : "the version of this program");
    struct ifm_text out = {0};
    ifm_text_printf(&out, "inferometer %s, %s, kernel %s", host.version, host.compiler, host.kernel);
    ifm_fingerprint_add_versions(host.packages, &out);
    if (gpu[0] != '\0')
        ifm_text_printf(&out, ", %s", gpu);
    ifm_fingerprint_add_versions(host.frameworks, &out);
    struct ifm_check_item item = ifm_check_met(c, "%s", out.data);
    ifm_text_free(&out);
    return item;
}

struct ifm_check_item ifm_answer_fingerprint(const struct ifm_checking *c)
{
    struct ifm_fingerprint host = ifm_fingerprint_of(c->events);
    if (json_object_size(host.all) == 0)
        return ifm_check_unmet(c, MEASURE_AGAIN, "the journal holds no fingerprint of the machine");
    const char *gpu = ifm_fingerprint_gpu_words(&host, c->arena);
    if (on_gpu(c) && gpu[0] == '\0')
        return ifm_check_unmet(c, FIND_NVML, "the run was on a GPU, and the fingerprint names none");
    return ifm_check_met(c, "%zu facts of %s: processor, caches, clocks, memory, kernel, build, packages%s%s",
                         json_object_size(host.all), host.cpu_model == NULL ? "the machine" : host.cpu_model,
                         gpu[0] == '\0' ? "" : "; ", gpu);
}

/* The arm of whose blocks the largest share was disturbed; NULL = none was. */
static const struct ifm_value *most_disturbed(const struct ifm_checking *c, double *blocks)
{
    const struct ifm_value *most = NULL;
    for (struct ifm_check_place at = {0}; ifm_checks_next(c, &at);) {
        const struct ifm_value *marked =
            ifm_derived_value(c->derived, at.cell->name, at.arm->name, IFM_M_BLOCKS_MARKED);
        const struct ifm_value *count = ifm_derived_value(c->derived, at.cell->name, at.arm->name, IFM_M_BLOCKS_COUNT);
        if (!ifm_is_ok(marked) || !ifm_is_ok(count) || marked->number <= 0 ||
            (most != NULL && marked->number * *blocks <= most->number * count->number))
            continue;
        most = marked;
        *blocks = count->number;
    }
    return most;
}

/* The load is read at both ends; what disturbed blocks shows what came between, and whoever reads 0 % must see it. */
struct ifm_check_item ifm_answer_load(const struct ifm_checking *c)
{
    size_t n = 0, unread = 0;
    double most = 0, blocks = 0;
    const char *when = "", *between = "";
    const struct ifm_value *marked = most_disturbed(c, &blocks);
    IFM_EACH(event, c->events, load, NULL, NULL) {
        const struct ifm_event_load *load = IFM_FACTS(event, load);
        n++;
        unread += isnan(load->foreign_load);
        if (load->foreign_load >= most) {
            most = load->foreign_load;
            when = load->when;
        }
    }
    if (most > c->limit)
        return ifm_check_unmet(c, "end what else runs, or take a machine of your own",
                               "other programs took %.3g %% of each CPU %s the run", ifm_load_percent(most), when);
    if (n == 0 || unread > 0)
        return ifm_check_absent(c, "measure on a device whose machine can be read", "%s",
                                n == 0 ? "the load was not read"
                                       : "the load could not be read before and after the run");
    if (marked != NULL)
        between = ifm_arena_printf(c->arena, "; in between, %.0f of %.0f blocks of an arm were disturbed",
                                   marked->number, blocks);
    if (marked != NULL && 2 * marked->number > blocks)
        return ifm_check_unmet(c, "end what else runs, or see why the arm disturbs itself",
                               "other programs took at most %.3g %% of each CPU before and after%s",
                               ifm_load_percent(most), between);
    return ifm_check_met(c, "other programs took at most %.3g %% of each CPU, read %zu times%s", ifm_load_percent(most),
                         n, between);
}

/* ---- seeds and inputs ---- */

/* An arm whose output, of the same inputs, was not always the same; NULL: none was seen. `n_same` arms gave it twice.
 */
static const char *changed_output(const struct ifm_checking *c, size_t *n_same)
{
    *n_same = 0;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        for (size_t a = 0; ifm_checks_cell(c, cell) && a < cell->n_arms; a++) {
            struct told told = told_of(c, cell->name, cell->arms[a].name);
            if (told.changed)
                return ifm_arena_printf(c->arena, "%s of %s", cell->arms[a].name, cell->name);
            *n_same += told.outputs > 1 && ifm_checks_arm(&cell->arms[a]);
        }
    }
    return NULL;
}

struct ifm_check_item ifm_answer_seed(const struct ifm_checking *c)
{
    size_t n;
    const char *place = changed_output(c, &n);
    unsigned long long seed = (unsigned long long)c->plan->seed;
    if (place != NULL)
        return ifm_check_unmet(c, "look for a race or for memory that is read before it is written",
                               "the same inputs gave another output (%s)", place);
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const char *workload = c->plan->cells[k].workload;
        if (strcmp(workload, "command") == 0 || strcmp(workload, "session") == 0)
            return ifm_check_absent(c, "give the measured code a seed of its own",
                                    "seed %llu draws the order; what the code of %s draws is its own", seed,
                                    c->plan->cells[k].name);
    }
    if (n == 0)
        return ifm_check_absent(c, "measure a workload that has an output",
                                "seed %llu draws data and order; no output was compared", seed);
    return ifm_check_met(c, "seed %llu draws data and order; %zu arm%s gave the same output again", seed, n,
                         n == 1 ? "" : "s");
}

/* A file that one session read with one content and a later one with another. */
static const char *changed_file(const struct ifm_events *events, size_t *n)
{
    *n = 0;
    IFM_EACH(event, events, input, NULL, NULL) {
        const struct ifm_event_input *input = IFM_FACTS(event, input);
        IFM_EACH(later, events, input, NULL, NULL)
            if (strcmp(IFM_FACTS(later, input)->token, input->token) == 0 &&
                strcmp(IFM_FACTS(later, input)->sha256, input->sha256) != 0)
                return input->file;
        ++*n;
    }
    return NULL;
}

/* Do two arms do the same work a step, on the same content? */
static bool same_work(const struct ifm_arm *a, const struct ifm_arm *b)
{
    return a->ledger.tokens_prompt == b->ledger.tokens_prompt &&
           a->ledger.tokens_generated == b->ledger.tokens_generated && a->ledger.rows == b->ledger.rows &&
           (a->stored_plain == b->stored_plain || a->stored_plain == 0 || b->stored_plain == 0);
}

/* Was the arm's output held against an oracle, or described by who measured it? */
static bool output_seen(const struct ifm_checking *c, const struct ifm_cell *cell, const struct ifm_arm *arm)
{
    IFM_EACH(event, c->events, check, cell->name, arm->name)
        if (IFM_FACTS(event, check)->done)
            return true;
    return false;
}

/* What would show that arms of the workload do the same work. */
static const char *how_to_see(const struct ifm_cell *cell)
{
    if (strcmp(cell->workload, "command") == 0)
        return "keep what each command writes with --output FILE, in a run of its own, and compare the files";
    if (strcmp(cell->workload, "session") == 0)
        return "give the session each arm's output or its error";
    return ifm_arm_unchecked(&cell->arms[0]) ? "give the plugin a check" : "measure a workload that has an output";
}

static struct ifm_check_item unseen_work(const struct ifm_checking *c, const struct ifm_cell *cell,
                                         const struct ifm_arm *base, const struct ifm_arm *arm)
{
    return ifm_check_absent(c, how_to_see(cell), "configuration %.12s; nothing compared the outputs of %s and %s of %s",
                            c->plan->config_hash, base->name, arm->name, cell->name);
}

/* The baseline of the cell, if there is one. */
static const struct ifm_arm *baseline_of(const struct ifm_cell *cell)
{
    for (size_t a = 0; a < cell->n_arms; a++)
        if (cell->arms[a].role == IFM_ROLE_BASELINE)
            return &cell->arms[a];
    return NULL;
}

struct ifm_check_item ifm_answer_inputs(const struct ifm_checking *c)
{
    struct ifm_check_item unseen = {0};
    size_t files;
    const char *changed = changed_file(c->events, &files);
    for (size_t i = 0; i < c->derived->n_findings; i++) {
        const struct ifm_finding *f = &c->derived->findings[i];
        if (strcmp(f->rule, "rule-04") == 0 && f->severity == IFM_SEVERITY_INVALID && f->cell[0] == '\0')
            return ifm_check_unmet(c, "measure again, in a folder of its own", "%s", f->text);
    }
    if (changed != NULL)
        return ifm_check_unmet(c, "measure again with one file", "the file %s changed during the run", changed);
    size_t compared = 0;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        const struct ifm_arm *base = baseline_of(cell);
        for (size_t a = 0; base != NULL && a < cell->n_arms; a++) {
            const struct ifm_arm *arm = &cell->arms[a];
            if (arm->role != IFM_ROLE_VARIANT)
                continue;
            if (!same_work(base, arm))
                return ifm_check_unmet(c, "give the arms the same batch, lengths and heads",
                                       "%s of %s does other work in a step than %s", arm->name, cell->name, base->name);
            compared++;
            if (unseen.found == NULL && !(output_seen(c, cell, base) && output_seen(c, cell, arm)))
                unseen = unseen_work(c, cell, base, arm);
        }
    }
    if (unseen.found != NULL)
        return unseen;
    return ifm_check_met(c, "configuration %.12s, %zu input file%s by SHA-256%s", c->plan->config_hash, files,
                         files == 1 ? "" : "s", compared == 0 ? "" : "; compared arms do the same work");
}

/* ---- how the run went ---- */

struct ifm_check_item ifm_answer_steady(const struct ifm_checking *c)
{
    size_t n = 0, unsteady = 0, silent = 0;
    const char *place = "", *mute = "";
    bool failed = false;
    for (struct ifm_check_place at = {0}; ifm_checks_next(c, &at); n++) {
        failed |= IFM_LAST(c->events, cell_failed, at.cell->name, NULL) != NULL;
        const struct ifm_event_warmup *warmup = IFM_LAST(c->events, warmup, at.cell->name, at.arm->name);
        const char *here = ifm_arena_printf(c->arena, "%s of %s", at.arm->name, at.cell->name);
        mute = warmup == NULL && silent++ == 0 ? here : mute;
        place = warmup != NULL && !warmup->steady && unsteady++ == 0 ? here : place;
    }
    if (unsteady > 0)
        return ifm_check_unmet(c, "a quieter machine, or a longer --warmup-cap", "%zu of %zu arms were not (%s%s)",
                               unsteady, n, place, unsteady > 1 ? ", ..." : "");
    if (n == 0)
        return ifm_check_no_arms(c);
    if (silent > 0)
        return ifm_check_absent(c, failed ? "see why it failed, and measure again" : "let the run finish",
                                "the journal does not say it of %s", mute);
    return ifm_check_met(c, "%zu arm%s: two windows agreed", n, n == 1 ? "" : "s");
}

struct ifm_check_item ifm_answer_stored(const struct ifm_checking *c)
{
    struct ifm_fingerprint host = ifm_fingerprint_of(c->events);
    size_t n = 0;
    for (size_t k = 0; k < c->plan->n_cells; k++) {
        const struct ifm_cell *cell = &c->plan->cells[k];
        if (!ifm_checks_cell(c, cell))
            continue;
        if (IFM_LAST(c->events, cell_done, cell->name, NULL) == NULL) {
            const bool failed = IFM_LAST(c->events, cell_failed, cell->name, NULL) != NULL;
            return ifm_check_unmet(c, failed ? "see why it failed, and measure again" : IFM_GO_ON,
                                   failed ? "%s failed, and has no whole record" : "%s has no whole record",
                                   cell->name);
        }
        n++;
    }
    if (IFM_FIRST(c->events, run_done) == NULL)
        return ifm_check_unmet(c, IFM_GO_ON, "the run did not finish");
    if (host.version == NULL)
        return ifm_check_unmet(c, MEASURE_AGAIN, "nothing says which version measured");
    return ifm_check_met(c, "%zu cell%s, run %s by version %s%s%.12s; verdict: %s", n, n == 1 ? "" : "s",
                         c->plan->run_id, host.version, host.revision == NULL ? "" : ", commit ",
                         host.revision == NULL ? "" : host.revision, ifm_outcome_words(c->verdict->outcome));
}

/* ---- energy ---- */

/* "gpu0 nvml_energy every 100 ms" of each sensor of a measured device that speaks at a known period. */
static const char *cadence_of(const struct ifm_checking *c, size_t *n_sensors)
{
    const char *list = "";
    *n_sensors = 0;
    IFM_EACH(event, c->events, power_sensor, NULL, NULL) {
        const struct ifm_event_power_sensor *sensor = IFM_FACTS(event, power_sensor);
        if (!sensor->measured)
            continue;
        ++*n_sensors;
        const char *name = ifm_arena_printf(c->arena, "%s %s every", sensor->device, sensor->source);
        if (sensor->period_ms > 0 && strstr(list, name) == NULL)
            list = ifm_arena_printf(c->arena, "%s%s%s %.3g ms", list, list[0] == '\0' ? "" : ", ", name,
                                    sensor->period_ms);
    }
    return list;
}

/* Why no sensor spoke, as the journal says. */
static struct ifm_check_item no_sensor(const struct ifm_checking *c, struct ifm_check_item otherwise)
{
    const struct ifm_event_power_absent *absent = IFM_FIRST(c->events, power_absent);
    if (absent == NULL)
        return otherwise;
    return ifm_check_absent(
        c, absent->remedy[0] == '\0' ? "`inferometer doctor` says which sensors this machine has" : absent->remedy,
        "%s: %s", absent->source, absent->reason);
}

struct ifm_check_item ifm_answer_energy(const struct ifm_checking *c)
{
    size_t n_sensors;
    const char *cadence = cadence_of(c, &n_sensors);
    struct ifm_check_item item =
        ifm_check_instrument(c, IFM_M_ENERGY_PER_TOKEN_J, "reads an energy counter",
                             "measure with --energy where one does: RAPL on a processor, NVML on a GPU");
    if (item.state != IFM_CHECK_MET)
        return n_sensors == 0 ? no_sensor(c, item) : item;
    if (n_sensors == 0)
        return item; /* an instrument of the slots, which has no cadence of its own */
    if (cadence[0] == '\0')
        return ifm_check_absent(c, "let the calibration at the start of the pass end",
                                "the period of no sensor of power is known");
    return ifm_check_met(c, "%s; read at a fixed cadence: %s", item.found, cadence);
}
