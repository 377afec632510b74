"""scripts/plot_phase_space.py: which meshes it draws, what is in the pictures, and its errors."""

import shutil
import unittest
from unittest import mock

import h5py
import numpy as np
from PIL import Image

from program import DEVICE, OneRunTest
from radixpic import fields, phase_space, pictures
from radixpic.look import import_pyplot
from radixpic.script import Problem

# 0.5 and 0.25 of the density in a box of 6 x 4; no particle is as fast as 9
PARTICLES = {"right": 12.0, "left": 6.0}
CONFIG = f"""\
title: Two beams
grid: {{cells: [16, 8], length: [6, 4]}}
time: {{step: 0.1, steps: 23}}
species:
  - {{name: right, charge: -1, mass: 1, density: 0.5, particles: 2048,
     velocities: {{kind: maxwellian, drift: [2, 0]}}}}
  - {{name: left, charge: -1, mass: 1, density: 0.25, particles: 2048,
     velocities: {{kind: maxwellian, drift: [-2, 0]}}}}
device: {DEVICE}
output:
  directory: out
  snapshots: {{every: 10}}
"""
ITEMS = """\
  phase_space:
    - {species: right, axes: [{axis: x, bins: 16, range: [0, 6]}, {axis: u, bins: 20, range: [-9, 9]},
       {axis: v, bins: 10, range: [-9, 9]}], order: [v, u, x], every: 5}
    - {species: right, axes: [{axis: x, bins: 16, range: [0, 6]}, {axis: u, bins: 16, range: [-9, 9]}], every: 10}
    - {species: left, axes: [{axis: x, bins: 16, range: [0, 6]}, {axis: u, bins: 16, range: [-9, 9]}], every: 5}
    - {species: right, axes: [{axis: u, bins: 18, range: [-9, 9]}, {axis: v, bins: 9, range: [-9, 9]}], every: 10}
    - {species: left, axes: [{axis: u, bins: 36, range: [-9, 9]}], every: 10}
    - {species: right, axes: [{axis: y, bins: 8, range: [0, 4]}], every: 15}
    - {species: left, axes: [{axis: y, bins: 2, range: [0, 4]}], every: 10}
"""
LENGTH, DENSITY = 7.43394e-5, 1e18  # m, 1/m^3: of the default units


class PlotTest(OneRunTest):
    config = CONFIG + ITEMS

    def setUp(self):
        self.plt = import_pyplot(show=False)

    def files(self, steps=None):
        paths = fields.find_snapshots(self.folder / "out", steps, "phase_space")
        return [fields.Snapshot(path) for path in paths]

    def assert_chosen(self, *expected, steps=None, names=None, axes=None):
        """Steps and meshes that are drawn, and the axes."""
        kept, axes, _ = phase_space.choose(self.files(steps), names, axes)
        names = [[mesh.name for mesh in meshes] for _, meshes in kept]
        self.assertEqual(names, names[:1] * len(names))
        self.assertEqual(([snapshot.step for snapshot, _ in kept], names[0], axes), expected)

    def panels(self, steps=None, names=None, axes=None, si=False, apart=False, **options):
        """The axes with curves or an image."""
        kept, axes, _ = phase_space.choose(self.files(steps), names, axes, apart)
        figure = pictures.draw(self.plt, phase_space.rows(kept, axes, si, apart), **options)
        self.addCleanup(self.plt.close, figure)
        return [axes for axes in figure.axes if axes.axison and axes.get_label() != "<colorbar>"]

    def integral(self, panel):
        image = panel.images[0]
        left, right, bottom, top = image.get_extent()
        values = image.get_array()
        return values.sum() * (right - left) * (top - bottom) / values.size

    def assert_integrals(self, expected, **choice):
        panels = self.panels(**choice)
        self.assertEqual(len(panels), len(expected))
        for panel, number in zip(panels, expected):
            self.assertAlmostEqual(self.integral(panel) / number, 1, delta=1e-5)

    def assert_problem(self, words, steps=None, names=None, axes=None):
        with self.assertRaises(Problem) as caught:
            self.panels(steps, names, axes)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def script(self, *arguments):
        return self.run_script("plot_phase_space.py", *arguments)

    def assert_noted(self, note, *arguments):
        result = self.script(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, note and f"plot_phase_space.py: {note}\n"), arguments)
        return result


