#!/usr/bin/python3
"""radixpic bench permutation: the paper's tables in small, their CSV file, and what is refused."""

import os
import re
import shutil
import sys
import unittest

from program import DEVICE, PROGRAM, ROOT, ProgramTest

COLUMNS = (
    "device,table,dimensions,sides,axes,elements,cell_side,block,kernel,median_ms,min_ms,max_ms,device_ms,"
    "gigabytes_per_second,copy_gigabytes_per_second,speedup_serial,speedup_numpy,repeats,verified"
).split(",")
KERNELS = ["serial", "numpy", "threads", "CB", "BB", "RLBB"]
SMALL = ["--volume", "8,12,20"]


class Permutation(ProgramTest):
    def bench(self, *arguments, python=sys.executable, repeat=2):
        """Standard output, and the rows of the CSV file."""
        few = ["--repeat", repeat, "--device", DEVICE, "--python", python, "--csv", "volumes.csv"]
        result = self.run_well("bench", "permutation", *few, *arguments)
        rows = self.assert_whole_rows(self.folder / "volumes.csv")
        for row in rows:
            self.assertEqual(row["verified"], "" if row["kernel"] == "numpy" else "yes", row)
            self.assertEqual(row["repeats"], str(repeat), row)
            low, median, high = (float(row[name]) for name in ("min_ms", "median_ms", "max_ms"))
            self.assertTrue(0 < low <= median <= high, row)
            on_host = row["kernel"] in ("serial", "numpy")
            self.assertEqual(row["device"] == "host", on_host, row)
            self.assertEqual(row["device_ms"] == "", on_host, row)
        return result.stdout, rows

    def test_a_volume(self):
        text, rows = self.bench(*SMALL)
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual(sorted(os.listdir(self.folder)), ["small.yaml", "volumes.csv"])
        of_cells = [(row["cell_side"], row["block"], row["kernel"]) for row in rows]
        blocks = (("2", "8"), ("4", "64"))  # 3 does not divide 8
        self.assertEqual(of_cells, [(*block, kernel) for block in blocks for kernel in KERNELS])
        for row in rows:
            self.assertEqual((row["sides"], row["axes"], row["elements"]), ("8x12x20", "2 1 0", "1920"))
        self.assertIn("3D speedup of parallel kernels, axes 2,1,0", text)
        self.assertNotIn("Table", text)
        self.assertEqual(text.count(" verified\n"), 10)

    def test_the_table_has_the_speedups_of_the_csv_file(self):
        text, rows = self.bench(*SMALL, repeat=3)
        line = re.search(r"(?m)^ +1,920 \|([^|\n]+)\|([^|\n]+)$", text)
        for half, column, over in ((1, "speedup_serial", "serial"), (2, "speedup_numpy", "numpy")):
            of_kernels = [row for row in rows if row["kernel"] in ("CB", "BB", "RLBB")]
            for word, row in zip(line[half].split(), of_kernels, strict=True):
                self.assertAlmostEqual(float(word), float(row[column]), delta=0.0051)
                (unit,) = (
                    float(other["median_ms"])
                    for other in rows
                    if other["kernel"] == over and other["block"] == row["block"]
                )
                ratio = unit / float(row["median_ms"])
                self.assertAlmostEqual(float(row[column]), ratio, delta=1e-3 + 1e-2 * ratio)

    def test_a_table_of_the_paper(self):
        text, rows = self.bench("--table", "4", "--block", "2", repeat=1)
        self.assertEqual({(row["table"], row["sides"]) for row in rows}, {("4", "10x10x10x10x10x10")})
        self.assertIn("Table 4: 6D speedup of parallel kernels, axes 5,4,3,2,1,0", text)
        self.assertRegex(text, r"Volume size +\| +CB +BB +RLBB \| +CB +BB +RLBB\n +1,000,000 \|")

    def test_other_axes(self):
        text, rows = self.bench("--volume", "6,4,2,8", "--axes", "1,3,0,2", "--block", "2")
        self.assertEqual({row["axes"] for row in rows}, {"1 3 0 2"})
        self.assertIn("axes 1,3,0,2", text)

    def script(self, text):
        """A program that stands for Python."""
        path = self.folder / "python"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def test_without_numpy(self):
        text, rows = self.bench(*SMALL, "--block", "4", python="none")
        self.assertEqual([row["kernel"] for row in rows], ["serial", "threads", "CB", "BB", "RLBB"])
        self.assertEqual({row["speedup_numpy"] for row in rows}, {""})
        self.assertRegex(text, r"1,920 \|( +\d+\.\d\d){3} \|( +-){3}\n")
        self.assertNotIn("gave no times", text)

    def test_a_python_that_does_not_work(self):
        """One that is not there, and one that has no numpy."""
        for python in ("no-such-python", self.script(f'exec {sys.executable} -I -S "$@"')):
            with self.subTest(python=python):
                result = self.run_program("bench", "permutation", *SMALL, "--python", python)
                self.assert_refused(result, 2, f"--python: {python} does not run or has no numpy")

    def test_a_volume_that_is_too_much_for_numpy(self):
        """It is named, and the larger ones after it have their times."""
        python = self.script(f'case "$*" in *16,16,16*) exit 1; esac\nexec {sys.executable} "$@"')
        text, rows = self.bench("--table", "1", "--block", "4", python=python, repeat=1)
        timed = [row["sides"] for row in rows if row["kernel"] == "numpy"]
        self.assertEqual(timed, ["8x8x8", "32x32x32", "64x64x64", "128x128x128"])
        self.assertRegex(text, rf"(?m)^  numpy: {python} gave no times, .* of 16x16x16$")

    def test_a_large_volume_is_announced(self):
        python = self.script("echo 1; echo 2")  # whatever is asked for, a second to warm up and two
        text, rows = self.bench("--volume", "4098,4098", "--block", "2", python=python, repeat=1)
        self.assertEqual({row["median_ms"] for row in rows if row["kernel"] == "numpy"}, {"2000.000000"})
        lines = text.splitlines()
        said = lines.index("  16,793,604 elements: numpy and the serial kernel take some tens of seconds")
        self.assertTrue(lines[said + 1].startswith("    16,793,604 | "), lines[said + 1])
        text, _ = self.bench("--volume", "4098,4098", "--block", "2", python="none", repeat=1)
        self.assertIn("  16,793,604 elements: the kernels take some tens of seconds\n", text)
        self.assertNotIn("tens of seconds", self.bench(*SMALL, python="none")[0])

    @unittest.skipUnless(shutil.which("oclgrind"), "no oclgrind, whose local memory is as small as wanted")
    def test_cells_that_nobody_asked_for(self):
        """Those that local memory does not hold are left out; asked for, they are refused."""
        command = ["oclgrind", "--local-mem-size", "4000", PROGRAM]
        if "ASan" in self.run_program("--version", command=command).stderr:
            self.skipTest("oclgrind is preloaded, and so wants the sanitizer's runtime to be")
        arguments = ["bench", "permutation", "--volume", "4,4,4,4,4", "--repeat", "1", "--python", "none"]
        text = self.run_well(*arguments, command=command).stdout
        self.assertIn("left out: cells of 4^5 elements and more, which the 4000 bytes of local memory", text)
        self.assertIn("4x4x4x4x4 in cells of 2^5 = 32", text)
        self.assertNotIn("4^5 =", text)
        result = self.run_program(*arguments, "--block", "4", command=command)
        self.assert_refused(result, 2, "4000 bytes of local memory", "smaller cell")

    def test_a_permutation_that_is_wrong(self):
        kernels = self.folder / "kernels"
        shutil.copytree(ROOT / "kernels", kernels)
        source = (kernels / "ndpa.cl").read_text()
        broken, count = re.subn(r"place_before\(map, e\)", "e", source)
        self.assertGreater(count, 0)
        (kernels / "ndpa.cl").write_text(broken)
        result = self.run_program(
            *["bench", "permutation", *SMALL, "--repeat", "1", "--device", DEVICE, "--python", "none"],
            environment={"RADIXPIC_KERNELS": str(kernels)},
        )
        self.assert_refused(result, 1, "not permuted rightly")
        self.assertIn("NOT PERMUTED", result.stdout)


