#!/usr/bin/env bash
# Runs the same plasmas through radixpic and other particle-in-cell codes, and prints one table of their times and physics.
#
#   ./scripts/compare_peers.sh FOLDER... [--device cpu|gpu] [--method METHOD] [--rounds K] [--steps S] [--only WORD]
#   RADIXPIC=build/radixpic chrt -f 1 ./scripts/compare_peers.sh ~/PIC-skeleton-codes ~/zpic-parallel --rounds 7
#
# Each FOLDER is a checkout of one of these, in which nothing changes; sources are copied, set to a case, and built elsewhere:
#   https://github.com/UCLA-Plasma-Simulation-Group/PIC-skeleton-codes   vmpic2, vmbpic2; gpupic2, gpuppic2, gpubpic2
#   https://github.com/ricardo-fonseca/zpic-parallel                     openmp/em2ds; cuda/em2d, cuda/em2ds
# On a CPU (--device cpu, the default) they need gcc, and g++ with FFTW in single precision; on a GPU nvcc, on the PATH or in
# NVCC, and gpuppic2 mpicc too. A code is left out where its compiler is missing; exit code 3 where that leaves none.
#
# All cases are in single precision and have particles on a lattice, random velocities, and the shape cic without a filter:
#   electrostatic  electrons of two velocities; cells of a Debye length, dt = 0.1
#   thermal        electromagnetic, c = 10: electrons of three velocities; cells of a Debye length, dt = 0.04
#   beams          electromagnetic, c = 10: zpic's test "weibel", electrons and positrons of u/c = (0, 0, +-0.6) and a spread of
#                  0.1; cells of 0.1 c/omega_p, dt = 0.07. In radixpic velocities are uniform in a box, with the same mean, spread
#                  and energy.
# Each is run K times (5) by all its codes in turn, for S steps (500 on a GPU, 200, the least, on a CPU). Times are the codes' own
# of their loops. --method is step.method (fused); --only takes the case, or the code, of that name.
#
# Energies are those of the last step in m v_th^2 a particle. Beams carry a current, so the mean of E oscillates, and at one step a
# small difference in frequency would show as a large one in energy: for beams the energies are means over the last 100 steps, and they
# are compared in runs of at least 500 steps, when the waves have stopped growing. The growth is that of B from step 60 to step 180 in
# omega_p. Random numbers and the shape of beams differ, and few long waves have most of a field's energy: codes agree where they differ
# by at most 2 % in kinetic energy, 15 % in electric energy and growth, and 25 % in magnetic energy. Otherwise the row says so, and the
# exit code is 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
radixpic=${RADIXPIC:-$here/../build/radixpic} folders=() failed=no
export nvcc=${NVCC:-nvcc}
declare -A option=([device]=cpu [method]=fused [rounds]=5 [steps]="" [only]="")

fail() { # CODE SENTENCE
    printf 'compare_peers.sh: %s\n' "$2" >&2
    exit "$1"
}

while (($# > 0)); do
    case "$1" in
        -h | --help) sed -n '2,27s/^# \{0,1\}//p' "$0"; exit 0 ;;
        --device | --method | --rounds | --steps | --only)
            (($# > 1)) || fail 2 "$1 needs a value"
            option[${1#--}]=$2
            shift ;;
        -*) fail 2 "option '$1' is not known; known are --device, --method, --rounds, --steps, --only, --help" ;;
        *) folders+=("$(realpath -m "$1")") ;;
    esac
    shift
done
case "${option[device]}" in # peers: a code, its case, sources and compiler; cases: cells and a lattice of particles along x and y
    cpu)
        steps=${option[steps]:-200}
        peers=('vmpic2 electrostatic openmp_vectorization/vmpic2 gcc' 'vmbpic2 thermal openmp_vectorization/vmbpic2 gcc'
            'em2ds beams openmp/em2ds g++')
        cases=('electrostatic 64 2048 2048' 'electrostatic 256 2048 2048' 'electrostatic 512 4096 4096'
            'electrostatic 1024 8192 4096' 'electrostatic 512 2048 2048' 'thermal 256 2048 2048' 'beams 256 2048 1024') ;;
    gpu)
        steps=${option[steps]:-500}
        peers=('gpupic2 electrostatic gpu/gpupic2 nvcc' 'gpuppic2 electrostatic gpu/gpuppic2 mpicc'
            'gpubpic2 thermal gpu/gpubpic2 nvcc' 'em2d beams cuda/em2d nvcc' 'em2ds beams cuda/em2ds nvcc')
        cases=('electrostatic 512 8192 8192' 'electrostatic 512 3072 3072' 'thermal 512 8192 8192' 'thermal 512 3072 3072'
            'beams 512 4096 4096' 'beams 512 8192 8192' 'beams 1024 4096 4096') ;;
    *) fail 2 "--device: '${option[device]}' is neither cpu nor gpu" ;;
