#!/bin/sh
# tools/build.sh TARGET...: builds in build/ and shows progress, warnings and errors. What ptxas remarks on kernels
# ("ptxas info") is for whoever works on these: `cmake --build build` shows it.
set -u

# "541 steps, about 3 minutes on 2 cores": how long so many steps of a first build take, two thirds of a second each on
# a core, and 14 seconds each that makes device code; the steps alone where that is not worth saying.
expected()
{
    cores=$(nproc 2>/dev/null || echo 1)
    device=$([ -e build/inferometer ] || grep -c 'DESC = Device code' build/build.ninja 2>/dev/null)
    seconds=$((($1 * 2 / 3 + ${device:-0} * 14) / cores))
    on="on $cores core$([ "$cores" = 1 ] || echo s)"
    if [ "$seconds" -ge 90 ]; then
        echo "$1 steps, about $(((seconds + 30) / 60)) minutes $on"
    elif [ "$seconds" -ge 10 ]; then
        echo "$1 steps, about $(((seconds + 5) / 10 * 10)) seconds $on"
    else
        echo "$1 steps"
    fi
}

# Standard input is what the build says: its steps are counted on one line of a terminal; elsewhere the first line says
# how long it takes, and each half minute of it has one more. No percentage: the first steps take longest.
show()
{
    began=$(date +%s) next=30 told=
    while IFS= read -r line; do
        case $line in
        '['[0-9]*/[0-9]*'] '*)
            steps=${line%%]*}
            steps=${steps#[}
            all=${steps#*/} steps=${steps%%/*}
            if [ -t 2 ]; then
                printf '\rbuilding: %s/%s ' "$steps" "$all" >&2
                told=open
            elif [ -z "$told" ] && [ "$steps" -gt 1 ]; then
                echo "building: $(expected "$all")" >&2
                told=once
            else
                seconds=$(($(date +%s) - began))
                [ "$seconds" -lt "$next" ] || {
                    what=
                    case $line in
                    *'Device code '*) what=': device code for a GPU first, longest (cmake -DIFM_CUDA=OFF: none)' ;;
                    esac
                    echo "building: $seconds s, $steps of $all steps$what" >&2
                    next=$((seconds + 30))
                }
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
