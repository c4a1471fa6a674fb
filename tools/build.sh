#!/bin/sh
# tools/build.sh TARGET...: builds in build/ and shows one line of progress, warnings and errors. What ptxas remarks on
# kernels ("ptxas info") is for whoever works on these: `cmake --build build` shows it.
set -u

# Standard input is what the build says: its steps are counted on one line of a terminal, elsewhere told once.
show()
{
    told=
    while IFS= read -r line; do
        case $line in
        '['[0-9]*/[0-9]*'] '*)
            steps=${line%%]*}
            steps=${steps#[}
            if [ -t 2 ]; then
                printf '\rbuilding: %s ' "$steps" >&2
                told=open
            elif [ -z "$told" ] && [ "${steps%%/*}" -gt 1 ]; then
                echo "building: ${steps#*/} steps" >&2
                told=once
            fi
            ;;
        'ptxas info '* | '-- '* | 'ninja: no work to do.') ;;
        *)
            [ "$told" != open ] || echo >&2
            [ "$told" != open ] || told=
            printf '%s\n' "$line"
            ;;
        esac
    done
    [ "$told" != open ] || printf '\r\033[K' >&2
}

exec 4>&1
status=$({ { cmake --build build --target "$@" 2>&1 4>&-; echo $? >&3; } | show >&4; } 3>&1)
exit "$status"
