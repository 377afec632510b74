#!/usr/bin/env bash
# Sorts the same keys on the same NVIDIA GPU by CUB's radix sort and by radixpic, and prints both in one table.
#
#   ./scripts/compare_cub.sh [--particles N] [--cells C] [--repeat K] [--device SPEC]
#   ./scripts/compare_cub.sh --all [--particles N] [--cells C] [--repeat K] [--device SPEC]
#   ./scripts/compare_cub.sh --long [--particles N] [--repeat K] [--device gpu|P:D]
#   NVCC=/usr/local/cuda/bin/nvcc RADIXPIC=build/radixpic ./scripts/compare_cub.sh --particles 134217728
#
# The keys are those of `radixpic bench pic-sort`: the cells of N particles (8388608) on C x C cells (32) that moved
# by up to a cell since they were last sorted. CUB sorts pairs of a 32-bit key and a 32-bit number by the bits that
# the keys have; radixpic returns the permutation too. Every result is compared with a stable sort. Times are of K
# samples (30) each, a sample being the mean over a row of up to 16 sorts back to back. Needs nvcc, on the PATH or in
# NVCC; exit code 3 without it or without the device.
#
# With --all, keys of every length b = 5..20 at N = 2^20 and 2^23, and of b = 5, 8, 10, 12, 16, 20 at 2^25 and 2^27, so
# that it ends in some 5 minutes on a large GPU (with --particles, every length at that N alone; with --cells, the
# length for C x C cells alone); each in five orders: of particles that moved upwards along both axes (one-way) or up
# and down (both-ways), random, sorted, reversed; K = 5. radixpic sorts as it does by default. Exit code 1 where it is
# slower than CUB: "over CUB" is above 1.
#
# With --long, N random keys of 64 bits, which docs/sort_64.c sorts by libradixpic_sort.so in 2, 3 and 4 words.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
radixpic=${RADIXPIC:-$here/../build/radixpic} nvcc=${NVCC:-nvcc} rows=short
declare -A option=([particles]="" [cells]="" [repeat]="" [device]=gpu)

fail() { # CODE SENTENCE
    printf 'compare_cub.sh: %s\n' "$2" >&2
    exit "$1"
}

while (($# > 0)); do
    case "$1" in
        -h | --help) sed -n '2,25s/^# \{0,1\}//p' "$0"; exit 0 ;;
        --all | --long)
            [[ $rows == short ]] || fail 2 "--all and --long do not go together"
            rows=${1#--}
            shift
            continue
            ;;
        --particles | --cells | --repeat | --device) (($# > 1)) || fail 2 "$1 needs a value" ;;
        *) fail 2 "option '$1' is not known; known are --all, --long, --particles, --cells, --repeat, --device, --help" ;;
    esac
    [[ $1 == --device || $2 =~ ^[1-9][0-9]{0,9}$ ]] || fail 2 "$1: '$2' is not a whole number above 0"
    option[${1#--}]=$2
    shift 2
done
[[ $rows != long || -z ${option[cells]} ]] || fail 2 "--cells does not go with --long: its keys are random, and belong to no cells"
cells=${option[cells]:-32} key_bits=1
((cells >= 2 && cells <= 16384)) || fail 2 "--cells: '$cells' is not a whole number from 2 to 16384"
while (((1 << key_bits) < cells * cells)); do key_bits=$((key_bits + 1)); done
command -v "$nvcc" >/dev/null ||
    fail 3 "nvcc is missing, so CUB cannot be built: install the CUDA toolkit, or set NVCC to its nvcc"
command -v "$radixpic" >/dev/null || fail 1 "$radixpic is missing: run scripts/build, or set RADIXPIC to the program"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '==> build: %s scripts/compare_cub.cu\n' "$nvcc"
"$nvcc" -O3 -std=c++17 -arch=native -o "$work/compare_cub" "$here/compare_cub.cu" ||
    fail 1 "nvcc cannot build compare_cub.cu"

# pic_sort N CELLS OPTION...: times radixpic and writes the keys; $work/sorts has rows "order method passes median min
# max verified", $work/device the device. Returns 2 where such a sort does not fit the keys or the device.
pic_sort() {
    local code=0 particles=$1 grid=$2
    shift 2
    "$radixpic" bench pic-sort --device "${option[device]}" --particles "$particles" --cells "$grid" \
        --repeat "$repeats" --key-bits "$bits" --no-host --csv "$work/sort.csv" --write-keys "$work/keys" "$@" \
        >"$work/log" 2>"$work/error" || code=$?
    case "$code" in
        0) ;;
        2) return 2 ;;
        3) cat "$work/error" >&2; fail 3 "there is no device to compare on" ;;
        *) cat "$work/log" "$work/error" >&2; fail 1 "radixpic bench pic-sort failed with exit code $code" ;;
    esac
    awk -F, -v OFS='\t' '
        function word(key) { return match($0, "[ \"]" key "=[^ \"]*") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }
        $(NF - 5) == "total_ms" { print word("order"), word("method"), word("p"), $(NF - 4), $(NF - 3), $(NF - 2), $NF }
    ' "$work/sort.csv" >"$work/sorts"
    awk -F'"' 'END { print $2 }' "$work/sort.csv" >"$work/device"
}

