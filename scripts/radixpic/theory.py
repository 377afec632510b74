"""Which linear theory is that of a run, by its config: THEORIES is the table of what each assumes.

A plasma outside of the table gets one sentence, which begins with the key that put it there, and no number.
"""

import ast
import math
import re
from functools import partial
from typing import NamedTuple

from radixpic import dispersion, light
from radixpic.history import MODE
from radixpic.script import Problem, numpy as np

MOST_SERIES_STEPS = 20000  # the exact series takes steps^2 operations
LEAST_CELLS = {"ngp": 32}  # of a wave, else 8, for theory of the grid: it leaves out aliases, 1e-3 in frequency there
MOST_VARIED = 0.02  # of a drift by a formula, in c: what is more is no small wave of a uniform plasma
MOST_RADII = 10  # of gyration to 1/k: of more the harmonics are too many to sum
NO_ANGLE = 1e-9  # cosines and sines of less are rounding


class Plasma(NamedTuple):
    """What the dispersion relation of a wave of charge needs: k, beams as dispersion.py has them, their shares in the
    wave that the run starts with; its time step and the grid_factor() of the wave, both None without theory of the
    grid. no_start is a sentence on why there are no shares."""

    k: float
    beams: list
    weights: list = None
    dt: float = None
    factor: float = None
    no_start: str = ""


class Waves(NamedTuple):
    """Of one theory: words for k, the roots (gamma, omega), a function of what a root becomes with the run's steps and
    grid (None where there is no theory of that), and the Plasma where there is an exact series too."""

    words: str
    k: float
    roots: list
    own: object
    plasma: Plasma = None


class Mover(NamedTuple):
    """A charged species that is pushed and makes charge; vectors have three components."""

    key: str
    strength: float  # density q^2/m
    per_mass: float  # q/m
    charge: float  # times density
    drift: object
    thermal: object
    start: complex  # amplitude of the mode in its density


class Setting(NamedTuple):
    """A run as theory sees it. axes are unit vectors: along k, across it along the drifts where there are some, and the
    third."""

    config: dict
    k: float
    axes: object
    c: float
    field: object  # uniform B
    field_key: str
    cosine: float  # of the angle between k and B
    square: float  # of its sine; 0 without B
    movers: list
    dt: float
    factor: float  # None where the grid is too coarse


# ---- what a config says ----


FUNCTIONS = "sin cos tan sinh cosh tanh exp sqrt abs".split()
OPERATORS = {"Add": "add", "Sub": "subtract", "Mult": "multiply", "Div": "divide", "Pow": "power", "USub": "negative"}


def evaluate(node, places):
    """Values of a parsed formula of arithmetic and common functions; of another a KeyError or AttributeError."""
    if isinstance(node, ast.Name):
        return places[node.id]
    if isinstance(node, ast.Call):
        return getattr(np, FUNCTIONS[FUNCTIONS.index(node.func.id)])(*(evaluate(one, places) for one in node.args))
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        return getattr(np, OPERATORS[type(node.op).__name__])(*(evaluate(one, places) for one in operands))
    return np.float64(node.value)


def uniform(formulas, config, sentence, most=1e-9):
    """The means over the box of formulas, as a vector of three; a Problem where one is farther than `most` from its
    mean, or is of functions that evaluate() has not."""
    length, means = config["grid"]["length"], np.zeros(3)
    counts = [count if count <= 256 else 257 for count in config["grid"]["cells"]]
    x, y = (size * np.arange(count) / count for size, count in zip(length, counts))
    places = dict(zip("xyt", np.meshgrid(x, y, [0, 0.7, 31.3], indexing="ij")))
    places |= {"lx": length[0], "ly": length[1], "pi": math.pi, "e": math.e}
    for axis, formula in enumerate(np.atleast_1d(formulas).tolist()):
        try:
            with np.errstate(all="ignore"):
                values = evaluate(ast.parse(str(formula).strip().replace("^", "**"), mode="eval").body, places)
            means[axis] = np.round(np.mean(values), 12)
            reach = np.max(np.abs(values - means[axis])) * (np.ndim(values) > 0)
        except (SyntaxError, KeyError, TypeError, AttributeError, ValueError):
            reach = math.nan
        if not reach <= most:
            raise Problem(sentence)
    return means


def has_light(config):
    return config["fields"]["solver"] == "electromagnetic"


