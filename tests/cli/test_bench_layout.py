#!/usr/bin/python3
"""radixpic bench layout: the tables of row-wise and column-wise arrays in small, and what is refused."""

import re
import shutil
import subprocess
import sys
import unittest

from program import DEVICE, ROOT, ProgramTest

COLUMNS = "device,operation,input,type,arrays,length,layout,median_ms,min_ms,max_ms,repeats,verified".split(",")
CELL = re.compile(r"(\d+\.\d{3}) \[(\d+\.\d{3}), (\d+\.\d{3})\] \((\d+)\)")
NOTES = {
    "R/C": "  R/C: row-wise over column-wise",
    "(B)": "  (B): transposed, column-wise, and transposed back, from the first launch to the last",
}
NO_DOUBLE = "  double: this device has none"
# Operations and inputs of Tables I to IV, as the CSV file names them.
CASES = [("prefix-sum", "ones"), ("bubble-sort", "s"), ("bubble-sort", "d"), ("bitonic-sort", "random")]
LETTERS = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII".split()


class Layout(ProgramTest):
    def bench(self, *arguments, length=32, arrays="64,192", repeat=2):
        """{number: (columns' titles, [(L, cells)])} of the tables in the output, and the rows of the CSV file."""
        few = ["--length", length, "--arrays", arrays, "--repeat", repeat, "--device", DEVICE, "--csv", "layout.csv"]
        text = self.run_well("bench", "layout", *few, *arguments).stdout
        rows = self.assert_whole_rows(self.folder / "layout.csv")
        for row in rows:
            self.assertEqual(list(row), COLUMNS)
            self.assertEqual(row["verified"], "yes", row)
            low, median, high = (float(row[name]) for name in ("min_ms", "median_ms", "max_ms"))
            self.assertTrue(0 <= low <= median <= high and int(row["repeats"]) <= repeat, row)
        return text, self.tables(text), rows

    def tables(self, text):
        tables = {}
        for part in text.split("\nTable ")[1:]:
            head, *lines = part.rstrip().split("\n")
            notes = [lines.pop(0)] if "T x B = L" not in lines[0] else []
            titles = lines.pop(0)
            self.assertEqual(notes, [note for title, note in NOTES.items() if title in titles])
            cells = []
            for line in lines:
                if line == NO_DOUBLE:
                    continue
                match = re.match(r" +64 x (\d+) = (\d+) +(.*[^ ])  verified$", line)
                self.assertTrue(match, line)
                self.assertEqual(64 * int(match[1]), int(match[2]))
                cells.append((match[2], re.split(r"  +", match[3])))
            tables[head.split(":")[0]] = (re.split(r"  +", titles.strip())[1:], cells)
        return tables

    def assert_in_rows(self, cell, rows, on_host=False, **named):
        """The cell is the one row of the file with these fields."""
        found = [
            row
            for row in rows
            if (row["device"] == "host") == on_host and all(row[key] == value for key, value in named.items())
        ]
        self.assertEqual(len(found), 1, named)
        *times, count = CELL.fullmatch(cell).groups()
        self.assertEqual(count, found[0]["repeats"])
        times = [float(time) for time in times]
        for time, name in zip(times, ("median_ms", "min_ms", "max_ms")):
            self.assertAlmostEqual(time, float(found[0][name]), delta=6e-4)
        return float(found[0]["median_ms"])

    def test_the_first_four(self):
        text, tables, rows = self.bench()
        self.assertEqual(list(tables), ["I", "II", "III", "IV"])
        self.assertRegex(text, r"a copy of 24.6 KB there: \d+\.\d\d GB/s")
        for (titles, lines), (operation, kind) in zip(tables.values(), CASES):
            self.assertEqual(titles, ["row-wise", "column-wise", "R/C", "host"])
            self.assertEqual([line[0] for line in lines], ["64", "192"])
            for arrays, (by_row, by_column, ratio, host) in lines:
                of_case = {"operation": operation, "input": kind, "type": "int", "arrays": arrays, "length": "32"}
                by_row = self.assert_in_rows(by_row, rows, layout="row-wise", **of_case)
                by_column = self.assert_in_rows(by_column, rows, layout="column-wise", **of_case)
                self.assertAlmostEqual(float(ratio), by_row / by_column, delta=0.01 + 0.01 * by_row / by_column)
                self.assert_in_rows(host, rows, on_host=True, layout="row-wise", **of_case)
        self.assertEqual(len(rows), 4 * 2 * 3)

    def test_all_tables(self):
        text, tables, rows = self.bench("--table", "all", arrays="64", repeat=1)
        self.assertEqual(list(tables), LETTERS)
        for number in range(4, 12):  # V to XII: row-wise and column-wise by turns
            titles, [(_, cells)] = tables[LETTERS[number]]
            self.assertEqual(titles, ["int", "float", "double"])
            operation, kind = CASES[(number - 4) // 2]
            layout = "column-wise" if number % 2 else "row-wise"
            self.assertIn(f"Table {LETTERS[number]}: ", text)
            for cell, name in zip(cells, titles):
                if cell != "-":  # a device without double
                    of_case = {"operation": operation, "input": kind, "type": name, "layout": layout}
                    self.assert_in_rows(cell, rows, **of_case)
        for number, (operation, kind) in zip(range(12, 16), CASES):
            titles, [(_, cells)] = tables[LETTERS[number]]
            self.assertEqual(titles, ["(A) row-wise", "(B)", "column-wise", "transpose"])
            for cell, layout in zip(cells, ("row-wise", "transposed", "column-wise", "transpose")):
                self.assert_in_rows(cell, rows, operation=operation, input=kind, type="int", layout=layout)
        titles, [(_, cells)] = tables["XVII"]
        self.assertEqual(titles, ["row-wise", "column-wise", "host, bitonic sort", "host, quicksort"])
        self.assert_in_rows(cells[2], rows, True, operation="bitonic-sort", layout="row-wise")
        self.assert_in_rows(cells[3], rows, True, operation="bitonic-sort", layout="quicksort")

    def test_tables_are_chosen(self):
        for arguments, expected in (
            (["--table", "XIII,5"], ["V", "XIII"]),
            (["--operation", "bubble-sort"], ["II", "III"]),
            (["--operation", "bubble-sort", "--input", "d"], ["III"]),
            (["--input", "s"], ["I", "II", "IV"]),
            (["--table", "all", "--operation", "prefix-sum"], ["I", "V", "VI", "XIII"]),
        ):
            with self.subTest(arguments=arguments):
                _, tables, _ = self.bench(*arguments, arrays="64", repeat=1)
                self.assertEqual(list(tables), expected)

    def test_any_length_and_type(self):
        for length in (1, 2, 77):
            for kind in ("int", "float"):
                with self.subTest(length=length, type=kind):
                    arguments = ["--type", kind, "--operation", "prefix-sum", "--operation", "bubble-sort"]
                    _, _, rows = self.bench(*arguments, "--table", "1,2,13,15", length=length, repeat=1)
                    self.assertEqual({(row["length"], row["type"]) for row in rows}, {(str(length), kind)})

    def test_times_grow_with_the_length(self):
        _, _, rows = self.bench("--operation", "bubble-sort", "--input", "s", length=16, arrays="64")
        _, _, longer = self.bench("--operation", "bubble-sort", "--input", "s", length=256, arrays="64")
        for few, many in zip(rows, longer):  # 256 times as many comparisons
            self.assertGreater(float(many["min_ms"]), 4 * float(few["min_ms"]), (few, many))

    def test_a_result_that_is_wrong(self):
        kernels = self.folder / "kernels"
        for number, pattern, wrong in (
            ("2", r"if \(a > b\)", "if (a < b)"),
            ("13", r"\bto\[column ", "to[(columns - 1 - column) "),
        ):
            shutil.copytree(ROOT / "kernels", kernels, dirs_exist_ok=True)
            broken, count = re.subn(pattern, wrong, (kernels / "layout.cl").read_text())
            self.assertGreater(count, 0)
            (kernels / "layout.cl").write_text(broken)
            few = ["--table", number, "--length", "32", "--arrays", "64", "--repeat", "1", "--device", DEVICE]
            result = self.run_program("bench", "layout", *few, environment={"RADIXPIC_KERNELS": str(kernels)})
            self.assert_refused(result, 1, "not the host's")
            self.assertIn("NOT VERIFIED", result.stdout)

    def test_its_picture(self):
        self.bench(repeat=1)
        command = [sys.executable, "-B", ROOT / "scripts" / "plot_bench.py", "layout.csv", "-o", "layout.png"]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.folder / "layout.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


class Refused(ProgramTest):
    def test_values(self):
        for option, text in (
            *[("--table", "XVIII"), ("--table", "0"), ("--table", "1,"), ("--operation", "sort"), ("--input", "x")],
            *[("--type", "long"), ("--arrays", "0"), ("--arrays", "100"), ("--arrays", "64,65"), ("--repeat", "0")],
            *[("--length", "0"), ("--length", "1e3"), ("--arrays", ",".join(["64"] * 17)), ("--length", "1000")],
        ):
            with self.subTest(option=option, text=text):
                self.assert_refused(self.run_program("bench", "layout", f"{option}={text}"), 2, option)
        self.assert_nothing_created()

    def test_lists_of_numbers(self):
        for text, sentence in (
            ("64,", "'64,': a number is missing after the comma"),
            ("64,,128", "'64,,128': a number is missing before the comma"),
            ("65", "65 is not a multiple of 64"),
            ("63", "'63' is not a whole number from 64"),
            ("0" * 40 + "64", "'" + "0" * 28 + "...' is not a whole number"),
            ("64,128,64", "64 is given twice"),
        ):
            with self.subTest(text=text):
                result = self.run_program("bench", "layout", f"--arrays={text}")
                self.assert_refused(result, 2, f"--arrays: {sentence}")

    def test_what_does_not_go_together(self):
        for words, *arguments in (
            (["power of two", "Table IV"], "--length", 1000, "--table", "4"),
            (["--table", "--operation"], "--table", "1", "--operation", "bubble-sort"),
            (["--input is of bubble-sort alone"], "--input", "s", "--operation", "prefix-sum"),
            (["--input is of bubble-sort alone"], "--input", "d", "--table", "1,4"),
            (["--type", "of all three types"], "--type", "double", "--table", "5,VI"),
            (["--arrays", "2^32"], "--arrays", 65536, "--length", 65536, "--table", "1"),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_program("bench", "layout", *arguments), 2, *words)

    def test_help(self):
        text = self.run_well("bench", "layout", "--help").stdout
        for word in ("--table", "--operation", "--input", "--type", "--arrays", "--length", "--repeat", "--csv", "paper"):
            self.assertIn(word, text)
        self.assertRegex(self.run_well("bench", "--help").stdout, r"(?m)^  layout ")
        self.assertIn("about 20 s on two CPU cores", " ".join(text.split()))

    def test_a_file_that_cannot_be_written(self):
        few = ["--table", "1", "--length", "8", "--arrays", "64", "--repeat", "1", "--device", DEVICE]
        for path, word in (("no/such/folder.csv", "No such file"), ("/dev/full", "No space left")):
            with self.subTest(path=path):
                result = self.run_program("bench", "layout", *few, "--csv", path)
                self.assert_refused(result, 1, "--csv", path, word)


if __name__ == "__main__":
    unittest.main()
