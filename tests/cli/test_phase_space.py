"""output.phase_space: what is in the files, against the particles of the snapshots beside them."""

import os
import re
import shutil
import unittest

import h5py
import numpy as np

from program import MPI_ENVIRONMENT, PROGRAM, ProgramTest
from radixpic import fields, phase_space

LENGTHS, CELLS = {"x": 6, "y": 4}, {"x": 16, "y": 8}


def item(axes, bins, ranges, order=None, every=10, species="electrons"):
    """One item as YAML. Without ranges of space they are the whole box."""
    whole = {"x": "[0, 6]", "y": "[0, 4]", **ranges}
    items = (f"{{axis: {axis}, bins: {number}, range: {whole[axis]}}}" for axis, number in zip(axes, bins))
    text = f"{{species: {species}, axes: [{', '.join(items)}], every: {every}"
    return text + (f", order: [{', '.join(order)}]}}" if order else "}")


def setting(*items):
    return ["--set", f"output.phase_space=[{', '.join(items)}]"]


class Mesh:
    """One mesh, read whole."""

    def __init__(self, file, name, step):
        record = file[f"data/{step}/fields/{name}"]
        self.values = record[...]
        self.attributes = dict(record.attrs)
        self.axes = [label.decode() for label in self.attributes["axisLabels"]]
        self.width = (self.attributes["axisHigh"] - self.attributes["axisLow"]) / self.values.shape

    def counts(self):
        """Macro-particles of each bin, to the rounding of f."""
        counts = self.values * (np.prod(self.width) / self.attributes["weight"])
        np.testing.assert_allclose(counts, np.rint(counts), rtol=1e-6, atol=1e-6)
        return np.rint(counts).astype(np.int64)


class PhaseSpaceTest(ProgramTest):
    def run_items(self, *items, options=(), folder="out"):
        return self.run_well("run", "small.yaml", "--quiet", "--output", folder, *setting(*items), *options)

    def steps(self, folder="out"):
        """Those of the files, in order."""
        names = set(os.listdir(self.folder / folder / "phase_space")) - {"data.pmd"}
        return sorted(int(re.fullmatch(r"data_(\d+)\.h5", name)[1]) for name in names)

    def meshes(self, step, folder="out"):
        with h5py.File(self.folder / folder / "phase_space" / f"data_{step}.h5") as file:
            return sorted(file[f"data/{step}/fields"])

    def mesh(self, name, step, folder="out"):
        with h5py.File(self.folder / folder / "phase_space" / f"data_{step}.h5") as file:
            return Mesh(file, name, step)

    def particles(self, step, folder="out"):
        """Cells (i, j) and velocities of all particles, as the snapshot has them."""
        with h5py.File(self.folder / folder / "snapshots" / f"data_{step}.h5") as file:
            species = file[f"data/{step}/particles/electrons"]
            cells = {axis: species["positionOffset/" + axis][...].astype(int) for axis in "xy"}
            return {**cells, "u": species["momentum/x"][...], "v": species["momentum/y"][...]}

    def expected(self, particles, axes, bins, ranges, order):
        """The histogram of numpy, by the program's own arithmetic: in its precision, upper edges not included."""
        real = particles["u"].dtype.type
        columns = []
        inside = np.ones(len(particles["u"]), bool)
        for axis, number in zip(axes, bins):
            low, high = ranges.get(axis, [0, LENGTHS.get(axis)])
            if axis in CELLS:
                edges = [round(value / LENGTHS[axis] * CELLS[axis]) for value in (low, high)]
                place = (particles[axis] - edges[0]) // ((edges[1] - edges[0]) // number)
            else:
                scale = real(number / (high - low))
                place = np.floor((particles[axis] - real(low)) * scale).astype(np.int64)
            columns.append(place)
            inside &= (place >= 0) & (place < number)
        counts = np.zeros(bins, np.int64)
        np.add.at(counts, tuple(column[inside] for column in columns), 1)
        return counts.transpose([axes.index(axis) for axis in order])


