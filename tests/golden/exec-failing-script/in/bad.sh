echo run >>runs
[ "$(wc -l <runs)" -lt 4 ] && exit
echo 'to standard output'
seq 20 | sed 's/^/line /' >&2
printf 'Traceback:\n\tsecret \033[31mred\033[0m\n\n' >&2
exit 7
