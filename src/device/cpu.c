/* Device cpu: the pinned pool, buffers touched by the workers that read them, and the host clock. */
#include "device/cpu.h"
#include "device/buffers.h"
#include "device/pool.h"
#include "dyn/openblas.h"
#include "host/cpus.h"
#include "host/host.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define LINE 64
#define FLUSH_FACTOR 4 /* of the last-level cache: enough for any replacement policy in use */

static const char cpu_hint[] = "see that the CPU is online and allowed (taskset, cpuset), or lower --threads";

struct cpu_device {
    struct ifm_device base;
    struct ifm_pool *pool;
    unsigned *cpus; /* [0] is the driver's */
    unsigned threads;
    bool huge_pages;
    struct ifm_cpu_mask before; /* the driver's affinity, restored by close */
    struct ifm_buffer *buffers;
    struct ifm_buffer *flush;
    unsigned roamers; /* arms for which the driving thread is not pinned */
};

static struct cpu_device *cpu_of(struct ifm_device *device)
{
    return (struct cpu_device *)(void *)device;
}

/* Resolve 0 to "all", refuse more threads than CPUs. */
static enum ifm_status resolve_threads(unsigned asked, unsigned *threads, struct ifm_error *error)
{
    unsigned allowed = ifm_host_cpus_allowed();
    if (asked > allowed)
        return ifm_fail(
            error, IFM_USAGE, NULL, "lower --threads, or widen the affinity mask (taskset) or the cgroup's cpu quota",
            "%u threads asked for, but this process may use only %u CPU%s", asked, allowed, allowed == 1 ? "" : "s");
    *threads = asked == 0 ? allowed : asked;
    return IFM_OK;
}

static enum ifm_status cpu_describe(unsigned threads, struct ifm_machine *out, struct ifm_error *error)
{
    memset(out, 0, sizeof *out);
    IFM_TRY(resolve_threads(threads, &out->threads, error));
    out->device = "cpu";
    out->cpus_allowed = ifm_host_cpus_allowed();
    out->memory_available = ifm_host_memory_available("");
    ifm_host_caches("", out->cache_reported, IFM_CACHE_LEVELS);
    unsigned cpus[IFM_CPUS_MAX];
    out->llc_instances = ifm_host_llc_instances(cpus, ifm_host_cpus(cpus, out->threads));
    out->isas = ifm_host_isas(&out->n_isas);
    const struct ifm_openblas *blas = ifm_openblas_load(&out->blas_why_not);
    out->blas = blas != NULL ? blas->name : NULL;
    return IFM_OK;
}

static void unmap(struct ifm_buffer *buffer)
{
    while (buffer != NULL) {
        struct ifm_buffer *next = buffer->next;
        if (buffer->data != NULL)
            munmap(buffer->data, buffer->mapped);
        free(buffer);
        buffer = next;
    }
}

static void cpu_drop_buffers(struct ifm_device *device)
{
    unmap(cpu_of(device)->buffers);
    cpu_of(device)->buffers = NULL;
}

static void cpu_close(struct ifm_device *device)
{
    if (device == NULL)
        return;
    struct cpu_device *cpu = cpu_of(device);
    cpu_drop_buffers(device);
    unmap(cpu->flush);
    if (cpu->pool != NULL) {
        ifm_pool_destroy(cpu->pool);
        /* A CPU may have gone offline meanwhile; then the thread stays where it is. */
        (void)!ifm_cpu_mask_set(&cpu->before);
    }
    free(cpu->cpus);
    free(cpu);
}

/* Pin the driver and start the other workers. */
static enum ifm_status pin_and_start(struct cpu_device *cpu, struct ifm_error *error)
{
    cpu->cpus = calloc(cpu->threads, sizeof *cpu->cpus);
    if (cpu->cpus == NULL || ifm_host_cpus(cpu->cpus, cpu->threads) != cpu->threads || !ifm_cpu_mask_get(&cpu->before))
        return ifm_fail(error, IFM_INTERNAL, NULL, cpu_hint, "cannot list %u CPUs of the affinity mask: %s",
                        cpu->threads, strerror(errno));
    struct ifm_cpu_mask mine = ifm_cpu_mask_of(cpu->cpus[0]);
    if (!ifm_cpu_mask_set(&mine))
        return ifm_fail(error, IFM_MISSING, NULL, cpu_hint, "cannot pin the driving thread to CPU %u: %s", cpu->cpus[0],
                        strerror(errno));
    enum ifm_status status = ifm_pool_create(cpu->cpus, cpu->threads, &cpu->pool, error);
    if (status != IFM_OK)
        (void)!ifm_cpu_mask_set(&cpu->before);
    return status;
}

