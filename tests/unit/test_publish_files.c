/* The files of a run folder: what they hold, and that verify names what was edited. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/file.h"
#include "facts.h"
#include "publish/compose.h"
#include "publish/paint/html.h"
#include "publish_sample.h"
#include "sample/manifest.h"
#include <unistd.h>

static struct ifm_error error;
static struct ifm_verified verified;
static char dir[256];
static const char *const names[] = {"derived.json", "verdict.json", "metrics.json", "elastic_kv.json",
                                    "report.csv",   "report.md",    "report.html",  "manifest.sha256"};

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/ifm-publish-XXXXXX", base == NULL ? "/tmp" : base);
    if (mkdtemp(dir) == NULL)
        return -1;
    struct ifm_publication publication = sample_publication(dir);
    return ifm_publish_files(&publication, &error) == IFM_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        unlink(path_of(names[i]));
    return rmdir(dir);
}

static char *content(const char *name)
{
    char *data;
    size_t size;
    assert_int_equal(ifm_file_read(path_of(name), 1 << 24, &data, &size, &error), IFM_OK);
    return data;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("\"%s\" must not stand in:\n%s", part, text);
}

static enum ifm_status verify(void)
{
    struct ifm_publication publication = sample_publication(dir);
    memset(&error, 0, sizeof error);
    return ifm_publish_verify(&publication, &verified, &error);
}

/* The error names the place, and what the file and the record say there; NULL: whatever it is. */
static void assert_differs(const char *place, const char *file, const char *record)
{
    char facts[128];
    assert_facts(error.message, place);
    if (file != NULL) {
        snprintf(facts, sizeof facts, "file says %s", file);
        assert_facts(error.message, facts);
    }
    if (record != NULL) {
        snprintf(facts, sizeof facts, "record gives %s", record);
        assert_facts(error.message, facts);
    }
}

/* Replace the first `old` of a file. */
static void edit(const char *name, const char *old, const char *new)
{
    char *data = content(name), *at = strstr(data, old);
    if (at == NULL)
        fail_msg("\"%s\" is missing in %s:\n%s", old, name, data);
    struct ifm_text text = {0};
    ifm_text_append(&text, data, (size_t)(at - data));
    ifm_text_add(&text, new);
    ifm_text_add(&text, at + strlen(old));
    assert_int_equal(ifm_file_write_atomic(path_of(name), text.data, text.size, &error), IFM_OK);
    ifm_text_free(&text);
    free(data);
}

static void fresh_files_verify_and_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_true(ifm_file_exists(path_of(names[i])));
    assert_int_equal(verify(), IFM_OK);
    assert_int_equal(ifm_manifest_check(dir, false, &error), IFM_OK);
}

static void verify_names_an_edited_number(void **state)
{
    (void)state;
    edit("derived.json", "412300.0", "402300.0");
    assert_int_equal(verify(), IFM_INVALID);
    assert_differs("derived.json|decode kv_len=4096|half|step_ns", "402300.0", "412300.0");
}

static void verify_accepts_the_last_bit_of_a_real_only(void **state)
{
    (void)state;
    edit("derived.json", "412300.0", "412300.0000000001");
    assert_int_equal(verify(), IFM_OK);
    edit("derived.json", "412300.0000000001", "412300.00001");
    assert_int_equal(verify(), IFM_INVALID);
}

static void verify_compares_integers_and_words_exactly(void **state)
{
    (void)state;
    edit("derived.json", "\"value\": 4800,", "\"value\": 4801,");
    assert_int_equal(verify(), IFM_INVALID);
    assert_facts(error.message, "samples_count");
    edit("derived.json", "4801,", "4800,");
    edit("derived.json", "no energy counter", "an energy counter");
    assert_int_equal(verify(), IFM_INVALID);
    assert_facts(error.message, "energy_per_token_j");
}

