/* Software and clocks: kernel, C library, this binary, its libraries, the clock source and what a read costs; the
 * fingerprint, composed of all probes; and the private facts. */
#include "base/clock.h"
#include "base/order.h"
#include "base/program.h"
#include "dyn/openblas.h"
#include "host/cpus.h"
#include "host/host.h"
#include "host/probe.h"
#include <gnu/libc-version.h>
#include <hwloc.h>
#include <openssl/crypto.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#define CLOCK_READS 1001

json_t *ifm_probe_kernel(const char *root)
{
    char line[256];
    return ifm_probe_line(root, line, sizeof line, "/proc/sys/kernel/osrelease")
               ? json_string(line)
               : ifm_probe_absent("/proc/sys/kernel/osrelease cannot be read", NULL);
}

static json_t *build_flags(void)
{
#ifdef IFM_BUILD_FLAGS
    return json_string(IFM_BUILD_FLAGS);
#else
    return ifm_probe_absent("the build did not record its flags", "build with the project's CMake files");
#endif
}

static json_t *git_revision(void)
{
    const char *revision = ifm_program_revision();
    return revision != NULL ? json_string(revision)
                            : ifm_probe_absent("the build did not record it",
                                               "build from a git checkout with the project's CMake files");
}

static json_t *git_dirty(void)
{
#ifdef IFM_GIT_DIRTY
    return json_boolean(IFM_GIT_DIRTY);
#else
    return ifm_probe_absent("the build did not record it", "build from a git checkout with the project's CMake files");
#endif
}

static json_t *git_branch(void)
{
#ifdef IFM_GIT_BRANCH
    return json_string(IFM_GIT_BRANCH);
#else
    return ifm_probe_absent("the build was on no branch of git", "build from a branch, with the project's CMake files");
#endif
}

json_t *ifm_probe_binary(void)
{
#ifdef __clang__
    const char *compiler = __VERSION__; /* "Debian Clang 14.0.6" */
#else
    const char *compiler = "gcc " __VERSION__;
#endif
#ifdef __OPTIMIZE__
    bool optimized = true;
#else
    bool optimized = false;
#endif
    return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o}", "version", IFM_VERSION, "compiler", compiler, "optimized",
                     optimized, "build_flags", build_flags(), "git_revision", git_revision(), "git_branch",
                     git_branch(), "git_dirty", git_dirty());
}

static json_t *openblas(void)
{
    const char *why_not;
    const struct ifm_openblas *blas = ifm_openblas_load(&why_not);
    if (blas == NULL)
        return ifm_probe_absent(why_not, NULL);
    return json_pack("{s:s, s:s, s:s, s:s}", "version", blas->version, "core", blas->core, "core_asked",
                     blas->asked[0] != '\0' ? blas->asked : "auto", "config", blas->config);
}

json_t *ifm_probe_packages(void)
{
    unsigned hwloc = hwloc_get_api_version();
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o}", "glibc", gnu_get_libc_version(), "jansson",
                     jansson_version_str(), "libyaml", yaml_get_version_string(), "hwloc_api",
                     json_sprintf("%u.%u.%u", hwloc >> 16, hwloc >> 8 & 255, hwloc & 255), "openssl",
                     OpenSSL_version(OPENSSL_VERSION), "openblas", openblas());
}

/* Median time between two reads in a row, which is the cost of one. */
static int64_t clock_read_ns(void)
{
    int64_t costs[CLOCK_READS];
    struct ifm_instant last = ifm_clock_now();
    for (int i = 0; i < CLOCK_READS; i++) {
        struct ifm_instant now = ifm_clock_now();
        costs[i] = now.ns - last.ns;
        last = now;
    }
    qsort(costs, CLOCK_READS, sizeof *costs, ifm_by_i64);
    return costs[CLOCK_READS / 2];
}

