/* GPUs as the fingerprint, the journal and the doctor see them, through libraries that this test's script makes
 * misbehave; and the software around the lab, from trees of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/hash.h"
#include "dyn/nvml.h"
#include "facts.h"
#include "host/gpu.h"
#include "host/host.h"
#include "host/probe.h"
#include "sample_folder.h"
#include <dlfcn.h>

#define UUID "GPU-5ec4e7ed-0000-1111-2222-333344445550"

static struct ifm_nvml nvml;

static const struct ifm_nvml *open_fake(const char *library, const char *script)
{
    char path[512], room[256];
    const char *reason, *remedy;
    snprintf(path, sizeof path, "%s%s.so", IFM_FAKE_NVML, library);
    assert_int_equal(setenv("FAKE_NVML", script, 1), 0);
    if (!ifm_nvml_open(path, &nvml, room, &reason, &remedy))
        fail_msg("%s", reason);
    return &nvml;
}

/* "a.b.2.c" of an object, where a number is an index; borrowed. */
static const json_t *at(const json_t *value, const char *path)
{
    char copy[128], *state = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *word = strtok_r(copy, ".", &state); word != NULL; word = strtok_r(NULL, ".", &state))
        value = json_is_array(value) ? json_array_get(value, strtoul(word, NULL, 10)) : json_object_get(value, word);
    return value;
}

static const char *text_at(const json_t *value, const char *path)
{
    const char *text = json_string_value(at(value, path));
    if (text == NULL)
        fail_msg("no text at %s", path);
    return text;
}

static double number_at(const json_t *value, const char *path)
{
    if (!json_is_number(at(value, path)))
        fail_msg("no number at %s", path);
    return json_number_value(at(value, path));
}

static bool holds(const json_t *value, const char *words)
{
    char *text = json_dumps(value, 0);
    bool found = strstr(text, words) != NULL;
    free(text);
    return found;
}

/* ---- facts ---- */

static void an_h200_is_described_whole(void **state)
{
    (void)state;
    json_t *facts = ifm_gpu_facts(open_fake("fake_nvml", "f91=18"));
    assert_string_equal(text_at(facts, "driver"), "580.00");
    assert_string_equal(text_at(facts, "nvml"), "13.580.00");
    assert_string_equal(text_at(facts, "cuda_driver_api"), "13.0");
    assert_string_equal(text_at(facts, "devices.0.name"), "NVIDIA H200");
    assert_string_equal(text_at(facts, "devices.0.architecture"), "Hopper");
    assert_string_equal(text_at(facts, "devices.0.compute_capability"), "9.0");
    assert_string_equal(text_at(facts, "devices.0.vbios"), "96.00.A5.00.1A");
    assert_string_equal(text_at(facts, "devices.0.uuid_sha256"), ifm_sha256_bytes(UUID, strlen(UUID)).hex);
    assert_true(number_at(facts, "devices.0.memory_bytes") == 150754820096);
    assert_true(number_at(facts, "devices.0.max_clock_mhz.sm") == 1980);
    assert_true(number_at(facts, "devices.0.max_clock_mhz.memory") == 3201);
    assert_true(number_at(facts, "devices.0.power_limit_w.default") == 700);
    assert_true(json_is_true(at(facts, "devices.0.persistence")));
    assert_true(json_is_true(at(facts, "devices.0.ecc.current")));
    assert_true(json_is_false(at(facts, "devices.0.mig.current")));
    assert_true(number_at(facts, "devices.0.nvlinks.links") == 18);
    assert_true(number_at(facts, "devices.0.nvlinks.active") == 17);
    /* What this library lacks is absent with a reason and a remedy. */
    assert_facts(text_at(facts, "devices.0.bar1_bytes.absent"), "580.00|reading");
    assert_facts(text_at(facts, "devices.0.bar1_bytes.remedy"), "NVIDIA");
    json_decref(facts);
}

