"""radixpic bench: what follows from what, ranks, and what a table of commands does not show."""

import array
import re
import shutil
import sys
import unittest

from bench_table import SMALL, BenchTest, medians, of
from program import MPI_ENVIRONMENT, PROGRAM


def van_der_corput(number, base):
    """The digits of the number, mirrored at the point."""
    value, place = 0.0, 1.0
    while number > 0:
        place /= base
        value += number % base * place
        number //= base
    return value


def cell(x, y):
    return 16 * int(16 * x) + int(16 * y)


class Follows(BenchTest):
    """Rows follow from the file's medians, which have nine digits."""

    def assert_ratios(self, rows, quantity, over, of_what, *keys):
        """Every row of the quantity is the median `over` the row's own of `of_what`."""
        own = medians(rows, of_what, *keys)
        found = medians(rows, quantity, *keys)
        self.assertTrue(found)
        for case, ratio in found.items():
            expected = over(case, own) / own[case]
            self.assertAlmostEqual(ratio, expected, delta=1e-6 * expected)

    def test_speedups(self):
        qsort = lambda _, own: own["qsort"]
        _, rows = self.bench_well("random-lists", "--sizes=4096")
        self.assert_ratios(rows, "speedup", qsort, "total_ms", "method")
        _, rows = self.bench_well("pic-sort", "--key-bits=10")
        self.assert_ratios(rows, "speedup", qsort, "total_ms", "method")
        _, rows = self.bench_well("permutation", "--volume=8,12,20", f"--python={sys.executable}")
        rows = [{"side": "", **row} for row in rows]
        for over in ("serial", "numpy"):
            side = (lambda case: case[1]) if over == "serial" else (lambda case: "")
            timed = [row for row in rows if row.get("kernel") != "numpy" or over == "numpy"]
            self.assert_ratios(timed, f"speedup_{over}", lambda case, own: own[over, side(case)], "wall_ms", "kernel",
                "side")
        _, rows = self.bench_well("deposit", "--per-cell=2,16,128,1024", "--repeat=3")
        atomic = {"sorted": "atomic-ordered", "sort+sorted": "atomic-shuffled"}
        self.assert_ratios(rows, "speedup", lambda case, own: own[case[0], atomic[case[1]]], "time_ms", "per_cell",
            "method")

    def test_the_cost_of_a_step(self):
        _, rows = self.bench_well("step", "--particles=4096", "--cells=16", "--steps=5")
        for stage in ("deposit", "field", "push"):
            self.assertIn(f"{stage}_ns", of(rows, "quantity"))
        self.assertGreater(medians(rows, "held_B")[0], 16)  # a position and a velocity, single
        self.assertLess(abs(medians(rows, "energy_drift")[0]), 5e-3)


class Special(BenchTest):
    def test_keys_for_another_program(self):
        self.bench_well("pic-sort", "--cells=16", "--write-keys=keys", "--particles=4096", "--repeat=1")
        keys = array.array("I", (self.folder / "keys").read_bytes())
        particles = [[van_der_corput(j, base) for base in (2, 3, 5, 7)] for j in range(1, 4097)]
        particles.sort(key=lambda particle: cell(*particle[:2]))  # stable
        moved = [cell((x + u / 16) % 1, (y + v / 16) % 1) for x, y, u, v in particles]
        self.assertEqual(len(keys), 4096)
        # single precision may put one that lands on the edge of a cell, a multiple of 1/16, on its other side
        self.assertLessEqual(sum(key != expected for key, expected in zip(keys, moved)), 4)

    def test_double_precision_takes_more_memory(self):
        held = {}
        for precision in ("single", "double"):
            result = self.bench("step", "--particles=4096", "--cells=16", "--steps=2", f"--precision={precision}")
            if precision == "double" and result.returncode == 1 and "double" in result.stderr:
                self.skipTest("the device has no double precision")
            self.assertEqual(result.returncode, 0, result.stderr)
            held[precision] = float(re.search(r"held on the device: ([\d.]+) bytes", result.stdout)[1])
        self.assertGreater(held["double"], 1.4 * held["single"])

    def test_what_does_not_fit_is_skipped_with_its_reason(self):
        sizes = [f"--{which}-particles={1 << 31}" for which in ("min", "max")]
        result = self.bench("step", "--sweep", *sizes, "--steps=1", "--repeat=1")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line for line in result.stdout.splitlines() if str(1 << 31) in line and "skipped" in line]
        self.assertEqual(len(lines), 7)
        for line in lines:
            self.assertRegex(line, r"skipped: (it needs [\d.]+ GB, more than half|an array of .* larger than|sort: )")


