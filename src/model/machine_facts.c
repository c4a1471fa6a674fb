/* Reading the free facts of run.log: a path of members each. */
#include "model/machine_facts.h"

#include "model/facts.h"
#include <limits.h>
#include <math.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

bool ifm_repeats_ended(const struct ifm_cell *cell, const struct ifm_events *events)
{
    const struct ifm_event_stop *stop = events == NULL ? NULL : IFM_LAST(events, stop, cell->name, NULL);
    return cell->measure.stop == IFM_STOP_REPEATS && (stop == NULL || strcmp(stop->reason, "cap") != 0);
}

bool ifm_was_loaded(const struct ifm_events *events)
{
    IFM_EACH(event, events, load, NULL, NULL)
        if (IFM_FACTS(event, load)->foreign_load > IFM_LOADED)
            return true;
    return false;
}

unsigned ifm_cpus_beside_load(const struct ifm_events *events)
{
    static const double A_LITTLE = 0.3; /* of a CPU is no program of its own */
    const double cpus = (double)ifm_fingerprint_of(events).cpus_allowed;
    double most = 0;
    IFM_EACH(event, events, load, NULL, NULL)
        most = fmax(most, IFM_FACTS(event, load)->foreign_load);
    const double left = cpus - ceil(fmax(most * cpus - A_LITTLE, 0));
    return left > 0 && left < UINT_MAX ? (unsigned)left : 0;
}

unsigned ifm_fewer_threads(const struct ifm_events *events, unsigned threads)
{
    const unsigned beside = ifm_cpus_beside_load(events);
    return threads > beside && 4 * beside >= 3 * threads ? beside : 0;
}

/* ---- the fingerprint ---- */

struct ifm_fingerprint ifm_fingerprint_of(const struct ifm_events *events)
{
    const struct ifm_event_environment *environment = IFM_FIRST(events, environment);
    const json_t *all = environment == NULL ? NULL : environment->fingerprint;
    const json_t *cpu = json_object_get(all, "cpu"), *binary = json_object_get(all, "binary");
    return (struct ifm_fingerprint){.all = all,
                                    .gpus = json_object_get(all, "gpu"),
                                    .packages = json_object_get(all, "packages"),
                                    .frameworks = json_object_get(json_object_get(all, "python"), "frameworks"),
                                    .cpu_model = text_of(cpu, "model"),
                                    .kernel = text_of(all, "kernel"),
                                    .cpus_allowed = json_integer_value(json_object_get(cpu, "allowed")),
                                    .version = text_of(binary, "version"),
                                    .compiler = text_of(binary, "compiler"),
                                    .revision = text_of(binary, "git_revision"),
                                    .dirty = json_is_true(json_object_get(binary, "git_dirty"))};
}

/* A number that is written as text. */
static int whole_of(const json_t *object, const char *key)
{
    uint64_t number = 0;
    const char *text = text_of(object, key);
    return text != NULL && ifm_parse_u64(text, &number) && number < 1 << 16 ? (int)number : 0;
}

struct ifm_processor_facts ifm_processor_facts_of(const struct ifm_events *events)
{
    const json_t *all = ifm_fingerprint_of(events).all, *cpu = json_object_get(all, "cpu");
    const json_t *modules = json_object_get(json_object_get(all, "memory"), "modules");
    const json_t *khz = json_object_get(json_object_get(all, "frequency"), "hardware_max_khz");
    return (struct ifm_processor_facts){.vendor = or_empty(text_of(cpu, "vendor")),
                                        .family = whole_of(cpu, "family"),
                                        .model = whole_of(cpu, "model_number"),
                                        .most_hz = 1e3 * json_number_value(khz),
                                        .memory_bytes_per_s =
                                            json_number_value(json_object_get(modules, "bytes_per_s"))};
}

double ifm_fingerprint_cache(const struct ifm_fingerprint *fingerprint, int level)
{
    size_t index;
    json_t *cache;
    json_array_foreach(json_object_get(fingerprint->all, "caches_reported"), index, cache)
    {
        bool data = strcmp(or_empty(text_of(cache, "type")), "Instruction") != 0;
        if (data && json_integer_value(json_object_get(cache, "level")) == level)
            return json_number_value(json_object_get(cache, "bytes"));
    }
    return 0;
}

const char *ifm_fingerprint_gpu_words(const struct ifm_fingerprint *fingerprint, struct ifm_arena *arena)
{
    const json_t *devices = json_object_get(fingerprint->gpus, "devices");
    const char *names = "", *driver = text_of(fingerprint->gpus, "driver");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = or_empty(text_of(json_array_get(devices, i), "name"));
        if (name[0] != '\0')
            names = ifm_arena_printf(arena, "%s%s%s", names, names[0] == '\0' ? "" : ", ", name);
    }
    return names[0] == '\0' || driver == NULL ? "" : ifm_arena_printf(arena, "%s, driver %s", names, driver);
}