static void verify_sees_what_is_missing_or_added(void **state)
{
    (void)state;
    edit("metrics.json", "\"quality_delta_pct\": null,", "");
    assert_int_equal(verify(), IFM_INVALID);
    assert_differs("metrics.json|quality_delta_pct", "nothing", "null");
    edit("metrics.json", "\"l2_hit_pct\"", "\"quality_delta_pct\": null, \"l2_hit_pct\"");
    assert_int_equal(verify(), IFM_OK);
    edit("metrics.json", "\"l2_hit_pct\"", "\"extra\": 1, \"l2_hit_pct\"");
    assert_int_equal(verify(), IFM_INVALID);
    assert_differs("metrics.json|extra", "1", "nothing");
}

static void verify_sees_an_absent_number_made_up(void **state)
{
    (void)state;
    edit("metrics.json", "\"l2_hit_pct\": null", "\"l2_hit_pct\": 0");
    assert_int_equal(verify(), IFM_INVALID);
    assert_differs("metrics.json|l2_hit_pct", "0", "null");
}

static void verify_names_the_line_of_a_text(void **state)
{
    (void)state;
    edit("report.csv", ",half,variant,step_ns,412300,", ",half,variant,step_ns,312300,");
    assert_int_equal(verify(), IFM_INVALID);
    assert_facts(error.message, "report.csv|line 14");
    edit("report.csv", ",half,variant,step_ns,312300,", ",half,variant,step_ns,412300,");
    /* Another processor's logarithm may differ in the last bit, and in no other. */
    edit("report.csv", ",speedup,1.943,", ",speedup,1.9430000000000001,");
    assert_int_equal(verify(), IFM_OK);
    edit("report.csv", ",speedup,1.9430000000000001,", ",speedup,1.94300000001,");
    assert_int_equal(verify(), IFM_INVALID);
    edit("report.csv", ",speedup,1.94300000001,", ",speedup,1.943,");
    edit("report.md", "## BLOCKED", "## PASS");
    assert_int_equal(verify(), IFM_INVALID);
    assert_facts(error.message, "report.md|line 1");
    edit("report.md", "## PASS", "## BLOCKED");
    edit("report.html", "BLOCKED</div>", "PASS</div>");
    assert_int_equal(verify(), IFM_INVALID);
    assert_facts(error.message, "report.html|line ");
}

static void publish_as_another_version(void)
{
    char own[64];
    snprintf(own, sizeof own, "\"version\": \"%s\"", IFM_VERSION);
    edit("derived.json", own, "\"version\": \"0.0.9\"");
}

static void words_of_another_version_are_left_out_and_told_of(void **state)
{
    (void)state;
    publish_as_another_version();
    assert_int_equal(verify(), IFM_OK);
    assert_true(verified.words); /* it said the same */
    edit("report.md", "## BLOCKED", "## STOPPED");
    assert_int_equal(verify(), IFM_OK);
    assert_false(verified.words);
    assert_has(verified.publisher, "inferometer 0.0.9");
    edit("report.md", "## STOPPED", "## BLOCKED");
    edit("report.html", "BLOCKED</div>", "STOPPED</div>");
    edit("derived.json", "no energy counter", "nothing that counts energy");
    edit("report.csv", ",no energy counter is readable on this machine,", ",\"nothing \"\"counts\"\" energy, here\",");
    edit("metrics.json", "no energy counter", "nothing that counts energy");
    assert_int_equal(verify(), IFM_OK);
    assert_false(verified.words);
    edit("derived.json", "\"published_by\"", "\"other\"");
    assert_int_equal(verify(), IFM_INVALID); /* a member that the record does not give */
    assert_differs("derived.json|other", "", NULL);
    assert_facts(verified.publisher, "inferometer");
    assert_null(strpbrk(verified.publisher, "0123456789")); /* which version, nobody knows */
}

