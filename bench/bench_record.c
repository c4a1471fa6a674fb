/* The cost of a million samples: written block by block, synced, hashed, loaded. Prints milliseconds of each stage.
 *
 * usage: bench_record [FOLDER]   a fresh folder below FOLDER (default /tmp) is made and removed */
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "sample/manifest.h"
#include "sample/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SLOTS = 10, SAMPLES = 100, BLOCKS = 1000 };

static const char *const columns[] = {"involuntary_switches", "voluntary_switches", "steal_ns"};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct block {
    struct ifm_slot slots[SLOTS];
    struct ifm_sample samples[SLOTS * SAMPLES];
    int64_t columns[SLOTS * COLUMNS];
};

/* Steps of about 12 us, like a small decode: 7 to 11 digits of start, 5 of duration. */
static void fill(struct block *block, uint32_t number, int64_t *now, struct ifm_random *random)
{
    for (uint32_t k = 0; k < SLOTS; k++) {
        struct ifm_slot *slot = &block->slots[k];
        *slot = (struct ifm_slot){.block = number,
                                  .phase = IFM_PHASE_MEASURE,
                                  .arm = k < SLOTS / 2 ? k : SLOTS - 1 - k,
                                  .samples = SAMPLES,
                                  .inner = 1,
                                  .start_ns = *now,
                                  .columns = block->columns + (size_t)k * COLUMNS};
        for (uint32_t i = 0; i < SAMPLES; i++) {
            struct ifm_sample *sample = &block->samples[k * SAMPLES + i];
            *sample = (struct ifm_sample){*now, 12000 + ifm_random_below(random, 900)};
            *now += sample->duration_ns + 30;
        }
        slot->end_ns = *now;
        *now += 5000;
        block->columns[k * COLUMNS] = ifm_random_below(random, 3);
        block->columns[k * COLUMNS + 1] = 0;
        block->columns[k * COLUMNS + 2] = IFM_ABSENT;
    }
}

static void must(enum ifm_status status, const struct ifm_error *error)
{
    if (status == IFM_OK)
        return;
    ifm_error_print(error);
    exit((int)status);
}

static double elapsed_ms(struct ifm_instant start)
{
    return (double)ifm_clock_since(start).ns * 1e-6;
}

/* Only the appends are timed, not the making of samples. */
static double write_all(struct ifm_recorder *recorder)
{
    static struct block block;
    struct ifm_random random = ifm_random_start(1, 1);
    struct ifm_error error;
    int64_t now = 1000000;
    double write_ms = 0;
    for (uint32_t b = 0; b < BLOCKS; b++) {
        fill(&block, b, &now, &random);
        struct ifm_instant start = ifm_clock_now();
        must(ifm_recorder_append(recorder, block.slots, SLOTS, block.samples, SLOTS * SAMPLES, &error), &error);
        write_ms += elapsed_ms(start);
    }
    return write_ms;
}

static void remove_folder(const char *dir)
{
    static const char *const names[] = {"samples/0-latency.csv", "samples/0-latency-slots.csv", "samples",
                                        "manifest.sha256"};
    struct ifm_text path = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ifm_text_clear(&path);
        ifm_text_printf(&path, "%s/%s", dir, names[i]);
        remove(path.data);
    }
    ifm_text_free(&path);
    remove(dir);
}

int main(int argc, char **argv)
{
    struct ifm_text dir = {0};
    struct ifm_error error;
    struct ifm_recorder *recorder;
    struct ifm_record record;
    ifm_text_printf(&dir, "%s/bench-record-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    if (mkdtemp(dir.data) == NULL) {
        perror(dir.data);
        return IFM_USAGE;
    }
    must(ifm_recorder_create(dir.data, 0, "latency", columns, COLUMNS, &recorder, &error), &error);
    double write_ms = write_all(recorder);
    struct ifm_instant start = ifm_clock_now();
    must(ifm_recorder_sync(recorder, &error), &error);
    double sync_ms = elapsed_ms(start);
    ifm_recorder_close(recorder);
    start = ifm_clock_now();
    must(ifm_manifest_write(dir.data, &error), &error);
    double hash_ms = elapsed_ms(start);
    start = ifm_clock_now();
    must(ifm_manifest_check(dir.data, false, &error), &error);
    double check_ms = elapsed_ms(start);
    start = ifm_clock_now();
    must(ifm_record_load(dir.data, 0, "latency", &record, &error), &error);
    double load_ms = elapsed_ms(start);
    printf("%zu samples, %zu slots\n", record.n_samples, record.n_slots);
    printf("write %8.1f ms\nsync  %8.1f ms\nhash  %8.1f ms\ncheck %8.1f ms\nload  %8.1f ms\n", write_ms, sync_ms,
           hash_ms, check_ms, load_ms);
    printf("write + hash + load %8.1f ms\n", write_ms + hash_ms + load_ms);
    ifm_record_free(&record);
    remove_folder(dir.data);
    ifm_text_free(&dir);
    return 0;
}
