"""The scripts: rates of known series, whole pictures, errors in a sentence."""

import json
import math
import os
import re
import subprocess
from unittest import mock

import h5py
import numpy as np

from program import ROOT, ProgramTest, sets
from radixpic import Run, dispersion, energy, fields, fit, look, page, theory
from radixpic.history import read_config, read_history, read_title

T = np.arange(0, 20.05, 0.1)  # the times of a history
CELL_FACTOR = dispersion.grid_factor([0.5], [4 * math.pi / 32])
HEADER = "step,time,field_energy,kinetic_energy,total_energy,momentum_x,momentum_y,charge"


def write_history(path, series, time=T, mode=(1, 0)):
    """A history of one density mode; the field energy is the mode's square."""
    with open(path, "w") as file:
        file.write(f"{HEADER},density_{mode[0]}_{mode[1]}_re,density_{mode[0]}_{mode[1]}_im\n")
        for step, (t, value) in enumerate(zip(np.asarray(time).tolist(), series.tolist())):
            field = abs(value) ** 2
            file.write(f"{step},{t!r},{field!r},1.0,{1 + field!r},0,0,-1,{value.real!r},{value.imag!r}\n")


def write_snapshot(path, step, time, transpose=False):
    """A small openPMD file: E/x = x + 10 y on 6 x 4 nodes, four electrons, mass and weighting constant."""
    with h5py.File(path, "w") as file:
        file.attrs.update(meshesPath=np.bytes_("fields/"), particlesPath=np.bytes_("particles/"))
        data = file.create_group(f"data/{step}")
        data.attrs.update(time=time, dt=0.1, timeUnitSI=1e-11)
        values = np.arange(6.0)[:, None] + 10 * np.arange(4.0)
        electric = data.create_group("fields/E")
        labels, spacing = ([b"y", b"x"], [2.0, 1.0]) if transpose else ([b"x", b"y"], [1.0, 2.0])
        electric.attrs.update(
            axisLabels=np.array(labels), gridSpacing=spacing, gridGlobalOffset=[0.0, 0.0], gridUnitSI=0.5
        )
        electric.create_dataset("x", data=values.T if transpose else values)
        electric["x"].attrs.update(unitSI=100.0, position=[0.0, 0.0])
        potential = data.create_dataset("fields/phi", data=electric["x"][...])
        potential.attrs.update(electric.attrs)
        potential.attrs.update(electric["x"].attrs)
        species = data.create_group("particles/electrons")
        records = {"position": [0.0, 1.0, 2.0, 3.0], "momentum": [-4.0, 0.0, 2.0, 8.0]}
        for record in ("position", "positionOffset", "momentum", "mass", "weighting"):
            group = species.create_group(record)
            group.attrs.update(macroWeighted=np.uint32(record == "momentum"), weightingPower=1.0)
            for component in [""] if record in ("mass", "weighting") else ["x", "y"]:
                if record in records:
                    group.create_dataset(component, data=records[record]).attrs["unitSI"] = 0.5
                    continue
                node = group.create_group(component) if component else group
                value = {"mass": 1.0, "weighting": 2.0, "positionOffset": 0.25}[record]
                node.attrs.update(value=value, shape=np.array([4], "u8"), unitSI=0.5)


