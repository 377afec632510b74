#!/usr/bin/env bash
# Sorts the same keys on the same NVIDIA GPU by CUB's radix sort and by radixpic, and prints both in one table.
#
#   ./scripts/compare_cub.sh [--particles N] [--cells C] [--repeat K] [--device SPEC]
#   NVCC=/usr/local/cuda/bin/nvcc RADIXPIC=build/radixpic ./scripts/compare_cub.sh --particles 134217728
#
# The keys are those of `radixpic bench pic-sort`: the cells of N particles (8388608) on C x C cells (32) that moved
# by up to a cell since they were last sorted. CUB sorts pairs of a 32-bit key and a 32-bit number by the bits that
# the keys have; radixpic returns the permutation too. Every result is compared with a stable sort. Times are of K
# samples (30) each, a sample being the mean over a row of up to 16 sorts back to back. Needs nvcc, on the PATH or in
# NVCC; exit code 3 without it or without the device.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
radixpic=${RADIXPIC:-$here/../build/radixpic} nvcc=${NVCC:-nvcc}
declare -A option=([particles]=8388608 [cells]=32 [repeat]=30 [device]=gpu)

fail() { # CODE SENTENCE
    printf 'compare_cub.sh: %s\n' "$2" >&2
    exit "$1"
}

while (($# > 0)); do
    case "$1" in
        -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
        --particles | --cells | --repeat | --device) (($# > 1)) || fail 2 "$1 needs a value" ;;
        *) fail 2 "option '$1' is not known; known are --particles, --cells, --repeat, --device, --help" ;;
    esac
    [[ $1 == --device || $2 =~ ^[1-9][0-9]{0,9}$ ]] || fail 2 "$1: '$2' is not a whole number above 0"
    option[${1#--}]=$2
    shift 2
done
particles=${option[particles]} cells=${option[cells]} repeats=${option[repeat]}
((cells >= 2 && cells <= 16384)) || fail 2 "--cells: '$cells' is not a whole number from 2 to 16384"
command -v "$nvcc" >/dev/null ||
    fail 3 "nvcc is missing, so CUB cannot be built: install the CUDA toolkit, or set NVCC to its nvcc"
command -v "$radixpic" >/dev/null || fail 1 "$radixpic is missing: run scripts/build, or set RADIXPIC to the program"

bits=1
while (((1 << bits) < cells * cells)); do bits=$((bits + 1)); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '==> build: %s scripts/compare_cub.cu\n' "$nvcc"
"$nvcc" -O3 -std=c++17 -arch=native -o "$work/compare_cub" "$here/compare_cub.cu" ||
    fail 1 "nvcc cannot build compare_cub.cu"

# Rows "name passes median min max verified": radixpic's by method and number of passes, where it has such a sort.
: >"$work/rows"
for sort in tiled:1 tiled:2 paper:2; do
    method=${sort%:*} passes=${sort#*:}
    radix_bits=$(((bits + passes - 1) / passes))
    ((radix_bits <= 16)) || radix_bits=16
    printf '==> time: radixpic, method %s, p = %d\n' "$method" "$passes"
    code=0
    "$radixpic" bench pic-sort --device "${option[device]}" --particles "$particles" --cells "$cells" --repeat "$repeats" \
        --key-bits "$bits" --radix-bits "$radix_bits" --method "$method" --no-host --csv "$work/sort.csv" \
        --write-keys "$work/keys" >"$work/log" 2>"$work/error" || code=$?
    case "$code" in
        0) ;;
        2) sed 's/^/    left out: /' "$work/error"; continue ;; # a sort that does not fit the keys or the device
        3) cat "$work/error" >&2; fail 3 "there is no device to compare on" ;;
        *) cat "$work/log" "$work/error" >&2; fail 1 "radixpic bench pic-sort failed with exit code $code" ;;
    esac
    awk -F, -v OFS='\t' -v method="$method" '
        $(NF - 5) == "total_ms" && match($0, / p=[0-9]+/) {
            print "radixpic, " method, substr($0, RSTART + 3, RLENGTH - 3), $(NF - 4), $(NF - 3), $(NF - 2), $NF
        }' "$work/sort.csv" >>"$work/rows"
    awk -F'"' 'END { print $2 }' "$work/sort.csv" >"$work/device"
done
[[ -s $work/rows ]] || fail 1 "radixpic has none of these sorts for keys of $bits bits"

printf '==> time: CUB\n'
"$work/compare_cub" "$work/keys" "$bits" "$repeats" >"$work/cub" || fail 1 "CUB cannot sort the keys"
read -r median least most verified name <"$work/cub"
[[ $name == "$(cat "$work/device")" ]] ||
    fail 1 "radixpic ran on $(cat "$work/device"), CUB on $name: choose the same with --device or CUDA_VISIBLE_DEVICES"
printf 'CUB, SortPairs\t-\t%s\t%s\t%s\t%s\n' "$median" "$least" "$most" "$verified" >>"$work/rows"

printf '\n%s particles in %sx%s cells after a move, keys of b = %s bits, on %s; ms, medians of %s:\n' \
    "$particles" "$cells" "$cells" "$bits" "$name" "$repeats"
awk -F'\t' -v cub="$median" -v particles="$particles" '
    BEGIN {
        head = "  %-18s %2s %10s  [%9s, %9s] %9s %10s  %s\n"
        row = "  %-18s %2s %10.4f  [%9.4f, %9.4f] %9.2f %10.2f  %s\n"
        printf head, "sort", "p", "median", "min", "max", "Gkeys/s", "over CUB", "verified"
    }
    { printf row, $1, $2, $3, $4, $5, 1e-6 * particles / $3, $3 / cub, $6 }
' "$work/rows"
! awk -F'\t' '$6 != "yes" { found = 1 } END { exit !found }' "$work/rows" || fail 1 "a sort returned a wrong result"
