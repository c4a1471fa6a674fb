/* Reading the raw record: both files whole, every row checked, an error with file and line for the first bad one.
 *
 * Only the canonical form is read (no sign but a minus, no leading zero, no blank), so that a record that is read and
 * written again is the same bytes. */
#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "sample/record_private.h"
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char torn_hint[] = "an interrupted run is cut back to its last whole block by run --resume";

/* One file. Its text ends with a newline, so that a scan for other characters always ends. */
struct record_reader {
    const char *at, *end;
    const char *where, *suffix;
    size_t line; /* of `at`, from 1 */
    struct ifm_error *error;
};

/* ---- failing ---- */

static IFM_PRINTF(3, 4) enum ifm_status
    fail_at(const struct record_reader *reader, const char *hint, const char *format, ...)
{
    char place[sizeof reader->error->where], message[sizeof reader->error->message];
    struct ifm_text text = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ifm_text_printf(&text, "%s%s:%zu", reader->where, reader->suffix, reader->line);
    /* Keep the end: it holds the file and the line. */
    size_t skip = text.size < sizeof place ? 0 : text.size - (sizeof place - 1);
    memcpy(place, text.data + skip, text.size - skip + 1);
    ifm_text_free(&text);
    return ifm_fail(reader->error, IFM_INVALID, place, hint, "%s", message);
}

/* At most 60 characters of `text`, without control characters, up to one of `stops`. */
static const char *excerpt(const char *text, const char *end, const char *stops, char buffer[64])
{
    size_t n = 0;
    for (; text < end && n < 60 && (*text == '\0' || strchr(stops, *text) == NULL); text++)
        buffer[n++] = *text < ' ' || *text > '~' ? '?' : *text;
    buffer[n] = '\0';
    return buffer;
}

/* A rule is broken by the row that begins at `row`. */
static enum ifm_status fail_rule(struct record_reader *reader, const char *row, const char *problem)
{
    char buffer[64];
    return fail_at(reader, NULL, "%s: \"%s\"", problem, excerpt(row, reader->end, "\n", buffer));
}

/* Why the field at `text` could not be read. The slow path: the fast one has failed. */
static __attribute__((cold, noinline)) enum ifm_status
fail_field(struct record_reader *reader, const char *text, const char *name, char separator, int64_t low, int64_t high)
{
    char buffer[64], number[64];
    excerpt(text, reader->end, ",\n", buffer);
    const char *stop = text; /* the text has no NUL at its end, so no string function may read it */
    while (stop < reader->end && *stop != ',' && *stop != '\n')
        stop++;
    size_t minus = text < stop && *text == '-' ? 1 : 0, digits = 0;
    while (text + minus + digits < stop && isdigit((unsigned char)text[minus + digits]))
        digits++;
    int64_t value = 0;
    bool is_number = digits > 0 && text + minus + digits == stop, is_absent = stop == text && low < 0;
    memcpy(number, buffer, sizeof number);
    if (stop == text && !is_absent)
        return fail_at(reader, NULL, "%s is empty", name);
    if (!is_number && !is_absent)
        return fail_at(reader, NULL, "%s is not an integer: \"%s\"", name, buffer);
    if (is_number && text[minus] == '0' && digits + minus > 1)
        return fail_at(reader, NULL, "%s is not in the shortest form: \"%s\"", name, buffer);
    if (is_number && (stop - text > 59 || !ifm_parse_i64(number, &value) || value < low || value > high))
        return fail_at(reader, NULL, "%s is %s; %lld .. %lld is possible", name, buffer, (long long)low,
                       (long long)high);
    return fail_at(reader, NULL, separator == '\n' ? "the row has fields after %s" : "the row ends after %s", name);
}

/* ---- fields ---- */

/* Digits at `*at` up to `high` (at most INT64_MAX), followed by `separator`, which is taken too. False when it is
 * anything else; `*at` is then of no use. */
static inline bool take_number(const char **at, char separator, uint64_t high, uint64_t *out)
{
    const char *text = *at;
    unsigned digit = (unsigned char)*text - '0';
    if (digit > 9)
        return false;
    uint64_t value = digit;
    unsigned n = 1;
    for (text++; (digit = (unsigned char)*text - '0') <= 9; text++) {
        value = value * 10 + digit; /* 19 digits fit; more are refused below */
        n++;
    }
    if (n > 19 || value > high || *text != separator || (n > 1 && **at == '0'))
        return false;
    *at = text + 1;
    *out = value;
    return true;
}

static inline bool take_u32(const char **at, char separator, uint32_t *out)
{
    uint64_t number = 0;
    bool ok = take_number(at, separator, UINT32_MAX, &number);
    *out = (uint32_t)number;
    return ok;
}

