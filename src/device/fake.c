/* Device fake: a scripted clock. Nothing in it depends on the machine or on real time. */
#include "device/fake.h"
#include "base/random.h"
#include "device/buffers.h"
#include "device/script.h"
#include "model/facts.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define WARMUP_STEPS 50.0
#define FLUSH_NS 1000000.0
#define L2_ACCESSES 1000.0 /* of a step */
#define SLOWEST_DRIFT 0.01 /* a falling drift ends here, so that durations stay positive */
#define MOST 0x1p62        /* the clock stops there, after 146 years, and columns too */

enum stream { STREAM_SAMPLE = 1, STREAM_SLOT, STREAM_THIEF };

static const uint64_t memory_bytes = (uint64_t)8 << 30;

struct fake_device {
    struct ifm_device base;
    struct ifm_script script;
    double fraction_ns; /* of the clock: durations are real numbers, the clock is whole */
    int64_t clock_ns;
    struct ifm_random sample, slot, steals;
    double sample_noise; /* the autoregressive state, of unit variance */
    double slot_noise;   /* standard normal, one per hold */
    double thief;        /* uniform, one per hold */
    uint64_t slots;
    double columns[IFM_FAKE_COLUMNS]; /* since the last hold; below zero = absent */
    struct ifm_buffer *buffers;
};

static struct fake_device *fake_of(struct ifm_device *device)
{
    return (struct fake_device *)(void *)device;
}

static void advance(struct fake_device *fake, double ns)
{
    double whole = fmin(floor(fake->fraction_ns + ns), MOST - (double)fake->clock_ns);
    fake->fraction_ns = fmin(fake->fraction_ns + (ns - whole), 1.0);
    fake->clock_ns += (int64_t)whole;
}

/* Sum of exp(-k / 50) over the steps first .. first + n - 1. */
static double warmup_sum(double first, double n)
{
    return (exp(-first / WARMUP_STEPS) - exp(-(first + n) / WARMUP_STEPS)) / (1 - exp(-1 / WARMUP_STEPS));
}

bool ifm_device_is_fake(const struct ifm_device *device)
{
    return device->ops == &ifm_device_fake;
}

/* Sum `amount` into a column, unless the script does not give it. */
static void count(double *column, double scripted, double amount)
{
    if (scripted >= 0)
        *column = fmax(*column, 0.0) + amount;
}

static void count_columns(struct fake_device *fake, const struct ifm_curve *curve, double steps, double stolen_ns,
                          double noise)
{
    count(&fake->columns[IFM_FAKE_L2_HITS], curve->l2_hit, L2_ACCESSES * steps * curve->l2_hit);
    count(&fake->columns[IFM_FAKE_L2_ACCESSES], curve->l2_hit, L2_ACCESSES * steps);
    count(&fake->columns[IFM_FAKE_ENERGY_UJ], curve->energy_j, 1e6 * curve->energy_j * steps * noise);
    count(&fake->columns[IFM_FAKE_STEAL_NS], curve->steal, stolen_ns);
    fake->columns[IFM_FAKE_CPU_KHZ] = curve->cpu_khz;
}

void ifm_fake_columns(struct ifm_device *device, int64_t *values)
{
    const struct fake_device *fake = fake_of(device);
    for (size_t i = 0; i < IFM_FAKE_COLUMNS; i++)
        values[i] = fake->columns[i] < 0 ? IFM_ABSENT : (int64_t)llround(fmin(fake->columns[i], MOST));
}

bool ifm_fake_script_has_columns(const char *text)
{
    struct ifm_script script;
    if (ifm_script_parse(text, &script, NULL) != IFM_OK)
        return false;
    bool any = false;
    for (size_t i = 0; i <= script.n_arms; i++) {
        const struct ifm_curve *curve = i < script.n_arms ? &script.arms[i].curve : &script.curve;
        any = any || curve->l2_hit >= 0 || curve->energy_j >= 0 || curve->cpu_khz >= 0 || curve->steal >= 0;
    }
    ifm_script_free(&script);
    return any;
}

enum ifm_status ifm_fake_script_check(const char *text, struct ifm_error *error)
{
    struct ifm_script script;
    IFM_TRY(ifm_script_parse(text, &script, error));
    ifm_script_free(&script);
    return IFM_OK;
}

bool ifm_fake_energy(const struct ifm_device *device, double *idle_w, double *limit_w, double *period_ns)
{
    const struct ifm_script *script = &((const struct fake_device *)(const void *)device)->script;
    *idle_w = script->idle_w;
    *limit_w = script->limit_w;
    *period_ns = script->energy_period_ns;
    return *idle_w >= 0 || *limit_w >= 0 || *period_ns >= 0;
}

void ifm_fake_check(struct ifm_device *device, const char *arm, double *quality_percent, double *error_rel)
{
    const struct ifm_script_arm *state = ifm_script_arm(&fake_of(device)->script, arm, strlen(arm));
    *quality_percent = state == NULL ? -1 : state->curve.quality;
    *error_rel = state == NULL ? -1 : state->curve.error;
}

