/* Topology as hwloc sees it, compared with what sysfs says. */
#include "host/cpus.h"
#include "host/probe.h"
#include <hwloc.h>

/* Cache sizes, one instance a level, that hwloc and sysfs both report but differently. */
static void compare_caches(json_t *disagreements, hwloc_topology_t topology)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L4CACHE};
    uint64_t sizes[4];
    ifm_probe_cache_sizes("", sizes, 4);
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
