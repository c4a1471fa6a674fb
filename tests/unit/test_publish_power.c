/* What is published of an energy pass: power.csv and its kin, metrics.json, the tables of energy. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/file.h"
#include "energy_sample.h"
#include "fact_pieces.h"
#include "facts.h"
#include "power_pass.h"
#include "publish/compose.h"
#include <locale.h>
#include <unistd.h>

static struct power_sample power;

static void expect(const char *text, const char *words)
{
    if (text == NULL || strstr(text, words) == NULL)
        fail_msg("\"%.4000s\" does not say \"%s\"", text == NULL ? "" : text, words);
}

static void expect_none(const char *text, const char *words)
{
    if (text != NULL && strstr(text, words) != NULL)
        fail_msg("\"%.4000s\" says \"%s\"", text, words);
}

static size_t lines_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

static const struct ifm_power_file *file_of(const struct ifm_power_files *files, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->list[i].name, name) == 0)
            return &files->list[i];
    fail_msg("no file %s", name);
    return NULL;
}

/* ---- files ---- */

static void every_sensor_has_its_file(void **state)
{
    static const char *const names[] = {"power.csv",
                                        "power_gpu0_nvml_energy.csv",
                                        "power_gpu0_nvml_samples.csv",
                                        "power_gpu0_nvml_memory.csv",
                                        "power_gpu0_nvml_instant.csv",
                                        "power_cpu0_rapl.csv"};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_files files;
    (void)state;
    power_sample_make(&power, NULL);
    ifm_power_files_of(&power.shown, 1, arena, &files);
    assert_int_equal(files.n, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(files.list[i].name, names[i]);
    const char *sum = files.list[0].text.data;
    assert_int_equal(strncmp(sum, "t_s,power_w\n30.050000,159.000\n30.150000,", 40), 0);
    assert_int_equal(lines_of(sum), 1 + POWER_STEPS);
    /* The first twenty steps of this sensor had no reading: no line, no zero. */
    const char *memory = file_of(&files, "power_gpu0_nvml_memory.csv")->text.data;
    assert_int_equal(lines_of(memory), 1 + POWER_STEPS - 20);
    assert_int_equal(strncmp(memory, "t_s,power_w\n32.050000,", 22), 0);
    for (size_t i = 0; i < files.n; i++) {
        expect_none(files.list[i].text.data, "nan");
        expect_none(files.list[i].text.data, ",0.000\n");
    }
    ifm_power_files_free(&files);
    ifm_arena_destroy(arena);
}

/* The second cell of the plan ran first: time decides, and a file holds both. */
static void cells_stand_in_time_order(void **state)
{
    static double later[] = {20, NAN, 22}, earlier[] = {10, 11};
    struct ifm_power_trace a = {
        .device = "", .source = "", .start_ns = INT64_C(9000000000), .hz = 1, .watts = later, .n = 3};
    struct ifm_power_trace b = {
        .device = "", .source = "", .start_ns = INT64_C(2000000000), .hz = 1, .watts = earlier, .n = 2};
    struct ifm_power_shown cells[] = {{.traces = &a, .n_traces = 1}, {.traces = &b, .n_traces = 1}};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_files files;
    (void)state;
    ifm_power_files_of(cells, 2, arena, &files);
    assert_int_equal(files.n, 1);
    assert_string_equal(files.list[0].text.data, "t_s,power_w\n2.500000,10.000\n3.500000,11.000\n9.500000,20.000\n"
                                                 "11.500000,22.000\n");
    ifm_power_files_free(&files);
    ifm_arena_destroy(arena);
}

static void nothing_leads_out_of_the_folder(void **state)
{
    static double watts[] = {1};
    struct ifm_power_trace traces[] = {
        {.device = "../gpu0", .source = "a/b", .hz = 1, .watts = watts, .n = 1},
        {.device = "..-gpu0", .source = "a.b", .hz = 1, .watts = watts, .n = 1},
    };
    struct ifm_power_shown cell = {.traces = traces, .n_traces = 2};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_files files;
    (void)state;
    ifm_power_files_of(&cell, 1, arena, &files);
    assert_int_equal(files.n, 2);
    assert_string_equal(files.list[0].name, "power_---gpu0_a-b.csv");
    assert_string_equal(files.list[1].name, "power_---gpu0_a-b-2.csv");
    ifm_power_files_free(&files);
    ifm_arena_destroy(arena);
}

static void no_reading_no_file(void **state)
{
    static double watts[] = {NAN, NAN};
    struct ifm_power_trace trace = {.device = "", .source = "", .hz = 1, .watts = watts, .n = 2};
    struct ifm_power_shown cell = {.traces = &trace, .n_traces = 1};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_power_files files;
    (void)state;
    ifm_power_files_of(&cell, 1, arena, &files);
    assert_int_equal(files.n, 0);
    ifm_power_files_free(&files);
    ifm_arena_destroy(arena);
}

static void a_stranger_s_power_csv_is_refused(void **state)
{
    char dir[] = "/tmp/ifm-power-XXXXXX", path[64];
    struct ifm_error error = {0};
    struct ifm_verified verified;
    (void)state;
    assert_non_null(mkdtemp(dir));
    struct ifm_publication publication = sample_publication(dir);
    assert_int_equal(ifm_publish_files(&publication, &error), IFM_OK);
    assert_int_equal(ifm_publish_verify(&publication, &verified, &error), IFM_OK);
    snprintf(path, sizeof path, "%s/power.csv", dir);
    assert_int_equal(ifm_file_write_atomic(path, "t_s,power_w\n", 12, &error), IFM_OK);
    assert_int_equal(ifm_publish_verify(&publication, &verified, &error), IFM_INVALID);
    assert_facts(error.message, "power.csv|reading");
    assert_int_equal(ifm_publish_files(&publication, &error), IFM_INVALID); /* nor does a manifest vouch for it */
    assert_facts(error.message, "power.csv|reading");
    static const char *const strays[] = {"power_gpu0_x.csv", "config_01.json", "config_17.json", "summary.json"};
    unlink(path);
    for (size_t i = 0; i < COUNT(strays); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, strays[i]);
        assert_int_equal(ifm_file_write_atomic(path, "", 0, &error), IFM_OK);
        assert_int_equal(ifm_publish_files(&publication, &error), IFM_INVALID);
        assert_facts(error.message, strays[i]);
        unlink(path);
    }
    assert_int_equal(ifm_publish_files(&publication, &error), IFM_OK);
    static const char *const names[] = {"derived.json", "verdict.json", "metrics.json",    "elastic_kv.json",
                                        "report.csv",   "report.md",    "manifest.sha256", "report.html"};
    for (size_t i = 0; i < COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(dir), 0);
}

