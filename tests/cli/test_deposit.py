"""The deposit and its filter: what check says of them, what a filter does to a history, and the key of an earlier
version."""

import math

import numpy as np

from program import ROOT, ProgramTest
from radixpic.history import read_history


class Deposit(ProgramTest):
    def test_check_says_it(self):
        text = self.run_well("check", "small.yaml").stdout
        self.assertRegex(text, r"(?m)^deposit +cell by cell, in a fixed order$")
        for passes, said in ((1, "1 binomial pass"), (3, "3 binomial passes")):
            text = self.run_well("check", "small.yaml", "--set", f"deposit.filter_passes={passes}").stdout
            self.assertRegex(text, rf"(?m)^deposit +cell by .* order; densities smoothed by {said}$")
        words = ["--set", "deposit.filter_passes=2", "--set", "deposit.filter_compensator=true"]
        text = self.run_well("check", "small.yaml", *words).stdout
        self.assertIn("smoothed by 2 binomial passes and a compensator\n", text)

    def test_the_method_of_an_earlier_version(self):
        """A file that says what every run does now is read, as stored configs of earlier runs are."""
        plain = self.run_well("check", "--full", "small.yaml").stdout
        for words in (["--set", "deposit.method=sorted"], ["--set", "deposit={method: sorted}"]):
            self.assertEqual(self.run_well("check", "--full", "small.yaml", *words).stdout, plain)
        for value in ("atomic", "[sorted]", "{sorted: 1}"):
            self.refuse(2, "deposit.method: this key no longer exists: every run deposits cell by cell", "check",
                "small.yaml", "--set", f"deposit.method={value}")

    def test_a_filter_in_the_history(self):
        """What docs/physics.md says: density and field energy are of the smoothed field, and the particles swing by
        more."""
        swings, modes = [], []
        for passes, compensator in ((0, "false"), (3, "false"), (3, "true")):
            settings = ["--set", "precision=double", "--set", f"deposit.filter_passes={passes}", "--force"]
            settings += ["--set", f"deposit.filter_compensator={compensator}"]
            config = ROOT / "configs" / "plasma_oscillation.yaml"
            self.run_well("run", config, "--quiet", "--steps", "70", "--output", "out", *settings)
            history = read_history(self.folder / "out")
            swings.append(np.ptp(history["kinetic_energy"]) / np.ptp(history["field_energy"]))
            modes.append(abs(history.mode((1, 0))[0]))
        let_through = math.cos(math.pi / 32) ** (2 * 3)  # cos(k dx/2), 32 cells to a wave
        for n, left in ((1, let_through), (2, let_through * (1 + 3 * math.sin(math.pi / 32) ** 2))):
            self.assertAlmostEqual(modes[n] / modes[0], left, delta=1e-9)
            self.assertAlmostEqual(swings[n] / swings[0], 1 / left, delta=1e-3)
