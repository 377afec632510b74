"""Runs with fields.solver: electromagnetic, from the outside: what is refused, what is written, and that ranks,
steppers and restarts agree. What the fields do is tested in tests/physics.
"""

import re
import shutil
import unittest

import h5py
import numpy as np

from program import ProgramTest, contents, sets

WAVES = """\
title: Waves
grid: {cells: [16, 9], length: [16, 9]}
time: {step: 0.05, steps: 12}
precision: double
species:
  - {name: electrons, charge: -1, mass: 1, density: 1, particles: 2000, velocities:
      {kind: formula, dimensions: 3, density: ["exp(-(u^2+v^2+u*v)/2)", 1, "exp(-w^2/2)"],
       range: [[-5, 5], [-5, 5], [-5, 4]]}}
  - {name: ions, charge: 1, mass: 100, density: 1, particles: 2000, push: false, positions: {bases: [2, 5]},
     velocities: {kind: cold, dimensions: 3}}
fields: {solver: electromagnetic, speed_of_light: 10,
         initial: {E: ["0.05", "0", "0.1*cos(2*pi*x/lx) - 0.02"], B: ["0", "y-y", "0.01*sin(2*pi*x/lx) + 0.03"]},
         magnetic: [0.3, -0.2, 0.4],
         external: {B: ["0.2*sin(2*pi*y/ly)", 0, "0.1*cos(2*pi*x/lx)*(1+t)"]}}
deposit: {shape: tsc, filter_passes: 1}
output:
  history: {every: 1, species: [all]}
  snapshots: {every: 6, fields: [E, B, phi, rho, J]}
  probes: [{name: centre, at: [8, 4.5], fields: [E, B, J]}]
  lines: [{name: across, from: [0, 4], to: [16, 4], points: 9, fields: [B], every: 12}]
  checkpoints: {every: 4, keep: 9}
"""

# Electrons of gamma = 5, which meet the seed's light as a wave of 22 - 47 waves along x, near the fastest of all.
BEAM = """\
grid: {cells: [47, 22], length: [23.5, 11]}
time: {step: 0.0159, steps: 700}
precision: double
species: [{name: electrons, charge: -1, mass: 1, density: 1, particles: 4136,
  positions: {kind: lattice, counts: [94, 44]}, velocities: {kind: cold, dimensions: 3, drift: [19.595918, 0, 0]}}]
fields: {solver: electromagnetic, speed_of_light: 20, mean: zero,
         initial: {B: [0, 0, "1e-6*cos(2*pi*(22*x/lx - 5*y/ly))"]}}
output: {history: {every: 10}}
"""

# Of 0.9 c across E = -v x B, which it does not feel; Omega dt = 2, so that steps are as long as they may be.
DRIFT = """\
grid: {cells: [16, 16], length: [1600, 1600]}
time: {step: 1, steps: 20}
species: [{name: electrons, charge: -1, mass: 1, density: 1, particles: 2000, charge_density: false,
  velocities: {kind: cold, dimensions: 3, drift: [9, 0, 0]}}]
fields: {solver: electromagnetic, speed_of_light: 10, external: {E: [0, "18", 0], B: [0, 0, "2"]}}
output: {history: {every: 1}, snapshots: {every: 20}}
"""

