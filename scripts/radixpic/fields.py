"""Files of openPMD: meshes and particles of one time, and pictures of them."""

import re
from pathlib import Path

from radixpic.script import Problem, h5py, numpy as np

MOST_COLUMNS = 5
UNITS = {"E": r"$T / e \lambda_D$", "phi": r"$T/e$", "chargeDensity": r"$e n_0$"}
UNITS_SI = {"E": "V/m", "phi": "V", "chargeDensity": r"C/m$^3$"}
ELEMENTARY_CHARGE, ELECTRON_MASS, VACUUM_PERMITTIVITY = 1.602176634e-19, 9.1093837015e-31, 8.8541878128e-12  # SI
SYMBOLS = {"E/x": "$E_x$", "E/y": "$E_y$", "phi": r"$\phi$", "chargeDensity": "charge density"}


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class Snapshot:
    """One openPMD file, open for reading; the group names come from its own attributes."""

    def __init__(self, path):
        self.path = path
        try:
            self.file = h5py.File(path, "r")
        except OSError:
            raise Problem(f"{path} is missing or is not a whole HDF5 file") from None
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


def find_snapshots(place, steps, inner="snapshots"):
    """Paths of a run folder's files in inner/ of these steps (None: the last, 'all': every one), or the file itself."""
    place = Path(place)
    if place.is_file():
        return [place]
    if not place.exists():
        raise Problem(f"{place} does not exist")
    folder = place / inner if (place / inner).is_dir() else place
    there = {
        int(match[1]): path
        for path in folder.glob("data_*.h5")
        if (match := re.fullmatch(r"data_(\d+)\.h5", path.name))
    }
    if not there:
        raise Problem(f"{place} holds no {inner}/data_*.h5")
    if steps is None:
        return [there[max(there)]]
    if steps == "all":
        return [there[step] for step in sorted(there)]
    for step in steps:
        if step not in there:
            what = "snapshot" if inner == "snapshots" else "file"
            raise Problem(f"{folder} has no {what} of step {step} (it has: {', '.join(map(str, sorted(there)))})")
    return [there[step] for step in steps]


def component_values(group, name, what):
    """Values of one record component, spread out where it is a constant, and its unitSI."""
    node = group[name] if name else group
    if isinstance(node, h5py.Dataset):
        values = node[...]
    elif "value" in node.attrs:
        values = np.full(tuple(int(n) for n in np.atleast_1d(node.attrs["shape"])), node.attrs["value"])
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
    """Values [along x, along y], and the position of node 0 and the spacing along x and y."""
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
    if text(attributes["axisLabels"][0]) == "y":
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


def read_phase_space(snapshot, species_name, axis, si):
    """Position and velocity along axis, and the weight, of every macro-particle."""
    if species_name not in snapshot.species:
        raise Problem(
            f"{snapshot.path} holds no particles of {species_name} (it has: {', '.join(snapshot.species) or 'none'})"
        )
    species = snapshot.species[species_name]

    def values(record, component=""):
        return component_values(species[record], component, f"{species_name}'s {record}")

    (position, unit), (offset, offset_unit) = values("position", axis), values("positionOffset", axis)
    (momentum, momentum_unit), (mass, mass_unit), (weight, _) = (
        values("momentum", axis),
        values("mass"),
        values("weighting"),
    )
    # Velocities are the same for one electron and for the macro-particle: bring both records to the former.
    for record, array in (("momentum", momentum), ("mass", mass)):
        if species[record].attrs["macroWeighted"]:
            array /= weight ** species[record].attrs["weightingPower"]
    place = position.astype(float) * unit + offset * offset_unit
    velocity = momentum.astype(float) / mass
    if si:
        return place, velocity * momentum_unit / mass_unit, weight
    return place / length_unit(snapshot), velocity, weight


def real_particles(snapshot):
    """Of weight, how much one unit of normalised weight is: n lambda_D^3, in a box one length unit deep."""
    density = VACUUM_PERMITTIVITY * ELECTRON_MASS / (ELEMENTARY_CHARGE * snapshot.time_unit) ** 2
    return density * length_unit(snapshot) ** 3


def phase_space_density(snapshot, particles, bins, extent, si):
    """The integral of f over the axes not drawn, [along x, along u], of particles as read_phase_space gives them."""
    place, velocity, weight = particles
    counts = np.histogram2d(place, velocity, bins=bins, range=extent, weights=weight)[0]
    area = np.prod([(high - low) / bins for low, high in extent])
    return counts / area / (length_unit(snapshot) if si else real_particles(snapshot))


def axis_labels(si, axes):
    units = {"x": r"\lambda_D", "y": r"\lambda_D", "u": "v_{th}", "v": "v_{th}"}
    return [f"${axis}$ [{'m' if axis in 'xy' else 'm/s'}]" if si else rf"${axis}\;[{units[axis]}]$" for axis in axes]


def power(base, exponent):
    """As matplotlib text; nothing where the exponent is 0."""
    return base + (f"^{{{exponent:g}}}" if exponent != 1 else "") if exponent else ""


