"""Roots of the electrostatic dispersion relation of drifting Maxwellians, numpy only.

Units: time 1/omega_p, length lambda_D, so the thermal velocity of a plain Maxwellian is 1. A wave goes as
exp(i (k x - w t)) with w = omega + i gamma: amplitudes grow as exp(gamma t), energies as exp(2 gamma t). `beams` is
a list of (density, drift, thermal velocity) along the wave, with densities that sum to 1.
"""

import numpy as np


def _weideman_coefficients(n):
    half = 2 * n
    scale = np.sqrt(n / np.sqrt(2))
    t = scale * np.tan(np.arange(-half + 1, half) * np.pi / (2 * half))
    f = np.concatenate([[0.0], np.exp(-t * t) * (scale * scale + t * t)])
    return scale, np.real(np.fft.fft(np.fft.fftshift(f)))[1 : n + 1][::-1] / (2 * half)


_SCALE, _COEFFICIENTS = _weideman_coefficients(64)


def faddeeva(z):
    """w(z) = exp(-z^2) erfc(-i z), by J. A. C. Weideman, SIAM J. Numer. Anal. 31 (1994) 1497, eq. (38)."""
    if z.imag < 0:  # the expansion holds in the upper half plane
        return 2 * np.exp(-z * z) - faddeeva(-z)
    below = _SCALE - 1j * z
    sum_ = np.polyval(_COEFFICIENTS, (_SCALE + 1j * z) / below)
    return 2 * sum_ / below**2 + 1 / (np.sqrt(np.pi) * below)


def plasma_z_prime(z):
    """Derivative of the plasma dispersion function (Fried and Conte 1961), Z' = -2 (1 + z Z), Z = i sqrt(pi) w."""
    return -2 * (1 + z * 1j * np.sqrt(np.pi) * faddeeva(z))


def dielectric(w, k, beams):
    """1 - sum n Z'((w - k u) / (k s sqrt 2)) / (2 k^2 s^2)."""
    return 1 - sum(n * plasma_z_prime((w - k * u) / (k * s * np.sqrt(2))) / (2 * k * k * s * s) for n, u, s in beams)


def discrete_dielectric(w, k, beams, dt, dx):
    """The same for leapfrog steps dt and cloud-in-cell particles on cells dx with the spectral gradient.

    One kick moves the density m steps later by m dt^2; deposit and interpolation each weigh the wave with
    sinc^2(k dx / 2) (Birdsall and Langdon 1985, chapters 4 and 8; the grid's aliases are left out).
    """
    m = np.arange(1, int(40 / (k * dt * min(s for _, _, s in beams))) + 10)
    free = sum(n * np.exp(-1j * k * u * m * dt - 0.5 * (k * s * m * dt) ** 2 + 1j * w * m * dt) for n, u, s in beams)
    return 1 + np.sinc(k * dx / (2 * np.pi)) ** 4 * dt * dt * np.sum(m * free)


def newton(function, start):
    """A complex root near start, or None."""
    w = complex(start)
    for _ in range(100):
        h = 1e-6 * (1 + abs(w))
        with np.errstate(all="ignore"):
            slope = (function(w + h) - function(w - h)) / (2 * h)
            step = function(w) / slope if slope else np.nan
        if not np.isfinite(step) or abs(w) > 1e3:
            return None
        w -= step
        if abs(step) < 1e-9 * (1 + abs(w)):  # quadratic: the error left is far smaller
            return w
    return None


def landau_root(k):
    """Least damped root of a Maxwellian, (gamma, omega); None where Newton finds none."""
    damping = np.sqrt(np.pi / 8) / k**3 * np.exp(-1 / (2 * k * k) - 1.5)  # the textbook's small-k formula
    w = newton(lambda w: dielectric(w, k, [(1, 0, 1)]), np.sqrt(1 + 3 * k * k) - 1j * np.clip(damping, 1e-9, 1.2))
    return None if w is None else (w.imag, w.real)


def two_stream_beams(drift, thermal):
    return [(0.5, drift, thermal), (0.5, -drift, thermal)]


def two_stream_root(k, drift, thermal):
    """Fastest growing mode of two equal beams at +-drift, (gamma, 0); None where all are stable."""
    beams = two_stream_beams(drift, thermal)
    roots = [newton(lambda w: dielectric(w, k, beams), 1j * start) for start in np.linspace(0.01, 0.5, 25)]
    growing = [w.imag for w in roots if w is not None and w.imag > 1e-9 and abs(w.real) < 1e-6]
    return (max(growing), 0.0) if growing else None


def discrete_root(root, k, beams, dt, dx):
    """What the continuum's root (gamma, omega) becomes with steps dt and cells dx; None where none is found."""
    w = newton(lambda w: discrete_dielectric(w, k, beams, dt, dx), complex(root[1], root[0]))
    return None if w is None else (w.imag, w.real)


def discrete_series(steps, k, beams, dt, dx):
    """n_k(t) / n_k(0) at steps 0 to `steps` of a wave that starts as a density perturbation: transients and all.

    Each density feeds a kick, each kick moves the density of all later steps; the first kick is half of one.
    """
    m = np.arange(steps + 1)
    free = sum(n * np.exp(-1j * k * u * m * dt - 0.5 * (k * s * m * dt) ** 2) for n, u, s in beams)
    kernel = np.sinc(k * dx / (2 * np.pi)) ** 4 * dt * dt * m * free
    series = np.zeros(steps + 1, complex)
    series[0] = 1
    for i in range(1, steps + 1):
        series[i] = free[i] - 0.5 * kernel[i] * series[0] - kernel[i - 1 : 0 : -1] @ series[1:i]
    return series
