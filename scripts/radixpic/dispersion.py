"""Roots of the dispersion relation of waves of charge in any set of drifting Maxwellians, cold or in a uniform magnetic
field too, numpy only.

Units: time 1/omega_p, length lambda_D, so the thermal velocity of a plain Maxwellian is 1. A wave goes as
exp(i (k x - w t)) with w = omega + i gamma: amplitudes grow as exp(gamma t), energies as exp(2 gamma t). `beams` is
a list of Beam, or of its first three numbers.
"""

import math
from functools import cache
from typing import NamedTuple

from radixpic.script import numpy as np


@cache
def _weideman_coefficients(n=64):
    half = 2 * n
    scale = np.sqrt(n / np.sqrt(2))
    t = scale * np.tan(np.arange(-half + 1, half) * np.pi / (2 * half))
    f = np.concatenate([[0.0], np.exp(-t * t) * (scale * scale + t * t)])
    return scale, np.real(np.fft.fft(np.fft.fftshift(f)))[1 : n + 1][::-1] / (2 * half)


def faddeeva(z):
    """w(z) = exp(-z^2) erfc(-i z), by J. A. C. Weideman, SIAM J. Numer. Anal. 31 (1994) 1497, eq. (38); z may be an
    array."""
    scale, coefficients = _weideman_coefficients()
    z = np.asarray(z, complex)
    upper = np.where(z.imag < 0, -z, z)  # the expansion holds in the upper half plane
    below = scale - 1j * upper
    sum_ = np.polyval(coefficients, (scale + 1j * upper) / below)
    value = 2 * sum_ / below**2 + 1 / (np.sqrt(np.pi) * below)
    return np.where(z.imag < 0, 2 * np.exp(-z * z) - value, value)


class Beam(NamedTuple):
    """Maxwellian particles. A uniform magnetic field turns the velocities across it; of a kick along the wave the share
    `turning` turns with them, sin^2 of the angle between both, and the rest goes on.

    lightness has the coefficients, in Hermite polynomials of the velocity along the wave, of what a kick moves: (1 -
    v^2/c^2)/g of relativistic particles, averaged over their other velocities, with v along the wave.
    """

    density: float  # of species other than electrons it counts q^2/m times
    drift: float  # along the wave
    spread: float  # thermal velocity along the wave, of what does not turn; 0 is cold
    across: float = 0.0  # and of what turns: the thermal velocity across the field times the sine of the angle
    gyration: float = 0.0  # q B/m
    turning: float = 0.0
    lightness: tuple = (1.0,)


def beams_of(beams):
    return [Beam(*beam) for beam in beams]


def plasma_z_derivatives(z, count):
    """The plasma dispersion function Z = i sqrt(pi) w (Fried and Conte 1961) and its derivatives, Z' = -2 (1 + z Z)."""
    found = [1j * np.sqrt(np.pi) * faddeeva(z)]
    found.append(-2 * (1 + z * found[0]))
    for n in range(1, count - 1):
        found.append(-2 * (n * found[n - 1] + z * found[n]))
    far = (abs(z) > FAR) & ((z.imag > 0) | ((z * z).real > 40))  # there by the asymptotic series: the sums lose digits
    inverse = 1 / np.where(far, z, FAR)
    for n in range(len(found)) if np.any(far) else ():
        terms = [math.prod(range(1, 2 * m, 2)) / 2**m * math.perm(2 * m + n, n) for m in range(12)]
        found[n] = np.where(far, (-inverse) ** (n + 1) * np.polyval(terms[::-1], inverse**2), found[n])
    return found


def plasma_z_prime(z):
    return plasma_z_derivatives(z, 2)[1]