class Choice(PlotTest):
    def test_one_mesh_of_each_species_by_default(self):
        for axes, names, drawn in (
            (None, ["left_xu", "right_xu"], "xu"),
            ("ux", ["left_xu", "right_xu"], "ux"),
            ("u", ["left_u", "right_uv"], "u"),
            ("uv", ["right_uv"], "uv"),
            ("vx", ["right_vux"], "vx"),
        ):
            self.assert_chosen([23], names, drawn, axes=axes)

    def test_axes_of_named_meshes(self):
        for names, axes in (
            (["right_vux"], "xu"),
            (["right_uv"], "uv"),
            (["right_uv", "left_u"], "u"),
            (["left_u", "right_vux", "left_u"], "u"),
            (["right_y"], "y"),
        ):
            self.assert_chosen([23], list(dict.fromkeys(names)), axes, names=names)

    def test_files_without_a_mesh_are_skipped(self):
        self.assert_chosen([0, 10, 20, 23], ["left_xu", "right_xu"], "xu", steps="all")
        self.assert_chosen([0, 5, 10, 15, 20, 23], ["left_xu"], "xu", steps="all", names=["left_xu"])
        self.assert_chosen([0, 15, 23], ["right_y"], "y", steps="all", names=["right_y"])
        self.assert_chosen([10], ["right_xu"], "xu", steps=[5, 10], names=["right_xu"])
        self.assert_chosen([5], ["left_xu"], "xu", steps=[5])  # right_vux has other bins
        _, _, notes = phase_space.choose(self.files([5]))
        self.assertEqual(notes, ["right_vux has other bins than left_xu: --mesh right_vux draws it alone"])
        self.assert_problem(["data_5.h5 has no mesh right_uv", "left_xu over x u"], [5], ["right_uv"])
        self.assert_problem(["none of the 2 files", "right_uv"], [5, 15], ["right_uv"])
        self.assert_problem(["no file has all of left_y, right_y", "--mesh left_y"], [10, 15], ["left_y", "right_y"])

    def test_what_cannot_be_drawn(self):
        there = ["left_u over u", "right_vux over v u x", "--mesh"]
        self.assert_problem(["right_xu", "right_vux", "both of right", "--mesh"], None, ["right_xu", "right_vux"])
        self.assert_problem(["left_xu is no function of x and v", *there], None, ["left_xu"], "xv")
        self.assert_problem(["no mesh is a function of x and y", *there], None, None, "xy")
        self.assert_problem(["other bins", "draw it alone, with --mesh"], None, ["right_vux", "left_xu"])