def density_label(axes, length, time, si):
    """What is drawn of f over these axes, with its unit: length and time are the powers of m and s in it."""
    others = "".join(rf"\,d{axis}" for axis in "xyuv" if axis not in axes)
    symbol = r"\int f" + others if others else "f"
    if si:
        above, below = power(r"\mathrm{s}", time) or "1", power(r"\mathrm{m}", -length)
    else:  # the density n_0 is a length to the -3, and the velocities have all the powers of time
        above, below = "n_0" + power(r"\,\lambda_D", length + 3 + time), power("v_{th}", time)
    return f"${symbol}$ [${above}{'/' if below else ''}{below}$]"


def panel_grid(count):
    rows = -(-count // MOST_COLUMNS)
    return rows, -(-count // rows)


def colours(arrays):
    """Colour map and limits that all arrays share: symmetric about zero where the values change sign."""
    low, high = min(np.min(values) for values in arrays), max(np.max(values) for values in arrays)
    if low < 0 < high:
        return {"cmap": "RdBu_r", "vmin": -max(-low, high), "vmax": max(-low, high)}
    return {"cmap": "viridis", "vmin": low, "vmax": high}


def mesh_label(name, si):
    """Its symbol with the unit."""
    symbol, unit = SYMBOLS.get(name, name.replace("_", " ")), (UNITS_SI if si else UNITS).get(name.partition("/")[0], "")
    return f"{symbol} [{unit}]" if unit else symbol


def draw_meshes(plt, snapshots, names, si):
    """A row of panels (or more) for each mesh, all times of a mesh on one colour scale."""
    rows_each, columns = panel_grid(len(snapshots))
    figure = plt.figure(figsize=(1.4 + 3.5 * columns, 0.5 + 3.3 * rows_each * len(names)), layout="compressed")
    grid = figure.subplots(rows_each * len(names), columns, squeeze=False, sharex=True, sharey=True)
    for number, name in enumerate(names):
        panels = grid[number * rows_each : (number + 1) * rows_each].ravel()
        symbol = SYMBOLS.get(name, name.replace("_", " "))
        meshes = [read_mesh(snapshot, name, si) for snapshot in snapshots]
        scale = colours([values for values, _, _ in meshes])
        for panel, snapshot, (values, origin, spacing) in zip(panels, snapshots, meshes):
            low = origin - spacing / 2  # a node's value fills the cell around it
            high = low + spacing * values.shape
            image = panel.imshow(
                values.T, origin="lower", extent=(low[0], high[0], low[1], high[1]), interpolation="nearest", **scale
            )
            panel.set_title(f"{symbol}, {snapshot.time_label(si)}")
            panel.grid(False)
        for panel in panels[len(snapshots) :]:
            panel.axis("off")
        bar = figure.colorbar(image, ax=list(panels), shrink=0.85, pad=0.015)
        bar.set_label(mesh_label(name, si))
        bar.formatter.set_powerlimits((-2, 3))
        bar.formatter.set_useMathText(True)
    x_label, y_label = axis_labels(si, "xy")
    for panel in grid[-1]:
        panel.set_xlabel(x_label)
        panel.ticklabel_format(style="sci", scilimits=(-2, 4), useMathText=True)  # of both axes: they are shared
    for panel in grid[:, 0]:
        panel.set_ylabel(y_label)
    return figure


def draw_phase_space(plt, snapshots, species, axis, bins, si):
    """Panels of the density of the species' particles together, on one colour scale and one pair of axes."""
    data = [
        [np.concatenate(parts) for parts in zip(*(read_phase_space(snapshot, name, axis, si) for name in species))]
        for snapshot in snapshots
    ]
    if not any(len(place) for place, _, _ in data):
        raise Problem(f"{', '.join(species)}: no particles in {snapshots[0].path}")
    rows, columns = panel_grid(len(snapshots))
    extent = [
        [0, max(p.max() for p, _, _ in data if len(p)) or 1.0],
        [min(v.min() for _, v, _ in data if len(v)), max(v.max() for _, v, _ in data if len(v))],
    ]
    if extent[1][0] == extent[1][1]:  # a cold species at rest
        extent[1] = [extent[1][0] - 1, extent[1][1] + 1]
    figure = plt.figure(figsize=(1.4 + 4.2 * columns, 0.5 + 3.4 * rows))
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    densities = [
        phase_space_density(snapshot, particles, bins, extent, si) for snapshot, particles in zip(snapshots, data)
    ]
    limit = max(density.max() for density in densities)
    for panel, snapshot, density in zip(grid.ravel(), snapshots, densities):
        image = panel.imshow(
            density.T,
            origin="lower",
            extent=(*extent[0], *extent[1]),
            aspect="auto",
            cmap="magma",
            vmin=0,
            vmax=limit,
            interpolation="nearest",
        )
        panel.set_title(f"{' + '.join(species)}, {snapshot.time_label(si)}")
        panel.grid(False)
    for panel in grid.ravel()[len(snapshots) :]:
        panel.axis("off")
    velocity = {"x": "u", "y": "v"}[axis]
    x_label, u_label = axis_labels(si, (axis, velocity))
    figure.colorbar(image, ax=list(grid.ravel()), pad=0.015).set_label(density_label((axis, velocity), -3, 1, si))
    for panel in grid[-1]:
        panel.set_xlabel(x_label)
    for panel in grid[:, 0]:
        panel.set_ylabel(u_label)
    return figure
