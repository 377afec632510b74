#!/usr/bin/python3
"""Checks openPMD files of a run for what the readers of scripts/check_clients.sh do not see, and that attributes are
there.

They do not see whether every array has checksums and can be read whole, numbers are finite, particles lie within their
cells, patches and the box, ids are unique, and fields have one grid. The openPMD-validator sees that attributes are
there, the form of dates, and most parameters, but takes any word for a solver, boundary or pusher (1.1.0.6, 23 November
2026). What it sees is checked here as well, for the tests, which run where PyPI is not reachable.

Prints a line for every violation and leaves with 1 if there was any."""

import re
import sys
from pathlib import Path

from radixpic.fields import component_values
from radixpic.script import Problem, h5py, make_parser, run_script, numpy as np

EXAMPLES = """examples:
  scripts/check_openpmd.py output/landau_damping/snapshots/data_50.h5
  scripts/check_openpmd.py output/*/snapshots/*.h5 output/*/phase_space/*.h5 output/*/moments/*.h5
"""
# What each place requires, by type: S is a text of fixed length, d, I and L are float64, uint32 and uint64; with a
# number it is an array of as many, with n one of each axis.
ATTRIBUTES = {
    "file": {
        "S": "openPMD basePath iterationEncoding iterationFormat meshesPath particlesPath author software "
        "softwareVersion date",
        "I": "openPMDextension",
    },
    "iteration": {"d": "time dt timeUnitSI"},
    "meshes of ED-PIC": {"S": "fieldSolver currentSmoothing chargeCorrection", "S4": "fieldBoundary particleBoundary"},
    "mesh of ED-PIC": {"S": "fieldSmoothing"},
    "mesh": {"S": "geometry dataOrder", "Sn": "axisLabels", "dn": "gridSpacing gridGlobalOffset", "d": "gridUnitSI"},
    "record": {"d7": "unitDimension", "d": "timeOffset"},
    "component": {"d": "unitSI"},
    "component of a mesh": {"dn": "position"},
    "constant": {"d": "value", "Ln": "shape"},
    "species": {"d": "particleShape", "S": "currentDeposition particlePush particleInterpolation particleSmoothing"},
    "record of particles": {"I": "macroWeighted", "d": "weightingPower"},
}
BOUNDARIES = "periodic|open|absorbing|reflecting|reinjecting|other"
WORDS = {
    "openPMD": r"1\.1\.0",
    "date": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}",
    "fieldSolver": "Yee|CK|Lehe|DS|PSTD|PSATD|GPSTD|other|none",
    "fieldBoundary": BOUNDARIES,
    "particleBoundary": BOUNDARIES,
    "particlePush": "Boris|Vay|other",
    "geometry": "cartesian|other",
}
NEED_PARAMETERS = re.compile(
    "(fieldSolver|geometry) (other|GPSTD)|(.*Smoothing|chargeCorrection) (?!none).*"
)  # attribute, word
RULES = {
    "openPMDextension": lambda values: values <= 1,
    **dict.fromkeys(("timeUnitSI", "gridUnitSI", "gridSpacing", "unitSI"), lambda values: values > 0),
    "position": lambda values: (values >= 0) & (values < 1),
}
# By the end of a record's name: powers of length, mass, time and current in its unit, and of the weight in its values.
FIELDS = {"E": (1, 1, -3, -1), "phi": (2, 1, -3, -1), "chargeDensity": (-3, 0, 1, 1)}
WAVES = {"B": (0, 1, -2, -1), "J": (-2, 0, 0, 1)}
MOMENTS = {"density": (-3, 0, 0, 0), "velocity": (1, 0, -1, 0), "temperature": (2, 1, -2, 0)}
MOMENTS |= {"pressure": (-1, 1, -2, 0), "heatFlux": (0, 1, -3, 0)}
PLACES = {"position": (1, 0, 0, 0), "positionOffset": (1, 0, 0, 0)}
WEIGHTED = {"momentum": (1, 1, -1, 0), "charge": (0, 0, 1, 1), "mass": (0, 1, 0, 0), "weighting": (0, 0, 0, 0)}
TENSOR = ["xx", "xy", "xz", "yy", "yz", "zz"]
POWERS = FIELDS | WAVES | MOMENTS | PLACES | WEIGHTED | {"id": (0, 0, 0, 0)}
VECTORS = ("E", "B", "J", "velocity", "heatFlux", "position", "positionOffset", "momentum")