class ScriptTest(ProgramTest):
    """Of one script, which reads a history of the folder."""

    script = None

    def setUp(self):
        super().setUp()
        self.path = self.folder / "history.csv"

    def run_it(self, *arguments, folder=None):
        return self.run_script(self.script, folder or self.folder, *arguments)

    def run_it_well(self, *arguments, folder=None):
        result = self.run_it(*arguments, folder=folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return result.stdout

    def assert_problem(self, *arguments, words, folder=None):
        self.assert_script_fails(self.script, folder or self.folder, *arguments, words=words)


class FitRate(ScriptTest):
    script = "fit_rate.py"

    def measure(self, *arguments):
        text = self.run_it_well(*arguments)
        gamma, omega = re.search(r"gamma = (\S+), omega = ([^\s;]+)", text).groups()
        return float(gamma), float(omega), text

    def assert_measured(self, gamma, omega, tolerance, *arguments):
        np.testing.assert_allclose(self.measure(*arguments)[:2], (gamma, omega), rtol=0, atol=tolerance)

    def test_rates_of_known_series(self):
        noise = np.random.default_rng(7).normal(size=(2, len(T))) * 1e-2  # of the amplitude at t = 0
        uneven = np.append(np.arange(0, 50, 0.5), 50.2)
        within = ["--from", 3, "--to", 12]
        for series, time, gamma, omega, tolerance, choices in (
            (0.005j * np.exp(-0.15 * T) * np.cos(1.41 * T + 0.4), T, -0.15, 1.41, 1e-5, (within, ["--field-energy"])),
            # 91 rows, signal about 0.3 rms: one standard error of gamma and of omega is near 1.5e-3; five of them
            (np.exp(-0.15 * T) * np.cos(1.41 * T) + noise[0] + 1j * noise[1], T, -0.15, 1.41, 7.5e-3, (within,)),
            ((3e-5 - 4e-5j) * np.exp(0.25 * T), T, 0.25, 0, 1e-5, ([], ["--field-energy"])),
            (1e-4 * np.exp((0.1528 - 0.6857j) * T), T, 0.1528, 0.6857, 1e-5, ([],)),
            (0.01 * np.cos(0.2 * uneven) + 0j, uneven, 0, 0.2, 1e-5, ([],)),
        ):
            write_history(self.path, series, time)
            for arguments in choices:
                self.assert_measured(gamma, omega, tolerance, *arguments)

    def test_an_output_that_cannot_be_written(self):
        """A full disk and a pipe that is closed, where Python keeps lines until its end and where it does not."""
        write_history(self.path, np.exp(0.1 * T) + 0j)
        reader, pipe = os.pipe()
        os.close(reader)
        with open("/dev/full", "w") as full, open(pipe, "w") as broken:
            for output, why in ((full, "No space left on device"), (broken, "Broken pipe")):
                for unbuffered, arguments in (("", self.folder), ("1", self.folder), ("", "--help")):
                    command = ("/usr/bin/python3", "-B", ROOT / "scripts" / self.script)
                    result = self.run_program(arguments, command=command, stdout=output, stderr=subprocess.PIPE,
                        environment={"PYTHONUNBUFFERED": unbuffered})
                    said = f"{self.script}: cannot write to the standard output: {why}\n"
                    self.assertEqual((result.returncode, result.stderr), (1, said))

    def test_standard_errors(self):
        """They are the scatter of fits to other noise: of 200 draws it is known to 5 %, three of which are 15 %."""
        t, random = T[:101], np.random.default_rng(5)
        clean, growing = np.exp(-0.1 * t) * np.cos(1.4 * t), np.exp(0.2 * t)
        for draw, model, errors in (
            (lambda: fit.Wave(t, clean[:, None] + 0.02 * random.normal(size=(len(t), 1)), 1), "oscillation", 2),
            (lambda: fit.Wave(t, (growing * np.exp(0.05 * random.normal(size=len(t))))[:, None], 1), "exponential", 1),
        ):
            fits = np.array([fit.fit(draw(), model)[:4] for _ in range(200)])
            np.testing.assert_allclose(fits[:, :errors].std(axis=0), fits[:, 2 : 2 + errors].mean(axis=0), rtol=0.15)
        found = fit.fit(fit.Wave(t, clean[:, None], 1))
        self.assertEqual({type(value) for value in found[:-1]}, {float})
        self.assertEqual(found.notes, ())
        self.assertRegex(str(found), r"^gamma = -0\.1 \+- \S+, omega = 1\.4 \+- \S+$")
        found = found._replace(notes=("one", "two"))
        self.assertRegex(str(found), r"^gamma = .*\nnote: one\nnote: two$")

    def test_swing_about_a_constant(self):
        t = np.arange(0, 60.05, 0.1)
        # as a cold magnetised plasma has it: never of another sign, and exactly zero where it starts
        for constant, swing in ((1.1, 1.0), (1.0, -1.0), (0.4, 1.0)):
            write_history(self.path, 2.5e-5j * (constant + swing * np.cos(1.411354 * t)), t)
            for model in ("auto", "oscillation"):
                _, _, out = self.measure("--model", model)
                self.assert_measured(0, 1.411354, 1e-5, "--model", model)
                self.assertIn(f"swings by 2.5e-05 about a constant {2.5e-5 * constant:.4g}", out)
        self.assert_measured(0, 1.411354, 1e-5, "--from", 20)

    def test_what_is_told_beside(self):
        """A constant, a transient, an end of growth and a second wave, only where one can be."""
        noise = 0.02 * np.random.default_rng(3).normal(size=len(T))
        damped, growing = np.exp(-0.15 * T) * np.cos(1.4 * T), np.exp(0.3 * T)
        ending = growing / (1 + np.exp(0.6 * (T - 14))) ** 0.5
        swinging = np.exp(0.1 * (T - 20)) * np.cos(1.4 * T)
        for series, arguments, told in (
            (damped, [], {"transient"}),
            (damped + noise, [], {"transient"}),
            (growing, [], {"transient"}),
            (growing, ["--from", 3], set()),
            (np.cos(T), [], set()),
            (np.cos(T) + noise, [], set()),
            (2 + np.cos(T), [], {"constant"}),
            (ending, [], {"saturation"}),
            (ending, ["--from", 5], {"saturation"}),
            (ending, ["--from", 5, "--field-energy"], {"saturation", "periods"}),
            (ending, ["--to", 10], {"transient"}),
            (ending, ["--from", 3, "--to", 10], set()),
            (ending * np.cos(2 * T), ["--from", 3], {"saturation"}),
            (growing + noise, ["--from", 3], set()),
            (growing + 20 * np.cos(1.1 * T), ["--from", 2], {"not one wave"}),
            (growing * np.exp(0.5 * np.cos(3 * T)), ["--from", 3], {"leaves 36% of"}),  # 0.5 / sqrt(2)
            (growing * np.exp(0.3 * np.cos(3 * T)), ["--from", 3], set()),
            (np.cos(T) + 0.7 * np.cos(7 * T), [], {"leaves 57% of"}),  # 0.7 / sqrt(1.49)
            (swinging + noise, ["--from", 3], set()),
            (swinging + np.exp(-0.1 * T), ["--from", 3], {"not one wave"}),
        ):
            write_history(self.path, series + 0j)
            text = self.measure(*arguments)[2]
            words = "constant|transient|periods|saturation|not one wave|leaves .*% of"
            self.assertEqual(set(re.findall(words, text)), told, arguments)

    def test_notes_have_numbers(self):
        """A transient that is over after a period shifts the rate of the whole, and not the one that is named; and a
        window of 1.3 periods."""
        wave = np.exp(-0.15 * T) * np.cos(1.4 * T) + np.exp(-2 * T)
        write_history(self.path, wave + 0j)
        said = re.search(r"note: the window holds the transient .*: from t = (\S+) on gamma is (\S+) and omega (\S+);",
            self.measure()[2])
        self.assertAlmostEqual(float(said[1]), 2 * np.pi / 1.4, delta=0.2)
        self.assertAlmostEqual(float(said[2]), -0.15, delta=2e-4)
        self.assertAlmostEqual(float(said[3]), 1.4, delta=2e-3)
        found, _ = fit.select(read_history(self.folder))
        self.assertEqual(json.loads(self.run_it_well("--json"))["notes"], list(fit.fit(found).notes))
        self.assertIn("note: the window holds 1.3 periods of the wave; with fewer than 2",
            self.measure("--from", 5, "--to", 5 + 1.3 * 2 * np.pi / 1.4)[2])
        write_history(self.path, np.exp(0.3 * T) + np.exp(-T) + 0j)
        self.assertRegex(self.measure()[2], r"transient .*: from t = 10\S* on gamma is 0\.3; choose")
        write_history(self.path, np.exp(np.interp(T, [0, 15], [0, 3])) + 0j)  # from t = 15 on it grows no more
        until = math.ceil(10 * (15 - math.log(5) / 0.2)) / 10
        self.assertIn("note: gamma is 0.2, 0.2 and 0.0", self.measure()[2])
        for column in ([], ["--field-energy"]):
            self.assertIn(f"; choose one that ends by t = {until:g}, with a fifth", self.measure(*column)[2])
        self.assertIn("; choose one that begins and ends earlier\n", self.measure("--from", 9)[2])

    def test_theory_of_the_runs_own_config(self):
        k, dt = 0.5, 0.1
        write_history(self.path, dispersion.discrete_series(200, k, [(1, 0, 1)], dt, CELL_FACTOR))
        species = "- {name: electrons, charge: -1, mass: 1, density: 1, particles: 64, velocities: {kind: maxwellian}}"
        config = f"grid: {{cells: [32, 4], length: [{4 * math.pi!r}, 1]}}\ntime: {{step: 0.1, steps: 0}}\n"
        config += f"species:\n  {species}\n"

        def resolve(text, *settings):
            (self.folder / "own.yaml").write_text(text)
            self.run_well("run", "own.yaml", "--quiet", "--force", "--output", "own", *sets(*settings))
            (self.folder / "config.yaml").write_bytes((self.folder / "own" / "config.yaml").read_bytes())

        resolve(config, "species.electrons.perturb.density=[{axis: x, mode: 1, amplitude: 0.01}]")
        gamma, _, out = self.measure("--from", 3, "--to", 12)
        for words in ("0.15336", "1.41566", "0.15433", "the run's steps and grid"):
            self.assertIn(words, out)
        self.assertRegex(out, r"(?m)exact linear series.*[-+]0\.00 %")
        self.assertAlmostEqual(gamma, -0.155, delta=1e-3)
        found = json.loads(self.run_it_well("--json"))
        self.assertAlmostEqual(found["theory"][0]["gamma"], -0.15336, delta=1e-5)
        self.assertEqual((found["rows"], found["wave"], found["constant"]), (201, "density mode (1, 0)", None))
        self.assert_measured(found["gamma"], found["omega"], 1e-5)
        collide = ("species.electrons.velocities.dimensions=3", "collisions=[{species: [electrons, electrons]}]")
        square = "species.electrons.velocities={range: [[-1, 1], [-1, 1]], kind: formula}"
        for words, *settings in (
            ("fields.external.E", "fields.external.E=[0.01, 0, 0]"),
            ("fields.external.B", "fields.external.B=[0, 0, 'cos(t)']"),
            ("fields.drive", "fields.drive=[{axis: x, mode: 1, amplitude: 0.01, frequency: 1}]"),
            ("species.electrons.profile.drift", "species.electrons.profile.drift=[sin(2*pi*x/lx), '0']"),
            ("species.electrons.velocities.kind", square),
            ("collisions", *collide),
        ):
            resolve(config, *settings)
            found = json.loads(self.run_it_well("--json"))
            self.assertEqual((found["theory"], found["no_theory"].partition(":")[0]), ([], words))
            self.assertRegex(self.run_it_well(), rf"(?m)^  no theory: {words}: [^%]+$")

    def test_series_of_starts_that_mix(self):
        """One beam starts as a density, one as a displacement, a quarter of a wave later: the run is the series of that
        start. Noise of 65,536 particles a beam is 0.5 %; the series of a density alone differs by 0.3."""
        beam = "charge: -1, mass: 1, density: 0.5, particles: 65536"
        beam += ", perturb: {%s: [{axis: x, mode: 1, amplitude: 0.02}]}"
        drift = "velocities: {kind: maxwellian, drift: [%g, 0]}"
        text = "grid: {cells: [32, 2], length: [10*pi, 2]}\ntime: {step: 0.1, steps: 60}\nspecies:\n"
        for name, kind, speed in (("a", "density", 2), ("b", "displacement", -1)):
            text += f"  - {{name: {name}, {beam % kind}, {drift % speed}}}\n"
        (self.folder / "own.yaml").write_text(text + "output: {history: {every: 1, modes: [[1, 0], [-1, 0]]}}\n")
        self.run_well("run", "own.yaml", "--quiet", "--output", "own")
        run = Run(self.folder / "own")
        for mode in ((1, 0), (-1, 0)):
            series = run.history.mode(mode)
            np.testing.assert_allclose(series / series[0], run.linear_series(mode), atol=0.02)

    def test_unequal_beams_of_a_run(self):
        """Cold beams of 0.1 and 0.4 c on a lattice grow as charge and light coupled by the scheme's steps, which are 1
        % off on 16 cells. Light of the start is a hundredth of the wave by then, and leaves a few 1e-4."""
        beam = "charge: -1, mass: 1, particles: 1024, positions: {kind: lattice, counts: [128, 8]}"
        text = "grid: {cells: [16, 4], length: [20*pi, 5*pi]}\ntime: {step: 0.1, steps: 600}\nprecision: double\n"
        text += "species:\n"
        for name, density, drift in (("a", 0.8, -2), ("b", 0.2, 8)):
            velocities = f"velocities: {{kind: cold, dimensions: 3, drift: [0, 0, {drift}]}}"
            text += f"  - {{name: {name}, density: {density}, {beam}, {velocities}}}\n"
        text += "fields: {solver: electromagnetic, speed_of_light: 20, "
        text += "initial: {B: [0, '1e-6*cos(2*pi*x/lx)', 0]}}\n"
        (self.folder / "own.yaml").write_text(text + "output: {history: {every: 1, modes: [[1, 0]]}}\n")
        self.run_well("run", "own.yaml", "--quiet", "--output", "own")
        words = ("--from", 40, "--to", 60, "--column", "magnetic_energy", "--json")
        found = json.loads(self.run_it_well(*words, folder=self.folder / "own"))
        continuum, own = (line for line in found["theory"] if line["compared"])
        self.assertAlmostEqual(found["gamma"] / own["gamma"], 1, delta=1e-3)
        self.assertAlmostEqual(continuum["gamma"] / own["gamma"], 1.01, delta=2e-3)

    def test_compares_the_nearest_root_alone(self):
        """Percentages are of the root that the fit is of, within a factor of 2; of a root without growth none of the
        rate, which was a hundred thousand times the rounding of 0."""
        species = "- {name: e, charge: -1, mass: 1, density: 1, particles: 64, velocities: {kind: maxwellian}}"
        text = f"grid: {{cells: [32, 4], length: [{4 * math.pi!r}, 1]}}\ntime: {{step: 0.1, steps: 0}}\n"
        text += f"species:\n  {species}\noutput: {{history: {{modes: [[1, 0]]}}}}\n"
        (self.folder / "own.yaml").write_text(text)
        fields = "fields={external: {B: [0, 0, 1]}}"
        self.run_well("run", "own.yaml", "--quiet", "--output", "own", *sets(fields))
        (self.folder / "config.yaml").write_bytes((self.folder / "own" / "config.yaml").read_bytes())
        for gamma, omega, compared in (
            (-1e-4, 1.309, 1.311908),
            (1e-3, 2.1, 2.063137),
            (-0.15, 1.31, None),
            (0, 0.3, None),
        ):
            write_history(self.path, np.exp(gamma * T) * np.cos(omega * T) + 0j)
            found = json.loads(self.run_it_well("--json"))["theory"]
            self.assertEqual([line["gamma"] for line in found], [0.0] * len(found))
            first = [line["omega"] for line in found if line["compared"]][:1]
            np.testing.assert_allclose(first, [compared] if compared else [], atol=1e-6)
            out = self.run_it_well()
            self.assertEqual(out.count(" %\n"), 2 if compared else 0, out)
            self.assertNotRegex(out, r"\d{3}\.\d\d %")

    def test_growth_is_above_0(self):
        """Coupled waves may all be damped by the run's steps and grid."""
        for rates, expected in (((-0.1,), None), ((0,), None), ((-0.1, 0.2), 0.2)):
            waves = [theory.Waves("", 1, [(rate, 0)], lambda root: root) for rate in rates]
            with mock.patch.object(theory, "waves_of", return_value=waves):
                self.assertEqual(fit.own_growth(mock.Mock()), expected)

    def test_theory_of_the_runs_own_grid(self):
        """A coarse and filtered run is that of the exact linear series, not of the continuum."""
        settings = (
            "grid.cells=[12, 2]", "deposit.shape=tsc", "deposit.filter_passes=2", "fields.gradient=centred",
            "species.electrons.particles=1048576", "time.steps=100", "output.snapshots.every=0",
        )  # fmt: skip
        self.run_well(
            "run", ROOT / "configs" / "landau_damping.yaml", "--quiet", "--output", "coarse", *sets(*settings)
        )
        found = self.run_it_well("--json", "--from", 3, "--to", 10, folder=self.folder / "coarse")
        measured, (continuum, grid, series) = json.loads(found), json.loads(found)["theory"]
        self.assertAlmostEqual(measured["omega"], series["omega"], delta=2e-3 * series["omega"])
        self.assertAlmostEqual(measured["gamma"], series["gamma"], delta=0.01 * abs(series["gamma"]))
        self.assertGreater(abs(grid["omega"] / continuum["omega"] - 1), 0.05)

    def test_chooses_the_mode(self):
        write_history(self.path, np.exp(0.3 * T) + 0j, mode=(-2, 3))
        self.assert_measured(0.3, 0, 1e-5, "--mode", -2, 3)
        self.assert_problem("--mode", 1, 0, words=["no density mode 1 0", "-2 3"])
        self.path.write_text(self.path.read_text()[:-30])  # as a killed run leaves it
        self.assert_measured(0.3, 0, 1e-5)

    def test_problems(self):
        row = "0,0,1,1,2,0,0,-1\n"
        self.assert_problem(words=["history.csv", "No such file"])
        for content, arguments, words in (
            (b"", [], ["header"]),
            (bytes(range(256)), [], ["history.csv"]),
            (f"{HEADER}\n".encode(), [], ["no rows"]),
            (f"{HEADER}\n{row}1,0.1,oops,1,2,0,0,-1\n".encode(), [], ["history.csv:3:"]),
            (f"{HEADER}\n{row}".encode(), [], ["no density modes"]),
            (f"{HEADER}\n{row}".encode(), ["--field-energy"], ["1 rows", "needs 8"]),
        ):
            self.path.write_bytes(content)
            self.assert_problem(*arguments, words=words)
        for value, word in ((np.nan, "finite"), (0, "zero")):
            write_history(self.path, np.full(len(T), value + 0j))
            self.assert_problem(words=[word])

    def test_usage(self):
        for arguments in ("", ". --from 3 --to 2", ". --mode 1", ". --mode 1 0 --field-energy"):
            self.assertEqual(self.run_script("fit_rate.py", *arguments.split()).returncode, 2, arguments)


class PlotHistory(ScriptTest):
    script = "plot_history.py"

    def draw(self, modes, window=(-np.inf, np.inf)):
        """The axes of the field energy and of the modes."""
        plt = look.import_pyplot(show=False)
        figure = energy.draw(plt, [read_history(self.folder)], modes, window, "")
        self.addCleanup(plt.close, figure)
        return figure.axes[:2]

    def test_what_energies_are_drawn(self):
        write_history(self.path, np.exp(-0.1 * T) + 0j)
        self.assertEqual(self.draw(None)[0].get_ylabel(), r"$W_E\;[n_0 T \lambda_D^2]$")
        lines = self.path.read_text().splitlines()
        self.path.write_text("\n".join([lines[0] + ",magnetic_energy", *(line + ",1" for line in lines[1:])]) + "\n")
        shown, _ = page.history_of(self.folder, False)
        for label in (self.draw(None)[0].get_ylabel(), shown["groups"][0]["label"]):
            said = label if isinstance(label, str) else "".join(text for text, _ in label)
            self.assertEqual(re.sub(r"[$_]", "", said)[:6], "WE, WB")

    def dashed(self, axes):
        return [line for line in axes.lines if line.get_linestyle() == "--"]

    def test_theory_runs_along_the_magnetic_energy(self):
        """With the growth of the config, along the tops of what oscillates too, in the window."""
        write_history(self.path, np.zeros(len(T), complex))
        lines = self.path.read_text().splitlines()
        with mock.patch.object(energy, "own_growth", return_value=0.15):
            for series in (1e-6 * np.exp(0.3 * T), 1e-6 * np.exp(0.3 * T) * np.cos(1.4 * T) ** 2):
                rows = [f"{line},{value!r}" for line, value in zip(lines[1:], series.tolist())]
                self.path.write_text("\n".join([f"{lines[0]},magnetic_energy", *rows]) + "\n")
                (line,) = self.dashed(self.draw([], (2, 19))[0])
                x, y = line.get_data()
                self.assertTrue(2 <= x[0] and x[-1] <= 19)
                np.testing.assert_allclose(y, 1e-6 * np.exp(0.3 * x), rtol=0.02)  # a row is within 0.05 of a top

    def test_theory_of_the_config(self):
        """Without being asked, where the mode starts with a wave: the exact linear solution from its start, and the
        first root."""
        self.run_well("run", "small.yaml", "--quiet", *sets("output.history.every=1"))
        (self.folder / "out" / "history.csv").rename(self.path)
        (self.folder / "out" / "config.yaml").rename(self.folder / "config.yaml")
        self.assertEqual(self.dashed(self.draw([(-2, 3)])[1]), [])
        (line,) = self.dashed(self.draw([(1, 0)], (0.5, 1.5))[1])
        history, config = read_history(self.folder), read_config(self.folder)
        inside = slice(5, 16)
        np.testing.assert_array_equal(line.get_xdata(), history["time"][inside])
        plasma = theory.plasma_of(config, (1, 0))
        series = dispersion.discrete_series(23, plasma.k, plasma.beams, 0.1, plasma.factor)
        expected = abs(history.mode((1, 0))[0] * series)[inside]
        np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-12)
        self.assertIn(f"{dispersion.roots(plasma.k, plasma.beams)[0][0]:.4g}", line.get_label())
        text = (self.folder / "config.yaml").read_text()
        (self.folder / "config.yaml").write_text(text.replace('E: ["0",', 'E: ["0.1",'))
        energies, modes = self.draw([(1, 0)])
        self.assertEqual(self.dashed(modes), [])
        (sentence,) = (one.get_text() for one in modes.figure.texts if "theory" in one.get_text())
        self.assertRegex(sentence, r"^no theory along mode \(1, 0\): fields.external.E: ")

    def test_runs_are_compared(self):
        """Each in a colour, in every panel, its folder's name in the legend."""
        folders = [self.folder / name for name in ("slow", "fast")]
        for folder, rate in zip(folders, (0.1, 0.3)):
            folder.mkdir()
            write_history(folder / "history.csv", 1e-3 * np.exp(rate * T) + 0j)
        plt = look.import_pyplot(show=False)
        figure = energy.draw(plt, list(map(read_history, folders)), None, energy.ALL_TIMES, "")
        self.addCleanup(plt.close, figure)
        for axes in figure.axes:
            self.assertEqual([line.get_color() for line in axes.lines], look.CYCLE[:2])
        names = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
        self.assertEqual(names, ["slow mode (1, 0)", "fast mode (1, 0)"])
        self.assertEqual(self.run_it_well(folders[1], folder=folders[0]), "energy.png\n")
        self.assert_picture("energy.png")

    def test_kinetic_energies_of_species(self):
        self.path.write_text(
            f"{HEADER},a_kinetic_energy,b_kinetic_energy\n0,0,0,3,3,0,0,-1,1,2\n1,1,0,4,4,0,0,-1,5,-1\n"
        )
        lines = self.draw([])[0].figure.axes[2].lines
        found = {line.get_label(): list(line.get_ydata()) for line in lines}
        self.assertEqual(found, {"all": [0, 1], "of a": [0, 4], "of b": [0, -3]})

    def test_energy_of_the_mode_and_modes_of_round_off(self):
        """Beside the field energy is that of the first mode, area |rho|^2/k^2, where the run is electrostatic; a mode
        that is never above round-off is named and not drawn."""
        write_history(self.path, 1e-3 * np.exp(0.3 * T) + 0j)
        self.assertEqual(len(self.draw([(1, 0)])[0].lines), 1)  # without a config
        lengths = "grid:\n  length: [4, 6]\n  cells: [4, 4]\nfields:\n  gradient: spectral\n"
        for precision, height, seen in (("double", 1e-3, True), ("double", 9e-15, False), ("single", 9e-8, False),
                ("single", 2e-7, True)):
            (self.folder / "config.yaml").write_text(f"precision: {precision}\n{lengths}")
            write_history(self.path, height * np.exp(-0.3 * T) + 0j)
            energy, waves = self.draw([(1, 0)])
            self.assertEqual([len(waves.lines), len(energy.lines)], [1, 2] if seen else [0, 1])
            if seen:
                expected = 24 * (height * np.exp(-0.3 * T)) ** 2 / (np.pi / 2) ** 2
                np.testing.assert_allclose(energy.lines[1].get_ydata(), expected, rtol=1e-12)
            self.assertEqual(["round-off" in text.get_text() for text in waves.texts], [] if seen else [True])
        (self.folder / "config.yaml").write_text("precision: double\n" + lengths.replace("[4, 4]", "[2, 4]"))
        self.assertEqual(len(self.draw([(1, 0)])[0].lines), 1)  # the run has no E of Nyquist's mode

    def test_title(self):
        folder = self.folder / "my_run"
        folder.mkdir()
        self.assertEqual(read_title(folder), "my run")
        for line, title in (
            ('title: "Landau, k = 0.5"    # in plots', "Landau, k = 0.5"),
            (r'title: "a \"#\" and \\"', 'a "#" and \\'),
            ("title: 'it''s # here' # not", "it's # here"),
            ("title: plain words # not", "plain words"),
            ("title: for 5 $", r"for 5 \$"),
            ("title: # none", "my run"),
            ("title: untitled", "my run"),
            ("grid:\n  title: deeper", "my run"),
        ):
            (folder / "config.yaml").write_text(f"seed: 1\n{line}\nother: 2\n")
            self.assertEqual(read_title(folder), title)

    def test_picture(self):
        write_history(self.path, np.exp(-0.1 * T) * np.cos(T) + 0j)
        self.run_it_well("--fit-range", 2, 15)
        self.assert_picture("energy.png")
        self.run_it_well("--mode", 1, 0, "--output", "other.png", folder=self.path)
        self.assert_picture("other.png")

        self.path.write_text(HEADER + "\n0,0,0,1,1,0,0,-1\n")  # one row and no modes
        self.run_it_well()
        self.assert_picture("energy.png")

    def test_problems(self):
        self.assert_problem(words=["history.csv"])
        write_history(self.path, np.ones(3, complex), range(3))
        for arguments, word in (
            (["--mode", 5, 5], "no density mode 5 5"),
            (["--fit-range", 7, 8], "no row"),
            (["--output", self.folder / "no" / "x.png"], "cannot write"),
        ):
            self.assert_problem(*arguments, words=[word])
        self.assertEqual(self.run_script("plot_history.py").returncode, 2)


