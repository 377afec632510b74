#!/usr/bin/python3
"""radixpic bench random-lists: the paper's Tables 4 to 6 in small, and what is refused."""

import os
import re
import shutil
import unittest

from program import DEVICE, ROOT, ProgramTest

COLUMNS = "device,method,keys,key_bits,phase,median_ms,min_ms,max_ms,repeats,speedup,verified".split(",")
PHASES = ["transpose", "histogram", "scan", "reorder", "total"]


class RandomLists(ProgramTest):
    def bench(self, *arguments, sizes="4096", repeat=2):
        """Standard output, and the rows of the CSV file."""
        few = ["--sizes", sizes, "--repeat", repeat, "--device", DEVICE, "--csv", "lists.csv"]
        result = self.run_well("bench", "random-lists", *few, *arguments)
        rows = self.assert_whole_rows(self.folder / "lists.csv")
        for row in rows:
            self.assertEqual(row["verified"], "yes", row)
            low, median, high = (float(row[name]) for name in ("min_ms", "median_ms", "max_ms"))
            self.assertTrue(0 <= low <= median <= high, row)
            self.assertTrue(high > 0 or row["phase"] == "transpose", row)
        return result.stdout, rows

    def test_the_tables(self):
        text, rows = self.bench(sizes="4096,5003")
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual(sorted(os.listdir(self.folder)), ["lists.csv", "small.yaml"])
        for keys in ("4096", "5003"):
            sorts = {}
            for row in rows:
                if row["keys"] == keys:
                    sorts.setdefault((row["method"], row["key_bits"]), []).append(row["phase"])
            self.assertEqual(sorts, {("paper", "30"): PHASES, ("chunked", "30"): PHASES, ("qsort", "30"): ["total"]})
        self.assertEqual(text.count("verified: "), 6)
        # what the method tiled cannot do is said, not left out
        self.assertEqual(len(re.findall(r"(?m)^  tiled +not for b = 30: .* 24 bits$", text)), 2)
        self.assertIn("keys alone", text)

    def test_speedup_is_over_the_host_of_the_same_run(self):
        text, rows = self.bench(repeat=3)
        totals = {row["method"]: float(row["median_ms"]) for row in rows if row["phase"] == "total"}
        for row in rows:
            if row["phase"] == "total":
                ratio = totals["qsort"] / totals[row["method"]]
                self.assertAlmostEqual(float(row["speedup"]), ratio, delta=1e-3 + 1e-2 * ratio)
            else:
                self.assertEqual(row["speedup"], "")

    def test_tiled_sorts_shorter_keys(self):
        text, rows = self.bench("--key-bits", "20", "--method", "tiled")
        self.assertEqual([row["phase"] for row in rows if row["method"] == "tiled"], PHASES)
        self.assertNotIn("paper", text)

    def test_parameters_of_the_paper_are_used(self):
        chosen = ["--radix-bits", "7", "--items", "4", "--groups", "3", "--splits", "5", "--transpose", "on"]
        chosen += ["--table", "rows"]
        text, rows = self.bench("--method", "paper", *chosen)
        self.assertIn("r = 7, p = 5; I = 4, G = 3, s = 5, table rows; keys alone", text)
        self.assertGreater(float(rows[0]["max_ms"]), 0)
        self.assertEqual(rows[0]["phase"], "transpose")

    def test_any_length(self):
        text, rows = self.bench(sizes="1,2,63,1000", repeat=1)
        self.assertNotIn("NOT", text)

    def test_a_sort_that_is_wrong(self):
        kernels = self.folder / "kernels"
        shutil.copytree(ROOT / "kernels", kernels)
        source = (kernels / "radix_sort.cl").read_text()
        broken, count = re.subn(r"\(key >> shift\) &", "~(key >> shift) &", source)  # downwards
        self.assertGreater(count, 0)
        (kernels / "radix_sort.cl").write_text(broken)
        result = self.run_program(
            *["bench", "random-lists", "--sizes", "4096", "--repeat", "1", "--device", DEVICE, "--method", "paper"],
            environment={"RADIXPIC_KERNELS": str(kernels)},
        )
        self.assert_refused(result, 1, "not sorted rightly")
        self.assertIn("NOT SORTED", result.stdout)


class Refused(ProgramTest):
    def test_values(self):
        for option, text in (
            *[("--sizes", "0"), ("--sizes", "10,"), ("--sizes", "1e6"), ("--key-bits", "31"), ("--key-bits", "0")],
            *[("--method", "quick"), ("--repeat", "0"), ("--radix-bits", "17"), ("--transpose", "maybe")],
            ("--table", "row"),
            *[("--sizes", ",".join(["5"] * 17)), ("--sizes", "5,6,5")],
        ):
            with self.subTest(option=option, text=text):
                self.assert_refused(self.run_program("bench", "random-lists", f"{option}={text}"), 2, option)
        self.assert_nothing_created()

    def test_what_would_have_no_effect(self):
        result = self.run_program("bench", "random-lists", "--table", "rows", "--table", "columns")
        self.assert_refused(result, 2, "--table is given twice")
        for option in ("--table=auto", "--items=4", "--groups=4", "--splits=4", "--transpose=on", "--radix-bits=5"):
            with self.subTest(option=option):
                words = [option.split("=")[0], "of the method paper, which --method leaves out"]
                methods = ["--method", "tiled", "--method", "chunked"]
                self.assert_refused(self.run_program("bench", "random-lists", *methods, option), 2, *words)

    def test_a_file_that_cannot_be_written(self):
        few = ["--sizes", "100", "--repeat", "1", "--device", DEVICE]
        for path, word in (("no/such/folder.csv", "No such file"), ("/dev/full", "No space left")):
            with self.subTest(path=path):
                result = self.run_program("bench", "random-lists", *few, "--csv", path)
                self.assert_refused(result, 1, "--csv", path, word)


if __name__ == "__main__":
    unittest.main()