esac
[[ ${option[method]} =~ ^(auto|radix|fused|tiled|chunked)$ ]] ||
    fail 2 "--method: '${option[method]}' is none of auto, radix, fused, tiled, chunked"
[[ ${option[rounds]} =~ ^[1-9][0-9]{0,3}$ ]] || fail 2 "--rounds: '${option[rounds]}' is not a whole number above 0"
[[ $steps =~ ^[2-9][0-9]{2}$|^[1-9][0-9]{3,5}$ ]] || fail 2 "--steps: '$steps' is not a whole number of at least 200"
((${#folders[@]} > 0)) || fail 2 "the folder of another code is missing"
command -v "$radixpic" >/dev/null || fail 1 "$radixpic is missing: run scripts/build, or set RADIXPIC to the program"
radixpic=$(realpath "$(command -v "$radixpic")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'fail 130 interrupted' INT
export TMPDIR=$work # nvcc's files, too

has_compiler() { # COMPILER
    case "$1" in
        nvcc) command -v "$nvcc" ;;
        mpicc) command -v mpicc && command -v "$nvcc" ;;
        *) command -v "$1" ;;
    esac
}

compile() { # COMPILER ARGUMENT...
    case "$1" in
        gcc) gcc -O3 -march=native -fopenmp -w "${@:2}" -lm ;;
        g++) g++ -O3 -std=c++17 -fopenmp -DUSE_AVX2 -mavx2 -mfma -w -include cstdint "${@:2}" -lfftw3f_omp -lfftw3f ;;
        nvcc) "$nvcc" -O3 -arch=native -w "${@:2}" -lcufft ;;
        mpicc) "$nvcc" -ccbin mpicc -O3 -arch=native -w "${@:2}" -lcufft -lstdc++ -lm ;;
    esac
}
export -f compile

