/* The raw record: round trips, interruption at every byte, and failing disks. The reader's rules are
 * test_record_read.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "facts.h"
#include "sample/record.h"
#include "sample_folder.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define SAMPLES "samples/3-latency.csv"
#define SLOTS "samples/3-latency-slots.csv"

/* ---- a disk that misbehaves on demand: the library's write(2) goes through here ---- */

static struct {
    size_t chunk;       /* most bytes of one call; 0 = no limit */
    long budget;        /* bytes until `code` is raised; negative = never */
    int code;           /* errno to raise */
    unsigned interrupt; /* every n-th call is EINTR; 0 = never */
    unsigned calls;
} disk = {.budget = -1};

ssize_t write(int fd, const void *data, size_t size)
{
    disk.calls++;
    if (disk.interrupt != 0 && disk.calls % disk.interrupt == 0) {
        errno = EINTR;
        return -1;
    }
    if (disk.chunk != 0 && size > disk.chunk)
        size = disk.chunk;
    if (disk.budget == 0) {
        errno = disk.code;
        return -1;
    }
    if (disk.budget > 0 && size > (size_t)disk.budget)
        size = (size_t)disk.budget;
    ssize_t wrote = syscall(SYS_write, fd, data, size);
    if (disk.budget > 0 && wrote > 0)
        disk.budget -= wrote;
    return wrote;
}

/* ---- random records ---- */

enum { MAX_BLOCKS = 12, MAX_SLOTS = 8, MAX_COLUMNS = 12, MAX_SAMPLES = 6 };

struct block {
    struct ifm_slot slots[MAX_SLOTS];
    struct ifm_sample samples[MAX_SLOTS * MAX_SAMPLES];
    int64_t columns[MAX_SLOTS * MAX_COLUMNS];
    size_t n_slots, n_samples;
};

struct story {
    size_t n_blocks, n_arms, n_columns;
    struct block blocks[MAX_BLOCKS];
    struct ifm_text samples, slots; /* what the files hold in the end */
    struct ifm_sha256 chain;
    size_t samples_end[MAX_BLOCKS + 1], slots_end[MAX_BLOCKS + 1]; /* sizes after k blocks */
};

static const char *const column_names[MAX_COLUMNS] = {"steal_ns", "switches", "c2", "c3", "c4",  "c5",
                                                      "c6",       "c7",       "c8", "c9", "c10", "c11"};

static int64_t random_column(struct ifm_random *random)
{
    switch (ifm_random_below(random, 4)) {
    case 0:
        return IFM_ABSENT;
    case 1:
        return 0;
    case 2:
        return -((int64_t)ifm_random_u32(random) << ifm_random_below(random, 31));
    default:
        return (int64_t)ifm_random_u32(random) << ifm_random_below(random, 31);
    }
}

static void fill_block(struct block *block, uint32_t number, uint32_t phase, const struct story *story, int64_t *now,
                       struct ifm_random *random)
{
    block->n_slots = phase == IFM_PHASE_WARMUP ? story->n_arms : 2 * story->n_arms;
    block->n_samples = 0;
    for (size_t k = 0; k < block->n_slots; k++) {
        int64_t *columns = block->columns + k * story->n_columns;
        struct ifm_slot *slot = &block->slots[k];
        *now += ifm_random_below(random, 1000);
        *slot = (struct ifm_slot){.block = number,
                                  .phase = phase,
                                  .arm = ifm_random_below(random, (uint32_t)story->n_arms),
                                  .samples = 1 + ifm_random_below(random, MAX_SAMPLES),
                                  .inner = 1 + ifm_random_below(random, 9),
                                  .start_ns = *now,
                                  .columns = columns};
        for (uint32_t i = 0; i < slot->samples; i++) {
            *now += ifm_random_below(random, 3);
            struct ifm_sample *sample = &block->samples[block->n_samples++];
            *sample = (struct ifm_sample){*now, ifm_random_below(random, 2000)};
            *now += sample->duration_ns;
        }
        *now += ifm_random_below(random, 50);
        slot->end_ns = *now;
        for (size_t c = 0; c < story->n_columns; c++)
            columns[c] = random_column(random);
    }
}

static void append_blocks(struct ifm_recorder *recorder, const struct story *story, size_t from, size_t to)
{
    struct ifm_error error;
    for (size_t b = from; b < to; b++) {
        const struct block *block = &story->blocks[b];
        assert_int_equal(
            ifm_recorder_append(recorder, block->slots, block->n_slots, block->samples, block->n_samples, &error),
            IFM_OK);
    }
}