# cub FILE...: a row "median min max verified" in $work/cub of each file of keys.
cub() {
    local name
    "$work/compare_cub" "$bits" "$repeats" "$@" >"$work/cub" || fail 1 "CUB cannot sort the keys"
    read -r _ _ _ _ name <"$work/cub"
    [[ $name == "$(cat "$work/device")" ]] ||
        fail 1 "radixpic ran on $(cat "$work/device"), CUB on $name: choose the same with --device or CUDA_VISIBLE_DEVICES"
}

all_rows() {
    local orders=(one-way both-ways random sorted reversed) particles lengths words
    words=$(IFS=,; echo "${orders[*]}")
    repeats=${option[repeat]:-5}
    printf '\n%10s %3s  %-9s  %-8s %2s %10s %10s %9s\n' N b order method p "ours, ms" "CUB's, ms" "over CUB"
    for particles in ${option[particles]:-1048576 8388608 33554432 134217728}; do
        lengths=$(seq 5 20)
        [[ -n ${option[particles]} || $particles -lt 33554432 ]] || lengths="5 8 10 12 16 20"
        [[ -z ${option[cells]} ]] || lengths=$key_bits
        for bits in $lengths; do
            pic_sort "$particles" "$((1 << bits / 2))x$((1 << bits - bits / 2))" --method auto --order "$words" ||
                fail 1 "$(cat "$work/error")"
            cub "${orders[@]/#/$work/keys.}"
            paste "$work/sorts" <(tr ' ' '\t' <"$work/cub") | awk -F'\t' -v particles="$particles" -v bits="$bits" '{
                printf "%10d %3d  %-9s  %-8s %2d %10.4f %10.4f %9.3f%s\n", particles, bits, $1, $2, $3, $4, $8, $4 / $8,
                    ($7 == "yes" && $11 == "yes") ? "" : "  WRONG"
            }' | tee -a "$work/table"
        done
    done
    rm -f "$work"/keys*
    ! grep WRONG "$work/table" >&2 || fail 1 "a sort returned a wrong result"
    awk '$8 > 1' "$work/table" >"$work/slower"
    printf '\non %s, medians of %s; every result is that of a stable sort; ' "$(cat "$work/device")" "$repeats"
    printf 'slower than CUB are %d of %d rows\n' "$(wc -l <"$work/slower")" "$(wc -l <"$work/table")"
    cat "$work/slower"
    [[ ! -s $work/slower ]] || exit 1
    exit 0
}

[[ $rows != all ]] || all_rows

particles=${option[particles]:-8388608} repeats=${option[repeat]:-30} bits=$key_bits