json_t *ifm_probe_clock(const char *root)
{
    char source[64];
    json_t *clock = json_object();
    bool known =
        ifm_probe_line(root, source, sizeof source, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    json_object_set_new(clock, "source",
                        known ? json_string(source)
                              : ifm_probe_absent("the kernel does not name its clock source", NULL));
    json_object_set_new(clock, "read_ns_p50",
                        ifm_probe_live(root) ? json_integer(clock_read_ns())
                                             : ifm_probe_absent("only the live clock can be timed", NULL));
    return clock;
}

/* Best first; a machine takes a tail of the list. */
static const char *const x86_isas[] = {"avx512vnni", "avx512", "avx2", "sse2", "scalar"};

const char *const *ifm_host_isas(size_t *n)
{
    size_t first = 4;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        first = __builtin_cpu_supports("avx512vnni") ? 0 : 1;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        first = 2;
    else
        first = 3; /* part of the x86-64 baseline */
#endif
    *n = sizeof x86_isas / sizeof *x86_isas - first;
    return x86_isas + first;
}

static json_t *aslr(const char *root)
{
    int64_t level;
    return ifm_probe_i64(root, &level, "/proc/sys/kernel/randomize_va_space")
               ? json_integer(level)
               : ifm_probe_absent("/proc/sys/kernel/randomize_va_space cannot be read", NULL);
}

json_t *ifm_host_fingerprint(const char *root)
{
    json_t *host = json_object();
    json_object_set_new(host, "cpu", ifm_probe_cpu(root));
    json_object_set_new(host, "caches_reported", ifm_probe_caches(root));
    json_object_set_new(host, "numa_nodes", ifm_probe_numa(root));
    json_object_set_new(host, "topology", ifm_probe_topology(root));
    json_object_set_new(host, "frequency", ifm_probe_frequency(root));
    json_object_set_new(host, "memory", ifm_probe_memory(root));
    json_object_set_new(host, "huge_pages", ifm_probe_huge_pages(root));
    json_object_set_new(host, "load", ifm_probe_load(root));
    json_object_set_new(host, "cgroup", ifm_probe_cgroup(root));
    json_object_set_new(host, "hypervisor", ifm_probe_hypervisor(root));
    json_object_set_new(host, "kernel", ifm_probe_kernel(root));
    json_object_set_new(host, "aslr", aslr(root));
    json_object_set_new(host, "clock", ifm_probe_clock(root));
    json_object_set_new(host, "binary", ifm_probe_binary());
    json_object_set_new(host, "packages", ifm_probe_packages());
    json_object_set_new(host, "gpu", ifm_probe_gpu(root));
    json_object_set_new(host, "cuda_libraries", ifm_probe_cuda_libraries(root));
    json_object_set_new(host, "container", ifm_probe_container(root));
    json_object_set_new(host, "python", ifm_probe_python(root));
    return host;
}

json_t *ifm_host_private(int argc, char **argv)
{
    char name[256] = "", folder[PATH_MAX], program[PATH_MAX];
    json_t *facts = json_object(), *command = json_array();
    bool named = gethostname(name, sizeof name - 1) == 0 && name[0] != '\0';
    json_object_set_new(facts, "host_name", named ? json_string(name) : ifm_probe_absent("gethostname failed", NULL));
    const struct passwd *user = getpwuid(getuid());
    json_object_set_new(facts, "user_name",
                        user != NULL ? json_string(user->pw_name) : json_sprintf("uid %u", (unsigned)getuid()));
    if (getcwd(folder, sizeof folder) != NULL)
        json_object_set_new(facts, "working_folder", json_string(folder));
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n > 0) {
        program[n] = '\0';
        json_object_set_new(facts, "program", json_string(program));
    }
    for (int i = 0; i < argc; i++) {
        json_t *word = json_string(argv[i]);
        json_array_append_new(command, word != NULL ? word : json_string("(not UTF-8)"));
    }
    json_object_set_new(facts, "command_line", command);
    return facts;
}
