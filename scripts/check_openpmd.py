#!/usr/bin/python3
"""Checks files against openPMD 1.1.0, snapshots also against its extension ED-PIC, and reads every array once (checksums).

Prints a line for every violation and leaves with 1 if there was any."""

import re
import sys
from pathlib import Path

from radixpic.script import Problem, h5py, make_parser, run_script, numpy as np

EXAMPLES = """examples:
  scripts/check_openpmd.py output/landau_damping/snapshots/data_50.h5
  scripts/check_openpmd.py output/*/snapshots/*.h5 output/*/phase_space/*.h5 output/*/moments/*.h5
"""
SMOOTHINGS = {"Binomial", "other", "none"}
SOLVERS = {"Yee", "CK", "Lehe", "DS", "PSTD", "PSATD", "GPSTD", "other", "none"}
CORRECTIONS = {"Marder", "Langdon", "Boris", "hyperbolic", "spectral", "other", "none"}
DEPOSITIONS = {"VillaBune", "Esirkepov", "ZigZag", "directBoris", "directMorseNielson", "other", "none"}
INTERPOLATIONS = {"uniform", "energyConserving", "momentumConserving", "other"}
FIELD_BOUNDARIES = {"periodic", "open", "reflecting", "other"}
PARTICLE_BOUNDARIES = {"periodic", "absorbing", "reflecting", "reinjecting", "other"}
# Powers of length, mass, time, current, temperature, amount of substance and luminous intensity.
DIMENSIONS = {
    "E": (1, 1, -3, -1, 0, 0, 0),
    "B": (0, 1, -2, -1, 0, 0, 0),
    "phi": (2, 1, -3, -1, 0, 0, 0),
    "chargeDensity": (-3, 0, 1, 1, 0, 0, 0),
    "position": (1, 0, 0, 0, 0, 0, 0),
    "positionOffset": (1, 0, 0, 0, 0, 0, 0),
    "momentum": (1, 1, -1, 0, 0, 0, 0),
    "charge": (0, 0, 1, 1, 0, 0, 0),
    "mass": (0, 1, 0, 0, 0, 0, 0),
    "weighting": (0, 0, 0, 0, 0, 0, 0),
    "id": (0, 0, 0, 0, 0, 0, 0),
}
# Of one species, by the end of the mesh's name.
OF_SPECIES = {
    "chargeDensity": DIMENSIONS["chargeDensity"],
    "density": (-3, 0, 0, 0, 0, 0, 0),
    "velocity": (1, 0, -1, 0, 0, 0, 0),
    "temperature": (2, 1, -2, 0, 0, 0, 0),
}
WEIGHTING_POWERS = {"position": 0, "positionOffset": 0, "momentum": 1, "charge": 1, "mass": 1, "weighting": 1, "id": 0}
FLOATS = ("float32", "float64")  # names in numpy