# Rows "name passes median min max verified" in $work/rows: radixpic's by method and number of passes, where it has
# such a sort. The keys are in $work/keys.
of_particles() {
    local sort method passes radix_bits
    keys_are="particles in ${cells}x$cells cells after a move, keys of b = $bits bits"
    for sort in tiled:1 tiled:2 paper:2; do
        method=${sort%:*} passes=${sort#*:}
        radix_bits=$(((bits + passes - 1) / passes))
        ((radix_bits <= 16)) || radix_bits=16
        printf '==> time: radixpic, method %s, p = %d\n' "$method" "$passes"
        pic_sort "$particles" "$cells" --radix-bits "$radix_bits" --method "$method" || {
            sed 's/^/    left out: /' "$work/error"
            continue
        }
        awk -F'\t' -v OFS='\t' '{ print "radixpic, " $2, $3, $4, $5, $6, $7 }' "$work/sorts" >>"$work/rows"
    done
    [[ -s $work/rows ]] || fail 1 "radixpic has none of these sorts for keys of $bits bits"
}

# The same rows for keys of 64 bits, which the library sorts; instead of passes they have the words of a key.
of_64_bits() {
    local library words device
    device=$("$radixpic" devices | awk -v wanted="${option[device]}" '
        /^[0-9]+:[0-9]+ / { spec = $1; found = wanted == spec ? spec : found }
        $1 == "type" && $2 == wanted && !found { found = spec }
        END { print found }')
    [[ -n $device ]] || fail 3 "there is no device ${option[device]}: with --long, --device is gpu or P:D"
    library=$(cd "$(dirname "$(command -v "$radixpic")")" && find "$PWD" "$PWD"/../lib* -name libradixpic_sort.so -print -quit)
    [[ -n $library ]] || fail 1 "there is no libradixpic_sort.so beside $radixpic: run scripts/build"
    keys_are="random keys of 64 bits" bits=64
    "${CC:-cc}" -O2 -I"$here/../src" -o "$work/sort_64" "$here/../docs/sort_64.c" "$library" \
        -lOpenCL -Wl,-rpath,"${library%/*}" || fail 1 "the C compiler cannot build docs/sort_64.c"
    for words in 2 3 4; do
        printf '==> time: libradixpic_sort.so, %d words\n' "$words"
        "$work/sort_64" "$words" "$particles" "$repeats" "$device" "$work/keys" >"$work/sorts" ||
            fail 1 "libradixpic_sort.so cannot sort the keys"
        awk -v OFS='\t' -v words="$words" '{ print "libradixpic_sort", words, $1, $2, $3, $4 }' "$work/sorts" >>"$work/rows"
    done
    cut -d' ' -f5- "$work/sorts" >"$work/device"
}

: >"$work/rows"
if [[ $rows == long ]]; then of_64_bits; else of_particles; fi
printf '==> time: CUB\n'
cub "$work/keys"
read -r median least most verified name <"$work/cub"
printf 'CUB, SortPairs\t-\t%s\t%s\t%s\t%s\n' "$median" "$least" "$most" "$verified" >>"$work/rows"

printf '\n%s %s, on %s; ms, medians of %s:\n' "$particles" "$keys_are" "$name" "$repeats"
awk -F'\t' -v cub="$median" -v particles="$particles" '
    BEGIN {
        head = "  %-18s %2s %10s  [%9s, %9s] %9s %10s  %s\n"
        row = "  %-18s %2s %10.4f  [%9.4f, %9.4f] %9.2f %10.2f  %s\n"
        printf head, "sort", "p", "median", "min", "max", "Gkeys/s", "over CUB", "verified"
    }
    { printf row, $1, $2, $3, $4, $5, 1e-6 * particles / $3, $3 / cub, $6 }
' "$work/rows"
! awk -F'\t' '$6 != "yes" { found = 1 } END { exit !found }' "$work/rows" || fail 1 "a sort returned a wrong result"
