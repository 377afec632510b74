"""The Python package: simulations in this process against the program, what runs leave, and errors as exceptions."""

import contextlib
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from program import MPI_ENVIRONMENT, PROGRAM, ROOT, ProgramTest  # noqa: E402

import radixpic  # noqa: E402
from radixpic.fit import select  # noqa: E402
from radixpic.library import load  # noqa: E402

os.environ["RADIXPIC"] = PROGRAM
EVERY_STEP = {"output.history.every": 1}
PRECISIONS = ({"precision": "double"}, {"precision": "single", "step.method": "fused"})


class PackageTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.config = self.folder / "small.yaml"

    def simulation(self, set=None, config=None):
        simulation = radixpic.Simulation(config or self.config, set=set)
        self.addCleanup(simulation.close)
        return simulation

    def run_config(self, set=None, folder="out", **options):
        return radixpic.run(self.config, set=set, output=self.folder / folder, quiet=True, **options)

    def assert_problem(self, call, *words, code=None):
        with self.assertRaises(radixpic.Problem) as caught:
            call()
        self.assertEqual(len(str(caught.exception).splitlines()), 1)
        for word in words:
            self.assertIn(word, str(caught.exception))
        if code is not None:
            self.assertEqual(caught.exception.code, code)

    def python(self, text, *arguments, options=()):
        """Another Python, that has to print nothing but what the text prints."""
        command = (sys.executable, "-B", *options, "-c", text)
        environment = {"PYTHONPATH": str(ROOT / "scripts")}
        result = self.run_program(*arguments, command=command, environment=environment)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return result.stdout


class Import(PackageTest):
    def test_it_needs_no_other_package(self):
        self.python("import radixpic", options=["-S"])

    def test_what_a_shell_offers(self):
        """Names that complete by TAB, the version of the program, and what a history has."""
        self.assertEqual(set(radixpic.__all__) - set(dir(radixpic)), set())
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
        self.assertEqual(f"radixpic {radixpic.__version__}\n", said)

    def test_files_with_the_version(self):
        """The citation names it with a date, and the changes begin with both."""
        cited = (ROOT / "CITATION.cff").read_text()
        date = re.search(rf"^version: {re.escape(radixpic.__version__)}\ndate-released: (\S+)$", cited, re.M)[1]
        first = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
        self.assertEqual(first, f"{radixpic.__version__}, {date}")

    def test_a_simulation_needs_neither_matplotlib_nor_h5py(self):
        text = "import radixpic, sys; radixpic.Simulation(sys.argv[1]).step(2)\n"
        self.python(text + "assert not {'matplotlib', 'h5py'} & set(sys.modules)", self.config)

    def shown(self, name):
        """The functions that a library shows."""
        library = Path(PROGRAM).parent / name
        listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
        return {line.split()[-1] for line in listed.stdout.splitlines()}

    def test_the_libraries_show_their_headers_and_nothing_else(self):
        headers = [(ROOT / "src" / name).read_text() for name in ("radixpic/status.h", "radixpic/sort.h", "radixpic.h")]
        declared = [set(re.findall(r"RADIXPIC_API [^;(]*?\b(radixpic_\w+)\(", header)) for header in headers]
        self.assertLessEqual({"radixpic_error", "radixpic_sorter_create"}, declared[0] | declared[1])
        self.assertEqual(self.shown("libradixpic_sort.so"), declared[0] | declared[1])
        self.assertEqual(self.shown("libradixpic.so"), set.union(*declared))
        for header in (headers[0], headers[2]):
            self.assertNotRegex(header, r"cl_|MPI_|H5|#include [<\"](?!std|radixpic/status)")


