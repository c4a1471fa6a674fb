/* Writing the raw record: one write a file and block, samples first, slots second. */
#include "base/arena.h"
#include "base/text.h"
#include "sample/record_private.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Letters, digits and the other characters of ids; no separator of paths or fields. */
static bool is_word(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/%";
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

static enum ifm_status check_names(const char *pass, const char *const *columns, size_t n_columns,
                                   struct ifm_error *error)
{
    static const char slots[] = "-slots";
    size_t length = strlen(pass);
    bool is_slots = length >= sizeof slots - 1 && strcmp(pass + length - (sizeof slots - 1), slots) == 0;
    if (!is_word(pass) || strchr(pass, '/') != NULL || is_slots)
        return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "\"%s\" cannot name the files of a pass", pass);
    for (size_t c = 0; c < n_columns; c++) {
        if (!is_word(columns[c]))
            return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "\"%s\" cannot name a column of a record", columns[c]);
        for (size_t other = 0; other < c; other++)
            if (strcmp(columns[c], columns[other]) == 0)
                return ifm_fail(error, IFM_INTERNAL, NULL, NULL, "column \"%s\" is named twice", columns[c]);
    }
    return IFM_OK;
}

/* ---- the recorder ---- */

enum ifm_status ifm_recorder_open(const char *dir, unsigned cell, const char *pass, const char *const *columns,
                                  size_t n_columns, int flags, struct ifm_recorder **out, struct ifm_error *error)
{
    *out = NULL;
    IFM_TRY(check_names(pass, columns, n_columns, error));
    IFM_TRY(ifm_append_folder(dir, error));
    struct ifm_recorder *recorder = ifm_zeros(1, sizeof *recorder);
    recorder->n_columns = n_columns;
    recorder->samples.fd = recorder->slots.fd = -1;
    enum ifm_status status =
        ifm_append_open(ifm_record_path(dir, cell, pass, ".csv"), flags, &recorder->samples, error);
    if (status == IFM_OK) {
        status = ifm_append_open(ifm_record_path(dir, cell, pass, "-slots.csv"), flags, &recorder->slots, error);
        if (status != IFM_OK && (flags & O_EXCL) != 0)
            unlink(recorder->samples.path);
    }
    if (status == IFM_OK)
        *out = recorder;
    else
        ifm_recorder_close(recorder);
    return status;
}

enum ifm_status ifm_recorder_create(const char *dir, unsigned cell, const char *pass, const char *const *columns,
                                    size_t n_columns, struct ifm_recorder **out, struct ifm_error *error)
{
    struct ifm_recorder *recorder;
    IFM_TRY(ifm_recorder_open(dir, cell, pass, columns, n_columns, O_CREAT | O_EXCL, &recorder, error));
    static const char samples_header[] = IFM_SAMPLES_HEADER "\n";
    char *slots_header = ifm_slots_header(columns, n_columns);
    recorder->chain = ifm_record_chain_start(slots_header);
    enum ifm_status status = ifm_append_write(&recorder->samples, samples_header, sizeof samples_header - 1, error);
    if (status == IFM_OK)
        status = ifm_append_write(&recorder->slots, slots_header, strlen(slots_header), error);
    free(slots_header);
    *out = recorder;
    if (status != IFM_OK) { /* they are new: remove the half-written files */
        unlink(recorder->samples.path);
        unlink(recorder->slots.path);
        ifm_recorder_close(recorder);
        *out = NULL;
    }
    return status;
}

/* ---- appending ---- */

static enum ifm_status bad_block(const struct ifm_recorder *recorder, const struct ifm_slot *slots, size_t k,
                                 const char *problem, struct ifm_error *error)
{
    return ifm_fail(error, IFM_INTERNAL, recorder->slots.path, NULL, "block %u, slot %zu of the block: %s",
                    slots[k].block, k, problem);
}

