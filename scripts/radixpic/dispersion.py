"""Roots of the electrostatic dispersion relation of any set of drifting Maxwellians, numpy only.

Units: time 1/omega_p, length lambda_D, so the thermal velocity of a plain Maxwellian is 1. A wave goes as
exp(i (k x - w t)) with w = omega + i gamma: amplitudes grow as exp(gamma t), energies as exp(2 gamma t). `beams` is
a list of (density, drift, thermal velocity) along the wave; of species other than electrons the density counts q^2/m
times.
"""

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


def plasma_z_prime(z):
    """Derivative of the plasma dispersion function (Fried and Conte 1961), Z' = -2 (1 + z Z), Z = i sqrt(pi) w."""
    return -2 * (1 + z * 1j * np.sqrt(np.pi) * faddeeva(z))


def dielectric(w, k, beams):
    """1 - sum n Z'((w - k u) / (k s sqrt 2)) / (2 k^2 s^2)."""
    return 1 - sum(n * plasma_z_prime((w - k * u) / (k * s * np.sqrt(2))) / (2 * k * k * s * s) for n, u, s in beams)


LEAST_OMEGA = 1e-9  # of a root: less is Newton's rounding of 0
SHAPES = ("ngp", "cic", "tsc", "cubic", "quartic")  # by order


def grid_factor(k, cells, shape="cic", gradient="spectral", filter_passes=0):
    """What the grid makes of the field of a wave with components k on cells of these sizes: 1 without a grid.

    Deposit and interpolation each weigh the wave with the shape, sinc^(order + 1)(k dx / 2) along each axis, the
    centred gradient takes sin(k dx) / dx for k, and a pass of the filter multiplies by cos^2(k dx / 2) along each axis
    (Birdsall and Langdon 1985, chapters 4 and 8, appendix C; the grid's aliases are left out).
    """
    k, half = np.array(k, float), 0.5 * np.multiply(k, cells)
    slope = k if gradient == "spectral" else k * np.sinc(2 * half / np.pi)
    shapes = np.prod(np.sinc(half / np.pi)) ** (2 * SHAPES.index(shape) + 2)
    return float(shapes * (slope @ k) / (k @ k) * np.prod(np.cos(half)) ** (2 * filter_passes))


def discrete_dielectric(w, k, beams, dt, factor):
    """The same for leapfrog steps dt on a grid, whose grid_factor() each kick has: it moves the density m steps later
    by m dt^2."""
    m = np.arange(1, int(40 / (k * dt * min(s for _, _, s in beams))) + 10)
    wave = np.exp(1j * np.multiply.outer(w, m) * dt)
    free = sum(n * np.exp(-1j * k * u * m * dt - 0.5 * (k * s * m * dt) ** 2) for n, u, s in beams)
    return 1 + factor * dt * dt * wave @ (m * free)


def newton(function, starts):
    """The complex roots that Newton's method comes to from these starts."""
    w = np.array(starts, complex).ravel()
    with np.errstate(all="ignore"):
        for _ in range(100):
            h = 1e-6 * (1 + abs(w))
            step = 2 * h * function(w) / (function(w + h) - function(w - h))
            w = np.where(abs(w - step) < 1e3, w - step, np.nan)
            if not np.any(abs(step) > 1e-9 * (1 + abs(w))):
                break
    return w[abs(step) < 1e-9 * (1 + abs(w))]  # quadratic: the error left is far smaller


def roots(k, beams):
    """Roots (gamma, omega) that Newton's method finds, the fastest growing or least damped first; omega is not
    negative."""
    total = np.sqrt(sum(n for n, _, _ in beams))
    starts = []
    for n, u, s in beams:  # the waves of each beam, and those of all together in its frame
        for width in (k * s, np.sqrt(total**2 + 3 * (k * s) ** 2)):
            growth = 1j * np.array([-1, -0.3, -0.1, 0.01, 0.1, 0.4])
            starts.append(k * u + width * np.add.outer(np.linspace(-2, 2, 9), growth))
    found = []
    for w in newton(lambda w: dielectric(w, k, beams), starts):
        if all(abs(w.imag - gamma) + abs(abs(w.real) - omega) > 1e-6 * total for gamma, omega in found):
            found.append((float(w.imag), float(abs(w.real) * (abs(w.real) > LEAST_OMEGA))))
    return sorted(found, reverse=True)


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
    for w in newton(lambda w: discrete_dielectric(w, k, beams, dt, factor), [complex(root[1], root[0])]):
        return float(w.imag), float(w.real * (abs(w.real) > LEAST_OMEGA)) + 0.0
    return None


def discrete_series(steps, k, beams, dt, factor, weights=None):
    """n_k(t) / n_k(0) at steps 0 to `steps` of a wave that starts as a density perturbation: transients and all.

    Each density feeds a kick, each kick moves the density of all later steps; the first kick is half of one. weights
    are the shares of the beams in the perturbation, their densities by default.
    """
    m = np.arange(steps + 1)
    moving = [np.exp(-1j * k * u * m * dt - 0.5 * (k * s * m * dt) ** 2) for _, u, s in beams]
    weights = np.array([n for n, _, _ in beams] if weights is None else weights, float)
    free = sum(weight * wave for weight, wave in zip(weights / weights.sum(), moving))
    response = sum(n * wave for (n, _, _), wave in zip(beams, moving))
    kernel = factor * dt * dt * m * response
    series = np.zeros(steps + 1, complex)
    series[0] = 1
    for i in range(1, steps + 1):
        series[i] = free[i] - 0.5 * kernel[i] * series[0] - kernel[i - 1 : 0 : -1] @ series[1:i]
    return series


