/* Configuration: precedence, presets, overrides, flags, and the rules between fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config_sample.h"
#include "facts.h"
#include <string.h>

static void yaml(struct ifm_config *config, const char *text)
{
    struct ifm_error error = {0};
    if (ifm_config_yaml(config, text, strlen(text), "c.yaml", &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
}

static void override(struct ifm_config *config, const char *text)
{
    struct ifm_error error = {0};
    if (ifm_config_override(config, text, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
}

static void flag(struct ifm_config *config, const char *workload, const char *name, const char *value)
{
    struct ifm_error error = {0};
    bool known = false;
    if (ifm_config_flag(config, workload, name, value, &known, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    assert_true(known);
}

static const struct ifm_study *resolved(struct ifm_config *config)
{
    struct ifm_error error = {0};
    if (ifm_config_resolve(config, &error) != IFM_OK)
        fail_msg("%s: %s", error.where, error.message);
    return ifm_config_study(config);
}

static void refused(struct ifm_config *config, const char *where, const char *message, const char *hint)
{
    struct ifm_error error = {0};
    assert_int_equal(ifm_config_resolve(config, &error), IFM_USAGE);
    assert_facts(error.message, message);
    assert_string_equal(error.where, where);
    assert_facts(error.hint, hint);
    ifm_config_destroy(config);
}

/* Every table: distinct paths and flags, defaults that parse and are stable, help in one style. */
static void tables_are_sound(void **state)
{
    (void)state;
    static const struct ifm_section *const sections[] = {&ifm_section_general, &ifm_section_device,
                                                         &ifm_section_measure, &ifm_section_arm, &ifm_section_gate};
    struct ifm_arena *arena = ifm_arena_create();
    struct ifm_error error = {0};
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        for (size_t i = 0; i < sections[s]->n; i++) {
            const struct ifm_param *row = &sections[s]->rows[i];
            uint64_t first[4] = {0}, second[4] = {0};
            assert_true(row->offset < sections[s]->size);
            assert_true(row->help[0] != '\0' && row->help[strlen(row->help) - 1] != '.');
            assert_true(ifm_param_range(row, arena)[0] != '\0');
            for (size_t j = 0; j < i; j++) {
                assert_string_not_equal(row->path, sections[s]->rows[j].path);
                if (row->flag != NULL && sections[s]->rows[j].flag != NULL)
                    assert_string_not_equal(row->flag, sections[s]->rows[j].flag);
            }
            if (row->fallback == NULL)
                continue;
            assert_int_equal(ifm_param_parse(row, row->fallback, "", arena, first, &error), IFM_OK);
            const char *text = ifm_param_print(row, first, arena);
            assert_int_equal(ifm_param_parse(row, text, "", arena, second, &error), IFM_OK);
            assert_string_equal(ifm_param_print(row, second, arena), text);
        }
    }
    ifm_arena_destroy(arena);
}

static void flags_beat_overrides_beat_files_beat_defaults(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {42, 1, 2, 3};
    for (int top = 0; top < 4; top++) {
        struct ifm_config *config = ifm_config_create(sample_sections);
        /* In an order that is not the order of ranks. */
        if (top >= 3)
            flag(config, NULL, "seed", "3");
        if (top >= 1)
            yaml(config, "seed: 1\n");
        if (top >= 2)
            override(config, "seed=2");
        flag(config, NULL, "workload", "decode");
        assert_int_equal(resolved(config)->seed, seeds[top]);
        ifm_config_destroy(config);
    }
}

static void later_wins_among_equals(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nseed: 1\n");
    yaml(config, "seed: 2\n");
    override(config, "measure.cap=1s");
    override(config, "measure.cap=2s");
    flag(config, NULL, "warmup", "1");
    flag(config, NULL, "warmup", "2");
    const struct ifm_study *study = resolved(config);
    assert_int_equal(study->seed, 2);
    assert_true(study->measure.cap_s == 2);
    assert_int_equal(study->measure.warmup, 2);
    ifm_config_destroy(config);
}