/* Refuse what the reader would refuse, before anything is written. */
static enum ifm_status check_block(const struct ifm_recorder *recorder, const struct ifm_slot *slots, size_t n_slots,
                                   const struct ifm_sample *samples, size_t n_samples, struct ifm_block_walk *walk,
                                   struct ifm_error *error)
{
    int64_t slot_end = recorder->end_ns;
    size_t used = 0;
    for (size_t k = 0; k < n_slots; k++) {
        const char *problem = ifm_block_step(walk, &slots[k]);
        if (problem == NULL)
            problem = ifm_slot_rule(&slots[k], slot_end);
        if (problem == NULL && slots[k].samples > n_samples - used)
            problem = "there are fewer samples than the slots claim";
        int64_t earliest = slots[k].start_ns;
        for (size_t end = used + slots[k].samples; problem == NULL && used < end; used++) {
            problem = ifm_sample_rule(&samples[used], &slots[k], earliest);
            earliest = samples[used].start_ns + samples[used].duration_ns;
        }
        if (problem != NULL)
            return bad_block(recorder, slots, k, problem, error);
        slot_end = slots[k].end_ns;
    }
    struct ifm_block_walk last = *walk;
    const char *problem = ifm_block_end(&last);
    if (problem == NULL && (walk->slots != n_slots || used != n_samples))
        problem = walk->slots != n_slots ? "an append is exactly one new block" : "more samples than the slots claim";
    if (problem != NULL)
        return bad_block(recorder, slots, n_slots - 1, problem, error);
    return IFM_OK;
}

static enum ifm_status reserve(struct ifm_recorder *recorder, size_t n_slots, size_t n_samples, struct ifm_error *error)
{
    size_t bytes = ifm_record_block_bytes(n_slots, n_samples, recorder->n_columns);
    if (bytes <= recorder->capacity)
        return IFM_OK;
    char *buffer = realloc(recorder->buffer, bytes);
    if (buffer == NULL)
        return ifm_fail(error, IFM_INTERNAL, recorder->samples.path, NULL, "out of memory: %zu bytes", bytes);
    recorder->buffer = buffer;
    recorder->capacity = bytes;
    return IFM_OK;
}

enum ifm_status ifm_recorder_append(struct ifm_recorder *recorder, const struct ifm_slot *slots, size_t n_slots,
                                    const struct ifm_sample *samples, size_t n_samples, struct ifm_error *error)
{
    if (n_slots == 0)
        return ifm_fail(error, IFM_INTERNAL, recorder->slots.path, NULL, "a block without slots");
    struct ifm_block_walk walk = recorder->walk;
    IFM_TRY(check_block(recorder, slots, n_slots, samples, n_samples, &walk, error));
    IFM_TRY(reserve(recorder, n_slots, n_samples, error));
    int64_t whole = recorder->samples.size;
    const char *end = ifm_record_put_samples(recorder->buffer, recorder->next_slot, slots, n_slots, samples);
    size_t size = (size_t)(end - recorder->buffer);
    IFM_TRY(ifm_append_write(&recorder->samples, recorder->buffer, size, error));
    const struct ifm_sha256 of_samples = ifm_sha256_bytes(recorder->buffer, size);
    char *at = recorder->buffer;
    for (size_t k = 0; k < n_slots; k++)
        at = ifm_record_put_slot(at, &slots[k], recorder->n_columns);
    size = (size_t)(at - recorder->buffer);
    enum ifm_status status = ifm_append_write(&recorder->slots, recorder->buffer, size, error);
    if (status != IFM_OK) { /* the samples of a block without slots must not stay */
        struct ifm_error ignored;
        recorder->samples.size = whole;
        if (ifm_append_cut(&recorder->samples, whole, &ignored) != IFM_OK)
            ifm_error_hint(error, "run --resume cuts the half-written block off");
        return status;
    }
    const struct ifm_sha256 of_slots = ifm_sha256_bytes(recorder->buffer, size);
    ifm_record_chain_step(&recorder->chain, &of_samples, &of_slots);
    recorder->walk = walk;
    recorder->next_slot += n_slots;
    recorder->end_ns = slots[n_slots - 1].end_ns;
    return IFM_OK;
}

enum ifm_status ifm_recorder_sync(struct ifm_recorder *recorder, struct ifm_error *error)
{
    IFM_TRY(ifm_append_sync(&recorder->samples, error));
    return ifm_append_sync(&recorder->slots, error);
}

void ifm_recorder_close(struct ifm_recorder *recorder)
{
    if (recorder == NULL)
        return;
    ifm_append_close(&recorder->samples);
    ifm_append_close(&recorder->slots);
    free(recorder->buffer);
    free(recorder);
}