def passing(a, width, count=1):
    """Of particles that pass a wave, the integrals over times t of exp(i a t), and of t exp(i a t), times the mean over
    normal x of each of the first Hermite polynomials of x times exp(-i width x t): two arrays [..., count]."""
    if not width:
        return (1j / a)[..., None], (-1 / a**2)[..., None]
    derivatives = plasma_z_derivatives(a / (np.sqrt(2) * width), count + 1)
    j = np.arange(count)
    once = np.stack(derivatives[:-1], -1) * (-1j) ** (2 * j + 1) * 2 ** (-0.5 * (j + 1)) / width
    late = np.stack(derivatives[1:], -1) * (-1j) ** (2 * j + 2) * 2 ** (-0.5 * (j + 2)) / width**2
    return once, late


def harmonics(square):
    """n, and the shares exp(-square) I_n(square) of those n times the gyration in the motion of a Maxwellian, I_n being
    Bessel's modified functions; and half the differences of the shares beside."""
    most = int(8 * math.sqrt(square)) + 8
    angles = 2 * np.pi * np.arange(4 * most) / (4 * most)
    shares = np.fft.fft(np.exp(square * (np.cos(angles) - 1))).real / len(angles)
    n = np.arange(-most, most + 1)
    differences = (shares[n - 1] - shares[n + 1]) / 2
    kept = (shares[n] > 1e-13) | (abs(differences) > 1e-13)
    return n[kept], shares[n][kept], differences[kept]


def response(w, k, beam):
    """Of its density to the field of a wave."""
    a = np.asarray(w, complex) - k * beam.drift
    if not beam.turning:
        return passing(a, k * beam.spread, len(beam.lightness))[1] @ np.array(beam.lightness)
    n, shares, differences = harmonics((k * beam.across / beam.gyration) ** 2)
    a = a[..., None] + n * beam.gyration
    once, late = passing(a, k * beam.spread)
    turned = beam.turning / (1j * beam.gyration) * (once[..., 0] @ differences)
    return turned + (1 - beam.turning) * (late[..., 0] @ shares)


def dielectric(w, k, beams):
    """0 at a wave: without a magnetic field 1 - sum n Z'((w - k u) / (k s sqrt 2)) / (2 k^2 s^2), with one Harris's sum
    over harmonics of the gyration (T. H. Stix, Waves in Plasmas, 1992, chapter 11)."""
    return 1 + sum(beam.density * response(w, k, beam) for beam in beams_of(beams))


FAR = 26  # of an argument of Z
LEAST_OMEGA = 1e-9  # of a root: less is Newton's rounding of 0
SHAPES = ("ngp", "cic", "tsc", "cubic", "quartic")  # by order


def grid_factor(k, cells, shape="cic", gradient="spectral", filter_passes=0, filter_compensator=False):
    """What the grid makes of the field of a wave with components k on cells of these sizes: 1 without a grid.

    Deposit and interpolation each weigh the wave with the shape, sinc^(order + 1)(k dx / 2) along each axis, the
    centred gradient takes sin(k dx) / dx for k, and a pass of the filter multiplies by cos^2(k dx / 2) along each axis,
    the compensator of N passes by 1 + N sin^2(k dx / 2) (Birdsall and Langdon 1985, chapters 4 and 8, appendix C; the
    grid's aliases are left out).
    """
    k, half = np.array(k, float), 0.5 * np.multiply(k, cells)
    slope = k if gradient == "spectral" else k * np.sinc(2 * half / np.pi)
    shapes = np.prod(np.sinc(half / np.pi)) ** (2 * SHAPES.index(shape) + 2)
    given_back = np.prod(1 + filter_passes * np.sin(half) ** 2) if filter_compensator else 1
    return float(shapes * (slope @ k) / (k @ k) * np.prod(np.cos(half)) ** (2 * filter_passes) * given_back)


def motion(beam, k, t, dt):
    """What is left of a wave of this beam alone after times t, multiples of dt, and how far a unit kick along the wave
    has moved it by then, by steps dt with Boris' rotation."""
    left = np.exp(-1j * k * beam.drift * t - 0.5 * (k * beam.spread * t) ** 2)
    if not beam.turning:
        return left, t * np.polyval(beam.lightness[::-1], -1j * k * beam.spread * t)
    step = 2 * math.atan(beam.gyration * dt / 2)
    left = left * np.exp((k * beam.across * dt / (2 * math.sin(step / 2))) ** 2 * (np.cos(step / dt * t) - 1))
    return left, (1 - beam.turning) * t + beam.turning * np.sin(step / dt * t) / beam.gyration


