"""Lab notes in configs/: run as they are, each gives the numbers on its top."""

import sys
import unittest

import numpy as np

from program import ROOT, ProgramTest

sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True

from radixpic import Run, dispersion, fit  # noqa: E402


class LabNotes(ProgramTest):
    def result_of(self, name):
        self.run_well("run", ROOT / "configs" / f"{name}.yaml", "--quiet", "--output", "out")
        return Run(self.folder / "out")

    def test_ion_acoustic(self):
        """The root of the kinetic dispersion relation; ions with a ten-thousandth of the electrons' velocity are cold."""
        gamma, omega = dispersion.roots(0.5, [(1, 0, 1), (1 / 100, 0, 1e-4)])[0]
        self.assertAlmostEqual(gamma, -0.00200, delta=5e-6)
        self.assertAlmostEqual(omega, 0.04464, delta=5e-6)
        run = self.result_of("ion_acoustic")
        time = 0.25 * np.array(run.steps())
        ions = np.array([np.fft.fft(run.field("ions_chargeDensity", step).mean(axis=1))[1] for step in run.steps()])
        wave = ions / ions[0].real
        expected = np.exp(gamma * time) * (np.cos(omega * time) - gamma / omega * np.sin(omega * time))
        self.assertLess(abs(wave - expected).max(), 0.06)  # 0.027 on a CPU
        found = fit.fit(fit.Wave(time, wave.real[:, None], 1))
        self.assertAlmostEqual(found[0], gamma, delta=0.2 * abs(gamma))
        self.assertAlmostEqual(found[1], omega, delta=0.02 * omega)


if __name__ == "__main__":
    unittest.main()
