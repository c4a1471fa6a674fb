/* In what two runs differ: plan against plan, journal against journal. It reads no number of time. */
#include "derive/compare/likeness.h"

#include "base/json.h"
#include "model/machine_facts.h"
#include <math.h>
#include <string.h>

/* Runs further apart than this met another state of the machine, however alike they are otherwise. */
#define APART_NS 3.6e12 /* an hour */

enum { FIELDS_SHOWN = 4, TEXT_SHOWN = 60, TOKENS = 4 /* plan rules since which a token is of the whole depth */ };

static const char *text_or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

/* Refusing differences stand before the others, each kind in the order in which it was found. */
static void add(struct ifm_likeness *out, enum ifm_difference_kind kind, const char *field, const char *reference,
                const char *other)
{
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->items[i].field, field) == 0)
            return; /* two arms of one ratio share most of their fields */
    IFM_ARENA_GROW(out->arena, out->items, out->n, out->capacity);
    size_t at = kind == IFM_DIFFERENCE_REFUSES ? out->n_refusing++ : out->n;
    memmove(&out->items[at + 1], &out->items[at], (out->n - at) * sizeof *out->items);
    out->items[at] = (struct ifm_difference){field, text_or_empty(reference), text_or_empty(other)};
    out->n++;
}

static void add_text(struct ifm_likeness *out, enum ifm_difference_kind kind, const char *field, const char *reference,
                     const char *other)
{
    if (strcmp(text_or_empty(reference), text_or_empty(other)) != 0)
        add(out, kind, field, reference, other);
}

static void add_u64(struct ifm_likeness *out, enum ifm_difference_kind kind, const char *field, uint64_t reference,
                    uint64_t other)
{
    if (reference != other)
        add(out, kind, field, ifm_arena_printf(out->arena, "%llu", (unsigned long long)reference),
            ifm_arena_printf(out->arena, "%llu", (unsigned long long)other));
}

/* What a device is, has or needs: between devices it qualifies. */
static enum ifm_difference_kind of_device(const struct ifm_likeness *out)
{
    return out->across ? IFM_DIFFERENCE_QUALIFIES : IFM_DIFFERENCE_REFUSES;
}

/* ---- the journal ---- */

static const char *json_text(const json_t *value, struct ifm_arena *arena)
{
    if (value == NULL)
        return "";
    if (json_is_string(value))
        return json_string_value(value);
    if (json_object_get(value, "absent") != NULL)
        return "absent";
    struct ifm_text text = {0};
    ifm_json_print(value, false, &text);
    bool cut = text.size > TEXT_SHOWN;
    const char *shown = ifm_arena_printf(arena, "%.*s%s", TEXT_SHOWN, text.data, cut ? "..." : "");
    ifm_text_free(&text);
    return shown;
}

/* Every leaf that differs, by its path. Lists are compared whole. */
static void add_tree(struct ifm_likeness *out, const char *path, const json_t *reference, const json_t *other)
{
    if (json_equal(reference, other))
        return;
    bool leaf = !json_is_object(reference) || !json_is_object(other) || json_object_get(reference, "absent") != NULL ||
                json_object_get(other, "absent") != NULL;
    if (leaf) {
        add(out, IFM_DIFFERENCE_QUALIFIES, path, json_text(reference, out->arena), json_text(other, out->arena));
        return;
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)reference, key, value)
        add_tree(out, ifm_arena_printf(out->arena, "%s.%s", path, key), value, json_object_get(other, key));
    json_object_foreach((json_t *)other, key, value)
    {
        if (json_object_get(reference, key) == NULL)
            add_tree(out, ifm_arena_printf(out->arena, "%s.%s", path, key), NULL, value);
    }
}

static const struct ifm_event_knob *knob_of(const struct ifm_events *events, const char *name)
{
    const struct ifm_event_locks *locks = IFM_FIRST(events, locks);
    for (size_t i = 0; locks != NULL && i < locks->knobs.n; i++)
        if (strcmp(locks->knobs.items[i].knob, name) == 0)
            return &locks->knobs.items[i];
    return NULL;
}

static const char *value_of(const struct ifm_event_knob *knob)
{
    return knob == NULL ? "" : knob->value == NULL ? "null" : knob->value;
}