void ifm_fake_advance(struct ifm_device *device, const char *arm, uint64_t steps)
{
    struct fake_device *fake = fake_of(device);
    struct ifm_script_arm *state = ifm_script_arm(&fake->script, arm, strlen(arm));
    if (state == NULL || steps == 0)
        return;
    const struct ifm_curve *curve = &state->curve;
    fake->sample_noise =
        curve->ar * fake->sample_noise + sqrt(1 - curve->ar * curve->ar) * ifm_random_normal(&fake->sample);
    double n = (double)steps, drift = 1 + curve->drift * (double)fake->clock_ns / 1e9;
    double weighted_steps = n + curve->warmup * warmup_sum(state->steps_done, n);
    double noise = exp(curve->noise * fake->sample_noise + curve->slot_noise * fake->slot_noise);
    if (curve->slow > 0 && ifm_random_uniform(&fake->sample) < curve->slow)
        noise *= curve->slow_times;
    bool stolen = fake->thief < curve->steal_slots;
    if (stolen && curve->steal_slots < 1 && curve->steal > 0)
        noise /= 1 - fmin(curve->steal, 0.99);
    double ns = curve->step_ns * weighted_steps * fmax(drift, SLOWEST_DRIFT) * noise;
    state->steps_done += n;
    advance(fake, ns);
    count_columns(fake, curve, n, stolen ? curve->steal * ns : 0, noise);
}

static enum ifm_status fake_describe(unsigned threads, struct ifm_machine *out, struct ifm_error *error)
{
    (void)error;
    static const char *const isas[] = {"scalar"};
    unsigned count = threads == 0 ? 1 : threads;
    *out = (struct ifm_machine){.device = "fake",
                                .scripted = true,
                                .cpus_allowed = count,
                                .threads = count,
                                .memory_available = memory_bytes,
                                .cache_reported = {32 << 10, 1 << 20, 32 << 20, 0},
                                .isas = isas,
                                .n_isas = 1};
    return IFM_OK;
}

static enum ifm_status fake_open(const struct ifm_device_options *options, struct ifm_device **out,
                                 struct ifm_error *error)
{
    struct ifm_script script;
    IFM_TRY(ifm_script_parse(options->script, &script, error));
    struct fake_device *fake = calloc(1, sizeof *fake);
    if (fake == NULL) {
        ifm_script_free(&script);
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory for the fake device");
    }
    fake->base.ops = &ifm_device_fake;
    fake->script = script;
    if (options->resumed)
        fake->script.die_after_slots = 0;
    fake->sample = ifm_random_start(options->seed, STREAM_SAMPLE);
    fake->slot = ifm_random_start(options->seed, STREAM_SLOT);
    fake->steals = ifm_random_start(options->seed, STREAM_THIEF);
    fake->sample_noise = ifm_random_normal(&fake->sample); /* stationary from the first sample */
    *out = &fake->base;
    return IFM_OK;
}

static void fake_drop_buffers(struct ifm_device *device)
{
    struct fake_device *fake = fake_of(device);
    while (fake->buffers != NULL) {
        struct ifm_buffer *next = fake->buffers->next;
        free(fake->buffers->data);
        free(fake->buffers);
        fake->buffers = next;
    }
}

static void fake_close(struct ifm_device *device)
{
    if (device == NULL)
        return;
    fake_drop_buffers(device);
    ifm_script_free(&fake_of(device)->script);
    free(fake_of(device));
}

static struct ifm_instant fake_mark(struct ifm_device *device)
{
    struct fake_device *fake = fake_of(device);
    advance(fake, fake->script.mark_ns);
    return (struct ifm_instant){fake->clock_ns};
}

static void fake_parallel(struct ifm_device *device, unsigned threads, ifm_work_fn *work, void *arg)
{
    (void)device;
    for (unsigned i = 0; i < threads; i++)
        work(arg, i, threads);
}

static void fake_hold(struct ifm_device *device, unsigned threads)
{
    (void)threads;
    struct fake_device *fake = fake_of(device);
    fake->slots++;
    if ((double)fake->slots == fake->script.die_after_slots)
        raise(SIGKILL); /* scripted: crash tests need an end that nobody can catch */
    fake->slot_noise = ifm_random_normal(&fake->slot);
    fake->thief = ifm_random_uniform(&fake->steals);
    for (size_t i = 0; i < IFM_FAKE_COLUMNS; i++)
        fake->columns[i] = -1;
}

static void fake_release(struct ifm_device *device)
{
    (void)device;
}

static enum ifm_status fake_flush(struct ifm_device *device, struct ifm_error *error)
{
    (void)error;
    advance(fake_of(device), FLUSH_NS);
    return IFM_OK;
}

static enum ifm_status fake_buffer(struct ifm_device *device, const char *name, size_t bytes, void **out, bool *fresh,
                                   struct ifm_error *error)
{
    struct fake_device *fake = fake_of(device);
    struct ifm_buffer *buffer = ifm_buffer_find(fake->buffers, device->set, name, bytes);
    *fresh = buffer == NULL;
    if (buffer == NULL) {
        IFM_TRY(ifm_buffer_check(name, bytes, memory_bytes - ifm_buffer_total(fake->buffers), error));
        buffer = ifm_buffer_add(&fake->buffers, name, bytes);
        if (buffer == NULL)
            return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "no memory to name buffer '%s'", name);
        size_t lines = bytes / 64 + 1; /* aligned as a real device's, and never empty */
        buffer->data = aligned_alloc(64, lines * 64);
        buffer->mapped = bytes;
        buffer->set = device->set;
        if (buffer->data == NULL) {
            fake->buffers = buffer->next;
            free(buffer);
            return ifm_fail(error, IFM_USAGE, NULL, "choose a smaller shape",
                            "the system refuses %llu B for buffer '%s'", (unsigned long long)bytes, name);
        }
        memset(buffer->data, 0, lines * 64);
    }
    *out = buffer->data;
    return IFM_OK;
}

const struct ifm_device_ops ifm_device_fake = {
    .name = "fake",
    .open = fake_open,
    .close = fake_close,
    .describe = fake_describe,
    .mark = fake_mark,
    .parallel = fake_parallel,
    .hold = fake_hold,
    .release = fake_release,
    .flush = fake_flush,
    .buffer = fake_buffer,
    .drop_buffers = fake_drop_buffers,
};
