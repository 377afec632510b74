#!/usr/bin/python3
"""radixpic bench scaling: the run on one rank beside that on two, its tables and CSV file, and what is refused."""

import os
import re
import shutil
import unittest

from program import DEVICE, MPI_ENVIRONMENT, PROGRAM, ROOT, ProgramTest

COLUMNS = (
    "device,scaling,shape,precision,method,decomposition,ranks,cells_x,cells_y,rows_most,ghost_rows,particles,"
    "particles_most,leavers,steps,repeats,stage,seconds,seconds_min,seconds_max,share,bytes,"
    "particle_steps_per_second,efficiency,energy_drift,verified"
).split(",")
FEW = ["--particles", "4096", "--cells", "16x8", "--steps", "4", "--repeat", "2", "--device", DEVICE]


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class ScalingTest(ProgramTest):
    def on(self, ranks, *arguments, environment=None):
        command = ("mpirun", "-n", str(ranks), PROGRAM) if ranks else (PROGRAM,)
        environment = {**MPI_ENVIRONMENT, **(environment or {})}
        return self.run_program("bench", "scaling", *arguments, command=command, environment=environment)

    def bench(self, ranks, *arguments):
        """Standard output, and the rows of the CSV file by their number of ranks."""
        result = self.on(ranks, *FEW, "--csv", "scaling.csv", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = {}
        for row in self.assert_whole_rows(self.folder / "scaling.csv"):
            self.assertEqual(list(row), COLUMNS)
            self.assertEqual(row["verified"], "yes", row)
            rows.setdefault(int(row["ranks"]), []).append(row)
        return result.stdout, rows

    def said(self, result):
        """Lines of the program itself among those of mpirun."""
        return [line for line in result.stderr.splitlines() if line.startswith("radixpic")]


class Runs(ScalingTest):
    def check_rows(self, text, rows):
        """The CSV file agrees with itself, and the table with it."""
        one = float(rows[1][-1]["particle_steps_per_second"])
        for ranks, of_run in rows.items():
            *stages, wall = of_run
            self.assertEqual(wall["stage"], "wall clock")
            seconds, particles = float(wall["seconds"]), int(wall["particles"])
            self.assertTrue(0 < float(wall["seconds_min"]) <= seconds <= float(wall["seconds_max"]))
            rate, efficiency = float(wall["particle_steps_per_second"]), float(wall["efficiency"])
            self.assertAlmostEqual(rate, particles / seconds, delta=1e-4 * rate)
            self.assertAlmostEqual(efficiency, rate / ranks / one, delta=1e-3)
            for row in stages:
                low, mean, high = (float(row[name]) for name in ("seconds_min", "seconds", "seconds_max"))
                self.assertTrue(0 <= low <= mean * (1 + 1e-6) <= high * (1 + 2e-6), row)
                self.assertAlmostEqual(float(row["share"]), mean / seconds, delta=1e-3)
            names = {row["stage"] for row in stages}
            self.assertLessEqual({"deposit", "field", "push"}, names)
            self.assertEqual({"exchange", "halo"} <= names, ranks > 1)
            line = next(line.split() for line in text.splitlines() if line.startswith(f"  {ranks:5} "))
            self.assertEqual(line[1:3], [f"{wall['cells_x']}x{wall['cells_y']}", wall["particles"]])
            self.assertIn(wall["decomposition"], line)
            figures = re.search(r"([\d.]+) +\[ *[\d.]+, *[\d.]+\] +([\d.]+) +([\d.]+) +([\d.]+) ", " ".join(line))
            expected = [1e3 * seconds, 1e-6 * rate, 1e-6 * rate / ranks, efficiency]
            for said, value in zip(figures.groups(), expected):
                self.assertAlmostEqual(float(said), value, delta=0.006 + 1e-3 * value)
        self.assertEqual(len(re.findall(r"(?m)^verified, on ", text)), len(rows))

    def sizes(self, row):
        return [int(row[name]) for name in ("cells_x", "cells_y", "particles", "rows_most", "steps", "repeats")]

    def test_weak(self):
        text, rows = self.bench(2)
        self.assertEqual(sorted(rows), [1, 2])
        self.check_rows(text, rows)
        self.assertEqual(self.sizes(rows[1][0]), [16, 8, 4096, 16, 4, 2])
        self.assertEqual(self.sizes(rows[2][0]), [32, 8, 8192, 16, 4, 2])
        self.assertEqual([rows[ranks][0]["decomposition"] for ranks in (1, 2)], ["alone", "replicated"])
        self.assertEqual(float(rows[1][0]["leavers"]), 0)
        # |u| dt/dx of a row of 256 particles crosses each of two ends, half of it outwards: sqrt(2/pi) 0.1/0.393
        leavers = 256 * 0.798 * 0.1 / 0.3927
        self.assertAlmostEqual(float(rows[2][0]["leavers"]), leavers, delta=0.3 * leavers)
        self.assertEqual(sorted(os.listdir(self.folder)), ["scaling.csv", "small.yaml"])

    def test_strong(self):
        text, rows = self.bench(2, "--strong", "--decomposition", "slabs", "--precision", "double", "--shape", "tsc")
        self.check_rows(text, rows)
        self.assertEqual(self.sizes(rows[1][0]), [16, 8, 4096, 16, 4, 2])
        self.assertEqual(self.sizes(rows[2][0]), [16, 8, 4096, 8, 4, 2])
        self.assertEqual(rows[2][0]["decomposition"], "slabs")
        words = [rows[2][0][name] for name in ("scaling", "shape", "precision")]
        self.assertEqual(words, ["strong", "tsc", "double"])
        apart = float(re.search(r"on 2 ranks: .*the field's energy is that of one rank to ([\d.e+-]+)", text)[1])
        self.assertLess(apart, 1e-9)

    def test_same_box(self):
        text, rows = self.bench(2, "--same-box", "--decomposition", "replicated")
        self.check_rows(text, rows)
        self.assertEqual(self.sizes(rows[2][0]), [16, 8, 8192, 8, 4, 2])
        self.assertNotIn("that of one rank", text)

    def test_one_rank(self):
        for ranks in (None, 1):  # without mpirun, and with it
            text, rows = self.bench(ranks)
            self.assertEqual(list(rows), [1])
            self.check_rows(text, rows)
            self.assertEqual(rows[1][0]["efficiency"], "1.0000")
            self.assertEqual(text.count("verified"), 1)

    def test_the_help_is_printed_once(self):
        result = self.on(2, "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("Usage: radixpic bench scaling"), 1)
        for option in ("--weak", "--same-box", "--strong", "--decomposition", "mpirun -n 4"):
            self.assertIn(option, result.stdout)


class WrongSteps(ScalingTest):
    def test_charge_that_is_lost(self):
        kernels = self.folder / "kernels"
        shutil.copytree(ROOT / "kernels", kernels)
        text, count = re.subn(r"factor \* sum", "(real)0.9 * factor * sum", (kernels / "deposit.cl").read_text())
        self.assertGreater(count, 0)
        (kernels / "deposit.cl").write_text(text)
        result = self.on(2, *FEW, environment={"RADIXPIC_KERNELS": str(kernels)})
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(self.said(result), ["radixpic: a step left a wrong result; see above"])
        self.assertEqual(result.stdout.count("NOT VERIFIED, on "), 2)
        self.assertIn("NOT VERIFIED, on 2 ranks: the charge on the grid differs", result.stdout)


class Refused(ScalingTest):
    def test_on_one_rank(self):
        for arguments, word in (
            (["--particles", "0"], "--particles"),
            (["--cells", "7"], "--cells"),
            (["--cells", "16384"], "--cells"),
            (["--steps", "0"], "--steps"),
            (["--repeat", "x"], "--repeat"),
            (["--decomposition", "pencils"], "--decomposition"),
            (["--precision", "half"], "--precision"),
            (["--shape", "square"], "--shape"),
            (["--strong", "--weak"], "exclude"),
            (["--strong", "--same-box"], "exclude"),
            (["more"], "one word too many"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.on(None, *arguments), 2, word)
        self.assert_refused(self.on(None, *FEW, "--csv", "/dev/full"), 1, "--csv", "/dev/full", "No space left")
        self.assert_nothing_created()

    def test_one_rank_says_it_for_all(self):
        for ranks, arguments, code, word in (
            (3, ["--stepz", "3"], 2, "--steps"),
            (2, ["--cells", "16384x8"], 2, "32768x8"),
            (9, ["--strong", "--cells", "8"], 2, "9 ranks want a row of cells each"),
            (2, ["--particles", "4293918721"], 2, "--particles"),
            (2, ["--device", "abacus"], 3, "abacus"),
            (2, ["--csv", "no/such/folder.csv"], 1, "No such file"),
        ):
            with self.subTest(arguments=arguments):
                result = self.on(ranks, *FEW, *arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual(len(self.said(result)), 1, result.stderr)
                self.assertIn(word, self.said(result)[0])
        self.assert_nothing_created()


if __name__ == "__main__":
    unittest.main()