/* The knobs of `reference` beside their namesakes; `turned`: the reference is really the other run. */
static void add_knobs(struct ifm_likeness *out, const struct ifm_events *reference, const struct ifm_events *other,
                      bool turned)
{
    const struct ifm_event_locks *locks = IFM_FIRST(reference, locks);
    for (size_t i = 0; locks != NULL && i < locks->knobs.n; i++) {
        const struct ifm_event_knob *knob = &locks->knobs.items[i];
        const char *mine = value_of(knob), *its = value_of(knob_of(other, knob->knob));
        if (strcmp(mine, its) != 0)
            add(out, IFM_DIFFERENCE_QUALIFIES, ifm_arena_printf(out->arena, "locks.%s", knob->knob),
                turned ? its : mine, turned ? mine : its);
    }
}

/* A path whose content changed in between: same settings, other data. */
static void add_inputs(struct ifm_likeness *out, const struct ifm_events *a, const struct ifm_events *b)
{
    IFM_EACH(one, a, input, NULL, NULL)
        IFM_EACH(other, b, input, NULL, NULL) {
            const struct ifm_event_input *mine = IFM_FACTS(one, input), *its = IFM_FACTS(other, input);
            if (strcmp(mine->token, its->token) == 0 && strcmp(mine->sha256, its->sha256) != 0)
                add(out, IFM_DIFFERENCE_REFUSES, ifm_arena_printf(out->arena, "content of %s", mine->setting),
                    ifm_arena_printf(out->arena, "%.12s", mine->sha256),
                    ifm_arena_printf(out->arena, "%.12s", its->sha256));
        }
}

static int64_t start_ns(const struct ifm_events *events)
{
    const struct ifm_event *start = ifm_events_next(events, IFM_STAGE_run_start, NULL, NULL, NULL);
    return start == NULL ? 0 : start->t_ns;
}

static const char *version_of(const struct ifm_events *events)
{
    const struct ifm_event_run_start *start = IFM_FIRST(events, run_start);
    return start == NULL ? NULL : start->version;
}

void ifm_likeness_runs(const struct ifm_run_view *reference, const struct ifm_run_view *other, struct ifm_likeness *out)
{
    const enum ifm_difference_kind qualifies = IFM_DIFFERENCE_QUALIFIES;
    const struct ifm_events *a = reference->events, *b = other->events;
    add_text(out, of_device(out), "device", reference->plan->device, other->plan->device);
    add_inputs(out, a, b);
    enum ifm_lock_state locks_a = ifm_lock_state(a), locks_b = ifm_lock_state(b);
    if (locks_a != IFM_LOCK_HELD || locks_b != IFM_LOCK_HELD)
        add(out, qualifies, "locks", ifm_lock_state_words(locks_a), ifm_lock_state_words(locks_b));
    add_knobs(out, a, b, false);
    add_knobs(out, b, a, true); /* those that the reference lacks */
    add_text(out, qualifies, "version", version_of(a), version_of(b));
    const json_t *here = ifm_fingerprint_of(a).all, *there = ifm_fingerprint_of(b).all;
    if (here == NULL || there == NULL)
        add(out, qualifies, "environment", here == NULL ? "unknown" : "known", there == NULL ? "unknown" : "known");
    else
        add_tree(out, "environment", ifm_fingerprint_steady(here, out->arena),
                 ifm_fingerprint_steady(there, out->arena));
    double apart = fabs((double)start_ns(a) - (double)start_ns(b));
    if (apart > APART_NS || start_ns(a) == 0 || start_ns(b) == 0)
        add(out, qualifies, "time", "",
            start_ns(a) == 0 || start_ns(b) == 0 ? "unknown"
                                                 : ifm_arena_printf(out->arena, "%.1f hours apart", apart / APART_NS));
}

/* ---- the plan ---- */

/* Settings that are compared by what they came to (threads, cache) or say how it was measured, not what. */
static bool is_input(const char *path)
{
    return strncmp(path, "measure.", 8) != 0 && strcmp(path, "device.kind") != 0 && strcmp(path, "device.threads") != 0;
}

/* Instruction sets; how many copies of the data steps take in turn so that no cache holds them; and which arms stood
 * beside this one, as a device may lack some: an arm that both have is the same by its name. */
static bool is_of_device(const char *path)
{
    const char *name = strrchr(path, '.');
    name = name == NULL ? path : name + 1;
    return strncmp(path, "device.", 7) == 0 || strcmp(name, "isa") == 0 || strcmp(name, "layers") == 0 ||
           strcmp(name, "arms") == 0 || strcmp(name, "compress") == 0;
}