def vector(values, third=0.0):
    return np.array([*values, third][:3], float)


def start_of(species, mode):
    """The amplitude of exp(i k x) in the density that a species starts with, of the mean density."""
    found = 0
    for kind, share in (("density", 0.5), ("displacement", -0.5j)):  # a cos(k x); x + a cos(k x)/k makes a sin(k x)
        for wave in species["perturb"][kind]:
            modes = [(wave["mode"], 0) if wave["axis"] == "x" else (0, wave["mode"])]
            modes.append((-modes[0][0], -modes[0][1]))
            found += wave["amplitude"] * (share if mode == modes[0] else np.conj(share) if mode == modes[1] else 0)
    return complex(found)


def mover_of(species, mode, config):
    """The Mover that a species is, None where it takes no part."""
    key, words = f"species.{species['name']}", "the theory is of a uniform plasma"
    profile, velocities = species.get("profile", {}), species["velocities"]
    if not species.get("charge_density", True) or not species["charge"]:
        return None
    if profile.get("file"):
        raise Problem(f"{key}.profile.file: {words}")
    uniform(profile.get("density", 1), config, f"{key}.profile.density: {words}")
    if species["positions"]["kind"] == "file":
        raise Problem(f"{key}.positions.kind: {words}, and positions come from a file")
    if not species.get("push", True):
        if any(species["perturb"].values()):
            raise Problem(f"{key}.perturb: {words}, also where a species stands still")
        return None
    if velocities["kind"] not in ("cold", "maxwellian"):
        raise Problem(f"{key}.velocities.kind: the theory is of Maxwellian or cold species, not {velocities['kind']}")
    most = MOST_VARIED * config["fields"]["speed_of_light"] if has_light(config) else 1e-9
    drift = uniform(profile.get("drift", 0), config, f"{key}.profile.drift: {words}", most)
    spread = np.array(velocities.get("thermal", [0, 0]) if velocities["kind"] == "maxwellian" else [0, 0], float)
    factors = uniform(profile.get("thermal", [1, 1, 1]), config, f"{key}.profile.thermal: {words}")[: len(spread)]
    thermal = vector(spread * factors, third=spread[0] * factors[0])  # of two, any third one is right
    charge, mass, density = species["charge"], species["mass"], species["density"]
    return Mover(key, density * charge**2 / mass, charge / mass, charge * density,
        drift + vector(velocities["drift"]), abs(thermal), start_of(species, mode))


def uniform_field(config):
    """The uniform magnetic field that acts, and the key that it has."""
    fields = config["fields"]
    magnetic = fields["magnetic"] if np.ndim(fields["magnetic"]) else [0, 0, fields["magnetic"]]
    external, initial = fields.get("external", {}), fields.get("initial", {}) if has_light(config) else {}
    for name, group in ("initial", initial), ("external", external):
        if group.get("file"):
            raise Problem(f"fields.{name}.file: the theory is of a plasma without fields of a file")
    parts = {
        "fields.magnetic": vector(magnetic),
        "fields.external.B": uniform(external.get("B", 0), config,
            "fields.external.B: the theory is of a magnetic field that is uniform and does not change"),
        "fields.initial.B": uniform(initial.get("B", 0), config, "fields.initial.B: its mean is not known", math.inf),
    }
    without = "fields.external.E: the theory is of a plasma without an external electric field"
    if uniform(external.get("E", 0), config, without).any():
        raise Problem(without)
    without = "fields.initial.E: its mean makes the plasma swing as a whole"
    if uniform(initial.get("E", 0), config, without, math.inf).any() and fields.get("mean", "zero") != "zero":
        raise Problem(without)
    return sum(parts.values()), next((key for key, part in parts.items() if part.any()), "fields.magnetic")


