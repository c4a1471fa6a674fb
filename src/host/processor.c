/* The processor: model, flags, caches, NUMA nodes, hypervisor; and its topology as hwloc sees it, compared with what
 * sysfs says. */
#include "base/arena.h"
#include "host/cpus.h"
#include "host/host.h"
#include "host/probe.h"
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#define SYSFS_CPU "/sys/devices/system/cpu"

/* Flags that change what a kernel can do, as /proc/cpuinfo spells them (x86 and Arm). */
static const char *const flags_of_interest[] = {
    "sse2",     "avx",      "avx2",     "fma",         "f16c",        "avx_vnni",    "avx512f",
    "avx512bw", "avx512dq", "avx512vl", "avx512_bf16", "avx512_vnni", "avx512_fp16", "amx_tile",
    "amx_bf16", "amx_int8", "asimd",    "sve",         "sve2",        "bf16",        "i8mm",
};

static json_t *field_or_absent(const char *text, const char *key, const char *reason)
{
    char value[256];
    if (text != NULL && ifm_probe_field(text, key, value, sizeof value))
        return json_string(value);
    return ifm_probe_absent(reason, NULL);
}

static json_t *flags_json(const char *text)
{
    char flags[8192];
    if (text == NULL || (!ifm_probe_field(text, "flags", flags, sizeof flags) &&
                         !ifm_probe_field(text, "Features", flags, sizeof flags)))
        return ifm_probe_absent("/proc/cpuinfo lists no flags", NULL);
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof flags_of_interest / sizeof *flags_of_interest; i++)
        if (ifm_probe_has_word(flags, flags_of_interest[i]))
            json_array_append_new(list, json_string(flags_of_interest[i]));
    return list;
}

static unsigned online_cpus(const char *root, unsigned *cpus)
{
    char list[4096];
    return ifm_probe_line(root, list, sizeof list, SYSFS_CPU "/online") ? ifm_probe_cpu_list(list, cpus, IFM_CPUS_MAX)
                                                                        : 0;
}

/* Distinct values of a topology file over the online CPUs; 0 when it cannot be read. */
static unsigned distinct(const char *root, const unsigned *cpus, unsigned n, const char *file)
{
    char(*seen)[256] = ifm_zeros(n, sizeof *seen);
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++) {
        char value[256];
        if (!ifm_probe_line(root, value, sizeof value, SYSFS_CPU "/cpu%u/topology/%s", cpus[i], file))
            continue;
        unsigned j = 0;
        while (j < count && strcmp(seen[j], value) != 0)
            j++;
        if (j == count)
            memcpy(seen[count++], value, sizeof value);
    }
    free(seen);
    return count;
}

static json_t *count_or_absent(unsigned count, const char *reason)
{
    return count > 0 ? json_integer(count) : ifm_probe_absent(reason, NULL);
}

static json_t *smt_json(const char *root)
{
    int64_t active;
    char control[32];
    if (!ifm_probe_i64(root, &active, SYSFS_CPU "/smt/active"))
        return ifm_probe_absent("the kernel has no smt/active", NULL);
    json_t *smt = json_pack("{s:b}", "active", active != 0);
    if (ifm_probe_line(root, control, sizeof control, SYSFS_CPU "/smt/control"))
        json_object_set_new(smt, "control", json_string(control));
    return smt;
}

json_t *ifm_probe_cpu(const char *root)
{
    unsigned *cpus = ifm_zeros(IFM_CPUS_MAX, sizeof *cpus);
    char *text = ifm_probe_text(root, "/proc/cpuinfo");
    const char *none = "/proc/cpuinfo does not say";
    json_t *cpu = json_object();
    json_object_set_new(cpu, "model", field_or_absent(text, "model name", none));
    json_object_set_new(cpu, "vendor", field_or_absent(text, "vendor_id", none));
    json_object_set_new(cpu, "family", field_or_absent(text, "cpu family", none));
    json_object_set_new(cpu, "model_number", field_or_absent(text, "model", none));
    json_object_set_new(cpu, "stepping", field_or_absent(text, "stepping", none));
    json_object_set_new(cpu, "microcode", field_or_absent(text, "microcode", none));
    json_object_set_new(cpu, "flags", flags_json(text));
    unsigned n = online_cpus(root, cpus);
    const char *no_topology = "the kernel exposes no CPU topology";
    json_object_set_new(cpu, "online", count_or_absent(n, "the kernel lists no online CPUs"));
    json_object_set_new(cpu, "sockets", count_or_absent(distinct(root, cpus, n, "physical_package_id"), no_topology));
    json_object_set_new(cpu, "cores", count_or_absent(distinct(root, cpus, n, "thread_siblings_list"), no_topology));
    json_object_set_new(
        cpu, "allowed",
        count_or_absent(ifm_probe_allowed(root, cpus, IFM_CPUS_MAX), "/proc/self/status lists no allowed CPUs"));
    json_object_set_new(cpu, "smt", smt_json(root));
    free(text);
    free(cpus);
    return cpu;
}

/* The first CPU that this process may use: caches of hybrid processors differ by CPU. */
static unsigned first_allowed(const char *root)
{
    unsigned cpu = 0;
    ifm_probe_allowed(root, &cpu, 1);
    return cpu;
}

static bool cache_index(const char *root, unsigned cpu, unsigned index, int64_t *level, char type[32], uint64_t *size)
{
    char text[32];
    return ifm_probe_i64(root, level, SYSFS_CPU "/cpu%u/cache/index%u/level", cpu, index) &&
           ifm_probe_line(root, type, 32, SYSFS_CPU "/cpu%u/cache/index%u/type", cpu, index) &&
           ifm_probe_line(root, text, sizeof text, SYSFS_CPU "/cpu%u/cache/index%u/size", cpu, index) &&
           ifm_parse_bytes(text, size);
}

