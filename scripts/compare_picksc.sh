#!/usr/bin/env bash
# Times whole steps of radixpic on a CPU beside vmpic2, the vectorised 2D electrostatic code of the PICKSC skeleton codes
# (https://github.com/UCLA-Plasma-Simulation-Group/PIC-skeleton-codes), and prints both in one table.
#
#   ./scripts/compare_picksc.sh FOLDER [--rounds K] [--steps S] [--device SPEC]
#   RADIXPIC=build/radixpic chrt -f 1 ./scripts/compare_picksc.sh ~/PIC-skeleton-codes --rounds 7
#
# FOLDER is a checkout of the skeleton codes, in which nothing changes. Each case is run K times (5) by both programs in
# turn, on as many threads as there are processors: electrons of thermal velocity 1, cells of one Debye length, dt = 0.1,
# single precision. Times are the programs' own of their loops: of radixpic the median of three blocks of S steps (10) after
# a warm-up, of vmpic2, which has none, the mean over 5 S steps. Needs gcc with OpenMP; exit code 3 without it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
radixpic=${RADIXPIC:-$here/../build/radixpic} folder=
declare -A option=([rounds]=5 [steps]=10 [device]=cpu)

fail() { # CODE SENTENCE
    printf 'compare_picksc.sh: %s\n' "$2" >&2
    exit "$1"
}

while (($# > 0)); do
    case "$1" in
        -h | --help) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 0 ;;
        --rounds | --steps | --device)
            (($# > 1)) || fail 2 "$1 needs a value"
            [[ $1 == --device || $2 =~ ^[1-9][0-9]{0,3}$ ]] || fail 2 "$1: '$2' is not a whole number above 0"
            option[${1#--}]=$2
            shift ;;
        -*) fail 2 "option '$1' is not known; known are --rounds, --steps, --device, --help" ;;
        *) [[ -z $folder ]] || fail 2 "unexpected argument '$1'"; folder=$1 ;;
    esac
    shift
done
source=$folder/openmp_vectorization/vmpic2
[[ -n $folder ]] || fail 2 "the folder of the skeleton codes is missing"
[[ -f $source/vmpic2.c ]] || fail 2 "$folder has no openmp_vectorization/vmpic2/vmpic2.c: give a checkout of PIC-skeleton-codes"
command -v gcc >/dev/null || fail 3 "gcc is missing, so vmpic2 cannot be built"
command -v "$radixpic" >/dev/null || fail 1 "$radixpic is missing: run scripts/build, or set RADIXPIC to the program"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# vmpic2 has its case in its source.
build_vmpic2() { # EXPONENT NPX NPY
    sed -E "s/int indx = .*;/int indx = $1, indy = $1;/; s/int npx = .*;/int npx = $2, npy = $3;/; s/int kvec = 1;/int kvec = 2;/
        s/float tend = [0-9.]*,/float tend = $(awk -v s="${option[steps]}" 'BEGIN { print s / 2 }'),/" \
        "$source/vmpic2.c" >"$work/vmpic2.c"
    gcc -O3 -march=native -fopenmp -w -I"$source" -o "$work/vmpic2" "$work/vmpic2.c" "$source"/{vmpush2,omplib,sselib2,ssempush2,dtimer}.c \
        -lm || fail 1 "gcc cannot build vmpic2"
}

middle() { # COLUMN of the rows: "median [least, most]"
    sort -g -k"$1,$1" "$work/rows" | awk -v c="$1" '{ v[NR] = $c }
        END { printf "%.2f [%.2f, %.2f]", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'
}

printf '%-12s %-11s %-22s %-22s %s\n' particles cells 'radixpic, ns' 'vmpic2, ns' ratio
for case in 64:2048:2048 256:2048:2048 512:4096:4096 1024:8192:4096 512:2048:2048; do
    IFS=: read -r cells npx npy <<<"$case"
    particles=$((npx * npy)) exponent=$(awk -v c="$cells" 'BEGIN { print log(c) / log(2) }')
    build_vmpic2 "$exponent" "$npx" "$npy"
    : >"$work/rows"
    for ((round = 0; round < option[rounds]; round++)); do
        "$radixpic" bench step --device "${option[device]}" --method chunked --particles "$particles" --cells "$cells" \
            --length "$cells" --steps "${option[steps]}" --repeat 3 >"$work/ours" || fail 1 "radixpic bench step failed"
        "$work/vmpic2" >"$work/theirs" || fail 1 "vmpic2 failed"
        ours=$(awk '/ns per particle-step/ { print $1 }' "$work/ours")
        theirs=$(awk -v n="$particles" -v s="${option[steps]}" '/^total time/ { print 1e9 * $4 / (5 * n * s) }' "$work/theirs")
        printf '%s %s\n' "$ours" "$theirs" | awk '{ print $1, $2, $2 / $1 }' >>"$work/rows"
    done
    printf '%-12s %-11s %-22s %-22s %s\n' "$particles" "${cells}x$cells" "$(middle 1)" "$(middle 2)" "$(middle 3)"
done