static size_t size_of(struct folder *folder, const char *name)
{
    struct stat status;
    assert_int_equal(stat(folder_name(folder, name), &status), 0);
    return (size_t)status.st_size;
}

/* Make a story, record it uninterrupted, and keep the bytes of both files. The folder then holds the record. */
static struct story *tell(struct folder *folder, uint64_t seed, size_t n_blocks, size_t n_arms, size_t n_columns)
{
    struct ifm_error error;
    struct ifm_recorder *recorder;
    struct ifm_random random = ifm_random_start(seed, 1);
    struct story *story = calloc(1, sizeof *story);
    assert_non_null(story);
    story->n_blocks = n_blocks;
    story->n_arms = n_arms;
    story->n_columns = n_columns;
    int64_t now = 0;
    assert_int_equal(ifm_recorder_create(folder->path, 3, "latency", column_names, n_columns, &recorder, &error),
                     IFM_OK);
    for (size_t b = 0; b < n_blocks; b++) {
        uint32_t phase = b < 2 || b == n_blocks / 2 ? IFM_PHASE_WARMUP : IFM_PHASE_MEASURE; /* a resumed run warms up */
        story->samples_end[b] = size_of(folder, SAMPLES);
        story->slots_end[b] = size_of(folder, SLOTS);
        fill_block(&story->blocks[b], (uint32_t)b, phase, story, &now, &random);
        append_blocks(recorder, story, b, b + 1);
    }
    assert_int_equal(ifm_recorder_sync(recorder, &error), IFM_OK);
    story->chain = *ifm_recorder_chain(recorder);
    ifm_recorder_close(recorder);
    story->samples = folder_read(folder, SAMPLES);
    story->slots = folder_read(folder, SLOTS);
    story->samples_end[n_blocks] = story->samples.size;
    story->slots_end[n_blocks] = story->slots.size;
    return story;
}

static void forget(struct story *story)
{
    ifm_text_free(&story->samples);
    ifm_text_free(&story->slots);
    free(story);
}

/* The record in the folder is the story, field by field. */
static void assert_told(struct folder *folder, const struct story *story)
{
    struct ifm_record record;
    struct ifm_error error = {0};
    assert_int_equal(ifm_record_load(folder->path, 3, "latency", &record, &error), IFM_OK);
    assert_int_equal(record.n_columns, story->n_columns);
    for (size_t c = 0; c < story->n_columns; c++)
        assert_string_equal(record.column_names[c], column_names[c]);
    size_t k = 0, i = 0;
    for (size_t b = 0; b < story->n_blocks; b++) {
        const struct block *block = &story->blocks[b];
        for (size_t s = 0, taken = 0; s < block->n_slots; s++, k++) {
            const struct ifm_slot *want = &block->slots[s], *got = &record.slots[k];
            assert_true(k < record.n_slots);
            assert_int_equal(got->block, want->block);
            assert_int_equal(got->phase, want->phase);
            assert_int_equal(got->arm, want->arm);
            assert_int_equal(got->samples, want->samples);
            assert_int_equal(got->inner, want->inner);
            assert_true(got->start_ns == want->start_ns && got->end_ns == want->end_ns);
            assert_memory_equal(got->columns, want->columns, story->n_columns * sizeof *want->columns);
            assert_int_equal(record.first[k], i);
            assert_memory_equal(&record.samples[i], &block->samples[taken], want->samples * sizeof *record.samples);
            i += want->samples;
            taken += want->samples;
        }
    }
    assert_int_equal(record.n_slots, k);
    assert_int_equal(record.n_samples, i);
    assert_int_equal(record.first[k], i);
    ifm_record_free(&record);
}

static enum ifm_status resume(struct folder *folder, const struct story *story, struct ifm_recorder **recorder,
                              uint32_t *next_block, int64_t *end_ns, struct ifm_error *error)
{
    return ifm_recorder_resume(folder->path, 3, "latency", column_names, story->n_columns, 2 * story->n_arms,
                               story->n_arms, 0, recorder, next_block, end_ns, error);
}