REFUSED = [
    (["time.step=0.2"], "time.step: expected at most 0.0707107, with a speed of light of 10 on such cells, found 0.2"),
    (["fields.speed_of_light=0"], "fields.speed_of_light: expected"),
    (["fields.speed_of_light=5"], "electrons.velocities: expected particles below the speed of light, 5"),
    (["species.electrons.velocities={kind: cold, dimensions: 3, drift: [6, 6, 6]}"], "expected particles below"),
    (["species.electrons.velocities.range=[[-7, 5], [0, 7], [0, 3]]"], "light, 10, found some near 10.3"),
    (["species.electrons.velocities={kind: cold}", "fields.magnetic=0"], "velocities in three dimensions, found 2"),
    (["species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [1, 2, 3]}"], "has one temperature"),
    (["species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [1, 1, 0]}"], "has one temperature"),
    (["species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [1e80, 1e80, 1e80]}"],
     "expected velocities of at most 1e+150, which the precision holds, found some near inf"),
    (["species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [1, 1, 2], drift: [1, 1, 0]}"],
     "expected a drift along one axis, since the temperatures differ, found 1, 1 and 0"),
    (["species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [1, 1, 1], drift: [6, 6, 6]}"],
     "electrons.velocities.drift: expected a drift below the speed of light, 10, found one of 10.3923"),
    (["fields.gradient=centred"], "fields.gradient: the electromagnetic solver has the spectral gradient alone"),
    (["fields.transforms=none"], "fields.transforms: the electromagnetic solver needs transforms"),
    (["fields={transforms: none}", "grid.cells=[256, 128]"], "none is for grids of up to 16384 nodes, found 32768"),
    (["fields={transforms: none, decomposition: slabs}"], "fields.transforms: slabs need transforms"),
    (["deposit.shape=cubic", "grid.cells=[16, 2]"], "deposit.shape: this shape takes 3 or more cells"),
    (["collisions=[{species: [electrons, electrons]}]"], "collisions are not relativistic"),
    (["fields.initial.E=[1, 2]"], "fields.initial.E: expected a list of 3"),
    (["fields.initial.B=[0, 1/(x-x), 0]"], "fields.initial.B: expected a finite number everywhere in the box"),
    (["fields.initial.E=[0, cos(2*pi*y/ly), 0]"], "fields.initial.E: expected div E = 0, since the charges make the"),
    (["fields.initial.B=[cos(2*pi*x/lx), 0, 0]"], "fields.initial.B: expected div B = 0, found 1 of the largest slope"),
    (["fields.initial.B=[x, 0, 0]"], "fields.initial.B: expected div B = 0"),  # it begins again at the end of the box
    (["fields.mean=zero"], "fields.initial.E: expected a mean of 0 with fields.mean=zero, found (0.05, 0, -0.02)"),
    (["fields={mean: zero}"], "fields.mean: is a key of solver electromagnetic"),
    (["fields={}", "step.pusher=vay"], "step.pusher: vay and higuera_cary are relativistic: they belong to the solver"),
    (["fields={}"], "output.probes.centre.fields: the electrostatic solver has no field B"),
    (["fields={initial: {E: [0, 0, 0]}}"], "fields.initial.E: is a key of solver electromagnetic"),
    (["fields={}", "species.ions.velocities={kind: juttner, dimensions: 3, thermal: [1, 1, 1]}"], "juttner belongs to"),
]