class Refused(ProgramTest):
    def test_values(self):
        for option, arguments in (
            *[("--table", ["--table", "6"]), ("--table", ["--table", "1", *SMALL]), ("--repeat", ["--repeat", "0"])],
            *[("--volume", ["--volume", text]) for text in ("8", "8,", "8,x", "5,7", "2,2,2,2,2,2,2,2,2")],
            ("--volume", ["--volume", "65536,65536", "--block", "4"]),
            *[("--block", [*SMALL, "--block", text]) for text in ("3", "1", "0", "four")],
            ("--block", ["--table", "4", "--block", "3"]),
            *[("--axes", [*SMALL, "--axes", text]) for text in ("0,1", "0,1,3", "0,1,1", "0,1,9", "0", "2,1,0,3")],
            ("--axes", ["--table", "1", "--axes", "3,2,1,0"]),
            ("--axes", ["--axes", "0,1"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_program("bench", "permutation", *arguments), 2, option)
        self.assert_nothing_created()

    def test_a_cell_twice(self):
        result = self.run_program("bench", "permutation", *SMALL, "--block", "2", "--block", "4", "--block", "2")
        self.assert_refused(result, 2, "--block: 2 is given twice")

    def test_a_cell_that_fits_nowhere(self):
        result = self.run_program("bench", "permutation", "--volume", "4096,4096", "--block", "4096", "--device", DEVICE)
        self.assert_refused(result, 2, "local memory", "smaller cell")

    def test_a_file_that_cannot_be_written(self):
        few = [*SMALL, "--repeat", "1", "--device", DEVICE, "--python", "none"]
        for path, word in (("no/such/folder.csv", "No such file"), ("/dev/full", "No space left")):
            with self.subTest(path=path):
                result = self.run_program("bench", "permutation", *few, "--csv", path)
                self.assert_refused(result, 1, "--csv", path, word)

    def test_help(self):
        text = self.run_well("bench", "permutation", "--help").stdout
        for word in ("--table", "--volume", "--block", "--axes", "--csv", "Examples:", "112021056"):
            self.assertIn(word, text)
        for words in ("volumes of 2 to 8 dimensions", "after two to warm up", "about 20 s on two CPU cores"):
            self.assertIn(words, " ".join(text.split()))
        self.assertIn("permutation", self.run_well("bench", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