/* A package is a text, an object with a version, or absent. */
void ifm_fingerprint_add_versions(const json_t *packages, struct ifm_text *out)
{
    const char *name;
    json_t *package;
    json_object_foreach((json_t *)packages, name, package)
    {
        const char *version = json_is_object(package) ? text_of(package, "version") : json_string_value(package);
        if (version != NULL)
            ifm_text_printf(out, ", %s %s", name, version);
    }
}

static void release(void *json)
{
    json_decref(json);
}

const json_t *ifm_fingerprint_steady(const json_t *fingerprint, struct ifm_arena *arena)
{
    json_t *steady = json_deep_copy(fingerprint);
    json_object_del(steady, "load");
    json_object_del(json_object_get(steady, "binary"), "version");
    json_object_del(json_object_get(steady, "binary"), "git_branch"); /* the revision says what was built */
    json_object_del(json_object_get(steady, "memory"), "available_bytes");
    json_object_del(json_object_get(steady, "memory"), "modules"); /* depends on who asks */
    json_object_del(json_object_get(steady, "clock"), "read_ns_p50");
    ifm_arena_defer(arena, release, steady);
    return steady;
}

static const json_t *at_path(const json_t *host, const char *path)
{
    size_t length = strcspn(path, ".");
    const json_t *part = json_object_getn(host, path, length);
    return path[length] == '\0' ? part : json_object_get(part, path + length + 1);
}

const char *ifm_fingerprint_moved(const json_t *was, const json_t *now, bool on_gpu)
{
    static const char *const paths[] = {"cpu.model",           "cpu.microcode",  "cpu.online",
                                        "cpu.allowed",         "kernel",         "memory.total_bytes",
                                        "binary.compiler",     "binary.version", "binary.build_flags",
                                        "binary.git_revision", "gpu.driver",     "gpu.devices_sha256"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const json_t *a = at_path(was, paths[i]), *b = at_path(now, paths[i]);
        if (a != b && !json_equal(a, b) && (on_gpu || strncmp(paths[i], "gpu.", 4) != 0))
            return paths[i];
    }
    return NULL;
}

const char *ifm_machine_gpu(const struct ifm_events *events)
{
    const struct ifm_event_device *device = IFM_FIRST(events, device);
    const json_t *devices = json_object_get(ifm_fingerprint_of(events).gpus, "devices");
    const char *name = device == NULL ? NULL : text_of(device->facts, "gpu");
    return or_empty(name != NULL ? name : text_of(json_array_get(devices, 0), "name"));
}

const char *ifm_machine_driver(const struct ifm_events *events)
{
    return or_empty(text_of(ifm_fingerprint_of(events).gpus, "driver"));
}

const char *ifm_machine_cpu(const struct ifm_events *events)
{
    return or_empty(ifm_fingerprint_of(events).cpu_model);
}

const char *ifm_machine_measured(const struct ifm_events *events, const char *device)
{
    return strcmp(device, "cuda") == 0 ? ifm_machine_gpu(events) : ifm_machine_cpu(events);
}

/* ---- the locks ---- */

enum ifm_lock_state ifm_lock_state(const struct ifm_events *events)
{
    enum ifm_lock_state state = IFM_LOCK_UNKNOWN;
    IFM_EACH(event, events, locks, NULL, NULL) {
        const struct ifm_knobs *knobs = &IFM_FACTS(event, locks)->knobs;
        for (size_t k = 0; k < knobs->n; k++) {
            if (!knobs->items[k].locked)
                return IFM_LOCK_OPEN;
            state = IFM_LOCK_HELD;
        }
    }
    return state;
}

bool ifm_lock_is_possible(const struct ifm_events *events)
{
    static const char how[] = "inferometer lock";
    IFM_EACH(event, events, locks, NULL, NULL) {
        const struct ifm_knobs *knobs = &IFM_FACTS(event, locks)->knobs;
        for (size_t k = 0; k < knobs->n; k++)
            if (!knobs->items[k].locked && knobs->items[k].remedy != NULL &&
                strncmp(knobs->items[k].remedy, how, strlen(how)) == 0)
                return true;
    }
    return false;
}

/* As the last session began; NULL = not read. */
static const struct ifm_event_load *load_before(const struct ifm_events *events)
{
    const struct ifm_event_load *before = NULL;
    IFM_EACH(event, events, load, NULL, NULL)
        if (strcmp(IFM_FACTS(event, load)->when, "before") == 0)
            before = IFM_FACTS(event, load);
    return before;
}

