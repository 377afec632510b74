#!/usr/bin/python3
"""scripts/fit_scaling.py: constants that made a file are found in it, predictions follow, errors in a sentence."""

import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "fit_scaling.py"
HEADER = "bench,device,case,quantity,median,min,max,repeats,verified"
TRUE = {
    "particle": 2e-11,
    "step": 3e-5,
    "node": 5e-12,
    "solve": 2e-5,
    "node_slabs": 4e-10,
    "byte": 5e-11,
    "leaving": 8e-11,
    "transfer": 1.5e-5,
    "message": 2e-6,
    "ranks": 9e-5,
}


def stages(ranks, rows, ny, particles, leavers, decomposition):
    """Seconds of the stages of a step and of the step, single precision, 2 ghost rows; every term by itself."""
    c = TRUE
    nx, row, depth = rows * ranks, 4 * ny, math.log2(rows * ranks * ny)
    push = particles * c["particle"] + c["step"]
    field = nx * ny * depth * c["node"] + c["solve"]
    if decomposition == "slabs":
        columns = math.ceil((ny // 2 + 1) / ranks)
        modes = max(rows * (ny // 2 + 1), nx * columns)
        field = (rows * ny / 2 + nx * columns) * depth * c["node_slabs"]
        field += 48 * modes * (ranks - 1) / ranks * c["byte"] + 3 * (ranks - 1) * c["message"]
    times = {"deposit": 0.3 * push, "push": 0.7 * push, "field": field}
    wall = push + field
    if ranks > 1:
        beside = 5 if rows + 5 < nx else nx - rows
        others, states = math.log2(ranks) * c["message"], 48 * leavers * c["leaving"] + 4 * c["message"]
        halo = (rows + 3) * row * c["byte"]
        if decomposition == "slabs":
            halo += (12 + 3 * (rows + 3)) * row * c["byte"] + 12 * c["message"] + c["transfer"]
        else:
            halo += (nx + 3 * ranks) * row * c["byte"] + math.log2(ranks) * c["message"] + c["transfer"]
        announced = 20 * beside * ny * c["byte"] + c["transfer"] + 2 * c["message"] + c["ranks"]
        pushed = particles * c["particle"]
        wall += halo + announced + max(0, states - 0.6 * pushed) + max(0, others - 0.1 * pushed)
        times |= {"exchange": 2 * c["message"] + states + others, "halo": halo}
    return {**times, "wall clock": wall}


def rows_of(ranks, rows, ny, particles, leavers, decomposition, device="GPU", factor=1.0, method="tiled"):
    if ranks == 1:
        leavers = 0
    ghost = 2 if ranks > 1 and rows + 5 < rows * ranks else 0
    case = f"scaling=weak shape=cic precision=single method={method} decomposition={decomposition} ranks={ranks} "
    case += f"cells={rows * ranks}x{ny} rows={rows} ghost={ghost} N={ranks * particles} most={particles} steps=50"
    start = f'scaling,"{device}","{case}"'
    found = [f"{start},leavers,{leavers},{leavers},{leavers},1,yes"]
    for stage, taken in stages(ranks, rows, ny, particles, leavers, decomposition).items():
        seconds = f"{factor * taken!r}"
        found += [f"{start},{stage.replace(' ', '_')}_s,{seconds},{seconds},{seconds},5,yes"] * (taken > 0)
    return found


RUNS = [
    (1, 128, 128, 1 << 22, 0, "alone"),
    (1, 512, 512, 1 << 24, 0, "alone"),
    (2, 128, 128, 1 << 22, 9000, "replicated"),
    (2, 512, 512, 1 << 24, 40000, "replicated"),
    (4, 128, 128, 1 << 22, 9000, "replicated"),
    (4, 512, 256, 1 << 24, 80000, "replicated"),
    (2, 128, 128, 1 << 22, 9000, "slabs"),
    (4, 512, 512, 1 << 24, 20000, "slabs"),
    (4, 128, 128, 1 << 22, 9000, "slabs"),
    (4, 16, 4096, 1 << 20, 400000, "replicated"),  # who leave take longer than the move of the others
]


class FitScaling(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, *rows, header=HEADER):
        path = self.folder / name
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    def write_runs(self, runs, **options):
        return [self.write(f"run_{n}.csv", *rows_of(*run, **options)) for n, run in enumerate(runs)]

    def run_script(self, *arguments):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, env=environment)

    def run_well(self, *arguments):
        result = self.run_script(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def constants(self, text):
        found = re.findall(r"(?m)^  (\w+) +(no run|[\d.e+-]+)   [a-z]", text)
        return {name: None if value == "no run" else float(value) for name, value in found}

    def assert_refused(self, result, *words):
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertTrue(result.stderr.startswith("fit_scaling.py: "), result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_the_constants_are_found(self):
        text = self.run_well(*self.write_runs(RUNS))
        found = self.constants(text)
        self.assertEqual(list(found), list(TRUE))
        for name, value in TRUE.items():
            self.assertAlmostEqual(found[name], value, delta=2e-3 * value, msg=name)  # printed with four digits
        errors = [float(error) for error in re.findall(r"([+-][\d.]+) %$", text, re.M)]
        self.assertEqual(len(errors), len(RUNS))
        self.assertLess(max(map(abs, errors)), 0.06)
        self.assertNotIn("note:", text)

    def test_predictions_are_those_of_the_formula(self):
        text = self.run_well(*self.write_runs(RUNS), "--ranks", "100", "1000")
        # a rank as in the run on most ranks, of most particles there
        self.assertIn("16777216 particles in 512x256 cells a rank, 80000 of whom leave", text)
        one = stages(1, 512, 256, 1 << 24, 0, "alone")["wall clock"]
        for ranks in (100, 1000):
            for decomposition in ("replicated", "slabs"):
                line = re.search(rf"(?m)^ +{ranks} {decomposition} +([\d.]+) +([\d.]+)   (.*)$", text)
                expected = stages(ranks, 512, 256, 1 << 24, 80000, decomposition)["wall clock"]
                self.assertAlmostEqual(float(line[1]), 1e3 * expected, delta=2e-3 * 1e3 * expected)
                self.assertAlmostEqual(float(line[2]), one / expected, delta=1e-3)
                self.assertEqual("only 129 ranks have a Fourier column" in line[3], decomposition == "slabs" and ranks > 129)
                self.assertIn("more than a config may have", line[3])

    def test_noise_moves_the_constants_little(self):
        paths = [self.write(f"run_{n}.csv", *rows_of(*run, factor=1 + 0.01 * (-1) ** n)) for n, run in enumerate(RUNS)]
        found = self.constants(self.run_well(*paths))
        for name in ("particle", "node", "node_slabs"):
            self.assertAlmostEqual(found[name], TRUE[name], delta=0.05 * TRUE[name], msg=name)

    def test_what_no_run_tells(self):
        text = self.run_well(*self.write_runs([run for run in RUNS if run[5] != "slabs"]))
        self.assertIsNone(self.constants(text)["node_slabs"])
        self.assertEqual(len(re.findall(r"slabs +- +-   no run tells", text)), 3)
        text = self.run_well(*self.write_runs(RUNS[:3]))
        self.assertIn("note: these runs do not tell all constants apart", text)

    def test_refused(self):
        good = self.write("good.csv", *rows_of(*RUNS[2]))
        alone = self.write("alone.csv", *rows_of(*RUNS[0]))
        other = self.write("other.csv", *rows_of(*RUNS[2], device="CPU"))
        plain = self.write("plain.csv", *rows_of(*RUNS[2], method="radix"))
        strange = self.write("strange.csv", "1,2", header="a,b")
        other_bench = self.write("sort.csv", 'pic-sort,"GPU","N=1",total_ms,1,1,1,1,yes')
        cut = self.write("cut.csv", rows_of(*RUNS[2])[0][:-20])
        halved = self.write("halved.csv", *rows_of(*RUNS[2])[:-1])
        empty = self.write("empty.csv")
        for paths, words in (
            ([self.folder / "missing.csv"], ["missing.csv"]),
            ([strange], ["strange.csv", "radixpic bench"]),
            ([other_bench], ["pic-sort", "not of radixpic bench scaling"]),
            ([cut], ["cut.csv:2"]),
            ([halved], ["halved.csv", "no wall clock"]),
            ([good, other], ["one kind of device", "CPU", "GPU"]),
            ([alone], ["more than one rank"]),
            ([good, plain], ["plain.csv", "took radix steps", "tiled"]),
            ([empty], ["no rows"]),
        ):
            with self.subTest(paths=paths):
                self.assert_refused(self.run_script(*paths), *words)
        self.assertEqual(self.run_script(good, "--ranks", "1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
