/* The fake device's script. */
#include "device/script.h"
#include "base/text.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 128
#define WHERE "fake script"

struct key {
    const char *name;
    size_t offset;
    bool per_arm; /* the offset is in struct ifm_curve, else in struct ifm_script */
    bool integer;
    double min, max;
};

static const struct key keys[] = {
    {"step_ns", offsetof(struct ifm_curve, step_ns), true, false, 1e-3, 1e12},
    {"noise", offsetof(struct ifm_curve, noise), true, false, 0, 2},
    {"slot_noise", offsetof(struct ifm_curve, slot_noise), true, false, 0, 2},
    {"slow", offsetof(struct ifm_curve, slow), true, false, 0, 1},
    {"slow_times", offsetof(struct ifm_curve, slow_times), true, false, 1, 1e6},
    {"drift", offsetof(struct ifm_curve, drift), true, false, -1, 1000},
    {"ar", offsetof(struct ifm_curve, ar), true, false, -0.999, 0.999},
    {"warmup", offsetof(struct ifm_curve, warmup), true, false, 0, 1000},
    {"l2_hit", offsetof(struct ifm_curve, l2_hit), true, false, 0, 1},
    {"energy_j", offsetof(struct ifm_curve, energy_j), true, false, 0, 1e6},
    {"cpu_khz", offsetof(struct ifm_curve, cpu_khz), true, true, 1, 1e9},
    {"steal", offsetof(struct ifm_curve, steal), true, false, 0, 1},
    {"steal_slots", offsetof(struct ifm_curve, steal_slots), true, false, 0, 1},
    {"quality", offsetof(struct ifm_curve, quality), true, false, 0, 100},
    {"error", offsetof(struct ifm_curve, error), true, false, 0, 1e6},
    {"idle_w", offsetof(struct ifm_script, idle_w), false, false, 0, 1e6},
    {"limit_w", offsetof(struct ifm_script, limit_w), false, false, 0, 1e6},
    {"energy_period_ns", offsetof(struct ifm_script, energy_period_ns), false, false, 0, 1e12},
    {"mark_ns", offsetof(struct ifm_script, mark_ns), false, true, 0, 1e6},
    {"die_after_slots", offsetof(struct ifm_script, die_after_slots), false, true, 0, 1e9},
};
#define N_KEYS (sizeof keys / sizeof *keys)

static const char hint_keys[] = "known keys: step_ns, noise, slot_noise, slow, slow_times, drift, ar, warmup, l2_hit, "
                                "energy_j, cpu_khz, steal, steal_slots, quality, error, idle_w, limit_w, "
                                "energy_period_ns, mark_ns, die_after_slots; "
                                "arm.NAME.KEY sets one for one arm, but for the last five";

struct ifm_script_arm *ifm_script_arm(struct ifm_script *script, const char *name, size_t length)
{
    for (size_t i = 0; i < script->n_arms; i++)
        if (strncmp(script->arms[i].name, name, length) == 0 && script->arms[i].name[length] == '\0')
            return &script->arms[i];
    struct ifm_script_arm *arms = realloc(script->arms, sizeof *arms * (script->n_arms + 1));
    char *copy = strndup(name, length);
    if (arms != NULL)
        script->arms = arms;
    if (arms == NULL || copy == NULL) {
        free(copy);
        return NULL;
    }
    arms[script->n_arms] = (struct ifm_script_arm){.name = copy, .curve = script->curve};
    return &arms[script->n_arms++];
}

void ifm_script_free(struct ifm_script *script)
{
    for (size_t i = 0; i < script->n_arms; i++)
        free(script->arms[i].name);
    free(script->arms);
    *script = (struct ifm_script){0};
}

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static enum ifm_status unknown_key(const char *full, const char *name, struct ifm_error *error)
{
    const char *names[N_KEYS];
    for (size_t i = 0; i < N_KEYS; i++)
        names[i] = keys[i].name;
    const char *near = ifm_nearest(name, names, N_KEYS);
    if (near != NULL)
        return ifm_fail(error, IFM_USAGE, WHERE, hint_keys, "unknown key '%s'; did you mean '%s'?", full, near);
    return ifm_fail(error, IFM_USAGE, WHERE, hint_keys, "unknown key '%s'", full);
}

static enum ifm_status parse_number(const struct key *key, const char *full, const char *value, double *out,
                                    struct ifm_error *error)
{
    if (!ifm_parse_f64(value, out))
        return ifm_fail(error, IFM_USAGE, WHERE, NULL, "%s: '%s' is not a number", full, value);
    if (*out < key->min || *out > key->max)
        return ifm_fail(error, IFM_USAGE, WHERE, NULL, "%s: %s is outside %g .. %g", full, value, key->min, key->max);
    if (key->integer && floor(*out) != *out)
        return ifm_fail(error, IFM_USAGE, WHERE, NULL, "%s: %s is not a whole number", full, value);
    return IFM_OK;
}