static void numbers_and_states_of_another_version_are_compared(void **state)
{
    (void)state;
    static const struct {
        const char *file, *old, *new, *place, *says, *gives;
    } edits[] = {
        {"derived.json", "412300.0", "402300.0", "decode kv_len=4096|half|step_ns", "402300.0", "412300.0"},
        {"derived.json", "\"n\": 4800", "\"n\": 4801", "derived.json", "4801", "4800"},
        {"derived.json", "\"state\": \"refused\"", "\"state\": \"absent\"", "state", "\"absent\"", "\"refused\""},
        {"derived.json", "\"metric\": \"speedup\"", "\"metric\": \"made_up\"", "derived.json", NULL, "nothing"},
        {"derived.json", "\"unit\": \"ns\"", "\"unit\": \"us\"", "unit", "\"us\"", "\"ns\""},
        {"verdict.json", "\"outcome\": \"blocked\"", "\"outcome\": \"pass\"", "verdict.json|outcome", "\"pass\"",
         "\"blocked\""},
        {"metrics.json", "\"l2_hit_pct\": null", "\"l2_hit_pct\": 0", "l2_hit_pct", "0", "null"},
        {"metrics.json", "\"quality_delta_pct\": null,", "", "quality_delta_pct", "nothing", "null"},
        {"report.csv", ",speedup,1.943,", ",speedup,1.944,", "half|speedup", "\"1.944\"", "\"1.943\""},
        {"report.csv", ",step_ns,412300,", ",step_ns,,", "half|step_ns", "\"\"", "\"412300\""},
        {"report.csv", "run_id,cell", "run_id", "report.csv|table", NULL, NULL},
    };
    publish_as_another_version();
    edit("report.md", "## BLOCKED", "## STOPPED");
    for (size_t i = 0; i < COUNT(edits); i++) {
        char *was = content(edits[i].file);
        edit(edits[i].file, edits[i].old, edits[i].new);
        assert_int_equal(verify(), IFM_INVALID);
        assert_differs(edits[i].place, edits[i].says, edits[i].gives);
        assert_int_equal(ifm_file_write_atomic(path_of(edits[i].file), was, strlen(was), &error), IFM_OK);
        free(was);
        assert_int_equal(verify(), IFM_OK);
    }
}

/* Another version may order its rows otherwise; none may be missing. */
static void rows_of_another_version_are_found_by_their_subject(void **state)
{
    (void)state;
    json_t *derived;
    publish_as_another_version();
    assert_int_equal(ifm_json_read(path_of("derived.json"), &derived, &error), IFM_OK);
    json_t *numbers = json_object_get(derived, "numbers"), *other = json_array();
    for (size_t i = json_array_size(numbers); i > 0; i--)
        json_array_append(other, json_array_get(numbers, i - 1));
    assert_true(json_array_size(other) > 20);
    json_object_set_new(derived, "numbers", other);
    assert_int_equal(ifm_json_write(path_of("derived.json"), derived, &error), IFM_OK);
    assert_int_equal(verify(), IFM_OK);
    json_object_set_new(json_array_get(other, 0), "value", json_real(0.5));
    assert_int_equal(ifm_json_write(path_of("derived.json"), derived, &error), IFM_OK);
    assert_int_equal(verify(), IFM_INVALID);
    assert_differs("derived.json", "0.5", NULL);
    json_array_remove(other, 0);
    assert_int_equal(ifm_json_write(path_of("derived.json"), derived, &error), IFM_OK);
    assert_int_equal(verify(), IFM_INVALID);
    assert_differs("derived.json", "nothing", NULL);
    json_decref(derived);
}

static void verify_wants_every_file(void **state)
{
    (void)state;
    unlink(path_of("verdict.json"));
    assert_int_equal(verify(), IFM_INVALID);
    assert_facts(error.message, "verdict.json|missing");
    assert_int_equal(ifm_file_write_atomic(path_of("verdict.json"), "{", 1, &error), IFM_OK);
    assert_int_equal(verify(), IFM_INVALID);
    assert_facts(error.message, "JSON");
}

