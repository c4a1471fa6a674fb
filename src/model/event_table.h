/* The stages of run.log: a row each, with its fields in the order in which they are written.
 *
 * IFM_STAGES lists S(stage, repeat, restart): how often the stage stands, and whether a restart of its cell makes it
 * void (`forgotten`) or leaves it standing (`kept`). IFM_FIELDS_<stage> lists F(row, need, kind, member, beside): the
 * struct, the encoder, the decoder and the tests are made of it, and docs/maintain/journal.md is tested against it.
 *
 * need: must = always there; may = left out when it is not set; null = null when it is not set. With a member `beside`
 * it, a field must be there (or is null) only where that one is set; `_` = none.
 * kind: a row of IFM_KINDS.
 *
 * A field that a later version adds is `may`: folders of today do not have it. */
#ifndef IFM_MODEL_EVENT_TABLE_H
#define IFM_MODEL_EVENT_TABLE_H

/* K(kind, type in C, how it is encoded, lowest, highest, in words). */
/* clang-format off: tables */
#define IFM_KINDS(K) \
    K(text, const char *, TEXT, 0, 0, "a text") \
    K(count, int64_t, COUNT, 0, 0, "a whole number of 0 or more") \
    K(amount, double, REAL, 0, INFINITY, "a number of 0 or more") \
    K(real, double, REAL, -INFINITY, INFINITY, "a number") \
    K(percent, double, REAL, 0, 100, "a number from 0 to 100") \
    K(share, double, REAL, 0, 1 + 1e-9, "a number from 0 to 1") /* sums round */ \
    K(cosine, double, REAL, -1 - 1e-9, 1 + 1e-9, "a number from -1 to 1") \
    K(flag, bool, FLAG, 0, 0, "true or false") \
    K(json, const json_t *, JSON, 0, 0, "a value") \
    K(rest, const json_t *, REST, 0, 0, "an object") /* of the members that no field names */ \
    K(loss, const struct ifm_event_loss *, ROW, 0, 0, "an object") \
    K(knobs, struct ifm_knobs, ROWS, 0, 0, "a list of knobs")

#define IFM_STAGES(S) \
    S(run_start, once_a_session, kept) \
    S(resume, once_a_session, kept) \
    S(retry, each, kept) \
    S(plugin, each, kept) \
    S(input, each, kept) \
    S(environment, once_a_session, kept) \
    S(gpu_state, at_both_ends, forgotten) \
    S(locks, at_both_ends, kept) \
    S(load, at_both_ends, kept) \
    S(cell_start, once_a_session, forgotten) \
    S(device, once_a_session, kept) \
    S(check, at_both_ends, forgotten) \
    S(column_absent, each, forgotten) \
    S(clock_unread, once_a_session, forgotten) \
    S(counters_read, each, forgotten) \
    S(traced, each, forgotten) \
    S(trace_file, once_a_session, forgotten) \
    S(calibrate, each, forgotten) \
    S(block, each, forgotten) \
    S(warmup, once_a_session, forgotten) \
    S(program, at_both_ends, forgotten) \
    S(converge, once_a_session, forgotten) \
    S(pre_roll, once_a_session, forgotten) \
    S(stop, once_a_session, forgotten) \
    S(feature, once_a_session, forgotten) \
    S(energy, once_a_session, forgotten) \
    S(pass_done, each, forgotten) \
    S(power_sensor, each, forgotten) \
    S(power_absent, each, forgotten) \
    S(energy_plan, each, forgotten) \
    S(energy_idle, at_both_ends, forgotten) \
    S(energy_pre_roll, each, forgotten) \
    S(power_fault, each, forgotten) \
    S(power_readings, each, forgotten) \
    S(energy_done, each, forgotten) \
    S(processes, once_a_session, forgotten) \
    S(cell_done, once_a_cell, forgotten) \
    S(cell_skipped, once_a_session, forgotten) \
    S(cell_failed, once_a_session, forgotten) \
    S(arm_failed, each, kept) \
    S(cell_restarted, each, kept) \
    S(disturbed, each, forgotten) \
    S(repeated, each, forgotten) \
    S(clock_broken, each, forgotten) \
    S(interrupted, once_a_session, kept) \
    S(run_done, once_a_run, kept)

