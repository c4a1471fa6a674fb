#!/usr/bin/env bash
# decode for real: the f16 cache beside a compressed one, as a pass over the cache and as an inference cycle; the record
# holds each arm's bytes, its kernel error and its loss, and verify accepts it.
source "$(dirname "$0")/lib.sh"
need python3 python3
common=(--compress 2 --kv-len 2048 --batch 1 --q-heads 8 --kv-heads 2 --layers 2 --threads 1 --ceilings none
    --repeats 60 --warmup 5 --warmup-cap 0.2)
"$INFEROMETER" decode "${common[@]}" --out pass >/dev/null 2>errors || fail "pass: $(cat errors)"
"$INFEROMETER" decode "${common[@]}" --layout paged --ragged 0.5 --out paged >/dev/null 2>errors ||
    fail "paged: $(cat errors)"
"$INFEROMETER" decode "${common[@]}" --inference --decode-tokens 16 --slot-steps 1 --repeats 12 --out cycle \
    >/dev/null 2>errors || fail "cycle: $(cat errors)"
for folder in pass paged cycle; do
    "$INFEROMETER" verify "$folder" >/dev/null 2>errors || fail "verify of $folder: $(cat errors)"
    python3 - "$folder" <<'P' || fail "$folder"
import json, sys
folder = sys.argv[1]
arms = json.load(open(folder + "/plan.json"))["cells"][0]["arms"]
if [arm["name"] for arm in arms] != ["f16", "int8"]:
    sys.exit(f"arms {arms}")
f16, int8 = arms
if not 1.5 < f16["stored"] / int8["stored"] < 2 or f16["stored_plain"] != int8["stored_plain"]:
    sys.exit(f"stored {f16['stored']} and {int8['stored']}")
if not int8["ledger"]["bytes_read"] < 0.65 * f16["ledger"]["bytes_read"]:
    sys.exit(f"ledgers {f16['ledger']} and {int8['ledger']}")
checks = [event["meta"] for event in map(json.loads, open(folder + "/run.log")) if event["stage"] == "check"]
for arm in arms:
    mine = [check for check in checks if check["arm"] == arm["name"]]
    if [check["when"] for check in mine] != ["before", "after"]:
        sys.exit(f"checks of {arm['name']}: {mine}")
    for check in mine:
        if not (check["done"] and check["finite"] and 0 < check["error_rms_rel"] <= arm["tolerance"]):
            sys.exit(f"{check}")
        lossy = arm["name"] != "f16"
        if (check["loss"]["kl"] > 0) != lossy or (check["loss"]["rms_rel"] > 0) != lossy or check["loss"]["kl"] > 1e-3:
            sys.exit(f"{check}")
    if mine[0]["output_xxh3"] != mine[1]["output_xxh3"]:
        sys.exit(f"{arm['name']}: the output changed between {mine}")
P
done
echo "pass, paged and cycle"
