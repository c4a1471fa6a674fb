#!/usr/bin/env bash
# A signature over the manifest says who vouches for a folder; OpenSSL's own tool agrees with it.
source "$(dirname "$0")/lib.sh"
need openssl openssl
openssl genpkey -algorithm ed25519 -out key.pem 2>/dev/null
openssl genpkey -algorithm ed25519 -out other.pem 2>/dev/null
openssl genpkey -algorithm ed25519 -aes256 -pass pass:word -out locked.pem 2>/dev/null
openssl genpkey -algorithm RSA -out rsa.pem 2>/dev/null
openssl pkey -in key.pem -pubout -out key.pub
fake=(null --device fake --repeats 20 --quiet)

# A key that cannot sign is told of before anything is measured.
refused()
{
    "$INFEROMETER" "${fake[@]}" --out never --sign "$1" >out 2>errors && fail "$1 signs"
    grep -q "$2" errors || fail "$1: $(cat errors)"
    [ ! -e never ] || fail "$1: a folder was made"
}
refused rsa.pem "no private ed25519 key"
refused key.pub "no private ed25519 key"
refused locked.pem "locked by a passphrase"
refused nothing.pem "No such file"

"$INFEROMETER" "${fake[@]}" --out run --sign key.pem >out 2>errors || fail "signed run: $(cat errors)"
# So is what measures it again, once or in sessions.
"$INFEROMETER" rerun run --out again --quiet --sign key.pem >out 2>errors || fail "signed rerun: $(cat errors)"
"$INFEROMETER" rerun run --times 2 --out again --quiet --sign key.pem >out 2>errors || [ $? = 3 ] || # scripted
    fail "signed sessions: $(cat errors)"
for folder in again again-1 again-2; do
    "$INFEROMETER" verify $folder --signer key.pub >out 2>errors || fail "$folder is not signed: $(cat out errors)"
done
"$INFEROMETER" "${fake[@]}" --out plain >out 2>errors || fail "plain run: $(cat errors)"
openssl pkeyutl -verify -pubin -inkey key.pub -rawin -in run/manifest.sha256 -sigfile run/manifest.sig >out 2>errors ||
    fail "openssl does not verify it: $(cat out errors)"
for key in key.pub key.pem; do
    "$INFEROMETER" verify run --signer "$key" >out 2>errors || fail "verify: $(cat errors)"
    grep -q "signed by the key $key" out || fail "verify says: $(cat out)"
done
"$INFEROMETER" verify run >out || fail "verify without a key"
grep -q "signer KEY checks by whom" out || fail "verify without a key says: $(cat out)"

# is_refused FOLDER KEY WORDS
is_refused()
{
    code=0
    "$INFEROMETER" verify "$1" --signer "$2" >out 2>errors || code=$?
    [ "$code" = 3 ] && grep -q "$3" errors || fail "$1 by $2: exit $code, $(cat out errors)"
}
is_refused run other.pem "this key did not sign"
is_refused plain key.pub "not signed"
cp run/manifest.sig plain/
is_refused plain key.pub "this key did not sign" # the signature of another folder

# What another one writes into the folder, with hashes that fit, is not the signer's.

"$INFEROMETER" derive run --sign other.pem >out 2>errors || fail "derive: $(cat errors)"
"$INFEROMETER" verify run --signer other.pem >out 2>errors || fail "signed again: $(cat errors)"
is_refused run key.pub "this key did not sign"
truncate -s 63 run/manifest.sig
is_refused run other.pem "this key did not sign"
"$INFEROMETER" judge run --sign key.pem >out 2>errors && fail "judge signs"

# A new process that goes on with a run signs as the one before would: without an arm that ended it, or that the device
# failed under.
cat >unruly.yaml <<YAML
plugin: $IFM_PLUGINS/unruly.so
workload: unruly
ceilings: none
arms:
  - {name: good, baseline: true}
  - {name: bad, set: {unruly.fault: exit, unruly.when: step, unruly.late: 20}}
measure: {stop: repeats, repeats: 30, blocks_min: 6}
YAML
"$INFEROMETER" run -c unruly.yaml --out ended --sign key.pem >out 2>errors || [ $? = 3 ] || fail "ended: $(cat errors)"
FAKE_CUDA='kernel_ns=200000;fails=ifm_copy_bulk:60;stuck=1' LD_LIBRARY_PATH=$IFM_FAKE_CUDA "$INFEROMETER" stream \
    --device cuda --probe copy --size 64KiB --stop repeats --repeats 40 --slot-steps 2 --warmup 1 --out stuck \
    --sign key.pem >out 2>errors || fail "stuck: $(cat errors)"
for folder in ended stuck; do
    grep -q '"stage":"resume"' $folder/run.log || fail "$folder: no new process went on"
    "$INFEROMETER" verify $folder --signer key.pub >out 2>errors || fail "$folder is not signed: $(cat out errors)"
done
echo "signed, read back by openssl, six that do not fit"
