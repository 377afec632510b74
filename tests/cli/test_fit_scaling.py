"""scripts/fit_scaling.py: constants that made a file are found in it, predictions follow, errors in a sentence."""

import math
import re

from bench_table import HEADER
from program import ProgramTest

TRUE = {
    "particle": 2e-11,
    "step": 3e-5,
    "node": 5e-12,
    "solve": 2e-5,
    "node_slabs": 4e-10,
    "solve_slabs": 7e-5,
    "block": 3e-6,
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
        field = (rows * ny / 2 + nx * columns) * depth * c["node_slabs"] + c["solve_slabs"]
    shares = {"count": 0.2, "sort: scan": 0.1, "deposit": 0.3, "push": 0.4}
    times = {**{stage: share * push for stage, share in shares.items()}, "field": field}
    wall = push + field
    if ranks > 1:
        beside = 5 if rows + 5 < nx else nx - rows
        others, states = math.log2(ranks) * c["message"], 48 * leavers * c["leaving"] + 4 * c["message"]
        if decomposition == "slabs":
            halo = (6 * row + 48 * modes * (ranks - 1) / ranks) * c["byte"]
            halo += 3 * (math.log2(ranks) * c["message"] + c["transfer"]) + 10 * (ranks - 1) * c["block"]
        else:
            halo = (rows + 3 + nx + 3 * ranks) * row * c["byte"]
            halo += math.log2(ranks) * c["message"] + c["transfer"]
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
        time = f"{1e3 * factor * taken!r}"
        found += [f"{start},{stage.replace(' ', '_')}_ms,{time},{time},{time},5,yes"] * (taken > 0)
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
    (4, 16, 4096, 1 << 20, 400000, "replicated"),  # leaving particles take longer than the move of the others
]


class FitScaling(ProgramTest):
    def write(self, name, rows, header=",".join(HEADER)):
        path = self.folder / name
        path.write_text("\n".join([header, *rows]) + "\n")
        return path

    def fit(self, runs, *options, factors=(1, 1)):
        """Standard output for runs measured by turns so many times as slow, and {constant: seconds or None}."""
        paths = [self.write(f"run_{n}.csv", rows_of(*run, factor=factors[n % 2])) for n, run in enumerate(runs)]
        result = self.run_script("fit_scaling.py", *paths, *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = re.findall(r"(?m)^  (\w+) +(no run|[\d.e+-]+)   [a-z]", result.stdout)
        self.assertEqual([name for name, _ in found], list(TRUE))
        return result.stdout, {name: None if value == "no run" else float(value) for name, value in found}

    def test_the_constants_are_found(self):
        text, found = self.fit(RUNS)
        for name, value in TRUE.items():
            self.assertAlmostEqual(found[name], value, delta=2e-3 * value, msg=name)  # printed with four digits
        errors = [float(error) for error in re.findall(r"([+-][\d.]+) %$", text, re.M)]
        self.assertEqual(len(errors), len(RUNS))
        self.assertLess(max(map(abs, errors)), 0.06)
        self.assertNotIn("note:", text)

    def test_predictions_are_those_of_the_formula(self):
        text, _ = self.fit(RUNS, "--ranks", "100", "1000")
        # a rank as in the run on most ranks, of most particles there
        self.assertIn("16777216 particles in 512x256 cells a rank, 80000 of which leave", text)
        one = stages(1, 512, 256, 1 << 24, 0, "alone")["wall clock"]
        for ranks in (100, 1000):
            for decomposition in ("replicated", "slabs"):
                line = re.search(rf"(?m)^ +{ranks} {decomposition} +([\d.]+) +([\d.]+)   (.*)$", text)
                expected = stages(ranks, 512, 256, 1 << 24, 80000, decomposition)["wall clock"]
                self.assertAlmostEqual(float(line[1]), 1e3 * expected, delta=2e-3 * 1e3 * expected)
                self.assertAlmostEqual(float(line[2]), one / expected, delta=1e-3)
                self.assertEqual("only 129 ranks have a Fourier column" in line[3],
                    decomposition == "slabs" and ranks > 129)
                self.assertIn("more than a config may have", line[3])

    def test_noise_moves_the_constants_little(self):
        _, found = self.fit(RUNS, factors=(1.01, 0.99))
        for name in ("particle", "node", "node_slabs"):
            self.assertAlmostEqual(found[name], TRUE[name], delta=0.05 * TRUE[name], msg=name)

    def test_what_no_run_tells(self):
        text, found = self.fit([run for run in RUNS if run[5] != "slabs"])
        self.assertIsNone(found["node_slabs"])
        self.assertEqual(len(re.findall(r"slabs +- +-   no run tells", text)), 3)
        text, _ = self.fit(RUNS[:3])
        self.assertIn("note: these runs do not tell all constants apart", text)

    def test_refused(self):
        good = rows_of(*RUNS[2])
        for files, words in (
            ([['pic-sort,"GPU","N=1",total_ms,1,1,1,1,yes']], ["pic-sort", "not of radixpic bench scaling"]),
            ([[good[0][:-20]]], ["0.csv:2"]),
            ([good[:-1]], ["0.csv", "no wall clock"]),
            ([good, rows_of(*RUNS[2], device="CPU")], ["one kind of device", "CPU", "GPU"]),
            ([rows_of(*RUNS[0])], ["more than one rank"]),
            ([good, rows_of(*RUNS[2], method="radix")], ["1.csv", "took radix steps", "tiled"]),
            ([[]], ["no rows"]),
        ):
            with self.subTest(words=words):
                paths = [self.write(f"{n}.csv", rows) for n, rows in enumerate(files)]
                self.assert_script_fails("fit_scaling.py", *paths, words=words)
        self.write("strange.csv", ["1,2"], header="a,b")
        for path, *words in (("missing.csv", "missing.csv"), ("strange.csv", "strange.csv", "radixpic bench")):
            self.assert_script_fails("fit_scaling.py", path, words=words)
        self.assertEqual(self.run_script("fit_scaling.py", self.write("good.csv", good), "--ranks", "1").returncode, 2)