/* Leave only so many bytes of both files, resume, and tell the rest: the record is the uninterrupted one. */
static void interrupt_and_resume(struct folder *folder, const struct story *story, size_t samples, size_t slots)
{
    struct ifm_error error = {0};
    struct ifm_recorder *recorder;
    uint32_t next_block = 99;
    int64_t end_ns = -1;
    size_t whole = 0;
    folder_write(folder, SAMPLES, story->samples.data, samples);
    folder_write(folder, SLOTS, story->slots.data, slots);
    while (whole < story->n_blocks && samples >= story->samples_end[whole + 1] && slots >= story->slots_end[whole + 1])
        whole++;
    if (resume(folder, story, &recorder, &next_block, &end_ns, &error) != IFM_OK)
        fail_msg("samples %zu, slots %zu: %s: %s", samples, slots, error.where, error.message);
    if (next_block != whole)
        fail_msg("samples %zu, slots %zu: next block %u, %zu are whole", samples, slots, next_block, whole);
    const struct block *last = whole == 0 ? NULL : &story->blocks[whole - 1];
    assert_true(end_ns == (last == NULL ? 0 : last->slots[last->n_slots - 1].end_ns));
    assert_int_equal(size_of(folder, SAMPLES), story->samples_end[whole]);
    assert_int_equal(size_of(folder, SLOTS), story->slots_end[whole]);
    append_blocks(recorder, story, whole, story->n_blocks);
    assert_string_equal(ifm_recorder_chain(recorder)->hex, story->chain.hex);
    ifm_recorder_close(recorder);
    folder_assert_holds(folder, SAMPLES, &story->samples);
    folder_assert_holds(folder, SLOTS, &story->slots);
}

/* ---- tests ---- */

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t n_columns = 0; n_columns <= MAX_COLUMNS; n_columns += 4) {
        for (size_t n_arms = 1; n_arms <= 4; n_arms++) {
            struct folder folder = folder_make();
            struct story *story = tell(&folder, 7 * n_arms + n_columns, 9, n_arms, n_columns);
            assert_told(&folder, story);
            forget(story);
            folder_remove(&folder);
        }
    }
}

/* Integers of every length survive, to the largest. */
static void test_extreme_values(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct story *story = calloc(1, sizeof *story);
    assert_non_null(story);
    story->n_blocks = 1;
    story->n_arms = 1;
    story->n_columns = 2;
    struct block *block = &story->blocks[0];
    int64_t start = 0;
    block->n_slots = 2;
    block->columns[0] = INT64_MAX;
    block->columns[1] = -INT64_MAX;
    block->columns[2] = -1;
    block->columns[3] = IFM_ABSENT;
    block->slots[0] = (struct ifm_slot){0, 1, UINT32_MAX, 6, UINT32_MAX, 0, 1000000000000000000, block->columns};
    block->slots[1] = (struct ifm_slot){0, 1, 0, 1, 1, 1000000000000000000, INT64_MAX, block->columns + 2};
    for (int i = 0; i < 6; i++, start = start * 1000 + 9)
        block->samples[block->n_samples++] = (struct ifm_sample){start, start * 2};
    block->samples[block->n_samples++] = (struct ifm_sample){1000000000000000000, INT64_MAX - 1000000000000000000};
    struct ifm_recorder *recorder;
    struct ifm_error error = {0};
    assert_int_equal(ifm_recorder_create(folder.path, 3, "latency", column_names, 2, &recorder, &error), IFM_OK);
    append_blocks(recorder, story, 0, 1);
    ifm_recorder_close(recorder);
    assert_told(&folder, story);
    forget(story);
    folder_remove(&folder);
}

static void test_interrupted_at_every_byte(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct story *story = tell(&folder, 11, 6, 2, 2);
    for (size_t cut = 0; cut <= story->samples.size; cut++)
        interrupt_and_resume(&folder, story, cut, story->slots.size);
    for (size_t cut = 0; cut <= story->slots.size; cut++)
        interrupt_and_resume(&folder, story, story->samples.size, cut);
    /* What a kill leaves: block b's samples to any byte and no slot of it, or all its samples and slots to any byte. */
    for (size_t b = 0; b < story->n_blocks; b++) {
        for (size_t cut = story->samples_end[b]; cut < story->samples_end[b + 1]; cut++)
            interrupt_and_resume(&folder, story, cut, story->slots_end[b]);
        for (size_t cut = story->slots_end[b]; cut < story->slots_end[b + 1]; cut++)
            interrupt_and_resume(&folder, story, story->samples_end[b + 1], cut);
    }
    /* And any pair, on a grid. */
    for (size_t samples = 0; samples <= story->samples.size; samples += 23)
        for (size_t slots = 0; slots <= story->slots.size; slots += 29)
            interrupt_and_resume(&folder, story, samples, slots);
    assert_told(&folder, story);
    forget(story);
    folder_remove(&folder);
}

