"""Files of openPMD: meshes and particles of one time, and rows of pictures of them."""

import math
import re
from contextlib import closing
from pathlib import Path

from radixpic.pictures import Row
from radixpic.script import Problem, h5py, numpy as np, regular

# (symbol, normalised unit, SI unit) by the end of a mesh's name; before it is the name of the species or the line, if
# any
QUANTITIES = {
    **{f"E/{axis}": (f"$E_{axis}$", r"$T / e \lambda_D$", "V/m") for axis in "xyz"},
    **{f"B/{axis}": (f"$B_{axis}$", r"$m_e \omega_p / e$", "T") for axis in "xyz"},
    **{f"J/{axis}": (f"$J_{axis}$", "$e n_0 v_{th}$", "A/m$^2$") for axis in "xyz"},
    "phi": (r"$\phi$", "$T/e$", "V"),
    "chargeDensity": ("charge density", "$e n_0$", "C/m$^3$"),
    "density": ("density", "$n_0$", "1/m$^3$"),
    "velocity/x": (r"mean $u$", "$v_{th}$", "m/s"),
    "velocity/y": (r"mean $v$", "$v_{th}$", "m/s"),
    "velocity/z": (r"mean $w$", "$v_{th}$", "m/s"),
    "temperature": ("temperature", "$T$", "J"),
    **{f"pressure/{axes}": (f"$p_{{{axes}}}$", "$n_0 T$", "Pa") for axes in ("xx", "xy", "yy", "xz", "yz", "zz")},
    **{f"heatFlux/{axis}": (f"$q_{axis}$", "$n_0 T v_{th}$", "W/m$^2$") for axis in "xyz"},
}
PHASE_SPACE = re.compile("_[xyuvw]+(_weighted)?$")  # how the name of one ends
MOST_DEFLATED, MOST_CONSTANTS = 1100, 1 << 28  # bytes of values in a byte of a file; values of one number
FOLDERS = ("snapshots", "moments", "lines", "phase_space")  # of a run, which have meshes
MOST_BINS, IN_A_BIN = 200, 100  # bins along an axis of a phase space of particles, of which so many are in one
ELEMENTARY_CHARGE, ELECTRON_MASS, VACUUM_PERMITTIVITY = 1.602176634e-19, 9.1093837015e-31, 8.8541878128e-12  # SI


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def open_file(path):
    """An HDF5 file of the disk, open for reading, that leads to no other one."""
    try:
        file = h5py.File(regular(path), "r")
    except OSError:
        raise Problem(f"{path} is missing or is not a whole HDF5 file") from None
    external = h5py.h5l.TYPE_EXTERNAL
    if name := file.id.links.visit(lambda name, link: name if link.type == external else None, info=True):
        file.close()
        raise Problem(f"{path} leads to another file, by its link {text(name)}")
    return file


def values_of(node):
    """All values of a dataset, which its own file holds."""
    if node.external or node.is_virtual or node.nbytes > MOST_DEFLATED * node.id.get_storage_size() + (1 << 16):
        raise Problem(f"{node.file.filename} does not hold the values of {node.name}")
    return node[...]


class Snapshot:
    """One openPMD file, open for reading; the group names come from its own attributes."""

    def __init__(self, path):
        self.path = path
        self.file = open_file(path)
        try:
            steps = list(self.file["data"])
            self.step = int(steps[0])
            self.group = self.file["data"][steps[0]]
            self.time = float(self.group.attrs["time"])
            self.time_unit = float(self.group.attrs["timeUnitSI"])
            self.meshes = self.subgroup("meshesPath")
            self.species = self.subgroup("particlesPath")
        except (KeyError, IndexError, ValueError):
            raise Problem(f"{path} is an HDF5 file, but not an openPMD snapshot") from None

    def subgroup(self, attribute):
        name = text(self.file.attrs[attribute]).strip("/") if attribute in self.file.attrs else ""
        return self.group[name] if name and name in self.group else {}

    def time_label(self, si):
        return f"t = {self.time * self.time_unit:.4g} s" if si else rf"t = {self.time:g}$\,/\omega_p$"