class Electromagnetic(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "waves.yaml").write_text(WAVES)

    def run_waves(self, folder, *settings, more=()):
        self.run_well("run", "waves.yaml", "--quiet", "--output", folder, *sets(*settings), *more)

    def run_alone(self):
        self.made_once("radix", lambda: self.run_waves("radix"))

    def loaded(self, folder):
        """Velocities of the electrons in order; half a step of a field, of which ranks sum the charge, is off them."""
        with h5py.File(self.folder / folder / "snapshots/data_0.h5") as file:
            momentum = file["data/0/particles/electrons/momentum"]
            velocities = np.array([momentum[axis][...] for axis in "xyz"])
        return velocities[:, np.lexsort(velocities)]

    def rows(self, folder):
        return np.genfromtxt(self.folder / folder / "history.csv", delimiter=",", names=True)

    def test_what_is_refused(self):
        for settings, sentence in REFUSED:
            with self.subTest(settings=settings):
                result = self.run_program("check", "waves.yaml", *sets(*settings))
                self.assertEqual(result.returncode, 2)
                self.assertIn(sentence, result.stderr)

    def test_what_is_right(self):
        """A mean of 0 where the nodes of the survey are not equidistant, and a div B of round-off alone."""
        for settings in (
            ["grid.cells=[700, 4]", "grid.length=[700, 4]", "time.step=0.01", "output={}", "fields.external={}",
             "fields.mean=zero", "fields.initial={E: [0, 0, 0.1*cos(2*pi*x/lx)]}"],
            ["fields.initial.B=[0.3*(sin(x)^2+cos(x)^2), 0, 0]"],
        ):
            with self.subTest(settings=settings):
                self.run_well("check", "waves.yaml", *sets(*settings))

    def test_formulas_are_evaluated_at_nodes_alone(self):
        for axis, (length, last) in {"x": (16, 15), "y": (9, 8)}.items():
            for group in ("initial", "external"):
                for place in (0, last, length):
                    with self.subTest(axis=axis, group=group, place=place):
                        field = f"fields.{group}.E=[0, 0, 1/({axis}-{place})]"
                        found = self.run_program("check", "waves.yaml", *sets(field)).stderr
                        said = "" if place == length else "E: expected a finite number everywhere in the box, found"
                        self.assertIn(said, found)
                        self.assertEqual(found == "", place == length, found)  # which is the first node

    def test_check_says_what_light_does(self):
        self.run_well("check", "waves.yaml", *sets("time.step=0.0707107"))  # the longest that it names
        result = self.run_well("check", "waves.yaml", *sets("output.history.modes=[[8, 0]]")).stdout
        self.assertRegex(result, r"speed of light +10 v_th, as at a temperature of 5110 eV\n")
        self.assertRegex(result, r"c dt/dx, c dt/dy +0.5, 0.5; time.step may be up to 0.0707107\n")
        self.assertRegex(result, r"skin depth +10, 10 cells\n")
        for settings, warning in (
            (["output.history.modes=[[8, 0]]"], "shortest wave in output.history.modes takes 4 steps for a period"),
            (["grid.length=[160, 90]"], "the skin depth of 10 is shorter than two cells of 10"),
        ):
            self.assertIn(warning, self.run_well("check", "waves.yaml", *sets(*settings)).stdout)
        units = self.run_well("check", "waves.yaml", *sets("fields.speed_of_light=auto", "units.temperature_eV=5110"))
        self.assertRegex(units.stdout, r"speed of light +(9\.9999|10)")

    def test_steppers_and_ranks_agree_and_a_restart_has_the_same_bits(self):
        self.run_alone()
        radix = self.rows("radix")
        self.assertGreater(radix["magnetic_energy"][-1], 0)
        drift = radix["total_energy"] / radix["total_energy"][0] - 1
        self.assertLess(np.abs(drift).max(), 1e-4)  # 9e-7 seen
        self.run_waves("again", more=["--restart", "radix/checkpoints/checkpoint_4.h5"])
        lines = self.read("radix/history.csv").splitlines()
        self.assertEqual(self.read("again/history.csv").splitlines()[1:], lines[5:])
        self.assertEqual(*(contents(self.folder / each / "snapshots/data_12.h5") for each in ("radix", "again")))
        self.run_waves("fused", "step.method=fused")
        self.assert_alike(radix, self.rows("fused"))
        self.run_waves("tiled", "step.method=tiled")
        self.assert_alike(radix, self.rows("tiled"))

    def test_tiles_by_direction_stage_six_fields(self):
        """On more than 1,024 cells, in single precision, by cic: sums of numbers that are rounded to 6e-8."""
        large = ["precision=single", "deposit.shape=cic", "grid.cells=[48,40]", "grid.length=[48,40]",
                 "species.electrons.particles=61440", "species.ions.particles=61440"]
        for method in ("radix", "tiled"):
            self.run_waves(method, f"step.method={method}", *large)
        for name in ("kinetic_energy", "magnetic_energy", "field_energy"):
            radix, tiled = (self.rows(method)[name] for method in ("radix", "tiled"))
            np.testing.assert_allclose(tiled, radix, rtol=1e-5, err_msg=name)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_ranks_agree_and_go_on_on_another_number(self):
        self.run_alone()
        balance = sets("parallel.balance_every=5", "parallel.threshold=1")
        self.run_well_on(3, "run", "waves.yaml", "--quiet", "--output", "ranks", *balance)
        half = ["--restart", "ranks/checkpoints/checkpoint_8.h5"]
        self.run_well_on(2, "run", "waves.yaml", "--quiet", "--output", "two", *half)
        radix = self.rows("radix")
        self.assert_alike(radix, self.rows("ranks"))
        np.testing.assert_allclose(*(self.loaded(folder) for folder in ("radix", "ranks")), rtol=0, atol=1e-12)
        self.assert_alike(radix[8:], self.rows("two"))
        self.assert_alike(*(np.genfromtxt(self.folder / each / "probes/centre.csv", delimiter=",", names=True)
                            for each in ("radix", "ranks")))
        for shape in ("cubic", "quartic"):
            result = self.run_on(2, "run", "waves.yaml", "--output", shape, *sets(f"deposit.shape={shape}"))
            self.assert_said(result, 2, "deposit.shape: this shape reaches more rows than several ranks exchange")

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_ranks_that_share_the_waves(self):
        """Checkpoints hold the same waves however many ranks have them, and any number goes on from them."""
        self.run_alone()
        slabs = sets("fields.decomposition=slabs", "parallel.balance_every=5", "parallel.threshold=1")
        one, waves = self.rows("radix"), self.waves("radix")
        for ranks in (2, 3):
            folder = f"slabs{ranks}"
            self.run_well_on(ranks, "run", "waves.yaml", "--quiet", "--output", folder, *slabs)
            self.assert_alike(one, self.rows(folder))
            self.assertEqual(self.waves(folder).shape, (5, 6 * 16 * 2))
            np.testing.assert_allclose(self.waves(folder), waves, rtol=0, atol=1e-16 * 16 * 9)
        np.testing.assert_allclose(*(self.loaded(folder) for folder in ("radix", "slabs3")), rtol=0, atol=1e-12)
        for folder, ranks, way in (("slabs3", 2, "slabs"), ("slabs2", 3, "replicated"), ("radix", 4, "slabs")):
            half = ["--restart", f"{folder}/checkpoints/checkpoint_8.h5", *sets(f"fields.decomposition={way}")]
            self.run_well_on(ranks, "run", "waves.yaml", "--quiet", "--output", f"more{ranks}{way}", *half)
            self.assert_alike(one[8:], self.rows(f"more{ranks}{way}"))
        again = ["--restart", "slabs3/checkpoints/checkpoint_4.h5", *slabs]
        self.run_well_on(3, "run", "waves.yaml", "--quiet", "--output", "again", *again)
        lines = self.read("slabs3/history.csv").splitlines()
        self.assertEqual(self.read("again/history.csv").splitlines()[1:], lines[5:])

    def waves(self, folder):
        with h5py.File(self.folder / folder / "checkpoints/checkpoint_8.h5") as file:
            return file["waves"][...]

    def assert_alike(self, expected, found):
        """Sums of 4,000 particles in another order, of numbers up to 3,000: 1e-15 of that a sum."""
        self.assertEqual(expected.dtype.names, found.dtype.names)
        for name in expected.dtype.names:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-10, atol=1e-9, err_msg=name)

    def test_numerical_cherenkov_radiation_is_warned_of(self):
        """With its growth: of first order in growth over frequency, to 10 % here, and of waves of any length, of which
        the box has some; and with a shape and a filter that end it. Where velocities spread, growth is that of
        d = a^3 <1/(d - D)^2>, of which the greatest here are roots by the plasma dispersion function."""
        (self.folder / "beam.yaml").write_text(BEAM)

        def said(*settings, gamma=5):
            text = self.run_well("check", "beam.yaml", *sets(*settings)).stdout
            return re.findall(
                rf"(?m)^warning: species electrons drifts with gamma = {gamma}, .* waves grow as exp\((.*) t\) at most;"
                r" take (deposit.shape=tsc) and (deposit.filter_passes=2)$", text)

        (alone, *_), = said()
        for settings, steps in ((), 700), (("deposit.shape=tsc",), 900):
            (growth, *cure), = said(*settings)
            settings = sets(*settings, f"time.steps={steps}")
            result = self.run_well("run", "beam.yaml", "--output", "beam", "--force", *settings)
            self.assertIn(f"exp({growth} t)", result.stdout)
            rows = self.rows("beam")[-20:]
            measured = np.polyfit(rows["time"], np.log(rows["magnetic_energy"]) / 2, 1)[0]
            self.assertLess(abs(measured / (0.95 * float(growth)) - 1), 0.05, (settings, measured))
            self.assertEqual(said(*cure), [])
        # Positrons of the same drift pull as hard: a^3 is twice that of electrons, and a background at rest adds none.
        electrons = BEAM[BEAM.index("{name: electrons"):BEAM.index("]\nfields:")]
        positrons = electrons.replace("electrons, charge: -1", "positrons, charge: 1")
        for drift, factor in ("19.595918", 2 ** (1 / 3)), ("0", 1):
            pair = BEAM.replace(electrons, f"{electrons}, {positrons.replace('19.595918', drift)}")
            (self.folder / "beam.yaml").write_text(pair)
            (together, *_), = said()
            self.assertLess(abs(float(together) / (factor * float(alone)) - 1), 0.02, drift)
            if factor > 1:
                self.run_well("run", "beam.yaml", "--output", "pair", *sets("time.steps=550"))
                rows = self.rows("pair")[-20:]
                measured = np.polyfit(rows["time"], np.log(rows["magnetic_energy"]) / 2, 1)[0]
                self.assertLess(abs(measured / (0.95 * float(together)) - 1), 0.05, measured)
        (self.folder / "beam.yaml").write_text(BEAM)
        warm = "{kind: maxwellian, dimensions: 3, thermal: [%g, %g, 1e-3], drift: [%g, 0, 0]}"
        for gamma, thermal, root in ((5, (0.01, 0.05), 0.584), (2, (0.125, 0.25), 0.280)):
            drift = 20 * (1 - gamma**-2) ** 0.5
            (growth, *_), = said(f"species.electrons.velocities={warm % (*thermal, drift)}", gamma=gamma)
            self.assertLess(abs(float(growth) - root), 0.02)
        self.assertEqual(said("species.electrons.velocities.drift=[12, 0, 0]"), [])  # gamma = 1.25
        self.assertEqual(said("species.electrons.velocities.drift=[0, 0, 19.595918]"), [])  # no grid along z

    def test_a_uniform_initial_b_turns_particles_as_fields_magnetic_does(self):
        """To the rounding of sums of weights; its energy counts, and it stays."""
        plain = "fields.initial.E=[0, 0, 0]", "fields.initial.B=[0, 0, 0]"
        self.run_waves("magnetic", *plain)
        self.run_waves("initial", plain[0], "fields.magnetic=0", "fields.initial.B=[0.3, -0.2, 0.4]")
        one, other = self.rows("magnetic"), self.rows("initial")
        for name in (f"{part}{axis}" for part in ("momentum_", "electrons_momentum_") for axis in "xyz"):
            np.testing.assert_allclose(other[name], one[name], rtol=0, atol=1e-9, err_msg=name)
        uniform = 144 * 10**2 * (0.3**2 + 0.2**2 + 0.4**2) / 2
        np.testing.assert_allclose(other["magnetic_energy"] - one["magnetic_energy"], uniform, rtol=1e-12)

    def test_juttner(self):
        """Mean gamma is K1(1/T)/K2(1/T) + 3 T at T = 0.25 c^2, and no direction is preferred."""
        juttner = "species.electrons.velocities={kind: juttner, dimensions: 3, thermal: [5, 5, 5]}"
        self.run_waves("out", juttner, "species.electrons.particles=20000", more=["--steps", "0"])
        with h5py.File(self.folder / "out/snapshots/data_0.h5") as file:
            momentum = file["data/0/particles/electrons/momentum"]
            u = np.array([momentum[axis][...] for axis in "xyz"]) / momentum.parent["mass"].attrs["value"]
        squares = (u**2).mean(axis=1)
        self.assertAlmostEqual(np.sqrt(1 + (u**2).sum(axis=0) / 100).mean(), 1.4673837, delta=1e-3)
        np.testing.assert_allclose(squares, squares.mean(), rtol=0.01)
        np.testing.assert_allclose(u.mean(axis=1), 0, atol=0.01 * np.sqrt(squares.mean()))

    def test_drifting_juttner(self):
        """Over the particles u_i v_j has the sum n' (h G^2 V_i V_j + T d_ij), u_i n' h G^2 V_i, gamma n' (h G^2 - T):
        n' = n/G is the density in the frame that drifts with V, G its gamma, h = K3(1/T)/K2(1/T) = 1.4673837 + T at
        T = 0.25 c^2, with c = 1. The means of quiet particles are right to 0.002, as is that of v to V."""
        for drift in ([3, -4, -6], [0, 0, 9.8], [9, 0, 0]):
            with self.subTest(drift=drift):
                folder = f"drift{drift[0]}"
                kind = f"{{kind: juttner, dimensions: 3, thermal: [5, 5, 5], drift: {drift}}}"
                juttner = f"species.electrons.velocities={kind}"
                still = "fields.magnetic=0", "fields.external={}", "fields.initial={}"
                self.run_waves(folder, juttner, *still, "species.electrons.particles=40000", more=["--steps", "0"])
                with h5py.File(self.folder / folder / "snapshots/data_0.h5") as file:
                    u = np.array([file["data/0/particles/electrons/momentum"][axis][...] for axis in "xyz"]) / 10
                boost, enthalpy, speed = 1 / np.sqrt(1 - np.dot(drift, drift) / 100), 1.7173837, np.array(drift) / 10
                gamma = np.sqrt(1 + (u**2).sum(axis=0))
                size = boost * enthalpy
                np.testing.assert_allclose((u / gamma).mean(axis=1), speed, atol=0.002)
                np.testing.assert_allclose(u.mean(axis=1), size * speed, atol=0.002 * size)
                self.assertAlmostEqual(gamma.mean() / (size - 0.25 / boost), 1, delta=0.002)
                np.testing.assert_allclose(
                    u @ (u / gamma).T / len(gamma), size * np.outer(speed, speed) + np.eye(3) * 0.25 / boost,
                    atol=0.002 * size)

    def test_juttner_of_two_temperatures(self):
        """Moments of all electrons as those of f in the rest frame, summed over a lattice of u', which the boost counts
        by 1 + V.v': of f = exp(-(1/a^2) sqrt(1 + u_x^2 + u_y^2 + (a u_z/b)^2)) with c = 1, and so of other axes."""
        middles = (np.arange(80) + 0.5) / 40 - 1
        for thermal, drift in (([5, 5, 10], [0, 0, 0]), ([5, 5, 10], [0, 0, -9]), ([5, 5, 10], [8, 0, 0]),
                               ([8, 2, 2], [9.5, 0, 0]), ([3, 6, 3], [0, 5, 0])):
            with self.subTest(thermal=thermal, drift=drift):
                kind = f"{{kind: juttner, dimensions: 3, thermal: {thermal}, drift: {drift}}}"
                still = "fields.magnetic=0", "fields.external={}", "fields.initial={}"
                self.run_waves("out", f"species.electrons.velocities={kind}", *still,
                               "species.electrons.particles=40000", more=["--force", "--steps", "0"])
                with h5py.File(self.folder / "out/snapshots/data_0.h5") as file:
                    u = np.array([file["data/0/particles/electrons/momentum"][axis][...] for axis in "xyz"]) / 10
                a, scales, speed = sorted(thermal)[1] / 10, np.array(thermal) / sorted(thermal)[1], np.array(drift) / 10
                s = np.reshape(np.meshgrid(*3 * [middles * np.sqrt((1 + 30 * a**2) ** 2 - 1)]), (3, -1))
                rest = s * scales[:, None]
                f, gamma = np.exp((1 - np.sqrt(1 + (s**2).sum(axis=0))) / a**2), np.sqrt(1 + (rest**2).sum(axis=0))
                f *= 1 + speed @ rest / gamma
                boost, axis = 1 / np.sqrt(1 - speed @ speed), np.argmax(np.abs(speed))
                rest[axis] = boost * (rest[axis] + speed[axis] * gamma)
                size = np.sqrt(1 + (rest**2).sum(axis=0))
                most = (f * size).sum() / f.sum()
                np.testing.assert_allclose(u.mean(axis=1), rest @ f / f.sum(), atol=0.003 * most)
                np.testing.assert_allclose(u @ (u / np.sqrt(1 + (u**2).sum(axis=0))).T / u.shape[1],
                                           rest @ (f * rest / size).T / f.sum(), atol=0.004 * most)

    def test_pushers_that_keep_the_drift_across_e_and_b(self):
        """u = gamma v from the start to the end, by every stepper, with dithers; Boris takes 1.4 times that."""
        (self.folder / "drift.yaml").write_text(DRIFT)
        expected = 1600**2 * 9 / np.sqrt(1 - 0.81)
        steppers = ("radix", "chunked", "tiled")
        for pusher, methods in {"boris": ("radix",), "vay": steppers, "higuera_cary": steppers}.items():
            for method in methods:
                with self.subTest(pusher=pusher, method=method):
                    folder = f"{pusher}-{method}"
                    of = sets(f"step.pusher={pusher}", f"step.method={method}", "precision=single")
                    self.run_well("run", "drift.yaml", "--quiet", "--output", folder, *of)
                    rows = self.rows(folder)
                    found = [rows[f"momentum_{axis}"] / expected for axis in "xyz"]
                    if pusher == "boris":
                        self.assertGreater(found[0].max(), 1.35)
                    else:
                        np.testing.assert_allclose(found[0], 1, rtol=1e-6)
                        np.testing.assert_allclose(found[1:], 0, atol=1e-6)
            with h5py.File(self.folder / folder / "snapshots/data_20.h5") as file:
                name = file["data/20/particles/electrons"].attrs["particlePush"]
                self.assertEqual(name, {"boris": b"Boris", "vay": b"Vay", "higuera_cary": b"other"}[pusher])

    def test_drives_do_their_work(self):
        """All energy comes from it, but for 1 % on a grid of 16 nodes, as in an electrostatic run."""
        self.run_waves("out", "fields.drive=[{axis: x, mode: 1, amplitude: 0.5, frequency: 1}]")
        rows = self.rows("out")
        gained = rows["total_energy"][-1] - rows["total_energy"][0]
        self.assertGreater(gained, 2)
        self.assertLess(abs(gained / rows["drive_work"][-1] - 1), 0.02)

    def test_snapshots_hold_the_fields(self):
        """div E is rho, and div B 0, to round-off, but at the Nyquist mode along x."""
        self.run_waves("out", "deposit.filter_passes=0")
        with h5py.File(self.folder / "out/snapshots/data_12.h5") as file:
            meshes = file["data/12/fields"]
            kx, ky = np.meshgrid(2 * np.pi * np.fft.fftfreq(16, 1), 2 * np.pi * np.fft.fftfreq(9, 1), indexing="ij")
            waves = {f"{name}{axis}": np.fft.fft2(meshes[f"{name}/{axis}"][...]) for name in "EB" for axis in "xyz"}
            rho = np.fft.fft2(meshes["chargeDensity"][...])
            rho[0, 0] = 0
            inside = np.abs(kx) < np.pi - 1e-9
            for name, source in (("E", rho), ("B", 0 * rho)):
                divergence = 1j * (kx * waves[name + "x"] + ky * waves[name + "y"])
                np.testing.assert_allclose(divergence[inside], source[inside], atol=1e-11, err_msg=name)
            self.assertEqual(meshes["J"].attrs["timeOffset"], -0.025)
            self.assertIn("electromagnetic", str(file["data/12/fields"].attrs["fieldSolverParameters"]))


if __name__ == "__main__":
    unittest.main()
