#!/usr/bin/python3
"""Measures the growth or damping rate and the frequency of a wave in a run's history.

The density mode is fitted by exp(gamma t) (a cos(omega t) + b sin(omega t)), or by exp(gamma t) alone when it does
not oscillate; gamma < 0 is damping. Where the mode swings about a constant, as a magnetised plasma's does, and that
explains it far better, the constant is fitted too, and printed. A column of energy (--field-energy, --column) is
fitted by the square of the wave; gamma and omega are the wave's own (the energy goes as exp(2 gamma t), if the wave has
no such constant). Another column, also of a probe's file, is fitted like a density mode. Time is in 1/omega_p.

A fit is a look at a window of time, not a proof: early times still hold transients, late ones saturation or the
particles' noise. Notes tell of them, where the rates of the thirds of the window differ, and where the fit leaves much
of the wave. The same fit is made of the exact linear series, transients included: a good run comes close to that.

Theory is that of the run's own config.yaml, with its time step, cells, shape, gradient and filter. It is of uniform
species, Maxwellian or cold, which may drift: waves of charge, in a uniform magnetic field too; in an electromagnetic
run also light, filaments and Weibel's waves, both at once where drifts couple them, and all waves of cold species in a
magnetic field. Where a config is outside of that, one sentence names the key, and no number is printed. Of a column the
mode is the first in output.history.modes.

Of several roots those nearest to the fit are printed, by their growth. The fit is compared with the nearest alone, and
only where rate and frequency are within a factor of 2.
"""

import json
import math
from typing import NamedTuple

from radixpic.fit import fit, fit_exact_series, select
from radixpic.history import read_history
from radixpic.script import Problem, make_parser, run_script
from radixpic.theory import waves_of

EXAMPLES = """examples:
  scripts/fit_rate.py output/landau_damping --from 3 --to 12
  scripts/fit_rate.py output/two_stream --mode 1 0 --from 12 --to 24
  scripts/fit_rate.py output/my_run --mode 2 0 --json
  scripts/fit_rate.py output/my_run/history.csv --field-energy --from 5 --to 20
  scripts/fit_rate.py output/weibel --column magnetic_energy --from 10 --to 25
  scripts/fit_rate.py output/light_wave/probes/origin.csv --column Ez
"""
MOST_ROOTS, LEAST_GROWTH = 3, 0.5  # of several roots those whose rate is so near to the first


class Line(NamedTuple):
    """Of theory beside the measurement: its name, gamma and omega; and whether it is that of the wave that was
    measured, so that they are compared."""

    name: str
    gamma: float
    omega: float
    compared: bool


def agrees(measured, root):
    """Whether a fit is of the wave of a root: rate and frequency are within a factor of 2, or what parts them is small
    beside the root as a whole."""
    near = 0.05 * math.hypot(*root)
    return all(abs(a - b) < near or 0.5 * b * b < a * b < 2 * b * b for a, b in zip(measured[:2], root))


def lines_of(waves, measured):
    """Of the roots that are nearest to the fit, by their order, and of the nearest with steps and grid."""
    found = [(root, one) for one in waves for root in one.roots]
    if not found:
        raise Problem(f"no root of the dispersion relation was found at {waves[0].words}")
    by_distance = sorted(found, key=lambda item: math.dist(item[0], measured[:2]))
    most = max(root[0] for root, _ in found)
    kept = [item for item in by_distance if item[0][0] > most - LEAST_GROWTH or item is by_distance[0]][:MOST_ROOTS]
    lines, kept = [], [item for item in found if item in kept]
    for number, (root, one) in enumerate(kept, 1):
        nearest = (root, one) == by_distance[0]
        name = f"theory, {one.words}" + f", root {number}" * (len(kept) > 1)
        lines.append(Line(name, *root, nearest and agrees(measured, root)))
        own = one.own(root) if nearest else None
        if own is not None:
            lines.append(Line("same with the run's steps and grid", *own, lines[-1].compared and agrees(measured, own)))
    return lines