# Copies the sources of a code, in the words of CUDA 13, and compiles all but the file with main(), which has the case in it.
prepare() { # CODE SOURCES COMPILER
    local file
    mkdir "$work/$1"
    cp "$2"/*.[ch]* "$work/$1"
    [[ ! -d $2/simd ]] || cp -r "$2/simd" "$work/$1"
    cd "$work/$1"
    rm -f ./*_f.c sseflib2.c cathode.cpp # these are for Fortran; and zpic's Makefile leaves the last out
    sed -i -E 's/cudaThreadExit/cudaDeviceReset/; s/cudaThread(Synchronize|SetCacheConfig)/cudaDevice\1/' ./*.[ch]*
    for file in ./*.cpp; do
        [[ $3 == g++ || ! -f $file ]] || mv "$file" "${file%pp}u"
    done
    find . \( -name '*.c' -o -name '*.cu' -o -name '*.cpp' \) ! -name "$1.c" ! -name 'main.*' -print0 |
        xargs -0 -P "$(nproc)" -I{} bash -c "compile $3 -c {} -o {}.o" >log 2>&1
}

# Builds the program of a code for the case in hand. PICKSC's particles are not smoothed, and its B starts at 0, as in the others.
build() { # CODE COMPILER
    local main tiles=$((cells / 32)) in_cell="$((npx / cells)), $((npy / cells))"
    cd "$work/$1"
    main=$(find . -name "$1.c" -o -name 'main.*')
    sed -E "s/int indx = .*;/int indx = $exponent, indy = $exponent;/; s/int npx = .*;/int npx = $npx, npy = $npy;/
        s/float tend = [^,]*, dt = [^,]*/float tend = $(awk "BEGIN { print $steps * $dt }"), dt = $dt/; s/int kvec = 1/int kvec = 2/
        s/float ax = [^,]*, ay = [^,;]*/float ax = 0, ay = 0/; s/(cvm|csse2m|cgpu)ibpois23t?\(/(void)(/
        s/ntiles\{ 16, 16 \}/ntiles{ $tiles, $tiles }/; s/ppc\{ 8, 8 \}/ppc{ $in_cell }/
        s/\"8,8,16,16\"/\"$in_cell, $tiles, $tiles\"/
        s/get_t\(\) <= 35\.0/get_iter() < $steps/; s/imax = 500/imax = $steps/; s/ThermalCorr\(/Thermal(/
        s/^ *sim\.advance\(\);/if (sim.get_iter() % 10 == 0) sim.energy_info(); &/" "$main" >"case${main##*/}"
    compile "$2" -o program "case${main##*/}" ./*.o >log 2>&1
}

# A run leaves a row: 10^6 particle-steps a second; kinetic, electric, magnetic energy; growth. "-" is for what there is not.
run_peer() { # CODE
    cd "$work/$1" && ./program >log 2>&1 && awk -v particles="$particles" -v steps="$steps" -v dt="$dt" -v cells="$cells" '
        BEGIN { magnetic = growth = "-"; zpic = 1e4 / (2 * cells * cells) }
        /^total time/ { speed = 1e-6 * particles * steps / $4 }
        /^Final .*Kinetic/ { getline; electric = $1 / particles; kinetic = $2 / particles }
        /^Final Electrostatic/ { getline; electric = ($1 + $2) / particles; magnetic = $3 / particles }
        /GPart\/s/ { speed = 1e3 * $(NF - 1) }
        /Energy at n = / { step = $6 + 0; last = step >= steps - 100; rows += last }
        /Total particle energy = / && last { kinetic += zpic * $NF }
        /Electric field = / && last { electric += zpic * $NF }
        /Magnetic field = / { at[step] = zpic * $NF; if (last) magnetic += at[step] }
        END { if (rows) { kinetic /= rows; electric /= rows; magnetic /= rows
                          growth = log(at[180] / at[60]) / (240 * dt) }
              print speed, kinetic, electric, magnetic, growth; exit !speed }' log >>"$work/$1.rows"
}

run_radixpic() {
    "$radixpic" run "$work/case.yaml" --quiet --force --output "$work/run" || fail $? "radixpic run failed"
    awk -F, -v particles="$particles" -v steps="$steps" -v dt="$dt" -v all="$((species * cells * cells))" -v name="$case" '
        BEGIN { magnetic = growth = "-" }
        FILENAME ~ /timers/ { if ($1 == "steps") speed = 1e-6 * particles * steps / $2; next }
        $1 == "step" { for (i = 1; i <= NF; i++) column[$i] = i; next }
        name == "beams" ? $1 < steps - 100 || $1 == steps : $1 < steps { at[$1] = $column["magnetic_energy"]; next }
        { rows++; kinetic += $column["kinetic_energy"] / all; electric += $column["field_energy"] / all }
        name != "electrostatic" { magnetic += $column["magnetic_energy"] / all; at[$1] = $column["magnetic_energy"] }
        END { kinetic /= rows; electric /= rows
              if (name == "beams") { magnetic /= rows; growth = log(at[180] / at[60]) / (240 * dt) }
              print speed, kinetic, electric, magnetic, growth }' "$work"/run/{timers,history}.csv >>"$work/radixpic.rows"
}

write_config() {
    local box='[-1.46419, 1.46419], [-1.46419, 1.46419]' velocities
    case "$case" in
        electrostatic) velocities=('maxwellian') dt=0.1 ;;
        thermal) velocities=('juttner, dimensions: 3, thermal: [0.9879, 0.9879, 0.9879]') dt=0.04 ;; # the energy of a normal distribution of 1 in u
        beams) velocities=("uniform, dimensions: 3, range: [$box, [3.99143, 6.14323]]"
            "uniform, dimensions: 3, range: [$box, [-6.14323, -3.99143]]") dt=0.07 ;;
    esac
    species=${#velocities[@]} particles=$((${#velocities[@]} * npx * npy))
    {
        printf 'grid: {cells: [%d, %d], length: [%d, %d]}\n' "$cells" "$cells" "$cells" "$cells"
        printf 'time: {step: %s, steps: %d}\nstep: {method: %s}\n' "$dt" "$steps" "${option[method]}"
        printf 'device: %s\noutput: {history: {every: 10}}\n' "${option[device]}"
        [[ $case == electrostatic ]] || printf 'fields: {solver: electromagnetic, speed_of_light: 10}\n'
        printf 'species:\n'
        for i in "${!velocities[@]}"; do
            printf '  - {name: s%d, charge: %d, mass: 1, density: 1, particles: %d,\n' "$i" $((2 * i - 1)) $((npx * npy))
            printf '     positions: {kind: lattice, counts: [%d, %d]},\n' "$npx" "$npy"
            printf '     velocities: {generator: random, kind: %s}}\n' "${velocities[i]}"
        done
    } >"$work/case.yaml"
}

spread() { # numbers, one a line: median [least, most]
    sort -g | awk '{ v[NR] = $1; f = $1 < 100 ? "%.2f" : "%.0f" }
        END { printf f " [" f ", " f "]", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[1], v[NR] }'
}

row() { printf '%-13s %-11s %-9s %-9s %-24s %-20s %-8s %-8s %-8s %-7s %s\n' "$@"; }

report() { # CODE
    local numbers ratio='' verdict='' first=1
    [[ $case != beams || $steps -ge 500 ]] || first=4 # of the four, the growth alone
    mapfile -t numbers < <(tail -n 1 "$work/$1.rows" | awk '{ for (i = 2; i <= 5; i++) printf $i == "-" ? "-\n" : "%#.4g\n", $i }')
    if [[ $1 != radixpic ]]; then
        ratio=$(paste -d' ' "$work/radixpic.rows" "$work/$1.rows" | awk '{ print $1 / $6 }' | spread)
        verdict=$(paste -d' ' "$work/radixpic.rows" "$work/$1.rows" | tail -n 1 | awk -v first=$first '
            BEGIN { split("kinetic electric magnetic growth", name); split("2 15 25 15", most) }
            { for (i = first; i <= 4; i++) if ($(i + 1) != "-") {
                  off = 100 * ($(i + 6) / $(i + 1) - 1)
                  if (!(off <= most[i] && off >= -most[i])) said = said sprintf("%s%s %+.1f %%", said ? ", " : "", name[i], off) } }
            END { print said ? said : "agrees" }')
    fi
    row "$case" "$particles" "${cells}x$cells" "$1" "$(cut -d' ' -f1 "$work/$1.rows" | spread)" "$ratio" "${numbers[@]}" "$verdict"
    [[ $verdict == agrees || $1 == radixpic ]] || failed=yes
}

broken() { # CODE SENTENCE: the code is not in the rest of the case in hand
    printf 'compare_peers.sh: %s %s: %s\n' "$1" "$2" "$(grep -m 1 'rror' "$work/$1/log" || tail -n 1 "$work/$1/log")" >&2
    is_broken[$1]=yes failed=yes
}

declare -A compiler=() codes=() known=() is_broken=()
for peer in "${peers[@]}"; do
    read -r code case sources tool <<<"$peer"
    for folder in "${folders[@]}"; do
        [[ -d $folder/$sources ]] || continue
        known[$folder]=yes
        [[ -z ${option[only]} || " $code $case " == *" ${option[only]} "* ]] || continue
        if ! has_compiler "$tool" >/dev/null; then
            printf 'compare_peers.sh: %s is left out: %s is missing\n' "$code" "$tool" >&2
        elif (prepare "$code" "$folder/$sources" "$tool"); then
            compiler[$code]=$tool codes[$case]+=" $code"
        else
            broken "$code" "cannot be built"
        fi
    done
done
for folder in "${folders[@]}"; do
    [[ -n ${known[$folder]:-} ]] ||
        fail 2 "$folder has no code for --device ${option[device]}: give a checkout of PIC-skeleton-codes or zpic-parallel"
done
((${#codes[@]} > 0)) || fail 3 "no code is left to compare with${option[only]:+ by --only ${option[only]}}"

row case particles cells code '10^6 particle-steps/s' 'radixpic over it' kinetic electric magnetic growth physics
for line in "${cases[@]}"; do
    read -r case cells npx npy <<<"$line"
    [[ -n ${codes[$case]:-} ]] || continue
    exponent=$(awk "BEGIN { print log($cells) / log(2) }")
    write_config
    rm -f "$work"/*.rows
    is_broken=()
    for code in ${codes[$case]}; do
        (build "$code" "${compiler[$code]}") || broken "$code" "cannot be built"
    done
    for ((round = 0; round < option[rounds]; round++)); do
        run_radixpic
        for code in ${codes[$case]}; do
            [[ -n ${is_broken[$code]:-} ]] || (run_peer "$code") || broken "$code" "failed"
        done
    done
    for code in radixpic ${codes[$case]}; do
        [[ -n ${is_broken[$code]:-} ]] || report "$code"
    done
done
[[ $failed == no ]]