/* "decode.q_heads" of "decode.model": a model fills these keys (config/fill.c), so that it is one setting. */
static bool is_part_of(const char *path, const char *model)
{
    static const char key[] = ".model";
    static const char *const parts[] = {"q_heads", "kv_heads", "head_dim", "model_layers", "weight_bytes"};
    const size_t size = strlen(model), section = size - (sizeof key - 1);
    if (size < sizeof key || strcmp(model + section, key) != 0 || strncmp(model, path, section + 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(path + section + 1, parts[i]) == 0)
            return true;
    return false;
}

bool ifm_varies_holds(const char *varies, const char *path, struct ifm_arena *arena)
{
    char *save = NULL, *list = ifm_arena_strdup(arena, varies);
    for (char *item = strtok_r(list, ",", &save); item != NULL; item = strtok_r(NULL, ",", &save))
        if (strcmp(item, path) == 0 || is_part_of(path, item))
            return true;
    return false;
}

/* The key `model` of the path's section where it differs: the path then says nothing of its own. */
static bool is_of_other_model(const struct ifm_like_pair *pair, const char *path, struct ifm_arena *arena)
{
    const char *dot = strchr(path, '.');
    if (dot == NULL)
        return false;
    const char *model = ifm_arena_printf(arena, "%.*s.model", (int)(dot - path), path);
    return is_part_of(path, model) && strcmp(text_or_empty(ifm_arm_setting(pair->reference_arm, model)),
                                             text_or_empty(ifm_arm_setting(pair->other_arm, model))) != 0;
}

static void add_setting(const struct ifm_like_pair *pair, const char *path, const char *varies,
                        struct ifm_likeness *out)
{
    if (!is_input(path) || (varies != NULL && ifm_varies_holds(varies, path, out->arena)) ||
        is_of_other_model(pair, path, out->arena))
        return;
    /* The script is the fake device's machine, not the work that it is given. */
    bool machine = strcmp(path, "device.script") == 0 || (out->across && is_of_device(path));
    add_text(out, machine ? IFM_DIFFERENCE_QUALIFIES : IFM_DIFFERENCE_REFUSES, path,
             ifm_arm_setting(pair->reference_arm, path), ifm_arm_setting(pair->other_arm, path));
}

const char *ifm_likeness_varies(const struct ifm_likeness *likeness, const struct ifm_like_pair *pair,
                                const char *varies, struct ifm_arena *arena)
{
    const char *list = varies == NULL ? "" : varies;
    bool any = false;
    for (size_t i = 0; i < likeness->n_refusing; i++) {
        const char *field = likeness->items[i].field;
        const bool follows = strcmp(field, "ledger.flops") == 0 || strncmp(field, "ledger.bytes_", 13) == 0;
        if (!follows && ifm_arm_setting(pair->reference_arm, field) == NULL &&
            ifm_arm_setting(pair->other_arm, field) == NULL)
            return "";
        if (follows || (list[0] != '\0' && ifm_varies_holds(list, field, arena)))
            continue;
        list = ifm_arena_printf(arena, "%s%s%s", list, list[0] == '\0' ? "" : ",", field);
        any = true;
    }
    return any ? list : "";
}

static void add_settings(const struct ifm_like_pair *pair, const char *varies, struct ifm_likeness *out)
{
    const struct ifm_arm *a = pair->reference_arm, *b = pair->other_arm;
    for (size_t i = 0; i < a->n_settings; i++)
        add_setting(pair, a->settings[i].path, varies, out);
    for (size_t i = 0; i < b->n_settings; i++)
        add_setting(pair, b->settings[i].path, varies, out);
}

/* `alike`: both plans count tokens by the same rules. */
static void add_ledger(const struct ifm_ledger *a, const struct ifm_ledger *b, bool alike, const char *varies,
                       struct ifm_likeness *out)
{
    const enum ifm_difference_kind refuses = IFM_DIFFERENCE_REFUSES;
    if (varies == NULL) /* the setting under comparison may take other bytes and operations to the same result */
        add_u64(out, refuses, "ledger.flops", a->flops, b->flops);
    if (varies == NULL && !out->across) {
        add_u64(out, refuses, "ledger.bytes_read", a->bytes_read, b->bytes_read);
        add_u64(out, refuses, "ledger.bytes_written", a->bytes_written, b->bytes_written);
    }
    if (alike) {
        add_u64(out, refuses, "ledger.tokens_prompt", a->tokens_prompt, b->tokens_prompt);
        add_u64(out, refuses, "ledger.tokens_generated", a->tokens_generated, b->tokens_generated);
        add_u64(out, IFM_DIFFERENCE_QUALIFIES, "ledger.layers", a->layers, b->layers);
    }
    add_u64(out, refuses, "ledger.rows", a->rows, b->rows);
}

static void add_real(struct ifm_likeness *out, const char *field, double a, double b)
{
    char left[32], right[32];
    if (a != b)
        add(out, IFM_DIFFERENCE_QUALIFIES, field, ifm_arena_strdup(out->arena, ifm_format_real(a, left)),
            ifm_arena_strdup(out->arena, ifm_format_real(b, right)));
}

/* How it was measured; when it stopped and how it is judged do not change a time. */
static void add_measure(const struct ifm_measure *a, const struct ifm_measure *b, struct ifm_likeness *out)
{
    const enum ifm_difference_kind qualifies = IFM_DIFFERENCE_QUALIFIES;
    static const char *const caches[] = {"hot", "cold"}, *const isolations[] = {"shared", "buffers", "processes"};
    add_text(out, IFM_DIFFERENCE_REFUSES, "cache", caches[a->cache != 0], caches[b->cache != 0]);
    if (a->isolation != b->isolation)
        add(out, qualifies, "measure.isolation", isolations[a->isolation % 3], isolations[b->isolation % 3]);
    add_u64(out, qualifies, "measure.warmup", a->warmup, b->warmup);
    add_u64(out, qualifies, "measure.inner", a->inner, b->inner);
    add_u64(out, qualifies, "measure.slot_steps", a->slot_steps, b->slot_steps);
    add_real(out, "measure.slot_min", a->slot_min_s, b->slot_min_s);
}

/* The hash of an arm's outputs as the last check of it saw them; NULL without one. */
static const char *output_of(const struct ifm_events *events, const char *cell, const char *arm)
{
    const struct ifm_event_check *check = IFM_LAST(events, check, cell, arm);
    return check == NULL ? NULL : check->output_xxh3;
}

void ifm_likeness_arms(const struct ifm_run_view *reference, const struct ifm_run_view *other,
                       const struct ifm_like_pair *pair, const char *varies, struct ifm_likeness *out)
{
    const struct ifm_cell *a = pair->reference_cell, *b = pair->other_cell;
    const struct ifm_arm *x = pair->reference_arm, *y = pair->other_arm;
    add_text(out, IFM_DIFFERENCE_REFUSES, "workload", x->workload, y->workload);
    if (reference->plan->seed != other->plan->seed)
        add_u64(out, IFM_DIFFERENCE_REFUSES, "seed", reference->plan->seed, other->plan->seed);
    else /* of another replica, or by rules below 9 in another place of its plan */
        add_u64(out, IFM_DIFFERENCE_REFUSES, "seed of the cell", a->seed, b->seed);
    add_u64(out, of_device(out), "threads", a->threads, b->threads);
    add_settings(pair, varies, out);
    if (varies == NULL && !out->across) /* one that caches serve, one that memory does: by other rules of layers */
        add_u64(out, IFM_DIFFERENCE_QUALIFIES, "working_set", x->working_set, y->working_set);
    add_ledger(&x->ledger, &y->ledger, (reference->plan->rules < TOKENS) == (other->plan->rules < TOKENS), varies, out);
    add_measure(&a->measure, &b->measure, out);
    if (!ifm_arm_of_library(x) || !ifm_arm_of_library(y)) /* each is within its tolerance of the reference */
        add_text(out, IFM_DIFFERENCE_QUALIFIES, ifm_arena_printf(out->arena, "outputs of %s", x->name),
                 output_of(reference->events, a->name, x->name), output_of(other->events, b->name, y->name));
}

/* ---- words ---- */

static const char *shown(const char *text)
{
    return text[0] == '\0' ? "not there" : text;
}

const char *ifm_likeness_refusal(const struct ifm_likeness *likeness, struct ifm_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < likeness->n_refusing && i < FIELDS_SHOWN; i++) {
        const struct ifm_difference *d = &likeness->items[i];
        text = ifm_arena_printf(arena, "%s%s%s is %s in the reference and %s here", text, i == 0 ? "" : "; ", d->field,
                                shown(d->reference), shown(d->other));
    }
    if (likeness->n_refusing > FIELDS_SHOWN)
        text = ifm_arena_printf(arena, "%s; and %zu more", text, likeness->n_refusing - FIELDS_SHOWN);
    return text;
}

const char *ifm_likeness_fields(const struct ifm_likeness *likeness, struct ifm_arena *arena)
{
    const char *text = "";
    size_t n = likeness->n - likeness->n_refusing;
    for (size_t i = 0; i < n && i < FIELDS_SHOWN; i++)
        text = ifm_arena_printf(arena, "%s%s%s", text, i == 0 ? "" : ", ",
                                likeness->items[likeness->n_refusing + i].field);
    if (n > FIELDS_SHOWN)
        text = ifm_arena_printf(arena, "%s and %zu more", text, n - FIELDS_SHOWN);
    return text;
}
