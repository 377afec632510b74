"""Transverse waves of an electromagnetic run, alone or with waves of charge, and waves of a cold plasma in a uniform
magnetic field: units and conventions are those of dispersion.py."""

import math
from typing import NamedTuple

from radixpic import dispersion
from radixpic.dispersion import newton, tidy
from radixpic.script import numpy as np

HERMITE_TERMS, NODES = 12, 24
LEAST_SHARE = 1e-5  # of the highest frequency: less is the rounding of 0


class Stream(NamedTuple):
    """Particles that no uniform field turns, by their velocity along k, and Hermite series over it of the density times
    means over the other velocities. With v along k, V along E and g^2 = 1/(1 - speed^2/c^2) these are of 1/g times:"""

    density: float
    drift: float
    spread: float
    along: object  # 1 - v^2/c^2
    stiffness: object  # 1 - V^2/c^2
    slope: object  # v V^2/c^2
    pressure: object  # V^2
    carried: object  # v
    tilt: object  # V
    lean: object  # v V/c^2
    swept: object  # V (1 - v^2/c^2)


def streams(species, c):
    """Of a list of (density, drifts, spreads), those of a Maxwellian of the velocity along k, E and the third axis."""
    return [make_stream(*one, c) for one in species]


def make_stream(density, drift, spread, c):
    points, shares = np.polynomial.hermite_e.hermegauss(NODES)
    shares = shares / shares.sum()
    axes = [u + s * points if s else np.array([u]) for u, s in zip(drift, spread)]
    weights = [shares if s else np.ones(1) for s in spread]
    v, across, third = np.meshgrid(*axes, indexing="ij")
    slowness = np.sqrt(np.maximum(1 - (v * v + across * across + third * third) / c**2, 0))
    terms = min(HERMITE_TERMS, len(axes[0]))
    polynomials = np.polynomial.hermite_e.hermevander((axes[0] - drift[0]) / (spread[0] or 1), terms - 1)
    polynomials /= [math.factorial(j) for j in range(terms)]

    b, B = v / c, across / c
    means = (1 - b * b, 1 - B * B, b * B * B, B * B, b, B, b * B, B * (1 - b * b))
    series = np.array([np.einsum("uvw,v,w", slowness * of, *weights[1:]) * weights[0] @ polynomials for of in means])
    kept = np.flatnonzero(np.any(abs(series) > 1e-14 * abs(series).max(), axis=0))[-1] + 1  # others are rounding
    units = density * np.array([1, 1, c, c * c, c, c, 1, c])
    return Stream(density, drift[0], spread[0], *(units[:, None] * series[:, :kept]))


def is_coupled(plasma):
    """Whether a wave of charge makes a current along E: unless to each stream there is one with the opposite drift."""
    sums = {}
    for member in plasma:
        key = round(member.drift, 9), round(member.spread, 9)
        sums[key] = sums.get(key, 0) + member.tilt
    return any(np.abs(total).max() > 1e-9 for total in sums.values())


def transverse(w, k, c, plasma, dt=None, factor=1):
    """0 at a transverse wave of Streams; with dt that of the scheme's steps on a grid of this grid_factor().

    The fields of all times before have turned the velocities and shifted the places of particles, and so made a current
    a E + b B; and a charge, whose field along k makes a current across it where the streams are coupled.
    """
    w = np.atleast_1d(np.asarray(w, complex))
    a = b = current = by_electric = by_magnetic = charge = 0
    for member in plasma:
        moving = k * member.spread, len(member.along)
        once, late = dispersion.passing(w - k * member.drift, *moving)
        whole = late
        if dt is not None:
            once, late, whole = dispersion.discrete_passing(w, k, member.drift, *moving, dt)
        a = a + factor * (once @ member.stiffness + 1j * k * (late @ member.slope))
        b = b + factor * (once @ member.carried + 1j * k * (late @ member.pressure))
        current = current - factor * (once @ member.lean + 1j * k * (late @ member.swept))
        charge = charge + factor * (whole @ member.along)
        by_electric = by_electric + factor * (whole @ member.lean)
        by_magnetic = by_magnetic + factor * (whole @ member.tilt)
    scale = 1 + charge if is_coupled(plasma) else 1
    if is_coupled(plasma):
        a, b = a + current * by_electric / scale, b + current * by_magnetic / scale
    if dt is None:
        return scale * (w * w - (c * k) ** 2 + 1j * (w * a - k * b))
    cosine, sine, lost = np.cos(c * k * dt), np.sin(c * k * dt) / (c * k), (1 - np.cos(c * k * dt)) / (c * k) ** 2
    step = np.exp(-1j * w * dt) - cosine
    return scale * (
        (step + sine * a) * (step + 1j * k * lost * b) - sine * (b - 1j * c * c * k) * 1j * k * (lost * a - sine)
    )