/* A quarter of the cap at most, unless a cap of its own was set; with a number of repeats the other cap counts for
 * nothing. */
/* A flag of a script and one of its caller: the last counts, and that there were two is said. */
static void a_flag_given_twice_is_known(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    flag(config, NULL, "cap", "5s");
    flag(config, NULL, "cap", "5s");
    assert_null(ifm_config_given_twice(config));
    flag(config, NULL, "cap", "6s");
    assert_string_equal(ifm_config_given_twice(config), "--cap");
    ifm_config_destroy(config);
}

static void a_short_cap_shortens_the_warm_up(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double warmup_cap_s;
    } rows[] = {{"workload: decode\n", 2.5},
                {"workload: decode\nmeasure.cap: 3s\n", 0.75},
                {"workload: decode\nmeasure.cap: 60s\n", 5},
                {"workload: decode\nmeasure: {cap: 3s, warmup_cap: 4s}\n", 4},
                {"workload: decode\nmeasure: {cap: 3s, repeats: 10}\n", 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ifm_config *config = ifm_config_create(sample_sections);
        yaml(config, rows[i].text);
        assert_true(resolved(config)->measure.warmup_cap_s == rows[i].warmup_cap_s);
        json_t *lock = ifm_config_lock_json(config);
        const json_t *told = json_object_get(json_object_get(lock, "parameters"), "measure.warmup_cap");
        assert_true(json_number_value(told) == rows[i].warmup_cap_s);
        json_decref(lock);
        ifm_config_destroy(config);
    }
}

static void presets_rank_between_defaults_and_the_rest(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\npreset: quick\nmeasure.cap: 3s\n");
    const struct ifm_measure *measure = &resolved(config)->measure;
    assert_int_equal(measure->warmup, 10);
    assert_true(measure->cap_s == 3);
    assert_true(measure->mde == 0.05);
    ifm_config_destroy(config);

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\npreset: quick\n");
    flag(config, NULL, "preset", "sop");
    measure = &resolved(config)->measure;
    assert_int_equal(measure->warmup, 50);
    assert_int_equal(measure->stop, IFM_STOP_REPEATS);
    assert_int_equal(measure->repeats, 1000);
    assert_true(measure->mde == 0.01);
    ifm_config_destroy(config);
}

static void repeats_alone_chooses_the_stop_rule(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.repeats: 7\n");
    assert_int_equal(resolved(config)->measure.stop, IFM_STOP_REPEATS);
    assert_int_equal(ifm_config_study(config)->measure.repeats, 7);
    ifm_config_destroy(config);

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure: {repeats: 7, stop: mde}\n");
    assert_int_equal(resolved(config)->measure.stop, IFM_STOP_MDE);
    ifm_config_destroy(config);

    /* A flag is a later wish than a rule that stands in the file. */
    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.stop: mde\n");
    flag(config, NULL, "repeats", "7");
    assert_int_equal(resolved(config)->measure.stop, IFM_STOP_REPEATS);
    ifm_config_destroy(config);
}