def folder_of(place, names):
    """The first of a run's FOLDERS whose last file has all meshes of these names; "snapshots" where none has."""
    for inner in FOLDERS:
        if any((Path(place) / inner).glob("*.h5")):
            snapshot = Snapshot(*find_snapshots(place, None, inner))
            with closing(snapshot.file):
                if {name.partition("/")[0] for name in names} <= set(snapshot.meshes):
                    return inner
    return "snapshots"


def find_snapshots(place, steps, inner="snapshots"):
    """Paths of a run folder's files in inner/ of these steps (None or 'last': that, 'all': every one), or the file
    itself."""
    place = Path(place)
    if place.is_file():
        return [place]
    if not place.exists():
        raise Problem(f"{place} does not exist")
    folder = place / inner if (place / inner).is_dir() else place
    named = [(re.fullmatch(r"(?:data|moments)_(\d+)\.h5", path.name), path) for path in folder.glob("*.h5")]
    there = {int(match[1]): path for match, path in named if match}
    if not there:
        raise Problem(f"{place} holds no {inner}/data_*.h5")
    if steps == "all":
        return [there[step] for step in sorted(there)]
    steps = steps if isinstance(steps, list) else [steps or "last"]
    steps = [max(there) if step == "last" else step for step in steps]
    for step in steps:
        if step not in there:
            what = "snapshot" if inner == "snapshots" else "file"
            raise Problem(f"{folder} has no {what} of step {step} (it has: {', '.join(map(str, sorted(there)))})")
    return [there[step] for step in steps]


def component_values(group, name, what):
    """Values of one record component, spread out where it is a constant, and its unitSI."""
    node = group[name] if name else group
    if isinstance(node, h5py.Dataset):
        values = values_of(node)
    elif "value" in node.attrs:
        shape = tuple(int(n) for n in np.atleast_1d(node.attrs["shape"]))
        if math.prod(shape) > MOST_CONSTANTS:
            raise Problem(f"{what} has more than {MOST_CONSTANTS} values")
        values = np.full(shape, node.attrs["value"])
    else:
        raise Problem(f"{what} has components ({', '.join(node)}): name one")
    return values, float(node.attrs["unitSI"])


def mesh_names(meshes):
    """The names that --mesh takes: a record, or RECORD/COMPONENT of a vector."""
    for name, record in meshes.items():
        if isinstance(record, h5py.Group) and "value" not in record.attrs:
            yield from (f"{name}/{component}" for component in record)
        else:
            yield name


def read_mesh(snapshot, name, si):
    """Values [along x, along y], of lines and phase spaces along the axes of the file, and node 0's position and the
    spacing along them."""
    record_name, _, component = name.partition("/")
    if record_name not in snapshot.meshes:
        there = ", ".join(mesh_names(snapshot.meshes)) or "none"
        raise Problem(f"{snapshot.path} has no mesh {record_name} (it has: {there})")
    record = snapshot.meshes[record_name]
    if component and (not isinstance(record, h5py.Group) or component not in record):
        there = ", ".join(mesh_names(snapshot.meshes))
        raise Problem(f"mesh {record_name} of {snapshot.path} has no component {component} (there are: {there})")
    values, unit = component_values(record, component, f"mesh {record_name}")
    attributes = record.attrs
    position = (record[component] if component else record).attrs["position"]
    spacing = np.array(attributes["gridSpacing"], float)
    origin = np.array(attributes["gridGlobalOffset"], float) + spacing * position
    if [text(label) for label in attributes["axisLabels"]] == ["y", "x"]:
        values, spacing, origin = values.T, spacing[::-1], origin[::-1]
    if si:
        length = float(attributes["gridUnitSI"])
        values, spacing, origin = values * unit, spacing * length, origin * length
    return values, origin, spacing