class Contents(PlotTest):
    def test_the_integral_is_the_number_of_particles(self):
        for axes in (None, "ux"):
            self.assert_integrals([18], axes=axes)
            self.assert_integrals(4 * [18], steps="all", axes=axes)
        for name, axes in (("right_xu", "xu"), ("left_xu", "xu"), ("right_vux", "xv"), ("right_uv", "uv")):
            number = PARTICLES[name.split("_")[0]]
            self.assert_integrals([number], names=[name], axes=axes)
            self.assert_integrals([number * DENSITY * LENGTH**2], names=[name], axes=axes, si=True)  # a metre along z

    def test_lines(self):
        for si, scale in ((False, 1), (True, DENSITY * LENGTH**2)):
            (panel,) = self.panels(axes="u", si=si)
            self.assertEqual([text.get_text() for text in panel.get_legend().get_texts()], ["left", "right"])
            for line, name, drift, bins in zip(panel.patches, ("left", "right"), (-2, 2), (36, 18)):
                values, edges, _ = line.get_data()
                shares = values * np.diff(edges) / scale / PARTICLES[name]
                self.assertEqual(len(values), bins)
                self.assertAlmostEqual(shares.sum(), 1, delta=1e-5)
                mean = np.sum(shares * (edges[1:] + edges[:-1]) / 2)
                self.assertAlmostEqual(mean / (4.19383e6 if si else 1), drift, delta=0.1)
        self.assertEqual(len(self.panels("all", ["right_y"])), 3)

    def test_axes_in_any_order(self):
        (file,) = self.files()
        plain, ranges = phase_space.Mesh(file, "right_xu").over("xu", False)
        summed, edges = phase_space.Mesh(file, "right_vux").over("xu", False)
        turned, turned_edges = phase_space.Mesh(file, "right_vux").over("ux", False)
        self.assertEqual((ranges, edges, turned_edges), ([(0, 6), (-9, 9)], ranges, ranges[::-1]))
        np.testing.assert_array_equal(turned, summed.T)
        # 20 and 16 bins over u have an edge in common every 4.5
        np.testing.assert_allclose(
            summed.reshape(16, 4, 5).sum(axis=2) * 18 / 20, plain.reshape(16, 4, 4).sum(axis=2) * 18 / 16, rtol=1e-5
        )

    def test_the_same_as_plot_snapshot(self):
        """Of the particles of the snapshot beside it; a few velocities round to the other side of an edge."""
        snapshot = fields.Snapshot(self.folder / "out" / "snapshots" / "data_20.h5")
        mesh = phase_space.Mesh(self.files([20])[0], "right_xu")
        for si in (False, True):
            values, ranges = mesh.over("xu", si)
            particles = fields.read_phase_space(snapshot, "right", "x", si)
            same = fields.phase_space_density(particles, 16, ranges, fields.weight_unit(snapshot, si))
            self.assertLess(abs(values - same).sum(), 0.01 * values.sum())
            (row,) = fields.particle_rows([fields.Snapshot(snapshot.path)], ["right"], "x", 16, si)
            (other,) = phase_space.rows([(snapshot, [mesh])], "xu", si)
            self.assertEqual((row.labels, row.label, row.times), (other.labels, other.label, other.times))
            sums = [np.sum(one.frames[0][0]) * np.prod(np.diff(one.ranges)) for one in (row, other)]
            self.assertAlmostEqual(sums[0] / sums[1], 1, delta=1e-4)

    def test_labels(self):
        for name, axes, unit, unit_si in (
            ("right_xu", "xu", r"$n_0\,\lambda_D/v_{th}$", r"$\mathrm{s}/\mathrm{m}^{3}$"),
            ("right_vux", "xu", r"$n_0\,\lambda_D/v_{th}$", r"$\mathrm{s}/\mathrm{m}^{3}$"),
            ("right_uv", "uv", r"$n_0\,\lambda_D^{2}/v_{th}^{2}$", r"$\mathrm{s}^{2}/\mathrm{m}^{3}$"),
            ("right_uv", "u", r"$n_0\,\lambda_D^{2}/v_{th}$", r"$\mathrm{s}/\mathrm{m}^{2}$"),
            ("right_y", "y", r"$n_0\,\lambda_D$", r"$1/\mathrm{m}^{2}$"),
        ):
            integral = r"$\int f" + "".join(rf"\,d{axis}" for axis in "xyuv" if axis not in axes) + "$"
            for si in (False, True):
                figure = self.panels(names=[name], axes=axes, si=si)[0].figure
                label = figure.axes[-1 if len(axes) == 2 else 0].get_ylabel()
                self.assertTrue(label.startswith(f"{integral} [{unit_si if si else unit}]"), label)

    def test_limits(self):
        panels = self.panels("all", ["left_xu"], limits=(0.1, 0.3))
        self.assertEqual([panel.images[0].get_clim() for panel in panels], [(0.1, 0.3)] * 6)
        self.assertEqual(self.panels(axes="u", limits=(1, 2))[0].get_ylim(), (1, 2))
        # the largest value of all times, on all panels
        panels = self.panels("all")
        most = max(panel.images[0].get_array().max() for panel in panels)
        self.assertEqual({panel.images[0].get_clim() for panel in panels}, {(0, most)})

    def test_ranges_of_panels(self):
        """One for all, so that growth is seen, or each panel's own where that is asked for; and in a movie one for
        all."""
        small = np.array([[-1e-3, 0], [5e-4, 0]])
        row = pictures.Row(["t = 0", "t = 1"], [[-500 * small], [small]], [(0, 1)] * 2, ("x", "y"), "E", signed=True)
        self.assertEqual(pictures.ranges_of(row, 2, None, False), [(-0.5, 0.5)] * 2)
        self.assertEqual(pictures.ranges_of(row, 2, None, False, own=True), [(-0.5, 0.5), (-1e-3, 1e-3)])
        self.assertEqual(set(pictures.ranges_of(row, 1, None, False, own=True)), {(-0.5, 0.5)})
        self.assertEqual(set(pictures.ranges_of(row, 2, (-1, 1), False)), {(-1, 1)})
        positive = row._replace(frames=[[np.array([[1.0, 1.001]])], [np.array([[1.0, 3.0]])]])
        self.assertEqual(pictures.ranges_of(positive, 2, None, False), [(1, 3)] * 2)
        self.assertEqual(pictures.ranges_of(positive, 2, None, False, own=True), [(1, 1.001), (1, 3)])
        panels = [axes for axes in pictures.draw(self.plt, [row], own=True).axes if axes.images]
        self.assertEqual([panel.get_title(loc="right") for panel in panels], [r"$\pm$0.5", r"$\pm$0.001"])

    def test_bins_of_particles(self):
        """As many as leave 100 particles in one on average, from 10 to 200 along each axis, or those asked for."""
        def bins(asked, apart=False):
            snapshot = fields.Snapshot(self.folder / "out" / "snapshots" / "data_20.h5")
            rows = fields.particle_rows([snapshot], ["left", "right"], "x", asked, False, apart)
            return rows[0].frames[0][0].shape

        self.assertEqual([bins(None), bins(7)], [(10, 10), (7, 7)])
        with mock.patch.object(fields, "IN_A_BIN", 4):
            self.assertEqual([bins(None), bins(None, apart=True)], [(32, 32), (22, 22)])  # 4096 and 2048 particles

    def test_apart(self):
        """A row of panels for each species; other bins are no obstacle."""
        self.assert_integrals([6, 6, 12, 12], steps=[0, 20], apart=True)
        self.assertEqual(len(self.panels([5], apart=True)), 2)
        for panel, name in zip(self.panels(axes="u", apart=True), ("left", "right"), strict=True):
            ((values, edges, _),) = [line.get_data() for line in panel.patches]
            self.assertEqual([text.get_text() for text in panel.get_legend().get_texts()], [name])
            self.assertAlmostEqual(values @ np.diff(edges), PARTICLES[name], delta=1e-4)

    def test_logarithmic(self):
        (panel,) = self.panels(axes="u", log=True)
        values = np.concatenate([line.get_data()[0] for line in panel.patches])
        self.assertEqual(panel.get_yscale(), "log")
        low, high = panel.get_ylim()
        self.assertTrue(0 < low <= values[values > 0].min() and values.max() <= high, (low, high))
        images = [panel.images[0] for panel in self.panels("all", log=True)]
        values = np.array([image.get_array() for image in images])
        self.assertEqual({image.get_clim() for image in images}, {(values[values > 0].min(), values.max())})
        self.assertEqual({type(image.norm).__name__ for image in images}, {"LogNorm"})
        row = pictures.Row(["t"], [[np.zeros((2, 2))]], [(0, 1)] * 2, ("x", "y"), "f")
        for array, words in ((row.frames[0][0], "none is positive"), (np.array([[-1.0, 1.0]]), "negative values")):
            with self.assertRaisesRegex(Problem, words):
                pictures.draw(self.plt, [row._replace(frames=[[array]])], log=True)


