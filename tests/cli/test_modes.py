"""Modes of fields in the history (output.history.mode_fields): of initial waves, and as snapshots have them, by all
ways of the solvers, after restarts, and in the scripts. Field lists that are refused malformed_configs.txt has.
"""

import shutil
import unittest

import h5py
import numpy as np

from program import ProgramTest, sets
from radixpic.history import read_history

MODES = [(0, 0), (1, 0), (0, 2), (1, -2), (-1, 2), (8, -3), (-8, 1), (5, 4), (3, -4)]  # Nyquist's are 8 and 4
FOLLOWED = f"output.history.modes={[list(mode) for mode in MODES]}"
LIGHT = sets(
    'fields={solver: electromagnetic, speed_of_light: 10, initial: {E: [0, "0.2*cos(2*pi*x/lx)", 0.1], '
    'B: ["0.3*sin(4*pi*y/ly)", 0, "0.4*cos(2*pi*(x/lx - 2*y/ly)) + 0.5"]}}',
    "species.electrons.velocities={kind: maxwellian, dimensions: 3}",
    "time.step=0.02",
    FOLLOWED,
    "output.history.mode_fields=[rho, E, B]",
    "output.snapshots.fields=[rho, E, B]",
)
CHARGE = sets(FOLLOWED, "output.history.mode_fields=[E, rho]", "deposit.filter_passes=1")
FIELDLESS = "output.history.mode_fields=[rho]"
INITIAL = {  # of exp(i k x); each has its conjugate at -k
    "Ey": {(1, 0): 0.1},
    "Ez": {(0, 0): 0.1},
    "Bx": {(0, 2): -0.15j},
    "By": {},
    "Bz": {(0, 0): 0.5, (1, -2): 0.2, (-1, 2): 0.2},
}


class Modes(ProgramTest):
    def run_modes(self, *options, ranks=1, output="out"):
        arguments = ["run", "small.yaml", *options, "--quiet", "--output", output]
        self.run_well_on(ranks, *arguments) if ranks > 1 else self.run_well(*arguments)
        return read_history(self.folder / output)

    def test_of_initial_waves(self):
        history = self.run_modes(*LIGHT, "--steps", 0)
        for component, waves in INITIAL.items():
            for mode in MODES:
                if component == "Ey" and mode[1] != 0:
                    continue  # it has a part along the wave, of the charges
                found = history.mode(mode, component)[0]
                self.assertAlmostEqual(found, waves.get(mode, 0), delta=1e-6, msg=(component, mode))

    def check_against_snapshots(self, history, components, output="out"):
        """The sum over the nodes of the meshes, to round-off of fields of the order of 1."""
        self.assertEqual(list(history.modes_of), components)
        for row, step in enumerate(history["step"].astype(int)):
            if step not in (0, 10, 20, 23):
                continue
            with h5py.File(self.folder / output / "snapshots" / f"data_{step}.h5") as file:
                for component in components:
                    record = "chargeDensity" if component == "density" else "/".join(component)
                    values = file[f"data/{step}/fields/{record}"][...]
                    wanted = np.fft.fft2(values) / values.size
                    for mode, found in history.modes_of[component].items():
                        self.assertAlmostEqual(found[row], wanted[mode], delta=1e-14, msg=(component, mode, step))

    def test_against_snapshots(self):
        """Every way to solve; where ranks share the box each has some of the modes."""
        slabs, replicated = sets("fields.decomposition=slabs"), sets("fields.decomposition=replicated")
        centred = sets("fields.gradient=centred")
        electrostatic = (
            (1, []), (1, centred), (1, sets("fields.transforms=none")), (2, replicated), (3, slabs),
            (2, [*slabs, *centred]),
        )  # fmt: skip
        waves = ((1, []), (2, replicated), (3, slabs), (2, [*slabs, *sets("parallel.balance_every=4")]))
        for settings, components, ways in (
            (CHARGE, ["density", "Ex", "Ey"], electrostatic),
            (LIGHT, ["density", "Ex", "Ey", "Ez", "Bx", "By", "Bz"], waves),
        ):
            for number, (ranks, more) in enumerate(ways):
                if ranks > 1 and not shutil.which("mpirun"):
                    continue
                output = f"{len(components)}_{number}"
                with self.subTest(settings=settings, ranks=ranks, more=more):
                    options = [*settings, *sets("precision=double"), *more]
                    history = self.run_modes(*options, ranks=ranks, output=output)
                    self.check_against_snapshots(history, components, output)

    def test_a_run_without_them_has_the_same_other_columns(self):
        with_fields, without = self.run_modes(*LIGHT), self.run_modes(*LIGHT, *sets(FIELDLESS), output="new")
        self.assertEqual(list(without.modes_of), ["density"])
        for name in without:
            np.testing.assert_array_equal(with_fields[name], without[name], name)

    def test_a_restart_appends_the_same_columns(self):
        kept = sets("output.checkpoints.every=8")
        self.run_modes(*LIGHT, *kept, output="straight")
        self.run_modes(*LIGHT, *kept, "--steps", 15)
        self.run_well("run", "--restart", "out", "--steps", 23, "--quiet")
        self.assertEqual(self.read("out/history.csv"), self.read("straight/history.csv"))
        refused = self.run_program("run", "--restart", "out", "--steps", 30, *sets(FIELDLESS))
        self.assertEqual(refused.returncode, 2)
        self.assertIn("output.history.modes, mode_fields, species and work", refused.stderr)

    def test_scripts(self):
        """A wave of light: its frequency is sqrt(1 + c^2 k^2)."""
        alone = sets('fields.initial={E: [0, "0.2*cos(2*pi*x/lx)", 0]}', "output.snapshots.every=0")
        self.run_modes(*LIGHT, *alone, "--steps", 150, *sets("output.history.every=1"))
        fitted = self.run_script("fit_rate.py", "out", "--column", "Ey_1_0")
        self.assertEqual((fitted.returncode, fitted.stderr), (0, ""))
        self.assertRegex(fitted.stdout, r"Ey mode \(1, 0\)")
        self.assertRegex(fitted.stdout, r"frequency\n.* 10\.5[12]")
        self.assertRegex(fitted.stdout, r"theory, c k = 10\.472 .* 10\.5188")
        drawn = self.run_script("plot_history.py", "out", "--modes-of", "Ey", "--mode", 1, 0, "--output", "waves.png")
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))
        self.assert_script_fails("plot_history.py", "out", "--modes-of", "Ey", "--mode", 2, 0,
            words=["no Ey mode 2 0"])


if __name__ == "__main__":
    unittest.main()