static void nothing_of_one_gpu_identifies_it(void **state)
{
    (void)state;
    open_fake("fake_nvml", "gpus=2");
    json_t *facts = ifm_gpu_facts(&nvml), *now = ifm_gpu_state(&nvml, "0000:01:00.0", 0);
    static const char *const secrets[] = {"5ec4e7ed", "GPU-", "333344445550", "1654223007770", "0000:01"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        assert_false(holds(facts, secrets[i]));
        assert_false(holds(now, secrets[i]));
    }
    /* Two GPUs of one kind are two identities. */
    assert_string_not_equal(text_at(facts, "devices.0.uuid_sha256"), text_at(facts, "devices.1.uuid_sha256"));
    json_decref(facts);
    json_decref(now);
}

static void one_gpu_of_two_fails(void **state)
{
    (void)state;
    open_fake("fake_nvml", "gpus=2 fail=0");
    json_t *facts = ifm_gpu_facts(&nvml), *now = ifm_gpu_state(&nvml, NULL, 0);
    assert_int_equal(json_array_size(at(facts, "devices")), 2);
    assert_facts(text_at(facts, "devices.0.absent"), "lost");
    assert_string_equal(text_at(facts, "devices.1.name"), "NVIDIA H200");
    assert_facts(text_at(now, "0.absent"), "lost");
    assert_true(number_at(now, "1.temperature_c.gpu") == 34);
    char *hash = strdup(text_at(facts, "devices_sha256"));
    json_decref(facts);
    json_decref(now);
    open_fake("fake_nvml", "gpus=2");
    facts = ifm_gpu_facts(&nvml);
    assert_string_not_equal(text_at(facts, "devices_sha256"), hash);
    json_decref(facts);
    free(hash);
    open_fake("fake_nvml", "gpus=0");
    facts = ifm_gpu_facts(&nvml);
    now = ifm_gpu_state(&nvml, NULL, 0);
    assert_facts(text_at(facts, "devices.absent"), "NVML|no GPU");
    assert_facts(text_at(now, "absent"), "NVML|no GPU");
    json_decref(facts);
    json_decref(now);
}

static void an_old_driver_says_what_it_can(void **state)
{
    (void)state;
    open_fake("fake_nvml_old", "policy=5,6 reasons=36");
    json_t *facts = ifm_gpu_facts(&nvml), *now = ifm_gpu_state(&nvml, "0000:01:00.0", 0);
    assert_string_equal(text_at(facts, "devices.0.name"), "NVIDIA H200");
    assert_non_null(at(facts, "devices.0.architecture.absent"));
    assert_non_null(at(facts, "devices.0.mig.absent"));
    assert_non_null(at(facts, "devices.0.nvlinks.absent"));
    assert_non_null(at(facts, "nvml.absent"));
    assert_null(at(now, "0.measured")); /* it finds no GPU by its bus */
    /* Violation times stand in for fields, and the reasons have their older name. */
    assert_string_equal(text_at(now, "0.accumulators_from"), "violation status");
    assert_true(number_at(now, "0.accumulators.power_cap_ns") == 5);
    assert_true(number_at(now, "0.accumulators.thermal_policy_ns") == 6);
    assert_non_null(at(now, "0.accumulators.sw_thermal_ns.absent"));
    assert_string_equal(text_at(now, "0.event_reasons.0"), "sw_power_cap");
    assert_string_equal(text_at(now, "0.event_reasons.1"), "sw_thermal");
    assert_non_null(at(now, "0.processes.foreign.absent"));
    assert_non_null(at(now, "0.temperature_c.memory.absent"));
    json_decref(facts);
    json_decref(now);
}

/* ---- state ---- */

