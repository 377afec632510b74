"""collisions: restarts, steppers and ranks, a wave that they damp, what check says of them, and what is refused."""

import math
import re
import unittest

import numpy as np

from program import DEVICE, ProgramTest, sets
from radixpic import Run, dispersion, fit

THREE = sets(
    "species.electrons.velocities={kind: maxwellian, dimensions: 3, generator: random, thermal: [1, 1, 0.5]}",
    "species.electrons.positions=random",
)
DENSE = sets("units={density_per_m3: 1.0e+27, temperature_eV: 100}", "output.snapshots.every=0")
COLLIDE = sets("collisions=[{species: [electrons, electrons], coulomb_log: 10}]")
AXES = "[{axis: u, bins: 60, range: [-6, 6]}, {axis: w, bins: 60, range: [-6, 6]}]"
PHASE_SPACE = sets(f"output.phase_space=[{{species: electrons, axes: {AXES}, every: 20}}]")

# Ions for the electrons to collide with, 16 in every cell, so that their density is that of the formula everywhere.
WAVE = f"""\
grid: {{cells: [32, 4], length: [31.41592653589793, 3.9269908169872414]}}
time: {{step: 0.4, steps: 90}}
species:
  - {{name: electrons, charge: -1, mass: 1, density: 1, particles: 524288,
     velocities: {{kind: maxwellian, dimensions: 3}}, perturb: {{density: [{{axis: x, mode: 1, amplitude: 0.03}}]}}}}
  - {{name: ions, charge: 1, mass: 1.0e+9, density: 1, particles: 2048,
     positions: {{kind: lattice, counts: [128, 16]}}, velocities: {{kind: cold, dimensions: 3}}}}
units: {{density_per_m3: 1.0e+27, temperature_eV: 55}}
collisions:
  - {{species: [electrons, ions], coulomb_log: 10}}
step: {{method: fused}}
device: {DEVICE}
output: {{directory: out, history: {{every: 1, modes: [[1, 0]]}}}}
"""


def langmuir_damping(k, nu):
    """Of electrons that scatter on fixed ions, by the linear kinetic equation.

    The part f_n of the distribution that goes as the Legendre polynomial P_n of the direction against k decays at the
    rate n (n + 1)/2 nu(v), where nu(v) = 3 sqrt(pi/2) nu/v^3 makes nu the rate of a slow stream of all electrons. The
    field drives f_1, motion couples neighbours: a continued fraction.
    """
    v, dv = np.linspace(0, 9, 1000, endpoint=False, retstep=True)
    v = v + dv / 2
    rate = 3 * math.sqrt(math.pi / 2) * nu / v**3

    def dielectric(w):
        w, ratio = w[:, None], 0  # ratio: f_n over f_(n - 1)
        for n in range(100, 1, -1):
            below = rate * n * (n + 1) / 2 - 1j * w + 1j * k * v * (n + 1) / (2 * n + 3) * ratio
            ratio = -1j * k * v * n / (2 * n - 1) / below
        first = rate - 1j * w + 1j * k * v * (0.4 * ratio + k * v / (3 * w))
        return 1 + 1j * math.sqrt(2 / math.pi) / 3 * (v**4 * np.exp(-v * v / 2) / (w * first)).sum(axis=1) * dv

    return -dispersion.newton(dielectric, [1 + 1.5 * k * k - 0.5j * nu])[0].imag