def setting_of(config, mode):
    """The Setting of a mode, with all that every theory assumes."""
    grid, fields, deposit = config["grid"], config["fields"], config["deposit"]
    if config.get("collisions"):
        raise Problem("collisions: the theory is of a plasma without collisions")
    if fields.get("drive"):
        raise Problem("fields.drive: the theory is of free waves, and this run drives its own")
    if not any(mode):
        raise Problem("output.history.modes: mode 0 0 is no wave")
    if any(2 * abs(m) >= count for m, count in zip(mode, grid["cells"])):
        raise Problem(f"grid.cells: mode {mode[0]} {mode[1]} has two cells a wave, and no field along them")
    field, field_key = uniform_field(config)
    movers = [mover for mover in (mover_of(species, mode, config) for species in config["species"]) if mover]
    if not movers:
        raise Problem("species: none is charged and pushed, so that there is no wave")
    k = np.array([2 * math.pi * m / length for m, length in zip(mode, grid["length"])])
    along = np.array([*k, 0]) / math.hypot(*k)
    second = max([mover.drift - along * (mover.drift @ along) for mover in movers], key=np.linalg.norm)
    second = second / np.linalg.norm(second) if np.linalg.norm(second) > NO_ANGLE else np.array([0, 0, 1])
    direction = field / (np.linalg.norm(field) or 1)
    cosine, square = direction @ along, np.sum(np.cross(direction, along) ** 2)
    cells = [length / count for length, count in zip(grid["length"], grid["cells"])]
    shape = deposit["shape"]
    fine = all(LEAST_CELLS.get(shape, 8) * abs(m) <= count for m, count in zip(mode, grid["cells"]))
    known = fine and shape in dispersion.SHAPES and (shape != "ngp" or all(mover.thermal.any() for mover in movers))
    smoothing = deposit["filter_passes"], deposit.get("filter_compensator", False)
    factor = dispersion.grid_factor(k, cells, shape, fields["gradient"], *smoothing) if known else None
    return Setting(config, math.hypot(*k), np.array([along, second, np.cross(along, second)]),
        fields.get("speed_of_light"), field, field_key, float(cosine) * bool(abs(cosine) > NO_ANGLE),
        float(square) * bool(square > NO_ANGLE**2), movers, config["time"]["step"], factor)


# ---- waves ----


def streams_of(setting, polarisation):
    """Of light with E along this one of the axes."""
    axes = setting.axes[[0, polarisation, 3 - polarisation]]
    species = [(one.strength, axes @ one.drift, np.sqrt(axes**2 @ one.thermal**2)) for one in setting.movers]
    return light.streams(species, setting.c)


def waves_of_plasma(plasma):
    def own(root):
        return dispersion.discrete_root(root, *plasma[:2], *plasma[3:5]) if plasma.factor else None

    return Waves(f"k = {plasma.k:.5g}", plasma.k, dispersion.roots(plasma.k, plasma.beams), own, plasma)


def with_start(setting, beams):
    """The Plasma of beams that are the movers."""
    weights = np.array([mover.charge * mover.start for mover in setting.movers])
    no_start = ""
    if not weights.any():
        no_start = "species.perturb: the run does not start with a wave of this mode"
    elif abs(weights.sum()) < 1e-9 * np.abs(weights).sum():
        no_start = "species.perturb: the charges of the species' waves cancel at the start"
    return Plasma(setting.k, beams, None if no_start else weights, setting.dt, setting.factor, no_start)


def spreads_by_field(setting, mover):
    """The thermal velocity along B, and that across it."""
    ahead = mover.thermal**2 @ (setting.field / np.linalg.norm(setting.field)) ** 2
    return math.sqrt(ahead), math.sqrt((np.sum(mover.thermal**2) - ahead) / 2)


def electrostatic_waves(setting):
    beams = []
    for mover in setting.movers:
        spread, drift = math.sqrt(mover.thermal**2 @ setting.axes[0] ** 2), float(mover.drift @ setting.axes[0])
        if setting.square:
            ahead, across = spreads_by_field(setting, mover)
            gyration = float(mover.per_mass * np.linalg.norm(setting.field))
            turning = across * math.sqrt(setting.square), gyration, setting.square
            spread = ahead * abs(setting.cosine)
        beams.append(dispersion.Beam(mover.strength, drift, spread, *(turning if setting.square else ())))
    return waves_of_plasma(with_start(setting, beams))


def waves_of_charge(setting):
    beams = [
        dispersion.Beam(*one[:3], lightness=tuple((one.along / one.density).tolist())) for one in streams_of(setting, 1)
    ]
    return waves_of_plasma(with_start(setting, beams))


def waves_of_light(setting, polarisations=(1, 2)):
    found = {}
    for polarisation in polarisations:
        plasma = streams_of(setting, polarisation)
        for root in light.transverse_roots(setting.k, setting.c, plasma):
            found.setdefault(tuple(np.round(root, 6)), (root, plasma))
    plasmas = {root: plasma for root, plasma in found.values()}

    def own(root):
        step = setting.k, setting.c, plasmas[root], setting.dt, setting.factor
        return light.transverse_root(root, *step) if setting.factor else None

    return Waves(f"c k = {setting.k * setting.c:.5g}", setting.k, sorted(plasmas, reverse=True), own)


