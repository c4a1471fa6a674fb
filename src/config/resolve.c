/* Resolve: defaults, preset, rules between fields, and the resulting study. */
#include "config/internal.h"

#include <string.h>

enum { FEWEST_RESAMPLES = 199 }; /* IFM_RESAMPLES_NEEDED of stats/resample.h */

/* Give every slot that nothing has set its default; a row without one must be given. */
static enum ifm_status set_default(struct ifm_config *config, struct ifm_config_slot *slot, struct ifm_error *error)
{
    if (slot->n > 0)
        return IFM_OK;
    const struct ifm_raw value = {slot->row->fallback, "default"};
    if (value.text == NULL)
        return ifm_fail(error, IFM_USAGE, "", "", "%s must be given; allowed: %s", slot->row->path,
                        ifm_param_range(slot->row, config->arena));
    return ifm_slot_set(config, slot, IFM_RANK_DEFAULT, &value, 1, error);
}

static enum ifm_status apply_preset(struct ifm_config *config, struct ifm_error *error)
{
    struct ifm_config_slot *slot = ifm_config_find(config, "preset");
    int index = 0;
    IFM_TRY(set_default(config, slot, error));
    if (config->locked && slot->rank > IFM_RANK_FILE)
        return ifm_fail(error, IFM_USAGE, slot->where, "override the settings themselves, for example measure.mde",
                        "a preset changes nothing here: the lock file spells out every setting");
    IFM_TRY(ifm_param_parse(slot->row, slot->texts[0], slot->where, config->arena, &index, error));
    const struct ifm_preset *preset = &ifm_presets[index];
    const char *where = ifm_arena_printf(config->arena, "preset %s", slot->texts[0]);
    for (size_t i = 0; i < preset->n; i++) {
        const struct ifm_raw value = {preset->settings[i].text, where};
        struct ifm_config_slot *target = ifm_config_find(config, preset->settings[i].path);
        if (target != NULL) /* of a workload that this configuration has no table of: it is not run either */
            IFM_TRY(ifm_slot_set(config, target, IFM_RANK_PRESET, &value, 1, error));
    }
    return IFM_OK;
}

/* A file may spell out both, as each lock does; on a command line one of them would be ignored in silence. */
static enum ifm_status check_repeats(const struct ifm_config_slot *repeats, const struct ifm_config_slot *stop,
                                     struct ifm_error *error)
{
    const char *rule = stop->n > 0 ? stop->texts[0] : "";
    if (repeats->rank == IFM_RANK_FILE || strcmp(rule, "repeats") == 0)
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, repeats->where, "leave one of the two out",
                    "a number of repeats is the stop rule \"repeats\", and measure.stop is \"%s\"", rule);
}

/* Setting the number of repeats selects stop=repeats, unless a stop rule was set at the same or a higher rank. */
static enum ifm_status apply_repeats(struct ifm_config *config, struct ifm_error *error)
{
    const struct ifm_config_slot *repeats = ifm_config_find(config, "measure.repeats");
    struct ifm_config_slot *stop = ifm_config_find(config, "measure.stop");
    if (repeats->rank < IFM_RANK_FILE)
        return IFM_OK;
    if (stop->rank >= repeats->rank)
        return check_repeats(repeats, stop, error);
    const struct ifm_raw value = {"repeats", repeats->where};
    return ifm_slot_set(config, stop, repeats->rank, &value, 1, error);
}

/* A margin that is wider than the effect that a run looks for by default takes that with it: no change inside of it has
 * a word. */
static enum ifm_status apply_margin(struct ifm_config *config, struct ifm_error *error)
{
    const struct ifm_config_slot *margin = ifm_config_find(config, "measure.margin");
    struct ifm_config_slot *mde = ifm_config_find(config, "measure.mde");
    const char *usual = mde->n == 1 ? mde->texts[0] : mde->row->fallback;
    double wanted, given;
    if (margin->rank < IFM_RANK_FILE || mde->rank > IFM_RANK_PRESET || margin->n != 1 ||
        !ifm_parse_f64(margin->texts[0], &wanted) || !ifm_parse_f64(usual, &given) || wanted <= given)
        return IFM_OK;
    const struct ifm_raw value = {margin->texts[0], margin->where};
    return ifm_slot_set(config, mde, margin->rank, &value, 1, error);
}