def transverse_roots(k, c, plasma):
    """The (gamma, omega) of light, and before it of waves that grow; where the streams are coupled of all waves that
    Newton's method finds."""
    total, coupled = np.sqrt(sum(member.density for member in plasma)), is_coupled(plasma)
    starts = [*(1j * total * np.geomspace(0.003, 1, 12)), np.sqrt(total**2 + (c * k) ** 2)]
    if coupled:
        drifts = np.array([k * member.drift for member in plasma])
        starts += list(np.ravel(np.add.outer(drifts, total * np.add.outer(np.linspace(-1.5, 1.5, 7), [0.01j, 0.2j]))))
    found = {}
    for w in newton(lambda w: transverse(w, k, c, plasma), starts):
        if coupled or w.imag > 1e-6 * total or abs(w.real) > c * k:
            found[round(w.imag / total, 6), round(abs(w.real) / total, 6)] = tidy(w)
    return sorted(found.values(), reverse=True)


def transverse_root(root, k, c, plasma, dt, factor):
    """What a root becomes with steps dt and a grid_factor(); None where none is found."""
    return next(map(tidy, newton(lambda w: transverse(w, k, c, plasma, dt, factor), [complex(root[1], root[0])])), None)


def cold_waves(k, c, species, cosine, dt=None, factor=1):
    """The frequencies of all waves, from low to high, of a list of (density, gyration) at rest in a uniform field, by
    the cosine of the angle between wave and field; gyration is q B/m, and of species other than electrons the density
    counts q^2/m times. With dt they are those of the scheme's steps on a grid of this grid_factor().

    Eigenvalues of the linear equations. Of each species the state has 4 numbers, the velocity per q/m and the distance
    gone along the wave, then follow E and B; the axes are the wave, that across it in the plane of both, the third.
    """
    field = np.array([cosine, math.sqrt(max(1 - cosine**2, 0)), 0])
    cross = np.cross(np.eye(3), np.eye(3)[0]).T  # -(the wave's axis) x
    turns = [gyration * np.cross(np.eye(3), field).T for _, gyration in species]
    count, one = len(species), np.eye(3)
    across = np.diag([0, 1, 1])
    state = np.eye(4 * count + 6)
    velocity = [state[4 * s : 4 * s + 3] for s in range(count)]
    gone = [state[4 * s + 3] for s in range(count)]
    electric, magnetic = state[-6:-3], state[-3:]
    densities = [density for density, _ in species]
    # charge makes the part of E along the wave
    electric = across @ electric - factor * np.outer(one[0], sum(n * way for n, way in zip(densities, gone)))
    if dt is None:
        moved = [electric + turn @ v for turn, v in zip(turns, velocity)]
        ways = [v[0] for v in velocity]
        current = across @ sum(n * v for n, v in zip(densities, velocity))
        fields = [-1j * c * c * k * cross @ magnetic - current, 1j * k * cross @ electric]
    else:
        kicked = [v + 0.5 * dt * electric for v in velocity]
        rotations = [np.linalg.solve(one - 0.5 * dt * turn, one + 0.5 * dt * turn) for turn in turns]
        moved = [rotation @ v + 0.5 * dt * electric for rotation, v in zip(rotations, kicked)]
        ways = [way + dt * v[0] for way, v in zip(gone, moved)]
        current = factor * across @ sum(n * v for n, v in zip(densities, moved))
        cosine, sine, lost = np.cos(c * k * dt), np.sin(c * k * dt) / (c * k), (1 - np.cos(c * k * dt)) / (c * k) ** 2
        light = across @ electric
        fields = [
            cosine * light - sine * (1j * c * c * k * cross @ magnetic + current),
            cosine * magnetic + 1j * k * cross @ (sine * light - lost * current),
        ]
    rows = [np.vstack([v, way]) for v, way in zip(moved, ways)]
    values = np.linalg.eigvals(np.vstack([*rows, *fields]))
    waves = -values.imag if dt is None else -np.angle(values) / dt
    return sorted(float(w) for w in waves if w > LEAST_SHARE * max(waves))
