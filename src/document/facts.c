/* Reading facts out of run.log's events. */
#include "document/facts.h"
#include <string.h>
#include <time.h>

const json_t *ifm_event_meta(const json_t *events, const char *stage)
{
    size_t index;
    json_t *event;
    json_array_foreach((json_t *)events, index, event)
    {
        const char *name = json_string_value(json_object_get(event, "stage"));
        if (name != NULL && strcmp(name, stage) == 0)
            return json_object_get(event, "meta");
    }
    return NULL;
}

const char *ifm_event_date(const json_t *events, char buffer[32])
{
    time_t seconds = (time_t)(json_integer_value(json_object_get(json_array_get(events, 0), "t_ns")) / 1000000000);
    struct tm utc;
    buffer[0] = '\0';
    if (seconds > 0 && gmtime_r(&seconds, &utc) != NULL)
        strftime(buffer, 32, "%Y-%m-%d %H:%M UTC", &utc);
    return buffer;
}

double ifm_event_reported_cache(const json_t *events, int level)
{
    const json_t *environment = json_object_get(ifm_event_meta(events, "environment"), "fingerprint");
    size_t index;
    json_t *cache;
    json_array_foreach(json_object_get(environment, "caches_reported"), index, cache)
    {
        const char *type = json_string_value(json_object_get(cache, "type"));
        bool data = type == NULL || strcmp(type, "Instruction") != 0;
        if (data && json_integer_value(json_object_get(cache, "level")) == level)
            return json_number_value(json_object_get(cache, "bytes"));
    }
    return 0;
}

const char *ifm_event_gpu(const json_t *events, const char *cell)
{
    const char *gpu = NULL;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *meta = json_object_get(event, "meta");
        const char *stage = json_string_value(json_object_get(event, "stage"));
        const char *its_cell = json_string_value(json_object_get(meta, "cell"));
        if (stage != NULL && its_cell != NULL && strcmp(stage, "device") == 0 && strcmp(its_cell, cell) == 0)
            gpu = json_string_value(json_object_get(meta, "gpu"));
    }
    return gpu == NULL ? "" : gpu;
}

/* The fingerprint's {"driver", "devices": [...]}. */
static const json_t *gpus_of(const json_t *events)
{
    return json_object_get(json_object_get(ifm_event_meta(events, "environment"), "fingerprint"), "gpu");
}

const char *ifm_event_gpu_name(const json_t *events)
{
    const char *name = json_string_value(json_object_get(ifm_event_meta(events, "device"), "gpu"));
    if (name == NULL)
        name =
            json_string_value(json_object_get(json_array_get(json_object_get(gpus_of(events), "devices"), 0), "name"));
    return name == NULL ? "" : name;
}

const char *ifm_event_gpu_driver(const json_t *events)
{
    const char *driver = json_string_value(json_object_get(gpus_of(events), "driver"));
    return driver == NULL ? "" : driver;
}

const char *ifm_event_machine(const json_t *events)
{
    const json_t *environment = json_object_get(ifm_event_meta(events, "environment"), "fingerprint");
    const char *model = json_string_value(json_object_get(json_object_get(environment, "cpu"), "model"));
    return model == NULL ? "" : model;
}

const char *ifm_event_measured(const json_t *events, const char *device)
{
    return strcmp(device, "cuda") == 0 ? ifm_event_gpu_name(events) : ifm_event_machine(events);
}
