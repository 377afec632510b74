"""Growth or damping rate and frequency of a wave in a history, and what linear theory says of it."""

import math
import re
from typing import NamedTuple

from radixpic import dispersion, theory
from radixpic.history import MODE
from radixpic.script import Problem, numpy as np

LEAST_ROWS = 8
LEAST_LEAD = 0.1  # in rate, of a root that a wave soon follows alone
LEAST_PERIODS = 2  # in a window: with fewer a fit follows its ends, and any bend looks like a wave about a constant
MOST_CHANGE, MOST_SLOWING = 0.3, 0.15  # of the rate, between any thirds of a window, and from the second to the last
MOST_LEFT = 0.3  # of a wave by its fit; one wave leaves a twentieth
FIFTH = 0.2  # of the greatest amplitude, up to which growth is linear still


class Fit(NamedTuple):
    """Rate and frequency of a wave; their standard errors by least squares, as if residuals were independent from row
    to row (without what another window would change); sizes of the constant it swings about and of its swing, where one
    was fitted; sentences to know beside.
    """

    gamma: float
    omega: float
    gamma_error: float = 0.0
    omega_error: float = 0.0
    offset: float = 0.0
    swing: float = 0.0
    notes: tuple = ()

    def __str__(self):
        said = f"gamma = {self.gamma:.6g} +- {self.gamma_error:.2g}, omega = {self.omega:.6g} +- {self.omega_error:.2g}"
        return "\nnote: ".join([said, *self.notes])


class Wave:
    """A series to fit: columns (rows x 1 or 2), and how many powers of the wave it is (1 amplitude, 2 energy).

    With `offset` the wave may swing about a constant; `has_start` where its first row is the run's.
    """

    def __init__(self, time, columns, power, offset=False, has_start=False):
        self.time = time
        self.start = time[0]
        self.columns = columns
        self.power = power
        self.offset = offset
        self.has_start = has_start

    def within(self, start, end=math.inf, offset=False):
        """Its rows in a window of time."""
        rows = (self.time >= start) & (self.time <= end)
        return Wave(self.time[rows], self.columns[rows], self.power, offset)

    def size(self):
        """|wave|^power in each row."""
        return np.sqrt(np.sum(self.columns**2, axis=1))

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

    def jacobian(self, parameters):
        """Of the residual by (gamma, omega)."""
        steps = 1e-6 * np.eye(2)
        return np.stack([(self.residual(parameters + h) - self.residual(parameters - h)) / 2e-6 for h in steps], axis=1)

    def slope(self):
        """gamma of a straight line through log |wave|, its standard error, and the series with that trend taken out."""
        size = self.size()
        if np.any(size == 0):
            raise Problem("the series is exactly zero at some time, so it has no logarithm; choose another window")
        t = self.time - self.start
        line, (left,), *_ = np.polyfit(t, np.log(size), 1, full=True)
        error = math.sqrt(left / (len(t) - 2) / np.sum((t - t.mean()) ** 2))
        return float(line[0]) / self.power, error / self.power, self.columns * np.exp(-line[0] * t)[:, None]

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
    """Levenberg-Marquardt on (gamma, omega); returns both and their standard errors."""
    parameters, damping = np.array([gamma, omega]), 1e-3
    residual = wave.residual(parameters)
    for _ in range(200):
        jacobian = wave.jacobian(parameters)
        normal = jacobian.T @ jacobian
        step = np.linalg.lstsq(normal + damping * np.diag(np.diag(normal)), -jacobian.T @ residual, rcond=None)[0]
        trial = wave.residual(parameters + step)
        if trial @ trial <= residual @ residual:
            parameters, residual, damping = parameters + step, trial, damping / 5
        else:
            damping *= 5
        if np.max(np.abs(step)) < 1e-10:
            break
    freedom = max(wave.columns.size - wave.basis(*parameters).shape[1] * wave.columns.shape[1] - 2, 1)
    inverse = np.linalg.pinv(wave.jacobian(parameters))
    errors = np.sqrt(np.sum(inverse**2, axis=1) * (residual @ residual) / freedom)
    return float(parameters[0]), float(abs(parameters[1])), *map(float, errors)


def fit_about_zero(wave, model):
    gamma, error, flat = wave.slope()
    omega = 0.0 if model == "exponential" else wave.guess_frequency(flat)
    if omega == 0.0:
        if model == "oscillation":
            raise Problem("the window holds less than half an oscillation; widen it or use --model exponential")
        return Fit(gamma, 0.0, error)
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
    if not shifted.misfit(found[:2]) < 0.05 * variance:
        return None
    swing, constant = np.split(shifted.coefficients(found[:2]), [2])
    return Fit(
        *found, float(np.linalg.norm(constant)), float(np.linalg.norm(swing, 2))
    )  # 2: the long axis of an ellipse


