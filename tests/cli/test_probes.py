"""output.probes, output.lines and output.tracks: the values against a field that is known by formula and against the
snapshots beside them, on ranks, and across restarts, of which tests/faults/test_every_call.py has more."""

import csv
import os
import shutil
import unittest

import h5py
import numpy as np

from program import ProgramTest, sets
from radixpic import look, tracks

PROBES = "output.probes=[{name: between, at: [2.9, 1.3]}, {name: corner, at: [5.9, 3.8], fields: [rho, E], every: 5}]"
RUN = ["run", "small.yaml", "--quiet", *sets(PROBES, "output.checkpoints.every=6", "output.checkpoints.keep=9")]

# A cold lattice displaced by (a/k) cos(k x) in a uniform background oscillates as a whole, with E its displacement.
WAVE = """\
grid: {cells: [128, 4], length: [6, 1]}
time: {step: 0.05, steps: 40}
precision: double
species:
  - name: electrons
    charge: -1
    mass: 1
    density: 1
    particles: 8192
    positions: {kind: lattice, counts: [1024, 8]}
    perturb: {displacement: [{axis: x, mode: 1, amplitude: 0.001}]}
output: {directory: out, probes: [%s]}
"""


class ProbesTest(ProgramTest):
    def path(self, name, folder="out"):
        return self.folder / folder / "probes" / f"{name}.csv"

    def columns(self, name, folder="out"):
        rows = list(csv.reader(self.path(name, folder).read_text().splitlines()))
        return dict(zip(rows[0], np.array(rows[1:], dtype=float).T))

    def assert_same(self, folder, straight="straight", names=("between", "corner")):
        for name in ("history.csv", *(f"probes/{name}.csv" for name in names)):
            self.assertEqual(self.read(f"{folder}/{name}"), self.read(f"{straight}/{name}"), name)


class Values(ProbesTest):
    def test_a_known_field(self):
        """At places within cells, at both ends of the box, and later in the oscillation."""
        places = {"a": 0, "b": 0.731, "c": 2.2222, "d": 5.99, "e": 6}
        probes = ", ".join(f"{{name: {name}, at: [{x}, 0.37]}}" for name, x in places.items())
        (self.folder / "wave.yaml").write_text(WAVE % probes)
        self.run_well("run", "wave.yaml", "--quiet")
        k, most = 2 * np.pi / 6, 0.001
        for name, x in places.items():
            probe = self.columns(name)
            np.testing.assert_array_equal(probe["step"], range(41))
            time = np.cos(probe["time"])
            np.testing.assert_allclose(probe["Ex"], most / k * np.cos(k * x) * time, atol=3e-3 * most / k)
            np.testing.assert_allclose(probe["phi"], -most / k**2 * np.sin(k * x) * time, atol=3e-3 * most / k**2)
            np.testing.assert_allclose(probe["rho"], -1 - most * np.sin(k * x) * time, atol=5e-3 * most)
            np.testing.assert_allclose(probe["Ey"], 0, atol=1e-12)
        for column, values in self.columns("a").items():
            np.testing.assert_array_equal(values, self.columns("e")[column])

    def test_the_nodes_of_snapshots(self):
        """Between nodes, across both edges of the box; and the history is as without probes."""
        self.run_well("run", "small.yaml", "--quiet", "--output", "without")
        self.run_well(*RUN)
        self.assertEqual(self.read("out/history.csv"), self.read("without/history.csv"))
        self.assertEqual(list(self.columns("between")), ["step", "time", "Ex", "Ey", "phi", "rho"])
        self.assertEqual(list(self.columns("corner")), ["step", "time", "Ex", "Ey", "rho"])
        np.testing.assert_array_equal(self.columns("corner")["step"], [0, 5, 10, 15, 20, 23])
        names = {"Ex": "E/x", "Ey": "E/y", "phi": "phi", "rho": "chargeDensity"}
        for step in (0, 10, 20, 23):
            with h5py.File(self.folder / f"out/snapshots/data_{step}.h5") as file:
                data = file[f"data/{step}/fields"]
                meshes = {column: data[name][...].astype(float) for column, name in names.items()}
            for name, place in (("between", (2.9, 1.3)), ("corner", (5.9, 3.8))):
                probe = self.columns(name)
                (row,) = np.flatnonzero(probe["step"] == step)
                x, y = place[0] / 6 * 16, place[1] / 4 * 8
                i, j = int(x), int(y)
                for column in probe.keys() & names.keys():
                    low, high = (meshes[column][n % 16, [j, (j + 1) % 8]] @ [1 + j - y, y - j] for n in (i, i + 1))
                    self.assertAlmostEqual(probe[column][row], low * (1 + i - x) + high * (x - i), 13)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_ranks(self):
        """The same to the rounding of the sums of charge, also between the rows of two ranks and where rows change
        hands."""
        # of 16 rows, 2.9 is between the 8th and the 9th, and 5.9 between the last and the first
        options = [*RUN, *sets("precision=double", "parallel.balance_every=3", "parallel.threshold=1")]
        self.run_well(*options, "--output", "out")
        for ranks in (2, 3):
            self.run_well_on(ranks, *options, "--output", f"on{ranks}")
            for name in ("between", "corner"):
                for column, values in self.columns(name, f"on{ranks}").items():
                    np.testing.assert_allclose(values, self.columns(name)[column], rtol=0, atol=1e-12)


