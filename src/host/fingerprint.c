/* The environment fingerprint, composed from the probes; and the private facts. */
#include "host/environment.h"
#include "host/host.h"
#include "host/probe.h"
#include <limits.h>
#include <pwd.h>
#include <unistd.h>

static json_t *aslr(const char *root)
{
    int64_t level;
    if (!ifm_probe_i64(root, &level, "/proc/sys/kernel/randomize_va_space"))
        return ifm_probe_absent("/proc/sys/kernel/randomize_va_space cannot be read", NULL);
    return json_integer(level);
}

json_t *ifm_host_fingerprint_at(const char *root)
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

json_t *ifm_host_fingerprint(void)
{
    return ifm_host_fingerprint_at("");
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