/* First values of a section's slots into its struct. */
static enum ifm_status bind_section(const struct ifm_config *config, const struct ifm_section *section, void *out,
                                    struct ifm_error *error)
{
    struct ifm_setting *settings = IFM_ARENA_ARRAY(config->arena, struct ifm_setting, section->n);
    size_t n = 0;
    for (size_t i = 0; i < config->n_slots; i++)
        if (config->slots[i].section == section)
            settings[n++] = (struct ifm_setting){config->slots[i].row->path, config->slots[i].texts[0]};
    return ifm_section_bind(section, settings, n, config->arena, out, error);
}

static enum ifm_status bind_common(struct ifm_config *config, struct ifm_error *error)
{
    for (size_t i = 0; i < config->n_slots; i++)
        if (config->slots[i].common)
            IFM_TRY(set_default(config, &config->slots[i], error));
    IFM_TRY(bind_section(config, &ifm_section_general, &config->general, error));
    IFM_TRY(bind_section(config, &ifm_section_device, &config->device, error));
    return bind_section(config, &ifm_section_measure, &config->study.measure, error);
}

/* What precedes the blocks takes no longer than they may: of that, a quarter is the warm-up's, unless its cap was set.
 */
static enum ifm_status apply_cap(struct ifm_config *config, struct ifm_error *error)
{
    struct ifm_measure *measure = &config->study.measure;
    struct ifm_config_slot *slot = ifm_config_find(config, "measure.warmup_cap");
    double most_s = measure->cap_s / 4;
    if (slot->rank > IFM_RANK_DEFAULT || measure->stop == IFM_STOP_REPEATS || measure->warmup_cap_s <= most_s)
        return IFM_OK;
    const struct ifm_raw value = {ifm_arena_printf(config->arena, "%.6gs", most_s), "default"};
    measure->warmup_cap_s = most_s;
    return ifm_slot_set(config, slot, IFM_RANK_DEFAULT, &value, 1, error);
}

