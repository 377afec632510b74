#!/usr/bin/env bash
# Reads one run by the programs that others read openPMD with: the openPMD-validator, openPMD-viewer, openpmd-api, yt and
# h5py, each as PyPI has it today, and compares what they return with the run, in SI units. Prints a table; exit code 1
# where a client fails or reads other numbers.
#
#   ./scripts/check_clients.sh [--venv FOLDER] [RUN]
#   ./scripts/check_clients.sh --venv ~/clients output/my
#
# Without RUN, a small run with all outputs is made. FOLDER is the virtual environment, made and filled where it is not
# there, and used again as it is; by default one that is removed at the end. Filling one takes a minute and 0.6 GB.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
radixpic=${RADIXPIC:-$here/../build/radixpic} environment='' run=''

fail() { # CODE SENTENCE
    printf 'check_clients.sh: %s\n' "$2" >&2
    exit "$1"
}

while (($# > 0)); do
    case "$1" in
        -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
        --venv) (($# > 1)) || fail 2 "--venv needs a folder"; environment=$2; shift ;;
        -*) fail 2 "option '$1' is not known; known are --venv, --help" ;;
        *) [[ -z $run ]] || fail 2 "unexpected argument '$1'"; run=$1 ;;
    esac
    shift
done
[[ -z $run || -f $run/config.yaml ]] || fail 2 "$run is no folder of a run: it has no config.yaml"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

environment=${environment:-$work/environment}
if ! [[ -x $environment/bin/openPMD_check_h5 ]]; then
    "${PYTHON:-python3}" -m venv "$environment" || fail 1 "no virtual environment in $environment: install python3-venv"
    "$environment/bin/pip" install --quiet --disable-pip-version-check openPMD-validator openPMD-viewer openpmd-api yt h5py matplotlib ||
        fail 1 "pip cannot install the clients: is PyPI reachable?"
fi

if [[ -z $run ]]; then
    command -v "$radixpic" >/dev/null || fail 1 "$radixpic is missing: run scripts/build, or set RADIXPIC to the program"
    run=$work/run
    cat >"$work/clients.yaml" <<'EOF'
grid: {cells: [16, 24], length: [4*pi, 9]}
time: {step: 0.1, steps: 10}
units: {density_per_m3: 1.e+18, temperature_eV: 100}
species:
  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 20000, ids: true, velocities: {kind: maxwellian},
     perturb: {density: [{axis: x, mode: 1, amplitude: 0.1}]}}
  - {name: ions, charge: 1, mass: 1836, density: 1, particles: 9999, velocities: {kind: maxwellian, thermal: [0.1, 0.2]}}
output:
  history: {every: 5}
  snapshots: {every: 5, fields: [E, phi, rho, species_rho, moments]}
  moments: {every: 5}
  phase_space:
    - {species: electrons, every: 5, axes: [{axis: x, bins: 16, range: [0, 4*pi]}, {axis: u, bins: 32, range: [-8, 8]}]}
    - {species: electrons, every: 5, axes: [{axis: u, bins: 32, range: [-8, 8]}]}
EOF
    "$radixpic" run "$work/clients.yaml" --output "$run" --quiet || fail 1 "radixpic run failed"
fi
PYTHONDONTWRITEBYTECODE=1 "$environment/bin/python" "$here/check_clients.py" "$run"
