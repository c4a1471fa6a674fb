/* Any text as a number, a size, a duration, a list of CPUs and a value of each type of parameter: refused, or a value
 * that is within its range and, written out, reads back as itself. */
#include "base/arena.h"
#include "base/param.h"
#include "base/private.h"
#include "base/text.h"
#include "host/probe.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_CPUS = 100 };

static const struct ifm_param rows[] = {
    {.path = "s.u64", .type = IFM_TYPE_U64, .unit = "", .fallback = "1", .min = 1, .max = 1e6, .help = ""},
    {.path = "s.f64", .type = IFM_TYPE_F64, .unit = "", .fallback = "0", .min = -1, .max = INFINITY, .help = ""},
    {.path = "s.free", .type = IFM_TYPE_F64, .unit = "", .fallback = "0", .min = 1, .max = 0, .help = ""},
    {.path = "s.bool", .type = IFM_TYPE_BOOL, .unit = "", .fallback = "true", .min = 1, .max = 0, .help = ""},
    {.path = "s.text", .type = IFM_TYPE_TEXT, .unit = "", .fallback = "", .min = 1, .max = 0, .help = ""},
    {.path = "s.word", .type = IFM_TYPE_CHOICE, .unit = "", .fallback = "hot", .choices = "hot|cold", .help = ""},
    {.path = "s.bytes", .type = IFM_TYPE_BYTES, .unit = "B", .fallback = "1", .min = 0, .max = 0x1p60, .help = ""},
    {.path = "s.span", .type = IFM_TYPE_SECONDS, .unit = "s", .fallback = "1", .min = 0, .max = 1e9, .help = ""},
    {.path = "s.numbers", .type = IFM_TYPE_U64, .flags = IFM_LIST, .unit = "", .fallback = "", .max = 9, .help = ""},
    {.path = "s.words",
     .type = IFM_TYPE_CHOICE,
     .flags = IFM_LIST,
     .unit = "",
     .fallback = "hot",
     .choices = "hot|cold",
     .help = ""},
};

union field {
    uint64_t whole;
    double real;
    bool truth;
    const char *text;
    int choice;
    struct ifm_list list;
};

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Canonical text reads back as what it was printed of. */
static void read_row(const struct ifm_param *row, const char *text, struct ifm_arena *arena)
{
    union field field = {0}, again = {0};
    struct ifm_error error = {0};
    if (ifm_param_parse(row, text, "fuzz", arena, &field, &error) != IFM_OK) {
        must(error.code == IFM_USAGE && error.message[0] != '\0' && strcmp(error.where, "fuzz") == 0);
        return;
    }
    const char *printed = ifm_param_print(row, &field, arena);
    must(ifm_param_parse(row, printed, "fuzz", arena, &again, &error) == IFM_OK);
    must(strcmp(printed, ifm_param_print(row, &again, arena)) == 0);
    if (row->type == IFM_TYPE_F64 || row->type == IFM_TYPE_SECONDS)
        must(isfinite(field.real) && (row->min > row->max || (field.real >= row->min && field.real <= row->max)));
}

static void read_numbers(const char *text)
{
    int64_t whole;
    uint64_t bytes;
    double real, seconds;
    char buffer[48];
    struct ifm_text out = {0};
    if (ifm_parse_i64(text, &whole)) {
        int64_t again;
        ifm_text_add_i64(&out, whole);
        must(ifm_parse_i64(out.data, &again) && again == whole);
    }
    if (ifm_parse_f64(text, &real)) {
        double again;
        must(isfinite(real) && ifm_parse_f64(ifm_format_real(real, buffer), &again) && again == real);
        static const char *const units[] = {"ns", "s", "B", "B/s", "FLOP/s", "%", "1", "count"};
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            must(strlen(ifm_format_human(real, units[i], buffer)) < sizeof buffer);
    }
    if (ifm_parse_bytes(text, &bytes))
        must(text[0] == '.' || (text[0] >= '0' && text[0] <= '9')); /* no sign */
    if (ifm_parse_seconds(text, &seconds))
        must(isfinite(seconds));
    ifm_text_free(&out);
}

static void read_cpus(const char *text)
{
    unsigned *cpus = malloc(MOST_CPUS * sizeof *cpus); /* exactly, so that a write beyond is seen */
    must(cpus != NULL);
    unsigned n = ifm_probe_cpu_list(text, cpus, MOST_CPUS);
    must(n <= MOST_CPUS);
    for (unsigned i = 0; i < n; i++)
        must(cpus[i] < 8192);
    free(cpus);
}

static void read_words(const char *text, struct ifm_arena *arena)
{
    static const char *const words[] = {"latency_ns_p50", "decode", "", "kv-len", "a"};
    char shown[72];
    const char *nearest = ifm_nearest(text, words, sizeof words / sizeof *words);
    must(nearest == NULL || strlen(nearest) < 20);
    must(strlen(ifm_param_shown(text, shown)) < sizeof shown);
    struct ifm_list list = ifm_param_split(text, arena);
    must(list.n >= 1);
    for (size_t i = 0; i < list.n; i++)
        must(strchr(list.items[i], ',') == NULL);
    if (ifm_private_is_token(text))
        must(strlen(text) == 71);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ifm_arena *arena = ifm_arena_create();
    char *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    read_numbers(text);
    read_cpus(text);
    read_words(text, arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        read_row(&rows[i], text, arena);
    free(text);
    ifm_arena_destroy(arena);
    return 0;
}