class PlotSnapshot(ScriptTest):
    script = "plot_snapshot.py"

    def setUp(self):
        super().setUp()
        (self.folder / "snapshots").mkdir()
        for step in (0, 10):
            write_snapshot(self.folder / "snapshots" / f"data_{step}.h5", step, 0.1 * step)

    def test_pictures(self):
        for arguments, name in (
            ("", "field.png"),
            ("--step all --si", "field.png"),
            ("--step 0 10 --mesh E/x E/x", "field.png"),
            ("--mesh phi", "phi.png"),
            ("--mesh E/x phi", "E_x_phi.png"),
            ("--phase-space electrons electrons --axis y", "phase_space_y.png"),
            ("--phase-space electrons --apart --log --limits 0.1 2", "phase_space.png"),
        ):
            self.run_it_well(*arguments.split())
            self.assertEqual([path.name for path in self.folder.glob("*.png")], [name])
            self.assert_picture(name)
        self.run_it_well("--output", "one.png", folder=self.folder / "snapshots" / "data_0.h5")
        self.assert_picture("one.png")
        self.assertEqual(self.run_it_well("--mesh", "E/x", "phi", "--movie", "both.gif"), "both.gif\n")

    def test_labels_have_units(self):
        for name, states, label, label_si in (
            ("E/y", 1, r"$E_y$ [$T / e \lambda_D$]", "$E_y$ [V/m]"),
            ("E/y", 4, r"$E_y$, mean of up to 4 states [$T / e \lambda_D$]", "$E_y$, mean of up to 4 states [V/m]"),
            ("my_ions_chargeDensity", 1, "charge density of my_ions [$e n_0$]", "charge density of my_ions [C/m$^3$]"),
            ("ions_density", 1, "density of ions [$n_0$]", "density of ions [1/m$^3$]"),
            ("ions_velocity/y", 1, "mean $v$ of ions [$v_{th}$]", "mean $v$ of ions [m/s]"),
            ("ions_velocity/z", 1, "mean $w$ of ions [$v_{th}$]", "mean $w$ of ions [m/s]"),
            ("ions_temperature", 1, "temperature of ions [$T$]", "temperature of ions [J]"),
        ):
            self.assertEqual(tuple(fields.mesh_label(name, si, states) for si in (False, True)), (label, label_si))

    def test_moments_and_lines(self):
        """Of the folders beside snapshots/, found by the mesh, and the lines stepwise."""
        settings = ("output.moments.every=20", "output.lines=[{name: axis, from: [0, 1], to: [6, 1], points: 7}]")
        self.run_well("run", "small.yaml", *sets(*settings))
        for inner, name in (("moments", "electrons_temperature"), ("lines", "axis_E/x")):
            for place, steps in ((self.folder / "out" / inner, "all"), (self.folder / "out", "last")):
                self.run_it_well("--mesh", name, "--step", steps, "--output", "picture.png", folder=place)
                self.assert_picture("picture.png")
        (row,) = fields.mesh_rows([fields.Snapshot(self.folder / "out" / "lines" / "data_0.h5")], ["axis_phi"], False)
        self.assertEqual((row.frames[0][0].shape, row.ranges, row.labels), ((7,), [(-0.5, 6.5)], [r"$s\;[\lambda_D]$"]))

    def test_what_is_read(self):
        path = self.folder / "snapshots" / "data_10.h5"
        snapshot = fields.Snapshot(path)
        values, origin, spacing = fields.read_mesh(snapshot, "E/x", si=False)
        self.assertEqual(values.shape, (6, 4))
        self.assertEqual(values[5, 3], 35)  # [along x, along y]
        np.testing.assert_array_equal(spacing, [1, 2])
        values, origin, spacing = fields.read_mesh(snapshot, "E/x", si=True)
        self.assertEqual((values[5, 3], *spacing), (3500, 0.5, 1))
        # place: (position + 0.25) * 0.5 m, in lengths of 0.5 m; velocity: momentum of two over the mass of one
        place, velocity, weight = fields.read_phase_space(snapshot, "electrons", "x", si=False)
        np.testing.assert_array_equal(place, [0.25, 1.25, 2.25, 3.25])
        np.testing.assert_array_equal(velocity, [-2, 0, 1, 4])
        np.testing.assert_array_equal(weight, [2, 2, 2, 2])
        snapshot.file.close()
        write_snapshot(path, 10, 1.0, transpose=True)
        values, _, spacing = fields.read_mesh(fields.Snapshot(path), "E/x", si=False)
        self.assertEqual((values.shape, values[5, 3], *spacing), ((6, 4), 35, 1, 2))

    def test_problems(self):
        snapshot = self.folder / "snapshots" / "data_10.h5"
        for arguments, words in (
            (["--step", 5], ["no snapshot of step 5", "0, 10"]),
            (["--mesh", "B/z"], ["no mesh B", "E/x, phi"]),
            (["--mesh", "E"], ["name one"]),
            (["--mesh", "E/z"], ["no component z", "E/x, phi"]),
            (["--phase-space", "ions"], ["no particles of ions", "electrons"]),
        ):
            self.assert_problem(*arguments, words=words)
        self.assert_problem(words=["nowhere"], folder=self.folder / "nowhere")
        snapshot.write_bytes(snapshot.read_bytes()[:1000])
        self.assert_problem(words=["not a whole HDF5 file"])
        h5py.File(snapshot, "w").close()
        self.assert_problem(words=["not an openPMD snapshot"])
        for arguments in ("", ". --step x", ". --mesh phi --phase-space e", ". --apart"):
            self.assertEqual(self.run_script("plot_snapshot.py", *arguments.split()).returncode, 2)


class CheckOpenpmd(ScriptTest):
    script = "check_openpmd.py"

    def test_problems(self):
        (self.folder / "text.h5").write_text("no HDF5 file")
        self.assert_problem(words=["is a folder", "snapshots/*.h5"])
        self.assert_problem(words=["none.h5 cannot be read: No such file or directory\n"], folder="none.h5")
        self.assert_problem(words=["text.h5", "not a whole HDF5 file\n"], folder="text.h5")
