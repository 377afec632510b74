#!/usr/bin/python3
"""radixpic bench deposit: the tables and the CSV file in small, and what is refused."""

import os
import re
import shutil
import unittest

from program import DEVICE, ROOT, ProgramTest

COLUMNS = (
    "device,shape,precision,atomics,particles,cells_x,cells_y,per_cell,method,median_ms,min_ms,max_ms,"
    "ns_per_particle,gigabytes_per_second,copy_gigabytes_per_second,repeats,verified"
).split(",")
METHODS = ["sorted", "sort+sorted", "atomic-ordered", "atomic-shuffled"]
NUMBER = r"[0-9.e+-]+"


class Deposit(ProgramTest):
    def bench(self, *arguments, particles="4096", repeat=2):
        """Standard output, and the rows of the CSV file."""
        few = ["--particles", particles, "--repeat", repeat, "--device", DEVICE, "--csv", "deposit.csv"]
        result = self.run_well("bench", "deposit", *few, *arguments)
        rows = self.assert_whole_rows(self.folder / "deposit.csv")
        self.assertEqual(list(rows[0]), COLUMNS)
        for row in rows:
            self.assertEqual(row["verified"], "yes", row)
            low, median, high = (float(row[name]) for name in ("min_ms", "median_ms", "max_ms"))
            self.assertTrue(0 < low <= median <= high, row)
            nanoseconds = 1e6 * median / float(row["particles"])
            self.assertAlmostEqual(float(row["ns_per_particle"]), nanoseconds, delta=1e-2 * nanoseconds)
            self.assertGreater(float(row["gigabytes_per_second"]), 0)
            self.assertGreater(float(row["copy_gigabytes_per_second"]), 0)
        return result.stdout, rows

    def test_the_tables(self):
        """As many cells as N / P says, four times a row, and the file says what the table says."""
        text, rows = self.bench("--per-cell", "4,64,1024")
        self.assertEqual(sorted(os.listdir(self.folder)), ["deposit.csv", "small.yaml"])
        grids = [(row["per_cell"], row["cells_x"], row["cells_y"]) for row in rows]
        expected = [("4", "32", "32"), ("64", "8", "8"), ("1024", "2", "2")]
        self.assertEqual(grids, [grid for grid in expected for _ in METHODS])
        self.assertEqual([row["method"] for row in rows], 3 * METHODS)
        self.assertEqual({row["shape"] for row in rows}, {"cic"})
        triple = rf"({NUMBER}) +\[ *({NUMBER}), *({NUMBER})\]"
        lines = re.findall(rf"(?m)^ +\d+ +\d+x\d+ +{triple} +{triple} +{triple} +{triple}  verified$", text)
        self.assertEqual(len(lines), 3)
        times = [number for line in lines for number in line]
        for row, shown in zip(rows, zip(*[iter(times)] * 3)):
            for name, number in zip(("median_ms", "min_ms", "max_ms"), shown):
                self.assertAlmostEqual(float(row[name]), float(number), delta=1e-3)
        self.assertRegex(text, r"(?m)^copy of 67.1 MB on the device: [0-9.]+ GB/s; shorter lists stay in caches")
        self.assertRegex(text, r"GB/s +times faster than atomic\n")

    def test_where_sorting_pays(self):
        """The sentences follow from the file's medians, the ratios of the last columns too."""
        text, rows = self.bench("--per-cell", "2,16,128,1024", repeat=3)
        times = {(row["per_cell"], row["method"]): float(row["median_ms"]) for row in rows}
        per_cell = ["2", "16", "128", "1024"]
        for sentence, faster, slower in (
            ("sorting a shuffled list first pays", "sort+sorted", "atomic-shuffled"),
            ("in a list that is in order anyway, sorted beats atomic", "sorted", "atomic-ordered"),
        ):
            found = [number for number in per_cell if times[number, faster] < times[number, slower]]
            said = ", ".join(found) if found else "none of these numbers of"
            self.assertIn(f"{sentence}: at {said} particles a cell\n", text)
        ratios = re.findall(rf"(?m)^ +(\d+)(?: +{NUMBER}){{8}} +({NUMBER}) +({NUMBER})$", text)
        self.assertEqual([ratio[0] for ratio in ratios], per_cell)
        for number, ordered, shuffled in ratios:
            for word, pair in ((ordered, METHODS[2::-2]), (shuffled, METHODS[3::-2])):
                expected = times[number, pair[0]] / times[number, pair[1]]
                self.assertAlmostEqual(float(word), expected, delta=0.01 + 0.01 * expected)

    def test_shapes_precision_and_words(self):
        text, rows = self.bench("--shape", "ngp,tsc", "--atomics", "32", "--precision", "double", "--per-cell=100")
        self.assertEqual([row["shape"] for row in rows], 4 * ["ngp"] + 4 * ["tsc"])
        self.assertEqual({(row["atomics"], row["precision"]) for row in rows}, {("32", "double")})
        self.assertEqual({row["per_cell"] for row in rows}, {"128"})  # 32 cells, of powers of two along the axes
        self.assertIn("two words of 32 bits", text)

    def test_default_points(self):
        """Every power of two that leaves 2 x 2 cells; any number of particles."""
        text, rows = self.bench(particles="100", repeat=1)
        self.assertEqual([row["cells_x"] for row in rows[::4]], ["8", "8", "4", "4", "2"])
        self.assertNotIn("NOT", text)

    def test_a_deposit_that_is_wrong(self):
        for file, old, new, word in (
            ("deposit.cl", "x[n / SHAPE_NODES] * along_y[n % S", "x[n % SHAPE_NODES] * along_y[n / S", "sorted: node"),
            ("deposit_atomic.cl", "along_x[a] * along_y[b]", "along_x[b] * along_y[a]", "atomic, in order: node"),
            ("deposit_atomic.cl", "keys[p]", "keys[0]", "atomic, in order: node"),
        ):
            with self.subTest(file=file, new=new):
                kernels = self.folder / "kernels"
                shutil.rmtree(kernels, ignore_errors=True)
                shutil.copytree(ROOT / "kernels", kernels)
                source = (kernels / file).read_text()
                self.assertIn(old, source)
                (kernels / file).write_text(source.replace(old, new))
                result = self.run_program(
                    *["bench", "deposit", "--particles=512", "--per-cell=8", "--repeat=1", "--device", DEVICE],
                    environment={"RADIXPIC_KERNELS": str(kernels)},
                )
                self.assert_refused(result, 1, "not the host's")
                self.assertIn(f"NOT VERIFIED: {word}", result.stdout)