class Collisions(ProgramTest):
    def run_colliding(self, *options, ranks=1, output="out"):
        arguments = ["run", "small.yaml", *THREE, *DENSE, *COLLIDE, *options, "--quiet", "--output", output]
        self.run_well_on(ranks, *arguments) if ranks > 1 else self.run_well(*arguments)

    def check(self, *options):
        return self.run_well("check", "small.yaml", *THREE, *COLLIDE, *options).stdout

    def lines(self, *folders):
        """Those of their histories."""
        return [(self.folder / name / "history.csv").read_text().splitlines() for name in folders]

    def cooling(self, folder):
        """Of the temperature along x."""
        spreads = []
        for step in (0, 20):
            density, _, (edges,), _ = Run(self.folder / folder).phase_space("electrons_uw", step, "u")
            middle, share = (edges[1:] + edges[:-1]) / 2, density / density.sum()
            spreads.append((share * middle**2).sum() - (share * middle).sum() ** 2)
        return 1 - spreads[1] / spreads[0]

    def test_the_same_config_and_a_restart_have_the_same_bytes(self):
        method = sets("step.method=chunked")  # whose lists are in another layout than those of the next test
        self.run_colliding(*method, *sets("output.checkpoints.every=8"), output="whole")
        self.run_colliding(*method, output="again")
        self.run_well("run", "--restart", "whole/checkpoints/checkpoint_16.h5", "--output", "rest", "--quiet")
        whole, again, rest = self.lines("whole", "again", "rest")
        self.assertEqual(whole, again)
        self.assertEqual(whole[-2:], rest[-2:])

    def test_collisions_change_a_run_alike_by_any_stepper_and_on_any_ranks(self):
        """Electrons that are hotter along x than along z cool there, as without collisions they do not; chance is 0.3
        %."""
        more = [*sets("species.electrons.particles=65536", "species.electrons.perturb={}"), *PHASE_SPACE]
        strong = [*more, *sets("collisions.0.coulomb_log=40")]
        self.run_colliding(*strong)
        cooling = self.cooling("out")
        self.assertGreater(cooling, 0.03)
        energies = [float(row["kinetic_energy"]) for row in self.history()]
        self.assertAlmostEqual(energies[-1] / energies[0], 1, delta=0.01)
        for method in ("radix", "chunked"):
            self.run_colliding(*strong, *sets(f"step.method={method}"), ranks=2, output=method)
            self.assertAlmostEqual(self.cooling(method), cooling, delta=0.005, msg=method)
        self.run_colliding(*more, *sets("collisions=[]"), output="free")
        self.assertAlmostEqual(self.cooling("free"), 0, delta=0.005)

    def test_each_collision_is_for_the_time_before_it(self):
        """With every: 15 the first is at step 15, not at the start."""
        late = sets("collisions.0.every=15", "output.history.every=1")
        self.run_colliding(*late)
        self.run_colliding(*late, *sets("collisions=[]"), output="free")
        with_them, without = self.lines("out", "free")
        self.assertEqual(with_them[:16], without[:16])
        self.assertNotEqual(with_them[16], without[16])

    def test_a_langmuir_wave_is_damped_by_collisions_with_ions(self):
        """nu/2 for slow collisions and long waves, nu by the NRL Plasma Formulary: 2.91e-6 n L T^-1.5 over 5.64e4
        sqrt(n).

        Here, at k = 0.2 and nu = 0.04, theory has 0.80 of that: 1 - 2 k^2 is for the wave's length, the rest for slow
        electrons, which collide more than once a period. With the time step of the scheme the theory gives 0.8 % less.
        Six seeds were 2.6 % low on average, of four million electrons with a scatter of 1.5 %; the wave heats slow
        ones, which makes fewer of them (A. B. Langdon, Phys. Rev. Lett. 44, 575, 1980): with the amplitudes 0.06 and
        0.1 it was 6 and 11 %. So 10 % are allowed. Electrons do not collide with one another here: their viscosity,
        which this theory leaves out, would add 4 %.
        """
        self.assertAlmostEqual(langmuir_damping(0.05, 1e-4) / 0.5e-4, 1 - 2 * 0.05**2, delta=0.01)
        self.assertAlmostEqual(langmuir_damping(0.2, 1e-4) / (5.51074e-5 + 0.5e-4 * (1 - 2 * 0.2**2)), 1, delta=0.02)
        nu = 2.91e-6 * 1e21 * 10 * 55**-1.5 / (5.64e4 * math.sqrt(1e21))
        (self.folder / "wave.yaml").write_text(WAVE)
        self.run_well("run", "wave.yaml", "--quiet")
        wave, _ = fit.select(Run(self.folder / "out").history, start=5)  # when the transients of the start are over
        found, expected = -fit.fit(wave).gamma, langmuir_damping(0.2, nu)
        print(f"Langmuir wave, k = 0.2, nu = {nu:.4f}: damping {found:.5f}, kinetic theory {expected:.5f}")
        self.assertAlmostEqual(found, expected, delta=0.1 * expected)

    def test_check_tells_collision_times(self):
        """1/nu with nu = L/(3 (2 pi)^1.5 N_D m_ab (2 T/m)^1.5), T = (1 + 1 + 0.25)/3; N_D = 1 where L = 1."""
        units = sets("units={density_per_m3: 1.0e+18, temperature_eV: 100}", "collisions.0.coulomb_log=410825.60570247")
        text = self.check(*units)
        times = r"(?m)^collision time 1/nu +(\S+) of electrons with electrons; Coulomb logarithm 4\.108e\+05$"
        found = re.search(times, text)
        self.assertAlmostEqual(float(found[1]) / (3 * (2 * 3.14159265) ** 1.5 * 0.5 * 1.5**1.5), 1, delta=1e-3)
        strong = sets("time.step=1")
        self.assertNotIn("nu dt", self.check(*units, *strong, *sets("collisions.0.substeps=4")))
        dense = sets("units={density_per_m3: 1.0e+35, temperature_eV: 100}", "collisions.0.coulomb_log=auto")
        self.assertIn("Coulomb logarithm 1, the least of auto", self.check(*dense))
        pair, weak = "collisions of electrons with electrons: ", "of one collision makes anisotropies decay about"
        for settings, words in (
            (sets("collisions.0.every=2000"), rf"{pair}nu dt = .* or `every`"),
            (strong, rf"{pair}nu dt = 0\.023 {weak} 12 % too slowly; take collisions\.0\.substeps=4, or"),
            ([*strong, *sets("collisions.0.model=nanbu")], rf"{pair}.* {weak} 7 % too slowly; take .*substeps=2, or"),
            (sets("collisions.0.coulomb_log=10"), rf"{pair}nu t = \S+ at the end of the run is below 0\.01: "),
            (sets("collisions.0.every=24"), f"{pair}every = 24 is more than the 23 steps of the run, "),
            (sets("species.electrons.particles=500"), r"\S+ particles per cell of electrons: fewer than 8"),
        ):
            self.assertRegex(self.check(*units, *settings), rf"(?m)^warning: {words}")
            self.assertNotRegex(text, rf"(?m)^warning: {words}")

    def test_check_tells_what_one_collision_loses(self):
        """Of electrons in ions, at nu dt = 0.1: currents decay 11 % too slowly by Takizuka's and Abe's model, and by
        Nanbu's as in kinetic theory; temperatures approach each other 24 or 32 % too slowly, told where they do so in
        the run."""
        (self.folder / "wave.yaml").write_text(WAVE)
        coupling = 0.1 / 0.4 * 3 * (2 * math.pi) ** 1.5 * 4.11e11 * 55**1.5 * 1e27**-0.5
        pair, current = "electrons with ions: nu dt = 0.1 ", "currents decay about"
        energy = "temperatures approach each other about"
        for model, mass, steps, words in (
            ("takizuka_abe", 1836, 90, [f"{current} 11 % too slowly; take collisions.0.substeps=8"]),
            ("nanbu", 1836, 90, []),
            ("nanbu", 1836, 900, [f"{energy} 24 % too slowly; take collisions.0.substeps=18"]),
            ("takizuka_abe", 100, 90, [f"{current} 11 %", f"{energy} 32 %"]),
            ("nanbu", 25, 90, ["is above 0.01, and their rates are too low; by how much is not known"]),
        ):
            ions = sets(f"collisions.0.model={model}", f"species.ions.mass={mass}", f"time.steps={steps}",
                f"collisions.0.coulomb_log={coupling / (1 + 1 / mass)}")
            said = self.run_well("check", "wave.yaml", *ions).stdout
            said = [line for line in said.splitlines() if pair in line]
            self.assertEqual(len(said), len(words), said)
            for line, what in zip(said, words):
                self.assertIn(what, line)

    def test_what_is_refused(self):
        for settings, words in (
            (sets("collisions=[{species: [electrons, none]}]"), "name of a species, such as electrons, found none"),
            (sets("species.electrons.velocities={dimensions: 3}", "species.electrons.push=false"), "is not pushed"),
            (sets("collisions=[{species: [electrons, electrons]}, {species: [electrons, electrons]}]"), "once"),
            (sets("collisions=[{species: [electrons]}]"), "expected"),
            (sets("species.electrons.charge=0"), "species electrons has no charge"),
            (sets("collisions.0.coulomb_logarithm=3"), 'did you mean "coulomb_log"?'),
            (sets("collisions.0.coulomb_log=0"), 'above 0, or auto, found "0"'),
        ):
            self.refuse(2, ["collisions.", words], "check", "small.yaml", *THREE, *COLLIDE, *settings)


if __name__ == "__main__":
    unittest.main()