#define IFM_EVENT_ENUMERATOR(row, ...) IFM_STAGE_##row,
enum ifm_stage {
    IFM_STAGE_unknown = 0, /* of a later version: only its cell and arm are known */
    IFM_STAGES(IFM_EVENT_ENUMERATOR) IFM_STAGE_COUNT
};

#define IFM_FIELDS_run_start(F, r) \
    F(r, must, text, run_id, _) F(r, must, text, config_hash, _) F(r, must, text, version, _) \
    F(r, may, text, plan_sha256, _)
#define IFM_FIELDS_resume(F, r) IFM_FIELDS_run_start(F, r)
#define IFM_FIELDS_retry(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, text, run_id, _) F(r, must, text, regressed, _)
#define IFM_FIELDS_plugin(F, r) \
    F(r, must, text, name, _) F(r, must, text, file, _) F(r, must, text, sha256, _) F(r, must, count, abi, _)
#define IFM_FIELDS_input(F, r) \
    F(r, must, text, setting, _) F(r, must, text, token, _) F(r, must, text, file, _) F(r, must, text, sha256, _) \
    F(r, may, json, licence, _)
#define IFM_FIELDS_environment(F, r) F(r, must, json, fingerprint, _)
#define IFM_FIELDS_gpu_state(F, r) \
    F(r, must, text, when, _) F(r, must, json, gpus, _) F(r, may, text, cell, _) F(r, must, text, at, cell)
#define IFM_FIELDS_locks(F, r) F(r, must, text, when, _) F(r, must, knobs, knobs, _)
#define IFM_FIELDS_load(F, r) \
    F(r, must, text, when, _) F(r, null, amount, foreign_load, _) F(r, may, amount, waited_s, _) \
    F(r, may, amount, asked_s, _)
#define IFM_FIELDS_cell_start(F, r) F(r, must, text, cell, _)
#define IFM_FIELDS_device(F, r) F(r, must, rest, facts, _) F(r, must, text, cell, _)
#define IFM_FIELDS_check(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, text, when, _) F(r, must, flag, done, _) \
    F(r, must, amount, error_rms_rel, finite) F(r, must, amount, error_max_rel, finite) \
    F(r, may, amount, error_part, _) F(r, may, amount, error_row, _) \
    F(r, may, amount, error_bias, _) F(r, must, count, values, done) F(r, must, flag, finite, done) \
    F(r, must, text, output_xxh3, done) F(r, may, flag, sets_differ, _) F(r, may, text, isa, _) \
    F(r, may, loss, loss, _) F(r, may, percent, quality_percent, _)
#define IFM_FIELDS_column_absent(F, r) \
    F(r, must, text, cell, _) F(r, must, text, pass, _) F(r, must, text, column, _) F(r, must, text, reason, _) \
    F(r, must, text, remedy, _)
#define IFM_FIELDS_clock_unread(F, r) \
    F(r, must, text, cell, _) F(r, must, count, slots, _) F(r, must, count, read, _) F(r, must, text, reason, _)
#define IFM_FIELDS_counters_read(F, r) \
    F(r, must, text, cell, _) F(r, must, text, pass, _) F(r, must, text, instrument, _) F(r, must, text, source, _) \
    F(r, must, count, slots, _) F(r, must, count, read, _) F(r, may, text, reason, _) \
    F(r, may, text, counted, _)
#define IFM_FIELDS_traced(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, text, source, _) F(r, must, count, slots, _) \
    F(r, must, count, read, _) F(r, may, text, reason, _) F(r, must, count, rows, _) F(r, must, count, left_out, _) \
    F(r, may, text, outputs, _) F(r, may, text, counted, _)
