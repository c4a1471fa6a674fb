/* One session: phases of load, marks of their steps, and the readings of every sensor meanwhile. */
#include "energy/energy.h"

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_NS 20e6  /* of steady load between two marks */
#define SEGMENT_S 5.0  /* of steady load in one hold: the device's clock is tied to the host's at each */
#define LATE_NS 500000 /* a burst that starts later than this is told of */
enum { MOST_PHASES = 256, MOST_NAME = 40, MOST_FIELDS = 5, PATH_ROOM = 512, LINE_ROOM = 256 };

struct phase {
    char name[MOST_NAME];
    struct energy_load *load; /* NULL: idle */
    double seconds, period_ms, duty, dither_ms;
    int64_t start_ns, end_ns, on_ns;
    uint64_t steps, late;
};

/* Of one sensor: the file, and all readings for the table at the end. */
struct sink {
    FILE *file;
    struct ifm_readings kept;
    size_t room, left_out, gaps, implausible;
    bool lost;
};

struct session {
    struct energy_bench bench;
    struct phase phases[MOST_PHASES];
    size_t n_phases;
    struct sink sinks[IFM_POWER_MOST];
    struct ifm_sampler *sampler;
    struct ifm_instant base;
    struct ifm_random random;
    FILE *marks;
};

/* ---- the plan ---- */

/* LOAD:SECONDS or LOAD:SECONDS:PERIOD_MS:DUTY[:DITHER]; three starts for each period, so that each meets the sensor's
 * clock in another phase. The copy takes less than the power limit, so that its power is the same in every burst. Some
 * 393 s in all, and one for each sensor to be watched before. */
#define SQUARE_WAVES                                                                                                   \
    "copy:4:10:0.5", "copy:4:20:0.5", "copy:4:33:0.5", "copy:4:50:0.5", "copy:4:100:0.5", "copy:4:101:0.5",            \
        "copy:4:130:0.5", "copy:4:100:0.25", "copy:4:10:0.5:0.2", "copy:4:20:0.5:0.2", "copy:4:50:0.5:0.2",            \
        "copy:4:100:0.5:0.2"
static const char *const plan[] = {"idle:4", "matrix:6", "matrix:103", "read:103", "idle:2",
                                   /* steps of load */
                                   "copy:1.5", "idle:1.5", "copy:1.5", "idle:1.5", "copy:1.5", "idle:1.5",
                                   /* square waves */
                                   SQUARE_WAVES, SQUARE_WAVES, SQUARE_WAVES,
                                   /* linear */
                                   "copy:3:7.3:0", "copy:3:7.3:0.2", "copy:3:7.3:0.4", "copy:3:7.3:0.6",
                                   "copy:3:7.3:0.8", "copy:3:7.3:1", "idle:4"};

static bool parse_phase(struct session *session, const char *text, struct phase *phase)
{
    char copy[LINE_ROOM], *fields[MOST_FIELDS], *rest = copy;
    int n = 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *at = strtok_r(copy, ":\n", &rest); at != NULL; at = strtok_r(NULL, ":\n", &rest))
        if (n++ < MOST_FIELDS)
            fields[n - 1] = at;
    *phase = (struct phase){.duty = 1};
    if ((n != 2 && n != 4 && n != 5) || !ifm_parse_f64(fields[1], &phase->seconds) || !(phase->seconds > 0))
        return false;
    double share = 0;
    if (n >= 4 && (!ifm_parse_f64(fields[2], &phase->period_ms) || !ifm_parse_f64(fields[3], &phase->duty) ||
                   !(phase->period_ms > 0) || !(phase->duty >= 0 && phase->duty <= 1)))
        return false;
    if (n == 5 && (!ifm_parse_f64(fields[4], &share) || !(share > 0 && share <= 1)))
        return false;
    for (size_t i = 0; i < ENERGY_LOADS; i++)
        if (strcmp(fields[0], session->bench.loads[i].name) == 0)
            phase->load = &session->bench.loads[i];
    if (phase->load == NULL && strcmp(fields[0], "idle") != 0)
        return false;
    phase->duty = phase->load == NULL ? 0 : phase->duty;
    phase->seconds *= session->bench.options->scale;
    phase->dither_ms = share * phase->period_ms;
    if (n == 2)
        snprintf(phase->name, sizeof phase->name, "%s", fields[0]);
    else
        snprintf(phase->name, sizeof phase->name, "%s-%g-%g%s%s", fields[0], phase->period_ms, phase->duty,
                 n == 5 ? "-" : "", n == 5 ? fields[4] : "");
    return true;
}