static inline bool take_i64(const char **at, char separator, int64_t *out)
{
    uint64_t number = 0;
    bool ok = take_number(at, separator, INT64_MAX, &number);
    *out = (int64_t)number;
    return ok;
}

/* An instrument's column: may be negative or absent. */
static inline bool take_column(const char **at, char separator, int64_t *out)
{
    if (**at == separator) {
        ++*at;
        *out = IFM_ABSENT;
        return true;
    }
    bool negative = **at == '-';
    *at += negative;
    if (!take_i64(at, separator, out) || (negative && *out == 0))
        return false;
    *out = negative ? -*out : *out;
    return true;
}

/* ---- headers ---- */

static enum ifm_status open_text(struct record_reader *reader, const char *text, size_t size)
{
    reader->at = text;
    reader->end = text + size;
    reader->line = 1;
    if (size == 0)
        return fail_at(reader, torn_hint, "the file is empty; it has no header");
    if (text[size - 1] == '\n')
        return IFM_OK;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(reader->end - at))) != NULL; at++)
        reader->line++;
    return fail_at(reader, torn_hint, "the last row is torn: it has no newline");
}

static enum ifm_status fail_header(struct record_reader *reader, const char *expected)
{
    char buffer[64];
    return fail_at(reader, NULL, "the header is \"%s\"; \"%s\" is needed",
                   excerpt(reader->at, reader->end, "\n", buffer), expected);
}

static enum ifm_status add_column(struct record_reader *reader, const char *name, size_t size, struct ifm_names *known,
                                  struct ifm_record *out)
{
    if (size == 0 || memchr(name, '\0', size) != NULL)
        return fail_at(reader, NULL, "a column has no name, or a name with a NUL");
    if (out->n_columns == IFM_RECORD_COLUMNS)
        return fail_at(reader, NULL, "more than %d columns", IFM_RECORD_COLUMNS);
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return ifm_fail(reader->error, IFM_INTERNAL, reader->where, NULL, "out of memory for a column's name");
    memcpy(copy, name, size); /* not strndup: the text has no NUL */
    copy[size] = '\0';
    out->column_names[out->n_columns++] = copy;
    if (ifm_names_add(known, copy) + 1 != out->n_columns)
        return fail_rule(reader, name, "a column is named twice");
    return IFM_OK;
}

static enum ifm_status read_column_names(struct record_reader *reader, const char *at, const char *stop,
                                         struct ifm_record *out)
{
    struct ifm_arena *scratch = ifm_arena_create();
    struct ifm_names *known = ifm_names_create(scratch);
    enum ifm_status status = IFM_OK;
    size_t n = 0;
    for (const char *comma = at; comma < stop && n < IFM_RECORD_COLUMNS; comma++)
        n += *comma == ',';
    out->column_names = ifm_zeros(n, sizeof *out->column_names);
    while (at < stop && status == IFM_OK) {
        const char *name = ++at;
        while (*at != ',' && *at != '\n')
            at++;
        status = add_column(reader, name, (size_t)(at - name), known, out);
    }
    ifm_arena_destroy(scratch);
    return status;
}

static enum ifm_status read_slots_header(struct record_reader *reader, struct ifm_record *out)
{
    static const char fixed[] = IFM_SLOTS_HEADER;
    static const size_t size = sizeof fixed - 1;
    const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    if ((size_t)(stop - reader->at) < size || memcmp(reader->at, fixed, size) != 0 ||
        (reader->at[size] != ',' && reader->at[size] != '\n'))
        return fail_header(reader, IFM_SLOTS_HEADER "[,columns]");
    IFM_TRY(read_column_names(reader, reader->at + size, stop, out));
    reader->at = stop + 1;
    reader->line = 2;
    return IFM_OK;
}

/* ---- rows ---- */

static enum ifm_status allocate(void **out, size_t n, size_t size, struct record_reader *reader)
{
    *out = n > SIZE_MAX / 2 / size ? NULL : malloc((n + (n == 0)) * size);
    if (*out == NULL)
        return ifm_fail(reader->error, IFM_INTERNAL, reader->where, NULL, "out of memory: %zu rows of %zu bytes", n,
                        size);
    return IFM_OK;
}