def length_unit(snapshot):
    """Metres in the length that meshes are given in: what one unit of velocity goes in one of time."""
    for record in snapshot.meshes.values():
        return float(record.attrs["gridUnitSI"])
    for species in snapshot.species.values():
        return snapshot.time_unit * species["momentum/x"].attrs["unitSI"] / species["mass"].attrs["unitSI"]
    return 1.0


def read_velocity(snapshot, species_name, axis, si):
    """Velocity along axis and weight of every macro-particle; None for the former where the species has no such
    component."""
    if species_name not in snapshot.species:
        raise Problem(f"{snapshot.path} holds no particles of {species_name} (it has: "
            f"{', '.join(snapshot.species) or 'none'})")
    species = snapshot.species[species_name]

    def values(record, component=""):
        return component_values(species[record], component, f"{species_name}'s {record}")

    (mass, mass_unit), (weight, _) = values("mass"), values("weighting")
    if axis == "z" and "z" not in species["momentum"]:
        return None, weight
    momentum, momentum_unit = values("momentum", axis)
    # Velocities are the same for one electron and for the macro-particle: bring both records to the former.
    for record, array in (("momentum", momentum), ("mass", mass)):
        if species[record].attrs["macroWeighted"]:
            array /= weight ** species[record].attrs["weightingPower"]
    velocity = momentum.astype(float) / mass
    return velocity * momentum_unit / mass_unit if si else velocity, weight


def read_phase_space(snapshot, species_name, axis, si):
    """Position and velocity along axis, and the weight, of every macro-particle."""
    velocity, weight = read_velocity(snapshot, species_name, axis, si)
    species, place = snapshot.species[species_name], 0
    for record in ("position", "positionOffset"):
        values, unit = component_values(species[record], axis, f"{species_name}'s {record}")
        place = place + values.astype(float) * unit
    return place / (1 if si else length_unit(snapshot)), velocity, weight


def real_particles(snapshot):
    """Of weight, how much one unit of normalised weight is: n lambda_D^3, in a box one length unit deep."""
    density = VACUUM_PERMITTIVITY * ELECTRON_MASS / (ELEMENTARY_CHARGE * snapshot.time_unit) ** 2
    return density * length_unit(snapshot) ** 3


def weight_unit(snapshot, si):
    """What weights are divided by for a density: in SI units it is one by the length that the box is deep."""
    return length_unit(snapshot) if si else real_particles(snapshot)


def phase_space_density(particles, bins, extent, unit):
    """The integral of f over the axes not drawn, [along x, along u], of particles as read_phase_space gives them."""
    place, velocity, weight = particles
    counts = np.histogram2d(place, velocity, bins=bins, range=extent, weights=weight)[0]
    return counts / np.prod([(high - low) / bins for low, high in extent]) / unit


def axis_labels(si, axes):
    """Of x, y, u, v, w, or s, the length along a line."""
    length, velocity = ("$ [m]", "$ [m/s]") if si else (r"\;[\lambda_D]$", r"\;[v_{th}]$")
    return [f"${axis}{velocity if axis in 'uvw' else length}" for axis in axes]


def power(base, exponent):
    """As matplotlib text; nothing where the exponent is 0."""
    return base + (f"^{{{exponent:g}}}" if exponent != 1 else "") if exponent else ""


def density_label(axes, length, time, si, has_w, has_formula=False):
    """What is drawn of f over these axes, with its unit: length and time are the powers of m and s in it.

    Over a formula f is the density in it, whatever else the particles have.
    """
    others = "".join(rf"\,d{axis}" for axis in ("xyuvw" if has_w else "xyuv") if axis not in axes and not has_formula)
    symbol = r"\int f" + others if others else "f"
    if si:
        above, below = power(r"\mathrm{s}", time) or "1", power(r"\mathrm{m}", -length)
    else:  # the density n_0 is a length to the -3, and the velocities have all the powers of time
        above, below = "n_0" + power(r"\,\lambda_D", length + 3 + time), power("v_{th}", time)
    return f"${symbol}$ [${above}{'/' if below else ''}{below}$]"