def discrete_passing(w, k, drift, width, count, dt):
    """The same as passing() for leapfrog steps, with forces at whole ones: of what moves half a step later, of the way
    gone by then, and of the way gone by whole steps."""
    if not width:
        turn, half = np.exp(1j * (w - k * drift) * dt), np.exp(-0.5j * k * drift * dt)
        once, late = dt * half / (1 - turn), dt * dt * half * (1 + turn) / (2 * (1 - turn) ** 2)
        return once[..., None], late[..., None], (dt * dt * turn / (1 - turn) ** 2)[..., None]
    step = dt * np.arange(int(40 / (dt * width)) + 10)
    phase = dt * np.exp(1j * np.multiply.outer(w, step))

    def pass_by(t):
        free = np.exp(-1j * k * drift * t - 0.5 * (width * t) ** 2)
        return free[:, None] * np.power.outer(-1j * width * t, np.arange(count))

    middle = step + 0.5 * dt
    once = pass_by(middle)
    return phase @ once, phase @ (middle[:, None] * once), phase @ (step[:, None] * pass_by(step))


def discrete_response(w, k, beam, dt):
    """The same as response() for leapfrog steps."""
    w, step = np.asarray(w, complex), 2 * math.atan(beam.gyration * dt / 2)
    if not beam.turning:
        passed = discrete_passing(w, k, beam.drift, k * beam.spread, len(beam.lightness), dt)
        return passed[2] @ np.array(beam.lightness)
    if beam.spread:
        t = dt * np.arange(1, int(40 / (k * dt * beam.spread)) + 10)
        left, moved = motion(beam, k, t, dt)
        return dt * np.exp(1j * np.multiply.outer(w, t)) @ (left * moved)
    n, shares, differences = harmonics((k * beam.across * dt / (2 * math.sin(step / 2))) ** 2)
    turn = np.exp(1j * ((w - k * beam.drift)[..., None] * dt + n * step))
    turned = beam.turning / (1j * beam.gyration) * (turn / (1 - turn) @ differences)
    return dt * (turned + (1 - beam.turning) * dt * (turn / (1 - turn) ** 2 @ shares))


def discrete_dielectric(w, k, beams, dt, factor):
    """The same as dielectric() for leapfrog steps dt on a grid, whose grid_factor() each kick has."""
    return 1 + factor * sum(beam.density * discrete_response(w, k, beam, dt) for beam in beams_of(beams))


def newton(function, starts):
    """The complex roots that Newton's method comes to from these starts."""
    w = np.array(starts, complex).ravel()
    left = np.arange(len(w))
    with np.errstate(all="ignore"):
        for _ in range(100):
            h = 1e-6 * (1 + abs(w[left]))
            step = 2 * h * function(w[left]) / (function(w[left] + h) - function(w[left] - h))
            w[left] -= step
            w[left[~(abs(w[left]) < 1e3)]] = np.nan
            left = left[abs(step) > 1e-9 * (1 + abs(w[left]))]  # quadratic: the error that stays is far smaller
            if not len(left):
                break
        w[left] = np.nan
        return w[abs(function(w)) < abs(function(w + 1e-5 * (1 + abs(w))))]  # at a pole steps are small too


def tidy(w):
    """(gamma, omega) without the rounding of Newton's method: roots of no growth have none."""
    return tuple(float(part) * (abs(part) > LEAST_OMEGA) + 0.0 for part in (w.imag, abs(w.real)))


