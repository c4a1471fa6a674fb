/* Host probes: three recorded machines with exact expectations, a bare tree, and this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "facts.h"
#include "host/cpus.h"
#include "host/host.h"
#include "host/probe.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VM "tests/fake/vm-epyc"
#define LAPTOP "tests/fake/laptop-intel"
#define CONTAINER "tests/fake/container-v2"
#define NOWHERE "tests/fake/no-such-machine"

/* Compare with JSON text; steals `value`. */
static void expect(json_t *value, const char *text)
{
    json_t *wanted = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(wanted);
    if (!json_equal(value, wanted)) {
        char *seen = json_dumps(value, JSON_ENCODE_ANY);
        print_error("seen   %s\nwanted %s\n", seen, text);
        free(seen);
        fail();
    }
    json_decref(value);
    json_decref(wanted);
}

/* Why this fact is absent. */
static const char *reason_of(const json_t *fact)
{
    const char *reason = json_string_value(json_object_get(fact, "absent"));
    assert_non_null(reason);
    return reason;
}

/* A table of the firmware: each structure has its type, its length, and strings behind it. */
static void write_modules(const char *folder, const unsigned char *table, size_t size)
{
    char path[256];
    static const char *const parts[] = {"/sys", "/sys/firmware", "/sys/firmware/dmi", "/sys/firmware/dmi/tables"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, "%s%s", folder, parts[i]);
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    }
    snprintf(path, sizeof path, "%s/sys/firmware/dmi/tables/DMI", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(table, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t put_module(unsigned char *to, unsigned bits, unsigned gib, unsigned speed, unsigned configured)
{
    enum { LENGTH = 0x22 };
    memset(to, 0, LENGTH);
    to[0] = 17;
    to[1] = LENGTH;
    to[0x0a] = (unsigned char)bits;
    to[0x0d] = (unsigned char)(gib << 2); /* of MiB, in two bytes */
    memcpy(to + 0x15, (unsigned char[]){(unsigned char)speed, (unsigned char)(speed >> 8)}, 2);
    memcpy(to + 0x20, (unsigned char[]){(unsigned char)configured, (unsigned char)(configured >> 8)}, 2);
    memcpy(to + LENGTH, "DIMM A\0", 8); /* with the NUL of the string, and that of the list */
    return LENGTH + 8;
}

static void sums_what_memory_modules_carry(void **state)
{
    (void)state;
    char folder[] = "/tmp/ifm-modules-XXXXXX";
    unsigned char table[512] = {1, 4, 0, 0, 0, 0}; /* a structure of another type, without strings */
    size_t n = 6;
    assert_non_null(mkdtemp(folder));
    n += put_module(table + n, 64, 16, 4800, 4400); /* runs slower than it could */
    n += put_module(table + n, 64, 0, 4800, 4800);  /* an empty slot */
    n += put_module(table + n, 64, 16, 3200, 0);
    memcpy(table + n, (unsigned char[]){127, 4, 0, 0, 0, 0}, 6);
    write_modules(folder, table, n + 6);
    expect(ifm_probe_modules(folder), "{\"count\":2,\"bytes_per_s\":60800000000.0}");
    for (size_t cut = 0; cut < n; cut++) { /* whatever is missing of it */
        write_modules(folder, table, cut);
        json_decref(ifm_probe_modules(folder));
    }
    write_modules(folder, table, 6);
    json_t *none = ifm_probe_modules(folder);
    assert_facts(reason_of(none), "names no memory module");
    json_decref(none);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void replays_virtual_machine(void **state)
{
    (void)state;
    expect(ifm_probe_cpu(VM),
           "{\"model\":\"AMD EPYC\",\"vendor\":\"AuthenticAMD\",\"family\":\"25\",\"model_number\":\"17\","
           "\"stepping\":\"1\",\"microcode\":\"0x1000065\",\"flags\":[\"sse2\",\"avx\",\"avx2\",\"fma\",\"f16c\","
           "\"avx512f\",\"avx512bw\",\"avx512dq\",\"avx512vl\",\"avx512_bf16\",\"avx512_vnni\"],\"online\":2,"
           "\"sockets\":1,\"cores\":2,\"allowed\":2,\"smt\":{\"active\":false,\"control\":\"notsupported\"}}");
    expect(ifm_probe_caches(VM),
           "[{\"level\":1,\"type\":\"Data\",\"bytes\":32768,\"line_bytes\":64,\"shared_cpus\":\"0\"},"
           "{\"level\":1,\"type\":\"Instruction\",\"bytes\":32768,\"line_bytes\":64,\"shared_cpus\":\"0\"},"
           "{\"level\":2,\"type\":\"Unified\",\"bytes\":1048576,\"line_bytes\":64,\"shared_cpus\":\"0\"},"
           "{\"level\":3,\"type\":\"Unified\",\"bytes\":33554432,\"line_bytes\":64,\"shared_cpus\":\"0-1\"}]");
    expect(ifm_probe_cgroup(VM), "{\"version\":1,\"cpu_quota\":\"none\",\"memory_limit_bytes\":\"none\"}");
    json_t *hypervisor = ifm_probe_hypervisor(VM);
    assert_int_equal(json_object_size(hypervisor), 2);
    assert_true(json_is_true(json_object_get(hypervisor, "present")));
    assert_facts(reason_of(json_object_get(hypervisor, "product")), "/sys/hypervisor|DMI");
    json_decref(hypervisor);
    expect(ifm_probe_huge_pages(VM), "{\"transparent\":\"madvise\",\"nr_hugepages\":0}");
    json_t *memory = ifm_probe_memory(VM);
    assert_facts(reason_of(json_object_get(memory, "modules")), "memory modules|cannot be read");
    json_object_del(memory, "modules");
    expect(memory, "{\"total_bytes\":25276502016,\"available_bytes\":24878235648}");
    expect(ifm_probe_kernel(VM), "\"6.18.44\"");
    json_t *frequency = ifm_probe_frequency(VM);
    const char *key;
    json_t *value;
    json_object_foreach(frequency, key, value)
    {
        assert_facts(reason_of(value), "hypervisor|cpufreq");
        assert_non_null(json_object_get(value, "remedy"));
    }
    json_decref(frequency);
}

static void replays_laptop(void **state)
{
    (void)state;
    expect(ifm_probe_frequency(LAPTOP),
           "{\"governor\":\"powersave\",\"driver\":\"intel_pstate\",\"turbo\":\"on\",\"min_khz\":400000,"
           "\"max_khz\":4800000,\"hardware_min_khz\":400000,\"hardware_max_khz\":4800000}");
    expect(ifm_probe_hypervisor(LAPTOP), "{\"present\":false}");
    expect(ifm_probe_cgroup(LAPTOP), "{\"version\":2,\"cpu_quota\":\"none\",\"memory_limit_bytes\":\"none\"}");
    expect(ifm_probe_numa(LAPTOP), "[{\"node\":0,\"cpus\":\"0-7\"}]");
    expect(ifm_probe_load(LAPTOP), "{\"one_minute\":1.2,\"five_minutes\":0.9,\"fifteen_minutes\":0.7,\"runnable\":3}");
    json_t *cpu = ifm_probe_cpu(LAPTOP);
    assert_int_equal(json_integer_value(json_object_get(cpu, "online")), 8);
    assert_int_equal(json_integer_value(json_object_get(cpu, "cores")), 4);
    assert_true(json_is_true(json_object_get(json_object_get(cpu, "smt"), "active")));
    json_decref(cpu);
    uint64_t sizes[4];
    ifm_host_caches(LAPTOP, sizes, 4);
    assert_int_equal(sizes[0], 48 << 10);
    assert_int_equal(sizes[1], 1280 << 10);
    assert_int_equal(sizes[2], 12 << 20);
    assert_int_equal(sizes[3], 0);
}

static void laptop_locks_are_open(void **state)
{
    (void)state;
    static const struct {
        const char *knob, *value, *reason, *remedy;
    } wanted[] = {{"governor", "powersave", "clock|load", "inferometer lock --governor performance -- COMMAND"},
                  {"turbo", "on", "clock|temperature", "inferometer lock --turbo off -- COMMAND"},
                  {"frequency", "400000-4800000 kHz", "clock|differ", "inferometer lock --frequency MHZ -- COMMAND"},
                  {"affinity", "0-7", "thread|CPUs", NULL}};
    json_t *locks = ifm_host_locks(LAPTOP);
    assert_int_equal(json_array_size(locks), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *lock = json_array_get(locks, i), *remedy = json_object_get(lock, "remedy");
        assert_int_equal(json_object_size(lock), wanted[i].remedy == NULL ? 4 : 5);
        assert_string_equal(json_string_value(json_object_get(lock, "knob")), wanted[i].knob);
        assert_string_equal(json_string_value(json_object_get(lock, "value")), wanted[i].value);
        assert_true(json_is_false(json_object_get(lock, "locked")));
        assert_facts(json_string_value(json_object_get(lock, "reason")), wanted[i].reason);
        if (wanted[i].remedy != NULL)
            assert_string_equal(json_string_value(remedy), wanted[i].remedy);
    }
    json_decref(locks);
}

static void replays_container(void **state)
{
    (void)state;
    struct ifm_probe_limits limits = ifm_probe_limits(CONTAINER);
    assert_int_equal(limits.version, 2);
    assert_true(limits.cpu_quota == 1.5); /* of the parent group */
    assert_int_equal(limits.memory_limit, (uint64_t)2 << 30);
    assert_int_equal(limits.memory_left, (uint64_t)1 << 30); /* 2 GiB - (1.5 GiB - 0.5 GiB of droppable cache) */
    assert_int_equal(ifm_host_memory_available(CONTAINER), (uint64_t)1 << 30);
    expect(ifm_probe_cgroup(CONTAINER), "{\"version\":2,\"cpu_quota\":1.5,\"memory_limit_bytes\":2147483648}");
    expect(ifm_probe_hypervisor(CONTAINER), "{\"present\":true,\"product\":\"Google Compute Engine\"}");
    expect(ifm_probe_huge_pages(CONTAINER), "{\"transparent\":\"always\",\"nr_hugepages\":16}");
    expect(ifm_probe_numa(CONTAINER), "[{\"node\":0,\"cpus\":\"0-1\"},{\"node\":1,\"cpus\":\"2-3\"}]");
    json_t *caches = ifm_probe_caches(CONTAINER);
    assert_facts(reason_of(caches), "kernel|caches");
    json_decref(caches);
}

/* The row of the doctor with this name; borrowed. */
static const json_t *row(const json_t *rows, const char *what)
{
    size_t i;
    json_t *one;
    json_array_foreach(rows, i, one) if (strcmp(json_string_value(json_object_get(one, "what")), what) == 0) return one;
    fail_msg("the doctor has no row '%s'", what);
    return NULL;
}

static void expect_row(const json_t *rows, const char *what, const char *state, const char *facts)
{
    const json_t *one = row(rows, what);
    assert_string_equal(json_string_value(json_object_get(one, "state")), state);
    assert_facts(json_string_value(json_object_get(one, "detail")), facts);
    assert_true(json_string_length(json_object_get(one, "why")) > 0);
    assert_int_equal(json_string_length(json_object_get(one, "remedy")) > 0, strcmp(state, "ok") != 0);
}

static void doctor_replays(void **state)
{
    (void)state;
    json_t *rows = ifm_host_doctor(CONTAINER);
    expect_row(rows, "threads", "ok", "up to 2|mask 4|1.50 CPUs");
    expect_row(rows, "cgroup limits", "warn", "version 2|1.50 CPUs|2.00 GiB");
    expect_row(rows, "clock", "ok", "kvm-clock");
    expect_row(rows, "memory", "ok", "1.00 GiB");
    expect_row(rows, "CPU energy (RAPL)", "absent", "hypervisor|powercap");
    expect_row(rows, "perf_event_paranoid", "warn", "3");
    expect_row(rows, "memory lock limit", "ok", "8.00 MiB");
    expect_row(rows, "isolated CPUs", "absent", "none");
    json_decref(rows);
    rows = ifm_host_doctor(LAPTOP);
    expect_row(rows, "threads", "ok", "up to 8|mask 8|no cgroup");
    expect_row(rows, "lock: turbo", "warn", "on: |clock|temperature");
    expect_row(rows, "CPU energy (RAPL)", "ok", "powercap");
    expect_row(rows, "bare metal", "ok", "no hypervisor");
    expect_row(rows, "perf_event_paranoid", "ok", "1");
    expect_row(rows, "memory lock limit", "ok", "none");
    expect_row(rows, "isolated CPUs", "ok", "2-3,6-7");
    expect_row(rows, "NVIDIA driver", "ok", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14");
    expect_row(rows, "GPU counter permission", "warn", "for root alone");
    assert_facts(json_string_value(json_object_get(row(rows, "GPU counter permission"), "remedy")),
                 "since driver 565 CAP_PERFMON|NVreg_RestrictProfilingToAdminUsers=0|cap-add=SYS_ADMIN");
    json_decref(rows);
}

/* Nothing readable: every row still stands, says why, and none claims to be fine. */
static void doctor_on_bare_tree(void **state)
{
    (void)state;
    json_t *rows = ifm_host_doctor(NOWHERE), *one;
    size_t i;
    assert_int_equal(json_array_size(rows), 26);
    expect_row(rows, "huge pages", "absent", "/sys|not mounted"); /* and not: the kernel has none */
    expect_row(rows, "bare metal", "absent", "/proc|not mounted");
    json_array_foreach(rows, i, one)
    {
        assert_string_equal(json_string_value(json_object_get(one, "state")), "absent");
        assert_true(json_string_length(json_object_get(one, "detail")) > 0);
        assert_true(json_string_length(json_object_get(one, "why")) > 0);
        assert_true(json_string_length(json_object_get(one, "remedy")) > 0);
    }
    json_decref(rows);
}

static json_t *rows_of(const char *text)
{
    json_t *rows = json_array();
    char copy[256], *rest = copy, *pair;
    snprintf(copy, sizeof copy, "%s", text);
    while ((pair = strsep(&rest, "|")) != NULL) {
        char *state = strchr(pair, '=');
        *state++ = '\0';
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s}", "what", pair, "state", state, "detail",
                                              "it is so", "why", "because", "remedy", "do that"));
    }
    return rows;
}

/* A machine without a GPU has one row about it, and any sign of one keeps them all. */
static void no_gpu_is_one_row(void **state)
{
    (void)state;
    json_t *rows = rows_of("clock=ok|NVIDIA driver=absent|GPU counters (CUPTI)=ok|GPU counter permission=absent|"
                           "CUDA=absent|GPU=absent|memory=ok|GPU power (NVML)=absent");
    ifm_doctor_fold_gpus(rows);
    assert_int_equal(json_array_size(rows), 3);
    assert_facts(json_string_value(json_object_get(row(rows, "GPU"), "detail")), "it is so|do that");
    row(rows, "clock");
    row(rows, "memory");
    json_decref(rows);
    static const char *const signs[] = {"NVIDIA driver=ok|CUDA=absent|GPU=absent",
                                        "NVIDIA driver=absent|CUDA=ok|GPU=absent",
                                        "NVIDIA driver=absent|CUDA=absent|GPU=ok"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        rows = rows_of(signs[i]);
        ifm_doctor_fold_gpus(rows);
        assert_int_equal(json_array_size(rows), 3);
        json_decref(rows);
    }
}

/* The largest effect comes first, whatever the order of the rows; what nothing helps is no answer. */
static void the_first_help(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"lock: governor=warn|foreign load=warn|GPU=absent", "foreign load"},
        {"isolated CPUs=absent|lock: governor=warn|foreign load=ok", "lock: governor"},
        {"lock: governor=absent|bare metal=warn", "bare metal"},
        {"perf_event_paranoid=warn|cgroup limits=ok", "perf_event_paranoid"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *rows = rows_of(cases[i][0]);
        assert_string_equal(json_string_value(json_object_get(ifm_doctor_first(rows), "what")), cases[i][1]);
        json_decref(rows);
    }
    json_t *rows = rows_of("clock=ok|GPU=absent");
    assert_null(ifm_doctor_first(rows));
    json_decref(rows);
    /* every row of this machine that can be amiss has its place */
    rows = ifm_host_doctor(NOWHERE);
    ifm_doctor_fold_gpus(rows);
    for (const json_t *one; (one = ifm_doctor_first(rows)) != NULL;)
        for (size_t i = 0; i < json_array_size(rows); i++)
            if (json_array_get(rows, i) == one)
                json_array_remove(rows, i--);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *what = json_string_value(json_object_get(json_array_get(rows, i), "what"));
        if (strcmp(what, "GPU") != 0 && strcmp(what, "instruction sets") != 0 && strcmp(what, "memory lock limit") != 0)
            fail_msg("'%s' is never the first to be helped", what);
    }
    json_decref(rows);
}