class Restarted(ProbesTest):
    def setUp(self):
        super().setUp()
        self.made_once("straight", lambda: self.run_well(*RUN, "--output", "straight"))

    def test_going_on(self):
        """From the end of a shorter run, from an older checkpoint, after rows that no checkpoint has, and in another
        folder."""
        self.run_well(*RUN, "--steps", "12")
        self.run_well(*RUN, "--restart", "latest")
        self.assert_same("out")
        older = ["--restart", "out/checkpoints/checkpoint_6.h5", *sets("output.checkpoints.every=0")]
        self.run_well(*RUN, *older, "--steps", "16")
        self.assertEqual(self.columns("between")["step"][-1], 16)
        self.run_well(*RUN, "--resume")
        self.assert_same("out")
        self.run_well(*RUN, "--restart", "out/checkpoints/checkpoint_12.h5", "--output", "branch")
        lines = self.path("between").read_text().splitlines()
        self.assertEqual(self.path("between", "branch").read_text().splitlines(), [lines[0], *lines[13:]])

    def test_other_probes(self):
        """One that is left out keeps its rows and is gone on with later; a new one begins where it is added; one that
        was added after the checkpoint goes; --force leaves none."""
        both = "{name: corner, at: [5.9, 3.8], fields: [rho, E], every: 5}, {name: new, at: [1, 1]}"
        corner = sets(f"output.probes=[{both}]")
        self.run_well(*RUN, "--steps", "12")
        kept = self.path("between").read_bytes().splitlines()[:13]  # without that of step 12
        self.run_well(*RUN, *corner, "--restart", "latest", "--steps", "18")
        self.assertEqual(self.path("between").read_bytes().splitlines(), kept)
        np.testing.assert_array_equal(self.columns("new")["step"], range(12, 19))
        self.run_well(*RUN, "--restart", "latest")
        np.testing.assert_array_equal(self.columns("between")["step"], [*range(12), *range(18, 24)])
        np.testing.assert_array_equal(self.columns("new")["step"], range(12, 18))
        self.run_well(*RUN, "--restart", "out/checkpoints/checkpoint_12.h5")
        self.assert_same("out")
        self.assertFalse(self.path("new").exists())
        (self.folder / "out/probes/notes.txt").touch()
        self.run_well(*RUN, *sets("output.probes=[]"), "--force")
        self.assertEqual(os.listdir(self.folder / "out/probes"), ["notes.txt"])

    def test_refused(self):
        """Rows that are missing or others, other columns, another place: nothing changes."""
        path = self.path("corner", "straight")
        lines = path.read_bytes().splitlines(keepends=True)
        command = [*RUN, "--output", "straight", "--restart", "latest"]
        for content, changes, words in (
            (lines[:4], [], "straight/probes/corner.csv"),
            ([*lines[:2], lines[2].replace(b"5", b"4"), *lines[3:]], [], "does not hold"),
            (None, [], "straight/probes/corner.csv"),
            (lines, ["output.probes.corner.fields=[E]"], "output.probes.corner.fields"),
        ):
            with self.subTest(words=words):
                path.unlink() if content is None else path.write_bytes(b"".join(content))
                before = self.everything("straight")
                self.assert_refused(self.run_program(*command, *sets(*changes)), 2, words)
                self.assertEqual(self.everything("straight"), before)
        path.write_bytes(b"".join(lines))
        result = self.run_program(*command, *sets("output.probes.corner.at=[1, 1]"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("output.probes.corner.at: the checkpoint has [5.9", result.stderr)
        path.unlink()
        self.refuse(2, "straight/probes/corner.csv", *RUN, "--output", "straight", "--resume")


LINES = "output.lines=[{name: across, from: [0, 1], to: [6, 1], points: 17, every: 10}, "
LINES += "{name: up, from: [5.9, 0], to: [1.4, 4], points: 40, fields: [rho, phi], every: 5}]"


class Lines(ProbesTest):
    def meshes(self, folder, step):
        """By name the arrays of a file of lines, its attributes below NAME@."""
        content = {}

        def visit(name, node):
            if isinstance(node, h5py.Dataset):
                content[name] = node[...]
            content.update({f"{name}@{key}": value for key, value in node.attrs.items()})

        with h5py.File(self.folder / folder / f"lines/data_{step}.h5") as file:
            file[f"data/{step}/fields"].visititems(visit)
        return content

    def steps(self, folder="out"):
        return sorted(int(path.stem[5:]) for path in (self.folder / folder / "lines").glob("data_*.h5"))

    def test_the_nodes_of_snapshots(self):
        """Along a row of nodes, from one edge of the box to the other."""
        self.run_well("run", "small.yaml", "--quiet", *sets(LINES))
        self.assertEqual(self.steps(), [0, 5, 10, 15, 20, 23])
        paths = [self.folder / f"out/lines/data_{step}.h5" for step in self.steps()]
        checked = self.run_script("check_openpmd.py", *paths)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        self.assertEqual({name for name in self.meshes("out", 15) if "@" not in name}, {"up_phi", "up_chargeDensity"})
        for step in (0, 10, 20, 23):
            lines = self.meshes("out", step)
            with h5py.File(self.folder / f"out/snapshots/data_{step}.h5") as file:
                for name in ("E/x", "E/y", "phi", "chargeDensity"):
                    nodes = file[f"data/{step}/fields/{name}"]
                    across = nodes[...][np.arange(17) % 16, 2]
                    np.testing.assert_allclose(lines[f"across_{name}"], across, rtol=1e-12, atol=1e-14)
                    self.assertEqual(lines[f"across_{name}@unitSI"], nodes.attrs["unitSI"])
            self.assertEqual(list(lines["up_phi@axisLabels"]), [b"s"])
            self.assertAlmostEqual(lines["up_phi@gridSpacing"][0] * 39, np.hypot(4.5, 4), 12)
            self.assertEqual((*lines["up_phi@lineFrom"], *lines["up_phi@lineTo"]), (5.9, 0, 1.4, 4))

    def test_the_rows_of_probes(self):
        """A point of a line has the bits of a probe there."""
        probe = "output.probes=[{name: end, at: [1.4, 4]}, {name: begin, at: [5.9, 0]}]"
        self.run_well("run", "small.yaml", "--quiet", *sets(LINES, probe))
        for step in (5, 20):
            lines = self.meshes("out", step)
            for name, column in (("phi", "phi"), ("chargeDensity", "rho")):
                for point, place in ((0, "begin"), (-1, "end")):
                    self.assertEqual(lines[f"up_{name}"][point], self.columns(place)[column][step])

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_ranks(self):
        options = ["run", "small.yaml", "--quiet", *sets(LINES, "precision=double")]
        self.run_well(*options)
        self.run_well_on(2, *options, "--output", "ranks")
        for step in self.steps():
            wanted, found = self.meshes("out", step), self.meshes("ranks", step)
            self.assertEqual(found.keys(), wanted.keys())
            for name in (name for name in wanted if "@" not in name):
                np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=1e-12)


NAMES = [f"{name}/{axis}" for name in ("positionOffset", "position", "momentum") for axis in "xy"] + ["momentum/z"]


class Tracks(ProbesTest):
    OPTIONS = ["run", "small.yaml", "--quiet", *sets("output.tracks={species: electrons, count: 5, every: 2}")]
    OPTIONS += sets("output.snapshots.every=4", "precision=double")
    OPTIONS += sets("species.electrons.velocities.dimensions=3", "fields.magnetic=[0.5, 0.2, 0.3]")

    def paths(self, folder="out"):
        """By id the rows (time, cell and offset along x and y, momenta), of all files in their order."""
        paths = {}
        names = [path.name for path in (self.folder / folder / "tracks").glob("data_*.h5")]
        for step in sorted(int(name[5:-3]) for name in names):
            with h5py.File(self.folder / folder / f"tracks/data_{step}.h5") as file:
                particles = file[f"data/{step}/particles/electrons"]
                columns = ["time", *NAMES]
                rows = np.array([particles[name][...] for name in columns]).T
                for number, row in zip(particles["track"][...], rows):
                    paths.setdefault(int(number), []).append(row)
        return {number: np.array(rows) for number, rows in paths.items()}

    def test_the_particles_of_snapshots(self):
        self.run_well(*self.OPTIONS, *sets("output.checkpoints.every=9"))
        files = sorted((self.folder / "out/tracks").glob("*.h5"))
        self.assertEqual([path.name for path in files], ["data_18.h5", "data_23.h5", "data_9.h5"])
        checked = self.run_script("check_openpmd.py", *files)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        paths = self.paths()
        self.assertEqual(sorted(paths), [0, 819, 1638, 2457, 3276])
        for step in (0, 4, 16, 20, 23):
            with h5py.File(self.folder / f"out/snapshots/data_{step}.h5") as file:
                particles = file[f"data/{step}/particles/electrons"]
                for number, rows in paths.items():
                    np.testing.assert_allclose(rows[:, 0], [*np.arange(0, 23, 2) * 0.1, 2.3], rtol=1e-12)
                    (j,) = np.flatnonzero(particles["id"][...] == number)
                    found = [particles[name][j] for name in NAMES]
                    np.testing.assert_array_equal(rows[step // 2 + step % 2, 1:], found)

    def conditional(self, more):
        keys = f"{{species: electrons, where: 'u > 2 && x < lx/2', every: 2, {more}}}"
        return [*self.OPTIONS, *sets(f"output.tracks={keys}", "output.snapshots.every=2",
            "output.checkpoints={every: 9, keep: 9}")]

    def chosen(self, keep, count):
        """By step the ids of the snapshots' particles that are followed: of more than count the lowest."""
        followed, ids = {}, set()
        for step in (*range(0, 23, 2), 23):
            with h5py.File(self.folder / f"out/snapshots/data_{step}.h5") as file:
                particles = file[f"data/{step}/particles/electrons"]
                x = (particles["positionOffset/x"][...] + particles["position/x"][...]) * 6 / 16
                fulfil = set(particles["id"][(particles["momentum/x"][...] > 2) & (x < 3)].tolist())
            ids = ids if keep else set()
            ids |= set(sorted(fulfil - ids)[: count - len(ids)])
            followed[step] = sorted(ids)
        return followed

    def followed(self, folder="out"):
        """By step the ids in the files."""
        found = {step: [] for step in (*range(0, 23, 2), 23)}
        for number, rows in self.paths(folder).items():
            for time in rows[:, 0]:
                found[round(10 * time)].append(number)
        return {step: sorted(ids) for step, ids in found.items()}

    def test_by_condition(self):
        """At each time those that fulfil it, or did before; and one that is kept has its place at every later time."""
        for keep, count in (("false", 300), ("true", 300), ("false", 20), ("true", 70)):
            self.run_well(*self.conditional(f"count: {count}, keep: {keep}"), "--force")
            wanted = self.chosen(keep == "true", count)
            self.assertEqual(self.followed(), wanted)
            numbers = [len(ids) for ids in wanted.values()]
            self.assertTrue(30 < numbers[0] < max(numbers) < 300 if count > 70 else max(numbers) == count, numbers)
            files = list((self.folder / "out/tracks").glob("*.h5"))
            checked = self.run_script("check_openpmd.py", *files)
            self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
            found = tracks.read_tracks(self.folder / "out")
            for number, path in zip(found.ids, found.x):
                places = [number in ids for ids in wanted.values()]
                np.testing.assert_array_equal(np.isfinite(path), places)

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_kept_particles_on_ranks_and_across_restarts(self):
        """A run goes on in another folder, so it has the ids from the checkpoint alone; more and fewer of them too."""
        options = self.conditional("count: 300, keep: true")
        self.run_well(*options)
        wanted = self.followed()
        self.assertLess(len(wanted[8]), len(wanted[23]))
        self.run_well_on(3, *options, "--output", "ranks", *sets("parallel.balance_every=3", "parallel.threshold=1"))
        self.assertEqual(self.followed("ranks"), wanted)
        later = {step: ids if step > 9 else [] for step, ids in wanted.items()}
        restart = ["--output", "again", "--restart", "out/checkpoints/checkpoint_9.h5", "--force"]
        self.run_well(*options, *restart)
        self.assertEqual(self.followed("again"), later)
        self.run_well_on(2, *options, *restart)
        self.assertEqual(self.followed("again"), later)
        self.run_well(*options, *restart, *sets("output.tracks.count=20"))
        self.assertEqual(set(map(tuple, list(self.followed("again").values())[5:])), {tuple(wanted[8][:20])})

    def test_a_condition_that_no_particle_fulfils(self):
        self.run_well(*self.conditional("count: 9"), *sets("output.tracks.where=u > 1e9"))
        (path,) = (self.folder / "out/tracks").glob("*_23.h5")
        checked = self.run_script("check_openpmd.py", path)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
        self.assertEqual(tracks.read_tracks(self.folder / "out").x.shape, (0, 0))
        self.assert_script_fails("plot_tracks.py", "out", words=["no particle fulfilled output.tracks.where"])

    @unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
    def test_ranks(self):
        options = [*self.OPTIONS, *sets("parallel.balance_every=3", "parallel.threshold=1", "step.method=fused")]
        self.run_well(*options)
        self.run_well_on(2, *options, "--output", "ranks")
        found, wanted = self.paths("ranks"), self.paths()
        self.assertEqual(found.keys(), wanted.keys())
        for number, rows in wanted.items():
            np.testing.assert_allclose(found[number], rows, rtol=0, atol=1e-11)

    def test_bad_configs(self):
        """More of them, of species without ids, malformed_configs.txt has."""
        for item, words in (
            ("species: ions, count: 5", "expected the name of a species"),
            ("species: electrons", "either ids or a count of particles, found neither"),
            ("species: electrons, ids: [1], count: 5", "found both"),
            ("species: electrons, ids: [4096]", "0 to 4095, found 4096"),
            ("species: electrons, ids: [7, 8, 7]", "found 7 twice"),
            ("species: electrons, ids: [-1]", "output.tracks.ids.0"),
            ("species: electrons, where: u > 1", "either ids or a count of particles, found neither"),
            ("species: electrons, where: u > 1, ids: [7]", "output.tracks.where: expected no condition beside ids"),
            ("species: electrons, where: q > 1, count: 7", 'position 1 of the formula: "q" is not known'),
            ("species: electrons, where: w > 1, count: 7", 'expected a formula of species electrons, found "w > 1"'),
            ("species: electrons, keep: true, count: 7", "output.tracks.keep: expected output.tracks.where beside it"),
        ):
            self.refuse(2, words, "check", "small.yaml", *sets(f"output.tracks={{{item}, every: 1}}"))


class PlotTracks(ProbesTest):
    def test_paths(self):
        """x over time and phase space; a path that leaves the box is broken there, and nothing is left out."""
        x = np.array([[1.0, 3.0, 5.0, 1.0], [5.0, 4.0, 3.0, 2.0]])
        paths = tracks.Tracks(np.arange(4.0), np.array([7, 9]), x, x, x + 10, x, None)
        plt = look.import_pyplot(show=False)
        self.addCleanup(plt.close, "all")
        for axes, seen in (("tx", [0, 1, 2, np.nan, 3]), ("xu", [1, 3, 5, np.nan, 1])):
            line, start = tracks.draw(plt, paths, axes, [7], (6, 6), "").axes[0].lines
            np.testing.assert_array_equal(line.get_xdata(), seen)
            self.assertEqual(list(start.get_xdata()), seen[:1])
        (axes,) = tracks.draw(plt, paths, "vy", None, (6, 6), "").axes
        self.assertEqual((len(axes.lines), axes.get_ylim()), (4, (0, 6)))
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["id 7", "id 9"])
        # the colours of many have a scale in the place of the legend
        many = paths._replace(ids=np.arange(100, 140), x=np.tile(x, (20, 1)), u=np.tile(x, (20, 1)))
        axes, scale = tracks.draw(plt, many, "tx", None, (6, 6), "").axes
        self.assertEqual(len(axes.lines), 80)
        marks = {text.get_text(): place for text, place in zip(scale.get_yticklabels(), scale.get_yticks())}
        self.assertEqual((marks["100"], marks["139"]), (0, 39))

    def test_script(self):
        self.run_well("run", "small.yaml", "--quiet", *sets("output.tracks={species: electrons, count: 3, every: 2}"))
        for arguments, name in (("", "tracks.png"), ("--axes t v --id 0", "tracks_tv.png")):
            self.assertEqual(self.run_script("plot_tracks.py", "out", *arguments.split()).stdout, f"out/{name}\n")
            self.assert_picture(f"out/{name}")
        for arguments, words in (
            ("out --id 1", "no track of particle 1 (there are: 0, "),
            ("out --axes x w", "no w"),
            (".", "holds no tracks/"),
        ):
            self.assert_script_fails("plot_tracks.py", *arguments.split(), words=[words])
        self.assertEqual(self.run_script("plot_tracks.py", "out", "--axes", "x", "x").returncode, 2)


if __name__ == "__main__":
    unittest.main()