/* The names of the known workloads, for lookups and messages. */
static struct ifm_list known_workloads(const struct ifm_config *config, const char **sentence)
{
    size_t n = 0;
    while (config->workloads[n] != NULL)
        n++;
    const char **names = IFM_ARENA_ARRAY(config->arena, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        names[i] = config->workloads[i]->name;
    const struct ifm_list list = {names, n};
    *sentence = n == 0 ? "none" : ifm_list_join(list, ", ", config->arena);
    return list;
}

static enum ifm_status check_workloads(struct ifm_config *config, struct ifm_error *error)
{
    char shown[72];
    const char *sentence;
    const struct ifm_list *chosen = &config->general.workload;
    const struct ifm_list known = known_workloads(config, &sentence);
    const char *where = ifm_config_find(config, "workload")->where;
    if (chosen->n == 0)
        return ifm_fail(error, IFM_USAGE, "", "write 'workload: NAME' in the file or give --workload NAME",
                        "no workload is chosen; known: %s", sentence);
    for (size_t i = 0; i < chosen->n; i++) {
        size_t j = 0;
        while (j < known.n && strcmp(chosen->items[i], known.items[j]) != 0)
            j++;
        if (j < known.n)
            continue;
        ifm_fail(error, IFM_USAGE, where, "a workload of your own is loaded with --plugin FILE.so",
                 "unknown workload '%s'; known: %s", ifm_param_shown(chosen->items[i], shown), sentence);
        return ifm_error_nearest(error, ifm_nearest(chosen->items[i], known.items, known.n));
    }
    return IFM_OK;
}

/* A shape under a name is one of its workload. */
static enum ifm_status check_preset(const struct ifm_config *config, struct ifm_error *error)
{
    const char *workload = ifm_presets[config->general.preset].workload;
    const struct ifm_config_slot *slot = ifm_config_find(config, "preset");
    if (workload == NULL || ifm_list_has(&config->general.workload, workload))
        return IFM_OK;
    return ifm_fail(error, IFM_USAGE, slot->where,
                    ifm_arena_printf(config->arena, "`inferometer %s --preset %s`", workload, slot->texts[0]),
                    "the preset %s is a shape of the workload %s, which is not run here", slot->texts[0], workload);
}

/* No setting is silently ignored: one of a workload that does not run is an error. */
static enum ifm_status check_unused(struct ifm_config *config, struct ifm_error *error)
{
    for (size_t i = 0; i < config->n_slots; i++) {
        struct ifm_config_slot *slot = &config->slots[i];
        if (ifm_config_uses(config, slot)) {
            IFM_TRY(set_default(config, slot, error));
            continue;
        }
        const char *name = slot->section->name;
        if (slot->rank < IFM_RANK_FILE)
            continue;
        return ifm_fail(error, IFM_USAGE, slot->where,
                        ifm_arena_printf(config->arena, "add '%s' to 'workload', or leave the setting out", name),
                        "%s is set, but the study does not run the workload '%s'", slot->row->path, name);
    }
    return IFM_OK;
}

/* What the stop rules require of other settings. */
static enum ifm_status check_stop(const struct ifm_config *config, struct ifm_error *error)
{
    /* of a group-sequential run: five looks need as many blocks, and the plan an upper limit */
    enum { FEWEST = 30, MOST = 100000 };
    const struct ifm_measure *measure = &config->study.measure;
    const struct ifm_config_slot *mde = ifm_config_find(config, "measure.mde");
    const struct ifm_config_slot *margin = ifm_config_find(config, "measure.margin");
    const struct ifm_config_slot *max = ifm_config_find(config, "measure.blocks_max");
    if ((measure->stop == IFM_STOP_MDE || measure->stop == IFM_STOP_DECIDED) && measure->mde < measure->margin)
        return ifm_fail(error, IFM_USAGE, margin->rank > mde->rank ? margin->where : mde->where,
                        "raise measure.mde or lower measure.margin",
                        "measure.mde (%g) is below measure.margin (%g): no change inside the margin is ever called "
                        "faster or slower",
                        measure->mde, measure->margin);
    if (measure->stop == IFM_STOP_GROUP &&
        (max->rank < IFM_RANK_FILE || measure->blocks_max < FEWEST || measure->blocks_max > MOST))
        return ifm_fail(error, IFM_USAGE, max->rank < IFM_RANK_FILE ? "measure.stop" : max->where,
                        "set measure.blocks_max, for example to 100: the run looks at every fifth of it",
                        "measure.stop=group needs measure.blocks_max, the planned maximum, set to %d .. %d blocks",
                        (int)FEWEST, (int)MOST);
    return IFM_OK;
}

/* Setting the energy pass without measuring energy is an error. A default is not: a lock file spells it out. */
static enum ifm_status check_energy(const struct ifm_config *config, struct ifm_error *error)
{
    static const char *const own[] = {"measure.energy_window",   "measure.energy_windows", "measure.energy_idle",
                                      "measure.power_sample_hz", "measure.power_meter",    "measure.rated_w"};
    const struct ifm_measure *measure = &config->study.measure;
    for (size_t i = 0; !measure->energy && i < sizeof own / sizeof *own; i++) {
        const struct ifm_config_slot *slot = ifm_config_find(config, own[i]);
        const struct ifm_raw fallback = {slot->row->fallback, "default"};
        const char *usual;
        IFM_TRY(ifm_config_canonical(config, slot->row, fallback, &usual, error));
        if (slot->rank >= IFM_RANK_FILE && strcmp(slot->texts[0], usual) != 0)
            return ifm_fail(error, IFM_USAGE, slot->where,
                            "measure energy too (measure.energy=true, --energy), or leave the setting out",
                            "%s is set, but measure.energy is off", own[i]);
    }
    if (measure->energy && measure->isolation == IFM_ISOLATION_PROCESSES)
        return ifm_fail(error, IFM_USAGE, ifm_config_find(config, "measure.isolation")->where,
                        "choose measure.isolation=shared or buffers, or leave measure.energy out and measure energy in "
                        "a run of its own",
                        "measure.energy needs arms that run without a pause in one process, and "
                        "measure.isolation=processes starts them anew in every block");
    const struct ifm_config_slot *cache = ifm_config_find(config, "measure.cache");
    bool hot = false;
    for (size_t i = 0; i < cache->n; i++)
        hot |= strcmp(cache->texts[i], "hot") == 0;
    if (measure->energy && !hot) /* in a sweep of both, cold cells state why they have no energy */
        return ifm_fail(error, IFM_USAGE, cache->where,
                        "choose measure.cache=hot, or leave measure.energy out and measure energy in a run of its own",
                        "measure.energy needs steps that follow each other, and measure.cache=cold evicts the caches "
                        "between them, which draws energy too");
    return IFM_OK;
}

static enum ifm_status check_rules(const struct ifm_config *config, struct ifm_error *error)
{
    const struct ifm_measure *measure = &config->study.measure;
    const struct ifm_config_slot *min = ifm_config_find(config, "measure.blocks_min");
    const struct ifm_config_slot *max = ifm_config_find(config, "measure.blocks_max");
    if (measure->blocks_min > measure->blocks_max)
        return ifm_fail(error, IFM_USAGE, max->rank > min->rank ? max->where : min->where,
                        "lower measure.blocks_min or raise measure.blocks_max",
                        "measure.blocks_min (%llu) is above measure.blocks_max (%llu)",
                        (unsigned long long)measure->blocks_min, (unsigned long long)measure->blocks_max);
    IFM_TRY(check_stop(config, error));
    IFM_TRY(check_energy(config, error));
    if (measure->resamples > 0 && measure->resamples < FEWEST_RESAMPLES)
        return ifm_fail(error, IFM_USAGE, ifm_config_find(config, "measure.resamples")->where,
                        "10000 is usual; 0 lets the samples decide",
                        "measure.resamples is %llu: with fewer than %d the ends of an interval are mostly noise",
                        (unsigned long long)measure->resamples, (int)FEWEST_RESAMPLES);
    const struct ifm_config_slot *cache = ifm_config_find(config, "measure.cache");
    for (size_t i = 0; measure->inner > 1 && i < cache->n; i++)
        if (strcmp(cache->texts[i], "cold") == 0)
            return ifm_fail(error, IFM_USAGE, ifm_config_find(config, "measure.inner")->where,
                            "leave measure.inner out, or choose measure.cache=hot",
                            "measure.inner is %llu, but a cold sample is one step: a second would find warm caches",
                            (unsigned long long)measure->inner);
    const struct ifm_config_slot *kind = ifm_config_find(config, "device.kind");
    const struct ifm_config_slot *script = ifm_config_find(config, "device.script");
    if (measure->isolation == IFM_ISOLATION_PROCESSES && strcmp(kind->texts[0], "cpu") != 0)
        return ifm_fail(error, IFM_USAGE, ifm_config_find(config, "measure.isolation")->where,
                        "choose measure.isolation=shared or buffers, or device.kind=cpu",
                        "measure.isolation=processes: the device '%s' has no clock that processes share",
                        kind->texts[0]);
    if (script->texts[0][0] != '\0' && strcmp(kind->texts[0], "fake") != 0)
        return ifm_fail(error, IFM_USAGE, script->where, "set device.kind to fake, or leave the script out",
                        "device.script is for the device 'fake', but device.kind is '%s'", kind->texts[0]);
    return IFM_OK;
}

static enum ifm_status resolve_ceilings(struct ifm_config *config, struct ifm_error *error)
{
    const struct ifm_list *list = &config->general.ceilings;
    bool none = false;
    for (size_t i = 0; i < list->n; i++)
        none = none || strcmp(list->items[i], "none") == 0;
    if (none && list->n > 1)
        return ifm_fail(error, IFM_USAGE, ifm_config_find(config, "ceilings")->where,
                        "write none alone, or leave it out", "ceilings: 'none' excludes every other ceiling");
    config->study.ceilings = list->items;
    config->study.n_ceilings = none ? 0 : list->n;
    return IFM_OK;
}

/* An arm may set its workload's parameters, but none that the study sweeps: the cell's name would be wrong for it. */
static enum ifm_status check_arms(const struct ifm_config *config, struct ifm_error *error)
{
    for (size_t i = 0; i < config->n_arms; i++) {
        const struct ifm_arm_spec *arm = &config->arms[i];
        for (size_t j = 0; j < arm->n_set; j++) {
            const struct ifm_config_slot *slot = ifm_config_find(config, arm->set[j].path);
            if (!ifm_config_uses(config, slot))
                return ifm_fail(error, IFM_USAGE, arm->where,
                                "add the workload to 'workload', or leave the setting out",
                                "arm '%s' sets %s, but the study does not run the workload '%s'", arm->name,
                                slot->row->path, slot->section->name);
            if (slot->n > 1)
                return ifm_fail(error, IFM_USAGE, arm->where, "sweep the setting or let arms set it, not both",
                                "arm '%s' sets %s, which the study sweeps", arm->name, slot->row->path);
        }
    }
    return IFM_OK;
}

static void collect_axes(struct ifm_config *config)
{
    struct ifm_axis *axes = IFM_ARENA_ARRAY(config->arena, struct ifm_axis, config->n_slots);
    size_t n = 0;
    for (size_t i = 0; i < config->n_slots; i++) {
        const struct ifm_config_slot *slot = &config->slots[i];
        if (ifm_config_tells(config, slot))
            axes[n++] = (struct ifm_axis){slot->row->path, slot->texts, slot->n};
    }
    config->study.axes = axes;
    config->study.n_axes = n;
}

static void collect_study(struct ifm_config *config)
{
    struct ifm_study *study = &config->study;
    study->seed = config->general.seed;
    study->workloads = config->general.workload.items;
    study->n_workloads = config->general.workload.n;
    study->arms = config->arms;
    study->n_arms = config->n_arms;
    study->gates = config->gates;
    study->n_gates = config->n_gates;
    collect_axes(config);
}

enum ifm_status ifm_config_resolve(struct ifm_config *config, struct ifm_error *error)
{
    IFM_TRY(ifm_config_open(config, "", error));
    IFM_TRY(apply_preset(config, error));
    IFM_TRY(ifm_config_models(config, error));
    IFM_TRY(apply_repeats(config, error));
    IFM_TRY(apply_margin(config, error));
    IFM_TRY(bind_common(config, error));
    IFM_TRY(apply_cap(config, error));
    IFM_TRY(check_workloads(config, error));
    IFM_TRY(check_preset(config, error));
    IFM_TRY(check_unused(config, error));
    IFM_TRY(check_rules(config, error));
    IFM_TRY(resolve_ceilings(config, error));
    IFM_TRY(check_arms(config, error));
    IFM_TRY(ifm_config_gates_preset(config, error));
    collect_study(config);
    config->lock = ifm_config_content(config);
    struct ifm_sha256 hash = ifm_config_hash(config->lock);
    config->study.config_hash = ifm_arena_strdup(config->arena, hash.hex);
    json_t *whole = json_pack("{s:i}", "schema", IFM_LOCK_SCHEMA);
    json_object_update(whole, config->lock);
    json_object_set_new(whole, "hash", json_string(hash.hex));
    json_decref(config->lock);
    config->lock = whole;
    config->resolved = true;
    return IFM_OK;
}
