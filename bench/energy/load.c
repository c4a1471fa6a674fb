/* Loads: the lab's probes, opened, timed and run with marks. */
#include "energy/energy.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define TIMED_NS 40e6

void energy_must(enum ifm_status status, const struct ifm_error *error)
{
    if (status == IFM_OK)
        return;
    fprintf(stderr, "error: %s: %s\n", error->where, error->message);
    exit(status == IFM_MISSING ? 77 : 5);
}

static const struct energy_load kinds[ENERGY_LOADS] = {
    [ENERGY_READ] = {.name = "read", .shape = "linear", .probe = IFM_PROBE_READ, .bytes = 256 * MIB},
    [ENERGY_COPY] = {.name = "copy", .shape = "flat", .probe = IFM_PROBE_COPY, .bytes = 128 * MIB},
    [ENERGY_MATRIX] = {.name = "matrix", .shape = "bf16", .probe = IFM_PROBE_MATRIX},
    [ENERGY_CACHE] = {.name = "cache", .shape = "linear", .probe = IFM_PROBE_READ, .bytes = 16 * MIB},
};

/* Sensors of the GPU that CUDA drives; where the management library does not know its bus id, of every GPU. */
static void open_power(struct energy_bench *bench)
{
    struct ifm_cuda_device *inner = ifm_cuda_of(bench->device);
    char bus[32] = "";
    struct ifm_power_options options = {.root = "", .nvml = bench->options->nvml, .bus = bus};
    if (inner->cuda->p_cuDeviceGetPCIBusId(bus, (int)sizeof bus, inner->handle) != CUDA_SUCCESS)
        options.bus = NULL;
    bench->power = ifm_power_open(&options);
    const struct ifm_power_list *list = ifm_power_list(bench->power);
    bool found = options.bus == NULL;
    for (size_t i = 0; i < list->n_sensors; i++)
        found = found || strncmp(list->sensors[i].source, "nvml", 4) == 0;
    if (found)
        return;
    ifm_power_close(bench->power);
    options.bus = NULL;
    bench->power = ifm_power_open(&options);
}

void energy_open(const struct energy_options *options, struct energy_bench *bench)
{
    struct ifm_error error = {0};
    memset(bench, 0, sizeof *bench);
    bench->options = options;
    energy_must(ifm_device_cuda.open(&(struct ifm_device_options){.threads = 1}, &bench->device, &error), &error);
    open_power(bench);
    memcpy(bench->loads, kinds, sizeof kinds);
    for (size_t i = 0; options->bytes > 0 && i < ENERGY_LOADS; i++)
        bench->loads[i].bytes = options->bytes;
}

void energy_close(struct energy_bench *bench)
{
    for (size_t i = 0; i < ENERGY_LOADS; i++)
        ifm_implementation_close(&ifm_stream_cuda, bench->loads[i].state);
    ifm_power_close(bench->power);
    bench->device->ops->close(bench->device);
}

void energy_load_open(struct energy_bench *bench, struct energy_load *load)
{
    struct ifm_error error = {0};
    if (load->state != NULL)
        return;
    const struct ifm_machine machine = {.device = "cuda", .gpu = ifm_cuda_gpu(bench->device)};
    const struct ifm_stream_settings settings = {.probe = (int)load->probe, .size = load->bytes};
    struct ifm_stream_ask ask = {.settings = &settings};
    struct ifm_arena *arena = ifm_arena_create();
    (void)!ifm_stream_cuda.supports(&machine, &ask, arena);
    size_t i = 0;
    while (i < ask.n && strcmp(ask.offers[i].variant, load->shape) != 0)
        i++;
    if (i == ask.n) {
        fprintf(stderr, "error: %s: this GPU has no shape %s of the probe\n", load->name, load->shape);
        exit(77);
    }
    const struct ifm_arm arm = {.name = load->name, .variant = load->shape};
    const struct ifm_opening opening = {.implementation = &ifm_stream_cuda,
                                        .arm = &arm,
                                        .settings = &settings,
                                        .chosen = &ask.offers[i].chosen,
                                        .device = bench->device,
                                        .threads = 1,
                                        .seed = 1};
    energy_must(ifm_implementation_open(&opening, &load->state, &error), &error);
    ifm_arena_destroy(arena);
    load->step_ns = energy_load_time(bench, load);
}

double energy_load_time(struct energy_bench *bench, struct energy_load *load)
{
    for (uint64_t n = 8;; n *= 4) {
        energy_steps(bench, load, n); /* the graph is made here */
        energy_marks_start(bench);
        energy_mark(bench);
        energy_steps(bench, load, n);
        energy_mark(bench);
        energy_marks_stop(bench);
        double ns = (double)(bench->marks.at[1].ns - bench->marks.at[0].ns);
        if (ns >= TIMED_NS || n > UINT64_C(1) << 20)
            return ns / (double)n;
    }
}

/* ---- marks ---- */

void energy_marks_start(struct energy_bench *bench)
{
    bench->marks.n = 0;
    bench->marks.total = 0;
    bench->device->ops->hold(bench->device, 1);
}

void energy_mark(struct energy_bench *bench)
{
    struct energy_marks *marks = &bench->marks;
    if (marks->n + 1 >= IFM_CUDA_MARKS) {
        fprintf(stderr, "error: more than %d marks in one hold\n", IFM_CUDA_MARKS - 1);
        exit(5);
    }
    marks->steps[marks->n] = marks->total;
    marks->at[marks->n++] = bench->device->ops->mark(bench->device);
}

void energy_steps(struct energy_bench *bench, struct energy_load *load, uint64_t n)
{
    ifm_stream_cuda.step(load->state, n);
    bench->marks.total += n;
}

void energy_marks_stop(struct energy_bench *bench)
{
    struct ifm_error error = {0};
    energy_must(bench->device->ops->resolve(bench->device, bench->marks.at, bench->marks.n, &error), &error);
    bench->device->ops->release(bench->device);
}

/* ---- time ---- */

void energy_sleep(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

int64_t energy_spin_until(int64_t at_ns)
{
    int64_t now = ifm_clock_now().ns;
    while (now < at_ns)
        now = ifm_clock_now().ns;
    return now - at_ns;
}
