/* Raw records: the text up to the first line "---" is the samples file, the rest the slots file.
 *
 * What is read must be the same bytes when it is written again: the reader takes the canonical form only. */
#include "base/text.h"
#include "sample/record.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_field(struct ifm_text *text, int64_t number, const char *separator)
{
    ifm_text_add_i64(text, number);
    ifm_text_add(text, separator);
}

static void write_samples(const struct ifm_record *record, struct ifm_text *text)
{
    ifm_text_add(text, "slot,start_ns,duration_ns\n");
    for (size_t k = 0; k < record->n_slots; k++) {
        for (size_t i = record->first[k]; i < record->first[k + 1]; i++) {
            add_field(text, (int64_t)k, ",");
            add_field(text, record->samples[i].start_ns, ",");
            add_field(text, record->samples[i].duration_ns, "\n");
        }
    }
}

static void write_slots(const struct ifm_record *record, struct ifm_text *text)
{
    ifm_text_add(text, "block,phase,arm,samples,inner,start_ns,end_ns");
    for (size_t c = 0; c < record->n_columns; c++)
        ifm_text_printf(text, ",%s", record->column_names[c]);
    ifm_text_add(text, "\n");
    for (size_t k = 0; k < record->n_slots; k++) {
        const struct ifm_slot *slot = &record->slots[k];
        add_field(text, slot->block, ",");
        add_field(text, slot->phase, ",");
        add_field(text, slot->arm, ",");
        add_field(text, slot->samples, ",");
        add_field(text, slot->inner, ",");
        add_field(text, slot->start_ns, ",");
        ifm_text_add_i64(text, slot->end_ns);
        for (size_t c = 0; c < record->n_columns; c++) {
            ifm_text_add(text, ",");
            if (slot->columns[c] != IFM_ABSENT)
                ifm_text_add_i64(text, slot->columns[c]);
        }
        ifm_text_add(text, "\n");
    }
}

static void must_hold(const struct ifm_text *text, const char *bytes, size_t size)
{
    if (text->size != size || memcmp(text->data, bytes, size) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char separator[] = "---\n";
    static const size_t length = sizeof separator - 1;
    const char *text = (const char *)data;
    const char *cut = size == 0 ? NULL : memmem(text, size, separator, length);
    if (cut == NULL)
        return 0;
    size_t samples_size = (size_t)(cut - text), slots_size = size - samples_size - length;
    /* Exact copies, so that a read beyond either text is seen. */
    char *samples = malloc(samples_size == 0 ? 1 : samples_size), *slots = malloc(slots_size == 0 ? 1 : slots_size);
    if (samples == NULL || slots == NULL)
        abort();
    memcpy(samples, text, samples_size);
    memcpy(slots, cut + length, slots_size);
    struct ifm_record record;
    struct ifm_error error;
    if (ifm_record_parse(samples, samples_size, slots, slots_size, "fuzz", &record, &error) == IFM_OK) {
        struct ifm_text again = {0};
        write_samples(&record, &again);
        must_hold(&again, samples, samples_size);
        ifm_text_clear(&again);
        write_slots(&record, &again);
        must_hold(&again, slots, slots_size);
        ifm_text_free(&again);
        ifm_record_free(&record);
    }
    free(samples);
    free(slots);
    return 0;
}
