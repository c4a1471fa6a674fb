/* The stages as calls, without the command line: a whole run on the scripted device, and what a failure leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "host/host.h"
#include "sample_folder.h"
#include "story/folder.h"
#include "story/story.h"
#include <signal.h>
#include <sys/resource.h>

static const char study[] =
    "workload: 'null'\nceilings: none\ndevice:\n  kind: fake\n  script: step_ns=1000\nmeasure:\n  cap: 1s\n";

struct fixture {
    struct folder folder;
    char run[128];
    struct ifm_config *config;
    struct ifm_arena *arena;
    struct ifm_plan *plan;
    struct ifm_error error;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){.folder = folder_make(), .config = ifm_story_config(), .arena = ifm_arena_create()};
    snprintf(f.run, sizeof f.run, "%s/run", f.folder.path);
    assert_int_equal(ifm_config_yaml(f.config, study, sizeof study - 1, "study", &f.error), IFM_OK);
    assert_int_equal(ifm_config_resolve(f.config, &f.error), IFM_OK);
    assert_int_equal(ifm_story_plan(f.config, NULL, f.arena, &f.plan, &f.error), IFM_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    ifm_config_destroy(f->config);
    ifm_arena_destroy(f->arena);
    folder_remove(&f->folder);
    return 0;
}

/* The whole story into f->run; what it prints, to be freed. */
static char *measure(struct fixture *f)
{
    char *printed = NULL;
    size_t size = 0;
    int claim = -1;
    FILE *out = open_memstream(&printed, &size);
    const struct ifm_run_options how = {.dir = f->run};
    const struct ifm_story_printing printing = {.look = {.format = IFM_FORMAT_JSON}, .out = out};
    enum ifm_status judged = IFM_INTERNAL;
    assert_int_equal(ifm_story_ready(f->plan, &f->error), IFM_OK);
    assert_int_equal(ifm_story_folder(f->run, f->config, f->plan, ifm_host_private(0, NULL), &claim, &f->error), 0);
    assert_true(claim >= 0);
    assert_int_equal(ifm_story_measure(f->config, f->plan, &how, &f->error), IFM_OK);
    assert_int_equal(ifm_story_finish(f->run, &printing, &judged, &f->error), IFM_OK);
    assert_int_equal(judged, IFM_OK);
    fclose(out);
    close(claim);
    return printed;
}

static void a_whole_run_verifies_and_prints_to_its_file_alone(void **state)
{
    struct fixture *f = *state;
    struct ifm_story_verified verified = {0};
    char *printed = measure(f);
    json_t *numbers = json_loads(printed, 0, NULL);
    assert_non_null(numbers);
    json_decref(numbers);
    free(printed);
    assert_int_equal(ifm_story_verify(f->run, f->arena, &verified, &f->error), IFM_OK);
    assert_true(verified.n_numbers > 10);
    assert_null(verified.not_rebuilt);
}

/* The schema that docs/formats.md gives for a file. */
static long documented_schema(const char *file)
{
    FILE *page = fopen("docs/formats.md", "r");
    char line[512], row[64];
    long schema = -1;
    assert_non_null(page);
    snprintf(row, sizeof row, "| `%s` | ", file);
    while (fgets(line, sizeof line, page) != NULL)
        if (strncmp(line, row, strlen(row)) == 0 && strspn(line + strlen(row), "0123456789") > 0)
            schema = strtol(line + strlen(row), NULL, 10);
    fclose(page);
    return schema;
}

static void formats_md_gives_the_schemas_of_the_files(void **state)
{
    static const char *const files[] = {"config.lock.json", "plan.json", "derived.json", "verdict.json"};
    struct fixture *f = *state;
    free(measure(f));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[160];
        json_t *json = NULL;
        snprintf(path, sizeof path, "%s/%s", f->run, files[i]);
        assert_int_equal(ifm_json_read(path, &json, &f->error), IFM_OK);
        assert_int_equal(json_integer_value(json_object_get(json, "schema")), documented_schema(files[i]));
        json_decref(json);
    }
}

static void a_folder_that_cannot_be_filled_is_left_empty(void **state)
{
    struct fixture *f = *state;
    int claim = 0;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    enum ifm_status status = ifm_story_folder(f->run, f->config, f->plan, ifm_host_private(0, NULL), &claim, &f->error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, IFM_INTERNAL);
    assert_int_equal(claim, -1);
    assert_int_equal(rmdir(f->run), 0); /* it was created, and nothing is in it */
}

static void a_plan_that_comes_later_leaves_a_folder_without_one(void **state)
{
    struct fixture *f = *state;
    int claim = -1;
    char name[160];
    assert_int_equal(ifm_story_folder(f->run, f->config, NULL, ifm_host_private(0, NULL), &claim, &f->error), IFM_OK);
    snprintf(name, sizeof name, "%s/config.lock.json", f->run);
    assert_true(ifm_file_exists(name));
    snprintf(name, sizeof name, "%s/plan.json", f->run);
    assert_false(ifm_file_exists(name));
    close(claim);
    /* Nothing was measured: the next start may have the folder. */
    assert_int_equal(ifm_story_folder(f->run, f->config, f->plan, ifm_host_private(0, NULL), &claim, &f->error),
                     IFM_OK);
    assert_true(ifm_file_exists(name));
    close(claim);
}

static void a_session_describes_itself_in_place_of_the_registry(void **state)
{
    struct fixture *f = *state;
    const struct ifm_workload_entry own = {.name = "session"};
    struct ifm_plan *plan;
    /* The study's workload is not among the session's own. */
    assert_int_not_equal(ifm_story_plan(f->config, &own, f->arena, &plan, &f->error), IFM_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_run_verifies_and_prints_to_its_file_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(formats_md_gives_the_schemas_of_the_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_filled_is_left_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_plan_that_comes_later_leaves_a_folder_without_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_session_describes_itself_in_place_of_the_registry, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
