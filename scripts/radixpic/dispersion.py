"""Roots of the electrostatic dispersion relation of any set of drifting Maxwellians, numpy only.

Units: time 1/omega_p, length lambda_D, so the thermal velocity of a plain Maxwellian is 1. A wave goes as
exp(i (k x - w t)) with w = omega + i gamma: amplitudes grow as exp(gamma t), energies as exp(2 gamma t). `beams` is
a list of (density, drift, thermal velocity) along the wave; of species other than electrons the density counts q^2/m
times.
"""

from functools import cache

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
SHAPES = ("ngp", "cic", "tsc", "cubic")  # by order


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