/* ---- metrics.json ---- */

static double real(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_number(value))
        fail_msg("%s is no number", name);
    return json_number_value(value);
}

static const char *absent(const json_t *object, const char *name, const char *what)
{
    if (!json_is_null(json_object_get(object, name)))
        fail_msg("%s is not null", name);
    const json_t *entry = json_object_get(json_object_get(object, "_absent"), name);
    return json_string_value(json_object_get(entry, what));
}

/* The baseline stands beside the candidate, which leads. */
static json_t *baseline_of(const json_t *metrics)
{
    json_t *baseline = json_array_get(json_object_get(metrics, "arms"), 0);
    assert_string_equal(json_string_value(json_object_get(baseline, "role")), "baseline");
    return baseline;
}

static void metrics_json_has_energy(void **state)
{
    static struct energy_sample s;
    (void)state;
    energy_sample_make(&s);
    json_t *metrics = ifm_compat_sop(&s.publication), *object = baseline_of(metrics);
    assert_string_equal(json_string_value(json_object_get(metrics, "arm")), "half");
    assert_true(real(metrics, "ept_j_per_tok") == 0.0361);
    assert_true(real(object, "ept_j_per_tok") == 0.0862);
    assert_true(real(object, "total_energy_j") == 29640);
    assert_true(real(object, "gpu_energy_j") == 27339);
    assert_true(real(object, "cpu_energy_j") == 2301);
    assert_true(real(object, "gpu_power_w") == 690.4);
    assert_true(real(object, "cpu_power_w") == 58.1);
    assert_true(real(object, "duration_sec") == 39.6);
    const json_t *ci = json_object_get(json_object_get(object, "_ci"), "total_energy_j");
    assert_true(real(ci, "low") == 29580 && real(ci, "high") == 29700);
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "_units"), "total_energy_j")), "J");
    assert_true(real(json_object_get(object, "_n"), "duration_sec") == 4);
    json_decref(metrics);
}