def waves_without_spread(k, beams):
    """The waves of beams that are cold along the wave: eigenvalues, since their dielectric() is a sum of poles, simple
    ones and double ones."""
    poles, simple, double = [], [], []
    for beam in beams_of(beams):
        n, shares, differences = harmonics((k * beam.across / beam.gyration) ** 2) if beam.turning else (0, 1.0, 0.0)
        poles.append(np.atleast_1d(k * beam.drift - n * beam.gyration))
        simple.append(beam.density * np.atleast_1d(beam.turning * differences) / (beam.gyration or 1))
        double.append(beam.density * np.atleast_1d((1 - beam.turning) * shares * beam.lightness[0]))
    poles, residues = np.concatenate(poles), np.concatenate([*double, *simple])
    matrix = np.kron([[1, 0], [0, 1]], np.diag(poles)) + np.kron([[0, 1], [0, 0]], np.eye(len(poles)))
    matrix[len(poles) :] += residues * np.sign(np.repeat([1, -1], len(poles)))
    return np.linalg.eigvals(matrix)


def roots(k, beams):
    """Roots (gamma, omega) that Newton's method finds, the fastest growing or least damped first, of those without
    growth the slowest first; omega is not negative."""
    beams = beams_of(beams)
    total = np.sqrt(sum(beam.density for beam in beams))
    starts = [waves_without_spread(k, beams)]
    for beam in beams if any(beam.spread for beam in beams) else ():  # its waves, and those of all in its frame
        for width in (k * beam.spread or np.sqrt(beam.density), np.sqrt(total**2 + 3 * (k * beam.spread) ** 2)):
            growth = 1j * np.array([-1, -0.3, -0.1, 0.01, 0.1, 0.4])
            starts.append(np.ravel(k * beam.drift + width * np.add.outer(np.linspace(-2, 2, 9), growth)))
    found = []
    for w in newton(lambda w: dielectric(w, k, beams), np.concatenate(starts)):
        if all(abs(w.imag - gamma) + abs(abs(w.real) - omega) > 1e-6 * total for gamma, omega in found):
            found.append(tidy(w))
    return sorted(found, key=lambda root: (-root[0], root[1]))


def landau_root(k):
    """Least damped root of a Maxwellian, (gamma, omega); None where Newton finds none."""
    return next(iter(roots(k, [(1, 0, 1)])), None)


def two_stream_beams(drift, thermal):
    return [(0.5, drift, thermal), (0.5, -drift, thermal)]


def two_stream_root(k, drift, thermal):
    """Fastest growing mode of two equal beams at +-drift, (gamma, 0); None where all are stable."""
    found = roots(k, two_stream_beams(drift, thermal))
    return next(((gamma, 0.0) for gamma, omega in found if gamma > 1e-9 and omega < 1e-6), None)


def discrete_root(root, k, beams, dt, factor):
    """What the continuum's root (gamma, omega) becomes with steps dt and a grid_factor(); None where none is found."""
    start = [complex(root[1], root[0])]
    return next(map(tidy, newton(lambda w: discrete_dielectric(w, k, beams, dt, factor), start)), None)


def discrete_series(steps, k, beams, dt, factor, weights=None):
    """n_k(t) / n_k(0) at steps 0 to `steps` of a wave that starts as a density perturbation: transients and all.

    Each density feeds a kick, each kick moves the density of all later steps; the first kick is half of one. weights
    are the shares of the beams in the perturbation, their densities by default.
    """
    t, beams = dt * np.arange(steps + 1), beams_of(beams)
    left, moved = zip(*(motion(beam, k, t, dt) for beam in beams))
    weights = np.array([beam.density for beam in beams] if weights is None else weights)
    free = weights / weights.sum() @ np.array(left)
    kernel = factor * dt * sum(beam.density * wave * way for beam, wave, way in zip(beams, left, moved))
    series = np.zeros(steps + 1, complex)
    series[0] = 1
    for i in range(1, steps + 1):
        series[i] = free[i] - 0.5 * kernel[i] * series[0] - kernel[i - 1 : 0 : -1] @ series[1:i]
    return series
