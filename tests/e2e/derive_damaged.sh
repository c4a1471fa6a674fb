#!/usr/bin/env bash
# Without its manifest a folder can be derived again; but no manifest vouches for a file that the record does not give,
# nor for a lock that was edited.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$INFEROMETER" null --device fake --ceilings none --script 'step_ns=1000' --seed 1 --repeats 60 --quiet --out whole \
    >/dev/null 2>errors || fail "the run: $(cat errors)"
n=0
# refused NAME COMMAND...: each command names the file that is wrong, and no manifest is written.
refused()
{
    local name=$1 status said words
    shift
    for words in "$@"; do
        rm -f run/manifest.sha256
        status=0
        # shellcheck disable=SC2086
        said=$("$INFEROMETER" $words 2>&1 >/dev/null) || status=$?
        [ "$status" = 3 ] && grep -F "$name" <<<"$said" >/dev/null || fail "$words with $name: status $status: $said"
        [ ! -e run/manifest.sha256 ] || fail "$words with $name: there is a manifest again"
        n=$((n + 1))
    done
}
for name in power.csv power_cpu0_rapl.csv elastic_kv.json summary.json config_01.json; do
    rm -rf run
    cp -r whole run
    echo "t_s,power_w" >"run/$name"
    refused "$name" "derive run" "report run" "judge run"
done
for edit in 's/"seed": 1/"seed": 2/' 's/"measure.warmup": 50/"measure.warmup": 77/' 's/"hash": "./"hash": "x/'; do
    rm -rf run
    cp -r whole run
    sed -i "$edit" run/config.lock.json
    ! cmp -s run/config.lock.json whole/config.lock.json || fail "nothing to edit: $edit"
    refused config.lock.json "derive run" "report run" "judge run" "gate run --gates significant"
done
rm -rf run
cp -r whole run
rm run/manifest.sha256
"$INFEROMETER" derive run >/dev/null 2>errors || fail "the whole folder: $(cat errors)"
"$INFEROMETER" verify run >/dev/null 2>errors || fail "the whole folder: $(cat errors)"
echo "$n commands refuse a damaged folder"
