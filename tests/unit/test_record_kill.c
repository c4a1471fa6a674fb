/* A recorder that is killed with SIGKILL while it writes, again and again: the record goes on and loses no whole block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "sample/record.h"
#include "sample_folder.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4, SAMPLES = 50, KILLS = 25, MOST_BLOCKS = 500 };

static const char *const columns[] = {"count"};

/* Block `number` follows from its number alone, so that every process writes the same one. */
static void make_block(uint32_t number, struct ifm_slot *slots, struct ifm_sample *samples, int64_t *values)
{
    struct ifm_random random = ifm_random_start(number, 7);
    int64_t now = (int64_t)number * 1000000;
    for (uint32_t k = 0; k < SLOTS; k++) {
        values[k] = number * SLOTS + k;
        slots[k] = (struct ifm_slot){number, IFM_PHASE_MEASURE, k % 2, SAMPLES, 1, now, 0, &values[k]};
        for (uint32_t i = 0; i < SAMPLES; i++, samples++) {
            *samples = (struct ifm_sample){now, ifm_random_below(&random, 3000)};
            now += samples->duration_ns;
        }
        slots[k].end_ns = now;
    }
}

/* In the child: append until killed; `*done` counts the blocks whose append has returned. */
static _Noreturn void write_until_killed(const char *dir, volatile uint32_t *done)
{
    struct ifm_slot slots[SLOTS];
    struct ifm_sample samples[SLOTS * SAMPLES];
    int64_t values[SLOTS], end_ns;
    uint32_t block;
    struct ifm_recorder *recorder;
    struct ifm_error error;
    if (ifm_recorder_resume(dir, 0, "p", columns, 1, SLOTS, SLOTS / 2, 0, &recorder, &block, &end_ns, &error) != IFM_OK)
        _exit(1);
    *done = block;
    /* Bounded, so that a parent that gets no CPU for a while has no gigabytes to read afterwards. */
    for (uint32_t last = block + MOST_BLOCKS; block < last; *done = ++block) {
        make_block(block, slots, samples, values);
        if (ifm_recorder_append(recorder, slots, SLOTS, samples, (size_t)SLOTS * SAMPLES, &error) != IFM_OK)
            _exit(2);
    }
    for (;;)
        pause();
}

/* After a while; a child that no processor has let write yet gets more time, most rounds. */
static void kill_soon(pid_t child, const volatile uint32_t *done, struct ifm_random *random)
{
    int status;
    bool waits = ifm_random_below(random, 8) > 0;
    for (int more = 0; more < 1000 && (more == 0 || (waits && *done == 0)); more++) {
        const struct timespec pause = {0, 200000 + ifm_random_below(random, 8000000)};
        nanosleep(&pause, NULL);
    }
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* it had not failed by itself */
}

static void assert_record(struct folder *folder, uint32_t n_blocks)
{
    struct ifm_record record;
    struct ifm_error error = {0};
    struct ifm_slot slots[SLOTS];
    struct ifm_sample samples[SLOTS * SAMPLES];
    int64_t values[SLOTS];
    if (ifm_record_load(folder->path, 0, "p", &record, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(record.n_slots, (size_t)n_blocks * SLOTS);
    assert_int_equal(record.n_samples, (size_t)n_blocks * SLOTS * SAMPLES);
    for (uint32_t b = 0; b < n_blocks; b++) {
        make_block(b, slots, samples, values);
        assert_memory_equal(&record.samples[(size_t)b * SLOTS * SAMPLES], samples, sizeof samples);
        assert_memory_equal(&record.columns[(size_t)b * SLOTS], values, sizeof values);
    }
    ifm_record_free(&record);
}

static void test_killed_again_and_again(void **state)
{
    (void)state;
    uint64_t seed = (uint64_t)time(NULL);
    struct ifm_random random = ifm_random_start(seed, 3);
    struct folder folder = folder_make();
    volatile uint32_t *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(done != MAP_FAILED);
    uint32_t whole = 0;
    print_message("seed: %llu\n", (unsigned long long)seed);
    for (int round = 0; round < KILLS; round++) {
        struct ifm_recorder *recorder;
        struct ifm_error error = {0};
        int64_t end_ns;
        *done = 0;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_until_killed(folder.path, done);
        kill_soon(child, done, &random);
        uint32_t promised = *done > whole ? *done : whole; /* it may have died before its resume was through */
        if (ifm_recorder_resume(folder.path, 0, "p", columns, 1, SLOTS, SLOTS / 2, 0, &recorder, &whole, &end_ns,
                                &error) != IFM_OK)
            fail_msg("%s: %s", error.where, error.message);
        ifm_recorder_close(recorder);
        assert_in_range(whole, promised, promised + 1); /* the open block may have been whole already */
        assert_record(&folder, whole);
    }
    assert_true(whole > KILLS); /* it did write */
    munmap((void *)done, sizeof *done);
    folder_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