/* A file that was never made, and a tail of NULs that a crash of the machine leaves. */
static void test_resume_from_missing_files(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct story *story = tell(&folder, 12, 3, 2, 1);
    struct ifm_error error = {0};
    struct ifm_recorder *recorder;
    uint32_t next_block;
    int64_t end_ns;
    for (int missing = 1; missing < 4; missing++) {
        if (missing & 1)
            unlink(folder_name(&folder, SAMPLES));
        if (missing & 2)
            unlink(folder_name(&folder, SLOTS));
        assert_int_equal(resume(&folder, story, &recorder, &next_block, &end_ns, &error), IFM_OK);
        assert_int_equal(next_block, 0);
        append_blocks(recorder, story, 0, 3);
        ifm_recorder_close(recorder);
        assert_told(&folder, story);
    }
    char nuls[4096] = {0};
    struct ifm_text tail = {0};
    ifm_text_append(&tail, story->slots.data, story->slots_end[2] + 5);
    ifm_text_append(&tail, nuls, sizeof nuls);
    folder_write(&folder, SLOTS, tail.data, tail.size);
    ifm_text_free(&tail);
    assert_int_equal(resume(&folder, story, &recorder, &next_block, &end_ns, &error), IFM_OK);
    assert_int_equal(next_block, 2);
    ifm_recorder_close(recorder);
    forget(story);
    folder_remove(&folder);
}

/* What no interruption leaves is refused, and the files stay as they are. */
static void assert_resume_refuses(struct folder *folder, const struct story *story, const char *samples,
                                  const char *slots, const char *where, const char *facts)
{
    struct ifm_error error = {0};
    struct ifm_recorder *recorder;
    uint32_t next_block;
    int64_t end_ns;
    struct ifm_text want_samples = {.data = (char *)samples, .size = strlen(samples)};
    struct ifm_text want_slots = {.data = (char *)slots, .size = strlen(slots)};
    folder_write(folder, SAMPLES, samples, strlen(samples));
    folder_write(folder, SLOTS, slots, strlen(slots));
    assert_int_equal(resume(folder, story, &recorder, &next_block, &end_ns, &error), IFM_INVALID);
    assert_facts(error.where, where);
    assert_facts(error.message, facts);
    folder_assert_holds(folder, SAMPLES, &want_samples);
    folder_assert_holds(folder, SLOTS, &want_slots);
}

#define H_SAMPLES "slot,start_ns,duration_ns\n"
#define H_SLOTS "block,phase,arm,samples,inner,start_ns,end_ns"

static void test_resume_refuses_edited_files(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct story *story = tell(&folder, 13, 2, 1, 1);
    const char *head = H_SLOTS ",steal_ns\n";
    static const struct {
        const char *samples, *slots, *where, *facts;
    } cases[] = {
        {"slots,start_ns\n", H_SLOTS ",steal_ns\n", SAMPLES, "header"},
        {"x", H_SLOTS ",steal_ns\n", SAMPLES, "header"},
        {H_SAMPLES, H_SLOTS ",other\n", SLOTS, "header"},
        {H_SAMPLES, H_SLOTS "\n0,0,0,1,1,5,9\n", SLOTS, "header"},
        {H_SAMPLES "0,5,1\n", H_SLOTS ",steal_ns\n0,0,0,1,1,5,x,0\n", SLOTS ":2", "end_ns|integer|\"x\""},
        {H_SAMPLES "0,5,1\n1,6,1\n", H_SLOTS ",steal_ns\n0,0,0,1,1,5,6,0\n0,0,0,1,1,6,9,0\n", "3-latency",
         "block 0|2 slots|1"},
        {H_SAMPLES "0,5,1\n1,6,1\n", H_SLOTS ",steal_ns\n0,1,0,1,1,5,6,0\n1,1,0,1,1,6,9,0\n", SLOTS,
         "block 0|1 slots|2"},
        {H_SAMPLES "0,4,1\n", H_SLOTS ",steal_ns\n0,0,0,1,1,5,9,0\n", SAMPLES ":2", "outside|slot"},
        {H_SAMPLES "0,5,-1\n", H_SLOTS ",steal_ns\n0,0,0,1,1,5,9,0\n", SAMPLES ":2", "duration_ns|-1"},
    };
    assert_memory_equal(story->slots.data, head, strlen(head));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_resume_refuses(&folder, story, cases[i].samples, cases[i].slots, cases[i].where, cases[i].facts);
    forget(story);
    folder_remove(&folder);
}