# ---- transverse waves of an electromagnetic run: exp(i (k x - w t)) of E across k ----


class Streams(NamedTuple):
    """Species that no uniform field turns, by their velocities along k: arrays of those, and for each of the density
    times the means over the velocities v along E of 1/g, (1 - v^2/c^2)/g and v^2/g, where g^2 = 1/(1 - speed^2/c^2)."""

    along: object
    lightness: object
    stiffness: object
    pressure: object
    spacing: float  # of the velocities along k: waves must grow faster than k times twice that


def streams(species, c):
    """Of a list of (density, drift along E, spread along k, along E and along the third axis): Maxwellians of the
    velocity."""
    points, shares = np.polynomial.hermite_e.hermegauss(24)
    shares = shares / shares.sum()
    parts = []
    for density, drift, *spread in species:
        along = spread[0] * (np.linspace(-8, 8, 801) if spread[0] else np.zeros(1))
        weight = np.exp(-0.5 * (along / (spread[0] or 1)) ** 2)
        weight *= density / weight.sum()
        u, v, w = np.meshgrid(along, drift + spread[1] * points, spread[2] * points, indexing="ij")
        slowness = np.sqrt(np.maximum(1 - (u * u + v * v + w * w) / c**2, 0))
        means = [
            weight * np.einsum("uvw,v,w", slowness * what, shares, shares) for what in (1, 1 - v * v / c**2, v * v)
        ]
        parts.append([along, *means])
    return Streams(*np.hstack(parts), 0.02 * max(spread for _, _, spread, *_ in species))


def transverse(w, k, c, plasma, dt=None, factor=1):
    """0 at a transverse wave of Streams that grows, or that is faster than all particles; with dt that of the scheme's
    steps on a grid of this grid_factor().

    The fields of all times before have turned the velocities and shifted the places of particles, and so made a current
    a E + b B.
    """
    w = np.asarray(w, complex)[..., None]
    if dt is None:
        once, late = 1j / (w - k * plasma.along), -1 / (w - k * plasma.along) ** 2
    else:
        turn, half = np.exp(1j * (w - k * plasma.along) * dt), np.exp(-0.5j * k * plasma.along * dt)
        once, late = dt * half / (1 - turn), dt * dt * half * (1 + turn) / (2 * (1 - turn) ** 2)
    a = factor * np.sum(plasma.stiffness * once + 1j * k * plasma.along * plasma.pressure / c**2 * late, axis=-1)
    b = factor * np.sum(plasma.lightness * plasma.along * once + 1j * k * plasma.pressure * late, axis=-1)
    w = w[..., 0]
    if dt is None:
        return w * w - (c * k) ** 2 + 1j * (w * a - k * b)
    cosine, sine, lost = np.cos(c * k * dt), np.sin(c * k * dt) / (c * k), (1 - np.cos(c * k * dt)) / (c * k) ** 2
    step = np.exp(-1j * w * dt) - cosine
    return (step + sine * a) * (step + 1j * k * lost * b) - sine * (b - 1j * c * c * k) * 1j * k * (lost * a - sine)


def transverse_roots(k, c, plasma):
    """The (gamma, omega) of light, and before it of a wave that grows."""
    total = np.sqrt(plasma.lightness.sum())
    starts = [*(1j * total * np.geomspace(0.003, 1, 12)), np.sqrt(total**2 + (c * k) ** 2)]
    found = {}
    for w in newton(lambda w: transverse(w, k, c, plasma), starts):
        if w.imag > 1e-6 * total + 2 * k * plasma.spacing or abs(w.real) > c * k:
            found[round(w.imag / total, 6), round(abs(w.real) / total, 6)] = tidy(w)
    return sorted(found.values(), reverse=True)


def transverse_root(root, k, c, plasma, dt, factor):
    """What a root becomes with steps dt and a grid_factor(); None where none is found."""
    return next(map(tidy, newton(lambda w: transverse(w, k, c, plasma, dt, factor), [complex(root[1], root[0])])), None)


def tidy(w):
    """(gamma, omega) without Newton's rounding."""
    return tuple(float(part) * (abs(part) > LEAST_OMEGA) + 0.0 for part in (w.imag, abs(w.real)))


def along_field(w, k, c, species, sense, dt=None, factor=1):
    """0 at a wave along a uniform field of a list of (density, gyration) at rest, gyration being q B/m along k; sense 1
    is that in which electrons turn."""
    if dt is None:
        wave, field, terms = w, w * w - (c * k) ** 2, 1
    else:
        th, wave = c * k * dt, 2 * np.tan(w * dt / 2) / dt
        field, terms = 4 * (np.sin(w * dt / 2) ** 2 - np.sin(th / 2) ** 2) / dt**2, factor * np.sin(th) / th
    poles = [wave + sense * gyration for _, gyration in species]
    answer = sum(n * wave * np.prod(np.array(poles[:s] + poles[s + 1 :]), axis=0) for s, (n, _) in enumerate(species))
    return field * np.prod(np.array(poles), axis=0) - terms * answer


def along_field_roots(k, c, species, dt=None, factor=1):
    """The frequencies of all waves along a uniform field, from low to high: of cold electrons whistler, L and R."""
    most = np.sqrt((c * k) ** 2 + sum(n for n, _ in species)) + max(abs(gyration) for _, gyration in species)
    found = set()
    for sense in (1, -1):
        waves = newton(lambda w: along_field(w, k, c, species, sense, dt, factor), np.geomspace(1e-4, 1, 200) * most)
        found |= {round(float(w.real), 9) for w in waves if 1e-9 < w.real < 1.1 * most and abs(w.imag) < 1e-8}
    return sorted(found)
