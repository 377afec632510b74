"""Particles and densities from files: the same again from a snapshot, by any number of ranks, and from its numbers in
.npy, .csv and another program's openPMD; what files lack is named."""

import os
import re
import shlex
import shutil
import unittest
from unittest import mock

import h5py
import numpy as np

from program import CONFIG, MPI_ENVIRONMENT, PROGRAM, OneRunTest, sets

import radixpic

os.environ["RADIXPIC"] = PROGRAM
EVERY_STEP = sets("output.history.every=1", "output.snapshots.every=4")
STEP, STEPS, CELL, COUNT = 4, 8, np.array([6 / 16, 4 / 8]), 4096


def positions(file, **keys):
    return "species.electrons.positions={" + ", ".join(f"{key}: {value}" for key, value in
                                                       {"file": file, **keys}.items()) + "}"


class SpeciesFiles(OneRunTest):
    """A run, and a second config that goes on from its step 4."""

    arguments = ["run", "small.yaml", "--quiet", "--steps", STEPS, *EVERY_STEP]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        again = CONFIG.replace("    velocities: {kind: maxwellian}\n", "")
        again = "".join(line for line in again.splitlines(True) if "perturb" not in line)
        (cls.folder / "again.yaml").write_text(again)
        shutil.copy(cls.folder / "out" / "snapshots" / f"data_{STEP}.h5", cls.folder / "then.h5")
        with h5py.File(cls.folder / "then.h5") as file:
            cls.units, cls.columns = cls.read_particles(file[f"data/{STEP}/particles/electrons"])

    @staticmethod
    def read_particles(group):
        units = [group[name].attrs["unitSI"] for name in ("position/x", "momentum/x")]
        arrays = {}
        for axis, name in enumerate("xy"):
            cells = group[f"position/{name}"][:].astype(float) + group[f"positionOffset/{name}"][:]
            arrays[name], arrays["uv"[axis]] = cells * CELL[axis], group[f"momentum/{name}"][:].astype(float)
        return units, arrays

    def table(self, names="xyuv", **more):
        table = np.zeros(COUNT, [(name, "<f8") for name in [*names, *more]])
        for name in names:
            table[name] = self.columns[name]
        for name, values in more.items():
            table[name] = values
        return table

    def run_again(self, *settings, ranks=0, folder="again", steps=STEPS - STEP):
        arguments = ["run", "again.yaml", "--quiet", "--force", "--output", folder, "--steps", steps, *EVERY_STEP]
        arguments += sets(*settings)
        if ranks:
            self.run_well_on(ranks, *arguments)
        else:
            self.run_well(*arguments)
        return self.numbers(folder)

    def numbers(self, folder):
        """The history without step and time."""
        return np.array([[float(text) for text in list(row.values())[2:]] for row in self.history(folder)])

    # ---- particles ----

    def test_a_run_does_not_replace_what_it_reads(self):
        file = f"out/snapshots/data_{STEP}.h5"
        before = (self.folder / file).read_bytes()
        words = f"--force replaces the run in folder out, but {file}, which species electrons reads, is of that run"
        self.refuse(2, [words], "run", "again.yaml", "--force", "--output", "out", *sets(positions(file)))
        self.assertEqual((self.folder / file).read_bytes(), before)

    def test_a_snapshot_goes_on_with_the_same_bits(self):
        """In double precision; in single the dithers of a step are those of its number, which begins anew."""
        double = "precision=double"
        self.run_well(*self.arguments, *sets(double), "--output", "double")
        shutil.copy(self.folder / "double" / "snapshots" / f"data_{STEP}.h5", self.folder / "double.h5")
        then, place = self.numbers("double")[STEP:], f"/data/{STEP}/particles/electrons"
        with h5py.File(self.folder / "double.h5") as file:
            _, columns = self.read_particles(file[place])
        np.testing.assert_array_equal(self.run_again(positions("double.h5"), double), then)
        for ranks in (2, 3):
            again = self.run_again(positions("double.h5", place=place), double, ranks=ranks)
            np.testing.assert_allclose(again, then, rtol=1e-5, atol=1e-6)
            with h5py.File(self.folder / "again" / "snapshots" / "data_0.h5") as file:
                _, arrays = self.read_particles(file["data/0/particles/electrons"])
                ids = file["data/0/particles/electrons/id"][:]
            for name, values in columns.items():  # an id is the place in the file
                np.testing.assert_array_equal(arrays[name], values[ids], err_msg=name)

    def test_npy_and_csv_have_the_same_numbers(self):
        table = self.table("vuyx", weight=24 / COUNT)
        np.save(self.folder / "fields.npy", table)
        np.save(self.folder / "plain.npy", np.stack([table[name] for name in "xyuv"], 1))
        np.save(self.folder / "columns.npy", np.stack([table[name] for name in "xyuv"]).T)  # in Fortran's order
        header, rows = ",".join(table.dtype.names), table.view("f8").reshape(COUNT, -1)
        np.savetxt(self.folder / "lines.csv", rows, header=header, delimiter=",", fmt="%.17g")
        lines = (self.folder / "lines.csv").read_text()
        marked = lines.replace("\n", "\n# 3 words here\n", 1)
        (self.folder / "lines.csv").write_text(marked, encoding="utf-8-sig")  # with a byte-order mark
        (self.folder / "begun.csv").write_text("# by a program\n\n# of 2026, x alone\n" + lines[2:])
        turned = self.read("fields.npy").replace(b"'fortran_order': False", b"'fortran_order': True ", 1)
        (self.folder / "turned.npy").write_bytes(turned)  # of one dimension, which has one order
        expected = self.run_again(positions("fields.npy"), steps=1)
        for ranks, file in ((0, "plain.npy"), (0, "turned.npy"), (0, "begun.csv"), (3, "columns.npy"), (0, "lines.csv"),
                            (3, "lines.csv")):
            again = self.run_again(positions(file), ranks=ranks, steps=1)
            np.testing.assert_allclose(again, expected, rtol=1e-5 if ranks else 0, atol=1e-6 if ranks else 0)
        # Velocities at 0 here, and half a step before there: the positions are those of the snapshot.
        np.testing.assert_array_equal(expected[0, -4:], self.numbers("out")[STEP, -4:])

    def test_openpmd_of_another_program(self):
        """Several iterations, constants, momenta of macro-particles, and a weight that is none of 1."""
        length, momentum = self.units[0] / CELL[0], self.units[1]
        with h5py.File(self.folder / "other.h5", "w") as file:
            for iteration, shift in ((9, 0.1), (100, 0)):
                group = file.create_group(f"data/{iteration}/particles/beam")
                for axis, (place, velocity) in enumerate(("xu", "yv")):
                    offset = group.create_group(f"positionOffset/{'xy'[axis]}")
                    offset.attrs.update({"value": 1.0, "shape": np.uint64([COUNT]), "unitSI": CELL[axis] * length})
                    values = self.columns[place] + shift - CELL[axis]
                    group[f"position/{'xy'[axis]}"] = values * length * 1e3
                    group[f"position/{'xy'[axis]}"].attrs.update({"unitSI": 1e-3, "value": 7.0})
                    group.create_dataset(f"momentum/{'xy'[axis]}", data=self.columns[velocity] * 7e5 * momentum,
                                         compression=1, chunks=(1000,))
                group["momentum"].attrs["macroWeighted"] = np.uint32(1)
                group["weighting"] = np.full(COUNT, 7e5, np.float32)
        np.save(self.folder / "twin.npy", self.table())
        again = self.run_again(positions("other.h5", place="beam"), steps=1)
        np.testing.assert_allclose(again, self.run_again(positions("twin.npy"), steps=1), rtol=1e-5, atol=1e-6)

    def write_plane(self, name, letters, third):
        """Places around 0, along the first two letters, and momenta along all three; `third` is w as in the file."""
        length, momentum = self.units[0] / CELL[0], self.units[1]
        with h5py.File(self.folder / name, "w") as file:
            group = file.create_group("data/50/particles/electrons")
            for letter, place, shift in zip(letters, "xy", (3, 14.5)):
                group[f"position/{letter}"] = (self.columns[place] - shift) * length
                offset = group.create_group(f"positionOffset/{letter}")
                offset.attrs.update({"value": 0.0, "shape": np.uint64([COUNT]), "unitSI": 1.0})
            for letter, values in zip(letters, (self.columns["u"], self.columns["v"], third)):
                group[f"momentum/{letter}"] = values * momentum

    def test_planes_that_begin_elsewhere(self):
        """As 2D simulations of WarpX have x-z: a box around 0, momenta along three axes."""
        length, third = self.units[0] / CELL[0], 0.1 * self.columns["u"] - 0.2
        self.write_plane("plane.h5", "xzy", -third)
        self.write_plane("other.h5", "yzx", third)
        moved = {"x": (self.columns["x"] - 3) % 6, "y": (self.columns["y"] - 14.5) % 4}
        table = self.table("uv", **moved, w=third)
        np.save(self.folder / "twin.npy", table)
        twin = self.run_again(positions("twin.npy"), steps=1)
        for ranks in 0, 3:
            np.testing.assert_allclose(self.run_again(positions("plane.h5"), steps=1, ranks=ranks), twin, rtol=1e-5,
                                       atol=1e-5)
        np.testing.assert_allclose(self.run_again(positions("other.h5"), steps=1), twin, rtol=1e-5, atol=1e-5)
        for file, is_said in ("plane.h5", True), ("twin.npy", False):
            said = self.run_well("check", "again.yaml", *sets(positions(file))).stdout
            self.assertEqual("electrons: places outside of the box come in at its other side" in said, is_said)
        means = [re.search(r"mean velocity \(.*", self.run_well("check", "again.yaml", *sets(
            positions(file), "species.electrons.velocities={kind: file, dimensions: 3}")).stdout)[0]
                 for file in ("plane.h5", "other.h5", "twin.npy")]
        self.assertEqual(means, means[:1] * 3)
        self.assertRegex(means[0], r", -0\.2\d*\), dev")
        with h5py.File(self.folder / "plane.h5", "a") as file:
            file["data/50/particles/electrons/position/z"][-1365:] += 4 * length  # the particles of the last rank
        self.refuse_particles("expected places within one length of the box, 4, found position/z from -14.",
                              "plane.h5", self.read("plane.h5"), ranks=3)

    def test_positions_along_three_axes(self):
        """As Warp writes those in a plane: E says in which. Fortran's iterations begin with zeros."""
        np.save(self.folder / "twin.npy", self.table())
        with h5py.File(self.folder / "three.h5", "w") as file:
            group = file.create_group("data/0000050/particles/electrons")
            for letter, place, velocity in ("x", "x", "u"), ("y", "u", "u"), ("z", "y", "v"):
                group[f"position/{letter}"] = self.columns[place] * self.units[0] / CELL[0]
                group[f"momentum/{letter}"] = self.columns[velocity] * self.units[1]
            speed = self.units[1] / 9.1093837e-31  # the unit's, with the mass of an electron
            group.parent.parent.attrs["timeUnitSI"] = self.units[0] / CELL[0] / speed
            group["momentum"].attrs["timeOffset"] = -0.03
            file.attrs["meshesPath"] = "fields/"
        self.refuse_particles("/data/0000050/particles/electrons: expected positions along two axes, found x, y and z",
                              "three.h5", self.read("three.h5"))
        with h5py.File(self.folder / "three.h5", "a") as file:
            file.create_group("data/0000050/fields/E")  # which does not say where it lies
            file["data/0000050/particles/electrons"]["mass"] = np.full(COUNT, 2.0)
            file["data/0000050/particles/electrons/mass"].attrs["value"] = 123.0  # means nothing to a dataset
        self.refuse_particles("expected positions along two axes, found x, y and z", "three.h5", self.read("three.h5"))
        for labels in "xyz", "zx":
            with h5py.File(self.folder / "three.h5", "a") as file:
                file.require_group("data/0000050/fields/E").attrs["axisLabels"] = np.bytes_([*labels])
            if len(labels) == 3:
                self.refuse_particles("fields/E: expected two values, those of a mesh of two dimensions",
                                      "three.h5", self.read("three.h5"))
        said = self.run_well("check", "again.yaml", *sets(positions("three.h5"))).stdout
        self.assertIn("warning: electrons: positions along y are not read", said)
        self.assertIn("the velocities in the file are 0.03 before the positions", said)
        self.assertNotIn("the mass in the file", said)
        np.testing.assert_allclose(self.run_again(positions("three.h5"), steps=1),
                                   self.run_again(positions("twin.npy"), steps=1), rtol=1e-5, atol=1e-5)

    def test_single_precision_far_away(self):
        """Ends of the box are rounded to places that are further apart than it is long."""
        far = np.zeros(COUNT, [(name, "f4") for name in "xyuv"])
        far["x"] = 1234.567 + 6 * (np.arange(COUNT) / COUNT)
        far["x"][-1] = np.nextafter(np.float32(1240.567), np.float32(2000))
        np.save(self.folder / "far.npy", far)
        self.run_well("check", "again.yaml", *sets(positions("far.npy")))

    def test_what_velocities_mean(self):
        np.save(self.folder / "xy.npy", self.table("xy", weight=1))
        np.save(self.folder / "xyuv.npy", self.table())
        self.refuse(2, "xy.npy: u is missing", "check", "again.yaml", *sets(positions("xy.npy")))
        cold = self.run_again(positions("xy.npy"), "species.electrons.velocities=cold", steps=0)
        thermal = self.run_again(positions("xy.npy"), "species.electrons.velocities=maxwellian", steps=0)
        moved = self.run_again(positions("xyuv.npy"), "species.electrons.velocities={drift: [2, 0]}", steps=0)
        still = self.run_again(positions("xyuv.npy"), steps=0)
        self.assertLess(cold[0, 1], 1e-9)
        self.assertAlmostEqual(thermal[0, 1], 24, delta=0.5)
        self.assertAlmostEqual(moved[0, 3] - still[0, 3], 48, places=4)

    def test_what_is_said(self):
        np.save(self.folder / "said.npy", self.table(weight=12 / COUNT))
        said = self.run_well("check", "again.yaml", *sets(positions("said.npy"))).stdout
        self.assertRegex(said, r"(?m)^particles of electrons: said.npy, digest [0-9a-f]{16}$")
        self.assertRegex(said, r"(?m)^electrons: 4096 particles, at the start mean velocity \(-0.0\d+, ")
        self.assertIn("the weights in the file make a density of 0.5 in a box of depth 1, here it is 1\n", said)
        warning = "electrons: the velocities in the file are 0.05 before the positions, and half a step is 0.02: "
        for step, is_said in ((0.1, False), (0.04, True)):
            said = self.run_well("check", "again.yaml", *sets(positions("then.h5"), f"time.step={step}")).stdout
            self.assertEqual(warning in said, is_said)
            self.assertNotIn("the mass in the file", said)
        said = self.run_well("check", "again.yaml", *sets(positions("then.h5"), "species.electrons.mass=4")).stdout
        self.assertIn("electrons: the mass in the file is 1, here it is 4: the run has the momenta of the file", said)
        self.run_again(positions("said.npy"), steps=0)
        self.assertRegex((self.folder / "again" / "log.txt").read_text(), "particles of electrons: said.npy, digest ")

    def test_a_checkpoint_needs_no_file(self):
        np.save(self.folder / "gone.npy", self.table())
        keep = ["output.checkpoints.every=1", positions("gone.npy")]
        whole = self.run_again(*keep, folder="whole", steps=2)
        self.run_again(*keep, folder="part", steps=1)
        (self.folder / "gone.npy").unlink()
        self.run_well("run", "--quiet", "--restart", "latest", "--output", "part", "--steps", "2")
        np.testing.assert_array_equal(self.numbers("part"), whole)
        self.assertEqual((self.folder / "part" / "log.txt").read_text().count("of electrons: gone.npy, digest "), 2)
        digests = []
        for name in ("whole", "part"):
            with h5py.File(self.folder / name / "snapshots" / "data_2.h5") as file:
                digests.append(file.attrs["electrons_fileDigest"])
        self.assertEqual(*digests)

    # ---- what is refused ----

    def refuse_particles(self, words, name, content, ranks=0, **keys):
        path = self.folder / name
        if isinstance(content, np.ndarray):
            np.save(path, content)
        else:
            path.write_bytes(content)
        arguments = ["again.yaml", *sets(positions(name, **keys))]
        if ranks:
            with self.subTest(name=name):
                self.assert_said(self.run_on(ranks, "run", *arguments, "--output", "refused"), 2, name, words)
        else:
            self.refuse(2, [name, words], "check", *arguments)

    def test_particles_that_are_wrong(self):
        for name, number, value, words in (
            ("y", 77, 4.1, "expected places within one length of the box, 4, found y from 0.001"),
            ("x", 4000, np.nan, "particle 4000 has x nan, expected a finite number"),
            ("v", 3000, np.inf, "particle 3000 has v inf, expected a finite number"),
            ("u", 9, 1e39, "particle 9 has u 1e+39, expected a speed that the precision of the run holds"),
            ("weight", 5, 2, "particle 5 has weight 2, expected that of particle 0"),
        ):
            table = self.table(weight=1)
            table[name][number] = value
            self.refuse_particles(words, "wrong.npy", table, ranks=3 if name == "v" else 0)

    def test_files_that_are_wrong(self):
        whole = self.table()
        plain = whole.view("f8").reshape(COUNT, -1)
        expected = "expected a whole .npy file"
        for name, content, words in (
            ("short.npy", whole[:100], "it has 100 particles where the config says 4096"),
            ("big.npy", plain.astype(">f8"), "little-endian, found {'descr': '>f8', 'fortran_order': False, 'sh"),
            ("half.npy", plain.astype("<f2"), "found {'descr': '<f2'"),
            ("flat.npy", plain[:, 0], expected),
            ("deep.npy", plain[:, :, None], expected),
            ("junk.npy", b"junk", expected),
            ("junk.h5", b"junk", "expected a .npy or HDF5 file, or of particles a .csv file"),
            ("few.csv", b"x,y,u,v\n\n1,2,3\n", "few.csv:3: expected 4 numbers, as in the header line"),
            ("word.csv", b"x,y,u,v\n1,2,3,z\n", "word.csv:2: expected 4 numbers, as in the header line"),
            ("twice.csv", b"x,x,y,u,v\n", "it has x twice"),
            ("zero.csv", b"x,y,u,v\n1,2,3,12\0\n", "zero.csv:2: expected text, found a byte of value 0"),
            ("comment.csv", b"# 1 word\n\n# x,y,u,v\n# 2\n1,2,3\n", "comment.csv:5: expected 4 numbers, as in the"),
            ("empty.csv", b"", "it has 0 particles where the config says 4096"),
        ):
            self.refuse_particles(words, name, content)
        np.save(self.folder / "all.npy", whole)
        self.refuse_particles(expected, "cut.npy", self.read("all.npy")[:-1])
        self.refuse(2, "none.h5: cannot read it: No such file", "check", "again.yaml", *sets(positions("none.h5")))
        snapshot = self.read("then.h5")
        self.refuse_particles('there is no "ions" in it', "ions.h5", snapshot, place="ions")
        (self.folder / "two.h5").write_bytes(snapshot)
        with h5py.File(self.folder / "two.h5", "a") as file:
            del file[f"data/{STEP}/particles/electrons/momentum/y"]
        self.refuse_particles("momentum/y is missing", "two.h5", self.read("two.h5"))
        with h5py.File(self.folder / "two.h5", "a") as file:
            file[f"data/{STEP}/particles/electrons/position/x"].attrs["unitSI"] = np.ones(8, "i1")
        self.refuse_particles("unitSI of /data/4/particles/electrons/position/x: expected one value", "two.h5",
                              self.read("two.h5"))
        with h5py.File(self.folder / "two.h5", "a") as file:
            del file[f"data/{STEP}/particles/electrons/position/x"].attrs["unitSI"]
            file[f"data/{STEP}"].attrs["timeUnitSI"] = 1e200
            file[f"data/{STEP}/particles/electrons/momentum"].attrs["timeOffset"] = 1e200
        self.refuse_particles("times timeUnitSI of /data/4 is not finite", "two.h5", self.read("two.h5"))
        for name, value, words in (("position/x", np.nan, "finite numbers"), ("position/x", 0.0, "a number above 0"),
                                   ("momentum/x", "m", "numbers")):
            (self.folder / "unit.h5").write_bytes(snapshot)
            with h5py.File(self.folder / "unit.h5", "a") as file:
                file[f"data/{STEP}/particles/electrons/{name}"].attrs["unitSI"] = value
            self.refuse_particles(f"unitSI of /data/4/particles/electrons/{name}: expected {words}", "unit.h5",
                                  self.read("unit.h5"))

    def test_ranks_with_other_files_under_one_path(self):
        for number, folder in enumerate("ab"):
            (self.folder / folder).mkdir()
            np.save(self.folder / folder / "own.npy", self.table()[:: 1 - 2 * number])
            self.run_well("run", "small.yaml", "--quiet", "--steps", 1, "--output", f"{folder}/run",
                          *sets("output.checkpoints.every=1", f"species.electrons.density={1 + number}"))

        def command(*arguments):
            """Each rank in a folder of its own, by a shell: mpirun of Open MPI 5.0.7 dies of a colon."""
            run = shlex.join([PROGRAM, "run", *map(str, arguments)])
            script = f'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then cd a; else cd b; fi; exec {run}'
            return ["mpirun", "-n", "2", "sh", "-c", script]

        for arguments, path in ((["../again.yaml", *sets(positions("own.npy"))], "own.npy"),
                                (["--restart", "run/checkpoints/checkpoint_1.h5"], "run/checkpoints/checkpoint_1.h5")):
            arguments += ["--output", self.folder / "mixed", "--steps", "2"]
            result = self.run_program(command=command(*arguments), environment=MPI_ENVIRONMENT)
            self.assert_said(result, 2, f"{path}: rank 0 has digest ", "all ranks of a run need the same")

    # ---- densities ----

    # On a box of 8 x 4 the formula is the same at both ends, so its array repeats as the box does.

    def run_density(self, *settings, folder="dense"):
        settings = ["grid.length=[8, 4]", "species.electrons.velocities=cold", *settings]
        self.run_well("run", "again.yaml", "--quiet", "--force", "--steps", 0, "--output", folder, *sets(*settings))
        return self.numbers(folder)

    def test_an_array_is_as_its_formula(self):
        x, y = np.arange(1024)[:, None] * 8 / 1024 - 4, np.arange(1024) * 4 / 1024 - 2
        array = 1 + 0.5 * (x**2 / 16) + 0.25 * (y**2 * x**2)
        np.save(self.folder / "array.npy", array)
        np.save(self.folder / "negative.npy", -array)
        np.save(self.folder / "turned.npy", np.asfortranarray(array))
        with h5py.File(self.folder / "array.h5", "w") as file:
            file["data/7/fields/old"] = file["rho"] = array.astype(">f8")
            file["data/11/fields/old"] = file["data/11/fields/chargeDensity"] = 2 * array
        formula = "1 + 0.5*((x-4)^2/16) + 0.25*((y-2)^2*(x-4)^2)"
        expected = self.run_density(f"species.electrons.profile.density={formula}")
        self.assertGreater(expected[0, 0], 0.1)
        for profile in ("file: array.npy", "file: negative.npy", "file: turned.npy", "file: array.h5, place: /rho",
                        "file: array.h5, place: old", "file: array.h5, place: rho"):  # by the config's word
            found = self.run_density("species.electrons.profile={" + profile + "}")
            np.testing.assert_array_equal(found, expected, err_msg=profile)
        coarse = 1 + 0.5 * (x[::8] ** 2 / 16) + 0.25 * (y[::8] ** 2 * x[::8] ** 2)
        np.save(self.folder / "coarse.npy", coarse.astype("f4"))
        found = self.run_density("species.electrons.profile.file=coarse.npy")
        np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-3)
        kept = None
        for number in ("f8", "i1", "u2", "i4", "u8"):  # negative where they can be
            sign = -1 if number[0] == "i" else 1
            np.save(self.folder / "whole.npy", np.round(sign * 7 * coarse).astype(number))
            found = self.run_density("species.electrons.profile.file=whole.npy")
            kept = found if kept is None else kept
            np.testing.assert_array_equal(found, kept, err_msg=number)

    def test_densities_that_are_none(self):
        array = np.ones((4, 8))
        np.save(self.folder / "deep.npy", np.ones((8, 8, 5)))
        np.save(self.folder / "even.npy", [[1.0, -1.0]])
        with h5py.File(self.folder / "huge.h5", "w") as file:
            file.create_dataset("electrons", (2**33, 2**31), chunks=(64, 64))
        for name, value, words in (
            ("below.npy", -1, "expected finite numbers of one sign, found -1 at [2, 3]"),
            ("nan.npy", np.nan, "expected finite numbers of one sign, found nan at [2, 3]"),
            ("even.npy", None, "expected finite numbers of one sign, found 1 at [0, 0]"),
            ("deep.npy", None, "expected a whole .npy file"),
            ("huge.h5, place: /electrons", None, "/electrons has a size of more numbers than the file can hold"),
            ("great.npy", 1e100, "expected a greatest value from 1e-100 to 1e100, found 1e+100"),
        ):
            if value is not None:
                array[2, 3] = value
                np.save(self.folder / name, array)
            self.refuse_density(words, name)

    def refuse_density(self, words, name, *settings):
        settings = ["species.electrons.velocities=cold", "species.electrons.profile={file: " + name + "}", *settings]
        self.refuse(2, [name.split(",")[0], words], "check", "again.yaml", *sets(*settings))

    # ---- meshes, which say where their numbers lie ----

    def write_mesh(self, name, array, record="rho", on_group=False, **attributes):
        """A mesh, in the meshes path of a file that has other things of its name too."""
        with h5py.File(self.folder / name, "w") as file:
            file.attrs["meshesPath"] = np.bytes_("meshes/")
            file["data/3/meshes/" + record] = array
            file["data/3/particles/" + record] = np.ones(3)
            at = file["data/3/meshes/" + record]
            (at.parent if on_group else at).attrs.update(attributes)

    def charges(self, profile):
        """The charge density of a run of no step on a box of 8 x 4."""
        self.run_density("species.electrons.profile={" + profile + "}",
                         "output.snapshots={every: 1, fields: [rho], particles: none}")
        with h5py.File(self.folder / "dense" / "snapshots" / "data_0.h5") as file:
            return file["data/0/fields/chargeDensity"][:]

    def test_a_mesh_says_where_its_numbers_lie(self):
        """All are the array of 8 x 4 numbers [along x, along y] that is in the .npy file."""
        array = 1 + 0.5 * np.random.default_rng(1).random((8, 4))
        np.save(self.folder / "mesh.npy", array)
        expected = self.charges("file: mesh.npy")
        length, places = self.units[0] / CELL[0], {"gridSpacing": [1.0, 1.0], "gridGlobalOffset": [2.0, -1.0]}
        rolled = np.roll(array, (-2, 1), (0, 1))
        for name, values, attributes in (
            ("a name of the config's", array, {}),
            ("y, x", array.T, {"axisLabels": np.bytes_(["y", "x"])}),
            ("text of any length", array.T, {"axisLabels": ["y", "x"]}),
            ("a plane z, x", array.T, {"axisLabels": ["z", "x"], "geometry": "cartesian"}),
            ("the order of Fortran", array.T, {"axisLabels": ["x", "y"], "dataOrder": "F"}),
            ("y, x in it", array, {"axisLabels": ["y", "x"], "dataOrder": np.bytes_("F")}),
            ("an offset", rolled, {**places, "gridUnitSI": 1.0}),
            ("in m", rolled, {"gridSpacing": [length] * 2, "gridGlobalOffset": [2 * length, -length],
                              "gridUnitSI": 1.0}),
            ("y, x with an offset", rolled.T, {**places, "axisLabels": ["y", "x"], "gridGlobalOffset": [-1.0, 2.0]}),
            ("in Fortran's order, too", rolled.T, {**places, "dataOrder": "F"}),
            ("a position", rolled.T, {"axisLabels": ["y", "x"], "position": [-1.0, 2.0]}),
            ("what a constant component has", array, {"value": 7.0, "shape": np.array([8, 4], "u8"), "unitSI": "1/m3"}),
        ):
            self.write_mesh("mesh.h5", values, **attributes)
            # The places of rounded numbers differ by round-off of single precision, so some particles' cells do.
            np.testing.assert_allclose(self.charges("file: mesh.h5, place: rho"), expected, rtol=1e-5, err_msg=name)
        self.write_mesh("part.h5", array.T, "J/x", on_group=True, axisLabels=["y", "x"])
        np.testing.assert_allclose(self.charges("file: part.h5, place: J/x"), expected, rtol=1e-5)
        # Numbers at the middles of cells: linear between them, so at the nodes the mean of those beside.
        fine = np.empty((16, 8))
        fine[1::2, 1::2] = array
        fine[::2, 1::2] = (array + np.roll(array, 1, 0)) / 2
        fine[:, ::2] = (fine[:, 1::2] + np.roll(fine[:, 1::2], 1, 1)) / 2
        np.save(self.folder / "fine.npy", fine)
        self.write_mesh("middle.h5", array, position=[0.5, 0.5])
        expected = self.charges("file: fine.npy")
        np.testing.assert_allclose(self.charges("file: middle.h5, place: rho"), expected, rtol=1e-5)

    def test_own_moments_come_back_where_they_were(self):
        wave, moments = "1 + 0.3*cos(2*pi*x/lx)", "output.moments.every=1"
        first = self.run_density(f"species.electrons.profile.density={wave}", moments, folder="first")
        self.assertGreater(first[0, 0], 0)
        found = self.charges("file: first/moments/moments_0.h5, place: electrons_density")
        # Half a cell would be 11 degrees; 4,096 particles of a quiet start leave 0.1.
        self.assertLess(abs(np.angle(-np.fft.fft2(found)[1, 0], deg=True)), 0.5)

    def test_meshes_that_cannot_be_honoured(self):
        array, box = np.ones((8, 4)), {"gridSpacing": [0.75, 1.0]}  # of the box of 6 x 4
        self.write_mesh("mesh.h5", array, **box)
        self.run_well("check", "again.yaml", *sets("species.electrons.velocities=cold",
                                                   "species.electrons.profile={file: mesh.h5, place: rho}"))
        for words, attributes in (
            ("geometry: expected cartesian, found thetaMode", {"geometry": "thetaMode", "axisLabels": ["x", "y", "z"]}),
            ("dataOrder: expected C or F", {"dataOrder": "G"}),
            ("axisLabels: expected two of x, y and z", {"axisLabels": ["r", "z"]}),
            ("axisLabels: expected two of x, y and z", {"axisLabels": ["x", "x"]}),
            ("axisLabels of /data/3/meshes/rho: expected two values, those of a mesh of two",
             {"axisLabels": ["x", "y", "z"]}),
            ("axisLabels of /data/3/meshes/rho: expected text", {"axisLabels": [1, 2]}),
            ("gridSpacing: expected lengths above 0", {"gridSpacing": [-1.0, 1.0]}),
            ("gridSpacing: expected lengths above 0, by which gridGlobalOffset", {"gridGlobalOffset": [1.0, 0.0]}),
            ("gridSpacing of rho: expected a box of 6 x 4, found one of 8 x 4", {"gridSpacing": [1.0, 1.0]}),
            ("gridGlobalOffset of /data/3/meshes/rho: expected finite numbers",
             {**box, "gridGlobalOffset": [np.inf, 0.0]}),
            ("position of /data/3/meshes/rho: expected finite numbers", {"position": [np.nan, 0.0]}),
        ):
            self.write_mesh("mesh.h5", array, **attributes)
            self.refuse_density(words, "mesh.h5, place: rho")

    def test_nothing_outside_an_hdf5_file_is_read(self):
        """Each would be read from other bytes, or hang at a pipe, or take 3 GB."""
        (self.folder / "bytes").write_bytes(np.ones((8, 4)).tobytes())
        if not (self.folder / "pipe").exists():
            os.mkfifo(self.folder / "pipe")
        layout = h5py.VirtualLayout((8, 4), "f8")
        layout[:] = h5py.VirtualSource("other.h5", "rho", (8, 4))
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["rho"] = file["particles/electrons/rho"] = np.ones((8, 4))
        for words, make in (
            ("is not stored in this file", lambda file, name: file.create_dataset(
                name, (8, 4), "f8", external=[("bytes", 0, 256)])),
            ("is not stored in this file", lambda file, name: file.create_virtual_dataset(name, layout)),
            ("is a link to another place", lambda file, name: file.update({name: h5py.ExternalLink("pipe", "rho")})),
            ("is a link to another place", lambda file, name: file.update({name: h5py.SoftLink("/own")})),
            ("has a size of more numbers than the file can hold", lambda file, name: file.create_dataset(
                name, (20000, 20000), "f8")),
            ("has a size of more numbers than the file can hold", lambda file, name: file.create_dataset(
                name, (8, 4), "f8", chunks=(20000, 20000), maxshape=(None, None))),
            ("holds no numbers", lambda file, name: file.create_dataset(name, (8, 4), "S3")),
            ("is not of one dimension or two", lambda file, name: file.create_dataset(name, (2, 3, 4))),
            ("expected 1 to 268435456 numbers, found 0 x 8", lambda file, name: file.create_dataset(name, (0, 8))),
            ("expected 1 to 268435456 numbers, found 8 x 0", lambda file, name: file.create_dataset(name, (8, 0))),
            ("is no array", lambda file, name: file.create_group(name)),
        ):
            with h5py.File(self.folder / "outside.h5", "w") as file:
                file["own"] = np.ones((8, 4))
                make(file, "rho")
            self.refuse_density(words, "outside.h5, place: /rho")
        with h5py.File(self.folder / "outside.h5", "w") as file:
            file["particles"] = h5py.ExternalLink("other.h5", "particles")
        self.refuse_density("is a link to another place", "outside.h5, place: /particles/electrons/rho")
        self.refuse_particles("is a link to another place", "outside.h5", self.read("outside.h5"),
                              place="/particles/electrons")
        self.refuse_density("it is no regular file", "pipe")

    # ---- from Python ----

    def test_arrays(self):
        path = self.folder / "arrays.npy"
        given = radixpic.save_particles(path, "electrons", **self.columns)
        given |= {"output.history.every": 1}
        expected = self.run_again(positions("arrays.npy"), steps=2)
        with radixpic.Simulation(self.folder / "again.yaml", set=given) as simulation:
            electrons = simulation.particles("electrons")
            order = np.argsort(electrons.ids)
            for name, values in self.columns.items():
                np.testing.assert_allclose(getattr(electrons, name)[order], values, rtol=0, atol=1e-6)
            simulation.step(3)
            np.testing.assert_array_equal(simulation.history["kinetic_energy"], expected[:, 1])
        with mock.patch.dict(os.environ, MPI_ENVIRONMENT):
            run = radixpic.run(self.folder / "again.yaml", given, self.folder / "ranks", steps=2, ranks=2, quiet=True)
        np.testing.assert_allclose(run.history["kinetic_energy"], expected[:, 1], rtol=1e-5)
        for wrong in ({"x": [1]}, {"x": [1], "y": [1], "z": [1]}, {"x": [1, 2], "y": [1, 2, 3]}):
            with self.assertRaises(radixpic.Problem):
                radixpic.save_particles(path, "electrons", **wrong)


if __name__ == "__main__":
    unittest.main()
