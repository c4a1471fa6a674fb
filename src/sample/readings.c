/* Raw readings of sensors: written in time order, read back under the same rules; see readings.h. */
#include "sample/readings.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "sample/append.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const char joules_header[] = "t_ns,half_ns,energy_uj\n", watts_header[] = "t_ns,half_ns,power_uw\n";
static const char hint[] = "the file was edited or belongs to another run; measure again into a new folder";
#define LIMIT ((size_t)1 << 32) /* largest file that is read, bytes */

struct ifm_readings_writer {
    struct ifm_append file;
    bool joules;
    int64_t last_ns;    /* of the last reading; -1 = none yet */
    int64_t last, base; /* of a counter: its last value in the file, and what is added to those of this session */
};

/* ---- names ---- */

/* Letters, digits and _: what devices and sources are called. No "-", which separates them. */
static bool is_name(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

/* "<dir>/samples/<cell>-power-<device>-<source>.csv", malloc'd. */
static char *path_of(const char *dir, unsigned cell, const char *device, const char *source)
{
    struct ifm_text path = {0};
    ifm_text_printf(&path, "%s/samples/%u-power-%s-%s.csv", dir, cell, device, source);
    return path.data;
}

/* ---- parsing ---- */

/* A number of 0 or more in its shortest form, up to `separator`. */
static bool take_number(const char **at, const char *end, char separator, int64_t *out)
{
    int64_t number = 0;
    const char *first = *at, *c = first;
    for (; c < end && *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *c - '0', &number))
            return false;
    if (c == first || (*first == '0' && c > first + 1) || c == end || *c != separator)
        return false;
    *at = c + 1;
    *out = number;
    return true;
}

/* Why a reading cannot follow the one before; NULL when it can. */
static const char *broken_rule(const struct ifm_reading *reading, const struct ifm_reading *before, bool joules)
{
    if (before != NULL && reading->t_ns < before->t_ns)
        return "time goes backwards";
    if (before != NULL && joules && reading->micro < before->micro)
        return "the counter goes backwards";
    return NULL;
}

static enum ifm_status parse_rows(const char *text, const char *end, const char *where, struct ifm_readings *out,
                                  struct ifm_error *error)
{
    for (const char *at = text; at < end; out->n++) {
        struct ifm_reading *reading = &out->list[out->n];
        const char *problem = "three integers of at least 0 are needed";
        if (take_number(&at, end, ',', &reading->t_ns) && take_number(&at, end, ',', &reading->half_ns) &&
            take_number(&at, end, '\n', &reading->micro))
            problem = broken_rule(reading, out->n == 0 ? NULL : reading - 1, out->joules);
        if (problem != NULL) {
            struct ifm_text place = {0};
            ifm_text_printf(&place, "%s:%zu", where, out->n + 2); /* the header is line 1 */
            enum ifm_status status = ifm_fail(error, IFM_INVALID, place.data, hint, "%s", problem);
            ifm_text_free(&place);
            return status;
        }
    }
    return IFM_OK;
}

enum ifm_status ifm_readings_parse(const char *text, size_t size, const char *where, struct ifm_readings *out,
                                   struct ifm_error *error)
{
    size_t length = sizeof joules_header - 1;
    *out = (struct ifm_readings){0};
    size = ifm_append_whole(text, size);
    if (size >= length && memcmp(text, joules_header, length) == 0)
        out->joules = true;
    else if (length = sizeof watts_header - 1, size < length || memcmp(text, watts_header, length) != 0)
        return ifm_fail(error, IFM_INVALID, where, hint, "the first row is neither \"%.*s\" nor \"%.*s\"",
                        (int)sizeof joules_header - 2, joules_header, (int)sizeof watts_header - 2, watts_header);
    out->list = ifm_zeros(ifm_append_lines(text, size), sizeof *out->list);
    enum ifm_status status = parse_rows(text + length, text + size, where, out, error);
    if (status != IFM_OK)
        ifm_readings_free(out);
    return status;
}

static enum ifm_status load_file(const char *path, struct ifm_readings *out, struct ifm_sha256 *sha256,
                                 struct ifm_error *error)
{
    char *text;
    size_t size;
    *out = (struct ifm_readings){0};
    if (!ifm_file_exists(path))
        return ifm_fail(error, IFM_MISSING, path, "restore the file, or measure again", "there is no such file");
    IFM_TRY(ifm_file_read(path, LIMIT, &text, &size, error));
    enum ifm_status status = ifm_readings_parse(text, size, path, out, error);
    if (sha256 != NULL)
        *sha256 = ifm_sha256_bytes(text, size);
    free(text);
    return status;
}