/* After a failed append both files are as before it, and the recorder goes on. */
static void assert_append_fails(struct folder *folder, struct ifm_recorder *recorder, const struct story *story,
                                size_t b, const char *where, int code)
{
    struct ifm_error error = {0};
    const struct block *block = &story->blocks[b];
    enum ifm_status status =
        ifm_recorder_append(recorder, block->slots, block->n_slots, block->samples, block->n_samples, &error);
    disk.budget = -1;
    assert_int_equal(status, IFM_INTERNAL);
    if (strstr(error.where, where) == NULL || strstr(error.message, strerror(code)) == NULL)
        fail_msg("got %s: %s", error.where, error.message);
    if (code == ENOSPC || code == EFBIG)
        assert_facts(error.hint, code == ENOSPC ? "space" : "ulimit -f");
    assert_int_equal(size_of(folder, SAMPLES), story->samples_end[b]);
    assert_int_equal(size_of(folder, SLOTS), story->slots_end[b]);
}

static void test_disk_fails_at_every_byte(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct story *story = tell(&folder, 14, 4, 2, 3);
    struct ifm_error error = {0};
    struct ifm_recorder *recorder;
    for (int code = 0; code < 2; code++) {
        folder_remove(&folder);
        folder = folder_make();
        assert_int_equal(ifm_recorder_create(folder.path, 3, "latency", column_names, 3, &recorder, &error), IFM_OK);
        disk.code = code == 0 ? ENOSPC : EIO;
        for (size_t b = 0; b < story->n_blocks; b++) {
            size_t samples = story->samples_end[b + 1] - story->samples_end[b];
            size_t slots = story->slots_end[b + 1] - story->slots_end[b];
            for (size_t bytes = 0; bytes < samples + slots; bytes++) {
                disk.budget = (long)bytes;
                assert_append_fails(&folder, recorder, story, b, bytes < samples ? SAMPLES : SLOTS, disk.code);
            }
            append_blocks(recorder, story, b, b + 1);
        }
        ifm_recorder_close(recorder);
        folder_assert_holds(&folder, SAMPLES, &story->samples);
        folder_assert_holds(&folder, SLOTS, &story->slots);
    }
    forget(story);
    folder_remove(&folder);
}