/* The fields that every row of the slots file has. */
static enum ifm_status read_slot(struct record_reader *reader, size_t n_columns, struct ifm_slot *slot,
                                 int64_t *columns)
{
    static const char *const names[] = {"block", "phase", "arm", "samples", "inner", "start_ns", "end_ns"};
    uint32_t *const small[] = {&slot->block, &slot->phase, &slot->arm, &slot->samples, &slot->inner};
    int64_t *const large[] = {&slot->start_ns, &slot->end_ns};
    for (int f = 0; f < IFM_SLOT_FIELDS; f++) {
        const char *text = reader->at;
        char separator = f == IFM_SLOT_FIELDS - 1 && n_columns == 0 ? '\n' : ',';
        bool ok = f < 5 ? take_u32(&reader->at, separator, small[f]) : take_i64(&reader->at, separator, large[f - 5]);
        if (!ok)
            return fail_field(reader, text, names[f], separator, 0, f < 5 ? UINT32_MAX : INT64_MAX);
    }
    slot->columns = columns;
    return IFM_OK;
}

static enum ifm_status read_columns(struct record_reader *reader, const struct ifm_record *record, int64_t *columns)
{
    for (size_t c = 0; c < record->n_columns; c++) {
        const char *text = reader->at;
        char separator = c + 1 < record->n_columns ? ',' : '\n';
        if (!take_column(&reader->at, separator, &columns[c]))
            return fail_field(reader, text, record->column_names[c], separator, -INT64_MAX, INT64_MAX);
    }
    return IFM_OK;
}

static enum ifm_status read_slots(struct record_reader *reader, struct ifm_record *out)
{
    size_t n = ifm_append_lines(reader->at, (size_t)(reader->end - reader->at));
    struct ifm_block_walk walk = {0};
    IFM_TRY(allocate((void **)&out->slots, n, sizeof *out->slots, reader));
    if (n > 0 && out->n_columns > SIZE_MAX / 16 / n)
        return fail_at(reader, NULL, "too many columns");
    IFM_TRY(allocate((void **)&out->columns, n * out->n_columns, sizeof *out->columns, reader));
    for (size_t k = 0; k < n; k++, reader->line++) {
        const char *row = reader->at;
        struct ifm_slot *slot = &out->slots[k];
        int64_t *columns = out->columns + k * out->n_columns;
        IFM_TRY(read_slot(reader, out->n_columns, slot, columns));
        IFM_TRY(read_columns(reader, out, columns));
        const char *problem = ifm_block_step(&walk, slot);
        if (problem == NULL)
            problem = ifm_slot_rule(slot, k == 0 ? 0 : slot[-1].end_ns);
        if (problem != NULL)
            return fail_rule(reader, row, problem);
        out->n_slots = k + 1;
    }
    return IFM_OK;
}

enum ifm_status ifm_record_parse_slots(const char *text, size_t size, const char *where, struct ifm_record *out,
                                       struct ifm_error *error)
{
    struct ifm_error local;
    struct record_reader reader = {.where = where, .suffix = "-slots.csv", .error = error == NULL ? &local : error};
    *out = (struct ifm_record){0};
    enum ifm_status status = open_text(&reader, text, size);
    if (status == IFM_OK)
        status = read_slots_header(&reader, out);
    if (status == IFM_OK)
        status = read_slots(&reader, out);
    if (status != IFM_OK)
        ifm_record_free(out);
    return status;
}

/* No row follows the last block, so its size is checked separately. */
static enum ifm_status check_last_block(const struct ifm_record *record, const char *where, struct ifm_error *error)
{
    struct ifm_block_walk walk = {0};
    const char *problem = NULL;
    for (size_t k = 0; k < record->n_slots && problem == NULL; k++)
        problem = ifm_block_step(&walk, &record->slots[k]);
    if (problem == NULL)
        problem = ifm_block_end(&walk);
    if (problem == NULL)
        return IFM_OK;
    struct record_reader reader = {.where = where, .suffix = "-slots.csv", .line = record->n_slots + 1, .error = error};
    return fail_at(&reader, torn_hint, "%s", problem);
}

/* One row of the samples file. This loop is what makes a million samples quick. */
static enum ifm_status read_sample(struct record_reader *reader, size_t k, struct ifm_sample *sample)
{
    const char *fields[3] = {reader->at};
    int64_t slot = 0;
    bool ok = take_i64(&reader->at, ',', &slot);
    fields[1] = reader->at;
    if (!ok)
        return fail_field(reader, fields[0], "slot", ',', 0, INT64_MAX);
    if ((uint64_t)slot != k)
        return fail_rule(reader, fields[0], "the row is not of the slot whose turn it is");
    ok = take_i64(&reader->at, ',', &sample->start_ns);
    fields[2] = reader->at;
    if (!ok)
        return fail_field(reader, fields[1], "start_ns", ',', 0, INT64_MAX);
    if (!take_i64(&reader->at, '\n', &sample->duration_ns))
        return fail_field(reader, fields[2], "duration_ns", '\n', 0, INT64_MAX);
    return IFM_OK;
}