class Refused(ProgramTest):
    def test_values(self):
        for option, text in (
            *[("--particles", "3"), ("--particles", "1e6"), ("--per-cell", "0"), ("--per-cell", "8,"), ("--shape", "cid")],
            *[("--shape", "cic,"), ("--precision", "half"), ("--atomics", "16"), ("--repeat", "0")],
            *[("--per-cell", ",".join(["5"] * 33)), ("--per-cell", "200000")],
        ):
            with self.subTest(option=option, text=text):
                self.assert_refused(self.run_program("bench", "deposit", f"{option}={text}"), 2, option)
        self.assert_nothing_created()

    def test_points_on_one_grid(self):
        words = ["--per-cell", "8 and 7 make the same grid of 256x256 cells, with 8 particles in each"]
        self.assert_refused(self.run_program("bench", "deposit", "--per-cell=64,8,7"), 2, *words)
        result = self.run_program("bench", "deposit", "--per-cell=8,")
        self.assert_refused(result, 2, "--per-cell: '8,': a number is missing after the comma")

    def test_too_many_cells(self):
        result = self.run_program("bench", "deposit", "--particles=2147483648", "--per-cell=1")
        self.assert_refused(result, 2, "--per-cell", "67108864 cells")

    def test_a_word_too_many(self):
        self.assert_refused(self.run_program("bench", "deposit", "cic"), 2, "'cic'")

    def test_a_file_that_cannot_be_written(self):
        few = ["--particles", "100", "--repeat", "1", "--device", DEVICE]
        for path, word in (("no/such/folder.csv", "No such file"), ("/dev/full", "No space left")):
            with self.subTest(path=path):
                result = self.run_program("bench", "deposit", *few, "--csv", path)
                self.assert_refused(result, 1, "--csv", path, word)

    def test_help(self):
        text = self.run_well("bench", "deposit", "--help").stdout
        for option in ("--particles", "--per-cell", "--shape", "--precision", "--atomics", "--repeat", "--csv"):
            self.assertIn(option, text)
        self.assertIn("deposit", self.run_well("bench", "--help").stdout)
        self.assertIn("about 10 s on two CPU cores", " ".join(text.split()))


if __name__ == "__main__":
    unittest.main()
