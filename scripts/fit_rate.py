#!/usr/bin/python3
"""Measures the growth or damping rate and the frequency of a wave in a run's history.

The density mode is fitted by exp(gamma t) (a cos(omega t) + b sin(omega t)), or by exp(gamma t) alone when it does
not oscillate; gamma < 0 is damping. Where the mode swings about a constant, as a magnetised plasma's does, and that
explains it far better, the constant is fitted too, and printed. With --field-energy the energy is fitted by the
square of the wave; gamma and omega are the wave's own (the energy goes as exp(2 gamma t), if the wave has no such
constant). Time is in 1/omega_p.

A fit is a look at a window of time, not a proof: early times still hold transients, late ones the particles' noise.
The default window is 3 to 12 for --theory landau, 12 to 24 for --theory two-stream, else the whole history. With
--dt and --dx the same fit is made of the exact linear series, transients included: a good run comes close to that.
"""

from typing import NamedTuple

from common import Problem, make_parser, read_history, run_script

import numpy as np

import dispersion

EXAMPLES = """examples:
  scripts/fit_rate.py output/landau_damping --theory landau --k 0.5
  scripts/fit_rate.py output/landau_damping --theory landau --k 0.5 --dt 0.1 --dx 0.392699
  scripts/fit_rate.py output/two_stream --mode 1 0 --theory two-stream --k 0.2 --drift 3 --from 12 --to 24
  scripts/fit_rate.py output/my_run/history.csv --field-energy --from 5 --to 20 --theory-gamma 0.25
"""
WINDOWS = {"landau": (3.0, 12.0), "two-stream": (12.0, 24.0)}
LEAST_ROWS = 8
LEAST_PERIODS = 2  # of a wave about a constant: with fewer, any bend would look like one
MOST_SERIES_STEPS = 20000  # the exact series takes steps^2 operations


class Fit(NamedTuple):
    """Rate and frequency of a wave; sizes of the constant it swings about and of its swing, where one was fitted."""

    gamma: float
    omega: float
    offset: float = 0.0
    swing: float = 0.0


class Wave:
    """A series to fit: columns (rows x 1 or 2), and how many powers of the wave it is (1 amplitude, 2 energy).

    With `offset` the wave may swing about a constant.
    """

    def __init__(self, time, columns, power, offset=False):
        self.time = time
        self.start = time[0]
        self.columns = columns
        self.power = power
        self.offset = offset

    def basis(self, gamma, omega):
        t = self.time - self.start
        phase = self.power * omega * t
        parts = [np.cos(phase), np.sin(phase)] + ([np.ones_like(t)] if self.power == 2 else [])
        basis = np.exp(self.power * gamma * t)[:, None] * np.stack(parts, axis=1)
        return np.column_stack([basis, np.ones_like(t)]) if self.offset else basis

    def coefficients(self, parameters):
        """The best linear combination of the basis, a row for each of its parts."""
        return np.linalg.lstsq(self.basis(*parameters), self.columns, rcond=None)[0]

    def residual(self, parameters):
        """What the best linear combination of the basis leaves: the only free parameters are gamma and omega."""
        return (self.columns - self.basis(*parameters) @ self.coefficients(parameters)).ravel()

    def misfit(self, parameters):
        return np.sum(self.residual(parameters) ** 2)

    def slope(self):
        """gamma of a straight line through log |wave|, and the series with that trend taken out."""
        size = np.sqrt(np.sum(self.columns**2, axis=1))
        if np.any(size == 0):
            raise Problem("the series is exactly zero at some time, so it has no logarithm; choose another window")
        slope = np.polyfit(self.time - self.start, np.log(size), 1)[0]
        return slope / self.power, self.columns * np.exp(-slope * (self.time - self.start))[:, None]

    def guess_frequency(self, flat):
        """Highest line in the spectrum of the series without its trend; 0 where it does not oscillate."""
        uniform = np.linspace(self.time[0], self.time[-1], len(self.time))
        series = np.stack([np.interp(uniform, self.time, column) for column in flat.T], axis=1)
        if self.power == 2:  # cos^2 has a mean, and a spread about it of half its size squared
            mean = series.mean()
            if np.var(series) < 0.1 * mean**2:
                return 0.0
            series = series - mean
        count = 8 * len(uniform)
        spectrum = np.sum(np.abs(np.fft.rfft(series, count, axis=0)) ** 2, axis=1)
        omega = 2 * np.pi * np.argmax(spectrum) / (count * (uniform[1] - uniform[0]))
        return omega / self.power if omega * (uniform[-1] - uniform[0]) > np.pi else 0.0


def refine(wave, gamma, omega):
    """Levenberg-Marquardt on (gamma, omega)."""
    parameters, damping = np.array([gamma, omega]), 1e-3
    residual = wave.residual(parameters)
    for _ in range(200):
        jacobian = np.stack(
            [(wave.residual(parameters + h) - wave.residual(parameters - h)) / 2e-6 for h in 1e-6 * np.eye(2)], axis=1
        )
        normal = jacobian.T @ jacobian
        step = np.linalg.lstsq(normal + damping * np.diag(np.diag(normal)), -jacobian.T @ residual, rcond=None)[0]
        trial = wave.residual(parameters + step)
        if trial @ trial <= residual @ residual:
            parameters, residual, damping = parameters + step, trial, damping / 5
        else:
            damping *= 5
        if np.max(np.abs(step)) < 1e-10:
            break
    return parameters[0], abs(parameters[1])