static void add_phase(struct session *session, const char *text)
{
    if (session->n_phases < MOST_PHASES && parse_phase(session, text, &session->phases[session->n_phases])) {
        session->n_phases++;
        return;
    }
    fprintf(stderr,
            "error: the phase '%s' is none of LOAD:SECONDS[:PERIOD_MS:DUTY[:DITHER]] with LOAD of idle, read, copy, "
            "matrix, cache, or there are more than %d\n",
            text, MOST_PHASES);
    exit(2);
}

static void read_plan(struct session *session)
{
    const struct energy_options *options = session->bench.options;
    char line[LINE_ROOM];
    for (int i = 0; i < options->n_phases; i++)
        add_phase(session, options->phases[i]);
    FILE *script = options->script == NULL ? NULL : fopen(options->script, "r");
    if (options->script != NULL && script == NULL) {
        fprintf(stderr, "error: %s cannot be read\n", options->script);
        exit(2);
    }
    while (script != NULL && fgets(line, sizeof line, script) != NULL)
        if (line[0] != '#' && line[0] != '\n')
            add_phase(session, line);
    if (script != NULL)
        fclose(script);
    for (size_t i = 0; session->n_phases == 0 && options->script == NULL && i < sizeof plan / sizeof *plan; i++)
        for (; i < sizeof plan / sizeof *plan; i++)
            add_phase(session, plan[i]);
}

/* ---- files ---- */

static FILE *create(const struct session *session, const char *name)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", session->bench.options->folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "error: %s cannot be written\n", path);
        exit(5);
    }
    return file;
}

static void finish(FILE *file)
{
    if (fflush(file) != 0 || ferror(file) || fclose(file) != 0) {
        fprintf(stderr, "error: a file of the session is not whole\n");
        exit(5);
    }
}

static void keep(struct sink *sink, const struct ifm_reading *reading)
{
    if (sink->kept.n == sink->room) {
        sink->room = sink->room == 0 ? 4096 : 2 * sink->room;
        struct ifm_reading *list = realloc(sink->kept.list, sink->room * sizeof *list);
        if (list == NULL) {
            fprintf(stderr, "error: out of memory\n");
            exit(5);
        }
        sink->kept.list = list;
    }
    sink->kept.list[sink->kept.n++] = *reading;
}

/* What was read since the last call, into the files. */
static void drain(struct session *session)
{
    const struct ifm_power_series *series = ifm_sampler_drain(session->sampler);
    for (size_t i = 0; i < ifm_power_list(session->bench.power)->n_sensors; i++) {
        struct sink *sink = &session->sinks[i];
        for (size_t k = 0; k < series[i].n; k++) {
            const struct ifm_power_point *point = &series[i].points[k];
            struct ifm_reading reading = {point->t_ns, point->half_ns, llround(point->value * 1e6)};
            if (reading.t_ns < 0 || (sink->kept.n > 0 && reading.t_ns < sink->kept.list[sink->kept.n - 1].t_ns)) {
                sink->left_out++;
                continue;
            }
            keep(sink, &reading);
            fprintf(sink->file, "%lld,%lld,%lld\n", (long long)reading.t_ns, (long long)reading.half_ns,
                    (long long)reading.micro);
        }
        sink->gaps += series[i].gaps;
        sink->implausible += series[i].implausible;
        sink->lost = series[i].lost;
    }
}

static void write_marks(struct session *session, struct phase *phase, bool waves)
{
    const struct energy_marks *marks = &session->bench.marks;
    for (size_t i = 0; i < marks->n; i++) {
        int64_t t = marks->at[i].ns - session->base.ns;
        fprintf(session->marks, "%lld,%llu\n", (long long)t, (unsigned long long)(phase->steps + marks->steps[i]));
        if (i > 0 && (!waves || i % 2 == 1)) /* of waves, marks are pairs: begin and end of a burst */
            phase->on_ns += marks->at[i].ns - marks->at[i - 1].ns;
    }
    phase->steps += marks->total;
}

/* ---- phases ---- */