/* A script in the course of parsing: names of arms wait until the common curve is complete. */
struct parse {
    struct ifm_script *script;
    bool arms;    /* second pass: arms; first: common keys */
    unsigned set; /* common keys seen */
};

static enum ifm_status store(struct parse *parse, const struct key *key, const char *full, char *arm_name,
                             double number, struct ifm_error *error)
{
    void *target = key->per_arm ? (void *)&parse->script->curve : (void *)parse->script;
    unsigned *set = &parse->set, bit = 1U << (unsigned)(key - keys);
    if (arm_name != NULL) {
        struct ifm_script_arm *arm = ifm_script_arm(parse->script, arm_name, strlen(arm_name));
        if (arm == NULL)
            return ifm_fail(error, IFM_INTERNAL, WHERE, NULL, "no memory for arm '%s'", arm_name);
        target = &arm->curve;
        set = &arm->set;
    }
    if (*set & bit)
        return ifm_fail(error, IFM_USAGE, WHERE, "give each key once", "%s is set twice", full);
    *set |= bit;
    memcpy((char *)target + key->offset, &number, sizeof number);
    return IFM_OK;
}

static enum ifm_status parse_pair(struct parse *parse, const char *full, const char *value, struct ifm_error *error)
{
    char copy[KEY_MAX], *arm_name = NULL, *name = copy;
    memcpy(copy, full, strlen(full) + 1);
    if (strncmp(copy, "arm.", 4) == 0) {
        char *dot = strrchr(copy, '.');
        if (dot <= copy + 4)
            return ifm_fail(error, IFM_USAGE, WHERE, hint_keys, "'%s' names no arm", full);
        *dot = '\0';
        arm_name = copy + 4;
        name = dot + 1;
    }
    if ((arm_name != NULL) != parse->arms)
        return IFM_OK; /* the other pass takes it */
    const struct key *key = find_key(name);
    if (key == NULL)
        return unknown_key(full, name, error);
    if (arm_name != NULL && !key->per_arm)
        return ifm_fail(error, IFM_USAGE, WHERE, hint_keys, "'%s' cannot be set for one arm", name);
    double number;
    IFM_TRY(parse_number(key, full, value, &number, error));
    return store(parse, key, full, arm_name, number, error);
}

/* Copy [from, from + n) without blanks at its ends; false when it does not fit. */
static bool trimmed(const char *from, size_t n, char out[KEY_MAX])
{
    while (n > 0 && (*from == ' ' || *from == '\t' || *from == '\n'))
        from++, n--;
    while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t' || from[n - 1] == '\n'))
        n--;
    if (n >= KEY_MAX)
        return false;
    memcpy(out, from, n);
    out[n] = '\0';
    return true;
}

static enum ifm_status parse_pass(struct parse *parse, const char *text, struct ifm_error *error)
{
    for (const char *at = text; *at != '\0';) {
        size_t n = strcspn(at, ";");
        const char *equals = memchr(at, '=', n);
        char key[KEY_MAX], value[KEY_MAX];
        size_t key_length = equals == NULL ? n : (size_t)(equals - at);
        if (!trimmed(at, key_length, key) ||
            !trimmed(equals == NULL ? "" : equals + 1, equals == NULL ? 0 : n - key_length - 1, value))
            return ifm_fail(error, IFM_USAGE, WHERE, NULL, "a key or value is longer than %d characters", KEY_MAX - 1);
        if (equals == NULL && key[0] != '\0')
            return ifm_fail(error, IFM_USAGE, WHERE, hint_keys, "'%s' is not of the form key=value", key);
        if (equals != NULL)
            IFM_TRY(parse_pair(parse, key, value, error));
        at += n + (at[n] == ';');
    }
    return IFM_OK;
}

enum ifm_status ifm_script_parse(const char *text, struct ifm_script *out, struct ifm_error *error)
{
    *out = (struct ifm_script){.curve = {.step_ns = 1000,
                                         .l2_hit = -1,
                                         .energy_j = -1,
                                         .cpu_khz = -1,
                                         .steal = -1,
                                         .steal_slots = 1,
                                         .quality = -1,
                                         .error = -1},
                               .idle_w = -1,
                               .limit_w = -1,
                               .energy_period_ns = -1,
                               .mark_ns = 20};
    struct parse parse = {.script = out};
    enum ifm_status status = text == NULL ? IFM_OK : parse_pass(&parse, text, error);
    parse.arms = true;
    if (status == IFM_OK && text != NULL)
        status = parse_pass(&parse, text, error);
    if (status != IFM_OK)
        ifm_script_free(out);
    return status;
}