static enum ifm_status read_samples(struct record_reader *reader, struct ifm_record *out)
{
    for (size_t k = 0; k < out->n_slots; k++) {
        const struct ifm_slot *slot = &out->slots[k];
        int64_t earliest = slot->start_ns;
        for (size_t i = out->first[k]; i < out->first[k + 1]; i++, reader->line++) {
            struct ifm_sample *sample = &out->samples[i];
            const char *row = reader->at;
            if (row == reader->end)
                return fail_at(reader, torn_hint, "the file ends here; the slots file has more samples");
            IFM_TRY(read_sample(reader, k, sample));
            const char *problem = ifm_sample_rule(sample, slot, earliest);
            if (problem != NULL)
                return fail_rule(reader, row, problem);
            earliest = sample->start_ns + sample->duration_ns;
        }
    }
    if (reader->at != reader->end)
        return fail_at(reader, torn_hint, "there are more samples than the slots file has");
    return IFM_OK;
}

/* first[], and the number of samples that the slots claim; the size of the file bounds it before memory is taken. */
static enum ifm_status sum_slots(struct record_reader *reader, struct ifm_record *out)
{
    static const size_t shortest_row = sizeof "0,0,0\n" - 1;
    size_t n = 0;
    IFM_TRY(allocate((void **)&out->first, out->n_slots + 1, sizeof *out->first, reader));
    for (size_t k = 0; k < out->n_slots; k++) {
        out->first[k] = n;
        n += out->slots[k].samples; /* cannot wrap: 2^32 rows of slots are larger than the largest file */
    }
    out->first[out->n_slots] = out->n_samples = n;
    if (n > (size_t)(reader->end - reader->at) / shortest_row) {
        size_t rows = ifm_append_lines(reader->at, (size_t)(reader->end - reader->at));
        if (n > rows) {
            reader->line += rows;
            return fail_at(reader, torn_hint, "the file ends here; the slots file has more samples");
        }
    }
    return allocate((void **)&out->samples, n, sizeof *out->samples, reader);
}

static enum ifm_status parse_samples(const char *text, size_t size, const char *where, struct ifm_record *out,
                                     struct ifm_error *error)
{
    static const char header[] = IFM_SAMPLES_HEADER "\n";
    struct record_reader reader = {.where = where, .suffix = ".csv", .error = error};
    IFM_TRY(open_text(&reader, text, size));
    if (size < sizeof header - 1 || memcmp(text, header, sizeof header - 1) != 0)
        return fail_header(&reader, IFM_SAMPLES_HEADER);
    reader.at += sizeof header - 1;
    reader.line = 2;
    IFM_TRY(sum_slots(&reader, out));
    return read_samples(&reader, out);
}

enum ifm_status ifm_record_parse(const char *samples, size_t samples_size, const char *slots, size_t slots_size,
                                 const char *where, struct ifm_record *out, struct ifm_error *error)
{
    struct ifm_error local;
    if (error == NULL)
        error = &local;
    IFM_TRY(ifm_record_parse_slots(slots, slots_size, where, out, error));
    enum ifm_status status = check_last_block(out, where, error);
    if (status == IFM_OK)
        status = parse_samples(samples, samples_size, where, out, error);
    if (status != IFM_OK)
        ifm_record_free(out);
    return status;
}

enum ifm_status ifm_record_load(const char *dir, unsigned cell, const char *pass, struct ifm_record *out,
                                struct ifm_error *error)
{
    char *where = ifm_record_path(dir, cell, pass, ""), *samples_path = ifm_record_path(dir, cell, pass, ".csv");
    char *slots_path = ifm_record_path(dir, cell, pass, "-slots.csv"), *samples = NULL, *slots = NULL;
    size_t samples_size = 0, slots_size = 0;
    *out = (struct ifm_record){0};
    enum ifm_status status = ifm_file_read(samples_path, IFM_RECORD_LIMIT, &samples, &samples_size, error);
    if (status == IFM_OK)
        status = ifm_file_read(slots_path, IFM_RECORD_LIMIT, &slots, &slots_size, error);
    if (status == IFM_OK)
        status = ifm_record_parse(samples, samples_size, slots, slots_size, where, out, error);
    free(slots);
    free(samples);
    free(slots_path);
    free(samples_path);
    free(where);
    return status;
}

void ifm_record_free(struct ifm_record *record)
{
    for (size_t c = 0; c < record->n_columns; c++)
        free(record->column_names[c]);
    free(record->column_names);
    free(record->slots);
    free(record->samples);
    free(record->first);
    free(record->columns);
    *record = (struct ifm_record){0};
}