static void run_steady(struct session *session, struct phase *phase, int64_t end_ns)
{
    struct energy_bench *bench = &session->bench;
    struct energy_load *load = phase->load;
    for (double left = 1; left > 0;) {
        double step_ns = load->step_ns;
        uint64_t n = step_ns < CHUNK_NS ? (uint64_t)(CHUNK_NS / step_ns) : 1;
        left = (double)(end_ns - ifm_clock_now().ns) * 1e-9;
        if (left < step_ns * (double)n * 1e-9)
            return;
        double seconds = left < SEGMENT_S * 1.5 ? left : SEGMENT_S;
        energy_marks_start(bench);
        energy_mark(bench);
        for (double done = 0; done < seconds * 1e9; done += step_ns * (double)n) {
            energy_steps(bench, load, n);
            energy_mark(bench);
        }
        energy_marks_stop(bench);
        write_marks(session, phase, false);
        load->step_ns = (double)(bench->marks.at[bench->marks.n - 1].ns - bench->marks.at[0].ns) /
                        (double)bench->marks.total; /* at the power limit a step gets longer */
        drain(session);
    }
}

static void run_wave(struct session *session, struct phase *phase, int64_t end_ns)
{
    struct energy_bench *bench = &session->bench;
    double period_ns = phase->period_ms * 1e6;
    uint64_t n = (uint64_t)(phase->duty * period_ns / phase->load->step_ns + 0.5);
    energy_steps(bench, phase->load, n); /* its graphs are made before the first burst */
    int64_t first_ns = ifm_clock_now().ns + 10000000;
    double next_ns = ifm_random_uniform(&session->random) * period_ns; /* since the first; no error adds up */
    while (first_ns + (int64_t)(next_ns + period_ns) < end_ns) {
        energy_marks_start(bench);
        while (bench->marks.n + 3 < IFM_CUDA_MARKS) {
            int64_t start_ns = first_ns + (int64_t)next_ns;
            if (start_ns + (int64_t)period_ns > end_ns)
                break;
            next_ns += period_ns + 1e6 * phase->dither_ms * ifm_random_uniform(&session->random);
            phase->late += energy_spin_until(start_ns) > LATE_NS;
            if (n == 0)
                continue;
            energy_mark(bench);
            energy_steps(bench, phase->load, n);
            energy_mark(bench);
        }
        if (bench->marks.n > 0)
            energy_marks_stop(bench);
        else
            bench->device->ops->release(bench->device);
        write_marks(session, phase, true);
    }
}

static void run_phase(struct session *session, size_t index)
{
    struct phase *phase = &session->phases[index];
    char name[MOST_NAME];
    snprintf(name, sizeof name, "marks-%02zu.csv", index);
    session->marks = create(session, name);
    fputs("t_ns,steps\n", session->marks);
    struct ifm_instant start = ifm_clock_now();
    int64_t end_ns = start.ns + (int64_t)(phase->seconds * 1e9);
    phase->start_ns = start.ns - session->base.ns;
    if (phase->load == NULL)
        energy_sleep(phase->seconds);
    else if (phase->period_ms > 0)
        run_wave(session, phase, end_ns);
    else
        run_steady(session, phase, end_ns);
    phase->end_ns = ifm_clock_now().ns - session->base.ns;
    finish(session->marks);
    drain(session);
}

/* ---- before and after ---- */