def rates_of_thirds(wave, found):
    """(gamma, its standard error) in each third of the window, of an oscillation or by the slope, as the Fit of the
    whole has them; none where a third has too few rows, or a zero."""
    bounds = np.linspace(wave.start, wave.time[-1], 4)
    thirds = [wave.within(*pair, offset=found.offset > 0) for pair in zip(bounds, bounds[1:])]
    if min(len(third.time) for third in thirds) < LEAST_ROWS:
        return []
    try:
        if found.omega * (wave.time[-1] - wave.start) < LEAST_PERIODS * 2 * np.pi:
            return [third.slope()[:2] for third in thirds]
        return [refine(third, *found[:2])[::2] for third in thirds]
    except Problem:
        return []


def share_left(wave, found):
    """Root mean square of what a Fit leaves, as a share of the swing, or of the wave itself where it does not swing."""
    if not found.omega:  # by the error of the slope, as slope() has it
        return found.gamma_error * np.std(wave.time) * math.sqrt(len(wave.time) - 2)
    fitted = Wave(wave.time, wave.columns, wave.power, offset=found.offset > 0)
    around = wave.columns - wave.columns.mean(axis=0)
    return math.sqrt(fitted.misfit(found[:2]) / np.sum(around**2))


def is_below(one, other, least):
    """Whether one of two (gamma, its standard error) is below the other by at least so much, and by more than noise."""
    return other[0] - one[0] > max(least, 4 * math.hypot(one[1], other[1]))


def note_of_end(wave):
    """Of a window in which growth ends: where it is linear still."""
    size = wave.size()
    end = wave.time[np.argmax(size >= FIFTH**wave.power * size.max())]
    if end - wave.start < (wave.time[-1] - wave.start) / 4:
        return "reaches into saturation; choose one that begins and ends earlier"
    return f"reaches into saturation; choose one that ends by t = {end:.4g}, with a fifth of the greatest amplitude"


def note_of_start(wave, found):
    """Of a window with the start of the run, and what the wave does after it."""
    transient = 2 * np.pi / found.omega if found.omega else 3 / abs(found.gamma)
    later = wave.within(wave.start + min(transient, (wave.time[-1] - wave.start) / 2))
    try:
        gamma, omega, *_ = best_of(later, "auto" if found.omega else "exponential")
        there = f": from t = {later.start:.4g} on gamma is {gamma:.4g}" + f" and omega {omega:.4g}" * (omega > 0)
    except Problem:  # it is zero somewhere
        there = ""
    said = "the window holds the transient of the start too, which shifts the rate"
    return f"{said}{there}; choose one that begins later"


def notes_of(wave, found):
    """Of a Fit: too few periods; growth by more than e which ends in the window; the start of a wave that grows or
    decays, which is not yet the mode alone; a rate that changes from third to third, by a part of it that makes a fifth
    of the amplitude; much that is left; and a constant."""
    span, notes = wave.time[-1] - wave.start, []
    periods = found.omega * span / (2 * np.pi)
    if 0 < periods < LEAST_PERIODS:
        notes.append(f"the window holds {periods:.2g} periods of the wave; with fewer than {LEAST_PERIODS} its ends "
            "shift rate and frequency")
    thirds, whole = rates_of_thirds(wave, found), (found.gamma, found.gamma_error)
    least, *_, most = sorted([whole, whole, *thirds])
    rates = thirds and "gamma is {:.3g}, {:.3g} and {:.3g} in the thirds of the window".format(*next(zip(*thirds)))
    if thirds and found.gamma * span > 1 and is_below(thirds[2], thirds[1], MOST_SLOWING * thirds[1][0]):
        notes.append(f"{rates}, which {note_of_end(wave)}")
    elif wave.has_start and abs(found.gamma) * span > 0.05:
        notes.append(note_of_start(wave, found))
    elif not 0 < periods < LEAST_PERIODS and is_below(least, most, max(MOST_CHANGE * abs(found.gamma), 0.2 / span)):
        notes.append(f"{rates}: this is not one wave of one rate; choose another window")
    elif (left := share_left(wave, found)) > MOST_LEFT:
        notes.append(f"the fit leaves {left:.0%} of the wave: noise or other waves in the window shift the rate")
    if found.offset:
        notes.append(f"the mode swings by {found.swing:.4g} about a constant {found.offset:.4g}, fitted too")
    return tuple(notes)


