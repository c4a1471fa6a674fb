#!/usr/bin/env bash
# gate --junit FILE writes the file that was named and no other: no link is followed, no device is replaced, and a pipe
# or a stream gets the text.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$INFEROMETER" null --device fake --ceilings none --script 'step_ns=1000' --seed 1 --repeats 60 --quiet --out run \
    >/dev/null 2>errors || fail "the run: $(cat errors)"
gate=("$INFEROMETER" gate run --gates significant)
echo precious >victim
# A link under the name that a temporary file had up to now, "<file>.<process>.tmp"
(
    ln -s victim "junit.xml.$BASHPID.tmp"
    exec "${gate[@]}" --junit junit.xml
) >table 2>errors || [ $? -lt 5 ] || fail "$(cat errors)"
[ "$(cat victim)" = precious ] || fail "a planted link was followed"
[ -f junit.xml ] && [ ! -L junit.xml ] || fail "junit.xml is no file"
"${gate[@]}" --junit junit.xml >table 2>errors || [ $? -lt 5 ] || fail "again: $(cat errors)"
# The file itself is a link
ln -s victim link.xml
status=0
"${gate[@]}" --junit link.xml >table 2>errors || status=$?
[ "$status" = 2 ] || fail "a link: status $status: $(cat errors)"
[ "$(cat victim)" = precious ] && [ -L link.xml ] || fail "a link was followed or replaced"
mkdir folder.xml
status=0
"${gate[@]}" --junit folder.xml >table 2>errors || status=$?
[ "$status" = 2 ] || fail "a folder: status $status: $(cat errors)"
# Pipes and streams
"${gate[@]}" --junit /dev/stdout >printed 2>errors || [ $? -lt 5 ] || fail "/dev/stdout: $(cat errors)"
grep -F '<testsuites' printed >/dev/null || fail "/dev/stdout got no document"
mkfifo pipe
timeout 60 cat pipe >read &
reader=$!
timeout 60 "${gate[@]}" --junit pipe >table 2>errors || [ $? -lt 5 ] || fail "a pipe: $(cat errors)"
wait $reader || fail "the pipe was not written to"
[ -p pipe ] || fail "the pipe was replaced"
cmp -s read junit.xml || fail "the pipe got another document"
timeout 60 "${gate[@]}" --junit >(cat >substituted) >table 2>errors || [ $? -lt 5 ] || fail ">(...): $(cat errors)"
for _ in $(seq 600); do [ -s substituted ] && break || sleep 0.1; done
cmp -s substituted junit.xml || fail "a process substitution got another document"
if mknod null c 1 3 2>/dev/null && [ -w null ] && : >null 2>/dev/null; then
    "${gate[@]}" --junit null >table 2>errors || [ $? -lt 5 ] || fail "a device: $(cat errors)"
    [ -c null ] || fail "a device node was replaced"
fi
[ -z "$(find . -name '*.tmp' -not -type l)" ] || fail "a temporary file was left"
echo "the named file, a pipe or a stream: nothing else"