/* A leaf that is empty text, or an absence without a reason, is a hole in the fingerprint. */
static void check_leaves(const json_t *value, const char *name)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(value) && json_string_value(value)[0] == '\0')
        fail_msg("'%s' is empty", name);
    if (json_is_null(value))
        fail_msg("'%s' is null", name);
    json_object_foreach((json_t *)value, key, member) check_leaves(member, key);
    json_array_foreach(value, i, member) check_leaves(member, name);
}

static void fingerprints_have_no_holes(void **state)
{
    (void)state;
    static const char *const roots[] = {VM, LAPTOP, CONTAINER, NOWHERE, ""};
    static const char *const members[] = {"cpu",
                                          "caches_reported",
                                          "numa_nodes",
                                          "topology",
                                          "frequency",
                                          "memory",
                                          "huge_pages",
                                          "load",
                                          "cgroup",
                                          "hypervisor",
                                          "kernel",
                                          "aslr",
                                          "clock",
                                          "binary",
                                          "packages",
                                          "gpu",
                                          "cuda_libraries",
                                          "container",
                                          "python"};
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        json_t *host = ifm_host_fingerprint(roots[r]);
        for (size_t m = 0; m < sizeof members / sizeof *members; m++)
            if (json_object_get(host, members[m]) == NULL)
                fail_msg("root '%s' has no '%s'", roots[r], members[m]);
        check_leaves(host, "fingerprint");
        json_decref(host);
    }
}