static enum ifm_status cpu_open(const struct ifm_device_options *options, struct ifm_device **out,
                                struct ifm_error *error)
{
    unsigned threads = 0;
    IFM_TRY(resolve_threads(options->threads, &threads, error));
    struct cpu_device *cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory for the cpu device");
    cpu->base.ops = &ifm_device_cpu;
    cpu->threads = threads;
    cpu->huge_pages = options->huge_pages;
    enum ifm_status status = pin_and_start(cpu, error);
    if (status != IFM_OK) {
        cpu_close(&cpu->base);
        return status;
    }
    *out = &cpu->base;
    return IFM_OK;
}

static struct ifm_instant cpu_mark(struct ifm_device *device)
{
    (void)device;
    return ifm_clock_now();
}

static void cpu_parallel(struct ifm_device *device, unsigned threads, ifm_work_fn *work, void *arg)
{
    ifm_pool_run(cpu_of(device)->pool, threads, work, arg);
}

static void cpu_hold(struct ifm_device *device, unsigned threads)
{
    ifm_pool_hold(cpu_of(device)->pool, threads);
}

static void cpu_release(struct ifm_device *device)
{
    ifm_pool_release(cpu_of(device)->pool);
}

/* Contiguous part `index` of `count` of a buffer, in whole units. */
static void part_of(const struct ifm_buffer *buffer, size_t unit, unsigned index, unsigned count, size_t *first,
                    size_t *last)
{
    size_t units = buffer->mapped / unit;
    *first = units * index / count * unit;
    *last = units * (index + 1) / count * unit;
}