class InProcess(PackageTest):
    def test_the_sort_pass_by_pass(self):
        simulation = self.simulation({"sort": "{passes: 3, groups: 2, items_per_group: 3}"})
        keys = np.random.default_rng(1).integers(0, 128, 500)
        digits = 1 << simulation.sort_shape.radix_bits
        before = keys
        for passes in (1, 2, 3):
            found = simulation.sort(keys, passes)
            np.testing.assert_array_equal(found.permutation, np.argsort(keys % digits**passes, kind="stable"))
            np.testing.assert_array_equal(found.keys, keys[found.permutation])
            counts = np.bincount(before // digits ** (passes - 1) % digits, minlength=digits)
            np.testing.assert_array_equal(found.table.sum(axis=(1, 2)), counts)
            np.testing.assert_array_equal(found.scan.ravel(), np.cumsum(found.table) - found.table.ravel())
            before = found.keys
            scanned = simulation.sort(keys, passes, reorders=False)
            self.assertEqual(scanned[:2], (None, None))
            np.testing.assert_array_equal(scanned[2:], found[2:])
        for wrong in ([128], [-1], [0.5], [[1]]):
            self.assert_problem(lambda: simulation.sort(wrong), "expected a list of whole numbers below 128")
        self.assert_problem(lambda: simulation.sort([], 1), "expected")
        self.assert_problem(lambda: simulation.sort(keys, 4), "passes: expected 1 to 3, found 4", code=2)

    def test_the_bits_of_the_program(self):
        for choice in PRECISIONS:
            settings = {**EVERY_STEP, **choice}
            run = self.run_config(settings, choice["precision"], steps=24)
            simulation = self.simulation(settings)
            simulation.step(10)
            for name in ("E/x", "E/y", "phi", "rho"):
                np.testing.assert_array_equal(simulation.field(name), run.field(name, step=10))
            np.testing.assert_array_equal(simulation.particles("electrons").ids, self.ids_of(run, 10))
            cloud, own = run.particles("electrons", step=10), simulation.particles("electrons")
            for name in ("x", "y", "u", "v"):
                np.testing.assert_allclose(getattr(own, name), getattr(cloud, name), rtol=1e-12, atol=1e-12)
            self.assertAlmostEqual(own.weight, cloud.weight[0], delta=1e-9 * own.weight)
            simulation.step(14)
            self.assertEqual((simulation.steps, round(simulation.time, 12)), (24, 2.4))
            for name, values in simulation.history.columns.items():
                np.testing.assert_array_equal(values, run.history[name][:24], name)
            np.testing.assert_array_equal(simulation.field("E/x"), run.field("E/x"))

    def ids_of(self, run, step):
        import h5py

        with h5py.File(run.folder / "snapshots" / f"data_{step}.h5") as file:
            return file[f"data/{step}/particles/electrons/id"][...]

    def test_units(self):
        run, simulation = self.run_config(steps=0), self.simulation()
        for name in ("E/y", "phi", "rho"):
            np.testing.assert_allclose(simulation.field(name, si=True), run.field(name, si=True), rtol=1e-6)
        cloud, own = run.particles("electrons", si=True), simulation.particles("electrons")
        np.testing.assert_allclose(own.x * simulation.unit("x"), cloud.x, rtol=1e-6)

    def test_two_at_once(self):
        alone = self.simulation(EVERY_STEP)
        alone.step(12)
        first, second = self.simulation(EVERY_STEP), self.simulation({**EVERY_STEP, "time.step": 0.05})
        for _ in range(12):
            first.step()
            second.step(2)
        np.testing.assert_array_equal(alone.history["field_energy"], first.history["field_energy"])
        self.assertEqual((first.time, second.steps), (alone.time, 24))

    def test_arrays_of_particles(self):
        simulation = self.simulation({"precision": "double"})
        electrons = simulation.particles("electrons")
        self.assertIs(simulation.particles("electrons"), electrons)
        self.assertEqual((len(electrons), electrons.charge, electrons.x.shape), (4096, -1, (4096,)))
        before = electrons.u.copy()
        electrons.u[:] += 0.25
        electrons.v = 1
        total = simulation.history
        simulation.step()
        self.assertEqual(len(total["time"]), 0)
        momentum = simulation.history["momentum_x"][0]
        self.assertAlmostEqual(momentum, electrons.weight * np.sum(before + 0.25), delta=1e-9)
        self.assertAlmostEqual(simulation.history["momentum_y"][0], electrons.weight * 4096, delta=1e-9)
        with self.assertRaises(ValueError):  # of an earlier time
            electrons.u[:] = 0
        self.assert_problem(lambda: electrons.y, "earlier time")
        moved = simulation.particles("electrons")
        rho = simulation.field("rho")
        moved.x += 6 / 16  # a cell
        np.testing.assert_allclose(simulation.field("rho"), np.roll(rho, 1, axis=0), atol=1e-12)
        self.assertIsNot(simulation.particles("electrons"), moved)
        moved = simulation.particles("electrons")
        moved.u[:], moved.x[:] = moved.x, 5.5 - moved.x / 2  # velocities stay with their particles
        simulation.field("rho")  # which sorts them
        moved = simulation.particles("electrons")
        np.testing.assert_allclose(moved.x, 5.5 - moved.u / 2, atol=1e-12)
        moved.y[5] = math.nan
        words = "species electrons, y: expected finite numbers, found nan in place 5"
        self.assert_problem(lambda: simulation.step(), words)

    def test_a_field_of_the_callers(self):
        """It pushes in the next step, which makes that of the charges again; without one velocities stay."""
        for method in ("radix", "fused"):
            simulation = self.simulation({"precision": "double", "step.method": method})
            for field, change in ((0, 0), (2, -2 * 0.1)):
                u = np.sort(simulation.particles("electrons").u)
                simulation.set_field("E/x", field)
                simulation.set_field("E/y", np.zeros((16, 8)))
                np.testing.assert_array_equal(simulation.field("E/x"), np.full((16, 8), field))
                simulation.step()
                np.testing.assert_allclose(np.sort(simulation.particles("electrons").u), u + change, atol=1e-12)
                self.assertGreater(np.ptp(simulation.field("E/x")), 0)
                places = simulation.particles("electrons")
                self.assertTrue(0 <= places.x.min() and places.x.max() < 6 and places.y.max() < 4)
        self.assert_problem(lambda: simulation.set_field("phi", 0), "phi follows from the particles")
        for wrong in (np.zeros(8), np.zeros((8, 16)), np.zeros((1, 8)), [1]):
            words = f"values: expected one number or an array of shape (16, 8), found {np.shape(wrong)}"
            self.assert_problem(lambda: simulation.set_field("E/x", wrong), words)

    def test_fields_of_an_electromagnetic_run(self):
        """What is read between steps, before velocities are written or not, does not change the run: J of the step
        that is over is that of the velocities that moved the particles."""
        settings = {"precision": "double", "time.step": 0.02, "fields.solver": "electromagnetic",
                    "fields.speed_of_light": 10, "species.electrons.velocities.dimensions": 3}  # fmt: skip
        found = []
        for reads in (True, False):
            simulation = self.simulation(settings)
            simulation.step(2)
            if reads:
                self.assertGreater(np.ptp(simulation.field("B/z")), 0)
            simulation.particles("electrons").u[:] *= 1.5
            simulation.step(2)
            found.append([simulation.field(name) for name in ("E/z", "B/x", "J/x")])
            simulation.step()
            simulation.set_field("E/z", 1)
            self.assert_problem(lambda: simulation.set_field("J/x", 0), "components of E and B can be written")
        np.testing.assert_array_equal(*found)

    def test_waves_by_formulas(self):
        """A cold wave that travels along an oblique mode, and a density that is a product of cosines."""
        lengths, a = (2 * math.pi / 0.3, 2 * math.pi / 0.4), 0.02  # of mode (1, 1) k is 0.5
        settings = {
            "grid.cells": [32, 32], "grid.length": lengths, "time.step": 0.1, "precision": "double",
            "species.electrons.particles": 1 << 16, "species.electrons.velocities": "{kind: cold}",
            "species.electrons.perturb.density": [],
            "output.history": {"every": 1, "modes": [[1, 1], [-1, 1]], "mode_fields": ["rho", "E"]},
        }  # fmt: skip
        # n = a cos(k r - t) needs u = a/k cos(k r - t) along k: the continuity equation
        drift = [f"{a / 0.5 * part} * cos(0.3*x + 0.4*y)" for part in (0.6, 0.8)]
        profile = {"density": f"1 + {a}*cos(0.3*x + 0.4*y)", "drift": drift}
        simulation = self.simulation({**settings, "species.electrons.profile": profile})
        simulation.step(64)
        wave, _ = select(simulation.history, "density_1_1", -math.inf, math.inf)
        amplitudes = wave.columns @ [1, 1j]
        # a standing one would pass through 0
        np.testing.assert_allclose(np.abs(amplitudes), np.abs(amplitudes[0]), rtol=0.02)
        turned = np.unwrap(np.angle(amplitudes))
        np.testing.assert_allclose(turned - turned[0], -wave.time, atol=0.05)
        for axis, k in (("x", 0.3), ("y", 0.4)):  # E = -i k rho/k^2
            field = simulation.history.mode((1, 1), f"E{axis}")
            np.testing.assert_allclose(field, -1j * k / 0.25 * simulation.history.mode((1, 1)), rtol=1e-12)
        fit = simulation.fit("density_1_1", start=0, end=6.4)
        np.testing.assert_allclose((fit.gamma, fit.omega), (0, 1), atol=0.01)

        profile = {"density": f"1 + {a}*cos(0.3*x)*cos(0.4*y)"}
        rho = self.simulation({**settings, "species.electrons.profile": profile}).field("rho")
        modes = np.fft.fft2(rho) / rho.size
        shape = np.sinc(1 / 32) ** 4  # cic, along x and along y
        for mode in ((1, 1), (1, -1)):
            self.assertAlmostEqual(modes[mode].real, -a / 4 * shape, delta=1e-2 * a)

    def test_create_and_close_again_and_again(self):
        """What a simulation holds is given back: five more of 12 MB each take less than four."""
        text = """
import os, radixpic, sys
def held():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))
for number in range(9):
    with radixpic.Simulation(sys.argv[1], set={"species.electrons.particles": 200000}) as simulation:
        simulation.step(1)
        simulation.particles("electrons").u
    if number == 3:
        before = held()
after = held()
assert after[1] <= before[1], (before, after)
assert after[0] - before[0] < 40e6, (before, after)
"""
        self.python(text, self.config)


class Quiet(PackageTest):
    def test_nothing_is_printed_and_no_file_written(self):
        self.python("import radixpic, sys; radixpic.Simulation(sys.argv[1]).step(23)", self.config)
        self.assert_nothing_created()

    def test_signals_stay(self):
        """The library sets none; the driver of a device may, and has done so when the first simulation is there."""
        text = """
import radixpic, sys
def caught():
    return [line for line in open("/proc/self/status") if line[:6] in ("SigBlk", "SigIgn", "SigCgt")]
simulation = radixpic.Simulation(sys.argv[1])
before = caught()
simulation.step(2)
radixpic.Simulation(sys.argv[1]).step(2)
assert caught() == before
import signal
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL and signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN
"""
        self.python(text, self.config)

    def test_mpi_is_not_started(self):
        text = "import radixpic, sys, ctypes; from radixpic.library import find_library\n"
        text += "radixpic.Simulation(sys.argv[1]).step(2); flag = ctypes.c_int()\n"
        text += "ctypes.CDLL(find_library()).MPI_Initialized(ctypes.byref(flag)); assert flag.value == 0"
        self.python(text, self.config)


class Errors(PackageTest):
    def test_they_have_the_sentence(self):
        self.assert_problem(lambda: self.simulation({"time.stepp": 1}), 'did you mean "step"?', code=2)
        self.assert_problem(lambda: self.simulation(config=self.folder / "no.yaml"), "no.yaml: cannot read", code=2)
        self.assert_problem(lambda: self.simulation({"device": "no such"}), "no such", code=3)
        self.assert_problem(lambda: self.run_config({"time.stepp": 1}), 'did you mean "step"?', code=2)
        simulation = self.simulation()
        self.assert_problem(lambda: simulation.particles("ions"), "no species ions (there are: electrons)")
        self.assert_problem(lambda: simulation.field("E/z"), 'field "E/z" is not known', code=2)
        simulation.close()
        simulation.close()
        self.assert_problem(lambda: simulation.step(), "closed")
        self.assert_problem(lambda: radixpic.Run(self.folder / "nowhere"), "no folder of a run")

    def test_what_is_not_there(self):
        kernels = {"RADIXPIC_LIBRARY": "/proc/nowhere.so"}
        text = "import radixpic, sys\ntry:\n    radixpic.Simulation(sys.argv[1])\n"
        text += "except radixpic.Problem as problem:\n    print(problem)"
        environment = {"PYTHONPATH": str(ROOT / "scripts"), **kernels}
        result = self.run_program(self.config, command=(sys.executable, "-B", "-c", text), environment=environment)
        self.assertEqual(result.stderr, "")
        self.assertIn("libradixpic.so is not there: build it by scripts/build, or set RADIXPIC_LIBRARY", result.stdout)


class Files(PackageTest):
    def test_write_into(self):
        """The run folder of the program, from here."""
        import h5py

        settings = {**EVERY_STEP, "output.snapshots.fields": "[E, species_rho]"}
        run = self.run_config(settings)
        simulation = self.simulation(settings)
        simulation.write_into(self.folder / "own")
        self.assert_problem(lambda: self.simulation().write_into(self.folder / "out"), "holds a run already", code=2)
        simulation.step(20)
        self.assert_problem(lambda: load().step(simulation._handle, 4), "time.steps", code=2)
        simulation.step(3)
        simulation.close()
        simulation = self.simulation(settings)
        self.assert_problem(lambda: simulation.write_into(self.folder / "own"), "holds a run already", code=2)
        self.run_well("run", "small.yaml", "--quiet", "--output=own", "--force", "--steps=1")  # it is not locked
        simulation.write_into(self.folder / "own", force=True)
        self.assert_problem(lambda: simulation.write_into(self.folder / "more"), "once, and before the first step")
        simulation.step(23)
        own = radixpic.Run(self.folder / "own")
        self.assertEqual((run.folder / "history.csv").read_bytes(), (own.folder / "history.csv").read_bytes())
        self.assertEqual(len(simulation.history["time"]), 24)
        self.assertEqual(own.steps(), run.steps())
        for mesh in ("E/x", "electrons_chargeDensity"):
            np.testing.assert_array_equal(own.field(mesh), run.field(mesh))
        with h5py.File(own.folder / "snapshots" / "data_10.h5") as file:
            self.assertIn("data/10/particles/electrons", file)
        result = self.run_well("run", "small.yaml", "--resume", "--output", "own", *("--set", "output.history.every=1"))
        self.assertIn("holds the complete run of 23 steps; nothing is left to do", result.stdout)
        self.assert_problem(lambda: simulation.step(), "ends", code=2)

    def test_without_its_files_a_simulation_goes_on(self):
        """Beyond time.steps, with the history that it would have, or into another folder."""
        run = self.run_config(EVERY_STEP)
        (self.folder / "locked").mkdir()
        writing = self.simulation(EVERY_STEP)
        writing.write_into(self.folder / "locked")
        for folder, why in ((run.folder, "holds a run"), ("locked", "another run"), ("/proc/nowhere", "cannot create")):
            with self.subTest(folder=folder):
                before = sorted(self.folder.iterdir())
                simulation = self.simulation(EVERY_STEP)
                self.assert_problem(lambda: simulation.write_into(self.folder / folder), why)
                simulation.step(24)
                np.testing.assert_array_equal(simulation.history["field_energy"][:24], run.history["field_energy"])
                self.assertEqual(sorted(self.folder.iterdir()), before)
                other = self.simulation(EVERY_STEP)
                self.assert_problem(lambda: other.write_into(self.folder / folder), why)
                other.write_into(self.folder / "other", force=True)
                other.step(23)
                other.close()
                written = self.folder / "other" / "history.csv"
                self.assertEqual((run.folder / "history.csv").read_bytes(), written.read_bytes())


class Runs(PackageTest):
    def test_run(self):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            lengths = (np.float64(6), 4)
            settings = {"grid.cells": np.array([8, 8]), "grid.length": lengths, "time.step": np.float64(0.01)}
            run = radixpic.run(self.config, set=settings, output=self.folder / "a b")
        self.assertIn("4096 particles of 1 species on 8x8 cells, 23 steps of 0.01", shown.getvalue())
        self.assertEqual((run.folder, run.config["grid"]["cells"]), (self.folder / "a b", [8, 8]))
        history = run.history
        self.assertEqual((list(history), len(history)), (list(history.keys()), len(history.columns)))
        self.assertTrue("time" in history and "heat" not in history)
        self.assertIn("History of 6 rows: step, time,", repr(history))
        self.assertEqual({history, history}, {history})
        self.assertNotEqual(history, dict(history))
        self.assert_problem(lambda: history["heat"], "has no column heat; it has step, time, ")
        with mock.patch.dict(sys.modules, pandas=mock.Mock(DataFrame=dict)):
            self.assertEqual(list(history.to_pandas()), list(history))
        self.assertEqual(run.config["species"][0]["perturb"]["density"], [{"axis": "x", "mode": 1, "amplitude": 0.1}])
        self.assert_problem(lambda: self.run_config(folder="a b"), "holds a run already; force=True", "output=", code=2)
        with self.simulation() as simulation:
            self.assert_problem(lambda: simulation.write_into(run.folder), "holds a run already; force=True", code=2)
        self.assertEqual(self.run_config(folder="a b", force=True, steps=2).history["time"][-1], 0.2)
        os.chdir(self.folder)
        self.addCleanup(os.chdir, ROOT)
        self.assertEqual(radixpic.run("small.yaml", quiet=True).folder.resolve(), (self.folder / "out").resolve())

    def test_ranks(self):
        with mock.patch.dict(os.environ, MPI_ENVIRONMENT):
            run = self.run_config(ranks=2)
            self.assertIn("2 ranks", (run.folder / "log.txt").read_text())
            self.assert_problem(lambda: self.run_config({"time.stepp": 1}, ranks=2), 'did you mean "step"?', code=2)
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            self.assert_problem(lambda: self.run_config(ranks=2), "there is no mpirun")
            own = self.folder / "mpirun"  # which refuses what it is asked for, as Open MPI does for root
            own.write_text("#!/bin/sh\nprintf '%s\\n' ------- 'not as root' ------- >&2\nexit 1\n")
            own.chmod(0o755)
            self.assert_problem(lambda: self.run_config(ranks=2), "not as root", code=1)
            own.write_text("#!/bin/sh\nprintf -- '--\\n\\0radixpic: wrong\\n' >&2\nexit 2\n")  # as Open MPI 5 does
            self.assert_problem(lambda: self.run_config(ranks=2), "wrong", code=2)

    def test_what_a_run_has(self):
        axes = [{"axis": "x", "bins": 8, "range": [0, 6]}, {"axis": "u", "bins": 12, "range": [-6, 6]}]
        item = {"species": "electrons", "axes": axes, "order": ["u", "x"], "every": 10}
        probe = {"name": "centre", "at": [0, 0], "fields": ["E"], "every": 10}
        line = {"name": "across", "from": [0, 0], "to": [6, 0], "points": 17, "fields": ["E"], "every": 10}
        track = {"species": "electrons", "count": 2, "every": 10}
        outputs = {"phase_space": [item], "probes": [probe], "lines": [line], "tracks": track, "moments.every": 10}
        settings = {f"output.{name}": value for name, value in outputs.items()}
        run = self.run_config({**EVERY_STEP, **settings, "species.electrons.velocities.dimensions": 3})
        self.assertEqual(run.steps("phase_space"), [0, 10, 20, 23])
        self.assertEqual((*run.tracks.ids, run.tracks.x.shape), (0, 2048, (2, 4)))
        particles = run.particles("electrons", step=23)
        j = np.argmin(np.hypot(particles.x - run.tracks.x[1, 3], particles.y - run.tracks.y[1, 3]))
        self.assertAlmostEqual(particles.u[j], run.tracks.u[1, 3], 6)
        self.assertAlmostEqual(particles.w[j], run.tracks.w[1, 3], 6)
        s, values = run.line("across", "E/y", step=10)
        self.assertEqual((s[-1], *values), (6, *run.field("E/y", step=10)[np.arange(17) % 16, 0]))
        self.assertEqual(run.probe("centre")["Ey"][1], run.field("E/y", step=10)[0, 0])
        self.assert_problem(lambda: run.probe("left"), "cannot read", "left.csv")
        f = run.phase_space("electrons_ux", step=10)
        self.assertEqual((f.values.shape, f.axes, f.time), ((12, 8), "ux", 1.0))
        np.testing.assert_array_equal(f.edges[0], np.arange(-6, 7))
        along_x = run.phase_space("electrons_ux", axes="x")
        self.assertEqual((along_x.values.shape, along_x.axes), ((8,), "x"))
        self.assertAlmostEqual(along_x.values.sum() * 6 / 8, 24, delta=0.01)  # all particles of the density 1
        self.assert_problem(lambda: run.phase_space("ions_xu"), "no mesh ions_xu (there are: electrons_ux over u x)")
        self.assertAlmostEqual(run.field("electrons_density", step=10).mean(), 1, 6)
        np.testing.assert_array_equal(run.field("across_E/y", "last"), run.line("across", "E/y", "last")[1])
        last = run.phase_space("electrons_ux", step="last")
        np.testing.assert_array_equal(run.field("electrons_ux", "last"), last.values)
        np.testing.assert_array_equal(run.field("rho", "last"), run.field("chargeDensity", 23, inner="snapshots"))
        self.assertAlmostEqual(run.particles("electrons", "last").time, 2.3)
        self.assert_problem(lambda: run.field("phi", step=5), "no snapshot of step 5", "0, 10, 20, 23")
        words = ["electrons_ux is a phase space: scripts/plot_phase_space.py draws it"]
        self.assert_script_fails("plot_snapshot.py", run.folder, "--mesh", "phi", "electrons_ux", words=words)
        script = self.run_script("fit_rate.py", run.folder, "--json")
        found, fit = json.loads(script.stdout), run.fit()
        self.assertEqual((found["gamma"], found["omega"], found["notes"]), (fit.gamma, fit.omega, [*fit.notes]))
        self.assertIn("the window holds the transient of the start too", str(fit))
        self.assertEqual((found["theory"][0]["gamma"], found["theory"][0]["omega"]), run.theory()[0])
        linear = run.fit_linear()
        self.assertEqual((found["theory"][-1]["gamma"], found["theory"][-1]["omega"]), (linear.gamma, linear.omega))
        self.assertEqual(len(run.linear_series()), len(run.history["time"]))
        self.assertNotEqual(run.fit("field_energy", start=0.5).gamma, fit.gamma)
        self.assert_problem(lambda: run.fit("charges"), "a column such as field_energy, not of charges")
        for draw, name in (
            (run.plot_energy, "energy.png"),
            (lambda output: run.plot_field("phi", "rho", step="all", output=output), "fields.png"),
            (lambda output: run.plot_phase_space(step=[0, 20], output=output), "f.png"),
            (lambda output: run.plot_field("electrons_ux", output=output), "ux.png"),
            (lambda output: run.plot_field("across_E/x", "across_E/y", output=output), "across.png"),
            (lambda output: run.plot_tracks("tx", output=output), "tracks.png"),
        ):
            draw(output=self.folder / name)
            self.assert_picture(name)
        from PIL import Image

        for name, movie in (("electrons_ux", "f.gif"), ("E/x", "ex.gif"), ("electrons_temperature", "T.gif")):
            with Image.open(run.movie(name, self.folder / movie)) as image:
                self.assertEqual(image.n_frames, 4)
        with Image.open(run.movie(["electrons_ux"], self.folder / "small.gif", size=(3, 2), dpi=50)) as image:
            self.assertEqual(image.size, (150, 100))
        if shutil.which("ffmpeg"):
            self.assertEqual(run.movie("E/x", self.folder / "ex.mp4").read_bytes()[4:8], b"ftyp")
        with mock.patch.dict(os.environ, PATH=""):
            self.assert_problem(lambda: run.movie("E/x", "ex.mp4"), "cannot write ex.mp4: ffmpeg is missing")
        self.assert_problem(lambda: run.movie("B/z", self.folder / "b.gif"), "no mesh B")
        self.assert_problem(lambda: run.movie("E/x", self.folder / "no" / "x.gif"), "cannot write")

    def test_scan(self):
        values = {"time.step": [0.1, 0.05], "species.electrons.velocities": ["{kind: cold}"]}
        measure = lambda run: float(run.history["time"][-1])
        table = radixpic.scan(self.config, values, measure=measure, output=self.folder / "scan", steps=10)
        self.assertEqual(table["value"], [1.0, 0.5])
        self.assertEqual(table["time.step"], [0.1, 0.05])
        self.assertTrue((self.folder / "scan" / "time.step=0.05,species.electrons.velocities={kind: cold}").is_dir())
        self.assertEqual(table[1]["run"].config["time"]["step"], 0.05)
        again = lambda **options: radixpic.scan(self.config, values, measure, self.folder / "scan", steps=10, **options)
        self.assert_problem(again, "holds a run already; force=True replaces it")
        for options in ({"resume": True}, {"force": True}):
            self.assertEqual(again(**options)["value"], [1.0, 0.5])
        self.assertRegex(str(table), r"(?s)^time.step +species.electrons.velocities +value\n +0.1 +\{kind: cold\} +1\n")
        of_numpy = {"time.step": [np.float64(0.25), np.int64(2)], "value": (np.float32(0.5), np.bool_(True))}
        table.append({**table[0], **of_numpy})
        self.assertRegex(str(table), r"\n *\[0.25, 2\] .* \[0.5, true\]$")


if __name__ == "__main__":
    unittest.main()