class Checker:
    """Collects the violations of one file."""

    def __init__(self, path):
        self.path = path
        self.violations = []
        self.is_ed_pic = True
        self.grid = {}  # of the meshes in a file by ED-PIC: axis -> (cells, metres of a cell)

    def say(self, node, sentence):
        self.violations.append(f"{self.path}: {node.name}: {sentence}")

    def require(self, condition, node, sentence):
        if not condition:
            self.say(node, sentence)
        return condition

    # -- attributes: each returns the value, or None after telling what is wrong

    def attribute(self, node, name):
        try:
            if name in node.attrs:
                return node.attrs[name]
            self.say(node, f"attribute {name} is missing")
        except (OSError, RuntimeError) as error:
            self.say(node, f"attribute {name} cannot be read: {error}")
        return None

    def text(self, node, name, allowed=None):
        """A fixed-length string; `allowed` is a set of words or a regular expression."""
        value = self.attribute(node, name)
        if value is None:
            return None
        if not self.require(isinstance(value, np.bytes_), node, f"attribute {name} is not a string of fixed length"):
            return None
        value = value.decode("utf-8", "replace")
        if isinstance(allowed, str) and not re.fullmatch(allowed, value):
            self.say(node, f"attribute {name} is '{value}', not of the form {allowed}")
        if isinstance(allowed, set) and value not in allowed:
            self.say(node, f"attribute {name} is '{value}', not one of {', '.join(sorted(allowed))}")
        return value

    def texts(self, node, name, count, allowed):
        value = self.attribute(node, name)
        if value is None:
            return
        if not self.require(
            isinstance(value, np.ndarray) and value.dtype.kind == "S" and value.shape == (count,),
            node,
            f"attribute {name} is not {count} strings of fixed length",
        ):
            return
        for word in value:
            self.require(
                word.decode() in allowed,
                node,
                f"attribute {name} holds '{word.decode()}', not one of {', '.join(sorted(allowed))}",
            )

    def number(self, node, name, types=("float64",)):
        value = self.attribute(node, name)
        if value is None:
            return None
        fits = isinstance(value, tuple(getattr(np, name_of_type) for name_of_type in types))
        if not self.require(fits, node, f"attribute {name} is not one {' or '.join(types)}"):
            return None
        self.require(np.isfinite(value), node, f"attribute {name} is {value}")
        return value

    def numbers(self, node, name, count, types=("float64",)):
        value = self.attribute(node, name)
        if value is None:
            return None
        fits = isinstance(value, np.ndarray) and value.shape == (count,) and value.dtype.name in types
        if not self.require(fits, node, f"attribute {name} is not {count} {' or '.join(types)}"):
            return None
        self.require(np.isfinite(value).all(), node, f"attribute {name} holds {value}")
        return value

    def unit(self, node, name):
        value = self.number(node, name)
        self.require(value is None or value > 0, node, f"attribute {name} is {value}, not positive")
        return value

    def parameters(self, node, name, word, without=("none",)):
        """NAMEParameters is required where NAME is a word that says too little."""
        if word is not None and word not in without:
            self.text(node, name + "Parameters", ".+")

    # -- records

    def shape(self, component):
        """The shape of a component, a dataset that is read or a constant; None after telling what is wrong."""
        if isinstance(component, h5py.Dataset):
            self.data(component)
            return component.shape
        if not self.require(len(component) == 0, component, "is neither a dataset nor an empty group with a constant"):
            return None
        self.number(component, "value", ("number",))
        shape = self.attribute(component, "shape")
        if shape is None:
            return None
        fits = isinstance(shape, np.ndarray) and shape.dtype == np.uint64 and shape.ndim == 1
        return (
            tuple(map(int, shape))
            if self.require(fits, component, "attribute shape is not an array of uint64")
            else None
        )

    def data(self, dataset):
        if dataset.size:
            self.require(dataset.chunks is not None, dataset, "is not chunked")
            self.require(dataset.shuffle or not dataset.compression, dataset, "is not shuffled")
            self.require(dataset.fletcher32, dataset, "has no checksums")
        try:
            rows = max(1, (1 << 22) // max(1, int(np.prod(dataset.shape[1:]))))
            for first in range(0, dataset.shape[0], rows):
                values = dataset[first : first + rows]
                if values.dtype.kind == "f" and not np.isfinite(values).all():
                    self.say(dataset, "holds numbers that are not finite")
                    break
        except (OSError, RuntimeError) as error:
            self.say(dataset, f"cannot be read whole: {error}")

    def components(self, record):
        """(name, component) of a vector record, or the record itself."""
        if isinstance(record, h5py.Group) and "value" not in record.attrs and len(record):
            return list(record.items())
        return [("", record)]

    def record(self, record):
        name = record.name.rpartition("/")[2]
        self.require(
            re.fullmatch(r"[A-Za-z0-9_]+", name), record, "has a name with characters other than a-Z, 0-9 and _"
        )
        dimension = self.numbers(record, "unitDimension", 7)
        wanted = DIMENSIONS.get(name, OF_SPECIES.get(name.rpartition("_")[2]))
        if dimension is not None and wanted is not None:
            self.require(tuple(dimension) == wanted, record, f"attribute unitDimension is {dimension}")
        self.number(record, "timeOffset", FLOATS)
        for _, component in self.components(record):
            self.unit(component, "unitSI")

    # -- the parts of a file

    def root(self, file):
        self.text(file, "openPMD", r"1\.1\.0")
        extension = self.number(file, "openPMDextension", ("uint32",))
        self.require(extension is None or extension in (0, 1), file, "attribute openPMDextension is neither 0 nor ED-PIC (1)")
        self.is_ed_pic = extension != 0
        self.text(file, "basePath", "/data/%T/")
        self.text(file, "iterationEncoding", "fileBased")
        pattern = self.text(file, "iterationFormat", ".*%T.*")
        for name in ("author", "software", "softwareVersion"):
            self.text(file, name, ".+")
        self.text(file, "date", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}")
        return pattern, self.text(file, "meshesPath", "[^/].*/"), self.text(file, "particlesPath", "[^/].*/")

    def iteration(self, group):
        self.number(group, "time", FLOATS)
        self.number(group, "dt", FLOATS)
        self.unit(group, "timeUnitSI")

    def meshes(self, meshes):
        if not self.is_ed_pic:
            for name in ("E", "phi", "chargeDensity"):
                self.require(name not in meshes, meshes, f"mesh {name} is in a file that does not name ED-PIC")
            for record in meshes.values():
                self.mesh(record, len(np.atleast_1d(record.attrs.get("axisLabels", ()))))
            return
        solver = self.text(meshes, "fieldSolver", SOLVERS)
        if solver in ("other", "GPSTD"):
            self.text(meshes, "fieldSolverParameters", ".+")
        dimensions = 2
        for name, words in (("fieldBoundary", FIELD_BOUNDARIES), ("particleBoundary", PARTICLE_BOUNDARIES)):
            self.texts(meshes, name, 2 * dimensions, words)
        self.parameters(meshes, "currentSmoothing", self.text(meshes, "currentSmoothing", SMOOTHINGS))
        self.parameters(meshes, "chargeCorrection", self.text(meshes, "chargeCorrection", CORRECTIONS))
        for record in meshes.values():
            self.mesh(record, dimensions)

    def mesh(self, record, dimensions):
        self.record(record)
        geometry = self.text(record, "geometry", {"cartesian"} if self.is_ed_pic else {"cartesian", "other"})
        self.parameters(record, "geometry", geometry, without=("cartesian",))
        self.text(record, "dataOrder", {"C"})
        self.texts(record, "axisLabels", dimensions, {"x", "y"} if self.is_ed_pic else {"x", "y", "u", "v", "s"})
        spacing = self.numbers(record, "gridSpacing", dimensions, FLOATS)
        self.require(spacing is None or (spacing > 0).all(), record, "attribute gridSpacing is not positive")
        self.numbers(record, "gridGlobalOffset", dimensions)
        unit = self.unit(record, "gridUnitSI")
        if self.is_ed_pic:
            self.parameters(record, "fieldSmoothing", self.text(record, "fieldSmoothing", SMOOTHINGS))
        shapes = set()
        for _, component in self.components(record):
            shapes.add(self.shape(component))
            position = self.numbers(component, "position", dimensions, FLOATS)
            self.require(
                position is None or ((position >= 0) & (position < 1)).all(),
                component,
                f"attribute position is {position}, not in [0, 1)",
            )
        self.require(
            len(shapes) == 1 and all(shape is None or len(shape) == dimensions for shape in shapes),
            record,
            f"has components of the shapes {shapes}",
        )
        shape = shapes.pop()
        if self.is_ed_pic and not any(one is None for one in (spacing, unit, shape)):
            grid = {axis: (cells, side * unit) for axis, cells, side in zip("xy", shape, spacing)}
            self.grid = self.grid or grid
            self.require(grid == self.grid, record, f"has the grid {grid}, and a mesh before it {self.grid}")
        if record.name.endswith("/E"):
            self.require(
                [name for name, _ in self.components(record)] == ["x", "y"], record, "has not the components x and y"
            )

    def species(self, species):
        self.number(species, "particleShape", FLOATS)
        self.text(species, "currentDeposition", DEPOSITIONS)
        self.text(species, "particlePush", {"Boris", "Vay", "other"})
        self.text(species, "particleInterpolation", INTERPOLATIONS)
        self.parameters(species, "particleSmoothing", self.text(species, "particleSmoothing", SMOOTHINGS))
        for name in ("position", "positionOffset", "momentum", "charge", "mass", "weighting"):
            self.require(name in species, species, f"record {name} is missing")
        counts = set()
        for name, record in species.items():
            if name != "particlePatches":
                counts |= self.particle_record(name, record)
        if not self.require(len(counts) == 1 and None not in counts, species, f"has records of the shapes {counts}"):
            return
        count = counts.pop()[0]
        if "id" in species and self.require(isinstance(species["id"], h5py.Dataset), species["id"], "is not a dataset"):
            self.require(species["id"].dtype == np.uint64, species["id"], "is not of uint64")
            self.require(len(np.unique(species["id"])) == count, species["id"], "holds an id twice")
        if self.require("particlePatches" in species, species, "particlePatches is missing"):
            self.patches(species["particlePatches"], species, count)

    def particle_record(self, name, record):
        """Shapes of the components of a record of particles."""
        self.record(record)
        macro = self.number(record, "macroWeighted", ("uint32",))
        self.require(macro is None or macro in (0, 1), record, f"attribute macroWeighted is {macro}")
        power = self.number(record, "weightingPower")
        if power is not None and name in WEIGHTING_POWERS:
            self.require(power == WEIGHTING_POWERS[name], record, f"attribute weightingPower is {power}")
        if name == "weighting":
            self.require(macro == 1, record, "attribute macroWeighted is not 1")
            self.require(record.attrs.get("unitSI") == 1, record, "attribute unitSI is not 1")
            self.require(record.attrs.get("value", 1) > 0, record, "attribute value is not positive")
        if name in ("position", "positionOffset", "momentum"):
            self.require(
                [axis for axis, _ in self.components(record)] == ["x", "y"], record, "has not the components x and y"
            )
        return {self.shape(component) for _, component in self.components(record)}

    def patches(self, patches, species, count):
        for name in ("numParticles", "numParticlesOffset", "offset/x", "offset/y", "extent/x", "extent/y"):
            if not self.require(name in patches, patches, f"{name} is missing"):
                return
            self.shape(patches[name])
            self.unit(patches[name], "unitSI")
        numbers, starts = patches["numParticles"], patches["numParticlesOffset"]
        for dataset in (numbers, starts):
            self.require(dataset.dtype == np.uint64, dataset, "is not of uint64")
        self.require(numbers[...].sum() == count, numbers, f"does not sum to the {count} particles of the species")
        ends = np.concatenate(([0], np.cumsum(numbers[...])))
        self.require((starts[...] == ends[:-1]).all(), starts, "is not where the patches before it end")
        for axis in "xy":
            if f"position/{axis}" in species and f"positionOffset/{axis}" in species:  # else told before
                self.inside(species, patches, axis)

    def inside(self, species, patches, axis):
        """Every particle is within its cell, its patch and the box, the upper bounds excluded; in units of a cell."""
        position, corner = species["position/" + axis], species["positionOffset/" + axis]
        bounds = patches["offset/" + axis], patches["extent/" + axis]
        try:
            cells, unit = self.grid.get(axis, (np.inf, bounds[0].attrs["unitSI"]))
            of_position, of_corner, of_low, of_extent = (one.attrs["unitSI"] / unit for one in (position, corner, *bounds))
            for start, number, low, extent in zip(
                patches["numParticlesOffset"][...],
                patches["numParticles"][...],
                bounds[0][...] * of_low,
                bounds[1][...] * of_extent,
            ):
                piece = slice(int(start), int(start + number))
                offset, cell = values(position, piece) * of_position, values(corner, piece) * of_corner
                place = offset + cell
                for is_inside, what in (
                    ((offset >= 0) & (offset < 1) & (cell == np.floor(cell)), "cell"),
                    ((place >= low) & (place < low + extent), "patch"),
                    ((place >= 0) & (place < cells), "box"),
                ):
                    self.require(np.all(is_inside), species, f"has particles outside their {what} along {axis}")
        except (OSError, RuntimeError, KeyError):
            pass  # told where the array was read


def values(component, piece):
    """Numbers of a dataset, or the one of a constant."""
    return component[piece].astype(float) if isinstance(component, h5py.Dataset) else component.attrs["value"]


def check(path):
    checker = Checker(path)
    if Path(path).is_dir():
        raise Problem(f"{path} is a folder: name its snapshot files, as in {Path(path) / 'snapshots'}/*.h5")
    try:
        with open(path, "rb"):  # tells what is wrong in plain words, which HDF5 does not
            pass
        file = h5py.File(path, "r")
    except OSError as error:
        what = f"cannot be read: {error.strerror}" if error.filename else "is not a whole HDF5 file"
        raise Problem(f"{path} {what}") from None
    with file:
        pattern, meshes_path, particles_path = checker.root(file)
        steps = list(file["data"]) if "data" in file else []
        if not checker.require(len(steps) == 1 and steps[0].isdigit(), file, "has not one group /data/STEP"):
            return checker.violations
        group = file["data"][steps[0]]
        if pattern:
            checker.require(
                pattern.replace("%T", steps[0]) == Path(path).name,
                group,
                f"the file's name does not follow iterationFormat {pattern}",
            )
        checker.iteration(group)
        if meshes_path and checker.require(meshes_path in group, group, f"{meshes_path} is missing"):
            checker.meshes(group[meshes_path])
        if particles_path and checker.require(particles_path in group, group, f"{particles_path} is missing"):
            for species in group[particles_path].values():
                checker.species(species)
    return checker.violations


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("files", metavar="FILE", nargs="+", help="a snapshot, or a file of phase_space/ or moments/")
    parser.add_argument("--quiet", action="store_true", help="say nothing about files without violations")
    arguments = parser.parse_args()
    failed = False
    for path in arguments.files:
        violations = check(path)
        for violation in violations:
            print(violation)
        failed = failed or bool(violations)
        if not violations and not arguments.quiet:
            print(f"{path}: follows openPMD 1.1.0 and the extensions that it names")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    run_script(main)
