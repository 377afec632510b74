#!/usr/bin/python3
"""Reads a run's last files by openPMD-viewer in both its backends, openpmd-api, yt and h5py, and all of them by the
openPMD-validator.

What they return in SI units is compared with the normalised numbers in the files times units that follow from the
config. Prints a table; leaves with 1 if a client fails or differs. scripts/check_clients.sh installs the clients and
makes a run.
"""

import subprocess
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from math import sqrt
from pathlib import Path

from radixpic.fields import (ELECTRON_MASS, ELEMENTARY_CHARGE, VACUUM_PERMITTIVITY, Snapshot, mesh_names, read_mesh,
    read_phase_space, text)
from radixpic.history import read_config, read_history
from radixpic.script import Problem, h5py, make_parser, run_script, numpy as np

EXAMPLES = """examples:
  scripts/check_clients.py output/my      by a python that has the clients, as scripts/check_clients.sh makes one
"""
LIGHT = 299792458.0  # m/s
CLOSE = 1e-6  # of the largest value: some multiply by units in single precision
MISSING = "is not installed: scripts/check_clients.sh does that"
MOST_AXES = 3  # openPMD-viewer reads no mesh of more
YT_FINDS_NONE = ("yt", "snapshots: particles", "finds none")  # as docs/outputs.md says


class Files:
    """The openPMD files in one folder of a run, the last of them open, and the units of the run in SI."""

    def __init__(self, run, folder):
        self.run, self.folder = Path(run), Path(run) / folder
        paths = sorted(self.folder.glob("*_*.h5"), key=lambda path: int(path.stem.rpartition("_")[2]))
        if not paths:
            raise Problem(f"{self.folder} holds no files")
        self.paths, self.last = paths, Snapshot(paths[-1])
        self.config = read_config(run)
        self.density, self.volts = (self.config["units"][key] for key in ("density_per_m3", "temperature_eV"))
        self.time = sqrt(VACUUM_PERMITTIVITY * ELECTRON_MASS / self.density) / ELEMENTARY_CHARGE
        self.length = sqrt(VACUUM_PERMITTIVITY * self.volts / (self.density * ELEMENTARY_CHARGE))
        self.velocity = self.length / self.time
        self.side = [n * self.length for n in self.config["grid"]["length"]]
        self.cell = [side / cells for side, cells in zip(self.side, self.config["grid"]["cells"])]

    def meshes(self):
        """The names of their components, as E/x."""
        return [name for name in mesh_names(self.last.meshes) if len(self.axes(name)) <= MOST_AXES]

    def record(self, name):
        return self.last.meshes[name.partition("/")[0]]

    def axes(self, name):
        return [text(label) for label in self.record(name).attrs["axisLabels"]]

    def unit(self, name):
        units = {
            "E": self.volts / self.length,
            "B": ELECTRON_MASS / (ELEMENTARY_CHARGE * self.time),
            "J": ELEMENTARY_CHARGE * self.density * self.velocity,
            "phi": self.volts,
            "chargeDensity": ELEMENTARY_CHARGE * self.density,
            "density": self.density,
            "velocity": self.velocity,
            "temperature": ELEMENTARY_CHARGE * self.volts,
            "pressure": ELEMENTARY_CHARGE * self.volts * self.density,
            "heatFlux": ELEMENTARY_CHARGE * self.volts * self.density * self.velocity,
        }
        kind = name.partition("/")[0].rpartition("_")[2]
        if kind in units:
            return units[kind]
        axes = self.axes(name)
        space = sum(axis in "xy" for axis in axes)
        return self.density * self.length ** (2 - space) / self.velocity ** (len(axes) - space)

    def along(self, name, axis):
        """Where the values of a mesh are along one of its axes."""
        record = self.record(name)
        number = self.axes(name).index(axis)
        count = self.last.meshes[name].shape[number]
        if "axisLow" in record.attrs:  # a phase space: the centres of its bins
            low, high = (record.attrs[end][number] for end in ("axisLow", "axisHigh"))
            unit = self.length if axis in "xy" else self.velocity
            return (low + (np.arange(count) + 0.5) * (high - low) / count) * unit
        species, _, kind = name.partition("/")[0].rpartition("_")
        centred = kind in ("density", "velocity", "temperature", "pressure", "heatFlux") or (species and kind == "J")
        return (np.arange(count) + 0.5 * bool(centred)) * self.cell[number]

    def expected(self):
        """What the last file holds by kind and name, in SI units: meshes, places along their axes, positions x and y of
        each species, momenta ux and uy by m c, and weights w."""
        meshes = {name: self.last.meshes[name][...] * self.unit(name) for name in self.meshes()}
        axes = {f"{name} along {axis}": self.along(name, axis) for name in meshes for axis in self.axes(name)}
        particles = {}
        for one in self.config["species"]:
            if (name := one["name"]) not in self.last.species:
                continue
            species = self.last.species[name]
            for number, axis in enumerate("xy"):
                place = species[f"position/{axis}"][...].astype(float) + species[f"positionOffset/{axis}"][...]
                particles[f"{name} {axis}"] = place * self.cell[number]
                particles[f"{name} u{axis}"] = species[f"momentum/{axis}"][...] / one["mass"] * self.velocity / LIGHT
            real = one["density"] * self.density * self.side[0] * self.side[1] * self.length  # in a box that deep
            particles[f"{name} w"] = np.full(len(place), real / len(place))
        return {"meshes": meshes, "axes": axes, "particles": particles}


