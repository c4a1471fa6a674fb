/* The tables that every run has: general, device, measure, and the sub-tables of arms and gates. */
#include "config/internal.h"

#define ROWS(table) (table), sizeof(table) / sizeof *(table)
#define G(field) offsetof(struct ifm_general, field)
#define D(field) offsetof(struct ifm_device_config, field)
#define M(field) offsetof(struct ifm_measure, field)
#define A(field) offsetof(struct ifm_arm_record, field)
#define T(field) offsetof(struct ifm_gate, field)

static const struct ifm_param general[] = {
    {"workload", "workload", IFM_TYPE_TEXT, IFM_LIST, "", "", 0, 0, NULL,
     "What to measure; a list runs several workloads in one study", G(workload)},
    {"preset", "preset", IFM_TYPE_CHOICE, 0, "", "default", 0, 0, "default|quick|sop|baseline|pp512|tg128",
     "A set of settings, which explicit ones override: how to measure (quick, sop, baseline), or a shape under "
     "llama.cpp's names: pp512, attention of a prompt of 512 tokens, and tg128, decode of 128 tokens behind 512",
     G(preset)},
    {"seed", "seed", IFM_TYPE_U64, 0, "", "42", 1, 0, NULL, "Seed of the generated data and of the order of arms",
     G(seed)},
    {"gates_preset", "gates", IFM_TYPE_TEXT, IFM_LIST, "", "", 0, 0,
     "sop|golden-ticket|significant|no-cpu-regression=3%|no-regression=3%",
     "Sets of gates to add to those of the configuration; docs/gates.md lists what each requires", G(gates_preset)},
    {"ceilings", "ceilings", IFM_TYPE_TEXT, IFM_LIST, "", "read,flops", 0, 0, "read|write|copy|flops|int8|matrix|none",
     "Limits of this machine, measured as arms of every cell; none leaves them out", G(ceilings)},
};

static const struct ifm_param device[] = {
    {"device.kind", "device", IFM_TYPE_CHOICE, 0, "", "cpu", 0, 0, "cpu|cuda|fake",
     "Where the workload runs; cuda is an NVIDIA GPU, fake has a scripted clock and needs no hardware", D(kind)},
    {"device.threads", "threads", IFM_TYPE_U64, IFM_SWEEP, "threads", "0", 0, 4096, NULL,
     "Worker threads, each pinned to one CPU; 0 uses every CPU that this process may use", D(threads)},
    {"device.huge_pages", "huge-pages", IFM_TYPE_BOOL, 0, "", "true", 0, 0, NULL,
     "Ask for transparent huge pages for the buffers", D(huge_pages)},
    {"device.graphs", "graphs", IFM_TYPE_BOOL, 0, "", "true", 0, 0, NULL,
     "Replay CUDA graphs of steps; without them each step is launched separately", D(graphs)},
    {"device.kernels", "kernels", IFM_TYPE_CHOICE, IFM_LATER, "", "auto", 0, 0, "auto|built|nvrtc",
     "Kernels of a GPU: those that nvcc made for this build, or those that NVRTC makes of their sources at run time, "
     "once for each GPU; auto takes the first that there is",
     D(kernels)},
    {"device.script", "script", IFM_TYPE_TEXT, 0, "", "", 0, 0, NULL,
     "Durations of the fake device, for example 'step_ns=1000; noise=0.01'", D(script)},
};