static void the_state_is_read(void **state)
{
    (void)state;
    open_fake("fake_nvml", "gpus=2 f74=26800000000 f82=41 sm=345 celsius=33 reasons=1025 watts=128");
    int64_t before = ifm_clock_now().ns;
    json_t *now = ifm_gpu_state(&nvml, "0000:01:00.0", before);
    assert_true(json_is_true(at(now, "0.measured")));
    assert_true(json_is_false(at(now, "1.measured")));
    assert_in_range(json_integer_value(at(now, "0.read_ns")), 0, 10000000000);
    assert_true(number_at(now, "0.clock_mhz.sm") == 345);
    assert_true(number_at(now, "0.clock_mhz.memory") == 3201);
    assert_true(number_at(now, "0.temperature_c.gpu") == 33);
    assert_true(number_at(now, "0.temperature_c.memory") == 41);
    assert_true(number_at(now, "0.power_w") == 128);
    assert_string_equal(text_at(now, "0.accumulators_from"), "fields");
    assert_true(number_at(now, "0.accumulators.power_cap_ns") == 26800000000);
    assert_true(number_at(now, "0.accumulators.hw_thermal_ns") == 0);
    assert_string_equal(text_at(now, "0.event_reasons.0"), "gpu_idle");
    assert_string_equal(text_at(now, "0.event_reasons.1"), "bit 10"); /* of a driver that knows more than we do */
    assert_true(number_at(now, "0.ecc_errors.uncorrected") == 0);
    assert_true(json_is_false(at(now, "0.remapped_rows.pending")));
    json_decref(now);
}

static void fields_that_a_gpu_lacks_are_absent_alone(void **state)
{
    (void)state;
    open_fake("fake_nvml", "no=269,82 f74=7 policy=9");
    json_t *now = ifm_gpu_state(&nvml, NULL, 0);
    assert_facts(text_at(now, "0.accumulators.sw_thermal_ns.absent"), "support");
    assert_non_null(at(now, "0.temperature_c.memory.absent"));
    assert_true(number_at(now, "0.accumulators.power_cap_ns") == 7);
    json_decref(now);
    open_fake("fake_nvml", "no=-1 policy=9");
    now = ifm_gpu_state(&nvml, NULL, 0);
    assert_string_equal(text_at(now, "0.accumulators_from"), "violation status");
    assert_true(number_at(now, "0.accumulators.power_cap_ns") == 9);
    json_decref(now);
}

static void others_are_counted_and_not_named(void **state)
{
    (void)state;
    open_fake("fake_nvml", "ours=1");
    json_t *now = ifm_gpu_state(&nvml, NULL, 0);
    assert_true(number_at(now, "0.processes.compute") == 1 && number_at(now, "0.processes.foreign") == 0);
    json_decref(now);
    open_fake("fake_nvml", "ours=1 foreign=2");
    now = ifm_gpu_state(&nvml, NULL, 0);
    assert_true(number_at(now, "0.processes.compute") == 3 && number_at(now, "0.processes.foreign") == 2);
    json_decref(now);
    open_fake("fake_nvml", "ours=1 stranger=1");
    now = ifm_gpu_state(&nvml, NULL, 0);
    assert_true(number_at(now, "0.processes.compute") == 2);
    assert_facts(text_at(now, "0.processes.foreign.remedy"), "--pid=host");
    json_decref(now);
    open_fake("fake_nvml", "foreign=300"); /* more than there is room for */
    now = ifm_gpu_state(&nvml, NULL, 0);
    assert_true(number_at(now, "0.processes.foreign") >= 256);
    json_decref(now);
}

/* ---- doctor ---- */

static void expect_row(const json_t *rows, const char *what, enum ifm_doctor_state state, const char *facts)
{
    static const char *const states[] = {"ok", "absent", "warn"};
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(text_at(row, "what"), what) != 0 || !facts_stand(text_at(row, "detail"), facts, NULL))
            continue;
        assert_string_equal(text_at(row, "state"), states[state]);
        assert_int_equal(text_at(row, "remedy")[0] == '\0', state == IFM_DOCTOR_OK);
        return;
    }
    fail_msg("no row '%s' with '%s'", what, facts);
}