/* The kernel's own refusal: a file-size limit. */
static void test_file_size_limit(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct story *story = tell(&folder, 15, 1, 2, 0);
    struct ifm_error error = {0};
    struct ifm_recorder *recorder;
    struct rlimit before, small;
    folder_remove(&folder);
    folder = folder_make();
    assert_int_equal(ifm_recorder_create(folder.path, 3, "latency", column_names, 0, &recorder, &error), IFM_OK);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = story->samples_end[1] - 1;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_append_fails(&folder, recorder, story, 0, SAMPLES, EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    append_blocks(recorder, story, 0, 1);
    ifm_recorder_close(recorder);
    assert_told(&folder, story);
    forget(story);
    folder_remove(&folder);
}

/* A create that fails leaves nothing. */
static void test_create_on_full_disk(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct ifm_recorder *recorder;
    for (long budget = 0; budget < 70; budget++) {
        struct ifm_error error = {0};
        disk.budget = budget;
        disk.code = ENOSPC;
        enum ifm_status status = ifm_recorder_create(folder.path, 3, "latency", column_names, 0, &recorder, &error);
        disk.budget = -1;
        assert_int_equal(status, IFM_INTERNAL);
        assert_null(recorder);
        assert_int_equal(access(folder_name(&folder, SAMPLES), F_OK), -1);
        assert_int_equal(access(folder_name(&folder, SLOTS), F_OK), -1);
    }
    folder_remove(&folder);
}

static void test_short_writes_are_continued(void **state)
{
    (void)state;
    disk.chunk = 7;
    disk.interrupt = 3;
    struct folder folder = folder_make();
    struct story *story = tell(&folder, 16, 4, 2, 3);
    disk.chunk = disk.interrupt = 0;
    assert_told(&folder, story);
    forget(story);
    folder_remove(&folder);
}

/* One write a file and block. */
static void test_one_write_per_file(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    disk.calls = 0;
    struct story *story = tell(&folder, 17, 5, 2, 3);
    assert_int_equal(disk.calls, 2 + 2 * 5);
    forget(story);
    folder_remove(&folder);
}

static void test_writer_refuses_what_reader_would(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct story *story = tell(&folder, 18, 3, 1, 0);
    struct ifm_recorder *recorder;
    struct ifm_error error = {0};
    uint32_t next;
    int64_t end;
    assert_int_equal(resume(&folder, story, &recorder, &next, &end, &error), IFM_OK);
    int64_t t = end + 10;
    const struct ifm_slot good[2] = {{3, 1, 0, 1, 1, t, t + 10, NULL}, {3, 1, 0, 1, 1, t + 10, t + 20, NULL}};
    const struct ifm_sample good_samples[2] = {{t, 10}, {t + 10, 10}};
    static const char *const problems[] = {"block number", "phase|neither", "no samples", "inner|0",  "starts before",
                                           "ends before",  "outside",       "ends after", "negative", "phase changes"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct ifm_slot slots[2] = {good[0], good[1]};
        struct ifm_sample samples[2] = {good_samples[0], good_samples[1]};
        slots[0].block = slots[1].block = i == 0 ? 4 : 3;
        slots[0].phase = i == 1 ? 3 : 1;
        slots[0].samples = i == 2 ? 0 : 1;
        slots[0].inner = i == 3 ? 0 : 1;
        slots[0].start_ns = i == 4 ? end - 1 : t;
        slots[0].end_ns = i == 5 ? t - 1 : t + 10;
        samples[0].start_ns = i == 6 ? t - 1 : t;
        samples[0].duration_ns = i == 7 ? 11 : i == 8 ? -1 : 10;
        slots[1].phase = i == 9 ? 0 : 1;
        assert_int_equal(ifm_recorder_append(recorder, slots, 2, samples, 2, &error), IFM_INTERNAL);
        assert_facts(error.message, problems[i]);
    }
    assert_int_equal(ifm_recorder_append(recorder, good, 0, good_samples, 0, &error), IFM_INTERNAL);
    assert_int_equal(ifm_recorder_append(recorder, good, 1, good_samples, 1, &error), IFM_INTERNAL);
    assert_int_equal(ifm_recorder_append(recorder, good, 2, good_samples, 1, &error), IFM_INTERNAL);
    folder_assert_holds(&folder, SAMPLES, &story->samples);
    folder_assert_holds(&folder, SLOTS, &story->slots);
    assert_int_equal(ifm_recorder_append(recorder, good, 2, good_samples, 2, &error), IFM_OK);
    ifm_recorder_close(recorder);
    forget(story);
    folder_remove(&folder);
}

static void test_property_random_interruptions(void **state)
{
    (void)state;
    const char *given = getenv("IFM_TEST_SEED");
    uint64_t seed = (uint64_t)time(NULL);
    if (given != NULL)
        assert_true(ifm_parse_u64(given, &seed));
    print_message("seed: IFM_TEST_SEED=%llu\n", (unsigned long long)seed);
    struct ifm_random random = ifm_random_start(seed, 2);
    for (int round = 0; round < 60; round++) {
        struct folder folder = folder_make();
        struct story *story = tell(&folder, seed + (uint64_t)round, ifm_random_below(&random, MAX_BLOCKS + 1),
                                   1 + ifm_random_below(&random, 4), ifm_random_below(&random, MAX_COLUMNS + 1));
        assert_told(&folder, story);
        for (int cut = 0; cut < 10; cut++)
            interrupt_and_resume(&folder, story, ifm_random_below(&random, (uint32_t)story->samples.size + 1),
                                 ifm_random_below(&random, (uint32_t)story->slots.size + 1));
        assert_told(&folder, story);
        forget(story);
        folder_remove(&folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_extreme_values),
        cmocka_unit_test(test_interrupted_at_every_byte),
        cmocka_unit_test(test_resume_from_missing_files),
        cmocka_unit_test(test_resume_refuses_edited_files),
        cmocka_unit_test(test_disk_fails_at_every_byte),
        cmocka_unit_test(test_file_size_limit),
        cmocka_unit_test(test_create_on_full_disk),
        cmocka_unit_test(test_short_writes_are_continued),
        cmocka_unit_test(test_one_write_per_file),
        cmocka_unit_test(test_writer_refuses_what_reader_would),
        cmocka_unit_test(test_property_random_interruptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