static const struct ifm_param measure[] = {
    {"measure.warmup", "warmup", IFM_TYPE_U64, 0, "steps", "50", 0, 1e6, NULL,
     "Steps of each arm before the first block", M(warmup)},
    {"measure.warmup_cap", "warmup-cap", IFM_TYPE_SECONDS, 0, "s", "5s", 0, 3600, NULL,
     "Longest warm-up of one cell, with its extensions until the arms are steady; by default no longer than a quarter "
     "of measure.cap",
     M(warmup_cap_s)},
    {"measure.steady_tolerance", NULL, IFM_TYPE_F64, 0, "1", "0.05", 1e-4, 1, NULL,
     "An arm is steady when two windows differ by less than this fraction", M(steady_tolerance)},
    {"measure.stop", "stop", IFM_TYPE_CHOICE, 0, "", "decided", 0, 0, "mde|repeats|group|decided",
     "When to stop: at the first planned look at which gates or margin are answered, with intervals that hold for all "
     "looks (decided); when the wanted effect can be detected (mde), as decided does where nothing is compared; after "
     "a fixed number of samples (repeats); or at one of five looks of a planned maximum (group)",
     M(stop)},
    {"measure.repeats", "repeats", IFM_TYPE_U64, 0, "samples", "1000", 1, 1e9, NULL,
     "Samples of each arm under stop=repeats, rounded up to whole blocks; setting it selects that rule", M(repeats)},
    {"measure.mde", "mde", IFM_TYPE_F64, 0, "1", "0.01", 1e-6, 1, NULL,
     "Smallest relative change, margin included, that the run should detect under stop=mde; under stop=decided a "
     "speed-up need not be known better",
     M(mde)},
    {"measure.cap", "cap", IFM_TYPE_SECONDS, 0, "s", "10s", 0.001, 86400, NULL,
     "Time cap of the blocks of one cell, under every rule but stop=repeats; slots are short enough for the fewest "
     "blocks where the steps are, and a note says when they are not",
     M(cap_s)},
    {"measure.blocks_min", NULL, IFM_TYPE_U64, 0, "blocks", "6", 1, 1e6, NULL,
     "Fewest blocks of a cell; with fewer than 6 no interval is given", M(blocks_min)},
    {"measure.blocks_max", NULL, IFM_TYPE_U64, 0, "blocks", "10000", 1, 1e7, NULL,
     "Most blocks of a cell; under stop=group the planned maximum, which must be set", M(blocks_max)},
    {"measure.slot_steps", "slot-steps", IFM_TYPE_U64, 0, "samples", "0", 0, 1e6, NULL,
     "Fewest samples in a slot; 0 takes as many as last measure.slot_min and keep what surrounds slots small",
     M(slot_steps)},
    {"measure.slot_min", NULL, IFM_TYPE_SECONDS, 0, "s", "2ms", 0, 60, NULL, "Shortest slot", M(slot_min_s)},
    {"measure.inner", "inner", IFM_TYPE_U64, 0, "steps", "0", 0, 1e12, NULL,
     "Steps in one sample; 0 chooses as many as the clock's resolution needs", M(inner)},
    {"measure.cache", "cache", IFM_TYPE_CHOICE, IFM_SWEEP, "", "hot", 0, 0, "hot|cold",
     "Caches as the previous step left them (hot) or emptied before every sample (cold)", M(cache)},
    {"measure.margin", "margin", IFM_TYPE_F64, 0, "1", "0.003", 0, 0.99, NULL,
     "Relative change that counts as equal in a decision: 3%, or a fraction below 1", M(margin)},
    {"measure.locks", "locks", IFM_TYPE_CHOICE, 0, "", "observed", 0, 0, "observed|required",
     "Compare the clock settings read back (observed), or refuse to run unless clocks are locked (required)", M(locks)},
    {"measure.isolation", "isolation", IFM_TYPE_CHOICE, 0, "", "shared", 0, 0, "shared|buffers|processes",
     "What the arms share: inputs and process (shared); the process only, with buffers placed anew in every block "
     "(buffers); or nothing, with a new process for each arm and block (processes)",
     M(isolation)},
    {"measure.replica", "replica", IFM_TYPE_U64, IFM_SWEEP, "", "1", 1, 1e6, NULL,
     "Draws another seed of data and order: a list of numbers measures the same cell repeatedly", M(replica)},
    {"measure.truncate", "truncate", IFM_TYPE_F64, 0, "%", "0", 0, 45, NULL,
     "Per cent of samples that the trimmed mean drops at each end; percentiles and rates drop none. 0 trims by 10 per "
     "cent and leaves the trimmed mean out of elastic_kv.json",
     M(truncate)},
    {"measure.resamples", "resamples", IFM_TYPE_U64, 0, "count", "0", 0, 100000, NULL,
     "Resamples of every bootstrap interval, the median's included; 0 chooses the number by the samples, and gives the "
     "median an order-statistic interval",
     M(resamples)},
    {"measure.counters", "counters", IFM_TYPE_BOOL, IFM_LATER, "", "false", 0, 0, NULL,
     "Count what the hardware does too, in a separate pass after the latencies: of a GPU bytes of memory, cache hits, "
     "warps and matrix operations, of a processor cycles, instructions and misses where its kernel counts them; at "
     "least three repetitions of each arm and set of counters, live and without replay",
     M(counters)},
    {"measure.trace", "trace", IFM_TYPE_BOOL, IFM_LATER, "", "false", 0, 0, NULL,
     "Record every kernel, copy and call of a GPU too, in a separate pass after the latencies and in a process of its "
     "own: how many there are in a step, how long they take, and trace.json",
     M(trace)},
    {"measure.energy", "energy", IFM_TYPE_BOOL, 0, "", "false", 0, 0, NULL,
     "Measure energy too: windows of each arm under every power sensor, in a separate pass after the latencies; runs "
     "of "
     "programs that are long enough are both",
     M(energy)},
    {"measure.energy_window", "energy-window", IFM_TYPE_SECONDS, 0, "s", "10s", 0.1, 3600, NULL,
     "Length of an energy window; one too short for the sensor is refused with the length it needs",
     M(energy_window_s)},
    {"measure.energy_windows", "energy-windows", IFM_TYPE_U64, 0, "windows", "4", 3, 1e4, NULL,
     "Energy windows of each arm, rounded up to an even number", M(energy_windows)},
    {"measure.energy_idle", "energy-idle", IFM_TYPE_SECONDS, 0, "s", "5s", 1, 3600, NULL,
     "How long idle power is measured before and after the windows, with the device's context open", M(energy_idle_s)},
    {"measure.pre_roll", "pre-roll", IFM_TYPE_SECONDS, 0, "s", "1s", 0, 600, NULL,
     "Pre-roll: the arm's own steps before it is measured, when an arm of another level ran before it. Used in the "
     "energy pass, and in the latency pass where levels of the device's power or clock differ; 0 turns it off, and "
     "the report says so",
     M(pre_roll_s)},
    {"measure.power_sample_hz", "power-sample-hz", IFM_TYPE_F64, 0, "Hz", "10", 0.1, 100, NULL,
     "Rate of power.csv, and of reading sensors that give watts", M(power_sample_hz)},
    {"measure.power_meter", "power-meter", IFM_TYPE_TEXT, IFM_PRIVATE, "", "", 0, 0, NULL,
     "CSV file or pipe of an external meter, with lines t_s,power_w", M(power_meter)},
    {"measure.rated_w", "rated-w", IFM_TYPE_F64, 0, "W", "0", 0, 1e6, NULL,
     "Rated power of all processors, for an energy estimate that is labelled as one; 0 = no estimate", M(rated_w)},
};

