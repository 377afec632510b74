"""The notebooks: each runs from a clone, and what is committed of it is small, whole, and of no machine."""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

from program import PROGRAM, ROOT

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MOST_BYTES = 400_000
MOST_COLUMNS = 100  # of code: a browser shows more only by scrolling
# What a test has smaller than the notebook, whose own checks hold all the same.
SMALLER = {
    "2_landau_damping": {"262144": "131072"},
    "3_two_stream": {"262144": "65536"},
    "5_magnetised_waves": {"131072": "32768"},
    "7_passes": {"2**20": "2**13", '"15"': '"1"', '"7"': '"1"'},
    "10_light": {"2000": "1000", "32768": "8192", "[1024, 32]": "[512, 16]"},
    "11_waves_in_B": {"1600": "800"},
    "17_collisions": {"131072": "65536"},
    "9_scan": {"65536": "32768"},
    "13_relativistic": {"32768": "16384"},
    "21_boosted": {"32768": "8192", '("tsc", 0), ("cic", 1), ': '("tsc", 0), '},
}
sys.path.insert(0, str(FOLDER))

import execute  # noqa: E402


def text_of(notebook):
    """All its text but the pictures, whose letters spell anything."""
    notebook = json.loads(json.dumps(notebook))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            for kind in [kind for kind in output.get("data", {}) if kind.startswith("image/")]:
                del output["data"][kind]
    return json.dumps(notebook)


def kinds(notebook):
    """What each code cell left: printed text and kinds of pictures."""
    outputs = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[output.get("name") or sorted(output.get("data", [])) for output in each] for each in outputs]


class Committed(unittest.TestCase):
    def of_each(self, check):
        self.assertTrue(NOTEBOOKS)
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                check(path, json.loads(path.read_text()))

    def test_they_are_small(self):
        self.of_each(lambda path, notebook: self.assertLessEqual(path.stat().st_size, MOST_BYTES))

    def test_they_say_nothing_of_a_machine(self):
        def check(path, notebook):
            found = re.findall(r"/(?:tmp|work|root|home)\b|20\d\d-\d\d-\d\dT|\d\d:\d\d:\d\d|iopub", text_of(notebook))
            self.assertEqual(found, [])
            self.assertEqual(set(notebook["metadata"]), {"kernelspec", "language_info"})
            self.assertEqual([cell["metadata"] for cell in notebook["cells"] if cell["metadata"]], [])

        self.of_each(check)

    def test_their_lines_of_code_are_short(self):
        def check(path, notebook):
            code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
            self.assertEqual([line for text in code for line in text.splitlines() if len(line) > MOST_COLUMNS], [])

        self.of_each(check)

    def test_they_have_a_solution_of_each_exercise(self):
        def check(path, notebook):
            parts = re.split(r"\n(?:## .*|</?details>)\n", "\n" + "".join(notebook["cells"][-1]["source"]))
            exercises, solutions = (re.findall(r"^(\d+)\. ", part, re.M) for part in parts[-4:-2])
            self.assertTrue(exercises)
            self.assertEqual(exercises, solutions)

        self.of_each(check)

    def test_they_have_prose_and_a_picture(self):
        def check(path, notebook):
            prose = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
            number = path.name.split("_")[0]
            self.assertRegex(prose[0], rf"^# {number}\. ")
            for heading in ("## Exercises", "## References"):
                self.assertIn(heading, prose[-1])
            self.assertGreater(sum(bool(re.search(r"^## ", text, re.M)) for text in prose), 3)
            left = kinds(notebook)
            self.assertTrue(any("image/png" in kind for cell in left for kind in cell), left)

        self.of_each(check)


class Written(unittest.TestCase):
    """Where execute.py writes: measured times differ in each run, so it leaves the notebook as it is."""

    def test_a_copy_has_the_outputs_unless_the_notebook_is_to_be_written(self):
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
        notebook = {"cells": [cell | {"source": "len(In)"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        with tempfile.TemporaryDirectory() as holder:
            path, copies = Path(holder, "n.ipynb"), Path(holder, "output")
            path.write_text(json.dumps(notebook))
            os.environ["IPYTHONDIR"] = holder
            with mock.patch.object(execute, "COPIES", copies), contextlib.redirect_stdout(io.StringIO()):
                execute.main([path])
                self.assertEqual(json.loads(path.read_text()), notebook)
                copy = (copies / path.name).read_text()
                output = json.loads(copy)["cells"][0]["outputs"][0]
                self.assertEqual((output["data"]["text/plain"], output["execution_count"]), (["2"], 1))
                execute.main([path], write=True)
                self.assertEqual(path.read_text(), copy)


class Run(unittest.TestCase):
    """In a tree of links to this one's folders, so that nothing is written here."""

    def setUp(self):
        for category in (DeprecationWarning, ResourceWarning):  # which unittest shows and Python does not
            warnings.simplefilter("ignore", category)

    def smaller(self, name, notebook):
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for many, few in SMALLER.get(name, {}).items():
            self.assertTrue(any(many in "".join(cell["source"]) for cell in code), many)
            for cell in code:
                cell["source"] = "".join(cell["source"]).replace(many, few)
        return notebook

    def check(self, path):
        with tempfile.TemporaryDirectory() as holder:
            tree = Path(holder).resolve()
            for name in ("configs", "kernels", "scripts"):
                (tree / name).symlink_to(ROOT / name)
            place = tree / "docs" / "notebooks"
            place.mkdir(parents=True)
            os.environ.update(RADIXPIC=PROGRAM, IPYTHONDIR=str(tree / "ipython"))
            before = json.loads(path.read_text())
            (tree / path.name).write_text(json.dumps(self.smaller(path.stem, before)))
            after = execute.executed(tree / path.name, place)
            self.assertEqual(kinds(before), kinds(after))
            self.assertNotIn("stderr", str(kinds(after)))
            self.assertEqual(sorted(os.listdir(place)), [])


for path in NOTEBOOKS:
    setattr(Run, f"test_{path.stem}", lambda self, path=path: self.check(path))

if __name__ == "__main__":
    unittest.main()