static void open_session(struct session *session)
{
    struct ifm_error error = {0};
    const struct ifm_power_list *list = ifm_power_list(session->bench.power);
    energy_must(ifm_dir_create_all(session->bench.options->folder, &error), &error);
    json_t *sensors = json_array();
    for (size_t i = 0; i < list->n_sensors; i++) {
        const struct ifm_power_sensor *sensor = &list->sensors[i];
        char name[PATH_ROOM];
        double seconds = session->bench.options->scale < 1 ? 0.2 : 1;
        json_t *one = ifm_power_calibrate(session->bench.power, i, seconds);
        json_object_set_new(one, "every_ms", json_integer(sensor->every_ms));
        json_object_set_new(one, "limit_w", json_real(sensor->limit_w));
        json_array_append_new(sensors, one);
        session->sinks[i].kept.joules = sensor->kind == IFM_POWER_COUNTER;
        snprintf(name, sizeof name, "0-power-%s-%s.csv", sensor->device, sensor->source);
        session->sinks[i].file = create(session, name);
        fputs(session->sinks[i].kept.joules ? "t_ns,half_ns,energy_uj\n" : "t_ns,half_ns,power_uw\n",
              session->sinks[i].file);
    }
    for (size_t i = 0; i < session->n_phases; i++)
        if (session->phases[i].load != NULL)
            energy_load_open(&session->bench, session->phases[i].load);
    json_t *json =
        json_pack("{s:o, s:o}", "device", session->bench.device->ops->facts(session->bench.device), "sensors", sensors);
    json_t *loads = json_object();
    for (size_t i = 0; i < ENERGY_LOADS; i++)
        if (session->bench.loads[i].state != NULL)
            json_object_set_new(loads, session->bench.loads[i].name, json_real(session->bench.loads[i].step_ns));
    json_object_set_new(json, "step_ns", loads);
    FILE *file = create(session, "session.json");
    json_dumpf(json, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    finish(file);
    json_decref(json);
}

static void write_phases(struct session *session)
{
    FILE *file = create(session, "phases.csv");
    fputs("phase,name,start_ns,end_ns,period_ms,duty,steps,on_ns,late,dither_ms\n", file);
    for (size_t i = 0; i < session->n_phases; i++) {
        const struct phase *phase = &session->phases[i];
        fprintf(file, "%zu,%s,%lld,%lld,%g,%g,%llu,%lld,%llu,%g\n", i, phase->name, (long long)phase->start_ns,
                (long long)phase->end_ns, phase->period_ms, phase->duty, (unsigned long long)phase->steps,
                (long long)phase->on_ns, (unsigned long long)phase->late, phase->dither_ms);
    }
    finish(file);
}

/* A first look: of a counter from its first to its last reading in the phase, of watts their plain mean. */
static double mean_w(const struct ifm_readings *readings, const struct phase *phase)
{
    const struct ifm_reading *first = NULL, *last = NULL;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < readings->n; i++) {
        const struct ifm_reading *each = &readings->list[i];
        if (each->t_ns < phase->start_ns || each->t_ns > phase->end_ns)
            continue;
        first = first == NULL ? each : first;
        last = each;
        sum += (double)each->micro * 1e-6;
        n++;
    }
    if (!readings->joules)
        return n > 0 ? sum / (double)n : NAN;
    return n > 1 && last->t_ns > first->t_ns
               ? (double)(last->micro - first->micro) * 1e3 / (double)(last->t_ns - first->t_ns)
               : NAN;
}

static void print_table(const struct session *session)
{
    const struct ifm_power_list *list = ifm_power_list(session->bench.power);
    printf("%-22s %8s %10s %7s %5s", "phase", "s", "us a step", "duty", "late");
    for (size_t i = 0; i < list->n_sensors; i++)
        printf(" %14s", list->sensors[i].source);
    printf("\n");
    for (size_t p = 0; p < session->n_phases; p++) {
        const struct phase *phase = &session->phases[p];
        double ns = (double)(phase->end_ns - phase->start_ns), on = (double)phase->on_ns;
        printf("%-22s %8.2f %10.3f %7.4f %5llu", phase->name, ns * 1e-9,
               phase->steps == 0 ? 0 : on * 1e-3 / (double)phase->steps, on / ns, (unsigned long long)phase->late);
        for (size_t i = 0; i < list->n_sensors; i++)
            printf(" %14.2f", mean_w(&session->sinks[i].kept, phase));
        printf("\n");
    }
    for (size_t i = 0; i < list->n_sensors; i++) {
        const struct sink *sink = &session->sinks[i];
        printf("%s %s: %zu readings, %zu gaps, %zu implausible, %zu out of order%s\n", list->sensors[i].device,
               list->sensors[i].source, sink->kept.n, sink->gaps, sink->implausible, sink->left_out,
               sink->lost ? ", lost" : "");
    }
}

int energy_record(const struct energy_options *options)
{
    static struct session session;
    struct ifm_error error = {0};
    energy_open(options, &session.bench);
    session.random = ifm_random_start((uint64_t)ifm_clock_wall_ns(), 0);
    read_plan(&session);
    open_session(&session);
    session.base = ifm_clock_now();
    energy_must(ifm_sampler_start(session.bench.power, session.base, 0, &session.sampler, &error), &error);
    for (size_t i = 0; i < session.n_phases; i++)
        run_phase(&session, i);
    energy_sleep(0.5); /* the ring is drained at this pace: its last samples are of the load */
    drain(&session);
    ifm_sampler_stop(session.sampler);
    write_phases(&session);
    print_table(&session);
    for (size_t i = 0; i < ifm_power_list(session.bench.power)->n_sensors; i++) {
        finish(session.sinks[i].file);
        free(session.sinks[i].kept.list);
    }
    energy_close(&session.bench);
    return 0;
}