json_t *ifm_probe_caches(const char *root)
{
    json_t *caches = json_array();
    unsigned cpu = first_allowed(root);
    int64_t level;
    char type[32], shared[4096];
    uint64_t size;
    for (unsigned i = 0; cache_index(root, cpu, i, &level, type, &size); i++) {
        json_t *cache =
            json_pack("{s:I, s:s, s:I}", "level", (json_int_t)level, "type", type, "bytes", (json_int_t)size);
        int64_t line;
        if (ifm_probe_i64(root, &line, SYSFS_CPU "/cpu%u/cache/index%u/coherency_line_size", cpu, i))
            json_object_set_new(cache, "line_bytes", json_integer(line));
        if (ifm_probe_line(root, shared, sizeof shared, SYSFS_CPU "/cpu%u/cache/index%u/shared_cpu_list", cpu, i))
            json_object_set_new(cache, "shared_cpus", json_string(shared));
        json_array_append_new(caches, cache);
    }
    if (json_array_size(caches) > 0)
        return caches;
    json_decref(caches);
    return ifm_probe_absent("the kernel reports no caches for this CPU",
                            "the knee sweep of the workload stream measures them");
}

void ifm_host_caches(const char *root, uint64_t *sizes, unsigned levels)
{
    memset(sizes, 0, sizeof *sizes * levels);
    unsigned cpu = first_allowed(root);
    int64_t level;
    char type[32];
    uint64_t size;
    for (unsigned i = 0; cache_index(root, cpu, i, &level, type, &size); i++)
        if (level >= 1 && level <= (int64_t)levels && strcmp(type, "Instruction") != 0)
            sizes[level - 1] = size;
}

json_t *ifm_probe_numa(const char *root)
{
    char list[4096], cpus[4096];
    unsigned nodes[1024];
    if (!ifm_probe_line(root, list, sizeof list, "/sys/devices/system/node/online"))
        return ifm_probe_absent("the kernel lists no NUMA nodes", NULL);
    unsigned n = ifm_probe_cpu_list(list, nodes, 1024);
    json_t *array = json_array();
    for (unsigned i = 0; i < n; i++) {
        json_t *node = json_pack("{s:i}", "node", (int)nodes[i]);
        if (ifm_probe_line(root, cpus, sizeof cpus, "/sys/devices/system/node/node%u/cpulist", nodes[i]))
            json_object_set_new(node, "cpus", json_string(cpus));
        json_array_append_new(array, node);
    }
    return array;
}

json_t *ifm_probe_hypervisor(const char *root)
{
    char product[128];
    if (!ifm_probe_virtual(root))
        return json_pack("{s:b}", "present", 0);
    json_t *hypervisor = json_pack("{s:b}", "present", 1);
    if (ifm_probe_line(root, product, sizeof product, "/sys/hypervisor/type") ||
        ifm_probe_line(root, product, sizeof product, "/sys/class/dmi/id/product_name"))
        json_object_set_new(hypervisor, "product", json_string(product));
    else
        json_object_set_new(hypervisor, "product", ifm_probe_absent("neither /sys/hypervisor nor DMI names it", NULL));
    return hypervisor;
}

/* Cache sizes, one instance a level, that hwloc and sysfs both report but differently. */
static void compare_caches(json_t *disagreements, hwloc_topology_t topology)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L4CACHE};
    uint64_t sizes[4];
    ifm_host_caches("", sizes, 4);
    for (unsigned level = 0; level < 4; level++) {
        hwloc_obj_t cache = hwloc_get_next_obj_by_type(topology, types[level], NULL);
        uint64_t seen = cache == NULL ? 0 : cache->attr->cache.size;
        if (seen == sizes[level])
            continue;
        json_array_append_new(disagreements, json_sprintf("L%u: hwloc %llu B, sysfs %llu B", level + 1,
                                                          (unsigned long long)seen, (unsigned long long)sizes[level]));
    }
}

static void compare_count(json_t *disagreements, const char *what, int seen, const json_t *reported)
{
    if (json_is_integer(reported) && json_integer_value(reported) != seen)
        json_array_append_new(disagreements, json_sprintf("%s: hwloc %d, sysfs %lld", what, seen,
                                                          (long long)json_integer_value(reported)));
}

json_t *ifm_probe_topology(const char *root)
{
    if (!ifm_probe_live(root))
        return ifm_probe_absent("hwloc reads only the live machine", NULL);
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return ifm_probe_absent("hwloc could not start", NULL);
    if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
        hwloc_topology_load(topology) != 0) {
        hwloc_topology_destroy(topology);
        return ifm_probe_absent("hwloc could not read this machine", NULL);
    }
    int packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int units = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    json_t *disagreements = json_array(), *cpu = ifm_probe_cpu(root);
    compare_count(disagreements, "packages", packages, json_object_get(cpu, "sockets"));
    compare_count(disagreements, "cores", cores, json_object_get(cpu, "cores"));
    compare_count(disagreements, "processing units", units, json_object_get(cpu, "online"));
    compare_caches(disagreements, topology);
    json_decref(cpu);
    hwloc_topology_destroy(topology);
    return json_pack("{s:i, s:i, s:i, s:o}", "packages", packages, "cores", cores, "processing_units", units,
                     "disagreements_with_sysfs", disagreements);
}