class Script(PlotTest):
    def test_pictures(self):
        for arguments, note in (
            ([], ""),
            (["--step", "all"], "2 of 6 files have no left_xu and right_xu and are skipped"),
            (["--step", "all", "--si", "--mesh", "right_y"], "3 of 6 files have no right_y and are skipped"),
            (["--axes", "u", "v", "--limits", "-1", "2"], ""),
            (["--axes", "u", "--step", "0", "10", "--si", "--log"], ""),
            (["--apart", "--log", "--title", "Apart"], ""),
        ):
            self.assert_noted(note, "out", *arguments, "--output", "picture.png")
            self.assert_picture("picture.png")
        for arguments, name in (
            (["out"], "out/f.png"),
            (["out", "--axes", "u"], "out/f_u.png"),
            (["out", "--mesh", "right_xu"], "out/right_xu.png"),
            (["out/phase_space/data_10.h5"], "out/phase_space/f.png"),
        ):
            self.assertEqual(self.script(*arguments).stdout, f"{name}\n")

    def test_movies(self):
        """A frame for each file, of planes and of lines, all of one size."""
        for options, frames, colours in (("--apart", 4, 128), ("--axes u --log --step 0 20", 2, 32)):
            self.assertEqual(self.script("out", *options.split(), "--rate", "4", "--movie", "f.gif").stdout, "f.gif\n")
            with Image.open(self.folder / "f.gif") as image:
                self.assertEqual((image.n_frames, image.info["duration"]), (frames, 250))
                seen = set()
                for number in range(frames):
                    image.seek(number)
                    frame = image.convert("RGB")
                    seen.add(frame.tobytes())
                    self.assertEqual(frame.getpixel((1, 1)), (255, 255, 255))  # the background, exactly
                    self.assertTrue(colours < len(frame.getcolors(1 << 16)) <= 256)
                self.assertEqual(len(seen), frames)

    def test_errors_are_sentences(self):
        for name in ("empty", "bare"):
            (self.folder / name).mkdir(exist_ok=True)
        shutil.copy(self.folder / "out" / "config.yaml", self.folder / "bare")
        for arguments, words in (
            (["nowhere"], "nowhere does not exist"),
            (["empty"], "empty holds no phase_space/data_*.h5"),
            (["bare"], "output.phase_space"),
            (["out", "--step", "7"], "out/phase_space has no file of step 7 (it has: 0, 5"),
            (["out", "--mesh", "nothing"], "right_xu over x u"),
            (["out", "--mesh", "right_xu", "right_vux"], "both of right"),
            (["out", "--mesh", "left_xu", "--movie", "no/f.gif"], "cannot write no/f.gif"),
            (["out/snapshots/data_10.h5"], "holds no phase space (its meshes: E, chargeDensity, phi)"),
            (["out/snapshots/data_10.h5", "--mesh", "phi"], "phi of out/snapshots/data_10.h5 is not a phase space"),
            (["out/snapshots/data_10.h5", "--mesh", "E"], "E of out/snapshots/data_10.h5 is not a phase space"),
            (["small.yaml"], "not a whole HDF5 file"),
        ):
            self.assert_script_fails("plot_phase_space.py", *arguments, words=[words])

    def test_meshes_that_are_no_phase_spaces(self):
        """A group, a dataset of too few axes, one over an axis of another program, and one without its unit."""
        path = self.folder / "other.h5"
        shutil.copy(self.folder / "out" / "phase_space" / "data_23.h5", path)
        with h5py.File(path, "r+") as file:
            meshes = file["data/23/fields"]
            good = dict(meshes["right_xu"].attrs)
            meshes.create_group("group").attrs.update(good)
            meshes.create_dataset("flat", data=np.ones(16)).attrs.update(good)
            wrong = {**good, "axisLabels": np.array([b"x", b"z"])}
            meshes.create_dataset("z", data=np.ones((16, 16))).attrs.update(wrong)
            del good["unitSI"]
            meshes.create_dataset("unit", data=np.ones((16, 16))).attrs.update(good)
        for name in ("group", "flat", "z", "unit"):
            words = [f"{name} of other.h5 is not a phase space\n"]
            self.assert_script_fails("plot_phase_space.py", "other.h5", "--mesh", name, words=words)
        self.assert_noted("", "other.h5")

    def test_usage(self):
        for arguments in (
            "--axes x x", "--axes x u v", "--axes z", "--limits 2 1", "--limits 0 nan", "--limits 1",
            "--limits 0 1 --log", "--movie f.gif --output f.png", "--movie f.gif --rate 0", "--step x",
        ):  # fmt: skip
            self.assertEqual(self.script("out", *arguments.split()).returncode, 2, arguments)
        self.assertEqual(self.script().returncode, 2)