static void metrics_json_says_why_not(void **state)
{
    static struct energy_sample s;
    (void)state;
    struct ifm_publication publication = sample_publication(NULL);
    json_t *object = ifm_compat_sop(&publication);
    expect(absent(object, "total_energy_j", "reason"), "energy pass");
    expect(absent(object, "power_csv", "remedy"), "--energy");
    expect(absent(baseline_of(object), "ept_j_per_tok", "reason"), "energy counter"); /* derive's own words */
    json_decref(object);
    energy_sample_make(&s);
    s.derived.n_numbers = 3;
    json_t *events = json_loads(sample_events, 0, NULL);
    struct ifm_arena *arena = ifm_arena_create();
    json_array_append_new(events, json_pack("{s:s, s:{s:s, s:s, s:s, s:s}}", "stage", "power_absent", "meta", "cell", D,
                                            "source", "rapl", "reason", "root alone may read it", "remedy", "sudo"));
    s.publication.events = events_of(events, arena);
    object = ifm_compat_sop(&s.publication);
    assert_string_equal(absent(object, "total_energy_j", "reason"), "rapl: root alone may read it");
    assert_string_equal(absent(object, "power_csv", "remedy"), "sudo");
    json_decref(object);
    json_decref(events);
    ifm_arena_destroy(arena);
}

/* ---- tables ---- */

static void the_terminal_has_a_table_of_energy(void **state)
{
    static struct energy_sample s;
    struct ifm_text out = {0};
    struct ifm_error error = {0};
    (void)state;
    energy_sample_make(&s);
    assert_int_equal(ifm_compose_document(&s.publication, IFM_LEVEL_ALWAYS, false, true, &out, &error), IFM_OK);
    expect(out.data, "\n  Energy\n");
    expect(out.data, "energy/token");
    expect(out.data, "86.2 mJ");
    expect(out.data, "690.4 W");
    expect(out.data, "11.60/J");
    expect(out.data, "-58.1 %");
    expect(out.data, "[-58.4, -57.8]");
    assert_line(out.data, "not included|gpu0|±5 %|nvml_energy");
    assert_facts(out.data, "2 windows are left|--energy-windows 8");
    for (const char *line = out.data; *line != '\0';) {
        size_t width = 0;
        for (; *line != '\n'; line++)
            width += ((unsigned char)*line & 0xc0) != 0x80;
        line++;
        if (width > 100)
            fail_msg("a line of %zu columns", width);
    }
    ifm_text_clear(&out);
    assert_int_equal(ifm_compose_document(&s.publication, IFM_LEVEL_FOLDED, false, true, &out, &error), IFM_OK);
    expect(out.data, "| arm | energy/token | above idle |");
    expect(out.data, "| **plain** | 86.2 mJ ±0.2 | 70.2 mJ ±0.2 |");
    ifm_text_free(&out);
}