class Checker:
    """Collects the violations of one file."""

    def __init__(self, path):
        self.path = path
        self.violations = []
        self.box = None  # cells of it, where meshes have a part
        self.grid = {}  # of the meshes in a file by ED-PIC: axis -> (cells, metres of a cell)

    def require(self, condition, node, sentence):
        if not condition:
            self.violations.append(f"{self.path}: {node.name}: {sentence}")
        return condition

    def attributes(self, node, place, axes=2):
        """Those of the table, where a mesh has so many axes."""
        for kind, names in ATTRIBUTES[place].items():
            shape = {"": (), "n": (axes,), "4": (4,), "7": (7,)}[kind[1:]]
            for name in names.split():
                try:
                    value = np.asarray(node.attrs[name])
                except (KeyError, OSError, RuntimeError):
                    self.require(False, node, f"attribute {name} is missing, or cannot be read")
                    continue
                right = value.dtype.char == kind[0] and value.shape == shape
                if right and kind[0] == "S":
                    words = [word.decode("utf-8", "replace") for word in value.ravel()]
                    right = all(re.fullmatch(WORDS.get(name, ".+"), word) for word in words)
                    if NEED_PARAMETERS.fullmatch(f"{name} {words[0]}"):
                        self.require(name + "Parameters" in node.attrs, node, f"attribute {name}Parameters is missing")
                elif right:
                    right = np.isfinite(value).all() and np.all(RULES.get(name, np.isfinite)(value))
                self.require(right, node, f"attribute {name} is {value}, of {value.dtype} and the shape {value.shape}")

    def record(self, record, place, axes):
        """The shape of its components, which it returns if it is one of so many axes."""
        name = record.name.rpartition("/")[2].rpartition("_")[2]
        self.attributes(record, "record")
        self.attributes(record, place, axes)
        if name in POWERS and place != "mesh":
            power = record.attrs.get("weightingPower")
            self.require(power == (name in WEIGHTED), record, f"attribute weightingPower is {power}")
        powers = tuple(record.attrs.get("unitDimension", ()))
        self.require(name not in POWERS or powers == (*POWERS[name], 0, 0, 0), record,
            f"attribute unitDimension is {powers}")
        is_vector = isinstance(record, h5py.Group) and "value" not in record.attrs and len(record) > 0
        is_whole = record.name.rpartition("/")[2] in WAVES
        components = [["x", "y"]] * (not is_whole) + [["x", "y", "z"]] * (name not in PLACES)
        self.require(name not in VECTORS or is_vector and list(record) in components, record,
            "has not the components x and y, or x, y and z")
        self.require(name != "pressure" or list(record) in (["xx", "xy", "yy"], TENSOR), record,
            "has not the components xx, xy and yy, or with these xz, yz and zz")
        shapes = set()
        for component in record.values() if is_vector else [record]:
            self.attributes(component, "component")
            if place == "mesh":
                self.attributes(component, "component of a mesh", axes)
            shapes.add(self.shape(component, axes))
        right = len(shapes) == 1 and all(len(shape) == axes for shape in shapes)
        return shapes.pop() if self.require(right, record, f"has components of the shapes {shapes}") else None

    def shape(self, component, axes=1):
        """Of a dataset, which is read, or of a constant."""
        if not isinstance(component, h5py.Dataset):
            self.require(len(component) == 0, component, "is neither a dataset nor an empty group with a constant")
            self.attributes(component, "constant", axes)
            return tuple(map(int, np.atleast_1d(component.attrs.get("shape", ()))))
        self.require(component.fletcher32 or not component.size, component, "has no checksums")
        self.require(component.shuffle or not component.compression, component, "is not shuffled")
        self.require(component.dtype.kind == "f" or component.attrs.get("unitSI", 1) == 1, component,
            "is of whole numbers, which openPMD-viewer does not multiply by unitSI")
        try:
            rows = max(1, (1 << 22) // max(1, int(np.prod(component.shape[1:]))))
            parts = (component[first : first + rows] for first in range(0, component.shape[0], rows))
            are_finite = [part.dtype.kind != "f" or np.isfinite(part).all() for part in parts]
            self.require(all(are_finite), component, "holds numbers that are not finite")
        except (OSError, RuntimeError) as error:
            self.require(False, component, f"cannot be read whole: {error}")
        return component.shape

    def meshes(self, meshes, is_ed_pic):
        if is_ed_pic:
            self.attributes(meshes, "meshes of ED-PIC")
        for name, record in meshes.items():
            self.require(is_ed_pic or name not in FIELDS | WAVES, record, "is in a file that does not name ED-PIC")
            shape = self.record(record, "mesh", len(np.atleast_1d(record.attrs.get("axisLabels", ()))))
            if is_ed_pic:
                self.attributes(record, "mesh of ED-PIC")
                sides = record.attrs.get("gridSpacing", np.ones(2)) * record.attrs.get("gridUnitSI", 1)
                grid = dict(zip("xy", zip(shape or (0, 0), sides)))
                self.grid = self.grid or grid
                self.require(grid == self.grid, record, f"has the grid {grid}, and a mesh before it {self.grid}")
                self.box = record.attrs.get("boxCells")

    def species(self, species):
        self.attributes(species, "species")
        for name in (*PLACES, *WEIGHTED, "particlePatches"):
            self.require(name in species, species, f"{name} is missing")
        shapes = {
            self.record(record, "record of particles", 1)
            for name, record in species.items()
            if name != "particlePatches"
        }
        if not self.require(len(shapes) == 1 and None not in shapes, species, f"has records of the shapes {shapes}"):
            return
        ((count,),) = shapes
        if (weight := species.get("weighting")) is not None:
            units = weight.attrs.get("unitSI"), weight.attrs.get("macroWeighted")
            self.require(units == (1, 1), weight, f"attributes unitSI and macroWeighted are {units}, not 1")
            self.require(weight.attrs.get("value", 1) > 0, weight, "attribute value is not positive")
        ids = species.get("id")
        if ids is not None and self.require(isinstance(ids, h5py.Dataset) and ids.dtype == np.uint64, ids,
                "is not a dataset of uint64"):
            self.require(len(np.unique(ids)) == count, ids, "holds an id twice")
        if "particlePatches" in species:
            self.patches(species["particlePatches"], species, count)

    def patches(self, patches, species, count):
        """One after the other they hold all particles; each is within its cell, its patch and the box, upper bounds
        excluded."""
        for name in ("numParticles", "numParticlesOffset", "offset/x", "offset/y", "extent/x", "extent/y"):
            if not self.require(name in patches, patches, f"{name} is missing"):
                return
            self.shape(patches[name])
            self.attributes(patches[name], "component")
        numbers, starts = (patches[name][...] for name in ("numParticles", "numParticlesOffset"))
        right = numbers.dtype == starts.dtype == np.uint64 and numbers.sum() == count
        if not self.require(right, patches,
                f"numParticles does not sum to the {count} particles of the species, in uint64"):
            return
        self.require(np.array_equal(starts, np.cumsum(numbers) - numbers), patches,
            "do not begin where those before them end")
        for axis in "xy":
            names = [f"position/{axis}", f"positionOffset/{axis}", f"particlePatches/offset/{axis}",
                f"particlePatches/extent/{axis}"]
            cells, unit = self.grid.get(axis) or (np.inf, None)
            if unit is None or self.box is not None:  # of meshes of a part of the box the spacing may be another one
                unit = patches[f"extent/{axis}"].attrs.get("unitSI")
                cells = np.inf if self.box is None else self.box["xy".index(axis)]
            try:
                found = (component_values(species, name, name) for name in names)
                offset, cell, low, extent = (values * (its_unit / unit) for values, its_unit in found)
                low, extent = (np.repeat(bounds, numbers.astype(int)) for bounds in (low, extent))
            except (KeyError, OSError, RuntimeError, ValueError):
                continue  # told where the array and its attributes were read
            place = offset + cell
            for is_inside, what in (((offset >= 0) & (offset < 1) & (cell == np.floor(cell)), "cell"),
                    ((place >= low) & (place < low + extent), "patch"), ((place >= 0) & (place < cells), "box")):
                self.require(np.all(is_inside), species, f"has particles outside their {what} along {axis}")


def check(path):
    """The violations of a file."""
    checker = Checker(path)
    if Path(path).is_dir():
        raise Problem(f"{path} is a folder: name its snapshot files, as in {Path(path) / 'snapshots'}/*.h5")
    try:
        open(path, "rb").close()  # tells what is wrong in plain words, which HDF5 does not
        file = h5py.File(path, "r")
    except OSError as error:
        what = f"cannot be read: {error.strerror}" if error.filename else "is not a whole HDF5 file"
        raise Problem(f"{path} {what}") from None
    with file:
        checker.attributes(file, "file")
        steps = list(file.get("data", ()))
        if not checker.require(len(steps) == 1 and steps[0].isdigit(), file, "has not one group /data/STEP"):
            return checker.violations
        group = file["data"][steps[0]]
        checker.attributes(group, "iteration")
        pattern, *places = (
            file.attrs.get(name, b"").decode() for name in ("iterationFormat", "meshesPath", "particlesPath")
        )
        is_named = pattern.replace("%T", steps[0]) == Path(path).name
        checker.require(is_named, file, f"the file's name does not follow iterationFormat {pattern}")
        meshes, particles = (group.get(place) if place else None for place in places)
        if checker.require(meshes is not None, group, f"{places[0]} is missing"):
            checker.meshes(meshes, file.attrs.get("openPMDextension") != 0)
        if checker.require(particles is not None, group, f"{places[1]} is missing"):
            for species in particles.values():
                checker.species(species)
    return checker.violations


def main():
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("files", metavar="FILE", nargs="+", help="a snapshot, or a file of phase_space/ or moments/")
    parser.add_argument("--quiet", action="store_true", help="say nothing about files without violations")
    arguments = parser.parse_args()
    found = {path: check(path) for path in arguments.files}
    for path, violations in found.items():
        if violations or not arguments.quiet:
            print("\n".join(violations) or f"{path}: follows openPMD 1.1.0 and the extensions that it names")
    sys.exit(any(found.values()))


if __name__ == "__main__":
    run_script(main)