static void doctor_says_what_is_open(void **state)
{
    (void)state;
    json_t *rows = json_array();
    ifm_doctor_gpus(&(struct ifm_doctor){.rows = rows}, open_fake("fake_nvml", ""), NULL, NULL);
    expect_row(rows, "GPU", IFM_DOCTOR_OK, "NVIDIA H200|9.0|140 GiB");
    expect_row(rows, "GPU power limit", IFM_DOCTOR_OK, "700 W");
    expect_row(rows, "GPU persistence", IFM_DOCTOR_OK, "on");
    expect_row(rows, "GPU ECC", IFM_DOCTOR_OK, "on");
    expect_row(rows, "GPU MIG", IFM_DOCTOR_OK, "off");
    expect_row(rows, "GPU throttling", IFM_DOCTOR_OK, "nothing");
    assert_int_equal(json_array_size(rows), 6);
    json_decref(rows);
    rows = json_array();
    ifm_doctor_gpus(&(struct ifm_doctor){.rows = rows},
                    open_fake("fake_nvml", "gpus=3 fail=2 cap=450 persistence=0 ecc=0 mig=1 reasons=33"), NULL, NULL);
    expect_row(rows, "GPU power limit", IFM_DOCTOR_WARN, "gpu0|450 W|700 W");
    expect_row(rows, "GPU persistence", IFM_DOCTOR_WARN, "gpu1: off");
    expect_row(rows, "GPU ECC", IFM_DOCTOR_WARN, "off|on|reset");
    expect_row(rows, "GPU MIG", IFM_DOCTOR_WARN, "whole board");
    expect_row(rows, "GPU throttling", IFM_DOCTOR_WARN, "sw_thermal");
    expect_row(rows, "GPU", IFM_DOCTOR_ABSENT, "gpu2|lost");
    json_decref(rows);
    rows = json_array();
    ifm_doctor_gpus(&(struct ifm_doctor){.rows = rows}, NULL, "no driver here", "install one");
    expect_row(rows, "GPU", IFM_DOCTOR_ABSENT, "no driver here");
    assert_int_equal(json_array_size(rows), 1);
    json_decref(rows);
}

/* ---- software, from trees of files ---- */

static struct folder tree;

static void make(const char *path, const char *text)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s", tree.path, path);
    for (char *slash = strchr(whole + strlen(tree.path) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0755);
        *slash = '/';
    }
    folder_write(&tree, path + 1, text, strlen(text));
}

static void set_environment(const char *text, size_t size)
{
    make("/proc/self/environ", "");
    folder_write(&tree, "proc/self/environ", text, size);
}