class Numpy(BenchTest):
    def script(self, text):
        """A program that stands for Python."""
        path = self.folder / "it's $(touch gone); python"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return f"--python={path}"

    def test_a_python_that_does_not_work(self):
        """One that is not there, and one that has no numpy."""
        for python in ("--python=no-such-python", self.script(f'exec {sys.executable} -I -S "$@"')):
            with self.subTest(python=python):
                result = self.bench("permutation", "--volume=8,12,20", python)
                self.assert_refused(result, 2, f"--python: {python.partition('=')[2]} does not run or has no numpy")

    def test_a_volume_that_is_too_much_for_numpy(self):
        """It is named, and the larger ones after it have their times."""
        python = self.script(f'case "$*" in *16,16,16*) exit 1; esac\nexec {sys.executable} "$@"')
        text, rows = self.bench_well("permutation", "--table=1", "--block=4", "--repeat=1", python)
        timed = [row["volume"] for row in rows if row.get("kernel") == "numpy" and row["quantity"] == "wall_ms"]
        self.assertEqual(timed, ["8x8x8", "32x32x32", "64x64x64", "128x128x128"])
        self.assertRegex(text, r"(?m)^  numpy: .* python gave no times, .* of 16x16x16$")
        self.assertFalse((self.folder / "gone").exists(), "a shell read the name")

    def test_a_large_volume_is_announced(self):
        python = self.script("echo 1; echo 2")  # whatever is asked for, a second to warm up and two
        large = ["--volume=4098,4098", "--block=2", "--repeat=1"]
        text, rows = self.bench_well("permutation", *large, python)
        self.assertEqual(medians(rows, "wall_ms", "kernel")["numpy"], 2000)
        self.assertIn("\n  16793604 elements: numpy and the serial kernel take some tens of seconds\n", text)
        text, _ = self.bench_well("permutation", *large)
        self.assertIn("  16793604 elements: the kernels take some tens of seconds\n", text)

    @unittest.skipUnless(shutil.which("oclgrind"), "no oclgrind, whose local memory is as small as wanted")
    def test_cells_that_do_not_fit(self):
        """Those that local memory does not hold are left out; asked for, they are refused."""
        command = ["oclgrind", "--local-mem-size", "4000", PROGRAM]
        if "ASan" in self.run_program("--version", command=command).stderr:
            self.skipTest("oclgrind is preloaded, and so wants the sanitizer's runtime to be")
        arguments = ["bench", "permutation", "--volume=4,4,4,4,4", "--repeat=1", "--python=none"]
        text = self.run_well(*arguments, command=command).stdout
        self.assertIn("left out: cells of 4^5 elements and more, which the 4000 bytes of local memory", text)
        self.assertEqual(set(re.findall(r"(?m)^  1024 +(\d+) ", text)), {"32"})
        result = self.run_program(*arguments, "--block=4", command=command)
        self.assert_refused(result, 2, "4000 bytes of local memory", "smaller cell")


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class OnRanks(BenchTest):
    def test_only_scaling_runs(self):
        """The others would run once on each rank, and all write the same file."""
        for name in (name for name in SMALL if name != "scaling"):
            with self.subTest(name=name):
                result = self.bench(name, ranks=2)
                self.assert_said(result, 2, f"radixpic bench {name}: runs on one rank", "only scaling")
        command = ("mpirun", "-n", "2", PROGRAM, "tune", "-N", "2000", "--cells", "8", "--seconds", "1")
        result = self.run_program(command=command, environment=MPI_ENVIRONMENT)
        self.assert_said(result, 2, "radixpic tune: runs on one rank")
        self.assert_nothing_created()
        self.assertEqual(self.bench("pic-sort", "--particles=100", ranks=1).returncode, 0)

    def test_scaling(self):
        """Ranks, cells, particles, most rows of a rank, and field of both runs; rates and efficiencies."""
        double = ["--strong", "--decomposition=slabs", "--precision=double", "--shape=tsc"]
        one = ("1", "16x8", "4096", "16", "alone")
        for ranks, arguments, kind, several in (
            (2, [], "weak", [("2", "32x8", "8192", "16", "replicated")]),
            (2, double, "strong", [("2", "16x8", "4096", "8", "slabs")]),
            (2, ["--same-box", "--decomposition=replicated"], "same_box", [("2", "16x8", "8192", "8", "replicated")]),
            (0, [], "weak", []),
            (1, [], "weak", []),
        ):
            with self.subTest(ranks=ranks, arguments=arguments):
                text, rows = self.bench_well("scaling", *arguments, ranks=ranks)
                names = ("ranks", "cells", "N", "rows", "decomposition")
                self.assertEqual(list(dict.fromkeys(tuple(row[name] for name in names) for row in rows)), [one,
                    *several])
                self.assertEqual((of(rows, "scaling"), of(rows, "steps")), ([kind], ["4"]))
                self.assertEqual(len(re.findall(r"(?m)^verified: all ", text)), 1 + len(several))
                self.assertEqual("field's energy is that of one rank to" in text, kind == "strong")
                self.check_scaling(rows)

    def check_scaling(self, rows):
        seconds, rates = medians(rows, "wall_clock_ms", "ranks", "N"), medians(rows, "particle_steps_1/s", "ranks")
        efficiencies, leavers = medians(rows, "efficiency", "ranks"), medians(rows, "leavers", "ranks")
        for (ranks, particles), wall in seconds.items():
            self.assertAlmostEqual(rates[ranks], 1e3 * int(particles) / wall, delta=1e-6 * rates[ranks])
            expected = rates[ranks] / int(ranks) / rates["1"]
            self.assertAlmostEqual(efficiencies[ranks], expected, delta=1e-6 * expected)
            stages = {row["quantity"] for row in rows if row["ranks"] == ranks}
            self.assertLessEqual({"deposit_ms", "field_ms", "push_ms"}, stages)
            self.assertEqual({"exchange_ms", "halo_ms"} <= stages, ranks != "1")
        self.assertEqual(leavers["1"], 0)
        if of(rows, "scaling") == ["weak"] and "2" in leavers:
            # |u| dt/dx of a row of 256 particles crosses each of two ends, half of it outwards: sqrt(2/pi) 0.1/0.393
            self.assertAlmostEqual(leavers["2"] / (256 * 0.798 * 0.1 / 0.3927), 1, delta=0.3)

    def test_a_wrong_step_on_ranks(self):
        wrong = self.with_kernels(("deposit.cl", "set ? factor", "set ? (real)0.9 * factor"))
        result = self.bench("scaling", "--device=cpu", ranks=2, environment=wrong)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(self.said(result.stderr), ["radixpic: a step left a wrong result; see above"])
        self.assertEqual(result.stdout.count("NOT VERIFIED: the charge on the grid differs"), 2)

    def test_one_rank_says_it_for_all(self):
        for ranks, arguments, code, word in (
            (3, ["--stepz=3"], 2, "--steps"),
            (2, ["--cells=16384x8"], 2, "32768x8"),
            (9, ["--strong", "--cells=8"], 2, "9 ranks want a row of cells each"),
            (2, ["--particles=4293918721"], 2, "--particles"),
            (2, ["--device=abacus"], 3, "abacus"),
            (2, ["--csv=no/such/folder.csv"], 1, "No such file"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_said(self.bench("scaling", *arguments, ranks=ranks), code, word)
        self.assert_nothing_created()