class Contents(PhaseSpaceTest):
    CASES = (
        ("xyuv", (16, 4, 9, 7), {"u": [-3, 3], "v": [-2.5, 4]}, "uvxy"),
        ("xyuv", (8, 8, 10, 12), {"u": [-5, 5], "v": [-5, 5]}, None),
        ("yu", (8, 130), {"u": [-1, 2]}, "uy"),
        ("xv", (3, 5), {"x": [0.375, 4.875], "v": [-3, 3]}, None),
        ("vxu", (17, 4, 33), {"u": [0, 3], "v": [-1, 1], "x": [0, 3]}, "xuv"),
        ("uv", (600, 530), {"u": [-4, 4], "v": [-4, 4]}, "vu"),  # 90 chunks, of which 64 are filled at a time
        ("xy", (16, 2), {"y": [1, 3]}, "yx"),
        ("u", (5000,), {"u": [-6, 6]}, None),
    )
    NAMES = ["uvxy", "xyuv", "uy", "xv", "xuv", "vu", "yx", "u"]

    def test_counts_are_those_of_the_snapshot(self):
        for precision, dtype in (("single", np.float32), ("double", np.float64)):
            more = ["--force", "--set", f"precision={precision}"]
            self.run_items(*(item(*case) for case in self.CASES), options=more)
            for step in (0, 10, 20, 23):
                self.assertEqual(self.meshes(step), sorted(f"electrons_{name}" for name in self.NAMES))
                particles = self.particles(step)
                for name, case in zip(self.NAMES, self.CASES, strict=True):
                    with self.subTest(precision=precision, step=step, name=name):
                        mesh = self.mesh(f"electrons_{name}", step)
                        self.assertEqual(mesh.values.dtype, dtype)
                        self.check_counts(mesh, particles, *case)
        paths = [self.folder / "out" / "phase_space" / f"data_{step}.h5" for step in self.steps()]
        self.assertEqual(len(paths), 4)
        checked = self.run_script("check_openpmd.py", *paths)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

    def check_counts(self, mesh, particles, axes, bins, ranges, order):
        self.assertEqual("".join(mesh.axes), order or axes)
        counts = self.expected(particles, axes, bins, ranges, order or axes)
        np.testing.assert_array_equal(mesh.counts(), counts)
        inside = int(counts.sum())
        self.assertGreater(inside, 400)  # or the case would show little
        self.assertEqual(mesh.attributes["particlesInside"], inside)
        self.assertEqual(mesh.attributes["particlesOutside"], 4096 - inside)
        weight = 6 * 4 / 4096
        self.assertAlmostEqual(mesh.attributes["weight"], weight)
        self.assertAlmostEqual(mesh.attributes["weightOutside"], (4096 - inside) * weight)
        sum = np.sum(mesh.values, dtype=np.float64) * np.prod(mesh.width)
        self.assertAlmostEqual(sum, inside * weight, delta=1e-6 * sum)

    def test_units(self):
        """f of x and u: a number a length and a velocity, with what is summed over y."""
        uv = item("uv", (10, 4), {"u": [-5, 5], "v": [-2, 2]})
        self.run_items(item("xu", (16, 10), {"u": [-5, 5]}, "ux"), uv)
        # electrons at 1e18 1/m^3 and 100 eV: Debye length and thermal velocity by the CODATA constants
        length, velocity = 7.43394e-5, 4.19383e6
        mesh = self.mesh("electrons_ux", 0).attributes
        np.testing.assert_allclose(mesh["gridSpacing"], [velocity, 6 / 16 * length], rtol=1e-5)
        np.testing.assert_allclose(mesh["gridGlobalOffset"], [-5 * velocity, 0], rtol=1e-5)
        np.testing.assert_array_equal(mesh["axisLow"], [-5, 0])
        np.testing.assert_array_equal(mesh["axisHigh"], [5, 6])
        np.testing.assert_array_equal(mesh["axisTimeOffset"], [-0.05, 0])
        self.assertEqual((mesh["gridUnitSI"], mesh["timeOffset"]), (1, 0))
        np.testing.assert_array_equal(mesh["unitDimension"], [-3, 0, 1, 0, 0, 0, 0])
        self.assertAlmostEqual(mesh["unitSI"] / (1e18 * length / velocity), 1, delta=1e-5)
        mesh = self.mesh("electrons_uv", 0).attributes
        self.assertEqual(mesh["timeOffset"], -0.05)
        np.testing.assert_array_equal(mesh["unitDimension"], [-3, 0, 2, 0, 0, 0, 0])
        self.assertAlmostEqual(mesh["unitSI"] / (1e18 * length**2 / velocity**2), 1, delta=1e-5)


