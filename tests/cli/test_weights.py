"""Weights: of a density, where positions are even, and of a file; twins with as many particles as the weights say."""

import unittest

import h5py
import numpy as np

from program import CONFIG, ProgramTest, sets

COUNT, BOX, CELLS = 4096, (6, 4), (16, 8)
DOUBLE = ("precision=double", "output.history.every=1", "output.snapshots.every=5")
ELECTROMAGNETIC = (
    "fields={solver: electromagnetic, speed_of_light: 10}",
    "time.step=0.02",
    "deposit.shape=tsc",
    "species.electrons.velocities.dimensions=3",
)
FILE = "species.electrons.positions={file: %s.npy}"


class Weights(ProgramTest):
    def setUp(self):
        super().setUp()
        text = CONFIG.replace("    velocities: {kind: maxwellian}\n", "")
        (self.folder / "file.yaml").write_text("".join(line for line in text.splitlines(True) if "perturb" not in line))
        random = np.random.default_rng(7)
        self.weights = random.integers(0, 4, COUNT)  # some have none
        self.states = np.empty((COUNT, 6))
        self.states[:, :2] = random.random((COUNT, 2)) * BOX
        self.states[:, 2:5] = random.normal(size=(COUNT, 3))
        self.states[:, 5] = self.weights

    def save(self, name, states):
        names = "x y u v w weight".split()
        table = np.zeros(len(states), [(column, "<f8") for column in names])
        for n, column in enumerate(names):
            table[column] = states[:, n]
        np.save(self.folder / f"{name}.npy", table)

    def run_of(self, name, *settings, config="small.yaml", ranks=0, more=()):
        arguments = ["run", config, "--quiet", "--force", "--steps", 10, "--output", name, *more]
        arguments += sets(*DOUBLE, *settings)
        if ranks:
            self.run_well_on(ranks, *arguments)
        else:
            self.run_well(*arguments)
        return np.array([[float(text) for text in row.values()] for row in self.history(name)])

    def particles(self, name, step=10):
        with h5py.File(self.folder / name / "snapshots" / f"data_{step}.h5") as file:
            group = file[f"data/{step}/particles/electrons"]
            weight = group["weighting"]
            weight = weight[:] if isinstance(weight, h5py.Dataset) else np.full(COUNT, weight.attrs["value"])
            place = [group[f"position/{axis}"][:] + group[f"positionOffset/{axis}"][:] for axis in "xy"]
            return group["id"][:], np.array(place), weight

    def assert_twins(self, *settings):
        """Of particles with whole weights, and of as many particles in their places: both runs have one physics."""
        weights = "species.electrons.weights=file"
        weighed = self.run_of("weighed", *settings, FILE % "weighed", weights, config="file.yaml")
        count = f"species.electrons.particles={self.weights.sum()}"
        twin = self.run_of("twin", *settings, FILE % "twin", count, config="file.yaml")
        np.testing.assert_allclose(weighed, twin, rtol=1e-9, atol=1e-9)
        return weighed

    def save_twins(self):
        self.save("weighed", self.states)
        repeated = np.repeat(self.states, self.weights, axis=0)
        repeated[:, 5] = 1
        self.save("twin", repeated)

    def test_twins_of_every_step(self):
        self.save_twins()
        rows = [self.assert_twins(f"step.method={method}") for method in ("radix", "fused", "tiled")]
        for row in rows[1:]:
            np.testing.assert_allclose(row, rows[0], rtol=1e-9, atol=1e-9)
        momentum = 24 * (self.states[:, 2:4] * self.weights[:, None]).sum(0) / self.weights.sum()
        np.testing.assert_allclose(rows[0][0, 5:7], momentum, rtol=1e-9)

    def test_twins_with_a_current(self):
        self.save_twins()
        moments = "output.moments={every: 5, average: 3}"
        self.assert_twins(*ELECTROMAGNETIC, moments)
        with h5py.File(self.folder / "weighed/moments/moments_10.h5") as one, h5py.File(
                self.folder / "twin/moments/moments_10.h5") as other:
            names = []
            one["data/10/fields"].visititems(lambda name, item: names.append(name) if hasattr(item, "dtype") else None)
            for name in names:
                found, expected = one["data/10/fields"][name][:], other["data/10/fields"][name][:]
                size = np.abs(expected).max()
                np.testing.assert_allclose(found, expected, atol=1e-8 * size, err_msg=name)
        self.assertGreaterEqual(len(names), 10)

    def test_a_density(self):
        """Positions are those without a density. Weights are the density there, of waves and of formulas, with the
        mean of equal ones: the charge is that of the species, which the sums of waves of few particles miss."""
        self.run_of("even", "species.electrons.perturb={}")
        ids, place, equal = self.particles("even", 0)
        x, y = place * np.divide(BOX, CELLS)[:, None]
        wave = "{axis: %s, mode: %d, amplitude: %g}"
        for n, (setting, expected) in enumerate((
            (f"perturb.density=[{wave % ('x', 1, 0.5)}, {wave % ('y', 2, -0.9)}]",
             (1 + 0.5 * np.cos(np.pi * x / 3)) * (1 - 0.9 * np.cos(np.pi * y))),
            ("profile.density=1 + x*y", (1 + x * y) / 7),
            ("profile.density=x", x / 3),
        )):
            self.run_of(f"dense{n}", "species.electrons.perturb={}", f"species.electrons.{setting}",
                        "species.electrons.weights=density")
            own_ids, own_place, weights = self.particles(f"dense{n}", 0)
            np.testing.assert_array_equal(own_ids, ids)
            np.testing.assert_array_equal(own_place, place)
            np.testing.assert_allclose(weights / equal, expected / np.mean(expected), rtol=1e-6, atol=1e-6,
                                       err_msg=setting)
            np.testing.assert_allclose(np.sum(weights), np.sum(equal * np.ones(len(ids))), rtol=1e-9)

    def test_equal_weights_are_none(self):
        """A file of equal weights, with and without them: the same to round-off."""
        self.save_twins()
        self.states[:, 5] = 24 / COUNT
        self.save("equal", self.states)
        equal = self.run_of("equal", FILE % "equal", config="file.yaml")
        weighed = self.run_of("weighed", FILE % "equal", "species.electrons.weights=file", config="file.yaml")
        np.testing.assert_allclose(weighed, equal, rtol=1e-10, atol=1e-10)

    def test_ranks_and_restart(self):
        settings = ("species.electrons.weights=density", "output.checkpoints.every=5", "species.electrons.charge=-2")
        whole = self.run_of("whole", *settings)
        ids, place, weights = self.particles("whole")
        order = np.argsort(ids)
        for ranks, method in ((2, "radix"), (2, "fused"), (3, "auto")):
            again = self.run_of("ranks", *settings, f"step.method={method}", ranks=ranks)
            np.testing.assert_allclose(again, whole, rtol=1e-9, atol=1e-9)
            own_ids, own_place, own_weights = self.particles("ranks")
            own_order = np.argsort(own_ids)
            np.testing.assert_array_equal(own_weights[own_order], weights[order])
            np.testing.assert_allclose(own_place[:, own_order], place[:, order], atol=1e-6)
        self.run_well("run", "small.yaml", "--quiet", "--output", "part", "--steps", 5, *sets(*DOUBLE, *settings))
        self.run_well("run", "--quiet", "--restart", "latest", "--output", "part", "--steps", 10)
        self.assertEqual(self.read("part/history.csv"), self.read("whole/history.csv"))

    def test_snapshots_are_read_again(self):
        """Weights of a snapshot, of a sample too, whose weights grow, are weights of a species."""
        self.run_of("first", "species.electrons.weights=density", "output.snapshots.particles={every_nth: 4}")
        self.run_of("again", "species.electrons.particles=1024", "species.electrons.weights=file",
                    "species.electrons.positions={file: first/snapshots/data_10.h5}", config="file.yaml")
        weights, own = self.particles("first")[2], self.particles("again", 0)[2]
        np.testing.assert_allclose(np.sort(own), np.sort(weights) * own.sum() / weights.sum(), rtol=1e-6)

    def test_what_is_refused(self):
        weighs = "species.electrons.weights=density"
        axes = "axes: [{axis: u, bins: 4, range: [-1, 1]}]"
        for words, settings in (
            (["collisions.0.species: species electrons has weights"],
             ["species.electrons.velocities.dimensions=3", "collisions=[{species: [electrons, electrons]}]"]),
            (["output.phase_space.0.species: species electrons has weights"],
             [f"output.phase_space=[{{species: electrons, {axes}}}]"]),
            (["output.tracks.species: species electrons has weights"],
             ["output.tracks={every: 1, species: electrons, ids: [1]}"]),
        ):
            self.refuse(2, words, "run", "small.yaml", *sets(weighs, *settings))
        for weight, words in ((-1, "particle 5 has weight -1, expected a finite number of at least 0"),
                              (np.inf, "particle 5 has weight inf, expected a finite number of at least 0"),
                              (0, "expected a weight above 0, found 0 in all particles")):
            self.states[:, 5] = 0
            self.states[5, 5] = weight
            self.save("bad", self.states)
            self.refuse(2, [words], "run", "file.yaml", *sets(FILE % "bad", "species.electrons.weights=file"))
        np.save(self.folder / "none.npy", self.states[:, :4])
        self.refuse(2, ["none.npy: weight is missing"], "run", "file.yaml",
                    *sets(FILE % "none", "species.electrons.weights=file"))


if __name__ == "__main__":
    unittest.main()