def fit_about_zero(wave, model):
    gamma, flat = wave.slope()
    omega = 0.0 if model == "exponential" else wave.guess_frequency(flat)
    if omega == 0.0:
        if model == "oscillation":
            raise Problem("the window holds less than half an oscillation; widen it or use --model exponential")
        return Fit(gamma, 0.0)
    return Fit(*refine(wave, gamma, omega))


def fit_about_constant(wave):
    """The oscillation about a constant that the wave is, all but a twentieth of its variance; None if it is not."""
    around = wave.columns - wave.columns.mean(axis=0)
    variance = np.sum(around**2)
    if variance <= 1e-20 * np.sum(wave.columns**2):  # nothing but rounding
        return None
    omega = wave.guess_frequency(around)
    if omega * (wave.time[-1] - wave.start) < LEAST_PERIODS * 2 * np.pi:
        return None
    shifted = Wave(wave.time, wave.columns, wave.power, offset=True)
    found = refine(shifted, 0.0, omega)
    if not shifted.misfit(found) < 0.05 * variance:
        return None
    swing, constant = np.split(shifted.coefficients(found), [2])
    return Fit(*found, np.linalg.norm(constant), np.linalg.norm(swing, 2))  # 2: the long axis of an ellipse


def fit(wave, model="auto"):
    """The Fit of the wave; model is auto, oscillation or exponential (then omega is 0).

    A constant is taken in only where it matters: where the swing about zero leaves more than a hundredth of the
    amplitude unexplained, and twice as much as the swing about the constant does.
    """
    about_constant = fit_about_constant(wave) if wave.power == 1 and model != "exponential" else None
    if about_constant is None:
        return fit_about_zero(wave, model)
    try:
        about_zero = fit_about_zero(wave, model)
    except Problem:
        return about_constant
    left = wave.misfit(about_zero[:2])
    with_constant = Wave(wave.time, wave.columns, wave.power, offset=True).misfit(about_constant[:2])
    variance = np.sum((wave.columns - wave.columns.mean(axis=0)) ** 2)
    return about_constant if left > max(4 * with_constant, 1e-4 * variance) else about_zero


def select(history, arguments, window):
    """The wave to fit, and its name."""
    if arguments.field_energy:
        series, power, name = history["field_energy"][:, None], 2, "field energy"
    else:
        mode = tuple(arguments.mode) if arguments.mode else next(iter(history.modes), None)
        if mode is None:
            raise Problem(f"{history.path} holds no density modes; use --field-energy")
        values = history.mode(mode)
        series, power, name = np.stack([values.real, values.imag], axis=1), 1, f"density mode ({mode[0]}, {mode[1]})"
    time = history["time"]
    inside = (time >= window[0] - 1e-9) & (time <= window[1] + 1e-9)
    if np.count_nonzero(inside) < LEAST_ROWS:
        raise Problem(
            f"{history.path} has {np.count_nonzero(inside)} rows from t = {window[0]:g} to {window[1]:g}, "
            f"of {len(time)} up to t = {time[-1]:g}; a fit needs {LEAST_ROWS}"
        )
    if not np.all(np.isfinite(series[inside])) or not np.all(np.diff(time[inside]) > 0):
        raise Problem(f"{history.path}: the {name} is not finite, or time does not rise, in the window")
    return Wave(time[inside], series[inside], power), name


def fit_exact_series(wave, k, beams, dt, dx, model):
    """What the same fit measures in a run without noise and nonlinearity: the honest thing to compare with."""
    steps = np.rint(wave.time / dt).astype(int)
    if steps[-1] > MOST_SERIES_STEPS or np.max(np.abs(steps * dt - wave.time)) > 1e-6 * dt * steps[-1]:
        return None
    series = dispersion.discrete_series(steps[-1], k, beams, dt, dx)[steps]
    columns = np.abs(series[:, None]) ** 2 if wave.power == 2 else np.stack([series.real, series.imag], axis=1)
    return fit(Wave(wave.time, columns, wave.power), model)


def theories(arguments, wave):
    """List of (name, gamma, omega or None) to print beside the measurement."""
    if arguments.theory is None:
        if arguments.theory_gamma is None and arguments.theory_omega is None:
            return []
        return [("theory (as given)", arguments.theory_gamma, arguments.theory_omega)]
    k = arguments.k
    if arguments.theory == "landau":
        beams, root = [(1, 0, 1)], dispersion.landau_root(k)
        name = f"theory, Landau damping, k = {k:g}"
    else:
        beams = dispersion.two_stream_beams(arguments.drift, arguments.thermal)
        root = dispersion.two_stream_root(k, arguments.drift, arguments.thermal)
        name = f"theory, two-stream, k = {k:g}"
    if root is None:
        raise Problem(f"no root of the dispersion relation was found for --theory {arguments.theory} at k = {k:g}")
    found = [(name, *root)]
    if arguments.dt is not None:
        discrete = dispersion.discrete_root(root, k, beams, arguments.dt, arguments.dx)
        if discrete is not None:
            found.append((f"same with dt = {arguments.dt:g}, dx = {arguments.dx:.4g}", *discrete))
        series = fit_exact_series(wave, k, beams, arguments.dt, arguments.dx, arguments.model)
        if series is not None:
            found.append(("exact linear series, in the same window", series.gamma, series.omega))
    return found