def waves_of_cold_plasma(setting):
    strength = float(np.linalg.norm(setting.field))
    species = [(mover.strength, mover.per_mass * strength) for mover in setting.movers]
    found, discrete = (
        [(0.0, w) for w in light.cold_waves(setting.k, setting.c, species, setting.cosine, *steps)]
        for steps in ((), (setting.dt, setting.factor or 1))
    )
    known = dict(zip(found, discrete)) if setting.factor and len(found) == len(discrete) else {}
    return Waves(f"c k = {setting.k * setting.c:.5g}", setting.k, found, known.get)


# ---- what each theory assumes ----


def is_tilted(setting, mover):
    """Whether its temperatures differ along axes that are none of the wave's."""
    tensor = setting.axes @ np.diag(mover.thermal**2) @ setting.axes.T
    return np.abs(tensor - np.diag(np.diag(tensor))).max() > 1e-9 * np.abs(tensor).max()


def turns_with_field(setting, mover):
    """Whether its temperatures across B differ."""
    axis, (ahead, across) = setting.field / np.linalg.norm(setting.field), spreads_by_field(setting, mover)
    round_tensor = across**2 * np.eye(3) + (ahead**2 - across**2) * np.outer(axis, axis)
    return np.abs(np.diag(mover.thermal**2) - round_tensor).max() > 1e-9 * np.sum(mover.thermal**2)


def makes_current(setting):
    """Whether there is a mean current, and Ampere's law for the mean of E, by which the plasma swings as a whole."""
    current = sum(mover.charge * mover.drift for mover in setting.movers)
    return setting.config["fields"].get("mean", "zero") != "zero" and np.linalg.norm(current) > NO_ANGLE * setting.c


# A sentence, and where a species of a run is outside of it.
DRIFT, THERMAL = "{species}.velocities.drift: the theory is of ", "{species}.velocities.thermal: the theory is of "
ALONG_B = (DRIFT + "drifts along the magnetic field",
    lambda run, one: run.field.any() and np.linalg.norm(np.cross(one.drift, run.field)) > NO_ANGLE)
ROUND_B = THERMAL + "one temperature across the magnetic field", turns_with_field
FEW_RADII = (THERMAL + "radii of gyration below 10/k", lambda run, one:
    run.k * spreads_by_field(run, one)[1] > MOST_RADII * abs(one.per_mass) * np.linalg.norm(run.field))
ROUND_K = THERMAL + "waves and drifts along the axes of temperatures", is_tilted
NO_CURRENT = DRIFT + "drifts that make no current together", lambda run, one: one.drift.any() and makes_current(run)
IN_PAIRS = (DRIFT + "drifts across the wave in opposite pairs",
    lambda run, one: (one.drift @ run.axes[1]) and light.is_coupled(streams_of(run, 1)))
IN_A_PLANE = (DRIFT + "drifts in one plane with the wave",
    lambda run, one: abs(one.drift @ run.axes[2]) > NO_ANGLE * run.c)
BELOW_C = (THERMAL + "drifts and 4.5 thermal velocities below the speed of light together",
    lambda run, one: np.linalg.norm(one.drift) + 4.5 * one.thermal.max() > run.c)
COLD = ("{field}: beside a magnetic field the theory of this solver is of cold species at rest, or of charge along the "
    "field, and {species} moves", lambda run, one: one.thermal.any() or one.drift.any())
WARM = (ROUND_K, NO_CURRENT, BELOW_C)
MAGNETIC = {
    "none": lambda run: not run.field.any(),
    "none across": lambda run: not run.square,
    "across": lambda run: run.square,
    "some": lambda run: run.field.any(),
}


class Theory(NamedTuple):
    """What a theory assumes, beside what setting_of() asks of all: no collisions, drives and external E, a uniform B,
    uniform species that are Maxwellian or cold, and small waves. Electromagnetic theories are relativistic, as the
    solver is. The exact series is of waves of charge that start as a density or a displacement."""

    waves: str  # of charge, of light, or both at once
    solver: str
    magnetic: str  # uniform B, by its direction to the wave
    species: tuple
    find: object