static void overrides(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    override(config, "workload=decode,copy_test");
    override(config, "decode.kv_len=512, 1024");
    override(config, "device.kind=fake");
    override(config, "device.script=step_ns=10; noise=0");
    const struct ifm_study *study = resolved(config);
    assert_int_equal(study->n_workloads, 2);
    assert_string_equal(study->workloads[1], "copy_test");
    assert_string_equal(ifm_config_device(config)->script, "step_ns=10; noise=0");
    ifm_config_destroy(config);

    static const struct {
        const char *text, *where, *message, *hint;
    } bad[] = {
        {"seed", "--override", "'seed' is not of the form path=value",
         "write path=value, for example --override seed=7"},
        {"=1", "--override", "'=1' is not of the form path=value", "write path=value, for example --override seed=7"},
        {"sede=1", "--override sede", "unknown key 'sede'", "did you mean 'seed'?"},
        {"decode.kvlen=1", "--override decode.kvlen", "unknown key 'decode.kvlen'", "did you mean 'decode.kv_len'?"},
        {"seed=", "--override seed", "seed has no value; allowed: 0 .. 18446744073709551615", "such as 42"},
        {"measure.mde=0.1,0.2", "--override measure.mde", "measure.mde: '0.1,0.2' is not a number; allowed: 1e-06 .. 1",
         ""},
        {"arms=x", "--override arms", "arms cannot be overridden: each is a list of records",
         "write them into a configuration file and give it with -c"},
        {"device.script=\xff", "--override device.script", "the value is not UTF-8 text", "write the value in UTF-8"},
    };
    config = ifm_config_create(sample_sections);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ifm_error error = {0};
        assert_int_equal(ifm_config_override(config, bad[i].text, &error), IFM_USAGE);
        assert_string_equal(error.message, bad[i].message);
        assert_string_equal(error.where, bad[i].where);
        assert_string_equal(error.hint, bad[i].hint);
    }
    ifm_config_destroy(config);
}

static void flags(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    bool known = true;
    flag(config, NULL, "workload", "decode");
    flag(config, "decode", "kv-len", "512,1024");
    flag(config, NULL, "no-huge-pages", NULL);
    flag(config, "decode", "check", NULL);
    assert_int_equal(ifm_config_flag(config, NULL, "kv-len", "1", &known, &error), IFM_OK);
    assert_false(known); /* a workload's flag outside its quick form */
    assert_int_equal(ifm_config_flag(config, "copy_test", "kv-len", "1", &known, &error), IFM_OK);
    assert_false(known);
    assert_int_equal(ifm_config_flag(config, NULL, "no-seed", NULL, &known, &error), IFM_OK);
    assert_false(known);
    assert_int_equal(ifm_config_flag(config, "decode", "kv-len", "0", &known, &error), IFM_USAGE);
    assert_string_equal(error.where, "--kv-len");
    assert_facts(error.message, "decode.kv_len|1048576");
    assert_int_equal(ifm_config_flag(config, NULL, "seed", NULL, &known, &error), IFM_USAGE);
    assert_string_equal(error.where, "--seed");
    assert_facts(error.message, "18446744073709551615");
    assert_int_equal(ifm_config_flag(config, NULL, "no-huge-pages", "true", &known, &error), IFM_USAGE);
    assert_facts(error.message, "--no-huge-pages");
    assert_int_equal(ifm_config_flag(config, NULL, "huge-pages", "off", &known, &error), IFM_USAGE);
    assert_facts(error.message, "device.huge_pages|'off'");
    resolved(config);
    assert_false(ifm_config_device(config)->huge_pages);
    ifm_config_destroy(config);
}

static void flag_lookups(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    assert_true(ifm_config_flag_takes_value(config, NULL, "seed"));
    assert_false(ifm_config_flag_takes_value(config, NULL, "huge-pages"));
    assert_false(ifm_config_flag_takes_value(config, NULL, "no-huge-pages"));
    assert_false(ifm_config_flag_takes_value(config, NULL, "kv-len"));
    assert_true(ifm_config_flag_takes_value(config, "decode", "kv-len"));
    assert_string_equal(ifm_config_nearest_flag(config, "decode", "kvlen"), "kv-len");
    assert_string_equal(ifm_config_nearest_flag(config, NULL, "repeat"), "repeats");
    assert_null(ifm_config_nearest_flag(config, NULL, "xyzzyplugh"));
    ifm_config_destroy(config);
}