def difference(measured, expected):
    return f"{100 * (measured / expected - 1):+.2f} %" if expected else ""


def report(history, name, wave, measured, expected):
    gamma, omega = measured.gamma, measured.omega
    kind = "damping" if gamma < 0 else "growth"
    print(f"{history.path}: {name}, t = {wave.time[0]:g} .. {wave.time[-1]:g}, {len(wave.time)} rows")
    print()
    print(f"  {'':42}{kind + ' rate':>14}{'':>10}{'frequency':>14}")
    print(f"  {'measured':42}{abs(gamma):>14.5f}{'':>10}{omega:>14.5f}")
    for title, theory_gamma, theory_omega in expected:
        line = f"  {title:42}"
        for value, theory in ((gamma, theory_gamma), (omega, theory_omega)):
            if theory is None:
                line += f"{'':24}"
                continue
            # A rate is printed without its sign, unless theory has the other sign.
            shown = theory if value is omega else (abs(theory) if theory * gamma >= 0 else -abs(theory))
            line += f"{shown:>14.5f}{difference(value, theory):>10}"
        print(line.rstrip())
    print()
    against = "; percentages: measured against that line" if expected else ""
    print(f"  gamma = {gamma:.6g}, omega = {omega:.6g}; time in 1/omega_p{against}")
    if measured.offset:
        print(f"  note: the mode swings by {measured.swing:.4g} about a constant {measured.offset:.4g}, fitted too")


def holds_transient(wave, gamma):
    """Whether the wave grows or decays in the window: the start of such a wave is not yet the mode alone."""
    return abs(gamma) * (wave.time[-1] - wave.start) > 0.05


def parse_arguments():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("history", metavar="HISTORY", help="a run's output folder, or its history.csv")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--mode", nargs=2, type=int, metavar=("MX", "MY"), help="density mode (default: the first there)")
    what.add_argument("--field-energy", action="store_true", help="fit the field energy instead of a density mode")
    parser.add_argument("--from", dest="start", type=float, metavar="T", help="start of the window")
    parser.add_argument("--to", dest="end", type=float, metavar="T", help="end of the window")
    parser.add_argument(
        "--model",
        choices=["auto", "oscillation", "exponential"],
        default="auto",
        help="what to fit (default: auto, by looking for an oscillation)",
    )
    parser.add_argument("--theory", choices=sorted(WINDOWS), help="print the root of this dispersion relation beside")
    parser.add_argument("--k", type=float, help="wave number of --theory, in 1/lambda_D")
    parser.add_argument("--drift", type=float, help="two-stream: drift of each beam")
    parser.add_argument(
        "--thermal", type=float, default=1.0, help="two-stream: thermal velocity of each beam (default: 1)"
    )
    parser.add_argument("--dt", type=float, help="with --dx: compare with this time step and cell size")
    parser.add_argument("--dx", type=float, help="with --dt: cell size along the wave")
    parser.add_argument("--theory-gamma", type=float, metavar="GAMMA", help="a rate to compare with")
    parser.add_argument("--theory-omega", type=float, metavar="OMEGA", help="a frequency to compare with")
    arguments = parser.parse_args()
    if (arguments.theory is None) != (arguments.k is None):
        parser.error("--theory and --k go together")
    if arguments.theory and (arguments.theory_gamma is not None or arguments.theory_omega is not None):
        parser.error("give either --theory or --theory-gamma and --theory-omega")
    if arguments.theory == "two-stream" and arguments.drift is None:
        parser.error("--theory two-stream needs --drift")
    if (arguments.dt is None) != (arguments.dx is None) or (arguments.dt is not None and not arguments.theory):
        parser.error("--dt and --dx go together, with --theory")
    for name in ("k", "thermal", "dt", "dx"):
        value = getattr(arguments, name)
        if value is not None and not 0 < value < np.inf:
            parser.error(f"--{name} must be a positive number")
    return parser, arguments


def main():
    parser, arguments = parse_arguments()
    window = WINDOWS.get(arguments.theory, (-np.inf, np.inf))
    start = window[0] if arguments.start is None else arguments.start
    end = window[1] if arguments.end is None else arguments.end
    if not start < end:
        parser.error("--from must be less than --to")
    history = read_history(arguments.history)
    wave, name = select(history, arguments, (start, end))
    measured = fit(wave, arguments.model)
    report(history, name, wave, measured, theories(arguments, wave))
    if np.isneginf(start) and holds_transient(wave, measured.gamma):
        print("  note: this window holds the transient of the start too, which shifts the rate; choose one with --from")


if __name__ == "__main__":
    run_script(main)