/* The kernel zeroes a page when it is first written, on the node of the writer. */
static void touch(void *arg, unsigned index, unsigned count)
{
    const struct ifm_buffer *buffer = arg;
    volatile char *bytes = buffer->data;
    size_t page = 4096, first, last;
    part_of(buffer, page, index, count, &first, &last);
    for (size_t at = first; at < last; at += page)
        bytes[at] = 0;
}

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Map `mapped` bytes aligned to a huge page; NULL when the system refuses. */
static void *map_aligned(size_t mapped, bool huge_pages)
{
    char *raw = mmap(NULL, mapped + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    char *data = (char *)round_up((size_t)(uintptr_t)raw, HUGE_PAGE);
    size_t head = (size_t)(data - raw), tail = HUGE_PAGE - head;
    if (head > 0)
        munmap(raw, head);
    if (tail > 0)
        munmap(data + mapped, tail);
    /* Advice: a kernel without huge pages refuses it, and the facts then show that none back the buffer. */
    madvise(data, mapped, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return data;
}

static enum ifm_status add_buffer(struct cpu_device *cpu, struct ifm_buffer **list, const char *name, size_t bytes,
                                  struct ifm_error *error)
{
    IFM_TRY(ifm_buffer_check(name, bytes, ifm_host_memory_available(""), error));
    struct ifm_buffer *buffer = ifm_buffer_add(list, name, bytes);
    if (buffer == NULL)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory to name buffer '%s'", name);
    size_t mapped = round_up(bytes > 0 ? bytes : 1, cpu->huge_pages ? HUGE_PAGE : 4096);
    buffer->data = map_aligned(mapped, cpu->huge_pages);
    if (buffer->data == NULL) {
        int failure = errno;
        *list = buffer->next;
        free(buffer);
        return ifm_fail(error, IFM_USAGE, NULL, "choose a smaller shape, or raise the limit (ulimit -v)",
                        "the system refuses %llu B for buffer '%s': %s", (unsigned long long)mapped, name,
                        strerror(failure));
    }
    buffer->mapped = mapped;
    buffer->set = cpu->base.set;
    ifm_pool_run(cpu->pool, cpu->threads, touch, buffer);
    return IFM_OK;
}

static enum ifm_status cpu_buffer(struct ifm_device *device, const char *name, size_t bytes, void **out, bool *fresh,
                                  struct ifm_error *error)
{
    struct cpu_device *cpu = cpu_of(device);
    struct ifm_buffer *found = ifm_buffer_find(cpu->buffers, device->set, name, bytes);
    *fresh = found == NULL;
    if (found == NULL)
        IFM_TRY(add_buffer(cpu, &cpu->buffers, name, bytes, error));
    *out = found == NULL ? cpu->buffers->data : found->data;
    return IFM_OK;
}

static void cpu_lend(struct ifm_device *device, const void *data)
{
    ifm_buffer_lend(cpu_of(device)->buffers, data);
}

static bool cpu_lent(struct ifm_device *device, size_t i, const void **data, size_t *bytes)
{
    const struct ifm_buffer *found = ifm_buffer_lent(cpu_of(device)->buffers, i);
    if (found == NULL)
        return false;
    *data = found->data;
    *bytes = found->bytes;
    return true;
}

static void dirty(void *arg, unsigned index, unsigned count)
{
    const struct ifm_buffer *buffer = arg;
    size_t first, last;
    part_of(buffer, LINE, index, count, &first, &last);
    for (size_t at = first; at < last; at += LINE)
        ++*(volatile unsigned *)(void *)((char *)buffer->data + at);
}

/* Only the held workers take part, so that the others stay asleep; unheld, all do. */
static enum ifm_status cpu_flush(struct ifm_device *device, struct ifm_error *error)
{
    struct cpu_device *cpu = cpu_of(device);
    if (cpu->flush == NULL) {
        struct ifm_machine machine = {0};
        ifm_host_caches("", machine.cache_reported, IFM_CACHE_LEVELS);
        size_t bytes =
            FLUSH_FACTOR * (size_t)ifm_machine_llc(&machine) * ifm_host_llc_instances(cpu->cpus, cpu->threads);
        IFM_TRY(add_buffer(cpu, &cpu->flush, "cache flush", bytes, error));
    }
    unsigned held = ifm_pool_held(cpu->pool);
    ifm_pool_run(cpu->pool, held > 0 ? held : cpu->threads, dirty, cpu->flush);
    return IFM_OK;
}

bool ifm_cpu_mask_before(const struct ifm_device *device, struct ifm_cpu_mask *out)
{
    if (device->ops != &ifm_device_cpu)
        return false;
    *out = ((const struct cpu_device *)(const void *)device)->before;
    return true;
}

bool ifm_cpu_busy(const struct ifm_device *device, struct ifm_host_busy *out)
{
    struct ifm_cpu_mask cpus;
    return ifm_cpu_mask_before(device, &cpus) && ifm_host_busy(&cpus, out);
}

void ifm_cpu_roam(struct ifm_device *device, bool roams)
{
    if (device->ops != &ifm_device_cpu)
        return;
    struct cpu_device *cpu = cpu_of(device);
    cpu->roamers += roams ? 1 : -1u;
    struct ifm_cpu_mask mask = cpu->roamers > 0 ? cpu->before : ifm_cpu_mask_of(cpu->cpus[0]);
    (void)!ifm_cpu_mask_set(&mask); /* where that is not permitted, it stays where it is */
}

int ifm_cpu_displaced(struct ifm_device *device, bool *back)
{
    int displaced = -1;
    *back = true;
    if (device->ops != &ifm_device_cpu)
        return -1;
    struct cpu_device *cpu = cpu_of(device);
    for (unsigned i = 0; i < cpu->threads; i++) {
        struct ifm_cpu_mask wanted = i == 0 && cpu->roamers > 0 ? cpu->before : ifm_cpu_mask_of(cpu->cpus[i]), now;
        bool read = i == 0 ? ifm_cpu_mask_get(&now) : ifm_pool_mask_get(cpu->pool, i, &now);
        if (read && memcmp(&now, &wanted, sizeof now) == 0)
            continue;
        displaced = (int)cpu->cpus[i];
        *back &= i == 0 ? ifm_cpu_mask_set(&wanted) : ifm_pool_mask_set(cpu->pool, i, &wanted);
    }
    return displaced;
}

/* {"device": "cpu", "threads", "cpus": [ids, driver first], "huge_pages_asked", "huge_page_bytes": backing this process
 * now, "buffer_bytes"} */
static json_t *cpu_facts(struct ifm_device *device)
{
    struct cpu_device *cpu = cpu_of(device);
    json_t *cpus = json_array();
    for (unsigned i = 0; i < cpu->threads; i++)
        json_array_append_new(cpus, json_integer(cpu->cpus[i]));
    unsigned long long huge;
    json_t *backing = ifm_host_huge_bytes(&huge) ? json_integer((json_int_t)huge)
                                                 : json_pack("{s:s}", "absent", "/proc/self/smaps_rollup does not say");
    return json_pack("{s:s, s:i, s:o, s:b, s:o, s:I}", "device", "cpu", "threads", (int)cpu->threads, "cpus", cpus,
                     "huge_pages_asked", (int)cpu->huge_pages, "huge_page_bytes", backing, "buffer_bytes",
                     (json_int_t)ifm_buffer_total(cpu->buffers));
}

const struct ifm_device_ops ifm_device_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .mark = cpu_mark,
    .parallel = cpu_parallel,
    .hold = cpu_hold,
    .release = cpu_release,
    .flush = cpu_flush,
    .buffer = cpu_buffer,
    .drop_buffers = cpu_drop_buffers,
    .lend = cpu_lend,
    .lent = cpu_lent,
    .facts = cpu_facts,
};