def theories(arguments, history, wave, measured):
    """The Lines to print beside the measurement, and the sentence by which there are none."""
    try:
        config = history.config()
    except Problem:
        return [], None
    try:
        mode = None if arguments.column else history.mode_or_first(arguments.mode)
        waves = waves_of(config, mode, arguments.column)
    except KeyError:  # of a config by another version
        return [], None
    except Problem as problem:
        return [], str(problem)
    lines = lines_of(waves, measured)
    try:
        series = [fit_exact_series(wave, one.plasma, arguments.model) for one in waves if one.plasma and one.plasma.dt]
    except Problem:  # the start is not of a series
        series = []
    for one in series[:1] if series != [None] else []:
        lines.append(Line("exact linear series, in the same window", *one[:2], agrees(measured, one[:2])))
    return lines, None


def difference(measured, expected):
    """In percent, where both are within a factor of 2."""
    near = expected and 0.5 < measured / expected < 2
    return f" {100 * (measured / expected - 1):+.2f} %" if near else ""


def report(history, name, wave, measured, expected, sentence):
    gamma, omega = measured.gamma, measured.omega
    kind = "damping" if gamma < 0 else "growth"
    print(f"{history.path}: {name}, t = {wave.time[0]:g} .. {wave.time[-1]:g}, {len(wave.time)} rows")
    print()
    print(f"  {'':42}{kind + ' rate':>14}{'':>10}{'frequency':>14}")
    print(f"  {'measured':42}{abs(gamma):>14.5f}{'':>10}{omega:>14.5f}")
    print("  "
        f"{'standard error, by the residuals':42}{measured.gamma_error:>14.1g}{'':>10}{measured.omega_error:>14.1g}")
    for title, theory_gamma, theory_omega, compared in expected:
        line = f"  {title:42}"
        for value, theory in ((gamma, theory_gamma), (omega, theory_omega)):
            # A rate is printed without its sign, unless theory has the other sign.
            shown = theory if value is omega else (abs(theory) if theory * gamma >= 0 else -abs(theory))
            line += f"{shown:>14.5f}{difference(value, theory) if compared else '':>10}"
        print(line.rstrip())
    print()
    against = "; percentages: measured against that line" if any(line.compared for line in expected) else ""
    print(f"  gamma = {gamma:.6g}, omega = {omega:.6g}; time in 1/omega_p{against}")
    if sentence:
        print(f"  no theory: {sentence}")
    for note in measured.notes:
        print(f"  note: {note}")


def report_json(history, name, wave, measured, expected, sentence):
    """The same as one object of JSON; what was not fitted, and a frequency that no theory gives, is null."""
    print(
        json.dumps(
            {
                "history": str(history.path),
                "wave": name,
                "from": float(wave.time[0]),
                "to": float(wave.time[-1]),
                "rows": len(wave.time),
                **dict(zip(measured._fields[:4], measured)),
                "constant": measured.offset or None,
                "swing": measured.swing or None,
                "theory": [line._asdict() for line in expected],
                "no_theory": sentence,
                "notes": measured.notes,
            }
        )
    )


def parse_arguments():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("history", metavar="HISTORY", help="a run's output folder, or its history.csv")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--mode", nargs=2, type=int, metavar=("MX", "MY"), help="density mode (default: the first there)")
    what.add_argument("--field-energy", dest="column", action="store_const", const="field_energy",
        help="fit the field energy instead of a density mode")
    what.add_argument("--column", help="fit this column: magnetic_energy, a mode as By_1_0, or as Ez of a probe's file")
    parser.set_defaults(column=None)
    parser.add_argument("--from", dest="start", type=float, default=-math.inf, metavar="T", help="start of the window")
    parser.add_argument("--to", dest="end", type=float, default=math.inf, metavar="T", help="end of the window")
    parser.add_argument("--model", choices=["auto", "oscillation", "exponential"], default="auto",
        help="what to fit (default: auto, by looking for an oscillation)")
    parser.add_argument("--json", action="store_true", help="print one object of JSON instead of the table")
    arguments = parser.parse_args()
    if not arguments.start < arguments.end:
        parser.error("--from must be less than --to")
    return arguments


def main():
    arguments = parse_arguments()
    history = read_history(arguments.history)
    mode = "density_{}_{}".format(*arguments.mode) if arguments.mode else None
    wave, name = select(history, arguments.column or mode, arguments.start, arguments.end)
    measured = fit(wave, arguments.model)
    expected, sentence = theories(arguments, history, wave, measured)
    (report_json if arguments.json else report)(history, name, wave, measured, expected, sentence)


if __name__ == "__main__":
    run_script(main)
