/* Does reading sensors change what is measured? A step of 50 us in blocks A B B A: without and with a reader. */
#include "energy/energy.h"

#include "stats/stats.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { QUADS = 20, ALONE_QUADS = 10, GRAPH_STEPS = 20, EVERY_MS = 20, BATCH = 512 };
#define BLOCK_S 0.5
#define STEP_NS 50e3
#define BAR 1.01

enum reader { NOBODY, SAMPLER, FIFTY };

struct fifty {
    struct ifm_power *power;
    pthread_t thread;
    atomic_bool stop;
    struct ifm_power_point points[BATCH];
};

/* Every sensor fifty times a second. */
static void *read_fifty(void *argument)
{
    struct fifty *fifty = argument;
    while (!atomic_load(&fifty->stop)) {
        int64_t next = ifm_clock_now().ns + EVERY_MS * 1000000;
        for (size_t i = 0; i < ifm_power_list(fifty->power)->n_sensors; i++) {
            struct ifm_error error = {0};
            size_t n;
            if (ifm_power_read(fifty->power, i, fifty->points, BATCH, &n, &error) == IFM_MISSING)
                return NULL;
        }
        int64_t left = next - ifm_clock_now().ns;
        energy_sleep(left > 0 ? (double)left * 1e-9 : 0);
    }
    return NULL;
}

/* Mean duration of a step over one block. */
static double block(struct energy_bench *bench, struct energy_load *load, enum reader reader)
{
    static struct fifty fifty;
    struct ifm_sampler *sampler = NULL;
    struct ifm_error error = {0};
    double seconds = BLOCK_S * bench->options->scale;
    if (reader == SAMPLER)
        energy_must(ifm_sampler_start(bench->power, ifm_clock_now(), 0, &sampler, &error), &error);
    if (reader == FIFTY) {
        fifty.power = bench->power;
        atomic_store(&fifty.stop, false);
        if (pthread_create(&fifty.thread, NULL, read_fifty, &fifty) != 0) {
            fprintf(stderr, "error: no thread\n");
            exit(5);
        }
    }
    energy_steps(bench, load, GRAPH_STEPS);
    energy_marks_start(bench);
    energy_mark(bench);
    for (double done = 0; done < seconds * 1e9; done += load->step_ns * GRAPH_STEPS) {
        energy_steps(bench, load, GRAPH_STEPS);
        energy_mark(bench);
    }
    energy_marks_stop(bench);
    if (reader == FIFTY) {
        atomic_store(&fifty.stop, true);
        pthread_join(fifty.thread, NULL);
    }
    ifm_sampler_stop(sampler);
    return (double)(bench->marks.at[bench->marks.n - 1].ns - bench->marks.at[0].ns) / (double)bench->marks.total;
}

/* Ratio of the step with the reader to that without, and whether its 95 % interval ends below the bar. */
static bool compare(struct energy_bench *bench, struct energy_load *load, enum reader reader, const char *what)
{
    double sum = 0, squares = 0, without = 0, t = 0;
    int quads = reader == NOBODY ? ALONE_QUADS : QUADS;
    for (int q = 0; q < quads; q++) {
        double a = block(bench, load, NOBODY), b = block(bench, load, reader);
        double c = block(bench, load, reader), d = block(bench, load, NOBODY);
        double ratio = 0.5 * (log(b) + log(c) - log(a) - log(d));
        sum += ratio;
        squares += ratio * ratio;
        without += (a + d) / 2;
    }
    double mean = sum / quads, variance = (squares - sum * mean) / (quads - 1);
    if (ifm_stats_t_quantile(0.975, quads - 1, &t) != IFM_STAT_OK)
        return false;
    double half = t * sqrt(fmax(variance, 0) / quads);
    printf("%-34s %9.4f us  x %.5f [%.5f, %.5f]\n", what, without / quads * 1e-3, exp(mean), exp(mean - half),
           exp(mean + half));
    return exp(mean + half) <= BAR;
}

int energy_perturb(const struct energy_options *options)
{
    static struct energy_bench bench;
    energy_open(options, &bench);
    struct energy_load *load = &bench.loads[ENERGY_READ];
    energy_load_open(&bench, load);
    if (options->bytes == 0) { /* of a size that takes 50 us */
        load->bytes = (uint64_t)((double)load->bytes * STEP_NS / load->step_ns) / 4096 * 4096;
        ifm_implementation_close(&ifm_stream_cuda, load->state);
        load->state = NULL;
        energy_load_open(&bench, load);
    }
    printf("%s, driver %d: a read of %llu bytes, %.3f us; blocks of %.2f s, without - with - with - without\n",
           ifm_cuda_gpu(bench.device)->name, ifm_cuda_gpu(bench.device)->driver_version,
           (unsigned long long)load->bytes, load->step_ns * 1e-3, BLOCK_S * options->scale);
    for (double left = 3 * options->scale; left > 0; left -= BLOCK_S) /* warm */
        (void)block(&bench, load, NOBODY);
    bool even = compare(&bench, load, NOBODY, "nobody reads, both times");
    bool sampler = compare(&bench, load, SAMPLER, "the sampler, at its own pace");
    bool fifty = compare(&bench, load, FIFTY, "every sensor, 50 times a second");
    printf("at most 1 %% longer: control %s, sampler %s, 50 Hz %s\n", even ? "yes" : "NO", sampler ? "yes" : "NO",
           fifty ? "yes" : "NO");
    energy_close(&bench);
    return sampler && fifty ? 0 : 1;
}
