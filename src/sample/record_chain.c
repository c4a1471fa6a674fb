/* The hash chain over the blocks of a record; see record.h. */
#include "base/arena.h"
#include "base/text.h"
#include "sample/record_private.h"
#include <stdlib.h>
#include <string.h>

struct ifm_sha256 ifm_record_chain_start(const char *slots_header)
{
    struct ifm_text headers = {0};
    ifm_text_printf(&headers, "%s\n%s", IFM_SAMPLES_HEADER, slots_header);
    struct ifm_sha256 start = ifm_sha256_bytes(headers.data, headers.size);
    ifm_text_free(&headers);
    return start;
}

void ifm_record_chain_step(struct ifm_sha256 *chain, const struct ifm_sha256 *samples, const struct ifm_sha256 *slots)
{
    enum { HEX = sizeof chain->hex - 1 };
    char text[3 * HEX];
    memcpy(text, chain->hex, HEX);
    memcpy(text + HEX, samples->hex, HEX);
    memcpy(text + 2 * HEX, slots->hex, HEX);
    *chain = ifm_sha256_bytes(text, sizeof text);
}

const struct ifm_sha256 *ifm_recorder_chain(const struct ifm_recorder *recorder)
{
    return &recorder->chain;
}

/* The slot behind the block that begins with slot `first`. */
static size_t block_end(const struct ifm_record *record, size_t first)
{
    size_t end = first;
    while (end < record->n_slots && record->slots[end].block == record->slots[first].block)
        end++;
    return end;
}

size_t ifm_record_count_blocks(const struct ifm_record *record)
{
    size_t n = 0;
    for (size_t first = 0; first < record->n_slots; first = block_end(record, first))
        n++;
    return n;
}

static size_t longest_block(const struct ifm_record *record)
{
    size_t longest = 1;
    for (size_t first = 0, end; first < record->n_slots; first = end) {
        end = block_end(record, first);
        size_t bytes =
            ifm_record_block_bytes(end - first, record->first[end] - record->first[first], record->n_columns);
        longest = bytes > longest ? bytes : longest;
    }
    return longest;
}

/* `values` may be NULL: only the last one is wanted. A record that was read and is written again has the same bytes. */
static struct ifm_sha256 walk(const struct ifm_record *record, struct ifm_sha256 *values)
{
    char *header = ifm_slots_header((const char *const *)record->column_names, record->n_columns);
    struct ifm_sha256 chain = ifm_record_chain_start(header);
    char *buffer = ifm_zeros(longest_block(record), 1);
    size_t block = 0;
    free(header);
    for (size_t first = 0, end; first < record->n_slots; first = end) {
        end = block_end(record, first);
        char *at = ifm_record_put_samples(buffer, first, &record->slots[first], end - first,
                                          &record->samples[record->first[first]]);
        struct ifm_sha256 samples = ifm_sha256_bytes(buffer, (size_t)(at - buffer));
        at = buffer;
        for (size_t k = first; k < end; k++)
            at = ifm_record_put_slot(at, &record->slots[k], record->n_columns);
        struct ifm_sha256 slots = ifm_sha256_bytes(buffer, (size_t)(at - buffer));
        ifm_record_chain_step(&chain, &samples, &slots);
        if (values != NULL)
            values[block++] = chain;
    }
    free(buffer);
    return chain;
}

void ifm_record_chain(const struct ifm_record *record, struct ifm_sha256 *values)
{
    (void)walk(record, values);
}

struct ifm_sha256 ifm_record_chain_end(const struct ifm_record *record)
{
    return walk(record, NULL);
}