#define IFM_FIELDS_trace_file(F, r) F(r, must, text, cell, _) F(r, must, text, sha256, _)
#define IFM_FIELDS_calibrate(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, count, inner, _) \
    F(r, must, count, samples_per_slot, _) F(r, must, amount, step_ns, _) F(r, must, amount, clock_ns, _) \
    F(r, must, amount, clock_tick_ns, _) F(r, may, count, lead, _) F(r, may, count, rows, _)
#define IFM_FIELDS_block(F, r) \
    F(r, must, text, cell, _) F(r, must, text, pass, _) F(r, must, count, block, _) F(r, must, count, samples, _) \
    F(r, must, text, chain, _)
#define IFM_FIELDS_warmup(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, count, steps, _) F(r, must, count, windows, _) \
    F(r, must, flag, steady, _) F(r, must, amount, tolerance, _) F(r, must, amount, seconds, _) \
    F(r, must, amount, last_median_ns, _) F(r, must, amount, previous_median_ns, _)
#define IFM_FIELDS_program(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, text, when, _) F(r, must, text, what, _) \
    F(r, must, count, inode, _) F(r, must, count, size, _) F(r, must, count, mtime_ns, _) \
    F(r, must, count, ctime_ns, _) F(r, may, text, sha256, _)
#define IFM_FIELDS_converge(F, r) \
    F(r, must, text, cell, _) F(r, may, text, arm, _) F(r, must, text, device, arm) F(r, must, text, source, arm) \
    F(r, must, amount, seconds, arm) F(r, must, count, readings, arm) F(r, must, flag, steady, arm) \
    F(r, null, real, watts, arm) F(r, null, amount, sd_w, arm) F(r, null, real, temperature_c, arm) \
    F(r, null, real, slope_k_per_s, arm) F(r, null, amount, limit_w, arm) F(r, may, text, reason, _) \
    F(r, may, text, remedy, _) F(r, may, amount, clock_mhz, _)
#define IFM_FIELDS_pre_roll(F, r) \
    F(r, must, text, cell, _) F(r, must, json, arms, _) F(r, must, amount, seconds, _) F(r, must, text, reason, _)
#define IFM_FIELDS_stop(F, r) \
    F(r, must, text, cell, _) F(r, must, text, reason, _) F(r, must, count, blocks, _) \
    F(r, must, amount, elapsed_s, _) F(r, null, amount, mde, _) F(r, must, amount, wanted_mde, _) \
    F(r, may, count, look, _) F(r, must, count, looks, look) F(r, must, count, blocks_max, look) \
    F(r, must, amount, level, look)
#define IFM_FIELDS_feature(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, text, feature, _) F(r, must, count, runs, _)
#define IFM_FIELDS_pass_done(F, r) \
    F(r, must, text, cell, _) F(r, must, text, pass, _) F(r, must, text, reason, _) F(r, must, count, blocks, _) \
    F(r, must, amount, elapsed_s, _)
#define IFM_FIELDS_energy(F, r) \
    F(r, must, text, cell, _) F(r, must, text, device, _) F(r, must, text, source, _) F(r, may, amount, idle_w, _) \
    F(r, may, amount, limit_w, _) F(r, may, amount, period_ns, _)
#define IFM_FIELDS_power_sensor(F, r) \
    F(r, must, text, cell, _) F(r, must, text, device, _) F(r, must, text, source, _) F(r, must, text, kind, _) \
    F(r, must, flag, part, _) F(r, must, flag, measured, _) F(r, may, amount, period_ms, _) \
    F(r, may, amount, jitter_ms, _) F(r, may, amount, call_us, _) F(r, may, amount, lag_ms, _) \
    F(r, may, amount, window_ms, _) F(r, may, amount, quantum, _) F(r, may, amount, gain_error, _) \
    F(r, may, amount, limit_w, _)