static void fingerprint_holds_no_private_fact(void **state)
{
    (void)state;
    char name[256] = "", folder[4096];
    char *arguments[] = {(char *)"inferometer", (char *)"run", NULL};
    assert_int_equal(setenv("VIRTUAL_ENV", "/srv/somebodys/environment", 1), 0);
    assert_int_equal(setenv("CUDA_HOME", "/srv/somebodys/toolkit", 1), 0);
    json_t *host = ifm_host_fingerprint(""), *facts = ifm_host_private(2, arguments);
    assert_int_equal(unsetenv("VIRTUAL_ENV") | unsetenv("CUDA_HOME"), 0);
    char *text = json_dumps(host, 0);
    assert_string_equal(json_string_value(json_object_get(json_object_get(host, "python"), "kind")), "venv");
    assert_int_equal(gethostname(name, sizeof name - 1), 0);
    assert_non_null(getcwd(folder, sizeof folder));
    assert_null(strstr(text, folder));
    assert_null(strstr(text, "somebodys"));
    assert_string_equal(json_string_value(json_object_get(facts, "host_name")), name);
    assert_string_equal(json_string_value(json_object_get(facts, "working_folder")), folder);
    assert_string_equal(json_string_value(json_array_get(json_object_get(facts, "command_line"), 1)), "run");
    assert_non_null(json_object_get(facts, "user_name"));
    free(text);
    json_decref(host);
    json_decref(facts);
}

