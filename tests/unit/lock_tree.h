/* A machine of files and a management library of the tests, and transactions over it; for the tests of locks. */
#ifndef IFM_TESTS_UNIT_LOCK_TREE_H
#define IFM_TESTS_UNIT_LOCK_TREE_H

#include <cmocka.h>

#include "facts.h"
#include "lock/lock.h"
#include "power_tree.h"
#include <sys/wait.h>

#define CPU "/sys/devices/system/cpu"
#define BOOT "/proc/sys/kernel/random/boot_id"

/* What the tests change from outside, at one point of a transaction. */
struct script {
    int calls, end_at; /* the process ends at this call, counted from 1 */
    const char *point; /* at this point of this knob, */
    const char *knob;
    const char *target;
    void (*act)(void); /* this is done */
    int stop_after;    /* knobs */
    int stops;
};

static char state_path[128], library[512], settings_path[128];
static struct script script;
static struct ifm_lock_options options;

static inline void at_point(void *context, const char *point, const struct ifm_lock_row *row)
{
    struct script *s = context;
    if (++s->calls == s->end_at)
        _exit(42);
    if (s->act != NULL && strcmp(point, s->point) == 0 && row != NULL && strcmp(ifm_lock_knob(row), s->knob) == 0 &&
        (s->target == NULL || strcmp(row->target, s->target) == 0))
        s->act();
}

static inline bool stop(void *context)
{
    struct script *s = context;
    return s->stop_after >= 0 && s->stops++ >= s->stop_after;
}

static inline int set_up(void **state)
{
    /* Every step is synced to disk, and these tests take thousands: in memory where there is such a folder. */
    if (getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
    if (tree_set_up(state) != 0)
        return -1;
    tree_put(BOOT, "first-boot\n");
    tree_put("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
    for (int cpu = 0; cpu < 4; cpu++) {
        char path[128];
        static const char *const files[][2] = {
            {"scaling_governor", "powersave\n"}, {"scaling_available_governors", "performance powersave\n"},
            {"scaling_min_freq", "400000\n"},    {"scaling_max_freq", "3000000\n"},
            {"cpuinfo_min_freq", "400000\n"},    {"cpuinfo_max_freq", "3500000\n"},
        };
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            snprintf(path, sizeof path, CPU "/cpu%d/cpufreq/%s", cpu, files[i][0]);
            tree_put(path, files[i][1]);
        }
    }
    tree_put(CPU "/intel_pstate/no_turbo", "0\n");
    tree_put("/state/keep", "");
    snprintf(state_path, sizeof state_path, "%s/state/locks.json", tree_root);
    snprintf(settings_path, sizeof settings_path, "%s/settings", tree_root);
    snprintf(library, sizeof library, "%sfake_nvml.so", IFM_FAKE_NVML);
    setenv("FAKE_NVML", "gpus=2", 1);
    setenv("FAKE_NVML_STATE", settings_path, 1);
    script = (struct script){.stop_after = -1};
    options = (struct ifm_lock_options){
        .root = tree_root, .nvml = library, .state = state_path, .at = at_point, .stop = stop, .context = &script};
    return 0;
}

static inline char *contents(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "re");
    size_t n = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    if (file != NULL)
        assert_int_equal(fclose(file), 0);
    return text;
}

static inline const char *value(const char *path)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", tree_root, path);
    char *text = contents(whole);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* Everything that can be locked, as one text. A setting of the GPU that equals the driver's own is none. */
static inline void snapshot(char *out, size_t size)
{
    size_t used = 0;
    static const char *const files[] = {"scaling_governor", "scaling_min_freq", "scaling_max_freq"};
    out[0] = '\0';
    for (int cpu = 0; cpu < 4; cpu++)
        for (size_t i = 0; i < 3; i++) {
            char path[128];
            snprintf(path, sizeof path, CPU "/cpu%d/cpufreq/%s", cpu, files[i]);
            used += (size_t)snprintf(out + used, size - used, "%s ", value(path));
        }
    used += (size_t)snprintf(out + used, size - used, "%s ", value(CPU "/intel_pstate/no_turbo"));
    char *settings = contents(settings_path), *rest = settings;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0' && strstr(line, "power_limit 700000") == NULL)
            used += (size_t)snprintf(out + used, size - used, "%s ", line);
}

static inline void expect_untouched(void)
{
    char seen[4096];
    snapshot(seen, sizeof seen);
    assert_string_equal(seen, "powersave 400000 3000000 powersave 400000 3000000 powersave 400000 3000000 "
                              "powersave 400000 3000000 0 ");
    assert_int_not_equal(access(state_path, F_OK), 0);
}

static const struct ifm_lock_wishes all = {.gpu_clock_mhz = 1500,
                                           .memory_clock_mhz = 1593,
                                           .power_cap_w = 650.5,
                                           .persistence = true,
                                           .governor = "performance",
                                           .frequency_mhz = 2000,
                                           .turbo_off = true};
enum { ALL_KNOBS = 2 * 4 + 4 * 3 + 1 };

static inline enum ifm_status take(const struct ifm_lock_wishes *wishes, struct ifm_lock **lock,
                                   struct ifm_error *error)
{
    memset(error, 0, sizeof *error);
    assert_int_equal(ifm_lock_open(&options, wishes, lock, error), IFM_OK);
    return ifm_lock_take(*lock, error);
}

static inline enum ifm_lock_outcome outcome_of(const struct ifm_lock *lock, const char *knob, const char *target)
{
    size_t n;
    const struct ifm_lock_row *rows = ifm_lock_rows(lock, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(ifm_lock_knob(&rows[i]), knob) == 0 && strcmp(rows[i].target, target) == 0)
            return rows[i].outcome;
    fail_msg("no %s of %s", knob, target);
    return IFM_LOCK_PLANNED;
}

/* Take the wishes, which must fail with a message, or its place, that holds the facts, and leave the machine as it was.
 */
static inline void expect_refused(const struct ifm_lock_wishes *wishes, enum ifm_status code, const char *facts,
                                  const char *hint)
{
    struct ifm_lock *lock = NULL;
    struct ifm_error error = {0};
    enum ifm_status status = ifm_lock_open(&options, wishes, &lock, &error);
    if (status == IFM_OK)
        status = ifm_lock_take(lock, &error);
    ifm_lock_close(lock);
    char told[sizeof error.where + sizeof error.message + 2];
    snprintf(told, sizeof told, "%s: %s", error.where, error.message);
    if (status != code || !facts_stand(told, facts, NULL) || !facts_stand(error.hint, hint, NULL))
        fail_msg("status %d, %s: %s (%s)", status, error.where, error.message, error.hint);
    expect_untouched();
}

static inline bool ends_at(int k, bool giving)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct ifm_lock *lock;
        struct ifm_error error;
        script.calls = 0;
        script.end_at = giving ? 0 : k;
        if (take(&all, &lock, &error) != IFM_OK)
            _exit(1);
        script.calls = 0;
        script.end_at = k;
        if (giving && ifm_lock_give(lock, &error) != IFM_OK)
            _exit(2);
        _exit(0); /* without closing: as killed */
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 42);
    return WEXITSTATUS(status) == 42;
}

static inline void put_ondemand(void)
{
    tree_put(CPU "/cpu1/cpufreq/scaling_governor", "ondemand\n");
}

#endif
