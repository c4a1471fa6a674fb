/* Parts of bench_energy: loads of known course on a GPU while every sensor of power is read, and what the sensors said
 * of them. Loads are the lab's own kernels on its own device layer; no setting of the GPU is touched.
 *
 * A session in a folder, times in ns since its start:
 *   phases.csv     phase,name,start_ns,end_ns,period_ms,duty,steps,on_ns,late,dither_ms: `duty` as asked for, on_ns the
 *                  time of the bursts on the device's clock, `late` bursts that the host started more than half a ms
 *                  late; dither_ms the longest of the random pauses that follow each period, 0 = none
 *   marks-NN.csv   t_ns,steps of phase NN: at t_ns so many steps were done since the phase began
 *   0-power-<device>-<source>.csv   the sensor's readings, as sample/readings.h has them
 *   session.json   the device and the sensors, calibrated
 * Thread rule: the driving thread. */
#ifndef IFM_ENERGY_ENERGY_H
#define IFM_ENERGY_ENERGY_H

#include "device/cuda_private.h"
#include "power/sampler.h"
#include "sample/readings.h"
#include "workload/implementation.h"
#include "workload/stream/stream.h"

#include <stdio.h>

struct energy_options {
    double scale;     /* of every phase's seconds: 1; tests take less */
    uint64_t bytes;   /* a step reads; 0 = what takes some 60 us on an H200 */
    const char *nvml; /* file of the management library; NULL = the machine's */
    const char *script, *folder;
    char **phases; /* `n_phases` of them; none = the script's, or the whole plan */
    int n_phases;
};

struct energy_load {
    const char *name, *shape;
    enum ifm_probe probe;
    uint64_t bytes;
    void *state; /* of ifm_stream_cuda */
    double step_ns;
};
enum { ENERGY_READ, ENERGY_COPY, ENERGY_MATRIX, ENERGY_CACHE, ENERGY_LOADS };

/* Marks of one hold: the steps done and the device's time. */
struct energy_marks {
    struct ifm_instant at[IFM_CUDA_MARKS];
    uint64_t steps[IFM_CUDA_MARKS];
    size_t n;
    uint64_t total;
};

struct energy_bench {
    const struct energy_options *options;
    struct ifm_device *device;
    struct ifm_power *power;
    struct energy_load loads[ENERGY_LOADS];
    struct energy_marks marks;
};

/* End the program with the error's words: 77 where there is no GPU, 5 otherwise. */
void energy_must(enum ifm_status status, const struct ifm_error *error);

/* Open device and sensors; loads are opened and timed by energy_load_open. */
void energy_open(const struct energy_options *options, struct energy_bench *bench);
void energy_close(struct energy_bench *bench);
void energy_load_open(struct energy_bench *bench, struct energy_load *load);
/* Nanoseconds of a step now, over about 40 ms. */
double energy_load_time(struct energy_bench *bench, struct energy_load *load);

/* Between start and stop at most IFM_CUDA_MARKS - 1 marks; stop turns them into times of the host's clock. */
void energy_marks_start(struct energy_bench *bench);
void energy_mark(struct energy_bench *bench);
void energy_steps(struct energy_bench *bench, struct energy_load *load, uint64_t n);
void energy_marks_stop(struct energy_bench *bench);

void energy_sleep(double seconds);
/* Spin until then; how late it is in ns. */
int64_t energy_spin_until(int64_t at_ns);

int energy_record(const struct energy_options *options);
int energy_perturb(const struct energy_options *options);
int energy_analyse(const char *folder);

#endif