static void this_machine_is_sane(void **state)
{
    (void)state;
    unsigned cpus[IFM_CPUS_MAX], n = ifm_host_cpus(cpus, IFM_CPUS_MAX);
    struct ifm_cpu_mask mask;
    assert_true(n >= 1);
    assert_true(ifm_cpu_mask_get(&mask));
    for (unsigned i = 0; i < n; i++) {
        assert_true(ifm_cpu_mask_has(&mask, cpus[i]));
        for (unsigned j = 0; j < i; j++)
            assert_int_not_equal(cpus[i], cpus[j]);
    }
    assert_int_equal(ifm_host_cpus(cpus, 1), 1);
    assert_in_range(ifm_host_cpus_allowed(), 1, n);
    assert_true(ifm_host_memory_available("") > (uint64_t)1 << 20);
    json_t *clock = ifm_probe_clock("");
    assert_in_range(json_integer_value(json_object_get(clock, "read_ns_p50")), 1, 100000);
    json_decref(clock);
    size_t isas;
    const char *const *names = ifm_host_isas(&isas);
    assert_string_equal(names[isas - 1], "scalar");
}

/* A child that burns one CPU is foreign load; our own spinning is not. */
static void foreign_load_sees_others_only(void **state)
{
    (void)state;
    struct ifm_cpu_mask before, one;
    unsigned cpu;
    assert_int_equal(ifm_host_cpus(&cpu, 1), 1);
    assert_true(ifm_cpu_mask_get(&before));
    one = ifm_cpu_mask_of(cpu);
    assert_true(ifm_cpu_mask_set(&one));
    pid_t child = fork();
    if (child == 0)
        for (;;)
            ;
    /* Time that the hypervisor steals is nobody's load, so that on a busy host one window may see too little. */
    double load = 0, quick = ifm_host_foreign_load(0);
    for (int window = 0; window < 10 && load >= 0 && load <= 0.6; window++)
        load = ifm_host_foreign_load(300);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(ifm_cpu_mask_set(&before));
    /* The child shares its one CPU with whatever else runs, but together they fill it. */
    assert_true(load > 0.6 && load < 1.2);
    assert_true(quick >= 0);
}

