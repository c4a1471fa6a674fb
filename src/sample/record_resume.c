/* Reopening a raw record after an interruption: find the last whole block, cut off what follows it, go on.
 *
 * A killed writer leaves a prefix of what it would have written: samples without slots, a torn row, a part of a
 * block. Those are cut. A record that is wrong in any other way was edited or damaged, and is refused. */
#include "base/file.h"
#include "sample/record_private.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct tail {
    char *samples, *slots;           /* whole files, malloc'd */
    size_t samples_size, slots_size; /* what of them stays */
};

/* The offset after the header and `rows` rows; the text has them. */
static size_t offset_after(const char *text, size_t size, size_t rows)
{
    const char *at = text, *end = text + size;
    for (size_t k = 0; k <= rows; k++)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    return (size_t)(at - text);
}

/* Read a file without its torn last row. */
static enum ifm_status read_text(struct ifm_append *file, const char *header, char **text, size_t *size,
                                 struct ifm_error *error)
{
    size_t length = strlen(header);
    IFM_TRY(ifm_append_resume(file, header, IFM_RECORD_LIMIT, text, size, error));
    if (*size < length || memcmp(*text, header, length) != 0)
        return ifm_fail(error, IFM_INVALID, file->path, "the file was edited or belongs to another plan",
                        "the first row is not the header \"%.*s\"", (int)length - 1, header);
    *size = ifm_append_whole(*text, *size);
    (*text)[*size] = '\0';
    return IFM_OK;
}

/* Count the slots of whole blocks whose samples are there: a block counts with its last slot. */
static enum ifm_status whole_slots(const struct ifm_record *record, const struct ifm_block_walk *sizes, size_t n_rows,
                                   const char *where, size_t *n_slots, size_t *n_samples, struct ifm_error *error)
{
    const size_t of_phase[] = {[IFM_PHASE_WARMUP] = sizes->slots_per_warm_up,
                               [IFM_PHASE_MEASURE] = sizes->slots_per_block,
                               [IFM_PHASE_CEILING] = sizes->slots_per_round};
    *n_slots = *n_samples = 0;
    for (size_t first = 0; first < record->n_slots;) {
        size_t end = first, samples = *n_samples;
        for (; end < record->n_slots && record->slots[end].block == record->slots[first].block; end++)
            samples += record->slots[end].samples;
        size_t wanted = of_phase[record->slots[first].phase];
        bool is_last = end == record->n_slots;
        if (end - first > wanted || (end - first < wanted && !is_last))
            return ifm_fail(error, IFM_INVALID, where, "the file was edited or belongs to another plan",
                            "block %u has %zu slots; the plan has %zu", record->slots[first].block, end - first,
                            wanted);
        if (end - first < wanted || samples > n_rows)
            break;
        *n_slots = end;
        *n_samples = samples;
        first = end;
    }
    return IFM_OK;
}

/* How much of both files to keep; nothing is cut yet. */
static enum ifm_status find_tail(struct ifm_recorder *recorder, const char *slots_header, const char *where,
                                 struct tail *tail, struct ifm_error *error)
{
    static const char samples_header[] = IFM_SAMPLES_HEADER "\n";
    IFM_TRY(read_text(&recorder->samples, samples_header, &tail->samples, &tail->samples_size, error));
    IFM_TRY(read_text(&recorder->slots, slots_header, &tail->slots, &tail->slots_size, error));
    struct ifm_record record;
    size_t n_slots, n_samples;
    IFM_TRY(ifm_record_parse_slots(tail->slots, tail->slots_size, where, &record, error));
    size_t n_rows = ifm_append_lines(tail->samples, tail->samples_size) - 1; /* without the header */
    enum ifm_status status =
        whole_slots(&record, &recorder->walk, n_rows, recorder->slots.path, &n_slots, &n_samples, error);
    if (status == IFM_OK) {
        tail->slots_size = offset_after(tail->slots, tail->slots_size, n_slots);
        tail->samples_size = offset_after(tail->samples, tail->samples_size, n_samples);
    }
    ifm_record_free(&record);
    return status;
}

/* Check the rest as a reader would, then cut. The slots file first: it must never claim samples that do not exist. */
static enum ifm_status cut_tail(struct ifm_recorder *recorder, const struct tail *tail, const char *where,
                                struct ifm_error *error)
{
    struct ifm_record record;
    IFM_TRY(ifm_record_parse(tail->samples, tail->samples_size, tail->slots, tail->slots_size, where, &record, error));
    for (size_t k = 0; k < record.n_slots; k++)
        (void)ifm_block_step(&recorder->walk, &record.slots[k]); /* holds: it has just been read */
    recorder->next_slot = record.n_slots;
    recorder->end_ns = record.n_slots == 0 ? 0 : record.slots[record.n_slots - 1].end_ns;
    recorder->chain = ifm_record_chain_end(&record);
    ifm_record_free(&record);
    IFM_TRY(ifm_append_cut(&recorder->slots, (int64_t)tail->slots_size, error));
    return ifm_append_cut(&recorder->samples, (int64_t)tail->samples_size, error);
}

enum ifm_status ifm_recorder_resume(const char *dir, unsigned cell, const char *pass, const char *const *columns,
                                    size_t n_columns, size_t slots_per_block, size_t slots_per_warm_up,
                                    size_t slots_per_round, struct ifm_recorder **out, uint32_t *next_block,
                                    int64_t *end_ns, struct ifm_error *error)
{
    struct ifm_recorder *recorder;
    struct tail tail = {0};
    *out = NULL;
    if (slots_per_warm_up == 0 || (slots_per_block != slots_per_warm_up && slots_per_block != 2 * slots_per_warm_up))
        return ifm_fail(error, IFM_INTERNAL, dir, NULL, "%zu slots in a block, %zu in one of the warm-up",
                        slots_per_block, slots_per_warm_up);
    IFM_TRY(ifm_recorder_open(dir, cell, pass, columns, n_columns, O_CREAT, &recorder, error));
    recorder->walk.slots_per_block = slots_per_block;
    recorder->walk.slots_per_warm_up = slots_per_warm_up;
    recorder->walk.slots_per_round = slots_per_round;
    char *header = ifm_slots_header(columns, n_columns), *where = ifm_record_path(dir, cell, pass, "");
    enum ifm_status status = find_tail(recorder, header, where, &tail, error);
    if (status == IFM_OK)
        status = cut_tail(recorder, &tail, where, error);
    free(where);
    free(header);
    free(tail.samples);
    free(tail.slots);
    if (status != IFM_OK) {
        ifm_recorder_close(recorder);
        return status;
    }
    *out = recorder;
    *next_block = recorder->walk.any ? recorder->walk.block + 1 : 0;
    *end_ns = recorder->end_ns;
    return IFM_OK;
}