static const struct ifm_param arm[] = {
    {"name", NULL, IFM_TYPE_TEXT, 0, "", NULL, 0, 0, NULL,
     "Name of the arm: letters, digits and _ - + . ; unique, and not the name of a ceiling", A(name)},
    {"baseline", NULL, IFM_TYPE_BOOL, 0, "", "false", 0, 0, NULL,
     "The arm that the others are compared with; by default the first", A(baseline)},
    {"set", NULL, IFM_TYPE_TEXT, IFM_LIST, "", "", 0, 0, NULL,
     "Settings of this arm, as a mapping or as a list of path=value", A(set)},
};

static const struct ifm_param gate[] = {
    {"name", NULL, IFM_TYPE_TEXT, 0, "", "", 0, 0, NULL, "Name of the gate, unique; by default the metric's", T(name)},
    {"metric", NULL, IFM_TYPE_TEXT, 0, "", NULL, 0, 0, NULL, "Metric to judge; see `inferometer explain`", T(metric)},
    {"arm", NULL, IFM_TYPE_TEXT, 0, "", "", 0, 0, NULL,
     "Arm to judge; by default every arm that is neither baseline nor ceiling", T(arm)},
    {"cell", NULL, IFM_TYPE_TEXT, 0, "", "", 0, 0, NULL, "Cell to judge; by default every cell", T(cell)},
    {"op", NULL, IFM_TYPE_CHOICE, 0, "", NULL, 0, 0, "at_most|at_least",
     "Side of the threshold on which the metric must lie", T(op)},
    {"threshold", NULL, IFM_TYPE_F64, 0, "", NULL, 1, 0, NULL, "Limit, in the unit of the metric", T(threshold)},
    {"interval", NULL, IFM_TYPE_BOOL, 0, "", "true", 0, 0, NULL,
     "Whether the interval decides: pass or fail when all of it lies on one side of the threshold, else inconclusive; "
     "false judges the value alone",
     T(interval)},
    {"least_n", NULL, IFM_TYPE_U64, 0, "", "0", 0, 1e12, NULL,
     "Fewest observations behind the number; with fewer the gate is blocked", T(least_n)},
    {"classes", NULL, IFM_TYPE_TEXT, 0, "", "", 0, 0, NULL,
     "Table of classes whose labels appear beside the verdict: golden-ticket", T(classes)},
};