static void metrics_json_has_the_standard_shape(void **state)
{
    (void)state;
    char *text = content("metrics.json");
    json_t *whole = json_loads(text, 0, NULL), *object = json_array_get(json_object_get(whole, "arms"), 0);
    const char *hash, *role, *candidate;
    double mean, tokens;
    int seed, repeats, warmup, fixed_clock;
    assert_int_equal(json_unpack(whole, "{s:{s:n,s:n,s:b,s:s,s:i},s:s,s:{s:n,s:n,s:i},s:n}", "env", "gpu", "driver",
                                 "fixed_clock", &fixed_clock, "hash", &hash, "seed", &seed, "arm", &candidate,
                                 "pipeline", "mode", "repeats", "warmup", &warmup, "quality_delta_pct"),
                     0);
    assert_string_equal(candidate, "half");
    assert_int_equal(strlen(hash), 12);
    assert_int_equal(json_array_size(json_object_get(whole, "arms")), 4); /* of six, two are ceilings */
    assert_int_equal(json_unpack(object, "{s:s,s:{s:n,s:i,s:i},s:{s:f},s:f,s:n,s:n,s:n}", "role", &role, "pipeline",
                                 "mode", "repeats", &repeats, "warmup", &warmup, "latency_ms", "mean", &mean,
                                 "throughput_toks_s", &tokens, "l2_hit_pct", "ept_j_per_tok", "quality_delta_pct"),
                     0);
    assert_string_equal(role, "baseline");
    assert_int_equal(seed, 7);
    assert_int_equal(repeats, 4800);
    assert_int_equal(warmup, 50);
    assert_false(fixed_clock);
    assert_true(mean > 0.8030 && mean < 0.8031);
    assert_true(tokens == 9984.3);
    const json_t *absent = json_object_get(json_object_get(object, "_absent"), "ept_j_per_tok");
    assert_string_equal(json_string_value(json_object_get(absent, "reason")), sample_numbers[11].value.reason);
    assert_non_null(json_object_get(json_object_get(object, "_absent"), "l2_hit_pct"));
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "_units"), "latency_ms.mean")), "ms");
    assert_int_equal(json_array_size(json_object_get(whole, "cells")), 3);
    const json_t *third = json_array_get(json_object_get(whole, "cells"), 2);
    absent = json_object_get(json_object_get(third, "_absent"), "latency_ms.p50");
    assert_string_equal(json_string_value(json_object_get(absent, "reason")), sample_cells[2].unsupported);
    json_decref(whole);
    free(text);
}

static void the_report_needs_no_network_and_runs_its_own_script_only(void **state)
{
    (void)state;
    char *html = content("report.html"), *script = strstr(html, "<script>");
    assert_non_null(script);
    assert_lacks(script + 1, "<script"); /* one, and none whose source is elsewhere */
    char *end = strstr(script, "</script>"), *policy = strstr(html, "script-src 'sha256-");
    assert_non_null(end);
    assert_true(end - script > 1000 && end - script <= 30 * 1024);
    assert_non_null(policy);
    assert_true(policy < script);
    assert_has(html, "default-src 'none'");
    assert_lacks(html, "http://");
    assert_lacks(html, "https://");
    assert_lacks(html, "url(");
    assert_lacks(html, dir);
    free(html);
}

