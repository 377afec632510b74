"""Lab notes in configs/: run as they are, each gives the numbers on its top."""

import math
import unittest

import numpy as np

from program import ROOT, ProgramTest
from radixpic import Run, dispersion, fit


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

    def test_magnetised_wave(self):
        """The numbers on top follow from the formula; the run has those of grid and time step, with velocities out of the plane."""
        dt, gyration, along = 0.1, 0.8, math.cos(math.pi / 3) ** 2
        turn, g = math.sin(math.atan(gyration * dt / 2)) ** 2, 0.9935869 * dt**2 / 4
        squares = np.roots([1, -(turn + g * (1 - turn) + g * along * turn), g * along * turn])
        expected = np.sort(2 / dt * np.arcsin(np.sqrt(squares)))
        np.testing.assert_allclose(expected, [0.322366, 1.236694], atol=6e-7)
        history = self.result_of("magnetised_wave").history
        series = [history.mode((1, 0)).imag]  # then S S x - (s1 + s2) S x + s1 s2 x = 0 with S x = (x - (x before + x after)/2)/2
        for _ in range(2):
            x = series[-1]
            series.append((x[1:-1] - (x[:-2] + x[2:]) / 2) / 2)
        x, once, twice = series[0][2:-2], series[1][1:-1], series[2]
        (total, product), *_ = np.linalg.lstsq(np.array([once, -x]).T, twice, rcond=None)
        found = np.sort(2 / dt * np.arcsin(np.sqrt(np.roots([1, -total, product]))))
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        self.assertLess(np.ptp(history["total_energy"]), 0.01 * history["total_energy"][0])

    def test_driven_wave(self):
        """1/epsilon, which the grid changes by 1 %: the wave, the work, and the energy less the work."""
        k, omega, amplitude, area = 0.5, 1.2, 0.002, math.pi**2
        factor = dispersion.grid_factor([k, 0], [4 * math.pi / 32, 4 * math.pi / 32])
        answers = []
        for of_grid in (1, factor):
            answers.append(1 / (1 + of_grid * (complex(dispersion.dielectric(omega, k, [(1, 0, 1)])) - 1)))
        powers = [0.5 * omega * amplitude**2 * area * -answer.imag for answer in answers]
        for found, noted in zip((*map(abs, answers), *powers), (1.473, 1.484, 3.47e-5, 3.50e-5)):
            self.assertAlmostEqual(found / noted, 1, delta=1e-3)
        history = self.result_of("driven_wave").history
        time, work = history["time"], history["drive_work"]
        late = time >= 20
        wave = 2 * np.mean((history.mode((1, 0)) * np.exp(1j * omega * time))[late])  # i k times the electrons' field
        self.assertLess(abs(1 + wave / (1j * k * amplitude) - answers[1]), 0.06 * abs(answers[1]))
        self.assertAlmostEqual(np.polyfit(time[late], work[late], 1)[0], powers[1], delta=0.06 * powers[1])
        self.assertLess(np.ptp(history["total_energy"] - work), 0.04 * work[-1])

    def test_isotropisation(self):
        """Trubnikov's rate, which is that of Maxwellians along each axis: 3 % of the difference is what they are not, chance 1.3 %."""

        def rate(across, along):
            ratio = across / along - 1
            bracket = (ratio + 3) * math.atan(math.sqrt(ratio)) / math.sqrt(ratio) - 3
            return 10 / 12.99 / (8 * math.pi**1.5 * along**1.5) * bracket / ratio**2

        across, along, expected = 1.2, 0.6, [(1.2, 0.6)]
        for step in range(600):
            change = 0.1 * rate(across, along) * (across - along)
            across, along = across - change, along + 2 * change
            if (step + 1) % 100 == 0:
                expected.append((across, along))
        for found, noted in zip(expected[2::2], ((1.147, 0.706), (1.109, 0.781), (1.082, 0.837))):
            self.assertLess(np.abs(np.subtract(found, noted)).max(), 1e-3)
        run = self.result_of("isotropisation")
        for number, temperatures in enumerate(expected):
            met = []
            for axis in "uw":
                density, _, (edges,), _ = run.phase_space("electrons_uw", 100 * number, axis)
                middle, share = (edges[1:] + edges[:-1]) / 2, density / density.sum()
                mean = (share * middle).sum()
                met.append((share * (middle - mean) ** 2).sum() - (edges[1] - edges[0]) ** 2 / 12)
            self.assertLess(abs((met[0] - met[1]) - (temperatures[0] - temperatures[1])), 0.06 * 0.6, met)


if __name__ == "__main__":
    unittest.main()