class Formulas(PhaseSpaceTest):
    """Axes that are formulas, against numpy's histogram of the particles of the snapshot beside them."""

    FORMULAS = {
        "energy": ([0, 12], 40, lambda x, y, u, v: (u**2 + v**2) / 2),
        "log10(energy)": ([-2, 1.5], 35, lambda x, y, u, v: np.log10((u**2 + v**2) / 2)),
        "atan2(v, u)": ([-3.2, 3.2], 16, lambda x, y, u, v: np.arctan2(v, u)),
        "x*u - y*v + lx": ([-20, 30], 25, lambda x, y, u, v: x * u - y * v + 6),
        "charge*u + mass*gamma": ([-5, 5], 20, lambda x, y, u, v: 1 - u),
        "(u > v) + 2*(x < 3 && y < 2)": ([-0.5, 3.5], 4, lambda x, y, u, v: (u > v) + 2.0 * ((x < 3) & (y < 2))),
    }

    def setUp(self):
        super().setUp()
        axes = [
            f"{{axis: '{text}', bins: {bins}, range: {low_high}}}"
            for text, (low_high, bins, _) in self.FORMULAS.items()
        ]
        rows = "{axis: x, bins: 8, range: [0, 6]}"
        every = "every: 10}"
        self.items = [f"{{species: electrons, axes: [{axis}], {every}" for axis in axes]
        self.items.append(f"{{species: electrons, axes: [{axes[0]}, {rows}, {axes[2]}], {every}")

    def columns(self, step):
        with h5py.File(self.folder / "out" / "snapshots" / f"data_{step}.h5") as file:
            species = file[f"data/{step}/particles/electrons"]
            places = [
                (species["positionOffset/" + axis][...] + species["position/" + axis][...].astype(float))
                * (LENGTHS[axis] / CELLS[axis])
                for axis in "xy"
            ]
            return *places, *(species["momentum/" + axis][...].astype(float) for axis in "xy")

    def check(self, mesh, columns):
        """In each bin as many as numpy has; a value in the last digit of a bin's edge may be in the next one."""
        samples, bins, ranges = [], [], []
        for label in mesh.axes:
            low_high, count, function = self.FORMULAS.get(label, ([0, 6], 8, lambda x, y, u, v: x))
            samples.append(function(*columns))
            bins.append(count)
            ranges.append(low_high)
        expected = np.histogramdd(np.array(samples).T, bins, ranges)[0]
        self.assertGreater(expected.sum(), 3500)
        self.assertLessEqual(np.abs(mesh.counts() - expected).sum(), 2)

    def test_counts_are_those_of_the_snapshot(self):
        for precision in ("single", "double"):
            self.run_items(*self.items, options=["--force", "--set", f"precision={precision}"])
            names = ["electrons_f", *(f"electrons_f_{n}" for n in range(1, len(self.FORMULAS))), "electrons_fxf"]
            self.assertEqual(self.meshes(10), sorted(names))
            for name in names:
                with self.subTest(precision=precision, name=name):
                    self.check(self.mesh(name, 10), self.columns(10))
        attributes = self.mesh("electrons_f", 10).attributes
        self.assertEqual(attributes["axisUnitSI"], 1)
        np.testing.assert_array_equal(attributes["unitDimension"], [-1, 0, 0, 0, 0, 0, 0])
        path = self.folder / "out" / "phase_space" / "data_10.h5"
        checked = self.run_script("check_openpmd.py", path)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        for arguments in (["--axes", "f", "--log"], ["--mesh", "electrons_fxf", "--axes", "x", "g"]):
            drawn = self.run_script("plot_phase_space.py", path, *arguments, "--output", "f.png")
            self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_several_ranks(self):
        self.run_items(*self.items)
        self.run_well_on(3, "run", "small.yaml", "--quiet", "--output", "three", *setting(*self.items))
        for name in self.meshes(10):
            one, three = (self.mesh(name, 10, folder).counts() for folder in ("out", "three"))
            self.assertLessEqual(np.abs(one - three).sum(), 2, name)

    AXES = "axes: [{axis: x, bins: 8, range: [0, 6]}, {axis: u, bins: 10, range: [-2, 3]}], every: 10"
    WEIGHTS = {  # the last two are not finite, or of no common size
        "mass*u*v": lambda x, y, u, v: u * v,
        "energy*(x > 2)": lambda x, y, u, v: (u**2 + v**2) / 2 * (x > 2),
        "1e200*exp(-8*u^2)": lambda x, y, u, v: 1e200 * np.exp(-8 * u**2),
        "sqrt(v)": lambda x, y, u, v: np.sqrt(v),
    }

    def test_weights(self):
        """The sum over the particles of a bin, to their number times 2^-48 of the largest; the counts of a mesh by
        itself beside them; and in any order of the axes the same bits."""
        items = [f"{{species: electrons, weight: '{weight}', {self.AXES}}}" for weight in self.WEIGHTS]
        items += [f"{{species: electrons, {self.AXES}}}", items[0].replace("axes", "order: [u, x], axes")]
        for precision in ("single", "double"):
            self.run_items(*items, options=["--force", "--set", f"precision={precision}"])
            x, y, u, v = columns = self.columns(10)
            for number, (weight, function) in enumerate(self.WEIGHTS.items()):
                with self.subTest(precision=precision, weight=weight), np.errstate(invalid="ignore"):
                    mesh = self.mesh(f"electrons_xu_weighted_{number}" if number else "electrons_xu_weighted", 10)
                    values = function(*columns)
                    taken = np.isfinite(values)
                    inside = taken & (u >= -2) & (u < 3)
                    wanted = np.histogram2d(x[taken], u[taken], (8, 10), ((0, 6), (-2, 3)), weights=values[taken])[0]
                    found = mesh.values * (np.prod(mesh.width) / mesh.attributes["weight"])
                    bound = 1e-12 * np.abs(wanted) + 4096 * 2.0**-48 * np.abs(values[inside]).max()
                    self.assertTrue(np.all(np.abs(found - wanted) <= bound), np.abs(found - wanted).max())
                    self.assertEqual(mesh.attributes["weightFormula"].decode(), weight)
                    self.assertEqual(mesh.attributes["particlesInside"], np.sum(inside))
            turned = self.mesh("electrons_ux_weighted", 10).values
            np.testing.assert_array_equal(turned.T, self.mesh("electrons_xu_weighted", 10).values)
        checked = self.run_script("check_openpmd.py", self.folder / "out" / "phase_space" / "data_10.h5")
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_sums_over_species(self):
        """f of each by its own weight, on one rank and on three; scripts count no particle twice."""
        self.add_species("{name: ions, charge: 1, mass: 4, density: 1, particles: 3000, velocities: maxwellian}")
        items = [f"{{species: {name}, weight: charge + v, {self.AXES}}}" for name in ("electrons", "ions")]
        items += [f"{{species: {name}, {self.AXES}}}" for name in ("electrons", "ions")]
        both = "species: electrons, with_species: [ions]"
        items += [f"{{{both}, weight: charge + v, {self.AXES}}}", f"{{{both}, {self.AXES}}}"]
        self.run_items(*items, options=["--set", "precision=double"])
        self.run_well_on(3, "run", "small.yaml", "--quiet", "--output", "three", *setting(*items),
            "--set", "precision=double")
        for name in ("xu", "xu_weighted"):
            for folder in ("out", "three"):
                parts = [self.mesh(f"{species}_{name}", 10, folder) for species in ("electrons", "ions")]
                mesh = self.mesh(f"electrons_ions_{name}", 10, folder)
                wanted = sum(part.values for part in parts)
                np.testing.assert_allclose(mesh.values, wanted, rtol=0, atol=1e-14 * np.abs(wanted).max())
                for count in ("particlesInside", "particlesOutside", "weightOutside"):
                    self.assertEqual(mesh.attributes[count], sum(part.attributes[count] for part in parts))
            one, three = (self.mesh(f"electrons_ions_{name}", 10, folder).values for folder in ("out", "three"))
            np.testing.assert_allclose(one, three, rtol=0, atol=1e-9 * np.abs(one).max())
        self.assertEqual(mesh.attributes["species"], b"electrons + ions")
        path = self.folder / "out" / "phase_space" / "data_10.h5"
        kept, _, _ = phase_space.choose([fields.Snapshot(path)])
        self.assertEqual([mesh.name for mesh in kept[0][1]], ["electrons_xu", "ions_xu"])
        for names, words in ((["electrons_ions_xu", "ions_xu"], "are both of ions"),
                (["electrons_xu", "ions_xu_weighted"], "have other weights")):
            self.assert_script_fails("plot_phase_space.py", path, "--mesh", *names, words=[words])
        both = ["--mesh", "electrons_ions_xu_weighted", "--output", "f.png"]
        drawn = self.run_script("plot_phase_space.py", path, *both)
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        refused = self.run_program("check", "small.yaml", *setting(items[4]), "--set", "species.ions.weights=density")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("output.phase_space.0.with_species.0: species ions has weights", refused.stderr)

    def test_relativistic(self):
        """gamma and the energy m c^2 (gamma - 1), with w."""
        light = ["fields={solver: electromagnetic, speed_of_light: 4}", "time.step=0.01"]
        more = "species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [2, 2, 2]}"
        axes = [
            "{axis: gamma - sqrt(1 + (u^2 + v^2 + w^2)/c^2), bins: 3, range: [-0.1, 0.2]}",
            "{axis: energy - mass*c^2*(gamma - 1), bins: 3, range: [-0.1, 0.2]}",
            "{axis: gamma, bins: 2, range: [1, 1000], scale: log}",
        ]
        options = [word for setting in (*light, more) for word in ("--set", setting)]
        self.run_items(f"{{species: electrons, axes: [{', '.join(axes)}], every: 10}}", options=options)
        mesh = self.mesh("electrons_fff", 10)
        counts = mesh.counts()
        self.assertEqual((mesh.axes[2], mesh.attributes["axisHigh"][2]), ("log10(gamma)", 3))
        self.assertGreater(counts[1, 1].sum(), 4090)  # 0 is within the middle bins
        self.assertEqual(counts.sum(), counts[1, 1].sum())


