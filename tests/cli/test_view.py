"""The page of a run: its data are those of the files, it loads nothing, and a browser, where there is one, shows it."""

import base64
import json
import os
import re
import shutil
import signal
import unittest

from program import TIMEOUT, ProgramTest

import h5py
import numpy as np

import radixpic
from radixpic import page
from radixpic.pictures import Row

AXES = "[{axis: x, bins: 8, range: [0, 6]}, {axis: u, bins: 12, range: [-6, 6]}]"
OUTPUTS = f"""\
  phase_space: [{{species: electrons, axes: {AXES}, order: [u, x], every: 10}}]
  lines: [{{name: across, from: [0, 0], to: [6, 0], points: 17, fields: [E], every: 10}}]
  moments: {{every: 23, average: 7}}
"""
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


class View(ProgramTest):
    def setUp(self):
        super().setUp()
        config = (self.folder / "small.yaml").read_text().replace("title: Small", "title: a</script> b_c $d$")
        (self.folder / "small.yaml").write_text(config + OUTPUTS)
        self.run_well("run", "small.yaml", "--quiet")
        self.run = radixpic.Run(self.folder / "out")

    def data(self, **options):
        text = re.search(r'<script id="data" type="application/json">(.*)</script>', self.run.explore(**options).text)
        return json.loads(text[1])

    def values(self, frame, kind):
        levels = np.frombuffer(base64.b64decode(frame["data"]), kind)
        return frame["low"] + levels * (frame["high"] - frame["low"]) / 65535 if "low" in frame else levels

    def test_the_data(self):
        data = self.data()
        self.assertEqual((data["title"], data["steps"]), ("a</script> b_c $d$", [0, 10, 20, 23]))
        np.testing.assert_allclose(data["times"], [0, 1, 2, 2.3])
        there = {one["name"]: one for one in data["quantities"]}
        self.assertEqual(data["quantities"][data["second"]]["name"], "electrons_ux")
        for name, inner in (("E/x", "snapshots"), ("electrons_ux", "phase_space"), ("across_E/y", "lines"),
                            ("electrons_temperature", "moments")):  # fmt: skip
            one = there[name]
            self.assertEqual(one["steps"], self.run.steps(inner))
            for step, frame in zip(one["steps"], one["frames"]):
                own = self.run.field(name, step, inner=inner)
                own = own.T if name == "electrons_ux" else own  # positions go to the right
                tolerance = np.ptp(own) / 65535
                np.testing.assert_allclose(self.values(frame, "<u2"), own.ravel(), atol=tolerance, rtol=1e-6)
        self.assertEqual(there["electrons_ux"]["ranges"], [[0, 6], [-6, 6]])
        self.assertEqual(there["E/x"]["label"], [["E", 0], ["x", -1], [" [", 0], ["T / e λ", 0], ["D", -1], ["]", 0]])
        self.assertEqual(there["electrons_ux"]["axes"], ["x", "u"])
        for si, unit, flux in ((False, "n0 T", "n0 T vth"), (True, "Pa", "W/m2")):
            said = {one["name"]: "".join(text for text, _ in one["label"]) for one in self.data(si=si)["quantities"]}
            self.assertEqual(said["electrons_pressure/xy"], f"pxy of electrons, mean of up to 7 states [{unit}]")
            self.assertEqual(said["electrons_heatFlux/y"], f"qy of electrons, mean of up to 7 states [{flux}]")
            self.assertNotIn("mean", said["phi"])
            self.assertEqual([name for name, label in said.items() if "[" not in label], [])
        groups = {one["name"]: one for one in data["history"]["groups"]}
        history = self.run.history
        np.testing.assert_array_equal(self.values(data["history"]["times"], "<f4"), history["time"].astype("f4"))
        modes = groups["charge density modes"]
        self.assertEqual(modes["names"], ["mode (1, 0)", "mode (-2, 3)"])
        expected = np.abs(history.mode((-2, 3))).astype("f4")
        np.testing.assert_array_equal(self.values(modes["series"][1], "<f4"), expected)
        self.assertEqual([one["steps"] for one in self.data(frames=2)["quantities"]], [[0, 23]] * len(there))

    def test_particles_where_there_is_no_phase_space(self):
        shutil.rmtree(self.folder / "out" / "phase_space")
        shown = {one["name"]: one for one in self.data()["quantities"]}["electrons_xu"]
        self.assertEqual((shown["steps"], shown["shape"]), ([0, 10, 20, 23], [page.BINS, page.BINS]))
        density = self.values(shown["frames"][-1], "<u2")
        cell = np.prod([high - low for low, high in shown["ranges"]]) / page.BINS**2
        self.assertAlmostEqual(density.sum() * cell, 24, delta=0.1)  # particles of the density 1

        for inner in ("snapshots", "lines", "moments"):
            shutil.rmtree(self.folder / "out" / inner)
        data = self.data()
        self.assertEqual((data["steps"], data["quantities"]), ([0, 5, 10, 15, 20, 23], []))

    def test_large_planes_are_means(self):
        plane = np.arange(12.0 * 7).reshape(12, 7)
        row = Row([""], [[plane]], [(0, 12), (0, 7)], ("", ""), "")
        less = page.coarser(row, 4)
        np.testing.assert_array_equal(less.frames[0][0], plane[:, :6].reshape(4, 3, 3, 2).mean(axis=(1, 3)))
        self.assertEqual(less.ranges, [[0, 12], [0, 6]])

    def test_it_stands_alone(self):
        text = self.run.explore().text
        self.assertNotRegex(text, r"https?:|src=|href=|@import|url\(")
        self.assertEqual(text.count("</script>"), 2)
        frame = self.run.explore()._repr_html_()
        self.assertTrue(frame.startswith("<iframe srcdoc=") and frame.count("<") == 2)

    def test_hostile_folders(self):
        """What is in the place of a file, or in a file, ends by one sentence that names it, and not by a wait."""
        for folder in ("phase_space", "lines", "moments"):
            shutil.rmtree(self.folder / "out" / folder)
        shutil.copytree(self.folder / "out", self.folder / "whole")
        os.mkfifo(self.folder / "pipe")
        snapshot = "snapshots/data_10.h5"

        def replaced(name, target):
            (self.folder / "out" / name).unlink(missing_ok=True)
            (self.folder / "out" / name).symlink_to(target)

        def changed(make, *arguments, **options):
            """With another mesh of the same attributes."""
            with h5py.File(self.folder / "out" / snapshot, "r+") as file:
                fields = file["data/10/fields"]
                attributes = dict(fields["phi"].attrs)
                del fields["phi"]
                if made := make(fields, "phi", *arguments, **options):
                    made.attrs.update(attributes)

        dataset, virtual = h5py.Group.create_dataset, h5py.Group.create_virtual_dataset

        pipe = self.folder / "pipe"
        outer = h5py.VirtualLayout((16, 8), "f8")
        outer[...] = h5py.VirtualSource(pipe, "phi", (16, 8))
        not_held = "data_10.h5 does not hold the values of /data/10/fields/phi"
        for said, change in (
            ("history.csv: it is no regular file", lambda: replaced("history.csv", pipe)),
            ("history.csv: it is no regular file", lambda: replaced("history.csv", "/dev/zero")),
            ("history.csv: it has more than", lambda: os.truncate(self.folder / "out" / "history.csv", 1 << 34)),
            ("data_10.h5: it is no regular file", lambda: replaced(snapshot, pipe)),
            ("data_10.h5: it is no regular file", lambda: replaced(snapshot, "/dev/zero")),
            ("data_10.h5 is missing or is not", lambda: replaced(snapshot, "data_10.h5")),
            ("view.html: another thing than a file", lambda: replaced("view.html", pipe)),
            ("view.html: another thing than a file", lambda: replaced("view.html", self.folder / "small.yaml")),
            ("its link data/10/fields/phi", lambda: changed(h5py.Group.__setitem__, h5py.ExternalLink(pipe, "/phi"))),
            (not_held, lambda: changed(virtual, outer)),
            (not_held, lambda: changed(dataset, (16, 8), external=[(pipe, 0, 1024)])),
            (not_held, lambda: changed(dataset, (1 << 20, 1 << 20), chunks=(1024, 1024))),
            ("cannot show out/snapshots/data_10.h5: ", lambda: changed(dataset, data=np.array([b"a", b"b"]))),
            ("cannot show out/snapshots/data_10.h5: ", lambda: changed(dataset, (0, 8))),
        ):
            with self.subTest(said=said):
                shutil.rmtree(self.folder / "out")
                shutil.copytree(self.folder / "whole", self.folder / "out")
                change()
                signal.alarm(TIMEOUT)
                self.assert_script_fails("radixpic_view.py", "out", words=[said])
                signal.alarm(0)
        replaced("config.yaml", pipe)  # which has the title alone
        self.run_script("radixpic_view.py", "out")

    def test_names_of_controls_and_phones(self):
        text = self.run.explore().text
        self.assertIn('<meta name="viewport" content="width=device-width, initial-scale=1">', text)
        for control in re.findall(r"<(?:button|select|canvas|input)\b[^>]*>(?: \w+)*", text):
            self.assertRegex(control, r"aria-label=|role=\"img\"|type=\"checkbox\"> \w+|type=\"file\"")

    def test_refusals(self):
        (self.folder / "empty").mkdir()
        self.assert_script_fails("radixpic_view.py", "empty", words=["empty holds nothing to show"])
        self.assert_script_fails("radixpic_view.py", "none", words=["none is no folder of a run"])
        self.assert_script_fails("radixpic_view.py", "out", "-o", "no/x.html", words=["cannot write no/x.html"])
        result = self.run_script("radixpic_view.py", "out", "--frames", "0")
        self.assertEqual(result.returncode, 2)
        self.assertIn("expected a whole number of at least 1, found 0", result.stderr)

    @unittest.skipUnless(BROWSER, "no chromium is installed")
    def test_in_a_browser(self):
        printed = self.run_script("radixpic_view.py", "out").stdout
        self.assertEqual(printed, "out/view.html\n")
        address = f"{(self.folder / 'out' / 'view.html').as_uri()}#step=20&left=E/x&right=across_E/y"
        browser = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
            f"--user-data-dir={self.folder}/browser", "--window-size=1200,760"]
        shown = self.make(*browser, "--dump-dom", address)
        self.assertIn("<output>step 20, t = 2 / ω<sub>p</sub></output>", shown)
        self.assertIn("<h1>a&lt;/script&gt; b_c $d$</h1>", shown)
        found = re.findall(r"<small>(\S+) to (\S+)</small>", shown)
        ends = [float(text.replace("\N{MINUS SIGN}", "-")) for pair in found[:2] for text in pair]
        fields = self.run.field("E/x", 20), self.run.field("across_E/y", 20)
        np.testing.assert_allclose(ends, [end for field in fields for end in (field.min(), field.max())], rtol=1e-3)
        self.make(*browser, f"--screenshot={self.folder}/page.png", address)
        from PIL import Image

        with Image.open(self.folder / "page.png") as image:
            left = image.convert("RGB").crop((100, 90, 400, 400))
            self.assertGreater(len(left.getcolors(1 << 20)), 60)  # a plane in colours


if __name__ == "__main__":
    unittest.main()
