#!/usr/bin/python3
"""radixpic bench pic-sort: its tables and its CSV file, for any parameters."""

import array
import os
import re
import shutil
import unittest

from program import DEVICE, MPI_ENVIRONMENT, PROGRAM, ProgramTest

COLUMNS = (
    "device,method,particles,key_bits,radix_bits,passes,items,groups,splits,transpose,table,phase,"
    "median_ms,min_ms,max_ms,repeats,verified"
).split(",")


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


class PicSort(ProgramTest):
    def bench(self, *arguments, particles=5003, repeat=3):
        """Standard output, and the rows of the CSV file."""
        sizes = ["--particles", particles, "--repeat", repeat, "--device", DEVICE]
        result = self.run_well("bench", "pic-sort", *sizes, "--csv", "sort.csv", *arguments)
        rows = self.assert_whole_rows(self.folder / "sort.csv")
        for row in rows:
            self.assertEqual(row["verified"], "yes", row)
            self.assertEqual((row["particles"], row["repeats"]), (str(particles), str(repeat)), row)
            low, median, high = (float(row[name]) for name in ("min_ms", "median_ms", "max_ms"))
            self.assertTrue(low <= median <= high, row)
            skipped = row["phase"] == "transpose" and row["transpose"] == "off"
            self.assertEqual(high == 0, skipped, row)  # what a sort does without takes no time, all else does
        return result.stdout, rows

    def cases(self, rows):
        """The device's sorts: (b, r, p) -> phases in order."""
        cases = {}
        for row in rows:
            if row["device"] != "host" and row["method"] != "copy":
                parameters = tuple(int(row[name]) for name in ("key_bits", "radix_bits", "passes"))
                cases.setdefault(parameters, []).append(row["phase"])
        return cases

    def test_the_experiment_of_the_paper(self):
        text, rows = self.bench("--transpose", "off")
        self.assertEqual(list(rows[0]), COLUMNS)
        phases = ["transpose", "histogram", "scan", "reorder", "total"]
        self.assertEqual(self.cases(rows), {(10, 5, 2): phases, (30, 5, 6): phases})
        host = [(row["method"], row["phase"]) for row in rows if row["device"] == "host"]
        self.assertEqual(host, [("qsort", "total"), ("counting sort", "total")])
        self.assertEqual([row["phase"] for row in rows].count("copy"), 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["small.yaml", "sort.csv"])

    def test_the_table(self):
        text, rows = self.bench()
        device = next(row["device"] for row in rows if row["method"] == "copy")
        found = re.search(r"Table 7.*\n(.*)\n(.*)\n", text)
        for column in ("device", "time p = 6", "time p = 2", "ratio"):
            self.assertIn(column, found[1])
        self.assertIn(device, found[2])
        totals = {row["passes"]: float(row["median_ms"]) for row in rows if row["phase"] == "total"}
        for passes in ("2", "6"):
            self.assertIn(f"{totals[passes]:.3f} [", found[2])
        ratios = [float(word) for word in re.findall(r"(?<![\d.\[])\d+\.\d+(?![\d.\]])", found[2])]
        self.assertTrue(any(abs(ratio - totals["6"] / totals["2"]) <= 0.006 for ratio in ratios), found[2])
        self.assertEqual(text.count("sorted, stable, a permutation"), 4)
        self.assertNotIn("NOT", text)
        for word in ("Mkeys/s", "GB/s", "of a copy", "qsort", "counting sort", "median"):
            self.assertIn(word, text)

    def test_without_the_host(self):
        text, rows = self.bench("--no-host", repeat=1)
        self.assertNotIn("on the host", text)
        self.assertFalse([row for row in rows if row["device"] == "host"])
        self.assertIn("Table 7", text)

    def test_the_size_of_the_copy(self):
        """Of the offsets, two numbers of 4 bytes a particle."""
        for particles, size in ((100, "800 B"), (5003, "40.0 KB"), (125000, "1.0 MB")):
            text, _ = self.bench("--no-host", particles=particles, repeat=1)
            self.assertRegex(text, rf"(?m)^copy of {size} on the device: [\d.]+ GB/s, median of 1$")

    def test_any_number_of_particles(self):
        for particles in (1, 2, 63, 64, 65, 1000, 4096, 16411):
            with self.subTest(particles=particles):
                self.bench(particles=particles, repeat=1)

    def test_parameters_are_used(self):
        chosen = ["--items", "7", "--groups", "5", "--splits", "9", "--transpose", "on", "--radix-bits", "3"]
        text, rows = self.bench(*chosen, "--key-bits", "11")
        self.assertEqual(self.cases(rows), {(11, 3, 4): ["transpose", "histogram", "scan", "reorder", "total"]})
        for row in rows[:5]:
            used = tuple(row[name] for name in ("items", "groups", "splits", "transpose"))
            self.assertEqual(used, ("7", "5", "9", "on"))

    def test_two_tables(self):
        text, rows = self.bench("--table", "columns", "--table", "rows", "--items", "4", "--no-host")
        totals = [row for row in rows if row["phase"] == "total"]
        found = [(row["key_bits"], row["table"]) for row in totals]
        self.assertEqual(found, [("10", "columns"), ("10", "rows"), ("30", "columns"), ("30", "rows")])
        for order in ("columns", "rows"):
            self.assertEqual(len(re.findall(rf", table {order}; method paper: sorted, stable, a permutation\n", text)), 2)
        table = text[text.index("table in two orders") :].splitlines()[2:]
        self.assertEqual(len(table), 2, text)
        for line, first, second in zip(table, totals[::2], totals[1::2]):
            words = line.split()
            self.assertEqual(words[:3] + words[6:7], [first["key_bits"], first["passes"], "columns", "rows"])
            ratio = float(second["median_ms"]) / float(first["median_ms"])
            self.assertAlmostEqual(float(words[-1]), ratio, delta=0.001 + 0.001 * ratio)

    def test_one_table(self):
        for word, taken in (("rows", "rows"), ("columns", "columns"), ("auto", "columns")):
            text, rows = self.bench("--table", word, "--key-bits", "10", repeat=1)
            self.assertEqual({row["table"] for row in rows if row["method"] == "paper"}, {taken})
            self.assertNotIn("table in two orders", text)

    def test_several_keys(self):
        text, rows = self.bench("--key-bits", "10", "--key-bits=13", "--key-bits", "32", "--radix-bits", "8")
        self.assertEqual(list(self.cases(rows)), [(10, 8, 2), (13, 8, 2), (32, 8, 4)])
        self.assertIn("time p = 4", text)

    def test_one_pass(self):
        text, rows = self.bench("--radix-bits", "10", "--key-bits", "10", "--cells", "32")
        self.assertEqual(list(self.cases(rows)), [(10, 10, 1)])

    def test_other_grids(self):
        for cells, bits in ((2, 2), (20, 9), (64, 12)):
            with self.subTest(cells=cells):
                text, rows = self.bench("--cells", cells, repeat=1)
                self.assertEqual([b for b, _, _ in self.cases(rows)], [bits, 30])

    def test_keys_for_another_program(self):
        text, rows = self.bench("--cells", "16", "--write-keys", "keys", particles=4096, repeat=1)
        keys = array.array("I", (self.folder / "keys").read_bytes())
        particles = [[van_der_corput(j, base) for base in (2, 3, 5, 7)] for j in range(1, 4097)]
        particles.sort(key=lambda particle: cell(*particle[:2]))  # stable
        moved = [cell((x + u / 16) % 1, (y + v / 16) % 1) for x, y, u, v in particles]
        self.assertEqual(len(keys), 4096)
        # single precision may put one that lands on the edge of a cell, a multiple of 1/16, on its other side
        self.assertLessEqual(sum(key != expected for key, expected in zip(keys, moved)), 4)

    def test_without_a_file(self):
        self.run_well("bench", "pic-sort", "--particles", "100", "--repeat", "1", "--device", DEVICE)
        self.assert_nothing_created()


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun")
class OnSeveralRanks(ProgramTest):
    def on(self, ranks, *arguments):
        command = ("mpirun", "-n", str(ranks), PROGRAM, "bench")
        return self.run_program(*arguments, command=command, environment=MPI_ENVIRONMENT)

    def test_only_scaling_runs(self):
        """The others would run once on each rank, and all write the same file."""
        for name in ("pic-sort", "random-lists", "permutation", "local-memory", "step", "deposit", "layout"):
            with self.subTest(name=name):
                result = self.on(2, name, "--csv", "times.csv", "--repeat", "1")
                self.assertEqual(result.returncode, 2, result.stderr)
                said = [line for line in result.stderr.splitlines() if line.startswith("radixpic")]
                self.assertEqual(len(said), 1, result.stderr)
                self.assertTrue(said[0].startswith(f"radixpic bench {name}: runs on one rank"), said[0])
                self.assertIn("only scaling", said[0])
                self.assertEqual(result.stdout.count(f"{name}: "), 0, result.stdout)
        self.assert_nothing_created()

    def test_nor_does_tune(self):
        command = ("mpirun", "-n", "2", PROGRAM, "tune", "-N", "2000", "--cells", "8", "--seconds", "1")
        result = self.run_program(command=command, environment={**MPI_ENVIRONMENT, "RADIXPIC_CACHE": str(self.folder)})
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("radixpic tune: runs on one rank"), 1, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assert_nothing_created()

    def test_one_rank_of_mpirun_is_one(self):
        self.assertEqual(self.on(1, "pic-sort", "-N", "100", "--repeat", "1", "--device", DEVICE).returncode, 0)

    def test_the_help_is_printed_once(self):
        result = self.on(2, "pic-sort", "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("Usage: radixpic bench pic-sort"), 1)


class Refused(ProgramTest):
    def test_an_unknown_experiment(self):
        result = self.run_program("bench", "pic-sot")
        self.assert_refused(result, 2, "did you mean pic-sort?", "deposit, scaling, layout")
        self.assertNotIn("--help", result.stderr)

    def test_numbers(self):
        for option, text in (
            *[("--particles", "0"), ("--particles", "many"), ("--particles", "1e6"), ("--cells", "1")],
            *[("--key-bits", "0"), ("--key-bits", "33"), ("--radix-bits", "0"), ("--items", "-1")],
            *[("--groups", "0"), ("--splits", "x"), ("--repeat", "0"), ("--repeat", "1.5")],
        ):
            with self.subTest(option=option, text=text):
                result = self.run_program("bench", "pic-sort", f"{option}={text}")
                self.assert_refused(result, 2, option, f"'{text}'", "whole number")
        self.assert_nothing_created()

    def test_parameters_that_do_not_fit(self):
        few = ["--particles", "100", "--repeat", "1", "--device", DEVICE]
        for arguments, words in (
            (["--key-bits", "9"], ["--key-bits 9", "10 bits"]),  # 1024 cells need 10
            (["--items", "4096", "--radix-bits", "12"], ["items_per_group (I) = 4096"]),
            (["--transpose", "maybe"], ["--transpose", "'maybe' is neither on nor off"]),
            (["--method", "quick"], ["--method", "'quick' is none of paper, tiled, chunked"]),
            (["--table", "diagonal"], ["--table", "'diagonal' is none of auto, columns, rows"]),
            (["--table", "rows"] * 3, ["more than 2 --table"]),
            (["--table", "rows"] * 2, ["--table gives one order twice"]),
            (["--method", "paper", "--method", "chunked"], ["--method is given twice"]),
            ([f"--key-bits={bits}" for bits in range(10, 19)], ["more than 8 --key-bits"]),
            (["--key-bits", "10", "--key-bits", "20", "--key-bits", "10"], ["--key-bits: 10 is given twice"]),
        ):
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_program("bench", "pic-sort", *few, *arguments), 2, *words)

    def test_what_would_have_no_effect(self):
        """What only the method paper has, given to another."""
        for option, value in (
            *[("--table", "rows"), ("--table", "auto"), ("--items", "4"), ("--groups", "4"), ("--splits", "4")],
            *[("--transpose", "on"), ("--transpose", "off")],
        ):
            for method in ("tiled", "chunked"):
                with self.subTest(option=option, value=value, method=method):
                    result = self.run_program("bench", "pic-sort", "--method", method, option, value)
                    self.assert_refused(result, 2, f"{option} is of the method paper alone, not of {method}")

    def test_a_file_that_cannot_be_written(self):
        few = ["--particles", "100", "--repeat", "1", "--device", DEVICE]
        for path, word in (("no/such/folder.csv", "No such file"), ("/dev/full", "No space left")):
            with self.subTest(path=path):
                for option in ("--csv", "--write-keys"):
                    result = self.run_program("bench", "pic-sort", *few, option, path)
                    self.assert_refused(result, 1, option, path, word)


if __name__ == "__main__":
    unittest.main()
