#!/usr/bin/env bash
# Rule 8: where real locks are required and one is open, nothing is measured; the status is 4 and the knobs are named.
source "$(dirname "$0")/lib.sh"
status=0
"$INFEROMETER" null --locks required --ceilings none --repeats 60 --out out >/dev/null 2>errors || status=$?
[ "$status" != 0 ] || skip "every lock of this machine is locked"
[ "$status" = 4 ] || fail "exit status $status, not 4: $(cat errors)"
grep -q 'locks are required, and not locked: ' errors || fail "no knob is named: $(cat errors)"
# An open device pins its threads: affinity is never what is missing.
! grep -q 'not locked:.*affinity' errors || fail "the affinity was read before the device pinned it: $(cat errors)"
[ -z "$(ls out/samples)" ] || fail "samples were taken all the same"
echo "$(sed -n 's/.*not locked: //p' errors): nothing was measured"