static void cpu_lists(void **state)
{
    (void)state;
    unsigned cpus[8];
    assert_int_equal(ifm_probe_cpu_list("0-2,5,7-8", cpus, 8), 6);
    assert_int_equal(cpus[3], 5);
    assert_int_equal(cpus[5], 8);
    assert_int_equal(ifm_probe_cpu_list("0-2,5", cpus, 2), 2);
    assert_int_equal(ifm_probe_cpu_list("", cpus, 8), 0);
    assert_int_equal(ifm_probe_cpu_list("x", cpus, 8), 0);
    assert_int_equal(ifm_probe_cpu_list("3-99999999999", cpus, 8), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_virtual_machine),
        cmocka_unit_test(sums_what_memory_modules_carry),
        cmocka_unit_test(replays_laptop),
        cmocka_unit_test(laptop_locks_are_open),
        cmocka_unit_test(replays_container),
        cmocka_unit_test(doctor_replays),
        cmocka_unit_test(doctor_on_bare_tree),
        cmocka_unit_test(no_gpu_is_one_row),
        cmocka_unit_test(the_first_help),
        cmocka_unit_test(fingerprints_have_no_holes),
        cmocka_unit_test(fingerprint_holds_no_private_fact),
        cmocka_unit_test(this_machine_is_sane),
        cmocka_unit_test(foreign_load_sees_others_only),
        cmocka_unit_test(cpu_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