static void rules_between_fields(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    refused(config, "", "copy_test", "'workload: NAME'|--workload");

    config = ifm_config_create(sample_sections);
    flag(config, NULL, "workload", "decoed");
    refused(config, "--workload", "'decoed'|copy_test", "'decode'");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\ncopy_test:\n  size: 1KiB\n");
    refused(config, "c.yaml:3:9", "copy_test.size|'copy_test'", "'copy_test'|'workload'");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.blocks_min: 9\n");
    override(config, "measure.blocks_max=8");
    refused(config, "--override measure.blocks_max", "measure.blocks_min|9|measure.blocks_max|8",
            "measure.blocks_min|measure.blocks_max");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.margin: 0.02\nmeasure.mde: 0.01\n");
    refused(config, "c.yaml:3:14", "measure.mde|0.01|measure.margin|0.02", "measure.mde|measure.margin");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.stop: group\n");
    refused(config, "measure.stop", "measure.stop=group|measure.blocks_max|30|100000 blocks", "measure.blocks_max|100");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.stop: group\nmeasure.blocks_max: 29\n");
    refused(config, "c.yaml:3:21", "measure.stop=group|measure.blocks_max|30|100000 blocks", "measure.blocks_max|100");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\ndevice.kind: fake\nmeasure.isolation: processes\n");
    refused(config, "c.yaml:3:20", "measure.isolation=processes|'fake'", "measure.isolation=shared|device.kind=cpu");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nceilings: [none, read]\n");
    refused(config, "c.yaml:2:12", "'none'", "write|alone");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\ndevice.script: step_ns=1\n");
    refused(config, "c.yaml:2:16", "device.script|'fake'|device.kind|'cpu'", "device.kind");
}

static void settings_of_energy_need_energy(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.energy_window: 2s\n");
    refused(config, "c.yaml:2:24", "measure.energy_window", "measure.energy=true|--energy");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.power_meter: meter.csv\n");
    refused(config, "c.yaml:2:22", "measure.power_meter|measure.energy", "measure.energy=true|--energy");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.energy: true\nmeasure.isolation: processes\n");
    refused(config, "c.yaml:3:20", "measure.energy|measure.isolation=processes",
            "measure.isolation=shared|measure.energy");

    config = ifm_config_create(sample_sections);
    yaml(config, "workload: decode\nmeasure.energy: true\nmeasure.energy_window: 2s\n");
    assert_true(resolved(config)->measure.energy);
    assert_true(ifm_config_study(config)->measure.energy_window_s == 2);
    ifm_config_destroy(config);

    config = ifm_config_create(sample_sections); /* what it would be anyway */
    yaml(config, "workload: decode\nmeasure.energy_window: 10s\nmeasure.pre_roll: 0\n");
    assert_true(resolved(config)->measure.pre_roll_s == 0);
    ifm_config_destroy(config);
}

static void a_resolved_configuration_is_closed(void **state)
{
    (void)state;
    struct ifm_config *config = ifm_config_create(sample_sections);
    struct ifm_error error = {0};
    bool known;
    flag(config, NULL, "workload", "decode");
    resolved(config);
    assert_int_equal(ifm_config_override(config, "seed=1", &error), IFM_INTERNAL);
    assert_int_equal(ifm_config_flag(config, NULL, "seed", "1", &known, &error), IFM_INTERNAL);
    assert_int_equal(ifm_config_yaml(config, "seed: 1\n", 8, "c.yaml", &error), IFM_INTERNAL);
    assert_int_equal(ifm_config_resolve(config, &error), IFM_INTERNAL);
    assert_int_equal(ifm_config_study(config)->seed, 42);
    ifm_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(flags_beat_overrides_beat_files_beat_defaults),
        cmocka_unit_test(later_wins_among_equals),
        cmocka_unit_test(a_flag_given_twice_is_known),
        cmocka_unit_test(a_short_cap_shortens_the_warm_up),
        cmocka_unit_test(a_short_cap_shortens_the_warm_up),
        cmocka_unit_test(presets_rank_between_defaults_and_the_rest),
        cmocka_unit_test(repeats_alone_chooses_the_stop_rule),
        cmocka_unit_test(overrides),
        cmocka_unit_test(flags),
        cmocka_unit_test(flag_lookups),
        cmocka_unit_test(rules_between_fields),
        cmocka_unit_test(settings_of_energy_need_energy),
        cmocka_unit_test(a_resolved_configuration_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
