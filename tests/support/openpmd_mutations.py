#!/usr/bin/python3
"""Spoils copies of a good snapshot, one thing each, and leaves with 1 unless scripts/check_openpmd.py sees every one.

usage: openpmd_mutations.py SNAPSHOT   (with particles and ids, of a run with filter passes)"""

import shutil
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
sys.dont_write_bytecode = True

import check_openpmd  # noqa: E402

# Optional by the standard, for a reader's eyes only, or of patch records that the standard asks no dimension of.
OPTIONAL = {"comment", "command", "machine", "softwareDependencies"}


def objects(path):
    """Every (object name, attribute names) of the file."""
    found = []
    with h5py.File(path, "r") as file:
        found.append(("/", list(file.attrs)))
        file.visititems(lambda name, node: found.append((name, list(node.attrs))))
    found = [(name, attributes) for name, attributes in found if name != "performance"]  # which openPMD does not know
    return found


def mutations(path, data):
    """(what, function of an open file, what the violation must hold)."""
    for name, attributes in objects(path):
        for attribute in attributes:
            if attribute in OPTIONAL or ("particlePatches" in name and attribute == "unitDimension"):
                continue

            def delete(file, name=name, attribute=attribute):
                del file[name].attrs[attribute]

            # A constant without its value is seen as a vector without components, whose other attributes are missing.
            yield f"{name}: {attribute} deleted", delete, "missing"

    def change(name, attribute, value, word=None):
        def function(file):
            file[name].attrs[attribute] = value

        return f"{name}: {attribute} = {value}", function, word or attribute

    fields, species = f"{data}/fields", f"{data}/particles/electrons"
    yield change("/", "openPMD", np.bytes_("2.0.0"))
    yield change("/", "openPMDextension", np.uint32(2))
    yield change("/", "openPMDextension", np.uint32(0), "name ED-PIC")
    yield change("/", "openPMDextension", 1)
    yield change("/", "openPMD", "1.1.0")  # of variable length
    yield change("/", "date", np.bytes_("yesterday"))
    yield change("/", "iterationFormat", np.bytes_("other_%T.h5"))
    yield change(fields, "fieldSolver", np.bytes_("multigrid"))
    yield change(fields, "fieldBoundary", np.array([b"periodic"] * 3))
    yield change(fields, "particleBoundary", np.array([b"sticky"] * 4))
    yield change(fields, "currentSmoothing", np.bytes_("Binomial"), "currentSmoothingParameters")
    yield change(fields, "chargeCorrection", np.bytes_("Marder"), "chargeCorrectionParameters")
    yield change(f"{fields}/E", "unitDimension", np.zeros(7))
    yield change(f"{fields}/E", "gridSpacing", np.array([1.0, -1.0]))
    yield change(f"{fields}/E", "gridGlobalOffset", np.zeros(2, np.float32))
    yield change(f"{fields}/E/x", "position", np.array([0.0, 1.0]))
    yield change(f"{fields}/phi", "unitSI", np.nan)
    yield change(species, "particlePush", np.bytes_("Euler"))
    yield change(species, "particleSmoothing", np.bytes_("Binomial"), "particleSmoothingParameters")
    yield change(f"{species}/weighting", "unitSI", 2.0)
    yield change(f"{species}/weighting", "macroWeighted", np.uint32(0))
    yield change(f"{species}/mass", "weightingPower", 0.0)
    yield change(f"{species}/charge", "shape", np.array([1], np.uint64), "shapes")

    def remove(name):
        return f"{name} removed", lambda file: file.pop(name), "missing"

    for record in ("position", "positionOffset", "momentum", "charge", "mass", "weighting", "particlePatches"):
        yield remove(f"{species}/{record}")
    yield f"{species}/momentum/y removed", lambda file: file.pop(f"{species}/momentum/y"), "components"

    def write(name, element, value, word):
        def function(file):
            file[name][element] = value

        return f"{name}[{element}] = {value}", function, word

    def make_whole(file):
        name = f"{species}/positionOffset/x"
        cells, attributes = file[name][...], dict(file[name].attrs)
        del file[name]
        whole = file.create_dataset(name, data=cells.astype(np.uint32), chunks=True, fletcher32=True)
        whole.attrs.update(attributes)

    yield f"{species}/positionOffset/x of whole numbers", make_whole, "whole numbers"
    yield write(f"{species}/positionOffset/x", 0, 1e9, "outside their box")
    yield write(f"{species}/positionOffset/y", 0, 1e9, "outside their patch")
    yield write(f"{species}/position/y", 0, -1.0, "outside their cell")
    yield write(f"{species}/position/x", 0, 1.0, "outside their cell")

    def change_units(*names):
        def function(file):
            for name in names:
                file[name].attrs["unitSI"] *= 2

        return f"unitSI of {', '.join(names)} doubled", function, "outside their cell"

    yield change_units(f"{species}/position/x")
    yield change_units(
        *(
            f"{species}/{name}/x"
            for name in ("position", "positionOffset", "particlePatches/offset", "particlePatches/extent")
        )
    )
    yield f"{fields}/phi on another grid", lambda file: file[f"{fields}/phi"].attrs.modify(
        "gridUnitSI", 1.0
    ), "has the grid"
    yield f"{species}/id constant", lambda file: make_constant(file, f"{species}/id", np.uint64(1)), "is not a dataset"
    yield f"{species}/mass constant NaN", lambda file: file[f"{species}/mass"].attrs.modify("value", np.nan), "value"
    yield f"{species}/weighting 0", lambda file: file[f"{species}/weighting"].attrs.modify("value", 0.0), "positive"
    yield write(f"{species}/momentum/x", 0, np.nan, "finite")
    yield write(f"{species}/particlePatches/numParticles", 0, 1, "sum")
    yield f"{species}: an id twice", lambda file: file[f"{species}/id"].write_direct(
        file[f"{species}/id"][...][::-1] * 0
    ), "twice"

    def without_checksums(file):
        values = file[f"{fields}/phi"][...]
        attributes = dict(file[f"{fields}/phi"].attrs)
        del file[f"{fields}/phi"]
        file[f"{fields}/phi"] = values
        file[f"{fields}/phi"].attrs.update(attributes)

    yield f"{fields}/phi without chunks and checksums", without_checksums, "checksums"