THEORIES = (
    Theory("charge", "electrostatic", "none across", (), electrostatic_waves),
    Theory("charge", "electrostatic", "across", (ALONG_B, ROUND_B, FEW_RADII), electrostatic_waves),
    Theory("charge", "electromagnetic", "none across", WARM + (ALONG_B, IN_A_PLANE, IN_PAIRS), waves_of_charge),
    Theory("light", "electromagnetic", "none", WARM + (IN_PAIRS, IN_A_PLANE), waves_of_light),
    # Drifts in a plane couple light of one polarisation with waves of charge.
    Theory("charge", "electromagnetic", "none", WARM + (IN_A_PLANE,), partial(waves_of_light, polarisations=(1,))),
    Theory("both", "electromagnetic", "none", WARM + (IN_A_PLANE,), waves_of_light),
    Theory("both", "electromagnetic", "some", (COLD,), waves_of_cold_plasma),
)


def objection(theory, setting):
    """The first sentence of what a theory assumes and a run has not."""
    for sentence, outside in theory.species:
        for mover in setting.movers:
            if outside(setting, mover):
                return sentence.format(species=mover.key, field=setting.field_key)
    return None


def kinds_of(column, setting):
    """The waves that a column shows: of charge, of light, or both."""
    electric = setting.config["fields"]["solver"] == "electrostatic"
    if column is None or column in ("rho", "phi") or electric and column in ("field_energy", "Ex", "Ey"):
        return ["charge"]
    if not electric and column in ("magnetic_energy", "Bx", "By", "Bz"):
        return ["light"]
    if not electric and column in ("field_energy", "Ex", "Ey", "Ez", "Jx", "Jy", "Jz"):
        share = setting.axes[0]["xyz".find(column[1])] ** 2 if column[0] in "EJ" else 0.5
        return [kind for kind, part in (("charge", share), ("light", 1 - share)) if part > NO_ANGLE]
    raise Problem(f"{column}: the theory is of density modes, fields and their energies")


def waves_of(config, mode=None, column=None):
    """A list of Waves: of a density mode, by default the first in output.history.modes, or of a column, as "Ez" or, of
    a mode, "Ez_1_0"."""
    modes = config["output"]["history"]["modes"]
    if match := re.fullmatch(MODE, column or ""):
        of_column = int(match[2]), int(match[3])
        if mode is not None and tuple(mode) != of_column:
            raise Problem(f"{column}: expected no other mode beside it, found {tuple(mode)}")
        column, mode = None if match[1] == "density" else match[1], of_column
    if mode is None and not modes:
        raise Problem("output.history.modes: it names no mode, and the theory is of one")
    setting = setting_of(config, tuple(mode or modes[0]))
    found = []
    for kind in kinds_of(column, setting):
        sentences = [f"fields.solver: there is no theory of the solver {config['fields']['solver']}"]
        for theory in THEORIES:
            of_it = theory.solver == config["fields"]["solver"] and theory.waves in (kind, "both")
            if not of_it or not MAGNETIC[theory.magnetic](setting):
                continue
            sentences.append(objection(theory, setting))
            if not sentences[-1]:
                if theory.waves == "both":  # it has those of the other kind too
                    return [theory.find(setting)]
                found.append(theory.find(setting))
                break
        else:
            raise Problem(sentences[-1])
    return found


def plasma_of(config, mode=None):
    """The Plasma of a density mode."""
    (waves,) = waves_of(config, mode)
    if waves.plasma is None:
        raise Problem("fields.solver: the exact series is of waves of charge alone, without light")
    return waves.plasma


def exact_series(time, plasma):
    """n_k(t) / n_k(0) of the exact linear solution at these times, whole steps; None where they are not, or too many,
    and a Problem where the start has no series, or the grid no theory."""
    if plasma.no_start or plasma.factor is None:
        raise Problem(plasma.no_start or "grid.cells: theory of the grid is of eight cells a wave, and of ngp of 32")
    dt = plasma.dt
    steps = np.rint(time / dt).astype(int)
    if steps[-1] > MOST_SERIES_STEPS or np.max(np.abs(steps * dt - time)) > 1e-6 * dt * steps[-1]:
        return None
    return dispersion.discrete_series(steps[-1], plasma.k, plasma.beams, dt, plasma.factor, plasma.weights)[steps]