static void cells_without_tokens_are_told_by_the_step(void **state)
{
    static struct energy_sample s;
    struct ifm_text out = {0};
    struct ifm_error error = {0};
    (void)state;
    energy_sample_make(&s);
    for (size_t i = 0; i < s.derived.n_numbers; i++)
        if (s.numbers[i].metric == IFM_M_ENERGY_PER_TOKEN_J)
            s.numbers[i].value.state = IFM_STATE_ABSENT;
    assert_int_equal(ifm_compose_document(&s.publication, IFM_LEVEL_FOLDED, false, true, &out, &error), IFM_OK);
    expect(out.data, "| arm | energy/step |");
    expect(out.data, "| **plain** | 0.4312 J ±0.0009 |");
    ifm_text_free(&out);
}

static void a_pass_without_sensors_says_so(void **state)
{
    static struct energy_sample s;
    struct ifm_text out = {0};
    struct ifm_error error = {0};
    (void)state;
    energy_sample_make(&s);
    s.derived.n_numbers = 3;
    assert_int_equal(ifm_compose_document(&s.publication, IFM_LEVEL_ALWAYS, false, true, &out, &error), IFM_OK);
    expect(out.data, "\n  Energy\n  absent: ");
    assert_line(out.data, "absent: |power|`inferometer power`");
    json_t *events = json_loads(sample_events, 0, NULL);
    struct ifm_arena *arena = ifm_arena_create();
    const char *const causes[][3] = {{"nvml", "no driver", "install it"},
                                     {"rapl_package", "no zone", "measure on the host"},
                                     {"perf_package", "no zone", "measure on the host"}};
    for (size_t i = 0; i < 3; i++)
        json_array_append_new(events,
                              json_pack("{s:s, s:{s:s, s:s, s:s, s:s}}", "stage", "power_absent", "meta", "cell", D,
                                        "source", causes[i][0], "reason", causes[i][1], "remedy", causes[i][2]));
    s.publication.events = events_of(events, arena); /* each reason beside its own remedy */
    assert_int_equal(ifm_compose_document(&s.publication, IFM_LEVEL_ALWAYS, false, true, &out, &error), IFM_OK);
    expect(out.data, "\n  Energy\n  absent: ");
    assert_line(out.data, "nvml: no driver|install it");
    assert_line(out.data, "rapl_package, perf_package: no zone|measure on the host");
    json_decref(events);
    ifm_arena_destroy(arena);
    ifm_text_free(&out);
    struct ifm_publication without = sample_publication(NULL);
    assert_int_equal(ifm_compose_document(&without, IFM_LEVEL_ALWAYS, false, true, &out, &error), IFM_OK);
    expect_none(out.data, "\n  Energy\n");
    ifm_text_free(&out);
}

static void the_page_leads_with_energy_too(void **state)
{
    static struct energy_sample s;
    struct ifm_text out = {0};
    struct ifm_error error = {0};
    (void)state;
    energy_sample_make(&s);
    assert_int_equal(ifm_compose_document(&s.publication, IFM_LEVEL_PAGE, false, true, &out, &error), IFM_OK);
    expect(out.data, "<strong>-58.1 %</strong> [-58.4, -57.8]");
    expect(out.data, "<h3>Energy</h3>");
    expect(out.data, "ratios");
    ifm_text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sensor_has_its_file),
        cmocka_unit_test(cells_stand_in_time_order),
        cmocka_unit_test(nothing_leads_out_of_the_folder),
        cmocka_unit_test(no_reading_no_file),
        cmocka_unit_test(a_stranger_s_power_csv_is_refused),
        cmocka_unit_test(metrics_json_has_energy),
        cmocka_unit_test(metrics_json_says_why_not),
        cmocka_unit_test(the_terminal_has_a_table_of_energy),
        cmocka_unit_test(cells_without_tokens_are_told_by_the_step),
        cmocka_unit_test(a_pass_without_sensors_says_so),
        cmocka_unit_test(the_page_leads_with_energy_too),
    };
    setlocale(LC_ALL, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
