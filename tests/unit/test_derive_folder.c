/* The readings of sensors of power in a run folder: which files are loaded, and what a missing or broken one means. */
#include "unit/power_sample.h"

#include "base/json.h"
#include "model/plan_json.h"
#include "unit/sample_folder.h"

static struct ps p;
static struct folder folder;

static void write_json_lines(void)
{
    struct ifm_text text = {0};
    size_t i;
    json_t *event;
    json_array_foreach(p.fx.events, i, event)
    {
        ifm_json_print(event, false, &text);
        if (text.data[text.size - 1] != '\n')
            ifm_text_append(&text, "\n", 1);
    }
    folder_write(&folder, "run.log", text.data, text.size);
    ifm_text_free(&text);
}

static void write_text(const char *name, const char *text)
{
    folder_write(&folder, name, text, strlen(text));
}

/* A folder with a plan, a journal, and the readings that a test writes. */
static enum ifm_status open_folder(struct ifm_facts *facts, struct ifm_error *error)
{
    json_t *plan = ifm_plan_to_json(&p.fx.plan);
    assert_int_equal(ifm_json_write(folder_name(&folder, "plan.json"), plan, error), IFM_OK);
    json_decref(plan);
    write_json_lines();
    return ifm_facts_open(folder.path, NULL, 0, p.fx.arena, facts, error);
}

static void start(void)
{
    folder = folder_make();
    assert_int_equal(mkdir(folder_name(&folder, "samples"), 0700), 0);
    ps_plain(&p);
    ps_event(&p, "gpu0", "nvml_energy", "counter", 0.1, NULL);
    ps_event(&p, "gpu0", "nvml_samples", "samples", 0.02, NULL);
}

static void stop(struct ifm_facts *facts)
{
    ifm_facts_close(facts);
    ps_stop(&p);
    folder_remove(&folder);
}

static void every_sensor_is_loaded_once(void **state)
{
    (void)state;
    struct ifm_facts facts;
    struct ifm_error error = {0};
    start();
    ps_event(&p, "gpu0", "nvml_energy", "counter", 0.1, NULL); /* another session */
    write_text("samples/0-power-gpu0-nvml_energy.csv", "t_ns,half_ns,energy_uj\n1000,10,0\n2000,10,55\n");
    if (open_folder(&facts, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    const struct ifm_cell_readings *cell = &facts.view.readings[0];
    assert_int_equal(cell->n, 2);
    assert_string_equal(cell->sensors[0].source, "nvml_energy");
    assert_int_equal(cell->sensors[0].readings->n, 2);
    assert_true(cell->sensors[0].readings->joules);
    assert_int_equal(cell->sensors[0].readings->list[1].micro, 55);
    assert_null(cell->sensors[1].readings); /* missing, not empty */
    stop(&facts);
}

static void a_broken_file_is_invalid(void **state)
{
    (void)state;
    struct ifm_facts facts;
    struct ifm_error error = {0};
    start();
    write_text("samples/0-power-gpu0-nvml_samples.csv", "t_ns,half_ns,power_uw\n1000,10,x\n");
    assert_int_equal(open_folder(&facts, &error), IFM_INVALID);
    assert_non_null(strstr(error.where, "0-power-gpu0-nvml_samples.csv"));
    stop(&facts);
}

/* The journal may have been edited: a name is no way out of the folder. */
static void a_name_is_no_path(void **state)
{
    (void)state;
    static const char *const bad[] = {"../gpu0", "gpu0/x", "", "GPU"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ifm_facts facts;
        struct ifm_error error = {0};
        start();
        ps_event(&p, bad[i], "nvml_energy", "counter", 0.1, NULL);
        assert_int_equal(open_folder(&facts, &error), IFM_INVALID);
        assert_non_null(strstr(error.message, "plain names"));
        stop(&facts);
    }
}

/* A cell without an energy pass has no readings, whatever the journal says. */
static void no_pass_no_readings(void **state)
{
    (void)state;
    struct ifm_facts facts;
    struct ifm_error error = {0};
    start();
    p.fx.cells[0].n_passes = 1;
    assert_int_equal(open_folder(&facts, &error), IFM_OK);
    assert_int_equal(facts.view.readings[0].n, 0);
    stop(&facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sensor_is_loaded_once),
        cmocka_unit_test(a_broken_file_is_invalid),
        cmocka_unit_test(a_name_is_no_path),
        cmocka_unit_test(no_pass_no_readings),
    };
    return cmocka_run_group_tests_name("derive_folder", tests, NULL, NULL);
}
