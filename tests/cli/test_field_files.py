"""E and B from files: another program's openPMD is as the formulas of its numbers, on any number of ranks and after a
restart; the run's own snapshot goes on as the run did; what a file says of itself is believed or refused."""

import shutil
import unittest

import h5py
import numpy as np

from program import ProgramTest, sets
from test_electromagnetic import WAVES

STEP, CELLS = 40, (16, 9)
AT_X, AT_Y = (2 * np.pi * n / cells for n, cells in zip(np.indices(CELLS), CELLS))
NONE = np.zeros(CELLS)
INITIAL = {"E": [NONE + 0.05, NONE, 0.1 * np.cos(AT_X) - 0.02], "B": [NONE, NONE, 0.01 * np.sin(AT_X) + 0.03]}
EXTERNAL = {"E": [NONE + 0.03, NONE, NONE], "B": [0.2 * np.sin(AT_Y), NONE, 0.1 * np.cos(AT_X)]}
FORMULAS = "fields.external={E: [0.03, 0, 0], B: ['0.2*sin(2*pi*y/ly)', 0, '0.1*cos(2*pi*x/lx)']}"
FILES = "fields.initial={file: initial.h5}", "fields.external={file: external.h5}"
DIMENSIONS = {"E": [1, 1, -3, -1, 0, 0, 0], "B": [0, 1, -2, -1, 0, 0, 0]}


class FieldFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "waves.yaml").write_text(WAVES)
        self.made_once("formulas", lambda: self.run_waves("formulas", FORMULAS))
        with h5py.File(self.folder / "formulas/snapshots/data_0.h5") as file:
            mesh = file["data/0/fields"]
            self.length = mesh["E"].attrs["gridUnitSI"]
            self.units = {field: mesh[field + "/x"].attrs["unitSI"] for field in "EB"}

    def run_waves(self, folder, *settings, more=(), ranks=0):
        arguments = ["run", "waves.yaml", "--quiet", "--output", folder, *sets(*settings), *more]
        return self.run_well_on(ranks, *arguments) if ranks else self.run_well(*arguments)

    def history(self, folder):
        return np.genfromtxt(self.folder / folder / "history.csv", delimiter=",", names=True)

    def assert_alike(self, one, other, first=0, rtol=1e-10):
        for name in one.dtype.names[first:]:
            np.testing.assert_allclose(other[name], one[name], rtol=rtol, atol=10 * rtol, err_msg=name)

    def write(self, name, fields, step=STEP, letters="xyz", attributes=None, **mesh):
        """Arrays [along y, along x] in SI units, as programs write them that keep x fastest."""
        said = {"geometry": np.bytes_("cartesian"), "dataOrder": np.bytes_("C"), "axisLabels": np.bytes_(["y", "x"]),
                "gridSpacing": [self.length] * 2, "gridGlobalOffset": [0.0, 0.0], "gridUnitSI": 1.0, **mesh}
        with h5py.File(self.folder / name, "a") as file:
            file.attrs["meshesPath"] = np.bytes_("meshes/")
            for field, components in fields.items():
                for letter, values in zip(letters, components):
                    file[f"data/{step}/meshes/{field}/{letter}"] = values.T * self.units[field]
                    file[f"data/{step}/meshes/{field}/{letter}"].attrs.update(
                        {"position": [0.0, 0.0], "unitSI": 1.0, **(attributes or {})})
                at = file[f"data/{step}/meshes/{field}"]
                at.attrs.update({"unitDimension": [float(n) for n in DIMENSIONS[field]], **said})

    def write_both(self):
        """An older iteration has other numbers, E a part along k; uniform components are constant ones."""
        self.write("initial.h5", {field: [5 * each for each in INITIAL[field]] for field in "EB"}, step=7)
        along = [0.3 * np.cos(AT_X + AT_Y) * k for k in (2 * np.pi / 16, 2 * np.pi / 9)]
        self.write("initial.h5", {**INITIAL, "E": [*map(np.add, INITIAL["E"], along), INITIAL["E"][2]]})
        self.write("external.h5", {"B": EXTERNAL["B"]}, dataOrder="F", axisLabels=["x", "y"], gridSpacing=[1.0, 1.0],
                   gridUnitSI=self.length)
        with h5py.File(self.folder / "external.h5", "a") as file:
            for letter, value in {"x": 0.03, "y": 0.0}.items():
                file.create_group(f"data/{STEP}/meshes/E/{letter}").attrs.update(
                    {"value": value, "shape": np.array([9, 16], "u8"), "unitSI": self.units["E"]})

    def fields(self, folder, step=0):
        with h5py.File(self.folder / folder / f"snapshots/data_{step}.h5") as file:
            return {field: [file[f"data/{step}/fields/{field}/{axis}"][...] for axis in "xyz"] for field in "EB"}

    def test_another_programs_file_is_as_its_formulas(self):
        self.write_both()
        self.run_waves("files", *FILES)
        expected = self.history("formulas")
        self.assertGreater(np.ptp(expected["momentum_z"]), 0.01)
        self.assert_alike(expected, self.history("files"))
        with h5py.File(self.folder / "files/snapshots/data_0.h5") as file:
            for group in ("initial", "external"):
                self.assertRegex(self.read("files/log.txt").decode(),
                                 rf"fields.{group}: {group}.h5, digest {file.attrs[group + 'FileDigest']:016x}\n")
        lines = self.read("files/history.csv").splitlines()
        (self.folder / "initial.h5").unlink()  # which is in the state
        shutil.move(self.folder / "external.h5", self.folder / "moved.h5")
        more = ["--restart", "files/checkpoints/checkpoint_8.h5"]
        self.run_waves("again", FILES[0], "fields.external={file: moved.h5}", more=more)
        self.assertEqual(self.read("again/history.csv").splitlines()[1:], lines[9:])
        self.write("external.h5", EXTERNAL)
        words = ["moved.h5: cannot read it: ", "; the run goes on with its external fields: set "]
        self.refuse(2, words, "run", "--restart", "again/checkpoints/checkpoint_12.h5", "--output", "other",
                    *sets("fields.external.file=gone/moved.h5"))
        self.run_waves("none", "fields.external={}", more=["--steps", 4])
        none, file = ["--restart", "none/checkpoints/checkpoint_4.h5"], "fields.external.file="
        for start, path, words in ((more, "external.h5", ("expected a file of digest ", ", found one of digest ")),
                                   (more, "''", ("expected a file of digest ", ", found none\n")),
                                   (none, "external.h5", ("expected no file, found one of digest ",))):
            words = [file[:-1] + ": a run that goes on must not change its external fields: ", *words]
            self.refuse(2, words, "run", *start, "--output", "other", *sets(file + path))
        self.refuse(2, "gone.h5: cannot read it: No such file or directory\n", "run", *none, "--output", "other",
                    *sets(file + "gone.h5"))

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_ranks_have_their_rows(self):
        self.write_both()
        for ranks, way in ((2, "replicated"), (3, "slabs")):
            self.run_waves(way, *FILES, f"fields.decomposition={way}", "parallel.balance_every=5",
                           "parallel.threshold=1", ranks=ranks)
            self.assert_alike(self.history("formulas"), self.history(way))

    def test_a_snapshot_goes_on_as_its_run(self):
        """Charges make again the part of E that is theirs."""
        snapshot = "formulas/snapshots/data_6.h5"
        particles = f"positions={{kind: file, file: {snapshot}}}"
        self.run_waves("again", FORMULAS, f"fields.initial={{file: {snapshot}}}", f"species.electrons.{particles}",
                       f"species.ions.{particles}", "species.electrons.velocities={kind: file, dimensions: 3}",
                       more=["--steps", 6])
        self.assert_alike(self.history("formulas")[6:], self.history("again"), first=2)

    def test_an_electrostatic_run(self):
        """In single precision, with the velocities of two dimensions: Bz and a constant Ez of 0; and the work of E."""
        work = sets("output.history.species=[all]", "output.history.work=true")
        arguments = ["run", "small.yaml", "--quiet", *work]
        x = 2 * np.pi * np.indices((16, 8))[0] / 16
        formulas = "fields.external={E: ['0.1*sin(2*pi*x/lx)', 0, 0], B: [0, 0, '0.5+0.2*cos(2*pi*x/lx)']}"
        self.run_well(*arguments, *sets(formulas))
        fields = {"E": [0.1 * np.sin(x), 0 * x, 0 * x], "B": [0.5 + 0.2 * np.cos(x)]}
        spacing = [0.5 * self.length, 6 / 16 * self.length]
        self.write("fields.h5", {"E": fields["E"]}, gridSpacing=spacing)
        self.write("fields.h5", {"B": fields["B"]}, letters="z", gridSpacing=spacing)
        self.run_well(*arguments, "--output", "file", *sets("fields.external.file=fields.h5"))
        self.assert_alike(self.history("out"), self.history("file"), rtol=1e-6)
        self.assertGreater(np.ptp(self.history("file")["electrons_external_work"]), 1e-3)
        self.write("zero.h5", {"E": [0 * x, 0 * x]}, gridSpacing=spacing)
        self.run_well(*arguments, "--output", "zero", *sets("fields.external.file=zero.h5"))
        self.assertEqual(np.ptp(self.history("zero")["electrons_external_work"]), 0)
        for each in formulas, "fields.external.file=fields.h5":
            self.assertRegex(self.run_well("check", "small.yaml", *sets(each)).stdout, r"Omega dt +0\.07, ")

    def test_where_numbers_lie_and_which_components_they_are(self):
        """B at 0 of a run without particles in motion: in a plane x-z the third axis is -y, and between numbers at
        the middles of cells those at the nodes are linear."""
        cross = {"B": [0.2 * np.sin(AT_Y), 0.1 * np.cos(AT_X), 0.3 * np.sin(AT_X + AT_Y)]}
        self.write("plane.h5", {"B": [cross["B"][0], cross["B"][1], -cross["B"][2]]}, letters="xzy",
                   axisLabels=["z", "x"])
        self.write("middle.h5", cross, attributes={"position": [0.5, 0.5]}, gridGlobalOffset=[0.0, -self.length])
        mean = [(b + np.roll(b, 1, 1) + np.roll(b + np.roll(b, 1, 1), 1, 0)) / 4 for b in cross["B"]]
        for name, expected in ("plane", cross["B"]), ("middle", [np.roll(each, -1, 0) for each in mean]):
            self.run_waves(name, "fields.external={}", f"fields.initial.file={name}.h5", "fields.initial.E=[0, 0, 0]",
                           "fields.initial.B=[0, 0, 0]", more=["--steps", 0])
            np.testing.assert_allclose(self.fields(name)["B"], expected, atol=1e-14, err_msg=name)

    def test_positions_of_picongpu(self):
        """Its labels are y, x and its positions along x, y. Another program's are believed, and its own once mended."""
        shear = {field: [np.sin(AT_Y), np.cos(AT_X), NONE] for field in "EB"}
        found = {}
        for name, software, order in (("yee", "WarpX", -1), ("mended", "PIConGPU", -1), ("turned", "PIConGPU", 1),
                                      ("other", "WarpX", 1), ("number", 7, 1)):
            self.write(f"{name}.h5", shear)
            with h5py.File(self.folder / f"{name}.h5", "a") as file:
                file.attrs["software"] = np.bytes_(software) if isinstance(software, str) else software
                for place, position in {"E/x": [0.5, 0.0], "E/y": [0.0, 0.5], "B/x": [0.0, 0.5], "B/y": [0.5, 0.0],
                                        "B/z": [0.5, 0.5]}.items():  # along x, y
                    file[f"data/{STEP}/meshes/{place}"].attrs["position"] = position[::order]
            self.run_waves(name, "fields.external={}", f"fields.initial={{file: {name}.h5}}", more=["--steps", 0])
            found[name] = self.fields(name)
        for field in "EB":
            for name in "mended", "turned":
                np.testing.assert_array_equal(found[name][field], found["yee"][field])
            np.testing.assert_array_equal(found["number"][field], found["other"][field])
            for axis in 0, 1:
                self.assertGreater(np.abs(found["other"][field][axis] - found["yee"][field][axis]).max(), 0.1)

    def test_what_is_refused(self):
        self.refuse(2, "fields.initial.file: expected either a file or formulas E and B, found both", "check",
                    "waves.yaml", *sets("fields.initial.file=a.h5"))
        nan = NONE.copy()
        nan[3, 2] = np.nan
        b = {"B": INITIAL["B"]}
        for words, make in (
            ("there is no mesh E or B in it", lambda: self.write("a.h5", {})),
            ("unitDimension of /data/40/meshes/E: expected that of V/m",
             lambda: self.write("a.h5", INITIAL, unitDimension=DIMENSIONS["B"])),
            ("unitDimension of /data/40/meshes/B: expected seven values",
             lambda: self.write("a.h5", b, unitDimension=[0.0, 1.0])),
            ("unitSI of /data/40/meshes/B/x: expected a number above 0, found 0",
             lambda: self.write("a.h5", b, attributes={"unitSI": 0.0})),
            ("unitSI of /data/40/meshes/B/x is missing",
             lambda: self.write("a.h5", b, letters="x") or h5py.File(self.folder / "a.h5", "a")[
                 "data/40/meshes/B/x"].attrs.__delitem__("unitSI")),
            ("/data/40/meshes/B/y is missing", lambda: self.write("a.h5", b, letters="x")),
            ("/data/40/meshes/B/x is missing", lambda: self.write("a.h5", b, letters="rt")),
            ("a.h5: Bz: expected numbers of up to 1e+150, found nan at [3, 2]",
             lambda: self.write("a.h5", {"B": [NONE, NONE, nan]})),
            ("gridSpacing of B: expected a box of 16 x 9, found one of 16 x 18",
             lambda: self.write("a.h5", b, gridSpacing=[2.0, 1.0])),
            ("timeOffset: expected the same of E and B, found 0 and 0.5",
             lambda: self.write("a.h5", {"E": INITIAL["E"]}, timeOffset=0.0) or self.write("a.h5", b, timeOffset=0.5)),
            ("a.h5: expected fields of one time, found means over 5 states",
             lambda: self.write("a.h5", b, averagedStates=np.uint64(5))),
            ("axisLabels: expected two of x, y and z", lambda: self.write("a.h5", b, axisLabels=["r", "z"])),
        ):
            make()
            self.refuse(2, words, "check", "waves.yaml", *sets("fields.initial={file: a.h5}"))
            (self.folder / "a.h5").unlink()
        self.write("a.h5", INITIAL)
        for settings, words in (
            (["fields.initial={file: a.h5, place: /data/4}"], "there is no mesh E or B in it within /data/4"),
            (["fields.initial={file: a.h5}", "fields.mean=zero"], "expected a mean of E of 0 with fields.mean=zero"),
            (["fields.initial={file: b.h5}"], "b.h5: cannot read it"),
        ):
            self.refuse(2, words, "check", "waves.yaml", *sets(*settings))
        self.write("ez.h5", INITIAL, gridSpacing=[4 / 9, 6 / 16], gridUnitSI=self.length)
        self.refuse(2, "ez.h5: it has Ez, which needs velocities in three dimensions, which species electrons lacks",
                    "check", "small.yaml", *sets("fields.external.file=ez.h5"))
        self.refuse(2, "which fields.external reads, is of that run", "run", "waves.yaml", "--force", "--output",
                    "formulas", *sets("fields.external={file: formulas/snapshots/data_6.h5}"))
        self.write("cross.h5", {"B": [np.cos(AT_X), NONE, NONE]})
        for group, words in (("initial", "1 of the largest slope of B; the run takes the part of B that has none"),
                             ("external", "it is 1 of the largest slope of B")):
            text = self.run_well("check", "waves.yaml", *sets(f"fields.{group}={{file: cross.h5}}")).stdout
            self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