def mesh_label(name, si, states):
    """What a mesh holds, of which species, whether it is an average of up to so many states, with its unit."""
    owner, _, quantity = name.rpartition("_")
    mean = f", mean of up to {states} states" if states > 1 else ""
    if quantity not in QUANTITIES:
        return name.replace("_", " ") + mean
    symbol, unit, unit_si = QUANTITIES[quantity]
    return f"{symbol}{f' of {owner}' if owner else ''}{mean} [{unit_si if si else unit}]"


def mesh_rows(snapshots, names, si):
    """A row for each of these meshes, over the box or a line of it."""
    if strange := [name for name in names if PHASE_SPACE.search(name)]:
        raise Problem(f"{strange[0]} is a phase space: scripts/plot_phase_space.py draws it")
    times, meshes, states = [], {name: [] for name in names}, 1
    for snapshot in snapshots:
        with closing(snapshot.file):
            times.append(snapshot.time_label(si))
            for name, frames in meshes.items():
                frames.append(read_mesh(snapshot, name, si))
                states = max(states, snapshot.meshes[name.partition("/")[0]].attrs.get("averagedStates", 1))
    rows = []
    for name, frames in meshes.items():
        values, origin, spacing = frames[0]
        low = origin - spacing / 2  # a node's value fills the cell around it
        ranges = list(zip(low, low + spacing * values.shape))
        label, is_plane = mesh_label(name, si, states), values.ndim == 2
        frames = [[values] for values, _, _ in frames]
        labels = axis_labels(si, "xy" if is_plane else "s")
        rows.append(Row(times, frames, ranges, labels, label, signed=True, equal=is_plane))
    return rows


def particle_rows(snapshots, species, axis, bins, si, apart=False):
    """A row of the density of the species' particles together over position and velocity, or one of each, on the same
    axes; bins: along each, None for as many as the noise of the particles leaves."""
    times, clouds_of, of_w = [], [], set()
    for snapshot in snapshots:
        with closing(snapshot.file):
            times.append(snapshot.time_label(si))
            clouds = [read_phase_space(snapshot, name, axis, si) for name in species]
            clouds_of.append((clouds, weight_unit(snapshot, si)))
            of_w |= {name for name in species if "z" in snapshot.species[name]["momentum"]}
    filled = [cloud for clouds, _ in clouds_of for cloud in clouds if len(cloud[0])]
    if not filled:
        raise Problem(f"{', '.join(species)}: no particles in {snapshot.path}")
    slowest, fastest = min(cloud[1].min() for cloud in filled), max(cloud[1].max() for cloud in filled)
    room = 0 if slowest < fastest else 1  # a cold species at rest
    extent = [(0, max(cloud[0].max() for cloud in filled) or 1.0), (slowest - room, fastest + room)]
    axes, rows = {"x": "xu", "y": "yv"}[axis], []
    fewest = min(sum(len(cloud[0]) for cloud in clouds) for clouds, _ in clouds_of) / (len(species) if apart else 1)
    bins = bins or int(np.clip((fewest / IN_A_BIN) ** 0.5, 10, MOST_BINS))
    for group in [slice(n, n + 1) for n in range(len(species))] if apart else [slice(None)]:
        frames = [[sum(phase_space_density(cloud, bins, extent, unit) for cloud in clouds[group])]
            for clouds, unit in clouds_of]
        label = f"{density_label(axes, -3, 1, si, not of_w.isdisjoint(species[group]))} of {' + '.join(species[group])}"
        rows.append(Row(times, frames, extent, axis_labels(si, axes), label))
    return rows