#define IFM_FIELDS_power_absent(F, r) \
    F(r, must, text, cell, _) F(r, must, text, source, _) F(r, must, text, reason, _) F(r, must, text, remedy, _)
#define IFM_FIELDS_energy_plan(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, count, inner, _) \
    F(r, must, count, samples_per_slot, _) F(r, must, amount, window_s, _) F(r, must, amount, pause_ms, _) \
    F(r, must, text, reason, _)
#define IFM_FIELDS_energy_idle(F, r) \
    F(r, must, text, cell, _) F(r, must, text, when, _) F(r, must, count, start_ns, _) F(r, must, count, end_ns, _) \
    F(r, must, count, settle_ns, _)
#define IFM_FIELDS_energy_pre_roll(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, count, start_ns, _) F(r, must, count, end_ns, _)
#define IFM_FIELDS_power_fault(F, r) \
    F(r, must, text, cell, _) F(r, must, text, device, _) F(r, must, text, source, _) F(r, must, count, start_ns, _) \
    F(r, must, count, end_ns, _) F(r, must, count, gaps, _) F(r, must, count, implausible, _) \
    F(r, null, text, lost, _)
#define IFM_FIELDS_power_readings(F, r) \
    F(r, must, text, cell, _) F(r, must, text, device, _) F(r, must, text, source, _) F(r, must, text, sha256, _)
#define IFM_FIELDS_energy_done(F, r) \
    F(r, must, text, cell, _) F(r, must, count, windows, _) F(r, may, text, reason, _) \
    F(r, must, text, remedy, reason)
#define IFM_FIELDS_processes(F, r) F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, count, started, _)
#define IFM_FIELDS_cell_done(F, r) F(r, must, text, cell, _)
#define IFM_FIELDS_cell_skipped(F, r) \
    F(r, must, text, cell, _) F(r, must, text, reason, _) F(r, must, text, remedy, _)
#define IFM_FIELDS_cell_failed(F, r) IFM_FIELDS_cell_skipped(F, r) F(r, may, text, arm, _)
#define IFM_FIELDS_arm_failed(F, r) \
    F(r, must, text, cell, _) F(r, must, text, arm, _) F(r, must, text, reason, _) F(r, must, text, remedy, _)
#define IFM_FIELDS_cell_restarted(F, r) \
    F(r, must, text, cell, _) F(r, must, count, arms_left, _) F(r, must, flag, record_set_aside, _) \
    F(r, must, count, times, _)
#define IFM_FIELDS_disturbed(F, r) \
    F(r, must, text, cell, _) F(r, must, text, pass, _) F(r, must, count, block, _) F(r, must, text, reason, _)
#define IFM_FIELDS_repeated(F, r) IFM_FIELDS_disturbed(F, r)
#define IFM_FIELDS_clock_broken(F, r) F(r, must, text, cell, _) F(r, must, text, reason, _)
#define IFM_FIELDS_interrupted(F, r) F(r, must, text, reason, _) F(r, must, text, where, _)
#define IFM_FIELDS_run_done(F, r) F(r, must, text, config_hash, _) F(r, may, text, plan_sha256, _)

/* ---- rows inside an event ---- */

/* What compression did to the compared outputs; a member that does not apply is left out. */
#define IFM_FIELDS_loss(F, r) \
    F(r, may, amount, rms_rel, _) F(r, may, amount, p99_rel, _) F(r, may, cosine, cosine, _) F(r, may, real, kl, _) \
    F(r, may, share, tv, _)
/* A knob of the machine as it was read back; without a value it could not be read. */
#define IFM_FIELDS_knob(F, r) \
    F(r, must, text, knob, _) F(r, null, text, value, _) F(r, must, flag, locked, _) F(r, must, text, reason, _) \
    F(r, may, text, remedy, _)
/* clang-format on */

#endif