static void the_report_shows_what_the_record_gives(void **state)
{
    (void)state;
    char *html = content("report.html");
    assert_true(strstr(html, "class=\"verdict warn\"") < strstr(html, "<table"));
    assert_has(html, "BLOCKED</div>");
    assert_has(html, "412.3 µs <span class=\"interval\">±0.8</span>");
    assert_has(html, "faster 1.94x");
    assert_has(html, "refused<sup><a href=\"#note-");
    char note[256];
    snprintf(note, sizeof note, "<li id=\"note-1\">%s. Remedy: %s", sample_numbers[11].value.reason,
             sample_numbers[11].value.remedy);
    assert_has(html, note);
    assert_has(html, "measured ceiling 23.09 GB/s");
    assert_has(html, "<path class=\"line\"");
    assert_has(html, "absent: no cpufreq here");
    assert_has(html, "Example CPU @ 2.10 GHz");
    assert_has(html, "inferometer rerun DIR");
    assert_has(html, "id=\"limits\"");
    assert_has(html, "2025-11-21 12:00 UTC");
    assert_lacks(html, ">nan");
    free(html);
}

static void hostile_names_are_escaped(void **state)
{
    (void)state;
    const struct ifm_setting settings[] = {{"decode.kv_len", "8192"}, {"decode.isa", "auto"}, {"decode.batch", "<b>"}};
    struct ifm_arm arms[] = {
        {.name = "<img src=x onerror='a()'>", .role = IFM_ROLE_BASELINE, .settings = settings, .n_settings = 3}};
    struct ifm_cell cells[] = {
        {.name = "a\"b & c|d", .workload = "decode", .arms = arms, .n_arms = 1, .unsupported = ""}};
    struct ifm_number numbers[] = {{"a\"b & c|d", "<img src=x onerror='a()'>", IFM_M_STEP_NS, {.number = 5}}};
    sample_fill(numbers, 1);
    struct ifm_plan plan = sample_plan;
    plan.cells = cells;
    plan.n_cells = 1;
    struct ifm_derived derived = sample_derived;
    derived.numbers = numbers;
    derived.n_numbers = 1;
    struct ifm_publication publication = sample_publication(NULL);
    publication.plan = &plan;
    publication.derived = &derived;
    struct ifm_text html = {0}, md = {0};
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
    assert_lacks(html.data, "<img");
    assert_has(html.data, "&lt;img src=x onerror=&#39;a()&#39;&gt;");
    assert_has(html.data, "a&quot;b &amp; c|d");
    assert_has(html.data, "kv_len 8192, batch &lt;b&gt;, 0 threads"); /* the shape; what nobody chose is left out */
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_FOLDED, false, true, &md, &error), IFM_OK);
    assert_has(md.data, "\\<img src=x onerror='a()'\\>");
    assert_has(md.data, "c\\|d");
    ifm_text_free(&html);
    ifm_text_free(&md);
}

static void a_run_without_facts_still_reports(void **state)
{
    (void)state;
    struct ifm_publication publication = sample_publication(NULL);
    publication.events = NULL;
    publication.lock = NULL;
    struct ifm_text html = {0};
    assert_int_equal(ifm_compose_document(&publication, IFM_LEVEL_PAGE, false, true, &html, &error), IFM_OK);
    assert_has(html.data, "environment event");
    json_t *metrics = ifm_compat_sop(&publication);
    assert_true(json_is_null(json_object_get(json_object_get(metrics, "env"), "fixed_clock")));
    assert_non_null(json_object_get(json_object_get(metrics, "_absent"), "env.fixed_clock"));
    json_decref(metrics);
    ifm_text_free(&html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fresh_files_verify_and_are_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verify_names_an_edited_number, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verify_accepts_the_last_bit_of_a_real_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verify_compares_integers_and_words_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verify_sees_what_is_missing_or_added, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verify_sees_an_absent_number_made_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verify_names_the_line_of_a_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(words_of_another_version_are_left_out_and_told_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_and_states_of_another_version_are_compared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_another_version_are_found_by_their_subject, set_up, tear_down),
        cmocka_unit_test_setup_teardown(verify_wants_every_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(metrics_json_has_the_standard_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_report_needs_no_network_and_runs_its_own_script_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_report_shows_what_the_record_gives, set_up, tear_down),
        cmocka_unit_test(hostile_names_are_escaped),
        cmocka_unit_test(a_run_without_facts_still_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
