/* trace.json: what the GPU and the host did in the slot of each arm that was recorded last. */
#include "publish/trace.h"

#include "base/file.h"
#include "model/event.h"
#include "publish/compose.h"
#include <jansson.h>
#include <string.h>

static void add_string(struct ifm_text *out, const char *text)
{
    json_t *string = json_string(text);
    char *quoted = string == NULL ? NULL : json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    ifm_text_add(out, quoted == NULL ? "\"(not text)\"" : quoted);
    free(quoted);
    json_decref(string);
}

static void next(bool *first, struct ifm_text *out)
{
    ifm_text_add(out, *first ? "\n" : ",\n");
    *first = false;
}

static void add_us(struct ifm_text *out, const char *key, uint64_t ns)
{
    ifm_text_printf(out, ",\"%s\":%llu.%03llu", key, (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
}

/* A row of its own for each stream and each thread. */
static void add_event(const struct ifm_activity_line *line, unsigned process, uint64_t base, struct ifm_text *out)
{
    const bool begins = strcmp(line->kind, "begin") == 0, ends = strcmp(line->kind, "end") == 0;
    const bool on_gpu =
        strcmp(line->kind, "kernel") == 0 || strcmp(line->kind, "copy") == 0 || strcmp(line->kind, "fill") == 0;
    ifm_text_add(out, "{\"name\":");
    add_string(out, line->name[0] == '\0' ? line->kind : line->name);
    ifm_text_printf(out, ",\"cat\":\"%s\",\"ph\":\"%s\",\"pid\":%u,\"tid\":\"%s %llu\"", line->kind,
                    begins ? "B"
                    : ends ? "E"
                           : "X",
                    process, on_gpu ? "stream" : "thread", (unsigned long long)line->place);
    add_us(out, "ts", line->start - base);
    if (!begins && !ends)
        add_us(out, "dur", line->end - line->start);
    ifm_text_printf(out, ",\"args\":{\"correlation\":%llu,\"graph\":%llu,\"bytes\":%llu}}",
                    (unsigned long long)line->correlation, (unsigned long long)line->graph,
                    (unsigned long long)line->bytes);
}

void ifm_trace_events(const struct ifm_activity_file *file, unsigned process, const char *const *names, size_t n,
                      bool *first, struct ifm_text *out)
{
    for (unsigned arm = 0; arm < n; arm++) {
        uint64_t base = UINT64_MAX;
        for (size_t i = 0; i < file->n; i++)
            if (file->lines[i].arm == arm && file->lines[i].start < base)
                base = file->lines[i].start;
        if (base == UINT64_MAX)
            continue;
        next(first, out);
        ifm_text_printf(out, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":", process + arm);
        add_string(out, names[arm]);
        ifm_text_add(out, "}}");
        for (size_t i = 0; i < file->n; i++)
            if (file->lines[i].arm == arm) {
                next(first, out);
                add_event(&file->lines[i], process + arm, base, out);
            }
    }
}

void ifm_trace_begin(struct ifm_text *out)
{
    ifm_text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void ifm_trace_end(struct ifm_text *out)
{
    ifm_text_add(out, "\n]}\n");
}

bool ifm_compose_has_trace(const struct ifm_publication *publication)
{
    return IFM_FIRST(publication->events, trace_file) != NULL;
}

enum ifm_status ifm_compose_trace(const struct ifm_publication *from, struct ifm_arena *arena, struct ifm_text *out,
                                  struct ifm_error *error)
{
    unsigned process = 1;
    bool first = true;
    ifm_trace_begin(out);
    for (size_t c = 0; c < from->plan->n_cells; c++) {
        const struct ifm_cell *cell = &from->plan->cells[c];
        const struct ifm_event_trace_file *told = IFM_LAST(from->events, trace_file, cell->name, NULL);
        const char **names = IFM_ARENA_ARRAY(arena, const char *, cell->n_arms + 1);
        struct ifm_activity_file file;
        struct ifm_sha256 sha256;
        if (told == NULL)
            continue;
        const char *path = ifm_activity_path(from->dir, cell->index, arena);
        IFM_TRY(ifm_activity_read(path, true, arena, &file, &sha256, error));
        if (strcmp(sha256.hex, told->sha256) != 0)
            return ifm_fail(error, IFM_INVALID, path, "bring the file back from a copy, or measure again",
                            "the trace is not the one that run.log tells of: a file was edited");
        for (size_t a = 0; a < cell->n_arms; a++)
            names[a] = from->plan->n_cells > 1 ? ifm_arena_printf(arena, "%s, %s", cell->name, cell->arms[a].name)
                                               : cell->arms[a].name;
        ifm_trace_events(&file, process, names, cell->n_arms, &first, out);
        process += (unsigned)cell->n_arms;
    }
    ifm_trace_end(out);
    return IFM_OK;
}