static const double LONG_WAIT_S = 600; /* what remedies say */

bool ifm_waited_in_vain(const struct ifm_events *events)
{
    const struct ifm_event_load *before = load_before(events);
    return before != NULL && before->waited_s >= LONG_WAIT_S;
}

const char *ifm_remedy_after_wait(const struct ifm_events *events, struct ifm_arena *arena)
{
    const struct ifm_event_load *before = load_before(events);
    if (before != NULL && before->waited_s > 0 && before->waited_s < LONG_WAIT_S)
        return ifm_arena_printf(arena, "not quiet within %.4g s: add --wait-quiet 10min, or take another machine",
                                before->asked_s > 0 ? before->asked_s : round(before->waited_s));
    if (before != NULL && before->asked_s > 0 && !(before->waited_s > 0) && before->foreign_load <= IFM_LOADED)
        return "load came back during the run: run again, or end other work";
    return NULL;
}

const char *ifm_quiet_remedy(const struct ifm_events *events, const char *workload, unsigned threads,
                             struct ifm_arena *arena)
{
    const bool has_threads = strcmp(workload, "command") != 0;
    const unsigned fewer = events != NULL && has_threads ? ifm_fewer_threads(events, threads) : 0;
    if (strcmp(workload, "session") == 0)
        return "end other work, and measure again";
    if (fewer > 0)
        return ifm_arena_printf(arena, "end other work, or --threads %u, which leaves it its CPU%s", fewer,
                                threads - fewer == 1 ? "" : "s");
    const char *after = events == NULL ? NULL : ifm_remedy_after_wait(events, arena);
    return events != NULL && ifm_waited_in_vain(events) ? "a machine without other work"
           : after != NULL                              ? after
                                                        : "end other work, or add --wait-quiet 10min";
}

const char *ifm_lock_state_words(enum ifm_lock_state state)
{
    static const char *const words[] = {"unknown", "not locked", "locked"};
    return words[state];
}

/* ---- the device ---- */

struct ifm_device_facts ifm_device_facts_of(const struct ifm_events *events, const char *cell)
{
    const struct ifm_event_device *device = IFM_LAST(events, device, cell, NULL);
    const json_t *facts = device == NULL ? NULL : device->facts;
    return (struct ifm_device_facts){.gpu = text_of(facts, "gpu"),
                                     .l2_bytes = json_number_value(json_object_get(facts, "l2_bytes")),
                                     .huge_page_bytes = json_integer_value(json_object_get(facts, "huge_page_bytes")),
                                     .buffer_bytes = json_integer_value(json_object_get(facts, "buffer_bytes"))};
}

/* ---- the state of GPUs ---- */

const json_t *ifm_gpu_measured(const json_t *gpus, const char **missing, const char **remedy)
{
    const json_t *found = json_array_size(gpus) == 1 ? json_array_get(gpus, 0) : NULL;
    for (size_t i = 0; i < json_array_size(gpus); i++)
        if (json_is_true(json_object_get(json_array_get(gpus, i), "measured")))
            found = json_array_get(gpus, i);
    const json_t *whose = found != NULL ? found : gpus;
    *missing = text_of(whose, "absent");
    *remedy = text_of(whose, "remedy");
    if (found == NULL && *missing == NULL)
        *missing = "which of the GPUs the cell ran on is not known";
    return *missing == NULL ? found : NULL;
}

int64_t ifm_gpu_index(const json_t *gpu)
{
    const json_t *index = json_object_get(gpu, "index");
    return json_is_integer(index) ? json_integer_value(index) : IFM_ABSENT;
}

const json_t *ifm_gpu_at(const json_t *gpus, int64_t index)
{
    for (size_t i = 0; i < json_array_size(gpus); i++)
        if (ifm_gpu_index(json_array_get(gpus, i)) == index)
            return json_array_get(gpus, i);
    return NULL;
}

struct ifm_gpu_fact ifm_gpu_fact(const json_t *gpu, const char *group, const char *name)
{
    const json_t *value = json_object_get(group == NULL ? gpu : json_object_get(gpu, group), name);
    return (struct ifm_gpu_fact){json_is_number(value),     json_is_integer(value),   json_number_value(value),
                                 json_integer_value(value), text_of(value, "absent"), text_of(value, "remedy")};
}

const char *ifm_gpu_accumulator(const json_t *gpu, size_t i)
{
    json_t *accumulators = json_object_get(gpu, "accumulators");
    void *at = json_object_iter(accumulators);
    for (; at != NULL && i > 0; i--)
        at = json_object_iter_next(accumulators, at);
    return at == NULL ? NULL : json_object_iter_key(at);
}