# ---- the clients: each returns what it reads of the last file, by the names above ----


def by_h5py(files):
    """As the package reads them, by unitSI alone. The energy of E is that of history.csv."""
    values = {}
    for name in files.meshes():
        values[name], origin, spacing = read_mesh(files.last, name, si=True)
        for number, axis in enumerate(files.axes(name)):
            values[f"{name} along {axis}"] = origin[number] + spacing[number] * np.arange(values[name].shape[number])
    for name in files.last.species:
        for axis in "xy":
            place, velocity, weight = read_phase_space(files.last, name, axis, si=True)
            values |= {f"{name} {axis}": place, f"{name} u{axis}": velocity / LIGHT, f"{name} w": weight}
    history = read_history(files.run)
    if "E/x" in values and files.last.step in history["step"]:
        energy = history["field_energy"][history["step"] == files.last.step][0]
        electric = [name for name in files.meshes() if name.startswith("E/")]
        found = sum(np.sum(files.last.meshes[name][...].astype(float) ** 2) for name in electric)
        area = np.prod(files.config["grid"]["length"]) / np.prod(files.config["grid"]["cells"])
        if abs(found * area / 2 - energy) > CLOSE * energy:
            raise Problem(f"the field energy is {found * area / 2:g}, and in history.csv {energy:g}")
    return values


def is_no_tensor(name):
    """openPMD-viewer asks for a vector's component x, y or z."""
    return "_pressure/" not in name


def by_viewer(backend, files):
    """backend: h5py, which is what openPMD-viewer has where it is installed alone, or openpmd-api."""
    from openpmd_viewer import OpenPMDTimeSeries

    series, step, values = OpenPMDTimeSeries(str(files.folder), True, backend), files.last.step, {}
    for name in filter(is_no_tensor, files.meshes()):
        record, _, component = name.partition("/")
        values[name], about = series.get_field(record, component or None, iteration=step)
        values.update({f"{name} along {axis}": getattr(about, axis) for axis in about.axes.values()})
    for species in series.avail_species or ():
        parts = ["x", "y", "ux", "uy", "w"]
        arrays = series.get_particle(parts, species=species, iteration=step)
        values.update({f"{species} {part}": array for part, array in zip(parts, arrays)})
    return values


def by_api(files):
    """By the pattern in PREFIX.pmd, as ParaView's reader opens it."""
    import openpmd_api

    (pattern,) = files.folder.glob("*.pmd")
    series = openpmd_api.Series(str(files.folder / pattern.read_text().splitlines()[0]), openpmd_api.Access.read_only)
    iteration, scalar, values = series.iterations[files.last.step], openpmd_api.Record_Component.SCALAR, {}

    def load(component):
        loaded = component.load_chunk()
        series.flush()
        return loaded * component.unit_SI

    for name in files.meshes():
        record, _, component = name.partition("/")
        mesh = iteration.meshes[record]
        values[name] = load(mesh[component or scalar])
        for number, axis in enumerate(mesh.axis_labels):
            place = np.arange(values[name].shape[number]) + mesh[component or scalar].position[number]
            origin, spacing = mesh.grid_global_offset[number], mesh.grid_spacing[number]
            values[f"{name} along {axis}"] = (origin + place * spacing) * mesh.grid_unit_SI
    for name in iteration.particles:
        species = iteration.particles[name]
        for axis in "xy":
            values[f"{name} {axis}"] = load(species["position"][axis]) + load(species["positionOffset"][axis])
            values[f"{name} u{axis}"] = load(species["momentum"][axis]) / load(species["mass"][scalar]) / LIGHT
        values[f"{name} w"] = load(species["weighting"][scalar])
    return values