static int make_tree(void **state)
{
    (void)state;
    tree = folder_make();
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int remove_tree(void **state)
{
    (void)state;
    return nftw(tree.path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void containers_are_told_apart(void **state)
{
    (void)state;
    make("/proc/self/cgroup", "0::/\n");
    json_t *found = ifm_probe_container(tree.path);
    assert_string_equal(text_at(found, "kind"), "none");
    json_decref(found);
    make("/proc/self/cgroup", "12:cpu:/docker/0123456789abcdef\n");
    found = ifm_probe_container(tree.path);
    assert_string_equal(text_at(found, "kind"), "docker");
    assert_string_equal(text_at(found, "found_by"), "cgroup");
    assert_false(holds(found, "0123456789abcdef"));
    json_decref(found);
    make("/run/.containerenv", "engine=\"podman-4\"\nname=\"secret-name\"\nimageid=\"c0ffee\"\n");
    found = ifm_probe_container(tree.path);
    assert_string_equal(text_at(found, "kind"), "podman");
    assert_string_equal(text_at(found, "image_sha256"), ifm_sha256_bytes("c0ffee", 6).hex);
    assert_false(holds(found, "secret-name"));
    json_decref(found);
    static const char cloud[] = "HOME=/root\0KUBERNETES_SERVICE_HOST=10.0.0.1\0";
    set_environment(cloud, sizeof cloud - 1);
    found = ifm_probe_container(tree.path);
    assert_string_equal(text_at(found, "kind"), "kubernetes");
    assert_false(holds(found, "10.0.0.1"));
    json_decref(found);
    found = ifm_probe_container("tests/fake/no-such-machine");
    assert_non_null(at(found, "absent"));
    json_decref(found);
}

static void frameworks_are_found_without_python(void **state)
{
    (void)state;
    static const char conda[] = "CONDA_PREFIX=/srv/someone/conda/envs/bench\0";
    static const char both[] = "CONDA_PREFIX=/srv/someone/conda/envs/bench\0VIRTUAL_ENV=/srv/someone/venv\0";
    json_t *found = ifm_probe_python(tree.path);
    assert_non_null(at(found, "absent"));
    json_decref(found);
    make("/srv/someone/conda/envs/bench/conda-meta/python-3.12.4-h194c7f8_0_cpython.json", "");
    make("/srv/someone/conda/envs/bench/conda-meta/python-dateutil-2.9.0.json", "");
    make("/srv/someone/conda/envs/bench/lib/python3.12/site-packages/torch-2.9.0+cu130.dist-info/METADATA", "");
    make("/srv/someone/conda/envs/bench/lib/python3.12/site-packages/Flash_Attn-2.8.3.dist-info/METADATA", "");
    make("/srv/someone/conda/envs/bench/lib/python3.12/site-packages/tensorrt_llm-1.1.0.dist-info/METADATA", "");
    make("/srv/someone/conda/envs/bench/lib/python3.12/site-packages/someones_own_package-1.0.dist-info/METADATA", "");
    set_environment(conda, sizeof conda - 1);
    found = ifm_probe_python(tree.path);
    assert_string_equal(text_at(found, "kind"), "conda");
    assert_string_equal(text_at(found, "python"), "3.12.4");
    assert_string_equal(text_at(found, "frameworks.torch"), "2.9.0+cu130");
    assert_string_equal(text_at(found, "frameworks.flash-attn"), "2.8.3");
    assert_string_equal(text_at(found, "frameworks.tensorrt-llm"), "1.1.0");
    assert_int_equal(json_object_size(at(found, "frameworks")), 3);
    assert_false(holds(found, "someone"));
    json_decref(found);
    make("/srv/someone/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    make("/srv/someone/venv/lib/python3.11/site-packages/vllm-0.12.0.dist-info/METADATA", "");
    set_environment(both, sizeof both - 1);
    found = ifm_probe_python(tree.path);
    assert_string_equal(text_at(found, "kind"), "venv");
    assert_string_equal(text_at(found, "python"), "3.11.2");
    assert_string_equal(text_at(found, "frameworks.vllm"), "0.12.0");
    assert_false(holds(found, "someone"));
    json_decref(found);
    set_environment("", 0);
    make("/usr/local/bin/python3", "");
    make("/usr/local/lib/python3.12/dist-packages/transformers-5.0.0.dist-info/METADATA", "");
    found = ifm_probe_python(tree.path);
    assert_string_equal(text_at(found, "kind"), "system");
    assert_string_equal(text_at(found, "python"), "3.12");
    assert_string_equal(text_at(found, "frameworks.transformers"), "5.0.0");
    json_decref(found);
}

/* A cache of the loader with one library, behind an old header as glibc 2.31 wrote it. */
static void make_cache(const char *name, const char *target)
{
    char cache[512] = "ld.so-1.7.0";
    enum { NEW = 16 };
    memcpy(cache + NEW, "glibc-ld.so.cache1.1", 20);
    uint32_t one = 1, key = 48 + 24, value = key + (uint32_t)strlen(name) + 1;
    memcpy(cache + NEW + 20, &one, 4);
    memcpy(cache + NEW + 48 + 4, &key, 4);
    memcpy(cache + NEW + 48 + 8, &value, 4);
    memcpy(cache + NEW + key, name, strlen(name) + 1);
    memcpy(cache + NEW + value, target, strlen(target) + 1);
    make("/etc/ld.so.cache", "");
    folder_write(&tree, "etc/ld.so.cache", cache, NEW + value + strlen(target) + 1);
}

static void libraries_are_those_of_the_loader(void **state)
{
    (void)state;
    static const char variables[] = "LD_LIBRARY_PATH=/opt/mine:/nowhere\0CUDA_HOME=/opt/cuda\0";
    char link[PATH_MAX];
    json_t *found = ifm_probe_cuda_libraries(tree.path);
    assert_facts(text_at(found, "cudnn.absent"), "loader");
    assert_non_null(at(found, "toolkit.absent"));
    json_decref(found);
    set_environment(variables, sizeof variables - 1);
    make("/opt/mine/libcudart.so.13.0.96", "");
    make("/opt/mine/libcudnn.so.9", ""); /* as pip's packages have it */
    make("/opt/mine/libcudart.so.13.evil", "");
    snprintf(link, sizeof link, "%s/opt/mine/libcudart.so.13", tree.path);
    assert_int_equal(symlink("libcudart.so.13.0.96", link), 0);
    make("/opt/cuda/version.json", "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"13.0.2\"}}");
    make("/usr/lib/libcublas.so.12", "");
    make_cache("libcublas.so.12", "/usr/lib/libcublas.so.12");
    found = ifm_probe_cuda_libraries(tree.path);
    assert_int_equal(json_array_size(at(found, "runtime")), 1);
    assert_string_equal(text_at(found, "runtime.0.version"), "13.0.96");
    assert_facts(text_at(found, "runtime.0.version_from"), "file");
    assert_string_equal(text_at(found, "runtime.0.found_in"), "LD_LIBRARY_PATH");
    assert_string_equal(text_at(found, "cudnn.0.version"), "9");
    assert_string_equal(text_at(found, "cudnn.0.version_from"), "soname");
    assert_facts(text_at(found, "cublas.0.found_in"), "loader");
    assert_string_equal(text_at(found, "toolkit"), "13.0.2");
    assert_false(holds(found, "/opt"));
    json_decref(found);
}

static void licences_are_named_or_unknown(void **state)
{
    (void)state;
    json_t *found = ifm_host_licence(tree.path);
    assert_facts(text_at(found, "absent"), "unknown|no licence");
    assert_non_null(at(found, "remedy"));
    json_decref(found);
    make("/LICENSE", "All rights reserved. Ask us.\n");
    found = ifm_host_licence(tree.path);
    assert_facts(text_at(found, "absent"), "unknown|licence text");
    json_decref(found);
    make("/LICENSE", "                     Apache License\n               Version\n 2.0, January 2004\n");
    found = ifm_host_licence(tree.path);
    assert_string_equal(text_at(found, "id"), "Apache-2.0");
    assert_string_equal(text_at(found, "from"), "LICENSE");
    json_decref(found);
    make("/README.md", "---\nlanguage: en\nlicense: other\nlicense_name: tongyi-qianwen\n---\nlicense: mit\n");
    found = ifm_host_licence(tree.path);
    assert_string_equal(text_at(found, "id"), "tongyi-qianwen");
    assert_string_equal(text_at(found, "from"), "README.md");
    json_decref(found);
    make("/README.md", "# A model\nlicense: mit\n"); /* no front matter: words of a text are no statement */
    found = ifm_host_licence(tree.path);
    assert_string_equal(text_at(found, "id"), "Apache-2.0");
    json_decref(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_h200_is_described_whole),
        cmocka_unit_test(nothing_of_one_gpu_identifies_it),
        cmocka_unit_test(one_gpu_of_two_fails),
        cmocka_unit_test(an_old_driver_says_what_it_can),
        cmocka_unit_test(the_state_is_read),
        cmocka_unit_test(fields_that_a_gpu_lacks_are_absent_alone),
        cmocka_unit_test(others_are_counted_and_not_named),
        cmocka_unit_test(doctor_says_what_is_open),
        cmocka_unit_test_setup_teardown(containers_are_told_apart, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(frameworks_are_found_without_python, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(libraries_are_those_of_the_loader, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(licences_are_named_or_unknown, make_tree, remove_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
