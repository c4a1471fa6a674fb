/* The files of a session, read back. */
#include "energy/capture.h"

#include "base/file.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 1024, LINE_ROOM = 512 };
#define MOST_BYTES ((size_t)64 << 20)

static bool complain(const char *path, const char *what)
{
    fprintf(stderr, "error: %s: %s\n", path, what);
    return false;
}

/* Rows "a,b" below a header. */
static bool load_marks(const char *folder, size_t index, struct capture_phase *phase)
{
    char path[PATH_ROOM], line[LINE_ROOM];
    size_t room = 0;
    snprintf(path, sizeof path, "%s/marks-%02zu.csv", folder, index);
    FILE *file = fopen(path, "r");
    bool header = file != NULL && fgets(line, sizeof line, file) != NULL;
    while (header && fgets(line, sizeof line, file) != NULL) {
        struct capture_mark mark;
        if (sscanf(line, "%" SCNd64 ",%" SCNu64, &mark.t_ns, &mark.steps) != 2)
            break;
        if (phase->n_marks == room) {
            room = room == 0 ? 256 : 2 * room;
            struct capture_mark *marks = realloc(phase->marks, room * sizeof *marks);
            if (marks == NULL)
                break;
            phase->marks = marks;
        }
        phase->marks[phase->n_marks++] = mark;
    }
    bool whole = header && feof(file);
    if (file != NULL)
        fclose(file);
    return whole || complain(path, "cannot be read to its end");
}

static bool load_phases(const char *folder, struct capture *out)
{
    char path[PATH_ROOM], line[LINE_ROOM];
    snprintf(path, sizeof path, "%s/phases.csv", folder);
    FILE *file = fopen(path, "r");
    bool whole = file != NULL && fgets(line, sizeof line, file) != NULL;
    while (whole && fgets(line, sizeof line, file) != NULL) {
        struct capture_phase *phase = &out->phases[out->n_phases];
        size_t index = 0;
        whole = out->n_phases < CAPTURE_PHASES &&
                sscanf(line, "%zu,%63[^,],%" SCNd64 ",%" SCNd64 ",%lf,%lf,%" SCNu64 ",%" SCNd64 ",%*u,%lf", &index,
                       phase->name, &phase->start_ns, &phase->end_ns, &phase->period_ms, &phase->duty, &phase->steps,
                       &phase->on_ns, &phase->dither_ms) >= 8 && /* older sessions have no pauses */
                index == out->n_phases &&
                load_marks(folder, index, phase);
        out->n_phases += whole;
    }
    if (file != NULL)
        fclose(file);
    return whole || complain(path, "is not a session's table of phases");
}

static bool load_sensor(const char *folder, const json_t *json, struct capture_sensor *out)
{
    struct ifm_error error = {0};
    char path[PATH_ROOM], *text = NULL;
    size_t size;
    const char *device = json_string_value(json_object_get(json, "device"));
    const char *source = json_string_value(json_object_get(json, "source"));
    if (device == NULL || source == NULL)
        return complain(folder, "session.json has a sensor without a name");
    double refresh_ms = json_number_value(json_object_get(json, "refresh_ms"));
    double every_ms = json_number_value(json_object_get(json, "every_ms"));
    snprintf(out->device, sizeof out->device, "%s", device);
    snprintf(out->source, sizeof out->source, "%s", source);
    out->known = (struct ifm_joules_sensor){.period_s = 1e-3 * (refresh_ms > 0 ? refresh_ms : every_ms),
                                            .quantum = json_number_value(json_object_get(json, "quantum")),
                                            .spread_w = -1};
    out->limit_w = json_number_value(json_object_get(json, "limit_w"));
    snprintf(path, sizeof path, "%s/0-power-%s-%s.csv", folder, device, source);
    bool read = ifm_file_read(path, MOST_BYTES, &text, &size, &error) == IFM_OK &&
                ifm_readings_parse(text, size, path, &out->readings, &error) == IFM_OK;
    free(text);
    return read || complain(path, error.message);
}

bool capture_load(const char *folder, struct capture *out)
{
    char path[PATH_ROOM];
    json_error_t json_error;
    memset(out, 0, sizeof *out);
    if (!load_phases(folder, out))
        return false;
    snprintf(path, sizeof path, "%s/session.json", folder);
    json_t *session = json_load_file(path, 0, &json_error);
    const json_t *sensors = json_object_get(session, "sensors");
    bool loaded = session != NULL || complain(path, json_error.text);
    for (size_t i = 0; loaded && i < json_array_size(sensors) && i < CAPTURE_SENSORS; i++)
        loaded = load_sensor(folder, json_array_get(sensors, i), &out->sensors[out->n_sensors++]);
    json_decref(session);
    return loaded;
}

void capture_free(struct capture *capture)
{
    for (size_t i = 0; i < CAPTURE_PHASES; i++)
        free(capture->phases[i].marks);
    for (size_t i = 0; i < CAPTURE_SENSORS; i++)
        ifm_readings_free(&capture->sensors[i].readings);
}

const struct capture_sensor *capture_find(const struct capture *capture, const char *source)
{
    for (size_t i = 0; i < capture->n_sensors; i++)
        if (strcmp(capture->sensors[i].source, source) == 0 && capture->sensors[i].readings.n > 0)
            return &capture->sensors[i];
    return NULL;
}

double capture_steps(const struct capture_phase *phase, int64_t t_ns)
{
    size_t low = 0, high = phase->n_marks;
    while (low < high) { /* the first mark after t_ns */
        size_t middle = low + (high - low) / 2;
        if (phase->marks[middle].t_ns <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct capture_mark *before = &phase->marks[low - 1];
    if (low == phase->n_marks)
        return (double)before->steps;
    double share = (double)(t_ns - before->t_ns) / (double)(before[1].t_ns - before->t_ns);
    return (double)before->steps + share * (double)(before[1].steps - before->steps);
}

double capture_duty(const struct capture_phase *phase, int64_t from_ns, int64_t to_ns)
{
    if (phase->steps == 0 || to_ns <= from_ns)
        return 0;
    double steps = capture_steps(phase, to_ns) - capture_steps(phase, from_ns);
    return steps * (double)phase->on_ns / (double)phase->steps / (double)(to_ns - from_ns);
}