def fit(wave, model="auto"):
    """The Fit of the wave, with its notes; model is auto, oscillation or exponential (then omega is 0)."""
    found = best_of(wave, model)
    return found._replace(notes=notes_of(wave, found))


def best_of(wave, model):
    """The Fit about zero or about a constant, without notes.

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


def select(history, name=None, start=-math.inf, end=math.inf):
    """The wave to fit: "density_1_0", "Ex_1_0", a column of energy or another, or where name is None the first density
    mode."""
    if name in history.columns:
        series, power = history[name][:, None], 2 if name.endswith("_energy") else 1
    elif name is None and not history.modes:
        raise Problem(f"{history.path} holds no density modes; use --field-energy or --column")
    else:
        match = re.fullmatch(MODE, name) if name else None
        if name and not match:
            raise Problem(f"a fit is of density_MX_MY or a column such as field_energy, not of {name}")
        of, mode = (match[1], (int(match[2]), int(match[3]))) if match else ("density", next(iter(history.modes)))
        values = history.mode(mode, of)
        series, power, name = np.stack([values.real, values.imag], axis=1), 1, f"{of} mode ({mode[0]}, {mode[1]})"
    time = history["time"]
    inside = (time >= start - 1e-9) & (time <= end + 1e-9)
    if np.count_nonzero(inside) < LEAST_ROWS:
        raise Problem(f"{history.path} has {np.count_nonzero(inside)} rows from t = {start:g} to {end:g}, of "
            f"{len(time)} up to t = {time[-1]:g}; a fit needs {LEAST_ROWS}")
    name = name.replace("_", " ")
    if not np.all(np.isfinite(series[inside])) or not np.all(np.diff(time[inside]) > 0):
        raise Problem(f"{history.path}: the {name} is not finite, or time does not rise, in the window")
    return Wave(time[inside], series[inside], power, has_start=bool(inside[0])), name


def fit_exact_series(wave, plasma, model="auto"):
    """What the same fit measures in a run without noise and nonlinearity, with which a fit is compared."""
    series = theory.exact_series(wave.time, plasma)
    if series is None:
        return None
    columns = np.abs(series[:, None]) ** 2 if wave.power == 2 else np.stack([series.real, series.imag], axis=1)
    return fit(Wave(wave.time, columns, wave.power), model)


def own_theory(history, mode):
    """The exact_series() of a mode that a run starts with, by the config beside its history, and the root (gamma,
    omega) that it soon follows, None where another is near; a Problem where theory is not of that plasma or start."""
    plasma = theory.plasma_of(history.config(), mode)
    series = theory.exact_series(history["time"], plasma)
    first, second, *_ = [*dispersion.roots(plasma.k, plasma.beams), (-math.inf, 0), (-math.inf, 0)]
    return series, first if first[0] > second[0] + LEAST_LEAD else None


def own_growth(history):
    """The rate at which a magnetic field grows by the theory of the config beside the history; None where none does."""
    waves = theory.waves_of(history.config(), None, "magnetic_energy")
    rate = max((own[0] for one in waves for own in map(one.own, one.roots[:1]) if own), default=0)
    return rate if rate > 0 else None


class Fits:
    """Fits and theory of what has a history and a config."""

    def fit(self, name=None, start=-math.inf, end=math.inf, model="auto"):
        """The Fit of "density_MX_MY" (by default the first) or a column, as "field_energy", in a window of time: gamma,
        omega, ...

        model is auto, oscillation or exponential. See scripts/fit_rate.py --help for what is fitted.
        """
        return fit(select(self.history, name, start, end)[0], model)

    def _plasma(self, mode):
        return theory.plasma_of(self.config, mode)

    def fit_linear(self, mode=None, start=-math.inf, end=math.inf, model="auto"):
        """What the same fit() of a mode measures in linear_series()."""
        name = "density_{}_{}".format(*self.history.mode_or_first(mode))
        return fit_exact_series(select(self.history, name, start, end)[0], self._plasma(mode), model)

    def linear_series(self, mode=None):
        """n_k(t) / n_k(0) of the exact linear solution, all its roots together, with the time step and grid of the run:
        at the times of its history."""
        return theory.exact_series(self.history["time"], self._plasma(mode))

    def theory(self, mode=None, column=None):
        """Roots (gamma, omega) of the linear theory of the own species for a mode, by default the first one followed:
        of its density, or of a column of fields, as "magnetic_energy"."""
        return [root for waves in theory.waves_of(self.config, mode, column) for root in waves.roots]