enum ifm_status ifm_readings_load(const char *dir, unsigned cell, const char *device, const char *source,
                                  struct ifm_readings *out, struct ifm_sha256 *sha256, struct ifm_error *error)
{
    char *path = path_of(dir, cell, device, source);
    enum ifm_status status = load_file(path, out, sha256, error);
    free(path);
    return status;
}

void ifm_readings_free(struct ifm_readings *readings)
{
    free(readings->list);
    *readings = (struct ifm_readings){0};
}

/* ---- writing ---- */

/* Cut off what a kill may leave, and take up where the file ends. */
static enum ifm_status resume_file(struct ifm_readings_writer *writer, const char *header, struct ifm_error *error)
{
    char *text = NULL;
    size_t size;
    struct ifm_readings readings = {0};
    enum ifm_status status = ifm_append_resume(&writer->file, header, LIMIT, &text, &size, error);
    if (status == IFM_OK)
        status = ifm_readings_parse(text, size, writer->file.path, &readings, error);
    if (status == IFM_OK && readings.joules != writer->joules)
        status = ifm_fail(error, IFM_INVALID, writer->file.path, hint, "the first row is not the header \"%.*s\"",
                          (int)strlen(header) - 1, header);
    if (status == IFM_OK)
        status = ifm_append_cut(&writer->file, (int64_t)ifm_append_whole(text, size), error);
    if (status == IFM_OK && readings.n > 0) {
        writer->last_ns = readings.list[readings.n - 1].t_ns;
        writer->last = writer->base = writer->joules ? readings.list[readings.n - 1].micro : 0;
    }
    ifm_readings_free(&readings);
    free(text);
    return status;
}

enum ifm_status ifm_readings_open(const char *dir, unsigned cell, const char *device, const char *source, bool joules,
                                  bool resume, struct ifm_readings_writer **out, struct ifm_error *error)
{
    const char *header = joules ? joules_header : watts_header;
    *out = NULL;
    if (!is_name(device) || !is_name(source))
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "\"%s\" and \"%s\" cannot name a file of readings", device,
                        source);
    IFM_TRY(ifm_append_folder(dir, error));
    struct ifm_readings_writer *writer = ifm_zeros(1, sizeof *writer);
    writer->joules = joules;
    writer->last_ns = -1;
    enum ifm_status status =
        ifm_append_open(path_of(dir, cell, device, source), resume ? O_CREAT : O_CREAT | O_EXCL, &writer->file, error);
    if (status == IFM_OK)
        status = resume ? resume_file(writer, header, error)
                        : ifm_append_write(&writer->file, header, strlen(header), error);
    if (status == IFM_OK)
        *out = writer;
    else
        ifm_readings_close(writer);
    return status;
}

int64_t ifm_readings_end_ns(const struct ifm_readings_writer *writer)
{
    return writer->last_ns;
}

enum ifm_status ifm_readings_append(struct ifm_readings_writer *writer, const struct ifm_reading *readings, size_t n,
                                    size_t *left_out, struct ifm_error *error)
{
    struct ifm_text text = {0};
    int64_t last_ns = writer->last_ns, last = writer->last;
    *left_out = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t micro;
        bool beyond = __builtin_add_overflow(readings[i].micro, writer->base, &micro) || micro < 0;
        bool back = readings[i].t_ns < last_ns || readings[i].t_ns < 0 || (writer->joules && micro < last);
        if (back || beyond || readings[i].half_ns < 0) {
            ++*left_out;
            continue;
        }
        ifm_text_add_i64(&text, last_ns = readings[i].t_ns);
        ifm_text_add(&text, ",");
        ifm_text_add_i64(&text, readings[i].half_ns);
        ifm_text_add(&text, ",");
        ifm_text_add_i64(&text, last = micro);
        ifm_text_add(&text, "\n");
    }
    enum ifm_status status = text.size == 0 ? IFM_OK : ifm_append_write(&writer->file, text.data, text.size, error);
    if (status == IFM_OK) {
        writer->last_ns = last_ns;
        writer->last = last;
    }
    ifm_text_free(&text);
    return status;
}

enum ifm_status ifm_readings_sync(struct ifm_readings_writer *writer, struct ifm_error *error)
{
    return ifm_append_sync(&writer->file, error);
}

void ifm_readings_close(struct ifm_readings_writer *writer)
{
    if (writer == NULL)
        return;
    ifm_append_close(&writer->file);
    free(writer);
}