def make_constant(file, name, value):
    """A component of particles with the same value for all."""
    shape, attributes = file[name].shape, dict(file[name].attrs)
    del file[name]
    file.create_group(name).attrs.update(attributes, value=value, shape=np.array(shape, np.uint64))


def allowed(data):
    """(what, function of an open file) that leave a file without violations."""
    fields, species = f"{data}/fields", f"{data}/particles/electrons"
    for name in (f"{fields}/E", f"{fields}/phi", f"{fields}/chargeDensity", f"{species}/id", species):
        yield f"{name} removed", lambda file, name=name: file.pop(name)
    yield "no mesh", lambda file: file[fields].clear()
    yield "constant positions", lambda file: make_constant(file, f"{species}/position/y", 0.5)
    yield "constant momenta", lambda file: make_constant(file, f"{species}/momentum/x", 0.0)


def main():
    good = Path(sys.argv[1])
    violations = check_openpmd.check(good)
    if violations:
        sys.exit("\n".join(["the good file has violations:", *violations]))
    with h5py.File(good, "r") as file:
        data = "data/" + next(iter(file["data"]))
    unseen, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        spoiled = Path(folder) / good.name
        for what, mutate, word in [*mutations(good, data), *((*change, None) for change in allowed(data))]:
            shutil.copyfile(good, spoiled)
            with h5py.File(spoiled, "r+") as file:
                mutate(file)
            count += 1
            violations = check_openpmd.check(spoiled)
            if not any(word in violation for violation in violations) if word else violations:
                unseen.append(f"{what}: expected {repr(word) if word else 'nothing'} in {violations}")
    print(f"{count} mutations, {len(unseen)} not seen")
    if unseen or count < 100:
        sys.exit("\n".join(unseen) or "too few mutations: is it a file with particles?")


if __name__ == "__main__":
    main()