class TheManualsItems(PlotTest):
    """As at the top of docs/phase_space.md: a mesh of all axes and one of x and u, of one species, which has w."""

    config = CONFIG.replace("drift: [2, 0]", "drift: [2, 0, 0], dimensions: 3") + """\
  phase_space:
    - {species: right, axes: [{axis: x, bins: 8, range: [0, 6]}, {axis: y, bins: 8, range: [0, 4]},
       {axis: u, bins: 10, range: [-9, 9]}, {axis: v, bins: 6, range: [-3, 3]}], order: [u, v, x, y], every: 10}
    - {species: right, axes: [{axis: x, bins: 8, range: [0, 6]}, {axis: u, bins: 12, range: [-9, 9]}], every: 10}
"""

    def test_default(self):
        self.assert_chosen([23], ["right_xu"], "xu")
        self.assert_chosen([0, 10, 20, 23], ["right_uvxy"], "xy", steps="all", axes="xy")
        self.assert_integrals([12])
        (panel,) = self.panels(axes="xy")  # of those with |v| below 3 only
        self.assertAlmostEqual(self.integral(panel), 12 * 0.9973, delta=0.1)

    def test_labels_say_over_what_is_summed(self):
        def labels(*species, **options):
            snapshot = fields.Snapshot(self.folder / "out" / "snapshots" / "data_20.h5")
            return [row.label for row in fields.particle_rows([snapshot], species, "x", 16, False, **options)]

        for said in (*labels("right"), *labels("left", "right"), self.panels()[0].figure.axes[-1].get_ylabel()):
            self.assertTrue(said.startswith(r"$\int f\,dy\,dv\,dw$ ["), said)
        self.assertTrue(labels("left")[0].startswith(r"$\int f\,dy\,dv$ ["))
        self.assertEqual(["dw" in label for label in labels("left", "right", apart=True)], [False, True])


class OtherRanges(PlotTest):
    """As many bins of both species, but over half of x for one: they are not summed."""

    config = CONFIG + """\
  phase_space:
    - {species: right, axes: [{axis: x, bins: 8, range: [0, 6]}, {axis: y, bins: 8, range: [0, 4]}]}
    - {species: left, axes: [{axis: x, bins: 8, range: [0, 3]}, {axis: y, bins: 8, range: [0, 4]}]}
"""

    def test_default(self):
        self.assert_chosen([23], ["left_xy"], "xy")
        self.assert_problem(["right_xy has other bins"], None, ["left_xy", "right_xy"])
        self.assert_noted("right_xy has other bins than left_xy: --mesh right_xy draws it alone", "out")


class OneAxisOnly(PlotTest):
    config = CONFIG + """\
  phase_space:
    - {species: right, axes: [{axis: u, bins: 16, range: [-9, 9]}]}
    - {species: left, axes: [{axis: y, bins: 4, range: [0, 4]}]}
"""

    def test_default(self):
        self.assert_chosen([23], ["right_u"], "u")
        self.assert_chosen([23], ["left_y"], "y", axes="y")
        self.assert_noted("", "out")


if __name__ == "__main__":
    unittest.main()