class Runs(PhaseSpaceTest):
    ITEMS = (
        item("xyuv", (8, 8, 9, 7), {"u": [-3, 3], "v": [-3, 3]}, "uvxy", every=5),
        item("xu", (4, 50), {"u": [-3, 3], "x": [1.5, 4.5]}, every=10),
        item("vu", (20, 20), {"u": [-3, 3], "v": [-3, 3]}, "uv", every=20),
        item("vu", (530, 600), {"u": [-3, 3], "v": [-3, 3]}, "uv", every=20),  # 90 chunks, and a name with its number
    )
    NAMES = ("electrons_uvxy", "electrons_xu", "electrons_uv", "electrons_uv_3")

    def assert_same(self, first, second):
        """The files of two runs hold the same."""
        self.assertEqual(self.steps(first), [0, 5, 10, 15, 20, 23])
        self.assertEqual(self.steps(second), self.steps(first))
        for step in self.steps(first):
            self.assertEqual(self.meshes(step, first), self.meshes(step, second))
            for name in self.meshes(step, first):
                a, b = self.mesh(name, step, first), self.mesh(name, step, second)
                self.assertEqual(a.values.tobytes(), b.values.tobytes(), name)
                for key in ("particlesInside", "particlesOutside"):
                    self.assertEqual(a.attributes[key], b.attributes[key])

    def test_each_item_at_its_time(self):
        """And none of an earlier run is left."""
        off = item("x", (16,), {}, every=0)
        self.run_items(*self.ITEMS, off)
        self.assertEqual(self.steps(), [0, 5, 10, 15, 20, 23])
        for step, names in ((0, self.NAMES), (5, self.NAMES[:1]), (10, self.NAMES[:2]), (23, self.NAMES)):
            self.assertEqual(self.meshes(step), sorted(names))
        self.run_items(*self.ITEMS, options=["--force", "--steps", "7"])
        self.assertEqual(self.steps(), [0, 5, 7])
        self.run_well("run", "small.yaml", "--quiet", "--force")
        self.assertFalse((self.folder / "out" / "phase_space").exists())

    def test_methods_of_the_step_and_any_number_of_ranks(self):
        """Without a field all methods move the particles alike, and no sums of charge over ranks differ in their last
        digits."""
        free = ["--set", "species.electrons.charge=0"]
        self.run_items(*self.ITEMS, options=[*free, "--set", "step.method=radix"], folder="radix")
        balance = ["--set", "parallel.balance_every=3", "--set", "parallel.threshold=1"]
        several = [(2, balance), (3, [])] if shutil.which("mpirun") else []
        for ranks, more in [(1, []), *several]:
            arguments = ["run", "small.yaml", "--quiet", "--force", *setting(*self.ITEMS), *free, *more]
            command = ("mpirun", "-n", str(ranks), PROGRAM) if ranks > 1 else (PROGRAM,)
            method = "radix" if more else "fused"
            self.run_well(*arguments, "--set", f"step.method={method}", command=command, environment=MPI_ENVIRONMENT)
            self.assert_same("radix", "out")

    def test_a_restart_may_ask_for_others(self):
        self.run_well("run", "small.yaml", "--quiet", "--steps", "10", "--set", "output.checkpoints.every=10")
        more = ["--output", "out", "--steps", "23", *setting(item("u", (10,), {"u": [-3, 3]}, every=5))]
        self.run_well("run", "--quiet", "--restart", "latest", *more)
        self.assertEqual(self.steps(), [10, 15, 20, 23])

    def test_ranges_that_leave_many_out(self):
        """Said once an item, by one of the ranks; where a tenth or less is outside, not at all."""
        items = [
            item("uv", (10, 10), {"u": [-1, 1], "v": [-9, 9]}, every=1),  # |u| < 1: 68.3 % of a Maxwellian
            item("vu", (10, 10), {"u": [-9, 9], "v": [-1.7, 1.7]}, every=1),  # 91.1 %
            item("x", (8,), {"x": [0, 3]}, every=5),
        ]
        commands = [(PROGRAM,), ("mpirun", "-n", "2", PROGRAM)] if shutil.which("mpirun") else [(PROGRAM,)]
        for command in commands:
            arguments = ["run", "small.yaml", "--steps", "6", "--force", *setting(*items)]
            result = self.run_well(*arguments, command=command, environment=MPI_ENVIRONMENT)
            for text in (result.stdout, (self.folder / "out" / "log.txt").read_text()):
                found = re.findall(r"(?m)^(\w+): (\d+) % of the particles are in none of its bins$", text)
                self.assertEqual([name for name, _ in found], ["electrons_uv", "electrons_x"])
                for (name, percent), about in zip(found, (32, 50)):
                    outside = self.mesh(name, 0).attributes["particlesOutside"] / 4096
                    self.assertEqual(int(percent), round(100 * outside))
                    self.assertAlmostEqual(int(percent), about, delta=2)

    def test_no_time_is_counted_twice(self):
        """Counting, which the device times too: the stages must fit into the wall clock, however busy the machine
        is."""
        many = ["--set", "species.electrons.particles=400000", "--set", "output.snapshots.every=0"]
        self.run_items(item("xu", (16, 50), {"u": [-3, 3]}, "ux", every=1), options=[*many, "--steps", "10"])
        rows = self.assert_whole_rows(self.folder / "out" / "timers.csv")
        seconds = {row["stage"]: float(row["seconds"]) for row in rows if not row["stage"].startswith("start: ")}
        for name in ("load", "other", "wall clock"):
            del seconds[name]
        wall = seconds.pop("steps")
        self.assertGreater(seconds["output"], 0)
        self.assertLess(sum(seconds.values()), wall + 0.1 * seconds["output"], seconds)