def by_yt(files):
    import yt

    yt.set_log_level(50)
    data, values, all_species = yt.load(str(files.paths[-1])), {}, list(files.last.species)
    for name in files.meshes():
        field = data.all_data()["openPMD", name.replace("_", "-").replace("/", "_")]
        values[name] = field.in_mks().d.reshape(files.last.meshes[name].shape)
    for name in all_species if data.index.numparts else ():
        particles = data.all_data()
        kind = name if len(all_species) > 1 else "io"
        for axis in "xy":
            values[f"{name} {axis}"] = particles[kind, f"particle_position_{axis}"].to("m").d
            momentum, mass = particles[kind, f"particle_momentum_{axis}"], particles[kind, "particle_mass"]
            values[f"{name} u{axis}"] = momentum.in_mks().d / mass.in_mks().d / LIGHT
        values[f"{name} w"] = particles[kind, "particle_weighting"].d
    return values


def difference(found, expected):
    """In words; nothing where they agree."""
    if found is None:
        return "is missing"
    if found.shape != expected.shape:
        return f"has the shape {found.shape} instead of {expected.shape}"
    largest, wrong = (np.max(np.abs(values), initial=0) for values in (expected, found - expected))
    if wrong <= CLOSE * largest:
        return ""
    return f"differs by {wrong / largest if largest else wrong:.2g} of the largest value"


def compare(client, files, kinds, is_read=bool):
    """(what, result) for each kind of data in the last file that the client reads; the result of what is right is
    empty."""
    try:
        found = client(files)
    except Exception as error:  # whatever a client raises
        return [(files.folder.name, f"{type(error).__name__}: {error}")]
    rows = []
    for kind, expected in files.expected().items():
        if kind not in kinds or not expected:
            continue
        none = not found.keys() & expected.keys()
        wrong = {name: difference(found.get(name), values) for name, values in expected.items() if is_read(name)}
        results = ["finds none"] if none else [f"{name} {what}" for name, what in wrong.items() if what]
        rows.append((f"{files.folder.name}: {kind}", "; ".join(results)))
    return rows


def validate(files, _):
    """The same of every file."""
    extension = ["--EDPIC"] if files.folder.name == "snapshots" else []
    program, wrong = Path(sys.executable).parent / "openPMD_check_h5", []
    for path in files.paths:
        said = subprocess.run([program, "-i", path, *extension], capture_output=True, text=True).stdout
        if "Result: 0 Errors and 0 Warnings" not in said:
            lines = [line for line in said.splitlines() if line.startswith(("Error", "Warning"))]
            wrong += [f"{path.name}: {line}" for line in lines or [said]]
    return [(f"{files.folder.name}: {len(files.paths)} files", "; ".join(wrong))]


# (name, function, folders of a run that it reads, what of a file)
FOLDERS, KINDS = ("snapshots", "phase_space", "moments"), ("meshes", "axes", "particles")
CLIENTS = (
    ("openPMD-validator", validate, FOLDERS, KINDS),
    ("h5py", partial(compare, by_h5py), FOLDERS, KINDS),
    *(
        (f"openPMD-viewer by {backend}", partial(compare, partial(by_viewer, backend), is_read=is_no_tensor), FOLDERS,
            KINDS)
        for backend in ("h5py", "openpmd-api")
    ),
    ("openpmd-api", partial(compare, by_api), FOLDERS, KINDS),
    # yt takes every axis for a length.
    ("yt", partial(compare, by_yt), ("snapshots", "moments"), ("meshes", "particles")),
)


def version_of(name):
    """None where it is not installed. Debian's h5py has another name."""
    try:
        return h5py.__version__ if name == "h5py" else version(name.partition(" ")[0])
    except PackageNotFoundError:
        return None


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("run", metavar="RUN", help="a run's output folder")
    run = Path(parser.parse_args().run)
    files = [Files(run, name) for name in FOLDERS if (run / name).is_dir()]
    if not files:
        raise Problem(f"{run} holds neither snapshots nor phase spaces nor moments")
    failed = False
    for name, client, reads, kinds in CLIENTS:
        its = version_of(name)
        rows = [row for one in files if its and one.folder.name in reads for row in client(one, kinds)]
        rows += [("", MISSING)] * (its is None)
        for what, result in rows:
            is_known = (name, what, result) == YT_FINDS_NONE
            failed |= bool(result) and not is_known
            print(f"{name:29} {its or '-':14} {what:24} {result or 'right'}{', as is known' * is_known}".rstrip())
    sys.exit(failed)


if __name__ == "__main__":
    run_script(main)
