"""deposit.method and filter: what check says, restarts to the bit, ranks, and what is refused. That runs of both
methods agree tests/physics/test_methods.c shows."""

import math
import shutil
import unittest

import numpy as np

from program import ROOT, ProgramTest, sets
from radixpic.history import read_history

ATOMIC = sets("deposit.method=atomic")


class DepositMethod(ProgramTest):
    def run_to(self, folder, *options):
        self.run_well("run", "small.yaml", "--quiet", "--output", folder, *options)
        return self.history(folder)

    def assert_near(self, rows, expected, delta):
        self.assertEqual(len(rows), len(expected))
        for row, right in zip(rows, expected):
            for name, text in right.items():
                self.assertAlmostEqual(float(row[name]), float(text), delta=delta, msg=name)

    def test_check_says_it(self):
        text = self.run_well("check", "small.yaml").stdout
        self.assertRegex(text, r"(?m)^deposit +sorted: cell by cell, in a fixed order$")
        text = self.run_well("check", "--full", "small.yaml", *ATOMIC).stdout
        self.assertRegex(text, r"(?m)^deposit +atomic: particle by particle, 64 bits (at once|as two words of 32)$")
        self.assertRegex(text, r"(?m)^  method: atomic +# sorted: cell by cell; atomic: ")
        for passes, said in ((1, "1 binomial pass"), (3, "3 binomial passes")):
            text = self.run_well("check", "small.yaml", "--set", f"deposit.filter_passes={passes}").stdout
            self.assertRegex(text, rf"(?m)^deposit +sorted: .* order; densities smoothed by {said}$")
        text = self.run_well("check", "--keys").stdout
        self.assertRegex(text, r"(?m)^deposit\.method .*sorted.*atomic")

    def test_a_filter_in_the_history(self):
        """What docs/running.md says: density and field energy are of the smoothed field, and the particles swing by
        more."""
        swings, modes = [], []
        for passes in (0, 3):
            settings = ["--set", "precision=double", "--set", f"deposit.filter_passes={passes}", "--force"]
            config = ROOT / "configs" / "plasma_oscillation.yaml"
            self.run_well("run", config, "--quiet", "--steps", "70", "--output", "out", *settings)
            history = read_history(self.folder / "out")
            swings.append(np.ptp(history["kinetic_energy"]) / np.ptp(history["field_energy"]))
            modes.append(abs(history.mode((1, 0))[0]))
        let_through = math.cos(math.pi / 32) ** (2 * 3)  # cos(k dx/2), 32 cells to a wave
        self.assertAlmostEqual(modes[1] / modes[0], let_through, delta=1e-9)
        self.assertAlmostEqual(swings[1] / swings[0], 1 / let_through, delta=1e-3)

    def test_a_restart_ends_in_the_same_bits(self):
        often = [*ATOMIC, *sets("output.checkpoints={every: 10, keep: 9}")]
        for step in ("radix", "fused"):
            with self.subTest(step=step):
                options = [*often, "--set", f"step.method={step}", "--force"]
                straight = self.run_to("straight", *options)
                shutil.copytree(self.folder / "straight", self.folder / "again", dirs_exist_ok=True)
                state = "again/checkpoints/checkpoint_10.h5"
                self.run_well("run", "small.yaml", "--quiet", "--output", "again", *options[:-1], "--restart", state)
                self.assertEqual(self.history("again"), straight)

    def test_a_restart_may_change_it(self):
        straight = self.run_to("out", "--set", "precision=double", "--set", "output.checkpoints.every=10")
        arguments = ["--set", "precision=double", "--restart", "out/checkpoints/checkpoint_20.h5", "--quiet"]
        self.run_well("run", "small.yaml", "--output", "out", *arguments, *ATOMIC)
        self.assert_near(self.history(), straight, 1e-11)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_on_two_ranks(self):
        alone = self.run_to("alone", "--set", "precision=double")
        arguments = ["run", "small.yaml", "--set", "precision=double", *ATOMIC, "--force"]
        histories = []
        for _ in range(2):
            self.run_well_on(2, *arguments)
            histories.append(self.history())
            self.assert_near(histories[-1], alone, 1e-10)
        self.assertEqual(*histories)