static const struct ifm_word device_words[] = {{"device.kind", "gpu", "cuda"}, {NULL, NULL, NULL}};
static const struct ifm_word gate_words[] = {{"op", "<=", "at_most"},
                                             {"op", "≤", "at_most"},
                                             {"op", ">=", "at_least"},
                                             {"op", "≥", "at_least"},
                                             {NULL, NULL, NULL}};

const struct ifm_section ifm_section_general = {"general", "What is measured", ROWS(general),
                                                sizeof(struct ifm_general), NULL};
const struct ifm_section ifm_section_device = {"device", "Where it runs", ROWS(device),
                                               sizeof(struct ifm_device_config), device_words};
const struct ifm_section ifm_section_measure = {"measure", "How it is measured", ROWS(measure),
                                                sizeof(struct ifm_measure), NULL};
const struct ifm_section ifm_section_arm = {"arms", "Variants under comparison", ROWS(arm),
                                            sizeof(struct ifm_arm_record), NULL};
const struct ifm_section ifm_section_gate = {"gates", "Conditions that decide the verdict", ROWS(gate),
                                             sizeof(struct ifm_gate), gate_words};

/* Presets: values between the defaults above and anything that is set explicitly. */
static const struct ifm_setting quick[] = {{"measure.warmup", "10"}, {"measure.cap", "2s"}, {"measure.mde", "0.05"}};
static const struct ifm_setting sop[] = {
    {"measure.warmup", "50"}, {"measure.stop", "repeats"}, {"measure.repeats", "1000"}};

static const struct ifm_setting baseline[] = {{"measure.warmup", "20"},
                                              {"measure.stop", "repeats"},
                                              {"measure.repeats", "100"},
                                              {"seed", "42"},
                                              {"measure.resamples", "10000"}};

static const struct ifm_setting pp512[] = {
    {"attention.batch", "1"}, {"attention.seq_len", "512"}, {"attention.causal", "true"}};
static const struct ifm_setting tg128[] = {
    {"decode.batch", "1"}, {"decode.kv_len", "512"}, {"decode.inference", "true"}, {"decode.decode_tokens", "128"}};

const struct ifm_preset ifm_presets[] = {{NULL, 0, NULL},        {ROWS(quick), NULL},        {ROWS(sop), NULL},
                                         {ROWS(baseline), NULL}, {ROWS(pp512), "attention"}, {ROWS(tg128), "decode"}};
